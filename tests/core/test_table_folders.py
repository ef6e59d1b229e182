"""A table of a lake (Delta, Iceberg, Hudi) is refused however its files are named: its folder also
holds records that were deleted or replaced."""

from pathlib import Path

import polars as pl
import pytest
from terminal import run

MARKS = {
    "Delta": "_delta_log/00000000000000000000.json",
    "Iceberg": "metadata/v1.metadata.json",
    "Iceberg, packed": "metadata/00001-9f.gz.metadata.json",
    "Hudi": ".hoodie/hoodie.properties",
}
WAYS = (
    "lake/people",
    "lake",
    "lake/people/data",
    "lake/people/data/year=2018",
    "lake/people/data/year=*/*.parquet",
    "lake/**/*.parquet",
    "lake/people/data/year=2018/part-0.parquet",
    "link",
    "link-to-part.parquet",
)


@pytest.fixture(params=MARKS)
def kind(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A table with partitions and a stale copy of a file, in the current folder."""
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "lake" / "people" / MARKS[request.param]
    mark.parent.mkdir(parents=True)
    mark.write_text("{}")
    part = tmp_path / "lake" / "people" / "data" / "year=2018"
    part.mkdir(parents=True)
    for name in ("part-0", "part-1"):
        pl.DataFrame({"age": [25, 60], "sex": ["f", "m"]}).write_parquet(part / f"{name}.parquet")
    Path("link").symlink_to(part)
    Path("link-to-part.parquet").symlink_to(part / "part-0.parquet")
    pl.DataFrame({"age": [25, 60], "sex": ["f", "m"]}).write_parquet("plain.parquet")
    return str(request.param).partition(",")[0]


def refused(kind: str, *arguments: str) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (2, ""), arguments
    assert f"{kind} table" in done.err, arguments
    assert "export" in done.err, arguments


@pytest.mark.cases(8)
@pytest.mark.parametrize("source", WAYS)
def test_a_table_is_refused_however_it_is_named(kind: str, source: str) -> None:
    refused(kind, "attack", "crs", source, "-q", "age")


@pytest.mark.cases(2)
def test_a_table_is_refused_by_every_command_that_takes_data(kind: str) -> None:
    table = "lake/people"
    Path("policy.toml").write_text(
        '[adversary]\nqids = ["age"]\n[[rule]]\nmodel = "crs"\nat_most = 1\n'
    )
    Path("study.toml").write_text(f'[datasets]\nd = "{table}"\n')
    for arguments in (
        ("sweep", table, "-q", "age,sex"),
        ("levels", table, "-q", "age", "-s", "sex"),
        ("describe", table),
        ("check", table, "--policy", "policy.toml"),
        ("anonymise", table, "-q", "age", "--k", "2", "--method", "mondrian", "-o", "a.parquet"),
        ("attack", "crs", "plain.parquet", "-q", "age", "--population", table),
        ("link", "plain.parquet", table, "-q", "age"),
        ("run", "study.toml"),
        ("init", "new.toml", "--data", table),
    ):
        refused(kind, *arguments)


@pytest.mark.cases(1)
def test_files_beside_a_table_are_read(kind: str) -> None:
    assert kind
    assert run("attack", "crs", "plain.parquet", "-q", "age").code == 0
    assert run("attack", "crs", "*.csv", "-q", "age").code == 2
    Path("lake/people/data/list.csv").write_text("age\n25\n")
    assert run("attack", "crs", "lake/people/data/list.csv", "-q", "age").code == 0
