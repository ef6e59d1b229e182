"""The dictionary attack against hashlib: patterns against itertools and re, every form of a hash.

The numbers of medallions are those of the lecture (facts.md, 003): 9A99, AA999 and AAA999.
"""

import base64
import hashlib
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

import qifsql
from qifsql.commands.unhash.automaton import build_automaton, parse, parse_all
from qifsql.commands.unhash.unhash import PATTERNS, RECOVERED, _word_tables
from qifsql.engine.tables import Tables
from qifsql.errors import ColumnError, DatasetError, InputError, OutputError

A99, AA999, AAA999 = "[0-9][A-Z][0-9][0-9]", r"[A-Z]{2}\d{3}", "[A-Z]{3}[0-9]{3}"
ALPHABET = "abc1"


def words(*patterns: str) -> int:
    return build_automaton(parse_all(patterns)).words


def test_the_medallions_of_new_york_are_as_many_as_the_lecture_says():
    assert [words(p) for p in (A99, AA999, AAA999)] == [26_000, 676_000, 17_576_000]
    assert words(A99, AA999, AAA999) == 18_278_000
    assert words(f"{A99}|[A-Z]{{2,3}}[0-9]{{3}}", AAA999) == 18_278_000


@pytest.mark.cases(4)
@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a|b|", ["a", "b", ""]),
        ("a?b?", ["", "a", "b", "ab"]),
        ("(ab|a)(c|bc)", ["abc", "abbc", "ac"]),
        ("[ab]{2}", ["aa", "ab", "ba", "bb"]),
        ("(a|bc){0,2}", ["", "a", "bc", "aa", "abc", "bca", "bcbc"]),
        ("a{0}", [""]),
        (r"\d", list("0123456789")),
        (r"[\]\-a-]", ["]", "-", "a"]),
        (r"\.\\\[\|", [".\\[|"]),
        ("(?:x y)", ["x y"]),
        ("é|[\N{SLIGHTLY SMILING FACE}'\"]", ["é", "\N{SLIGHTLY SMILING FACE}", "'", '"']),
        (r"\t|\n", ["\t", "\n"]),
    ],
)
def test_a_pattern_says_these_words_each_once(pattern: str, meant: list[str]):
    assert sorted(made(pattern)) == sorted(meant)
    assert words(pattern) == len(meant)


def made(*patterns: str, rows: int = 1) -> list[str]:
    """The candidates as SQL makes them, cut after as few characters as are needed for ``rows``."""
    from qifsql.engine.duckdb import DuckDB
    from qifsql.query.plan import Plan
    from qifsql.query.templates import load

    with DuckDB() as engine:
        tables = Tables(engine, "test", "patterns")
        for name, plan in _word_tables(build_automaton(parse_all(patterns)), rows):
            tables.make(name, plan)
        found = engine.rows(Plan((), load("unhash/candidates").query), "test", "test")
        return [word for (word,) in found]


def texts() -> st.SearchStrategy[str]:
    """Small patterns that are also regular expressions of Python."""
    leaves = st.sampled_from(["a", "b", "1", "[ab]", "[a-c]", r"\d", ""])

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        part = inner.map(lambda p: f"(?:{p})")
        return st.one_of(
            st.tuples(part, part).map("".join),
            st.tuples(inner, inner).map("|".join),
            st.tuples(part, st.sampled_from(["?", "{2}", "{0,2}", "{1,2}"])).map("".join),
        )

    return st.recursive(leaves, larger, max_leaves=4)


@settings(max_examples=examples(20))
@given(st.lists(texts(), min_size=1, max_size=3), st.sampled_from([1, 5, 10**6]))
def test_words_are_those_that_regular_expressions_match(patterns: list[str], rows: int):
    found = build_automaton(parse_all(patterns))
    if found.words > 3000:
        return
    candidates = made(*patterns, rows=rows)
    assert len(candidates) == len(set(candidates)) == found.words
    matched = [any(re.fullmatch(p, word, re.ASCII) for p in patterns) for word in candidates]
    assert all(matched)
    short = ("".join(w) for n in range(4) for w in itertools.product(ALPHABET, repeat=n))
    expected = {w for w in short if any(re.fullmatch(p, w, re.ASCII) for p in patterns)}
    assert {w for w in candidates if len(w) < 4 and set(w) <= set(ALPHABET)} == expected


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("a*", "at character 2, a repetition without an end"),
        ("a{2,}", "without an end"),
        ("a+", "without an end"),
        ("[^a]", "a negated class"),
        ("(a", "an unclosed bracket ("),
        ("a)", "an unopened bracket )"),
        ("[z-a]", "a range whose ends are not in order"),
        ("[a", "an unclosed bracket ["),
        ("[]", "a class of no characters"),
        ("{3}", "nothing to stand behind"),
        ("a{3,2}", "bounds are not in order"),
        ("a{1001}", "above 1,000"),
        ("a{x}", "not a repetition"),
        ("a.b", "a dot, which names no characters"),
        ("^a$", "a pattern says the whole identifier"),
        (r"\w", "which is not known here"),
        ("a\\", "a backslash at its end"),
        ("(?=a)", "an unknown kind of group"),
        ("(" * 60 + ")" * 60, "nested more than 50 deep"),
        ("(a|b){0,20}a(a|b){20}", "overlap in too many ways"),
        ("((a{1000}){1000}){1000}", "more than 20,000 characters"),
        ("\n*\x1b", "a repetition without an end"),
    ],
)
def test_what_is_no_pattern_is_an_error_that_says_where(pattern: str, says: str):
    with pytest.raises(InputError) as e:
        words(pattern)
    assert says in str(e.value)
    assert "\n" not in str(e.value)
    assert "\x1b" not in str(e.value)


