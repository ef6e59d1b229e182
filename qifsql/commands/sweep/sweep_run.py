"""The run of a sweep: its tasks in a workspace, the tables they fill, and the result."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import polars as pl

from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.commands.sweep import answers, kernel_choice, plan, remarks, result, samples, strategies
from qifsql.commands.sweep.affordable import seconds_alone
from qifsql.commands.sweep.families import FamilySweep
from qifsql.commands.sweep.layout import MOST_QIDS, Layout, codes_fit, plan_passes
from qifsql.commands.sweep.plan import Progress
from qifsql.commands.sweep.result import Sweep
from qifsql.commands.sweep.scheduler import Pass
from qifsql.commands.sweep.search import BorderSearch, OutOfTimeError
from qifsql.commands.sweep.spec import SweepSpec
from qifsql.commands.sweep.star_blocks import StarBlocks
from qifsql.commands.sweep.strategies import SubsetAttacks, attack_each
from qifsql.commands.sweep.subset_sums import Collected, collect
from qifsql.commands.sweep.workspace import Workspace, identity_of_data
from qifsql.counting import suppressed
from qifsql.counting.scales import Spread, make_dictionary
from qifsql.counting.session import check_records
from qifsql.counting.subset_families import numbered_names
from qifsql.engine.connections import Stream
from qifsql.engine.protocol import LocalEngine
from qifsql.errors import InputError, plural
from qifsql.measures.bayes import Success
from qifsql.presentation import words
from qifsql.query import microdata_steps
from qifsql.results.storage import Origin

POPULATION = "fixed: in every row those with no missing quasi-identifier and no missing secret"
ALONE = 50_000  # people times subsets, below which another stream is not worth its preparation
Details = dict[str, pl.DataFrame]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The rows of a sweep, its tables by name, and remarks on how they were measured."""

    frame: pl.DataFrame
    details: Details
    notes: tuple[str, ...] = ()


