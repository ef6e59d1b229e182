"""Attacks on Spark give DuckDB's numbers; its options and errors; and what stays behind."""

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import PATIENCE, examples
from hypothesis import assume, given, settings
from places import ROOT
from spark_session import GENERATED, MARKS, SPARK, assert_equal, everything_on_spark
from strategies import Table, tables, to_arrow
from strategies_collections import Drawn, collections
from test_golden_sql import CASES

import qifsql
from qifsql.adversary.spec import Attack
from qifsql.counting.session import opened
from qifsql.data import installation
from qifsql.engine.distributed import ON_SPARK
from qifsql.engine.placing import Placed
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, EngineError, ExpressionError, InputError
from qifsql.results.storage import manifest

pytestmark = list(MARKS)
LEFT = {  # golden plan -> the step that DuckDB computes, and why; all others run on Spark alone
    "blocks_revealing": ("counts", "ArrayAgg"),
    "cas_tallies": ("tally_counts", "ArrayAppend"),
    "cas_tolerance": ("nearest", "method of Join"),  # ASOF
    "cas_sql_gain": ("scale", "decimals of Round"),
}
CENSUS = "data-samples/school_census_2018.parquet"
LATER = "data-samples/school_census_2019.parquet"
KNOWN = "TP_SEXO,NU_ANO,CO_MUNICIPIO_END"


def generated(n: int = 300, seed: int = 5) -> pa.Table:
    """People like those of the thesis' table."""
    draw = random.Random(seed)
    return pa.table(
        {
            "id": list(range(1, n + 1)),
            "age": [draw.choice([25, 49, 60, None]) for _ in range(n)],
            "gender": [draw.choice(["F", "M", None]) for _ in range(n)],
            "occupation": [draw.randint(1, 9) for _ in range(n)],
            "illness": [draw.choice(["no", "yes", None]) for _ in range(n)],
        }
    )


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("people") / "people.parquet"
    pq.write_table(generated(), file)
    return file


@pytest.fixture(autouse=True)
def _root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def planned(case: Any, people: Path, setting: Settings) -> tuple[list[Any], Placed | None]:
    """The rows of a golden plan, and where its steps ran."""
    spec = Attack.of(case.models, people, **case.options)
    with opened(spec, setting, command="attack") as (engine, bound):
        plan = case.plan(bound)
        rows = engine.rows(plan, "attacking", "people")
        placing = getattr(engine, "_placing", None)
        return sorted(rows, key=repr), placing and placing.placed(plan, "people")


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", CASES)
def test_a_golden_plan_gives_the_same_integers_on_spark(name: str, people: Path) -> None:
    expected, _ = planned(CASES[name], people, Settings(engine="duckdb"))
    with everything_on_spark():
        rows, placed = planned(CASES[name], people, SPARK)
    assert rows == expected
    assert placed is not None
    causes = {s: why for s, why in placed.reasons.items() if not why.startswith("it reads")}
    step, why = LEFT.get(name, ("", ""))
    assert {re.sub(r"(_\d)+$", "", name) for name in causes} == ({step} if step else set())
    assert all(why in cause for cause in causes.values())


@settings(max_examples=examples(8), phases=GENERATED)
@given(table=tables())
def test_random_tables_are_attacked_alike(table: Table, tmp_path_factory: Any) -> None:
    file = tmp_path_factory.mktemp("drawn") / "drawn.parquet"
    pq.write_table(to_arrow(table), file)
    with everything_on_spark():
        assert_equal(
            lambda s: qifsql.attack(
                "crs,cas", file, qids=table.qids, secret=table.secrets, settings=s
            )
        )


@pytest.mark.cases(2)
@pytest.mark.parametrize("seed", range(2))
def test_people_with_several_records_are_attacked_alike(seed: int, tmp_path: Path) -> None:
    """All records known and one record known; households; records without a person."""
    draw, records = random.Random(seed), 60
    columns = {
        "person": [draw.choice([None, *range(25)]) for _ in range(records)],
        "home": [draw.randrange(9) for _ in range(records)],
        "age": [draw.choice([None, 1, 2]) for _ in range(records)],
        "illness": [draw.choice([None, "no", "yes"]) for _ in range(records)],
    }
    file = tmp_path / "visits.parquet"
    pq.write_table(pa.table(columns), file)
    known: dict[str, Any] = {"qids": "age", "secret": "illness", "person": "person"}
    assert_equal(lambda s: qifsql.attack("crs,cas", file, household="home", settings=s, **known))
    assert_equal(lambda s: qifsql.inspect(file, show="blocks", settings=s, **known))


