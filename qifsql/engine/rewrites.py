"""Nodes of DuckDB's SQL as Spark needs them, by the types of their operands."""

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from qifsql.data.expressions import filled
from qifsql.data.types import NOTHING

SPARK = "spark"
SMALL_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
LARGE = ("HUGEINT", "UBIGINT")  # decimals in Spark
FLOATS = ("FLOAT", "DOUBLE")
LONG = "DECIMAL(38, 0)"  # Spark's type of 128-bit whole numbers; above 10^38 it is an error
TYPES = {  # types of DuckDB -> those of Spark
    "BOOLEAN": "BOOLEAN", "TINYINT": "TINYINT", "SMALLINT": "SMALLINT", "INTEGER": "INT",
    "BIGINT": "BIGINT", "UTINYINT": "SMALLINT", "USMALLINT": "INT", "UINTEGER": "BIGINT",
    "UBIGINT": "DECIMAL(20, 0)", "HUGEINT": LONG, "FLOAT": "FLOAT", "DOUBLE": "DOUBLE",
    "VARCHAR": "STRING", "DATE": "DATE", "TIMESTAMP": "TIMESTAMP_NTZ",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP", "BLOB": "BINARY",
}  # fmt: skip
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Mod)
COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
PAIRS = (*ARITHMETIC, *COMPARISONS, exp.Div, exp.IntDiv)
PARTS_OF_DATES = (exp.Year, exp.Month, exp.Day)
TYPED = (  # nodes whose translation depends on the types of what they read
    *(exp.Cast, exp.Sum, exp.Between, exp.Floor, exp.Ceil, exp.Round, exp.Length, exp.DPipe),
    *(exp.Anonymous, exp.Explode, exp.Pow, *PAIRS, *PARTS_OF_DATES),
)
ALIKE_IN_ARITHMETIC = {  # families of two operands that both engines compute in the same way
    *(frozenset({"whole"}), frozenset({"double"}), frozenset({"float"})),
    *(frozenset({"double", name}) for name in ("whole", "large", "decimal")),
}
PLAIN = {  # texts of values that are read in the same way
    "whole": r"-?\d{1,19}",
    "large": r"-?\d{1,37}",
    "double": r"-?\d{1,15}(\.\d{1,15})?",
    "decimal": r"-?\d{1,18}(\.\d{1,18})?",
    "date": r"\d{4}-\d{2}-\d{2}",
    "boolean": r"true|false",
}
FUNCTIONS = ("round_even", "isfinite", "isinf", "log2")
CASTS = {  # families of types that are converted in the same way
    ("whole", "whole"), ("whole", "large"), ("large", "whole"), ("large", "large"),
    ("whole", "double"), ("large", "double"), ("decimal", "double"), ("float", "double"),
    ("whole", "text"), ("large", "text"), ("date", "text"), ("boolean", "whole"),
    ("boolean", "text"), ("date", "timestamp"), ("double", "double"), ("text", "text"),
    ("decimal", "decimal"), ("whole", "decimal"), ("large", "decimal"),
    ("boolean", "boolean"), ("date", "date"), ("timestamp", "timestamp"), ("timestamp", "date"),
}  # fmt: skip
FREE = "free"  # a divisor may be 0, among the metadata of a division
OPERANDS = "operands"  # the types of what a node reads, among its metadata
# a whole number of 128 bits in two parts, as division by a power of two is exact; below 2^126
# (``high`` times 2^63, and the rest)
HIGH = "CAST(rint(number) / CAST(9223372036854775808 AS DOUBLE) AS BIGINT)"  # truncates
DOUBLE_AS_INTEGER = """
    CAST(CASE
        WHEN number IS NULL THEN NULL
        WHEN abs(number) < CAST(85070591730234615865843651857942052864 AS DOUBLE)
        THEN CAST(high AS DECIMAL(38, 0)) * CAST(9223372036854775808 AS DECIMAL(38, 0)) + CAST(
            rint(number) - CAST(high AS DOUBLE) * CAST(9223372036854775808 AS DOUBLE) AS BIGINT
        )
        ELSE raise_error('a number is too large for a 128-bit whole number')
    END AS DECIMAL(38, 0))
"""
# division as DuckDB does it: by 0 it gives an infinity, or no number
FREE_DIVISION = """
    CASE
        WHEN a IS NULL THEN NULL
        WHEN b = CAST(0 AS DOUBLE)
        THEN CASE
            WHEN a > CAST(0 AS DOUBLE) THEN CAST('inf' AS DOUBLE)
            WHEN a < CAST(0 AS DOUBLE) THEN CAST('-inf' AS DOUBLE)
            ELSE CAST('nan' AS DOUBLE)
        END
        ELSE a / b
    END
"""
# the whole number e with 2^e <= value < 2^(e + 1); ``floor_of_log`` may be wrong by one
EXPONENT = """
    CASE
        WHEN pow(CAST(2 AS DOUBLE), CAST(floor_of_log AS DOUBLE)) > value THEN floor_of_log - 1
        WHEN pow(CAST(2 AS DOUBLE), CAST(floor_of_log + 1 AS DOUBLE)) <= value THEN floor_of_log + 1
        ELSE floor_of_log
    END
"""


