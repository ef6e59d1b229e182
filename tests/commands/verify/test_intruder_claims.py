"""Claims of a motivated intruder test are scored by the key, beside what was predicted."""

import csv
import json
import tempfile
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.errors import InputError

QUESTIONS = {"whose record": None, "s": "s"}
ENTRY = st.tuples(
    st.sampled_from(["1", "02", "x"]),  # the answer
    st.sampled_from([None, "1", "2", " X ", "y"]),  # the claim
    st.sampled_from(["", "0.5", "90 %", "0"]),  # the stated confidence
    st.integers(1, 9),  # the size of the block
)
RIGHT = {("1", "1"), ("02", "2"), ("x", " X ")}
STATED = {"0.5": 0.5, "90 %": 0.9, "0": 0.0}


def write(path: Path, names: str, rows: list[Any]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names.split(), *rows])
    return path


def write_key(folder: Path, rows: list[Any], by: str = "chance") -> Path:
    key = write(folder / "key.csv", "sheet question answer chance", rows)
    spec = {"questions": QUESTIONS, "by": by, "dataset": "people", "qids": ["a"]}
    (folder / "key.csv.manifest.json").write_text(json.dumps({"result": "sheets", "spec": spec}))
    return key


@given(st.lists(ENTRY, min_size=1, max_size=8), st.lists(ENTRY, max_size=4))
@settings(max_examples=examples(15), deadline=None)
def test_scores_are_those_of_the_definition(
    records: list[tuple[Any, ...]], values: list[tuple[Any, ...]]
) -> None:
    """Claims, right, precision, prediction and coverage by question and stated confidence."""
    asked = {"whose record": records, "s": values}
    rows = [(i, name, *e) for name, entries in asked.items() for i, e in enumerate(entries)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_key(folder, [(i, q, answer, 1 / size) for i, q, answer, _, _, size in rows])
        claims = [(i, q, claim, sure) for i, q, _, claim, sure, _ in rows]
        file = write(folder / "c.csv", "sheet question claim confidence", claims)
        result = qifsql.verify(folder, claims=[file, file])
    for row in result.frame.iter_rows(named=True):
        entries = asked["whose record" if row["secret"] is None else "s"]
        times = 2 if row["file"] is None else 1
        claimed = [
            (answer, claim, size, STATED.get(sure))
            for answer, claim, sure, size in entries
            if claim is not None and STATED.get(sure, 0) >= row["stated_from"]
        ]
        right = sum((answer, claim) in RIGHT for answer, claim, *_ in claimed)
        counts = (times * len(entries), times * len(claimed), times * right)
        assert (row["sheets"], row["claims"], row["right"]) == counts
        assert row["stated_from"] == 0 or claimed
        if not claimed:
            assert row["precision"] is row["low"] is row["predicted"] is None
            continue
        n = len(claimed)
        assert row["precision"] == right / n
        assert row["predicted"] == pytest.approx(float(sum(Fraction(1, c[2]) for c in claimed) / n))
        assert row["coverage"] == n / len(entries)
        stated = [sure for *_, sure in claimed if sure is not None]
        mean = None if not stated else pytest.approx(sum(stated) / len(stated))
        assert row["stated"] == mean
        if row["file"] is not None:
            low, high = row["low"], row["high"]
            assert tail(low, n, range(right, n + 1)) == pytest.approx(0.025 if right else 1)
            assert tail(high, n, range(right + 1)) == pytest.approx(0.025 if right < n else 1)
        else:
            assert row["low"] is row["high"] is None
    assert result.frame["file"].unique().sort().to_list() == [None, 1, 2]


def tail(chance: float, n: int, counts: range) -> float:
    """Return the probability that so many of ``n`` are right."""
    return sum(comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in counts)


def test_a_tester_who_knows_more_than_the_sheets_say_fails_the_check(tmp_path: Path) -> None:
    """They find 6 of 6 where 1 of 10 is predicted; 1 of 6 may be luck."""
    write_key(tmp_path, [(i, "whose record", i, 0.1) for i in range(6)])
    for name, right in (("all", 6), ("one", 1)):
        rows = [(i, "whose record", i if i < right else 99, 100) for i in range(6)]
        write(tmp_path / f"{name}.csv", "sheet question claim confidence", rows)
    done = run("verify", tmp_path, "--claims", tmp_path / "all.csv", "-f", "table")
    assert done.code == 4
    assert "the tester knew more than is on the sheets" in " ".join(done.out.split())
    done = run("verify", tmp_path, "--claims", tmp_path / "one.csv", "-f", "table")
    assert done.code == 0, done.err
    assert "may be luck" in " ".join(done.out.split())


def test_numbers_are_not_taken_for_equal_where_answers_differ_in_that(tmp_path: Path) -> None:
    write_key(tmp_path, [(1, "whose record", "007", 0.1), (2, "whose record", "7", 0.1)])
    rows = [(1, "whose record", "7", ""), (2, "whose record", "7", "")]
    file = write(tmp_path / "c.csv", "sheet question claim confidence", rows)
    assert qifsql.verify(tmp_path, claims=file).frame["right"].to_list() == [1, 0]


@pytest.mark.parametrize(
    ("answers", "claims", "right"),
    [
        (["1.5", "2"], ["1,5", "2,0"], 2),  # decimal commas, and a row that is empty
        (["1e9999999", "true"], ["1E9999999", "TRUE"], 2),  # a number beyond every limit
        ([f"{10**30}", f"{10**30 + 2}"], [f"{10**30 + 1}", f"{10**30 + 2}.0"], 1),
    ],
)
def test_what_a_spreadsheet_makes_of_answers_is_overlooked(
    tmp_path: Path, answers: list[str], claims: list[str], right: int
) -> None:
    write_key(tmp_path, [(i, "s", answer, 0.9) for i, answer in enumerate(answers)])
    rows = [(i, "s", claim, "") for i, claim in enumerate(claims)] + [("", "", "", "")]
    file = write(tmp_path / "c.csv", "sheet question claim confidence", rows)
    assert qifsql.verify(tmp_path, claims=file).frame["right"].to_list() == [0, right]
    typed = pl.read_csv(file, schema_overrides={"claim": pl.String, "sheet": pl.Float64})
    typed.write_parquet(tmp_path / "c.parquet")
    assert qifsql.verify(tmp_path, claims=tmp_path / "c.parquet").frame["right"][1] == right


def test_people_who_miss_a_secret_are_not_scored(tmp_path: Path) -> None:
    write_key(tmp_path, [(1, "s", "", ""), (2, "s", "a", 0.5)])
    rows = [(1, "s", "a", ""), (2, "s", "a", "")]
    file = write(tmp_path / "c.csv", "sheet question claim confidence", rows)
    scores = qifsql.verify(tmp_path / "key.csv", claims=[file]).frame.filter(secret="s")
    assert scores.select("sheets", "claims", "right").rows() == [(1, 1, 1)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, "s", "a", "")] * 2, r"row 2 after the names: a claim about this sheet"),
        ([(5, "s", "canary", "")], "row 1 after the names: key.csv has no such sheet"),
        ([(1, "s", "a", "canary")], "the confidence is not a number from 0 to 100 %"),
        ([(1, "s", "a", "250")], "the confidence is not a number"),
        ([(1, "s", "a", "1e999999999")], "the confidence is not a number"),
        ([(1, "s", "a", "-1")], "the confidence is not a number"),
        ([], "has no rows|has no records|is empty"),
    ],
)
def test_claims_that_do_not_fit_are_refused(tmp_path: Path, rows: Any, message: str) -> None:
    write_key(tmp_path, [(1, "s", "a", 0.5)])
    file = write(tmp_path / "c.csv", "sheet question claim confidence", rows)
    with pytest.raises(InputError, match=message) as error:
        qifsql.verify(tmp_path, claims=file)
    assert "canary" not in str(error.value)


