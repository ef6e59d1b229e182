"""People, releases and a control in several files, with one set of columns in all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from qifsql.adversary.bind import bind
from qifsql.adversary.options import NullRule
from qifsql.adversary.spec import Attack, Attribute, KnownRecords, Microdata
from qifsql.counting.session import check_records
from qifsql.data.dataset import Dataset, Tabular, datasets, given_again, titles_of
from qifsql.data.domains import Domain, common_domain, domain
from qifsql.data.types import comparable, family, generalised
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import Engine
from qifsql.errors import ColumnError, InputError, quoted

POOLED = "all releases together"
ORIGINAL, RELEASE, CONTROL = "original", "release", "control"


@dataclass(frozen=True, kw_only=True)
class Names:
    """The names that are looked up in all files, and the records that are left out of all.

    ``by`` is a column of groups of the original and the control. ``person`` says whose record each
    one is, in all files.
    """

    qids: str | Sequence[str]
    secret: str | Sequence[str] = ()
    where: str | None = None
    by: str | None = None
    null: NullRule = "distinct"
    person: str | None = None


@dataclass(frozen=True)
class Sources:
    """The files of a comparison, as named: the original, the releases, the control."""

    original: Dataset
    releases: tuple[Dataset, ...]
    control: Dataset | None

    @classmethod
    def of(
        cls,
        original: Tabular,
        synthetic: Tabular | Sequence[Tabular],
        control: Tabular | None,
        *,
        different: bool = True,
    ) -> "Sources":
        """Return the files, opened; ``control`` is None if there is none.

        Raises InputError if no release is named or, with ``different``, if a file is given twice.
        """
        releases = datasets(synthetic)
        if not releases:
            raise InputError("no synthetic release is named; name the files to measure")
        first = Dataset.open(original)
        last = None if control is None else Dataset.open(control)
        inputs = [first, *releases, *([last] if last is not None else [])]
        # frames may have equal rows
        twice = [d.name for d in given_again(inputs) if d.frame is None]
        if different and twice:
            raise InputError(
                f"{twice[0]} is given twice; the original, each release and the control are "
                "different files"
            )
        # A table of a database is attached under a name, which must differ between the files.
        named = [replace(d, catalog=f"attached_{i}") for i, d in enumerate(inputs)]
        end = 1 + len(releases)
        return cls(named[0], tuple(named[1:end]), named[end] if last is not None else None)

    @property
    def all(self) -> tuple[Dataset, ...]:
        """Return all files: the original, the releases, the control."""
        return (self.original, *self.releases, *((self.control,) if self.control else ()))

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files, each once."""
        return tuple(dict.fromkeys(path for dataset in self.all for path in dataset.paths))


@dataclass(frozen=True)
class File:
    """A file whose columns are looked up: its role, its title and its microdata.

    ``attributes`` are the quasi-identifiers, the secrets and the group, in one order for all files,
    with values that can be compared.
    """

    role: str
    title: str
    records: int
    microdata: Microdata
    attributes: tuple[Attribute, ...]

    @property
    def coded_microdata(self) -> Microdata:
        """Return the microdata with all attributes as quasi-identifiers, so that all get codes.

        If people have several records, secrets stay secrets, since a person has one per record.
        """
        if self.microdata.person is None:
            return replace(self.microdata, qids=self.attributes, secrets=(), by=None)
        k = len(self.microdata.qids)
        return replace(self.microdata, qids=self.attributes[:k], secrets=self.attributes[k:])

    @property
    def column_count(self) -> int:
        """Return the number of columns of what is known, of secrets and of the group."""
        return self.microdata.width + len(self.attributes) - len(self.microdata.qids)


@dataclass(frozen=True)
class Files:
    """All files, the original first and the control last; the names of their attributes.

    With a person, individuals of each file are people of whom all records are known, or one.
    """

    files: tuple[File, ...]
    qids: tuple[str, ...]
    secrets: tuple[str, ...]
    by: str | None
    notes: tuple[str, ...] = ()

    def known_by(self, known_records: KnownRecords) -> "Files":
        """Return the files for an adversary who knows all records of each person, or one."""
        files = (replace(f, microdata=f.microdata.known_by(known_records)) for f in self.files)
        return replace(self, files=tuple(files))

    @property
    def width(self) -> int:
        """Return the number of columns of what is known of an individual."""
        return self.original.microdata.width

    @property
    def original(self) -> File:
        """Return the file of the people whom the generator learnt from."""
        return self.files[0]

    @property
    def releases(self) -> tuple[File, ...]:
        """Return the synthetic releases."""
        return tuple(file for file in self.files if file.role == RELEASE)

    @property
    def control(self) -> File | None:
        """Return the control; None without one."""
        return next((file for file in self.files if file.role == CONTROL), None)


