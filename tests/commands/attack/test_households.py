"""People with several records, and households, against a slow exact program."""

import itertools
from pathlib import Path
from typing import Any

import oracle_households as oh
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import SAMPLES

import qifsql
from qifsql.errors import InputError
from qifsql.reference import people_with_records as people

CENSUS = str(SAMPLES / "school_census_2019_enrolments.parquet")
FLOATS: tuple[Any, ...] = (None, float("nan"), 0.0, -0.0, 1.0)
TYPES = {
    **{"a": pa.string(), "b": pa.float64(), 'h"; drop': pa.float64()},
    **{"s": pa.float64(), "t": pa.int64()},
}
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from((None, "x", "y")),
            "b": st.sampled_from(FLOATS),
            'h"; drop': st.sampled_from((*FLOATS, 2.0, 3.0, 4.0, 5.0)),
            "s": st.sampled_from(FLOATS),
            "t": st.sampled_from((None, *range(12))),
        }
    ),
    min_size=1,
    max_size=14,
)
HOSTILE = 'h"; drop'
SUCCESSES = (
    *("prior_deterministic", "posterior_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic"),
)


def frame(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, pa.schema(list(TYPES.items())))


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
@settings(max_examples=examples(40), deadline=None)
@given(ROWS)
def test_people_of_whom_all_records_are_known_or_one(rows: list[dict[str, Any]]) -> None:
    """Both readings equal the definitions, with missing values, people and secrets."""
    result = qifsql.attack(
        "crs,cas", frame(rows), qids="a,b", secret="s,t", person=HOSTILE, measures="anonymity"
    )
    questions = itertools.product((None, "s", "t"), ("all", "one"))
    for row, (secret, known) in zip(result.rows(), questions, strict=True):
        expected = people.attack(rows, HOSTILE, ["a", "b"], secret, known_records=known)
        assert (row["secret"], row["known_records"]) == (secret, known)
        for name in ("people", "records", "blocks", "singled_out", "individuals_certain"):
            assert row[name] == expected[name]
        for name in (*SUCCESSES, "worst_case"):
            assert row[name] == float(expected[name])
        if known == "one":
            assert (row["k"], row["l"]) == (expected["k"], expected["l"])


@settings(max_examples=examples(16), deadline=None)
@given(ROWS, st.randoms())
def test_the_risk_of_households(rows: list[dict[str, Any]], random: Any) -> None:
    """Risks equal the exact ones, in any order of the records; a household is one record, too."""
    options: dict[str, Any] = {"qids": "a,b", "secret": "s,t", "household": HOSTILE}
    result = qifsql.attack("crs,cas", frame(rows), **options)
    plain = qifsql.attack("crs,cas", frame(rows), qids="a,b", secret="s,t")
    same = [c for c in plain.frame.columns if c != "seconds"]
    assert result.frame.select(same).equals(plain.frame.select(same))
    table = result.details["households"]
    assert table["attack_id"].to_list() == result.frame["attack_id"].to_list()
    for row, secret in zip(table.to_dicts(), (None, "s", "t"), strict=True):
        expected = oh.risks(rows, 'h"; drop', ["a", "b"], secret)
        for name in ("households", "people", "people_without", "singled_out"):
            assert row[name] == expected[name]
        for name in ("risk", "risk_low", "risk_high", "worst_risk"):
            assert row[name] == pytest.approx(float(expected[name]), abs=1e-14)
        assert row["expected_people"] == pytest.approx(
            float(expected["expected_people"]), abs=1e-12
        )
        assert row["risk_low"] <= row["risk"] <= row["risk_high"] + 1e-15
        units = people.attack(rows, HOSTILE, ["a", "b"], secret)
        for name in ("blocks", "singled_out", *SUCCESSES):
            assert row[f"record_{name}"] == float(units[name])
    random.shuffle(rows)
    again = qifsql.attack("crs,cas", frame(rows), **options).details["households"]
    assert again.drop("attack_id").equals(table.drop("attack_id"))


@settings(max_examples=examples(10), deadline=None)
@given(ROWS)
def test_a_household_is_found_through_any_member_with_her_records(
    rows: list[dict[str, Any]],
) -> None:
    """A person is a member of each household that one of her records names."""
    result = qifsql.attack(
        "crs,cas", frame(rows), qids="a", secret="s", person="t", household=HOSTILE
    )
    table = result.details["households"]
    known_all = result.frame.filter(known_records="all")
    assert table["attack_id"].to_list() == known_all["attack_id"].to_list()
    for row, secret in zip(table.to_dicts(), (None, "s"), strict=True):
        expected = oh.risks(rows, HOSTILE, ["a"], secret, "t")
        for name, value in expected.items():
            assert row[name] == pytest.approx(float(value), abs=1e-12), name
        units = people.attack(rows, HOSTILE, ["a"], secret)
        for name in ("blocks", "singled_out", *SUCCESSES):
            assert row[f"record_{name}"] == float(units[name])


