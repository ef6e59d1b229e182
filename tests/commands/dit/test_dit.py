"""Differential inference testing gives what slow Python makes of the paper."""

import json
import math
import random
import shutil
import sys
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracle_inference as oracle
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_anonymise import Limits
from polars.testing import assert_frame_equal
from strategies import Table, to_arrow
from terminal import run
from test_along_hierarchies import TYPES, Lines, rows_of_values, sizes, two_trees, write_hierarchy
from test_anonymise import doubled, kind, limits_on_secrets, options

import qifsql
from qifsql.commands.dit import posteriors
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.reference import naive_bayes

QIDS = ["age", "education", "country"]
DISTANCES = ("emd_printed", "emd", "max_divergence")


def inferred(table: pa.Table, **options: Any) -> qifsql.Result:
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "in.parquet"
        pq.write_table(table, source)
        return qifsql.dit(source, **options)


def of(found: qifsql.Result, distance: str) -> dict[str, Any]:
    (row,) = [r for r in found.frame.iter_rows(named=True) if r["distance"] == distance]
    return row


def numbers(found: qifsql.Result) -> pl.DataFrame:
    return found.frame.drop("run", "method", "k", "limits", "classifier")


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def apart(p: naive_bayes.Belief, q: naive_bayes.Belief) -> float:
    """The largest difference of logarithms."""
    pairs = [(p[s], q[s]) for s in p if p[s] or q[s]]
    return max(abs(math.log(a / b)) if a and b else math.inf for a, b in pairs)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Forty people, some of them alike, some without an age."""
    lots = random.Random(9)
    jobs = ("Sales", "Craft-repair", "Exec-managerial", "Other-service", "Tech-support")
    rows = [
        {
            "age": lots.choice((None, *range(18, 60))),
            "education": lots.choice(("Bachelors", "HS-grad", "Masters", "9th", "10th")),
            "country": lots.choice(("Brazil", "Brazil", "Brazil", "France", "Peru")),
            "occupation": lots.choice(jobs),
        }
        for _ in range(34)
    ]
    frame = pl.DataFrame(rows + rows[:6]).with_row_index("id", 100)
    frame.write_parquet(tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


# Against the oracle.


people_of_few_values = st.lists(
    st.fixed_dictionaries(
        {"q": st.integers(0, 5), "r": st.integers(0, 3), "s": st.sampled_from("aabbbc")}
    ),
    min_size=6,
    max_size=12,
)


@pytest.mark.slow(because="9 s; each row is that of the definition")
@settings(max_examples=examples(40), deadline=None)
@given(people_of_few_values, st.integers(1, 2), st.fractions(Fraction(1, 5), Fraction(1, 2)))
def test_a_release_without_a_person_is_close_to_the_others(
    rows: list[dict[str, Any]], k: int, t: Fraction
) -> None:
    """Closeness is to the distribution of the secret without the person, too."""
    t = t.limit_denominator(20)
    limits = Limits(k, t=t)
    arrow = pa.Table.from_pylist(rows)
    qids = {q: kind(arrow.schema.field(q).type) for q in ("q", "r")}
    expected = oracle.believed(rows, qids, "s", limits)
    if expected is None or len({row["s"] for row in rows}) == 1:
        return
    found = inferred(arrow, **options(limits), qids=["q", "r"], secret="s")
    for name, part in (("emd_printed", 4), ("emd", 2)):
        distances = [naive_bayes.l1(p, q) / part for p, q in expected]
        assert of(found, name)["mean"] == pytest.approx(float(mean(distances)), abs=1e-12)
        assert of(found, name)["max"] == pytest.approx(float(max(distances)), abs=1e-12)


@pytest.mark.slow(because="1.3 s; every recorded mutant dies without it")
@settings(max_examples=examples(20), deadline=None)
@given(doubled(), limits_on_secrets)
def test_all_distances_are_those_of_releases_made_anew(table: Table, limits: Limits) -> None:
    arrow = to_arrow(table)
    secret = table.secrets[0]
    qids = {q: kind(arrow.schema.field(q).type) for q in table.qids}
    how = options(limits) | {"qids": table.qids, "secret": secret}
    expected = oracle.believed(table.rows, qids, secret, limits)
    several = len({oracle.value(row[secret]) for row in table.rows}) > 1
    if expected is None or not several:
        with pytest.raises(InputError):
            inferred(arrow, **how)
        return
    found = inferred(arrow, **how)
    for name, part in (("emd_printed", 4), ("emd", 2)):
        row = of(found, name)
        distances = [naive_bayes.l1(p, q) / part for p, q in expected]
        assert row["records"] == len(table.rows)
        assert row["max"] == pytest.approx(float(max(distances)), abs=1e-12)
        assert row["mean"] == pytest.approx(float(mean(distances)), abs=1e-12)
        around = mean([(d - mean(distances)) ** 2 for d in distances])
        assert row["std"] == pytest.approx(math.sqrt(around), abs=1e-10)
    endless = [d for d in (apart(p, q) for p, q in expected) if math.isinf(d)]
    assert of(found, "max_divergence")["infinite"] == len(endless)
    changed = [oracle.guess(p) != oracle.guess(q) for p, q in expected]
    assert of(found, "emd")["different"] == sum(changed) / len(changed)


@settings(max_examples=examples(20), deadline=None)
@given(rows_of_values, two_trees, sizes)
def test_releases_along_hierarchies_are_made_anew(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    trees: dict[str, Lines],
    sizes: tuple[int, int | None],
) -> None:
    folder, limits = tmp_path_factory.mktemp("trees"), Limits(sizes[0], l=sizes[1])
    files = {name: write_hierarchy(folder, lines, name) for name, lines in trees.items()}
    qids = {"c": "set", "n": "interval", "d": "set"}
    expected = oracle.believed(rows, qids, "s", limits, trees)
    if expected is None or len({row["s"] for row in rows}) == 1:
        return
    how: dict[str, Any] = {"qids": list(qids), "secret": "s", "hierarchy": files}
    found = inferred(pa.Table.from_pylist(rows, TYPES), **options(limits), **how)
    distances = [naive_bayes.l1(p, q) / 4 for p, q in expected]
    assert of(found, "emd_printed")["mean"] == pytest.approx(float(mean(distances)), abs=1e-12)
    assert of(found, "emd_printed")["max"] == pytest.approx(float(max(distances)), abs=1e-12)


@pytest.mark.slow(because="3 s; the numbers of records are those of the oracle in the fast set")
def test_every_record_has_its_own_row(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "records.parquet"
    found = qifsql.dit(people, qids=QIDS, secret="occupation", k=3, records=out, key="id")
    rows = pl.read_parquet(people).to_dicts()
    kinds = {"age": "interval", "education": "set", "country": "set"}
    expected = oracle.believed(rows, kinds, "occupation", Limits(3))
    assert expected is not None
    given_ = pl.read_parquet(out)
    assert found.written == len(rows)
    assert given_["record"].to_list() == list(range(1, len(rows) + 1))
    assert given_["id"].to_list() == [row["id"] for row in rows]
    for row, (p, q) in zip(given_.iter_rows(named=True), expected, strict=True):
        assert row["emd"] == pytest.approx(float(naive_bayes.l1(p, q) / 2), abs=1e-12)
        assert row["max_divergence"] == pytest.approx(apart(p, q), abs=1e-9)
        assert (row["best_guess"], row["best_guess_without"]) == (oracle.guess(p), oracle.guess(q))
    mixed = tmp_path / "mixed.parquet"
    pl.read_parquet(people).sample(fraction=1, shuffle=True, seed=1).write_parquet(mixed)
    again = qifsql.dit(mixed, qids=QIDS, secret="occupation", k=3)
    assert_frame_equal(again.frame, found.frame, check_exact=True)


# Worked examples of the paper.


def test_the_printed_example_of_the_distance() -> None:
    """Section 3.4.1: 0.24 as printed, 0.48 as half of L1."""
    p = {1: Fraction("0.49"), 2: Fraction("0.01"), 3: Fraction("0.5")}
    q = {1: Fraction("0.01"), 2: Fraction("0.49"), 3: Fraction("0.5")}
    assert naive_bayes.l1(p, q) / 4 == Fraction("0.24")
    assert naive_bayes.l1(p, q) / 2 == Fraction("0.48")


def test_the_example_of_the_encoding() -> None:
    """Section 3.1: (1, 0, 1) and (0, 1, 0)."""
    target = (16, "Male", "France")
    one = [([15, 25], "interval"), (["Female"], "set"), (["France", "Germany"], "set")]
    two = [([17, 20], "interval"), (["Male"], "set"), (["Italy", "Germany"], "set")]
    for record, bits in ((one, [1, 0, 1]), (two, [0, 1, 0])):
        held = [
            oracle.cells(values, how)(v) for (values, how), v in zip(record, target, strict=True)
        ]
        assert held == [bool(bit) for bit in bits]


FIGURE_2 = """Engineer;Professional;ANY
Lawyer;Professional;ANY
Professional;Professional;ANY
Dancer;Artist;ANY
Writer;Artist;ANY
Artist;Artist;ANY
"""


def steps(one: str, other: str) -> int:
    """The edges between two values of Figure 2."""
    ways = [list(dict.fromkeys(line.split(";"))) for line in FIGURE_2.splitlines()]
    a, b = (next(w for w in ways if w[0] == v) for v in (one, other))
    return len(set(a) ^ set(b))


def test_the_tree_of_figure_2(tmp_path: Path) -> None:
    """Engineer to Artist is 3 edges, Dancer to Writer 2; with two values all mass goes one way."""
    assert (steps("Engineer", "Artist"), steps("Dancer", "Writer")) == (3, 2)
    tree = tmp_path / "figure_2.csv"
    tree.write_text(FIGURE_2)
    for one, other in (("Engineer", "Artist"), ("Dancer", "Writer"), ("Lawyer", "Professional")):
        rows = [{"q": i % 3, "s": one if i % 4 else other} for i in range(12)]
        found = inferred(pa.Table.from_pylist(rows), qids=["q"], secret="s", k=2, hierarchy=tree)
        ratio = of(found, "emd_hierarchy")["max"] / of(found, "emd")["max"]
        assert ratio == pytest.approx(steps(one, other))


@pytest.mark.slow(because="5 s; every recorded mutant dies without it")
def test_naive_bayes_is_that_of_scikit_learn(people: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    asked = {"qids": QIDS, "secret": "occupation", "k": 3}
    ours = qifsql.dit(people, **asked)
    theirs = qifsql.dit(people, **asked, classifier="bernoulli-nb")
    assert_frame_equal(numbers(ours), numbers(theirs), abs_tol=1e-12)


@pytest.mark.slow(because="naive Bayes stays: the same way to and from scikit-learn")
def test_classifiers_of_scikit_learn(people: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    asked = {"qids": QIDS, "secret": "occupation", "k": 5, "sample_size": 4}
    for name in ("decision-tree", "logistic-regression", "k-nearest"):
        found = qifsql.dit(people, **asked, classifier=name)
        assert of(found, "emd")["records"] == 4
        assert 0 <= of(found, "emd")["max"] <= 1


def trained(
    release: Sequence[naive_bayes.Record], own: Sequence[Any], seed: int
) -> dict[Any, float]:
    """The belief of a tree of this seed about a person whose cells are all true."""
    tree = pytest.importorskip("sklearn.tree", reason="scikit-learn is not installed")

    rows = [([int(cell(v)) for cell, v in zip(cells, own, strict=True)], s) for cells, s in release]
    rows.sort(key=lambda row: (row[0][::-1], row[1]))
    model = tree.DecisionTreeClassifier(random_state=seed)
    model.fit([bits for bits, _ in rows], [secret for _, secret in rows])
    (chances,) = model.predict_proba([[1] * len(own)])
    return dict(zip(model.classes_, chances, strict=True))


def test_delta_is_the_largest_share_of_draws() -> None:
    """Each draw has two seeds; delta of the definition is over the worst person."""
    lots = random.Random(5)
    values = {"q": range(3), "r": range(3), "u": range(2), "s": "abc"}
    rows = [{n: lots.choice(v) for n, v in values.items()} for _ in range(12)]
    qids, draws, points = dict.fromkeys("qru", "interval"), 8, [0.05, 0.25, 0.5]
    made = oracle.releases(rows, qids, "s", Limits(1), {})
    assert made is not None
    apart_by_draw = []
    for row, without in zip(rows, made[1], strict=True):
        own, pairs = [row[q] for q in qids], []
        for draw in range(draws):
            p, q = (trained(r, own, 7 + 2 * draw + n) for n, r in enumerate((made[0], without)))
            pairs.append(sum(abs(p.get(s, 0) - q.get(s, 0)) for s in "abc") / 2)
        apart_by_draw.append(pairs)
    how: dict[str, Any] = {"qids": list(qids), "secret": "s", "k": 1, "distance": points}
    how |= {"draws": draws, "settings": Settings(seed=7)}
    found = inferred(pa.Table.from_pylist(rows), classifier="decision-tree", **how)
    deltas = found.details["delta"].filter(distance="emd")
    expected = [max(sum(d >= e for d in pairs) / draws for pairs in apart_by_draw) for e in points]
    assert deltas["delta"].to_list() == expected
    assert all(low <= delta <= high for low, delta, high in deltas[["low", "delta", "high"]].rows())
    assert "differentiable for every epsilon" not in " ".join(str(found).split())
    still = inferred(pa.Table.from_pylist(rows), **how).details["delta"]
    assert set(still["draws"]) == {1}
    assert still["low"].to_list() == still["high"].to_list()
    assert set(still["delta"]) <= {0, 1}


def test_a_classifier_without_scikit_learn(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(InputError, match="needs scikit-learn"):
        qifsql.dit(people, qids=QIDS, secret="occupation", k=3, classifier="decision-tree")


# Releases from elsewhere.


def released(people: Path, folder: Path, ending: str, k: int) -> dict[str, Any]:
    """Every release, really made by ``anonymise``; how they are asked for."""
    frame = pl.read_parquet(people).drop("id").with_row_index("n")
    how = {"method": "mondrian", "k": k, "qids": QIDS, "drop": "n"}

    def write(some: pl.DataFrame, name: str) -> None:
        source = folder / f"some{ending}"
        some.write_parquet(source) if ending == ".parquet" else some.write_csv(source)
        qifsql.anonymise(source, folder / f"{name}{ending}", **how)

    write(frame, "all")
    for i in range(frame.height):
        write(frame.filter(pl.col("n") != i), f"without_{i + 1}")
    return {"release": folder / f"all{ending}", "without": str(folder / ("without_{i}" + ending))}


@pytest.mark.slow(because="10 s; each row is that of the definition")
@pytest.mark.cases(1)
@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_files_say_what_the_built_in_method_says(people: Path, tmp_path: Path, ending: str) -> None:
    few = tmp_path / "few.parquet"
    pl.read_parquet(people).tail(10).write_parquet(few)
    source = few
    if ending == ".csv":
        source = tmp_path / "few.csv"
        pl.read_parquet(few).write_csv(source)
    asked = {"qids": QIDS, "secret": "occupation"}
    made = qifsql.dit(source, **asked, k=3)
    files = released(few, tmp_path, ending, 3)
    read = qifsql.dit(source, **asked, **files)
    assert_frame_equal(numbers(read), numbers(made), abs_tol=1e-12)
    (tmp_path / f"without_3{ending}").unlink()
    with pytest.raises(InputError, match="1 release of 10 without a person is missing"):
        qifsql.dit(source, **asked, **files)


def test_a_release_with_other_columns(people: Path, tmp_path: Path) -> None:
    for name in ("all", *(f"without_{i}" for i in range(1, 41))):
        pl.DataFrame({"age": [1], "occupation": ["x"]}).write_parquet(tmp_path / f"{name}.parquet")
    files = {"release": tmp_path / "all.parquet", "without": str(tmp_path / "without_{i}.parquet")}
    with pytest.raises(InputError, match=r'"education" is not in all\.parquet'):
        qifsql.dit(people, qids=QIDS, secret="occupation", **files)
    with pytest.raises(InputError, match=r"records? of the releases have a secret"):
        qifsql.dit(people, qids=["age"], secret="occupation", **files)


@pytest.mark.slow(because="3.7 s; every recorded mutant dies without it")
def test_a_command_makes_releases(people: Path, tmp_path: Path) -> None:
    asked = {"qids": QIDS, "secret": "occupation", "sample_size": 2}
    copy = shutil.which("cp")
    found = qifsql.dit(people, **asked, command=f"{copy} {{input}} {{output}}")
    assert_frame_equal(numbers(found), numbers(qifsql.dit(people, **asked, k=1)), abs_tol=1e-12)
    for command, says in (
        ("false {input} {output}", "failed with everybody"),
        ("true {input} {output}", "made no release with everybody; it must write one"),
        ("no-such-command {input} {output}", "cannot be started"),
        ("cp {input}", "name both"),
        ("cp '{input} {output}", "check its quotes"),
    ):
        with pytest.raises(InputError, match=says):
            qifsql.dit(people, **asked, command=command)
    hangs = f"{sys.executable} -c 'import time; time.sleep(60)' {{input}} {{output}}"
    with pytest.raises(InputError, match=r"more than 0\.2 seconds"):
        qifsql.dit(people, **asked, command=hangs, timeout=0.2)


IDENTITY = "cp {input} {output}"


def written(folder: Path, cells: Sequence[str]) -> Path:
    """A CSV file of people with these cells, each of them twice, one after the other."""
    source = folder / "people.csv"
    rows = [f"{cell},{'mf'[i // 2 % 2]},{'xyz'[i % 3]}" for i, cell in enumerate(cells * 2)]
    source.write_text("\n".join(["q,g,s", *rows]) + "\n")
    return source


@pytest.mark.slow(because="CSV releases are read in other tests")
@pytest.mark.parametrize(
    "cells",
    [
        ("20", "30", "", "-4", "300"),
        ("1.5", "2", "nan", "0.1", "3e20", "-0.0"),
        ("1.5", "inf", "-inf", "2.5"),
        ("9007199254740993", "9007199254740992", ""),
        ("31/12/2020", "01/02/1999", ""),
        ("2020-01-01 10:00:00", "2020-01-01 00:00:00", "2021-05-05 11:12:13.5"),
        ("10:00:00", "11:30:00", ""),
        ("012", "12", "x", ""),
    ],
)
def test_csv_copied_is_csv_as_it_is(tmp_path: Path, cells: Sequence[str]) -> None:
    source = written(tmp_path, cells)
    asked = {"qids": ["q", "g"], "secret": "s"}
    expected = numbers(qifsql.dit(source, **asked, k=1))
    made = qifsql.dit(source, **asked, command=IDENTITY)
    assert_frame_equal(numbers(made), expected, abs_tol=1e-12)
    head, *rows = source.read_text().splitlines()
    for i in range(len(rows)):
        left = [head, *rows[:i], *rows[i + 1 :]]
        (tmp_path / f"{i + 1}.csv").write_text("\n".join(left) + "\n")
    files = {"release": source, "without": str(tmp_path / "{i}.csv")}
    assert_frame_equal(numbers(qifsql.dit(source, **asked, **files)), expected, abs_tol=1e-12)


@pytest.mark.slow(because="3.5 s; every recorded mutant dies without it")
def test_csv_releases_with_intervals(tmp_path: Path) -> None:
    """Intervals in some releases only; there the numbers beside them are numbers still."""
    source = written(tmp_path, ("20", "25", "30", "40"))
    change = tmp_path / "change.py"
    change.write_text(
        "import sys\n"
        "text = open(sys.argv[1]).read()\n"
        "for age in ('20', '25'):\n"
        "    text = text.replace(f'\\n{age},', '\\n' + sys.argv[3] + ',')\n"
        "open(sys.argv[2], 'w').write(text)\n"
    )

    def asked(cell: str, **more: Any) -> pl.DataFrame:
        command = f"{sys.executable} {change} {{input}} {{output}} '{cell}'"
        more |= {"qids": ["q", "g"], "secret": "s", "sample_size": 3}
        return numbers(qifsql.dit(source, **more, command=command))

    expected = asked("{20,25}".join('""'))
    assert_frame_equal(asked('"[20,25]"'), expected, check_exact=True)
    assert_frame_equal(asked("20-25"), expected, check_exact=True)
    with pytest.raises(InputError, match="holds text, but that of"):
        asked("20-25", plain="q")
    with pytest.raises(InputError, match=r"cannot be read.*write cells as values") as trouble:
        asked("young")
    assert "young" not in str(trouble.value)
    assert "--hierarchy" not in str(trouble.value)


def test_cells_that_are_values_as_they_stand(tmp_path: Path) -> None:
    """Texts that look like intervals are texts where people have them, and where that is said."""
    rows = [{"q": ("[30, 40[", "[40, 50[")[i % 2], "s": "xyz"[i % 3]} for i in range(9)]
    source = tmp_path / "in.parquet"
    pl.DataFrame(rows).write_parquet(source)
    asked = {"qids": "q", "secret": "s"}
    found = qifsql.dit(source, **asked, command=IDENTITY, plain="q")
    assert_frame_equal(numbers(found), numbers(qifsql.dit(source, **asked, command=IDENTITY)))
    assert_frame_equal(numbers(found), numbers(qifsql.dit(source, **asked, k=1)), abs_tol=1e-12)
    assert found.origin.spec["plain"] == ["q"]


def test_help_says_that_no_sample_is_everybody() -> None:
    words = run("dit", "--help").out.replace("│", " ").split()
    assert "(0: all)" in " ".join(words)


@pytest.mark.slow(because="2.4 s; every recorded mutant dies without it")
def test_mdav_is_made_anew_for_everybody(people: Path) -> None:
    found = qifsql.dit(people, qids=["age"], secret="occupation", method="mdav", k=5, sample_size=3)
    assert of(found, "emd")["records"] == 3
    assert found.frame["method"].to_list() == ["mdav"] * 3


@pytest.mark.slow(because="the same numbers are compared with the oracle on fewer people")
def test_what_is_said_of_a_sample_is_not_said_of_everybody(people: Path) -> None:
    asked = ("dit", people, "-q", "age", "-s", "occupation", "--method", "mdav", "--k", "5")
    few, every = (
        run(*asked, "--sample-size", "3", "--format", "table"),
        run(*asked, "--format", "table"),
    )
    note = "were drawn and looked at: the distances of the others may be larger"
    assert note in few.err
    assert note not in every.err
    bound = "differentiable for every epsilon"
    assert bound in " ".join(every.out.split())
    assert bound not in " ".join(few.out.split())
    assert "No interval is stated" in " ".join(few.out.split())


# Runs, stores, samples, the command line.


@pytest.mark.slow(because="each of the runs is compared with the oracle")
def test_several_runs_at_once_are_those_one_by_one(people: Path) -> None:
    asked = {"qids": QIDS, "secret": "occupation"}
    both = qifsql.dit(people, **asked, k="5,9", l="1,2")
    assert both.frame.group_by("k", "limits").len().height == 4
    for k, diverse in ((5, 2), (9, 1)):
        one = qifsql.dit(people, **asked, k=k, l=diverse)
        same = both.frame.filter(k=k, limits=f"l={diverse}")
        assert_frame_equal(same.drop("run"), one.frame.drop("run"), check_exact=True)


@pytest.mark.slow(because="a line of the table of command lines writes a store")
def test_a_store_goes_on_and_refuses_other_questions(people: Path, tmp_path: Path) -> None:
    store = tmp_path / "store.duckdb"
    asked = {"qids": QIDS, "secret": "occupation", "store": store}
    first = qifsql.dit(people, **asked, k="6,9")
    again = qifsql.dit(people, **asked, k="6,9")
    assert_frame_equal(first.frame, again.frame, check_exact=True)
    with pytest.raises(InputError, match="the store of another question: runs differ"):
        qifsql.dit(people, **asked, k="6,8")
    anew = qifsql.dit(people, **asked, k="6,8", restart=True)
    assert anew.frame["k"].unique().sort().to_list() == [6, 8]
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    learned = asked | {"k": 6, "classifier": "decision-tree"}
    qifsql.dit(people, **learned, settings=Settings(seed=1), restart=True)
    with pytest.raises(InputError, match="the store of another question: seed differ"):
        qifsql.dit(people, **learned, settings=Settings(seed=2))
    with pytest.raises(InputError, match="is the input"):
        qifsql.dit(people, qids=QIDS, secret="occupation", k=2, store=people, restart=True)


def test_shares_add_up(people: Path) -> None:
    found = qifsql.dit(people, qids=QIDS, secret="occupation", k=3, distance="0,0.01,1")
    rows = found.details["thresholds"].filter(distance="emd")
    assert rows["point"].to_list() == [0, 0.01, 1]
    assert rows["people"][2] == 0
    spread = found.details["distribution"].filter(distance="emd")
    assert spread["people"].is_sorted()
    assert spread["share"][-1] == 1
    assert spread["people"][0] + rows["people"][0] == 40


@pytest.mark.slow(because="5 s; every recorded mutant dies without it")
def test_the_command_line(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "records.csv"
    done = run(
        *("dit", people, "--qids", ",".join(QIDS), "--secret", "occupation", "--k", "2,5"),
        *("--format", "json", "--records", out, "--key", "id"),
    )
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["spec"]["runs"] == [{"k": 2}, {"k": 5}]
    assert {row["distance"] for row in told["results"]} == set(DISTANCES)
    assert pl.read_csv(out).height == 80
    assert "80 rows written" in done.err
    shown = run("dit", people, "-q", "age", "-s", "occupation", "--k", "4", "--format", "table")
    assert "own record changes the guess about them by at most" in shown.out


@pytest.mark.cases(4)
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, "k is missing"),
        ({"k": 0}, "whole number from 1"),
        ({"k": "2,x"}, "whole number from 1"),
        ({"k": 40}, "one less without a person"),
        ({"k": 2, "l": 99}, "no class can have so many"),
        ({"k": 2, "method": "mondrain"}, 'did you mean "mondrian"'),
        ({"k": 2, "classifier": "naive"}, "there is no classifier"),
        ({"k": 2, "sample_size": -1}, "a sample size is a number"),
        ({"k": 2, "distance": "x"}, "is a number"),
        ({"k": 2, "secret": "age"}, "quasi-identifier"),
        ({"k": 2, "secret": ["id", "occupation"]}, "one secret is tested at a time"),
        ({"k": 2, "where": "age < 0"}, "there is nobody to test"),
        ({"k": 2, "command": "x {input} {output}", "method": "mdav"}, "needs no command"),
        ({"k": 2, "command": "x {input} {output}"}, "limits of mondrian and mdav"),
        ({"release": "all.csv"}, "without=... for each person"),
        ({"release": "all.csv", "without": "x.csv"}, r"write \{i\}"),
        ({"release": "nowhere.csv", "without": "{i}.csv"}, "nowhere.csv does not exist"),
        ({"k": 2, "timeout": -1}, "a number of seconds above 0"),
        ({"k": 2, "timeout": 9}, "leave timeout=... out"),
        ({"release": "all.csv", "without": "{i}.csv", "timeout": 9}, "leave timeout=... out"),
        ({"release": "all.csv", "command": "x {input} {output}"}, "leave release=..."),
        ({"k": 2, "plain": "age"}, "needs no plain=..."),
        ({"command": "x {input} {output}", "plain": "aeg"}, 'did you mean "age"'),
        ({"k": 2, "records": "x.txt"}, "must end in"),
        ({"k": 2, "t_ordered": "0.3"}, "has no distances"),
        ({"k": 2, "where": "occupation = 'Sales'"}, "has one value"),
    ],
)
def test_bad_questions(people: Path, asked: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as trouble:
        qifsql.dit(people, **({"qids": QIDS, "secret": "occupation"} | asked))
    assert "Exec-managerial" not in str(trouble.value)


@pytest.mark.slow(because="3 s; the oracle of releases draws such tables, too")
def test_a_class_that_vanishes_and_a_limit_that_breaks_without_somebody() -> None:
    rows = [{"q": i // 2, "s": "ab"[i % 2]} for i in range(8)] + [{"q": 9, "s": "c"}]
    found = inferred(pa.Table.from_pylist(rows), qids=["q"], secret="s", k=2)
    assert of(found, "max_divergence")["infinite"] == 1
    with pytest.raises(InputError, match="without one of 1 person"):
        inferred(pa.Table.from_pylist(rows), qids=["q"], secret="s", k=2, l=3)


def test_a_hierarchy_that_lacks_values(tmp_path: Path) -> None:
    tree = tmp_path / "tree.csv"
    tree.write_text("a;*\nb;*\n")
    rows = [{"q": i, "s": "abc"[i % 3]} for i in range(9)]
    with pytest.raises(InputError, match='hierarchy of "s" lacks 1 value of the secret, which 3'):
        inferred(pa.Table.from_pylist(rows), qids=["q"], secret="s", k=2, hierarchy=tree)


def test_distances_have_names() -> None:
    assert set(DISTANCES) < set(posteriors.DISTANCES)


@pytest.mark.slow(because="every chart is drawn in test_every_chart.py")
def test_charts_say_what_they_show(people: Path, tmp_path: Path) -> None:
    pytest.importorskip("altair", reason="altair is not installed")
    folder = tmp_path / "charts"
    done = run(
        *("dit", people, "-q", ",".join(QIDS), "-s", "occupation", "--k", "2,5", "--format", "csv"),
        *("--charts", folder, "--chart-format", "json"),
    )
    assert done.code == 0, done.err
    assert {path.name for path in folder.glob("*.json")} >= {
        *("distribution.json", "summary.json", "different.json"),
    }
    spread = json.loads((folder / "distribution.json").read_text())
    assert "EMD (half of L1), k=2" in spread["description"]
    both = json.loads((folder / "summary.json").read_text())
    assert "k=5, k alone: mean" in both["description"]
