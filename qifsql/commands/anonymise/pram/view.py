"""A post-randomised release as people read it: the columns, and how many records changed."""

import polars as pl

from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(columns=("column", "changed", "expected_changed"))
TITLE = "Post-randomised: {name}"


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of the columns that were randomised, and how to attack the release."""
    heads = [said("column"), said("matrix"), said("values"), said("records changed")]
    heads += [said("expected"), said("total variation")]
    table = Table.of(heads, right=range(2, 6))
    for row in frame.iter_rows(named=True):
        table.add_row(
            escaping.cell(row["column"]),
            said("given") if row["matrix"] == "given" else said("invariant"),
            words.count(row["values"]),
            f"{words.count(row['changed'])} ({words.percent(row['changed'] / row['records'])})",
            words.percent(row["expected_changed"]),
            words.percent(row["total_variation"]),
        )
    meaning = said(
        "Expected: the share of records that the matrix changes in the mean of all draws. Total "
        "variation: the distance between the shares of values before and after. The release is "
        "false on purpose about some records, and nothing tells which; attack it with its matrix: "
        "qifsql attack RELEASE --knows COLUMN:matrix=FILE."
    )
    return [table, Paragraph(meaning)]


def headline(stored: Stored) -> list[str]:
    """Return the release in sentences, for the first pages of a report."""
    message = "{column}: {changed} of {records} records have another value (post-randomisation)."
    return [
        said(
            message,
            column=escaping.cell(row["column"]),
            changed=words.count(row["changed"]),
            records=words.count(row["records"]),
        )
        for row in stored.frame.iter_rows(named=True)
    ]
