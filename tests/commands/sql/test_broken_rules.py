"""The SELECTs of a policy return what breaks it: where check says met, there is no row."""

import csv
import io
import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import SAMPLES
from spark_session import MARKS, SPARK
from sqlglot import exp
from strategies import Table, tables, to_arrow
from terminal import run

import qifsql
from qifsql.errors import InputError
from qifsql.query.warehouses import DIALECTS

PEOPLE = str(SAMPLES / "thesis_table_3_2.csv")
Row = dict[str, Any]
Rule = dict[str, Any]
SHARES = (
    *("posterior_deterministic", "posterior_probabilistic", "degradation_deterministic"),
    *("degradation_probabilistic", "leakage_additive", "worst_case", "prior_probabilistic"),
)
LIMITS = (0, 0.1, 0.25, 0.3333333333333333, 0.5, 0.6, 0.75, 1)
RULES: list[Rule] = [
    *({"model": m, "measure": "k", "at_least": n} for m in ("crs", "cas") for n in (2, 3)),
    *({"model": "cas", "measure": "l", "at_least": n} for n in (2, 3)),
    *({"model": ["crs", "cas"], "measure": s, "at_most": x} for s in SHARES for x in LIMITS),
    *({"model": "cas", "measure": "degradation_probabilistic", "at_most": x} for x in (1.2, 2)),
    *({"model": "cas", "measure": "min_entropy_leakage", "at_most": x} for x in (0, 0.3, 1)),
    *({"model": "crs", "measure": s, "at_most": 3} for s in ("singled_out", "blocks")),
    {"model": "cas", "measure": "individuals_certain", "at_most": 2},
    *({"model": "crs", "measure": s, "at_most": 0.5} for s in ("marketer_risk", "prosecutor_risk")),
    {"model": "cas", "measure": "posterior_probabilistic", "at_least": 0.5, "at_most": 0.8},
    {"model": "cas", "measure": "posterior_probabilistic", "at_most": 0.2, "attempt": 0.3},
]
GROUPED: list[Rule] = [
    *(
        {"model": ["crs", "cas"], "measure": s, "at_most": x}
        for s in ("posterior_deterministic", "posterior_probabilistic", "worst_case")
        for x in (0.3333333333333333, 0.5, 0.75)
    ),
    {"model": "cas", "measure": "degradation_probabilistic", "at_most": 1.5},
    {"model": "crs", "measure": "singled_out", "at_most": 1},
    {"model": "cas", "measure": "individuals_certain", "at_most": 1},
    {"model": "crs", "measure": "individuals", "at_least": 2},
]


def in_duckdb(script: str) -> list[list[Row]]:
    """The rows of each statement, in a DuckDB that knows nothing of qifsql."""
    with duckdb.connect() as connection:
        answers = []
        for statement in connection.extract_statements(script):
            cursor = connection.execute(statement)
            names = [d[0] for d in cursor.description or ()]
            answers.append([dict(zip(names, row, strict=True)) for row in cursor.fetchall()])
    return answers


def broken(answers: list[list[Row]]) -> dict[int, list[Row]]:
    """The rows of each rule that has some."""
    by_rule = defaultdict(list)
    for row in (row for rows in answers for row in rows if "rule" in row):
        by_rule[int(row["rule"])].append(row)
    return by_rule


def judged(verdict: qifsql.Verdict) -> set[int]:
    """The rules that ``check`` finds broken."""
    return {row["rule"] for row in verdict.frame.to_dicts() if not row["met"]}


def policy(rules: list[Rule], **adversary: object) -> Row:
    """A policy that accepts records."""
    return {"unit": "records", "adversary": adversary, "rule": rules}


@contextmanager
def stored(table: pa.Table) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "people.parquet")
        pq.write_table(table, path)
        yield path


@settings(max_examples=examples(60), deadline=None)
@given(
    tables(),
    st.sampled_from(("distinct", "drop")),
    st.lists(st.sampled_from(RULES), min_size=1, max_size=6),
    st.lists(st.sampled_from(GROUPED), max_size=3),
)
def test_rows_are_there_exactly_where_check_finds_a_rule_broken(
    drawn: Table, null: str, rules: list[Rule], grouped: list[Rule]
) -> None:
    by = drawn.qids[0]
    grouped = grouped if by.strip() and "=" not in by else []  # no name of groups in a policy
    every = [*rules, *({**rule, "by": by} for rule in grouped)]
    asked = policy(every)
    adversary: Row = {"qids": drawn.qids, "secret": drawn.secrets, "null": null}
    with stored(to_arrow(drawn)) as path:
        try:
            verdict = qifsql.check(path, asked, **adversary)
        except InputError as e:
            if "no records" in str(e):
                return
            raise
        answers = in_duckdb(qifsql.sql("", path, policy=asked, **adversary))
    if any("records" in row for rows in answers for row in rows):
        return  # suppressed records
    assert set(broken(answers)) == judged(verdict)


