"""The chart of changes beside what is there."""

from qifsql.presentation.risk_utility import charts

__all__ = ["charts"]
