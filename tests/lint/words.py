"""Names and docstrings: nouns, and what is documented."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module

from trees import parsed

from lint.project import Finding, Module, Project, Rule

VAGUE = {"utils", "util", "helpers", "helper", "misc", "base", "common", "core", "tools"}
# The files that rooms have in common, by name, and the stems that several modules share, with why.
IN_EVERY_ROOM = ("bind", "charts", "cli", "result", "spec", "view")
SHARED_STEMS = {
    "coarsen": "coarser forms of a column, and which column of a sweep takes one first",
    "coverage": "columns that no rule covers: the table of them, and how they are measured",
    "plan": "the steps of a query, and the passes of a sweep with what they cost",
    "steps": "steps of a plan, and those of them that levels has of its own",
    "tables": "tables that are made, remembered and dropped: of an engine, and of a sweep",
}
PARTICIPLES = frozenset(
    ("told", "found", "asked", "made", "known", "own", "mine", "wanted", "given", "said", "kept")
) | {"sent"}
KNOWN = ("proofs", "spec", "tables")
FIXED = {  # keywords of public functions, and the function that translates
    ("commands.run.run", "told"),
    ("former", "told"),
    ("commands.open.open", "told"),
    ("commands.start.start", "told"),
    ("commands.sweep.result", "whole"),  # a field of ``qifsql.Sweep``
    ("commands.suda.suda", "told"),
    ("commands.sweep.sweep", "told"),
    ("presentation.language", "said"),
    ("commands.unhash.spec", "most"),
    *((f"commands.tables.{name}", "known") for name in KNOWN),  # what the adversary knows
}
QUANTIFIERS = frozenset(
    ("one", "shown", "each", "whole", "most", "other", "left", "several", "few")
)
CLAUSE = r"(?:What|How|Whether|Where|Who|Which|When|That)(?:ever|m|se)?\b"
NOUN_CLAUSE = re.compile(CLAUSE)
LIKELY = re.compile(rf"^\s*[rR]?(?:\"\"\"|'''|\"|'){CLAUSE}", re.M)  # before a module is parsed
SPOKEN = ("qifsql", "tests", "docs", "benchmarks", "data-samples")
README = "README.md"
README_LINES = 200


def a_module_has_a_name_that_says_something(project: Project) -> Iterator[Finding]:
    """Find vague names of modules and rooms."""
    for name, module in project.modules.items():
        for part in VAGUE.intersection(name.split(".")):
            yield Finding(module.file, 1, f"{part} says nothing: name the subject")


def a_stem_is_used_once(project: Project) -> Iterator[Finding]:
    """Find modules of one name, but the files of every room.

    The examples of ``explain`` bear names of measures.
    """
    stems = {
        name: name.rpartition(".")[2]
        for name, module in project.modules.items()
        if not module.is_package and not name.startswith("commands.explain.examples.")
    }
    times = Counter(stems.values())
    for name, stem in stems.items():
        if times[stem] > 1 and stem not in IN_EVERY_ROOM and stem not in SHARED_STEMS:
            yield Finding(project.modules[name].file, 1, f"another module is called {stem}, too")


def a_command_is_a_room_of_its_name(project: Project) -> Iterator[Finding]:
    """Find commands without their function, command line or tests, and folders of no command."""
    commands, package = import_module("qifsql.commands"), import_module("qifsql")
    registered = "qifsql/commands/__init__.py"
    for name in commands.NAMES:
        function = f"commands.{name}.{name}"
        for module in (function, f"commands.{name}.cli"):
            if module not in project.modules:
                yield Finding(registered, 1, f"{name} has no module {module}")
        if package._HOMES.get(name) != function:
            yield Finding("qifsql/__init__.py", 1, f"qifsql.{name} is not {function}")
        tests = project.files(f"tests/commands/{name}", "py")
        if not any(file.rpartition("/")[2].startswith("test_") for file in tests):
            yield Finding(registered, 1, f"{name} has no tests in tests/commands/{name}")
    folders = {n.split(".")[1] for n in project.modules if n.startswith("commands.")}
    for folder in sorted(folders - {*commands.NAMES, "former_names"}):
        yield Finding(f"qifsql/commands/{folder}", 1, "this folder is no command")


def public_things_are_documented(project: Project) -> Iterator[Finding]:
    """Find modules, public functions and classes without a docstring."""
    for module in project.modules.values():
        if not ast.get_docstring(module.tree):
            yield Finding(module.file, 1, "the module has no docstring")
        for name, node in _public(module.tree.body):
            if not ast.get_docstring(node):
                yield Finding(module.file, node.lineno, f"{name} has no docstring")


def _public(body: list[ast.stmt]) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Yield public functions and classes, and public methods of public classes, each once."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if any(isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list):
                continue
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                yield from ((f"{node.name}.{n}", m) for n, m in _public(node.body))


def no_docstring_opens_with_a_noun_clause(project: Project) -> Iterator[Finding]:
    """Find such docstrings, those of attributes too; functions are imperative (ruff D401)."""
    for folder in SPOKEN:
        for file in project.files(folder, "py"):
            text = project.texts[file]
            for node in ast.walk(parsed(text)) if LIKELY.search(text) else ():
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                    words = node.value.value
                    if isinstance(words, str) and NOUN_CLAUSE.match(words):
                        first = words.partition("\n")[0]
                        yield Finding(file, node.lineno, f"opens with a clause: {first}")


def a_name_is_a_noun(project: Project) -> Iterator[Finding]:
    """Find names that are a bare participle, pronoun or quantifier."""
    for module in project.modules.values():
        for name, line in _bound(module):
            bare = name.strip("_").casefold()
            is_bare = bare in PARTICIPLES or (bare in QUANTIFIERS and not name.isupper())
            if is_bare and (module.name, name) not in FIXED:
                yield Finding(module.file, line, f"{name} is no noun")


def _bound(module: Module) -> Iterator[tuple[str, int]]:
    """Yield all names that a module binds: variables, parameters, functions, classes."""
    for name in module.nodes(ast.Name):
        if not isinstance(name.ctx, ast.Load):
            yield name.id, name.lineno
    for attribute in module.nodes(ast.Attribute):
        if isinstance(attribute.ctx, ast.Store):
            yield attribute.attr, attribute.lineno
    for argument in module.nodes(ast.arg):
        yield argument.arg, argument.lineno
    for node in module.nodes(ast.FunctionDef, ast.ClassDef):
        yield node.name, node.lineno
    for alias in module.nodes(ast.alias):
        if alias.asname:
            yield alias.asname, alias.lineno


def the_readme_is_a_door(project: Project) -> Iterator[Finding]:
    """Find a README that is too long."""
    lines = len(project.texts[README].splitlines())
    if lines > README_LINES:
        yield Finding(README, lines, f"{lines} lines are more than {README_LINES}")


RULES: Iterable[Rule] = (
    a_module_has_a_name_that_says_something,
    a_stem_is_used_once,
    a_command_is_a_room_of_its_name,
    public_things_are_documented,
    no_docstring_opens_with_a_noun_clause,
    a_name_is_a_noun,
    the_readme_is_a_door,
)
