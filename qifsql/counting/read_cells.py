"""The cells of a text column, read in Python: each different one once, in batches.

What was read goes to a file of the engine's scratch folder, so that nothing here grows with the
number of cells.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from qifsql.data import cells
from qifsql.data.cells import Cell, UnreadableError
from qifsql.data.domains import Domain
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, quoted
from qifsql.query.plan import Plan

LABELS = "a column whose cells are labels needs its hierarchy (--hierarchy COLUMN=FILE)"
BATCH = 50_000  # cells that are read at a time
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("everything", pa.bool_()),
        ("ranged", pa.bool_()),
        ("lower", pa.string()),
        ("upper", pa.string()),
        ("open_below", pa.bool_()),
        ("open_above", pa.bool_()),
        ("missing", pa.bool_()),
        ("items", pa.list_(pa.string())),
        ("prefix", pa.string()),
        ("length", pa.int32()),
    ]
)
_FIELDS = [f.name for f in fields(Cell)]


@dataclass(frozen=True)
class CellSource:
    """Which cells are read: the column and release they are of, for messages, and their domain.

    ``labels`` is what to do where they cannot be read.
    """

    column: str
    release: str
    domain: Domain
    nodes: Mapping[str, Sequence[str]] | None = None
    labels: str = LABELS


def read(tables: Tables, query: exp.Query, path: Path, source: CellSource) -> int:
    """Read the cells of a query (id, cell) into a Parquet file; how many are more than a value.

    Raises ColumnError where some do not parse: how many of which form, never their text.
    """
    refused: Counter[str] = Counter()
    seen = generalised = 0
    with pq.ParquetWriter(path, SCHEMA) as writer:
        frames = tables.engine.batches(Plan((), query), tables.what, source.release, rows=BATCH)
        for frame in frames:
            rows: list[dict[str, object]] = []
            for number, text in frame.iter_rows():
                seen += 1
                try:
                    cell = cells.parse(text, source.domain, source.nodes)
                except UnreadableError as e:
                    refused[str(e)] += 1
                    continue
                generalised += _generalised(cell, text)
                rows.append({"id": number, **{name: getattr(cell, name) for name in _FIELDS}})
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
    if refused:
        raise ColumnError(_refusal(source, refused, seen))
    return generalised


def _generalised(cell: Cell, text: str) -> bool:
    """Whether a cell is more than the value that stands there."""
    is_value = len(cell.items) == 1 and not cell.missing and not text.startswith("{")
    return not is_value or cell.items[0] != text


def _refusal(source: CellSource, refused: Counter[str], seen: int) -> str:
    """What does not parse, by its form."""
    forms = "; ".join(f"{n:,} {form}" for form, n in refused.most_common())
    hint = source.labels
    if source.domain.kind == "text" and any(form.startswith(cells.INTERVAL) for form in refused):
        hint = "cells that are values as they stand are named with --plain COLUMN"
    return (
        f"column {quoted(source.column)} of {source.release} has {sum(refused.values()):,} of "
        f"{seen:,} different cells that cannot be read, by form: {forms}; {hint}"
    )
