"""Columns that no rule covers: their table, and the reason why one is not measured."""

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

``singled_out`` of the ``people`` are alone in their block for who knows the named
quasi-identifiers and the column, or all columns; ``share`` is that in [0, 1], ``added`` are those
whom the named quasi-identifiers alone do not single out. ``reason`` says why a column is not
measured; its numbers are then NULL, and it is left out of the first row. A missing value is a
value."""


IGNORED = "ignored by the policy"
NAMELESS = "it has no name"
ELSEWHERE = "the quasi-identifiers are those of the population"
