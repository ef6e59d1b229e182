"""Digests of tests: what a test function says, with all that it uses of the tests' own code."""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from places import TESTS

CONFTEST = TESTS / "conftest.py"
Place = tuple[Path, str]  # a file, and a name that its statements define


def digest(test: str) -> str:
    """Return a digest of a test function; empty if there is none.

    It changes with the function, and with what it uses by name: functions, fixtures and constants
    of its file, of the modules of the tests and of conftest. Comments, documentation and formatting
    do not count.
    """
    file, _, name = test.partition("::")
    start = TESTS.parent / file, name
    if not _definitions(start[0]).get(name):
        return ""
    parts: dict[Place, str] = {}
    waiting = [start]
    while waiting:
        place = waiting.pop()
        if place in parts:
            continue
        parts[place], used = _part(*place)
        waiting += used
    texts = [f"{path.relative_to(TESTS)}\0{name}\0{parts[path, name]}" for path, name in parts]
    return hashlib.sha256("\0".join(sorted(texts)).encode()).hexdigest()[:16]


@cache
def _part(path: Path, name: str) -> tuple[str, frozenset[Place]]:
    """Return the text of a definition, and the definitions that it uses."""
    statements = _definitions(path)[name]
    used = frozenset(place for statement in statements for place in _used(path, statement))
    return "\n".join(map(_shown, statements)), used


def _used(path: Path, statement: ast.stmt) -> Iterator[Place]:
    """Yield the definitions that a statement uses by name, or as a fixture."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = _imports(path).get(node.value.id)
            if module is not None and module[1] == "" and node.attr in _definitions(module[0]):
                yield module[0], node.attr
            continue
        else:
            continue
        if name in _definitions(path):
            yield path, name
        elif (found := _imports(path).get(name)) is not None:
            if found[1] in _definitions(found[0]):
                yield found
        elif isinstance(node, ast.arg) and name in _definitions(CONFTEST):
            yield CONFTEST, name


def _shown(statement: ast.stmt) -> str:
    """Return the text of a statement without its documentation."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(statement):
        copy = ast.parse(ast.unparse(statement)).body[0]
        assert isinstance(copy, ast.FunctionDef | ast.ClassDef)
        copy.body = copy.body[1:] or [ast.Pass()]
        return ast.unparse(copy)
    return ast.unparse(statement)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")


@cache
def _definitions(path: Path) -> dict[str, list[ast.stmt]]:
    """Return the statements of a file that define each name."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in _tree(path).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found.setdefault(statement.name, []).append(statement)
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    found.setdefault(node.id, []).append(statement)
    return found


@cache
def _imports(path: Path) -> dict[str, Place]:
    """Return what each name stands for that a file imports from the tests; "" is a module."""
    found: dict[str, Place] = {}
    for statement in ast.walk(_tree(path)):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                if alias.name in _modules():
                    found[alias.asname or alias.name] = _modules()[alias.name], ""
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                name = alias.asname or alias.name
                if statement.module in _modules():
                    found[name] = _modules()[statement.module], alias.name
                elif f"{statement.module}.{alias.name}" in _modules():
                    found[name] = _modules()[f"{statement.module}.{alias.name}"], ""
    return found


@cache
def _modules() -> dict[str, Path]:
    """Return the modules of the tests by the names under which tests import them."""
    found: dict[str, Path] = {}
    for path in sorted(TESTS.rglob("*.py")):
        found[path.stem] = path
        found[".".join(path.relative_to(TESTS).with_suffix("").parts)] = path
    return found
