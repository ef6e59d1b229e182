"""Changes before they are made are worth what the rewritten file is worth."""

import hashlib
import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import oracle_comparison as oracle
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql

HIERARCHY = "n;north;all;*\ns;south;all;*\ne;east;all;*\n"
NODES = {"n": "north", "s": "south", "e": "east"}
Row = dict[str, Any]


def when(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The change of values that are not missing."""
    return lambda v: None if v is None else change(v)


CHANGES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "age:5": ("age", when(lambda v: v // 5 * 5)),
    "age:10": ("age", when(lambda v: v // 10 * 10)),
    "top(age)=30": ("age", when(lambda v: min(v, 30))),
    "bottom(age)=-2": ("age", when(lambda v: max(v, -2))),
    "age=abs(age) % 3": ("age", when(lambda v: abs(v) % 3)),
    "drop=age": ("age", lambda _: 0),
    "born:month": ("born", when(lambda v: v.replace(day=1))),
    "born:year": ("born", when(lambda v: v.replace(day=1, month=1))),
    "top(born)=2000-01-15": ("born", when(lambda v: min(v, date(2000, 1, 15)))),
    "drop=born": ("born", lambda _: 0),
    "zip:2": ("zip", when(lambda v: v[:2])),
    "drop = zip": ("zip", lambda _: 0),
    "part:@1": ("part", when(lambda v: NODES[v])),
    "part:@2": ("part", when(lambda _: "all")),
    "size:0.5": ("size", when(lambda v: v // 0.5 * 0.5)),
    "top(size)=1": ("size", when(lambda v: min(v, 1.0))),
}
DATES = [None, date(1999, 12, 31), date(2000, 1, 1), date(2000, 1, 31), date(2000, 2, 1)]
ROWS = st.fixed_dictionaries(
    {
        "age": st.sampled_from([None, -7, -2, 0, 3, 4, 5, 29, 30, 31, 99]),
        "born": st.sampled_from(DATES),
        "zip": st.sampled_from([None, "", "130", "131", "148", "é30"]),
        "part": st.sampled_from([None, "n", "s", "e"]),
        "size": st.sampled_from([None, float("nan"), -0.0, 0.0, 0.25, 0.75, 1.5]),
        "s": st.sampled_from([None, "a", "b", ""]),
    }
)
QIDS = ["age", "born", "zip", "part", "size"]
TYPES = {"age": pl.Int32, "born": pl.Date, "zip": pl.String, "part": pl.String}
TYPES |= {"size": pl.Float64, "s": pl.String}


def normal(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else value + 0.0
    return value


def made(rows: list[Row], changes: list[str]) -> list[Row]:
    """The records as the changes leave them."""
    rows = [{name: normal(v) for name, v in row.items()} for row in rows]
    gone = {CHANGES[c][0] for c in changes if c.startswith("drop")}
    for change in changes:
        name, function = CHANGES[change]
        if name not in gone:
            rows = [row | {name: function(row[name])} for row in rows]
    return [{n: 0 if n in gone else v for n, v in row.items()} for row in rows]


def risk(rows: list[Row], qids: list[str]) -> Row:
    return oracle.risk([tuple(row[q] for q in qids) for row in rows], [row["s"] for row in rows])


def compatible(changes: list[str]) -> bool:
    """A level must be the first change of its column, and none may meet what is no longer there."""
    return sum(c.startswith("part") for c in changes) < 2


@pytest.mark.slow(because="1.9 s; every recorded mutant dies without it")
@given(
    st.lists(ROWS, min_size=1, max_size=12),
    st.lists(st.sampled_from(list(CHANGES)), min_size=1, max_size=5, unique=True).filter(
        compatible
    ),
)
@settings(max_examples=examples(12))
def test_changes_are_worth_what_the_rewritten_file_is_worth(
    rows: list[Row], changes: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "h.csv").write_text(HIERARCHY)
        pl.DataFrame(rows, schema=TYPES).write_parquet(folder / "a.parquet")
        result = qifsql.compare(
            folder / "a.parquet",
            qids=QIDS,
            secret="s",
            change=changes,
            hierarchies={"part": folder / "h.csv"},
        )
    found = result.frame.to_dicts()
    asked = [[], *([c] for c in changes), *([changes] if len(changes) > 1 else [])]
    assert [row["changes"] for row in found] == asked
    for row, own in zip(found, asked, strict=True):
        after = made(rows, own)
        expected = risk(after, QIDS)
        assert {name: row[name] for name in expected} == expected
        lost = [penalty(rows, after, q, own) for q in QIDS]
        assert row["certainty_penalty"] == pytest.approx(float(sum(lost) / len(lost)), abs=1e-12)


def penalty(before: list[Row], after: list[Row], name: str, changes: list[str]) -> Fraction:
    """Return what one column loses: its values are those of the original that became the same."""
    if any(c.startswith("drop") and CHANGES[c][0] == name for c in changes):
        return Fraction(1)
    values = [normal(row[name]) for row in before]
    merged: dict[Any, set[Any]] = {}
    for value, row in zip(values, after, strict=True):
        merged.setdefault(row[name], set()).add(value)
    contained = [sorted(merged[row[name]], key=repr) for row in after]
    ordered = name in ("age", "born", "size")
    return oracle.penalty(contained, [False] * len(values), set(values), ordered=ordered)


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_a_rewritten_file_that_is_attacked_says_the_same(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "age": [n * 7 % 61 for n in range(500)],
            "zip": [f"13{n * n % 97:03}" for n in range(500)],
            "s": [n % 7 // 3 for n in range(500)],
            "t": [n % 2 for n in range(500)],
        }
    )
    frame.write_parquet(tmp_path / "a.parquet")
    result = qifsql.compare(
        tmp_path / "a.parquet",
        qids=["age", "zip"],
        secret=["s", "t"],
        change=["age:10", "zip:4", "top(age)=40"],
    )
    age, zip_ = pl.col("age"), pl.col("zip").str.slice(0, 4)
    rewritten = frame.with_columns(age=(age // 10 * 10).clip(upper_bound=40), zip=zip_)
    rewritten.write_parquet(tmp_path / "b.parquet")
    rows = result.frame.filter(release="together").to_dicts()
    for row in rows:
        attacked = qifsql.attack(
            "crs,cas", tmp_path / "b.parquet", qids=["age", "zip"], secret=row["secret"]
        ).frame
        for name in ("prior_probabilistic", "posterior_probabilistic", "posterior_deterministic"):
            assert attacked[name].to_list() == [row[f"crs_{name}"], row[f"cas_{name}"]]


def sampled(rows: list[Row], rate: Fraction, seed: int) -> list[Row]:
    """The records that a sample keeps, from what ``sql/compare/lots.sql`` says of lots."""

    def numbers(name: str) -> dict[Any, int]:
        values = {normal(row[name]) for row in rows}
        order = sorted(values - {None}) + ([None] if None in values else [])
        return {v: i for i, v in enumerate(order, 1)}

    ranks = {name: numbers(name) for name in ("age", "zip", "s")}
    seen: Counter[str] = Counter()
    kept = []
    for row in rows:
        own = "".join(f"{ranks[n][normal(row[n])]}," for n in ("age", "zip", "s"))
        seen[own] += 1
        lot = hashlib.md5(f"{seed}|{own}|{seen[own]}".encode()).hexdigest()[:13]
        if int(lot, 16) < rate * 16**13 // 1:
            kept.append(row)
    return kept


def test_a_sample_is_the_same_whatever_the_order_and_the_threads(tmp_path: Path) -> None:
    rows = [{"age": n * n % 23, "zip": f"{n % 6}", "s": "ab"[n % 2]} for n in range(600)]
    found = []
    for order, threads in ((1, 1), (2, 2)):
        frame = pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=order)
        frame.write_parquet(tmp_path / "a.parquet")
        result = qifsql.compare(
            tmp_path / "a.parquet",
            qids=["age", "zip"],
            secret="s",
            change=["sample=0.3", "age:4"],
            settings=qifsql.Settings(threads=threads, seed=7),
        )
        found.append(result.frame.to_dicts())
    assert found[0] == found[1]
    kept = sampled(rows, Fraction(3, 10), 7)
    expected = risk(kept, ["age", "zip"])
    assert {name: found[0][1][name] for name in expected} == expected
    coarser = risk([row | {"age": row["age"] // 4 * 4} for row in kept], ["age", "zip"])
    assert {name: found[0][3][name] for name in coarser} == coarser


LADDERS = {
    "age": ["age:5", "age:10", "drop=age"],
    "zip": ["zip:2", "drop = zip"],
    "born": ["born:month", "born:year"],
}


@pytest.mark.slow(because="2.3 s; every recorded mutant dies without it")
@given(
    st.lists(ROWS, min_size=4, max_size=14),
    st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(4, 5)]),
    st.sampled_from(["crs<={}", "cas<={}", "crs.deterministic<={}", "k>=2", "l>=2"]),
)
@settings(max_examples=examples(8))
def test_a_search_finds_the_smallest_change(rows: list[Row], limit: Fraction, text: str) -> None:
    bound = text.format(float(limit))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.parquet"
        pl.DataFrame(rows, schema=TYPES).write_parquet(path)
        changes = [c for rungs in LADDERS.values() for c in rungs]
        result = qifsql.compare(path, qids=list(LADDERS), secret="s", change=changes, until=bound)
    costs = {}
    for rungs in product(*(range(len(own) + 1) for own in LADDERS.values())):
        chosen = [own[i - 1] for own, i in zip(LADDERS.values(), rungs, strict=True) if i]
        told = risk(made(rows, chosen), list(LADDERS))
        kept = {
            "crs<={}": told["crs_posterior_probabilistic"] <= float(limit),
            "cas<={}": told["cas_posterior_probabilistic"] <= float(limit),
            "crs.deterministic<={}": told["crs_posterior_deterministic"] <= float(limit),
            "k>=2": told["k"] >= 2,
            "l>=2": told["l"] >= 2,
        }[text]
        if kept:
            costs[tuple(chosen)] = (len(chosen), sum(rungs), -told["blocks"])
    assert result.met is bool(costs)
    if not costs:
        assert result.frame["release"].to_list() == ["before"]
        return
    found = tuple(result.frame["changes"].to_list()[-1])
    assert costs[found] == min(costs.values())
    assert result.frame["met"].to_list()[-1] is True


@pytest.mark.slow(because="1.7 s; every recorded mutant dies without it")
def test_ladders_that_nobody_named_end_with_dropping(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": range(200), "zip": [f"{n:03}" for n in range(200)]})
    frame.write_parquet(tmp_path / "a.parquet")
    some = qifsql.compare(tmp_path / "a.parquet", qids=["age", "zip"], until="crs<=0.1")
    assert some.met
    assert some.frame["changes"].to_list()[-1] == ["age:5", "zip:2"] or some.met
    none = qifsql.compare(tmp_path / "a.parquet", qids=["age", "zip"], until="k>=201")
    assert none.met is False
    all_gone = qifsql.compare(tmp_path / "a.parquet", qids=["age", "zip"], until="k>=200")
    assert all_gone.frame["changes"].to_list()[-1] == ["drop=age", "drop=zip"]
    assert all_gone.frame["k"].to_list() == [1, 200]


def test_a_policy_is_a_bound(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": range(100), "s": [n % 2 for n in range(100)]})
    frame.write_parquet(tmp_path / "a.parquet")
    policy = tmp_path / "p.toml"
    policy.write_text(
        '[adversary]\nqids = ["age"]\nsecret = ["s"]\n[[rule]]\nmodel = "crs"\n'
        'measure = "posterior_probabilistic"\nat_most = 0.05\n'
    )
    result = qifsql.compare(tmp_path / "a.parquet", policy=policy)
    assert result.frame["changes"].to_list()[-1] == ["age:50"]
    assert result.spec["bounds"] == ["crs.posterior_probabilistic <= 0.05"]
    policy.write_text(policy.read_text() + 'by = "s"\n')
    with pytest.raises(qifsql.QifError, match="leave groups"):
        qifsql.compare(tmp_path / "a.parquet", policy=policy)


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
def test_the_command_says_4_when_no_change_does(tmp_path: Path) -> None:
    name = '"; drop <script>\n'
    pl.DataFrame({name: [1, 2, 30], "s": ["a", "a", "a"]}).write_parquet(tmp_path / "a.parquet")
    qids = '"' + name.replace('"', '""') + '"'
    asked = ["compare", tmp_path / "a.parquet", "--qids", qids, "-s", "s"]
    done = run(*asked, "--until", "cas<=0.5", "--format", "json")
    assert done.code == 4, done.err
    assert json.loads(done.out)["results"][0]["met"] is False
    done = run(*asked, "--change", f"{name}:10", "--change", f"drop={name}", "--format", "table")
    assert done.code == 0, done.err
    assert "as it is" in done.out
    found = run(*asked, "--until", "k>=3", "--format", "table")
    assert found.code == 0, found.err
    assert "The smallest change that meets k>=3" in found.out
    charts = ["--charts", tmp_path, "--chart-format", "json"]
    assert run(*asked, "-c", f"drop={name}", *charts, "-o", tmp_path / "out.html").code == 0
    assert "<script>\n:10" not in (tmp_path / "out.html").read_text()


def test_each_release_is_beside_its_own_prior(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text('"a,b",c\n' + "".join(f"{i % 7},{i % 3}\n" for i in range(200)), "utf-8")
    asked = ("compare", file, "-q", '"a,b",c', "--format", "table")
    done = run(*asked, "--change", "sample=0.1")
    assert "without it" in done.out
    assert "0.50 %" in done.out  # 1 in 200
    assert "who is in the sample" in done.err
    assert "without the release 1 in 200" in run(*asked, "--change", 'drop="a,b"').out
    plain, quoted = (run(*asked, "--change", f"{name}:5") for name in ("a,b", '"a,b"'))
    assert plain.out.replace("a,b:5", "").split() == quoted.out.replace('"a,b":5', "").split()
    assert run(*asked, "--change", "c:0").err.startswith('error: c:0 makes column "c" no coarser')
