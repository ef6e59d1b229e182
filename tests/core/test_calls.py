"""Functions as callers in Python use them: names of Polars, messages, the log, verdicts."""

import logging
import pickle
import re
from pathlib import Path

import polars as pl
import pytest
from places import SAMPLES

import qifsql
from qifsql.data.calls import in_python

VISITS = pl.DataFrame({"person": [1, 1, 2, 2], "age": [30, 30, 40, 41], "ill": [1, 0, 1, 1]})
RULE = {"model": "crs", "measure": "worst_case", "at_most": 0.5}


def test_names_of_polars_are_names_and_other_expressions_are_refused() -> None:
    expected = qifsql.attack("crs", VISITS, qids="age").frame.drop("seconds")
    for names in ([pl.col("age")], pl.col("age"), pl.Series(["age"])):
        assert qifsql.attack("crs", VISITS, qids=names).frame.drop("seconds").equals(expected)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="write SQL"):
        qifsql.attack("crs", VISITS, qids=[pl.col("age") // 10])  # type: ignore[list-item]


def test_the_data_of_a_policy_are_a_policy() -> None:
    adversary = {"qids": ("age",), "person": "person"}
    verdict = qifsql.check({"visits": VISITS}, {"adversary": adversary, "rule": [RULE]})
    assert not verdict
    assert repr(verdict).startswith("<qifsql check of visits: not met: 1 of 1 level>")
    assert "worst_case is 1.0, required <= 0.5" in repr(verdict)
    assert verdict.origin.spec["policy"] == "policy"
    assert not any("policy" in path for path in verdict.origin.paths)
    with pytest.raises(qifsql.QifError, match="rule 1 has no measure"):
        qifsql.check(VISITS, {"rule": [{"model": "crs"}]}, qids="age")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name one with --secret", "name one with secret=..."),
        ("--threshold is a chance", "thresholds=... is a chance"),
        ("count people with --person 'visit id'", "count people with person='visit id'"),
        ("leave --person out", "leave person=... out"),
        ("add --decimal ,", 'add Dataset.open(decimal=",")'),
        ("add --encoding cp1252 if", 'add Dataset.open(encoding="cp1252") if'),
        ("give --target COLUMN=VALUE for", "give target={COLUMN: VALUE} for"),
        ("run pip install --editable 'x[a]'; --k", "run pip install --editable 'x[a]'; k=..."),
        ("more memory with --memory", "more memory with settings.memory=..."),
        (
            "run qifsql anonymise a.csv --one-per p -o OUT",
            "run qifsql anonymise a.csv --one-per p -o OUT",
        ),
    ],
)
def test_messages_name_arguments(text: str, expected: str) -> None:
    assert in_python(text, qifsql.attack) == expected


def test_errors_and_notes_name_arguments_and_the_log_has_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(qifsql.QifError, match=re.escape("secret=...")):
        qifsql.attack("cas", VISITS, qids="age")
    with caplog.at_level(logging.INFO, "qifsql"):
        visits = pl.DataFrame({"patient_id": [1, 1, 2, 2], "age": [30, 30, 40, 41]})
        (note,) = qifsql.attack("crs", visits, qids="age").notes
    assert 'person="patient_id"' in note
    assert [text.split()[:2] for text in caplog.messages if text.startswith("attack")] == [
        ["attack", "begins"],
        ["attack:", "records"],
        ["attack", "ends"],
    ]


def test_a_report_begins_with_its_recipient_and_purpose(tmp_path: Path) -> None:
    result = qifsql.attack("crs", VISITS, qids="age")
    qifsql.report(result, tmp_path / "r.md", recipient="the *team*", purpose="a study")
    first = (tmp_path / "r.md").read_text("utf-8").split("\n\n")[2]
    assert first == r"Recipient: the \*team\*. Purpose: a study."
    study = qifsql.init(
        tmp_path / "s.toml", data=str(SAMPLES / "popets_table_3a.csv"), purpose='"x"'
    )
    assert 'purpose = "\\"x\\""' in study.read_text("utf-8")
    assert "#recipient = " in study.read_text("utf-8")
    assert qifsql.Study.load(study).reader["purpose"] == '"x"'


def test_functions_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(qifsql.attack)) is qifsql.attack
