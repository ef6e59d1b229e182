"""The command line: parse, call the function of the same name, show what it gives."""

import os
import sys
from collections.abc import Mapping, Sequence
from gettext import gettext
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand

from qifsql import __version__, commands
from qifsql.errors import INTERRUPTED, Interrupted, unwritable
from qifsql.options.grouping import ALONE, completed, grouped
from qifsql.options.runtime import check_address_space, guarded, talk
from qifsql.presentation.language import bind_locale, of_locale, speaking, translated

LITERAL = r"\["
"""A bracket that is no markup."""


def application(names: Sequence[str] = commands.NAMES) -> typer.Typer:
    """Return the command line with these commands."""
    app = typer.Typer(
        name="qifsql",
        help="Privacy risk of published microdata, measured exactly with DuckDB SQL.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback(invoke_without_command=True)(_options)
    for job, members in commands.JOBS.items():
        for name in members:
            if name in names:
                module = import_module(f"qifsql.commands.{name}.cli")
                with speaking(of_locale() if name in commands.TRANSLATED else "en"):
                    epilog = _examples(module.EXAMPLES)
                    command = app.command(cls=Command, rich_help_panel=job, epilog=epilog)
                    command(grouped(getattr(module, name)))
    return app


class Command(TyperCommand):
    """A command whose option ``--help`` is shown in the user's language."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was typed; an option whose value may be left out can stand alone."""
        alone = {flag for p in self.params if getattr(p, "metavar", "") == ALONE for flag in p.opts}
        return super().parse_args(ctx, completed(args, alone))

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option with its translated text: typer's own is English."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = gettext(option.help or "")
        return option


def _examples(examples: Mapping[str, str]) -> str:
    """Return examples as the end of a help text: a question, and the command that answers it."""
    lines = [
        f"{translated(question)}\n\n[bold]$ {command.replace('[', LITERAL)}[/bold]"
        for question, command in examples.items()
    ]
    return "\n\n".join([translated("Examples:"), *lines])


def _typed(words: Sequence[str]) -> Sequence[str]:
    """Return the command that is typed, alone: to load all takes a tenth of a second."""
    name = words[0].replace("-", "_") if words else ""
    return (name,) if name in commands.NAMES and "_" not in words[0] else commands.NAMES


def _version(flag: bool) -> None:
    if flag:
        print(f"qifsql {__version__}")  # noqa: T201 - this is the result
        raise typer.Exit


def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", help="Show the version.", callback=_version, is_eager=True
    ),
) -> None:
    """Privacy risk of published microdata, measured exactly with DuckDB SQL."""
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")
    elif "--help" not in sys.argv:
        check_address_space()


def main() -> int:
    """Run the command line; its exit code (0, 1, 2, 3, 4 or 130)."""
    code = guarded(_run, debug="--debug" in sys.argv)
    try:
        sys.stdout.flush()
    except OSError as e:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(e, BrokenPipeError):
            talk(f"error: {unwritable('the result', e)}")
            return code or 3
    return code


def entry() -> NoReturn:
    """Run the command line and leave at once.

    All that is ours is closed and removed by then; taking the libraries apart would only take
    time (a tenth of a small attack) and have them talk about it on stderr.
    """
    _open_streams()
    code = main()
    sys.stderr.flush()
    os._exit(code)


def _open_streams() -> None:
    """Replace closed streams by the null device, and escape what a stream cannot encode."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _run() -> int | None:
    names = _typed(sys.argv[1:])
    if set(names) <= set(commands.TRANSLATED):
        bind_locale()
    try:
        result: int | None = application(names)(standalone_mode=False)
    except typer.TyperException as e:
        words = " ".join(str(e.format_message()).split()).rstrip(".")
        context = getattr(e, "ctx", None)  # of the command that was meant, where there is one
        command = (
            f" {context.info_name}" if context is not None and context.parent is not None else ""
        )
        talk(f"error: {words}; see qifsql{command} --help")
        return 2
    except typer.Abort:
        result = Interrupted.exit_code
    if result == Interrupted.exit_code:  # typer makes a KeyboardInterrupt this, and says nothing
        talk(f"error: {INTERRUPTED}")
    return result
