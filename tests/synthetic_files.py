"""Small originals, releases and controls for tests of synthetic releases."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from hypothesis import strategies as st

from qifsql.reference.synthetic_releases import Person

Line = tuple[str | None, int | None, str | None]
lines = st.lists(
    st.tuples(
        st.sampled_from([None, "x", "y"]),
        st.sampled_from([None, 1, 2, 3]),
        st.sampled_from([None, "a", "b", "c"]),
    ),
    min_size=1,
    max_size=14,
)
HELD = {"q": pl.String(), "r": pl.Int64(), "t": pl.String(), "u": pl.Int64()}


def frame(rows: Sequence[Line]) -> pl.DataFrame:
    each = [(*row, i % 2) for i, row in enumerate(rows)]
    return pl.DataFrame(each, schema=HELD, orient="row")


def plain(rows: Sequence[Line]) -> list[Person]:
    return [((q, r), t) for q, r, t in rows]


def values(result: Any, **which: Any) -> dict[str, float | None]:
    rows = result.frame.filter(**which) if which else result.frame
    return dict(rows.select("measure", "value").iter_rows())
