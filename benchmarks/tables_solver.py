"""Tables of schools given to an integer programming solver as one problem, beside qifsql.

    python benchmarks/tables_solver.py SCHOOLS [--protection suppress<5] [--cells 20]

The pupils and the five tables are those of `tables.py`. As one problem, every combination of all
dimensions in every school that the tables leave possible is a whole number, every published cell a
condition. HiGHS finds one list of records that agrees with all tables, which proves nothing; then
the least and the greatest count of some combinations, drawn at random, which does. Prints seconds
of both, how long all combinations would take at this pace, and of qifsql with sharp bounds.
"""

import random
import shutil
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

import duckdb
import highspy
import numpy as np
import tables

import qifsql

Names = tuple[str, ...]
Interval = tuple[int, int]


def intervals(file: Path, names: Names, below: int) -> dict[tuple[int, ...], Interval]:
    """Return the counts that each listed cell of a table may have."""
    listed = ", ".join(names)
    query = f"SELECT {listed}, count(*) FROM read_parquet(?) GROUP BY {listed}"
    cells = {}
    for *cell, n in duckdb.execute(query, [str(file)]).fetchall():
        cells[tuple(cell)] = (1, below - 1) if n < below else (n, n)
    return cells


def problem(file: Path, below: int) -> tuple[highspy.Highs, int]:
    """Return one problem of all schools, and the number of its combinations."""
    edges = [("school", *dims.split(",")) for dims in tables.TABLES]
    every = ("school", *dict.fromkeys(name for edge in edges for name in edge[1:]))
    margins = {edge: intervals(file, edge, below) for edge in edges}
    margins["school",] = intervals(file, ("school",), 1)
    combinations: list[dict[str, int]] = [{}]
    for edge, cells in margins.items():  # joined: what no table rules out
        joined: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        shared = [name for name in edge if name in combinations[0]]
        for cell in cells:
            key = tuple(cell[edge.index(name)] for name in shared)
            joined.setdefault(key, []).append(cell)
        combinations = [
            one | dict(zip(edge, cell, strict=True))
            for one in combinations
            for cell in joined.get(tuple(one[name] for name in shared), [])
        ]
    members: dict[tuple[Names, tuple[int, ...]], list[int]] = {}
    for k, one in enumerate(combinations):
        for edge in margins:
            members.setdefault((edge, tuple(one[name] for name in edge)), []).append(k)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)  # as qifsql, whose first use fixes it
    inf = highspy.kHighsInf
    for _ in combinations:
        solver.addVar(0, inf)
    n = len(combinations)
    for k in range(n):
        solver.changeColIntegrality(k, highspy.HighsVarType.kInteger)
    for (edge, cell), indices in members.items():
        low, high = margins[edge][cell]
        ones = np.ones(len(indices))
        solver.addRow(low, high, len(indices), np.array(indices, dtype=np.int32), ones)
    assert set(every) == set(combinations[0])
    return solver, n


def main() -> None:
    """Time both."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("schools", type=int)
    parser.add_argument("--protection", default="suppress<5")
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300)
    o = parser.parse_args()
    below = int(o.protection.removeprefix("suppress<"))
    folder = Path(tempfile.mkdtemp())
    try:
        file = tables.pupils(268 * o.schools, folder / "pupils.parquet")
        began = time.perf_counter()
        options = {"table": [f"school,{d}:{o.protection}" for d in tables.TABLES] + ["school"]}
        (row,) = qifsql.tables(str(file), **options, secret="race", time_budget=o.seconds).rows()
        here = time.perf_counter() - began
        print(f"qifsql: {here:.1f} s, bounds of all combinations, sharp: {row['sharp']}")
        began = time.perf_counter()
        solver, n = problem(file, below)
        print(f"one problem: {n:,} whole numbers, made in {time.perf_counter() - began:.1f} s")
        solver.setOptionValue("time_limit", o.seconds)
        began = time.perf_counter()
        solver.run()
        found = time.perf_counter() - began
        status = solver.modelStatusToString(solver.getModelStatus())
        print(f"one list of records: {found:.1f} s ({status})")
        lots = random.Random(0).sample(range(n), min(o.cells, n))
        began, done = time.perf_counter(), 0
        for cell in lots:
            solver.changeColCost(cell, 1.0)
            for sense in (highspy.ObjSense.kMinimize, highspy.ObjSense.kMaximize):
                solver.setOptionValue("time_limit", solver.getRunTime() + o.seconds)
                solver.changeObjectiveSense(sense)
                solver.run()
                done += solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
            solver.changeColCost(cell, 0.0)
        each = (time.perf_counter() - began) / len(lots)
        print(f"both bounds of a combination: {each:.2f} s ({done} of {2 * len(lots)} proved)")
        print(f"at this pace all {n:,}: {each * n / 3600:,.1f} h")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
