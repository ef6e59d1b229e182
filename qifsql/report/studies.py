"""A study on the terminal: every attack in a line, the best subsets of sweeps, checks at a glance.

Takes plain tables, for a study writes reports itself.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.report import cells, words
from qifsql.report.language import said
from qifsql.report.parts import Bad, Heading, Paragraph, Part, Table
from qifsql.report.verdicts import whom


def study(frame: pl.DataFrame, details: Mapping[str, pl.DataFrame]) -> list[Part]:
    """All entries: what they found, and what became of them."""
    drawn = {"": _attacks, "sweeps": _sweeps, "borders": _borders, "checks": _checks}
    heads = {
        "": "Attacks",
        "sweeps": "Sweeps: the best subset of each size",
        "borders": "Borders: the smallest subsets that are risky, the largest that are safe",
        "checks": "Checks",
    }
    parts: list[Part] = []
    for name, draw in drawn.items():
        table = details.get(name) if name else frame
        if table is not None and table.height:
            parts += [Heading(heads[name]), draw(table)]
    if not parts:
        parts = [Paragraph("Nothing was run.")]
    return [*parts, _entries(details["entries"])]


def _attacks(table: pl.DataFrame) -> Table:
    heads = ["name", "model", "of", "known", "certain", "before", "after", "degradation"]
    made = Table.of(heads, right=(4, 5, 6, 7))
    for row in table.iter_rows(named=True):
        ratio = row["degradation_probabilistic"]
        gain = "" if row.get("gain") in (None, "identity") else f", gain {row['gain']}"
        made.add_row(
            row["name"],
            row["model"],
            cells.cell((row["secret"] or "whose record it is") + gain),
            cells.cell(words.listed(row["qids"])),
            words.percent(row["posterior_deterministic"]),
            words.success(row, row["prior_probabilistic"]),
            words.success(row, row["posterior_probabilistic"]),
            "undefined" if ratio is None else words.factor(ratio),
        )
    return made


def _sweeps(table: pl.DataFrame) -> Table:
    heads = ["name", "model", "of", "qids", "best for", "subset", "certain", "best guess"]
    made = Table.of([*heads, "degradation"], right=(3, 6, 7, 8))
    for row in table.iter_rows(named=True):
        made.add_row(
            *_question(row),
            str(row["n_qids"]),
            row["best_for"],
            cells.cell(", ".join(row["qids"])),
            words.percent(row["posterior_deterministic"]),
            words.percent(row["posterior_probabilistic"]),
            words.factor(row["degradation_probabilistic"]),
        )
    return made


def _borders(table: pl.DataFrame) -> Table:
    made = Table.of(["name", "model", "of", "measure", "border", "subset", "success"], (6,))
    for row in table.iter_rows(named=True):
        subset = cells.cell(", ".join(row["qids"])) or "nothing"
        success = words.percent(row["posterior"])
        made.add_row(*_question(row), row["measure"], row["border"], subset, success)
    return made


def _checks(table: pl.DataFrame) -> Table:
    made = Table.of(["name", "rule", "of", "measure", "value", "wanted", "met"], right=(1, 4))
    for row in table.iter_rows(named=True):
        made.add_row(
            row["name"],
            str(row["rule"]),
            whom(row),
            row["measure"],
            cells.cell(row["value"]),
            row["wanted"],
            said("yes") if row["met"] else Bad(said("NO")),
        )
    return made


def _entries(table: pl.DataFrame) -> Table:
    made = Table.of(["name", "kind", "datasets", "state", "seconds"], right=(4,))
    for row in table.iter_rows(named=True):
        seconds = "" if row["seconds"] is None else f"{row['seconds']:.1f}"
        datasets = cells.cell(row["datasets"])
        made.add_row(row["name"], row["kind"], datasets, row["state"], seconds)
    return made


def _question(row: Mapping[str, Any]) -> list[str]:
    of = cells.cell(row["secret"] or "whose record it is")
    return [row["name"], row["model"], of]
