"""The sweep, side by side in one run: against plain DuckDB, other software, growth, memory.

    python benchmarks/sweep.py whole|others|growth|memory CENSUS.parquet --qids A,B --secret S,T

Every run is a new process, from its start to the written result; time is wall clock, CPU user and
system, memory the peak resident set of the largest process, disk the peak of the files, looked at
every 0.25 s. Of several ``--runs`` the median by time is shown, with the largest peaks. "Alone" is
as each program measures it itself, without its start: qifsql's and plain DuckDB's with reading the
file, bvmlib's and privattacks' without. qifsql and bvmlib count histograms, the others do not.
Plain DuckDB counts a sample of the subsets (no new one after ``--budget`` seconds, if given); its
times are extrapolated to all, and what it counted has to equal the sweep's rows. FILE is Parquet, a
part of it are its first rows. All else is written to a private folder in $TMPDIR, and removed.
"""

import json
import math
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

with suppress(ImportError):  # the Python of bvmlib and privattacks need not have it
    import duckdb

Raw = dict[str, Any]


def measured(o: Namespace, what: str, command: list[str]) -> Raw:
    """Return time and peaks of a command in a new process, and what it prints as JSON."""
    own, out = o.folder / "own", o.folder / "out"
    shutil.rmtree(own, ignore_errors=True)
    (own / "temp").mkdir(parents=True)
    disk, looked, pid, began = [0, 0], 0.0, 0, time.perf_counter()
    with out.open("w") as told:
        limited = ["timeout", "-s", "KILL", o.limit, *command]
        running = subprocess.Popen(limited, stdout=told, stderr=told, process_group=0)
    try:
        while not pid:
            time.sleep(0.004)
            pid, status, used = os.wait4(running.pid, os.WNOHANG)
            seconds = time.perf_counter() - began
            if pid or seconds - looked > 0.25:
                looked = seconds
                with suppress(OSError):  # a file is gone: the next look will do
                    for i, files in enumerate(("workspace*", "temp/**/*")):
                        disk[i] = max(disk[i], sum(p.stat().st_size for p in own.glob(files)))
    finally:  # end what it started, too, and also when this process is ended
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    running.returncode = os.waitstatus_to_exitcode(status)
    raw: Raw = {
        "what": what, "process": seconds, "cpu": used.ru_utime + used.ru_stime,
        "mb": used.ru_maxrss / 2**10, "workspace": disk[0] / 2**20, "temp": disk[1] / 2**20,
        "note": f"(FAILED: {running.returncode}; -9: over --limit)" if running.returncode else "",
    }  # fmt: skip
    lines = out.read_text().splitlines()
    wrong = ["", raw["note"], *lines[-9:]] if raw["note"] else []
    print(f"{what}: {seconds:.1f} s", "\n".join(wrong), file=sys.stderr)
    return raw | (json.loads(lines[-1]) if lines and not wrong else {})


def worker(o: Namespace, name: str, python: str = sys.executable, **more: Any) -> list[str]:
    """Return the command that runs a function of this file in a process of its own."""
    own = {"file": o.file, "qids": o.qids.split(","), "secrets": o.secret.split(",")}
    return [python, str(Path(__file__).resolve()), name, json.dumps(own | more)]


def swept(o: Namespace, what: str = "**qifsql sweep**", **other: str) -> Raw:
    """Return one sweep in a new process; its result stays until the next."""
    own = vars(o) | other
    command = [
        str(Path(sys.executable).with_name("qifsql")), "sweep", o.file, "--qids", own["qids"],
        "--secret", o.secret, "--histogram", "--memory", own["memory"], "--threads", o.threads,
        "--workspace", f"{o.folder}/own/workspace", "--temp", o.temp, "-o", o.result, "--quiet",
    ]  # fmt: skip
    raw = measured(o, what, command)
    if not raw["note"]:
        (raw["alone"],) = duckdb.read_parquet(o.result).limit(1).select("seconds").fetchall()[0]
    return raw


