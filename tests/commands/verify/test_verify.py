"""Verification of stored results: what is right agrees, and every planted error is found."""

import json
import random
import re
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from forgeries import forged
from terminal import run

import qifsql
from qifsql.commands.verify.verdicts import agree
from qifsql.errors import InputError
from qifsql.measures import bayes, channel_measures
from qifsql.measures.bayes import Success
from qifsql.results.result import Result

CANARY = "zwölf-geheim"
PEOPLE = pl.DataFrame(
    {
        "key": range(12),
        "age": [20, 20, 20, 30, 30, None, 40, 40, 40, 40, 50, 60],
        "sex": ["f", "f", "m", "m", "f", "f", "m", "m", None, None, "f", "m"],
        "height": [1.5, 1.5, -0.0, 0.0, 1.5, None, 1.75, 1.75, 1.8, 1.8, 1.5, 1.5],
        "weight": [1, 2, 3, 1, 1, 1, 4, 1, 1, 1, 1, 2],
        "ill": ["no", "no", "yes", "no", CANARY, None, "yes", "yes", "no", "yes", "no", "no"],
    }
)
LATER = PEOPLE.with_columns(sex=pl.lit("f")).head(9)
QIDS = "age,sex"
NUMBER = "posterior_probabilistic"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    PEOPLE.write_parquet(path)
    return path


@pytest.fixture
def stored(people: Path) -> Path:
    """A stored attack of two models with all measures and details."""
    result = qifsql.attack(
        "crs,cas",
        people,
        qids=QIDS,
        secret="ill",
        measures="all",
        by="sex",
        histogram=True,
        thresholds=[0.5, 0.9],
        quantiles=[0.5, 0.95],
    )
    return result.save(people.with_name("risk.json"))


def verdicts(result: Result) -> dict[str, int]:
    return dict(result.frame["verdict"].value_counts().iter_rows())


def differing(result: Result) -> set[tuple[str, int, str]]:
    """The places of the numbers that differ: table, row, column."""
    rows = result.frame.filter(verdict="differs")
    return set(rows.select("table", "row", "column").iter_rows())


def edited(path: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    document = json.loads(path.read_text("utf-8"))
    edit(document)
    path.write_text(json.dumps(document), "utf-8")
    return path


def with_sql(path: Path, edit: Callable[[str], str]) -> Path:
    """Change the SQL of a manifest, and nothing else."""

    def change(note: dict[str, Any]) -> None:
        before, note["sql"] = note["sql"], edit(note["sql"])
        assert note["sql"] != before

    edited(path.with_name(f"{path.name}.manifest.json"), change)
    return path


ATTACKS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "one release": ("crs,cas", {"measures": "all", "by": "sex", "histogram": True}),
    "missing left out": ("crs,cas", {"null": "drop"}),
    "missing may be anything": ("crs,cas", {"null": "match-any"}),
    "expressions": ("cas", {"qids": "decade=age//10,sex", "where": "age > 20"}),
    "coarser": ("cas", {"qids": "age:20,sex"}),
    "floats": ("cas", {"qids": "height"}),
    "weights": ("crs,cas", {"weight": "weight", "measures": "all", "by": "sex"}),
    "weights of floats": ("cas", {"weight": "height + 0.1", "where": "height > 0"}),
    "a secret called weight": ("crs,cas", {"secret": "weight"}),
    "gains": ("cas", {"gain": ["tries:2", "identity", "penalty:0.5"]}),
    "one person": ("irs,ias", {"target": {"age": "20", "sex": "f"}}),
    "sets": ("crs,cas", {"person": "weight"}),
    "households": ("crs,cas", {"household": "weight"}),
    "membership": ("cms", {"member": "m=coalesce(age > 30, false)"}),
    "numbers with errors": ("crs,cas", {"knows": "age:+-10; sex:missing=0.3"}),
    "normal errors": ("crs,cas", {"knows": "age:sd=4"}),
    "mistaken values": ("crs,cas", {"knows": "AGE:right=0.9; sex:right=0.75"}),
    "mistaken weights": ("crs,cas", {"knows": "age:+-1; sex:right=0.9", "weight": "weight"}),
    "all known": ("crs,cas", {"knows": "age:exact; sex:right=1"}),
}


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", ATTACKS)
def test_right_numbers_agree(people: Path, name: str) -> None:
    model, options = ATTACKS[name]
    options = {"qids": QIDS, **({} if model in ("irs", "cms") else {"secret": "ill"}), **options}
    result = qifsql.attack(model, people, **options)
    checked = qifsql.verify(result)
    assert checked.met == (name != "membership")  # of which the manifest's SQL alone tells
    assert checked.met or "not confirmed" in checked.notes[0]
    assert not differing(checked)
    rows = checked.frame.filter(pl.col("table") == "results", pl.col("column") == NUMBER)
    assert rows["verdict"].unique().to_list() == ["agrees"]
    assert rows["row"].n_unique() == result.frame.height


