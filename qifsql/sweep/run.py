"""Sweeping: every subset of the quasi-identifiers, re-identification and every secret."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from qifsql import dialect
from qifsql.dataset import Dataset
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, Interrupted, several
from qifsql.export import Origin, digests
from qifsql.session import check_records, opened
from qifsql.spec import Attack, BoundAttack, Options, refuse
from qifsql.sweep import encoding, findings, needs, result
from qifsql.sweep.collect import Collected, collect
from qifsql.sweep.course import Course
from qifsql.sweep.lattice import Scope
from qifsql.sweep.layout import Layout, Spread, passes
from qifsql.sweep.result import Sweep
from qifsql.sweep.runner import Runner
from qifsql.sweep.workspace import Workspace, prepare, remove

Told = Callable[[str], None]
REFUSED = ("key", "weight", "target", "gain", "prior", "by", "thresholds", "quantiles")


@dataclass(frozen=True)
class Wish:
    """What is wanted of a sweep, and how it is to be worked on (see ``sweep``)."""

    sizes: str | None = None
    subsets: tuple[str, ...] = ()
    threshold: float | None = None
    histogram: bool = False
    workspace: Path | None = None
    keep: bool = True
    restart: bool = False
    time_budget: float | None = None
    told: Told = lambda _line: None


def sweep(
    source: str | Path | Dataset,
    *,
    sizes: str | None = None,
    subsets: Sequence[str] = (),
    threshold: float | None = None,
    histogram: bool = False,
    workspace: str | Path | None = None,
    keep: bool = True,
    restart: bool = False,
    time_budget: float | None = None,
    told: Told | None = None,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Sweep:
    """Attack with every subset of the quasi-identifiers at once.

    Args:
        source: a Parquet or CSV file, a glob, a folder of Parquet, ``table@file.duckdb``.
        sizes: how many quasi-identifiers, as ``3`` or ``1-4``; every number by default.
        subsets: only these, such as ``day+month+school``.
        threshold: look for the smallest subsets whose success reaches that, the largest below it.
        histogram: count people by their success in percent, too.
        workspace: the file that keeps what is done, so that the sweep can go on after any end;
            without one it is kept in memory.
        keep: leave the workspace when all is done.
        restart: forget what the workspace holds.
        time_budget: seconds after which nothing more is begun; what is complete is returned.
        told: is called with a line about what is going to happen.
        settings: memory, threads, temporary folder, progress.
        **options: ``qids``, ``secret``, ``where``, ``null`` (see ``qifsql.spec.Options``).

    Returns:
        A Sweep; its ``frame`` has one row per subset and question.

    Raises:
        InputError: what was asked for does not fit the data or the workspace.
        EngineError: memory or disk ran out; what is done is in the workspace.
        Interrupted: the same; the same call goes on.

    """
    refuse(options, "a sweep", *REFUSED)
    if threshold is not None and not 0 <= threshold <= 1:
        raise InputError("a threshold is a success, from 0 to 1")
    spec = Attack.of("crs,cas" if options.get("secret") else "crs", source, **options)
    file = None if workspace is None else Path(workspace)
    wish = Wish(
        sizes, tuple(subsets), threshold, histogram, file, keep, restart, time_budget,
        told or _silent,
    )  # fmt: skip
    return run(spec, wish, settings)


def _silent(_line: str) -> None:
    """Nobody wants to know."""


def run(spec: Attack, wish: Wish, settings: Settings | None = None) -> Sweep:
    """Run a sweep as it is specified (see ``sweep``)."""
    origin = Origin.now(settings)
    with _private(), opened(spec, needs.limited(settings)) as (engine, bound):
        if wish.workspace is not None:
            prepare(engine, wish.workspace, restart=wish.restart)
        working = _Run(engine, spec, bound, wish)
        try:
            found = working.sweep(origin)
        except Interrupted as e:
            raise Interrupted(f"interrupted; {working.kept}") from e
    if wish.workspace is not None and not wish.keep and working.finished:
        remove(wish.workspace)
    return found


@contextmanager
def _private() -> Iterator[None]:
    """Files that are made inside can be read by the user alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


