"""The SQL of some attacks, as text in files, which also runs and gives the numbers of the thesis.

``QIFSQL_GOLDEN=write pytest tests/core/test_golden_sql.py`` writes the files of ``golden/`` again;
read what changed before keeping it.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import GOLDEN, ROOT
from sqlglot import exp
from strategies import Table, tables, to_arrow, weights

import qifsql
from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.commands.inspect import blocks
from qifsql.counting.session import opened
from qifsql.query import compiler, render
from qifsql.query.plan import Plan
from qifsql.query.steps import Steps

WRITE = os.environ.get("QIFSQL_GOLDEN") == "write"
THESIS = "data-samples/thesis_table_3_2.csv"

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """An attack on the thesis' table, the plan of it that is kept, and the rows it gives."""

    models: str
    options: dict[str, Any]
    plan: Callable[[BoundAttack], Plan]
    rows: Rows


# Thesis Table 3.2 (Example 12) has 10 people. By age there are 3 blocks: 25 (5 people, of whom
# 3 are ill), 49 (4 people, 2 of them ill) and 60 (1 person, not ill). Each answer is: model,
# secret, records, matches, blocks, singled out, then before and after for certain, and before
# and after for chance.
CRS = ("CRS", None, 10, 10, 3, 1, 0.0, 0.1, 0.1, 0.3)  # thesis Example 48
CAS = ("CAS", "illness", 10, 10, 3, 1, 0.0, 0.1, 0.5, 0.6)  # thesis Example 50
CASES = {
    "crs": Case("crs", {"qids": "age"}, compiler.answer_plan, [CRS]),
    "cas": Case("cas", {"qids": "age", "secret": "illness"}, compiler.answer_plan, [CAS]),
    "crs_cas_two_secrets": Case(
        "crs,cas",
        {"qids": "age", "secret": ["illness", "gender"]},
        compiler.answer_plan,
        # Gender by hand: 6 of 10 are F; by age the guess is right for 3 + 3 + 1, certain for 1.
        [CRS, CAS, ("CAS", "gender", 10, 10, 3, 1, 0.0, 0.1, 0.6, 0.7)],
    ),
    "crs_cas_weighted": Case(
        "crs,cas",
        {"qids": "age", "secret": "illness", "weight": "occupation"},
        compiler.answer_plan,
        # Weights by hand: 9 at age 25 (no 3, yes 6), 15 at 49 (yes 6, no 9), 4 at 60; 28 in all,
        # 12 of the ill and 16 of the others. The heaviest person weighs 5, of each block 3, 5, 4.
        [
            ("CRS", None, 10, 10, 3, 1, 0.0, 4 / 28, 5 / 28, 12 / 28),
            ("CAS", "illness", 10, 10, 3, 1, 0.0, 4 / 28, 16 / 28, 19 / 28),
        ],
    ),
    "crs_floating_weight_expression": Case(
        "crs",
        {"qids": "decade=age//10", "weight": "occupation / 4", "where": "gender = 'F'"},
        compiler.answer_plan,
        # Weights by hand, in quarters: 1, 1, 3 in the twenties, 3, 3, 5 in the forties.
        [("CRS", None, 6, 6, 2, 0, 0.0, 0.0, 5 / 16, 8 / 16)],
    ),
    "ias_target": Case(
        "ias",
        {"secret": "illness", "target": {"gender": "F", "age": 49}},
        compiler.answer_plan,
        # Thesis Example 49, Dora: 3 people look alike, 2 of them ill.
        [("IAS", "illness", 10, 3, 1, 0, 0.0, 0.0, 0.5, 2 / 3)],
    ),
    "ias_target_guess": Case(
        "ias",
        {"secret": "illness", "key": "id", "target": {"gender": "M", "occupation": 4}},
        compiler.guess_plan,
        # Thesis Example 49, Caio: records 9 and 10, neither of them ill.
        [(1, 0, "no"), (0, 0, "9")],
    ),
    "cas_tallies": Case(
        "cas",
        {"qids": "age", "secret": ["illness", "gender"]},
        lambda attack: compiler.profile_plan(Steps(attack, values={1: 2, 2: 2}), [(1, 0), (2, 0)]),
        # Secret, gain, scale, size, mode, values, blocks, from the table.
        [
            *((1, 0, 1, 1, 1, 1, 1), (1, 0, 1, 4, 2, 2, 1), (1, 0, 1, 5, 3, 2, 1)),
            *((2, 0, 1, 1, 1, 1, 1), (2, 0, 1, 4, 3, 2, 1), (2, 0, 1, 5, 3, 2, 1)),
        ],
    ),
    "cas_profile_null_dropped": Case(
        "cas",
        {"qids": "age", "secret": "illness", "null": "drop"},
        lambda attack: compiler.profile_plan(Steps(attack), [(1, 0)]),
        [(1, 0, 1, 1, 1, 1, 1), (1, 0, 1, 4, 2, 2, 1), (1, 0, 1, 5, 3, 2, 1)],
    ),
    "crs_tries_penalty": Case(
        "crs",
        {"qids": "age", "gain": ["tries:2", "penalty:0.5"]},
        compiler.answer_plan,
        # By hand: two tries are right for 2 of all 10, and for 2 + 2 + 1 by age. Where a wrong
        # guess costs a half, it is best to abstain but for the person alone.
        [
            ("CRS", None, "tries:2", 10, 10, 3, 1, 0.0, 0.1, 0.2, 0.5),
            ("CRS", None, "penalty:0.5", 10, 10, 3, 1, 0.0, 0.1, 0.0, 0.1),
        ],
    ),
    "cas_tolerance": Case(
        "cas",
        {"qids": "age", "secret": "occupation", "gain": "tolerance:1"},
        compiler.answer_plan,
        # By hand: 2 (or 3) is within 1 of 7 occupations; 2 of all at age 25, 4 of all others.
        [("CAS", "occupation", "tolerance:1", 10, 10, 3, 1, 0.0, 0.1, 0.7, 1.0)],
    ),
    "cas_sql_gain": Case(
        "cas",
        {
            "qids": "age",
            "secret": "illness",
            "gain": "sql:CASE WHEN guess = secret THEN 3 ELSE -1 END",
        },
        compiler.answer_plan,
        # By hand: 5 * 3 - 5 of all; 3 * 3 - 2 at age 25, 2 * 3 - 2 at 49, 3 at 60.
        [
            (
                *("CAS", "illness", "sql:CASE WHEN guess = secret THEN 3 ELSE -1 END"),
                *(10, 10, 3, 1, 0.0, 0.1, 1.0, 1.4),
            )
        ],
    ),
    "blocks_revealing": Case(
        "cas",
        {"qids": "age", "secret": "illness"},
        lambda attack: blocks.blocks_plan(attack, "revealing", 2),
        # The quasi-identifier, size, owner's chance, values, best guess, its chance, counts.
        [
            (60, 1, 1.0, 1, "no", 1.0, [{"value": "no", "records": 1}]),
            (
                *(25, 5, 0.2, 2, "yes", 0.6),
                [{"value": "yes", "records": 3}, {"value": "no", "records": 2}],
            ),
        ],
    ),
}


