"""The chart of the risk and utility of changes."""

from qifsql.presentation.risk_utility import charts

__all__ = ["charts"]
