"""The command line: formats, exits, streams, and that what it prints is what Python gives."""

import csv
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from effort import PATIENCE
from places import SAMPLES
from polars.testing import assert_frame_equal
from terminal import run, wait_for_work

import qifsql
from qifsql.engine.duckdb import DuckDB
from qifsql.errors import InputError
from qifsql.options.runtime import run_guarded
from qifsql.results.assessment import SCHEMA

PEOPLE = str(SAMPLES / "thesis_table_3_2.csv")
CENSUS = str(SAMPLES / "school_census_2019.parquet")


def test_csv_has_the_documented_columns_and_the_numbers_of_python():
    done = run("attack", "crs,cas", PEOPLE, "--qids", "age,gender", "--secret", "illness")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    expected = qifsql.attack("crs,cas", PEOPLE, qids=["age", "gender"], secret="illness")
    assert list(rows[0]) == list(SCHEMA)
    assert [r["qids"] for r in rows] == ["age+gender"] * 2
    for row, same in zip(rows, expected.rows(), strict=True):
        for name in SCHEMA.keys() - {"qids", "seconds", "model", "secret"}:
            assert float(row[name]) == same[name]
    assert done.err == ""
    assert done.code == 0


def test_json_is_the_spec_and_the_rows():
    done = run("attack", "CRS", PEOPLE, "-q", "age", "--format", "json")
    found = json.loads(done.out)
    assert found["qifsql"] == qifsql.__version__
    assert found["spec"]["qids"] == ["age"]
    assert found["results"][0]["posterior_probabilistic"] == 0.3
    assert found["results"][0]["secret"] is None


@pytest.mark.parametrize(
    ("words", "models"),
    [
        ((PEOPLE, "-q", "age"), "crs"),
        (("-q", "age", "--", PEOPLE), "crs"),
        ((PEOPLE, "-q", "age", "-s", "illness"), "crs,cas"),
        (("--secret=illness", PEOPLE, "-q", "age"), "crs,cas"),
    ],
)
@pytest.mark.parametrize("command", ["attack", "sql"])
def test_a_model_that_is_left_out_is_re_identification_and_inference_of_a_secret(
    command: str, words: tuple[str, ...], models: str
):
    done, same = run(command, *words), run(command, models, *words)
    assert done.code == 0
    seconds = re.compile(r"[\d.]+$", re.M)
    assert seconds.sub("", done.out) == seconds.sub("", same.out)


def test_a_word_is_a_model_unless_it_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name in ("people", "crs"):  # folders of Parquet
        Path(name).mkdir()
        pl.DataFrame({"age": [1, 2]}).write_parquet(f"{name}/part.parquet")
    assert run("attack", "people", "-q", "age").code == 0
    assert "Missing argument 'FILE'" in run("attack", "crs", "-q", "age").err
    assert 'no model "crz"' in run("attack", "crz", PEOPLE, "-q", "age").err
    assert "crz.csv does not exist" in run("attack", "crz.csv", "-q", "age").err


def test_the_table_shows_before_and_after_in_words():
    done = run("attack", "crs", PEOPLE, "-q", "age", "--format", "table")
    assert "Before: 1 in 10; after: 1 in 3.33; 1 of 10 people is singled out." in done.out
    assert "\x1b" not in done.out  # no colour where there is no terminal


def test_markdown_is_a_table_in_which_names_are_text(tmp_path: Path):
    file = tmp_path / "t.parquet"
    pl.DataFrame({"<b>|x": [1, 2], "n": [1, 1]}).write_parquet(file)
    done = run("attack", "crs", file, "-q", "<b>|x", "--format", "markdown")
    assert "\\<b\\>\\|x" in done.out
    assert len(done.out.splitlines()) == 3


@pytest.mark.cases(1)
@pytest.mark.parametrize("ending", ["parquet", "csv", "json", "md", "html"])
def test_every_ending_is_written_with_a_manifest(tmp_path: Path, ending: str):
    out = tmp_path / f"result.{ending}"
    done = run("attack", "cas", PEOPLE, "-q", "age", "-s", "illness", "--seed", "7", "-o", out)
    assert done.out == ""
    if ending == "parquet":
        note = pl.read_parquet_metadata(out)["qifsql"]
        frame = qifsql.attack("cas", PEOPLE, qids="age", secret="illness").frame
        assert_frame_equal(pl.read_parquet(out).drop("seconds"), frame.drop("seconds"))
    else:
        note = (tmp_path / f"result.{ending}.manifest.json").read_text()
    manifest = json.loads(note)
    assert manifest["spec"]["secrets"] == ["illness"]
    assert manifest["seed"] == 7
    assert manifest["inputs"][0]["bytes"] == Path(PEOPLE).stat().st_size
    assert len(manifest["inputs"][0]["sha256"]) == 64
    assert "GROUP BY" in manifest["sql"]
    assert set(manifest["versions"]) == {"python", "duckdb", "polars", "sqlglot"}
    assert out.stat().st_size > 0
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_csv_file_and_csv_on_stdout_are_the_same(tmp_path: Path):
    arguments = ("attack", "crs", PEOPLE, "-q", "age")
    run(*arguments, "-o", tmp_path / "r.csv")
    columns = pl.read_csv(tmp_path / "r.csv").drop("seconds")
    assert_frame_equal(columns, pl.read_csv(io.StringIO(run(*arguments).out)).drop("seconds"))


