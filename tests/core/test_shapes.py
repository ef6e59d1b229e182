"""Templates of sql/ take whole numbers only: names and values of users never become SQL."""

import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import polars.selectors as cs
import pytest
import sqlglot
from campaign.draft import row
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

import qifsql
from qifsql.data.domains import Domain, domain
from qifsql.errors import InternalError
from qifsql.query import shapes, templates
from qifsql.query.render import render
from qifsql.query.splice import splice

FILES = [path.relative_to(templates.folder()) for path in templates.folder().rglob("*.sql")]
HOMES = sorted({path.with_suffix("").parts[0] for path in FILES} - set(templates.OF_ATTACKS))
VARYING = [
    name
    for name in (f"{home}/{view}" for home in HOMES for view in templates.views(home))
    if shapes.is_template(templates.text(name))
]
PIECES = (
    *("{{ 7 * 7 }}", "{{", "}}", "{% for i in edge %}", "{%", "%}", "{# comment #}", "#}"),
    *("'", '"', "''", ";", "--", "/*", "*/", "\n", "\r\n", "\t", "?", "$1", "#", "\\", ")", "é"),
    *("; DROP TABLE cells; --", "' OR TRUE --", "place_1", "at_1", "qid", "secret", "NULL", " "),
)
HOSTILE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)
PLAIN = pl.DataFrame(
    {
        "age": ["a", "a", "b", "b", "b", "c", "c", "a", "c", "b"],
        "sex": ["x", "y", "x", "x", "y", "y", "y", "x", "x", "y"],
        "ill": ["p", "q", "p", "q", "q", "p", "p", "q", "q", "p"],
    }
)


@pytest.mark.parametrize("value", ["x", "1; DROP TABLE cells", 1.5, None, [[1, "x"]], {"x"}])
def test_a_shape_has_whole_numbers_only(value: Any) -> None:
    with pytest.raises(InternalError, match="whole numbers only"):
        templates.load("tables/lines_of_margin", scope=value)


def test_a_template_lacks_nothing_silently() -> None:
    with pytest.raises(InternalError, match="undefined"):
        templates.load("tables/lines_of_margin", edge=[1])
    with pytest.raises(InternalError, match="no template"):
        templates.load("tables/finer_sums", edge=[1])


def test_a_template_is_parsed_once_for_each_shape() -> None:
    one = templates.load("tables/lines_of_margin", scope=[3, 1])
    assert one is templates.load("tables/lines_of_margin", scope=(3, 1))
    assert one is not templates.load("tables/lines_of_margin", scope=frozenset([3, 1]))


TYPES = {  # of columns that are no whole numbers
    "cell": "VARCHAR",
    "comma": "VARCHAR",
    "lower_text": "VARCHAR",
    "upper_text": "VARCHAR",
    "own_form": "VARCHAR",
    "value": "VARCHAR",
    "enumerated": "BOOLEAN",
    "suppressed": "BOOLEAN",
    "candidate": "VARCHAR",
    "ranged": "BOOLEAN",
    "everything": "BOOLEAN",
    "items": "VARCHAR[]",
    "squares": "BIGINT[]",
    "spots": "BIGINT[]",
    "belows": "BIGINT[]",
    "widths": "MAP(BIGINT, BIGINT)",
    "people_of_sides": "MAP(BIGINT, BIGINT)",
}
TYPES_OF_TABLES = {("cells", "cell"): "BLOB", ("rarest", "known"): "BIGINT[]"}
NUMBERS = dict.fromkeys(  # that the compiler fills in
    (
        *("all_people", "further", "parts_of_one", "unlisted_one", "unlisted_other"),
        *("wanted_k", "wanted_k_1", "wanted_k_2", "wanted_largest", "wanted_rows"),
    ),
    1,
)
BOUNDS = {  # a table of one row, in whose place its values are filled in
    "bounds": {
        n: exp.Literal.number(1)
        for n in ("measured", "first", "last", "top_1", "top_2", "bottom_1")
    }
}


@pytest.mark.parametrize("name", VARYING)
def test_a_template_binds_in_every_shape_that_is_an_example(name: str) -> None:
    """Its tables have the columns that it names, and no others: DuckDB finds all of them."""
    for shape in shapes.examples(templates.text(name)):
        rows = BOUNDS if name == "anonymise/nominal_ends" else None
        values = domain("TIMESTAMP" if shape.get("dated") else "DOUBLE")
        places = None if name == "cells/away" else [1, 2]  # its ``place`` is a value's
        query = splice(
            name, shape=shape, places=places, secrets=1, numbers=NUMBERS, rows=rows, domain=values
        )
        with duckdb.connect() as con:
            for table, columns in needed(query).items():
                typed = ", ".join(
                    f'"{c}" {type_of(name, table, c, values)}' for c in sorted(columns | {"unused"})
                )
                con.execute(f'CREATE TABLE "{table}" ({typed})')
            text = re.sub(r"\bat_\d\b", "1", render(query))
            con.execute(f"PREPARE statement AS {text}")


