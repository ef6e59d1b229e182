"""Sets of quasi-identifiers compared (M30, M35 to M38)."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import chain, combinations
from math import factorial
from typing import Any, TypeAlias

from qifsql.reference.microdata import Names, Rows, check, key, partition, value

Members: TypeAlias = frozenset[Any]
Values: TypeAlias = Mapping[Members, Fraction]  # the success by each set of quasi-identifiers


def subsets(names: Iterable[Any]) -> list[Members]:
    """Return all sets of the names, the empty one too, small ones first."""
    columns = sorted(set(names))
    sizes = (combinations(columns, size) for size in range(len(columns) + 1))
    return [frozenset(members) for members in chain.from_iterable(sizes)]


def minimal(family: Iterable[Members]) -> set[Members]:
    """Return the sets of the family that contain no other of it (M37)."""
    members = set(family)
    return {s for s in members if not any(part < s for part in members)}


def maximal(family: Iterable[Members]) -> set[Members]:
    """Return the sets of the family that no other of it contains (M37)."""
    members = set(family)
    return {s for s in members if not any(superset > s for superset in members)}


def minimal_sample_uniques(rows: Rows, qids: Names, target: Mapping[str, object]) -> set[Members]:
    """Return the minimal sets of columns on which exactly one record agrees with the target."""
    return minimal(s for s in subsets(qids) if len(_agreeing(rows, s, target)) == 1)


def minimal_revealing(
    rows: Rows, qids: Names, secret: str, target: Mapping[str, object]
) -> set[Members]:
    """Return the minimal sets on which all who agree with the target share one secret."""
    check(qids, secret)
    secrets = {s: {value(r[secret]) for r in _agreeing(rows, s, target)} for s in subsets(qids)}
    return minimal(s for s, values in secrets.items() if len(values) == 1)


def _agreeing(rows: Rows, names: Iterable[str], target: Mapping[str, object]) -> Rows:
    columns = list(names)
    return [row for row in rows if key(row, columns) == key(target, columns)]


def refines(rows: Rows, a: Names, b: Names) -> bool:
    """Return whether each block by ``a`` lies within one block by ``b`` (M30)."""
    coarse_blocks = [set(positions) for positions in partition(rows, b).values()]
    fine_blocks = [set(positions) for positions in partition(rows, a).values()]
    return all(any(fine <= coarse for coarse in coarse_blocks) for fine in fine_blocks)


def added(values: Values, to: Members, players: Names) -> Fraction:
    """Return what players add to a set: of two, what they add beyond what each adds alone."""
    parts = subsets(players)
    return sum(((-1) ** (len(players) - len(p)) * values[to | p] for p in parts), Fraction())


def index(values: Values, players: Names) -> Fraction:
    """Compute the Shapley value of a quasi-identifier (M35), the interaction index of two (M36).

    The index is the mean, over random orders of quasi-identifiers, of what ``players`` (one, or two
    who count as one in the order) add to the value of those before them.
    """
    others = subsets(max(values, key=len) - set(players))
    n = max(map(len, others))  # of the other quasi-identifiers
    return sum(
        (
            Fraction(factorial(len(s)) * factorial(n - len(s)), factorial(n + 1))
            * added(values, s, players)
            for s in others
        ),
        Fraction(),
    )
