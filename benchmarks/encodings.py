"""Ways to encode a generalised release for a classifier: the appendix of the DIT paper, again.

    python benchmarks/encodings.py [--data DIR] [--out FILE] [--check]

A release is anonymised (Mondrian), each cell becomes features, naive Bayes (Bernoulli, alpha 1,
fitted prior) learns the secret from them and guesses it of every record by the record's own
values. Six encodings of numbers and four of categories make 24. DIR holds adult.parquet and
internet_usage.parquet (by default ../shared/data or $QIFSQL_SHARED/data). ``--check`` holds the
closed form against scikit-learn, which must be installed then, and measures the time of a model.

The 24 encodings are sums of tables made from counts (``naive_bayes.py``): nothing is trained for
each record, not even where the encoding depends on it (TF).
"""

import argparse
import math
import os
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
from naive_bayes import (
    Cell,
    Counts,
    Scores,
    binary,
    binary_after,
    bounds,
    encoded,
    hot,
    hot_after,
    parts_of,
    quantiles,
    scaling,
    single,
    told_apart,
    true_false,
)

import qifsql

HERE = Path(__file__).resolve().parent
KS = (1, 3, 5, 8, 16, 32, 64, 128)  # 1: not anonymised
SAMPLE = 10_000


# The experiment.


@dataclass(frozen=True)
class Data:
    """A table, what is known of people, and what is secret."""

    name: str
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    secret: str


DATA = (
    Data(
        "adult",
        ("age", "hours-per-week"),
        ("education", "marital-status", "native-country"),
        "occupation",
    ),
    Data(
        "internet_usage",
        ("Age",),
        ("Country", "Education_Attainment", "Major_Occupation", "Marital_Status", "Race"),
        "Household_Income",
    ),
)
NUMBERS = ("Scaling", "Bounds", "Binary", "QuantilesB", "QuantilesA", "TF")
CATEGORIES = ("Hot", "Binary", "HotA", "TF")


def people(data: Data, folder: Path, seed: int) -> pl.DataFrame:
    """Return the records of the paper: complete, with numbers as numbers.

    Of Adult a random sample.
    """
    columns = [*data.numbers, *data.categories, data.secret]
    table = pl.read_parquet(folder / f"{data.name}.parquet").select(columns)
    known = [pl.col(c) != "?" for c in columns if table.schema[c] == pl.String]
    table = table.filter(*known).with_columns(
        pl.col(c).cast(pl.Int64, strict=False) for c in data.numbers
    )
    table = table.drop_nulls(data.numbers)
    if table.height <= SAMPLE:
        return table
    return table[sorted(random.Random(seed).sample(range(table.height), SAMPLE))]


def released(table: pl.DataFrame, data: Data, k: int, folder: Path) -> dict[str, list[Cell]]:
    """Return the cells of each quasi-identifier of the release, in the order of the records."""
    qids = [*data.numbers, *data.categories]
    if k == 1:
        return {name: [single(v) for v in table[name]] for name in qids}
    source, out = folder / "people.parquet", folder / "release.parquet"
    table.write_parquet(source)
    qifsql.anonymise(source, out, method="mondrian", k=k, qids=qids, secret=data.secret)
    release = pl.read_parquet(out)
    found: dict[str, list[Cell]] = {}
    for name in qids:
        if isinstance(release.schema[name], pl.Struct):
            found[name] = [(c["lower"], c["upper"]) for c in release[name]]
        else:
            found[name] = [frozenset(c) for c in release[name]]
    return found


