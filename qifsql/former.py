"""Names of commands before version 0.3.0, for one version.

On the command line a former name is a rewriting of the typed words. In Python it is a function that
warns and calls the new one.
"""

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

WORDS: Mapping[str, tuple[str, ...]] = {
    name: ("inspect", "--show", name) for name in ("blocks", "hyper", "records", "receipt")
}
"""The words that replace a former name of a command."""


def current(words: Sequence[str]) -> list[str]:
    """Return typed words with the new name of their command."""
    return [*WORDS.get(words[0], words[:1]), *words[1:]] if words else []


def blocks(source: Any, **options: Any) -> Any:
    """Call ``inspect``."""
    return _function("blocks", "inspect")(source, **options)


def hyper(source: Any, **options: Any) -> Any:
    """Call ``inspect`` with ``show="hyper"``, or another object."""
    return _function("hyper", "inspect")(source, **{"show": "hyper", **options})


def records(source: Any, out: str | Path, **options: Any) -> int:
    """Call ``inspect`` with ``show="records"``; return the number of rows."""
    told = options.pop("told", None)
    result = _function("records", "inspect")(source, show="records", out=out, **options)
    for note in result.notes if told is not None else ():
        told(note)
    return int(result.written)


def receipt(source: Any, **options: Any) -> Any:
    """Call ``inspect`` with ``show="receipt"``."""
    return _function("receipt", "inspect")(source, show="receipt", **options)


def _function(old: str, new: str) -> Any:
    """Return the function of a new name; warn the caller of the old one."""
    warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=3)
    return getattr(import_module("qifsql"), new)
