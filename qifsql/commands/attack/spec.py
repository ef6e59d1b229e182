"""Options of ``attack``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from qifsql.adversary.options import Adversary, AnyNull, Sets
from qifsql.data.dataset import Tabular
from qifsql.data.option import CHANCE, DETAILS, FLAG, GROUPS, LINKS, NAMES, RUN, TEXT, TEXTS, Option


class AttackOptions(Adversary, Sets, total=False):
    """The adversary, further measures and details, and links between releases without a key.

    ``link``, ``presence``, ``truth`` and ``one_to_one`` are about releases without a person key.
    """

    null: AnyNull
    measures: Annotated[
        str | Sequence[str],
        Option(
            form=NAMES,
            help="More: shannon, guessing, capacity, risks, anonymity or all.",
            panel=DETAILS,
        ),
    ]
    histogram: Annotated[
        bool, Option(form=FLAG, help="Histogram of people by success in percent.", panel=DETAILS)
    ]
    unit: Annotated[
        str | None,
        Option(form=TEXT, help="Unit of the gains, such as BRL.", panel=DETAILS),
    ]
    population: Annotated[
        Tabular | None,
        Option(
            form=TEXT,
            help="Population: for membership, journalist risk.",
            panel=DETAILS,
        ),
    ]
    household: Annotated[
        str | None,
        Option(
            form=GROUPS,
            help="Also by household: a column or NAME=EXPRESSION.",
            panel=DETAILS,
        ),
    ]
    progressive: Annotated[
        bool,
        Option(
            form=FLAG,
            help="One row per number of datasets, from 1 to all.",
            panel=DETAILS,
        ),
    ]
    store: Annotated[
        str | Path | None,
        Option(
            form=TEXT,
            help="DuckDB file to reuse counts; has cell values.",
            panel=RUN,
        ),
    ]
    link: Annotated[
        str | Sequence[str] | None,
        Option(
            form=TEXTS,
            help="Columns that stay (sex,birth_date) or change "
            "(age:+1; city:stay=0.93 or stay=?; school:table=moves.csv). Repeatable.",
            panel=LINKS,
        ),
    ]
    presence: Annotated[
        float | str | None,
        Option(
            form=CHANCE,
            help="Chance to be in the next release (default 1).",
            panel=LINKS,
        ),
    ]
    truth: Annotated[
        str | Sequence[str],
        Option(
            form=NAMES,
            help="True key, to compare links with.",
            panel=LINKS,
        ),
    ]
    one_to_one: Annotated[
        bool,
        Option(
            form=FLAG,
            help="At most one person per later record.",
            panel=LINKS,
        ),
    ]


OPTIONS = AttackOptions
