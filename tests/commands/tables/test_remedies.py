"""Remedies of published tables: what they cost (M110), and which one a search takes."""

from collections import Counter
from typing import Any

import polars as pl
import pytest
from places import SAMPLES

import qifsql

PEOPLE = SAMPLES / "thesis_table_3_2.csv"
PAIR = ["age,gender", "age,illness"]
SMALL = 2
ASKED: dict[str, Any] = {"table": PAIR, "secret": "illness", "small": SMALL}


def cells(*names: str, step: int = 1) -> list[int]:
    """The counts of the cells with somebody of a table, with ages in steps."""
    rows = pl.read_csv(PEOPLE).with_columns(pl.col("age") // step).select(names).rows()
    return list(Counter(rows).values())


@pytest.mark.slow(because="8.4 s; every recorded mutant dies without it")
def test_cells_lost_are_those_that_no_longer_tell_their_count() -> None:
    expected: dict[str | None, int] = {None: 0}
    for title in PAIR:
        counts = cells(*title.split(","))
        expected[f"leave out {title}"] = len(counts)
        expected[f"hide counts below {SMALL} in {title}"] = sum(n < SMALL for n in counts)
        expected[f"round to {SMALL} in {title}"] = len(counts)  # 2 may be 2 or 3
    merged = [len(cells(*t.split(","))) - len(cells(*t.split(","), step=50)) for t in PAIR]
    expected["make age coarser: age:50"] = sum(merged)
    assert sorted(expected.values()) == [0, 1, 2, 4, 5, 5, 5, 5]
    result = qifsql.tables(PEOPLE, remedies=True, change=["age:50"], **ASKED)
    rows = result.details["remedies"].to_dicts()
    assert {row["remedy"]: row["cells_lost"] for row in rows} == expected
    assert len(rows) == len(expected)


@pytest.mark.slow(because="7.7 s; every recorded mutant dies without it")
def test_the_cheapest_single_remedy_that_keeps_the_bounds_is_chosen() -> None:
    asked = ASKED | {"change": ["age:50"], "until": ["reconstructed<=0"]}
    rows = qifsql.tables(PEOPLE, **asked).details["remedies"].filter(pl.col("step") > 0)
    assert rows["step"].unique().to_list() == [1]
    keeping = rows.filter(pl.col("reconstructed") == 0)
    assert keeping.equals(rows.filter("met"))
    assert 0 < keeping.height < rows.height
    (chosen,) = rows.filter("chosen").to_dicts()
    assert chosen["met"]
    assert chosen["cells_lost"] == keeping["cells_lost"].min()
