"""A release whose values were drawn from the true ones by known matrices (M197 to M199).

All true tables that the release may come of are enumerated, with every record that may be the
person's.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, TypeAlias

Matrix: TypeAlias = Mapping[tuple[Any, Any], Fraction]
"""The probability that a true value is released as another, by both; these add up to 1."""
Shares: TypeAlias = Mapping[Any, Fraction]
Record: TypeAlias = tuple[Any, ...]


def true_values(released: Any, shares: Shares, matrix: Matrix) -> dict[Any, Fraction]:
    """Return the chance of each true value, given the released one (M197)."""
    joint = {
        true: share * matrix[true, released]
        for true, share in shares.items()
        if share and matrix.get((true, released))
    }
    total = sum(joint.values())
    return {true: mass / total for true, mass in joint.items()}


def true_tables(
    released: Sequence[Record], shares: Sequence[Shares], matrices: Sequence[Matrix]
) -> Iterator[tuple[tuple[Record, ...], Fraction]]:
    """Yield every table of true records from which the release may be drawn, with its chance.

    ``shares`` and ``matrices`` are those of the columns. Records and columns are independent.
    """
    records = []
    for record in released:
        columns = zip(record, shares, matrices, strict=True)
        cells = [true_values(*column).items() for column in columns]
        records.append(list(product(*cells)))
    for rows in product(*records):
        table = tuple(tuple(true for true, _ in row) for row in rows)
        yield table, prod((p for row in rows for _, p in row), start=Fraction(1))


def success(
    released: Sequence[Record],
    shares: Sequence[Shares],
    matrices: Sequence[Matrix],
    *,
    secret: bool,
) -> tuple[Fraction, Fraction]:
    """Return the deterministic and the probabilistic success (M198).

    The adversary knows the true quasi-identifiers of a person, each of the records being as likely
    the person's, and guesses the record; with ``secret``, which is the last column, its true value.
    """
    guesses: dict[Record, dict[Any, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for table, chance in true_tables(released, shares, matrices):
        for owner, true in enumerate(table):
            qids, guess = (true[:-1], true[-1]) if secret else (true, owner)
            guesses[qids][guess] += chance / len(released)
    best = [max(chances.values()) for chances in guesses.values()]
    certain = [max(chances.values()) for chances in guesses.values() if len(chances) == 1]
    return sum(certain, Fraction()), sum(best, Fraction())


def invariant(shares: Shares, pd: Fraction, alpha: Fraction) -> Matrix:
    """Return the invariant matrix of sdcMicro's ``pram``: (1 - alpha) I + alpha P Q (M199).

    P keeps a value with probability ``pd``, and takes each other one with the same probability. Q
    takes a value back to those that it may have come from.
    """
    others = len(shares) - 1
    first = {
        (v, w): (pd if v == w else (1 - pd) / others) if others else Fraction(1)
        for v, w in product(shares, shares)
    }
    reached = {w: sum(share * first[v, w] for v, share in shares.items()) for w in shares}
    back = {(u, w): p * first[w, u] / reached[u] for u in shares for w, p in shares.items()}
    return {
        (v, w): (1 - alpha) * (v == w) + alpha * sum(first[v, u] * back[u, w] for u in shares)
        for v, w in product(shares, shares)
    }