class SweepRun:
    """One sweep: the bound attack, the workspace, and the progress."""

    def __init__(
        self, engine: LocalEngine, attack: Attack, bound: BoundAttack, spec: SweepSpec
    ) -> None:
        """Check the options against the data, and open the workspace; nothing is measured yet."""
        self.engine = engine
        self.attack = attack
        self.spec = spec
        self.bound = bound
        self.names = [q.name for q in bound.microdata.qids]
        self.numbers = [q.number for q in bound.microdata.qids]  # of the datasets that they are in
        self.secrets = [s.name for s in bound.microdata.secrets]
        self.has_bits = len(self.names) <= MOST_QIDS  # a subset is a number with a bit for each
        self.strategy = strategies.strategy_for(bound.microdata, spec, engine.settings.seed)
        self.starred = suppressed.has_cells(engine, bound.microdata)  # some cells are *
        self.on_spark = engine.settings.engine_name == "spark"
        if self.on_spark and spec.sample is not None:
            raise InputError(
                "a sample is drawn on one machine; leave --sample out, or use --engine duckdb"
            )
        self.streams = engine.workers if self.on_spark else plan.stream_count(engine)
        self.began = time.monotonic()
        self.workspace = Workspace(engine.here, spec.workspace, self._identify())
        self.finished = False
        self.passes: list[Pass] = []
        self.stars: StarBlocks | None = None  # counted if each subset leaves them out
        self.family_statements: dict[str, None] = {}

    def sweep(self, origin: Origin) -> Sweep:
        """Work until all is done or the time is over; return the result."""
        try:
            measured = self._measure()
        finally:
            self.workspace.close_streams()
        frame = measured.frame
        plans = [data_pass.plan for data_pass in self.passes]
        spec = self.spec
        facts: dict[str, Any] = {  # for the manifest
            "sizes": spec.sizes,
            "subsets": list(spec.subsets) or None,
            "releases": spec.releases or None,
            "threshold": spec.threshold,
            "search": spec.search or None,
            "sample": spec.sample,
        }
        if self.bound.microdata.null == "drop":
            facts |= {"population": POPULATION}
        if "suppressed" in frame.columns:
            facts["suppressed_records"] = max(frame["suppressed"].to_list(), default=0)
        origin = origin.of(self.bound, self.attack, *plans, **facts)
        statements = [s for data_pass in self.passes for s in data_pass.history]
        origin = origin.sending([*statements, *self.family_statements])
        frame = frame.with_columns(seconds=pl.lit(origin.seconds))
        return Sweep(
            frame=frame,
            origin=origin,
            details=measured.details,
            notes=(*self._notes(measured), *measured.notes),
            qids=tuple(self.names),
            whole=self.strategy.every_subset and self.finished,
            complete=self.finished,
        )

    def _measure(self) -> Measured:
        """Measure in the way that fits the options and the data.

        Four ways: an attack for each subset; families of subsets, if there are more
        quasi-identifiers than bits; a search; or passes that measure all subsets together.
        """
        microdata = self.bound.microdata
        cannot_be_packed = microdata.weight is not None or microdata.person is not None
        needs_bits = self.on_spark or self.strategy.listed or self._leaves_out_suppressed
        if cannot_be_packed or (not self.has_bits and needs_bits):
            return self._attack_each()
        qids, secrets = self._prepare_spreads()
        people = qids[0].people
        if not self.has_bits:
            return self._sweep_families(people, result.priors(secrets, people))
        layouts = self.workspace.layouts()
        if not layouts:  # a new workspace
            layouts = list(plan_passes(qids, secrets, people))
            if not codes_fit(layouts):
                return self._attack_each()
            self.workspace.store_layouts(layouts)
        prior = result.priors(secrets, people)
        if self._leaves_out_suppressed:
            self.stars = StarBlocks.count(self.engine, self.bound, prior, people)
        if self.spec.search:
            return self._search_borders(layouts, prior)
        return self._sweep_all(layouts, prior)

    def _attack_each(self) -> Measured:
        """Measure every subset with a separate attack.

        So it is with people of several records: which of them are alike differs from subset to
        subset, so that counts of one subset do not follow from those of another.
        """
        records = check_records(self.engine, self.bound.microdata)
        if self.bound.microdata.person is not None:  # slow: load the data once, and tell the time
            self._load_csv()
            subsets = self.strategy.subsets
            self.spec.tell(
                f"{plural(records, 'record')}, {plural(subsets, 'subset')}: people are other "
                "multisets in each subset, which is attacked alone: in all about "
                f"{words.duration(seconds_alone(records, subsets, len(self.secrets)))}"
            )
        if self.strategy.subsets > strategies.MOST_ATTACKS:
            raise InputError(
                f"these subsets are attacked one by one, and {self.strategy.subsets:,} are too "
                "many; limit them with --sizes 1-3, or name fewer quasi-identifiers"
            )
        frame, histograms, self.finished = attack_each(
            SubsetAttacks(self.engine, self.bound, starred=self._leaves_out_suppressed),
            self.strategy,
            self.workspace,
            histogram=self.spec.histogram,
            out_of_time=self._out_of_time,
        )
        details = {} if histograms is None else {"histogram": histograms}
        return self._derive_answers(frame, details, samples.NO_ERRORS)

    def _sweep_families(self, people: int, prior: Mapping[int, Success]) -> Measured:
        """Measure the subsets of more quasi-identifiers than a state has bits for."""
        work = FamilySweep(
            engine=self.engine.here,
            bound=self.bound,
            workspace=self.workspace,
            sizes=self.strategy.sizes,
            people=people,
            streams=self.streams,
            with_bins=self._has_bins,
            out_of_time=self._out_of_time,
        )
        memory = plan.size_text(self.engine.memory or plan.MOST_MEMORY)
        self.spec.tell(
            f"{plural(people, 'record')}, {plural(self.strategy.subsets, 'subset')} of "
            f"{plural(len(self.names), 'quasi-identifier')}: about "
            f"{words.duration(work.expected_seconds())} with {plural(self.streams, 'thread')}, "
            f"{memory} of memory at most"
        )
        self.finished = work.run()
        self.family_statements = work.history
        sums, bins = work.collect()
        names = numbered_names(self.names, self.strategy.sizes.range)
        frame = result.result_frame(sums, prior, names=names, secrets=self.secrets)
        if self.finished and frame["subset"].n_unique() != self.strategy.subsets:
            raise self.workspace.damage_error("some subset is missing")
        details = self._claims(bins, names)
        if self.spec.histogram:
            details["histogram"] = result.histograms(bins, self.secrets, names)
        if self.finished:
            work.drop_tables()
        return self._derive_answers(frame, details, samples.NO_ERRORS)

    @property
    def _counts_claims(self) -> bool:
        """Return whether to report how many people have a success of the threshold or more.

        This needs a histogram of the people by success in percent for each subset, which takes
        room, and is not made with weights, persons, suppressed records or samples.
        """
        microdata = self.bound.microdata
        has_histogram = not (
            microdata.weight is not None
            or microdata.person is not None
            or self.starred
            or self.strategy.share is not None
        )
        is_small = self.strategy.subsets <= remarks.MOST_WITH_CLAIMS
        return self.spec.threshold is not None and has_histogram and is_small

    @property
    def _has_bins(self) -> bool:
        """Return whether people are counted by their success in percent."""
        return self.spec.histogram or self._counts_claims

    @property
    def _leaves_out_suppressed(self) -> bool:
        """Return whether each subset leaves out the records that are * in all its attributes.

        They differ from subset to subset. So samples cannot; and with more attributes than bits
        each subset is attacked separately, if they are few enough.
        """
        is_possible = self.has_bits or self.strategy.subsets <= strategies.MOST_ATTACKS
        return self.starred and is_possible and self.strategy.share is None

    def _sweep_all(self, layouts: Sequence[Layout], prior: Mapping[int, Success]) -> Measured:
        """Measure all subsets together; tell before what that is expected to cost."""
        progress = self._resumed_progress(layouts)
        need = plan.expected_cost(progress, None if self.on_spark else self.engine.memory)
        self.spec.tell(
            f"{plural(layouts[0].people, 'record')}, {plural(self.strategy.subsets, 'subset')} of "
            f"{plural(len(self.names), 'quasi-identifier')}: about {need}"
        )
        names = [self.names[i] for i in layouts[0].order]
        if self.spec.explain:
            for line in progress.plan_lines(names):
                self.spec.tell(line)
        self._run_passes(layouts, progress)
        collected = self._collect()
        if self.finished and collected.subsets["subset"].n_unique() != self.strategy.subsets:
            raise self.workspace.damage_error("some subset is missing")
        frame, details, errors = self._result_tables(collected, layouts[0].people, prior)
        if self.strategy.staged:
            details["plan"] = progress.plan_table(names)
        measured = self._derive_answers(frame, details, errors)
        if self.finished:
            for data_pass in self.passes:
                data_pass.drop_tables()
        return measured

    def _search_borders(self, layouts: Sequence[Layout], prior: Mapping[int, Success]) -> Measured:
        """Return the borders of the threshold, and the subsets that the search measured."""
        self.spec.tell(
            f"{plural(layouts[0].people, 'record')}, "
            f"{plural(len(self.names), 'quasi-identifier')}: how many of the "
            f"{plural(self.strategy.subsets, 'subset')} are measured depends on the borders"
        )
        self._run_passes(layouts, self._resumed_progress(layouts))  # the coded tables alone
        details = {}
        if self.spec.threshold is not None:
            try:
                details["borders"] = BorderSearch(self.passes, prior, self.stars).borders(
                    self.spec.threshold, [None, *self.secrets], self.names
                )
            except OutOfTimeError:
                raise self._out_of_time_error("the search is not complete") from None
        frame, more, _ = self._result_tables(self._collect(), layouts[0].people, prior)
        details |= more
        frame, details = self._name_by_dataset(frame, details)
        if not self.spec.keep:  # else another threshold may need more subsets
            for data_pass in self.passes:
                data_pass.drop_tables()
        return Measured(frame=frame, details=details)

    def _derive_answers(
        self, frame: pl.DataFrame, details: Details, errors: pl.DataFrame
    ) -> Measured:
        """Return the measured rows (``frame``) and the answers that follow, added to ``details``.

        ``errors`` are the sampling errors of estimates. What each release adds, and what to coarsen
        first, need a finished sweep; the latter also exact numbers and the coded tables of passes.
        """
        if frame.is_empty():
            raise self._out_of_time_error("no subset is complete")
        notes: tuple[str, ...] = ()
        estimated = self.strategy.share is not None
        if estimated:
            frame = samples.with_errors(frame, errors, self.secrets)
            notes = (samples.note_on_estimates(frame),)
        frame, details = self._name_by_dataset(frame, details)
        details |= answers.answer_tables_by_reading(frame, self.names, self.spec.threshold)
        if self.spec.releases and self.finished:
            releases = self.bound.microdata.releases
            added = answers.release_contributions(frame, self.numbers, releases)
            details = {"releases": added} | details
        # The passes have the codes that merge in pairs; * and a value have none for both.
        may_coarsen = self.passes and self.finished and not self.starred and not estimated
        if may_coarsen and "drop_first" in details:
            details["coarsen_first"] = self._rank_coarsening(frame, details["drop_first"])
        return Measured(frame=frame, details=details, notes=notes)

    def _name_by_dataset(
        self, frame: pl.DataFrame, details: Details
    ) -> tuple[pl.DataFrame, Details]:
        """Return tables with the longitudinal models, if there are several datasets."""
        if self.bound.microdata.datasets == 1:
            return frame, details
        named = {
            name: answers.rename_longitudinal(table, self.numbers)
            for name, table in details.items()
        }
        return answers.rename_longitudinal(frame, self.numbers), named

    def _rank_coarsening(self, frame: pl.DataFrame, drop_first: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of ``COARSEN_FIRST``: the quasi-identifiers of each question in order."""
        by_all_qids = frame.filter(n_qids=len(self.names)).rows(named=True)  # a row per question
        rows: dict[int, list[dict[str, Any]]] = {}
        for data_pass in self.passes:
            with data_pass.open_workers() as workers:
                for question in data_pass.questions:
                    rows[question] = answers.coarsen_first(
                        data_pass.layout,
                        partial(data_pass.coarser_sums, workers, question),
                        by_all_qids[question],
                        drop_first,
                        self.names,
                    )
        ranked = [row for question in sorted(rows) for row in rows[question]]
        return pl.DataFrame(ranked, schema=answers.COARSEN_FIRST)

    def _result_tables(
        self, collected: Collected, people: int, prior: Mapping[int, Success]
    ) -> tuple[pl.DataFrame, Details, pl.DataFrame]:
        """Return the rows of a sweep, its histogram as a detail, and the errors of estimates."""
        subsets, errors = samples.estimate(collected.subsets, collected.parts, people)
        if self.stars is not None:  # records that are * in a whole subset are in no block of it
            attacks = SubsetAttacks(self.engine, self.bound, starred=True)
            subsets = self.stars.correct(subsets, attacks)
        names = result.names_by_bits(subsets["subset"], self.names)
        frame = result.result_frame(subsets, prior, names=names, secrets=self.secrets)
        frame = frame if self.stars is None else self.stars.with_numbers(frame)
        details: Details = {}
        if (bins := collected.histograms) is not None:
            details = self._claims(bins, names)  # there is no sample then, and no *
        if bins is not None and self.spec.histogram:
            bins = samples.scale_histograms(bins, collected.parts)
            bins = bins if self.stars is None else self.stars.correct_histograms(bins)
            details["histogram"] = result.histograms(bins, self.secrets, names)
        return frame, details, errors

    def _claims(self, bins: pl.DataFrame, names: pl.DataFrame) -> Details:
        """Return the claims (``SURE``) about people by percent of success, if they are asked for.

        ``names`` has the names in each subset.
        """
        if self.spec.threshold is None or not self._counts_claims:
            return {}
        return {"sure": result.sure(bins, self.secrets, names, self.spec.threshold)}

    def _run_passes(self, layouts: Sequence[Layout], progress: Progress) -> None:
        """Make the ``passes``, work until the time is over, and set whether all is ``finished``.

        A small sweep takes one stream.
        """
        work = max(layout.people << layout.n for layout in layouts)  # people times subsets
        streams = 1 if work < ALONE and not self.on_spark else self.streams
        self.passes = self._make_passes(layouts, progress, streams)
        if any(data_pass.compiled for data_pass in self.passes):
            of_chunks = kernel_choice.MEMORY_PER_CHUNK * streams
            self.engine.here.set_aside(kernel_choice.KERNEL_MEMORY + of_chunks)
        for data_pass in self.passes:
            data_pass.run()
        self.finished = all(data_pass.is_done for data_pass in self.passes)

    def _make_passes(
        self, layouts: Sequence[Layout], progress: Progress, streams: int
    ) -> list[Pass]:
        """Return the passes over the data with their layouts, here or on a cluster."""
        pass_class = Pass
        if self.on_spark:  # needs an extra
            from qifsql.commands.sweep.cluster import ClusterPass

            pass_class = ClusterPass
        return [
            pass_class(
                engine=self.engine,
                bound=self.bound,
                workspace=self.workspace,
                number=number,
                layout=layout,
                strategy=self.strategy,
                streams=streams,
                progress=progress,
                out_of_time=self._out_of_time,
                compiled=kernel_choice.uses_kernel(self.spec.walk, layout, self.engine.here.memory),
            )
            for number, layout in enumerate(layouts)
        ]

    def _resumed_progress(self, layouts: Sequence[Layout]) -> Progress:
        """Return the progress, with the tasks that earlier runs have stored in the workspace."""
        progress = Progress(layouts, self.streams, len(self.strategy.listed))
        for task, method, seconds in self.workspace.done_tasks():
            progress.count_done(task, seconds, method)
        progress.rows_done = 0  # rows per second are those of this run
        return progress

    def _out_of_time_error(self, what: str) -> InputError:
        """Return the error that the time is over; ``what`` says what is not complete."""
        place = self.spec.workspace or "memory"
        return InputError(
            f"{what} after {self.spec.time_budget:g} seconds; what is done is kept in {place}: run "
            "the same command again to resume, or give more time with --time-budget"
        )

    def _notes(self, measured: Measured) -> tuple[str, ...]:
        """Return the remarks on how the rows were measured, and on what is left out of them."""
        notes, frame = list(self.bound.microdata.notes), measured.frame
        if self.starred:
            notes.append(remarks.on_suppressed(frame, is_left_out=self._leaves_out_suppressed))
        if self.spec.threshold is not None and "sure" not in measured.details:
            notes.append(remarks.NO_CLAIMS)
        walks_compiled = [data_pass.compiled for data_pass in self.passes]
        if self.spec.walk == "compiled" and not all(walks_compiled):
            notes.append(kernel_choice.NOTE_ON_SQL)
        if any(walks_compiled) and not kernel_choice.is_cached():
            notes.append(kernel_choice.NOTE_ON_COMPILING)
        if self.bound.microdata.null == "drop":
            records, people = self.workspace.fact("records"), frame.select("records").max().item()
            if records != people:
                notes.append(remarks.on_missing(records, people))
        if not self.finished:
            notes.append(remarks.on_time(frame["subset"].n_unique(), self.strategy.subsets))
        return tuple(notes)

    def _identify(self) -> dict[str, Any]:
        """Return the data that distinguish this sweep from another one."""
        return {
            **identity_of_data(self.engine, self.attack, self.bound.microdata),
            **({"suppressed": True} if self._leaves_out_suppressed else {}),
            **self.strategy.identity,
            **({} if self.has_bits else {"histogram": self._has_bins}),
        }

    def _prepare_spreads(self) -> tuple[dict[int, Spread], dict[int, Spread]]:
        """Return the spreads of people over values: by quasi-identifier from 0, by secret from 1.

        They are stored in the workspace. If people are still to be coded, the data are loaded,
        and the dictionary of each column is written, which numbers its values.
        """
        stored = self.workspace.fact("spreads")
        passes = len(self.workspace.layouts())
        if stored and passes and all(map(self.workspace.is_coded, range(passes))):
            qids, secrets = map(_read_spreads, stored)
            return qids, secrets
        self.workspace.store_fact("records", check_records(self.engine, self.bound.microdata))
        if not self.on_spark:  # executors use the disks of their machines
            plan.check_disk(self.engine, self.bound, self.spec.workspace)
        self._load_csv()
        microdata = self.bound.microdata
        steps = microdata_steps.steps(microdata)  # rendered once for all dictionaries
        write = partial(make_dictionary, self.engine, microdata, steps=steps)
        qids = {i: write(f"qid_{i + 1}") for i in range(len(microdata.qids))}
        secrets = {j: write(f"secret_{j}") for j in range(1, len(microdata.secrets) + 1)}
        if not stored:
            plain = [{i: asdict(s) for i, s in part.items()} for part in (qids, secrets)]
            self.workspace.store_fact("spreads", plain)
        return qids, secrets

    def _load_csv(self) -> None:
        """Load data of CSV files in the engine, which would parse them again in each statement."""
        microdata = self.bound.microdata
        if microdata.dataset.format == "csv":
            loaded = self.engine.load(microdata.dataset)
            self.bound = self.bound.on(replace(microdata, dataset=loaded))

    def _out_of_time(self) -> bool:
        budget = self.spec.time_budget
        return budget is not None and time.monotonic() - self.began > budget

    def _collect(self) -> Collected:
        """Return the results of the subsets that have answers so far."""
        layouts = {data_pass.number: data_pass.layout for data_pass in self.passes}
        answered = self.strategy.answered(self.workspace, layouts)
        collected: list[Collected] = []

        def work(stream: Stream) -> None:
            collected.append(collect(stream, self.passes, answered, histograms=self._has_bins))

        streams = self.workspace.open_streams(1)  # one that is prepared already
        self.engine.here.together(streams, work, self.passes[0].report_progress)
        return collected[0]


def _read_spreads(stored: Mapping[str, Mapping[str, Any]]) -> dict[int, Spread]:
    """Return stored spreads by the number of their attribute, which is a text in the workspace."""
    return {int(number): Spread(**fields) for number, fields in stored.items()}
