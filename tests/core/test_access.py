"""A connection opens the files that are named, and no others; nothing opens a socket."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import command_lines as commands
import duckdb
import pytest
from answers import Answers, of_each
from places import ROOT
from terminal import run

import qifsql
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.functions import ALLOWED
from qifsql.errors import QifError

CANARY = "CANARY7f3a"
MARK = "/no-such-folder/command-"
SYSTEM = ("/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/bin", "/opt", "/var/cache")
INSTALLED = tuple({sys.prefix, sys.base_prefix, str(ROOT)})

TRACED = """
import shlex, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import command_lines as commands
from terminal import run
numbered = [line for name in sys.argv[1:] for line in commands.LINES[name]]
for number, line in enumerate(numbered):
    Path({mark!r} + str(number)).exists()
    done = run(*line.split())
    assert done.code == 0, (line, done.err)
"""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small inputs, and a secret file that no command names."""
    commands.lay_out(tmp_path)
    (tmp_path / "other.csv").write_text(f"zzz\n{CANARY}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_has_a_line() -> None:
    assert set(commands.LINES) == commands.commands()


# Expressions


def readers() -> list[str]:
    """Expressions that try to read ``other.csv``, or to look at the machine."""
    scan = "read_csv(''other.csv'')"
    return [
        f"json_serialize_plan('SELECT zzz FROM {scan}')",
        f"json_serialize_sql('SELECT zzz FROM {scan}')",
        f"json_deserialize_sql(json_serialize_sql('SELECT zzz FROM {scan}'))",
        "(SELECT content FROM read_text('other.csv'))",
        "(FROM 'other.csv')",
        "list_aggregate(['other.csv'], 'first')",
        "getenv('HOME')",
        "current_setting('temp_directory')",
        "getvariable('x')",
        "nextval('s')",
        "query('FROM other.csv')",
        "query_table('other.csv')",
        "attached.main.abs(1)",
        "parse_duckdb_log_message('FileSystem', 'other.csv')",
    ]


USES = {
    "a quasi-identifier": ("attack", "crs", "people.csv", "-q", "x={}"),
    "a secret": ("attack", "cas", "people.csv", "-q", "age", "-s", "x={}"),
    "a filter": ("attack", "crs", "people.csv", "-q", "age", "--where", "{} = 'x'"),
    "a weight": ("attack", "crs", "people.csv", "-q", "age", "--weight", "w={}"),
    "groups": ("attack", "crs", "people.csv", "-q", "age", "--by", "g={}"),
    "a gain": ("attack", "cas", "people.csv", "-q", "age", "-s", "age", "--gain", "sql:{} = guess"),
    "a predicate": (
        *("dp", "people.csv", "--useful", "age", "--secret", "illness"),
        *("--epsilon", "1", "--predicate", "{} = age"),
    ),
    "a sweep": ("sweep", "people.csv", "-q", "age,x={}"),
}


@pytest.mark.slow(because="2.3 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("use", USES)
def test_no_expression_reads_a_file_that_is_not_named(use: str, world: Path) -> None:
    for expression in readers():
        done = run(*(word.format(expression) for word in USES[use]), "--debug")
        assert done.code == 2, (expression, done)
        assert CANARY not in done.out + done.err, expression
        assert "Traceback" not in done.err


@pytest.mark.slow(because="4.0 s; every recorded mutant dies without it")
def test_no_expression_of_a_policy_reads_a_file(world: Path) -> None:
    for expression in readers():
        for key, text in (("qids", ["age", f"x={expression}"]), ("by", f"x={expression}")):
            adversary = {"qids": ["age"], key: text}
            lines = [f"{name} = {json.dumps(value)}" for name, value in adversary.items()]
            rule = '[[rule]]\nmodel = "crs"\nmeasure = "posterior_deterministic"\nat_most = 1\n'
            policy = "\n".join(["[adversary]", *lines, rule])
            assert tomllib.loads(policy)
            (world / "policy.toml").write_text(policy)
            done = run("check", "people.csv", "--policy", "policy.toml", "--format", "json")
            assert done.code == 2, (expression, key)
            assert CANARY not in done.out + done.err


def test_functions_of_expressions_are_pure(world: Path) -> None:
    """Every function of the list is one that gives the same value for the same row.

    What depends on the time zone alone does, because each connection sets it to UTC.
    """
    query = (
        "SELECT function_name, bool_and(stability = 'CONSISTENT' OR stability = "
        "'CONSISTENT_WITHIN_QUERY' AND regexp_matches("
        "concat(parameter_types::VARCHAR, return_type), 'TIME ZONE|TIMESTAMPTZ')) "
        "FROM duckdb_functions() "
        "WHERE function_type = 'scalar' GROUP BY ALL"
    )
    with duckdb.connect() as connection:
        pure = dict(connection.execute(query).fetchall())
        macros = {
            name
            for (name,) in connection.execute(
                "SELECT function_name FROM duckdb_functions() WHERE function_type = 'macro'"
            ).fetchall()
        }
    assert {name for name in ALLOWED if not pure.get(name, name in macros)} == set()
    assert not {n for n in ALLOWED if re.search(r"serialize|aggr|setting|env|random|now|seq", n)}


# Databases that others made


@pytest.mark.slow(because="3.9 s; every recorded mutant dies without it")
def test_a_view_of_a_received_database_is_refused(world: Path) -> None:
    shutil.copy("people.parquet", "mondrian.parquet")
    with duckdb.connect("received.duckdb") as connection:
        connection.execute("CREATE VIEW people AS SELECT zzz AS age FROM read_csv('other.csv')")
        connection.execute("CREATE TABLE real AS SELECT 1 AS age")
        connection.execute("CREATE MACRO abs(x) AS (SELECT any_value(zzz) FROM 'other.csv')")
    for name, lines in commands.LINES.items():
        for line in lines:
            words = [w.replace("people.parquet", "people@received.duckdb") for w in line.split()]
            if words == line.split() or name in ("run", "init", "open", "verify"):
                continue
            done = run(*words)
            assert done.code == 2, line
            assert "is a view" in done.err, line
            assert CANARY not in done.out + done.err
    done = run("attack", "crs", "real@received.duckdb", "-q", "x=abs(age)", "--format", "json")
    assert done.code == 0
    assert CANARY not in done.out


@pytest.mark.slow(because="0.5 s; every recorded mutant dies without it")
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE question RENAME TO q; CREATE VIEW question AS FROM q",
        "CREATE VIEW more AS SELECT 1",
        "CREATE MACRO more(x) AS x",
    ],
)
def test_a_store_that_holds_more_than_tables_is_refused(change: str, world: Path) -> None:
    line = commands.LINES["attack"][1].split()
    assert run(*line).code == 0
    with duckdb.connect("counts.duckdb") as connection:
        connection.execute(change)
    done = run(*line)
    assert done.code == 2
    assert "views, macros or triggers" in done.err


