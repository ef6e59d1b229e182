"""DuckDB's catalog of one dataset: its columns, and the types of expressions over it.

DuckDB ignores case in names and renames the second of ``ID`` and ``id``. The original names are
read from the file, so that both columns can be used.
"""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import zip_longest
from typing import cast

from sqlglot import exp

from qifsql.data.collection import Collection, together
from qifsql.data.dataset import Column, Dataset, Repeated, Schema
from qifsql.data.expressions import SOURCE, filled, identifier, parse, read
from qifsql.data.expressions import column as _column
from qifsql.data.files import copies, mixed_ends
from qifsql.data.formats import partition_columns
from qifsql.data.missing import USUAL
from qifsql.data.readers import header_line, relation
from qifsql.data.types import INTEGERS, NUMBERS, comparable, family, nested
from qifsql.engine import growth, missing_words
from qifsql.engine.csv_types import read_writings, remarks
from qifsql.engine.functions import ALLOWED, functions_of, parsed
from qifsql.engine.protocol import Engine
from qifsql.errors import (
    ColumnError,
    DatasetError,
    EngineError,
    ExpressionError,
    InputError,
    QifError,
    did_you_mean,
    plural,
    quoted,
)

DELIMITERS = (",", ";", "\t", "|")
TEXTS = ("VARCHAR", "ENUM", "JSON", "BLOB")  # types whose values may have any length
MANY = 200_000  # rows beyond which values are looked for in parts first
COUNTED = "SELECT count(DISTINCT field), count(field), count(*) FROM rows"
WORDED = (*INTEGERS, *TEXTS)  # types of columns that may have words for missing values
AGAIN = "SELECT field FROM rows WHERE field IN (SELECT field FROM rows LIMIT 1000)"
MOST = 5_000_000  # rows in which the first values are looked for: a tenth of a second
HEADER = 100  # lines that the names of columns may take, if they contain line breaks


