"""Changes of one node of the tree of a Python module."""

import ast
import copy
from collections.abc import Iterator
from pathlib import Path

from places import PACKAGE

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
}
EXTREMES = {
    "min": "max",
    "max": "min",
    "all": "any",
    "any": "all",
    "floor": "ceil",
    "ceil": "floor",
}
EXTREMES |= {"min_horizontal": "max_horizontal", "max_horizontal": "min_horizontal"}

Change = tuple[str, int, str, str, str, str]  # target, line, kind, before, after, text of the file
Replacement = tuple[str, ast.AST]  # kind, what stands in place of the node


def mutated(path: Path) -> Iterator[Change]:
    """Yield every change of one node in the functions of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    whole = ast.unparse(tree) + "\n"
    for target, function, depth in _found(tree, path):
        text = _text(function, depth)
        if whole.count(text) != 1:
            raise LookupError(f"{target} is not one part of the text of {path}")
        head, tail = whole.split(text)
        known = {_dump(text)}
        for node in _nodes(function):
            for kind, new in _replacements(node):
                changed = _replaced(function, depth, node, new)
                other = _dump(changed)
                if other not in known:
                    known.add(other)
                    before, after = ast.unparse(node), ast.unparse(new)
                    yield target, node.lineno, kind, before, after, f"{head}{changed}{tail}"


def functions(tree: ast.Module, path: Path) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield functions and methods with their names: ``measures:profile.Profile.share``."""
    for name, function, _ in _found(tree, path):
        yield name, function


def room(path: Path) -> str:
    """Return the folder of a module below the package: ``measures``, ``commands/check``."""
    return path.parent.relative_to(PACKAGE).as_posix()


def _found(tree: ast.Module, path: Path) -> Iterator[tuple[str, ast.FunctionDef, int]]:
    """Yield functions and methods with their names and their depth: 1 for methods."""
    place = f"{room(path)}:{path.stem}"
    for part in tree.body:
        if isinstance(part, ast.FunctionDef):
            yield f"{place}.{part.name}", part, 0
        elif isinstance(part, ast.ClassDef):
            for method in part.body:
                if isinstance(method, ast.FunctionDef):
                    yield f"{place}.{part.name}.{method.name}", method, 1


def _text(function: ast.FunctionDef, depth: int) -> str:
    """Return the text of a function as the text of its module has it, after a line break."""
    part: ast.stmt = function
    if depth:
        part = ast.ClassDef(name="_", bases=[], keywords=[], body=[function], decorator_list=[])
        part.type_params = []  # type: ignore[attr-defined]
    text = ast.unparse(ast.fix_missing_locations(part))
    return "\n" + (text.partition("\n\n")[2] if depth else text) + "\n"


def _dump(text: str) -> str:
    return ast.dump(ast.parse("if 1:" + text if text.startswith("\n ") else text))


def _nodes(function: ast.FunctionDef) -> Iterator[ast.expr | ast.stmt]:
    """Yield what a function does, without its signature, documentation and messages of errors."""
    waiting: list[ast.AST] = list(function.body)
    if ast.get_docstring(function) is not None:
        del waiting[0]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.FunctionDef):
            if isinstance(node, ast.FunctionDef):
                waiting += node.body
            continue
        if isinstance(node, ast.AnnAssign):
            waiting += [part for part in (node.target, node.value) if part is not None]
            continue
        if isinstance(node, ast.expr | ast.stmt):
            yield node
        if isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value else []
        else:
            waiting += ast.iter_child_nodes(node)


def _replacements(node: ast.AST) -> Iterator[Replacement]:
    yield from _of_numbers(node)
    yield from _of_conditions(node)
    if isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
        yield from _of_comprehension(node)


def _of_numbers(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                new = copy.deepcopy(node)
                new.ops[i] = other()
                yield "comparison", new
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        for operator in ARITHMETIC[type(node.op)]:
            yield "arithmetic", ast.BinOp(node.left, operator(), node.right)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "off by one", ast.Constant(node.value + 1)
        if node.value > 0:
            yield "off by one", ast.Constant(node.value - 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield "dropped sign", node.operand


def _of_conditions(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "connective", ast.BoolOp(other, node.values)
        for i in range(len(node.values)):
            left = [value for j, value in enumerate(node.values) if j != i]
            yield "dropped condition", left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
    elif isinstance(node, ast.IfExp):
        yield "dropped condition", node.body
        yield "dropped condition", node.orelse
    elif isinstance(node, ast.If):
        for value in (True, False):
            yield "dropped condition", ast.If(ast.Constant(value), node.body, node.orelse)


def _of_call(node: ast.Call) -> Iterator[Replacement]:
    """Swap extremes, by name or by method: ``min(x)``, ``column.min()``."""
    new = copy.deepcopy(node)
    if isinstance(new.func, ast.Name) and new.func.id in EXTREMES:
        new.func.id = EXTREMES[new.func.id]
        yield "extreme", new
    elif isinstance(new.func, ast.Attribute) and new.func.attr in EXTREMES:
        new.func.attr = EXTREMES[new.func.attr]
        yield "extreme", new


def _of_comprehension(
    node: ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp,
) -> Iterator[Replacement]:
    for i, part in enumerate(node.generators):
        for j in range(len(part.ifs)):
            new = copy.deepcopy(node)
            del new.generators[i].ifs[j]
            yield "dropped filter", new


def _replaced(function: ast.FunctionDef, depth: int, old: ast.AST, new: ast.AST) -> str:
    """Return the text of a function with another node in place of one."""
    owner, name, index = _place(function, old)
    if index is None:
        setattr(owner, name, new)
    else:
        getattr(owner, name)[index] = new
    try:
        return _text(function, depth)
    finally:
        if index is None:
            setattr(owner, name, old)
        else:
            getattr(owner, name)[index] = old


def _place(tree: ast.AST, node: ast.AST) -> tuple[ast.AST, str, int | None]:
    """Return the parent of a node, the name of its field, and its index there."""
    for owner in ast.walk(tree):
        for name, value in ast.iter_fields(owner):
            if value is node:
                return owner, name, None
            if isinstance(value, list):
                for i, part in enumerate(value):
                    if part is node:
                        return owner, name, i
    raise LookupError(ast.dump(node))
