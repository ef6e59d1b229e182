"""The files of sql/ as a person uses them, and held against the plans that the compiler makes."""

import datetime
import math
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from graphlib import TopologicalSorter
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
from sqlglot import exp
from strategies import Table, tables, to_arrow

from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.commands.inspect import blocks
from qifsql.counting.session import opened
from qifsql.errors import InternalError
from qifsql.query import compiler, templates
from qifsql.query.plan import Plan
from qifsql.query.render import keeping, statement
from qifsql.query.steps import WEIGHTED, Steps
from qifsql.query.templates import folder, load
from qifsql.reference.microdata import value

# Their microdata are people with suppressed records, or lists of values: held against the reference
# as results (``test_suppressed``, ``test_reported``).
OF_RESULTS = (
    "blocks_of_all",
    "cells_of_all",
    "chances_of_all",
    "people_unreported",
    "people_unreported_in_values",
)
PLAIN = tuple(sorted(templates.views("").keys() - set(OF_RESULTS)))
SCRIPTS = ("sweep/macros", "sweep/workspace")  # statements that are no views
FILES = {
    path.relative_to(folder()).with_suffix("").as_posix(): path
    for path in sorted(folder().rglob("*.sql"))
}
HOMES = sorted({name.partition("/")[0] for name in FILES} - set(templates.OF_ATTACKS))
EVERY = [*PLAIN, *(f"{home}/{view}" for home in HOMES for view in templates.views(home))]
SWEPT = tuple(name for name in EVERY if name.startswith(("sweep/", "sweep_valued/")))
HEAVY = tuple(sorted(f"weighted/{view}" for view in templates.views("weighted")))
Rows = list[tuple[Any, ...]]
Connection = duckdb.DuckDBPyConnection


def text(name: str) -> str:
    return FILES[name].read_text("utf-8") if name in SCRIPTS else templates.text(name)


def reads(name: str) -> set[str]:
    """The tables that a file reads."""
    return {t.name for t in load(name).query.find_all(exp.Table)}


def files(*, weighted: bool) -> dict[str, str]:
    """View -> file of the views that go together, a weighted file before a plain one."""
    plain = {name: name for name in PLAIN}
    return plain | {Path(name).name: name for name in HEAVY} if weighted else plain


def in_order(chosen: Mapping[str, str]) -> list[str]:
    """The views, each after those that it reads."""
    sorter = TopologicalSorter({view: reads(file) for view, file in chosen.items()})
    return [view for view in sorter.static_order() if view in chosen]


def test_a_file_that_creates_a_view_of_another_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = "-- A file.\n\n-- One row.\nCREATE OR REPLACE VIEW right AS\nSELECT 1 UNION SELECT 2;"
    (tmp_path / "odd.sql").write_text(texts)
    monkeypatch.setattr("qifsql.query.templates.folder", lambda: tmp_path)
    with pytest.raises(InternalError, match="has no view odd/wrong"):
        load("odd/wrong")
    with pytest.raises(InternalError, match="odd/right of sql/ is not one SELECT"):
        load("odd/right")
    templates.views.cache_clear()


def test_a_file_is_read_in_a_prompt_as_the_index_says() -> None:
    index = (folder() / "README.md").read_text("utf-8")
    example = re.search(r"```sql\n(.*?)```", index, re.DOTALL)
    assert example
    with duckdb.connect() as con, tempfile.TemporaryDirectory() as place:
        people = pl.DataFrame(
            {"age": [1, 1, 2], "sex": ["F", "F", "M"], "illness": ["a", "b", "a"]}
        )
        people.write_parquet(f"{place}/people.parquet")
        for line in example[1].strip().split(";\n"):
            read = re.fullmatch(r"\.read sql/(.*)\.sql\n(.*)", line, re.DOTALL)
            code = f"{FILES[read[1]].read_text('utf-8')}\n{read[2]}" if read else line
            con.execute(code.replace("people.parquet", f"{place}/people.parquet"))
        found = con.execute('SELECT size, mode, "values" FROM blocks ORDER BY size').fetchall()
        assert found == [(1, 1, 1), (2, 1, 2)]


# By hand, in a plain prompt.

