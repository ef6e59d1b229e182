"""Check and join the people of a collection, once, before any question about them."""

import shlex
from dataclasses import replace

from sqlglot import exp

from qifsql.adversary.spec import Microdata
from qifsql.data.collection import Collection
from qifsql.data.dataset import Column, Dataset
from qifsql.data.expressions import FLOATING, column, source_columns, with_one_missing
from qifsql.data.readers import select_records
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError, plural, quoted
from qifsql.query.plan import Plan, Step
from qifsql.query.templates import load


def with_joined_people(engine: Engine, microdata: Microdata) -> Microdata:
    """Return the microdata with the people of its collection joined by their keys in one table.

    Microdata of a single dataset are returned as they are. Raises DatasetError if a key is not
    unique in a dataset, or if a dataset shares no person with the focal one.
    """
    collection = microdata.dataset
    if not isinstance(collection, Collection):
        return microdata
    notes = check_keys(engine, microdata)
    single = (microdata.key, microdata.weight, microdata.by, microdata.household)
    used = [*microdata.qids, *microdata.secrets, *(a for a in single if a is not None)]
    trees = [a.expression for a in used]
    trees += [microdata.where] if microdata.where is not None else []
    trees += [a.there for a in microdata.qids if a.there is not None]
    loaded = engine.load(collection, source_columns(*trees))
    return replace(microdata, dataset=loaded, notes=(*microdata.notes, *notes))


def check_keys(engine: Engine, microdata: Microdata) -> list[str]:
    """Return notes on the keys of a collection; raise DatasetError if they cannot join people.

    A key must be unique in each dataset, and the focal dataset must share a person with each of the
    others. A single dataset has no keys to check, and no notes.
    """
    collection = microdata.dataset
    if not isinstance(collection, Collection):
        return []
    keys = range(len(collection.key_columns))
    return [note for i in keys for note in _check_key(engine, collection, i)]


def _check_key(engine: Engine, collection: Collection, i: int) -> list[str]:
    """Return notes on the key of dataset ``i``; raise DatasetError if it cannot join people.

    Dataset 0 is the focal one, with which the people of the others are compared.
    """
    dataset, key = collection.datasets[i], collection.key_columns[i]
    # Keys that several records have, the records of these, and the records without a key.
    plan = Plan((_keyed(collection, i, "keyed"),), load("collection/repeated").query)
    ((keys, records, nameless),) = engine.rows(plan, "checking keys", dataset.name)
    if keys:
        raise DatasetError(
            f"{dataset.name} has {plural(records, 'record')} of {plural(keys, 'person')} with "
            f"several: key {quoted(key.name)} must be unique in each "
            + _unique_key_hint(dataset, key)
        )
    notes = []
    if nameless:
        notes.append(
            f"{dataset.name} has {plural(nameless, 'record')} without a key: each is a person of "
            "its own, who matches nobody"
        )
    return notes if i == 0 else notes + _count_common_people(engine, collection, i)


def _unique_key_hint(dataset: Dataset, key: Column) -> str:
    """Return the end of a message: the scope of a unique key, and how to make the key unique."""
    if dataset.wave is not None:
        return "wave; check both columns, or first choose one record per person in each wave"
    one_file = not dataset.table and len(dataset.paths) == 1
    file, column = (
        shlex.quote(quoted(text)[1:-1])
        for text in (dataset.paths[0] if one_file else dataset.name, key.name)
    )
    line = f"qifsql anonymise {file} --one-per {column} -o OUT"
    return f"dataset; first choose one record per person: {line}"


def _count_common_people(engine: Engine, collection: Collection, i: int) -> list[str]:
    """Return a note on how many people of the focal dataset are also in dataset ``i``.

    Raises DatasetError if nobody is, or if dataset ``i`` is the release of a population, the focal
    dataset, and has people outside it.
    """
    focal, partner = collection.datasets[0], collection.datasets[i]
    # The people in both datasets, those of the focal one, and those of dataset ``i``.
    steps = (_keyed(collection, 0, "keyed"), _keyed(collection, i, "others"))
    plan = Plan(steps, load("collection/common").query)
    ((shared, people, auxiliary_people),) = engine.rows(plan, "comparing keys", partner.name)
    if not auxiliary_people:
        raise DatasetError(f"{partner.name} has no records; name another file")
    if people and not shared:
        raise DatasetError(
            f"{focal.name} and {partner.name} have no person in common: no key of the one is in "
            "the other; check that both columns hold the same identifier, written in the same way"
        )
    if collection.release and i == len(collection.datasets) - 1:  # the release is the last one
        if outsiders := auxiliary_people - shared:
            raise DatasetError(
                f"the release {partner.name} has {plural(outsiders, 'record')} of people who are "
                f"not in the population {focal.name}, which must contain everybody who may be in "
                "the release; correct their keys, or name another population"
            )
        return []
    return [f"{shared:,} of {plural(people, 'person')} of {focal.name} are in {partner.name}, too"]


def _keyed(collection: Collection, i: int, name: str) -> Step:
    """Return a step, named ``name``, with the keys of the records of dataset ``i`` (``key``)."""
    key_column = collection.key_columns[i]
    key: exp.Expr = column(key_column)
    key = with_one_missing(key) if key_column.type in FLOATING else key
    query = select_records(collection.datasets[i], [exp.alias_(key, "key")])
    return Step(name, "One row per record: the key of its person.", query)