def type_of(view: str, table: str, column: str, values: Domain) -> str:
    if view in ("cells/extremes", "cells/away") and column in ("value", "lower", "upper"):
        return "DOUBLE" if column != "value" else values.type
    if column == "cuts":
        return "BIGINT[]" if view.startswith("dit/") else "MAP(BIGINT, BIGINT)"
    if table == "tuples" and re.fullmatch(r"steps_\d", column):
        return "BIGINT[]"
    if (table, column) in TYPES_OF_TABLES and view.startswith(("unhash", "unicity")):
        return TYPES_OF_TABLES[table, column]
    if (view, column) == ("anonymise/nominal_ends", "value"):
        return "BIGINT"  # a number, or a date by its day
    if (table, column) == ("missing_words", "word"):
        return "VARCHAR"
    if (table, column) == ("sets", "numbers"):
        return "BIGINT[]"
    return TYPES.get(column, "BIGINT")


def needed(query: exp.Select) -> dict[str, set[str]]:
    """Return the columns that a query needs of the tables that it reads."""
    tables: dict[str, set[str]] = {}
    query = sqlglot.parse_one(query.sql("duckdb"), read="duckdb")  # type: ignore[assignment]
    for scope in traverse_scope(query):
        sources = scope.sources
        for source in sources.values():
            if isinstance(source, exp.Table):
                tables.setdefault(source.name, set())
        keys = {
            c.name
            for join in scope.expression.args.get("joins") or ()
            for c in join.args.get("using") or ()
        }
        made = {
            name
            for s in sources.values()
            if isinstance(s, Scope)
            for name in s.expression.named_selects
        }
        inner = [s for s in sources.values() if isinstance(s, Scope) and s.expression.is_star]
        every = [*sources.values(), *(t for s in inner for t in s.sources.values())]
        real = [s.name for s in every if isinstance(s, exp.Table)]
        aliases = {c.alias for c in scope.expression.selects}
        for column in scope.columns:
            source = sources.get(column.table)
            if column.name in ("*", "") or re.fullmatch(r"at_\d", column.name):
                continue
            if isinstance(source, exp.Table):
                tables[source.name].add(column.name)
            elif not column.table and column.name in keys:
                for table in real:
                    tables[table].add(column.name)
            elif (
                not column.table
                and column.name not in made
                and real
                and not is_alias(column, aliases)
            ):
                tables[real[0]].add(column.name)
        for key in keys:
            for table in real:
                tables[table].add(key)
    return tables


def is_alias(column: exp.Column, aliases: set[str]) -> bool:
    """Return whether a name is that of a result, not of a column from which it is made."""
    if column.name not in aliases or not column.find_ancestor(exp.Window, exp.Group):
        return False
    result = column.find_ancestor(exp.Alias)
    return result is None or result.alias != column.name


@settings(max_examples=examples(30), deadline=None)
@given(suffixes=st.lists(HOSTILE, min_size=4, max_size=4))
def test_hostile_names_and_values_change_no_number(suffixes: list[str]) -> None:
    """Values keep their order, because they differ in their first letter.

    A name has no blank at its end, which is no part of it, and a value that is cut has no star.
    """
    names = [f"{c}{suffix}_" for c, suffix in zip(PLAIN.columns, suffixes, strict=False)]
    values = PLAIN.select(pl.all() + pl.lit(suffixes[3].replace("*", "")))
    hostile = values.rename(dict(zip(PLAIN.columns, names, strict=True)))
    assert answers(hostile, names) == plain_answers()


@cache
def plain_answers() -> list[list[tuple[Any, ...]]]:
    return answers(PLAIN, PLAIN.columns)


def answers(people: pl.DataFrame, names: list[str]) -> list[list[tuple[Any, ...]]]:
    """Return the numbers of commands that use templates, about a table of three columns."""
    age, sex, ill = names
    with tempfile.TemporaryDirectory() as place:
        release = Path(place) / "release.parquet"
        asked: dict[str, Any] = {"qids": [age, sex]}
        tables = [row([age, sex]), row([sex, ill])]
        results = [
            qifsql.tables(people, table=tables, secret=[ill], time_budget=1),
            qifsql.anonymise(people, release, method="lattice", k=2, **asked),
            qifsql.compose([release], people=people, secret=[ill], **asked),
        ]
        numbers = cs.numeric() | cs.boolean()
        return [
            result.frame.select(numbers - cs.by_name("seconds", require_all=False)).rows()
            for result in results
        ]
