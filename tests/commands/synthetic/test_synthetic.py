"""Synthetic releases against the slow oracle, hand-computed cases, and releases of known kinds."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import oracle_synthetic as oracle
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import SAMPLES
from polars.testing import assert_frame_equal
from synthetic_files import Line, frame, lines, plain, values
from terminal import run

import qifsql
from qifsql.commands.synthetic import subsets
from qifsql.counting.compared_files import POOLED
from qifsql.errors import ColumnError, DatasetError, InputError
from qifsql.measures.intervals import newcombe, paired, wilson
from qifsql.reference import people_with_records
from qifsql.reference import synthetic_releases as sr


def check(measured: Mapping[str, float | None], expected: Mapping[str, Any]) -> None:
    assert measured == {n: None if v is None else float(v) for n, v in expected.items()}


# Raab, Nowok and Dibben 2024, definitions of repU and DiSCO, written out by hand.
ORIGINAL: list[Line] = [
    ("x", 1, "a"),  # alone; S has one record, and its value is right
    ("x", 2, "a"),  # alone; S has two records of two values
    ("y", 1, "b"),  # two people of one value; S has one record of another value
    ("y", 1, "b"),
    ("y", 2, "a"),  # two people of two values; S has one value
    ("y", 2, "b"),
    ("y", 3, "c"),  # S has nobody like that
    (None, None, "c"),  # missing values are values; S has the same
]
RELEASE: list[Line] = [
    ("x", 1, "a"),
    ("x", 2, "a"),
    ("x", 2, "b"),
    ("y", 1, "c"),
    ("y", 2, "a"),
    ("y", 2, "a"),
    (None, None, "c"),
    ("x", 3, "a"),
]


def test_the_definitions_hold_on_a_table_written_out_by_hand() -> None:
    result = qifsql.synthetic(frame(ORIGINAL), frame(RELEASE), qids="q,r", secret="t")
    measured = values(result)
    hand = {
        "UiO": 4 / 8,  # x1, x2, y3 and the missing one
        "UiS": 4 / 8,  # x1, y1, the missing one, x3
        "UiOiS": 3 / 8,  # x1, x2, the missing one
        "repU": 2 / 8,  # x1, the missing one
        "iS": 7 / 8,
        "Dorig": 6 / 8,  # all but y2
        "DiS": 6 / 8,  # x1, y1 twice, y2 twice, the missing one
        "DiSCO": 3 / 8,  # x1, one of y2, the missing one
        "DiSDiO": 2 / 8,  # x1, the missing one
        "TCAP": 3 / 7,
        "right_when_certain": 3 / 6,
        "success_original": (1 + 0.5 + 0 + 1 + 0 + 1) / 8,  # y3 is guessed as a, the usual value
        "prior_original": 3 / 8,
    }
    assert measured == hand


@pytest.mark.slow(because="7.2 s; every recorded mutant dies without it")
@given(original=lines, first=lines, second=lines, control=st.none() | lines)
@settings(max_examples=examples(60), deadline=None)
def test_all_measures_are_those_of_the_oracle(
    original: list[Line], first: list[Line], second: list[Line], control: list[Line] | None
) -> None:
    held = None if control is None else plain(control)
    result = qifsql.synthetic(
        frame(original),
        [frame(first), frame(second)],
        control=None if control is None else frame(control),
        qids="q,r",
        secret="t",
        sweep=True,
    )
    for file, release in ((1, first), (2, second), (0, [*first, *second])):
        expected = oracle.measures(plain(original), plain(release), held)
        check(values(result, file=file), expected)
        intervals = {
            measure: (low, high)
            for measure, low, high in result.frame.filter(file=file)
            .select("measure", "low", "high")
            .iter_rows()
        }
        of = (len(original), 0 if control is None else len(control))
        _check_intervals(intervals, expected, of)
        if control is not None:
            assert held is not None
            together = oracle.both(plain(release), held)
            right = float((expected["success_control"] or 0) * of[1])
            most = float((expected["prior_control"] or 0) * of[1])
            low, high = paired(right, most, float(together), of[1])
            assert intervals["population_knowledge"] == pytest.approx((low, high))
        for subset, columns in ((1, (0,)), (2, (1,)), (3, (0, 1))):
            row = result.details["subsets"].filter(file=file, subset=subset).row(0, named=True)
            assert row["qids"] == [("q", "r")[i] for i in columns]
            kept = [
                None if rows is None else [(tuple(q[i] for i in columns), t) for q, t in rows]
                for rows in (plain(original), plain(release), held)
            ]
            assert kept[0] is not None
            assert kept[1] is not None
            expected = oracle.measures(kept[0], kept[1], kept[2])
            check({name: row[name] for name in expected}, expected)


def _check_intervals(
    intervals: Mapping[str, tuple[float, float]],
    expected: Mapping[str, Any],
    of: tuple[int, int],
) -> None:
    for name, people in (("success_original", of[0]), ("success_control", of[1])):
        if people:
            assert intervals[name] == wilson(float(expected[name] * people), people)
    if of[1]:
        leak = newcombe(
            float(expected["success_original"] * of[0]),
            of[0],
            float(expected["success_control"] * of[1]),
            of[1],
        )
        assert intervals["individual_leak"] == leak
    for name, (low, high) in intervals.items():
        has = name.startswith("success") or name in ("individual_leak", "population_knowledge")
        assert ((low is None) and (high is None)) != has
        if has:
            assert low <= float(expected[name]) <= high


@given(original=lines, release=lines, control=st.none() | lines, data=st.data())
@settings(max_examples=examples(16), deadline=None)
def test_people_with_several_records_are_individuals_of_both_readings(
    original: list[Line], release: list[Line], control: list[Line] | None, data: st.DataObject
) -> None:
    """Files of people of one to six records, some without a name, by the definitions."""
    files = []
    for rows in (original, release, *([] if control is None else [control])):
        who = st.lists(
            st.sampled_from([None, "i", "j", "k"]), min_size=len(rows), max_size=len(rows)
        )
        files.append(frame(rows).with_columns(pl.Series("who", data.draw(who), pl.String)))
    held = files[2] if control is not None else None
    result = qifsql.synthetic(*files[:2], control=held, qids="q,r", secret="t", person="who")
    for known in ("all", "one"):
        about: Any = "who", ["q", "r"], "t", known
        of = [cast("Any", people_with_records.individuals(f.to_dicts(), *about)) for f in files]
        expected = oracle.measures(of[0], of[1], None if control is None else of[2])
        check(values(result, known_records=known), expected)
        of_people = result.frame.filter(known_records=known, measure="repU")
        assert of_people["people"].item() == len(of[0])


@pytest.mark.parametrize("name", ["by", "sweep", "questions", "distances", "learner", "records"])
def test_what_compares_single_records_is_refused_with_a_person(name: str) -> None:
    usual = {"by": "u", "distances": 1, "learner": "decision-tree", "records": "x.csv"}
    option: Any = {name: usual.get(name, True)}
    with pytest.raises(InputError, match=f"leave {name} or person out"):
        qifsql.synthetic(frame(ORIGINAL), frame(RELEASE), qids="q", person="r", **option)


def test_a_release_without_the_person_is_refused() -> None:
    with pytest.raises(ColumnError, match='"u"'):
        qifsql.synthetic(frame(ORIGINAL), frame(RELEASE).drop("u"), qids="q", person="u")


def test_bounds_hold_for_people_in_both_readings(tmp_path: Path) -> None:
    """The release has all records, of other people: alone in one record, not in all."""
    original = pl.DataFrame({"who": [1, 1, 2], "q": ["x", "y", "z"]})
    release = pl.DataFrame({"who": [1, 2, 2], "q": ["x", "y", "z"]})
    files = original, release
    result = qifsql.synthetic(*files, qids="q", person="who", require="repU<=0.5")
    measured = {
        row["known_records"]: row["value"] for row in result.rows() if row["measure"] == "repU"
    }
    assert (measured, result.met) == ({"all": 0.0, "one": 1.0}, False)
    for name, file in zip(("a", "b"), files, strict=True):
        file.write_parquet(tmp_path / f"{name}.parquet")
    done = run(
        "synthetic",
        tmp_path / "a.parquet",
        tmp_path / "b.parquet",
        "-q",
        "q",
        "--person",
        "who",
        "-f",
        "table",
    )
    assert "One record of a person is known" in done.out
    assert "3 of 3 different records of people" in done.out.replace("\n", " ")


@pytest.mark.slow(because="5.2 s; every recorded mutant dies without it")
@given(original=lines, release=lines, control=st.none() | lines)
@settings(max_examples=examples(30), deadline=None)
def test_subsets_are_the_same_in_rows_of_cells_and_in_rows_of_blocks(
    original: list[Line], release: list[Line], control: list[Line] | None
) -> None:
    """Secrets of many values are counted in rows of cells, others in packed rows of blocks."""
    files = frame(original), frame(release)
    held = None if control is None else frame(control)
    packed = qifsql.synthetic(*files, control=held, qids="q,r", secret="t", sweep=True)
    with patch.object(subsets, "MOST_COUNTERS", 0):
        cells = qifsql.synthetic(*files, control=held, qids="q,r", secret="t", sweep=True)
    assert_frame_equal(packed.details["subsets"], cells.details["subsets"])
    for patched in (0, subsets.MOST_COUNTERS):
        with patch.object(subsets, "MOST_COUNTERS", patched):
            alone = qifsql.synthetic(*files, qids="q,r", sweep=True).details["subsets"]
        names = ["UiO", "UiS", "UiOiS", "repU", "iS"]
        assert_frame_equal(alone.select(names), packed.details["subsets"].select(names))


@pytest.mark.slow(because="3 s; every recorded mutant dies without it")
@given(original=lines, release=lines, control=lines)
@settings(max_examples=examples(60), deadline=None)
def test_groups_and_records_are_those_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory,
    original: list[Line],
    release: list[Line],
    control: list[Line],
) -> None:
    path = tmp_path_factory.mktemp("records") / "records.parquet"
    result = qifsql.synthetic(
        frame(original),
        frame(release),
        control=frame(control),
        qids="q,r",
        secret="t",
        by="u",
        records=path,
    )
    groups = result.details["groups"]
    people = dict(enumerate(plain(original)))
    for group in range(min(2, len(original))):
        members = [p for i, p in people.items() if i % 2 == group]
        others = [p for i, p in enumerate(plain(control)) if i % 2 == group]
        row = groups.filter(group=str(group)).row(0, named=True)
        assert (row["people"], row["control"]) == (len(members), len(others))
        right = float(sr.success(plain(release), members))
        assert row["success_original"] == right
        assert row["prior_original"] == float(oracle.constant(members))
        if others:
            leak = sr.success(plain(release), members) - sr.success(plain(release), others)
            assert row["individual_leak"] == float(leak)
    written = pl.read_parquet(path)
    assert written["record"].to_list() == list(range(1, len(original) + 1))
    in_d = Counter(q for q, _ in plain(original))
    in_s = Counter(q for q, _ in plain(release))
    values_s = {q: {t for other, t in plain(release) if other == q} for q in in_s}
    for (q, t), row in zip(plain(original), written.iter_rows(named=True), strict=True):
        assert (row["block_size"], row["records_alike"]) == (in_d[q], in_s[q])
        assert row["replicated_unique"] == (in_d[q] == in_s[q] == 1)
        assert row["certain_t"] == (len(values_s.get(q, ())) == 1)
        assert row["disclosed_t"] == (values_s.get(q) == {t})
        assert row["success_t"] == float(sr.chance(plain(release), (q, t)))
    for name in ("UiO", "UiOiS", "repU", "iS", "Dorig", "DiS", "DiSCO", "DiSDiO"):
        whole = values(result)[name]
        each = groups.select((pl.col(name) * pl.col("people")).sum()).item() / len(original)
        assert whole == pytest.approx(each)


ADULT: dict[str, Any] = {
    "qids": "age,sex,race,marital-status,workclass",
    "secret": ["relationship", "education-num"],
}


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_a_copy_machine_tells_what_the_original_tells(shared: Path, tmp_path: Path) -> None:
    adult = shared / "data" / "adult.parquet"
    copy = tmp_path / "copy.parquet"
    pl.read_parquet(adult).sample(fraction=1, shuffle=True, seed=1).write_parquet(copy)
    result = qifsql.synthetic(adult, copy, **ADULT)
    measured = {
        (m, s): v for m, s, v in result.frame.select("measure", "secret", "value").iter_rows()
    }
    assert measured["iS", None] == 1
    assert measured["repU", None] == measured["UiO", None] == measured["UiOiS", None] > 0
    attack = qifsql.attack("cas", adult, **ADULT).frame
    for row in attack.iter_rows(named=True):
        secret = row["secret"]
        assert measured["DiSCO", secret] == measured["Dorig", secret]
        assert measured["Dorig", secret] == row["posterior_deterministic"]
        assert measured["success_original", secret] == row["posterior_probabilistic"]
        assert measured["prior_original", secret] == row["prior_probabilistic"]


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_a_release_of_other_people_leaks_nothing_about_individuals(shared: Path) -> None:
    """A control of the same distribution: the release was made from neither."""
    adult = pl.read_parquet(shared / "data" / "adult.parquet").sample(
        fraction=1, shuffle=True, seed=2
    )
    parts = [adult[i::3] for i in range(3)]
    result = qifsql.synthetic(parts[0], parts[1], control=parts[2], **ADULT)
    leaks = result.frame.filter(measure="individual_leak")
    assert leaks.height == 2
    assert all(low <= 0 <= high for low, high in leaks.select("low", "high").iter_rows())
    known = result.frame.filter(measure="population_knowledge", secret="relationship")
    assert known["low"].item() > 0.1  # marital status tells it


def test_several_releases_are_also_measured_together() -> None:
    """A person whom each copy changes in another place is given away by all of them."""
    people = [("x", i, "a" if i % 3 else "b") for i in range(30)]
    copies = [[(q, r, t if (r + k) % 3 else "c") for q, r, t in people] for k in range(3)]
    result = qifsql.synthetic(
        frame(people), [frame(copy) for copy in copies], qids="q,r", secret="t"
    )
    alone = [values(result, file=file)["success_original"] for file in (1, 2, 3)]
    assert max(v or 0 for v in alone) <= 20 / 30 < 1
    assert values(result, file=0)["success_original"] == 1
    assert result.frame["release"].to_list()[-1] == POOLED


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_bounds_decide_the_exit_code(tmp_path: Path) -> None:
    frame(ORIGINAL).write_parquet(tmp_path / "o.parquet")
    frame(RELEASE).write_parquet(tmp_path / "s.parquet")
    line = ["synthetic", str(tmp_path / "o.parquet"), str(tmp_path / "s.parquet"), "-q", "q,r"]
    assert run(*line, "--require", "repU<=0.25", "-f", "json").code == 0
    assert run(*line, "--require", "repU<=0.2", "-f", "json").code == 4
    assert run(*line, "--require", "repu<=0.2").code == 2
    assert run(*line, "--require", "DiSCO<=0.2").code == 2
    assert run(*line, "-s", "t", "--require", "individual_leak<=0.2").code == 2


def test_json_has_a_row_for_each_measure(tmp_path: Path) -> None:
    frame(ORIGINAL).write_parquet(tmp_path / "o.parquet")
    frame(RELEASE).write_parquet(tmp_path / "s.parquet")
    files = [str(tmp_path / name) for name in ("o.parquet", "s.parquet")]
    shown = run("synthetic", *files, "-q", "q,r", "-s", "t", "-f", "json")
    assert shown.code == 0
    rows = json.loads(shown.out)["results"]
    assert rows[0]["release"] == "s.parquet"
    assert {"release", "measure", "secret", "value", "low", "high"} <= rows[0].keys()


def wrong_files(folder: Path) -> dict[str, tuple[str, ...]]:
    frame(ORIGINAL).write_parquet(folder / "o.parquet")
    frame(RELEASE).write_parquet(folder / "s.parquet")
    frame(RELEASE).drop("r").write_parquet(folder / "lacking.parquet")
    frame(RELEASE).with_columns(pl.col("r").cast(pl.String)).write_parquet(folder / "text.parquet")
    frame([])[:0].write_parquet(folder / "empty.parquet")
    (folder / "empty.csv").write_text("q,r,t,u\n")
    known = ("-q", "q,r", "-s", "t")
    return {
        "lacks a column": ("o.parquet", "lacking.parquet", *known),
        "original lacks a column": ("lacking.parquet", "s.parquet", *known),
        "control lacks a column": (
            "o.parquet",
            "s.parquet",
            "--control",
            "lacking.parquet",
            *known,
        ),
        "types differ": ("o.parquet", "text.parquet", *known),
        "empty": ("o.parquet", "empty.parquet", *known),
        "empty csv": ("o.parquet", "empty.csv", *known),
        "empty original": ("empty.parquet", "s.parquet", *known),
        "empty control": ("o.parquet", "s.parquet", "--control", "empty.parquet", *known),
        "secret among qids": ("o.parquet", "s.parquet", "-q", "q,r,t", "-s", "t"),
        "no such file": ("o.parquet", "nothing.parquet", *known),
        "same file": ("o.parquet", "o.parquet", *known),
        "control is a release": ("o.parquet", "s.parquet", "--control", "s.parquet", *known),
        "no such group": ("o.parquet", "s.parquet", "--by", "v", *known),
        "no qids": ("o.parquet", "s.parquet", "-s", "t"),
        "records as json": ("o.parquet", "s.parquet", "--records", "x.json", *known),
        "records over an input": ("o.parquet", "s.parquet", "--records", "s.parquet", *known),
    }


@pytest.mark.slow(because="1.3 s; every recorded mutant dies without it")
def test_bad_input_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    codes = {case: run("synthetic", *line).code for case, line in wrong_files(tmp_path).items()}
    assert codes == dict.fromkeys(codes, 2)


def test_numbers_of_different_types_are_compared() -> None:
    """Generators write whole numbers as floating ones, often as soon as one is missing."""
    floating = frame(RELEASE).with_columns(pl.col("r").cast(pl.Float64))
    small = frame(ORIGINAL).with_columns(pl.col("r").cast(pl.Int8))
    one = qifsql.synthetic(frame(ORIGINAL), frame(RELEASE), qids="q,r", secret="t")
    other = qifsql.synthetic(small, floating, qids="q,r", secret="t")
    assert values(one) == values(other)


def test_errors_say_which_file_is_wrong() -> None:
    good = frame(ORIGINAL)
    with pytest.raises(ColumnError, match="values are not converted"):
        qifsql.synthetic(good, good.with_columns(pl.col("q").str.len_chars()), qids="q")
    with pytest.raises(DatasetError, match="no records"):
        qifsql.synthetic(good, frame(RELEASE), qids="q", where="r = 17")
    with pytest.raises(InputError, match="no synthetic release"):
        qifsql.synthetic(good, [], qids="q")


def test_a_sweep_of_too_many_columns_is_refused() -> None:
    wide = pl.DataFrame({f"c{i}": [1, 2] for i in range(17)})
    with pytest.raises(InputError, match="at most 16"):
        qifsql.synthetic(wide, wide.reverse(), qids="c*", sweep=True)


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_wide_tuples_take_several_words() -> None:
    """Codes of 12 columns of 100 values take 84 bits; the result does not depend on words."""
    rows = 100
    wide = pl.DataFrame({f"c{i}": [(7 * k + i * k) % rows for k in range(rows)] for i in range(12)})
    other = wide.reverse().with_columns(pl.col("c3") // 2)
    secret = pl.Series("t", [k % 3 for k in range(rows)])
    one, two = wide.with_columns(secret), other.with_columns(secret.reverse())
    result = qifsql.synthetic(one, two, qids="c*", secret="t")
    names = wide.columns
    files = [[(row[:-1], row[-1]) for row in f.select(*names, "t").iter_rows()] for f in (one, two)]
    check(values(result), oracle.measures(files[0], files[1], None))


def test_intervals_are_those_of_newcombe() -> None:
    """Newcombe 1998, table II, method 10: 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/20, ..."""
    published = {
        (56, 70, 48, 80): (0.0524, 0.3339),
        (9, 10, 3, 10): (0.1705, 0.8090),
        (6, 7, 2, 7): (0.0582, 0.8062),
        (5, 56, 0, 29): (-0.0381, 0.1926),
        (0, 10, 0, 20): (-0.1611, 0.2775),
        (10, 10, 0, 20): (0.6791, 1.0),
    }
    for counts, (low, high) in published.items():
        found = newcombe(*counts)
        assert found[0] == pytest.approx(low, abs=6e-5)
        assert found[1] == pytest.approx(high, abs=6e-5)
    assert wilson(0, 20)[0] == 0
    assert wilson(20, 20)[1] == 1
    assert math.isclose(wilson(81, 263)[0], 0.2553, abs_tol=6e-5)
    assert math.isclose(wilson(81, 263)[1], 0.3662, abs_tol=6e-5)


def test_every_release_of_the_samples_is_measured() -> None:
    first, second, third = (SAMPLES / f"school_census_{y}.parquet" for y in (2018, 2017, 2019))
    result = qifsql.synthetic(
        first, second, control=third, qids="NU_ANO,TP_SEXO,CO_ENTIDADE", secret="TP_COR_RACA"
    )
    assert values(result)["repU"] == 305 / 19949
    worst = result.details["worst"]
    assert worst.height == 10
    assert (worst["correct"] <= worst["people"]).all()


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_columns_that_a_release_writes_in_another_way_are_told() -> None:
    people = {
        "age": [20, 30, 40, 50],
        "sex": ["F", "M", None, "F"],
        "ill": ["no", "no", "yes", None],
    }
    original = pl.DataFrame(people)
    other = original.with_columns(sex=pl.col("sex").str.to_lowercase(), ill=pl.col("ill") + " ")
    same = original.with_columns(age=pl.col("age") + 5)
    result = qifsql.synthetic(original, [other, same], qids="age,sex", secret="ill")
    told = [note for note in result.notes if note.startswith("no value of ")]
    assert len(told) == 2
    assert told[0].startswith('no value of "sex", "ill" is in both ')
    assert told[1].startswith('no value of "age" is in both ')
    again = qifsql.synthetic(original, original.head(2), qids="age,sex", secret="ill")
    assert not [note for note in again.notes if note.startswith("no value of ")]
