"""``qifsql sweep`` on the command line: formats, files, streams, words, and what it refuses."""

import csv
import io
import json
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from places import SAMPLES
from polars.testing import assert_frame_equal
from strategies import NAMES
from terminal import Done, run

import qifsql

COLUMNS = [  # as documented, and what a sweep adds
    *("model", "datasets", "n_qids", "qids", "secret", "records", "blocks", "singled_out"),
    *("prior_deterministic", "posterior_deterministic", "degradation_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic", "degradation_probabilistic"),
    *("leakage_additive", "min_entropy_leakage", "worst_case", "individuals_certain", "seconds"),
    *("k", "l", "subset"),
]
DETAILS = {"best", "shapley", "interactions", "drop_first", "coarsen_first", "plan"}
ASKED = {"histogram": ("--histogram",), "borders": ("--threshold", "0.3")}
ENDINGS = ("parquet", "csv", "json", "md", "html")
FORMATS = ("csv", "json", "markdown", "table")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ten people of the thesis, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    pl.read_csv(SAMPLES / "thesis_table_3_2.csv").write_parquet("people.parquet")
    return tmp_path


ROLES = ("-q", "age,gender,occupation", "-s", "illness")
SWEEP = ("sweep", "people.parquet", *ROLES)
SUBSETS = ["+".join(c) for n in (1, 2, 3) for c in combinations(ROLES[1].split(","), n)]


def python(**more: Any) -> Any:
    return qifsql.sweep("people.parquet", qids=ROLES[1].split(","), secret="illness", **more)


def left(here: Path) -> set[str]:
    return {p.name for p in here.iterdir()} - {"people.parquet"}


def refused(done: Done, *says: str, code: int = 2) -> None:
    """The command failed with one line that says this, and did nothing before it."""
    assert done.err.startswith("error: "), done
    assert done.err.count("\n") == 1
    assert not [word for word in says if word not in done.err], done.err
    assert "Traceback" not in done.err
    assert (done.code, done.out) == (code, "")


# Formats


@pytest.mark.slow(because="1.9 s; every recorded mutant dies without it")
def test_csv_has_the_documented_columns_and_the_numbers_of_attacks(here: Path):
    done = run(*SWEEP)
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert list(rows[0]) == COLUMNS
    assert [(r["qids"], r["secret"]) for r in rows] == [
        (subset, secret) for subset in SUBSETS for secret in ("", "illness")
    ]
    for row in rows:
        qids, model = row["qids"].split("+"), row["model"].casefold()
        secret = {"secret": row["secret"]} if row["secret"] else {}
        (alone,) = qifsql.attack(model, "people.parquet", qids=qids, **secret).rows()
        for name in alone.keys() - {"model", "qids", "secret", "seconds"}:
            assert float(row[name]) == alone[name]
    assert done.code == 0
    assert left(here) == set()


@pytest.mark.slow(because="1.5 s; every recorded mutant dies without it")
def test_json_is_the_spec_the_rows_and_every_detail(here: Path):
    document = json.loads(run(*SWEEP, "-f", "json").out)
    assert list(document)[:4] == ["qifsql", "spec", "notes", "results"]
    assert document["qifsql"] == qifsql.__version__
    assert document["spec"]["qids"] == ROLES[1].split(",")
    assert document["spec"]["secrets"] == ["illness"]
    assert set(document) == {"qifsql", "spec", "notes", "results"} | DETAILS
    assert all(list(row) == ["unit", *COLUMNS] for row in document["results"])
    same = python()
    assert set(same.details) == DETAILS
    for name, table in {"results": same.frame, **same.details}.items():
        untimed = [k for k in table.columns if "seconds" not in k]
        found = [{k: row[k] for k in untimed} for row in document[name]]
        assert found == table.select(untimed).to_dicts()


