"""The levels of a stored result, or of a policy, counted again by SQLite."""

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial

from qifsql.commands.verify import people_checks, second_engine
from qifsql.commands.verify.exact_measures import SHARES
from qifsql.commands.verify.stored_request import RepetitionError, Request, attempt
from qifsql.commands.verify.verdicts import RESULTS, Place, Repetition, place_numbers
from qifsql.data.types import Row
from qifsql.reference import syntactic_levels
from qifsql.reference.microdata import Blocks, Counts
from qifsql.reference.quasi_identifier_sets import subsets
from qifsql.reference.success import Number, Success, compared

NEAR_BOUND = Fraction(1, 10**12)  # a value that exceeds its bound by this share is rounded
Numbers = Mapping[str, Number]


def repeat_levels(request: Request) -> Repetition:
    """Return the numbers of each row of stored levels that follow from counts of values."""
    stored = request.stored
    if stored.spec.get("suppressed_records") or stored.spec.get("suppressed") == "out":
        raise RepetitionError("suppressed cells are no values that can be counted")
    if (stored.frame["people"] > second_engine.MOST_PEOPLE).any():
        raise RepetitionError(second_engine.TOO_MANY)
    if stored.spec.get("person"):
        return attempt(people_checks.WAY, people_checks.repeat_levels, request)
    people = second_engine.read_people(request)
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        blocks, everybody = (
            _value_counts(second_engine.count_blocks(people, columns, row["secret"]))
            for columns in (people.qids, ())
        )
        (totals,) = everybody
        values: dict[str, Number] = {"people": sum(totals.values()), "blocks": len(blocks)}
        # A level of a secret is the worse of those with and without its missing value.
        assess = (
            syntactic_levels.assess if row["measure"] == "k" else syntactic_levels.assess_secret
        )
        assess_blocks = partial(assess, blocks=blocks, totals=totals)
        values |= people_checks.numbers_of_level(row, blocks, assess_blocks)
        numbers |= place_numbers(RESULTS, i, values)
    return Repetition(second_engine.WAY, numbers)


def _value_counts(blocks: Blocks) -> list[Counts]:
    """Return for each block how many people have each value; a missing value is None."""
    missing = second_engine.MISSING_TEXT
    return [
        {None if text == missing else text: cell.people for text, cell in values.items()}
        for values in blocks.values()
    ]


def repeat_policy(request: Request) -> Repetition:
    """Return the value of each level of everybody, and whether it is met.

    Of several readings (all records of a person known or one, everybody or those who report the
    secret) it is the worse. Levels of groups, and differences from a last release, are left out.
    """
    stored = request.stored
    second_engine.check_countable(stored)
    if stored.spec["null"] != "distinct":
        raise RepetitionError("records with missing values count in some rules alone")
    count = _attack_counter(request)
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        if row.get("recipient") is not None:
            numbers |= place_numbers(RESULTS, i, _level_of_recipient(request, row))
            continue
        rule = stored.spec["rules"][row["rule"] - 1]
        sign, _, limit = str(rule["wanted"]).partition(" ")  # such as <= 0.1
        is_difference = " " in limit  # from the level of a last release
        if row["by"] is not None or sign not in ("<=", ">=") or is_difference:
            continue
        readings = (reading for counted in count(row) for reading in _readings(counted))
        values = [n for reading in readings if (n := reading.get(rule["measure"])) is not None]
        if values:
            worst = max(values) if sign == "<=" else min(values)
            numbers |= place_numbers(RESULTS, i, _level(Fraction(worst), rule, sign, limit))
    way = people_checks.WAY if stored.spec.get("person") else second_engine.WAY
    return Repetition(way, numbers)


def _level_of_recipient(request: Request, row: Row) -> dict[str, Number]:
    """Return the numbers of a level of a recipient who knows each quasi-identifier with a chance.

    They are means over the sets that may be known, each counted by SQLite (M218). There are none
    for links, people with several records, and knowledge with errors or not in the manifest.
    """
    spec = request.stored.spec
    of_recipients = {recipient["name"]: recipient for recipient in spec["recipients"]}
    recipient = of_recipients[row["recipient"]]
    if recipient["laws"] or row["model"] not in ("CRS", "CAS") or spec.get("person"):
        return {}
    names = {*spec["expressions"], *(column.name for column in request.stored.columns or ())}
    if not names.issuperset(recipient["chances"]):  # an expression that the first attack lacks
        return {}
    chances = {f"qid {name}": Fraction(chance) for name, chance in recipient["chances"].items()}
    request = request.subset(list(recipient["chances"]), rows=())
    people = second_engine.read_people(request)
    measure = {"maximum": "worst_case", "average": "posterior_probabilistic"}[row["measure"]]
    by_set: list[list[Fraction]] = []  # successes against everybody, and who reports the secret
    for members in subsets(chances):
        columns = [name for name in chances if name in members]
        weight = math.prod(p if name in members else 1 - p for name, p in chances.items())
        if weight:
            counted = second_engine.numbers_of(request.stored, people, columns, row["secret"])
            successes = [Fraction(reading[measure] or 0) for reading in _readings(counted)]
            by_set.append([weight * success for success in successes])
    worst_mean = max(sum(successes, Fraction()) for successes in zip(*by_set, strict=True))
    rule = {"attempt": recipient["attempt"]}
    return _level(worst_mean, rule, "<=", str(recipient["at_most"][row["measure"]]))


def _attack_counter(request: Request) -> Callable[[Row], list[Numbers]]:
    """Return a function that counts the attack of a level (a row of results) again.

    Of people with several records the adversary knows all, and in a second attack one, unless the
    policy says which.
    """
    stored = request.stored
    if not stored.spec.get("person"):
        people = second_engine.read_people(request)
        return lambda row: [second_engine.numbers_of(stored, people, people.qids, row["secret"])]
    records = people_checks.read_records(request)
    extent_of_policy = stored.spec.get("known_records")
    extents = ("all", "one") if extent_of_policy is None else (str(extent_of_policy),)
    return lambda row: [people_checks.numbers_of(stored, records, row, name) for name in extents]


def _readings(numbers: Numbers) -> Iterator[Numbers]:
    """Yield an attack's numbers on everybody, then those on the people who report the secret.

    The latter are computed from the columns ``..._reported``, if the numbers have them.
    """
    yield numbers
    shares = [Fraction(n) for name in SHARES if (n := numbers.get(f"{name}_reported")) is not None]
    if shares:  # all five, in the order of SHARES
        certain_before, certain_after, before, after, worst_case = shares
        people = int(numbers["certain_reported"] or 0)
        yield compared(
            Success(certain_before, before, Fraction(), 0),
            Success(certain_after, after, worst_case, people),
        )


def _level(value: Fraction, rule: Row, sign: str, limit: str) -> dict[str, Number]:
    """Return the numbers of a level from the value of its measure, and whether it is met (0, 1)."""
    success = None
    if rule["attempt"] is not None:  # the chance of an attempt, times the success of one
        success, value = value, value * Fraction(str(rule["attempt"]))
    bound = Fraction(limit)
    excess = value - bound if sign == "<=" else bound - value
    met = excess <= NEAR_BOUND * max(abs(bound), Fraction(1, 100))
    undefined = dict.fromkeys(("individuals", "low", "high"))  # columns of groups and estimates
    return {**undefined, "value": value, "success": success, "met": int(met)}