class Unlike(Exception):  # noqa: N818 - the reason, which becomes a note or an error elsewhere
    """A part of a query that has no translation with surely the same numbers."""


def spark_type(type_: str) -> str:
    """Return the type of Spark for a type of DuckDB; raise Unlike if there is none."""
    if type_ in TYPES:
        return TYPES[type_]
    if type_.startswith("DECIMAL("):
        return type_
    if type_.startswith("ENUM("):
        return "STRING"
    if type_.endswith("[]"):
        return f"ARRAY<{spark_type(type_.removesuffix('[]'))}>"
    raise Unlike(f"the type {_without_parameters(type_)}")


def operands_of(node: exp.Expr) -> list[exp.Expr]:
    """Return the nodes on whose types the translation of a node depends: operands, or a cast."""
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    if isinstance(node, exp.Between):
        return [node.this, node.args["low"], node.args["high"]]
    if isinstance(node, exp.Binary):
        return [node.left, node.right]
    return [node.this, node] if isinstance(node, exp.Cast) else [node.this]


def _types(node: exp.Expr) -> tuple[str, ...]:
    """Return the types of the operands of a node; raise Unlike if one is not known."""
    types: tuple[str, ...] = node.meta.get(OPERANDS, ("",))
    if not all(types):
        raise Unlike(f"{type(node).__name__} of an unknown type")
    return types


def rewritten(node: exp.Expr) -> exp.Expr:
    """Return a node as Spark needs it; its children are translated already."""
    if isinstance(node, exp.Cast):
        return _cast(node)
    if isinstance(node, exp.CTE):
        node.set("materialized", None)
    rewrite = REWRITES.get(type(node))
    return node if rewrite is None else rewrite(node)


def _family(type_: str) -> str:
    """Return the family of a type: whole, large, decimal, text, or else its own name, as double."""
    if type_ in SMALL_INTEGERS:
        return "whole"
    if type_ in LARGE:
        return "large"
    if type_.startswith("DECIMAL("):
        return "decimal"
    return "text" if type_.startswith("ENUM(") or type_ == "VARCHAR" else type_.casefold()


def _spark_cast(node: exp.Expr, type_: str) -> exp.Cast:
    """Return a node as a type of Spark, in a cast that is not translated again."""
    return exp.Cast(this=_bracketed(node), to=exp.DataType.build(type_, dialect=SPARK))


def _bracketed(node: exp.Expr) -> exp.Expr:
    """Return a copy of a node that may be an operand of any other."""
    node = node.copy()
    return exp.paren(node, copy=False) if isinstance(node, exp.Binary) else node


