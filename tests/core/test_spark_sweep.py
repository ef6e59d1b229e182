"""A sweep on the executors of Spark gives DuckDB's numbers, and a lost executor changes nothing."""

import random
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from places import ROOT
from spark_session import GENERATED, MARKS, SPARK, assert_equal, everything_on_spark
from strategies import Table, tables, to_arrow

import qifsql
from qifsql.commands.sweep import cluster, executors
from qifsql.commands.sweep import tables as coded_tables
from qifsql.commands.sweep.executors import Job, chunk_sums
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.plan import Task
from qifsql.commands.sweep.spec import Sizes
from qifsql.engine import distributed
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, EngineError, InputError, Interrupted

pytestmark = list(MARKS)
CENSUS = "data-samples/school_census_2018.parquet"
KNOWN = "NU_DIA,NU_MES,NU_ANO,TP_SEXO"
DUCKDB = Settings(engine="duckdb")


@pytest.fixture(autouse=True)
def _root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every table is on the executors, in several chunks, and frequent values are split off."""
    monkeypatch.setattr(coded_tables, "CHUNK_ROWS", 40)
    monkeypatch.setattr(cluster, "GIANT_CHUNKS", 2)
    monkeypatch.setattr(cluster, "CHUNKS_PER_WORKER", 1)
    monkeypatch.setattr(coded_tables, "LEAST_ROWS", 20)
    with everything_on_spark():
        yield


def drawn(n: int, seed: int = 7) -> pa.Table:
    """People with a few frequent values, and a secret of many values."""
    draw = random.Random(seed)
    return pa.table(
        {
            "place": [None if draw.random() < 0.4 else draw.randint(1, 60) for _ in range(n)],
            "age": [draw.randint(0, 12) for _ in range(n)],
            "sex": [draw.choice("FM") for _ in range(n)],
            "zone": [draw.choice([1, 1, 1, 2]) for _ in range(n)],
            "ill": [draw.choice(["no", "no", "yes", None]) for _ in range(n)],
            "code": [draw.randint(0, 25) for _ in range(n)],
        }
    )


@pytest.mark.slow(because="30 s; the bundled census is swept alike")
@settings(max_examples=examples(2), phases=GENERATED)
@given(table=tables())
def test_random_tables_are_swept_alike(table: Table, tmp_path_factory: Any) -> None:
    file = tmp_path_factory.mktemp("drawn") / "drawn.parquet"
    pq.write_table(to_arrow(table), file)
    with everything_on_spark():
        assert_equal(
            lambda s: qifsql.sweep(file, qids=table.qids, secret=table.secrets, settings=s)
        )


@pytest.mark.slow(because="60 s; the bundled census is swept alike")
@pytest.mark.usefixtures("_small_chunks")
def test_chunks_and_frequent_values_are_added_up(tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    pq.write_table(drawn(250), file)
    sources: set[str] = set()
    before = cluster.ClusterPass.drop_tables

    def sweep_up(self: Any) -> None:
        sources.update(self.table_names())
        before(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster.ClusterPass, "drop_tables", sweep_up)
        assert_equal(
            lambda s: qifsql.sweep(
                file,
                qids="place,age,sex",
                secret="ill,code",
                histogram=True,
                threshold=0.4,
                settings=s,
            )
        )
    of_values = {name for name in sources if name.rpartition("_")[2].isdigit()} - {
        "coded_0", "coded_1"
    }  # fmt: skip
    assert of_values  # some value had too many rows for a chunk


@pytest.mark.slow(because="29 s each; the bundled census is swept alike")
@pytest.mark.usefixtures("_small_chunks")
@pytest.mark.parametrize(
    "options",
    [
        {"subsets": ["place+sex", "zone", "zone+sex"], "histogram": True},
        {"search": True, "threshold": 0.3},
        {"sizes": "2-3", "null": "drop"},
        {"where": "age > 3", "sizes": 1, "weight": "zone"},
    ],
)
def test_other_kinds_of_sweeps_are_equal(options: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    pq.write_table(drawn(300), file)
    assert_equal(
        lambda s: qifsql.sweep(file, qids="place,sex,zone", secret="ill", settings=s, **options)
    )


@pytest.mark.slow(because="60 s; sweeps of DuckDB have these numbers, and Spark those of attacks")
def test_suppressed_records_and_missing_secrets_are_swept_alike(tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    cells = {"a": ["x", "x", "y", "*", "*"] * 4, "b": ["u", "v", "*", "*"] * 5}
    pq.write_table(pa.table(cells | {"s": ["p", None, "q", None] * 5}), file)
    with everything_on_spark():
        assert_equal(lambda s: qifsql.sweep(file, qids="a,b", secret="s", settings=s))


def test_the_bundled_census_is_swept_alike() -> None:
    """DuckDB on the driver finishes tables of few rows: first all of them, then the later ones."""
    for small, qids in ((100_000, "TP_SEXO,NU_ANO"), (3_000, KNOWN)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(distributed, "ROWS_HERE", small)
            assert_equal(
                lambda s, known=qids: qifsql.sweep(
                    CENSUS, qids=known, secret="TP_COR_RACA", settings=s
                )
            )


@pytest.mark.slow(because="25 s; sweeps without Spark go on in the same way")
def test_an_interrupted_sweep_goes_on_from_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coded_tables, "CHUNK_ROWS", 2000)
    workspace = tmp_path / "census.sweep"
    done: list[int] = []
    before = cluster.ClusterPass._do_on_executors

    def interrupted(self: Any, task: Task) -> None:
        if len(done) == 5:
            raise KeyboardInterrupt
        before(self, task)
        done.append(task.number)

    options: dict[str, Any] = {"qids": KNOWN, "secret": "TP_COR_RACA", "workspace": workspace}
    with everything_on_spark():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cluster.ClusterPass, "_do_on_executors", interrupted)
            with pytest.raises(Interrupted, match=r"what is done is kept in .*census\.sweep"):
                qifsql.sweep(CENSUS, settings=SPARK, **options)
        (folder,) = tmp_path.glob("census.sweep.*.coded")
        assert folder.stat().st_mode & 0o777 == 0o700
        again: list[int] = []

        def counted(self: Any, task: Task) -> None:
            again.append(task.number)
            before(self, task)

        monkeypatch.setattr(cluster.ClusterPass, "_do_on_executors", counted)
        with pytest.raises(InputError, match="another sweep: cluster differ"):
            qifsql.sweep(CENSUS, settings=DUCKDB, **options)
        resumed = qifsql.sweep(CENSUS, settings=SPARK, **options)
    assert again
    assert not set(done) & set(again)
    assert [path.name for path in tmp_path.iterdir()] == ["census.sweep"]
    alone = qifsql.sweep(CENSUS, qids=KNOWN, secret="TP_COR_RACA", settings=DUCKDB)
    assert resumed.frame.drop("seconds").equals(alone.frame.drop("seconds"))


@pytest.mark.slow(because="9 s; test_spark.py sees that nothing is left")
def test_nothing_is_left_without_a_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"qids": "NU_DIA,TP_SEXO", "workspace": tmp_path / "census.sweep"}
    with everything_on_spark():
        qifsql.sweep(CENSUS, settings=SPARK, keep=False, search=True, threshold=0.5, **options)
        assert not list(tmp_path.iterdir())

        def interrupted(*_arguments: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(cluster.ClusterTables, "store", interrupted)
        with pytest.raises(Interrupted, match="nothing was left behind"):
            qifsql.sweep(CENSUS, settings=SPARK, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow(because="10 s; lost tasks are told in test_damage.py")
def test_lost_tables_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "census.sweep"
    options: dict[str, Any] = {"qids": "NU_DIA,TP_SEXO", "workspace": workspace}

    def interrupted(_self: Any, _task: Task) -> None:
        raise KeyboardInterrupt

    with everything_on_spark():
        with monkeypatch.context() as patch:
            patch.setattr(cluster.ClusterPass, "_do_on_executors", interrupted)
            with pytest.raises(Interrupted):
                qifsql.sweep(CENSUS, settings=SPARK, **options)
        (folder,) = tmp_path.glob("*.coded")
        (folder / "coded_0" / "_SUCCESS").unlink()
        with pytest.raises(DatasetError, match="start over with restart"):
            qifsql.sweep(CENSUS, settings=SPARK, **options)
        qifsql.sweep(CENSUS, settings=SPARK, restart=True, **options)
    assert not list(tmp_path.glob("*.coded"))


def test_a_table_of_the_catalogue_that_changed_is_noticed(tmp_path: Path) -> None:
    from qifsql.engine.spark import session

    own = session(SPARK)
    file, workspace = tmp_path / "people.parquet", tmp_path / "people.sweep"

    def write(seed: int) -> None:
        pq.write_table(drawn(200, seed), file)
        own.read.parquet(file.as_uri()).createOrReplaceGlobalTempView("swept")

    options: dict[str, Any] = {"qids": "place,sex", "secret": "ill", "settings": SPARK}
    write(1)
    result = qifsql.sweep("spark:global_temp.swept", workspace=workspace, **options)
    alone = qifsql.sweep(file, **{**options, "settings": DUCKDB})
    assert result.frame.drop("seconds").equals(alone.frame.drop("seconds"))
    write(2)
    with pytest.raises(InputError, match="another sweep: cluster differ"):
        qifsql.sweep("spark:global_temp.swept", workspace=workspace, **options)


STUDY = """
[datasets.people]
path = "people.parquet"
qids = ["place", "sex"]
secret = ["ill"]

