"""The numbers of a stored result, and those that a way of checking gives for them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import polars as pl

from qifsql.reference.success import Number
from qifsql.results.stored import Stored

RESULTS = "results"  # the name of the table of results, as in JSON
MANIFEST, REQUEST = "SQL of the manifest", "request"
"""Ways that who made the file has written; they confirm nothing."""
PARAMETERS = frozenset(("subset", "seconds", "bin", "threshold", "quantile", "wanted", "rule"))
"""Columns that say what is counted, or how long it took; they are not recomputed."""


class Place(NamedTuple):
    """The place of a number in a stored result; ``row`` is its position in the table, from 0."""

    table: str
    row: int
    column: str


@dataclass(frozen=True)
class Repetition:
    """The numbers that one ``way`` gives, by place; ``reason`` says why it gives no others.

    ``broken`` says why the way that should give the numbers fails, such as SQL that does not run:
    all numbers then differ. ``error`` is the share of a number by which a rounded one may differ.
    """

    way: str
    numbers: Mapping[Place, Number] = field(default_factory=dict)
    reason: str = ""
    broken: str = ""
    error: Fraction = Fraction()


def place_numbers(table: str, row: int, numbers: Mapping[str, Number]) -> dict[Place, Number]:
    """Return the numbers of one row of a table by place; ``numbers`` has them by column."""
    return {Place(table, row, column): number for column, number in numbers.items()}


def place_results(stored: Stored, row: int, numbers: Mapping[str, Number]) -> dict[Place, Number]:
    """Return the numbers of one row of results by place, without those it has no column for."""
    columns = stored.frame.columns
    return place_numbers(RESULTS, row, {c: n for c, n in numbers.items() if c in columns})


@dataclass(frozen=True)
class Question:
    """The question that a row of an attack answers; ``row`` is its position in the results.

    ``secret`` is its number, from 1; 0 is the record itself (re-identification). ``gain`` is that
    of the gain function; 0 is identity: a guess is right or wrong.
    """

    row: int
    model: str
    secret: int
    gain: int
    datasets: int

    @property
    def individual(self) -> bool:
        """Return whether the attack is on one person: the models that begin with I."""
        return self.model[0] == "I"


def questions(stored: Stored, *, noisy: bool = False) -> list[Question]:
    """Return the questions that the rows of a stored attack answer, in their order.

    They are those of ``noisy`` knowledge, or else those of exact knowledge. Rows about people of
    whom one record is known are left out: their blocks are not those of people. Rows that differ
    only in their gain are in the order in which the gains were asked for.
    """
    secrets = [str(name) for name in stored.spec["secrets"]]
    gains = list(dict.fromkeys(map(str, stored.spec.get("gains") or ["identity"])))
    numbered_gains = ["identity", *(gain for gain in gains if gain != "identity")]  # from 0
    gain_numbers = [numbered_gains.index(gain) for gain in gains]
    rows_before = Counter[tuple[object, ...]]()  # of a model, secret and number of datasets
    selection = []
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        if row.get("known_records") == "one":
            continue
        name, model, datasets = row["secret"], str(row["model"]), int(row["datasets"])
        secret = secrets.index(name) + 1 if name in secrets else 0
        # the row of noisy knowledge follows the exact one, with the same gain
        gain = gain_numbers[min(rows_before[model, name, datasets], len(gains) - 1)]
        rows_before[model, name, datasets] += 1
        if noisy == (bool(stored.spec.get("knows")) and row["knows"] != "exact"):
            selection.append(Question(i, model, secret, gain, datasets))
    return selection


def relabel_records_as_people(stored: Stored, repetition: Repetition) -> Repetition:
    """Return the numbers with the column ``people`` for ``records`` if the attack has a person.

    The SQL counts one row per person then, and calls their number ``records``.
    """
    if not stored.spec.get("person"):
        return repetition
    numbers = {
        Place(table, row, "people" if column == "records" else column): number
        for (table, row, column), number in repetition.numbers.items()
    }
    return replace(repetition, numbers=numbers)


def count_columns(stored: Stored, datasets: int) -> Repetition:
    """Return the columns ``datasets`` and ``n_qids`` of each row of results, from the request.

    ``datasets`` is how many the request has. A progressive attack has a row about the first one,
    the first two, and so on, for each question. A row of a sweep is about the first dataset and
    those of its quasi-identifiers (``2:age`` is of the second).
    """
    numbers: dict[Place, Number] = {}
    progressive = stored.kind == "attack" and stored.frame["datasets"].n_unique() > 1
    rows_of_question = Counter[str]()
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        names = ("model", "secret", "gain", "knows", "known_records")  # not all results have all
        question = repr([row.get(name) for name in names])
        rows_of_question[question] += 1
        counts = {"datasets": rows_of_question[question] if progressive else datasets}
        if stored.kind == "sweep" and datasets > 1:
            used = {1, *(int(name.partition(":")[0]) for name in row["qids"])}
            counts["datasets"] = len(used)
        if "n_qids" in row:
            counts["n_qids"] = len(row["qids"])
        numbers |= place_numbers(RESULTS, i, counts)
    return Repetition(REQUEST, numbers)


def places(stored: Stored, *names: str) -> Iterator[Place]:
    """Yield the place of each number but PARAMETERS in the tables of these names, or in all.

    The verdict on each level of a policy is a number, too.
    """
    parameters = PARAMETERS | ({"l"} if stored.kind == "levels" else set())
    verdicts = ("met",) if stored.kind == "check" else ()
    for table, frame in tables(stored).items():
        if names and table not in names:
            continue
        numeric = [n for n, dtype in frame.schema.items() if dtype.is_numeric() or n in verdicts]
        columns = [name for name in numeric if name not in parameters]
        for row, column in product(range(frame.height), columns):
            yield Place(table, row, column)


def tables(stored: Stored) -> dict[str, pl.DataFrame]:
    """Return the tables of a stored result by name, that of results first."""
    return {RESULTS: stored.frame, **stored.details}
