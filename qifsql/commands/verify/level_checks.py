"""The levels of a stored result counted again by SQLite, by the definitions of the reference."""

from collections.abc import Sequence
from fractions import Fraction

import polars as pl

from qifsql.commands.verify import people_checks, second_engine
from qifsql.commands.verify.numbers import RESULTS, Place, Repetition, place_numbers
from qifsql.commands.verify.people_checks import COUNTED, ROUNDED
from qifsql.commands.verify.stored_request import Request
from qifsql.errors import EngineError
from qifsql.reference import syntactic_levels
from qifsql.reference.microdata import Blocks, Counts
from qifsql.reference.success import Number


def repeat(request: Request) -> Repetition:
    """Return the levels that follow from the blocks and the counts of values in them."""
    stored, way = request.stored, second_engine.WAY
    if stored.spec.get("suppressed_records") or stored.spec.get("suppressed") == "out":
        return Repetition(way, reason="suppressed cells are no values that can be counted")
    if stored.frame.filter(pl.col("people") > second_engine.MOST).height:
        return Repetition(way, reason=second_engine.TOO_MANY)
    if stored.spec.get("person"):
        return people_checks.levels(request)
    answer = second_engine.read_people(request)
    if answer is None:
        return Repetition(way, reason=second_engine.TOO_MANY)
    width, secrets = len(stored.spec["qids"]), [None, *stored.spec["secrets"]]
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        j = secrets.index(row["secret"])
        try:
            every = _value_counts(second_engine.count_blocks(answer, range(width), width, j))
            (everybody,) = _value_counts(second_engine.count_blocks(answer, (), width, j))
        except EngineError:
            return Repetition(way, reason=second_engine.TOO_HEAVY)
        sizes: dict[str, Number] = {"people": sum(everybody.values()), "blocks": len(every)}
        levels = _level_numbers(str(row["measure"]), row["wanted"], every, everybody)
        numbers |= place_numbers(RESULTS, i, sizes | levels)
    return Repetition(way, numbers)


def _value_counts(blocks: Blocks) -> list[Counts]:
    """Return how many people of each block have each value, a missing one being None."""
    missing = second_engine.text_of(None)
    return [
        {None if text == missing else text: cell.people for text, cell in values.items()}
        for values in blocks.values()
    ]


def _level_numbers(
    measure: str, wanted_level: float | None, blocks: Sequence[Counts], totals: Counts
) -> dict[str, Number]:
    """Return the numbers of one level; nothing for a level that needs more than counts."""
    if measure == "average_class_size":
        return {"value": syntactic_levels.average_class_size(blocks)}
    if measure not in (*COUNTED, *ROUNDED):
        return {}
    aim = None if wanted_level is None else Fraction(str(wanted_level))
    assess = syntactic_levels.assess if measure == "k" else syntactic_levels.assess_secret
    numbers = assess(syntactic_levels.MEASURES[measure], blocks, totals, aim)
    return {"value": numbers["value"]} if measure in ROUNDED else numbers
