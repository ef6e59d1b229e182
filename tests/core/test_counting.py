"""Parts of counting by themselves: limits, codes in words, progress, weights, columns to match."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import duckdb
import polars as pl
import pytest
from sqlglot import exp

from qifsql.adversary.gains import parse
from qifsql.adversary.spec import Attribute, BoundAttack, BoundGain, Microdata
from qifsql.counting import coded, compared_files, matching_columns, scales, secret_values, session
from qifsql.counting import passes as passes_module
from qifsql.counting.coded import Coded, Field
from qifsql.counting.compared_files import File
from qifsql.counting.counts import Counts
from qifsql.counting.matching_columns import Side
from qifsql.counting.passes import Passes
from qifsql.counting.release_limits import ClassLimits
from qifsql.data.dataset import Column, Dataset, Schema
from qifsql.engine.catalog import Catalog
from qifsql.engine.progress import Meter
from qifsql.errors import ColumnError, InputError, WeightError
from qifsql.query.render import render

DATASET = Dataset("d", "parquet", ("d.parquet",))


def attribute(name: str, type_: str) -> Attribute:
    return Attribute(name, exp.column(name, table="source"), type_)


@pytest.mark.parametrize(
    ("limits", "plain", "words"),
    [
        ({"k": 1}, {"k": 1}, "k=1"),
        ({"k": 5, "l": 2}, {"k": 5, "l": 2}, "k=5 and l=2"),
        ({"k": 2, "l_entropy": 1}, {"k": 2, "l_entropy": 1}, "k=2 and entropy l=1"),
        ({"k": 2, "l_entropy": "2.5"}, {"k": 2, "l_entropy": 2.5}, "k=2 and entropy l=2.5"),
        (
            {"k": 2, "l_recursive": "0.5,2"},
            {"k": 2, "l_recursive": [0.5, 2]},
            "k=2 and recursive (0.5, 2)",
        ),
        (
            {"k": 2, "t": 1, "t_ordered": 0.25},
            {"k": 2, "t": 1, "t_ordered": 0.25},
            "k=2 and t=1 and ordered t=0.25",
        ),
    ],
)
def test_limits_are_kept_as_they_were_set(limits: Any, plain: Any, words: str) -> None:
    checked = ClassLimits.of(**limits)
    assert (checked.plain(), checked.words) == (plain, words)
    assert checked.of_secret == (set(limits) != {"k"})
    assert checked.monotone(adding=True)
    assert checked.monotone(adding=False) == (set(limits) <= {"k", "l"})


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"k": 0}, "k must be a whole number from 1"),
        ({"k": True}, "k must be a whole number from 1"),
        ({"k": 1, "l": 0}, "l must be a whole number from 1"),
        ({"k": 1, "l_entropy": 0.75}, "entropy l must be at least 1"),
        ({"k": 1, "l_entropy": "many"}, "entropy l is not a number"),
        ({"k": 1, "l_entropy": "1.0000000001"}, "too many digits"),
        ({"k": 1, "l_entropy": 10**18 + 1}, "too many digits"),
        ({"k": 1, "l_recursive": "3"}, "needs two numbers"),
        ({"k": 1, "l_recursive": (0, 2)}, "c of recursive l must be above 0"),
        ({"k": 1, "l_recursive": (1, 0)}, "l of recursive l must be a whole number from 1"),
        ({"k": 1, "l_recursive": (1, 1.5)}, "l of recursive l must be a whole number from 1"),
        ({"k": 1, "t": 0}, "t of 0 allows only"),
        ({"k": 1, "t": 1.5}, "t is a distance from 0 to 1"),
        ({"k": 1, "t_ordered": -1}, "ordered t is a distance from 0 to 1"),
    ],
)
def test_limits_that_no_class_can_break_or_keep_are_refused(limits: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ClassLimits.of(**limits)


def test_limits_are_exact() -> None:
    limits = ClassLimits.of(1, l_entropy=1, l_recursive=(1, 1), t="0.1")
    assert (limits.l_entropy, limits.l_recursive) == (1, (1, 1))
    assert limits.t == Fraction(1, 10)


def test_progress_never_goes_back_within_a_stage() -> None:
    shown: list[tuple[str, float, str]] = []
    meter = Meter("work", lambda *now: shown.append(now))
    meter.show()
    meter.begin(1, 4, "first")
    meter.show()
    meter.inside(0.5, "half")
    meter("a statement", 0.75)
    meter.inside(0.25, "quarter")
    meter.show()
    meter.begin(2, 4, "second")
    meter.show()
    assert shown == [
        ("work", 0.0, "reading"),
        ("work", 0.25, "first"),
        ("work", 0.375, "half"),
        ("work", 0.375, "quarter"),
        ("work", 0.5, "second"),
    ]


def test_codes_are_packed_into_words_of_63_bits() -> None:
    assert coded._packed([1, 2, 3, 4, 5]) == (
        Field(1, 0, 1),
        Field(1, 1, 1),
        Field(1, 2, 2),
        Field(1, 4, 2),
        Field(1, 6, 3),
    )
    wide = 2**30
    assert coded._packed([wide, wide, 8]) == (
        Field(1, 0, 30),
        Field(1, 30, 30),
        Field(1, 60, 3),
    )
    assert coded._packed([wide, wide, 9]) == (
        Field(1, 0, 30),
        Field(1, 30, 30),
        Field(2, 0, 4),
    )
    assert [Field(1, 0, 1).mask, Field(1, 2, 3).mask] == [1, 28]


def test_a_subset_has_the_bits_of_its_fields() -> None:
    tables: Any = None
    fields = (Field(1, 0, 2), Field(1, 2, 3), Field(2, 0, 4))
    people = Coded(tables, fields, (3, 8, 16), (2,), (1, 2, 0))
    assert people.words == 2
    assert [render(word) for word in people.masked([0, 2])] == [
        "word_1 & 3 AS word_1",
        "word_2 & 15 AS word_2",
    ]
    assert render(people.key([1])) == "[word_1 & 28, word_2 & 0]"
    assert people.counts == ["original", "control", "synthetic_1", "synthetic_2", "synthetic_0"]
    assert render(people.code_of(0, "t")) == "(t.word_1 & 3)"
    assert render(people.code_of(1, "t")) == "((t.word_1 & 28) >> 2)"
    key = exp.column("key")
    assert render(people.code_of_key(2, key)) == "(LIST_EXTRACT(key, 2) & 15)"
    single = replace(people, fields=fields[:2])
    assert single.words == 1
    assert render(single.code_of_key(1, key)) == "((key & 28) >> 2)"
    assert render(single.key([0, 1])) == "word_1 & 31"
    assert coded.fields_of_words(fields) == [[[1, 0], [2, 2]], [[3, 0]]]
    assert render(single.cells(0)).endswith("GROUP BY 1, 2")
    assert "secret_1 AS secret" in render(people.cells(1, [0]))
    assert render(people.cells(1, [0])).endswith("GROUP BY 1, 2, 3")
    assert "secret AS secret" in render(people.cells(1, [0], "smaller"))


@pytest.mark.parametrize(
    ("least", "most", "records", "fits"),
    [
        (1.0, 1.0, 1, True),
        (1.0, 2.0**71, 1, True),  # 53 bits, and 71 more
        (1.0, 2.0**72, 1, False),
        (1.0, 2.0**71, 2, False),
        (0.5, 2.0**71, 1, False),
        (2.0**-900, 2.0**-900, 1, True),
        (2.0**-901, 2.0**-901, 1, False),
    ],
)
def test_weights_are_added_exactly_or_refused(
    least: float, most: float, records: int, fits: bool
) -> None:
    if fits:
        session._check_range(least, most, records, "w")
    else:
        with pytest.raises(WeightError, match='weights "w" differ by too many orders'):
            session._check_range(least, most, records, "w")


def test_records_that_are_left_out_are_said() -> None:
    assert session.note_dropped(5, 5) == ()
    note = "1,000 of 5,000 records with missing values are left out"
    assert session.note_dropped(5000, 4000) == (note,)


def test_values_are_compared_as_they_are_but_for_enums_and_floats() -> None:
    shown = {
        type_: render(matching_columns.plain(attribute("a", type_)))
        for type_ in ("INTEGER", "VARCHAR", "ENUM('x', 'y')", "DOUBLE")
    }
    assert shown.pop("DOUBLE").startswith("CASE WHEN")
    assert shown == {
        "INTEGER": "source.a",
        "VARCHAR": "source.a",
        "ENUM('x', 'y')": "CAST(source.a AS TEXT)",
    }


def test_a_side_has_the_records_that_miss_nothing_and_their_key() -> None:
    names = ("a", "b", "k")
    a, b, key = (attribute(name, "INTEGER") for name in names)
    side = Side(DATASET, (a, b), key, None)
    step = side.step("release")
    assert (step.name, step.query.named_selects) == ("release", ["qid_1", "qid_2", "key"])
    complete = "NOT (source.a) IS NULL AND NOT (source.b) IS NULL"
    assert render(side.complete) == complete
    assert render(step.query).endswith(f"WHERE {complete}")
    assert replace(side, key=None).step("release").query.named_selects == ["qid_1", "qid_2"]
    assert side.keyed("people").query.named_selects == ["key"]
    assert side.rows(a.expression).args.get("where") is None
    filtered = replace(side, where=exp.column("a").eq(1))
    assert render(filtered.rows(a.expression)).endswith("WHERE (a = 1)")


def file(*attributes: Attribute, title: str = "f", qids: int = 1) -> File:
    microdata = Microdata(DATASET, attributes[:qids])
    return File("release", title, 5, microdata, attributes)


def test_files_have_their_attributes_in_one_order_and_one_type() -> None:
    a, b, group = attribute("a", "INTEGER"), attribute("b", "VARCHAR"), attribute("g", "VARCHAR")
    ordered = compared_files._in_common_order(file(b, a, group, qids=2), ["a", "b"])
    assert ordered.attributes == (a, b, group)
    same = [file(a, group), file(a)]
    assert compared_files._in_common_types(same) == same
    wide = attribute("a", "DOUBLE")
    with pytest.raises(ColumnError, match=r'column "b" is .* in two but .* in one: values'):
        compared_files._in_common_types([file(a, title="one"), file(b, title="two")])
    found = compared_files._in_common_types(
        [file(attribute("a", "DATE")), file(attribute("a", "DATE"))]
    )
    assert [f.attributes[0].type for f in found] == ["DATE", "DATE"]
    assert compared_files._in_common_types([file(wide)]) == [file(wide)]


def test_a_dictionary_of_nobody_has_no_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    class Engine:
        """Answers with the row that it has."""

        def __init__(self, row: tuple[Any, ...]) -> None:
            self.row = row

        def keep(self, name: str, *_: object, **__: object) -> None:
            self.name = name

        def rows(self, *_: object) -> list[tuple[Any, ...]]:
            return [self.row]

    microdata = Microdata(DATASET, (attribute("a", "INTEGER"),))

    def spread(*row: object) -> scales.Spread:
        engine: Any = Engine(row)
        found = scales.make_dictionary(engine, microdata, "qid_1")
        assert engine.name == "dictionary_qid_1"
        return found

    assert spread(0, None, None, None, False) == scales.Spread(0, 0, 0, 0, missing=False)
    assert spread(2, 5, 3, 13.0, True) == scales.Spread(2, 5, 3, 13, missing=True)


def test_the_span_of_a_scale_is_between_its_ends() -> None:
    scale = scales.Scale(attribute("a", "INTEGER"), 3, scales.NOWHERE, 2, 9)
    assert (scale.span, scale.interval) == (7, True)
    assert not replace(scale, attribute=attribute("a", "VARCHAR")).interval


class Answers:
    """A stream that runs statements in plain DuckDB, without the catalogues of an engine."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql.replace("memory.main.", "")).fetchall()


