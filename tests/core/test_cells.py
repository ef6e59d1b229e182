"""The syntax of generalised cells, and hierarchies: what they mean and what is refused."""

from pathlib import Path

import pytest

from qifsql.data.cells import Cell, UnreadableError, parse, with_points
from qifsql.data.domains import domain
from qifsql.data.hierarchy import Hierarchy
from qifsql.errors import DatasetError

WHOLE, TEXT, DATE, FLOAT = (domain(t) for t in ("INTEGER", "VARCHAR", "DATE", "DOUBLE"))
TIMESTAMP = domain("TIMESTAMP")
DECIMAL = domain("DECIMAL(6,2)")


def interval(lower: str | None, upper: str | None, *, missing: bool = False) -> Cell:
    return Cell(ranged=True, lower=lower, upper=upper, missing=missing)


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("[20,30]", "20", "30"),
        ("[20, 30)", "20", "29"),
        ("[20,30[", "20", "29"),
        ("(20,30]", "21", "30"),
        ("]20.5,30]", "21", "30"),
        ("[19.5,30.5]", "20", "30"),
        ("20-29", "20", "29"),
        ("0-0", "0", "0"),
    ],
)
def test_intervals_of_whole_numbers_are_closed_ones(text: str, lower: str, upper: str) -> None:
    assert parse(text, WHOLE) == interval(lower, upper)
    assert parse(f"{text}?", WHOLE) == interval(lower, upper, missing=True)


def test_one_bound_leaves_the_other_end_open() -> None:
    assert parse("<30", WHOLE).upper == "29"
    assert parse(">=40", WHOLE).lower == "40"
    assert parse("<0.5", FLOAT) == Cell(ranged=True, upper="0.5", open_above=True)
    assert parse("[0.255,1)", DECIMAL) == interval("0.26", "0.99")
    assert parse("(-inf,2]", FLOAT) == Cell(ranged=True, upper="2", open_below=True)
    assert parse("[2020-01-01,2020-01-31]", DATE) == interval("2020-01-01", "2020-01-31")


def test_intervals_of_decimals_and_of_iso_8601_have_both_ends() -> None:
    assert parse("1.5-2.25", FLOAT) == parse("1.5–2.25", FLOAT) == interval("1.5", "2.25")
    assert parse("1.5-2.25", TEXT) == Cell(items=("1.5-2.25",))
    quarter = interval("2019-01-01", "2019-03-31")
    assert parse("2019-01-01/2019-03-31", DATE) == quarter
    assert parse("2019-01-01/..", DATE) == interval("2019-01-01", None)
    assert parse("2019-01-01/2019-03-31", TEXT) == Cell(items=("2019-01-01/2019-03-31",))
    for text in ("2019-03-31/2019-01-01", "2019-01-01/soon"):
        with pytest.raises(UnreadableError):
            parse(text, DATE)


def test_four_parts_of_an_interval_are_decimals_and_those_of_a_set_are_items() -> None:
    assert parse(with_points("[1,5,2,25]"), FLOAT) == interval("1.5", "2.25")
    assert parse(with_points("{1,2,3,4}"), FLOAT) == Cell(items=("1", "2", "3", "4"))
    assert parse(with_points("{1,2;3,4}"), FLOAT) == Cell(items=("1.2", "3.4"))


@pytest.mark.parametrize("text", ["2019-01-01/2019-03-31", "2019-01-01 to 2019-03-31"])
def test_intervals_of_days_hold_the_timestamps_of_their_last_day(text: str) -> None:
    until = interval("2019-01-01T00:00:00", "2019-03-31T23:59:59.999999")
    assert parse(text, TIMESTAMP) == until
    assert parse(f"{text}T10:00?", TIMESTAMP) == interval(
        "2019-01-01T00:00:00", "2019-03-31T10:00:00", missing=True
    )
    one_day = parse("2019-03-31/2019-03-31", TIMESTAMP)
    assert (one_day.lower, one_day.upper) == ("2019-03-31T00:00:00", until.upper)
    assert parse("[2019-01-01,2019-03-31]", TIMESTAMP).upper == "2019-03-31T00:00:00"


@pytest.mark.parametrize(
    ("text", "items", "missing"),
    [
        ("{France,Germany}", ("France", "Germany"), False),
        ('{"a,b",c}', ("a,b", "c"), False),
        ('{"say ""hi""", x }', ('say "hi"', "x"), False),
        ('{a,""}', ("a", ""), False),
        ("{a,}", ("a",), True),
        ('{"*"}', ("*",), False),
        ("France", ("France",), False),
        ("028", ("028",), False),
        ("2019-01", ("2019-01",), False),
    ],
)
def test_sets_and_plain_texts(text: str, items: tuple[str, ...], missing: bool) -> None:
    assert parse(text, TEXT) == Cell(items=items, missing=missing)


def test_a_prefix_has_a_length_which_texts_may_lack() -> None:
    assert parse("130**", TEXT) == Cell(prefix="130", length=5, open_above=True)
    assert parse("3*", WHOLE) == Cell(prefix="3", length=2)
    assert parse("**", TEXT) == Cell(prefix="", length=2, open_above=True)
    assert parse("*", TEXT) == Cell(everything=True)


