"""Noisy knowledge: held against the oracle, the plain attack, and all subsets of knowledge."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import oracle_noisy as oracle
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import qifsql
from qifsql.engine.settings import Settings
from qifsql.errors import QifError

NEAR = pytest.approx
TABLE = {("a", "a"): Fraction(3, 4), ("a", "x"): Fraction(1, 4), ("b", "x"): Fraction(1)}
TABLE |= {(None, None): Fraction(1, 2), (None, "a"): Fraction(1, 2)}
LAWS = {
    "age:+-1": oracle.within("age", 1),
    "age:+-3": oracle.within("age", 3),
    "age:sd=0.7": oracle.sd("age", 0.7),
    "age:right=0.25": oracle.right("age", Fraction(1, 4)),
    "age:missing=1": oracle.missing("age", Fraction(1)),
    "city:right=0.9": oracle.right("city", Fraction(9, 10)),
    "city:right=0.1": oracle.right("city", Fraction(1, 10)),
    "city:missing=0.3": oracle.missing("city", Fraction(3, 10)),
    "city:table=table.csv": oracle.table("city", TABLE),
    "job:right=0.6": oracle.right("job", Fraction(6, 10)),
    "job:missing=0.05": oracle.missing("job", Fraction(1, 20)),
    "job:exact": oracle.exact("job"),
}
COLUMNS = {"age": pl.Int32(), "city": pl.String(), "job": pl.Int8(), "s": pl.String()}
rows = st.fixed_dictionaries(
    {
        "age": st.sampled_from([17, 18, 20, 25, None]),
        "city": st.sampled_from(["a", "b", "c", None]),
        "job": st.sampled_from([1, 2, 3]),
        "s": st.sampled_from(["u", "v", "w", None]),
        "w": st.sampled_from([1, 2, 3]),
    }
)
law_lists = st.lists(
    st.sampled_from(list(LAWS)), min_size=1, max_size=3, unique_by=lambda law: law.split(":")[0]
)


def frame(people: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(people, schema=COLUMNS | {"w": pl.Int32()})


def table_file(folder: Path) -> Path:
    lines = ["value,known as,probability"]
    lines += [f"{a or ''},{b or ''},{float(p)}" for (a, b), p in TABLE.items()]
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def noisy(result: Any, model: str) -> dict[str, Any]:
    (row,) = (r for r in result.rows() if r["model"] == model and r["knows"] != "exact")
    return dict(row)


def exact(result: Any, model: str) -> dict[str, Any]:
    (row,) = (r for r in result.rows() if r["model"] == model and r["knows"] == "exact")
    return dict(row)


@settings(max_examples=examples(60), deadline=None)
@given(people=st.lists(rows, min_size=1, max_size=8), knows=law_lists, weighted=st.booleans())
def test_it_is_the_sum_over_all_that_may_be_known(
    tmp_path_factory: pytest.TempPathFactory,
    people: list[dict[str, object]],
    knows: list[str],
    weighted: bool,
) -> None:
    folder = tmp_path_factory.mktemp("noisy")
    text = "; ".join(knows).replace("table.csv", str(table_file(folder)))
    weight = "w" if weighted else None
    out = folder / "people.parquet"
    result = qifsql.attack(
        "crs,cas", frame(people), qids="age,city,job", secret="s", knows=text, weight=weight,
        records=out,
    )  # fmt: skip
    by_column = {law.split(":")[0]: LAWS[law] for law in knows}
    if weighted:
        by_column |= {
            law.split(":")[0]: oracle.right(
                law.split(":")[0], Fraction(law.split("=")[1]), "w"
            )
            for law in knows
            if "right" in law
        }
    laws = [by_column.get(name, oracle.exact(name)) for name in ("age", "city", "job")]
    written = pl.read_parquet(out)
    for model, secret, column in (("CRS", None, "success"), ("CAS", "s", "success_s")):
        wanted = oracle.attack(people, laws, secret, weight)
        row = noisy(result, model)
        assert row["posterior_probabilistic"] == NEAR(float(wanted.probabilistic), rel=1e-9)
        assert row["posterior_deterministic"] == NEAR(float(wanted.deterministic), abs=1e-9)
        assert row["worst_case"] == NEAR(float(wanted.worst), rel=1e-9)
        if not any("sd" in law for law in knows):  # the oracle's tails may be 0
            assert row["blocks"] == wanted.observations
        assert (row["low"], row["high"]) == (None, None)
        assert written[column].to_list() == NEAR([float(p) for p in wanted.people], rel=1e-9)
