"""Some subsets of a stored sweep, each attacked by itself: by printed SQL, and by SQLite."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from qifsql.commands.verify import printed_sql, second_engine
from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.numbers import RESULTS, Place, Repetition, questions
from qifsql.commands.verify.stored_request import Request
from qifsql.engine.settings import Settings
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


def repeat(
    stored: Stored,
    request: Request,
    inputs: Inputs,
    settings: Settings,
    subsets: Mapping[Subset, Sequence[int]],
) -> list[Repetition]:
    """Return the numbers of these subsets of a sweep."""
    return [
        _repeat_by_printed_sql(stored, request, inputs, settings, subsets),
        _repeat_by_sqlite(stored, request, inputs, settings, subsets),
    ]


def _subset_result(stored: Stored, subset: Subset, rows: Sequence[int]) -> Stored:
    """Return the rows of one subset as a stored attack."""
    spec = {**stored.spec, "qids": list(subset)}
    manifest = {**stored.manifest, "spec": spec}
    return replace(stored, frame=stored.frame[list(rows)], details={}, manifest=manifest)


def _repeat_by_printed_sql(
    stored: Stored,
    request: Request,
    inputs: Inputs,
    settings: Settings,
    subsets: Mapping[Subset, Sequence[int]],
) -> Repetition:
    """Return the numbers by the SQL that is printed for each subset."""
    texts = dict(zip(stored.spec["qids"], request.options["qids"], strict=True))
    numbers: dict[Place, Number] = {}
    for subset, rows in subsets.items():
        part_request = request.with_qids([texts[name] for name in subset])
        part = _subset_result(stored, subset, rows)
        answers, reason = printed_sql.answers_of(
            part_request, stored.name, inputs, settings, simple=False
        )
        if answers is None:
            return Repetition(printed_sql.PRINTED, reason=reason)
        numbers |= _numbers_in_sweep(rows, printed_sql.numbers_by_question(part, answers))
    return Repetition(printed_sql.PRINTED, numbers)


def _repeat_by_sqlite(
    stored: Stored,
    request: Request,
    inputs: Inputs,
    settings: Settings,
    subsets: Mapping[Subset, Sequence[int]],
) -> Repetition:
    """Return the numbers by SQLite."""
    way, names = second_engine.WAY, list(stored.spec["qids"])
    if (reason := second_engine.obstacle(stored, request)) is not None:
        return Repetition(way, reason=reason)
    answer = second_engine.read_people(request, stored.name, inputs, settings)
    if answer is None:
        return Repetition(way, reason=second_engine.TOO_MANY)
    numbers: dict[Place, Number] = {}
    for subset, rows in subsets.items():
        part = _subset_result(stored, subset, rows)
        places = [names.index(name) for name in subset]
        for question in questions(part):
            try:
                values = second_engine.numbers_of(answer, places, len(names), question.secret)
            except EngineError:
                return Repetition(way, reason=second_engine.TOO_HEAVY)
            within = {
                (RESULTS, question.row, name): value
                for name, value in values.items()
                if name in part.frame.columns
            }
            numbers |= _numbers_in_sweep(rows, within)
    return Repetition(way, numbers)


def _numbers_in_sweep(rows: Sequence[int], numbers: Mapping[Place, Number]) -> dict[Place, Number]:
    """Return numbers of a part with the rows that they have in the whole sweep."""
    return {(table, rows[row], name): value for (table, row, name), value in numbers.items()}


def places_of(everything: Iterable[Place], subsets: Mapping[Subset, Sequence[int]]) -> list[Place]:
    """Return the places of the numbers of some subsets."""
    rows = {row for numbers in subsets.values() for row in numbers}
    return [place for place in everything if place[0] == RESULTS and place[1] in rows]
