"""Guesses of an adversary who learns from one file about the people of others, and their scores.

Source: M117 (the table), M130 to M133; Templ, Thees and Müller 2026 (RAPID).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from qifsql.adversary.rule_text import probability
from qifsql.counting import learners
from qifsql.counting.coded import POOLED_RELEASE, Coded
from qifsql.counting.compared_files import POOLED, Files
from qifsql.counting.counted import Cells, right_guesses, rows_of, sums
from qifsql.data.dataset import Dataset
from qifsql.data.readers import relation
from qifsql.data.types import NUMBERS, family
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, plural, quoted
from qifsql.query.plan import Plan
from qifsql.query.splice import splice

PARTS = 2**40  # of a probability
PROBABILITIES_AT_ONCE = 4_000_000  # in memory
RAPID = Fraction(3, 10)
"""The usual threshold of RAPID: three tenths of the confidence that is possible over the base."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """The learner that is asked for, the threshold of RAPID, and the seed."""

    name: str
    level: Fraction
    seed: int

    @classmethod
    def of(
        cls,
        name: str,
        rapid: float | str | None,
        seed: int | None,
        *,
        classifiers_only: bool = False,
    ) -> "Learner":
        """Return the learner; ``rapid`` is the threshold (None: ``RAPID``), ``seed`` 0 if None.

        Raises InputError if the learner is unknown, or if the threshold is no probability of at
        most six decimals.
        """
        level = RAPID if rapid is None else probability(rapid, "the threshold of RAPID (rapid)")
        if 10**6 % level.denominator:
            raise InputError("the threshold of RAPID (rapid) has more than six decimals; round it")
        name = learners.check_learner(name, classifiers_only=classifiers_only)
        return cls(name=name, level=level, seed=seed or 0)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Numbers of people, also of those guessed right; of several best guesses each counts in part.

    ``people`` are those of the original, who have ``values`` different secrets; ``prior`` of them
    have the most frequent one, and ``right`` are guessed right. ``records`` are those that are
    learned from. ``present`` people have the quasi-identifiers of a record; ``present_right`` of
    them are guessed right. ``certain`` people have the value that gets all confidence.
    ``confident`` people are those of RAPID. ``control`` has the same numbers of the people of the
    control. ``blocks``, ``singled_out`` and ``worst_case`` are about the blocks of the people.
    """

    people: int
    prior: int
    values: int
    records: int
    right: Fraction
    present: int
    present_right: Fraction
    certain: int
    confident: int
    control: int
    control_right: Fraction
    control_confident: int
    blocks: int
    singled_out: int
    worst_case: float


