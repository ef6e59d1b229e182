"""Find a root of a function of one number; scipy, which has this method too, is no dependency."""

import math
from collections.abc import Callable
from typing import NamedTuple

STEPS = 200


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
