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

from qifsql.errors import ColumnError, quoted
from qifsql.plan import Plan
from qifsql.sanitise import cells
from qifsql.sanitise.cells import Cell, UnreadableError
from qifsql.sanitise.domains import Domain
from qifsql.sanitise.tables import Tables

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
class Asked:
    """Which cells are read: the column and release they are of, for messages, and their domain.

    ``labels`` is what to do where they cannot be read.
    """

    column: str
    release: str
    domain: Domain
    nodes: Mapping[str, Sequence[str]] | None = None
    labels: str = LABELS


def read(tables: Tables, query: exp.Query, path: Path, asked: Asked) -> int:
    """Read the cells of a query (id, cell) into a Parquet file; how many are more than a value.

    Raises ColumnError where some do not parse: how many of which form, never their text.
    """
    refused: Counter[str] = Counter()
    seen = generalised = 0
    with pq.ParquetWriter(path, SCHEMA) as writer:
        frames = tables.engine.batches(Plan((), query), tables.what, asked.release, rows=BATCH)
        for frame in frames:
            found: list[dict[str, object]] = []
            for number, text in frame.iter_rows():
                seen += 1
                try:
                    cell = cells.parse(text, asked.domain, asked.nodes)
                except UnreadableError as e:
                    refused[str(e)] += 1
                    continue
                generalised += _generalised(cell, text)
                found.append({"id": number, **{name: getattr(cell, name) for name in _FIELDS}})
            writer.write_table(pa.Table.from_pylist(found, SCHEMA))
    if refused:
        raise ColumnError(_refusal(asked, refused, seen))
    return generalised


def _generalised(cell: Cell, text: str) -> bool:
    """Whether a cell is more than the value that stands there."""
    own = len(cell.items) == 1 and not cell.missing and not text.startswith("{")
    return not own or cell.items[0] != text


def _refusal(asked: Asked, refused: Counter[str], seen: int) -> str:
    """What does not parse, by its form."""
    told = "; ".join(f"{n:,} {form}" for form, n in refused.most_common())
    hint = asked.labels
    if asked.domain.kind == "text" and any(form.startswith(cells.INTERVAL) for form in refused):
        hint = "cells that are values as they stand are named with --plain COLUMN"
    return (
        f"column {quoted(asked.column)} of {asked.release} has {sum(refused.values()):,} of "
        f"{seen:,} different cells that cannot be read, by form: {told}; {hint}"
    )
