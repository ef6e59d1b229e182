"""Options of ``compare``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from qifsql.adversary import options
from qifsql.adversary.options import HIERARCHY, PLAIN, SECRET, Null
from qifsql.data.option import DETAILS, NAMES, TEXT, TEXTS, Option


class CompareOptions(TypedDict, total=False):
    """Options of the attack on every file, the changes and their bounds, and the other attributes.

    ``qids``: the original's quasi-identifiers. If release 2 has another name for one, write
    ``2:age=AGE``; files are numbered in the order given, and the original is 1. A release may lack
    some of them: it reveals nothing about these. ``secret``: one or several, in all files (another
    name: ``2:disease=CONDITION``); without a secret only re-identification is attacked.
    ``hierarchies``: quasi-identifier -> file. ``plain``: quasi-identifiers whose cells are plain
    values (``qifsql.data.cells`` describes how other cells are read).

    ``change``: one or several (``qifsql.counting.changed_attributes``): ``age:5``,
    ``date:month``, ``age:@2``, ``drop=zip``, ``top(age)=90``, ``age=EXPRESSION``, ``sample=0.1``.
    Changes of one quasi-identifier are applied one after the other. ``until``: bounds such as
    ``crs<=0.1`` or ``k>=5`` (``qifsql.study.bounds``). ``policy``: a file of
    ``qifsql.study.policy``; its rules are bounds, and its adversary is used if none is named here.
    With bounds, the result is the smallest change that keeps all of them
    (``qifsql.commands.compare.changes.smallest_change``). The named changes are then the steps of
    each quasi-identifier, finest first; each is applied to the original values.

    ``refines``: the attributes that those of ``qids`` are compared with
    (``qifsql.commands.compare.refinement``); ``null`` is for them alone.
    """

    qids: Annotated[
        str | Sequence[str],
        options.qids_option(
            "Quasi-identifiers of FILE: columns, CO_*, NAME=EXPRESSION; another name in file 2: "
            "2:age=AGE."
        ),
    ]
    secret: Annotated[str | Sequence[str], SECRET]
    change: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Change: drop=zip, age:5, date:month, zip:3, age:@2 (hierarchy level), "
            "top(age)=90, bottom(age)=18, age=EXPRESSION, sample=0.1. Repeatable.",
            flags=("--change", "-c"),
        ),
    ]
    until: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Find the smallest change that keeps a bound: crs<=0.1, "
            "cas(SECRET)<=0.8, crs.deterministic<=0.05, k>=5, l>=2; only among "
            "--change, if given. Repeatable.",
        ),
    ]
    policy: Annotated[
        str | Path | None,
        Option(TEXT, "Find the smallest change that meets a policy, as in check."),
    ]
    refines: Annotated[
        str | Sequence[str],
        Option(
            NAMES,
            "Refinement: does knowing --qids never leak less than knowing these, for any secret "
            "and gain?",
            panel=DETAILS,
        ),
    ]
    hierarchies: Annotated[Mapping[str, str | Path] | None, HIERARCHY]
    plain: Annotated[str | Sequence[str], PLAIN]
    null: Null
