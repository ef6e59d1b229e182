"""Tables and logs of several shapes, and what is stated of them in many draws.

Of sweeps the SQL that draws and the function that estimates are those of a sweep; only the sums
over the blocks of each value are computed once, by hand, instead of in every sweep. Points of a log
are drawn as the documentation of ``unicity`` says.
"""

import hashlib
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import duckdb
import polars as pl

from qifsql.commands.sweep import samples
from qifsql.commands.sweep.samples import Stratum
from qifsql.commands.unicity.traces import wilson_interval
from qifsql.measures.uniqueness import Sizes, pitman, snb, zayatz
from qifsql.query.templates import text

SHAPES = ("uniform", "zipf", "lognormal", "half missing")
OTHERS = ("b", "c")
MEASURES = {"deterministic": "certain", "probabilistic": "mode"}


def table(shape: str, people: int, values: int, seed: int = 0) -> pl.DataFrame:
    """People with a value ``a`` of many, two of few, and a secret that ``a`` tells something of."""
    rng = random.Random(f"{shape} {seed}")
    weights = {
        "zipf": lambda i: 1 / (i + 1),
        "lognormal": lambda _: rng.lognormvariate(0, 1.5),
    }.get(shape, lambda _: 1.0)
    a: list[int | None] = [
        *rng.choices(range(values), [weights(i) for i in range(values)], k=people)
    ]
    if shape == "half missing":
        a = [None if rng.random() < 0.5 else value for value in a]
    tells = [rng.betavariate(0.3, 0.6) for _ in range(values + 1)]
    known = (tells[-1 if value is None else value] for value in a)
    columns = {
        "a": a,
        "b": rng.choices(range(2), k=people),
        "c": rng.choices(range(3), [6, 3, 1], k=people),
        "s": [0 if rng.random() < chance else rng.choice((1, 2)) for chance in known],
    }
    return pl.DataFrame(columns, schema=dict.fromkeys("abcs", pl.Int64()))


BLOCKS = """
CREATE TABLE sums AS
SELECT entry, {mask} AS subset, {question} AS question, count(*) AS blocks, sum(n) AS people,
    sum(mode) AS mode, coalesce(sum(n) FILTER (WHERE mode = n), 0) AS certain, min(n) AS k,
    min(l) AS l, max(mode / n) AS worst_case
FROM (SELECT entry, {mode}::BIGINT AS mode, sum(n)::BIGINT AS n, count(*) AS l
      FROM (SELECT entry, {others} s, count(*) AS n FROM people GROUP BY ALL)
      GROUP BY entry{by})
GROUP BY entry
"""
SUMS = """
COPY (
    SELECT seed * 8 + subset AS subset, question, part, sum(blocks)::BIGINT AS blocks,
        sum(people)::BIGINT AS people, sum(mode)::BIGINT AS mode, sum(certain)::BIGINT AS certain,
        min(k) AS k, min(l) AS l, max(worst_case) AS worst_case
    FROM (SELECT seed, entry, part FROM lot UNION ALL SELECT seed, entry, 0 FROM certain, seeds)
    JOIN sums USING (entry) GROUP BY 1, 2, 3
) TO '{path}' (FORMAT PARQUET)
"""


