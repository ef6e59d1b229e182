"""The columns of datasets as files name and type them: delimiter, header, parts of a collection.

DuckDB ignores case in names and renames the second of ``ID`` and ``id``. The original names are
read from the file, so that both columns can be used.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, repeat, zip_longest
from typing import Any

from sqlglot import exp

from qifsql.data.collection import Collection, together
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.expressions import identifier
from qifsql.data.files import mixed_ends, unmarked_encoding
from qifsql.data.formats import named, partition_columns
from qifsql.data.readers import array_of_paths, calling, relation
from qifsql.data.types import comparable, family, nested
from qifsql.engine import missing_words, remembered, statistics_files
from qifsql.engine.csv_header import HEADER, ROW_NAMES, may_be_header, read_header
from qifsql.engine.csv_types import read_writings
from qifsql.engine.decoding import decoded
from qifsql.engine.protocol import Engine
from qifsql.errors import ColumnError, DatasetError, QifError, did_you_mean, plural, quoted


def _read_schema(
    engine: Engine, dataset: Dataset, mentions: Callable[[str], bool] | None = None
) -> tuple[Dataset, Schema]:
    """Return the dataset, with the delimiter found in its header, and its columns.

    ``mentions`` tells by its name whether a column is used; without it, all columns are.
    """
    # forget what was looked up before
    dataset = replace(dataset, missing=(), names=(), header=())
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
    labels, of_values = _labels(engine, dataset)
    columns = (
        Column(n, source, type_, label=labels.get(n, ""), value_labels=of_values.get(n, {}))
        for n, (source, type_) in zip(names, described, strict=False)
    )
    is_second = dataset.format == "excel" and _has_second_header(engine, dataset)
    return dataset, Schema(
        dataset.name, tuple(columns), second_header=is_second, left_out=dataset.left_out
    )


def _has_second_header(engine: Engine, dataset: Dataset) -> bool:
    """Return whether the first record of a sheet looks like a second row of its header."""
    if dataset.header_rows > 1:
        return False
    rows = engine.query(exp.select("*").from_(relation(dataset)).limit(HEADER), dataset.name)
    return may_be_header([["" if v is None else str(v) for v in row] for row in rows])


def _labels(
    engine: Engine, dataset: Dataset
) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """Return what a file says about its variables and their values.

    Files of statistics have labels of both; data frames of Arrow, and Parquet that they were
    written to, of variables, as metadata of fields.
    """
    if dataset.format == "statistics":
        return statistics_files.labels(dataset)
    if dataset.format == "parquet":
        fields = _arrow_fields(engine, dataset)
    else:
        fields = [] if dataset.frame is None else dataset.frame.schema
    texts = {field.name: (field.metadata or {}).get(b"label", b"") for field in fields}
    return {name: text.decode(errors="replace") for name, text in texts.items() if text}, {}


def _arrow_fields(engine: Engine, dataset: Dataset) -> Iterable[Any]:
    """Return the fields of the first Parquet file, if its schema of Arrow has labels."""
    first = array_of_paths(replace(dataset, paths=dataset.paths[:1]))
    key = exp.column("key").eq(exp.cast(exp.Literal.string("ARROW:schema"), "BLOB"))
    source = calling("parquet_kv_metadata", first, {})
    for (text,) in engine.query(exp.select("value").from_(source).where(key), dataset.name):
        with suppress(
            ValueError, OSError, TypeError, LookupError, RuntimeError
        ):  # it is of no use to read the rows
            if b"label" in (schema := b64decode(text)):
                import pyarrow.ipc

                return list(pyarrow.ipc.read_schema(pyarrow.py_buffer(schema)))
    return ()


def _read_csv_schema(
    engine: Engine, dataset: Dataset, mentions: Callable[[str], bool] | None
) -> tuple[Dataset, Schema]:
    """Return the dataset with its delimiter, and its columns by the names in its first line.

    ``described`` are DuckDB's names and types: columns of the file, then those of folder names.
    """
    top = read_header(engine, dataset)
    dataset, header = top.dataset, top.names
    described = remembered.describe(engine, relation(dataset), dataset)
    n_fields = len(described) - _count_partitions(dataset, header)
    if header and len(header) != n_fields:
        raise DatasetError(
            f"{dataset.name} is not a regular CSV table: its first line has {len(header)} fields, "
            f"other lines {n_fields}; correct the file or name its --delimiter"
        )
    pairs = zip(described, header, strict=False)
    nameless = [source for (source, _), name in pairs if not name.strip()]
    if len(nameless) > 1:
        _check_nameless(engine, dataset, nameless, top.titles)
    headings = chain((None if name.strip() else name for name in header), repeat(None))
    header = _named(header, described)
    names = [*header, *(source for source, _ in described[len(header) :])]  # those of folders
    dataset, described = _without_words(engine, dataset, names, described)
    in_file = described[:n_fields]
    pairs = zip(in_file, header, strict=True)
    used = [column for column, name in pairs if mentions is None or mentions(name)]
    sources = [source for source, _ in in_file]
    dataset, writings, blank = read_writings(engine, dataset, used, sources)
    types = {**dict(described), **dict.fromkeys(dataset.texts, "VARCHAR")}
    columns = tuple(
        Column(name, source, types[source], writings.get(source, ""), heading=heading)
        for name, (source, _), heading in zip(names, described, headings, strict=False)
    )
    return dataset, Schema(
        dataset.name,
        columns,
        doubtful=top.doubtful,
        blank=blank,
        second_header=top.is_second,
        row_names=top.has_row_names,
    )


def _without_words(
    engine: Engine, dataset: Dataset, names: Sequence[str], described: list[tuple[str, str]]
) -> tuple[Dataset, list[tuple[str, str]]]:
    """Return a dataset with the user's words for missing values as NULL, and dates in their order.

    The other part are its names and types.
    """
    if not dataset.na and not dataset.date_order:
        return dataset, described
    dataset = missing_words.resolve(engine, dataset, names, described)
    return dataset, engine.describe(relation(dataset), dataset.name)


def read_columns(
    engine: Engine, dataset: Dataset, mentions: Callable[[str], bool] | None
) -> tuple[Dataset, Schema]:
    """Return a dataset with what was looked up in its files, and its columns.

    CSV whose lines end in CR LF and in LF is read as usual, because one of these may be part of a
    quoted field; it is read with ``mixed_ends``, which is slower, only if that fails.
    """
    dataset = replace(dataset, copies=decoded(engine.scratch, dataset))
    is_guessed = dataset.format == "csv" and not dataset.encoding
    if is_guessed and (encoding := unmarked_encoding(dataset.files[0])):
        raise DatasetError(
            f"{dataset.name} seems to be UTF-16 without a mark; add --encoding {encoding}",
            reading={"encoding": encoding},
        )
    if dataset.format == "csv" and mixed_ends(dataset.files):
        try:
            usual, schema = _read_schema(engine, dataset, mentions)
            engine.query(exp.select("count(*)").from_(relation(usual)), dataset.name)
        except QifError:
            return _read_schema(engine, replace(dataset, mixed_ends=True), mentions)
        return usual, schema
    return _read_schema(engine, dataset, mentions)


def _named(names: Sequence[str], described: Sequence[tuple[str, str]]) -> list[str]:
    """Return the names of columns, with names for those that have none in the file.

    A first column without a name has the names of rows, as R and pandas write them; others get
    DuckDB's names, such as ``column3``.
    """
    taken = {name.casefold() for name in names}
    sources = [source for source, _ in described[: len(names)]]
    if names and not names[0].strip() and ROW_NAMES not in taken:
        sources[0] = ROW_NAMES
    return [name if name.strip() else new for name, new in zip(names, sources, strict=True)]


def _check_nameless(engine: Engine, dataset: Dataset, sources: Sequence[str], titles: int) -> None:
    """Refuse several columns without a name that have values; ``sources`` are DuckDB's names.

    ``titles`` is the number of lines above the first that names each column, 0 without one.
    """
    counts = [exp.Count(this=exp.column(identifier(source))) for source in sources]
    (values,) = engine.query(exp.select(*counts).from_(relation(dataset)), dataset.name)
    if (filled := sum(map(bool, values))) > 1:
        skip = dataset.skip + titles
        raise DatasetError(
            f"{dataset.name}: {plural(filled, 'column')} with values have no name in its first "
            f"line; {f'if that is a title, add --skip {skip}' if titles else 'write names there'}",
            reading={"skip": skip} if titles else {},
        )


def _count_partitions(dataset: Dataset, names: Sequence[str]) -> int:
    """Return the number of columns from the names of folders that are not in the files, too."""
    columns = partition_columns(dataset.paths[0]) if dataset.hive else ()
    return len({c.casefold() for c in columns} - {name.casefold() for name in names})


def read_collection(
    engine: Engine, collection: Collection, mentions: Callable[[str], bool] | None
) -> tuple[Collection, Schema]:
    """Return the collection with its keys looked up, and the columns of all its datasets."""
    datasets, schemas, keys = [], [], []
    for member, key in zip_longest(collection.datasets, collection.keys):  # keys may be absent
        source = find_table(engine, member) if member.format == "duckdb" else member
        dataset, schema = read_columns(engine, source, mentions)
        datasets.append(dataset)
        schemas.append(schema)
        if key is not None:
            keys.append(_key_column(schema, key, collection.keys))
    _check_keys(engine, datasets, keys)
    for dataset, key in zip(datasets, keys, strict=False):
        if key.irregularity:
            engine.irregular_columns[dataset.name, key.name] = key.irregularity
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


def _check_keys(engine: Engine, datasets: Sequence[Dataset], keys: Sequence[Column]) -> None:
    """Refuse keys of datasets, one for each, that are nested or of types that differ."""
    for dataset, key in zip(datasets, keys, strict=False):
        if nested(key.type):
            raise ColumnError(
                f"key {quoted(key.name)} of {dataset.name} is nested; name another column"
            )
        if comparable(key.type) == comparable(keys[0].type):
            continue
        for part in (datasets[0], dataset):  # without records, the types of CSV mean nothing
            if not engine.query(exp.select("1").from_(relation(part)).limit(1), part.name):
                raise DatasetError(f"{part.name} has no records; name another file")
        raise ColumnError(
            f"key {quoted(key.name)} is {family(key.type)} in {dataset.name} but "
            f"{family(keys[0].type)} in {datasets[0].name}: values are not converted, as the text "
            "007 is not the number 7; write both with one type (CSV: --all-varchar)"
        )


def find_table(engine: Engine, dataset: Dataset) -> Dataset:
    """Return the dataset with the names of its schema and table as they are in the file.

    The user names ``table`` or ``schema.table``, in the same or any case. DatasetError if it is a
    view: the author of the file decides what a view reads.
    """
    stored = exp.select("schema_name", "table_name", "TRUE AS stored").from_("duckdb_tables()")
    views = exp.select("schema_name", "view_name", "FALSE").from_("duckdb_views()")
    inside = exp.column("database_name").eq(exp.Literal.string(dataset.catalog))
    query = exp.union(stored.where(inside), views.where(inside.copy()), distinct=False)
    is_stored = {(schema, table): flag for schema, table, flag in engine.query(query, dataset.name)}
    matches = named(dataset.table, is_stored, lambda place: [place[1], ".".join(place)])
    if not matches:
        stored_names = (table for (_, table), flag in is_stored.items() if flag)
        hint = did_you_mean(dataset.table, stored_names)
        raise DatasetError(f"{dataset.paths[0]} has no table {quoted(dataset.table)}{hint}")
    schema, table = matches[0]
    if not is_stored[schema, table]:
        raise DatasetError(
            f"{quoted(dataset.table)} in {dataset.paths[0]} is a view, which may read "
            "anything; store its rows in a table or a Parquet file, and name that"
        )
    return replace(dataset, schema=schema, table=table)


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
    """Return the names of the top-level columns in the first file.

    ``parquet_schema`` lists the root, then each column, followed by the fields inside it.
    """
    first = array_of_paths(replace(dataset, paths=dataset.paths[:1]))
    source = calling("parquet_schema", first, {})
    rows = engine.query(exp.select("name", "num_children").from_(source), dataset.name)
    names: list[str] = []
    n_inside = 0  # the next rows that are fields of the column before them
    for name, children in rows[1:]:
        if n_inside == 0:
            names.append(name)
        n_inside = max(0, n_inside - 1) + (children or 0)
    return names
