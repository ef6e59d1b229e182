"""Results as files and texts: the tables of a result in every form, each with its details."""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

import polars as pl
from polars.selectors import by_name

from qifsql import __version__
from qifsql.presentation import markdown
from qifsql.presentation.parts import Part, View
from qifsql.results.storage import Origin, inert, write


@dataclass(frozen=True)
class Shown:
    """A result in all its forms. ``view`` draws it for people.

    ``details`` are further tables: under their names in JSON, each after an empty line in CSV and
    Markdown on stdout, in a file of its own beside Parquet and CSV (``out.histogram.parquet``).
    Those named ``aside`` nobody asked for: CSV and Markdown leave them out; of those named
    ``not_in_csv`` only CSV on stdout does. ``notes`` are remarks for the reader, which stay with
    what is stored. ``more`` are further entries of JSON.
    """

    frame: pl.DataFrame
    origin: Origin
    view: View
    title: str
    details: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    aside: Collection[str] = ()
    notes: tuple[str, ...] = ()
    not_in_csv: Collection[str] = ()
    more: Mapping[str, object] = field(default_factory=dict)

    @property
    def parts(self) -> list[Part]:
        """What people are shown of it."""
        return self.view(self.frame, self.details, self.origin.spec)


def save(shown: Shown, out: Path) -> None:
    """Write a result to files whose ending says how, all or none."""
    write(contents(shown, out), replace(shown.origin, notes=shown.notes))


def contents(shown: Shown, out: Path) -> dict[Path, pl.DataFrame | str]:
    """What stands in the files of a result, by their paths; the ending of ``out`` says how."""
    ending = out.suffix.casefold()
    if ending == ".html":
        from qifsql.presentation import html

        origin = replace(shown.origin, notes=shown.notes)
        return {out: html.of_result(shown.title, shown.parts, origin)}
    if ending in (".json", ".md"):
        return {out: text(shown, "json" if ending == ".json" else "markdown")}
    tables_of = {out: shown.frame}
    tables_of |= {beside(out, name): frame for name, frame in shown.details.items()}
    return {
        path: frame if ending == ".parquet" else comma_separated(frame)
        for path, frame in tables_of.items()
    }


def beside(out: Path, name: str) -> Path:
    """The file of a table of details: ``risk.histogram.csv`` beside ``risk.csv``."""
    return out.with_name(f"{out.stem}.{name}{out.suffix}")


def text(shown: Shown, kind: str) -> str:
    """A result as ``json``, ``csv`` or ``markdown``."""
    if kind == "json":
        tables = {"results": shown.frame, **shown.details}
        document: dict[str, object] = {"qifsql": __version__, "spec": dict(shown.origin.spec)}
        document |= shown.more
        document |= {name: _rows(frame) for name, frame in tables.items()}
        written = json.dumps(document, default=str, ensure_ascii=False, allow_nan=False)
        return _escaped(written) + "\n"
    aside = {*shown.aside, *(shown.not_in_csv if kind == "csv" else ())}
    frames = [frame for name, frame in shown.details.items() if name not in aside]
    flat = [flattened(frame) for frame in (shown.frame, *frames)]
    if kind == "csv":
        return "\n".join(map(comma_separated, flat))
    return "\n".join(map(markdown.table, flat))


def comma_separated(frame: pl.DataFrame) -> str:
    """The frame as CSV, without lists and without anything that a spreadsheet would run."""
    return inert(flattened(frame).lazy()).collect().write_csv()


def flattened(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without lists: names are joined by ``+``, counts become ``value: records``."""
    columns: list[pl.Expr | pl.Series] = []
    for name, dtype in frame.schema.items():
        if dtype == pl.List(pl.String):
            columns.append(by_name(name).list.join("+"))
        elif isinstance(dtype, pl.List):
            columns.append(pl.Series(name, [_joined(v) for v in frame[name].to_list()]))
        else:
            columns.append(by_name(name))
    return frame.select(columns)


def _escaped(text: str) -> str:
    """Return JSON in which control characters and marks of direction are escaped."""
    hidden = {c for c in set(text) if not c.isprintable()}
    return text.translate({ord(c): json.dumps(c)[1:-1] for c in hidden})


def _rows(frame: pl.DataFrame) -> list[dict[str, object]]:
    return [{k: _plain(v) for k, v in row.items()} for row in frame.to_dicts()]


def _plain(value: object) -> object:
    """A value as JSON can hold it: it has no infinity, and whole numbers of any size."""
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        return int(value)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _joined(counts: list[dict[str, object]] | None) -> str | None:
    if counts is None:
        return None
    return "; ".join(
        f"{'(missing)' if c['value'] is None else c['value']}: {c['records']}" for c in counts
    )
