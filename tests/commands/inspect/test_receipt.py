"""One person's receipt, and refinement of quasi-identifiers, against the oracle."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Table, tables, to_arrow
from terminal import run

import qifsql
from qifsql.errors import ColumnError, InputError, TargetError
from qifsql.reference import quasi_identifier_sets as su
from qifsql.reference.microdata import value


@given(tables(), st.data())
@settings(max_examples=examples(40))
def test_minimal_sets_are_those_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory, table: Table, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("r") / "release.parquet"
    pq.write_table(to_arrow(table), path)
    row = data.draw(st.sampled_from(table.rows))
    target = {q: row[q] for q in table.qids}
    result = qifsql.inspect(path, show="receipt", target=target, secret=table.secrets)
    found: dict[str | None, set[frozenset[str]]] = {None: set()} | {s: set() for s in table.secrets}
    for line in result.frame.to_dicts():
        found[line["reveals"]].add(frozenset(line["qids"]))
        agreeing = [
            r for r in table.rows if all(value(r[q]) == value(target[q]) for q in line["qids"])
        ]
        assert line["matches"] == len(agreeing)
        assert line["n_qids"] == len(line["qids"])
    assert found[None] == su.minimal_sample_uniques(table.rows, table.qids, target)
    for secret in table.secrets:
        wanted = su.minimal_revealing(table.rows, table.qids, secret, target)
        assert found[secret] == wanted


def test_a_receipt_tells_what_is_learnt(samples: Path) -> None:
    """Thesis Table 3.2: the only person of 60 is a man; he is not ill."""
    done = run(
        *("inspect", "--show", "receipt"), samples / "thesis_table_3_2.csv",
        "--target", "age=60", "--target", "gender=M",
        "--secret", "illness", "--format", "table",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Knowing all facts, the person is the only one." in done.out
    assert "One minimal set of facts singles the person out." in done.out
    assert "illness is known with certainty" in done.out


def test_a_receipt_as_data(samples: Path) -> None:
    done = run(
        *("inspect", "--show", "receipt"), samples / "thesis_table_3_2.csv",
        "--target", "age=60", "--target", "gender=M",
        "--secret", "illness", "--format", "json",
    )  # fmt: skip
    document = json.loads(done.out)
    assert document["results"] == [
        {"unit": "records", "reveals": None, "n_qids": 1, "qids": ["age"], "matches": 1},
        {"unit": "records", "reveals": "illness", "n_qids": 1, "qids": ["age"], "matches": 1},
    ]
    assert [r["posterior_probabilistic"] for r in document["learnt"]] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("target", "error", "words"),
    [
        ({}, TargetError, "no target is named"),
        ({"age": 99}, TargetError, "matches none"),
        ({"shoe": 1}, ColumnError, "shoe"),
    ],
)
def test_a_receipt_needs_a_person_of_the_release(
    samples: Path, target: dict[str, object], error: type[InputError], words: str
) -> None:
    with pytest.raises(error, match=words):
        qifsql.inspect(samples / "thesis_table_3_2.csv", show="receipt", target=target)


def test_a_receipt_is_about_at_most_twenty_facts(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    pl.DataFrame({f"c{i}": [0, 1] for i in range(21)}).write_parquet(path)
    with pytest.raises(InputError, match="at most 20"):
        qifsql.inspect(path, show="receipt", target={f"c{i}": 0 for i in range(21)})


def frames(result: Any) -> list[dict[str, Any]]:
    return [r | {"seconds": None} for r in result.details["learnt"].to_dicts()]


def test_a_receipt_learns_what_the_individual_attacks_learn(samples: Path) -> None:
    thesis = samples / "thesis_table_3_2.csv"
    target = {"age": 49, "gender": "F"}
    result = qifsql.inspect(thesis, show="receipt", target=target, secret="illness")
    attack = qifsql.attack("irs,ias", thesis, target=target, secret="illness")
    assert frames(result) == [r | {"seconds": None} for r in attack.rows()]
    everything = result.details["learnt"].row(0, named=True)
    assert (everything["matches"], everything["records"]) == (3, 10)
