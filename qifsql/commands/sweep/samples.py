"""Estimates from a sample of blocks: which blocks are drawn, and what errors the estimates have.

Blocks of one attribute are drawn whole, so that every block of a subset that takes the attribute is
there whole or not at all: what is counted in it is exact, and only which blocks are there is
chance.

Blocks are of very different sizes: half of the people may be in one (those of whom the value is
missing). So blocks are drawn by size, in strata. The share s that was asked for is drawn of the
blocks with at most s N / ``STANDS_FOR`` of the N people, ``FACTOR`` times that share of those up to
``FACTOR`` times as large, and so on; larger ones are counted exactly. No block that is drawn stands
for more than one in ``STANDS_FOR`` of the people, so no block that is left out changes an estimate
by more.

Of the N_h people of stratum h, M_h blocks of which d_h are drawn, the guess is right for about
N_h R_h, R_h = sum y_r / sum n_r: y_r of the n_r people in random part r of the drawn blocks,
r = 1 .. m. The error has two terms:

- what the differences between the parts tell (random groups: Wolter 2007, chapter 2):
  T sqrt(sum_h N_h^2 (1 - d_h / M_h) m / (m - 1) sum_r (y_r - R_h n_r)^2 / (sum n_r)^2);
- what no drawn block can tell: blocks of which none was drawn. All of those that are drawn with the
  chances p_b are left out with a chance of at most exp(-sum p_b), 5 % where the sum is 3: so they
  have at most 3 max(n_b / p_b) people, at 95 % (the rule of three).

Neither needs a model of the data; both together cover at least 95 % of the draws of every shape
that was tried (``benchmarks/coverage.md``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import polars as pl

from qifsql.commands.sweep.result import questions

STANDS_FOR = 100  # a drawn block stands for at most this part of the people
FACTOR = 4  # so many times as large are the blocks of a stratum as those before, as is the share
FEWEST = 30  # blocks that are drawn of each stratum, at least
PARTS = 10  # random parts of the drawn blocks of a stratum, from whose differences errors follow


@dataclass(frozen=True)
class Stratum:
    """The blocks of one range of sizes: how many, their people, the people of the largest."""

    number: int
    blocks: int
    people: int
    largest: int

    def drawn(self, share: float) -> int:
        """Return how many of the blocks a sample draws; 0 where it counts all of them."""
        draws = max(FEWEST, ceil(share * FACTOR**self.number * self.blocks))
        return draws if draws < self.blocks else 0


def limits(share: float, people: int) -> list[int]:
    """Return the sizes of blocks up to which each stratum goes.

    What is larger is counted exactly.
    """
    sizes: list[int] = []
    while (chance := share * FACTOR ** len(sizes)) < 1:
        sizes.append(int(chance * people / STANDS_FOR))
    return sizes


def parts(drawn: int) -> list[tuple[int, int]]:
    """Return the random parts of that many drawn blocks.

    The first of each, and the first after it.
    """
    bounds = [i * drawn // PARTS for i in range(PARTS + 1)]
    return list(pairwise(bounds))


def sampled(strata: Sequence[Stratum], share: float, counted: int) -> list[int]:
    """Return how many blocks are drawn of each of ``counted`` strata by number, 0 for all of them.

    The last stratum, of the largest blocks, is always counted exactly.
    """
    draws = [0] * counted
    for stratum in strata:
        if stratum.number < counted - 1:
            draws[stratum.number] = stratum.drawn(share)
    return draws


T = 2.262  # 97.5 % of Student's t with 9 degrees of freedom: one less than there are parts
UNSEEN = 3  # -ln 0.05, rounded up: the rule of three
ERRORS: dict[str, pl.DataType] = {
    "sampled": pl.Float64(),
    "error_deterministic": pl.Float64(),
    "error_probabilistic": pl.Float64(),
}
"""Further columns of a sampled sweep: the share of the people that was looked at (1: all, exact),
and how far the true ``posterior_*`` may be from the estimated ones, at 95 % confidence. Where
``sampled`` is below 1, ``blocks``, ``singled_out``, ``individuals_certain``, the degradations and
leakages follow from these estimates; ``k``, ``l`` and ``worst_case`` are of the blocks that were
looked at, which bounds those of everybody: k and l are at most that, the worst case at least."""

NONE = pl.DataFrame(schema={"subset": pl.UInt32(), "question": pl.UInt8(), **ERRORS})
SUMS = ("blocks", "mode", "certain")
KEYS = ["subset", "question"]


def estimated(
    subsets: pl.DataFrame, parts: pl.DataFrame, people: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return one row per subset and question, scaled to all people.

    And the errors of the successes.

    ``subsets`` are sums over blocks by the random ``part`` of a sample (0: of no sample), ``parts``
    are those parts with their strata.
    """
    ordered = subsets.sort(*KEYS, "part")
    strata = _strata(ordered.join(parts, on="part", maintain_order="left"))
    drawn = strata.group_by(KEYS, maintain_order=True).agg(
        pl.col("seen", "people").sum(),
        *(_scaled(name).sum().alias(name) for name in SUMS),
        *(_variance(name).sum().alias(f"variance_{name}") for name in ("mode", "certain")),
        pl.col("k", "l").min(),
        pl.col("worst_case").max(),
        unseen=(UNSEEN * pl.col("largest") * pl.col("of_blocks") / pl.col("drawn")).max(),
    )
    counted = ordered.filter(pl.col("part") == 0).drop("part").with_columns(seen="people")
    names = ["seen", "people", *SUMS]
    both = pl.concat(
        [counted.cast(dict.fromkeys(names, pl.Float64)), drawn.select(counted.columns)]
    )
    whole = both.group_by(KEYS).agg(
        pl.col("seen", "people", *SUMS).sum().round().cast(pl.Int64),
        pl.col("k", "l").min(),
        pl.col("worst_case").max(),
    )
    everybody = pl.lit(people, pl.Int64)
    errors = drawn.join(whole.select(*KEYS, all_seen="seen"), on=KEYS).select(
        *KEYS,
        sampled=pl.col("all_seen") / everybody,
        error_deterministic=_error("certain") / everybody,
        error_probabilistic=_error("mode") / everybody,
    )
    columns = [c for c in subsets.columns if c != "part"]
    return whole.select(columns).sort(KEYS), errors