def plain(job: Raw) -> Raw:
    """Return a worker: GROUP BY subset by subset, or GROUPING SETS, as one writes it by hand."""
    began, n = time.perf_counter(), len(job["qids"])
    con = duckdb.connect(config=job["config"])
    con.execute("SET preserve_insertion_order = false")
    source = con.read_parquet(job["file"])  # noqa: F841 -- the query finds it by its name
    q, s = [f"q{i}" for i in range(n)], [f"s{j}" for j in range(len(job["secrets"]))]
    named = zip(job["qids"] + job["secrets"], q + s, strict=True)
    columns = ", ".join('"{}" AS {}'.format(c.replace('"', '""'), alias) for c, alias in named)
    con.execute(f"CREATE TABLE plain AS SELECT {columns} FROM source")
    inner, outer = "count(*) AS n", "count(*), count(*) FILTER (n = 1)"
    for c in s:
        values = con.execute(f"SELECT DISTINCT {c}::VARCHAR FROM plain ORDER BY ALL").fetchall()
        for k, (x,) in enumerate(values):
            value = "NULL" if x is None else "'{}'".format(x.replace("'", "''"))
            inner += f", count(*) FILTER ({c} IS NOT DISTINCT FROM {value}) AS {c}_{k}"
        most = f"greatest({', '.join(f'{c}_{k}' for k in range(len(values)))})"
        outer += f", sum({most}), coalesce(sum(n) FILTER ({most} = n), 0)"
    sets = {x: ", ".join(c for i, c in enumerate(q) if x >> i & 1) for x in job["subsets"]}
    blocks = f"SELECT {inner} FROM plain GROUP BY"
    queries = [f"SELECT {x}, {outer} FROM ({blocks} {columns})" for x, columns in sets.items()]
    if job["way"] == "GROUPING SETS":
        blocks = f"SELECT {2**n - 1} - grouping({', '.join(q[::-1])}) AS subset, {inner} FROM plain"
        blocks += f" GROUP BY GROUPING SETS (({'), ('.join(sets.values())}))"
        queries = [f"SELECT subset, {outer} FROM ({blocks}) GROUP BY subset"]
    rows, loop, cpu = [], time.perf_counter(), time.process_time()
    for query in queries:
        if not rows or not job["budget"] or time.perf_counter() - loop < job["budget"]:
            rows += con.execute(query).fetchall()
    now, loop_cpu = time.perf_counter(), time.process_time() - cpu
    found = [[int(x) for x in row] for row in rows]
    return {"alone": now - began, "loop": now - loop, "loop_cpu": loop_cpu, "found": found}


def check(o: Namespace, found: list[list[int]]) -> None:
    """Fail if the sweep's rows are not what plain DuckDB counted."""
    query = "SELECT qids, secret, blocks, singled_out, round(posterior_probabilistic * records),"
    query += " individuals_certain FROM read_parquet(?) WHERE subset IN (SELECT unnest(?))"
    rows = duckdb.execute(query, [o.result, [subset for subset, *_ in found]]).fetchall()
    own = {(tuple(qids), secret): numbers for qids, secret, *numbers in rows}
    for subset, *numbers in found:
        qids = tuple(name for i, name in enumerate(o.qids.split(",")) if subset >> i & 1)
        ours = own[qids, None][:2] + [x for s in o.secret.split(",") for x in own[qids, s][2:]]
        if ours != numbers:
            sys.exit(f"WRONG: {qids}: plain DuckDB counts {numbers}, the sweep {ours}")


def whole(o: Namespace) -> Iterator[Raw]:
    """Yield the sweep and plain DuckDB."""
    yield swept(o)
    every = (1 << len(o.qids.split(","))) - 1
    ways = {"GROUP BY": random.Random(1).sample(range(1, every + 1), min(o.plain_subsets, every))}
    if o.grouping_sets:
        ways["GROUPING SETS"] = list(range(1, every + 1))
    config = {"memory_limit": o.memory, "threads": o.threads, "temp_directory": o.temp}
    for way, subsets in ways.items():
        job = {"config": config, "subsets": subsets, "budget": o.budget, "way": way}
        raw = measured(o, f"plain DuckDB, {way}", worker(o, "plain", **job))
        if not raw["note"]:
            check(o, found := raw.pop("found"))
            raw["note"] = f"(from {len(found):,} of {every:,} subsets, which are equal)"
            for key, loop in (("process", "loop"), ("alone", "loop"), ("cpu", "loop_cpu")):
                raw[key] += raw[loop] * (every / len(found) - 1)
        yield raw


