"""The people counted again by SQLite, and every measure from its definition, in exact fractions.

The people are read with the printed SQL of ``microdata``; no other SQL or measure is used.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any, Literal

from qifsql.commands.verify import exact_measures
from qifsql.commands.verify.exact_measures import AttackBlocks
from qifsql.commands.verify.stored_request import RepetitionError, Request
from qifsql.commands.verify.verdicts import (
    Place,
    Question,
    Repetition,
    place_numbers,
    place_results,
    questions,
)
from qifsql.data.types import Row
from qifsql.engine.bare import count_in_sqlite
from qifsql.errors import EngineError
from qifsql.query.suppression import STAR
from qifsql.reference.microdata import Blocks, Cell, Key, Rows
from qifsql.reference.success import Number, at_or_above, histogram, kind, quantile
from qifsql.reference.sure_claims import claims_of_blocks
from qifsql.results.stored import Stored

WAY = "SQLite"
MOST_PEOPLE = 200_000  # that are counted here
TOO_MANY = f"more than {MOST_PEOPLE:,} people"
MISSING_TEXT = ""  # text_of(None): a missing value


@dataclass(frozen=True)
class People:
    """The people of an attack: the values of each one by column.

    The columns are ``qids`` (such as ``qid age``), ``secret job`` and the like, and ``weight`` if
    people have weights.
    """

    rows: Rows
    qids: tuple[str, ...]

    @property
    def weights(self) -> list[int]:
        """Return the weight of each person, 1 if people have none."""
        return [int(row.get("weight", 1)) for row in self.rows]


def repeat(request: Request) -> Repetition:
    """Return the numbers of a stored attack, its results and details, counted by SQLite."""
    stored = request.stored
    check_countable(stored)
    people = read_people(request)
    numbers: dict[Place, Number] = {}
    for question in questions(stored):
        if question.gain:  # other gains than identity are not in the reference
            continue
        blocks = _attack_blocks(stored, people, people.qids, question.secret)
        numbers |= place_results(stored, question.row, _numbers_of_blocks(stored, blocks))
        numbers |= _detail_numbers(stored, question, blocks)
        numbers |= _numbers_of_claims(stored, question, blocks)
    return Repetition(WAY, numbers)


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


def read_people(request: Request) -> People:
    """Return the people of an attack, read by bare DuckDB; RepetitionError if they are too many."""
    spec, rows = request.stored.spec, read_rows(request)
    qids = [f"qid {name}" for name in spec["qids"]]
    secrets = [f"secret {name}" for name in spec["secrets"]]
    if spec.get("person") and rows:
        # Of people with several records, lists of these are known, in columns before the secrets.
        qids = [f"records {i}" for i in range(len(rows[0]) - len(secrets))]
    columns = [*qids, *secrets, *(["weight"] if spec.get("weight") else [])]
    return People([dict(zip(columns, row, strict=False)) for row in rows], tuple(qids))


def read_rows(
    request: Request, step: Literal["microdata", "records"] = "microdata"
) -> list[tuple[Any, ...]]:
    """Return one row per person, or per record: quasi-identifiers, secrets, then other columns.

    The other columns of a person are a weight, those of a record are whose it is and its number.
    """
    *_, answer = request.run(request.script(step=step), limit=MOST_PEOPLE + 1)
    if len(answer.rows) > MOST_PEOPLE:
        unit = "people" if step == "microdata" else "records"
        raise RepetitionError(f"more than {MOST_PEOPLE:,} {unit}")
    return answer.rows


def _attack_blocks(
    stored: Stored, people: People, qids: Sequence[str], secret: str | None
) -> AttackBlocks:
    """Return the blocks of an attack by some columns of people."""
    before, after = (count_blocks(people, columns, secret) for columns in ((), qids))
    suppressed = [(_block_name(key),) for key in suppressed_keys(stored, people.rows, qids)]
    return AttackBlocks(secret is None, before, after, suppressed)


def numbers_of(
    stored: Stored, people: People, qids: Sequence[str], secret: str | None
) -> dict[str, Number]:
    """Return the numbers, by column of results, of an attack by some columns of people."""
    return _numbers_of_blocks(stored, _attack_blocks(stored, people, qids, secret))


def _numbers_of_blocks(stored: Stored, blocks: AttackBlocks) -> dict[str, Number]:
    """Return the numbers, by column of results, of an attack with these blocks."""
    population = bool(stored.spec.get("population"))
    numbers = exact_measures.numbers_of_blocks(blocks, population=population)
    if blocks.owner:  # the record itself is never missing
        return numbers | dict.fromkeys(exact_measures.OF_REPORTED)
    if stored.spec.get("person"):
        return numbers
    return exact_measures.with_reported(numbers, _numbers_of_reporting(blocks))


def suppressed_keys(stored: Stored, rows: Rows, columns: Sequence[str]) -> list[Key]:
    """Return the values by which suppressed records are known, if the attack says they may be.

    They are * in columns of texts, and missing in others.
    """
    if not stored.spec.get("suppressed_records"):
        return []
    texts = {column for row in rows for column in columns if isinstance(row[column], str)}
    return [tuple(STAR if column in texts else None for column in columns)]


def _numbers_of_reporting(blocks: AttackBlocks) -> dict[str, Number]:
    """Return the numbers, by column, of the people who report the secret: it is not missing."""
    (everybody,) = blocks.before.values()
    unreported = 0
    for block, values in blocks.after.items():
        possible_values = everybody if block in blocks.suppressed else values
        if set(possible_values) == {MISSING_TEXT}:
            unreported += values[MISSING_TEXT].people
    reporting = _drop_missing_secrets(blocks)
    prior = [kind(values) for values in reporting.before.values()]
    return exact_measures.numbers_of_reporting(prior, reporting.kinds if prior else [], unreported)


def _drop_missing_secrets(blocks: AttackBlocks) -> AttackBlocks:
    """Return the blocks of the people who report the secret."""
    parts = []
    for part in (blocks.before, blocks.after):
        reported = {
            block: {value: cell for value, cell in values.items() if value != MISSING_TEXT}
            for block, values in part.items()
        }
        parts.append({block: values for block, values in reported.items() if values})
    before, after = parts
    return replace(blocks, before=before, after=after)


def count_blocks(people: People, qids: Sequence[str], secret: str | None) -> Blocks:
    """Return for each block how many people have each value of the secret, and their weight.

    The people of a block have the same values in the columns ``qids`` (none: one block). The
    secret None is the record itself, named by its position. Weights are divided by their common
    divisor; RepetitionError if they still do not fit into 63 bits.
    """
    weights = people.weights
    unit = reduce(math.gcd, weights, 0) or 1  # 0: nobody has weight
    individuals = []
    for position, (row, weight) in enumerate(zip(people.rows, weights, strict=True)):
        value = str(position) if secret is None else text_of(row[f"secret {secret}"])
        individuals.append((_block_name(row[name] for name in qids), value, weight // unit))
    try:
        counted = count_in_sqlite(individuals)
    except EngineError as e:
        raise RepetitionError("the weights do not fit into the numbers of SQLite") from e
    blocks: dict[Key, dict[str, Cell]] = {}
    for block, value, number, weight in counted:
        blocks.setdefault((block,), {})[value] = Cell(number, Fraction(weight))
    return blocks


def _block_name(values: Iterable[object]) -> str:
    """Return one text for the values of a block, the same for equal ones alone."""
    return "\x1f".join(map(text_of, values))


def text_of(value: object) -> str:
    """Return a value as a text that differs for different values; -0.0 equals 0.0."""
    if isinstance(value, float):
        value += 0.0
    return MISSING_TEXT if value is None else f"={value!r}"


def _rows_about(stored: Stored, question: Question, *tables: str) -> Iterator[tuple[str, int, Row]]:
    """Yield table, position and row of each row of these details that is about a question."""
    if "attack_id" not in stored.frame.columns:
        return
    attack_id = stored.frame["attack_id"][question.row]
    for table in tables:
        for i, row in enumerate(stored.rows_of(table)):
            if row["attack_id"] == attack_id:
                yield table, i, row


def _numbers_of_claims(
    stored: Stored, question: Question, blocks: AttackBlocks
) -> dict[Place, Number]:
    """Return the numbers of ``sure`` and ``sure_curve``: claims of an adversary who is sure enough.

    She names the secret of a person if her best guess is at least as probable as a threshold, a row
    each. If values are equally frequent, the guess before the release is not known here, nor what
    follows from it.
    """
    rows = list(_rows_about(stored, question, "sure", "sure_curve"))
    reporting = _drop_missing_secrets(blocks) if rows else blocks
    numbers: dict[Place, Number] = {}
    for table, i, row in rows:
        if row["of_reported"] and stored.spec.get("person"):
            continue
        part = reporting if row["of_reported"] else blocks
        least = Fraction(row["threshold"]) * (1 - Fraction(1, 2**52))  # it may be rounded up
        claims = claims_of_blocks(
            part.before, part.after, least, owner=part.owner, suppressed=part.suppressed
        )
        values: dict[str, Number] = {"claims": claims.people, "coverage": claims.coverage}
        is_defined = not stored.spec.get("weight") or not claims.people  # not for weights
        values |= {"right": claims.right if is_defined else None, "precision": claims.precision}
        weights = sorted(cell.weight for cells in part.before.values() for cell in cells.values())
        has_single_mode = weights[-1] not in weights[:-1]
        if blocks.owner or has_single_mode:
            values |= {"precision_before": claims.precision_before, "alc": claims.loss}
        numbers |= place_numbers(table, i, values)
    return numbers


def _detail_numbers(
    stored: Stored, question: Question, blocks: AttackBlocks
) -> dict[Place, Number]:
    """Return the numbers of histograms, thresholds and quantiles of a question, from its blocks."""
    successes = [kind.chance for kind in blocks.kinds for _ in range(kind.people)]  # by person
    # Bins are whole percents. Rounded weights may change the bin close to their borders.
    border, near = Fraction(1, 2), Fraction(1, 10**9)
    has_unclear_bins = bool(stored.spec.get("weight")) and any(
        abs(100 * success % 1 - border) < near for success in successes
    )
    numbers: dict[Place, Number] = {}
    if not has_unclear_bins:
        bins = histogram(successes)
        for table, i, row in _rows_about(stored, question, "histogram"):
            numbers |= place_numbers(table, i, {"individuals": bins[row["bin"]]})
    for table, i, row in _rows_about(stored, question, "thresholds", "quantiles"):
        values: dict[str, Number]
        if table == "thresholds":
            reached = at_or_above(successes, Fraction(str(row["threshold"])))
            values = {"individuals": reached, "share": Fraction(reached, len(successes))}
        else:
            values = {"success": quantile(successes, Fraction(str(row["quantile"])))}
        numbers |= place_numbers(table, i, values)
    return numbers
