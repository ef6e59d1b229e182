"""The combinations that can occur: nested dimensions, and a file that lists them.

Each becomes a table without counts (``Published.structural``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.commands.tables.dimensions import Records, find_dimension
from qifsql.commands.tables.margins import Domain, Published, place, places
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import SOURCE, column
from qifsql.data.option import csv_row
from qifsql.data.readers import relation
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, plural, quoted
from qifsql.query.columns import union
from qifsql.query.plan import Plan, Step
from qifsql.query.protections import Protection
from qifsql.query.splice import splice


@dataclass(frozen=True)
class Nesting:
    """Two dimensions of which each value of ``inner`` lies in one of ``outer``.

    ``pairs`` is an engine table of the outer value of each inner one.
    """

    tables: Tables
    text: str
    inner: int
    outer: int
    pairs: str

    def table(self, domain: Domain) -> Published:
        """Return the pairs as a table without counts: its cells may have 0 to all people."""
        edge = frozenset({self.inner, self.outer})
        name = f"{self.pairs}_cells"
        tables, numbers = {"pairs": self.pairs}, {"all_people": domain.people}
        query = splice("tables/nested_pairs", tables=tables, numbers=numbers, shape={"edge": edge})
        self.tables.make(name, query)
        return Published(f"nested {self.text}", edge, Protection(), name, structural=True)

    def extended(self, table: Published) -> Published:
        """Return a table with the outer dimension added, if it has the inner one without it."""
        if self.inner not in table.edge or self.outer in table.edge:
            return table
        name = f"{table.cells}_in_{self.outer}"
        tables = {"cells": table.cells, "pairs": self.pairs}
        shape = {"inner": self.inner, "outer": self.outer}
        self.tables.make(name, splice("tables/with_outer", tables=tables, shape=shape))
        return replace(table, edge=table.edge | {self.outer}, cells=name)


def read_nesting(
    tables: Tables,
    text: str,
    numbers: Mapping[str, int],
    published: Sequence[Published],
    records: Records | None,
    *,
    name: str,
) -> Nesting:
    """Return the nesting of a text ``inner,outer``; make the engine table ``name`` of its pairs.

    ``numbers`` are those of dimensions by name. The pairs are of the records, or of published
    tables without them (None). Refuse two outer values for one inner value.
    """
    names = csv_row(text)
    if len(names) != 2:
        raise InputError(
            f"{quoted(text)} is not INNER,OUTER; name two dimensions, as in --nested city,state"
        )
    inner, outer = (numbers[find_dimension(n, numbers, "nested")] for n in names)
    if inner == outer:
        raise InputError(f"{quoted(text)} names one dimension twice; name an inner and an outer")
    tables.make(name, _pairs(published, records, inner, outer))
    twice = exp.select(place(inner)).from_(name).group_by(place(inner)).having("count(*) > 1")
    ((n,),) = tables.rows(exp.select("count(*)").from_(twice.subquery("twice")))
    if n:
        raise InputError(
            f"--nested: {plural(n, 'value')} of the inner dimension lie in several of the "
            "outer one; name dimensions where each lies in one"
        )
    return Nesting(tables, text, inner, outer, name)


def _pairs(
    published: Sequence[Published], records: Records | None, inner: int, outer: int
) -> exp.Query:
    """Return the pairs of values of two dimensions that occur: in the records, or in a table."""
    edge = frozenset({inner, outer})
    if records is not None:
        return exp.select(*places(edge)).from_(records.truth(edge))
    tables = [t.cells for t in published if t.edge >= edge]
    if not tables:
        raise InputError(
            "no table has both dimensions of --nested, so that nothing says which value lies in "
            "which; add one"
        )
    queries = [exp.select(*places(edge)).from_(name).where("upper > 0") for name in tables]
    return union(queries, distinct=True)


def read_combinations(
    tables: Tables,
    possible: Dataset,
    numbers: Mapping[str, int],
    domain: Domain,
    records: Records | None,
) -> Published:
    """Return the combinations that the lines of the file ``possible`` list: a table without counts.

    ``numbers`` are those of dimensions by name; each column is one. Refuse a file that lacks a
    combination of the records, if they are at hand (not None).
    """
    catalog = Catalog(tables.engine, possible)
    title = possible.name
    columns = {
        numbers[find_dimension(c.name, numbers, f"column of {title}")]: c
        for c in catalog.schema.columns
    }
    edge = frozenset(columns)
    dataset = catalog.dataset
    assert isinstance(dataset, Dataset)  # noqa: S101 - it is no collection
    texts = [exp.cast(column(c), "VARCHAR").as_(f"value_{i}") for i, c in sorted(columns.items())]
    lines = relation(dataset, frozenset(c.source_name for c in columns.values()))
    lines = exp.alias_(lines, SOURCE, table=True)
    listed = Step("listed", "One row per line: texts.", exp.select(*texts).from_(lines))
    query = splice(
        "tables/listed_combinations", numbers={"all_people": domain.people}, shape={"edge": edge}
    )
    tables.make("possible", Plan((listed,), query))
    if records is not None:
        truth = exp.select("count(*)").from_(records.truth(edge))
        unlisted = truth.join("possible", using=tuple(places(edge)), join_type="anti")
        ((missing,),) = tables.rows(unlisted)
        if missing:  # people who cannot be
            raise InputError(
                f"{plural(missing, 'combination')} of the records are not in {title}; add them, "
                "or correct the records"
            )
    return Published(title, edge, Protection(), "possible", structural=True)
