"""Complete the documentation of public functions: their arguments, as options are declared.

An option is described in its declaration, an argument that many functions take is described here,
and a function describes what only it takes.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap
from typing import Any, TypeVar, get_args, get_type_hints

from qifsql.data.option import Option, declared

F = TypeVar("F", bound=Callable[..., Any])

ARGUMENTS = "Args:\n"
SECTION = re.compile(r"^Args:\n((?:    .*\n|\n)*)", re.M)
AFTER = re.compile(r"^(?:Returns|Raises|Example):$", re.M)
ENTRY = re.compile(r"^    (\w+): (.*(?:\n        .*)*)", re.M)
WIDTH = 96  # of the lines of a docstring without its indentation
SHARED = {
    "source": "A path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder of Parquet; "
    "table@database of DuckDB or SQLite), a data frame (anything with __arrow_c_stream__, a "
    "Polars LazyFrame) or a Dataset.",
    "settings": "Memory, threads, temporary folder, seed and progress; by default those of the "
    "machine.",
    "seed": "Random seed, 0 to 2^63 - 1; recorded in the manifest.",
    "told": "Called with each line about what is going to happen.",
}
"""The descriptions of arguments that several functions take."""


def documented(function: F) -> F:
    """Write the descriptions of all arguments into the docstring of a function."""
    document = inspect.getdoc(function)
    if not document:
        return function
    section = SECTION.search(document)
    described = dict(ENTRY.findall(section[1])) if section else {}
    lines = [
        line
        for name, text in _arguments(function, described)
        for line in wrap(
            f"{name}: {text}",
            WIDTH,
            initial_indent="    ",
            subsequent_indent="        ",
            break_on_hyphens=False,
        )
    ]
    after = AFTER.search(document)
    start = section.start() if section else after.start() if after else len(document)
    end = section.end() if section else start
    arguments = ARGUMENTS + "".join(f"{line}\n" for line in lines) + "\n"
    function.__doc__ = document[:start] + arguments + document[end:]
    return function


def _arguments(
    function: Callable[..., Any], described: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the names of all arguments, and their descriptions."""
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            text = described.get(name) or SHARED.get(name)
            if text:
                yield name, " ".join(text.split())
            continue
        options = declared(get_args(get_type_hints(function)[name])[0])
        yield from ((name, description(option, options)) for name, option in options.items())


def description(option: Option, options: Mapping[str, Option]) -> str:
    """Return the description of an option in Python: its text, or the help of the command line."""
    if option.text:
        return option.text
    names = {flag: name for name, declared in options.items() for flag in declared.flags}
    help_ = option.help.removesuffix(" Repeatable.").replace("\\[", "[")
    help_ = help_.replace("--seed", "settings.seed")
    return re.sub(r"--[a-z][\w-]*", lambda m: names.get(m[0], m[0][2:].replace("-", "_")), help_)
