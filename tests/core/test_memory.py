"""The memory of whole processes: what ``--memory`` covers, and how much comes besides."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

ROWS = 1_000_000
LIMIT = 300_000_000
BESIDES = 150_000_000  # bytes that Python, the libraries, readers and writers take
QIDS = "day,month,year,sex,race,city"

LINES = (
    f"attack crs,cas people.parquet -q {QIDS} -s transport",
    f"sweep people.parquet -q {QIDS} -s transport -o sweep.parquet",
    f"levels people.parquet -q {QIDS} -s transport",
    f"inspect --show records people.csv -q {QIDS} -o records.csv",
    "anonymise people.csv -o treated.csv --one-per id --seed 1",
    f"anonymise people.csv -o anonymous.csv --method mondrian --k 5 -q {QIDS}",
    f"anonymise people.parquet -o anonymous.parquet --method mondrian --k 5 -q {QIDS}",
    f"suda people.parquet -q {QIDS}",
    f"attack crs,cas people.parquet -q {QIDS} -s transport --knows day:+-1",
    f"compare people.parquet anonymous.parquet -q {QIDS}",
)


WATCH = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""  # a small process: a new process counts the memory of the one that it was forked from


def peak(line: str, folder: Path) -> int:
    """Return the peak memory of a command's process, in bytes."""
    words = [sys.executable, "-m", "qifsql", *line.split(), "--memory", "300MB", "--quiet"]
    watch = [sys.executable, "-c", WATCH, *words]
    done = subprocess.run(watch, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    code, most = map(int, done.stdout.split())
    assert code == 0, line
    return most


@pytest.mark.slow
def test_no_command_takes_more_than_150_mb_besides_its_limit(tmp_path: Path) -> None:
    i = pl.int_range(ROWS, dtype=pl.Int64)
    lots = {"day": 31, "month": 12, "year": 25, "sex": 2, "race": 6, "city": 5_570, "transport": 2}
    people = pl.select(i.alias("id"), *(i.hash(n).mod(n).alias(name) for name, n in lots.items()))
    people.write_parquet(tmp_path / "people.parquet")
    people.write_csv(tmp_path / "people.csv")
    peaks = {line: peak(line, tmp_path) for line in LINES}
    assert {line: n for line, n in peaks.items() if n > LIMIT + BESIDES} == {}
