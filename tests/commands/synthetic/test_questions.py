"""The questions of WP 216 and distances, against the slow oracle and releases of known kinds."""

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_synthetic as oracle
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from synthetic_files import Line, frame, lines, plain, values
from terminal import run

import qifsql
from qifsql.errors import InputError
from qifsql.measures.intervals import excess, wilson
from qifsql.measures.release_measures import one_of
from qifsql.reference import synthetic_releases as sr


def close(value: float | None, expected: Fraction | float | None) -> bool:
    if value is None or expected is None:
        return value is expected
    return value == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


@given(original=lines, release=lines, second=lines, control=lines)
@settings(max_examples=examples(30), deadline=None)
def test_all_questions_are_answered_as_by_the_oracle(
    original: list[Line], release: list[Line], second: list[Line], control: list[Line]
) -> None:
    result = qifsql.synthetic(
        frame(original),
        [frame(release), frame(second)],
        control=frame(control),
        qids="q,r",
        secret="t",
        questions=True,
        split="q",
        distances=100,
    )
    d, h = plain(original), plain(control)
    for file, records in ((1, release), (2, second), (0, [*release, *second])):
        s, measured = plain(records), values(result, file=file)
        one = [c for i in (0, 1) for c in oracle.predicates(s, [i])]
        for which, predicates in (("one", one), ("all", oracle.predicates(s, [0, 1]))):
            _check_predicates(f"singling_out_{which}", predicates, (d, h), measured)
        rights = [sr.linked(s, people, [0]) for people in (d, h)]
        assert close(measured["linkability"], rights[0] / len(d))
        assert close(measured["linkability_control"], rights[1] / len(h))
        assert measured["linkability_chance"] == 1 / len(s)
        shares = [rights[0] / len(d), rights[1] / len(h)]
        assert close(measured["linkability_risk"], beyond(*shares))
        successes = sr.success(s, d), sr.success(s, h)
        assert close(measured["inference_risk"], beyond(*successes))
        for name, value in oracle.distances(d, s, h, plain([*release, *second])).items():
            assert close(measured[name], value), name


def _check_predicates(
    name: str,
    predicates: list[oracle.Predicate],
    files: tuple[list[sr.Person], list[sr.Person]],
    measured: dict[str, float | None],
) -> None:
    number = len(predicates)
    if not number:
        assert measured[name] is measured[f"{name}_control"] is measured[f"{name}_risk"] is None
        return
    least = min(map(len, files))
    for end, people in (("", files[0]), ("_control", files[1])):
        right = oracle.singled_out(predicates, people, len(people))
        assert close(measured[name + end], right / number)
    equal = [oracle.singled_out(predicates, people, least) / number for people in files]
    assert close(measured[f"{name}_risk"], beyond(*equal))


def beyond(success: Fraction, control: Fraction) -> Fraction | None:
    return (success - control) / (1 - control) if control < 1 else None


def test_the_questions_are_right_on_a_table_written_out_by_hand() -> None:
    original: list[Line] = [("x", 1, "a"), ("x", 2, "b"), ("y", 3, "a"), (None, 3, "a")]
    release: list[Line] = [("x", 1, "a"), ("x", 2, "a"), ("y", 2, "a"), (None, None, "b")]
    control: list[Line] = [("x", 1, "a"), ("y", 2, "a"), ("y", 3, "a"), ("y", None, "b")]
    result = qifsql.synthetic(
        frame(original),
        frame(release),
        control=frame(control),
        qids="q,r",
        secret="t",
        questions=True,
        split="q",
    )
    measured = values(result)
    # One column: q = y (1 person; 3 of the control), q missing (1; 0), r = 1 (1; 1), r missing
    # (0; 1), r <= 1 (1; 1). The greatest r is that of two records, and no predicate.
    assert measured["singling_out_one"] == 4 / 5
    assert measured["singling_out_one_control"] == 3 / 5
    assert close(measured["singling_out_one_risk"], Fraction(1, 2))
    # All: (x, 1): 1; 1, (x, 2): 1; 0, (y, 2): 0; 1, both missing: 0; 0.
    assert measured["singling_out_all"] == measured["singling_out_all_control"] == 2 / 4
    # (x, 1): one record of 2 with x and of 1 with 1; (x, 2): of 2 with x and 2 with 2.
    assert measured["linkability"] == (1 / 2 + 1 / 4) / 4
    # (x, 1) as above; (y, 2): of 1 and 2; (y, missing): nobody has both.
    assert measured["linkability_control"] == (1 / 2 + 1 / 2) / 4


def test_without_a_control_there_is_no_risk() -> None:
    rows: list[Line] = [("x", 1, "a"), ("y", 2, "b"), ("y", 3, "b")]
    result = qifsql.synthetic(
        frame(rows), frame(rows[::-1]), qids="q,r", questions=True, split="q", distances=5
    )
    names = set(result.frame["measure"])
    assert not any(name.endswith(("_risk", "_control")) for name in names)
    assert "nearer_original" not in names
    assert values(result)["singling_out_all"] == 1
    assert values(result)["distance_zero"] == 1
    assert any("distances do not show" in note for note in result.notes)


