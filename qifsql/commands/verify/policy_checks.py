"""The levels of a stored verdict counted again, and compared with their bounds again."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from qifsql.commands.verify import people_checks, second_engine
from qifsql.commands.verify.exact_measures import SHARES
from qifsql.commands.verify.numbers import RESULTS, Place, Repetition, place_numbers
from qifsql.commands.verify.stored_request import RepetitionError, Request
from qifsql.reference.success import Number, Success, compared

NEAR = Fraction(1, 10**12)  # a value that differs from its bound only by rounding is within it
Numbers = Mapping[str, Number]


def repeat(request: Request) -> Repetition:
    """Return the value of each level of everybody, and whether it is met.

    Of several readings (all records of a person known or one, everybody or those who report the
    secret) it is the worse. Levels of groups, and of the difference from a last release, are left
    out.
    """
    stored = request.stored
    second_engine.check_countable(stored)
    if stored.spec["null"] != "distinct":
        raise RepetitionError("records with missing values count in some rules alone")
    of_people = bool(stored.spec.get("person"))
    count = _count_people(request) if of_people else _count_records(request)
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        rule = stored.spec["rules"][row["rule"] - 1]
        bound = str(rule["wanted"]).split(" ")
        if row["by"] is not None or bound[0] not in ("<=", ">=") or len(bound) > 2:
            continue
        readings = (reading for counted in count(row) for reading in _readings(counted))
        values = [n for reading in readings if (n := reading.get(rule["measure"])) is not None]
        if values:
            worst = max(values) if bound[0] == "<=" else min(values)
            numbers |= place_numbers(RESULTS, i, _level(Fraction(worst), rule, *bound))
    return Repetition(people_checks.WAY if of_people else second_engine.WAY, numbers)


def _count_people(request: Request) -> Callable[[Mapping[str, Any]], Iterator[Numbers]]:
    """Return a function from a level to the numbers of its attack, if all or one is known."""
    records = people_checks.read_records(request)
    extent_of_policy = request.stored.spec.get("known_records")
    extents = ("all", "one") if extent_of_policy is None else (str(extent_of_policy),)

    def count(row: Mapping[str, Any]) -> Iterator[Numbers]:
        for extent in extents:
            yield people_checks.numbers_of(request.stored, records, row, extent)

    return count


def _count_records(request: Request) -> Callable[[Mapping[str, Any]], Iterator[Numbers]]:
    """Return a function from a level to the numbers of its attack, counted by SQLite."""
    answer = second_engine.read_people(request)
    width, secrets = len(request.stored.spec["qids"]), [None, *request.stored.spec["secrets"]]

    def count(row: Mapping[str, Any]) -> Iterator[Numbers]:
        about = request.stored, answer, range(width), width
        yield second_engine.numbers_of(*about, secrets.index(row["secret"]))

    return count


def _readings(numbers: Numbers) -> Iterator[Numbers]:
    """Yield the numbers of everybody, and those of the people with a reported secret, if any."""
    yield numbers
    shares = [Fraction(n) for name in SHARES if (n := numbers.get(f"{name}_reported")) is not None]
    if shares:
        certain_before, certain_after, before, after, worst_case = shares
        people = int(numbers["certain_reported"] or 0)
        yield compared(
            Success(certain_before, before, Fraction(), 0),
            Success(certain_after, after, worst_case, people),
        )


def _level(value: Fraction, rule: Mapping[str, Any], sign: str, limit: str) -> dict[str, Number]:
    """Return the numbers of a level from the value of its measure, and whether it is met (0, 1)."""
    success = None if rule["attempt"] is None else value
    value *= Fraction(str(1 if rule["attempt"] is None else rule["attempt"]))
    bound = Fraction(limit)
    outside = value - bound if sign == "<=" else bound - value
    met = outside <= NEAR * max(abs(bound), Fraction(1, 100))
    of_all = dict.fromkeys(("individuals", "low", "high"))  # of groups, and of estimates
    return {**of_all, "value": value, "success": success, "met": int(met)}
