"""An explanation, and several as a table."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from qifsql.results.storage import Origin

SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(("measure", "title", "meaning", "formula", "symbols"), pl.String()),
    **dict.fromkeys(("direction", "range", "notes"), pl.String()),
    **dict.fromkeys(("columns", "aliases"), pl.List(pl.String())),
    **dict.fromkeys(("example", "source", "works"), pl.String()),
}
"""The columns of explanations as a table; symbols, lines of the example and works are joined by
semicolons."""


@dataclass(frozen=True)
class Explanation:
    """The explanation of one measure.

    ``direction`` states if a larger value is worse for the people. ``range`` has the possible
    values and their unit, ``symbols`` the meaning of the formula's symbols, ``works`` the works
    that ``source`` cites, ``columns`` the columns of results with the measure. ``example`` starts
    with its counts; the last number of its last line is the measure. ``origin`` has the SQL of the
    counts.
    """

    name: str
    title: str
    meaning: str
    formula: str
    symbols: tuple[str, ...]
    direction: str
    range: str
    source: str
    works: tuple[str, ...]
    notes: tuple[str, ...]
    columns: tuple[str, ...]
    aliases: tuple[str, ...]
    example: tuple[str, ...]
    origin: Origin = field(repr=False, compare=False)


def frame(explanations: Sequence[Explanation]) -> pl.DataFrame:
    """Return explanations as a table (``SCHEMA``), one row each."""
    rows = [
        {name: getattr(e, name, None) for name in SCHEMA}
        | {"measure": e.name, "columns": list(e.columns), "aliases": list(e.aliases)}
        | {name: "; ".join(getattr(e, name)) for name in ("symbols", "example", "works")}
        | {"notes": " ".join(e.notes)}
        for e in explanations
    ]
    return pl.DataFrame(rows, schema=SCHEMA)