def written(case: Case) -> str:
    """The script of a case as it comes out now."""
    with opened(Attack.of(case.models, THESIS, **case.options)) as (_, attack):
        return render.script(case.plan(attack))


@pytest.mark.cases(5)
@pytest.mark.parametrize("name", CASES)
def test_the_sql_of_an_attack_is_the_text_that_was_kept(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    script = written(CASES[name])
    file = GOLDEN / f"{name}.sql"
    if WRITE:
        file.parent.mkdir(exist_ok=True)
        file.write_text(script, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == script


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", CASES)
def test_the_text_that_runs_is_the_text_that_is_printed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the texts of steps that were rendered before, perhaps for another attack."""
    monkeypatch.chdir(ROOT)
    plan = planned(CASES[name])
    printed = render.parsed(render.statement(plan, pretty=True))
    assert render.parsed(render.statement(plan)) == printed
    kept = render.parsed(render.keeping(plan, "name", "memory"))
    assert kept.expression == printed
    assert kept.this.sql() == "memory.main.name"


@pytest.mark.skipif(WRITE, reason="the files are being written")
def test_every_kept_text_belongs_to_an_attack() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(CASES)


@pytest.mark.cases(10)
@pytest.mark.parametrize("name", CASES)
def test_the_kept_text_runs_as_it_is_and_gives_the_numbers_of_the_thesis(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    with duckdb.connect() as con:
        found = con.execute((GOLDEN / f"{name}.sql").read_text(encoding="utf-8")).fetchall()
    assert sorted(found, key=repr) == sorted(CASES[name].rows, key=repr)


def planned(case: Case) -> Plan:
    with opened(Attack.of(case.models, THESIS, **case.options)) as (_, attack):
        return case.plan(attack)


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", CASES)
def test_every_step_of_the_text_can_be_looked_at_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    plan = planned(CASES[name])
    with duckdb.connect() as con:
        for i, step in enumerate(plan.steps, 1):
            rows = exp.select("*").from_(exp.to_table(step.name))
            script = render.script(replace(plan, steps=plan.steps[:i], result=rows))
            assert script.startswith("-- ")
            assert con.execute(script).fetchall(), step.name


@st.composite
def attacks(draw: st.DrawFn) -> tuple[Table, list[Any] | None]:
    table = draw(tables())
    return table, draw(st.none() | weights(len(table.rows)))


def numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Return what both ways have in common, in the order of the frame."""
    both = ("model", "secret", "records", "blocks", "singled_out", "prior_deterministic")
    more = ("posterior_deterministic", "prior_probabilistic", "posterior_probabilistic")
    return frame.select(*both, *more)


@pytest.mark.slow(because="1.7 s; every recorded mutant dies without it")
@given(tables())
def test_the_numbers_of_the_answer_in_sql_are_those_of_the_frame_exactly(table: Table) -> None:
    frame, answer = both_ways(table, None)
    assert answer.equals(frame)


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
@given(attacks())
def test_the_numbers_of_the_answer_with_weights_are_those_of_the_frame_to_the_last_digits(
    drawn: tuple[Table, list[Any] | None],
) -> None:
    # SQL divides sums that may be longer than 53 bits, so each quotient is rounded twice.
    frame, answer = both_ways(*drawn)
    chances = [name for name, kind in frame.schema.items() if kind == pl.Float64]
    kept = pl.exclude(chances, "records")
    assert answer.select(kept).equals(frame.select(kept))
    for name in chances:
        assert answer[name].to_list() == pytest.approx(frame[name].to_list(), rel=1e-15, abs=0)


def both_ways(table: Table, drawn: list[Any] | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The numbers of ``qifsql.attack`` and those of its answer in SQL."""
    found = to_arrow(table)
    if drawn is not None:
        found = found.append_column("the weight", pa.array(drawn))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.parquet"
        pq.write_table(found, file)
        options: dict[str, Any] = {"qids": table.qids, "secret": table.secrets}
        if drawn is not None:
            options["weight"] = "the weight"
        frame = qifsql.attack("crs,cas", file, **options).frame
        with opened(Attack.of("crs,cas", file, **options)) as (_, attack), duckdb.connect() as con:
            relation = con.sql(render.statement(compiler.answer_plan(attack)))
            answer = pl.DataFrame(
                relation.fetchall(), schema=relation.columns, orient="row", infer_schema_length=None
            )
    answer = numbers(answer.with_columns(pl.col("secret").cast(pl.String)))
    rank = {(m, s): i for i, (m, s) in enumerate(frame.select("model", "secret").iter_rows())}
    order = [rank[row["model"], row["secret"]] for row in answer.to_dicts()]
    return numbers(frame), answer.with_columns(order=pl.Series(order)).sort("order").drop("order")
