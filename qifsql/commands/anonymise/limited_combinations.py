"""The combinations of quasi-identifiers that have a k of their own: every M of them, or named."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from qifsql.commands.anonymise.spec import Request
from qifsql.data.option import csv_row
from qifsql.errors import ColumnError, InputError, did_you_mean, quoted

MOST = 10_000  # combinations


@dataclass(frozen=True)
class Combination:
    """Quasi-identifiers, by number, whose cells together have at least ``k`` records or people."""

    qids: tuple[int, ...]
    k: int

    def implies(self, narrower: "Combination") -> bool:
        """Return whether another combination keeps its k wherever this one does."""
        return self.k >= narrower.k and set(self.qids) > set(narrower.qids)


def required_combinations(request: Request, names: Sequence[str]) -> list[Combination]:
    """Return the combinations that a request limits, without those that others imply.

    ``names`` are the quasi-identifiers. The list is empty if k is about all of them alone.
    """
    width, k = len(names), request.limits.k
    size = min(request.subsets or width, width)
    if comb(width, size) > MOST:
        raise InputError(
            f"{width} quasi-identifiers have {comb(width, size):,} combinations of {size}, and at "
            f"most {MOST:,} are kept; name fewer, or single combinations (--k-for)"
        )
    of_size = dict.fromkeys(combinations(range(1, width + 1), size), k)
    named: dict[tuple[int, ...], int] = {}
    for text in request.k_for:
        qids, its_k = _read_named(text, names)
        named[qids] = max(its_k, named.get(qids, 1), of_size.get(qids, 1))
    limited = [Combination(qids, n) for qids, n in (of_size | named).items() if n > 1]
    of_named = [c for c in limited if c.qids in named]
    necessary = [
        c
        for c in limited  # those of one size imply only named ones
        if not any(wider.implies(c) for wider in (limited if c.qids in named else of_named))
    ]
    is_usual = necessary in ([], [Combination(tuple(range(1, width + 1)), k)])
    return [] if is_usual else necessary


def _read_named(text: str, names: Sequence[str]) -> tuple[tuple[int, ...], int]:
    """Return the numbers of the quasi-identifiers and the k of a text such as ``age,sex=5``."""
    columns, _, k = text.rpartition("=")
    named = csv_row(columns)
    if not named or not k.strip().isdecimal() or not int(k):
        raise InputError(
            f"k_for cannot be {quoted(text)}; write quasi-identifiers and a whole number from 1, "
            "as in age,sex=5"
        )
    for name in named:
        if name not in names:
            raise ColumnError(
                f"{quoted(name)} is not a quasi-identifier{did_you_mean(name, names)}"
            )
    return tuple(sorted({names.index(name) + 1 for name in named})), int(k)
