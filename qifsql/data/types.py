"""Types of values, as the engine names them: which are numbers, which have parts, which compare."""

import re

from qifsql.data.expressions import FLOATING

INTEGERS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
)  # fmt: skip
NUMBERS = (*INTEGERS, "FLOAT", "DOUBLE", "DECIMAL")


def family(type_: str) -> str:
    """A type without its parts, which may be values (``ENUM``) or names (``STRUCT``)."""
    return "LIST" if type_.endswith("]") else type_.split("(", maxsplit=1)[0]


def comparable(type_: str) -> str:
    """What types must have in common for their values to be compared as they are.

    Whole numbers of any size are alike, but for UHUGEINT, which the engine rounds to compare it
    with others; so are floating numbers, and texts however they are stored.
    """
    kind = family(type_)
    whole = kind in INTEGERS and kind != "UHUGEINT"
    if whole:
        return "INTEGER"
    return "DOUBLE" if kind in FLOATING else "VARCHAR" if kind == "ENUM" else kind


def generalised(type_: str) -> bool:
    """Whether values of a type are generalised cells: an interval, or a set of plain values."""
    if type_.endswith("[]"):
        return not nested(type_[:-2])
    parts = re.fullmatch(r"STRUCT\(lower (.+), upper (.+), missing BOOLEAN\)", type_)
    return parts is not None and parts[1] == parts[2] and not nested(parts[1])


def nested(type_: str) -> bool:
    """Whether values of a type have parts."""
    return family(type_) in ("LIST", "STRUCT", "MAP", "UNION", "VARIANT")


def scale_of(type_: str) -> int:
    """The digits behind the point of a number type: 2 of ``DECIMAL(18,2)``, 0 of whole numbers."""
    parts = re.fullmatch(r"DECIMAL\(\d+,\s*(\d+)\)", type_)
    return int(parts[1]) if parts else 0
