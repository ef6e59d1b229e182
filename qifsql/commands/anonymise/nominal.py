"""Intervals of a recoding by definition: ``[60,69]`` of ``age:10``, ``>=80`` of ``top(age)=80``.

They do not depend on the values that occur: the least and the greatest value of a group, above all
of those beyond a limit, stay hidden, as do values that only suppressed records have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.adversary.changes import Change
from qifsql.adversary.spec import Attribute
from qifsql.counting import changed_attributes
from qifsql.counting.changed_attributes import Changed, as_values
from qifsql.data.types import INTEGERS, family, scale_of
from qifsql.query import microdata_steps
from qifsql.query.columns import number

WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")  # ends of intervals may be no such number
LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Nominal:
    """The interval of a value, over the column ``value``: where it begins, and its length.

    ``begin`` is the coarser form (the value itself without one), ``widths`` the changes that make
    it; ``tops`` and ``bottoms`` are limits beyond which all values are one group.
    """

    attribute: Attribute
    begin: Attribute
    widths: tuple[str, ...]
    tops: tuple[str, ...]
    bottoms: tuple[str, ...]

    @property
    def half_open(self) -> bool:
        """Return whether the upper end is out: of floating numbers."""
        return bool(self.widths) and family(self.attribute.type) in ("FLOAT", "DOUBLE")

    @property
    def type(self) -> str:
        """Return the type of the ends."""
        return "BIGINT" if family(self.attribute.type) in INTEGERS else self.attribute.type

    def ends(self) -> tuple[exp.Expr, exp.Expr]:
        """Return the ends of the interval of a group of values; NULL: without end."""
        lower, upper = self._first_value(), self._last_value()
        below, above = [self._limit(b) for b in self.bottoms], [self._limit(t) for t in self.tops]
        beyond: exp.Expr
        for limit in above:
            beyond = exp.GTE(this=_value(), expression=limit)
            least = exp.Least(this=lower, expressions=[limit.copy()])
            lower = exp.Case().when(beyond, least).else_(lower.copy())
        for limit in below:
            beyond = exp.LTE(this=_value(), expression=limit)
            greatest = exp.Greatest(this=upper, expressions=[limit.copy()])
            upper = exp.Case().when(beyond, greatest).else_(upper.copy())
        low = [exp.LTE(this=_value(), expression=limit) for limit in below]
        high = [exp.GTE(this=_value(), expression=limit) for limit in above]
        first = _end_or_null(low, high, exp.Min(this=lower), exp.Min(this=_value()))
        last = _end_or_null(high, low, exp.Max(this=upper), exp.Max(this=_value()))
        return self._typed(first), self._typed(last)

    def _first_value(self) -> exp.Expr:
        begin = exp.paren(microdata_steps.normal(self.begin))
        return exp.cast(begin, "HUGEINT") if self.type == "BIGINT" else self._typed(begin)

    def _last_value(self) -> exp.Expr:
        """Return the last value of the interval; of floating numbers the first behind it."""
        begin = self._first_value()
        if not self.widths:
            return begin
        kind = family(self.attribute.type)
        if kind in INTEGERS:
            more = sum(int(width) - 1 for width in self.widths)
            end = exp.Add(this=begin, expression=number(more))
            return exp.Least(this=end, expressions=[number(LARGEST)])
        (width,) = self.widths
        if kind in ("FLOAT", "DOUBLE"):
            return exp.Add(this=begin, expression=exp.Literal.number(width))
        if kind == "DECIMAL":
            digits = scale_of(self.attribute.type)
            digit = exp.Literal.number("0." + "0" * (digits - 1) + "1" if digits else "1")
            end = exp.Add(this=begin, expression=exp.Literal.number(width))
            return exp.Sub(this=exp.paren(end), expression=digit)
        unit = exp.Interval(this=exp.Literal.string("1"), unit=exp.var(width.upper()))
        step = "DAY" if kind == "DATE" else "MICROSECOND"
        last = exp.Interval(this=exp.Literal.string("1"), unit=exp.var(step))
        return self._typed(
            exp.paren(
                exp.Sub(this=exp.paren(exp.Add(this=begin, expression=unit)), expression=last)
            )
        )

    def _limit(self, text: str) -> exp.Expr:
        return exp.cast(exp.Literal.string(text), self.attribute.type, dialect="duckdb")

    def _typed(self, tree: exp.Expr) -> exp.Expr:
        return exp.cast(tree, self.type, dialect="duckdb")


def nominal_interval(i: int, changes: Sequence[Change], changed: Changed) -> Nominal | None:
    """Return the intervals of changes of a measured quasi-identifier, None where they have none."""
    qid = changed.qids[i - 1]
    kind = family(qid.type)
    widths = [change for change in changes if change.kind == "coarser"]
    if kind in WIDE or kind == "TIMESTAMP_NS" or (len(widths) > 1 and kind not in INTEGERS):
        return None
    begin = changed_attributes.apply(list(map(as_values, changed.qids)), widths, changed)[i - 1]
    if begin is None or {c.kind for c in changes} - {"coarser", "top", "bottom"}:
        return None
    limits = {name: tuple(c.how for c in changes if c.kind == name) for name in ("top", "bottom")}
    return Nominal(qid, begin, tuple(c.how for c in widths), limits["top"], limits["bottom"])


def _value() -> exp.Column:
    return exp.column("value")


def _end_or_null(
    beyond: Sequence[exp.Expr], opposite: Sequence[exp.Expr], end: exp.Expr, observed: exp.Expr
) -> exp.Expr:
    """Return an end of an interval; NULL where a value of the group is beyond a limit.

    A group with values beyond limits on both sides ends at the values that there are.
    """
    if not beyond:
        return end
    condition: exp.Expr = exp.LogicalOr(this=exp.or_(*beyond))
    case = exp.Case()
    if opposite:
        case = case.when(exp.and_(condition, exp.LogicalOr(this=exp.or_(*opposite))), observed)
    return case.when(condition.copy(), exp.null()).else_(end)
