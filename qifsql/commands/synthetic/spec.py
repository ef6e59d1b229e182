"""Options of ``synthetic``."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import RAPID, Where, person_option, qids_option, secret_option
from qifsql.data.dataset import Tabular
from qifsql.data.option import (
    DATA,
    DATASET,
    DETAILS,
    FLAG,
    GROUPS,
    NAMES,
    NUMBERS,
    TEXT,
    TEXTS,
    WHOLE,
    WRITTEN,
    Option,
)

CHECKS = "Checks"
MOST_SWEPT_QIDS = 16  # 65,535 subsets
_detail = partial(Option, panel=DETAILS)


class SyntheticOptions(TypedDict, total=False):
    """The adversary's knowledge and aim, and the details that are asked for."""

    qids: Annotated[
        Required[str | Sequence[str]],
        qids_option("Quasi-identifiers: columns of all files, CO_*, NAME=EXPRESSION."),
    ]
    secret: Annotated[
        str | Sequence[str],
        secret_option("Secrets to infer; without one only overlap and uniques."),
    ]
    control: Annotated[
        Tabular | None,
        Option(
            DATASET,
            "People of the same population from whom the releases were not made.",
            panel=DATA,
        ),
    ]
    where: Where
    person: Annotated[
        str | None,
        person_option(
            "Whose record it is, in all files; people are compared.",
            "Column or named expression that says whose record it is, in all files: of a release "
            "which records are those of one synthetic person. People are compared twice, by all "
            "records of each and by one of them; a missing person is one of its own.",
        ),
    ]
    by: Annotated[
        str | None,
        _detail(
            GROUPS, "Column of the original and the control whose values are groups of people."
        ),
    ]
    thresholds: Annotated[
        float | Sequence[float | str],
        _detail(
            NUMBERS,
            "Whom somebody names who is at least 0.9 sure of a secret. Repeatable.",
            text="Whom somebody names who is at least so sure of a secret, in [0, 1].",
            flags=("--threshold",),
        ),
    ]
    sweep: Annotated[bool, _detail(FLAG, "Also measure every subset of the quasi-identifiers.")]
    questions: Annotated[
        bool,
        _detail(
            FLAG,
            "Also answer the three questions of WP 216: singling out, linkability "
            "(with --split), inference, each beyond the control.",
        ),
    ]
    split: Annotated[
        str | Sequence[str],
        _detail(
            NAMES,
            "Quasi-identifiers known from one source; the others are known from a "
            "second one. For linkability; needs --questions.",
        ),
    ]
    attempts: Annotated[
        int | None,
        _detail(
            WHOLE,
            "Draw this many predicates about some columns, with ranges of numbers. "
            "For singling out; needs --questions (--seed).",
            least=1,
        ),
    ]
    terms: Annotated[
        int | None,
        _detail(
            WHOLE,
            "Quasi-identifiers of each predicate of --attempts (default: 3, or all if fewer).",
            least=1,
        ),
    ]
    links: Annotated[
        int | None,
        _detail(
            WHOLE,
            "Draw this many people of the original and of the control and link their "
            "halves by nearest records. For linkability; needs --split (--seed).",
            least=1,
        ),
    ]
    neighbours: Annotated[
        int | None,
        _detail(
            WHOLE,
            "Nearest records of each half of --links, 1 to 100 (default: 1; Gower distance).",
            least=1,
        ),
    ]
    distances: Annotated[
        int | None,
        _detail(
            WHOLE,
            "Draw this many records of each release and measure their Gower distances "
            "to people (--seed).",
            least=1,
        ),
    ]
    learner: Annotated[
        str | None,
        _detail(
            TEXT,
            "Let a classifier learn from each release, too (qifsql\\[ml]): "
            "decision-tree, random-forest, gradient-boosting, logistic-regression.",
        ),
    ]
    rapid: Annotated[float | str | None, RAPID]
    require: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Exit with 4 unless this holds, such as 'repU<=0.01'. Repeatable.",
            text='Bounds on measures, such as "repU<=0.01"; the result is false where one '
            "does not hold for a release.",
            panel=CHECKS,
        ),
    ]
    records: Annotated[
        str | Path | None,
        _detail(
            WRITTEN,
            "Also write what each release says of each person: .parquet or .csv.",
            studied=False,
        ),
    ]


class SyntheticEntry(SyntheticOptions, total=False):
    """Options of an entry of a study: also the releases, which are datasets or paths."""

    releases: Annotated[Required[list[str]], Option(TEXTS)]


OPTIONS = SyntheticEntry
