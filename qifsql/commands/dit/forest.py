"""The releases without each target, as one forest of Mondrian's cuts.

A node is a set of records that a series of cuts leaves together. Two kinds of questions ask for its
cut: with everybody, and without each target in it. The cuts are often the same. Then the half that
the target is not in is the same set of records as before, and its classes are known. If the cuts
differ, both halves are new nodes, and all targets that reach them share them. So a target needs one
question per level, and nodes outside the targets' paths are cut once for all.

If a limit compares a class with the whole release (t), the whole release lacks the target's secret:
there is a tree for each secret of a target. If the scale of a quasi-identifier changes without a
target (only this person has a value), all widths change, and the target gets a separate tree.
"""

from sqlglot import exp

from qifsql.commands.dit.leave_one_out import World
from qifsql.counting.passes import Passes
from qifsql.counting.release_limits import ClassLimits
from qifsql.counting.scales import own_table

TURNING = ("items", "people")  # tables that exist twice: for this pass and for the next
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


def grow_forest(passes: Passes, limits: ClassLimits, worlds: dict[int, World]) -> None:
    """Cut all trees; create ``clean``, ``walked`` and ``members``.

    ``clean`` has a row per node: its cut; ``walked`` per target and node of their path; ``members``
    per class and different person in it. Each pass answers all open questions of one depth.
    ``worlds`` are the whole releases with which limits compare classes (see ``make_worlds``).
    """
    now, then = (({name: f"{name}_{i}" for name in TURNING}) for i in (1, 2))
    _make_empty_tables(passes)
    passes.make(now["people"], "dit/planted")
    questions = passes.make(now["items"], "dit/begun")
    roots = passes.row(exp.select("count(*)").from_(own_table("roots")))[0]
    last_node, depth = roots - 1, 0
    while questions:
        passes.look(questions)
        passes.set("last", last_node)
        passes.set("depth", depth)
        passes.add("known", "dit/known", None, **now)
        _accept_cuts(passes, limits, worlds, now)
        last_node += 2 * passes.add("children", "dit/children")  # a cut makes two nodes
        passes.make("settled", "dit/paths")
        for name in ("clean", "walked"):
            passes.add(name, f"dit/{name}")
        passes.add("members", "dit/members", None, **now)
        questions = passes.make(then["items"], "dit/items_next")
        names = {"people": now["people"], "items_next": then["items"]}
        passes.make(then["people"], "dit/people_next", None, **names)
        passes.drop(*now.values(), *PASS)
        now, then, depth = then, now, depth + 1
    passes.drop(*now.values(), "known", "children")


def _accept_cuts(
    passes: Passes, limits: ClassLimits, worlds: dict[int, World], now: dict[str, str]
) -> None:
    """Create ``accepted``: the questions in the tables ``now`` whose cut keeps every limit."""
    passes.make("marks", "dit/marks", None, **now)
    passes.make("measured", "dit/measured", None, **now)
    passes.make("decided", "dit/decided", {"wanted_k": limits.k}, **now)
    passes.keep_empty("refused", ["part"])
    if limits.of_secret:
        for code, world in worlds.items():
            numbers = {"wanted_world": code, "wanted_gone": world.gone}
            sides = passes.query("dit/sides", numbers, **now)
            passes.append("refused", world.broken_parts(limits, sides))
    passes.make("accepted", "dit/accepted")


def _make_empty_tables(passes: Passes) -> None:
    for name, columns in GROWING.items():
        passes.keep_empty(name, columns)
    places = [exp.column(f"place_{i}") for i in range(1, passes.coded.width + 1)]
    rows = exp.select("person AS node", *places, "secrets_1", "people")
    passes.keep("members", rows.from_(own_table("different")).where("FALSE"))
