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

from qifsql.data.collection import Collection, joined_schema
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.expressions import identifier
from qifsql.data.files import mixed_ends, unmarked_encoding
from qifsql.data.formats import find_named, partition_columns
from qifsql.data.readers import calling, paths_to_read, relation
from qifsql.data.types import comparable, family, nested
from qifsql.engine import missing_words, remembered, statistics_files
from qifsql.engine.csv_header import HEADER_LINES, ROW_NAMES, may_be_header, read_header
from qifsql.engine.csv_types import find_irregular
from qifsql.engine.decoding import decoded
from qifsql.engine.protocol import Engine
from qifsql.errors import ColumnError, DatasetError, QifError, did_you_mean, plural, quoted


def _read_schema(
    engine: Engine, dataset: Dataset, mentions: Callable[[str], bool] | None = None
) -> tuple[Dataset, Schema]:
    """Return the dataset, with the delimiter found in its header, and its columns.

    ``mentions`` tells by its name whether a column is used; without it, all columns are.
    """
    dataset = replace(dataset, missing=(), names=(), header=())  # what was looked up before
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
    labels, value_labels = _labels(engine, dataset)
    columns = (
        Column(n, source, type_, label=labels.get(n, ""), value_labels=value_labels.get(n, {}))
        for n, (source, type_) in zip(names, described, strict=False)
    )
    return dataset, Schema(
        dataset.name,
        tuple(columns),
        second_header=dataset.format == "excel" and _has_second_header(engine, dataset),
        left_out=dataset.left_out,
    )


def _has_second_header(engine: Engine, dataset: Dataset) -> bool:
    """Return whether the first record of a sheet may be a second row of its header."""
    if dataset.header_rows != 1:
        return False
    top = exp.select("*").from_(relation(dataset)).limit(HEADER_LINES)
    rows = engine.query(top, dataset.name)
    return may_be_header([["" if v is None else str(v) for v in row] for row in rows])


