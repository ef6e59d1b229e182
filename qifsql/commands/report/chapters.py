"""The second page of a report, and its annexes up to the method."""

from collections.abc import Mapping, Sequence

import polars as pl

from qifsql.commands.check import view as verdicts
from qifsql.commands.describe import view as described
from qifsql.commands.report.sharing import Reader
from qifsql.commands.report.summary import shown_by_others
from qifsql.presentation import escaping, people_charts, words
from qifsql.presentation.language import counted, counting, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Section, Table
from qifsql.presentation.table_columns import table_of_frame
from qifsql.results import uncovered
from qifsql.results.kinds import kind_of, view_of
from qifsql.results.stored import Stored

MOST_ROWS = 20  # rows that are shown of a result without a view
MOST_GROUPS = 5  # groups on the second page
MOST_QUESTIONS = 4  # questions about them
ADDED = {"groups": "groups_of_people", "suspicion": "value_chances", "first": "remedies"}
"""Chapters to which the views of results add parts, each with the name of a view's function."""
TITLES = {
    "groups": "Groups of people",
    "suspicion": "Harm without certainty",
    "first": "Which columns to drop or coarsen",
}


def second_page(results: Sequence[Stored], texts: Sequence[str]) -> Section:
    """Return the second page: who carries the risk, and sentences on all other results."""
    parts = [part for stored in results for part in _groups(stored)]
    title = said("Who carries the risk") if parts else said("What else was measured")
    if texts:
        parts += [Heading(said("What else was measured"))] if parts else []
        parts += [Paragraph(text) for text in texts]
    return Section("carriers", title, parts)


def _groups(stored: Stored) -> list[Part]:
    """Return a table of the groups with the highest risk, and a sentence on each question's gap.

    Empty if the result is no attack on everybody by groups. All shares are on one scale.
    """
    table, frame = stored.details.get("groups"), stored.frame
    if stored.kind != "attack" or table is None or frame.is_empty() or "target" in frame.columns:
        return []
    frame = people_charts.chances(frame)
    questions = frame.filter(pl.col("datasets") == pl.col("datasets").max()).head(MOST_QUESTIONS)
    rows = questions.select("attack_id", "qids").join(table, on="attack_id", maintain_order="left")
    rows = rows.filter(pl.col("posterior_probabilistic").is_not_null())  # NULL: a hidden group
    if rows.is_empty():
        return []
    scale = words.scale(*rows["posterior_probabilistic"].to_list())
    by, qids = str(rows["by"][0]), words.listed(rows["qids"][0].to_list())
    goals = {row["attack_id"]: words.goal(row) for row in questions.iter_rows(named=True)}
    message = "People for whom a guess is right, by {by}, if someone knows their {qids}:"
    parts: list[Part] = [
        Paragraph(said(message, by=by, qids=qids)),
        _sheet_of_groups(rows, by, goals, scale),
    ]
    if (more := rows["group"].n_unique() - MOST_GROUPS) > 0:
        singular = "and {n} more group, which is in the annex"
        plural = "and {n} more groups, which are in the annex"
        parts.append(Paragraph(counted(singular, plural, more)))
    for (attack,), attack_rows in rows.group_by("attack_id", maintain_order=True):
        parts.append(Paragraph(f"{goals[attack]}: {_gap(attack_rows, scale)}"))
    return parts


def _sheet_of_groups(rows: pl.DataFrame, by: str, goals: Mapping[str, str], scale: int) -> Table:
    """Return a row per group: its people and the share of right guesses for each question.

    ``rows`` has one per question and group; ``goals`` are the titles of questions. The groups with
    the highest share come first.
    """
    sheet = Table.of([by, said("people"), *goals.values()], range(1, len(goals) + 2))
    groups = rows.group_by("group", maintain_order=True).agg(
        pl.col("individuals").first(), chance=pl.col("posterior_probabilistic").max()
    )
    groups = groups.sort("chance", descending=True, maintain_order=True)
    columns = ("attack_id", "group", "posterior_probabilistic")
    texts = {(a, group): words.share(p, scale) for a, group, p in rows.select(columns).rows()}
    for group, n in groups.head(MOST_GROUPS).select("group", "individuals").rows():
        shares = [texts.get((attack, group), "") for attack in goals]
        sheet.add_row(escaping.cell(group), words.count(n), *shares)
    return sheet


def _gap(rows: pl.DataFrame, scale: int) -> str:
    """Return a sentence on the highest and the lowest risk of groups (rows), as n of ``scale``."""
    ordered = rows.sort("posterior_probabilistic", maintain_order=True).to_dicts()
    lowest, highest = ordered[0], ordered[-1]
    low, high = (row["posterior_probabilistic"] for row in (lowest, highest))
    if low == high:
        return said("all groups that are shown have the same risk.")
    return said(
        "of the groups that are shown, {high} has the highest risk ({most}) and {low} the lowest "
        "({least}), a difference of {points}.",
        high=escaping.cell(highest["group"]),
        low=escaping.cell(lowest["group"]),
        most=words.share(high, scale),
        least=words.share(low, scale),
        points=words.difference(high - low),
    )


