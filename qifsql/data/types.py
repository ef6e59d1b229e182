"""Types of values, as the engine names them: which are numbers, which have parts, which compare."""

import re
from typing import Literal

from qifsql.data.expressions import FLOATING

INTEGERS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
)  # fmt: skip
NUMBERS = (*INTEGERS, "FLOAT", "DOUBLE", "DECIMAL")


def family(type_: str) -> str:
    """Return a type without its parts, which may be values (``ENUM``) or names (``STRUCT``)."""
    return "LIST" if type_.endswith("]") else type_.split("(", maxsplit=1)[0]


def comparable(type_: str) -> str:
    """Return what types must have in common for their values to be compared as they are.

    Whole numbers of any size are alike, but for UHUGEINT, which the engine rounds to compare it
    with others; so are floating numbers, and texts however they are stored.
    """
    kind = family(type_)
    whole = kind in INTEGERS and kind != "UHUGEINT"
    if whole:
        return "INTEGER"
    return "DOUBLE" if kind in FLOATING else "VARCHAR" if kind == "ENUM" else kind


def generalised(type_: str) -> tuple[Literal["list", "interval"], str] | None:
    """Return which generalised cells a type has, and the type of their plain values.

    None: no cells.
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
    """Return the digits behind the point of a number type.

    2 of ``DECIMAL(18,2)``, 0 of whole numbers.
    """
    parts = re.fullmatch(r"DECIMAL\(\d+,\s*(\d+)\)", type_)
    return int(parts[1]) if parts else 0