def histograms(bins: pl.DataFrame, parts: pl.DataFrame) -> pl.DataFrame:
    """Return individuals by success in percent, scaled to all people and rounded."""
    part = pl.col("part")
    drawn = bins.filter(part != 0).join(parts, on="part")
    seen = pl.col("individuals").sum().over(*KEYS, "stratum")
    scaled = drawn.with_columns(individuals=pl.col("individuals") * pl.col("of_people") / seen)
    counted = bins.filter(part == 0).cast({"individuals": pl.Float64})
    both = pl.concat([counted, scaled.select(bins.columns)])
    whole = both.sort(*KEYS, "bin", "part").group_by(*KEYS, "bin", maintain_order=True)
    return whole.agg(pl.col("individuals").sum().round().cast(pl.Int64))


def _strata(drawn: pl.DataFrame) -> pl.DataFrame:
    """Return one row per subset, question and stratum.

    Sums over its parts, and of their squares.
    """
    n, m = pl.col("people"), pl.len()
    squares = [
        ((pl.col(name) - n * (pl.col(name).sum() / n.sum())) ** 2).sum().alias(f"squares_{name}")
        for name in ("mode", "certain")
    ]
    return drawn.group_by(*KEYS, "stratum", maintain_order=True).agg(
        *squares,
        *(pl.col(name).sum() for name in SUMS),
        pl.col("of_people", "of_blocks", "drawn", "largest").first(),
        pl.col("k", "l").min(),
        pl.col("worst_case").max(),
        seen=n.sum().cast(pl.Float64),
        people=pl.col("of_people").first().cast(pl.Float64),
        groups=m / (m - 1),
    )


def _scaled(name: str) -> pl.Expr:
    """Return a sum over the drawn blocks of a stratum, for all of its people."""
    return pl.col(name) * pl.col("people") / pl.col("seen")


def _variance(name: str) -> pl.Expr:
    """Return the variance of that."""
    left = 1 - pl.col("drawn") / pl.col("of_blocks")
    scale = pl.col("people") / pl.col("seen")
    return left * pl.col("groups") * pl.col(f"squares_{name}") * scale**2


def _error(name: str) -> pl.Expr:
    """Return the error of an estimate, in people."""
    return T * pl.col(f"variance_{name}").sqrt() + pl.col("unseen")


def with_errors(frame: pl.DataFrame, errors: pl.DataFrame, secrets: list[str]) -> pl.DataFrame:
    """Return the result with the columns of ``ERRORS``."""
    numbers = questions(secrets).drop("model")
    joined = frame.join(numbers, on="secret", nulls_equal=True, maintain_order="left").join(
        errors, on=KEYS, how="left", maintain_order="left"
    )
    return (
        joined.drop("question")
        .with_columns(
            pl.col("sampled").fill_null(1.0),
            pl.col("error_deterministic", "error_probabilistic").fill_null(0.0),
        )
        .select(*frame.columns, *ERRORS)
    )


def note(frame: pl.DataFrame) -> str:
    """Return a remark on what is estimated."""
    rows = frame.filter(pl.col("sampled") < 1)
    if rows.is_empty():
        return (
            "nothing was sampled, every subset is exact: a sample pays where an attribute has very "
            "many values and there are no weights"
        )
    errors = rows.select(pl.max_horizontal("error_deterministic", "error_probabilistic").max())
    seen, every = rows["subset"].n_unique(), frame["subset"].n_unique()
    return (
        f"ESTIMATES: {seen:,} of {every:,} subsets come from a sample (column sampled: the share "
        f"of the people that was looked at); their successes are right within "
        f"{100 * errors.item():.2g} percentage points or less, at 95 % confidence for each "
        "(columns error_*); the true k and l may be smaller than those of the sample, the true "
        "worst_case greater; all else that is said of these subsets, such as which is the best or "
        "which quasi-identifier to drop first, follows from the estimates and has no error stated"
    )
