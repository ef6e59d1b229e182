"""A stored sweep recomputed: some of its subsets, each attacked by itself, and its answers.

Subsets are repeated by printed SQL and by SQLite. What to drop first, Shapley values, interactions
and borders follow from the rows; what coarsening saves is counted by SQLite. Source: M34 to M38.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import polars as pl

from qifsql.commands.verify import second_engine, stored_request
from qifsql.commands.verify.second_engine import People, numbers_of
from qifsql.commands.verify.stored_request import RepetitionError, Request, attempt
from qifsql.commands.verify.verdicts import (
    Place,
    Repetition,
    place_numbers,
    place_results,
    questions,
)
from qifsql.data.types import Row
from qifsql.errors import quoted
from qifsql.reference import quasi_identifier_sets as sets
from qifsql.reference.success import Number
from qifsql.results.stored import Stored

WAY = "rows of the result"
ANSWER_TABLES = ("best", "shapley", "interactions", "drop_first", "borders", "coarsen_first")
MOST_SUMMED_QIDS = 12  # quasi-identifiers whose subsets are added up one by one
TIE = Fraction(1, 10**12)  # numbers that differ by less may be in any order
MEASURES = ("deterministic", "probabilistic")

Subset = tuple[str, ...]
Key = tuple[object, ...]
"""The model, the secret and the measure of a success."""


def draw_subsets(stored: Stored, limit: int, seed: int | None) -> dict[Subset, list[int]]:
    """Return at most ``limit`` subsets, drawn by the seed, with the positions of their rows."""
    rows_of_subset: dict[Subset, list[int]] = {}
    for i, qids in enumerate(stored.frame["qids"].to_list()):
        rows_of_subset.setdefault(tuple(qids), []).append(i)
    generator = random.Random(seed or 0)  # noqa: S311 - not for secrets
    drawn = generator.sample(sorted(rows_of_subset), min(limit, len(rows_of_subset)))
    return {subset: rows_of_subset[subset] for subset in sorted(drawn)}


def repeat_by_printed_sql(request: Request, subsets: Mapping[Subset, Sequence[int]]) -> Repetition:
    """Return the numbers in the ``rows`` of each subset, by the SQL printed for its attack alone.

    That is the whole SQL, also where a simpler one would do (``simple``).
    """
    numbers: dict[Place, Number] = {}
    for subset, rows in subsets.items():
        part = request.subset(subset, rows)
        numbers |= _numbers_in_sweep(rows, stored_request.repeat_printed_sql(part).numbers)
    return Repetition(stored_request.PRINTED_WAY, numbers)


def repeat_by_sqlite(request: Request, subsets: Mapping[Subset, Sequence[int]]) -> Repetition:
    """Return the numbers of each subset and its rows, from the people, read once, by SQLite."""
    stored = request.stored
    second_engine.check_countable(stored)
    people = second_engine.read_people(request)
    numbers: dict[Place, Number] = {}
    for subset, rows in subsets.items():
        part = request.subset(subset, rows).stored
        qids = [f"qid {name}" for name in subset]
        for question in questions(part):
            values = numbers_of(stored, people, qids, question.secret)
            numbers |= _numbers_in_sweep(rows, place_results(part, question.row, values))
    return Repetition(second_engine.WAY, numbers)


def _numbers_in_sweep(rows: Sequence[int], numbers: Mapping[Place, Number]) -> dict[Place, Number]:
    """Return numbers of a subset at their places in the sweep, where it has these ``rows``."""
    return {place._replace(row=rows[place.row]): number for place, number in numbers.items()}


def repeat_answers(request: Request) -> list[Repetition]:
    """Return the numbers of ANSWER_TABLES: from the rows of the sweep; coarsened, by SQLite."""
    stored = request.stored
    try:
        successes = dict(_successes(stored))
    except KeyError:
        return [Repetition(WAY, reason="some subsets are missing")]
    numbers: dict[Place, Number] = {}
    for table in ANSWER_TABLES:
        for i, row in enumerate(stored.rows_of(table)):
            if table == "best":
                values = _numbers_of_best(stored, row, successes)
            else:
                values = _numbers_of_row(table, row, successes)
            numbers |= place_numbers(table, i, values)
    numbers |= _ranks(stored, "drop_first", ("saved", "shapley"))
    numbers |= _ranks(stored, "coarsen_first", ("saved", "saved_deterministic"))
    return [Repetition(WAY, numbers), attempt(second_engine.WAY, _count_coarsened, request)]


def _successes(stored: Stored) -> Iterator[tuple[Key, sets.Values]]:
    """Yield the success by set of known quasi-identifiers; KeyError if a subset is missing."""
    qids = stored.spec["qids"]
    for (model, secret), part in stored.frame.group_by("model", "secret", maintain_order=True):
        rows = part.rows(named=True)
        for measure in MEASURES:
            by_set = {frozenset(r["qids"]): Fraction(r[f"posterior_{measure}"]) for r in rows}
            by_set[frozenset()] = Fraction(rows[0][f"prior_{measure}"])  # nothing is known
            if len(by_set) < 2 ** len(qids):
                raise KeyError
            yield (model, secret, measure), by_set


def _numbers_of_row(
    table: str, row: Row, successes: Mapping[Key, sets.Values]
) -> dict[str, Number]:
    """Return the numbers of one row of a table of ANSWER_TABLES, by column, without its rank.

    A table without a column ``measure`` is about the probabilistic success. Shapley values and
    interactions add up all subsets: with more than MOST_SUMMED_QIDS they are left out.
    """
    success = successes[row["model"], row["secret"], row.get("measure", "probabilistic")]
    all_qids = max(success, key=len)  # the largest set
    has_sums = len(all_qids) <= MOST_SUMMED_QIDS
    if table == "borders":
        return {"n_qids": len(row["qids"]), "posterior": success[frozenset(row["qids"])]}
    if table == "interactions":
        return {"interaction": sets.index(success, (row["a"], row["b"]))} if has_sums else {}
    if table == "coarsen_first":  # its other numbers are counted with SQLite
        return {"posterior_all": success[all_qids]}
    qid = row["qid"]
    other_qids = all_qids - {qid}
    gain_at_last = sets.added(success, other_qids, [qid])
    shapley: dict[str, Number] = {"shapley": sets.index(success, (qid,))} if has_sums else {}
    if table == "drop_first":
        deterministic = successes[row["model"], row["secret"], "deterministic"]
        return shapley | {
            "posterior_all": success[all_qids],
            "posterior_without": success[other_qids],
            "saved": gain_at_last,
            "saved_deterministic": sets.added(deterministic, other_qids, [qid]),
        }
    if shapley:
        total = success[all_qids] - success[frozenset()]
        shapley["share"] = Fraction(shapley["shapley"] or 0) / total if total else None
    return shapley | {"alone": sets.added(success, frozenset(), [qid]), "last": gain_at_last}


def _numbers_of_best(
    stored: Stored, row: Row, successes: Mapping[Key, sets.Values]
) -> dict[str, Number]:
    """Return the numbers of a row of the table ``best``: a best subset of one size, by column.

    In a measure for which the subset is said to be best, its number is the largest of all subsets
    of this size; other numbers are those of its row of the results.
    """
    same_question = (pl.col(n).eq_missing(pl.lit(row[n], pl.String())) for n in ("model", "secret"))
    rows = stored.frame.filter(*same_question).rows(named=True)
    result = next(r for r in rows if set(r["qids"]) == set(row["qids"]))
    numbers = {name: result[name] for name in row if name.startswith(("degradation", "posterior"))}
    for measure in MEASURES:
        if row["best_for"] in (measure, "both"):
            success = successes[row["model"], row["secret"], measure]
            of_this_size = (n for qids, n in success.items() if len(qids) == row["n_qids"])
            numbers[f"posterior_{measure}"] = max(of_this_size)
    return numbers | {"n_qids": len(row["qids"])}


def _ranks(stored: Stored, table: str, by: tuple[str, str]) -> dict[Place, Number]:
    """Return the rank of each row of a table among those of its secret, from 1.

    The row with the largest number in the first column of ``by`` has rank 1. The second column
    decides ties, and after it the order of the rows.
    """

    def is_better(rival: Row, row: Row, comes_first: bool) -> bool:
        for column in by:
            difference = Fraction(rival[column]) - Fraction(row[column])
            if abs(difference) > TIE:
                return difference > 0
        return comes_first

    rows = list(enumerate(stored.rows_of(table)))
    ranks: dict[Place, Number] = {}
    for i, row in rows:
        rivals = [(j, rival) for j, rival in rows if rival["secret"] == row["secret"]]
        better = [j for j, rival in rivals if is_better(rival, row, j < i)]
        ranks[Place(table, i, "rank")] = 1 + len(better)
    return ranks


def _count_coarsened(request: Request) -> Repetition:
    """Return what merging the values of a quasi-identifier in pairs saves (``coarsen_first``).

    The people are counted by SQLite, with the values as they are and merged.
    """
    stored, rows = request.stored, request.stored.rows_of("coarsen_first")
    second_engine.check_countable(stored)
    if not rows:
        return Repetition(second_engine.WAY)
    people = second_engine.read_people(request)
    secrets = dict.fromkeys(row["secret"] for row in rows)
    before_of_secret = {s: numbers_of(stored, people, people.qids, s) for s in secrets}
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(rows):
        coarser = _merge_pairs(people, row["qid"])
        before = before_of_secret[row["secret"]]
        after = numbers_of(stored, coarser, people.qids, row["secret"])
        values: dict[str, Number] = {
            "values": len({person[f"qid {row['qid']}"] for person in people.rows}),
            "values_coarser": len({person[f"qid {row['qid']}"] for person in coarser.rows}),
            "posterior_coarser": after["posterior_probabilistic"],
        }
        for name, measure in (("saved", "probabilistic"), ("saved_deterministic", "deterministic")):
            success_before, success_after = (n[f"posterior_{measure}"] for n in (before, after))
            values[name] = Fraction(success_before or 0) - Fraction(success_after or 0)
        numbers |= place_numbers("coarsen_first", i, values)
    return Repetition(second_engine.WAY, numbers)


def _merge_pairs(people: People, qid: str) -> People:
    """Return the people with the values of a quasi-identifier merged in pairs.

    In the order of the values, the first and second become 0, the next two 1, and so on; a missing
    value stays. RepetitionError if the values have no order.
    """
    column = f"qid {qid}"
    values = {row[column] for row in people.rows} - {None}
    try:
        ordered = sorted(values, key=lambda v: (v != v, v))  # noqa: PLR0124 - NaN is last
    except TypeError as e:
        raise RepetitionError(f"the values of {quoted(qid)} have no order") from e
    pair = {value: i // 2 for i, value in enumerate(ordered)} | {None: None}
    return replace(people, rows=[{**row, column: pair[row[column]]} for row in people.rows])
