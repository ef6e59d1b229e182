"""The measurements of synthetic releases, on tables of one engine."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import polars as pl
from sqlglot import exp

from qifsql.adversary.bind_gains import certainties
from qifsql.adversary.spec import KnownRecords
from qifsql.commands.synthetic import individuals
from qifsql.commands.synthetic.nearest_people import Neighbourhood
from qifsql.commands.synthetic.questions import Questions, parse_attempts, parse_draws
from qifsql.commands.synthetic.spec import SyntheticOptions
from qifsql.commands.synthetic.subsets import SUBSETS, Walk
from qifsql.counting import coded as codes
from qifsql.counting.coded import POOLED_RELEASE, Coded
from qifsql.counting.compared_files import POOLED, Files
from qifsql.counting.counted import Cells, guesses, modes_table, release_risks, secret_risks
from qifsql.counting.guessing import Guessing, Learner
from qifsql.data.expressions import filled
from qifsql.data.option import as_names
from qifsql.data.types import Row
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.tables import Tables
from qifsql.errors import quoted
from qifsql.measures import release_measures
from qifsql.measures.anonymity_loss import CLAIMS
from qifsql.measures.release_measures import Classified, Measure
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


SURE: dict[str, pl.DataType] = {
    **{"release": pl.String(), "file": pl.Int64(), "secret": pl.String()},
    **{"of_reported": pl.Boolean(), **CLAIMS, "greatest": pl.Boolean()},
}
"""Claims of an adversary who is sure, as in ``sure`` of an attack: her confidence is the share of
her best guess among the records of the release that look like a person, and she is right or wrong
about people of the original. Equally good guesses are drawn at random, so ``right`` may be a
fraction; ``alc`` is negative where the release misleads. ``precision_before`` is that of the most
frequent value among the people."""

PEOPLE: dict[str, pl.DataType] = {"known_records": pl.String()}
"""A further column of all tables with a person: the records known of each, ``all`` or ``one``."""


class Measurements:
    """The measurements of all releases, on tables of one engine.

    ``run`` fills ``measured`` and the rows of the details. A release is a number from 1, all
    together ``POOLED_RELEASE``; a secret is a number from 1, or 0 where none is named.
    """

    def __init__(
        self, engine: LocalEngine, files: Files, options: SyntheticOptions, learner: Learner | None
    ) -> None:
        """Begin without measurements; ``learner`` is the classifier that guesses, if any."""
        self._files = files
        self._learner = learner
        self._guessing: Guessing | None = None
        self._options = options
        self._tables = Tables(engine, "comparing files", files.original.title)
        self._progress = engine.settings.progress
        self._subset_statements: list[str] = []
        self._spelling_notes: list[str] = []  # on values that are written in another way
        self._coded: Coded | None = None
        # by secret and release: how many values are the most frequent ones
        self._modal_counts: dict[tuple[int, int], int] = {}
        self._known_records: KnownRecords | None = None  # None: a person has one record
        self.measured: list[dict[str, Any]] = []  # rows of the result, then those of the details
        self._worst: list[dict[str, Any]] = []
        self._groups: list[dict[str, Any]] = []
        self._sure: list[dict[str, Any]] = []
        self._subsets: list[dict[str, Any]] = []

    @property
    def statements(self) -> Sequence[str]:
        """Return the statements that ran; of subsets those of the first one."""
        return (*self._tables.statements, *self._subset_statements)

    @property
    def notes(self) -> Sequence[str]:
        """Return notes on values written in another way, and on what a classifier could not do."""
        return (*self._spelling_notes, *(() if self._guessing is None else self._guessing.notes))

    def run(self) -> None:
        """Measure what is asked for; with a person, if all their records are known, then one."""
        if self._files.original.microdata.person is None:
            self._measure_files()
            return
        files = self._files
        for known_records in get_args(KnownRecords):
            self._known_records, self._files = known_records, files.known_by(known_records)
            coded = self._measure_files()
            coded.drop()
            self._tables.drop(*(modes_table(*numbers) for numbers in self._modal_counts))
        self._files = files

    def _measure_files(self) -> Coded:
        """Measure each secret in each release; return the coded files, whose tables are kept.

        Files are coded together: equal values have equal codes. Of each secret, the most frequent
        values in the release (``make_modes``) are found before success is measured.
        """
        coded = self._coded = codes.make(self._tables, self._files)
        if not self._files.original.microdata.of_lists:
            self._spelling_notes = _notes_on_spelling(coded, self._files)
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
                walk = Walk(
                    coded=coded,
                    files=self._files,
                    secret=secret,
                    priors=priors,
                    progress=self._progress,
                )
                self._subsets += walk.rows()
                self._subset_statements += walk.statements
        self._answer_questions(coded)
        self._sort()
        return coded

    def _answer_questions(self, coded: Coded) -> None:
        """Answer the questions of WP 216, and measure distances, if they are asked for."""
        seed = self._tables.engine.settings.seed or 0
        measured: list[tuple[int, Measure]] = []  # by release
        if self._options["questions"]:
            questions = Questions(
                tables=self._tables.doing("singling out"),
                coded=coded,
                files=self._files,
                attempts=parse_attempts(self._options, len(self._files.qids), seed),
                draws=parse_draws(self._options, seed),
            )
            measured += questions.singling_out()
            if split := as_names(self._options["split"]):
                measured += questions.linkability(split)
        draws = self._options["distances"]
        if draws is not None:
            neighbourhood = Neighbourhood(self._tables, coded, self._files)
            measured += neighbourhood.measures(draws, seed)
        for release, measure in measured:
            self._add(release, None, [measure])

    def write(self, path: Path, origin: Origin) -> int:
        """Write a row per person and release to ``path``; return the number of rows."""
        assert self._coded is not None  # noqa: S101 - it has run
        return individuals.write_records(
            self._tables,
            self._coded,
            self._files,
            path,
            titles={release: self._title(release) for release in self._coded.releases},
            modal_counts=self._modal_counts,
            origin=origin,
        )

    def details(self) -> Mapping[str, pl.DataFrame]:
        """Return the details: ``worst`` if there are secrets, other tables if they have rows."""
        tables = {
            "worst": (self._worst, WORST),
            "sure": (self._sure, SURE),
            "groups": (self._groups, individuals.GROUPS),
            "subsets": (self._subsets, SUBSETS),
        }
        return {
            name: pl.DataFrame(
                [row | {"release": self._title(row["file"])} for row in rows],
                schema=schema | (PEOPLE if self._known_records else {}),
                orient="row",
            )
            for name, (rows, schema) in tables.items()
            if rows or (name == "worst" and self._files.secrets)
        }

    def _measure_secret(self, coded: Coded, secret: int, cells: Cells, priors: Row) -> None:
        """Add the rows of one release and one secret, by its number; 0: no secret is named.

        ``cells`` are the counts of people and records by quasi-identifiers and secret; ``priors``
        is about the most frequent values of the secret. Where groups or persons are asked for, the
        table ``verdicts_SECRET_RELEASE`` is made for them: what each block of the release says.
        """
        totals, release = cells.totals(), cells.release
        if secret <= 1:  # overlap of release and original is about no secret: measured once
            self._add(release, None, release_risks(totals))
        self._modal_counts[secret, release] = priors["modal"]
        if secret:
            name = self._files.secrets[secret - 1]
            self._add(release, name, secret_risks(totals, priors))
            if self._guessing is not None:
                scores = self._guessing.scores(cells, secret)
                fields = dataclasses.fields(Classified)
                counts = Classified(**{field.name: getattr(scores, field.name) for field in fields})
                self._add(release, name, release_measures.classified(counts))
            if self._options["questions"]:
                self._add(release, name, release_measures.inference(guesses(totals, priors)))
            thresholds = certainties(self._options["thresholds"])
            keys = {"file": release, "secret": name, **self._known_column}
            if thresholds:
                claims = cells.claims(thresholds)
                self._sure += [{**keys, "of_reported": False, **row} for row in claims]
            self._worst += [{**keys, "rank": n, **row} for n, row in enumerate(cells.worst(), 1)]
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
                modal_count=priors["modal"],
            )

    def _add(self, release: int, secret: str | None, measures: Iterable[Measure]) -> None:
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
                **self._known_column,
            }
            for measure in measures
        ]

    @property
    def _known_column(self) -> dict[str, str]:
        """Return the column ``known_records``, if people have several records."""
        return {"known_records": self._known_records} if self._known_records else {}

    def _title(self, release: int) -> str:
        return POOLED if release == POOLED_RELEASE else self._files.releases[release - 1].title

    def _sort(self) -> None:
        """Sort rows by release, all together last, and by secret; subsets by size, too."""
        names: list[str | None] = [None, *self._files.secrets]

        def sort_key(row: Mapping[str, Any]) -> tuple[bool, bool, int, int]:
            file, of_one_record = row["file"], row.get("known_records") == "one"
            return of_one_record, file == POOLED_RELEASE, file, names.index(row["secret"])

        for rows in (self.measured, self._worst, self._sure, self._groups):
            rows.sort(key=sort_key)
        self._subsets.sort(key=lambda row: (*sort_key(row), row["n_qids"], row["subset"]))


def _notes_on_spelling(coded: Coded, files: Files) -> list[str]:
    """Return notes on columns of which a release and the original have no value in common."""
    notes = []
    width = len(files.qids)
    for release, file in enumerate(files.releases, 1):
        synthetic = exp.column(f"synthetic_{release}")
        in_both = filled("sum(original) > 0 AND sum(synthetic) > 0", {"synthetic": synthetic})
        names = []
        for i, name in enumerate((*files.qids, *files.secrets)):
            secret = exp.column(f"secret_{i - width + 1}")
            code = coded.code_of(i, "coded") if i < width else secret
            # A value that is not missing, and that records and people have.
            is_reported = exp.NEQ(this=code.copy(), expression=number(coded.missing_code(i)))
            groups = exp.select("1 AS common").from_("coded").where(is_reported).group_by(code)
            if not coded.tables.rows(groups.having(in_both).limit(1)):
                names.append(name)
        if names:
            notes.append(
                f"no value of {', '.join(map(quoted, names))} is in both {file.title} and the "
                "original: if the release writes them in another way, low numbers say nothing; "
                "write them alike"
            )
    return notes
