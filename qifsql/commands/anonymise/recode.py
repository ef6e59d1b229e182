"""Global recoding: every value of a quasi-identifier becomes the same cell in all records.

A quasi-identifier has steps, the first being its values as they are. The groups of every value are
whole numbers, in the tables ``steps_1 ..``. Steps are nested, so the number of a value holds those
of its groups: it is theirs with more bits behind it (``nested_steps``). ``tuples`` has the numbers
of the values of people. A node is a step of each quasi-identifier, and its classes are a GROUP BY
of these numbers without their last bits, in ``tuples`` or in the classes of a finer node.
"""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, pairwise, zip_longest
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

LARGE_TABLE = 10_000  # rows from which on a coarser table is worth making
LONG_TABLE = 50_000  # rows from which on only the columns that part classes are counted
SHRINKAGE = 16  # a coarser table has one row for so many of those that it is made of, or less
SAMPLE = 64  # rows of a table for one of its sample; less than SHRINKAGE^2 (``_is_small``)
RARE = 100  # a share of so many of the people is in a table of the rarest groups, at most
MOST_BITS = 126  # of a number of a value: no HUGEINT is 2^127
BROKEN = "One row per class that breaks a limit."


class Source(NamedTuple):
    """A table of people, from which ``node`` and all coarser nodes can be counted."""

    node: Node
    table: str
    rows: int


class StepSize(NamedTuple):
    """A step of a quasi-identifier: its groups, and the last bits that its numbers leave out."""

    cells: int
    shift: int


