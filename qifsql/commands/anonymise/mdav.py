"""MDAV: microaggregation in groups of k around the people farthest from the centre.

Domingo-Ferrer and Mateo-Sanz (2002), in the form of Domingo-Ferrer and Torra (2005, MDAV-generic):
while there are at least 3k records, a group of k is made around the person farthest from the
centroid, and one around the person farthest from that one; of fewer than 3k one more group of k is
made, and the rest, k to 2k - 1 records, is the last.

Identical people are never parted, so a group has at least k records, and exactly k where all
differ; where fewer than k would be left behind, they join the group. Distances are Euclidean on
the places of the scales, each from 0 to 2^20; values without distances are measured by their number
in their order, and missing comes last. All of it is whole numbers: nothing depends on the order of
sums. Of people as near the first in the order of the places comes first, of people as far the last.

This takes time with the square of the people. Releases of more than ``within`` different people are
first cut at medians, as Mondrian does, into parts of at most so many (and at least k records); all
parts are then grouped at once. In one part the result is exactly MDAV.
"""

from sqlglot import exp

from qifsql.commands.anonymise.mondrian import nothing, partition
from qifsql.counting.constraints import Wishes
from qifsql.counting.passes import Passes
from qifsql.counting.scales import own_table
from qifsql.errors import InputError

WITHIN = 1_000  # different people that are looked at together, unless more are asked for
MOST = 100_000  # their number has 17 bits beside the distance
WIDEST = 32  # quasi-identifiers: so many squares of 40 bits stay below 2^46


def check(k: int, width: int, within: int) -> int:
    """Return how many different people a part may have: ``within``, or more where k needs it.

    A part of more can always be cut at a median (that of ``mondrian.partition``).
    """
    if width > WIDEST:
        raise InputError(f"mdav takes at most {WIDEST} quasi-identifiers; name fewer, or combine")
    if not 1 <= within <= MOST:
        raise InputError(f"within must be from 1 to {MOST:,} different people")
    least = 2 * k * width + 1
    if least > MOST:
        raise InputError("k is too large for mdav with so many quasi-identifiers; use mondrian")
    return max(within, least)


def group(passes: Passes, wishes: Wishes, within: int) -> bool:
    """Make the table ``done`` of groups, places and people; whether the release was cut before."""
    size = check(wishes.k, passes.coded.width, within)
    partition(passes, Wishes(wishes.k), small=size)
    parts = exp.Count(this=exp.Distinct(expressions=[exp.column("part")]))
    cut = passes.row(exp.select(parts).from_(own_table("done")))[0] > 1
    now, then, numbers = "near_1", "near_2", {"wanted_k": wishes.k}
    left = passes.make(now, "near")
    passes.drop("done")
    nothing(passes, now)
    nobody = exp.select("part", "0::BIGINT AS size", "NULL::BIGINT[] AS pole")
    passes.keep("carried", nobody.from_(own_table(now)).where("FALSE"))
    turn = 0
    while left:
        passes.look(passes.people(now))
        passes.set("turn", turn)
        passes.make("poles", "poles", near=now)
        passes.make("groups", "groups", numbers, near=now)
        passes.add("done", "grouped", near=now)
        left = passes.make(then, "near_next", near=now)
        passes.drop("carried")
        passes.make("carried", "carried", numbers)
        passes.drop(now, "poles", "groups")
        now, then, turn = then, now, turn + 1
    passes.drop(now, "carried")
    return cut
