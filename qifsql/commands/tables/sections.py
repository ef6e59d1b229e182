"""Sections about published tables: checks of offices, harm by table, groups, remedies."""

import re
from collections.abc import Callable, Sequence

import polars as pl

from qifsql.commands.tables import charts
from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Bad, Heading, Paragraph, Part, Spec, Table

MOST = 10  # components that are shown
CLOSE = 1e-9  # shares that differ by less are equal
PROOFS = ("reconstructed", "certain_inference", "singled_out")

PROTECTIONS = {
    r"exact": "exact counts",
    r"suppress<(\d+)": "counts below {n} are hidden",
    r"suppress<(\d+) zeros": "counts below {n} are hidden, zeros too",
    r"round:(\d+)": "rounded to multiples of {n}",
    r"round:(\d+) random": "rounded at random to multiples of {n}",
    r"noise:(\d+)": "noise: at most {n} off",
    r"atleast:(\d+)": 'counts from {n} on are told as "{n} or more"',
}
"""The words for a protection, by its text."""
REMEDIES = {
    r"leave out (?P<name>.*)": "leave out {name}",
    r"hide counts below (?P<n>\d+) in (?P<name>.*)": "hide counts below {n} in {name}",
    r"round to (?P<n>\d+) in (?P<name>.*)": "round to multiples of {n} in {name}",
    r"make (?P<name>.*) coarser: (?P<change>.*)": "make {name} coarser: {change}",
}
"""The words for a remedy, by its text."""


def least(n: int, row: Row) -> str:
    """Return a number for a table; ``at least`` if more may follow."""
    if row["sharp"]:
        return words.count(n)
    return said("at least {n}", n=words.count(n)) if n else said("none proved")


def goal(row: Row) -> str:
    """Return what the adversary is after."""
    if row["secret"] is None:
        return said("Re-identification")
    return said("Inference of {secret}", secret=row["secret"])


# The checks of an office.


def _checks(detail: pl.DataFrame, rows: Sequence[Row], spec: Spec) -> list[Part]:
    """Return the counts of each table that are hidden, undone and small."""
    heads = [said("table"), said("protection"), said("cells"), said("hidden")]
    heads += [said("of these undone"), said("below {n}", n=words.count(spec["small"]))]
    title = said("Checks of each table")
    table = Table.of([*heads, said("ones"), said("twos")], range(2, 8))
    for line in detail.iter_rows(named=True):
        undone = words.count(line["undone"])
        counts = [words.count(line[name]) for name in ("small", "ones", "twos")]
        table.add_row(
            escaping.cell(line["table"]),
            protection(line["protection"]),
            words.count(line["cells"]),
            words.count(line["hidden"]),
            Bad(undone) if line["undone"] else undone,
            *counts,
        )
    texts = [text for text in (suppression(detail, rows[0]),) if text]
    return [Heading(title), table, *map(Paragraph, texts)]


def suppression(detail: pl.DataFrame, row: Row) -> str:
    """Return a sentence on the hidden counts that follow from the tables; empty without any."""
    hidden, undone = int(detail["hidden"].sum()), int(detail["undone"].sum())
    if not hidden:
        return ""
    values = {"hidden": words.count(hidden), "n": least(undone, row)}
    if undone:
        message = (
            "Suppression undone: of {hidden} hidden counts, {n} follow exactly from the tables."
        )
        return said(message, **values)
    if row["sharp"]:
        message = "No hidden count of {hidden} follows exactly from these tables."
        return said(message, **values)
    message = "Of {hidden} hidden counts none is proved, but some may follow from the tables."
    return said(message, **values)


def protection(text: str) -> str:
    """Return a protection in words."""
    pattern = next((pattern for pattern in PROTECTIONS if re.fullmatch(pattern, text)), None)
    if pattern is None:
        return text
    n = "".join(filter(str.isdigit, text))
    return said(PROTECTIONS[pattern], n=words.count(int(n)) if n else "")