def random_table(random: Random, n: int) -> pa.Table:
    """A table of plain types, with missing values."""
    ages = [random.choice((None, 1, 2, 3, 40)) for _ in range(n)]
    sexes = [random.choice(("f", "m", None, "it's")) for _ in range(n)]
    heights = [random.choice((0.0, -0.0, 1.5, float("nan"), None)) for _ in range(n)]
    ills = [random.choice((None, "flu", "flu", "angina")) for _ in range(n)]
    regions = [random.choice(("n", "s", None)) for _ in range(n)]
    columns = {"age": ages, "sex": sexes, "height": heights, "ill": ills, "region": regions}
    return pa.table(columns)


def test_blocks_are_named_with_their_size_and_values() -> None:
    table = random_table(Random(1), 40)
    rows = table.select(["age", "sex", "ill"]).to_pylist()
    sizes = Counter((row["age"], row["sex"]) for row in rows)
    values = defaultdict(set)
    for row in rows:
        values[row["age"], row["sex"]].add(row["ill"])
    rules = [
        {"model": "crs", "measure": "k", "at_least": 3},
        {"model": "cas", "measure": "l", "at_least": 2},
    ]
    with stored(table) as path:
        text = qifsql.sql("", path, policy=policy(rules, qids=["age", "sex"], secret="ill"))
        found = broken(in_duckdb(text))
    small = {(row["age"], row["sex"]): row["size"] for row in found[1]}
    assert small == {block: size for block, size in sizes.items() if size < 3}
    uniform = {(row["age"], row["sex"]): row["values"] for row in found[2]}
    expected = {b: len(v) for b, v in values.items() if len(v) < 2 or len(v - {None}) == 1}
    assert uniform == expected


WAREHOUSE_RULES: list[Rule] = [
    {"model": "crs", "measure": "k", "at_least": 4},
    {"model": "cas", "measure": "l", "at_least": 2},
    {"model": ["crs", "cas"], "measure": "worst_case", "at_most": 0.6},
    {"model": ["crs", "cas"], "measure": "posterior_probabilistic", "at_most": 0.4},
    {"model": "cas", "measure": "posterior_deterministic", "at_most": 0.9},
    {"model": "cas", "measure": "degradation_probabilistic", "at_most": 1.1},
    {"model": "cas", "measure": "leakage_additive", "at_most": 0.1},
    {"model": "cas", "measure": "posterior_probabilistic", "at_most": 0.7, "by": "region"},
    {"model": "crs", "measure": "worst_case", "at_most": 0.3, "by": "region"},
    {"model": "cas", "measure": "degradation_probabilistic", "at_most": 1.3, "by": "region"},
]
ADVERSARY: Row = {
    "qids": ["age", "sex", "height", "half=age // 2"],
    "secret": "ill",
    "where": "(age < 40 OR age IS NULL) AND (sex <> 'it''s' OR sex IS NULL)",
}


def written(value: object) -> str:
    """A cell as all engines show it."""
    if value is None or value == "":
        return ""
    return str(float(value)) if isinstance(value, int | float) else str(value)


def plain(answers: list[list[Row]]) -> list[list[tuple[str, ...]]]:
    """The rows of all statements, in an order that does not depend on the engine."""
    return [sorted(tuple(map(_number_or_text, row.values())) for row in rows) for rows in answers]


def _number_or_text(value: object) -> str:
    try:
        return str(float(str(value)))
    except ValueError:
        return "" if value is None else str(value)


def compared(table: pa.Table, run_there: Callable[[str], list[list[Row]]], dialect: str) -> None:
    """An engine finds what DuckDB finds, and breaks what check finds broken."""
    asked = policy(WAREHOUSE_RULES, **ADVERSARY)
    with stored(table) as path:
        here = in_duckdb(qifsql.sql("", path, policy=asked))
        there = run_there(qifsql.sql("", path, policy=asked, language=dialect, table="people"))
        verdict = qifsql.check(path, asked)
    assert plain(here) == plain(there)
    assert set(broken(there)) == judged(verdict)


INITDB = shutil.which("initdb")
PSQL = shutil.which("psql")


