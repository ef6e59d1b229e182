"""The three questions of WP 216 against people counted one by one, and the commands they unite."""

import json
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import SAMPLES
from strategies import Table, tables, to_arrow
from terminal import run

import qifsql
from qifsql.commands.check.questions.opinion import ANSWERS, CAUTION, DEFINITIONS, MEANINGS, OPINION
from qifsql.data.collection import Collection
from qifsql.errors import ColumnError, DatasetError, InputError
from qifsql.reference import success as oracle

ASKED: Any = {"preset": "wp216", "questions": True}
COMMAND = ("check", "--preset", "wp216", "--questions")
PEOPLE = SAMPLES / "thesis_table_3_2.csv"
Row = dict[str, Any]


def rows(result: qifsql.Result) -> list[Row]:
    assert result.frame.schema == OPINION
    found = result.frame.to_dicts()
    for row in found:
        assert row["definition"] == DEFINITIONS[row["question"]]
        assert row["meaning"] == MEANINGS[row["measure"]]
        assert row["answer"] in ANSWERS
        assert (row["threshold"] is None) == (row["answer"] not in ("yes", "no"))
    return found


def attacked(table: Table, secret: str | None, least: Fraction | None) -> Row:
    """Return what the oracle of attacks says of a row: the numbers of CRS or of CAS."""
    found = oracle.attack(table.rows, table.qids, secret)
    chances = [v["success"] for v in oracle.records(table.rows, table.qids, secret)]
    if secret is None:
        certain = sum(v["singled_out"] for v in oracle.records(table.rows, table.qids))
    else:
        certain = sum(chance == 1 for chance in chances)
    return {
        "secret": secret,
        "value": found["posterior_deterministic"],
        "prior": found["prior_deterministic"],
        "people": certain,
        "of": len(table.rows),
        "expected": found["posterior_probabilistic"],
        "expected_prior": found["prior_probabilistic"],
        "gain": found["posterior_probabilistic"] - found["prior_probabilistic"],
        "worst_case": max(chances),
        "at_threshold": None if least is None else sum(c >= least for c in chances),
        "counted": "records",
    }


def same(row: Row, expected: Row) -> None:
    for name, value in expected.items():
        if isinstance(value, Fraction):
            assert row[name] == pytest.approx(float(value), rel=1e-15, abs=1e-18), name
        else:
            assert row[name] == value, name


@settings(max_examples=examples(30))
@given(tables(), st.sampled_from([None, "0.5", "0.25", "1"]))
def test_without_register_and_key_the_answers_are_those_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory, table: Table, threshold: str | None
):
    file = tmp_path_factory.mktemp("w") / "t.parquet"
    pq.write_table(to_arrow(table), file)
    result = qifsql.check(file, **ASKED, qids=table.qids, secret=table.secrets, threshold=threshold)
    least = None if threshold is None else Fraction(threshold)
    alone, bound, *inferred = rows(result)
    whose = attacked(table, None, least)
    same(alone, whose | {"question": "singling_out", "measure": "singled_out", "bound": False})
    same(bound, whose | {"question": "linkability", "measure": "unique_in_release", "bound": True})
    assert [row["secret"] for row in inferred] == table.secrets
    for row in inferred:
        what = attacked(table, row["secret"], least)
        same(row, what | {"question": "inference", "model": "CAS", "measure": "certain"})
        if least is None:
            more = what["worst_case"] > what["expected_prior"]
            unsure = "not_for_certain" if more else "not_found"
            assert row["answer"] == ("possible" if what["people"] else unsure)
        else:
            assert row["answer"] == ("yes" if what["at_threshold"] else "no")
    if least is None:
        assert alone["answer"] == ("possible" if whose["people"] else "not_found")


PERSON = st.tuples(
    st.sampled_from([1, 2, 3, 4, 5]),
    st.sampled_from([None, "a", "b", "'"]),
    st.sampled_from([None, 0, 1]),
)