def read(engine: Engine, sources: Sources, names: Names) -> Files:
    """Return the files with all names looked up in each, in one order and with one type.

    ``sources`` are the files and ``names`` the columns to look up, as the user named them. Raises
    ColumnError, ExpressionError, InputError or DatasetError if a file lacks a column or has no
    records, or if types differ.
    """
    roles = [ORIGINAL, *(RELEASE for _ in sources.releases)]
    roles += [CONTROL] if sources.control is not None else []
    read_files = [
        _bind_file(engine, source, names, role, title)
        for source, role, title in zip(sources.all, roles, titles_of(sources.all), strict=True)
    ]
    _check_same_names(read_files)
    first = read_files[0].microdata
    qids, secrets = [q.name for q in first.qids], [s.name for s in first.secrets]
    files = _in_common_types([_in_common_order(file, [*qids, *secrets]) for file in read_files])
    notes = tuple(dict.fromkeys(note for file in files for note in file.microdata.notes))
    by = None if first.by is None else first.by.name
    return Files(tuple(files), tuple(qids), tuple(secrets), by, notes)


def _check_same_names(files: Sequence[File]) -> None:
    """Refuse files in which the names that were looked up mean different columns."""
    columns = [{a.name for a in file.attributes[: _shared_count(file)]} for file in files]
    for file, names in zip(files, columns, strict=True):
        if names != columns[0]:
            raise ColumnError(
                f"the names mean other columns in {file.title} than in {files[0].title}: "
                f"{', '.join(map(quoted, sorted(names ^ columns[0])))}; name columns that "
                "all files have"
            )


def _bind_file(engine: Engine, dataset: Dataset, names: Names, role: str, title: str) -> File:
    """Return a file with its columns looked up and its records counted."""
    spec = Attack.of(
        "cas" if names.secret else "crs",
        dataset,
        qids=names.qids,
        secret=names.secret,
        where=names.where,
        by=names.by if role != RELEASE else None,
        null=names.null,
        person=names.person,
    )
    catalog = Catalog(engine, dataset, spec.mentions)
    microdata = bind(replace(spec, dataset=catalog.dataset), catalog).microdata
    records = check_records(engine, microdata)
    group = () if microdata.by is None else (microdata.by,)
    return File(role, title, records, microdata, (*microdata.qids, *microdata.secrets, *group))


def _shared_count(file: File) -> int:
    """Return how many attributes a file must share with the others."""
    return len(file.microdata.qids) + len(file.microdata.secrets)


def _in_common_order(file: File, names: Sequence[str]) -> File:
    """Return the file with its attributes in the order of ``names``, and then the group."""
    by_name = {a.name: a for a in file.attributes[: _shared_count(file)]}
    group = file.attributes[_shared_count(file) :]
    return replace(file, attributes=(*(by_name[name] for name in names), *group))


def _in_common_types(files: Sequence[File]) -> list[File]:
    """Return the files with each attribute in one type; ColumnError if types do not compare.

    All files have their attributes in one order; releases lack the last one, the group.
    """
    attributes_by_file = [list(file.attributes) for file in files]
    for place in range(max(map(len, attributes_by_file))):  # of an attribute in each file
        files_with_it = [
            (file.title, attributes)
            for file, attributes in zip(files, attributes_by_file, strict=True)
            if place < len(attributes)
        ]
        shared = _common_domain([(title, attributes[place]) for title, attributes in files_with_it])
        if len({comparable(attributes[place].type) for _, attributes in files_with_it}) == 1:
            continue  # equal values have equal codes as they are
        for _, attributes in files_with_it:
            value = exp.paren(attributes[place].expression.copy())
            tree = exp.cast(value, shared.type, dialect="duckdb")
            attributes[place] = replace(attributes[place], expression=tree, type=shared.type)
    return [
        replace(file, attributes=tuple(attributes))
        for file, attributes in zip(files, attributes_by_file, strict=True)
    ]


def _common_domain(columns: Sequence[tuple[str, Attribute]]) -> Domain:
    """Return the values of a column in all files; ColumnError if its types do not compare.

    ``columns`` has the title of each file, and the column in it.
    """
    first_title, first = columns[0]
    shared = domain(first.type)
    for title, attribute in columns:
        wider = common_domain(shared, domain(attribute.type))
        if wider is None:
            advice = "write both with one type (CSV: --all-varchar)"
            if generalised(attribute.type) or generalised(first.type):
                advice = (
                    "values are not looked up in generalised cells; give all files the same "
                    "cells, or plain ones (anonymise --cells midpoint)"
                )
            raise ColumnError(
                f"column {quoted(attribute.name)} is {family(attribute.type)} in {title} but "
                f"{family(first.type)} in {first_title}: values are not converted; {advice}"
            )
        shared = wider
    return shared
