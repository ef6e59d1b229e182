"""The questions of WP 216 and disclosure, side by side: qifsql, anonymeter and SDMetrics.

    python -m venv TOOLS && TOOLS/bin/pip install anonymeter sdmetrics pyarrow
    python benchmarks/synthetic_tools.py [RECORDS] [--tools TOOLS/bin/python] [--attacks 500]

The files are those of ``synthetic.py``, for each kind of attack those columns that all tools can
read. Prints for each attack the numbers and the seconds, each tool's own without the start of the
process; the start of qifsql and reading its files are in its seconds. Without ``--tools``, or where
the packages are missing there, it says so and prints the numbers of qifsql alone.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

QIDS = ["birth_year", "birth_month", "sex", "race", "municipality", "stage", "area", "siblings"]
FIRST = ["birth_year", "sex", "race", "municipality"]  # of the halves
KEYS = ["birth_year", "sex", "race", "area"]  # of inference and disclosure
NEAREST = 3
TRIES = 100_000  # conditions about three columns
INSTALL = "pip install anonymeter sdmetrics pyarrow, in an environment of its own; name its Python"


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and its seconds."""
    began = time.perf_counter()
    return call(), time.perf_counter() - began


def tools(
    folder: Path, attacks: int, one: int, some: int
) -> dict[str, tuple[dict[str, Any], float]]:
    """Run the other tools: the numbers and seconds of each attack. It needs their packages.

    They try ``one`` conditions about one column and ``some`` about three, as qifsql has: anonymeter
    divides by the number that is asked for, also where there are fewer.
    """
    import warnings

    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
    from sdmetrics.single_table import DisclosureProtection

    warnings.simplefilter("ignore")
    files = {path.stem: pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
    for frame in files.values():
        for name in ("race", "sex", "secret"):
            frame[name] = name + frame[name].astype(str)
    original, release, control = (files[n] for n in ("original", "release", "control"))
    data = {"ori": original[QIDS], "syn": release[QIDS], "control": control[QIDS]}

    def rates(evaluator: Any, **options: Any) -> dict[str, Any]:
        evaluator.evaluate(**options)
        results = evaluator.results()
        return {
            "attempts": results.n_attacks_ori,
            "original": results.n_success,
            "control": results.n_control,
            "risk": results.risk().value,
        }

    def singling_out(mode: str, number: int, **options: Any) -> dict[str, Any]:
        return rates(SinglingOutEvaluator(n_attacks=number, **options, **data), mode=mode)

    def linkability() -> dict[str, Any]:
        second = [name for name in QIDS if name not in FIRST]
        options = {"aux_cols": (FIRST, second), "n_neighbors": NEAREST}
        return rates(LinkabilityEvaluator(n_attacks=attacks, **options, **data), n_jobs=1)

    def inference(released: Any, people: Any, others: Any) -> dict[str, Any]:
        size = min(len(people), len(others))
        columns = [*KEYS, "secret"]
        return rates(
            InferenceEvaluator(
                ori=people[columns],
                syn=released[columns],
                control=others[columns],
                aux_cols=KEYS,
                secret="secret",
                n_attacks=size,
            ),
            n_jobs=1,
        )

    def disclosure(released: Any) -> dict[str, Any]:
        scores = {
            method: DisclosureProtection.compute_breakdown(
                original, released, KEYS, ["secret"], computation_method=method
            )["cap_protection"]
            for method in ("cap", "zero_cap")
        }
        return {name: 1 - score for name, score in scores.items()}

    # It leaves out people and records that equal others: different people are all that it has.
    first = timed(lambda: singling_out("univariate", one))
    single, present, absent = (files[n] for n in ("single", "present", "others_present"))
    return {
        "singling out, one column": first,
        "singling out, one column, different people": first,
        "singling out, 3 columns": timed(
            lambda: singling_out("multivariate", some, n_cols=3, max_attempts=10 * TRIES)
        ),
        f"linkability, {NEAREST} nearest": timed(linkability),
        "inference, one record per key": timed(lambda: inference(single, present, absent)),
        "disclosure": timed(lambda: disclosure(release)),
        "disclosure, one record per key": timed(lambda: disclosure(single)),
    }


def ours(folder: Path, attacks: int) -> dict[str, tuple[dict[str, Any], float]]:
    """Run qifsql: the numbers and seconds of each attack."""
    import qifsql

    def run(names: list[str], **options: Any) -> dict[str, Any]:
        original, release, control = (str(folder / f"{name}.parquet") for name in names)
        result = qifsql.synthetic(original, release, control=control, **options)
        return {row["measure"]: row for row in result.frame.iter_rows(named=True)}

    def some(name: str, ending: str = "", **options: Any) -> dict[str, Any]:
        texts = ["race=('race'||race)", "sex=('sex'||sex)"]
        qids = [*texts, *(n for n in QIDS if n not in ("race", "sex"))]
        names = [f"{file}{ending}" for file in ("original", "release", "control")]
        rows = run(names, qids=qids, questions=True, **options)
        row, other, risk = (rows[f"{name}{end}"] for end in ("", "_control", "_risk"))
        return {
            "attempts": row["people"],
            "original": (row["value"] or 0) * row["people"],
            "control": (other["value"] or 0) * other["people"],
            "risk": risk["value"],
        }

    def inference(names: list[str]) -> dict[str, Any]:
        rows = run(names, qids=KEYS, secret="secret", questions=True)
        row, other = rows["success_original"], rows["success_control"]
        return {
            "attempts": row["people"],
            "original": row["value"] * row["people"],
            "control": other["value"] * other["people"],
            "risk": rows["inference_risk"]["value"],
        }

    def disclosure(release: str) -> dict[str, Any]:
        rows = run(["original", release, "control"], qids=KEYS, secret="secret")
        return {name: rows[name]["value"] for name in ("iS", "DiSCO", "TCAP", "success_original")}

    tries, links = {"attempts": TRIES}, {"split": FIRST, "links": attacks}
    return {
        "singling out, one column": timed(lambda: some("singling_out_one")),
        "singling out, one column, different people": timed(
            lambda: some("singling_out_one", "_different")
        ),
        "singling out, 3 columns": timed(lambda: some("singling_out_some", **tries)),
        f"linkability, {NEAREST} nearest": timed(
            lambda: some("linkability_nearest", neighbours=NEAREST, **links)
        ),
        "inference, one record per key": timed(
            lambda: inference(["present", "single", "others_present"])
        ),
        "disclosure": timed(lambda: disclosure("release")),
        "disclosure, one record per key": timed(lambda: disclosure("single")),
    }


def make(records: int, folder: Path) -> None:
    """Write the files: as ``synthetic.py``, and a release with one record for each key.

    ``present`` and ``others_present`` are the people whose key that release has: of those every
    tool that looks for the nearest record finds the same one.
    """
    import polars as pl
    from synthetic import files

    frames = {name: pl.read_parquet(path) for name, path in files(records, folder).items()}
    frames["single"] = frames["release"].unique(KEYS, keep="first", maintain_order=True)
    for name, people in (("present", "original"), ("others_present", "control")):
        frames[name] = frames[people].join(frames["single"], on=KEYS, how="semi")
    for name in ("original", "release", "control"):
        frames[f"{name}_different"] = frames[name].unique(QIDS, keep="first", maintain_order=True)
    size = min(frames[name].height for name in ("present", "others_present"))
    for name, frame in frames.items():
        part = frame.head(size) if name.endswith("present") else frame
        part.write_parquet(folder / f"{name}.parquet")


def shown(results: dict[str, tuple[dict[str, Any], float]], name: str, tool: str) -> None:
    """Print the numbers and seconds of one attack."""
    numbers, seconds = results[name]
    texts = [
        f"{key} {value:.4f}" if isinstance(value, float) else f"{key} {value}"
        for key, value in numbers.items()
    ]
    print(f"  {tool:10} {seconds:8.2f} s  {', '.join(texts)}", flush=True)


def main() -> None:
    """Make the files, run the tools, print their numbers."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="?", default=10_000)
    parser.add_argument("--tools", help="Python of an environment with anonymeter and sdmetrics")
    parser.add_argument("--attacks", type=int, default=500)
    parser.add_argument("--inside", nargs=3, help="used by the script itself")
    o = parser.parse_args()
    if o.inside:
        place, *numbers = o.inside
        print(json.dumps(tools(Path(place), o.attacks, *map(int, numbers)), default=float))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(o.records, folder)
        print(f"{o.records:,} records in each file; load {os.getloadavg()[0]:.1f}")
        mine, others = ours(folder, o.attacks), {}
        if o.tools:
            kinds = ("one column, different people", "3 columns")
            counts = [str(mine[f"singling out, {kind}"][0]["attempts"]) for kind in kinds]
            command = [o.tools, __file__, "--attacks", str(o.attacks), "--inside", name, *counts]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"the other tools did not run ({INSTALL}):\n{done.stderr[-800:]}")
            else:
                others = json.loads(done.stdout.splitlines()[-1])
        else:
            print(f"without the other tools: {INSTALL} (--tools)")
        for attack in mine:
            print(attack)
            shown(mine, attack, "qifsql")
            if others:
                shown(others, attack, "anonymeter" if "disc" not in attack else "SDMetrics")


if __name__ == "__main__":
    sys.exit(main())
