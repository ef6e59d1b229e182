"""Random choice of the record of each person that stays, and the query for these records."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl
from sqlglot import exp

from qifsql.counting.scales import own_name, own_table
from qifsql.data.dataset import Column, Dataset
from qifsql.data.expressions import FLOATING, column, parse, source_columns, with_one_missing
from qifsql.data.readers import numbered_rows, select_records
from qifsql.data.types import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import Engine
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, InternalError, no_records, quoted
from qifsql.query import render
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step
from qifsql.query.templates import load
from qifsql.results import release

_DATED = ("DATE", "TIME", "TIMESTAMP")  # their text in CSV may have a form that no cast accepts

SUMMARY: dict[str, pl.DataType] = dict.fromkeys(
    ("records", "people", "dropped", "people_with_several", "without_key"), pl.Int64()
)
"""One row: the records that pass the filter, the people (one record of each stays), the dropped
records, the people with several records, and the records without a key, each counted as a separate
person. Without a key the numbers of people are NULL."""


@dataclass(frozen=True)
class Records:
    """Records as they are read: their dataset, columns, person key and filter."""

    dataset: Dataset
    columns: tuple[Column, ...]
    key: exp.Expr | None
    where: exp.Expr | None


def read_records(catalog: Catalog, key: str | None, where: str | None) -> Records:
    """Return the records of a dataset with key and filter as SQL; refuse invalid ones."""
    schema, dataset = catalog.schema, catalog.dataset
    assert isinstance(dataset, Dataset)  # noqa: S101 - a catalog of one dataset
    records = Records(dataset, schema.columns, key=None, where=None)
    if key is not None:
        key_column = schema[key]
        if nested(key_column.type):
            raise ColumnError(
                f"key {quoted(key_column.name)} of {schema.dataset} is nested "
                f"({family(key_column.type)}); name a column of single values"
            )
        person: exp.Expr = column(key_column)
        if key_column.type in FLOATING:  # NaN is a missing key
            person = with_one_missing(person)
        records = replace(records, key=person)
    if where is not None:
        condition = parse(where, schema, "the filter (where)")
        catalog.condition(condition)  # refuses what is no truth value
        records = replace(records, where=condition)
    return records


def read_as_text(records: Records) -> Records | None:
    """Return the records of a CSV file with all cells as text; None for other formats.

    The key and the columns of the filter are cast to their types. The result is None, too, if one
    of these is a date, a time or has a decimal comma, because CSV accepts more forms than a cast.
    """
    if records.dataset.format != "csv":
        return None
    types = {c.source_name: c.type for c in records.columns}
    trees = [tree for tree in (records.key, records.where) if tree is not None]
    cast_types = [types[name] for name in source_columns(*trees)]
    has_comma = records.dataset.decimal == "," and "DOUBLE" in cast_types
    if has_comma or any(type_.startswith(_DATED) for type_ in cast_types):
        return None

    def cast_columns(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or types[node.name] == "VARCHAR":
            return node
        return exp.cast(node.copy(), types[node.name], dialect=render.DUCKDB)

    return Records(
        replace(records.dataset, all_varchar=True),
        tuple(replace(c, type="VARCHAR") for c in records.columns),
        None if records.key is None else records.key.transform(cast_columns),
        None if records.where is None else exp.paren(records.where).transform(cast_columns),
    )


def draw(engine: Engine, records: Records, seed: int) -> tuple[pl.DataFrame, list[str]]:
    """Draw a record of each person; return a frame as ``SUMMARY`` and the statements that ran.

    Make a table of the positions of all other records (``dropped``). Without a key all stay. Only
    people with several records (``repeats``) draw lots; the record with the smallest lot stays.
    """
    name = records.dataset.name
    tables = Tables(engine, "counting records", name)
    keys = select_records(records.dataset, [exp.alias_(_key(records), "key")], records.where)
    keyed = Step("keyed", "One row per record: its key.", keys)
    ((n,),) = tables.rows(Plan((keyed,), exp.select("count(*)").from_("keyed")))
    if not n:
        raise no_records(name, "nobody to treat", filtered=records.where is not None)
    if records.key is None:
        return pl.DataFrame([{"records": n, "dropped": 0}], schema=SUMMARY), tables.statements
    repeats = Plan((keyed,), load("anonymise/repeats").query)
    tables.make("repeats", repeats, "looking for people with several")
    # People with several records, the records to drop, and those without a key.
    ((people, surplus, without_key),) = tables.rows(
        load("anonymise/surplus").query, "counting people"
    )
    steps = (  # the records of these people as text, their lots, the least lot of each person
        *lot_steps(records, seed),
        make_step("anonymise/contenders", tables={"repeats": own_name("repeats")}),
        make_step("anonymise/lots", materialized=True),
        make_step("anonymise/winners"),
    )
    tables.make("dropped", Plan(steps, load("anonymise/dropped").query), "drawing lots")
    dropped = tables.count("dropped")
    if dropped != surplus:
        raise InternalError(f"{dropped:,} records of {name} would be dropped, not {surplus:,}")
    counts = (n, n - dropped, dropped, people, without_key)
    return pl.DataFrame([counts], schema=SUMMARY, orient="row"), tables.statements


def lot_steps(records: Records, seed: int) -> tuple[Step, Step]:
    """Return the steps ``numbered`` and ``told``: records by position, and as texts for lots."""
    width = len(records.columns)
    return (
        Step("numbered", "One row per record, by its position.", number_records(records)),
        make_step("anonymise/told", numbers={"wanted_seed": seed}, shape={"columns": width}),
    )


def _key(records: Records) -> exp.Expr:
    return exp.null() if records.key is None else records.key.copy()


def number_records(records: Records) -> exp.Select:
    """Return the query of the filtered records: ``position``, from 1, ``key``, ``column_1`` .."""
    columns = {"key": _key(records)}
    columns |= {f"column_{i}": column(c) for i, c in enumerate(records.columns, 1)}
    return numbered_rows(records.dataset, columns, records.where)


def stays() -> exp.Expr:
    """Return the condition that the record at a ``position`` is not among the dropped ones.

    It is no anti join, because that may change the order of the rows.
    """
    dropped = exp.select("position").from_(own_table("dropped")).subquery()
    return exp.not_(exp.In(this=exp.column("position"), query=dropped))


def plan_remaining(records: Records, ending: str, drop: Sequence[str]) -> Plan:
    """Return the plan of the records that stay, in input order, for a file of that ending."""
    numbered = [(i, c) for i, c in enumerate(records.columns, 1) if c.name not in drop]
    cells = release.written_cells([(exp.column(f"column_{i}"), c) for i, c in numbered], ending)
    query = exp.select(*cells).from_(number_records(records).subquery("numbered"))
    return Plan((), query if records.key is None else query.where(stays()))
