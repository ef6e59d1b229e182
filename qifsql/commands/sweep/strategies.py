"""The kinds of sweeps: of all subsets, of those in a list, for a border, from a sample.

A ``Strategy`` knows all in which the kinds differ.

Weights are no small counts that can be packed, and people with the same values may have different
weights. So a sweep with weights attacks its subsets one by one, with the plans of an attack
(``attack_each``), if it can list them. A sweep does the same if the codes of the quasi-identifiers
need more bits than it has, or if people have several records: a person is then known by a multiset,
which differs from subset to subset.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import polars as pl

from qifsql.adversary.names import subset
from qifsql.adversary.spec import BoundAttack, Microdata
from qifsql.commands.sweep import spec
from qifsql.commands.sweep.answers import release_subsets
from qifsql.commands.sweep.layout import MOST_QIDS, Layout
from qifsql.commands.sweep.plan import Task
from qifsql.commands.sweep.result import HISTOGRAMS, SUPPRESSED, SWEPT, UNREPORTED
from qifsql.commands.sweep.spec import Sizes, SweepSpec
from qifsql.commands.sweep.tables import Tables
from qifsql.commands.sweep.worker import Worker
from qifsql.commands.sweep.workspace import Workspace
from qifsql.counting import known_records, suppressed
from qifsql.counting.counts import Counts
from qifsql.engine.protocol import Engine
from qifsql.errors import InputError
from qifsql.measures import bayes
from qifsql.measures.bayes import success
from qifsql.measures.profile import Profile
from qifsql.query import compiler
from qifsql.query.microdata_steps import complete
from qifsql.query.steps import Steps
from qifsql.results.assessment import PEOPLE

MOST_SUBSETS = 2**24  # of a sweep
MOST_ATTACKS = 2**16  # subsets that are attacked one by one


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The subsets that have answers: those that begin with an attribute in ``first`` (bits).

    ``subsets`` is their number by pass.
    """

    first: int
    subsets: Mapping[int, int]


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """The subsets of a sweep, and how they are settled.

    Subsets of some ``sizes`` are settled in stages, one for each attribute that they begin with; of
    large tables a ``share`` of the blocks is drawn by ``seed``, if it is given. Subsets that are
    ``listed`` are settled one by one, and so are those that a search asks for (``searched``).
    """

    sizes: Sizes
    listed: Sequence[int] = ()
    searched: bool = False
    share: float | None = None
    seed: int | None = None

    @property
    def staged(self) -> bool:
        """Return whether subsets are settled in stages, so that there is a plan of them."""
        return not self.listed and not self.searched

    @property
    def subsets(self) -> int:
        """Return the number of subsets; of a search, the largest possible number."""
        return len(self.listed) or self.sizes.subsets

    @property
    def every_subset(self) -> bool:
        """Return whether all subsets are measured."""
        return self.staged and self.sizes.every_subset

    @property
    def identity(self) -> dict[str, Any]:
        """Return what distinguishes the subsets from those of another sweep."""
        return {
            "sizes": [self.sizes.least, self.sizes.greatest],
            "subsets": list(self.listed),
            "search": self.searched,
            "sample": [self.share, self.seed],
        }

    def numbers(self) -> list[int]:
        """Return the subsets, smaller ones first: bit i stands for the i-th quasi-identifier."""
        if self.searched:  # each subset is attacked, as weights need
            raise InputError(
                "a search takes no weights; leave one of them out, or limit with --sizes"
            )
        return sorted(self.listed, key=int.bit_count) or list(self.sizes.numbers())

    def begin(self, tables: Tables, worker: Worker) -> None:
        """Store the first tasks of a pass."""
        if not self.listed:
            tables.add_table(worker, tables.first_table, position=0, state=0)
            return
        # A task for each subset; bit i of a listed one is the i-th quasi-identifier.
        order = tables.layout.order
        subsets = [sum(1 << p for p, i in enumerate(order) if s >> i & 1) for s in self.listed]
        tables.workspace.add_tasks(worker.stream, tables.subset_tasks(subsets))

    def settle(self, tables: Tables, worker: Worker, walk: Task) -> list[Task]:
        """Return the tasks for the subsets with a table's first attribute, from a walk of it."""
        if not self.staged:  # each subset has its own task
            return []
        if self.share is not None:
            sampled = tables.sample_tasks(worker, walk, self.share, self.seed or 0)
            if sampled:  # not every table is worth a sample
                return sampled
        return tables.walk_tasks(worker, walk)

    def answered(self, workspace: Workspace, layouts: Mapping[int, Layout]) -> Answered:
        """Return the subsets that have answers; ``layouts`` are those of the passes by number.

        In stages these are the subsets that begin with an attribute that all passes have finished.
        """
        all_attributes = -1  # as bits by position
        if not self.staged:  # each subset is answered by a task of its own in each pass
            subsets_of_pass: dict[int, set[int]] = {number: set() for number in layouts}
            for task, _method, _seconds in workspace.done_tasks():
                if task.kind == "group":
                    subsets_of_pass[task.number_of_pass].add(task.state)
            counts = {number: len(subsets) for number, subsets in subsets_of_pass.items()}
            return Answered(first=all_attributes, subsets=counts)
        first = all_attributes
        for number, layout in layouts.items():
            first &= workspace.finished_attributes(number, layout.n)
        # Subsets that begin with one of these: all sets of the attributes after it, by size.
        n = self.sizes.n
        later = [n - 1 - position for position in range(n) if first >> position & 1]
        subsets = sum(comb(after, size - 1) for after in later for size in self.sizes.range)
        return Answered(first=first, subsets=dict.fromkeys(layouts, subsets))


