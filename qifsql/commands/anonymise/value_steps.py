"""The steps of one quasi-identifier: what changes make of its values, and what that loses.

The first step are the values as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from qifsql.adversary.changes import Change
from qifsql.adversary.spec import Attribute
from qifsql.commands.anonymise.generalise import Content
from qifsql.commands.anonymise.nominal import Nominal, nominal_interval
from qifsql.counting import changed_attributes
from qifsql.counting.changed_attributes import Changed, as_values
from qifsql.counting.scales import has_distances


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

    @property
    def texts(self) -> list[str]:
        """Return the changes as they were written."""
        return [change.text for change in self.changes]


def value_step(i: int, changes: Sequence[Change], changed: Changed) -> ValueStep:
    """Return the step that changes make, one after the other, of the values as they are.

    Raises InputError, ColumnError or ExpressionError where there is no such form.
    """
    forms = changed_attributes.apply(list(map(as_values, changed.qids)), changes, changed)
    form, kinds = forms[i - 1], {change.kind for change in changes}
    content: Content = "interval" if has_distances(changed.qids[i - 1].type) else "set"
    if not changes:
        content = "value"
    elif form is None:
        content = "everything"
    elif "expression" in kinds:
        content = "label"
    elif "level" in kinds:
        content = "node"
    elif content == "set" and len(changes) == 1:
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
    """Return the column of the number of a value's group in a step; in the first, of the value."""
    return f"step_{i}_{s}" if s else f"place_{i}"
