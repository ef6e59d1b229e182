"""Options by which columns get their roles: the same names wherever they are asked for."""

from typing import Annotated, Any

import typer

from qifsql.adversary.options import Knowledge
from qifsql.data.option import ATTACK, DATA
from qifsql.options.grouping import described

Plain = Annotated[
    list[str] | None,
    typer.Option(
        "--plain",
        help="Quasi-identifiers whose cells are values as they stand.",
        rich_help_panel=DATA,
    ),
]


def qids(text: str) -> Any:
    """``--qids``; ``text`` says what the command does with them."""
    return typer.Option("--qids", "-q", help=text, rich_help_panel=ATTACK)


def secret(text: str) -> Any:
    """``--secret``; ``text`` says what the command does with it."""
    return typer.Option("--secret", "-s", help=text, rich_help_panel=ATTACK)


def hierarchy(text: str) -> Any:
    """``--hierarchy``; ``text`` says of which columns."""
    return typer.Option("--hierarchy", help=text, rich_help_panel=ATTACK)


Hierarchies = Annotated[
    list[str] | None,
    hierarchy("COLUMN=FILE: the hierarchy of a quasi-identifier (value;node;...;*). Repeatable."),
]


Secrets = Annotated[list[str] | None, described(Knowledge, "secret")]
