"""Presets and the chance of an attempt: levels of authorities, and what multiplies success."""

import json
import re
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from policies import PEOPLE, QIDS, policy, rule, values
from studies import DATASETS, data, written
from terminal import run

import qifsql
from qifsql.adversary.models import model
from qifsql.commands.check.junit import junit
from qifsql.errors import InputError
from qifsql.study import policy as policies
from qifsql.study.bounds import MEASURES, MODELS
from qifsql.study.policy import PRESETS, presets, read
from qifsql.study.rules import measures, unsuitable

KNOWN = {"qids": QIDS, "secret": "illness"}
SAMPLES = Path(PEOPLE).parent


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", presets())
def test_a_preset_is_a_policy_with_its_source_and_its_limits(name: str):
    text = policies.preset(name).read_text("utf-8")
    comments = " ".join(line[1:].strip() for line in text.splitlines() if line.startswith("#"))
    assert re.search(r"\bSource: .+ Limits: ", comments)
    assert all(len(line) <= 100 for line in text.splitlines())
    for level in read(policies.preset(name), **KNOWN).rules:
        for bound in level.bounds.values():  # a number is from the source, or none was set
            assert re.search(rf"\b{bound:g}\b", comments) or "sets no number" in comments
    verdict = qifsql.check(PEOPLE, preset=name, **KNOWN)
    assert verdict.frame["measure"].to_list()
    assert qifsql.check(PEOPLE, PRESETS / f"{name}.toml", **KNOWN).frame.equals(verdict.frame)


@pytest.mark.slow(because="3.0 s; every recorded mutant dies without it")
def test_the_presets_hold_releases_to_their_levels(tmp_path: Path):
    for size in (2, 3, 5, 10, 11):
        file = tmp_path / "t.parquet"
        rows = {"q": [0] * size + [1] * 20, "s": (["a", "b"] * 20)[: size + 20]}
        pl.DataFrame(rows).write_parquet(file)
        met = {name for name in presets() if qifsql.check(file, preset=name, qids="q", secret="s")}
        least = {"k3": 3, "k5": 5, "k10": 10, "health": 11, "hipaa": 11, "wp216": 2}
        assert met == {name for name, k in least.items() if size >= k}


def test_the_command_line_takes_a_preset_or_a_policy(tmp_path: Path):
    options = ["-q", "age,gender", "-s", "illness", "--quiet"]
    done = run("check", PEOPLE, "--preset", "k3", *options, "-f", "json")
    assert (done.code, json.loads(done.out)["results"][0]["measure"]) == (4, "k")
    levels = policy(tmp_path, rule(model="crs", measure="k"))
    for more in ([], ["--preset", "k3", "--policy", str(levels)]):
        refused = run("check", PEOPLE, *more, *options)
        assert refused.code == 2
        assert "--policy" in refused.err
        assert "--preset" in refused.err
    unknown = run("check", PEOPLE, "--preset", "k4", *options)
    assert unknown.code == 2
    assert 'there is no preset "k4"' in unknown.err
    helped = run("check", "--help").out
    assert all(name in helped for name in presets())


def test_a_study_takes_a_preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    data(tmp_path)
    check = '[[check]]\nname = "levels"\ndataset = "people"\npreset = "k3"\n'
    result = qifsql.run(written(tmp_path, DATASETS + check))
    assert result.details["checks"]["measure"].to_list() == ["k"]
    for wrong, message in (
        (check.replace("k3", "k4"), 'no preset "k4"'),
        (check + 'policy = "p.toml"\n', "a preset replaces policy"),
    ):
        with pytest.raises(InputError, match=message):
            qifsql.Study.load(written(tmp_path, DATASETS + wrong))


# k and l are measures of rules.


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_k_and_l_are_those_of_levels(tmp_path: Path):
    levels = policy(tmp_path, rule(model="crs,cas", measure="k"), rule(model="cas", measure="l"))
    found = qifsql.check(PEOPLE, levels, **KNOWN)
    known = qifsql.levels(PEOPLE, **KNOWN).rows()
    k, least = (next(r["value"] for r in known if r["measure"] == m) for m in ("k", "l_distinct"))
    assert found.frame["value"].to_list() == [k, k, least]
    attack = qifsql.attack("crs,cas", PEOPLE, measures="anonymity", **KNOWN).frame
    assert attack.select("k", "l").rows() == [(k, None), (k, least)]


@pytest.mark.parametrize(
    ("name", "measure", "message"),
    [("crs", "l", "l is of a secret"), ("cms", "k", "k is of crs and cas")],
)
def test_k_and_l_need_their_models(tmp_path: Path, name: str, measure: str, message: str):
    with pytest.raises(InputError, match=message):
        read(policy(tmp_path, rule(model=name, measure=measure)))


