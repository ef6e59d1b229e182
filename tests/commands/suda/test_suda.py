"""Minimal sample uniques and SUDA: the definitions, published examples, other programs."""

import csv
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import factorial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from places import SAMPLES
from strategies import Table, tables, to_arrow
from terminal import run

import qifsql
from qifsql.commands.suda import minimal_uniques
from qifsql.commands.suda.suda import BY_DIS_SUDA, BY_QID, BY_SET, BY_SIZE, BY_VALUE, GROUPS, SUDA
from qifsql.errors import ColumnError, DatasetError, InputError
from qifsql.reference import people_with_records
from qifsql.reference import sample_uniques as oracle

CENSUS = str(SAMPLES / "school_census_2018.parquet")
QIDS = "NU_ANO,TP_SEXO,TP_COR_RACA,CO_ENTIDADE"
FRACTIONS = st.fractions(Fraction(1, 200), 1, max_denominator=200)


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[str], list[dict[str, Any]]]:
    """1 to 5 attributes and 1 to 14 records, with missing values, duplicates and constants."""
    qids = [f"a{i}" for i in range(draw(st.integers(1, 5)))]
    pools = {
        q: draw(st.sampled_from([(0, 1), (None, 0, 1, 2), (7,), (None,), (0, 1, 2)])) for q in qids
    }
    cells = st.fixed_dictionaries({q: st.sampled_from(pools[q]) for q in qids})
    return qids, draw(st.lists(cells, min_size=1, max_size=14))


def arrow(qids: list[str], rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, pa.schema([(q, pa.int64()) for q in qids]))


def check(result: Any, path: Path, records: list[dict[str, Any]], **asked: Any) -> None:
    """Hold everything of a result against the definitions."""
    qids, most, fraction = asked["qids"], asked["most"], asked["fraction"]
    n = len(qids)
    msus = oracle.minimal_uniques(records, qids, most, omit_missing=asked["omit_missing"])
    scores = [oracle.score(mine, n, most) for mine in msus]
    chances = oracle.dis_suda(scores, records, qids, fraction)
    rows = pl.read_parquet(path).to_dicts()
    assert [row["record"] for row in rows] == list(range(len(records)))
    assert [row["msus"] for row in rows] == [len(mine) for mine in msus]
    assert [row["score"] for row in rows] == scores
    assert [row["smallest"] for row in rows] == [min(map(len, m), default=None) for m in msus]
    assert [row["dis_suda"] for row in rows] == pytest.approx(chances, rel=1e-12)
    values = dict(result.frame.iter_rows())
    dis = oracle.intrusion(records, qids, fraction)
    assert values["dis"] == (None if dis is None else pytest.approx(float(dis), rel=1e-15))
    assert values["msus"] == sum(map(len, msus))
    assert values["records_with_msu"] == sum(map(bool, msus))
    assert values["special_uniques"] == sum(any(len(s) < n for s in mine) for mine in msus)
    assert values["mean_dis_suda"] == pytest.approx(sum(chances) / len(chances), abs=1e-12)
    assert values["highest_dis_suda"] == pytest.approx(max(chances), rel=1e-12)
    shares = oracle.contributions(msus, qids, most)
    by_qid = result.details["by_qid"]
    assert dict(zip(by_qid["qid"], by_qid["contribution"], strict=True)) == {
        q: None if share is None else pytest.approx(float(share), rel=1e-15)
        for q, share in shares.items()
    }
    by_set = {frozenset(row["qids"]): row["msus"] for row in result.details["by_set"].to_dicts()}
    sets = {s for mine in msus for s in mine}
    assert by_set == {s: sum(s in mine for mine in msus) for s in sets}
    by_size = {row["size"]: row["msus"] for row in result.details["by_size"].to_dicts()}
    sizes = [len(s) for mine in msus for s in mine]
    assert by_size == {size: sizes.count(size) for size in set(sizes)}
    assert result.details["by_dis_suda"]["individuals"].sum() == len(records)
    if "by_value" in result.details:
        _check_values(result.details["by_value"], records, msus, qids=qids, most=most)


