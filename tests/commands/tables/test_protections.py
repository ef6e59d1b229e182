"""Protections of counts: every published cell gives an interval that holds its true count."""

import duckdb
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from qifsql.errors import InputError
from qifsql.query import protections
from qifsql.query.protections import LARGEST, WORDS, Protection, parse, split
from qifsql.reference import published_arrays as oracle
from qifsql.reference.published_arrays import Table

KINDS = (
    *("exact", "suppress", "suppress zeros", "round", "round random", "round positive"),
    *("round random positive", "noise", "atleast"),
)
STEPS = (
    *("suppress<2", "suppress<3", "suppress<5", "suppress<4 zeros", "round:2", "round:3"),
    *("round:5", "round:3 random", "round:4 positive", "round:5 random positive"),
    *("noise:1", "noise:3"),
)
MOST = 40  # people in a cell


def tables() -> st.SearchStrategy[Table]:
    return st.builds(
        lambda kind, n: Table((0,), kind, 0 if kind == "exact" else n),
        st.sampled_from(KINDS),
        st.integers(2, 12),
    )


def told(tree: exp.Expr) -> int | None:
    """Compute an expression of literals in DuckDB."""
    with duckdb.connect() as con:
        ((answer,),) = con.execute(exp.select(tree).sql("duckdb")).fetchall()
    assert answer is None or isinstance(answer, int)
    return answer


def interval(protection: Protection, published: int | None) -> tuple[int, int | None]:
    if published is None:
        return protection.hidden()
    cell = exp.Literal.number(published)
    low = told(protection.lower(cell.copy()))
    assert low is not None
    return low, told(protection.upper(cell.copy()))


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
@settings(max_examples=examples(200))
@given(st.data(), tables(), st.integers(0, MOST))
def test_an_interval_holds_the_count_and_equals_the_oracle(
    data: st.DataObject, table: Table, n: int
) -> None:
    protection = parse(table.protection)
    published = data.draw(st.sampled_from(oracle.choices(table, n)))
    low, high = interval(protection, published)
    assert low <= n
    assert high is None or n <= high
    least, most = oracle.interval(table, published)
    assert (low, float("inf") if high is None else high) == (least, most)


@pytest.mark.parametrize("text", WORDS)
def test_what_is_not_listed_is_a_published_zero(text: str) -> None:
    protection = parse(text)
    assert interval(protection, 0) == (0, protection.unlisted)


@pytest.mark.cases(5)
@pytest.mark.parametrize(
    ("text", "published", "ends"),
    [  # the definitions, by hand
        ("exact", 3, (3, 3)),
        ("suppress<5", None, (1, 4)),
        ("suppress<5 zeros", None, (0, 4)),
        ("suppress<5", 5, (5, 5)),
        ("round:5", 0, (0, 2)),
        ("round:5", 10, (8, 12)),
        ("round:4", 8, (6, 9)),
        ("round:5 random", 0, (0, 4)),
        ("round:5 random", 5, (1, 9)),
        ("noise:2", 1, (0, 3)),
        ("noise:2", 7, (5, 9)),
        ("atleast:10", 9, (9, 9)),
        ("atleast:10", 10, (10, None)),
    ],
)
def test_intervals_by_hand(text: str, published: int | None, ends: tuple[int, int | None]) -> None:
    assert interval(parse(text), published) == ends


@settings(max_examples=examples(200))
@given(tables())
def test_a_protection_is_read_as_it_is_written(table: Table) -> None:
    protection = parse(table.protection)
    assert protection.text == table.protection
    assert parse(protection.text) == protection
    assert protection.exact == (table.kind == "exact")
    assert protection.hides_zeros == (table.kind == "suppress zeros")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (" Suppress < 5 ", "suppress<5"),
        ("SUPPRESS<5  ZEROS", "suppress<5 zeros"),
        ("round : 5 Random", "round:5 random"),
        ("top:3", "atleast:3"),
        ("EXACT", "exact"),
    ],
)
def test_spelling_is_free(text: str, same: str) -> None:
    assert parse(text) == parse(same)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "suppress",
            "suppress:5",
            "suppress<",
            "suppress<five",
            "suppress<-5",
            "suppress<2.5",
        ),
        *("round<5", "round:0", "round:1", "suppress<1", "suppress<0", "noise:0", "atleast:0"),
        *("noise:2 random", "round:5 zeros", "suppress<5 random", "atleast:3 zeros", "exact:5"),
        *(
            f"suppress<{LARGEST + 1}",
            f"noise:{10**30}",
            "noise:" + "9" * 5000,
            "supress<5",
            "rounded:5",
            "suppress<5 zero",
        ),
    ],
)
def test_no_protection_is_an_input_error(text: str) -> None:
    with pytest.raises(InputError, match="protection"):
        parse(text)


