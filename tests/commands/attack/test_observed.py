"""One observed block: pointwise leakage, Bayes security, capacity of releases and of groups."""

import math
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import SAMPLES

import qifsql
from qifsql.commands.attack import further_measures
from qifsql.measures.channel_measures import leakage, security
from qifsql.reference import channel as ch
from qifsql.reference import entropies as en

THESIS = str(SAMPLES / "thesis_table_3_2.csv")


def one(result: qifsql.Result) -> dict[str, Any]:
    """The only row of a result."""
    return result.frame.row(0, named=True)


def test_the_leakage_of_blocks_by_hand() -> None:
    """Three of four are "a", one is "b"; x holds two a, y holds one of each.

    In x p(a | x) / p(a) = 1 / (3/4) = 4/3; in y p(b | y) / p(b) = (1/2) / (1/4) = 2. Half of the
    people are in each: mean (log2 4/3 + 1) / 2. Rows of the channel: a is 2/3 in x, 1/3 in y; b is
    all in y: they overlap by 1/3.
    """
    frame = pl.DataFrame({"q": ["x", "x", "y", "y"], "s": ["a", "a", "a", "b"]})
    row = one(qifsql.attack("cas", frame, qids="q", secret="s", measures="pointwise,security"))
    assert row["pointwise_mean"] == pytest.approx((math.log2(4 / 3) + 1) / 2, rel=1e-15)
    assert row["pointwise_median"] == pytest.approx(math.log2(4 / 3), rel=1e-15)
    assert row["pointwise_q95"] == row["pointwise_worst"] == 1
    assert row["bayes_security"] == 1 / 3
    owner = one(qifsql.attack("crs", frame, qids="q", measures="pointwise,security"))
    assert (owner["pointwise_mean"], owner["pointwise_worst"]) == (1, 1)  # 4 people, blocks of 2
    assert owner["bayes_security"] == 0  # people in different blocks are told apart


def test_a_release_that_says_nothing_leaks_nothing() -> None:
    frame = pl.DataFrame({"q": ["x"] * 4, "s": ["a", "a", "a", "b"]})
    for model in ("crs", "cas"):
        row = one(qifsql.attack(model, frame, qids="q", secret="s", measures="pointwise,security"))
        assert row["pointwise_worst"] == 0
        assert row["bayes_security"] == 1


def test_values_in_no_block_together_have_no_security() -> None:
    frame = pl.DataFrame({"q": list("xxyy"), "s": list("abcc")})
    assert (
        one(qifsql.attack("cas", frame, qids="q", secret="s", measures="security"))[
            "bayes_security"
        ]
        == 0
    )


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 11)), min_size=1, max_size=30))
@settings(max_examples=examples(5), deadline=None)
def test_many_values_and_few_give_the_numbers_of_the_oracle(cells: list[tuple[int, int]]) -> None:
    """Few values are counted by tallies, more than eight by cells."""
    rows = [{"q": q, "many": s, "few": s % 3} for q, s in [*cells, *((0, i) for i in range(9))]]
    result = qifsql.attack(
        "cas", pl.DataFrame(rows), qids="q", secret="many,few", measures="security,pointwise"
    )
    for row in result.frame.iter_rows(named=True):
        channel = ch.channel(rows, ["q"], row["secret"])
        leaks = en.pointwise_leakage(ch.joint(rows, ["q"], row["secret"]))
        assert row["bayes_security"] == float(en.bayes_security(channel))
        assert row["pointwise_worst"] == pytest.approx(math.log2(max(leaks)[0]), abs=1e-15)
        mean = sum(p * math.log2(r) for r, p in leaks)
        assert row["pointwise_mean"] == pytest.approx(mean, abs=1e-14)


def test_no_capacity_is_below_the_leakage_that_is_expected_of_a_block() -> None:
    """The mean of 2^leakage over people is the capacity (Saeidian et al.: maximal leakage)."""
    frame = pl.read_csv(THESIS)
    rows = frame.to_dicts()
    leaks = en.pointwise_leakage(ch.joint(rows, ["age"], "illness"))
    row = one(qifsql.attack("cas", THESIS, qids="age", secret="illness", measures="capacity"))
    assert row["capacity"] == float(sum((p * r for r, p in leaks), F()))