@pytest.mark.slow(because="9 s; the levels of the census are the same on Spark")
@settings(max_examples=examples(5), phases=GENERATED)
@given(table=tables())
def test_random_tables_have_the_same_levels(table: Table, tmp_path_factory: Any) -> None:
    file = tmp_path_factory.mktemp("drawn") / "drawn.parquet"
    pq.write_table(to_arrow(table), file)
    assert_equal(lambda s: qifsql.levels(file, qids=table.qids, secret=table.secrets, settings=s))


@pytest.mark.slow(because="19 s; golden plans of collections give the same integers")
@settings(max_examples=examples(5), phases=GENERATED)
@given(drawn=collections(most=3))
def test_random_collections_are_attacked_alike(drawn: Drawn, tmp_path_factory: Any) -> None:
    assume(not any(":" in name for name in drawn.secrets))  # these are written with a tag
    assume(len(drawn.tables) > 1 or not any(":" in name for name in drawn.written))  # so are these
    paths = drawn.write(tmp_path_factory.mktemp("drawn"))
    with everything_on_spark():
        assert_equal(
            lambda s: qifsql.attack(
                "crl,cal" if len(paths) > 1 else "crs,cas",
                list(paths),
                key=drawn.keys,
                qids=drawn.written,
                secret=drawn.secrets,
                settings=s,
            )
        )


CALLS: dict[str, Callable[[Settings], Any]] = {
    "gains": lambda s: qifsql.attack(
        "cas", CENSUS, qids=KNOWN, secret="NU_MES",
        gain=["tries:3", "tolerance:2", "sql:abs(guess - secret)"], settings=s,
    ),
    "measures": lambda s: qifsql.attack(
        "crs,cas", CENSUS, qids=KNOWN, secret="TP_COR_RACA", measures="all", histogram=True,
        thresholds=[0.5], quantiles=[0.5], settings=s,
    ),
    "target": lambda s: qifsql.attack(
        "irs,ias", CENSUS, target={"TP_SEXO": 1, "NU_ANO": 2005}, secret="TP_COR_RACA",
        key="ID_ALUNO", settings=s,
    ),
    "member": lambda s: qifsql.attack("cms", CENSUS, qids=KNOWN, member="m=NU_DIA>9", settings=s),
    "expressions": lambda s: qifsql.attack(
        "crs,cas", CENSUS, where="NU_MES > 2", secret="TP_COR_RACA", settings=s,
        qids="decade=NU_ANO//10,h=NU_MES/2,r=(NU_DIA/2)::INTEGER,z=NU_DIA/(NU_MES-3),NU_ANO:5",
    ),
    "collection": lambda s: qifsql.attack(
        "crl,cal", [CENSUS, LATER], key="ID_ALUNO", qids=KNOWN, secret="TP_ETAPA_ENSINO",
        absent="distinct", settings=s,
    ),
    "keyless": lambda s: qifsql.attack(
        "cal", [CENSUS, LATER], qids="CO_ENTIDADE", secret="TP_COR_RACA", settings=s,
        link="TP_SEXO,NU_ANO,CO_MUNICIPIO_NASC; CO_ENTIDADE:stay=0.9",
    ),
    "CSV": lambda s: qifsql.attack(
        "crs,cas", "data-samples/thesis_table_3_2.csv", qids="age", secret="illness", settings=s
    ),
    "levels": lambda s: qifsql.levels(CENSUS, qids=KNOWN, secret="TP_COR_RACA", settings=s),
    "describe": lambda s: qifsql.describe(CENSUS, settings=s),
    "blocks": lambda s: qifsql.inspect(CENSUS, qids=KNOWN, secret="TP_COR_RACA", settings=s),
    "hyper": lambda s: qifsql.inspect(
        CENSUS, show="hyper", qids=KNOWN, secret="TP_COR_RACA", settings=s
    ),
    "weights": lambda s: qifsql.attack(
        "crs,cas", CENSUS, qids=KNOWN, secret="TP_COR_RACA", weight="NU_MES / 7", by="TP_SEXO",
        settings=s,
    ),
    "what-if": lambda s: qifsql.compare(
        CENSUS, qids=KNOWN, secret="TP_COR_RACA", change=["NU_ANO:5"], settings=s
    ),
    "link": lambda s: qifsql.link(CENSUS, LATER, qids=KNOWN, truth="ID_ALUNO", settings=s),
    "compare": lambda s: qifsql.compare(
        CENSUS, [LATER], qids=KNOWN, secret="TP_COR_RACA", settings=s
    ),
    "compose": lambda s: qifsql.compose(
        [CENSUS, LATER], people=CENSUS, qids=KNOWN, secret="TP_COR_RACA", settings=s
    ),
}  # fmt: skip


