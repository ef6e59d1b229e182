"""Time the same attack and sweep on DuckDB, on Spark on one machine, and on small clusters of it.

Each run is a new process of the command line, from its start to its end. The bytes that Spark
shuffles are those of its event log.

    python benchmarks/cluster.py 100k.parquet 1m.parquet --qids day,month,year,school --secret bus
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl

PLACES = {
    "DuckDB": [],
    "Spark, local[2]": ["--master", "local[2]"],
    "Spark, 2 workers": ["--master", "local-cluster[2,1,1536]"],
    "Spark, 4 workers": ["--master", "local-cluster[4,1,1536]"],
}


def shuffled(folder: Path) -> int:
    """Return the bytes that the tasks of an application wrote for shuffles."""
    total = 0
    for log in folder.iterdir():
        for line in log.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                written = event["Task Metrics"]["Shuffle Write Metrics"]
                total += written["Shuffle Bytes Written"]
    return total


def run(command: Sequence[str], place: str, memory: str) -> tuple[float, int, str]:
    """Return the seconds of a run, the bytes that it shuffled, and its result without times."""
    with tempfile.TemporaryDirectory() as folder:
        events, temp, out = (Path(folder) / name for name in ("events", "temp", "out.parquet"))
        events.mkdir()
        temp.mkdir()
        options = ["-o", str(out), "--quiet"]
        if command[3] == "sweep":
            options += ["--workspace", str(Path(folder) / "sweep")]
        if PLACES[place]:
            settings = {
                "spark.eventLog.enabled": "true",
                "spark.eventLog.dir": events.as_uri(),
                "spark.eventLog.compress": "false",
                "spark.eventLog.rolling.enabled": "false",
                "spark.sql.shuffle.partitions": "8",
            }
            options += ["--engine", "spark", *PLACES[place]]
            options += [x for k, v in settings.items() for x in ("--spark-conf", f"{k}={v}")]
        if "cluster" in " ".join(PLACES[place]):
            options += ["--temp", temp.as_uri()]
        else:
            options += ["--memory", memory]
        began = time.perf_counter()
        subprocess.run([*command, *options], check=True)
        seconds = time.perf_counter() - began
        frame = pl.read_parquet(out).drop("seconds")
        return seconds, shuffled(events), frame.write_json()


def main() -> None:
    """Run both commands on all files in all places, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--qids", required=True)
    parser.add_argument("--secret", required=True)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--places", nargs="*", default=list(PLACES))
    parser.add_argument("--commands", nargs="*", default=["attack", "sweep"])
    given = parser.parse_args()
    print("| records | command | where | seconds | shuffled MB |")
    print("| ---: | --- | --- | ---: | ---: |")
    for file in given.files:
        records = pl.scan_parquet(file).select(pl.len()).collect().item()
        for name in given.commands:
            models = ["crs,cas"] if name == "attack" else []
            command = [sys.executable, "-m", "qifsql", name, *models, file]
            command += ["-q", given.qids, "-s", given.secret]
            results = set()
            for place in given.places:
                seconds, shuffle, result = run(command, place, given.memory)
                results.add(result)
                print(f"| {records:,} | {name} | {place} | {seconds:.1f} | {shuffle / 1e6:,.1f} |")
            if len(results) > 1:
                raise SystemExit(f"the results of {name} differ")


if __name__ == "__main__":
    main()
