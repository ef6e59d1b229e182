"""Measures in exact fractions, computed from counts and from their definitions alone.

Nothing here uses ``qifsql.measures``: a mistake there makes a number differ here. ``of_kinds``
takes kinds of blocks, such as a profile in SQL counts them; ``of_blocks`` takes every block.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

Number = Fraction | int | float | None
DIGITS = 40  # of logarithms


@dataclass(frozen=True)
class Kind:
    """Blocks that are alike: their number, and totals over all of them.

    ``size`` and ``values`` are of each block. ``weight``, ``mode`` and ``heaviest`` are totals;
    ``chance`` and ``owner`` are the largest shares in a block of the best guess, and of one person.
    """

    size: int
    values: int
    blocks: int
    weight: Fraction
    mode: Fraction
    heaviest: Fraction
    chance: Fraction
    owner: Fraction

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Kind":
        """Return the kind in a row of a profile: of people, or of weights."""
        size, blocks, scale = int(row["size"]), int(row["blocks"]), Fraction(row["scale"])
        if "weight" in row:
            mode, heaviest = Fraction(row["mode"]) / scale, Fraction(row["heaviest"])
            chance, owner = Fraction(row["chance"]) / scale, Fraction(row["owner_chance"])
            weight = Fraction(row["weight"])
        else:
            weight, heaviest = Fraction(size * blocks), Fraction(blocks)
            mode = Fraction(row["mode"]) * blocks / scale
            chance, owner = Fraction(row["mode"]) / (size * scale), Fraction(1, size)
        return cls(size, int(row["values"]), blocks, weight, mode, heaviest, chance, owner)


@dataclass(frozen=True)
class Chances:
    """The success of an adversary: with certainty, on average, at worst; people without doubt."""

    deterministic: Fraction
    probabilistic: Fraction
    worst_case: Fraction
    certain: int


def chances(kinds: Sequence[Kind], *, owner: bool, gain: bool = False) -> Chances:
    """Return the success over all blocks; ``owner``: at finding whose record it is."""
    everybody = sum(kind.weight for kind in kinds)
    alone = [kind for kind in kinds if (kind.size if owner else kind.values) == 1]
    total = sum(kind.heaviest if owner and not gain else kind.mode for kind in kinds)
    worst = max(kind.owner if owner and not gain else kind.chance for kind in kinds)
    return Chances(
        Fraction(sum(kind.weight for kind in alone)) / everybody,
        Fraction(total) / everybody,
        worst,
        sum(kind.size * kind.blocks for kind in alone),
    )


def of_kinds(
    prior: Sequence[Kind], posterior: Sequence[Kind], *, owner: bool, gain: bool = False
) -> dict[str, Number]:
    """Return the numbers of an attack by the names of their columns."""
    before = chances(prior, owner=owner, gain=gain)
    after = chances(posterior, owner=owner, gain=gain)
    people = sum(kind.size * kind.blocks for kind in posterior)
    blocks = sum(kind.blocks for kind in posterior)
    return {
        "records": sum(kind.size * kind.blocks for kind in prior),
        "matches": people,
        "blocks": blocks,
        "singled_out": sum(kind.blocks for kind in posterior if kind.size == 1),
        **of_chances(before, after),
        "k": min(kind.size for kind in posterior),
        "l": None if owner else min(kind.values for kind in posterior),
    }


def of_chances(before: Chances, after: Chances) -> dict[str, Number]:
    """Return the numbers that compare the success before and after a release."""
    ratio = after.probabilistic / before.probabilistic if before.probabilistic else None
    return {
        "prior_deterministic": before.deterministic,
        "posterior_deterministic": after.deterministic,
        "degradation_deterministic": after.deterministic - before.deterministic,
        "prior_probabilistic": before.probabilistic,
        "posterior_probabilistic": after.probabilistic,
        "degradation_probabilistic": ratio,
        "leakage_additive": after.probabilistic - before.probabilistic,
        "min_entropy_leakage": log2(ratio) if ratio else None,
        "worst_case": after.worst_case,
        "individuals_certain": after.certain,
    }


def risks(posterior: Sequence[Kind], *, owner: bool, population: bool) -> dict[str, Number]:
    """Return the risks of re-identification; with a population, those that do not need it."""
    people = sum(kind.size * kind.blocks for kind in posterior)
    highest = Fraction(1, min(kind.size for kind in posterior))
    share = Fraction(sum(kind.blocks for kind in posterior), people)
    numbers: dict[str, Number] = {
        "prosecutor_risk": highest if owner else None,
        "marketer_risk": share if owner else None,
    }
    return numbers if owner and population else numbers | {"journalist_risk": None}


def log2(number: Fraction) -> float:
    """Return the logarithm to base 2 of a fraction above 0, rounded once."""
    with localcontext() as context:
        context.prec = DIGITS
        quotient = Decimal(number.numerator) / Decimal(number.denominator)
        return float(quotient.ln() / Decimal(2).ln())


def pointwise(kinds: Iterable[tuple[Fraction, int]]) -> dict[str, Number]:
    """Return mean, median, 95th percentile and maximum over people of log2 of a ratio."""
    ordered = sorted(kinds)
    people = sum(n for _, n in ordered)
    bits = [(log2(ratio), n) for ratio, n in ordered]
    return {
        "pointwise_mean": math.fsum(value * n for value, n in bits) / people,
        "pointwise_median": quantile(bits, Fraction(1, 2)),
        "pointwise_q95": quantile(bits, Fraction(19, 20)),
        "pointwise_worst": bits[-1][0],
    }


def quantile(ordered: Sequence[tuple[Any, int]], share: Fraction) -> Any:
    """Return the least value that at least a share of the people do not exceed."""
    people, below = sum(n for _, n in ordered), 0
    for value, n in ordered:
        below += n
        if below >= share * people:
            return value
    return ordered[-1][0]


def capacity(shares: Iterable[tuple[int, int]]) -> dict[str, Number]:
    """Return the sum over blocks of the largest share that a value has in the block, and bits."""
    total = sum((Fraction(people, everybody) for people, everybody in shares), Fraction())
    return {"capacity": total, "capacity_bits": log2(total)}


def of_owner(prior: Sequence[Kind], posterior: Sequence[Kind]) -> dict[str, Number]:
    """Return the measures of re-identification that follow from the sizes of blocks."""
    numbers: dict[str, Number] = {}
    people = sum(kind.size * kind.blocks for kind in posterior)
    for when, kinds in (("prior", prior), ("posterior", posterior)):
        shares = [(Fraction(kind.size * kind.blocks, people), kind.size) for kind in kinds]
        numbers[f"{when}_entropy"] = math.fsum(
            float(share) * log2(Fraction(size)) for share, size in shares
        )
        numbers[f"{when}_guessing"] = sum((s * (size + 1) / 2 for s, size in shares), Fraction())
    blocks = sum(kind.blocks for kind in posterior)
    ratios = [(Fraction(people, kind.size), kind.size * kind.blocks) for kind in posterior]
    return {
        **numbers,
        "mutual_information": difference(numbers["prior_entropy"], numbers["posterior_entropy"]),
        **capacity([(blocks, 1)]),
        **pointwise(ratios),
        "bayes_security": int(blocks == 1),
    }


def difference(before: Number, after: Number) -> float:
    """Return a number less another one."""
    return float(before or 0) - float(after or 0)


def security(values: int, pairs: int, overlap: Fraction | None) -> Fraction:
    """Return the least overlap of two values over all blocks; 0 if some pair shares no block."""
    if values < 2:
        return Fraction(1)
    if overlap is None or pairs < values * (values - 1) // 2:
        return Fraction(0)
    return overlap