def _cast(node: exp.Cast) -> exp.Expr:
    """Round halves as DuckDB does, and refuse conversions that give other values.

    Spark truncates: a float is rounded half to even first, a decimal half away from zero.
    """
    before, after = _types(node)
    source, target = _family(before), _family(after)
    value = _bracketed(node.this)
    tried = isinstance(node, exp.TryCast)
    if before == NOTHING:
        return _spark_cast(value, spark_type(after))
    if after.startswith("U") and before != after:
        raise Unlike(f"a cast to {after}")
    if source in ("double", "float") and target == "large" and not tried:
        # with all its digits: Spark would convert the shortest text of the number
        number = _spark_cast(value, "DOUBLE")
        high = filled(HIGH, {"number": number}, SPARK)
        return filled(DOUBLE_AS_INTEGER, {"number": number, "high": high}, SPARK)
    if source in ("double", "float") and target == "whole":
        value = exp.Anonymous(this="rint", expressions=[_spark_cast(value, "DOUBLE")])
    elif source == "decimal" and target in ("whole", "large"):
        value = exp.Anonymous(this="round", expressions=[value])
    elif (source, target) not in CASTS and not (
        # a literal that both engines read alike
        target in PLAIN and node.this.is_string and re.fullmatch(PLAIN[target], node.this.name)
    ):
        raise Unlike(f"a cast of {_without_parameters(before)} to {_without_parameters(after)}")
    kind = exp.TryCast if tried else exp.Cast
    return kind(this=value, to=exp.DataType.build(spark_type(after), dialect=SPARK))


def _without_parameters(type_: str) -> str:
    """Return the name of a type, such as DECIMAL, without what follows in parentheses."""
    return type_.partition("(")[0]


def _sum(node: exp.Expr) -> exp.Expr:
    """Sum whole numbers as 128-bit ones, unless the sum becomes a BIGINT at once."""
    (before,) = _types(node)
    family = _family(before)
    if family == "boolean":
        node.set("this", _spark_cast(node.this, "INT"))
    elif family == "whole" and not _is_cast_to_bigint(node):
        node.set("this", _spark_cast(node.this, LONG))
    elif family not in ("whole", "large"):
        raise Unlike(f"a sum of {_without_parameters(before)}, which depends on the order")
    return node


def _is_cast_to_bigint(node: exp.Expr) -> bool:
    """Return whether a sum, perhaps filtered or over a window, is only used as a BIGINT."""
    parent = node.parent
    while isinstance(parent, exp.Filter | exp.Window | exp.Paren | exp.Coalesce):
        if isinstance(parent, exp.Window) and parent.this is not node:
            break
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Cast) and parent.to.this in (exp.DType.BIGINT, exp.DType.INT)


def _division(node: exp.Expr) -> exp.Expr:
    """Return Spark's division of two doubles, as DuckDB divides; raise Unlike for other types.

    Spark alone would divide decimals, and refuse to divide by the zeros that DuckDB allows: a
    division that may meet one (``FREE``) becomes a CASE.
    """
    left_type, right_type = _types(node)
    if "float" in (_family(left_type), _family(right_type)):
        raise Unlike("a division of FLOAT")
    numbers = ("whole", "large", "decimal", "double")
    if _family(left_type) not in numbers or _family(right_type) not in numbers:
        raise Unlike(f"a division of {left_type} by {right_type}")
    divisor = node.expression
    never_by_zero = not node.meta[FREE] or (divisor.is_number and float(divisor.name) != 0)
    operands = {"a": _spark_cast(node.this, "DOUBLE"), "b": _spark_cast(divisor, "DOUBLE")}
    return filled("a / b" if never_by_zero else FREE_DIVISION, operands, SPARK)


def _whole_division(node: exp.Expr) -> exp.Expr:
    """Divide whole numbers without remainder; those of 128 bits are decimals in Spark."""
    left_type, right_type = _types(node)
    if (_family(left_type), _family(right_type)) == ("whole", "whole"):
        return node
    if {_family(left_type), _family(right_type)} <= {"whole", "large"}:
        words = {"a": _spark_cast(node.this, LONG), "b": _spark_cast(node.expression, LONG)}
        return _spark_cast(filled("(a - a % b) / b", words, SPARK), LONG)
    raise Unlike(f"a division // of {left_type} by {right_type}")


