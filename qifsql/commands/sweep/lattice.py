"""Which subsets of the quasi-identifiers are wanted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from qifsql.errors import (
    InputError,
    did_you_mean,
    quoted,
    several,
)

MOST = 28  # quasi-identifiers whose states and turns fit in their numbers
LARGEST = 24  # quasi-identifiers of which all subsets can be swept


@dataclass(frozen=True)
class Scope:
    """Subsets of ``n`` attributes: of ``least`` to ``most`` of them, or only those listed.

    ``listed`` are numbers: bit i stands for the i-th quasi-identifier. ``sample`` is the share
    of the blocks of the first attribute that are looked at where there are many.
    """

    n: int
    least: int
    most: int
    listed: tuple[int, ...] = ()
    searching: bool = False
    sample: float | None = None

    @property
    def whole(self) -> bool:
        """Whether it is every subset."""
        return not (self.listed or self.searching) and self.least <= 1 and self.most == self.n

    @property
    def subsets(self) -> int:
        """How many subsets there are."""
        if self.listed:
            return len(self.listed)
        return sum(comb(self.n, size) for size in range(self.least, self.most + 1))

    def beginning(self, later: int) -> int:
        """How many subsets begin with one attribute, where so many others come after it."""
        return sum(comb(later, size - 1) for size in range(self.least, self.most + 1))

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        sizes: str | None = None,
        listed: Sequence[str | int] = (),
        *,
        searching: bool = False,
        sample: float | None = None,
    ) -> "Scope":
        """From what people type: sizes ``1-4``, subsets ``day+school`` (or their numbers).

        Raises InputError where nothing is left, or all subsets are too many.
        """
        n = len(names)
        if n > MOST:
            raise InputError(f"a sweep takes {MOST} quasi-identifiers at most, not {n}; name fewer")
        if sample is not None and not 0 < sample < 1:
            raise InputError("a sample is a share of the blocks, above 0 and below 1, such as 0.01")
        if sample and (searching or listed):
            raise InputError(
                "a sample is for sweeps of all subsets or sizes; leave one of them out"
            )
        if searching:
            if sizes or listed:
                raise InputError("a search visits no given subsets; leave sizes and subsets out")
            return cls(n, 1, n, searching=True)
        if listed:
            if sizes:
                raise InputError("sizes and a list of subsets exclude each other; leave one out")
            masks = sorted({s if isinstance(s, int) else _subset(s, names) for s in listed})
            counts = [m.bit_count() for m in masks]
            return cls(n, min(counts), max(counts), tuple(masks))
        least, most = _sizes(sizes, n)
        scope = cls(n, least, most, sample=sample)
        if scope.subsets > 2**LARGEST:
            many = f"2^{n}" if scope.whole else f"{scope.subsets:,}"
            raise InputError(
                f"{n} quasi-identifiers have {many} subsets, more than a sweep visits: limit them "
                "with --sizes 1-4, look for risky ones with --search, or name fewer"
            )
        return scope


def _sizes(text: str | None, n: int) -> tuple[int, int]:
    if text is None:
        return 1, n
    match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", text)
    least, most = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= least <= most:
        raise InputError(f"sizes are written 2 or 1-4, from 1 on, not {quoted(text)}")
    if least > n:
        raise InputError(f"of {several(n, 'quasi-identifier')} no subset has {least}")
    return least, min(most, n)


def _subset(text: str, names: Sequence[str]) -> int:
    """A subset from its names, joined by ``+``; a name may contain one."""
    if not text:
        raise InputError(
            'subset "" is empty: a subset names one quasi-identifier or more, as in day+school'
        )
    members = _members(text, names)
    if members is None:
        rest = text
        while prefixes := [n for n in names if rest.startswith(f"{n}+")]:
            rest = rest[len(max(prefixes, key=len)) + 1 :]
        hint = did_you_mean(rest.split("+")[0], names)
        raise InputError(f"subset {quoted(text)} names no quasi-identifier there{hint}")
    if len(set(members)) < len(members):
        raise InputError(f"subset {quoted(text)} names a quasi-identifier twice; name it once")
    return sum(1 << i for i in members)


def _members(text: str, names: Sequence[str]) -> list[int] | None:
    """The numbers of the names that a text is made of, the longest that fits first."""
    for name in sorted(names, key=len, reverse=True):
        if text == name:
            return [names.index(name)]
        if text.startswith(f"{name}+"):
            rest = _members(text[len(name) + 1 :], names)
            if rest is not None:
                return [names.index(name), *rest]
    return None
