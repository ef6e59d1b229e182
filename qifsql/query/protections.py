"""Protections of published counts: which counts a published cell may stand for.

A table says how it is protected; each cell of it, and each combination that is not listed, then
gives an interval of possible counts: those that the protections, one after the other, may turn into
what is printed. Source: M90.
"""

import re
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, TypeVar

from sqlglot import exp

from qifsql.data.expressions import filled
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.query.columns import number

Kind = Literal["exact", "suppress", "round", "noise", "atleast", "partial"]
LEAST: dict[Kind, int] = {"exact": 0, "suppress": 2, "round": 2, "noise": 1, "atleast": 1}
LARGEST = 10**9  # of the number of a protection; LEAST are the least ones
MOST_STACKED = 10_000  # the same, where protections follow one another
WORDS = (
    "exact", "suppress<5", "suppress<5 zeros", "round:5", "round:5 random", "round:5 positive",
    "noise:2", "atleast:10", "suppress<5+round:5",
)  # fmt: skip
_NUMBERED = (
    r"(?:suppress\s*<\s*\d+(?:\s+zeros)?|(?:noise|atleast|top)\s*:\s*\d+"
    r"|round\s*:\s*\d+(?:\s+random)?(?:\s+positive)?)"
)
_PROTECTION = re.compile(rf"\s*(?:exact|{_NUMBERED}(?:\s*\+\s*{_NUMBERED})*)\s*", re.I)
Count = TypeVar("Count", int, exp.Expr)


