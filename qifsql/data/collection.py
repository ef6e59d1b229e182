"""A collection: a focal dataset and auxiliary ones about the same people, joined by their key.

The people are those of the focal dataset (PoPETs assumptions A2-B and A3-A; thesis AL4): people who
are only in an auxiliary dataset are left out, and people who are absent from one have missing
values there. Tags distinguish columns: ``2:school`` is the column school of the second dataset.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

from qifsql.data.dataset import Column, Dataset, Schema, Tabular
from qifsql.data.dataset import datasets as datasets_of
from qifsql.errors import DatasetError, InputError, plural

Absent = Literal["null", "distinct"]
ABSENT_RULES = get_args(Absent)


class _Absent(str):
    """The value of a target in columns of a dataset that the person is not in."""

    __slots__ = ()


ABSENT = _Absent("(absent)")


@dataclass(frozen=True)
class Collection:
    """The focal dataset, then the auxiliary ones, each with a column that identifies people.

    ``keys`` are the names of these columns as written, ``key_columns`` the columns after they are
    looked up. ``absent``: absence from a dataset is the same as a missing value (``null``) or not
    (``distinct``). ``release``: the last dataset is a release of some people of the focal dataset;
    only their presence in it is used, not its columns.
    """

    datasets: tuple[Dataset, ...]
    keys: tuple[str, ...] = ()
    absent: Absent = "null"
    release: bool = False
    key_columns: tuple[Column, ...] = field(default=(), compare=False)
    format: Literal["collection"] = "collection"
    table: str = ""
    csv: None = None

    @classmethod
    def of(
        cls,
        datasets: Sequence[Tabular],
        *,
        key: str | Sequence[str] | None = None,
        absent: Absent = "null",
        release: bool = False,
    ) -> "Collection":
        """Return the collection from user input: files, and one key for all or one for each.

        ``release``: the last dataset is a release of some people of the first. Raises InputError if
        the keys do not fit the datasets, DatasetError if a dataset is given twice.
        """
        opened = datasets_of(datasets)
        if not opened:
            raise InputError("a collection has one dataset at least; name a file")
        keys = (key,) if isinstance(key, str) else tuple(key or ())
        if len(opened) > 1 and not keys:
            raise InputError(
                f"{plural(len(opened), 'dataset')} are joined by a person key; name it with --key"
            )
        if len(keys) not in (0, 1, len(opened)):
            raise InputError(
                f"{plural(len(keys), 'key')} for {plural(len(opened), 'dataset')}; name one key "
                "for all of them, or one for each"
            )
        if absent not in ABSENT_RULES:
            raise InputError(f"absent is one of {', '.join(ABSENT_RULES)}")
        for i, dataset in enumerate(opened):
            if any((d.place, d.wave) == (dataset.place, dataset.wave) for d in opened[:i]):
                raise DatasetError(
                    f"{dataset.name} is given twice; a collection has different datasets"
                )
            opened[i] = replace(dataset, catalog=f"attached_{i + 1}")
        return cls(tuple(opened), keys * len(opened) if len(keys) == 1 else keys, absent, release)

    @property
    def read_with(self) -> Mapping[str, object]:
        """Return how the files are read, as plain data for manifests: ``csv`` of each CSV file."""
        csv = [{"name": d.name, **d.csv} for d in self.datasets if d.csv] or None
        return {"csv": csv, **({"na": list(self.na)} if self.na else {})}

    @property
    def identity_of_reading(self) -> list[object]:
        """Return how the files are read, to tell requests apart."""
        return [part for dataset in self.datasets for part in dataset.identity_of_reading]

    @property
    def na(self) -> tuple[str, ...]:
        """Return the words for missing values of the focal dataset."""
        return self.datasets[0].na

    @property
    def name(self) -> str:
        """Return the names of the datasets."""
        return " + ".join(d.name for d in self.datasets)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return all files, each once."""
        return tuple(dict.fromkeys(p for d in self.datasets for p in d.paths))

    @property
    def n_known_datasets(self) -> int:
        """Return how many of the datasets have columns that an adversary may know."""
        return len(self.datasets) - self.release

    def first(self, n: int) -> "Collection":
        """Return the focal dataset and the first auxiliary ones, ``n`` together."""
        return replace(
            self, datasets=self.datasets[:n], keys=self.keys[:n], key_columns=self.key_columns[:n]
        )


def joined_schema(collection: Collection, schemas: Sequence[Schema]) -> Schema:
    """Return the schema of a collection: the focal columns, then all columns by tags (``2:age``).

    Its ``parts`` are the schemas of the datasets; the engine's names for columns have tags, too.
    """
    parts = tuple(
        replace(
            schema,
            columns=tuple(replace(c, source_name=tagged(i, c.source_name)) for c in schema.columns),
        )
        for i, schema in enumerate(schemas[: collection.n_known_datasets], 1)
    )
    columns = list(parts[0].columns)
    for i, part in enumerate(parts, 1):
        columns += [replace(c, name=tagged(i, c.name)) for c in part.columns]
    return Schema(collection.name, tuple(columns), parts, any(part.doubtful for part in parts))


def tagged(number: int, name: str) -> str:
    """Return the tagged name of a column of a dataset; an empty name means presence in it."""
    return f"{number}:{name}"


def plain_name(tagged_name: str) -> str:
    """Return a column's name without its tag: ``school`` for ``2:school``."""
    return tagged_name.partition(":")[2]


def tag_of(text: str, last: int) -> tuple[int, str] | None:
    """Return number and name of ``2:school``; None without a tag. Refuse a tag above ``last``."""
    match = re.fullmatch(r"\s*(\d+)\s*:(.*)", text, re.S)
    if not match:
        return None
    number = int(match[1])
    if not 1 <= number <= last:
        raise InputError(
            f"tag {number} is beyond the collection, which has {plural(last, 'dataset')}; "
            f"write 1 to {last}"
        )
    return number, match[2]


Source: TypeAlias = Tabular | Collection | Sequence[Tabular]
