"""The files of sql/ as a person uses them, and held against the plans that the compiler makes."""

import datetime
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from oracle import value
from sqlglot import exp
from strategies import Table, tables, to_arrow

from qifsql import compiler, partition
from qifsql.dialect import statement
from qifsql.errors import InternalError
from qifsql.microdata import plan
from qifsql.plan import Plan
from qifsql.session import opened
from qifsql.spec import Attack, BoundAttack
from qifsql.steps import PER_SECRET, WEIGHTED, Steps
from qifsql.templates import folder, load

PLAIN = tuple(sorted(p.stem for p in folder().glob("*.sql")))
HEAVY = tuple(sorted(f"weighted/{p.stem}" for p in (folder() / "weighted").glob("*.sql")))
Rows = list[tuple[Any, ...]]


def text(name: str) -> str:
    return (folder() / f"{name}.sql").read_text(encoding="utf-8")


def reads(name: str) -> set[str]:
    """The tables that a file reads."""
    return {t.name for t in load(name).query.find_all(exp.Table)}


def files(*, weighted: bool) -> dict[str, str]:
    """View -> file of the views that go together, a weighted file before a plain one."""
    plain = {name: name for name in PLAIN}
    return plain | {Path(name).name: name for name in HEAVY} if weighted else plain


def in_order(chosen: dict[str, str]) -> list[str]:
    """The views, each after those that it reads."""
    sorter = TopologicalSorter({view: reads(file) for view, file in chosen.items()})
    return [view for view in sorter.static_order() if view in chosen]


@pytest.mark.parametrize("name", [*PLAIN, *HEAVY])
def test_a_file_creates_the_one_view_of_its_name_from_a_select(name: str) -> None:
    (create,) = sqlglot.parse(text(name), read="duckdb")
    assert isinstance(create, exp.Create)
    assert create.kind == "VIEW"
    assert create.args["replace"]
    assert create.this.name == Path(name).name
    assert isinstance(create.expression, exp.Select)
    first = next(line for line in text(name).splitlines() if not line.startswith("--"))
    assert first == f"CREATE OR REPLACE VIEW {Path(name).name} AS"


@pytest.mark.parametrize("name", [*PLAIN, *HEAVY])
def test_the_header_comment_is_the_documentation_and_no_other_comment_hides_in_the_text(
    name: str,
) -> None:
    lines = text(name).splitlines()
    header = [line for line in lines if line.startswith("--")]
    assert lines[: len(header)] == header
    assert header
    assert not any("--" in line or "/*" in line for line in lines[len(header) :])
    assert load(name).doc == " ".join(line.removeprefix("--").strip() for line in header)
    assert load(name).doc.endswith(".")


def test_the_compiler_knows_which_files_there_are_with_weights_and_which_serve_one_secret() -> None:
    assert set(WEIGHTED) == {Path(name).name for name in HEAVY}
    assert set(WEIGHTED) <= set(PLAIN)
    assert set(PER_SECRET) <= set(PLAIN)


def test_a_file_that_creates_a_view_of_another_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong.sql").write_text("-- One row.\nCREATE OR REPLACE VIEW right AS SELECT 1;")
    monkeypatch.setattr("qifsql.templates.folder", lambda: tmp_path)
    with pytest.raises(InternalError, match="must create the view wrong"):
        load("wrong")


@pytest.mark.parametrize("weighted", [False, True])
def test_the_text_as_it_is_runs_where_microdata_and_prior_are_defined(weighted: bool) -> None:
    con = duckdb.connect()
    con.execute(
        """
        CREATE TABLE people AS FROM (
            VALUES (1, 25, 'F', 'flu', 2), (2, 25, 'F', NULL, 1), (3, 49, NULL, 'flu', 3)
        ) AS people(id, age, sex, illness, weight);
        CREATE VIEW microdata AS
        SELECT {'age': age, 'sex': sex} AS qid, illness AS secret, id AS key, weight FROM people;
        """
    )
    prior(con, weighted=weighted)
    define(con, weighted=weighted)
    rows = {
        view: con.execute(f'FROM "{view}"').fetchall()
        for view in in_order(files(weighted=weighted))
    }
    assert all(rows.values())
    ((records, matches, blocks, singled_out, *chances),) = rows["answer"]
    assert (records, matches, blocks, singled_out) == (3, 3, 2, 1)
    # By hand: before, flu is right for 2 of 3 people (5 of 6 by weight); after, for one in each
    # block (2 + 3 of 6); certain is the person alone.
    expected = [0.0, 3 / 6, 5 / 6, 5 / 6] if weighted else [0.0, 1 / 3, 2 / 3, 2 / 3]
    assert chances == expected