def _labels(
    engine: Engine, dataset: Dataset
) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """Return the labels of variables, and those of values by variable and text of the value.

    Files of statistics have both; data frames of Arrow, and Parquet that they were written to,
    have labels of variables in the metadata of fields.
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
    first_file = paths_to_read(replace(dataset, paths=dataset.paths[:1]))
    key = exp.column("key").eq(exp.cast(exp.Literal.string("ARROW:schema"), "BLOB"))
    source = calling("parquet_kv_metadata", first_file)
    for (text,) in engine.query(exp.select("value").from_(source).where(key), dataset.name):
        # without its labels a file can be read, too
        with suppress(ValueError, OSError, TypeError, LookupError, RuntimeError):
            if b"label" in (schema := b64decode(text)):
                import pyarrow.ipc

                return list(pyarrow.ipc.read_schema(pyarrow.py_buffer(schema)))
    return ()


def _read_csv_schema(
    engine: Engine, dataset: Dataset, mentions: Callable[[str], bool] | None
) -> tuple[Dataset, Schema]:
    """Return the dataset with its delimiter, and its columns by the names in its first line.

    ``described`` are DuckDB's names (sources) and types: first the columns of the file, then those
    of folder names (year=2020), which the header has not; so lists differ in length. Its names are
    not those of the header where that repeats one or lacks one.
    """
    header = read_header(engine, dataset)
    dataset, titles = header.dataset, header.names
    described = remembered.describe(engine, relation(dataset), dataset)
    n_fields = _count_fields(dataset, titles, len(described))
    sources = [source for source, _ in described]
    nameless = [source for source, title in zip(sources, titles, strict=False) if not title.strip()]
    if len(nameless) > 1:
        _check_nameless(engine, dataset, nameless, header.n_titles)
    # for a column without a name what the header has there, blanks or an empty text; else None
    headings = chain((None if title.strip() else title for title in titles), repeat(None))
    names = [t if t.strip() else source for t, source in zip(titles, sources, strict=False)]
    if titles and not titles[0].strip() and ROW_NAMES not in {t.casefold() for t in titles}:
        names[0] = ROW_NAMES  # as R and pandas write them, in a first column without a name
    names += sources[len(titles) :]  # those of folders
    dataset, described = _without_words(engine, dataset, names, described)
    in_file = list(zip(described, names, strict=True))[:n_fields]
    used = [column for column, name in in_file if mentions is None or mentions(name)]
    dataset, irregular, blank = find_irregular(engine, dataset, used, sources[:n_fields])
    types = {**dict(described), **dict.fromkeys(dataset.texts, "VARCHAR")}
    columns = tuple(
        Column(name, source, types[source], irregular.get(source, ""), heading=heading)
        for name, source, heading in zip(names, sources, headings, strict=False)
    )
    return dataset, Schema(
        dataset.name,
        columns,
        doubtful=header.doubtful,
        blank=blank,
        second_header=header.has_second,
        row_names=header.has_row_names,
    )


def _count_fields(dataset: Dataset, titles: Sequence[str], n_columns: int) -> int:
    """Return how many of the columns of CSV are in its files, not only in names of folders.

    DatasetError if the first line has another number of names, ``titles``.
    """
    partitions = partition_columns(dataset.paths[0]) if dataset.hive else ()
    only_in_folders = {c.casefold() for c in partitions} - {name.casefold() for name in titles}
    n_fields = n_columns - len(only_in_folders)
    if titles and len(titles) != n_fields:
        raise DatasetError(
            f"{dataset.name} is not a regular CSV table: its first line has {len(titles)} fields, "
            f"other lines {n_fields}; correct the file or name its --delimiter"
        )
    return n_fields


def _without_words(
    engine: Engine, dataset: Dataset, names: Sequence[str], described: list[tuple[str, str]]
) -> tuple[Dataset, list[tuple[str, str]]]:
    """Return a dataset with words for missing values as NULL, and its names and types then."""
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
    dataset = _find_table(engine, dataset) if dataset.format == "duckdb" else dataset
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
            # all records are read here, as the other kind of ends may be far below the first lines
            engine.query(exp.select("count(*)").from_(relation(usual)), dataset.name)
        except QifError:
            return _read_schema(engine, replace(dataset, mixed_ends=True), mentions)
        return usual, schema
    return _read_schema(engine, dataset, mentions)


def _check_nameless(
    engine: Engine, dataset: Dataset, sources: Sequence[str], n_titles: int
) -> None:
    """Refuse several columns without a name that have values; ``sources`` are DuckDB's names.

    ``n_titles`` is the number of lines above the first that names each column, 0 without one.
    """
    counts = [exp.Count(this=exp.column(identifier(source))) for source in sources]
    (values,) = engine.query(exp.select(*counts).from_(relation(dataset)), dataset.name)
    if (filled := sum(map(bool, values))) > 1:
        skip = dataset.skip + n_titles
        advice = f"if that is a title, add --skip {skip}" if n_titles else "write names there"
        raise DatasetError(
            f"{dataset.name}: {plural(filled, 'column')} with values have no name in its first "
            f"line; {advice}",
            reading={"skip": skip} if n_titles else {},
        )


def read_collection(
    engine: Engine, collection: Collection, mentions: Callable[[str], bool] | None
) -> tuple[Collection, Schema]:
    """Return the collection with its keys looked up, and the columns of all its datasets."""
    datasets, schemas, keys = [], [], []
    for member, key in zip_longest(collection.datasets, collection.keys):  # None without a key
        dataset, schema = read_columns(engine, member, mentions)
        datasets.append(dataset)
        schemas.append(schema)
        if key is not None:
            keys.append(_key_column(schema, key, collection.keys))
    _check_keys(engine, datasets, keys)
    for dataset, key in zip(datasets, keys, strict=False):
        if key.irregularity:
            engine.irregular_columns[dataset.name, key.name] = key.irregularity
    collection = replace(collection, datasets=tuple(datasets), key_columns=tuple(keys))
    return collection, joined_schema(collection, schemas)


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


def _find_table(engine: Engine, dataset: Dataset) -> Dataset:
    """Return the dataset with the names of its schema and table as they are in the file.

    The user names ``table`` or ``schema.table``, in the same or any case. DatasetError if it is a
    view: the author of the file decides what a view reads.
    """
    # a row per table or view of the file: its schema, its name, whether its rows are stored
    stored = exp.select("schema_name", "table_name", "TRUE AS stored").from_("duckdb_tables()")
    views = exp.select("schema_name", "view_name", "FALSE").from_("duckdb_views()")
    inside = exp.column("database_name").eq(exp.Literal.string(dataset.catalog))
    query = exp.union(stored.where(inside), views.where(inside.copy()), distinct=False)
    rows = engine.query(query, dataset.name)
    is_stored = {(schema, table): flag for schema, table, flag in rows}

    def names_of(place: tuple[str, str]) -> list[str]:
        """Return the names by which the user may mean a table."""
        schema, table = place
        return [table, f"{schema}.{table}"]

    matches = find_named(dataset.table, is_stored, names_of)
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
    columns_of_first: list[tuple[str, str]] = []
    for path in dataset.paths:
        part = replace(dataset, paths=(path,), hive=False)
        types = [type_ for _, type_ in engine.describe(relation(part), dataset.name)]
        columns = list(zip(_parquet_names(engine, part), types, strict=True))
        if len({name.casefold() for name, _ in columns}) == len(columns):
            columns.sort()
        columns_of_first = columns_of_first or columns
        if columns != columns_of_first:
            raise DatasetError(
                f"the files of {dataset.name} differ in their columns or types, so values could be "
                "changed when they are read together; write them again with one schema"
            )


def _parquet_names(engine: Engine, dataset: Dataset) -> list[str]:
    """Return the names of the top-level columns in the first file.

    ``parquet_schema`` lists the root, then each column, followed by the fields inside it.
    """
    first_file = paths_to_read(replace(dataset, paths=dataset.paths[:1]))
    source = calling("parquet_schema", first_file)
    rows = engine.query(exp.select("name", "num_children").from_(source), dataset.name)
    names: list[str] = []
    n_inside = 0  # of the next rows, how many are fields of the column before them
    for name, children in rows[1:]:
        if n_inside == 0:
            names.append(name)
        n_inside = max(0, n_inside - 1) + (children or 0)
    return names
