"""Columns that no rule covers, and the people they single out with the quasi-identifiers.

An adversary may know other columns than a verdict is about. Counted are the people who are alone in
their block for one who also knows all of these columns, or one of them. Declared keys are left out,
and so are secrets, which the adversary wants to infer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary import names as naming
from qifsql.adversary import roles
from qifsql.adversary.spec import Attack, Attribute, BoundAttack, ColumnRoles, Microdata
from qifsql.counting.join import with_joined_people
from qifsql.counting.session import opened
from qifsql.data.dataset import Dataset
from qifsql.data.types import family, generalised, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.query import microdata_steps
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps
from qifsql.query.templates import load
from qifsql.results.uncovered import ELSEWHERE, NAMELESS, SCHEMA

TASK = "measuring columns that no rule covers"
COLUMNS_TOGETHER = 100  # of one type, counted by one statement if there are few people
FEW_PEOPLE = 50_000  # columns of so many people fit into the caches


@dataclass(frozen=True)
class Coverage:
    """All columns of a file with their roles, the risk of the uncovered ones, and the plans."""

    columns: tuple[ColumnRoles, ...]
    frame: pl.DataFrame
    plans: tuple[Plan, ...] = ()


def coverage(
    spec: Attack,
    attacked: Sequence[Sequence[ColumnRoles]],
    *,
    secrets: Sequence[str] = (),
    groups: str | None = None,
    unmeasured: str = "",
    settings: Settings | None = None,
) -> Coverage:
    """Return the columns of a file, and the people that its uncovered columns single out.

    Args:
        spec: the quasi-identifiers, key, weight and filter that all attacks share.
        attacked: the columns with their roles in each attack; those on another file are ignored.
        secrets: names of columns that are secrets of none of the attacks, though they are named.
        groups: a column of groups that no attack uses; it must be there all the same.
        unmeasured: the reason why uncovered columns are listed, but not measured.
        settings: memory, threads, temporary folder, progress.

    """
    with opened(spec, settings, joined=False, noted=False, command="check") as (engine, bound):
        if groups is not None:
            naming.attributes([groups], Catalog(engine, bound.microdata.dataset).schema, "group")
        names = [c.name for c in bound.microdata.columns]
        of_this_file = [columns for columns in attacked if [c.name for c in columns] == names]
        columns = list(roles.merged_roles(bound.microdata.columns, *of_this_file))
        for i, column in enumerate(columns):
            if not column.roles and column.name in secrets:  # a named secret that no attack uses
                columns[i] = replace(column, roles=(roles.IN_NO_RULE,))
        uncovered = [c for c in columns if not roles.SETTLED & set(c.roles)]
        if unmeasured:
            rows = [_uncovered_row(c, reason=unmeasured) for c in uncovered]
            return Coverage(tuple(columns), pl.DataFrame(rows, schema=SCHEMA))
        rows, plans = _measure_columns(engine, bound, uncovered)
    return Coverage(tuple(columns), pl.DataFrame(rows, schema=SCHEMA), tuple(plans))


def unattacked_columns(spec: Attack, settings: Settings | None = None) -> Coverage:
    """Return the columns of a file without the quasi-identifiers of its attacks."""
    with open_engine(settings, sources=[spec.dataset], command="check") as engine:
        schema = Catalog(engine, spec.dataset).schema
    columns = roles.columns(schema, {roles.KEY: naming.of_column(spec.key, schema)})
    rows = [_uncovered_row(c, reason=ELSEWHERE) for c in columns if not c.covered]
    return Coverage(columns, pl.DataFrame(rows, schema=SCHEMA))


def _measure_columns(
    engine: Engine, bound: BoundAttack, uncovered: Sequence[ColumnRoles]
) -> tuple[list[dict[str, Any]], list[Plan]]:
    """Return a row (``SCHEMA``) for all uncovered columns together, a row for each; the plans.

    A row counts who is alone in their block if the columns are known besides the quasi-identifiers;
    or it has the reason why a column is not measured.
    """
    of_one_file = isinstance(bound.microdata.dataset, Dataset)
    reasons = [_reason_unmeasured(column, of_one_file=of_one_file) for column in uncovered]
    columns = list(zip(uncovered, reasons, strict=True))
    measured = [c.attribute for c, reason in columns if c.attribute is not None and not reason]
    if not measured:
        return [_uncovered_row(column, reason=reason) for column, reason in columns], []
    counts = _Uniques(engine, bound.microdata, measured)
    people, before = counts.count_alone([])  # alone by the quasi-identifiers
    _, alone_by_all = counts.count_alone(measured)
    # By column; if all columns together single out nobody more, none of them does either.
    alone: Mapping[str, int] = {}
    if alone_by_all > before and len(measured) > 1:
        alone = counts.count_alone_with_each(measured, people)
    rows = [_uncovered_row(None, people, alone_by_all, before)]
    for column, reason in columns:
        if reason:
            rows.append(_uncovered_row(column, reason=reason))
        else:
            alone_by_column = alone.get(column.name, alone_by_all)
            rows.append(_uncovered_row(column, people, alone_by_column, before))
    return rows, counts.plans


def _reason_unmeasured(column: ColumnRoles, *, of_one_file: bool) -> str:
    """Return why a column cannot be measured; empty if it can.

    It needs a name and plain values. Cells of several values, such as intervals of a generalised
    release, are nested, but can be compared within one file.
    """
    if column.attribute is None:
        return NAMELESS
    type_ = column.attribute.type
    if nested(type_) and not (of_one_file and generalised(type_)):
        return f"nested ({family(type_)})"
    return ""


def _uncovered_row(
    column: ColumnRoles | None, people: int = 0, alone: int = 0, before: int = 0, reason: str = ""
) -> dict[str, Any]:
    """Return the row (``SCHEMA``) of a column, or of all together (None).

    Of the ``people``, ``alone`` are alone in their block if it is known, and ``before`` if it is
    not. ``reason``: why it is not measured; there are then no numbers.
    """
    row: dict[str, Any] = dict.fromkeys(SCHEMA)
    if column is not None:
        row |= {"column": column.name, "role": column.role}
    if reason:
        return row | {"reason": reason}
    numbers = {"people": people, "singled_out": alone, "share": alone / people}
    return row | numbers | {"added": alone - before}


class _Uniques:
    """Counts of people who are alone in their block, for different sets of quasi-identifiers.

    The people are those of the attack. Its filter, its weights and its rule for missing values
    apply to the named quasi-identifiers only, so uncovered columns leave nobody out.
    """

    def __init__(self, engine: Engine, microdata: Microdata, columns: Sequence[Attribute]) -> None:
        """Take the people of the attack, with further ``columns`` that may become known.

        If the attack leaves out people with a missing quasi-identifier, this becomes part of the
        filter: nobody is left out for a missing value in ``columns``. CSV files are loaded once.
        """
        conditions = [microdata.where] if microdata.where is not None else []
        conditions += microdata_steps.nothing_missing(microdata) if microdata.null == "drop" else []
        where = exp.and_(*conditions) if conditions else None
        with_columns = replace(
            microdata,
            qids=(*microdata.qids, *columns),
            where=where,
            null="distinct",
            secrets=(),
            by=None,
        )
        self.engine = engine
        self.microdata = with_joined_people(engine, with_columns)
        if isinstance(self.microdata.dataset, Dataset) and self.microdata.dataset.format == "csv":
            self.microdata = replace(self.microdata, dataset=engine.load(self.microdata.dataset))
        self.named = microdata.qids
        self.plans: list[Plan] = []

    def count_alone(self, more: Sequence[Attribute]) -> tuple[int, int]:
        """Return the number of people, and of those who are alone in their block.

        Blocks are of the named quasi-identifiers and ``more`` columns. The plan is recorded.
        """
        microdata = replace(self.microdata, qids=(*self.named, *more))
        steps = Steps(BoundAttack((), microdata))
        uniques = exp.select("*").from_(steps.need("uniques"))
        plan = steps.plan(uniques)
        self.plans.append(plan)
        ((people, alone),) = self.engine.rows(plan, TASK, microdata.dataset.name)
        return int(people), int(alone)

    def count_alone_with_each(self, columns: Sequence[Attribute], people: int) -> Mapping[str, int]:
        """Return how many of the ``people`` are alone if a column is known, too, by its name.

        Each column takes a statement. Of few people, one counts several columns together, whose
        values it has as lists: so they are of one type.
        """
        is_plain = self.microdata.person is None and self.microdata.weight is None
        is_spark = self.engine.settings.engine_name == "spark"  # it has no list of all values
        if people > FEW_PEOPLE or not is_plain or is_spark:
            return {column.name: self.count_alone([column])[1] for column in columns}
        columns_by_type: dict[tuple[str, bool], list[Attribute]] = {}
        for column in columns:
            columns_by_type.setdefault((column.type, column.there is None), []).append(column)
        alone: dict[str, int] = {}
        for alike in columns_by_type.values():
            for start in range(0, len(alike), COLUMNS_TOGETHER):
                alone |= self._count_together(alike[start : start + COLUMNS_TOGETHER])
        return alone

    def _count_together(self, columns: Sequence[Attribute]) -> Mapping[str, int]:
        """Return how many people are alone if a column is known, too; all are of one type."""
        microdata = replace(self.microdata, qids=(*self.named, *columns))
        first = len(self.named) + 1
        numbers = range(first, first + len(columns))
        view = load("check/alone_with_each", qids=range(1, first), columns=numbers)
        plan = microdata_steps.plan(microdata, microdata_steps.steps(microdata), view.query)
        self.plans.append(plan)
        rows = self.engine.rows(plan, TASK, microdata.dataset.name)
        return {columns[number - first].name: int(alone) for number, alone in rows}
