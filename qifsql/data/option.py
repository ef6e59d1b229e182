"""Declare an option once, for Python, for the command line and for studies.

The options of a function are a ``TypedDict``. Each field is annotated with its type in Python and
an ``Option``: its form, its help text, its place on the command line. ``declared`` reads them;
``qifsql.options.grouping`` turns them into options of the command line, ``qifsql.study.forms`` into
keys of studies.
"""

import csv
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date, datetime, time
from typing import Annotated, Any, Required, TypeVar, cast, get_args, get_origin, get_type_hints

from qifsql.data.collection import ABSENT
from qifsql.errors import InputError, did_you_mean, quoted

T = TypeVar("T")

DATA, ATTACK, DETAILS, RUN, LIMITS = "Data", "Attack", "Details", "Output", "Limits"
OPTIONS = "Options"
"""The panels of options in help texts."""


@dataclass(frozen=True, eq=False)
class Form:
    """The kind of value of an option: its name in words, and its reader for studies.

    ``read`` returns the value for a value of TOML, or None if that is of another kind. ``choices``
    are all possible values, the usual one first, if they are few. ``nothing`` is the value of an
    option that is left out.
    """

    says: str
    read: Callable[[Any], Any]
    choices: tuple[str, ...] = ()
    nothing: Any = None


@dataclass(frozen=True)
class Option:
    """One option: its form, its description, and its place on the command line.

    ``help`` describes it on the command line. ``text`` describes it in Python, with its unit, range
    and rule for missing values; by default the help is used (``qifsql.data.documentation``).
    ``flags`` are its names on the command line (by default ``--NAME``), ``panel`` is its part of
    the help text. ``usual`` is its value if it is left out: by default the first choice of its
    form, or else ``nothing`` of the form. ``typed``: it is an option of the command line; ``least``
    is its smallest value. ``studied``: it is a key of studies. ``formerly`` is a flag that it had
    before, which still works with a note, as the name does in Python.
    """

    form: Form
    help: str = ""
    _: KW_ONLY
    text: str = ""
    usual: Any = None
    panel: str = ATTACK
    flags: tuple[str, ...] = ()
    typed: bool = True
    least: int | None = None
    studied: bool = True
    formerly: str = ""

    @property
    def default(self) -> Any:
        """Return the value of the option if it is left out."""
        if self.usual is not None:
            return self.usual
        return self.form.choices[0] if self.form.choices else self.form.nothing


def declared(options: type) -> dict[str, Option]:
    """Return the options that a ``TypedDict`` declares, in their order."""
    declarations: dict[str, Option] = {}
    for name, hint in get_type_hints(options, include_extras=True).items():
        annotated = get_args(hint)[0] if get_origin(hint) is Required else hint
        notes = get_args(annotated)[1:] if get_origin(annotated) is Annotated else ()
        for option in (note for note in notes if isinstance(note, Option)):
            declarations[name] = option
    return declarations


def complete(options: T, declaration: type[T]) -> T:
    """Return the options of a function with the usual values of those that are left out.

    Raises TypeError, as Python does, if an option is unknown or a required option is missing.
    """
    values = _renamed(cast("Mapping[str, Any]", options), declaration)
    check_names(values, declaration)
    needed = [n for n in sorted(cast("Any", declaration).__required_keys__) if n not in values]
    if needed:
        raise TypeError(f"missing option {', '.join(map(repr, needed))}")
    usual = {name: option.default for name, option in declared(declaration).items()}
    return cast("T", {**usual, **values})


def _renamed(options: Mapping[str, Any], declaration: type) -> dict[str, Any]:
    """Return the options by their current names, and warn of former names."""
    current_names: dict[str, str] = {}
    for name, option in declared(declaration).items():
        former = option.formerly.lstrip("-").replace("-", "_")
        if former not in ("", name):
            current_names[former] = name
    for former in current_names.keys() & options.keys():
        message = f"{former} is now {current_names[former]}"
        warnings.warn(message, DeprecationWarning, stacklevel=5)  # at the caller of the function
    return {current_names.get(name, name): value for name, value in options.items()}


