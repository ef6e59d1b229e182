"""Statements of recoded releases about the attributes of all tables: the values in each cell.

A release that was recoded is the exact table of its cells. A column of it becomes

- the attribute itself, where each cell is one of the values that other statements tell;
- an attribute *derived* from it, where the cells are disjoint sets of these, such as groups of
  ages;
- with other columns one derived attribute, the class of a record, where cells overlap but classes
  do not, as those of Mondrian.

A derived attribute is the outer one of a nesting (``dimensions``). People whose records are
suppressed or missing may be in any cell: each cell has up to so many more people. The values of a
column that nothing else tells of are its cells. Source: M220.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from sqlglot import exp

from qifsql.commands.tables.dimensions import Nesting
from qifsql.commands.tables.hypergraph import Edge
from qifsql.commands.tables.margins import Domain, Published
from qifsql.commands.tables.microdata_releases import CountedRelease
from qifsql.counting.spans import Generalised, Raw, make_places, make_spans
from qifsql.data.cells import Cell, UnreadableError, parse
from qifsql.data.domains import domain as domain_of
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.types import family, generalised
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, InputError, plural, quoted
from qifsql.query.plan import Plan, Step
from qifsql.query.protections import Protection
from qifsql.query.shapes import Shape
from qifsql.query.splice import make_step, splice
from qifsql.query.suppression import STAR

MOST_COMBINATIONS = 5_000_000  # of values, of the columns that tell classes apart together
MOST_CELLS = 2_000  # different cells of a column whose values nothing tells
LARGEST_POINT = 10**15  # larger ends of intervals stand for no end
WHAT = "counting records"
OTHER = "(other)"
OVERLAPPING = (
    "so that nothing tells in which of them a person is: cells were suppressed here and there, or "
    "records grouped by their neighbours; leave these columns out (--release 'FILE:age,sex'), or "
    "recode all records alike"
)


@dataclass
class Statements:
    """The statements of releases about the attributes of a domain, and what these derive.

    ``types`` are those of the values of attributes; others have texts, which may be numbers.
    ``direct`` attributes are told by one release alone, whose cells are their values; ``alone`` are
    those that records have, too: cells take the place of their values.
    """

    tables: Tables
    domain: Domain
    hierarchies: Mapping[str, str | Path]
    types: Mapping[int, str] = field(default_factory=dict)
    direct: frozenset[int] = frozenset()
    alone: frozenset[int] = frozenset()
    raws: dict[int, Raw] = field(default_factory=dict)
    published: list[Published] = field(default_factory=list)
    derived: dict[int, Nesting] = field(default_factory=dict)  # the nesting of each attribute
    notes: list[str] = field(default_factory=list)

    def add(self, release: CountedRelease) -> None:
        """Add the statement of a release; refuse one whose cells are no recoding of the values."""
        people, title = self.domain.people, release.title
        missing = people - release.records
        if missing < 0:
            raise InputError(
                f"{title} has {plural(release.records, 'record')} of {plural(people, 'person')}; "
                "a release has one record of a person, and of these people only"
            )
        if release.suppressed:
            text = plural(release.suppressed, "suppressed record")
            self.notes.append(f"{title} has {text}: each of them may be anybody's")
        if missing:
            text = f"{plural(release.records, 'record')} of {plural(people, 'person')}"
            self.notes.append(f"{title} has {text}; those who are not in it may have any values")
        coded = _Coded(self, release)
        attributes = coded.attributes()
        self._publish(coded, attributes, title, missing + release.suppressed)
        visible = {j: a for j, a in attributes.items() if j and j not in release.hidden}
        if release.suppressed and visible:  # columns of which suppressed records have cells, too
            self._publish(coded, visible, f"{title} (all records)", missing, hides=False)

    def _publish(
        self,
        coded: "_Coded",
        attributes: Mapping[int, int],
        title: str,
        further: int,
        *,
        hides: bool = True,
    ) -> None:
        """Add the table of columns, each with its attribute, if it has cells.

        Each cell may have ``further`` people more; ``hides``: suppressed records are not counted.
        """
        protection = Protection("partial", further) if further else Protection()
        name = f"statement_{coded.release.number}_{int(hides)}"
        query = splice(
            "tables/statement",
            tables={"numbered_records": coded.records},
            numbers={"further": further, "all_people": self.domain.people},
            shape={"pairs": sorted(attributes.items()), "hides": hides},
        )
        self.tables.make(name, query, WHAT)
        if self.tables.count(name):
            edge, statement = frozenset(attributes.values()), coded.release.title
            self.published.append(Published(title, edge, protection, name, statement=statement))

    def raw(self, i: int) -> Raw:
        """Return attribute i with its values; make ``places_i``, and ``codes_i`` of the places."""
        if i in self.raws:
            return self.raws[i]
        name, listed = self.domain.names[i], f"values_{i}"
        kind = self.types.get(i) or _kind_of_texts(self.tables, listed)
        kind = "VARCHAR" if family(kind) == '"NULL"' else kind  # no record has a value
        value = exp.cast(exp.column("value", listed), kind)
        raw = Raw(i, name, "the other statements", kind, self._hierarchy(name, kind))
        values = exp.select(value.as_("value"), "1::BIGINT AS people").from_(listed)
        make_places(self.tables, raw, values)
        same = exp.NullSafeEQ(this=exp.column("value", f"places_{i}"), expression=value.copy())
        codes = exp.select("place", "code").from_(exp.table_(f"places_{i}")).join(listed, on=same)
        self.tables.make(f"codes_{i}", codes)
        self.raws[i] = raw
        return raw

    def _hierarchy(self, name: str, kind: str) -> Hierarchy | None:
        path = self.hierarchies.get(name)
        return None if path is None else Hierarchy.read(path).of_type(kind)

    def derive(
        self, inner: Edge, name: str, pairs: str, values: exp.Select, *, replaces: bool = False
    ) -> int:
        """Add an attribute that follows from those of ``inner``; return its number.

        The engine table ``pairs`` has its code by theirs, ``values`` is SQL for its values. It
        ``replaces`` the one attribute of ``inner`` if nothing else tells of that.
        """
        number = self.next_number
        self.tables.make(f"values_{number}", values)
        self.derived[number] = Nesting(self.tables, name, inner, number, pairs)
        names, sizes = dict(self.domain.names), dict(self.domain.sizes)
        sizes[number] = self.tables.count(f"values_{number}")
        hidden = self.domain.derived | {number}
        if replaces:
            (i,) = inner
            name, hidden = names.pop(i), self.domain.derived
        names[number] = name
        self.domain = Domain(names, sizes, self.domain.people, hidden)
        return number

    @property
    def next_number(self) -> int:
        """Return the number of the next attribute."""
        return max(self.domain.sizes) + 1

    @property
    def nestings(self) -> list[Nesting]:
        """Return the nestings whose attributes all are attributes of the people."""
        return [n for n in self.derived.values() if n.inner <= self.domain.every]


def _kind_of_texts(tables: Tables, listed: str) -> str:
    """Return the type of values that are texts: of numbers or dates, if all of them are."""
    values = exp.select("value::VARCHAR AS value").from_(listed).where("value IS NOT NULL")
    plan = Plan((Step("known", "", values),), splice("tables/kinds_of_values"))
    ((integral, decimal, dated),) = tables.rows(plan)
    kinds = (("BIGINT", integral), ("DOUBLE", decimal), ("DATE", dated))
    return next((kind for kind, fits in kinds if fits), "VARCHAR")


def _generalised(raw: Raw, release: CountedRelease, j: int) -> Generalised:
    """Return column j of a release, whose cells contain values of ``raw``."""
    attribute, dataset = release.columns[j - 1], release.dataset
    typed = dataset.format != "csv"
    column = Generalised(raw, release.number, release.title, attribute.name, attribute.type)
    return replace(column, typed=typed, decimal=dataset.decimal, order=dataset.date_order)


@dataclass
class _Coded:
    """A release with numbers in place of its cells, and the attribute of each column.

    ``plain`` columns have the codes of values, ``coarse`` ones the numbers of their cells, with the
    engine table of the values in each. Column 0 is the class of a record.
    """

    statements: Statements
    release: CountedRelease
    plain: dict[int, int] = field(default_factory=dict)  # attributes by column
    coarse: dict[int, int] = field(default_factory=dict)
    overlapping: list[int] = field(default_factory=list)  # coarse columns
    records: str = ""  # the engine table of numbers

    def attributes(self) -> dict[int, int]:
        """Return the attribute of each column; make the records."""
        release, tables = self.release, self.statements.tables
        numbers = {name: i for i, name in self.statements.domain.names.items()}
        columns = {j: numbers[a.name] for j, a in enumerate(release.columns, 1)}
        for j, i in columns.items():
            self._number_cells(j, i)
        self.records = f"numbered_records_{release.number}"
        names = {"counted": release.name} | {
            f"numbered_{j}": self._name("numbered", j) for j in columns
        }
        query = splice("tables/numbered_records", tables=names, shape={"columns": sorted(columns)})
        tables.make(self.records, query, WHAT)
        classes = self._find_classes() if self.overlapping else []
        attributes = {j: i for j, i in self.plain.items() if j not in classes}
        for j, i in self.coarse.items():
            if j not in classes:
                attributes[j] = self._derive_column(j, i)
        if classes:
            attributes[0] = self._derive_classes(classes)
        return attributes

    def _name(self, table: str, j: int) -> str:
        return f"{table}_{self.release.number}_{j}"

    def _number_cells(self, j: int, i: int) -> None:
        """Make ``numbered`` of column j, whose cells contain values of attribute i."""
        statements, tables = self.statements, self.statements.tables
        numbered = self._name("numbered", j)
        if i in statements.direct:
            texts = exp.select("value::VARCHAR AS cell", "code AS id").from_(
                exp.table_(f"values_{i}")
            )
            tables.make(numbered, texts)
            self.plain[j] = i
            return
        column = _generalised(statements.raw(i), self.release, j)
        make_spans(tables, column, self.release.cells(j))
        names = {**column.names, "codes": f"codes_{i}", "pairs": self._name("pairs", j)}
        contained = make_step("cells/contained", tables=names)
        tables.make(
            names["pairs"], Plan((contained,), splice("tables/cell_contents", tables=names))
        )
        ((outside, coarse, twice),) = tables.rows(splice("tables/faults", tables=names))
        if outside:
            raise ColumnError(
                f"column {quoted(column.column)} of {self.release.title} has "
                f"{plural(outside, 'cell')} without any value that the other statements have, so "
                "that it is no recoding of them: noise, drawn or swapped values, centroids, or "
                "other codes; leave it out, as in --release 'FILE:age,sex'"
            )
        shape: dict[str, Shape] = {"is_plain": not coarse}
        tables.make(numbered, splice("tables/numbered", tables=names, shape=shape))
        (self.coarse if coarse else self.plain)[j] = i
        if coarse and twice:
            self.overlapping.append(j)

    def _derive_column(self, j: int, i: int) -> int:
        """Return the attribute derived from attribute i, whose values are the cells of column j."""
        statements, release = self.statements, self.release
        number = statements.next_number
        cells = _generalised(statements.raw(i), release, j).names["cells"]
        names = {"listed": f"values_{i}", "pairs": self._name("pairs", j), "cells": cells}
        shape: dict[str, Shape] = {"attribute": i, "derived": number}
        pairs = f"derived_{number}"
        statements.tables.make(pairs, splice("tables/cells_of_values", tables=names, shape=shape))
        values = splice(
            "tables/derived_values", tables=names | {"pairs": pairs}, shape={"derived": number}
        )
        title = f"{statements.domain.names[i]} ({release.title})"
        replaces = i in statements.alone and not self.overlapping
        return statements.derive(frozenset([i]), title, pairs, values, replaces=replaces)

    # Classes.

    def _find_classes(self) -> list[int]:
        """Return columns that tell all classes apart; make ``classes``, and ``found`` of values.

        Raises InputError if the values of a person may be in several classes.
        """
        visible = {j for j in self.plain | self.coarse if j not in self.release.hidden}
        chosen = list(self.overlapping)
        further = [*self.plain, *(j for j in self.coarse if j not in chosen)]
        # Suppressed records have cells in visible columns, which are no part of a class then.
        further = [j for j in further if not (self.release.suppressed and j in visible)]
        while True:
            shared = self._count_shared(chosen)
            if not shared:
                break
            if not further:
                columns = ", ".join(
                    quoted(self.release.columns[j - 1].name) for j in self.overlapping
                )
                raise InputError(
                    f"{self.release.title} has cells of {columns} that overlap, {OVERLAPPING}"
                )
            chosen.append(further.pop(0))
        if self.release.suppressed and visible & {*chosen}:
            raise InputError(
                f"{self.release.title} has suppressed records, and cells that overlap in columns "
                f"that these show, {OVERLAPPING}"
            )
        return chosen

    def _count_shared(self, chosen: Sequence[int]) -> int:
        """Return how many combinations of values are in several classes of the chosen columns."""
        statements, tables = self.statements, self.statements.tables
        r = self.release.number
        names = {"classes": f"classes_{r}", "numbered_records": self.records, "found": f"found_{r}"}
        names |= {f"pairs_{j}": self._name("pairs", j) for j in chosen if j in self.coarse}
        coarse = [(j, self.coarse[j]) for j in chosen if j in self.coarse]
        plain = [(j, self.plain[j]) for j in chosen if j in self.plain]
        attributes = sorted(i for _, i in (*coarse, *plain))
        query = splice("tables/classes", tables=names, shape={"columns": sorted(chosen)})
        tables.repeatable(names["classes"], query)()
        shape: dict[str, Shape] = {"coarse": [j for j, _ in coarse]}
        ((n,),) = tables.rows(splice("tables/combinations_in_classes", tables=names, shape=shape))
        sizes = statements.domain.sizes
        product = 1
        for i in attributes:
            product *= sizes[i]
        if max(int(n or 0), product) > MOST_COMBINATIONS:
            raise InputError(
                f"the classes of {self.release.title} overlap in single columns, and those that "
                f"tell them apart have more than {MOST_COMBINATIONS:,} combinations of values; "
                "name fewer columns, as in --release 'FILE:age,sex'"
            )
        query = splice(
            "tables/values_in_classes", tables=names, shape={"coarse": coarse, "plain": plain}
        )
        tables.repeatable(names["found"], query)()
        shape = {"edge": attributes}
        ((shared,),) = tables.rows(splice("tables/shared_by_classes", tables=names, shape=shape))
        return int(shared)

    def _derive_classes(self, chosen: Sequence[int]) -> int:
        """Return the attribute whose values are classes; add them to the records as column 0."""
        statements, tables, r = self.statements, self.statements.tables, self.release.number
        number = statements.next_number
        attributes = sorted(self.plain.get(j) or self.coarse[j] for j in chosen)
        names = {"classes": f"classes_{r}", "found": f"found_{r}"}
        shape: dict[str, Shape] = {"edge": attributes, "derived": number}
        pairs = f"derived_{number}"
        tables.make(pairs, splice("tables/classes_of_values", tables=names, shape=shape))
        values = splice("tables/class_values", tables={"pairs": pairs}, shape={"derived": number})
        names |= {"numbered_records": self.records}
        query = splice("tables/records_of_classes", tables=names, shape={"columns": sorted(chosen)})
        self.records = f"records_of_classes_{r}"
        tables.make(self.records, query)
        title = f"class ({self.release.title})"
        return statements.derive(frozenset(attributes), title, pairs, values)


# Values that nothing but cells tells.


def list_parts(
    tables: Tables,
    i: int,
    name: str,
    places: Sequence[tuple[CountedRelease, int]],
    hierarchy: str | Path | None,
    *,
    is_open: bool,
) -> Raw:
    """Make the values of attribute i, which several releases tell and nothing else: parts of cells.

    A part is what lies in the same cells of all releases, such as 20-24 of 20-29 and <25; if
    ``is_open``, what lies in none is one, too. ``places`` has each release with its column.
    ``values_i``, ``places_i`` and ``codes_i`` are made.
    """
    texts: dict[str | None, None] = {}
    for release, j in places:
        if generalised(release.columns[j - 1].type) is not None:
            raise ColumnError(
                f"column {quoted(name)} of {release.title} has cells that are no text, and no "
                "table tells the values in them; write the release with cells as text"
            )
        query = exp.select("cell::VARCHAR AS text").distinct().from_(release.cells(j).subquery("s"))
        query = query.order_by("text").limit(MOST_CELLS + 1)
        texts |= dict.fromkeys(text for (text,) in tables.rows(query))
    if len(texts) > MOST_CELLS:
        raise InputError(
            f"dimension {quoted(name)} has more than {MOST_CELLS:,} different cells, and no table "
            "tells the values in them; add a table that has it, or leave it out"
        )
    tree = None if hierarchy is None else Hierarchy.read(hierarchy)
    kind, points = _points(name, [text for text in texts if text is not None], tree)
    raw = Raw(i, name, "the cells", kind, None if tree is None else tree.of_type(kind))
    listed = exp.values([(point,) for point in [*points, None]], alias="points", columns=["value"])
    value = exp.cast(exp.column("value"), kind).as_("value")
    make_places(tables, raw, exp.select(value, "1::BIGINT AS people").from_(listed))
    inside: dict[int, list[tuple[int, int]]] = defaultdict(list)  # the cells of each place
    written: dict[tuple[int, int], str] = {}
    for release, j in places:
        column = _generalised(raw, release, j)
        make_spans(tables, column, release.cells(j))
        names = column.names
        contained = splice("cells/contained", tables=names).subquery("contained")
        query = exp.select("place", "id").from_(contained).where("inside").order_by("place", "id")
        for point, cell in tables.rows(query):
            inside[point].append((release.number, cell))
        query = exp.select("id", "coalesce(cell::VARCHAR, '')").from_(names["cells"])
        written |= {(release.number, cell): text for cell, text in tables.rows(query)}
        tables.drop(*(names[table] for table in ("cells", "members", "spans")))
    parts: dict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
    for point, cells in sorted(inside.items()):
        parts[tuple(cells)].append(point)
    if is_open:
        parts[()] = []
    codes = [(point, code) for code, points_ in enumerate(parts.values(), 1) for point in points_]
    rows = exp.values(codes, alias="codes", columns=["place", "code"])
    tables.make(f"codes_{i}", exp.select("place", "code").from_(rows))
    labels = enumerate(_part_labels(list(parts), written), 1)
    rows = exp.values(list(labels), alias="labels", columns=["code", "value"])
    tables.make(f"values_{i}", exp.select("value", "code").from_(rows))
    return raw


def _part_labels(
    parts: Sequence[tuple[tuple[int, int], ...]], written: Mapping[tuple[int, int], str]
) -> list[str]:
    """Return a name of each part: the cell that is this part alone, or all cells around it."""
    parts_of_cell: dict[tuple[int, int], int] = defaultdict(int)  # the parts of each cell
    for cells in parts:
        for cell in cells:
            parts_of_cell[cell] += 1
    labels: dict[str, None] = {}
    for cells in parts:
        names = [written[cell] for cell in cells if parts_of_cell[cell] == 1]
        text = names[0] if names else " & ".join(written[cell] for cell in cells) or OTHER
        labels[text if text not in labels else f"{text} ({len(labels) + 1})"] = None
    return list(labels)


def _points(name: str, texts: Sequence[str], tree: Hierarchy | None) -> tuple[str, list[str]]:
    """Return a type, and values of it so that each part of the cells ``texts`` has one of them."""
    nodes = None if tree is None else tree.nodes
    cells: list[Cell] = []
    kind = "VARCHAR"
    for kind in ("BIGINT", "DOUBLE", "DATE", "VARCHAR"):
        try:
            cells = [parse(text, domain_of(kind), nodes) for text in texts]
            break
        except UnreadableError as e:
            if kind == "VARCHAR":
                raise ColumnError(
                    f"dimension {quoted(name)} of releases has a cell that cannot be read: {e}"
                ) from e
    if tree is not None:
        return kind, list(tree.leaves)
    items = {item for cell in cells for item in cell.items}
    prefixes = [(cell.prefix, cell.length or 0) for cell in cells if cell.prefix is not None]
    if kind == "VARCHAR":  # a prefix with stars is a text that begins with it
        return kind, sorted(items | {prefix.ljust(n, STAR) for prefix, n in prefixes} | {STAR})
    items |= {prefix.ljust(n, sign) for prefix, n in prefixes for sign in ("0", "9")}
    items |= {end for cell in cells for end in (cell.lower, cell.upper) if end is not None}
    if kind == "DATE":
        days = map(date.fromisoformat, items)
        near = {day + timedelta(days=step) for day in days for step in (-1, 0, 1)}
        return kind, [day.isoformat() for day in sorted(near)]
    ends = sorted(end for end in map(Fraction, items) if abs(end) < LARGEST_POINT)
    if kind == "BIGINT":
        return kind, [str(n) for n in sorted({int(e) + step for e in ends for step in (-1, 0, 1)})]
    between = [(low + high) / 2 for low, high in pairwise(ends)]
    beyond = [ends[0] - 1, ends[-1] + 1] if ends else []
    return kind, [repr(float(n)) for n in sorted({*ends, *between, *beyond})]