def bvmlib(job: Raw) -> Raw:
    """Return a worker for another Python: the subsets one by one."""
    import pandas
    from bvmlib.bvm import BVM

    attack = BVM(pandas.read_parquet(job["file"], columns=job["qids"] + job["secrets"]))
    attack.sensitive(job["secrets"])
    began, found = time.perf_counter(), {}
    for qids in (list(x) for k in job["sizes"] for x in combinations(job["qids"], k)):
        attack.qids(qids)
        told = attack.assess()
        found[",".join(qids)] = [*told["re_id"]["Posterior"], *told["att_inf"]["Posterior"]]
    return {"alone": time.perf_counter() - began, "found": found, "version": version("bvmlib")}


def privattacks(job: Raw) -> Raw:
    """Return a worker for another Python: all subsets in one call, which fails with histograms."""
    import pandas
    from privattacks import Attack, Data

    data = pandas.read_parquet(job["file"], columns=job["qids"] + job["secrets"])
    whole_numbers = [c for c in data if pandas.api.types.is_integer_dtype(data[c])]
    attack = Attack(Data(dataframe=data, cols_to_ignore=whole_numbers))  # not to be encoded
    began, how = time.perf_counter(), {"combinations": job["sizes"], "n_processes": job["threads"]}
    told = attack.posterior_vulnerability("all", job["qids"], job["secrets"], **how)
    alone, found = time.perf_counter() - began, {x[1]: x[2:] for x in told.itertuples(index=False)}
    return {"alone": alone, "found": found, "version": version("privattacks")}


def others(o: Namespace) -> Iterator[Raw]:
    """Yield the sweep and other software."""
    first(o, o.rows)
    yield swept(o)
    own: dict[str, list[float]] = {}
    result = duckdb.read_parquet(o.result)
    for qids, x in result.select("qids", "posterior_probabilistic").fetchall():
        own.setdefault(",".join(qids), []).append(x)  # re-identification first
    sizes = list(range(1, len(o.qids.split(",")) + 1))
    for name in ("bvmlib", "privattacks"):
        raw = measured(o, name, worker(o, name, o.bvmlib, sizes=sizes, threads=int(o.threads)))
        found = raw.pop("found", {})
        same = (q in found and math.dist(x, map(float, found[q])) < 1e-7 for q, x in own.items())
        raw["note"] = raw["note"] or f"{raw['version']} ({sum(same)} of {len(own)} subsets equal)"
        yield raw


def first(o: Namespace, rows: int) -> None:
    """Go on with the first rows of the file, if not 0."""
    if rows:  # not made here: a new process inherits the peak of this one's memory
        words = "import duckdb, sys; f, n, to = sys.argv[1:]; duckdb.read_parquet(f).limit(int(n))"
        own = [f"{words}.write_parquet(to)", o.file, str(rows), f"{o.folder}/{rows}.parquet"]
        subprocess.run([sys.executable, "-c", *own], check=True)
        o.file = own[-1]


def growth(o: Namespace) -> Iterator[Raw]:
    """Yield the sweep of more and more rows, and of more and more quasi-identifiers."""
    file, qids, count = o.file, o.qids.split(","), len(duckdb.read_parquet(o.file))
    for share in (50, 20, 10, 5, 2, 1):
        o.file, rows = file, count // share
        first(o, rows if share > 1 else 0)
        yield swept(o, f"1/{share}: {rows:,} rows") | {"x": rows, "of": "rows"}
    first(o, min(o.rows or 1_000_000, count))
    for k in range(min(4, len(qids)), len(qids) + 1):
        raw = swept(o, f"{k} names: {2**k - 1:,} subsets", qids=",".join(qids[:k]))
        yield raw | {"x": 2**k - 1, "of": "subsets"}


def memory(o: Namespace) -> Iterator[Raw]:
    """Yield the sweep with more and less memory."""
    yield from (swept(o, f"--memory {limit}", memory=limit) for limit in o.limits.split(","))


