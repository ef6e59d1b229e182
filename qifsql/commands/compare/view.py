"""Releases compared with the original, as people read them."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from qifsql.presentation import escaping, words
from qifsql.presentation.comparisons import loss_cells, risks
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.presentation.risk_utility import risk_utility
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

LOST = (
    "Generalised: the share of cells that contain several values. Penalty: the mean share of all "
    "values that a cell covers, 100 % for a cell that covers all. TV: total variation between a "
    "column's distribution in the original and in the release, each cell spread evenly over its "
    "values. KL: extra bits per record if the release is taken for the original."
)


OUTSIDE = (
    "Of cells without a value of the original, a number between its values, such as a centroid, "
    "stands for the shortest stretch around it with as many records as its class, so that its "
    "penalty is at least this; others count as lost."
)

KIND = Kind(columns=("release", "file", "crs_posterior_deterministic"), shared=("columns",))


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return success on each release for every question, then the loss of the releases."""
    rows = frame.to_dicts()
    first = [row for row in rows if row["secret"] == rows[0]["secret"]]  # of the first secret
    parts: list[Part] = risks(rows, first, said("release"))
    heads = [said("generalised"), said("penalty"), said("TV"), said("KL (bits)")]
    # A column for suppressed records, if there are any.
    has_suppressed = any(row["suppressed"] for row in first)
    suppressed = [said("suppressed")] if has_suppressed else []
    lost = Table.of([said("release"), *suppressed, *heads], range(1, 5 + has_suppressed))
    for row in {row["file"]: row for row in first}.values():  # people: several rows per file
        records = [words.count(row["suppressed"])] if has_suppressed else []
        lost.add_row(escaping.cell(row["release"]), *records, *loss_cells(row))
    parts += [Heading(said("Information loss of the releases")), lost, Paragraph(said(LOST))]
    if tables["columns"]["outside"].sum():
        parts.append(Paragraph(said(OUTSIDE)))
    return [*parts, *_column_losses(tables["columns"], heads)]


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
        *drawn("compare", partial(risk_utility, stored.frame)),
        *parts(stored.frame, stored.details, stored.spec),
    ]