class Catalog:
    """The catalog that binding reads for one dataset (``qifsql.adversary.bind.Catalog``)."""

    def __init__(
        self,
        engine: Engine,
        dataset: Dataset | Collection,
        mentions: Callable[[str], bool] | None = None,
    ) -> None:
        """Read the columns; of CSV, check only the fields of those that ``mentions`` accepts."""
        engine.attach(dataset)
        self.engine = engine
        self.dataset: Dataset | Collection
        if isinstance(dataset, Collection):
            self.dataset, self.schema = _read_collection(engine, dataset, mentions)
            return
        if dataset.format == "duckdb":
            dataset = _find_table(engine, dataset)
        self.dataset, self.schema = _read_columns(engine, dataset, mentions)

    def types(self, expressions: Sequence[exp.Expr], whats: Sequence[str]) -> list[str]:
        """Return the types of expressions; ExpressionError if one cannot be evaluated."""
        types: list[str] = []
        by_name = {c.source_name: c.type for c in self.schema.columns}
        self._note_writings(read(*expressions))
        for tree, what in zip(expressions, whats, strict=True):
            if isinstance(tree, exp.Column):
                types.append(by_name[tree.name])
                continue
            self._check_functions(tree, what)
            source = exp.alias_(relation(self.dataset, read(tree)), SOURCE, table=True)
            types.append(self._type(tree, source, what))
        return types

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return notes on copies, on empty lines, and on the spelling of fields in use so far."""
        return (*self._note_equal_files(), *self._note_blank_records(), *remarks(self.engine))

    def _note_blank_records(self) -> list[str]:
        """Return notes on records without any value."""
        return [
            f"{part.dataset} has {plural(part.blank, 'record')} without a value in any column, "
            "and each counts as a person: if they are empty lines, delete them"
            for part in self.schema.parts or (self.schema,)
            if part.blank
        ]

    def _note_equal_files(self) -> list[str]:
        """Return a note on files of one dataset that have the same bytes."""
        if not isinstance(self.dataset, Dataset) or len(self.dataset.paths) < 2:
            return []
        return [
            f"{quoted(path)} has the same bytes as {quoted(earlier)}, and both are read: their "
            "people count twice, so nobody of them is singled out; name one of the two"
            for path, earlier in copies(self.dataset.paths)
        ][:3]

    def _note_writings(self, columns: frozenset[str]) -> None:
        """Record the columns in use whose different fields may be one value."""
        across_files = len(self.engine.sources) > 1 and not isinstance(self.dataset, Collection)
        for part in self.schema.parts or (self.schema,):
            for column in part.columns:
                odd = column.writing == "several" or (across_files and column.writing == "unusual")
                if odd and column.source_name in columns:
                    self.engine.written[part.dataset, column.name] = column.writing

    def number(self, tree: exp.Expr, columns: Mapping[str, str], what: str) -> None:
        """Refuse an expression over columns of these types that does not return a number."""
        self._check_functions(tree, what)
        empty = [
            exp.alias_(exp.cast(exp.null(), type_, dialect="duckdb"), identifier(name))
            for name, type_ in columns.items()
        ]
        kind = family(self._type(tree, exp.select(*empty).subquery(SOURCE), what))
        if kind not in NUMBERS:
            raise ExpressionError(
                f"{what} is of type {kind}, not a number; cast it, as in (guess = secret)::INTEGER"
            )

    def beside(self, path: str) -> tuple[Dataset, Schema]:
        """Return a small file named by the user, and its columns; CSV is read as text."""
        opened = Dataset.open(path)
        if opened.format == "duckdb":
            raise DatasetError(f"{path} is a table of a database; give a CSV or Parquet file")
        return _read_columns(self.engine, replace(opened, all_varchar=opened.format == "csv"), None)

    def _check_functions(self, tree: exp.Expr, what: str) -> None:
        """Refuse functions that are not allowed, and values that may be too long."""
        nodes = parsed(self.engine, tree, what)
        names = functions_of(nodes)
        for name in names:
            if name not in ALLOWED:
                raise ExpressionError(
                    f"{what} uses the function {name}, which is unknown, is not allowed in "
                    "expressions or does not give one lasting value for each row; use another"
                )

        growth.check(nodes, what, self._lengths(tree) if growth.GROWING & {*names} else None)

    def _lengths(self, tree: exp.Expr) -> dict[str, int]:
        """Return the lengths of the longest values of the columns that an expression reads."""
        columns = read(tree)
        used = [c for c in self.schema.columns if c.source_name in columns and not nested(c.type)]
        lengths = {c.source_name: growth.SMALL for c in used}
        texts = [c for c in used if family(c.type) in TEXTS]
        if not texts:
            return lengths
        longest = [
            exp.func(
                "coalesce",
                exp.Max(this=exp.func("strlen", exp.cast(_column(c), "VARCHAR"))),
                exp.Literal.number(0),
            )
            for c in texts
        ]
        source = exp.alias_(relation(self.dataset, columns), SOURCE, table=True)
        (row,) = self.engine.query(exp.select(*longest).from_(source), self.dataset.name)
        return lengths | {c.source_name: int(n) for c, n in zip(texts, row, strict=True)}

    def condition(self, tree: exp.Expr, what: str = "the filter (where)") -> None:
        """Refuse an expression that does not return true or false."""
        type_ = self.types([tree], [what])[0]
        if type_ != "BOOLEAN":
            raise ExpressionError(
                f"{what} is of type {family(type_)}, not a condition; compare it with something"
            )

    def usual_words(
        self, names: Sequence[str], where: exp.Expr | None
    ) -> dict[str, tuple[list[str], int]]:
        """Return the usual words for missing values in columns, with the number of records.

        Columns without any are left out.
        """
        columns = [c for c in map(self.schema.find, names) if c and family(c.type) in WORDED]
        if not columns:
            return {}
        words = [exp.Literal.string(word) for word in USUAL]
        counted = []
        for i, column in enumerate(columns):
            text = exp.cast(_column(column), "VARCHAR")
            used = exp.Where(this=text.isin(*words))
            every = exp.func("list", exp.Distinct(expressions=[text.copy()]), dialect="duckdb")
            counted.append(exp.alias_(exp.Filter(this=every, expression=used), f"words_{i}"))
            number = exp.Filter(this=exp.Count(this=exp.Star()), expression=used.copy())
            counted.append(exp.alias_(number, f"records_{i}"))
        query = exp.select(*counted).from_(exp.alias_(relation(self.dataset), SOURCE, table=True))
        query = query if where is None else query.where(where.copy())
        (row,) = self.engine.query(query, self.dataset.name)
        counts = zip(columns, row[::2], row[1::2], strict=True)
        return {c.name: (sorted(words), int(n)) for c, words, n in counts if n}

    def repeats(self, names: Sequence[str], where: exp.Expr | None) -> tuple[Repeated, ...]:
        """Return those of the columns that number people, of whom some have several records.

        A large file is not counted: its first records are, and those of the first millions in which
        the first thousand values are found again; on Spark some records alone.
        """
        columns = [self.schema.find(name) for name in names]
        plain = [column for column in columns if column is not None and not nested(column.type)]
        repeated = (self._repeats(column, where) for column in plain)
        return tuple(column for column in repeated if column is not None)

    def _repeats(self, column: Column, where: exp.Expr | None) -> Repeated | None:
        """Return a column that numbers people who repeat, without numbers of a large file."""
        source = exp.alias_(relation(self.dataset), SOURCE, table=True)
        values = exp.select(exp.alias_(_column(column), "field")).from_(source)
        values = values if where is None else values.where(where.copy())
        first, rows = self._count_values(column, values.limit(MANY))
        if rows < MANY:
            return first if first.of_people else None
        if first.of_people or self.engine.settings.engine_name == "spark":
            return Repeated(column.name) if first.of_people else None
        again = filled(AGAIN, {"rows": values.limit(MOST).subquery("rows")})
        return Repeated(column.name) if self._count_values(column, again)[0].of_people else None

    def _count_values(self, column: Column, values: exp.Expr) -> tuple[Repeated, int]:
        """Return the values of a column and the records that have one, and the rows counted."""
        query = filled(COUNTED, {"rows": exp.Subquery(this=values, alias="rows")})
        ((distinct, records, rows),) = self.engine.query(
            cast("exp.Query", query), self.schema.dataset
        )
        return Repeated(column.name, distinct, records), rows

    def filter(self, where: str | None, what: str = "the filter (where)") -> exp.Expr | None:
        """Return the condition of a filter, None without one; ExpressionError if it is invalid."""
        if where is None:
            return None
        condition = parse(where, self.schema, what)
        self.condition(condition, what)
        return condition

    def _type(self, tree: exp.Expr, source: exp.Expr, what: str) -> str:
        """Return the type of an expression over ``source``; ExpressionError if it has none."""
        query = exp.select(exp.alias_(tree.copy(), "value")).from_(source)
        try:
            return self.engine.describe(query, self.dataset.name)[0][1]
        except (InputError, EngineError) as e:
            raise ExpressionError(
                f"{what} cannot be evaluated on {self.dataset.name}: a function does not exist "
                f"or the types do not fit{self._types(tree)}{self._text_hint(tree)}; --debug shows "
                "DuckDB's message",
                detail=e.detail,
            ) from e

    def _types(self, tree: exp.Expr) -> str:
        """Return the types of the columns that an expression reads, up to five."""
        used = [c for c in self.schema.columns if c.source_name in read(tree)][:5]
        if not used:
            return ""
        return f" ({', '.join(f'{quoted(c.name)} is {family(c.type)}' for c in used)})"

    def _text_hint(self, tree: exp.Expr) -> str:
        """Return a hint that names the columns of an expression that are read as text."""
        texts = self.dataset.texts if isinstance(self.dataset, Dataset) else ()
        names = [c.name for c in self.schema.columns if c.source_name in {*texts} & read(tree)]
        if not names:
            return ""
        return (
            f" (column {', '.join(map(quoted, names))} is read as text, because its fields have "
            "more digits than a number or time holds; cast it if rounding does no harm)"
        )

    def fits(self, value: str, type_: str) -> bool:
        """Return whether a text can be read as a value of a type."""
        return bool(missing_words.readable(self.engine, self.dataset.name, type_, [value]))


def _read_schema(
    engine: Engine, dataset: Dataset, mentions: Callable[[str], bool] | None = None
) -> tuple[Dataset, Schema]:
    """Return the dataset, with the delimiter found in its header, and its columns."""
    dataset = replace(dataset, missing=(), names=())
    if dataset.format == "csv":
        return _read_csv_schema(engine, dataset, mentions)
    if dataset.format == "parquet" and len(dataset.paths) > 1:
        _check_same_schema(engine, dataset)
    described = engine.describe(relation(dataset), dataset.name)
    names = _parquet_names(engine, dataset) if dataset.format == "parquet" else []
    if dataset.frame is not None:
        names = list(dataset.frame.column_names)
    names += [source for source, _ in described[len(names) :]]  # those of folders
    dataset, described = _without_words(engine, dataset, names, described)
    columns = (Column(n, source, kind) for n, (source, kind) in zip(names, described, strict=False))
    return dataset, Schema(dataset.name, tuple(columns))


def _read_csv_schema(
    engine: Engine, dataset: Dataset, mentions: Callable[[str], bool] | None
) -> tuple[Dataset, Schema]:
    """Return the dataset with its delimiter, and its columns by the names in its first line."""
    dataset, header, doubtful = _header(engine, dataset)
    described = engine.describe(relation(dataset), dataset.name)
    fields = len(described) - _count_partitions(dataset, header)
    if header and len(header) != fields:
        raise DatasetError(
            f"{dataset.name} is not a regular CSV table: its first line has {len(header)} fields, "
            f"other lines {fields}; correct the file or name its --delimiter"
        )
    pairs = zip(described, header, strict=False)
    nameless = [source for (source, _), name in pairs if not name.strip()]
    if len(nameless) > 1:
        _check_nameless(engine, dataset, nameless)
    names = [*header, *(source for source, _ in described[len(header) :])]  # those of folders
    dataset, described = _without_words(engine, dataset, names, described)
    used = [
        pair
        for pair, name in zip(described[:fields], header, strict=True)
        if mentions is None or mentions(name)
    ]
    fields_read = [name for name, _ in described[:fields]]
    dataset, writings, blank = read_writings(engine, dataset, used, fields_read)
    types = {**dict(described), **dict.fromkeys(dataset.texts, "VARCHAR")}
    columns = tuple(
        Column(name, source, types[source], writings.get(source, ""))
        for name, (source, _) in zip(names, described, strict=False)
    )
    return dataset, Schema(dataset.name, columns, doubtful=doubtful, blank=blank)


def _without_words(
    engine: Engine, dataset: Dataset, names: Sequence[str], described: list[tuple[str, str]]
) -> tuple[Dataset, list[tuple[str, str]]]:
    """Return a dataset without the user's words for missing values, its columns and types."""
    if not dataset.na:
        return dataset, described
    dataset = missing_words.resolve(engine, dataset, names, described)
    return dataset, engine.describe(relation(dataset), dataset.name)


