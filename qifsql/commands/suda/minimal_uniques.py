"""The minimal sample uniques of all records: coded, found, compared and counted in the engine."""

import math
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.commands.suda.spec import MOST_QIDS
from qifsql.commands.suda.unique_families import MOST_SUBSETS, UniqueFamilies, expected, too_many
from qifsql.commands.suda.unique_walk import Chunk, Walker, coded_name
from qifsql.counting import suppressed
from qifsql.counting.packing import WIDE_BITS, Packing
from qifsql.counting.scales import make_dictionary, own_name, own_table
from qifsql.counting.stream_session import opened_streams
from qifsql.counting.subset_families import members
from qifsql.engine.connections import Stream
from qifsql.engine.progress import Meter, silent
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import FREED_LATE
from qifsql.engine.tables import Tables
from qifsql.errors import EngineError, InputError, Interrupted, plural
from qifsql.presentation import words
from qifsql.query import microdata_steps, suppression
from qifsql.query.columns import double, number, typed_number, without_rows
from qifsql.query.plan import Plan, Step
from qifsql.query.shapes import Shape
from qifsql.query.splice import make_step, splice

CHUNK_ROWS = 250_000  # rows of a chunk, which stay in the cache of a core
MANY_QIDS = 12  # with more quasi-identifiers, a walk makes so many rows that chunks are smaller
COMPARED_SUBSETS = 1_500_000  # subsets that are compared at a time, about
FIXED_MEMORY, MEMORY_PER_STREAM = 120 * 2**20, 130 * 2**20  # bytes of memory that are needed
DISK_PER_RECORD = 400  # bytes of disk for each record, about
STAGES = 3  # coding, walking, comparing


class Task(NamedTuple):
    """A task of one stream, and about what it costs in proportion to others."""

    cost: float
    run: Callable[[Walker], None]


@dataclass(frozen=True)
class Totals:
    """Numbers of records: all, those alone by all quasi-identifiers, those in blocks of two.

    With a person they are people, who count by the smallest of their blocks, and ``records`` are
    theirs. ``last`` is the largest number by which a record or person is known.
    """

    individuals: int
    uniques: int
    paired: int
    last: int
    records: int = 0


class Band(NamedTuple):
    """Records whose DIS-SUDA rounds to the same percent: their sum in parts of 2^-60, the most."""

    percent: int
    records: int
    total: int
    highest: float


