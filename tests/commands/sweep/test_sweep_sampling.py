"""A sweep of a sample: what is drawn, and that every stated interval holds the exact value."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest
from draws import MEASURES, SHAPES, Draws, table
from polars.testing import assert_frame_equal

import qifsql
from qifsql import Settings
from qifsql.commands.sweep import samples, tables

PEOPLE, VALUES, SHARE = 4000, 1000, 0.1
QIDS, KEYS = ["a", "b", "c"], ["subset", "secret"]
COVERED = 0.93  # of the draws, at least: 95 % are meant


@pytest.fixture
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "CHUNK_ROWS", 500)  # of small tables, too, something is left out
        yield patch


def swept(file: Path, seed: int, sample: float | None = None) -> qifsql.Sweep:
    settings = Settings(seed=seed, threads=1)
    return qifsql.sweep(
        file, qids=QIDS, secret="s", sample=sample, histogram=True, settings=settings
    )


def test_samples_of_different_seeds_overlap_as_independent_draws_do():
    draws = Draws(table("uniform", PEOPLE, VALUES), SHARE)
    lots = [set(draws.lots(seed)) for seed in range(40)]
    shared = [len(one & other) for one, other in combinations(lots, 2)]
    expected, variance = 0.0, 0.0  # of the hypergeometric law, stratum by stratum
    for each in draws.strata:
        d, m = draws.drawn[each.number], each.blocks
        expected += d * d / m
        variance += d * d / m * (1 - d / m) ** 2 * m / (m - 1)
    assert abs(fmean(shared) - expected) < 5 * (variance / len(shared)) ** 0.5
    assert 0.7 < fmean((n - expected) ** 2 for n in shared) / variance < 1.4


@pytest.mark.cases(4)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_stated_interval_holds_the_exact_value(shape: str):
    found = Draws(table(shape, PEOPLE, VALUES), SHARE).coverage(range(60))
    assert found.height == 2 * 2 * 4
    assert found["held"].min() >= COVERED
    assert found["sampled"].max() < 0.7


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("people", "share"), [(4000, 0.1), (20_000, 0.05)])
def test_every_stated_interval_holds_the_exact_value_in_a_thousand_draws(
    shape: str, people: int, share: float
):
    found = Draws(table(shape, people, people // 4), share).coverage(range(1000))
    assert found["held"].min() >= COVERED


@pytest.mark.slow(because="estimates of draws are compared with the oracle in test_sweep_samples")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_sampled_sweep_states_what_these_draws_give_and_bounds_k_l_and_the_worst_case(
    tmp_path: Path, shape: str, patch: pytest.MonkeyPatch
):
    people = table(shape, PEOPLE, VALUES)
    people.write_parquet(tmp_path / "people.parquet")
    exact = swept(tmp_path / "people.parquet", 0)
    draws = Draws(people, SHARE)
    for seed in (1, 7):
        done = swept(tmp_path / "people.parquet", seed, sample=SHARE)
        of_a = done.frame.filter(pl.col("subset") % 2 == 1)
        assert_frame_equal(of_a.select(COLUMNS).sort(pl.all()), drawn(draws, seed), abs_tol=1e-12)
        both = done.frame.join(exact.frame, on=KEYS, suffix="_exact", nulls_equal=True)
        assert both.height == exact.frame.height
        for measure in MEASURES:
            name = f"posterior_{measure}"
            off = (pl.col(name) - pl.col(f"{name}_exact")).abs()
            assert both.filter(off > pl.col(f"error_{measure}")).is_empty()
        for bounded in ("k", "l"):
            assert both.filter(pl.col(bounded) < pl.col(f"{bounded}_exact")).is_empty()
        assert both.filter(pl.col("worst_case") > pl.col("worst_case_exact")).is_empty()
        bins = done.details["histogram"].group_by(KEYS).agg(pl.col("individuals").sum())
        assert bins.filter((pl.col("individuals") - PEOPLE).abs() > 60).is_empty()
        told = " ".join(done.notes)
        assert "the true k and l may be smaller" in told
        assert "the true worst_case greater" in told


COLUMNS = ["subset", "blocks", "k", "worst_case", "sampled"]
COLUMNS += [f"{what}_{measure}" for what in ("posterior", "error") for measure in MEASURES]


def drawn(draws: Draws, seed: int) -> pl.DataFrame:
    """Return what a sweep states of the subsets with ``a``."""
    whole, errors = draws.estimated([seed])
    both = whole.join(errors, on=["subset", "question"])
    posterior = {f"posterior_{m}": pl.col(name) / PEOPLE for m, name in MEASURES.items()}
    numbered = both.with_columns(subset=(pl.col("subset") % 8).cast(pl.UInt32), **posterior)
    return numbered.select(COLUMNS).sort(pl.all())


def test_a_block_that_is_left_out_stands_for_few_people():
    for share in (0.001, 0.01, 0.3):
        for people in (5_000, 10**6):
            limits = samples.stratum_limits(share, people)
            assert limits == sorted(limits)
            for number, most in enumerate(limits):
                stratum = samples.Stratum(number, 10**6, 10**6 * most, most)
                drawn = stratum.draw_count(share)
                assert most * stratum.blocks / drawn <= people / samples.STANDS_FOR


def test_where_nothing_is_sampled_every_row_is_exact_and_says_so(tmp_path: Path):
    people = table("uniform", 40, 10).with_columns(w=2)
    people.write_parquet(tmp_path / "people.parquet")
    for weight in ("w", None):
        done = qifsql.sweep(tmp_path / "people.parquet", qids=QIDS, sample=0.5, weight=weight)
        assert done.frame.select("sampled", *(f"error_{m}" for m in MEASURES)).unique().rows() == [
            (1.0, 0.0, 0.0)
        ]
        assert "nothing was sampled, every subset is exact" in " ".join(done.notes)
