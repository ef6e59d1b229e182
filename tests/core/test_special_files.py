"""Pipes, devices and names that cannot be used are refused at once, wherever a file is named."""

import os
from collections.abc import Iterator, Sequence
from contextlib import chdir
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path

import pytest
from effort import PATIENCE
from terminal import Done, run

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
    "hierarchy of dit": ("dit", *KNOWN, "--k", "2", "--hierarchy", "FILE"),
    "register": ("link", "data.csv", "FILE", "-q", "age"),
    "candidates": ("unhash", *HASHED, "--candidates", "FILE"),
    "report": ("report", "FILE", "-o", "out.html"),
}
ENDINGS = {"store": ".duckdb", "baseline": ".json", "report": ".json", "candidates": ".txt"}
TOML = ("policy", "study")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("age,sex\n25,f\n60,m\n")
    Path("policy.toml").write_text(POLICY)


@pytest.fixture(scope="module")
def aside() -> Iterator[Pool]:
    """A process for all lines that could wait for ever."""
    with get_context("spawn").Pool(1) as pool:  # in the end it is terminated
        yield pool


def done_in(folder: Path, words: Sequence[str]) -> Done:
    """Run a command line in a folder."""
    with chdir(folder):
        return run(*words)


@pytest.mark.cases(12)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["pipe", "device", "loop", "long"])
def test_what_is_no_usable_file_is_refused_at_once(place: str, kind: str, aside: Pool) -> None:
    name = "special" + ENDINGS.get(place, ".toml" if place in TOML else ".csv")
    if kind == "pipe":
        os.mkfifo(name)
    elif kind == "device":
        Path(name).symlink_to("/dev/zero")
    elif kind == "loop":
        Path(name).symlink_to(name)
    else:
        name = "x" * 300 + name
    words = [word.replace("FILE", name) for word in PLACES[place]]
    if kind in ("loop", "long"):  # which end at once, if anything does
        done = run(*words)
    else:
        done = aside.apply_async(done_in, (Path.cwd(), words)).get(PATIENCE)
    assert (done.code, done.out) == (2, ""), done.err
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
def test_a_pipe_in_a_folder_is_not_part_of_it() -> None:
    Path("folder").mkdir()
    os.mkfifo("folder/part.parquet")
    assert "has no Parquet files" in run("describe", "folder").err
