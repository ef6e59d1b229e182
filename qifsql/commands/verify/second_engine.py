"""The people counted again by SQLite, and every measure from its definition, in exact fractions.

The people are read with the printed SQL of ``microdata``; no other SQL or measure is used.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Literal

from qifsql.commands.verify import exact_measures
from qifsql.commands.verify.stored_request import RepetitionError, Request
from qifsql.commands.verify.verdicts import (
    Place,
    Question,
    Repetition,
    place_numbers,
    place_results,
    questions,
)
from qifsql.engine.bare import Answer, count_in_sqlite
from qifsql.errors import EngineError
from qifsql.query.suppression import STAR
from qifsql.reference.microdata import Blocks, Cell, Key
from qifsql.reference.success import Kind, Number, at_or_above, histogram, kind, kinds_of, quantile
from qifsql.reference.sure_claims import claims_of_blocks
from qifsql.results.stored import Stored

WAY = "SQLite"
MOST_PEOPLE = 200_000  # that are counted here
TOO_MANY = f"more than {MOST_PEOPLE:,} people"
MISSING_TEXT = ""  # text_of(None): a missing value


def repeat(request: Request) -> Repetition:
    """Return the numbers of a stored attack, its results and details, counted by SQLite."""
    stored = request.stored
    check_countable(stored)
    answer = read_people(request)
    secrets, person = len(stored.spec.get("secrets") or ()), stored.spec.get("person")
    # The columns before the secrets are what the adversary knows: the quasi-identifiers or, of
    # people with several records, lists of these records.
    width = len(answer.columns) - secrets if person else len(stored.spec["qids"])
    all_qids = range(width)
    numbers: dict[Place, Number] = {}
    for question in questions(stored):
        if question.gain:  # other gains than identity are not in the reference
            continue
        values, kinds = numbers_of(stored, answer, all_qids, width, question.secret)
        numbers |= place_results(stored, question.row, values)
        numbers |= _detail_numbers(stored, question, kinds)
        numbers |= _numbers_of_claims(stored, question, answer, width)
    return Repetition(WAY, numbers)


def numbers_of(
    stored: Stored, answer: Answer, places: Sequence[int], width: int, secret: int
) -> tuple[dict[str, Number], list[Kind]]:
    """Return the numbers, by column, and blocks of an attack that knows the columns at ``places``.

    ``answer`` has a row per person: ``width`` quasi-identifiers, then the secrets, numbered from 1;
    ``secret`` 0 is the record itself.
    """
    after = count_blocks(answer, places, width, secret)
    before = count_blocks(answer, (), width, secret)  # everybody in one block
    suppressed = _suppressed_blocks(stored, answer, places)
    numbers = exact_measures.numbers_of_blocks(
        before,
        after,
        owner=not secret,
        population=bool(stored.spec.get("population")),
        suppressed=suppressed,
    )
    if not secret:
        numbers |= dict.fromkeys(exact_measures.OF_REPORTED)  # the record itself is never missing
    elif not stored.spec.get("person"):
        reported = _numbers_of_reporting(before, after, suppressed)
        numbers = exact_measures.with_reported(numbers, reported)
    return numbers, kinds_of(before, after, suppressed)


def _suppressed_blocks(stored: Stored, answer: Answer, places: Sequence[int]) -> list[Key]:
    """Return the blocks of records that may be anybody's: * in texts, else missing values."""
    if not stored.spec.get("suppressed_records"):
        return []
    texts = {i for row in answer.rows for i, cell in enumerate(row) if isinstance(cell, str)}
    return [(_block_name(STAR if i in texts else None for i in places),)]


def _numbers_of_reporting(
    before: Blocks, after: Blocks, suppressed: Collection[Key]
) -> dict[str, Number]:
    """Return the numbers, by column, of the people who report the secret: it is not missing.

    ``before`` is one block of everybody, ``after`` are those of the release, both with the missing
    secrets. Records of ``suppressed`` blocks may be those of anybody who reports it.
    """
    reported_before, reported_after = _drop_missing_secrets(before), _drop_missing_secrets(after)
    (everybody,) = before.values()
    unreported = 0
    for block, values in after.items():
        if set(everybody if block in suppressed else values) == {MISSING_TEXT}:
            unreported += values[MISSING_TEXT].people
    prior = [kind(values) for values in reported_before.values()]
    posterior = kinds_of(reported_before, reported_after, suppressed) if prior else []
    return exact_measures.numbers_of_reporting(prior, posterior, unreported)


def _drop_missing_secrets(blocks: Blocks) -> Blocks:
    """Return the blocks of the people who report the secret; others are left out."""
    reported = {
        block: {value: cell for value, cell in values.items() if value != MISSING_TEXT}
        for block, values in blocks.items()
    }
    return {block: values for block, values in reported.items() if values}


def check_countable(stored: Stored) -> None:
    """Raise RepetitionError if SQLite cannot count these people again."""
    if stored.spec.get("target"):
        raise RepetitionError("an attack on one person is not repeated by SQLite")
    if stored.spec.get("prior"):
        raise RepetitionError("beliefs before the release are not counts of people")
    if stored.kind == "attack" and stored.frame["datasets"].n_unique() > 1:
        raise RepetitionError("a progressive attack is not repeated by SQLite")
    if "records" in stored.frame.columns and (stored.frame["records"] > MOST_PEOPLE).any():
        raise RepetitionError(TOO_MANY)


