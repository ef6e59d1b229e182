"""Options of ``tables``."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, TypedDict

from qifsql.adversary.options import HIERARCHY, Where, secret_option
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
_published, _check, _remedy, _detail = (
    partial(Option, panel=panel) for panel in (PUBLISHED, CHECKS, REMEDIES, DETAILS)
)


class TableOptions(TypedDict, total=False):
    """The published tables, the adversary's question, and what else is asked."""

    table: Annotated[
        str | Sequence[str],
        _published(
            TEXTS,
            "Table to make: DIMENSIONS[:PROTECTION], such as 'school,sex:suppress<5'; also "
            "round:5, round:5 random, round:5 positive (only 0 becomes 0), noise:2, atleast:10, "
            "suppress<5 zeros; several in a row: suppress<5+round:5. Repeatable.",
        ),
    ]
    published: Annotated[
        str | Path | Sequence[str | Path],
        _published(
            TEXTS, "Published table: FILE[:PROTECTION], such as 'a.csv:round:5'. Repeatable."
        ),
    ]
    release: Annotated[
        str | Path | Sequence[str | Path],
        _published(
            TEXTS,
            "Microdata release of the same people, recoded: FILE, or FILE:COLUMNS to count only "
            "these. Repeatable.",
            text="Microdata releases of the same people, whose records are counted by their cells: "
            "intervals, sets, prefixes with stars, nodes of a hierarchy, values. A record that is "
            "* in all cells that may be suppressed may be anybody's. FILE:age,sex counts only "
            "these columns.",
        ),
    ]
    hierarchies: Annotated[Mapping[str, str | Path] | None, HIERARCHY]
    ledger: Annotated[
        str | Path | None,
        _published(
            FILE,
            "Ledger of all that was published of the same people before: it is attacked, too.",
            text="File of the ledger of all that was published of the same people before, which is "
            "attacked, too: the metadata of an RO-Crate (JSON-LD), with counts in files beside it.",
        ),
    ]
    add: Annotated[
        bool,
        _published(
            FLAG,
            "Add the tables and releases to the ledger, unless --require is not met.",
            studied=False,  # a study may run again
        ),
    ]
    count: Annotated[
        int | None, _published(WHOLE, "Number of people, where no exact table tells it.", least=1)
    ]
    across: Annotated[
        str | None,
        _published(
            NAME,
            "The dimension whose values are the columns of wide published tables: "
            "sex, or sex=male,female.",
        ),
    ]
    counts: Annotated[
        str | None,
        _published(NAME, "Column of the counts in published tables with one count per line."),
    ]
    total: Annotated[
        str | Sequence[str],
        _published(TEXTS, "Label of the lines and columns with totals in published tables."),
    ]
    nested: Annotated[
        str | Sequence[str],
        _published(
            TEXTS, "INNER,OUTER: each value of INNER lies in one of OUTER (city,state). Repeatable."
        ),
    ]
    possible: Annotated[
        str | Path | None,
        _published(FILE, "File of the combinations that can occur; its columns are dimensions."),
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
    by: Annotated[str | None, _detail(GROUPS, "Dimension whose values are groups of people.")]
    progressive: Annotated[bool, _detail(FLAG, "Add a row for the first table, the first two, ...")]
    leave_one_out: Annotated[bool, _detail(FLAG, "Also measure the tables without each of them.")]
    show_cells: Annotated[
        bool,
        _detail(
            FLAG, "Also list the combinations of the component with most people proved: values."
        ),
    ]
    time_budget: Annotated[
        float,
        _detail(
            SECONDS, "Seconds for exact solutions of components, the smallest first.", usual=BUDGET
        ),
    ]
    resume: Annotated[
        str | Path | None,
        _detail(FILE, "DuckDB file of solved components to resume from, readable by you only."),
    ]
    small: Annotated[int, _check(WHOLE, "Cells below this are small.", usual=SMALL, least=1)]
    magnitude: Annotated[
        str | Sequence[str],
        _check(
            TEXTS,
            "NUMBER:DIMENSIONS: table of sums, such as 'turnover:region,industry'. Repeatable.",
        ),
    ]
    dominance: Annotated[
        str | Sequence[float],
        _check(
            NUMBERS,
            "N,K: the N largest contributors give more than K percent of a sum.",
            usual=DOMINANCE,
        ),
    ]
    p_percent: Annotated[
        float,
        _check(
            NUMBERS,
            "P: the second largest contributor can estimate the largest within P percent.",
            usual=P_PERCENT,
        ),
    ]
    remedies: Annotated[
        bool,
        _remedy(
            FLAG, "Also measure what dropping, suppressing, rounding or coarsening would help."
        ),
    ]
    change: Annotated[
        str | Sequence[str], _remedy(NAMES, "Coarser dimensions to try, such as age:10.")
    ]
    require: Annotated[
        str | Sequence[str],
        _check(
            TEXTS,
            "Exit with 4 unless this holds, such as 'reconstructed<=0'. Repeatable.",
            text='Bounds on measures, such as "reconstructed<=0"; the result is false '
            "where one does not hold for all tables together. Measures are those of the result, "
            "undone (hidden cells whose count follows) and small_differences (combinations of two "
            "tables that are proved to hold fewer people than the named number).",
        ),
    ]
    until: Annotated[
        str | Sequence[str],
        _remedy(TEXTS, "Find remedies until this holds, such as 'reconstructed<=0'. Repeatable."),
    ]


OPTIONS = TableOptions