# Attempt times success (spec section 13: alpha V).


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_a_probability_is_multiplied_by_the_chance_of_an_attempt(tmp_path: Path):
    levels = policy(
        tmp_path,
        rule(model="crs", measure="posterior_probabilistic"),
        rule(model="cas", measure="worst_case", attempt=0.5),
        rule(model="crs", measure="blocks"),
        rule(model="cas", measure="degradation_probabilistic"),
        rule(model="cas", measure="posterior_probabilistic", by="gender"),
        **KNOWN, attempt=0.25,
    )  # fmt: skip
    found = qifsql.check(PEOPLE, levels)
    plain = qifsql.attack("crs,cas", PEOPLE, **KNOWN, by="gender")
    crs, cas = plain.rows()
    assert values(found, "measure", "success", "attempt", "value")[:4] == [
        ("posterior_probabilistic", crs["posterior_probabilistic"], 0.25,
         0.25 * crs["posterior_probabilistic"]),
        ("worst_case", cas["worst_case"], 0.5, 0.5 * cas["worst_case"]),
        ("blocks", None, None, crs["blocks"]),
        ("degradation_probabilistic", None, None, cas["degradation_probabilistic"]),
    ]  # fmt: skip
    exact = Fraction(crs["blocks"], crs["records"]) * Fraction(1, 4)
    assert Fraction(found.frame["value"][0]).limit_denominator(10_000) == exact
    for row in found.rows()[4:]:
        assert row["value"] == 0.25 * row["success"]
    without = qifsql.check(PEOPLE, policy(tmp_path, rule(model="crs", measure="worst_case")))
    assert values(without, "success", "attempt", "value") == [(1.0, 1.0, 1.0)]


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_an_attempt_decides_and_is_shown(tmp_path: Path):
    bounded = rule(model="crs", measure="worst_case", at_most=0.09)
    assert not qifsql.check(PEOPLE, policy(tmp_path, bounded))
    levels = policy(tmp_path, bounded, **KNOWN, attempt=0.09)
    verdict = qifsql.check(PEOPLE, levels)
    assert verdict.met  # 0.09 times 1 is within 0.09
    assert re.search(r"success +attempt +value", str(verdict))
    assert re.search(r"success +attempt +value", run("check", PEOPLE, "--policy", levels).out)
    broken = qifsql.check(PEOPLE, policy(tmp_path, bounded, **KNOWN, attempt=0.1))
    assert "(attempt 0.1 times success 1.0)" in junit(broken)


def test_a_baseline_is_compared_under_the_same_attempt(tmp_path: Path):
    """The last verdict may have had another chance: its success is what counts."""
    drift = rule(model="crs", measure="posterior_probabilistic", rise_at_most=0)
    plain = rule(model="crs", measure="posterior_probabilistic")
    levels = policy(tmp_path, plain, **KNOWN, attempt=0.5)
    assert run("check", PEOPLE, "--policy", levels, "-o", tmp_path / "last.json").code == 0
    levels = policy(tmp_path, drift, **KNOWN, attempt=0.25)
    verdict = qifsql.check(PEOPLE, levels, baseline=tmp_path / "last.json")
    assert verdict.met
    assert values(verdict, "value") == values(verdict, "baseline")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("attempt = 0", 3, "above 0 and at most 1"),
        ("attempt = 1.5", 3, "above 0 and at most 1"),
        ('attempt = "often"', 3, "attempt is not a number"),
        ("[[rule]]\nmodel='crs'\nmeasure='k'\nat_least=2\nattempt=0.5", 7, "k is not one"),
    ],
)
def test_an_attempt_that_is_none_is_refused(tmp_path: Path, text: str, line: int, message: str):
    file = tmp_path / "p.toml"
    file.write_text(f'[adversary]\nqids = "age"\n{text}\n' + rule(model="crs", measure="blocks"))
    with pytest.raises(InputError, match=f"line {line}: .*{message}"):
        read(file)


# One grammar for check and the search of what-if.


@pytest.mark.slow(because="both read one list of measures")
def test_a_search_takes_the_measures_that_check_takes(tmp_path: Path):
    assert set(MEASURES) <= set(measures())
    for name in MODELS:
        for measure in MEASURES:
            if unsuitable(measure, model(name), population=False):
                continue
            levels = policy(tmp_path, rule(model=name, measure=measure), **KNOWN, attempt=0.5)
            (value,) = qifsql.check(PEOPLE, levels).frame["value"].to_list()
            exact = rule(model=name, measure=measure, at_most=value, at_least=value)
            levels = policy(tmp_path, exact, **KNOWN, attempt=0.5)
            result = qifsql.compare(PEOPLE, policy=levels)
            assert result.frame["met"].to_list() == [True] * result.frame.height, (name, measure)
            assert set(result.frame["release"]) == {"before"}
            if model(name).goal == "re-identification":
                short = qifsql.compare(PEOPLE, **KNOWN, until=f"{name}.{measure}>=0")
                assert set(short.frame["release"]) == {"before"}


def test_a_search_lists_all_that_it_cannot_use(tmp_path: Path):
    levels = policy(
        tmp_path,
        rule(model="crs", measure="blocks"),
        rule(model="cas", measure="worst_case", by="gender"),
        rule(model="crs,crl", measure="worst_case"),
        rule(model="cas", measure="capacity"),
        rule(model="crs", measure="blocks", rise_at_most=1),
    )
    with pytest.raises(InputError) as raised:
        qifsql.compare(PEOPLE, policy=levels)
    message = str(raised.value)
    for text in ("rule 2: leave groups", "rule 3: name models crs or cas, not crl",
                 "rule 4: capacity is not measured", "rule 5: leave the difference"):  # fmt: skip
        assert text in message
    assert "rule 1" not in message
