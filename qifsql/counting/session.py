"""An engine open on one dataset, with an attack bound to its columns."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Unpack

from sqlglot import exp

from qifsql.adversary.bind import bind
from qifsql.adversary.spec import Attack, Attribute, BoundAttack, Microdata
from qifsql.counting import suppressed
from qifsql.counting.join import with_joined_people
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import FLOATING, identifier, with_one_missing
from qifsql.data.option import split_name
from qifsql.data.readers import relation
from qifsql.data.types import nested
from qifsql.engine import remembered
from qifsql.engine.access import Access
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import Engine, LocalEngine
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, DatasetError, InputError, WeightError, plural, quoted
from qifsql.query import compiler
from qifsql.query.microdata_steps import records_plan, weights_plan
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps

MOST_WAVES = 100  # of one long table


@contextmanager
def opened(
    spec: Attack,
    settings: Settings | None = None,
    *,
    joined: bool = True,
    apart: bool = False,
    noted: bool = True,
    command: str = "",
    **access: Unpack[Access],
) -> Iterator[tuple[LocalEngine, BoundAttack]]:
    """Yield an engine and the attack bound to its columns; remove temporary data at the end.

    The engine opens the files of the attack, and those of ``access``. ``settings`` are its limits.
    ``joined``: check and join the people of a collection, which is needed to run queries.
    ``apart``: count the suppressed records, and keep them out of all blocks. ``noted``: look at
    values for notes on them. ``command``: the command, if it also runs on Spark.
    """
    access["sources"] = (spec.dataset, *spec.tables, *access.get("sources", ()))
    with open_engine(settings, command=command, **access) as engine:
        notes: tuple[str, ...] = ()
        if spec.wave is not None:
            datasets, notes = _waves(engine, spec)
            spec = spec.over(datasets)
        catalog = Catalog(engine, spec.dataset, spec.mentions)
        bound = bind(replace(spec, dataset=catalog.dataset), catalog, noted=noted)
        people = replace(bound.microdata, notes=(*notes, *bound.microdata.notes))
        bound = bound.on(with_joined_people(engine, people) if joined else people)
        yield engine, suppressed.marked(engine, bound) if apart else bound


def _waves(engine: Engine, spec: Attack) -> tuple[list[Dataset], tuple[str, ...]]:
    """Return one dataset per wave of a long table, and notes on the records without a wave.

    ``spec.wave`` is a column (``year``: all its waves, in order), or a column with the values of
    the waves to take (``year=2021,2019``). The first dataset is the focal one.
    """
    if not isinstance(spec.dataset, Dataset):
        raise InputError("waves are those of one long table; name one file")
    if spec.key is None:
        raise InputError("a long table needs the key that tells people apart; name it with --key")
    column, listed = split_name(spec.wave or "") or (spec.wave or "", "")
    waves, without = _split_waves(engine, spec.dataset, column)
    outside = f"{plural(without, 'record')} of {spec.dataset.name} have no {column}"
    notes = (f"{outside}: no wave has them",) if without else ()
    if not listed:
        return waves, notes
    by_value = {d.wave[1]: d for d in waves if d.wave}  # a wave is a pair: its column, its value
    chosen = [value.strip() for value in listed.split(",")]
    if missing := [i for i, value in enumerate(chosen, 1) if value not in by_value]:
        raise InputError(
            f"wave {missing[0]} of those named does not occur in column {quoted(column)} of "
            f"{spec.dataset.name}, which has {plural(len(by_value), 'wave')}"
        )
    return [by_value[value] for value in chosen], notes


def _split_waves(engine: Engine, dataset: Dataset, column: str) -> tuple[list[Dataset], int]:
    """Return one dataset per value of a column, in order, and how many records have none."""
    catalog = Catalog(engine, dataset)
    assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - it was one
    original = catalog.schema[column]
    if nested(original.type):
        raise ColumnError(f"wave {quoted(column)} of {dataset.name} is nested; use another column")
    wave: exp.Expr = exp.column(identifier(original.source_name))
    text = exp.cast(wave.copy(), "VARCHAR")  # distinguishes 0.0 and -0.0, as the waves do
    wave = with_one_missing(wave) if original.type in FLOATING else wave
    missing = exp.paren(wave).is_(exp.null())
    everything = relation(catalog.dataset)
    rows = exp.select("count(*)").from_(everything).where(missing)
    ((without,),) = engine.query(rows, dataset.name)
    # The different texts of the column, in the order of its values.
    query = exp.select(text).from_(everything.copy()).where(exp.not_(missing.copy()))
    query = query.group_by(text.copy()).order_by(exp.Min(this=wave.copy()), text.copy())
    values = [value for (value,) in engine.query(query.limit(MOST_WAVES + 1), dataset.name)]
    if len(values) > MOST_WAVES or not values:
        many = f"more than {MOST_WAVES}" if values else "no"
        raise InputError(
            f"column {quoted(column)} of {dataset.name} has {many} values; a wave is a release, "
            "such as a year: name another column"
        )
    waves = [
        replace(catalog.dataset, name=f"{dataset.name} ({i})", wave=(original.source_name, value))
        for i, value in enumerate(values, 1)
    ]
    return waves, without


def check_records(engine: Engine, microdata: Microdata) -> int:
    """Return the number of records that pass the filter.

    Raises WeightError if weights cannot be used, DatasetError if no records are left.
    """
    where = microdata.dataset.name
    if microdata.weight is None:
        plan = records_plan(microdata)
        ((records,),) = remembered.rows(engine, plan, "counting records", microdata.dataset)
    else:
        records = _check_weights(engine, microdata, microdata.weight)
    if not records:
        after = " after the filter (where)" if microdata.where is not None else ""
        raise DatasetError(f"{where} has no records{after}; there is nobody to attack")
    if microdata.null == "drop":
        plan = records_plan(microdata, people=True)
        ((people,),) = engine.rows(plan, "counting records", where)
        if not people:
            raise DatasetError(f"{where} has no records left when those with missing values go")
    return int(records)


def _check_weights(engine: Engine, microdata: Microdata, weight: Attribute) -> int:
    """Return the number of records; raise WeightError if their weights cannot be used."""
    where, name = microdata.dataset.name, quoted(weight.name)
    rows = engine.rows(weights_plan(microdata), "checking weights", where)
    ((records, unusable, smallest, greatest),) = rows
    if unusable:
        raise WeightError(
            f"weight {name} of {where} is missing, negative or infinite in {unusable:,} of "
            f"{records:,} records; correct them, or use --where"
        )
    if records and smallest is None:
        raise WeightError(f"weight {name} of {where} is 0 in every record")
    if records and weight.floating:
        _check_range(smallest, greatest, records, weight.name)
    return int(records)


def note_left_out(engine: Engine, microdata: Microdata) -> tuple[str, ...]:
    """Return a note on the records that the rule for missing values leaves out."""
    if microdata.null != "drop":
        return ()
    plans = records_plan(microdata), records_plan(microdata, people=True)
    counts = (engine.rows(p, "counting records", microdata.dataset.name) for p in plans)
    records, kept_records = (int(rows[0][0]) for rows in counts)
    return note_dropped(records, kept_records)


def note_dropped(records: int, kept_records: int) -> tuple[str, ...]:
    """Return a note on the records left out for missing values; none if all are kept."""
    if kept_records == records:
        return ()
    dropped = records - kept_records
    return (f"{dropped:,} of {records:,} records with missing values are left out",)


def _check_range(smallest: float, greatest: float, records: int, name: str) -> None:
    """Refuse weights above 0, by their ends, whose exact sum needs more than 126 bits.

    Weights are added as whole multiples of the last bit of the smallest one.
    """
    mantissa = 53  # bits of a float
    bits = mantissa - math.floor(math.log2(smallest)) + math.log2(greatest) + math.log2(records)
    if bits > 124 or math.log2(smallest) < -900:  # 2 bits in reserve; far from the least float
        raise WeightError(
            f"weights {quoted(name)} differ by too many orders of magnitude to be added exactly; "
            "round them to a DECIMAL, as in NAME=round(weight, 6)::DECIMAL(18,6)"
        )


def population_plan(
    engine: Engine, spec: Attack, microdata: Microdata, population: Dataset
) -> Plan:
    """Return the plan of the population's blocks by the qids of a release (``microdata``)."""
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
    return compiler.kept_plan(Steps(people), "blocks")[1]
