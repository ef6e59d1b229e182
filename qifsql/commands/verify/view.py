"""Verdicts on a stored result as people read them: what agrees, what differs, what is open."""

import polars as pl

from qifsql.commands.verify.verdicts import AGREES, DIFFERS, HINTED, LEFT_OUT, NOT_CHECKED
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Bad, Heading, Paragraph, Part, Spec, Table, Tables

MOST_DIFFERING = 40  # numbers that differ, in one table
MOST_PLACES = 8  # numbers that are named beside one reason


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return a sentence, the ways with their numbers, those that differ, reasons for the others."""
    del tables
    counts = spec["numbers"]
    names = ", ".join(map(escaping.cell, spec["results"]))
    sheets: list[Part] = [
        Heading(said("Numbers of {results}", results=names)),
        Paragraph(sentence(counts), strong=True),
    ]
    recomputed = frame.drop_nulls("way")
    if recomputed.height:
        ways = Table.of([said("way"), said("agree"), said("differ")], (1, 2))
        for (way,), rows in recomputed.group_by("way", maintain_order=True):
            counted = [rows.filter(verdict=verdict).height for verdict in (AGREES, DIFFERS)]
            ways.add_row(_way_name(str(way)), *map(words.count, counted))
        sheets.append(ways)
    differing = frame.filter(verdict=DIFFERS)
    if differing.height:
        sheets += [Heading(said("Numbers that differ")), _differing_table(differing)]
    unchecked = frame.filter(verdict=NOT_CHECKED)
    if unchecked.height:
        sheets += [Heading(said("Not checked")), _reasons_table(unchecked)]
    return sheets


def sentence(counts: Spec) -> str:
    """Return the verdict on all numbers in a sentence; ``counts`` has how many, by verdict."""
    agreeing, differing = counts[AGREES], counts[DIFFERS]
    unchecked = counts[NOT_CHECKED] or counts[LEFT_OUT]
    if counts[HINTED] and not differing:
        return said(
            "{agree} numbers agree, none differs; {hinted} agree with the SQL of the manifest "
            "alone, which confirms nothing.",
            agree=words.count(agreeing),
            hinted=words.count(counts[HINTED]),
        )
    if not agreeing and not differing:
        return said("Nothing was checked: this says nothing about the numbers.")
    numbers = {"agree": words.count(agreeing), "differ": words.count(differing)}
    if differing:
        message = "{differ} numbers differ from the data; {agree} agree."
    elif unchecked:
        message = "{agree} numbers agree, none differs; some were not checked (see below)."
    else:
        message = "All {agree} numbers agree."
    return said(message, **numbers)


def _way_name(name: str) -> str:
    """Return the name of a way of checking, in the language of the reader."""
    ways = {
        "SQL of the manifest": said("SQL of the manifest"),
        "SQL of the request": said("SQL of the request"),
        "two-level SQL": said("two-level SQL"),
    }
    return ways.get(name, name)


def _differing_table(frame: pl.DataFrame) -> Table:
    """Return a table with one row per number that differs, at most MOST_DIFFERING of them."""
    heads = [said("table"), said("row"), said("number"), said("stored"), said("recomputed")]
    sheet = Table.of([*heads, said("way")], (1, 3, 4))
    for row in frame.head(MOST_DIFFERING).iter_rows(named=True):
        place = map(escaping.cell, (row["table"], str(row["row"]), row["column"]))
        numbers = ["-" if row[n] is None else f"{row[n]:.17g}" for n in ("stored", "recomputed")]
        sheet.add_row(*place, *map(Bad, numbers), row["reason"] or _way_name(row["way"]))
    return sheet


def _reasons_table(frame: pl.DataFrame) -> Table:
    """Return a table with one row per reason why numbers are not checked, and some of these."""
    sheet = Table.of([said("numbers"), said("reason")], ())
    for (reason,), rows in frame.group_by("reason", maintain_order=True):
        places = list(dict.fromkeys(_place_text(row) for row in rows.iter_rows(named=True)))
        listed = ", ".join(places[:MOST_PLACES]) + (", ..." if len(places) > MOST_PLACES else "")
        sheet.add_row(escaping.cell(listed), escaping.cell(str(reason)))
    return sheet


def _place_text(row: Spec) -> str:
    """Return the name of a number, or of a whole row or table that is not checked."""
    table, number, column = row["table"], row["row"], row["column"]
    if column is not None:
        return str(column) if table == "results" else f"{table}.{column}"
    return str(table) if number is None else f"{table} {number}"
