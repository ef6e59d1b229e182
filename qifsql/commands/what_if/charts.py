"""The chart of changes next to what is there."""

from qifsql.presentation.risk_utility import charts

__all__ = ["charts"]
