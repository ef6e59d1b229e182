"""The generic tests of the dbt package fail exactly where check finds a rule broken."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest
from places import ROOT, SAMPLES

import qifsql

DBT = os.environ.get("QIFSQL_DBT") or shutil.which("dbt")
PACKAGE = ROOT / "docs" / "dbt"
PEOPLE = SAMPLES / "thesis_table_3_2.csv"
QIDS = ["age", "gender"]
TESTS: list[dict[str, Any]] = [
    *({"k_at_least": {"qids": QIDS, "k": k}} for k in (1, 2, 3)),
    *({"qif_at_most": {"qids": QIDS, "at_most": x}} for x in (0.49, 0.5, 0.51)),
    *({"qif_at_most": {"qids": QIDS, "at_most": x, "secret": "illness"}} for x in (0.69, 0.7)),
]


def rule(test: dict[str, Any]) -> dict[str, Any]:
    """The rule of a policy that a test stands for."""
    if "k_at_least" in test:
        return {"model": "crs", "measure": "k", "at_least": test["k_at_least"]["k"]}
    asked = test["qif_at_most"]
    model = "cas" if "secret" in asked else "crs"
    measure = "posterior_probabilistic"
    return {"model": model, "measure": measure, "at_most": asked["at_most"]}


@pytest.mark.skipif(DBT is None, reason="there is no dbt with dbt-duckdb (QIFSQL_DBT)")
def test_dbt_finds_what_check_finds(tmp_path: Path) -> None:
    table = f"SELECT * FROM read_csv('{PEOPLE}')"
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS {table}")
        connection.execute(f"CREATE TABLE nobody AS {table} LIMIT 0")
    tests = [
        {f"qifsql.{next(iter(t))}": {"name": f"t{n}", "arguments": next(iter(t.values()))}}
        for n, t in enumerate(TESTS)
    ]
    empty = [
        {f"qifsql.{name}": {"name": f"e{n}", "arguments": next(iter(t.values()))}}
        for n, t in enumerate([TESTS[0], TESTS[5]])
        for name in t
    ]
    listed = [{"name": "people", "data_tests": tests}, {"name": "nobody", "data_tests": empty}]
    source = {"name": "main", "schema": "main", "tables": listed}
    target = {"type": "duckdb", "path": "w.duckdb"}
    files: dict[str, Any] = {
        "dbt_project.yml": {"name": "p", "version": "1.0.0", "profile": "p", "model-paths": ["m"]},
        "packages.yml": {"packages": [{"local": str(PACKAGE)}]},
        "profiles.yml": {"p": {"target": "t", "outputs": {"t": target}}},
        "m/s.yml": {"version": 2, "sources": [source]},
    }
    (tmp_path / "m").mkdir()
    for name, content in files.items():  # JSON is YAML
        (tmp_path / name).write_text(json.dumps(content))
    environment = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    for word in ("deps", "test"):
        done = subprocess.run(
            [str(DBT), word, "--profiles-dir", "."],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert word == "test" or done.returncode == 0, done.stdout
    results = json.loads((tmp_path / "target" / "run_results.json").read_text())["results"]
    failures = {r["unique_id"].split(".")[2]: r["failures"] for r in results}
    adversary = {"qids": QIDS, "secret": "illness"}
    policy = {"unit": "records", "adversary": adversary, "rule": [rule(t) for t in TESTS]}
    verdict = qifsql.check(PEOPLE, policy)
    met = {row["rule"]: row["met"] for row in verdict.frame.to_dicts()}
    assert {n: failures[f"t{n - 1}"] == 0 for n in met} == met, done.stdout
    assert [failures[f"t{n}"] for n in range(3)] == [0, 2, 3]  # blocks
    assert failures["e0"]
    assert failures["e1"]
