"""Thesis Experiment 34 for its four scenarios: the published ones, and census-shaped data.

    python benchmarks/experiment_34.py [--data DIR] [--out benchmarks/experiment_34.md]

Scenario A is that of the thesis to the digit, from its printed counts. The thesis leaves C and D as
future work, and its pupils are not published any more: all four are measured on
DIR/inep_like_200k.parquet (by default ../shared/data or $QIFSQL_SHARED/data), on all records and on
random samples as large as that of the thesis (future work 3).
"""

import argparse
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import qifsql

HERE = Path(__file__).resolve().parent
EPSILONS = "ln 3, ln 5, ln 10, ln 30, ln 60, ln 100, ln 200, ln 500, ln 10^3, ln 10^5"
SAMPLED = "ln 3, ln 10, ln 100, ln 10^3"
ETHNICITY = (2306, 1132, 200, 1015, 21, 2)  # codes 0 to 5 (thesis section 6.2.1)
SIZE, SAMPLES = sum(ETHNICITY), 100
PUBLISHED = {  # Table 6.5, scenario A: oblivious loss and utility, local loss and utility
    "ln 3": (1.08012, 0.78293, 1.00000, 0.78293),
    "ln 5": (1.20013, 0.83333, 1.00000, 0.78293),
    "ln 10": (1.30923, 0.90909, 1.00000, 0.78293),
    "ln 30": (1.39370, 0.96774, 1.00000, 0.78293),
    "ln 60": (1.41655, 0.98361, 1.00000, 0.78293),
    "ln 100": (1.42590, 0.99010, 1.00002, 0.78293),
    "ln 200": (1.43299, 0.99502, 1.00092, 0.78295),
    "ln 500": (1.43728, 0.99800, 1.01287, 0.78463),
    "ln 10^3": (1.43872, 0.99900, 1.05148, 0.79899),
    "ln 10^5": (1.44014, 0.99999, 1.42916, 0.99395),
}


@dataclass(frozen=True)
class Scenario:
    """Useful attribute, predicate and secret of a scenario."""

    letter: str
    useful: str
    predicate: str
    secret: str


CENSUS = (
    Scenario("A", "TP_COR_RACA", "TP_COR_RACA = 3", "TP_COR_RACA"),
    Scenario("B", "age=2019-NU_ANO", "age > 18", "TP_COR_RACA"),
    Scenario("C", "CO_ENTIDADE", "CO_ENTIDADE // 1000000 = 42", "TP_DEPENDENCIA"),
    Scenario("D", "TP_DEPENDENCIA", "TP_DEPENDENCIA = 3", "CO_ENTIDADE"),
)


def compare_published(folder: Path) -> list[str]:
    """Return Table 6.5, scenario A, beside what the printed counts give, as lines of Markdown."""
    codes = [code for code, n in enumerate(ETHNICITY) for _ in range(n)]
    pl.DataFrame({"TP_COR_RACA": codes}).write_parquet(folder / "federal.parquet")
    asked: dict[str, Any] = {"useful": "TP_COR_RACA", "secret": "TP_COR_RACA"}
    asked |= {"predicate": "TP_COR_RACA = 3", "epsilon": EPSILONS}
    rows = qifsql.dp(folder / "federal.parquet", **asked).frame.to_dicts()
    lines = [
        "| epsilon | oblivious loss | published | utility | published | local loss | published "
        "| utility | published |",
        f"| --- |{' --: |' * 8}",
    ]
    for epsilon, published in PUBLISHED.items():
        numbers = [
            row[name]
            for row in rows
            if row["epsilon_given"] == epsilon
            for name in ("privacy_loss", "utility")
        ]
        pairs = zip(numbers, published, strict=True)
        lines.append(f"| {epsilon} | " + " | ".join(f"{a:.5f} | {b:.5f}" for a, b in pairs) + " |")
    return lines


def measure(scenario: Scenario, source: Path) -> list[str]:
    """Return a scenario on all records and on random samples, as lines of Markdown."""
    result = qifsql.dp(
        source,
        useful=scenario.useful,
        predicate=scenario.predicate,
        secret=scenario.secret,
        epsilon=SAMPLED,
        samples=SAMPLES,
        sample_size=SIZE,
        settings=qifsql.Settings(seed=34),
    )
    found = result.details["scenario"].row(0, named=True)
    lines = [
        f"### {scenario.letter}: useful {scenario.useful}, count {scenario.predicate}, secret "
        f"{scenario.secret}",
        "",
        f"Measured as scenario {found['scenario'] or 'none of the four'}: the useful attribute "
        f"removes {100 * found['secret_from_useful']:.2f} % of the uncertainty about the secret; "
        f"the other way round {100 * found['useful_from_secret']:.2f} %.",
        "",
        "| epsilon | mechanism | | all records | mean of samples | interval of the mean | "
        "a further sample |",
        "| --- | --- | --- | --: | --: | --: | --: |",
    ]
    lines += [
        f"| {row['epsilon_given']} | {row['mechanism']} | {row['measure']} | "
        f"{row['all_data']:.5f} | {row['mean']:.5f} | "
        f"{row['mean_low']:.4f} to {row['mean_high']:.4f} | {row['low']:.5f} to {row['high']:.5f} |"
        for row in result.details["samples"].iter_rows(named=True)
    ]
    return lines


def main() -> None:
    """Measure the scenarios and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    shared = os.environ.get("QIFSQL_SHARED", str(HERE.parent.parent / "shared"))
    parser.add_argument("--data", type=Path, default=Path(shared) / "data")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = ["## Scenario A of the thesis", "", *compare_published(Path(folder))]
    lines += ["", "## Census-shaped data", ""]
    for scenario in CENSUS:
        lines += [*measure(scenario, given.data / "inep_like_200k.parquet"), ""]
        print("\n".join(lines[-15:]), flush=True)
    if given.out:
        given.out.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
