"""A sweep of people of whom some miss a secret: beside everybody, those with a reported one."""

from typing import Any

import polars as pl
import pytest

import qifsql
from qifsql.measures.bayes import REPORTED

PEOPLE = pl.DataFrame(
    {
        "id": [1, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8],
        "a": ["x", "y", "x", "y", "x", "z", "z", "x", "y", "y", "y", "z"],
        "b": [1, 1, 2, 2, 1, 1, 1, 1, 2, 2, 1, 2],
        "s": ["p", None, "p", None, None, None, None, "q", "q", "p", "q", None],
        "f": [*"mmffmmffmmff"],
    }
)


@pytest.mark.parametrize("options", [{}, {"person": "id"}, {"weight": "b"}])
def test_a_sweep_has_the_numbers_of_attacks(options: dict[str, Any]) -> None:
    """Each row has the numbers of an attack on its subset, but for those known to be missing."""
    people = PEOPLE.with_columns(c=pl.col("b")) if "weight" in options else PEOPLE
    qids = "a,c" if "weight" in options else "a,b"
    names = [*(name for name in REPORTED if name != "certain_missing"), "l"]
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


def test_a_sample_says_what_it_leaves_out() -> None:
    swept = qifsql.sweep(PEOPLE, qids="a,b", secret="s", sample=0.5)
    assert any("may be missing" in note for note in swept.notes)
