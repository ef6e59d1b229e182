"""Global recoding: every value of a quasi-identifier becomes the same cell in all records.

A quasi-identifier has steps, the first being its values as they are. Steps are nested: the number
of a value is that of its group on a step with more bits behind it. A node is a step of each
quasi-identifier; its classes are counted by ``qifsql.commands.anonymise.node_counts``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import NamedTuple

from qifsql.commands.anonymise.lattice import Node
from qifsql.commands.anonymise.release_request import Combination
from qifsql.commands.anonymise.spec import Shape as CellShape
from qifsql.commands.anonymise.value_steps import StepLoss, ValueStep, column_of
from qifsql.counting.passes import Passes
from qifsql.counting.release_limits import ClassLimits
from qifsql.counting.scales import Scale, own_name, scale_table
from qifsql.errors import ColumnError, InputError, plural, quoted
from qifsql.measures import utility
from qifsql.query import microdata_steps
from qifsql.query.columns import union
from qifsql.query.plan import Plan, Select
from qifsql.query.shapes import Shape
from qifsql.query.splice import make_step, splice

MOST_BITS = 126  # of a number of a value: no HUGEINT is 2^127


class StepSize(NamedTuple):
    """A step of a quasi-identifier: its groups, and the last bits that its numbers leave out."""

    cells: int
    shift: int


@dataclass
class Recoding:
    """The steps of all quasi-identifiers of a coded release, as tables, and the nodes of them.

    A step is known by its number ``s`` from 0, a quasi-identifier by its number ``i`` from 1.
    ``sizes`` are those of the steps of all columns that make classes. ``combinations`` have a k of
    their own; ``removals`` keeps the statements about them, because they are sent many times
    (``qifsql.commands.anonymise.kept_records``).
    """

    passes: Passes
    scales: Sequence[Scale]
    steps: Sequence[Sequence[ValueStep]]
    limits: ClassLimits
    sizes: list[list[StepSize]] = field(default_factory=list)
    removals: list[tuple[str, ...]] = field(default_factory=list)
    combinations: Sequence[Combination] = ()

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

    def step_numbers(self, node: Node) -> list[int]:
        """Return the step of each column that makes classes: those of a node, 0 of a stratum."""
        return [*node, *(0 for _ in self.strata)]

    def steps_at(self, node: Node) -> list[StepSize]:
        """Return the sizes of the steps of all columns at a node."""
        return [sizes[s] for sizes, s in zip(self.sizes, self.step_numbers(node), strict=True)]

    def shifts(self, node: Node) -> list[int]:
        """Return the bits that the step of each column leaves out of the number of a value."""
        return [step.shift for step in self.steps_at(node)]

    def numbered_shifts(self, node: Node) -> dict[str, int]:
        """Return these bits by their names in SQL: ``at_1 ..``."""
        return {f"at_{i}": at for i, at in enumerate(self.shifts(node), 1)}

    def make_steps(self, *, nested: bool) -> None:
        """Make the tables ``steps_1 ..``: a row per value, with its group number on each step.

        Raises ColumnError where a hierarchy lacks a value, InputError where steps have to be
        ``nested`` and one is not coarser than the one before it.
        """
        for i in self.columns:
            steps = () if i in self.strata else self.steps[i - 1]
            coarser = steps[1:]  # the first step has the values as they are
            shape = {"qid": i, "height": len(coarser)}
            forms = microdata_steps.forms(own_name(scale_table(i)), [step.form for step in coarser])
            grouped = make_step("anonymise/steps", "steps_of", shape=shape)
            ranks = splice("anonymise/ranks", shape=shape)
            self.passes.keep(f"steps_{i}", Plan((forms, grouped), ranks))
            self._check_levels(i, steps)
            if nested:
                self._check_nested(i, steps)
            self._nest_steps(i, len(coarser))

    def make_bases(self, node: Node, shape: CellShape) -> None:
        """Make the tables ``bases_1 ..``, which map each value to a place on its scale.

        A step makes groups of values equal. If cells of the ``shape`` show the group (its label),
        not its values, all values of a group get one place, so that records with equal cells are
        counted together. Else each value keeps its own place, as in a stratum, which has no steps.
        """
        for i, s in enumerate(self.step_numbers(node), 1):
            shows_group = i in self.qids and self.steps[i - 1][s].hides_values(shape)
            own_step = column_of(i, s if shows_group else 0)  # step 0 has the values as they are
            columns = {"own_step": own_step, "place": f"place_{i}"}
            self.passes.keep(f"bases_{i}", self.view_of_steps("bases", i, columns))

    def _nest_steps(self, i: int, height: int) -> None:
        """Replace the group numbers in ``steps_i``, so that a coarser step only drops last bits.

        A group gets the bits of its group on the next step, followed by those of its rank in it.
        The number of groups and bits of each step are added to ``sizes``.
        """
        # Two numbers for each step: its groups, and the bits that the ranks of its groups take.
        row = self.passes.row(self.view_of_steps("sizes_of_steps", i, {}, qid=i, height=height))
        cells, bits = row[::2], row[1::2]
        shifts = list(accumulate(bits, initial=0))  # the bits behind each step, and all bits
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
        """Refuse a step that separates values which the step before it merges."""
        for s, (finer, coarser) in enumerate(pairwise(steps)):
            columns = {"finer": column_of(i, s), "coarser": column_of(i, s + 1)}
            values = {"steps": own_name(f"steps_{i}")}
            (splits,) = self.passes.row(splice("compare/splits", columns=columns, tables=values))
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
            # Records with a cell of several values; sums over all records: of the values in their
            # cells, of the lengths of these on the scale, and of their entropy in 2^-40 nats.
            generalised, listed, spanned, entropy = map(int, row)
            covered, length = (spanned, scale.span) if scale.interval else (listed, scale.values)
            penalty = utility.penalty(covered, length, suppressed=0, records=records)
            losses.append(StepLoss(penalty, Fraction(entropy, records << 40), idle=not generalised))
        return losses

    def make_suppression_losses(self) -> None:
        """Make ``left_by_steps``: what a suppressed cell loses beyond what its step has lost.

        A row per quasi-identifier, step and group of values that the step makes equal.
        """
        queries = []
        for i, scale in enumerate(self.scales, 1):
            sizes = {"all_values": scale.values or 1, "all_lengths": scale.span or 1}
            sizes |= {"all_records": self.passes.coded.records, "qid_number": i}
            for s, _ in enumerate(self.steps[i - 1]):
                columns = {"own_step": column_of(i, s), "place": f"place_{i}"}
                numbers = sizes | {"step_number": s}
                queries.append(self.view_of_steps("left_by_step", i, columns, numbers))
        self.passes.keep("left_by_steps", union(queries))

    def changes(self, node: Node) -> list[str]:
        """Return the changes of a node as they would be written."""
        chosen = (steps[s] for steps, s in zip(self.steps, node, strict=True))
        return [text for step in chosen for text in step.texts]

    def drop(self) -> None:
        """Drop the tables that were made."""
        self.passes.drop("left_by_steps", "shown", "open_classes", "still_open")
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
        """Return the query of the template ``sql/anonymise/VIEW``, filled for this recoding.

        ``tables`` name the tables that it reads, ``numbers`` are its constants, ``places`` the
        numbers of the columns that it loops over (by default all), ``shape`` other loops.
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
        """Return the query of the template ``sql/anonymise/VIEW`` about one quasi-identifier.

        Its steps of generalisation are in the table ``steps_i``. ``columns`` name the columns for
        the template's placeholders; ``numbers`` and ``shape`` are as in ``view``.
        """
        names = ("done", "refused", "classes", "tuples")
        tables = {name: own_name(name) for name in names}
        return splice(
            f"anonymise/{view}",
            columns=columns,
            tables=tables | {"steps_of": own_name(f"steps_{i}"), "sets": own_name(f"values_{i}")},
            numbers=numbers,
            shape=shape,
        )
