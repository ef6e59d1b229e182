"""The result of a treatment."""

from dataclasses import dataclass

import polars as pl

from qifsql.results.storage import Origin


@dataclass(frozen=True)
class Treatment:
    """What was done (``drawing.SUMMARY``); with quasi-identifiers, what it changes; remarks.

    ``comparison`` is the risk before and after (``changes.COMPARISON``), ``changes`` who is
    singled out when (``changes.CHANGES``).
    """

    frame: pl.DataFrame
    origin: Origin
    notes: tuple[str, ...] = ()
    comparison: pl.DataFrame | None = None
    changes: pl.DataFrame | None = None