def write(path: Path, people: list[Any], names: tuple[str, ...]) -> Path:
    types = [pa.int64(), pa.string(), pa.int64()]
    columns = zip(*people, strict=True)
    arrays = [pa.array(list(c), t) for c, t in zip(columns, types, strict=True)]
    pq.write_table(pa.table(arrays, names=list(names)), path)
    return path


@pytest.mark.slow(because="1.4 s; every recorded mutant dies without it")
@settings(max_examples=examples(12))
@given(st.lists(PERSON, min_size=1, max_size=8), st.lists(PERSON, min_size=1, max_size=8))
def test_with_a_register_links_are_counted_pair_by_pair(
    tmp_path_factory: pytest.TempPathFactory, release: list[Any], register: list[Any]
):
    folder = tmp_path_factory.mktemp("w")
    one = write(folder / "a.parquet", release, ("id", "t", "n"))
    two = write(folder / "b.parquet", register, ("ID", "t", "number"))
    asked = ["t", "1:n", "2:number"]
    result = qifsql.check(one, **ASKED, qids=asked, register=two, threshold=0.5)
    f = Counter(p[1:] for p in release if None not in p[1:])
    big = Counter(p[1:] for p in register if None not in p[1:])
    both = [b for b in f if b in big]
    alone, linked = rows(result)
    surest = max((Fraction(1, max(f[b], big[b])) for b in both), default=Fraction())
    right = sum((Fraction(min(f[b], big[b]), max(f[b], big[b])) for b in both), Fraction())
    unique = sum(f[b] == big[b] == 1 for b in both)
    expected = {
        "model": "link",
        "measure": "unique_in_both",
        "people": unique,
        "of": len(release),
        "value": Fraction(unique, len(release)),
        "expected": right / len(release),
        "worst_case": surest,
        "at_threshold": sum(min(f[b], big[b]) for b in both if max(f[b], big[b]) <= 2),
        "prior": None,
        "bound": False,
    }
    same(linked, expected)
    assert alone["people"] == sum(n == 1 for n in Counter(p[1:] for p in release).values())
    link = qifsql.link(one, two, qids=asked)
    assert result.details["register"].drop("seconds").equals(link.frame.drop("seconds"))
    assert linked["expected"] == link.frame["marketer_risk"][0]
    plain = qifsql.check(one, **ASKED, qids=asked, register=two)
    answer = "possible" if unique else "not_for_certain" if both else "not_found"
    assert rows(plain)[1]["answer"] == answer


LOG = st.lists(
    st.tuples(
        st.sampled_from([None, 1, 2, 3]), st.sampled_from([None, "x", "y"]), st.sampled_from([0, 1])
    ),
    min_size=1,
    max_size=10,
).filter(lambda log: any(key is not None for key, *_ in log))


@settings(max_examples=examples(20))
@given(LOG)
def test_under_a_key_people_with_several_records_are_linked(
    tmp_path_factory: pytest.TempPathFactory, log: list[Any]
):
    file = write(tmp_path_factory.mktemp("w") / "log.parquet", log, ("who", "place", "n"))
    qids = ["place", "n"]
    result = qifsql.check(file, **ASKED, qids=qids, key="who", points=[1, 2])
    mine: dict[int, list[Any]] = defaultdict(list)
    for key, *point in log:
        if key is not None:
            mine[key].append(tuple(point))
    several = sum(len(points) > 1 for points in mine.values())
    found = {row["measure"]: row for row in rows(result)}
    assert found["singled_out"]["of"] == len(log)
    if not several:
        assert set(found) == {"singled_out", "unique_in_release"}
        assert "unicity" not in result.details
        assert any("nobody has several records" in note for note in result.notes)
        return
    assert "unique_in_release" not in found
    keyed = {"people": several, "of": len(mine), "value": Fraction(several, len(mine))}
    same(found["linked_by_key"], keyed | {"counted": "people", "model": "key"})
    log_alone = qifsql.unicity(file, person="who", qids=qids, points=[1, 2]).frame
    assert result.details["unicity"].equals(log_alone)
    last = log_alone.filter(pl.col("unicity").is_not_null()).row(-1, named=True)
    same(found["unicity"], {"value": last["unicity"], "of": last["people"], "people": None})
    assert found["unicity"]["answer"] == ("possible" if last["unicity"] else "not_found")


