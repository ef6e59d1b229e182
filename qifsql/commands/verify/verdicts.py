"""The numbers of a stored result, those that a way of checking gives, and verdicts on them."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import polars as pl

from qifsql.reference.success import Number
from qifsql.results.stored import Stored

RESULTS = "results"  # the name of the table of results, as in JSON
MANIFEST, REQUEST = "SQL of the manifest", "request"
"""Ways that who made the file has written; they confirm nothing."""
PARAMETERS = frozenset(("subset", "seconds", "bin", "threshold", "quantile", "wanted", "rule"))
"""Columns that say what is counted, or how long it took; they are not recomputed."""
AGREES, DIFFERS, NOT_CHECKED = "agrees", "differs", "not checked"
LEFT_OUT, HINTED = "left out", "hinted"
NAME, COUNT, NUMBER = pl.String(), pl.Int64(), pl.Float64()

SCHEMA: dict[str, pl.DataType] = {
    **{"result": NAME, "attack_id": NAME, "table": NAME, "row": COUNT, "column": NAME},
    **{"stored": NUMBER, "recomputed": NUMBER, "way": NAME, "verdict": NAME, "reason": NAME},
}
"""One row for each number of a stored result, and way that recomputes it.

``result`` is the name of the stored result, ``attack_id`` joins a number to its row (a digest of
the request; NULL if the result has none), ``table`` is ``results`` or the name of details, ``row``
counts the rows of the table from 0; without a ``column`` the whole row, or the whole table, is not
checked. ``stored`` and ``recomputed`` are the two numbers (NULL: undefined). ``way`` says how it
was recomputed, NULL if it was not. ``verdict`` is ``agrees``, ``differs`` or ``not checked``,
``reason`` says why a number is not checked, or why the way that should give it failed."""

MAX_DIFFERENCE = Fraction(1, 10**12)
DIFFERENCE_COLUMNS = frozenset(
    (
        *("degradation_deterministic", "leakage_additive", "min_entropy_leakage", "gap", "alc"),
        *("prior_entropy", "posterior_entropy", "mutual_information", "capacity_bits"),
        *("pointwise_mean", "pointwise_median", "pointwise_q95", "pointwise_worst"),
        *("shapley", "share", "alone", "last", "interaction", "saved", "saved_deterministic"),
    )
)
"""Columns of differences and logarithms, whose rounding errors are not in proportion to them."""


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

    ``secret`` None is the record itself (re-identification). ``gain`` is the number of the gain
    function; 0 is identity: a guess is right or wrong.
    """

    row: int
    model: str
    secret: str | None
    gain: int
    datasets: int


def _gain_numbers(stored: Stored) -> list[int]:
    """Return numbers of the gains asked for: 1, 0 for ``worth, identity``, by default 0 alone."""
    gains = list(dict.fromkeys(map(str, stored.spec.get("gains") or ["identity"])))
    numbered_gains = ["identity", *(gain for gain in gains if gain != "identity")]
    return [numbered_gains.index(gain) for gain in gains]


def questions(stored: Stored, *, noisy: bool = False) -> list[Question]:
    """Return the questions that the rows of a stored attack answer, in their order.

    They are those of ``noisy`` knowledge, or else those of exact knowledge. Rows about people of
    whom one record is known are left out: their blocks are not those of people. Rows that differ
    only in their gain are in the order in which the gains were asked for.
    """
    secrets = [str(name) for name in stored.spec["secrets"]]
    gain_numbers = _gain_numbers(stored)
    rows_before = Counter[tuple[object, ...]]()  # of a model, secret and number of datasets
    selection = []
    for i, row in enumerate(stored.frame.iter_rows(named=True)):
        if row.get("known_records") == "one":
            continue
        name, model, datasets = row["secret"], str(row["model"]), int(row["datasets"])
        secret = name if name in secrets else None
        # Of several gains, the n-th row is about the n-th. Noisy knowledge has one gain, and then
        # a second row, after that of exact knowledge.
        gain = gain_numbers[min(rows_before[model, name, datasets], len(gain_numbers) - 1)]
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


def agree(
    stored: Number, recomputed: Number, column: str, *, integer: bool, error: Fraction = Fraction()
) -> bool:
    """Return whether a stored number is the recomputed one.

    Counts are equal. Other numbers differ by at most 1e-12 of the number, or for differences and
    logarithms by at most 1e-12: a double has 2e-16, a few hundred of which add up, and one person
    of a trillion changes more. ``error`` is allowed, too. NULL (undefined) agrees with NULL alone.
    """
    if stored is None or recomputed is None:
        return stored is None and recomputed is None
    if not _is_finite(stored) or not _is_finite(recomputed):
        return float(stored) == float(recomputed)
    if integer:
        return Fraction(stored) == Fraction(recomputed)
    exact = Fraction(recomputed)
    scale = max(Fraction(1), abs(exact)) if column in DIFFERENCE_COLUMNS else abs(exact)
    return abs(Fraction(stored) - exact) <= (MAX_DIFFERENCE + error) * scale


