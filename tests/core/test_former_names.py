"""Names of commands and functions before 0.3.0: they still work, with a note or a warning."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from places import SAMPLES
from terminal import run

import qifsql
from qifsql import commands
from qifsql.commands import former_names

TABLE = SAMPLES / "thesis_table_3_2.csv"
ASKED = ("-q", "age,gender", "-s", "illness", "--format", "json")
PERSON = ("--target", "age=60", "--target", "gender=M")
LINES = {
    "blocks": (
        ("blocks", TABLE, *ASKED, "--largest", "2"),
        ("inspect", TABLE, *ASKED, "--largest", "2"),
    ),
    "hyper": (("hyper", TABLE, *ASKED), ("inspect", "--show", "hyper", TABLE, *ASKED)),
    "records": (
        ("records", TABLE, *ASKED[:4], "-o", "{}"),
        ("inspect", "--show", "records", TABLE, *ASKED[:4], "-o", "{}"),
    ),
    "receipt": (
        ("receipt", TABLE, *ASKED, *PERSON),
        ("inspect", "--show", "receipt", TABLE, *ASKED, *PERSON),
    ),
    "what-if": (
        ("what-if", TABLE, *ASKED, "--until", "k>=2"),
        ("compare", TABLE, *ASKED, "--until", "k>=2"),
    ),
    "refines": (
        ("refines", "--null", "drop", TABLE, "--format=json", "age,gender", "-f", "json", "age"),
        ("compare", TABLE, "--null", "drop", "-q", "age,gender", "--refines", "age", *ASKED[4:]),
    ),
    "treat": (
        ("treat", TABLE, *ASKED, "--key=id", "--seed", "7", "-o", "{}"),
        ("anonymise", TABLE, *ASKED, "--one-per=id", "--seed", "7", "-o", "{}"),
    ),
    "wp29": (
        ("wp29", TABLE, *ASKED, "--threshold", "0.4", "--key", "id"),
        (
            *("check", TABLE, "--preset", "wp216", "--questions"),
            *(*ASKED, "--threshold", "0.4", "--key", "id"),
        ),
    ),
}
"""A line with each former name, and the same line today; {} is the file that it writes."""

KNOWN: dict[str, Any] = {"qids": "age,gender", "secret": "illness"}
FUNCTIONS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "blocks": lambda _: (qifsql.blocks(TABLE, **KNOWN), qifsql.inspect(TABLE, **KNOWN)),
    "hyper": lambda _: (
        qifsql.hyper(TABLE, **KNOWN, show="joint"),
        qifsql.inspect(TABLE, **KNOWN, show="joint"),
    ),
    "records": lambda out: (
        qifsql.records(TABLE, out, qids="age"),
        qifsql.inspect(TABLE, show="records", out=out, qids="age").written,
    ),
    "receipt": lambda _: (
        qifsql.receipt(TABLE, **KNOWN, target={"age": 60, "gender": "M"}),
        qifsql.inspect(TABLE, **KNOWN, show="receipt", target={"age": 60, "gender": "M"}),
    ),
    "what-if": lambda _: (
        qifsql.what_if(TABLE, **KNOWN, change="age:10"),
        qifsql.compare(TABLE, **KNOWN, change="age:10"),
    ),
    "refines": lambda _: (
        qifsql.refines(TABLE, "age,gender", "age"),
        qifsql.compare(TABLE, qids="age,gender", refines="age"),
    ),
    "treat": lambda out: (
        qifsql.treat(TABLE, out, key="age", seed=7),
        qifsql.anonymise(TABLE, out, one_per="age", seed=7),
    ),
    "wp29": lambda _: (
        qifsql.wp29(TABLE, **KNOWN, threshold=0.2, seed=1),
        qifsql.check(TABLE, preset="wp216", questions=True, **KNOWN, threshold=0.2, seed=1),
    ),
}
"""The answer of each former function, and that of the function of today."""


def answer(line: tuple[object, ...], out: Path) -> tuple[int, str, str, str]:
    """The exit code, output, notes and file of a line, without times."""
    done = run(*(out if word == "{}" else word for word in line))
    written = out.read_text() if out.exists() else ""
    return done.code, re.sub(r'"\w*seconds?": [0-9.e-]+', "", done.out), done.err, written


@pytest.mark.parametrize("name", former_names.WORDS)
def test_a_former_command_does_what_that_of_today_does_and_says_so(
    name: str, tmp_path: Path
) -> None:
    old, new = (answer(line, tmp_path / "out.csv") for line in LINES[name])
    note, _, rest = old[2].partition("\n")
    assert note.startswith(f"note: {name} is now ")
    assert (*old[:2], rest, old[3]) == new
    assert old[0] in (0, 4)
    assert "is now" not in run(*LINES[name][0][:2], "--quiet").err


@pytest.mark.parametrize("name", former_names.WORDS)
def test_a_former_name_is_in_no_list(name: str) -> None:
    assert name.replace("-", "_") not in (*commands.NAMES, *qifsql.__all__)
    assert not re.search(rf"^│ {name} ", run("--help").out, re.M)
    assert f"qifsql {name} " not in run(name, "--help").out


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", former_names.WORDS)
def test_a_former_function_warns_and_answers(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    with pytest.warns(DeprecationWarning, match=rf"^{name.replace('-', '_')} is now ") as warned:
        old, new = FUNCTIONS[name](out)
    assert [w.filename for w in warned] == [__file__]
    if isinstance(old, qifsql.Result):
        old, new = (r.frame.drop("seconds", strict=False).rows() for r in (old, new))
    assert old == new


def test_every_former_name_has_a_line_and_a_function() -> None:
    assert set(former_names.WORDS) == set(LINES) == set(FUNCTIONS)
