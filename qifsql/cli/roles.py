"""Options by which columns get their roles: the same names wherever they are asked for."""

from typing import Any

import typer

from qifsql.cli.options import ATTACK


def qids(told: str) -> Any:
    """``--qids``; ``told`` says what the command does with them."""
    return typer.Option("--qids", "-q", help=told, rich_help_panel=ATTACK)


def secret(told: str) -> Any:
    """``--secret``; ``told`` says what the command does with it."""
    return typer.Option("--secret", "-s", help=told, rich_help_panel=ATTACK)


def hierarchy(told: str) -> Any:
    """``--hierarchy``; ``told`` says of which columns."""
    return typer.Option("--hierarchy", help=told, rich_help_panel=ATTACK)