@pytest.mark.cases(5)
@pytest.mark.parametrize("name", CALLS)
def test_a_command_gives_the_same_results_on_spark(name: str) -> None:
    assert_equal(CALLS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_command_gives_the_same_results_with_all_tables_on_spark(name: str) -> None:
    with everything_on_spark():
        assert_equal(CALLS[name])


def test_records_are_in_the_order_of_the_input(tmp_path: Path) -> None:
    (folder := tmp_path / "parts").mkdir()
    table = generated(100)
    pq.write_table(table.slice(0, 10), folder / "a.parquet")
    pq.write_table(table.slice(10), folder / "b.parquet")  # the larger one is read first
    for out, setting in (("here", Settings(engine="duckdb")), ("there", SPARK)):
        file = tmp_path / f"{out}.parquet"
        qifsql.inspect(
            folder, show="records", out=file, qids="age,gender", secret="illness", settings=setting
        )
    one, other = (pl.read_parquet(tmp_path / f"{n}.parquet") for n in ("here", "there"))
    assert one.equals(other)


def test_names_that_differ_only_in_case_are_two_columns(tmp_path: Path) -> None:
    file = tmp_path / "twins.parquet"
    pq.write_table(pa.table({"ID": [1, 1, 2], "id": [5, 6, 6]}), file)
    assert_equal(lambda s: qifsql.attack("crs,cas", file, qids="id", secret="ID", settings=s))


def test_the_sql_for_spark_runs_as_it_is(people: Path) -> None:
    from qifsql.engine.spark import session

    options: dict[str, Any] = {"qids": "age,gender", "secret": "illness"}
    text = qifsql.sql("crs,cas", people, language="spark", **options)
    spark = session(SPARK)
    code = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    rows = [spark.sql(part) for part in code.split(";") if part.strip()][-1].collect()
    frame = qifsql.attack("crs,cas", people, **options).frame
    assert [row.blocks for row in rows] == frame["blocks"].to_list()
    assert [row.singled_out for row in rows] == frame["singled_out"].to_list()
    for name in ("prior_probabilistic", "posterior_probabilistic", "posterior_deterministic"):
        assert [row[name] for row in rows] == frame[name].to_list()


def test_a_table_of_the_catalogue_and_a_session_of_the_user_are_used(people: Path) -> None:
    from qifsql.engine.spark import session

    own = session(SPARK)
    own.conf.set("spark.sql.ansi.enabled", "false")
    own.read.parquet(people.as_uri()).createOrReplaceGlobalTempView("people")
    expected = qifsql.attack("crs,cas", people, qids="age", secret="illness").frame
    with_session = Settings(session=own)
    result = qifsql.attack(
        "crs,cas", "spark:global_temp.people", qids="age", secret="illness", settings=with_session
    )
    assert result.frame.drop("seconds").equals(expected.drop("seconds"))
    note = manifest(result.origin)
    assert note["engine"] == "spark"
    assert "pyspark" in note["versions"]
    assert own.conf.get("spark.sql.ansi.enabled") == "false"  # it was not changed
    with pytest.raises(DatasetError, match="does not exist, or Spark cannot reach it"):
        qifsql.attack("crs", "spark:global_temp.nobody", qids="age", settings=SPARK)


def test_errors_show_no_cell_and_nothing_is_left(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "canary.parquet"
    pq.write_table(pa.table({"a": [2**62, 2**62], "b": ["canary", "x"]}), file)
    (temp := tmp_path / "temp").mkdir()
    limited = Settings(**{**vars(SPARK), "temp": temp})
    with pytest.raises(ExpressionError, match="too large for its type"):
        qifsql.attack("crs", file, qids="n=a*4", settings=limited)
    with pytest.raises(ExpressionError, match="may give other values on Spark"):
        qifsql.attack("crs", file, qids="n=regexp_extract(b, 'c')", settings=limited)
    assert "canary" not in "".join(capfd.readouterr())
    qifsql.attack("crs", file, qids="a", settings=limited)
    kept = list(temp.rglob("*.parquet"))
    assert not kept


# Options


@pytest.mark.cases(6)  # the last one starts another Spark
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "oracle"}, "is not an engine; use duckdb or spark"),
        ({"engine": "duckdb", "master": "local"}, "master is about Spark"),
        ({"engine": "spark", "master": "nowhere"}, "not the address of a Spark cluster"),
        ({"engine": "spark", "spark_conf": ("a",)}, "is not KEY=VALUE"),
        ({"engine": "spark", "spark_conf": ("spark.sql.ansi.enabled=false",)}, "cannot be changed"),
        ({"engine": "spark", "memory": "100MB"}, "too little for Spark"),
        ({"engine": "spark", "master": "local[2]", "temp": "nofs://x/y"}, "cannot be used"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        qifsql.attack("crs", CENSUS, qids="NU_ANO", settings=Settings(**options))


def test_commands_that_do_not_run_on_spark_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"runs on DuckDB alone.*attack, check"):
        qifsql.unicity(CENSUS, qids="NU_ANO", person="ID_ALUNO", settings=SPARK)
    with pytest.raises(InputError, match="a store is a file of DuckDB"):
        qifsql.attack("crs", CENSUS, qids="NU_ANO", store=tmp_path / "s.duckdb", settings=SPARK)
    assert "attack" in ON_SPARK


