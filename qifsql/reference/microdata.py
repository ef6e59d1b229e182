"""Records, the meaning of their values, and their blocks (M1 to M3, M20)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = Sequence[Row]
Names: TypeAlias = Sequence[str]
Weight: TypeAlias = int | float | Decimal | Fraction
Weights: TypeAlias = Sequence[Weight] | None
Key: TypeAlias = tuple[object, ...]
Counts: TypeAlias = Mapping[Any, int]  # the number of people with each value of the secret


def value(cell: Any) -> Any:
    """Return a value as it is compared: NaN is missing (None), and -0.0 is 0.0.

    A column holds values of one type, so ``1 == True == 1.0`` never mixes values.
    """
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell + 0.0
    return cell


def order_key(cell: Any) -> tuple[bool, Any]:
    """Return the key of the order of values: natural, texts by UTF-8 bytes, missing last."""
    v = value(cell)
    return v is None, v.encode() if isinstance(v, str) else 0 if v is None else v


def key(row: Row, names: Names) -> Key:
    """Return the values of a record in some columns."""
    return tuple(value(row[name]) for name in names)


def partition(rows: Rows, qids: Names) -> dict[Key, list[int]]:
    """Return the positions of the records of each block (M2): missing equals missing."""
    blocks: dict[Key, list[int]] = {}
    for position, row in enumerate(rows):
        blocks.setdefault(key(row, qids), []).append(position)
    return blocks


def sizes(rows: Rows, qids: Names) -> Counter[Key]:
    """Return the number of records of each block (M3)."""
    return Counter(key(row, qids) for row in rows)


@dataclass(frozen=True)
class Cell:
    """The people of a block who share a value of the secret, and their weight."""

    people: int = 0
    weight: Fraction = Fraction()


Values: TypeAlias = Mapping[Any, Cell]
Blocks: TypeAlias = Mapping[Key, Values]


def blocks(rows: Rows, qids: Names, secret: str | None, weights: Weights = None) -> Blocks:
    """Return the values of the secret in each block (M3), of the people who have weight.

    The keys are the values of the quasi-identifiers, in their order. The secret of
    re-identification (None) is the record itself, named by its position.
    """
    check(qids, secret)
    cells: dict[Key, dict[Any, Cell]] = {}
    for i, (row, mass) in enumerate(zip(rows, masses(rows, weights), strict=True)):
        if mass:
            inside = cells.setdefault(key(row, qids), {})
            v = i if secret is None else value(row[secret])
            cell = inside.get(v, Cell())
            inside[v] = Cell(cell.people + 1, cell.weight + mass)
    return cells


def counts(rows: Rows, qids: Names, secret: str) -> dict[Key, dict[Any, int]]:
    """Return how many people have each value of the secret in each block (M3)."""
    cells = blocks(rows, qids, secret)
    return {b: {v: cell.people for v, cell in inside.items()} for b, inside in cells.items()}


def masses(rows: Rows, weights: Weights) -> list[Fraction]:
    """Return the exact weight of each record, by default 1 (M20)."""
    numbers: Sequence[Weight] = [1] * len(rows) if weights is None else weights
    if len(numbers) != len(rows):
        raise ValueError("there must be one weight per record")
    try:
        exact = [Fraction(weight) for weight in numbers]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError("a weight is missing or not finite") from error
    if any(mass < 0 for mass in exact) or not any(exact):
        raise ValueError("a weight is negative, or no record has weight")
    return exact


def check(qids: Names, secret: str | None) -> None:
    """Refuse a secret among the quasi-identifiers."""
    if secret is not None and secret in qids:
        raise ValueError("the secret is among the quasi-identifiers")
