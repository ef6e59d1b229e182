"""``dp`` as people use it: any data, hostile names, bad input, the command, tables and charts."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import oracle_noise
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import E_NFC, VALUES, Table, tables, to_arrow
from terminal import run

import qifsql
from qifsql.commands.dp import count, dp
from qifsql.commands.dp.scenario import SCENARIO
from qifsql.commands.dp.tradeoff import TRADEOFF
from qifsql.data.expressions import identifier
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, ExpressionError, InputError, Interrupted
from qifsql.query.templates import views
from qifsql.reference import microdata

CELL = "CELLVALUE"
HOSTILE = ['"; drop table x', "sin'gle", "=cmd()", "new\nline", "\U0001f642", "<script>", E_NFC]
PEOPLE = {
    "age": [20, 20, 30, 30, 40, 40, 50, None],
    "home": ["a", "b", "b", "c", "c", "a", "b", "b"],
    "job": ["x", "y", "x", "y", "x", "y", "x", "y"],
    "ill": ["no", "no", "no", "yes", "yes", "yes", None, "no"],
    "rate": [0.5, -0.0, 0.0, math.nan, math.nan, 1.5, 1.5, 2.5],
    "one": [CELL] * 8,
}
QUESTION = ("--useful", "age", "--predicate", "age > 25", "--secret", "ill", "--epsilon", "ln 3")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.parquet"
    pl.DataFrame(PEOPLE).write_parquet(file)
    return file


def rows(file: Path, **options: Any) -> list[dict[str, Any]]:
    asked: dict[str, Any] = {
        "useful": "age", "predicate": "age > 25", "secret": "ill", "epsilon": "ln 3",
    }  # fmt: skip
    return qifsql.dp(file, **(asked | options)).frame.to_dicts()


def expected(
    useful: Sequence[Any], secret: Sequence[Any], truth: Any, order: Sequence[Any], ratio: int = 3
) -> list[float]:
    """Loss and utility of the oblivious and of the local mechanism, by the oracle."""
    data, alpha = list(zip(useful, secret, strict=True)), Fraction(1, ratio)
    kernel = oracle_noise.on_values(oracle_noise.geometric(len(order) - 1, alpha), order)
    joints = (
        oracle_noise.oblivious(data, [truth], alpha),
        oracle_noise.recursive(data, truth, kernel),
    )
    return [
        float(x)
        for joint in joints
        for x in (oracle_noise.loss(data, joint), oracle_noise.vulnerability(joint, 1))
    ]


def numbers(found: list[dict[str, Any]]) -> list[float]:
    return [row[name] for row in found for name in ("privacy_loss", "utility")]


# Any data.


@settings(max_examples=examples(25), deadline=None)
@given(tables(), st.data())
def test_hostile_tables_are_counted_as_the_oracle_counts(table: Table, data: st.DataObject) -> None:
    """Any types and names; the predicate asks for some of the values; text has the order given."""
    useful, secret = data.draw(st.sampled_from(table.columns)), table.secrets[0]
    values = [microdata.value(row[useful]) for row in table.rows]
    secrets = [microdata.value(row[secret]) for row in table.rows]
    present = sorted(set(values), key=microdata.order_key)
    known = [v for v in present if v is not None]
    assume(known and len(set(secrets)) > 1 and len(present) > 1)
    assume(sum(c.casefold() == useful.casefold() for c in table.columns) == 1)
    assume(sum(c.casefold() == secret.casefold() for c in table.columns) == 1)
    chosen = data.draw(st.sampled_from(known))
    truth = lambda v: v == chosen  # noqa: E731 - it is short
    order: list[Any] = []
    if table.types[useful] == pa.string():
        known = data.draw(st.permutations(known))
        order, present = known, [*known, *([None] if None in present else [])]
    name = identifier(useful).sql("duckdb")
    with Folder() as file:
        pq.write_table(to_arrow(table), file)
        literal = f"'{str(chosen).replace(*QUOTE)}'"
        kind = duckdb.sql(f"SELECT typeof({name}) FROM '{file}'").fetchall()[0][0]
        found = qifsql.dp(
            file, useful=useful, predicate=f"{name} = {literal}::{kind}", secret=secret,
            epsilon="ln 3", order=order,
        )  # fmt: skip
    assert numbers(found.frame.to_dicts()) == expected(values, secrets, truth, present)


QUOTE = ("'", "''")


class Folder:
    """A file of its own for each table that is drawn."""

    def __enter__(self) -> Path:
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        return Path(self.folder.name, "t.parquet")

    def __exit__(self, *_trouble: object) -> None:
        self.folder.cleanup()


def test_a_missing_value_is_the_last_one_and_satisfies_nothing(people: Path) -> None:
    order = [20, 30, 40, 50, None]
    found = rows(people)
    wanted = expected(PEOPLE["age"], PEOPLE["ill"], lambda v: v is not None and v > 25, order)
    assert numbers(found) == wanted
    (note, _) = qifsql.dp(people, useful="age", predicate="age > 25", secret="ill", epsilon=1).notes
    assert note == '1 record without "age": a missing value is one of its values, last in its order'


def test_records_with_missing_values_can_be_left_out(people: Path) -> None:
    kept = [(a, s) for a, s in zip(PEOPLE["age"], PEOPLE["ill"], strict=True) if None not in (a, s)]
    ages, ills = zip(*kept, strict=True)
    found = rows(people, null="drop")
    assert numbers(found) == expected(ages, ills, lambda v: v > 25, [20, 30, 40])


def test_nan_is_missing_and_zeros_are_one(people: Path) -> None:
    found = rows(people, useful="rate", predicate="rate >= 1")
    values = [None if math.isnan(x) else x + 0.0 for x in PEOPLE["rate"]]
    order = [0.0, 0.5, 1.5, 2.5, None]
    assert numbers(found) == expected(
        values, PEOPLE["ill"], lambda v: v is not None and v >= 1, order
    )


def test_two_values_of_text_need_no_order(people: Path) -> None:
    assert numbers(rows(people, useful="job", predicate="job = 'x'")) == expected(
        PEOPLE["job"], PEOPLE["ill"], lambda v: v == "x", ["x", "y"]
    )


@pytest.mark.slow(because="0.6 s; every recorded mutant dies without it")
def test_the_order_of_text_changes_what_is_lost(people: Path) -> None:
    """Trap 23: the local result depends on the order of the domain, but not on its direction."""
    question = {"useful": "home", "predicate": "home = 'b'"}
    losses = {
        order: numbers(rows(people, order=list(order), **question))
        for order in ("abc", "bca", "cba")
    }
    for order, found in losses.items():
        assert found == expected(PEOPLE["home"], PEOPLE["ill"], lambda v: v == "b", list(order))
    assert losses["abc"] == losses["cba"] != losses["bca"]
    assert losses["abc"] == numbers(rows(people, order="a,b,c", **question))
    with pytest.raises(InputError, match="the order is one CSV row"):
        rows(people, order='a,"b', **question)


def test_a_value_of_the_order_that_does_not_occur_is_a_place(people: Path) -> None:
    found = rows(people, useful="home", predicate="home in ('b', 'z')", order=["z", "a", "b", "c"])
    assert numbers(found) == expected(
        PEOPLE["home"], PEOPLE["ill"], lambda v: v in ("b", "z"), ["z", "a", "b", "c"]
    )


def test_a_domain_of_whole_numbers_has_those_that_do_not_occur(people: Path) -> None:
    found = rows(people, domain="whole", predicate="age between 25 and 35", null="drop")
    ages = [20, 20, 30, 30, 40, 40]
    assert numbers(found) == expected(
        ages, PEOPLE["ill"][:6], lambda v: 25 <= v <= 35, range(20, 41)
    )


def test_a_named_expression_can_be_counted_by_its_name(people: Path) -> None:
    named = rows(people, useful="decade=age//20", predicate="decade = 1")
    shadow = rows(people, useful="home=age//20", predicate="home = 1")
    plain = expected(
        [None if a is None else a // 20 for a in PEOPLE["age"]], PEOPLE["ill"],
        lambda v: v == 1, [1, 2, None],
    )  # fmt: skip
    assert numbers(named) == numbers(shadow) == plain


def test_the_useful_attribute_may_be_the_secret(people: Path) -> None:
    assert numbers(rows(people, useful="age", secret="age")) == expected(
        PEOPLE["age"], PEOPLE["age"], lambda v: v is not None and v > 25, [20, 30, 40, 50, None]
    )


def test_a_predicate_over_other_columns_is_for_noise_on_the_count(people: Path) -> None:
    more = {"useful": "job", "predicate": "age > 25 and job = 'x'", "mechanism": "oblivious"}
    (row,) = rows(people, **more)
    both = list(zip(PEOPLE["age"], PEOPLE["job"], strict=True))
    truth = lambda v: v[0] is not None and v[0] > 25 and v[1] == "x"  # noqa: E731 - it is short
    assert [row["privacy_loss"], row["utility"]] == expected(both, PEOPLE["ill"], truth, both)[:2]


def test_the_filter_leaves_records_out(people: Path, tmp_path: Path) -> None:
    pl.DataFrame(PEOPLE).filter(pl.col("job") == "x").write_parquet(tmp_path / "x.parquet")
    assert rows(people, where="job = 'x'") == rows(tmp_path / "x.parquet")


def test_neither_threads_nor_order_nor_files_change_a_number(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [i * i % 83 for i in range(6000)]})
    frame = frame.with_columns(ill=(pl.col("age") // 9) % 4)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    folder = tmp_path / "parts"
    folder.mkdir()
    for i in range(3):
        shuffled[i * 2000 : (i + 1) * 2000].write_parquet(folder / f"{i}.parquet")
    frame.write_parquet(tmp_path / "one.parquet")
    frame.write_csv(tmp_path / "one.csv")
    more = {"predicate": "age % 7 < 3", "epsilon": "2, ln 100", "mechanism": "oblivious,local"}
    one = rows(tmp_path / "one.parquet", **more, settings=Settings(threads=1, memory="300MB"))
    assert one == rows(folder, **more, settings=Settings(threads=2))
    assert one == rows(tmp_path / "one.csv", **more)
    assert {row["method"] for row in one} == {"exact", "fourier"}


def test_noise_on_the_count_alone_is_measured_without_places(people: Path) -> None:
    """Several ages have the same answer and the same secret; their people are added up."""
    wanted = expected(PEOPLE["age"], PEOPLE["ill"], lambda v: v is not None and v > 25, [None])
    assert numbers(rows(people, mechanism="oblivious")) == wanted[:2]
    assert rows(people, mechanism="oblivious") == rows(people)[:1]


def test_noise_on_records_can_lose_more_than_no_noise(tmp_path: Path) -> None:
    """It tells values apart that the predicate does not: 2 is moved out of it more often than 3."""
    values, secret = [3, 0, 2, 1], ["y", "z", "z", "y"]
    pl.DataFrame({"u": values, "s": secret}).write_parquet(tmp_path / "d.parquet")
    result = qifsql.dp(
        tmp_path / "d.parquet", useful="u", secret="s", predicate="u >= 2", epsilon="ln 5"
    )
    wanted = expected(values, secret, lambda v: v >= 2, range(4), ratio=5)
    assert numbers(result.frame.to_dicts()) == wanted
    assert wanted[2] > 1
    assert result.frame["privacy_loss_max"].to_list() == [1.0, 1.0]
    assert any("loses more than the count without noise" in note for note in result.notes)


def test_the_scenario_is_measured_from_counts(tmp_path: Path) -> None:
    n = 1200
    cases = {
        "A": (lambda i: i % 4, lambda i: -(i % 4)),
        "B": (lambda i: i % 4, lambda i: i // 4 % 3),
        "C": (lambda i: i % 12, lambda i: i % 12 % 2),
        "D": (lambda i: i % 2, lambda i: i % 12),
        None: (lambda i: i % 4, lambda i: (i if i // 4 % 2 else i // 8) % 4),
    }
    for letter, (useful, secret) in cases.items():
        data = {"u": [useful(i) for i in range(n)], "s": [secret(i) + 5 for i in range(n)]}
        pl.DataFrame(data).write_parquet(tmp_path / "d.parquet")
        found = (
            qifsql.dp(tmp_path / "d.parquet", useful="u", secret="s", predicate="u = 1", epsilon=1)
            .details["scenario"]
            .row(0, named=True)
        )
        assert found["scenario"] == letter
        pairs = Counter(zip(data["u"], data["s"], strict=True))
        parts = [Counter(data["u"]), Counter(data["s"]), pairs]
        bits = [-sum(k / n * math.log2(k / n) for k in part.values()) for part in parts]
        assert found["mutual_information"] == pytest.approx(bits[0] + bits[1] - bits[2], abs=1e-12)
        assert found["entropy_secret"] == pytest.approx(bits[1])
        assert found["useful_values"] == len(parts[0])


# Bad input.


def refused(file: Path, *arguments: object, says: str) -> None:
    """One line that says this, exit code 2, no result, no value of a cell, no file."""
    before = sorted(file.parent.rglob("*"))
    done = run("dp", file, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert says in done.err
    assert CELL not in done.err
    assert sorted(file.parent.rglob("*")) == before


def asked(**changed: str | None) -> list[str]:
    """The question with some of its options changed; None leaves one out."""
    options: dict[str, str | None] = dict(
        zip([n[2:] for n in QUESTION[::2]], QUESTION[1::2], strict=True)
    )
    options |= changed
    return [
        part
        for name, text in options.items()
        if text is not None
        for part in (f"--{name.replace('_', '-')}", text)
    ]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"epsilon": "0"}, 'epsilon "0" is not above 0'),
        ({"epsilon": "ln 3,-1"}, 'epsilon "-1" is not above 0'),
        ({"epsilon": "ln 0.5"}, "ln X one with X above 1"),
        ({"epsilon": "2**3"}, '"2**3" is not an epsilon; write numbers and logarithms'),
        ({"epsilon": "1e4"}, "means no noise"),
        ({"epsilon": ""}, "no epsilon is given"),
        ({"predicate": "age > 5 or age is null"}, "holds for all 8 records"),
        ({"predicate": "age > 5", "null": "drop"}, "holds for all 6 records"),
        ({"predicate": "age > 500"}, "the predicate holds for no record of people.parquet"),
        ({"predicate": "age"}, "the predicate is of type BIGINT, not a condition"),
        ({"predicate": "age >"}, "the predicate is not a SQL expression"),
        ({"predicate": "agee > 3"}, 'did you mean "age"?'),
        ({"predicate": ""}, "the predicate is empty"),
        ({"predicate": "age > (select 1)"}, "the predicate has a subquery"),
        ({"predicate": "random() > age"}, "the predicate uses the function random"),
        ({"predicate": "sum(age) > 3"}, "the predicate has an aggregate"),
        ({"predicate": "one::INT = 3", "useful": "one"}, "people.parquet"),
        ({"predicate": "home = 'b'", "useful": "home"}, "give it with --order a,b,c"),
        ({"predicate": "job = 'x'"}, "the predicate holds for some records and not for others"),
        ({"secret": "one"}, 'secret "one" has one value in all records'),
        ({"secret": "il"}, 'did you mean "ill"?'),
        ({"secret": "*"}, "the secret is one column, and here are 6"),
        ({"useful": "agee"}, 'did you mean "age"?'),
        ({"useful": "age+2"}, "an expression needs a name"),
        ({"mechanism": "laplace"}, 'there is no mechanism "laplace"'),
        ({"mechanism": "oblivius"}, 'did you mean "oblivious"?'),
        ({"mechanism": ""}, "there is no mechanism"),
        ({"order": "20,30"}, "lists 2 values, and useful attribute"),
        ({"order": "20,30,40,50,50"}, "lists a value twice"),
        ({"order": "20,30,x,50"}, 'value 3 of the order is not of type BIGINT, as "age" is'),
        ({"domain": "all"}, "a domain is one of observed, whole"),
        ({"domain": "whole", "order": "20,30,40,50"}, "leave the order out"),
        ({"domain": "whole", "useful": "rate", "predicate": "rate > 1"}, "no domain of whole"),
        ({"domain": "whole", "predicate": "age > 25 or home = 'q'"}, "names other columns"),
        ({"counts": "0"}, "counts is a whole number from 1 to 1,000"),
        ({"budget": "free"}, "a budget is split or sum"),
        ({"delta": "1"}, "delta is a probability"),
        ({"delta": "nan"}, "delta is a probability"),
        ({"null": "match-any"}, "missing values cannot be treated as"),
        ({"where": "age > 500"}, "no records after the filter"),
        ({"where": "age"}, "the filter (where) is of type BIGINT"),
        ({"format": "xml"}, 'there is no format "xml"'),
        ({"out": "x.txt"}, "must end in"),
        ({"charts": "c", "chart-format": "pdf"}, "charts are written as"),
    ],
)
def test_bad_input_is_one_clear_line(people: Path, changed: dict[str, str], says: str) -> None:
    refused(people, *asked(**changed), says=says)


def test_a_range_that_is_too_wide_to_weigh_is_refused(people: Path) -> None:
    wide = asked(useful="far=age*1000000000000", predicate="far > 1", domain="whole")
    refused(people, *wide, says="values to move between, and at most 20,000 are supported")


def test_too_many_values_and_cells_are_refused(people: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(count, "MOST_CELLS", 3)
    refused(people, *asked(), says="and at most 3 are supported; round one of them")
    monkeypatch.setattr(count, "MOST_PLACES", 2)
    refused(people, *asked(), says="has 5 values to move between, and at most 2")


def test_too_many_counts_together_are_refused(people: Path) -> None:
    many = [part for i in range(9) for part in ("--predicate", f"age > {20 + i}")]
    refused(people, *asked(predicate=None), *many, says="at most 8 predicates")
    some = [part for i in range(6) for part in ("--predicate", f"age > {20 + i}")]
    refused(people, *asked(predicate=None, counts="99"), *some, says="ask for fewer")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.parquet"
    pl.DataFrame(schema={"age": pl.Int64, "ill": pl.String}).write_parquet(file)
    refused(file, *asked(), says="empty.parquet has no records")


def test_a_missing_option_is_named(people: Path) -> None:
    for name in ("useful", "predicate", "secret", "epsilon"):
        refused(people, *asked(**{name: None}), says=f"--{name}")


def test_a_predicate_that_fails_on_a_value_says_nothing_of_it(people: Path) -> None:
    pl.DataFrame({"age": ["20", "30", CELL], "ill": ["a", "b", "b"]}).write_parquet(people)
    more = asked(predicate="age::INTEGER > 25", mechanism="oblivious")
    refused(people, *more, says="people.parquet")


def test_two_columns_for_one_name_are_refused(people: Path) -> None:
    with pytest.raises(ColumnError, match="the useful attribute is one column, and here are"):
        rows(people, useful="*e")
    with pytest.raises(ExpressionError):
        rows(people, predicate="age = ?")


# The command.


def test_the_command_gives_what_python_gives(people: Path) -> None:
    done = run("dp", people, *QUESTION, "--format", "json")
    assert done.code == 0
    document = json.loads(done.out)
    assert list(document) == ["qifsql", "spec", "notes", "results", "scenario"]
    assert document["results"] == rows(people)
    assert document["spec"]["epsilon"] == ["ln 3"]
    assert document["spec"]["predicates"] == ["age > 25"]
    assert [row["mechanism"] for row in document["results"]] == ["oblivious", "local"]
    assert list(document["results"][0]) == list(TRADEOFF)
    assert list(document["scenario"][0]) == list(SCENARIO)


def test_all_mechanisms_can_be_asked_for(people: Path) -> None:
    done = run("dp", people, *QUESTION, "--mechanism", "all", "-f", "csv", "--quiet")
    assert done.err == ""
    names = [line.split(",")[2] for line in done.out.splitlines()[1:]]
    assert names == ["oblivious", "local", "randomised_response"]


def test_the_table_says_what_the_numbers_mean(people: Path) -> None:
    done = run("dp", people, *QUESTION, "--mechanism", "all", "-f", "table", "--delta", "1e-30")
    for text in (
        "Count: records where age > 25", "no report", "no noise", "x 1.0000", "ln 3",
        "Knowing age removes", "Loss: with epsilon ln 3",
        "Utility: the best guess of the real count", "response: randomised response on each record",
        "What epsilon guarantees for one record", "statistical difference", "there is no guarantee",
    ):  # fmt: skip
        assert text in re.sub(r"\s+", " ", done.out)


def test_losses_of_one_are_explained_and_so_are_promises_that_are_none(people: Path) -> None:
    more = ("--mechanism", "all", "--epsilon", "ln 3, 9", "-f", "table")
    done = run("dp", people, "--useful", "age", "--secret", "ill", "--predicate", "age > 0", *more)
    words = re.sub(r"\s+", " ", done.out)
    assert "Every loss is x 1.0000, even without noise" in words
    assert "for every epsilon here, as no loss can be more" in words
    done = run("dp", people, *QUESTION[:-1], "ln 3,ln 1.5", "-f", "table")
    some = re.sub(r"\s+", " ", done.out)
    assert "Every loss is" not in some
    assert "for every epsilon here" not in some


def test_several_counts_have_a_table_each_and_one_together(people: Path) -> None:
    done = run("dp", people, *QUESTION, "--predicate", "age = 20", "-f", "table")
    heads = ("Count 1: records where age > 25", "Count 2: records where age = 20")
    for text in (*heads, "All 2 counts together", "<= x"):
        assert text in done.out


@pytest.mark.slow(because="1.8 s; every recorded mutant dies without it")
def test_names_and_predicates_are_text_in_every_form(tmp_path: Path) -> None:
    for name in HOSTILE:
        file = tmp_path / "hostile.parquet"
        pl.DataFrame({name: [1, 2, 3], "[red]s[/red]": ["x", "y", "y"]}).write_parquet(file)
        quoted = identifier(name).sql("duckdb")
        question = (
            "--useful",
            name,
            "--predicate",
            f"{quoted} > 1",
            "--secret",
            "[red]s[/red]",
            "--epsilon",
            "1",
        )
        page = tmp_path / "page.html"
        done = run("dp", file, *question, "-f", "table", "-o", page)
        assert done.code == 0, done.err
        assert "[red]s[/red]" in done.out
        assert "<script>" not in page.read_text("utf-8")


def test_results_are_files_with_a_manifest(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "risk.parquet"
    assert run("dp", people, *QUESTION, "-o", out).code == 0
    frame = pl.read_parquet(out)
    assert dict(frame.schema) == TRADEOFF
    note = json.loads(pq.read_metadata(out).metadata[b"qifsql"])
    assert note["spec"]["useful"] == "age"
    assert note["inputs"][0]["path"] == str(people)
    assert (tmp_path / "risk.scenario.parquet").exists()


def test_the_statements_of_the_manifest_give_the_counts_again(people: Path) -> None:
    result = qifsql.dp(people, useful="age", predicate="age > 25", secret="ill", epsilon=1)
    connection = duckdb.connect()
    last = [connection.execute(sql).fetchall() for sql in result.origin.statements][-1]
    cells = [cell for (kind,) in last for cell in kind]
    assert sum(n for _, _, n in cells) == len(PEOPLE["age"])


def test_the_files_of_sql_run_as_they_are_in_a_prompt() -> None:
    """Views over views, once a person has defined ``respondents`` and ``listed``."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE respondents AS FROM (VALUES (1, 0, 'x'), (3, 1, 'y'), (3, 1, NULL)) "
        "AS respondents(useful, pattern, secret)"
    )
    connection.execute("CREATE TABLE listed AS SELECT 2 AS useful, 1::BIGINT AS position")
    files = (
        "joint",
        "extent",
        "totals",
        "spectra",
        "places",
        "held",
        "placed",
        "population",
        "unplaced",
        "kinds",
        "cells",
        "span",
        "whole",
    )
    assert set(views("dp")) == set(files)
    for name in files:
        connection.execute(views("dp")[name])
    found = {name: connection.sql(f"FROM {name}").fetchall() for name in files}
    assert found["extent"] == [(3, 2, 3, 3, 0)]
    assert found["held"] == [(0, 0, None, None), (1, 1, 0, 0), (2, 2, 1, 1)]
    assert sorted(found["kinds"]) == [([[1, 0, 1]],), ([[2, 1, 1]],)]
    assert [n for n, _ in found["whole"]] == [1, 2, 3]
    assert found["span"] == [(3,)]