def test_one_record_each_is_the_attack_itself() -> None:
    """With one record per person, the set of her records is her record."""
    options: dict[str, Any] = {
        "qids": "NU_ANO,TP_SEXO,CO_ENTIDADE",
        "secret": "TP_COR_RACA",
        "histogram": True,
        "measures": "shannon,guessing,capacity,anonymity",
        "gain": ["identity", "tries:2", "penalty:0.5"],
        "quantiles": [0.5, 0.9],
    }
    file = str(SAMPLES / "school_census_2018.parquet")
    each = qifsql.attack("crs,cas", file, **options)
    sets = qifsql.attack("crs,cas", file, person="ID_ALUNO", **options)
    same = [c for c in each.frame.columns if c not in ("seconds", "attack_id")]
    readings = {name: sets.frame.filter(known_records=name) for name in ("all", "one")}
    assert readings["all"].select(same).equals(each.frame.select(same))
    identity = each.frame.filter(gain="identity")
    numbers = ["blocks", "singled_out", "worst_case", *SUCCESSES]
    assert readings["one"].select(numbers).equals(identity.select(numbers))
    for name, table in each.details.items():
        assert sets.details[name].drop("attack_id").equals(table.drop("attack_id"))


def test_the_statement_gives_the_same_numbers() -> None:
    """``sql`` prints a statement that gives the numbers of the attack."""
    import duckdb

    options: dict[str, Any] = {"qids": "CO_ENTIDADE,TP_ETAPA_ENSINO", "person": "ID_ALUNO"}
    row = qifsql.attack("crs", CENSUS, **options).rows()[0]
    answer = duckdb.sql(qifsql.sql("crs", CENSUS, **options)).fetchall()[0]
    assert answer[2:6] == (row["people"], row["people"], row["blocks"], row["singled_out"])
    assert '"qid_3" AS "records"' in qifsql.sql("crs", CENSUS, step="blocks", **options)


@pytest.mark.cases(4)
@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("irs", {"person": "ID_ALUNO", "target": {"TP_SEXO": 1}}, "leave person out of irs"),
        (
            "cms",
            {"household": "CO_ENTIDADE", "member": "IN_TRANSPORTE_PUBLICO"},
            "leave household out of cms",
        ),
        ("crs", {"person": "ID_ALUNO", "weight": "TP_SEXO"}, "weights are those of single records"),
        ("crs", {"person": "ID_ALUNO", "by": "CO_ENTIDADE"}, "person and by cannot be combined"),
        ("crs", {"household": "NO_SUCH"}, 'column "NO_SUCH" is not in'),
        ("crs", {"person": "CO_*"}, "person is one column or expression"),
        ("cas", {"person": "ID_ALUNO", "secret": "NU_MES", "gain": "tolerance:2"}, "set of values"),
        ("cas", {"person": "ID_ALUNO", "secret": "NU_MES", "prior": CENSUS}, "person and prior"),
    ],
)
def test_refusals(model: str, options: dict[str, Any], words: str) -> None:
    """Options that sets or households do not have are refused by name."""
    with pytest.raises(InputError, match=words):
        qifsql.attack(model, CENSUS, **{"qids": "TP_SEXO", **options})


def test_a_collection_takes_households_but_no_sets(tmp_path: Path) -> None:
    """Households are a column of the focal dataset; people of a collection have one record each."""
    for name in ("a", "b"):
        table = {"id": [1, 2, 3, 4], "x": [1, 1, 2, 3], "h": ["A", "A", "B", None]}
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    files: list[Any] = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    row = qifsql.attack("crl", files, qids="x", key="id", household="h").details["households"]
    assert row.select("households", "singled_out", "people_without").row(0) == (3, 2, 1)
    assert row["risk"].item() == pytest.approx((1 - 0.5 * 0.5 + 1 + 1) / 3)
    with pytest.raises(InputError, match="one release"):
        qifsql.attack("crl", files, qids="x", key="id", person="h")
    with pytest.raises(InputError, match="store takes no person and no household"):
        qifsql.attack("crs", files[0], qids="x", household="h", store=tmp_path / "s.duckdb")


def test_households_of_a_survey_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal has a table of the households of each question."""
    print(qifsql.attack("crs", CENSUS, qids="NU_ANO", household="ID_ALUNO"))
    text = capsys.readouterr().out
    assert "with a member who is singled out" in text
    assert "46 records without a household count as households of one." in text
