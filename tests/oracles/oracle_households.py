"""Households and people with several records, person by person, from the definitions."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction as F
from math import prod
from typing import Any

from qifsql.reference import microdata
from qifsql.reference import success as reference
from qifsql.reference.microdata import Row


def value(row: Row, names: Sequence[str]) -> tuple[Hashable, ...]:
    """Return the values of columns, with one missing value."""
    return tuple(microdata.value(row[name]) for name in names)


def sets(rows: Sequence[Row], unit: str, qids: Sequence[str], secret: str | None) -> list[Any]:
    """Return what is known of each unit, and its secret: a multiset and a set.

    A row without a unit is a unit of its own.
    """
    members: dict[Hashable, list[Row]] = defaultdict(list)
    for number, row in enumerate(rows):
        key = microdata.value(row[unit])
        members[("alone", number) if key is None else ("unit", key)].append(row)
    known = [
        frozenset(Counter(value(row, qids) for row in group).items()) for group in members.values()
    ]
    secrets = [
        frozenset(value(row, [secret]) for row in group) if secret else number
        for number, group in enumerate(members.values())
    ]
    return list(zip(known, secrets, strict=True))


def success(people: Sequence[tuple[Hashable, Hashable]]) -> dict[str, Any]:
    """Return the success against people, each of whom is what is known and a secret."""
    rows = [{"known": known, "secret": secret} for known, secret in people]
    return reference.attack(rows, ["known"], "secret")


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
    }
