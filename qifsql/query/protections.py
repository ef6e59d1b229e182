"""Protections of published counts: which counts a published cell may stand for.

A table says how it is protected; each cell of it, and each combination that is not listed, then
gives an interval of possible counts. Source: M90.
"""

import re
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.query.columns import number

Kind = Literal["exact", "suppress", "round", "noise", "atleast", "partial"]
LEAST: dict[Kind, int] = {"exact": 0, "suppress": 2, "round": 2, "noise": 1, "atleast": 1}
LARGEST = 10**9  # of the number of a protection; LEAST are the least ones
WORDS = (
    "exact", "suppress<5", "suppress<5 zeros", "round:5", "round:5 random", "noise:2", "atleast:10",
)  # fmt: skip
_NUMBERED = (
    r"(?:suppress\s*<\s*\d+(?:\s+zeros)?|(?:round|noise|atleast|top)\s*:\s*\d+(?:\s+random)?)"
)
_PROTECTION = re.compile(rf"\s*(?:exact|{_NUMBERED})\s*", re.I)


@dataclass(frozen=True)
class Protection:
    """A protection of counts: its kind, its number, and its variant.

    ``suppress`` hides counts from 1 to ``number`` - 1, with ``variant`` (zeros) 0, too; ``round``
    rounds to multiples of ``number``, half up, or with ``variant`` (random) up or down without
    bias; ``noise`` adds at most ``number`` up or down; ``atleast`` tells counts from ``number`` on
    only as "that many or more". ``partial`` counts leave up to ``number`` people out, whose records
    were suppressed or not released: no user writes it.
    """

    kind: Kind = "exact"
    number: int = 0
    variant: bool = False

    @property
    def text(self) -> str:
        """Return the protection as it is written: ``suppress<5``."""
        if self.kind == "exact":
            return "exact"
        sign = "<" if self.kind == "suppress" else ":"
        words = {"suppress": " zeros", "round": " random"}
        return f"{self.kind}{sign}{self.number}{words.get(self.kind, '') * self.variant}"

    @property
    def exact(self) -> bool:
        """Return whether every cell tells its count."""
        return self.kind == "exact"

    @property
    def hides_zeros(self) -> bool:
        """Return whether a hidden cell may be empty."""
        return self.kind == "suppress" and self.variant

    @property
    def unlisted(self) -> int:
        """Return the largest count of a combination that is not listed, a published 0."""
        if self.kind == "round":
            return self.number - 1 if self.variant else (self.number + 1) // 2 - 1
        return self.number if self.kind in ("noise", "partial") else 0

    def hidden(self) -> tuple[int, int]:
        """Return the least and the largest count of a hidden cell."""
        return (0 if self.variant else 1), self.number - 1

    def lower(self, published: exp.Expr) -> exp.Expr:
        """Return the least count that may be published as ``published``."""
        if self.kind not in ("round", "noise"):
            return published
        # Rounded half up, a count rises by half the base at most; otherwise it can rise as far as
        # it can fall (``upper``).
        half_up = self.kind == "round" and not self.variant
        down = self.number // 2 if half_up else self.unlisted
        return exp.func("greatest", number(0), exp.Sub(this=published, expression=number(down)))

    def upper(self, published: exp.Expr) -> exp.Expr:
        """Return the largest count behind a published one; NULL: there is none."""
        if self.kind in ("round", "noise", "partial"):
            return exp.Add(this=published, expression=number(self.unlisted))
        if self.kind == "atleast":
            open_end = exp.GTE(this=published, expression=number(self.number))
            return exp.case().when(open_end, exp.null()).else_(published)
        return published


def parse(text: str) -> Protection:
    """Return the protection that a text names (``top:N``: atleast); InputError if it names none."""
    words = text.strip().casefold()
    names = "exact|suppress|round|noise|atleast|top"
    match = re.fullmatch(rf"({names})\s*[<:]?\s*(\d{{0,18}})\s*(\w*)", words)
    if match is None or not _PROTECTION.fullmatch(words):
        raise InputError(
            f"unknown protection {quoted(text.strip())}{did_you_mean(words, WORDS)}; protections "
            f"are {', '.join(WORDS)}"
        )
    name, variant = match[1].replace("top", "atleast"), match[3]
    kind = next(kind for kind in LEAST if kind == name)
    n, least = int(match[2] or 0), LEAST[kind]
    if not least <= n <= LARGEST or (variant == "random" and kind != "round"):
        raise InputError(
            f"protection {quoted(text.strip())} has an impossible number; give {kind} one from "
            f"{least} to {LARGEST:,}"
        )
    return Protection(kind, n, variant=bool(variant))


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
