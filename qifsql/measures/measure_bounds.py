"""Bounds that measures must keep, as users write them: ``repU<=0.01``."""

import math
import re
from dataclasses import dataclass

_BOUND = re.compile(r"\s*(\w+)\s*(<=|>=)\s*(-?\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class Bound:
    """A bound on a measure: its text, the measure, and the largest or the smallest value."""

    text: str
    measure: str
    at_most: bool
    limit: float

    def distance(self, value: float | None) -> float:
        """Return how far a value is from the bound: 0 if it keeps it, infinite for NULL."""
        if value is None:
            return math.inf
        return max(0.0, float(value - self.limit if self.at_most else self.limit - value))


def read_bound(text: str) -> Bound | None:
    """Return the bound that a text states; None if it states none."""
    parts = _BOUND.fullmatch(text)
    if parts is None:
        return None
    return Bound(text.strip(), parts[1], parts[2] == "<=", float(parts[3]))
