"""Options of ``tables``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from qifsql.adversary.options import Where, secret_option
from qifsql.data.option import (
    DETAILS,
    FILE,
    FLAG,
    GROUPS,
    NAME,
    NAMES,
    NUMBERS,
    SECONDS,
    TEXTS,
    WHOLE,
    Option,
)

PUBLISHED, CHECKS, REMEDIES = "Published tables", "Checks of offices", "Remedies"
BUDGET = 60  # seconds for sharp bounds
SMALL = 5
DOMINANCE = (1.0, 85.0)
P_PERCENT = 10.0
CELLS_LISTED = 200  # combinations of the worst component


class TableOptions(TypedDict, total=False):
    """The published tables, the adversary's question, and what else is asked."""

    table: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Table to make: DIMENSIONS[:PROTECTION], such as 'school,sex:suppress<5'; "
            "also round:5, round:5 random, noise:2, atleast:10, suppress<5 zeros. "
            "Repeatable.",
            panel=PUBLISHED,
        ),
    ]
    published: Annotated[
        str | Path | Sequence[str | Path],
        Option(
            TEXTS,
            "Published table: FILE[:PROTECTION], such as 'a.csv:round:5'. Repeatable.",
            panel=PUBLISHED,
        ),
    ]
    count: Annotated[
        int | None,
        Option(WHOLE, "Number of people, where no exact table tells it.", panel=PUBLISHED, least=1),
    ]
    across: Annotated[
        str | None,
        Option(
            NAME,
            "The dimension whose values are the columns of wide published tables: "
            "sex, or sex=male,female.",
            panel=PUBLISHED,
        ),
    ]
    counts: Annotated[
        str | None,
        Option(
            NAME,
            "Column of the counts in published tables with one count per line.",
            panel=PUBLISHED,
        ),
    ]
    total: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Label of the lines and columns with totals in published tables.",
            panel=PUBLISHED,
        ),
    ]
    nested: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "INNER,OUTER: each value of INNER lies in one of OUTER (city,state). Repeatable.",
            panel=PUBLISHED,
        ),
    ]
    possible: Annotated[
        str | Path | None,
        Option(
            FILE,
            "File of the combinations that can occur; its columns are dimensions.",
            panel=PUBLISHED,
        ),
    ]
    known: Annotated[
        str | Sequence[str],
        Option(
            NAMES, "Dimensions that the adversary knows of people (default: all but the secret)."
        ),
    ]
    secret: Annotated[
        str | Sequence[str],
        secret_option("Secrets: dimensions to infer; without one only re-identification."),
    ]
    where: Where
    by: Annotated[
        str | None, Option(GROUPS, "Dimension whose values are groups of people.", panel=DETAILS)
    ]
    progressive: Annotated[
        bool, Option(FLAG, "Add a row for the first table, the first two, ...", panel=DETAILS)
    ]
    leave_one_out: Annotated[
        bool, Option(FLAG, "Also measure the tables without each of them.", panel=DETAILS)
    ]
    show_cells: Annotated[
        bool,
        Option(
            FLAG,
            "Also list the combinations of the component with most people proved: values.",
            panel=DETAILS,
        ),
    ]
    time_budget: Annotated[
        float,
        Option(
            SECONDS,
            "Seconds for exact solutions of components, the smallest first.",
            panel=DETAILS,
            usual=BUDGET,
        ),
    ]
    resume: Annotated[
        str | Path | None,
        Option(
            FILE,
            "DuckDB file of solved components to resume from, readable by you only.",
            panel=DETAILS,
        ),
    ]
    small: Annotated[
        int, Option(WHOLE, "Cells below this are small.", panel=CHECKS, usual=SMALL, least=1)
    ]
    magnitude: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "NUMBER:DIMENSIONS: table of sums, such as 'turnover:region,industry'. Repeatable.",
            panel=CHECKS,
        ),
    ]
    dominance: Annotated[
        str | Sequence[float],
        Option(
            NUMBERS,
            "N,K: the N largest contributors give more than K percent of a sum.",
            panel=CHECKS,
            usual=DOMINANCE,
        ),
    ]
    p_percent: Annotated[
        float,
        Option(
            NUMBERS,
            "P: the second largest contributor can estimate the largest within P percent.",
            panel=CHECKS,
            usual=P_PERCENT,
        ),
    ]
    remedies: Annotated[
        bool,
        Option(
            FLAG,
            "Also measure what dropping, suppressing, rounding or coarsening would help.",
            panel=REMEDIES,
        ),
    ]
    change: Annotated[
        str | Sequence[str],
        Option(NAMES, "Coarser dimensions to try, such as age:10.", panel=REMEDIES),
    ]
    require: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Exit with 4 unless this holds, such as 'reconstructed<=0'. Repeatable.",
            text='Bounds on measures, such as "reconstructed<=0"; the result is false '
            "where one does not hold for all tables together.",
            panel=CHECKS,
        ),
    ]
    until: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Find remedies until this holds, such as 'reconstructed<=0'. Repeatable.",
            panel=REMEDIES,
        ),
    ]


OPTIONS = TableOptions