@pytest.mark.slow(because="1.4 s; every recorded mutant dies without it")
def test_the_numbers_are_those_of_attack_with_its_thresholds():
    asked: Row = {"qids": ["age", "gender"], "secret": ["illness", "occupation"]}
    result = qifsql.check(PEOPLE, **ASKED, **asked, threshold=0.5)
    alone = qifsql.attack("crs,cas", PEOPLE, **asked, thresholds=0.5)
    assert result.details["attacks"].drop("seconds").equals(alone.frame.drop("seconds"))
    reached = dict(alone.details["thresholds"].select("attack_id", "individuals").iter_rows())
    found = [row for row in rows(result) if not row["bound"]]
    for row, attack in zip(found, alone.rows(), strict=True):
        assert row["expected"] == attack["posterior_probabilistic"]
        assert row["value"] == attack["posterior_deterministic"]
        assert row["gain"] == attack["leakage_additive"]
        assert row["at_threshold"] == reached[attack["attack_id"]]


def test_ten_people_of_the_thesis():
    """Thesis Examples 48 and 50: knowing the age, 1 of 10 is alone, and the illness of 1 known."""
    alone, bound, illness = rows(qifsql.check(PEOPLE, **ASKED, qids="age", secret="illness"))
    assert (alone["people"], alone["expected"], alone["worst_case"]) == (1, 0.3, 1.0)
    assert (bound["people"], bound["expected"], bound["bound"]) == (1, 0.3, True)
    assert (illness["people"], illness["expected_prior"], illness["expected"]) == (1, 0.5, 0.6)


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_any_register_links_no_more_than_the_bound(tmp_path: Path):
    """The release itself as its register reaches the bound; another register stays below."""
    bound = rows(qifsql.check(PEOPLE, **ASKED, qids="age"))[1]
    reached = rows(qifsql.check(PEOPLE, **ASKED, qids="age", register=PEOPLE))[1]
    assert (reached["value"], reached["expected"]) == (bound["value"], bound["expected"])
    pl.read_csv(PEOPLE).head(4).write_csv(tmp_path / "r.csv")
    less = rows(qifsql.check(PEOPLE, **ASKED, qids="age", register=tmp_path / "r.csv"))[1]
    assert less["value"] <= bound["value"]
    assert less["expected"] <= bound["expected"]


def test_register_and_key_both_answer_linkability(tmp_path: Path):
    log = [(1, "x", 0), (1, "y", 0), (2, "x", 1), (3, "z", 1)]
    file = write(tmp_path / "log.parquet", log, ("who", "place", "n"))
    result = qifsql.check(file, **ASKED, qids="place", key="who", register=file, threshold="0.9")
    linkability = [row for row in rows(result) if row["question"] == "linkability"]
    assert [row["model"] for row in linkability] == ["link", "key", "unicity"]
    assert [row["answer"] for row in linkability] == ["yes", "yes", "yes"]
    assert [row["at_threshold"] for row in linkability] == [2, 1, None]
    assert any("singling out and inference are about single records" in n for n in result.notes)


def test_missing_values_are_values_or_left_out(tmp_path: Path):
    file = write(tmp_path / "t.parquet", [(1, None, 0), (2, "a", 0)], ("id", "t", "n"))
    assert rows(qifsql.check(file, **ASKED, qids="t"))[0]["of"] == 2
    assert rows(qifsql.check(file, **ASKED, qids="t", null="drop"))[0]["of"] == 1


def test_what_is_known_without_the_release_is_said(tmp_path: Path):
    file = write(tmp_path / "t.parquet", [(1, "a", 0), (2, "b", 0), (3, "b", 0)], ("i", "t", "n"))
    (note,) = qifsql.check(file, **ASKED, qids="t", secret="n").notes
    assert "has one value: it is known without the release" in note
    (note,) = qifsql.check(file, **ASKED, qids="i", secret="t", threshold=0.6).notes
    assert "no higher than what is right" in note
    (note,) = qifsql.check(file, **ASKED, qids="t").notes
    assert "inference is not answered" in note
    told = run(*COMMAND, file, "-q", "i", "-s", "t", "--threshold", "0.6", "--format", "table").out
    words = " ".join(told.split())
    assert "Everybody's value can be guessed equally well without the release." in words


