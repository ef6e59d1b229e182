"""Global recoding: every value of a quasi-identifier becomes the same cell in all records.

A quasi-identifier has steps, the first being its values as they are. The steps of every value are
whole numbers, in the tables ``steps_1 ..``; ``tuples`` has a row for each different person, with a
list of all steps of each of its values. A node is a step of each quasi-identifier, and its classes
are a GROUP BY of one element of each list of ``tuples``, or of a coarser table that was rolled up
on the way.
"""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise, zip_longest
from typing import NamedTuple

import polars as pl

from qifsql.commands.anonymise.lattice import Measured, Node
from qifsql.commands.anonymise.release_request import Combination
from qifsql.commands.anonymise.spec import Shape as CellShape
from qifsql.commands.anonymise.value_steps import StepLoss, ValueStep, column_of
from qifsql.counting.passes import Passes
from qifsql.counting.release_limits import ClassLimits
from qifsql.counting.risks import Risk, risk
from qifsql.counting.scales import Scale, own_name, scale_table
from qifsql.errors import ColumnError, InputError, plural, quoted
from qifsql.measures import utility
from qifsql.measures.profile import Profile
from qifsql.query import microdata_steps, render
from qifsql.query.columns import union
from qifsql.query.plan import Plan, Select, Step
from qifsql.query.shapes import Shape
from qifsql.query.splice import make_step, splice

LARGE_TABLE = 2_000  # rows from which on a coarser table is worth making
LONG_TABLE = 50_000  # rows from which on only the columns that part classes are counted
MOST_SOURCES = 16  # tables that nodes are counted from
NODES_PER_TABLE = 100  # a table is worth making for a hundredth of all nodes
BROKEN = "One row per class that breaks a limit."


class Source(NamedTuple):
    """A table of people, from which ``node`` and all coarser nodes can be counted."""

    node: Node
    table: str
    rows: int


