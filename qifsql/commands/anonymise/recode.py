"""Global recoding: every value of a quasi-identifier becomes the same cell in all records.

A ladder has the steps of one quasi-identifier, the first being its values as they are. The steps
of every value are whole numbers, in the tables ``steps_1 ..``; ``tuples`` has a row for each
different person, with a list of all steps of each of its values. A node is a step of each
quasi-identifier, and its classes are a GROUP BY of one element of each list of ``tuples``, or of a
coarser table that was rolled up on the way.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import polars as pl
from sqlglot import exp

from qifsql.adversary.changes import Change
from qifsql.adversary.spec import Attribute
from qifsql.commands.anonymise.generalise import Cells, Content, Loss, check_sets, make_values
from qifsql.commands.anonymise.lattice import Measured, Node
from qifsql.commands.anonymise.nominal import Nominal, nominal
from qifsql.counting import changed_attributes
from qifsql.counting.changed_attributes import Changed, as_values
from qifsql.counting.constraints import Wishes
from qifsql.counting.cuts import refused
from qifsql.counting.passes import Passes
from qifsql.counting.risks import Risk, risk
from qifsql.counting.scales import Scale, measured, own_name, own_table, scale_table
from qifsql.data.expressions import SOURCE
from qifsql.errors import ColumnError, InputError, quoted, several
from qifsql.measures import utility
from qifsql.measures.profile import Profile
from qifsql.query import microdata_steps, render
from qifsql.query.columns import equal, number
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import splice

LARGE = 2_000  # rows of which a coarser table is worth making
SOURCES = 16  # tables that are rolled up, at most
HIDDEN = -1  # the step of a cell that is suppressed
BROKEN = "One row per class that breaks a limit."
SERVED = 100  # a table is worth making for a hundredth of all nodes


@dataclass(frozen=True)
class Rung:
    """One step of a quasi-identifier: its changes, its form, and what its cells are.

    ``form`` is over the column ``value``; None: one cell for everything. ``characters`` are those
    that a prefix keeps. ``interval``: intervals by their definition;
    None: from the least to the greatest value.
    """

    changes: tuple[Change, ...]
    form: Attribute | None
    content: Content
    characters: int = 0
    interval: Nominal | None = None

    @property
    def texts(self) -> list[str]:
        """Return the changes as they were written."""
        return [change.text for change in self.changes]


def rung(i: int, changes: Sequence[Change], changed: Changed) -> Rung:
    """Return the step that changes make, one after the other, of the values as they are.

    Raises InputError, ColumnError or ExpressionError where there is no such form.
    """
    forms = changed_attributes.after(list(map(as_values, changed.qids)), changes, changed)
    form, kinds = forms[i - 1], {change.kind for change in changes}
    content: Content = "interval" if measured(changed.qids[i - 1].type) else "set"
    if not changes:
        content = "value"
    elif form is None:
        content = "everything"
    elif "expression" in kinds:
        content = "label"
    elif "level" in kinds:
        content = "node"
    elif content == "set" and len(changes) == 1:
        return Rung(tuple(changes), form, "prefix", int(changes[0].how))
    interval = nominal(i, changes, changed) if content == "interval" else None
    return Rung(tuple(changes), form, content, interval=interval)


@dataclass
class Recoding:
    """The steps of all quasi-identifiers of a coded release, as tables, and the nodes of them."""

    passes: Passes
    scales: Sequence[Scale]
    ladders: Sequence[Sequence[Rung]]
    wishes: Wishes
    sources: list[tuple[Node, str, int]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    prior: dict[tuple[int, int], Profile] = field(default_factory=dict)

    @property
    def heights(self) -> Node:
        """Return the last step of each quasi-identifier."""
        return tuple(len(ladder) - 1 for ladder in self.ladders)

    def make(self, *, nested: bool) -> None:
        """Make the tables of steps and of different people.

        Raises ColumnError where a hierarchy lacks a value, InputError where steps have to be
        ``nested`` and one is not coarser than the one before it.
        """
        for i, ladder in enumerate(self.ladders, 1):
            self._make_steps(i, ladder)
            self._check_levels(i, ladder)
            if nested:
                self._check_nested(i, ladder)
        combinations = self.passes.query("combinations").subquery("combinations")
        query = exp.select().from_(combinations)
        columns: list[exp.Expr] = []
        for i, ladder in enumerate(self.ladders, 1):
            table = f"steps_{i}"
            place = exp.column(f"place_{i}", table="combinations")
            steps = [exp.column(_step(i, s), table=table) for s in range(1, len(ladder))]
            columns.append(exp.Array(expressions=[place, *steps]).as_(f"steps_{i}"))
            on = equal(place.copy(), exp.column(f"place_{i}", table=table))
            query = query.join(exp.alias_(own_table(table), table, table=True), on=on)
        columns += [*self._secrets, exp.column("people", table="combinations")]
        rows = self.passes.keep("tuples", query.select(*columns))
        self.sources = [((0,) * len(self.ladders), "tuples", rows)]

    def _make_steps(self, i: int, ladder: Sequence[Rung]) -> None:
        """Make the table ``steps_i``: the number of each value's group in every step."""
        forms: list[exp.Expr] = []
        ranks: list[exp.Expr] = []
        for s, step in enumerate(ladder[1:], 1):
            form = exp.Literal.number(1) if step.form is None else microdata_steps.normal(step.form)
            forms.append(exp.alias_(form, f"form_{s}"))
            order = exp.Order(expressions=[exp.Ordered(this=exp.column(f"form_{s}"), desc=False)])
            rank = exp.Window(this=exp.DenseRank(), order=order)
            ranks.append(exp.alias_(exp.cast(rank, "INTEGER"), _step(i, s)))
        values = exp.alias_(own_table(scale_table(i)), SOURCE, table=True)
        columns: list[exp.Expr] = [exp.column(c, table=SOURCE) for c in ("value", "people")]
        columns.append(exp.column("place", table=SOURCE).as_(f"place_{i}"))
        formed = exp.select(*columns, *forms).from_(values).subquery("formed")
        names = [exp.column(f"form_{s}") for s in range(1, len(ladder))]
        names.append(exp.column(f"place_{i}"))
        query = exp.select("value", "people", *names, *ranks).from_(formed)
        self.passes.keep(f"steps_{i}", query)

    def _check_levels(self, i: int, ladder: Sequence[Rung]) -> None:
        """Refuse values that the hierarchy lacks; a missing one needs no line."""
        level = next((s for s, step in enumerate(ladder) if step.content == "node"), None)
        if level is None:
            return
        outside = exp.select("count(*)", "coalesce(sum(people), 0)::BIGINT")
        missing = exp.column(f"form_{level}").is_(exp.null())
        outside = outside.from_(own_table(f"steps_{i}")).where("value IS NOT NULL", missing)
        values, people = self.passes.row(outside)
        if values:
            raise ColumnError(
                f"the hierarchy of {quoted(self.scales[i - 1].attribute.name)} lacks {values:,} of "
                f"its values, which {several(people, 'record')} of {self.passes.coded.name} have; "
                "add a line for each"
            )

    def _check_nested(self, i: int, ladder: Sequence[Rung]) -> None:
        for (s, _), (above, step) in pairwise(enumerate(ladder)):
            pair = ((_step(i, s), "finer"), (_step(i, above), "coarser"))
            columns = [exp.column(name).as_(alias) for name, alias in pair]
            self.passes.keep("steps", exp.select(*columns).from_(own_table(f"steps_{i}")))
            (split,) = self.passes.row(
                splice("compare/splits", tables={"steps": own_name("steps")})
            )
            self.passes.drop("steps")
            if split:
                raise InputError(
                    f"change {quoted(' + '.join(step.texts))} is not coarser than the step before "
                    f"it ({quoted(' + '.join(ladder[s].texts) or 'as it is')}): it parts values "
                    "that are together there; name steps of which each merges groups of the last"
                )

    def losses(self, i: int) -> list["StepLoss"]:
        """Return what each step of a quasi-identifier loses."""
        scale, records = self.scales[i - 1], self.passes.coded.records
        losses = []
        for s, _ in enumerate(self.ladders[i - 1]):
            columns = {"own_step": _step(i, s), "place": f"place_{i}"}
            tables = {"steps_of": own_name(f"steps_{i}")}
            row = self.passes.row(splice("anonymise/lost_by_step", columns=columns, tables=tables))
            generalised, listed, spanned, lost = row
            sizes = (spanned, scale.span) if scale.interval else (listed, scale.values)
            penalty = utility.penalty(int(sizes[0]), sizes[1], suppressed=0, records=records)
            losses.append(
                StepLoss(penalty, Fraction(int(lost), records << 40), idle=not generalised)
            )
        return losses

    def make_left(self) -> None:
        """Make the table ``left_by_steps`` of what each step leaves for suppression to lose."""
        parts = [
            splice(
                "anonymise/left_by_step",
                columns={"own_step": _step(i, s), "place": f"place_{i}"},
                tables={"steps_of": own_name(f"steps_{i}")},
                numbers={
                    **{"qid_number": i, "step_number": s, "all_values": scale.values or 1},
                    **{"all_lengths": scale.span or 1, "all_records": self.passes.coded.records},
                },
            )
            for i, (scale, ladder) in enumerate(zip(self.scales, self.ladders, strict=True), 1)
            for s, _ in enumerate(ladder)
        ]
        every = exp.union(*parts, distinct=False) if len(parts) > 1 else parts[0]
        self.passes.keep("left_by_steps", every)

    def measure(self, node: Node, most: int) -> Measured:
        """Return the classes of a node; what suppressed records lose, if at most ``most``."""
        table, rows = self._source(node)
        if table not in self.texts:
            self.texts[table] = render.statement(self._measuring(table))
        steps = [s + 1 for s in node]
        ((blocks, classes, suppressed, smallest, squares, all_squares),) = self.passes.stream.rows(
            self.texts[table], steps
        )
        if LARGE < rows >= 4 * blocks and len(self.sources) < SOURCES and self._serves(node):
            self._roll_up(node, table, rows)
        counts = Measured(blocks, classes, suppressed, smallest, int(squares), int(all_squares))
        if not 0 < suppressed <= most:
            return counts
        penalty, entropy = self._suppression(node)
        return replace(counts, penalty=penalty, entropy=entropy)

    def _suppression(self, node: Node) -> tuple[Fraction, Fraction]:
        """Return what suppressed records lose beyond the steps of a node: penalty and entropy.

        Means over all records and quasi-identifiers.
        """
        table, _ = self._source(node)
        key = f"suppression in {table}"
        if key not in self.texts:
            sized = self._sized(table, None, "judged_classes")
            plan = Plan((*sized, self._heights), self._splice("lost_by_suppression"))
            self.texts[key] = render.statement(plan)
        rows = self.passes.stream.rows(self.texts[key], [*(s + 1 for s in node), *node])
        penalty = entropy = Fraction(0)
        for scale, (_, listed, spanned, lost) in zip(self.scales, rows, strict=True):
            left, whole = (spanned, scale.span) if scale.interval else (listed, scale.values)
            penalty += Fraction(int(left), whole or 1)
            entropy += Fraction(int(lost), 1 << 40)
        cells = self.passes.coded.records * len(node)
        return penalty / cells, entropy / cells

    @property
    def _heights(self) -> Step:
        """Return the table of the step of each quasi-identifier; they are parameters."""
        steps = exp.Array(expressions=[exp.Placeholder() for _ in self.ladders])
        numbers = exp.Array(expressions=[number(i) for i, _ in enumerate(self.ladders, 1)])
        columns = ((numbers, "number"), (steps, "height"))
        query = exp.select(*(exp.alias_(exp.func("unnest", of), name) for of, name in columns))
        return Step("heights", "One row per quasi-identifier: its step.", query)

    def _source(self, node: Node) -> tuple[str, int]:
        """Return the smallest table of people that a node can be counted from, and its rows."""
        finer = [s for s in self.sources if all(a <= b for a, b in zip(s[0], node, strict=True))]
        _, table, rows = min(finer, key=lambda source: source[2])
        return table, rows

    def risks(self, node: Node) -> list[Risk]:
        """Return the risk of the release of a node for each secret, as an attack on it finds it.

        Suppressed records are one class. Without secrets there is one risk.
        """
        profiles = self._profiles(self._released(node))
        if not self.prior:
            columns = [exp.Literal.number(1).as_("part"), *self._secrets, exp.column("people")]
            query = exp.select(*columns).from_(own_table("tuples"))
            self.prior = self._profiles([Step("released", "One row per person.", query)])
        names = [secret.attribute.name for secret in self.passes.coded.secrets]
        if not names:
            return [risk(None, 0, self.prior, profiles)]
        return [risk(name, j, self.prior, profiles) for j, name in enumerate(names, 1)]

    def _released(self, node: Node) -> list[Step]:
        """Return the steps to the classes of a node as they are released."""
        table, _ = self._source(node)
        people = Step("tuples_of_node", "One row per person.", self._of_node(table, node))
        steps, coded, sides = [people], self.passes.coded, self._splice("sides_of_node")
        if self.wishes.of_secret:
            broken = refused(self.wishes, coded.secrets, sides, records=coded.records)
            steps += [*broken.steps, Step("refused", BROKEN, broken.result)]
        else:
            none = exp.select(exp.Literal.number(0).as_("part")).where("FALSE")
            steps += [Step("sides", "One row per class.", sides), Step("refused", BROKEN, none)]
        released = self._splice("released_sides")
        return [*steps, Step("released", "One row per class as it is released.", released)]

    def _profiles(self, steps: Sequence[Step]) -> dict[tuple[int, int], Profile]:
        """Return the profile of classes for whose record it is (0, 0), and for each secret."""
        profiles = {}
        for j in range(len(self.passes.coded.secrets) + 1):
            column = f"secrets_{j}" if j else "part"
            classes = splice("anonymise/released_blocks", columns={"secret": column})
            blocks = Step("blocks", "One row per class and its best guess.", classes)
            sql = render.statement(Plan((*steps, blocks), splice("attack/profile")))
            rows = self.passes.stream.rows(sql)
            names = ["size", "mode", "values", "blocks"]
            frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64()), orient="row")
            profiles[j, 0] = Profile.of_counts(frame)
        return profiles

    def _serves(self, node: Node) -> bool:
        """Return whether enough nodes are at least as coarse, to which a table of it is of use."""
        above = math.prod(h - s + 1 for h, s in zip(self.heights, node, strict=True))
        return above * SERVED >= math.prod(h + 1 for h in self.heights)

    def _measuring(self, table: str, node: Node | None = None) -> Plan:
        """Return the plan that measures a node in a table of people."""
        return Plan(self._sized(table, node, "judged_sizes"), self._splice("measured_node"))

    def _sized(self, table: str, node: Node | None, judged: str) -> tuple[Step, ...]:
        """Return the steps to the sizes of the classes of a node; ``judged`` is their view.

        Without a ``node`` its steps are parameters: the text is the same for all nodes.
        """
        people = Step("tuples_of_node", "One row per person.", self._of_node(table, node))
        if not self.wishes.of_secret:
            sizes = Step("sizes_of_node", "One row per class.", self._splice("sizes_of_node"))
            return people, sizes
        coded, sides = self.passes.coded, self._splice("sides_of_node")
        broken = refused(self.wishes, coded.secrets, sides, records=coded.records)
        return (
            people,
            *broken.steps,
            Step("refused", BROKEN, broken.result),
            Step("sizes_of_node", "One row per class.", self._splice(judged)),
        )

    def _of_node(self, table: str, node: Node | None) -> exp.Select:
        """Return people by the steps of a node: its parameters, if none is said."""
        columns: list[exp.Expr] = []
        for i, _ in enumerate(self.ladders, 1):
            at = exp.Placeholder() if node is None else number(node[i - 1] + 1)
            columns.append(_element(i, at).as_(f"step_{i}"))
        return exp.select(*columns, *self._secrets, "people").from_(own_table(table))

    @property
    def _secrets(self) -> list[exp.Column]:
        return [exp.column(f"secrets_{j}") for j, _ in enumerate(self.passes.coded.secrets, 1)]

    def _roll_up(self, node: Node, table: str, rows: int) -> None:
        """Make a table of the classes of a node, from which coarser nodes are measured."""
        name = f"rolled_{len(self.sources)}"
        groups = [_element(i, number(s + 1)) for i, s in enumerate(node, 1)]
        steps = [f"steps_{i}" for i, _ in enumerate(node, 1)]
        every = [exp.AnyValue(this=exp.column(name)).as_(name) for name in steps]
        people = exp.select(*every, *self._secrets, "sum(people)::BIGINT AS people")
        people = people.from_(own_table(table)).group_by(*groups, *self._secrets)
        rolled_rows = self.passes.keep(name, people)
        worth = 2 * rolled_rows <= rows
        self.sources.append((node, name, rolled_rows if worth else rows))

    def release(self, node: Node, order: Sequence[int] = ()) -> None:
        """Make the tables ``done`` and ``refused`` of the classes of a node.

        In the people of classes that break a limit, the cells of the quasi-identifiers of ``order``
        (their numbers) are hidden one after the other. People who hide the same ones then form
        classes among themselves. All others keep theirs, so these go on keeping the limits.
        """
        self.passes.statements[render.statement(self._measuring("tuples", node))] = None
        people = self._of_node("tuples", node)
        places = [_element(i, number(1)).as_(f"place_{i}") for i, _ in enumerate(node, 1)]
        of_node = Step("tuples_of_node", "One row per person.", people.select(*places))
        self.passes.keep("done", Plan((of_node,), self._splice("done_of_node")))
        self._judge()
        for i in order:
            self._hide(i)
        if len(set(order)) == len(self.ladders):  # nothing is left of these records
            hidden = [exp.EQ(this=exp.column(s), expression=number(HIDDEN)) for s in self._steps]
            gone = exp.select("part").distinct().from_(own_table("done")).where(*hidden)
            judged = exp.select("part").from_(own_table("refused"))
            self.passes.append("refused", exp.except_(gone, judged))

    def _judge(self) -> None:
        """Make the table ``refused`` of the classes that break a limit."""
        self.passes.judge(self.wishes, "sides_of_classes")
        small = self.passes.query("too_small", {"wanted_k": self.wishes.k})
        self.passes.append("refused", small)

    def _hide(self, i: int) -> None:
        """Hide the cells of a quasi-identifier in all classes that break a limit."""
        places = [exp.column(f"place_{j}") for j, _ in enumerate(self.ladders, 1)]
        shown = [exp.column(step) for step in self._steps]
        broken = exp.Not(this=exp.column("part", table="refused").is_(exp.null()))
        steps: list[exp.Expr] = [step.copy() for step in shown]
        steps[i - 1] = exp.Case().when(broken, number(HIDDEN)).else_(steps[i - 1])
        named = [exp.alias_(step, name) for step, name in zip(steps, self._steps, strict=True)]
        same = equal(exp.column("part", table="done"), exp.column("part", table="refused"))
        refused_parts = exp.alias_(own_table("refused"), "refused", table=True)
        done = exp.alias_(own_table("done"), "done", table=True)
        hiding = exp.select(*places, *named, "people").from_(done)
        hiding = hiding.join(refused_parts, on=same, join_type="left")
        order = exp.Order(expressions=[exp.Ordered(this=exp.column(s)) for s in self._steps])
        part = exp.alias_(exp.Window(this=exp.DenseRank(), order=order), "part")
        query = exp.select(part, *places, *shown, "people").from_(hiding.subquery("hiding"))
        self.passes.keep("hidden", query)
        self.passes.drop("done", "refused")
        self.passes.keep("done", exp.select("*").from_(own_table("hidden")))
        self.passes.drop("hidden")
        self._judge()

    def hidden(self) -> list[int]:
        """Return how many cells of each quasi-identifier are suppressed, without whole records."""
        shown = exp.Not(this=exp.column("suppressed"))
        counts = []
        for step in self._steps:
            cells = exp.and_(exp.EQ(this=exp.column(step), expression=number(HIDDEN)), shown.copy())
            total = exp.Filter(
                this=exp.Sum(this=exp.column("size")), expression=exp.Where(this=cells)
            )
            counts.append(exp.func("coalesce", total, exp.Literal.number(0)))
        return [int(n) for n in self.passes.row(exp.select(*counts).from_(own_table("classes")))]

    @property
    def _steps(self) -> list[str]:
        """Return the columns of the steps of a record."""
        return [f"step_{i}" for i, _ in enumerate(self.ladders, 1)]

    def widen(self) -> None:
        """Make the table ``classes`` of ``own_classes``, with intervals that cover all of a step.

        So records at the same step have the same cell, whatever their class; only records that are
        not suppressed count.
        """
        steps = self._steps
        parts = exp.select("part").from_(own_table("done")).group_by("part")
        parts = parts.select(*(exp.Min(this=exp.column(s)).as_(s) for s in steps))
        columns: list[exp.Expr] = [exp.column(c, table="classes") for c in ("part", "size")]
        columns += [exp.column("suppressed", table="classes"), *map(exp.column, steps)]
        for i, step in enumerate(steps, 1):
            for name, ending in (("low", exp.Min), ("top", exp.Max), ("high", exp.Max)):
                shown = exp.Not(this=exp.column("suppressed", table="classes"))
                end = ending(this=exp.column(f"{name}_{i}", table="classes"))
                counted = exp.Filter(this=end, expression=exp.Where(this=shown))
                window = exp.Window(this=counted, partition_by=[exp.column(step)])
                columns.append(exp.alias_(window, f"{name}_{i}"))
        classes = exp.alias_(own_table("own_classes"), "classes", table=True)
        query = exp.select(*columns).from_(classes)
        self.passes.keep("classes", query.join(parts.subquery("parts"), using=["part"]))
        self.passes.drop("own_classes")

    def make_values(self, column: Cells, step: Rung, s: int) -> None:
        """Make the table ``values_i`` of what cells hold, by step, where they need one."""
        i = column.number
        if column.kind == "labelled" and step.form is not None:
            self._make_labels(column, step, s)
        elif column.nominal is not None:
            part = exp.column(_step(i, s))
            ends = zip(column.nominal.ends(), ("lower", "upper"), strict=True)
            query = exp.select(part.as_("part"), *(end.as_(name) for end, name in ends))
            query = query.from_(exp.alias_(own_table(f"steps_{i}"), SOURCE, table=True))
            self.passes.keep(f"values_{i}", query.group_by(part))
        elif column.kind in ("listed", "centred"):
            shown = exp.select("part").from_(own_table("refused")).subquery("refused")
            parts = [exp.column(f"step_{i}").as_("part"), exp.column(f"place_{i}")]
            done = exp.select(*parts, "sum(people)::BIGINT AS people").from_(own_table("done"))
            done = done.join(shown, using=["part"], join_type="anti")
            done = done.where(exp.column(f"step_{i}") >= 0).group_by("1", "2")
            self.passes.keep("done_by_step", done)
            make_values(self.passes, column, "done_by_step")
            self.passes.drop("done_by_step")
        if column.kind == "listed":
            self._check_sets(column)

    def _make_labels(self, column: Cells, step: Rung, s: int) -> None:
        i = column.number
        if step.content == "prefix":
            columns = {"own_step": _step(i, s), "own_form": f"form_{s}"}
            tables, numbers = (
                {"steps_of": own_name(f"steps_{i}")},
                {"kept_characters": step.characters},
            )
            view = splice("anonymise/prefixed", columns=columns, tables=tables, numbers=numbers)
            self.passes.keep(f"values_{i}", view)
            return
        label: exp.Expr = exp.Min(this=exp.column(f"form_{s}"))
        label = exp.cast(label, "VARCHAR") if column.text else label
        part = exp.column(_step(i, s))
        labels = exp.select(part.as_("part"), label.as_("cell")).from_(own_table(f"steps_{i}"))
        self.passes.keep(f"values_{i}", labels.group_by(part))

    def _check_sets(self, column: Cells) -> None:
        """Refuse sets that would list too many values in all records."""
        i = column.number
        size = exp.Mul(
            this=exp.cast(exp.column("size", table="classes"), "HUGEINT"),
            expression=exp.column("values", table="sets", quoted=True),
        )
        listed = exp.func("coalesce", exp.Sum(this=size), exp.Literal.number(0))
        query = exp.select(exp.cast(listed, "HUGEINT"))
        query = query.from_(exp.alias_(own_table("classes"), "classes", table=True))
        same = exp.EQ(this=exp.column(f"step_{i}"), expression=exp.column("part", table="sets"))
        sets = exp.alias_(own_table(f"values_{i}"), "sets", table=True)
        (listed_values,) = self.passes.row(query.join(sets, on=same).where("NOT suppressed"))
        check_sets(column, int(listed_values))

    def changes(self, node: Node) -> list[str]:
        """Return the changes of a node as they would be written."""
        rungs = (ladder[s] for ladder, s in zip(self.ladders, node, strict=True))
        return [text for step in rungs for text in step.texts]

    def lost(self, i: int, s: int) -> Loss:
        """Return what a quasi-identifier loses at a step in the release that was made."""
        columns = {"own_step": _step(i, s), "own_cell": f"step_{i}", "place": f"place_{i}"}
        names = {"steps_of": f"steps_{i}", "done": "done", "refused": "refused"}
        tables = {name: own_name(table) for name, table in names.items()}
        row = self.passes.row(splice("anonymise/lost_by_cells", columns=columns, tables=tables))
        shown, generalised, listed, spanned = map(int, row)
        scale, records = self.scales[i - 1], self.passes.coded.records
        covered, whole = (spanned, scale.span) if scale.interval else (listed, scale.values)
        suppressed = records - shown
        return Loss.of(generalised, covered, whole, suppressed=suppressed, records=records)

    def drop(self) -> None:
        """Drop the tables that were made."""
        self.passes.drop(
            "tuples", "left_by_steps", *(name for _, name, _ in self.sources if name != "tuples")
        )
        self.passes.drop(*(f"steps_{i}" for i, _ in enumerate(self.ladders, 1)))

    def _splice(self, view: str) -> exp.Select:
        """Return a view about the people of a node."""
        return splice(
            f"anonymise/{view}",
            places=range(1, len(self.ladders) + 1),
            secrets=len(self.passes.coded.secrets),
            numbers={"wanted_k": self.wishes.k, "width": len(self.ladders)},
            tables={"left_by_steps": own_name("left_by_steps")},
        )


@dataclass(frozen=True)
class StepLoss:
    """The loss of a step, as means over all records: suppression is not counted.

    ``penalty``: the normalised certainty penalty of the group, in [0, 1]. ``entropy``: nats; log of
    the share that the group has of the records over the share that the value has (non-uniform
    entropy; De Waal and Willenborg 1999). ``idle``: no group has several values.
    """

    penalty: Fraction
    entropy: Fraction
    idle: bool


def _step(i: int, s: int) -> str:
    """Return the column of the number of a value's group in a step; in the first, of the value."""
    return f"step_{i}_{s}" if s else f"place_{i}"


def _element(i: int, at: exp.Expr) -> exp.Expr:
    """Return the number of a value's group in the step at a position of its list, from 1."""
    return exp.Anonymous(this="list_extract", expressions=[exp.column(f"steps_{i}"), at])
