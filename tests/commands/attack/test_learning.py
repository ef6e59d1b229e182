"""An adversary who learns from one file and attacks the people of another."""

import json
import math
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_learning as oracle
import polars as pl
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import SAMPLES
from synthetic_files import Line, frame, lines, plain
from terminal import run

import qifsql
from qifsql.counting import guessing, learners
from qifsql.data import installation
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, DatasetError, InputError
from qifsql.measures.intervals import wilson
from qifsql.results.assessment import REPORTED

ADULT = ("age", "sex", "race", "occupation")
CLASSIFIERS = learners.WEIGHTED


def learned(people: Any, train: Any, **options: Any) -> dict[str, Any]:
    asked = {"qids": "q,r", "secret": "t"} | options
    return qifsql.attack("cas", people, learn=train, **asked).frame.row(0, named=True)


# The table: the most frequent value among equal records, written out by hand.

TRAIN: list[Line] = [
    ("x", 1, "a"),
    ("x", 1, "a"),
    ("x", 1, "b"),
    ("x", 2, "b"),
    ("y", 1, "a"),
    ("y", 1, "c"),
    (None, None, "c"),
    ("y", 3, "b"),
]
PEOPLE: list[Line] = [
    ("x", 1, "a"),  # two of three records are a
    ("x", 1, "b"),
    ("x", 2, "b"),  # certain, and right
    ("x", 2, "c"),  # certain, and wrong
    ("y", 1, "a"),  # one of two guesses
    ("y", 1, "b"),
    (None, None, "c"),  # missing values are values: certain, and right
    ("y", 2, "b"),  # no record like that: a and b are the usual values of three each
]


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_the_table_is_as_written_out_by_hand() -> None:
    row = learned(frame(PEOPLE), frame(TRAIN))
    assert row["posterior_probabilistic"] == (1 + 0 + 1 + 0 + 0.5 + 0 + 1 + 0.5) / 8
    assert row["prior_probabilistic"] == 4 / 8  # b
    assert (row["individuals_certain"], row["posterior_deterministic"]) == (2, 2 / 8)
    assert (row["present"], row["success_present"]) == (7 / 8, 3.5 / 7)
    assert (row["blocks"], row["singled_out"], row["records"]) == (5, 2, 8)
    # a is 2/8 of the people: (2/3 - 1/4) / (3/4) = 5/9, (1/2 - 1/4) / (3/4) = 1/3; b is 1/2: 1/3
    # and 3/8 are below it, 1 is all that is possible; c is 2/8: 0 of x 2, all of the missing one
    assert row["rapid"] == 4 / 8
    at_half = learned(frame(PEOPLE), frame(TRAIN), rapid=0.5)
    assert at_half["rapid"] == 3 / 8
    assert (row["rapid_threshold"], at_half["rapid_threshold"]) == (0.3, 0.5)
    assert (row["low"], row["high"]) == wilson(4, 8)
    assert (row["rapid_low"], row["rapid_high"]) == wilson(4, 8)


levels = st.sampled_from([Fraction(0), Fraction(3, 10), Fraction(1, 2), Fraction(1)])


@pytest.mark.slow(because="1.0 s; every recorded mutant dies without it")
@given(people=lines, train=lines, level=levels)
@settings(max_examples=examples(40), deadline=None)
def test_the_table_is_that_of_the_oracle(
    people: list[Line], train: list[Line], level: Fraction
) -> None:
    row = learned(frame(people), frame(train), rapid=float(level))
    expected = oracle.scores(plain(people), plain(train), level)
    assert {name: row[name] for name in expected} == expected
    before, after = row["prior_probabilistic"], row["posterior_probabilistic"]
    assert row["leakage_additive"] == pytest.approx(after - before)
    if after:
        assert row["min_entropy_leakage"] == pytest.approx(math.log2(after / before))


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@given(people=lines)
@settings(max_examples=examples(15), deadline=None)
def test_who_learns_from_the_file_itself_is_the_plain_attack(people: list[Line]) -> None:
    """Every column of the plain attack is equal, but for the time and who reports the secret."""
    plain_row = qifsql.attack("cas", frame(people), qids="q,r", secret="t").frame.drop("seconds")
    plain_row = plain_row.drop(REPORTED, strict=False)
    row = learned(frame(people), frame(people))
    assert {name: row[name] for name in plain_row.columns} == plain_row.row(0, named=True)


