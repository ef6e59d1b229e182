"""Blocks of the partition as people read them."""

import polars as pl

from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Paragraph, Part, Spec, Table, Tables


def parts(frame: pl.DataFrame, _tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of blocks: quasi-identifiers, size, and the values of each secret."""
    secrets = spec["secrets"]
    n_qids = frame.width - 2 - 4 * len(secrets)
    table = Table.of([*frame.columns[:n_qids], said("size"), *secrets], right=(n_qids,))
    for row in frame.iter_rows():
        counts = map(escaping.cell, row[n_qids + 5 :: 4])
        table.add_row(*map(escaping.cell, row[:n_qids]), words.count(row[n_qids]), *counts)
    if not secrets:
        return [table]
    note = said("People with each value in brackets; the first is the best guess.")
    return [table, Paragraph(note)]