def test_too_many_pairs_are_not_compared_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(further_measures, "MOST_PAIRS", 2)
    frame = pl.DataFrame({"q": [0, 0, 0], "s": [1, 2, 3]})
    result = qifsql.attack("cas", frame, qids="q", secret="s", measures="security")
    assert one(result)["bayes_security"] is None
    assert any("more than 2 pairs of values" in note for note in result.notes)


def test_weights_and_targets_have_no_such_numbers() -> None:
    frame = pl.DataFrame({"q": [0, 0, 1], "s": [1, 2, 3], "w": [1, 2, 3]})
    names = ("pointwise_mean", "pointwise_worst", "bayes_security")
    weighted = qifsql.attack("cas", frame, qids="q", secret="s", weight="w", measures="all")
    assert [one(weighted)[name] for name in names] == [None] * 3
    assert any("not computed with weights" in note for note in weighted.notes)
    one_person = qifsql.attack("ias", frame, qids="q", secret="s", target={"q": 0}, measures="all")
    assert [one(one_person)[name] for name in names] == [None] * 3


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_capacities_of_releases_do_not_multiply(tmp_path: Path) -> None:
    """Releases of a and of b say nothing of a xor b, and both together say all: 1, 1 and 2."""
    people = [(a, b) for a in (0, 1) for b in (0, 1)] * 3
    ids = list(range(len(people)))
    first = pl.DataFrame({"id": ids, "a": [a for a, _ in people], "s": [a ^ b for a, b in people]})
    second = pl.DataFrame({"id": ids, "b": [b for _, b in people]})
    files = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    first.write_parquet(files[0])
    second.write_parquet(files[1])

    def capacities(qids: list[str], **more: Any) -> list[float]:
        result = qifsql.attack(
            "cal", files, qids=qids, secret="s", key="id", measures="capacity", **more
        )
        return result.frame["capacity"].to_list()

    assert capacities(["1:a", "2:b"], progressive=True) == [1, 2]
    assert capacities(["1:a"]) == capacities(["2:b"]) == [1]
    owners = qifsql.attack(
        "crl", files, qids=["1:a", "2:b"], key="id", measures="capacity", progressive=True
    )
    assert owners.frame["capacity"].to_list() == [2, 4]  # of records they do: 2 * 2


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_capacity_of_a_group_is_that_of_its_people(weight: str | None) -> None:
    """By cells (``many``), by tallies (``few``) and of records; with weights, too."""
    rows = [
        {"q": i % 4, "many": i % 11, "few": i % 3, "g": "xyz"[i * i % 3], "w": 1 + i % 2}
        for i in range(40)
    ]
    result = qifsql.attack(
        "crs,cas", pl.DataFrame(rows), qids="q", secret="many,few", by="g", measures="capacity",
        weight=weight,
    )  # fmt: skip
    names = dict(result.frame.select("attack_id", "secret").rows())
    table = result.details["group_capacity"]
    assert table.height == 3 * len({row["g"] for row in rows})
    for line in table.iter_rows(named=True):
        group = [row for row in rows if row["g"] == line["group"]]
        weights = None if weight is None else [row["w"] for row in group]
        channel = ch.channel(group, ["q"], names[line["attack_id"]], weights=weights)
        assert line["capacity"] == pytest.approx(float(en.capacity(channel)), rel=1e-14)
        assert line["individuals"] == len(group)


def test_measures_of_kinds_of_blocks() -> None:
    assert leakage([(F(1), 3), (F(2), 1), (F(2), 4), (F(8), 2)]) == (1.1, 1, 3, 3)
    assert security(1, 0, F()) == 1
    assert security(3, 2, F(1, 2)) == 0
    assert security(3, 3, F(1, 2)) == 0.5
