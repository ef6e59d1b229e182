"""The columns of a dataset: what is missing, different, alone."""

import shlex
from pathlib import Path

import polars as pl
import pytest
from terminal import run

import qifsql
from qifsql.data.dataset import Dataset


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


def test_people_are_counted_who_are_alone_in_all_their_records(tmp_path: Path) -> None:
    file = tmp_path / "visits.parquet"
    visits = [(1, "x", 3), (1, "y", 3), (2, "x", 1), (3, "x", 1), (3, "y", 2), (4, "z", 2)]
    pl.DataFrame(visits, schema=["person", "ward", "day"], orient="row").write_parquet(file)
    result = qifsql.describe(file, person="person")
    counts = dict(result.frame.select("column", "singled_out").iter_rows())
    # wards x and y are those of 1 and 3; of the days 3, 3; 1; 1, 2 and 2 all are one person's
    assert counts == {"person": 4, "ward": 2, "day": 4}
    for column in ("ward", "day"):
        attacked = qifsql.attack("crs", file, qids=column, person="person").frame
        assert attacked.filter(known_records="all")["singled_out"].item() == counts[column]
    assert result.frame["singled_out_share"].to_list() == [1.0, 0.5, 1.0]
    assert not any("records are counted" in note for note in result.notes)


def test_names_are_never_shortened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nor the command line at the end, which holds them all, on however narrow a terminal."""
    names = [f"a_rather_long_name_of_a_column_that_somebody_wrote_{i}" for i in range(3)]
    file = tmp_path / "t.parquet"
    pl.DataFrame({name: [1, 2, 2, 3] for name in names}).write_parquet(file)
    monkeypatch.setenv("COLUMNS", "40")
    done = run("describe", file, "--format", "table")
    lines = done.out.splitlines()
    for name in names:
        assert sum(line.strip().startswith(name) for line in lines) == 2
    (command,) = [line.strip() for line in lines if "qifsql attack" in line]
    assert command == f"qifsql attack crs {file} --qids {','.join(names)}"
    assert run(*shlex.split(command)[1:]).code == 0


def test_the_command_at_the_end_runs_whatever_the_names_are(tmp_path: Path):
    file = tmp_path / "it's here.csv"
    file.write_text(
        "a b;\"c,d\";'e';income\n1;1;1;5\n2;2;2;6\n3;3;2;6\n2;2;1;5\n3;3;3;5\n1;1;3;6\n"
    )
    done = run("describe", file, "--delimiter", ";", "--where", "income < 9", "--format", "table")
    (command,) = [line.strip() for line in done.out.splitlines() if "qifsql attack" in line]
    assert run(*shlex.split(command)[1:]).code == 0


@pytest.mark.slow(because="2.3 s; every recorded mutant dies without it")
@pytest.mark.parametrize("names", ["born,sex", "1987-01-02,F", "born,F"])
def test_a_first_line_that_looks_like_a_record_is_told(tmp_path: Path, names: str):
    file = tmp_path / "t.csv"
    file.write_text(f"{names}\n1990-03-04,M\n1991-05-06,F\n")
    notes = [n for n in qifsql.describe(file).notes if "if it is a record, it is not counted" in n]
    assert len(notes) == (names != "born,sex")
    begun = run("start", file, "--yes", "--folder", tmp_path / "begun")
    assert begun.err.count("if it is a record, it is not counted") == len(notes)


def test_what_may_mislead_in_a_file_is_told(tmp_path: Path):
    file = tmp_path / "t.csv"
    rows = ["pid;weight;job;visits;empty", "1;1,5;NA;007;", "1;2,5;-;1;", "2;3,25;x;2;"]
    file.write_text("\n".join(rows))
    result = qifsql.describe(file)
    assert result.frame["why"].to_list()[-1] == "no value at all"
    told = {text.partition(":")[0].partition(" ")[0]: text for text in result.notes}
    assert set(told) == {"records", '"job"', '"weight"'}
    assert '"pid" has 2 values in 3 records' in told["records"]
    assert "count as values like any other" in told['"job"']
    assert 'na="NA"' in told['"job"']
    assert "decimal mark" in told['"weight"']
    read = Dataset.open(file, decimal=",", all_varchar=True, na=["NA", "-"])
    assert not [note for note in qifsql.describe(read).notes if "decimal=" in note or "na=" in note]
    file.write_text("pid,weight,job\n1,1.5,x\n2,2.5,y\n3,3.5,y\n")
    assert qifsql.describe(file).notes == ()


def test_columns_counted_together_have_the_numbers_of_each_alone(monkeypatch: pytest.MonkeyPatch):
    values = [1.5, -0.0, 0.0, float("nan"), None, 1.5]
    columns = {
        "a": values,
        "b": values[::-1],
        "n": [7, 7, None, 1, 2, 3],
        "t": ["x", "y", "x", "y", "x", None],
    }
    alike = {f"{name}{i}": cells for name, cells in columns.items() for i in range(2)}
    together = qifsql.describe(pl.DataFrame(alike), values=9, rare=True)
    monkeypatch.setattr("qifsql.commands.describe.describe.FEW", 0)
    alone = qifsql.describe(pl.DataFrame(alike), values=9, rare=True)
    assert alone.frame.equals(together.frame)
    assert together.frame["distinct"].to_list()[:2] == [2, 2]  # 1.5 and 0.0
    assert len(alone.origin.plans) > len(together.origin.plans)
