"""Options of ``compose``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import Where, qids_option, secret_option
from qifsql.data.dataset import Tabular
from qifsql.data.option import (
    DATA,
    DATASET,
    DETAILS,
    FLAG,
    HIERARCHIES,
    NAMES,
    NUMBERS,
    TEXT,
    WRITTEN,
    Option,
    one_of,
)


class ComposeOptions(TypedDict, total=False):
    """The people, their known attributes, the form of cells, and further results.

    ``people``: one row per person. Everybody is assumed to be in every release; with ``key`` (one
    name, or one for the people and one per release), only people whose key is in every release are
    kept. ``qids``: the people's quasi-identifiers; if release 2 has another name for one, write
    ``2:age=AGE``. ``secret``: a column of every release, named in the same way. Cells of releases
    are values, or stand for several (``qifsql.data.cells``). ``hierarchies``: quasi-identifier ->
    file of its hierarchy. ``plain``: quasi-identifiers whose cells are plain values.
    ``suppressed``: records with every cell suppressed may be those of ``everyone``, or are left
    ``out``. ``strict``: refuse people in no class or in several. A missing secret is a separate
    value; of several classes the union is taken. ``truth``: the people's column of their true
    secret. ``where``: condition on people. ``confidence``: levels of the curve, in (0, 1].
    ``progressive``: a row for the first release, the first two, and so on. ``records``: write one
    row per person, in the order of the input.
    """

    people: Required[
        Annotated[
            Tabular,
            Option(
                form=DATASET,
                help="File with raw values, one row per person who is in all releases.",
                panel=DATA,
            ),
        ]
    ]
    qids: Required[
        Annotated[
            str | Sequence[str],
            qids_option("Quasi-identifiers of the people; another name in release 2: 2:age=AGE."),
        ]
    ]
    secret: Required[
        Annotated[
            str | Sequence[str],
            secret_option("Secret, a column of every release; another name: 2:disease=CONDITION."),
        ]
    ]
    where: Where
    key: Annotated[
        str | Sequence[str] | None,
        Option(
            form=NAMES,
            help="Person key, to keep people who are in every release: one name, or one per file.",
            panel=DATA,
        ),
    ]
    hierarchies: Annotated[
        Mapping[str, str | Path],
        Option(
            form=HIERARCHIES,
            help="COLUMN=FILE: generalisation hierarchy, lines value;node;...;*. Repeatable.",
            flags=("--hierarchy",),
        ),
    ]
    plain: Annotated[
        str | Sequence[str],
        Option(
            form=NAMES,
            help="Quasi-identifiers with plain values, never read as generalised.",
            panel=DATA,
        ),
    ]
    suppressed: Annotated[
        str,
        Option(
            form=one_of("everyone", "out"),
            help="Fully suppressed records: everyone (default: may be anybody's) or out.",
        ),
    ]
    strict: Annotated[
        bool, Option(form=FLAG, help="Refuse people who are in no class or in several.")
    ]
    truth: Annotated[
        str | None,
        Option(
            form=TEXT,
            help="Column with the true secret: how often is the best guess right?",
            panel=DETAILS,
        ),
    ]
    confidence: Annotated[
        float | str | Sequence[float | str],
        Option(
            form=NUMBERS,
            help="Confidence levels of the curve: 0.25,1/3 (default: 0.05 to 1).",
            panel=DETAILS,
        ),
    ]
    progressive: Annotated[
        bool,
        Option(form=FLAG, help="One row per number of releases, from 1 to all.", panel=DETAILS),
    ]
    records: Annotated[
        str | Path | None,
        Option(form=WRITTEN, help="Write one row per person: .parquet or .csv.", panel=DETAILS),
    ]
