"""A sweep of more quasi-identifiers than a state has bits for: family after family of subsets."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import comb

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.sweep import plan, result
from qifsql.commands.sweep.plan import qualify
from qifsql.commands.sweep.scheduler import MOST_TOGETHER
from qifsql.commands.sweep.spec import Sizes
from qifsql.commands.sweep.worker import statements_for
from qifsql.commands.sweep.workspace import Workspace
from qifsql.counting.subset_families import (
    SECONDS_PER_CODING,
    Family,
    PartedPeople,
    coding,
    expected_seconds,
    families,
)
from qifsql.engine.connections import Stream
from qifsql.engine.protocol import LocalEngine
from qifsql.query import microdata_steps
from qifsql.query.columns import typed_number, without_rows
from qifsql.query.render import creating, dropping, render, setting
from qifsql.query.splice import splice

PEOPLE, CODES, SECRETS = "family_people", "family_codes", "family_secrets"
SUMS = {
    **{"state": "BIGINT", "question": "UTINYINT", "bin": "UTINYINT", "blocks": "BIGINT"},
    **{"people": "BIGINT", "mode": "BIGINT", "certain": "BIGINT", "k": "BIGINT", "l": "BIGINT"},
    "worst_case": "DOUBLE",
}


@dataclass(kw_only=True)
class FamilySweep:
    """The work on all families, in streams, with results in the workspace."""

    engine: LocalEngine
    bound: BoundAttack
    workspace: Workspace
    sizes: Sizes
    people: int
    streams: int
    with_bins: bool  # sums are by percent of success
    out_of_time: Callable[[], bool]
    measured: int = 0  # subsets
    history: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the questions: 0 is re-identification, j the j-th secret."""
        self.questions = range(1 + len(self.bound.microdata.secrets))
        self._lock = threading.Lock()

    def expected_seconds(self) -> float:
        """Return the seconds that the sweep is expected to take with its streams."""
        n, sizes = self.sizes.n, self.sizes.range
        shared = sum(comb(n, size - 1) for size in sizes)
        seconds = expected_seconds(self.sizes.subsets, shared, self.people, len(self.questions))
        return seconds / self.streams + n * SECONDS_PER_CODING

    def run(self) -> bool:
        """Code the people unless that is done, and measure all families; return whether all are."""
        if not self.workspace.is_coded(0):
            self._code_people()
        self._done = {row[0] for row in self.workspace.stream.rows("SELECT task FROM kept.done")}
        self._waiting = families(self.sizes.n, self.sizes.range, self.people)
        with self.engine.here.single_threaded():
            streams = self.workspace.open_streams(self.streams)
            self.engine.here.together(streams, self._work, self.report_progress)
        self.report_progress()
        return self.measured == self.sizes.subsets

    def report_progress(self) -> None:
        """Report the progress of the sweep."""
        share, total = self.measured / self.sizes.subsets, self.sizes.subsets
        text = f"{self.measured:,} of {total:,} subsets measured, {plan.peak_memory()} MB"
        self.engine.settings.progress("sweeping", share, text)

    def collect(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the sums over the blocks of each measured subset and question, and by percent.

        The second table has a row per percent of success, if that is wanted (``with_bins``). Raises
        an error if the numbers of the workspace cannot be right.
        """
        stream = self.workspace.stream
        # The sums of each subset, question and percent, over all that was found for it.
        query = splice("sweep/family_sums", tables={"found": qualify("found")})
        stream.rows(setting("with_bins", typed_number(1, "UTINYINT"), variable=True))
        by_percent = pl.DataFrame(stream.arrow(render(query))).rename({"state": "subset"})
        by_percent = by_percent.cast({"subset": result.SUBSET}).sort(*result.KEYS, "bin")
        sums = by_percent.group_by(result.KEYS).agg(*result.SUMMED)
        if sums.filter(pl.col("people") != self.people).height:
            raise self.workspace.damage_error("the blocks of a subset do not add up to the people")
        return sums, by_percent.rename({"people": "individuals"})

    def drop_tables(self) -> None:
        """Drop the codes of the people, which are no longer needed."""
        for name in (CODES, SECRETS, PEOPLE):
            self.workspace.drop(name)

    def _code_people(self) -> None:
        """Write the codes of all people, a row per person and attribute, from the dictionaries.

        ``PEOPLE`` has the values, ``CODES`` the codes of quasi-identifiers, ``SECRETS`` of secrets.
        """
        stream, microdata = self.workspace.stream, self.bound.microdata
        for name in (PEOPLE, CODES, SECRETS):
            stream.rows(dropping(qualify(name)))  # left by an interrupted process
        numbered = exp.Window(this=exp.RowNumber())
        people = exp.select(exp.alias_(numbered, "person"), "*").from_("microdata")
        steps = microdata_steps.steps(microdata)
        query = microdata_steps.plan(microdata, steps, people)
        self.engine.keep(PEOPLE, query, "encoding", microdata.dataset.name)
        with stream.transaction():
            qids = {f"qid_{i}": i - 1 for i, _ in enumerate(microdata.qids, 1)}
            secrets = {f"secret_{j}": j for j, _ in enumerate(microdata.secrets, 1)}
            for table, dictionaries in ((CODES, qids), (SECRETS, secrets)):
                for statement in coding(qualify(table), qualify(PEOPLE), dictionaries):
                    stream.rows(statement)
            for name in (PEOPLE, CODES, SECRETS):
                self.workspace.enter_in_ledger(stream, name)
            self.workspace.mark_coded(0)

    def _take(self) -> list[Family]:
        """Return the next families that are not done, at most as many as are stored together.

        The list is empty at the end, or when the time is over. Families that an earlier run has
        done are counted as measured.
        """
        with self._lock:
            taken: list[Family] = []
            while len(taken) < MOST_TOGETHER and not self.out_of_time():
                family = next(self._waiting, None)
                if family is None:
                    break
                if family.number in self._done:
                    self.measured += family.subsets
                    continue
                taken.append(family)
            return taken

    def _work(self, stream: Stream) -> None:
        """Measure family after family as one of the streams."""
        session: FamilySession | None = None  # a finished sweep has dropped the codes it reads
        while batch := self._take():
            began = time.perf_counter()
            session = session or FamilySession(
                stream,
                self.questions,
                self.people,
                with_bins=self.with_bins,
            )
            done: list[Family] = []
            for family in batch:
                if done and self.out_of_time():  # the others of the batch are left to another run
                    break
                session.measure(family)
                done.append(family)
                with self._lock:
                    self.measured += family.subsets
            seconds = (time.perf_counter() - began) / len(done)
            with stream.transaction():
                self.workspace.store_found(stream, number_of_pass=0)
                numbers = [family.number for family in done]
                self.workspace.mark_done(stream, numbers, "family", seconds)
            session.forget()
        if session is not None:
            self.history |= dict.fromkeys(session.history)


class FamilySession(PartedPeople):
    """One stream: the people by what families share, and the statements of their questions."""

    def __init__(
        self, stream: Stream, questions: Sequence[int], people: int, *, with_bins: bool
    ) -> None:
        """Create the empty table ``found``; ``with_bins``: sums are by percent of success."""
        tables = {"people": qualify(PEOPLE), "codes": qualify(CODES)}
        super().__init__(stream, statements_for(1), **tables)
        self._questions, self._people = questions, people
        self._views: set[str] = set()  # that exist already (``_sums``)
        self.set(with_bins=(int(with_bins), "UTINYINT"))
        self.stream.rows(creating("found", without_rows(SUMS)))

    def measure(self, family: Family) -> None:
        """Add the sums of all subsets of a family to the table ``found``.

        All subsets of a family share some attributes. People whom these single out are in a block
        of one in every subset: their number is enough, so that the tables leave them out.
        """
        alone = self._people - self.part(family)  # ``part`` makes the tables, and counts the others
        for question in self._questions:
            self.set(question=(question, "UTINYINT"), alone=(alone, "BIGINT"))
            self.add_rows("found", "family_sums", found=self._sums(len(family.shared), question))
            if alone:
                self.add_rows("found", "alone_sums")

    def forget(self) -> None:
        """Delete what was found, once it is stored."""
        self.stream.rows(render(exp.delete("found")))

    def _sums(self, depth: int, question: int) -> str:
        """Return the name of a view: the sums of the subsets of a family, by percent of success.

        The family shares ``depth`` attributes; the view reads which from variables of the session.
        It is created when it is first asked for.
        """
        what = "secret" if question else "owners"
        sums, kinds = f"sums_{what}_{depth}", f"kinds_{what}_{depth}"
        if sums not in self._views:
            tables = {"sharing": f"sharing_{depth}", "codes": self.codes}
            if question:
                tables["secrets"] = qualify(SECRETS)
            self.make_view(kinds, "blocks_with_secret" if question else "owned_blocks", **tables)
            self.make_view(sums, "found", kinds=kinds)
            self._views.add(sums)
        return sums
