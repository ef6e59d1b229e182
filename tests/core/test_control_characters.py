"""No name or value steers a terminal: what people read holds no control character."""

import json
from pathlib import Path

import polars as pl
import pytest
from answers import results
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import run

from qifsql.errors import printable
from qifsql.options.runtime import talk
from qifsql.results.result import text

STEERING = [
    *("\x1b[31m", "\x1b]0;title\x07", "\x07", "\x08", "\x0b", "\x7f", "\x9b2J", "\x85", "\t"),
    *("\u202a", "\u202e", "\u2066", "\u2069", "\u200b", "\u200f", "\ufeff", "\u2028"),
]
names = st.lists(st.sampled_from([*STEERING, "a", " ", "é"]), min_size=1, max_size=5).map(
    lambda parts: "n" + "".join(parts) + "n"
)


def steering(text: str) -> set[str]:
    """Return the characters of a text that could steer a terminal."""
    return {c for c in text if not c.isprintable() and c != "\n"}


@pytest.mark.slow(because="7.9 s; every recorded mutant dies without it")
@given(names, names, names)
@settings(max_examples=examples(2), deadline=None)
def test_no_command_lets_a_name_or_a_value_steer_the_terminal(
    tmp_path_factory: pytest.TempPathFactory, column: str, secret: str, value: str
) -> None:
    folder = tmp_path_factory.mktemp("names")
    data = folder / f"{value}.parquet"
    rows = [f"{value}{i % 3}" for i in range(30)]
    named = {f"q{column}": rows, f"s{secret}": rows[1:] + rows[:1], "g": rows}
    pl.DataFrame(named).write_parquet(data)
    asked = ("-q", f"q{column}", "-s", f"s{secret}")
    commands: list[tuple[object, ...]] = [
        ("describe", data, "--values", 3),
        ("attack", "crs,cas", data, *asked, "--by", "g", "--histogram"),
        ("levels", data, *asked, "--show-blocks"),
        ("inspect", data, *asked),
        ("sweep", data, *asked, "--workspace", folder / "w"),
        ("compare", data, *asked, "--change", f"drop=q{column}"),
    ]
    for command in commands:
        with results() as shown:
            done = run(*command, "--format", "table")
        assert done.code == 0, done.err
        written = [text(shown[0], form) for form in ("markdown", "json")]
        for said in (done.out + done.err, *written):
            assert steering(said) == set(), command[0]
    wrong: list[tuple[object, ...]] = [
        ("attack", "crs", data, "-q", f"x{column}"),
        ("attack", "crs", data, *asked[:2], "--where", f"{column} ="),
        ("attack", "crs", folder / f"no{value}.parquet", *asked[:2]),
        ("attack", f"crs{value}", data, *asked[:2]),
        ("attack", "crs", data, f"--{value}"),
        ("report", data, "-o", folder / "report.html"),
    ]
    for command in wrong:
        done = run(*command)
        assert done.code == 2, done
        assert steering(done.out + done.err) == set(), command
    made = run("attack", "cas", data, *asked, "--by", "g", "-o", folder / "result.parquet")
    assert made.code == 0, made.err
    for options in ((), ("--private",)):
        run("report", folder / "result.parquet", *options, "-o", folder / "report.md")
        assert steering((folder / "report.md").read_text("utf-8")) <= {"\t"}


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
@given(st.text())
def test_printable_text_has_no_control_character(said: str) -> None:
    assert steering(printable(said)) == set()
    assert printable(said, "\n").count("\n") == said.count("\n")
    assert len(printable(said)) == len(said)


def test_a_line_to_the_person_is_printable(capsys: pytest.CaptureFixture[str]) -> None:
    talk("".join(STEERING))
    assert steering(capsys.readouterr().err) == set()


def test_json_gives_names_back_as_they_are(tmp_path: Path) -> None:
    name = "q" + "".join(STEERING)
    pl.DataFrame({name: [1, 2]}).write_parquet(tmp_path / "data.parquet")
    done = run("describe", tmp_path / "data.parquet", "--format", "json")
    assert steering(done.out) == set()
    assert json.loads(done.out)["results"][0]["column"] == name
