"""Four yearly releases of as many people as you like, and the attacks of PoPETs Table 8 on them.

    python benchmarks/releases.py PEOPLE [--memory 8GB] [--folder DIR]

Writes the releases (key, day and month of birth, a school that 15 % change every year, two secrets;
a tenth of the people come and go), then runs one progressive attack: re-identification and both
secrets, with one release, two, three and four. Prints seconds, peak memory and peak temporary disk.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path

import duckdb

YEARS = 4
RELEASE = """
COPY (
    SELECT
        (id * 2654435761 % 1000000007 * 1000 + id % 1000)::BIGINT AS person,
        (hash(id, 1) % 28 + 1)::TINYINT AS day,
        (hash(id, 2) % 12 + 1)::TINYINT AS month,
        (hash(id // 200, CASE WHEN hash(id, $year, 7) % 100 < 15 THEN $year ELSE 0 END) % 3
         + id // 300 * 3)::INTEGER AS school,
        (hash(id, 4) % 45 = 0)::TINYINT AS disability,
        (CASE WHEN hash(id, 5) % 100 < 2 THEN 2 ELSE (hash(id, 6) % 5 = 0)::INTEGER END)::TINYINT
            AS transport
    FROM range($people) AS people(id)
    WHERE hash(id, $year, 9) % 112 < 100
    ORDER BY hash(id, $year)
) TO $file (FORMAT parquet, COMPRESSION zstd)
"""


def releases(people: int, folder: Path) -> list[Path]:
    """Return the files of all years, about so many people in each."""
    files = [folder / f"year_{year}.parquet" for year in range(YEARS)]
    connection = duckdb.connect(config={"preserve_insertion_order": False, "memory_limit": "6GB"})
    for year, file in enumerate(files):
        values = {"year": str(year), "people": str(people * 112 // 100), "file": f"'{file}'"}
        query = RELEASE
        for name, value in values.items():
            query = query.replace(f"${name}", value)
        connection.execute(query)
    return files


def attack(files: list[Path], memory: str, folder: Path) -> tuple[float, float, float]:
    """Return seconds, peak MB of memory and peak MB of temporary disk of the attack's process."""
    temp = folder / "temp"
    temp.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "qifsql", "attack", "crl,cal", *map(str, files)]
    command += ["--key", "person", "--qids", "day,month,school", "--secret", "disability,transport"]
    command += ["--progressive", "--memory", memory, "--temp", str(temp)]
    command += ["-o", str(folder / "result.csv")]
    began, disk, pid = time.perf_counter(), 0, 0
    running = subprocess.Popen(command)
    while not pid:
        time.sleep(0.2)
        pid, status, used = os.wait4(running.pid, os.WNOHANG)
        with suppress(OSError):  # a file is gone: the next look will do
            disk = max(disk, sum(p.stat().st_size for p in temp.rglob("*") if p.is_file()))
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        sys.exit(running.returncode)
    return time.perf_counter() - began, used.ru_maxrss / 2**10, disk / 2**20


def main() -> None:
    """Make the releases, attack them, say what it took."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("people", type=int)
    parser.add_argument("--memory", default="8GB")
    parser.add_argument("--folder", type=Path)
    o = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=o.folder))
    try:
        files = releases(o.people, folder)
        seconds, memory, disk = attack(files, o.memory, folder)
        print((folder / "result.csv").read_text())
        print(f"{seconds:.1f} s, {memory:,.0f} MB of memory, {disk:,.0f} MB of temporary disk")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
