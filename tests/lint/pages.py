"""Pages that are made from the code say what the code says, and public functions say all."""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import get_args, get_type_hints

import reference
import result_schema

import qifsql
from lint.project import Finding, Project, Rule
from qifsql.commands import NAMES
from qifsql.data.documentation import ENTRY, SECTION

FOLDER = "docs/reference/"
OVERVIEW = "docs/llms.txt"
SCHEMA = f"docs/{result_schema.PLACE}"
SECTIONS = ("Args:", "Returns:", "Raises:", "Example:", ">>> ", "Source:")


def the_reference_says_what_the_code_says(project: Project) -> Iterator[Finding]:
    """Find pages of the reference that are old, or of nothing."""
    made = {f"{FOLDER}{name}": text for name, text in reference.pages().items()}
    made |= {OVERVIEW: reference.overview(), SCHEMA: result_schema.text()}
    there = {*project.files(FOLDER.rstrip("/"), "md"), OVERVIEW, SCHEMA}
    for file in made.keys() | there:
        if made.get(file) != project.texts.get(file):
            yield Finding(file, 1, "run python docs/reference.py")


def a_function_of_a_command_says_all(project: Project) -> Iterator[Finding]:
    """Find missing sections, and arguments that are not documented or not there."""
    for name in NAMES:
        for message in undocumented(getattr(qifsql, name)):
            file = f"qifsql/commands/{name}/{name}.py"
            yield Finding(file, project.line(file, f"\ndef {name}(") + 1, f"{name}: {message}")


def an_option_is_described_once(project: Project) -> Iterator[Finding]:
    """Find options that a function describes, though they are described in their declaration."""
    for name in NAMES:
        module = project.modules.get(f"commands.{name}.{name}")
        for node in module.nodes(ast.FunctionDef) if module else ():
            if node.name != name:
                continue
            section = SECTION.search(f"{ast.get_docstring(node) or ''}\n")
            entries = {entry for entry, _ in ENTRY.findall(section[1])} if section else set()
            for option in sorted(entries & _options(getattr(qifsql, name))):
                message = f"{name} describes {option}, which is described in its declaration"
                yield Finding(module.file, node.lineno, message)


def undocumented(function: Callable[..., object]) -> Iterator[str]:
    """Yield what the documentation of a function lacks, or has too much."""
    document = inspect.getdoc(function) or ""
    yield from (f"{part} is missing" for part in SECTIONS if part not in document)
    section = SECTION.search(document)
    listed = set(re.findall(r"^    (\w+):", section[1], re.M)) if section else set()
    every = _arguments(function)
    for argument in sorted(every - listed):
        yield f"the argument {argument} is not documented"
    for argument in sorted(listed - every):
        yield f"there is no argument {argument}"


def _arguments(function: Callable[..., object]) -> set[str]:
    """Return the names of all that a function takes, those of its declared options included."""
    parameters = inspect.signature(function).parameters
    own = {name for name, p in parameters.items() if p.kind is not p.VAR_KEYWORD}
    return own | _options(function)


def _options(function: Callable[..., object]) -> set[str]:
    """Return the names of the declared options of a function."""
    hints = get_type_hints(function, include_extras=True)
    variable = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.VAR_KEYWORD
    ]
    return {option for name in variable for option in get_type_hints(get_args(hints[name])[0])}


RULES: Iterable[Rule] = (
    the_reference_says_what_the_code_says,
    a_function_of_a_command_says_all,
    an_option_is_described_once,
)
