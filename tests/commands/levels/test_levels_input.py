"""Levels: suppressed records, populations, bad input, and the command line."""

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import SAMPLES
from terminal import run

import qifsql
from qifsql.commands.levels import secret_blocks
from qifsql.commands.levels.levels import levels, unmet_levels
from qifsql.commands.levels.view import _level_text
from qifsql.commands.levels.view import parts as view
from qifsql.commands.levels.worst_blocks import table_of_blocks
from qifsql.data.hierarchy import Hierarchy
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, InputError
from qifsql.presentation.parts import Table
from qifsql.query.templates import load, views

PEOPLE = SAMPLES / "thesis_table_3_2.csv"
KNOWN: dict[str, Any] = {"qids": "age", "secret": "illness"}
FILES = sorted(views("levels"))


def of(result: qifsql.Result, secret: str | None = None) -> dict[str, dict[str, Any]]:
    rows = result.frame.to_dicts()
    return {r["measure"]: r for r in rows if secret is None or r["secret"] in (None, secret)}


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


@pytest.mark.parametrize("name", FILES)
def test_a_file_creates_the_view_of_its_name_and_says_what_a_row_is(name: str) -> None:
    assert load(f"levels/{name}").doc.startswith("One row")


@pytest.fixture
def starred(tmp_path: Path) -> Path:
    """Two blocks of two, and three suppressed records, one of which has a value of its own."""
    cells = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "x"), ("*", "y"), ("*", "y"), ("*", "z")]
    rows = [{"zip": "N1*" if z != "*" else z, "q": z, "s": s} for z, s in cells]
    return write(tmp_path / "starred.parquet", rows)


def test_suppressed_records_may_be_an_ordinary_block(starred: Path) -> None:
    found = levels(starred, qids=["zip", "q"], secret="s", suppressed="block")
    assert of(found)["k"]["blocks"] == 3
    assert of(found)["k"]["people"] == 7
    assert any("3 records with * as every quasi-identifier" in note for note in found.notes)


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_suppressed_records_may_be_left_out(starred: Path) -> None:
    found = of(levels(starred, qids=["zip", "q"], secret="s", suppressed="out"))
    assert found == of(levels(starred, qids=["zip", "q"], secret="s", where="q <> '*'"))
    assert found["t_equal"]["value"] == 0.25  # x 3/4, y 1/4


def test_suppressed_records_have_everyone_as_their_block(starred: Path) -> None:
    found = levels(
        starred,
        qids=["zip", "q"],
        secret="s",
        show_blocks=True,
        **{"k": 3, "alpha": 0.4},
    )
    rows = of(found)
    assert (rows["k"]["value"], rows["k"]["people"], rows["k"]["blocks"]) == (2, 7, 3)
    assert rows["k"]["people_in_violation"] == 4  # the block of seven is about three people
    # the prior is that of all: x 3/7, y 3/7, z 1/7; the block b has x alone
    assert rows["t_equal"]["value"] == 4 / 7
    # of everyone 3/7 have the most frequent value, above 0.4, and three people stand there
    assert (rows["alpha"]["people_in_violation"], rows["alpha"]["blocks_in_violation"]) == (7, 3)
    assert "worst" in found.details
    everybody = of(levels(starred, qids="s2='*'", secret="s", suppressed="everyone", k=7))
    assert (everybody["k"]["value"], everybody["t_equal"]["value"]) == (7, 0)
    alone = levels(starred, qids="s2='*'", suppressed="everyone", show_blocks=True)
    assert alone.details["worst"].to_dicts()[0]["s2"] == "*"


def test_numbers_are_never_suppressed() -> None:
    found = levels(PEOPLE, suppressed="out", **KNOWN)
    assert of(found)["k"]["people"] == 10


def test_k_map_and_presence_are_about_a_population(tmp_path: Path) -> None:
    release = write(tmp_path / "release.parquet", [{"q": q} for q in "aab"])
    everybody = write(tmp_path / "all.parquet", [{"q": q} for q in "aaaabbc"])
    found = of(
        levels(
            release, qids="q", population=everybody, k_map=3, presence_max=0.5, presence_min=0.25
        )
    )
    assert found["k_map"]["value"] == 2  # b
    assert found["k_map"]["people_in_violation"] == 1
    assert (found["delta_presence_min"]["value"], found["delta_presence_max"]["value"]) == (0, 0.5)
    assert found["delta_presence_min"]["people_in_violation"] == 1  # c, of the population
    assert found["delta_presence_max"]["met"] is True
    risk = qifsql.attack("crs", release, qids="q", population=everybody).rows()[0]
    assert risk["journalist_risk"] == 1 / found["k_map"]["value"]
    with pytest.raises(InputError, match="must contain everybody"):
        levels(everybody, qids="q", population=release)


