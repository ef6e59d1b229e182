"""Time ``qifsql suda``, and compare it with the PyPI package ``suda`` where that finishes.

    python benchmarks/suda.py FILE.parquet [--max-size 6] [--records 0] [--python PATH]

``FILE`` has the columns of the school census, or ``--qids`` names others. ``--records`` takes the
first records alone. ``--python`` is the interpreter of an environment with the package ``suda``
0.2.2 (``python -m venv /tmp/suda && /tmp/suda/bin/pip install suda``); it is not one of qifsql's.

The package scores every subset that singles out a record, minimal or not, (n - m)! each. The sum of
its scores is held against that of all unique subsets, counted by DuckDB; ours is smaller.
"""

import argparse
import itertools
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import qifsql
from qifsql.engine.settings import Settings

QIDS = (
    "CO_ENTIDADE,NU_DIA,CO_MUNICIPIO_NASC,NU_ANO,NU_MES,CO_MUNICIPIO_END,TP_COR_RACA,"
    "TP_DEPENDENCIA,TP_SEXO,CO_PAIS_ORIGEM,TP_NACIONALIDADE"
)
PACKAGE = """
import sys, time, pandas as pd
from suda import suda
table = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
began = time.process_time()
result = suda(table, max_msu=int(sys.argv[2]))
print(time.process_time() - began, int(result["suda"].sum()), int((result["suda"] > 0).sum()))
"""


def main() -> None:
    """Run both, and print seconds of processor time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--qids", default=QIDS)
    parser.add_argument("--max-size", type=int, default=6)
    parser.add_argument("--records", type=int, default=0)
    parser.add_argument("--memory", default=None)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--python", default=None)
    asked = parser.parse_args()
    names = asked.qids.split(",")
    with tempfile.TemporaryDirectory() as folder:
        part, plain = Path(folder, "part.parquet"), Path(folder, "part.csv")
        rows = duckdb.read_parquet(asked.file).project(", ".join(f'"{n}"' for n in names))
        if asked.records:
            rows = rows.limit(asked.records)
        rows.write_parquet(str(part))
        began, clock = time.process_time(), time.perf_counter()
        settings = Settings(memory=asked.memory, threads=asked.threads)
        result = qifsql.suda(part, qids=names, max_size=asked.max_size, settings=settings)
        seconds, wall = time.process_time() - began, time.perf_counter() - clock
        values = dict(result.frame.iter_rows())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"qifsql suda: {values['records']:,.0f} records, {len(names)} attributes, at most "
            f"{asked.max_size}: {seconds:.1f} s of processor time, {wall:.1f} s, {peak:.2f} GiB; "
            f"{values['records_with_msu']:,.0f} records with {values['msus']:,.0f} MSUs"
        )
        if asked.python is None:
            return
        duckdb.read_parquet(str(part)).write_csv(str(plain))
        line = [asked.python, "-c", PACKAGE, str(plain), str(asked.max_size)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        taken, total, scored = done.stdout.split()
        counted = every_unique_subset(part, names, asked.max_size)
        print(
            f"package suda: {float(taken):.1f} s of processor time; {int(scored):,} records, sum "
            f"{int(total):,}; all unique subsets by DuckDB: {counted:,}; qifsql: "
            f"{score(result, len(names)):,} from minimal ones"
        )


def every_unique_subset(file: Path, names: list[str], most: int) -> int:
    """Return the sum of (n - m)! over all subsets that single out a record, minimal or not."""
    total = 0
    for size in range(1, most + 1):
        for subset in itertools.combinations(names, size):
            listed = ", ".join(f'"{name}"' for name in subset)
            ones = duckdb.sql(
                f"SELECT count(*) FROM (SELECT 1 FROM '{file}' GROUP BY {listed} "
                "HAVING count(*) = 1)"
            ).fetchall()[0][0]
            total += ones * math.factorial(len(names) - size)
    return total


def score(result: qifsql.Result, n: int) -> int:
    """Return the sum of (n - m)! over all MSUs, as the package scores subsets."""
    rows = result.details["by_size"].to_dicts()
    return sum(row["msus"] * math.factorial(n - row["size"]) for row in rows)


if __name__ == "__main__":
    main()
