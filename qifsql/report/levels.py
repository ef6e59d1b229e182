"""Levels as people read them: what blocks keep, who lacks what is wanted, which attacks bite."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qifsql.errors import several
from qifsql.report import cells, listings, words
from qifsql.report.parts import Heading, Paragraph, Part, Spec, Table, Tables

SAID = {
    "k": "k, people in a block",
    "average_class_size": "average class size",
    "k_map": "k-map",
    "delta_presence_min": "presence, least share",
    "delta_presence_max": "presence, largest share",
    "l_distinct": "l, distinct values",
    "l_entropy": "l, entropy",
    "t_equal": "t, equal distance",
    "t_ordered": "t, ordered",
    "t_hierarchical": "t, hierarchical",
    "alpha": "alpha",
    "basic_beta": "beta, basic",
    "enhanced_beta": "beta, enhanced",
    "delta_disclosure": "delta-disclosure",
}
SAFER = ("k", "k_map", "delta_presence_min", "l_distinct", "l_entropy")
BELOW = ("l_recursive_c", "delta_disclosure")


def levels(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """The levels of blocks and of each secret, their worst blocks, and the attacks."""
    rows = frame.to_dicts()
    first = rows[0]
    people, blocks = several(first["people"], "person"), several(first["blocks"], "block")
    known = words.listed(spec["qids"])
    parts: list[Part] = [
        Heading(f"{people} in {blocks}, knowing {known}"),
        *_table([row for row in rows if row["secret"] is None]),
    ]
    for secret in dict.fromkeys(row["secret"] for row in rows if row["secret"] is not None):
        own = [row for row in rows if row["secret"] == secret]
        parts += [Heading(f"The secret {secret}"), *_table(own), *_worst(own)]
        bites = [row for row in tables["attacks"].to_dicts() if row["secret"] == secret]
        parts += [Paragraph(_bite(row)) for row in bites]
    if "worst" in tables:
        where = tables["worst"].with_columns(pl.col("secret").fill_null(""))
        parts += [Heading("Where the worst blocks are"), listings.frame(where)]
    return parts


def _table(rows: Sequence[Mapping[str, Any]]) -> list[Part]:
    """What all blocks keep; what is wanted, and who lacks it."""
    wanted = any(row["wanted"] is not None for row in rows)
    names = ["what all blocks keep", "level", "people at it"]
    table = Table.of([*names, *(["wanted", "people who lack it"] if wanted else [])], (1, 2, 4))
    for row in rows:
        at = "" if row["people_at_worst"] is None else words.count(row["people_at_worst"])
        line = [_said(row), _level(row["value"]), at]
        if wanted and row["wanted"] is not None:
            sign = ">=" if row["measure"] in SAFER else "<" if row["measure"] in BELOW else "<="
            line += [f"{sign} {_level(row['wanted'])}", _lack(row)]
        table.add_row(*line)
    return [table]


def _said(row: Mapping[str, Any]) -> str:
    if row["measure"] == "l_recursive_c":
        return f"c, recursive, l = {row['l']}"
    return SAID[row["measure"]]


def _level(value: float | None) -> str:
    if value is None:
        return "none"
    return words.count(int(value)) if value == int(value) else f"{value:.6g}"


def _lack(row: Mapping[str, Any]) -> str:
    if not row["people_in_violation"]:
        return "nobody"
    blocks = several(row["blocks_in_violation"], "block")
    return f"{words.count(row['people_in_violation'])} in {blocks}"


def _worst(rows: Sequence[Mapping[str, Any]]) -> list[Part]:
    """The worst blocks, each with the levels that it has."""
    found: dict[tuple[int, str], list[str]] = {}
    for row in rows:
        listed = row.get("worst_counts")  # what is shared has none
        if listed is None:
            continue
        shown = cells.cell(listed)
        if row["worst_values"] > len(listed):  # the rest is not listed
            shown = cells.cell(listed[: cells.SHOWN]) + ", and more"
        found.setdefault((row["worst_size"], shown), []).append(row["measure"])
    if not found:
        return []
    table = Table.of(["a worst block of", "size", "people with each value"], (1,))
    for (size, shown), measures in found.items():
        table.add_row(", ".join(measures), words.count(size), shown)
    return [table]


def _bite(row: Mapping[str, Any]) -> str:
    """Whom an attack bites, in a sentence."""
    name = row["attack"].capitalize()
    if row["attack"] == "background":
        name = "Background knowledge"
    if not row["people"]:
        level = f" at level {row['level']}" if row["level"] is not None else ""
        return f"{name}{level}: bites nobody."
    there = f"{several(row['people'], 'person')} in {several(row['blocks'], 'block')}"
    told = {
        "homogeneity": f"{there} of one value: who finds the block knows it.",
        "background": f"{there} of two values: who knows it is not the one knows the other.",
        "similarity": f"{there} of several values under one node of level {row['level']}.",
        "skewness": f"{there} where a value is at least {_level(row['factor'])} times as likely as "
        "in the release.",
    }
    return f"{name}: {told[row['attack']]}"
