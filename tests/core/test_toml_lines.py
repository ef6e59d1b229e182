"""TOML with line numbers: every part of the data stands where it is said to stand."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qifsql.data.toml_lines import Lines, parse
from qifsql.errors import InputError

DOCUMENT = '''\
# a comment with [brackets] and = signs
title = "one # no comment"

[adversary]
qids = ["age", "sex"]   # [ here
secret = [
    "disease",          # line 7
    """two
lines""",
    'income = ]',
]
"quoted.key" = 1
dotted.key = 2

[[rule]]
model = "crs"

[[rule]]
model = "cas"
[rule.more]
x = 1.5
[[rule.inner]]
a = 1
[[rule.inner]]
b = 2

[[rule]]
at_most = 1_000
when = 1979-05-27 07:32:00
set = { a = 1, b = { c = [1, { d = 2 }] } }

[later.than]
y = true
[later]
z = """ends with quotes"""""
'''


def written(folder: Path, text: str | bytes) -> tuple[dict[str, Any], Lines]:
    file = folder / "study.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return parse(file)


@pytest.fixture
def lines(tmp_path: Path) -> Lines:
    data, found = written(tmp_path, DOCUMENT)
    assert data == tomllib.loads(DOCUMENT)
    return found


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("adversary",), 4),
        (("adversary", "qids"), 5),
        (("adversary", "qids", 1), 5),
        (("adversary", "secret"), 6),
        (("adversary", "secret", 0), 7),
        (("adversary", "secret", 1), 8),
        (("adversary", "secret", 2), 10),
        (("adversary", "quoted.key"), 12),
        (("adversary", "dotted"), 13),
        (("adversary", "dotted", "key"), 13),
        (("rule",), 15),
        (("rule", 0), 15),
        (("rule", 0, "model"), 16),
        (("rule", 1), 18),
        (("rule", 1, "model"), 19),
        (("rule", 1, "more"), 20),
        (("rule", 1, "more", "x"), 21),
        (("rule", 1, "inner", 0, "a"), 23),
        (("rule", 1, "inner", 1), 24),
        (("rule", 1, "inner", 1, "b"), 25),
        (("rule", 2), 27),
        (("rule", 2, "at_most"), 28),
        (("rule", 2, "when"), 29),
        (("rule", 2, "set", "b", "c", 1, "d"), 30),
        (("later", "than"), 32),
        (("later", "than", "y"), 33),
        (("later",), 34),
        (("later", "z"), 35),
    ],
)
def test_a_part_stands_at_its_line(lines: Lines, path: tuple[str | int, ...], line: int):
    assert lines.of(*path) == line


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("rule", 1, "measure"), 18),
        (("rule", 2, "set", "missing", "deeper"), 30),
        (("rule", 7), 15),
        (("adversary", "keys"), 4),
        (("nothing",), 1),
        ((), 1),
    ],
)
def test_what_is_missing_is_told_at_the_nearest_part_around_it(
    lines: Lines, path: tuple[str | int, ...], line: int
):
    assert lines.of(*path) == line


def test_an_error_names_file_and_line(lines: Lines, tmp_path: Path):
    error = lines.wrong("there is no such model", "rule", 1, "model")
    assert str(error) == f"{tmp_path / 'study.toml'}, line 19: there is no such model"
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a = 1\nb\n", 2, "expected '='"),
        ("a = 1\n\nb = [1,\n2", 4, "unclosed array"),
        ('a = "x\n', 1, "illegal character"),
        ("a = 1\na = 2\n", 2, "overwrite"),
        ("[t]\n[t]\n", 2, "twice"),
        ("a = \n", 1, "invalid value"),
        ("a = 1\r\nb = @\r\n", 2, "invalid value"),
        (b"a = 1\n# caf\xe9\n", 2, "UTF-8"),
        ("a = " + "9" * 5000, 1, "limit"),
    ],
)
def test_no_toml_is_told_with_its_line(tmp_path: Path, text: str | bytes, line: int, says: str):
    with pytest.raises(InputError) as caught:
        written(tmp_path, text)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / 'study.toml'}, line {line}: ")
    assert says.casefold() in said.casefold()
    assert "\n" not in said


@pytest.mark.parametrize("name", ["missing.toml", ".", "missing/study.toml", "nul\0.toml"])
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, name: str):
    says = "is a folder; name a file" if name == "." else "cannot be read"
    with pytest.raises(InputError, match=says) as caught:
        parse(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert "\0" not in str(caught.value)


def test_nesting_without_end_is_no_crash(tmp_path: Path):
    with pytest.raises(InputError, match="nested too deeply"):
        written(tmp_path, "a = " + "[" * 100_000 + "]" * 100_000)


def test_a_byte_order_mark_and_windows_lines_count_as_nothing(tmp_path: Path):
    data, found = written(
        tmp_path, b"\xef\xbb\xbfa = 1\r\n\r\n[t]\r\nb = '''x\r\ny'''\r\nc = 2\r\n"
    )
    assert data == {"a": 1, "t": {"b": "x\ny", "c": 2}}
    assert [found.of("a"), found.of("t"), found.of("t", "b"), found.of("t", "c")] == [1, 3, 4, 6]


def test_an_empty_file_has_no_parts(tmp_path: Path):
    data, found = written(tmp_path, "")
    assert (data, found.of("anything")) == ({}, 1)


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x7f"), max_size=8)
values = st.recursive(
    st.one_of(texts, st.integers(-99, 99), st.booleans(), st.floats(-9, 9)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)


def toml(value: object) -> str:
    """A value on one line; lists and tables in brackets. JSON's texts are TOML's, but for pairs."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(k, ensure_ascii=False)} = {toml(v)}" for k, v in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return f"{value:f}"
    return json.dumps(value, ensure_ascii=False)


def parts(value: object, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for step, part in inner:
        yield from parts(part, (*path, step))


@given(st.lists(st.dictionaries(names, values, min_size=1, max_size=4), min_size=1, max_size=4))
def test_every_part_of_any_list_of_tables_has_its_line(
    tmp_path_factory: pytest.TempPathFactory, tables: list[dict[str, Any]]
):
    written_lines, expected = [], {}
    for n, table in enumerate(tables):
        written_lines += ["", "[[rule]]  # [[rule]]"]
        expected["rule", n] = len(written_lines)
        for key, value in table.items():
            written_lines.append(f"{json.dumps(key, ensure_ascii=False)} = {toml(value)}")
            for path in parts(value, ("rule", n, key)):
                expected[path] = len(written_lines)
    data, found = written(tmp_path_factory.mktemp("t"), "\n".join(written_lines))
    assert len(data["rule"]) == len(tables)
    assert {path: found.of(*path) for path in expected} == expected
    assert expected.items() <= dict(found.numbers).items()
