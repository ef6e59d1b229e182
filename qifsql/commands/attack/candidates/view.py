"""An attack with raw knowledge of people, in words and tables."""

from collections.abc import Sequence
from itertools import groupby

import polars as pl

from qifsql.data.types import Row
from qifsql.presentation import words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table

VIEWS = {"cells": "cells as values", "compatible": "raw values known"}
MEANING = (
    "Cells as values: the adversary knows the cells of a person in the release. Raw values known: "
    "the adversary knows the values of {people} in {file}, and looks for the records whose cells "
    "contain them. Records found: the mean. Misled: a record in the release is theirs, but does "
    "not contain their values."
)


def parts(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of both views for each question, and a sentence on raw knowledge."""
    parts: list[Part] = []
    rows = frame.iter_rows(named=True)
    for _, same_question in groupby(rows, key=lambda row: (row["model"], row["secret"])):
        of_question = list(same_question)
        heading = words.heading(of_question[-1] | {"known_records": None})
        parts += [Heading(heading), _views(of_question), Paragraph(sentence(of_question[-1]))]
    meaning = said(MEANING, people=words.people(), file=str(spec.get("people", "")))
    return [*parts, Paragraph(meaning)] if parts else []


def _views(rows: Sequence[Row]) -> Table:
    """Return a line for each view of a question: its success, and the records that are found."""
    heads = ["", said("before"), said("best guess"), said("certain"), "k"]
    table = Table.of([*heads, said("records found"), said("misled")], range(1, 7))
    for row in rows:
        mean = row["candidates"]
        table.add_row(
            said(VIEWS[row["view"]]) + words.known_records_clause(row),
            words.percent(row["prior_probabilistic"]),
            words.percent(row["posterior_probabilistic"]),
            words.count(row["individuals_certain"]),
            words.count(row["k"]),
            "-" if mean is None else words.fixed(mean, 2),
            words.count(row["misled"]),
        )
    return table


def sentence(row: Row) -> str:
    """Return the success of raw knowledge at one question in words."""
    return said("Raw values known. {sentence}", sentence=words.sentence(row))


def headline(frame: pl.DataFrame) -> list[str]:
    """Return a sentence for each question, for the first pages of a report."""
    rows = frame.filter(view="compatible").iter_rows(named=True)
    return [f"{words.goal(row)}: {sentence(row)}" for row in rows]
