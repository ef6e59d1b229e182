"""Intervals of a recoding by definition: ``[60,69]`` of ``age:10``, ``>=80`` of ``top(age)=80``.

They do not depend on the values that occur: the least and the greatest value of a group, above all
of those beyond a limit, stay hidden, as do values that only suppressed records have.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary.changes import Change
from qifsql.adversary.spec import Attribute
from qifsql.counting import changed_attributes
from qifsql.counting.changed_attributes import Changeable, as_values
from qifsql.data.coarsen import AGE, BAND, MARK, QUANTILES
from qifsql.data.expressions import filled
from qifsql.data.types import INTEGERS, family, scale_of
from qifsql.query import microdata_steps
from qifsql.query.columns import number
from qifsql.query.splice import splice

WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")  # ends of intervals may be no such number
LARGEST = 2**63 - 1
UNITS = {"y": "YEAR", "m": "MONTH", "w": "WEEK", "d": "DAY"}


@dataclass(frozen=True)
class Nominal:
    """The interval of a value, over the column ``value``: where it begins, and its length.

    ``attribute`` is what is measured: the value, or the age at a day. ``begin`` is its coarser form
    (itself without one), ``widths`` the changes that make it; values beyond a limit (``tops``,
    ``bottoms``) are one group.
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

    def ends(self, table: str, step: str) -> exp.Select:
        """Return the query of the interval of each group of values: part (group), lower, upper.

        ``table`` has a row per value, with its group in the column ``step``. An open end is NULL.
        """
        # The row ``bounds`` is computed for each value; the view takes the ends over its group.
        bounds = {"first": self._first_value(), "last": self._last_value()}
        bounds["measured"] = microdata_steps.normal(self.attribute)
        for name, limits in (("top", self.tops), ("bottom", self.bottoms)):
            bounds |= {f"{name}_{n}": self._limit(limit) for n, limit in enumerate(limits, 1)}
        sides = {"tops": self.tops, "bottoms": self.bottoms}
        query = splice(
            "anonymise/nominal_ends",
            columns={"own_step": step},
            tables={"steps_of": table},
            rows={"bounds": bounds},
            shape={name: range(1, len(limits) + 1) for name, limits in sides.items()},
        )
        ends = [exp.alias_(self._typed(exp.column(end)), end) for end in ("lower", "upper")]
        return exp.select("part", *ends).from_(query.subquery("ends"))

    def _first_value(self) -> exp.Expr:
        """Return the first value of the interval, as SQL over the column ``value``."""
        begin = exp.paren(microdata_steps.normal(self.begin))
        return exp.cast(begin, "HUGEINT") if self.type == "BIGINT" else self._typed(begin)

    def _last_value(self) -> exp.Expr:
        """Return the SQL of the last value in an interval whose width the user's change states.

        Of floating-point numbers it is the end, which is not in the interval. ``widths`` are those
        of the changes one after the other; without them, the interval is one value.
        """
        begin, kind = self._first_value(), family(self.attribute.type)
        if not self.widths:
            return begin
        if kind in INTEGERS:  # each change takes a value down by its width - 1 at most
            longest = number(sum(int(width) - 1 for width in self.widths))
            words = {"first": begin, "longest": longest, "largest": number(LARGEST)}
            # least() skips NULL: a missing value has no interval
            least = "CASE WHEN NOT first IS NULL THEN least(first + longest, largest) END"
            return filled(least, words)
        (width,) = self.widths  # other types have one (nominal_interval)
        if kind in ("FLOAT", "DOUBLE"):
            return filled("first + width", {"first": begin, "width": exp.Literal.number(width)})
        if kind == "DECIMAL":
            digits = scale_of(self.attribute.type)
            unit = exp.Literal.number(f"{10**-digits:.{digits}f}")  # the last digit: 0.01
            words = {"first": begin, "width": exp.Literal.number(width), "unit": unit}
            return filled("first + width - unit", words)
        # The last day, or microsecond, before the next month or other period begins.
        smallest = _interval("DAY" if kind == "DATE" else "MICROSECOND")
        words = {"first": begin, "period": _length(width), "smallest": smallest}
        return self._typed(exp.paren(filled("first + period - smallest", words)))

    def _limit(self, text: str) -> exp.Expr:
        return exp.cast(exp.Literal.string(text), self.attribute.type, dialect="duckdb")

    def _typed(self, tree: exp.Expr) -> exp.Expr:
        return exp.cast(tree, self.type, dialect="duckdb")


def _interval(unit: str, number: int = 1) -> exp.Interval:
    return exp.Interval(this=exp.Literal.string(str(number)), unit=exp.var(unit))


def _length(how: str) -> exp.Interval:
    """Return the length of a period (``month``) or of a band of several (``10y``)."""
    if match := BAND.fullmatch(how):
        periods, unit = match.groups()
        return _interval(UNITS[unit], int(periods))
    return _interval(how.upper())


def makes_labels(changes: Sequence[Change]) -> bool:
    """Return whether the values after ``changes`` are written as they are: texts or ages.

    Texts are bands between limits or quantiles, such as 18-64; an age is one that no further
    change makes coarser. Other changes make numbers that stand for an interval.
    """
    if age := AGE.fullmatch(changes[-1].how) if changes else None:
        band, _day = age.groups()
        if band is None:
            return True
    is_banded = any(QUANTILES.fullmatch(c.how) or MARK in c.how for c in changes)
    return is_banded and all(c.kind in ("coarser", "top", "bottom") for c in changes)


def nominal_interval(i: int, changes: Sequence[Change], changed: Changeable) -> Nominal | None:
    """Return the intervals that changes of quasi-identifier ``i`` define; None: values do."""
    values = list(map(as_values, changed.qids))
    # A change to the age at a day, such as age@2020-01-01, or bands of it: intervals are of ages.
    if age := AGE.fullmatch(changes[0].how) if changes else None:
        band, day = age.groups()
        first, *others = changes
        years = replace(first, how=f"age@{day}")
        values[i - 1] = changed_attributes.apply_change(values[i - 1], years, changed)
        changes = [replace(first, how=band or "1"), *others]
    qid = values[i - 1]
    kind = family(qid.type)
    widths = [change for change in changes if change.kind == "coarser"]
    # Only intervals of whole numbers have known ends after several widths, one in another.
    if kind in WIDE or kind == "TIMESTAMP_NS" or (len(widths) > 1 and kind not in INTEGERS):
        return None
    begin = changed_attributes.apply_changes(values, widths, changed)[i - 1]
    if begin is None or {c.kind for c in changes} - {"coarser", "top", "bottom"}:
        return None
    limits = {name: tuple(c.how for c in changes if c.kind == name) for name in ("top", "bottom")}
    return Nominal(qid, begin, tuple(c.how for c in widths), limits["top"], limits["bottom"])
