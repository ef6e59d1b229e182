"""Estimates from a sample of blocks, with their errors.

Blocks of one attribute are drawn whole, so that every block of a subset that takes the attribute is
there whole or not at all: what is counted in it is exact, and only which blocks are there is
chance. A success is estimated by the ratio of the people for whom the guess is right to all people
of the sample. Its error comes from the differences between random parts of the sample (random
groups: Wolter 2007, chapter 2): with y_r and n_r of part r and R = sum y / sum n,
var R = (1 - f) / (1 - 1/m) * sum (y_r - R n_r)^2 / (sum n)^2, f the share that is drawn, m the
number of parts. Bounds are R +- 2.09 standard errors: 95 % by Student's t with 19 degrees.
"""

import polars as pl

T = 2.093  # 97.5 % of Student's t with 19 degrees of freedom
ERRORS: dict[str, pl.DataType] = {
    "sampled": pl.Float64(),
    "error_deterministic": pl.Float64(),
    "error_probabilistic": pl.Float64(),
}
"""Further columns of a sampled sweep: the share of the people that was looked at (1: all, exact),
and how far the true ``posterior_*`` may be from the estimated ones, at 95 % confidence. ``k``,
``l`` and ``worst_case`` are of the sample where that is below 1: the true ones may be worse."""

SUMS = ("blocks", "mode", "certain")


def estimated(subsets: pl.DataFrame, people: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One row per subset and question, scaled to all people; and the errors of the successes."""
    keys = ["subset", "question"]
    exact = subsets.filter(part=0).drop("part")
    parts = subsets.filter(pl.col("part") != 0)
    everybody = pl.lit(people, pl.Int64)
    ratios = parts.group_by(keys).agg(
        seen=pl.col("people").sum(),
        **{f"{name}_sum": pl.col(name).sum() for name in SUMS},
        k=pl.col("k").min(),
        l=pl.col("l").min(),
        worst_case=pl.col("worst_case").max(),
        m=pl.len(),
    )
    spread = parts.join(ratios.select(*keys, "seen", *(f"{n}_sum" for n in SUMS)), on=keys)
    errors = [
        ((pl.col(n) - pl.col("people") * pl.col(f"{n}_sum") / pl.col("seen")) ** 2).sum().alias(n)
        for n in ("mode", "certain")
    ]
    squares = spread.group_by(keys).agg(*errors)
    share, m = pl.col("seen") / everybody, pl.col("m")
    factor = (1 - share) / (1 - 1 / m) / pl.col("seen") ** 2
    found = ratios.join(squares, on=keys).select(
        *keys,
        sampled=share,
        error_probabilistic=T * (factor * pl.col("mode")).sqrt(),
        error_deterministic=T * (factor * pl.col("certain")).sqrt(),
    )
    scaled = ratios.select(
        *keys,
        *(
            (pl.col(f"{n}_sum") * everybody / pl.col("seen")).round().cast(pl.Int64).alias(n)
            for n in SUMS
        ),
        people=everybody,
        k="k",
        l="l",
        worst_case="worst_case",
    )
    return pl.concat([exact, scaled.select(exact.columns)]).sort(keys), found


def with_errors(frame: pl.DataFrame, errors: pl.DataFrame, secrets: list[str]) -> pl.DataFrame:
    """The result with the columns of ``ERRORS``."""
    numbers = pl.DataFrame(
        {"secret": [None, *secrets], "question": range(len(secrets) + 1)},
        schema={"secret": pl.String(), "question": pl.UInt8()},
    )
    joined = frame.join(numbers, on="secret", nulls_equal=True, maintain_order="left").join(
        errors, on=["subset", "question"], how="left", maintain_order="left"
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
    """A remark on what is estimated."""
    rows = frame.filter(pl.col("sampled") < 1)
    if rows.is_empty():
        return "nothing was sampled: no attribute has so many values that a sample would say enough"
    worst = (
        100
        * rows.select(pl.max_horizontal("error_deterministic", "error_probabilistic").max()).item()
    )
    seen, every = rows["subset"].n_unique(), frame["subset"].n_unique()
    return (
        f"ESTIMATES: {seen:,} of {every:,} subsets come from a sample; their successes are right "
        f"within {worst:.2g} percentage points or less, at 95 % confidence (columns error_*); k, l "
        "and worst_case are of the sample"
    )
