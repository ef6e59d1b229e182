"""SQL that opens and reads a dataset: Parquet, CSV, JSON, frames, databases, and collections."""

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256

from sqlglot import exp

from qifsql.data.collection import Collection, tagged
from qifsql.data.csv_options import NATIVE
from qifsql.data.dataset import Dataset
from qifsql.data.dates import instant
from qifsql.data.expressions import FLOATING, SOURCE, filled, identifier, with_one_missing
from qifsql.data.frames import view_name
from qifsql.data.missing import words

# no BOOLEAN: yes, y and true are three texts; HUGEINT keeps long numbers exact
CSV_TYPES = ("BIGINT", "HUGEINT", "DOUBLE", "TIME", "DATE", "TIMESTAMP", "VARCHAR")
LOADED = "memory"  # the catalog of the engine's internal database, for loaded CSV
PLACE = tagged(0, "")  # the place of a record in the focal dataset; no column has tag 0
DECIMAL_COMMA = "CASE WHEN NOT contains(field, '.') THEN replace(field, ',', '.') END"
_PLACE = exp.Window(this=exp.RowNumber())
STORE = "kept"  # the catalog of steps that are kept as tables


def relation(
    source: Dataset | Collection, used: frozenset[str] | None = None, *, ordered: bool = False
) -> exp.Expr:
    """Return the SQL for the rows of a dataset, or of its wave only, or of a collection.

    For a collection, only the columns in ``used`` are joined, by default all columns; ``ordered``:
    the rows have the order of the focal dataset.
    """
    if isinstance(source, Collection):
        return _joined(source, used, ordered=ordered)
    rows = _without_missing(source) if source.missing else _rows(source)
    if source.wave is None:
        return rows
    column, wave = source.wave
    cell = exp.cast(exp.column(identifier(column)), "VARCHAR")
    is_in_wave = exp.EQ(this=cell, expression=exp.Literal.string(wave))
    return exp.select("*").from_(rows).where(is_in_wave).subquery()


def select_records(
    source: Dataset | Collection,
    columns: Iterable[exp.Expr],
    where: exp.Expr | None = None,
    used: frozenset[str] | None = None,
) -> exp.Select:
    """Return the query of columns of the records that a filter keeps (None: of all).

    ``used`` are the columns that are read of a collection (see ``relation``).
    """
    rows = exp.select(*columns).from_(exp.alias_(relation(source, used), SOURCE, table=True))
    return rows if where is None else rows.where(exp.paren(where.copy()))


def numbered_rows(
    source: Dataset | Collection, columns: Mapping[str, exp.Expr], where: exp.Expr | None
) -> exp.Select:
    """Return the query of the rows that a filter keeps: their ``position``, and named ``columns``.

    A position is that in the input, from 1: the filter (``meant``) comes after the numbers.
    """
    passes_filter = exp.true() if where is None else where.copy()
    trees = {"position": _PLACE.copy(), "meant": passes_filter, **columns}
    named = [exp.alias_(tree, name) for name, tree in trees.items()]
    rows = select_records(source, named).subquery("numbered")
    return exp.select("position", *columns).from_(rows).where("meant")


def _without_missing(dataset: Dataset) -> exp.Subquery:
    """Return the rows with NULL in place of the words that mean missing in a column.

    A ``converted`` column is read as text, and gets its type after these words are taken out.
    """
    columns: dict[str, exp.Expr] = {name: exp.column(identifier(name)) for name in dataset.names}
    for missing in dataset.missing:
        cell: exp.Expr = exp.column(identifier(missing.column))
        words = [exp.convert(word) for word in missing.words]
        if not (missing.converted or dataset.all_varchar):  # the column is not read as text
            words = [exp.cast(word, missing.type, dialect="duckdb") for word in words]
        if words:
            cell = exp.Case(default=cell).when(cell.copy().isin(*words), exp.null())
        if missing.converted and not dataset.all_varchar:
            cell = exp.cast(castable(cell, missing.type, dataset), missing.type, dialect="duckdb")
        columns[missing.column] = exp.alias_(cell, identifier(missing.column))
    return exp.select(*columns.values()).from_(_rows(dataset)).subquery()