def test_html_is_one_file_in_which_names_are_text(tmp_path: Path):
    file, out = tmp_path / "t.parquet", tmp_path / "r.html"
    pl.DataFrame({"<script>alert(1)</script>": [1, 2]}).write_parquet(file)
    run("attack", "crs", file, "-q", "<script>alert(1)</script>", "-o", out)
    text = out.read_text()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "://" not in text.replace("http://www.w3.org", "")


def test_an_older_result_is_replaced_whole(tmp_path: Path):
    out = tmp_path / "r.csv"
    out.write_text("old")
    run("attack", "crs", PEOPLE, "-q", "age", "-o", out)
    assert out.read_text().startswith("model,")


def test_a_name_with_a_comma_is_quoted_as_in_csv(tmp_path: Path):
    file = tmp_path / "t.parquet"
    pl.DataFrame({"a,b": [1, 2], "c": [1, 1], 'say "x"': [3, 4]}).write_parquet(file)
    done = run("attack", "crs", file, "-q", '"a,b",c', "-q", 'say "x"', "--format", "json")
    assert json.loads(done.out)["results"][0]["qids"] == ["a,b", "c", 'say "x"']


@pytest.mark.parametrize("name", ["*", "^.*$"])
def test_a_name_that_looks_like_a_pattern_is_one_column_of_results(tmp_path: Path, name: str):
    file, out = tmp_path / "t.parquet", tmp_path / "r.csv"
    pl.DataFrame({name: ["=x", "=y"], "b": [1, 2], "c": ["u", "u"]}).write_parquet(file)
    assert run("inspect", file, "-q", name, "-q", "b", "-s", "c", "--format", "csv").code == 0
    assert (
        run("inspect", file, "-q", name, "-s", "c", "--show", "joint", "-f", "markdown").code == 0
    )
    assert run("inspect", "--show", "records", file, "-q", "b", "-s", name, "-o", out).code == 0
    rows = csv.DictReader(io.StringIO(out.read_text()))
    assert [row[f"best_guess_{name}"] for row in rows] == ["'=x", "'=y"]


def test_patterns_and_expressions_are_quasi_identifiers():
    done = run("attack", "crs", CENSUS, "-q", "CO_*", "-q", "decade=NU_ANO//10", "-f", "json")
    assert json.loads(done.out)["results"][0]["qids"] == [
        "CO_PAIS_ORIGEM", "CO_MUNICIPIO_NASC", "CO_MUNICIPIO_END", "CO_ENTIDADE", "decade",
    ]  # fmt: skip


def test_an_expression_keeps_the_commas_in_its_brackets():
    done = run("attack", "crs", PEOPLE, "-q", "g=left(gender, 1),a=greatest(age, 30)", "-f", "json")
    assert json.loads(done.out)["results"][0]["qids"] == ["g", "a"]


def test_one_person_is_asked_about_by_column_and_value():
    done = run(
        "attack", "irs,ias", PEOPLE, "--target", "gender=M", "--target", "occupation=4",
        "-s", "illness", "--key", "id", "-f", "json",
    )  # fmt: skip
    whose, which = json.loads(done.out)["results"]
    assert (whose["matches"], whose["posterior_probabilistic"], whose["best_guess"]) == (
        2, 0.5, "9",
    )  # fmt: skip
    assert (which["posterior_deterministic"], which["best_guess"]) == (1.0, "no")
    assert which["target"] == "gender=M, occupation=4"


def test_a_missing_value_of_the_target_is_said_in_words(tmp_path: Path):
    file = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1, None, None], "b=c": ["x", "y", "x"]}).write_parquet(file)
    done = run("attack", "irs", file, "--target", "a is null", "-f", "json")
    assert json.loads(done.out)["results"][0]["matches"] == 2
    done = run("attack", "irs", file, "-q", "b=c", "--target", "b=c is null", "-f", "json")
    assert "matches none" in done.err
    done = run("attack", "irs", file, "-q", "b=c", "--target", "b=c=y", "-f", "json")
    assert json.loads(done.out)["results"][0]["matches"] == 1


