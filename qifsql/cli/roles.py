"""Options by which columns get their roles: the same names wherever they are asked for."""

from typing import Annotated, Any

import typer

from qifsql.cli.options import ATTACK, DATA

Truth = Annotated[
    list[str] | None,
    typer.Option(
        "--truth",
        help="The key that says who is who: one name for both files, or one for each.",
        rich_help_panel=ATTACK,
    ),
]
RegisterWhere = Annotated[
    str | None,
    typer.Option("--register-where", help="As --where, for the register.", rich_help_panel=DATA),
]
Plain = Annotated[
    list[str] | None,
    typer.Option(
        "--plain",
        help="Quasi-identifiers whose cells are values as they stand.",
        rich_help_panel=DATA,
    ),
]


def qids(told: str) -> Any:
    """``--qids``; ``told`` says what the command does with them."""
    return typer.Option("--qids", "-q", help=told, rich_help_panel=ATTACK)


def secret(told: str) -> Any:
    """``--secret``; ``told`` says what the command does with it."""
    return typer.Option("--secret", "-s", help=told, rich_help_panel=ATTACK)


def hierarchy(told: str) -> Any:
    """``--hierarchy``; ``told`` says of which columns."""
    return typer.Option("--hierarchy", help=told, rich_help_panel=ATTACK)
