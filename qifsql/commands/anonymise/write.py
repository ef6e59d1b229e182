"""The release as a file: its columns, and the query that returns its records in input order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary import roles
from qifsql.adversary.spec import ColumnRoles, Microdata
from qifsql.counting.scales import own_table
from qifsql.data import expressions
from qifsql.data.dataset import Column, Dataset
from qifsql.data.expressions import identifier, source_columns
from qifsql.data.readers import numbered_rows
from qifsql.errors import ColumnError, did_you_mean, quoted
from qifsql.query.plan import Plan
from qifsql.results import release


@dataclass(frozen=True)
class OutColumn:
    """A column of the release: of the input, or the cells of a quasi-identifier by its number.

    ``suffix`` tells the columns of one quasi-identifier apart.
    """

    name: str
    column: int | None = None
    qid: int | None = None
    suffix: str = ""


@dataclass(frozen=True)
class ReleasedTable:
    """A release: its input, the same as it is read (``loaded``), and the columns of both."""

    dataset: Dataset
    loaded: Dataset
    columns: tuple[Column, ...]
    released: tuple[OutColumn, ...]


def released_columns(
    microdata: Microdata,
    input_columns: Sequence[Column],
    drop: Sequence[str],
    suffixes: Mapping[int, Sequence[str]] | None = None,
) -> tuple[OutColumn, ...]:
    """Return the columns of the release in the order of the input; computed columns come last.

    Columns from which a quasi-identifier is computed are left out. ``suffixes``: by the number of
    a quasi-identifier, the endings of its columns, such as ``_lower``; none if it is left out. By
    default each has one column, under its name.

    Raises ColumnError if a column to leave out is missing or has a role, or if two have one name.
    """
    # The numbers of quasi-identifiers: of those that are columns of the input, by the engine's name
    # for it, and of those that are computed, by their own name.
    plain: dict[str, int] = {}
    computed: dict[str, int] = {}
    used: set[str] = set()  # columns of the input that others are computed from
    for i, qid in enumerate(microdata.qids, 1):
        if isinstance(qid.expression, exp.Column):
            plain[qid.expression.name] = i
        else:
            computed[qid.name] = i
            used |= source_columns(qid.expression)
    dropped = _dropped_numbers(microdata, input_columns, drop)
    columns: list[OutColumn] = []
    for n, column in enumerate(input_columns, 1):
        if column.source_name in plain:
            columns.append(OutColumn(column.name, qid=plain[column.source_name]))
        elif column.name in computed:  # an expression that bears the name of a column
            columns.append(OutColumn(column.name, qid=computed.pop(column.name)))
        elif n not in dropped and column.source_name not in used:
            columns.append(OutColumn(column.name, column=n))
    columns += [OutColumn(name, qid=i) for name, i in computed.items()]
    return tuple(columns) if suffixes is None else _split_columns(columns, suffixes)


def _split_columns(
    columns: Sequence[OutColumn], suffixes: Mapping[int, Sequence[str]]
) -> tuple[OutColumn, ...]:
    """Return the columns, of a quasi-identifier one per suffix: ``age_lower``, ``age_upper``."""
    names = {column.name.casefold() for column in columns}
    split: list[OutColumn] = []
    for column in columns:
        for suffix in ("",) if column.qid is None else suffixes.get(column.qid, ()):
            name = column.name + suffix
            if suffix and name.casefold() in names:
                raise ColumnError(
                    f"column {quoted(name)} would be in the release twice: it is one of the bounds "
                    f"of {quoted(column.name)}; leave the other out with --drop"
                )
            split.append(replace(column, name=name, suffix=suffix))
    return tuple(split)


def notes(microdata: Microdata, table: ReleasedTable, ending: str) -> list[str]:
    """Return notes on columns left out, columns that tell people apart, and changed types."""
    plain_columns = [table.columns[c.column - 1] for c in table.released if c.column is not None]
    names = {c.name.removesuffix(c.suffix) for c in table.released}
    trees = [q.expression for q in microdata.qids]
    sources = source_columns(*(tree for tree in trees if not isinstance(tree, exp.Column)))
    lines = [
        f"column {quoted(c.name)} is left out, because quasi-identifiers are made of it"
        for c in table.columns
        if c.source_name in sources and c.name not in names
    ]
    column_roles = roles_of_columns(microdata, table)
    lines += [
        f"column {quoted(c.name)} is released, and puts the records of a person together; leave it "
        "out with --drop"
        for c in column_roles
        if roles.PERSON in c.roles
    ]
    if unnamed := roles.unnamed(column_roles):
        lines.append(
            f"released as they are, and no part of what makes a class: {unnamed}; leave out "
            "with --drop what tells people apart"
        )
    return [*lines, *(release.note_changed_types(plain_columns) if ending == ".parquet" else ())]


def roles_of_columns(microdata: Microdata, table: ReleasedTable) -> list[ColumnRoles]:
    """Return the roles of the columns of the input, and then of computed quasi-identifiers."""
    attributes = {
        roles.SECRET: microdata.secrets,
        roles.PERSON: [a for a in (microdata.person,) if a is not None],
        roles.GROUP: [a for a in (microdata.by,) if a is not None],
    }
    sources = {
        role: source_columns(*(a.expression for a in named)) for role, named in attributes.items()
    }
    released = {c.name.removesuffix(c.suffix): c for c in table.released}
    column_roles: list[ColumnRoles] = []
    for column in table.columns:  # of the input; computed quasi-identifiers stay in ``released``
        out_column = released.pop(column.name, None)
        of_column = tuple(role for role, names in sources.items() if column.source_name in names)
        if out_column is None:
            of_column = (roles.LEFT_OUT,)
        elif out_column.qid is not None:
            of_column = (roles.QID,)
        column_roles.append(ColumnRoles(column.name, of_column))
    return [*column_roles, *(ColumnRoles(name, (roles.QID,)) for name in released)]


def plan_records(table: ReleasedTable, ending: str) -> Plan:
    """Return the query of the release: one row per record, in the order of the input.

    Input records are joined by position to their class (``membership``), and that to its ``cells``.
    A CSV file written from CSV keeps the texts of the input.
    """
    is_text = table.dataset.format == "csv" and release.is_csv(ending)
    dataset = replace(table.dataset, all_varchar=True) if is_text else table.loaded
    numbers = sorted({c.column for c in table.released if c.column is not None})
    sources = {f"column_{n}": expressions.column(table.columns[n - 1]) for n in numbers}
    records = numbered_rows(dataset, sources, where=None).subquery("numbered")
    names = release.aliases([c.name for c in table.released])
    released: list[exp.Expr] = []
    for out_column, name in zip(table.released, names, strict=True):
        cell: exp.Expr = exp.column(f"cell_{out_column.qid}{out_column.suffix}", table="cells")
        if (n := out_column.column) is not None:  # of the input
            cell = exp.column(f"column_{n}", table="numbered")
            if not is_text and release.as_text(table.columns[n - 1].type, ending):
                cell = exp.cast(cell, "VARCHAR")
        released.append(exp.alias_(cell, identifier(name)))
    query = exp.select(*released).from_(records)
    same = {"membership": "membership.record = numbered.position"}
    same["cells"] = "cells.part = membership.part"
    for name, condition in same.items():
        query = query.join(exp.alias_(own_table(name), name, table=True), on=condition)
    return Plan((), query.order_by("numbered.position"))


def _dropped_numbers(
    microdata: Microdata, input_columns: Sequence[Column], drop: Sequence[str]
) -> set[int]:
    """Return the numbers, from 1, of the columns of the input to leave out; refuse used ones."""
    numbers = {c.name: n for n, c in enumerate(input_columns, 1)}
    attributes_by_role = {"a quasi-identifier": microdata.qids, "the secret": microdata.secrets}
    for name in drop:
        if name not in numbers:
            hint = did_you_mean(name, numbers)
            raise ColumnError(f"column {quoted(name)} is not in {microdata.dataset.name}{hint}")
        source = input_columns[numbers[name] - 1].source_name
        for role, attributes in attributes_by_role.items():
            if source in source_columns(*(a.expression for a in attributes)):
                raise ColumnError(f"column {quoted(name)} is {role}; it cannot be left out")
    return {numbers[name] for name in drop}
