"""The chart of releases next to the original."""

from qifsql.presentation.risk_utility import charts

__all__ = ["charts"]