# Connections


@pytest.mark.cases(1)
@of_each(commands.LINES)
def test_every_connection_is_locked_to_the_files_that_are_named(
    answers: Answers, name: str
) -> None:
    without = {"adversaries", "open", "explain", "report", "init"}
    for answer in answers.of(name):
        assert answer.connections or name in without, answer.line
        for settings in answer.connections:
            assert settings["enable_external_access"] is False
            assert settings["lock_configuration"] is True
            paths = settings["allowed_paths"]
            assert isinstance(paths, list)
            assert not [p for p in paths if "other" in Path(p).name], answer.line


def test_statements_cannot_unlock_a_connection(world: Path) -> None:
    with DuckDB() as engine:
        for statement in (
            "SET enable_external_access = true",
            "SET allowed_paths = ['other.csv']",
            "SET lock_configuration = false",
            "FROM read_csv('other.csv')",
            "COPY (SELECT 1) TO 'stolen.csv'",
            "ATTACH 'stolen.duckdb'",
            "INSTALL httpfs",
        ):
            with pytest.raises(QifError):
                list(engine.script(statement))
    assert not list(world.glob("stolen*"))


@pytest.mark.slow(because="3.3 s; every recorded mutant dies without it")
def test_the_shell_writes_only_where_it_is_told_to(world: Path) -> None:
    (world / "mine").mkdir()
    typed = "COPY (FROM blocks) TO '{}/b.csv'; SELECT * FROM read_csv('other.csv');\n"
    for folder, options in ((".", ()), ("mine", ("--export", "mine"))):
        done = subprocess.run(
            [sys.executable, "-m", "qifsql", "shell", "people.csv", "-q", "age", *options],
            input=typed.format(folder), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert CANARY not in done.stdout + done.stderr
    assert not (world / "b.csv").exists()
    assert (world / "mine" / "b.csv").exists()
    assert run("shell", "people.csv", "-q", "age", "--export", "nosuch").code == 2


# What the operating system sees


def opened(trace: Path) -> Iterator[tuple[int, str, bool]]:
    """The number of the command line, each file that it opened, and whether to write."""
    number = -1
    for line in trace.read_text(errors="replace").splitlines():
        if found := re.search(re.escape(MARK) + r"(\d+)", line):
            number = int(found[1])
        found = re.search(r'open(?:at)?\((?:AT_FDCWD(?:<(.*?)>)?, )?"(.*?)", (\S+).*\) = \d+', line)
        if found and "O_DIRECTORY" not in found[3]:
            path = os.path.normpath(Path(found[1] or "/") / found[2])
            yield number, path, bool(re.search("O_WRONLY|O_RDWR|O_CREAT", found[3]))


def internet(text: str) -> Iterator[tuple[int, str]]:
    """The number of the command line, and each call about the internet."""
    number = -1
    for line in text.splitlines():
        if found := re.search(re.escape(MARK) + r"(\d+)", line):
            number = int(found[1])
        if found := re.search(r"(?:socket|connect|bind)\(.*AF_INET.*", line):
            yield number, found[0]


def named(path: str, line: str, world: Path) -> bool:
    """Return whether a file of the folder is named in a command line, or goes with a name in it."""
    inside = Path(path).relative_to(world).as_posix()
    texts = [line, *((world / word).read_text() for word in line.split() if word.endswith("toml"))]
    names = [word for text in texts for word in re.split(r'[\s@=:,"]+', text) if len(word) > 2]
    stems = [Path(word).stem for word in names if "." in word]
    return inside.startswith(("tmp/", *names, *stems)) or "/.qifsql-" in f"/{inside}"


@pytest.mark.slow(because="13.1 s; every recorded mutant dies without it")
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("attack", "sweep", "inspect", "open", "report"), id="some"),
        pytest.param(tuple(commands.LINES), id="all", marks=pytest.mark.slow),
    ],
)
def test_no_command_opens_a_socket_or_a_file_that_is_not_named(
    names: Sequence[str], world: Path
) -> None:
    home, temporary = world / "home", world / "tmp"
    home.mkdir()
    temporary.mkdir()
    script = TRACED.format(tests=str(ROOT / "tests"), mark=MARK)
    trace = world / "trace.txt"
    calls = "trace=open,openat,creat,stat,newfstatat,socket,connect,bind"
    done = subprocess.run(
        ["strace", "-f", "-y", "-qq", "-e", calls, "-o", trace,
         sys.executable, "-c", script, *names],
        env=os.environ | {"HOME": str(home), "TMPDIR": str(temporary)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "ptrace" in done.stderr.lower():
        pytest.skip("this machine lets nobody trace a process")
    assert done.returncode == 0, done.stderr[-2000:]
    text = trace.read_text(errors="replace")
    lines = [line for name in names for line in commands.LINES[name]]
    pages = {number for number, line in enumerate(lines) if line.startswith("open ")}
    assert {number for number, _ in internet(text)} == pages
    calls = [call for _, call in internet(text) if not call.startswith("socket(")]
    assert len(calls) == len(pages)
    assert all(re.match(r'bind\(.*sin_addr=inet_addr\("127.0.0.1"\)', call) for call in calls)
    wrong = set()
    seen = set()
    for number, path, writes in opened(trace):
        seen.add(number)
        if path.startswith(str(world)):
            fine = number < 0 or named(path, lines[number], world)
        else:
            fine = path.startswith(("/dev/", "/proc/") if writes else (*SYSTEM, *INSTALLED))
        if not fine:
            wrong.add((lines[number], path))
    assert seen >= set(range(len(lines)))
    assert not wrong
    assert not qifsql.__file__.startswith(str(world))
