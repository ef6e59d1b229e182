"""The release as a file: its columns, and the query that returns its records in input order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary import roles
from qifsql.adversary.spec import ColumnRoles, Microdata
from qifsql.counting.scales import own_table
from qifsql.data.dataset import Column, Dataset
from qifsql.data.expressions import identifier, read
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
class Rows:
    """The records: the input file, the source read, its columns, and those of the release."""

    dataset: Dataset
    read: Dataset
    columns: tuple[Column, ...]
    released: tuple[OutColumn, ...]


def released_columns(
    microdata: Microdata,
    there: Sequence[Column],
    drop: Sequence[str],
    suffixes: Mapping[int, Sequence[str]] | None = None,
) -> tuple[OutColumn, ...]:
    """Return the columns of the release in the order of the input; computed columns come last.

    ``suffixes``: of the columns of each quasi-identifier by its number; one that is left out has
    none. By default each has one column, under its name.

    Raises ColumnError where a column that is to be left out is not there, or has a role, or where
    two columns would have one name.
    """
    qid_columns = {
        q.expression.name: i for i, q in enumerate(microdata.qids, 1) if _is_column(q.expression)
    }
    expressions = {
        q.name: i for i, q in enumerate(microdata.qids, 1) if not _is_column(q.expression)
    }
    used = read(*(microdata.qids[i - 1].expression for i in expressions.values()))
    out = _dropped_numbers(microdata, there, drop)
    parts: list[OutColumn] = []
    for n, column in enumerate(there, 1):
        if column.source_name in qid_columns:
            parts.append(OutColumn(column.name, qid=qid_columns[column.source_name]))
        elif column.name in expressions:
            parts.append(OutColumn(column.name, qid=expressions.pop(column.name)))
        elif n not in out and column.source_name not in used:
            parts.append(OutColumn(column.name, column=n))
    parts += [OutColumn(name, qid=i) for name, i in expressions.items()]
    return tuple(parts) if suffixes is None else _split_columns(parts, suffixes)


def _split_columns(
    parts: Sequence[OutColumn], suffixes: Mapping[int, Sequence[str]]
) -> tuple[OutColumn, ...]:
    """Return the columns with those of each quasi-identifier in place of one."""
    names = {part.name.casefold() for part in parts}
    columns: list[OutColumn] = []
    for part in parts:
        endings = ("",) if part.qid is None else suffixes.get(part.qid, ())
        columns += [replace(part, name=part.name + e, suffix=e) for e in endings]
        for name in (part.name + ending for ending in endings if ending):
            if name.casefold() in names:
                raise ColumnError(
                    f"column {quoted(name)} would be in the release twice: it is one of the bounds "
                    f"of {quoted(part.name)}; leave the other out with --drop"
                )
    return tuple(columns)


def notes(microdata: Microdata, rows: Rows, ending: str) -> list[str]:
    """Return notes on the columns of the release for its readers."""
    plain_columns = [rows.columns[s.column - 1] for s in rows.released if s.column is not None]
    names = {s.name.removesuffix(s.suffix) for s in rows.released}
    sources = read(*(q.expression for q in microdata.qids if not _is_column(q.expression)))
    gone = [c for c in rows.columns if c.source_name in sources and c.name not in names]
    lines = [
        f"column {quoted(c.name)} is left out, because quasi-identifiers are made of it"
        for c in gone
    ]
    column_roles = roles_of_columns(microdata, rows)
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


def roles_of_columns(microdata: Microdata, rows: Rows) -> list[ColumnRoles]:
    """Return the columns of the input and of the release, with their roles."""
    secrets = read(*(s.expression for s in microdata.secrets))
    person = frozenset() if microdata.person is None else read(microdata.person.expression)
    columns = {s.name.removesuffix(s.suffix): s for s in rows.released}
    column_roles = []
    for column in rows.columns:
        part = columns.pop(column.name, None)
        if part is None:
            column_roles.append(ColumnRoles(column.name, (roles.LEFT_OUT,)))
        elif part.qid is not None:
            column_roles.append(ColumnRoles(column.name, (roles.QID,)))
        else:
            of_secret = (roles.SECRET,) * (column.source_name in secrets)
            of_person = (roles.PERSON,) * (column.source_name in person)
            column_roles.append(ColumnRoles(column.name, of_secret + of_person))
    return [*column_roles, *(ColumnRoles(name, (roles.QID,)) for name in columns)]


def plan_records(rows: Rows, ending: str) -> Plan:
    """Return the records of the release, in the order of the input, for a file with this ending.

    A CSV file written from CSV keeps the texts of the input.
    """
    dataset = rows.read
    if rows.dataset.format == "csv" and ending != ".parquet":
        dataset = replace(rows.dataset, all_varchar=True)
    texts = dataset is not rows.read
    inner = [exp.alias_(exp.Window(this=exp.RowNumber()), RECORD)]
    for n, column in enumerate(rows.columns, 1):
        if any(s.column == n for s in rows.released):
            cell = exp.Column(this=identifier(column.source_name))
            inner.append(exp.alias_(cell, f"column_{n}"))
    numbered = exp.select(*inner).from_(relation(dataset)).subquery("numbered")
    names = release.aliases([s.name for s in rows.released])
    outer: list[exp.Expr] = []
    for part, name in zip(rows.released, names, strict=True):
        value: exp.Expr = exp.column(f"cell_{part.qid}{part.suffix}", table="cells")
        if part.column is not None:
            value = exp.column(f"column_{part.column}", table="numbered")
            if not texts and release.as_text(rows.columns[part.column - 1].type, ending):
                value = exp.cast(value, "VARCHAR")
        outer.append(exp.alias_(value, identifier(name)))
    query = exp.select(*outer).from_(numbered)
    for table, key, target in (("membership", RECORD, "numbered"), ("cells", "part", "membership")):
        same = exp.EQ(this=exp.column(key, table=table), expression=exp.column(key, table=target))
        query = query.join(exp.alias_(own_table(table), table, table=True), on=same)
    return Plan((), query.order_by(exp.column(RECORD, table="numbered")))


def _is_column(tree: exp.Expr) -> bool:
    """Return whether a quasi-identifier is an unchanged column."""
    return isinstance(tree, exp.Column)


def _dropped_numbers(
    microdata: Microdata, there: Sequence[Column], drop: Sequence[str]
) -> set[int]:
    """Return the numbers of the columns to leave out."""
    by_name = {c.name: n for n, c in enumerate(there, 1)}
    roles = {"a quasi-identifier": microdata.qids, "the secret": microdata.secrets}
    for name in drop:
        if name not in by_name:
            hint = did_you_mean(name, by_name)
            raise ColumnError(f"column {quoted(name)} is not in {microdata.dataset.name}{hint}")
        source = there[by_name[name] - 1].source_name
        for role, attributes in roles.items():
            if source in read(*(a.expression for a in attributes)):
                raise ColumnError(f"column {quoted(name)} is {role}; it cannot be left out")
    return {by_name[name] for name in drop}