def read_people(request: Request, step: Literal["microdata", "records"] = "microdata") -> Answer:
    """Return one row per person, or per record, from bare DuckDB; RepetitionError if too many."""
    *_, answer = request.run(request.script(step=step), limit=MOST_PEOPLE + 1)
    if len(answer.rows) > MOST_PEOPLE:
        unit = "people" if step == "microdata" else "records"
        raise RepetitionError(f"more than {MOST_PEOPLE:,} {unit}")
    return answer


def count_blocks(answer: Answer, places: Sequence[int], width: int, secret: int) -> Blocks:
    """Return for each block how many people have each value of the secret, and their weight.

    ``answer`` has a row per person: ``width`` quasi-identifiers, then the secrets, numbered from 1;
    ``secret`` 0 is the record itself, named by its position. The people of a block have the same
    values in the columns at ``places`` (none: one block). Weights are divided by their common
    divisor; RepetitionError if they still do not fit into 63 bits.
    """
    weight = answer.columns.index("weight") if "weight" in answer.columns[width:] else None
    weights = [1] * len(answer.rows) if weight is None else [int(r[weight]) for r in answer.rows]
    unit = reduce(math.gcd, weights, 0) or 1  # 0: nobody has weight
    people = []
    for position, (row, mass) in enumerate(zip(answer.rows, weights, strict=True)):
        value = text_of(row[width + secret - 1]) if secret else str(position)
        people.append((_block_name(row[i] for i in places), value, mass // unit))
    try:
        counted = count_in_sqlite(people)
    except EngineError as e:
        raise RepetitionError("the weights do not fit into the numbers of SQLite") from e
    blocks: dict[Key, dict[str, Cell]] = {}
    for block, value, number, mass in counted:
        blocks.setdefault((block,), {})[value] = Cell(number, Fraction(mass))
    return blocks


def _block_name(values: Iterable[object]) -> str:
    """Return one text for the values of a block, the same for equal ones alone."""
    return "\x1f".join(map(text_of, values))


def text_of(value: object) -> str:
    """Return a value as a text that differs for different values; -0.0 equals 0.0."""
    if isinstance(value, float):
        value += 0.0
    return MISSING_TEXT if value is None else f"={value!r}"


def _numbers_of_claims(
    stored: Stored, question: Question, answer: Answer, width: int
) -> dict[Place, Number]:
    """Return the numbers of ``sure`` and ``sure_curve``: claims of an adversary who is sure enough.

    She names the secret of a person if her best guess is at least as probable as a threshold, a row
    each. ``answer`` has a row per person; ``width`` is the number of quasi-identifiers. If values
    are equally frequent, the guess before the release is not known here, nor what follows from it.
    """
    tables = {
        name: stored.details[name] for name in ("sure", "sure_curve") if name in stored.details
    }
    if not tables:
        return {}
    secret, places = question.secret, range(width)
    attack_id = stored.frame["attack_id"][question.row]
    # Everybody as one block (before), and the blocks of the release (after); by ``of_reported``.
    blocks = [count_blocks(answer, names, width, secret) for names in ((), places)]
    blocks_by_reading = {False: blocks, True: [_drop_missing_secrets(part) for part in blocks]}
    suppressed = _suppressed_blocks(stored, answer, places)
    numbers: dict[Place, Number] = {}
    for table, frame in tables.items():
        for i, row in enumerate(frame.iter_rows(named=True)):
            if row["attack_id"] != attack_id or (row["of_reported"] and stored.spec.get("person")):
                continue
            before, after = blocks_by_reading[row["of_reported"]]
            least = Fraction(row["threshold"]) * (1 - Fraction(1, 2**52))  # it may be rounded up
            claims = claims_of_blocks(before, after, least, owner=not secret, suppressed=suppressed)
            values: dict[str, Number] = {"claims": claims.people, "coverage": claims.coverage}
            is_defined = not stored.spec.get("weight") or not claims.people  # not for weights
            values |= {"right": claims.right if is_defined else None, "precision": claims.precision}
            weights = sorted(cell.weight for cells in before.values() for cell in cells.values())
            has_single_mode = weights[-1] not in weights[:-1]
            if not secret or has_single_mode:
                values |= {"precision_before": claims.precision_before, "alc": claims.loss}
            numbers |= place_numbers(table, i, values)
    return numbers


def _detail_numbers(
    stored: Stored, question: Question, kinds: Sequence[Kind]
) -> dict[Place, Number]:
    """Return the numbers of histograms, thresholds and quantiles of a question, from its blocks."""
    if "attack_id" not in stored.frame.columns:
        return {}
    attack_id = stored.frame["attack_id"][question.row]
    numbers: dict[Place, Number] = {}
    successes = [kind.chance for kind in kinds for _ in range(kind.people)]  # of each person
    tables = {"histogram", "thresholds", "quantiles"} & stored.details.keys()
    # Bins are whole percents. Rounded weights may change the bin close to their borders.
    border, near = Fraction(1, 2), Fraction(1, 10**9)
    if stored.spec.get("weight") and any(abs(100 * s % 1 - border) < near for s in successes):
        tables -= {"histogram"}
    for table in tables:
        for i, row in enumerate(stored.details[table].iter_rows(named=True)):
            if row["attack_id"] != attack_id:
                continue
            values: dict[str, Number]
            if table == "histogram":
                values = {"individuals": histogram(successes)[row["bin"]]}
            elif table == "thresholds":
                reached = at_or_above(successes, Fraction(str(row["threshold"])))
                values = {"individuals": reached, "share": Fraction(reached, len(successes))}
            else:
                values = {"success": quantile(successes, Fraction(str(row["quantile"])))}
            numbers |= place_numbers(table, i, values)
    return numbers