def test_a_number_that_no_value_can_be_stands_for_nobody() -> None:
    assert parse("28.5", WHOLE) == Cell(items=())
    assert parse("28.0", WHOLE) == Cell(items=("28",))
    assert parse("{1,1.5}", DECIMAL) == Cell(items=("1.00", "1.50"))


def test_a_node_of_a_hierarchy_wins() -> None:
    nodes = {"0-4": ("1", "2", "3"), "1": ("1",)}
    assert parse("0-4", WHOLE, nodes) == Cell(items=("1", "2", "3"))
    assert parse("5-9", WHOLE, nodes) == interval("5", "9")


@pytest.mark.parametrize(
    "cell",
    ["[20,30", "[a,b]", "{a", "30-20", "(5,5]", "028", "x", "0**", "{1;2}", "9" * 5000],
    ids=lambda cell: cell[:9],
)
def test_what_does_not_parse_is_named_by_its_form_and_never_quoted(cell: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        parse(cell, WHOLE)
    assert str(caught.value).split(maxsplit=1)[0].rstrip(",") in (
        "interval",
        "set",
        "plain",
        "prefix",
    )
    assert cell not in str(caught.value)


def hierarchy(folder: Path, text: str) -> Hierarchy:
    path = folder / "h.csv"
    path.write_text(text)
    return Hierarchy.read(path)


def test_nodes_have_the_leaves_below_them(tmp_path: Path) -> None:
    found = hierarchy(
        tmp_path, 'Paris;France;Europe;*\nLyon;France;Europe;*\n"Rome;";Italy;Europe;*\n'
    )
    assert found.leaves == ("Paris", "Lyon", "Rome;")
    assert found.nodes["France"] == ("Paris", "Lyon")
    assert found.nodes["Europe"] == found.nodes["*"] == found.leaves
    assert found.levels == 4


def test_a_label_may_stand_on_levels_in_turn(tmp_path: Path) -> None:
    found = hierarchy(tmp_path, "a;a;x;*\nb;y;x;*\n")
    assert found.nodes["x"] == ("a", "b")


@pytest.mark.parametrize(
    ("text", "lines", "short"),
    [
        ("a,x,*\nb,x,*\n", [("a", "x", "*"), ("b", "x", "*")], 0),
        ('"1,5";x\n2;x\n', [("1,5", "x"), ("2", "x")], 0),
        ("a;x;X;*\nb;x;*\n", [("a", "x", "X", "*"), ("b", "x", "X", "*")], 1),  # as other lines
        ("a;x;X;*\nb;x\n", [("a", "x", "X", "*"), ("b", "x", "X", "*")], 1),
        ("a;x;*\nNS;*\n", [("a", "x", "*"), ("NS", "NS", "*")], 1),  # its last node again
        ("a;x;y\nb;z\n\nc\n", [("a", "x", "y"), ("b", "z", "z"), ("c", "c", "c")], 2),
        ("a,x,*,\nb,,,\n", [("a", "x", "*"), ("b", "b", "*")], 1),  # as spreadsheets fill it up
    ],
)
def test_short_lines_are_filled_up_below_the_root_and_counted(
    tmp_path: Path, text: str, lines: list[tuple[str, ...]], short: int
) -> None:
    read = hierarchy(tmp_path, text)
    assert (list(read.lines), read.short, len(read.remarks)) == (lines, short, min(short, 1))


@pytest.mark.parametrize(
    ("type_", "leaf", "value"),
    [
        ("BIGINT", "34.0", "34"),
        ("BIGINT", "+034", "34"),
        ("BIGINT", "34.5", "34.5"),  # no value of the type
        ("DOUBLE", "34", "34.0"),
        ("DOUBLE", "34.50", "34.5"),
        ("DECIMAL(9,2)", "34.5", "34.50"),
        ("DECIMAL(9,2)", "34.505", "34.505"),
        ("VARCHAR", "34.0", "34.0"),
    ],
)
def test_numbers_of_a_hierarchy_are_those_of_the_column(
    tmp_path: Path, type_: str, leaf: str, value: str
) -> None:
    assert hierarchy(tmp_path, f"{leaf};x\n77.7;y\n").of_type(type_).leaves[0] == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("a\nb\n", "one field per line"),
        ("a|x\nb|x\n", "separate value and nodes with ; or ,"),
        ("a;x;z\nb;y;z\na;y;z\n", "conflicting parents: what line 3 .* in line 1"),
        ("a;x;e\nb;x;f\n", "conflicting parents: what line 2"),
        ("a;b\nb;a\n", "cycle: a node is its own ancestor by lines 1, 2"),
        ('a;"x\n', "not CSV"),
    ],
)
def test_broken_hierarchies_are_refused_with_lines(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DatasetError, match=says):
        hierarchy(tmp_path, text)


def test_a_hierarchy_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        Hierarchy.read(tmp_path / "none.csv")
    (tmp_path / "h.csv").write_bytes(b"\xff\xfe\x00;x\n")
    with pytest.raises(DatasetError, match="not UTF-8"):
        Hierarchy.read(tmp_path / "h.csv")
