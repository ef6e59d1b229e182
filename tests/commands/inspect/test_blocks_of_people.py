"""Blocks, objects and records of people with several records, by the definitions."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.errors import ColumnError, InputError
from qifsql.reference import people_with_records as people

TYPES = {"who": pl.String(), "a": pl.String(), "b": pl.Int64(), "s": pl.String()}
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, "i", "j", "k"]),
        st.sampled_from([None, "x", "y"]),
        st.sampled_from([None, 1, 2]),
        st.sampled_from([None, "t", "u"]),
    ),
    min_size=1,
    max_size=12,
)


def frame(rows: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=TYPES, orient="row")


def expected(rows: list[dict[str, Any]], known: str) -> Counter[Any]:
    """Return the sizes of blocks with their records, secrets and the people of the best guess."""
    blocks: dict[Any, Counter[Any]] = {}
    for block, secret in people.individuals(rows, "who", ["a", "b"], "s", known):
        blocks.setdefault(block, Counter())[secret] += 1
    records = Counter((row["a"], row["b"]) for row in rows)
    found: Counter[Any] = Counter()
    for block, secrets in blocks.items():
        size, mode = secrets.total(), max(secrets.values())
        held = records[block] if known == "one" else size * sum(n for _, n in block)
        found[size, held, len(secrets), float(Fraction(mode, size))] += 1
    return found


@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(ROWS)
def test_blocks_are_of_people_and_have_records(rows: list[Any]) -> None:
    table = frame(rows)
    for known in ("all", "one"):
        result = qifsql.inspect(
            table, qids="a,b", secret="s", person="who", known_records=known, limit=0
        )
        shown = Counter(result.frame.select("size", "records", "values_s", "success_s").iter_rows())
        assert shown == expected(table.to_dicts(), known)
        assert result.frame["success"].to_list() == [1 / n for n in result.frame["size"]]


@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(ROWS)
def test_each_record_has_the_people_of_its_block(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any]
) -> None:
    table, out = frame(rows), tmp_path_factory.mktemp("people") / "records.parquet"
    qifsql.inspect(table, qids="a,b", person="who", show="records", out=out)
    owners: dict[Any, int] = Counter(
        block for block, _ in people.individuals(table.to_dicts(), "who", ["a", "b"], None, "one")
    )
    sizes = [owners[row["a"], row["b"]] for row in table.to_dicts()]
    written = pl.read_parquet(out)
    assert written["block_size"].to_list() == sizes
    assert written["singled_out"].to_list() == [size == 1 for size in sizes]


@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(ROWS)
def test_objects_are_about_people_of_whom_all_records_are_known(rows: list[Any]) -> None:
    """The counts of prior and joint, and the success of the best guess from the hyper."""
    table = frame(rows)
    options: dict[str, Any] = {"qids": "a,b", "secret": "s", "person": "who"}
    pairs = people.individuals(table.to_dicts(), "who", ["a", "b"], "s", "all")
    prior = qifsql.inspect(table, show="prior", **options).frame
    assert sorted(prior["count"]) == sorted(Counter(secret for _, secret in pairs).values())
    joint = qifsql.inspect(table, show="joint", **options).frame
    assert sorted(joint["count"]) == sorted(Counter(pairs).values())
    hyper = qifsql.inspect(table, show="hyper", **options).frame
    inners = hyper.group_by("inner").agg(pl.col("outer").first(), pl.col("probability").max())
    success = (inners["outer"] * inners["probability"]).sum()
    attack = people.attack(table.to_dicts(), "who", ["a", "b"], "s")
    assert success == pytest.approx(float(attack["posterior_probabilistic"]), rel=1e-12)


VISITS = frame([("i", "x", 1, "t"), ("i", "y", 1, "u"), ("j", "x", 1, None)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"show": "receipt", "target": {"a": "x"}}, "receipt is about one person"),
        ({"show": "prior", "secret": "s", "known_records": "one"}, "of whom all records are known"),
        ({"known_records": "one", "person": None}, "name it"),
        ({"show": "joint"}, "are about a secret"),
        ({"person": "whom"}, 'did you mean "who"'),
        ({"weight": "b"}, "person and weight"),
    ],
)
def test_what_has_no_meaning_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, ColumnError), match=message):
        qifsql.inspect(VISITS, **({"qids": "a", "person": "who"} | options))


def test_values_of_lists_stand_under_the_names_of_the_columns() -> None:
    blocks = qifsql.inspect(VISITS, qids="a,b", secret="s", person="who").frame
    assert sorted(blocks.select("a", "b", "best_guess_s").iter_rows()) == [
        ("[x, y]", "[1, 1]", "[t, u]"),
        ("[x]", "[1]", "[NULL]"),
    ]


def test_the_table_has_people_and_records(tmp_path: Path) -> None:
    VISITS.write_parquet(tmp_path / "visits.parquet")
    words = ("-q", "a", "-s", "s", "--person", "who", "--known-records", "one", "-f", "table")
    lines = run("inspect", tmp_path / "visits.parquet", *words).out.split("\n")
    assert lines[1].split() == ["a", "people", "records", "s"]
    assert [line.split()[:3] for line in lines[3:5]] == [["y", "1", "1"], ["x", "2", "2"]]


def test_an_empty_file_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("who,a\n")
    with pytest.raises(qifsql.QifError, match="has no records"):
        qifsql.inspect(tmp_path / "empty.csv", qids="a", person="who")
