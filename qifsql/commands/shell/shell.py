"""A DuckDB prompt with views of the partition."""

import cmd
import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

from sqlglot import exp

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, BoundAttack, Microdata
from qifsql.counting.join import check_keys
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.data.expressions import identifier
from qifsql.data.relation import openings
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, Interrupted, OutputError, printable
from qifsql.query import microdata_steps, parameters, render
from qifsql.query.columns import unique
from qifsql.query.splice import splice
from qifsql.query.templates import load

Show = Callable[[Sequence[str], list[tuple[Any, ...]]], None]
TAKEN = ("attached", "information_schema", "memory", "pg_catalog", "system", "temp", "")
DONE = ("ATTACH", "SET TimeZone")  # statements that the engine has run already
INSTEAD = {"owners": "blocks", "weighted/people": "cells"}  # names that other views read
OWNERS = "re-identification"  # the schema of the views without a secret


def shell(
    source: Source,
    *,
    init_only: bool = False,
    export: str | Path | None = None,
    show: Show | None = None,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> str:
    """Open a DuckDB prompt with the views of the blocks of a release.

    Views: microdata, blocks, profile, prior and answer; with a secret cells, guesses and
    revealed, else owners and crowds. Each secret has its own schema. qid is a struct of the
    quasi-identifiers: SELECT qid.age, size FROM blocks. The prompt opens no other file.

    Args:
        source: A path (Parquet, CSV or TSV, also .gz and .zst; a glob; a folder of Parquet;
            table@file.duckdb), a data frame (anything with __arrow_c_stream__, a Polars
            LazyFrame) or a Dataset.
        init_only: Return the statements; open no prompt.
        export: Folder into which COPY ... TO may write.
        show: Called with each line that the prompt prints.
        settings: Memory, threads, temporary folder, seed and progress; by default those of the
            machine.
        qids: Quasi-identifiers: columns, patterns such as CO_*, or named expressions such as
            decade=birth_year//10. One text may name several: "age,sex".
        secret: Secrets (sensitive attributes): columns or named expressions.
        weight: Column or expression >= 0 that weights records; NULL is an error. By default every
            record weighs 1.
        where: SQL condition; other records are left out. NULL counts as false.
        null: "distinct" (a missing value is one more value) or "drop" (leave out records that
            miss a quasi-identifier or secret).
        key: Person key of a collection: one column name for all datasets, or one for each. A
            missing key matches nobody.
        wave: Column that splits a long table into datasets: "year", or "year=2018,2019" with the
            focal one first.
        absent: People who are not in a dataset: "null" (like missing values) or "distinct".

    Returns:
        The statements that define the views.

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.

    Example:
        >>> statements = qifsql.shell("data-samples/popets_table_2a.csv", init_only=True,
        ...     qids="age")
        >>> "VIEW blocks" in statements
        True

    Source: M2 and M3.

    """
    folder = None if export is None else Path(export)
    if folder is not None and not folder.is_dir():
        raise OutputError(f"{folder} is not a folder; name one that exists with --export")
    spec = Attack.of("cas" if options.get("secret") else "crs", source, **options).fitting()
    folders = [] if folder is None else [folder]
    with opened(spec, settings, folders=folders, joined=False) as (engine, bound):
        check_keys(engine, bound.microdata)
        statements = views(bound)
        if not init_only:
            for statement in statements:
                if not statement.startswith(DONE):
                    list(engine.script(statement))
            prompt = Prompt(engine, show or write_csv)
            prompt.cmdloop()
            if prompt.failed and not sys.stdin.isatty():
                raise InputError("at least one statement failed")
    return "\n\n".join(statements) + "\n"


def views(attack: BoundAttack) -> list[str]:
    """Return the statements that create the views of all schemas and select the first schema."""
    names = [s.name for s in attack.microdata.secrets] or [OWNERS]
    schemas = unique([*TAKEN, *names])[len(TAKEN) :]
    statements = [f"{statement};" for statement in openings(attack.microdata.dataset)]
    statements += ["SET TimeZone = 'UTC';"] if attack.microdata.zoned else []
    for j, schema in enumerate(schemas, 1):
        create = exp.Create(this=exp.Table(db=identifier(schema)), kind="SCHEMA", exists=True)
        views_of_secret = _views_of(attack, j if attack.microdata.secrets else 0)
        statements += [_statement(create), _use(schema), *views_of_secret]
    return [*statements, _use(schemas[0])]


def _views_of(attack: BoundAttack, j: int) -> list[str]:
    """Return the views of one secret: ``microdata`` built for it, the others from ``sql/``."""
    weighted = attack.microdata.weight is not None
    folder = "weighted/" if weighted else ""
    *before, people = microdata_steps.steps(attack.microdata)
    statements = [_view(step.name, step.query) for step in before]
    statements.append(_view("microdata", _with_struct(people.query, attack.microdata, j)))
    request = parameters.make(attack, "asked", j, 0)
    assert request is not None  # noqa: S101 - it is always made
    statements.append(_view("asked", request.query))
    counted = [f"{folder}cells", f"{folder}blocks"] if j else ["owners"]
    if weighted and not j:
        counted = ["weighted/people", "weighted/blocks"]
    for name in counted:
        statements.append(load(name).text.strip())
        if name in INSTEAD:
            view = load(name).name
            statements.append(_view(INSTEAD[name], exp.select("*").from_(view)))
    shown = ["guesses", "revealed"] if j else ["crowds"]
    statements += [load(name).text.strip() for name in (f"{folder}profile", *shown)]
    statements += _prior(counted, folder)
    statements.append(load(f"{folder}answer").text.strip())
    return statements


def _prior(counted: Sequence[str], folder: str) -> list[str]:
    """Return the views without quasi-identifiers: one block, and the view ``prior`` about it."""
    names = {
        "cells": "prior_cells",
        "people": "prior_cells",
        "blocks": "prior_blocks",
        "owners": "prior_blocks",
    }
    statements = []
    for name in (*counted, f"{folder}profile"):
        template = load(name)
        query = splice(template, tables=names)
        statements.append(_view(names.get(template.name, "prior"), query))
    return statements


def _with_struct(query: exp.Query, microdata: Microdata, j: int) -> exp.Query:
    """Return ``microdata`` with one column ``qid`` under the user's names, and one ``secret``."""
    names = unique([q.name for q in microdata.qids])
    columns = {e.alias: e.this for e in query.selects}
    parts = [
        exp.PropertyEQ(this=exp.Literal.string(name), expression=columns[f"qid_{i}"].copy())
        for i, name in enumerate(names, 1)
    ]
    selected: list[exp.Expr] = [exp.alias_(exp.Struct(expressions=parts), "qid")]
    if j:
        selected.append(exp.alias_(columns[f"secret_{j}"].copy(), "secret"))
    if "weight" in columns:
        selected.append(exp.alias_(columns["weight"].copy(), "weight"))
    changed = query.copy()
    changed.set("expressions", selected)
    return changed


def _view(name: str, query: exp.Query) -> str:
    create = exp.Create(this=exp.to_table(name), kind="VIEW", replace=True, expression=query)
    return _statement(create)


def _statement(tree: exp.Expr) -> str:
    return render.render(tree, pretty=True) + ";"


def _use(name: str) -> str:
    quoted = render.render(identifier(name))
    return f"SET schema = {render.render(exp.Literal.string(quoted))};"


def write_csv(names: Sequence[str], rows: list[tuple[Any, ...]]) -> None:
    """Write a result as CSV to stdout."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)


class Prompt(cmd.Cmd):
    """A prompt that runs statements, each up to a semicolon, and shows their rows.

    Nothing is remembered.
    """

    prompt = "qifsql> "
    more = "   ...> "
    intro = (
        "Views: microdata, blocks, profile, prior, answer; with a secret cells, guesses and "
        "revealed, else owners and crowds. End a statement with ;  Leave with Ctrl-D."
    )

    def __init__(self, engine: LocalEngine, show: Show) -> None:
        super().__init__()
        self.engine = engine
        self.show = show
        self.typed: list[str] = []
        self.failed = False
        if not sys.stdin.isatty():
            self.use_rawinput = False
            self.prompt = self.more = ""
            self.intro = ""
        self.first = self.prompt

    def onecmd(self, line: str) -> bool:
        """Run a statement at its semicolon; return True at the end of the input, to leave."""
        if line == "EOF":
            if self.typed:
                self._run()
            return True
        if not self.typed and line.strip() in ("", ".quit", ".exit", "quit", "exit"):
            return bool(line.strip())
        self.typed.append(line)
        if line.rstrip().endswith(";"):
            self._run()
        self.prompt = self.more if self.typed else self.first
        return False

    def _run(self) -> None:
        statement, self.typed = "\n".join(self.typed), []
        try:
            for names, rows in self.engine.script(statement):
                self.show(names, rows)
        except (InputError, Interrupted) as e:
            self.failed = True
            print(printable(str(e), "\n\t"), file=sys.stderr)  # noqa: T201 - the prompt talks to the person at it
