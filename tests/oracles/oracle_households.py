"""Risks of households, person by person, from the definitions."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction as F
from math import prod
from typing import Any

from qifsql.reference import people_with_records
from qifsql.reference import success as reference
from qifsql.reference.microdata import Row


def risks(
    rows: Sequence[Row],
    household: str,
    qids: Sequence[str],
    secret: str | None,
    person: str | None = None,
) -> dict[str, Any]:
    """Return the risks of households by their members, who may have several records."""
    if person is None:
        rows, person = [row | {"number": i} for i, row in enumerate(rows)], "number"
    people = people_with_records.all_known(rows, person, qids, secret)
    secrets = None if secret is None else "secret"
    successes = reference.individual_success(people, ["known"], secrets)
    members: dict[Hashable, list[F]] = defaultdict(list)
    homes_of_people = people_with_records.households_of(rows, person, household)
    chances = reference.of_individuals(successes)
    for homes, chance in zip(homes_of_people, chances, strict=True):
        for home in homes:
            members[home].append(chance)
    n = len(members)
    each = [1 - prod(1 - r for r in chance) for chance in members.values()]
    return {
        "households": n,
        "people": sum(map(len, members.values())),
        "people_without": sum(isinstance(home, tuple) for home in members),
        "singled_out": sum(1 for chance in members.values() if 1 in chance),
        "risk": F(sum(each)) / n,
        "risk_low": F(sum(max(c) for c in members.values())) / n,
        "risk_high": F(sum(min(F(1), sum(c, F(0))) for c in members.values())) / n,
        "worst_risk": max(each),
        "expected_people": sum(r * len(c) for r, c in zip(each, members.values(), strict=True)),
    }