# Classifiers of scikit-learn.


def test_a_deep_tree_that_learns_from_a_copy_is_the_plain_attack() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    file = SAMPLES / "school_census_2018.parquet"
    asked = {"qids": "NU_ANO,TP_SEXO,CO_ENTIDADE", "secret": "TP_COR_RACA"}
    row = learned(file, file, learner="decision-tree", **asked)
    same = qifsql.attack("cas", file, **asked).frame.row(0, named=True)
    for name in ("posterior_probabilistic", "posterior_deterministic", "worst_case", "blocks"):
        assert row[name] == pytest.approx(same[name], abs=1e-12)
    assert row["rapid"] == learned(file, file, **asked)["rapid"]


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_independent_columns_give_about_the_prior(learner: str) -> None:
    """The secret does not depend on the quasi-identifiers, so only its frequency is learned."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    rows = [
        {"q": i % 3, "r": str(i // 3 % 2), "t": "a" if i // 6 % 5 else "b"}
        for i in range(6 * 5 * 20)
    ]
    row = learned(pl.DataFrame(rows), pl.DataFrame(rows[:300]), learner=learner)
    assert row["posterior_probabilistic"] == row["prior_probabilistic"] == 0.8
    assert row["rapid"] == 0


def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let gradient boosting make five rounds, for time."""
    where, what, options = learners.CLASSIFIERS["gradient-boosting"]
    options = options | {"max_iter": 5}
    monkeypatch.setitem(learners.CLASSIFIERS, "gradient-boosting", (where, what, options))


def rows_of(adult: pl.DataFrame, part: str) -> tuple[list[list[int]], list[str]]:
    """The rows of Adult, each fifth one or the others, with columns as ranks of their values."""
    ranks = [adult[c].rank("dense").cast(pl.Int64).to_list() for c in ADULT]
    secrets = adult["relationship"].to_list()
    chosen = [i for i in range(adult.height) if (i % 5 == 0) == (part == "people")]
    return [[rank[i] for rank in ranks] for i in chosen], [secrets[i] for i in chosen]


