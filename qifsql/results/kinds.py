"""Kinds of results: each command with stored results declares their contents.

The package of a command registers its results with ``KIND`` in its ``view.py``, which is imported
by the command's name when a stored result is read, and not before.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import polars as pl

HOMES = {
    **dict.fromkeys(("blocks", "hyper", "records", "receipt", "sheets"), "inspect"),
    "claims": "verify.intruder_claims",
    "what-if": "compare.changes",
    "refines": "compare.refinement",
    "treat": "anonymise.one_per",
    "pram": "anonymise.pram",
    "wp29": "check.questions",
}
"""The room of a kind of result that is not the command of that name."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The content of a stored result of a command.

    ``columns`` identify a table about everybody: a table without them shows values of people.
    ``shared`` are tables of details without values of people, which others may see. ``types`` are
    those of columns that may have no value in JSON. An ``essential`` result is read for more than
    its table, so it is refused without these columns.
    """

    columns: tuple[str, ...]
    shared: tuple[str, ...] = ()
    types: Mapping[str, pl.DataType] = field(default_factory=dict)
    essential: bool = False


def view_of(name: str) -> ModuleType | None:
    """Return the view of the results of a name (``what-if``), None if unknown."""
    return _module_of(name, "view")


def charts_of(name: str) -> ModuleType | None:
    """Return the charts of a command by the name of its results, None if it has none."""
    return _module_of(name, "charts")


@cache
def _module_of(name: str, part: str) -> ModuleType | None:
    """Return a module of the room of a kind of result; None if there is none."""
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name) or find_spec("qifsql.commands") is None:
        return None
    home = f"qifsql.commands.{HOMES.get(name, name)}"
    try:
        return import_module(f"{home}.{part}")
    except ModuleNotFoundError as e:
        if e.name is not None and f"{home}.{part}.".startswith(f"{e.name}."):
            return None  # the module itself is missing, not one that it imports
        raise


def kind_of(name: str) -> Kind | None:
    """Return the kind of the results of a name; None if no command has registered it."""
    kind: Kind | None = getattr(view_of(name), "KIND", None)
    return kind