def test_numbers_of_words_that_nobody_could_make_are_counted():
    assert words("[a-z]{1,30}") == sum(26**n for n in range(1, 31))
    parse("[a-z]{1,1000}")


FORMS = {
    "hex": lambda h: h.hexdigest(),
    "upper": lambda h: h.hexdigest().upper(),
    "mixed": lambda h: h.hexdigest().title(),
    "base64": lambda h: base64.b64encode(h.digest()).decode(),
}


def column(path: Path, values: list[Any], type_: pa.DataType | None = None) -> Path:
    table = pa.table({"c": pa.array(values, type_), "n": list(range(len(values)))})
    pq.write_table(table, path)
    return path


@pytest.mark.cases(4)
@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256"])
@pytest.mark.parametrize("form", [*FORMS, "bytes", "text in bytes"])
def test_hashes_of_every_form_are_found(tmp_path: Path, algorithm: str, form: str):
    there = [f"{i:02}" for i in range(0, 200, 7)]  # those above 99 are none of the candidates
    salted = [hashlib.new(algorithm, f"ß'{w}\"é".encode()) for w in there]
    if form == "bytes":
        file = column(tmp_path / "h.parquet", [h.digest() for h in salted], pa.binary())
    elif form == "text in bytes":
        file = column(tmp_path / "h.parquet", [h.hexdigest().encode() for h in salted], pa.binary())
    else:
        file = column(tmp_path / "h.parquet", [FORMS[form](h) for h in salted])
    done = qifsql.unhash(
        file, column="c", algorithm=algorithm, patterns=r"\d{2}", salt="ß'", salt_after='"é'
    )
    row = done.frame.row(0, named=True)
    assert (row["values"], row["recovered_values"]) == (29, 15)
    assert row["candidates"] == 100


def hashed(text: str | None, algorithm: str = "md5") -> str | None:
    return None if text is None else hashlib.new(algorithm, text.encode()).hexdigest()


IDENTIFIERS = st.sampled_from([None, "a1", "b2", "ab1", "zz9", "", "c3", "'", "no hash"])


def test_counts_of_candidates_are_readable_by_other_programs(tmp_path: Path):
    file, out = tmp_path / "hashes.parquet", tmp_path / "found.parquet"
    pl.DataFrame({"h": [hashlib.md5(b"7").hexdigest()]}).write_parquet(file)
    assert run("unhash", file, "--column", "h", "--hash", "md5", "-p", "[0-9]", "-o", out).code == 0
    assert pq.read_table(tmp_path / "found.patterns.parquet")["candidates"].to_pylist() == [10]
    refused = run("unhash", file, "--column", "h", "--hash", "md5", "-p", "[0-9]", "--max", 2**63)
    assert refused.code == 2
    assert "a number of candidates, from 1 to" in refused.err


