"""The levels of a stored result counted again by SQLite, from the definitions of the levels."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import polars as pl

from qifsql.commands.verify import second_engine
from qifsql.commands.verify.exact_measures import Number
from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.numbers import RESULTS, Place, Repetition
from qifsql.commands.verify.second_engine import Block
from qifsql.commands.verify.stored_request import Request
from qifsql.engine.settings import Settings
from qifsql.errors import EngineError
from qifsql.results.stored import Stored

Totals = Mapping[str | None, int]
Level = Callable[[Block, Totals], Fraction | float]


def repeat(stored: Stored, request: Request, inputs: Inputs, settings: Settings) -> Repetition:
    """Return the levels that follow from the blocks and the counts of values in them."""
    way = second_engine.WAY
    if stored.spec.get("suppressed") not in (None, "block"):
        return Repetition(way, reason="suppressed cells are no values that can be counted")
    if stored.frame.filter(pl.col("people") > second_engine.MOST).height:
        return Repetition(way, reason=second_engine.TOO_MANY)
    answer = second_engine.people(request, stored.name, inputs, settings)
    if answer is None:
        return Repetition(way, reason=second_engine.TOO_MANY)
    width, secrets = len(stored.spec["qids"]), list(stored.spec["secrets"])
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        j = secrets.index(row["secret"]) + 1 if row["secret"] is not None else 0
        try:
            every = second_engine.blocks(answer, range(width), width, j)
            (whole,) = second_engine.blocks(answer, (), width, j)
        except EngineError:
            return Repetition(way, reason=second_engine.TOO_HEAVY)
        values = {
            "people": whole.size,
            "blocks": len(every),
            **_row(str(row["measure"]), row["wanted"], every, whole.people),
        }
        numbers |= {(RESULTS, i, name): value for name, value in values.items()}
    return Repetition(way, numbers)


def _row(
    measure: str, wanted_level: float | None, every: Sequence[Block], totals: Totals
) -> dict[str, Number]:
    """Return the numbers of one level; nothing for a level that needs more than counts."""
    if measure == "average_class_size":
        return {"value": Fraction(sum(block.size for block in every), len(every))}
    if measure in LEAST:
        levels = [(LEAST[measure](block, totals), block.size) for block in every]
        worst = min(level for level, _ in levels)
        return {"value": worst, **_people(measure, levels, worst, wanted_level)}
    if measure in GREATEST:
        levels = [(GREATEST[measure](block, totals), block.size) for block in every]
        worst = max(level for level, _ in levels)
        return {"value": worst, **_people(measure, levels, worst, wanted_level)}
    return {}


def _people(
    measure: str,
    levels: Sequence[tuple[Fraction | float, int]],
    worst: Fraction | float,
    wanted_level: float | None,
) -> dict[str, Number]:
    """Return the people and blocks at the worst level, and below the required one."""
    if measure in ROUNDED:
        return {}
    at_worst = [size for level, size in levels if level == worst]
    numbers: dict[str, Number] = {
        "people_at_worst": sum(at_worst),
        "blocks_at_worst": len(at_worst),
        "worst_size": max(at_worst),
    }
    if wanted_level is None:
        return numbers | {"people_in_violation": None, "blocks_in_violation": None}
    limit = Fraction(str(wanted_level))
    below = [
        size for level, size in levels if (level < limit if measure in LEAST else level > limit)
    ]
    return numbers | {"people_in_violation": sum(below), "blocks_in_violation": len(below)}


def _entropy_l(block: Block, totals: Totals) -> float:
    del totals
    shares = [n / block.size for n in block.people.values()]
    return math.exp(math.fsum(-share * math.log(share) for share in shares))


def _distance(block: Block, totals: Totals) -> Fraction:
    everybody = sum(totals.values())
    gaps = (
        abs(Fraction(block.people.get(value, 0), block.size) - Fraction(n, everybody))
        for value, n in totals.items()
    )
    return sum(gaps, Fraction()) / 2


def _ratios(block: Block, totals: Totals) -> list[Fraction]:
    """Return the share in the block over the share of all people, for each value in the block."""
    everybody = sum(totals.values())
    return [Fraction(n * everybody, block.size * totals[v]) for v, n in block.people.items()]


def _enhanced(block: Block, totals: Totals) -> float:
    rarest = -math.log(Fraction(min(totals.values()), sum(totals.values())))
    return min(float(max(_ratios(block, totals)) - 1), rarest)


ROUNDED = ("l_entropy", "enhanced_beta", "delta_disclosure")
"""Levels of logarithms: blocks with equal ones may differ by rounding."""
LEAST: Mapping[str, Level] = {
    "k": lambda block, _: Fraction(block.size),
    "l_distinct": lambda block, _: Fraction(len(block.people)),
    "l_entropy": _entropy_l,
}
GREATEST: Mapping[str, Level] = {
    "alpha": lambda block, _: Fraction(max(block.people.values()), block.size),
    "t_equal": _distance,
    "basic_beta": lambda block, totals: max(_ratios(block, totals)) - 1,
    "enhanced_beta": _enhanced,
    "delta_disclosure": lambda block, totals: max(
        abs(math.log(ratio)) for ratio in _ratios(block, totals)
    ),
}
