"""Chances of values of the secret for the people least and most suspected, as they are defined."""

from dataclasses import astuple
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Table, tables, to_arrow
from terminal import run

import qifsql
from qifsql.errors import InputError
from qifsql.reference import microdata, success


@given(tables(), st.data())
@settings(max_examples=examples(40))
def test_every_chance_is_that_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory, table: Table, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("v") / "release.parquet"
    pq.write_table(to_arrow(table), path)
    secret = data.draw(st.sampled_from(table.secrets))
    null = data.draw(st.sampled_from(["distinct", "drop"]))
    asked: dict[str, Any] = {"qids": table.qids, "secret": [secret], "null": null}
    used = [*table.qids, secret]
    rows = [r for r in table.rows if null == "distinct" or None not in microdata.key(r, used)]
    if not rows:
        return
    result = qifsql.attack("crs,cas", path, **asked, value_chances=True)
    shown = result.details["value_chances"]
    names = ("individuals", "prior", "low", "high", "suspected")
    expected = success.value_chances(rows, table.qids, secret).values()
    assert sorted(shown.select(names).rows()) == sorted(
        tuple(float(number) for number in astuple(chances)) for chances in expected
    )
    assert set(shown["attack_id"]) == {result.frame["attack_id"][1]}


@pytest.fixture
def candidates(tmp_path: Path) -> Path:
    """PoPETs section 6.1: of one candidate the chance of a disability is 30 %, of another 5 %."""
    file = tmp_path / "candidates.parquet"
    schools = ["a"] * 20 + ["b"] * 380
    disabled = ["yes"] * 6 + ["no"] * 14 + ["yes"] * 19 + ["no"] * 361
    pl.DataFrame({"school": schools, "disability": disabled}).write_parquet(file)
    return file


def test_the_story_of_two_candidates_is_told(candidates: Path, tmp_path: Path) -> None:
    asked = ("cas", candidates, "-q", "school", "-s", "disability", "--value-chances")
    shown = " ".join(run("attack", *asked, "-f", "table").out.split())
    assert "Harm needs no certainty" in shown
    assert "disability is yes with a chance of 30.00 % for the first" in shown
    assert "and of 5.00 % for the second" in shown
    run("attack", *asked, "-o", tmp_path / "risk.json")
    report = tmp_path / "report.md"
    done = run("report", tmp_path / "risk.json", "-o", report)
    assert done.code == 0, done.err
    told = " ".join(report.read_text().split())
    assert "Harm without certainty" in told
    assert "of 30.00 % for the first" in told


def test_a_receipt_tells_it_of_one_person(candidates: Path) -> None:
    asked = ("--show", "receipt", candidates, "-s", "disability", "--target")
    shown = " ".join(run("inspect", *asked, "school=a", "-f", "table").out.split())
    assert "disability is yes with a chance of 30.00 % for this person, and of 6.25 %" in shown
    found = qifsql.inspect(
        candidates, show="receipt", target={"school": "a"}, secret="disability"
    ).details["chances"]
    assert found.rows() == [
        ("disability", "no", 375 / 400, 14 / 20), ("disability", "yes", 25 / 400, 6 / 20),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"secret": None}, "about a secret"),
        ({"weight": "w"}, "take no weights"),
        ({"target": {"school": "a"}, "model": "ias"}, "are about everybody"),
    ],
)
def test_chances_that_are_no_shares_of_people_are_refused(
    candidates: Path, wrong: dict[str, Any], says: str
) -> None:
    file = candidates.with_name("weighted.parquet")
    pl.read_parquet(candidates).with_columns(w=1.0).write_parquet(file)
    options = {"model": "crs" if "secret" in wrong else "cas", "secret": "disability"} | wrong
    model = options.pop("model")
    qids = {} if "target" in wrong else {"qids": "school"}
    with pytest.raises(InputError, match=says):
        qifsql.attack(model, file, value_chances=True, **qids, **options)
