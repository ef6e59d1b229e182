"""The command line: parse the words, call the function of the same name, show its result."""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from io import BufferedWriter, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import NoReturn

import typer

from qifsql import __version__, commands
from qifsql.commands import former_names
from qifsql.errors import INTERRUPTED, DatasetError, Interrupted, unwritable
from qifsql.options.runtime import check_address_space, run_guarded, talk
from qifsql.presentation.language import bind_locale, of_locale, speaking, translated

VERSION = ("-V", "--version")
HELP = ("-h", "--help")
"""The flags that ask for a help text; ``qifsql help COMMAND`` asks for it, too."""

COMPLETION = "_QIFSQL_COMPLETE"
"""The variable by which a shell asks for completions."""

GARBAGE = 50_000
"""Objects made between two searches for garbage: trees of SQL are many objects and no garbage."""

LITERAL = r"\["
"""A bracket that Rich shows as text, not as markup."""


def application(
    names: Sequence[str] = commands.NAMES, *, listed: Sequence[str] = ()
) -> typer.Typer:
    """Return the command line with the commands ``names``.

    Those of ``listed`` are in its help alone. They are not loaded: the documentation of a room is
    the first sentence of the help of its command.
    """
    app = typer.Typer(
        name="qifsql",
        help="Privacy risk of published microdata, measured exactly with DuckDB SQL.",
        context_settings={"help_option_names": list(HELP)},
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback(invoke_without_command=True)(_options)
    for job, members in commands.JOBS.items():
        for name in members:
            if name in names:
                _add_command(app, name, job)
            elif name in listed:
                summary = import_module(f"qifsql.commands.{name}").__doc__
                app.command(name, help=summary, rich_help_panel=job)(lambda: None)
    return app


def _add_command(app: typer.Typer, name: str, job: str) -> None:
    """Load a command, and add it to the command line under its job."""
    from qifsql.options.grouping import grouped
    from qifsql.options.typed_words import Command

    module = import_module(f"qifsql.commands.{name}.cli")
    with speaking(of_locale() if name in commands.TRANSLATED else "en"):
        epilog = _examples(module.EXAMPLES)
        command = app.command(cls=Command, rich_help_panel=job, epilog=epilog)
        command(grouped(getattr(module, name)))


def _examples(examples: Mapping[str, str]) -> str:
    """Return the examples at the end of a help text: questions, and commands that answer them."""
    lines = [
        f"{translated(question)}\n\n[bold]$ {command.replace('[', LITERAL)}[/bold]"
        for question, command in examples.items()
    ]
    return "\n\n".join([translated("Examples:"), *lines])


def _application_for(words: Sequence[str]) -> typer.Typer:
    """Return the command line with the typed command alone, or a list of all commands without it.

    A shell that completes words asks for all commands (and takes a tenth of a second).
    """
    if COMPLETION in os.environ:
        return application()
    word = words[0] if words else ""
    name = word.replace("-", "_")
    if "_" in word or name not in commands.NAMES:
        return application((), listed=() if word in VERSION else commands.NAMES)
    if name in commands.TRANSLATED:
        bind_locale()
    return application((name,))


def _version(flag: bool) -> None:
    if flag:
        print(f"qifsql {__version__}")  # noqa: T201 - this is the result
        raise typer.Exit


def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False, *VERSION, help="Show the version.", callback=_version, is_eager=True
    ),
) -> None:
    """Privacy risk of published microdata, measured exactly with DuckDB SQL."""
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")
    elif not {*HELP} & {*sys.argv}:
        check_address_space()


def main() -> int:
    """Run the command line; return its exit code (0, 1, 2, 3, 4 or 130)."""
    code = run_guarded(_run, debug="--debug" in sys.argv)
    try:
        sys.stdout.flush()
    except OSError as e:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(e, BrokenPipeError) and code == 0:  # else it is said already
            talk(f"error: {unwritable('the result', e)}")
            return 3
    return code


def entry() -> NoReturn:
    """Run the command line and end the process at once.

    qifsql has closed its connections and removed its files by then. Unloading the libraries would
    take time (a tenth of a small attack) and print messages to stderr.
    """
    gc.set_threshold(GARBAGE)
    _open_streams()
    code = main()
    if (spark := sys.modules.get("qifsql.engine.spark")) is not None:
        spark.close()  # Java removes its files when it ends
    sys.stderr.flush()
    os._exit(code)


def _open_streams() -> None:
    """Replace closed streams by the null device; escape characters that a stream cannot encode."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open to the end
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, RawIOBase):  # with PYTHONUNBUFFERED; it may write a part and be content
        encoding = sys.stdout.encoding
        sys.stdout = TextIOWrapper(BufferedWriter(raw), encoding, line_buffering=True)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _run() -> int | None:
    """Run the command that was typed; return an exit code, None for success."""
    words = sys.argv[1:]
    if words[:1] == ["help"]:
        words = [*words[1:], HELP[-1]]
    first = words[0] if words else ""
    if first in former_names.WORDS and "--quiet" not in words:
        talk(f"note: {first} is now {' '.join(former_names.WORDS[first])}")
    words = former_names.current(words)
    if words and not words[0].startswith("-") and words[0].replace("-", "_") not in commands.NAMES:
        words = ["start", *words] if Path(words[0]).is_file() else words  # a file alone is explored
    try:
        result: int | None = _application_for(words)(words, standalone_mode=False)
    except typer.TyperException as e:
        message = " ".join(str(e.format_message()).split()).rstrip(".")
        context = getattr(e, "ctx", None)  # of the command, if one was typed
        command = f" {context.info_name}" if context is not None and context.parent else ""
        from qifsql.options.typed_words import split_qids

        hint = split_qids(words, message) or f"see qifsql{command} --help"
        talk(f"error: {message}; {hint}")
        return 2
    except DatasetError as e:
        from qifsql.options.typed_words import split_qids

        if hint := split_qids(words, str(e)):
            raise DatasetError(f"{str(e).partition(';')[0]}; {hint}", detail=e.detail) from e
        raise
    except typer.Abort:
        result = Interrupted.exit_code
    if result == Interrupted.exit_code:  # typer turns KeyboardInterrupt into this code, silently
        talk(f"error: {INTERRUPTED}")
    return result