@pytest.fixture(scope="module")
def postgres() -> Iterator[list[str]]:
    """The command that runs SQL in a cluster of PostgreSQL made for these tests, on a socket."""
    if INITDB is None or PSQL is None or shutil.which("pg_ctl") is None:
        pytest.skip("there is no PostgreSQL (initdb, pg_ctl, psql)")
    programs = Path(INITDB).resolve().parent
    user: dict[str, Any] = {}
    folder = Path(tempfile.mkdtemp(prefix="qifsql_pg", dir="/tmp"))
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        try:
            account = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("there is no unprivileged user postgres")
        user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        os.chown(folder, account.pw_uid, account.pw_gid)
    data = folder / "data"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "cwd": folder, **user}
    make = [
        programs / "initdb",
        "-D",
        data,
        "-A",
        "trust",
        "-U",
        "tester",
        "-E",
        "UTF8",
        "--no-sync",
    ]
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    control = [programs / "pg_ctl", "-D", data, "-w"]
    try:
        subprocess.run([*make, "--locale=C", "--no-sync"], check=True, **quiet)
        start = [*control, "-o", options, "-l", folder / "log", "start"]
        subprocess.run(start, check=True, **quiet)
        flags = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "--csv"]
        yield [PSQL, "-h", str(folder), "-U", "tester", "-d", "postgres", *flags]
    finally:
        if data.exists():
            subprocess.run([*control, "-m", "immediate", "stop"], check=False, **quiet)
        shutil.rmtree(folder, ignore_errors=True)


def in_postgres(psql: list[str], table: pa.Table) -> Callable[[str], list[list[Row]]]:
    """A function that runs statements where the table is ``people``."""
    types = {pa.int64(): "bigint", pa.string(): "text", pa.float64(): "double precision"}
    columns = ", ".join(f'"{f.name}" {types[f.type]}' for f in table.schema)
    cells = io.StringIO()
    rows = csv.writer(cells, lineterminator="\n")
    rows.writerows(tuple(row.values()) for row in table.to_pylist())
    load = f"DROP TABLE IF EXISTS people; CREATE TABLE people ({columns});\n"
    load += "\\copy people FROM STDIN CSV\n" + cells.getvalue() + "\\.\n"
    answered(psql, load)

    def answers(script: str) -> list[list[Row]]:
        parts = answered(psql, "\\echo =\n".join(split(script))).split("=\n")
        return [list(csv.DictReader(io.StringIO(part))) for part in parts]

    return answers


