"""Classifiers that learn from synthetic releases: the numbers of attacks that learn, and leaks."""

from typing import Any

import polars as pl
import pytest
from places import SAMPLES
from synthetic_files import frame, values
from terminal import run

import qifsql
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.measures.intervals import newcombe, wilson

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

ASKED = {"qids": "NU_ANO,TP_SEXO", "secret": "TP_COR_RACA"}
OF_CLASSIFIERS = (
    *("classifier_original", "classifier_control", "classifier_leak"),
    *("rapid_original", "rapid_control"),
)


def census(year: int, first: int = 0) -> pl.DataFrame:
    table = pl.read_parquet(SAMPLES / f"school_census_{year}.parquet")
    return table.select("NU_ANO", "TP_SEXO", "TP_COR_RACA", "IN_NECESSIDADE_ESPECIAL")[first:]


@pytest.mark.slow(because="3 s; every recorded mutant dies without it")
@pytest.mark.cases(1)
@pytest.mark.parametrize("learner", ["decision-tree", "logistic-regression"])
def test_a_classifier_has_the_success_of_an_attack_that_learns(learner: str) -> None:
    """On the people of the original and of the control, for each release and all together."""
    original, control = census(2018)[:3000], census(2019)[:2000]
    releases = [census(2018)[2000:5000], census(2017)[:3000]]
    settings = Settings(seed=5)
    result = qifsql.synthetic(
        original, releases, control=control, learner=learner, rapid=0.2, settings=settings, **ASKED
    )
    for file, release in enumerate([pl.concat(releases), *releases]):
        measured = values(result, file=file, secret="TP_COR_RACA")
        of = {}
        for name, people in (("original", original), ("control", control)):
            attacked = qifsql.attack(
                "cas", people, learn=release, learner=learner, rapid=0.2, settings=settings, **ASKED
            )
            row = of[name] = attacked.frame.row(0, named=True)
            # the other files have more values, whose ranks lie between; that may move few guesses
            assert measured[f"classifier_{name}"] == pytest.approx(
                row["posterior_probabilistic"], abs=0.003
            )
            assert measured[f"rapid_{name}"] == pytest.approx(row["rapid"], abs=0.003)
        success, other = measured["classifier_original"], measured["classifier_control"]
        assert success is not None
        assert other is not None
        assert measured["classifier_leak"] == pytest.approx(success - other)
        rows = {row["measure"]: row for row in result.frame.filter(file=file).to_dicts()}
        ends = rows["classifier_leak"]["low"], rows["classifier_leak"]["high"]
        sizes = original.height, control.height
        right = success * sizes[0], other * sizes[1]
        assert ends == pytest.approx(newcombe(right[0], sizes[0], right[1], sizes[1]))
        rapid = rows["rapid_control"]
        assert (rapid["low"], rapid["high"]) == pytest.approx(wilson(rapid["count"], sizes[1]))


@pytest.mark.slow(because="3 s; every recorded mutant dies without it")
def test_a_copy_leaks_and_an_independent_release_does_not() -> None:
    """A tree that learns from a copy is right about more of the original than of the control."""
    table = pl.read_parquet(SAMPLES / "school_census_2018.parquet")
    qids = "NU_ANO,NU_MES,TP_SEXO,CO_ENTIDADE"
    original, control, other = table[:5000], table[5000:8000], table[8000:13000]
    leaks = {}
    for name, release in (("copy", original), ("other", other)):
        asked = {"qids": qids, "secret": "TP_COR_RACA", "learner": "decision-tree"}
        result = qifsql.synthetic(original, release, control=control, **asked)
        leaks[name] = result.frame.filter(measure="classifier_leak").row(0, named=True)
    assert leaks["copy"]["low"] > 0.1
    assert leaks["other"]["low"] < 0.02


def test_without_a_control_there_is_no_leak_and_without_a_classifier_nothing() -> None:
    people = census(2018)[:500]
    result = qifsql.synthetic(people, census(2017)[:500], learner="decision-tree", **ASKED)
    names = set(result.frame["measure"])
    assert names & set(OF_CLASSIFIERS) == {"classifier_original", "rapid_original"}
    assert not set(qifsql.synthetic(people, people[:50], **ASKED).frame["measure"]) & set(
        OF_CLASSIFIERS
    )


def test_bounds_on_classifiers_decide_the_exit_code(tmp_path: Any) -> None:
    files = [str(tmp_path / f"{i}.parquet") for i in range(2)]
    for i, file in enumerate(files):
        census(2018)[i * 300 : i * 300 + 300].write_parquet(file)
    asked = ["synthetic", *files, "-q", "NU_ANO", "-s", "TP_COR_RACA"]
    of = ["--learner", "decision-tree", "--require"]
    assert run(*asked, *of, "classifier_original<=1").code == 0
    assert run(*asked, *of, "rapid_original>=1").code == 4
    refused = run(*asked, "--require", "rapid_original<=0.5")
    assert (refused.code, "add --learner" in refused.err) == (2, True)
    refused = run(*asked, *of, "classifier_leak<=0.01")
    assert (refused.code, "needs a control" in refused.err) == (2, True)
    shown = run(*asked, "--learner", "decision-tree", "-f", "table")
    assert "What a classifier learns (decision-tree)" in shown.out


def test_what_cannot_be_asked_is_refused() -> None:
    people = frame([("x", 1, "a"), ("y", 2, "b")])
    for options, message in (
        ({"rapid": 0.5, "secret": "t"}, "name one with learner=..."),
        ({"learner": "decision-tree"}, "name one with secret=..."),
        ({"learner": "table", "secret": "t"}, 'no learner "table"; it has "decision-tree"'),
        ({"learner": "forest", "secret": "t"}, "no learner"),
        ({"learner": "decision-tree", "secret": "t", "rapid": -1}, "outside 0 to 1"),
    ):
        with pytest.raises(InputError, match=message):
            qifsql.synthetic(people, people[:1], qids="q,r", **options)
