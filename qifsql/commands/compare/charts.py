"""The chart of releases compared with the original."""

from qifsql.presentation.risk_utility import charts

__all__ = ["charts"]
