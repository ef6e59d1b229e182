"""Some subsets of a stored sweep, each attacked by itself: by printed SQL, and by SQLite."""

import random
from collections.abc import Mapping, Sequence

from qifsql.commands.verify import printed_sql, second_engine
from qifsql.commands.verify.exact_measures import OF_REPORTED
from qifsql.commands.verify.numbers import Place, Question, Repetition, place_results, questions
from qifsql.commands.verify.stored_request import Request
from qifsql.errors import EngineError
from qifsql.reference.success import Number
from qifsql.results.stored import Stored

Subset = tuple[str, ...]


def draw_subsets(stored: Stored, limit: int, seed: int | None) -> dict[Subset, list[int]]:
    """Return subsets drawn by the seed, at most so many, with the numbers of their rows."""
    by_subset: dict[Subset, list[int]] = {}
    for i, names in enumerate(stored.frame["qids"].to_list()):
        by_subset.setdefault(tuple(names), []).append(i)
    generator = random.Random(seed or 0)  # noqa: S311 - not for secrets
    chosen = generator.sample(sorted(by_subset), min(limit, len(by_subset)))
    return {subset: by_subset[subset] for subset in sorted(chosen)}


def repeat(request: Request, subsets: Mapping[Subset, Sequence[int]]) -> list[Repetition]:
    """Return the numbers of these subsets of a sweep."""
    return [_repeat_by_printed_sql(request, subsets), _repeat_by_sqlite(request, subsets)]


def _repeat_by_printed_sql(request: Request, subsets: Mapping[Subset, Sequence[int]]) -> Repetition:
    """Return the numbers by the SQL that is printed for each subset."""
    numbers: dict[Place, Number] = {}
    for subset, rows in subsets.items():
        part = request.subset(subset, rows)
        answers, reason = printed_sql.answers_of(part, simple=False)
        if reason:
            return Repetition(printed_sql.PRINTED, reason=reason)
        numbers |= _numbers_in_sweep(rows, printed_sql.numbers_by_question(part.stored, answers))
    return Repetition(printed_sql.PRINTED, numbers)


def _repeat_by_sqlite(request: Request, subsets: Mapping[Subset, Sequence[int]]) -> Repetition:
    """Return the numbers by SQLite."""
    way, names = second_engine.WAY, list(request.stored.spec["qids"])
    reason = second_engine.obstacle(request.stored)
    answer = None if reason else second_engine.read_people(request)
    if answer is None:
        return Repetition(way, reason=reason or second_engine.TOO_MANY)
    numbers: dict[Place, Number] = {}
    for subset, rows in subsets.items():
        part = request.subset(subset, rows).stored
        places = [names.index(name) for name in subset]
        for question in questions(part):
            try:
                values = second_engine.numbers_of(
                    request.stored, answer, places, len(names), question.secret
                )
            except EngineError:
                return Repetition(way, reason=second_engine.TOO_HEAVY)
            values["certain_missing"] = 0 if _is_complete(part, question) else None
            if not question.secret:
                values |= dict.fromkeys(OF_REPORTED)
            numbers |= _numbers_in_sweep(rows, place_results(part, question.row, values))
    return Repetition(way, numbers)


def _is_complete(part: Stored, question: Question) -> bool:
    """Return whether everybody reports the secret of a row; a sweep counts nobody else apart."""
    row = part.frame.row(question.row, named=True)
    return bool(row.get("reported") == row.get("people", row["records"]))


def _numbers_in_sweep(rows: Sequence[int], numbers: Mapping[Place, Number]) -> dict[Place, Number]:
    """Return numbers of a part with the rows that they have in the whole sweep."""
    return {(table, rows[row], name): value for (table, row, name), value in numbers.items()}
