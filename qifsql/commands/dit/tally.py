"""How many records' cells hold each target's values, in the release and in the one without them.

No record meets another: for the whole release there is one table of quasi-identifier, raw value and
secret; the release without a target differs from it by a few subtrees (``forest``) and by the class
that they leave.
"""

from collections.abc import Sequence

from sqlglot import exp

from qifsql.counting.passes import Passes
from qifsql.counting.scales import Scale
from qifsql.query.columns import number

TALLIED = (
    *("parted", "pieces", "front", "front_next", "beneath", "kinds", "held", "cells"),
    *("secrets_held", "wanted_cells", "holding", "own_cells", "tallies"),
    *("bits", "patterns"),
)


def tally(passes: Passes, scales: Sequence[Scale], *, joint: bool) -> None:
    """Make ``tallies`` (target, release, attribute, secret, people) of a forest that has grown.

    ``joint``: make ``patterns`` (target, release, pattern, secret, people) in its place.
    """
    _kinds(passes, scales)
    for name in ("parted", "pieces", "held", "cells", "secrets_held", "own_cells"):
        passes.make(name, f"dit/{name}")
    _beneath(passes)
    if joint:
        passes.make("bits", "dit/bits")
        passes.make("patterns", "dit/patterns")
        return
    for name in ("wanted_cells", "holding", "tallies"):
        passes.make(name, f"dit/{name}")


def _kinds(passes: Passes, scales: Sequence[Scale]) -> None:
    """Make the table of which quasi-identifiers have intervals, and of their missing values."""
    rows = [
        exp.select(
            exp.alias_(exp.cast(number(i), "BIGINT"), "attribute"),
            exp.alias_(exp.convert(scale.interval), "interval", quoted=True),
            exp.alias_(exp.cast(number(scale.missing), "BIGINT"), "missing"),
        )
        for i, scale in enumerate(scales, 1)
    ]
    passes.keep("kinds", rows[0] if len(rows) == 1 else exp.union(*rows, distinct=False))


def _beneath(passes: Passes) -> None:
    """Make the table of the classes in each subtree that is needed."""
    now, then = "front_1", "front_2"
    open_ = passes.make(now, "dit/front")
    passes.keep_empty("beneath", ("unit", "class"))
    while open_:
        passes.add("beneath", "dit/beneath", front=now)
        open_ = passes.make(then, "dit/front_next", front=now)
        passes.drop(now)
        now, then = then, now
    passes.drop(now)