@dataclass
class Recoding:
    """The steps of all quasi-identifiers of a coded release, as tables, and the nodes of them.

    A step is known by its number ``s`` from 0, a quasi-identifier by its number ``i`` from 1.
    Nodes are counted from ``sources``, by statements that ``texts`` and ``removals`` keep, because
    they are sent many times. ``sizes`` are those of the steps of all columns that make classes;
    ``rare`` are tables of people in the rarest groups, by quasi-identifier and step; ``samples``
    have the rows of samples of tables. ``combinations`` have a k of their own
    (``qifsql.commands.anonymise.kept_records``); ``shown_node`` is the node whose classes that stay
    are in the table ``shown``.
    """

    passes: Passes
    scales: Sequence[Scale]
    steps: Sequence[Sequence[ValueStep]]
    limits: ClassLimits
    sources: list[Source] = field(default_factory=list)
    sizes: list[list[StepSize]] = field(default_factory=list)
    samples: dict[str, int] = field(default_factory=dict)
    rare: dict[tuple[int, int], Source] = field(default_factory=dict)
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

    def _steps_at(self, node: Node) -> list[StepSize]:
        """Return the steps of all columns at a node; a stratum has one step."""
        steps = (*node, *(0 for _ in self.strata))
        return [sizes[s] for sizes, s in zip(self.sizes, steps, strict=True)]

    def shifts(self, node: Node) -> list[int]:
        """Return the bits that the step of each column leaves out of the number of a value."""
        return [step.shift for step in self._steps_at(node)]

    def numbered_shifts(self, node: Node) -> dict[str, int]:
        """Return these bits by their names in SQL: ``at_1 ..``."""
        return {f"at_{i}": at for i, at in enumerate(self.shifts(node), 1)}

    def make_steps(self, *, nested: bool) -> None:
        """Make the tables ``steps_1 ..``, a row per value.

        Raises ColumnError where a hierarchy lacks a value, InputError where steps have to be
        ``nested`` and one is not coarser than the one before it.
        """
        for i in self.columns:
            steps = () if i in self.strata else self.steps[i - 1]
            self._make_steps(i, steps[1:])
            self._check_levels(i, steps)
            if nested:
                self._check_nested(i, steps)
            self._nest_steps(i, max(0, len(steps) - 1))

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
        """Make ``tuples`` of ``coded``, one row per person or kind of person."""
        records, passes = self.passes.coded.records, self.passes
        tables = {"coded": own_name("coded")}
        secrets = range(1, passes.coded.carried + 1)
        counted = self.view("different_people", tables=tables, qids=self.columns, secrets=secrets)
        (different,) = passes.row(counted)
        view = "combinations" if 4 * different < 3 * records else "single_people"
        people = Step("combinations", "One row per person or kind of person.", passes.query(view))
        tables = {f"steps_{i}": own_name(f"steps_{i}") for i in self.columns}
        tuples = self.view("tuples", tables=tables, qids=self.columns)
        rows = passes.keep("tuples", Plan((people,), tuples))
        self.sources = [Source((0,) * len(self.steps), "tuples", rows)]

    def _make_steps(self, i: int, coarser: Sequence[ValueStep]) -> None:
        """Make the table ``steps_i``: a row per value, with its group number in each step."""
        shape = {"qid": i, "height": len(coarser)}
        forms = microdata_steps.forms(own_name(scale_table(i)), [step.form for step in coarser])
        steps = Step("steps_of", "One row per value.", splice("anonymise/steps", shape=shape))
        self.passes.keep(f"steps_{i}", Plan((forms, steps), splice("anonymise/ranks", shape=shape)))

    def _nest_steps(self, i: int, height: int) -> None:
        """Replace numbers of groups in ``steps_i`` by ones of which finer numbers hold coarser."""
        row = self.passes.row(self.view_of_steps("sizes_of_steps", i, {}, qid=i, height=height))
        cells, shifts = row[::2], list(accumulate(row[1::2], initial=0))
        if shifts[-1] > MOST_BITS:
            name = quoted(self.scales[i - 1].attribute.name)
            raise InputError(f"{name} has too many steps; name fewer")
        nested = self.view_of_steps("nested_steps", i, {}, qid=i, shifts=shifts)
        self.passes.replace(f"steps_{i}", nested)
        self.sizes.append([StepSize(*size) for size in zip(cells, shifts, strict=False)])

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
        """Refuse a step that separates values which the step before it merges.

        ``pair`` has a row per value of quasi-identifier ``i`` with its cell by a step and by the
        next one. Where one finer cell has several coarser ones, the next step splits it.
        """
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

    def measure(self, node: Node, limit: int, *, refuse_early: bool = False) -> Measured:
        """Count the classes of a node.

        The loss of suppressed records is measured if there are any, and at most ``limit`` records.
        With ``refuse_early``, some classes alone are counted if more than ``limit`` records of
        these are suppressed.
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

        So a class of the node, or of a finer one, has all its records there, or none. Where a node
        breaks a limit, such a class mostly does.
        """
        i = max(self.qids, key=lambda i: self.sizes[i - 1][node[i - 1]].cells)
        s = node[i - 1]
        if (i, s) not in self.rare:
            people, shift = self.passes.coded.records // RARE, self.sizes[i - 1][s].shift
            columns = {"own_step": column_of(i, s), "own_code": f"code_{i}"}
            numbers = {"most_people": people, "shift": shift}
            name = f"rare_{i}_{s}"
            query = self.view_of_steps("rare_tuples", i, columns, numbers)
            self.rare[i, s] = Source(node, name, self.passes.keep(name, query))
        return self.rare[i, s] if self.rare[i, s].rows else None

    def _count_classes(self, node: Node, source: Source) -> Measured:
        """Count the classes of a node in a table."""
        is_shown = node == self.shown_node
        columns = list(self.columns)
        if source.rows > LONG_TABLE:  # then a text of its own is cheaper than further columns
            columns = self._columns_that_part(node) or [1]
        key = f"{source.table} by {columns}{', shown' if is_shown else ''}"
        if key not in self.texts:
            forms = {"is_shown": is_shown, "people": self.counts_people}
            sized = self._size_steps(source.table, "judged_sizes", columns=columns, **forms)
            self.texts[key] = render.statement(Plan(sized, self.view("measured_node")))
        shifts = self.shifts(node)
        ((blocks, classes, suppressed, smallest, squares, all_squares, guessed),) = (
            self.passes.stream.rows(self.texts[key], [shifts[i - 1] for i in columns])
        )
        counts = (blocks, classes, suppressed, smallest, int(squares), int(all_squares))
        return Measured(*counts, guessed=Fraction(int(guessed), 1 << 80))  # SQL: in 2^-80

    def _columns_that_part(self, node: Node) -> list[int]:
        """Return the columns by which the classes of a node differ."""
        return [i for i, step in enumerate(self._steps_at(node), 1) if step.cells > 1]

    def _suppression_loss(self, node: Node) -> tuple[Fraction, Fraction]:
        """Return the loss of suppressed records beyond the steps of a node: penalty and entropy.

        Both are means over all records and quasi-identifiers; entropy is in nats. SQL returns a row
        per quasi-identifier, in order: of all suppressed records together, the values that their
        cells lose (``listed``), or their lengths on the scale (``spanned``), and their entropy.
        ``shown_node`` is that whose classes are stored already.
        """
        table, is_shown = self.source_of(node).table, node == self.shown_node
        key = f"suppression in {table}, {is_shown}"
        if key not in self.texts:
            sized = self._size_steps(table, "judged_classes", is_shown=is_shown)
            heights = make_step("anonymise/heights", shape={"qids": self.qids})
            plan = Plan((*sized, heights), self.view("lost_by_suppression"))
            self.texts[key] = render.statement(plan)
        rows = self.passes.stream.rows(self.texts[key], [*self.shifts(node), *node])
        penalty = entropy = Fraction(0)
        for scale, (_number, listed, spanned, lost) in zip(self.scales, rows, strict=True):
            covered, length = (spanned, scale.span) if scale.interval else (listed, scale.values)
            penalty += Fraction(int(covered), length or 1)  # 0: there is one value
            entropy += Fraction(int(lost), 1 << 40)  # SQL counts in 2^-40 nats
        cells = self.passes.coded.records * len(node)
        return penalty / cells, entropy / cells

    def source_of(self, node: Node) -> Source:
        """Return the table with the fewest rows that a node can be counted from; may make one.

        What is made has the classes of a node that is finer, so that other nodes can be counted
        from it, too. All tables together do not have more rows than ``tuples``.
        """
        source = min(
            (s for s in self.sources if all(map(operator.le, s.node, node))),
            key=lambda source: source.rows,
        )
        limit = source.rows // SHRINKAGE
        is_long = source.rows > LARGE_TABLE and len(self._columns_that_part(node)) > 1
        is_long = is_long and not self.counts_people  # of whom most differ
        if not is_long or sum(s.rows for s in self.sources) + limit > 2 * self.sources[0].rows:
            return source
        finer = self._finer_node(node, source)
        if finer is None:
            return source
        name, tables = f"rolled_{len(self.sources)}", {"tuples": own_name(source.table)}
        numbers = self.numbered_shifts(finer)
        people = self.view("rolled_up", tables=tables, numbers=numbers, qids=self.columns)
        self.sources.append(Source(finer, name, self.passes.keep(name, people)))
        return self.sources[-1]

    def _finer_node(self, node: Node, source: Source) -> Node | None:
        """Return a finer node with few classes for the rows of a table; None if ``node`` has many.

        Of each quasi-identifier the step goes down to that of the table, as long as there are not
        too many classes: first where many nodes are gained for few classes.
        """
        if not self._is_small(node, source):
            return None
        open_qids = set(self.qids)

        def gain(i: int) -> float:
            sizes, s = self.sizes[i - 1], node[i - 1]
            factor = math.log(sizes[s - 1].cells / sizes[s].cells)
            return math.log1p(1 / (len(sizes) - s)) / factor if factor else math.inf

        while open_qids := {i for i in open_qids if node[i - 1] > source.node[i - 1]}:
            i = max(open_qids, key=lambda i: (gain(i), i))
            finer = (*node[: i - 1], node[i - 1] - 1, *node[i:])
            if self._is_small(finer, source):
                node = finer
            else:
                open_qids.remove(i)
        return node

    def _is_small(self, node: Node, source: Source) -> bool:
        """Estimate from a sample whether a node has few classes by secrets, for a table's rows.

        The estimate is GEE (Charikar et al. 2000). Where all rows differ, it is too small by a
        factor that is the root of SAMPLE.
        """
        name = f"sample_{source.table}"
        if name not in self.samples:
            tables, numbers = {"tuples": own_name(source.table)}, {"stride": SAMPLE}
            drawn = self.view("sample_of_tuples", tables=tables, numbers=numbers, qids=self.columns)
            self.samples[name] = self.passes.keep(name, drawn)
            tables = {"tuples": own_name(name)}
            query = self.view("classes_of_sample", tables=tables, qids=self.columns)
            self.texts[name] = render.statement(Plan((), query))
        ((classes, single),) = self.passes.stream.rows(self.texts[name], self.shifts(node))
        factor = math.sqrt(source.rows / max(1, self.samples[name]))
        return bool((classes + (factor - 1) * single) * SHRINKAGE <= source.rows)

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
        steps = self.judged_steps(self.source_of(node).table, node, is_shown=is_shown)
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

    def _size_steps(
        self,
        table: str,
        judged: str,
        *,
        columns: Sequence[int] = (),
        is_shown: bool,
        **shape: bool,
    ) -> tuple[Step, ...]:
        """Return the steps of a plan that ends with the sizes of the classes of a node.

        ``judged`` is the view of sizes if there are limits on a secret or on people. The steps of
        the node are parameters, so that one text serves all nodes.
        """
        sizes = self.view("sizes_of_node", places=columns)
        if is_shown or self.passes.coded.judges(self.limits):
            sizes = self.view(judged, tables=None, numbers=None, places=columns, **shape)
        sized = Step("sizes_of_node", "One row per class.", sizes)
        return *self.judged_steps(table, None, columns=columns, is_shown=is_shown), sized

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
            numbers={} if node is None else self.numbered_shifts(node),
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

    def changes(self, node: Node) -> list[str]:
        """Return the changes of a node as they would be written."""
        chosen = (steps[s] for steps, s in zip(self.steps, node, strict=True))
        return [text for step in chosen for text in step.texts]

    def drop(self) -> None:
        """Drop the tables that were made."""
        self.passes.drop("left_by_steps", "shown", "open_classes", "still_open", *self.samples)
        self.passes.drop(*(source.table for source in (*self.sources, *self.rare.values())))
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
        names = ("done", "refused", "classes", "tuples")
        tables = {name: own_name(name) for name in names}
        return splice(
            f"anonymise/{view}",
            columns=columns,
            tables=tables | {"steps_of": own_name(f"steps_{i}"), "sets": own_name(f"values_{i}")},
            numbers=numbers,
            shape=shape,
        )