BAD: list[tuple[Row, type[Exception], str]] = [
    ({"qids": []}, ColumnError, "name some with qids=..."),
    ({"qids": ["2:t"], "register": "t.parquet"}, ColumnError, "name some with qids=..."),
    ({"qids": "tt"}, ColumnError, 'did you mean "t"?'),
    ({"secret": "t"}, ColumnError, "is among the quasi-identifiers"),
    ({"secret": "x"}, ColumnError, "is not in t.parquet"),
    ({"threshold": 0}, InputError, "above 0 and at most 1"),
    ({"threshold": 1.5}, InputError, "above 0 and at most 1"),
    ({"threshold": float("nan")}, InputError, "above 0 and at most 1"),
    ({"threshold": "often"}, InputError, "above 0 and at most 1"),
    ({"threshold": True}, InputError, "above 0 and at most 1"),
    ({"truth": "i"}, InputError, "name one with register=..."),
    ({"register_where": "n = 0"}, InputError, "name one with register=..."),
    ({"register": "no.parquet"}, DatasetError, "no.parquet"),
    ({"register": "t.parquet", "truth": "n"}, DatasetError, "must be unique"),
    ({"key": "who"}, ColumnError, "is not in t.parquet"),
    ({"key": "z"}, DatasetError, "has a key"),
    ({"key": "n", "points": [0]}, InputError, "whole numbers from 1 to 20"),
    ({"where": "n > 5"}, DatasetError, "no records"),
    ({"null": "gone"}, InputError, "distinct"),
]


@pytest.mark.parametrize(("options", "kind", "says"), BAD)
def test_bad_input_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Row, kind: type[Exception], says: str
):
    monkeypatch.chdir(tmp_path)
    table = {"i": [1, 2, 3], "t": ["SECRET-1", "b", "b"], "n": [0, 0, 0], "z": [None, None, None]}
    pl.DataFrame(table, schema_overrides={"z": pl.Int64}).write_parquet("t.parquet")
    with pytest.raises(kind) as e:
        qifsql.check("t.parquet", **ASKED, **({"qids": "t"} | options))
    assert says in str(e.value)
    assert "SECRET-1" not in str(e.value)
    assert "\n" not in str(e.value)


def test_collections_are_refused_with_what_to_do():
    several: list[Any] = [
        [PEOPLE, PEOPLE],
        Collection.of([PEOPLE, SAMPLES / "popets_table_3a.csv"], key="id"),
    ]
    for source in several:
        with pytest.raises(InputError, match="name one file, another as the register"):
            qifsql.check(source, **ASKED, qids="age")


@pytest.mark.slow(because="2.0 s; every recorded mutant dies without it")
def test_the_command_prints_what_the_function_gives(tmp_path: Path):
    asked = (*COMMAND, PEOPLE, "-q", "age,gender", "-s", "illness", "--register", PEOPLE)
    document = json.loads(run(*asked, "--threshold", "0.5", "--format", "json").out)
    frame = qifsql.check(
        PEOPLE, **ASKED, qids=["age", "gender"], secret="illness", register=PEOPLE, threshold="0.5"
    ).frame
    for row, expected in zip(document["results"], frame.to_dicts(), strict=True):
        assert row.pop("unit") == "records"  # of JSON alone
        assert row | {"seconds": 0} == expected | {"seconds": 0}
    assert document["spec"]["register"] == PEOPLE.name
    assert document["spec"]["remark"] == CAUTION
    assert document["attacks"][0]["model"] == "CRS"
    assert document["register"][0]["unique_in_both"] == frame["people"][1]
    table = run(*asked, "--format", "table").out
    for said in ("singling out", "linkability, register", "inference of illness", "possible"):
        assert said in table
    for words in (*DEFINITIONS.values(), CAUTION):
        assert words in " ".join(table.split())
    assert run(*asked).out == table  # its answer is prose, on a pipe too
    csv = run(*asked, "--format", "csv").out.splitlines()
    assert csv[0] == ",".join(OPINION)
    assert len(csv) == 4


