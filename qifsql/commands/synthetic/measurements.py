"""The measurements of synthetic releases, on tables of one engine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import KnownRecords
from qifsql.commands.synthetic import individuals
from qifsql.commands.synthetic.nearest_people import Neighbourhood
from qifsql.commands.synthetic.questions import Questions, drawn_attempts, drawn_links
from qifsql.commands.synthetic.spec import SyntheticOptions
from qifsql.commands.synthetic.subsets import SUBSETS, Walk
from qifsql.counting import coded as codes
from qifsql.counting.coded import POOLED_RELEASE, Coded
from qifsql.counting.compared_files import POOLED, Files
from qifsql.counting.counted import Cells, guesses, modes_table, release_risks, secret_risks
from qifsql.counting.guessing import Guessing, Learner, Scores
from qifsql.data.expressions import filled
from qifsql.data.option import as_names
from qifsql.data.types import Row
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.tables import Tables
from qifsql.errors import quoted
from qifsql.measures import release_measures
from qifsql.query.columns import number
from qifsql.results.storage import Origin

WORST: dict[str, pl.DataType] = {
    "release": pl.String(),
    "file": pl.Int64(),
    "secret": pl.String(),
    **dict.fromkeys(("rank", "correct", "people", "records", "control_correct"), pl.Int64()),
    "control": pl.Int64(),
}
"""The blocks in which a release gives away the secret of most people, ten at most; no values.

