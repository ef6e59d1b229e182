"""Refinement of quasi-identifiers, as by the oracle."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Table, tables, to_arrow
from terminal import run

import qifsql
from qifsql.errors import ColumnError
from qifsql.reference import quasi_identifier_sets as su


@given(tables(), st.data())
@settings(max_examples=examples(40))
def test_refinement_is_that_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory, table: Table, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("r") / "release.parquet"
    pq.write_table(to_arrow(table), path)
    names = st.lists(st.sampled_from(table.columns), min_size=1, unique=True)
    a, b = data.draw(names), data.draw(names)
    result = qifsql.compare(path, qids=a, refines=b)
    assert result.met == su.refines(table.rows, a, b)
    row = result.frame.row(0, named=True)
    assert row["records"] == len(table.rows)
    assert (row["violating_blocks"] == 0) == result.met
    assert ("counterexample" not in result.details) == result.met
    if not result.met:
        example = result.details["counterexample"]
        assert example.height >= 2
        assert example.width == len(a) + len(b) + 1


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
@given(tables())
@settings(max_examples=examples(15))
def test_who_refines_never_leaks_less(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    path = tmp_path_factory.mktemp("r") / "release.parquet"
    pq.write_table(to_arrow(table), path)
    some = table.qids[:1]
    if qifsql.compare(path, qids=some, refines=table.qids).met:
        few, all_ = (
            qifsql.attack("cas", path, qids=q, secret=table.secrets, gain=["identity", "tries:1"])
            for q in (some, table.qids)
        )
        assert few.frame["posterior_probabilistic"].to_list() == (
            all_.frame["posterior_probabilistic"].to_list()
        )


def test_refinement_in_words(samples: Path) -> None:
    thesis = samples / "thesis_table_3_2.csv"
    yes = run("compare", thesis, "-q", "age,gender", "--refines", "age", "--format", "table")
    assert yes.out.lstrip().startswith("Yes: who knows age and gender knows age, too")
    no = run("compare", thesis, "-q", "age", "--refines", "gender", "--format", "table")
    told = "No: in 2 of 3 blocks of age people differ in gender; 9 of 10"
    assert no.out.lstrip().startswith(told)
    assert no.code == 0


def test_refinement_of_expressions(samples: Path) -> None:
    thesis = samples / "thesis_table_3_2.csv"
    assert qifsql.compare(thesis, qids="age", refines="decade=age//10").met
    assert not qifsql.compare(thesis, qids="decade=age//10", refines="id").met


def test_an_unknown_column_is_named(samples: Path) -> None:
    with pytest.raises(ColumnError, match="gendre"):
        qifsql.compare(samples / "thesis_table_3_2.csv", qids="age", refines="gendre")
