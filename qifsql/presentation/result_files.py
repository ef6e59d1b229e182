"""Results as files and texts, with tables of details, in every format."""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
from polars.selectors import by_name

from qifsql import __version__
from qifsql.presentation import markdown
from qifsql.presentation.parts import Part, View
from qifsql.results.kinds import view_of
from qifsql.results.result import Result
from qifsql.results.storage import Content, Origin, inert, write


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A result in all its formats.

    JSON has each table of ``details`` under its name. CSV and Markdown on stdout have them after
    empty lines. For Parquet and CSV files, each is a separate file (``out.histogram.parquet``).
    Nobody asked for those named ``aside``: CSV and Markdown leave them out. Only CSV on stdout
    leaves out those named ``not_in_csv``. ``more`` are further entries of JSON. ``view`` draws the
    result for people (default: the view of its kind). ``prose``: it is text, on a pipe too.
    """

    result: Result
    title: str
    aside: Collection[str] = ()
    not_in_csv: Collection[str] = ()
    more: Mapping[str, object] = field(default_factory=dict)
    view: View | None = None
    prose: bool = False

    @property
    def origin(self) -> Origin:
        """Return the origin of the result, with its remarks."""
        return replace(self.result.origin, notes=self.result.notes)

    @property
    def parts(self) -> list[Part]:
        """Return the parts of the result that people are shown."""
        result = self.result
        view: View = self.view or getattr(view_of(result.kind), "parts")  # noqa: B009 - of any room
        return view(result.frame, result.details, result.spec)


def save(shown: Shown, out: Path) -> None:
    """Write a result to files in the format of their ending, all or none."""
    write(contents(shown, out), shown.origin)


def contents(shown: Shown, out: Path) -> dict[Path, Content]:
    """Return the contents of the files of a result, by path, in the format of ``out``'s ending."""
    ending = out.suffix.casefold()
    if ending == ".html":
        from qifsql.presentation import html

        return {out: html.of_result(shown.title, shown.parts, shown.origin)}
    if ending in (".json", ".md"):
        return {out: text(shown, "json" if ending == ".json" else "markdown")}
    if ending == ".xlsx":
        from qifsql.presentation import spreadsheet

        tables = {shown.result.kind: shown.result.frame, **shown.result.details}
        timestamp = datetime.fromisoformat(shown.origin.started)
        flat = {name: flattened(frame) for name, frame in tables.items()}
        return {out: spreadsheet.workbook(flat, timestamp)}
    tables_of = {out: shown.result.frame}
    tables_of |= {beside(out, name): frame for name, frame in shown.result.details.items()}
    return {
        path: frame if ending == ".parquet" else comma_separated(frame)
        for path, frame in tables_of.items()
    }


def beside(out: Path, name: str) -> Path:
    """Return the file of a table of details: ``risk.histogram.csv`` next to ``risk.csv``."""
    return out.with_name(f"{out.stem}.{name}{out.suffix}")


def text(shown: Shown, kind: str) -> str:
    """Return a result as ``json``, ``csv`` or ``markdown``."""
    if kind == "json":
        tables = {"results": shown.result.frame, **shown.result.details}
        document: dict[str, object] = {"qifsql": __version__, "spec": dict(shown.result.spec)}
        document |= shown.more
        document |= {name: _rows(frame) for name, frame in tables.items()}
        written = json.dumps(document, default=str, ensure_ascii=False, allow_nan=False)
        return _escaped(written) + "\n"
    aside = {*shown.aside, *(shown.not_in_csv if kind == "csv" else ())}
    frames = [frame for name, frame in shown.result.details.items() if name not in aside]
    flat = [flattened(frame) for frame in (shown.result.frame, *frames)]
    if kind == "csv":
        return "\n".join(map(comma_separated, flat))
    return "\n".join(map(markdown.table, flat))


def comma_separated(frame: pl.DataFrame) -> str:
    """Return the frame as CSV, without lists and without formulas that a spreadsheet would run."""
    return inert(flattened(frame).lazy()).collect().write_csv()


def flattened(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame without lists: names are joined by ``+``, counts become texts."""
    columns: list[pl.Expr | pl.Series] = []
    for name, dtype in frame.schema.items():
        if dtype == pl.List(pl.String):
            columns.append(by_name(name).list.join("+"))
        elif dtype == pl.List(pl.Int64()):
            columns.append(by_name(name).cast(pl.List(pl.String())).list.join("+"))
        elif isinstance(dtype, pl.List):
            columns.append(pl.Series(name, [_joined(v) for v in frame[name].to_list()]))
        else:
            columns.append(by_name(name))
    return frame.select(columns)


def _escaped(text: str) -> str:
    """Return JSON with control characters and marks of text direction escaped."""
    hidden = {c for c in set(text) if not c.isprintable()}
    return text.translate({ord(c): json.dumps(c)[1:-1] for c in hidden})


def _rows(frame: pl.DataFrame) -> list[dict[str, object]]:
    return [{k: _plain(v) for k, v in row.items()} for row in frame.to_dicts()]


def _plain(value: object) -> object:
    """Return a value for JSON: infinity becomes a text, a whole decimal an integer."""
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        return int(value)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _joined(counts: list[dict[str, object]] | None) -> str | None:
    if counts is None:
        return None
    return "; ".join(
        f"{'(missing)' if c['value'] is None else c['value']}: {c['records']}" for c in counts
    )
