"""Confidence intervals: of shares and their differences from Wilson's score interval; exact ones.

Sources: Wilson 1927; Newcombe 1998, Interval estimation for the difference between independent
proportions (method 10), and Improved confidence intervals for the difference between binomial
proportions based on paired data (method 10); Donner and Zou 2012, Closed-form confidence intervals
for functions of the normal mean and standard deviation (ratios). The equations are M111 to M113 and
M120.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

CONFIDENCE = 0.95
UNSEEN = 3  # -ln 0.05, rounded up: the rule of three
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365)
"""97.5 % quantiles of Student's t with 1 to 7 degrees of freedom."""
Interval = tuple[float, float]


def wilson(right: float, people: int) -> Interval:
    """Return Wilson's interval of the share ``right`` of ``people``, at 95 % confidence.

    ``right`` may be a fraction of a person, where ties are shared. The interval is in [0, 1].
    """
    z = _z()
    p, over = right / people, z * z / people
    centre = (p + over / 2) / (1 + over)
    root = math.sqrt(p * (1 - p) / people + over / (4 * people))
    half = z * root / (1 + over)
    low = 0.0 if right <= 0 else max(0.0, centre - half)
    high = 1.0 if right >= people else min(1.0, centre + half)
    return min(low, p), max(high, p)


def clopper_pearson(right: int, draws: int, error: float = 0.05) -> Interval:
    """Return the exact interval of a chance, from ``right`` of so many independent draws.

    It covers the chance with probability 1 - ``error`` or more (Clopper and Pearson 1934).
    """

    def tail(chance: float, counts: range) -> float:
        """Return the binomial probability that the number of right draws is one of ``counts``."""
        logs = (
            math.lgamma(draws + 1)
            - math.lgamma(i + 1)
            - math.lgamma(draws - i + 1)
            + i * math.log(chance)
            + (draws - i) * math.log1p(-chance)
            for i in counts
        )
        return math.fsum(map(math.exp, logs))

    def bound(counts: range, *, rising: bool) -> Interval:
        """Return both sides of the chance at which the counts have half of the error.

        ``rising``: the probability of the counts rises with the chance.
        """
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            if (tail(middle, counts) < error / 2) == rising:
                low = middle
            else:
                high = middle
        return low, high

    lowest = bound(range(right, draws + 1), rising=True)[0] if right else 0.0
    highest = bound(range(right + 1), rising=False)[1] if right < draws else 1.0
    return lowest, highest


def mean_of_chances(mean: float, squares: float, draws: int) -> Interval:
    """Return the interval of a mean of chances, each in [0, 1], at 95 % confidence.

    ``squares`` is the mean of their squares. The interval is that of Student, widened by what was
    not drawn: a part of the people of which none was drawn is at most ``3 / draws`` of them, at
    95 % (the rule of three). Source: M156.
    """
    if draws < 2:
        return 0.0, 1.0
    variance = max(0.0, squares - mean * mean) * draws / (draws - 1)
    half = _student(draws - 1) * math.sqrt(variance / draws) + UNSEEN / draws
    return max(0.0, mean - half), min(1.0, mean + half)


def range_of_next(values: Sequence[float]) -> Interval | None:
    """Return where the next random draw is with a probability of at least 95 %.

    Of n draws and the next one each order is equally likely, so it is from the r-th smallest to the
    r-th largest of the n with probability 1 - 2 r / (n + 1), or more if some are equal, whatever
    the distribution. None if n is below 39. Source: M214; Wilks 1941.
    """
    n = len(values)
    rank = (n + 1) // 40
    if not rank:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[-rank]


def _student(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t, from that of the normal distribution.

    Below 8 degrees of freedom the quantiles are listed; above, the expansion of Cornish and Fisher
    (Abramowitz and Stegun 26.7.5) is within 0.001.
    """
    if degrees < len(STUDENT) + 1:
        return STUDENT[degrees - 1]
    z, n = _z(), degrees
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / n + second / n**2 + third / n**3


def newcombe(right: float, people: int, second: float, second_people: int) -> Interval:
    """Return the interval of the difference of two shares of different people.

    It is that of ``right / people - second / second_people`` at 95 % confidence, in [-1, 1].
    """
    p, q = right / people, second / second_people
    (low, high), (second_low, second_high) = wilson(right, people), wilson(second, second_people)
    below, above = math.hypot(p - low, second_high - q), math.hypot(high - p, q - second_low)
    return max(-1.0, p - q - below), min(1.0, p - q + above)


def paired(right: float, second: float, both: float, people: int) -> Interval:
    """Return the interval of the difference of two shares of the same people.

    ``right`` and ``second`` are right guesses of two adversaries, ``both`` those of both at once.
    """
    p, q = right / people, second / people
    (low, high), (second_low, second_high) = wilson(right, people), wilson(second, people)
    phi = _correlation(right, second, both, people)
    below = (p - low) ** 2 - 2 * phi * (p - low) * (second_high - q) + (second_high - q) ** 2
    above = (high - p) ** 2 - 2 * phi * (high - p) * (q - second_low) + (q - second_low) ** 2
    below, above = math.sqrt(max(0.0, below)), math.sqrt(max(0.0, above))
    return max(-1.0, p - q - below), min(1.0, p - q + above)


def excess(right: float, people: int, second: float, second_people: int) -> Interval | None:
    """Return the interval of ``(s - t) / (1 - t)``, a success s beyond another one, t.

    The shares s and t are of different people; it is at most 1, and None if t is 1. It is that of 1
    minus the ratio p / q of the shares of failures, p = 1 - s and q = 1 - t. Donner and Zou 2012
    give the bounds of the ratio from Wilson's bounds l, u of p and L, U of q: the least is (p q -
    sqrt((p q)^2 - l (2 p - l) U (2 q - U))) / (U (2 q - U)), here with the root in the denominator;
    the greatest is (p q + sqrt((p q)^2 - u (2 p - u) L (2 q - L))) / (L (2 q - L)).
    """
    p, q = 1 - right / people, 1 - second / second_people
    low, high = wilson(people - right, people)
    second_low, second_high = wilson(second_people - second, second_people)
    if second_low <= 0:
        return None
    above, below = low * (2 * p - low), second_high * (2 * q - second_high)
    root = math.sqrt(max(0.0, (p * q) ** 2 - above * below))
    least = above / (p * q + root) if above > 0 else 0.0
    above, below = high * (2 * p - high), second_low * (2 * q - second_low)
    root = math.sqrt(max(0.0, (p * q) ** 2 - above * below))
    greatest = (p * q + root) / below
    return 1 - greatest, 1 - least


def _correlation(right: float, second: float, both: float, people: int) -> float:
    """Return the correlation of both guesses, with Newcombe's correction for continuity."""
    product = right * (people - right) * second * (people - second)
    if product <= 0:
        return 0.0
    neither = people - right - second + both
    excess = both * neither - (right - both) * (second - both)
    if excess > 0:
        excess = max(0.0, excess - people / 2)
    return excess / math.sqrt(product)


def _z() -> float:
    """Return the quantile of the normal distribution for both ends of an interval."""
    return NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def overlap(first: Interval, second: Interval) -> float | None:
    """Return the overlap of two intervals: the mean of the shares of both that they have in common.

    It is 1 for equal intervals and 0 for disjoint ones; None where an interval has no width.
    Source: Karr et al. 2006 (M213).
    """
    widths = [high - low for low, high in (first, second)]
    if min(widths) <= 0:
        return None
    common = max(0.0, min(first[1], second[1]) - max(first[0], second[0]))
    return (common / widths[0] + common / widths[1]) / 2
