"""The files of sql/sweep/ as a person uses them, and held against what real sweeps send."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp
from test_sweep_walk import force
from test_templates import SWEPT, text

import qifsql
from qifsql import Settings
from qifsql.commands.sweep import samples, worker
from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.strategies import MOST_QIDS
from qifsql.commands.sweep.worker import MANY_VARY, TWO_VARY, statements_for
from qifsql.counting.stream_session import varying_macro
from qifsql.engine.connections import Stream
from qifsql.engine.duckdb import DuckDB
from qifsql.query.plan import Plan
from qifsql.query.render import render
from qifsql.query.shapes import is_template
from qifsql.query.templates import load, script

pytestmark = pytest.mark.xdist_group("sweep_sql")  # their fixtures take long

ON_CLUSTERS = "sweep/added"  # for Spark alone: tests/core/test_spark_sweep.py
BY_FAMILIES = {  # of sweeps of many attributes, whose rows test_families.py compares with others
    *("sweep/alone_sums", "sweep/blocks_with_secret", "sweep/codes_of_attribute"),
    *("sweep/family_sums", "sweep/in_one_block", "sweep/owned_blocks", "sweep/sharing_more"),
}
TEMPLATES = {file for file in SWEPT if is_template(text(file))}  # every sweep needs them
FILES = [file for file in SWEPT if file not in {ON_CLUSTERS, *BY_FAMILIES, *TEMPLATES}]
VALUED = [file for file in FILES if file.startswith("sweep_valued/")]
NARROW = 12  # bits of a word, where counters are to need several
Connection = duckdb.DuckDBPyConnection
Found = tuple[list[tuple[str, str]], list[tuple[Any, ...]]]  # names and types of columns, rows


@pytest.mark.parametrize("file", VALUED)
def test_a_valued_file_stands_in_for_another_where_values_are_counted_one_by_one(file: str) -> None:
    general = file.replace("sweep_valued/", "sweep/")
    for valued, used in ((True, file), (False, general)):
        if used == general and general not in FILES:
            continue  # nothing of the kind is done elsewhere
        said = render(statements_for(1, valued=valued).query(Path(file).name))
        assert said.replace("word_1", "word") == render(load(used).query)


# The words of the walk.


def named(sql: str) -> set[str]:
    """The variables that a text names."""
    return set(re.findall(r"getvariable\('(\w+)'\)", sql))


def put(con: Connection, **values: int) -> None:
    for name, value in values.items():
        con.execute(f"SET VARIABLE {name} = {value}::BIGINT")


def test_every_macro_runs_in_a_plain_prompt_where_the_variables_that_it_names_are_set() -> None:
    made = script("sweep/macros")
    assert all(sql.startswith("CREATE OR REPLACE TEMP MACRO ") for sql in made)
    with duckdb.connect() as con:
        for sql in made:
            put(con, **dict.fromkeys(named(sql), 1))
            con.execute(sql)
        own = "SELECT count(*) FROM duckdb_functions() WHERE database_name = 'temp'"
        assert con.execute(own).fetchall() == [(len(made),)]


def answer(query: str, macros: Sequence[str] = (), **values: int) -> tuple[Any, ...]:
    """The row of a query in a plain prompt, which knows the file of macros and some more."""
    with duckdb.connect() as con:
        put(con, **dict.fromkeys(named(text("sweep/macros")), 1) | values)
        con.execute(";".join([text("sweep/macros"), *macros]))
        (row,) = con.execute(query).fetchall()
        return tuple(row)


Sets = tuple[int, set[int], set[int]]  # how many attributes, undecided, known


@st.composite
def states(draw: st.DrawFn) -> Sets:
    n = draw(st.integers(1, 20))
    some = st.sets(st.integers(0, n - 1), max_size=n)
    return n, draw(some), draw(some)


def bits(members: set[int]) -> int:
    return sum(1 << i for i in members)


@given(states(), st.integers(0), st.tuples(*[st.integers(0, 20)] * 2), st.sets(st.integers(0, 19)))
def test_the_words_of_the_walk_mean_what_they_say(
    drawn: Sets, number: int, numbers: tuple[int, int], differ: set[int]
) -> None:
    n, undecided, known = drawn
    most, spare = numbers
    this, every = number % n, set(range(n))
    varying = differ & every
    open_, free, taken = undecided - known, undecided & known, known - undecided

    def state(known: set[int], undecided: set[int]) -> int:
        return bits(known) << n | bits(undecided)

    own = state(known, undecided)
    block = number % 2**28 << 2 * n | own
    without = state(known, free)
    wanted = {
        "undecided(s)": bits(open_ | free),
        "known(s)": bits(free | taken),
        "open(s)": bits(open_),
        "taken_of(s)": bits(taken),
        "dropped(s)": bits(every - open_ - free - taken),
        "joined(known(s), undecided(s))": own,
        f"state_of({block}::HUGEINT)": own,
        f"keyed({number % 2**20}, s)": (number % 2**20) << 2 * n | own,
        "people(77::HUGEINT + 1024)": 77,
        "drop_open(s)": without,
        "take(s, -1)": state(known | open_, free),
        f"take(s, {1 << this})": state(known | {this} & open_, free),
        f"take(s, ~{1 << this})": state(known | open_ - {this}, free),
        f"took(s, {bits(varying)})": state(
            known | {this} | undecided - varying, undecided - {this}
        ),
        "within_sizes(s)": own if len(taken) < most else without,
        "turn(s)": bits({min(open_)}) | min(len(open_), 3) * (TWO_VARY // 2) if open_ else 0,
    }
    droppable = spare >= n - 1 or len(every - undecided - known) < spare
    wanted |= {"may_drop(s)": droppable}
    people, secret = number % 1000, 2**most - 1
    own_value = number % 2**most == secret
    wanted |= {
        f"shared({number % 2**60}::UBIGINT)": not own_value,
        f"mode_of({number % 2**60}::UBIGINT, {people})": 1 if own_value else people,
        f"values_of({number % 2**60}::UBIGINT, {people})": people if own_value else 1,
    }
    words = re.findall(r"MACRO (\w+)", text("sweep/macros"))
    assert {word.partition("(")[0] for word in wanted} == {*words}
    found = answer(
        f"SELECT {', '.join(wanted)} FROM (SELECT {own}::BIGINT AS s)",
        **{"n": n, "every": bits(every), "whole_state": 2 ** (2 * n) - 1},
        **{"states": 2 ** (2 * n), "of_people": 1023},
        **{"bit": 1 << this, "most": most, "spare": spare, "secret": secret},
    )
    assert dict(zip(wanted, found, strict=True)) == wanted


def test_a_turn_has_room_for_the_bit_of_every_attribute() -> None:
    assert 2**MOST_QIDS <= TWO_VARY // 2 == MANY_VARY - TWO_VARY
    assert MANY_VARY + 2**MOST_QIDS <= 2**31


@given(st.lists(st.integers(1, 40), min_size=1, max_size=14), st.booleans(), st.data())
def test_the_words_that_are_made_for_a_pass_read_what_its_layout_packs(
    values: list[int], valued: bool, data: st.DataObject
) -> None:
    n = len(values)
    secrets = {1: 9 if valued else 2}
    packed = Layout(tuple(range(n)), tuple(values), (False,) * n, 100, secrets, valued=valued)
    one, other = (
        data.draw(st.tuples(*(st.integers(0, v - 1) for v in values)), label="codes") for _ in "ab"
    )
    rest = [sum(c << packed.shift(p) for p, c in enumerate(cs) if p) for cs in (one, other)]
    macros = (
        varying_macro(tuple((1 << p, packed.field(p)) for p in range(1, n)), packed.rest_type),
        worker.packing_macro(packed.width, packed.key_type),
    )
    found = answer(
        f"SELECT varying('{rest[0] ^ rest[1]}'::{packed.rest_type}), "
        f"packed({one[0]}, '{rest[0]}'::{packed.rest_type})",
        macros,
    )
    differ = bits({p for p in range(1, n) if one[p] != other[p]})
    assert found == (differ, one[0] << packed.width | rest[0])


# Every file, verbatim.


def seen(con: Connection, query: str) -> Found:
    """The rows of a query; all words of counters as one, each with ``NARROW`` bits of it."""
    names = [name for name, *_ in con.execute(f"DESCRIBE {query}").fetchall()]
    if words := [name for name in names if name.startswith("word_")]:
        both = " + ".join(f"{name} * {1 << NARROW * i}::HUGEINT" for i, name in enumerate(words))
        others = f"EXCLUDE ({', '.join(words[1:])})" if words[1:] else ""
        query = f"SELECT * {others} REPLACE ({both} AS word_1) FROM ({query})"
    kinds = [row[:2] for row in con.execute(f"DESCRIBE {query}").fetchall()]
    columns = [("word" if name == "word_1" else name, kind) for name, kind in kinds]
    return columns, con.execute(query).fetchall()


def in_order(found: Found) -> Found:
    return found[0], sorted(found[1], key=repr)


def copied(con: Connection, source: str, prompt: Connection, name: str) -> None:
    """Let a prompt have a table of another session: as text, which loses nothing."""
    columns, rows = seen(con, f"FROM {source}")
    values = ([None if v is None else str(v) for v in own] for own in zip(*rows, strict=True))
    each = values if rows else ([] for _ in columns)
    arrow = pa.table({c: pa.array(v, pa.string()) for (c, _), v in zip(columns, each, strict=True)})
    prompt.register("arrow", arrow)
    typed = ", ".join(f'"{column}"::{kind} AS "{column}"' for column, kind in columns)
    prompt.execute(f"CREATE TABLE {name} AS SELECT {typed} FROM arrow")
    prompt.unregister("arrow")


class Witness:
    """Looks at the statements of sweeps, and what the text of their file gives, run verbatim.

    ``found``: by file, what the statement gave and what the text gives, of the statements that
    gave more rows than those before.
    """

    def __init__(self) -> None:
        self.found: dict[str, list[tuple[Found, Found]]] = defaultdict(list)
        self.words: set[int] = set()
        self.database = duckdb.connect()
        self.database.execute("CREATE SCHEMA kept")
        self._known: dict[str, tuple[str, Mapping[str, str]]] = {}
        self._most: dict[str, int] = {}
        self._macros: WeakKeyDictionary[Stream, list[str]] = WeakKeyDictionary()

    @contextmanager
    def watching(self) -> Iterator[pytest.MonkeyPatch]:
        """Look at all statements that are sent inside."""
        self._known = {render(load("sweep/pending").query): ("sweep/pending", {})}
        self._most = defaultdict(int)
        query, rows, keep, asked = worker.pass_query, Stream.rows, DuckDB.keep, DuckDB.rows
        witness = self
        worker.statements_for.cache_clear()  # those that were said before are said again

        def told(words: int, valued: bool, file: str, **tables: str) -> exp.Query:
            made = query(words, valued, file, **tables)
            own = f"sweep_valued/{file}"
            path = own if valued and own in FILES else f"sweep/{file}"
            witness._known[render(made)] = path, tables
            witness.words.add(words)
            return made

        def sent(self: Stream, sql: str, parameters: Sequence[object] = ()) -> list[Any]:
            if re.match(r"CREATE OR REPLACE TEMP\w* MACRO", sql):
                witness._macros.setdefault(self, []).append(sql)
            for part, (file, reads) in witness._known.items():
                if part in sql:
                    witness.compare(self._cursor, file, part, reads, witness._macros.get(self, ()))
            return rows(self, sql, parameters)

        def kept(
            self: DuckDB, name: str, plan: Plan, what: str, where: str, *, catalog: str = "kept"
        ) -> None:
            keep(self, name, plan, what, where, catalog=catalog)
            file, read, select = "sweep/merged", "coded", exp.select("*")
            if name.startswith("dictionary_"):
                file, read = "sweep/dictionary", "microdata"
                select = exp.select(exp.alias_(name.removeprefix("dictionary_"), "attribute"))
            source = Plan(plan.steps, select.from_(read))
            keep(self, "source", source, what, where, catalog="memory")
            with self._connection.cursor() as con:
                made = f"FROM {catalog}.main.{name}"
                witness.compare(con, file, made, {read: "memory.main.source"})
                con.execute("DROP TABLE memory.main.source")

        def spread(self: DuckDB, plan: Plan, what: str, where: str) -> list[Any]:
            if what == "encoding":
                (table,) = plan.result.find_all(exp.Table)
                with self._connection.cursor() as con:
                    reads = {"dictionary": table.sql()}
                    witness.compare(con, "sweep/spread", render(plan.result), reads)
            return asked(self, plan, what, where)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(worker, "pass_query", told)
            patch.setattr(Stream, "rows", sent)
            patch.setattr(DuckDB, "keep", kept)
            patch.setattr(DuckDB, "rows", spread)
            yield patch

    def compare(
        self,
        con: Connection,
        file: str,
        part: str,
        reads: Mapping[str, str],
        macros: Sequence[str] = (),
    ) -> None:
        """Return the results of a query in its session and of the text in the file."""
        ((rows,),) = con.execute(f"SELECT count(*) FROM ({part}) AS part").fetchall()
        if rows <= self._most[file]:
            return
        self._most[file] = rows
        variables = con.execute("SELECT name, type, value FROM duckdb_variables()").fetchall()
        asked = [f"SET VARIABLE {name} = {value!r}::{kind}" for name, kind, value in variables]
        words = [text("sweep/macros"), *macros] if macros else []
        with self.database.cursor() as prompt:
            prompt.execute(";".join([*asked, *words, "BEGIN"]))
            for table in {exp.table_name(t) for t in load(file).query.find_all(exp.Table)}:
                copied(con, reads.get(table, table), prompt, table)
            prompt.execute(text(file))
            own = seen(prompt, f"FROM memory.main.{Path(file).name}")
            prompt.execute("ROLLBACK")
        self.found[file].append((in_order(seen(con, part)), in_order(own)))


PEOPLE = pl.DataFrame(
    {
        "a": [min(i % 7, 3) if i < 40 else None for i in range(48)],
        "b": [i * i % 3 for i in range(48)],
        "c": ["xxxy"[i % 4] for i in range(48)],
        "d": [max(0, i // 4 - 3) for i in range(48)],
        "few": [i % 5 // 2 for i in range(48)],
        "other": [i // 7 % 4 for i in range(48)],
        "many": [i * 7 % 13 for i in range(48)],
    }
)
QIDS, SECRETS = [*"abcd"], ["few", "many"]
WAYS: dict[str, tuple[str, int, int, dict[str, Any]]] = {  # choice, chunk, giant, what is asked
    "walk": ("walk", 20, 10**9, {"sizes": "1-3", "histogram": True}),
    "roll up": ("roll up", 20, 10**9, {}),
    "giants": ("walk", 9, 1, {}),
    "subsets": ("walk", 20, 10**9, {"subsets": ["a+b", "c", "a+c+d"]}),
    "search": ("walk", 20, 10**9, {"threshold": 0.5, "search": True}),
    "sample": ("walk", 20, 10**9, {"sample": 0.5}),
}


def sweep(path: Path, way: str, secrets: Sequence[str], patch: pytest.MonkeyPatch) -> pl.DataFrame:
    choice, chunk, giant, asked = WAYS[way]
    force(patch, choice, chunk=chunk, giant=giant)
    for name, number in {"STANDS_FOR": 4, "FEWEST": 3, "PARTS": 3}.items():
        patch.setattr(samples, name, number)
    limits = Settings(threads=1, seed=3)
    found = qifsql.sweep(path, qids=QIDS, secret=secrets, settings=limits, **asked)
    return found.frame.drop("seconds")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    PEOPLE.write_parquet(path)
    return path


@pytest.fixture(scope="module")
def witness(people: Path) -> Iterator[Witness]:
    """Yield who saw a sweep of each way, for a secret of few values and one of many."""
    found = Witness()
    for way in WAYS:
        with found.watching() as patch:
            sweep(people, way, SECRETS, patch)
    assert found.words == {1}
    yield found
    found.database.close()


@pytest.mark.slow(because="whole sweeps are compared with the oracle")
@pytest.mark.parametrize("file", FILES)
def test_the_text_as_it_is_gives_the_rows_of_the_statement_in_a_sweep(
    witness: Witness, file: str
) -> None:
    assert witness.found[file]
    for statement, own in witness.found[file]:
        assert statement == own
        assert own[1]


@pytest.mark.slow(because="whole sweeps are compared with the oracle")
def test_every_file_is_held_against_a_sweep(witness: Witness) -> None:
    assert {file for file, found in witness.found.items() if found} == {*FILES}


@pytest.mark.slow(because="test_sweep_walk.py fills several words")
def test_statements_of_several_words_give_the_sums_of_one_word(people: Path) -> None:
    witness = Witness()
    for way in WAYS:
        with witness.watching() as patch:
            patch.setattr("qifsql.commands.sweep.layout.WORD_BITS", NARROW)  # two counters each
            sweep(people, way, ["few", "other"], patch)
    assert witness.words == {3}
    assert {file for file in FILES if " word" in text(file)} - {*VALUED} <= {*witness.found}
    for found in witness.found.values():
        assert all(statement == own for statement, own in found)
    witness.database.close()


# The tables of a workspace.


def test_the_workspace_is_made_by_its_text_and_stays_as_it_is_the_second_time() -> None:
    with duckdb.connect() as con:
        con.execute("ATTACH ':memory:' AS kept")
        con.execute(text("sweep/workspace"))
        con.execute("INSERT INTO kept.done VALUES (1, 'walk', 0.5)")
        con.execute(text("sweep/workspace"))
        own = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'kept' ORDER BY 1"
        made = [name for (name,) in con.execute(own).fetchall()]
        assert made == ["done", "facts", "found", "passes", "strata", "tasks"]
        assert con.execute("FROM kept.done").fetchall() == [(1, "walk", 0.5)]
        with pytest.raises(duckdb.ConstraintException):
            con.execute("INSERT INTO kept.done VALUES (1, 'walk', 0.5)")