def datasets_annex(results: Sequence[Stored]) -> Section:
    """Return the annex on each dataset: files, records, roles of columns, and a description."""
    parts: list[Part] = []
    for name in dict.fromkeys(str(s.spec["dataset"]) for s in results if s.spec.get("dataset")):
        dataset_results = [s for s in results if s.spec.get("dataset") == name]
        parts += [Heading(name), dataset_card(dataset_results)]
        checks = [s for s in dataset_results if s.kind == "check" and s.columns is not None]
        for check in checks:
            head = said("Columns, for {policy}", policy=verdicts.policy_name(check.spec))
            table = uncovered.table(check.columns or (), check.details.get("uncovered"))
            parts += [Heading(head, 2), table]
        if not checks:  # the roles that columns have in any result
            by_dataset = uncovered.of_results(dataset_results)
            parts += [uncovered.table(columns, None) for columns in by_dataset.values()]
        for stored in (s for s in dataset_results if s.kind == "describe" and s.is_known):
            parts += described.parts(stored.frame, stored.details, stored.spec)
    return Section("released", said("What was released"), parts)


def dataset_card(results: Sequence[Stored]) -> Table:
    """Return the size of a dataset, the roles that results give its columns, and its files."""
    card = Table.of(["", ""])
    frames = [s.frame for s in results if s.frame.schema.get("records", pl.Null()).is_integer()]
    if not frames:
        frames = [s.details["uncovered"] for s in results if "uncovered" in s.details]
    for name, title in (("records", said("records")), ("people", said("people"))):
        columns = [frame[name].drop_nulls() for frame in frames if name in frame.columns]
        if any(column.len() for column in columns):
            card.add_row(title, words.count(max(n for column in columns for n in column)))
    nulls = {
        "distinct": said("one value, equal to each other"),
        "drop": said("records with one are left out"),
    }
    roles = {
        "qids": said("quasi-identifiers"),
        "secrets": said("secrets"),
        "key": said("key"),
        "person": said("person"),
        "weight": said("weight"),
        "where": said("only records where"),
        "null": said("missing values"),
    }
    for option, title in roles.items():
        texts: dict[str, None] = {}
        for stored in results:
            values = stored.spec.get(option) or ()
            for value in [values] if isinstance(values, str) else values:
                text = escaping.cell(value)
                texts[nulls.get(text, text) if option == "null" else text] = None
        if texts:
            card.add_row(title, ", ".join(texts))
    files = {str(f["path"]): f for s in results for f in s.manifest.get("inputs", ())}
    for path, file in files.items():
        size = counted("{n} byte", "{n} bytes", int(file["bytes"]))
        card.add_row(said("file"), f"{path}, {size}, SHA-256 {file['sha256']}")
    return card


def result_chapters(results: Sequence[Stored], reader: Reader) -> list[Section]:
    """Return a chapter for each result that no other chapter shows and the reader may see."""
    sections: list[Section] = []
    for i, stored in enumerate(results, 1):
        elsewhere = stored.is_known and shown_by_others(stored, results)
        if elsewhere or (stored.shows_people and not reader.private):
            continue
        title, parts = _chapter(stored)
        sections.append(Section(f"result-{i}", title, parts))
    return sections


def _chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and parts of a result by its view; its table if the view cannot draw it."""
    kind, view = kind_of(stored.kind), view_of(stored.kind)
    if kind is None or view is None or not stored.is_known:
        return _first_rows(stored)
    try:
        with counting(stored.spec):
            if hasattr(view, "chapter"):
                title, parts = view.chapter(stored)
            else:
                title = said(view.TITLE, name=stored.name)
                parts = view.parts(stored.frame, stored.details, stored.spec)
    except (LookupError, pl.exceptions.PolarsError):  # tables or columns are missing
        if kind.essential:
            raise
        return _first_rows(stored)
    return title, parts


def _first_rows(stored: Stored) -> tuple[str, list[Part]]:
    title = f"{stored.kind}: {stored.name}" if stored.kind else stored.name
    parts: list[Part] = [table_of_frame(stored.frame.head(MOST_ROWS))]
    if (more := stored.frame.height - MOST_ROWS) > 0:
        parts.append(Paragraph(counted("and {n} more row", "and {n} more rows", more)))
    return title, parts


def added_chapters(results: Sequence[Stored]) -> list[Section]:
    """Return the chapters ADDED, to which the views of results add parts, if there are some."""
    chapters = []
    for name, function in ADDED.items():
        parts: list[Part] = []
        for stored in results:
            if (add := getattr(view_of(stored.kind), function, None)) is not None:
                parts += add(stored)
        if parts:
            chapters.append(Section(name, said(TITLES[name]), parts))
    return chapters
