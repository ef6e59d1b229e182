"""Releases compared with the original, as people read them."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from qifsql.commands.compare.analyses import view as analyses
from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.comparisons import loss_cells, risks
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import said
from qifsql.presentation.parts import Bad, Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.presentation.risk_utility import in_view, risk_utility
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

LOST = (
    "Generalised: the share of cells that contain several values. Penalty: the mean share of all "
    "values that a cell covers, 100 % for a cell that covers all. TV: total variation between a "
    "column's distribution in the original and in the release, each cell spread evenly over its "
    "values. KL: extra bits per record if the release is taken for the original."
)
RAW_VALUES = (
    "The adversary knows the raw values of {people} of the original, and looks for the records "
    "whose cells contain them. Records found: the mean. Singled out: with one record. Misled: the "
    "own record does not contain the values. Best guess: the chance to name the own record, and "
    "the mean share of the most frequent secret."
)

OUTSIDE = (
    "Of cells without a value of the original, a number (not a date) between its values, such as a "
    "centroid, stands for the shortest stretch around it with as many records as its class, so "
    "that its penalty is at least this; others count as lost."
)

KIND = Kind(
    columns=("release", "file", "crs_posterior_deterministic"),
    shared=("columns", "pairs", "recipients"),
)


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return success on each release for every question, then the loss of the releases."""
    rows = in_view(frame, "cells").to_dicts()
    first = [row for row in rows if row["secret"] == rows[0]["secret"]]  # loss is in each row
    parts: list[Part] = risks(rows, first, said("release"))
    # Total variation and Kullback-Leibler divergence.
    heads = [said("generalised"), said("penalty"), said("TV"), said("KL (bits)")]
    # A column for suppressed records, if there are any.
    has_suppressed = any(row["suppressed"] for row in first)
    suppressed = [said("suppressed")] if has_suppressed else []
    lost = Table.of([said("release"), *suppressed, *heads], range(1, 5 + has_suppressed))
    for row in {row["file"]: row for row in first}.values():  # people: several rows per file
        records = [words.count(row["suppressed"])] if has_suppressed else []
        lost.add_row(escaping.cell(row["release"]), *records, *loss_cells(row))
    parts += _compatible(in_view(frame, "compatible").to_dicts())
    parts += [Heading(said("Information loss of the releases")), lost, Paragraph(said(LOST))]
    if "view" in frame.columns and tables["columns"]["outside"].sum():  # older ones: elsewhere
        parts.append(Paragraph(said(OUTSIDE)))
    if "recipients" in tables:
        parts += _recipients(tables["recipients"])
    return [*parts, *_column_losses(tables["columns"], heads), *analyses.parts(tables)]


def _compatible(rows: Sequence[Row]) -> list[Part]:
    """Return a table of what people with raw knowledge find in each release, [] without rows."""
    if not rows:
        return []
    heads = [said("release"), said("records found"), said("singled out"), said("best guess")]
    has_secret = rows[0]["secret"] is not None
    of_secret = [said("secret"), said("certain"), said("best guess")] if has_secret else []
    table = Table.of([*heads, said("misled"), *of_secret], range(1, 5))
    for row in rows:
        cells = [
            *(words.fixed(row["candidates"], 2), words.count(row["singled_out"])),
            *(words.percent(row["posterior_probabilistic"]), words.count(row["misled"])),
        ]
        if has_secret:
            guess = words.percent(row["cas_posterior_probabilistic"])
            certain = words.count(row["individuals_certain"])
            cells += [escaping.cell(row["secret"]), certain, guess]
        table.add_row(escaping.cell(row["release"]), *cells)
    heading = Heading(said("Known raw values: the records that may be a person's"))
    return [heading, table, Paragraph(said(RAW_VALUES, people=words.people()))]


def _recipients(table: pl.DataFrame) -> list[Part]:
    """Return a table with a row per release, and the risks and the verdict for each recipient."""
    names = list(dict.fromkeys(table["name"]))
    risks_table = Table.of([said("release"), *map(escaping.cell, names)], ())
    for (_, release), rows in table.group_by("file", "release", maintain_order=True):
        by_name = {row["name"]: row for row in rows.iter_rows(named=True)}
        cells = [_risk_text(by_name[name]) if name in by_name else "-" for name in names]
        risks_table.add_row(escaping.cell(release), *cells)
    text = said(
        "The highest and the average risk of each recipient: the chance that they try, times that "
        "of success."
    )
    return [Heading(said("Recipients of the policy")), risks_table, Paragraph(text)]


def _risk_text(row: Row) -> str:
    """Return the risks of a recipient for a release; NO marks what is not accepted."""
    text = f"{words.percent(row['maximum'])} / {words.percent(row['average'])}"
    return text if row["met"] else Bad(f"{text} {said('NO')}")


def _column_losses(lost: pl.DataFrame, heads: Sequence[str]) -> list[Part]:
    """Return a table for each release: the losses of its quasi-identifiers, one a line."""
    parts: list[Part] = []
    for (_, release), rows in lost.filter(pl.col("file") > 1).group_by(
        "file", "release", maintain_order=True
    ):
        table = Table.of([said("column"), *heads], range(1, 5))
        for row in rows.iter_rows(named=True):
            table.add_row(escaping.cell(row["quasi_identifier"]), *loss_cells(row))
        title = said("{release} by quasi-identifier", release=escaping.cell(release))
        parts += [Heading(title, 2), table]
    return parts


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    return said("Releases compared with the original: {name}", name=stored.name), [
        *drawn("compare", partial(risk_utility, in_view(stored.frame, "cells"))),
        *parts(stored.frame, stored.details, stored.spec),
    ]
