"""Hashes in a column: as hexadecimal digits, as base64, or as bytes."""

from dataclasses import dataclass

from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.data.types import family
from qifsql.errors import ColumnError, InputError, did_you_mean, quoted
from qifsql.query.columns import equal

_HEX, _BASE64 = "[0-9A-Fa-f]", "[A-Za-z0-9+/]"


@dataclass(frozen=True)
class Hash:
    """A hash function: its name, which is also that in DuckDB, and its number of bytes."""

    name: str
    bytes: int

    @property
    def digits(self) -> int:
        """Return the number of hexadecimal digits of a hash."""
        return 2 * self.bytes


HASHES = {h.name: h for h in (Hash("md5", 16), Hash("sha1", 20), Hash("sha256", 32))}


def hash_named(name: str) -> Hash:
    """Return the hash function of that name, in any case, with or without a hyphen."""
    kind = HASHES.get(name.strip().casefold().replace("-", ""))
    if kind is None:
        raise InputError(
            f"there is no hash {quoted(name)} here{did_you_mean(name, HASHES)}; "
            f"use one of {', '.join(HASHES)}"
        )
    return kind


def hash_in_cell(column: Attribute, kind: Hash) -> exp.Expr:
    """Return the hash in a cell as lower-case hexadecimal digits; NULL if the cell has no hash.

    Raises ColumnError if a column of that type cannot hold hashes.
    """
    cell, type_ = column.expression, family(column.type)
    if type_ == "UUID" and kind.bytes == 16:
        plain = exp.cast(cell.copy(), "VARCHAR")
        return exp.func("replace", plain, exp.Literal.string("-"), exp.Literal.string(""))
    if type_ in ("VARCHAR", "ENUM"):
        return _hash_in_text(cell if type_ == "VARCHAR" else exp.cast(cell.copy(), "VARCHAR"), kind)
    if type_ == "BLOB":
        raw = equal(_function("octet_length", cell.copy()), exp.Literal.number(kind.bytes))
        text = _function("try", _function("decode", cell.copy()))
        return exp.Case().when(raw, _lower_hex(cell.copy())).else_(_hash_in_text(text, kind))
    raise ColumnError(
        f"column {quoted(column.name)} is of type {type_}: hashes are texts or bytes; name another"
        + (", or read numbers as text with --all-varchar" if type_ != "BOOLEAN" else "")
    )


def count_digits(column: Attribute) -> exp.Expr:
    """Return the number of hexadecimal digits of a cell; NULL if it has other characters."""
    if family(column.type) == "BLOB":
        length = _function("octet_length", column.expression.copy())
        return exp.Mul(this=length, expression=exp.Literal.number(2))
    text = exp.cast(column.expression.copy(), "VARCHAR")
    return exp.Case().when(_matches(text, f"{_HEX}+"), _function("length", text.copy()))


def hash_of_candidate(candidate: exp.Expr, kind: Hash, before: str, after: str) -> exp.Expr:
    """Return the hash of a candidate with its salt, as lower-case hexadecimal digits."""
    parts = [exp.Literal.string(before), candidate, exp.Literal.string(after)]
    salted = [p for p in parts if not (isinstance(p, exp.Literal) and not p.this)]
    return _function(kind.name, _function("concat", *salted) if len(salted) > 1 else candidate)


def _hash_in_text(text: exp.Expr, kind: Hash) -> exp.Expr:
    padding = -kind.bytes % 3
    full = (kind.bytes * 8 + 5) // 6
    decoded = _lower_hex(_function("try", _function("from_base64", text.copy())))
    in_base64 = _matches(text.copy(), f"{_BASE64}{{{full}}}{'=' * padding}")
    in_hex = _matches(text.copy(), f"{_HEX}{{{kind.digits}}}")
    return exp.Case().when(in_hex, _function("lower", text.copy())).when(in_base64, decoded)


def _lower_hex(data: exp.Expr) -> exp.Expr:
    return _function("lower", _function("hex", data))


def _matches(text: exp.Expr, pattern: str) -> exp.Expr:
    return _function("regexp_full_match", text, exp.Literal.string(pattern))


def _function(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))
