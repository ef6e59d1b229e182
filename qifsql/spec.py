"""What is attacked and how: the spec as the user wrote it, and bound to the columns there are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from sqlglot import exp

from qifsql.dataset import Dataset
from qifsql.expressions import FLOATING
from qifsql.models import Model

NullRule = Literal["distinct", "drop"]
NULL_RULES = get_args(NullRule)

INTEGERS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
)  # fmt: skip
NUMBERS = (*INTEGERS, "FLOAT", "DOUBLE", "DECIMAL")


def family(type_: str) -> str:
    """A type without its parts, which may be values (``ENUM``) or names (``STRUCT``)."""
    return "LIST" if type_.endswith("]") else type_.split("(", maxsplit=1)[0]


def nested(type_: str) -> bool:
    """Whether values of a type have parts."""
    return family(type_) in ("LIST", "STRUCT", "MAP", "UNION", "VARIANT")


@dataclass(frozen=True)
class Attack:
    """One attack, or several of the same kind of target at once, as the user wrote it.

    ``models`` are acronyms of one kind of target (``crs``, ``cas``). ``qids`` and ``secrets`` are
    names of columns, patterns (``CO_*``) or named expressions (``decade=birth_year//10``).
    ``target`` maps quasi-identifiers to the target's values (None: missing), for individual
    models. ``null`` says what a missing value is: ``distinct`` a value of its own, ``drop`` a
    reason to leave the record out.
    """

    models: tuple[str, ...]
    dataset: Dataset
    qids: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    key: str | None = None
    weight: str | None = None
    where: str | None = None
    null: NullRule = "distinct"
    target: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        model: str | Sequence[str],
        source: str | Path | Dataset,
        *,
        qids: str | Sequence[str] = (),
        secret: str | Sequence[str] = (),
        key: str | None = None,
        weight: str | None = None,
        where: str | None = None,
        null: NullRule = "distinct",
        target: Mapping[str, object] | None = None,
    ) -> "Attack":
        """The spec from what people type: one name or several, a path or a dataset."""
        return cls(
            _several(model.split(",") if isinstance(model, str) else model),
            Dataset.open(source),
            _several(qids),
            _several(secret),
            key,
            weight,
            where,
            null,
            dict(target or {}),
        )


@dataclass(frozen=True)
class Attribute:
    """A quasi-identifier, secret, key or weight: its name, what it is in SQL, and its type."""

    name: str
    expression: exp.Expr
    type: str

    @property
    def floating(self) -> bool:
        """Whether values may be NaN, which counts as missing."""
        return self.type in FLOATING


@dataclass(frozen=True)
class BoundAttack:
    """An attack whose names are all looked up and whose rules are all checked."""

    models: tuple[Model, ...]
    dataset: Dataset
    qids: tuple[Attribute, ...]
    secrets: tuple[Attribute, ...]
    key: Attribute | None
    weight: Attribute | None
    where: exp.Expr | None
    null: NullRule
    target: Mapping[str, str | None]
    notes: tuple[str, ...] = ()
    zoned: bool = False


def _several(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