NAIVE = {
    "decision-tree": ("tree", "DecisionTreeClassifier", {}),
    "random-forest": ("ensemble", "RandomForestClassifier", {}),
    "gradient-boosting": (
        "ensemble", "HistGradientBoostingClassifier",
        {"min_samples_leaf": 1, "early_stopping": False, "max_iter": 5},
    ),
}  # fmt: skip


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
@pytest.mark.reference
@pytest.mark.parametrize("learner", NAIVE)
def test_a_classifier_is_that_of_scikit_learn_on_rows(
    learner: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Success and RAPID are within 0.015 of scikit-learn on one row per person, without weights."""
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    adult = pl.read_parquet(shared / "data" / "adult.parquet")
    module, name, asked = NAIVE[learner]
    if learner == "gradient-boosting":
        few_rounds(monkeypatch)
    numpy = pytest.importorskip("numpy")
    threadpool_limits = pytest.importorskip("threadpoolctl").threadpool_limits
    __import__(f"sklearn.{module}")
    model = getattr(getattr(sklearn, module), name)(random_state=1, **asked)
    (x, y), (questions, truth) = rows_of(adult, "train"), rows_of(adult, "people")
    with threadpool_limits(1):
        model.fit(x, y)
        chances = model.predict_proba(questions)
    place = {value: i for i, value in enumerate(model.classes_)}
    mine = numpy.array([row[place[t]] for row, t in zip(chances, truth, strict=True)])
    base = numpy.array([truth.count(t) / len(truth) for t in model.classes_])
    base = base[[place[t] for t in truth]]
    best = chances >= chances.max(axis=1, keepdims=True) - 1e-9
    right = numpy.array(
        [row[place[t]] / row.sum() for row, t in zip(best, truth, strict=True)]
    ).mean()
    rapid = ((mine - base) / (1 - base) > 0.3).mean()

    table = adult.with_row_index("place")
    people = table.filter(pl.col("place") % 5 == 0)
    train = table.filter(pl.col("place") % 5 != 0)
    row = learned(people, train, qids=ADULT, secret="relationship", learner=learner)
    assert row["posterior_probabilistic"] == pytest.approx(right, abs=0.015)
    assert row["rapid"] == pytest.approx(rapid, abs=0.015)
    if learner != "random-forest":  # nothing is drawn from rows
        assert row["posterior_probabilistic"] == pytest.approx(right, abs=0.004)


def test_logistic_regression_is_that_of_scikit_learn_on_rows() -> None:
    """Standardised numbers and a bit for each value of a text, with a missing number as a bit."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    linear = pytest.importorskip("sklearn.linear_model")
    numpy = pytest.importorskip("numpy")
    rows = [
        {
            "q": None if i % 7 == 0 else i * i % 11,
            "r": "xyz"[i % 3],
            "t": "ab"[(i * i % 11 + i % 3) > 6],
        }
        for i in range(60)
    ]
    train, people = rows[:40], rows[40:]
    number = numpy.array([row["q"] for row in train if row["q"] is not None], dtype=float)

    def features(row: dict[str, Any]) -> list[float]:
        q, missing = row["q"], row["q"] is None
        scaled = 0.0 if missing else (q - number.mean()) / number.std()
        return [scaled, missing, *(row["r"] == value for value in "xyz")]

    model = linear.LogisticRegression(max_iter=1000)
    model.fit([features(r) for r in train], [r["t"] for r in train])
    right = (model.predict([features(r) for r in people]) == [r["t"] for r in people]).mean()
    row = learned(pl.DataFrame(people), pl.DataFrame(train), learner="logistic-regression")
    assert row["posterior_probabilistic"] == right


@pytest.mark.slow(because="1.3 s; every recorded mutant dies without it")
@pytest.mark.parametrize("learner", ["random-forest", "gradient-boosting"])
def test_the_order_of_rows_and_threads_do_not_matter(
    learner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    few_rounds(monkeypatch)
    table = pl.read_parquet(SAMPLES / "school_census_2018.parquet").head(800)
    later = pl.read_parquet(SAMPLES / "school_census_2019.parquet").head(600)
    asked = {"qids": "NU_ANO,TP_SEXO", "secret": "TP_COR_RACA", "learner": learner}
    rows = [
        learned(people, train, settings=Settings(threads=threads, seed=3), **asked)
        for people, train, threads in (
            (later, table, 1),
            (later.reverse(), table.sample(fraction=1, shuffle=True, seed=1), 2),
        )
    ]
    for row in rows:
        del row["seconds"]
    assert rows[0] == rows[1]


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_too_many_distinct_records_are_drawn_by_the_seed_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    monkeypatch.setattr(guessing, "MOST_LESSONS", 40)
    file = SAMPLES / "school_census_2018.parquet"
    asked = {"qids": "NU_ANO,TP_SEXO,CO_ENTIDADE", "secret": "TP_COR_RACA"}

    def result(seed: int) -> qifsql.Result:
        return qifsql.attack(
            "cas", file, learn=file, learner="decision-tree", settings=Settings(seed=seed), **asked
        )

    first, again, other = result(1), result(1), result(2)
    assert any("learns TP_COR_RACA from 40 distinct records of " in note for note in first.notes)
    same = [r.frame["posterior_probabilistic"].item() for r in (first, again, other)]
    assert same[0] == same[1] != same[2]
    assert first.origin.spec["learner_seed"] == 1


def test_a_file_of_one_value_teaches_that_value() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    train = pl.DataFrame({"q": ["x", "y"], "r": [1, 2], "t": ["a", "a"]})
    for learner in learners.LEARNERS:
        row = learned(frame(PEOPLE), train, learner=learner)
        assert row["posterior_probabilistic"] == 2 / 8
        assert row["individuals_certain"] == 2


# What cannot be asked.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": "r"}, "does not take weight"),
        ({"by": "t"}, "does not take by"),
        ({"gain": "tries:2"}, "does not take gain"),
        ({"measures": "all"}, "does not take measures"),
        ({"histogram": True}, "does not take histogram"),
        ({"value_chances": True}, "does not take value_chances"),
        ({"thresholds": 0.5, "learner": "decision-tree"}, "table of most frequent values"),
        ({"quantiles": [0.5]}, "does not take quantiles"),
        ({"key": "u"}, "does not take key"),
        ({"wave": "u"}, "does not take wave"),
        ({"absent": "distinct"}, "does not take absent"),
        ({"population": "people.csv"}, "does not take population"),
        ({"prior": "prior.csv"}, "does not take prior"),
        ({"target": {"q": "x"}}, "does not take target"),
        ({"member": "t"}, "does not take member"),
        ({"progressive": True}, "does not take progressive"),
        ({"store": "counts.duckdb"}, "does not take store"),
        ({"unit": "BRL"}, "does not take unit"),
        ({"people": frame(PEOPLE)}, "does not take learn"),
        ({"hierarchies": {"q": "q.csv"}}, r"name their file \(people\)"),
        ({"link": "q"}, "does not take link"),
        ({"presence": 0.5}, "does not take presence"),
        ({"truth": "u"}, "does not take truth"),
        ({"one_to_one": True}, "does not take one_to_one"),
        ({"household": "r"}, "does not take household"),
        ({"person": "r"}, "does not take person"),
        ({"knows": "q:right=0.5"}, "knows the quasi-identifiers exactly"),
        ({"draws": 10}, "does not take draws"),
        ({"records": "people.parquet"}, "does not take records"),
        ({"null": "match-any"}, "missing values cannot be treated as"),
        ({"learner": "tabel"}, 'no learner "tabel"; did you mean "table"'),
        ({"rapid": 1.5}, "outside 0 to 1"),
        ({"rapid": "0.1234567"}, "more than six decimals"),
        ({"secret": ()}, "infers a secret"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    asked = {"qids": "q,r", "secret": "t"} | options
    with pytest.raises(InputError, match=message):
        qifsql.attack("cas", frame(PEOPLE), learn=frame(TRAIN), **asked)


def test_every_option_of_an_attack_is_answered_or_refused() -> None:
    from qifsql.commands.attack.learning.learning import TAKEN_OPTIONS
    from qifsql.commands.attack.spec import AttackOptions
    from qifsql.data.option import declared

    refused = test_what_cannot_be_asked_is_refused_by_name.pytestmark[0].args[1]
    assert {*TAKEN_OPTIONS, *(name for options, _ in refused for name in options)} == set(
        declared(AttackOptions)
    )


def test_only_attacks_on_secrets_of_everybody_in_one_file_learn() -> None:
    for model in ("crs", "ias", "cal", "cas,crs", "cms"):
        with pytest.raises(InputError, match="model cas"):
            qifsql.attack(model, frame(PEOPLE), learn=frame(TRAIN), qids="q", secret="t")
    with pytest.raises(InputError, match="one file of people"):
        qifsql.attack(
            "cas", [frame(PEOPLE), frame(TRAIN)], learn=frame(TRAIN), qids="q", secret="t"
        )
    for option in ({"learner": "table"}, {"rapid": 0.5}):
        with pytest.raises(InputError, match="name it with learn="):
            qifsql.attack("cas", frame(PEOPLE), qids="q", secret="t", **option)
    with pytest.raises(InputError, match="runs on DuckDB alone"):
        learned(frame(PEOPLE), frame(TRAIN), settings=Settings(engine="spark"))


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match='column "r" is not in'):
        learned(frame(PEOPLE), frame(TRAIN).drop("r"))
    with pytest.raises(ColumnError, match="values are not converted"):
        learned(frame(PEOPLE), frame(TRAIN).with_columns(pl.col("r").cast(pl.String)))
    with pytest.raises(DatasetError, match="no records"):
        learned(frame(PEOPLE), frame(TRAIN).clear())
    many = pl.DataFrame({"q": ["x"] * 101, "r": [1] * 101, "t": [str(i) for i in range(101)]})
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    with pytest.raises(InputError, match=r'secret "t" has 101 values in .* one of 100 at most'):
        learned(many, many, learner="decision-tree")
    assert learned(many, many)["posterior_probabilistic"] == pytest.approx(1 / 101)


@pytest.mark.slow(because="2.6 s; every recorded mutant dies without it")
def test_a_sanitised_release_has_the_cells_of_the_people_or_plain_ones(tmp_path: Path) -> None:
    pupils = pl.read_parquet(SAMPLES / "school_census_2018.parquet").head(400)
    files = {}
    for cells in ("interval", "midpoint"):
        files[cells] = tmp_path / f"{cells}.parquet"
        asked = {"method": "mondrian", "k": 5, "qids": "NU_ANO", "secret": "TP_COR_RACA"}
        qifsql.anonymise(pupils, files[cells], cells=cells, **asked)
    asked = {"qids": "NU_ANO", "secret": "TP_COR_RACA"}
    with pytest.raises(ColumnError, match="not looked up in generalised cells"):
        learned(pupils, files["interval"], **asked)
    same = learned(files["interval"], files["interval"], **asked)
    plain_row = qifsql.attack("cas", files["interval"], **asked).frame.row(0, named=True)
    assert same["posterior_probabilistic"] == plain_row["posterior_probabilistic"]
    people = pupils.with_columns(pl.col("NU_ANO").cast(pl.Float64))
    assert learned(people, files["midpoint"], **asked)["train_records"] == 400


def test_a_classifier_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(
        InputError, match=re.escape(f"needs scikit-learn: {installation.command('ml')}")
    ):
        learned(frame(PEOPLE), frame(TRAIN), learner="random-forest")
    assert learned(frame(PEOPLE), frame(TRAIN), learner="table")["records"] == 8


def test_records_with_missing_values_can_be_left_out_of_both_files() -> None:
    result = qifsql.attack(
        "cas", frame(PEOPLE), learn=frame(TRAIN), qids="q,r", secret="t", null="drop"
    )
    row = result.frame.row(0, named=True)
    people = [p for p in plain(PEOPLE) if None not in p[0]]
    train = [p for p in plain(TRAIN) if None not in p[0]]
    expected = oracle.scores(people, train, Fraction(3, 10))
    assert {name: row[name] for name in expected} == expected
    assert sum("with missing values are left out" in note for note in result.notes) == 2


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_a_filter_holds_for_both_files_and_names_may_be_hostile(tmp_path: Path) -> None:
    names = {"q": 'a"b;--', "r": "<script>", "t": "sécret, x"}
    people = frame(PEOPLE).rename(names).write_csv(tmp_path / "people <b>.csv")
    frame(TRAIN).rename(names).write_csv(tmp_path / "train.csv")
    assert people is None
    shown = run(
        *("attack", "cas", tmp_path / "people <b>.csv", "--learn", tmp_path / "train.csv"),
        *("--where", '"<script>" < 3', "-q", '"a""b;--",<script>', "-s", '"sécret, x"'),
        *("-f", "json"),
    )
    assert shown.code == 0
    (row,) = json.loads(shown.out)["results"]
    keep = [p for p in plain(PEOPLE) if isinstance(p[0][1], int) and p[0][1] < 3]
    train = [p for p in plain(TRAIN) if isinstance(p[0][1], int) and p[0][1] < 3]
    expected = oracle.scores(keep, train, Fraction(3, 10))
    assert row["posterior_probabilistic"] == expected["posterior_probabilistic"]
    page = tmp_path / "page.html"
    asked = ("-q", '"a""b;--",<script>', "-s", '"sécret, x"', "-o", page)
    people_file, train_file = tmp_path / "people <b>.csv", tmp_path / "train.csv"
    run("attack", "cas", people_file, "--learn", train_file, *asked)
    assert "<script>," not in page.read_text("utf-8")
    refused = run(
        *("attack", "cas", people_file, "--learn", train_file, "--charts", tmp_path / "c", *asked)
    )
    assert refused.code == 2


STUDY = """
[datasets.pupils]
path = "people.parquet"
qids = ["q", "r"]
secret = "t"
[datasets.release]
path = "train.parquet"
[[attack]]
name = "named"
model = "cas"
dataset = "pupils"
learn = "release"
rapid = 0.5
[[attack]]
name = "file"
model = "cas"
dataset = "pupils"
learn = "train.parquet"
"""


def test_a_study_and_its_report_have_attacks_that_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame(PEOPLE).write_parquet("people.parquet")
    frame(TRAIN).write_parquet("train.parquet")
    Path("study.toml").write_text(STUDY)
    result = qifsql.run("study.toml")
    assert result.frame["posterior_probabilistic"].to_list() == [0.5, 0.5]
    assert result.frame["name"].to_list() == ["named", "file"]
    done = run("run", "study.toml")
    assert done.code == 0, done.err
    (folder,) = {path.parent for path in tmp_path.glob("*/named.*")}
    page = tmp_path / "report.md"
    done = run("report", folder, "-o", page)
    assert done.code == 0, done.err
    text = page.read_text("utf-8")
    assert "learns from train.parquet guesses t right for" in text
    assert "for whom this is known with certainty" not in text  # no card of the people's own file
    frame(TRAIN).drop("r").write_parquet("train.parquet")
    refused = run("run", "study.toml")
    assert (refused.code, 'column "r" is not in' in refused.err) == (2, True)
