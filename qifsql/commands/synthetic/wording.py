"""Words of the sentences and tables about synthetic releases."""

from collections.abc import Sequence

import polars as pl

from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said


def points(share: float) -> str:
    """Return a signed share in percentage points: ``+0.31``, ``-2.40``."""
    number = words.percent(abs(share)).removesuffix(" %")
    return number if share == 0 else f"{'-' if share < 0 else '+'}{number}"


def between(row: Row) -> str:
    """Return the ends of an interval in percent."""
    return said("{low} and {high}", low=words.percent(row["low"]), high=words.percent(row["high"]))


def percent(share: float | None) -> str:
    """Return a share in percent; that of nobody is told so."""
    return said("nobody") if share is None else words.percent(share)


def releases(frame: pl.DataFrame) -> list[tuple[int, str]]:
    """Return the number and the name of each release, in their order."""
    pairs = frame.select("file", "release").unique(maintain_order=True)
    return [(file, release_name(file, name)) for file, name in pairs.iter_rows()]


def release_name(file: int, name: str) -> str:
    """Return the name of a release for people."""
    return said("all releases together") if file == 0 else escaping.cell(name)


def by_measure(frame: pl.DataFrame, file: int) -> dict[str, Row]:
    """Return the rows of a release, by measure."""
    rows: Sequence[Row] = frame.filter(file=file).to_dicts()
    return {row["measure"]: row for row in rows}