def test_blocks_show_the_smallest_largest_and_most_revealing():
    sizes = {}
    for order in ("smallest", "largest", "revealing"):
        done = run("inspect", PEOPLE, "-q", "age,gender", "-s", "illness", f"--{order}", "2")
        rows = list(csv.DictReader(io.StringIO(done.out)))
        sizes[order] = [(r["age"], r["gender"], r["size"], r["counts_illness"]) for r in rows]
    assert sizes["smallest"] == [("49", "M", "1", "no: 1"), ("60", "M", "1", "no: 1")]
    assert sizes["largest"] == [
        ("25", "F", "3", "yes: 2; no: 1"),
        ("49", "F", "3", "yes: 2; no: 1"),
    ]
    assert sizes["revealing"] == sizes["smallest"]


def test_records_are_written_in_the_order_of_the_input(tmp_path: Path):
    out = tmp_path / "r.parquet"
    run(
        "inspect",
        "--show",
        "records",
        CENSUS,
        "-q",
        "NU_DIA,CO_ENTIDADE",
        "--key",
        "ID_ALUNO",
        "-o",
        out,
    )
    assert pl.read_parquet(out)["ID_ALUNO"].equals(pl.read_parquet(CENSUS)["ID_ALUNO"])
    assert "SELECT" in json.loads(pl.read_parquet_metadata(out)["qifsql"])["sql"]


COMMAND = (sys.executable, "-m", "qifsql")