def answered(psql: list[str], statements: str) -> str:
    """Run statements, and return the answer of psql."""
    done = subprocess.run(psql, input=statements, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def split(script: str) -> list[str]:
    """The statements of a script: each ends with a semicolon at the end of its line."""
    return [part + ";\n" for part in script.split(";\n") if part.strip()]


@pytest.mark.parametrize("seed", [1, 2])
def test_postgresql_finds_the_same_blocks(seed: int, postgres: list[str]) -> None:
    table = random_table(Random(seed), 60)
    compared(table, in_postgres(postgres, table), "postgres")


@MARKS[0]
@MARKS[1]
@MARKS[2]
@pytest.mark.parametrize("seed", [1, 2])
def test_spark_finds_the_same_blocks(seed: int, tmp_path: Path) -> None:
    from qifsql.engine.spark import session

    table = random_table(Random(seed), 60)
    spark = session(SPARK)
    pq.write_table(table, tmp_path / "people.parquet")
    spark.read.parquet((tmp_path / "people.parquet").as_uri()).createOrReplaceTempView("people")

    def answers(script: str) -> list[list[Row]]:
        return [[r.asDict() for r in spark.sql(s[:-2]).collect()] for s in split(script)]

    compared(table, answers, "spark")


NASTY = ("a'; DROP TABLE people; --", 'b"; DROP TABLE people; --', "c`; DROP TABLE t", "{{x}}")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_name_and_no_value_of_a_policy_becomes_sql(dialect: str) -> None:
    """The parser of each dialect finds them again, whole, as names and texts of one SELECT."""
    first, second, third, value = NASTY
    table = pa.table({first: [1], second: ["x"], third: ["y"], "uncovered; '": ["z"]})
    where = f"{exp.to_identifier(second, quoted=True).sql()} = '{value}'"
    rule = {"model": "cas", "measure": "l", "at_least": 2}
    asked = policy([rule], qids=[first], secret=[third], where=where)
    with stored(table) as path:
        name = '"t\'; DROP TABLE x; --"'
        text = qifsql.sql("", path, policy=asked, language=dialect, table=name)
    trees = sqlglot.parse(text, read=dialect)
    assert all(isinstance(tree, exp.Select | exp.Union) for tree in trees if tree is not None)
    assert sum(tree is not None for tree in trees) == 3  # records, the rule, columns
    names = {node.name for tree in trees if tree for node in tree.find_all(exp.Identifier)}
    texts = {node.name for tree in trees if tree for node in tree.find_all(exp.Literal)}
    assert {first, second, third, "t'; DROP TABLE x; --"} <= names
    assert {value, third, "uncovered; '"} <= texts
    sources = {t.name for tree in trees if tree for t in tree.find_all(exp.Table)}
    steps = {t.alias for tree in trees if tree for t in tree.find_all(exp.CTE)}
    assert sources - steps == {"t'; DROP TABLE x; --"}  # no other table is read


@pytest.mark.parametrize(
    ("rule", "adversary", "reason"),
    [
        ({"model": "crl", "measure": "singled_out", "at_most": 1}, {}, "rule 2"),
        ({"model": "cas", "measure": "prior_entropy", "at_most": 1}, {}, "no fraction of counts"),
        ({"model": "crs", "measure": "singled_out", "rise_at_most": 1}, {}, "stored result"),
        ({"model": "crs", "measure": "k", "at_most": 1}, {}, "no block breaks"),
        ({"model": "crs", "measure": "k", "at_least": 1}, {"person": "sex"}, "person"),
        ({"model": "crs", "measure": "k", "at_least": 1}, {"qids": ["x=upper(sex)"]}, "Upper"),
        ({"model": "crs", "measure": "k", "at_least": 1}, {"where": "sex < 'm'"}, "order of texts"),
        ({"model": "crs", "measure": "k", "at_least": 1}, {"where": "age = '1'"}, "different"),
        ({"model": "crs", "measure": "k", "at_least": 1}, {"where": "sex = 'a\\'"}, "backslash"),
    ],
)
def test_a_rule_without_an_exact_select_is_refused_by_name(
    rule: Rule, adversary: Row, reason: str
) -> None:
    """Nothing is printed: a missing rule would read as met."""
    first = {"model": "crs", "measure": "k", "at_least": 2}
    asked = policy([first, rule], **{"qids": ["age"], "secret": "ill", **adversary})
    table = stored(random_table(Random(1), 5))
    with table as path, pytest.raises(InputError, match=reason):
        qifsql.sql("", path, policy=asked, language="postgres", table="people")


def test_no_records_and_suppressed_records_are_rows() -> None:
    asked = policy([{"model": "crs", "measure": "k", "at_least": 2}], qids=["sex"])
    for table in (pa.table({"sex": pa.array([], pa.string())}), pa.table({"sex": ["*", "*", "m"]})):
        with stored(table) as path:
            answers = in_duckdb(qifsql.sql("", path, policy=asked))
        assert [row for rows in answers for row in rows if "records" in row]


def test_people_with_several_records_are_rows_unless_records_are_accepted() -> None:
    table = pa.table({"patient_id": [1, 1, 2, 3], "sex": ["f", "f", "m", "m"]})
    asked = policy([{"model": "crs", "measure": "k", "at_least": 1}], qids=["sex"])
    with stored(table) as path:
        assert not [r for rows in in_duckdb(qifsql.sql("", path, policy=asked))[:-1] for r in rows]
        asked.pop("unit")
        assert not qifsql.check(path, asked)
        found = [r for rows in in_duckdb(qifsql.sql("", path, policy=asked))[:-1] for r in rows]
    assert found == [{"values": 3, "records": 4}]


def test_columns_that_no_rule_covers_come_last() -> None:
    asked = policy([{"model": "crs", "measure": "k", "at_least": 1}], qids=["age"])
    with stored(random_table(Random(1), 5)) as path:
        for unnamed, breaks in (("warn", "no"), ("refuse", "yes")):
            last = in_duckdb(qifsql.sql("", path, policy={**asked, "unnamed": unnamed}))[-1]
            assert [row["column_name"] for row in last] == ["sex", "height", "ill", "region"]
            assert {row["breaks"] for row in last} == {breaks}


def test_the_command_line_takes_a_policy_in_place_of_a_model(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    lines = [f"{k} = {json.dumps(v)}" for k, v in RULES[0].items()]
    file.write_text("\n".join(["[[rule]]", *lines]))
    options = (PEOPLE, "--policy", str(file), "-q", "age,gender")
    done = run("sql", *options, "--dialect", "bigquery", "--table", 'lake."a.b".people')
    assert done.code == 0, done.err
    assert "FROM `lake`.`a.b`.`people` AS `source`" in done.out
    assert run("sql", "crs", *options).code == 2
    assert run("sql", *options, "--dialect", "oracle").code == 2
    assert run("sql", *options, "--table", "a..b").code == 2


@pytest.mark.parametrize(("maximum", "average"), [(0.5, 0.2), (0.1, 0.2), (0.5, 0.04), (0.25, 0.1)])
def test_a_recipient_who_surely_knows_is_judged_as_check_does(
    maximum: float, average: float
) -> None:
    recipient = {
        "name": "university",
        "knows": {"age": 1, "sex": 1},
        "attempt": 0.25,
        "at_most": {"maximum": maximum, "average": average},
    }
    asked = {"unit": "records", "adversary": {"secret": "ill"}, "recipient": [recipient]}
    with stored(random_table(Random(1), 40)) as path:
        verdict = qifsql.check(path, asked)
        found = broken(in_duckdb(qifsql.sql("", path, policy=asked)))
    assert set(found) == judged(verdict)
