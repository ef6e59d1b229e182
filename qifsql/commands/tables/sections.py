"""Sections about published tables: checks of offices, harm by table, groups, remedies."""

import re
from collections.abc import Callable, Sequence

import polars as pl

from qifsql.commands.tables import charts
from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table
from qifsql.presentation.table_columns import Column, fault, number, percent, tabulate, text

COMPONENTS_SHOWN = 10
ROUNDING = 1e-9  # shares that differ by less are equal
PROOFS = ("reconstructed", "certain_inference", "singled_out")

PROTECTIONS = {
    r"exact": "exact counts",
    r"suppress<(\d+)": "counts below {n} are hidden",
    r"suppress<(\d+) zeros": "counts below {n} are hidden, zeros too",
    r"round:(\d+)": "rounded to multiples of {n}",
    r"round:(\d+) random": "rounded at random to multiples of {n}",
    r"round:(\d+) positive": "rounded to multiples of {n}, but only 0 to 0",
    r"round:(\d+) random positive": "rounded at random to multiples of {n}, but only 0 to 0",
    r"noise:(\d+)": "noise: at most {n} off",
    r"atleast:(\d+)": 'counts from {n} on are told as "{n} or more"',
    r"partial:(\d+)": "up to {n} more may be in any cell",
}
"""The words for a protection, by its text."""
REMEDIES = {
    r"leave out (?P<name>.*)": "leave out {name}",
    r"hide counts below (?P<n>\d+) in (?P<name>.*)": "hide counts below {n} in {name}",
    r"round to (?P<n>\d+) in (?P<name>.*)": "round to multiples of {n} in {name}",
    r"make (?P<name>.*) coarser: (?P<change>.*)": "make {name} coarser: {change}",
}
"""The words for a remedy, by its text."""


def _people_at_least(line: Row) -> str:
    return said("at least {n}", n=words.count(line["people"]))


def _proved_columns(row: Row) -> list[Column]:
    """Return the columns of people of whom something is proved, for a question."""
    columns = [
        (said("reconstructed"), number("reconstructed")),
        (said("singled out"), number("singled_out")),
    ]
    if row["secret"] is not None:
        columns.append((said("secret certain"), number("certain_inference")))
    return columns


DrawLines = Callable[[Sequence[Row], Row], list[Part]]
"""Draw the lines of a question."""


def _by_question(
    title: str, detail: pl.DataFrame, rows: Sequence[Row], draw: DrawLines
) -> list[Part]:
    """Return a heading, and for each question (a row) what ``draw`` makes of its lines."""
    content: list[Part] = []
    for row in rows:
        lines = detail.filter(pl.col("secret").eq_missing(row["secret"])).to_dicts()
        if lines and (parts := draw(lines, row)):
            heading = [Heading(goal(row), 2)] if len(rows) > 1 else []
            content += [*heading, *parts]
    return [Heading(title), *content] if content else []


def goal(row: Row) -> str:
    """Return what the adversary is after."""
    if row["secret"] is None:
        return said("Re-identification")
    return said("Inference of {secret}", secret=row["secret"])


# The checks of an office.


def _checks(detail: pl.DataFrame, rows: Sequence[Row], spec: Spec) -> list[Part]:
    """Return a table, a line per published table: its counts that are hidden, undone and small."""
    columns: list[Column] = [
        (said("table"), text("table")),
        (said("protection"), lambda line: protection_in_words(line["protection"])),
        (said("cells"), number("cells")),
        (said("hidden"), number("hidden")),
        (said("of these undone"), fault("undone")),
        (said("below {n}", n=words.count(spec["small"])), number("small")),
        (said("ones"), number("ones")),
        (said("twos"), number("twos")),
    ]
    table = tabulate(detail.iter_rows(named=True), columns, texts=(0, 1))
    sentence = suppression(detail, rows[0])
    paragraphs = [Paragraph(sentence)] if sentence else []
    return [Heading(said("Checks of each table")), table, *paragraphs]


def suppression(detail: pl.DataFrame, row: Row) -> str:
    """Return a sentence on the hidden counts of ``CHECKS`` that follow; empty if none is hidden."""
    hidden, undone = int(detail["hidden"].sum()), int(detail["undone"].sum())
    if not hidden:
        return ""
    message = "Of {hidden} hidden counts none is proved, but some may follow from the tables."
    if row["sharp"]:  # no more than is proved can follow
        message = "No hidden count of {hidden} follows exactly from these tables."
    if undone:
        message = (
            "Suppression undone: of {hidden} hidden counts, {n} follow exactly from the tables."
        )
    n = words.proved(undone, sharp=row["sharp"])
    return said(message, hidden=words.count(hidden), n=n)


