"""The syntax trees of modules: each text is parsed once."""

import ast
from functools import cache


@cache
def parsed(text: str) -> ast.Module:
    """Return the tree of a module with this text."""
    return ast.parse(text)
