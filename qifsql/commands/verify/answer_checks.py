"""The answers of a stored sweep again, from its rows and from the people, by their definitions.

What to drop first, Shapley values, interactions and borders follow from the rows; what coarsening
saves is counted by SQLite. Nothing of the sweep's own measures is used. Source: M34 to M38.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import polars as pl

from qifsql.commands.verify import second_engine
from qifsql.commands.verify.numbers import Place, Repetition, place_numbers
from qifsql.commands.verify.stored_request import RepetitionError, Request, attempt
from qifsql.data.types import Row
from qifsql.engine.bare import Answer
from qifsql.errors import quoted
from qifsql.reference import quasi_identifier_sets as sets
from qifsql.reference.success import Number
from qifsql.results.stored import Stored

WAY = "rows of the result"
ANSWERS = ("best", "shapley", "interactions", "drop_first", "borders", "coarsen_first")
MOST = 12  # quasi-identifiers whose subsets are added up one by one
SAME = Fraction(1, 10**12)  # numbers that differ by less may be in any order
MEASURES = ("deterministic", "probabilistic")

Key = tuple[object, ...]


@dataclass(frozen=True)
class Success:
    """The success against one secret in one measure, by set of known quasi-identifiers."""

    qids: tuple[str, ...]
    by_set: sets.Values

    def index(self, *players: str) -> Fraction:
        """Return the Shapley value of one quasi-identifier, the interaction index of two."""
        return sets.index(self.by_set, players)

    def gain_at_last(self, name: str) -> Fraction:
        """Return how much success a quasi-identifier adds to all others."""
        return sets.added(self.by_set, frozenset(self.qids) - {name}, [name])


def repeat(request: Request) -> list[Repetition]:
    """Return the numbers of the tables ANSWERS of a sweep: from its rows; coarsened, by SQLite."""
    stored = request.stored
    try:
        successes = dict(_successes(stored))
    except KeyError:
        return [Repetition(WAY, reason="some subsets are missing")]
    numbers: dict[Place, Number] = {}
    for table in ANSWERS:
        for i, row in enumerate(_rows_of_table(stored, table)):
            values = _numbers_of_row(stored, table, row, successes)
            numbers |= place_numbers(table, i, values)
    numbers |= _ranks(stored, "drop_first", ("saved", "shapley"))
    numbers |= _ranks(stored, "coarsen_first", ("saved", "saved_deterministic"))
    return [Repetition(WAY, numbers), attempt(second_engine.WAY, _count_coarsened, request)]


def _rows_of_table(stored: Stored, table: str) -> list[dict[str, Any]]:
    return stored.details[table].rows(named=True) if table in stored.details else []


def _successes(stored: Stored) -> Iterator[tuple[Key, Success]]:
    """Yield pairs of (model, secret, measure) and the success; KeyError if a subset is missing."""
    qids = tuple(stored.spec["qids"])
    for (model, secret), part in stored.frame.group_by("model", "secret", maintain_order=True):
        rows = part.rows(named=True)
        for measure in MEASURES:
            by_set = {frozenset(r["qids"]): Fraction(r[f"posterior_{measure}"]) for r in rows}
            by_set[frozenset()] = Fraction(rows[0][f"prior_{measure}"])  # nothing is known
            if len(by_set) < 2 ** len(qids):
                raise KeyError
            yield (model, secret, measure), Success(qids, by_set)


def _numbers_of_row(
    stored: Stored, table: str, row: Row, successes: Mapping[Key, Success]
) -> dict[str, Number]:
    """Return the numbers of one row of a table of ANSWERS, by column, without its rank.

    ``successes`` has the keys (model, secret, measure). A table without a column ``measure`` is
    about the probabilistic success. Shapley values and interactions add up all subsets, and are
    left out if there are more than MOST quasi-identifiers.
    """
    deterministic, probabilistic = (successes[row["model"], row["secret"], m] for m in MEASURES)
    success = successes[row["model"], row["secret"], row.get("measure", MEASURES[1])]
    every_qid, has_few_qids = frozenset(success.qids), len(success.qids) <= MOST
    if table == "best":
        return _numbers_of_best(stored, row, (deterministic, probabilistic))
    if table == "borders":
        return {"n_qids": len(row["qids"]), "posterior": success.by_set[frozenset(row["qids"])]}
    if table == "interactions":
        return {"interaction": success.index(row["a"], row["b"])} if has_few_qids else {}
    if table == "shapley":
        return _numbers_of_shapley(success, row["qid"])
    if table == "coarsen_first":  # its other numbers are counted with SQLite
        return {"posterior_all": success.by_set[every_qid]}
    drop_first: dict[str, Number] = {
        "posterior_all": success.by_set[every_qid],
        "posterior_without": success.by_set[every_qid - {row["qid"]}],
        "saved": success.gain_at_last(row["qid"]),
        "saved_deterministic": deterministic.gain_at_last(row["qid"]),
    }
    return drop_first | ({"shapley": success.index(row["qid"])} if has_few_qids else {})


def _numbers_of_shapley(success: Success, qid: str) -> dict[str, Number]:
    """Return what a quasi-identifier adds to no other, to all others, and on average, by column."""
    numbers: dict[str, Number] = {
        "alone": sets.added(success.by_set, frozenset(), [qid]),
        "last": success.gain_at_last(qid),
    }
    if len(success.qids) > MOST:  # the average adds up all subsets
        return numbers
    total = success.by_set[frozenset(success.qids)] - success.by_set[frozenset()]
    shapley = success.index(qid)
    return {**numbers, "shapley": shapley, "share": shapley / total if total else None}


def _numbers_of_best(stored: Stored, row: Row, successes: Sequence[Success]) -> dict[str, Number]:
    """Return the numbers of a row of the table ``best``: a best subset of one size, by column.

    ``successes`` are those of MEASURES. In a measure for which the subset is said to be best, its
    number is the largest of all subsets of this size; other numbers are those of its row.
    """
    same_question = (pl.col(n).eq_missing(pl.lit(row[n], pl.String())) for n in ("model", "secret"))
    rows = stored.frame.filter(*same_question).rows(named=True)
    result = next(r for r in rows if set(r["qids"]) == set(row["qids"]))
    numbers = {name: result[name] for name in row if name.startswith(("degradation", "posterior"))}
    for measure, success in zip(MEASURES, successes, strict=True):
        if row["best_for"] in (measure, "both"):
            sized = (value for qids, value in success.by_set.items() if len(qids) == row["n_qids"])
            numbers[f"posterior_{measure}"] = max(sized)
    return numbers | {"n_qids": len(row["qids"])}


def _ranks(stored: Stored, table: str, by: tuple[str, str]) -> dict[Place, Number]:
    """Return the rank of each row of a table among those of its secret, from 1.

    The row with the largest number in the first column of ``by`` has rank 1. The second column
    decides ties, and after it the order of the rows.
    """
    rows = list(enumerate(_rows_of_table(stored, table)))
    numbers: dict[Place, Number] = {}
    for i, row in rows:
        rivals = [(j, rival) for j, rival in rows if rival["secret"] == row["secret"]]
        better = [j for j, rival in rivals if _ranks_before(rival, row, by, j < i)]
        numbers[table, i, "rank"] = 1 + len(better)
    return numbers


def _ranks_before(rival: Row, row: Row, by: tuple[str, str], comes_first: bool) -> bool:
    """Return whether a rival's numbers in the columns ``by`` are larger, or equal and it is first.

    A column counts if those before it are equal; ``comes_first``: in the order of the table.
    """
    for column in by:
        difference = Fraction(rival[column]) - Fraction(row[column])
        if abs(difference) > SAME:
            return difference > 0
    return comes_first


def _count_coarsened(request: Request) -> Repetition:
    """Return the numbers of coarsen_first: what merging values in pairs saves, by SQLite."""
    stored, rows = request.stored, _rows_of_table(request.stored, "coarsen_first")
    second_engine.check_countable(stored)
    if not rows:
        return Repetition(second_engine.WAY)
    answer = second_engine.read_people(request)
    qids, secrets = list(stored.spec["qids"]), [None, *stored.spec["secrets"]]  # 0: the record
    all_places = range(len(qids))  # everything is known
    count = partial(second_engine.numbers_of, stored, places=all_places, width=len(qids))
    before_of_secret: dict[int, dict[str, Number]] = {}
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(rows):
        place, secret = qids.index(row["qid"]), secrets.index(row["secret"])
        try:
            coarser = _merge_pairs(answer, place)
        except TypeError as e:
            raise RepetitionError(f"the values of {quoted(qids[place])} have no order") from e
        if secret not in before_of_secret:
            before_of_secret[secret] = count(answer, secret=secret)
        before, after = before_of_secret[secret], count(coarser, secret=secret)
        values: dict[str, Number] = {
            "values": len({person[place] for person in answer.rows}),
            "values_coarser": len({person[place] for person in coarser.rows}),
            "posterior_coarser": after["posterior_probabilistic"],
        }
        for name, measure in (("saved", MEASURES[1]), ("saved_deterministic", MEASURES[0])):
            column = f"posterior_{measure}"
            values[name] = Fraction(before[column] or 0) - Fraction(after[column] or 0)
        numbers |= place_numbers("coarsen_first", i, values)
    return Repetition(second_engine.WAY, numbers)


def _merge_pairs(answer: Answer, place: int) -> Answer:
    """Return the people with the values of the column at ``place`` merged in pairs.

    In the order of the values, the first and second become 0, the next two 1, and so on; a missing
    value stays. TypeError: the values have no order.
    """
    values = {row[place] for row in answer.rows} - {None}
    ordered = sorted(values, key=lambda v: (v != v, v))  # noqa: PLR0124 - NaN is last
    pair = {value: i // 2 for i, value in enumerate(ordered)} | {None: None}
    rows = [(*row[:place], pair[row[place]], *row[place + 1 :]) for row in answer.rows]
    return replace(answer, rows=rows)
