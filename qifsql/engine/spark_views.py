"""Views of a Spark session on what is read: files, tables of its catalogue, rows of DuckDB here."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from qifsql.data.dataset import CATALOGUE, Dataset
from qifsql.data.expressions import identifier
from qifsql.data.readers import LOADED, relation
from qifsql.engine import dialect, rewrites
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.placing import FILE, INDEX, PLACED, is_function, no_rows, plain_path
from qifsql.engine.rewrites import Unlike
from qifsql.engine.spark import Folders
from qifsql.errors import DatasetError, InputError
from qifsql.query import render
from qifsql.query.plan import Plan

TYPES = {  # types of Spark -> those of DuckDB
    "boolean": "BOOLEAN", "tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INTEGER",
    "bigint": "BIGINT", "float": "FLOAT", "double": "DOUBLE", "string": "VARCHAR",
    "date": "DATE", "timestamp_ntz": "TIMESTAMP", "timestamp": "TIMESTAMP WITH TIME ZONE",
    "binary": "BLOB",
}  # fmt: skip


@dataclass
class SparkViews:
    """The views of a session: their names by the SQL of what they read.

    ``act`` runs an action of Spark with progress; ``new_name`` makes a name with a kind in it.
    """

    session: Any
    local: DuckDB
    folders: Folders
    _: KW_ONLY
    act: Callable[[str, str, Callable[[], Any]], Any]
    new_name: Callable[[str], str]
    views: dict[str, str] = field(default_factory=dict)

    def has(self, source: exp.Expr) -> bool:
        """Return whether there is a view of a source."""
        return render.render(source) in self.views

    def of(self, source: exp.Table, where: str) -> str:
        """Return the view of a source, files or a table of DuckDB here; create it if need be."""
        key = render.render(source)
        if key in self.views:
            return self.views[key]
        view = self.new_name("source")
        if is_function(source, "READ_PARQUET"):
            self._read_parquet(source, view, where)
        elif isinstance(source.this, exp.Identifier) or is_function(source, "READ_CSV"):
            self.convert(source, view, where)
        else:
            raise Unlike("a function that returns a table")
        self.views[key] = view
        return view

    def _read_parquet(self, table: exp.Table, view: str, where: str) -> None:
        """Create the view of Parquet files, with the names of columns that DuckDB gives."""
        array, *options = table.this.expressions
        paths = [plain_path(item.name) for item in array.expressions]
        columns = self.local.describe(table, where)
        if any(option.expression.this is True for option in options):
            raise InputError(
                f"{where} has columns in the names of its folders, which qifsql does not read with "
                "Spark; write them into the files"
            )
        uris = [Path(path).absolute().as_uri() for path in paths]
        frame = self.act("opening", where, lambda: self.session.read.parquet(*uris))
        if len(frame.columns) != len(columns):
            raise DatasetError(f"{where} has columns that Spark does not read; write it again")
        self._create(frame, [name for name, _ in columns], view, uris)

    def _create(self, frame: Any, names: Sequence[str], view: str, files: Sequence[str]) -> None:
        """Create the view of files, and another one that also has the place of each record.

        The place is the number of the file in ``files``, and the number of the record in it.
        """
        frame.toDF(*names).createOrReplaceTempView(view)
        with_paths = frame.selectExpr("*", "_metadata.file_path", "_metadata.row_index")
        with_paths.toDF(*names, FILE, INDEX).createOrReplaceTempView(f"{view}_files")
        number: exp.Expr = exp.Literal.number(0)
        if len(files) > 1:
            uris = [file.replace("file:///", "file:/", 1) for file in files]  # as Spark writes them
            array = exp.Array(expressions=[exp.Literal.string(uri) for uri in uris])
            place = exp.Anonymous(this="array_position", expressions=[array, exp.column(FILE)])
            place = exp.Anonymous(this="nullif", expressions=[place, exp.Literal.number(0)])
            words = exp.Literal.string("a file has another name than it was opened with")
            error = exp.Anonymous(this="raise_error", expressions=[words])
            number = exp.func("coalesce", place, error)
        columns = [exp.column(identifier(name)) for name in names]
        query = exp.select(*columns, exp.alias_(number, FILE), exp.column(INDEX))
        query = query.from_(exp.table_(identifier(f"{view}_files")))
        self.session.sql(dialect.text(query)).createOrReplaceTempView(view + PLACED)

    def convert(self, table: exp.Table, view: str, where: str) -> str:
        """Copy rows that DuckDB here reads to Parquet, create their view; return the folder."""
        columns = self.local.describe(table, where)
        folder = self.folders.make(view)
        path = self.local.scratch / f"{view}.parquet"
        selected = []
        for name, type_ in columns:
            value: exp.Expr = exp.column(identifier(name))
            if type_ in ("HUGEINT", "UHUGEINT"):  # Parquet has no such numbers
                value = exp.cast(value, rewrites.LONG, dialect="duckdb")
            selected.append(exp.alias_(value, identifier(name)))
        plan = Plan((), exp.select(*selected).from_(table.copy()))
        self.local.copy(plan, path, what="loading", where=where)
        self.folders.put(path, folder)
        frame = self.act("opening", where, lambda: self.session.read.parquet(folder))
        self._create(frame, [n for n, _ in columns], view, [folder])
        return folder

    def open_source(self, dataset: Dataset) -> None:
        """Create the view of a table or of remote files, and an empty table in DuckDB here."""
        name = relation(replace(dataset, wave=None, missing=())).name
        if name in self.views.values():
            return
        place = dataset.paths[0]
        table = place.removeprefix(CATALOGUE)
        read = self.session.read.parquet if table == place else self.session.table
        frame = self.act("opening", dataset.name, lambda: read(table))
        columns = [(f.name, _duckdb_type(f, dataset.name)) for f in frame.schema.fields]
        if len({n.casefold() for n, _ in columns}) < len(columns):
            raise DatasetError(f"{dataset.name} has names that differ only in case; rename them")
        frame.createOrReplaceTempView(name)
        self.views[render.render(exp.table_(identifier(name)))] = name
        self.local.run(empty_table(name, columns), "opening", dataset.name)


def _duckdb_type(field: Any, where: str) -> str:
    """Return DuckDB's type for the field of a schema of Spark; DatasetError if there is none."""
    name = str(field.dataType.simpleString())
    if name in TYPES:
        return TYPES[name]
    if name.startswith("decimal("):
        return name.upper()
    raise DatasetError(
        f"column {field.name} of {where} is of type {name.partition('<')[0]}, which qifsql does "
        "not read with Spark; leave it out in a view, or cast it there"
    )


def empty_table(name: str, columns: Sequence[tuple[str, str]], catalog: str = LOADED) -> str:
    """Return the statement that creates a table of these columns without rows."""
    return render.keeping(Plan((), no_rows(columns)), name, catalog, again=True)
