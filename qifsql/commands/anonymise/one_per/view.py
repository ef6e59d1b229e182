"""The text of a treatment: the dropped records, and the effect on the risk."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.presentation import words
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

TITLE = "Treatment: {name}"
KIND = Kind(
    columns=("records", "people", "dropped"), shared=("comparison", "changes"), essential=True
)


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of the records, and with quasi-identifiers the risks before and after."""
    row = {name: n for name, n in frame.row(0, named=True).items() if n is not None}
    heads = {
        "records": said("records"),
        "people": said("people"),
        "people_with_several": said("people with several"),
        "dropped": said("dropped"),
        "without_key": said("without a key"),
    }
    table = Table.of([heads.get(name, name) for name in row], right=range(len(row)))
    table.add_row(*(words.count(n) for n in row.values()))
    sections: list[Part] = [table, Paragraph(_dropped_sentences(row, spec.get("seed")))]
    if "comparison" in tables and "changes" in tables:
        rows = tables["comparison"].to_dicts()
        half = len(rows) // 2  # the attacks before, then the same after
        for before, after in zip(rows[:half], rows[half:], strict=True):
            sections += _risk_table(before, after)
        sections.append(Paragraph(_changes_sentence(tables["changes"])))
    return sections


def _changes_sentence(changes: pl.DataFrame) -> str:
    """Return the records singled out before, lost, and singled out only by the treatment."""
    message = (
        "Of {singled_out_before} records singled out before, {still_singled_out} still are and "
        "{lost} were dropped; {singled_out_only_after} are singled out only now."
    )
    return said(message, **{name: words.count(n) for name, n in changes.row(0, named=True).items()})


def _dropped_sentences(row: Mapping[str, int], seed: int | None) -> str:
    """Return sentences on how many records were dropped, and why; ``row`` is as ``SUMMARY``."""
    numbers = {name: words.count(n) for name, n in row.items() if n is not None}
    text = said("{dropped} of {records} records are dropped.", **numbers)
    if row.get("people") is None:  # no key of people
        return text
    singular = "{n} person had several records; one was drawn at random."
    plural = "{n} people had several records; of each, one was drawn at random."
    n = row["people_with_several"]
    text += " " + (counted(singular, plural, n) if n else said("Nobody had several records."))
    if seed is not None:
        text += " " + said("The seed is {seed}.", seed=seed)
    if row["without_key"]:
        singular = "{n} record without a key is kept as one person."
        plural = "{n} records without a key are kept, each as one person."
        text += " " + counted(singular, plural, row["without_key"])
    return text


def _risk_table(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Part]:
    """Return the table of one attack on the records before and after."""
    table = Table.of(["", said("before"), said("after")], right=(1, 2))
    for name, column, write in (
        (said("records"), "records", words.count),
        (said("singled out"), "singled_out", words.count),
        (said("certain (deterministic)"), "posterior_deterministic", words.percent),
        (said("best guess (probabilistic)"), "posterior_probabilistic", words.percent),
        (said("the same without the release"), "prior_probabilistic", words.percent),
    ):
        table.add_row(name, write(before[column]), write(after[column]))
    return [Heading(words.heading(before)), table]


def headline(stored: Stored) -> list[str]:
    """Return the treatment in sentences, for the first pages of a report."""
    sentences = [_dropped_sentences(stored.frame.row(0, named=True), None)]
    if "changes" in stored.details:
        sentences.append(_changes_sentence(stored.details["changes"]))
    return sentences
