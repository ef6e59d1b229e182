"""Records of JSON: DuckDB reads them, with types that keep different values apart.

A text that looks like a date or time has that type only if no two such texts are one value. A
number is a whole number, or a DOUBLE if all whole numbers in its column are exact as such; else its
digits stay text. So does a column of numbers and texts: texts have quotes then.
"""

import re
from collections.abc import Sequence
from typing import cast

from sqlglot import exp

from qifsql.data.dataset import Dataset
from qifsql.data.expressions import filled, identifier
from qifsql.data.formats import check_names
from qifsql.data.readers import calling, column_types, paths_to_read
from qifsql.data.types import NOTHING
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError

TIMES = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
BLOCK = 2**20  # bytes that are read at a time
BOM = b"\xef\xbb\xbf"
TOGETHER = 200  # columns that one statement checks
ARE_DISTINCT = "count(DISTINCT field) = count(DISTINCT value) AND count(field) = count(value)"
ARE_SHORT = """
    NOT coalesce(bool_or(regexp_full_match(CAST(field AS VARCHAR), '-?[0-9]{16,}')), FALSE)
"""
ARE_INTEGERS = """
    count(field) = count(TRY_CAST(CAST(field AS VARCHAR) AS HUGEINT))
    AND NOT coalesce(bool_or(regexp_matches(CAST(field AS VARCHAR), '[.eE]')), FALSE)
"""
# In these templates ``objects`` has a row per record, with the record as JSON.
KEYS = "SELECT DISTINCT unnest(json_keys(json)) FROM objects"
COUNT_KEYS = """
    SELECT count(DISTINCT name) FROM (SELECT unnest(json_keys(json)) AS name FROM objects) AS n
"""
FIRST_OBJECTS = "SELECT * FROM objects LIMIT 2000"
MAX_NAMES = 5_000  # of columns: the engine compares each with each to find the types
NAMES_OF_FIRST = 1_000  # in the first records, from which on those of all are counted


def query(engine: Engine, dataset: Dataset) -> tuple[exp.Select, set[str]]:
    """Return the query for the records of JSON files, and the names of its columns of HUGEINT.

    These columns are text, because Parquet has no such numbers. Other columns get the type of
    DuckDB if it keeps different cells apart, else text. Raises DatasetError if the files hold
    anything but records, or names that differ only in case.
    """
    for path, file in zip(dataset.paths, dataset.files, strict=True):
        _check_end(file, path)
    columns = _columns(engine, dataset)
    times = [(name, type_) for name, type_ in columns if type_ in TIMES]
    floats = [(name, type_) for name, type_ in columns if type_ == "DOUBLE"]
    distinct = _passing(engine, dataset, times, ARE_DISTINCT)  # no two texts are one time
    short = _passing(engine, dataset, floats, ARE_SHORT)  # no whole number of 16 digits and more
    long_numbers = [(name, type_) for name, type_ in floats if name not in short]
    long_integers = _passing(engine, dataset, long_numbers, ARE_INTEGERS)
    inexact = {name for name, _ in floats} - short - long_integers  # as DOUBLE; they stay text
    read_types: list[tuple[str, str]] = []  # by column, before they are cast
    selected: list[exp.Expr] = []
    for name, type_ in columns:
        column: exp.Expr = exp.column(identifier(name))
        # text for times, and for what Parquet does not have
        read_type = type_.replace(NOTHING, "VARCHAR").replace("HUGEINT", "VARCHAR")
        if name in long_integers or type_ in (*TIMES, "UUID"):
            read_type = "VARCHAR"
        elif name in inexact:
            read_type = "JSON"
        if type_ in TIMES and name in distinct:
            column = exp.cast(column, type_, dialect="duckdb")
        elif read_type == "JSON":
            column = exp.cast(column, "VARCHAR")
        read_types.append((name, read_type))
        selected.append(exp.alias_(column, identifier(name)))
    huge = long_integers | {name for name, type_ in columns if type_ == "HUGEINT"}
    return exp.select(*selected).from_(_rows(dataset, read_types)), huge


