"""The main job on the bundled sample."""

from pathlib import Path

from terminal import run


def test_demo_prints_and_writes_the_reports(tmp_path: Path):
    done = run("demo", tmp_path / "report")
    assert "people are singled out" in done.out
    assert {p.suffix for p in (tmp_path / "report").iterdir()} == {
        ".parquet",
        ".csv",
        ".html",
        ".json",
    }
