"""The steps of quasi-identifiers: what changes make of their values, and what that loses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from sqlglot import exp

from qifsql.adversary.changes import Change, read
from qifsql.adversary.spec import Attribute, Microdata
from qifsql.commands.anonymise.generalise import Content
from qifsql.commands.anonymise.nominal import Nominal, makes_labels, nominal_interval
from qifsql.commands.anonymise.release_request import Request
from qifsql.commands.anonymise.spec import Shape
from qifsql.counting import changed_attributes, generalisation, scales
from qifsql.counting.changed_attributes import Changeable, as_values
from qifsql.counting.scales import has_distances, own_name, own_table
from qifsql.data.expressions import identifier
from qifsql.data.types import INTEGERS, family
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import LocalEngine
from qifsql.errors import ColumnError, InputError, plural, quoted
from qifsql.query.plan import Plan
from qifsql.query.splice import splice

DIGITS_OF_CODE = 4  # of the shortest numbers that may be codes
YEARS = (1800, 2100)  # numbers of four digits that are no codes


@dataclass(frozen=True)
class ValueStep:
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

    def hides_values(self, shape: Shape) -> bool:
        """Return whether cells of a shape depend on the group alone, not on the values in it."""
        is_name = self.content == "node" and shape in ("text", "interval")
        return is_name or self.content in ("label", "prefix", "everything")

    @property
    def texts(self) -> list[str]:
        """Return the changes as they were written."""
        return [change.text for change in self.changes]


def value_step(i: int, changes: Sequence[Change], changed: Changeable) -> ValueStep:
    """Return the step of quasi-identifier number ``i`` that applies all ``changes`` to its values.

    Its content says what a cell shows: the value itself (no change), nothing (dropped), a label, a
    node of a hierarchy, a prefix, or an interval or set that covers the values merged. Raises
    InputError, ColumnError or ExpressionError if a change does not fit the column.
    """
    forms = changed_attributes.apply_changes(list(map(as_values, changed.qids)), changes, changed)
    form, kinds = forms[i - 1], {change.kind for change in changes}
    content: Content = "interval" if has_distances(changed.qids[i - 1].type) else "set"
    if not changes:
        content = "value"
    elif form is None:  # dropped
        content = "everything"
    elif "expression" in kinds or makes_labels(changes):
        content = "label"
    elif "level" in kinds:
        content = "node"
    elif content == "set" and len(changes) == 1:  # text, of which a number keeps characters
        return ValueStep(tuple(changes), form, "prefix", int(changes[0].how))
    interval = nominal_interval(i, changes, changed) if content == "interval" else None
    return ValueStep(tuple(changes), form, content, interval=interval)


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


def column_of(i: int, s: int) -> str:
    """Return the column with the group of a value in step ``s``."""
    return f"step_{i}_{s}"


@dataclass(frozen=True)
class RequestedSteps:
    """The steps that a request asks for; the scales of its quasi-identifiers are in the engine."""

    engine: LocalEngine
    catalog: Catalog
    microdata: Microdata
    request: Request

    @cached_property
    def changed(self) -> Changeable:
        """Return the quasi-identifiers with their hierarchies."""
        microdata, files = self.microdata, self.request.hierarchies
        return Changeable.of(self.catalog, microdata.qids, files, microdata.where)

    def steps(self) -> list[list[ValueStep]]:
        """Return the steps of each quasi-identifier, finest first; none for Mondrian and MDAV."""
        request, qids = self.request, self.microdata.qids
        if not request.recoded:
            return []
        changes = [read(text, qids) for text in request.changes]
        for change in changes:
            if change.kind == "sample":
                raise InputError(
                    f"change {quoted(change.text)} would leave records out, and a release has them "
                    "all; use --one-per, or --where"
                )
            self._check_digits(change)
        by_qid = [[c for c in changes if c.qid == i] for i, _ in enumerate(qids, 1)]
        if request.method == "lattice":
            generalisation.named_steps(changes, qids)  # checks them
            usual = generalisation.usual_steps(qids, *self._extents(), self.changed.hierarchies)
            pairs = zip(by_qid, usual, strict=True)  # each change is a step; by default usual ones
            groups_by_qid = [[[change] for change in named or default] for named, default in pairs]
        else:  # all changes of a quasi-identifier together make one step
            groups_by_qid = [[named] if named else [] for named in by_qid]
        return [
            [
                self._without_idle_prefix(i, value_step(i, group, self.changed))
                for group in ([], *groups)  # the first step has the values as they are
            ]
            for i, groups in enumerate(groups_by_qid, 1)
        ]

    def _extents(self) -> tuple[list[int], list[int | None]]:
        """Return for each quasi-identifier its range (0: no whole numbers), and its text length.

        The length is None for all but texts of one length.
        """
        qids = self.microdata.qids
        ends = [self._ends(i) for i, _ in enumerate(qids, 1)]
        lengths = [
            generalisation.common_length(qid, own_table(scales.scale_table(i)), self._rows)
            for i, qid in enumerate(qids, 1)
        ]
        return [greatest - least for least, greatest in ends], lengths

    def _ends(self, i: int) -> tuple[int, int]:
        """Return the least and the greatest value; 0, 0 if they are no whole numbers."""
        if family(self.microdata.qids[i - 1].type) not in INTEGERS:
            return 0, 0
        ((least, greatest),) = self._rows(splice("anonymise/ends_of_values", tables=_scale(i)))
        return int(least), int(greatest)

    def _rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        return self.engine.rows(Plan((), query), "reading values", self.microdata.dataset.name)

    def _without_idle_prefix(self, i: int, step: ValueStep) -> ValueStep:
        """Return a step as it is, but as one of plain values if it keeps prefixes and cuts nothing.

        A cell of a prefix has stars for the characters that are cut. Raises ColumnError if some
        values are cut and a kept prefix has a star itself.
        """
        if step.content != "prefix":
            return step
        numbers = {"kept_characters": step.characters}
        query = splice("anonymise/prefix_flags", tables=_scale(i), numbers=numbers)
        ((some_longer, some_starred),) = self._rows(query)
        if some_longer and some_starred:
            name, texts = quoted(self.microdata.qids[i - 1].name), quoted(", ".join(step.texts))
            raise ColumnError(
                f"values of {name} have a star where {texts} would keep it, and a star stands for "
                "what is hidden; replace it first, as in NAME=replace(NAME, '*', '?')"
            )
        return step if some_longer else replace(step, content="set")

    def _check_digits(self, change: Change) -> None:
        """Refuse ``CODE:3`` for a column of codes: it may mean 3 digits or an interval of width 3.

        Codes are whole numbers of one length, but no years. Narrow intervals show nearly all of it.
        """
        qid = self.microdata.qids[change.qid - 1] if change.qid else None
        if qid is None or change.kind != "coarser" or family(qid.type) not in INTEGERS:
            return
        least, greatest = self._ends(change.qid)
        digits = len(str(greatest))
        are_years = least >= YEARS[0] and greatest <= YEARS[1]
        are_codes = least >= 1 and len(str(least)) == digits >= DIGITS_OF_CODE and not are_years
        if are_codes and change.how.isdecimal() and int(change.how) < digits:
            name, n = identifier(qid.name).sql("duckdb"), int(change.how)
            stars = "*" * (digits - n)
            raise InputError(
                f"change {quoted(change.text)} may mean the first {plural(n, 'digit')} of a code, "
                f"or intervals of width {n}, which show nearly all of it: all values have "
                f"{digits} digits; write {name}=left({name}::VARCHAR, {n}) || '{stars}' for "
                f"digits, {name}={name}//{n}*{n} for intervals"
            )


def _scale(i: int) -> dict[str, str]:
    """Return the table of the values of a quasi-identifier, by its name in SQL."""
    return {"scale": own_name(scales.scale_table(i))}
