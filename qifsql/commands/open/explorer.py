"""An open file: its columns, the attacks that were tried on it, and what they cost."""

import itertools
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial

from qifsql.commands.attack.attack import attack
from qifsql.commands.compare.compare import compare
from qifsql.commands.describe import view as described
from qifsql.commands.describe.describe import describe, household_of, person_of
from qifsql.commands.open import choices
from qifsql.commands.open.background import Job, Jobs, new_file
from qifsql.commands.open.calculations import Calculations
from qifsql.commands.open.choices import Choices
from qifsql.data.dataset import Dataset
from qifsql.data.files import Identity, identities
from qifsql.data.types import Row
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, InputError
from qifsql.results import release_files
from qifsql.results.result import Result

MOST_KEPT = 64  # results to go back to


@dataclass(frozen=True)
class SourceColumn:
    """A column of the file, as the page shows it.

    ``row`` is what ``describe`` says of it; ``role`` is the one that it has at first.
    """

    name: str
    type: str
    row: Row
    role: str
    steps: tuple[str, ...]


class Explorer:
    """A file that is open on the page.

    ``words`` are the file and how it is read, as they are typed. Everything about the data is
    calculated in the thread of ``calculations``.
    """

    def __init__(
        self,
        dataset: Dataset,
        words: Sequence[str],
        *,
        where: str | None = None,
        private: bool = False,
        settings: Settings | None = None,
        calculations: Calculations | None = None,
    ) -> None:
        """Keep a file for its page; ``words`` are the file and its options in command lines.

        ``where`` is a filter on its records. ``private``: readers may see small groups and values.
        """
        self.dataset = dataset
        self.words = tuple(words)
        self.where = where
        self.private = private
        self.settings = replace(settings or Settings(), progress=self._note_progress)
        self.share: float | None = None  # of the running calculation, that is done
        self.calculations = calculations or Calculations()
        self.tried: list[Choices] = []  # that were attacked; a state is a place in this list
        self.tabs = itertools.count(1)  # gives each opened page a number
        self.jobs = Jobs(settings)
        self._identities: dict[str, Identity] = identities(dataset.paths)
        self._results: OrderedDict[tuple[str, ...], Result] = OrderedDict()  # by command line
        self._columns: Future[tuple[SourceColumn, ...]] | None = None

    def read(self) -> None:
        """Describe the columns in this thread; raise QifError if the file cannot be read."""
        ready: Future[tuple[SourceColumn, ...]] = Future()
        ready.set_result(self._describe())
        self._columns = ready

    def columns(self) -> "Future[tuple[SourceColumn, ...]]":
        """Return the columns of the file, which are described once, and again after an error."""
        if self._columns is None or (self._columns.done() and self._columns.exception()):
            self._columns = self.calculations.submit("columns", self._describe)
        return self._columns

    def _describe(self) -> tuple[SourceColumn, ...]:
        """Return the columns of the file with proposed roles and possible coarser steps."""
        rows = describe(self.dataset, where=self.where, settings=self.settings).rows()
        qids, secrets = described.proposal(rows)
        roles = dict.fromkeys(qids, "quasi-identifier") | dict.fromkeys(secrets, "secret")
        return tuple(
            SourceColumn(
                name=row["column"],
                type=row["type"],
                row=row,
                role=roles.get(row["column"], ""),
                steps=choices.steps_of_column(row["type"], row["distinct"] or 0),
            )
            for row in rows
        )

    def attack(self, choice: Choices, topic: str = "") -> "Future[Result]":
        """Attack the changed release; a newer attack of the same topic makes it superfluous."""
        options = {"where": self.where, "settings": self.settings, **choice.attack_arguments()}
        work = partial(attack, choice.models, self.dataset, **options)
        return self._calculated(f"attack {topic}", tuple(choice.attack_words(self.words)), work)

    def cost(self, choice: Choices, tab: str = "") -> "Future[Result]":
        """Measure what the changes save and cost, alone and together."""
        work = partial(
            compare,
            self.dataset,
            where=self.where,
            settings=self.settings,
            qids=choice.qids,
            secret=choice.secrets,
            change=choice.changes,
            person=choice.person,
        )
        return self._calculated(f"cost {tab}", tuple(choice.compare_words(self.words)), work)

    def _calculated(
        self, topic: str, key: tuple[str, ...], work: Callable[[], Result]
    ) -> "Future[Result]":
        """Return the result kept under ``key`` (its command line), or that of ``work`` in the line.

        A newer calculation of the same ``topic`` replaces one that waits or runs.
        """
        self.check_unchanged()
        if key in self._results:
            self._results.move_to_end(key)
            ready: Future[Result] = Future()
            ready.set_result(self._results[key])
            return ready

        def calculate() -> Result:
            self.share = None  # how much of the work is done, as the page shows; unknown yet
            try:
                result = work()
            finally:
                self.share = None
            self.check_unchanged()
            self._results[key] = result
            while len(self._results) > MOST_KEPT:
                self._results.popitem(last=False)  # that which was not asked for the longest
            return result

        return self.calculations.submit(topic, calculate)

    def _note_progress(self, _what: str, share: float, _detail: str = "", /) -> None:
        self.share = share

    def result(self, tried: Choices) -> Result | None:
        """Return the kept result of choices; None if there is none."""
        return self._results.get(tuple(tried.attack_words(self.words)))

    def check_unchanged(self) -> None:
        """Raise DatasetError if the file is gone, or is not the one that was opened."""
        if identities(self.dataset.paths) != self._identities:
            raise DatasetError(
                f"{self.dataset.name} was replaced or changed since it was opened, so the numbers "
                "on this page are those of the earlier file; read it again"
            )

    def reopen(self) -> None:
        """Forget all results, and read the file as it is now."""
        self._identities = identities(self.dataset.paths)
        self._results.clear()
        self._columns = None

    def remember(self, tried: Choices) -> int:
        """Remember choices, to go back to them; return their number."""
        if tried in self.tried:
            return self.tried.index(tried)
        self.tried.append(tried)
        return len(self.tried) - 1

    def start(self, what: str, choice: Choices, form: Mapping[str, str]) -> Job:
        """Start the command lines that write a release, report, study or sweep."""
        self.check_unchanged()
        lines = self._lines(what, choice, form)
        if what == "sweep":
            return self.jobs.sweep(lines[0], private=self.private)
        return self.jobs.start(lines)

    def _lines(self, what: str, choice: Choices, form: Mapping[str, str]) -> list[list[str]]:
        """Return the command lines that write a release, report, study or sweep to a new file.

        A line is the words after ``qifsql``. A report needs lines before it, which store results.
        """
        endings = {
            "release": release_files.ENDINGS,
            "classes": release_files.ENDINGS,
            "report": (".html", ".md", ".pdf"),
            "study": (".toml",),
            "sweep": (".parquet",),
        }
        if what not in endings or not choice.knowledge:
            raise InputError("there is nothing to write; name a quasi-identifier")
        out = new_file(form.get("out", ""), endings[what])
        if what == "sweep":
            return [[*choice.sweep_words(self.words, form.get("threshold", "").strip()), "-o", out]]
        if what == "study":
            return [choice.study_words(self.words[0], out, self.words[1:])]
        if what == "classes":
            return [choice.k_anonymise_words(self.words, out, form.get("k", "").strip())]
        if what == "release":
            if not choice.is_changed:
                raise InputError("nothing is changed, so the release is the file itself")
            return [choice.recode_words(self.words, out)]
        stem, _, _ = out.rpartition(".")
        results = [new_file(f"{stem}.parquet", (".parquet",))]
        lines = [[*choice.attack_words(self.words), "-o", *results]]
        if choice.is_changed:
            changes = new_file(f"{stem}-changes.parquet", (".parquet",))
            lines.append([*choice.compare_words(self.words), "-o", changes])
            results.append(changes)
        private = ["--private"] if self.private else []
        language = ["--lang", form.get("language") or "en"]
        return [*lines, ["report", *results, "-o", out, *language, *private]]

    def command_lines(self) -> list[str]:
        """Return the command lines of the attacks that were tried."""
        return [choices.command_line(tried.attack_words(self.words)) for tried in self.tried]

    def first_choices(self, columns: Sequence[SourceColumn]) -> Choices:
        """Return the choices of a new page: the suggested roles, and a histogram.

        If people have several records, a column that tells them apart is the option ``person``;
        if they have one each, a column that numbers households is the option ``household``.
        """
        form = {f"role-{i}": column.role for i, column in enumerate(columns)}
        form["option-histogram"] = "on"
        rows = [column.row for column in columns]
        for name, column_of in (("person", person_of), ("household", household_of)):
            if (column := column_of(rows)) is not None:
                form[f"option-{name}"] = column
        return choices.read_choices(form, [column.name for column in columns])