@dataclass(frozen=True)
class Protection:
    """A protection of counts: its kind, its number, and its variant; others may come ``before``.

    ``suppress`` hides counts from 1 to ``number`` - 1, with ``variant`` (zeros) 0, too; ``round``
    rounds to multiples of ``number``, half up, or with ``variant`` (random) up or down without
    bias, and if it is ``positive``, no count above 0 to 0; ``noise`` adds at most ``number`` up or
    down; ``atleast`` tells counts from ``number`` on only as "that many or more". ``partial``
    counts leave up to ``number`` people out, whose records were suppressed or not released: no user
    writes it. What the protections ``before`` print is the count of the next one.
    """

    kind: Kind = "exact"
    number: int = 0
    variant: bool = False
    positive: bool = False
    before: tuple["Protection", ...] = ()

    @property
    def steps(self) -> tuple["Protection", ...]:
        """Return the protections that are applied one after the other."""
        return (*self.before, replace(self, before=()))

    @property
    def text(self) -> str:
        """Return the protection as it is written: ``suppress<5+round:5``."""
        if self.before:
            return "+".join(step.text for step in self.steps)
        if self.kind == "exact":
            return "exact"
        sign = "<" if self.kind == "suppress" else ":"
        variant = {"suppress": " zeros", "round": " random"}.get(self.kind, "") * self.variant
        return f"{self.kind}{sign}{self.number}{variant}{' positive' * self.positive}"

    @property
    def exact(self) -> bool:
        """Return whether every cell tells its count."""
        return self.kind == "exact"

    @property
    def hides(self) -> bool:
        """Return whether small counts are hidden."""
        return any(step.kind == "suppress" for step in self.steps)

    @property
    def hides_zeros(self) -> bool:
        """Return whether a hidden cell may be empty."""
        return self.hides and self.hidden()[0] == 0

    @property
    def unlisted(self) -> int:
        """Return the largest count of a combination that is not listed, a published 0."""
        return int(self.upper(0) or 0)

    def hidden(self) -> tuple[int, int]:
        """Return the least and the largest count of a hidden cell."""
        spans = self._hidden_spans()
        return min(low for low, _ in spans), max(high for _, high in spans)

    def lower(self, published: Count) -> Count:
        """Return the least count that may be published as ``published``."""
        *before, last = self.steps
        least = last._smallest(published)
        for step in reversed(before):
            least = step._smallest(step._reachable(least, up=True))
        return least

    def upper(self, published: Count) -> Count | None:
        """Return the largest count behind a published one; NULL (None): there is none."""
        *before, last = self.steps
        if last.kind == "atleast":
            if isinstance(published, int):
                return None if published >= last.number else published
            open_end = exp.GTE(this=published, expression=number(last.number))
            return exp.case().when(open_end, exp.null()).else_(published)
        largest = last._largest(published)
        for step in reversed(before):
            largest = step._largest(step._reachable(largest, up=False))
        return largest

    def faults(self) -> str:
        """Return why the protections cannot follow one another; empty if they can."""
        if any(step.kind in ("exact", "atleast", "partial") for step in self.steps):
            return "only suppress, round and noise follow one another"
        for i, step in enumerate(self.steps[:-1]):
            if step.variant or self._hidden_by(i) is None:
                continue
            later = Protection(**vars(self) | {"before": self.steps[i + 1 : -1]})
            last = self.steps[-1]
            base = last.number if last.kind == "round" else 1
            for printed in range(0, sum(s.number for s in later.steps) + 1, base):
                largest = later.upper(printed)
                is_hidden = last.kind == "suppress" and last._hides(printed)
                may_be_zero = later.lower(printed) <= 0 and not is_hidden
                if may_be_zero and largest is not None and largest >= step.number:
                    return (
                        f"a printed {printed} may then be 0, or {step.number} or more, and no "
                        "count between; hide more counts"
                    )
        spans = sorted(self._hidden_spans())
        highest = accumulate((high for _, high in spans), max)  # that is hidden so far
        if any(low > high + 1 for high, (low, _) in zip(highest, spans[1:], strict=False)):
            return "hidden counts are of several ranges; hide those between, too"
        return ""

    def _hidden_spans(self) -> list[tuple[int, int]]:
        """Return the ranges of counts that each protection hides."""
        spans = [span for i in range(len(self.steps)) if (span := self._hidden_by(i))]
        return spans or [(1, 0)]

    def _hidden_by(self, i: int) -> tuple[int, int] | None:
        """Return the range of counts that step i hides; None if it hides none.

        The steps before it may have hidden its counts already, or never print them.
        """
        step = self.steps[i]
        if step.kind != "suppress":
            return None
        low, high = int(not step.variant), step.number - 1
        for earlier in reversed(self.steps[:i]):
            low = earlier._smallest(earlier._reachable(low, up=True))
            high = earlier._largest(earlier._reachable(high, up=False))
        return (low, high) if low <= high else None

    def _hides(self, printed: int) -> bool:
        """Return whether suppression hides a count that the steps before would print."""
        return int(not self.variant) <= printed < self.number

    def _smallest(self, printed: Count) -> Count:
        """Return the least count that this protection alone may print so."""
        if self.kind not in ("round", "noise"):
            return printed
        # Rounded half up, a count rises by half the base at most; otherwise it can rise as far as
        # it can fall (``_largest``).
        half_up = self.kind == "round" and not self.variant
        least = _limited(printed, -(self.number // 2 if half_up else self._reach), 0)
        return _unless_small(printed, self.number, 1, least) if self.positive else least

    def _largest(self, printed: Count) -> Count:
        """Return the largest count that this protection alone may print so."""
        if self.kind not in ("round", "noise", "partial"):
            return printed
        largest = _limited(printed, self._reach, None)
        return _unless_small(printed, 0, 0, largest) if self.positive else largest

    @property
    def _reach(self) -> int:
        """Return how far a printed count may be below the true one."""
        if self.kind == "round":
            return self.number - 1 if self.variant else (self.number + 1) // 2 - 1
        return self.number

    def _reachable(self, end: Count, *, up: bool) -> Count:
        """Return the nearest count from ``end`` on (``up``), or down, that is printed."""
        if self.kind == "round":
            return _multiple(end, self.number, up=up)
        if self.kind == "suppress":
            first = int(not self.variant)
            return _outside(end, first, self.number - 1, self.number if up else first - 1)
        return end


def _limited(count: Count, change: int, least: int | None) -> Count:
    """Return a count plus ``change``, and not below ``least``."""
    if isinstance(count, int):
        return count + change if least is None else max(least, count + change)
    if least is None:
        return exp.Add(this=count, expression=number(change))
    changed = exp.Sub(this=count, expression=number(-change)) if change else count
    return exp.func("greatest", number(least), changed)


def _unless_small(printed: Count, largest: int, smallest: int, count: Count) -> Count:
    """Return a count; where at most ``largest`` is printed, ``smallest``, or 0 of a printed 0."""
    if isinstance(printed, int):
        return min(printed, smallest) if printed <= largest else count
    is_small = exp.LTE(this=printed, expression=number(largest))
    instead = exp.func("least", printed, number(smallest))
    return exp.case().when(is_small, instead).else_(count)


def _multiple(count: Count, base: int, *, up: bool) -> Count:
    """Return the nearest multiple of a base that is not below a count (``up``), or not above."""
    if isinstance(count, int):
        return -(-count // base) * base if up else count // base * base
    text = "(count + base - 1) // base * base" if up else "count // base * base"
    return filled(text, {"count": count, "base": number(base)})


def _outside(count: Count, first: int, last: int, instead: int) -> Count:
    """Return a count, or another one ``instead`` of those from ``first`` to ``last``."""
    if isinstance(count, int):
        return instead if first <= count <= last else count
    inside = exp.Between(this=count, low=number(first), high=number(last))
    return exp.case().when(inside, number(instead)).else_(count)


def parse(text: str) -> Protection:
    """Return the protection that a text names (``top:N``: atleast); InputError if it names none.

    Several, which are applied one after the other, are joined by ``+``.
    """
    words = text.strip().casefold()
    if not _PROTECTION.fullmatch(words):
        raise InputError(
            f"unknown protection {quoted(text.strip())}{did_you_mean(words, WORDS)}; protections "
            f"are {', '.join(WORDS)}"
        )
    *before, last = (_parse_step(part) for part in words.split("+"))
    if not before:
        return last
    stacked = replace(last, before=tuple(before))
    if any(step.number > MOST_STACKED for step in stacked.steps):
        reason = f"their numbers are at most {MOST_STACKED:,}"
    else:
        reason = stacked.faults()
    if reason:
        raise InputError(f"the protections {quoted(text.strip())} do not go together: {reason}")
    return stacked


def _parse_step(text: str) -> Protection:
    match = re.fullmatch(r"([a-z]+)\s*[<:]?\s*(\d*)([a-z\s]*)", text.strip())
    assert match is not None  # noqa: S101 - the pattern of all protections has been matched
    name, variants = match[1].replace("top", "atleast"), match[3].split()
    kind = next(kind for kind in LEAST if kind == name)
    n, least = int(match[2][:18]) if match[2] else 0, LEAST[kind]
    if not least <= n <= LARGEST:
        raise InputError(
            f"protection {quoted(text.strip())} has an impossible number; give {kind} one from "
            f"{least} to {LARGEST:,}"
        )
    positive = "positive" in variants
    return Protection(kind, n, variant=bool({*variants} - {"positive"}), positive=positive)


def split(text: str) -> tuple[str, Protection]:
    """Split ``NAMES:PROTECTION``; return the names (or the file) and the protection.

    A text without a protection is returned whole, with an exact one: the ending of ``age:5`` is a
    coarser form. Raises InputError for an ending that looks like a misspelt protection.
    """
    for colon in (m.start() for m in re.finditer(":", text)):
        if _PROTECTION.fullmatch(text[colon + 1 :]):
            return text[:colon], parse(text[colon + 1 :])
    names, _, ending = text.rpartition(":")
    words = ending.strip()
    if names and ("<" in words or did_you_mean(words.casefold(), WORDS).startswith("; did")):
        parse(words)  # raises the error, with the nearest protection
    return text, Protection()
