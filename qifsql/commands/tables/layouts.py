"""Files of published tables: their texts, and which of their columns are counts.

A long file has one column of counts, and every other column is a dimension. In a wide file the
columns of counts are values of one dimension, ``across``. The texts of a file are loaded once; what
they mean is decided once for each different text (``sql/tables/published.sql``).
"""

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

from sqlglot import exp

from qifsql.data.dataset import Column, Dataset
from qifsql.data.expressions import FLOATING, SOURCE, column, filled, with_one_missing
from qifsql.data.option import csv_row
from qifsql.data.readers import relation
from qifsql.data.types import NUMBERS, family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, DatasetError, did_you_mean, quoted
from qifsql.query.plan import Plan, Step
from qifsql.query.protections import Protection
from qifsql.query.splice import splice

COUNT_NAMES = frozenset((
    "count", "counts", "n", "people", "persons", "population", "records", "total", "value", "freq",
    "frequency", "obs_value", "contagem", "pessoas", "total_pessoas", "quantidade",
))  # fmt: skip
"""Usual names of columns of counts."""
TOTAL_LABELS = frozenset((
    "total", "totals", "grand total", "overall", "sum", "both sexes", "all ages", "totais",
    "total geral", "soma", "ambos os sexos", "suma", "totale", "gesamt", "insgesamt", "summe",
    "ensemble",
))  # fmt: skip
"""Values that are totals, so that they must be declared."""
WITHOUT_POINT = (
    "CASE WHEN trunc(x) = x AND abs(x) < 1e15 THEN CAST(CAST(x AS BIGINT) AS TEXT) ELSE words END"
)


@dataclass(frozen=True)
class File:
    """A file whose texts are loaded.

    Column p is ``place_p`` of the table ``fields_i`` of file i, beside ``line``: the header is
    line 1, and a line break inside a cell does not count. ``meanings_i`` has the different texts of
    each column.
    """

    number: int
    title: str
    protection: Protection
    names: tuple[str, ...]  # of its columns
    kinds: tuple[str, ...]  # of its columns: ``counts``, ``labels`` or ``unclear``

    def place(self, name: str | None) -> int | None:
        """Return the place, from 1, of the column of a name, whatever its case; None without it."""
        for p, column_name in enumerate(self.names, 1):
            if name and bare_text(column_name) == bare_text(name):
                return p
        return None

    def places(self, kind: str) -> list[int]:
        """Return the places of the columns of a kind."""
        return [p for p, k in enumerate(self.kinds, 1) if k == kind]


@dataclass(frozen=True)
class Layout:
    """A file and the places of its columns of counts, which are values of ``across`` if wide."""

    file: File
    counts: tuple[int, ...]
    across: str | None = None

    @property
    def stubs(self) -> tuple[int, ...]:
        """Return the places of the columns that are dimensions."""
        return tuple(p for p in range(1, len(self.file.names) + 1) if p not in self.counts)

    @property
    def dims(self) -> tuple[str, ...]:
        """Return the names of the dimensions; that across is the last."""
        names = tuple(self.file.names[p - 1] for p in self.stubs)
        return (*names, self.across) if self.across else names

    @property
    def headers(self) -> tuple[str, ...]:
        """Return the values of the dimension across; none in a long file."""
        return tuple(self.file.names[p - 1] for p in self.counts) if self.across else ()


def bare_text(text: str) -> str:
    """Return a text without case and the blanks around it, as ``meanings`` has it."""
    return unicodedata.normalize("NFC", text).strip().lower()


def load_texts(
    tables: Tables, i: int, dataset: Dataset, title: str, protection: Protection
) -> File:
    """Load the texts of file i into ``fields_i`` and ``meanings_i``, and return the file.

    ``fields_i`` has a row per line with the text of each column, ``meanings_i`` a row per column
    and different text of it. Raises ColumnError or DatasetError if it is no table.
    """
    catalog = Catalog(tables.engine, dataset, mentions=lambda _: False)
    columns = catalog.schema.columns
    _check_columns(columns, title)
    places = range(1, len(columns) + 1)
    texts = [exp.alias_(_cell_text(c), f"place_{p}") for p, c in enumerate(columns, 1)]
    rows = exp.alias_(relation(catalog.dataset), SOURCE, table=True)
    fields, meanings = f"fields_{i}", f"meanings_{i}"
    tables.make(fields, exp.select(*texts, "row_number() OVER () + 1 AS line").from_(rows))
    if not tables.count(fields):
        raise DatasetError(f"{title} has no lines below its header; name another file")
    typed = {"typed": [int(family(c.type) in NUMBERS) for c in columns]}
    different = splice("tables/texts", places=places, numbers=typed, tables={"fields": fields})
    tables.make(meanings, Plan((Step("texts", "", different),), splice("tables/meanings")))
    kinds = dict(tables.rows(splice("tables/kinds", tables={"meanings": meanings})))
    names = tuple(c.name for c in columns)
    return File(i, title, protection, names, tuple(kinds[p] for p in places))