def test_the_environment_chooses_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIFSQL_ENGINE", "spark")
    assert Settings().engine_name == "spark"
    assert Settings(engine="duckdb").engine_name == "duckdb"
    monkeypatch.setenv("QIFSQL_ENGINE", "sparc")
    with pytest.raises(InputError, match="QIFSQL_ENGINE=sparc is not an engine"):
        assert Settings().engine_name


def test_a_remote_file_needs_spark() -> None:
    with pytest.raises(
        DatasetError, match=r'never uses the network; settings\.engine="spark" reads it'
    ):
        qifsql.attack("crs", "s3a://bucket/people", qids="age")


@pytest.fixture
def _no_session(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from qifsql.engine import spark

    monkeypatch.setattr(spark, "_PROCESS", spark.Process())
    return


@pytest.mark.usefixtures("_no_session")
def test_a_missing_java_and_a_missing_package_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match="Spark needs Java 17 or newer"):
        qifsql.attack("crs", CENSUS, qids="NU_ANO", settings=SPARK)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match=re.escape(installation.command("spark"))):
        qifsql.attack("crs", CENSUS, qids="NU_ANO", settings=SPARK)


def test_the_command_line_runs_on_spark_and_says_nothing_else(tmp_path: Path) -> None:
    arguments = ["attack", "crs", CENSUS, "-q", "TP_SEXO,NU_ANO", "-f", "csv", "--no-progress"]
    spark = ["--engine", "spark", "--master", "local[1]", "--temp", str(tmp_path)]
    conf = ["--spark-conf", "spark.sql.shuffle.partitions=2"]
    run = [sys.executable, "-m", "qifsql", *arguments, *spark, *conf]
    done = subprocess.run(
        run, cwd=ROOT, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert "113" in done.stdout  # blocks, as in the documentation of the attack
    assert not done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_executors_that_do_not_start_are_an_error_of_the_engine() -> None:
    wrong = Settings(engine="spark", master="local[2]", spark_conf=("spark.driver.port=abc",))
    code = (
        "import qifsql\nfrom qifsql import Settings\n"
        f"qifsql.attack('crs', {CENSUS!r}, qids='NU_ANO', settings=Settings(engine='spark', "
        f"master='local[2]', spark_conf={wrong.spark_conf!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
        check=False, timeout=PATIENCE, env={**os.environ},
    )  # fmt: skip
    assert EngineError.__name__ in done.stderr
    assert "Spark does not start" in done.stderr
