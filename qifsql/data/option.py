"""How an option is declared: once, for Python, for the command line and for studies.

The options of a function are a ``TypedDict``. Each field is annotated with its type in Python and
an ``Option``: its form, its help text, its place on the command line. ``declared`` reads them;
``qifsql.options.grouping`` makes options of the command line of them, ``qifsql.study.forms`` keys
of studies.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from qifsql.data.collection import ABSENT
from qifsql.errors import quoted

DATA, ATTACK, DETAILS, RUN = "Data", "Attack", "Details", "Output and limits"
"""The panels of options in help texts."""


@dataclass(frozen=True, eq=False)
class Form:
    """What an option holds, in words, and how a study has it.

    ``read`` gives the value from what TOML holds there, None where that is something else.
    ``choices`` are all values there are, the usual one first, where there are few.
    """

    says: str
    read: Callable[[Any], Any]
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: its form, and how it stands on the command line.

    ``flags`` are its names there (``--NAME`` unless said), ``panel`` the part of the help text.
    ``typed``: it can be typed. ``studied``: it may stand in studies.
    """

    form: Form
    help: str = ""
    panel: str = ATTACK
    flags: tuple[str, ...] = ()
    typed: bool = True
    studied: bool = True


def declared(options: type) -> dict[str, Option]:
    """Return the options that a ``TypedDict`` declares, in their order."""
    hints = get_type_hints(options, include_extras=True)
    return {name: option for name in hints for option in _of(hints[name])}


def _of(hint: Any) -> list[Option]:
    """Return the option in an annotation, if there is one."""
    annotated = get_origin(hint) is Annotated
    return [note for note in get_args(hint)[1:] if isinstance(note, Option)] if annotated else []


def one_of(*names: str) -> Form:
    """Return the form of one text of a few."""
    says = f"{', '.join(map(quoted, names[:-1]))} or {quoted(names[-1])}"
    return Form(says, lambda content: content if content in names else None, names)


def _text(content: Any) -> str | None:
    return content if isinstance(content, str) and "\0" not in content else None


def _texts(content: Any) -> tuple[str, ...] | None:
    several = content if isinstance(content, list) else [content] if content != "" else []
    return tuple(several) if all(_text(text) is not None for text in several) else None


def _number(content: Any) -> int | float | None:
    number = isinstance(content, int | float) and not isinstance(content, bool)
    return content if number and math.isfinite(content) else None


def _numbers(content: Any) -> tuple[int | float, ...] | None:
    several = content if isinstance(content, list) else [content]
    return tuple(several) if all(_number(number) is not None for number in several) else None


def _share(content: Any) -> float | None:
    number = _number(content)
    return number if number is not None and 0 <= number <= 1 else None


def _seconds(content: Any) -> float | None:
    number = _number(content)
    return number if number is not None and number > 0 else None


def _whole(content: Any) -> int | None:
    return content if isinstance(content, int) and not isinstance(content, bool) else None


def _sizes(content: Any) -> str | None:
    return str(content) if _whole(content) is not None else _text(content)


def _target(content: Any) -> dict[str, object] | None:
    """Column -> value; a missing value is ``{missing = true}``, for TOML has no word for it."""
    if not isinstance(content, dict) or not content:
        return None
    target: dict[str, object] = {}
    for name, value in content.items():
        if value == {"missing": True}:
            target[name] = None
        elif value == {"absent": True}:
            target[name] = ABSENT
        elif isinstance(value, str | int | float | date | datetime | time):
            target[name] = value
        else:
            return None
    return target


_NAMES = "a text in quotes or a list of them"
TEXT = Form("a text in quotes", _text)
NAME = Form("a text in quotes", _text)
"""A name of a column, which may stand in double quotes on the command line."""
GROUPS = Form("a text in quotes", _text)
"""A name of the one column whose values are groups."""
NAMES = Form(_NAMES, _texts)
"""Names of columns: on the command line ``a,b``, repeatable."""
TEXTS = Form(_NAMES, _texts)
"""Texts that may hold commas: on the command line one at a time, repeatable."""
FLAG = Form("true or false", lambda content: content if isinstance(content, bool) else None)
WHOLE = Form("a whole number", _whole)
NUMBERS = Form("a number or a list of numbers", _numbers)
SHARE = Form("a number from 0 to 1", _share)
CHANCE = Form("a number from 0 to 1", _share)
"""A share that may be typed as a fraction, such as 2/3."""
SECONDS = Form("a number of seconds above 0", _seconds)
SIZES = Form('a number or a text such as "1-4"', _sizes)
TARGET = Form("a table such as { age = 49, city = { missing = true } }", _target)
