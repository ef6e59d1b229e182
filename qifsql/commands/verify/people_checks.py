"""People with several records, counted from their records by the definitions of the reference."""

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from qifsql.commands.verify import second_engine
from qifsql.commands.verify.stored_request import Request
from qifsql.commands.verify.verdicts import RESULTS, Place, Repetition, place_numbers, place_results
from qifsql.data.types import Row
from qifsql.reference import people_with_records as people
from qifsql.reference import syntactic_levels
from qifsql.reference.microdata import Counts, Rows
from qifsql.reference.success import Number
from qifsql.results.stored import Stored

WAY = "definition"
COUNTED_LEVELS = ("k", "l_distinct", "alpha", "t_equal", "basic_beta")
ROUNDED_LEVELS = ("l_entropy", "enhanced_beta", "delta_disclosure")
"""Levels of logarithms: blocks with equal ones may differ by rounding."""


def repeat(request: Request, chosen: Collection[int] | None = None) -> Repetition:
    """Return the numbers of all rows of an attack, or of the ``chosen`` rows of a sweep.

    ``chosen`` are positions of results. The column ``known_records`` of a row says whether the
    adversary knows ``all`` records of a person, or ``one``.
    """
    stored = request.stored
    second_engine.check_countable(stored)
    records = read_records(request)
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        if row.get("gain") not in (None, "identity"):  # gains are not in the reference
            continue
        if chosen is None or i in chosen:
            recomputed = numbers_of(stored, records, row, row["known_records"])
            numbers |= place_results(stored, i, recomputed)
    return Repetition(WAY, numbers)


def numbers_of(stored: Stored, records: Rows, row: Row, known_records: str) -> dict[str, Number]:
    """Return the numbers, by column, of the attack with the ``qids`` on the ``secret`` of a row.

    ``records`` are those of ``read_records``; ``all`` of a person are known, or ``one``.
    """
    qids = [f"qid {name}" for name in row["qids"]]
    suppressed = second_engine.suppressed_keys(stored, records, qids)
    reading: dict[str, Any] = {"known_records": known_records, "suppressed": suppressed}
    if row["secret"] is None:
        return people.attack(records, "person", qids, **reading)
    about = records, "person", qids, f"secret {row['secret']}"
    # The numbers of those who report the secret, in columns of their own, and of everybody.
    return people.beside_reported(*about, **reading) | people.attack(*about, **reading)


def repeat_levels(request: Request) -> Repetition:
    """Return the numbers of each row of stored levels, one level each, of people with records."""
    records = read_records(request)
    qids = [f"qid {name}" for name in request.stored.spec["qids"]]
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(request.stored.frame.iter_rows(named=True)):
        known_records = row["known_records"]  # all of a person, or one
        column = "person" if row["secret"] is None else f"secret {row['secret']}"
        about = records, "person", qids, column
        blocks, totals = people.blocks_of_people(*about, known_records)
        values: dict[str, Number] = {
            "people": len(people.records_of(records, "person")),
            "records": len(records),
            "blocks": len(blocks),
        }
        if row["secret"] is None:
            assess = partial(syntactic_levels.assess, blocks=blocks, totals=totals)
        else:
            assess = partial(people.levels, *about, known_records=known_records)
        level = numbers_of_level(row, blocks, assess)
        values |= {name: number for name, number in level.items() if row[name] is not None}
        numbers |= place_numbers(RESULTS, i, values)
    return Repetition(WAY, numbers)


def numbers_of_level(
    row: Row, blocks: Sequence[Counts], assess: Callable[..., Mapping[str, Number]]
) -> Mapping[str, Number]:
    """Return the numbers of the level in a row of results; none if it needs more than counts.

    ``blocks`` have people by secret; ``assess`` returns the level of a ``measure`` and an ``aim``.
    """
    name = row["measure"]
    if name == "average_class_size":
        return {"value": syntactic_levels.average_class_size(blocks)}
    if name not in (*COUNTED_LEVELS, *ROUNDED_LEVELS):
        return {}
    aim = None if row["wanted"] is None else Fraction(str(row["wanted"]))
    level = assess(measure=syntactic_levels.MEASURES[name], aim=aim)
    # of logarithms, only the level itself: which blocks are worst may differ by rounding
    return {"value": level["value"]} if name in ROUNDED_LEVELS else level


def read_records(request: Request) -> list[dict[str, Any]]:
    """Return one dictionary per record: ``person``, ``qid age``, ``secret job`` and the like."""
    spec = request.stored.spec
    names = [*(f"qid {n}" for n in spec["qids"]), *(f"secret {n}" for n in spec["secrets"])]
    rows = second_engine.read_rows(request, "records")
    return [dict(zip([*names, "person"], row, strict=False)) for row in rows]
