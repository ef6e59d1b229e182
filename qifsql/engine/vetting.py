"""Which functions an expression uses, and which of them give one lasting value for each row."""

import json
from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp

from qifsql.dialect import render
from qifsql.engine.duckdb import DuckDB
from qifsql.errors import ExpressionError

STEADY_MACROS = {  # DuckDB says nothing of the stability of macros
    "date_add", "days_in_month", "fdiv", "fmod", "list_first", "list_last", "list_max",
    "list_min", "list_sum", "nullif", "split_part",
}  # fmt: skip
FROM_TODAY = {"age", "version"}  # said to be steady, but the day or the program decides
STEADY = """
    SELECT function_name FROM duckdb_functions()
    WHERE function_type NOT IN ('table', 'table_macro', 'pragma') GROUP BY function_name HAVING
    bool_and(function_type = 'scalar' AND stability = 'CONSISTENT')
"""


def functions_of(engine: DuckDB, expression: exp.Expr, what: str) -> list[str]:
    """The functions that the engine's own parser finds in an expression."""
    query = exp.Literal.string(render(exp.select(expression.copy())))
    asked = exp.select(exp.func("json_serialize_sql", query))
    text = engine.query(asked, what)[0][0]
    try:
        found = json.loads(text)
    except RecursionError as e:
        raise ExpressionError(f"{what} is nested too deeply; make it simpler") from e
    if found.get("error"):
        raise ExpressionError(f"{what} is not a SQL expression; check quotes and brackets")
    return sorted(set(_function_names(found["statements"][0]["node"]["select_list"])))


def steady_functions(engine: DuckDB) -> set[str]:
    """The functions that give the same value for the same row, always."""
    query = sqlglot.parse_one(STEADY, read="duckdb")
    assert isinstance(query, exp.Query)  # noqa: S101 - it is a SELECT
    rows = engine.query(query, "functions")
    return ({r[0] for r in rows} | STEADY_MACROS) - FROM_TODAY


def _function_names(node: object) -> Iterator[str]:
    if isinstance(node, Mapping):
        if node.get("class") == "FUNCTION":
            yield node["function_name"]
        if node.get("class") == "COLUMN_REF" and len(node["column_names"]) == 1:
            yield node["column_names"][0]  # columns are qualified: this is a function like now
        for child in node.values():
            yield from _function_names(child)
    elif isinstance(node, list):
        for child in node:
            yield from _function_names(child)