def test_an_error_proposes_what_was_meant() -> None:
    with pytest.raises(InputError, match=r"suppress<5"):
        parse("supress<5")


@pytest.mark.parametrize(
    ("text", "before", "protection"),
    [
        ("school,sex", "school,sex", "exact"),
        ("school,sex:suppress<5", "school,sex", "suppress<5"),
        ("school,sex:exact", "school,sex", "exact"),
        ("a.csv:round:5", "a.csv", "round:5"),
        ("a.csv:round:5 random", "a.csv", "round:5 random"),
        ("a,b:suppress<3 zeros", "a,b", "suppress<3 zeros"),
        ("C:\\tables\\a.csv:noise:2", "C:\\tables\\a.csv", "noise:2"),
        ("C:\\tables\\a.csv", "C:\\tables\\a.csv", "exact"),
        ("age:5,sex", "age:5,sex", "exact"),  # a coarser form is no protection
        ("sex,age:5", "sex,age:5", "exact"),
        ("sex,age:5:round:3", "sex,age:5", "round:3"),
        ("age10=age//10*10:suppress<5", "age10=age//10*10", "suppress<5"),
        ("d=CASE WHEN x<5 THEN 1 END", "d=CASE WHEN x<5 THEN 1 END", "exact"),
    ],
)
def test_a_protection_is_split_off(text: str, before: str, protection: str) -> None:
    assert split(text) == (before, parse(protection))


@pytest.mark.parametrize(
    "text", ["a,b:supress<5", "a,b:suppress<x", "a.csv:suppress<1", "a,b:exakt"]
)
def test_a_misspelt_protection_is_not_taken_for_a_name(text: str) -> None:
    with pytest.raises(InputError, match="protection"):
        split(text)


def test_all_proposed_words_are_protections() -> None:
    assert {parse(text).kind for text in WORDS} == {k.split()[0] for k in KINDS}
    assert protections.parse("exact") == Protection()


@settings(max_examples=examples(150))
@given(st.lists(st.sampled_from(STEPS), min_size=2, max_size=3), st.booleans())
def test_protections_one_after_the_other_are_what_they_print(steps: list[str], sql: bool) -> None:
    """The interval of what is printed is the set of counts that they may turn into it."""
    text = "+".join(steps)
    table = Table((), text)
    outcomes = {printed for n in range(MOST) for printed in oracle.choices(table, n)}
    meanings = {printed: oracle.meanings(table, printed) for printed in outcomes}
    gaps = [m for m in meanings.values() if m != list(range(m[0], m[-1] + 1))]
    try:
        protection = parse(text)
    except InputError:
        # What draws may print more than it does here, so that more is refused than must be.
        assert gaps or table.drawn or "noise" in text
        return
    assert not gaps
    assert protection.text == text
    for printed, counts in meanings.items():
        ends = (counts[0], counts[-1])
        if printed is None:
            assert protection.hidden() == ends
        else:
            assert (protection.lower(printed), protection.upper(printed)) == ends
            assert not sql or interval(protection, printed) == ends
    if 0 in outcomes:
        assert protection.unlisted == meanings[0][-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("suppress<3+round:10", "0, or 3 or more"),
        ("suppress<3+suppress<9+round:20", "0, or"),
        ("atleast:10+round:5", "follow one another"),
        ("suppress<5+exact", "protection"),
        ("suppress<5+", "protection"),
        (f"suppress<{10**6}+round:5", "at most 10,000"),
    ],
)
def test_protections_that_do_not_go_together_are_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse(text)
