"""The classes of the nodes of a recoding, counted in tables of people or of finer nodes.

``tuples`` has the numbers of the values of people (``recode``). The classes of a node are a GROUP
BY of these numbers without their last bits, in ``tuples`` or in the classes of a finer node.
"""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

import polars as pl

from qifsql.commands.anonymise.lattice import Measured, Node
from qifsql.commands.anonymise.recode import Recoding
from qifsql.commands.anonymise.release_request import Combination
from qifsql.commands.anonymise.value_steps import column_of
from qifsql.counting.passes import Passes
from qifsql.counting.risks import Risk, risk
from qifsql.counting.scales import own_name
from qifsql.measures.profile import Profile
from qifsql.query import render
from qifsql.query.plan import Plan, Select, Step
from qifsql.query.splice import make_step, splice

LARGE_TABLE = 10_000  # rows from which on a coarser table is worth making
LONG_TABLE = 50_000  # rows from which on only the columns that part classes are counted
SHRINKAGE = 16  # a coarser table has one row for so many of those that it is made of, or less
SAMPLE = 64  # rows of a table for one of its sample; less than SHRINKAGE^2 (``_is_small``)
RARE = 100  # a share of so many of the people is in a table of the rarest groups, at most
BROKEN = "One row per class that breaks a limit."


class Source(NamedTuple):
    """A table of people, from which ``node`` and all coarser nodes can be counted."""

    node: Node
    table: str
    rows: int


