"""The work of one sweep: from the bound attack to its result, by way of a workspace."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import polars as pl

from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.commands.sweep import (
    cost,
    encode,
    estimates,
    releases,
    result,
    tables_of_answers,
)
from qifsql.commands.sweep.border_search import Hunt, OutOfTimeError
from qifsql.commands.sweep.coarsen import coarsen_first
from qifsql.commands.sweep.collect import Collected, collect
from qifsql.commands.sweep.lattice import Scope
from qifsql.commands.sweep.layout import Layout, fits, passes
from qifsql.commands.sweep.progress import Course
from qifsql.commands.sweep.result import Sweep
from qifsql.commands.sweep.scheduler import Runner
from qifsql.commands.sweep.spec import Wish
from qifsql.commands.sweep.weighted import attacks
from qifsql.commands.sweep.workspace import Workspace
from qifsql.counting import value_codes as counting_encode
from qifsql.counting.session import check_records
from qifsql.counting.value_codes import Spread
from qifsql.engine.connections import Stream
from qifsql.engine.protocol import LocalEngine
from qifsql.errors import InputError, several
from qifsql.measures.bayes import Success
from qifsql.query import render
from qifsql.results.storage import Origin, digests

POPULATION = "fixed: in every row those with no missing quasi-identifier and no missing secret"


class Work:
    """One sweep: the bound attack, the workspace, and how far it is."""

    def __init__(self, engine: LocalEngine, spec: Attack, bound: BoundAttack, wish: Wish) -> None:
        self.engine = engine
        self.spec = spec
        self.wish = wish
        self.bound = bound
        self.names = [q.name for q in bound.qids]
        self.numbers = [q.number for q in bound.qids]
        listed = releases.sets(self.numbers, bound.datasets) if wish.releases else wish.subsets
        self.scope = Scope.of(
            self.names, wish.sizes, listed, searching=wish.search, sample=wish.sample
        )
        self.streams = cost.streams(engine)
        self.began = time.monotonic()
        self.workspace = Workspace(engine, wish.workspace, self._identify())
        self.finished = False
        self.runners: list[Runner] = []

    @property
    def useful(self) -> bool:
        """Whether the workspace holds something that another run could use."""
        return self.workspace.useful

    def sweep(self, origin: Origin) -> Sweep:
        """Work until all is done, or the time is over; the result."""
        tables = None if self.bound.weight is not None else self._swept()
        if tables is None:
            check_records(self.engine, self.bound)
            frame, histograms, self.finished = attacks(
                self.engine,
                self.bound,
                self.scope,
                self.workspace,
                histogram=self.wish.histogram,
                out_of_time=self._out_of_time,
            )
            details = {} if histograms is None else {"histogram": histograms}
            if self.scope.sample is not None:
                named = [s.name for s in self.bound.secrets]
                frame = estimates.with_errors(frame, estimates.NONE, named)
        else:
            frame, details = tables
        if frame.is_empty() and not self.scope.searching:
            raise self._too_early("no subset is complete")
        if self.bound.datasets > 1:
            frame = releases.longitudinal(frame, self.numbers)
            details = {n: releases.longitudinal(t, self.numbers) for n, t in details.items()}
        if not self.scope.searching:
            details |= tables_of_answers.details(frame, self.names, self.wish.threshold)
        if self.wish.releases and self.finished:
            added = releases.releases(frame, self.numbers, self.bound.releases)
            details = {"releases": added} | details
        if tables and self.finished:
            details |= self._coarsened(frame, details)
            for runner in [] if self.scope.searching else self.runners:  # it may ask for more
                runner.sweep_up()
        plans = [encode.coded(self.bound, runner.layout) for runner in self.runners]
        more = self.wish.plain()
        if self.bound.null == "drop":
            more |= {"population": POPULATION}
        origin = origin.of(self.bound, self.spec, *plans, **more)
        origin = origin.sending(s for runner in self.runners for s in runner.history)
        frame = frame.with_columns(seconds=pl.lit(origin.seconds))
        whole = self.scope.whole and self.finished
        names = tuple(self.names)
        return Sweep(
            frame=frame,
            origin=origin,
            details=details,
            notes=self._notes(frame),
            qids=names,
            whole=whole,
            complete=self.finished,
        )

    def _swept(self) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]] | None:
        """All subsets at once, and what was done; None where the codes do not fit in a key."""
        qids, secrets = self._spreads()
        people = qids[0].people
        layouts = self.workspace.layouts() or list(passes(qids, secrets, people))
        if not fits(layouts):
            return None
        if not self.workspace.layouts():
            self.workspace.lay_out(layouts)
        self.course = Course(layouts, self.streams, len(self.scope.listed) or None)
        for task, method, seconds in self.workspace.worked():
            self.course.done(task, seconds, method)
        self.course.rows_done = 0
        self._announce(layouts)
        runners = [self._runner(number, layout) for number, layout in enumerate(layouts)]
        self.runners = runners
        for runner in runners:
            runner.run()
        prior = result.priors(secrets, people)
        details = self._hunt(runners, prior)
        collected = self._collect(layouts)
        named = [s.name for s in self.bound.secrets]
        subsets, errors = estimates.estimated(collected.subsets, collected.parts, people)
        frame = result.frame(subsets, prior, qids=self.names, secrets=named)
        if self.scope.sample is not None:
            frame = estimates.with_errors(frame, errors, named)
        if collected.histograms is not None:
            bins = estimates.histograms(collected.histograms, collected.parts)
            details["histogram"] = result.histograms(bins, named, self.names)
        if not (self.scope.listed or self.scope.searching):
            details["plan"] = self.course.frame([self.names[i] for i in layouts[0].order])
        return frame, details

    def _hunt(
        self, runners: Sequence[Runner], prior: Mapping[int, Success]
    ) -> dict[str, pl.DataFrame]:
        """The borders that a search found, if that was asked for."""
        if not self.scope.searching or self.wish.threshold is None:
            return {}
        questions = [None, *(s.name for s in self.bound.secrets)]
        try:
            borders = Hunt(runners, prior).borders(self.wish.threshold, questions, self.names)
        except OutOfTimeError:
            raise self._too_early("the search is not complete") from None
        return {"borders": borders}

    def _too_early(self, what: str) -> InputError:
        return InputError(
            f"{what} after {self.wish.time_budget:g} seconds; what is done is kept in "
            f"{self.wish.workspace or 'memory'}: the same command goes on, or give more time with "
            "--time-budget"
        )

    def _coarsened(
        self, frame: pl.DataFrame, details: Mapping[str, pl.DataFrame]
    ) -> dict[str, pl.DataFrame]:
        """Which quasi-identifier to coarsen first, where all subsets are there and exact."""
        if "drop_first" not in details or self.scope.sample is not None:
            return {}
        table = coarsen_first(self.runners, frame, details["drop_first"], self.names)
        return {"coarsen_first": table}

    def _notes(self, frame: Any) -> tuple[str, ...]:
        notes = list(self.bound.notes)
        if self.bound.null == "drop":
            notes += self._left_out(frame)
        if not self.finished:
            there = frame["subset"].n_unique()
            notes.append(
                f"the time is over: {there:,} of {several(self.scope.subsets, 'subset')} are "
                "complete; the same command goes on from here"
            )
        if self.scope.sample is not None:
            notes.append(estimates.note(frame))
        return tuple(notes)

    def _left_out(self, frame: pl.DataFrame) -> list[str]:
        """A remark on who is in no row, because something is missing."""
        records, people = self.workspace.fact("records"), frame["records"].max()
        if not isinstance(people, int) or self.bound.weight is not None:
            share = "records"
        elif records == people:
            return []
        else:
            share = f"{records - people:,} of {records:,} records"
        return [
            f"{share} with a missing quasi-identifier or secret are left out of every row: all "
            "rows are about the same people, so a row may differ from an attack on its own "
            "quasi-identifiers alone"
        ]

    def _identify(self) -> dict[str, Any]:
        """What tells this sweep from another one."""
        bound = self.bound
        return {
            "dataset": [bound.dataset.name, bound.dataset.table],
            "contents": [d["sha256"] for d in digests(bound.dataset.paths)],
            "csv": [self.spec.dataset.all_varchar, bound.dataset.delimiter, bound.dataset.encoding],
            "quasi-identifiers": [[q.name, render.render(q.expression)] for q in bound.qids],
            "secrets": [[s.name, render.render(s.expression)] for s in bound.secrets],
            "collection": self.spec.asked_of_collection,
            "weight": render.render(bound.weight.expression) if bound.weight else None,
            "where": render.render(bound.where) if bound.where is not None else None,
            "null": bound.null,
            "sizes": [self.scope.least, self.scope.most],
            "subsets": list(self.scope.listed),
            "search": self.scope.searching,
            "sample": [self.scope.sample, self.engine.settings.seed if self.scope.sample else None],
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
        self.workspace.tell("records", check_records(self.engine, self.bound))
        cost.check_disk(self.engine, self.bound, self.wish.workspace)
        if self.bound.dataset.format == "csv":
            self.bound = replace(self.bound, dataset=self.engine.load(self.bound.dataset))
        qids, secrets = (
            {
                i: counting_encode.dictionary(self.engine, self.bound, name)
                for i, name in names.items()
            }
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
        if self.scope.searching:
            self.wish.tell(
                f"{several(layouts[0].people, 'record')}, "
                f"{several(len(self.names), 'quasi-identifier')}: how many of the "
                f"{several(self.scope.subsets, 'subset')} are measured depends on the borders"
            )
            return
        need = cost.preflight(layouts, self.course, self.streams, self.engine.memory)
        self.wish.tell(
            f"{several(layouts[0].people, 'record')}, {several(self.scope.subsets, 'subset')} of "
            f"{several(len(self.names), 'quasi-identifier')}: about {need}"
        )
        if self.wish.explain:
            for line in self.course.lines([self.names[i] for i in layouts[0].order]):
                self.wish.tell(line)

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
        complete = -1  # by every pass
        for i, layout in numbered.items():
            complete &= self.workspace.complete(i, layout, self.scope)
        self.finished = all(
            self.workspace.begun(i) and not self.workspace.pending(i) for i in numbered
        )
        collected: list[Collected] = []

        def work(_stream: Stream) -> None:
            counts = collect(
                self.workspace,
                numbered,
                complete,
                self.scope,
                histograms=self.wish.histogram,
            )
            collected.append(counts)

        self.engine.together([self.workspace.stream], work, self.runners[0].look)
        subsets = collected[0].subsets["subset"].n_unique()
        if self.finished and not self.scope.searching and subsets != self.scope.subsets:
            raise self.workspace.broken("some subset is missing")
        return collected[0]