def test_without_a_secret_there_are_k_and_the_average() -> None:
    found = levels(PEOPLE, qids="age", k=2, show_blocks=True)
    assert [row["measure"] for row in found.frame.to_dicts()] == ["k", "average_class_size"]
    assert of(found)["k"]["people_in_violation"] == 1
    assert unmet_levels(found.frame) == ("k",)
    (worst,) = found.details["worst"].to_dicts()
    assert worst == {"measure": "k", "secret": None, "age": 60, "size": 1}


@pytest.mark.slow(because="each secret alone is compared with the oracle")
def test_several_secrets_have_rows_of_their_own_and_share_k() -> None:
    found = levels(PEOPLE, qids="age", secret=["illness", "occupation"], l=2, show_blocks=True)
    secrets = [row["secret"] for row in found.frame.to_dicts()]
    assert secrets[:2] == [None, None]
    assert set(secrets[2:]) == {"illness", "occupation"}
    for secret in ("illness", "occupation"):
        alone = of(levels(PEOPLE, qids="age", secret=secret, l=2, show_blocks=True))
        assert of(found, secret)["t_ordered"] == alone["t_ordered"]


@pytest.mark.slow(because="2.0 s; every recorded mutant dies without it")
def test_results_do_not_depend_on_threads_or_the_order_of_rows(tmp_path: Path) -> None:
    rows = [{"q": i % 7, "s": (i * i) % 23} for i in range(500)]
    first = write(tmp_path / "a.parquet", rows)
    second = write(tmp_path / "b.parquet", rows[::-1])
    every = [
        levels(path, qids="q", secret="s", show_blocks=True, settings=Settings(threads=n))
        for path, n in ((first, 1), (first, 4), (second, 2))
    ]
    for other in every[1:]:
        assert other.frame.equals(every[0].frame)
        assert other.details["attacks"].equals(every[0].details["attacks"])
        assert other.details["worst"].equals(every[0].details["worst"])


def test_wide_numbers_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"q": i % 5, "s": (i * i) % 19} for i in range(200)]
    path = write(tmp_path / "a.parquet", rows)
    tree = Hierarchy.of("tree", [[str(v), f"n{v // 5}", "*"] for v in range(19)])
    asked: dict[str, Any] = {"qids": "q", "secret": "s", "hierarchy": {"s": tree}, "t": 0.1}
    narrow = levels(path, **asked)
    monkeypatch.setattr(secret_blocks, "BITS_63", 0)
    assert levels(path, **asked).frame.equals(narrow.frame)


@pytest.mark.slow(because="limits of memory are measured in the slow set")
def test_memory_is_obeyed_and_spills(tmp_path: Path) -> None:
    table = pl.select(i=pl.int_range(300_000)).select(
        q=pl.col("i") * 7919 % 100_003, s=pl.col("i") * 31 % 997
    )
    path = tmp_path / "large.parquet"
    table.write_parquet(path)
    small = levels(path, qids="q", secret="s", settings=Settings("150MB", 1, tmp_path))
    assert small.frame.equals(levels(path, qids="q", secret="s").frame)
    assert [p.name for p in tmp_path.iterdir()] == ["large.parquet"]


