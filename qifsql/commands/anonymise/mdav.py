"""MDAV: microaggregation in groups of k around the people farthest from the centre.

Domingo-Ferrer and Mateo-Sanz (2002), in the form of Domingo-Ferrer and Torra (2005, MDAV-generic):
while there are at least 3k records, a group of k is formed around the person farthest from the
centroid, and another around the person farthest from that person. Of fewer than 3k records, one
more group of k is formed; the rest, k to 2k - 1 records, is the last group.

Identical people are never separated, so a group has at least k records, and exactly k if all
differ. If fewer than k records would be left, they join the group. Distances are Euclidean on the
places of the scales, each from 0 to 2^20. Values without distances are measured by their number in
their order; the missing value is last. All numbers are whole, so no result depends on the order of
sums. Of equally near people, the first in the order of the places is taken; of far ones, the last.

Where people have several records, a group is formed of the records up to the nearest one of the
k-th different person, and 3k, 2k and k are numbers of different people.

The time grows with the square of the number of people. A release of more than ``within`` distinct
people is first cut at medians, as by Mondrian, into parts of at most ``within`` people (and at
least k records). All parts are then grouped at once. In one part the result is exactly MDAV.
"""

from sqlglot import exp

from qifsql.commands.anonymise.mondrian import make_empty_done, partition
from qifsql.counting.passes import Passes
from qifsql.counting.release_limits import ClassLimits
from qifsql.counting.scales import own_table
from qifsql.errors import InputError

WITHIN = 1_000  # default number of distinct people to group at once
MOST_PEOPLE = 100_000  # the number of a person has 17 bits, next to the distance
WIDEST = 32  # quasi-identifiers: the sum of 32 squares of 40 bits stays below 2^46


def largest_part(k: int, width: int, within: int) -> int:
    """Return the largest size of a part, in distinct people: ``within``, or more if k requires it.

    ``width``: the number of quasi-identifiers. A larger part can always be cut at a median.
    """
    if width > WIDEST:
        raise InputError(f"mdav takes at most {WIDEST} quasi-identifiers; name fewer, or combine")
    if not 1 <= within <= MOST_PEOPLE:
        raise InputError(f"within must be from 1 to {MOST_PEOPLE:,} different people")
    always_cut = 2 * k * width + 1
    if always_cut > MOST_PEOPLE:
        raise InputError("k is too large for mdav with so many quasi-identifiers; use mondrian")
    return max(within, always_cut)


def make_groups(passes: Passes, limits: ClassLimits, within: int) -> bool:
    """Create the table ``done`` of groups, places and people; return whether medians cut it first.

    Parts of more than ``within`` people are first cut as by Mondrian; groups are made inside of
    each part. Each turn takes a group out of all parts. The people in no group yet are in
    ``near_1`` and ``near_2`` by turns; ``carried`` has the person of each part around whom the next
    group is to be formed. Where people have several records, ``holders`` says who has which.
    """
    small = largest_part(limits.k, passes.coded.width, within)
    partition(passes, ClassLimits(limits.k), small=small)
    (parts,) = passes.row(exp.select("count(DISTINCT part)").from_(own_table("done")))
    near, near_next = "near_1", "near_2"
    ungrouped = passes.make(near, "near")
    passes.drop("done")
    counts_people = passes.coded.owners is not None  # people with several records: k is of people
    if counts_people:
        passes.make("holders", "holders", near=near)
        # the different records of a part have ids from 1
        (largest,) = passes.row(exp.select("max(id)").from_(own_table(near)))
        if largest > MOST_PEOPLE:
            raise InputError(
                f"{largest:,} different records are of so few people that no cut leaves k of them "
                f"on both sides, and mdav groups at most {MOST_PEOPLE:,} at once; use mondrian"
            )
    make_empty_done(passes, near)
    no_poles = exp.select("part", "0::BIGINT AS size", "NULL::BIGINT[] AS pole")
    passes.keep("carried", no_poles.from_(own_table(near)).where("FALSE"))  # without rows
    turn = 0
    while ungrouped:
        passes.look(passes.people(near))  # report progress
        passes.set("turn", turn)
        ungrouped = _take_groups(passes, near, near_next, limits.k, counts_people=counts_people)
        near, near_next, turn = near_next, near, turn + 1
    passes.drop(near, "carried", *(["holders"] if counts_people else []))
    return parts > 1


def _take_groups(passes: Passes, near: str, near_next: str, k: int, *, counts_people: bool) -> int:
    """Move a group of each part from ``near`` to ``done``; return how many people are left.

    These are written to ``near_next``. A group is around a pole: the person farthest from the
    centroid of the part or, if the table ``carried`` names one, from the last pole.
    """
    numbers = {"wanted_k": k}
    passes.make("poles", "poles", None, {"people": counts_people}, near=near)  # place of the pole
    # The distance up to which people are in the group, and the person farthest from the pole.
    passes.make("groups", "groups_of_people" if counts_people else "groups", numbers, near=near)
    passes.add("done", "grouped", near=near)
    ungrouped = passes.make(near_next, "near_next", near=near)
    passes.drop("carried")
    passes.make("carried", "carried", numbers)  # poles of the next turn, opposite these
    passes.drop(near, "poles", "groups")
    return ungrouped