@pytest.mark.slow(because="2.3 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_for_follows_the_rows(here: Path, name: str):
    more = ASKED[name]
    first, *others = run(*SWEEP, *more).out.split("\n\n")
    assert len(first.splitlines()) == 15
    kind = {"histogram": {"threshold": None, "histogram": True}, "borders": {"threshold": 0.3}}
    details = python(**kind[name]).details
    same = [details[n] for n in ("sure", "borders") if n in details] or [details[name]]
    for text, table in zip(others, same, strict=True):
        assert text.splitlines()[0].split(",") == table.columns
        assert len(text.splitlines()) == table.height + 1
    tables = run(*SWEEP, *more, "-f", "markdown").out.split("\n\n")
    assert [len(t.strip().splitlines()) for t in tables] == [16, *(t.height + 2 for t in same)]


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_markdown_is_a_table(here: Path):
    lines = run(*SWEEP, "-f", "markdown").out.splitlines()
    assert len(lines) == 16
    assert all(line.startswith("|") and line.endswith("|") for line in lines)
    heads = lines[0].replace("\\_", "_").strip("|").split("|")
    assert [head.strip() for head in heads] == COLUMNS


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_the_table_answers_in_words(here: Path):
    out = run(*SWEEP, "-f", "table", "--threshold", "0.5").out
    assert (
        "CRS: re-identification; before the release the adversary guesses right 1 in 10 times"
        in out
    )
    assert "CAS: inference of illness" in out
    for head in ("best for", "drop first", "strongest pairs", "minimal risky", "maximal safe"):
        assert head in out
    assert "\x1b" not in out
    assert "The plan" not in out


@pytest.mark.slow(because="1.7 s; every recorded mutant dies without it")
def test_explain_shows_the_plan_and_what_it_cost(here: Path):
    out = run(*SWEEP, "-f", "table", "--explain").out
    plan = out[out.index("The plan, and what it cost") :]
    for word in ("pass", "subsets", "rows expected", "way", *ROLES[1].split(",")):
        assert word in plan
    first, second = run(*SWEEP, "--explain").out.split("\n\n")
    assert len(first.splitlines()) == 15
    assert second.startswith("pass,first,subsets,rows_estimated,rows,method,")
    assert sum(int(row["subsets"]) for row in csv.DictReader(io.StringIO(second))) == 7


# Streams


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize("format_", FORMATS)
def test_stdout_is_the_result_and_stderr_one_line_that_can_be_silenced(here: Path, format_: str):
    done = run(*SWEEP, "-f", format_)
    said = r"note: 10 records, 7 subsets of 3 quasi-identifiers: about \d+ \w+ with .*memory.*disk"
    assert re.fullmatch(said, done.err.rstrip("\n"))
    assert "note" not in done.out.replace('"notes": []', "")
    if format_ == "table":
        assert run(*SWEEP, "-f", format_, "--quiet") == Done(0, done.out, "")


COMMAND = f"{sys.executable} -m qifsql {' '.join(SWEEP)} --quiet"


@pytest.mark.slow(because="2.0 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("redirected", "code", "out"),
    [
        ("| head -n 1; exit ${PIPESTATUS[0]}", 0, ",".join(COLUMNS) + "\n"),
        ("-f json | true; exit ${PIPESTATUS[0]}", 0, ""),
        ("-f table >&-", 0, ""),
        ("2>&- | wc -l", 0, "15\n"),
        (">/dev/full", 3, ""),
    ],
)
def test_streams_that_are_closed_or_full_are_no_mistake_of_ours(
    here: Path, redirected: str, code: int, out: str
):
    done = subprocess.run(
        f"{COMMAND} {redirected}", shell=True, executable="/bin/bash",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (code, out)
    assert done.stderr.count("\n") == (code != 0)
    assert "Traceback" not in done.stderr
    assert left(here) == ({"people.parquet.sweep"} if code else set())  # to go on with


@pytest.mark.slow(because="3.4 s; every recorded mutant dies without it")
def test_a_long_result_meets_a_reader_that_leaves_early(here: Path):
    file = SAMPLES / "school_census_2019.parquet"
    qids = "NU_DIA,NU_MES,NU_ANO,TP_SEXO,CO_ENTIDADE,CO_MUNICIPIO_END"
    done = subprocess.run(
        f"{sys.executable} -m qifsql sweep {file} -q {qids} --histogram --quiet | head -n 1; "
        "exit ${PIPESTATUS[0]}",
        shell=True, executable="/bin/bash", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, ",".join(COLUMNS) + "\n", "")
    assert left(here) == set()


# Files


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_is_written_with_a_manifest_and_details(here: Path, ending: str):
    done = run(*SWEEP, "--histogram", "--seed", "7", "-o", f"sweep.{ending}")
    assert (done.code, done.out) == (0, "")
    beside = {f"sweep.{name}.{ending}" for name in DETAILS | {"histogram"}}
    files = {f"sweep.{ending}"} | (beside if ending in {"parquet", "csv"} else set())
    manifests = set() if ending == "parquet" else {f"{file}.manifest.json" for file in files}
    assert left(here) == files | manifests
    for file in files:
        if ending == "parquet":
            note = pl.read_parquet_metadata(file)["qifsql"]
        else:
            note = Path(f"{file}.manifest.json").read_text()
        manifest = json.loads(note)
        assert manifest["spec"]["secrets"] == ["illness"]
        assert manifest["seed"] == 7
        assert len(manifest["inputs"][0]["sha256"]) == 64
        assert Path(file).stat().st_size > 0


@pytest.mark.slow(because="2.7 s; every recorded mutant dies without it")
def test_files_hold_the_tables_of_python(here: Path):
    assert run(*SWEEP, "--histogram", "-o", "sweep.parquet").code == 0
    assert run(*SWEEP, "--histogram", "-o", "sweep.csv").code == 0
    same = python(histogram=True)
    for name, table in {"": same.frame, **same.details}.items():
        file = f"sweep.{name}.parquet" if name else "sweep.parquet"
        untimed = [k for k in table.columns if "seconds" not in k]
        assert_frame_equal(pl.read_parquet(file, columns=untimed), table.select(untimed))
        text = Path(file).with_suffix(".csv")
        assert pl.read_csv(text).columns == table.columns
        assert pl.read_csv(text).height == table.height
    assert pl.read_csv("sweep.csv")["qids"].unique(maintain_order=True).to_list() == SUBSETS


@pytest.mark.slow(because="1.7 s; every recorded mutant dies without it")
def test_json_and_csv_files_are_what_stdout_shows(here: Path):
    def untimed(text: str) -> list[Any]:
        found = json.loads(text) | {"plan": None}
        return [found | {"results": [row | {"seconds": 0} for row in found["results"]]}]

    done = run(*SWEEP, "-f", "json", "-o", "sweep.json")
    assert untimed(Path("sweep.json").read_text()) == untimed(done.out)
    done = run(*SWEEP, "-f", "csv", "-o", "sweep.csv")
    assert Path("sweep.csv").read_text() == done.out


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
def test_html_is_one_file_without_a_network(here: Path):
    assert run(*SWEEP, "-o", "sweep.html").code == 0
    text = Path("sweep.html").read_text()
    assert "re-identification" in text
    assert "://" not in text.replace("http://www.w3.org", "")


@pytest.mark.slow(because="0.9 s; every recorded mutant dies without it")
def test_answers_about_all_subsets_need_all_subsets(here: Path):
    assert run(*SWEEP, "--sizes", "1-2", "-o", "some.csv").code == 0
    names = {p for p in left(here) if not p.endswith(".manifest.json")}
    assert names == {"some.csv", "some.best.csv", "some.plan.csv"}


# Which subsets


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The rows of a sweep of all subsets, for the secret, by subset."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("everything"))
        done = run("sweep", SAMPLES / "thesis_table_3_2.csv", *ROLES)
    return {row["qids"]: row for row in csv.DictReader(io.StringIO(done.out))}


@pytest.mark.slow(because="1.1 s each; every recorded mutant dies without it")
@pytest.mark.parametrize(
    ("asked", "subsets"),
    [
        (("--sizes", "1"), SUBSETS[:3]),
        (("--sizes", "2-3"), SUBSETS[3:]),
        (("--sizes", "2-99"), SUBSETS[3:]),
        (("--sizes", " 3 "), SUBSETS[6:]),
        (("--subset", "gender"), ["gender"]),
        (("--subset", "occupation+age", "--subset", "age", "--subset", "age"),
         ["age", "age+occupation"]),
    ],
)  # fmt: skip
def test_only_the_subsets_that_are_asked_for(
    here: Path, everything: dict[str, Any], asked: tuple[str, ...], subsets: list[str]
):
    done = run(*SWEEP, *asked)
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [r["qids"] for r in rows] == [s for s in subsets for _ in range(2)]
    for row in rows[1::2]:
        assert row | {"seconds": ""} == everything[row["qids"]] | {"seconds": ""}
    assert f"{len(subsets)} subset{'s' if len(subsets) > 1 else ''} of 3" in done.err


@pytest.mark.slow(because="1.3 s; every recorded mutant dies without it")
def test_one_quasi_identifier_and_no_secret(here: Path):
    document = json.loads(run("sweep", "people.parquet", "-q", "age", "-f", "json").out)
    assert [(r["model"], r["qids"], r["l"]) for r in document["results"]] == [
        ("CRS", ["age"], None)
    ]
    assert document["interactions"] == []
    assert run("sweep", "people.parquet", "-q", "age", "-f", "table").code == 0


@pytest.mark.slow(because="3.6 s; every recorded mutant dies without it")
def test_one_person(here: Path):
    pl.read_parquet("people.parquet").head(1).write_parquet("people.parquet")
    for kind in ("json", "table"):
        done = run(*SWEEP, "-f", kind, "--histogram", "--threshold", "1", "--explain")
        assert done.code == 0
        assert done.err.startswith("note: 1 record, 7 subsets")


# Data


@pytest.mark.slow(because="5.7 s; every recorded mutant dies without it")
def test_every_kind_of_file_gives_the_same(here: Path):
    frame = pl.read_parquet("people.parquet")
    frame.write_csv("people.csv")
    (here / "parts").mkdir()
    frame[:4].write_parquet("parts/1.parquet")
    frame[4:].write_parquet("parts/2.parquet")
    with duckdb.connect("people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS FROM 'people.parquet'")
    before = left(here)
    expected = pl.read_csv(io.StringIO(run(*SWEEP).out)).drop("seconds")
    for file in ("people.csv", "parts", "parts/*.parquet", "people@people.duckdb"):
        found = pl.read_csv(io.StringIO(run("sweep", file, *ROLES).out)).drop("seconds")
        assert_frame_equal(found, expected)
    assert left(here) == before


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
def test_expressions_and_patterns_are_quasi_identifiers(here: Path):
    done = run("sweep", "people.parquet", "-q", "decade=age//10,g*", "-f", "json")
    assert json.loads(done.out)["results"][-1]["qids"] == ["decade", "gender"]


@pytest.mark.slow(because="2.7 s; every recorded mutant dies without it")
def test_missing_values_are_a_value_or_their_records_are_dropped(here: Path):
    frame = pl.DataFrame(
        {"a": [1, None, None, 2, 2], "b": ["x", "x", "x", None, "y"], "s": [1, 1, None, 2, 2]}
    )
    frame.write_parquet("missing.parquet")
    command = ("sweep", "missing.parquet", "-q", "a,b", "-s", "s", "-f", "json")
    distinct = json.loads(run(*command).out)["results"]
    sizes = {tuple(r["qids"]): r["blocks"] for r in distinct if r["model"] == "CRS"}
    assert sizes == {("a",): 3, ("b",): 3, ("a", "b"): 4}
    dropped = json.loads(run(*command, "--null", "drop").out)
    frame.drop_nulls().write_parquet("missing.parquet")
    assert [r | {"seconds": 0} for r in dropped["results"]] == [
        r | {"seconds": 0} for r in json.loads(run(*command).out)["results"]
    ]


# Hostile names

HOSTILE = (
    "a+b", "a", "b", "a,b", '"; drop table', 'dou"ble', "<b>|x", "[red]x[/red]", "new\nline",
    "=cmd()", "</script><script>alert(1)</script>", "\U0001f642",
)  # fmt: skip


def quoted(names: tuple[str, ...]) -> str:
    """The names as one row of CSV."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerow(names)
    return text.getvalue().removesuffix("\r\n")


@pytest.fixture
def hostile(here: Path) -> tuple[str, ...]:
    """A command on a release whose columns have such names, and a secret's, too."""
    columns: dict[str, list[int]] = {name: [i % 2, 1, 0] for i, name in enumerate(HOSTILE)}
    pl.DataFrame(columns | {"[/] <i>": [1, 2, 2]}).write_parquet("hostile.parquet")
    some = ("-q", quoted(HOSTILE), "-s", "[/] <i>", "--sizes", "1-2")
    return ("sweep", "hostile.parquet", *some, "--histogram", "--explain")


@pytest.mark.slow(because="1.8 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("format_", FORMATS)
def test_hostile_names_are_text_in_every_format(hostile: tuple[str, ...], format_: str):
    done = run(*hostile, "-f", format_)
    assert done.code == 0, done.err
    expected = [[a] for a in HOSTILE] + [[a, b] for a, b in combinations(HOSTILE, 2)]
    if format_ == "json":
        found = {tuple(r["qids"]) for r in json.loads(done.out)["results"]}
        assert found == {tuple(names) for names in expected}
    elif format_ == "csv":
        text = done.out[: done.out.index("\n\nmodel")]
        rows = list(csv.DictReader(io.StringIO(text)))
        told = ("+".join(names) for names in expected)  # no formula for a spreadsheet
        assert {r["qids"] for r in rows} == {f"'{t}" if t[0] == "=" else t for t in told}
        assert {r["secret"] for r in rows} == {"", "[/] <i>"}
    elif format_ == "markdown":
        tables = done.out.split("\n\n")
        for table in tables:
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.strip().splitlines()}
            assert len(widths) == 1
        assert "<script>" not in done.out.replace("\\<", "")
    else:
        for name in ("[red]x[/red]", "[/] <i>", "=cmd()"):
            assert name in done.out
        assert "\x1b" not in done.out


@pytest.mark.slow(because="1.6 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("ending", ["parquet", "csv", "html"])
def test_hostile_names_are_text_in_every_file(hostile: tuple[str, ...], ending: str):
    done = run(*hostile, "-o", f"r.{ending}")
    assert done.code == 0, done.err
    if ending == "html":
        text = Path("r.html").read_text()
        assert "<script>" not in text
        assert "&lt;script&gt;" in text
        assert "<b>|x" not in text
    if ending == "parquet":
        names = pl.read_parquet("r.parquet")["qids"].explode().unique()
        assert set(names) == set(HOSTILE)


@pytest.mark.slow(because="2.1 s; every recorded mutant dies without it")
def test_a_subset_of_names_with_a_plus_is_understood(hostile: tuple[str, ...]):
    def subsets(*named: str) -> list[list[str]]:
        asked = [word for name in named for word in ("--subset", name)]
        done = run("sweep", "hostile.parquet", "-q", quoted(HOSTILE), *asked, "-f", "json")
        return [row["qids"] for row in json.loads(done.out)["results"]]

    assert subsets("new\nline+a,b") == [["a,b", "new\nline"]]
    assert subsets("a+b") == [["a+b"]]
    assert subsets("b+a") == [["a", "b"]]
    assert subsets("a+b+b+=cmd()") == [["a+b", "b", "=cmd()"]]


@pytest.mark.slow(because="2.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize("names", [NAMES[::2], NAMES[1::2]], ids=["even", "odd"])
def test_names_that_mean_something_elsewhere_are_names_here(here: Path, names: tuple[str, ...]):
    columns = {name: [i % 3, 1, i % 2, 0] for i, name in enumerate(NAMES)}
    pl.DataFrame(columns).write_parquet("names.parquet")
    command = ("sweep", "names.parquet", "-q", quoted(names), "--sizes", "1-2", "-f", "json")
    found = [tuple(row["qids"]) for row in json.loads(run(*command).out)["results"]]
    assert set(found) == {(a,) for a in names} | set(combinations(names, 2))
    assert len(found) == len(set(found))


# Mistakes


@pytest.mark.cases(6)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sweep",), "FILE"),
        (("sweep", "peple.parquet", *ROLES), 'did you mean "people.parquet"'),
        (("sweep", "people.parquet"), "no quasi-identifiers"),
        (("sweep", "people.parquet", "-q", "agee"), 'did you mean "age"?'),
        (("sweep", "people.parquet", "-q", "age,age"), "is given twice"),
        (("sweep", "people.parquet", "-q", "age", "-s", "ilness"), 'did you mean "illness"?'),
        (("sweep", "people.parquet", "-q", "age", "-s", "age"), "among the quasi-identifiers"),
        ((*SWEEP, "--where", "age > 999"), "no records after the filter"),
        ((*SWEEP, "--where", "age"), "not a condition"),
        ((*SWEEP, "--null", "zero"), "zero"),
        ((*SWEEP, "--sizes", "0"), "1-4"),
        ((*SWEEP, "--sizes", "3-2"), "1-4"),
        ((*SWEEP, "--sizes", "all"), '"all"'),
        ((*SWEEP, "--sizes", ""), "1-4"),
        ((*SWEEP, "--sizes", "4"), "of 3 quasi-identifiers no subset has 4"),
        ((*SWEEP, "--subset", "agee"), 'did you mean "age"?'),
        ((*SWEEP, "--subset", "age+"), "age+"),
        ((*SWEEP, "--subset", ""), 'subset ""'),
        ((*SWEEP, "--subset", "age", "--sizes", "1"), "exclude each other"),
        ((*SWEEP, "--threshold", "1.5"), "--threshold"),
        ((*SWEEP, "--threshold", "-0.1"), "--threshold"),
        ((*SWEEP, "--threshold", "nan"), "--threshold"),
        ((*SWEEP, "--threshold", "high"), "--threshold"),
        ((*SWEEP, "-f", "xml"), 'no format "xml"'),
        ((*SWEEP, "-o", "r.xyz"), "must end in one of"),
        ((*SWEEP, "-o", "no/r.csv"), "there is no folder no"),
        ((*SWEEP, "-o", "people.parquet"), "is the input"),
        ((*SWEEP, "--charts", "c", "--chart-format", "gif"), "html, png, svg, json"),
        ((*SWEEP, "--charts", "people.parquet"), "people.parquet"),
        ((*SWEEP, "--memory", "lots"), "memory=lots"),
        ((*SWEEP, "--threads", "0"), "threads=0"),
        ((*SWEEP, "--temp", "no"), "--temp"),
        ((*SWEEP, "--target", "age=1"), "--target"),
        ((*SWEEP, "--bogus"), "--bogus"),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, tuple) else None,
)
def test_mistakes_are_told_before_any_work(here: Path, arguments: tuple[str, ...], says: str):
    refused(run(*arguments), says)
    assert left(here) == set()


@pytest.mark.slow(because="3.7 s; every recorded mutant dies without it")
def test_more_quasi_identifiers_than_all_subsets_of_which_can_be_swept(here: Path):
    names = [f"q{i}" for i in range(25)]
    pl.DataFrame({name: [0, 1] for name in names}).write_parquet("wide.parquet")
    refused(run("sweep", "wide.parquet", "-q", "q*"), "25 quasi-identifiers", "--sizes")
    done = run("sweep", "wide.parquet", "-q", "q*", "--sizes", "1-2")
    assert len(done.out.splitlines()) == 1 + 25 + 300


# Help and charts


@pytest.mark.slow(because="0.7 s; every recorded mutant dies without it")
def test_help_names_every_option(here: Path):
    from typer.main import get_command

    from qifsql.app import application

    command = get_command(application()).commands["sweep"]  # type: ignore[attr-defined]
    done = subprocess.run(
        [sys.executable, "-m", "qifsql", "sweep", "--help"],
        capture_output=True, text=True, check=True, env={"COLUMNS": "200"},
    )  # fmt: skip
    options = {name for p in command.params for name in p.opts if name.startswith("--")}
    assert {"--sizes", "--subset", "--threshold", "--histogram", "--workspace"} <= options
    assert {"--restart", "--time-budget", "--charts", "--chart-format", "--explain"} <= options
    assert not [name for name in options if name not in done.stdout]
    assert "qifsql[charts]" in done.stdout
    assert all(p.help for p in command.params if p.name != "help")


@pytest.mark.slow(because="2.3 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("kind", ["html", "svg"])
def test_charts_are_written_beside_the_result(here: Path, kind: str):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    more = ("--charts", "figures", "--chart-format", kind, "--histogram")
    plain, done = run(*SWEEP, "-f", "json", "--quiet"), run(*SWEEP, "-f", "json", *more)
    assert len(json.loads(done.out)["results"]) == len(json.loads(plain.out)["results"])
    names = {f"{name}.{kind}" for name in ("success", "shapley", "histograms")}
    written = {p.name for p in (here / "figures").iterdir()}
    assert {name for name in written if not name.endswith(".manifest.json")} == names
    for name in names:
        assert f"note: written: figures/{name}" in done.err
        assert (here / "figures" / name).stat().st_size > 500


@pytest.mark.slow(because="4.4 s; every recorded mutant dies without it")
def test_charts_of_hostile_names_and_of_some_subsets(hostile: tuple[str, ...], here: Path):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    for kind, ending in (((), "svg"), (("--chart-format", "html"), "html")):
        done = run(*hostile, "--quiet", "--charts", "figures", *kind)
        assert (done.code, done.err) == (0, "")
        assert "<script>alert" not in (here / "figures" / f"success.{ending}").read_text()
