"""The risk that a household is found through any of its members (M175, M176, M195)."""

from collections.abc import Mapping
from typing import Any

PARTS = 2**80  # a sum of chances is taken in whole parts of 2^-80, so that no order matters
COUNTS = ("households", "people", "singled_out")
MEANS = ("risk", "risk_low", "risk_high")


def summary(housed: Mapping[str, Any], alone: Mapping[str, Any]) -> dict[str, Any]:
    """Return the risk of all households, as a row of the details ``households``.

    ``housed`` and ``alone`` are the rows of the views ``households`` and ``unhoused``: households
    of several people, and people without a household, each of whom counts as one. In both,
    ``MEANS`` and ``people_risk`` are sums of chances in whole parts of 2^-80; here ``MEANS`` are
    means over households.
    """
    names = (*COUNTS, *MEANS, "people_risk")
    added = {name: int(housed[name]) + int(alone[name]) for name in names}
    n = added["households"]
    return {
        "households": n,
        "people": added["people"],
        "people_without": alone["people"],
        "singled_out": added["singled_out"],
        "share_singled_out": added["singled_out"] / n,
        **{name: added[name] / (n * PARTS) for name in MEANS},
        "worst_risk": max(housed["worst_risk"], alone["worst_risk"]),
        "expected_people": added["people_risk"] / PARTS,
    }
