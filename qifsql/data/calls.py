"""Public functions as callers in Python use them: names of columns, messages, the log.

Messages are written for the command line. In Python their options become arguments. The logger
``qifsql`` has, at the level INFO, when a function begins and ends, its notes, and the progress of
long work.
"""

import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints

import polars as pl

from qifsql.data.csv_options import CSV_OPTIONS
from qifsql.data.option import Option, declared
from qifsql.errors import QifError

P = ParamSpec("P")
T = TypeVar("T")

LOG = logging.getLogger("qifsql")
SETTINGS = ("memory", "threads", "temp", "seed", "engine", "master", "spark-conf")
READING = (*CSV_OPTIONS, "na")
LISTED = r"[\w.?=/-]+(?:,[\w.?=/-]+)+"
VALUE = rf"""(?:{LISTED}|[\w/*.]+=[^\s,;()]+|'[^']*'|"[^"]*"|[\d.-]*\d\b|,(?= |$)|[A-Z]\w*\b"""
WORDS = r"sha\w+|md5|utf-[\w-]+|cp1252|dmy|mdy|ymd|duckdb|spark|table|distinct|drop"
METHODS = "recode|lattice|mondrian|mdav"
FLAG = re.compile(rf"(?<![\w./'-])--([a-z][a-z-]*)(?:[ =]({VALUE}|{WORDS}|{METHODS})(?![\w-])))?")
OF_COLUMN = re.compile(
    r"(?<![\w./'-])--(person|household) (?!out\b|or\b|and\b|is\b|names\b|needs\b|['\"])([^\s,;)]+)"
)
LINE = re.compile(r"qifsql [a-z]+ \S+ --.*? -o \S+|pip (?:install) [^;]*")
"""A whole command line, which stays as it is."""
OF_COMMAND = re.compile(rf"qifsql ([a-z]+) (?={FLAG.pattern})")


def public(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function with messages for callers in Python, names from Polars and a log."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        """Call the function; put its notes and errors in words of Python, and log them."""
        began, name = time.monotonic(), function.__name__
        LOG.info("%s begins", name)
        named: Any = {option: _as_names(value, option) for option, value in options.items()}
        try:
            result = _with_notes_in_python(function(*arguments, **named), function)
        except QifError as e:
            e.args = (in_python(str(e), function), *e.args[1:])
            raise
        for note in getattr(result, "notes", None) or ():
            LOG.info("%s: %s", name, note)
        LOG.info("%s ends after %.1f s", name, time.monotonic() - began)
        return result

    call.__module__, call.__qualname__ = "qifsql", function.__name__  # where pickle looks
    return call


def _as_names(value: Any, option: str) -> Any:
    """Return an option with the names of columns of Polars, and the values of a series, as text."""
    if isinstance(value, pl.Expr):
        if not value.meta.is_column():
            raise TypeError(
                f"{option}: an expression of Polars is not SQL; name a column, or write SQL, as in "
                "'decade=age//10'"
            )
        return value.meta.output_name()
    if type(value) in (list, tuple):
        return [_as_names(item, option) for item in value]
    if option in ("qids", "secret") and hasattr(value, "__array__"):  # a series, an array, an index
        return [*value]
    return value


def _with_notes_in_python(result: T, function: Callable[..., object]) -> T:
    """Return a result whose notes name arguments instead of options of the command line."""
    notes = getattr(result, "notes", None)
    if not is_dataclass(result) or isinstance(result, type) or not isinstance(notes, tuple):
        return result
    in_words = tuple(in_python(note, function) for note in notes)
    return result if in_words == notes else replace(result, **{"notes": in_words})


def in_python(text: str, function: Callable[..., object]) -> str:
    """Return a message with the arguments of a function in place of options (``--secret``)."""
    if "--" not in text:
        return text
    command_lines: list[str] = LINE.findall(text)  # which stay
    names = argument_names(options_of(function))
    pieces = [_with_arguments(piece, names) for piece in LINE.split(text)]
    pairs = zip(pieces, [*command_lines, ""], strict=True)
    return "".join(piece + command_line for piece, command_line in pairs)


def _with_arguments(text: str, names: Mapping[str, str]) -> str:
    """Return a text without command lines, with ``names`` of arguments in place of options."""

    def argument(match: re.Match[str]) -> str:  # of an option with its value, if it has one
        flag, value = match[1], match[2] or ""
        if flag == "debug":
            return "the detail of this error"
        name = names.get(f"--{flag}", flag.replace("-", "_"))
        if flag in ("target", "hierarchy") and "=" in value:  # COLUMN=VALUE is {COLUMN: VALUE}
            value = f"{{{value.replace('=', ': ')}}}"
        elif not re.fullmatch(r"[\d.]*|['\"].*", value):  # a text without quotes
            value = f'"{value}"'
        if name in READING:  # how a file is read is said where it is opened
            value = "True" if name == "all_varchar" else value
            return f"Dataset.open({name}={value or '...'})"
        return f"{'settings.' if flag in SETTINGS else ''}{name}={value or '...'}"

    text = OF_COMMAND.sub(lambda match: f"qifsql.{match[1]} with ", text)
    return FLAG.sub(argument, OF_COLUMN.sub(r'\1="\2"', text))


def options_of(function: Callable[..., object]) -> Mapping[str, Option]:
    """Return the declared options of a function; none if it has no ``**options``."""
    for name, parameter in signature(function).parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            types = get_args(get_type_hints(function)[name])
            return declared(types[0]) if types else {}
    return {}


def argument_names(options: Mapping[str, Option]) -> dict[str, str]:
    """Return the arguments of options that the command line has under another name, by flag."""
    return {flag: name for name, option in options.items() for flag in option.flags}
