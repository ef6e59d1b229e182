"""Attacks without a person key as people read them: alone, linked, and with the key."""

from collections.abc import Sequence
from itertools import groupby

import polars as pl

from qifsql.commands.attack.keyless.charts import pooled
from qifsql.data.types import Row
from qifsql.presentation import words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Heading, Paragraph, Part, Table, Tables

GUESS_SENTENCES = {
    (False, False): (
        "Someone who links the releases guesses {what} correctly with probability {linked}."
    ),
    (True, False): (
        "Someone who links the releases guesses {what} correctly with probability {linked}, "
        "against {alone} from the first release alone."
    ),
    (False, True): (
        "Someone who links the releases guesses {what} correctly with probability {linked}, "
        "against {keyed} with the key."
    ),
    (True, True): (
        "Someone who links the releases guesses {what} correctly with probability {linked}, "
        "against {alone} from the first release alone and {keyed} with the key."
    ),
}
"""The gain from later releases, by two comparisons: with the first release alone, with the key."""


def parts(frame: pl.DataFrame, tables: Tables) -> list[Part]:
    """Return a table per question, then the quality of the links and their calibration."""
    rows = frame.to_dicts()
    parts: list[Part] = []
    for _, group in groupby(sorted(rows, key=_question), key=_question):
        lines = list(group)
        linked = next(row for row in lines if row["knowledge"] == "linked")
        parts += [Heading(words.heading(linked)), _comparison(lines), Paragraph(_gain(lines))]
        if linked.get("reported") is not None:
            parts.append(Paragraph(words.among_reported(linked)))
    linked = next(row for row in rows if row["knowledge"] == "linked")
    parts += [Heading(said("Links")), Paragraph(_links_sentence(linked))]
    if tables["links"].height > 1:  # a row for each step between releases: how good its links are
        heads = [said("step"), said("records"), said("with candidates")]
        table = Table.of([*heads, said("right by the model"), said("right")], right=range(5))
        for step, records, linkable, chance, right in tables["links"].iter_rows():
            share = "" if right is None else words.percent(right)
            numbers = (words.count(records), words.count(linkable), words.percent(chance))
            table.add_row(str(step), *numbers, share)
        parts.append(table)
    if "calibration" in tables:
        parts += _calibration(tables["calibration"])
    return parts


def _question(row: Row) -> tuple[bool, str]:
    return row["secret"] is not None, row["secret"] or ""


def _comparison(rows: Sequence[Row]) -> Table:
    """Return a table of one question: the prior, and a line per knowledge (a row of results)."""
    heads = [said("the adversary has"), said("certain"), said("best guess")]
    table = Table.of([*heads, said("over the prior")], right=(1, 2, 3))
    first = rows[0]
    before = (words.percent(first[f"prior_{n}"]) for n in ("deterministic", "probabilistic"))
    table.add_row(said("nothing (prior)"), *before)
    names = {
        "focal alone": said("the first release"),
        "linked": said("all, linked without a key"),
        "with the key": said("all, with the key"),
    }
    for row in rows:
        table.add_row(
            names[row["knowledge"]],
            words.percent(row["posterior_deterministic"]),
            words.percent(row["posterior_probabilistic"]),
            words.degradation(row),
        )
    return table


def _gain(rows: Sequence[Row]) -> str:
    """Return a sentence on the gain from later releases that no key joins."""
    rows_by_knowledge = {row["knowledge"]: row for row in rows}
    linked = rows_by_knowledge["linked"]
    what = said("the record of a person")
    if linked["secret"]:
        what = said("the value of {secret} of a person", secret=linked["secret"])
    rates = {
        k: words.percent(row["posterior_probabilistic"]) for k, row in rows_by_knowledge.items()
    }
    values = {"alone": rates.get("focal alone"), "keyed": rates.get("with the key")}
    message = GUESS_SENTENCES["focal alone" in rates, "with the key" in rates]
    text = said(message, what=what, linked=rates["linked"], **values)
    if linked.get("best_guess") is None:
        return text
    return f"{text} {said('The best guess is {guess}.', guess=linked['best_guess'])}"


def _links_sentence(row: Row) -> str:
    """Return sentences on the chance that the best links are right, and on the truth if known."""
    values = {name: words.percent(row[name]) for name in ("link_vulnerability", "presence")}
    message = (
        "According to the model, the best chain of links is right with probability "
        "{link_vulnerability} (link vulnerability), if a person is in the next release with "
        "probability {presence}."
    )
    if row["datasets"] == 2:  # a chain of one link
        message = (
            "According to the model, the best link of a record is right with probability "
            "{link_vulnerability} (link vulnerability), if a person is in the next release "
            "with probability {presence}."
        )
    text = said(message, **values)
    if row.get("one_to_one"):
        note = (
            "A record of a later release belongs to at most one person, so people compete for it."
        )
        text += f" {said(note)}"
    if row["link_accuracy"] is None:
        return text
    right = "In truth, {share} of the best links are right."
    return f"{text} {said(right, share=words.percent(row['link_accuracy']))}"


def _calibration(frame: pl.DataFrame) -> list[Part]:
    """Return the share of right links by their probability in the model."""
    # Ten lines of ten percent; 100 % is in the last one.
    tenths = frame.with_columns((pl.col("bin") // 10).clip(upper_bound=9)).sort("bin")
    heads = [said("chance of a link"), said("links"), said("right by the model"), said("right")]
    table = Table.of(heads, right=(1, 2, 3))
    for tenth, n, predicted, right in pooled(tenths, "bin").iter_rows():
        high = 100 if tenth == 9 else 10 * tenth + 9
        chance = said("{low} to {high}", low=10 * tenth, high=f"{high} %")
        table.add_row(chance, words.count(n), words.percent(predicted), words.percent(right))
    fits = (
        "If the model fits, the last two columns agree. If fewer links are right than "
        "predicted, it promises too much."
    )
    return [table, Paragraph(said(fits))]
