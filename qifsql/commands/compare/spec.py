"""Options of ``compare``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from qifsql.adversary.options import (
    HIERARCHY,
    PLAIN,
    SECRET,
    Null,
    Sets,
    Where,
    qids_option,
    secret_option,
)
from qifsql.data.option import DATA, DETAILS, FLAG, NAME, NAMES, TEXT, TEXTS, Option


class CompareOptions(Sets, total=False):
    """Options of the attack on every file, the changes and their bounds, and the other attributes.

    ``hierarchies`` and ``plain`` say how cells are read (``qifsql.data.cells``), ``plain`` those of
    releases; ``null`` is for ``refines`` alone.
    """

    qids: Annotated[
        str | Sequence[str],
        qids_option(
            "Quasi-identifiers of FILE: columns, CO_*, NAME=EXPRESSION; another name in file 2: "
            "2:age=AGE.",
            text="Quasi-identifiers of the original: columns, patterns such as CO_*, or named "
            'expressions such as decade=birth_year//10. Another name in file 2 is "2:age=AGE"; the '
            "original is file 1. A release may lack some: it reveals nothing about these.",
        ),
    ]
    secret: Annotated[
        str | Sequence[str],
        secret_option(
            SECRET.help,
            text="Secrets (sensitive attributes): columns or named expressions, in all files; "
            'another name: "2:disease=CONDITION". Without one, only re-identification is attacked.',
        ),
    ]
    where: Where
    change: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Change: drop=zip, age:5, date:month, zip:3, age:@2 (hierarchy level), "
            "top(age)=90, bottom(age)=18, age=EXPRESSION, sample=0.1. Repeatable.",
            text="Changes: drop=zip, age:5, date:month, zip:3, age:@2 (hierarchy level), "
            "top(age)=90, bottom(age)=18, age=EXPRESSION, sample=0.1. Those of one "
            "quasi-identifier are made one after the other; with bounds they are its steps, finest "
            "first, each from the original values.",
            flags=("--change", "-c"),
        ),
    ]
    until: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Find the smallest change that keeps a bound: crs<=0.1, cas(SECRET)<=0.8, "
            "crs.deterministic<=0.05, k>=5, l>=2; only among --change, if given. Repeatable.",
        ),
    ]
    policy: Annotated[
        str | Path | None,
        Option(
            TEXT,
            "Find the smallest change that meets a policy; with releases: its recipients.",
            text="Policy file whose rules are the bounds; its adversary is used if none is named. "
            "With releases: its recipients.",
        ),
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
    pairs: Annotated[
        bool,
        Option(
            FLAG,
            "Utility: for each pair of --qids and secrets the total variation, and Cramer's V and "
            "correlation before and after.",
            panel=DETAILS,
        ),
    ]
    formula: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            'Utility: a model before and after, "wage ~ age + sex" (+ : * -1): coefficients, '
            "overlap of their intervals. Repeatable. Needs statsmodels.",
            text='Models before and after, such as "wage ~ age + sex": columns joined by +, :, *, '
            "and -1 without intercept; other names as `hours per week`. Linear, or logistic for an "
            "outcome of two values. Columns that are no quasi-identifiers have the same name in "
            "all files, and texts as they stand. Needs statsmodels (qifsql[models]).",
            panel=DETAILS,
        ),
    ]
    hierarchies: Annotated[Mapping[str, str | Path] | None, HIERARCHY]
    plain: Annotated[str | Sequence[str], PLAIN]
    key: Annotated[
        str | None,
        Option(
            NAME,
            "Which record of a release is whose: a column of all files (else: their order).",
            text="Column or named expression in all files that says which record of a release is "
            "whose; it names a record at most once, and a missing key names none. Without it, "
            "files with as many records are in the same order.",
            panel=DATA,
        ),
    ]
    null: Null
