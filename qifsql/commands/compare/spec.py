"""Options of ``compare``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Required, TypedDict

from qifsql.adversary import options
from qifsql.adversary.options import HIERARCHY, PLAIN, SECRET


class CompareOptions(TypedDict, total=False):
    """Options of the attack on every file.

    ``qids``: the original's quasi-identifiers. If release 2 has another name for one, write
    ``2:age=AGE``; files are numbered in the order given, and the original is 1. A release may lack
    some of them: it reveals nothing about these. ``secret``: one or several, in all files (another
    name: ``2:disease=CONDITION``); without a secret only re-identification is attacked.
    ``hierarchies``: quasi-identifier -> file. ``plain``: quasi-identifiers whose cells are plain
    values (``qifsql.data.cells`` describes how other cells are read).
    """

    qids: Annotated[
        Required[str | Sequence[str]],
        options.qids_option(
            "Quasi-identifiers of the original; another name in file 2: 2:age=AGE."
        ),
    ]
    secret: Annotated[str | Sequence[str], SECRET]
    hierarchies: Annotated[Mapping[str, str | Path] | None, HIERARCHY]
    plain: Annotated[str | Sequence[str], PLAIN]
