"""An attack of somebody who learns from another file, in words and tables."""

import polars as pl

from qifsql.data.types import Row
from qifsql.presentation import details, escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Heading, Paragraph, Part, Table, Tables


def parts(frame: pl.DataFrame, tables: Tables) -> list[Part]:
    """Return a sentence and tables for each secret, and what the numbers do not say."""
    parts: list[Part] = []
    for row in frame.iter_rows(named=True):
        parts += [Heading(words.heading(row)), Paragraph(sentence(row), strong=True), _scores(row)]
        parts += details.of_row(row, tables) if "attack_id" in row else []
    last = said(
        "The intervals (95 %) are those of people drawn from a population. Success may be "
        "knowledge of the population: what is about individuals is the difference to people who "
        "are not in {learned} (qifsql synthetic --control). Another learner may guess better.",
        learned=escaping.cell(frame["learned_from"][0]),
    )
    return [*parts, Paragraph(last)]


def sentence(row: Row) -> str:
    """Return who is right about how many people, against the best constant guess."""
    before, after = row["prior_probabilistic"], row["posterior_probabilistic"]
    scale = words.scale(before, after)
    texts = {
        "qids": words.listed(row["qids"]),
        "learned": escaping.cell(row["learned_from"]),
        "secret": row["secret"],
        "success": words.share(after, scale),
        "prior": words.share(before, scale),
        "people": words.people(),
    }
    message = (
        "Someone who knows {qids} and learns from {learned} guesses {secret} right for "
        "{success} {people}. Always guessing their most frequent value is right for {prior}."
    )
    if row["high"] < before:
        message = (
            "Someone who knows {qids} and learns from {learned} guesses {secret} right for "
            "{success} {people}. Always guessing their most frequent value is right for more, "
            "{prior}: the guesses mislead, or the files are not of one population."
        )
    elif row["low"] <= before:
        message = (
            "Someone who knows {qids} and learns from {learned} guesses {secret} right for "
            "{success} {people}. Always guessing their most frequent value is right for {prior}: "
            "the difference may be chance."
        )
    return said(message, **texts)


def _scores(row: Row) -> Table:
    """Return a table of shares of the people, with 95 % intervals where there are any."""
    table = Table.of([said("learner: {name}", name=row["learner"]), "", said("between")], (1,))
    present = words.percent(row["present"])
    lines = {  # the columns of each share, and of the ends of its interval
        said("always the most frequent value"): ("prior_probabilistic",),
        said("guessed right"): ("posterior_probabilistic", "low", "high"),
        said("of the {share} who look like a record", share=present): ("success_present",),
        said("certain, and right"): ("posterior_deterministic",),
        said("RAPID, above {level}", level=words.percent(row["rapid_threshold"])): (
            *("rapid", "rapid_low", "rapid_high"),
        ),
    }
    for title, names in lines.items():
        if row[names[0]] is not None:  # success_present: nobody looks like a record
            share, *ends = (words.percent(row[name]) for name in names)
            interval = said("{low} and {high}", low=ends[0], high=ends[1]) if ends else ""
            table.add_row(title, share, interval)
    return table


def headline(frame: pl.DataFrame) -> list[str]:
    """Return a sentence for each secret, for the first pages of a report."""
    return [sentence(row) for row in frame.iter_rows(named=True)]