def _read_columns(
    engine: Engine, dataset: Dataset, mentions: Callable[[str], bool] | None
) -> tuple[Dataset, Schema]:
    """Return a dataset and its columns; lines of CSV may end in two ways.

    A quoted field may hold such an end in a file that is read as it is.
    """
    if dataset.format == "csv" and mixed_ends(dataset.paths):
        try:
            as_it_is, schema = _read_schema(engine, dataset, mentions)
            engine.query(exp.select("count(*)").from_(relation(as_it_is)), dataset.name)
        except QifError:
            return _read_schema(engine, replace(dataset, mixed_ends=True), mentions)
        return as_it_is, schema
    return _read_schema(engine, dataset, mentions)


def _check_nameless(engine: Engine, dataset: Dataset, sources: Sequence[str]) -> None:
    """Refuse several columns that have values and no name; empty ones are left in peace."""
    counts = [exp.Count(this=exp.column(identifier(source))) for source in sources]
    (values,) = engine.query(exp.select(*counts).from_(relation(dataset)), dataset.name)
    if (valued := sum(map(bool, values))) > 1:
        raise DatasetError(
            f"{dataset.name}: {plural(valued, 'column')} with values have no name in its first "
            "line; if that line is a title, delete it, otherwise write names"
        )


def _count_partitions(dataset: Dataset, names: Sequence[str]) -> int:
    """Return the number of columns from the names of folders that are not in the files, too."""
    columns = partition_columns(dataset.paths[0]) if dataset.hive else ()
    return len({c.casefold() for c in columns} - {name.casefold() for name in names})


