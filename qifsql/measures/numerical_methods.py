"""Numerical methods for estimates: sums and ratios of the gamma function, and roots of functions.

Asymptotic series from 20 on (Abramowitz and Stegun 6.1.41, 6.3.18), terms one by one below: exact
to about 14 digits, also if both ends of a range are large and close together; then the difference
of two values of scipy's ``digamma`` keeps only 7 digits. scipy, which finds roots, is no
dependency.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

STEPS = 200  # most steps to a root
FROM = 20.0  # from here on the series is exact to double precision
DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)  # B_2k / 2k, of x^-2k
LOG_GAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)  # B_2k / (2k (2k - 1)), of x^(1 - 2k)


def harmonic(x: float, terms: int) -> float:
    """Compute 1/x + 1/(x + 1) + ... with that many terms; x > 0."""
    total = 0.0
    while terms > 0 and x < FROM:  # too small for the series
        total, x, terms = total + 1 / x, x + 1, terms - 1
    if terms <= 0:
        return total
    end = x + terms
    tail = math.log1p(terms / x) + (1 / x - 1 / end) / 2
    for k, b in enumerate(DIGAMMA, 1):
        tail += b * (x ** (-2 * k) - end ** (-2 * k))
    return total + tail


def log_rising(x: float, step: float) -> float:
    """Compute log(Gamma(x + step) / Gamma(x)) for x > 0, step >= 0.

    For whole steps that is log(x (x + 1) ... (x + step - 1)).
    """
    total = 0.0
    while x < FROM:  # too small for the series: Gamma(x + 1) = x Gamma(x)
        total, x = total - math.log1p(step / x), x + 1
    end = x + step  # from here on, the difference of Stirling's series at both ends
    tail = (end - 0.5) * math.log1p(step / x) + step * (math.log(x) - 1)
    for k, b in enumerate(LOG_GAMMA, 1):
        tail += b * (end ** (1 - 2 * k) - x ** (1 - 2 * k))
    return total + tail


class Point(NamedTuple):
    """A point of the function."""

    x: float
    y: float


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """Compute a number between ``low`` and ``high`` at which ``f`` is 0, to double precision.

    The signs at both ends must differ. Ridders's method at least halves the interval in each step,
    and is fast if the function is smooth.
    """
    lower, upper = Point(low, f(low)), Point(high, f(high))
    for end in (lower, upper):
        if end.y == 0:
            return end.x
    estimate = low
    for _ in range(STEPS):
        x = (lower.x + upper.x) / 2
        middle = Point(x, f(x))
        slope = math.sqrt(middle.y * middle.y - lower.y * upper.y)
        if slope == 0:  # too small to be distinguished from 0
            return middle.x
        sign = 1 if lower.y > upper.y else -1
        before, estimate = estimate, middle.x + (middle.x - lower.x) * sign * middle.y / slope
        point = Point(estimate, f(estimate))
        if point.y == 0 or estimate == before:
            return estimate
        # The shortest interval of these points whose ends have different signs.
        if (point.y > 0) is not (middle.y > 0):
            lower, upper = sorted((middle, point))
        elif (point.y > 0) is not (lower.y > 0):
            upper = point
        else:
            lower = point
    return estimate
