"""qifsql against libqif, an independent implementation, on random small releases."""

import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql

np = pytest.importorskip("numpy")
qif = pytest.importorskip("qif")

Pair = tuple[int, int]
PEOPLE = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=30)


def channel(people: Sequence[Pair]) -> tuple[Any, Any]:
    """The prior and the channel of (quasi-identifier, secret) pairs, as libqif takes them."""
    secrets, blocks = sorted({s for _, s in people}), sorted({q for q, _ in people})
    of_secret, together = Counter(s for _, s in people), Counter(people)
    prior = np.array([of_secret[s] / len(people) for s in secrets])
    rows = [[together[q, s] / of_secret[s] for q in blocks] for s in secrets]
    return prior, np.array(rows)


def attacked(people: Sequence[Pair], **options: Any) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.parquet"
        pl.DataFrame(people, schema=["q", "s"], orient="row").write_parquet(path)
        return qifsql.attack("cas", path, qids="q", secret="s", **options).rows()


def close(found: float, wanted: float) -> None:
    assert math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-12)


@given(PEOPLE)
@settings(max_examples=examples(25))
def test_every_measure_that_both_have(people: list[Pair]) -> None:
    prior, matrix = channel(people)
    (row,) = attacked(people, measures="all")
    measure = qif.measure
    close(row["prior_probabilistic"], measure.bayes_vuln.prior(prior))
    close(row["posterior_probabilistic"], measure.bayes_vuln.posterior(prior, matrix))
    close(row["leakage_additive"], measure.bayes_vuln.add_leakage(prior, matrix))
    close(row["degradation_probabilistic"], measure.bayes_vuln.mult_leakage(prior, matrix))
    close(row["min_entropy_leakage"], measure.bayes_vuln.min_entropy_leakage(prior, matrix))
    close(row["capacity"], measure.bayes_vuln.mult_capacity(matrix))
    close(row["prior_entropy"], measure.shannon.prior(prior))
    close(row["posterior_entropy"], measure.shannon.posterior(prior, matrix))
    close(row["mutual_information"], measure.shannon.add_leakage(prior, matrix))
    close(row["prior_guessing"], measure.guessing.prior(prior))
    close(row["posterior_guessing"], measure.guessing.posterior(prior, matrix))


@given(PEOPLE, st.data())
@settings(max_examples=examples(25))
def test_any_gain_matrix(people: list[Pair], data: st.DataObject) -> None:
    prior, matrix = channel(people)
    secrets = sorted({s for _, s in people})
    number = st.integers(0, 20).map(lambda n: n / 8)
    rows = st.lists(number, min_size=len(secrets), max_size=len(secrets))
    gains = data.draw(st.lists(rows, min_size=1, max_size=4))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gains.csv"
        lines = [
            f"{w},{s},{g}" for w, row in enumerate(gains) for s, g in zip(secrets, row, strict=True)
        ]
        path.write_text("guess,secret,gain\n" + "\n".join(lines) + "\n")
        (row,) = attacked(people, gain=f"matrix:{path}")
    table = np.array(gains)
    close(row["prior_probabilistic"], qif.measure.g_vuln.prior(table, prior))
    close(row["posterior_probabilistic"], qif.measure.g_vuln.posterior(table, prior, matrix))
