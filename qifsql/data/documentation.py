"""Complete the documentation of public functions: their arguments, as options are declared.

An option is described in its declaration, an argument that many functions take is described here,
and a function describes what only it takes.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap
from typing import Any, TypeVar, get_args, get_type_hints

from qifsql.data.calls import argument_names
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
    """Replace the section ``Args`` of a docstring, or add it: it describes all arguments.

    The section as written has only the arguments that no other function takes.
    """
    document = inspect.getdoc(function)
    if not document:
        return function
    section = SECTION.search(document)
    described = dict(ENTRY.findall(section[1])) if section else {}
    lines: list[str] = []
    for name, text in _arguments(function, described):
        entry = f"    {name}: {text}"
        lines += wrap(entry, WIDTH, subsequent_indent="        ", break_on_hyphens=False)
    place = section or AFTER.search(document)
    start = place.start() if place else len(document)
    end = section.end() if section else start
    arguments = ARGUMENTS + "".join(f"{line}\n" for line in lines) + "\n"
    function.__doc__ = document[:start] + arguments + document[end:]
    return function


def _arguments(
    function: Callable[..., Any], described: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield name and description of each argument; ``**options`` are the options of its type."""
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
    arguments = argument_names(options)
    help_ = option.help.removesuffix(" Repeatable.").replace("\\[", "[")
    help_ = help_.replace("--seed", "settings.seed")

    def argument(flag: re.Match[str]) -> str:
        return arguments.get(flag[0], flag[0].removeprefix("--").replace("-", "_"))

    return re.sub(r"--[a-z][\w-]*", argument, help_)
