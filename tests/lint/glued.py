"""No SQL is joined from texts: names are identifiers of a tree, values are its literals."""

import ast
import re
from collections.abc import Iterable, Iterator

from lint.project import Finding, Module, Project, Rule

SQL = re.compile(
    r"\s*(SELECT|WITH|FROM|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|ATTACH|DETACH|COPY|SET|DESCRIBE|"
    r"SUMMARIZE|EXPLAIN|PRAGMA|CALL|INSTALL|LOAD|EXPORT|IMPORT|VALUES|WHERE|GROUP|ORDER|JOIN)\s"
)
PARSED = {  # what sqlglot parses where it gets a text: the arguments that may be one
    **dict.fromkeys(("select", "where", "from_", "group_by", "order_by", "having"), None),
    **dict.fromkeys(("and_", "or_", "not_", "join"), None),
    **dict.fromkeys(("alias_", "cast", "condition", "maybe_parse", "parse_one"), 1),
}
# A rendered tree stands after the word that says what to do with it: where DDL and settings take
# no parameters, and where the engine describes or copies the result of a statement.
ALLOWED = {
    ("commands.shell.shell", "SET schema = "),
    ("query.render", "WITH "),  # of texts that were rendered from trees
    ("query.render", "CREATE TABLE "),
    ("query.render", "CREATE OR REPLACE TABLE "),
}
ALLOWED_NAMES = {"f'{STORE}.main.{table}'"}  # full names of tables


def no_text_of_sql_is_joined(project: Project) -> Iterator[Finding]:
    """Find texts that start like SQL and are joined with something: f-strings, +, % and format."""
    for module in project.modules.values():
        for text, line in _beginnings(module):
            if SQL.match(text) and (module.name, text) not in ALLOWED:
                yield Finding(module.file, line, f"SQL is joined from texts: {text.strip()} ...")


def _beginnings(module: Module) -> Iterator[tuple[str, int]]:
    """Yield the first part of each text that is joined."""
    first: ast.AST | None
    for node in module.nodes(ast.JoinedStr, ast.BinOp, ast.Call):
        if isinstance(node, ast.JoinedStr):
            first = node.values[0] if node.values else None
        elif isinstance(node, ast.BinOp):
            first = node.left if isinstance(node.op, ast.Add | ast.Mod) else None
        else:
            joins = isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "join")
            first = node.func.value if joins else None  # type: ignore[attr-defined]
        if isinstance(first, ast.Constant):
            yield str(first.value), node.lineno


def no_joined_text_is_parsed(project: Project) -> Iterator[Finding]:
    """Find joined texts that are given to what parses them as SQL, by a name of theirs or not."""
    for module in project.modules.values():
        if not any(f"{name}(" in module.text for name in PARSED):
            continue
        alone = [n for n in module.tree.body if not isinstance(n, ast.FunctionDef | ast.ClassDef)]
        for body in [*module.nodes(ast.FunctionDef), *alone]:
            for text, line in _parsed(list(ast.walk(body))):
                if text not in ALLOWED_NAMES:
                    yield Finding(module.file, line, f"a joined text is parsed as SQL: {text}")


def _parsed(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yield the joined texts in a function that are parsed."""
    texts = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and _is_joined(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name = node.func.attr
        if name not in PARSED or isinstance(node.func.value, ast.Constant):  # ", ".join(...)
            continue
        arguments = node.args[: PARSED[name]]
        arguments += [k.value for k in node.keywords if k.arg == "on"]
        for argument in arguments:
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            if _is_joined(inner) or (isinstance(inner, ast.Name) and inner.id in texts):
                yield ast.unparse(argument), node.lineno


def _is_joined(node: ast.AST) -> bool:
    """Return whether a text is joined here; not in what is called, which has a rule of its own."""
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        sides = (node.left, node.right)
        if any(isinstance(s, ast.Constant) and isinstance(s.value, str) for s in sides):
            return True
    if isinstance(node, ast.Call):
        return (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in ("format", "join", "replace")
            and isinstance(node.func.value, ast.Constant)
        )
    return any(_is_joined(child) for child in ast.iter_child_nodes(node))


RULES: Iterable[Rule] = (no_text_of_sql_is_joined, no_joined_text_is_parsed)
