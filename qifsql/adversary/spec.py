"""The spec of an attack: as the user wrote it, and bound to columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import EllipsisType
from typing import Any, Literal, Unpack

from sqlglot import exp

from qifsql.adversary.gains import IDENTITY, Gain, parse
from qifsql.adversary.models import MODELS, Model
from qifsql.adversary.options import NullRule, Options
from qifsql.data.collection import Absent, Collection, Source
from qifsql.data.column_questions import Repeated
from qifsql.data.dataset import Dataset, Tabular, datasets
from qifsql.data.expressions import FLOATING
from qifsql.data.files import path_text
from qifsql.data.option import as_names, as_tuple, check_names
from qifsql.errors import InputError

KnownRecords = Literal["all", "one"]  # the records that an adversary knows of a person
Part = Literal["everybody", "shown", "hidden"]  # people by whether their record is suppressed
NOT_CONSIDERED = "not considered"  # the role of a column that an attack does not use
MEMBERSHIP = {name for m in MODELS.values() if m.goal == "membership" for name in m.names}
"""The models of membership, as users write them."""


@dataclass(frozen=True)
class Attack:
    """One attack, or several on the same kind of target, as the user wrote them.

    ``models`` are acronyms of one kind of target (``crs``, ``cas``). ``qids`` and ``secrets`` are
    names of columns, patterns (``CO_*``) or named expressions (``decade=birth_year//10``).
    ``target`` maps quasi-identifiers to the target's values (None: missing), for individual
    models. ``null`` is the rule for missing values: ``distinct`` (a missing value is a value) or
    ``drop`` (its record is left out). ``gains`` are gain functions (``qifsql.adversary.gains``),
    ``prior`` is a file of the adversary's beliefs before the release, ``by`` the column whose
    values are groups. ``wave`` splits one long table into a collection; ``key`` identifies people.
    ``person`` is the column of people who have several records, ``household`` that of households.
    ``any_value``: a missing value may be anything, which is bounded from ``distinct``.
    ``may_count_people``: who asks can name a person.
    """

    models: tuple[str, ...]
    dataset: Dataset | Collection
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
    wave: str | None = None
    absent: Absent = "null"
    member: str | None = None
    keys: tuple[str, ...] = ()
    person: str | None = None
    household: str | None = None
    any_value: bool = False
    may_count_people: bool = True

    @classmethod
    def of(
        cls,
        model: str | Sequence[str],
        source: Source,
        *,
        person: str | EllipsisType | None = ...,
        household: str | None = None,
        any_value: bool = False,
        **options: Unpack[Options],
    ) -> "Attack":
        """Return the spec from user input: one or several names, and paths or datasets.

        Commands with the option ``person`` pass it, None if the user did not set it; ``...`` means
        that the command has no such option.
        """
        check_names(options, Options)
        prior = options.get("prior")
        keys = as_names(options.get("key"))
        return cls(
            models=as_tuple(model.split(",") if isinstance(model, str) else model),
            dataset=_opened(source, keys, options.get("absent", "null")),
            qids=as_names(options.get("qids")),
            secrets=as_names(options.get("secret")),
            key=keys[0] if keys else None,
            weight=options.get("weight"),
            where=options.get("where"),
            null=options.get("null", "distinct"),
            target=dict(options.get("target") or {}),
            gains=as_tuple(options.get("gain")) or ("identity",),
            prior=None if prior is None else path_text(prior),
            by=options.get("by"),
            thresholds=_numbers(options.get("thresholds", ())),
            quantiles=_numbers(options.get("quantiles", ())),
            wave=options.get("wave"),
            absent=options.get("absent", "null"),
            member=options.get("member"),
            keys=keys,
            person=None if isinstance(person, EllipsisType) else person,
            household=household,
            any_value=any_value,
            may_count_people=person is not ...,
        )

    @property
    def tables(self) -> tuple[Dataset, ...]:
        """Return the small files that the attack also reads: gains and the prior."""
        files = [gain.file for gain in map(parse, self.gains) if gain.file is not None]
        return tuple(map(Dataset.open, [*files, *([self.prior] if self.prior else [])]))

    def mentions(self, name: str) -> bool:
        """Return whether the attack may use the column ``name``.

        It may if its texts contain the name, or if it has a pattern, which can match any column.
        Only letters and digits are compared, without case, so that quoted names are found.
        """
        if any(mark in text for text in self.qids + self.secrets for mark in "*?["):
            return True
        texts = [*self.qids, *self.secrets, *self.keys, *self.target]
        options = (self.key, self.weight, self.where, self.by, self.wave, self.member)
        texts += [text for text in (*options, self.person, self.household) if text is not None]
        return _letters(name) in _letters(" ".join(texts))

    @property
    def of_collection(self) -> bool:
        """Return whether the attack is on several datasets, or on waves of one."""
        return isinstance(self.dataset, Collection) or self.wave is not None

    @property
    def asked_of_collection(self) -> dict[str, object]:
        """Return the options that join a collection, as plain data; empty for one dataset."""
        if not self.of_collection:
            return {}
        source = self.dataset if isinstance(self.dataset, Collection) else self
        return {"keys": list(source.keys), "absent": source.absent, "wave": self.wave}

    def fitting(self) -> "Attack":
        """Return the attack with longitudinal models if it is on a collection."""
        if not self.of_collection:
            return self
        return replace(self, models=tuple(f"{name[:2]}l" for name in self.models))

    @property
    def of_membership(self) -> bool:
        """Return whether all models are membership models."""
        return {name.strip().casefold() for name in self.models} <= MEMBERSHIP

    def among(self, population: Tabular) -> "Attack":
        """Return the spec with a population as focal dataset, and the release as the last one.

        The release is the dataset that was focal; auxiliary datasets stay auxiliary. If there are
        several keys, the last is that of the population.
        """
        release, *others = self.dataset.datasets
        keys = self.keys
        if len(keys) > 1:  # in the order of the datasets: population, auxiliary ones, release
            keys = (keys[-1], *keys[1:-1], keys[0])
        everybody = Collection.of(
            [population, *others, release], key=keys, absent=self.absent, release=True
        )
        return replace(self, dataset=everybody, key=everybody.keys[0])

    def over(self, datasets: Sequence[Dataset]) -> "Attack":
        """Return the same attack on ``datasets``, the waves of its long table."""
        return replace(self, dataset=Collection.of(datasets, key=self.key, absent=self.absent))


@dataclass(frozen=True)
class Attribute:
    """A quasi-identifier, secret, key or weight: its name, SQL expression and type.

    ``number`` is the number of its dataset in a collection. ``there`` is the column that states
    whether the person is in that dataset; it is set only if absence differs from a missing value.
    """

    name: str
    expression: exp.Expr
    type: str
    number: int = 1
    there: exp.Expr | None = None

    @property
    def floating(self) -> bool:
        """Return whether values may be NaN, which counts as missing."""
        return self.type in FLOATING


@dataclass(frozen=True)
class ColumnRoles:
    """A column of the attacked file, and its roles in the attack.

    ``roles`` are names such as ``quasi-identifier`` or ``group`` (``qifsql.adversary.roles``).
    ``forms`` are roles that only a coarser form or an expression of the column has. A column
    without ``roles`` is not covered by the attack. ``attribute`` is the column itself, if the data
    are available. ``label`` is what the file says about the variable.
    """

    name: str
    roles: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    attribute: Attribute | None = field(default=None, compare=False, repr=False)
    label: str = ""

    @property
    def covered(self) -> bool:
        """Return whether the column itself has a role, not only a form of it."""
        return bool(self.roles)

    @property
    def role(self) -> str:
        """Return all roles in words."""
        return ", ".join((*self.roles, *self.forms)) or NOT_CONSIDERED

    def plain(self) -> dict[str, object]:
        """Return the column as plain data for manifests and JSON."""
        column = {"name": self.name, "role": self.role, "covered": self.covered}
        return column | ({"label": self.label} if self.label else {})

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "ColumnRoles":
        """Return the column that ``plain`` wrote."""
        name, role, label = str(plain["name"]), (str(plain["role"]),), str(plain.get("label", ""))
        if plain["covered"]:
            return cls(name, role, label=label)
        return cls(name, (), () if role == (NOT_CONSIDERED,) else role, label=label)


@dataclass(frozen=True)
class BoundGain:
    """A gain function other than identity, bound to the secrets.

    By the number of each secret, ``listed`` has the lines of the file, and ``expressions`` the
    expression over guess and secret.
    """

    gain: Gain
    listed: Mapping[int, exp.Query] = field(default_factory=dict)
    expressions: Mapping[int, exp.Expr] = field(default_factory=dict)


@dataclass(frozen=True)
class Microdata:
    """The data of an attack: the dataset, and its columns by role, found and checked.

    ``by`` is the column of groups, ``household`` that of households. With ``person``, each person
    is an individual, of whom the adversary knows all records or one (``known_records``).
    ``zoned``: some columns have times with a time zone. ``releases`` are the names of the datasets
    whose columns the adversary may know. ``columns`` are all columns of the datasets with their
    roles. ``repeated`` number people, of whom some have several records, though records are
    counted. ``names`` are columns without a role that look like names of people.
    ``reported``: only people with a reported secret, which is the only one; of several records, the
    reported values. ``suppressed``: how many records are one of anything, so that they
    are in no block of others. ``part``: the people whose blocks are asked for: everybody (the block
    of those with a suppressed record is everyone), or only those with a record that is ``shown``,
    or suppressed (``hidden``). ``notes`` are remarks for readers of the results.
    ``in_values``: people with several records have lists of values, which are shown or compared
    with other files; else these are numbered, which is faster to count, unless some are suppressed.
    """

    dataset: Dataset | Collection
    qids: tuple[Attribute, ...]
    secrets: tuple[Attribute, ...] = ()
    key: Attribute | None = None
    weight: Attribute | None = None
    by: Attribute | None = None
    where: exp.Expr | None = None
    null: NullRule = "distinct"
    zoned: bool = False
    notes: tuple[str, ...] = ()
    releases: tuple[str, ...] = ("",)
    columns: tuple[ColumnRoles, ...] = ()
    person: Attribute | None = None
    known_records: KnownRecords = "all"
    household: Attribute | None = None
    repeated: tuple[Repeated, ...] = ()
    names: tuple[Repeated, ...] = ()
    reported: bool = False
    suppressed: int = 0
    part: Part = "everybody"
    in_values: bool = False

    @property
    def datasets(self) -> int:
        """Return how many datasets have columns that the adversary may know."""
        return len(self.releases)

    @property
    def of_lists(self) -> bool:
        """Return whether what is known of an individual is a list of the records of a person."""
        return self.person is not None and self.known_records == "all"

    @property
    def width(self) -> int:
        """Return the number of columns of the step ``microdata`` that hold what is known.

        It is a column per quasi-identifier, for an adversary who knows one record of each
        individual; one column with a list, for an adversary who knows all records of a person. If
        values are numbered, there are both: people with one record have no list.
        """
        if self.of_lists:
            return len(self.qids) + 1 if self.numbered else 1
        return len(self.qids)

    @property
    def numbered(self) -> bool:
        """Return whether the values of people with several records are numbers of values."""
        keeps_values = self.in_values or self.suppressed or self.household is not None
        return self.person is not None and not keeps_values

    @property
    def secrets_of_individuals(self) -> tuple[Attribute, ...]:
        """Return the secrets with their types in the step ``microdata``: lists with a person."""
        if self.person is None:
            return self.secrets
        return tuple(replace(secret, type=f"{secret.type}[]") for secret in self.secrets)

    def known_by(self, known_records: KnownRecords) -> "Microdata":
        """Return the microdata of an adversary who knows all records of each person, or one.

        They have the values, which are shown, or compared with those of other files.
        """
        return replace(self, known_records=known_records, in_values=True)

    def of_sets(self, person: Attribute) -> "Microdata":
        """Return the microdata whose individuals are the sets of records of one ``person``."""
        return replace(self, person=person, household=None, by=None)

    def by_one_record(self) -> "Microdata":
        """Return the microdata of an adversary who knows one record of each person."""
        return replace(self, known_records="one")


@dataclass(frozen=True)
class BoundAttack:
    """An attack on microdata, with all names found and all rules checked.

    ``gains`` are numbered from 1; ``asked_gains`` are the numbers in the user's order, with 0 for
    identity. ``beliefs`` are the lines of the prior file by number of the secret; ``files`` are the
    files of gains and beliefs. ``member``: the secret is membership of the release.
    """

    models: tuple[Model, ...]
    microdata: Microdata
    target: Mapping[str, str | None] = field(default_factory=dict)
    gains: tuple[BoundGain, ...] = ()
    asked_gains: tuple[int, ...] = (0,)
    beliefs: Mapping[int, exp.Query] = field(default_factory=dict)
    thresholds: tuple[str, ...] = ()
    quantiles: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    member: bool = False

    def on(self, microdata: Microdata) -> "BoundAttack":
        """Return the same attack on other microdata."""
        return replace(self, microdata=microdata)

    def first(self, n: int) -> "BoundAttack":
        """Return the attack on the first ``n`` datasets, of which the focal one is the first."""
        qids = tuple(q for q in self.microdata.qids if q.number <= n)
        if not qids:
            raise InputError(
                "a progressive attack begins with the focal dataset alone, of which there is no "
                "quasi-identifier; name one"
            )
        target = {q.name: self.target[q.name] for q in qids} if self.target else {}
        microdata = replace(self.microdata, qids=qids, releases=self.microdata.releases[:n])
        return replace(self.on(microdata), target=target)

    def gain(self, number: int) -> Gain:
        """Return the gain function of that number; 0 is identity."""
        return self.gains[number - 1].gain if number else IDENTITY


def _opened(source: Source, keys: tuple[str, ...], absent: Absent) -> Dataset | Collection:
    """Return the dataset of one source, or the collection of several, joined by their keys."""
    if isinstance(source, Collection):
        return source
    sources = datasets(source)
    if len(sources) == 1:
        return sources[0]
    keys_of_sources = keys[: len(sources)]  # a further key would be that of a register
    return Collection.of(sources, key=keys_of_sources, absent=absent)


def _letters(text: str) -> str:
    """Return the letters and digits of a text, without case."""
    return "".join(c for c in text.casefold() if c.isalnum())


def _numbers(value: float | Sequence[float | str]) -> tuple[str, ...]:
    """Return one number or several as texts, as they were written."""
    return tuple(map(str, [value] if isinstance(value, int | float) else value))


def refuse(options: Mapping[str, object], what: str, *names: str) -> None:
    """Refuse options that a function does not use."""
    for name in names:
        if options.get(name):
            raise InputError(f"{what} does not take {name}; leave it out")