def _read_collection(
    engine: Engine, collection: Collection, mentions: Callable[[str], bool] | None
) -> tuple[Collection, Schema]:
    """Return the collection with its keys looked up, and the columns of all its datasets."""
    datasets, schemas, keys = [], [], []
    for member, key in zip_longest(collection.datasets, collection.keys):
        source = _find_table(engine, member) if member.format == "duckdb" else member
        dataset, schema = _read_columns(engine, source, mentions)
        datasets.append(dataset)
        schemas.append(schema)
        keys += [_key_column(schema, key, collection.keys)] if key is not None else []
    for i, key in enumerate(keys):
        if nested(key.type):
            raise ColumnError(
                f"key {quoted(key.name)} of {datasets[i].name} is nested; name another column"
            )
        if comparable(key.type) != comparable(keys[0].type):
            for dataset in (datasets[0], datasets[i]):
                _check_records(engine, dataset)  # without records, the types of CSV mean nothing
            raise ColumnError(
                f"key {quoted(key.name)} is {family(key.type)} in {datasets[i].name} but "
                f"{family(keys[0].type)} in {datasets[0].name}: values are not converted, as "
                "the text 007 is not the number 7; write both with one type (CSV: "
                "--all-varchar)"
            )
        if key.writing:
            engine.written[datasets[i].name, key.name] = key.writing
    collection = replace(collection, datasets=tuple(datasets), key_columns=tuple(keys))
    return collection, together(collection, schemas)


