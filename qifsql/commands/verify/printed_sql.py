"""The SQL that ``qifsql sql`` prints for the request of a manifest, run in a bare DuckDB.

It is made from the request and not from the manifest's SQL, so the two are checked apart.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from qifsql.commands.verify.numbers import Place, Question, Repetition, place_results, questions
from qifsql.commands.verify.stored_request import SUPPRESSED, RepetitionError, Request
from qifsql.engine.bare import Answer
from qifsql.errors import InputError
from qifsql.reference.success import Number
from qifsql.results.stored import Stored

SIMPLE = "two-level SQL"
PRINTED = "SQL of the request"


def repeat(request: Request) -> Iterator[Repetition]:
    """Yield the numbers of a stored attack by each form of the SQL printed for its request."""
    for way, is_simple, numbers_of in (
        (SIMPLE, True, _numbers_of_simple),
        (PRINTED, False, numbers_by_question),
    ):
        try:
            answers = answers_of(request, simple=is_simple)
        except RepetitionError as e:
            yield Repetition(way, reason=str(e))
        else:
            yield Repetition(way, numbers_of(request.stored, answers))


def answers_of(request: Request, *, simple: bool) -> list[Answer]:
    """Return the answers of the SQL printed for a request, in two levels if ``simple``."""
    if request.stored.spec.get("suppressed_records"):
        raise RepetitionError(SUPPRESSED)
    try:
        script = request.script(simple=simple)
    except InputError as e:
        reason = "there is no two-level SQL for weights, gains, a prior or collections"
        raise RepetitionError(reason if simple else f"no SQL can be printed: {e}") from e
    return request.run(script)


def _numbers_of_simple(stored: Stored, answers: Sequence[Answer]) -> dict[Place, Number]:
    """Return the numbers of the two-level SQL, whose answers have a row per model and secret."""
    rows = [line for answer in answers for line in answer.lines()]
    stored_questions = questions(stored)
    if len(rows) != len(stored_questions):  # a progressive attack, also about fewer datasets
        return {}
    numbers: dict[Place, Number] = {}
    for question, row in zip(stored_questions, rows, strict=True):
        numbers |= _numbers_of_answer(stored, question, row)
    return numbers


def numbers_by_question(stored: Stored, answers: Sequence[Answer]) -> dict[Place, Number]:
    """Return the numbers of the whole SQL, whose answers have a row for each row of results.

    Rows are matched by model and secret. Of these there is one for each gain: they are in the same
    order in the answers and in the results, so each takes the first that is not used.
    """
    unused: dict[tuple[object, ...], deque[Mapping[str, Any]]] = {}
    for line in (line for answer in answers for line in answer.lines()):
        unused.setdefault((line["model"], line["secret"]), deque()).append(line)
    numbers: dict[Place, Number] = {}
    datasets = stored.frame["datasets"].max()
    for question in questions(stored):
        row = stored.frame.row(question.row, named=True)
        if row["datasets"] != datasets:  # a prefix of the collection is another request
            continue
        if lines := unused.get((row["model"], row["secret"])):
            numbers |= _numbers_of_answer(stored, question, lines.popleft())
    return numbers


def _numbers_of_answer(
    stored: Stored, question: Question, row: Mapping[str, Any]
) -> dict[Place, Number]:
    values = {name: value for name, value in row.items() if isinstance(value, int | float)}
    return place_results(stored, question.row, values)
