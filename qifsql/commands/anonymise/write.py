"""The release as a file: its columns, and the query that returns its records in input order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary import roles
from qifsql.adversary.spec import ColumnRoles, Microdata
from qifsql.counting.scales import own_table
from qifsql.data.dataset import Column, Dataset
from qifsql.data.expressions import identifier, source_columns
from qifsql.data.readers import relation
from qifsql.errors import ColumnError, did_you_mean, quoted
from qifsql.query.plan import Plan
from qifsql.results import release

RECORD = "record"


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
    numbered = list(enumerate(microdata.qids, 1))
    # Quasi-identifiers that are columns, and those that are expressions over columns (``used``).
    unchanged = {i for i, q in numbered if isinstance(q.expression, exp.Column)}
    qid_columns = {q.expression.name: i for i, q in numbered if i in unchanged}
    expressions = {q.name: i for i, q in numbered if i not in unchanged}
    used = source_columns(*(microdata.qids[i - 1].expression for i in expressions.values()))
    dropped = _dropped_numbers(microdata, input_columns, drop)
    columns: list[OutColumn] = []
    for n, column in enumerate(input_columns, 1):
        if column.source_name in qid_columns:
            columns.append(OutColumn(column.name, qid=qid_columns[column.source_name]))
        elif column.name in expressions:  # an expression that bears the name of a column
            columns.append(OutColumn(column.name, qid=expressions.pop(column.name)))
        elif n not in dropped and column.source_name not in used:
            columns.append(OutColumn(column.name, column=n))
    columns += [OutColumn(name, qid=i) for name, i in expressions.items()]
    return tuple(columns) if suffixes is None else _split_columns(columns, suffixes)


def _split_columns(
    columns: Sequence[OutColumn], suffixes: Mapping[int, Sequence[str]]
) -> tuple[OutColumn, ...]:
    """Return the columns, of a quasi-identifier one per suffix: ``age_lower``, ``age_upper``."""
    names = {column.name.casefold() for column in columns}
    split: list[OutColumn] = []
    for column in columns:
        endings = ("",) if column.qid is None else suffixes.get(column.qid, ())
        split += [replace(column, name=column.name + e, suffix=e) for e in endings]
        for name in (column.name + ending for ending in endings if ending):
            if name.casefold() in names:
                raise ColumnError(
                    f"column {quoted(name)} would be in the release twice: it is one of the bounds "
                    f"of {quoted(column.name)}; leave the other out with --drop"
                )
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
    secrets = source_columns(*(s.expression for s in microdata.secrets))
    person = (
        frozenset() if microdata.person is None else source_columns(microdata.person.expression)
    )
    strata = frozenset() if microdata.by is None else source_columns(microdata.by.expression)
    released = {c.name.removesuffix(c.suffix): c for c in table.released}
    column_roles = []
    for column in table.columns:  # of the input; computed quasi-identifiers stay in ``released``
        out_column = released.pop(column.name, None)
        if out_column is None:
            column_roles.append(ColumnRoles(column.name, (roles.LEFT_OUT,)))
        elif out_column.qid is not None:
            column_roles.append(ColumnRoles(column.name, (roles.QID,)))
        else:
            of_secret = (roles.SECRET,) * (column.source_name in secrets)
            of_person = (roles.PERSON,) * (column.source_name in person)
            of_strata = (roles.GROUP,) * (column.source_name in strata)
            column_roles.append(ColumnRoles(column.name, of_secret + of_person + of_strata))
    return [*column_roles, *(ColumnRoles(name, (roles.QID,)) for name in released)]


def plan_records(table: ReleasedTable, ending: str) -> Plan:
    """Return the query of the release: one row per record, in the order of the input.

    Input records are joined by position to their class (``membership``), and that to its ``cells``.
    A CSV file written from CSV keeps the texts of the input.
    """
    is_text = table.dataset.format == "csv" and release.is_csv(ending)
    dataset = replace(table.dataset, all_varchar=True) if is_text else table.loaded
    numbered = [exp.alias_(exp.Window(this=exp.RowNumber()), RECORD)]
    for n in sorted({c.column for c in table.released if c.column is not None}):
        source = exp.Column(this=identifier(table.columns[n - 1].source_name))
        numbered.append(exp.alias_(source, f"column_{n}"))
    records = exp.select(*numbered).from_(relation(dataset)).subquery("numbered")
    names = release.aliases([c.name for c in table.released])
    released: list[exp.Expr] = []
    for out_column, name in zip(table.released, names, strict=True):
        cell: exp.Expr = exp.column(f"cell_{out_column.qid}{out_column.suffix}", table="cells")
        if out_column.column is not None:  # of the input
            cell = exp.column(f"column_{out_column.column}", table="numbered")
            if not is_text and release.as_text(table.columns[out_column.column - 1].type, ending):
                cell = exp.cast(cell, "VARCHAR")
        released.append(exp.alias_(cell, identifier(name)))
    query = exp.select(*released).from_(records)
    for name, key, target in (("membership", RECORD, "numbered"), ("cells", "part", "membership")):
        same = exp.EQ(this=exp.column(key, table=name), expression=exp.column(key, table=target))
        query = query.join(exp.alias_(own_table(name), name, table=True), on=same)
    return Plan((), query.order_by(exp.column(RECORD, table="numbered")))


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
