"""Locating people: the classes of a release whose cells contain their raw values.

Classes are boxes in the space of places, a span per quasi-identifier, and different values of
people are points in it. Where a column's cells are (nearly) single values, points meet boxes by
equality. What is left is cut in halves again and again, boxes and points together, where few boxes
lie on both sides, so that in the end few boxes and few points stand in each node and are compared:
never all classes with all people. Each point stands in one node, so nothing is found twice.
Source: Ganta et al., Definition 6 (locatability).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qifsql.counting.spans import Generalised, width
from qifsql.engine.tables import Tables
from qifsql.query.columns import equal
from qifsql.query.splice import splice

ROUNDS = 40  # of cutting at most
MOST = 4_000_000  # boxes that classes may become when cells with gaps are written out


@dataclass(frozen=True)
class Located:
    """A release whose people are to be found: its number, and its columns."""

    number: int
    columns: tuple[Generalised, ...]

    def name(self, table: str) -> str:
        """Return the name of one of its tables."""
        return f"{table}_{self.number}"


def locate(tables: Tables, release: Located) -> None:
    """Make ``found_r`` (point, class) from ``points_r`` (point, place_j) and ``classes_r``.

    ``classes_r`` has class and id_j, the cells; suppressed ones are left out by the caller.
    """
    written = _written_out(tables, release)
    rest = [c.raw.number for c in release.columns if c not in written]
    _start(tables, release, written)
    _halve(tables, release, rest)
    for column in release.columns:
        if column not in written:
            _fill(tables, release, column)


def _written_out(tables: Tables, release: Located) -> list[Generalised]:
    """Return the columns by whose values boxes and points meet by equality.

    First those where that makes hardly more boxes of the classes; then those with gaps, of which
    spans alone tell little.
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
    """Make boxes and points in their first nodes."""
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
    """Cut nodes in halves until that is not worth it; make ``found_r`` of what meets."""
    met = []
    for depth in range(ROUNDS + 1):
        names = {"points": _deep("points", depth), "boxes": _deep("boxes", depth)}
        more = _cuts(tables, names, rest if depth < ROUNDS else ())
        met.append(release.name(f"met_{depth}"))
        # Before it meets all boxes.
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
    """Make the table of how nodes are cut; how many are."""
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
    """Take out of ``found_r`` what falls into gaps of a column's cells."""
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