def _is_finite(number: Fraction | int | float) -> bool:
    return not isinstance(number, float) or math.isfinite(number)


def verdict_rows(
    stored: Stored, places: Sequence[Place], repetitions: Sequence[Repetition]
) -> list[dict[str, Any]]:
    """Return a row (SCHEMA) for each number and way that gives it; one row if no way does."""
    frames = tables(stored)
    verdicts: list[dict[str, Any]] = []
    for place in places:
        frame = frames[place.table]
        attack_id = str(frame["attack_id"][place.row]) if "attack_id" in frame.columns else None
        result = {"result": stored.name, "attack_id": attack_id}
        verdicts += [result | verdict for verdict in _verdicts_on(place, frame, repetitions)]
    return verdicts


def _verdicts_on(
    place: Place, frame: pl.DataFrame, repetitions: Sequence[Repetition]
) -> list[dict[str, Any]]:
    """Return a row for each way that gives the number at a place, or is broken.

    If there is none, one row says that it is not checked. ``frame`` is the table of the place.
    """
    number = frame[place.column][place.row]
    integer = frame.schema[place.column].is_integer()
    about = {**place._asdict(), "stored": _double(number)}
    verdicts: list[dict[str, Any]] = []
    for repetition in repetitions:
        broken = repetition.broken
        if not broken and place not in repetition.numbers:
            continue
        recomputed = repetition.numbers.get(place)
        is_same = not broken and agree(
            number, recomputed, place.column, integer=integer, error=repetition.error
        )
        verdict = {"verdict": AGREES if is_same else DIFFERS, "reason": broken or None}
        values = {"recomputed": _double(recomputed), "way": repetition.way}
        verdicts.append({**about, **values, **verdict})
    if verdicts:
        return verdicts
    reasons = dict.fromkeys(f"{r.way}: {r.reason}" for r in repetitions if r.reason)
    unchecked = {"recomputed": None, "way": None, "verdict": NOT_CHECKED}
    return [{**about, **unchecked, "reason": "; ".join(["no way gives this number", *reasons])}]


def unchecked_tables(
    stored: Stored, reason: str, names: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Return one row (SCHEMA) for each table that is not checked; by default for all tables."""
    names = tables(stored) if names is None else names
    return [unchecked_row(stored, table, None, reason) for table in names]


def unchecked_row(stored: Stored, table: str, row: int | None, reason: str) -> dict[str, Any]:
    """Return a row (SCHEMA): a row of a table is not checked, or the whole table (row None)."""
    place = {"result": stored.name, "table": table, "row": row}
    return {**dict.fromkeys(SCHEMA), **place, "verdict": NOT_CHECKED, "reason": reason}


def _double(value: Number) -> float | None:
    """Return a number as it is stored, NULL as such."""
    return None if value is None else float(value)


def summary(frame: pl.DataFrame) -> Mapping[str, int]:
    """Return how many numbers agree in every way, differ in one, or are not checked.

    ``left out`` is the number of rows and tables of which no number was checked, ``hinted`` that of
    numbers that agree with the SQL of the manifest alone.
    """
    counts = dict.fromkeys((AGREES, DIFFERS, NOT_CHECKED, HINTED), 0)
    numbers = frame.drop_nulls("column")  # the other rows are whole rows and tables
    is_hint = pl.col("verdict").eq(AGREES) & pl.col("way").eq(MANIFEST)
    numbers = numbers.with_columns(
        pl.when(is_hint).then(pl.lit(HINTED)).otherwise("verdict").alias("verdict")
    )
    # A verdict that differs decides; a number is a hint only if no other way agrees.
    places = numbers.group_by("result", "table", "row", "column").agg(pl.col("verdict").unique())
    for (verdicts,) in places.select("verdict").iter_rows():
        decisive = next(v for v in (DIFFERS, AGREES, HINTED, NOT_CHECKED) if v in verdicts)
        counts[decisive] += 1
    return {**counts, LEFT_OUT: frame.height - numbers.height}


def is_confirmed(stored: Stored, verdicts: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether numbers of a result agree in a way that its file cannot influence.

    The SQL and the request are written in the file, so agreement with them is no confirmation. An
    attack or a verdict must have a number that agrees in every row of results, others in some row.
    """
    independent = [v for v in verdicts if v["way"] not in (MANIFEST, REQUEST)]
    agreeing = {v["row"] for v in independent if v["verdict"] == AGREES and v["table"] == RESULTS}
    required = set(range(stored.frame.height)) if stored.kind in ("attack", "check") else agreeing
    return bool(agreeing) and agreeing >= required
