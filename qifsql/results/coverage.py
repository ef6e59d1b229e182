"""Columns that no rule covers: their table, and the reasons why some are not measured."""

import polars as pl

SCHEMA: dict[str, pl.DataType] = {
    "column": pl.String(),
    "role": pl.String(),
    "people": pl.Int64(),
    "singled_out": pl.Int64(),
    "share": pl.Float64(),
    "added": pl.Int64(),
    "reason": pl.String(),
}
"""One row for all uncovered columns together (``column`` is NULL), then one for each of them.

An adversary who knows the named quasi-identifiers and the column (first row: all columns) singles
out ``singled_out`` of the ``people``; ``share`` is their share in [0, 1]. ``added`` are those whom
the named quasi-identifiers alone do not single out. ``reason`` states why a column is not measured.
Its numbers are then NULL, and the first row does not include it. A missing value is a value."""


IGNORED = "ignored by the policy"
OF_NOBODY = "records of a synthetic release are of nobody"
NAMELESS = "it has no name"
ELSEWHERE = "the quasi-identifiers are those of the population"
