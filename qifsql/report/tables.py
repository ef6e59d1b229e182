"""Tables for the terminal and for text files. Names and values are text, never markup."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import StringIO
from typing import Any

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qifsql.assessment import Assessment
from qifsql.report import words

SHOWN = 5  # values of a list that are shown in a cell
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>pre {{ font: 15px/1.3 ui-monospace, monospace; overflow-x: auto; }}</style>
</head>
<body><pre>{body}</pre></body>
</html>
"""


def assessment(result: Assessment) -> RenderableType:
    """The results: before, after and what it means, with a sentence under each."""
    rows = result.rows()
    parts: list[RenderableType] = []
    for row in rows:
        parts += [
            Text(words.heading(row), style="bold"),
            Padding(_successes(row), (0, 0, 0, 1), expand=False),
        ]
        parts.append(Padding(Text(words.sentence(row)), (0, 0, 1, 2), expand=False))
    return Group(*parts)


def _successes(row: Mapping[str, Any]) -> Table:
    table = _table(["", "before", "after", "degradation"], right=(1, 2, 3))
    if row.get("target") is None:
        certain = f"+ {words.percent(row['degradation_deterministic'])}"
        before, after = (
            words.percent(row[f"{when}_deterministic"]) for when in ("prior", "posterior")
        )
    else:
        yes = {0.0: "no", 1.0: "yes"}
        before, after, certain = (
            yes[row[f"{name}_deterministic"]] for name in ("prior", "posterior", "degradation")
        )
    table.add_row("certain (deterministic)", before, after, certain)
    table.add_row(
        "best guess (probabilistic)",
        words.percent(row["prior_probabilistic"]),
        words.percent(row["posterior_probabilistic"]),
        words.factor(row["degradation_probabilistic"]),
    )
    if row.get("best_guess") is not None:
        table.add_row("the best guess is", "", Text(row["best_guess"]), "")
    return table


def frame(data: pl.DataFrame) -> Table:
    """Any table of results, cell by cell."""
    numeric = [i for i, t in enumerate(data.dtypes) if t.is_numeric()]
    table = _table(data.columns, right=numeric)
    for row in data.iter_rows():
        table.add_row(*(Text(_cell(v)) for v in row))
    return table


def blocks(data: pl.DataFrame, secrets: Sequence[str]) -> RenderableType:
    """Blocks of a partition: what is known, how many people, and the values of each secret."""
    known = data.width - 2 - 4 * len(secrets)
    table = _table([*data.columns[:known], "size", *secrets], right=(known,))
    for row in data.iter_rows():
        counts = row[known + 5 :: 4]
        cells = [*map(_cell, row[:known]), words.count(row[known]), *map(_cell, counts)]
        table.add_row(*map(Text, cells))
    if not secrets:
        return table
    return Group(table, Text("People with each value in brackets; the first is the best guess."))


def description(data: pl.DataFrame, values: pl.DataFrame | None) -> RenderableType:
    """The columns of a dataset, as people read them, and their frequent values."""
    heads = ["column", "type", "missing", "distinct", "entropy (bits)", "singled out", "role?"]
    table = _table([*heads, "why"], right=(2, 3, 4, 5))
    for row in data.iter_rows(named=True):
        numbers = ["", "", "", ""]
        if row["records"] is not None:
            numbers = [
                words.count(row["missing"]),
                words.count(row["distinct"]),
                f"{row['entropy']:.2f}",
                words.percent(row["singled_out_share"]),
            ]
        cells = [_cell(row["column"]), row["type"], *numbers, row["suggested_role"], row["why"]]
        table.add_row(*map(Text, cells))
    return table if values is None else Group(table, frame(values))


def rows(names: Sequence[str], values: Iterable[Sequence[Any]]) -> Table:
    """Any rows under their names."""
    table = _table(names)
    for row in values:
        table.add_row(*(Text(_cell(v)) for v in row))
    return table


def draw(content: object) -> None:
    """Print to stdout: as wide as the terminal, or wide enough where there is none."""
    width = None if sys.stdout.isatty() else 160
    Console(width=width, highlight=False, markup=False).print(content)


def html(content: object, title: str) -> str:
    """What the terminal shows, as one HTML file without anything from outside."""
    console = Console(record=True, file=StringIO(), width=100, force_terminal=False)
    console.print(Text(title, style="bold"), end="\n\n")
    console.print(content)
    body = console.export_html(inline_styles=True, code_format="{code}")
    return PAGE.format(title=escape(title), body=body)


def markdown(data: pl.DataFrame) -> str:
    """A table in Markdown; what could be read as markup is escaped."""
    lines = [_line(data.columns), _line(["---"] * data.width, escape=False)]
    lines += [_line([_cell(v) for v in row]) for row in data.iter_rows()]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str], *, escape: bool = True) -> str:
    if escape:
        marks = str.maketrans({c: f"\\{c}" for c in "\\|*_`<>[]"} | {"\n": " ", "\r": " "})
        cells = [c.translate(marks) for c in cells]
    return f"| {' | '.join(cells)} |"


def _table(names: Sequence[str], right: Sequence[int] = ()) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(names):
        table.add_column(Text(name), justify="right" if i in right else "left")
    return table


def _cell(value: Any) -> str:
    if value is None:
        return "(missing)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        shown = [_counted(v) for v in value[:SHOWN]]
        return ", ".join(shown) + (f", and {len(value) - SHOWN} more" if value[SHOWN:] else "")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value))


def _counted(value: Any) -> str:
    """A value of the secret with its records: ``yes (3)``."""
    if isinstance(value, Mapping):
        return f"{_cell(value['value'])} ({words.count(value['records'])})"
    return _cell(value)
