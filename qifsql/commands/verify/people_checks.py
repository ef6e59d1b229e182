"""People with several records, counted from their records by the definitions of the reference."""

from collections.abc import Collection
from fractions import Fraction
from typing import Any

from qifsql.commands.verify import second_engine
from qifsql.commands.verify.numbers import RESULTS, Place, Repetition, place_numbers
from qifsql.commands.verify.stored_request import RepetitionError, Request
from qifsql.reference import people_with_records as people
from qifsql.reference.success import Number
from qifsql.reference.syntactic_levels import MEASURES, assess, average_class_size

WAY = "definition"
SUPPRESSED = "suppressed records of people with several records are not counted again"
COUNTED = ("k", "l_distinct", "alpha", "t_equal", "basic_beta")
ROUNDED = ("l_entropy", "enhanced_beta", "delta_disclosure")
"""Levels of logarithms: blocks with equal ones may differ by rounding."""


def repeat(request: Request, chosen: Collection[int] | None = None) -> Repetition:
    """Return the numbers of all rows of an attack, or of the ``chosen`` rows of a sweep.

    ``chosen`` are positions of results. The column ``known_records`` of a row says whether the
    adversary knows ``all`` records of a person, or ``one``.
    """
    if request.stored.spec.get("suppressed_records"):
        raise RepetitionError(SUPPRESSED)
    second_engine.check_countable(request.stored)
    records = _read(request)
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(request.stored.frame.iter_rows(named=True)):
        if row.get("gain") not in (None, "identity"):  # gains are not in the reference
            continue
        if chosen is not None and i not in chosen:
            continue
        qids = [f"qid {name}" for name in row["qids"]]
        secret = None if row["secret"] is None else f"secret {row['secret']}"
        extent = row["known_records"]
        again = people.attack(records, "person", qids, secret, known_records=extent)
        if secret is not None and "reported" in row:
            reported = people.beside_reported(records, "person", qids, secret, known_records=extent)
            both_l = [part["l"] for part in (again, reported) if part.get("l") is not None]
            if request.stored.kind == "sweep":  # it has no blocks of people who miss the secret
                reported["certain_missing"] = 0 if row["certain_missing"] == 0 else None
            again |= reported | ({"l": min(both_l)} if both_l else {})
        numbers |= place_numbers(RESULTS, i, {n: again[n] for n in row.keys() & again.keys()})
    return Repetition(WAY, numbers)


def levels(request: Request) -> Repetition:
    """Return the numbers of each row of stored levels, one level each, of people with records."""
    records = _read(request)
    qids = [f"qid {name}" for name in request.stored.spec["qids"]]
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(request.stored.frame.iter_rows(named=True)):
        extent = row["known_records"]  # all records of a person are known, or one
        column = "person" if row["secret"] is None else f"secret {row['secret']}"
        about = records, "person", qids, column
        blocks, totals = people.blocks_of_people(*about, extent)
        values: dict[str, Number] = {
            "people": len(people.records_of(records, "person")),
            "records": len(records),
            "blocks": len(blocks),
        }
        if row["measure"] == "average_class_size":
            values["value"] = average_class_size(blocks)
        elif row["measure"] in (*COUNTED, *ROUNDED):
            measure = MEASURES[row["measure"]]
            aim = None if row["wanted"] is None else Fraction(str(row["wanted"]))
            if row["secret"] is None:
                level = assess(measure, blocks, totals, aim)
            else:
                level = people.levels(*about, measure=measure, aim=aim, known_records=extent)
            # of logarithms, only the level itself: which blocks are worst may differ by rounding
            columns = ("value",) if row["measure"] in ROUNDED else level
            values |= {name: level[name] for name in columns if row[name] is not None}
        numbers |= place_numbers(RESULTS, i, values)
    return Repetition(WAY, numbers)


def _read(request: Request) -> list[dict[str, Any]]:
    """Return one dictionary per record: ``person``, ``qid age``, ``secret job`` and the like."""
    answer = second_engine.read_people(request, "records")
    spec = request.stored.spec
    names = [*(f"qid {n}" for n in spec["qids"]), *(f"secret {n}" for n in spec["secrets"])]
    return [dict(zip([*names, "person"], row, strict=False)) for row in answer.rows]
