"""Kinds of results: each command whose results are stored says in its room what they hold.

A room registers its results by ``KIND`` in its ``view.py``, which is looked up by the command's
name when a stored result is read. No room is imported from here before that.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import polars as pl


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The content of a stored result of a command.

    ``columns`` are those by which a table about everybody is known: other tables show values of
    people. ``shared`` are tables of details without values of people, which others may see.
    ``types`` are those of columns that JSON may leave without a value. A result that is
    ``essential`` is read for more than its table, so that one without the columns is refused.
    """

    columns: tuple[str, ...]
    shared: tuple[str, ...] = ()
    types: Mapping[str, pl.DataType] = field(default_factory=dict)
    essential: bool = False


@cache
def view_of(name: str) -> ModuleType | None:
    """Return the view of a command by the name of its results (``what-if``), None of unknown."""
    room = name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", room) or find_spec("qifsql.commands") is None:
        return None
    try:
        return import_module(f"qifsql.commands.{room}.view")
    except ModuleNotFoundError as e:
        if e.name is not None and e.name.startswith(f"qifsql.commands.{room}"):
            return None
        raise


def kind_of(name: str) -> Kind | None:
    """Return what results of that name hold; None if no room has registered them."""
    kind: Kind | None = getattr(view_of(name), "KIND", None)
    return kind
