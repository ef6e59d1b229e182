"""Types of values, as the engine names them: numbers, nested types, comparable types; rows."""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from qifsql.data.expressions import FLOATING

Row: TypeAlias = Mapping[str, Any]
"""A row of a table of results: its values by column."""

INTEGERS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
)  # fmt: skip
NOTHING = '"NULL"'  # the type of a column without values
NUMBERS = (*INTEGERS, "FLOAT", "DOUBLE", "DECIMAL")


def family(type_: str) -> str:
    """Return a type without its parts, which may be values (``ENUM``) or names (``STRUCT``)."""
    return "LIST" if type_.endswith("]") else type_.split("(", maxsplit=1)[0]


def comparable(type_: str) -> str:
    """Return the name of the class of types whose values can be compared without conversion.

    All types of whole numbers are one class, except UHUGEINT, which the engine rounds to compare it
    with others. All types of floating numbers are one class, and so are all types of text.
    """
    kind = family(type_)
    if kind in INTEGERS and kind != "UHUGEINT":
        return "INTEGER"
    if kind in FLOATING:
        return "DOUBLE"
    return "VARCHAR" if kind == "ENUM" else kind


def generalised(type_: str) -> tuple[Literal["list", "interval"], str] | None:
    """Return the form of generalised cells of a type, and the type of the values in them.

    The result is None if the type has no generalised cells.
    """
    if type_.endswith("[]"):
        return None if nested(type_[:-2]) else ("list", type_[:-2])
    bounds = re.fullmatch(r'STRUCT\("?lower"? (.+), "?upper"? (.+), "?missing"? BOOLEAN\)', type_)
    if bounds is None or bounds[1] != bounds[2] or nested(bounds[1]):
        return None
    return "interval", bounds[1]


def nested(type_: str) -> bool:
    """Return whether values of a type have parts."""
    return family(type_) in ("LIST", "STRUCT", "MAP", "UNION", "VARIANT")


def scale_of(type_: str) -> int:
    """Return the number of digits after the point: 2 for ``DECIMAL(18,2)``, 0 for whole numbers."""
    parts = re.fullmatch(r"DECIMAL\(\d+,\s*(\d+)\)", type_)
    return int(parts[1]) if parts else 0