def _disclosure(detail: pl.DataFrame, _rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return the rows of tables in which everybody has one value."""
    title = said("Rows with one value (group disclosure)")
    heads = [said("table"), said("the same for all"), said("rows"), said("people in them")]
    table = Table.of(heads, (2, 3))
    lines = [line for line in detail.iter_rows(named=True) if line["rows"]]
    for line in lines:
        names = (escaping.cell(line["table"]), escaping.cell(line["dimension"]))
        people = said("at least {n}", n=words.count(line["people"]))
        table.add_row(*names, words.count(line["rows"]), people)
    if not lines:
        message = (
            "In no row of a table does everybody have the same value of a dimension. Each table "
            "was looked at alone."
        )
        return [Heading(title), Paragraph(said(message))]
    message = (
        "In these rows everybody has the same value of one dimension. Someone who knows the others "
        "of a person knows that one, too."
    )
    return [Heading(title), Paragraph(said(message)), table]


def _overlaps(detail: pl.DataFrame, _rows: Sequence[Row], spec: Spec) -> list[Part]:
    """Return what pairs of tables prove to be small."""
    title = said("Small counts that follow from two tables (differencing)")
    heads = [said("tables"), said("dimensions"), said("combinations"), said("people in them")]
    table = Table.of(heads, (2, 3))
    lines = [line for line in detail.iter_rows(named=True) if line["cells"]]
    for line in lines:
        both = words.listed([escaping.cell(title) for title in line["tables"]])
        counts = words.count(line["cells"]), said("at least {n}", n=words.count(line["people"]))
        table.add_row(both, words.listed(line["dimensions"]), *counts)
    small = words.count(spec["small"])
    if not lines:
        message = (
            "No two tables together prove that a combination of their dimensions holds somebody, "
            "but fewer than {n} people."
        )
        return [Heading(title), Paragraph(said(message, n=small))]
    message = "These combinations are proved to hold somebody, but fewer than {n} people."
    return [Heading(title), Paragraph(said(message, n=small)), table]


def _magnitudes(detail: pl.DataFrame, _rows: Sequence[Row], spec: Spec) -> list[Part]:
    """Return the cells of tables of sums that fail the rules of an office."""
    title = said("Tables of sums")
    heads = [said("table"), said("contributors"), said("cells"), said("one or two contributors")]
    heads += [said("fewer than {n}", n=words.count(spec["small"])), said("dominated")]
    table = Table.of([*heads, said("p % rule fails"), said("fail")], range(1, 8))
    names = ("contributors", "cells", "one_or_two", "small", "dominated", "p_percent")
    for line in detail.iter_rows(named=True):
        counts = [words.count(line[name]) for name in names]
        failing = words.count(line["failing"])
        failing = Bad(failing) if line["failing"] else failing
        table.add_row(escaping.cell(line["table"]), *counts, failing)
    message = (
        "A cell fails if too few contribute to it, if a few contribute nearly all of it "
        "(dominance), or if the second largest contributor can estimate the largest (p % rule)."
    )
    return [Heading(title), table, Paragraph(said(message))]


# Where the harm is.


def progress(frame: pl.DataFrame, rows: Sequence[Row]) -> list[Part]:
    """Return what is proved and guessed with the first table, the first two, and so on."""
    title = said("What each table adds")
    shown: list[Part] = [Heading(title)]
    for row in rows:
        lines = frame.filter(pl.col("secret").eq_missing(row["secret"])).to_dicts()
        names = [_titles(line["tables"]) for line in lines]
        shown += [*_question(row, rows), _table(said("tables"), names, lines, row)]
        shown += [Paragraph(text) for text in _most(lines, row, first=row is rows[0])]
    return shown


def _most(lines: Sequence[Row], row: Row, *, first: bool) -> list[str]:
    """Return sentences on the tables that add most people of whom something is proved.

    All people who are reconstructed are those of the ``first`` question, too.
    """
    before: list[Row] = [dict.fromkeys(PROOFS, 0), *lines]
    texts = []
    for name in PROOFS if first else PROOFS[1:]:
        added = [line[name] - last[name] for last, line in zip(before, lines, strict=False)]
        if max(added) > 0:
            table = escaping.cell(lines[added.index(max(added))]["tables"][-1])
            message = "In this order, {table} adds most: {what}, {n} more."
            n = words.count(max(added))
            texts.append(said(message, table=table, what=_what(name, row), n=n))
    if not any(line[name] for line in lines for name in PROOFS):
        texts.append(said("None of these sets of tables proves anything."))
    return texts


def _titles(tables: Sequence[str]) -> str:
    """Return the name of a set of tables by the last one."""
    last = escaping.cell(tables[-1])
    return last if len(tables) == 1 else said("and {release}", release=last)


def _without(detail: pl.DataFrame, rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return what is proved and guessed if one table is left out."""
    title = said("Without one table")
    shown: list[Part] = [Heading(title)]
    for row in rows:
        lines = detail.filter(pl.col("secret").eq_missing(row["secret"])).to_dicts()
        if not lines:
            continue
        names = [escaping.cell(line["without"]) for line in lines]
        table = _table(said("left out"), [said("(none)"), *names], [row, *lines], row)
        shown += [*_question(row, rows), table]
        shown += [Paragraph(text) for text in _saved(lines, row, first=row is rows[0])]
        harmless = [n for n, line in zip(names, lines, strict=True) if _is_harmless(line, row)]
        if harmless and row["sharp"]:
            message = "The other tables prove as much without {tables}, each left out alone."
            shown.append(Paragraph(said(message, tables=words.listed(harmless))))
    return shown


def _saved(lines: Sequence[Row], row: Row, *, first: bool) -> list[str]:
    """Return sentences on the tables without which fewest people are proved."""
    texts = []
    for name in PROOFS if first else PROOFS[1:]:
        saved = [row[name] - line[name] for line in lines]
        if max(saved) > 0:
            message = "Without {table}, fewer are proved: {what}, {after} instead of {before}."
            line = lines[saved.index(max(saved))]
            values = {"table": escaping.cell(line["without"]), "what": _what(name, row)}
            after, before = words.count(line[name]), words.count(row[name])
            texts.append(said(message, **values, after=after, before=before))
    if not texts and any(row[name] for name in PROOFS):
        texts.append(said("Leaving out a single table does not reduce what is proved."))
    return texts


def _is_harmless(line: Row, row: Row) -> bool:
    """Return whether as much is proved without a table as with it."""
    ends = all(abs(line[name] - row[name]) < CLOSE for name in ("lowest", "highest"))
    return ends and all(line[name] == row[name] for name in PROOFS)


def _table(head: str, names: Sequence[str], lines: Sequence[Row], row: Row) -> Table:
    """Return a table of what is proved and guessed, one line per name."""
    heads = [head, said("reconstructed"), said("singled out")]
    heads += [said("secret certain")] if row["secret"] is not None else []
    has_truth = any(line["actual"] is not None for line in lines)
    heads.append(said("best guess, expected"))
    heads += [said("in fact")] if has_truth else []
    heads += [said("with records, at least"), said("at most")]
    table = Table.of(heads, range(1, len(heads)))
    for name, line in zip(names, lines, strict=True):
        counts = ["reconstructed", "singled_out"]
        counts += ["certain_inference"] if row["secret"] is not None else []
        shares = ["believed", *(["actual"] if has_truth else []), "lowest", "highest"]
        table.add_row(name, *(_count(line[c]) for c in counts), *(_share(line[c]) for c in shares))
    return table


def _question(row: Row, rows: Sequence[Row]) -> list[Part]:
    """Return the heading of a question if there are several."""
    return [Heading(goal(row), 2)] if len(rows) > 1 else []


def _what(name: str, row: Row) -> str:
    """Return the people of whom something is proved, in words."""
    if name == "reconstructed":
        return said("reconstructed people")
    if name == "singled_out":
        return said("people who are singled out")
    return said("people whose {secret} is certain", secret=row["secret"])


def _groups(detail: pl.DataFrame, rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return what is proved of each group of people."""
    title = said("Groups of people")
    shown: list[Part] = [Heading(title)]
    for row in rows:
        lines = detail.filter(pl.col("secret").eq_missing(row["secret"])).to_dicts()
        if not lines:
            continue
        heads = [escaping.cell(lines[0]["by"]), said("people"), said("reconstructed")]
        heads.append(said("singled out"))
        is_secret = row["secret"] is not None
        heads += [said("secret certain")] if is_secret else []
        heads += [said("guessed right")] if is_secret else []
        table = Table.of(heads, range(1, len(heads)))
        for line in lines:
            counts = [_count(line[c]) for c in ("people", "reconstructed", "singled_out")]
            if is_secret:
                counts += [_count(line["certain_inference"]), _share(line["actual"])]
            table.add_row(escaping.cell(line["group"]), *counts)
        shown += [*_question(row, rows), table]
    return shown


def _components(detail: pl.DataFrame, rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return the components in which most people are proved."""
    title = said("Where most people are proved")
    shown: list[Part] = []
    for row in rows:
        lines = detail.filter(pl.col("secret").eq_missing(row["secret"])).to_dicts()
        lines = [line for line in lines if any(line[name] for name in PROOFS)][:MOST]
        heads = [said("component"), said("people"), said("reconstructed"), said("singled out")]
        is_secret = row["secret"] is not None
        heads += [said("secret certain")] if is_secret else []
        heads += [said("best guess with records, at least"), said("at most")]
        table = Table.of(heads, range(1, len(heads)))
        for line in lines:
            names = ["people", "reconstructed", "singled_out"]
            names += ["certain_inference"] if is_secret else []
            counts = [_count(line[c]) for c in names]
            ends = [_share(line[c]) for c in ("lowest", "highest")]
            table.add_row(escaping.cell(line["component"]), *counts, *ends)
        shown += [*_question(row, rows), table] if lines else []
    return [Heading(title), *shown] if shown else []


def _cells(detail: pl.DataFrame, _rows: Sequence[Row], _spec: Spec) -> list[Part]:
    """Return the combinations of one component with their bounds."""
    first = detail.row(0, named=True)
    title = charts.title_of_cells(first)
    has_truth = detail["people"].null_count() < detail.height
    heads = [*first["row_dimensions"], first["column_dimension"]]
    numbers = [said("at least"), said("at most")] + ([said("in fact")] if has_truth else [])
    right = range(len(heads), len(heads) + len(numbers))
    table = Table.of([*heads, *numbers], right)
    for line in detail.iter_rows(named=True):
        values = map(escaping.cell, [*line["row"], line["column"]])
        counts = [_count(line[c]) for c in ("lower", "upper")]
        table.add_row(*values, *counts, *([_count(line["people"])] if has_truth else []))
    return [Heading(title), table]


# What would help.


def _remedies(detail: pl.DataFrame, rows: Sequence[Row], spec: Spec) -> list[Part]:
    """Return the remedies that were tried, each with its cost and what it leaves."""
    title = said("What would help")
    shown: list[Part] = [Heading(title)]
    has_bounds = detail["met"].null_count() < detail.height
    for row in rows:
        lines = detail.filter(pl.col("secret").eq_missing(row["secret"])).to_dicts()
        is_secret, has_truth = row["secret"] is not None, row["actual"] is not None
        heads = [said("step")] * has_bounds + [said("remedy"), said("counts lost")]
        heads += [said("reconstructed"), said("singled out")]
        heads += [said("secret certain")] if is_secret else []
        heads += [said("best guess in fact") if has_truth else said("best guess, expected")]
        heads += [said("undone")]
        heads += [said("bounds hold"), said("chosen")] if has_bounds else []
        right = [i for i, head in enumerate(heads) if head != said("remedy")]
        table = Table.of(heads, right)
        for line in lines:
            counts = ["reconstructed", "singled_out"] + ["certain_inference"] * is_secret
            cells = [str(line["step"])] * has_bounds
            cells += [remedy(line["remedy"]), words.count(line["cells_lost"])]
            cells += [_count(line[c]) for c in counts]
            cells += [_share(line["actual" if has_truth else "believed"]), _count(line["undone"])]
            yes = [escaping.cell(line[c]) for c in ("met", "chosen")]
            table.add_row(*cells, *(yes if has_bounds else []))
        shown += [*_question(row, rows), table]
    message = (
        "Counts lost are published counts that a remedy leaves out, hides, rounds or merges. "
        "Each step adds a remedy to those that were chosen before."
    )
    return [*shown, Paragraph(said(message)), *map(Paragraph, choice(detail, spec))]


def remedy(text: str | None) -> str:
    """Return a remedy in words; without one, the tables as they are."""
    if text is None:
        return said("(the tables as they are)")
    for pattern in (re.compile(pattern, re.DOTALL) for pattern in REMEDIES):
        if match := pattern.fullmatch(text):
            names = {name: escaping.cell(part) for name, part in match.groupdict().items()}
            return said(REMEDIES[pattern.pattern], **names)
    return text


def choice(detail: pl.DataFrame, spec: Spec) -> list[str]:
    """Return a sentence on the remedies that keep the required bounds, and their cost."""
    if not spec.get("until") or detail.is_empty():
        return []
    limits = words.listed(list(spec["until"]))
    steps = detail.filter(pl.col("chosen")).unique("step", keep="first", maintain_order=True)
    last = steps.row(-1, named=True)
    if not last["met"]:
        return [said("No remedies that were tried keep {limits}.", limits=limits)]
    remedies = [remedy(text) for text in steps["remedy"].drop_nulls()]
    if not remedies:
        return [said("The tables keep {limits} as they are.", limits=limits)]
    message = "To keep {limits}: {remedies}. It costs {n}."
    n = counted("{n} published count", "{n} published counts", last["cells_lost"])
    return [said(message, limits=limits, remedies="; ".join(remedies), n=n)]


def _count(n: int | None) -> str:
    return "" if n is None else words.count(n)


def _share(x: float | None) -> str:
    return "" if x is None else words.percent(x)


Draw = Callable[[pl.DataFrame, Sequence[Row], Spec], list[Part]]
DRAWN: dict[str, Draw] = {"checks": _checks, "disclosure": _disclosure, "overlaps": _overlaps}
LATER: dict[str, Draw] = {
    "without": _without,
    "groups": _groups,
    "components": _components,
    "cells": _cells,
    "remedies": _remedies,
    "magnitudes": _magnitudes,
}
