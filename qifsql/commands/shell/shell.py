"""A DuckDB prompt with views of the partition."""

import cmd
import csv
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from sqlglot import exp

from qifsql.adversary.options import Joining, Knowledge
from qifsql.adversary.spec import Attack, BoundAttack
from qifsql.counting.join import check_keys
from qifsql.counting.session import opened
from qifsql.data.collection import Collection, Source
from qifsql.data.expressions import identifier
from qifsql.data.readers import openings
from qifsql.engine.protocol import LocalEngine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, Interrupted, OutputError, printable
from qifsql.query import microdata_steps, parameters, render
from qifsql.query.columns import labelled, labelled_columns, labels, named, unique
from qifsql.query.plan import Step
from qifsql.query.splice import splice
from qifsql.query.templates import load

Show = Callable[[Sequence[str], list[tuple[Any, ...]]], None]
DESCRIPTION_WIDTH = 120  # of a description in one line
QUIT_WORDS = (".quit", ".exit", "quit", "exit")
RESERVED_SCHEMAS = ("attached", "information_schema", "memory", "pg_catalog", "system", "temp", "")
SETUP = ("ATTACH", "SET TimeZone")  # statements that the engine has run already
POSTERIOR_NAMES = {"owners": "blocks", "people": "cells"}  # of views that other views read
PRIOR_NAMES = {
    "cells": "prior_cells",
    "people": "prior_cells",
    "blocks": "prior_blocks",
    "owners": "prior_blocks",
    "profile": "prior",
}
OWNERS_SCHEMA = "re-identification"  # the schema of the views without a secret


