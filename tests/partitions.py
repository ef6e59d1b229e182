"""Tables as files, with keys and weights, for what shows the partition."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from strategies import Table, to_arrow

MASS = "mass"  # the column of weights: no name that is drawn


KEY = "person"


@contextmanager
def parquet(drawn: Table, masses: Sequence[Any] | None = None) -> Iterator[Path]:
    """The table in a Parquet file, with a key and, if there are any, with weights."""
    table = to_arrow(drawn).append_column(KEY, pa.array(keys(len(drawn.rows))))
    if masses is not None:
        table = table.append_column(MASS, pa.array(masses, kind(masses)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "release.parquet")
        pq.write_table(table, path)
        yield path


def kind(masses: Sequence[Any]) -> pa.DataType:
    kinds = {int: pa.int64(), float: pa.float64(), Decimal: pa.decimal128(10, 2)}
    return kinds[type(masses[0])]


def keys(n: int) -> list[str | None]:
    return [None if i == 3 else f"p{i * 7 % 10}" for i in range(n)]


def near(value: Fraction | None) -> Any:
    """A success: of whole counts exact, of weights but for the last bit."""
    return None if value is None else pytest.approx(float(value), rel=1e-15, abs=0)