def protection_in_words(text: str) -> str:
    """Return a protection, such as ``suppress<5``, in words; another text as it is."""
    before, plus, last = text.rpartition("+")
    if plus:
        first, second = protection_in_words(before), protection_in_words(last)
        return said("{first}, then {second}", first=first, second=second)
    pattern = next((pattern for pattern in PROTECTIONS if re.fullmatch(pattern, text)), None)
    if pattern is None:
        return text
    n = "".join(filter(str.isdigit, text))
    return said(PROTECTIONS[pattern], n=words.count(int(n)) if n else "")


def _disclosure(detail: pl.DataFrame, _rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return a table of rows in which everybody has one value of a dimension (``DISCLOSURE``)."""
    heading = Heading(said("Rows with one value (group disclosure)"))
    lines = [line for line in detail.iter_rows(named=True) if line["rows"]]
    if not lines:
        message = (
            "In no row of a table does everybody have the same value of a dimension. Each table "
            "was looked at alone."
        )
        return [heading, Paragraph(said(message))]
    message = (
        "In these rows everybody has the same value of one dimension. Someone who knows the others "
        "of a person knows that one, too."
    )
    columns = [
        (said("table"), text("table")),
        (said("the same for all"), text("dimension")),
        (said("rows"), number("rows")),
        (said("people in them"), _people_at_least),
    ]
    return [heading, Paragraph(said(message)), tabulate(lines, columns, texts=(0, 1))]


def _overlaps(detail: pl.DataFrame, _rows: Sequence[Row], spec: Spec) -> list[Part]:
    """Return a table of the small combinations that pairs of tables prove (``OVERLAPS``)."""
    heading = Heading(said("Small counts that follow from two tables (differencing)"))
    lines = [line for line in detail.iter_rows(named=True) if line["cells"]]
    small = words.count(spec["small"])
    if not lines:
        message = (
            "No two tables together prove that a combination of their dimensions holds somebody, "
            "but fewer than {n} people."
        )
        return [heading, Paragraph(said(message, n=small))]
    message = "These combinations are proved to hold somebody, but fewer than {n} people."
    columns: list[Column] = [
        (said("tables"), lambda line: words.listed([escaping.cell(t) for t in line["tables"]])),
        (said("dimensions"), lambda line: words.listed(line["dimensions"])),
        (said("combinations"), number("cells")),
        (said("people in them"), _people_at_least),
    ]
    return [heading, Paragraph(said(message, n=small)), tabulate(lines, columns, texts=(0, 1))]


def _magnitudes(detail: pl.DataFrame, _rows: Sequence[Row], spec: Spec) -> list[Part]:
    """Return a table: how many cells of each table of sums fail the rules of an office."""
    columns = [
        (said("table"), text("table")),
        (said("contributors"), number("contributors")),
        (said("cells"), number("cells")),
        (said("one or two contributors"), number("one_or_two")),
        (said("fewer than {n}", n=words.count(spec["small"])), number("small")),
        (said("dominated"), number("dominated")),
        (said("p % rule fails"), number("p_percent")),
        (said("fail"), fault("failing")),
    ]
    message = (
        "A cell fails if too few contribute to it, if a few contribute nearly all of it "
        "(dominance), or if the second largest contributor can estimate the largest (p % rule)."
    )
    table = tabulate(detail.iter_rows(named=True), columns)
    return [Heading(said("Tables of sums")), table, Paragraph(said(message))]


def _hidden_sums(detail: pl.DataFrame, _rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return a table: what the totals tell of the sums that fail a rule, if these are hidden."""
    columns = [
        (said("table"), text("table")),
        (said("hidden"), number("hidden")),
        (said("undone"), fault("undone")),
        (said("exposed"), fault("exposed")),
        (said("unions"), number("unions")),
        (said("unions that fail"), fault("failing_unions")),
    ]
    message = (
        "If the failing cells are hidden, and all other cells and totals are printed: a sum is "
        "undone if it follows from the totals, and exposed if it fails dominance or the p % rule "
        "even where it is as large as the totals allow. The hidden cells of a line are a union "
        "whose sum follows."
    )
    table = tabulate(detail.iter_rows(named=True), columns)
    return [Heading(said("Hidden sums")), table, Paragraph(said(message))]


# Where the harm is.


def _progress(frame: pl.DataFrame, rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return what is proved and guessed with the first table, the first two, and so on."""
    if frame.height == len(rows):  # all tables together are the one set
        return []

    def last_title(line: Row) -> str:
        last = escaping.cell(line["tables"][-1])
        return last if len(line["tables"]) == 1 else said("and {release}", release=last)

    def draw(lines: Sequence[Row], row: Row) -> list[Part]:
        table = _proved_and_guessed(said("tables"), last_title, lines, row)
        return [table, *map(Paragraph, _added_sentences(lines, row, first=row is rows[0]))]

    return _by_question(said("What each table adds"), frame, rows, draw)


def _added_sentences(lines: Sequence[Row], row: Row, *, first: bool) -> list[str]:
    """Return for each kind of proof a sentence on the table that adds most people.

    A line of a question has the tables of the line before and one more. All questions reconstruct
    the same people, so that only the ``first`` has a sentence on them.
    """
    before: list[Row] = [dict.fromkeys(PROOFS, 0), *lines]
    texts = []
    for name in PROOFS if first else PROOFS[1:]:
        added = [line[name] - last[name] for last, line in zip(before, lines, strict=False)]
        if max(added) > 0:
            table = escaping.cell(lines[added.index(max(added))]["tables"][-1])
            message = "In this order, {table} adds most: {what}, {n} more."
            n = words.count(max(added))
            texts.append(said(message, table=table, what=_proved_in_words(name, row), n=n))
    if not any(line[name] for line in lines for name in PROOFS):
        texts.append(said("None of these sets of tables proves anything."))
    return texts


def _without(detail: pl.DataFrame, rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return what is proved and guessed without one table, a line for each that is left out."""

    def name(line: Row) -> str:  # the first line is about all tables
        return escaping.cell(line["without"]) if "without" in line else said("(none)")

    def draw(lines: Sequence[Row], row: Row) -> list[Part]:
        table = _proved_and_guessed(said("left out"), name, [row, *lines], row)
        paragraphs = _saved_sentences(lines, row, first=row is rows[0])
        harmless = [
            name(line)
            for line in lines
            if all(abs(line[m] - row[m]) < ROUNDING for m in (*PROOFS, "lowest", "highest"))
        ]
        if harmless and row["sharp"]:  # else more may be proved than the bounds tell
            message = "The other tables prove as much without {tables}, each left out alone."
            paragraphs.append(said(message, tables=words.listed(harmless)))
        return [table, *map(Paragraph, paragraphs)]

    return _by_question(said("Without one table"), detail, rows, draw)


def _alone(detail: pl.DataFrame, rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return what is proved and guessed with one table alone, a line for each."""

    def name(line: Row) -> str:  # the first line is about all tables
        return escaping.cell(line["alone"]) if "alone" in line else said("(all)")

    def draw(lines: Sequence[Row], row: Row) -> list[Part]:
        return [_proved_and_guessed(said("alone"), name, [row, *lines], row)]

    return _by_question(said("One table alone"), detail, rows, draw)


def _saved_sentences(lines: Sequence[Row], row: Row, *, first: bool) -> list[str]:
    """Return for each kind of proof a sentence: without which table fewest people are proved."""
    texts = []
    for name in PROOFS if first else PROOFS[1:]:  # all questions reconstruct the same people
        saved = [row[name] - line[name] for line in lines]
        if max(saved) > 0:
            message = "Without {table}, fewer are proved: {what}, {after} instead of {before}."
            line = lines[saved.index(max(saved))]
            values = {"table": escaping.cell(line["without"]), "what": _proved_in_words(name, row)}
            after, before = words.count(line[name]), words.count(row[name])
            texts.append(said(message, **values, after=after, before=before))
    if not texts and any(row[name] for name in PROOFS):
        texts.append(said("Leaving out a single table does not reduce what is proved."))
    return texts


def _proved_and_guessed(
    head: str, name: Callable[[Row], str], lines: Sequence[Row], row: Row
) -> Table:
    """Return a table of what is proved and guessed: a line per set of tables.

    The first column has the title ``head`` and what ``name`` calls the set of a line; ``row`` is
    that of the question.
    """
    columns = [(head, name), *_proved_columns(row)]
    columns.append((said("best guess, expected"), percent("believed")))
    if any(line["actual"] is not None for line in lines):
        columns.append((said("in fact"), percent("actual")))
    columns.append((said("with records, at least"), percent("lowest")))
    return tabulate(lines, [*columns, (said("at most"), percent("highest"))])


def _proved_in_words(name: str, row: Row) -> str:
    """Return the words for the people of a kind of proof, one of ``PROOFS``."""
    if name == "reconstructed":
        return said("reconstructed people")
    if name == "singled_out":
        return said("people who are singled out")
    return said("people whose {secret} is certain", secret=row["secret"])


def _groups(detail: pl.DataFrame, rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return a table per question: what is proved of each group of people (``GROUPS``)."""

    def draw(lines: Sequence[Row], row: Row) -> list[Part]:  # the groups of a question, its row
        group = escaping.cell(lines[0]["by"])
        columns = [(group, text("group")), (said("people"), number("people"))]
        columns += _proved_columns(row)
        if row["secret"] is not None:
            columns.append((said("guessed right"), percent("actual")))
        return [tabulate(lines, columns)]

    return _by_question(said("Groups of people"), detail, rows, draw)


def _components(detail: pl.DataFrame, rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return a table per question of the components in which most people are proved."""

    def draw(lines: Sequence[Row], row: Row) -> list[Part]:  # the components of a question, its row
        lines = [line for line in lines if any(line[name] for name in PROOFS)][:COMPONENTS_SHOWN]
        columns = [(said("component"), text("component")), (said("people"), number("people"))]
        columns += _proved_columns(row)
        columns.append((said("best guess with records, at least"), percent("lowest")))
        columns.append((said("at most"), percent("highest")))
        return [tabulate(lines, columns)] if lines else []

    return _by_question(said("Where most people are proved"), detail, rows, draw)


def _cells(detail: pl.DataFrame, _rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return a table of the combinations of one component with their bounds (``CELLS``)."""
    first = detail.row(0, named=True)
    columns: list[Column] = [  # those of ``row``, one per dimension, then the column and bounds
        (name, lambda line, k=k: escaping.cell(line["row"][k]))  # type: ignore[misc]
        for k, name in enumerate(first["row_dimensions"])
    ]
    texts = range(len(columns) + 1)
    columns.append((first["column_dimension"], text("column")))
    columns += [(said("at least"), number("lower")), (said("at most"), number("upper"))]
    if detail["people"].null_count() < detail.height:
        columns.append((said("in fact"), number("people")))
    table = tabulate(detail.iter_rows(named=True), columns, texts=texts)
    return [Heading(charts.title_of_cells(first)), table]


# What would help.


def _remedies(detail: pl.DataFrame, rows: Sequence[Row], spec: Spec) -> list[Part]:
    """Return a table per question of the remedies that were tried: their cost, what they leave."""
    has_bounds = detail["met"].null_count() < detail.height

    def draw(lines: Sequence[Row], row: Row) -> list[Part]:
        guess = (said("best guess, expected"), percent("believed"))
        if row["actual"] is not None:
            guess = (said("best guess in fact"), percent("actual"))
        columns: list[Column] = [
            (said("remedy"), lambda line: remedy_in_words(line["remedy"])),
            (said("counts lost"), number("cells_lost")),
            *_proved_columns(row),
            guess,
            (said("undone"), number("undone")),
        ]
        if has_bounds:
            step = (said("step"), number("step"))
            verdict = [(said("bounds hold"), text("met")), (said("chosen"), text("chosen"))]
            columns = [step, *columns, *verdict]
        return [tabulate(lines, columns, texts=[int(has_bounds)])]

    message = (
        "Counts lost are published counts that a remedy leaves out, hides, rounds or merges. "
        "Each step adds a remedy to those that were chosen before."
    )
    content = _by_question(said("What would help"), detail, rows, draw)
    return [*content, Paragraph(said(message)), *map(Paragraph, choice(detail, spec))]


def remedy_in_words(text: str | None) -> str:
    """Return the text of a remedy in words; None: the tables as they are."""
    if text is None:
        return said("(the tables as they are)")
    for pattern in (re.compile(pattern, re.DOTALL) for pattern in REMEDIES):
        if match := pattern.fullmatch(text):
            names = {name: escaping.cell(part) for name, part in match.groupdict().items()}
            return said(REMEDIES[pattern.pattern], **names)
    return text


def choice(detail: pl.DataFrame, spec: Spec) -> list[str]:
    """Return a sentence on the remedies that were chosen, and their cost; none without bounds."""
    if not spec.get("until") or detail.is_empty():
        return []
    limits = words.listed(list(spec["until"]))
    steps = detail.filter(pl.col("chosen")).unique("step", keep="first", maintain_order=True)
    last = steps.row(-1, named=True)  # the rows of a step, one per secret, have one verdict
    if not last["met"]:
        return [said("No remedies that were tried keep {limits}.", limits=limits)]
    remedies = [remedy_in_words(text) for text in steps["remedy"].drop_nulls()]
    if not remedies:
        return [said("The tables keep {limits} as they are.", limits=limits)]
    message = "To keep {limits}: {remedies}. It costs {n}."
    n = counted("{n} published count", "{n} published counts", last["cells_lost"])
    return [said(message, limits=limits, remedies="; ".join(remedies), n=n)]


Draw = Callable[[pl.DataFrame, Sequence[Row], Spec], list[Part]]
DRAWN: dict[str, Draw] = {
    "checks": _checks,
    "disclosure": _disclosure,
    "overlaps": _overlaps,
    "progress": _progress,
    "without": _without,
    "alone": _alone,
    "groups": _groups,
    "components": _components,
    "cells": _cells,
    "remedies": _remedies,
    "magnitudes": _magnitudes,
    "hidden_sums": _hidden_sums,
}
"""The sections by the detail that each draws, in their order; ``progress`` draws the rows."""
