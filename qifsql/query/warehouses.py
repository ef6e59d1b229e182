"""Statements in the SQL of a warehouse, with the same whole numbers as in DuckDB.

Only what is listed here is translated. Columns and filters of the user have comparisons, whole
arithmetic and CASE: functions, and orders of texts, differ between warehouses. Names are quoted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError

from qifsql.data.expressions import SOURCE, identifier, is_nan
from qifsql.data.types import family
from qifsql.errors import InputError, quoted
from qifsql.query.plan import Plan, Step
from qifsql.query.render import DUCKDB

WIDE = {  # a type of whole numbers of 38 digits at least
    DUCKDB: "HUGEINT",
    "spark": "DECIMAL(38, 0)",
    "postgres": "NUMERIC",
    "snowflake": "NUMBER(38, 0)",
    "bigquery": "BIGNUMERIC",
    "redshift": "DECIMAL(38, 0)",
    "trino": "DECIMAL(38, 0)",
}
DIALECTS = tuple(WIDE)
WITH_NAN_EQUAL = ("postgres",)  # NaN = NaN
WITH_IS_NAN = ("spark", "bigquery", "trino")
WITH_WHOLE_DIVISION = (DUCKDB, "postgres", "bigquery")  # of wide numbers
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
NUMBERS = (*INTEGERS, "UBIGINT", "HUGEINT", "DECIMAL", "FLOAT", "DOUBLE")
TEXTS, DAYS = ("VARCHAR", "ENUM"), ("DATE", "TIMESTAMP")
PLAIN = (*NUMBERS, *TEXTS, *DAYS, "BOOLEAN", "UUID", "TIMESTAMP WITH TIME ZONE")
ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
COMPARED = (*ORDERED, exp.EQ, exp.NEQ, exp.In, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Like)
SAME = (  # forms of the user's expressions that mean the same everywhere, as they are checked
    *(exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Null, exp.Boolean, exp.Case, exp.If),
    *(exp.And, exp.Or, exp.Not, exp.Is, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.IntDiv, exp.Mod),
    *(exp.Cast, exp.DataType, *COMPARED),
)


@dataclass(frozen=True, kw_only=True)
class Warehouse:
    """A dialect, and the table that the statements read (None: the file, in DuckDB).

    ``names`` and ``types`` are those of the table's columns, by the engine's names.
    """

    dialect: str
    table: Sequence[str] | None
    names: Mapping[str, str]
    types: Mapping[str, str]

    def statement(self, plan: Plan) -> str:
        """Return a plan as one statement; InputError if a part of it has no exact form."""
        query = plan.result.copy()
        for step in plan.steps:
            query = query.with_(step.name, as_=self._step(step).query, copy=False)
        if self.dialect != DUCKDB:
            _check_texts(query)
        query = self._with_types(query)
        try:
            return query.sql(
                self.dialect,
                pretty=True,
                identify=self.dialect != DUCKDB,
                unsupported_level=ErrorLevel.RAISE,
            )
        except UnsupportedError as e:
            raise self._unlike(str(e)) from e

    def _step(self, step: Step) -> Step:
        """Return a step that reads the table in place of the file, if it reads the file."""
        query = step.query.copy()
        source = query.args["from_"].this
        if self.table is None or source.alias != SOURCE:
            return replace(step, query=query)
        if self.dialect != DUCKDB:
            self._check_expressions(query)
        for column in query.find_all(exp.Column):
            if column.name in self.names:
                column.set("this", identifier(self.names[column.name]))
        *schema, name = map(identifier, self.table)
        parts = dict(zip(("db", "catalog"), reversed(schema), strict=False))
        table = exp.alias_(exp.Table(this=name, **parts), SOURCE, table=True)
        query.set("from_", exp.From(this=table))
        return replace(step, query=query)

    def _check_expressions(self, query: exp.Query) -> None:
        """Refuse what has no exact form, and find NaN as the dialect does; the query is changed."""
        for case in list(query.find_all(exp.Case)):
            number = case.args.get("default")  # of a floating value: itself + 0
            value = number.this.unnest() if isinstance(number, exp.Add) else None
            if value is not None and case.args["ifs"][0].this == is_nan(value):
                case.args["ifs"][0].set("this", self._nan(value))
        clauses = [*query.expressions, *filter(None, [query.args.get("where")])]
        for node in [node for clause in clauses for node in clause.walk()]:
            if node.meta.get("exact") or isinstance(node, exp.Alias | exp.Where | exp.IsNan):
                continue
            if not isinstance(node, SAME):
                raise self._unlike(f"the function or form {type(node).__name__}")
            if isinstance(node, COMPARED):
                self._check_comparison(node)
            if isinstance(node, exp.IntDiv | exp.Mod):
                self._check_division(node)
            if isinstance(node, exp.Cast) and not isinstance(node.this, exp.Literal):
                wide = node.to.is_type("INT128") and self._kind(node.this) == "number"
                if not wide:
                    raise self._unlike("a cast of a column")

    def _check_comparison(self, node: exp.Expr) -> None:
        """Refuse a comparison of different kinds, whose conversion differs, and orders of texts."""
        operands = [node.this, *node.expressions]
        operands += [node.args[k] for k in ("expression", "low", "high") if node.args.get(k)]
        kinds = {self._kind(operand) for operand in operands} - {"null"}
        if len(kinds) > 1 or "" in kinds:
            raise self._unlike("a comparison of values of different or unknown types")
        if kinds == {"text"} and isinstance(node, ORDERED):
            raise self._unlike("an order of texts")

    def _check_division(self, node: exp.Expr) -> None:
        """Refuse a division without remainder but that of a whole number by a literal."""
        divisor = node.expression.unnest()
        is_whole = isinstance(divisor, exp.Literal) and divisor.is_int and int(divisor.name) > 0
        columns = list(node.this.find_all(exp.Column))
        if not is_whole or not all(self._type(column) in INTEGERS for column in columns):
            raise self._unlike("a division that is not of a whole number by one of 1, 2, ...")
        if isinstance(node, exp.IntDiv) and self.dialect in ("redshift", "trino"):
            node.replace(exp.Div(this=node.this, expression=node.expression, typed=True))

    def _kind(self, node: exp.Expr) -> str:
        """Return the kind of a value: text, number, day, truth; null; empty if it is unknown."""
        node = node.unnest()
        if isinstance(node, exp.Column):
            type_ = self._type(node)
            kinds = {"text": TEXTS, "number": NUMBERS, "day": DAYS, "truth": ("BOOLEAN",)}
            return next((kind for kind, types in kinds.items() if type_ in types), "")
        if isinstance(node, exp.Literal):
            return "text" if node.is_string else "number"
        if isinstance(node, exp.Null):
            return "null"
        if isinstance(node, exp.Boolean | exp.And | exp.Or | exp.Not | exp.Is | COMPARED):
            return "truth"
        if isinstance(node, exp.Neg | exp.Add | exp.Sub | exp.Mul | exp.IntDiv | exp.Mod | exp.Div):
            inner = {self._kind(part) for part in (node.this, node.args.get("expression")) if part}
            return "number" if inner == {"number"} else ""
        if isinstance(node, exp.Cast):
            return "day" if node.is_type("DATE", "TIMESTAMP") else ""
        if isinstance(node, exp.Case):
            values = [branch.args["true"] for branch in node.args["ifs"]]
            values += [node.args["default"]] if node.args.get("default") else []
            kinds_of_values = {self._kind(value) for value in values} - {"null"}
            return kinds_of_values.pop() if len(kinds_of_values) == 1 else ""
        return ""

    def _type(self, column: exp.Column) -> str:
        return family(self.types.get(column.name, ""))

    def _nan(self, value: exp.Expr) -> exp.Expr:
        """Return the condition that a floating value is NaN."""
        if self.dialect in WITH_NAN_EQUAL:
            nan = exp.cast(exp.Literal.string("NaN"), "DOUBLE")
            condition: exp.Expr = exp.EQ(this=value.copy(), expression=nan)
        elif self.dialect in WITH_IS_NAN:
            condition = exp.IsNan(this=value.copy())
        else:
            raise self._unlike("a floating-point number, which may be NaN,")
        for node in condition.walk():
            node.meta["exact"] = True
        return condition

    def _with_types(self, query: exp.Query) -> exp.Query:
        """Return a query with the dialect's forms of wide numbers and of equal missing values."""
        wide = exp.DataType.build(WIDE[self.dialect], dialect=self.dialect)
        for node in list(query.find_all(exp.IntDiv)):
            is_wide = node.find(exp.Cast) is not None
            if is_wide and self.dialect not in WITH_WHOLE_DIVISION:
                a, b = exp.paren(node.this.unnest()), exp.paren(node.expression)
                dividend = exp.Sub(this=a, expression=exp.Mod(this=a.copy(), expression=b))
                quotient = exp.Div(this=exp.paren(dividend), expression=b.copy(), typed=True)
                node.replace(exp.Cast(this=quotient, to=wide.copy()))
        for same in list(query.find_all(exp.NullSafeEQ)) if self.dialect == "redshift" else ():
            a, b = same.this, same.expression
            missing = exp.and_(a.copy().is_(exp.null()), b.copy().is_(exp.null()))
            equal = exp.EQ(this=a.copy(), expression=b.copy())
            same.replace(exp.paren(exp.or_(equal, exp.paren(missing))))
        for type_ in list(query.find_all(exp.DataType)):
            if type_.is_type("INT128"):
                type_.replace(wide.copy())
        return query

    def _unlike(self, what: str) -> InputError:
        return InputError(
            f"{what} has no exact form in {self.dialect}; make it a column of a view there, and "
            "name that"
        )