@pytest.mark.slow(because="2.7 s; every recorded mutant dies without it")
def test_collections_agree(people: Path) -> None:
    later = people.with_name("later.parquet")
    LATER.write_parquet(later)
    options: dict[str, Any] = {"qids": QIDS, "secret": "1:ill", "key": "key"}
    for more in ({}, {"progressive": True}, {"absent": "distinct"}):
        result = qifsql.attack("crl,cal", [people, later], **options, **more)
        checked = qifsql.verify(result)
        assert checked.met == ("progressive" not in more)  # prefixes: the manifest's SQL alone
        assert verdicts(checked).keys() == {"agrees"}
        assert "SQL of the request" in checked.frame["way"].to_list()


def test_files_of_one_name_are_in_the_order_of_their_datasets(tmp_path: Path) -> None:
    """Two ways repeat a collection whose releases differ by their folder alone, if read alike."""
    files = [tmp_path / year / "d.csv" for year in ("2018", "2019")]
    for file, ages in zip(files, ((10, 10, 20), (11, 12, 12)), strict=True):
        file.parent.mkdir()
        lines = (f"{i},{age},{'xy'[i % 2]}" for i, age in enumerate(ages))
        file.write_text("\n".join(["id,age,ill", *lines]))
    options: dict[str, Any] = {"qids": "age", "secret": "ill", "key": "id"}
    result = qifsql.attack("crl,cal", files, **options)
    checked = qifsql.verify(result)
    assert verdicts(checked).keys() == {"agrees"}
    assert "SQL of the request" in checked.frame["way"].to_list()
    path = result.save(tmp_path / "r.json")

    def read_apart(note: dict[str, Any]) -> None:
        note["spec"]["csv"][1]["all_varchar"] = True

    edited(path.with_name("r.json.manifest.json"), read_apart)
    assert "which files are those of d.csv" in " ".join(qifsql.verify(path).frame["reason"])


def test_four_ways_check_an_attack(stored: Path) -> None:
    frame = qifsql.verify(stored).frame
    ways = frame.filter(pl.col("column") == NUMBER, pl.col("table") == "results")
    assert ways.filter(row=1)["way"].to_list() == [
        *("SQL of the manifest", "two-level SQL", "SQL of the request", "SQLite"),
    ]
    open_numbers = frame.filter(verdict="not checked").select("table", "row", "column")
    assert open_numbers.rows() == []


NOISY = "age:+-10; sex:right=0.9"


@pytest.mark.slow(because="3.5 s; every recorded mutant dies without it")
def test_three_ways_check_an_adversary_who_errs(people: Path) -> None:
    """One pastes the SQL, one compares every pair; a changed number and a changed law differ."""
    result = qifsql.attack("crs,cas", people, qids=QIDS, secret="ill", knows=NOISY)
    path = result.save(people.with_name("noisy.json"))
    checked = qifsql.verify(path)
    assert verdicts(checked).keys() == {"agrees", "not checked"}
    unchecked = checked.frame.filter(verdict="not checked")
    assert set(unchecked["row"]) <= {1, 3}  # those of the adversary who errs
    assert set(unchecked["column"]) == set(bayes.REPORTED)  # of which no pairs are counted again
    rows = checked.frame.filter(pl.col("column") == NUMBER)
    assert rows.filter(row=3)["way"].to_list() == ["SQL of the manifest", "every pair"]
    assert rows.filter(row=2).height == 4

    def plant(document: dict[str, Any]) -> None:
        document["results"][3][NUMBER] += 1e-9

    assert differing(qifsql.verify(edited(path, plant))) == {("results", 3, NUMBER)}
    other = qifsql.attack(
        "crs,cas", people, qids=QIDS, secret="ill", knows="age:+-10; sex:right=0.8"
    )

    def foreign(document: dict[str, Any]) -> None:
        another = other.save(people.with_name("other.json"))
        document["results"] = json.loads(another.read_text("utf-8"))["results"]

    places = differing(qifsql.verify(edited(path, foreign)))
    assert ("results", 1, NUMBER) in places
    assert ("results", 3, NUMBER) in places
    assert {row for _, row, _ in places} == {1, 3}