[[attack]]
name = "all"
model = ["crs", "cas"]

[[sweep]]
name = "subsets"
"""


@pytest.mark.slow(because="13 s; its commands run on Spark in test_spark.py")
def test_a_study_runs_on_spark(tmp_path: Path) -> None:
    results = []
    for name, setting in (("there", SPARK), ("here", DUCKDB)):
        folder = tmp_path / name
        folder.mkdir()
        pq.write_table(drawn(200), folder / "people.parquet")
        (folder / "study.toml").write_text(STUDY)
        results.append(qifsql.run(folder / "study.toml", settings=setting).results)
    there, here = results
    assert there.keys() == here.keys() == {"all", "subsets"}
    for name, result in here.items():
        assert result.frame.drop("seconds").equals(there[name].frame.drop("seconds"))
        assert there[name].origin.engine == "spark"


@pytest.mark.slow
def test_two_hundred_thousand_people_are_swept_alike(tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    pq.write_table(drawn(200_000), file)
    with everything_on_spark():
        assert_equal(
            lambda s: qifsql.sweep(file, qids="place,age,sex,zone,code", secret="ill", settings=s)
        )


KILLED = """
    import os, signal, subprocess, sys
    import qifsql
    from qifsql.commands.sweep import tables
    from qifsql.engine import distributed
    from qifsql.engine.settings import Settings

    if __name__ == "__main__":
        file, temp, out = sys.argv[1:]
        distributed.ROWS_HERE, tables.LEAST_ROWS = -1, 2000
        lost = []

        def executors():
            command = ["pgrep", "-P", str(os.getpid()), "-f", "java"]
            (driver,) = subprocess.run(command, capture_output=True, text=True).stdout.split()
            command = ["pgrep", "-P", driver, "-f", "CoarseGrainedExecutorBackend"]
            return subprocess.run(command, capture_output=True, text=True).stdout.split()

        def progress(what, share, detail=""):
            if what == "sweeping" and share > 0.2 and not lost and len(executors()) == 2:
                lost.append(executors()[0])
                os.kill(int(lost[0]), signal.SIGKILL)

        settings = Settings(
            engine="spark", master="local-cluster[2,1,1024]", temp=f"file://{temp}",
            progress=progress, spark_conf=("spark.sql.shuffle.partitions=2",),
        )
        result = qifsql.sweep(file, qids="%s", secret="TP_COR_RACA", settings=settings)
        assert lost, "no executor was killed"
        result.frame.write_parquet(out)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="executors are found with pgrep")