def test_dates_and_secrets_of_numbers_lie_on_scales() -> None:
    """Gower by hand: 10 of 100 days and 1 of 4 apart is (0.1 + 0.25) / 2."""
    days = [date(2020, 1, 1), date(2020, 1, 11), date(2020, 4, 10)]
    people = pl.DataFrame({"day": [days[0], days[2]], "n": [0, 4]})
    release = pl.DataFrame({"day": [days[1]], "n": [1]})
    result = qifsql.synthetic(people, release, qids="day", secret="n", distances=1)
    assert values(result)["distance_original"] == pytest.approx((0.1 + 0.25) / 2, abs=1e-9)


@pytest.mark.slow(because="3.0 s; every recorded mutant dies without it")
def test_a_sample_depends_on_the_seed_alone() -> None:
    rows: list[Line] = [(q, r, "a") for q in ("x", "y", None) for r in (1, 2, 3, None)]
    files: dict[str, Any] = {"control": frame(rows[4:]), "qids": "q,r", "distances": 2}

    def nearer(seed: int, order: int) -> float | None:
        release = frame(rows[::order])
        drawn = qifsql.synthetic(
            frame(rows[:4]), release, **files, settings=qifsql.Settings(seed=seed)
        )
        return values(drawn)["nearer_original"]

    assert nearer(1, 1) == nearer(1, -1)
    assert len({nearer(seed, 1) for seed in range(8)}) > 1


@pytest.mark.slow(because="2.9 s; every recorded mutant dies without it")
def test_a_copy_is_found_by_every_question_and_others_by_none(shared: Path) -> None:
    """Thirds of Adult: the first as its own release, and the second as one of other people."""
    adult = pl.read_parquet(shared / "data" / "adult.parquet").sample(
        fraction=1, shuffle=True, seed=2
    )
    parts = [adult[i::3] for i in range(3)]
    wanted: dict[str, Any] = {
        "qids": "age,sex,race,marital-status,workclass,hours-per-week",
        "secret": "relationship",
        "questions": True,
        "split": "age,sex,race",
        "distances": 200,
    }
    copy = parts[0].sample(fraction=1, shuffle=True, seed=3)
    result = qifsql.synthetic(parts[0], [copy, parts[1]], control=parts[2], **wanted)
    risks = [f"{name}_risk" for name in ("singling_out_all", "linkability", "inference")]
    rows = {(r["file"], r["measure"]): r for r in result.frame.iter_rows(named=True)}
    for name in risks:
        assert rows[1, name]["low"] > 0, name
        assert rows[2, name]["low"] <= 0 <= rows[2, name]["high"], name
    assert rows[1, "singling_out_all"]["value"] == 1
    assert rows[1, "distance_zero"]["value"] == 1
    assert rows[1, "nearer_original"]["low"] > rows[1, "nearer_by_chance"]["value"]
    low, high = rows[2, "nearer_original"]["low"], rows[2, "nearer_original"]["high"]
    assert low <= rows[2, "nearer_by_chance"]["value"] <= high


@pytest.mark.parametrize(
    ("some", "people", "draws"), [(0, 5, 2), (1, 5, 5), (3, 9, 4), (5, 5, 1), (5, 5, 5), (4, 6, 3)]
)
def test_chances_of_draws_are_hypergeometric(some: int, people: int, draws: int) -> None:
    file = [((1,), None)] * some + [((0,), None)] * (people - some)
    expected = oracle.singled_out([lambda q: q[0] == 1], file, draws)
    assert one_of(some, people, draws) == pytest.approx(float(expected), abs=1e-15)


def test_the_interval_of_an_excess_contains_it_and_shrinks() -> None:
    widths = []
    for scale in (1, 10, 100):
        found = excess(60 * scale, 100 * scale, 40 * scale, 100 * scale)
        assert found is not None
        assert found[0] < 1 / 3 < found[1] <= 1
        widths.append(found[1] - found[0])
    assert widths == sorted(widths, reverse=True)
    assert excess(5, 10, 10, 10) is None
    # Without doubt about the control it is Wilson's interval of the success, rescaled.
    found, share = excess(60, 100, 0, 10**12), wilson(60, 100)
    assert found == pytest.approx(share, abs=1e-6)


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    rows: list[Line] = [("x", 1, "a"), ("y", 2, "b")]
    for options, text in (
        ({"split": "q"}, "add questions=..."),
        ({"questions": True, "split": "qq"}, "no quasi-identifier"),
        ({"questions": True, "split": "q,r"}, "second source"),
        ({"distances": 0}, "1 or more"),
        ({"require": "singling_out_all<=0.5"}, "add questions=..."),
        ({"require": "linkability<=0.5", "questions": True}, "add split=..."),
        ({"require": "distance_zero<=0.5"}, "add distances=..."),
        ({"require": "singling_out_all_risk<=0.5", "questions": True}, "control=..."),
    ):
        wrong: dict[str, Any] = dict(options)
        with pytest.raises(InputError, match=text):
            qifsql.synthetic(frame(rows), frame(rows[:1]), qids="q,r", **wrong)
    frame(rows).write_parquet(tmp_path / "o.parquet")
    frame(rows[:1]).write_parquet(tmp_path / "s.parquet")
    line = ["synthetic", str(tmp_path / "o.parquet"), str(tmp_path / "s.parquet"), "-q", "q,r"]
    shown = run(*line, "--questions", "--split", "q", "--distances", "3", "-f", "json")
    assert shown.code == 0
    assert "distances do not show" in shown.err
    assert run(*line, "--questions", "--require", "singling_out_all<=0.5", "-f", "json").code == 4