@settings(max_examples=examples(20))
@given(
    st.lists(IDENTIFIERS, min_size=1, max_size=12).filter(
        lambda v: any(x not in (None, "no hash") for x in v)
    ),
    st.lists(st.sampled_from(["[ab][0-9]", "[a-c]{1,2}[1-3]", "", "z{2}9|'"]), max_size=3),
    st.lists(st.sampled_from(["zz9", "a1", "", "x", None]), min_size=1, max_size=4),
)
def test_what_is_recovered_is_what_hashlib_says(
    tmp_path_factory: pytest.TempPathFactory,
    identifiers: list[str | None],
    patterns: list[str],
    listed: list[str | None],
):
    folder = tmp_path_factory.mktemp("h")
    cells = [v if v == "no hash" else hashed(v) for v in identifiers]
    file = column(folder / "h.parquet", cells, pa.string())
    names = folder / "names.parquet"
    pl.DataFrame(
        {"candidate": listed, "x": 1}, schema_overrides={"candidate": pl.String}
    ).write_parquet(names)
    use_list = any(v is not None for v in listed)
    if not patterns and not use_list:
        return
    mapping = folder / "m.parquet"
    done = qifsql.unhash(
        file,
        column="C",
        algorithm="MD5",
        patterns=patterns,
        candidates=names if use_list else None,
        mapping=mapping,
    )
    found = {v for v in identifiers if v is not None and v != "no hash"}
    known = {
        v for v in found if any(re.fullmatch(p, v) for p in patterns) or (use_list and v in listed)
    }
    counts = Counter(v for v in identifiers if v in known)
    row = done.frame.row(0, named=True)
    assert done.frame.schema == RECOVERED
    schemas = {name: table.schema for name, table in done.details.items()}
    assert schemas == ({"patterns": PATTERNS} if patterns else {})
    assert row["records"] == len(identifiers)
    assert row["missing"] == identifiers.count(None)
    assert row["unfit"] == identifiers.count("no hash")
    assert row["values"] == len(found)
    assert row["recovered_values"] == len(known)
    assert row["recovered_records"] == sum(counts.values())
    assert row["recovered_values_share"] == len(known) / len(found)
    with_one = len(identifiers) - row["missing"] - row["unfit"]
    assert row["recovered_records_share"] == sum(counts.values()) / with_one
    assert row["ambiguous"] == 0
    rows = pl.read_parquet(mapping).rows()
    assert sorted(rows) == sorted((hashed(v), v, n) for v, n in counts.items())
    assert rows == sorted(rows)


def test_a_salt_that_hides_where_the_candidate_begins_is_ambiguous(tmp_path: Path):
    """Two candidates with one hash: those of the list and the pattern are the same otherwise."""
    file = column(tmp_path / "h.parquet", [hashed("x")] * 3)
    row = qifsql.unhash(file, column="c", algorithm="md5", patterns=["x", "[xy]"]).frame.row(
        0, named=True
    )
    assert (row["candidates"], row["recovered_records"], row["ambiguous"]) == (2, 3, 0)


def test_lists_of_candidates_may_be_text_csv_or_parquet(tmp_path: Path):
    file = column(tmp_path / "h.parquet", [hashed("007"), hashed('a"b, c'), hashed("7")])
    lines = tmp_path / "list.txt"
    lines.write_text('007\n\na"b, c\n007\n')
    quoted = tmp_path / "list.csv"
    quoted.write_text('candidate,n\n007,1\n"a""b, c",2\n')
    numbers = tmp_path / "list.parquet"
    pl.DataFrame({"whatever": [7, 8, None]}).write_parquet(numbers)
    for path, n in ((lines, 2), (quoted, 2), (numbers, 1)):
        row = qifsql.unhash(file, column="c", algorithm="md5", candidates=path).frame.row(
            0, named=True
        )
        assert (row["recovered_values"], row["candidates"]) == (n, 2)


def test_a_column_of_uuids_holds_md5(tmp_path: Path):
    file = tmp_path / "u.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute("CREATE TABLE t AS SELECT md5(i::VARCHAR)::UUID AS c FROM range(5) AS r(i)")
    row = qifsql.unhash(f"t@{file}", column="c", algorithm="md5", patterns="[0-2]").frame.row(0)
    assert row[7] == 3


def test_a_filter_leaves_records_out(tmp_path: Path):
    file = column(tmp_path / "h.parquet", [hashed(str(i)) for i in range(9)])
    row = qifsql.unhash(file, column="c", algorithm="md5", patterns=r"\d", where="n < 4")
    assert row.frame.row(0, named=True)["recovered_records"] == 4


