"""The report at the end of a study: where it is, when it is written, and what it cannot replace."""

from pathlib import Path

import pytest
from studies import ATTACK, DATASETS, SWEEP, data, written
from terminal import run as command

import qifsql
from qifsql.errors import InputError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two releases, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    data(tmp_path)
    return tmp_path


def study(here: Path, options: str = "", text: str = DATASETS + ATTACK + SWEEP) -> Path:
    """A study with these options of its report."""
    return written(here, f"[report]\n{options}\n{text}")


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
def test_a_run_ends_with_its_report(here: Path):
    done = command("run", study(here).relative_to(here))
    page = here / "study-results" / "report.html"
    assert "note: the report: study-results/report.html\n" in done.err
    text = page.read_text()
    assert "people.parquet" in text
    assert (here / "study-results" / "report.html.manifest.json").exists()


@pytest.mark.slow(because="2.6 s; every recorded mutant dies without it")
def test_a_report_of_the_result_of_a_study_alone_shows_its_risks(here: Path):
    command("run", study(here), "-o", "run.parquet")
    done = command("report", "run.parquet", "-o", "alone.md")
    assert done.code == 0, done.err
    text = (here / "alone.md").read_text()
    assert "can be singled out by someone who knows their" in text
    assert "Re-identification" in text
    assert "Study: run" in text
    command("report", "study-results", "run.parquet", "-o", "all.md")
    assert "Study: run" not in (here / "all.md").read_text()


@pytest.mark.slow(because="4.1 s; every recorded mutant dies without it")
def test_a_report_is_written_again_only_if_something_is_new(here: Path):
    path = study(here)
    page = qifsql.run(path).report
    assert page is not None
    before = page.stat().st_mtime_ns
    assert qifsql.run(path).report == page
    assert page.stat().st_mtime_ns == before
    path.write_text(path.read_text().replace("[report]", '[report]\ntitle = "Ours"'))
    qifsql.run(path)
    assert "<title>Ours" in page.read_text()
    page.write_text("changed")
    qifsql.run(path)
    assert "<title>Ours" in page.read_text()


@pytest.mark.slow(because="1.6 s; every recorded mutant dies without it")
def test_a_report_can_be_named_and_turned_off(here: Path):
    page = qifsql.run(study(here, 'out = "for the board.md"\nlang = "pt-BR"')).report
    assert page == here / "study-results" / "for the board.md"
    assert "Risco" in page.read_text()
    assert qifsql.run(study(here, 'out = ""')).report is None


def test_a_dry_run_writes_none(here: Path):
    assert qifsql.run(study(here), dry_run=True).report is None
    assert not (here / "study-results").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('out = "../report.html"', "without a folder"),
        ('out = "report.pdf"', "must end in one of .html, .md"),
        ('out = "birth.md"', "would replace the results of that name"),
        ('out = "Study.md"', "would replace the results of that name"),
        ('lang = "xx"', "there is no language xx"),
        ('file = "report.html"', 'there is no "file" here'),
        ("out = 1", "out is a text in quotes"),
    ],
)
def test_a_report_that_cannot_be_is_refused_before_anything_runs(
    here: Path, options: str, message: str
):
    path = study(here, f'{options}\n[output]\nformats = ["parquet", "md"]')
    with pytest.raises(InputError, match="line 2: ") as raised:
        qifsql.run(path)
    assert message in str(raised.value)
    assert not (here / "study-results").exists()


def test_a_report_does_not_replace_an_input(here: Path):
    (here / "study-results").mkdir()
    (here / "study-results" / "report.html").write_text("a,b\n1,2\n")
    datasets = DATASETS.replace("people.parquet", "study-results/report.html")
    with pytest.raises(InputError):
        qifsql.run(study(here, "", datasets + ATTACK))
