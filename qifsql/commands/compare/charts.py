"""The chart of releases beside the original."""

import polars as pl

from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.risk_utility import risk_utility
from qifsql.presentation.theme import Chart


def charts(frame: pl.DataFrame, _details: Tables, _spec: Spec) -> dict[str, Chart]:
    """Return the charts of a result, by name."""
    return {"risk_utility": risk_utility(frame)}
