"""A sweep of people of whom some miss a secret: beside everybody, those with a reported one."""

from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.measures.bayes import REPORTED
from qifsql.reference import success

PEOPLE = pl.DataFrame(
    {
        "id": [1, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8],
        "a": ["x", "y", "x", "y", "x", "z", "z", "x", "y", "y", "y", "z"],
        "b": [1, 1, 2, 2, 1, 1, 1, 1, 2, 2, 1, 2],
        "s": ["p", None, "p", None, None, None, None, "q", "q", "p", "q", None],
        "f": [*"mmffmmffmmff"],
    }
)


@pytest.mark.cases(1)
@pytest.mark.parametrize("options", [{}, {"person": "id"}, {"weight": "b"}])
def test_a_sweep_has_the_numbers_of_attacks(options: dict[str, Any]) -> None:
    """Each row has the numbers of an attack on its subset."""
    people = PEOPLE.with_columns(c=pl.col("b")) if "weight" in options else PEOPLE
    qids = "a,c" if "weight" in options else "a,b"
    names = [*REPORTED, "l"]
    swept = qifsql.sweep(people, qids=qids, secret="s,f", **options)
    attacks = {
        subset: qifsql.attack(
            "crs,cas", people, qids=subset, secret="s,f", measures="anonymity", **options
        ).rows()
        for subset in (qids[0], qids[2], qids)
    }
    for row in swept.rows():
        same = [
            r
            for r in attacks[",".join(row["qids"])]
            if (r["secret"], r.get("known_records")) == (row["secret"], row.get("known_records"))
        ]
        assert {n: row[n] for n in names} == {n: same[0][n] for n in names}


def test_complete_secrets_have_no_further_columns() -> None:
    swept = qifsql.sweep(PEOPLE, qids="a,b", secret="f")
    assert not {*REPORTED} & {*swept.frame.columns}


@pytest.mark.cases(1)
def test_what_is_told_is_of_people_and_never_of_two_rows_for_one() -> None:
    told: list[str] = []
    qifsql.sweep(PEOPLE, qids="a,b", secret="s", told=told.append)
    assert told
    twice = PEOPLE.height + PEOPLE["s"].count()
    assert not [text for text in told if f"{twice} " in text]


def test_a_sample_says_what_it_leaves_out() -> None:
    swept = qifsql.sweep(PEOPLE, qids="a,b", secret="s", sample=0.5)
    assert any("may be missing" in note for note in swept.notes)


@pytest.mark.cases(1)
@settings(max_examples=examples(30), deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "a": st.sampled_from("xy*"),
                "b": st.integers(0, 1),
                "s": st.sampled_from((None, 1, 2)),
            }
        ),
        min_size=1,
        max_size=9,
    )
)
def test_who_is_known_to_miss_a_secret_follows_the_definition(
    rows: list[dict[str, Any]],
) -> None:
    types = {"a": pl.String(), "b": pl.Int64(), "s": pl.Int64()}
    swept = qifsql.sweep(pl.DataFrame(rows, schema=types), qids="a,b", secret="s")
    for row in swept.rows():
        if row["secret"] is not None and "reported" in row:
            hidden = [("*",)] if row["qids"] == ["a"] else []
            expected = success.beside_reported(rows, row["qids"], "s", suppressed=hidden)
            assert {n: row[n] for n in expected} == pytest.approx(
                {n: None if v is None else float(v) for n, v in expected.items()}
            )