def _arithmetic(node: exp.Expr) -> exp.Expr:
    """Refuse arithmetic that has other types in Spark; a date plus an interval is a time."""
    left_type, right_type = _types(node)
    families = {_family(left_type), _family(right_type)}
    if (left_type, right_type) == ("DATE", "INTERVAL") and isinstance(node, exp.Add | exp.Sub):
        node.set("this", _spark_cast(node.this, "TIMESTAMP_NTZ"))
        return node
    if families in ({"large"}, {"whole", "large"}):
        node.set("this", _spark_cast(node.this, LONG))
        node.set("expression", _spark_cast(node.expression, LONG))
        return _spark_cast(node, LONG)  # without digits after the point
    if families in ({"decimal"}, {"decimal", "whole"}):
        exact = isinstance(node, exp.Add | exp.Sub | exp.Mul)
    else:
        exact = frozenset(families) in ALIKE_IN_ARITHMETIC
    if exact:
        return node
    if left_type == "FLOAT" and isinstance(node, exp.Add) and node.expression.sql() == "0":
        return _spark_cast(node, "FLOAT")  # x + 0 turns -0.0 into 0.0; Spark adds in DOUBLE
    raise Unlike(f"arithmetic of {left_type} and {right_type}")


def _comparison(node: exp.Expr) -> exp.Expr:
    """Refuse comparisons of different kinds of values, which are converted differently."""
    types = _types(node)
    families = {_family(t) for t in types} - {NOTHING.casefold()}
    numbers = {"whole", "large", "decimal", "double"}
    if len(families) <= 1 or families <= numbers or families == {"double", "float"}:
        return node
    literals = [o for o in operands_of(node) if isinstance(o, exp.Literal) and o.is_string]
    if literals and len(families) == 2 and families & {"date", "timestamp"}:
        return node
    raise Unlike(f"a comparison of {' and '.join(sorted(map(_without_parameters, types)))}")


def _any_value(node: exp.Expr) -> exp.Expr:
    """Skip missing values, as DuckDB does."""
    if isinstance(node.parent, exp.IgnoreNulls):
        return node
    return exp.Anonymous(this="any_value", expressions=[node.this.copy(), exp.true()])


def _extreme(node: exp.Expr) -> exp.Expr:
    """Return ``max_by`` or ``min_by`` over rows with both arguments, which DuckDB reads alone."""
    name = "max_by" if isinstance(node, exp.ArgMax) else "min_by"
    if isinstance(node.parent, exp.Filter | exp.Window):
        raise Unlike(f"a filtered {name}")
    arguments = [node.this.copy(), node.expression.copy()]
    present = [exp.not_(exp.Is(this=_bracketed(a), expression=exp.null())) for a in arguments]
    call = exp.Anonymous(this=name, expressions=arguments)
    return exp.Filter(this=call, expression=exp.Where(this=exp.and_(*present)))


def _rounded(node: exp.Expr) -> exp.Expr:
    """Return floor, ceil and round of doubles as doubles; Spark makes them whole numbers."""
    (before,) = _types(node)
    if _family(before) == "whole":
        return node
    argument = node.this
    is_log = isinstance(argument, exp.Anonymous) and argument.name.casefold() == "log2"
    if isinstance(node, exp.Floor) and is_log:
        # corrected by one where Spark's quotient of logarithms is inexact
        value = _spark_cast(argument.expressions[0], "DOUBLE")
        floor = exp.Floor(this=exp.Anonymous(this="log2", expressions=[value]))
        exponent = filled(EXPONENT, {"value": value, "floor_of_log": floor}, SPARK)
        return exp.Floor(this=_spark_cast(exponent, "DOUBLE"))
    if before != "DOUBLE" or isinstance(node, exp.Round):
        raise Unlike(f"{type(node).__name__} of {_without_parameters(before)}")
    return _spark_cast(node, "DOUBLE")