``records`` of the release are in the block, all with one value; of its ``people`` in the original,
``correct`` have that value, and of the ``control`` people in the control, ``control_correct``."""


PEOPLE: dict[str, pl.DataType] = {"known_records": pl.String()}
"""A further column of all tables with a person: the records known of each, ``all`` or ``one``."""


class Measurements:
    """The measurements of all releases, on tables of one engine."""

    def __init__(
        self,
        engine: LocalEngine,
        files: Files,
        options: SyntheticOptions,
        learner: Learner | None,
    ) -> None:
        """Begin without measurements; ``learner`` is the classifier that guesses, if any."""
        self._files = files
        self._learner = learner
        self._guessing: Guessing | None = None
        self._options = options
        self._tables = Tables(engine, "comparing files", files.original.title)
        self._progress = engine.settings.progress
        self._more: list[str] = []  # statements of subsets
        self._apart: list[str] = []  # notes on values that are written in another way
        self._coded: Coded | None = None
        self._modal: dict[tuple[int, int], int] = {}  # most frequent values, by secret and release
        self._reading: KnownRecords | None = None  # None: a person has one record
        self.measured: list[dict[str, Any]] = []  # rows of the result, then those of the details
        self._worst: list[dict[str, Any]] = []
        self._groups: list[dict[str, Any]] = []
        self._subsets: list[dict[str, Any]] = []

    @property
    def statements(self) -> Sequence[str]:
        """Return the statements that ran; of subsets those of the first one."""
        return (*self._tables.statements, *self._more)

    @property
    def notes(self) -> Sequence[str]:
        """Return notes on values written in another way, and on what a classifier could not do."""
        return (*self._apart, *(() if self._guessing is None else self._guessing.notes))

    def run(self) -> None:
        """Count and measure everything that is asked for.

        If people have several records, do it twice: all records of a person are known, then one.
        """
        if self._files.original.microdata.person is None:
            self._run()
            return
        files = self._files
        for reading in get_args(KnownRecords):
            self._reading, self._files = reading, files.known_by(reading)
            self._run()
            if self._coded is not None:
                self._coded.drop()
                self._tables.drop(*(modes_table(*numbers) for numbers in self._modal))
        self._files = files

    def _run(self) -> None:
        """Code all files, then count cells and measure each secret in each release."""
        coded = self._coded = codes.make(self._tables, self._files)
        if not self._files.original.microdata.of_lists:
            self._apart = notes_on_spelling(coded, self._files)
        if self._learner is not None:
            self._guessing = Guessing(self._tables, coded, self._files, self._learner)
        for secret in range(1, len(self._files.secrets) + 1) or (0,):  # 0: no secret is named
            table = f"cells_{secret}"
            self._tables.make(table, coded.cells(secret))
            priors = {}  # success without quasi-identifiers, by release
            for release in coded.releases:
                modes = modes_table(secret, release)
                cells = Cells(self._tables, table, modes, coded.words, release)
                cells.make_modes()
                priors[release] = cells.priors()
                self._measure_secret(coded, secret, cells, priors[release])
            self._tables.drop(table)
            if self._options["sweep"]:
                self._walk_subsets(coded, secret, priors)
        self._answer_questions(coded)
        self._sort()

    def _walk_subsets(self, coded: Coded, secret: int, priors: Mapping[int, Row]) -> None:
        """Add the rows of all subsets of the quasi-identifiers for a secret, by its number."""
        walk = Walk(
            coded=coded,
            files=self._files,
            secret=secret,
            priors=priors,
            progress=self._progress,
        )
        self._subsets += walk.rows()
        self._more += walk.statements

    def _answer_questions(self, coded: Coded) -> None:
        """Answer the questions of WP 216, and measure distances, if they are asked for."""
        if self._options["questions"]:
            seed = self._tables.engine.settings.seed or 0
            questions = Questions(
                tables=self._tables.doing("singling out"),
                coded=coded,
                files=self._files,
                attempts=drawn_attempts(self._options, len(self._files.qids), seed),
                draws=drawn_links(self._options, seed),
            )
            for release, measure in questions.singling_out():
                self._add(release, None, [measure])
            split = as_names(self._options["split"])
            for release, measure in questions.linkability(split) if split else ():
                self._add(release, None, [measure])
        draws = self._options["distances"]
        if draws is not None:
            seed = self._tables.engine.settings.seed or 0
            neighbourhood = Neighbourhood(self._tables, coded, self._files)
            for release, measure in neighbourhood.measures(draws, seed):
                self._add(release, None, [measure])

    def write(self, path: Path, origin: Origin) -> int:
        """Write a row per person and release to ``path``; return the number of rows."""
        assert self._coded is not None  # noqa: S101 - it has run
        titles = [self._title(release) for release in self._coded.releases]
        return individuals.write_records(
            self._tables,
            self._coded,
            self._files,
            path,
            titles=titles,
            modal=self._modal,
            origin=origin,
        )

    def details(self) -> Mapping[str, pl.DataFrame]:
        """Return ``worst`` (with secrets), and ``groups`` and ``subsets`` if they have rows."""
        tables = {
            "worst": (self._worst, WORST),
            "groups": (self._groups, individuals.GROUPS),
            "subsets": (self._subsets, SUBSETS),
        }
        return {
            name: pl.DataFrame(
                [row | {"release": self._title(row["file"])} for row in rows],
                schema=schema | (PEOPLE if self._reading else {}),
                orient="row",
            )
            for name, (rows, schema) in tables.items()
            if rows or (name == "worst" and self._files.secrets)
        }

    def _measure_secret(self, coded: Coded, secret: int, cells: Cells, priors: Row) -> None:
        """Add the measures of one release on one secret, by its number; 0: only overlap."""
        totals, release = cells.totals(), cells.release
        name = self._files.secrets[secret - 1] if secret else None
        if secret <= 1:  # overlap is about no secret, so once is enough
            self._add(release, None, release_risks(totals))
        self._modal[secret, release] = priors["modal"]
        if secret:
            self._add(release, name, secret_risks(totals, priors))
            if self._guessing is not None:
                self._add(release, name, _classifier_measures(self._guessing.scores(cells, secret)))
            if self._options["questions"]:
                self._add(release, name, list(release_measures.inference(guesses(totals, priors))))
            self._worst += [
                {"file": release, "secret": name, "rank": rank, **row, **self._column_of_reading}
                for rank, row in enumerate(cells.worst(), 1)
            ]
        if self._files.by is None and self._options["records"] is None:
            return  # nobody asks about groups or persons
        cells.tables.make(f"verdicts_{secret}_{release}", cells.plan("verdicts"))
        if self._files.by is not None:
            self._groups += individuals.measure_groups(
                self._tables,
                coded,
                self._files,
                secret=secret,
                release=release,
                modal=priors["modal"],
            )

    def _add(
        self, release: int, secret: str | None, measures: Iterable[release_measures.Measure]
    ) -> None:
        """Add a row of the result for each measure of a release, by its number, and a secret."""
        self.measured += [
            {
                "release": self._title(release),
                "file": release,
                "measure": measure.name,
                "secret": secret,
                "value": measure.value,
                "low": measure.low,
                "high": measure.high,
                "count": measure.count,
                "people": measure.people,
                **self._column_of_reading,
            }
            for measure in measures
        ]

    @property
    def _column_of_reading(self) -> dict[str, str]:
        """Return the column ``known_records``, if people have several records."""
        return {"known_records": self._reading} if self._reading else {}

    def _title(self, release: int) -> str:
        return POOLED if release == POOLED_RELEASE else self._files.releases[release - 1].title

    def _sort(self) -> None:
        """Sort rows by release, all together last, and by secret; subsets by size, too."""
        names: list[str | None] = [None, *self._files.secrets]

        def sort_key(row: Mapping[str, Any]) -> tuple[bool, bool, int, int]:
            file, of_one_record = row["file"], row.get("known_records") == "one"
            return of_one_record, file == POOLED_RELEASE, file, names.index(row["secret"])

        for rows in (self.measured, self._worst, self._groups):
            rows.sort(key=sort_key)
        self._subsets.sort(key=lambda row: (*sort_key(row), row["n_qids"], row["subset"]))


def _classifier_measures(scores: Scores) -> list[release_measures.Measure]:
    names = [field.name for field in fields(release_measures.Classified)]
    counts = release_measures.Classified(**{name: getattr(scores, name) for name in names})
    return list(release_measures.classified(counts))


def notes_on_spelling(coded: Coded, files: Files) -> list[str]:
    """Return notes on columns of which a release and the original have no value in common."""
    notes = []
    columns = (*files.qids, *files.secrets)
    for release, file in enumerate(files.releases, 1):
        names = [name for i, name in enumerate(columns) if _has_no_common_value(coded, release, i)]
        if names:
            notes.append(
                f"no value of {', '.join(map(quoted, names))} is in both {file.title} and the "
                "original: if the release writes them in another way, low numbers say nothing; "
                "write them alike"
            )
    return notes


def _has_no_common_value(coded: Coded, release: int, column: int) -> bool:
    """Return whether no reported value of a column is in both the release and the original."""
    width = len(coded.fields)  # columns: the quasi-identifiers, then the secrets
    secret = exp.column(f"secret_{column - width + 1}")
    code = coded.code_of(column, "coded") if column < width else secret
    is_reported = exp.NEQ(this=code.copy(), expression=number(coded.missing(column)))
    synthetic = exp.column(f"synthetic_{release}")
    in_both = filled("sum(original) > 0 AND sum(synthetic) > 0", {"synthetic": synthetic})
    groups = exp.select("1 AS common").from_("coded").where(is_reported)
    return not coded.tables.rows(groups.group_by(code).having(in_both).limit(1))
