"""The columns of an analysis in the original and in a release, and how their cells are read.

A cell is read as the values of the original that it contains and, where these are numbers, as one
number: its own, or the middle between the smallest and the largest number in it. A cell that stands
for everything, or that lost its value, is read as none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.counting.composition import Compared, as_compared
from qifsql.counting.losses import combine_cells
from qifsql.counting.release_columns import column_of_release, typed
from qifsql.counting.scales import position
from qifsql.counting.spans import Generalised, Raw, make_places, make_spans
from qifsql.data.dataset import Column, Dataset
from qifsql.data.domains import NUMBERS
from qifsql.data.expressions import column as expression_of
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice

MOST = 20_000_000
"""The most rows of a table of the values, or pairs of values, that cells contain."""
COVERED = "One row per cell and place that it covers."


@dataclass(frozen=True)
class Analysed:
    """A column of the original in an analysis: its number, name and type, and its attribute.

    Text of a quasi-identifier (``is_qid``) may be generalised; that of other columns is a value.
    """

    raw: Raw
    attribute: Attribute
    is_qid: bool

    @property
    def number(self) -> int:
        """Return the number of the column."""
        return self.raw.number

    @property
    def is_number(self) -> bool:
        """Return whether its values are numbers."""
        return self.raw.domain.kind in NUMBERS


class Cells(NamedTuple):
    """A column of a release: how its cells are read, and its attribute there."""

    column: Generalised
    attribute: Attribute


@dataclass(frozen=True)
class ReadFile:
    """A file whose cells are read: its number, its title, and the numbers of its columns.

    ``too_wide`` are columns whose cells contain more than ``MOST`` values together.
    """

    number: int
    title: str
    columns: frozenset[int]
    too_wide: frozenset[int] = frozenset()

    def table(self, name: str, j: int) -> str:
        """Return the name of a table about column j of the file."""
        return f"{name}_{self.number}_{j}"

    @property
    def combined(self) -> str:
        """Return the name of the table of combinations of cells."""
        return f"combined_{self.number}"


def compared_columns(raws: Sequence[Raw], original: Compared) -> list[Analysed]:
    """Return the quasi-identifiers and the secrets of the original, numbered in this order."""
    qids = zip(raws, original.cells, strict=True)
    columns = [Analysed(raw, attribute, is_qid=True) for raw, (_, attribute) in qids]
    for secret in original.secrets:
        columns.append(_value_column(secret, len(columns) + 1, original.title))
    return columns


def further_columns(
    names: Sequence[str], columns: Sequence[Analysed], catalog: Catalog, title: str
) -> list[Analysed]:
    """Return the columns of the original with these names that are not among ``columns``."""
    compared = {column.raw.name for column in columns}
    named: list[Column] = [catalog.schema[name] for name in names if name not in compared]
    attributes = [Attribute(c.name, expression_of(c), c.type) for c in dict.fromkeys(named)]
    others = [a for a in typed(attributes, catalog, "column") if a.name not in compared]
    first = len(columns) + 1
    return [_value_column(attribute, n, title) for n, attribute in enumerate(others, first)]


def _value_column(attribute: Attribute, number: int, title: str) -> Analysed:
    raw = Raw(number, attribute.name, title, attribute.type)
    return Analysed(raw, attribute, is_qid=False)


def cells_in_release(
    columns: Sequence[Analysed], release: Compared, catalog: Catalog | None
) -> dict[int, Cells]:
    """Return those of the columns that a release has, by number, with their cells there.

    Cells of quasi-identifiers and secrets are known already. ``catalog`` is that of the release; it
    is read for columns without a role.
    """
    cells = {column.raw.number: Cells(column, a) for column, a in release.cells}
    secrets = {secret.name: secret for secret in release.secrets}
    for column in columns:
        if column.is_qid:
            continue
        name = column.raw.name
        attribute = secrets.get(name)
        if attribute is None and catalog is not None and catalog.schema.find(name) is not None:
            attribute = column_of_release(catalog, name, name)
        if attribute is not None:
            cells[column.number] = Cells(_generalised(column.raw, release, attribute), attribute)
    return cells


def _generalised(raw: Raw, release: Compared, attribute: Attribute) -> Generalised:
    """Return how the cells of a column that is no quasi-identifier are read: text as it stands."""
    dataset = release.attack.microdata.dataset
    assert isinstance(dataset, Dataset)  # noqa: S101 - files are compared, no collections
    return Generalised(
        raw,
        release.number,
        release.title,
        raw.name,
        attribute.type,
        plain=raw.domain.kind == "text",
        typed=dataset.format != "csv",  # where all is text
        decimal=dataset.decimal,
        order=dataset.date_order,
    )


def read_original(tables: Tables, columns: Sequence[Analysed], original: Compared) -> ReadFile:
    """Create the tables of the original: what each value is read as, and their combinations.

    Of column j: ``numbers_j`` (the values as numbers), ``cells`` (as texts), ``readings`` (what a
    cell is read as), and ``whole_numbers`` (the numbers in units, so that sums are exact), with
    their zero and unit in ``grid_j``. The values of quasi-identifiers are in ``places_j`` already
    (``losses.read_original``).
    """
    file = ReadFile(1, original.title, frozenset(c.number for c in columns))
    _group_records(tables, original, {c.number: c.attribute for c in columns})
    for column in columns:
        j = column.number
        if not column.is_qid:
            make_places(tables, column.raw, _different_cells(j, "value", "people"))
        places = exp.table_(f"places_{j}")
        kind = column.raw.type if column.is_number else "VARCHAR"  # text has no positions
        numbers = exp.select("place", exp.alias_(position(kind), "position")).from_(places)
        tables.make(f"numbers_{j}", numbers)
        own_cells = exp.select("place AS id", "value AS cell").from_(places)
        tables.make(file.table("cells", j), own_cells)
        names = {"numbers": f"numbers_{j}"}
        tables.make(file.table("readings", j), splice("compare/own_readings", tables=names))
        tables.make(f"grid_{j}", splice("compare/grid", tables=names))
        _make_whole_numbers(tables, file, j)
    _combine_cells(tables, file)
    return file


def read_release(
    tables: Tables, columns: Sequence[Analysed], release: Compared, cells: Mapping[int, Cells]
) -> ReadFile:
    """Create the tables of a release: what each cell is read as, and their combinations.

    The cells of quasi-identifiers have spans already (``losses.loss_rows``): which values of the
    original each contains. In the result, ``too_wide`` are columns whose cells contain too many.
    """
    file = ReadFile(release.number, release.title, frozenset(cells))
    _group_records(tables, release, {j: attribute for j, (_, attribute) in cells.items()})
    too_wide = set()
    for column in columns:
        if column.number not in cells:
            continue
        names = _names(cells[column.number].column, file)
        if not column.is_qid:
            tables.make("held", _different_cells(column.number, "cell", "records"))
            held = exp.select("cell").from_("held")
            make_spans(tables, cells[column.number].column, held, may_be_lost=True)
            tables.make(names["told"], splice("compare/told", tables=names))
            tables.drop("held")
        if not _read_cells(tables, file, column, names):
            too_wide.add(column.number)
    _combine_cells(tables, file)
    return ReadFile(file.number, file.title, file.columns, frozenset(too_wide))


def drop_release(
    tables: Tables, columns: Sequence[Analysed], file: ReadFile, cells: Mapping[int, Cells]
) -> None:
    """Drop the tables of a release that ``read_release`` made."""
    for column in columns:
        j = column.number
        if j in cells:
            tables.drop(*(file.table(n, j) for n in ("readings", "contents", "whole_numbers")))
            names = _names(cells[j].column, file)
            if not column.is_qid:
                tables.drop(*(names[n] for n in ("cells", "spans", "members", "told")))
    tables.drop(file.combined)


def _names(column: Generalised, file: ReadFile) -> dict[str, str]:
    """Return the tables of a column of a release, by the names that views have for them."""
    j = column.raw.number
    of_original = {"numbers": f"numbers_{j}", "grid": f"grid_{j}"}
    return {**column.names, **of_original, "told": file.table("told", j)}


def _group_records(tables: Tables, file: Compared, attributes: Mapping[int, Attribute]) -> None:
    """Create the table ``alike``: a row per combination of cells ``cell_j``, with its records."""
    cells = {f"cell_{j}": as_compared(attribute) for j, attribute in attributes.items()}
    combine_cells(tables, file.attack.microdata, cells, "alike")


def _different_cells(j: int, cell: str, records: str) -> exp.Select:
    """Return the query of the different cells of column j, with their records, by these names."""
    total = exp.cast(exp.func("sum", exp.column("records")), "BIGINT")
    query = exp.select(exp.column(f"cell_{j}").as_(cell), total.as_(records))
    return query.from_("alike").group_by("1")


def _read_cells(tables: Tables, file: ReadFile, column: Analysed, names: dict[str, str]) -> bool:
    """Create ``contents``, ``readings`` and ``whole_numbers`` of a column of a release.

    ``contents`` has the values of the original that each cell contains, ``readings`` the value or
    number that a cell is read as. Return whether contents were written: not if they would be more
    than ``MOST``. Without them no cell is read as an interval, and all cells stand for everything.
    """
    j = column.number
    # The span of each cell: its first and last value, by place on the scale of the original. It is
    # everything if some records of the cell may have lost their value.
    tables.make("vague_spans", splice("compare/vague_spans", tables=names))
    # At least the number of values in all cells.
    width = exp.select("coalesce(sum(high - least + 2), 0)::BIGINT").from_("vague_spans")
    ((covered_places,),) = tables.rows(width)
    is_narrow = int(covered_places) <= MOST
    spans = {**names, "spans": "vague_spans"}
    covered = Step("covered", COVERED, splice("cells/covered", tables=spans))
    contents = splice("compare/contents", tables=names)
    tables.make(
        file.table("contents", j), Plan((covered,), contents if is_narrow else contents.limit(0))
    )
    # Whether a cell may be a number as written; with a hierarchy it may be the name of a node.
    is_written = column.is_number and column.raw.hierarchy is None
    readings = splice(
        "compare/readings",
        tables={**names, "contents": file.table("contents", j)},
        numbers={"is_written": int(is_written)},
    )
    tables.make(file.table("readings", j), readings)
    _make_whole_numbers(tables, file, j)
    tables.drop("vague_spans")
    return is_narrow


def _make_whole_numbers(tables: Tables, file: ReadFile, j: int) -> None:
    names = {"readings": file.table("readings", j), "grid": f"grid_{j}"}
    tables.make(file.table("whole_numbers", j), splice("compare/whole_numbers", tables=names))


def _combine_cells(tables: Tables, file: ReadFile) -> None:
    """Create the table of combinations of cells, by their numbers, from ``alike``."""
    columns = sorted(file.columns)
    names = {f"cells_{j}": file.table("cells", j) for j in columns}
    query = splice("compare/combined_cells", tables=names, shape={"columns": columns})
    tables.make(file.combined, query)
    tables.drop("alike")
