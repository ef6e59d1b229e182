"""Estimates from a sample of blocks: the draw of blocks, and the errors of the estimates.

Blocks of one attribute are drawn whole. So each block of a subset that takes the attribute is in
the sample completely or not at all: the counts in a block are exact, and only the choice of blocks
is random.

Blocks have very different sizes: half of the people may be in one block (those with a missing
value). So blocks are drawn by size, in strata. The requested share s is drawn of the blocks with at
most s N / ``STANDS_FOR`` of the N people, ``FACTOR`` times that share of the blocks up to
``FACTOR`` times as large, and so on. Larger blocks are counted exactly. No drawn block represents
more than one in ``STANDS_FOR`` of the people, so no omitted block changes an estimate by more.

Stratum h has N_h people in M_h blocks, of which d_h are drawn. The drawn blocks are divided into
random parts r = 1 .. m. The guess is right for y_r of the n_r people of part r, so it is right for
about N_h R_h people of the stratum, R_h = sum y_r / sum n_r. The error has two terms:

- the error from the differences between the parts (random groups: Wolter 2007, chapter 2):
  T sqrt(sum_h N_h^2 (1 - d_h / M_h) m / (m - 1) sum_r (y_r - R_h n_r)^2 / (sum n_r)^2);
- the error from sets of blocks of which no block was drawn. If the blocks of a set have the chances
  p_b of a draw, all are left out with a chance of at most exp(-sum p_b), 5 % if the sum is 3. So
  such a set has at most 3 max(n_b / p_b) people, at 95 % (the rule of three).

Neither term needs a model of the data. Both together cover at least 95 % of the draws of every
tested shape of data (``benchmarks/coverage.md``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import polars as pl

from qifsql.commands.sweep.result import KEYS, SUBSET, questions

STANDS_FOR = 100  # a drawn block represents at most one in this many people
FACTOR = 4  # ratio of block sizes, and of shares, from one stratum to the next
FEWEST = 30  # fewest blocks that are drawn of each stratum
PARTS = 10  # random parts of the drawn blocks of a stratum; errors follow from their differences
STUDENT_T = 2.262  # 97.5 % quantile of Student's t with PARTS - 1 degrees of freedom
UNSEEN = 3  # -ln 0.05, rounded up: the rule of three
ERRORS: dict[str, pl.DataType] = dict.fromkeys(
    ("sampled", "error_deterministic", "error_probabilistic"), pl.Float64()
)
"""Further columns of a sampled sweep: the share of the people that was measured (1: all, exact),
and the largest error of the estimated ``posterior_*``, at 95 % confidence. If ``sampled`` is below
1, ``blocks``, ``singled_out``, ``individuals_certain``, the degradations and leakages follow from
these estimates; ``k``, ``l`` and ``worst_case`` are those of the measured blocks: the true k and l
are at most these, the true worst case is at least this."""

NO_ERRORS = pl.DataFrame(schema={"subset": SUBSET, "question": pl.UInt8(), **ERRORS})
SUMS = ("blocks", "mode", "certain")


@dataclass(frozen=True)
class Stratum:
    """The blocks of one range of sizes: their number, their people, and those of the largest."""

    number: int
    blocks: int
    people: int
    largest: int

    def draw_count(self, share: float) -> int:
        """Return the number of blocks that a sample draws; 0 if it counts all of them."""
        draws = max(FEWEST, ceil(share * FACTOR**self.number * self.blocks))
        return draws if draws < self.blocks else 0


def stratum_limits(share: float, people: int) -> list[int]:
    """Return the largest block size of each stratum; larger blocks are counted exactly."""
    sizes: list[int] = []
    while (chance := share * FACTOR ** len(sizes)) < 1:
        sizes.append(int(chance * people / STANDS_FOR))
    return sizes


def random_parts(drawn: int) -> list[tuple[int, int]]:
    """Return the random parts of that many drawn blocks, as ranges without the end."""
    return list(pairwise(i * drawn // PARTS for i in range(PARTS + 1)))


def draws_by_stratum(strata: Sequence[Stratum], share: float, total: int) -> list[int]:
    """Return the number of blocks drawn from each of ``total`` strata; 0: all its blocks count."""
    draws = [0] * total
    for stratum in strata:
        if stratum.number < total - 1:  # the last one has the largest blocks
            draws[stratum.number] = stratum.draw_count(share)
    return draws


def estimate(
    subsets: pl.DataFrame, parts: pl.DataFrame, people: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return one row per subset and question, scaled to all people, and the errors of success.

    ``subsets`` has the sums over blocks by the random ``part`` of a sample (0: of no sample),
    ``parts`` has these parts with their strata: blocks of similar size, some of which were drawn.
    The errors have the columns of ``NO_ERRORS``, and no row where all was counted. ``seen`` are the
    people of the blocks that were measured.
    """
    ordered = subsets.sort(*KEYS, "part")
    strata = _sums_by_stratum(ordered.join(parts, on="part", maintain_order="left"))
    # Sums over the strata, each scaled from the people that were seen to all of its people.
    sampled = strata.group_by(KEYS, maintain_order=True).agg(
        pl.col("seen", "people").sum(),
        *((pl.col(name) * pl.col("people") / pl.col("seen")).sum().alias(name) for name in SUMS),
        *(_variance(name).sum().alias(f"variance_{name}") for name in ("mode", "certain")),
        pl.col("k", "l").min(),
        pl.col("worst_case").max(),
        # The people of a set of blocks of which none was drawn, at most; a chance: drawn / blocks.
        unseen=(UNSEEN * pl.col("largest") * pl.col("of_blocks") / pl.col("drawn")).max(),
    )
    # Blocks that were not left to chance are added as they are.
    exact = ordered.filter(pl.col("part") == 0).drop("part").with_columns(seen="people")
    as_floats = exact.cast(dict.fromkeys(("seen", "people", *SUMS), pl.Float64))
    all_parts = pl.concat([as_floats, sampled.select(exact.columns)])
    totals = all_parts.group_by(KEYS).agg(
        pl.col("seen", "people", *SUMS).sum().round().cast(pl.Int64),
        pl.col("k", "l").min(),
        pl.col("worst_case").max(),
    )
    everybody = pl.lit(people, pl.Int64)
    errors = sampled.join(totals.select(*KEYS, all_seen="seen"), on=KEYS).select(
        *KEYS,
        sampled=pl.col("all_seen") / everybody,
        error_deterministic=_error("certain") / everybody,
        error_probabilistic=_error("mode") / everybody,
    )
    columns = [c for c in subsets.columns if c != "part"]
    return totals.select(columns).sort(KEYS), errors


