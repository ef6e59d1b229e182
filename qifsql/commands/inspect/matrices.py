"""Show small objects of information flow as matrices, as papers do, and large ones as lists."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.presentation import escaping, words
from qifsql.presentation.parts import Paragraph, Part, Spec, Table

COLUMNS = 12  # most blocks of a matrix
ROWS = 30  # most values of the secret in a matrix
LISTED = 20  # rows shown of an object that is too large for a matrix


def parts(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return one object: values of the secret down, blocks (or inners) across.

    A row of the frame is a value and a block, or an inner, that occur together.
    """
    rows, show, secret = frame.to_dicts(), spec["show"], spec["secrets"][0]
    if show == "prior":
        return _prior_parts(rows, secret) if len(rows) <= ROWS else _list_parts(frame, show)
    values = list(dict.fromkeys(row["value"] for row in _sort_by_value(rows)))
    across = "inner" if show == "hyper" else "block"
    first_rows = {row[across]: row for row in reversed(rows)}  # of each block or inner
    if len(first_rows) > COLUMNS or len(values) > ROWS:
        return _list_parts(frame, show)
    columns = sorted(first_rows)
    heads = [_block_label(first_rows[c], len(spec["qids"])) for c in columns]
    table = Table.of([secret, *heads], right=range(1, len(heads) + 1))
    if show == "hyper":
        table.add_row("outer", *(_fraction_text(first_rows[c], "outer_") for c in columns))
    entries = {(row["value"], row[across]): row for row in rows}
    for value in values:
        cells = [_cell_text(entries.get((value, c)), show) for c in columns]
        table.add_row(escaping.cell(value), *cells)
    return [Paragraph(TITLES[show]), table]


TITLES = {
    "prior": "What the adversary believes before: the prior.",
    "cooccurrence": "How many people have each value of the secret, in each block.",
    "joint": "How likely a value of the secret and a block are together: the joint.",
    "channel": "How likely each block is, given the value of the secret: the channel.",
    "hyper": "What the adversary believes after, for each different observation: the hyper. Its "
    "first line says how likely each is (outers); a column is the belief after it (an inner).",
}


def _prior_parts(rows: Sequence[Mapping[str, Any]], secret: str) -> list[Part]:
    table = Table.of([secret, "people", "prior"], right=(1, 2))
    for row in rows:
        people = words.count(row["count"])
        table.add_row(escaping.cell(row["value"]), people, _fraction_text(row, ""))
    return [Paragraph(TITLES["prior"]), table]


def _list_parts(frame: pl.DataFrame, show: str) -> list[Part]:
    """Return an object that is too large for a matrix as a list of its first LISTED rows."""
    table = Table.of(frame.columns)
    for row in frame.head(LISTED).iter_rows():
        table.add_row(*(escaping.cell(v) for v in row))
    more = ""
    if (n := frame.height - LISTED) > 0:
        more = f"... and {words.count(n)} more rows; -o FILE.parquet writes all."
    return [Paragraph(TITLES[show]), table, Paragraph(more)]


def _sort_by_value(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows by value, missing last; all values have one type."""
    return sorted(rows, key=lambda r: (r["value"] is None, 0 if r["value"] is None else r["value"]))


def _block_label(row: Mapping[str, Any], width: int) -> str:
    """Return the quasi-identifiers of a block; ``(+1)``: another block has the same inner.

    They are the ``width`` columns after ``block``.
    """
    names = list(row)
    start = names.index("block") + 1
    label = ", ".join(escaping.cell(row[name]) for name in names[start : start + width])
    return f"{label} (+{row['blocks'] - 1})" if row.get("blocks", 1) > 1 else label


def _cell_text(row: Mapping[str, Any] | None, show: str) -> str:
    if row is None:
        return "0"
    return str(row["count"]) if show == "cooccurrence" else _fraction_text(row, "")


def _fraction_text(row: Mapping[str, Any], prefix: str) -> str:
    """Return a probability as a short fraction, as in papers, or else in digits."""
    part, total = int(row[f"{prefix}numerator"]), int(row[f"{prefix}denominator"])
    if total < 10**6:
        return str(Fraction(part, total))
    text = f"{part / total:.6g}"
    return text if text not in ("0", "1") else repr(part / total)  # neither impossible nor certain
