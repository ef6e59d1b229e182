"""Hypothesis strategies for hostile tables: small, with colliding blocks and nasty names."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

E_NFC, E_NFD = "\u00e9", "e\u0301"  # two spellings of the same letter

NAMES = (
    *("age", "gender", "TOWN", "town", "Town", "AGE"),  # twins but for case
    *("n", "qid", "qid_1", "QID_1", "secret", "secret_1", "weight", "size", "mode", "values"),
    *("blocks", "microdata", "cells", "select", "NULL", "0"),
    *('"; drop table', 'dou"ble', "sin'gle", "a b", " a", "a ", " ", "new\nline"),
    *("a,b", "a=b", "=x", "=cmd()", "a.b", "{qid}", "$1", "%s", "\U0001f642", E_NFC, E_NFD),
)

VALUES: dict[pa.DataType, tuple[object, ...]] = {
    pa.string(): (
        *(None, "", "a", "A", "a ", " a", E_NFC, E_NFD, "\U0001f642", "\uffee", "NULL", "nan"),
        *("0", "01", "'", '"', "\n", "a|b"),
    ),
    pa.int64(): (None, -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)),
    pa.float64(): (None, float("nan"), 0.0, -0.0, 1.0, float("inf"), float("-inf"), 0.1),
    pa.bool_(): (None, False, True),
    pa.date32(): (None, date(1, 1, 1), date(1970, 1, 1), date(2000, 2, 29), date(9999, 12, 31)),
    pa.decimal128(10, 2): (
        *(None, Decimal("-0.01"), Decimal("0.00"), Decimal("1.00")),
        Decimal("99999999.99"),
    ),
}


@dataclass(frozen=True)
class Table:
    """A release with its roles: ``qids`` and ``secrets`` are disjoint and not empty."""

    columns: list[str]
    types: dict[str, pa.DataType]
    rows: list[dict[str, Any]]
    qids: list[str]
    secrets: list[str]


def _few(kind: pa.DataType) -> st.SearchStrategy[list[object]]:
    """One to four values of a type, told apart as written (0.0 is not -0.0, NaN is itself)."""
    return st.lists(st.sampled_from(VALUES[kind]), min_size=1, max_size=4, unique_by=repr)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """1..12 rows and 2..5 columns; each column takes at most four values of its type."""
    columns = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=5, unique=True))
    types = {name: draw(st.sampled_from(list(VALUES))) for name in columns}
    pools = {name: draw(_few(types[name])) for name in columns}
    cells = st.tuples(*(st.sampled_from(pools[name]) for name in columns))
    drawn = draw(st.lists(cells, min_size=1, max_size=12))
    rows = [dict(zip(columns, row, strict=True)) for row in drawn]
    roles = draw(st.permutations(columns))
    n_secrets = draw(st.integers(1, min(2, len(columns) - 1)))
    n_qids = draw(st.integers(1, len(columns) - n_secrets))
    return Table(columns, types, rows, roles[n_secrets:][:n_qids], roles[:n_secrets])


def weights(n: int) -> st.SearchStrategy[list[Any]]:
    """``n`` weights, all ints, all floats or all decimals, of which one at least is positive."""
    kinds: tuple[st.SearchStrategy[Any], ...] = (
        st.integers(0, 3),
        st.sampled_from((0.0, 1e-3, 0.1, 1.5, 3.0)),
        st.decimals(0, 5, places=2),
    )
    return st.one_of([st.lists(kind, min_size=n, max_size=n) for kind in kinds]).filter(any)


def to_arrow(table: Table) -> pa.Table:
    """The rows as Arrow, with names and types as drawn (NaN stays NaN, NULL stays NULL)."""
    return pa.Table.from_pylist(table.rows, pa.schema(list(table.types.items())))
