"""Scores of minimal sample uniques, and DIS-SUDA.

Sources: Elliot, Manning and Ford 2002 (scores); Elliot, Manning, Mayes, Gurd and Bane 2005
(DIS-SUDA); sdcMicro, ``suda2`` (the exponent).
"""

import math
from fractions import Fraction


def score_of_size(n: int, limit: int, size: int) -> int:
    """Return the score of one minimal sample unique of that size (M142).

    It is the product of n - i for i from ``size`` to the smaller of ``limit`` and n - 1: the number
    of ways to go on to subsets of ``limit`` + 1 quasi-identifiers. ``n`` is the number of
    quasi-identifiers, ``limit`` the largest size that is looked for.
    """
    return math.prod(n - i for i in range(size, min(limit, n - 1) + 1))


def exponent(n: int) -> float:
    """Return the power of scores in DIS-SUDA for ``n`` quasi-identifiers, 1 + (8 - n)/20 (M145)."""
    return 1 + (8 - n) / 20


def intrusion(uniques: int, paired: int, fraction: Fraction) -> float | None:
    """Return DIS, the chance that a match with a unique record is right, in [0, 1] (M144).

    ``paired`` are records in blocks of two, ``fraction`` is the sampling fraction; None without
    uniques and pairs, or without uniques in a whole population. People with several records count
    by the smallest of their blocks.
    """
    right = uniques * fraction
    matches = right + paired * (1 - fraction)
    return float(right / matches) if matches else None


def odds(paired: int, fraction: Fraction) -> float:
    """Return U / DIS - U: records in blocks of two times (1 - f) / f (M145)."""
    return float(paired * (1 / fraction - 1))


def dis_suda(score: int, *, n: int, paired: int, fraction: Fraction, powers: float) -> float:
    """Return the DIS-SUDA of a record with that score, in [0, 1] (M145); 0 without a score.

    ``powers`` is the sum of score^-exponent over all records with a score.
    """
    if not score:
        return 0.0
    power: float = float(score) ** exponent(n)
    return 1 / (1 + odds(paired, fraction) / (power * powers))
