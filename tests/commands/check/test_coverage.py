"""Columns that no rule covers stand beside every verdict, with whom they would single out."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from policies import PEOPLE, rule
from strategies import Table, tables, to_arrow
from terminal import run

import qifsql
from qifsql.adversary.roles import MOST_NAMED
from qifsql.commands.check import coverage
from qifsql.commands.check.junit import junit
from qifsql.commands.report.report import report
from qifsql.errors import ColumnError, InputError
from qifsql.presentation.parts import Cards, Light
from qifsql.reference.microdata import value

few = settings(max_examples=examples(6))
RULE = {"model": "crs", "measure": "worst_case", "at_most": 0.5}
NAMES = ("wealth", "height", "b>&<i", "tab\there", "column", "weight")


def policy(folder: Path, *, unnamed: str = "", rules: str = "", **adversary: object) -> Path:
    """A policy; ``unnamed`` stands above its tables."""
    lines = [f"unnamed = {json.dumps(unnamed)}"] if unnamed else []
    lines += [
        "[adversary]",
        *(f"{n} = {json.dumps(v, ensure_ascii=False)}" for n, v in adversary.items()),
    ]
    file = folder / "levels.toml"
    file.write_text("\n".join([*lines, rules or rule(model="crs", measure="blocks")]))
    return file


def alone(rows: list[dict[str, Any]], names: list[str]) -> int:
    """The people who are the only ones with their values: one person at a time."""
    return sum(n == 1 for n in Counter(tuple(value(r[n]) for n in names) for r in rows).values())


def quoted(name: str) -> str:
    """A column as it stands in an expression."""
    return '"' + name.replace('"', '""') + '"'


@st.composite
def questions(draw: st.DrawFn) -> tuple[Table, dict[str, Any]]:
    """A table, and an adversary: a key, a filter, a rule of missing values or none of them."""
    table = draw(tables())
    known: dict[str, Any] = {"qids": table.qids}
    others = [c for c in table.columns if c not in {*table.qids, *table.secrets}]
    if others and draw(st.booleans()):
        known["key"] = others[0]
    if draw(st.booleans()):
        known["where"] = f"{quoted(draw(st.sampled_from(table.columns)))} IS NOT NULL"
    known["null"] = draw(st.sampled_from(["distinct", "drop"]))
    return table, known


def kept(table: Table, known: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that an adversary looks at."""
    rows = table.rows
    if "where" in known:
        name = next(c for c in table.columns if known["where"] == f"{quoted(c)} IS NOT NULL")
        nan = table.types[name].__str__() == "double"  # in a condition NaN is missing, too
        rows = [r for r in rows if (value(r[name]) if nan else r[name]) is not None]
    if known["null"] == "drop":
        rows = [r for r in rows if all(value(r[q]) is not None for q in table.qids)]
    return rows


@few
@given(questions())
def test_every_column_has_its_role_and_the_shares_are_those_of_an_oracle(
    tmp_path_factory: pytest.TempPathFactory, question: tuple[Table, dict[str, Any]]
):
    table, known = question
    assume(all(name.strip() for name in (*table.qids, known.get("key", "x"))))  # not in a policy
    folder = tmp_path_factory.mktemp("t")
    rows = kept(table, known)
    file = folder / "t.parquet"
    pq.write_table(to_arrow(table), file)
    levels = policy(folder, **known)
    if not rows:
        with pytest.raises(InputError, match="no records"):
            qifsql.check(file, levels)
        return
    found = qifsql.check(file, levels)
    assert [c.name for c in found.columns] == table.columns
    filtered = [c for c in table.columns if known.get("where") == f"{quoted(c)} IS NOT NULL"]
    rest = [c for c in table.columns if c not in {*table.qids, known.get("key")}]
    assert list(found.not_considered) == [c for c in rest if c not in filtered]
    for column in found.columns:
        assert ("quasi-identifier" in column.roles) is (column.name in table.qids)
        assert ("key" in column.roles) is (column.name == known.get("key"))
        assert ("filter" in column.roles) is (column.name in filtered)
    before = alone(rows, table.qids)
    expected = [(None, table.qids + rest), *((c, [*table.qids, c]) for c in rest)]
    assert [
        (r["column"], r["people"], r["singled_out"], r["added"], r["share"])
        for r in found.uncovered.to_dicts()
    ] == [
        (c, len(rows), alone(rows, names), alone(rows, names) - before,
         alone(rows, names) / len(rows))
        for c, names in (expected if rest else [])
    ]  # fmt: skip


