"""Releases beside the original, and changes beside what is there, as people read them."""

from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any

import polars as pl

from qifsql.errors import several
from qifsql.report import cells, words
from qifsql.report.parts import Bad, Heading, Paragraph, Part, Spec, Table, Tables

Row = Mapping[str, Any]
LOST = (
    "Generalised: the share of cells that contain several values. Penalty: the mean share of all "
    "values that a cell spans, 100 % when nothing is told. TV: total variation, how much of a "
    "column's distribution is moved when cells are spread evenly over what they contain. KL: bits "
    "lost for each record by who takes that for the original."
)


def comparison(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Success on each release for every question, then what the releases have lost."""
    rows = frame.to_dicts()
    first = [row for row in rows if row["secret"] == rows[0]["secret"]]
    parts: list[Part] = _risks(rows, first, "release")
    lost = Table.of(
        ["release", "suppressed", "generalised", "penalty", "TV", "KL (bits)"], range(1, 6)
    )
    for row in first:
        lost.add_row(cells.cell(row["release"]), words.count(row["suppressed"]), *_lost(row))
    columns = Table.of(
        ["release", "quasi-identifier", "generalised", "penalty", "TV", "KL (bits)"], range(2, 6)
    )
    for row in tables["columns"].iter_rows(named=True):
        if row["file"] > 1:
            named = cells.cell(row["release"]), cells.cell(row["quasi_identifier"])
            columns.add_row(*named, *_lost(row))
    parts += [Heading("What the releases have lost"), lost, Paragraph(LOST)]
    parts += [Heading("By quasi-identifier", 2), columns]
    return parts


def what_if(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Success before and after each change for every question; what a search has found."""
    rows = frame.to_dicts()
    first = [row for row in rows if row["secret"] == rows[0]["secret"]]
    parts: list[Part] = []
    if spec["bounds"]:
        parts += _found(first, spec)
    parts += _risks(rows, first, "change", penalty=True)
    parts.append(
        Paragraph(
            "Penalty: the mean share of all values that a cell would span, 100 % for a "
            "quasi-identifier that is dropped. Nothing was written."
        )
    )
    return parts


def named(row: Row) -> str:
    """The release that a row is about: the file, or what is changed, in words."""
    if "changes" not in row:
        return cells.cell(row["release"])
    if row["release"] == "before":
        return "(as it is)"
    if row["release"] == "together":
        return "(all together)"
    return " + ".join(cells.cell(text) for text in row["changes"])


def _found(rows: Sequence[Row], spec: Spec) -> list[Part]:
    """The bounds, and the smallest change that keeps them."""
    asked = " and ".join(cells.cell(text) for text in spec["bounds"])
    tried = f"{several(rows[0]['tried'], 'release')} measured"
    if not any(row["met"] for row in rows):
        return [Paragraph(f"No change keeps {asked} ({tried}).", strong=True)]
    if rows[-1]["release"] == "before":
        return [Paragraph(f"As it is, the release keeps {asked}.", strong=True)]
    told = f"The smallest change that keeps {asked}: {named(rows[-1])} ({tried})."
    ranked = (
        "Smallest: fewest quasi-identifiers changed, then fewest steps, then most blocks left. To "
        "drop one is the last step of each."
    )
    return [Paragraph(told, strong=True), Paragraph(ranked)]


def _risks(
    rows: Sequence[Row],
    first: Sequence[Row],
    head: str,
    *,
    penalty: bool = False,
) -> list[Part]:
    """A table for re-identification, and one for each secret."""
    heads = [head, "records", "blocks", "k", "certain", "best guess"]
    table = Table.of(heads + ["penalty"] * penalty, range(1, 7))
    for row in first:
        counts = (words.count(row[name]) for name in ("records", "blocks", "k"))
        more = [words.percent(row["certainty_penalty"])] if penalty else []
        table.add_row(named(row), *counts, *_success(row, "crs"), *more)
    before = words.chance(first[0]["crs_prior_probabilistic"])
    parts: list[Part] = [Heading("Re-identification (CRS)"), table]
    parts.append(
        Paragraph(
            "Certain: people who are alone in their block. Best guess: how often whose record it "
            f"is is guessed right in one try; without the release {before}."
        )
    )
    secrets = dict.fromkeys(row["secret"] for row in rows if row["secret"] is not None)
    for secret in secrets:
        own = [row for row in rows if row["secret"] == secret]
        told = Table.of([head, "l", "certain", "best guess", "without it"], range(1, 5))
        for row in own:
            prior = words.percent(row["cas_prior_probabilistic"])
            told.add_row(named(row), words.count(row["l"]), *_success(row, "cas"), prior)
        parts += [Heading(f"Inference of {cells.cell(secret)} (CAS)"), told]
    if secrets:
        parts.append(
            Paragraph(
                "l: the least number of different values in a block. Certain: people in blocks "
                "with one value. Without it: the best guess of who has no release, only its "
                "distribution."
            )
        )
    return parts


def _success(row: Row, model: str) -> tuple[str, str]:
    sure, best = (row[f"{model}_posterior_{name}"] for name in ("deterministic", "probabilistic"))
    return words.percent(sure), words.percent(best)


def _lost(row: Row) -> tuple[str, ...]:
    shares = (
        words.percent(row[name]) for name in ("generalised", "certainty_penalty", "total_variation")
    )
    told = Bad("infinite") if isinf(row["divergence"]) else f"{row['divergence']:.4f}"
    return (*shares, told)
