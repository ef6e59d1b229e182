"""Sheets for a motivated intruder test: who is drawn, what is predicted, what testers get."""

import json
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, OutputError

PEOPLE = "data-samples/school_census_2018.parquet"
ROW = st.tuples(
    st.integers(0, 2), st.sampled_from(["=x", "y", None]), st.sampled_from(["u", "v", None])
)


def read(path: Path) -> pl.DataFrame:
    """Return a table as texts, with NULL for an empty text."""
    return pl.read_csv(path, infer_schema=False, null_values=[""])


def written(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the sheets, the claims and the key of a test."""
    testers = folder / "testers"
    return read(testers / "sheets.csv"), read(testers / "claims.csv"), read(folder / "key.csv")


@given(
    st.lists(ROW, min_size=1, max_size=9), st.integers(1, 9), st.sampled_from(["chance", "risk"])
)
@settings(max_examples=examples(12), deadline=None)
def test_sheets_are_those_of_people_with_their_chances(
    rows: list[tuple[Any, ...]], number: int, by: Any
) -> None:
    """Known values, answers and chances are those of the record; those at risk come first."""
    data = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.String, "s": pl.String}, orient="row")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "test"
        drawn = qifsql.inspect(data, qids="a,b", secret="s", draw=number, by=by, out=folder)
        sheets, claims, key = written(folder)
    blocks = Counter(row[:2] for row in rows)
    reported = Counter(row[:2] for row in rows if row[2] is not None)
    cells = Counter(row for row in rows if row[2] is not None)
    greatest = {b: max(n for cell, n in cells.items() if cell[:2] == b) for b in reported}
    n = min(number, len(rows))
    assert sheets.height == n
    assert claims.select("sheet", "question").equals(key.select("sheet", "question"))
    assert sorted(claims.columns) == ["claim", "confidence", "question", "sheet"]
    assert claims["claim"].null_count() == 2 * n
    places = [int(text) for text in key.filter(question="whose record")["answer"]]
    assert len(set(places)) == n
    for sheet, place in zip(sheets.rows(), places, strict=True):
        a, b, s = rows[place - 1]
        assert sheet[1:] == (str(a), "'=x" if b == "=x" else b)  # no formula for spreadsheets
        answers = key.filter(sheet=sheet[0])["answer"].to_list()
        assert answers == [str(place), s]
        size = blocks[a, b]
        chances = [float(text) if text else None for text in key.filter(sheet=sheet[0])["chance"]]
        # Who misses the secret is not scored, so the guess is about those alike who report it.
        best = greatest[a, b] / reported[a, b] if reported[a, b] else None
        assert chances == pytest.approx([1 / size, best])
    risks = [
        1 / blocks[row[:2]] if row[2] is None else greatest[row[:2]] / reported[row[:2]]
        for row in rows
    ]
    if by == "risk":
        assert sorted(risks[i - 1] for i in places) == pytest.approx(sorted(risks)[-n:])
    answered = sum(rows[i - 1][2] is not None for i in places)
    assert drawn.frame["sheets"].to_list() == [n, answered]
    assert drawn.frame["predicted"][0] == pytest.approx(
        sum(1 / blocks[rows[i - 1][:2]] for i in places) / n
    )


def test_each_person_is_as_likely_as_another_whatever_their_records(tmp_path: Path) -> None:
    """Of a person with eight records one sheet is drawn as often as of one with one record."""
    data = pl.DataFrame({"p": [*"abc", *("d" * 8), None, None], "q": range(13)})
    counts: Counter[str | None] = Counter()
    for seed in range(20):
        folder = tmp_path / str(seed)
        limits = Settings(seed=seed)
        qifsql.inspect(data, qids="q", person="p", draw=3, out=folder, settings=limits)
        sheets, _, key = written(folder)
        counts.update(key["answer"].to_list())
        assert key["chance"].to_list() == ["1.0"] * 3
        people = [None if place > 10 else data["p"][place] for place in map(int, sheets["q"])]
        assert people == key["answer"].to_list()
    expected = 20 * 3 / 6  # four people, and two records of nobody
    assert all(abs(counts[name] - expected) < 8 for name in "abcd")
    assert abs((counts[None]) - 2 * expected) < 11


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2)), min_size=1, max_size=9))
@settings(max_examples=examples(8), deadline=None)
def test_who_has_more_of_their_records_alike_is_likelier(rows: list[tuple[str, int]]) -> None:
    """The chance is that of the likeliest person, if one is drawn and then a record of theirs."""
    data = pl.DataFrame(rows, schema={"p": pl.String, "q": pl.Int64}, orient="row")
    number = Counter(p for p, _ in rows)
    with tempfile.TemporaryDirectory() as name:
        qifsql.inspect(data, qids="q", person="p", draw=len(number), out=Path(name) / "test")
        sheets, _, key = written(Path(name) / "test")
    for text, chance in zip(sheets["q"], key["chance"], strict=True):
        shares = [Fraction(rows.count((p, int(text))), n) for p, n in number.items()]
        assert float(chance) == pytest.approx(float(max(shares) / sum(shares)))


def test_a_suppressed_record_may_be_anybodys(tmp_path: Path) -> None:
    data = pl.DataFrame({"a": ["1", "1", "2", "*", "*"], "s": [*"uvuuv"]})
    qifsql.inspect(data, qids="a", secret="s", draw=5, out=tmp_path / "test")
    _, _, key = written(tmp_path / "test")
    whose = key.filter(question="whose record").select("answer", "chance").sort("answer")
    assert whose["chance"].to_list() == ["0.5", "0.5", "1.0", "0.2", "0.2"]
    assert key.filter(question="s")["chance"].sort().to_list() == [
        "0.5",
        "0.5",
        "0.6",
        "0.6",
        "1.0",
    ]


def test_a_draw_depends_on_its_seed_alone(tmp_path: Path) -> None:
    def texts(name: str, **limits: Any) -> list[str]:
        folder = tmp_path / name
        settings = Settings(**limits)
        qifsql.inspect(PEOPLE, qids="TP_SEXO,NU_ANO", draw=5, out=folder, settings=settings)
        return [(folder / "key.csv").read_text(), (folder / "testers/sheets.csv").read_text()]

    assert texts("a", seed=1, threads=1) == texts("b", seed=1, threads=2)
    assert texts("c", seed=2) != texts("d", seed=1)


def test_without_a_seed_testers_cannot_repeat_the_draw(tmp_path: Path) -> None:
    """They have the release, in which the records are in the same order."""
    for name in "ab":
        drawn = qifsql.inspect(PEOPLE, qids="TP_SEXO", draw=50, by="risk", out=tmp_path / name)
        assert not any("seed" in note for note in drawn.notes)
    assert not written(tmp_path / "a")[2].equals(written(tmp_path / "b")[2])
    limits = Settings(seed=0)
    asked = qifsql.inspect(PEOPLE, qids="TP_SEXO", draw=2, out=tmp_path / "c", settings=limits)
    assert "who guesses the seed can repeat the draw" in asked.notes[-1]
    manifest = json.loads((tmp_path / "a" / "key.csv.manifest.json").read_text())
    limits = Settings(seed=manifest["seed"])
    options = {"qids": "TP_SEXO", "draw": 50, "by": "risk", "settings": limits}
    qifsql.inspect(PEOPLE, out=tmp_path / "d", **options)
    assert written(tmp_path / "a")[2].equals(written(tmp_path / "d")[2])


def test_testers_get_no_answer_and_no_manifest(tmp_path: Path) -> None:
    done = run("inspect", PEOPLE, "-q", "NU_ANO,TP_SEXO", "-s", "IN_TRANSPORTE_PUBLICO", "--by",
               "risk", "--draw", 4, "-o", tmp_path / "test")  # fmt: skip
    assert done.code == 0, done.err
    assert "hand on the folder testers, and keep key.csv" in done.err
    assert "those at greatest risk: they tell nothing about others" in done.err
    names = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert names == [
        *("test/key.csv", "test/key.csv.manifest.json", "test/testers/claims.csv"),
        *("test/testers/instructions.txt", "test/testers/sheets.csv"),
    ]
    assert "whose record" in (tmp_path / "test/testers/instructions.txt").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draw": 3}, "a test is written to a folder"),
        ({"draw": 0, "out": "x"}, "draw 1 to 10,000 people"),
        ({"draw": 3, "out": "x", "by": "luck"}, "by is one of chance, risk"),
        ({"draw": 3, "out": "x", "show": "hyper"}, "leave show and its options out"),
        ({"draw": 3, "out": "x", "weight": "NU_ANO"}, "draw does not take weight"),
        ({"draw": 3, "out": "x", "person": "NU_ANO", "secret": "CO_ENTIDADE"}, "leave the secret"),
        ({"by": "risk"}, "say how many"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        qifsql.inspect(PEOPLE, qids="TP_SEXO", **options)


def test_a_test_is_not_overwritten_and_nothing_half_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "test"
    with pytest.raises(InputError):
        qifsql.inspect(PEOPLE, qids="nothing", draw=2, out=folder)
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(OutputError):
        qifsql.inspect(PEOPLE, qids="TP_SEXO", draw=2, out=tmp_path / "file" / "test")
    qifsql.inspect(PEOPLE, qids="TP_SEXO", draw=2, out=folder)
    with pytest.raises(OutputError, match="has the files of a test already"):
        qifsql.inspect(PEOPLE, qids="TP_SEXO", draw=2, out=folder)