def _key_column(schema: Schema, name: str, names: Sequence[str]) -> Column:
    """Return the key column of one dataset of a collection, whose keys are ``names``."""
    try:
        return schema[name]
    except ColumnError as e:
        if len(names) > 1 and len(set(names)) == 1:
            hint = "; where its key has another name, name one for each dataset, as in --key a,b"
            raise ColumnError(f"{e}{hint}") from e
        raise


def _check_records(engine: Engine, dataset: Dataset) -> None:
    if not engine.query(exp.select("1").from_(relation(dataset)).limit(1), dataset.name):
        raise DatasetError(f"{dataset.name} has no records; name another file")


def _header(engine: Engine, dataset: Dataset) -> tuple[Dataset, list[str], bool]:
    """Return the names in the first line of CSV, and whether they may be values of a record.

    The delimiter is the one that gives most names.
    """
    candidates = [dataset.delimiter] if dataset.delimiter else list(DELIMITERS)
    split = {d: _lines(engine, dataset, d) for d in candidates}
    best = max(candidates, key=lambda d: len(split[d][0]))
    names, *records = split[best]
    for path in dataset.paths[1:]:
        file_names = _lines(engine, replace(dataset, paths=(path,)), best)[0]
        if file_names != names:
            counts = f"{plural(len(file_names), 'column')}, {dataset.paths[0]} {len(names):,}"
            how = "other names" if len(file_names) == len(names) else counts
            raise DatasetError(
                f"the files of {dataset.name} differ in their first lines: {path} has {how}"
            )
    return replace(dataset, delimiter=best), names, _may_be_record(names, records)