def _check_values(
    by_value: pl.DataFrame,
    records: list[dict[str, Any]],
    msus: list[set[frozenset[str]]],
    *,
    qids: list[str],
    most: int,
) -> None:
    n = len(qids)
    total = sum(oracle.score(mine, n, most) for mine in msus)
    wanted = {}
    for q in qids:
        for value in {record[q] for record in records}:
            having = [i for i, record in enumerate(records) if record[q] == value]
            holding = [{s for s in msus[i] if q in s} for i in having]
            if any(holding):
                share = sum(oracle.score(mine, n, most) for mine in holding) / total
                text = None if value is None else str(value)
                row = (len(having), sum(map(bool, holding)), sum(map(len, holding)))
                wanted[q, text] = (*row, pytest.approx(float(share), rel=1e-15))
    found = {(row[0], row[1]): row[2:] for row in by_value.iter_rows()}
    assert found == wanted


@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(releases(), st.data())
def test_every_number_is_that_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory,
    release: tuple[list[str], list[dict[str, Any]]],
    data: st.DataObject,
):
    qids, records = release
    most, omit_missing = data.draw(st.integers(1, 5)), data.draw(st.booleans())
    fraction, chunk = data.draw(FRACTIONS), data.draw(st.sampled_from((1, 3, 10**6)))
    out = tmp_path_factory.mktemp("suda") / "records.parquet"
    asked: dict[str, Any] = {"qids": qids, "fraction": fraction, "omit_missing": omit_missing}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minimal_uniques, "CHUNK_ROWS", chunk)
        patch.setattr(minimal_uniques, "COMPARED_SUBSETS", chunk)
        result = qifsql.suda(arrow(qids, records), **asked, max_size=most, values=True, records=out)
    check(result, out, records, **asked, most=min(most, len(qids)))


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(releases(), st.integers(1, 5), FRACTIONS)
def test_families_of_subsets_have_the_numbers_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory,
    release: tuple[list[str], list[dict[str, Any]]],
    most: int,
    fraction: Fraction,
):
    """More quasi-identifiers than a number has bits for are searched size after size."""
    qids, records = release
    out = tmp_path_factory.mktemp("suda") / "records.parquet"
    asked: dict[str, Any] = {"qids": qids, "fraction": fraction, "omit_missing": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minimal_uniques, "MOST_QIDS", 0)
        result = qifsql.suda(arrow(qids, records), **asked, max_size=most, records=out)
    check(result, out, records, **asked, most=min(most, len(qids)))


def test_many_attributes_are_searched_up_to_a_size(tmp_path: Path):
    """DIS-SUDA is undefined from 28 on; what is not searched so, and too many subsets, are not."""
    rows = [tuple((i * (j + 3) + j) % 7 for j in range(28)) for i in range(20)]
    result, records = measured(rows, tmp_path, max_size=2)
    names = [f"c{i}" for i in range(28)]
    people = [dict(zip(names, row, strict=True)) for row in rows]
    pairs = [_unique_pairs(person, people, names) for person in people]
    assert [row["msus"] for row in records] == pairs
    assert result.frame.filter(pl.col("measure") == "mean_dis_suda")["value"].to_list() == [None]
    assert {row["dis_suda"] for row in records} == {None}
    with_values = {"max_size": 2, "values": True}
    for options in (with_values, {"max_size": 12}, {}):
        says = "not searched with values" if options is with_values else "max_size=2"
        with pytest.raises(InputError, match=says):
            measured(rows, tmp_path, **options)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_names_types_and_missing_values_of_any_table(table: Table):
    result = qifsql.suda(to_arrow(table), qids=table.qids)
    msus = oracle.minimal_uniques(table.rows, table.qids, len(table.qids))
    assert dict(result.frame.iter_rows())["msus"] == sum(map(len, msus))
    by_set = {frozenset(row["qids"]): row["msus"] for row in result.details["by_set"].to_dicts()}
    assert by_set == {s: sum(s in mine for mine in msus) for mine in msus for s in mine}


