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
            patch.setattr(module, "MOST", 0)
        patch.setattr(subset_families, "ROWS", data.draw(st.sampled_from((1, 100, 10**6))))
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
    monkeypatch.setattr(families, "TOGETHER", 3)
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
