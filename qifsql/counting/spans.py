"""Spans of one column of a release: the places of the people's values that each cell covers.

The people's values have places in their order. Different cells are joined with different values,
by order (ASOF joins) and by equality. A cell becomes a span of places; a cell with gaps also gets a
list of its members.

The cells of a text column are read in Python, each different cell once, in batches. The results go
to a file in the engine's scratch folder, so that memory does not grow with the number of cells.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from qifsql.data.cells import INTERVAL, Cell, UnreadableError, parse, with_points
from qifsql.data.dataset import Dataset
from qifsql.data.dates import WRITTEN, instant, iso
from qifsql.data.domains import DATED, NUMBERS, Domain, clash, common_domain, domain, parts, reader
from qifsql.data.expressions import filled
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.missing import USUAL
from qifsql.data.readers import relation
from qifsql.data.types import family
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, quoted
from qifsql.query.plan import Plan
from qifsql.query.shapes import Shape
from qifsql.query.splice import make_step, splice

LABELS = "a column whose cells are labels needs its hierarchy (--hierarchy COLUMN=FILE)"
CELLS_AT_ONCE = 50_000  # that are read in Python
MOST_DISTANCES = 30_000_000  # of one column, in memory
PARSED = pa.schema(
    [
        ("id", pa.int64()),
        ("everything", pa.bool_()),
        ("ranged", pa.bool_()),
        ("lower", pa.string()),
        ("upper", pa.string()),
        ("open_below", pa.bool_()),
        ("open_above", pa.bool_()),
        ("missing", pa.bool_()),
        ("items", pa.list_(pa.string())),
        ("prefix", pa.string()),
        ("length", pa.int32()),
    ]
)
_FIELDS = [f.name for f in fields(Cell)]
COLUMN_TABLES = (  # of one column
    *("cells", "parsed", "ranges", "members", "spans", "readings", "distances"),
)


@dataclass(frozen=True)
class Raw:
    """A quasi-identifier of the people: its number, name, file and type; its hierarchy, if any."""

    number: int
    name: str
    people: str
    type: str
    hierarchy: Hierarchy | None = None

    @property
    def domain(self) -> Domain:
        """Return the domain of the raw values."""
        return domain(self.type)


@dataclass(frozen=True)
class Generalised:
    """A quasi-identifier of the people in a release: its column and type there.

    ``plain``: its cells are plain values, not generalised. A file that is not ``typed`` (CSV) has
    all cells as text, also numbers and dates. ``labels`` is the hint for unreadable cells of text.
    ``decimal`` is the sign before the decimals of its numbers, if not a point.
    Dates that do not begin with the year have the ``order`` of day and month (None: day first, if
    that fits).
    """

    raw: Raw
    number: int
    release: str
    column: str
    type: str
    plain: bool = False
    typed: bool = True
    labels: str = LABELS
    decimal: str | None = None
    order: str | None = None

    @property
    def names(self) -> Mapping[str, str]:
        """Return the names of this column's tables."""
        names = {name: f"{name}_{self.number}_{self.raw.number}" for name in COLUMN_TABLES}
        return names | {"places": f"places_{self.raw.number}"}

    def clash(self, cells: str) -> ColumnError:
        """Return the error for ``cells``, in words, that do not fit the people's values."""
        raw = self.raw
        return clash(self.column, self.release, cells, people=raw.people, raw=raw.type)


def make_places(tables: Tables, raw: Raw, values: exp.Query) -> None:
    """Create the table ``places_j`` of the values of quasi-identifier j, in their order.

    With a hierarchy, they are in the order of its leaves. ``values`` has the columns value, people.
    Raises ColumnError if the hierarchy lacks a value.
    """
    j = raw.number
    tables.make(f"counted_values_{j}", values)
    source = exp.select("value", "people").from_(exp.table_(f"counted_values_{j}"))
    if raw.hierarchy is None:
        tables.make(f"raw_values_{j}", source.select("NULL AS leaf"))
    else:
        _number_leaves(tables, raw, raw.hierarchy, source)
    tables.make(f"places_{j}", splice("cells/places", tables={"raw_values": f"raw_values_{j}"}))
    tables.drop(f"counted_values_{j}", f"raw_values_{j}")


