"""The ledger of an office: the tables and microdata releases that were published of some people.

A ledger is the metadata file of an RO-Crate (JSON-LD), and beside it a Parquet file for each
statement: the cells of a table with what their counts may be, or the different cells of a release
with the number of its records. It has counts, and no records. Digests tell files that have changed.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlglot import exp

from qifsql.commands.tables.microdata_releases import CountedRelease, ReleaseFile
from qifsql.commands.tables.published import PublishedTable
from qifsql.commands.tables.table_release import Release
from qifsql.data.dataset import Dataset
from qifsql.data.files import parsed_json
from qifsql.data.readers import relation
from qifsql.engine.catalog import Catalog
from qifsql.engine.tables import Tables
from qifsql.errors import DatasetError, InputError, OutputError, plural
from qifsql.query.plan import as_plan
from qifsql.query.protections import parse
from qifsql.query.splice import splice
from qifsql.query.suppression import STAR
from qifsql.results.storage import Origin, atomic_file

CONTEXT = "https://w3id.org/ro/crate/1.2/context"
PROFILE = "https://w3id.org/ro/crate/1.2"
METADATA = "ro-crate-metadata.json"  # the name of a ledger whose folder is an RO-Crate
TERMS = {
    "@id": "#terms",
    "@type": "CreativeWork",
    "name": "Terms of each statement",
    "description": "The ledger grants no licence. Each statement was published under terms of its "
    "own, which the ledger does not have.",
}
"""The licence, which an RO-Crate must name."""
PARQUET = "application/vnd.apache.parquet"
LARGEST = 10_000_000  # bytes of a metadata file
PEOPLE = "people"
AMOUNTS = ("published", "lower", "upper", "hidden")
STATEMENT = re.compile(r"statement-[0-9a-f]{16}\.parquet")


@dataclass(frozen=True)
class Entry:
    """A statement of a ledger: its title and columns, the protection of a table, its file."""

    title: str
    kind: str  # ``table`` or ``release``
    columns: tuple[str, ...]
    protection: str
    added: str
    file: str
    sha256: str


@dataclass(frozen=True)
class Ledger:
    """A ledger: its file, the number of people, and its statements in their order."""

    path: Path
    people: int | None = None
    entries: tuple[Entry, ...] = ()

    @classmethod
    def read(cls, path: Path, *, new: bool) -> "Ledger":
        """Return the ledger in a file, with all digests checked; ``new``: it may not be there."""
        if new and not path.exists():
            if not path.parent.is_dir():
                raise OutputError(f"{path} cannot be made: there is no {path.parent}")
            return cls(path)
        try:
            if path.stat().st_size > LARGEST:
                raise DatasetError(f"{path} is too large for a ledger; name another file")
            graph = {node["@id"]: node for node in parsed_json(path.read_bytes())["@graph"]}
            root = graph["./"]
            people = int(_property(graph, root, "people"))
            entries = tuple(_entry(graph, graph[part["@id"]]) for part in root["hasPart"])
        except FileNotFoundError as e:
            raise DatasetError(f"{path} does not exist; --add starts a ledger") from e
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as e:
            raise DatasetError(
                f"{path} is no ledger of published tables; name another file, or a new one"
            ) from e
        ledger = cls(path, people, entries)
        for entry in entries:
            ledger.check(entry)
        return ledger

    def file(self, entry: Entry) -> Path:
        """Return the path of a statement, which is beside the ledger."""
        return self.path.parent / entry.file

    def check(self, entry: Entry) -> None:
        """Refuse a statement whose file lacks, is a link, or has changed since it was added."""
        path = self.file(entry)
        if path.is_symlink() or not path.is_file():
            raise DatasetError(
                f"{entry.file}, a statement of {self.path}, is not there; restore it"
            )
        if _digest(path) != entry.sha256:
            raise DatasetError(
                f"{entry.file} has changed since it was added to {self.path}; restore it"
            )

    def dataset(self, entry: Entry) -> Dataset:
        """Return the file of a statement."""
        return Dataset.open(self.file(entry))

    @property
    def datasets(self) -> list[Dataset]:
        """Return the files of all statements."""
        return [self.dataset(entry) for entry in self.entries]

    @property
    def releases(self) -> list[ReleaseFile]:
        """Return the microdata releases."""
        return [
            ReleaseFile(self.dataset(entry), entry.columns, title=entry.title, is_counted=True)
            for entry in self.entries
            if entry.kind == "release"
        ]

    def read_tables(self, tables: Tables) -> list[PublishedTable]:
        """Read the published tables into tables of the engine."""
        published = []
        for i, entry in enumerate(self.entries, 1):
            dataset, is_table = self.dataset(entry), entry.kind == "table"
            column = "value" if is_table else "cell"
            values = [f"{column}_{k}" for k, _ in enumerate(entry.columns, 1)]
            schema = Catalog(tables.engine, dataset).schema
            if [c.name for c in schema.columns] != [*values, *(AMOUNTS if is_table else [PEOPLE])]:
                raise DatasetError(f"{entry.file} has other columns than {self.path} says")
            if not is_table:
                continue
            lines = exp.select(*map(exp.column, values), "NULL::BIGINT AS line", *AMOUNTS)
            query = lines.from_(relation(dataset))
            tables.make(f"ledger_{i}", query, "reading the ledger")
            protection = parse(entry.protection)
            published.append(
                PublishedTable(
                    entry.title, entry.columns, protection, f"ledger_{i}", in_ledger=True
                )
            )
        return published

    def add(self, release: Release, origin: Origin) -> str:
        """Add the new statements of a release that was attacked; return a note on how many.

        Statements whose files are equal to one of the ledger are not added again.
        """
        if self.people not in (None, release.domain.people):
            raise InputError(
                f"{self.path} is about {plural(self.people or 0, 'person')}, and this is about "
                f"{release.domain.people:,}: a ledger has what was published of the same people"
            )
        now = datetime.now(UTC).replace(microsecond=0).isoformat()
        digests = {entry.sha256 for entry in self.entries}
        entries = list(self.entries)
        for title, kind, columns, protection, query in _new_statements(release):
            scratch = release.tables.engine.scratch / "statement.parquet"
            release.tables.engine.copy(
                as_plan(query), scratch, what="adding to the ledger", where=title
            )
            digest = _digest(scratch)
            name = f"statement-{digest[:16]}.parquet"
            if digest not in digests:
                with atomic_file(self.path.parent / name, origin) as temporary:
                    shutil.copyfile(scratch, temporary)
                entries.append(Entry(title, kind, columns, protection, now, name, digest))
                digests.add(digest)
            scratch.unlink()
        ledger = replace(self, people=release.domain.people, entries=tuple(entries))
        with atomic_file(self.path, origin) as temporary:
            temporary.write_text(json.dumps(ledger.metadata(now), indent=2) + "\n", "utf-8")
        added = plural(len(entries) - len(self.entries), "statement")
        return f"{added} added to {self.path}, which has {len(entries):,} now"

    def metadata(self, now: str) -> dict[str, Any]:
        """Return the ledger as an RO-Crate: what was published when, with digests and columns.

        As RO-Crate 1.2 asks, entities are one flat list and name one another by ``@id``.
        """
        root: dict[str, Any] = {
            "@id": "./",
            "@type": "Dataset",
            "name": "Ledger of published statements",
            "description": "Tables of counts and microdata releases, counted by their cells, that "
            "were published of the same people.",
            "datePublished": now,
            "license": {"@id": TERMS["@id"]},
            "hasPart": [{"@id": entry.file} for entry in self.entries],
        }
        parts: list[dict[str, Any]] = [
            {
                "@id": entry.file,
                "@type": "File",
                "name": entry.title,
                "encodingFormat": PARQUET,
                "sdDatePublished": entry.added,
                "sha256": entry.sha256,
                "variableMeasured": list(entry.columns),
            }
            for entry in self.entries
        ]
        named: list[dict[str, object]] = [{"people": self.people}]
        named += [{"kind": entry.kind, "protection": entry.protection} for entry in self.entries]
        values: list[dict[str, Any]] = []
        for entity, properties in zip([root, *parts], named, strict=True):
            ids = [f"#{name}-{entity['@id']}".removesuffix("-./") for name in properties]
            entity["additionalProperty"] = [{"@id": text} for text in ids]
            values += [
                {"@id": text, "@type": "PropertyValue", "propertyID": name, "name": name}
                | {"value": value}
                for text, (name, value) in zip(ids, properties.items(), strict=True)
            ]
        about = {
            "@id": METADATA,
            "@type": "CreativeWork",
            "conformsTo": {"@id": PROFILE},
            "about": {"@id": "./"},
        }
        return {"@context": CONTEXT, "@graph": [about, root, *parts, *values, TERMS]}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _property(graph: Mapping[str, Any], node: Mapping[str, Any], name: str) -> Any:
    values = (graph[reference["@id"]] for reference in node["additionalProperty"])
    return next(value["value"] for value in values if value["propertyID"] == name)


def _entry(graph: Mapping[str, Any], node: Mapping[str, Any]) -> Entry:
    """Return a statement; ValueError if a file is not named as a ledger names it."""
    kind, file, digest = _property(graph, node, "kind"), node["@id"], node["sha256"]
    if kind not in ("table", "release") or not STATEMENT.fullmatch(file):
        raise ValueError(kind)
    columns = tuple(map(str, node["variableMeasured"]))
    protection, added = str(_property(graph, node, "protection")), str(node["sdDatePublished"])
    return Entry(str(node["name"]), kind, columns, protection, added, file, str(digest))


def _new_statements(
    release: Release,
) -> list[tuple[str, str, tuple[str, ...], str, exp.Select]]:
    """Return the title, kind, columns, protection and cells (SQL) of each new statement."""
    statements = []
    for table in release.new_tables:
        edge = sorted(table.edge)
        query = splice("tables/ledger_cells", tables={"cells": table.cells}, shape={"edge": edge})
        names = tuple(release.domain.names[i] for i in edge)
        text = table.protection.text
        statements.append((table.title, "table", names, text, query))
    for counted in (c for c in release.counted if not c.in_ledger):
        names = tuple(column.name for column in counted.columns)
        statements.append((counted.title, "release", names, "exact", _classes(counted)))
    return statements


def _classes(counted: CountedRelease) -> exp.Select:
    """Return SQL for the different cells of a release together, as texts, and their records."""
    cells: list[exp.Expr] = []
    for j, _ in enumerate(counted.columns, 1):
        text = exp.cast(exp.column(f"cell_{j}"), "VARCHAR")
        masked = exp.case().when("suppressed", exp.Literal.string(STAR)).else_(text.copy())
        cells.append((masked if j in counted.hidden else text).as_(f"cell_{j}"))
    query = exp.select(*cells, "sum(people)::BIGINT AS people").from_(counted.name)
    query.set("group", exp.Group(all=True))
    return query.order_by(*(exp.column(cell.alias) for cell in cells))