class _Run:
    """One sweep: the bound attack, the workspace, and how far it is."""

    def __init__(self, engine: DuckDB, spec: Attack, bound: BoundAttack, wish: Wish) -> None:
        self.engine = engine
        self.spec = spec
        self.wish = wish
        self.bound = bound
        self.names = [q.name for q in bound.qids]
        self.scope = Scope.of(self.names, wish.sizes, wish.subsets)
        self.streams = needs.streams(engine)
        self.began = time.monotonic()
        self.workspace = Workspace(engine, wish.workspace, self._asked())
        self.finished = False

    @property
    def kept(self) -> str:
        """What became of the work, for the person who stopped it."""
        if self.wish.workspace is None:
            return "nothing was left behind"
        return f"what is done is kept in {self.wish.workspace}: the same command goes on"

    def sweep(self, origin: Origin) -> Sweep:
        """Work until all is done, or the time is over; the result."""
        qids, secrets = self._spreads()
        people = qids[0].people
        layouts = self.workspace.layouts()
        if not layouts:
            layouts = list(passes(qids, secrets, people))
            self.workspace.lay_out(layouts)
        self.course = Course(layouts, self.streams)
        for task, method, seconds in self.workspace.worked():
            self.course.done(task, seconds, method)
        self._announce(layouts)
        for number, layout in enumerate(layouts):
            self._runner(number, layout).run()
        collected = self._collect(layouts)
        asked = {"sizes": self.wish.sizes, "subsets": list(self.wish.subsets) or None}
        origin = origin.of(self.bound, self.spec, **asked)
        frame = result.frame(
            collected.subsets,
            result.priors(secrets, people),
            qids=self.names,
            secrets=[s.name for s in self.bound.secrets],
            seconds=origin.seconds,
        )
        details = findings.details(frame, self.names, self.wish.threshold)
        if collected.histograms is not None:
            secret_names = [s.name for s in self.bound.secrets]
            details["histogram"] = result.histograms(collected.histograms, secret_names, self.names)
        details["plan"] = self.course.frame([self.names[i] for i in layouts[0].order])
        whole = self.scope.whole and self.finished
        return Sweep(frame, origin, tuple(self.names), whole, self._notes(frame), details)

    def _notes(self, frame: Any) -> tuple[str, ...]:
        notes = list(self.bound.notes)
        if not self.finished:
            there = frame["subset"].n_unique()
            notes.append(
                f"the time is over: {there:,} of {self.scope.subsets:,} subsets are complete; "
                f"{self.kept}"
            )
        return tuple(notes)

    def _asked(self) -> dict[str, Any]:
        """What tells this sweep from another one."""
        bound = self.bound
        return {
            "dataset": [bound.dataset.name, bound.dataset.table],
            "contents": [d["sha256"] for d in digests(bound.dataset.paths)],
            "csv": [self.spec.dataset.all_varchar, bound.dataset.delimiter, bound.dataset.encoding],
            "quasi-identifiers": [[q.name, dialect.render(q.expression)] for q in bound.qids],
            "secrets": [[s.name, dialect.render(s.expression)] for s in bound.secrets],
            "where": dialect.render(bound.where) if bound.where is not None else None,
            "null": bound.null,
            "sizes": [self.scope.least, self.scope.most],
            "subsets": list(self.scope.listed),
        }

    def _spreads(self) -> tuple[dict[int, Spread], dict[int, Spread]]:
        """How people are spread over the values of each quasi-identifier and secret.

        The dictionaries are made where people are still to be coded.
        """
        held = self.workspace.fact("spreads")
        layouts = self.workspace.layouts()
        coded = layouts and all(self.workspace.begun(i) for i in range(len(layouts)))
        if held and coded:
            parts = [{int(i): Spread(**s) for i, s in part.items()} for part in held]
            return parts[0], parts[1]
        check_records(self.engine, self.bound)
        needs.check_disk(self.engine, self.bound, self.wish.workspace)
        if self.bound.dataset.format == "csv":
            self.bound = replace(self.bound, dataset=self.engine.load(self.bound.dataset))
        qids, secrets = (
            {i: encoding.dictionary(self.engine, self.bound, name) for i, name in names.items()}
            for names in (
                {i: f"qid_{i + 1}" for i in range(len(self.bound.qids))},
                {j: f"secret_{j}" for j in range(1, len(self.bound.secrets) + 1)},
            )
        )
        if not held:
            plain = [{i: asdict(s) for i, s in part.items()} for part in (qids, secrets)]
            self.workspace.tell("spreads", plain)
        return qids, secrets

    def _announce(self, layouts: Sequence[Layout]) -> None:
        """Say what is going to happen."""
        need = needs.preflight(layouts, self.course, self.streams)
        self.wish.told(
            f"{layouts[0].people:,} records, {several(self.scope.subsets, 'subset')} of "
            f"{several(len(self.names), 'quasi-identifier')}: about {need}"
        )

    def _runner(self, number: int, layout: Layout) -> Runner:
        return Runner(
            self.engine,
            self.bound,
            self.workspace,
            number,
            layout,
            self.scope,
            self.streams,
            self.course,
            self._out_of_time,
        )

    def _out_of_time(self) -> bool:
        budget = self.wish.time_budget
        return budget is not None and time.monotonic() - self.began > budget

    def _collect(self, layouts: Sequence[Layout]) -> Collected:
        numbered = dict(enumerate(layouts))
        complete = {i: self.workspace.complete(i, x, self.scope) for i, x in numbered.items()}
        self.finished = all(not self.workspace.pending(i) for i in numbered) and all(
            self.workspace.begun(i) for i in numbered
        )
        if not any(complete.values()):
            raise InputError(
                f"no subset is complete after {self.wish.time_budget:g} seconds; {self.kept}, or "
                "give more time with --time-budget"
            )
        return collect(
            self.workspace,
            numbered,
            complete,
            self.scope,
            histograms=self.wish.histogram,
        )
