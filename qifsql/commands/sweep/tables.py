"""The coded tables of a pass: one of all attributes, and those made by dropping the first one.

Each attribute has a dictionary that numbers its values in their order. The people are joined with
the dictionaries once; all later statements use codes. The generated query contains no names of the
user: it reads the step ``microdata``.

Each table is cut into chunks by ranges of its first attribute, so no block is in two chunks.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.commands.sweep import samples
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.plan import Chunk, Progress, Task, first_attribute, qualify
from qifsql.commands.sweep.samples import Stratum
from qifsql.commands.sweep.spec import Sizes
from qifsql.commands.sweep.worker import Worker, statements_for
from qifsql.commands.sweep.workspace import Workspace
from qifsql.counting.packing import WIDE_BITS
from qifsql.counting.scales import own_name
from qifsql.counting.stream_session import keeping, selecting
from qifsql.query import microdata_steps
from qifsql.query.plan import Plan, Step
from qifsql.query.render import render
from qifsql.query.shapes import Shape
from qifsql.query.splice import splice

CHUNK_ROWS = 250_000  # rows that stay in the cache of a core while they are walked
LEAST_ROWS = 50_000  # rows below which the calls of a walk cost more than its work
MANY_ATTRIBUTES = 12  # with more attributes, a walk makes so many rows that chunks must be smaller
GIANT_CHUNKS = 4  # chunks: a value of one attribute with more rows gets a separate table
HEAVY_ROWS = 1_000_000  # a table with more rows is written by all threads together
ALL_CODES = (0, 2**31 - 1)  # every code of an attribute
SAMPLE, CERTAIN = "_sample", "_certain"  # endings of tables of blocks: drawn, exact
# The ending of a table without the first attribute; a number: of its blocks of that code.
DROPPED = "_d"


@dataclass
class Tables:
    """The tables of one pass, and the tasks on them.

    ``settle`` returns the tasks that settle the subsets with the first attribute of a table, from
    a task on all rows of the table.
    """

    workspace: Workspace
    number: int
    layout: Layout
    sizes: Sizes
    settle: "Callable[[Tables, Worker, Task], list[Task]]"
    progress: Progress
    streams: int
    _chunks: dict[str, list[Chunk]] = field(default_factory=dict)  # by table

    @property
    def first_table(self) -> str:
        """Return the name of the table of all attributes."""
        return f"coded_{self.number}"

    @property
    def largest_chunk(self) -> int:
        """Return the largest number of rows in a chunk."""
        halvings = max(0, self.layout.n - MANY_ATTRIBUTES) // 2 + self.layout.valued
        return max(1, CHUNK_ROWS >> halvings)

    def task(self, kind: str, source: str, position: int, state: int) -> Task:
        """Return a task on all rows of a table, its ``source``, without a number and a count."""
        not_stored = 0  # its number until ``add_tasks`` gives it one
        return Task(not_stored, self.number, kind, source, position, state, *ALL_CODES, rows=0)

    def subset_tasks(self, subsets: Iterable[int]) -> list[Task]:
        """Return a task for each subset (bits by position) on the smallest table that has it."""
        rows = self.workspace.stream.rows(  # of everybody, whose state is 0
            "SELECT source FROM kept.tasks WHERE pass = ? AND kind = 'drop' AND state = 0 "
            "ORDER BY position",
            [self.number],
        )
        # Table p lacks the first p attributes.
        tables = [self.first_table, *(f"{source}{DROPPED}" for (source,) in rows)]
        last = len(tables) - 1
        tasks = []
        # Those without the first attribute of their table come last: SQL settles them.
        for subset in sorted(subsets, key=lambda s: first_attribute(s) > last):
            position = min(first_attribute(subset), last)
            state = self.layout.state(subset=subset)
            tasks.append(self.task("group", tables[position], position, state))
        return tasks

    def chunks_of(self, worker: Worker, chunk: Chunk) -> list[Chunk]:
        """Cut the whole coded table of ``chunk`` into chunks of about ``CHUNK_ROWS`` rows, once."""
        if chunk.table not in self._chunks:
            self._chunks[chunk.table] = [
                replace(chunk, least=least, greatest=greatest, rows=rows)
                for least, greatest, rows, _ in self._ranges(worker, chunk.table, CHUNK_ROWS)
            ]
        return self._chunks[chunk.table]

    def _ranges(
        self, worker: Worker, table: str, rows: int, giant_rows: int | None = None
    ) -> list[tuple[int, ...]]:
        """Return ranges of codes that have about so many rows of a table each.

        A range is its first and its last code, its number of rows, and whether it is a *giant*: one
        code that has more than ``giant_rows``, by default as many as a range should have.
        """
        worker.set(chunk=(rows, "BIGINT"), giant=(giant_rows or rows, "BIGINT"))  # read by the view
        return worker.stream.rows(worker.statements.text(selecting, "", "chunks", coded=table))

    def stored_ranges(self, *, pairs: bool) -> list[tuple[int, int]]:
        """Return the first and last code of each range in the tasks of the first table."""
        ranges = self.workspace.stream.rows(
            "SELECT DISTINCT least, greatest FROM kept.tasks WHERE source = ? AND kind <> 'drop'",
            [self.first_table],
        )
        if pairs:  # begin at an even code, end at an odd one: 2 i and 2 i + 1 are together
            ranges = [(a + a % 2, b + (b + 1) % 2) for a, b in ranges]
        return sorted(ranges)

    def drop_entry(self, worker: Worker, task: Task) -> Sequence[Task]:
        """Write the rows of a task without their first attribute as a table; return its tasks.

        A ``drop`` has all rows of its table, a ``split`` those of one value. The next attribute
        becomes ``entry``.
        """
        state, table = task.state, f"{task.source}{DROPPED}"
        if task.kind == "split":  # people of one value, who have taken the attribute
            state |= self.layout.state(subset=1 << task.position)
            table = f"{task.source}_{task.least}"
        self.write_without_entry(worker, task, table)
        return self.add_table(worker, table, task.position + 1, state)

    def write_without_entry(self, worker: Worker, task: Task, table: str) -> None:
        """Write the rows of a task without the first attribute as a table of the workspace."""
        layout, position = self.layout, task.position + 1
        worker.limit_to(task.chunk)
        worker.set(
            shift=(layout.shift(position), "INTEGER"),  # brings the next code to the lowest bits
            later=(layout.later(position), layout.rest_type),  # the bits that stay in ``rest``
        )
        self._store_rows(worker, table, "without_entry", task.source)

    def add_table(self, worker: Worker, table: str, position: int, state: int) -> Sequence[Task]:
        """Store and return the tasks of a new coded table.

        They settle the subsets that take its first attribute, which is at ``position``; the first
        task makes a table without it, for all other subsets. ``state`` has the decisions on the
        attributes before it.
        """
        taken = (state >> self.layout.n).bit_count()
        if taken + self.layout.n - position < self.sizes.least:
            return ()  # every subset that is left is too small
        drop = replace(
            self.task("drop", table, position, state), rows=self.count_rows(worker, table)
        )
        tasks = self.settle(self, worker, replace(drop, kind="walk"))
        if position < self.layout.n - 1:
            tasks.insert(0, drop)
        return self.workspace.add_tasks(worker.stream, tasks)

    def count_rows(self, worker: Worker, table: str) -> int:
        """Return the number of rows of a coded table."""
        return worker.stream.count(render(exp.select("count(*)").from_(qualify(table))))

    def walk_tasks(self, worker: Worker, walk: Task) -> list[Task]:
        """Divide a walk of all rows of a table into tasks on chunks of it.

        The largest chunks come first, so that streams end together. A value of the first attribute
        that has too many rows is split off as a table, unless no attribute is left for that table.
        """
        is_last = walk.position == self.layout.n - 1
        wanted_rows = min(self.largest_chunk, max(LEAST_ROWS, walk.rows // self.streams))
        giant_rows = GIANT_CHUNKS * self.largest_chunk
        tasks = []
        for least, greatest, rows, is_giant in self._ranges(
            worker, qualify(walk.source), wanted_rows, giant_rows
        ):
            kind = "split" if is_giant and not is_last else "walk"
            tasks.append(replace(walk, kind=kind, least=least, greatest=greatest, rows=rows))
        return sorted(tasks, key=lambda task: (-task.rows, task.least))

    def sample_tasks(self, worker: Worker, walk: Task, share: float, seed: int) -> list[Task]:
        """Draw a ``share`` of the blocks of the first attribute; return tasks for these blocks.

        ``walk`` is one of all rows of a table. The drawn blocks are copied to a table, numbered
        stratum by stratum; a task has one random part of a stratum. Strata without draws are copied
        whole, and walked. The rows that the progress expects become fewer. Returns no tasks if no
        block would be left out, if the table does not hold everybody (``state`` is above 0), or if
        it has too few rows.
        """
        if walk.state or walk.rows <= CHUNK_ROWS // 2:
            return []
        draws = self._draw_blocks(worker, walk, share, seed)
        if not any(draws.values()):
            return []
        sample, certain = walk.source + SAMPLE, walk.source + CERTAIN
        sampled_rows = self._store_rows(worker, sample, "sampled", walk.source)
        exact_rows, tasks = 0, []
        if not all(draws.values()):
            exact_rows = self._store_rows(worker, certain, "certain", walk.source)
            tasks = self.walk_tasks(worker, replace(walk, source=certain, rows=exact_rows))
        measured_share = (sampled_rows + exact_rows) / walk.rows
        self.progress.stages[self.number, walk.position].expected_rows *= measured_share
        rows_per_block = sampled_rows / sum(draws.values())
        start = 0  # the number of the first drawn block of a stratum
        for stratum, blocks in draws.items():
            if not blocks:
                continue
            self.workspace.store_stratum(worker.stream, sample, start, blocks, stratum)
            for first, end in samples.random_parts(blocks):
                least, greatest = start + first, start + end - 1
                rows = round(rows_per_block * (end - first))
                part = replace(walk, source=sample, least=least, greatest=greatest, rows=rows)
                tasks.append(part)
            start += blocks
        return tasks

    def _draw_blocks(
        self, worker: Worker, walk: Task, share: float, seed: int
    ) -> dict[Stratum, int]:
        """Draw blocks of the first attribute; return by stratum how many, or 0: all of them count.

        The views of samples read the table ``lots``, which has each block with its stratum and its
        place in a random order there, and variables: how many blocks are ``drawn`` of each stratum,
        and where the numbers of these, which stand in place of codes, begin (``starts``).
        """
        limits = samples.stratum_limits(share, self.layout.people)
        worker.set(seed=(seed, "BIGINT"), first=(walk.position, "INTEGER"))
        worker.set_lists(limits=limits)
        worker.make_table("lots", "lots", coded=qualify(walk.source))
        strata = [Stratum(*row) for row in worker.rows("strata")]  # in the order of their numbers
        drawn = samples.draws_by_stratum(strata, share, len(limits) + 1)
        worker.set_lists(drawn=drawn, starts=list(accumulate(drawn, initial=0)))
        return {stratum: drawn[stratum.number] for stratum in strata}

    def _store_rows(self, worker: Worker, name: str, file: str, table: str) -> int:
        """Store the view ``file`` of a coded table as a new table; return its number of rows."""
        statement = worker.statements.text(keeping, qualify(name), file, coded=qualify(table))
        rows = worker.stream.count(statement)
        self.workspace.enter_in_ledger(worker.stream, name)
        return rows


def is_heavy(task: Task) -> bool:
    """Return whether a task uses all threads, because one statement writes a large table."""
    return task.kind in ("drop", "split") and task.rows > HEAVY_ROWS


def coded_plan(microdata: Microdata, layout: Layout) -> Plan:
    """Return the plan of one row per different person: codes and counters, equal rows merged."""
    people = splice("sweep/coded_people", tables=_dictionaries(layout), shape=_shape(layout))
    steps = [*microdata_steps.steps(microdata), Step("coded", "One row per person, coded.", people)]
    merged = statements_for(layout.words, valued=layout.valued).query("merged")
    return microdata_steps.plan(microdata, steps, merged)


def unpacked_plan(microdata: Microdata, layout: Layout) -> Plan:
    """Return the plan of one row per different person, with a column for each code and counter."""
    query = splice("sweep/unpacked_people", tables=_dictionaries(layout), shape=_shape(layout))
    return microdata_steps.plan(microdata, microdata_steps.steps(microdata), query)


def packed_table(layout: Layout, position: int, table: str) -> exp.Select:
    """Return the query that packs the rows of ``table``, unpacked as in ``unpacked_plan``."""
    shape = _shape(layout) | {"position": position}
    return splice("sweep/packed_people", tables={"unpacked": table}, shape=shape)


def _dictionaries(layout: Layout) -> dict[str, str]:
    """Return the dictionaries, which number the values, by their names in the views."""
    names = [f"qid_{i + 1}" for i in layout.order] + [f"secret_{j}" for j in layout.secrets]
    return {f"of_{name}": own_name(f"dictionary_{name}") for name in names}


def _shape(layout: Layout) -> dict[str, Shape]:
    """Return what the templates of coded tables need to know of a pass (``sql/sweep/tables.sql``).

    ``words`` has a list for each column of packed counters: of each counter its number, the secret
    and the code that it counts, and the unit of the word that stands for one person.
    """
    words: list[list[Shape]] = [[] for _ in range(layout.words)]
    for number, (j, code) in enumerate(layout.counters, 1):
        word, below = layout.place(number)
        words[word - 1].append((number, j, code, 1 << below))
    return {
        "order": [i + 1 for i in layout.order],
        "secrets": list(layout.secrets),
        "valued": layout.valued,
        "wide": layout.rest_bits == WIDE_BITS,
        "shifts": [layout.shift(p) for p in range(layout.n)],
        "words": words,
    }
