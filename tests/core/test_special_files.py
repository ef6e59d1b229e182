"""Pipes, devices and names that cannot be used are refused at once, wherever a file is named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from effort import PATIENCE
from terminal import run

POLICY = """
[adversary]
qids = ["age"]
[[rule]]
model = "crs"
measure = "worst_case"
at_most = 1
"""
KNOWN = ("data.csv", "-q", "age", "-s", "sex")
HASHED = ("data.csv", "--column", "sex", "--hash", "md5")
PLACES = {
    "attack": ("attack", "crs", "FILE", "-q", "age"),
    "population": ("attack", "crs", "data.csv", "-q", "age", "--population", "FILE"),
    "prior": ("attack", "cas", *KNOWN, "--prior", "FILE"),
    "gain": ("attack", "cas", *KNOWN, "--gain", "worth:FILE"),
    "store": ("attack", "crs", "data.csv", "-q", "age", "--store", "FILE"),
    "describe": ("describe", "FILE"),
    "policy": ("check", "data.csv", "--policy", "FILE"),
    "baseline": ("check", "data.csv", "--policy", "policy.toml", "--baseline", "FILE"),
    "study": ("run", "FILE"),
    "data of a study": ("init", "new.toml", "--data", "FILE"),
    "hierarchy": ("levels", *KNOWN, "--hierarchy", "sex=FILE"),
    "hierarchy of dit": (
        "dit",
        "data.csv",
        "-q",
        "age",
        "-s",
        "sex",
        "--k",
        "2",
        "--hierarchy",
        "FILE",
    ),
    "register": ("link", "data.csv", "FILE", "-q", "age"),
    "candidates": (
        "unhash",
        "data.csv",
        "--column",
        "sex",
        "--hash",
        "md5",
        "--candidates",
        "FILE",
    ),
    "report": ("report", "FILE", "-o", "out.html"),
}
ENDINGS = {"store": ".duckdb", "baseline": ".json", "report": ".json", "candidates": ".txt"}
TOML = ("policy", "study")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("age,sex\n25,f\n60,m\n")
    Path("policy.toml").write_text(POLICY)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["pipe", "device", "loop", "long"])
def test_what_is_no_usable_file_is_refused_at_once(place: str, kind: str) -> None:
    name = "special" + ENDINGS.get(place, ".toml" if place in TOML else ".csv")
    if kind == "pipe":
        os.mkfifo(name)
    elif kind == "device":
        Path(name).symlink_to("/dev/zero")
    elif kind == "loop":
        Path(name).symlink_to(name)
    else:
        name = "x" * 300 + name
    arguments = [word.replace("FILE", name) for word in PLACES[place]]
    if kind in ("loop", "long"):  # which end at once, if anything does
        done_here = run(*arguments)
        assert (done_here.code, done_here.out) == (2, "")
        assert done_here.err.startswith("error: ")
        return
    code = "import sys; from qifsql.app import entry; sys.argv[0] = 'qifsql'; entry()"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(os.fsencode, arguments)],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == b""
    assert done.stderr.startswith(b"error: ")
    assert b"Traceback" not in done.stderr


def test_a_pipe_in_a_folder_is_not_part_of_it() -> None:
    Path("folder").mkdir()
    os.mkfifo("folder/part.parquet")
    assert "has no Parquet files" in run("describe", "folder").err
