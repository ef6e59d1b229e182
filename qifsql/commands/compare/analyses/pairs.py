"""Pairs of columns in the original and in a release: counted in SQL, divided in Python.

The distance is the total variation between the two joint distributions; the association is Cramer's
V and, of numbers, Pearson's correlation, in the original (before) and in the release (after).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.commands.compare.analyses.analysed_columns import MOST, Analysed, ReadFile
from qifsql.counting.losses import MASSES_AT_ONCE, MOST_WIDTHS
from qifsql.engine.tables import Tables
from qifsql.errors import quoted
from qifsql.measures import utility
from qifsql.measures.utility import Cell, Mass, Moments
from qifsql.query.plan import Plan
from qifsql.query.splice import splice

COLUMNS: dict[str, pl.DataType] = {
    "release": pl.String(),
    "file": pl.Int64(),
    **dict.fromkeys(("first", "second"), pl.String()),
    "total_variation": pl.Float64(),
    **dict.fromkeys(("cramers_v_before", "cramers_v_after"), pl.Float64()),
    "cramers_v_records": pl.Int64(),
    **dict.fromkeys(("correlation_before", "correlation_after"), pl.Float64()),
    "correlation_records": pl.Int64(),
    "reason": pl.String(),
}
"""One row per release and pair of quasi-identifiers and secrets (M211, M212).

