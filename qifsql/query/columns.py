"""Columns of answers, with the names of the user, in types that every format can show."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path

from sqlglot import exp

from qifsql.adversary.spec import Attribute, Microdata
from qifsql.data.expressions import identifier
from qifsql.data.types import family

SHOWABLE = (  # types whose values every format and library shows in the same way
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "BOOLEAN",
)  # fmt: skip
STORABLE = (*SHOWABLE, "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME", "BLOB")


def as_native(value: exp.Expr, attribute: Attribute, native: Collection[str]) -> exp.Expr:
    """Return a value in a type that can be shown or written: text if it is not ``native``."""
    return value if family(attribute.type) in native else exp.cast(value, "VARCHAR")


def native_types(path: Path | None) -> tuple[str, ...]:
    """Return the types that a file stores unchanged, or that can be shown without a file."""
    return STORABLE if path is not None and path.suffix.casefold() == ".parquet" else SHOWABLE


def known_values(
    microdata: Microdata, table: str, native: Collection[str]
) -> list[tuple[exp.Expr, str]]:
    """Return the quasi-identifiers of ``table`` (a row per block): columns and the user's names.

    Values of types that are not in ``native`` become text. If all records of a person are known, a
    column is a text, too: the list of the values of her records, in order.
    """
    columns: list[tuple[exp.Expr, str]] = []
    for i, qid in enumerate(microdata.qids, 1):
        if microdata.of_lists:  # ``qid_1`` is the list of a person's records, which are structs
            value = exp.Dot(this=exp.column("r"), expression=exp.to_identifier(f"qid_{i}"))
            body = exp.Lambda(this=value, expressions=[exp.to_identifier("r")], colon=True)
            records = exp.column("qid_1", table)
            values = exp.Anonymous(this="list_transform", expressions=[records, body])
            columns.append((exp.cast(values, "VARCHAR"), qid.name))
        else:
            columns.append((as_native(exp.column(f"qid_{i}", table), qid, native), qid.name))
    return columns


def number(value: int) -> exp.Expr:
    """Return a whole number of any size as a literal: a number in SQL has only 64 bits."""
    literal: exp.Expr = exp.Literal.number(abs(value))
    if abs(value) >= 2**63:
        literal = exp.cast(exp.Literal.string(str(abs(value))), "HUGEINT", dialect="duckdb")
    return exp.Neg(this=literal) if value < 0 else literal


def typed_number(value: int, kind: str) -> exp.Expr:
    """Return a whole number of a type; it is cast from text, because a literal has 64 bits."""
    return exp.cast(exp.Literal.string(str(value)), kind, dialect="duckdb")


def fold(operator: type[exp.Binary], terms: Sequence[exp.Expr]) -> exp.Expr:
    """Return the terms, one or more, with an operator between them."""
    return reduce(lambda a, b: operator(this=a, expression=b), terms)


def double(value: float) -> exp.Expr:
    """Return a floating-point number with all its digits; it may be infinite."""
    return exp.cast(exp.Literal.string(repr(value)), "DOUBLE")


def union(queries: Sequence[exp.Query], *, distinct: bool = False) -> exp.Query:
    """Return the rows of all queries; ``distinct``: each row once."""
    if len(queries) > 1:
        return exp.union(*queries, distinct=distinct)
    (query,) = queries
    return query.distinct() if distinct and isinstance(query, exp.Select) else query


def equal(a: exp.Expr, b: exp.Expr) -> exp.EQ:
    """Return the condition that two values are equal and not missing."""
    return exp.EQ(this=a, expression=b)


def same(a: exp.Expr, b: exp.Expr) -> exp.NullSafeEQ:
    """Return the condition that two values are equal, or both missing."""
    return exp.NullSafeEQ(this=a, expression=b)


def same_block(a: str, b: str, width: int) -> exp.Expr:
    """Return the condition of a join: the rows of both tables belong to the same block."""
    names = [f"qid_{i}" for i in range(1, width + 1)]
    return exp.and_(*(same(exp.column(name, a), exp.column(name, b)) for name in names))


def named(columns: Sequence[tuple[exp.Expr, str]]) -> list[exp.Expr]:
    """Return columns with the user's names; a name that already occurs gets a number."""
    names = unique([name for _, name in columns])
    trees = (tree for tree, _ in columns)
    return [exp.Alias(this=t, alias=identifier(n)) for t, n in zip(trees, names, strict=True)]


def with_names(query: exp.Select, names: Mapping[str, str]) -> exp.Select:
    """Return a query whose columns have the user's names, by those of qifsql (see ``named``)."""
    columns = [(c.unalias(), names.get(c.alias_or_name, c.alias_or_name)) for c in query.selects]
    return query.select(*named(columns), append=False)


def key_shape(key: Attribute | None, native: Collection[str]) -> dict[str, bool]:
    """Return the part of the shape of a view about its column ``key``: as text if not native."""
    return {"key": key is not None, "as_text": bool(key and family(key.type) not in native)}


def with_key(query: exp.Select, key: Attribute | None) -> exp.Select:
    """Return a query whose column ``key``, if any, has the user's name."""
    return query if key is None else with_names(query, {"key": key.name})


def without_rows(types: Mapping[str, str]) -> exp.Select:
    """Return a query without rows, whose columns have these types by their names."""
    zeros = {name: exp.cast(number(0), kind, dialect="duckdb") for name, kind in types.items()}
    columns = [exp.alias_(zero, name, quoted=True) for name, zero in zeros.items()]
    return exp.select(*columns).where(exp.false())


def unique(names: Sequence[str]) -> list[str]:
    """Return the names, each repeated one (ignoring case) with a number: ``size``, ``size_2``."""
    taken: set[str] = set()
    result = []
    for name in names:
        candidate, n = name, 1
        while candidate.casefold() in taken:
            n += 1
            candidate = f"{name}_{n}"
        taken.add(candidate.casefold())
        result.append(candidate)
    return result


def labels(microdata: Microdata, queries: Iterable[exp.Query]) -> dict[str, str]:
    """Return the user's name of each column ``qid_1 ..`` and ``secret_1 ..``.

    A name gets a number (``size_2``) if one of ``queries`` with such columns uses it for another.
    """
    numbered = {f"qid_{i}": qid.name for i, qid in enumerate(microdata.qids, 1)}  # users' names
    numbered |= {f"secret_{j}": secret.name for j, secret in enumerate(microdata.secrets, 1)}
    taken: set[str] = set()
    for query in queries:
        used = {node.name.casefold() for node in query.find_all(exp.Identifier)}
        if used & set(numbered):
            taken |= used - set(numbered)
    names = unique([*sorted(taken), *numbered.values()])[len(taken) :]  # without those taken
    return dict(zip(numbered, names, strict=True))


def labelled(query: exp.Query, names: Mapping[str, str]) -> exp.Query:
    """Return a query of steps with the names of ``labels`` in place of the numbered columns."""
    changed = query.copy()
    for node in list(changed.find_all(exp.Identifier)):
        if node.name in names:
            node.replace(identifier(names[node.name]))
    return changed


def labelled_columns(query: exp.Query, names: Mapping[str, str]) -> list[exp.Expr]:
    """Return the columns that a generated query selects, under the names of ``labels``.

    The user's own names inside of it stay as they are.
    """
    columns = [(column.unalias(), column.alias_or_name) for column in query.selects]
    return [exp.alias_(tree, identifier(names.get(name, name))) for tree, name in columns]