def test_a_test_without_its_key_or_columns_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "c.csv", "sheet question claim", [(1, "s", "a")])
    with pytest.raises(InputError, match=r"has no key.csv"):
        qifsql.verify(tmp_path, claims=file)
    write_key(tmp_path, [(1, "s", "a", 0.5)])
    with pytest.raises(InputError, match='no column "confidence"'):
        qifsql.verify(tmp_path, claims=file)
    with pytest.raises(InputError, match="and nothing else"):
        qifsql.verify(tmp_path, claims=file, sql=True)
    write_key(tmp_path, [(1, "s", "a", 0.5), (1, "s", "b", 0.5)])
    good = write(tmp_path / "d.csv", "sheet question claim confidence", [(1, "s", "a", "")])
    with pytest.raises(InputError, match="there twice"):
        qifsql.verify(tmp_path, claims=good)
    (tmp_path / "key.csv.manifest.json").unlink()
    with pytest.raises(InputError, match="missing or damaged"):
        qifsql.verify(tmp_path, claims=good)


def test_secrets_may_have_any_names(tmp_path: Path) -> None:
    names = ["=x", " s ", "s", "whose record", "  ", 'a\n"b|', "answer"]
    people = pl.DataFrame({"q": [1, 2, 2], **{name: [*"klm"] for name in names}})
    qifsql.inspect(people, qids="q", secret=names, draw=3, out=tmp_path / "test")
    key = pl.read_csv(tmp_path / "test/key.csv", infer_schema=False)
    claims = key.select("sheet", "question", claim="answer", confidence=pl.lit("90%"))
    claims.write_csv(tmp_path / "claims.csv")
    scores = qifsql.verify(tmp_path / "test", claims=tmp_path / "claims.csv").frame
    assert scores.select("secret", "right").rows() == [(name, 3) for name in (None, *names)]


def test_the_whole_way_from_a_draw_to_a_report(tmp_path: Path) -> None:
    """A tester who copies the best guess of each block is about as good as predicted."""
    people = pl.DataFrame({"a": [i % 5 for i in range(60)], "s": [f"s{i % 3}" for i in range(60)]})
    people.write_csv(tmp_path / "people.csv")
    qifsql.inspect(tmp_path / "people.csv", qids="a", secret="s", draw=30, out=tmp_path / "test")
    sheets = pl.read_csv(tmp_path / "test/testers/sheets.csv")
    best = dict(people.group_by("a").agg(pl.col("s").mode().sort().first()).rows())
    first = dict(people.with_row_index("n", 1).group_by("a").agg(pl.col("n").first()).rows())
    rows: list[Any] = []
    for sheet, a in sheets.rows():
        rows += [(sheet, "whose record", first[a], "8 %"), (sheet, "s", best[a], "34 %")]
    file = write(tmp_path / "c.csv", "sheet question claim confidence", rows)
    result = qifsql.verify(tmp_path / "test", claims=file)
    assert result.met
    (tmp_path / "test/testers/claims.csv").write_text(file.read_text())
    beside = qifsql.verify(claims=tmp_path / "test/testers/claims.csv")
    assert beside.frame.equals(result.frame)
    result.save(tmp_path / "claims.json")
    done = run("report", tmp_path / "claims.json", "-o", tmp_path / "report.md")
    assert done.code == 0, done.err
    text = (tmp_path / "report.md").read_text()
    assert "The interval holds the chance" in text
