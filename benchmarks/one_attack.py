"""One attack, side by side in one run: qifsql, plain DuckDB, and bvmlib if it is installed.

    python benchmarks/one_attack.py CENSUS.parquet [--memory 1GB] [--bvmlib PYTHON] [--runs 3]

Four quasi-identifiers, re-identification and two secrets together. Every run is a new process,
from its start to the printed result; time is wall clock, memory the peak resident set. "Alone" is
the attack without the start of the process, as each program measures it itself; bvmlib's is
without reading the file, the others' is with it. The table
needs the columns of the synthetic school census in data-samples/. ``--bvmlib`` names a Python
that can import bvmlib 1.1.0 and pandas; it is run once.
"""

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

QIDS = ["NU_DIA", "NU_MES", "NU_ANO", "CO_ENTIDADE"]
SECRETS = ["IN_NECESSIDADE_ESPECIAL", "IN_TRANSPORTE_PUBLICO"]

PLAIN = """
import duckdb, sys, time
start = time.perf_counter()
file, memory = sys.argv[1:]
con = duckdb.connect(config={"memory_limit": memory})
con.execute("SET preserve_insertion_order = false")
q, s, t = "NU_DIA, NU_MES, NU_ANO, CO_ENTIDADE", "IN_NECESSIDADE_ESPECIAL", "IN_TRANSPORTE_PUBLICO"
print(con.execute(f'''
  SELECT count(*) blocks, count(*) FILTER (n = 1) alone,
         sum(greatest(a0, a1)), sum(n) FILTER (a0 = n OR a1 = n),
         sum(greatest(b0, b1, b2)), sum(n) FILTER (b0 = n OR b1 = n OR b2 = n)
  FROM (SELECT {q}, count(*) n, count(*) FILTER ({s} = 0) a0, count(*) FILTER ({s} = 1) a1,
               count(*) FILTER ({t} = 0) b0, count(*) FILTER ({t} = 1) b1,
               count(*) FILTER ({t} = -1 OR {t} IS NULL) b2
        FROM read_parquet(?) GROUP BY {q})''', [file]).fetchall())
print(time.perf_counter() - start)
"""

BVMLIB = """
import sys, time, pandas
from bvmlib.bvm import BVM
data = pandas.read_parquet(sys.argv[1], columns=sys.argv[2].split(",") + sys.argv[3].split(","))
attack = BVM(data)
attack.qids(sys.argv[2].split(","))
attack.sensitive(sys.argv[3].split(","))
start = time.perf_counter()
found = attack.assess()
print({k: v for k, v in found.items() if k in ("dCR", "pCR")})
print(time.perf_counter() - start)
"""


def measured(command: list[str], folder: str) -> dict[str, float]:
    """Return wall seconds and peak memory of one process, through a small parent of its own."""
    parent = (
        "import json, resource, subprocess, sys, time; t = time.perf_counter(); "
        "r = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True); "
        "s = time.perf_counter() - t; "
        "lines = r.stdout.split('\\n'); at = lines[0].split(',').index('seconds') "
        "if 'seconds' in lines[0] else -1; "
        "alone = float(lines[-2].split(',')[at]) if r.stdout else 0; "
        "k = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss; "
        "print(json.dumps({'seconds': s, 'mb': k / 1024, 'code': r.returncode, 'alone': alone}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", parent, *command],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    if found["code"]:
        sys.exit(f"{shlex.join(command)[:200]}\n{done.stderr}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("census", type=Path)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--bvmlib", type=os.path.abspath, help="a Python that can import bvmlib")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    census = str(options.census.resolve())
    ours = [
        str(Path(sys.executable).with_name("qifsql")), "attack", "crs,cas", census,
        "--qids", ",".join(QIDS), "--memory", options.memory, "--format", "csv",
        *(x for s in SECRETS for x in ("--secret", s)),
    ]  # fmt: skip
    plain = [sys.executable, "-c", PLAIN, census, options.memory]
    commands = {
        "qifsql attack crs,cas": ours,
        "the same with --measures all": [*ours, "--measures", "all"],
        "plain DuckDB, one GROUP BY": plain,
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.runs):  # in turn, so that a slow minute slows both
            for name, command in commands.items():
                found[name].append(measured(command, folder))
        if options.bvmlib:
            command = [options.bvmlib, "-c", BVMLIB, census, ",".join(QIDS), ",".join(SECRETS)]
            found["bvmlib 1.1.0"] = [measured(command, folder)]
    print(
        f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"duckdb {version('duckdb')}, polars {version('polars')}; {options.census.name}, "
        f"memory limit {options.memory}, {options.runs} runs"
    )
    best = sorted(r["seconds"] for r in found["qifsql attack crs,cas"])[options.runs // 2]
    alone = sorted(r["alone"] for r in found["qifsql attack crs,cas"])[options.runs // 2]
    print("| what | median s | min-max s | peak MB | x qifsql | alone s | x qifsql |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, runs in found.items():
        seconds = sorted(r["seconds"] for r in runs)
        median = seconds[len(seconds) // 2]
        own = sorted(r["alone"] for r in runs)[len(runs) // 2]
        print(
            f"| {name} | {median:.2f} | {seconds[0]:.2f}-{seconds[-1]:.2f} "
            f"| {max(r['mb'] for r in runs):.0f} | {median / best:.1f} "
            f"| {own:.2f} | {own / alone:.1f} |"
        )


if __name__ == "__main__":
    main()
