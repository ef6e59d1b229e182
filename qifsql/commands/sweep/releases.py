"""Sweeps over collections: which dataset made it worse.

A subset of the quasi-identifiers of a collection belongs to some of its datasets. Of all subsets
those are of special interest that hold everything known from the focal dataset and from a set of
auxiliary ones: they tell what each release adds to the risk.
"""

from collections.abc import Sequence
from itertools import combinations

import polars as pl

from qifsql.commands.sweep import answers, result
from qifsql.errors import InputError, quoted

RELEASES: dict[str, pl.DataType] = {
    ("dataset" if name == "qid" else name): kind for name, kind in result.SHAPLEY.items()
}
"""What each auxiliary dataset adds to the success with the focal one alone; as ``answers.SHAPLEY``,
with ``dataset`` (its number and name) for the quasi-identifier."""

LONGITUDINAL = {"CRS": "CRL", "CAS": "CAL"}
PRIORS = ("prior_deterministic", "prior_probabilistic")


def sets(numbers: Sequence[int], datasets: int) -> list[int]:
    """The subsets that belong to the focal dataset and a set of auxiliary ones, as numbers.

    ``numbers`` are those of the datasets of the quasi-identifiers. InputError where a dataset has
    none: then it adds nothing.
    """
    for i in range(2, datasets + 1):
        if i not in numbers:
            raise InputError(
                f"dataset {i} has no quasi-identifier, so it cannot make anything worse; name one "
                f"of it, such as {i}:NAME, or leave the dataset out"
            )
    return [m for m in (_mask(numbers, chosen) for chosen in _chosen(datasets)) if m]


def longitudinal(frame: pl.DataFrame, numbers: Sequence[int]) -> pl.DataFrame:
    """The same rows under the names of the longitudinal models, with the datasets that they use."""
    if "model" not in frame.columns:
        return frame
    named = frame.with_columns(pl.col("model").replace(LONGITUDINAL))
    if "datasets" not in frame.columns:
        return named
    used = [
        pl.any_horizontal(
            (pl.col("subset") // 2**i % 2 == 1) for i, number in enumerate(numbers) if number == d
        ).cast(pl.Int64)
        for d in sorted({*numbers} - {1})
    ]
    return named.with_columns(datasets=pl.sum_horizontal(pl.lit(1, pl.Int64), *used))


def releases(frame: pl.DataFrame, numbers: Sequence[int], names: Sequence[str]) -> pl.DataFrame:
    """What each auxiliary dataset adds: ``frame`` has the subsets of ``sets``, at least.

    ``names`` are those of all datasets. Columns: ``RELEASES``.
    """
    place = {
        _mask(numbers, chosen): sum(1 << number - 2 for number in chosen)
        for chosen in _chosen(len(names))
    }
    rows = frame.filter(pl.col("subset").is_in(list(place)))
    moved = rows.with_columns(pl.col("subset").replace_strict(place, return_dtype=pl.UInt32))
    alone = moved.filter(pl.col("subset") == 0)
    if alone.height:
        focal = alone.select(
            "model", "secret", *(pl.col(p.replace("prior", "posterior")).alias(p) for p in PRIORS)
        )
        moved = moved.drop(PRIORS).join(focal, on=["model", "secret"], nulls_equal=True)
    others = [f"{i}: {quoted(name)[1:-1]}" for i, name in enumerate(names[1:], 2)]
    contributions = answers.shapley(moved.filter(pl.col("subset") > 0), others)
    return contributions.rename({"qid": "dataset"})


def _chosen(datasets: int) -> list[tuple[int, ...]]:
    """Every set of auxiliary datasets, by number, the empty one first."""
    others = range(2, datasets + 1)
    return [c for size in range(len(others) + 1) for c in combinations(others, size)]


def _mask(numbers: Sequence[int], chosen: Sequence[int]) -> int:
    return sum(1 << i for i, number in enumerate(numbers) if number == 1 or number in chosen)
