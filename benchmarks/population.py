"""Estimates of population uniqueness from samples, beside the truth.

    python benchmarks/population.py POPULATION.parquet [--folder DIR] [--seeds 3]

Draws samples of 1, 5, 10 and 50 % of the rows of a table shaped like the Brazilian school census,
by a hash of the row's number and a seed, runs ``qifsql estimate`` on each with four sets of
quasi-identifiers, and counts in the whole table what the estimates are of: who is unique, how many
links of a record of the sample with its look-alikes are right (the sum of 1/F), and how often a
unique match is right. Numbers are medians over the seeds; an estimate is followed by its error.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import duckdb

import qifsql

SETS = {
    "year, sex, race, city": ("NU_ANO", "TP_SEXO", "TP_COR_RACA", "CO_MUNICIPIO_END"),
    "birth date, sex, city": ("NU_DIA", "NU_MES", "NU_ANO", "TP_SEXO", "CO_MUNICIPIO_END"),
    "day, school": ("NU_DIA", "CO_ENTIDADE"),
    "day, month, year, school": ("NU_DIA", "NU_MES", "NU_ANO", "CO_ENTIDADE"),
}
FRACTIONS = (1, 5, 10, 50)  # percent
METHODS = ("zayatz", "pitman", "snb", "dankar")
SAMPLE = """
COPY (
    SELECT * FROM (SELECT *, row_number() OVER () AS row FROM '{population}')
    WHERE hash(row, {seed}) % 100 < {percent}
) TO '{sample}'
"""
TRUTH = """
SELECT
    sum(f / whole),
    sum(f) FILTER (WHERE f = 1) / sum(whole) FILTER (WHERE f = 1)
FROM (SELECT {qids}, count(*) AS whole FROM '{population}' GROUP BY {qids})
JOIN (SELECT {qids}, count(*) AS f FROM '{sample}' GROUP BY {qids}) USING ({qids})
"""


def off(estimate: float | None, truth: float) -> str:
    """Return an estimate with its error."""
    if estimate is None:
        return "none"
    shown = f"{estimate:,.0f}" if truth >= 10 else f"{estimate:.3f}"
    return f"{shown} ({100 * (estimate / truth - 1):+.0f} %)"


def median(numbers: list[float | None]) -> float | None:
    there = [n for n in numbers if n is not None]
    return statistics.median(there) if len(there) == len(numbers) else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("population", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    con = duckdb.connect()
    ((people,),) = con.execute(f"SELECT count(*) FROM '{options.population}'").fetchall()
    print(f"{people:,} people\n")
    uniques, risks, longest = [], [], 0.0
    with tempfile.TemporaryDirectory() as made:
        sample = (options.folder or Path(made)) / "sample.parquet"
        for name, qids in SETS.items():
            truth = qifsql.estimate(options.population, qids=qids, fraction=1)
            unique = truth.frame["population_uniques"][0]
            for percent in FRACTIONS:
                found: dict[str, list[float | None]] = {}
                for seed in range(1, options.seeds + 1):
                    asked = {"population": options.population, "sample": sample}
                    con.execute(SAMPLE.format(**asked, seed=seed, percent=percent))
                    began = time.perf_counter()
                    done = qifsql.estimate(sample, qids=qids, population_size=people)
                    longest = max(longest, time.perf_counter() - began)
                    for row in done.frame.iter_rows(named=True):
                        found.setdefault(row["method"], []).append(row["population_uniques"])
                    one = done.details["individual"].row(0, named=True)
                    ((right, match),) = con.execute(
                        TRUTH.format(**asked, qids=", ".join(qids))
                    ).fetchall()
                    told = ("expected_reidentified", one["expected_reidentified"]), ("right", right)
                    told += ("unique_match", one["unique_match"]), ("match", match)
                    for what, number in told:
                        found.setdefault(what, []).append(number)
                middle = {what: median(numbers) for what, numbers in found.items()}
                cells = [off(middle[method], unique) for method in METHODS]
                uniques.append(f"| {name} | {percent} % | {unique:,.0f} | {' | '.join(cells)} |")
                right, match = middle["right"] or 0.0, middle["match"] or 0.0
                risks.append(
                    f"| {name} | {percent} % | {right:,.0f} | "
                    f"{off(middle['expected_reidentified'], right)} | {match:.3f} | "
                    f"{off(middle['unique_match'], match)} |"
                )
    print(f"| quasi-identifiers | sample | unique | {' | '.join(METHODS)} |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    print("\n".join(uniques))
    print("\n| quasi-identifiers | sample | right links | expected | unique match right | DIS |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    print("\n".join(risks))
    print(f"\nThe slowest estimate took {longest:.2f} s.")


if __name__ == "__main__":
    main()
