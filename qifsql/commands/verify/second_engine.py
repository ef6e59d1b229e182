"""The people counted again by SQLite, and every measure from its definition, in exact fractions.

The people are read with the printed SQL of the step ``microdata``. Nothing else of qifsql's SQL
and nothing of its measures is used.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, Literal

import polars as pl

from qifsql.commands.verify import exact_measures
from qifsql.commands.verify.numbers import (
    Place,
    Question,
    Repetition,
    place_numbers,
    place_results,
    questions,
)
from qifsql.commands.verify.stored_request import Request
from qifsql.engine.bare import Answer, count_in_sqlite
from qifsql.errors import EngineError
from qifsql.query.suppression import STAR
from qifsql.reference.microdata import Blocks, Cell, Key
from qifsql.reference.success import Kind, Number, at_or_above, histogram, kind, kinds_of, quantile
from qifsql.results.stored import Stored

WAY = "SQLite"
MOST = 200_000  # people that are counted here
TOO_MANY = f"more than {MOST:,} people"
TOO_HEAVY = "the weights do not fit into the numbers of SQLite"


def repeat(request: Request) -> Repetition:
    """Return the numbers of a stored attack, counted by SQLite."""
    stored, reason = request.stored, obstacle(request.stored)
    answer = None if reason else read_people(request)
    if answer is None:
        return Repetition(WAY, reason=reason or TOO_MANY)
    numbers: dict[Place, Number] = {}
    for question in questions(stored):
        if question.gain:
            continue
        width = len(stored.spec["qids"]) if not stored.spec.get("person") else 1
        try:
            after = count_blocks(answer, range(width), width, question.secret)
            before = count_blocks(answer, (), width, question.secret)
        except EngineError:  # SQLite has whole numbers of 63 bits
            return Repetition(WAY, reason=TOO_HEAVY)
        population = bool(stored.spec.get("population"))
        hidden = suppressed_blocks(stored, answer, range(width))
        values = exact_measures.numbers_of_blocks(
            before, after, owner=not question.secret, population=population, suppressed=hidden
        )
        if not question.secret:
            values |= dict.fromkeys(exact_measures.OF_REPORTED)
        elif not stored.spec.get("person"):
            more = beside_reported(before, after, hidden)
            values = exact_measures.with_reported(values, more)
        numbers |= place_results(stored, question.row, values)
        numbers |= _detail_numbers(stored, question, kinds_of(before, after, hidden))
    return Repetition(WAY, numbers)


def numbers_of(
    stored: Stored, answer: Answer, places: Sequence[int], width: int, secret: int
) -> dict[str, Number]:
    """Return the numbers of an attack that knows the columns at ``places`` (of ``width``).

    The secret 0 is the record itself. EngineError if the weights do not fit.
    """
    after = count_blocks(answer, places, width, secret)
    before = count_blocks(answer, (), width, secret)
    hidden = suppressed_blocks(stored, answer, places)
    numbers = exact_measures.numbers_of_blocks(before, after, owner=not secret, suppressed=hidden)
    if not secret:
        return numbers
    return exact_measures.with_reported(numbers, beside_reported(before, after, hidden))


def suppressed_blocks(stored: Stored, answer: Answer, places: Iterable[int]) -> list[Key]:
    """Return the key of the block of suppressed records, if the result counts them apart.

    All texts of such a record are ``*``, and its other cells are missing.
    """
    if not stored.spec.get("suppressed_records"):
        return []
    texts = {i for row in answer.rows for i, cell in enumerate(row) if isinstance(cell, str)}
    return [("\x1f".join(text_of(STAR if i in texts else None) for i in places),)]


def beside_reported(
    before: Blocks, after: Blocks, suppressed: Collection[Key]
) -> dict[str, Number]:
    """Return the numbers of the people with a reported secret."""
    missing = text_of(None)
    reported_before, reported_after = (
        {
            block: {v: cell for v, cell in values.items() if v != missing}
            for block, values in blocks.items()
            if set(values) != {missing}
        }
        for blocks in (before, after)
    )
    (everybody,) = before.values()
    alone = [
        values[missing].people
        for block, values in after.items()
        if set(everybody if block in suppressed else values) == {missing}
    ]
    prior = [kind(values) for values in reported_before.values()]
    posterior = kinds_of(reported_before, reported_after, suppressed) if prior else []
    return exact_measures.beside_reported(prior, posterior, sum(alone))


def obstacle(stored: Stored) -> str:
    """Return why SQLite cannot count these people again; empty if it can."""
    if stored.spec.get("target"):
        return "an attack on one person is not repeated by SQLite"
    if stored.spec.get("prior"):
        return "beliefs before the release are not counts of people"
    if stored.kind == "attack" and stored.frame["datasets"].n_unique() > 1:
        return "a progressive attack is not repeated by SQLite"
    if stored.frame.filter(pl.col("records") > MOST).height:
        return TOO_MANY
    return ""


def read_people(
    request: Request, step: Literal["microdata", "records"] = "microdata"
) -> Answer | None:
    """Return one row per person, or per record, from bare DuckDB; None if there are too many."""
    *_, answer = request.run(request.script(step=step), limit=MOST + 1)
    return answer if len(answer.rows) <= MOST else None


def count_blocks(answer: Answer, known_places: Iterable[int], width: int, secret: int) -> Blocks:
    """Return the blocks of the people by some of the first ``width`` columns.

    The secret 0 is the record itself. EngineError if the weights do not fit.
    """
    chosen = list(known_places)
    weight = answer.columns.index("weight") if "weight" in answer.columns[width:] else None
    weights = [1] * len(answer.rows) if weight is None else [int(r[weight]) for r in answer.rows]
    unit = reduce(math.gcd, weights, 0) or 1
    rows = (
        (
            "\x1f".join(text_of(row[i]) for i in chosen),
            text_of(row[width + secret - 1]) if secret else str(number),
            w // unit,
        )
        for number, (row, w) in enumerate(zip(answer.rows, weights, strict=True))
    )
    by_name: dict[Key, dict[str, Cell]] = {}
    for block, value, number, mass in count_in_sqlite(rows):
        by_name.setdefault((block,), {})[value] = Cell(number, Fraction(mass))
    return by_name


def text_of(value: object) -> str:
    """Return a value as a text that differs for different values; -0.0 equals 0.0."""
    if isinstance(value, float):
        value += 0.0
    return "" if value is None else f"={value!r}"


def _detail_numbers(
    stored: Stored, question: Question, kinds: Sequence[Kind]
) -> dict[Place, Number]:
    """Return the numbers of histograms, thresholds and quantiles of one question."""
    if "attack_id" not in stored.frame.columns:
        return {}
    own_id = stored.frame["attack_id"][question.row]
    numbers: dict[Place, Number] = {}
    successes = [kind.chance for kind in kinds for _ in range(kind.people)]
    for table in ("histogram", "thresholds", "quantiles"):
        unclear = table == "histogram" and stored.spec.get("weight") and _between_bins(successes)
        if table not in stored.details or unclear:
            continue
        for i, row in enumerate(stored.details[table].iter_rows(named=True)):
            if row["attack_id"] == own_id:
                values = _detail_number(table, row, successes)
                numbers |= place_numbers(table, i, values)
    return numbers


def _between_bins(successes: Iterable[Fraction]) -> bool:
    """Return whether a success is so close to the border of two bins that doubles may differ."""
    near = Fraction(1, 10**9)
    return any(abs(100 * success % 1 - Fraction(1, 2)) < near for success in successes)


def _detail_number(
    table: str, row: Mapping[str, Any], successes: Sequence[Fraction]
) -> dict[str, Number]:
    """Return the numbers of one row of a table of details, by the success of each person."""
    if table == "histogram":
        return {"individuals": histogram(successes)[row["bin"]]}
    if table == "thresholds":
        reached = at_or_above(successes, Fraction(str(row["threshold"])))
        return {"individuals": reached, "share": Fraction(reached, len(successes))}
    return {"success": quantile(successes, Fraction(str(row["quantile"])))}