def show(runs: list[Raw]) -> None:
    """Print a table of the median runs; ratios are to the first."""
    groups: dict[str, list[Raw]] = {}
    for raw in sorted(runs, key=lambda raw: raw["process"]):
        groups.setdefault(raw["what"], []).append({"alone": math.nan} | raw)
    print("\n| what | process s | alone s | CPU s | peak MB | workspace MB | temporary MB", end="")
    print(" | x process | x alone |\n| --- |" + " ---: |" * 8)
    for what in dict.fromkeys(raw["what"] for raw in runs):
        own, one = groups[what], groups[runs[0]["what"]]
        raw, base = own[len(own) // 2], one[len(one) // 2]
        cells = [f"{what} {raw['note']}", *(f"{raw[k]:.2f}" for k in ("process", "alone", "cpu"))]
        cells += [f"{max(x[k] for x in own):,.0f}" for k in ("mb", "workspace", "temp")]
        cells += [f"{raw[k] / base[k]:.2f}" for k in ("process", "alone")]
        print("|", " | ".join(cells).replace("nan", "-"), "|")


def chart(runs: list[Raw]) -> Any:
    """Return seconds by rows, and by subsets."""
    import altair as alt

    x = alt.X("x:Q", title=None).scale(type="log").axis(format="~s", tickCount=6)
    y = alt.Y("process:Q", title="seconds").scale(type="log").axis(tickCount=6)
    column = alt.Column("of:N", title=None, header=alt.Header(labelFontSize=13))
    drawn = alt.Chart(alt.Data(values=runs)).mark_line(point=True).encode(x, y, column)
    return drawn.resolve_scale(x="independent")


def main() -> None:
    add = (parser := ArgumentParser(description=__doc__.splitlines()[0])).add_argument
    commands = {f.__name__: f for f in (whole, others, growth, memory)}
    add("command", choices=commands)
    add("file", type=os.path.abspath)
    add("--qids", required=True, help="names with commas between")
    add("--secret", required=True, help="names with commas between")
    add("--memory", default="2GB", help="of the sweep and of plain DuckDB")
    add("--threads", default="2")
    add("--runs", type=int, default=1)
    add("--limit", default="3600", help="seconds for a process, 0: none")
    add("--plain-subsets", type=int, default=40, help="whole: how many")
    add("--budget", type=float, default=0, help="whole: seconds for plain DuckDB, 0: no end")
    add("--grouping-sets", action="store_true", help="whole: compare with them, too")
    add("--bvmlib", type=os.path.abspath, help="others: a Python that has both")
    add("--rows", type=int, default=0, help="others: of the file; growth: with more names")
    add("--chart", type=os.path.abspath, help="growth: an SVG, PNG or HTML file")
    add("--limits", default="4GB,2GB,1GB,512MB", help="memory: which")
    add("--json", type=Path, help="append the raw numbers to it")
    o = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder is removed
    ram = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = f"{platform.platform()}, {os.cpu_count()} cores, {ram:.0f} GB, "
    machine += f"load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, "
    machine += ", ".join(f"{name} {version(name)}" for name in ("qifsql", "duckdb", "polars"))
    print(f"{machine}; {' '.join(sys.argv[1:])}")
    with tempfile.TemporaryDirectory(prefix="qifsql-benchmark-") as folder:
        o.folder, o.temp, o.result = Path(folder), f"{folder}/own/temp", f"{folder}/result.parquet"
        turns = (commands[o.command](Namespace(**vars(o))) for _ in range(o.runs))
        runs = [raw for turn in turns for raw in turn]  # in turn: a slow minute slows all
    for of in dict.fromkeys(raw.get("of") for raw in runs):
        show([raw for raw in runs if raw.get("of") == of])
    if o.chart:
        chart(runs).save(o.chart)
    if o.json:
        with o.json.open("a") as file:
            told = {"at": time.strftime("%F %T"), "machine": machine, "arguments": sys.argv[1:]}
            print(json.dumps(told | {"runs": runs}), file=file)


if __name__ == "__main__":
    workers = {f.__name__: f for f in (plain, bvmlib, privattacks)}
    if len(sys.argv) == 3 and (own := workers.get(sys.argv[1])):
        print(json.dumps(own(json.loads(sys.argv[2]))))
    else:
        main()
