"""The spec of a composition: releases, the people in all of them, and the known columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from qifsql.adversary.spec import Attribute, BoundAttack
from qifsql.counting.spans import Generalised, Raw
from qifsql.data.dataset import Column, Dataset, Tabular, datasets, given_again
from qifsql.data.types import nested
from qifsql.errors import InputError, plural
from qifsql.query.microdata_steps import normal

SUPPRESSED_RULES = ("everyone", "out")


@dataclass(frozen=True)
class Composition:
    """Releases and people as the user named them; ``compose`` explains each field."""

    releases: tuple[Dataset, ...]
    people: Dataset
    qids: tuple[str, ...]
    secrets: tuple[str, ...]
    keys: tuple[str, ...] = ()
    truth: str | None = None
    where: str | None = None
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    plain: tuple[str, ...] = ()
    suppressed: str = "everyone"
    nearest: bool = False
    strict: bool = False

    @classmethod
    def of(
        cls,
        releases: Sequence[Tabular],
        people: Tabular,
        instead: str = "compose different releases",
        **options: object,
    ) -> "Composition":
        """Return the composition of these files, each opened under a different name.

        ``options`` are the other fields; ``instead`` ends the message about a release that is given
        twice. Raises InputError if a release is missing or given twice, or if options do not fit.
        """
        opened = datasets(releases)
        if not opened:
            raise InputError("no release is named; name the files of two or more")
        if twice := given_again(opened):
            raise InputError(f"{twice[0].name} is given twice; {instead}")
        (everybody,) = _attached([Dataset.open(people)], first=0)
        composition = cls(_attached(opened), everybody, **options)  # type: ignore[arg-type]
        if composition.suppressed not in SUPPRESSED_RULES:
            raise InputError(f"suppressed records are one of {', '.join(SUPPRESSED_RULES)}")
        if composition.nearest and composition.strict:
            raise InputError(
                "the nearest classes are for people who are in none, whom strict refuses; leave "
                "one of the two out"
            )
        if len(composition.keys) not in (0, 1, len(opened) + 1):  # none, one for all, one for each
            raise InputError(
                f"{plural(len(composition.keys), 'key')} for people and "
                f"{plural(len(opened), 'release')}; name one key for all of them, or that of the "
                "people and one for each release"
            )
        return composition


@dataclass(frozen=True)
class Release:
    """A release whose columns are looked up: its number, title, cells, secret and key."""

    number: int
    title: str
    dataset: Dataset
    cells: tuple[tuple[Generalised, Attribute], ...]
    secret: Attribute
    key: Column | None = None


@dataclass(frozen=True)
class Bound:
    """A composition with all names found and all types checked.

    ``qids`` are the people's quasi-identifiers, ``raws`` the same for comparison with cells.
    """

    spec: Composition
    people: Dataset
    qids: tuple[Attribute, ...]
    raws: tuple[Raw, ...]
    releases: tuple[Release, ...]
    secret: str
    key: Column | None
    truth: Attribute | None
    where: exp.Expr | None
    notes: tuple[str, ...] = ()


def _attached(datasets: Sequence[Dataset], *, first: int = 1) -> tuple[Dataset, ...]:
    """Return the datasets with different catalogs, which tables of databases need."""
    return tuple(replace(d, catalog=f"attached_{i}") for i, d in enumerate(datasets, first))


NOTHING = Attribute("nothing", exp.true(), "BOOLEAN")  # the known column if all others are gone


def as_compared(attribute: Attribute) -> exp.Expr:
    """Return the cells of a column as they are compared: generalised ones (nested) as they are."""
    return attribute.expression.copy() if nested(attribute.type) else normal(attribute)


@dataclass(frozen=True)
class Compared:
    """One compared file: its title, its columns by quasi-identifier, and the attack on it.

    ``cells`` are pairs: how the cells of a column are read, and the column. ``key`` is the column
    that names each record in all files, if there is one.
    """

    number: int
    title: str
    cells: tuple[tuple[Generalised, Attribute], ...]
    attack: BoundAttack
    key: Attribute | None = None

    @property
    def columns(self) -> tuple[Generalised, ...]:
        """Return the columns of the quasi-identifiers that the file has."""
        return tuple(column for column, _ in self.cells)

    @property
    def cell_values(self) -> dict[str, exp.Expr]:
        """Return the cells of each column as they are compared, by the name ``cell_j``."""
        return {f"cell_{column.raw.number}": as_compared(a) for column, a in self.cells}

    @property
    def secrets(self) -> tuple[Attribute, ...]:
        """Return the secrets of the attack."""
        return self.attack.microdata.secrets

    @property
    def owner(self) -> Attribute | None:
        """Return the column that says whose record it is: the person, or the key."""
        return self.attack.microdata.person or self.key