``total_variation`` is that between the pairs of values of the original and of the release, in
[0, 1]: each pair of cells spreads its records evenly over the pairs of values of the original that
it contains, and * and lost cells contain all values. ``cramers_v_before`` and ``cramers_v_after``
are in [0, 1]: each value of the original is a category, over which cells are spread, too. In the
release they count the ``cramers_v_records``, of which both cells contain values of the
original and neither stands for everything.
``correlation_before`` and ``correlation_after`` are Pearson's, in [-1, 1], of two columns of
numbers: an interval, a set or a prefix is read as the middle between the smallest and the largest
of the original's numbers in it. They leave out missing values, and in the release count the
``correlation_records``, of which both cells are read as a number. ``reason`` says why a number is
NULL; correlations of columns that are no numbers are NULL without a reason."""

ONE_NUMBER = "a column has fewer than two numbers"


@dataclass(frozen=True)
class Association:
    """Cramer's V and the correlation of two columns in a file, and why one is missing.

    ``v_records`` and ``r_records`` are the records that they count.
    """

    v: float | None
    r: float | None
    v_records: int
    r_records: int | None
    reasons: tuple[str, ...] = ()

    @staticmethod
    def of(
        v: float | None,
        r: float | None,
        v_records: int,
        r_records: int | None,
        reasons: tuple[str, ...],
    ) -> "Association":
        """Return the association; ``reasons`` are those why there is no V.

        Where V is there, and both columns are numbers, r is missing only if one has a single value.
        """
        if not reasons and r is None and r_records is not None:
            reasons = (ONE_NUMBER,)
        return Association(v, r, v_records, r_records, reasons)


class Pairs:
    """The pairs of columns of the original, which each release is compared with."""

    def __init__(self, tables: Tables, columns: Sequence[Analysed], original: ReadFile) -> None:
        self.tables = tables
        self.columns = columns
        self.original = original
        self.before: dict[tuple[int, int], Association] = {}

    def rows(self, release: ReadFile) -> list[dict[str, Any]]:
        """Return a row of ``COLUMNS`` for each pair of columns of a release."""
        about = {"release": release.title, "file": release.number}
        return [
            {**dict.fromkeys(COLUMNS), **about} | self._row(release, first, second)
            for first, second in combinations(self.columns, 2)
        ]

    def _row(self, release: ReadFile, first: Analysed, second: Analysed) -> dict[str, Any]:
        """Return the numbers of one pair of columns, and the reasons for those that are missing."""
        names = {"first": first.raw.name, "second": second.raw.name}
        if absent := [c.raw.name for c in (first, second) if c.number not in release.columns]:
            missing = ", ".join(map(quoted, absent))
            return {**names, "reason": f"the release has no {missing}"}
        pair = (first.number, second.number)
        self._make_pairs(self.original, "original_pairs", pair)
        self._make_pairs(release, "pairs", pair)
        if pair not in self.before:
            self.before[pair] = self._associate_values(first, second)
        before = self.before[pair]
        parts = self._spread(release, pair)  # of a record, in ``spread``; None: too many values
        after = self._associate_cells(release, first, second, is_spread=parts is not None)
        distance, reasons = None, []
        if parts is not None:
            distance = self._total_variation(parts)
            self.tables.drop("spread")
        else:
            reasons.append(
                f"the cells of {quoted(first.raw.name)} and {quoted(second.raw.name)} contain more "
                f"than {MOST:,} pairs of values together"
            )
        self.tables.drop("original_pairs", "pairs")
        reasons += [f"{text} in the original" for text in before.reasons]
        reasons += [f"{text} in the release, where both are known" for text in after.reasons]
        return {
            **names,
            "total_variation": distance,
            "cramers_v_before": before.v,
            "cramers_v_after": after.v,
            "cramers_v_records": after.v_records,
            "correlation_before": before.r,
            "correlation_after": after.r,
            "correlation_records": after.r_records,
            "reason": "; ".join(reasons) or None,
        }

    def _make_pairs(self, file: ReadFile, name: str, pair: tuple[int, int]) -> None:
        """Create the table of the pairs of cells of two columns of a file."""
        first, second = pair
        columns = {"first_code": f"code_{first}", "second_code": f"code_{second}"}
        combined = {"combined_cells": file.combined}
        self.tables.make(name, splice("compare/pairs", columns=columns, tables=combined))

    def _associate_values(self, first: Analysed, second: Analysed) -> Association:
        """Return the association of two columns of the original: Cramer's V, and r of numbers."""
        v, records, reasons = self._cramers_v("original_pairs", first, second)
        r, r_records = self._correlation(self.original, "original_pairs", first, second)
        return Association.of(v, r, records, r_records, reasons)

    def _associate_cells(
        self, release: ReadFile, first: Analysed, second: Analysed, *, is_spread: bool
    ) -> Association:
        """Return the association of two columns of a release; V only if its cells are spread."""
        names = _tables_of_pair(release, (first.number, second.number))
        # Those whose cells contain values of the original, but do not stand for everything.
        ((records,),) = self.tables.rows(splice("compare/definite_records", tables=names))
        v: float | None = None
        reasons: tuple[str, ...] = ()
        if is_spread:
            self.tables.make("definite_pairs", splice("compare/definite_pairs"))
            v, _, reasons = self._cramers_v("definite_pairs", first, second)
            self.tables.drop("definite_pairs")
        r, r_records = self._correlation(release, "pairs", first, second)
        return Association.of(v, r, int(records), r_records, reasons)

    def _cramers_v(
        self, pairs: str, first: Analysed, second: Analysed
    ) -> tuple[float | None, int, tuple[str, ...]]:
        """Return Cramer's V of two columns, the records that it counts, and why it is missing.

        ``pairs`` is the table of the pairs of values of both columns. V is None, and a reason is
        returned, if a column has fewer than two values.
        """
        names = {"pairs_of_values": pairs}
        # One row: the records, and how many different values each column has.
        ((records, *value_counts),) = self.tables.rows(
            splice("compare/sizes_of_pairs", tables=names)
        )
        rows = self._read_whole_numbers(splice("compare/associated", tables=names))
        cells = (Cell(*row) for row in rows)
        firsts, seconds = value_counts
        v = utility.cramers_v(cells, records=int(records), firsts=firsts, seconds=seconds)
        reasons = tuple(
            f"{quoted(column.raw.name)} has {'one' if values else 'no'} value"
            for column, values in ((first, firsts), (second, seconds))
            if values < 2
        )
        return v, int(records), reasons

    def _correlation(
        self, file: ReadFile, pairs: str, first: Analysed, second: Analysed
    ) -> tuple[float | None, int | None]:
        """Return the correlation of two columns of a file, and the records that have both numbers.

        Both are None for columns that are no numbers, or whose intervals are not read as numbers.
        """
        pair = (first.number, second.number)
        if not first.is_number or not second.is_number or file.too_wide & {*pair}:
            return None, None
        names = _tables_of_pair(file, pair) | {"pairs": pairs}
        (sums,) = self.tables.rows(splice("compare/moments", tables=names))
        moments = Moments(*map(int, sums))
        return utility.correlation(moments), moments.records

    def _read_whole_numbers(self, query: exp.Select) -> Iterator[tuple[int, ...]]:
        """Yield the rows of a query, which are read a batch at a time."""
        tables = self.tables
        for frame in tables.engine.batches(
            Plan((), query), tables.what, tables.where, rows=MASSES_AT_ONCE
        ):
            for row in frame.iter_rows():
                yield tuple(map(int, row))

    def _spread(self, release: ReadFile, pair: tuple[int, int]) -> int | None:
        """Create the table ``spread``: the mass of each pair of original values in the release.

        Each pair of cells of the release shares its records out evenly among the pairs of original
        values that it contains. To stay in whole numbers, a record is divided into parts: return
        how many, or None, without a table, if the cells contain too many pairs of values.
        """
        names = _tables_of_pair(release, pair)
        # A row per area, the number of pairs of values that a pair of cells contains: the area, and
        # how many pairs of cells have it.
        areas = splice("compare/areas", tables=names)
        total = exp.select("coalesce(sum(area * pairs), 0)::HUGEINT").from_(areas.subquery("areas"))
        ((contained,),) = self.tables.rows(total)
        if release.too_wide & {*pair} or contained > MOST:
            return None
        sizes = [int(area) for area, _ in self.tables.rows(areas.limit(MOST_WIDTHS + 1))]
        # Divisible by every area; of too many areas an approximate number serves.
        parts = utility.parts(sizes) if len(sizes) <= MOST_WIDTHS else utility.PARTS
        units = exp.cast(exp.Literal.string(str(parts)), "HUGEINT").as_("parts")
        self.tables.make("units", exp.select(units))
        self.tables.make("spread", splice("compare/spread", tables=names))
        self.tables.drop("units")
        return parts

    def _total_variation(self, parts: int) -> float:
        """Return the total variation between the pairs of values of both files, by ``spread``."""
        sizes = exp.select("coalesce(sum(records), 0)::BIGINT")
        ((before,),) = self.tables.rows(sizes.from_("original_pairs"))
        ((after,),) = self.tables.rows(sizes.from_("pairs"))
        rows = self._read_whole_numbers(splice("compare/masses_of_pairs"))
        masses = (Mass(*row) for row in rows)
        distances = utility.distances(masses, original=before, release=after, parts=parts)
        return distances.total_variation


def _tables_of_pair(file: ReadFile, pair: tuple[int, int]) -> dict[str, str]:
    """Return the tables of two columns of a file, by the names that views have for them."""
    kinds = {"readings": "readings", "contents": "contents", "numbers": "whole_numbers"}
    return {
        f"{place}_{name}": file.table(table, j)
        for place, j in zip(("first", "second"), pair, strict=True)
        for name, table in kinds.items()
    }