@pytest.mark.cases(1)
@pytest.mark.parametrize("ending", ["parquet", "csv", "json", "md", "html"])
def test_every_form_has_its_details_and_manifest(tmp_path: Path, ending: str):
    out = tmp_path / f"w.{ending}"
    done = run(*COMMAND, PEOPLE, "-q", "age", "-s", "illness", "--key", "gender", "-o", out)
    assert (done.code, done.out) == (0, "")
    if ending in ("parquet", "csv"):
        assert (tmp_path / f"w.attacks.{ending}").exists()
        assert (tmp_path / f"w.unicity.{ending}").exists()
    if ending == "html":
        assert DEFINITIONS["linkability"] in out.read_text()
    if ending == "parquet":
        (note,) = (json.loads(pl.read_parquet_metadata(out)["qifsql"]),)
        assert note["result"] == "wp29"
        assert "GROUP BY" in note["sql"]
        assert run("report", out, "-o", tmp_path / "r.html").code == 0


def test_hostile_names_are_names(tmp_path: Path):
    names = ('"; drop table x', "a,b", "<script>alert(1)</script>\n=cmd()")
    people = [(1, "x", 0), (2, "<b>", 1), (3, "<b>", 1)]
    file = write(tmp_path / "o'dd \N{SLIGHTLY SMILING FACE}.parquet", people, names)
    asked = (*COMMAND, file, "-q", '"a,b"', "-s", names[2], "--key", names[0], "--register", file)
    done = run(*asked, "--format", "table")
    assert (done.code, "a,b" in done.out) == (0, True)
    assert "\n=cmd()" not in done.out
    for form in ("csv", "markdown"):
        assert run(*asked, "--format", form).code == 0
    assert run(*asked, "-o", tmp_path / "w.html").code == 0
    assert "<script>alert" not in (tmp_path / "w.html").read_text()


def test_threads_and_the_order_of_rows_change_nothing(tmp_path: Path):
    n = 20_000
    table = pl.DataFrame(
        {
            "k": [i // 3 for i in range(n)],
            "a": [i * i % 997 for i in range(n)],
            "s": [i % 7 for i in range(n)],
        }
    )
    found = []
    for order, threads in ((False, 1), (True, 2)):
        (table.reverse() if order else table).write_parquet(tmp_path / "t.parquet")
        done = qifsql.check(
            tmp_path / "t.parquet",
            **ASKED,
            qids="a",
            secret="s",
            key="k",
            register=tmp_path / "t.parquet",
            threshold=0.1,
            points=[1, 2],
            settings=qifsql.Settings(threads=threads, memory="300MB"),
        )
        found.append(done.frame.drop("seconds").rows())
    assert found[0] == found[1]


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_of_a_k_anonymous_release_nobody_is_singled_out_and_all_are_in_a_group(tmp_path: Path):
    """As the opinion says of k-anonymity: the other two questions are still open."""
    qifsql.anonymise(PEOPLE, tmp_path / "k.parquet", method="mondrian", k=3, qids="age", drop="id")
    result = qifsql.check(tmp_path / "k.parquet", **ASKED, qids="age", secret="illness")
    alone, bound, illness = rows(result)
    assert (alone["answer"], bound["answer"]) == ("not_found", "not_for_certain")
    assert illness["answer"] in ("possible", "not_for_certain")
    assert illness["expected"] >= illness["expected_prior"]
    told = run(*COMMAND, tmp_path / "k.parquet", "-q", "age", "--format", "table").out
    assert "nobody is unique in the release" in " ".join(told.split())


def test_points_without_a_key_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text("a\n1\n2\n", "utf-8")
    done = run(*COMMAND, file, "-q", "a", "--points", "9")
    assert done.code == 2
    assert "name the key with --key" in done.err
