"""Parse typed text: lists of names, and the target of an attack."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from qifsql.data.collection import ABSENT
from qifsql.data.option import bare_name, csv_row
from qifsql.errors import InputError, quoted

SECONDS_PER_UNIT = {"": 1, "s": 1, "m": 60, "h": 3600}
TARGET_PHRASES = {" is null": None, " is absent": ABSENT}  # instead of =VALUE
QUOTED = r'"((?:[^"]|"")*)"'  # a name in quotes, as in a row of CSV


def unquoted(value: str | None) -> str | None:
    """Return a name without the double quotes that it has in a row of CSV."""
    if not value or not value[0] == value[-1] == '"':
        return value
    fields = csv_row(value)
    return fields[0] if len(fields) == 1 else value


def one_column(values: Sequence[str] | None) -> str | None:
    """Return the only column of groups, None without one; InputError if there are several."""
    if values and len(values) > 1:
        raise InputError("groups are made by one column; combine several in one NAME=EXPRESSION")
    return unquoted(values[0]) if values else None


def seconds(text: str | None, option: str = "--time-budget") -> float | None:
    """Return a duration in seconds: ``90``, ``90s``, ``10m``, ``1.5h``."""
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text)
    if not match or not float(match[1]):
        raise InputError(f"a {option} is written 90s, 10m or 2h, above 0")
    return float(match[1]) * SECONDS_PER_UNIT[match[2]]


def split_assignment(text: str, columns: Sequence[str] = ()) -> tuple[str, str] | None:
    """Return the name and the value of ``NAME=VALUE``; None if there is no equals sign.

    A name that contains an equals sign must be in double quotes, or be one of ``columns``.
    """
    for name in sorted(columns, key=len, reverse=True):
        if text.startswith(f"{name}="):
            return name, text[len(name) + 1 :]
    if match := re.fullmatch(rf"{QUOTED}=(.*)", text, re.S):
        return match[1].replace('""', '"'), match[2]
    name, equals, value = text.partition("=")
    return (name, value) if equals else None


def targets(values: Sequence[str] | None, qids: Sequence[str]) -> dict[str, str | None]:
    """Return the target from ``column=value`` and ``column is null``, each column once.

    ``qids`` are the quasi-identifiers as they were typed: their names may contain ``=``.
    """
    target: dict[str, str | None] = {}
    for text in values or ():
        name, value = _target_value(text, qids)
        if name in target:
            raise InputError(f"the target's {quoted(name)} is given twice; give it once")
        target[name] = value
    return target


def _target_value(text: str, qids: Sequence[str]) -> tuple[str, str | None]:
    """Return the column and the value of ``COLUMN=VALUE``, ``COLUMN is null`` or ``... is absent``.

    Names of ``qids`` may contain such signs; other names with them are in double quotes.
    """
    phrase = next((phrase for phrase in TARGET_PHRASES if text.casefold().endswith(phrase)), None)
    column = "" if phrase is None else text[: -len(phrase)]
    for name in sorted(qids, key=len, reverse=True):
        if text.startswith(f"{name}="):
            return name, text[len(name) + 1 :]
        if phrase is not None and column.casefold() == name.casefold():
            return name, TARGET_PHRASES[phrase]
    if phrase is not None and (match := re.fullmatch(QUOTED, column, re.S)):
        return match[1].replace('""', '"'), TARGET_PHRASES[phrase]
    pair = split_assignment(text)
    if pair and pair[0]:
        return pair
    if phrase is not None and pair is None:
        return column, TARGET_PHRASES[phrase]
    raise InputError('a --target is written COLUMN=VALUE, or "COLUMN is null" for a missing value')


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of ``1,2,3``; InputError if a part is not a whole number."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError("--points are whole numbers, as in 1,2,3,4") from None


def labels(texts: Sequence[str]) -> dict[str, str]:
    """Return other names of columns from COLUMN="another name"."""
    names = dict(split_assignment(text) or ("", "") for text in texts)
    if not all(names.keys()) or not all(names.values()):
        raise InputError('a --label is written COLUMN="another name"')
    return names


def hierarchies(texts: Sequence[str], qids: Sequence[str]) -> dict[str, str]:
    """Return files by column from COLUMN=FILE; names of columns may contain equals signs."""
    files: dict[str, str] = {}
    for text in texts:
        name, path = split_assignment(text, qids) or ("", "")
        if not name or not path:
            raise InputError(f"hierarchy {quoted(text)} is not COLUMN=FILE; write it like that")
        if name in files:
            raise InputError(f"{quoted(name)} has two hierarchies; name one")
        files[name] = path
    return files


def hierarchies_of_secrets(values: Iterable[str], secrets: Sequence[str]) -> dict[str, str]:
    """Return files by secret from SECRET=FILE; with one secret, FILE alone is its hierarchy."""
    names = [bare_name(secret) for secret in secrets]
    files: dict[str, str] = {}
    for text in values:
        pair = split_assignment(text, names)
        if len(names) == 1 and (pair is None or Path(text).is_file()):
            pair = names[0], text
        if pair is None:
            raise InputError("a --hierarchy is written SECRET=FILE")
        name, file = pair
        if name in files:
            raise InputError(f"the hierarchy of {quoted(name)} is given twice; give it once")
        files[name] = file
    return files