def test_a_table_without_rows_has_nobody() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 3 AS people UNION ALL SELECT 4")
        connection.execute("CREATE TABLE none AS SELECT * FROM t WHERE FALSE")
        stream: Any = Answers(connection)
        passes = Passes(stream, passes_module.Coded("d", 1, 7), lambda _: None)
        assert [passes.people(name) for name in ("t", "none")] == [7, 0]


class Counted:
    """Counts of a secret with three values, and what the lines of a file of gains say."""

    def __init__(self, gain: str, **row: int) -> None:
        self.bound = BoundAttack((), Microdata(DATASET, ()), gains=(BoundGain(parse(gain)),))
        self.row = {"lines": 0, "rest": 0, "guesses": 3, "different": 3, "pairs": 3} | row

    def domain(self, _: int) -> Any:
        return SimpleNamespace(values=3)

    def frame(self, *_: object) -> pl.DataFrame:
        return pl.DataFrame([self.row])


@pytest.mark.parametrize(
    ("gain", "row", "unknown"),
    [
        ("worth:4", {"lines": 5, "rest": 5}, 0),  # of no file
        ("worth:f", {}, 0),
        ("worth:f", {"lines": 2, "rest": 1}, 2),
        ("matrix:f", {"guesses": 2, "different": 6, "pairs": 6}, 0),
        ("matrix:f", {"guesses": 0}, 0),
    ],
)
def test_lines_of_gains_that_fit_the_values(gain: str, row: Any, unknown: int) -> None:
    counts: Any = Counted(gain, **row)
    assert secret_values._check_listed(counts, 1, 1, "gain")["unknown"] == unknown