PEOPLE = """
    CREATE TABLE persons AS FROM (
        VALUES (1, 25, 'F', 'flu', 2, 'x'), (2, 25, 'F', NULL, 1, 'y'), (3, 49, NULL, 'flu', 3, 'x')
    ) AS persons(id, age, sex, illness, weight, club);
    CREATE VIEW microdata AS
    SELECT
        {'age': age, 'sex': sex} AS qid, illness AS secret, id AS key, weight, club AS member_of,
        [club] AS household, id AS person, NULL::BIGINT AS alone, 1::BIGINT AS alike,
        TRUE AS lone
    FROM persons;
    CREATE VIEW agreement AS SELECT *, (qid.age = 25)::INTEGER AS mask FROM microdata;
    CREATE TABLE population AS
    FROM (VALUES ({'age': 25, 'sex': 'F'}, 4), ({'age': 49, 'sex': NULL}, 2))
    AS population(qid, size);
    CREATE TABLE asked AS
    SELECT
        1 AS scale, 2 AS tries, 1 AS penalty, 0.5 AS tolerance,
        [0.5, 1.0]::DOUBLE[] AS thresholds, [0.5, 1.0]::DOUBLE[] AS quantiles;
    CREATE TABLE beliefs AS
    FROM (VALUES ('flu', 'flu', 0.25::DOUBLE), (NULL, NULL, 0.75)) AS beliefs("value", raw, belief);
    CREATE TABLE listed AS
    FROM (VALUES ('flu', 'flu', 3.0), (NULL, NULL, 1.0)) AS listed("value", raw, gain);
    CREATE TABLE pairs AS
    FROM (VALUES (1, 1, 3.0::DOUBLE), (1, 2, -1.0), (2, 1, 0.0), (2, 2, 1.0))
    AS pairs(guess, code, gain);
    CREATE TABLE positions AS SELECT 1 AS first_tally, 1 AS last_tally;
    CREATE TABLE numbers AS
    FROM (VALUES (1, 'flu', 0.5), (2, NULL, 1.0)) AS numbers(code, "value", number);
"""
# Block (25, F) has the values flu and missing, once each (weights 2 and 1), block (49, missing)
# has flu alone (weight 3).
KNOWN: dict[str, tuple[Rows, Rows]] = {  # view -> its rows without weights, and with them
    "answer": (  # before, flu is right for 2 of 3 (5 of 6 by weight); after, for one in each block
        [(3, 3, 2, 1, 0.0, 1 / 3, 2 / 3, 2 / 3)],
        [(3, 3, 2, 1, 0.0, 3 / 6, 5 / 6, 5 / 6)],
    ),
    "domain": ([(2, 1, 3)], [(2, 1, 3)]),
    "secret_values": ([("flu", 1), (None, 2)], [("flu", 1), (None, 2)]),
    "thresholds": ([(0.5, 3), (1.0, 1)], [(0.5, 3), (1.0, 1)]),
    "quantiles": ([(0.5, 0.5), (1.0, 1.0)], [(0.5, 2 / 3), (1.0, 1.0)]),
    "histogram": ([(50, 2), (100, 1)], [(67, 2), (100, 1)]),
    "groups": (  # group, people, alone, certain, certain by weight, mean success, worst
        [("x", 2, 1, 1, 1 / 2, 3 / 4, 1.0), ("y", 1, 0, 0, 0.0, 1 / 2, 1 / 2)],
        [("x", 2, 1, 1, 3 / 5, (2 * 2 / 3 + 3) / 5, 1.0), ("y", 1, 0, 0, 0.0, 2 / 3, 2 / 3)],
    ),
    "guessed_right": ([("x", 1.0), ("y", 0.0)], [("x", 1.0), ("y", 0.0)]),
    "journalist": ([(1 / 2, 1 / 3, 0)], [(1 / 2, 1 / 3, 0)]),  # (1/4 + 1/4 + 1/2) / 3
    "beliefs_check": ([(2, 2, 2, 0, 1.0, 0, 0)], [(2, 2, 2, 0, 1.0, 0, 0)]),
    "pairs_check": ([(4, 4, 2, 2, 0, -1.0, 3.0, 0.0)], [(4, 4, 2, 2, 0, -1.0, 3.0, 0.0)]),
    "unknown_values": ([(0, 0)], [(0, 0)]),
    "violations": ([(2, 1, 2, 3)], [(2, 1, 2, 3)]),
    "agreements": ([(0, 1, 1, 1), (1, 2, 1, 2)], [(0, 1, 1, 1), (1, 2, 1, 2)]),
    "uncertainty": (  # bits, mean; guesses: all without weights, their mean with weights
        [(2 / 3, 1 + 2 + 1)],
        [((math.log2(3) - 2 / 3) / 2, (2 * 1 + 1 * 2 + 3 * 1) / 6)],
    ),
    "capacity": (  # all of the missing are in the first block; of flu 1 of 2 (3 of 5) in the other
        [(1, 1), (2, 1)],
        [(2**80, 2**80 + round(2**80 * (3 / 5)))],
    ),
}
MODES: dict[str, tuple[list[float], list[float]]] = {  # of block (25, F), of (49, missing)
    "blocks": ([1, 1], [2, 3]),
    "owners": ([1, 1], [1, 1]),
    "tries": ([2, 1], [3, 3]),
    "owner_tries": ([2, 1], [2, 1]),
    "penalty": ([0, 1], [1, 3]),
    "tolerance": ([2, 1], [3, 3]),  # 0.5 and 1 are within 0.5 of one another
    "staked": ([2, 3], [5, 9]),  # times scale; guess 1: 3 - 1 (2 * 3 - 1) there, 3 (9) here
}


@pytest.mark.slow(because="0.8 s; every recorded mutant dies without it")
@pytest.mark.parametrize("weighted", [False, True])
def test_the_text_as_it_is_runs_where_the_few_tables_that_no_file_makes_are_defined(
    weighted: bool,
) -> None:
    with duckdb.connect() as con:
        con.execute(PEOPLE)
        prompt = by_hand(con, files(weighted=weighted), files(weighted=weighted))
        rows = {view: con.execute(f'FROM "{view}"').fetchall() for view in prompt.files}
        assert set(rows) == {*PLAIN, *(WEIGHTED if weighted else ())}
        assert all(rows.values())
        for view, known in KNOWN.items():
            assert sorted(rows[view], key=repr) == near(sorted(known[weighted], key=repr)), view
        ((scale,),) = rows["scale"]
        for view, modes in MODES.items():
            found = con.execute(f"SELECT mode FROM {view} ORDER BY qid.age").fetchall()
            unit = scale if view == "staked" else 1
            assert [mode / unit for (mode,) in found] == modes[weighted], view


