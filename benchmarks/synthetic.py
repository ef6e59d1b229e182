"""A large original, its synthetic release and a control, and what measuring the release takes.

    python benchmarks/synthetic.py [RECORDS] [--memory 4GB] [--part NAME]... [--folder DIR]

Draws people of one population with eight quasi-identifiers and a secret of eight values that
depends on some of them: as many for the original as for the control. The release has a tenth of the
records of the original, and otherwise new people. Each part is a process of its own; prints its
seconds, its seconds of processor time, its peak memory, and the load of the machine before it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

import duckdb

QIDS = "birth_year,birth_month,sex,race,municipality,stage,area,siblings"
PEOPLE = """
COPY (
    SELECT
        (2000 + hash(id, 1) % 12)::SMALLINT AS birth_year,
        (1 + hash(id, 2) % 12)::TINYINT AS birth_month,
        (hash(id, 3) % 2)::TINYINT AS sex,
        (hash(id, 4) % 1000)::INTEGER AS draw,
        CASE WHEN draw < 480 THEN 1 WHEN draw < 880 THEN 2 WHEN draw < 990 THEN 3 ELSE 4 END
            ::TINYINT AS race,
        (power(1 + hash(id, 5) % 100000, 0.6))::SMALLINT AS municipality,
        (2012 - birth_year + hash(id, 6) % 3)::TINYINT AS stage,
        (municipality % 7 = 0)::TINYINT AS area,
        least(hash(id, 7) % 4 + hash(id, 8) % 4, 5)::TINYINT AS siblings,
        CASE WHEN hash(id, 9) % 3 = 0 THEN hash(id, 10) % 8 ELSE (municipality + stage) % 8 END
            ::TINYINT AS secret
    FROM (
        SELECT CASE WHEN $copied AND id % 10 = 0 THEN id ELSE id + $first END AS id
        FROM range($records) AS people(id)
    ) AS population
    ORDER BY hash(id, 11)
) TO $file (FORMAT parquet, COMPRESSION zstd)
"""
COMMON = ["--qids", QIDS, "--seed", "1"]
SECRET = ["--secret", "secret"]
PARTS = {
    "one release, one secret": SECRET,
    "with a control": [*SECRET, "--control"],
    "with --questions --split": [
        *SECRET,
        "--control",
        "--questions",
        "--split",
        "municipality,area",
    ],
    "with all of them, --attempts 10000, --links 500": [
        *(*SECRET, "--control", "--questions", "--split", "municipality,area"),
        *("--attempts", "10000", "--links", "500"),
    ],
    "with --distances 100": [*SECRET, "--control", "--distances", "100"],
    "--sweep, 255 subsets": [*SECRET, "--sweep"],
}


def files(records: int, folder: Path) -> dict[str, Path]:
    """Return the files of the original, the release and the control."""
    connection = duckdb.connect(config={"preserve_insertion_order": False, "memory_limit": "4GB"})
    places = {"original": 0, "release": 1, "control": 2}
    paths = {name: folder / f"{name}.parquet" for name in places}
    for name, place in places.items():
        values = {"copied": str(name == "release"), "first": str(place * records * 10)}
        values |= {"records": str(records), "file": f"'{paths[name]}'"}
        query = PEOPLE
        for placeholder, value in values.items():
            query = query.replace(f"${placeholder}", value)
        connection.execute(query)
    return paths


def measure(paths: dict[str, Path], options: list[str], memory: str, folder: Path) -> None:
    """Run ``qifsql synthetic`` in a process of its own; print what it took."""
    words = [w if w != "--control" else f"--control={paths['control']}" for w in options]
    command = [sys.executable, "-m", "qifsql", "synthetic", str(paths["original"])]
    command += [str(paths["release"]), *COMMON, *words, "--memory", memory, "--quiet"]
    command += ["--temp", str(folder), "-o", str(folder / "result.csv")]
    load, began = os.getloadavg()[0], time.perf_counter()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(process.returncode)
    seconds, busy = time.perf_counter() - began, used.ru_utime + used.ru_stime
    print(
        f"{seconds:.1f} s, {busy:.1f} s of processor time, {used.ru_maxrss / 2**10:,.0f} MB, "
        f"load {load:.1f}",
        flush=True,
    )


def main() -> None:
    """Make the files, measure each part, say what it took."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--folder", type=Path)
    o = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=o.folder))
    try:
        paths = files(o.records, folder)
        for name in o.part or PARTS:
            print(f"{name}: ", end="", flush=True)
            measure(paths, PARTS[name], o.memory, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