@pytest.mark.parametrize(
    ("gain", "row", "message"),
    [
        ("worth:f", {"rest": 2}, "has 2 lines"),
        ("worth:f", {"different": 1}, "is missing for 2 of 3 values"),
        ("worth:f", {"pairs": 4}, "names a pair more than once"),
        ("matrix:f", {"rest": 1}, "has 1 line with values that do not occur"),
        ("matrix:f", {"lines": 2, "rest": 1}, "has 3 lines with values that do not occur"),
        ("matrix:f", {"guesses": 2, "different": 5}, "is missing for 1 of 6 pairs"),
        ("matrix:f", {"guesses": 1, "different": 3, "pairs": 4}, "names a pair more than once"),
    ],
)
def test_lines_of_gains_that_do_not_fit_are_refused(gain: str, row: Any, message: str) -> None:
    counts: Any = Counted(gain, **row)
    with pytest.raises(InputError, match=message):
        secret_values._check_listed(counts, 1, 1, "gain")


def test_secrets_of_few_values_are_counted_by_tallies_while_there_is_room() -> None:
    secrets = tuple(attribute(name, "VARCHAR") for name in "abcdef")
    values = dict(enumerate((8, 9, 8, 7, 2, 1), 1))
    counts: Any = SimpleNamespace(
        bound=BoundAttack((), Microdata(DATASET, (), secrets)),
        domain=lambda j: SimpleNamespace(values=values[j]),
    )
    assert Counts._tallied_values(counts) == {1: 8, 3: 8, 4: 7, 6: 1}


