"""A composition as people read it: the results of each release, and of all together."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

MOST_LEVELS = 6  # of the curve that are all shown
SHOWN_LEVELS = (0.1, 0.25, 0.5, 0.75, 1.0)  # if there are more
CLASS = (
    "A class is a block of a release: records with the same cells. As cells stand for several "
    "values, a person may be in several classes, or in none."
)

TITLE = "Releases together: {name}"
KIND = Kind(columns=("releases", "effective_posterior"), shared=("releases", "curve", "truth"))


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of each release and all together, sentences, and the confidence curve."""
    row = frame.row(-1, named=True)
    releases = tables["releases"].to_dicts()
    heading = said(
        "Inference of {secret} from {releases} about {people}, knowing {qids}",
        secret=escaping.cell(spec["secrets"][0]),
        releases=words.releases(row["releases"]),
        people=words.persons(row["people"]),
        qids=words.listed([escaping.cell(q) for q in spec["known"]]),
    )
    parts: list[Part] = [
        Heading(heading),
        _releases_table(row, releases),
        Paragraph(said(CLASS)),
        Paragraph(sentence(row), strong=True),
    ]
    if frame.height > 1:
        parts += [Heading(said("Release after release"), 2), _progress_table(frame.to_dicts())]
    last = tables["curve"].filter(pl.col("releases") == row["releases"]).to_dicts()
    parts += _curve_parts(last, row["people"])
    if "truth" in tables:
        parts.append(Paragraph(_truth_sentence(tables["truth"].row(0, named=True))))
    return parts


def _releases_table(row: Row, releases: Sequence[Row]) -> Table:
    """Return a table with a column for each release and one for all together (``row``)."""
    heads = ["", *(escaping.cell(r["release"]) for r in releases), said("together")]
    table = Table.of(heads, right=range(1, len(heads)))

    def add(
        name: str,
        column: str,
        show: Callable[[Any], str] = words.count,
        *,
        together: str = "",
        rare: bool = False,
    ) -> None:
        """Add a line about a column of ``releases``; a ``rare`` one only if it has a number."""
        if not rare or any(r[column] for r in releases):
            table.add_row(name, *(show(r[column]) for r in releases), together)

    add(said("records"), "records")
    add(said("classes"), "classes")
    add(said("smallest class (k)"), "smallest_class", _count)
    add(said("suppressed records"), "suppressed", rare=True)
    add(said("people in one class"), "in_one_class")
    add(said("in several"), "in_several", rare=True)
    add(said("located by the nearest class"), "by_nearest", rare=True)
    add(said("located where their record is"), "rightly_located", rare=True)
    add(said("in no class"), "in_no_class", rare=True)
    add(said("in none but suppressed"), "only_suppressed", rare=True)
    none = [""] * len(releases)
    table.add_row(said("found in all"), *none, words.count(row["located"]))
    if row["contradictions"]:
        table.add_row(said("contradictions"), *none, words.count(row["contradictions"]))
    add(said("records like them"), "partition_size", _number)
    possible, values = said("values possible (effective anonymity)"), row["effective_posterior"]
    add(possible, "effective_anonymity", _number, together=_number(values))
    breached, vulnerable = words.count(row["perfect_breach"]), words.count(row["vulnerable"])
    add(said("people with a single value"), "perfect_breach", together=breached)
    add(said("people with fewer values together"), "vulnerable", together=vulnerable)
    chance = words.percent(row["posterior_success"])
    add(said("best guess is right"), "success", words.percent, together=chance)
    return table


def sentence(row: Row) -> str:
    """Return sentences on the anonymity that people lose by the releases."""
    people = row["people"]
    if row["located"] == row["contradictions"]:
        return said("Nobody who is in all releases has a value left, so there is no result.")
    before, after = _number(row["effective_prior"]), _number(row["effective_posterior"])
    if row["releases"] == 1:
        sentences = [said("On average {n} values are possible.", n=after)]
    else:
        possible = (
            "Where one release left {before} values possible on average, all together leave "
            "{after}."
        )
        lost = _people_and_share(row["vulnerable"], people)
        sentences = [said(possible, before=before, after=after)]
        sentences.append(said("That removes the anonymity of {people}.", people=lost))
    breached = _people_and_share(row["perfect_breach"], people)
    if row["perfect_breach_before"] and row["releases"] > 1:
        single = "For {people} a single value is left; one release was enough for {n} of them."
        before_count = words.count(row["perfect_breach_before"])
        sentences.append(said(single, people=breached, n=before_count))
    else:
        sentences.append(said("For {people} a single value is left.", people=breached))
    if row["contradictions"]:
        contradicted = "For {n} no value is left: the releases contradict each other about them."
        sentences.append(said(contradicted, n=words.count(row["contradictions"])))
    return " ".join(sentences)


def _progress_table(rows: Sequence[Row]) -> Table:
    """Return a table with one row per number of first releases."""
    heads = [said("first releases"), said("found in all"), said("values possible")]
    heads += [said("with a single value"), said("lose anonymity"), said("best guess is right")]
    table = Table.of(heads, right=range(6))
    for row in rows:
        cells = [str(row["releases"]), words.count(row["located"])]
        cells.append(_number(row["effective_posterior"]))
        shares = ("perfect_breach_share", "vulnerable_share", "posterior_success")
        table.add_row(*cells, *(words.percent(row[name]) for name in shares))
    return table


def _curve_parts(rows: Sequence[Row], people: int) -> list[Part]:
    """Return a table with one row per level of confidence: shares of people; and what it means."""
    if len(rows) > MOST_LEVELS:
        rows = [row for row in rows if row["confidence"] in SHOWN_LEVELS]
    heads = [said("confidence of at least"), said("one release"), said("together")]
    table = Table.of([*heads, said("best guess")], right=range(4))
    for row in rows:
        level = number(f"{100 * row['confidence']:.4g} %")
        shares = [row["share_before"], row["share"], row["share_guessed"]]
        table.add_row(level, *map(words.percent, shares))
    message = (
        "Share of the {people} for whom each remaining value is right with at least this "
        "chance; in the last column, for whom the best guess is."
    )
    sure = Heading(said("How sure the adversary is"), 2)
    return [sure, Paragraph(said(message, people=words.persons(people))), table]


def _truth_sentence(row: Row) -> str:
    """Return a sentence on the people whose true value is left, and on right guesses."""
    values = {
        "left": _people_and_share(row["true_value_left"], row["located"]),
        "right": words.count(row["perfect_breach_right"]),
        "single": words.count(row["perfect_breach"]),
    }
    if row["best_guess_right"] is None:
        return said(
            "The true value is among those left for {left}; {right} of {single} single values are "
            "right.",
            **values,
        )
    return said(
        "The true value is among those left for {left}; {right} of {single} single values are "
        "right, and the best guess for {guessed}.",
        **values,
        guessed=_people_and_share(row["best_guess_right"], row["located"]),
    )


def _people_and_share(n: int, people: int) -> str:
    share = words.percent(n / people if people else None)
    everybody = words.persons(people)
    return said("{n} of {people} ({share})", n=words.count(n), people=everybody, share=share)


def _count(n: int | None) -> str:
    return said("none") if n is None else words.count(n)


def _number(value: float | None) -> str:
    return "-" if value is None else number(f"{value:,.2f}".rstrip("0").rstrip("."))


def headline(stored: Stored) -> list[str]:
    """Return the lost anonymity in sentences, for the first pages of a report."""
    return [sentence(stored.frame.row(-1, named=True))]
