"""Information loss of each column of a release: counted in SQL, divided in Python."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.counting.composition import Compared
from qifsql.counting.scales import has_distances, position
from qifsql.counting.spans import Generalised, Raw, make_places, make_spans
from qifsql.data.missing import USUAL
from qifsql.data.readers import select_records
from qifsql.data.types import family
from qifsql.engine.tables import Tables
from qifsql.measures import utility
from qifsql.measures.utility import Mass
from qifsql.query.columns import same
from qifsql.query.microdata_steps import normal
from qifsql.query.plan import Plan
from qifsql.query.splice import splice

MASSES_AT_ONCE = 100_000  # that are read
MOST_WIDTHS = 1000  # different widths of cells, for exact parts of records
FRACTIONAL = ("DECIMAL", "FLOAT", "DOUBLE")  # numbers whose distances are not whole

COLUMNS: dict[str, pl.DataType] = {
    "release": pl.String(),
    "file": pl.Int64(),
    **dict.fromkeys(("quasi_identifier", "column"), pl.String()),
    **dict.fromkeys(("values", "cells"), pl.Int64()),
    **dict.fromkeys(("generalised", "outside", "certainty_penalty"), pl.Float64()),
    **dict.fromkeys(("total_variation", "divergence"), pl.Float64()),
}
"""One row per release and quasi-identifier.

