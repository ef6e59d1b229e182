"""Blocks of the partition as people read them."""

from collections.abc import Sequence

import polars as pl

from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Paragraph, Part, Table


def blocks(data: pl.DataFrame, secrets: Sequence[str]) -> list[Part]:
    """Blocks of a partition: what is known, how many people, and the values of each secret."""
    n_qids = data.width - 2 - 4 * len(secrets)
    table = Table.of([*data.columns[:n_qids], said("size"), *secrets], right=(n_qids,))
    for row in data.iter_rows():
        counts = map(escaping.cell, row[n_qids + 5 :: 4])
        table.add_row(*map(escaping.cell, row[:n_qids]), words.count(row[n_qids]), *counts)
    if not secrets:
        return [table]
    note = said("People with each value in brackets; the first is the best guess.")
    return [table, Paragraph(note)]
