"""Gains, measures and details on the command line: what is said, written and refused."""

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from terminal import run

import qifsql
from qifsql.commands.attack.spec import AttackOptions
from qifsql.data.option import declared
from qifsql.errors import InputError
from qifsql.results.assessment import MEASURES

ASKED = ("--qids", "age", "--secret", "illness")
DETAILS = ("--histogram", "--threshold", "0.5", "--quantile", "0.5,0.9", "--by", "gender")


@pytest.fixture(scope="module")
def thesis(samples: Path) -> Path:
    """Thesis Table 3.2: 10 people, 3 blocks of age."""
    return samples / "thesis_table_3_2.csv"


def tables(text: str) -> list[list[dict[str, str]]]:
    """The tables of a CSV text, one after an empty line each."""
    return [list(csv.DictReader(io.StringIO(part))) for part in text.split("\n\n")]


def test_json_has_every_table_under_its_name(thesis: Path) -> None:
    done = run("attack", "crs,cas", thesis, *ASKED, *DETAILS, "--measures", "all", "-f", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    tables = {"histogram", "thresholds", "quantiles", "groups", "group_capacity"}
    tables |= {"sure", "sure_curve"}
    assert {"qifsql", "spec", "notes", "results", *tables} == set(document)
    ids = [row["attack_id"] for row in document["results"]]
    assert len(set(ids)) == 2
    for name in ("histogram", "thresholds", "quantiles", "groups"):
        assert {row["attack_id"] for row in document[name]} == set(ids)
    assert document["spec"]["measures"] == [*MEASURES]
    assert document["spec"]["by"] == "gender"


def test_the_option_names_every_measure() -> None:
    option = declared(AttackOptions)["measures"]
    assert [name for name in MEASURES if name not in option.text] == []


def test_csv_has_a_table_after_each_empty_line(thesis: Path) -> None:
    done = run("attack", "cas", thesis, *ASKED, *DETAILS, "-f", "csv")
    results, histogram, thresholds, quantiles, groups, sure, curve = tables(done.out)
    assert len(results) == 1
    assert [int(row["individuals"]) for row in histogram if row["bin"] in ("50", "60", "100")] == [
        *(4, 5, 1),
    ]
    assert thresholds[0]["individuals"] == "10"
    assert [float(row["success"]) for row in quantiles] == [0.6, 0.6]
    assert [row["group"] for row in groups] == ["M", "F"]
    assert [(row["claims"], row["right"]) for row in sure] == [("10", "6.0"), ("6", "4.0")]
    assert [row["claims"] for row in curve] == ["10", "6", "1"]


@pytest.mark.cases(1)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_details_are_files_beside_the_result(thesis: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"risk.{ending}"
    done = run("attack", "cas", thesis, *ASKED, *DETAILS, "-o", out)
    assert done.code == 0, done.err
    read = pl.read_parquet if ending == "parquet" else pl.read_csv
    result = read(out)
    rows_of = {"histogram": 101, "thresholds": 1, "quantiles": 2, "groups": 2, "sure": 2}
    for name, rows in rows_of.items():
        found = read(tmp_path / f"risk.{name}.{ending}")
        assert found.height == rows
        assert set(found["attack_id"]) == set(result["attack_id"])
    manifests = 0 if ending == "parquet" else 7
    assert len(list(tmp_path.iterdir())) == 7 + manifests


def test_where_one_file_cannot_be_written_none_is(thesis: Path, tmp_path: Path) -> None:
    (tmp_path / "risk.groups.csv").mkdir()
    done = run("attack", "cas", thesis, *ASKED, *DETAILS, "-o", tmp_path / "risk.csv")
    assert done.code == 2
    assert [p.name for p in tmp_path.iterdir()] == ["risk.groups.csv"]


def test_the_table_says_measures_details_and_who_carries_the_risk(thesis: Path) -> None:
    done = run("attack", "cas", thesis, *ASKED, *DETAILS, "--measures", "all", "-f", "table")
    assert done.code == 0, done.err
    assert "uncertainty (Shannon, bits)" in done.out
    assert (
        "Of the groups of gender, M has the highest risk (67.50 %) and F the lowest (55.00 %)"
        in done.out
    )


def test_an_amount_is_said_in_its_unit(samples: Path) -> None:
    """PoPETs section 3: a right guess earns $4; 2 before, 3 after."""
    done = run(
        "attack", "cas", samples / "popets_table_2a.csv", "--qids", "gender,age", "--secret",
        "language", "--gain", "worth:4", "--unit", "USD", "-f", "table",
    )  # fmt: skip
    assert "Before: 2 USD gained per person; after: 3 USD." in done.out
    assert "An attacker would pay up to 1 USD per person for the release, 4 USD for all 4." in (
        " ".join(done.out.split())
    )


def test_an_undefined_ratio_is_said_and_not_infinite(thesis: Path) -> None:
    asked = (thesis, "--qids", "age", "--gain", "penalty:0.5")
    done = run("attack", "crs", *asked, "-f", "json")
    row = json.loads(done.out)["results"][0]
    assert row["prior_probabilistic"] == 0
    assert row["degradation_probabilistic"] is None
    assert row["min_entropy_leakage"] is None
    assert "the prior gain with penalty:0.5 is 0" in done.err
    assert "undefined" in run("attack", "crs", *asked, "-f", "table").out


@pytest.mark.slow(because="1.8 s; every recorded mutant dies without it")
def test_the_sql_of_a_gain_gives_its_numbers(thesis: Path, tmp_path: Path) -> None:
    import duckdb

    worth = tmp_path / "worth.csv"
    worth.write_text("value,worth\nyes,10\nno,1\n")
    for gain in ("tries:2", "penalty:0.5", f"worth:{worth}", "sql:(guess = secret)::INT * 2 - 1"):
        text = run("sql", "cas", thesis, *ASKED, "--gain", gain).out
        row = duckdb.connect().execute(text).fetchone()
        wanted = qifsql.attack("cas", thesis, qids="age", secret="illness", gain=gain).rows()[0]
        assert row is not None
        found = row[-2:]
        assert found == (wanted["prior_probabilistic"], wanted["posterior_probabilistic"])


def test_records_carry_measures_and_gains(thesis: Path, tmp_path: Path) -> None:
    out = tmp_path / "records.csv"
    done = run(
        "inspect",
        "--show",
        "records",
        thesis,
        *ASKED,
        "--measures",
        "all",
        "--gain",
        "tries:2",
        "-o",
        out,
    )
    assert done.code == 0, done.err
    first = pl.read_csv(out).row(0, named=True)  # age 25: five people, three of them ill
    assert first["success_illness"] == 0.6
    assert first["entropy_illness"] == pytest.approx(0.9709505944546686)
    assert first["guessing_illness"] == pytest.approx(1.4)
    assert first["guessing"] == 3
    assert (first["tries:2"], first["tries:2_illness"]) == (0.4, 1.0)


def test_a_store_is_asked_again_on_the_command_line(thesis: Path, tmp_path: Path) -> None:
    store = tmp_path / "counts.duckdb"
    asked = ("attack", "cas", thesis, *ASKED, "--store", store, "-f", "json")
    first = json.loads(run(*asked).out)["results"][0]
    second = json.loads(run(*asked, "--gain", "identity", "--gain", "tries:2").out)["results"]
    assert second[0]["posterior_probabilistic"] == first["posterior_probabilistic"]
    assert second[1]["posterior_probabilistic"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["counts.duckdb"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: p.write_text("a,b\n1,2\n"), "is not a store"),
        (lambda p: p.mkdir(), "is a folder"),
        (lambda p: p.touch(), "is not a store"),
    ],
)
def test_a_store_that_is_none_is_refused(
    thesis: Path, tmp_path: Path, make: object, words: str
) -> None:
    store = tmp_path / "counts.duckdb"
    make(store)  # type: ignore[operator]
    done = run("attack", "cas", thesis, *ASKED, "--store", store)
    assert done.code == 2
    assert words in done.err


def test_a_store_in_no_folder_says_so(thesis: Path, tmp_path: Path) -> None:
    done = run("attack", "cas", thesis, *ASKED, "--store", tmp_path / "none" / "c.duckdb")
    assert done.code == 2
    assert "there is no" in done.err


def test_several_groupings_are_refused(thesis: Path) -> None:
    done = run("attack", "cas", thesis, *ASKED, "--by", "gender", "--by", "occupation")
    assert done.code == 2
    assert "combine several in one" in done.err


def test_a_misspelt_keyword_is_not_left_out_in_silence(thesis: Path) -> None:
    with pytest.raises(TypeError, match="did you mean"):
        qifsql.attack("crs", thesis, qids="age", weigth="id")  # type: ignore[call-arg]
    with pytest.raises(InputError, match="by is about people who are drawn"):
        qifsql.inspect(thesis, show="records", out="x.csv", qids="age", by="gender")
    with pytest.raises(InputError, match="not a measure of one record"):
        qifsql.inspect(thesis, show="records", out="x.csv", qids="age", measures="capacity")


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
def test_a_prior_leaves_re_identification_as_it_is(thesis: Path, tmp_path: Path) -> None:
    prior = tmp_path / "prior.csv"
    prior.write_text("illness,probability\nyes,0.9\nno,0.1\n")
    out = tmp_path / "records.csv"
    plain, told = (
        qifsql.attack("crs,cas", thesis, qids="age", secret="illness", prior=p).rows()
        for p in (None, prior)
    )
    assert {k: v for k, v in plain[0].items() if k != "seconds"} == {
        k: v for k, v in told[0].items() if k != "seconds"
    }
    assert told[1]["prior_probabilistic"] == 0.9
    assert (
        run("inspect", "--show", "records", thesis, *ASKED, "--prior", prior, "-o", out).code == 0
    )
    assert pl.read_csv(out)["success"].to_list() == [0.2] * 5 + [0.25] * 4 + [1.0]


def test_the_manifest_names_every_file_that_was_read(thesis: Path, tmp_path: Path) -> None:
    prior, worth = tmp_path / "prior.csv", tmp_path / "worth.csv"
    prior.write_text("illness,probability\nyes,0.9\nno,0.1\n")
    worth.write_text("value,worth\nyes,2\nno,1\n")
    out = tmp_path / "risk.csv"
    done = run("attack", "cas", thesis, *ASKED, "--prior", prior, "--gain", f"worth:{worth}",
               "-o", out)  # fmt: skip
    assert done.code == 0, done.err
    manifest = json.loads((tmp_path / "risk.csv.manifest.json").read_text())
    assert [i["path"] for i in manifest["inputs"]] == [str(thesis), str(worth), str(prior)]
    assert manifest["spec"]["gains"] == [f"worth:{worth}"]


def test_explain_says_formula_and_example(thesis: Path) -> None:
    done = run("explain", "guessing", "-f", "table")
    assert done.code == 0
    assert "formula" in done.out
    assert "example" in done.out
    assert run("explain", "shanon").code == 2


@pytest.mark.slow(because="sparse gains of few values are compared with the oracle")
def test_a_secret_of_ten_thousand_values(tmp_path: Path) -> None:
    """Sparse gains of many values: a window, pairs that are computed and pairs of a file agree."""
    path, worth = tmp_path / "release.parquet", tmp_path / "worth.parquet"
    people = pl.DataFrame({"i": range(40_000)}).select(
        q=pl.col("i") % 997, s=(pl.col("i") * 7919 + pl.col("i") // 3) % 10_000
    )
    people.write_parquet(path)
    values = people["s"].unique().sort()
    pl.DataFrame({"value": values, "worth": [1] * len(values)}).write_parquet(worth)
    gains = ["identity", f"worth:{worth}", "tolerance:2", "sql:(abs(guess - secret) <= 2)::INT"]
    rows = qifsql.attack("cas", path, qids="q", secret="s", gain=gains).rows()
    found = [(r["prior_probabilistic"], r["posterior_probabilistic"]) for r in rows]
    assert people["s"].n_unique() > 9_900
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert found[2] > found[0]


def test_a_group_of_nobody_is_mentioned(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    pl.DataFrame({"q": [1, 2], "w": [1, 0], "g": ["a", "b"]}).write_parquet(path)
    result = qifsql.attack("crs", path, qids="q", weight="w", by="g")
    assert result.details["groups"]["group"].to_list() == ["a"]
    assert any("nobody in 1 group of g has any weight" in note for note in result.notes)
