"""The columns of datasets as files name and type them: delimiter, header, parts of a collection.

DuckDB ignores case in names and renames the second of ``ID`` and ``id``. The original names are
read from the file, so that both columns can be used.
"""

import csv
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, zip_longest

from sqlglot import exp

from qifsql.data.collection import Collection, together
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.expressions import identifier
from qifsql.data.files import mixed_ends
from qifsql.data.formats import named, partition_columns
from qifsql.data.readers import array_of_paths, calling, header_line, relation
from qifsql.data.types import comparable, family, nested
from qifsql.engine import missing_words
from qifsql.engine.csv_types import read_writings
from qifsql.engine.decoding import decoded
from qifsql.engine.protocol import Engine
from qifsql.errors import ColumnError, DatasetError, QifError, did_you_mean, plural, quoted

DELIMITERS = (",", ";", "\t", "|")
FEW = 3  # records: with fewer, a row of a header does not differ from them
HEADER = 100  # lines that the names of columns may take, if they contain line breaks


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
    columns = (Column(n, source, kind) for n, (source, kind) in zip(names, described, strict=False))
    return dataset, Schema(dataset.name, tuple(columns))


def _read_csv_schema(
    engine: Engine, dataset: Dataset, mentions: Callable[[str], bool] | None
) -> tuple[Dataset, Schema]:
    """Return the dataset with its delimiter, and its columns by the names in its first line.

    ``described`` are DuckDB's names and types: columns of the file, then those of folder names.
    """
    dataset, header, doubtful, is_second = _header(engine, dataset)
    described = engine.describe(relation(dataset), dataset.name)
    n_fields = len(described) - _count_partitions(dataset, header)
    if header and len(header) != n_fields:
        raise DatasetError(
            f"{dataset.name} is not a regular CSV table: its first line has {len(header)} fields, "
            f"other lines {n_fields}; correct the file or name its --delimiter"
        )
    pairs = zip(described, header, strict=False)
    nameless = [source for (source, _), name in pairs if not name.strip()]
    if len(nameless) > 1:
        _check_nameless(engine, dataset, nameless)
    names = [*header, *(source for source, _ in described[len(header) :])]  # those of folders
    dataset, described = _without_words(engine, dataset, names, described)
    in_file = described[:n_fields]
    pairs = zip(in_file, header, strict=True)
    used = [column for column, name in pairs if mentions is None or mentions(name)]
    sources = [source for source, _ in in_file]
    dataset, writings, blank = read_writings(engine, dataset, used, sources)
    types = {**dict(described), **dict.fromkeys(dataset.texts, "VARCHAR")}
    columns = tuple(
        Column(name, source, types[source], writings.get(source, ""))
        for name, (source, _) in zip(names, described, strict=False)
    )
    return dataset, Schema(
        dataset.name, columns, doubtful=doubtful, blank=blank, second_header=is_second
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
    if dataset.format == "csv" and mixed_ends(dataset.files):
        try:
            usual, schema = _read_schema(engine, dataset, mentions)
            engine.query(exp.select("count(*)").from_(relation(usual)), dataset.name)
        except QifError:
            return _read_schema(engine, replace(dataset, mixed_ends=True), mentions)
        return usual, schema
    return _read_schema(engine, dataset, mentions)


def _check_nameless(engine: Engine, dataset: Dataset, sources: Sequence[str]) -> None:
    """Refuse several columns without a name that have values; ``sources`` are DuckDB's names."""
    counts = [exp.Count(this=exp.column(identifier(source))) for source in sources]
    (values,) = engine.query(exp.select(*counts).from_(relation(dataset)), dataset.name)
    if (filled := sum(map(bool, values))) > 1:
        raise DatasetError(
            f"{dataset.name}: {plural(filled, 'column')} with values have no name in its first "
            "line; if that line is a title, delete it, otherwise write names"
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
        if key.writing:
            engine.written[dataset.name, key.name] = key.writing
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
            f"{family(keys[0].type)} in {datasets[0].name}: values are not converted, as "
            "the text 007 is not the number 7; write both with one type (CSV: "
            "--all-varchar)"
        )


def _header(engine: Engine, dataset: Dataset) -> tuple[Dataset, list[str], bool, bool]:
    """Return the dataset with its delimiter, and the names in the header of its CSV.

    The third part is whether these may be the values of a record, the fourth whether the first
    record may be part of the header. If the user names no delimiter, it is the one that splits the
    first line into most names.
    """
    candidates = [dataset.delimiter] if dataset.delimiter else list(DELIMITERS)
    split = {delimiter: _lines(engine, dataset, delimiter) for delimiter in candidates}
    best = max(candidates, key=lambda delimiter: len(split[delimiter][0]))
    names, records = _names(dataset, split[best])
    copy_of = {p: (copy,) for p, copy in zip(dataset.paths, dataset.copies, strict=False)}
    for path in dataset.paths[1:]:
        part = replace(dataset, paths=(path,), copies=copy_of.get(path, ()))
        file_names, _ = _names(part, _lines(engine, part, best))
        if file_names != names:
            counts = f"{plural(len(file_names), 'column')}, {dataset.paths[0]} {len(names):,}"
            difference = "other names" if len(file_names) == len(names) else counts
            raise DatasetError(
                f"the files of {dataset.name} differ in their first lines: {path} has {difference}"
            )
    if dataset.header_rows > 1:
        dataset = replace(dataset, header=_apart(names))
    is_second = _may_be_header(records)
    return replace(dataset, delimiter=best), names, _may_be_record(names, records), is_second


def _names(
    dataset: Dataset, rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[Sequence[str]]]:
    """Return the names of columns, and the records among the first rows.

    A column has the first name that is not empty in the rows of the header.
    """
    header, records = rows[: dataset.header_rows], list(rows[dataset.header_rows :])
    if len(header) < dataset.header_rows:
        raise DatasetError(
            f"{dataset.name} has fewer rows than its header: {dataset.header_rows} were asked for; "
            "name fewer --header-rows"
        )
    if len({len(row) for row in header}) > 1 or _has_breaks(header):
        raise DatasetError(
            f"{dataset.name}: the {dataset.header_rows} rows of the header differ in their number "
            "of fields, or have line breaks in fields; correct the file, or name other "
            "--header-rows or --skip"
        )
    return [next((n for n in column if n.strip()), "") for column in zip(*header, strict=True)], (
        records
    )


def _has_breaks(header: Sequence[Sequence[str]]) -> bool:
    """Return whether a header of several rows has line breaks in fields: lines are counted."""
    return len(header) > 1 and any("\n" in name for name in chain(*header))


def _apart(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that SQL can tell apart, as DuckDB would make them."""
    apart: list[str] = []
    seen: set[str] = set()
    for i, name in enumerate(names):
        candidate, number = name or f"column{i}", 0
        while candidate.casefold() in seen:
            number += 1
            candidate = f"{name}_{number}"
        seen.add(candidate.casefold())
        apart.append(candidate)
    return tuple(apart)


def _may_be_header(records: Sequence[Sequence[str]]) -> bool:
    """Return whether the first record may be a second row of the header.

    It is if its fields are one text that is nowhere below, or if it has texts above numbers, and no
    number.
    """
    if len(records) < FEW:
        return False
    first, *others = records
    columns = [[row[i] for row in others if i < len(row) and row[i]] for i in range(len(first))]
    if any(map(_is_number, first)):
        return False
    pairs = zip(first, columns, strict=True)
    if any(name and len(c) > 1 and all(map(_is_number, c)) for name, c in pairs):
        return True
    texts = set(first)
    return len(first) > 1 and len(texts) == 1 and texts.isdisjoint([*chain(*others), ""])


def _is_number(field: str) -> bool:
    return re.fullmatch(r"[+-]?\d[\d.,]*", field.strip()) is not None


def _lines(engine: Engine, dataset: Dataset, delimiter: str) -> list[list[str]]:
    """Return the fields in the first lines of the first file, split by a delimiter."""
    n_lines = HEADER + dataset.header_rows
    query = exp.select("line").from_(header_line(dataset)).limit(n_lines)
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
