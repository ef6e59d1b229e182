"""The numbers of a stored result, and those that a way of checking gives for them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

import polars as pl

from qifsql.reference.success import Number
from qifsql.results.stored import Stored

RESULTS = "results"  # the name of the table of results, as in JSON
MANIFEST, REQUEST = "SQL of the manifest", "request"
"""Ways that who made the file has written; they confirm nothing."""
PARAMETERS = frozenset(("subset", "seconds", "bin", "threshold", "quantile", "wanted"))
"""Columns that say what is counted, or how long it took; they are not recomputed."""

Place = tuple[str, int, str]
"""The table, the number of its row from 0, and the column of a number."""


@dataclass(frozen=True)
class Repetition:
    """The numbers that one way gives, by place; ``reason`` says why it gives no others.

    ``broken`` says why the way that should give the numbers cannot be taken, such as SQL that does
    not run: all numbers then differ. ``error`` is by how much its numbers may differ from those of
    the attack, as a share of them.
    """

    way: str
    numbers: Mapping[Place, Number] = field(default_factory=dict)
    reason: str = ""
    broken: str = ""
    error: Fraction = Fraction()


def place_numbers(table: str, row: int, numbers: Mapping[str, Number]) -> dict[Place, Number]:
    """Return the numbers of a row of a table, given by column, by their places."""
    return {(table, row, column): number for column, number in numbers.items()}


def place_results(stored: Stored, row: int, numbers: Mapping[str, Number]) -> dict[Place, Number]:
    """Return the numbers of a row of results that are columns of it, by their places."""
    columns = stored.frame.columns
    return place_numbers(RESULTS, row, {c: n for c, n in numbers.items() if c in columns})


@dataclass(frozen=True)
class Question:
    """A row of an attack: its number, model, secret (0: the owner) and gain (0: identity).

    ``noisy``: the knowledge of the adversary has errors and gaps.
    """

    row: int
    model: str
    secret: int
    gain: int
    datasets: int
    noisy: bool

    @property
    def individual(self) -> bool:
        """Return whether the attack is on one person."""
        return self.model[0] == "I"


def questions(stored: Stored) -> list[Question]:
    """Return the rows of a stored attack as questions, without those of noisy knowledge."""
    return [question for question in _all_questions(stored) if not question.noisy]


def noisy_questions(stored: Stored) -> list[Question]:
    """Return the rows of an adversary whose knowledge has errors and gaps as questions."""
    return [question for question in _all_questions(stored) if question.noisy]


def _all_questions(stored: Stored) -> list[Question]:
    """Return every row of a stored attack as a question."""
    secrets = [str(name) for name in stored.spec["secrets"]]
    gains = list(dict.fromkeys(map(str, stored.spec.get("gains") or ["identity"])))
    named = ["identity", *(gain for gain in gains if gain != "identity")]
    numbers = [named.index(gain) for gain in gains]
    has_noise = bool(stored.spec.get("knows"))
    seen: dict[tuple[object, ...], int] = {}
    rows = []
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        if row.get("known_records") == "one":  # its blocks are not those of people
            continue
        name = row["secret"]
        secret = secrets.index(name) + 1 if name in secrets else 0
        model, datasets = str(row["model"]), int(row["datasets"])
        key = (model, name, datasets)
        place = seen[key] = seen.get(key, -1) + 1
        gain = numbers[min(place, len(numbers) - 1)]
        noisy = has_noise and row["knows"] != "exact"
        rows.append(Question(i, model, secret, gain, datasets, noisy))
    return rows


def of_people(stored: Stored, repetition: Repetition) -> Repetition:
    """Return the numbers with people counted as such; elsewhere each is a record."""
    if not stored.spec.get("person"):
        return repetition
    names = {"records": "people"}
    numbers = {(t, i, names.get(n, n)): value for (t, i, n), value in repetition.numbers.items()}
    return replace(repetition, numbers=numbers)


def count_columns(stored: Stored, datasets: int) -> Repetition:
    """Return how many quasi-identifiers and datasets each row is about, as the request has them.

    Rows of a progressive attack are about the first ones, one more each time; those of a sweep
    about the first and those of their quasi-identifiers.
    """
    numbers: dict[Place, Number] = {}
    progressive = stored.kind == "attack" and stored.frame["datasets"].n_unique() > 1
    prefixes: dict[str, int] = {}
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        names = ("model", "secret", "gain", "knows", "known_records")
        key = repr([row.get(name) for name in names])
        prefixes[key] = prefixes.get(key, 0) + 1
        numbers[RESULTS, i, "datasets"] = prefixes[key] if progressive else datasets
        if stored.kind == "sweep" and datasets > 1:
            used = {1, *(int(name.partition(":")[0]) for name in row["qids"])}
            numbers[RESULTS, i, "datasets"] = len(used)
        if "n_qids" in row:
            numbers[RESULTS, i, "n_qids"] = len(row["qids"])
    return Repetition(REQUEST, numbers)


def places(stored: Stored, *only: str) -> Iterator[Place]:
    """Return the place of every number of a stored result, or of these tables alone."""
    parameters = PARAMETERS | ({"l"} if stored.kind == "levels" else set())
    for table, frame in tables(stored).items():
        if only and table not in only:
            continue
        names = [
            name
            for name, kind in frame.schema.items()
            if kind.is_numeric() and name not in parameters
        ]
        yield from ((table, row, name) for row, name in product(range(frame.height), names))


def tables(stored: Stored) -> dict[str, pl.DataFrame]:
    """Return the tables of a stored result, that of results first."""
    return {RESULTS: stored.frame, **stored.details}
