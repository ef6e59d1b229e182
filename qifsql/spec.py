"""What is attacked and how: the spec as the user wrote it, and bound to the columns there are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict, Unpack, get_args

from sqlglot import exp

from qifsql.dataset import Dataset
from qifsql.errors import InputError, did_you_mean
from qifsql.expressions import FLOATING
from qifsql.gains import IDENTITY, Gain
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


class Options(TypedDict, total=False):
    """What an adversary knows and wants, as people write it: options of most functions.

    ``qids``: quasi-identifiers, what she knows: columns, patterns such as ``CO_*`` or named
    expressions such as ``decade=birth_year//10``. ``secret``: one or several secrets (sensitive
    attributes), as columns or named expressions. ``key``: the column that identifies a person.
    ``weight``: a column or expression >= 0, her prior on records. ``where``: a SQL condition; other
    records are left out. ``null``: ``distinct`` (a missing value is a value) or ``drop`` (such
    records are left out). ``target``: for individual models, quasi-identifier -> value (None:
    missing). ``gain``: one or several gain functions (``qifsql.gains``); each gives a row.
    ``prior``: a file of what she believed of the secret before, with a column named like the
    secret (or ``value``) and ``probability``. ``by``: a column or named expression whose values are
    groups of people. ``thresholds``: count people whose success is at least that. ``quantiles``:
    the success that these shares of the people do not exceed.
    """

    qids: str | Sequence[str]
    secret: str | Sequence[str]
    key: str | None
    weight: str | None
    where: str | None
    null: NullRule
    target: Mapping[str, object] | None
    gain: str | Sequence[str]
    prior: str | Path | None
    by: str | None
    thresholds: float | Sequence[float | str]
    quantiles: float | Sequence[float | str]


@dataclass(frozen=True)
class Attack:
    """One attack, or several of the same kind of target at once, as the user wrote it.

    ``models`` are acronyms of one kind of target (``crs``, ``cas``). ``qids`` and ``secrets`` are
    names of columns, patterns (``CO_*``) or named expressions (``decade=birth_year//10``).
    ``target`` maps quasi-identifiers to the target's values (None: missing), for individual
    models. ``null`` says what a missing value is: ``distinct`` a value of its own, ``drop`` a
    reason to leave the record out. ``gains`` are gain functions (``qifsql.gains``), ``prior`` a
    file of what the adversary believed before, ``by`` the column whose values are groups.
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
    gains: tuple[str, ...] = ("identity",)
    prior: str | None = None
    by: str | None = None
    thresholds: tuple[str, ...] = ()
    quantiles: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        model: str | Sequence[str],
        source: str | Path | Dataset,
        **options: Unpack["Options"],
    ) -> "Attack":
        """The spec from what people type: one name or several, a path or a dataset."""
        _check_options(options)
        prior = options.get("prior")
        return cls(
            _several(model.split(",") if isinstance(model, str) else model),
            Dataset.open(source),
            _several(options.get("qids", ())),
            _several(options.get("secret", ())),
            options.get("key"),
            options.get("weight"),
            options.get("where"),
            options.get("null", "distinct"),
            dict(options.get("target") or {}),
            _several(options.get("gain") or ()) or ("identity",),
            None if prior is None else str(prior),
            options.get("by"),
            _numbers(options.get("thresholds", ())),
            _numbers(options.get("quantiles", ())),
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
class BoundGain:
    """A gain function other than identity, with what it needs for each secret by its number.

    ``listed`` are the lines of its file, ``expressions`` its expression over guess and secret.
    """

    gain: Gain
    listed: Mapping[int, exp.Query] = field(default_factory=dict)
    expressions: Mapping[int, exp.Expr] = field(default_factory=dict)


@dataclass(frozen=True)
class BoundAttack:
    """An attack whose names are all looked up and whose rules are all checked.

    ``gains`` are numbered from 1; ``asked_gains`` are the numbers in the order they were asked
    for, 0 being identity. ``beliefs`` are the lines of the prior's file by number of the secret;
    ``files`` are those of gains and beliefs.
    """

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
    gains: tuple[BoundGain, ...] = ()
    asked_gains: tuple[int, ...] = (0,)
    beliefs: Mapping[int, exp.Query] = field(default_factory=dict)
    by: Attribute | None = None
    thresholds: tuple[str, ...] = ()
    quantiles: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def gain(self, number: int) -> Gain:
        """The gain function of that number; 0 is identity."""
        return self.gains[number - 1].gain if number else IDENTITY


def _several(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _numbers(value: float | Sequence[float | str]) -> tuple[str, ...]:
    return tuple(map(str, [value] if isinstance(value, int | float) else value))


def _check_options(options: Mapping[str, object]) -> None:
    """Refuse what a misspelt keyword would leave out in silence."""
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(f"unknown option {name!r}{did_you_mean(name, Options.__annotations__)}")
    if not isinstance(options.get("target") or {}, Mapping):
        raise InputError("a target maps quasi-identifiers to values, as in {'age': 49}")


def refuse(options: Mapping[str, object], what: str, *names: str) -> None:
    """Refuse options that a function does not use."""
    for name in names:
        if options.get(name):
            raise InputError(f"{what} does not take {name}; leave it out")
