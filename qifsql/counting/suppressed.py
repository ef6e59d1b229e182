"""Suppressed records of a release, each of which is one of anything: the one place that tells them.

Such a record is in no block of others. Its person's block is everyone: she is singled out, or her
secret is certain, only where that holds for everyone, and any guess about her succeeds as without
the release. The best guesses about all of these people together are right at most as often as
within a group of their own, which is counted in the success over everybody, so that what is hidden
never makes it smaller than ``*`` as a value does. Shares are of all records.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary.spec import Attribute, BoundAttack, Microdata
from qifsql.data.collection import Collection
from qifsql.data.dataset import Dataset
from qifsql.data.files import MANIFEST, parsed_json
from qifsql.engine.protocol import Engine
from qifsql.errors import plural
from qifsql.query import microdata_steps, suppression
from qifsql.query.microdata_steps import normal, records_plan
from qifsql.query.suppression import STAR, all_suppressed, may_be_suppressed


def marked(engine: Engine, bound: BoundAttack) -> BoundAttack:
    """Return the attack with the number of suppressed records, and a note on them.

    A record is suppressed if it is * in every quasi-identifier of the attack: call this again if
    these change; the new note replaces the former. Files whose types allow no suppressed record are
    not read.
    """
    microdata = bound.microdata
    if microdata.suppressed:
        former = note(microdata.suppressed, of_target=bool(bound.target))
        kept_notes = tuple(text for text in microdata.notes if text != former)
        microdata = replace(microdata, suppressed=0, notes=kept_notes)
    if records := count(engine, microdata):
        text = note(records, of_target=bool(bound.target))
        microdata = replace(microdata, suppressed=records, notes=(*microdata.notes, text))
    return bound if microdata is bound.microdata else bound.on(microdata)


def note(records: int, *, of_target: bool = False, maximum: bool = False) -> str:
    """Return the note on suppressed records; ``of_target``: of an attack on one person.

    ``maximum``: other results have fewer of them.
    """
    number = f"{'up to ' if maximum else ''}{plural(records, 'suppressed record')}"
    there = f"{number} ({STAR} in every quasi-identifier) may be"
    if of_target:
        return f"{there} anybody's: counted for the target only if no other record fits"
    return (
        f"{there} anybody's: counted in no block of others, and nobody there as singled out or "
        "with a certain secret, which somebody whom no other record fits may be; shares are of all "
        "records"
    )


def notes_as_value(engine: Engine, microdata: Microdata) -> list[str]:
    """Return a note on suppressed records for commands in which ``*`` counts as a value."""
    records = count(engine, microdata)
    if not records:
        return []
    return [
        f"{plural(records, 'suppressed record')} ({STAR} in every quasi-identifier): {STAR} is a "
        "value here, which tells no less than that they may be anybody's"
    ]


def count(engine: Engine, microdata: Microdata) -> int:
    """Return the number of suppressed records among those that count."""
    hidden = condition(microdata)
    if hidden is None:
        return 0
    return people_of(engine, replace(microdata, where=both(microdata.where, hidden)))


def people_of(engine: Engine, microdata: Microdata) -> int:
    """Return the number of records that count."""
    plan = records_plan(microdata, people=True)
    return int(engine.rows(plan, "counting records", microdata.dataset.name)[0][0])


def condition(microdata: Microdata) -> exp.Expr | None:
    """Return the condition that a record of the file is suppressed; None where none can be."""
    written_here = written_request(microdata.dataset) is not None
    if not may_be_suppressed(microdata.qids, written_here=written_here):
        return None
    return all_suppressed(microdata.qids, [exp.paren(normal(q)) for q in microdata.qids])


def of_cell(microdata: Microdata, form: Attribute, cell: exp.Expr) -> exp.Expr | None:
    """Return the condition that ``cell``, a value of one quasi-identifier, is suppressed.

    ``form`` is the quasi-identifier, or what a change makes of it. None: no cell of its type can
    be suppressed.
    """
    written_here = written_request(microdata.dataset) is not None
    if not may_be_suppressed([form], written_here=written_here):
        return None
    return all_suppressed([form], [cell])


def has_cells(engine: Engine, microdata: Microdata) -> bool:
    """Return whether a record is suppressed in some of the quasi-identifiers, or in all."""
    single = [replace(microdata, qids=(qid,)) for qid in microdata.qids]
    tests = [test for one_qid in single if (test := condition(one_qid)) is not None]
    if not tests:
        return False
    where = both(microdata.where, exp.paren(exp.or_(*tests)))
    return people_of(engine, replace(microdata, where=where)) > 0


def by_place(engine: Engine, microdata: Microdata, secret: int) -> pl.DataFrame:
    """Return how many records have suppressed cells in the same places, and the same secret.

    ``stars`` has a bit for each quasi-identifier; ``value`` is that of a secret by its number,
    NULL for 0; ``records`` is their number.
    """
    cells = [exp.column(f"qid_{i}") for i, _ in enumerate(microdata.qids, 1)]
    tests = [of_cell(microdata, *pair) for pair in zip(microdata.qids, cells, strict=True)]
    query = suppression.suppressed_cells(tests, secret)
    plan = microdata_steps.plan(microdata, microdata_steps.steps(microdata), query)
    return engine.frame(plan, "counting records", microdata.dataset.name)


def shown_alone(microdata: Microdata) -> Microdata:
    """Return the microdata without its suppressed records."""
    hidden = condition(microdata) if microdata.suppressed else None
    if hidden is None:
        return microdata
    return replace(microdata, where=both(microdata.where, exp.not_(hidden)), suppressed=0)


def both(where: exp.Expr | None, more: exp.Expr) -> exp.Expr:
    """Return a filter and a further condition."""
    return more if where is None else exp.and_(exp.paren(where.copy()), more)


def written_request(dataset: Dataset | Collection) -> Mapping[str, Any] | None:
    """Return what was asked of ``anonymise`` for a release; None if it did not write this file.

    The manifest beside the file says so.
    """
    for path in dataset.paths if isinstance(dataset, Dataset) else ():
        try:
            origin = parsed_json(Path(path + MANIFEST).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(origin, dict) and origin.get("result") == "anonymise":
            request = origin.get("spec")
            return request if isinstance(request, dict) else {}
    return None
