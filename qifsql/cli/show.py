"""Where results go: stdout in a format, or a file by its ending."""

import sys

from qifsql.cli.options import Output
from qifsql.errors import InputError
from qifsql.export import check_ending
from qifsql.report.files import Shown, save, text

__all__ = ["FORMATS", "Shown", "check", "save", "show"]

FORMATS = ("table", "json", "csv", "markdown")


def check(output: Output) -> None:
    """Refuse a format or ending that cannot be written, before any work is done."""
    if output.format_ is not None and output.format_ not in FORMATS:
        raise InputError(f'there is no format "{output.format_}"; use one of {", ".join(FORMATS)}')
    if output.out is not None:
        check_ending(output.out)


def show(shown: Shown, output: Output) -> None:
    """Write a result to stdout, and to a file if one is named."""
    if output.out is not None:
        save(shown, output.out)
        if output.format_ is None and not sys.stdout.isatty():
            return
    chosen = output.format_ or ("table" if sys.stdout.isatty() else "csv")
    if chosen == "table":
        from qifsql.report import terminal

        terminal.draw(shown.parts)
    else:
        sys.stdout.write(text(shown, chosen))
    sys.stdout.flush()