def test_threads_and_memory_change_nothing(tmp_path: Path):
    file = column(tmp_path / "h.parquet", [hashed(f"{i:05}") for i in range(0, 200_000, 3)])
    results = []
    for limits in (qifsql.Settings(threads=1, memory="200MB"), qifsql.Settings(threads=2)):
        out = tmp_path / f"{limits.threads}.csv"
        done = qifsql.unhash(
            file, column="c", algorithm="md5", patterns=r"\d{4,5}", mapping=out, settings=limits
        )
        results.append((done.frame.row(0)[:12], out.read_bytes()))
    assert results[0] == results[1]
    assert results[0][0][7] == 33_334
    assert (tmp_path / "1.csv.manifest.json").exists()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    table = {
        "md": [hashed("1")],
        "sha": [hashed("1", "sha1")],
        "big": [hashed("1", "sha512")],
        "text": ["secret value"],
        "n": [1],
        "none": pa.array([None], pa.string()),
    }
    pq.write_table(pa.table(table), tmp_path / "h.parquet")
    (tmp_path / "two.csv").write_text("a,b\n1,2\n")
    (tmp_path / "empty.csv").write_text("candidate\n")
    return tmp_path / "h.parquet"


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"column": "mdd"}, ColumnError, 'did you mean "md"?'),
        ({"column": "n"}, ColumnError, "is of type BIGINT: hashes are texts or bytes"),
        ({"column": "sha"}, InputError, 'as sha1 has; did you mean algorithm="sha1"?'),
        ({"column": "big"}, InputError, "as SHA-512 has, which is not known here"),
        ({"column": "text"}, InputError, "most values are no hexadecimal digits"),
        ({"column": "none"}, InputError, "all its values are missing"),
        ({"algorithm": "md6"}, InputError, 'there is no hash "md6" here; did you mean "md5"?'),
        ({"patterns": ()}, InputError, "no candidates are named"),
        ({"patterns": r"\d{12}"}, InputError, "1,000,000,000,000 candidates would be hashed"),
        ({"patterns": r"\d{12}"}, InputError, "most=1000000000000"),
        ({"patterns": r"\d{40}"}, InputError, "about 10^40 candidates would be hashed"),
        ({"patterns": r"\d", "most": 9}, InputError, "10 candidates would be hashed, more than 9"),
        ({"most": 0}, InputError, "max is a number of candidates, from 1"),
        ({"where": "n > 5"}, DatasetError, "has no records under the filter"),
        ({"where": "n +"}, InputError, "the filter (where) is not a SQL expression"),
        ({"candidates": "nothing.txt"}, DatasetError, "nothing.txt does not exist"),
        ({"candidates": "two.csv"}, ColumnError, "does not say which column has the candidates"),
        ({"candidates": "empty.csv"}, DatasetError, "has no candidates"),
        ({"mapping": "out.txt"}, OutputError, "must end in one of .parquet, .csv"),
        ({"mapping": "h.parquet"}, OutputError, "is the input"),
        ({"mapping": "nowhere/m.csv"}, OutputError, "there is no folder"),
    ],
)
def test_bad_input_is_an_error_that_says_what_to_do(
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    kind: type[Exception],
    says: str,
):
    monkeypatch.chdir(file.parent)
    asked = {"column": "md", "algorithm": "md5", "patterns": r"\d"} | options
    before = sorted(file.parent.iterdir())
    with pytest.raises(kind) as e:
        qifsql.unhash(file, **asked)
    assert says in str(e.value)
    assert "secret value" not in str(e.value)
    assert sorted(file.parent.iterdir()) == before


def test_the_command_prints_what_the_function_gives(file: Path, tmp_path: Path):
    asked = ("unhash", file, "--column", "md", "--hash", "md5", "-p", "[0-4]", "-p", "[3-9]")
    done = run(*asked, "--format", "json")
    document = json.loads(done.out)
    (row,) = document["results"]
    assert (row["candidates"], row["recovered_records_share"]) == (10, 1.0)
    assert document["spec"]["patterns"] == ["[0-4]", "[3-9]"]
    assert [p["candidates"] for p in document["patterns"]] == [5, 7]
    assert "note: the patterns overlap in 2 candidates; each is tried once" in done.err
    table = run(*asked, "--format", "table", "--mapping", tmp_path / "m.csv")
    assert "10 candidates tried" in table.out
    assert "The hash hides nothing" in table.out
    assert "names people" in table.err
    assert (tmp_path / "m.csv").read_text().splitlines()[1] == f"{hashed('1')},1,1"
    manifest = json.loads((tmp_path / "m.csv.manifest.json").read_text())
    assert "MD5(" in manifest["sql"]
    assert run(*asked[:-4]).code == 2


def test_the_mapping_and_the_result_are_two_files(tmp_path: Path) -> None:
    file, out = tmp_path / "plain.csv", tmp_path / "m.csv"
    file.write_text("h\n0cc175b9c0f1b6a831c399e269772661\nnone\n", "utf-8")
    asked = ("unhash", file, "--column", "h", "-p", "[a-c]")
    done = run(*asked, "--hash", "md5", "--mapping", out, "-o", out)
    assert (done.code, out.exists()) == (2, False)
    assert "-o and --mapping both name" in done.err
    assert run(*asked).err == "error: Missing option '--hash'; see qifsql unhash --help\n"
    said = "1 record of 2 has something other than an md5 hash"
    assert said in run(*asked, "--hash", "md5").err
