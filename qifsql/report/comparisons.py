"""Releases beside the original, and changes beside what is there, as people read them."""

from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any

import polars as pl

from qifsql.report import cells, words
from qifsql.report.language import counted, said
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
    parts: list[Part] = _risks(rows, first, said("release"))
    heads = [said("generalised"), said("penalty"), said("TV"), said("KL (bits)")]
    left_out = any(row["suppressed"] for row in first)
    suppressed = [said("suppressed")] * left_out
    lost = Table.of([said("release"), *suppressed, *heads], range(1, 5 + left_out))
    for row in first:
        n = [words.count(row["suppressed"])] * left_out
        lost.add_row(cells.cell(row["release"]), *n, *_lost(row))
    parts += [Heading(said("What the releases have lost")), lost, Paragraph(said(LOST))]
    return [*parts, *_columns(tables["columns"], heads)]


def _columns(lost: pl.DataFrame, heads: Sequence[str]) -> list[Part]:
    """A table for each release: what its quasi-identifiers have lost."""
    parts: list[Part] = []
    for (_, release), rows in lost.filter(pl.col("file") > 1).group_by(
        "file", "release", maintain_order=True
    ):
        table = Table.of([said("column"), *heads], range(1, 5))
        for row in rows.iter_rows(named=True):
            table.add_row(cells.cell(row["quasi_identifier"]), *_lost(row))
        title = said("{release} by quasi-identifier", release=cells.cell(release))
        parts += [Heading(title, 2), table]
    return parts


def what_if(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Success before and after each change for every question; what a search has found."""
    rows = frame.to_dicts()
    first = [row for row in rows if row["secret"] == rows[0]["secret"]]
    parts: list[Part] = []
    if spec["bounds"]:
        parts += _found(first, spec)
    parts += _risks(rows, first, said("change"), penalty=True)
    meaning = said(
        "Penalty: the mean share of all values that a cell would span, 100 % for a "
        "quasi-identifier that is dropped. Nothing was written."
    )
    return [*parts, Paragraph(meaning)]


def named(row: Row) -> str:
    """The release that a row is about: the file, or what is changed, in words."""
    if "changes" not in row:
        return cells.cell(row["release"])
    if row["release"] == "before":
        return said("(as it is)")
    if row["release"] == "together":
        return said("(all together)")
    return " + ".join(cells.cell(text) for text in row["changes"])


def _found(rows: Sequence[Row], spec: Spec) -> list[Part]:
    """The bounds, and the smallest change that keeps them."""
    bounds = words.listed([cells.cell(text) for text in spec["bounds"]])
    tried = counted("{n} release measured", "{n} releases measured", rows[0]["tried"])
    if not any(row["met"] for row in rows):
        none = said("No change keeps {bounds} ({tried}).", bounds=bounds, tried=tried)
        return [Paragraph(none, strong=True)]
    if rows[-1]["release"] == "before":
        kept = said("As it is, the release keeps {bounds}.", bounds=bounds)
        return [Paragraph(kept, strong=True)]
    told = "The smallest change that keeps {bounds}: {change} ({tried})."
    smallest = said(told, bounds=bounds, change=named(rows[-1]), tried=tried)
    ranked = said(
        "Smallest: fewest quasi-identifiers changed, then fewest steps, then most blocks left. To "
        "drop one is the last step of each."
    )
    return [Paragraph(smallest, strong=True), Paragraph(ranked)]


def _risks(
    rows: Sequence[Row],
    first: Sequence[Row],
    head: str,
    *,
    penalty: bool = False,
) -> list[Part]:
    """A table for re-identification, and one for each secret."""
    guessed = [said("certain"), said("best guess")]
    before = [row["crs_prior_probabilistic"] for row in first]
    differ = len(set(before)) > 1  # releases of other sizes: to each its own prior
    heads = [head, said("records"), said("blocks"), "k", *guessed, *[said("without it")] * differ]
    table = Table.of(heads + [said("penalty")] * penalty, range(1, 8))
    for row, prior in zip(first, before, strict=True):
        counts = (words.count(row[name]) for name in ("records", "blocks", "k"))
        more = [words.percent(prior)] * differ
        more += [words.percent(row["certainty_penalty"])] if penalty else []
        table.add_row(named(row), *counts, *_success(row, "crs"), *more)
    parts: list[Part] = [Heading(said("Re-identification (CRS)")), table]
    parts.append(Paragraph(_guessing(words.chance(before[0]), differ=differ)))
    secrets = dict.fromkeys(row["secret"] for row in rows if row["secret"] is not None)
    for secret in secrets:
        own = [row for row in rows if row["secret"] == secret]
        told = Table.of([head, "l", *guessed, said("without it")], range(1, 5))
        for row in own:
            prior = words.percent(row["cas_prior_probabilistic"])
            told.add_row(named(row), words.count(row["l"]), *_success(row, "cas"), prior)
        heading = said("Inference of {secret} (CAS)", secret=cells.cell(secret))
        parts += [Heading(heading), told]
    if secrets:
        meaning = said(
            "l: the least number of different values in a block. Certain: people in blocks with "
            "one value. Without it: the best guess of who has no release, only its distribution."
        )
        parts.append(Paragraph(meaning))
    return parts


def _guessing(before: str, *, differ: bool) -> str:
    """What the chances of re-identification mean, and what they are without a release."""
    if differ:
        return said(
            "Certain: people who are alone in their block. Best guess: the chance to name the "
            "person of a record in one try. Without it: the same for who has no release, only "
            "the list of the people in it, 1 in as many as there are records."
        )
    return said(
        "Certain: people who are alone in their block. Best guess: the chance to name the person "
        "of a record in one try; without the release {before}.",
        before=before,
    )


def _success(row: Row, model: str) -> tuple[str, str]:
    sure, best = (row[f"{model}_posterior_{name}"] for name in ("deterministic", "probabilistic"))
    return words.percent(sure), words.percent(best)


def _lost(row: Row) -> tuple[str, ...]:
    shares = (
        words.percent(row[name]) for name in ("generalised", "certainty_penalty", "total_variation")
    )
    told: str = Bad(said("infinite"))
    if not isinf(row["divergence"]):
        told = words.fixed(row["divergence"], 4)
    return (*shares, told)
