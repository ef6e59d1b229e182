"""The chart of releases beside the original."""

from qifsql.presentation.risk_utility import charts

__all__ = ["charts"]