def castable(field: exp.Expr, type_: str, dataset: Dataset) -> exp.Expr:
    """Return the text of a field of CSV as a cast to a type reads it; NULL if it is no date.

    Numbers have the decimal mark of the dataset, dates its order of day, month and year.
    """
    if type_ in ("DATE", "TIMESTAMP") and dataset.date_order:
        return filled(instant(dataset.date_order), {"field": field.copy()})
    if type_ == "DOUBLE" and dataset.decimal:
        return filled(DECIMAL_COMMA, {"field": field.copy()})
    return field


def _rows(dataset: Dataset) -> exp.Table:
    """Return the table, or the call of a DuckDB function, that reads the rows as they are."""
    if dataset.format == "spark":
        return exp.table_(identifier(f"spark_{sha256(dataset.paths[0].encode()).hexdigest()[:16]}"))
    if dataset.format == "frame":
        return exp.table_(identifier(view_name(dataset.paths[0])))
    if name := dataset.copy_name:
        return exp.table_(identifier(name), db=identifier("main"), catalog=LOADED)
    if dataset.format == "duckdb":
        return exp.table_(
            identifier(dataset.table),
            db=identifier(dataset.schema or "main"),
            catalog=LOADED if dataset.statement else dataset.catalog,
        )
    files = paths_to_read(dataset)
    if dataset.format == "parquet":
        return calling("read_parquet", files, hive_partitioning=dataset.hive)
    hive = {"hive_partitioning": True} if dataset.hive else {}
    return calling("read_csv", files, **csv_options(dataset), **hive)


def _joined(collection: Collection, used: frozenset[str] | None, *, ordered: bool) -> exp.Subquery:
    """Return one row per person of the focal dataset, with the columns of each dataset.

    Datasets are joined by the key of the person. ``used`` are names with tags: ``2:school`` is a
    column of dataset 2, and ``2:`` whether the person is in it; None means all columns. Earlier
    checks ensure that no dataset has two records of one person, so an auxiliary dataset without
    used columns need not be joined.
    """
    focal = relation(collection.datasets[0])
    if ordered:
        focal = exp.select("*", exp.alias_(_PLACE, PLACE, quoted=True)).from_(focal).subquery()
    query = exp.select().from_(exp.alias_(focal, _alias(1), table=True))
    for number, dataset in enumerate(collection.datasets, 1):
        columns = _joined_columns(collection, number, used)
        if number > 1 and columns:
            rows = exp.alias_(relation(dataset), _alias(number), table=True)
            is_same = exp.EQ(this=person(collection, 1), expression=person(collection, number))
            query = query.join(rows, on=is_same, join_type="left")
        query = query.select(*columns)
    if not query.expressions:  # a row needs some column
        query = query.select(exp.Literal.number(1))
    if ordered:
        query = query.order_by(_column(PLACE, 1))
    return query.subquery()


def _joined_columns(
    collection: Collection, number: int, used: frozenset[str] | None
) -> list[exp.Expr]:
    """Return the used columns of one dataset in the join, under their names with tags."""
    if used is None:
        return [exp.Column(this=exp.Star(), table=exp.to_identifier(_alias(number)))]
    columns: list[exp.Expr] = []
    tag = tagged(number, "")
    for tagged_name in sorted(name for name in used if name.startswith(tag)):
        name = tagged_name.removeprefix(tag)
        if name:
            value: exp.Expr = _column(name, number)
        else:  # presence: who is in the dataset has a key there
            key = collection.key_columns[number - 1]
            value = exp.not_(_column(key.source_name, number).is_(exp.null()))
        columns.append(exp.alias_(value, identifier(tagged_name)))
    return columns


def person(collection: Collection, number: int) -> exp.Expr:
    """Return the key of one dataset in the join; NaN is missing, and missing matches nothing."""
    key = collection.key_columns[number - 1]
    column = _column(key.source_name, number)
    return with_one_missing(column) if key.type in FLOATING else column


def _alias(number: int) -> str:
    return f"dataset_{number}"


def _column(name: str, number: int) -> exp.Column:
    return exp.column(identifier(name), table=_alias(number))


def header_line(dataset: Dataset) -> exp.Table:
    """Return the lines of the first CSV file as they are, in one column ``line``."""
    options: dict[str, object] = {
        "columns": column_types([("line", "VARCHAR")]),
        "delim": "\x01",  # which no line has, so that a line is one field
        "quote": "",
        "escape": "",
        "header": False,
        "auto_detect": False,
        "skip": dataset.skip,
        "parallel": False,  # the first lines of a large file, not those of any thread
        "strict_mode": False,  # a quoted cell may hold another end of line
    }
    return calling("read_csv", escaped(dataset.files[0]), **options, **_encoding(dataset))


