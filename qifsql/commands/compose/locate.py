"""Location of people: the classes of a release whose cells contain their raw values.

Classes are boxes in the space of places, with a span per quasi-identifier. The distinct values of
people are points in this space. Columns whose cells are (nearly) single values join points and
boxes by equality. Along the other columns, boxes and points are repeatedly cut in halves, at places
with few boxes on both sides. In the end each node has few boxes and few points, and only these are
compared, never all classes with all people. Each point is in one node, so no pair is found twice.
Source: Ganta et al., Definition 6 (locatability).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.counting.spans import Generalised, width
from qifsql.engine.tables import Tables
from qifsql.query.columns import equal
from qifsql.query.splice import splice

ROUNDS = 40  # most rounds of cuts
MOST = 4_000_000  # most boxes of the classes after cells with gaps are written out


@dataclass(frozen=True)
class Located:
    """A release in which people are located: its number and its columns."""

    number: int
    columns: tuple[Generalised, ...]

    def name(self, table: str) -> str:
        """Return the name of a table of this release."""
        return f"{table}_{self.number}"


def locate(tables: Tables, release: Located) -> None:
    """Create ``found_r`` (point, class) from ``points_r`` (point, place_j) and ``classes_r``.

    ``classes_r`` has class and id_j, the cells; the caller leaves suppressed classes out.
    """
    written = _written_out(tables, release)
    rest = [c.raw.number for c in release.columns if c not in written]
    _start(tables, release, written)
    _halve(tables, release, rest)
    for column in release.columns:
        if column not in written:
            _fill(tables, release, column)


def _written_out(tables: Tables, release: Located) -> list[Generalised]:
    """Return the columns in which boxes and points are joined by equality.

    These are columns that hardly increase the number of boxes, and columns with gaps, up to a
    higher limit, because spans alone say little about these.
    """
    classes = release.name("classes")
    n = tables.count(classes)
    gaps = {c for c in release.columns if _has_gaps(tables, c)}
    alone = {c: width(tables, [c], classes) for c in release.columns}
    chosen: list[Generalised] = []
    for column in sorted(release.columns, key=lambda c: (alone[c], c.raw.number)):
        limit = max(MOST, 4 * n) if column in gaps else 1.1 * n
        if width(tables, [*chosen, column], classes) <= limit:
            chosen.append(column)
    return chosen


def _has_gaps(tables: Tables, column: Generalised) -> bool:
    gaps = exp.select("count(*)").from_(column.names["spans"]).where("enumerated")
    return bool(tables.rows(gaps)[0][0])


def _start(tables: Tables, release: Located, written: Sequence[Generalised]) -> None:
    """Create the boxes and points of the first nodes."""
    boxes = exp.select("class").from_(release.name("classes"))
    for column in release.columns:
        j = column.raw.number
        alias = f"spans_{j}"
        class_cell = equal(exp.column(f"id_{j}", release.name("classes")), exp.column("id", alias))
        some = exp.LTE(this=exp.column("low", alias), expression=exp.column("high", alias))
        spans = exp.table_(column.names["spans"], alias=alias)
        boxes = boxes.join(spans, on=exp.and_(class_cell, some))
        if column in written:
            covered = splice("cells/covered", tables=column.names).subquery(f"covered_{j}")
            cell = equal(exp.column("id", alias), exp.column("id", f"covered_{j}"))
            boxes = boxes.join(covered, on=cell)
            boxes = boxes.select(exp.column("place", f"covered_{j}").as_(f"place_{j}"))
        else:
            ends = [exp.column(end, alias).as_(f"{end}_{j}") for end in ("low", "least", "high")]
            boxes = boxes.select(*ends)
    tables.make("boxes_alone", boxes)
    keys = [c.raw.number for c in written]
    rest = [c.raw.number for c in release.columns if c not in written]
    everywhere = exp.select("1::BIGINT AS node")
    names = {"boxes": "boxes_alone"}
    tables.make("nodes", splice("cells/nodes", places=keys, tables=names) if keys else everywhere)
    for name, columns in (
        ("boxes", ["class", *(f"{end}_{j}" for j in rest for end in ("low", "least", "high"))]),
        ("points", ["point", *(f"place_{j}" for j in rest)]),
    ):
        source = "boxes_alone" if name == "boxes" else release.name("points")
        places = [f"place_{j}" for j in keys]
        node = [equal(exp.column(place, "one"), exp.column(place, "nodes")) for place in places]
        rows = exp.select("nodes.node", *(exp.column(column, "one") for column in columns))
        rows = rows.from_(exp.table_(source, alias="one"))
        tables.make(_deep(name, 0), rows.join("nodes", on=exp.and_(*node) if node else exp.true()))
    tables.drop("boxes_alone", "nodes")


def _halve(tables: Tables, release: Located, rest: Sequence[int]) -> None:
    """Cut nodes in halves as long as this is useful; create ``found_r`` of matching pairs."""
    met = []
    for depth in range(ROUNDS + 1):
        names = {"points": _deep("points", depth), "boxes": _deep("boxes", depth)}
        more = _cuts(tables, names, rest if depth < ROUNDS else ())
        met.append(release.name(f"met_{depth}"))
        # Leave out points of cut nodes before the join with all boxes.
        tables.make("uncut", splice("cells/uncut", places=rest, tables=names))
        tables.make(met[-1], splice("cells/met", places=rest, tables=names))
        if more:
            for name in ("points", "boxes"):
                query = splice(f"cells/cut_{name}", places=rest, tables=names)
                tables.make(_deep(name, depth + 1), query)
        tables.drop("cuts", "uncut", *names.values())
        if not more:
            break
    pairs: exp.Query = exp.select("point", "class").from_(met[0])
    for table in met[1:]:
        pairs = exp.union(pairs, exp.select("point", "class").from_(table), distinct=False)
    tables.make(release.name("found"), pairs)
    tables.drop(*met)


def _cuts(tables: Tables, names: dict[str, str], rest: Sequence[int]) -> int:
    """Create the table of the cuts of nodes; return their number."""
    if not rest:
        tables.make("cuts", exp.select("0::BIGINT AS node").where("FALSE"))
        return 0
    tables.make("loads", splice("cells/loads", tables=names))
    tables.make("sides", splice("cells/sides", places=rest, tables=names))
    tables.make("cuts", splice("cells/cuts", places=rest))
    tables.drop("loads", "sides")
    return tables.count("cuts")


def _deep(name: str, depth: int) -> str:
    return f"{name}_at_{depth}"


def _fill(tables: Tables, release: Located, column: Generalised) -> None:
    """Remove the pairs of ``found_r`` whose point is in a gap of a column's cell."""
    if not _has_gaps(tables, column):
        return
    j, table = column.raw.number, release.name("found")
    ids = exp.select("class", exp.column(f"id_{j}").as_("id")).from_(release.name("classes"))
    tables.make("ids", ids)
    names = dict(column.names) | {"met": table, "points": release.name("points")}
    tables.make("filled", splice("cells/filled", places=[j], tables=names))
    tables.drop(table, "ids")
    tables.make(table, exp.select("*").from_("filled"))
    tables.drop("filled")
