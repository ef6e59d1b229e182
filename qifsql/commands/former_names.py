"""Names of commands before version 0.3.0, for one version.

On the command line a former name is a rewriting of the typed words. In Python it is a function that
warns and calls the new one.
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

WORDS: Mapping[str, tuple[str, ...]] = {
    **{name: ("inspect", "--show", name) for name in ("blocks", "hyper", "records", "receipt")},
    "what-if": ("compare",),
    "refines": ("compare", "--qids", "A", "--refines", "B"),
    "treat": ("anonymise", "--one-per", "KEY"),
    "wp29": ("check", "--preset", "wp216", "--questions"),
}
"""The words that replace a former name of a command."""

FLAGS = ("--all-varchar", "--progress", "--no-progress", "--debug", "--quiet", "--help", "-h")
"""The options of ``refines`` that take no value."""


def current(words: Sequence[str]) -> list[str]:
    """Return typed words with the new name of their command."""
    name, *rest = words or [""]
    if name == "refines":
        return ["compare", *_refined(rest)]
    if name == "treat":
        return ["anonymise", *(re.sub("^--key(?==|$)", "--one-per", word) for word in rest)]
    return [*WORDS[name], *rest] if name in WORDS else [*words]


def _refined(words: Sequence[str]) -> list[str]:
    """Return the words of ``refines FILE A B`` with an option in front of A and of B."""
    current, names, is_option = [], iter(("", "--qids", "--refines")), True
    ahead = iter(words)
    for word in ahead:
        if word == "--" and is_option:
            is_option = False
        elif is_option and word.startswith("-") and word != "-":
            has_value = word not in FLAGS and (len(word) == 2 or word.startswith("--"))
            current += [word, *([next(ahead, "")] if has_value and "=" not in word else [])]
        else:
            name = next(names, "")
            current.append(f"{name}={word}" if name else word)
    return current


def blocks(source: Any, **options: Any) -> Any:
    """Call ``inspect``."""
    return _function("blocks", "inspect")(source, **options)


def hyper(source: Any, **options: Any) -> Any:
    """Call ``inspect`` with ``show="hyper"``, or another object."""
    return _function("hyper", "inspect")(source, **{"show": "hyper", **options})


def records(source: Any, out: str | Path, **options: Any) -> int:
    """Call ``inspect`` with ``show="records"``; return the number of rows."""
    listener = options.pop("told", None)
    result = _function("records", "inspect")(source, show="records", out=out, **options)
    for note in result.notes if listener is not None else ():
        listener(note)
    return int(result.written)


def receipt(source: Any, **options: Any) -> Any:
    """Call ``inspect`` with ``show="receipt"``."""
    return _function("receipt", "inspect")(source, show="receipt", **options)


def what_if(source: Any, **options: Any) -> Any:
    """Call ``compare`` without a release."""
    return _function("what_if", "compare")(source, **options)


def refines(source: Any, a: Any, b: Any, **options: Any) -> Any:
    """Call ``compare`` with ``qids`` and ``refines``."""
    return _function("refines", "compare")(source, qids=a, refines=b, **options)


def treat(source: Any, out: str | Path, *, key: str, **options: Any) -> Any:
    """Call ``anonymise`` with ``one_per``."""
    return _function("treat", "anonymise")(source, out, one_per=key, **options)


def wp29(source: Any, **options: Any) -> Any:
    """Call ``check`` with ``preset="wp216"`` and ``questions``."""
    return _function("wp29", "check")(source, preset="wp216", questions=True, **options)


def _function(old: str, new: str) -> Any:
    """Return the function of a new name; warn the caller of the old one."""
    warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=3)
    return getattr(import_module(f"qifsql.commands.{new}.{new}"), new)
