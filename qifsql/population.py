"""The people who may be in a release: the blocks that they make by the same quasi-identifiers."""

from dataclasses import replace

from qifsql import compiler
from qifsql.binding import bind
from qifsql.dataset import Dataset
from qifsql.engine.catalog import Catalog
from qifsql.engine.duckdb import DuckDB
from qifsql.errors import ColumnError, InputError, quoted
from qifsql.plan import Plan
from qifsql.spec import Attack, BoundAttack


def blocks_plan(engine: DuckDB, spec: Attack, bound: BoundAttack, population: Dataset) -> Plan:
    """The blocks of the population, with the quasi-identifiers as they were written."""
    if population.format == "duckdb":
        raise InputError("the population cannot be a table of a database; give a file")
    catalog = Catalog(engine, population, spec.mentions)
    own = Attack(("crs",), catalog.dataset, qids=spec.qids, null=spec.null)
    people = replace(bind(own, catalog), dataset=catalog.dataset)
    for mine, other in zip(bound.qids, people.qids, strict=True):
        if mine.type != other.type:
            raise ColumnError(
                f"quasi-identifier {quoted(mine.name)} has another type in {population.name} than "
                f"in {bound.dataset.name}; write one as an expression that casts it"
            )
    return compiler.kept_plan(people, "blocks")[1]