def prior(con: duckdb.DuckDBPyConnection, view: str = "blocks", *, weighted: bool) -> None:
    """Define prior: the profile, by the same files, of a microdata with a constant qid."""
    con.execute("ALTER VIEW microdata RENAME TO known")
    con.execute("CREATE VIEW microdata AS SELECT {'nothing': 0} AS qid, * EXCLUDE (qid) FROM known")
    define(con, view, weighted=weighted, only=("cells", "blocks", "profile"))
    con.execute("CREATE TABLE prior AS FROM profile")
    con.execute("DROP VIEW microdata")
    con.execute("ALTER VIEW known RENAME TO microdata")


def define(
    con: duckdb.DuckDBPyConnection,
    view: str = "blocks",
    *,
    weighted: bool,
    only: Collection[str] = PLAIN,
) -> None:
    """Run files as they are. With ``owners`` as ``view`` the blocks are those of the owner."""
    chosen = files(weighted=weighted)
    for name in in_order(chosen):
        if name in only:
            con.execute(text(chosen[name]))
        if name == "blocks" and view != "blocks":
            con.execute(text(chosen[view]))
            con.execute(f"CREATE OR REPLACE VIEW blocks AS FROM {view}")


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
    return found.append_column("the key", pa.array(range(len(table.rows))))