@dataclass
class Recoding:
    """The steps of all quasi-identifiers of a coded release, as tables, and the nodes of them.

    A step is known by its number ``s`` from 0, a quasi-identifier by its number ``i`` from 1.
    Nodes are counted from ``sources``, by statements that ``texts`` and ``removals`` keep, because
    they are sent many times. ``combinations`` have a k of their own
    (``qifsql.commands.anonymise.kept_records``); ``shown_node`` is the node whose classes that stay
    are in the table ``shown``.
    """

    passes: Passes
    scales: Sequence[Scale]
    steps: Sequence[Sequence[ValueStep]]
    limits: ClassLimits
    sources: list[Source] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    removals: list[tuple[str, ...]] = field(default_factory=list)
    prior: dict[tuple[int, int], Profile] = field(default_factory=dict)
    combinations: Sequence[Combination] = ()
    rare_records: dict[tuple[Combination, Node], int] = field(default_factory=dict)
    shown_node: Node | None = None

    @property
    def heights(self) -> Node:
        """Return the last step of each quasi-identifier."""
        return tuple(len(steps) - 1 for steps in self.steps)

    @property
    def qids(self) -> range:
        """Return the numbers of the quasi-identifiers."""
        return range(1, len(self.steps) + 1)

    @property
    def strata(self) -> range:
        """Return the number of the column that no class mixes, if there is one.

        It has one step, the values as they are, and follows the quasi-identifiers.
        """
        return range(len(self.steps) + 1, self.passes.coded.width + 1)

    @property
    def counts_people(self) -> bool:
        """Return whether some people have several records, so that different people count."""
        return self.passes.coded.owners is not None

    @property
    def columns(self) -> range:
        """Return the numbers of all columns that make classes."""
        return range(1, self.passes.coded.width + 1)

    def positions(self, node: Node) -> list[int]:
        """Return the position of the step of each column in its list of steps, from 1."""
        return [*(s + 1 for s in node), *(1 for _ in self.strata)]

    def numbered_positions(self, node: Node) -> dict[str, int]:
        """Return the positions of the steps by their names in SQL: ``at_1 ..``."""
        return {f"at_{i}": at for i, at in enumerate(self.positions(node), 1)}

    def make_steps(self, *, nested: bool) -> None:
        """Make the tables ``steps_1 ..``, a row per value.

        Raises ColumnError where a hierarchy lacks a value, InputError where steps have to be
        ``nested`` and one is not coarser than the one before it.
        """
        for i, steps in enumerate(self.steps, 1):
            self._make_steps(i, steps[1:])
            self._check_levels(i, steps)
            if nested:
                self._check_nested(i, steps)
        for i in self.strata:
            self._make_steps(i, ())

    def make_bases(self, node: Node, shape: CellShape) -> None:
        """Make the tables ``bases_1 ..``: the place of each value for the release of a node.

        Where cells of the ``shape`` do not depend on the values of a group, these have one place,
        so that records with equal cells are counted together.
        """
        for i, s in zip_longest(self.columns, node, fillvalue=0):
            step = s if i <= len(node) and self.steps[i - 1][s].hides_values(shape) else 0
            self.passes.keep(
                f"bases_{i}",
                self.view_of_steps(
                    "bases", i, {"own_step": column_of(i, step), "place": f"place_{i}"}
                ),
            )

    def make_tuples(self) -> None:
        """Make ``tuples`` of ``coded``, one row per kind of person."""
        self.passes.drop(*(source.table for source in self.sources))
        combinations = self.passes.query("combinations")
        people = Step("combinations", "One row per different person.", combinations)
        tables = {f"steps_{i}": own_name(f"steps_{i}") for i in self.columns}
        heights = [*self.heights, *(0 for _ in self.strata)]
        tuples = self.view("tuples", tables=tables, heights=heights)
        rows = self.passes.keep("tuples", Plan((people,), tuples))
        self.sources = [Source((0,) * len(self.steps), "tuples", rows)]
        self.texts.clear()

    def _make_steps(self, i: int, coarser: Sequence[ValueStep]) -> None:
        """Make the table ``steps_i``: a row per value, with its group number in each step."""
        forms = microdata_steps.forms(own_name(scale_table(i)), [step.form for step in coarser])
        query = splice("anonymise/steps", shape={"qid": i, "height": len(coarser)})
        self.passes.keep(f"steps_{i}", Plan((forms,), query))

    def _check_levels(self, i: int, steps: Sequence[ValueStep]) -> None:
        """Refuse values that the hierarchy lacks; a missing one needs no line."""
        level = next((s for s, step in enumerate(steps) if step.content == "node"), None)
        if level is None:  # no step is a level of a hierarchy
            return
        values, people = self.passes.row(
            self.view_of_steps("outside", i, {"own_form": f"form_{level}"})
        )
        if values:
            raise ColumnError(
                f"the hierarchy of {quoted(self.scales[i - 1].attribute.name)} lacks {values:,} of "
                f"its values, which {plural(people, 'record')} of {self.passes.coded.name} have; "
                "add a line for each"
            )

    def _check_nested(self, i: int, steps: Sequence[ValueStep]) -> None:
        """Refuse a step that separates values which the step before it merges."""
        for s, (finer, coarser) in enumerate(pairwise(steps)):
            columns = {"own_finer": column_of(i, s), "own_coarser": column_of(i, s + 1)}
            pair = Step("steps", "One row per value.", self.view_of_steps("two_steps", i, columns))
            (splits,) = self.passes.row(Plan((pair,), splice("compare/splits")))
            if splits:
                raise InputError(
                    f"change {quoted(' + '.join(coarser.texts))} is not coarser than the step "
                    f"before it ({quoted(' + '.join(finer.texts) or 'as it is')}): it parts values "
                    "that are together there; name steps of which each merges groups of the last"
                )

    def losses(self, i: int) -> list[StepLoss]:
        """Return the loss of each step of quasi-identifier number ``i``, over all records."""
        scale, records = self.scales[i - 1], self.passes.coded.records
        losses = []
        for s, _ in enumerate(self.steps[i - 1]):
            columns = {"own_step": column_of(i, s), "place": f"place_{i}"}
            row = self.passes.row(self.view_of_steps("lost_by_step", i, columns))
            generalised, listed, spanned, entropy = map(int, row)  # entropy in 2^-40 nats
            covered, length = (spanned, scale.span) if scale.interval else (listed, scale.values)
            penalty = utility.penalty(covered, length, suppressed=0, records=records)
            losses.append(StepLoss(penalty, Fraction(entropy, records << 40), idle=not generalised))
        return losses

    def make_suppression_losses(self) -> None:
        """Make ``left_by_steps``: the loss of suppression beyond each step, by group of values."""
        queries = []
        for i, scale in enumerate(self.scales, 1):
            sizes = {"all_values": scale.values or 1, "all_lengths": scale.span or 1}
            sizes |= {"all_records": self.passes.coded.records, "qid_number": i}
            for s, _ in enumerate(self.steps[i - 1]):
                columns = {"own_step": column_of(i, s), "place": f"place_{i}"}
                numbers = sizes | {"step_number": s}
                queries.append(self.view_of_steps("left_by_step", i, columns, numbers))
        self.passes.keep("left_by_steps", union(queries))

    def measure(self, node: Node, limit: int) -> Measured:
        """Count the classes of a node; may make a table that speeds up coarser nodes.

        The loss of suppressed records is measured if there are any, and at most ``limit`` records.
        """
        source, is_shown = self.smallest_source(node), node == self.shown_node
        columns = list(self.columns)
        if source.rows > LONG_TABLE:  # then a text of its own is cheaper than further columns
            columns = self._columns_that_part(node)
        key = f"{source.table} by {columns}{', shown' if is_shown else ''}"
        if key not in self.texts:
            plan = self.measuring_plan(source.table, columns=columns, is_shown=is_shown)
            self.texts[key] = render.statement(plan)
        positions = self.positions(node)
        ((blocks, classes, suppressed, smallest, squares, all_squares, guessed),) = (
            self.passes.stream.rows(self.texts[key], [positions[i - 1] for i in columns])
        )
        shrinks = source.rows > LARGE_TABLE and source.rows >= 4 * blocks
        if shrinks and len(self.sources) < MOST_SOURCES:
            self._roll_up(node, source)
        counts = (blocks, classes, suppressed, smallest, int(squares), int(all_squares))
        measured = Measured(*counts, guessed=Fraction(int(guessed), 1 << 80))  # SQL: in 2^-80
        if not 0 < suppressed <= limit:
            return measured
        penalty, entropy = self._suppression_loss(node)
        return replace(measured, penalty=penalty, entropy=entropy)

    def _columns_that_part(self, node: Node) -> list[int]:
        """Return the columns by which the classes of a node differ, or one that is the same."""
        dropped = [
            i
            for i, (s, steps) in enumerate(zip(node, self.steps, strict=True), 1)
            if steps[s].content == "everything"
        ]
        return [i for i in self.columns if i not in dropped] or [1]

    def _suppression_loss(self, node: Node) -> tuple[Fraction, Fraction]:
        """Return the loss of suppressed records beyond the steps of a node: penalty and entropy.

        Both are means over all records and quasi-identifiers; entropy is in nats.
        """
        table, is_shown = self.smallest_source(node).table, node == self.shown_node
        key = f"suppression in {table}, {is_shown}"
        if key not in self.texts:
            sized = self._size_steps(table, None, "judged_classes", is_shown=is_shown)
            heights = make_step("anonymise/heights", shape={"qids": self.qids})
            plan = Plan((*sized, heights), self.view("lost_by_suppression"))
            self.texts[key] = render.statement(plan)
        rows = self.passes.stream.rows(self.texts[key], [*self.positions(node), *node])
        penalty = entropy = Fraction(0)
        for scale, (_number, listed, spanned, lost) in zip(self.scales, rows, strict=True):
            covered, length = (spanned, scale.span) if scale.interval else (listed, scale.values)
            penalty += Fraction(int(covered), length or 1)  # 0: there is one value
            entropy += Fraction(int(lost), 1 << 40)  # SQL counts in 2^-40 nats
        cells = self.passes.coded.records * len(node)
        return penalty / cells, entropy / cells

    def smallest_source(self, node: Node) -> Source:
        """Return the table with the fewest rows of those that a node can be counted from."""
        usable = (s for s in self.sources if all(map(operator.le, s.node, node)))
        return min(usable, key=lambda source: source.rows)

    def risks(self, node: Node) -> list[Risk]:
        """Return the risk of releasing a node for each secret, as ``qifsql.attack`` measures it.

        Suppressed records are one class. Without secrets there is one risk.
        """
        profiles = self._profiles(self._released_steps(node))
        if not self.prior:
            query = self.view("one_class", tables={"tuples": own_name("tuples")})
            self.prior = self._profiles([Step("released", "One row per person.", query)])
        names = [secret.attribute.name for secret in self.passes.coded.secrets]
        if not names:
            return [risk(None, 0, self.prior, profiles)]
        return [risk(name, j, self.prior, profiles) for j, name in enumerate(names, 1)]

    def _released_steps(self, node: Node) -> list[Step]:
        """Return the steps of a plan that ends with ``released``: people by class and secrets."""
        is_shown = node == self.shown_node
        steps = self.judged_steps(self.smallest_source(node).table, node, is_shown=is_shown)
        if not is_shown and not self.limits.of_secret:  # no limit needs the two views yet
            steps.append(Step("sides", "One row per class.", self.view("sides_of_node")))
            steps.append(make_step("anonymise/none_refused", "refused"))
        released = self.view("released_sides")
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

    def measuring_plan(
        self,
        table: str,
        node: Node | None = None,
        *,
        columns: Sequence[int] = (),
        is_shown: bool = False,
    ) -> Plan:
        """Return the plan that measures a node in a table of people (``judged_steps``)."""
        people = self.counts_people
        sized = self._size_steps(
            table, node, "judged_sizes", columns=columns, is_shown=is_shown, people=people
        )
        return Plan(sized, self.view("measured_node"))

    def _size_steps(
        self,
        table: str,
        node: Node | None,
        judged: str,
        *,
        columns: Sequence[int] = (),
        is_shown: bool,
        **shape: bool,
    ) -> tuple[Step, ...]:
        """Return the steps of a plan that ends with the sizes of the classes of a node.

        ``judged`` is the view of sizes if there are limits on a secret or on people. Without a
        ``node`` its steps are parameters, so that one text serves all nodes.
        """
        sizes = self.view("sizes_of_node", places=columns)
        if is_shown or self.passes.coded.judges(self.limits):
            sizes = self.view(judged, tables=None, numbers=None, places=columns, **shape)
        sized = Step("sizes_of_node", "One row per class.", sizes)
        return *self.judged_steps(table, node, columns=columns, is_shown=is_shown), sized

    def judged_steps(
        self,
        table: str,
        node: Node | None,
        *,
        columns: Sequence[int] = (),
        is_shown: bool = False,
    ) -> list[Step]:
        """Return the steps ``tuples_of_node`` and, if limits need it, ``refused`` (classes).

        ``table`` has the people. Without a ``node`` its steps are parameters of the SQL. With
        ``is_shown``, all classes are refused that are not in the table ``shown``. ``columns`` are
        those that part the classes, by default all.
        """
        people = self.view(
            "tuples_of_node",
            tables={"tuples": own_name(table)},
            numbers={} if node is None else self.numbered_positions(node),
            places=columns,
            qids=columns or self.columns,
            parameters=node is None,
        )
        steps = [Step("tuples_of_node", "One row per person.", people)]
        sides_of_node = self.view("sides_of_node", places=columns)
        if is_shown:
            sides = Step("sides", "One row per class and secrets.", sides_of_node)
            hidden = self.view("hidden_classes", tables={"shown": own_name("shown")})
            return [*steps, sides, Step("refused", BROKEN, hidden)]
        if self.passes.coded.judges(self.limits):
            broken = self.passes.coded.refused(self.limits, sides_of_node)
            steps += [*broken.steps, Step("refused", BROKEN, broken.result)]
        return steps

    def _roll_up(self, node: Node, source: Source) -> None:
        """Make a table of the classes of a node from ``source``, to count coarser nodes from.

        Do nothing if less than one node of ``NODES_PER_TABLE`` is as coarse.
        """
        coarser = math.prod(h - s + 1 for h, s in zip(self.heights, node, strict=True))
        if coarser * NODES_PER_TABLE < math.prod(h + 1 for h in self.heights):
            return
        name, tables = f"rolled_{len(self.sources)}", {"tuples": own_name(source.table)}
        numbers = self.numbered_positions(node)
        people = self.view("rolled_up", tables=tables, numbers=numbers, qids=self.columns)
        rows = self.passes.keep(name, people)
        # a table that is not half as large counts as no smaller, so that it is not preferred
        self.sources.append(Source(node, name, rows if 2 * rows <= source.rows else source.rows))

    def changes(self, node: Node) -> list[str]:
        """Return the changes of a node as they would be written."""
        chosen = (steps[s] for steps, s in zip(self.steps, node, strict=True))
        return [text for step in chosen for text in step.texts]

    def drop(self) -> None:
        """Drop the tables that were made."""
        self.passes.drop("left_by_steps", "shown", "open_classes", "still_open")
        self.passes.drop(*(source.table for source in self.sources))
        self.passes.drop(*(f"{name}_{i}" for i in self.columns for name in ("steps", "bases")))

    def view(
        self,
        view: str,
        *,
        tables: Mapping[str, str] | None = None,
        numbers: Mapping[str, int] | None = None,
        places: Sequence[int] = (),
        **shape: Shape,
    ) -> Select:
        """Return the query of a view about people at a node, with its placeholders filled.

        ``places`` are the columns that it is about, by default all.
        """
        return splice(
            f"anonymise/{view}",
            places=places or self.columns,
            secrets=self.passes.coded.carried,
            columns=self.passes.coded.person_column,
            numbers={"wanted_k": self.limits.k, "width": len(self.columns)} | dict(numbers or {}),
            tables={"left_by_steps": own_name("left_by_steps")} | dict(tables or {}),
            shape=shape,
        )

    def view_of_steps(
        self,
        view: str,
        i: int,
        columns: Mapping[str, str],
        numbers: Mapping[str, int] | None = None,
        **shape: Shape,
    ) -> Select:
        """Return the query of a view about the steps of quasi-identifier number ``i``."""
        names = ("done", "refused", "classes")
        tables = {name: own_name(name) for name in names}
        return splice(
            f"anonymise/{view}",
            columns=columns,
            tables=tables | {"steps_of": own_name(f"steps_{i}"), "sets": own_name(f"values_{i}")},
            numbers=numbers,
            shape=shape,
        )
