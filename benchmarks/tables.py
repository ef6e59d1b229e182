"""Tables like the synopsis of a school census, of so many pupils, and the attack on them.

    python benchmarks/tables.py PEOPLE [--protection suppress<5] [--memory 4GB] [--folder DIR]

Makes pupils (a school of about 268, age, sex, race, stage, disability, transport, zone), and the
five tables per school with their exact totals; attacks them with the secret race. Prints the row,
seconds and peak memory.
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

PUPILS = """
COPY (
    SELECT
        (id // 268)::INTEGER AS school,
        least((hash(id, 1) % 40 + hash(id // 268, 1) % 20) // 10, 5)::TINYINT AS age_group,
        (hash(id, 2) % 2)::TINYINT AS sex,
        (CASE
            WHEN hash(id, 3) % 1000 < hash(id // 268, 3) % 900 THEN 0
            WHEN hash(id, 4) % 10 < 7 THEN 1
            ELSE 2 + hash(id, 5) % 4 * (hash(id, 6) % 4 = 0)::INTEGER
        END)::TINYINT AS race,
        (hash(id, 7) % 3 + hash(id // 268, 7) % 2)::TINYINT AS stage,
        (hash(id, 8) % 40 = 0)::TINYINT AS disability,
        (hash(id, 9) % 4 = 0)::TINYINT AS transport,
        (hash(id // 268, 10) % 5 = 0)::TINYINT AS zone
    FROM range($people) AS people(id)
) TO $file (FORMAT parquet, COMPRESSION zstd)
"""
TABLES = ("age_group,sex", "race,sex", "stage,sex", "disability,stage", "transport,zone")


def pupils(people: int, file: Path) -> Path:
    """Return a file of pupils."""
    query = PUPILS.replace("$people", str(people)).replace("$file", f"'{file}'")
    duckdb.connect(config={"preserve_insertion_order": False}).execute(query)
    return file


def main() -> None:
    """Make the pupils, attack their tables, say what it took."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("people", type=int)
    parser.add_argument("--protection", default="suppress<5")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--folder", type=Path)
    o = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=o.folder))
    try:
        file = pupils(o.people, folder / "pupils.parquet")
        command = [sys.executable, "-m", "qifsql", "tables", str(file)]
        for dims in TABLES:
            command += ["--table", f"school,{dims}:{o.protection}"]
        command += ["--table", "school", "--secret", "race", "--time-budget", "1s"]
        command += ["--memory", o.memory, "--temp", str(folder), "-o", str(folder / "result.csv")]
        began = time.perf_counter()
        running = subprocess.Popen(command)
        _, status, used = os.wait4(running.pid, 0)
        seconds = time.perf_counter() - began
        running.returncode = os.waitstatus_to_exitcode(status)
        if running.returncode:
            sys.exit(running.returncode)
        print((folder / "result.csv").read_text())
        print(f"{seconds:.1f} s, {used.ru_maxrss / 2**10:,.0f} MB of memory")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