@contextmanager
def bound(
    table: Table, weights: Sequence[Any] | None, model: str
) -> Iterator[tuple[BoundAttack, Callable[[Plan], Rows]]]:
    """The attack bound to the table in a Parquet file, and what runs its plans."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.parquet"
        pq.write_table(arrow(table, weights), file)
        spec = Attack.of(
            model,
            file,
            qids=table.qids,
            secret=table.secrets[:1] if model == "cas" else (),
            key="the key",
            weight=None if weights is None else "the weight",
        )
        with opened(spec) as (_, attack), duckdb.connect() as con:
            yield attack, lambda p: con.execute(statement(p)).fetchall()


def verbatim(table: Table, weights: Sequence[Any] | None) -> duckdb.DuckDBPyConnection:
    """A connection with a microdata as a person defines it: a struct ``qid``, plain names.

    NaN is missing and -0.0 is 0.0, as the oracle has it; people of weight 0 are left out.
    """
    rows = [{n: value(row[n]) for n in table.columns} for row in table.rows]
    clean = Table(table.columns, table.types, rows, table.qids, table.secrets)
    named = arrow(clean, weights)
    qids = [f"q{i}" for i, _ in enumerate(table.qids)]
    names = dict(zip(table.qids, qids, strict=True)) | {table.secrets[0]: "s"}
    own = [n for n in named.column_names if n in names or n.startswith("the ")]
    named = named.select(own).rename_columns([names.get(n, n) for n in own])
    con = duckdb.connect()
    con.register("arrow", named)
    con.execute("CREATE TABLE people AS FROM arrow")
    con.unregister("arrow")
    struct = ", ".join(f"'{q}': {q}" for q in qids)
    weight = "" if weights is None else ', "the weight" AS weight'
    people = "" if weights is None else 'WHERE "the weight" > 0'
    con.execute(
        f"CREATE VIEW microdata AS SELECT {{{struct}}} AS qid, s AS secret, "
        f'"the key" AS key{weight} FROM people {people}'
    )
    return con


def everything(con: duckdb.DuckDBPyConnection, view: str) -> Rows:
    """The rows of a view, its qid spread over as many columns as it has fields."""
    columns = [name for name, *_ in con.execute(f"DESCRIBE {view}").fetchall()]
    spread = "unnest(qid), * EXCLUDE (qid)" if "qid" in columns else "*"
    return con.execute(f"SELECT {spread} FROM {view}").fetchall()


def same(one: Rows, other: Rows) -> None:
    """The same rows with the same values, in any order."""
    assert sorted(map(told, one)) == sorted(map(told, other))


def told(row: object) -> str:
    """A row as text; what shows blocks gives dates as text already."""
    return re.sub(r"datetime\.date\((\d+), (\d+), (\d+)\)", dated, repr(row))


def dated(found: re.Match[str]) -> str:
    return repr(str(datetime.date(*map(int, found.groups()))))


def after(attack: BoundAttack, *names: str) -> Plan:
    """The plan of the last of these files for the first secret (0: the owner)."""
    j = 1 if attack.secrets else 0
    steps = Steps(attack, key=True)
    steps.blocks(j)
    for name in names:
        steps.add(name, j)
    return plan(attack, steps.steps, exp.select("*").from_(steps.names[-1]))


@given(tables())
def test_files_run_by_hand_give_what_the_compiler_gives(table: Table) -> None:
    agrees_about_a_secret(table, None)


@given(weighted_tables())
def test_files_run_by_hand_give_what_the_compiler_gives_with_weights(
    drawn: tuple[Table, list[Any]],
) -> None:
    agrees_about_a_secret(*drawn)


def agrees_about_a_secret(table: Table, weights: list[Any] | None) -> None:
    weighted = weights is not None
    con = verbatim(table, weights)
    prior(con, weighted=weighted)
    define(con, weighted=weighted)
    with bound(table, weights, "cas") as (attack, run):
        same(everything(con, "cells"), run(only(after(attack), "cells_1")))
        same(everything(con, "blocks"), run(after(attack)))
        for name in ("profile", "crowds", "secret_values"):
            same(everything(con, name), run(after(attack, name)))
        same(everything(con, "guesses"), run(after(attack, "guesses")))
        same(everything(con, "revealed"), run(after(attack, "guesses", "revealed")))
        same(everything(con, "profile"), [r[1:] for r in run(compiler.profile_plan(attack))])
        same(
            everything(con, "prior"),
            [r[1:] for r in run(compiler.profile_plan(attack, prior=True))],
        )
        same(everything(con, "answer"), [r[2:] for r in run(compiler.answer_plan(attack))])
        shown = run(partition.blocks_plan(attack, "smallest", 20))
        same(everything(con, "counts"), [r[: len(table.qids)] + r[-1:] for r in shown])
        if not weighted:  # the file tallies one value, and takes what is left for the second
            tallied = run(compiler.tally_plan(attack, {1: 2}))
            same(everything(con, "tally_profile"), [r[1:] for r in tallied])
    con.close()


def only(plan: Plan, step: str) -> Plan:
    """The plan up to the step of that name."""
    names = [s.name for s in plan.steps]
    steps = plan.steps[: names.index(step) + 1]
    return Plan(steps, exp.select("*").from_(step), plan.setup)


@given(weighted_tables(), st.booleans())
def test_files_run_by_hand_give_what_the_compiler_gives_for_the_owner(
    drawn: tuple[Table, list[Any]], weighted: bool
) -> None:
    table, weights = drawn[0], drawn[1] if weighted else None
    con = verbatim(table, weights)
    prior(con, "owners", weighted=weighted)
    define(con, "owners", weighted=weighted)
    with bound(table, weights, "crs") as (attack, run):
        same(everything(con, "blocks"), run(after(attack)))
        same(everything(con, "owner_guesses"), run(after(attack, "owner_guesses")))
        same(everything(con, "crowds"), run(after(attack, "crowds")))
        same(everything(con, "profile"), [r[1:] for r in run(compiler.profile_plan(attack))])
        same(everything(con, "answer"), [r[2:] for r in run(compiler.answer_plan(attack))])
    con.close()


@given(tables())
def test_the_profile_from_tallies_is_the_profile_from_cells(table: Table) -> None:
    with bound(table, None, "cas") as (attack, run):
        values = run(compiler.profile_plan(attack, prior=True))[0][3]
        same(
            run(compiler.tally_plan(attack, {1: values})),
            run(compiler.profile_plan(attack)),
        )


def test_every_placeholder_of_the_files_is_one_that_the_compiler_fills() -> None:
    for name in (*PLAIN, *HEAVY):
        words = set(re.findall(r"\b(?:qid|secret|tally)\w*\b", load(name).query.sql("duckdb")))
        assert words <= {"qid", "secret", "secret_values", "tally"}, name