@dataclass
class MinimalUniques:
    """The tables of minimal sample uniques in the engine.

    ``size_limit`` is the size of the largest subset, ``scores`` the score of a subset by its size.
    ``omit_missing``: subsets with a missing value of the record are left out. ``values``: values
    are counted, too. ``mark_missing``: records have a mark for each value that they miss.
    ``everyone`` are the records that groups count, if others than ``microdata``.

    With a person in ``microdata``, of whom one record is known, the number of a record is that of
    its person. Suppressed records of ``microdata`` are in no table but ``individuals``, unless all
    are suppressed. Nobody is alone by quasi-identifiers that are all * in the record: ``stars`` has
    the codes of * by position, if there are any. ``history`` are the statements of the streams.
    """

    engine: LocalEngine
    microdata: Microdata
    size_limit: int
    scores: Sequence[int]
    omit_missing: bool
    values: bool
    mark_missing: bool = False
    everyone: Microdata | None = None
    tell: Callable[[str], None] = silent
    history: dict[str, None] = field(default_factory=dict)
    stars: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.where = self.microdata.dataset.name
        self.meter = Meter("finding minimal sample uniques", self.engine.settings.progress)
        self.tables = Tables(self.engine, "coding records", self.where)

    def find(self) -> Totals:
        """Find all minimal sample uniques; return the totals of the records.

        The uniques are then in the tables of ``EMPTY``: scores of records, counts of subsets and of
        values. First the values of each record are packed into numbers (the table ``numbered``,
        then ``coded_*``, each with one attribute fewer). Then several connections (streams) walk
        through subsets of attributes in parallel, and note which single out a record. Last, they
        compare the subsets of each record, and keep the minimal ones. With many attributes, all
        subsets of a size are searched at a time instead (``_find_in_families``).
        """
        streams = self._count_streams()
        self.engine.set_aside(FREED_LATE)  # a lower limit: DuckDB frees some memory late
        people = self._number_people() if self.by_person else None
        self._prepare_packing(people)
        if self.in_families:
            return self._find_in_families(streams)
        self.tables.make("numbered", self._numbered(people))  # each record with its codes
        (row,) = self.tables.answer(self._query("totals"))
        totals = Totals(*map(int, row))
        individuals, _ = self.count_individuals(totals.individuals)
        if individuals == 1:  # any set singles out the only person, also one of suppressed cells
            self.stars = []
        self._make_coded()
        for name, columns in EMPTY.items():
            self.tables.make(name, without_rows(columns))
        self._walk_and_compare(streams, totals.last)
        return totals

    def _walk_and_compare(self, streams: int, last_record: int) -> None:
        """Fill the tables of ``EMPTY`` from the coded records, in so many streams.

        The walk fills ``candidates``: pairs of a record and a subset that singles it out. The
        comparison counts those that contain no other subset of the same record.
        """
        with opened_streams(self.engine, streams, self.where) as opened:
            walkers = [Walker(stream, self.packing, self.size_limit) for stream in opened]
            self._work(walkers, 1, "walking", self._chunks())
            for position in range(self.packing.n):
                self.tables.drop(coded_name(position))
            if self.by_person:  # several records of a person may be alone by the same subset
                self.tables.repeatable("candidates", self._query("noted"))()
            self._work(walkers, 2, "comparing", self._comparisons(last_record))
        self.tables.drop("candidates")
        self.tables.statements += list(self.history)

    def _prepare_packing(self, people: Step | None) -> None:
        """Write the dictionaries, which number the values; set ``packing`` and ``stars``.

        ``people`` is the step of the records of people; None: records are counted. Refuses data
        whose tables do not fit on the disk.
        """
        steps = [people] if people else None  # None: those of the records
        spreads = [
            make_dictionary(self.engine, self.microdata, f"qid_{i}", steps)
            for i, _ in enumerate(self.microdata.qids, 1)
        ]
        star_codes = [self._star_code(i) for i, _ in enumerate(spreads, 1)]
        has_stars = set(star_codes) != {None}
        if has_stars:  # one code more, for a * that is none of the values
            spreads = [replace(spread, values=spread.values + 1) for spread in spreads]
        order = Packing.order_of(spreads)
        self.packing = Packing(order, tuple(spreads[i].values for i in order))
        if has_stars:
            codes = [  # the last code stands for * where it is none of the values
                spread.values - 1 if code is None else code
                for code, spread in zip(star_codes, spreads, strict=True)
            ]
            self.stars = [codes[i] for i in self.packing.order]
        self._records = spreads[0].people  # any quasi-identifier counts everybody
        self._check_disk()

    def _star_code(self, i: int) -> int | None:
        """Return the code of * among the values of quasi-identifier ``i``, None without one."""
        qid = self.microdata.qids[i - 1]
        is_star = suppressed.of_cell(self.microdata, qid, exp.column("value"))
        if is_star is None:
            return None
        query = exp.select("code").from_(own_table(f"dictionary_qid_{i}")).where(is_star)
        return next((int(code) for (code,) in self.tables.rows(query)), None)

    @property
    def n(self) -> int:
        """Return the number of quasi-identifiers."""
        return len(self.microdata.qids)

    @property
    def in_families(self) -> bool:
        """Return whether they are so many, or have so many values, that codes fit in no number."""
        return self.n > MOST_QIDS or self.packing.width > WIDE_BITS

    def _find_in_families(self, streams: int) -> Totals:
        """Find minimal sample uniques of many quasi-identifiers, one size of subsets after another.

        Fills the tables ``scores`` and ``set_counts``; return the totals. Refuses what only the
        walk can do, and too many subsets.
        """
        needs_walk = {
            "a person": self.by_person,
            "missing values left out": self.omit_missing,
            "values": self.values,
            "match-any": self.mark_missing,
            "suppressed cells (*)": bool(self.stars),
        }
        for name, is_asked in needs_walk.items():
            if is_asked:
                raise InputError(
                    f"{plural(self.n, 'quasi-identifier')} of {self.where} are not searched with "
                    f"{name}; leave that out, or name at most {MOST_QIDS} of few values"
                )
        subsets, seconds = expected(self.n, self.size_limit, self._records, streams)
        # The scores of a record that every attribute singles out are added in 64 bits.
        if subsets > MOST_SUBSETS or self.n * self.scores[0] >= 2**63:
            raise InputError(too_many(self.n, subsets, self.size_limit))
        self.tell(
            f"{plural(self._records, 'record')}, {plural(subsets, 'subset')} of "
            f"{plural(self.n, 'quasi-identifier')}: about {words.duration(seconds)} with "
            f"{plural(streams, 'thread')}"
        )
        for name in ("scores", "set_counts"):
            self.tables.make(name, without_rows(EMPTY[name]))
        search = UniqueFamilies(
            self.engine,
            self.microdata,
            self.tables,
            self.size_limit,
            self.scores,
            streams,
            self.meter,
        )
        totals = Totals(*search.code())
        search.find(totals.individuals)
        return totals

    def named_sets(self, names: Sequence[str]) -> pl.DataFrame:
        """Return a row per set with minimal sample uniques: ``qids``, ``size`` and ``msus``."""
        counts = pl.DataFrame(self.rows("sets"), schema=SETS, orient="row")
        members_of = self.packing.members  # a subset is a set of bits
        if self.in_families:  # a subset is its number among those of these sizes
            members_of = partial(members, n=len(names), sizes=range(1, self.size_limit + 1))
        qids = [[names[i] for i in members_of(subset)] for subset in counts["taken"]]
        counts = counts.with_columns(pl.Series("qids", qids, pl.List(pl.String)))
        return counts.select("qids", pl.col("qids").list.len().cast(pl.Int64).alias("size"), "msus")

    @property
    def by_person(self) -> bool:
        """Return whether people are counted, who may have several records."""
        return self.microdata.person is not None

    def count_individuals(self, in_tables: int) -> tuple[int, int]:
        """Return the number of individuals, and that of their records, also of suppressed ones.

        Without a person, individuals are records: ``in_tables`` of them are in the tables, and the
        suppressed ones are added, which ``microdata`` leaves out.
        """
        if not self.by_person:
            if self.everyone is not None and not self.microdata.suppressed:
                in_tables += self.everyone.suppressed
            return in_tables, in_tables
        query = exp.select("max(record)", "sum(alike)")  # alike: equal records of a person
        ((people, records),) = self.tables.rows(query.from_(own_table("individuals")))
        return int(people), int(records)

    def drop(self) -> None:
        """Drop all tables, so that others of these names can be made."""
        dictionaries = [f"dictionary_qid_{i}" for i, _ in enumerate(self.microdata.qids, 1)]
        for name in ("numbered", *EMPTY, *dictionaries):
            if name != "candidates":  # dropped before
                self.tables.drop(name)

    def rows(self, view: str, **tables: str) -> list[tuple[Any, ...]]:
        """Return the rows of a view over the tables of scores and counts."""
        return self.tables.answer(self._query(view, **tables))

    def sum_of_powers(self, exponent: float) -> int:
        """Return the sum of score^-exponent over the records, in parts of 2^-80."""
        row = {"asked": {"exponent": double(exponent)}}
        query = splice("suda/powers", tables={"scores": own_name("scores")}, rows=row)
        ((powers,),) = self.tables.answer(query)
        return int(powers)

    def chances(self, parameters: Mapping[str, float]) -> list[Band]:
        """Return the records with a score by their DIS-SUDA."""
        plan = Plan((self.chance_step(parameters),), splice("suda/chances"))
        return [Band(*row) for row in self.tables.answer(plan)]

    def chance_step(self, parameters: Mapping[str, float]) -> Step:
        """Return the step of the DIS-SUDA of each record, by its odds, exponent and powers."""
        row = {"asked": {name: double(value) for name, value in parameters.items()}}
        return make_step("suda/chance_of", tables={"scores": own_name("scores")}, rows=row)

    def value_rows(self, i: int) -> list[tuple[Any, ...]]:
        """Return a row per value: value, records, those with an MSU, MSUs, sum of their scores."""
        name = own_name(f"dictionary_qid_{i + 1}")
        tables = {"dictionary": name, "value_counts": own_name("value_counts")}
        numbers = {"wanted": 1 << self.packing.order.index(i)}
        return self.tables.answer(splice("suda/value_sums", tables=tables, numbers=numbers))

    def group_rows(self) -> list[tuple[Any, ...]]:
        """Return a row per group: group, records, those with an MSU, MSUs, sum of their scores."""
        if self.microdata.by is None:
            return []
        counted = self.everyone or self.microdata
        attributes = (*counted.qids, self.microdata.by)  # the last one is the group
        # ``members`` has the group of each record, by the number that it has in ``scores``, too.
        everybody = microdata_steps.everybody(replace(counted, qids=attributes))
        member = exp.cast(exp.column(f"qid_{len(attributes)}"), "VARCHAR")
        query = exp.select("record", exp.alias_(member, "member")).from_("everybody")
        self.tables.make("members", microdata_steps.plan(self.microdata, [everybody], query))
        return self.tables.answer(self._query("group_sums"))

    def _number_people(self) -> Step:
        """Create the table of people and their different records; return the step that reads it."""
        steps = microdata_steps.steps(self.microdata)
        query = splice("suda/individuals", width=len(self.microdata.qids))
        self.tables.make("individuals", microdata_steps.plan(self.microdata, steps, query))
        rows = exp.select("*").from_(own_table("individuals"))
        if self.microdata.suppressed:
            condition = exp.not_(exp.paren(suppression.is_hidden(self.microdata)))
            if self.tables.rows(rows.where(condition).limit(1)):  # not all are suppressed
                rows = rows.where(condition)
        return Step("microdata", "One row per person and different record of hers.", rows)

    def _numbered(self, people: Step | None) -> Plan:
        """Return the plan of a row per record: its number, its codes, a bit per missing value."""
        packing = self.packing
        tables = {f"of_{i}": own_name(f"dictionary_qid_{i}") for i in range(1, packing.n + 1)}
        query = splice(
            "suda/numbered_records",
            tables=tables | ({"everybody": "microdata"} if self.by_person else {}),
            shape={
                "order": [i + 1 for i in packing.order],
                "shifts": [packing.shift(p) for p in range(packing.n)],
                "wide": packing.rest_bits == WIDE_BITS,
                "missing": self.omit_missing or self.mark_missing,
            },
        )
        # ``people``: a record per person, where a person has several.
        steps = [people or microdata_steps.everybody(self.microdata)]
        return microdata_steps.plan(self.microdata, steps, query)

    def _make_coded(self) -> None:
        """Create the coded tables: ``coded_p`` has the quasi-identifiers from position p on.

        A row is a different record: ``entry``, the code of the first of them, and ``rest``, the
        codes of the others packed into one number. Each table is made from the one before it.
        """
        packing = self.packing
        shape: dict[str, Shape] = {
            "stars": self.stars,
            "shifts": [packing.shift(p) for p in range(packing.n)],  # bits below each code
            "wide": packing.rest_bits == WIDE_BITS,
        }
        tables = {"numbered": own_name("numbered")}
        self.tables.make(coded_name(0), splice("suda/first_coded", tables=tables, shape=shape))
        for position in range(1, packing.n):
            later = typed_number(packing.later(position), packing.rest_type)  # bits of the new rest
            query = splice(
                "suda/next_coded",
                tables={"coded": own_name(coded_name(position - 1))},
                rows={"asked": {"shift": number(packing.shift(position)), "later": later}},
            )
            self.tables.make(coded_name(position), query)

    def _chunks(self) -> list[Task]:
        """Return the walks of all chunks with their costs, the most expensive first."""
        halvings = max(0, self.packing.n - MANY_QIDS) // 2  # once for two more of them
        row_limit = CHUNK_ROWS >> halvings
        tasks: list[Task] = []
        for position in range(self.packing.n):
            coded = {"coded": own_name(coded_name(position))}
            ranges = splice("suda/ranges", tables=coded, numbers={"wanted_rows": row_limit})
            for least, greatest, rows in self.tables.rows(ranges):  # codes of the first attribute
                chunk = Chunk(position=position, least=least, greatest=greatest)
                cost = rows * float(self.packing.n - position)
                tasks.append(Task(cost, partial(Walker.walk, chunk=chunk)))
        return sorted(tasks, key=lambda task: -task.cost)

    def _comparisons(self, last: int) -> list[Task]:
        """Return tasks that compare the subsets of the records up to number ``last``, by ranges."""
        ranges = max(1, math.ceil(self.tables.count("candidates") / COMPARED_SUBSETS))
        ends = [-1, *(last * i // ranges for i in range(1, ranges + 1))]  # last records
        return [
            Task(1.0, partial(self._compare, least=end + 1, greatest=next_end))
            for end, next_end in pairwise(ends)
        ]

    def _compare(self, walker: Walker, *, least: int, greatest: int) -> None:
        """Count the minimal candidates of the records from ``least`` to ``greatest``.

        Adds rows to ``scores`` (by record) and ``set_counts`` (by subset); with ``values`` also to
        ``value_counts``, by value of each quasi-identifier that a minimal subset takes.
        """
        walker.set(least=(least, "BIGINT"), greatest=(greatest, "BIGINT"))
        walker.set_lists(scores=self.scores)
        walker.make_table("minimal", "minimal")
        if self.omit_missing:  # without the subsets that have a missing value of the record
            walker.make_table("present", "present")
        table = {"minimal": "present"} if self.omit_missing else {}
        walker.add("scores", "scored", **table)
        walker.add("set_counts", "counted_sets", **table)
        if not self.values:
            return
        walker.make_table("placed", "placed", **table)  # the uniques with the codes of the record
        walker.set(bit=(1, "BIGINT"))
        walker.add("value_counts", "entry_values")
        for position in range(1, self.packing.n):
            walker.set(
                bit=(1 << position, "BIGINT"),
                field=(self.packing.field(position), self.packing.rest_type),
                shift=(self.packing.shift(position), "INTEGER"),
            )
            walker.add("value_counts", "rest_values")

    def _work(
        self, walkers: Sequence[Walker], stage: int, what: str, tasks: Sequence[Task]
    ) -> None:
        """Let every stream take task after task; the progress bar shows ``what`` in a ``stage``."""
        waiting = iter(tasks)
        finished: list[float] = []  # the costs of finished tasks
        total = sum(task.cost for task in tasks) or 1.0
        lock = threading.Lock()
        by_stream = {walker.stream: walker for walker in walkers}
        self.meter.begin(stage, STAGES, what)

        def take() -> Task | None:
            with lock:
                return next(waiting, None)

        def work(stream: Stream) -> None:
            """Do waiting tasks as one of the streams."""
            while (task := take()) is not None:
                if stream.interrupted.is_set():
                    raise Interrupted("interrupted")
                task.run(by_stream[stream])
                finished.append(task.cost)

        def show_progress() -> None:
            self.meter.inside(sum(finished) / total, what)
            self.meter.show()

        self.engine.together(list(by_stream), work, show_progress)
        for walker in walkers:
            self.history.update(dict.fromkeys(walker.history))

    def _count_streams(self) -> int:
        """Return how many streams memory allows; EngineError if it allows none."""
        limit = self.engine.memory
        streams = (limit - FIXED_MEMORY) // MEMORY_PER_STREAM
        if streams < 1:
            need = _size(FIXED_MEMORY + MEMORY_PER_STREAM)
            raise EngineError(
                f"suda needs {need} of memory at least; the limit is {_size(limit)}: give more "
                "with --memory"
            )
        return min(self.engine.threads, streams)

    def _check_disk(self) -> None:
        """Refuse data whose tables fit neither in memory nor on the disk."""
        need = self._records * DISK_PER_RECORD - self.engine.memory
        free = shutil.disk_usage(self.engine.scratch).free
        if need > free:
            raise EngineError(
                f"suda of {plural(self._records, 'record')} needs about {_size(need)} of disk, and "
                f"the folder for temporary files has {_size(free)}; name another with --temp"
            )

    def _query(self, view: str, **tables: str) -> exp.Select:
        names = {name: own_name(name) for name in (*EMPTY, "numbered", "members")}
        return splice(f"suda/{view}", tables={**names, **tables})


SETS = {"taken": pl.Int64(), "msus": pl.Int64()}
EMPTY = {
    "candidates": {"record": "BIGINT", "taken": "BIGINT"},
    "scores": {"record": "BIGINT", "msus": "BIGINT", "score": "BIGINT", "smallest": "BIGINT"},
    "set_counts": {"taken": "BIGINT", "msus": "BIGINT"},
    "value_counts": {
        "attribute": "BIGINT",
        "code": "BIGINT",
        "records": "BIGINT",
        "msus": "BIGINT",
        "score": "HUGEINT",
    },
}


def _size(bytes_: float) -> str:
    return f"{bytes_ / 2**20:,.0f} MiB"
