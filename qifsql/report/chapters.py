"""The chapters of a report after its summary, up to the method."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import polars as pl

from qifsql.errors import InputError
from qifsql.report import (
    anonymised,
    attacks,
    cells,
    comparisons,
    compositions,
    details,
    estimates,
    figures,
    inferences,
    levels,
    linkages,
    listings,
    opinions,
    sweeps,
    tradeoffs,
    treatments,
    uncovered,
    verdicts,
    words,
)
from qifsql.report.charts import inference, links, noise, people, steps, subsets
from qifsql.report.charts.look import Chart, extra
from qifsql.report.language import counted, said
from qifsql.report.parts import Figure, Heading, Paragraph, Part, Section, Table, View
from qifsql.report.sharing import Reader
from qifsql.report.stored import Stored

NAMED = 6  # quasi-identifiers that are named in a title
ELSEWHERE = ("describe", "run")  # shown with the dataset; a study's attacks are results, too
SHOWN = 20  # blocks or records that are shown of a result about people
VIEWS: dict[str, View] = {
    "levels": partial(levels.levels, minimum=1),  # others get no values
    "anonymise": anonymised.anonymised,
    "compare": comparisons.comparison,
    "what-if": comparisons.what_if,
    "compose": compositions.composition,
    "link": linkages.linked,
    "unhash": linkages.unhashed,
    "unicity": linkages.unicity,
    "estimate": estimates.estimates,
    "dp": tradeoffs.tradeoff,
    "dit": inferences.inference,
    "wp29": opinions.answers,
}
"""What draws a result that a chapter shows as its command does."""
CHARTS: dict[str, Callable[[Stored], Chart]] = {
    "compare": lambda stored: figures.risk_utility(stored.frame),
    "what-if": lambda stored: figures.risk_utility(stored.frame),
    "dp": lambda stored: noise.tradeoff(stored.frame),
    "dit": lambda stored: inference.distribution(stored.details["distribution"]),
}


def released(results: Sequence[Stored]) -> Section:
    """The card of each dataset: files, records, roles of columns; its columns where described."""
    parts: list[Part] = []
    for name in dict.fromkeys(str(s.spec["dataset"]) for s in results if s.spec.get("dataset")):
        own = [s for s in results if s.spec.get("dataset") == name]
        parts += [Heading(name), _card(own)]
        parts += _columns(own)
        for described in (s for s in own if s.kind == "describe" and s.is_known):
            parts += listings.description(described.frame, None)
    return Section("released", said("What was released"), parts)


def _columns(own: Sequence[Stored]) -> list[Part]:
    """All columns of a dataset with their roles: in each check, or in all other results."""
    checks = [s for s in own if s.kind == "check" and s.columns is not None]
    if checks:
        return [
            part
            for check in checks
            for part in (
                Heading(said("Columns, for {policy}", policy=verdicts.policy(check.spec)), 2),
                uncovered.table(check.columns or (), check.details.get("uncovered")),
            )
        ]
    return [uncovered.table(columns, None) for columns in uncovered.of_results(own).values()]


def _card(own: Sequence[Stored]) -> Table:
    card = Table.of(["", ""])
    records = [s.frame["records"].max() for s in own if "records" in s.frame.columns]
    if records:
        most: Any = max(r for r in records if r is not None)
        card.add_row(said("records"), words.count(most))
    roles = {
        said("quasi-identifiers"): _named(own, "qids"),
        said("secrets"): _named(own, "secrets"),
        said("key"): _named(own, "key"),
        said("weight"): _named(own, "weight"),
        said("only records where"): _named(own, "where"),
        said("missing values"): [_nulls().get(rule, rule) for rule in _named(own, "null")],
    }
    for role, names in roles.items():
        if names:
            card.add_row(role, ", ".join(names))
    files = {str(f["path"]): f for s in own for f in s.manifest.get("inputs", ())}
    for path, file in files.items():
        size = counted("{n} byte", "{n} bytes", int(file["bytes"]))
        card.add_row(said("file"), f"{path}, {size}, SHA-256 {file['sha256']}")
    return card


def _nulls() -> dict[str, str]:
    """What becomes of missing values."""
    return {
        "distinct": said("a value of their own"),
        "drop": said("records with one are left out"),
    }


def _named(own: Sequence[Stored], key: str) -> list[str]:
    """What was said under a key of the specs, each once."""
    found: dict[str, None] = {}
    for stored in own:
        values = stored.spec.get(key) or ()
        for value in [values] if isinstance(values, str) else values:
            found[cells.cell(value)] = None
    return list(found)


def each(results: Sequence[Stored], reader: Reader) -> list[Section]:
    """A chapter for each result, by its kind; of unknown kinds the table."""
    sections = []
    for i, stored in enumerate(results, 1):
        elsewhere = stored.kind in ELSEWHERE and stored.is_known
        if elsewhere or (stored.shows_people and not reader.private):
            continue
        title, parts = CHAPTERS.get(stored.kind, _viewed)(stored)
        sections.append(Section(f"result-{i}", title, parts))
    return sections


def _attack(stored: Stored) -> tuple[str, list[Part]]:
    if "knowledge" in stored.frame.columns:
        return _keyless(stored)
    rows = stored.frame.to_dicts()
    drawn = {"histogram", "thresholds"} if _can_draw() else set()  # what charts show
    tables = {n: t for n, t in stored.details.items() if n not in drawn | {"groups"}}
    parts = _drawn("success", partial(steps.steps, _chances(stored.frame), _releases(stored)))
    parts += attacks.attack(rows, tables)
    for name, chart in (("histogram", people.histograms), ("thresholds", people.thresholds)):
        table = figures.details(_chances(stored.frame), stored.details, name)
        if not table.is_empty():
            parts += _drawn(name, partial(chart, table))
    known: list[str] = max((row["qids"] for row in rows), key=len, default=[])
    told = said("Who knows {qids}", qids=words.listed(known)) if known else stored.name
    if len(known) > NAMED:
        told = counted("Who knows {n} fact", "Who knows {n} facts", len(known))
    return told, parts


def _keyless(stored: Stored) -> tuple[str, list[Part]]:
    told = said("Releases linked without a key: {name}", name=stored.name)
    table = stored.details.get("calibration")
    drawn = [] if table is None else _drawn("calibration", partial(links.calibration, table))
    return told, drawn + attacks.attack(stored.frame.to_dicts(), stored.details)


def _sweep(stored: Stored) -> tuple[str, list[Part]]:
    n = stored.frame["subset"].n_unique() if "subset" in stored.frame.columns else 0
    told = counted("{n} set of quasi-identifiers was tried.", "{n} sets were tried.", n)
    parts: list[Part] = [Paragraph(told)] if n else []
    if stored.frame.height and "posterior_probabilistic" in stored.frame.columns:
        parts += _drawn("success", partial(subsets.success, stored.frame))
    for row, own in sweeps.questions(stored.frame, stored.details):
        parts.append(Heading(words.goal(row)))
        parts += sweeps.answers(row, {k: t for k, t in own.items() if k in ("best", "releases")})
    if "histogram" in stored.details and "best" in stored.details:
        parts += _drawn("histograms", partial(people.histograms, figures.chosen(stored.details)))
    return said("Every adversary"), parts


def _check(stored: Stored) -> tuple[str, list[Part]]:
    parts: list[Part] = [verdicts.levels(stored.frame)]
    return said("Policy: {name}", name=verdicts.checked(stored.spec)), parts


def _treat(stored: Stored) -> tuple[str, list[Part]]:
    seed = stored.manifest.get("seed")
    parts = treatments.parts(stored.frame, stored.details, seed)
    return said("Treatment: {name}", name=stored.name), parts


def _viewed(stored: Stored) -> tuple[str, list[Part]]:
    """A result as its command shows it, with its chart; of other kinds the table."""
    kind = stored.kind
    titles = {
        "levels": said("What the blocks promise: {name}", name=stored.name),
        "anonymise": said("Anonymised: {name}", name=stored.name),
        "compare": said("Releases beside the original: {name}", name=stored.name),
        "what-if": said("What would help: {name}", name=stored.name),
        "compose": said("Releases together: {name}", name=stored.name),
        "link": said("Linked with a register: {name}", name=stored.name),
        "unhash": said("Hashes that were found again: {name}", name=stored.name),
        "unicity": said("A few records of a person: {name}", name=stored.name),
        "estimate": said("Unique in the population: {name}", name=stored.name),
        "dp": said("Noisy counts: {name}", name=stored.name),
        "dit": said("What guesses owe to the person: {name}", name=stored.name),
        "wp29": said("Singling out, linkability, inference: {name}", name=stored.name),
    }
    if kind not in VIEWS or not stored.is_known:
        return _table(stored)
    try:
        drawn = _drawn(kind, partial(CHARTS[kind], stored)) if kind in CHARTS else []
        return titles[kind], drawn + VIEWS[kind](stored.frame, stored.details, stored.spec)
    except (LookupError, pl.exceptions.PolarsError):  # parts of it are not there
        return _table(stored)


def _table(stored: Stored) -> tuple[str, list[Part]]:
    """A result as a table."""
    title = f"{stored.kind}: {stored.name}" if stored.kind else stored.name
    parts: list[Part] = [listings.frame(stored.frame.head(SHOWN))]
    if (more := stored.frame.height - SHOWN) > 0:
        parts.append(Paragraph(counted("and {n} more row", "and {n} more rows", more)))
    return title, parts


CHAPTERS: dict[str, Callable[[Stored], tuple[str, list[Part]]]] = {
    "attack": _attack,
    "sweep": _sweep,
    "check": _check,
    "treat": _treat,
}


def carriers(results: Sequence[Stored]) -> Section | None:
    """Who carries the risk: the groups of all attacks that have some."""
    parts: list[Part] = []
    for stored in results:
        if "groups" not in stored.details or stored.frame.is_empty():
            continue
        frame = _chances(stored.frame)
        table = figures.details(frame, stored.details, "groups")
        if not table.is_empty():
            charted = table.filter(pl.col("posterior_probabilistic").is_not_null())
            parts += _drawn("groups", partial(people.groups, charted))
        for row in frame.iter_rows(named=True):
            own = {"groups": stored.details["groups"]}
            parts += [Heading(words.heading(row)), *details.of_row(row, own)]
    return Section("groups", said("Who carries the risk"), parts) if parts else None


def remedies(results: Sequence[Stored]) -> Section | None:
    """What to do first: what dropping and coarsening each quasi-identifier buys."""
    wanted = ("drop_first", "shapley", "coarsen_first", "interactions", "borders")
    parts: list[Part] = []
    for stored in (s for s in results if s.kind == "sweep"):
        tables = {k: t for k, t in stored.details.items() if k in wanted}
        if not tables:
            continue
        if "shapley" in tables and tables["shapley"].height:
            parts += _drawn("shapley", partial(subsets.shapley, tables["shapley"]))
        for row, own in sweeps.questions(stored.frame, tables):
            parts += [Heading(words.goal(row)), *sweeps.answers(row, own)]
    return Section("first", said("What to do first"), parts) if parts else None


def _chances(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows about the chance to be right at the best guess."""
    if "gain" not in frame.columns:
        return frame
    return frame.filter(pl.col("gain").fill_null("identity") == "identity")


def _releases(stored: Stored) -> list[str]:
    return list((stored.spec.get("collection") or {}).get("datasets", ()))


def _can_draw() -> bool:
    try:
        extra()
    except InputError:
        return False
    return True


def _drawn(name: str, draw: Callable[[], Chart]) -> list[Part]:
    """A chart, where the extra that draws it is there and there is something to draw."""
    if not _can_draw():
        return []
    try:
        return [Figure(name, draw())]
    except InputError:  # nothing to draw
        return []
