"""Find a root of a function of one number; scipy, which has this method too, is no dependency."""

import math
from collections.abc import Callable

STEPS = 200


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """Compute a number between ``low`` and ``high`` at which ``f`` is 0, to double precision.

    The signs at both ends must differ. Ridders's method at least halves the interval in each step,
    and is fast if the function is smooth.
    """
    at_low, at_high = f(low), f(high)
    for end, value in ((low, at_low), (high, at_high)):
        if value == 0:
            return end
    estimate = low
    for _ in range(STEPS):
        middle = (low + high) / 2
        at_middle = f(middle)
        slope = math.sqrt(at_middle * at_middle - at_low * at_high)
        if slope == 0:  # too small to be distinguished from 0
            return middle
        sign = 1 if at_low > at_high else -1
        before, estimate = estimate, middle + (middle - low) * sign * at_middle / slope
        at_estimate = f(estimate)
        if at_estimate == 0 or estimate == before:
            return estimate
        if (at_estimate > 0) is not (at_middle > 0):
            ends = sorted(((middle, at_middle), (estimate, at_estimate)))
        elif (at_estimate > 0) is not (at_low > 0):
            ends = [(low, at_low), (estimate, at_estimate)]
        else:
            ends = [(estimate, at_estimate), (high, at_high)]
        (low, at_low), (high, at_high) = ends
    return estimate