def strategy_for(microdata: Microdata, request: SweepSpec, seed: int | None = None) -> Strategy:
    """Return the strategy for the requested subsets of the quasi-identifiers of an attack."""
    numbers = [q.number for q in microdata.qids]
    if len(numbers) > MOST_QIDS and microdata.datasets > 1:
        raise InputError(
            f"a sweep of several releases takes {MOST_QIDS} quasi-identifiers at most, not "
            f"{len(numbers)}; name fewer"
        )
    releases = release_subsets(numbers, microdata.datasets) if request.releases else ()
    return choose_strategy(request, [q.name for q in microdata.qids], releases=releases, seed=seed)


def choose_strategy(
    request: SweepSpec,
    names: Sequence[str],
    *,
    releases: Sequence[int] = (),
    seed: int | None = None,
) -> Strategy:
    """Return the strategy for the requested subsets of the quasi-identifiers ``names``.

    ``releases`` are subsets as numbers that replace those of the list. Raises InputError if options
    are invalid together or there are too many subsets.
    """
    n, share, listed = len(names), request.sample, releases or request.subsets
    _check_together(request, n, listed=bool(listed))
    if request.search:
        return Strategy(sizes=Sizes(n, 1, n), searched=True)
    if listed:
        subsets = {s if isinstance(s, int) else subset(s, names) for s in listed}
        counts = [s.bit_count() for s in subsets]
        return Strategy(sizes=Sizes(n, min(counts), max(counts)), listed=sorted(subsets))
    sizes = spec.parse_sizes(request.sizes, n)
    if sizes.subsets > MOST_SUBSETS:
        number = f"2^{n}" if sizes.every_subset else f"{sizes.subsets:,}"
        advice = "with --sizes 1-2, or name fewer"
        if n <= MOST_QIDS:
            advice = "with --sizes 1-4, look for risky ones with --search, or name fewer"
        raise InputError(
            f"{n} quasi-identifiers have {number} subsets, more than a sweep visits: limit them "
            + advice
        )
    return Strategy(sizes=sizes, share=share, seed=None if share is None else seed)


