"""Private copies of files that DuckDB does not read, or not exactly: Parquet, made once.

The engine converts such a file when it is opened, and makes a view with the name of the copy, which
all statements read. The copies are in the engine's temporary folder, and are removed with it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from sqlglot import exp

from qifsql.data.dataset import Dataset
from qifsql.data.expressions import filled, identifier
from qifsql.data.readers import LOADED, calling, escaped
from qifsql.engine import json_records, sqlite_tables, statistics_files, workbooks
from qifsql.engine.decoding import decoded
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, quoted
from qifsql.query.plan import Plan
from qifsql.query.render import render

TOGETHER = 500  # columns that one statement checks
FLOATING_ONLY = ("excel", "statistics")  # formats that have whole numbers as floats
ARE_INTEGERS = """
    coalesce(bool_and(trunc(field) = field AND abs(field) <= 9007199254740992), FALSE)
"""  # each is also a BIGINT, exactly
ARE_DISTINCT = "count(DISTINCT field) = count(DISTINCT struct_extract(field, 'text'))"
TEXT = "struct_extract(field, 'text')"

Writer: TypeAlias = Callable[[Dataset, Path, Callable[[float], None]], Sequence[str]]
"""Write Parquet files of equal columns to a folder, and show the finished share.

It returns the columns with numbers and texts: structures of ``text`` and ``number`` (a BOOLEAN).
"""

WRITERS: dict[str, Writer] = {
    "sqlite": sqlite_tables.write,
    "excel": workbooks.write,
    "statistics": statistics_files.write,
}


def convert(engine: Engine, dataset: Dataset) -> str:
    """Copy the rows of a dataset to Parquet; return the statement that makes their view.

    In the copy, columns ``mixed`` have numbers and texts, as structures, and columns ``long`` have
    HUGEINT as text. Raises DatasetError if the file is damaged, its table is missing, the library
    that reads it is not installed, or a column has values that no type keeps apart.
    """
    folder = engine.scratch / dataset.copy_name
    folder.mkdir(mode=0o700)
    copies = decoded(engine.scratch, dataset)
    unpacked = replace(dataset, copies=copies, table="") if copies else dataset
    mixed: Sequence[str] = ()
    long: set[str] = set()
    if dataset.format == "json":
        query, long = json_records.query(engine, unpacked)
        engine.copy(Plan((), query), folder / "rows.parquet", what="loading", where=dataset.name)
    else:
        progress, what = engine.settings.progress, f"reading {dataset.name}"
        mixed = WRITERS[dataset.format](unpacked, folder, lambda share: progress(what, share))
    if dataset.format == "statistics":
        declared = statistics_files.declared_missing(unpacked)
        for column, count in declared.items():
            engine.declared_missing[dataset.name, column] = count
    rows = calling("read_parquet", [escaped(str(path)) for path in sorted(folder.iterdir())])
    # a row per record, under the name that all statements read
    view = exp.table_(identifier(dataset.copy_name), db=identifier("main"), catalog=LOADED)
    query = exp.select(*_exact_columns(engine, dataset, rows, mixed, long)).from_(rows)
    return render(exp.Create(this=view, kind="VIEW", expression=query))


def _exact_columns(
    engine: Engine, dataset: Dataset, rows: exp.Table, mixed: Sequence[str], long: set[str]
) -> Iterator[exp.Expr]:
    """Yield the columns of the view: floats of whole numbers as such, ``mixed`` ones as text.

    DatasetError if a mixed column has a number and a text that are equal once both are texts.
    """
    columns = engine.describe(rows, dataset.name)
    floating = [n for n, type_ in columns if type_ == "DOUBLE" and dataset.format in FLOATING_ONLY]
    whole_numbers = _passing(engine, dataset, rows, floating, ARE_INTEGERS)
    distinct = _passing(engine, dataset, rows, mixed, ARE_DISTINCT)
    if merged := [quoted(name) for name in mixed if name not in distinct]:
        raise DatasetError(
            f"column {', '.join(merged)} of {dataset.name} has numbers and texts that are written "
            "in the same way, such as 1; give the column one type"
        )
    exact = {name: "TIME" for name, type_ in columns if type_ == "TIME_NS"}  # as in other files
    exact |= dict.fromkeys(whole_numbers, "BIGINT") | dict.fromkeys(long, "HUGEINT")
    for name, _ in columns:
        column = exp.column(identifier(name))
        if name in exact:
            value = exp.cast(column, exact[name], dialect="duckdb")
            yield exp.alias_(value, identifier(name))
        elif name in mixed:
            yield exp.alias_(_filled(TEXT, name), identifier(name))
        else:
            yield column


def _passing(
    engine: Engine, dataset: Dataset, rows: exp.Table, names: Sequence[str], template: str
) -> set[str]:
    """Return the columns for which ``template``, an aggregate over ``field``, is true."""
    passing: set[str] = set()
    for i in range(0, len(names), TOGETHER):
        batch = names[i : i + TOGETHER]
        tests = [_filled(template, name) for name in batch]
        # one row: for each column of the batch whether the template is true
        (answers,) = engine.query(exp.select(*tests).from_(rows.copy()), dataset.name)
        passing |= {name for name, passes in zip(batch, answers, strict=True) if passes}
    return passing


def _filled(template: str, name: str) -> exp.Expr:
    """Return a template about ``field`` for the column ``name``."""
    return filled(template, {"field": exp.column(identifier(name))})