def _number_leaves(tables: Tables, raw: Raw, hierarchy: Hierarchy, source: exp.Select) -> None:
    """Create ``raw_values_j``: ``source`` (value, people), with the number of its ``leaf``."""
    j = raw.number
    leaves = [
        exp.Tuple(expressions=[exp.Literal.string(leaf), exp.Literal.number(i)])
        for i, leaf in enumerate(hierarchy.leaves, 1)
    ]
    listed = exp.alias_(exp.Values(expressions=leaves), "leaves", table=["label", "leaf"])
    text = exp.cast(exp.column("value"), "VARCHAR")
    same = exp.EQ(this=text, expression=exp.column("label", table="leaves"))
    tables.make(f"raw_values_{j}", source.select("leaf").join(listed, on=same, join_type="left"))
    raw_values = exp.table_(f"raw_values_{j}")
    outside = exp.select("count(*)", "sum(people)::BIGINT").from_(raw_values)
    ((values, people),) = tables.rows(outside.where("leaf IS NULL AND value IS NOT NULL"))
    if values:
        raise ColumnError(
            f"the hierarchy of {quoted(raw.name)} lacks {values:,} of its values, which {people:,} "
            f"people of {raw.people} have; add a line for each to {hierarchy.path}"
        )


def make_spans(
    tables: Tables,
    column: Generalised,
    cells: exp.Select,
    *,
    may_be_lost: bool = False,
    nearest: bool = False,
) -> None:
    """Create the tables (``Generalised.names``) of the raw values in the cells of a column.

    Raw values are numbered in their order (places). ``members`` pairs a cell with each value that
    it lists, ``spans`` has the first and last place of each cell. ``cells`` is the query of the
    cells (column ``cell``). ``may_be_lost``: a usual word for a missing value may stand where
    values are numbers or dates; it contains none of them. ``nearest``: also create ``distances``.
    """
    names = column.names
    mode, values = _reading_mode(column)
    different = cells.distinct().subquery("different")
    cell = "cell::VARCHAR AS cell" if mode == "text" else "cell"
    # ``cells`` has a row per different cell, with a number; ``parsed`` what it stands for, as
    # values, bounds or a prefix.
    tables.make(names["cells"], exp.select("row_number() OVER () AS id", cell).from_(different))
    if mode == "text":
        _parse_texts(tables, column, values, USUAL if may_be_lost else ())
    else:  # the engine reads these cells itself
        tables.make(names["parsed"], splice(f"cells/parsed_{mode}", tables=names, domain=values))
    # Pairs of a cell and a value in it: values that it lists, those that begin with its prefix, and
    # the missing one. ``ranges`` has the first and last place in each interval.
    views = ("listed", "begun", "absent")
    listed, begun, absent = (splice(f"cells/{v}", tables=names, domain=values) for v in views)
    tables.make(names["members"], exp.union(exp.union(listed, begun), absent))
    tables.make(names["ranges"], splice("cells/ranges", tables=names, domain=values))
    tables.make(names["spans"], splice("cells/spans", tables=names))
    if nearest:
        _make_distances(tables, column, values)
    tables.drop(names["parsed"], names["ranges"])


def _make_distances(tables: Tables, column: Generalised, values: Domain) -> None:
    """Create the table of squared distances of people's values from the cells of a column.

    It has one row, with a list of all distances. Values of an ordered domain are numbers; others
    are at 0 in a cell and at the range outside. ColumnError if there are too many distances.
    """
    names = column.names
    distances = tables.count(names["places"]) * tables.count(names["cells"])
    if distances > MOST_DISTANCES:
        raise ColumnError(
            f"column {quoted(column.column)} of {column.release} has {distances:,} pairs of cells "
            f"and values of the people, and for the nearest classes at most {MOST_DISTANCES:,} are "
            "compared; round it in both files, or leave --nearest out"
        )
    shape = {"dated": values.kind in DATED}
    steps = [make_step("cells/contained", tables=names)]  # pairs of a cell and a value in it
    if values.ordered:
        # The stretches of numbers that cells stand for, the range of all numbers, and the distance
        # of each value from each cell.
        for name in ("stretches", "extremes", "away"):
            step = make_step(f"cells/{name}", tables=names, domain=values, shape=shape)
            steps.append(step)
    query = splice("cells/distances", shape={"numeric": values.ordered})
    tables.make(names["distances"], Plan(tuple(steps), query))


