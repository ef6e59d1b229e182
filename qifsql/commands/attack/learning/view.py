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
        learned=_learner_sentence(frame.row(0, named=True)),
    )
    return [*parts, Paragraph(last)]


def sentence(row: Row) -> str:
    """Return who is right about how many people, against the best constant guess."""
    before, after = row["prior_probabilistic"], row["posterior_probabilistic"]
    scale = words.scale(before, after)
    texts = {
        "qids": words.listed(row["qids"]),
        "learned": _learner_sentence(row),
        "secret": row["secret"],
        "success": words.share(after, scale),
        "prior": words.share(before, scale),
        "people": words.people(),
    }
    if row["low"] > before:
        message = (
            "Someone who knows {qids} and learns from {learned} guesses {secret} right for "
            "{success} {people}. Always guessing their most frequent value is right for {prior}."
        )
    elif row["high"] < before:
        message = (
            "Someone who knows {qids} and learns from {learned} guesses {secret} right for "
            "{success} {people}. Always guessing their most frequent value is right for more, "
            "{prior}: the guesses mislead, or the files are not of one population."
        )
    else:
        message = (
            "Someone who knows {qids} and learns from {learned} guesses {secret} right for "
            "{success} {people}. Always guessing their most frequent value is right for {prior}: "
            "the difference may be chance."
        )
    return said(message, **texts)


def _learner_sentence(row: Row) -> str:
    return escaping.cell(row["learned_from"])


def _scores(row: Row) -> Table:
    """Return a table of shares of the people, with 95 % intervals where there are any."""
    table = Table.of([said("learner: {name}", name=row["learner"]), "", said("between")], (1,))
    table.add_row(
        said("always the most frequent value"), words.percent(row["prior_probabilistic"]), ""
    )
    table.add_row(
        said("guessed right"),
        words.percent(row["posterior_probabilistic"]),
        _interval(row["low"], row["high"]),
    )
    share = words.percent(row["present"])
    if row["success_present"] is not None:
        table.add_row(
            said("of the {share} who look like a record", share=share),
            words.percent(row["success_present"]),
            "",
        )
    table.add_row(said("certain, and right"), words.percent(row["posterior_deterministic"]), "")
    table.add_row(
        said("RAPID, above {level}", level=words.percent(row["rapid_threshold"])),
        words.percent(row["rapid"]),
        _interval(row["rapid_low"], row["rapid_high"]),
    )
    return table


def _interval(low: float, high: float) -> str:
    return said("{low} and {high}", low=words.percent(low), high=words.percent(high))


def headline(frame: pl.DataFrame) -> list[str]:
    """Return a sentence for each secret, for the first pages of a report."""
    return [sentence(row) for row in frame.iter_rows(named=True)]
