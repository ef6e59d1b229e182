"""The levels of a stored result counted again by SQLite, by the definitions of the reference."""

from collections.abc import Sequence
from fractions import Fraction

import polars as pl

from qifsql.commands.verify import people_checks, second_engine
from qifsql.commands.verify.numbers import RESULTS, Place, Repetition, place_numbers
from qifsql.commands.verify.people_checks import COUNTED, ROUNDED
from qifsql.commands.verify.stored_request import RepetitionError, Request, attempt
from qifsql.reference import syntactic_levels
from qifsql.reference.microdata import Blocks, Counts
from qifsql.reference.success import Number


def repeat(request: Request) -> Repetition:
    """Return the numbers of each row of stored levels that follow from counts of values."""
    stored = request.stored
    if stored.spec.get("suppressed_records") or stored.spec.get("suppressed") == "out":
        raise RepetitionError("suppressed cells are no values that can be counted")
    if stored.frame.filter(pl.col("people") > second_engine.MOST).height:
        raise RepetitionError(second_engine.TOO_MANY)
    if stored.spec.get("person"):
        return attempt(people_checks.WAY, people_checks.levels, request)
    answer = second_engine.read_people(request)
    width, secrets = len(stored.spec["qids"]), [None, *stored.spec["secrets"]]  # 0: the record
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        secret = secrets.index(row["secret"])
        blocks = _value_counts(second_engine.count_blocks(answer, range(width), width, secret))
        (totals,) = _value_counts(second_engine.count_blocks(answer, (), width, secret))
        sizes: dict[str, Number] = {"people": sum(totals.values()), "blocks": len(blocks)}
        levels = _level_numbers(str(row["measure"]), row["wanted"], blocks, totals)
        numbers |= place_numbers(RESULTS, i, sizes | levels)
    return Repetition(second_engine.WAY, numbers)


def _value_counts(blocks: Blocks) -> list[Counts]:
    """Return for each block how many people have each value; a missing value is None."""
    return [
        {
            None if text == second_engine.MISSING else text: cell.people
            for text, cell in values.items()
        }
        for values in blocks.values()
    ]


def _level_numbers(
    measure: str, wanted_level: float | None, blocks: Sequence[Counts], totals: Counts
) -> dict[str, Number]:
    """Return the numbers of the level ``measure`` by column; none if it needs more than counts.

    ``blocks`` has the people with each value of the secret, by block, ``totals`` in all. Levels
    that are ROUNDED have their value alone: which blocks are worst may differ by rounding.
    """
    if measure == "average_class_size":
        return {"value": syntactic_levels.average_class_size(blocks)}
    if measure not in (*COUNTED, *ROUNDED):
        return {}
    aim = None if wanted_level is None else Fraction(str(wanted_level))
    assess = syntactic_levels.assess if measure == "k" else syntactic_levels.assess_secret
    numbers = assess(syntactic_levels.MEASURES[measure], blocks, totals, aim)
    return {"value": numbers["value"]} if measure in ROUNDED else numbers