def _check_together(request: SweepSpec, n: int, *, listed: bool) -> None:
    """Refuse options that choose subsets in two ways, or do not fit ``n`` quasi-identifiers.

    ``listed``: the request has a list of subsets.
    """
    share = request.sample
    if share is not None and not 0 < share < 1:
        raise InputError("a sample is a share of the blocks, above 0 and below 1, such as 0.01")
    if share and (request.search or listed):
        raise InputError("a sample is for sweeps of all subsets or sizes; leave one of them out")
    if n > MOST_QIDS and (request.search or share):
        raise InputError(
            f"a search and a sample take {MOST_QIDS} quasi-identifiers at most, not {n}; name "
            "fewer, or limit the subsets with --sizes 1-2"
        )
    if request.search and (request.sizes or listed):
        raise InputError("a search visits no given subsets; leave sizes and subsets out")
    if listed and request.sizes:
        raise InputError("sizes and a list of subsets exclude each other; leave one out")


def attack_each(
    attacks: "SubsetAttacks",
    strategy: Strategy,
    workspace: Workspace,
    *,
    histogram: bool,
    out_of_time: Callable[[], bool],
) -> tuple[pl.DataFrame, pl.DataFrame | None, bool]:
    """Attack with one subset after another, until all are done or the time is over.

    Return the rows of a sweep (``SWEPT``), the histograms or None, and whether all are done. The
    workspace stores each subset as soon as it is done.
    """
    subsets = strategy.numbers()
    has_bits = strategy.sizes.n <= MOST_QIDS  # otherwise subsets are numbered in this order
    answers: list[dict[str, Any]] = []
    for place, mask in enumerate(subsets, 1):
        answer: dict[str, Any] | None = workspace.fact(f"subset {mask}")  # of an earlier run
        if answer is None or (histogram and answer["histogram"] is None):  # not measured as wanted
            if out_of_time():
                break
            answer = attacks.measure(mask, mask if has_bits else place, histogram=histogram)
            workspace.store_fact(f"subset {mask}", answer)
        answers.append(answer)
        attacks.engine.settings.progress("sweeping", len(answers) / strategy.subsets)
    rows = [row for answer in answers for row in answer["rows"]]
    bins = [row for answer in answers for row in answer["histogram"] or []]
    histograms = pl.DataFrame(bins, schema=HISTOGRAMS) if histogram else None
    return pl.DataFrame(rows, schema=attacks.schema), histograms, len(answers) == len(subsets)