def _lines(engine: Engine, dataset: Dataset, delimiter: str) -> list[list[str]]:
    """Return the fields in the first lines of the first file, split by a delimiter."""
    query = exp.select("line").from_(header_line(dataset)).limit(HEADER)
    lines = [f"{row[0] or ''}\n" for row in engine.query(query, dataset.name)]
    if not lines or not lines[0].strip():
        raise DatasetError(f"{dataset.name} is empty: its first line must name the columns")
    lines[0] = lines[0].removeprefix("\ufeff")
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        rows = [next(reader)]
    except csv.Error as e:
        raise DatasetError(f"{dataset.name} has no readable first line of names") from e
    with suppress(csv.Error):  # of a later line: the engine says what is wrong there
        rows += reader
    return rows


def _may_be_record(names: Sequence[str], records: Sequence[Sequence[str]]) -> bool:
    """Return whether a field of the first line is a number or date, or a value of its column."""
    columns = dict(enumerate(map(set, zip_longest(*records))))
    return any(
        re.fullmatch(r"[+-]?\d[\d.,:/T-]*", name.strip()) or (name and name in columns.get(i, ()))
        for i, name in enumerate(names)
    )


def _find_table(engine: Engine, dataset: Dataset) -> Dataset:
    """Return the dataset with its table found by its name or ``schema.table``, else in any case.

    DatasetError if it is a view: the author of the file decides what a view reads.
    """
    stored = exp.select("schema_name", "table_name", "TRUE AS stored").from_("duckdb_tables()")
    views = exp.select("schema_name", "view_name", "FALSE").from_("duckdb_views()")
    inside = exp.column("database_name").eq(exp.Literal.string(dataset.catalog))
    query = exp.union(stored.where(inside), views.where(inside.copy()), distinct=False)
    tables = engine.query(query, dataset.name)
    for same in (str, str.casefold):
        name = same(dataset.table)
        for schema, table, stored_ in tables:
            if name not in (same(table), same(f"{schema}.{table}")):
                continue
            if not stored_:
                raise DatasetError(
                    f"{quoted(dataset.table)} in {dataset.paths[0]} is a view, which may read "
                    "anything; store its rows in a table or a Parquet file, and name that"
                )
            return replace(dataset, schema=schema, table=table)
    hint = did_you_mean(dataset.table, (table for _, table, stored_ in tables if stored_))
    raise DatasetError(f"{dataset.paths[0]} has no table {quoted(dataset.table)}{hint}")


def _check_same_schema(engine: Engine, dataset: Dataset) -> None:
    """Refuse Parquet files that differ in names or types: DuckDB would cast to the first file's.

    The order of the columns may differ, unless names differ only in case: DuckDB distinguishes
    such columns by position.
    """
    first: list[tuple[str, str]] = []
    for path in dataset.paths:
        part = replace(dataset, paths=(path,), hive=False)
        types = [type_ for _, type_ in engine.describe(relation(part), dataset.name)]
        columns = list(zip(_parquet_names(engine, part), types, strict=True))
        if len({name.casefold() for name, _ in columns}) == len(columns):
            columns.sort()
        first = first or columns
        if columns != first:
            raise DatasetError(
                f"the files of {dataset.name} differ in their columns or types, so values could be "
                "changed when they are read together; write them again with one schema"
            )


def _parquet_names(engine: Engine, dataset: Dataset) -> list[str]:
    """Return the names of the top-level columns in the first file."""
    first = replace(dataset, paths=dataset.paths[:1], wave=None)
    arguments = relation(first).this.expressions[:1]
    source = exp.Table(this=exp.Anonymous(this="parquet_schema", expressions=arguments))
    rows = engine.query(exp.select("name", "num_children").from_(source), dataset.name)
    names: list[str] = []
    skip = 0
    for name, children in rows[1:]:
        if skip == 0:
            names.append(name)
        skip = max(0, skip - 1) + (children or 0)
    return names