@pytest.mark.cases(4)
@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"k": 11}, "k = 11 is above the number of records, 10"),
        ({"l": 3}, 'above the 2 values that secret "illness" has'),
        ({"l_entropy": 2.5}, "l_entropy = 2.5 is above the 2 values"),
        ({"t": -0.1}, 't is a number from 0 to 1; "-0.1" is none'),
        ({"t": "a"}, "t is a number from 0 to 1"),
        ({"k": 0}, "k is a whole number from 1"),
        ({"k": 1.5}, "k is a whole number from 1"),
        ({"alpha": 0}, "alpha is a number above 0, up to 1"),
        ({"c": float("nan")}, "c is a number above 0"),
        ({"delta": float("inf")}, "delta is a number above 0"),
        ({"beta": True}, "beta is a number from 0"),
        ({"l_recursive": 2}, "name c, too"),
        ({"l_recursive": "3,2", "c": 2}, "one c and one l"),
        ({"l_recursive": (3, 2, 1)}, "one c and one l"),
        ({"k": (12, 11)}, "k = 11 is above the number of records, 10"),
        ({"k": "2,x"}, 'k is a whole number from 1; "x" is none'),
        ({"k_map": 2}, "needs the people who may be in the release"),
        ({"presence_min": 0.5, "presence_max": 0.2}, "swap them"),
    ],
)
def test_levels_that_cannot_be_are_refused(wanted: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as error:
        levels(PEOPLE, **KNOWN, **wanted)
    assert says in str(error.value)


def test_t_of_0_wants_the_shares_of_the_release() -> None:
    found = levels(PEOPLE, **KNOWN, t=0)
    assert of(found)["t_equal"]["people_in_violation"] == 6  # those of 49 are half and half
    assert any(note.startswith("t = 0 requires") for note in found.notes)


@pytest.mark.cases(5)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("yes\nno\n", "has one field per line"),
        ("yes;a\nyes;b\nno;a\n", "what line 2 puts below one node"),
        ("yes;a\nyes;a\nno;a\n", "names a value in more than one line"),
        ("yes;a;x\nno;a;y\n", "what line 2 puts below one node stands below another in line 1"),
        ("yes;no;yes\nno;yes;no\n", "is its own ancestor"),
        ("yes;a;*\n", "has no line for 1 of the 2 values"),
        ('"yes;a\n', "a quote is not closed"),
    ],
)
def test_hierarchies_that_are_no_trees_are_refused(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "tree.csv"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        levels(PEOPLE, **KNOWN, hierarchy={"illness": file})
    assert says in str(error.value)
    assert "yes" not in str(error.value)  # a value of a cell


def test_a_hierarchy_of_another_column_or_no_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tree.csv"
    file.write_text("yes;*\nno;*\n")
    with pytest.raises(InputError, match="which is not a secret here"):
        levels(PEOPLE, **KNOWN, hierarchy={"ilness": file})
    with pytest.raises(InputError, match="cannot be read"):
        levels(PEOPLE, **KNOWN, hierarchy={"illness": tmp_path / "none.csv"})
    (tmp_path / "latin.csv").write_bytes(b"caf\xe9;*\n")
    with pytest.raises(InputError, match="is not UTF-8"):
        levels(PEOPLE, **KNOWN, hierarchy={"illness": tmp_path / "latin.csv"})


def test_an_empty_field_of_a_hierarchy_is_the_missing_value(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", [{"q": 1, "s": None}, {"q": 2, "s": "a;b"}])
    tree = Hierarchy.of("tree", [["", "x"], ["a;b", "y"]])
    found = of(levels(path, qids="q", secret="s", hierarchy={"s": tree}))
    assert found["t_hierarchical"]["value"] == 0.5


def test_a_secret_among_the_quasi_identifiers_and_weights_are_refused() -> None:
    with pytest.raises(ColumnError, match="is among the quasi-identifiers"):
        levels(PEOPLE, qids=["age", "illness"], secret="illness")
    with pytest.raises(InputError, match="levels does not take weight"):
        levels(PEOPLE, **KNOWN, weight="age")  # type: ignore[call-arg]
    with pytest.raises(InputError, match="suppressed is one of"):
        levels(PEOPLE, **KNOWN, suppressed="none")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="above 1"):
        levels(PEOPLE, **KNOWN, skew=0.5)
    with pytest.raises(TypeError, match="unknown option"):
        levels(PEOPLE, **KNOWN, ks=5)  # type: ignore[call-arg]


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_hostile_names_and_values(tmp_path: Path) -> None:
    name, secret = '"; drop table', "=cmd()\n<script>"
    rows = [{name: "'x", secret: v} for v in ("\n", "=1+1", "<b>", None)]
    path = write(tmp_path / "a.parquet", rows)
    tree = Hierarchy.of("t", [[v, "'; --"] for v in ("\n", "=1+1", "<b>", "")])
    found = levels(path, qids=[name], secret=[secret], hierarchy={secret: tree}, show_blocks=True)
    assert of(found)["l_distinct"]["value"] == 3  # a missing secret protects nobody
    assert (
        found.details["attacks"].filter(attack="similarity")["people"].to_list() == []
    )  # one level: the root
    done = run(
        "levels", str(path), "--qids", f'"{name.replace(chr(34), chr(34) * 2)}"', "--format", "json"
    )
    assert done.code == 0


@pytest.mark.slow(because="1.2 s; every recorded mutant dies without it")
def test_the_command_gives_what_the_function_gives(tmp_path: Path) -> None:
    file = tmp_path / "tree.csv"
    file.write_text("yes;a;*\nno;a;*\n")
    options = ["-q", "age", "-s", "illness", "--k", "2", "--t", "0.2", "--hierarchy", str(file)]
    done = run("levels", str(PEOPLE), *options, "--format", "json", "--show-blocks")
    assert done.code == 0
    told = json.loads(done.out)
    mine = levels(PEOPLE, **KNOWN, k=2, t="0.2", hierarchy={"illness": file}, show_blocks=True)
    assert told["results"] == [{"unit": "records", **row} for row in mine.frame.to_dicts()]
    assert told["attacks"] == mine.details["attacks"].to_dicts()
    assert told["worst"] == mine.details["worst"].to_dicts()
    assert told["spec"]["wanted"] == {"k": "2", "t": "0.2"}
    met = {row["measure"]: row["met"] for row in told["results"]}
    assert (met["k"], met["t_hierarchical"], met["t_equal"]) == (False, False, None)


@pytest.mark.slow(because="0.6 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("options", "code"), [(["--k", "2"], 4), (["--k", "1"], 0), ([], 2), (["--l", "9"], 2)]
)
def test_enforced_levels_say_so_by_the_exit_code(options: list[str], code: int) -> None:
    done = run("levels", str(PEOPLE), "-q", "age", "-s", "illness", "--enforce", *options)
    assert done.code == code
    assert ("not kept: k" in done.err) == (code == 4)
    assert bool(done.out) == (code != 2)


def test_the_table_for_people_says_what_numbers_mean() -> None:
    done = run("levels", str(PEOPLE), "-q", "age", "-s", "illness", "--k", "2", "--format", "table")
    for said in (
        "10 people in 3 blocks, knowing age",
        "1 in 1 block",
        "average class size 3.333 safer",
        "t, equal distance 0.5 riskier",
        "l = 1 asks for one value in a block",
        "Homogeneity attack: 1 person in 1 block where all report the same value",
        "Background-knowledge attack: 9 people in 2 blocks with two values",
    ):
        assert said in " ".join(done.out.split())


def test_measures_with_the_same_worst_block_share_a_row() -> None:
    found = levels(PEOPLE, **KNOWN, show_blocks=True)
    parts = view(found.frame, found.details, {"qids": ["age"]})
    table = parts[-1]
    assert isinstance(table, Table)
    blocks = [row[1:] for row in table.rows]
    assert len(blocks) == len(set(blocks))
    measures = "; ".join(row[0] for row in table.rows).split("; ")
    assert len(measures) == found.details["worst"].height


def test_four_digits_never_say_that_a_level_is_whole_or_as_wanted() -> None:
    values = (1.0, 3.3333333, 0.99999, 0.200004, 12345.678, None)
    assert [_level_text(x, 0.2) for x in values] == [
        *("1", "3.333", "0.99999", "0.200004", "12,346", "none"),
    ]


@pytest.mark.slow(because="1.2 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".json", ".md", ".html"])
def test_results_are_written_with_their_details(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"levels{ending}"
    done = run("levels", str(PEOPLE), "-q", "age", "-s", "illness", "--show-blocks", "-o", str(out))
    assert done.code == 0
    assert out.is_file()
    if ending == ".parquet":
        assert pl.read_parquet(tmp_path / "levels.attacks.parquet").height == 3
        assert pl.read_parquet(tmp_path / "levels.worst.parquet").height == 9


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_enforced_levels_are_named_each() -> None:
    done = run("levels", PEOPLE, "-q", "age", "--k", "1,5,2", "--enforce")
    assert (done.code, done.err) == (4, "not kept: k = 2, k = 5\n")
    assert run("levels", PEOPLE, "-q", "age", "--k", "1", "--enforce").code == 0
    recursive = ("-s", "illness", "--l-recursive", "4,2", "--enforce")
    assert run("levels", PEOPLE, "-q", "gender", *recursive).code == 0


def test_a_worst_block_of_reported_secrets_may_have_values_of_another_type(tmp_path: Path) -> None:
    """The worst block of all has no income, that of the people with a reported secret has one."""
    people = [("a", None, "x"), ("a", None, "y"), ("b", 5, "x"), ("b", 5, None), ("b", 5, "x")]
    path = write(
        tmp_path / "p.parquet",
        [{"town": town, "income": income, "s": s} for town, income, s in people],
    )
    result = levels(path, qids="town,income", secret="s", show_blocks=True)
    worst = {row["measure"]: row for row in result.details["worst"].to_dicts()}
    assert worst["k"]["income"] is None
    assert (worst["l_distinct"]["town"], worst["l_distinct"]["income"]) == ("b", 5)


def test_a_column_of_worst_blocks_is_text_if_one_of_them_is_everyone() -> None:
    """``*`` stands beside values of every type, as text."""
    day = datetime.date(2020, 1, 1)
    everyone = dict.fromkeys(("day", "n", "flag"), "*") | {"size": 9}
    table = table_of_blocks([{"day": day, "n": 5, "flag": True, "size": 1}, everyone])
    assert table.rows() == [("2020-01-01", "5", "true", 1), ("*", "*", "*", 9)]
