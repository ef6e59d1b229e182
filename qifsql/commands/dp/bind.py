"""The bound question: the useful attribute, the predicates over it, and the secret.

A predicate is a SQL condition over the useful attribute (thesis Def. 26). It may name other
columns, too, unless noise is added to records: then the useful attribute must decide it alone.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary import bind as binding
from qifsql.adversary import names
from qifsql.adversary.names import Attributes
from qifsql.adversary.options import NULL_RULES
from qifsql.adversary.spec import Attribute, Microdata
from qifsql.commands.dp.spec import DOMAINS, DpOptions
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.data.expressions import SOURCE, filled, identifier, parse, source_columns, substituted
from qifsql.data.option import as_tuple
from qifsql.data.types import INTEGERS, NUMBERS, family
from qifsql.engine.catalog import Catalog
from qifsql.errors import ColumnError, InputError, plural, quoted
from qifsql.query.columns import fold

ORDERED = (
    *(*NUMBERS, "BOOLEAN", "ENUM", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"),
    *("TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE"),
)
MOST_PREDICATES = 8  # of one request: 256 patterns of answers


@dataclass(frozen=True)
class Request:
    """The useful attribute and the predicates as quasi-identifiers of an attack on the secret."""

    microdata: Microdata
    useful_column: str  # the name of the useful attribute in ``answers``
    answers: tuple[exp.Expr, ...] | None  # the predicates; None: one names other columns, too
    order: tuple[str, ...]  # values of the useful attribute as texts
    integers: bool  # all whole numbers between its least and greatest value may occur

    @property
    def useful(self) -> Attribute:
        """Return the useful attribute."""
        return self.microdata.qids[0]

    @property
    def ordered(self) -> bool:
        """Return whether the useful attribute has an order: by its type, or by ``order``."""
        return bool(self.order) or family(self.useful.type) in ORDERED


def bind(catalog: Catalog, options: DpOptions, order: Sequence[str]) -> Request:
    """Resolve names, check types and conditions; ``order`` lists values (empty: their own)."""
    schema, dataset = catalog.schema, catalog.dataset
    assert isinstance(dataset, Dataset)  # noqa: S101 - it is no collection
    null, where, predicates = options["null"], options["where"], as_tuple(options["predicate"])
    if null not in NULL_RULES:
        raise InputError(
            f"missing values cannot be treated as {quoted(null)} here; use distinct or drop"
        )
    roles = {
        "useful": _single_column(options["useful"], schema, "useful attribute"),
        "secret": _single_column(options["secret"], schema, names.SECRET),
    }
    condition = parse(where, schema, "the filter (where)") if where is not None else None
    roles = binding.with_types(roles, condition, catalog)
    (useful,), secrets = roles["useful"], roles["secret"]
    free_name, predicate_schema = _schema_of_predicates(schema, useful)
    qids, parsed = [useful], []
    for i, text in enumerate(predicates, 1):
        name = "the predicate" if len(predicates) == 1 else f"predicate {i}"
        if not text.strip():
            raise InputError(f'{name} is empty; write a condition, as in "a = 3"')
        parsed.append(parse(text, predicate_schema, name))
        tree = substituted(parsed[-1], free_name, useful.expression)
        catalog.condition(tree, name)  # checks that it is a condition
        qids.append(Attribute(f"predicate_{i}", _or_false(tree), "BOOLEAN"))
    zoned = any("TIME ZONE" in c.type for c in schema.columns)
    people = Microdata(dataset, tuple(qids), secrets, where=condition, null=null, zoned=zoned)
    reads_useful_alone = all(source_columns(tree) <= {free_name} for tree in parsed)
    answers = tuple(_or_false(tree) for tree in parsed) if reads_useful_alone else None
    integers = _has_integer_domain(useful, options["domain"], order)
    _check_listed_values(order, useful, catalog)
    return Request(people, free_name, answers, tuple(order), integers)


def _single_column(text: str, schema: Schema, role: str) -> Attributes:
    """Return the column or named expression of a role; refuse several."""
    attributes = names.attributes([text], schema, role)
    if len(attributes) != 1:
        raise ColumnError(f"the {role} is one column, and here are {len(attributes)}; name one")
    return attributes


def _schema_of_predicates(schema: Schema, useful: Attribute) -> tuple[str, Schema]:
    """Return a name for the useful attribute that no column has, and the schema of predicates.

    The useful attribute, which may be an expression, is a column of that name in the schema. In a
    parsed predicate the name can then be replaced by the expression (for records) or by a value.
    """
    free_name = "useful"
    while any(c.source_name.casefold() == free_name for c in schema.columns):
        free_name += "_"
    unchanged = tuple(c for c in schema.columns if c.name != useful.name)
    useful_column = Column(useful.name, free_name, useful.type)
    return free_name, replace(schema, columns=(useful_column, *unchanged))


def _or_false(tree: exp.Expr) -> exp.Expr:
    """Return the predicate with NULL as false, as in a filter."""
    return exp.func("coalesce", exp.paren(tree), exp.false())


def _has_integer_domain(useful: Attribute, domain: str, order: Sequence[str]) -> bool:
    """Return whether all whole numbers from the least to the greatest value may occur.

    Refuse the option ``domain`` if it is unknown, or does not fit the attribute or its order.
    """
    if domain not in DOMAINS:
        raise InputError(f"a domain is one of {', '.join(DOMAINS)}, not {quoted(domain)}")
    if domain == "observed":
        return False
    if order:
        raise InputError("a domain of whole numbers has its own order; leave the order out")
    wider_than_bigint = {"HUGEINT", "UBIGINT", "UHUGEINT"}
    if family(useful.type) not in set(INTEGERS) - wider_than_bigint:
        raise ColumnError(
            f"useful attribute {quoted(useful.name)} is of type {family(useful.type)}, which has "
            "no domain of whole numbers; cast it, as in NAME=x::INTEGER"
        )
    return True


def parse_order(text: str) -> tuple[str, ...]:
    """Return the values of an order that is one CSV row: ``a,"b,c",d``."""
    try:
        (fields,) = csv.reader([text], strict=True)
    except (csv.Error, ValueError) as e:
        raise InputError("the order is one CSV row, as in a,b,c; check its quotes") from e
    return tuple(fields)


def _check_listed_values(order: Sequence[str], useful: Attribute, catalog: Catalog) -> None:
    if len(set(order)) < len(order):
        raise InputError("the order lists a value twice; list each once")
    if wrong := [i for i, v in enumerate(order, 1) if not catalog.fits(v, useful.type)]:
        raise InputError(
            f"value {wrong[0]} of the order is not of type {family(useful.type)}, as "
            f"{quoted(useful.name)} is ({plural(len(wrong), 'such value')})"
        )


def respondents(request: Request) -> exp.Select:
    """Return the generated step: one row per individual, with useful, pattern and secret.

    ``pattern`` has a bit for each predicate that holds; the bit of the first is 1.
    """
    predicates = range(2, len(request.microdata.qids) + 1)  # qid_1 is the useful attribute
    bits = _bit_pattern([exp.column(f"qid_{i}") for i in predicates]).as_("pattern")
    return exp.select("qid_1 AS useful", bits, "secret_1 AS secret").from_("microdata")


def answer_patterns(request: Request) -> exp.Select | None:
    """Return SQL for a row per place of the useful attribute: place, pattern of the predicates.

    A place is the number of a value in its order; bit i of a pattern is the answer to predicate i.
    It reads ``places``, and needs no records. None if the predicates name other columns, too.
    """
    if request.answers is None:
        return None
    column = exp.alias_(exp.column("useful", "places"), identifier(request.useful_column))
    rows = exp.select(column, "places.place").from_("places").subquery(SOURCE)
    bits = _bit_pattern(request.answers).as_("pattern")
    return exp.select(exp.column("place", SOURCE), bits).from_(rows)


def _bit_pattern(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Return one number with a bit for each condition that holds."""
    bits = [
        filled(f"CASE WHEN c THEN {2**i} ELSE 0 END", {"c": c}) for i, c in enumerate(conditions)
    ]
    return exp.cast(exp.paren(fold(exp.Add, bits)), "BIGINT")


def listed_values(request: Request) -> exp.Query:
    """Return the step of the user's order (maybe empty): a row per value, its position from 1."""
    rows: list[tuple[str | None, int | None]] = [(v, i) for i, v in enumerate(request.order, 1)]
    rows = rows or [(None, None)]  # VALUES needs a row, which is filtered out below
    listed = exp.values(rows, alias="listed", columns=["useful", "position"])
    useful = exp.cast(exp.column("useful"), request.useful.type, dialect="duckdb")
    position = exp.cast(exp.column("position", quoted=True), "BIGINT")
    query = exp.select(useful.as_("useful"), position.as_("position", quoted=True)).from_(listed)
    return query if request.order else query.where(exp.false())
