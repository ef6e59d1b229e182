"""Attacks without a person key as people read them: alone, linked, and with the key."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import polars as pl

from qifsql.report import words
from qifsql.report.parts import Heading, Paragraph, Part, Table

Row = Mapping[str, Any]
SHOWN = 10  # lines of the calibration that are shown


def attack(rows: Sequence[Row], tables: Mapping[str, pl.DataFrame]) -> list[Part]:
    """A table per question, what links are worth, and how sure the model was of them."""
    parts: list[Part] = []
    for _, group in groupby(rows_of(rows), key=question):
        own = list(group)
        linked = next(row for row in own if row["knowledge"] == "linked")
        parts += [Heading(words.heading(linked)), _compared(own), Paragraph(_meaning(own))]
    linked = next(row for row in rows if row["knowledge"] == "linked")
    parts += [Heading("Links"), Paragraph(_links(linked))]
    steps = tables["links"]
    if steps.height > 1:
        heads = ["step", "records", "with candidates", "right by the model", "right"]
        table = Table.of(heads, right=range(5))
        for step, records, linkable, chance, right in steps.iter_rows():
            shown = "" if right is None else words.percent(right)
            table.add_row(
                str(step), words.count(records), words.count(linkable), words.percent(chance), shown
            )
        parts.append(table)
    if "calibration" in tables:
        parts += _calibration(tables["calibration"])
    return parts


def question(row: Row) -> tuple[bool, str]:
    """What is asked in a row: whose record it is, or a secret."""
    return row["secret"] is not None, row["secret"] or ""


def rows_of(rows: Sequence[Row]) -> list[Row]:
    """The rows, those of one question together, what is known in the order of the results."""
    return sorted(rows, key=question)


def _compared(rows: Sequence[Row]) -> Table:
    table = Table.of(
        ["the adversary has", "certain", "best guess", "over the prior"], right=(1, 2, 3)
    )
    first = rows[0]
    table.add_row(
        "nothing (prior)",
        words.percent(first["prior_deterministic"]),
        words.percent(first["prior_probabilistic"]),
        "",
    )
    names = {"focal alone": "the first release", "linked": "all, linked without a key"}
    for row in rows:
        table.add_row(
            names.get(row["knowledge"], "all, with the key"),
            words.percent(row["posterior_deterministic"]),
            words.percent(row["posterior_probabilistic"]),
            words.degradation(row),
        )
    return table


def _meaning(rows: Sequence[Row]) -> str:
    """In a sentence, what later releases add where no key joins them."""
    known = {row["knowledge"]: row for row in rows}
    linked = known["linked"]
    what = f"value of {words.listed([linked['secret']])}" if linked["secret"] else "record"
    best = words.percent(linked["posterior_probabilistic"])
    text = f"Whoever links the releases guesses the {what} of a person rightly with {best}"
    if alone := known.get("focal alone"):
        text += f", against {words.percent(alone['posterior_probabilistic'])} from the first alone"
    if keyed := known.get("with the key"):
        text += f" and {words.percent(keyed['posterior_probabilistic'])} with the key"
    if linked.get("best_guess") is not None:
        text += f". The best guess is {linked['best_guess']}"
    return text + "."


def _links(row: Row) -> str:
    chance = words.percent(row["link_vulnerability"])
    links = "the best link of a record" if row["datasets"] == 2 else "the best chain of links"
    text = (
        f"By the model {links} is right with {chance} (link vulnerability), where a person is in "
        f"the next release with {words.percent(row['presence'])}."
    )
    if row["link_accuracy"] is not None:
        text += f" By the truth {words.percent(row['link_accuracy'])} of the best links are right."
    return text


def _calibration(told: pl.DataFrame) -> list[Part]:
    """How many links are right, by how sure the model was of them."""
    bins: dict[int, list[tuple[int, float, float]]] = {}
    for _, number, n, predicted, right in told.iter_rows():
        bins.setdefault(min(number // SHOWN, SHOWN - 1), []).append((n, predicted, right))
    table = Table.of(["chance of a link", "links", "right by the model", "right"], right=(1, 2, 3))
    for number, own in sorted(bins.items()):
        n = sum(links for links, _, _ in own)
        predicted = sum(links * chance for links, chance, _ in own) / n
        right = sum(links * share for links, _, share in own) / n
        low, high = SHOWN * number, SHOWN * (number + 1) - (number < SHOWN - 1)
        table.add_row(
            f"{low} to {high} %", words.count(n), words.percent(predicted), words.percent(right)
        )
    fits = "A model that fits has the last two columns alike; below it, it promises too much."
    return [table, Paragraph(fits)]
