"""Compiled code is kept in a folder of the user's own, and damage to it is no error."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from effort import PATIENCE
from places import SAMPLES

pytest.importorskip("numba", reason="needs qifsql[fast]")

PROGRAM = """
from qifsql.commands.sweep.code_cache import compiled, folder
@compiled
def doubled(n):
    return 2 * n
print(doubled(21), folder() is not None)
"""


def doubled(tmp_path: Path, **environment: str) -> str:
    """Run a program with one compiled function in a process of its own."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, program], env=os.environ | environment, capture_output=True, text=True,
        timeout=PATIENCE, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def code(cache: Path, ending: str) -> list[Path]:
    return list(cache.rglob(f"*.{ending}"))


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.slow(because="8 s; every recorded mutant dies without it")
@pytest.mark.cases(2)
@pytest.mark.parametrize("damage", [emptied, cut, flipped])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_code_is_compiled_again(
    tmp_path: Path, damage: Callable[[Path], None], ending: str
) -> None:
    place = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": ""}
    assert doubled(tmp_path, **place) == "42 True"
    (file,) = code(tmp_path / "cache", ending)
    before = file.read_bytes()
    damage(file)
    assert doubled(tmp_path, **place) == "42 True"
    assert len(code(tmp_path / "cache", ending)[0].read_bytes()) == len(before)


@pytest.mark.slow(because="6 s; every recorded mutant dies without it")
@pytest.mark.cases(1)
def test_a_folder_that_others_can_write_is_left_alone(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    planted.chmod(0o777)
    cache = tmp_path / "cache"
    place = {"NUMBA_CACHE_DIR": str(planted), "XDG_CACHE_HOME": str(cache)}
    assert doubled(tmp_path, **place) == "42 True"
    assert list(planted.iterdir()) == []
    assert code(cache, "nbc")
    (cache / "qifsql").chmod(0o777)
    assert doubled(tmp_path, **place) == "42 False"
    (cache / "qifsql").chmod(0o700)
    code(cache, "nbc")[0].chmod(0o666)
    assert doubled(tmp_path, **place) == "42 False"


@pytest.mark.cases(1)
def test_without_any_folder_the_code_is_compiled_for_one_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "home")
    place = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": nowhere, "HOME": nowhere}
    assert doubled(tmp_path, **place) == "42 False"


@pytest.mark.slow(because="the walk is compiled anew; a function of one line is in the others")
def test_a_sweep_without_a_folder_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "home")
    done = subprocess.run(
        [sys.executable, "-m", "qifsql", "sweep", SAMPLES / "school_census_2018.parquet",
         "-q", "TP_SEXO,NU_MES,NU_ANO", "--walk", "compiled", "--temp", tmp_path],
        env=os.environ | {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": nowhere, "HOME": nowhere},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "compiled for this run alone" in done.stderr
