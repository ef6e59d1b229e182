"""Adversaries who know only some of the quasi-identifiers, in words and tables."""

from functools import partial
from typing import Any

import polars as pl

from qifsql.commands.adversaries import charts
from qifsql.data.types import Row
from qifsql.presentation import words
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

MEASURES = ("probabilistic", "deterministic")
FIGURES = ("expected", "median", "q95", "least", "greatest")
KIND = Kind(
    columns=("adversary", "model", "secret", "measure", "expected", "q95"),
    shared=("by_size", "histogram"),
    types={
        **dict.fromkeys((*FIGURES, "threshold", "chance", "prior", "attempt"), pl.Float64()),
        "secret": pl.String(),
    },
)
ASIDE = ("by_size", "histogram")
"""The details that CSV and Markdown leave out."""
ADVERSARIES_SHOWN = 40  # adversaries of a table


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return the parts of each question: its best adversary, tables of all, success by size."""
    sheets: list[Part] = []
    if spec.get("attempt"):
        message = (
            "The tables of adversaries are multiplied by {attempt}, the chance that anybody tries. "
            "Sentences, and numbers by attributes known, are about someone who does try."
        )
        sheets.append(Paragraph(said(message, attempt=words.percent(_first(frame, "attempt")))))
    for row, rows in _split_by_question(frame):
        sheets.append(Heading(words.goal(row)))
        sheets.append(Paragraph(_best_sentence(rows), strong=True))
        sheets += [_success_table(rows, measure) for measure in MEASURES]
        sizes = _rows_of_question(tables.get("by_size"), row)
        # Adversaries "any 3 of 5" are the sizes themselves.
        names = rows["adversary"].unique()
        are_sizes = names.len() > 1 and all(charts.ANY.fullmatch(name) for name in names)
        if sizes is not None and not are_sizes:
            sheets += [
                Paragraph(said("Best guess by number of attributes known:")),
                _size_table(sizes),
            ]
    return sheets


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    tables, figures = stored.details, []
    if "by_size" in tables and tables["by_size"].height:
        figures = drawn("known", partial(charts.success_by_size, stored.frame, tables["by_size"]))
    message = (
        "An adversary knows each set of attributes with a probability, so her success is a random "
        "number. The numbers hold if these probabilities do: they are assumptions, not "
        "measurements."
    )
    return said("Adversaries who know only some of it"), [
        *figures,
        *parts(stored.frame, tables, stored.spec),
        Paragraph(said(message)),
    ]


def headline(stored: Stored) -> list[str]:
    """Return a sentence on each question, for the first pages of a report."""
    return [
        f"{words.goal(row)}, {_best_sentence(rows)}"
        for row, rows in _split_by_question(stored.frame)
    ]


def _split_by_question(frame: pl.DataFrame) -> list[tuple[Row, pl.DataFrame]]:
    groups = frame.partition_by("model", "secret", maintain_order=True)
    return [(group.row(0, named=True), group) for group in groups]


def _rows_of_question(table: pl.DataFrame | None, row: Row) -> pl.DataFrame | None:
    """Return the probabilistic rows of the question in ``row``; None if there are none."""
    if table is None or table.is_empty():
        return None
    secret = pl.lit(row["secret"], pl.String)
    rows = table.filter(
        pl.col("model") == row["model"], pl.col("secret").eq_missing(secret), measure=MEASURES[0]
    )
    return rows if rows.height else None


def _best_sentence(rows: pl.DataFrame) -> str:
    """Return a sentence on the adversary who is expected to guess right most often."""
    best = rows.filter(measure="probabilistic").sort("expected", descending=True)
    row = best.row(0, named=True)
    attempt = row["attempt"] or 1.0  # if nobody tries, all numbers are 0
    after, before = row["expected"] / attempt, row["prior"] / attempt
    scale = words.scale(before, after)
    message = (
        "{adversary}: right for {after} {people} on average, and for {before} without the release."
    )
    if row["attempt"] is not None:
        message = (
            "{adversary}, if anybody tries: right for {after} {people} on average, and for "
            "{before} without the release."
        )
    return said(
        message,
        adversary=charts.adversary_name(row["adversary"]),
        after=words.share(after, scale),
        before=words.share(before, scale),
        people=words.people(),
    )


def _success_table(rows: pl.DataFrame, measure: str) -> Table:
    """Return a table with a line per adversary; ``chance`` is that of reaching the threshold."""
    heads = {"probabilistic": said("best guess"), "deterministic": said("certain")}
    columns = [heads[measure], said("mean"), said("median"), percent_head(95)]
    columns += [said("least"), said("greatest")]
    threshold = _first(rows, "threshold")
    if threshold is not None:
        columns.append(f"≥ {percent_head(100 * threshold)}")
    sheet = Table.of(columns, range(1, len(columns)))
    for row in rows.filter(measure=measure).head(ADVERSARIES_SHOWN).iter_rows(named=True):
        names = (*FIGURES, *(["chance"] if threshold is not None else []))
        sheet.add_row(
            charts.adversary_name(row["adversary"]), *(words.percent(row[name]) for name in names)
        )
    return sheet


def _size_table(table: pl.DataFrame) -> Table:
    """Return a table with a line per number of attributes that are known."""
    heads = [said("attributes"), said("sets"), said("mean"), said("least")]
    heads += [percent_head(25), said("median"), percent_head(75), said("greatest")]
    sheet = Table.of(heads, range(len(heads)))
    for row in table.iter_rows(named=True):
        names = ("mean", "least", "q25", "median", "q75", "greatest")
        numbers = (words.percent(row[name]) for name in names)
        sheet.add_row(str(row["n_qids"]), words.count(row["subsets"]), *numbers)
    return sheet


def percent_head(share: float) -> str:
    """Return a percentage for the head of a column, as short as possible."""
    return number(f"{share:g} %")


def _first(frame: pl.DataFrame, name: str) -> Any:
    return frame[name][0] if name in frame.columns and frame.height else None
