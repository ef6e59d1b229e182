"""Queries of DuckDB as queries of Spark, with the same whole numbers: what may be translated.

Only what is listed here is translated, so that nothing is merely assumed to mean the same. The
types of expressions, on which many differences depend, are those that DuckDB itself finds.
"""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError

from qifsql.engine import rewrites
from qifsql.engine.rewrites import Unlike
from qifsql.errors import QifError

SESSION = {  # settings of a session, on which equal results depend: they cannot be changed
    "spark.sql.ansi.enabled": "true",  # an overflow is an error
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
SAME = (  # nodes that mean the same in both, whatever their types
    *(exp.Select, exp.From, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit),
    *(exp.Subquery, exp.With, exp.CTE, exp.Union, exp.TableAlias, exp.Alias, exp.Column),
    *(exp.Identifier, exp.Star, exp.Paren, exp.Null, exp.Boolean, exp.Distinct, exp.Filter),
    *(exp.Window, exp.WindowSpec, exp.Tuple, exp.And, exp.Or, exp.Not, exp.Is, exp.NullSafeEQ),
    *(exp.NullSafeNEQ, exp.In, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Abs, exp.Neg),
    *(exp.Count, exp.Min, exp.Max, exp.LogicalOr, exp.LogicalAnd, exp.CountIf, exp.RowNumber),
    *(exp.DenseRank, exp.Rank, exp.Lower, exp.Upper, exp.MD5, exp.Qualify, exp.Interval, exp.Var),
    *(exp.DataType, exp.DataTypeParam, exp.Table, exp.Greatest, exp.Least, exp.Lag, exp.Lead),
    *(exp.AnyValue, exp.ArgMax, exp.ArgMin, exp.Array, exp.Struct, exp.PropertyEQ),
    *(exp.IgnoreNulls, exp.ArraySort, exp.ArrayAgg, exp.Trim),
)
Describe = Callable[[exp.Query], list[tuple[str, str]]]
ALIAS = "operand_"
CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_"}
ALLOWED_ARGUMENTS: Mapping[type[exp.Expr], set[str]] = {
    exp.Select: {*CLAUSES, "distinct", "qualify"},
    exp.Table: {"this", "alias", "db", "catalog", "joins"},
    exp.Group: {"expressions", "all"},
    exp.Distinct: {"expressions"},
    exp.Star: {"except_"},
    exp.Union: {"this", "expression", "distinct", "order", "limit", "with_"},
    exp.With: {"expressions"},
    exp.CTE: {"this", "alias", "materialized"},
    exp.Join: {"this", "side", "kind", "on", "using"},
    exp.Window: {"this", "partition_by", "order", "spec", "over"},
    exp.Ordered: {"this", "desc", "nulls_first"},
    exp.Subquery: {"this", "alias"},
    exp.In: {"this", "expressions", "query"},
    **{form: {"this"} for form in (exp.Max, exp.Min, exp.Round, exp.Floor, exp.Ceil)},
    **{form: {"this", "offset", "default"} for form in (exp.Lag, exp.Lead)},
}


def translated(query: exp.Query, describe: Describe, *, free: bool = False) -> exp.Query:
    """Return a query of DuckDB as one of Spark; raise Unlike if that is not possible.

    ``describe`` returns the names and types of the columns of a query of DuckDB. ``free``: the
    query has expressions of the user's, in which a divisor may be 0; the files of ``sql/`` do not
    divide by 0.
    """
    query = query.copy()
    for node in query.walk():
        _check(node)
    for select in list(query.find_all(exp.Select)):
        _note_types(select, describe)
    for division in query.find_all(exp.Div):
        division.meta[rewrites.FREE] = free
    for node in reversed(list(query.walk(bfs=False))):  # children before their parents
        replacement = rewrites.rewritten(node)
        if replacement is not node:
            node.replace(replacement)
    return query


def text(query: exp.Expr, *, pretty: bool = False) -> str:
    """Return a translated tree as the text of Spark."""
    try:
        return query.sql(rewrites.SPARK, pretty=pretty, unsupported_level=ErrorLevel.RAISE)
    except UnsupportedError as e:
        raise Unlike(str(e)) from e


def _check(node: exp.Expr) -> None:
    """Raise Unlike for a node of DuckDB's SQL that is not known to mean the same in Spark's."""
    form = type(node).__name__
    if not isinstance(node, (*SAME, *rewrites.TYPED, exp.Literal, exp.Join)):
        raise Unlike(f"the function or form {form}")
    arguments = ALLOWED_ARGUMENTS.get(type(node))
    if arguments is not None:
        for name, value in node.args.items():
            if value and name not in arguments:
                raise Unlike(f"{name} of {form}")
    if isinstance(node, exp.Order) and not isinstance(
        node.parent, exp.Select | exp.Window | exp.Union
    ):
        raise Unlike("an order of values that are aggregated")
    if isinstance(node, exp.IgnoreNulls) and not isinstance(node.this, exp.AnyValue):
        raise Unlike(f"IGNORE NULLS of {type(node.this).__name__}")
    if isinstance(node, exp.ArrayAgg | exp.ArraySort) and not _is_of_sorted_values(node):
        raise Unlike(f"the function or form {form}")
    if isinstance(node, exp.Trim) and not node.expression:
        raise Unlike("blanks of which kind are trimmed")
    if isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier):
        raise Unlike("a function that returns a table")
    if isinstance(node, exp.Anonymous) and node.name.casefold() not in rewrites.FUNCTIONS:
        raise Unlike(f"the function {node.name}")


