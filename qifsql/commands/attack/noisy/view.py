"""Attacks with noisy knowledge as people read them: next to the adversary who knows it exactly."""

from collections.abc import Sequence

import polars as pl

from qifsql.adversary.laws import EXACT, has_matrix, laws
from qifsql.data.types import Row
from qifsql.presentation import details, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Heading, Paragraph, Part, Table, Tables
from qifsql.results.assessment import without_beliefs


def parts(frame: pl.DataFrame, tables: Tables) -> list[Part]:
    """Return what is known, then per question a table and sentences, with claims if asked for."""
    rows = frame.to_dicts()
    parts: list[Part] = [knowledge(rows)]
    for exact, noisy in zip(rows[::2], rows[1::2], strict=True):
        parts += [Heading(words.heading(exact)), comparison_table(exact, noisy)]
        parts.append(Paragraph(loss_sentences(exact, noisy)))
        for row in (exact, noisy):
            message = "If all is known exactly: {claims}"
            if row is noisy:
                message = "With errors and gaps: {claims}"
            texts = details.sure_of(row, tables)
            parts += [Paragraph(said(message, claims=text)) for text in texts]
    return parts


def knowledge(rows: Sequence[Row]) -> Paragraph:
    """Return a sentence on the laws of what is known."""
    text = next(row["knows"] for row in rows if row["knows"] != EXACT)
    named = "; ".join(words.law_words(law) for law in laws(text))
    message = "Known with errors and gaps: {laws}. All else is known exactly."
    if has_matrix(text):
        message = (
            "Not known from the release as it is true: {laws}. Who takes its cells to be true does "
            "not see that; who knows the laws weighs what each cell may stand for. The shares of "
            "true values are told by the file of the matrix, or else estimated."
        )
    return Paragraph(said(message, laws=named))


def comparison_table(exact: Row, noisy: Row) -> Table:
    """Return a question as a table: nothing known, all known exactly, known with errors.

    Who knows the laws of a secret that was drawn has another prior than who takes it to be true.
    """
    heads = [said("the adversary knows"), said("certain"), said("best guess")]
    table = Table.of([*heads, said("over the prior")], right=(1, 2, 3))
    priors = {said("nothing (prior)"): exact}
    names = said("all exactly"), said("it with errors and gaps")
    if has_matrix(noisy["knows"]):
        names = said("the cells, as if true"), said("the laws of the cells")
    if noisy["prior_probabilistic"] != exact["prior_probabilistic"]:
        priors = {
            said("nothing, cells as if true"): exact,
            said("nothing, laws of the cells"): noisy,
        }
    for name, row in priors.items():
        before = row["prior_deterministic"], row["prior_probabilistic"]
        table.add_row(name, *map(words.percent, before))
    for name, row in zip(names, (exact, noisy), strict=True):
        table.add_row(
            name,
            words.percent(row["posterior_deterministic"]),
            words.percent(row["posterior_probabilistic"]),
            words.degradation(row),
        )
    return table


LOSS = {
    (False, True): (
        "The best guess of {secret} is right for {exact} if all is known exactly, for {noisy} with "
        "errors and gaps. {secret} is known for certain of {sure} of {records} {people}, and of "
        "{left} with errors and gaps."
    ),
    (False, False): (
        "The best guess of the record is right for {exact} if all is known exactly, for "
        "{noisy} with errors and gaps. {sure} of {records} {people} are singled out, and "
        "{left} with errors and gaps."
    ),
    (True, True): (
        "The best guess of {secret} is right for {noisy} if the laws are known. Who takes the "
        "cells to be true expects {exact}. {secret} is certain of {left} of {records} {people}."
    ),
    (True, False): (
        "The best guess of the record is right for {noisy} if the laws are known. Who "
        "takes the cells to be true expects {exact}. {left} of {records} {people} are "
        "singled out."
    ),
}
"""The sentences on the loss, by whether a matrix made the noise and a secret is guessed."""


def loss_sentences(exact: Row, noisy: Row) -> str:
    """Return sentences on what errors and gaps take from the adversary."""
    name = "singled_out" if exact["secret"] is None else "individuals_certain"
    message = LOSS[has_matrix(noisy["knows"]), exact["secret"] is not None]
    after = "posterior_probabilistic"
    chance, noisy_chance = words.compared(exact[after], noisy[after])
    text = said(
        message,
        secret=exact["secret"],
        exact=chance,
        noisy=noisy_chance,
        sure=words.count(exact[name]),
        left=words.count(noisy[name]),
        records=words.count(exact["records"]),
        people=words.people(),
    )
    if noisy.get("certain_missing") is not None:
        message = "With errors and gaps it is known to be missing for {missing}."
        text += " " + said(message, missing=words.count(noisy["certain_missing"]))
        text += " " + words.among_reported(noisy)
    if noisy["low"] is None:
        return text
    message = "This is an estimate, between {low} and {high} with 95 % confidence."
    ends = {end: words.percent(noisy[end]) for end in ("low", "high")}
    return f"{text} {said(message, **ends)}"


def numbered_adversaries(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[int, str]]:
    """Return the rows numbered by adversary in the column ``datasets``, and the names of these."""
    number = pl.when(pl.col("knows") == EXACT).then(1).otherwise(2)
    names = {1: said("after, known exactly"), 2: said("after, with errors and gaps")}
    if any(has_matrix(knows) for knows in frame["knows"]):  # mere beliefs are left out
        names = {2: said("after, laws known")}
    return without_beliefs(frame).with_columns(number.alias("datasets")), names
