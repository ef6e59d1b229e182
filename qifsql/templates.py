"""The files of ``sql/``: one question about blocks each, parsed once.

Each file is ``CREATE OR REPLACE VIEW <file name> AS SELECT ...`` under a comment that says
what a row is. It runs as it is in a DuckDB prompt where ``microdata`` is defined.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import sqlglot
from sqlglot import exp

from qifsql.errors import InternalError


@dataclass(frozen=True)
class Template:
    """One file: its view's name, its documentation, its query, its text."""

    name: str
    doc: str
    query: exp.Select
    text: str


@cache
def load(name: str) -> Template:
    """The template of that path below ``sql/``, without ``.sql`` (``weighted/cells``)."""
    text = (folder() / f"{name}.sql").read_text(encoding="utf-8")
    create = sqlglot.parse_one(text, read="duckdb")
    query = create.expression
    view = create.this.name
    if view != Path(name).name or not isinstance(query, exp.Select):
        raise InternalError(f"sql/{name}.sql must create the view {Path(name).name}")
    lines = [line[2:].strip() for line in text.splitlines() if line.startswith("--")]
    for node in query.walk():
        node.comments = None
    return Template(view, " ".join(lines), _exact(query), text)


def _exact(query: exp.Select) -> exp.Select:
    """The query with ``log2(x)`` as it is written: ``LOG(2, x)`` differs in the last digit."""
    for log in list(query.find_all(exp.Log)):
        if log.expression and log.this == exp.Literal.number(2):
            log.replace(exp.Anonymous(this="log2", expressions=[log.expression]))
    return query


@cache
def folder() -> Path:
    """Where ``sql/`` is: inside an installed package, or beside it in the source tree."""
    here = Path(__file__).resolve().parent
    for candidate in (here / "sql", here.parent / "sql"):
        if (candidate / "profile.sql").is_file():
            return candidate
    raise InternalError("the folder sql/ is missing from this installation; install qifsql again")
