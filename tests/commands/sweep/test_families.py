"""A sweep of many quasi-identifiers says of every subset what one of few says, and can resume."""

import random
from pathlib import Path

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from test_sweep import Release, parquet, releases

import qifsql
from qifsql.commands.open.walking import Walk
from qifsql.commands.sweep import answers, families, strategies, sweep_run
from qifsql.counting import subset_families
from qifsql.errors import EngineError, InputError


@pytest.mark.cases(1)
@settings(max_examples=examples(8))
@given(releases(), st.data())
def test_families_of_subsets_have_the_rows_of_a_sweep(drawn: Release, data: st.DataObject):
    """At any limit, and however few subsets a statement counts; numbers follow the rows."""
    n = len(drawn.qids)
    least = data.draw(st.integers(1, n))
    sizes = f"{least}-{data.draw(st.integers(least, n))}"
    asked = {"qids": drawn.qids, "secret": drawn.secrets, "sizes": sizes, "histogram": True}
    with parquet(drawn.table) as path, pytest.MonkeyPatch.context() as patch:
        wanted = qifsql.sweep(path, **asked)
        for module in (answers, strategies, sweep_run):
            patch.setattr(module, "MOST_QIDS", 0)
        patch.setattr(subset_families, "MOST_ROWS", data.draw(st.sampled_from((1, 100, 10**6))))
        result = qifsql.sweep(path, **asked)
    for name in ("best", "histogram"):
        tables = (r.details[name].drop("subset") for r in (result, wanted))
        assert_frame_equal(*tables, check_exact=True)
    frames = (r.frame.drop("subset", "seconds") for r in (result, wanted))
    assert_frame_equal(*frames, check_exact=True)
    numbers = result.frame["subset"].unique(maintain_order=True).to_list()
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.cases(1)
def test_thirty_quasi_identifiers_resume_where_they_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The lines before say how many subsets there are; a list is attacked one by one."""
    rng, names = random.Random(5), [f"c{i}" for i in range(30)]
    table = pl.DataFrame({name: [rng.randrange(4) for _ in range(50)] for name in names})
    lines: list[str] = []
    wanted = qifsql.sweep(table, qids=names, sizes="1-2", told=lines.append)
    assert "465 subsets of 30 quasi-identifiers: about" in lines[0]
    path, place = tmp_path / "release.parquet", tmp_path / "workspace"
    table.write_parquet(path)
    monkeypatch.setattr(families, "MOST_TOGETHER", 3)
    asked = {"qids": names, "sizes": "1-2", "workspace": place}
    with monkeypatch.context() as patch:
        measure = families.FamilySession.measure
        measured: list[families.Family] = []

        def stop(session: families.FamilySession, family: families.Family) -> None:
            measured.append(family)
            if len(measured) > 20:
                raise EngineError("the disk is full")
            measure(session, family)

        patch.setattr(families.FamilySession, "measure", stop)
        with pytest.raises(EngineError):
            qifsql.sweep(path, **asked)
    result = qifsql.sweep(path, **asked)
    assert_frame_equal(*(r.frame.drop("seconds") for r in (result, wanted)))
    (row,) = qifsql.sweep(table, qids=names, subsets="c3+c20+c29").frame.to_dicts()
    assert row["blocks"] == table.select("c3", "c20", "c29").n_unique()
    with pytest.raises(InputError, match="28 quasi-identifiers at most"):
        qifsql.sweep(table, qids=names, search=True, threshold=0.5)


@pytest.mark.cases(1)
def test_what_reads_subsets_by_their_bits_refuses_more_columns_than_bits(tmp_path: Path):
    rng, names = random.Random(7), [f"c{i}" for i in range(30)]
    table = pl.DataFrame({name: [rng.randrange(4) for _ in range(20)] for name in names})
    table.with_columns(id=pl.int_range(20)).write_parquet(tmp_path / "r.parquet")
    options = {"qids": names, "sizes": "1", "workspace": tmp_path / "place"}
    swept = qifsql.sweep(tmp_path / "r.parquet", **options)
    again = qifsql.sweep(tmp_path / "r.parquet", **options)  # whose codes are dropped
    assert again.frame.drop("seconds").equals(swept.frame.drop("seconds"))
    stored = swept.save(tmp_path / "s.parquet")
    with pytest.raises(InputError, match="30 quasi-identifiers, and adversaries take 28 at most"):
        qifsql.adversaries(stored, knows="c0=1")
    with pytest.raises(InputError, match="the page shows those of 28 at most"):
        Walk.of(str(stored))
    table.with_columns(id=pl.int_range(20)).write_parquet(tmp_path / "later.parquet")
    both = [tmp_path / "r.parquet", tmp_path / "later.parquet"]
    qids = [*(f"1:{name}" for name in names), "2:c0"]
    with pytest.raises(InputError, match="a sweep of several releases takes 28"):
        qifsql.sweep(both, qids=qids, key="id", sizes="1")
    with pytest.raises(InputError, match='sizes="1-2", or name fewer'):
        qifsql.sweep(tmp_path / "r.parquet", qids=names)


@pytest.mark.parametrize("sizes", [range(1, 4), range(2, 4), range(1, 2), range(3, 6)])
def test_the_members_of_a_subset_are_those_of_its_number(sizes: range) -> None:
    named = subset_families.numbered_names(list("abcdef"), sizes)
    for number, qids in named.rows():
        places = subset_families.members(number, 6, sizes)
        assert ["abcdef"[place] for place in places] == qids