class Tables:
    """The scores of each attribute by each encoding, over one release."""

    def __init__(self, table: pl.DataFrame, cells: Mapping[str, list[Cell]], secret: str) -> None:
        self.table, self.cells, self.secret = table, cells, table[secret].to_list()
        counted = Counter(self.secret)
        self.totals = Counter({c: counted[c] for c in sorted(counted)})

    def counts(self, name: str) -> Counts:
        """Return how many records of each cell have which secret."""
        found: dict[Cell, Counter[str]] = defaultdict(Counter)
        for cell, secret in zip(self.cells[name], self.secret, strict=True):
            found[cell][secret] += 1
        return found

    def of(self, name: str, how: str) -> tuple[Scores, int]:
        """Return one attribute by one encoding."""
        values, counts = sorted(set(self.table[name])), self.counts(name)
        if how == "TF":
            return told_apart(counts, values, self.totals)
        return encoded(self.encoder(name, how), counts, values, self.totals)

    def encoder(self, name: str, how: str) -> Callable[[Cell], Sequence[float]]:
        """Return an encoding that does not depend on the record that is guessed."""
        column = self.table[name]
        if column.dtype == pl.String:
            values = sorted(set(column))
            cells: Any = sorted(set(self.cells[name]), key=sorted)  # type: ignore[arg-type]
            ways: dict[str, tuple[Any, Any]] = {
                "Hot": (hot, values),
                "Binary": (binary_after, cells),
                "HotA": (hot_after, cells),
            }
            encode, known = ways[how]
            return lambda cell: encode(cell, known)
        if how == "QuantilesA":
            parts = parts_of(column)
            return lambda cell: quantiles(cell, parts)  # type: ignore[arg-type]
        low, high = float(column.min()), float(column.max())  # type: ignore[arg-type]
        number = {"Scaling": scaling, "Bounds": bounds, "Binary": binary}[how]
        return lambda cell: number(cell, low, high)  # type: ignore[operator]


def guessed(tables: Tables, used: Mapping[str, Scores]) -> float:
    """Return the share of the records whose secret is guessed; of equal classes the first is."""
    classes = list(tables.totals)
    prior = [math.log(n / len(tables.secret)) for n in tables.totals.values()]
    rows = Counter(zip(*(tables.table[name] for name in used), tables.secret, strict=True))
    right = 0
    for (*values, secret), n in rows.items():
        parts = [used[name][v] for name, v in zip(used, values, strict=True)]
        scores = [math.fsum(column) for column in zip(prior, *parts, strict=True)]
        right += n * (classes[scores.index(max(scores))] == secret)
    return right / len(tables.secret)


def encodings(data: Data, tables: Tables, before: Tables) -> dict[tuple[str, str], Any]:
    """Return accuracy, features and attributes' encodings of all 24, over one release.

    ``before`` is the release whose numbers were made quantiles before it was anonymised.
    """
    made: dict[tuple[bool, str, str], tuple[Scores, int]] = {}
    found = {}
    for number, category in product(NUMBERS, CATEGORIES):
        cut = number == "QuantilesB"
        use = before if cut else tables
        how = dict.fromkeys(data.numbers, category if cut else number)
        how |= dict.fromkeys(data.categories, category)
        for name, way in how.items():
            if (cut, name, way) not in made:
                made[cut, name, way] = use.of(name, way)
        own = {name: made[cut, name, way] for name, way in how.items()}
        accuracy = guessed(use, {name: scores for name, (scores, _) in own.items()})
        features = sum(n for _, n in own.values())
        found[number, category] = (accuracy, features, how)
    return found


def cut_before(table: pl.DataFrame, data: Data) -> pl.DataFrame:
    """Return the records with quantiles in place of numbers, as categories."""
    columns = []
    for name in data.numbers:
        parts = parts_of(table[name])
        label = {v: f"{a:g}-{b:g}" for a, b in parts for v in set(table[name]) if a <= v <= b}
        columns.append(pl.Series(name, [label[v] for v in table[name]]))
    return table.with_columns(columns)


# scikit-learn beside it.


