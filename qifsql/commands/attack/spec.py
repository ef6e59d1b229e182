"""Options of ``attack``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from qifsql.adversary.options import RAPID, Adversary, AnyNull, Sets
from qifsql.data.dataset import Tabular
from qifsql.data.option import (
    ATTACK,
    CHANCE,
    DATASET,
    DETAILS,
    FLAG,
    GROUPS,
    LINKS,
    NAMES,
    RUN,
    STORE,
    TEXT,
    TEXTS,
    WHOLE,
    WRITTEN,
    Option,
)


class AttackOptions(Adversary, Sets, total=False):
    """The adversary, further measures and details, and links between releases without a key.

    ``link``, ``presence``, ``truth`` and ``one_to_one`` are about releases without a person key.
    ``learn`` is the file that the adversary learns from, ``learner`` says how, and ``rapid`` is the
    threshold of RAPID. ``knows``, ``draws`` and ``records`` are about an adversary whose knowledge
    has errors and gaps.
    """

    null: AnyNull
    measures: Annotated[
        str | Sequence[str],
        Option(
            form=NAMES,
            help="More: shannon, guessing, capacity, pointwise, security, risks, anonymity or all.",
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
            form=STORE,
            help="DuckDB file to reuse counts; has cell values.",
            panel=RUN,
        ),
    ]
    link: Annotated[
        str | Sequence[str] | None,
        Option(
            form=TEXTS,
            help="Columns that stay (sex,birth_date) or change "
            "(age:+1; city:stay=0.93 or stay=?; a:table=FILE).",
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
    learn: Annotated[
        Tabular | None,
        Option(form=DATASET, help="Learn from this file; guess about FILE (cas).", panel=DETAILS),
    ]
    learner: Annotated[
        str | None,
        Option(
            form=TEXT,
            help="table (default), decision-tree, random-forest, gradient-boosting, "
            "logistic-regression.",
            panel=DETAILS,
        ),
    ]
    rapid: Annotated[float | str | None, RAPID]
    knows: Annotated[
        str | Sequence[str] | None,
        Option(
            form=TEXTS,
            help="Noisy: age:+-2; city:right=0.9; job:missing=0.3.",
            panel=ATTACK,
        ),
    ]
    draws: Annotated[
        int | None,
        Option(
            form=WHOLE,
            help="With --knows: draw so many people.",
            panel=ATTACK,
        ),
    ]
    records: Annotated[
        str | Path | None,
        Option(
            form=WRITTEN,
            help="With --knows: file of success per record.",
            panel=ATTACK,
            studied=False,
        ),
    ]


OPTIONS = AttackOptions
