"""Minimal sample uniques over all completions of missing values: bounds of who has one.

A set of quasi-identifiers without missing values singles out the same records in every completion.
If every missing value is a value of its own, each incomplete record is singled out by one of them,
and complete records by the same sets as if missing were one value more. Source: M147.
"""

from dataclasses import replace

import polars as pl

from qifsql.commands.suda.minimal_uniques import MinimalUniques
from qifsql.commands.suda.spec import SudaOptions
from qifsql.errors import InputError
from qifsql.measures.suda_scores import score_of_size

MEASURE = "records_with_msu"  # the measure that is bounded
BOUNDS: dict[str, pl.DataType] = {
    "measure": pl.String(),
    **dict.fromkeys(("value", "low", "high"), pl.Float64()),
    **dict.fromkeys(("low_sharp", "high_sharp"), pl.Boolean()),
}
"""The least and the greatest value over all completions of missing values; ``value`` is that of the
completion in which missing is one value more. A bound that is not sharp holds, but perhaps no
completion attains it."""
ENDS: dict[str, pl.DataType] = {"low": pl.Float64(), "high": pl.Float64()}
"""Further columns of the rows with match-any: the bounds, NULL for measures without bounds."""
REFUSED = ("omit_missing", "values", "by", "records", "key", "person")
NOTES = (
    "low and high hold for every value that a missing one may have; the other numbers take a "
    "missing value as one value more, which is one of its completions",
)


def check_options(options: SudaOptions) -> None:
    """Refuse options whose results would not be bounds."""
    for name in REFUSED:
        if options.get(name):
            raise InputError(
                "null match-any bounds how many records have a minimal sample unique; leave "
                f"{name} out"
            )


def bounds_of_uniques(uniques: MinimalUniques, statements: dict[str, None]) -> pl.DataFrame:
    """Return one row of ``BOUNDS``: those of the number of records with a minimal sample unique.

    They hold for all ways to fill in missing values. At least those records have one that have one
    without the attributes with missing values; at most, these and all records with a missing value.
    The tables of ``uniques`` are replaced; ``statements`` gets those that are sent.
    """
    (row,) = uniques.rows("completions")
    incomplete, complete_with_msu, missing = map(int, row)  # missing: a bit for each attribute
    value = sum(int(records) for _, records in uniques.rows("smallest_sizes"))
    low = _count_without(uniques, missing, statements) if missing else value
    high = incomplete + complete_with_msu  # attained if each missing value is one of its own
    bounds = (MEASURE, value, low, high, low == value, True)
    return pl.DataFrame([bounds], schema=BOUNDS, orient="row")


def _count_without(uniques: MinimalUniques, missing: int, statements: dict[str, None]) -> int:
    """Return how many records have a minimal sample unique of the other attributes alone.

    ``missing`` has a bit for each attribute to leave out. A new search replaces the tables of
    ``uniques``, and adds its statements to ``statements``.
    """
    microdata = uniques.microdata
    incomplete_qids = set(uniques.packing.members(missing))
    qids = tuple(q for i, q in enumerate(microdata.qids) if i not in incomplete_qids)
    if not qids:
        return 0
    uniques.drop()  # the new search makes tables of the same names
    size_limit = min(uniques.size_limit, len(qids))
    part = MinimalUniques(
        uniques.engine,
        replace(microdata, qids=qids),
        size_limit,
        [score_of_size(len(qids), size_limit, size) for size in range(1, len(qids) + 1)],
        omit_missing=False,
        values=False,
        everyone=uniques.everyone,
    )
    part.find()
    records = sum(int(records) for _, records in part.rows("smallest_sizes"))
    statements.update(dict.fromkeys(part.tables.statements))
    return records
