"""What people type: lists of names, and the target of an attack."""

import csv
import re
from collections.abc import Sequence

from qifsql.collection import ABSENT
from qifsql.errors import InputError, quoted

QUOTED = r'"((?:[^"]|"")*)"'  # a name, as a row of CSV has it


def names(values: Sequence[str] | None) -> tuple[str, ...]:
    """Names from repeated options, each one CSV row: ``a,b`` or ``"a,b",c``.

    A comma inside brackets or quotes belongs to an expression: ``first=left(zip, 3)``.
    """
    return tuple(name for value in values or () for name in _row(value))


def _row(value: str) -> list[str]:
    try:
        fields = next(csv.reader([value], strict=True))
    except (csv.Error, StopIteration):
        return [value]
    result: list[str] = []
    for field in fields:
        if result and "=" in result[-1] and _goes_on(result[-1]):
            result[-1] += f",{field}"
        else:
            result.append(field)
    return [field for field in result if field] or ([""] if value == '""' else [])


def _goes_on(expression: str) -> bool:
    """Whether a bracket or a text of an expression is still open."""
    depth, in_text = 0, False
    for character in expression:
        in_text ^= character == "'"
        if not in_text:
            depth += (character in "([{") - (character in ")]}")
    return in_text or depth > 0


def single(value: str | None) -> str | None:
    """Return a name that stands in double quotes, as in a row of CSV, without them."""
    row = _row(value) if value and value[0] == value[-1] == '"' else []
    return row[0] if len(row) == 1 else value


def assigned(text: str, known: Sequence[str] = ()) -> tuple[str, str] | None:
    """Return the name and the value of ``NAME=VALUE``; None where there is no equals sign.

    A name that holds an equals sign stands in double quotes, or is ``known``.
    """
    for name in sorted(known, key=len, reverse=True):
        if text.startswith(f"{name}="):
            return name, text[len(name) + 1 :]
    if found := re.fullmatch(rf"{QUOTED}=(.*)", text, re.S):
        return found[1].replace('""', '"'), found[2]
    name, equals, value = text.partition("=")
    return (name, value) if equals else None


def targets(values: Sequence[str] | None, qids: Sequence[str]) -> dict[str, str | None]:
    """The target from ``column=value`` and ``column is null``, each given once.

    ``qids`` are the quasi-identifiers as they were typed: their names may contain ``=``.
    """
    target: dict[str, str | None] = {}
    for text in values or ():
        name, value = _known(text, qids)
        if name in target:
            raise InputError(f"the target's {quoted(name)} is given twice; give it once")
        target[name] = value
    return target


def _known(text: str, qids: Sequence[str]) -> tuple[str, str | None]:
    for name in sorted(qids, key=len, reverse=True):
        if text.startswith(f"{name}="):
            return name, text[len(name) + 1 :]
        if text.casefold() == f"{name} is null".casefold():
            return name, None
        if text.casefold() == f"{name} is absent".casefold():
            return name, ABSENT
    if found := re.fullmatch(rf"{QUOTED} is (null|absent)", text, re.S | re.I):
        return found[1].replace('""', '"'), None if found[2].casefold() == "null" else ABSENT
    pair = assigned(text)
    if pair and pair[0]:
        return pair
    equals = pair is not None
    if not equals and text.casefold().endswith(" is null"):
        return text[: -len(" is null")], None
    if not equals and text.casefold().endswith(" is absent"):
        return text[: -len(" is absent")], ABSENT
    raise InputError('a --target is written COLUMN=VALUE, or "COLUMN is null" for a missing value')