def test_people_without_weight_are_nobody_and_a_weight_counts_as_a_column(tmp_path: Path):
    file = tmp_path / "t.csv"
    file.write_text("a,b,w\n1,1,0\n1,1,1\n1,2,1\n1,2,2.5\n2,3,0\n")
    found = qifsql.check(file, policy(tmp_path, qids="a", weight="w"))
    assert values_of(found, "column", "role", "people", "singled_out") == [
        (None, None, 3, 3), ("b", "not considered", 3, 1), ("w", "weight", 3, 1),
    ]  # fmt: skip
    assert found.not_considered == ("b",)


def values_of(verdict: qifsql.Verdict, *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of what no rule covers."""
    return verdict.uncovered.select(*columns).rows()


def test_a_coarser_form_does_not_cover_the_column(tmp_path: Path):
    file = tmp_path / "t.parquet"
    pl.DataFrame({"age": [1, 2, 3, 4], "year": [1, 1, 2, 2], "b": [1, 1, 1, 1]}).write_parquet(file)
    known = {"qids": ["age:5", "half=year//2", "b"]}
    found = qifsql.check(file, policy(tmp_path, **known))
    assert {c.name: c.role for c in found.columns} == {
        "age": "quasi-identifier (only as age:5)",
        "year": "quasi-identifier (only as half)",
        "b": "quasi-identifier",
    }
    assert found.not_considered == ()
    assert values_of(found, "column", "singled_out") == [(None, 4), ("age", 4), ("year", 0)]
    assert not qifsql.check(file, policy(tmp_path, unnamed="refuse", **known)).met
    whole = {"qids": ["age:5", "age", "same=year", "b"]}
    found = qifsql.check(file, policy(tmp_path, unnamed="refuse", **whole))
    assert found.met
    assert found.uncovered.is_empty()


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_groups_and_secrets_of_any_rule_have_their_roles(tmp_path: Path):
    levels = policy(
        tmp_path,
        qids="age",
        secret=["illness", "occupation"],
        rules=rule(model="crs", by="gender", measure="gap")
        + rule(model="cas", by="id", secret="illness", measure="gap")
        + rule(model="crs", measure="blocks"),
    )
    found = qifsql.check(PEOPLE, levels)
    assert {c.name: c.role for c in found.columns} == {
        "id": "group", "age": "quasi-identifier", "gender": "group", "occupation": "secret",
        "illness": "secret",
    }  # fmt: skip
    assert found.not_considered == ()
    assert values_of(found, "column") == [(None,), ("id",), ("gender",)]
    crs = policy(tmp_path, qids="age", secret="illness")
    roles = {c.name: c.role for c in qifsql.check(PEOPLE, crs).columns}
    assert roles["illness"] == "secret (in no rule)"


def test_what_cannot_be_measured_is_listed_with_the_reason(tmp_path: Path):
    file = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1, 1], "n": [[[1]], [[2]]], "b": [1, 2]}).write_parquet(file)
    found = qifsql.check(file, policy(tmp_path, qids="a"))
    assert values_of(found, "column", "singled_out", "reason") == [
        (None, 2, None), ("n", None, "nested (LIST)"), ("b", 2, None),
    ]  # fmt: skip
    assert found.not_considered == ("n", "b")


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_a_collection_lists_the_columns_of_every_dataset(tmp_path: Path):
    for name, rows in (
        ("x", "k,a,b\n1,1,1\n2,1,2\n3,1,2\n"),
        ("y", "k,a,c\n1,1,5\n2,1,5\n9,1,5\n"),
    ):
        (tmp_path / f"{name}.csv").write_text(rows)
    levels = policy(tmp_path, rules=rule(model="crl", measure="blocks"), qids="1:a", key="k")
    found = qifsql.check([tmp_path / "x.csv", tmp_path / "y.csv"], levels)
    assert [(c.name, c.role) for c in found.columns] == [
        ("1:k", "key"), ("1:a", "quasi-identifier"), ("1:b", "not considered"), ("2:k", "key"),
        ("2:a", "not considered"), ("2:c", "not considered"),
    ]  # fmt: skip
    assert values_of(found, "column", "singled_out") == [
        (None, 3), ("1:b", 1), ("2:a", 1), ("2:c", 1),
    ]  # fmt: skip


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_a_verdict_is_true_where_the_policy_is_met(tmp_path: Path):
    for bound in (0, 10):
        levels = policy(
            tmp_path, qids="age", rules=rule(model="crs", measure="blocks", at_most=bound)
        )
        found = qifsql.check(PEOPLE, levels)
        assert bool(found) is found.met is (bound == 10)
    assert not qifsql.check(PEOPLE, policy(tmp_path, unnamed="refuse", qids="age"))


def test_a_result_is_false_where_what_is_required_of_it_does_not_hold():
    assert qifsql.compare(PEOPLE, qids="id", refines="age")
    assert not qifsql.compare(PEOPLE, qids="age", refines="id")
    assert qifsql.levels(PEOPLE, qids="age")
    assert qifsql.levels(PEOPLE, qids="gender", k=2)
    assert not qifsql.levels(PEOPLE, qids="age", k=2)
    assert qifsql.compare(PEOPLE, qids="age", change="age:50")
    assert not qifsql.compare(PEOPLE, qids="age", until="k>=11")


@pytest.mark.slow(because="0.4 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("unnamed", ["", "warn", "refuse", "ignore"])
def test_the_policy_says_what_becomes_of_columns_in_no_rule(
    tmp_path: Path, unnamed: str, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object) -> None:
        raise AssertionError("nothing is measured")

    if unnamed == "ignore":
        monkeypatch.setattr(coverage, "_measure_columns", refuse)
    levels = policy(tmp_path, unnamed=unnamed, qids=["age", "gender"])
    xml = tmp_path / "v.xml"
    done = run("check", PEOPLE, "--policy", levels, "-f", "json", "--junit", xml)
    document = json.loads(done.out)
    assert done.code == (4 if unnamed == "refuse" else 0)
    assert document["met"] is (unnamed != "refuse")
    assert document["spec"]["unnamed"] == (unnamed or "warn")
    assert document["not_considered"] == ["id", "occupation", "illness"]
    assert [c["name"] for c in document["columns"]] == [
        "id", "age", "gender", "occupation", "illness",
    ]  # fmt: skip
    numbers = {r["column"]: r["singled_out"] for r in document["uncovered"]}
    if unnamed == "ignore":
        assert numbers == {"id": None, "occupation": None, "illness": None}
        assert done.err.count("ignores") == 1
    else:
        assert numbers == {None: 10, "id": 10, "occupation": 4, "illness": 6}
        assert "10 of 10" in done.err
    (suite,) = ET.parse(xml).getroot()
    assert suite.get("tests") == ("2" if unnamed == "refuse" else "1")
    assert suite.get("failures") == ("1" if unnamed == "refuse" else "0")
    failures = [f.get("message") for f in suite.iter("failure")]
    assert failures == ["in no rule: id, occupation, illness"] * (unnamed == "refuse")
    everything = {"qids": ["id", "age", "gender", "occupation", "illness"]}
    levels = policy(tmp_path, unnamed=unnamed, **everything)
    done = run("check", PEOPLE, "--policy", levels, "-f", "json")
    assert (done.code, json.loads(done.out)["not_considered"]) == (0, [])
    assert done.err == "note: thesis_table_3_2.csv against levels.toml: met: all of 1 level\n"


def test_no_other_word_and_no_other_place_for_it(tmp_path: Path):
    with pytest.raises(InputError, match='line 1: unnamed is one of "warn", "refuse", "ignore"'):
        qifsql.check(PEOPLE, policy(tmp_path, unnamed="maybe", qids="age"))
    with pytest.raises(InputError, match="write it above all tables"):
        qifsql.check(PEOPLE, policy(tmp_path, qids="age", rules="unnamed = 'refuse'\n[[rule]]"))


@pytest.mark.slow(because="2.7 s; every recorded mutant dies without it")
@few
@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True), st.booleans())
def test_every_form_of_a_verdict_names_the_file_and_every_uncovered_column(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], met: bool
):
    folder = tmp_path_factory.mktemp("t")
    file = folder / "people.parquet"
    data = {"age": [1, 1, 2], **{name: [1, 2, 3] for name in names}}
    pl.DataFrame(data).write_parquet(file)
    bound = rule(model="crs", measure="blocks", at_most=2 if met else 1)
    levels = policy(folder, qids="age", rules=bound)
    result = qifsql.check(file, levels)
    shown = {name: run("check", file, "--policy", levels, "-f", name) for name in FORMS}
    texts = {name: done.out + done.err for name, done in shown.items()}
    texts["junit"] = "".join(ET.fromstring(junit(result)).itertext()) + str(
        [e.attrib for e in ET.fromstring(junit(result)).iter()]
    )
    for ending in ("parquet", "json"):
        stored = folder / f"verdict.{ending}"
        assert run("check", file, "--policy", levels, "-o", stored).code == (0 if met else 4)
        for page in ("html", "md"):
            document = report(stored, folder / f"r.{page}")
            (light,) = (p for p in document.sections[0].parts if isinstance(p, Light))
            assert light.met is met
            assert light.caveats
            assert "met for the columns named" in light.text or not met
            texts[f"{ending} {page}"] = f"{light.text} {light.caveats}"
            text = (folder / f"r.{page}").read_text()
            assert ("light met" in text, "light qualified" in text) == (
                False,
                met and page == "html",
            )
    for text in texts.values():
        assert "people.parquet" in text
        for name in names:
            plain = name.replace("\t", "\N{REPLACEMENT CHARACTER}")
            escaped = json.dumps(name)[1:-1]
            marked = "".join(f"\\{c}" if c in "<>&_" else c for c in plain)
            assert any(form in text for form in (plain, escaped, marked)), (name, text)


FORMS = ("table", "json", "csv", "markdown")


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_a_report_is_green_only_where_every_column_is_in_a_rule(tmp_path: Path):
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,1\n1,2\n")
    stored, page = tmp_path / "v.parquet", tmp_path / "r.html"
    for known, green in ((["a", "b"], True), (["a"], False)):
        run("check", file, "--policy", policy(tmp_path, qids=known), "-o", stored)
        report(stored, page)
        assert ('class="light met"' in page.read_text()) is green
    note = json.loads(pl.read_parquet_metadata(stored)["qifsql"])
    del note["columns"]  # as a version before wrote it
    pl.read_parquet(stored).write_parquet(stored, metadata={"qifsql": json.dumps(note)})
    (tmp_path / "v.uncovered.parquet").unlink()
    report(stored, page)
    assert 'class="light met"' not in page.read_text()
    assert "does not say which other columns" in page.read_text()


def test_of_very_many_columns_some_are_named_and_all_are_listed(tmp_path: Path):
    file = tmp_path / "t.parquet"
    names = [f"column_{i:03d}_" for i in range(MOST_NAMED + 30)]
    pl.DataFrame({"a": [1, 1], **{n: [1, 1] for n in names}}).write_parquet(file)
    stored, page = tmp_path / "v.parquet", tmp_path / "r.html"
    levels = policy(tmp_path, qids="a")
    done = run("check", file, "--policy", levels, "-o", stored)
    assert "and 30 more" in done.err
    assert sum(n in done.err for n in names) == MOST_NAMED
    shown = run("check", file, "--policy", levels).out
    table = shown[shown.index("Columns of") :]
    assert sum(n in table for n in names) == MOST_NAMED
    assert "30 columns that single out fewer people are not shown here" in table
    document = json.loads(run("check", file, "--policy", levels, "-f", "json").out)
    assert document["not_considered"] == names
    report(stored, page)
    assert all(n in page.read_text() for n in names)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "command",
    [
        ("attack", "crs"),
        ("sweep",),
        ("levels",),
        ("check", "--preset", "wp216", "--questions"),
        ("compare", "--change", "drop=gender"),
        ("inspect",),
    ],
)
def test_manifests_list_every_column_with_its_role(tmp_path: Path, command: tuple[str, ...]):
    out = tmp_path / "r.parquet"
    name, *more = command
    model = [more.pop(0)] if more and not more[0].startswith("-") else []
    secret = ["-s", "illness"] if name in ("levels", "check", "compare") else []
    done = run(name, *model, PEOPLE, "-q", "age,gender", *secret, *more, "-o", out)
    assert done.code == 0, done.err
    note = json.loads(pl.read_parquet_metadata(out)["qifsql"])
    assert [c["name"] for c in note["columns"]] == ["id", "age", "gender", "occupation", "illness"]
    roles = {c["name"]: c["role"] for c in note["columns"]}
    assert roles["age"] == roles["gender"] == "quasi-identifier"
    assert roles["id"] == roles["occupation"] == "not considered"
    assert roles["illness"] == ("secret" if secret else "not considered")
    if name in ("attack", "check"):
        document = report(out, tmp_path / "r.html")
        told = [line for p in document.sections[0].parts for line in getattr(p, "lines", ())]
        assert any("not considered by any result" in text for text in told)


@pytest.mark.slow(because="2.4 s; every recorded mutant dies without it")
def test_a_report_sums_up_the_risk_from_whatever_measured_it(tmp_path: Path):
    known = ("-q", "age,gender", "-s", "illness")
    run("compare", PEOPLE, coarser(tmp_path), *known, "-o", tmp_path / "compared.parquet")
    asked = ("check", "--preset", "wp216", "--questions")
    run(*asked, PEOPLE, *known, "-o", tmp_path / "three.parquet")
    levels = policy(tmp_path, qids=["age", "gender"])
    run("check", PEOPLE, "--policy", levels, "-o", tmp_path / "verdict.parquet")
    results = [tmp_path / f"{name}.parquet" for name in ("compared", "three", "verdict")]
    crs = qifsql.attack("crs", PEOPLE, qids=["age", "gender"]).rows()[0]
    share = f"{round(100 * crs['posterior_deterministic'])} of every 100"
    for chosen in ([results[0]], [results[1]], results):
        summed = report(chosen, tmp_path / "r.html").sections[0].parts
        texts = [p.text for p in summed if hasattr(p, "text")]
        assert not any("no risk is summed up" in text for text in texts)
        assert any(share in text for text in texts)
        cards = [card.what for p in summed if isinstance(p, Cards) for card in p.cards]
        assert any("Re-identification" in what for what in cards)
        assert any("illness" in what for what in cards)
        if results[0] in chosen:
            assert any("coarser.csv" in what for what in cards)
        if results[2] in chosen:
            (light,) = (p for p in summed if isinstance(p, Light))
            assert light.text.endswith("(thesis_table_3_2.csv against levels.toml)")


def coarser(folder: Path) -> Path:
    """The sample with ages in steps of fifty."""
    file = folder / "coarser.csv"
    pl.read_csv(PEOPLE).with_columns(pl.col("age") // 50 * 50).write_csv(file)
    return file


def test_a_release_without_the_quasi_identifiers_of_its_population_is_listed(tmp_path: Path):
    file, everybody = tmp_path / "t.csv", tmp_path / "all.csv"
    file.write_text("k,x\n1,1\n2,2\n")
    everybody.write_text("k,a\n1,1\n2,1\n3,2\n")
    rules = rule(model="cml", measure="worst_case")
    levels = policy(tmp_path, rules=rules, qids="a", key="k", population=str(everybody))
    found = qifsql.check(file, levels)
    assert [(c.name, c.role) for c in found.columns] == [("k", "key"), ("x", "not considered")]
    assert found.not_considered == ("x",)
    assert values_of(found, "column", "singled_out") == [("x", None)]
    with pytest.raises(ColumnError):
        qifsql.check(file, policy(tmp_path, qids="a"))


def test_results_about_several_files_list_the_columns_of_each(tmp_path: Path):
    later = coarser(tmp_path)
    for command, roles in (
        (("compare", PEOPLE, later, "-q", "age"), ("quasi-identifier", "not considered")),
        (("attack", "crl", PEOPLE, later, "-q", "2:age", "--link", "gender"),
         ("not considered", "link")),
    ):  # fmt: skip
        out = tmp_path / "r.parquet"
        done = run(*command, "-o", out)
        assert done.code == 0, done.err
        listed = json.loads(pl.read_parquet_metadata(out)["qifsql"])["columns"]
        names = ["id", "age", "gender", "occupation", "illness"]
        assert [c["name"] for c in listed] == [f"{n}:{name}" for n in (1, 2) for name in names]
        assert (listed[1]["role"], listed[2]["role"]) == roles
        assert listed[6]["role"] == "quasi-identifier"


def test_a_study_says_what_its_checks_do_not_cover(tmp_path: Path):
    study = tmp_path / "study.toml"
    study.write_text(
        f'[datasets.people]\npath = "{PEOPLE}"\nqids = ["age"]\n'
        '[[check]]\nname = "ours"\ndataset = "people"\nunnamed = "refuse"\n'
        '[[check.rule]]\nmodel = "crs"\nmeasure = "blocks"\nat_least = 0\n'
    )
    for _ in range(2):  # made, then kept
        result = qifsql.run(study)
        verdict = result.results["ours"]
        assert isinstance(verdict, qifsql.Verdict)
        assert not result.met
        assert verdict.not_considered == ("id", "gender", "occupation", "illness")
        assert verdict.uncovered["singled_out"].to_list() == [10, 10, 2, 4, 1]
        assert any("not considered by the rules" in note for note in result.notes)


@pytest.mark.slow(because="3.1 s; every recorded mutant dies without it")
def test_a_release_that_keeps_a_recoding_of_what_was_generalised_is_not_called_safe(
    tmp_path: Path, shared: Path
):
    file = shared / "data" / "compas_two_years.parquet"
    if not file.is_file():
        pytest.skip("compas_two_years.parquet is not there")
    out = tmp_path / "k11.parquet"
    known = ["sex", "age", "race", "c_charge_degree", "priors_count"]
    done = qifsql.anonymise(
        file, out, method="mondrian", k=11, l=2, qids=known, secret="is_recid",
        drop=["c_charge_desc", "c_days_from_compas"],
    )  # fmt: skip
    assert any("age_cat" in note and "two_year_recid" in note for note in done.notes)
    both = rule(model="crs", measure="posterior_probabilistic", at_most=0.09)
    both += rule(model="cas", measure="individuals_certain", at_most=0)
    found = qifsql.check(out, policy(tmp_path, qids=known, secret="is_recid", rules=both))
    assert found.met
    assert found.summary == "met for the columns named: all of 2 levels"
    rows = {r["column"]: r for r in found.uncovered.to_dicts()}
    assert rows[None]["singled_out"] > 2335
    assert rows["age_cat"]["added"] >= 0
    plausible = [
        *("age_cat", "juv_fel_count", "juv_misd_count", "juv_other_count"),
        "days_b_screening_arrest",
    ]
    attacked = qifsql.attack("crs", out, qids=[*known, *plausible]).rows()[0]
    assert attacked["singled_out"] <= rows[None]["singled_out"]
    assert set(plausible) <= set(found.not_considered)


@pytest.mark.parametrize("null", ["distinct", "drop"])
def test_columns_counted_together_single_out_whom_each_does(
    null: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = ["x", "y", None, "x", "x", "z"]
    columns = {"q": [1, 1, 2, 2, None, 3], "a": cells, "b": cells[::-1], "c": [1, 2, 3, 3, 3, 3]}
    rules = {"adversary": {"qids": ["q"], "null": null}, "rule": [RULE]}
    together = qifsql.check(pl.DataFrame(columns), rules).details["uncovered"]
    monkeypatch.setattr(coverage, "FEW_PEOPLE", 0)
    assert qifsql.check(pl.DataFrame(columns), rules).details["uncovered"].equals(together)
    assert together["singled_out"].n_unique() > 1
