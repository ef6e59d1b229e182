"""Tables for the terminal and for text files. Names and values are text, never markup."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import StringIO
from typing import Any

import polars as pl
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qifsql.assessment import Assessment
from qifsql.receipts import Receipt
from qifsql.refinement import Refinement
from qifsql.report import cells, details, words
from qifsql.report.progress import progress

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
    if len({row["datasets"] for row in rows}) > 1:
        return progress(rows)
    parts: list[RenderableType] = []
    for row in rows:
        parts += [
            Text(words.heading(row), style="bold"),
            Padding(_successes(row), (0, 0, 0, 1), expand=False),
        ]
        parts += [
            *details.measured(row),
            Padding(Text(words.sentence(row)), (0, 0, 1, 2), expand=False),
            *details.of_row(row, result.details),
        ]
    return Group(*parts)


def _successes(row: Mapping[str, Any]) -> Table:
    table = cells.table(["", "before", "after", "degradation"], right=(1, 2, 3))
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
        "best guess (probabilistic)" if words.is_chance(row) else "expected gain of the best guess",
        words.success(row, row["prior_probabilistic"]),
        words.success(row, row["posterior_probabilistic"]),
        "undefined"
        if row["degradation_probabilistic"] is None
        else words.factor(row["degradation_probabilistic"]),
    )
    if row.get("best_guess") is not None:
        table.add_row("the best guess is", "", Text(row["best_guess"]), "")
    return table


def receipt(result: Receipt) -> RenderableType:
    """What one person's facts give away: the fewest that single out, and what is learnt."""
    table = cells.table(["which facts", "how many", "reveal", "look-alikes"], right=(1, 3))
    for row in result.frame.iter_rows(named=True):
        facts = words.listed(row["qids"]) if row["qids"] else "none: it holds of everybody"
        what = "whose record it is" if row["reveals"] is None else f"the value of {row['reveals']}"
        table.add_row(Text(facts), str(row["n_qids"]), Text(what), words.count(row["matches"]))
    n, alone = result.look_alikes, result.frame["reveals"].null_count()
    alike = (
        "Knowing all facts, the person is the only one."
        if n == 1
        else f"Knowing all facts, {words.count(n)} of {words.count(result.records)} people "
        "look like the person."
    )
    many = f" {alone} minimal sets of facts single the person out."
    sets = {0: "", 1: " One minimal set of facts singles the person out."}.get(alone, many)
    shown = [table] if table.row_count else []
    return Group(*shown, Text(alike + sets), Text(), assessment(result.learnt))


def refinement(result: Refinement) -> RenderableType:
    """Whether A refines B, in words, with a counterexample."""
    row = result.frame.row(0, named=True)
    a, b = words.listed(row["a"]), words.listed(row["b"])
    if result.refines:
        return Text(
            f"Yes: who knows {a} knows {b}, too, so knowing the first never leaks less than "
            "knowing the second, whatever the secret, the prior and the gain."
        )
    parts: list[RenderableType] = [
        Text(
            f"No: in {words.count(row['violating_blocks'])} of {words.count(row['blocks'])} blocks "
            f"of {a} people differ in {b}; {words.count(row['violating_people'])} of "
            f"{words.count(row['records'])} people stand there. For some secret the first leaks "
            "less than the second."
        )
    ]
    if result.counterexample is not None:
        parts += [Text("The smallest such block:"), frame(result.counterexample)]
    return Group(*parts)


def frame(data: pl.DataFrame) -> Table:
    """Any table of results, cell by cell."""
    numeric = [i for i, t in enumerate(data.dtypes) if t.is_numeric()]
    table = cells.table(data.columns, right=numeric)
    for row in data.iter_rows():
        table.add_row(*(Text(cells.cell(v)) for v in row))
    return table


def blocks(data: pl.DataFrame, secrets: Sequence[str]) -> RenderableType:
    """Blocks of a partition: what is known, how many people, and the values of each secret."""
    known = data.width - 2 - 4 * len(secrets)
    table = cells.table([*data.columns[:known], "size", *secrets], right=(known,))
    for row in data.iter_rows():
        counts = row[known + 5 :: 4]
        shown = [*map(cells.cell, row[:known]), words.count(row[known]), *map(cells.cell, counts)]
        table.add_row(*map(Text, shown))
    if not secrets:
        return table
    return Group(table, Text("People with each value in brackets; the first is the best guess."))


def description(data: pl.DataFrame, values: pl.DataFrame | None) -> RenderableType:
    """The columns of a dataset, as people read them, and their frequent values."""
    heads = ["column", "type", "missing", "distinct", "entropy (bits)", "singled out", "role?"]
    table = cells.table([*heads, "why"], right=(2, 3, 4, 5))
    for row in data.iter_rows(named=True):
        numbers = ["", "", "", ""]
        if row["records"] is not None:
            numbers = [
                words.count(row["missing"]),
                words.count(row["distinct"]),
                f"{row['entropy']:.2f}",
                words.percent(row["singled_out_share"]),
            ]
        name = cells.cell(row["column"])
        shown = [name, row["type"], *numbers, row["suggested_role"], row["why"]]
        table.add_row(*map(Text, shown))
    return table if values is None else Group(table, frame(values))


def rows(names: Sequence[str], values: Iterable[Sequence[Any]]) -> Table:
    """Any rows under their names."""
    table = cells.table(names)
    for row in values:
        table.add_row(*(Text(cells.cell(v)) for v in row))
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
    lines += [_line([cells.cell(v) for v in row]) for row in data.iter_rows()]
    return "\n".join(lines) + "\n"


def _line(texts: Sequence[str], *, escape: bool = True) -> str:
    if escape:
        marks = str.maketrans({c: f"\\{c}" for c in "\\|*_`<>[]"} | {"\n": " ", "\r": " "})
        texts = [text.translate(marks) for text in texts]
    return f"| {' | '.join(texts)} |"