def near(rows: Rows) -> object:
    """The same rows but for the last digits of what was divided."""
    return [
        tuple(pytest.approx(x, rel=1e-14, abs=0) if isinstance(x, float) else x for x in row)
        for row in rows
    ]


class Prompt:
    """A plain prompt in which a person runs files of sql/ as they are.

    ``files`` are those that are run: view -> file. ``own`` are the views that the person made.
    """

    def __init__(self, con: Connection, chosen: dict[str, str]) -> None:
        self.con = con
        self.files = chosen
        self.order = in_order(chosen)
        self.own: set[str] = set()

    def run(self, *views: str) -> None:
        """Run these files, or all but those of views that the person made."""
        for view in views or [view for view in self.order if view not in self.own]:
            self.con.execute(text(self.files[view]))

    def put(self, view: str, other: str) -> None:
        """Let a view be what another one shows now; then run the files again that may read it."""
        self.con.execute(f"CREATE OR REPLACE TABLE {other}_now AS FROM {other}")
        self.con.execute(f"CREATE OR REPLACE VIEW {view} AS FROM {other}_now")
        self.own |= {view, other}
        self.run()

    def believe(self) -> None:
        """Let cells, before and after, and members be those that the adversary believes in."""
        con = self.con
        self.run("cells", "members")
        con.execute("CREATE OR REPLACE TABLE prior_cells AS FROM prior_counted")
        for view in OF_ALL_VALUES:
            self.run(view)
            con.execute(f"CREATE OR REPLACE TABLE {view}_now AS FROM {view}")
            con.execute(f"CREATE OR REPLACE VIEW {view} AS FROM {view}_now")
        con.execute(
            "CREATE TABLE IF NOT EXISTS prior_believed AS SELECT * EXCLUDE (qid) FROM believed"
        )
        con.execute("CREATE OR REPLACE TABLE prior_cells AS FROM prior_believed")
        con.execute("CREATE OR REPLACE VIEW cells AS FROM believed")
        con.execute("CREATE OR REPLACE VIEW members AS FROM believed_members")
        self.own |= {"cells", "members", *OF_ALL_VALUES}


# What is about all values of the release, those that are ruled out, too.
OF_ALL_VALUES = ("believed", "believed_members", "beliefs_check", "domain", "secret_values")


def by_hand(
    con: Connection,
    views: Collection[str],
    chosen: Mapping[str, str],
    *,
    instead: Sequence[tuple[str, str]] = (),
    define: Callable[[Prompt], None] = lambda _: None,
    believed: bool = False,
    priors: Collection[str] = (),
) -> Prompt:
    """Run the files that make these views and all that these read, first for the prior.

    That is the same files for a microdata with a constant qid; ``prior_cells``, ``prior`` and
    ``priors`` come from there. ``instead`` are views to be put in the place of others; ``define``
    makes what a person defines about the values of the secret.
    """
    others = [other for _, other in instead]
    first = Prompt(con, closure(["cells", "profile", *others, *priors], chosen))
    con.execute("ALTER VIEW microdata RENAME TO known")
    con.execute("CREATE VIEW microdata AS SELECT {'nothing': 0} AS qid, * EXCLUDE (qid) FROM known")
    con.execute(text(chosen["cells"]))
    con.execute("CREATE TABLE prior_counted AS SELECT * EXCLUDE (qid) FROM cells")
    con.execute("CREATE TABLE prior_cells AS FROM prior_counted")
    if believed:
        first = Prompt(con, first.files | closure(OF_ALL_VALUES, chosen))
        first.believe()
    define(first)
    first.run()
    for view, other in instead:
        first.put(view, other)
    con.execute("CREATE TABLE prior AS FROM profile")
    for view in priors:
        con.execute(f"CREATE TABLE prior_{view} AS FROM {view}")
    con.execute("DROP VIEW microdata")
    con.execute("ALTER VIEW known RENAME TO microdata")
    prompt = Prompt(con, first.files | closure([*views, *others], chosen))
    if believed:
        prompt.believe()
    prompt.run()
    for view, other in instead:
        prompt.put(view, other)
    return prompt


def closure(views: Collection[str], chosen: Mapping[str, str]) -> dict[str, str]:
    """The files that make these views, and those that make what they read."""
    found: dict[str, str] = {}
    waiting = list(views)
    while waiting:
        view = waiting.pop().removeprefix("prior_")
        if view in chosen and view not in found:
            found[view] = chosen[view]
            waiting += reads(chosen[view])
    return found


# The same views, by hand and by the compiler.

