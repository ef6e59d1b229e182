"""Numbers of few people do not follow from the numbers of a report for others."""

from collections.abc import Mapping
from itertools import combinations, pairwise, product
from operator import mul
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.commands.report import differences
from qifsql.commands.report.sharing import Reader, share
from qifsql.results.stored import Stored, read

SIZES = {"A": 100, "B": 95, "C": 5}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Three groups, one of them of five people."""
    rows = [
        {"g": g, "h": "t" if (g, i) == ("A", 0) else f"h{i % 4}", "a": i % 7, "s": f"s{i % 3}"}
        for g, n in SIZES.items()
        for i in range(n)
    ]
    path = tmp_path / "people.parquet"
    pl.DataFrame(rows).write_parquet(path)
    return path


def shared(*results: qifsql.Result) -> tuple[list[Stored], str]:
    return share(read(list(results)), Reader())


def test_the_size_of_a_hidden_group_is_no_smallest_block_and_no_bar(people: Path) -> None:
    attacked = qifsql.attack("crs,cas", people, qids="h,a", secret="s", by="g")
    swept = qifsql.sweep(people, qids="g,h,a", secret="s", histogram=True)
    stored, line = shared(attacked, swept)
    for result in stored:
        for table in (result.frame, *result.details.values()):
            if "k" in table.columns:
                assert all(k is None or k == 1 or k >= 10 for k in table["k"])
            if {"bin", "individuals"} <= set(table.columns):
                assert all(n == 0 or n >= 10 for n in table["individuals"])
    assert "sizes, chances and levels of blocks" in line


def test_two_results_do_not_differ_by_few_people(people: Path) -> None:
    everybody = qifsql.attack("crs,cas", people, qids="h,a", secret="s")
    without_one = qifsql.attack("crs,cas", people, qids="h,a", secret="s", where="h <> 't'")
    few = qifsql.attack("crs", people, qids="h,a", where="g = 'C'")
    half = qifsql.attack("crs", people, qids="h,a", where="g = 'A'")
    rest = qifsql.attack("crs", people, qids="h,a", where="g = 'B'")
    stored, line = shared(everybody, without_one, few, half, rest)
    assert [int(s.frame["records"][0]) for s in stored] == [200, 100]
    assert "differ from another by so few" in line
    stored, line = shared(half, rest)  # nothing tells that one is no part of the other
    assert [int(s.frame["records"][0]) for s in stored] == [100]


def test_a_report_about_few_people_says_that_nothing_is_left(people: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "few.parquet", tmp_path / "report.md"
    assert run("attack", "crs", people, "-q", "h,a", "--where", "g = 'C'", "-o", out).code == 0
    done = run("report", out, "-o", page)
    text = page.read_text() if page.exists() else done.err
    assert "fewer than 10 people" in text


@settings(max_examples=examples(200))
@given(st.lists(st.integers(1, 60), min_size=1, max_size=7), st.booleans(), st.integers(2, 12))
def test_what_is_shown_leaves_no_small_rest(numbers: list[int], whole: bool, minimum: int) -> None:
    def stored(n: int, where: str) -> Stored:
        manifest: Mapping[str, Any] = {
            "spec": {"where": where or None}, "inputs": [{"sha256": "x"}],
        }  # fmt: skip
        frame = pl.DataFrame({"records": [n]})
        return Stored("name", "attack", frame, {}, manifest)

    results = [stored(n, f"a > {i}") for i, n in enumerate(numbers)]
    results += [stored(max(numbers) + 30, "")] if whole else []
    out = differences.telling_results(results, minimum)
    shown = [int(s.frame["records"][0]) for i, s in enumerate(results) if i not in out]
    filtered = [n for n in shown if not whole or n != max(numbers) + 30]
    assert all(n >= minimum for n in filtered)
    assert not any(0 < abs(a - b) < minimum for a, b in combinations(shown, 2))
    for terms in (part for size in (3, 4) for part in combinations(shown, size)):
        rests = {sum(map(mul, terms, signs)) for signs in product((1, -1), repeat=len(terms))}
        assert all(rest == 0 or abs(rest) >= minimum for rest in rests)
    for place, total in enumerate(shown):
        others = shown[:place] + shown[place + 1 :]
        parts = (p for size in range(len(others) + 1) for p in combinations(others, size))
        assert all(sum(p) == total or abs(total - sum(p)) >= minimum for p in parts)


def test_the_last_region_and_the_last_cell_of_crossed_filters_are_not_shown(people: Path) -> None:
    everybody = pl.read_parquet(people)
    parts = [f"a = {i}" for i in range(7)]
    count = everybody.filter(pl.col("a") == 6).height
    results = [qifsql.attack("crs", people, qids="h", where=where) for where in (None, *parts[:-1])]
    stored, line = share(read(results), Reader(minimum=count + 1))
    assert len(stored) < 7  # all but one region, and all people, would tell the last
    assert "differ from another" in line
    crossed = [None, "s = 's0'", "a = 0", "s = 's0' AND a = 0"]
    counts = [
        everybody.sql(f"SELECT COUNT(*) FROM self WHERE {w or 'true'}").item() for w in crossed
    ]
    neither = counts[0] - counts[1] - counts[2] + counts[3]
    results = [qifsql.attack("crs", people, qids="h", where=where) for where in crossed]
    assert len(share(read(results), Reader(minimum=neither + 1))[0]) < 4


def test_the_same_filter_and_number_again_are_shown(people: Path) -> None:
    results = [qifsql.attack("crs", people, qids=qids, where="g = 'A'") for qids in ("h", "a")]
    assert len(share(read(results), Reader())[0]) == 2


def test_a_value_of_few_people_is_not_told_by_its_chances(people: Path) -> None:
    rare = people.with_name("rare.parquet")
    secret = pl.int_range(200).replace_strict({0: "x", 1: "y", 2: "y"}, default=pl.col("s"))
    pl.read_parquet(people).with_columns(s=secret).write_parquet(rare)
    result = qifsql.attack("cas", rare, qids="h", secret="s", value_chances=True)
    (stored,), line = shared(result)
    table = stored.details["value_chances"]
    assert 0 < table.height < result.details["value_chances"].height
    assert min(table["individuals"]) >= 10
    assert 200 - sum(table["individuals"]) >= 10  # what is left out has no few people together
    assert all(n is None or n == 0 or n >= 10 for n in table["suspected"])
    assert "values of secrets that tell of fewer than 10 people" in line


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(2, 15))
def test_bars_of_few_people_are_left_out_with_others(bars: list[int], minimum: int) -> None:
    table = pl.DataFrame({"bin": range(len(bars)), "individuals": bars})
    left = differences.without_few(table, minimum, [table])["individuals"].to_list()
    hidden = sum(bars) - sum(left)
    assert all(n == 0 or n >= minimum for n in left)
    assert hidden == 0 or hidden >= minimum or not any(left)
    assert hidden == 0 or 0 not in left  # else the missing bars would be the hidden ones


def test_claims_of_shared_reports_differ_by_no_few_people(tmp_path: Path) -> None:
    """Nor do those of the curve from those at thresholds; no chance tells a small block."""
    rows = [{"q": n, "s": i == 0} for n in (*range(2, 40), 100, 200) for i in range(n)]
    source = tmp_path / "people.parquet"
    pl.DataFrame(rows).write_parquet(source)
    result = qifsql.attack("crs,cas", source, qids="q", secret="s", thresholds=[0.1, 0.5, 0.95])
    (stored,), _ = shared(result)
    for attack in result.frame["attack_id"]:
        tables = [stored.details[name].filter(attack_id=attack) for name in SURE]
        points = {0, len(rows), *(n for table in tables for n in table["claims"])}
        assert all(b - a >= 10 for a, b in pairwise(sorted(points)))
        assert 3 < len(points) < result.details["sure_curve"].filter(attack_id=attack).height
        (greatest,) = tables[0].filter("greatest")["threshold"].to_list() or [None]
        small = [k for k in range(2, 10) if greatest and greatest < 1 and greatest * k % 1 == 0]
        assert not small


def test_predictions_of_a_test_tell_no_single_sheet() -> None:
    """The sum over 40 claims less that over 39 of them is the chance of one, and so its block."""
    table = pl.DataFrame(
        {
            "file": [1, 1, 1, 2, 2, None],
            "secret": [None, None, "s", None, "s", None],
            "stated_from": [0.0, 0.5, 0.0, 0.0, 0.0, 0.0],
            "claims": [40, 39, 39, 20, 9, 60],
            "predicted": [0.0132, 0.005, 0.503, 0.0203, 0.703, 0.0155],
        }
    )
    shown = differences.without_few(table, 10, [table])["predicted"].to_list()
    assert shown == [0.0132, None, 0.503, 0.0203, None, None]


def test_the_worst_chance_does_not_tell_the_size_of_a_small_block() -> None:
    """It is one part in k; who is alone is counted beside it, and has a chance of 1."""
    chances = [0.2, 1.0, 0.05]
    table = pl.DataFrame({"k": [5, 1, 20], "worst_case": chances, "prosecutor_risk": chances})
    shown = differences.without_few(table, 10, [table])
    assert shown.to_dict(as_series=False) == {
        "k": [None, 1, 20],
        "worst_case": [None, 1.0, 0.05],
        "prosecutor_risk": [None, 1.0, 0.05],
    }


SURE = ("sure", "sure_curve")
SEVEN = {  # what is measured where the smallest block has 7 people
    "attack": lambda file, other: qifsql.attack(
        "crs,cas", file, qids="g", secret="s", measures="all", by="h", value_chances=True,
        quantiles=[0, 0.5, 1], thresholds=[0.1, 0.4, 0.9], histogram=True,
    ),
    "people": lambda file, other: qifsql.attack(
        "crs,cas", file, qids="g", secret="s", person="id", measures="all"
    ),
    "leakage": lambda file, other: qifsql.attack(
        "crs,cas", file, qids="g", secret="s", measures="pointwise"
    ),
    "penalty": lambda file, other: qifsql.attack(
        "cas", file, qids="g", secret="s", gain="penalty:0.5", by="h"
    ),
    "bounds": lambda file, other: qifsql.attack("crs", file, qids="g", null="match-any"),
    "noisy": lambda file, other: qifsql.attack("crs", file, qids="g,h", knows="h:right=0.8"),
    "population": lambda file, other: qifsql.attack("crs", other, qids="g", population=file),
    "levels": lambda file, other: qifsql.levels(file, qids="g", secret="s", k=8),
    "link": lambda file, other: qifsql.link(other, file, qids="g"),
    "compose": lambda file, other: qifsql.compose([file, other], qids="g", secret="s", people=file),
    "anonymise": lambda file, other: qifsql.anonymise(
        file, other.with_name("release.parquet"), qids="g", k=5
    ),
    "check": lambda file, other: qifsql.check(file, policy=other.with_name("policy.toml")),
}  # fmt: skip
NO_SIZES = {"bin", "threshold", "quantile", "confidence", "rule", "n_qids", "blocks", "seconds"}


@pytest.mark.parametrize("name", SEVEN)
def test_no_number_tells_the_size_of_a_small_block(name: str, tmp_path: Path) -> None:
    """Neither 7 nor n / 7 is in a table of a report for others, and its views need neither."""
    blocks = {"a": 7, "b": 40, "c": 53, "d": 100}
    groups = [g for g, n in blocks.items() for _ in range(n)]
    secrets = ["u"] * 4 + ["v"] * 3 + [f"s{i % 3}" for i in range(193)]
    frame = pl.DataFrame({"id": range(200), "g": groups, "s": secrets})
    frame = frame.with_columns(
        h=pl.when(pl.col("g") < "c").then(pl.lit("x")).otherwise(pl.lit("y"))
    )
    file, other = tmp_path / "people.parquet", tmp_path / "other.parquet"
    frame.write_parquet(file)
    frame.head(150).write_parquet(other)
    rules = [("crs", "worst_case", 0.01), ("cas", "worst_case", 0.1), ("crs", "prosecutor_risk", 1)]
    lines = ["[adversary]", 'qids = ["g"]', 'secret = ["s"]']
    for model, measure, limit in rules:
        lines += ["[[rule]]", f'model = "{model}"', f'measure = "{measure}"', f"at_most = {limit}"]
    (tmp_path / "policy.toml").write_text("\n".join(lines))
    result = SEVEN[name](file, other)
    (stored,), _ = shared(result)
    for table in (stored.frame, *stored.details.values()):
        for column in table.select(pl.selectors.numeric()).iter_columns():
            for value in column.drop_nulls() if column.name not in NO_SIZES else ():
                assert value != 7
                assert "pointwise" not in column.name or abs(200 / 2**value - 7) > 1e-9
                assert column.name != "worst_case" or abs(value - 2.5 / 7) > 1e-9  # of penalties
                assert not 0 < value < 1 or abs(7 * value - round(7 * value)) > 1e-9
    qifsql.report([result], tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text()
    assert not any(f"{100 * n / 7:.2f} %" in text for n in range(1, 7))


@pytest.mark.parametrize("size", [7, 40])
def test_the_risk_of_who_may_know_something_tells_no_small_block(size: int, tmp_path: Path) -> None:
    """It is a mean of chances against blocks: with one column, 1 / 7 follows from it."""
    groups = [g for g, n in {"a": size, "b": 53, "c": 140 - size}.items() for _ in range(n)]
    frame = pl.DataFrame({"g": groups, "s": [f"s{i % 3}" for i in range(193)]})
    recipient = {"name": "press", "knows": {"g": 0.5}, "attempt": 0.3, "at_most": {"maximum": 1}}
    policy = {"adversary": {"secret": "s"}, "recipient": [recipient]}
    (stored,), _ = shared(qifsql.check(frame, policy))
    maxima = [*stored.details["recipients"]["maximum"], *stored.frame["value"]]
    assert [risk is None for risk in maxima] == [size == 7] * 3
    assert stored.frame["success"].null_count() == 2 * (size == 7)
    frame.write_parquet(tmp_path / "release.parquet")
    release = tmp_path / "release.parquet"
    compared = qifsql.compare(frame, [release], qids="g", secret="s", policy=policy)
    (stored,), _ = shared(compared)
    if size == 7:
        assert stored.details["recipients"]["maximum"].null_count() == 2
