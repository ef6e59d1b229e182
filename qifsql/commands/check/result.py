"""The verdict of a check: which levels are met, and which columns no rule covers."""

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from qifsql.adversary.spec import ColumnRoles
from qifsql.errors import several
from qifsql.results.result import Result
from qifsql.results.storage import Origin

SCHEMA: dict[str, pl.DataType] = {
    "rule": pl.Int64(),
    "model": pl.String(),
    "qids": pl.List(pl.String()),
    "secret": pl.String(),
    "by": pl.String(),
    "group": pl.String(),
    "individuals": pl.Int64(),
    "measure": pl.String(),
    "value": pl.Float64(),
    "wanted": pl.String(),
    "baseline": pl.Float64(),
    "met": pl.Boolean(),
}
"""The columns of a verdict: one row for each rule, model and secret, and within groups for each.

``rule`` counts the rules of the policy from 1. ``secret`` is NULL for re-identification. ``by`` is
the column of groups, NULL where the rule is about everybody together; ``group`` its value (NULL:
missing), ``individuals`` how many people are in it. ``value`` is that of ``measure``, ``wanted``
the bounds in words, ``baseline`` the value of the last release (NULL where none is known), ``met``
whether the value is within all bounds."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict(Result):
    """The levels of a policy that are met, and the columns that no rule covers.

    ``details["uncovered"]`` (``qifsql.results.coverage.SCHEMA``) says whom these columns would
    single out. A verdict is true where the policy is met: every level is, and no column is
    refused. ``assert qifsql.check(...)`` holds a release to it.
    """

    @classmethod
    def of(
        cls, levels: pl.DataFrame, origin: Origin, notes: tuple[str, ...], uncovered: pl.DataFrame
    ) -> "Verdict":
        """Return the verdict on levels."""
        unnamed = refused(str(origin.spec.get("unnamed")), origin.columns)
        met = bool(levels["met"].all()) and not unnamed
        details = {"uncovered": uncovered}
        return cls(frame=levels, origin=origin, details=details, notes=notes, met=met)

    @property
    def columns(self) -> tuple[ColumnRoles, ...]:
        """Return all columns of the file with their roles."""
        return self.origin.columns

    @property
    def not_considered(self) -> tuple[str, ...]:
        """Return the columns that no rule covers, in no form."""
        return tuple(c.name for c in self.columns if not c.covered and not c.forms)

    @property
    def refused(self) -> tuple[str, ...]:
        """Return the columns that no rule covers as they are, where the policy refuses them."""
        return refused(str(self.spec.get("unnamed")), self.columns)

    @property
    def uncovered(self) -> pl.DataFrame:
        """Return whom the columns that no rule covers would single out."""
        return self.details["uncovered"]

    @property
    def broken(self) -> int:
        """Return how many levels are not met."""
        return int((~self.frame["met"]).sum())

    @property
    def summary(self) -> str:
        """Return how many levels are met, in one sentence."""
        levels = several(self.frame.height, "level")
        if self.broken:
            return f"not met: {self.broken:,} of {levels}"
        if self.refused:
            return f"not met: {several(len(self.refused), 'column')} in no rule"
        for_columns = "" if self.uncovered.is_empty() else " for the columns named"
        return f"met{for_columns}: all of {levels}"


def refused(unnamed: str, columns: Iterable[ColumnRoles]) -> tuple[str, ...]:
    """Return the columns that no rule covers as they are, where the policy refuses them."""
    if unnamed != "refuse":
        return ()
    return tuple(column.name for column in columns if not column.covered)
