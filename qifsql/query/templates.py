"""The views of ``sql/``, parsed when they are used.

A file of ``sql/`` answers one question, in several views from top to bottom. Each is ``CREATE OR
REPLACE VIEW name AS SELECT ...`` under a comment that describes a row, and blank lines separate
the views. One whose number of columns or tables varies is a template (``shapes``). The full name
of a view has its folder or file first: ``dit/bits`` is in ``sql/dit/``, ``link/alike`` in
``sql/link.sql``. The views of an attack, which other commands use, have only their short names:
``profile``.
"""

import re
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

import sqlglot
from sqlglot import exp

from qifsql.data.files import bundled
from qifsql.errors import InternalError
from qifsql.query import shapes
from qifsql.query.shapes import Frozen, Shape

OF_ATTACKS = ("attack", "inspect", "population")
"""Folders and files whose views read one another by their short names."""
VIEW = re.compile(r'^CREATE OR REPLACE VIEW "?(\w+)"? AS$', re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Template:
    """One view: its name, its documentation, its query, its text."""

    name: str
    doc: str
    query: exp.Select
    text: str

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """Return the names of the tables that the query reads, each once, in its order."""
        inner = {step.alias for step in self.query.find_all(exp.CTE)}
        names = dict.fromkeys(table.name for table in self.query.find_all(exp.Table))
        return tuple(name for name in names if name not in inner)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return all names in the query."""
        return frozenset(node.name for node in self.query.find_all(exp.Identifier))


def load(name: str, **shape: Shape) -> Template:
    """Return a view by its folder and name: ``profile``, ``weighted/profile``.

    One whose columns vary is written for its ``shape``.
    """
    return _load_shape(name, tuple((key, shapes.frozen(value)) for key, value in shape.items()))


@lru_cache(maxsize=4096)
def _load_shape(name: str, shape: tuple[tuple[str, Frozen], ...]) -> Template:
    return read(name, shapes.in_shape(text(name), dict(shape)))


def read(name: str, code: str) -> Template:
    """Return the view ``name`` of ``sql/`` from its text: one statement and its comments."""
    create, *more = sqlglot.parse(code, read="duckdb")
    query = create.args.get("expression") if create else None
    title = create.this.name if isinstance(create, exp.Create) else ""
    view = name.rpartition("/")[2]
    if more or not isinstance(query, exp.Select) or title != view:
        raise InternalError(f"the view {name} of sql/ is not one SELECT; install qifsql again")
    lines = [line[2:].strip() for line in code.splitlines() if line.startswith("--")]
    for node in query.walk():
        node.comments = None
    for log in list(query.find_all(exp.Log)):  # of log2(x): LOG(2, x) differs in the last digit
        if log.expression and log.this == exp.Literal.number(2):
            log.replace(exp.Anonymous(this="log2", expressions=[log.expression]))
    return Template(name=view, doc=" ".join(lines), query=query, text=code)


def text(name: str) -> str:
    """Return the text of a view: its comment and its statement."""
    home, _, view = name.rpartition("/")
    try:
        return views(home)[view]
    except KeyError as e:
        raise InternalError(f"sql/ has no view {name}; install qifsql again") from e


def exists(name: str) -> bool:
    """Return whether a view exists."""
    home, _, view = name.rpartition("/")
    return view in views(home)


@cache
def views(home: str) -> dict[str, str]:
    """Return the views of a folder or file of ``sql/`` with their texts, in reading order.

    ``home`` is empty for the views of attacks.
    """
    texts: dict[str, str] = {}
    for file in files(home):
        for part in file.read_text(encoding="utf-8").split("\n\n"):
            if name := VIEW.search(part):
                if name[1] in texts:
                    raise InternalError(f"sql/ has two views {home}/{name[1]}")
                texts[name[1]] = part.strip()
    return texts


def files(home: str) -> list[Path]:
    """Return the files of ``sql/`` with the views of a folder or file, or of attacks (empty)."""
    paths: list[Path] = []
    for name in [home] if home else OF_ATTACKS:
        alone = folder() / f"{name}.sql"
        paths += [alone] if alone.is_file() else sorted((folder() / name).glob("*.sql"))
    return paths


@cache
def script(name: str) -> tuple[str, ...]:
    """Return the statements of a file of ``sql/`` that has more than views."""
    code = (folder() / f"{name}.sql").read_text(encoding="utf-8")
    lines = "\n".join(line for line in code.splitlines() if not line.startswith("--"))
    return tuple(part.strip() for part in lines.split(";") if part.strip())


def folder() -> Path:
    """Return the folder ``sql/``."""
    return bundled("sql")
