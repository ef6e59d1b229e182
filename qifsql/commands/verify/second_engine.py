"""The people counted again by SQLite, and every measure from its definition, in exact fractions.

The people are read with the printed SQL of the step ``microdata``. Nothing else of qifsql's SQL
and nothing of its measures is used.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

import polars as pl

from qifsql.commands.sql.sql import sql
from qifsql.commands.verify import exact_measures
from qifsql.commands.verify.exact_measures import Kind, Number, log2
from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.numbers import RESULTS, Place, Question, Repetition, questions
from qifsql.commands.verify.stored_request import Request
from qifsql.engine import sqlite_cells
from qifsql.engine.bare import Answer, BareDuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import EngineError
from qifsql.results.stored import Stored

WAY = "SQLite"
MOST = 200_000  # people that are counted here
PAIRS = 20_000  # pairs of values that are compared for the Bayes security
TOO_MANY = f"more than {MOST:,} people"
TOO_HEAVY = "the weights do not fit into the numbers of SQLite"


@dataclass
class Block:
    """The people whom the adversary cannot tell apart, by the value of the secret."""

    people: dict[str | None, int] = field(default_factory=dict)
    weight: dict[str | None, int] = field(default_factory=dict)
    heaviest: int = 0

    def add(self, cell: sqlite_cells.Cell) -> None:
        """Add a cell of this block."""
        _, value, people, weight, heaviest = cell
        self.people[value] = self.people.get(value, 0) + people
        self.weight[value] = self.weight.get(value, 0) + weight
        self.heaviest = max(self.heaviest, heaviest)

    @property
    def size(self) -> int:
        """Return how many people are in the block."""
        return sum(self.people.values())

    def kind(self, *, owner: bool) -> Kind:
        """Return the block as a kind of its own."""
        weight = Fraction(sum(self.weight.values()))
        mode = Fraction(max(self.weight.values()))
        heaviest = Fraction(self.heaviest)
        values = self.size if owner else len(self.people)
        share = heaviest / weight
        return Kind(self.size, values, 1, weight, mode, heaviest, mode / weight, share)


def repeat(stored: Stored, request: Request, inputs: Inputs, settings: Settings) -> Repetition:
    """Return the numbers of a stored attack, counted by SQLite."""
    if (reason := obstacle(stored, request)) is not None:
        return Repetition(WAY, reason=reason)
    answer = people(request, stored.name, inputs, settings)
    if answer is None:
        return Repetition(WAY, reason=TOO_MANY)
    numbers: dict[Place, Number] = {}
    for question in questions(stored):
        if question.gain:
            continue
        width = len(stored.spec["qids"]) if not stored.spec.get("person") else 1
        try:
            after = blocks(answer, range(width), width, question.secret)
            before = blocks(answer, (), width, question.secret)
        except EngineError:  # SQLite has whole numbers of 63 bits
            return Repetition(WAY, reason=TOO_HEAVY)
        population = bool(stored.spec.get("population"))
        values = of_blocks(before, after, owner=not question.secret, population=population)
        numbers |= {
            (RESULTS, question.row, name): value
            for name, value in values.items()
            if name in stored.frame.columns
        }
        numbers |= _details(stored, question, after)
    return Repetition(WAY, numbers)


def numbers_of(answer: Answer, places: Iterable[int], width: int, secret: int) -> dict[str, Number]:
    """Return the numbers of an attack with some of the first ``width`` columns.

    EngineError if the weights do not fit.
    """
    after, before = (blocks(answer, some, width, secret) for some in (places, ()))
    return of_blocks(before, after, owner=not secret)


def obstacle(stored: Stored, request: Request) -> str | None:
    """Return why SQLite cannot count these people again, None if it can."""
    if stored.spec.get("target"):
        return "an attack on one person is not repeated by SQLite"
    if stored.spec.get("prior"):
        return "beliefs before the release are not counts of people"
    if stored.kind == "attack" and stored.frame["datasets"].n_unique() > 1:
        return "a progressive attack is not repeated by SQLite"
    if stored.frame.filter(pl.col("records") > MOST).height:
        return TOO_MANY
    return None


def people(request: Request, name: str, inputs: Inputs, settings: Settings) -> Answer | None:
    """Return one row per person, as bare DuckDB reads them; None if there are too many."""
    options: dict[str, Any] = dict(request.options)
    script = sql(request.models, request.source, step="microdata", settings=settings, **options)
    with BareDuckDB(inputs.now, settings, name) as bare:
        *_, answer = bare.run(script, most=MOST + 1)
    return answer if len(answer.rows) <= MOST else None


def blocks(answer: Answer, known_places: Iterable[int], width: int, secret: int) -> list[Block]:
    """Return the blocks of the people by some of the first ``width`` columns.

    EngineError if the weights do not fit.
    """
    chosen = list(known_places)
    weight = answer.columns.index("weight") if "weight" in answer.columns[width:] else None
    weights = [1] * len(answer.rows) if weight is None else [int(r[weight]) for r in answer.rows]
    unit = reduce(math.gcd, weights, 0) or 1
    rows = (
        (
            "\x1f".join(text_of(row[i]) for i in chosen),
            text_of(row[width + secret - 1]) if secret else None,
            w // unit,
        )
        for row, w in zip(answer.rows, weights, strict=True)
    )
    by_name: dict[str, Block] = {}
    for cell in sqlite_cells.cells(rows):
        by_name.setdefault(cell[0], Block()).add(cell)
    return list(by_name.values())


def text_of(value: object) -> str:
    """Return a value as a text that differs for different values; -0.0 equals 0.0."""
    if isinstance(value, float):
        value += 0.0
    return "" if value is None else f"={value!r}"


def of_blocks(
    before: Sequence[Block], after: Sequence[Block], *, owner: bool, population: bool = False
) -> dict[str, Number]:
    """Return every number of an attack that follows from its blocks."""
    prior = [block.kind(owner=owner) for block in before]
    posterior = [block.kind(owner=owner) for block in after]
    numbers = exact_measures.of_kinds(prior, posterior, owner=owner)
    weighted = any(block.people != block.weight for block in after)
    numbers |= exact_measures.risks(posterior, owner=owner, population=population)
    if weighted:
        return numbers
    if owner:
        return numbers | exact_measures.of_owner(prior, posterior)
    for when, every in (("prior", before), ("posterior", after)):
        numbers[f"{when}_entropy"] = _entropy(every)
        numbers[f"{when}_guessing"] = _guesses(every)
    numbers["mutual_information"] = exact_measures.difference(
        numbers["prior_entropy"], numbers["posterior_entropy"]
    )
    everybody = sum(kind.size for kind in posterior)
    of_value = before[0].people
    best = [max(Fraction(n, of_value[v]) for v, n in block.people.items()) for block in after]
    numbers |= exact_measures.capacity((share.numerator, share.denominator) for share in best)
    ratios = ((share * everybody / b.size, b.size) for share, b in zip(best, after, strict=True))
    numbers |= exact_measures.pointwise(ratios)
    return numbers | _security(after, of_value)


def _entropy(every: Sequence[Block]) -> float:
    """Return the mean Shannon entropy of the blocks, in bits."""
    everybody = sum(block.size for block in every)
    return math.fsum(
        n / everybody * log2(Fraction(block.size, n))
        for block in every
        for n in block.people.values()
    )


def _guesses(every: Sequence[Block]) -> Fraction:
    """Return the mean number of guesses, the most frequent value first."""
    everybody, total = sum(block.size for block in every), 0
    for block in every:
        ordered = sorted(block.people.values(), reverse=True)
        total += sum(i * n for i, n in enumerate(ordered, 1))
    return Fraction(total, everybody)


def _security(after: Sequence[Block], of_value: Mapping[str | None, int]) -> dict[str, Number]:
    """Return the least overlap of two values over the blocks; nothing if they are too many."""
    names = list(of_value)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    if len(pairs) * len(after) > PAIRS * 100:
        return {}
    overlaps = [
        sum(
            (
                min(
                    Fraction(block.people.get(a, 0), of_value[a]),
                    Fraction(block.people.get(b, 0), of_value[b]),
                )
                for block in after
            ),
            Fraction(),
        )
        for a, b in pairs
    ]
    return {"bayes_security": min(overlaps, default=Fraction(1))}


def _details(stored: Stored, question: Question, after: Sequence[Block]) -> dict[Place, Number]:
    """Return the numbers of histograms, thresholds and quantiles of one question."""
    if "attack_id" not in stored.frame.columns:
        return {}
    own_id = stored.frame["attack_id"][question.row]
    numbers: dict[Place, Number] = {}
    successes = sorted(_successes(after, owner=not question.secret))
    for table in ("histogram", "thresholds", "quantiles"):
        unclear = table == "histogram" and stored.spec.get("weight") and _between_bins(successes)
        if table not in stored.details or unclear:
            continue
        for i, row in enumerate(stored.details[table].iter_rows(named=True)):
            if row["attack_id"] == own_id:
                values = _detail(table, row, successes)
                numbers |= {(table, i, name): value for name, value in values.items()}
    return numbers


def _between_bins(successes: Iterable[tuple[Fraction, int]]) -> bool:
    """Return whether a success is so close to the border of two bins that doubles may differ."""
    near = Fraction(1, 10**9)
    return any(abs(100 * success % 1 - Fraction(1, 2)) < near for success, _ in successes)


def _successes(after: Sequence[Block], *, owner: bool) -> list[tuple[Fraction, int]]:
    """Return the success on each block, and its people; with weights, of the weight."""
    kinds = [block.kind(owner=owner) for block in after]
    return [(kind.owner if owner else kind.chance, kind.size) for kind in kinds]


def _detail(
    table: str, row: Mapping[str, Any], successes: Sequence[tuple[Fraction, int]]
) -> dict[str, Number]:
    people = sum(n for _, n in successes)
    if table == "histogram":
        inside = (n for success, n in successes if round(100 * success) == row["bin"])
        return {"individuals": sum(inside)}
    if table == "thresholds":
        least = Fraction(str(row["threshold"]))
        reached = sum(n for success, n in successes if success >= least)
        return {"individuals": reached, "share": Fraction(reached, people)}
    share = Fraction(str(row["quantile"]))
    return {"success": exact_measures.quantile(successes, share)}
