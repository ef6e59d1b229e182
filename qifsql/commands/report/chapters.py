"""The chapters of a report after its summary, up to the method."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import polars as pl

from qifsql.commands.check import view as verdicts
from qifsql.commands.describe import view as described
from qifsql.commands.report.sharing import Reader
from qifsql.presentation import escaping, listings, uncovered, words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Section, Table
from qifsql.results.kinds import kind_of, view_of
from qifsql.results.stored import Stored

ELSEWHERE = ("describe", "run")  # shown with the dataset; a study's attacks are results, too
SHOWN = 20  # blocks or records that are shown of a result about people


def released(results: Sequence[Stored]) -> Section:
    """Return the card of each dataset: files, records, roles of columns.

    Its columns where described.
    """
    parts: list[Part] = []
    for name in dict.fromkeys(str(s.spec["dataset"]) for s in results if s.spec.get("dataset")):
        dataset_results = [s for s in results if s.spec.get("dataset") == name]
        parts += [Heading(name), _card(dataset_results)]
        parts += _columns(dataset_results)
        for stored in (s for s in dataset_results if s.kind == "describe" and s.is_known):
            parts += described.parts(stored.frame, stored.details, stored.spec)
    return Section("released", said("What was released"), parts)


def _columns(results: Sequence[Stored]) -> list[Part]:
    """Return all columns of a dataset with their roles: in each check, or in all other results."""
    checks = [s for s in results if s.kind == "check" and s.columns is not None]
    if checks:
        return [
            part
            for check in checks
            for part in (
                Heading(said("Columns, for {policy}", policy=verdicts.policy(check.spec)), 2),
                uncovered.table(check.columns or (), check.details.get("uncovered")),
            )
        ]
    return [uncovered.table(columns, None) for columns in uncovered.of_results(results).values()]


def _card(results: Sequence[Stored]) -> Table:
    card = Table.of(["", ""])
    records = [s.frame["records"].max() for s in results if "records" in s.frame.columns]
    if records:
        most: Any = max(r for r in records if r is not None)
        card.add_row(said("records"), words.count(most))
    nulls = {
        "distinct": said("one value, equal to each other"),
        "drop": said("records with one are left out"),
    }
    roles = {
        said("quasi-identifiers"): _named(results, "qids"),
        said("secrets"): _named(results, "secrets"),
        said("key"): _named(results, "key"),
        said("weight"): _named(results, "weight"),
        said("only records where"): _named(results, "where"),
        said("missing values"): [nulls.get(rule, rule) for rule in _named(results, "null")],
    }
    for role, names in roles.items():
        if names:
            card.add_row(role, ", ".join(names))
    files = {str(f["path"]): f for s in results for f in s.manifest.get("inputs", ())}
    for path, file in files.items():
        size = counted("{n} byte", "{n} bytes", int(file["bytes"]))
        card.add_row(said("file"), f"{path}, {size}, SHA-256 {file['sha256']}")
    return card


def _named(results: Sequence[Stored], key: str) -> list[str]:
    """Return what was said under a key of the specs, each once."""
    texts: dict[str, None] = {}
    for stored in results:
        values = stored.spec.get(key) or ()
        for value in [values] if isinstance(values, str) else values:
            texts[escaping.cell(value)] = None
    return list(texts)


def each(results: Sequence[Stored], reader: Reader) -> list[Section]:
    """Return a chapter for each result, by its kind; of unknown kinds the table."""
    sections: list[Section] = []
    for i, stored in enumerate(results, 1):
        elsewhere = stored.kind in ELSEWHERE and stored.is_known
        if elsewhere or (stored.shows_people and not reader.private):
            continue
        title, parts = _chapter(stored)
        sections.append(Section(f"result-{i}", title, parts))
    return sections


def _chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return a result as its room shows it; of other kinds, and where parts lack, the table."""
    kind, view = kind_of(stored.kind), view_of(stored.kind)
    if kind is None or view is None or not stored.is_known:
        return _table(stored)
    try:
        title, parts = _drawn(view, stored)
    except (LookupError, pl.exceptions.PolarsError):  # parts of it are not there
        if kind.essential:
            raise
        return _table(stored)
    return title, parts


def _drawn(view: ModuleType, stored: Stored) -> tuple[str, list[Part]]:
    """Return a result with the words of its room.

    Those of ``chapter``, else its parts under ``TITLE``.
    """
    if hasattr(view, "chapter"):
        title, parts = view.chapter(stored)
        return title, parts
    title = said(view.TITLE, name=stored.name)
    return title, view.parts(stored.frame, stored.details, stored.spec)


def _table(stored: Stored) -> tuple[str, list[Part]]:
    title = f"{stored.kind}: {stored.name}" if stored.kind else stored.name
    parts: list[Part] = [listings.frame(stored.frame.head(SHOWN))]
    if (more := stored.frame.height - SHOWN) > 0:
        parts.append(Paragraph(counted("and {n} more row", "and {n} more rows", more)))
    return title, parts


def carriers(results: Sequence[Stored]) -> Section | None:
    """Return who carries the risk: the groups of all attacks that have some."""
    parts = [part for stored in results for part in _further("carriers", stored)]
    return Section("groups", said("Who carries the risk"), parts) if parts else None


def remedies(results: Sequence[Stored]) -> Section | None:
    """Return what to do first: what dropping and coarsening each quasi-identifier buys."""
    parts = [part for stored in results for part in _further("remedies", stored)]
    return Section("first", said("What to do first"), parts) if parts else None


def _further(name: str, stored: Stored) -> list[Part]:
    """Return what the room of a result adds to another chapter."""
    add = getattr(view_of(stored.kind), name, None)
    parts: list[Part] = [] if add is None else add(stored)
    return parts
