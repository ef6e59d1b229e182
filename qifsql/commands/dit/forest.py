"""The releases without each target, as one forest of Mondrian's cuts.

A node is a set of records that a series of cuts leaves together. It is asked how it is cut with
everybody in it, and for each target in it how it is cut without them. The answer is often the same,
and then the half without the target is the same set of records as before, whose classes are known.
Where the answer is another, both halves are nodes of their own, which all targets share who come to
them. So a target needs one question per level, and what lies beside their path is cut once for all.

Where a limit compares a class with the whole release (t), the whole lacks the target's secret:
there is a tree for each secret that somebody takes away. Where the scale of a quasi-identifier is
another one without a target (they alone have a value), widths are others everywhere, and they get a
tree of their own.
"""

from sqlglot import exp

from qifsql.commands.dit.leave_one_out import World
from qifsql.counting.constraints import Wishes
from qifsql.counting.passes import Passes
from qifsql.counting.scales import own_table

TURNING = ("items", "people")  # tables of which there is one now and one for the next pass
PASS = ("marks", "measured", "decided", "refused", "accepted", "settled")
GROWING = {  # tables that grow with each pass, with their columns
    "known": ("node",),
    "children": ("node", "attribute", "cut", "child"),
    "clean": ("node", "attribute", "cut", "child"),
    "walked": ("target", "depth", "node", "attribute", "cut", "beside"),
}
FOREST = (
    *("different", "targets", "rescaled", "own_scale", "roots", "homes", "members"),
    *("items_next", "people_next", *TURNING, *PASS, *GROWING),
)


def grow(passes: Passes, wishes: Wishes, worlds: dict[int, World]) -> None:
    """Make ``clean`` (how nodes are cut), ``walked`` (the targets' paths) and ``members``.

    Reads ``different``, ``targets``, ``roots``, ``homes`` and ``own_scale``. ``worlds`` are
    the releases that limits compare with (``worlds``).
    """
    now, then = (({name: f"{name}_{i}" for name in TURNING}) for i in (1, 2))
    _empty(passes)
    passes.make(now["people"], "dit/planted")
    open_ = passes.make(now["items"], "dit/begun")
    roots = passes.row(exp.select("count(*)").from_(own_table("roots")))[0]
    last, depth = roots - 1, 0
    while open_:
        passes.look(open_)
        passes.set("last", last)
        passes.set("depth", depth)
        passes.add("known", "dit/known", None, **now)
        _settle(passes, wishes, worlds, now)
        last += 2 * passes.add("children", "dit/children")
        passes.make("settled", "dit/paths")
        for name in ("clean", "walked"):
            passes.add(name, f"dit/{name}")
        passes.add("members", "dit/members", None, **now)
        open_ = passes.make(then["items"], "dit/items_next")
        passes.make(
            then["people"], "dit/people_next", people=now["people"], items_next=then["items"]
        )
        passes.drop(*now.values(), *PASS)
        now, then, depth = then, now, depth + 1
    passes.drop(*now.values(), "known", "children")


def _settle(passes: Passes, wishes: Wishes, worlds: dict[int, World], now: dict[str, str]) -> None:
    """Make the table ``accepted`` of the cuts that keep every limit."""
    passes.make("marks", "dit/marks", None, **now)
    passes.make("measured", "dit/measured", None, **now)
    passes.make("decided", "dit/decided", {"wanted_k": wishes.k}, **now)
    passes.keep_empty("refused", ["part"])
    if wishes.of_secret:
        for code, world in worlds.items():
            numbers = {"wanted_world": code, "wanted_gone": world.gone}
            sides = passes.query("dit/sides", numbers, **now)
            passes.append("refused", world.broken(wishes, sides))
    passes.make("accepted", "dit/accepted")


def _empty(passes: Passes) -> None:
    """Make the tables that grow, empty."""
    for name, columns in GROWING.items():
        passes.keep_empty(name, columns)
    places = [exp.column(f"place_{i}") for i in range(1, passes.coded.width + 1)]
    table = exp.select("person AS node", *places, "secrets_1", "people").from_(
        own_table("different")
    )
    passes.keep("members", table.where("FALSE"))
