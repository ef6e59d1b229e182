"""The verdict of a check: its levels, met or not, and the columns that no rule covers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from qifsql.adversary.spec import ColumnRoles
from qifsql.errors import plural
from qifsql.results.result import Result
from qifsql.results.storage import Origin

TEXT, COUNT, NUMBER, FLAG = pl.String(), pl.Int64(), pl.Float64(), pl.Boolean()
SCHEMA: dict[str, pl.DataType] = {
    **{"rule": COUNT, "model": TEXT, "qids": pl.List(pl.String()), "secret": TEXT, "by": TEXT},
    **{"group": TEXT, "individuals": COUNT, "measure": TEXT, "success": NUMBER, "attempt": NUMBER},
    **{"value": NUMBER, "low": NUMBER, "high": NUMBER, "wanted": TEXT, "baseline": NUMBER},
    **{"met": FLAG},
}
"""The columns of a verdict: one row per rule, model and secret, and per group if the rule has them.

``rule`` counts the rules of the policy from 1. ``secret`` is NULL for re-identification. ``by`` is
the column of groups, NULL if the rule is about all people together; ``group`` is its value (NULL:
missing), ``individuals`` the number of people in the group. ``value`` is the value of ``measure``;
for a probability it is ``success`` times ``attempt``, the chance that anybody attacks (both are
NULL for other measures). ``low`` to ``high`` is the interval of a value at 95 % confidence,
NULL for what is no estimate. ``wanted`` states the bounds in words, ``baseline`` the value of the
last release (NULL if unknown). ``met`` is true if the value, or all of its interval, is within all
bounds. ``model`` is ``synthetic`` for rules about a synthetic release beside its original; then
``individuals`` are people of the original, and ``value`` is NULL for a share of nobody."""

READING: dict[str, pl.DataType] = {"known_records": pl.String()}
"""Further column if a column says whose record it is: whether ``all`` records of a person are known
or ``one``. Of both, the row is that of the worse, unless the policy names one."""


RECIPIENT: dict[str, pl.DataType] = {"recipient": pl.String()}
"""Further column if a policy has recipients: whose risk the row bounds, NULL for rules. Its
``measure`` is ``maximum`` or ``average``, its ``model`` that of the attack, or ``link``."""

RECIPIENTS: dict[str, pl.DataType] = {
    **{"name": TEXT, "attempt": NUMBER, "maximum": NUMBER, "average": NUMBER},
    **{"before": NUMBER, "until": TEXT, "met": FLAG},
}
"""One row per recipient: the greatest ``maximum`` and ``average`` risk (attempt times success) of
all ways to succeed, and the last day of the assessment (NULL: none). ``before`` is the average risk
without the release, in the way with the greatest average (NULL: a register). ``met``: all of its
bounds are met, and the assessment has not expired."""

MOST_LEVELS = 3  # not met, that the representation of a verdict shows


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict(Result):
    """The levels of a policy, met or not, and the columns that no rule covers.

    ``details["uncovered"]`` (``qifsql.results.uncovered.SCHEMA``) counts the people whom these
    columns would single out. ``details["households"]``, if households are named, has their risks
    (``qifsql.results.assessment.DETAILS``), a row per model and secret. ``details["recipients"]``,
    if the policy has recipients, has their risks (``RECIPIENTS``). A verdict is true if the policy
    is met: every level is met, no column is refused, no assessment of a recipient has expired, no
    file of a statement has changed, and people are counted, or the policy accepts records.
    ``assert qifsql.check(...)`` enforces it.
    """

    @classmethod
    def of(
        cls,
        levels: pl.DataFrame,
        origin: Origin,
        notes: tuple[str, ...],
        details: Mapping[str, pl.DataFrame],
    ) -> "Verdict":
        """Return the verdict: all levels are met, no column is refused, and people are counted.

        No assessment of a recipient may have expired, and no file of a statement have changed.
        """
        spec = origin.spec
        broken = refused(str(spec.get("unnamed")), origin.columns) or repeated(spec)
        outdated = spec.get("expired") or spec.get("changed")
        met = bool(levels["met"].all()) and not broken and not outdated
        return cls(frame=levels, origin=origin, details=details, notes=notes, met=met)

    def __repr__(self) -> str:
        """Return whether the policy is met, and the first levels that are not, without cells."""
        lines = [f"<qifsql check of {self.spec.get('dataset') or 'data'}: {self.summary}>"]
        lines += [
            f"  rule {row['rule']} ({row['model']}): {row['measure']} is {row['value']}, "
            f"required {row['wanted']}"
            for row in self.frame.filter(~pl.col("met")).head(MOST_LEVELS).to_dicts()
        ]
        lines.append(
            f"  notes: {len(self.notes)}; print() shows the tables; .frame .details .notes"
        )
        return "\n".join(lines)

    @property
    def columns(self) -> tuple[ColumnRoles, ...]:
        """Return all columns of the file with their roles."""
        return self.origin.columns

    @property
    def not_considered(self) -> tuple[str, ...]:
        """Return the columns that no rule covers in any form."""
        return tuple(c.name for c in self.columns if not c.covered and not c.forms)

    @property
    def refused(self) -> tuple[str, ...]:
        """Return the columns that no rule covers unchanged, if the policy refuses them."""
        return refused(str(self.spec.get("unnamed")), self.columns)

    @property
    def repeated(self) -> tuple[str, ...]:
        """Return the columns that number people, if records are counted and not accepted."""
        return repeated(self.spec)

    @property
    def expired(self) -> tuple[str, ...]:
        """Return the recipients whose assessment has expired."""
        return tuple(self.spec.get("expired") or ())

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the files of the statement whose contents are others now, and itself if edited."""
        return tuple(self.spec.get("changed") or ())

    @property
    def uncovered(self) -> pl.DataFrame:
        """Return the columns that no rule covers, with the number of people singled out."""
        return self.details["uncovered"]

    @property
    def broken(self) -> int:
        """Return how many levels are not met."""
        return int((~self.frame["met"]).sum())

    @property
    def summary(self) -> str:
        """Return how many levels are met, in one sentence."""
        levels = plural(self.frame.height, "level")
        if self.broken:
            return f"not met: {self.broken:,} of {levels}"
        if self.refused:
            return f"not met: {plural(len(self.refused), 'column')} in no rule"
        if self.repeated:
            return f"not met: records are counted, not people ({', '.join(self.repeated)})"
        if self.changed:
            names = ", ".join(self.changed)
            return f"not met: changed since the statement was written: {names}"
        if self.expired:
            return f"not met: the assessment has expired for {', '.join(self.expired)}"
        for_columns = "" if self.uncovered.is_empty() else " for the columns named"
        return f"met{for_columns}: all of {levels}"


def repeated(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns that number people, if records are counted and not accepted."""
    return () if spec.get("unit") else tuple(spec.get("repeated") or ())


def refused(unnamed: str, columns: Iterable[ColumnRoles]) -> tuple[str, ...]:
    """Return the columns that no rule covers unchanged, if the policy refuses them."""
    if unnamed != "refuse":
        return ()
    return tuple(column.name for column in columns if not column.covered)