def _cell_text(cell: Column) -> exp.Expr:
    """Return the text of the cells of a column, in SQL: 5 and not 5.0 of a floating number."""
    kind = family(cell.type)
    value: exp.Expr = column(cell)
    value = with_one_missing(value) if kind in FLOATING else value
    text = exp.cast(value, "TEXT")
    if kind not in (*FLOATING, "DECIMAL"):
        return text
    return filled(WITHOUT_POINT, {"x": value, "words": text})


def _check_columns(columns: Sequence[Column], title: str) -> None:
    """Refuse columns without a name, nested ones, and names that differ only in case or blanks."""
    by_bare_name: dict[str, str] = {}
    for place, c in enumerate(columns, 1):
        if not c.title.strip():
            raise ColumnError(f"column {place} of {title} has no name; name it, or leave it out")
        if nested(c.type):
            raise ColumnError(f"column {quoted(c.name)} of {title} is nested; leave it out")
        bare = bare_text(c.name)
        if bare in by_bare_name:
            raise ColumnError(
                f"columns {quoted(by_bare_name[bare])} and {quoted(c.name)} of {title} differ "
                "only in case or blanks; rename one of them"
            )
        by_bare_name[bare] = c.name


def find_layouts(
    files: Sequence[File], across: str | None, counts: str | None, labels: Collection[str]
) -> list[Layout]:
    """Return which columns of each file are counts; of a wide file they are values of ``across``.

    With ``across``, a file is wide if it has no column of that name and none of that of ``counts``,
    unless all columns of ``sex=male,female`` are missing in it. Its columns of counts are the last
    ones, or those in ``sex=male,female`` and of totals, whose bare labels are ``labels``. Raises
    ColumnError if they are not clear, or a name is in no file or has two forms.
    """
    name, _, columns = (across or "").partition("=")
    name = name.strip()  # of the dimension across
    listed = csv_row(columns) if columns else []  # columns of counts: the values of it
    for column_name in (*listed, *([counts] if counts else [])):
        if all(file.place(column_name) is None for file in files):
            hint = did_you_mean(column_name, chain.from_iterable(file.names for file in files))
            raise ColumnError(f"no published table has a column {quoted(column_name)}{hint}")
    result = []
    for file in files:
        may_be_wide = name and file.place(name) is None and file.place(counts) is None
        places = {p for n in listed if (p := file.place(n))}
        if may_be_wide and not listed:
            layout = Layout(file, _last_columns(file, name, labels), name)
        elif may_be_wide and places:
            places |= {p for p, n in enumerate(file.names, 1) if bare_text(n) in labels}  # totals
            layout = Layout(file, tuple(sorted(places)), name)
        else:
            layout = Layout(file, (_column_of_counts(file, counts),))
        if sum(bare_text(header) in labels for header in layout.headers) > 1:
            raise ColumnError(f"{file.title} has several columns of totals; leave all but one out")
        if not layout.dims:
            raise DatasetError(f"{file.title} has counts but no dimension; name another file")
        result.append(layout)
    _check_names(result)
    return result


def _column_of_counts(file: File, counts: str | None) -> int:
    """Return the place, from 1, of the column of counts of a long file; refuse a file with doubts.

    It is the one called ``counts``. Without that it has a usual name and is not of labels, or is
    the last column and the only one of counts.
    """
    if place := file.place(counts):
        return place
    usual = [p for p, n in enumerate(file.names, 1) if bare_text(n) in COUNT_NAMES]
    places = [p for p in usual if file.kinds[p - 1] != "labels"] or file.places("counts")
    if len(places) != 1 or places[0] not in {*usual, len(file.names)}:
        raise ColumnError(
            f"which column of {file.title} has the counts is not clear; name it with --counts or, "
            "where the values of a dimension are columns, name this dimension with --across"
        )
    return places[0]


def _last_columns(file: File, across: str, labels: Collection[str]) -> tuple[int, ...]:
    """Return the places, from 1, of the columns of counts of a wide file, which are its last ones.

    Refuse it if such a column has a usual name of counts, which is no value of dimension
    ``across``, is not among the last, or may be of labels. ``labels`` are those of totals.
    """
    places = file.places("counts")
    usual = COUNT_NAMES - TOTAL_LABELS - set(labels)
    last_stub = max(1, len(file.names) - len(places))  # at least one dimension comes first
    doubts = [p for p in places if p <= last_stub or bare_text(file.names[p - 1]) in usual]
    doubts += file.places("unclear")
    if doubts or not places:
        such = f" (such as {quoted(file.names[min(doubts) - 1])})" if doubts else ""
        raise ColumnError(
            f"which columns of {file.title} are values of {quoted(across)} is not clear{such}; "
            f'name them, as in --across "{across}=COLUMN,COLUMN", or name the one column of '
            "counts with --counts"
        )
    return tuple(places)


def _check_names(files: Sequence[Layout]) -> None:
    """Refuse dimensions whose names differ only in case or blanks."""
    first: dict[str, tuple[str, str]] = {}  # name as written and file, by the bare name
    for layout in files:
        for name in layout.dims:
            first_name, title = first.setdefault(bare_text(name), (name, layout.file.title))
            if first_name != name:
                raise ColumnError(
                    f"dimension {quoted(name)} of {layout.file.title} is {quoted(first_name)} in "
                    f"{title}; write one name"
                )