def test_errors_that_are_too_rare_to_be_rounded_closely_are_left_out(tmp_path: Path) -> None:
    """Of ages 20 and 21 only an error of six deviations is certain: its chance is 2e-8."""
    people = tmp_path / "pair.parquet"
    pl.DataFrame({"age": [20, 21], "ill": ["no", "yes"]}).write_parquet(people)
    result = qifsql.attack("crs,cas", people, qids="age", secret="ill", knows="age:sd=1")
    assert 0 < result.frame["posterior_deterministic"][1] < 1e-7
    frame = qifsql.verify(result).frame
    assert "differs" not in frame["verdict"]
    ways = frame.filter(way="every pair", row=1)["column"]
    assert "posterior_probabilistic" in ways
    assert "posterior_deterministic" not in ways


def test_a_changed_statement_about_noise_differs(people: Path) -> None:
    result = qifsql.attack("crs,cas", people, qids=QIDS, secret="ill", knows=NOISY)
    path = with_sql(
        result.save(people.with_name("noisy.json")),
        lambda sql: sql.replace("SUM(best) AS most", "SUM(best) - 1 AS most"),
    )
    frame = qifsql.verify(path).frame.filter(pl.col("verdict") == "differs")
    assert set(frame["way"]) == {"SQL of the manifest"}
    assert NUMBER in frame["column"].to_list()


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_people_who_were_drawn_are_not_checked(people: Path) -> None:
    result = qifsql.attack("crs", people, qids=QIDS, knows=NOISY, draws=10)
    frame = qifsql.verify(result).frame.filter(
        ~pl.col("column").is_in(["datasets", "n_qids"]), row=1
    )
    assert frame["verdict"].unique().to_list() == ["not checked"]
    assert all("people were drawn" in reason for reason in frame["reason"])


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_a_table_of_what_is_known_is_checked_by_the_sql_alone(people: Path) -> None:
    table = people.with_name("known.csv")
    table.write_text("value,known as,probability\nf,f,0.9\nf,m,0.1\n")
    result = qifsql.attack("crs", people, qids=QIDS, knows=f"sex:table={table}")
    frame = qifsql.verify(result).frame.filter(row=1, column=NUMBER)
    assert frame.select("way", "verdict").rows() == [("SQL of the manifest", "agrees")]


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
def test_a_changed_number_differs_in_every_way(stored: Path) -> None:
    def plant(document: dict[str, Any]) -> None:
        document["results"][1][NUMBER] += 1e-9

    checked = qifsql.verify(edited(stored, plant))
    assert checked.met is False
    assert differing(checked) == {("results", 1, NUMBER)}
    rows = checked.frame.filter(pl.col("column") == NUMBER, pl.col("row") == 1, table="results")
    assert rows["verdict"].unique().to_list() == ["differs"]
    assert rows.height == 4


def test_each_number_of_a_result_is_compared(stored: Path) -> None:
    """A number of any table and column that is changed differs there, and nowhere else."""
    document = json.loads(stored.read_text("utf-8"))
    places = [
        (table, column)
        for table, rows in document.items()
        if isinstance(rows, list) and table != "notes"
        for column, value in rows[-1].items()
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and column not in ("seconds", "datasets", "n_qids", "bin", "threshold", "quantile")
    ]
    assert len(places) > 40

    def plant(document: dict[str, Any]) -> None:
        for table, column in places:
            document[table][-1][column] = document[table][-1][column] * 2 + 1

    checked = qifsql.verify(edited(stored, plant))
    assert {(table, column) for table, _, column in differing(checked)} == set(places)
    assert len(differing(checked)) == len(places)


