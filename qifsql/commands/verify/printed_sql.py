"""The SQL that ``qifsql sql`` prints for the request of a manifest, run in a bare DuckDB.

It is made from the request and not from the manifest's SQL, so the two are checked apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from qifsql.commands.sql.sql import sql
from qifsql.commands.verify.input_digests import Inputs
from qifsql.commands.verify.numbers import RESULTS, Place, Question, Repetition, questions
from qifsql.commands.verify.stored_request import Request
from qifsql.engine.bare import Answer, BareDuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.reference.success import Number
from qifsql.results.stored import Stored

SIMPLE = "two-level SQL"
PRINTED = "SQL of the request"


def repeat(
    stored: Stored, request: Request, inputs: Inputs, settings: Settings
) -> Iterator[Repetition]:
    """Return the numbers of a stored attack by the SQL that is printed for its request."""
    for way, simple in ((SIMPLE, True), (PRINTED, False)):
        answers, reason = answers_of(request, stored.name, inputs, settings, simple=simple)
        if answers is None:
            yield Repetition(way, reason=reason)
        elif simple:
            yield Repetition(way, _numbers_of_simple(stored, answers))
        else:
            yield Repetition(way, numbers_by_question(stored, answers))


def answers_of(
    request: Request, name: str, inputs: Inputs, settings: Settings, *, simple: bool
) -> tuple[list[Answer] | None, str]:
    """Return the answers to a request, or the reason why there is no such SQL."""
    options: dict[str, Any] = dict(request.options)
    try:
        script = sql(request.models, request.source, simple=simple, settings=settings, **options)
    except InputError as e:
        if simple:
            return None, "there is no two-level SQL for weights, gains, a prior or collections"
        return None, f"no SQL can be printed: {e}"
    with BareDuckDB(inputs.now, settings, name) as bare:
        return bare.run(script), ""


def _numbers_of_simple(stored: Stored, answers: Sequence[Answer]) -> dict[Place, Number]:
    """Return the numbers of the shortest statements, one for each model and secret."""
    rows = [line for answer in answers for line in answer.lines()]
    asked_rows = questions(stored)
    if len(rows) != len(asked_rows):
        return {}
    return {
        place: value
        for question, row in zip(asked_rows, rows, strict=True)
        for place, value in _numbers_of_answer(stored, question, row).items()
    }


def numbers_by_question(stored: Stored, answers: Sequence[Answer]) -> dict[Place, Number]:
    """Return the numbers of the whole statement, which has a row for each row of results."""
    rows = [line for answer in answers for line in answer.lines()]
    by_key: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        by_key.setdefault((row["model"], row["secret"]), []).append(row)
    numbers: dict[Place, Number] = {}
    datasets = stored.frame["datasets"].max()
    place: dict[tuple[object, ...], int] = {}
    for question in questions(stored):
        row = stored.frame.row(question.row, named=True)
        key = (row["model"], row["secret"])
        if row["datasets"] != datasets:  # a prefix of the collection is another request
            continue
        place[key] = place.get(key, -1) + 1
        if place[key] < len(by_key.get(key, ())):
            numbers |= _numbers_of_answer(stored, question, by_key[key][place[key]])
    return numbers


def _numbers_of_answer(
    stored: Stored, question: Question, row: Mapping[str, Any]
) -> dict[Place, Number]:
    """Return the numbers of an answer that are columns of results."""
    names = set(stored.frame.columns) - {"model", "secret", "gain"}
    return {
        (RESULTS, question.row, name): value
        for name, value in row.items()
        if name in names and isinstance(value, int | float)
    }
