"""Under each result: measures, and the tables of details that belong to it."""

from collections.abc import Mapping
from typing import Any

import polars as pl
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from qifsql.report import cells, words

BAR = 40  # characters of the longest bar of a histogram
WIDE = 10  # percent that a bar stands for


def measured(row: Mapping[str, Any]) -> list[RenderableType]:
    """The measures of a row beside success, where there are any."""
    table = cells.table(["", "before", "after", "difference"], right=(1, 2, 3))
    if "prior_entropy" in row:
        before, after, mutual = (
            row[c] for c in ("prior_entropy", "posterior_entropy", "mutual_information")
        )
        table.add_row("uncertainty (Shannon, bits)", *(f"{x:.4g}" for x in (before, after, mutual)))
    if "prior_guessing" in row:
        before, after = row["prior_guessing"], row["posterior_guessing"]
        table.add_row("guesses until right", *(f"{x:,.4g}" for x in (before, after)), "")
    if row.get("capacity") is not None:
        table.add_row("capacity (at most)", "", "", words.factor(row["capacity"]))
    for name in ("prosecutor", "journalist", "marketer"):
        if row.get(f"{name}_risk") is not None:
            table.add_row(f"{name} risk", "", words.percent(row[f"{name}_risk"]), "")
    return [Padding(table, (0, 0, 0, 1), expand=False)] if table.row_count else []


def of_row(row: Mapping[str, Any], details: Mapping[str, pl.DataFrame]) -> list[RenderableType]:
    """The details of one row of results."""
    parts: list[RenderableType] = []
    for name, draw in DRAWN.items():
        if name in details:
            own = details[name].filter(attack_id=row["attack_id"])
            parts += draw(row, own) if own.height else []
    return [Padding(part, (0, 0, 1, 2), expand=False) for part in parts]


def _histogram(_row: Mapping[str, Any], own: pl.DataFrame) -> list[RenderableType]:
    """A bar for every ten percent of success; the last holds 100 alone."""
    bands = own.group_by(band=pl.col("bin") // WIDE).agg(n=pl.col("individuals").sum()).sort("band")
    most = max(bands["n"].to_list())
    table = cells.table(["success", "people", ""], right=(0, 1))
    for band, n in bands.iter_rows():
        label = "100 %" if band == 100 // WIDE else f"{band * WIDE}-{band * WIDE + WIDE - 1} %"
        bar = "\N{FULL BLOCK}" * round(BAR * n / most)
        table.add_row(label, words.count(n), bar or ("\N{LEFT ONE EIGHTH BLOCK}" if n else ""))
    return [table]


def _thresholds(row: Mapping[str, Any], own: pl.DataFrame) -> list[RenderableType]:
    table = cells.table(["at least", "people", "share"], right=(0, 1, 2))
    for line in own.iter_rows(named=True):
        at = words.success(row, line["threshold"])
        table.add_row(at, words.count(line["individuals"]), words.percent(line["share"]))
    return [table]


def _quantiles(row: Mapping[str, Any], own: pl.DataFrame) -> list[RenderableType]:
    table = cells.table(["share of people", "at most"], right=(0, 1))
    for line in own.iter_rows(named=True):
        share = words.percent(line["quantile"])
        table.add_row(share, words.success(row, line["success"]))
    return [table]


def _groups(row: Mapping[str, Any], own: pl.DataFrame) -> list[RenderableType]:
    by = own["by"][0]
    names = [by, "people", "singled out", "certain", "success", "guessed right"]
    table = cells.table(names, right=(1, 2, 3, 4, 5))
    for line in own.iter_rows(named=True):
        right = line["guessed_right"]
        table.add_row(
            Text(cells.cell(line["group"])),
            words.count(line["individuals"]),
            words.count(line["singled_out"]),
            words.count(line["individuals_certain"]),
            words.success(row, line["posterior_probabilistic"]),
            "" if right is None else words.percent(right),
        )
    return [table, Text(words.gap(row, own.to_dicts()))]


DRAWN = {
    "histogram": _histogram,
    "thresholds": _thresholds,
    "quantiles": _quantiles,
    "groups": _groups,
}