def check_names(options: Mapping[str, object], declaration: type) -> None:
    """Refuse unknown options, which would be ignored silently, and a target that is no mapping."""
    names = declaration.__annotations__
    for name in options:
        if name not in names:
            raise TypeError(f"unknown option {name!r}{did_you_mean(name, names)}")
    if not isinstance(options.get("target") or {}, Mapping):
        raise InputError("a target maps quasi-identifiers to values, as in {'age': 49}")


def is_given(value: object) -> bool:
    """Return whether an option has a value, and not an empty one."""
    return value is not None and (not isinstance(value, str | Sequence | Mapping) or len(value) > 0)


def as_tuple(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one text or several texts as a tuple; an empty tuple for None."""
    return (value,) if isinstance(value, str) else tuple(value or ())


def as_names(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names in one text with commas (``a,b``), or those of a list, each as it is."""
    return names([value]) if isinstance(value, str) and "," in value else as_tuple(value)


def names(values: Sequence[str] | None) -> tuple[str, ...]:
    """Return names from repeated options, each one CSV row: ``a,b`` or ``"a,b",c``.

    A comma inside brackets or quotes belongs to an expression: ``first=left(zip, 3)``.
    """
    return tuple(name for value in values or () for name in csv_row(value))


_FIELD = re.compile(r'(?:"(?:[^"]|"")*"|[^,]*)(?:,|$)')


def csv_row(value: str) -> list[str]:
    """Return the names and ``name=expression`` in one row of CSV, without empty fields.

    Commas inside an expression do not separate. A field ``""`` is the empty name.

    >>> csv_row('"",sex,,"a,b",first=left(zip, 3)')
    ['', 'sex', 'a,b', 'first=left(zip, 3)']
    """
    try:
        fields = next(csv.reader([value], strict=True))
    except (csv.Error, StopIteration):
        return [value]
    items: list[str] = []
    for field, written in zip(fields, _FIELD.finditer(value), strict=False):
        if items and "=" in items[-1] and _is_open(items[-1]):
            items[-1] += f",{field}"
        elif field or written[0].startswith('"'):
            items.append(field)
    return items


def _is_open(expression: str) -> bool:
    """Return whether a bracket or a text of an expression is not closed."""
    depth, in_text = 0, False
    for character in expression:
        in_text ^= character == "'"
        if not in_text:
            depth += (character in "([{") - (character in ")]}")
    return in_text or depth > 0


def split_name(text: str) -> tuple[str, str] | None:
    """Return ``name=expression`` as its two parts; None if ``text`` has no name in front."""
    m = re.fullmatch(r"\s*([^=<>!]*[^=<>!\s])\s*=(?!=)\s*(.+)", text, re.S)
    return (m[1], m[2]) if m else None


def bare_name(text: str) -> str:
    """Return the name of ``name=expression``; a text without an equals sign is a name itself."""
    return (split_name(text) or (text, ""))[0]


def one_of(*names: str) -> Form:
    """Return the form of a text that is one of ``names``."""
    says = f"{', '.join(map(quoted, names[:-1]))} or {quoted(names[-1])}"
    return Form(says, lambda content: content if content in names else None, names)


def is_text(content: Any) -> bool:
    """Return whether a value of TOML is a text that a path or a name may be."""
    return isinstance(content, str) and "\0" not in content


def _is_whole(content: Any) -> bool:
    return isinstance(content, int) and not isinstance(content, bool)


def _is_number(content: Any) -> bool:
    return _is_whole(content) or (isinstance(content, float) and math.isfinite(content))


def _is_share(content: Any) -> bool:
    return _is_number(content) and 0 <= content <= 1


def _one_value(is_valid: Callable[[Any], bool]) -> Callable[[Any], Any]:
    """Return the reader of one value: None if it is not valid."""
    return lambda content: content if is_valid(content) else None


def values(is_valid: Callable[[Any], bool]) -> Callable[[Any], tuple[Any, ...] | None]:
    """Return the reader of a value or a list of values: None if one of them is not valid."""

    def read(content: Any) -> tuple[Any, ...] | None:
        items = content if isinstance(content, list) else [content]
        return tuple(items) if all(map(is_valid, items)) else None

    return read


def _texts(content: Any) -> tuple[str, ...] | None:
    return () if content == "" else values(is_text)(content)


def _sizes(content: Any) -> str | None:
    return str(content) if _is_whole(content) else _one_value(is_text)(content)


def _files(content: Any) -> dict[str, str] | None:
    """Return a map of names to files; None for anything else."""
    files = content.values() if isinstance(content, dict) else [None]
    return dict(content) if all(is_text(file) and file for file in files) else None


def _target(content: Any) -> dict[str, object] | None:
    """Read a map of column to value; a missing value is ``{missing = true}``: TOML has no null."""
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


_text, _number, _share = _one_value(is_text), _one_value(_is_number), _one_value(_is_share)
_NAMES = "a text in quotes or a list of them"
TEXT = Form("a text in quotes", _text)
NAME = Form("a text in quotes", _text)
"""A name of a column, which may be in double quotes on the command line."""
GROUPS = Form("a text in quotes", _text)
"""The name of the column whose values are groups."""
NAMES = Form(_NAMES, _texts, nothing=())
"""Names of columns: on the command line ``a,b``, repeatable."""
TEXTS = Form(_NAMES, _texts, nothing=())
"""Texts that may hold commas: on the command line one at a time, repeatable."""
FLAG = Form("true or false", _one_value(lambda content: isinstance(content, bool)), nothing=False)
WHOLE = Form("a whole number", _one_value(_is_whole))
DRAWN = Form("a whole number", _one_value(_is_whole))
"""A number of people who are drawn, whose sheets are written: the output is then a folder."""
NUMBERS = Form("a number or a list of numbers", values(_is_number), nothing=())
SHARE = Form("a number from 0 to 1", _share)
CHANCE = Form("a number from 0 to 1", _share)
"""A share that may be typed as a fraction, such as 2/3."""
SUPPRESSED = Form(
    "true, false or a number from 0 to 1",
    _one_value(lambda content: isinstance(content, bool) or _is_share(content)),
    nothing=False,
)
"""A share that may be typed as a fraction; the option alone, without a value, means all (1)."""
NUMBER = Form("a number", _number)
"""A number that may be typed as a fraction or a decimal, and is kept as it was typed."""
FILE = Form("a text in quotes", _text)
"""The path of a file."""
DATASET = Form("a text in quotes", _text)
"""A dataset, read with the same options as the data of the command."""
WRITTEN = Form("a text in quotes", _text)
"""The path of a file to write."""
STORE = Form("a text in quotes", _text)
"""The path of a DuckDB file to resume from; it holds values of cells."""
FLOAT = Form("a number", _number)
SECONDS = Form(
    "a number of seconds above 0", _one_value(lambda content: _is_number(content) and content > 0)
)
SIZES = Form('a number or a text such as "1-4"', _sizes)
COUNTS = Form("a whole number or a list of them", values(_is_whole))
"""Whole numbers: on the command line ``1,2,3``."""
TARGET = Form("a table such as { age = 49, city = { missing = true } }", _target)
HIERARCHIES = Form('a table such as { zip = "zip.csv" }', _files, nothing={})
"""Files of hierarchies by quasi-identifier: on the command line ``COLUMN=FILE``, repeatable."""
LABELS = Form('a table such as { NU_DIA = "day of birth" }', _files, nothing={})
"""Other names of columns: on the command line ``COLUMN="another name"``, repeatable."""
OF_SECRETS = Form('a table such as { zip = "zip.csv" }', _files, nothing={})
"""The same by secret; ``FILE`` alone is that of the only secret."""
