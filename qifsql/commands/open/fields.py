"""Fields of a form, made from the declared options of a command."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from qifsql.data.option import FLAG, GROUPS, NAME, Form, Option, declared
from qifsql.errors import InputError
from qifsql.options import grouping
from qifsql.presentation.language import translated

HIDDEN = {
    **dict.fromkeys(("qids", "secret"), "has its own controls"),
    **dict.fromkeys(("key", "wave", "absent", "progressive"), "is about several releases"),
    **dict.fromkeys(("link", "presence", "truth", "one_to_one"), "is about several releases"),
    "target": "is about one person, and shows values of the person",
    **dict.fromkeys(("member", "population"), "is about membership"),
    **dict.fromkeys(("learn", "learner", "rapid"), "is about another file"),
    **dict.fromkeys(("people", "hierarchies"), "is about another file"),
    "store": "writes a file with values of cells",
    "records": "writes a file with a row per record",
}
"""Options that the page does not offer, and why; all others are shown."""


def integer(text: str) -> int | None:
    """Return a number of a form; None for any other text, and for numbers of over 18 digits."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


@dataclass(frozen=True)
class Field:
    """A field of a form: an option with its flag, its help text and its kind of control.

    ``kind`` is ``flag``, ``choice``, ``column`` (a name or an expression) or ``text``.
    """

    name: str
    flag: str
    help: str
    kind: str
    panel: str
    choices: tuple[str, ...] = ()
    value: str = ""


def options_of(command: Callable[..., Any]) -> type:
    """Return the declared options of the function of a command."""
    hint = get_type_hints(command, include_extras=True)["options"]  # Unpack[OPTIONS]
    declaration: type = get_args(hint)[0]
    return declaration


def fields_of_options(options: type, values: Mapping[str, str]) -> list[Field]:
    """Return the fields of the options that the page offers, in their order."""
    fields = []
    for name, option in offered_options(options).items():
        kind = "column" if option.form in (GROUPS, NAME) else "text"
        kind = "choice" if option.form.choices else kind
        kind = "flag" if option.form is FLAG else kind
        field = Field(
            name=name,
            flag=grouping.flags(name, option)[0],
            help=translated(option.help),
            kind=kind,
            panel=translated(option.panel),
            choices=option.form.choices,
            value=values.get(name, ""),
        )
        fields.append(field)
    return fields


def offered_options(options: type) -> dict[str, Option]:
    """Return the options that the page offers."""
    return {n: o for n, o in declared(options).items() if o.typed and n not in HIDDEN}


def typed_words(options: type, values: Mapping[str, str]) -> list[str]:
    """Return the options that have a value as words of the command line."""
    line: list[str] = []
    for field in _filled(options, values):
        line += [field.flag] if field.kind == "flag" else [field.flag, field.value]
    return line


def arguments(options: type, values: Mapping[str, str], qids: Sequence[str]) -> dict[str, Any]:
    """Return the options that have a value as arguments of the function.

    They are read as on the command line: together with ``qids``, to which some refer.
    """
    forms = {name: option.form for name, option in offered_options(options).items()}
    typed: dict[str, Any] = {
        f.name: True if f.kind == "flag" else _read_value(f.flag, forms[f.name], f.value)
        for f in _filled(options, values)
    }
    read = grouping.arguments(declared(options), {**typed, "qids": list(qids)})
    return {name: read[name] for name in typed}


def _filled(options: type, values: Mapping[str, str]) -> list[Field]:
    """Return the fields that have a value, without blanks at its ends."""
    stripped = {name: text.strip() for name, text in values.items()}
    return [field for field in fields_of_options(options, stripped) if field.value]


def _read_value(flag: str, form: Form, text: str) -> Any:
    """Return a text as typer reads it: a list, a number, a path, or the text itself."""
    if form.choices:
        if text not in form.choices:
            raise InputError(f"{flag} is {form.says}")
        return text
    hint = grouping.TYPES[form]  # such as ``int | None``
    types = set(get_args(hint)) - {NoneType}
    if any(get_origin(type_) is list for type_ in types):
        return [text]
    for type_, noun in ((int, "a whole number"), (float, "a number")):
        if type_ in types:
            try:
                return type_(text)
            except ValueError as e:
                raise InputError(f"{flag} is {noun}") from e
    return Path(text) if Path in types else text
