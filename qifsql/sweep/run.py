"""Sweeping: every subset of the quasi-identifiers, re-identification and every secret."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from qifsql import dialect
from qifsql.dataset import Dataset
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import several
from qifsql.export import Origin, digests
from qifsql.session import check_records, opened
from qifsql.spec import Attack, BoundAttack, Options, refuse
from qifsql.sweep import encoding, result
from qifsql.sweep.collect import Collected, collect
from qifsql.sweep.course import Course, preflight
from qifsql.sweep.lattice import Scope
from qifsql.sweep.layout import Layout, Spread, passes
from qifsql.sweep.result import Sweep
from qifsql.sweep.runner import Runner
from qifsql.sweep.workspace import Task, Workspace, prepare

Told = Callable[[str], None]


@dataclass(frozen=True)
class Wish:
    """What is wanted of a sweep beside the result."""

    sizes: str | None = None
    subsets: tuple[str, ...] = ()
    histogram: bool = False
    workspace: Path | None = None
    restart: bool = False
    budget: float | None = None
    told: Told = lambda _line: None


def sweep(
    source: str | Path | Dataset,
    *,
    sizes: str | None = None,
    subsets: Sequence[str] = (),
    histogram: bool = False,
    workspace: str | Path | None = None,
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
        histogram: count people by their success in percent, too.
        workspace: the file that keeps what is done, so that the sweep can go on after any end;
            without one it is kept in memory.
        restart: forget what the workspace holds.
        time_budget: seconds after which nothing more is begun; what is complete is returned.
        told: is called with a line about what is going to happen.
        settings: memory, threads, temporary folder, progress.
        **options: ``qids``, ``secret``, ``where``, ``null`` (see ``qifsql.spec.Options``).

    Returns:
        A Sweep; its ``frame`` has one row per subset and question.

    Raises:
        InputError: what was asked for does not fit the data or the workspace.
        EngineError: memory or disk ran out.
        Interrupted: what is done is in the workspace; the same call goes on.

    """
    refuse(options, "a sweep", *REFUSED)
    secret = options.get("secret")
    spec = Attack.of("crs,cas" if secret else "crs", source, **options)
    wish = Wish(
        sizes,
        tuple(subsets),
        histogram,
        None if workspace is None else Path(workspace),
        restart,
        time_budget,
        told or _silent,
    )
    return run(spec, wish, settings)


REFUSED = ("key", "weight", "target", "gain", "prior", "by", "thresholds", "quantiles")


def _silent(_line: str) -> None:
    """Nobody wants to know."""


def run(spec: Attack, wish: Wish, settings: Settings | None = None) -> Sweep:
    """Run a sweep as it is specified (see ``sweep``)."""
    origin = Origin.now(settings)
    if wish.workspace is not None:
        prepare(wish.workspace, restart=wish.restart)
    with opened(spec, settings) as (engine, bound):
        return _Run(engine, spec, bound, wish).sweep(origin)


class _Run:
    """One sweep: the bound attack, the workspace, and how far it is."""

    def __init__(self, engine: DuckDB, spec: Attack, bound: BoundAttack, wish: Wish) -> None:
        self.engine = engine
        self.spec = spec
        self.wish = wish
        self.names = [q.name for q in bound.qids]
        self.scope = Scope.of(self.names, wish.sizes, wish.subsets)
        self.bound = bound
        self.streams = engine.threads
        self.began = time.monotonic()
        self.workspace = Workspace(engine, wish.workspace, self._asked())

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
        origin = origin.of(self.bound, self.spec, sizes=self.wish.sizes)
        frame = result.frame(
            collected.subsets,
            result.priors(secrets, people),
            qids=self.names,
            secrets=[s.name for s in self.bound.secrets],
            records=people,
            seconds=origin.seconds,
        )
        return Sweep(frame, origin, tuple(self.names), self.scope.whole, (), {})

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
        if self.bound.dataset.format == "csv":
            self.bound = replace(self.bound, dataset=self.engine.load(self.bound.dataset))
        qids = {
            i: encoding.dictionary(self.engine, self.bound, f"qid_{i + 1}")
            for i in range(len(self.bound.qids))
        }
        secrets = {
            j: encoding.dictionary(self.engine, self.bound, f"secret_{j}")
            for j in range(1, len(self.bound.secrets) + 1)
        }
        if not held:
            parts = [{i: asdict(s) for i, s in part.items()} for part in (qids, secrets)]
            self.workspace.tell("spreads", parts)
        return qids, secrets

    def _announce(self, layouts: Sequence[Layout]) -> None:
        """Say what is going to happen."""
        need = preflight(layouts, self.scope.subsets, self.streams)
        self.wish.told(
            f"{layouts[0].people:,} records, {several(self.scope.subsets, 'subset')} of "
            f"{several(len(self.names), 'quasi-identifier')}: about {_time(need['seconds'])}, "
            f"{_size(need['memory'])} of memory, {_size(need['disk'])} of disk"
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
            self._out_of_time,
            self._look,
            self._progressed,
        )

    def _out_of_time(self) -> bool:
        budget = self.wish.budget
        return budget is not None and time.monotonic() - self.began > budget

    def _look(self) -> None:
        self.engine.settings.progress("sweeping", self.course.share)

    def _progressed(self, task: Task, seconds: float, method: str) -> None:
        self.course.done(task, seconds, method)

    def _collect(self, layouts: Sequence[Layout]) -> Collected:
        complete = {i: layout.every for i, layout in enumerate(layouts)}
        return collect(
            self.workspace,
            dict(enumerate(layouts)),
            complete,
            least=self.scope.least,
            most=self.scope.most,
            histograms=self.wish.histogram,
        )


def _time(seconds: float) -> str:
    """A duration as people say it."""
    if seconds < 90:
        return several(max(1, round(seconds)), "second")
    if seconds < 5400:
        return several(round(seconds / 60), "minute")
    return f"{seconds / 3600:.1f} hours"


def _size(size: float) -> str:
    """A number of bytes as people say it."""
    return f"{size / 2**30:.1f} GB" if size >= 2**30 / 2 else f"{max(1, round(size / 2**20))} MB"
