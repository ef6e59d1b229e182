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
from qifsql.commands.verify.stored_request import Request
from qifsql.data.types import Row
from qifsql.engine.bare import Answer
from qifsql.errors import EngineError, quoted
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
    """The success by each set of quasi-identifiers of one question, in one measure."""

    qids: tuple[str, ...]
    of: sets.Values

    def index(self, *players: str) -> Fraction:
        """Return the Shapley value of one quasi-identifier, the interaction index of two."""
        return sets.index(self.of, players)

    def gain_at_last(self, name: str) -> Fraction:
        """Return what a quasi-identifier adds to all others."""
        return sets.added(self.of, frozenset(self.qids) - {name}, [name])


def repeat(request: Request) -> list[Repetition]:
    """Return the numbers of the answers of a stored sweep."""
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
    return [Repetition(WAY, numbers), _count_coarsened(request)]


def _rows_of_table(stored: Stored, table: str) -> list[dict[str, Any]]:
    return stored.details[table].rows(named=True) if table in stored.details else []


def _successes(stored: Stored) -> Iterator[tuple[Key, Success]]:
    """Yield the success of each question and measure; KeyError where a subset is missing."""
    qids = tuple(stored.spec["qids"])
    for key, part in stored.frame.group_by("model", "secret", maintain_order=True):
        rows = part.rows(named=True)
        for measure in MEASURES:
            of = {frozenset(r["qids"]): Fraction(r[f"posterior_{measure}"]) for r in rows}
            of[frozenset()] = Fraction(rows[0][f"prior_{measure}"])
            if len(of) < 2 ** len(qids):
                raise KeyError
            yield (*key, measure), Success(qids, of)


def _numbers_of_row(
    stored: Stored, table: str, row: Row, successes: Mapping[Key, Success]
) -> dict[str, Number]:
    """Return the numbers of one row of an answer, but for its rank."""
    deterministic, probabilistic = (successes[row["model"], row["secret"], m] for m in MEASURES)
    success = successes[row["model"], row["secret"], row.get("measure", MEASURES[1])]
    everything, small = frozenset(success.qids), len(success.qids) <= MOST
    if table == "best":
        return _numbers_of_best(stored, row, (deterministic, probabilistic))
    if table == "borders":
        return {"n_qids": len(row["qids"]), "posterior": success.of[frozenset(row["qids"])]}
    if table == "interactions":
        return {"interaction": success.index(row["a"], row["b"])} if small else {}
    if table == "shapley":
        name, total = row["qid"], success.of[everything] - success.of[frozenset()]
        alone = sets.added(success.of, frozenset(), [name])
        last = success.gain_at_last(name)
        if not small:
            return {"alone": alone, "last": last}
        part = success.index(name)
        share = part / total if total else None
        return {"shapley": part, "share": share, "alone": alone, "last": last}
    if table == "coarsen_first":
        return {"posterior_all": success.of[everything]}
    values: dict[str, Number] = {
        "posterior_all": success.of[everything],
        "posterior_without": success.of[everything - {row["qid"]}],
        "saved": success.gain_at_last(row["qid"]),
        "saved_deterministic": deterministic.gain_at_last(row["qid"]),
    }
    return values | ({"shapley": success.index(row["qid"])} if small else {})


def _numbers_of_best(stored: Stored, row: Row, both: Sequence[Success]) -> dict[str, Number]:
    """Return the numbers of the subset, and the highest success of its size where it is said."""
    same_question = (pl.col(n).eq_missing(pl.lit(row[n], pl.String())) for n in ("model", "secret"))
    sized = stored.frame.filter(*same_question, pl.col("qids").list.len() == len(row["qids"]))
    values = next(r for r in sized.rows(named=True) if set(r["qids"]) == set(row["qids"]))
    numbers = {name: values[name] for name in row if name.startswith(("degradation", "posterior"))}
    for measure, success in zip(MEASURES, both, strict=True):
        if row["best_for"] in (measure, "both"):
            same = (v for some, v in success.of.items() if len(some) == row["n_qids"])
            numbers[f"posterior_{measure}"] = max(same)
    return numbers | {"n_qids": len(row["qids"])}


def _ranks(stored: Stored, table: str, by: tuple[str, str]) -> dict[Place, Number]:
    """Return the rank of each row: how many of its question save more, and ties in their order."""
    rows = _rows_of_table(stored, table)
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(rows):
        question = [(j, r) for j, r in enumerate(rows) if r["secret"] == row["secret"]]
        before = [j for j, answer in question if _ranks_before(answer, row, by, j < i)]
        numbers[table, i, "rank"] = 1 + len(before)
    return numbers


def _ranks_before(answer: Row, row: Row, by: tuple[str, str], first: bool) -> bool:
    """Return whether one row ranks before another; of rows alike, the ``first``."""
    for name in by:
        apart = Fraction(answer[name]) - Fraction(row[name])
        if abs(apart) > SAME:
            return apart > 0
    return first


def _count_coarsened(request: Request) -> Repetition:
    """Return what merging the values of a quasi-identifier in pairs saves, counted by SQLite."""
    stored, way = request.stored, second_engine.WAY
    rows, reason = _rows_of_table(stored, "coarsen_first"), second_engine.obstacle(stored)
    answer = second_engine.read_people(request) if rows and not reason else None
    if answer is None:
        return Repetition(way, reason=reason or (second_engine.TOO_MANY if rows else ""))
    names, secrets = list(stored.spec["qids"]), [None, *stored.spec["secrets"]]
    every = range(len(names))
    count = partial(second_engine.numbers_of, stored, places=every, width=len(every))
    by_secret: dict[int, dict[str, Number]] = {}
    numbers: dict[Place, Number] = {}
    for i, row in enumerate(rows):
        place, secret = names.index(row["qid"]), secrets.index(row["secret"])
        try:
            coarser, sizes = _merge_pairs(answer, place)
            if secret not in by_secret:
                by_secret[secret] = count(answer, secret=secret)
            before, after = by_secret[secret], count(coarser, secret=secret)
        except EngineError:
            return Repetition(way, reason=second_engine.TOO_HEAVY)
        except TypeError:
            return Repetition(way, reason=f"the values of {quoted(names[place])} have no order")
        values: dict[str, Number] = {"values": sizes[0], "values_coarser": sizes[1]}
        values["posterior_coarser"] = after["posterior_probabilistic"]
        for name, measure in (("saved", MEASURES[1]), ("saved_deterministic", MEASURES[0])):
            ends = (Fraction(a[f"posterior_{measure}"] or 0) for a in (before, after))
            values[name] = next(ends) - next(ends)
        numbers |= place_numbers("coarsen_first", i, values)
    return Repetition(way, numbers)


def _merge_pairs(answer: Answer, place: int) -> tuple[Answer, tuple[int, int]]:
    """Return the people with the values of a column in pairs, and how many values and pairs.

    The missing value stays alone. TypeError where values have no order.
    """
    values = {row[place] for row in answer.rows}
    ordered = sorted(values - {None}, key=lambda v: (v != v, v))  # noqa: PLR0124 - NaN is last
    pair = {v: i // 2 for i, v in enumerate(ordered)} | {None: None}
    rows = [(*row[:place], pair[row[place]], *row[place + 1 :]) for row in answer.rows]
    return replace(answer, rows=rows), (len(values), len({pair[v] for v in values}))