``column`` is its name in the release (NULL: the release has no such column, and reveals nothing of
it); ``values`` is the number of values of the original, ``cells`` that of different cells of the
release. Two columns are shares of the records in [0, 1]: ``generalised`` (the cell contains several
values of the original, or none, or is suppressed, as is an empty one that the original has not) and
``outside`` (it contains no value of the original). A cell outside is lost, as if it were
suppressed, and counts as mass on no value. But a number between those of the original, such as a
centroid, represents others, as does a number or date that a class (records that are equal in
all quasi-identifiers) has in more records than all of an original that is no smaller: each number
or date of its column then stands for the shortest stretch of the original's values around it with
as many records as the smallest class that has it, which is at most what the class spanned.
``certainty_penalty`` (``utility.penalty``) and ``total_variation`` (``utility.distances``) are in
[0, 1]. ``divergence`` is in bits; it is infinite if the release excludes a value of the original.
"""


@dataclass(frozen=True)
class Scale:
    """A column of the original: its quasi-identifier, its number of values, and their distances.

    ``length`` is that of the scale in units, each ``1 / unit`` of a position; 0 if values have no
    distances.
    """

    raw: Raw
    values: int
    unit: float
    length: int

    @property
    def by_distance(self) -> bool:
        """Return whether the loss is measured by distances, and not by numbers of values."""
        return self.raw.hierarchy is None and has_distances(self.raw.type)


class Lost(NamedTuple):
    """The row of the view ``compare/lost``: records by what their cell contains, and what is lost.

    ``values`` and ``units`` are what cells of several values contain and span, by their records.
    """

    records: int
    generalised: int
    outside: int
    suppressed: int
    values: int
    units: int


class Sizes(NamedTuple):
    """The records of the original, and those of a release."""

    original: int
    release: int


def read_original(tables: Tables, raws: Sequence[Raw], microdata: Microdata) -> list[Scale]:
    """Create the tables of the original's values; return the scale of each quasi-identifier.

    ``places_i``: the values of quasi-identifier i in order, with their people; ``positions_i``:
    where each is, as a number (NULL without distances); ``missing_words``: usual words for a
    missing value. ``raws`` and the quasi-identifiers of ``microdata`` have one order.
    """
    words = [exp.Tuple(expressions=[exp.Literal.string(word)]) for word in USUAL]
    listed = exp.alias_(exp.Values(expressions=words), "listed", table=["word"])
    tables.make("missing_words", exp.select("word").from_(listed))
    scales = []
    for raw, qid in zip(raws, microdata.qids, strict=True):
        j = raw.number
        values = [exp.alias_(normal(qid), "value")]
        rows = select_records(microdata.dataset, values, microdata.where).subquery("rows")
        counted = exp.select("value", "count(*) AS people").from_(rows).group_by("1")
        make_places(tables, raw, counted)
        # Values of a hierarchy, and those without distances, have no position: as texts have none.
        kind = raw.type if raw.hierarchy is None and has_distances(raw.type) else "VARCHAR"
        at = exp.alias_(position(kind), "position")
        tables.make(f"positions_{j}", exp.select("place", at).from_(exp.table_(f"places_{j}")))
        extent = exp.select("count(*)", "max(position) - min(position)")
        ((values, reach),) = tables.rows(extent.from_(exp.table_(f"positions_{j}")))
        scales.append(_read_scale(raw, values, reach))
    return scales


def _read_scale(raw: Raw, values: int, reach: float | None) -> Scale:
    """Return the scale of a quasi-identifier, on which lengths of cells are whole numbers of units.

    ``values`` is the number of its values, ``reach`` the greatest position minus the least (None:
    values have no distances, and cells no lengths). Whole numbers have units of 1; fractions have
    ``PARTS`` units from the least to the greatest.
    """
    if not reach:
        return Scale(raw, values, 0.0, 0)
    if not math.isfinite(reach):  # only cells that reach as far have a length, all of the scale
        return Scale(raw, values, 0.0, utility.PARTS)
    if family(raw.type) in FRACTIONAL:
        return Scale(raw, values, utility.PARTS / reach, utility.PARTS)
    return Scale(raw, values, 1.0, int(reach))


def loss_rows(
    tables: Tables, file: Compared, scales: Sequence[Scale]
) -> tuple[list[dict[str, Any]], int]:
    """Return a row of ``COLUMNS`` per quasi-identifier, and how many records are fully suppressed.

    A fully suppressed record of the release ``file`` reveals nothing in any of the columns. If the
    release has none of the columns, these are all its records. The tables of its cells stay
    (``drop_cells``).
    """
    columns = {column.raw.number: column for column in file.columns}
    counted = f"counted_{file.number}"
    combine_cells(tables, file.attack.microdata, file.cell_values, counted)
    count_query = exp.select("coalesce(sum(records), 0)::BIGINT").from_(exp.table_(counted))
    ((records,),) = tables.rows(count_query)
    # Everybody has a place in each column, so the first tells how many people there are.
    ((original,),) = tables.rows(exp.select("sum(people)::BIGINT").from_("places_1"))
    sizes = Sizes(original, records)
    losses = []
    for scale in scales:
        column = columns.get(scale.raw.number)
        if column is None:
            losses.append(_row_of_absent_column(tables, file, scale, sizes))
            continue
        losses.append(_loss_of_column(tables, file, column, scale, sizes))
        # ``withheld`` has the cells of this column that are always suppressed. Records that stay in
        # the count after the last semi-join are suppressed in every column.
        withheld = splice("compare/withheld", tables=_tables_of(column, file))
        alias = f"hidden_{scale.raw.number}"
        on = same(exp.column(f"cell_{scale.raw.number}", counted), exp.column("cell", alias))
        count_query = count_query.join(withheld.subquery(alias), on=on, join_type="semi")
    suppressed = int(tables.rows(count_query)[0][0]) if columns else records
    tables.drop(counted)
    return losses, suppressed


def drop_cells(tables: Tables, file: Compared) -> None:
    """Drop the tables of the cells of a release, which ``loss_rows`` leaves."""
    for column in file.columns:
        tables.drop(*(_tables_of(column, file)[n] for n in ("cells", "spans", "members", "told")))


def combine_cells(
    tables: Tables, microdata: Microdata, cells: Mapping[str, exp.Expr], name: str
) -> None:
    """Create the table ``name``: a row per combination of ``cells``, with its ``records``.

    ``cells`` are expressions over the records of ``microdata``, by their names in the table.
    """
    columns = [exp.alias_(tree, cell) for cell, tree in cells.items()]
    # a constant column, so that records can be counted if there is no other column
    columns.append(exp.alias_(exp.true(), "there"))
    rows = select_records(microdata.dataset, columns, microdata.where).subquery("rows")
    keys = [exp.column(cell) for cell in cells]
    query = exp.select(*keys, "count(*) AS records").from_(rows)
    tables.make(name, query.group_by(*keys) if keys else query)


def _loss_of_column(
    tables: Tables, file: Compared, column: Generalised, scale: Scale, sizes: Sizes
) -> dict[str, Any]:
    """Return the row of ``COLUMNS`` for one column of a release: what its cells lose of the values.

    Creates the tables of its spans and ``told``, which stay, and drops those that only it reads.
    """
    cell = exp.column(f"cell_{scale.raw.number}").as_("cell")
    # One row per different cell: its records, and those of the smallest class that has it.
    held = exp.select(cell, "sum(records)::BIGINT AS records", "min(records)::BIGINT AS smallest")
    held = held.from_(exp.table_(f"counted_{file.number}"))
    tables.make("held", held.group_by("1"))
    make_spans(tables, column, exp.select("cell").from_("held"), may_be_lost=True)
    names = _tables_of(column, file)
    represented = _stretch_numbers(tables, names, scale, sizes)
    # The cells with their spans, in which lost ones (empty, words for a missing value) are
    # everything; then how many values of the original each contains, and how far these reach.
    tables.make(names["told"], splice("compare/told", tables=names))
    tables.make("units", units_query(scale, parts=1))
    tables.make("contained", splice("compare/contained", tables=names))
    lost = Lost(*tables.rows(splice("compare/lost", tables=names))[0])
    cells = tables.count("held")
    tables.drop("units")
    distances = _distances_of_column(tables, names, scale, sizes)
    tables.drop("held", "contained")
    records = sizes.release
    by_distance = scale.by_distance
    penalty = utility.penalty(
        int(lost.units if by_distance else lost.values),
        scale.length if by_distance else scale.values,
        suppressed=lost.suppressed + lost.outside,
        records=records,
    )
    return {
        **_row_heading(file, scale, column.column),
        "cells": cells,
        "generalised": (lost.generalised + lost.outside) / records,
        "outside": (lost.outside + represented) / records,
        "certainty_penalty": float(penalty),
        **distances._asdict(),
    }


def _distances_of_column(
    tables: Tables, names: Mapping[str, str], scale: Scale, sizes: Sizes
) -> utility.Distances:
    """Return the distances of the distributions of a column in the original and in a release.

    A record of the release is shared equally among the values that its cell contains (table
    ``contained``): the mass of a value is the sum of its shares.
    """
    # The mass of a record is cut into parts: each cell (of ``width`` values) can then give all its
    # values the same whole number of them.
    width = exp.select("width").from_("contained").where("width > 0").distinct()
    widths = [n for (n,) in tables.rows(width.limit(MOST_WIDTHS + 1))]
    parts = utility.parts(widths) if len(widths) <= MOST_WIDTHS else utility.PARTS
    tables.make("units", units_query(scale, parts))
    tables.make("shares", splice("compare/shares", tables=names))  # by cell: the mass of a value
    # One row per pair of masses, in the original and in the release, and how many values have them.
    plan = Plan((), splice("compare/masses", tables=names))
    frames = tables.engine.batches(plan, tables.what, tables.where, rows=MASSES_AT_ONCE)
    masses = (Mass(*map(int, row)) for frame in frames for row in frame.iter_rows())
    original, release = sizes
    distances = utility.distances(masses, original=original, release=release, parts=parts)
    tables.drop("units", "shares")
    return distances


def _stretch_numbers(tables: Tables, names: Mapping[str, str], scale: Scale, sizes: Sizes) -> int:
    """Stretch spans: a number of a release may represent others, as the mean of a class does.

    Its cell then spans the values of the original that it represents. Spans stay as they are if
    every number is a value of the original, and no class has more records with it than all of the
    original. Return how many records have a number between the values of the original.
    """
    if not scale.by_distance:
        return 0
    # The records up to each number of the original; the cells that are one number, with the records
    # of the smallest class that has it.
    for name in ("reached", "standing"):
        tables.make(name, splice(f"compare/{name}", tables=names))
    # Records with a number between those of the original, and with one that represents others.
    ((between, representing),) = tables.rows(splice("compare/represented", tables=names))
    if between or (representing and sizes.release <= sizes.original):
        tables.make("stretched", splice("compare/stretched", tables=names))
        tables.drop(names["spans"])
        tables.make(names["spans"], exp.select("*").from_(exp.table_("stretched")))
        tables.drop("stretched")
    tables.drop("reached", "standing")
    return int(between)


def _tables_of(column: Generalised, file: Compared) -> dict[str, str]:
    """Return the names of the tables of one column of a release, by their names in ``sql/``."""
    j = column.raw.number
    return {**column.names, "positions": f"positions_{j}", "told": f"told_{file.number}_{j}"}


def units_query(scale: Scale, parts: int) -> exp.Select:
    """Return the one row of ``units``: units per position, units in all, and parts of a record."""
    numbers = {"whole": scale.length, "parts": parts}
    columns = [exp.cast(exp.Literal.string(repr(scale.unit)), "DOUBLE").as_("unit")]
    for name, n in numbers.items():
        columns.append(exp.cast(exp.Literal.string(str(n)), "HUGEINT").as_(name))
    return exp.select(*columns)


def _row_of_absent_column(
    tables: Tables, file: Compared, scale: Scale, sizes: Sizes
) -> dict[str, Any]:
    """Return the row for a column that the release lacks: a record counts in part as each value."""
    original, records = sizes
    # How many values have as many people in the original.
    counted = exp.select("people", "count(*)").from_(exp.table_(f"places_{scale.raw.number}"))
    rows = tables.rows(counted.group_by("people"))
    masses = (Mass(people, records, values) for people, values in rows)
    distances = utility.distances(masses, original=original, release=records, parts=scale.values)
    shares = {"generalised": 1.0, "outside": 0.0, "certainty_penalty": 1.0}
    return {**_row_heading(file, scale, None), "cells": 0, **shares, **distances._asdict()}


def _row_heading(file: Compared, scale: Scale, column: str | None) -> dict[str, Any]:
    """Return the columns that say which column of which release a row is about."""
    return {
        "release": file.title,
        "file": file.number,
        "quasi_identifier": scale.raw.name,
        "column": column,
        "values": scale.values,
    }
