"""The charts of a command: files in a folder, and their data."""

import json
from pathlib import Path

import pytest
from terminal import run

from qifsql import attack
from qifsql.commands.attack.charts import charts
from qifsql.errors import InputError

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

YEARS = {
    "first.csv": "id,school,grade,disability\n1,A,1,no\n2,A,1,yes\n3,B,2,no\n4,B,2,no\n",
    "second.csv": "id,school,grade\n1,A,2\n2,B,2\n3,B,3\n5,B,3\n",
}
ATTACK = ("attack", "crl,cal", "first.csv", "second.csv", "--key", "id")
ASKED = ("--qids", "school,grade", "--secret", "disability")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in YEARS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_charts_of_a_progressive_attack_are_those_of_the_thesis(here: Path) -> None:
    more = ("--progressive", "--charts", "charts", "--chart-format", "json", "--quiet")
    done = run(*ATTACK, *ASKED, *more, "--threshold", "0.5", "--by", "1:disability", "-f", "json")
    assert (done.code, done.err) == (0, "")
    charts = {p.stem: json.loads(p.read_bytes()) for p in Path("charts").glob("*s.json")}
    assert set(charts) == {"success", "histograms", "thresholds", "groups"}
    rows = json.loads(done.out)["results"]
    drawn = {
        (r["question"], r["measure"], r["known"]): r["success"]
        for r in charts["success"]["data"]["values"]
    }
    for row in rows:
        question = "Re-identification" if row["secret"] is None else "Inference of disability"
        known = {1: "first.csv", 2: "and second.csv"}[row["datasets"]]
        for measure in ("deterministic", "probabilistic"):
            assert drawn[question, measure, known] == row[f"posterior_{measure}"]
            assert drawn[question, measure, "before"] == row[f"prior_{measure}"]
    assert len(drawn) == 2 * 2 * 3
    bars = charts["histograms"]["data"]["values"]
    assert len({b["panel"] for b in bars}) == 2 * 2  # each question, with one dataset and two


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_a_histogram_that_only_a_chart_needs_is_not_told(here: Path) -> None:
    plain = run("attack", "crs", "first.csv", "--qids", "school", "--quiet", "-f", "csv")
    drawn = run(
        *("attack", "crs", "first.csv", "--qids", "school", "--quiet", "-f", "csv"),
        *("--charts", "charts", "--chart-format", "svg"),
    )
    assert len(drawn.out.splitlines()) == len(plain.out.splitlines())
    assert sorted(p.name for p in Path("charts").glob("*.svg")) == ["histograms.svg", "success.svg"]


def test_charts_of_individuals_have_no_histogram(here: Path) -> None:
    done = run(
        *("attack", "irs", "first.csv", "--qids", "school", "--target", "school=A", "--quiet"),
        *("--charts", "charts", "--chart-format", "svg"),
    )
    assert done.code == 0
    assert [p.name for p in Path("charts").glob("*.svg")] == ["success.svg"]


def test_gains_that_are_no_chances_are_left_out(here: Path) -> None:
    gains = attack(
        "cas", "first.csv", qids="school", secret="disability", gain=["identity", "penalty:1"]
    )
    values = charts(gains.frame, gains.details, gains.origin.spec)["success"].to_dict()["data"][
        "values"
    ]
    assert len(values) == 2 * 2
    alone = attack("cas", "first.csv", qids="school", secret="disability", gain="penalty:1")
    with pytest.raises(InputError, match="leave the gain functions out"):
        charts(alone.frame, alone.details, alone.origin.spec)


def test_charts_are_refused_before_any_work(here: Path) -> None:
    done = run("attack", "crs", "first.csv", "--qids", "agee", "--charts", "first.csv")
    assert done.code == 2
    assert "cannot be a folder for charts" in done.err
    done = run("attack", "crs", "first.csv", "--charts", "c", "--chart-format", "gif")
    assert done.code == 2
    assert "not as gif" in done.err


@pytest.mark.slow(because="3.0 s; every recorded mutant dies without it")
def test_each_chart_of_a_report_is_a_file_of_its_own(here: Path) -> None:
    for name, by in (("one", "id"), ("two", "disability")):
        more = ("--by", by, "--histogram", "--quiet", "-o", f"{name}.parquet")
        run("attack", "crs", "first.csv", "--qids", "school", *more)
    asked = ("one.parquet", "two.parquet", "-o", "r.html", "--quiet", "--minimum", "1")
    done = run("report", *asked, "--charts", "charts", "--chart-format", "svg")
    assert (done.code, done.err) == (0, "")
    written = {p.name for p in Path("charts").glob("*.svg")}
    assert len(written) == Path("r.html").read_text().count("<figure ") == 6
    done = run("report", *asked, "--charts", "charts", "--chart-format", "gif")
    assert done.code == 2


LINKED = (
    "attack",
    "crl",
    "first.csv",
    "second.csv",
    "--link",
    "school:stay=0.5",
    "--qids",
    "grade",
)


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_links_are_drawn_where_the_truth_is_told(here: Path) -> None:
    more = ("--truth", "id", "--charts", "charts", "--chart-format", "json", "--quiet")
    done = run(*LINKED, *more, "-f", "json")
    assert (done.code, done.err) == (0, "")
    (path,) = (p for p in Path("charts").glob("*.json") if "manifest" not in p.name)
    assert path.stem == "calibration"
    drawn = json.loads(path.read_bytes())["data"]["values"]
    told = json.loads(done.out)["calibration"]
    asked = ("step", "links", "predicted", "right")
    assert [[r[c] for c in asked] for r in drawn] == [[r[c] for c in asked] for r in told]


def test_links_are_not_drawn_without_the_truth(here: Path) -> None:
    done = run(*LINKED, "--charts", "charts")
    assert done.code == 2
    assert "--truth" in done.err
