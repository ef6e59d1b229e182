"""Attacks as people read them: before, after, and what it means, with a sentence under each."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import polars as pl

from qifsql.report import details, keyless, words
from qifsql.report.language import said
from qifsql.report.parts import Heading, Paragraph, Part, Table

Row = Mapping[str, Any]


def attack(rows: Sequence[Row], tables: Mapping[str, pl.DataFrame]) -> list[Part]:
    """The results and their details; of a progressive attack a line for each dataset more."""
    if rows and "knowledge" in rows[0]:
        return keyless.attack(rows, tables)
    if len({row["datasets"] for row in rows}) > 1:
        return _progress(rows)
    parts: list[Part] = []
    for row in rows:
        parts.append(Heading(words.heading(row)))
        parts += question(row, tables)
    return parts


def question(row: Row, tables: Mapping[str, pl.DataFrame]) -> list[Part]:
    """One row of results: its numbers, its sentence, its details."""
    told = Paragraph(words.sentence(row))
    return [_successes(row), *details.measured(row), told, *details.of_row(row, tables)]


def _successes(row: Row) -> Table:
    heads = ["", said("before"), said("after"), said("degradation")]
    table = Table.of(heads, right=(1, 2, 3))
    if row.get("target") is None:
        certain = f"+ {words.percent(row['degradation_deterministic'])}"
        before, after = (
            words.percent(row[f"{when}_deterministic"]) for when in ("prior", "posterior")
        )
    else:
        yes = {0.0: said("no"), 1.0: said("yes")}
        before, after, certain = (
            yes[row[f"{name}_deterministic"]] for name in ("prior", "posterior", "degradation")
        )
    table.add_row(said("certain (deterministic)"), before, after, certain)
    best = said("best guess (probabilistic)")
    table.add_row(
        best if words.is_chance(row) else said("expected gain of the best guess"),
        words.success(row, row["prior_probabilistic"]),
        words.success(row, row["posterior_probabilistic"]),
        words.degradation(row),
    )
    if row.get("best_guess") is not None:
        table.add_row(said("the best guess is"), "", row["best_guess"])
    return table


def _progress(rows: Sequence[Row]) -> list[Part]:
    """Every question with the focal dataset alone, then one more each time (PoPETs Table 8)."""
    parts: list[Part] = []
    for _, group in groupby(sorted(rows, key=_question), key=_question):
        own = sorted(group, key=lambda row: row["datasets"])
        parts.append(Heading(words.heading(own[-1])))
        parts += [steps(own), Paragraph(words.sentence(own[-1]))]
    return parts


def steps(rows: Sequence[Row]) -> Table:
    """One question with ever more datasets."""
    heads = [said("datasets"), said("blocks"), said("certain"), said("degradation")]
    heads += [said("best guess"), said("degradation")]
    table = Table.of(heads, right=range(6))
    for row in rows:
        table.add_row(
            str(row["datasets"]),
            words.count(row["blocks"]),
            words.percent(row["posterior_deterministic"]),
            f"+ {words.percent(row['degradation_deterministic'])}",
            words.success(row, row["posterior_probabilistic"]),
            words.degradation(row),
        )
    return table


def _question(row: Row) -> tuple[bool, str, str]:
    return row["secret"] is not None, row["secret"] or "", row.get("gain") or ""