def test_a_number_that_became_undefined_differs(stored: Path) -> None:
    def plant(document: dict[str, Any]) -> None:
        document["results"][0]["worst_case"] = None

    assert differing(qifsql.verify(edited(stored, plant))) == {("results", 0, "worst_case")}


SQL_ERRORS: Mapping[str, Callable[[str], str]] = {
    "a filter": lambda sql: re.sub(
        r"(READ_PARQUET\([^)]*\) AS source)", r"\1 WHERE source.age > 20", sql
    ),
    "another column": lambda sql: sql.replace('source."age" AS qid_1', 'source."key" AS qid_1'),
    "a key less": lambda sql: sql.replace('source."age" AS qid_1', "1 AS qid_1"),
    "a count that is one too many": lambda sql: sql.replace(
        "COUNT(*) AS blocks", "COUNT(*) + 1 AS blocks"
    ),
    "a join that drops missing values": lambda sql: sql.replace("IS NOT DISTINCT FROM", "="),
    "a text that is no SQL": lambda sql: sql.replace("GROUP BY", "GROUP"),
    "no answer": lambda _: "SELECT 1 AS secret;",
    "an empty text": lambda _: "",
}


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", SQL_ERRORS)
def test_an_error_in_the_sql_of_a_manifest_is_found(stored: Path, name: str) -> None:
    with_sql(stored, SQL_ERRORS[name])
    for sql in (True, False)[: 2 if name == "a filter" else 1]:
        checked = qifsql.verify(stored, sql=sql)
        assert checked.met is False
        wrong = checked.frame.filter(verdict="differs")
        assert wrong["way"].unique().to_list() == ["SQL of the manifest"]