def _encoding(dataset: Dataset) -> dict[str, object]:
    """Return the option of the encoding of CSV; private copies are UTF-8."""
    if dataset.encoding is None or dataset.copies:
        return {}
    return {"encoding": NATIVE[codecs.lookup(dataset.encoding).name]}


def csv_options(dataset: Dataset) -> dict[str, object]:
    """Return the options for reading CSV: only types are guessed, and these from every line."""
    delimiter = dataset.delimiter or ","
    options: dict[str, object] = {
        "delim": delimiter,
        "quote": '"',
        "escape": '"',
        "header": not dataset.header,
        "sample_size": -1,
        "comment": "",
        "skip": dataset.skip + (dataset.header_rows if dataset.header else 0),
        "strict_mode": not dataset.mixed_ends,
        "auto_type_candidates": list(CSV_TYPES),
        "allow_quoted_nulls": False,  # "" is an empty text, an empty field is missing
    }
    if dataset.header:  # several rows, of which DuckDB reads none
        options["names"] = list(dataset.header)
    if dataset.decimal:
        options["decimal_separator"] = dataset.decimal
    if dataset.mixed_ends:
        options["parallel"] = False  # a quote that is open at the start of a part is seen
    converted = tuple(values.column for values in dataset.missing if values.converted)
    if dataset.all_varchar:
        options["all_varchar"] = True
    elif dataset.texts or converted:
        options["types"] = column_types((n, "VARCHAR") for n in (*dataset.texts, *converted))
    if dataset.na:
        unreadable = {*delimiter, *'"\r\n'}  # a word with one of them is never a field as it is
        for_all_columns = words(dataset.na).get("", ())
        readable = (word for word in for_all_columns if unreadable.isdisjoint(word))
        options["nullstr"] = ["", *readable]
    return options | _encoding(dataset)


def column_types(types: Iterable[tuple[str, str]]) -> exp.Struct:
    """Return the option for the types of columns, from their names and types."""
    pairs = [exp.PropertyEQ(this=identifier(n), expression=exp.convert(t)) for n, t in types]
    return exp.Struct(expressions=pairs)


def openings(*sources: Dataset | Collection) -> list[str]:
    """Return the statements to run first, if any: they open DuckDB files or create a table."""
    statements = (
        d.statement or attaching(d.paths[0], d.catalog, read_only=True)
        for source in sources
        for d in source.datasets
        if d.statement or d.format == "duckdb"
    )
    return list(dict.fromkeys(statements))


def loading(
    source: Dataset | Collection, used: frozenset[str] | None = None, *, ordered: bool = False
) -> Dataset:
    """Return the dataset with the rows of ``source`` in an internal table of the engine.

    For a collection, it has the columns in ``used``, under their names with tags. Its ``statement``
    makes the table, which takes the place of an earlier one.
    """
    copy = Dataset(
        source.name,
        "duckdb",
        source.paths,
        table="loaded",
        schema="main",
        statement=" ",  # not empty: ``relation`` then names the internal table
        read_as=source.read_with,
    )
    rows = exp.alias_(relation(source, used, ordered=ordered), "rows", table=True)
    create = exp.Create(
        this=relation(copy), kind="TABLE", expression=exp.select("*").from_(rows), replace=True
    )
    return replace(copy, statement=create.sql("duckdb"))


def attaching(path: str, catalog: str, *, read_only: bool = False) -> str:
    """Return the statement that opens a DuckDB file as a catalog."""
    options = [exp.AttachOption(this=exp.Var(this="READ_ONLY"))] if read_only else []
    statement = exp.Attach(
        this=exp.alias_(exp.Literal.string(path), catalog), exists=True, expressions=options
    )
    return statement.sql("duckdb")


def paths_to_read(dataset: Dataset) -> list[str]:
    """Return the paths of a dataset as the argument of a function that reads files."""
    return [escaped(path) for path in dataset.files]


def calling(function: str, files: str | list[str], **options: object) -> exp.Table:
    """Return the call of a function of DuckDB that reads files; options are values of Python."""
    named = [exp.EQ(this=exp.Var(this=n), expression=exp.convert(o)) for n, o in options.items()]
    return exp.Table(this=exp.Anonymous(this=function, expressions=[exp.convert(files), *named]))


def escaped(path: str) -> str:
    """Return a path with its glob characters escaped."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
