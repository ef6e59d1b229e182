"""Location of people: the classes of a release whose cells contain their raw values.

Classes are boxes in the space of places, with a span per quasi-identifier. The distinct values of
people are points in this space. Columns whose cells are (nearly) single values join points and
boxes by equality. Along the other columns, boxes and points are repeatedly cut in halves, at places
with few boxes on both sides. In the end each node has few boxes and few points, and only these are
compared, never all classes with all people. Each point is in one node, so no pair is found twice.
Source: Ganta et al., Definition 6 (locatability).

Those who are in no class, such as the people of microaggregation, whose cells are centroids, may be
located by the nearest one: all classes are compared with all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from qifsql.counting.spans import Generalised, count_rows
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, plural
from qifsql.query.plan import Plan, Step
from qifsql.query.shapes import Shape
from qifsql.query.splice import make_step, splice

MOST_ROUNDS = 40  # of cuts
MOST_BOXES = 4_000_000  # of the classes after cells with gaps are written out
MOST_COMPARED = 4_000_000_000  # pairs of points and classes, of which the nearest are found
COVERED = "One row per cell and place that it covers."


@dataclass(frozen=True)
class Located:
    """A release in which people are located: its number and columns, and the table of points."""

    number: int
    columns: tuple[Generalised, ...]
    points: str = ""

    def name(self, table: str) -> str:
        """Return the name of a table of this release."""
        return self.points if table == "points" and self.points else f"{table}_{self.number}"


def locate(tables: Tables, release: Located) -> None:
    """Create ``found_r``: one row per point and class of release r whose cells contain it.

    ``points_r`` has a row per point, with its places; ``classes_r`` one per class, with its cells
    (id_j); the caller leaves suppressed classes out.
    """
    exact = _choose_axes(tables, release)  # columns in which a box has one place
    spanned = [column for column in release.columns if column not in exact]  # or a range of them
    numbers = [column.raw.number for column in spanned]
    shape: dict[str, Shape] = {"exact": [c.raw.number for c in exact], "spanned": numbers}
    _make_first_nodes(tables, release, exact, shape)
    _halve(tables, release, numbers)
    for column in spanned:
        if _has_gaps(tables, column):  # remove the pairs whose point is in a gap of the cell
            names = {name: release.name(name) for name in ("found", "classes", "points")}
            columns = {f"own_{name}": f"{name}_{column.raw.number}" for name in ("id", "place")}
            names = {**column.names, **names}
            query = splice("cells/without_gaps", tables=names, columns=columns)
            tables.repeatable(release.name("found"), query)()


def locate_nearest(tables: Tables, release: Located) -> None:
    """Create ``nearest_r``: the nearest classes of release r to each point that is in no class.

    A row is a point (distinct values of people) and a class; equally near ones are all listed.

    The distance is Euclidean. Along a number, date or time it is that from the nearest one in the
    cell, divided by the range of all; along any other value 0 in the cell and 1 outside. A missing
    value is at 1 from all cells but those that contain it. The tables of distances are dropped.
    """
    names = {name: release.name(name) for name in ("points", "found", "classes", "nearest")}
    columns = {f"distances_{c.raw.number}": c.names["distances"] for c in release.columns}
    numbers = [c.raw.number for c in release.columns]
    tables.make("unlocated", splice("cells/unlocated", tables=names, places=numbers))
    points, classes = tables.count("unlocated"), tables.count(names["classes"])
    if points * classes > MOST_COMPARED:
        raise InputError(
            f"people in no class have {plural(points, 'different value')}, which would be compared "
            f"with {classes:,} classes: for the nearest ones at most {MOST_COMPARED:,} pairs "
            "are compared; choose some people (--where), or leave --nearest out"
        )
    apart = make_step("cells/apart", tables=names | columns, shape={"qids": numbers})
    tables.make("nearest_squares", Plan((apart,), splice("cells/nearest_squares")))
    tables.make(names["nearest"], Plan((apart,), splice("cells/nearest")))
    tables.drop("unlocated", "nearest_squares", *columns.values())


def _choose_axes(tables: Tables, release: Located) -> list[Generalised]:
    """Return the columns by whose equality boxes and points are joined.

    There is a box for each place that a class covers in these columns. Columns are tried from few
    to many boxes; one is taken if all taken columns together make few boxes: hardly more than there
    are classes or, if its cells have gaps, up to 4 times as many, and ``MOST_BOXES`` in any case.
    """
    table = release.name("classes")
    classes = tables.count(table)
    boxes_alone = {c: count_rows(tables, [c], table) for c in release.columns}
    axes: list[Generalised] = []
    for column in sorted(release.columns, key=lambda c: (boxes_alone[c], c.raw.number)):
        few_boxes = 1.1 * classes
        if _has_gaps(tables, column):  # its spans alone would say little
            few_boxes = max(MOST_BOXES, 4 * classes)
        if count_rows(tables, [*axes, column], table) <= few_boxes:
            axes.append(column)
    return axes


def _has_gaps(tables: Tables, column: Generalised) -> bool:
    """Return whether a cell contains two values, but not all between them in their order."""
    ((gaps,),) = tables.rows(splice("cells/gaps", tables=column.names))
    return bool(gaps)


def _make_first_nodes(
    tables: Tables, release: Located, exact: Sequence[Generalised], shape: dict[str, Shape]
) -> None:
    """Create ``boxes_at_0`` and ``points_at_0``: boxes and points before any node is cut.

    A first node is a tuple of places in the columns ``exact``; a box is a class with such a tuple
    that its cells contain. Rows have the node of a box or point, and its span or place in the other
    columns.
    """
    names = {f"spans_{c.raw.number}": c.names["spans"] for c in release.columns}
    names |= {"classes": release.name("classes"), "points": release.name("points")}
    covered = [  # a row per cell and place that it covers, of each exact column
        Step(f"covered_{c.raw.number}", COVERED, splice("cells/covered", tables=c.names))
        for c in exact
    ]
    boxes = splice("cells/boxes", tables=names, shape=shape)
    tables.make("boxes", Plan(tuple(covered), boxes))
    tables.make("nodes", splice("cells/nodes", shape={"exact": shape["exact"]}))
    for name in ("boxes", "points"):
        query = splice(f"cells/node_{name}", tables=names, shape=shape)
        tables.make(f"{name}_at_0", query)
    tables.drop("boxes", "nodes")


def _halve(tables: Tables, release: Located, spanned: Sequence[int]) -> None:
    """Cut nodes in halves as long as this is useful; create ``found_r`` of matching pairs.

    A node has points and boxes, which are compared pair by pair; boxes are spans in the columns
    ``spanned``. Each round keeps the pairs (point, class) of nodes that are not cut in ``met_``.
    """
    met_tables: list[str] = []
    for depth in range(MOST_ROUNDS + 1):
        names = {name: f"{name}_at_{depth}" for name in ("points", "boxes")}
        cuts = _make_cuts(tables, names, spanned if depth < MOST_ROUNDS else ())
        # The points of nodes that are not cut, and then their pairs with the boxes there. Points of
        # cut nodes are left out before the join with all boxes.
        tables.make("uncut", splice("cells/uncut", places=spanned, tables=names))
        met_tables.append(release.name(f"met_{depth}"))
        tables.make(met_tables[-1], splice("cells/met", places=spanned, tables=names))
        if cuts:
            for name in ("points", "boxes"):
                query = splice(f"cells/cut_{name}", places=spanned, tables=names)
                tables.make(f"{name}_at_{depth + 1}", query)
        tables.drop("cuts", "uncut", *names.values())
        if not cuts:
            break
    names = {f"met_{depth}": table for depth, table in enumerate(met_tables)}
    query = splice("cells/found", tables=names, shape={"depths": len(met_tables)})
    tables.make(release.name("found"), query)
    tables.drop(*met_tables)


def _make_cuts(tables: Tables, names: dict[str, str], spanned: Sequence[int]) -> int:
    """Create ``cuts``, one row per node that is cut; return their number.

    A row has the column and the place behind which the node is cut: where the fewest boxes lie on
    both sides. Nodes with few boxes or points are not cut.
    """
    if not spanned:  # boxes have one place in every column, or there were enough rounds
        tables.make("cuts", splice("cells/no_cuts"))
        return 0
    tables.make("loads", splice("cells/loads", tables=names))  # boxes and points of each node
    tables.make("sides", splice("cells/sides", places=spanned, tables=names))  # ends of boxes
    tables.make("cuts", splice("cells/cuts", places=spanned))
    tables.drop("loads", "sides")
    return tables.count("cuts")
