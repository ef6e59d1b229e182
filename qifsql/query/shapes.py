"""Views of ``sql/`` whose number of columns or tables varies: Jinja templates, written by shape.

The *shape* of a template is what varies: numbers of quasi-identifiers, secrets or steps, how many
tables there are, whether something is asked for. It has whole numbers, truth values and lists of
these, nothing else, so no name or value of a user can become text. Tables, and numbers that depend
on data, are filled into the parsed tree as in all views (``splice``).

A template has examples of its shapes in comments behind the one that says what a row is:
``{# lines(edge=[1, 3]), lines(edge=[]) #}``. The lint, the index and mutation tests write them.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any

from qifsql.errors import InternalError

Shape = int | Collection["Shape"]
Frozen = int | tuple["Frozen", ...]
EXAMPLES = re.compile(r"^\{# (\w+\(.*?\)) #\}\n", re.MULTILINE | re.DOTALL)


def frozen(value: Shape) -> Frozen:
    """Return a part of a shape as a key; a set has its numbers in order."""
    if isinstance(value, int):
        return value
    if isinstance(value, set | frozenset):
        return tuple(sorted(map(frozen, value)))
    if isinstance(value, list | tuple | range):
        return tuple(map(frozen, value))
    raise InternalError("the shape of a template has whole numbers only")


def is_template(code: str) -> bool:
    """Return whether the text of a view is a template."""
    return "{%" in code or "{{" in code


def in_shape(code: str, shape: Mapping[str, Frozen]) -> str:
    """Return the text of a view, written for ``shape`` if it is a template."""
    if is_template(code):
        from jinja2 import TemplateError

        try:
            return _compiled(code)(shape)
        except TemplateError as e:
            raise InternalError(f"a template of sql/ cannot be written: {e}") from e
    if shape:
        raise InternalError("a view that is no template has one shape")
    return code


def examples(code: str) -> list[dict[str, Frozen]]:
    """Return the shapes that the comments of a template give as examples; a plain view has one."""
    comment = EXAMPLES.search(code)
    calls = ast.walk(ast.parse(f"[{comment[1]}]" if comment else ""))
    shapes = [call.keywords for call in calls if isinstance(call, ast.Call)] or [[]]
    return [{k.arg or "": frozen(ast.literal_eval(k.value)) for k in shape} for shape in shapes]


@cache
def _compiled(code: str) -> Callable[[Mapping[str, Frozen]], str]:
    render: Callable[[Mapping[str, Frozen]], str] = _environment().from_string(code).render
    return render


@cache
def _environment() -> Any:
    from jinja2 import Environment, StrictUndefined  # takes 30 ms

    environment = Environment(  # noqa: S701 - SQL, and only whole numbers are filled in
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"each": _repeated, "using": _using, "partition_by": _partition}
    return environment


def _repeated(numbers: Iterable[int], pattern: str, between: str = " ") -> str:
    """Return a pattern of SQL once for each number, which ``#`` stands for."""
    return between.join(pattern.replace("#", str(i)) for i in numbers)


def _using(numbers: Iterable[int], name: str) -> str:
    """Return the condition of a join by numbered columns; without any, all rows are joined."""
    columns = _repeated(numbers, f"{name}_#", ", ")
    return f"USING ({columns})" if columns else "ON TRUE"


def _partition(numbers: Iterable[int], name: str) -> str:
    """Return the part of a window by numbered columns; without any, all rows are one part."""
    columns = _repeated(numbers, f"{name}_#", ", ")
    return f"PARTITION BY {columns}" if columns else ""
