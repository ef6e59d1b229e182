"""Some subsets of a stored sweep, each attacked by itself: by printed SQL, and by SQLite."""

import random
from collections.abc import Mapping, Sequence

from qifsql.commands.verify import printed_sql, second_engine
from qifsql.commands.verify.exact_measures import OF_REPORTED
from qifsql.commands.verify.numbers import Place, Repetition, place_results, questions
from qifsql.commands.verify.stored_request import Request, attempt
from qifsql.reference.success import Number
from qifsql.results.stored import Stored

Subset = tuple[str, ...]


def draw_subsets(stored: Stored, limit: int, seed: int | None) -> dict[Subset, list[int]]:
    """Return at most ``limit`` subsets, drawn by the seed, with the positions of their rows."""
    rows_of_subset: dict[Subset, list[int]] = {}
    for i, qids in enumerate(stored.frame["qids"].to_list()):
        rows_of_subset.setdefault(tuple(qids), []).append(i)
    generator = random.Random(seed or 0)  # noqa: S311 - not for secrets
    drawn = generator.sample(sorted(rows_of_subset), min(limit, len(rows_of_subset)))
    return {subset: rows_of_subset[subset] for subset in sorted(drawn)}


def repeat(request: Request, subsets: Mapping[Subset, Sequence[int]]) -> list[Repetition]:
    """Return the numbers of subsets in two ways; each has the positions of its rows."""
    return [
        attempt(printed_sql.PRINTED, _repeat_by_printed_sql, request, subsets),
        attempt(second_engine.WAY, _repeat_by_sqlite, request, subsets),
    ]


def _repeat_by_printed_sql(request: Request, subsets: Mapping[Subset, Sequence[int]]) -> Repetition:
    """Return the numbers of each subset and its rows by the SQL that is printed for its attack."""
    numbers: dict[Place, Number] = {}
    for subset, rows in subsets.items():
        part = request.subset(subset, rows)
        answers = printed_sql.answers_of(part, simple=False)
        numbers |= _numbers_in_sweep(rows, printed_sql.numbers_by_question(part.stored, answers))
    return Repetition(printed_sql.PRINTED, numbers)


def _repeat_by_sqlite(request: Request, subsets: Mapping[Subset, Sequence[int]]) -> Repetition:
    """Return the numbers of each subset and its rows, from the people, read once, by SQLite."""
    qids = list(request.stored.spec["qids"])
    second_engine.check_countable(request.stored)
    answer = second_engine.read_people(request)
    numbers: dict[Place, Number] = {}
    for subset, rows in subsets.items():
        part = request.subset(subset, rows).stored
        places = [qids.index(name) for name in subset]
        for question in questions(part):
            values = second_engine.numbers_of(
                request.stored, answer, places, len(qids), question.secret
            )
            if not question.secret:  # the record itself is never missing
                values |= dict.fromkeys(OF_REPORTED)
            numbers |= _numbers_in_sweep(rows, place_results(part, question.row, values))
    return Repetition(second_engine.WAY, numbers)


def _numbers_in_sweep(rows: Sequence[int], numbers: Mapping[Place, Number]) -> dict[Place, Number]:
    """Return numbers of a subset at their places in the sweep, where it has these ``rows``."""
    return {(table, rows[row], name): value for (table, row, name), value in numbers.items()}
