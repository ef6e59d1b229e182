"""Names of columns with signs of their own, and options that are about other models."""

import json
from pathlib import Path

import polars as pl
import pytest
from terminal import run

SIGNS = ["a=b", "c:d", "e;f", "g,h", 'i"j', "k l=m", "n=o=p"]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture
def release(tmp_path: Path) -> Path:
    path = tmp_path / "release.parquet"
    columns = {name: [f"v{i}", f"v{i}", "w=1"] for i, name in enumerate(SIGNS)}
    pl.DataFrame(columns | {"s": ["x", "y", "x"], "in": [True, True, False]}).write_parquet(path)
    return path


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
@pytest.mark.parametrize("name", SIGNS)
def test_a_name_in_double_quotes_names_a_column_whatever_its_signs(
    release: Path, name: str
) -> None:
    asked = ["--format", "json", "--quiet"]
    one = ["attack", "irs", release, "--qids", quoted(name)]
    for target in (f"{quoted(name)}=w=1", f"{name}=w=1"):
        done = run(*one, "--target", target, *asked)
        assert done.code == 0, done.err
        (row,) = json.loads(done.out)["results"]
        assert (row["qids"], row["matches"]) == ([name], 1)
    plain = json.loads(run(*one, "--target", f"{quoted(name)} is null", *asked).out or "{}")
    assert not plain.get("results", [{}])[0].get("matches")
    every = ["attack", "cas", release, "--qids", quoted(name), "--secret", "s"]
    for group in {quoted(name), name}:
        done = run(*every, "--by", group, *asked)
        assert done.code == 0, done.err
        assert {row["by"] for row in json.loads(done.out)["groups"]} == {name}


def test_a_flag_of_membership_is_refused_by_other_models(release: Path) -> None:
    asked = [release, "--qids", "s", "--format", "json"]
    for flag in ("nosuch", "in"):
        done = run("attack", "crs", *asked, "--member", flag)
        assert done.code == 2
        assert "models of membership" in done.err
    assert run("attack", "cms", *asked, "--member", "in").code == 0
    assert run("attack", "cms", *asked, "--member", "nosuch").code == 2