OF_A_SECRET = (
    *("answer", "blocks", "capacity", "cells", "chances", "cooccurrences", "counterexample"),
    *("crowds", "domain", "doubts", "groups", "guessed_right", "guesses"),
    *("histogram", "hyper", "inners", "members", "numbered", "profile", "quantiles", "revealed"),
    *("secret_values", "spectra", "spectrum", "thresholds", "uncertainty", "violations"),
    *("coded_cells", "group_capacity", "value_overlaps", "pointwise", "security"),
    *("value_chances", "value_priors", "joint", "channel", "posteriors"),
)
OF_HOUSEHOLDS = ("housed", "household_risks", "households", "unhoused")  # without weights
OF_ONE_RECORD = (  # their microdata are made of people: held against the reference as results
    *("known_cells", "known_blocks", "known_owners", "known_profile", "known_certain"),
    "housed_people",
)
OF_REPORTED = (  # held against the reference as results
    *("reported_cells", "unreported", "reported_tally_counts", "tally_unreported"),
)
OF_CLAIMS = (  # likewise
    *("claims", "blocks_with_usual", "owner_blocks_with_usual", "profile_with_usual"),
    "tally_profile_with_usual",
)
OF_THE_OWNER = (
    *("answer", "blocks", "chances", "crowds", "doubts", "groups", "guesses", "histogram"),
    *("journalist", "members", "profile", "quantiles", "thresholds", "uniques"),
    *("group_capacity", "violations"),
)
OF_THE_OWNER_BY_WEIGHT = ("cells", "spectra", "spectrum", "uncertainty")
OF_A_GAIN = (
    *("answer", "asked", "chances", "groups", "histogram", "profile", "quantiles", "thresholds"),
)
OF_TALLIES = (  # view -> step
    *(("tallies", "tallies"), ("signatures", "signatures"), ("tally_counts", "tally_counts")),
    *(("tally_profile", "profile"), ("tally_spectra", "spectra"), ("tally_capacity", "capacity")),
    *(("member_tallies", "member_tallies"), ("member_signatures", "member_signatures")),
    *(("grouped_signatures", "signatures"), ("member_counts", "member_counts")),
    *(("member_kinds", "member_kinds"), ("tally_groups", "groups")),
    *(("tally_guessed_right", "guessed_right"), ("tally_pointwise", "pointwise")),
    *(("numbered_values", "numbered_values"), ("tally_value_overlaps", "value_overlaps")),
)
OWNERS = (  # instead of views about a secret
    *(("blocks", "owners"), ("doubts", "owner_doubts")),
    ("group_capacity", "owner_group_capacity"),
    *(("guesses", "owner_guesses"), ("members", "owner_members")),
)
OWNERS_BY_WEIGHT = (*OWNERS[2:], ("cells", "people"))
STAKED = {  # gain function that says a gain for every guess and value -> its views of others
    "worth": (("stakes", "worth_stakes"), ("blocks", "staked")),
    "matrix": (("stakes", "matrix_stakes"), ("blocks", "staked")),
    "sql": (("blocks", "staked"),),
}
OF_STAKES = ("effort", "expected", "scale", "secret_values", "stakes", "unusual", "usual_gains")
OF_BELIEFS = (
    *("answer", "blocks", "capacity", "chances", "cooccurrences", "doubts", "groups"),
    *("guessed_right", "guesses", "hyper", "profile", "revealed", "uncertainty"),
)
# The compiler's log2 may differ in the last digit, and a sum of beliefs by its order.
NEARLY = ("doubts", "uncertainty", "beliefs_check")
THRESHOLDS, QUANTILES = (0.25, 0.5, 1), (0, 0.3, 1)


def test_every_file_is_held_against_the_compiler() -> None:
    compared = {*OF_A_SECRET, "counts", "chosen", *OF_THE_OWNER, *OF_THE_OWNER_BY_WEIGHT}
    compared |= {view for view, _ in OF_TALLIES} | {"tally_owners", "owner_member_kinds"}
    compared |= {*OF_A_GAIN, "tries", "penalty", "tolerance", "nearest", "reaches", "owner_tries"}
    compared |= {*OF_STAKES, "pairs_check", "gains_check", "unknown_values"}
    compared |= {
        *OF_ONE_RECORD,
        *OF_HOUSEHOLDS,
        *OF_REPORTED,
        *OF_CLAIMS,
        *OF_BELIEFS,
        *OF_ALL_VALUES,
        "agreements",
        "owner_agreements",
        "likelihoods",
    }
    for instead in (OWNERS, OWNERS_BY_WEIGHT, *STAKED.values()):
        compared |= {other for _, other in instead}
    assert compared >= {*PLAIN, *WEIGHTED}


@st.composite
def weighted_tables(draw: st.DrawFn) -> tuple[Table, list[Any]]:
    """A hostile table, and weights that a sum adds exactly: ints or decimals, some 0."""
    table = draw(tables())
    n = len(table.rows)
    kinds = (st.integers(0, 3), st.decimals(0, 5, places=2))
    drawn = st.one_of([st.lists(kind, min_size=n, max_size=n) for kind in kinds]).filter(any)
    return table, draw(drawn)


def arrow(table: Table, weights: Sequence[Any] | None) -> pa.Table:
    found = to_arrow(table)
    if weights is not None:
        kind = pa.int64() if isinstance(weights[0], int) else pa.decimal128(10, 2)
        found = found.append_column("the weight", pa.array(weights, kind))
    people = range(len(table.rows))
    groups = pa.array([("x", "y", None)[i * i % 3] for i in people], pa.string())
    return found.append_column("the key", pa.array(people)).append_column("the group", groups)