@dataclass
class NodeCounts:
    """The tables that nodes of a recoding are counted in, and what is counted once.

    Nodes are counted from ``sources``, by statements that ``texts`` keeps, because they are sent
    many times. ``rare`` are tables of people in the rarest groups, by quasi-identifier and step;
    ``samples`` have the rows of samples of tables; ``rare_records`` are counts for combinations of
    quasi-identifiers (``qifsql.commands.anonymise.kept_records``). ``shown_node`` is the node whose
    classes that stay are in the table ``shown``.
    """

    recoding: Recoding
    sources: list[Source] = field(default_factory=list)
    samples: dict[str, int] = field(default_factory=dict)
    rare: dict[tuple[int, int], Source] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    prior: dict[tuple[int, int], Profile] = field(default_factory=dict)
    rare_records: dict[tuple[Combination, Node], int] = field(default_factory=dict)
    shown_node: Node | None = None

    @property
    def passes(self) -> Passes:
        """Return the statements about the coded release."""
        return self.recoding.passes

    def make_tuples(self) -> None:
        """Make ``tuples``, the table in which nodes are counted, and the first of ``sources``.

        It has a row per kind of person, who have the same values of all columns, with their number;
        or a row per person, if so many differ that kinds would save little.
        """
        passes, columns = self.passes, self.recoding.columns
        tables = {"coded": own_name("coded")}
        secrets = range(1, passes.coded.carried + 1)
        counted = self.recoding.view(
            "different_people", tables=tables, qids=columns, secrets=secrets
        )
        (different,) = passes.row(counted)
        view = "combinations" if 4 * different < 3 * passes.coded.records else "single_people"
        people = Step("combinations", "One row per person or kind of person.", passes.query(view))
        tables = {f"steps_{i}": own_name(f"steps_{i}") for i in columns}
        tuples = self.recoding.view("tuples", tables=tables, qids=columns)
        rows = passes.keep("tuples", Plan((people,), tuples))
        self.sources = [Source((0,) * len(self.recoding.steps), "tuples", rows)]

    def measure(self, node: Node, limit: int, *, refuse_early: bool = False) -> Measured:
        """Count the classes of a node, and measure what its suppressed records lose.

        The loss is not measured if more than ``limit`` records are suppressed: such a node is not
        allowed. With ``refuse_early``, the classes in the table of the rarest groups are counted
        first. If these alone suppress too many records, the counts are about them alone.
        """
        source = self.source_of(node)
        rare = self._rare_source(node) if refuse_early and source.rows > LONG_TABLE else None
        if rare is not None and SHRINKAGE * rare.rows < source.rows:
            measured = self._count_classes(node, rare)
            if measured.suppressed > limit:
                return measured
        measured = self._count_classes(node, source)
        if not 0 < measured.suppressed <= limit:
            return measured
        penalty, entropy = self._suppression_loss(node)
        return replace(measured, penalty=penalty, entropy=entropy)

    def _rare_source(self, node: Node) -> Source | None:
        """Return the table with all people of the rarest groups by one quasi-identifier of a node.

        A group are the people with one value at the node's step; the quasi-identifier is that with
        the most groups. So a class of the node, or of a finer one, has all its records there, or
        none. Where a node breaks a limit, such a class mostly does. None if all groups are too
        large.
        """
        sizes = self.recoding.sizes
        i = max(self.recoding.qids, key=lambda i: sizes[i - 1][node[i - 1]].cells)
        s = node[i - 1]
        if (i, s) not in self.rare:
            people, shift = self.passes.coded.records // RARE, sizes[i - 1][s].shift
            columns = {"own_step": column_of(i, s), "own_code": f"code_{i}"}
            numbers = {"most_people": people, "shift": shift}
            name = f"rare_{i}_{s}"
            query = self.recoding.view_of_steps("rare_tuples", i, columns, numbers)
            self.rare[i, s] = Source(node, name, self.passes.keep(name, query))
        return self.rare[i, s] if self.rare[i, s].rows else None

    def _count_classes(self, node: Node, source: Source) -> Measured:
        """Count the classes of a node, from the table ``source`` of people.

        If the table ``shown`` is of this node, classes that are not in it count as suppressed.
        """
        is_shown = node == self.shown_node
        columns = list(self.recoding.columns)
        # Of a long table, a new statement is cheaper than to group by columns of a single cell.
        if source.rows > LONG_TABLE:
            columns = self._columns_that_part(node) or [1]
        key = f"{source.table} by {columns}{', shown' if is_shown else ''}"
        if key not in self.texts:
            forms = {"is_shown": is_shown, "people": self.recoding.counts_people}
            sized = self._size_steps(source.table, "judged_sizes", columns=columns, **forms)
            self.texts[key] = render.statement(Plan(sized, self.recoding.view("measured_node")))
        shifts = self.recoding.shifts(node)
        ((blocks, classes, suppressed, smallest, squares, all_squares, guessed),) = (
            self.passes.stream.rows(self.texts[key], [shifts[i - 1] for i in columns])
        )
        counts = (blocks, classes, suppressed, smallest, int(squares), int(all_squares))
        return Measured(*counts, guessed=Fraction(int(guessed), 1 << 80))  # SQL: in 2^-80

    def _columns_that_part(self, node: Node) -> list[int]:
        """Return the columns by which the classes of a node differ."""
        return [i for i, step in enumerate(self.recoding.steps_at(node), 1) if step.cells > 1]

    def _suppression_loss(self, node: Node) -> tuple[Fraction, Fraction]:
        """Return the loss of suppressed records beyond the steps of a node: penalty and entropy.

        Both are means over all records and quasi-identifiers; entropy is in nats. SQL returns a row
        per quasi-identifier, in order: of all suppressed records together, the values that their
        cells lose (``listed``), or, of values with distances, their lengths on the scale
        (``spanned``), and their entropy. The statement is kept for other nodes.
        """
        table, is_shown = self.source_of(node).table, node == self.shown_node
        key = f"suppression in {table}, {is_shown}"
        if key not in self.texts:
            sized = self._size_steps(table, "judged_classes", is_shown=is_shown)
            heights = make_step("anonymise/heights", shape={"qids": self.recoding.qids})
            plan = Plan((*sized, heights), self.recoding.view("lost_by_suppression"))
            self.texts[key] = render.statement(plan)
        rows = self.passes.stream.rows(self.texts[key], [*self.recoding.shifts(node), *node])
        penalty = entropy = Fraction(0)
        for scale, (_number, listed, spanned, lost) in zip(self.recoding.scales, rows, strict=True):
            covered, length = (spanned, scale.span) if scale.interval else (listed, scale.values)
            penalty += Fraction(int(covered), length or 1)  # 0: there is one value
            entropy += Fraction(int(lost), 1 << 40)  # SQL counts in 2^-40 nats
        cells = self.passes.coded.records * len(node)
        return penalty / cells, entropy / cells

    def source_of(self, node: Node) -> Source:
        """Return the table with the fewest rows that a node can be counted from; may make one.

        A node is counted from a table of people (``tuples``, the first source) or of the classes of
        a finer node. Such a table, from which more nodes can be counted, is made if it has few rows
        for those of the best one, and all together do not have more than ``tuples``.
        """
        source = min(
            (s for s in self.sources if all(map(operator.le, s.node, node))),
            key=lambda source: source.rows,
        )
        most_rows = source.rows // SHRINKAGE  # of the table that may be made
        is_worth_while = (
            source.rows > LARGE_TABLE
            and len(self._columns_that_part(node)) > 1
            # Rows that also have the person, who differs, hardly become fewer.
            and not self.recoding.counts_people
            and sum(s.rows for s in self.sources) + most_rows <= 2 * self.sources[0].rows
        )
        finer = self._finer_node(node, source) if is_worth_while else None
        if finer is None:
            return source
        name, shifts = f"rolled_{len(self.sources)}", self.recoding.numbered_shifts(finer)
        rows = self.passes.keep(name, self._view_of_table("rolled_up", source.table, shifts))
        self.sources.append(Source(finer, name, rows))
        return self.sources[-1]

    def _view_of_table(
        self, view: str, table: str, numbers: Mapping[str, int] | None = None
    ) -> Select:
        """Return the query of ``sql/anonymise/VIEW`` over people or classes, which ``table`` has.

        The view calls the table ``tuples``; ``numbers`` are its constants.
        """
        tables = {"tuples": own_name(table)}
        return self.recoding.view(view, tables=tables, numbers=numbers, qids=self.recoding.columns)

    def _finer_node(self, node: Node, source: Source) -> Node | None:
        """Return the finest node whose table is still small beside ``source``; None if none is.

        A table of it serves for all coarser nodes, so the finer the better. From ``node``, one
        quasi-identifier after the other is made finer by a step, down to that of the source: first
        the one that gains many nodes for few more classes.
        """
        if not self._is_small(node, source):
            return None
        open_qids = set(self.recoding.qids)

        def gain(i: int) -> float:
            """Return what a finer step of quasi-identifier i gains: nodes for cells.

            It is the logarithm of the factor by which the nodes that are coarser become more,
            divided by that of the factor by which the cells of the step become more.
            """
            sizes, s = self.recoding.sizes[i - 1], node[i - 1]
            more_cells = math.log(sizes[s - 1].cells / sizes[s].cells)
            more_nodes = math.log1p(1 / (len(sizes) - s))
            return more_nodes / more_cells if more_cells else math.inf

        while open_qids := {i for i in open_qids if node[i - 1] > source.node[i - 1]}:
            i = max(open_qids, key=lambda i: (gain(i), i))
            finer = (*node[: i - 1], node[i - 1] - 1, *node[i:])
            if self._is_small(finer, source):
                node = finer
            else:
                open_qids.remove(i)
        return node

    def _is_small(self, node: Node, source: Source) -> bool:
        """Return whether the table of a node would have one row for SHRINKAGE rows of ``source``.

        Its rows are classes by secret. Their number is estimated by GEE (Charikar et al. 2000) from
        a sample of one row in SAMPLE, in which a class that occurs once counts for the root of
        SAMPLE. If all rows differ, that is too small by this root. Samples are kept.
        """
        name = f"sample_{source.table}"
        if name not in self.samples:
            drawn = self._view_of_table("sample_of_tuples", source.table, {"stride": SAMPLE})
            self.samples[name] = self.passes.keep(name, drawn)
            query = self._view_of_table("classes_of_sample", name)
            self.texts[name] = render.statement(Plan((), query))
        ((classes, single),) = self.passes.stream.rows(self.texts[name], self.recoding.shifts(node))
        factor = math.sqrt(source.rows / max(1, self.samples[name]))
        return bool((classes + (factor - 1) * single) * SHRINKAGE <= source.rows)

    def risks(self, node: Node) -> list[Risk]:
        """Return the risk of releasing a node, by secret if there are any, as in an attack."""
        profiles = self._profiles(self._released_steps(node))
        if not self.prior:
            query = self.recoding.view("one_class", tables={"tuples": own_name("tuples")})
            self.prior = self._profiles([Step("released", "One row per person.", query)])
        names = [secret.attribute.name for secret in self.passes.coded.secrets]
        if not names:
            return [risk(None, 0, self.prior, profiles)]
        return [risk(name, j, self.prior, profiles) for j, name in enumerate(names, 1)]

    def _released_steps(self, node: Node) -> list[Step]:
        """Return the steps of a plan that ends with ``released``, the release of a node.

        It counts people by class and secrets; all suppressed records are one class.
        """
        is_shown = node == self.shown_node
        steps = self.judged_steps(self.source_of(node).table, node, is_shown=is_shown)
        if not is_shown and not self.recoding.limits.of_secret:  # then these are not among them
            steps.append(Step("sides", "One row per class.", self.recoding.view("sides_of_node")))
            steps.append(make_step("anonymise/none_refused", "refused"))
        released = self.recoding.view("released_sides")
        return [*steps, Step("released", "One row per class as it is released.", released)]

    def _profiles(self, steps: Sequence[Step]) -> dict[tuple[int, int], Profile]:
        """Return the profiles of the classes: (0, 0) for re-identification, (j, 0) for secret j."""
        profiles = {}
        for j in range(len(self.passes.coded.secrets) + 1):
            # for re-identification all records of a class have one value, its number
            column = f"secrets_{j}" if j else "part"
            classes = splice("anonymise/released_blocks", columns={"secret": column})
            blocks = Step("blocks", "One row per class and its best guess.", classes)
            sql = render.statement(Plan((*steps, blocks), splice("attack/profile")))
            rows = self.passes.stream.rows(sql)
            names = ["size", "mode", "values", "blocks"]
            frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64()), orient="row")
            profiles[j, 0] = Profile.of_counts(frame)
        return profiles

    def _size_steps(
        self, table: str, judged: str, *, columns: Sequence[int] = (), is_shown: bool, **shape: bool
    ) -> tuple[Step, ...]:
        """Return the steps of a plan that ends with ``sizes_of_node``, the sizes of its classes.

        They are counted in ``table``. If there may be classes to suppress (``judged_steps``), the
        sizes are those of the view ``judged``, in its ``shape``, which marks these classes. The
        steps of the node are parameters of the SQL.
        """
        sizes = self.recoding.view("sizes_of_node", places=columns)
        if is_shown or self.passes.coded.judges(self.recoding.limits):
            sizes = self.recoding.view(judged, tables=None, numbers=None, places=columns, **shape)
        sized = Step("sizes_of_node", "One row per class.", sizes)
        return *self.judged_steps(table, None, columns=columns, is_shown=is_shown), sized

    def judged_steps(
        self, table: str, node: Node | None, *, columns: Sequence[int] = (), is_shown: bool = False
    ) -> list[Step]:
        """Return steps of SQL: the people by their cells at a node, and the classes to suppress.

        The first is ``tuples_of_node``, from the people in ``table``. ``refused``, if limits need
        it, are the classes that break one on a secret or, with ``is_shown``, all that are not in
        ``shown``. Without a ``node`` its steps are parameters. ``columns`` (by default all) make
        the classes.
        """
        people = self.recoding.view(
            "tuples_of_node",
            tables={"tuples": own_name(table)},
            numbers={} if node is None else self.recoding.numbered_shifts(node),
            places=columns,
            qids=columns or self.recoding.columns,
            parameters=node is None,
        )
        steps = [Step("tuples_of_node", "One row per person.", people)]
        sides_of_node = self.recoding.view("sides_of_node", places=columns)
        if is_shown:
            sides = Step("sides", "One row per class and secrets.", sides_of_node)
            hidden = self.recoding.view("hidden_classes", tables={"shown": own_name("shown")})
            return [*steps, sides, Step("refused", BROKEN, hidden)]
        if self.passes.coded.judges(self.recoding.limits):
            broken = self.passes.coded.refused(self.recoding.limits, sides_of_node)
            steps += [*broken.steps, Step("refused", BROKEN, broken.result)]
        return steps

    def drop(self) -> None:
        """Drop the tables that were made."""
        self.passes.drop(*self.samples)
        self.passes.drop(*(source.table for source in (*self.sources, *self.rare.values())))
