"""The coded tables of a pass: one of all attributes, and those made by dropping the first one.

Each attribute has a dictionary that numbers its values in their order. The people are joined with
the dictionaries once; all later statements use codes. The generated query contains no names of the
user: it reads the step ``microdata``.

Each table is cut into chunks by ranges of its first attribute, so no block is in two chunks.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.commands.sweep import samples
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.plan import Progress, Task, first_attribute
from qifsql.commands.sweep.samples import Stratum
from qifsql.commands.sweep.spec import Sizes
from qifsql.commands.sweep.worker import Chunk, Worker, statements_for, typed
from qifsql.commands.sweep.workspace import Workspace
from qifsql.counting.scales import own_table
from qifsql.query import microdata_steps
from qifsql.query.columns import fold, same, typed_number
from qifsql.query.plan import Plan, Step
from qifsql.query.render import render

CHUNK = 250_000  # rows that stay in the cache of a core while they are walked
LEAST = 50_000  # rows below which the calls of a walk cost more than its work
SHARES = 1  # fewest chunks for each stream
MANY = 12  # with more attributes, a walk makes so many rows that chunks must be smaller
GIANT = 4  # chunks: a value of one attribute with more rows gets a separate table
HEAVY = 1_000_000  # a table with more rows is written by all threads together
ENTRIES = (0, 2**31 - 1)  # every code of an attribute
SAMPLE, CERTAIN = "_sample", "_certain"  # endings of tables of blocks: drawn, exact
# The ending of a table without the first attribute; a number: of its blocks of that code.
DROPPED = "_d"


class CodeRange(NamedTuple):
    """Rows of a coded table whose first attribute has a code in a range."""

    least: int
    greatest: int
    rows: int
    is_giant: bool


@dataclass(frozen=True, kw_only=True)
class CodedTable:
    """A coded table: its first attribute, the decisions before it, and its number of rows."""

    name: str
    position: int
    state: int
    rows: int


@dataclass
class Tables:
    """The tables of one pass, and the tasks on them.

    ``settle`` returns the tasks that settle the subsets with the first attribute of a table.
    """

    workspace: Workspace
    number: int
    layout: Layout
    sizes: Sizes
    settle: "Callable[[Tables, Worker, CodedTable], list[Task]]"
    progress: Progress
    streams: int
    _cuts: dict[str, list[Chunk]] = field(default_factory=dict)

    @property
    def first_table(self) -> str:
        """Return the name of the table of all attributes."""
        return f"coded_{self.number}"

    @property
    def largest_chunk(self) -> int:
        """Return the largest number of rows in a chunk."""
        return max(1, CHUNK >> max(0, self.layout.n - MANY) // 2 + self.layout.valued)

    def task(
        self,
        kind: str,
        source: str,
        position: int,
        *,
        state: int = 0,
        span: tuple[int, int] = ENTRIES,
        rows: int = 0,
    ) -> Task:
        """Return a task on the rows of a table, its ``source``, whose ``entry`` is in a span."""
        not_stored = 0  # its number until ``add_tasks`` gives it one
        return Task(not_stored, self.number, kind, source, position, state, *span, rows)

    def begin(self, worker: Worker) -> None:
        """Begin the pass with the tasks of the table of all attributes."""
        self.add_table(worker, self.first_table, 0, 0)

    def begin_with_subsets(self, worker: Worker, subsets: Iterable[int]) -> None:
        """Begin the pass with one task for each subset: bit i is the i-th quasi-identifier."""
        order = self.layout.order
        by_position = [sum(1 << p for p, i in enumerate(order) if s >> i & 1) for s in subsets]
        self.workspace.add_tasks(worker.stream, self.subset_tasks(by_position))

    def subset_tasks(self, subsets: Iterable[int]) -> list[Task]:
        """Return a task for each subset (bits by position) on the smallest table that has it.

        Subsets without the first attribute of their table come last: they are settled in SQL.
        """
        tables = self._list_tables()  # table p lacks the first p attributes
        last = len(tables) - 1
        tasks = []
        for subset in sorted(subsets, key=lambda s: first_attribute(s) > last):
            position = min(first_attribute(subset), last)
            state = self.layout.state(subset=subset)
            tasks.append(self.task("group", tables[position], position, state=state))
        return tasks

    def chunks_of(self, worker: Worker, chunk: Chunk) -> list[Chunk]:
        """Cut the whole coded table of ``chunk`` into chunks of about ``CHUNK`` rows, once."""
        if chunk.table not in self._cuts:
            self._cuts[chunk.table] = [
                replace(chunk, least=r.least, greatest=r.greatest, rows=r.rows)
                for r in self._ranges(worker, chunk.table, CHUNK, CHUNK)
            ]
        return self._cuts[chunk.table]

    def _list_tables(self) -> list[str]:
        """Return the tables of everybody (``state`` is 0), by position of their first attribute."""
        rows = self.workspace.stream.rows(
            "SELECT source FROM kept.tasks WHERE pass = ? AND kind = 'drop' AND state = 0 "
            "ORDER BY position",
            [self.number],
        )
        return [self.first_table, *(f"{source}{DROPPED}" for (source,) in rows)]

    def _ranges(self, worker: Worker, table: str, size: int, giant: int) -> list[CodeRange]:
        """Return ranges of the first attribute in a table, of about ``size`` rows each.

        A single value with more than ``giant`` rows has its own range.
        """
        worker.set(chunk=(size, "BIGINT"), giant=(giant, "BIGINT"))
        rows = worker.stream.rows(worker.statements.select("chunks", coded=table))
        return [CodeRange(*row) for row in rows]

    def stored_ranges(self, *, pairs: bool) -> list[tuple[int, int]]:
        """Return the first and last code of each range in the tasks of the first table.

        With ``pairs``, the values 2 i and 2 i + 1 of the first attribute are never in two ranges.
        """
        ranges = self.workspace.stream.rows(
            "SELECT DISTINCT least, greatest FROM kept.tasks WHERE source = ? AND kind <> 'drop'",
            [self.first_table],
        )
        if pairs:  # begin at an even code, end at an odd one
            ranges = [(a + a % 2, b + (b + 1) % 2) for a, b in ranges]
        return sorted(ranges)

    def drop_entry(self, worker: Worker, task: Task, chunk: Chunk) -> Sequence[Task]:
        """Write the rows of a task without their first attribute as a table; return its tasks.

        A ``drop`` has all rows of its table, a ``split`` those of one value. ``chunk`` has the same
        rows as the task; the next attribute becomes ``entry``.
        """
        state, position = task.state, task.position + 1
        if task.kind == "split":  # people of one value, who have taken the attribute
            state |= self.layout.state(subset=1 << task.position)
        table = f"{task.source}{DROPPED if task.kind == 'drop' else f'_{task.least}'}"
        worker.limit_to(chunk)
        layout = self.layout
        worker.set(
            shift=(layout.shift(position), "INTEGER"),  # brings the next code to the lowest bits
            later=(layout.later(position), layout.rest_type),  # the bits that stay in ``rest``
        )
        statement = worker.statements.keep(qualify(table), "without_entry", coded=chunk.table)
        worker.stream.rows(statement)
        self.workspace.enter_in_ledger(worker.stream, table)
        return self.add_table(worker, table, position, state)

    def add_table(self, worker: Worker, table: str, position: int, state: int) -> Sequence[Task]:
        """Store and return the tasks of a new coded table; the first drops its first attribute.

        This attribute is at ``position``; ``state`` has the decisions on those before it.
        """
        taken = (state >> self.layout.n).bit_count()
        if taken + self.layout.n - position < self.sizes.least:
            return ()  # every subset that is left is too small
        coded = CodedTable(
            name=table, position=position, state=state, rows=self.count_rows(worker, table)
        )
        tasks = self.settle(self, worker, coded)
        if position < self.layout.n - 1:
            tasks.insert(0, self.task("drop", table, position, state=state, rows=coded.rows))
        return self.workspace.add_tasks(worker.stream, tasks)

    def count_rows(self, worker: Worker, table: str) -> int:
        """Return the number of rows of a coded table."""
        return worker.stream.count(count_query(qualify(table)))

    def walk_tasks(self, worker: Worker, table: CodedTable) -> list[Task]:
        """Return the tasks that settle all rows of a table, in chunks.

        The largest chunks come first, so that streams end together. A value of the first attribute
        that has too many rows is split off as a table, unless no attribute is left for that table.
        """
        is_last = table.position == self.layout.n - 1
        for_each_stream = max(LEAST, table.rows // (SHARES * self.streams))
        rows = min(self.largest_chunk, for_each_stream)
        ranges = self._ranges(worker, qualify(table.name), rows, GIANT * self.largest_chunk)
        return [
            self.task(
                "split" if r.is_giant and not is_last else "walk",
                table.name,
                table.position,
                state=table.state,
                span=(r.least, r.greatest),
                rows=r.rows,
            )
            for r in sorted(ranges, key=lambda r: (-r.rows, r.least))
        ]

    def sample_tasks(
        self, worker: Worker, table: CodedTable, share: float, seed: int
    ) -> list[Task]:
        """Draw a ``share`` of the blocks of the first attribute; return tasks for these blocks.

        The drawn blocks are copied to a table, numbered stratum by stratum; a task has one random
        part of a stratum. Strata without draws are copied whole, and walked. Returns no tasks if no
        block would be left out, if the table does not hold everybody (``state`` is above 0), or if
        it has too few rows.
        """
        if table.state or table.rows <= CHUNK // 2:
            return []
        limits = samples.stratum_limits(share, self.layout.people)
        worker.set(seed=(seed, "BIGINT"), first=(table.position, "INTEGER"))
        worker.set_lists(limits=limits)
        worker.make_table("lots", "lots", coded=qualify(table.name))
        strata = [Stratum(*row) for row in worker.rows("strata")]
        drawn = samples.draws_by_stratum(strata, share, len(limits) + 1)  # blocks, 0: all exact
        if not any(drawn):
            return []
        starts = list(accumulate(drawn, initial=0))  # the first number of each stratum
        worker.set_lists(drawn=drawn, starts=starts)
        sample, certain = table.name + SAMPLE, table.name + CERTAIN
        sampled_rows = self._copy(worker, sample, "sampled", table.name)
        exact_rows, tasks = 0, []
        if not all(drawn[stratum.number] for stratum in strata):
            exact_rows = self._copy(worker, certain, "certain", table.name)
            tasks = self.walk_tasks(worker, replace(table, name=certain, rows=exact_rows))
        measured_share = (sampled_rows + exact_rows) / table.rows
        self.progress.expect_share(self.number, table.position, measured_share)
        for stratum in strata:
            if blocks := drawn[stratum.number]:
                start = starts[stratum.number]
                self.workspace.store_stratum(worker.stream, sample, start, blocks, stratum)
                for a, b in samples.random_parts(blocks):
                    span, rows = (start + a, start + b - 1), sampled_rows * (b - a) / sum(drawn)
                    task = self.task("walk", sample, table.position, span=span, rows=round(rows))
                    tasks.append(task)
        return tasks

    def _copy(self, worker: Worker, name: str, file: str, table: str) -> int:
        statement = worker.statements.keep(qualify(name), file, coded=qualify(table))
        rows = worker.stream.count(statement)
        self.workspace.enter_in_ledger(worker.stream, name)
        return rows


@lru_cache
def count_query(table: str) -> str:
    """Return the query of the number of rows of a table."""
    return render(exp.select("count(*)").from_(table))


def is_heavy(task: Task) -> bool:
    """Return whether a task uses all threads, because one statement writes a large table."""
    return task.kind in ("drop", "split") and task.rows > HEAVY


def qualify(table: str) -> str:
    """Return the qualified name of a table in the workspace."""
    return f"kept.main.{table}"


def coded_plan(microdata: Microdata, layout: Layout) -> Plan:
    """Return the plan of one row per different person: codes and counters, equal rows merged."""
    steps = [
        *microdata_steps.steps(microdata),
        Step("coded", "One row per person, coded.", _coded_people(layout)),
    ]
    merged = statements_for(layout.words, valued=layout.valued).query("merged")
    return microdata_steps.plan(microdata, steps, merged)


def _coded_people(layout: Layout) -> exp.Select:
    """Return a query of one row per person: ``entry``, ``rest``, ``word_1`` and so on."""
    codes = [typed(_code_column(name), layout.rest_type) for name in _qid_columns(layout)[1:]]
    secret = None
    if layout.valued:  # the pass has one secret
        secret = typed(_code_column(_secret_columns(layout)[0]), layout.rest_type)
    return joined_dictionaries(layout).select(
        exp.alias_(typed(_code_column(_qid_columns(layout)[0]), "INTEGER"), "entry"),
        exp.alias_(packed_rest(layout, dict(enumerate(codes, 1)), secret), "rest"),
        *(exp.alias_(word, f"word_{i}") for i, word in enumerate(_counter_words(layout), 1)),
    )


def joined_dictionaries(layout: Layout) -> exp.Select:
    """Return the people joined with the dictionaries, which number the values; no columns yet."""
    query = exp.select().from_("microdata")
    for name in (*_qid_columns(layout), *_secret_columns(layout)):
        table = exp.alias_(own_table(f"dictionary_{name}"), f"of_{name}", table=True)
        on = same(exp.column(name, "microdata"), exp.column("value", f"of_{name}"))
        query = query.join(table, on=on)
    return query


def unpacked_plan(microdata: Microdata, layout: Layout) -> Plan:
    """Return the plan of one row per different person, with a column for each code and counter.

    The columns are ``entry``, ``code_1 ..`` (by position), the ``code_of_secret`` in a valued pass,
    the number of ``people``, and the counters ``counter_1 ..``.
    """
    codes = [f"code_{p}" for p in range(layout.n)]
    codes[0] = "entry"
    names = [*_qid_columns(layout), *(_secret_columns(layout) if layout.valued else ())]
    if layout.valued:
        codes.append("code_of_secret")
    columns = [
        exp.alias_(typed(_code_column(name), "INTEGER"), code)
        for name, code in zip(names, codes, strict=True)
    ]
    columns.append(exp.alias_(exp.Count(this=exp.Star()), "people"))
    for i, (j, value) in enumerate(layout.counters, 1):
        has = exp.EQ(this=_code_column(f"secret_{j}"), expression=exp.Literal.number(value))
        counted = exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=has))
        columns.append(exp.alias_(counted, f"counter_{i}"))
    query = joined_dictionaries(layout).select(*columns).group_by("ALL")
    return microdata_steps.plan(microdata, microdata_steps.steps(microdata), query)


def packed_table(layout: Layout, position: int, table: str) -> exp.Select:
    """Return the query that packs the rows of ``table``, unpacked as in ``unpacked_plan``.

    Its columns are ``entry``, the code of the attribute at ``position``, ``rest`` with the codes of
    the later ones, and the words of counters.
    """
    codes: dict[int, exp.Expr] = {
        p: typed(exp.column(f"code_{p}"), layout.rest_type) for p in range(position + 1, layout.n)
    }
    secret = typed(exp.column("code_of_secret"), layout.rest_type) if layout.valued else None
    terms: dict[int, list[exp.Expr]] = {word: [] for word in range(1, layout.words + 1)}
    terms[1].append(typed(exp.column("people"), layout.word_type))
    for i in range(1, len(layout.counters) + 1):
        word, below = layout.place(i)
        counter = typed(exp.column(f"counter_{i}"), "HUGEINT")
        terms[word].append(exp.Mul(this=counter, expression=typed_number(1 << below, "HUGEINT")))
    return exp.select(
        "entry",
        exp.alias_(packed_rest(layout, codes, secret), "rest"),
        *(exp.alias_(fold(exp.Add, added), f"word_{word}") for word, added in terms.items()),
    ).from_(table)


def packed_rest(layout: Layout, codes: Mapping[int, exp.Expr], secret: exp.Expr | None) -> exp.Expr:
    """Return ``rest``: the codes by position, each in its bits, and that of the secret if any."""
    parts: list[exp.Expr] = [typed_number(0, layout.rest_type)]
    for position, code in codes.items():
        shift = exp.Literal.number(layout.shift(position))
        parts.append(exp.paren(exp.BitwiseLeftShift(this=code, expression=shift)))
    if secret is not None:
        parts.append(secret)
    return fold(exp.BitwiseOr, parts)


def _counter_words(layout: Layout) -> list[exp.Expr]:
    """Return the words of a person, packed counters: 1 in those of people and of her values."""
    sums: dict[int, list[exp.Expr]] = {word: [] for word in range(1, layout.words + 1)}
    sums[1].append(typed_number(1, layout.word_type))
    for i, (j, code) in enumerate(layout.counters, 1):
        word, below = layout.place(i)
        has = exp.EQ(this=_code_column(f"secret_{j}"), expression=exp.Literal.number(code))
        unit, zero = typed_number(1 << below, "HUGEINT"), typed_number(0, "HUGEINT")
        sums[word].append(exp.Case().when(has, unit).else_(zero))
    return [fold(exp.Add, terms) for terms in sums.values()]


def _code_column(name: str) -> exp.Column:
    return exp.column("code", table=f"of_{name}")


def _qid_columns(layout: Layout) -> list[str]:
    return [f"qid_{i + 1}" for i in layout.order]


def _secret_columns(layout: Layout) -> list[str]:
    return [f"secret_{j}" for j in layout.secrets]
