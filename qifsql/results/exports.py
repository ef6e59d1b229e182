"""Exports of results: JSON, CSV, Markdown, Parquet, workbooks, and charts as files."""

import json
import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
from polars.selectors import by_name

from qifsql.presentation import figures, markdown
from qifsql.presentation.theme import Chart
from qifsql.results.storage import Content, Origin, atomic_file, check_ending, without_formulas

Tables = Mapping[str, pl.DataFrame]


def as_workbook(tables: Tables, started: str) -> bytes:
    """Return tables as the sheets of a workbook."""
    from qifsql.presentation import spreadsheet

    flat = {name: flattened(frame) for name, frame in tables.items()}
    return spreadsheet.workbook(flat, datetime.fromisoformat(started))


def as_files(out: Path, frame: pl.DataFrame, details: Tables) -> dict[Path, Content]:
    """Return a table and its details as files of Parquet or CSV, by path."""
    tables = {out: frame} | {detail_file(out, name): table for name, table in details.items()}
    if out.suffix.casefold() == ".parquet":
        return dict(tables)
    return {path: comma_separated(table) for path, table in tables.items()}


def detail_file(out: Path, name: str) -> Path:
    """Return the file of a table of details: ``risk.histogram.csv`` next to ``risk.csv``."""
    return out.with_name(f"{out.stem}.{name}{out.suffix}")


def as_json(document: Mapping[str, object], tables: Tables) -> str:
    """Return a document with tables as lists of records, in one line of JSON."""
    content = dict(document)
    for name, frame in tables.items():
        content[name] = [{k: _json_value(v) for k, v in row.items()} for row in frame.to_dicts()]
    written = json.dumps(content, default=str, ensure_ascii=False, allow_nan=False)
    hidden = {c for c in set(written) if not c.isprintable()}  # controls, marks of direction
    return written.translate({ord(c): json.dumps(c)[1:-1] for c in hidden}) + "\n"


def as_text(frames: Iterable[pl.DataFrame], kind: str) -> str:
    """Return tables as ``csv`` or ``markdown``, with an empty line between them."""
    draw = comma_separated if kind == "csv" else markdown.table
    return "\n".join(draw(flattened(frame)) for frame in frames)


def comma_separated(frame: pl.DataFrame) -> str:
    """Return the frame as CSV, without lists and without formulas that a spreadsheet would run."""
    return without_formulas(flattened(frame).lazy()).collect().write_csv()


def flattened(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame without lists: names are joined by ``+``, counts become texts."""
    columns: list[pl.Expr | pl.Series] = []
    for name, dtype in frame.schema.items():
        if dtype == pl.List(pl.String):
            columns.append(by_name(name).list.join("+"))
        elif dtype == pl.List(pl.Int64()):
            columns.append(by_name(name).cast(pl.List(pl.String())).list.join("+"))
        elif isinstance(dtype, pl.List):
            columns.append(pl.Series(name, [_counts_as_text(v) for v in frame[name].to_list()]))
        else:
            columns.append(by_name(name))
    return frame.select(columns)


def _counts_as_text(counts: list[dict[str, object]] | None) -> str | None:
    """Return the records by value as a text: ``yes: 3; (missing): 1``."""
    if counts is None:
        return None
    values = ("(missing)" if c["value"] is None else c["value"] for c in counts)
    return "; ".join(f"{value}: {c['records']}" for value, c in zip(values, counts, strict=True))


def _json_value(value: object) -> object:
    """Return a value for JSON: infinity becomes a text, a whole decimal an integer."""
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        return int(value)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def save_charts(charts: Mapping[str, Chart], folder: Path, kind: str, origin: Origin) -> list[Path]:
    """Draw charts as files of a kind (html, png, svg, json) in a folder; return their paths."""
    paths = {folder / f"{name}.{kind}": chart for name, chart in charts.items()}
    for path, chart in paths.items():
        save_chart(chart, path, origin)
    return list(paths)


def save_chart(chart: Chart, path: Path, origin: Origin) -> None:
    """Write a chart as HTML that needs no network, PNG, SVG, or Vega-Lite (JSON)."""
    check_ending(path, figures.ENDINGS)
    content = figures.content(chart, path.suffix.casefold())
    with atomic_file(path, origin) as temporary:
        temporary.write_bytes(content)