@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(releases(), st.data())
def test_people_with_several_records_are_those_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory,
    release: tuple[list[str], list[dict[str, Any]]],
    data: st.DataObject,
):
    """People of one to six records, some without a name; a filter may leave records out."""
    qids, records = release
    people = st.sampled_from((None, "x", "y", "z"))
    records = [record | {"who": data.draw(people)} for record in records]
    kept = [record for record in records if record[qids[0]] is not None or len(qids) == 1]
    assume(kept)
    most, fraction = data.draw(st.integers(1, 5)), data.draw(FRACTIONS)
    chunk = data.draw(st.sampled_from((1, 3, 10**6)))
    out = tmp_path_factory.mktemp("suda") / "records.parquet"
    table = arrow(qids, records).append_column("who", pa.array([r["who"] for r in records]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minimal_uniques, "CHUNK_ROWS", chunk)
        patch.setattr(minimal_uniques, "COMPARED_SUBSETS", chunk)
        result = qifsql.suda(
            table, qids=qids, person="who", fraction=fraction, max_size=most, records=out,
            where="true" if len(qids) == 1 else f"{qids[0]} IS NOT NULL",
        )  # fmt: skip
    n, most = len(qids), min(most, len(qids))
    msus = oracle.minimal_uniques_of_people(kept, "who", qids, most)
    scores = [oracle.score(sets, n, most) for sets in msus]
    chances = oracle.dis_suda(scores, kept, qids, fraction, "who")
    values = {row["measure"]: row["value"] for row in result.rows()}
    alone, paired = oracle.alone_and_paired(kept, qids, "who")
    dis = oracle.intrusion(kept, qids, fraction, "who")
    assert (values["records"], values["people"]) == (len(kept), len(msus))
    assert (values["uniques"], values["paired"]) == (alone, paired)
    assert values["people_with_msu"] == sum(map(bool, msus))
    assert values["special_uniques"] == sum(any(len(s) < n for s in sets) for sets in msus)
    assert values["dis"] == (None if dis is None else pytest.approx(float(dis), rel=1e-15))
    assert values["mean_dis_suda"] == pytest.approx(sum(chances) / len(chances), abs=1e-12)
    by_set = {frozenset(row["qids"]): row["msus"] for row in result.details["by_set"].to_dicts()}
    assert by_set == Counter(s for sets in msus for s in sets)
    owners = {
        id(record): place
        for place, owned in enumerate(people_with_records.records_of(kept, "who"))
        for record in owned
    }
    rows = pl.read_parquet(out).to_dicts()
    assert [records[row["record"]] for row in rows] == kept
    assert [row["score"] for row in rows] == [scores[owners[id(record)]] for record in kept]
    assert [row["msus"] for row in rows] == [len(msus[owners[id(record)]]) for record in kept]


@settings(max_examples=examples(20), deadline=None)
@given(releases(), st.data())
def test_the_score_of_a_person_is_not_below_that_of_her_records(
    release: tuple[list[str], list[dict[str, Any]]], data: st.DataObject
):
    """With one record each, people are records; with several, each record alone scores less."""
    qids, records = release
    n = len(qids)
    named = [record | {"who": i} for i, record in enumerate(records)]
    plain = oracle.minimal_uniques(records, qids, n)
    assert oracle.minimal_uniques_of_people(named, "who", qids, n) == plain
    people = [data.draw(st.integers(0, 3)) for _ in records]
    named = [record | {"who": who} for record, who in zip(records, people, strict=True)]
    owned = people_with_records.records_of(named, "who")
    every = oracle.minimal_uniques_of_people(named, "who", qids, n)
    for hers, sets in zip(owned, every, strict=True):
        others = [record for record in named if record["who"] != hers[0]["who"]]
        for record in hers:
            single = oracle.minimal_uniques([record, *others], qids, n)[0]
            assert oracle.score(sets, n, n) >= oracle.score(single, n, n)


def measured(rows: list[tuple[Any, ...]], tmp_path: Path, **options: Any) -> tuple[Any, Any]:
    """Return the result of records as tuples, and the rows of the records."""
    names = [f"c{i}" for i in range(len(rows[0]))]
    table = pl.DataFrame(rows, schema=names, orient="row")
    out = tmp_path / "records.parquet"
    result = qifsql.suda(table, qids=names, records=out, **options)
    return result, pl.read_parquet(out).to_dicts()


# Examples of sdcMicro's tests and documentation

BOOK = [  # Templ, Statistical Disclosure Control for Microdata, 2017
    *[("20s", "male", "50k+", "highschool")] * 2,
    *[("20s", "male", "50k-", "highschool")] * 2,
    ("20s", "female", "50k-", "university"),
    ("20s", "female", "50k-", "highschool"),
    ("20s", "female", "50k-", "middleschool"),
    ("60s", "male", "50k-", "university"),
]
GUIDELINE = [  # the example of the guidelines of the IHSN
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Primary incomplete", "Non-LF"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Rural", "Female", "Secondary complete", "Unemployed"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Urban", "Female", "Primary complete", "Non-LF"),
    ("Urban", "Male", "Post-secondary", "Unemployed"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
]


def test_the_scores_of_sdcmicro_s_examples(tmp_path: Path):
    _, rows = measured(BOOK, tmp_path)
    assert [row["score"] for row in rows][4:] == [4, 2, 6, 8]
    _, rows = measured(GUIDELINE, tmp_path)
    assert [row["score"] for row in rows] == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def test_the_contributions_of_sdcmicro_s_example(tmp_path: Path):
    result, _ = measured([(2, 0, 0), (1, 3, 6), (1, 0, 0)], tmp_path)
    assert result.details["by_qid"]["contribution"].to_list() == [0.5, 0.375, 0.375]


def test_an_example_by_hand(tmp_path: Path):
    """The last is alone by c0; the third by c1 and c2 together; the first two are alike."""
    rows = [
        ("a", 1, "x"),
        ("a", 1, "x"),
        ("a", 2, "x"),
        ("a", 2, "y"),
        ("a", 1, "y"),
        ("b", 2, "y"),
    ]
    result, records = measured(rows, tmp_path, fraction="1/2")
    # c1 = 2 and c2 = x: the third alone. c1 = 1 and c2 = y: the fifth alone. c0, c1, c2 = a, 2, y:
    # the fourth, whose parts others share: (a, 2) the third, (a, y) the fifth, (2, y) the last.
    assert [row["msus"] for row in records] == [0, 0, 1, 1, 1, 1]
    assert [row["smallest"] for row in records] == [None, None, 2, 3, 2, 1]
    assert [row["score"] for row in records] == [0, 0, 1, 1, 1, 2]  # (3 - m)!
    assert result.details["by_set"].select("qids", "msus").rows() == [
        (["c0"], 1), (["c1", "c2"], 2), (["c0", "c1", "c2"], 1),
    ]  # fmt: skip
    values = dict(result.frame.iter_rows())
    assert values["dis"] == pytest.approx(4 / 6)  # four alone, two in a block of two, f = 1/2
    power = 1 + 5 / 20
    spread = 3 + 2**-power
    assert [row["dis_suda"] for row in records][2:] == pytest.approx(
        [1 / (1 + 2 / spread)] * 3 + [1 / (1 + 2 / (2**power * spread))]
    )


def test_the_largest_size_cuts_the_product_of_a_score(tmp_path: Path):
    """A size of 1 of five attributes: 4!; with M = 2 it is 4 times 3."""
    rows = [(0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (1, 0, 0, 0, 0)]
    for most, score in ((None, 24), (3, 24), (2, 12), (1, 4)):
        _, records = measured(rows, tmp_path, max_size=most)
        assert [row["score"] for row in records] == [0, 0, score]


# Known differences of other programs


def test_the_pypi_package_counts_sets_that_are_not_minimal(tmp_path: Path):
    """suda 0.2.2 scores every unique subset: 1! for a, 0! for a and b, 2 instead of 1."""
    result, records = measured([(1, 1), (0, 1), (0, 1)], tmp_path)
    assert [row["score"] for row in records] == [1, 0, 0]
    assert result.details["by_set"]["qids"].to_list() == [["c0"]]


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_missing_values_are_values_or_left_out_as_in_sdcmicro(tmp_path: Path):
    """The first is alone by its missing value; without it, by nothing: 1 is shared."""
    rows = [(None, 1), (0, 1), (0, 2), (0, 2)]
    _, ours = measured(rows, tmp_path)
    assert [row["msus"] for row in ours] == [1, 1, 0, 0]  # c0 missing; c0 = 0 with c1 = 1
    _, theirs = measured(rows, tmp_path, omit_missing=True)
    assert [row["msus"] for row in theirs] == [0, 1, 0, 0]
    _, complete = measured(rows, tmp_path, null="drop")
    assert [row["record"] for row in complete] == [1, 2, 3]
    assert [row["msus"] for row in complete] == [
        1,
        0,
        0,
    ]  # c1 = 1 alone, now that the first is gone


def test_uniques_whose_hashes_meet_are_counted(tmp_path: Path):
    """sdcMicro adds codes, each times a power of two, modulo 2^16; 2, 0 and 0, 4 meet there."""
    result, _ = measured([(2, 0, 0), (0, 4, 0)], tmp_path)
    values = dict(result.frame.iter_rows())
    assert (values["uniques"], values["paired"]) == (2, 0)


# Options, and the command line


def test_one_record_is_singled_out_by_each_attribute(tmp_path: Path):
    result, records = measured([(1, None, 2)], tmp_path)
    assert records[0]["msus"] == 3
    assert "one record" in result.notes[-1]
    assert records[0]["dis_suda"] == 1


def test_all_alike_have_no_scores(tmp_path: Path):
    result, records = measured([(1, 2)] * 3, tmp_path)
    assert [row["dis_suda"] for row in records] == [0.0] * 3
    assert dict(result.frame.iter_rows())["dis"] is None
    assert result.details["by_qid"]["contribution"].to_list() == [None, None]
    assert "minimal sample unique" in str(result)


@pytest.mark.slow(because="0.5 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_as_many_streams_work_as_there_are_threads(threads: int, monkeypatch: pytest.MonkeyPatch):
    seen: list[int] = []
    work = minimal_uniques.MinimalUniques._work

    def counted(self: minimal_uniques.MinimalUniques, walkers: Any, *stage: Any) -> None:
        seen.append(len(walkers))
        work(self, walkers, *stage)

    monkeypatch.setattr(minimal_uniques.MinimalUniques, "_work", counted)
    limits = qifsql.Settings(threads=threads, memory="1GB")
    qifsql.suda(CENSUS, qids=QIDS, settings=limits)
    assert set(seen) == {threads}


def test_groups_keys_filters_and_expressions(tmp_path: Path):
    out = tmp_path / "scores.csv"
    done = run(
        *("suda", CENSUS, "-q", "NU_ANO,TP_SEXO,school=CO_ENTIDADE//10", "--by", "TP_COR_RACA"),
        *("--where", "NU_ANO < 2012", "--key", "ID_ALUNO", "--records", str(out), "-f", "json"),
        *("-o", str(tmp_path / "result.parquet")),
    )
    assert done.code == 0, done.err
    with out.open() as file:
        rows = list(csv.DictReader(file))
    groups = pl.read_parquet(tmp_path / "result.groups.parquet")
    frame = dict(pl.read_parquet(tmp_path / "result.parquet").iter_rows())
    assert groups["records"].sum() == frame["records"] == len(rows)
    assert groups["records_with_msu"].sum() == frame["records_with_msu"]
    assert groups["msus"].sum() == frame["msus"] == sum(int(row["msus"]) for row in rows)
    assert groups["contribution"].sum() == pytest.approx(1)
    census = pl.read_parquet(CENSUS).with_row_index().filter(pl.col("NU_ANO") < 2012)
    assert [int(row["record"]) for row in rows] == census["index"].to_list()
    assert [row["ID_ALUNO"] for row in rows] == [str(key) for key in census["ID_ALUNO"]]


def test_result_columns_are_those_declared():
    result = qifsql.suda(CENSUS, qids=QIDS, max_size=2, values=True, by="TP_SEXO")
    declared = {
        "by_size": BY_SIZE, "by_set": BY_SET, "by_qid": BY_QID, "by_value": BY_VALUE,
        "groups": GROUPS, "by_dis_suda": BY_DIS_SUDA,
    }  # fmt: skip
    assert dict(result.frame.schema) == SUDA
    assert {name: dict(table.schema) for name, table in result.details.items()} == declared
    assert list(result.chart("contributions").to_dict())
    assert list(result.chart("sizes").to_dict())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_size": 0}, "at least 1"),
        ({"max_size": True}, "at least 1"),
        ({"fraction": 0}, "a fraction is a number above 0 up to 1"),
        ({"fraction": "2"}, "a fraction is a number above 0 up to 1"),
        ({"key": "ID_ALUNO"}, "name one with records=..."),
        ({"qids": [f"x{i}=NU_ANO+{i}" for i in range(21)]}, "at most 20"),
    ],
)
def test_what_has_no_meaning_is_refused(options: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        qifsql.suda(CENSUS, **({"qids": QIDS} | options))


def test_a_study_runs_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(BOOK, schema=["a", "b", "c", "d"], orient="row").write_parquet("book.parquet")
    Path("study.toml").write_text(
        '[datasets.book]\npath = "book.parquet"\nqids = ["a", "b", "c"]\nsecret = "d"\n'
        '[[suda]]\nname = "special"\nmax_size = 2\nfraction = 0.1\nby = "d"\n'
    )
    result = qifsql.run("study.toml")
    alone = qifsql.suda("book.parquet", qids="a,b,c", max_size=2, fraction=0.1, by="d")
    assert result.details["suda"].drop("name").equals(alone.frame)
    assert result.results["special"].details["groups"].equals(alone.details["groups"])
    again = qifsql.run("study.toml")
    assert again.details["entries"]["state"].to_list() == ["unchanged"]
    Path("study.toml").write_text(
        '[datasets.book]\npath = "book.parquet"\nqids = ["a", "b"]\nperson = "c"\n'
        '[[suda]]\nname = "special"\n'
    )
    people = qifsql.run("study.toml").details["suda"].drop("name")
    assert people.equals(qifsql.suda("book.parquet", qids="a,b", person="c").frame)
    Path("study.toml").write_text(
        '[datasets.book]\npath = "book.parquet"\nqids = ["a"]\nweight = "1"\n'
        '[[suda]]\nname = "special"\n'
    )
    with pytest.raises(InputError, match="suda counts every record once"):
        qifsql.run("study.toml")


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_a_household_survey_subset_by_subset(tmp_path: Path, shared: Path):
    """The survey of sdcMicro: 4,580 records, seven attributes."""
    survey = shared / "data" / "sdc_testdata.parquet"
    qids = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    out = tmp_path / "scores.parquet"
    qifsql.suda(survey, qids=qids, records=out)
    people = duckdb.read_parquet(str(survey)).project(", ".join(qids)).fetchall()
    unique: list[list[int]] = [[] for _ in people]
    for size in range(1, len(qids) + 1):
        for places in combinations(range(len(qids)), size):
            keys = [tuple(person[i] for i in places) for person in people]
            times, mask = Counter(keys), sum(1 << i for i in places)
            for i, key in enumerate(keys):
                if times[key] == 1 and not any(s & mask == s for s in unique[i]):
                    unique[i].append(mask)
    scores = pl.read_parquet(out)
    assert scores["msus"].to_list() == [len(sets) for sets in unique]
    assert scores["score"].to_list() == [
        sum(factorial(7 - s.bit_count()) for s in sets) for sets in unique
    ]
    assert scores["score"].sum() > 0


def test_wrong_files_and_columns_give_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    hostile = tmp_path / "hostile.csv"
    hostile.write_text('"a""b;--",<script>\n1,2\n1,3\n')
    done = run("suda", "hostile.csv", "-q", '"a""b;--",<script>', "--values")
    assert done.code == 0, done.err
    for argv in (
        ("suda", "hostile.csv", "-q", "nobody"),
        ("suda", "hostile.csv", "-q", "<script>", "--where", "<script> > 5"),
        ("suda", "hostile.csv", "-q", "<script>", "--weight", "<script>"),
        ("suda", "hostile.csv", "-q", "<script>", "--records", "hostile.csv"),
        ("suda", "hostile.csv", "-q", "<script>", "--engine", "spark"),
        ("suda", "nothing.csv", "-q", "a"),
    ):
        done = run(*argv)
        assert done.code == 2, (argv, done.err)
        assert "Traceback" not in done.err
    with pytest.raises(ColumnError):
        qifsql.suda(hostile, qids="nobody")
    hostile.write_text("a,b\n")
    with pytest.raises(DatasetError):
        qifsql.suda(hostile, qids="a")


def test_wide_codes_and_many_attributes(tmp_path: Path):
    """Codes of more than 64 bits, and numbers of blocks of more than 64 bits, change nothing."""
    rows = [tuple(i * (j + 3) % 17 for j in range(16)) for i in range(17)]
    rows += [(0, *row[1:]) for row in rows[:5]]
    _, records = measured(rows, tmp_path, max_size=2)
    names = [f"c{i}" for i in range(16)]
    people = [dict(zip(names, row, strict=True)) for row in rows]
    pairs = [_unique_pairs(person, people, names) for person in people]
    assert [row["msus"] for row in records] == pairs


def _unique_pairs(person: dict[str, int], people: list[dict[str, int]], names: list[str]) -> int:
    """Return the number of minimal sample uniques of one or two attributes."""
    alone = {n for n in names if sum(p[n] == person[n] for p in people) == 1}
    both = [
        (a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if a not in alone
        and b not in alone
        and sum(p[a] == person[a] and p[b] == person[b] for p in people) == 1
    ]
    return len(alone) + len(both)


@st.composite
def incomplete(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Few records of three attributes, with at most four missing values."""
    values = st.sampled_from(["1", "2", "*", None])
    rows = draw(st.lists(st.tuples(values, values, values), min_size=1, max_size=5))
    missing = [place for place, row in enumerate(rows) for cell in row if cell is None]
    assume(len(missing) <= 4)
    return [dict(zip("abc", row, strict=True)) for row in rows]


def completions(records: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """All ways to fill in: each missing value is one that occurs, or one of the new values."""
    cells = [(i, q) for i, record in enumerate(records) for q in record if record[q] is None]
    news = map(str, range(10, 10 + len(cells)))
    for filling in product(["1", "2", *news], repeat=len(cells)):
        filled = [dict(record) for record in records]
        for (i, q), value in zip(cells, filling, strict=True):
            filled[i][q] = value
        yield filled


@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(incomplete(), st.integers(1, 3))
def test_bounds_hold_over_all_completions_and_are_attained_where_they_are_sharp(
    records: list[dict[str, Any]], most: int
):
    qids = ["a", "b", "c"]
    table = pa.Table.from_pylist(records, pa.schema([(q, pa.string()) for q in qids]))
    result = qifsql.suda(table, qids=qids, max_size=most, null="match-any")
    (line,) = result.details["bounds"].to_dicts()
    having = {
        sum(map(bool, oracle.minimal_uniques(filled, qids, most, suppressed="*")))
        for filled in completions(records)
    }
    assert line["low"] <= min(having)
    assert line["high"] >= max(having)
    assert not line["low_sharp"] or line["low"] == min(having)
    assert line["high_sharp"]
    assert line["high"] == max(having)
    row = result.frame.row(by_predicate=pl.col("measure") == "records_with_msu", named=True)
    assert (row["low"], row["high"]) == (line["low"], line["high"])


@pytest.mark.parametrize("name", ["omit_missing", "values", "by"])
def test_what_is_about_single_records_is_refused_with_a_person(name: str):
    with pytest.raises(InputError, match=f"{name}"):
        qifsql.suda(CENSUS, qids=QIDS, person="ID_ALUNO", **{name: "TP_SEXO"})
    with pytest.raises(InputError, match="leave person out"):
        qifsql.suda(CENSUS, qids=QIDS, person="ID_ALUNO", null="match-any")
    with pytest.raises(ColumnError, match='did you mean "ID_ALUNO"'):
        qifsql.suda(CENSUS, qids=QIDS, person="ID_ALUN")


@pytest.mark.parametrize("name", ["omit_missing", "values", "by", "records"])
def test_what_is_not_bounded_is_refused_with_match_any(name: str, tmp_path: Path):
    value: Any = {"by": "a", "records": tmp_path / "r.csv"}.get(name, True)
    with pytest.raises(InputError, match=f"leave {name} out"):
        qifsql.suda(pl.DataFrame({"a": [1, None]}), qids="a", null="match-any", **{name: value})


def test_thirty_attributes_have_a_report_without_dis_suda(tmp_path: Path) -> None:
    table = pl.DataFrame({f"c{i}": [i % 3, 1, 1] for i in range(30)})
    result = qifsql.suda(table, qids=table.columns, max_size=1)
    assert "DIS-SUDA has no meaning for so many quasi-identifiers" in str(result)
    with pytest.raises(InputError, match="are not searched with values; leave that out"):
        qifsql.suda(table, qids=table.columns, max_size=1, values=True)
    alone = qifsql.suda(table.head(1), qids=table.columns, max_size=1)
    assert any("DIS-SUDA has no meaning" in note for note in alone.notes)