def table_parts(text: str) -> list[str]:
    """Return the parts of the name of a table, at most three: catalog, schema, name.

    A part with a point stands in double quotes. InputError if there are other parts.

    >>> table_parts('lake."my.schema".people')
    ['lake', 'my.schema', 'people']
    """
    parts, rest = list[str](), text
    while rest:
        if rest.startswith('"'):
            part, end, rest = rest[1:].partition('"')
            is_complete = bool(end) and (not rest or rest.startswith("."))
            rest = rest[1:] if rest else ""
            is_complete = is_complete and (not text.endswith(".") or bool(rest))
        else:
            part, point, rest = rest.partition(".")
            is_complete = not point or bool(rest)
        if not part or not is_complete:
            parts = []
            break
        parts.append(part)
    if not 1 <= len(parts) <= 3:
        raise InputError(
            f"{quoted(text)} is no name of a table; write people, schema.people or "
            "catalog.schema.people, and a part with a point in double quotes"
        )
    return parts


def _check_texts(query: exp.Query) -> None:
    """Refuse marks that some dialects or settings read as an escape, in names and texts."""
    for node in query.find_all(exp.Identifier, exp.Literal):
        if any(mark == "\\" or ord(mark) < 32 for mark in node.name):
            what = "a text" if isinstance(node, exp.Literal) else "a name"
            raise InputError(
                f"{what} with a backslash or a control character is not written for a warehouse; "
                "make it a column of a view there, and name that"
            )