def _parse_texts(tables: Tables, column: Generalised, values: Domain, words: Sequence[str]) -> None:
    """Create the table ``parsed``, a row per different cell; ``words`` mean a missing value.

    Python reads the cells in batches and writes a file, from which the engine reads them.
    """
    names = column.names
    nodes = column.raw.hierarchy.nodes if column.raw.hierarchy else None
    if nodes is None and values.kind == "text":  # a text that people have is read as this value
        unread = splice("cells/unread", tables=names)
    else:
        unread = exp.select("id", "cell").from_(names["cells"]).where("cell IS NOT NULL")
    path = tables.engine.scratch / f"{names['readings']}.parquet"
    source = _CellSource(
        column.column,
        column.release,
        values,
        nodes,
        column.labels,
        words,
        comma=column.decimal == "," and values.kind in NUMBERS,
        order=_order_of_dates(tables, column) if values.kind == "date" else None,
    )
    generalised = _write_parsed(tables, unread, path, source) > 0
    # Texts are refused where people have numbers or dates: generalised ones in a column of plain
    # values, and values in a file with types, unless they read as numbers.
    is_refused = column.plain if generalised else column.typed and not _has_numbers(column)
    if values.kind != "text" and is_refused and tables.count(names["cells"]):
        raise column.clash("text")
    rows = exp.select("*").from_(relation(Dataset.open(path)))
    tables.make(names["readings"], rows)
    tables.make(names["parsed"], splice("cells/parsed_text", tables=names, domain=values))
    tables.drop(names["readings"])
    path.unlink()


@dataclass(frozen=True)
class _CellSource:
    """The way to read texts: their column and release, for messages, and the domain of values.

    ``nodes`` are those of the hierarchy. ``labels`` is the hint for unreadable cells, except
    ``words``, which contain nothing. ``comma``: numbers have a decimal comma; ``order``: that of
    day and month in dates.
    """

    column: str
    release: str
    domain: Domain
    nodes: Mapping[str, Sequence[str]] | None = None
    labels: str = LABELS
    words: Sequence[str] = ()
    comma: bool = False
    order: str | None = None

    def normalised(self, text: str) -> str:
        """Return a cell with decimal points and ISO dates, as they are parsed.

        A number that is a node of the hierarchy but for its decimals, all 0, is that node.
        """
        if self.nodes and self.domain.kind in NUMBERS and text not in self.nodes:
            node = text.rstrip("0").removesuffix(".") if "." in text else text
            if node in self.nodes:
                return node
        if self.comma and text not in (self.nodes or ()):
            return with_points(text)
        return iso(text, self.order) if self.order else text


def _order_of_dates(tables: Tables, column: Generalised) -> str:
    """Return the order of day and month in cells: that of the file, or one that fits."""
    if column.order:
        return column.order
    # Are all cells that are written as such a date a date if the day is first? NULL without any.
    fits = filled(f"bool_and(({instant('dmy')}) IS NOT NULL)", {"field": exp.column("cell")})
    dates = filled(f"regexp_full_match(field, '{WRITTEN['dmy']}')", {"field": exp.column("cell")})
    query = exp.select(fits).from_(column.names["cells"]).where(dates)
    ((has_day_first,),) = tables.rows(query)
    return "mdy" if has_day_first is False else "dmy"


