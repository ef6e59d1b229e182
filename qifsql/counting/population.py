"""Blocks of a population by the quasi-identifiers of a release."""

from qifsql.adversary.bind import bind
from qifsql.adversary.spec import Attack, Microdata
from qifsql.data.dataset import Dataset
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import Engine
from qifsql.errors import ColumnError, InputError, quoted
from qifsql.query import compiler
from qifsql.query.plan import Plan


def blocks_plan(engine: Engine, spec: Attack, microdata: Microdata, population: Dataset) -> Plan:
    """Return the plan for the population's blocks by the quasi-identifiers of the release."""
    if population.format == "duckdb":
        raise InputError("the population cannot be a table of a database; give a file")
    catalog = Catalog(engine, population, spec.mentions)
    attack = Attack(("crs",), catalog.dataset, qids=spec.qids, null=spec.null)
    people = bind(attack, catalog)
    for qid, counterpart in zip(microdata.qids, people.microdata.qids, strict=True):
        if qid.type != counterpart.type:
            raise ColumnError(
                f"quasi-identifier {quoted(qid.name)} has another type in {population.name} than "
                f"in {microdata.dataset.name}; write one as an expression that casts it"
            )
    return compiler.kept_plan(people, "blocks")[1]