def trained(tables: Tables, how: Mapping[str, str], i: int) -> tuple[list[float], float]:
    """Return probabilities of each class for record ``i`` by scikit-learn, and the seconds it took.

    The least of five times, on one thread, without the time of encoding.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported
    import numpy as np
    from sklearn.naive_bayes import BernoulliNB

    columns, target = [], []
    for name, way in how.items():
        value = tables.table[name][i]
        if way == "TF":
            columns.append([[true_false(cell, value)] for cell in tables.cells[name]])
            target.append(1)
        else:
            encode = tables.encoder(name, way)
            known = {cell: encode(cell) for cell in set(tables.cells[name])}
            columns.append([known[cell] for cell in tables.cells[name]])
            target += encode(single(value))
    features = np.array([[x for part in row for x in part] for row in zip(*columns, strict=True)])
    spent = []
    for _ in range(5):
        started = time.perf_counter()
        model = BernoulliNB().fit(features, tables.secret)
        found = model.predict_proba(np.array([target]))[0]
        spent.append(time.perf_counter() - started)
    return list(map(float, found)), min(spent)


def closed(tables: Tables, how: Mapping[str, str], i: int) -> list[float]:
    """Return the same probabilities in closed form."""
    used = {name: tables.of(name, way)[0][tables.table[name][i]] for name, way in how.items()}
    prior = [math.log(n / len(tables.secret)) for n in tables.totals.values()]
    scores = [math.fsum(column) for column in zip(prior, *used.values(), strict=True)]
    most = max(scores)
    shares = [math.exp(s - most) for s in scores]
    return [s / math.fsum(shares) for s in shares]


# The report.


def measured(data: Data, folder: Path, *, check: bool, seed: int) -> str:
    """Return all 24 encodings on one table, as Markdown."""
    table = people(data, folder, seed)
    cut = cut_before(table, data)
    accuracy: dict[tuple[str, str], list[float]] = defaultdict(list)
    features: dict[tuple[str, str], list[int]] = defaultdict(list)
    seconds: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as place:
        for k in KS:
            tables = Tables(table, released(table, data, k, Path(place)), data.secret)
            before = Tables(cut, released(cut, data, k, Path(place)), data.secret)
            for pair, (share, n, how) in encodings(data, tables, before).items():
                accuracy[pair].append(share)
                features[pair].append(n)
                if check and k == 16:
                    use = before if pair[0] == "QuantilesB" else tables
                    seconds[pair] = held(use, how)
            print(f"{data.name}, k = {k}: done", flush=True)
    most = max(Counter(table[data.secret]).values()) / table.height
    lines = [
        f"### {data.name}: {table.height:,} records, secret {data.secret}",
        "",
        f"Always guessing the most frequent value is right for {100 * most:.2f} %.",
        "",
    ]
    lines += grid("Accuracy, mean over k, in percent", accuracy, lambda x: f"{100 * mean(x):.2f}")
    lines += by_k(accuracy)
    lines += grid("Features, mean over k", features, lambda x: f"{mean(x):.1f}")
    if seconds:
        title = f"Minutes of scikit-learn for {table.height:,} models, k = 16 (the fastest of 15)"
        lines += grid(title, seconds, lambda s: f"{s * table.height / 60:.2f}")
    return "\n".join(lines)


def held(tables: Tables, how: Mapping[str, str]) -> float:
    """Return the seconds of a model of scikit-learn, which must say what the closed form says."""
    spent = []
    for i in (0, tables.table.height // 2, tables.table.height - 1):
        found, seconds = trained(tables, how, i)
        for one, other in zip(found, closed(tables, how, i), strict=True):
            assert abs(one - other) < 1e-12, (how, one, other)
        spent.append(seconds)
    return min(spent)


def mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def grid(title: str, found: Mapping[tuple[str, str], Any], show: Callable[[Any], str]) -> list[str]:
    """Return a table of all encodings: numbers down, categories across."""
    lines = [f"{title}:", "", f"| | {' | '.join(CATEGORIES)} |", "| --- |" + " --: |" * 4]
    for number in NUMBERS:
        cells = (show(found[number, category]) for category in CATEGORIES)
        lines.append(f"| {number} | {' | '.join(cells)} |")
    return [*lines, ""]


def by_k(accuracy: Mapping[tuple[str, str], Sequence[float]]) -> list[str]:
    """Return accuracy of some encodings for each k."""
    wanted = (("TF", "TF"), ("QuantilesB", "TF"), ("QuantilesA", "Hot"), ("Binary", "HotA"))
    lines = ["Accuracy by k, in percent:", "", f"| | {' | '.join(map(str, KS))} |"]
    lines.append("| --- |" + " --: |" * len(KS))
    for pair in wanted:
        shares = " | ".join(f"{100 * x:.2f}" for x in accuracy[pair])
        lines.append(f"| {pair[0]}-{pair[1]} | {shares} |")
    return [*lines, ""]


def main() -> None:
    """Measure all encodings and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    shared = os.environ.get("QIFSQL_SHARED", str(HERE.parent.parent / "shared"))
    parser.add_argument("--data", type=Path, default=Path(shared) / "data")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--check", action="store_true", help="hold it against scikit-learn")
    given = parser.parse_args()
    parts = [measured(d, given.data, check=given.check, seed=given.seed) for d in DATA]
    print("\n".join(parts))
    if given.out:
        given.out.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