def test_a_filter_is_checked_by_its_name() -> None:
    class Catalogue:
        """Keeps what it is asked to check."""

        schema = Schema("d", (Column("a", "a", "INTEGER"),))

        def __init__(self) -> None:
            self.checked: list[str] = []

        def condition(self, tree: exp.Expr, what: str) -> None:
            self.checked.append(f"{what}: {render(tree)}")

    catalog: Any = Catalogue()
    assert Catalog.filter(catalog, None) is None
    assert catalog.checked == []
    found = Catalog.filter(catalog, "A > 1", "the filter (where) of d")
    assert found is not None
    assert render(found) == 'source."a" > 1'
    assert catalog.checked == ['the filter (where) of d: source."a" > 1']


def test_the_blocks_of_the_owner_are_those_of_any_secret_without_beliefs() -> None:
    secrets = (attribute("a", "VARCHAR"), attribute("b", "VARCHAR"))

    def same(question: tuple[int, int], *named: Attribute, beliefs: tuple[int, ...] = ()) -> Any:
        lines = {j: exp.select("value") for j in beliefs}
        bound = BoundAttack((), Microdata(DATASET, (), named), beliefs=lines)
        counts: Any = SimpleNamespace(bound=bound)
        return Counts._same_blocks(counts, question)

    assert same((0, 0), *secrets) == (1, 0)
    assert same((0, 0), *secrets, beliefs=(1,)) == (2, 0)
    assert same((0, 0), *secrets, beliefs=(1, 2)) == same((0, 0)) == (0, 0)
    assert [same(q, *secrets) for q in ((0, 1), (2, 0))] == [(0, 1), (2, 0)]