class Draws:
    """A table whose samples of a share are drawn for many seeds."""

    def __init__(self, people: pl.DataFrame, share: float) -> None:
        self.share, self.people = share, people.height
        self.con = duckdb.connect(config={"threads": 1})
        self.con.register("given", people.to_arrow())
        self.con.execute(
            "CREATE TABLE people AS SELECT dense_rank() OVER (ORDER BY a NULLS LAST) - 1 AS entry, "
            "b, c, s FROM given"
        )
        self.con.unregister("given")
        self._blocks()
        self.con.execute(
            "CREATE TABLE coded AS SELECT entry, count(*) AS word FROM people GROUP BY 1"
        )
        self.con.execute("CREATE MACRO people(word) AS word")
        self.limits = samples.stratum_limits(share, self.people)
        self.con.execute(f"SET VARIABLE first = 0; SET VARIABLE limits = {self.limits}::BIGINT[]")
        for name in ("lots", "strata"):
            self.con.execute(text(f"sweep/{name}"))
        self.strata = [Stratum(*row) for row in self._rows("FROM strata")]
        self.drawn = samples.draws_by_stratum(self.strata, share, len(self.limits) + 1)
        self.con.execute(f"SET VARIABLE drawn = {self.drawn}::BIGINT[]")

    def _blocks(self) -> None:
        """The sums over the blocks of each entry, of the subsets with ``a``: bit 0."""
        made = []
        for others in range(4):
            names = [name for i, name in enumerate(OTHERS) if others >> i & 1]
            values = {"mask": 1 + 2 * others, "others": "".join(f"{n}, " for n in names)}
            values["by"] = "".join(f", {n}" for n in names)
            for question, mode in enumerate(("1", "max(n)")):
                made.append(BLOCKS.format(**values, question=question, mode=mode))
        self.con.execute(made[0])
        for sql in made[1:]:
            self.con.execute(sql.replace("CREATE TABLE sums AS", "INSERT INTO sums"))

    def _rows(self, sql: str) -> list[tuple[int, ...]]:
        return self.con.execute(sql).fetchall()

    def lots(self, seed: int) -> list[int]:
        """The entries that one sample draws."""
        self.con.execute(f"SET VARIABLE seed = {seed}")
        drawn = "place < getvariable('drawn')[stratum + 1]"
        return [e for (e,) in self._rows(f"SELECT entry FROM lots WHERE {drawn}")]

    def estimated(self, seeds: Iterable[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Estimates and errors as of a sweep; each subset is 8 times the seed plus its number."""
        seeds = list(seeds)
        put = self.con.execute
        put("CREATE OR REPLACE TABLE lot (seed INTEGER, entry BIGINT, part INTEGER)")
        put("CREATE OR REPLACE TABLE bounds (stratum INTEGER, part INTEGER, a INTEGER, b INTEGER)")
        parts = []
        for stratum in self.strata:
            number = self.drawn[stratum.number]
            facts = (stratum.blocks, stratum.people, stratum.largest, number)
            for least, until in samples.random_parts(number) if number else []:
                parts.append((len(parts) + 1, stratum.number, *facts))
                row = [stratum.number, len(parts), least, until]
                put("INSERT INTO bounds VALUES (?, ?, ?, ?)", row)
        put("CREATE OR REPLACE TABLE seeds AS SELECT unnest(?) AS seed", [seeds])
        for seed in seeds:
            put(f"SET VARIABLE seed = {seed}; INSERT INTO lot SELECT {seed}, entry, part FROM lots "
                "JOIN bounds USING (stratum) WHERE place >= a AND place < b")  # fmt: skip
        put("CREATE OR REPLACE TABLE certain AS SELECT entry FROM lots "
            "WHERE getvariable('drawn')[stratum + 1] = 0")  # fmt: skip
        with tempfile.TemporaryDirectory() as here:
            path = Path(here) / "sums.parquet"
            put(SUMS.format(path=path))
            subsets = pl.read_parquet(path)
        names = ["part", "stratum", "of_blocks", "of_people", "largest", "drawn"]
        frame = pl.DataFrame(parts, schema=dict.fromkeys(names, pl.Int64()), orient="row")
        typed = frame.cast({"part": subsets.schema["part"]})
        return samples.estimate(subsets, typed, self.people)

    def coverage(self, seeds: Iterable[int]) -> pl.DataFrame:
        """One row per subset, question and measure: how often the interval is right."""
        whole, errors = self.estimated(seeds)
        put = "SELECT subset, question, sum(certain)::BIGINT AS certain, sum(mode)::BIGINT AS mode "
        rows = self._rows(f"{put} FROM sums GROUP BY ALL")
        names = ["of", "question", "exact_certain", "exact_mode"]
        exact = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64()), orient="row")
        number = {"of": pl.col("subset") % 8, "question": pl.col("question")}
        typed = [tree.cast(pl.Int64).alias(name) for name, tree in number.items()]
        both = whole.join(errors, on=["subset", "question"]).with_columns(typed)
        both = both.join(exact, on=["of", "question"])
        found = []
        for measure, name in MEASURES.items():
            off = (pl.col(name) - pl.col(f"exact_{name}")) / self.people
            error = pl.col(f"error_{measure}")
            found.append(
                both.group_by("of", "question").agg(
                    measure=pl.lit(measure),
                    exact=pl.col(f"exact_{name}").first() / self.people,
                    sampled=pl.col("sampled").mean(),
                    held=(off.abs() <= error).mean(),
                    error=error.mean(),
                    root_mean_square=(off**2).mean().sqrt(),
                )
            )
        return pl.concat(found).sort("of", "question", "measure")


KNOWN = 2  # points of a log that are known


def trails(shape: str, people: int, seed: int = 0) -> list[list[int]]:
    """The points of each person, in their order: 2 to 9 of them, 99 for a missing one."""
    rng = random.Random(f"{shape} {seed}")
    weights = {
        "zipf": [1 / (i + 1) for i in range(60)],
        "lognormal": [rng.lognormvariate(0, 1.5) for _ in range(60)],
    }.get(shape, [1.0] * 60)
    found = []
    for _ in range(people):
        points = set(rng.choices(range(60), weights, k=rng.randint(3, 9)))
        if shape == "half missing" and rng.random() < 0.5:
            points = {*list(points)[1:], 99}
        found.append(sorted(points))
    return [points for points in found if len(points) >= KNOWN]


def unicity_coverage(shape: str, seeds: Sequence[int], draws: int = 50) -> dict[str, float]:
    """Return the coverage of the interval of this many draws, and half its mean width."""
    everybody = trails(shape, 300)
    owners = Counter(s for points in everybody for s in combinations(points, KNOWN))
    shares = [[owners[s] == 1 for s in combinations(points, KNOWN)] for points in everybody]
    exact = sum(sum(alone) / len(alone) for alone in shares) / len(shares)
    held, width = 0, 0.0
    for seed in seeds:
        right = 0
        for draw in range(draws):
            lot = f"{seed}/{KNOWN}/{draw}"
            number = int.from_bytes(hashlib.md5(lot.encode()).digest(), "little")
            points = everybody[number % len(everybody)]
            turns = {
                p: hashlib.md5(f"{lot}/{i}".encode()).digest() for i, p in enumerate(points, 1)
            }
            right += owners[tuple(sorted(sorted(points, key=turns.__getitem__)[:KNOWN]))] == 1
        low, high = wilson_interval(right, draws)
        held += low <= exact <= high
        width += (high - low) / 2
    return {"exact": exact, "held": held / len(seeds), "error": width / len(seeds)}


def estimate_coverage(shape: str, seeds: Sequence[int], fraction: float = 0.1) -> dict[str, float]:
    """Return the coverage of the range of the methods for the number of population uniques."""
    people = table(shape, 10_000, 2_500).select("a", *OTHERS).rows()
    exact = sum(n == 1 for n in Counter(people).values())
    held, lows, highs = 0, 0.0, 0.0
    for seed in seeds:
        sample = random.Random(seed).sample(people, round(fraction * len(people)))
        sizes = Sizes(Counter(Counter(sample).values()), Fraction(str(fraction)))
        numbers = [one.number for one in (zayatz(sizes), pitman(sizes), snb(sizes))]
        told = [number for number in numbers if number is not None]
        held += min(told) <= exact <= max(told)
        lows, highs = lows + min(told), highs + max(told)
    n = len(seeds)
    return {"exact": exact, "held": held / n, "low": lows / n, "high": highs / n}
