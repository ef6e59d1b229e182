"""Releases in files, many at once: cells that contain a target's values, and their secrets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.commands.dit.release_sources import ReleaseSource
from qifsql.counting.passes import Passes
from qifsql.counting.scales import own_name, own_table, scale_table
from qifsql.counting.spans import COLUMN_TABLES, Generalised, Raw, make_places, make_spans
from qifsql.data.dataset import Column, Dataset
from qifsql.data.domains import common_domain, domain
from qifsql.data.expressions import column
from qifsql.data.readers import LOADED, select_records
from qifsql.data.types import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, DatasetError, InputError, plural, quoted
from qifsql.query.microdata_steps import normal
from qifsql.query.plan import Plan
from qifsql.query.render import adding
from qifsql.query.splice import splice

EVERYBODY = 0  # the number of the release with everybody
LABELS = "write cells as values, intervals such as [20,30], sets such as {a,b}, or * for all"


class ExternalReleases:
    """The reader of a run's releases; ``release`` is the file of the release with everybody.

    A cell of a release is a value, an interval, a set or ``*``; it covers a person if it contains
    the person's own value. ``raws`` are the quasi-identifiers of the people, with their own
    values; a value's place is its rank among these, so that the cells that contain it can be found
    by comparing whole numbers. ``plain`` are the quasi-identifiers whose cells are never
    generalised, ``types`` the types of the columns of the releases read so far; they are ``typed``
    unless one is CSV. ``dictionary`` is the table of the people's secrets.
    """

    def __init__(self, passes: Passes, source: ReleaseSource) -> None:
        """Get the release of everybody from its ``source``; make the places of people's values."""
        self.engine, self.passes, self.attack = source.engine, passes, source.attack
        microdata = source.attack.microdata
        people = microdata.dataset.name
        self.release = source.release_without(None)
        self.plain = source.question.as_values
        self.tables = Tables(source.engine, "reading releases", people)
        self.secret = microdata.secrets[0]
        self.raws = [Raw(j, q.name, people, q.type) for j, q in enumerate(microdata.qids, 1)]
        self.dictionary = {"known": own_name("dictionary_secret_1")}
        self.types: dict[str, str] = {}
        self.typed = True
        for raw in self.raws:  # ``places_j`` of quasi-identifier j: a row per value, in order
            self.passes.drop(f"places_{raw.number}")
            values = exp.select("value", "people").from_(own_table(scale_table(raw.number)))
            make_places(self.tables, raw, values)

    def read(self, files: Mapping[int, Path]) -> None:
        """Create ``patterns``, ``totals`` and ``tallies`` from the releases that the user made.

        They count the records of releases with and without each target (a person whose prediction
        is tested). ``files`` has the release without each target, by its number. ColumnError,
        DatasetError or InputError if a release cannot be used. Other tables made here are dropped.
        """
        self._add_rows(EVERYBODY, self.release, first=True)
        for target, path in files.items():
            self._add_rows(target, path, first=False)
        (unknown,) = self.passes.row(splice("dit/unknown_secrets", tables=self.dictionary))
        if unknown:
            raise InputError(
                f"{plural(int(unknown), 'record')} of the releases have a secret "
                f"{quoted(self.secret.name)} that nobody in "
                f"{self.attack.microdata.dataset.name} has; releases must leave the secret as it is"
            )
        for raw in self.raws:  # the cells of each quasi-identifier, and the values they contain
            self._make_spans(raw)
        numbers = [raw.number for raw in self.raws]
        texts = {f"texts_{raw.number}": self._column(raw).names["cells"] for raw in self.raws}
        tables = {"targets": own_name("targets"), **self.dictionary, **texts}
        # By target, release with or without them, and secret: the records, by which of their cells
        # contain the target's values (``patterns``); by each cell alone; and all of them.
        patterns = splice("dit/file_patterns", tables=tables, shape={"qids": numbers})
        self.passes.keep("patterns", patterns)
        self.passes.make("tallies", "dit/tallied", {"wanted_width": self.passes.coded.width})
        self.passes.make("totals", "dit/counted")
        spans = [self._column(raw).names[name] for raw in self.raws for name in COLUMN_TABLES]
        covers = [f"{table}_{j}" for table in ("spotted", "covers") for j in numbers]
        self.passes.drop("shown", *spans, *covers)

    def _add_rows(self, number: int, path: Path, *, first: bool) -> None:
        """Add the distinct rows of a release to the table ``shown``; the ``first`` creates it."""
        catalog, columns = self._columns(path)
        title, csv = catalog.schema.dataset, catalog.dataset.format == "csv"
        self._note_types(columns, title, csv=csv)
        *qids, secret_column = columns
        cells = {f"cell_{j}": _cell(c, csv=csv) for j, c in enumerate(qids, 1)}
        cells["secret"] = self._secret(secret_column, title, csv=csv)
        named = [exp.alias_(tree, name) for name, tree in cells.items()]
        rows = select_records(catalog.dataset, named).subquery("rows")
        keys = [exp.column(name) for name in cells]
        release_number = exp.cast(exp.convert(number), "BIGINT").as_("number")
        counted = exp.select(release_number, *keys, "count(*) AS people")
        counted = counted.from_(rows).group_by(*keys)
        if first:
            count = self.passes.keep("shown", counted)
        else:  # statements about releases without one person are not recorded
            count = self.passes.stream.count(adding(Plan((), counted), "shown", LOADED))
        if not count:
            raise DatasetError(f"{title} has no records; name another file")

    def _note_types(self, columns: Sequence[Column], title: str, *, csv: bool) -> None:
        """Note the types of the columns of a release; refuse others than in releases before."""
        self.typed = self.typed and not csv
        for file_column in columns:
            type_ = "VARCHAR" if csv else file_column.type
            if self.types.setdefault(file_column.name, type_) != type_:
                raise ColumnError(
                    f"column {quoted(file_column.name)} of {title} is {family(type_)}, but "
                    f"{family(self.types[file_column.name])} in {self.release.name}; write all "
                    "releases with the same types"
                )

    def _columns(self, path: Path) -> tuple[Catalog, list[Column]]:
        """Return the catalog of a release, and its columns under the names of the input.

        CSV is read with the types of its cells, but as text if these would change values of the
        input's types: 01234 stays text in a text column, and no whole number is rounded.
        """
        meant = (*self.attack.microdata.qids, self.secret)
        dataset = Dataset.open(path)
        catalog = Catalog(self.engine, dataset)
        columns = [catalog.schema[m.name] for m in meant]
        if dataset.format == "csv" and any(map(_changes_values, meant, columns)):
            catalog = Catalog(self.engine, replace(dataset, all_varchar=True))
            columns = [catalog.schema[m.name] for m in meant]
        return catalog, [replace(c, name=m.name) for c, m in zip(columns, meant, strict=True)]

    def _secret(self, file_column: Column, title: str, *, csv: bool) -> exp.Expr:
        """Return the secret of a release, cast to the type of the input's secret."""
        what = f"secret {quoted(self.secret.name)} of {title}"
        if nested(file_column.type):
            raise ColumnError(f"{what} is nested; it must be a column of single values")
        is_text = file_column.type == "VARCHAR" or csv
        common = common_domain(domain(self.secret.type), domain(file_column.type))
        if not is_text and common is None:
            raise ColumnError(
                f"{what} is {family(file_column.type)}, but that of "
                f"{self.attack.microdata.dataset.name} is {family(self.secret.type)}: values "
                "are not converted; write both with one type"
            )
        type_ = exp.DataType.build(self.secret.type, dialect="duckdb")
        return exp.TryCast(this=_cell(file_column, csv=csv), to=type_)

    def _make_spans(self, raw: Raw) -> None:
        """Create ``covers_j`` of quasi-identifier j: a row per cell and target's value in it.

        ``spotted_j`` has the place of each target's value. Both stay until ``read`` drops them.
        """
        release_column = self._column(raw)
        cells = exp.select(exp.alias_(exp.column(f"cell_{raw.number}"), "cell")).from_("shown")
        make_spans(self.tables, release_column, cells)
        numbers = {"wanted_attribute": raw.number}
        tables = {"scale": own_name(scale_table(raw.number)), "targets": own_name("targets")}
        spotted = f"spotted_{raw.number}"
        self.passes.keep(spotted, splice("dit/spotted", tables=tables, numbers=numbers))
        names = {**release_column.names, "spotted": spotted}
        self.tables.make(f"covers_{raw.number}", splice("dit/covers", tables=names))

    def _column(self, raw: Raw) -> Generalised:
        """Return how the cells of a quasi-identifier are read: in the same way in every release.

        ``plain`` cells stand for themselves; others may be intervals, sets or nodes.
        """
        return Generalised(
            raw,
            number=1,  # all releases are read as one
            release=self.release.name,
            column=raw.name,
            type=self.types[raw.name],
            plain=raw.name in self.plain,
            typed=self.typed,
            labels=LABELS,
        )


def _cell(file_column: Column, *, csv: bool) -> exp.Expr:
    """Return a cell; CSV cells as text, because other releases may generalise the column."""
    if nested(file_column.type):
        return column(file_column)
    value = normal(Attribute(file_column.name, column(file_column), file_column.type))
    return exp.cast(value, "VARCHAR") if csv else value


def _changes_values(meant: Attribute, file_column: Column) -> bool:
    """Return whether reading CSV with the type of its cells would change values of the input.

    Floating-point numbers round whole ones; any type but text changes texts such as 01234.
    """
    input_kind, cell_kind = domain(meant.type).kind, domain(file_column.type).kind
    if cell_kind == "floating":
        return input_kind != "floating"
    return cell_kind != "text" and input_kind in ("text", "other")
