"""Questions to an engine: statements, parameters, models, roles, noisy laws, by themselves."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
import sqlglot
from places import ROOT
from sqlglot import exp

import qifsql
from qifsql.adversary import bind, names, roles
from qifsql.adversary.gains import parse
from qifsql.adversary.laws import as_decimal
from qifsql.adversary.models import MODELS, model
from qifsql.adversary.spec import Attack, Attribute, BoundAttack, BoundGain, ColumnRoles, Microdata
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.errors import ColumnError, InputError, WeightError
from qifsql.query import compiler, parameters, protections, render, templates
from qifsql.query.plan import Plan
from qifsql.query.splice import splice
from qifsql.query.steps import Steps, revealed_tables

DATASET = Dataset("d", "parquet", ("d.parquet",))


def attribute(name: str, type_: str = "INTEGER", number: int = 1) -> Attribute:
    return Attribute(name, exp.column(name, table="source"), type_, number)


def schema(*columns: str) -> Schema:
    return Schema("d", tuple(Column(name, name, "INTEGER") for name in columns))


def test_models_have_two_names() -> None:
    assert [model(name) for name in MODELS] == list(MODELS.values())
    assert [model(n).acronym for n in ("CRS", "Prosecutor", "marketer", "journalist")] == [
        *("crs", "irs", "crs", "ims"),
    ]
    with pytest.raises(InputError, match=r'no model "none".* or marketer, prosecutor, journalist'):
        model("none")
    with pytest.raises(InputError, match='no model ""'):
        model("")


def test_every_list_of_the_models_names_all() -> None:
    template = (ROOT / "qifsql/commands/init/template.toml").read_text("utf-8")
    for text in (qifsql.attack.__doc__ or "", template):
        assert " ".join(MODELS) in text


def test_a_column_has_the_roles_of_its_own_and_of_its_forms() -> None:
    town = ColumnRoles("town")
    year = ColumnRoles("day", (), ("quasi-identifier (only as year)",))
    both = ColumnRoles("day", ("group",), year.forms)
    assert [c.role for c in (year, both)] == [year.forms[0], f"group, {year.forms[0]}"]
    assert [c.covered for c in (town, year, both)] == [False, False, True]
    assert town.role == "not considered"
    assert ColumnRoles.of(town.plain()) == town
    assert ColumnRoles.of(year.plain()) == year
    assert roles.unnamed((town, year, both)) == '"town", "day"'


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(12), "12"),
        (Fraction(1, 2), "0.5"),
        (Fraction(1, 1000), "0.001"),
        (Fraction(123456, 1000), "123.456"),
        (Fraction(5, 4), "1.25"),
    ],
)
def test_a_number_is_written_with_all_its_digits(number: Fraction, text: str) -> None:
    assert as_decimal(number) == text


def test_a_pattern_stands_for_the_columns_that_it_matches() -> None:
    found = [
        [a.name for a in names.named(text, schema("AGE", "age_2", "CO_X", "co_y"), "secret")]
        for text in ("AGE", " AGE ", "a*", "CO_*", "c?_*", "co_[x]", "[AC]*")
    ]
    assert found == [
        *(["AGE"], ["AGE"], ["age_2"], ["CO_X"], ["co_y"], ["CO_X"], ["AGE", "CO_X"]),
    ]
    with pytest.raises(ColumnError, match="no column of d matches"):
        names.named("b*", schema("AGE"), "secret")


def test_attributes_of_a_collection_stand_in_the_order_of_the_datasets() -> None:
    whole = Schema("c", (), (schema("a", "b"), schema("a")))
    named = names.attributes(["2:a", "b", "1:a"], whole, names.QID)
    assert [(a.name, a.number) for a in named] == [("1:b", 1), ("1:a", 1), ("2:a", 2)]
    assert [a.there for a in named] == [None, None, None]
    distinct = names.attributes(["2:a", "b"], whole, names.QID, distinct=True)
    assert [a.there and a.there.sql() for a in distinct] == [None, names.there(2).sql()]
    assert names.of_column("b", whole)[0].name == "b"
    assert names.of_column(None, whole) == ()
    with pytest.raises(ColumnError, match="given twice"):
        names.attributes(["a", "1:a"], whole, names.QID)
    assert len(names.attributes(["a", "1:a"], whole, names.QID, again=True)) == 2


def test_an_attack_on_the_first_datasets_knows_their_columns() -> None:
    qids = tuple(attribute(f"{n}:a", number=n) for n in (1, 2, 3))
    microdata = Microdata(DATASET, qids, releases=("x", "y", "z"))
    attack = BoundAttack((), microdata, target={"1:a": "1", "2:a": None, "3:a": "3"})
    first = attack.first(2)
    assert first.microdata.qids == qids[:2]
    assert first.microdata.releases == ("x", "y")
    assert first.target == {"1:a": "1", "2:a": None}
    assert BoundAttack((), microdata).first(1).target == {}
    with pytest.raises(InputError, match="a progressive attack begins with the focal dataset"):
        BoundAttack((), Microdata(DATASET, qids[1:])).first(1)


def test_gains_are_numbered_from_one() -> None:
    gains = tuple(BoundGain(parse(text)) for text in ("tries:2", "penalty:0.5"))
    attack = BoundAttack((), Microdata(DATASET, ()), gains=gains)
    assert [attack.gain(n).text for n in (0, 1, 2)] == ["identity", "tries:2", "penalty:0.5"]


def test_one_dataset_is_joined_by_nothing() -> None:
    single = Attack.of("crs", DATASET, qids="a")
    assert (single.of_collection, single.asked_of_collection) == (False, {})
    assert single.fitting().models == ("crs",)
    waves = Attack.of("crl", DATASET, qids="a", key="k", wave="year")
    assert waves.of_collection
    assert waves.asked_of_collection == {"keys": ["k"], "absent": "null", "wave": "year"}
    assert waves.fitting().models == ("crl",)


def asked(text: str | None, type_: str = "INTEGER") -> dict[str, str]:
    """The parameters of a gain function, as SQL."""
    gains = (BoundGain(parse(text)),) if text else ()
    secrets = (attribute("s", type_),)
    attack = BoundAttack((), Microdata(DATASET, (), secrets), gains=gains, thresholds=("0.5",))
    query = parameters._request_row(attack, 1, len(gains))
    return {part.alias: part.this.sql("duckdb") for part in query.expressions}


def test_a_gain_function_sets_its_own_parameter() -> None:
    zero = "CAST(0.000000000 AS DECIMAL(20, 9))"
    usual = {"scale": "1", "tries": "1", "penalty": "0", "tolerance": zero}
    usual |= {"thresholds": "[CAST(0.5 AS DOUBLE)]", "quantiles": "[]"}
    assert asked(None) == usual
    assert asked("tries:3") == usual | {"tries": "3"}
    assert asked("penalty:0.4") == usual | {"scale": "5", "penalty": "2"}
    assert asked("tolerance:2.5") == usual | {"tolerance": "CAST(2 AS INT128)"}
    half = "CAST(2.500000000 AS DECIMAL(20, 9))"
    assert asked("tolerance:2.5", "DOUBLE") == usual | {"tolerance": half}
    assert asked("tolerance:2", "DECIMAL(9,0)") == usual | {"tolerance": "CAST(2 AS INT128)"}
    assert asked("worth:4") == usual | {"scale": "scale"}


@pytest.mark.parametrize(
    ("text", "unlisted", "hidden_zeros"),
    [
        ("exact", 0, False),
        ("suppress<5", 0, False),
        ("suppress<5 zeros", 0, True),
        ("round:3", 1, False),
        ("round:4", 1, False),
        ("round:5", 2, False),
        ("round:5 random", 4, False),
        ("noise:2", 2, False),
        ("atleast:7", 0, False),
    ],
)
def test_a_protection_hides_counts_up_to_its_number(
    text: str, unlisted: int, hidden_zeros: bool
) -> None:
    found = protections.parse(text)
    assert isinstance(found.unlisted, int)
    assert (found.text, found.unlisted, found.hides_zeros) == (text, unlisted, hidden_zeros)
    assert found.exact == (text == "exact")


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("exact", "n", "n"),
        ("round:5", "GREATEST(0, n - 2)", "n + 2"),
        ("round:4", "GREATEST(0, n - 2)", "n + 1"),
        ("round:5 random", "GREATEST(0, n - 4)", "n + 4"),
        ("noise:3", "GREATEST(0, n - 3)", "n + 3"),
        ("atleast:7", "n", "CASE WHEN n >= 7 THEN NULL ELSE n END"),
    ],
)
def test_a_published_count_stands_for_a_range(text: str, lower: str, upper: str) -> None:
    found, count = protections.parse(text), exp.column("n")
    shown_bounds = [render.render(bound(count)) for bound in (found.lower, found.upper)]
    assert shown_bounds == [lower, upper]
    assert protections.parse("suppress<5").hidden() == (1, 4)
    assert protections.parse("suppress<5 zeros").hidden() == (0, 4)


def test_statements_are_those_of_duckdb() -> None:
    one = exp.Literal.number(1)
    assert render.setting("threads", one) == "SET threads = 1"
    assert render.setting("turn", one, variable=True) == "SET VARIABLE turn = 1"
    assert render.dropping("t") == "DROP TABLE IF EXISTS t"
    assert render.detaching("c") == "DETACH c"
    query = exp.select("a").from_("t")
    plan = Plan((), query)
    assert render.keeping(plan, "t", "c") == "CREATE TABLE c.main.t AS SELECT a FROM t"
    assert render.adding(plan, "t", "c") == "INSERT INTO c.main.t SELECT a FROM t"
    assert render.creating("t", query).startswith("CREATE OR REPLACE TEMPORARY TABLE t AS")
    assert render.creating("t", query, temporary=False).startswith("CREATE OR REPLACE TABLE t AS")
    assert "ROW_GROUP_SIZE 7" in render.copying(plan, "f", group=7)
    assert "ROW_GROUP_SIZE" not in render.copying(plan, "f")
    assert "KV_METADATA {'qifsql': 'note'}" in render.copying(plan, "f", "note")
    assert "KV_METADATA" not in render.copying(plan, "f")


def test_numbers_are_one_for_all_places_or_one_for_each() -> None:
    sql = "SELECT [place + shift + bound], bound FROM a WHERE each(place > shift)"
    query = sqlglot.parse_one(sql, read="duckdb")
    assert isinstance(query, exp.Select)
    view = templates.Template("made_up", "", query, sql)
    filled = splice(view, places=[1, 3], numbers={"shift": [5, 7], "bound": 9})
    assert render.render(filled) == (
        "SELECT [place_1 + 5 + 9, place_3 + 7 + 9], 9 FROM a WHERE (place_1 > 5 AND place_3 > 7)"
    )


def test_a_script_is_read_as_its_statements() -> None:
    statements = templates.script("sweep/macros")
    assert len(statements) > 5
    assert all(statement.startswith("CREATE OR REPLACE TEMP MACRO") for statement in statements)
    assert not any("--" in statement for statement in statements)


def test_all_rows_of_one_query_or_of_several() -> None:
    queries = [exp.select("a").from_(table) for table in ("t", "u")]
    assert render.render(compiler.union(queries[:1])) == "SELECT a FROM t"
    union = "SELECT a FROM t UNION ALL SELECT a FROM u"
    assert render.render(compiler.union(queries)) == union


def test_blocks_reveal_the_owner_where_there_is_no_secret_or_a_belief() -> None:
    secrets = (attribute("s"), attribute("t"))
    belief = {2: exp.select("value", "raw", "belief").from_(exp.table_("f", db="main"))}

    def tables(*named: Attribute, beliefs: bool = False) -> list[str]:
        people = Microdata(DATASET, (attribute("a"),), named)
        return revealed_tables(Steps(BoundAttack((), people, beliefs=belief if beliefs else {})))

    assert tables() == ["crowds_0"]
    assert tables(*secrets) == ["revealed_1", "revealed_2"]
    assert tables(*secrets, beliefs=True) == ["crowds_0", "revealed_1", "revealed_2"]


def test_steps_of_files_are_not_generated() -> None:
    bound = BoundGain(parse("worth:4"))
    attack = BoundAttack((), Microdata(DATASET, (), (attribute("s"),)), gains=(bound,))
    made = {name: parameters.make(attack, name, 1, 1) for name in ("asked", "numbers", "pairs")}
    assert {name: step and step.name for name, step in made.items()} == {n: n for n in made}
    assert parameters.make(attack, "blocks", 1, 1) is None


def test_a_secret_is_of_the_focal_dataset() -> None:
    whole = Schema("c", (), (schema("a", "b"), schema("a")))
    for text in ("a", "1:a"):
        (secret,) = names.attributes([text], whole, "secret")
        assert (secret.name, secret.number) == ("a", 1)
    with pytest.raises(ColumnError, match=r'secret "2:a" is of an auxiliary dataset.* 1:a'):
        names.attributes(["2:a"], whole, "secret")


class Types:
    """A catalogue that has the same type for all attributes."""

    def __init__(self, type_: str) -> None:
        self.type = type_

    def types(self, trees: Sequence[exp.Expr], *_: object) -> list[str]:
        return [self.type for _ in trees]


def test_nested_values_are_quasi_identifiers_where_they_are_cells_only() -> None:
    def typed(type_: str, role: str = roles.QID, *, cells: bool = True) -> str:
        catalog: Any = Types(type_)
        used = {role: (attribute("a", ""),)}
        ((found,),) = bind.with_types(used, None, catalog, cells=cells).values()
        return found.type

    for type_, role in (
        ("INTEGER", roles.QID),
        ("VARCHAR", roles.SECRET),
        ("INTEGER[]", roles.QID),
    ):
        assert typed(type_, role) == type_
    for type_, role, cells in (
        ("INTEGER[]", roles.QID, False),
        ("INTEGER[]", roles.SECRET, True),
        ("MAP(VARCHAR, INTEGER)", roles.QID, True),
    ):
        with pytest.raises(ColumnError, match='column "a" is nested'):
            typed(type_, role, cells=cells)
    with pytest.raises(WeightError, match='weight "a" is of type VARCHAR, not a number'):
        typed("VARCHAR", roles.WEIGHT)


def test_only_expressions_are_shown_as_such() -> None:
    decade = Attribute("decade", exp.column("year") + 1, "INTEGER")
    assert render.expressions([attribute("a"), decade]) == {"decade": "year + 1"}
