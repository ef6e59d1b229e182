"""Options of ``compose``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import HIERARCHY, PLAIN, Where, qids_option, secret_option
from qifsql.data.dataset import Tabular
from qifsql.data.option import (
    DATA,
    DATASET,
    DETAILS,
    FLAG,
    NAMES,
    NUMBERS,
    TEXT,
    WRITTEN,
    Option,
    one_of,
)


class ComposeOptions(TypedDict, total=False):
    """The people, their known attributes, the form of cells, and further results.

    Everybody is assumed to be in every release, unless there is a key. Cells of releases are
    values, or stand for several (``qifsql.data.cells``). A missing secret is a separate value; of
    several classes of a person the union is taken.
    """

    people: Required[
        Annotated[
            Tabular,
            Option(
                DATASET,
                "File with raw values, one row per person who is in all releases.",
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
            NAMES,
            "Person key, to keep people who are in every release: one name, or one per file.",
            panel=DATA,
        ),
    ]
    hierarchies: Annotated[Mapping[str, str | Path], HIERARCHY]
    plain: Annotated[str | Sequence[str], PLAIN]
    suppressed: Annotated[
        str,
        Option(
            one_of("everyone", "out"),
            "Fully suppressed records: everyone (default: may be anybody's) or out.",
        ),
    ]
    nearest: Annotated[
        bool,
        Option(
            FLAG,
            "Locate people who are in no class by the nearest centroid (microaggregation).",
            text="Locate people who are in no class in the nearest one, as in releases of "
            "centroids (microaggregation). Distances are Euclidean: of a number or date from the "
            "nearest one in the cell, as a share of their range; of any other value 0 or 1. "
            "Several nearest classes: the union. With a key, details.releases says how many "
            "people are located where their own record is.",
        ),
    ]
    strict: Annotated[bool, Option(FLAG, "Refuse people who are in no class or in several.")]
    truth: Annotated[
        str | None,
        Option(
            TEXT, "Column with the true secret: how often is the best guess right?", panel=DETAILS
        ),
    ]
    confidence: Annotated[
        float | str | Sequence[float | str],
        Option(
            NUMBERS,
            "Confidence levels of the curve: 0.25,1/3 (default: 0.05 to 1).",
            text="Levels of the curve, in (0, 1].",
            panel=DETAILS,
        ),
    ]
    progressive: Annotated[
        bool, Option(FLAG, "One row per number of releases, from 1 to all.", panel=DETAILS)
    ]
    records: Annotated[
        str | Path | None,
        Option(WRITTEN, "Write one row per person: .parquet or .csv.", panel=DETAILS),
    ]
