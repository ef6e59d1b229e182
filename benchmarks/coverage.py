"""Coverage of the intervals that qifsql states: a thousand draws of four shapes.

    python benchmarks/coverage.py [--draws 1000]

``qifsql sweep --sample``: tables of people with a value of many and two of few, of which every
subset with the first is estimated, for re-identification and for a secret. ``qifsql unicity``: logs
of 300 people, of whom two points are known, with 50 draws. ``qifsql estimate`` states no interval;
how often the range of its methods holds the true number shows why. The tables, and what draws and
estimates, are those of the tests (``tests/draws.py``).
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from draws import SHAPES, Draws, estimate_coverage, table, unicity_coverage

SIZES = ((4_000, 0.1), (20_000, 0.05))  # people, and the share that is asked for


SWEEPS = [
    "people",
    "share",
    "shape",
    "measure",
    "sampled",
    "held, least",
    "held, mean",
    "error",
    "deviation",
]
OTHERS = [
    "shape",
    "unicity",
    "held",
    "half the width",
    "uniques",
    "held by the range",
    "range, on average",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    seeds = range(parser.parse_args().draws)
    head(SWEEPS, 2)
    for people, share in SIZES:
        for shape in SHAPES:
            found = Draws(table(shape, people, people // 4), share).coverage(seeds)
            for measure in ("deterministic", "probabilistic"):
                own = found.filter(measure=measure)
                shares = own["sampled"].max(), own["held"].min(), own["held"].mean()
                errors = own["error"].mean(), own["root_mean_square"].mean()
                told = [*(f"{x:.1%}" for x in shares), *(f"{x:.4f}" for x in errors)]
                line(f"{people:,}", share, shape, measure, *told)
    print()
    head(OTHERS, 1)
    for shape in SHAPES:
        one, other = unicity_coverage(shape, seeds), estimate_coverage(shape, seeds)
        own = f"{one['exact']:.4f}", f"{one['held']:.1%}", f"{one['error']:.4f}"
        span = f"{other['low']:,.0f} to {other['high']:,.0f}"
        line(shape, *own, f"{other['exact']:,}", f"{other['held']:.1%}", span)


def head(names: list[str], words: int) -> None:
    line(*names)
    line(*["---"] * words, *["---:"] * (len(names) - words))


def line(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