def scale_histograms(bins: pl.DataFrame, parts: pl.DataFrame) -> pl.DataFrame:
    """Return individuals by subset, question and percent, scaled to all people and rounded.

    ``bins`` has them by ``part`` of a sample (0: all people), ``parts`` the stratum of each part.
    """
    part = pl.col("part")
    bins = bins.select(*KEYS, "part", "bin", "individuals")
    sampled = bins.filter(part != 0).join(parts, on="part")
    seen = pl.col("individuals").sum().over(*KEYS, "stratum")  # the people of the drawn blocks
    scaled = sampled.with_columns(individuals=pl.col("individuals") * pl.col("of_people") / seen)
    exact = bins.filter(part == 0).cast({"individuals": pl.Float64})
    all_parts = pl.concat([exact, scaled.select(bins.columns)])
    by_bin = all_parts.sort(*KEYS, "bin", "part").group_by(*KEYS, "bin", maintain_order=True)
    return by_bin.agg(pl.col("individuals").sum().round().cast(pl.Int64))


def _sums_by_stratum(drawn: pl.DataFrame) -> pl.DataFrame:
    """Return one row per subset, question and stratum: sums, and squares sum_r (y_r - R n_r)^2.

    ``drawn`` has a row per part r, of n_r people, for y_r of whom the guess is right; R is their
    ratio in the stratum. ``seen`` are its people in the sample, ``people`` all of the stratum, and
    ``correction`` is m / (m - 1) for m parts.
    """
    n, m = pl.col("people"), pl.len()
    squares = {
        f"squares_{name}": ((pl.col(name) - n * (pl.col(name).sum() / n.sum())) ** 2).sum()
        for name in ("mode", "certain")
    }
    return drawn.group_by(*KEYS, "stratum", maintain_order=True).agg(
        pl.col(*SUMS).sum(),
        pl.col("of_people", "of_blocks", "drawn", "largest").first(),
        pl.col("k", "l").min(),
        pl.col("worst_case").max(),
        **squares,
        seen=n.sum().cast(pl.Float64),
        people=pl.col("of_people").first().cast(pl.Float64),
        correction=m / (m - 1),
    )


def _variance(name: str) -> pl.Expr:
    """Return the variance of a sum that is scaled to all people of a stratum."""
    omitted_share = 1 - pl.col("drawn") / pl.col("of_blocks")
    scale = pl.col("people") / pl.col("seen")
    return omitted_share * pl.col("correction") * pl.col(f"squares_{name}") * scale**2


def _error(name: str) -> pl.Expr:
    return STUDENT_T * pl.col(f"variance_{name}").sqrt() + pl.col("unseen")


def with_errors(frame: pl.DataFrame, errors: pl.DataFrame, secrets: list[str]) -> pl.DataFrame:
    """Return the rows of a sweep with the columns of ``ERRORS``, from the table ``errors``.

    Rows without an entry there are exact: all people were counted, and the errors are 0.
    """
    # ``errors`` has the number of each question, which follows from the secret.
    numbers = questions(secrets).drop("model")
    joined = frame.join(numbers, on="secret", nulls_equal=True, maintain_order="left").join(
        errors, on=KEYS, how="left", maintain_order="left"
    )
    exact = {"sampled": 1.0, "error_deterministic": 0.0, "error_probabilistic": 0.0}
    filled = joined.with_columns(pl.col(name).fill_null(number) for name, number in exact.items())
    return filled.select(*frame.columns, *ERRORS)


def note_on_estimates(frame: pl.DataFrame) -> str:
    """Return a remark on the estimated subsets: how many, and the largest error of success."""
    rows = frame.filter(pl.col("sampled") < 1)
    if rows.is_empty():
        return (
            "nothing was sampled, every subset is exact: a sample pays where an attribute has very "
            "many values and there are no weights"
        )
    errors = rows.select(pl.max_horizontal("error_deterministic", "error_probabilistic").max())
    some, total = rows["subset"].n_unique(), frame["subset"].n_unique()
    return (
        f"ESTIMATES: {some:,} of {total:,} subsets come from a sample (column sampled: the share "
        f"of the people that was looked at); their successes are right within "
        f"{100 * errors.item():.2g} percentage points or less, at 95 % confidence for each "
        "(columns error_*); the true k and l may be smaller than those of the sample, the true "
        "worst_case greater; all else that is said of these subsets, such as which is the best or "
        "which quasi-identifier to drop first, follows from the estimates and has no error stated"
    )
