"""Predicates and people that are drawn, against the slow oracle: all that can be drawn."""

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_synthetic as oracle
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_files import Line, values
from terminal import run

import qifsql
from qifsql.errors import InputError
from qifsql.measures.release_measures import LinkKind, linked

Row = tuple[str | None, int | None, int | None]
rows = st.lists(
    st.tuples(
        st.sampled_from([None, "x", "y"]),
        st.sampled_from([None, 1, 2, 3, 4]),
        st.sampled_from([None, 10, 20, 30, 70]),
    ),
    min_size=1,
    max_size=8,
)
NAMES = {"q": pl.String(), "r": pl.Int64(), "s": pl.Int64()}
QIDS = ("q", "r", "s")


def frame(lines: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(lines, schema=NAMES, orient="row")


def close(value: float | None, expected: Fraction | float | None) -> bool:
    if value is None or expected is None:
        return value is expected
    return value == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


def beyond(success: Fraction, control: Fraction) -> Fraction | None:
    return (success - control) / (1 - control) if control < 1 else None


@given(original=rows, release=rows, control=rows, size=st.integers(1, 3))
@settings(max_examples=examples(12), deadline=None)
def test_all_predicates_are_counted_as_by_the_oracle(
    original: list[Row], release: list[Row], control: list[Row], size: int
) -> None:
    """2,000 attempts draw each of 24 pairs of a record and columns, but once in 10^35."""
    result = qifsql.synthetic(
        frame(original),
        frame(release),
        control=frame(control),
        qids=QIDS,
        questions=True,
        attempts=2000,
        terms=size,
    )
    measured = values(result, file=1)
    predicates = oracle.some_predicates(release, size, [1, 2])
    number = len(predicates)
    assert result.frame.filter(measure="singling_out_some", file=1)["people"].item() == number
    if not number:
        assert measured["singling_out_some"] is measured["singling_out_some_risk"] is None
        return
    files = {"": original, "_control": control}
    for end, people in files.items():
        right = sum(sum(bool(c(row)) for row in people) == 1 for c in predicates)
        assert close(measured[f"singling_out_some{end}"], Fraction(right, number))
    least = min(map(len, files.values()))
    equal = [
        oracle.singled_out(predicates, [(row, None) for row in people], least) / number
        for people in files.values()
    ]
    assert close(measured["singling_out_some_risk"], beyond(*equal))


@given(
    original=rows,
    release=rows,
    control=rows,
    neighbours=st.integers(1, 4),
    first=st.sampled_from([(0,), (1,), (0, 1), (1, 2)]),
)
@settings(max_examples=examples(20), deadline=None)
def test_all_people_are_linked_as_by_the_oracle(
    original: list[Row],
    release: list[Row],
    control: list[Row],
    neighbours: int,
    first: tuple[int, ...],
) -> None:
    result = qifsql.synthetic(
        frame(original),
        frame(release),
        control=frame(control),
        qids=QIDS,
        questions=True,
        split=[QIDS[i] for i in first],
        links=100,
        neighbours=neighbours,
    )
    measured = values(result, file=1)
    k, everybody = min(neighbours, len(release)), [*original, *release, *control]
    shares = [
        oracle.nearest_linked(release, people, first, k, everybody) / len(people)
        for people in (original, control)
    ]
    assert close(measured["linkability_nearest"], shares[0])
    assert close(measured["linkability_nearest_control"], shares[1])
    assert close(measured["linkability_nearest_risk"], beyond(*shares))
    pairs = [set(c) for c in oracle.combinations(range(len(release)), k)]
    chance = Fraction(sum(bool(a & b) for a in pairs for b in pairs), len(pairs) ** 2)
    assert close(measured["linkability_nearest_chance"], chance)


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_predicates_and_links_are_right_on_a_table_written_out_by_hand() -> None:
    """The lower median of r in the release is 1, that of s 10.

    About r and s: r <= 1 and s <= 10 is true for two records, r >= 2 and s >= 20 for two, r >= 4
    and s >= 30 for one. About q and r: x and r <= 1, x and r >= 2, y and r >= 4, y and r <= 1; q
    and s: x and s <= 10, x and s >= 20, y and s >= 30, y and s <= 10: each for one.
    """
    original: list[Row] = [("x", 1, 10), ("y", 5, 30)]
    release: list[Row] = [("x", 1, 10), ("x", 2, 20), ("y", 4, 30), ("y", 1, 10)]
    control: list[Row] = [("x", 1, 10), ("x", 0, 10), ("y", 1, 20)]
    result = qifsql.synthetic(
        frame(original),
        frame(release),
        control=frame(control),
        qids=QIDS,
        questions=True,
        attempts=2000,
        terms=2,
        split="q",
        links=10,
    )
    measured = values(result)
    # Of these nine, true for one person of the original: both of y with ends at 4 and 30, both of x
    # with ends at 1 and 10, and r >= 4 and s >= 30; of the control: y and r <= 1.
    assert measured["singling_out_some"] == 5 / 9
    assert measured["singling_out_some_control"] == 1 / 9
    # ("x", 1, 10): two nearest by q, two by r and s, one in common: chance 1/4. ("y", 5, 30): two
    # by q, one by r and s, which is one of these: chance 1/2.
    assert measured["linkability_nearest"] == (1 / 4 + 1 / 2) / 2
    assert measured["linkability_nearest_chance"] == 1 / 4


def test_dates_have_ranges_and_texts_have_none() -> None:
    days = [date(2020, 1, d) for d in (1, 2, 3, 4)]
    release = pl.DataFrame({"day": days, "name": ["b", "c", "d", "e"]})
    people = pl.DataFrame({"day": [date(2019, 1, 1), date(2020, 1, 3)], "name": ["a", "d"]})
    result = qifsql.synthetic(
        people, release, qids="day,name", questions=True, attempts=500, terms=1
    )
    # Days up to the first and from the last are true for one record; of the people only the first
    # is that early, nobody that late. Each of four names is true for one record, one for a person.
    assert values(result)["singling_out_some"] == 2 / 6


@pytest.fixture(scope="module")
def adult(shared: Path) -> list[pl.DataFrame]:
    whole = pl.read_parquet(shared / "data" / "adult.parquet")
    whole = whole.sample(fraction=1, shuffle=True, seed=2)
    return [whole[i::3] for i in range(3)]


ASKED: dict[str, Any] = {
    "qids": "age,sex,race,marital-status,education-num,hours-per-week",
    "questions": True,
    "attempts": 400,
    "terms": 5,
    "split": "age,sex,race",
    "links": 40,
    "neighbours": 2,
}


@pytest.mark.slow(because="3.8 s; every recorded mutant dies without it")
def test_draws_depend_on_the_seed_alone(adult: list[pl.DataFrame]) -> None:
    def measured(seed: int, threads: int, *, turned: bool = False) -> list[Any]:
        files = [part[::-1] if turned else part for part in adult]
        result = qifsql.synthetic(
            files[0],
            files[1],
            control=files[2],
            **ASKED,
            settings=qifsql.Settings(seed=seed, threads=threads),
        )
        some = pl.col("measure").str.contains("_some|_nearest")
        return result.frame.filter(some).select("measure", "value", "people").rows()

    first = measured(1, 1)
    assert first == measured(1, 2, turned=True)
    assert first != measured(2, 2)


@pytest.mark.slow(because="2.7 s; every recorded mutant dies without it")
def test_samples_that_are_looked_at_first_change_nothing(
    adult: list[pl.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    from qifsql.commands.synthetic import nearest_links, some_predicates

    def rows_of() -> list[Any]:
        result = qifsql.synthetic(adult[0], adult[1], control=adult[2], **ASKED)
        return result.frame.rows()

    whole = rows_of()
    for module in (nearest_links, some_predicates):
        monkeypatch.setattr(module, "LEAST_SAMPLE", 1)
    assert rows_of() == whole


@pytest.mark.slow(because="3.6 s; every recorded mutant dies without it")
def test_a_copy_is_found_and_other_people_are_not(adult: list[pl.DataFrame]) -> None:
    options = ASKED | {"attempts": 3000, "links": 300, "neighbours": 1}
    result = qifsql.synthetic(adult[0], [adult[0][::-1], adult[1]], control=adult[2], **options)
    copy, other = values(result, file=1), values(result, file=2)
    assert copy["singling_out_some"] == 1
    low, high = (
        result.frame.filter(measure="singling_out_some_risk", file=2).select("low", "high").row(0)
    )
    assert low <= 0 <= high
    assert copy["linkability_nearest_risk"] > max(0, *_numbers(other["linkability_nearest_risk"]))


def _numbers(value: float | None) -> list[float]:
    return [] if value is None else [value]


def test_everybody_is_linked_where_both_halves_agree_for_sure() -> None:
    kind = {"original": 1, "control": 0, "first_tied": 0, "second_tied": 0, "both_tied": 0}
    sizes = {"first_sure": 1, "first_ties": 5, "second_sure": 1, "second_ties": 7}
    assert linked(LinkKind(**kind, **sizes, both_sure=1), 2) == 1
    assert linked(LinkKind(**kind, **sizes, both_sure=0), 2) == 0


def test_wrong_options_are_refused_in_one_line(tmp_path: Path) -> None:
    lines: list[Line] = [("x", 1, "a"), ("y", 2, "b")]
    people = pl.DataFrame(lines, schema=["q", "r", "t"], orient="row")
    for options, text in (
        ({"attempts": 5}, "add questions=..."),
        ({"terms": 2, "questions": True}, "add attempts=..."),
        ({"attempts": 5, "terms": 3, "questions": True}, "1 to 2"),
        ({"links": 5, "questions": True}, "add split=..."),
        ({"neighbours": 5, "questions": True, "split": "q"}, "add links=..."),
        ({"links": 5, "neighbours": 101, "questions": True, "split": "q"}, "1 to 100"),
        ({"require": "singling_out_some<=1", "questions": True}, "add attempts=..."),
        ({"require": "linkability_nearest<=1", "questions": True, "split": "q"}, "add links=..."),
    ):
        wrong: dict[str, Any] = dict(options)
        with pytest.raises(InputError, match=text):
            qifsql.synthetic(people, people[:1], qids="q,r", **wrong)
    for name in ("o", "s"):
        people.write_parquet(tmp_path / f"{name}.parquet")
    line = ["synthetic", str(tmp_path / "o.parquet"), str(tmp_path / "s.parquet"), "-q", "q,r"]
    line += ["--questions", "--split", "q", "--attempts", "50", "--terms", "1", "--links", "2"]
    shown = run(*line, "--neighbours", "1", "-f", "table")
    assert shown.code == 0
    assert "singling out, some columns" in shown.out
    assert "linkability, nearest records" in shown.out