def test_remarks_go_to_stderr_and_can_be_silenced():
    arguments = ("attack", "crs", PEOPLE, "-q", "id,age", "--key", "id")
    assert "a key that is unique singles out everybody" in run(*arguments).err
    assert run(*arguments, "--quiet").err == ""


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
def test_a_reader_that_leaves_early_is_no_error():
    done = subprocess.run(
        f"{' '.join(COMMAND)} inspect {CENSUS} --show blocks -q NU_DIA,NU_MES,CO_ENTIDADE "
        "--limit 0 |"
        " head -n 1; "
        "exit ${PIPESTATUS[0]}",
        shell=True, executable="/bin/bash", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("NU_DIA,NU_MES,CO_ENTIDADE,size")
    assert done.stderr == ""
    assert done.returncode == 0


CRS = f"{' '.join(COMMAND)} attack crs {PEOPLE} -q age"


@pytest.mark.slow(because="1.5 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("redirected", "code"),
    [(">&-", 0), ("2>&-", 0), ("<&-", 0), ("| true; exit ${PIPESTATUS[0]}", 0), (">/dev/full", 3)],
)
def test_streams_that_are_closed_or_full_are_no_mistake_of_ours(redirected: str, code: int):
    done = subprocess.run(
        f"{CRS} {redirected}", shell=True, executable="/bin/bash",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert done.stderr == "" or code == 3


@pytest.mark.slow(because="1.6 s; every recorded mutant dies without it")
def test_names_that_the_terminal_cannot_say_are_escaped(tmp_path: Path):
    file = tmp_path / "t.parquet"
    pl.DataFrame({"é": [1]}).write_parquet(file)
    done = subprocess.run(
        [*COMMAND, "attack", "crs", str(file), "-q", "é"], capture_output=True, text=True,
        check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert "\\xe9" in done.stdout


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """An attack that takes minutes."""
    file = tmp_path_factory.mktemp("slow") / "numbers.parquet"
    pl.DataFrame({"a": range(3_000_000)}).write_parquet(file)
    rewritten = "x=regexp_replace(repeat(a::varchar, 20), '[0-9]', 'x', 'g')"
    return [*COMMAND, "attack", "crs", str(file), "--qids", rewritten]


@pytest.mark.cases(1)
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_attack_leaves_nothing_behind(slow: list[str], sent: int, tmp_path: Path):
    temp, out = tmp_path / "temp", tmp_path / "out.csv"
    temp.mkdir()
    running = subprocess.Popen(
        [*slow, "--temp", str(temp), "-o", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for_work(running, 1, temp)
    running.send_signal(sent)
    output, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert output == ""
    assert errors == "error: interrupted; nothing was left behind\n"
    assert list(temp.iterdir()) == []
    assert not out.exists()


@pytest.mark.parametrize("raised", [KeyboardInterrupt, EOFError])
def test_an_interruption_outside_the_engine_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: type[BaseException]
):
    file = tmp_path / "few.csv"
    file.write_text("a\n1\n")

    def interrupted(*_arguments: object, **_options: object) -> None:
        raise raised

    monkeypatch.setattr(DuckDB, "__init__", interrupted)
    done = run("describe", file)
    assert (done.code, done.out) == (130, "")
    assert done.err.strip() == "error: interrupted; nothing was left behind"


@pytest.mark.slow(because="1.9 s; every recorded mutant dies without it")
def test_an_interruption_while_the_types_of_csv_are_read(tmp_path: Path):
    file, temp = tmp_path / "long.csv", tmp_path / "temp"
    numbers = pl.int_range(3_000_000, eager=True)
    pl.DataFrame({"a": numbers, "b": numbers.cast(pl.String) + "x"}).write_csv(file)
    temp.mkdir()
    running = subprocess.Popen(
        [*COMMAND, "describe", str(file), "--temp", str(temp)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for_work(running, 0.1, temp)
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=PATIENCE)
    assert (running.returncode, output) == (130, "")
    assert errors == "error: interrupted; nothing was left behind\n"
    assert list(temp.iterdir()) == []


def test_an_error_begins_on_its_own_line(capsys: pytest.CaptureFixture[str]):
    """The name of a file may be a line break."""

    def command() -> None:
        raise InputError("\n is no file; name another")

    assert run_guarded(command, debug=False) == 2
    assert re.fullmatch(r"error: \S is no file; name another\n", capsys.readouterr().err)


def test_an_interruption_that_the_engine_reports(capsys: pytest.CaptureFixture[str]):
    """DuckDB may turn Ctrl-C in a short statement of the main thread into a RuntimeError."""

    def command() -> None:
        raise RuntimeError("Query interrupted")

    assert run_guarded(command, debug=False) == 130
    assert capsys.readouterr().err == "error: interrupted; nothing was left behind\n"


@pytest.mark.slow(because="10.2 s; every recorded mutant dies without it")
def test_progress_is_shown_on_stderr_for_long_work(slow: list[str]):
    running = subprocess.Popen(
        [*slow, "--progress"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "FORCE_COLOR": "1", "TTY_COMPATIBLE": "1"},
    )  # fmt: skip
    assert running.stderr is not None
    errors = ""
    while not re.search("attacking|measuring", errors):
        character = running.stderr.read(1)
        assert character, f"no progress is shown, only {errors}"
        errors += character
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=PATIENCE)
    assert output == ""


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_help_is_fast_and_names_every_command():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 0.6  # 0.15 s on a machine of usual speed
    for name in ("demo", "describe", "attack", "inspect", "sql", "shell"):
        assert re.search(rf"\b{name}\b", done.stdout)


def test_every_command_is_documented_and_has_a_function_of_its_name():
    from qifsql.app import application

    readme = (SAMPLES.parent / "README.md").read_text()
    for command in application().registered_commands:
        name = command.callback.__name__
        spoken = name.replace("_", "-")
        assert callable(getattr(qifsql, name))
        assert command.callback.__doc__
        assert f"qifsql {spoken}" in readme or f"make {spoken}" in readme


def test_an_interruption_while_the_command_loads_is_one_line() -> None:
    code = (
        "import os, signal, sys\n"
        "class Loading:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Loading())\n"
        "from qifsql.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "error: interrupted; nothing was left behind\n"


def test_an_interruption_that_a_library_turns_into_an_error_is_one_line(tmp_path: Path) -> None:
    """A compiled module that is interrupted while it loads raises ImportError."""
    (tmp_path / "few.csv").write_text("a\n1\n")
    code = (
        "import os, signal, sys\n"
        "class Loading:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'duckdb':\n"
        "            try:\n"
        "                os.kill(os.getpid(), signal.SIGINT)\n"
        "            except KeyboardInterrupt:\n"
        "                raise ImportError('cannot be loaded') from None\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Loading())\n"
        "sys.argv[1:] = ['describe', 'few.csv']\n"
        "from qifsql.__main__ import main\n"
        "main()\n"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "error: interrupted; nothing was left behind\n"


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    "command",
    [
        "attack crs",
        "inspect",
        "estimate --fraction 0.5",
        "inspect --show hyper -s s",
        "levels",
        "suda",
    ],
)
def test_records_that_are_left_out_are_told(command: str, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,b,s\nx,1,u\nx,1,v\ny,,u\nz,,v\n")
    name, *more = command.split()
    models = [word for word in more if word == "crs"]
    rest = [word for word in more if word != "crs"]
    said = run(name, *models, file, *rest, "-q", "a,b", "--null", "drop")
    assert said.code == 0
    assert "note: 2 of 4 records with missing values are left out" in said.err


def test_without_docstrings_nothing_runs() -> None:
    """Help texts and charts are made of them."""
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "qifsql", "--help"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "unset PYTHONOPTIMIZE=2" in done.stderr
