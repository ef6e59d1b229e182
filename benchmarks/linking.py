"""Hashes, registers and logs, side by side with plain DuckDB that does the least there is to do.

    python benchmarks/linking.py [--folder DIR] [--runs 3] [--census CENSUS.parquet]

Writes 1,000,000 taxi trips with the MD5 of their medallion (9A99, AA999 or AAA999: 18,278,000 in
all) and runs ``qifsql unhash`` on them beside a statement that only hashes 17,576,000 texts. With a
census of 10,000,000 records or so, a tenth of it is the release and all of it the register of
``qifsql link``, beside one GROUP BY of the register. Every run is a new process; times are wall
clock, from its start to its end.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

QIDS = "NU_DIA,NU_MES,NU_ANO,TP_SEXO,CO_MUNICIPIO_END"
TRIPS = """
COPY (
    WITH drawn AS (SELECT i, hash(i) // 1000 AS h FROM range(1000000) AS r(i)),
    letters AS (
        SELECT *, chr((65 + h % 26)::INTEGER) AS a, chr((65 + h // 26 % 26)::INTEGER) AS b,
            chr((65 + h // 676 % 26)::INTEGER) AS c, lpad((h // 17576 % 1000)::VARCHAR, 3, '0') AS n
        FROM drawn
    )
    SELECT i AS trip, md5(CASE WHEN i % 10 = 0 THEN left(n, 1) || a || right(n, 2)
        WHEN i % 10 < 3 THEN a || b || n ELSE a || b || c || n END) AS medallion
    FROM letters
) TO '{}'
"""
HASHING = "SELECT max(md5(i::VARCHAR)) FROM range(17576000) AS r(i)"
GROUPING = f"SELECT count(*) FROM (SELECT count(*) FROM '{{}}' GROUP BY {QIDS})"


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def plain(sql: str) -> list[str]:
    code = "import duckdb, sys; duckdb.connect().execute(sys.argv[1]).fetchall()"
    return [sys.executable, "-c", code, sql]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--census", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    qifsql = str(Path(sys.executable).with_name("qifsql"))
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        trips, release = folder / "trips.parquet", folder / "release.parquet"
        duckdb.connect().execute(TRIPS.format(trips))
        patterns = ("[0-9][A-Z][0-9][0-9]", r"[A-Z]{2}\d{3}", r"[A-Z]{3}\d{3}")
        asked = [word for pattern in patterns for word in ("--pattern", pattern)]
        commands = {
            "qifsql unhash, 18,278,000 candidates": [
                qifsql, "unhash", str(trips), "-c", "medallion", "--hash", "md5", *asked,
            ],
            "plain DuckDB hashes 17,576,000 numbers": plain(HASHING),
        }  # fmt: skip
        if options.census:
            sample = f"COPY (FROM '{options.census}' USING SAMPLE 10%) TO '{release}'"
            duckdb.connect().execute(sample)
            commands |= {
                "qifsql link with the census as register": [
                    qifsql, "link", str(release), str(options.census), "--qids", QIDS,
                ],
                "plain DuckDB, one GROUP BY of the census": plain(GROUPING.format(options.census)),
            }  # fmt: skip
        found: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.runs):  # in turn, so that a slow minute slows all
            for name, command in commands.items():
                found[name].append(seconds(command))
    print("| what | median s | min-max s |")
    print("| --- | ---: | ---: |")
    for name, times in found.items():
        median = sorted(times)[len(times) // 2]
        print(f"| {name} | {median:.2f} | {min(times):.2f}-{max(times):.2f} |")


if __name__ == "__main__":
    main()