def _text_or_date_function(node: exp.Expr) -> exp.Expr:
    """Refuse text functions of other values than texts, and parts of other values than dates."""
    types = _types(node)
    families = ("date", "timestamp") if isinstance(node, PARTS_OF_DATES) else ("text",)
    if any(_family(t) not in families for t in types):
        raise Unlike(f"{type(node).__name__} of {_without_parameters(types[0])}")
    return node


def _function(node: exp.Expr) -> exp.Expr:
    """Translate the call of one of ``FUNCTIONS``, which sqlglot does not know."""
    name = node.name.casefold()
    type_, *_ = _types(node)
    value, *further = (argument.copy() for argument in node.expressions)
    if name == "log2" and isinstance(node.parent, exp.Floor):  # see _rounded
        return node
    if name == "round_even" and type_ == "DOUBLE" and further[0].name == "0":
        return exp.Anonymous(this="rint", expressions=[value])
    if name in ("isfinite", "isinf") and type_ in FLOATS:
        infinite = "abs(value) = CAST('inf' AS DOUBLE)"
        test = infinite if name == "isinf" else f"NOT (isnan(value) OR {infinite})"
        return filled(f"({test})", {"value": value}, SPARK)
    raise Unlike(f"the function {name} of {_without_parameters(type_)}")


def _unnested(node: exp.Expr) -> exp.Expr:
    """Return an unnest as it is; raise Unlike unless it is a whole column of a SELECT."""
    column = node.parent if isinstance(node.parent, exp.Alias) else node
    is_column = column.arg_key == "expressions" and isinstance(column.parent, exp.Select)
    (before,) = _types(node)
    if not is_column or not before.endswith("[]"):
        raise Unlike("unnest within an expression")
    return node


def _power(node: exp.Expr) -> exp.Expr:
    """Return a power of two with a whole exponent, which is exact in both."""
    base, exponent = node.this, node.expression
    if not (base.is_number and float(base.name) == 2 and _is_whole(exponent)):
        raise Unlike("a power of another number than 2")
    return exp.Pow(this=_spark_cast(base, "DOUBLE"), expression=_spark_cast(exponent, "DOUBLE"))


def _is_whole(node: exp.Expr) -> bool:
    """Return whether an expression has whole values only."""
    if isinstance(node, exp.Cast):  # of a floor, see _rounded
        return _is_whole(node.this)
    if isinstance(node, exp.Add | exp.Sub | exp.Neg | exp.Paren):
        return all(_is_whole(child) for child in node.iter_expressions())
    return isinstance(node, exp.Floor) or (node.is_number and node.name.isdecimal())


def _row_number(node: exp.Expr) -> exp.Expr:
    """Refuse numbers of rows in no order, which two readers may not find the same."""
    if is_unordered(node):
        raise Unlike("a number of rows in no order")
    return node


def is_unordered(node: exp.Expr) -> bool:
    """Return whether a window numbers rows in no order."""
    ranked = isinstance(node.this, exp.RowNumber | exp.Rank | exp.DenseRank | exp.Lag | exp.Lead)
    return ranked and not node.args.get("order")


def _sorted_values(node: exp.Expr) -> exp.Expr:
    """Return a sorted list of distinct values that is NULL without a value, as DuckDB's is."""
    return exp.Nullif(this=node.copy(), expression=exp.Array())


REWRITES: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Sum: _sum,
    exp.Div: _division,
    exp.IntDiv: _whole_division,
    **dict.fromkeys(ARITHMETIC, _arithmetic),
    **dict.fromkeys((*COMPARISONS, exp.Between), _comparison),
    exp.AnyValue: _any_value,
    **dict.fromkeys((exp.ArgMax, exp.ArgMin), _extreme),
    **dict.fromkeys((exp.Floor, exp.Ceil, exp.Round), _rounded),
    **dict.fromkeys((exp.Length, exp.DPipe, *PARTS_OF_DATES), _text_or_date_function),
    exp.Anonymous: _function,
    exp.Explode: _unnested,
    exp.Pow: _power,
    exp.ArraySort: _sorted_values,
    exp.Window: _row_number,
}
