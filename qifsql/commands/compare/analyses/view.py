"""The analyses of a comparison, as people read them."""

import polars as pl

from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Table, Tables

PAIRS = (
    "TV: total variation between the pairs of values in the original and in the release, where a "
    "pair of cells is spread evenly over the pairs of values that it contains. V: Cramer's V, of "
    "the same. r: Pearson's correlation of numbers; an interval, a set or a prefix is read as the "
    "middle of the original's numbers in it. V and r leave out cells that stand for everything; r "
    "leaves out missing values, too."
)
INTERVAL = "{value} ({low} to {high})"
COEFFICIENTS = (
    "Estimates with their intervals at 95 % confidence, of {before} records of the original and of "
    "{after} of the release in which nothing is missing. Overlap: the mean share of the two "
    "intervals that they have in common. Difference: of the estimates, in standard errors of the "
    "original."
)
TIMES = ("before", "after")


def parts(tables: Tables) -> list[Part]:
    """Return the analyses that a result has."""
    parts = _pairs_of_columns(tables["pairs"]) if "pairs" in tables else []
    return parts + (_models(tables["coefficients"]) if "coefficients" in tables else [])


def _pairs_of_columns(pairs: pl.DataFrame) -> list[Part]:
    """Return a table for each release: the pairs of columns, one a line."""
    parts: list[Part] = [Heading(said("Pairs of columns"))]
    heads = [said("column"), said("column"), said("TV")]
    heads += [said("V before"), said("after"), said("r before"), said("after")]
    for (_, release), rows in pairs.group_by("file", "release", maintain_order=True):
        table = Table.of(heads, range(2, 7))
        for row in rows.iter_rows(named=True):
            numbers = [f"{name}_{when}" for name in ("cramers_v", "correlation") for when in TIMES]
            table.add_row(
                *(escaping.cell(row[name]) for name in ("first", "second")),
                words.percent(row["total_variation"]),
                *(_number(row[name]) for name in numbers),
            )
        parts += [Heading(escaping.cell(release), 2), table]
        reasons = rows.drop_nulls("reason").select("first", "second", "reason")
        for first, second, reason in reasons.iter_rows():
            parts.append(Paragraph(f"{escaping.cell(first)}, {escaping.cell(second)}: {reason}"))
    return [*parts, Paragraph(said(PAIRS))]


def _number(x: float | None) -> str:
    return "-" if x is None else words.fixed(x, 4)


def _models(coefficients: pl.DataFrame) -> list[Part]:
    """Return a table for each model and release: the coefficients, one a line."""
    parts: list[Part] = [Heading(said("Models before and after"))]
    heads = [said("coefficient"), said("original"), said("release"), said("overlap")]
    for (_, release, formula), rows in coefficients.group_by(
        "file", "release", "formula", maintain_order=True
    ):
        table = Table.of([*heads, said("difference")], range(1, 5))
        first = rows.row(0, named=True)
        for row in rows.drop_nulls("coefficient").iter_rows(named=True):
            difference = row["standardised_difference"]
            # Never -0.00.
            shift = "-" if difference is None else words.fixed(round(difference, 2) + 0.0, 2)
            table.add_row(
                escaping.cell(row["coefficient"]),
                *(_estimate(row, when) for when in TIMES),
                words.percent(row["overlap"]),
                shift,
            )
        kinds = {"linear": said("linear regression"), "logistic": said("logistic regression")}
        title = f"{escaping.cell(formula)} ({kinds[first['model']]}), {escaping.cell(release)}"
        parts += [Heading(title, 2), *([table] if table.rows else [])]
        reasons = rows["reason"].drop_nulls().unique(maintain_order=True)
        parts += [Paragraph(escaping.cell(reason)) for reason in reasons]
        if table.rows:
            records = {when: words.count(first[f"records_{when}"]) for when in TIMES}
            parts.append(Paragraph(said(COEFFICIENTS, **records)))
    return parts


def _estimate(row: Row, when: str) -> str:
    """Return an estimate and its interval, with as many digits as tell them apart."""
    if row[f"estimate_{when}"] is None:
        return "-"
    value, low, high = (f"{row[f'{name}_{when}']:,.4g}" for name in ("estimate", "low", "high"))
    return said(INTERVAL, value=number(value), low=number(low), high=number(high))