def _check_end(file: str, path: str) -> None:
    """Refuse a list that is cut off: DuckDB 2.0.0 reads one that ends in a comma."""
    import pyarrow as pa

    try:
        with pa.input_stream(file, compression="detect") as stream:
            data = stream.read(BLOCK)
            if not data.removeprefix(BOM).lstrip().startswith(b"["):  # a record on each line
                return
            last = b""  # byte that is no white space
            while data:
                last = data.rstrip()[-1:] or last
                data = stream.read(BLOCK)
    except (OSError, pa.ArrowException) as e:
        raise DatasetError(f"{path} cannot be unpacked; copy it again", detail=str(e)) from e
    if last != b"]":
        raise DatasetError(f"{path} is not valid JSON: its list is cut off; copy it again")


def _columns(engine: Engine, dataset: Dataset) -> list[tuple[str, str]]:
    """Return the names and types of all columns, as DuckDB finds them in all records."""
    try:
        _check_name_count(engine, dataset)
        columns = engine.describe(_rows(dataset), dataset.name)
    except DatasetError as e:
        if "expected records" not in (e.detail or ""):
            raise
        raise DatasetError(
            f"{dataset.name} holds no records; give a list of JSON objects, or one object per line",
            detail=e.detail,
        ) from e
    names = [name for name, _ in columns]
    check_names(names, dataset.name)
    folded = {name.casefold() for name in names}
    numbered = (name for name in folded if re.search(r"_\d+$", name))
    if any(re.sub(r"_\d+$", "", name) in folded for name in numbered):  # DuckDB may have added _1
        keys = engine.query(_query_of_objects(KEYS, dataset), dataset.name)
        check_names([key for (key,) in keys], dataset.name)
    return columns


def _check_name_count(engine: Engine, dataset: Dataset) -> None:
    """Refuse records that together have too many names, as those have whose names are data."""
    first = _query_of_objects(FIRST_OBJECTS, dataset).subquery("first")
    count_first = cast("exp.Query", filled(COUNT_KEYS, {"objects": first}))
    ((count,),) = engine.query(count_first, dataset.name)
    if count > NAMES_OF_FIRST:
        ((count,),) = engine.query(_query_of_objects(COUNT_KEYS, dataset), dataset.name)
    if count > MAX_NAMES:
        raise DatasetError(
            f"{dataset.name} has records with {count:,} different names in all, and at most "
            f"{MAX_NAMES:,} can be columns; if the names are values, as numbers of people are, "
            "write them as values"
        )


def _query_of_objects(template: str, dataset: Dataset) -> exp.Query:
    """Return a template of a query with the records of a dataset as its ``objects``."""
    objects = calling("read_json_objects", paths_to_read(dataset))
    return cast("exp.Query", filled(template, {"objects": objects}))


def _passing(
    engine: Engine, dataset: Dataset, columns: Sequence[tuple[str, str]], template: str
) -> set[str]:
    """Return those of ``columns`` (name, type) for which ``template``, an aggregate, is true.

    In it, ``field`` is a cell as JSON (text in columns of times), ``value`` the cell in its type.
    """
    passing: set[str] = set()
    for i in range(0, len(columns), TOGETHER):
        batch = columns[i : i + TOGETHER]
        tests = []
        for name, type_ in batch:
            field = exp.column(identifier(name))
            value = exp.TryCast(this=field, to=exp.DataType.build(type_, dialect="duckdb"))
            tests.append(filled(template, {"field": field, "value": value}))
        rows = _rows(dataset, [(n, "VARCHAR" if t in TIMES else "JSON") for n, t in batch])
        # one row: for each column of the batch whether the template is true
        (answers,) = engine.query(exp.select(*tests).from_(rows), dataset.name)
        passing |= {name for (name, _), passes in zip(batch, answers, strict=True) if passes}
    return passing


def _rows(dataset: Dataset, types: Sequence[tuple[str, str]] = ()) -> exp.Table:
    """Return the records, with columns of these types, or with all columns as DuckDB finds them."""
    if types:
        options: dict[str, object] = {"columns": column_types(types)}
    else:
        options = {
            "sample_size": -1,
            "maximum_sample_files": 2**31,
            "map_inference_threshold": -1,
            "field_appearance_threshold": 0,
        }
    return calling("read_json", paths_to_read(dataset), records="true", **options)