def test_an_interruption_leaves_nothing(people: Path, monkeypatch: Any, tmp_path: Path) -> None:
    def stop(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dp, "tradeoff_rows", stop)
    temp = tmp_path / "temp"
    temp.mkdir()
    done = run("dp", people, *QUESTION, "--temp", temp, "-o", tmp_path / "o.csv")
    assert (done.code, done.out) == (Interrupted.exit_code, "")
    assert list(temp.iterdir()) == []
    assert not (tmp_path / "o.csv").exists()


# Charts.


def test_the_chart_has_every_point_and_no_value_of_a_cell(people: Path, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    folder = tmp_path / "charts"
    question = (*QUESTION, "--epsilon", "1,4", "--predicate", "age = 20")
    done = run("dp", people, *question, "--charts", folder, "--chart-format", "json", "--quiet")
    assert done.code == 0, done.err
    spec = json.loads((folder / "tradeoff.json").read_text("utf-8"))
    values = next(iter(spec["datasets"].values())) if "datasets" in spec else spec["data"]["values"]
    points = [v for v in values if "given" in v]
    assert len(points) == 3 * (2 + 2 + 1)  # epsilons; mechanisms of both counts, one of all
    assert {p["panel"] for p in points} == {"count 1", "count 2", "all counts together"}
    assert "privacy loss" in spec["description"]
    assert CELL not in json.dumps(spec)


@pytest.mark.cases(1)
@pytest.mark.parametrize("kind", ["svg", "html"])
def test_charts_are_drawn_in_every_form(people: Path, tmp_path: Path, kind: str) -> None:
    pytest.importorskip("altair")
    done = run("dp", people, *QUESTION, "--charts", tmp_path / "c", "--chart-format", kind)
    assert done.code == 0
    assert (tmp_path / "c" / f"tradeoff.{kind}").stat().st_size > 1000
    assert "note: written: " in done.err


def test_every_type_that_can_be_ordered_is(tmp_path: Path) -> None:
    for kind, values in VALUES.items():
        if kind == pa.string():
            continue
        known = [v for v in values if v is not None and str(v) != "nan"][:3]
        file = tmp_path / "t.parquet"
        secret = ["x", "y", "x", "y"][: len(known)]
        pq.write_table(pa.table({"u": pa.array(known, kind), "s": secret}), file)
        last = sorted(known)[-1]
        text = str(last) if kind in (pa.bool_(), pa.int64()) else f"'{last}'"
        found = qifsql.dp(file, useful="u", predicate=f"u = {text}", secret="s", epsilon=1)
        assert found.frame.height == 2
