"""Risks of households, person by person, from the definitions."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction as F
from math import prod
from typing import Any

from qifsql.reference import microdata
from qifsql.reference import success as reference
from qifsql.reference.microdata import Row


def risks(
    rows: Sequence[Row], household: str, qids: Sequence[str], secret: str | None
) -> dict[str, Any]:
    """Return the risks of households by their members."""
    members: dict[Hashable, list[F]] = defaultdict(list)
    chances = reference.of_individuals(reference.individual_success(rows, qids, secret))
    for number, (row, chance) in enumerate(zip(rows, chances, strict=True)):
        key = microdata.value(row[household])
        members[("alone", number) if key is None else ("unit", key)].append(chance)
    n = len(members)
    each = [1 - prod(1 - r for r in chance) for chance in members.values()]
    return {
        "households": n,
        "people": len(rows),
        "people_without": sum(1 for row in rows if microdata.value(row[household]) is None),
        "singled_out": sum(1 for chance in members.values() if 1 in chance),
        "risk": F(sum(each)) / n,
        "risk_low": F(sum(max(c) for c in members.values())) / n,
        "risk_high": F(sum(min(F(1), sum(c, F(0))) for c in members.values())) / n,
        "worst_risk": max(each),
        "expected_people": sum(r * len(c) for r, c in zip(each, members.values(), strict=True)),
    }