def _write_parsed(tables: Tables, query: exp.Query, path: Path, source: _CellSource) -> int:
    """Write the parsed cells of a query (id, cell) to a Parquet file; count the generalised ones.

    A row is an id and the fields of ``Cell``. Raises ColumnError if some cells do not parse: it
    states their number by form, never their text.
    """
    refused: Counter[str] = Counter()  # cells that do not parse, by form
    seen = generalised = 0
    with pq.ParquetWriter(path, PARSED) as writer:
        frames = tables.engine.batches(
            Plan((), query), tables.what, source.release, rows=CELLS_AT_ONCE
        )
        for frame in frames:
            rows: list[dict[str, object]] = []
            seen += frame.height
            for number, text in frame.iter_rows():
                try:
                    cell = parse(source.normalised(text), source.domain, source.nodes)
                except UnreadableError as e:
                    if text not in source.words:
                        refused[str(e)] += 1
                        continue
                    cell = Cell()  # a word for a missing value: it contains nothing
                # A generalised cell is anything but one value, written as the cell is.
                is_set = len(cell.items) != 1 or cell.missing or text.startswith("{")
                generalised += is_set or cell.items[0] != text
                rows.append({"id": number, **{name: getattr(cell, name) for name in _FIELDS}})
            writer.write_table(pa.Table.from_pylist(rows, PARSED))
    if refused:
        raise ColumnError(_refusal(source, refused, seen))
    return generalised


def _refusal(source: _CellSource, refused: Counter[str], seen: int) -> str:
    """Return the message about cells that do not parse, counted by form, of ``seen`` cells."""
    forms = "; ".join(f"{n:,} {form}" for form, n in refused.most_common())
    hint = source.labels
    if source.domain.kind == "text" and any(form.startswith(INTERVAL) for form in refused):
        hint = "cells that are values as they stand are named with --plain COLUMN"
    return (
        f"column {quoted(source.column)} of {source.release} has {sum(refused.values()):,} of "
        f"{seen:,} different cells that cannot be read, by form: {forms}; {hint}"
    )


def _reading_mode(column: Generalised) -> tuple[str, Domain]:
    """Return the mode for reading the cells of a column, and the domain shared with raw values.

    Modes are ``text`` (cells to parse), ``plain`` (a value), ``list`` and ``interval``. Raises
    ColumnError if cells of this type cannot contain the raw values.
    """
    raw = column.raw.domain
    try:
        mode, inner = parts(column.type)
    except ColumnError as e:
        raise ColumnError(
            f"column {quoted(column.column)} of {column.release} cannot be used: {e}"
        ) from e
    cells = domain(inner)
    if mode == "plain" and cells.kind == "whole" and raw.kind in ("date", "timestamp"):
        return "text", raw  # years
    # the user calls such texts single values, and not notations of several (20-29)
    is_value = column.plain and (column.typed or raw.kind == "text")
    if mode == "plain" and cells.kind == "text" and not is_value:
        if raw.kind == "other" and raw.type != "BOOLEAN":
            raise column.clash("text")
        return "text", raw
    shared = common_domain(raw, cells)  # None: they cannot be compared
    if shared is None or (mode == "interval" and not shared.ordered):
        prefix = {"list": "lists of ", "interval": "intervals of "}.get(mode, "")
        words = cells.words if cells.kind != "other" else family(inner)
        raise column.clash(prefix + words)
    if mode == "plain" and _may_be_nodes(column):
        return "text", raw
    return mode, shared


def _has_numbers(column: Generalised) -> bool:
    """Return whether the cells and the raw values of a column are single numbers."""
    mode, inner = parts(column.type)
    return mode == "plain" and {domain(inner).kind, column.raw.domain.kind} <= {*NUMBERS}


def _may_be_nodes(column: Generalised) -> bool:
    """Return whether cells that are numbers may be nodes of the hierarchy: 130 for 130**."""
    tree = column.raw.hierarchy
    if tree is None or column.plain or not _has_numbers(column):
        return False
    read = reader(column.raw.domain)
    return any(read(node) is not None for node in tree.nodes.keys() - {*tree.leaves})


def count_rows(tables: Tables, columns: Sequence[Generalised], classes: str) -> int:
    """Return how many rows the table ``classes`` has if the cells of ``columns`` are written out.

    A class then has a row for each combination of values (places) that these cells contain.
    """
    names = {f"spans_{c.raw.number}": c.names["spans"] for c in columns}
    shape: dict[str, Shape] = {"along": [c.raw.number for c in columns]}
    query = splice("cells/width", tables=names | {"classes": classes}, shape=shape)
    ((rows,),) = tables.rows(query)
    return int(rows)
