"""Mondrian: parts are cut at medians as long as both sides keep every limit.

Strict multidimensional partitioning of LeFevre, DeWitt and Ramakrishnan (ICDE 2006, figure 3): a
part is cut by its widest quasi-identifier, measured by the share of the whole scale that it spans;
of equally wide ones by the first. The cut is the one nearest to the median. Equal values stay on
one side; of two equally near cuts, the one with more records below is taken. If a side would break
a limit, the next widest quasi-identifier is tried. A part that cannot be cut is a class.

A quasi-identifier with a hierarchy is cut along it: the lowest node with all values of a part is
cut into all its children that have records, each of which has to keep every limit. Its width is the
share of the values of the hierarchy that are below that node, and its cell is the node.

For k alone this finds a cut wherever any value of any quasi-identifier allows one, because the cut
nearest to the median is the last to leave a side too small.

All open parts are cut at once: each pass sends a few statements over their distinct people.
"""

from sqlglot import exp

from qifsql.counting.passes import Passes
from qifsql.counting.release_limits import ClassLimits
from qifsql.counting.scales import own_table


def partition(passes: Passes, limits: ClassLimits, *, small: int = 0) -> None:
    """Cut parts until none can be cut; create the table ``done`` of parts, places and people.

    A part of at most ``small`` distinct people is not cut further. A pass reads the people of open
    parts from one of two tables, and writes those of the next pass to the other. Each of its
    statements makes a table, with a row per open part unless it is said otherwise.
    """
    now, following, numbers = "people_1", "people_2", {"wanted_k": limits.k}
    open_rows = passes.make(now, "people")
    make_empty_done(passes, now)
    while open_rows:
        passes.make("extents", "extents", people=now)  # size, least and largest places
        if passes.coded.trees:  # where a hierarchy would cut each part
            passes.make("forks", "forks")
        shape = {"trees": bool(passes.coded.trees)}
        # The quasi-identifier to cut by: the widest that was not tried; 0: none is left.
        passes.make("chosen", "chosen", numbers | {"wanted_rows": small}, shape)
        passes.add("done", "done", people=now)  # people of parts that cannot be cut
        passes.make("cuts", "cuts", people=now)  # the place of the cut
        passes.make("halves", "halves", numbers, people=now)  # a row per side: its size, next part
        passes.judge(limits, "sides", people=now)  # makes ``refused``: a side breaks a limit
        open_rows = passes.make(following, "people_next", people=now)
        passes.look(passes.people(following))  # report progress
        passes.drop(now, "extents", "chosen", "cuts", "halves", "refused")
        if passes.coded.trees:
            passes.drop("forks")
        now, following = following, now
    passes.drop(now)


def make_empty_done(passes: Passes, people: str) -> None:
    """Create the empty table ``done``, with the places of the table ``people``."""
    places = [exp.column(f"place_{i}") for i in range(1, passes.coded.width + 1)]
    query = exp.select("part", *places, "people").from_(own_table(people))
    passes.keep("done", query.where("FALSE"))