class Guessing:
    """The guesses of one learner, about all secrets and releases; ``notes`` are for readers."""

    def __init__(self, tables: Tables, coded: Coded, files: Files, learner: Learner) -> None:
        self._tables = tables.doing("learning")
        self._coded = coded
        self._files = files
        self._learner = learner
        self.notes: dict[str, None] = {}

    def scores(self, cells: Cells, secret: int) -> Scores:
        """Return the scores of guesses of secret number ``secret``, learned from ``cells``."""
        modal = cells.priors()["modal"]  # how many values are most frequent in the release
        prior = self._answer(cells, secret)
        level = self._learner.level
        numbers = {"level": level.numerator, "scale": level.denominator}
        # One row per number of equally good guesses (``ties``): the people who get so many.
        rows = rows_of(splice("learning/scores", numbers=numbers), self._tables)
        # The number of blocks of people, those of one person, the largest share guessed right.
        extent = splice("learning/extent", words=cells.words, numbers={"modal": modal})
        (blocks,) = rows_of(extent, self._tables)
        self._tables.drop("answers")
        totals = sums(rows)
        return Scores(
            people=totals["people"],
            prior=prior["prior"],
            values=prior["people_values"],
            records=prior["records"],
            right=right_guesses(rows, "correct", modal),
            present=totals["present"],
            present_right=right_guesses(rows, "present_correct", modal),
            certain=totals["certain_correct"],
            confident=totals["confident"],
            control=totals["control"],
            control_right=right_guesses(rows, "control_correct", modal),
            control_confident=totals["control_confident"],
            blocks=blocks["blocks"],
            singled_out=blocks["singled_out"],
            worst_case=blocks["worst_case"],
        )

    def _answer(self, cells: Cells, secret: int) -> Mapping[str, Any]:
        """Create ``answers``; return the row of the view ``prior``.

        ``answers`` has a row per tuple of quasi-identifiers and secret that people have: how many,
        whether the secret is a best guess, and the confidence in it. The row has the people with
        their most frequent secret, the number of secrets, and the records that are learned from.
        """
        try:
            # By tuple and secret: the people and records who have both, the best guesses there.
            self._tables.make("verdicts", cells.plan("verdicts"))
            # By secret: the people and the records who have it, and all of them.
            self._tables.make("bases", self._view("bases", cells))
            (prior,) = rows_of(self._view("prior", cells), self._tables)
            if self._learner.name == learners.TABLE:
                query = self._view("table_answers", cells)
            else:
                self._predict(cells, secret)
                query = self._view("classifier_answers", cells)
            self._tables.make("answers", query)
        finally:
            self._tables.drop("verdicts", "bases", "predictions")
        return prior

    def _view(self, name: str, cells: Cells, **numbers: int) -> exp.Select:
        """Return a view of ``sql/learning`` about the release of these cells."""
        return splice(
            f"learning/{name}",
            words=cells.words,
            columns={"synthetic": f"synthetic_{cells.release}"},
            tables={"cells": cells.table},
            numbers=numbers,
        )

    def _predict(self, cells: Cells, secret: int) -> None:
        """Create ``predictions``: the answer of a classifier for each cell that people have.

        A row is a tuple of quasi-identifiers and a value of the secret: ``word_1 ..``, ``secret``,
        and the columns of ``_answers``.
        """
        # Codes are ranks of values. A linear classifier takes the numbers in place of their codes.
        columns = range(len(self._coded.fields)) if self._learner.name == learners.LINEAR else ()
        student = learners.Student(
            name=self._learner.name,
            seed=self._learner.seed,
            threads=self._tables.engine.threads,
            scales=[self._numbers_by_code(i) for i in columns],
        )
        words, secrets, weights = self._lessons(cells, secret)
        student.learn(self._unpacked_codes(words), secrets, weights)
        if not student.converged:
            self.notes[
                f"{self._learner.name} was stopped before it converged: its guesses may be worse "
                "than they could be; coarsen columns of many values, or use another --learner"
            ] = None
        path = self._tables.engine.scratch / "predictions.parquet"
        types = [(name, pa.int64()) for name in (*_words(cells), "secret", "ties", "part")]
        schema = pa.schema([*types, ("best", pa.bool_())])
        with pq.ParquetWriter(path, schema) as file:
            questions = self._view("questions", cells).order_by(*_words(cells), "secret")
            size = max(1, PROBABILITIES_AT_ONCE // len(student.classes))
            for batch in _matrices(self._tables, questions, size):
                asked_words, asked_secrets = batch[:, :-1], batch[:, -1]
                answers = self._answers(student, asked_words, asked_secrets)
                arrays = [pa.array(numbers) for numbers in (*batch.T, *answers)]
                file.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
        query = exp.select("*").from_(relation(Dataset.open(path)))
        self._tables.make("predictions", query)
        path.unlink()

    def _answers(self, student: learners.Student, words: Any, secrets: Any) -> tuple[Any, Any, Any]:
        """Return the answers of a trained classifier: three arrays, an entry per row.

        Each row of ``words`` is a tuple of quasi-identifiers, and ``secrets`` has a code for it.
        The arrays are ``ties``: how many values are best guesses; ``part``: the probability of this
        secret, in parts of 1 / ``PARTS``; ``best``: whether this secret is a best guess.
        """
        numpy = import_module("numpy")
        classes = numpy.array(student.classes)  # the codes of the secrets that it has learnt
        # A tuple is asked once, whatever the number of secrets; ``row`` is that of its answer.
        distinct, row = numpy.unique(words, axis=0, return_inverse=True)
        row = row.reshape(-1)
        chances = student.probabilities(self._unpacked_codes(distinct))
        best = chances >= chances.max(axis=1, keepdims=True) - learners.ALIKE
        place = numpy.searchsorted(classes, secrets).clip(max=len(classes) - 1)
        learnt = classes[place] == secrets  # False: no lesson had this secret, its chance is 0
        part = numpy.rint(chances[row, place] * PARTS).astype(numpy.int64)
        return best.sum(axis=1)[row], numpy.where(learnt, part, 0), learnt & best[row, place]

    def _lessons(self, cells: Cells, secret: int) -> tuple[Any, Any, Any]:
        """Return what a classifier learns from: packed codes, secrets and weights, as matrices.

        A row is a distinct record, its weight the number of equal ones. If these are more than a
        classifier can hold, as many as it can are drawn at random, and ``notes`` gets a note.
        """
        lessons = self._view("lessons", cells, seed=self._learner.seed)
        counts = exp.select("count(*)", "count(DISTINCT secret)")
        ((distinct, values),) = self._tables.rows(counts.from_(lessons.subquery("all_lessons")))
        name = self._files.secrets[secret - 1]
        if values > learners.MOST_VALUES:
            is_pooled = cells.release == POOLED_RELEASE
            title = POOLED if is_pooled else self._files.releases[cells.release - 1].title
            raise InputError(
                f"secret {quoted(name)} has {values:,} values in {title}, and a classifier guesses "
                f"one of {learners.MOST_VALUES} at most; make it coarser, as in NAME=column//1000, "
                "or use --learner table"
            )
        limit = min(learners.MOST_LESSONS, learners.MOST_COUNTERS // max(1, values))
        if distinct > limit:
            # "lot" is a digest of the seed and the record: the first ones are a random sample
            lessons = lessons.order_by("lot", "secret", *_words(cells)).limit(limit)
            self.notes[
                f"{self._learner.name} learns {name} from {plural(limit, 'distinct record')} of "
                f"{distinct:,}, drawn at random (--seed); it may learn less than it could"
            ] = None
        columns = [*_words(cells), "secret", "records"]
        query = exp.select(*columns).from_(lessons.subquery("drawn_lessons"))
        matrices = list(_matrices(self._tables, query, limit + 1))
        rows = import_module("numpy").concatenate(matrices)
        return rows[:, :-2], rows[:, -2], rows[:, -1]

    def _unpacked_codes(self, words: Any) -> Any:
        """Return a matrix of codes, a column per quasi-identifier, from rows of packed words."""
        numpy = import_module("numpy")
        columns = [
            (words[:, field.word - 1] >> field.shift) & ((1 << field.width) - 1)
            for field in self._coded.fields
        ]
        return numpy.stack(columns, axis=1)

    def _numbers_by_code(self, i: int) -> Any:
        """Return the values of a quasi-identifier by code; None if these are no numbers."""
        if family(self._files.original.attributes[i].type) not in NUMBERS:
            return None
        numpy = import_module("numpy")
        value = exp.cast(exp.column("value"), "DOUBLE")
        query = exp.select(value).from_(exp.table_(f"dictionary_{i + 1}")).order_by("code")
        batches = list(_matrices(self._tables, query, PROBABILITIES_AT_ONCE))
        return numpy.concatenate(batches)[:, 0].astype(numpy.float64)


def _words(cells: Cells) -> list[str]:
    """Return the columns that hold the codes of cells, several in each."""
    return [f"word_{i}" for i in range(1, cells.words + 1)]


def _matrices(tables: Tables, query: exp.Select, rows: int) -> Iterator[Any]:
    """Yield the rows of a query of numbers as matrices of at most ``rows`` rows."""
    numpy = import_module("numpy")
    for frame in tables.engine.batches(Plan((), query), tables.what, tables.where, rows):
        if frame.height:
            yield numpy.stack([frame[name].to_numpy() for name in frame.columns], axis=1)
