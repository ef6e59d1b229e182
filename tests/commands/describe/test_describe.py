"""The columns of a dataset: what is missing, different, alone."""

from pathlib import Path

import polars as pl
from terminal import run

import qifsql


def test_describe_shows_no_rare_value_unless_asked(tmp_path: Path):
    file = tmp_path / "t.csv"
    file.write_text("name\n" + "common\n" * 10 + "RARE\n" * 9)
    plain = run("describe", file, "--format", "table")
    some = run("describe", file, "--values", "5", "--format", "table")
    rare = run("describe", file, "--values", "5", "--rare", "--format", "table")
    assert "common" not in plain.out
    assert "common" in some.out
    assert "RARE" not in plain.out + some.out
    assert "RARE" in rare.out


def test_describe_counts_missing_distinct_and_singled_out(tmp_path: Path):
    file = tmp_path / "t.parquet"
    x = [1.0, 1.0, float("nan"), None, -0.0, 0.0, 7.5, 8.5]
    pl.DataFrame({"x": x, "l": [[1]] * 8}).write_parquet(file)
    row, nested = qifsql.describe(file).frame.to_dicts()
    assert (row["records"], row["missing"], row["distinct"], row["singled_out"]) == (8, 2, 4, 2)
    assert row["entropy"] == 3 * 0.25 * 2 + 2 * 0.125 * 3
    assert (nested["records"], nested["suggested_role"]) == (None, "nested")