class SubsetAttacks:
    """Attacks with one subset after another on the same people, by the plans of an attack.

    ``starred``: the release has suppressed cells. The records that are suppressed in a whole subset
    are then in no block, and are counted (``SUPPRESSED``). ``prior`` has by question the profile of
    everybody in one block.
    """

    def __init__(self, engine: Engine, bound: BoundAttack, *, starred: bool) -> None:
        """Count everybody; people with a missing attribute are in no row."""
        self.engine, self.starred = engine, starred
        self.bound = bound.on(complete(bound.microdata))
        self.secrets = [secret.name for secret in self.bound.microdata.secrets]
        self.prior = self._profiles(self.bound, prior=True)

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """Return the columns of the rows."""
        has_people = self.bound.microdata.person is not None
        further = (PEOPLE | UNREPORTED if has_people else {}) | (SUPPRESSED if self.starred else {})
        return SWEPT | further

    def measure(self, mask: int, number: int, *, histogram: bool = False) -> dict[str, Any]:
        """Attack with one subset (bits ``mask``); return its ``rows``, its ``histogram`` or None.

        ``number`` becomes the column ``subset``.
        """
        qids_of_subset = tuple(q for i, q in enumerate(self.bound.microdata.qids) if mask >> i & 1)
        attack = self.bound.on(replace(self.bound.microdata, qids=qids_of_subset))
        attack = suppressed.marked(self.engine, attack) if self.starred else attack
        microdata = attack.microdata
        has_people = microdata.person is not None
        rows = self._rows_of_people(attack) if has_people else self._rows_of_records(attack)
        for row in rows:
            row["subset"] = number
            if self.starred:
                row["suppressed"] = microdata.suppressed
        if not histogram:
            return {"rows": rows, "histogram": None}
        plan = compiler.step_plan(Steps(attack), "histogram", compiler.questions(attack))
        counted = self.engine.frame(plan, "sweeping", microdata.dataset.name)
        of_subset = {"qids": [q.name for q in microdata.qids], "subset": number}
        bins = [  # a row per question and percent of success
            self._question_columns(row["secret"])
            | {"bin": row["bin"], "individuals": row["individuals"]}
            | of_subset
            for row in counted.sort("secret", "bin").to_dicts()
        ]
        return {"rows": rows, "histogram": bins}

    def _profiles(self, attack: BoundAttack, *, prior: bool) -> dict[int, Profile]:
        """Return the profile of each question by the number of its secret, 0 for re-identification.

        ``prior``: everybody is in one block.
        """
        plan = compiler.profile_plan(Steps(attack), compiler.questions(attack), prior=prior)
        frame = self.engine.frame(plan, "sweeping", attack.microdata.dataset.name)
        make = Profile.of_weights if attack.microdata.weight is not None else Profile.of_counts
        by_secret = frame.group_by("secret", maintain_order=True)  # without people there is no size
        return {int(j): make(part.drop_nulls("size")) for (j,), part in by_secret}

    def _rows_of_records(self, attack: BoundAttack) -> list[dict[str, Any]]:
        """Return the rows of one subset, one for each question."""
        if attack.microdata.suppressed:  # ``Counts`` leaves suppressed records out of the blocks
            counts = Counts(self.engine, attack)
            counted = counts.profiles(compiler.questions(attack), prior=False)
            profiles = {secret: profile for (secret, _gain), profile in counted.items()}
            counts.forget()
        else:
            profiles = self._profiles(attack, prior=False)
        return [self._row(attack, j, profiles[j]) for j in sorted(profiles)]

    def _rows_of_people(self, attack: BoundAttack) -> list[dict[str, Any]]:
        """Return the rows of one subset if people have several records.

        Each question has two rows, ``known_records``: of an adversary who knows all records of a
        person, and of one who knows one of them.
        """
        questions = compiler.questions(attack)
        counts = Counts(self.engine, attack)
        profiles = counts.profiles(questions, prior=False)
        # By secret: the people in blocks without a record that reports it: it is surely missing.
        with_secret = [question for question in questions if question[0]]
        missing = counts.frame("people_unreported", with_secret).to_dicts() if with_secret else []
        unreported = {row["secret"]: row["people"] for row in missing}
        by_one_record = known_records.measure(counts, questions)
        rows = []
        for (j, _gain), profile in sorted(profiles.items()):
            row = self._row(attack, j, profile)
            row |= {"people": profile.individuals, "records": counts.records}
            levels = {"k": row["k"], "l": row["l"]}
            known_one = by_one_record[j].columns(self.prior[j], j, levels)
            rows.append(row | {"known_records": "all", "certain_missing": unreported.get(j)})
            rows.append(row | known_one)
        return rows

    def _row(self, attack: BoundAttack, j: int, profile: Profile) -> dict[str, Any]:
        """Return the row of a subset for the ``j``-th secret, or 0: re-identification.

        ``profile`` is that of its blocks.
        """
        identity = 0  # the number of the gain function
        return {
            **self._question_columns(j),
            "datasets": 1,
            "n_qids": len(attack.microdata.qids),
            "qids": [q.name for q in attack.microdata.qids],
            "records": profile.individuals,
            "blocks": profile.blocks,
            "singled_out": profile.singled_out,
            **bayes.row(success(self.prior[j], j, identity), success(profile, j, identity)),
            "seconds": 0.0,
            "k": profile.frame["size"].min(),
            "l": profile.frame["values"].min() if j else None,
        }

    def _question_columns(self, j: int) -> dict[str, Any]:
        """Return the columns that say what a row is about: the ``j``-th secret, or 0."""
        return {"model": "CAS" if j else "CRS", "secret": self.secrets[j - 1] if j else None}