def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path) -> None:
    script, out, temp = tmp_path / "killed.py", tmp_path / "out.parquet", tmp_path / "temp"
    temp.mkdir()
    script.write_text(textwrap.dedent(KILLED) % KNOWN)
    arguments = [str(ROOT / CENSUS), str(temp), str(out)]
    process = subprocess.run(
        [sys.executable, str(script), *arguments], check=False, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    alone = qifsql.sweep(CENSUS, qids=KNOWN, secret="TP_COR_RACA", settings=DUCKDB)
    assert pl.read_parquet(out).drop("seconds").equals(alone.frame.drop("seconds"))
    assert not list(temp.iterdir())


def test_what_does_not_run_there_is_refused() -> None:
    with pytest.raises(InputError, match="a sample is drawn on one machine"):
        qifsql.sweep(CENSUS, qids=KNOWN, sample=0.5, settings=SPARK)


def test_executors_with_other_versions_are_refused() -> None:
    layout = Layout((0,), (2,), (False,), 3, {})
    task = Task(0, 0, "walk", "coded_0", 0, 0, 0, 0, 2)
    job = Job(layout, Sizes(1, 1, 1), task, sweep="", may_roll=True, memory="200MiB")
    people = pa.table({"entry": pa.array([0, 1], pa.int32()), "people": [1, 2]})
    columns = chunk_sums(job, people).to_pydict()
    assert columns["people"] == [1, 2, None] or columns["people"] == [2, 1, None]
    assert columns["state"][2] is None
    assert columns["seconds"][2] > 0
    with pytest.raises(EngineError, match="install the same versions on all machines"):
        chunk_sums(replace(job, versions=("0.0", executors.VERSIONS[1])), people)