def write_csv(names: Sequence[str], rows: list[tuple[Any, ...]]) -> None:
    """Write a result as CSV to stdout."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)


class Prompt(cmd.Cmd):
    """A prompt that runs statements, each up to a semicolon, and shows their rows.

    ``views`` are those of each schema; ``examples`` are queries that work on them. Nothing is
    remembered.
    """

    def __init__(
        self,
        engine: LocalEngine,
        show: Show,
        views: Mapping[str, Sequence[Step]],
        examples: Sequence[str],
    ) -> None:
        """Set up the prompt; ``show`` prints columns and rows, ``views`` are those by schema."""
        super().__init__()
        self.engine = engine
        self.show = show
        self.views = views
        queries = "\n".join(f"  {example}" for example in examples)
        text = (
            "End a statement with ;  .tables lists the views, .help shows this, Ctrl-D leaves.\n"
            f"Examples:\n{queries}\n"
        )
        self.intro = self.help = printable(text, "\n")
        self.typed: list[str] = []  # the lines of a statement without its semicolon yet
        self.failed = False
        self.first_prompt, self.next_prompt = "qifsql> ", "   ...> "  # of the lines of a statement
        if not sys.stdin.isatty():  # statements come from a file or a pipe: show no prompt
            self.use_rawinput = False
            self.intro = self.first_prompt = self.next_prompt = ""
        self.prompt = self.first_prompt

    def onecmd(self, line: str) -> bool:
        """Take a line: run a statement at its semicolon, obey a word; return True to leave."""
        if line == "EOF":  # the end of the input
            if self.typed:
                self._run()
            return True
        word = line.strip()
        if not self.typed and (word.startswith(".") or word in ("", *QUIT_WORDS)):
            return self._obey(word)
        self.typed.append(line)
        if line.rstrip().endswith(";"):
            self._run()
        self.prompt = self.next_prompt if self.typed else self.first_prompt
        return False

    def _obey(self, word: str) -> bool:
        """Obey a word that is no statement, such as ``.tables``; return True to leave."""
        word = word.removesuffix(";")
        if word == ".tables":
            self._list_views()
        elif word == ".help":
            print(self.help)  # noqa: T201 - the prompt talks to the person at it
        elif word not in ("", *QUIT_WORDS):
            self.failed = True
            _complain("unknown command; there are .tables, .help and .quit")
        return word in QUIT_WORDS

    def _list_views(self) -> None:
        """Show each view with its schema and the first sentence about its rows."""
        rows = []
        for schema, views in self.views.items():
            for view in views:
                sentence = view.doc.partition(". ")[0].rstrip(".")
                if len(sentence) > DESCRIPTION_WIDTH:  # show the part before a colon
                    sentence = sentence[: sentence.rfind(":", 0, DESCRIPTION_WIDTH)]
                rows.append((schema, view.name, sentence))
        left_out = 0 if len(self.views) > 1 else 1  # columns: a single schema is not named
        self.show(["schema", "view", "rows"][left_out:], [row[left_out:] for row in rows])

    def _run(self) -> None:
        """Run the statement that was typed, and show its rows or its error."""
        statement, self.typed = "\n".join(self.typed), []
        try:
            for names, rows in self.engine.script(statement):
                self.show(names, rows)
        except (InputError, Interrupted) as e:
            self.failed = True
            _complain(str(e))


def _complain(message: str) -> None:
    print(printable(message, "\n\t"), file=sys.stderr)  # noqa: T201 - the prompt talks to the person at it


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
                if not statement.startswith(SETUP):
                    list(engine.script(statement))
            prompt = Prompt(engine, show or write_csv, views, examples(views))
            prompt.cmdloop()
            if prompt.failed and not sys.stdin.isatty():
                raise InputError("at least one statement failed")
    return "\n\n".join(statements) + "\n"


def schemas(attack: BoundAttack) -> dict[str, list[Step]]:
    """Return the views of each schema: one for each secret, or one without a secret."""
    names = [s.name for s in attack.microdata.secrets] or [OWNERS_SCHEMA]
    first = 1 if attack.microdata.secrets else 0  # number 0 is re-identification
    distinct = unique([*RESERVED_SCHEMAS, *names])[len(RESERVED_SCHEMAS) :]
    return {name: views_of(attack, j) for j, name in enumerate(distinct, first)}


def script(attack: BoundAttack, views: Mapping[str, Sequence[Step]]) -> list[str]:
    """Return the statements that create the views of all schemas and select the first schema."""
    statements = [f"{statement};" for statement in openings(attack.microdata.dataset)]
    statements += ["SET TimeZone = 'UTC';"] if attack.microdata.zoned else []
    for schema, views_of_schema in views.items():
        create = exp.Create(this=exp.Table(db=identifier(schema)), kind="SCHEMA", exists=True)
        statements += [f"{render.render(create, pretty=True)};", _set_schema(schema)]
        for view in views_of_schema:  # each under a comment that describes a row
            lines = [f"-- {line}" for line in textwrap.wrap(view.doc, 97, break_long_words=False)]
            name = exp.to_table(view.name)
            create = exp.Create(this=name, kind="VIEW", replace=True, expression=view.query)
            statements.append("\n".join([*lines, f"{render.render(create, pretty=True)};"]))
    return [*statements, _set_schema(next(iter(views)))]


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
    """Return the views of a schema, of secret ``j`` or of re-identification (0), in their order.

    These are microdata, the counts of blocks, those before the attack, and the answer. Columns have
    the names of the user's file.
    """
    is_weighted = attack.microdata.weight is not None
    folder = "weighted/" if is_weighted else ""
    counts = ["cells", "blocks"]  # the views that lead to a profile, one on the other
    if not j:  # each record is a value: blocks are counted at once, unless people have weights
        counts = ["people", "blocks"] if is_weighted else ["owners"]
    counted = [f"{folder}{name}" for name in counts]
    guesses = ["guesses", "revealed"] if j else ["crowds"]
    after_release = [*counted, *guesses, f"{folder}profile"]
    before_release = [*counted, f"{folder}profile"]
    request = parameters.make(attack, "asked", j, 0)  # 0: identity gain
    assert request is not None  # noqa: S101 - it is always made
    views = [
        *(_file_view(name, attack, j, POSTERIOR_NAMES) for name in after_release),
        *(_file_view(name, attack, j, PRIOR_NAMES, prior=True) for name in before_release),
        request,
        _file_view(f"{folder}answer", attack, j, {}),
    ]
    names = labels(attack.microdata, [view.query for view in views])
    *steps, microdata = microdata_steps.steps(attack.microdata)
    microdata = replace(microdata, query=_microdata_query(microdata.query, attack, names))
    named_views = (replace(view, query=labelled(view.query, names)) for view in views)
    return [*steps, microdata, *named_views]


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
    microdata = attack.microdata
    columns = labelled_columns(query, names)
    if not isinstance(microdata.dataset, Collection):  # whose files have different columns
        taken = {column.alias.casefold() for column in columns}
        for column in microdata.columns:
            if column.attribute is not None and column.name.casefold() not in taken:
                columns += named([(microdata_steps.normal(column.attribute), column.name)])
                taken.add(column.name.casefold())
    changed = query.copy()
    changed.set("expressions", columns)
    return changed


def _set_schema(name: str) -> str:
    """Return the statement that makes a schema current: it names it by a text, itself quoted."""
    quoted = render.render(identifier(name))
    return f"SET schema = {render.render(exp.Literal.string(quoted))};"