@contextmanager
def bound(
    table: Table, weights: Sequence[Any] | None, model: str, **options: Any
) -> Iterator[tuple[BoundAttack, Connection]]:
    """The attack bound to the table in a Parquet file, and a connection for its plans."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.parquet"
        pq.write_table(arrow(table, weights), file)
        if "target" not in options:
            options |= {"by": "the group", "thresholds": THRESHOLDS, "quantiles": QUANTILES}
        spec = Attack.of(
            model,
            file,
            qids=table.qids,
            secret=table.secrets[:1] if model.endswith("as") else (),
            key="the key",
            weight=None if weights is None else "the weight",
            **options,
        )
        if weights is None and "by" in options and "prior" not in options:
            spec = replace(spec, household="the group")
        with opened(spec) as (_, attack), duckdb.connect() as con:
            con.execute("ATTACH ':memory:' AS kept")
            yield attack, con


@contextmanager
def verbatim(table: Table, weights: Sequence[Any] | None) -> Iterator[Connection]:
    """A connection with a microdata as a person defines it: a struct ``qid``, plain names.

    NaN is missing and -0.0 is 0.0, as the oracle has it; people of weight 0 are left out, and
    weights are whole numbers. ``asked`` is about a plain attack.
    """
    rows = [{n: value(row[n]) for n in table.columns} for row in table.rows]
    clean = Table(table.columns, table.types, rows, table.qids, table.secrets)
    named = arrow(clean, weights)
    qids = [f"q{i}" for i, _ in enumerate(table.qids)]
    names = dict(zip(table.qids, qids, strict=True)) | {table.secrets[0]: "s"}
    own = [n for n in named.column_names if n in names or n.startswith("the ")]
    named = named.select(own).rename_columns([names.get(n, n) for n in own])
    with duckdb.connect() as con:
        con.register("arrow", named)
        con.execute("CREATE TABLE persons AS FROM arrow")
        con.unregister("arrow")
        struct = ", ".join(f"'{q}': {q}" for q in qids)
        weight, people = "", ""
        if weights is not None:  # whole numbers: of decimals, the digits
            weight = """, replace("the weight"::VARCHAR, '.', '')::HUGEINT AS weight"""
            people = 'WHERE "the weight" > 0'
        con.execute(
            f"CREATE VIEW microdata AS SELECT {{{struct}}} AS qid, s AS secret, "
            f'"the key" AS key, "the group" AS member_of, "the group" AS household{weight} '
            f"FROM persons {people}"
        )
        ask(con)
        yield con


def ask(con: Connection, **numbers: object) -> None:
    """Define ``asked``."""
    said = {"scale": 1, "tries": 1, "penalty": 0, "tolerance": "0::DECIMAL(20, 9)"} | numbers
    con.execute(
        f"CREATE OR REPLACE TABLE asked AS SELECT {said['scale']} AS scale, "
        f"{said['tries']} AS tries, {said['penalty']} AS penalty, "
        f"{said['tolerance']} AS tolerance, "
        f"{list(THRESHOLDS)}::DOUBLE[] AS thresholds, "
        f"{list(QUANTILES)}::DECIMAL(18, 9)[] AS quantiles"
    )


def everything(con: Connection, view: str) -> Rows:
    """The rows of a view, its qid spread over as many columns as it has fields."""
    columns = [name for name, *_ in con.execute(f"DESCRIBE {view}").fetchall()]
    spread = ", ".join("unnest(qid)" if name == "qid" else f'"{name}"' for name in columns)
    return con.execute(f"SELECT {spread} FROM {view}").fetchall()


def same(one: Rows, other: Rows, *, nearly: bool = False) -> None:
    """The same rows with the same values, in any order; ``nearly``: but for the last digits."""
    if nearly:
        assert sorted(one, key=told) == near(sorted(other, key=told))
    else:
        assert sorted(map(told, one)) == sorted(map(told, other))


def told(row: object) -> str:
    """A row as text; what shows blocks gives dates as text already."""
    return re.sub(r"datetime\.date\((\d+), (\d+), (\d+)\)", dated, repr(row))


def dated(found: re.Match[str]) -> str:
    return repr(str(datetime.date(*map(int, found.groups()))))


def run(con: Connection, plan: Plan) -> Rows:
    return con.execute(statement(plan)).fetchall()


@dataclass(frozen=True)
class Both:
    """A prompt and an attack that are about the same, each with its connection."""

    con: Connection
    attack: BoundAttack
    engine: Connection
    secret: int
    gain: int = 0

    def agree(
        self, view: str, step: str | None = None, *, prior: bool = False, **more: Any
    ) -> None:
        """The rows of a view by hand are those of a step of the compiler."""
        steps = Steps(self.attack, key=True, **more)
        name = steps.need(step or view, self.secret, self.gain, prior=prior)
        rows = exp.select("*").from_(name)
        plan = steps.plan(rows)
        nearly = view.removeprefix("prior_") in NEARLY
        same(everything(self.con, view), run(self.engine, plan), nearly=nearly)

    def rows(self, plan: Plan) -> Rows:
        """The rows of a plan without the numbers of secret and gain, which are those asked for."""
        rows = run(self.engine, plan)
        assert {row[:2] for row in rows} <= {(self.secret, self.gain)}
        return [row[2:] for row in rows]

    def agree_on_the_result(self) -> None:
        """The profiles, before and after, with the scale of gains, and the answer."""
        asked = [(self.secret, self.gain)]
        ((scale,),) = self.con.execute("SELECT scale FROM asked").fetchall()
        for view, prior in (("profile", False), ("prior", True)):
            rows = self.rows(compiler.profile_plan(Steps(self.attack), asked, prior=prior))
            same([(scale, *row) for row in everything(self.con, view)], rows)
        answers = run(self.engine, compiler.answer_plan(self.attack))
        same(everything(self.con, "answer"), [row[-8:] for row in answers])


@pytest.mark.slow(because="5.1 s; every recorded mutant dies without it")
@given(tables())
def test_files_run_by_hand_give_what_the_compiler_gives(table: Table) -> None:
    agrees_about_a_secret(table, None)


@pytest.mark.slow(because="6.2 s; every recorded mutant dies without it")
@given(weighted_tables())
def test_files_run_by_hand_give_what_the_compiler_gives_with_weights(
    drawn: tuple[Table, list[Any]],
) -> None:
    agrees_about_a_secret(*drawn)


def agrees_about_a_secret(table: Table, weights: list[Any] | None) -> None:
    of_households = OF_HOUSEHOLDS if weights is None else ()
    views = [*OF_A_SECRET, *of_households, "counts"]
    chosen = files(weighted=weights is not None)
    with verbatim(table, weights) as con, bound(table, weights, "cas") as (attack, engine):
        by_hand(con, views, chosen, priors=["uncertainty"])
        both = Both(con, attack, engine, 1)
        both.agree_on_the_result()
        for view in (*OF_A_SECRET, *of_households):
            both.agree(view)
        for step in ("cells", "uncertainty"):
            both.agree(f"prior_{step}", step, prior=True)
        shown = run(engine, blocks.blocks_plan(attack, "smallest", 20))
        same(everything(con, "counts"), [r[: len(table.qids)] + r[-1:] for r in shown])


@pytest.mark.slow(because="4.6 s; every recorded mutant dies without it")
@given(weighted_tables(), st.booleans())
def test_files_run_by_hand_give_what_the_compiler_gives_for_the_owner(
    drawn: tuple[Table, list[Any]], weighted: bool
) -> None:
    table, weights = drawn[0], drawn[1] if weighted else None
    views = [*OF_THE_OWNER, *(OF_THE_OWNER_BY_WEIGHT if weighted else ())]
    instead = OWNERS_BY_WEIGHT if weighted else OWNERS
    with verbatim(table, weights) as con, bound(table, weights, "crs") as (attack, engine):
        populate(con, attack, engine)
        by_hand(con, views, files(weighted=weighted), instead=instead)
        both = Both(con, attack, engine, 0)
        both.agree_on_the_result()
        for view in views:
            both.agree(view, catalogs={"population": "kept"})


def populate(con: Connection, attack: BoundAttack, engine: Connection) -> None:
    """Define a population: one person more in each block of several, and nobody else."""
    con.execute(
        "CREATE TABLE population AS "
        "SELECT qid, count(*) + 1 AS size FROM microdata GROUP BY qid HAVING count(*) > 1"
    )
    engine.execute(keeping(compiler.kept_plan(Steps(attack), "blocks")[1], "population", "kept"))
    engine.execute("DELETE FROM kept.population WHERE size = 1")
    engine.execute("UPDATE kept.population SET size = size + 1")


@pytest.mark.slow(because="3.6 s; every recorded mutant dies without it")
@given(tables())
def test_tallies_by_hand_are_those_of_the_compiler(table: Table) -> None:
    # The files tally one value, and take what is left for the second.
    with verbatim(table, None) as con, bound(table, None, "cas") as (attack, engine):
        con.execute("CREATE TABLE positions AS SELECT 1 AS first_tally, 1 AS last_tally")
        views = [*(view for view, _ in OF_TALLIES), "tally_owners", "owner_member_kinds"]
        by_hand(con, views, files(weighted=False))
        for view, step in OF_TALLIES:
            Both(con, attack, engine, 1).agree(view, step, values={1: 2})
        of_owner = Both(con, attack, engine, 0)
        of_owner.agree("tally_owners", "profile", values={1: 2})
        of_owner.agree("owner_member_kinds", "member_kinds", values={1: 2})


@pytest.mark.slow(because="3.0 s; every recorded mutant dies without it")
@given(tables())
def test_what_tallies_give_is_what_cells_give(table: Table) -> None:
    with bound(table, None, "crs,cas") as (attack, engine):
        ((_, _, values, *_),) = run(engine, compiler.step_plan(Steps(attack), "domain", [(1, 0)]))
        for step, j in (
            *((s, 1) for s in ("profile", "spectra", "capacity", "pointwise")),
            ("profile", 0),
        ):
            tallied = compiler.step_plan(Steps(attack, values={1: values}), step, [(j, 0)])
            counted = compiler.step_plan(Steps(attack), step, [(j, 0)])
            assert "signatures" in {s.name for s in tallied.steps}
            assert "signatures" not in {s.name for s in counted.steps}
            same(run(engine, tallied), run(engine, counted))
        for step, j in (("groups", 1), ("guessed_right", 1), ("groups", 0)):
            tallied = compiler.step_plan(Steps(attack, values={1: values}), step, [(j, 0)])
            counted = compiler.step_plan(Steps(attack), step, [(j, 0)])
            assert "member_signatures" in {s.name for s in tallied.steps}
            assert sorted(run(engine, tallied), key=repr) == near(
                sorted(run(engine, counted), key=repr)
            )


# With beliefs and gain functions.


def domain(table: Table) -> list[Any]:
    """The values of the first secret, each once."""
    found = {repr(value(row[table.secrets[0]])): value(row[table.secrets[0]]) for row in table.rows}
    return [found[key] for key in sorted(found)]


@contextmanager
def lines(table: Table, **columns: Sequence[Any]) -> Iterator[tuple[Path, pa.Table]]:
    """A Parquet file of lines about values of the secret, in the column ``value``."""
    kinds = {"value": table.types[table.secrets[0]], "guess": pa.string()}
    arrays = {n: pa.array(c, kinds.get(n, pa.float64())) for n, c in columns.items()}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines.parquet"
        pq.write_table(pa.table(arrays), file)
        yield file, pa.table(arrays)


def register(con: Connection, name: str, found: pa.Table, query: str) -> None:
    con.register("arrow", found)
    con.execute(f"CREATE TABLE {name} AS {query}")
    con.unregister("arrow")


@st.composite
def beliefs(draw: st.DrawFn) -> tuple[Table, list[Any] | None, list[float]]:
    """A table, weights or none, and what is believed of each value, not of all nothing."""
    table, weights = draw(weighted_tables())
    n = len(domain(table))
    parts = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any))
    weighed = draw(st.booleans())
    return table, weights if weighed else None, [part / sum(parts) for part in parts]


def of_beliefs(*, weighted: bool) -> dict[str, str]:
    """The files for people who are weighed by beliefs, whether they have weights or not."""
    raw = {} if weighted else {"cells": "cells", "members": "members"}
    return files(weighted=True) | raw


@pytest.mark.slow(because="2.7 s; every recorded mutant dies without it")
@settings(max_examples=examples(30))
@given(beliefs())
def test_files_run_by_hand_give_what_the_compiler_gives_with_beliefs(
    drawn: tuple[Table, list[Any] | None, list[float]],
) -> None:
    table, weights, parts = drawn
    with (
        lines(table, value=domain(table), probability=parts) as (file, found),
        verbatim(table, weights) as con,
        bound(table, weights, "cas", prior=file) as (attack, engine),
    ):
        query = 'SELECT "value", "value"::VARCHAR AS raw, probability AS belief FROM arrow'
        register(con, "beliefs", found, query)
        by_hand(con, OF_BELIEFS, of_beliefs(weighted=weights is not None), believed=True)
        both = Both(con, attack, engine, 1)
        both.agree_on_the_result()
        for view in ("beliefs", *OF_ALL_VALUES, *OF_BELIEFS):
            both.agree(view)


NUMBER = st.sampled_from(("0", "0.25", "0.5", "1", "3.7", "1000000"))
EARNED = st.sampled_from((-1.0, 0.0, 0.1, 0.5, 1.0, 3.25, 1e6))


@pytest.mark.slow(because="1.8 s; every recorded mutant dies without it")
@settings(max_examples=examples(25))
@given(weighted_tables(), st.booleans(), st.booleans(), st.integers(1, 4), NUMBER)
def test_gains_of_numbers_by_hand_are_those_of_the_compiler(
    drawn: tuple[Table, list[Any]], weighted: bool, owner: bool, tries: int, penalty: str
) -> None:
    table, weights = drawn[0], drawn[1] if weighted else None
    cost = Fraction(penalty)
    gains = {
        "tries": (f"tries:{tries}", {"tries": tries}),
        "penalty": (
            f"penalty:{penalty}",
            {"scale": cost.denominator, "penalty": cost.numerator},
        ),
    }
    for kind, (gain, numbers) in gains.items():
        instead: tuple[tuple[str, str], ...] = (("blocks", kind),)
        if owner and weighted:
            instead = (("members", "owner_members"), ("cells", "people"), *instead)
        elif owner:
            other = "owner_tries" if kind == "tries" else kind
            instead = (("blocks", "owners"), ("members", "owner_members"), ("blocks", other))
        gained(table, weights, gain, instead, numbers=numbers, owner=owner)


@pytest.mark.slow(because="2.5 s; every recorded mutant dies without it")
@settings(max_examples=examples(30))
@given(weighted_tables().filter(lambda drawn: numeric(drawn[0])), st.booleans(), NUMBER)
def test_gains_within_a_tolerance_by_hand_are_those_of_the_compiler(
    drawn: tuple[Table, list[Any]], weighted: bool, tolerance: str
) -> None:
    table, weights = drawn[0], drawn[1] if weighted else None
    whole = pa.types.is_integer(table.types[table.secrets[0]])
    within = f"{int(Fraction(tolerance))}::HUGEINT" if whole else f"{tolerance}::DECIMAL(20, 9)"

    def define(prompt: Prompt) -> None:
        number = "::HUGEINT" if whole else ""
        prompt.con.execute(text("secret_values"))
        prompt.con.execute(
            f'CREATE TABLE numbers AS SELECT code, "value", "value"{number} AS number '
            "FROM secret_values"
        )

    gained(
        table,
        weights,
        f"tolerance:{tolerance}",
        (("blocks", "tolerance"),),
        more=("numbers", "nearest", "reaches"),
        numbers={"tolerance": within},
        define=define,
    )


def numeric(table: Table) -> bool:
    kind = table.types[table.secrets[0]]
    return any(
        test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    )


def gained(
    table: Table,
    weights: list[Any] | None,
    gain: str,
    instead: Sequence[tuple[str, str]],
    *,
    more: Sequence[str] = (),
    numbers: Mapping[str, object] = {},
    define: Callable[[Prompt], None] = lambda _: None,
    owner: bool = False,
) -> None:
    """All views about a gain function agree."""
    model = "crs" if owner else "cas"
    with (
        verbatim(table, weights) as con,
        bound(table, weights, model, gain=gain) as (attack, engine),
    ):
        ask(con, **numbers)
        views = [*OF_A_GAIN, *more]
        by_hand(con, views, files(weighted=weights is not None), instead=instead, define=define)
        both = Both(con, attack, engine, 0 if owner else 1, 1)
        both.agree_on_the_result()
        both.agree(f"{instead[-1][1]}_now", "gained")
        for view in views:
            both.agree(view)


@st.composite
def staked(draw: st.DrawFn) -> tuple[Table, list[Any] | None, str, dict[str, list[Any]]]:
    """A table, weights or none, a gain function, and the lines of its file."""
    table, weights = draw(weighted_tables())
    kind = draw(st.sampled_from(("worth", "matrix", "sql", "worth:4")))
    names = [None] if kind == "worth" else draw(st.sampled_from((["a"], ["a", "b", "", "A"])))
    pairs = [(name, v) for name in names for v in domain(table)]
    earned = draw(st.lists(EARNED, min_size=len(pairs), max_size=len(pairs)))
    columns = {"value": [v for _, v in pairs], "gain": earned}
    if kind == "matrix":
        columns["guess"] = [name for name, _ in pairs]
    return table, weights if draw(st.booleans()) else None, kind, columns


PAIRS = {  # gain function -> what a person says that a guess gains
    "worth": "SELECT secret_values.code AS guess, secret_values.code, listed.gain",
    "matrix": "SELECT listed.guess, secret_values.code, listed.gain",
    "sql": (
        "SELECT guesses.code AS guess, secret_values.code, "
        "(CASE WHEN guesses.value = secret_values.value THEN 2 ELSE -0.5 END)::DOUBLE AS gain "
        "FROM secret_values AS guesses CROSS JOIN secret_values"
    ),
    "worth:4": "SELECT code AS guess, code, 4::DOUBLE AS gain FROM secret_values",
}
JOINED = " FROM listed JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM listed.value"


@pytest.mark.slow(because="7.7 s; every recorded mutant dies without it")
@settings(max_examples=examples(50))
@given(staked())
def test_gains_of_guesses_by_hand_are_those_of_the_compiler(
    drawn: tuple[Table, list[Any] | None, str, dict[str, list[Any]]],
) -> None:
    table, weights, kind, columns = drawn
    checked = ["gains_check", "pairs_check", "pairs"]
    if kind in ("worth", "matrix"):
        checked += ["listed", "unknown_values"]
    with lines(table, **columns) as (file, found):
        gains = {"worth": f"worth:{file}", "matrix": f"matrix:{file}", "worth:4": "worth:4"}
        gain = gains.get(kind, "sql:CASE WHEN guess = secret THEN 2 ELSE -0.5 END")

        def define(prompt: Prompt) -> None:
            con = prompt.con
            guess = "guess" if kind == "matrix" else "NULL::VARCHAR AS guess"
            register(
                con,
                "listed",
                found,
                f'SELECT {guess}, "value", "value"::VARCHAR AS raw, gain FROM arrow',
            )
            con.execute(text("secret_values"))
            joined = JOINED if kind in ("worth", "matrix") else ""
            con.execute(f"CREATE TABLE pairs AS {PAIRS[kind]}{joined}")
            con.execute(text("scale"))
            ask(con, scale="(SELECT scale FROM scale)")

        gained(
            table,
            weights,
            gain,
            STAKED[kind.partition(":")[0]],
            more=[*OF_STAKES, *checked],
            define=define,
        )


# About one person.


@pytest.mark.slow(because="1.1 s; every recorded mutant dies without it")
@given(tables(), st.integers(0))
def test_agreements_with_one_person_by_hand_are_those_of_the_compiler(
    table: Table, number: int
) -> None:
    person = number % len(table.rows)
    target = {name: value(table.rows[person][name]) for name in table.qids}
    agreeing = " + ".join(
        f"{2**i} * (microdata.qid.q{i} IS NOT DISTINCT FROM target.qid.q{i})::INTEGER"
        for i, _ in enumerate(table.qids)
    )
    with (
        verbatim(table, None) as con,
        bound(table, None, "irs,ias", target=target) as (attack, engine),
    ):
        con.execute(
            f"CREATE VIEW agreement AS SELECT microdata.*, {agreeing} AS mask "
            f"FROM microdata JOIN microdata AS target ON target.key = {person}"
        )
        by_hand(con, ["agreements", "owner_agreements"], files(weighted=False))
        Both(con, attack, engine, 1).agree("agreements")
        Both(con, attack, engine, 0).agree("owner_agreements", "agreements")
