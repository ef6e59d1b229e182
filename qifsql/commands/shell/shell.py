"""A DuckDB prompt with views of the partition."""

import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from sqlglot import exp

from qifsql.adversary.options import Joining, Knowledge
from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.commands.shell.prompt import Prompt, Show, write_csv
from qifsql.counting.join import check_keys
from qifsql.counting.session import opened
from qifsql.data.collection import Collection, Source
from qifsql.data.expressions import identifier
from qifsql.data.readers import openings
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, OutputError
from qifsql.query import microdata_steps, parameters, render
from qifsql.query.columns import labelled, labelled_columns, labels, named, unique
from qifsql.query.plan import Step
from qifsql.query.splice import splice
from qifsql.query.templates import load

TAKEN = ("attached", "information_schema", "memory", "pg_catalog", "system", "temp", "")
DONE = ("ATTACH", "SET TimeZone")  # statements that the engine has run already
AFTER = {"owners": "blocks", "people": "cells"}  # names of views that other views read
BEFORE = {
    "cells": "prior_cells",
    "people": "prior_cells",
    "blocks": "prior_blocks",
    "owners": "prior_blocks",
    "profile": "prior",
}
OWNERS = "re-identification"  # the schema of the views without a secret


class ShellOptions(Knowledge, Joining, total=False):
    """Options of ``shell``: those of an attack that the views depend on."""


def shell(
    source: Source,
    *,
    init_only: bool = False,
    export: str | Path | None = None,
    show: Show | None = None,
    settings: Settings | None = None,
    **options: Unpack[ShellOptions],
) -> str:
    """Open a DuckDB prompt with the views of the blocks of a release.

    Views: microdata, blocks, profile, prior and answer; with a secret cells, guesses and revealed,
    else crowds. Their columns have the names of the file: SELECT age, count(*) FROM microdata GROUP
    BY age. A name that a view uses itself gets a number, such as size_2. Each secret has its own
    schema. .tables lists the views, .help examples. The prompt opens no other file.

    Args:
        init_only: Return the statements; open no prompt.
        export: Folder into which COPY ... TO may write.
        show: Called with the columns and rows of each result that the prompt prints.

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
        views = schemas(bound)
        statements = script(bound, views)
        if not init_only:
            for statement in statements:
                if not statement.startswith(DONE):
                    list(engine.script(statement))
            prompt = Prompt(engine, show or write_csv, views, examples(views))
            prompt.cmdloop()
            if prompt.failed and not sys.stdin.isatty():
                raise InputError("at least one statement failed")
    return "\n\n".join(statements) + "\n"


def schemas(attack: BoundAttack) -> dict[str, list[Step]]:
    """Return the views of each schema: one for each secret, or one without a secret."""
    names = [s.name for s in attack.microdata.secrets] or [OWNERS]
    first = 1 if attack.microdata.secrets else 0  # number 0 is re-identification
    distinct = unique([*TAKEN, *names])[len(TAKEN) :]  # DuckDB has schemas of the names TAKEN
    return {name: views_of(attack, j) for j, name in enumerate(distinct, first)}


def script(attack: BoundAttack, views: Mapping[str, Sequence[Step]]) -> list[str]:
    """Return the statements that create the views of all schemas and select the first schema."""
    statements = [f"{statement};" for statement in openings(attack.microdata.dataset)]
    statements += ["SET TimeZone = 'UTC';"] if attack.microdata.zoned else []
    for schema, views_of_schema in views.items():
        create = exp.Create(this=exp.Table(db=identifier(schema)), kind="SCHEMA", exists=True)
        statements += [_statement(create), _use(schema), *map(_create_view, views_of_schema)]
    return [*statements, _use(next(iter(views)))]


def examples(views: Mapping[str, Sequence[Step]]) -> list[str]:
    """Return queries, as texts, that work on the views of the first schema."""
    queries_of_views = {view.name: view.query for view in next(iter(views.values()))}
    first = exp.column(identifier(queries_of_views["microdata"].named_selects[0]))
    queries = [
        exp.select(first, "count(*) AS people").from_("microdata").group_by(first.copy()),
        exp.select("*").from_("blocks").order_by(exp.Ordered(this=exp.column("size"))).limit(10),
        exp.select("*").from_("answer"),
    ]
    if "revealed" in queries_of_views:  # the attack has a secret
        certain = exp.select("*").from_("revealed").where(exp.column("success").eq(1))
        queries.insert(2, certain.limit(10))
    return [f"{render.render(query)};" for query in queries]


def views_of(attack: BoundAttack, j: int) -> list[Step]:
    """Return the views of secret j, or of re-identification (0), with the user's names.

    These are microdata, the counts after the attack, those of the prior, and the answer.
    """
    microdata = attack.microdata
    folder = "weighted/" if microdata.weight is not None else ""
    counted = ["cells", "blocks"]
    if not j:  # each record is a value: blocks are counted at once, unless people have weights
        counted = ["people", "blocks"] if folder else ["owners"]
    counted = [f"{folder}{name}" for name in counted]
    answers, profile = ["guesses", "revealed"] if j else ["crowds"], f"{folder}profile"
    *before, people = microdata_steps.steps(microdata)  # the last one is ``microdata``
    request = parameters.make(attack, "asked", j, 0)  # 0: identity gain
    assert request is not None  # noqa: S101 - it is always made
    views = [_file_view(name, attack, j, AFTER) for name in (*counted, *answers, profile)]
    views += [_file_view(name, attack, j, BEFORE, prior=True) for name in (*counted, profile)]
    views += [request, _file_view(f"{folder}answer", attack, j, {})]
    names = labels(microdata, [view.query for view in views])
    people = replace(people, query=_microdata_query(people.query, attack, names))
    named_views = (replace(view, query=labelled(view.query, names)) for view in views)
    return [*before, people, *named_views]


def _file_view(
    name: str, attack: BoundAttack, j: int, tables: Mapping[str, str], *, prior: bool = False
) -> Step:
    """Return view ``name`` of ``sql/`` for secret j (0: none); ``tables`` renames its steps."""
    template = load(name)
    width = 0 if prior else len(attack.microdata.qids)
    query = splice(template, width=width, secret=j, tables=tables)
    doc = f"Without quasi-identifiers: {template.doc}" if prior else template.doc
    return Step(tables.get(template.name, template.name), doc, query)


def _microdata_query(query: exp.Query, attack: BoundAttack, names: Mapping[str, str]) -> exp.Query:
    """Return ``microdata`` with the user's names, and with all other columns of one file."""
    columns = labelled_columns(query, names)
    taken = {column.alias.casefold() for column in columns}
    is_collection = isinstance(attack.microdata.dataset, Collection)  # whose files may differ
    for column in () if is_collection else attack.microdata.columns:
        if column.attribute is not None and column.name.casefold() not in taken:
            columns += named([(microdata_steps.normal(column.attribute), column.name)])
            taken.add(column.name.casefold())
    changed = query.copy()
    changed.set("expressions", columns)
    return changed


def _create_view(view: Step) -> str:
    """Return the statement that creates a view, under a comment that describes a row."""
    lines = [f"-- {line}" for line in textwrap.wrap(view.doc, 97, break_long_words=False)]
    name = exp.to_table(view.name)
    create = exp.Create(this=name, kind="VIEW", replace=True, expression=view.query)
    return "\n".join([*lines, _statement(create)])


def _statement(tree: exp.Expr) -> str:
    return render.render(tree, pretty=True) + ";"


def _use(name: str) -> str:
    quoted = render.render(identifier(name))
    return f"SET schema = {render.render(exp.Literal.string(quoted))};"