@pytest.mark.slow(because="4 s; a time limit of its own")
def test_sql_of_a_manifest_that_never_ends_is_stopped(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other ways decide; this one was not taken, and says so."""
    monkeypatch.setattr("qifsql.commands.verify.pasted_sql.LEAST_SECONDS", 0.5)
    endless = "WITH RECURSIVE x AS (SELECT 1 AS i UNION ALL SELECT i FROM x) SELECT count(*) FROM x"
    with_sql(stored, lambda sql: f"{endless};{sql}")
    began = time.monotonic()
    checked = qifsql.verify(stored, sql=True)
    assert time.monotonic() - began < 20
    assert checked.met is False
    assert "was stopped: it took longer than" in str(checked.frame["reason"].to_list())


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
@pytest.mark.parametrize(
    "statement",
    [
        "COPY (SELECT 1) TO '{folder}/planted.csv';",
        "COPY (SELECT 1 AS age) TO '{folder}/people.parquet' (FORMAT PARQUET);",
        "ATTACH '{folder}/planted.db' AS kept_2;",
        "ATTACH '{folder}/people.parquet' AS kept_2;",
        "SET enable_external_access = true;",
        "INSTALL httpfs;",
        "EXPORT DATABASE '{folder}/planted';",
        "SELECT * FROM read_csv('{folder}/other.csv');",
    ],
)
def test_sql_of_a_manifest_writes_nothing_and_reads_no_other_file(
    stored: Path, statement: str
) -> None:
    (stored.parent / "other.csv").write_text(f"a\n{CANARY}\n", "utf-8")
    before = {path: path.read_bytes() for path in stored.parent.iterdir()}
    planted = statement.format(folder=stored.parent)
    with_sql(stored, lambda sql: sql + planted)
    checked = qifsql.verify(stored, sql=True)
    assert checked.met is False
    after = {path: path.read_bytes() for path in stored.parent.iterdir()}
    manifest = stored.with_name(f"{stored.name}.manifest.json")
    assert {p: c for p, c in after.items() if p != manifest} == {
        p: c for p, c in before.items() if p != manifest
    }
    assert CANARY not in checked.frame.write_csv()


def _one_too_many(success: Success) -> Success:
    return replace(success, certain=success.certain + 1)


def _modes(success: Success) -> Success:
    return replace(success, probabilistic=success.probabilistic * Fraction(999, 1000))


MEASURES: Mapping[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "individuals_certain": (bayes, "inference", _one_too_many),
    "posterior_probabilistic": (bayes, "inference", _modes),
    "singled out": (bayes, "reidentification", _one_too_many),
    "degradation_probabilistic": (bayes, "multiplicative", lambda x: 1 / x),
    "leakage_additive": (bayes, "additive", lambda x: -x),
    "min_entropy_leakage": (bayes, "min_entropy_leakage", lambda x: x * 0.693147),
    "capacity": (channel_measures, "capacity", lambda x: x + 1),
    "security": (channel_measures, "security", lambda x: x + 1),
    "posterior_guessing": (channel_measures, "owner_guessing", lambda x: x * 2),
}


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
@pytest.mark.parametrize("name", MEASURES)
def test_an_error_in_a_measure_is_found(
    people: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mistake is also in the process that verifies: no measure of qifsql is used there."""
    module, function, mistake = MEASURES[name]
    right = getattr(module, function)
    monkeypatch.setattr(module, function, lambda *a, **o: mistake(right(*a, **o)))
    two = "ill in ('yes', 'no')"
    result = qifsql.attack("crs,cas", people, qids="sex", secret="ill", measures="all", where=two)
    checked = qifsql.verify(result)
    assert checked.met is False
    assert differing(checked)


@pytest.mark.slow(because="4.9 s; every recorded mutant dies without it")
def test_data_are_found_by_their_digest(stored: Path, people: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "another folder"
    elsewhere.mkdir()
    moved = elsewhere / "it's [new].parquet"
    shutil.move(people, moved)
    with pytest.raises(InputError, match="name the file where it is now"):
        qifsql.verify(stored)
    for source in (moved, elsewhere, [moved]):
        assert qifsql.verify(stored, source).met
    beside = stored.with_name("people.parquet")
    shutil.copy(moved, elsewhere / "people.parquet")
    for name in (stored.name, f"{stored.name}.manifest.json"):
        shutil.copy(stored.with_name(name), elsewhere / name)
    assert not beside.exists()
    assert qifsql.verify(elsewhere / stored.name).met


def test_other_data_are_refused(stored: Path, people: Path) -> None:
    other = people.with_name("other.parquet")
    PEOPLE.head(11).write_parquet(other)
    with pytest.raises(InputError, match="its SHA-256 digest is not in the manifest"):
        qifsql.verify(stored, other)
    PEOPLE.reverse().write_parquet(people)
    with pytest.raises(InputError, match="has changed since risk was made"):
        qifsql.verify(stored)
    done = run("verify", stored)
    assert done.code == 2
    assert CANARY not in done.err


def test_nothing_checked_does_not_reassure(people: Path) -> None:
    result = qifsql.describe(people)
    path = result.save(people.with_name("columns.parquet"))
    done = run("verify", path, "--format", "table")
    assert done.code == 4
    assert "Nothing was checked" in done.out
    learned = qifsql.attack("cas", people, qids=QIDS, secret="ill", learn=people)
    assert qifsql.verify(learned).met is False


@pytest.mark.slow(because="3.6 s; every recorded mutant dies without it")
def test_a_sweep_is_checked_on_drawn_subsets(people: Path) -> None:
    result = qifsql.sweep(people, qids="age,sex,height,weight", secret="ill")
    checked = qifsql.verify(result, subsets=4, settings=qifsql.Settings(seed=3))
    assert checked.met
    rows = checked.frame.filter(pl.col("column") == NUMBER, table="results")
    drawn = rows["row"].unique().to_list()
    assert len(drawn) == 8  # two models each
    reasons = checked.frame.filter(pl.col("table") == "results", verdict="not checked")["reason"]
    assert reasons.unique().to_list() == ["4 of 15 subsets are drawn, and this one is not"]
    assert reasons.len() == 22
    assert set(rows["way"].to_list()) == {"SQL of the request", "SQLite"}
    path = result.save(people.with_name("sweep.json"))

    def plant(document: dict[str, Any]) -> None:
        document["results"][drawn[-1]]["k"] += 1
        document["results"][drawn[0]]["blocks"] += 1

    again = qifsql.verify(edited(path, plant), subsets=4, settings=qifsql.Settings(seed=3))
    assert differing(again) == {("results", drawn[-1], "k"), ("results", drawn[0], "blocks")}
    assert qifsql.verify(result, sql=True).met is False  # its SQL is no script


@pytest.mark.slow(because="5 s; each number of a result is compared")
def test_each_answer_of_a_sweep_is_compared(people: Path) -> None:
    """Also with a missing value, which coarsening leaves alone; a changed number is found."""
    result = qifsql.sweep(people, qids="age,sex,height,weight", secret="ill", threshold=0.5)
    checked = qifsql.verify(result, subsets=1)
    assert checked.met
    planted = set()
    for table in ("best", "drop_first", "coarsen_first", "shapley", "interactions", "borders"):
        compared = checked.frame.filter(pl.col("verdict") == "agrees", table=table)
        frame = result.details[table]
        kinds = {name: kind for name, kind in frame.schema.items() if name != "subset"}
        numbers = [name for name, kind in kinds.items() if kind.is_numeric()]
        assert compared.select("row", "column").n_unique() == frame.height * len(numbers)
        planted |= {(table, 0, numbers[0]), (table, frame.height - 1, numbers[-1])}

    def plant(document: dict[str, Any]) -> None:
        for table, row, name in planted:
            document[table][row][name] += 1

    path = result.save(people.with_name("sweep.json"))
    assert planted <= differing(qifsql.verify(edited(path, plant), subsets=1))


def test_a_sweep_of_a_collection_is_checked(samples: Path, tmp_path: Path) -> None:
    paths = [tmp_path / f"school_census_{year}.parquet" for year in (2018, 2019)]
    for path in paths:
        pl.read_parquet(samples / path.name).sort("ID_ALUNO").head(300).write_parquet(path)
    qids = "1:TP_SEXO,2:CO_ENTIDADE,1:NU_ANO"
    result = qifsql.sweep(paths, qids=qids, secret="TP_COR_RACA", key="ID_ALUNO")
    checked = qifsql.verify(result, subsets=3)
    assert checked.met
    assert {"SQL of the request", "SQLite", "request"} <= set(checked.frame["way"])
    coarser = checked.frame.filter(pl.col("way") == "SQLite", table="coarsen_first")
    assert coarser.height == 5 * result.details["coarsen_first"].height  # all but rank and before


def test_levels_are_counted_again(people: Path) -> None:
    result = qifsql.levels(people, qids="sex", secret="ill", k=3, l=2)
    checked = qifsql.verify(result)
    assert checked.met
    values = checked.frame.filter(pl.col("column") == "value", verdict="agrees")["row"]
    names = {result.frame["measure"][row] for row in values}
    assert {"k", "average_class_size", "l_distinct", "l_entropy", "alpha", "t_equal"} <= names
    assert {"basic_beta", "enhanced_beta", "delta_disclosure"} <= names
    path = result.save(people.with_name("levels.json"))

    def plant(document: dict[str, Any]) -> None:
        for row in document["results"]:
            if row["measure"] in names:
                row["value"] *= 1.001

    again = qifsql.verify(edited(path, plant))
    assert differing(again) == {("results", row, "value") for row in values}


@pytest.mark.cases(1)
@pytest.mark.parametrize("secret", ["visits", "ill"])
def test_people_are_counted_again(secret: str, people: Path) -> None:
    """Levels and attacks of people, of whom all records are known or one; some secrets are missing.

    A wrong number of either reading differs.
    """
    visits = PEOPLE.with_columns(key=pl.col("key") // 2, visits=pl.col("weight"))
    visits.write_parquet(people)
    options: dict[str, Any] = {"qids": "sex", "secret": secret, "person": "key"}
    for result in (
        qifsql.levels(people, k=2, **options),
        qifsql.attack("crs,cas", people, **options),
    ):
        checked = qifsql.verify(result)
        assert checked.met
        by_definition = checked.frame.filter(way="definition", verdict="agrees")
        rows = result.frame.with_row_index()["index"].to_list()
        assert sorted(set(by_definition["row"])) == rows
        path = result.save(people.with_name(f"{result.kind}.json"))

        def plant(document: dict[str, Any]) -> None:
            for row in document["results"]:
                row["people"] += row["known_records"] == "one"

        again = qifsql.verify(edited(path, plant))
        readings = result.frame["known_records"].to_list()
        planted = {("results", i, "people") for i, known in enumerate(readings) if known == "one"}
        assert differing(again) == planted


POLICY: dict[str, Any] = {
    "rule": [
        {"model": "crs", "measure": "k", "at_least": 2},
        {"model": "cas", "measure": "l", "at_least": 2},
        {"model": "crs,cas", "measure": "worst_case", "at_most": 0.3, "attempt": 0.2},
        {"model": "cas", "measure": "posterior_probabilistic", "at_most": 0.9},
    ]
}


@pytest.mark.cases(1)
@pytest.mark.parametrize("person", ["key", None])
def test_verdicts_and_minimal_uniques_are_counted_again(person: str | None, people: Path) -> None:
    """Some secrets are missing, and some records are suppressed; a planted number differs."""
    visits = PEOPLE.with_columns(pl.col("key") // 2, town=pl.lit("t"), sex=pl.col("ill"))
    stars = pl.when(pl.col("age") == 40).then(pl.lit("*"))
    visits.with_columns(stars.otherwise(c).alias(c) for c in ("sex", "town")).write_parquet(people)
    known = {"qids": "sex,town", "person": person}
    for result in (
        qifsql.check(people, policy=POLICY, secret="ill", **known),
        qifsql.suda(people, **known),
        qifsql.sweep(people, secret="ill", **known),
    ):
        checked = qifsql.verify(result)
        assert checked.met, result.kind
        if result.kind == "sweep":
            continue
        agreeing = checked.frame.filter(column="value", verdict="agrees", table="results")["row"]
        assert agreeing.to_list() == list(range(result.frame.height))
        path = result.save(people.with_name(f"{result.kind}.json"))

        def plant(document: dict[str, Any]) -> None:
            for row in document["results"]:
                row["value"] += 1
                row["met"] = not row.get("met")

        again = differing(qifsql.verify(edited(path, plant)))
        columns = ["value", "met"] if result.kind == "check" else ["value"]
        assert again == {("results", row, c) for row in agreeing for c in columns}


def test_a_weighted_success_between_two_bins_is_no_error(people: Path) -> None:
    """Doubles of fractional weights may round 87.5 % up or down, as the histogram documents."""
    frame = pl.DataFrame({"a": [1] * 8, "s": ["x"] * 7 + ["y"], "w": [0.1] * 8})
    frame.write_parquet(people)
    result = qifsql.attack("cas", people, qids="a", secret="s", weight="w", histogram=True)
    assert result.frame[NUMBER][0] == pytest.approx(0.875)
    checked = qifsql.verify(result)
    assert checked.met
    ways = checked.frame.filter(table="histogram")["way"].unique().to_list()
    assert ways == ["SQL of the manifest"]


def test_agreement_is_about_one_person_of_a_trillion() -> None:
    assert agree(0.1, Fraction(1, 10), NUMBER, integer=False)
    assert not agree(0.1 + 1e-12, Fraction(1, 10), NUMBER, integer=False)
    assert not agree(float(Fraction(10**11 - 1, 10**11)), Fraction(1), NUMBER, integer=False)
    assert agree(1e-17, Fraction(0), "leakage_additive", integer=False)
    assert not agree(1e-17, Fraction(0), NUMBER, integer=False)
    assert not agree(3, Fraction(4), "blocks", integer=True)
    assert agree(None, None, NUMBER, integer=False)
    assert not agree(0.0, None, NUMBER, integer=False)
    assert not agree(None, Fraction(0), NUMBER, integer=False)
    assert not agree(float("nan"), Fraction(0), NUMBER, integer=False)
    assert agree(float("inf"), float("inf"), NUMBER, integer=False)


@pytest.mark.slow(because="7.8 s; every recorded mutant dies without it")
def test_a_damaged_manifest_is_no_crash(stored: Path) -> None:
    note = stored.with_name(f"{stored.name}.manifest.json")
    whole = json.loads(note.read_text("utf-8"))
    for name in ("models", "qids", "secrets", "expressions", "null", "dataset"):
        for value in (None, ["x", 3]):
            spec = {**whole["spec"], name: value}
            note.write_text(json.dumps({**whole, "spec": spec}), "utf-8")
            done = run("verify", stored)
            assert done.code in (0, 2, 4)
            assert CANARY not in done.err


@pytest.mark.slow(because="4.0 s; every recorded mutant dies without it")
def test_the_command_line_has_the_columns_of_its_contract(stored: Path) -> None:
    done = run("verify", stored, "--format", "json")
    assert done.code == 0
    document = json.loads(done.out)
    columns = {"attack_id", "column", "stored", "recomputed", "way", "verdict"}
    assert all(columns <= row.keys() for row in document["results"])
    assert run("verify", stored, "--format", "table").out.count("agree") > 1

    def plant(document: dict[str, Any]) -> None:
        document["results"][0]["blocks"] += 1

    edited(stored, plant)
    done = run("verify", stored, "--format", "table")
    assert done.code == 4
    assert "differ" in done.out
    assert "blocks" in done.out


# Forgeries: a file is made by somebody who knows the code and the data.


def test_no_forgery_is_confirmed(people: Path) -> None:
    """Also where the request is made unfit, so that ways of checking fall away."""
    path = qifsql.attack("crs,cas", people, qids=QIDS, secret="ill").save(
        people.with_name("risk.json")
    )
    assert qifsql.verify(path).met
    for seed in range(examples(100)):
        file, done = forged(path, random.Random(seed))
        try:
            checked = qifsql.verify(file)
        except InputError:  # exit code 2
            continue
        assert checked.met is False, done
        if seed < 2:  # the command says the same
            assert run("verify", file).code == 4, done


def test_sql_that_reads_no_data_is_refused(stored: Path) -> None:
    path = qifsql.attack("crs", stored.with_name("people.parquet"), qids=QIDS).save(
        stored.with_name("risk.json")
    )
    note = path.with_name("risk.json.manifest.json")
    manifest = json.loads(note.read_text())
    reader = r"READ_PARQUET\(.*?\)"
    manifest["sql"] = re.sub(reader, "(VALUES (1))", manifest["sql"], flags=re.I | re.S)
    note.write_text(json.dumps(manifest))
    checked = qifsql.verify(path)
    assert checked.met is False
    assert "does not read all data" in " ".join(checked.frame["reason"].drop_nulls())


@pytest.mark.parametrize(
    "protection", ["", ":suppress<3", ":suppress<3+round:3", ":round:3 random"]
)
def test_tables_of_records_are_counted_again_by_all_arrays(tmp_path: Path, protection: str) -> None:
    """A changed number differs; what is drawn, or of files, is not checked, and says why."""
    data = tmp_path / "people.csv"
    data.write_text("age,sex,ill\n1,F,a\n1,F,a\n1,M,b\n2,F,a\n2,M,b\n2,M,b\n2,M,c\n")
    tables = [f"age,sex{protection}", f"sex,ill{protection}"]
    result = qifsql.tables(data, table=tables, secret="ill")
    checked = qifsql.verify(result)
    agreeing = set(checked.frame.filter(verdict="agrees")["column"])
    assert {"people", "prior", "records"} <= agreeing
    proved = {"reconstructed", "certain_inference", "cells_proved", "lowest", "highest"}
    assert proved.isdisjoint(agreeing) if "random" in protection else proved <= agreeing
    assert checked.met
    unchecked = checked.frame.filter(verdict="not checked")
    assert unchecked["reason"].null_count() == 0
    wrong = result.frame.with_columns(pl.col("prior") + 0.1)
    assert not qifsql.verify(replace(result, frame=wrong)).met
    published = tmp_path / "table.csv"
    published.write_text("age,count\n1,3\n2,4\n")
    outside = qifsql.verify(qifsql.tables(published=published))
    assert "published files are not read again" in outside.frame["reason"][0]