def _is_of_sorted_values(node: exp.ArrayAgg | exp.ArraySort) -> bool:
    """Return whether a list has distinct values in their order, without NULL.

    A list of DuckDB may have NULL, one of Spark has not. A filter leaves it out: the value is not
    NULL, or is among some values.
    """
    sort = node if isinstance(node, exp.ArraySort) else node.find_ancestor(exp.ArraySort)
    if sort is None or not isinstance(sort.this, exp.Filter):
        return False
    values, condition = sort.this.this, sort.this.expression.this
    if not isinstance(values, exp.ArrayAgg) or not isinstance(values.this, exp.Distinct):
        return False
    listed = values.this.expressions[0]
    if condition == exp.not_(listed.is_(exp.null())):
        return True
    for test in condition.flatten() if isinstance(condition, exp.Or) else [condition]:
        tested = test.this.this if isinstance(test.this, exp.Lower) else test.this
        if not isinstance(test, exp.In) or [tested] != values.this.expressions:
            return False
    return True


def _note_types(select: exp.Select, describe: Describe) -> None:
    """Write the types of operands into ``meta`` of those nodes whose translation depends on them.

    DuckDB is asked twice: for operands that exist after GROUP BY, then for the others, such as
    arguments of aggregates, which exist before it. A type is "" if it is not found.
    """
    nodes = [
        node
        for node in select.walk(prune=lambda n: n is not select and isinstance(n, exp.Query))
        if isinstance(node, rewrites.TYPED) and node.parent_select is select
    ]
    operands = [operand for node in nodes for operand in rewrites.operands_of(node)]
    types: dict[int, str] = {}  # by the identity of an operand: equal ones may differ in type
    for form in (_grouped_only, _ungrouped):
        untyped = [operand for operand in operands if not types.get(id(operand))]
        answers = _known_types(form, select, untyped, describe)
        types |= {id(operand): t for operand, t in zip(untyped, answers, strict=True)}
    for node in nodes:
        node.meta[rewrites.OPERANDS] = tuple(types[id(o)] for o in rewrites.operands_of(node))


def _known_types(
    form: Callable[[exp.Select], exp.Select],
    select: exp.Select,
    operands: Sequence[exp.Expr],
    describe: Describe,
) -> list[str]:
    """Return the types of operands in a SELECT that ``form`` changes; "" where there is none."""
    if not operands:
        return []
    query = form(select)
    for i, operand in enumerate(operands):
        query = query.select(exp.alias_(operand.copy(), f"{ALIAS}{i}"))
    try:
        return [type_ for _, type_ in describe(query)[-len(operands) :]]
    except QifError:  # for one of them: ask one by one
        if len(operands) == 1:
            return [""]
        singles = (_known_types(form, select, [operand], describe) for operand in operands)
        return [type_ for (type_,) in singles]


def _grouped_only(select: exp.Select) -> exp.Select:
    """Return a SELECT without what follows its groups: aggregates and aliases may be read."""
    query = select.copy()
    for clause in ("order", "limit", "having", "qualify", "distinct"):
        query.set(clause, None)
    return query


def _ungrouped(select: exp.Select) -> exp.Select:
    """Return a SELECT of the rows before they are grouped: arguments of aggregates are read."""
    query = exp.select()
    for clause in ("from_", "joins", "with_"):
        part = select.args.get(clause)
        parts = [p.copy() for p in part] if isinstance(part, list) else part and part.copy()
        query.set(clause, parts)
    return query
