"""Published tables in words and tables: what they prove, what can be guessed, what would help."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from qifsql.commands.tables import charts
from qifsql.commands.tables.sections import DRAWN, ROUNDING, choice, goal, suppression
from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(
    columns=("tables", "bounds", "reconstructed"),
    shared=(
        "checks",
        "disclosure",
        "overlaps",
        "without",
        "alone",
        "groups",
        "remedies",
        "magnitudes",
        "hidden_sums",
    ),
    types={
        **dict.fromkeys(("prior", "believed", "actual", "records"), pl.Float64()),
        **dict.fromkeys(("people", "cells_proved", "singled_out", "certain_inference"), pl.Int64()),
        "met": pl.Boolean(),
    },
)
ASIDE = ("disclosure", "overlaps")
"""The details that CSV and Markdown leave out."""
MOST_NAMED = 6  # dimensions that a sentence names

WAYS = {
    "closed form": "closed form",
    "propagation": "propagation",
    "integer programming": "integer programming",
    "mixed": "propagation, and integer programming for some components",
}
"""The words for how bounds were computed."""


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return what is proved, what can be guessed, checks, the harm by table, and remedies."""
    rows = charts.of_all_tables(frame).to_dicts()  # one per question
    first = rows[0]
    people = words.persons(first["people"])
    title = counted(
        "{n} published table about {people}",
        "{n} published tables about {people}",
        len(first["tables"]),
        people=people,
    )
    content: list[Part] = [Heading(title)]
    content += [
        Paragraph(text, strong=i == 0) for i, text in enumerate(_proof_sentences(rows, spec))
    ]
    content += [_proved_table(rows, spec), Paragraph(_coverage_sentences(first, spec))]
    content.append(Heading(said("What can be guessed")))
    for row in rows:
        content += _guesses_table(row, titled=len(rows) > 1)
    for name, draw in DRAWN.items():
        detail = frame if name == "progress" else tables.get(name, pl.DataFrame())
        if detail.height:
            content += draw(detail, rows, spec)
    return content


# What is proved.


def _proof_sentences(rows: Sequence[Row], spec: Spec) -> dict[str, bool]:
    """Return sentences on proofs, each with whether it is about somebody (False: about nobody).

    ``rows`` are those of all tables together, one per question; all reconstruct the same people.
    """
    texts = {_reconstructed_sentence(rows[0], spec): bool(rows[0]["reconstructed"])}
    for row in rows:
        if row["secret"] is not None:
            texts |= {_certain_sentence(row): bool(row["certain_inference"])}
        # With all dimensions known, those singled out are named by the first sentence already.
        if row["singled_out"] and set(row["known"]) != set(spec["dimensions"]):
            message = "For {people}, the tables prove that nobody else has the same {known}."
            people, knowledge = _frequency(row["singled_out"], row), _names(row["known"])
            texts |= {said(message, people=people, known=knowledge): True}
    return texts


def _certain_sentence(row: Row) -> str:
    """Return a sentence on the people whose secret is proved, from the row of a question."""
    message = (
        "These bounds prove nobody's {secret} to someone who knows {known}; more may follow from "
        "the tables than they tell."
    )
    if row["sharp"]:
        message = "Nobody's {secret} is certain to someone who knows {known}."
    if row["certain_inference"]:
        message = "For {people}, someone who knows {known} reads {secret} from the tables."
    people = _frequency(row["certain_inference"], row)
    return said(message, people=people, known=_names(row["known"]), secret=row["secret"])


def _reconstructed_sentence(row: Row, spec: Spec) -> str:
    """Return a sentence on the people of whom the values of all dimensions are proved."""
    names = _names(spec["dimensions"])
    if row["reconstructed"]:
        message = (
            "For {people}, the tables prove all of {names}: these people are reconstructed. "
            "Alone with their values among them: {alone}."
        )
        alone = words.count(row["reconstructed_ones"])
        return said(message, people=_frequency(row["reconstructed"], row), names=names, alone=alone)
    message = (
        "These bounds prove all of {names} for nobody; more may follow from the tables than they "
        "tell."
    )
    if row["sharp"]:
        message = (
            "Nobody is reconstructed: these tables do not prove all of {names} for anybody. With "
            "other tables, or for someone who knows more, more may follow."
        )
    return said(message, names=names)


def _proved_table(rows: Sequence[Row], spec: Spec) -> Table:
    """Return a table of the people of whom something is proved; ``rows`` has one per question."""
    heads = [said("proved by the tables"), said("people"), said("share")]
    table = Table.of(heads, right=(1, 2))
    first = rows[0]  # all questions reconstruct the same people

    def add(name: str, people: int, row: Row) -> None:
        share = words.share(people / row["people"]) if people else ""
        table.add_row(name, words.proved(people, sharp=row["sharp"]), share)

    add(said("reconstructed: all of {names}", names=_names(spec["dimensions"])),
        first["reconstructed"], first)  # fmt: skip
    add(said("of these, alone with their values"), first["reconstructed_ones"], first)
    for row in rows:
        knowledge = _names(row["known"])
        if row["secret"] is not None:
            name = said("{secret} certain, knowing {known}", secret=row["secret"], known=knowledge)
            add(name, row["certain_inference"], row)
        add(said("singled out, knowing {known}", known=knowledge), row["singled_out"], row)
    table.rows[:] = dict.fromkeys(table.rows)  # questions may share a line: once is enough
    return table


def _coverage_sentences(row: Row, spec: Spec) -> str:
    """Return sentences on what the numbers cover, and how sharp they are."""
    way = said(WAYS[row["bounds"]])
    if row["sharp"]:
        message = "The bounds are sharp ({way}): no more follows from these tables."
        texts = [said(message, way=way)]
    else:
        message = (
            "The bounds may not be sharp ({way}) in {n} of {components}: more may be proved than "
            "is told here."
        )
        components = counted("{n} component", "{n} components", row["components"])
        n = words.count(row["components_open"])
        texts = [said(message, way=way, n=n, components=components)]
    message = "Only these dimensions are considered: {names}."
    texts.append(said(message, names=words.listed(list(spec["dimensions"]))))
    if row["components"] > 1:
        message = (
            "The tables fall into {components}, such as schools, which say nothing about one "
            "another; every combination is proved in {n} of them."
        )
        components = counted("{n} component", "{n} components", row["components"])
        n = words.count(round(row["components_proved"] * row["components"]))
        texts.append(said(message, components=components, n=n))
    if row["records"] is None:
        message = (
            "The records are not at hand, so how often a guess is right in fact is not measured."
        )
        texts.append(said(message))
    return " ".join(texts)


def _frequency(n: int, row: Row) -> str:
    """Return n people as a share of all: ``3 of 80 people (4 %)``, or "at least" if not sharp."""
    message = "{n} of {people} ({share})" if row["sharp"] else "at least {n} of {people} ({share})"
    if n == row["people"]:
        message = "all of {people}"
    people, share = words.persons(row["people"]), words.share(n / row["people"])
    return said(message, n=words.count(n), people=people, share=share)


def _names(names: Sequence[str]) -> str:
    """Return names of dimensions for a sentence; of more than ``MOST_NAMED`` only their number."""
    if len(names) > MOST_NAMED:
        return counted("{n} dimension", "{n} dimensions", len(names))
    return words.listed(list(names)) if names else said("nothing")


# What can be guessed.


def _guesses_table(row: Row, *, titled: bool) -> list[Part]:
    """Return sentences and a table: the success of the best guess without tables, with them, ..."""
    heads = [said("the best guess is right"), said("cases"), said("share"), said("remark")]
    table = Table.of(heads, right=(1, 2))
    scale = _scale_of_shares(row)
    for name, share, remark in _marks_in_words(row):
        if share is not None:
            table.add_row(name, words.share(share, scale), words.percent(share), remark)
    message = "{goal}, knowing {known}"
    head = said(message, goal=goal(row), known=_names(row["known"]))
    heading: list[Part] = [Heading(head, 2)] if titled else []
    return [*heading, Paragraph(guess_sentence(row)), table, *map(Paragraph, _surprises(row))]


def _scale_of_shares(row: Row) -> int:
    """Return the number of cases, such as 100, of which all shares of a row are told."""
    return words.scale(*(share for _, share, _ in _marks_in_words(row) if share is not None))


def _marks_in_words(row: Row) -> list[tuple[str, float | None, str]]:
    """Return lines on the best guess: what she has, the share guessed right (or None), remark."""
    low = high = said("sharp: with some records that agree with the tables")
    if not row["bracket_sharp"]:
        low = said("outer bound: the least may be higher")
        high = said("outer bound: the greatest may be lower")
    mean = said("exact: the mean over all records that agree with the tables")
    if row["estimate"]:
        mean = said("estimate: the expected counts are fitted")
    return [
        (said("without the tables"), row["prior"], ""),
        (said("with the tables, as a Bayesian adversary expects"), row["believed"], mean),
        (said("with the tables, in fact"), row["actual"], said("compared with the records")),
        (said("with the records themselves"), row["records"], said("no tables give more")),
        (said("with any records that agree with the tables, at least"), row["lowest"], low),
        (said("with any records that agree with the tables, at most"), row["highest"], high),
    ]


def guess_sentence(row: Row) -> str:
    """Return sentences on the best guess of a question, from its row of the result.

    Successes are shares of cases, None where not measured: ``prior`` without the tables, ``actual``
    with them, ``believed`` as the adversary expects it, ``records`` with the records themselves,
    which the tables prove to lie from ``lowest`` to ``highest``.
    """
    scale = _scale_of_shares(row)
    shares = {
        name: words.share(row[name], scale)
        for name in (*charts.MARKS, "lowest", "highest")
        if row[name] is not None
    }
    low, high = shares["lowest"], shares["highest"]
    proved_range = low if low == high else said("between {low} and {high}", low=low, high=high)
    values = {"known": _names(row["known"]), "secret": row["secret"], "ends": proved_range} | shares
    if row["secret"] is None:  # re-identification
        return _picked_sentence(row, values)
    texts = []
    if row["prior"] is not None:
        message = "Without the tables, {secret} is guessed right in {prior} cases."
        texts.append(said(message, **values))
    if row["actual"] is not None:
        message = "With them, someone who knows {known} guesses it right in {actual} cases."
        if row["prior"] is None:
            message = "Someone who knows {known} guesses {secret} right in {actual} cases."
        texts.append(said(message, **values))
    elif row["believed"] is not None:
        message = "Someone who knows {known} and the tables expects to be right in {believed}."
        texts.append(said(message, **values))
    message = "With the records themselves it would be {records}."
    if row["records"] is None:
        message = "With the records themselves it would be {ends}."
    return " ".join([*texts, said(message, **values)])


def _picked_sentence(row: Row, values: Row) -> str:
    """Return a sentence on how often the right person is picked; ``values`` fill its blanks."""
    message = (
        "With the records, someone who knows {known} of a person would pick the right one "
        "in {records} cases; the tables alone tell that it is {ends}."
    )
    if row["records"] is None:
        message = (
            "With the records, someone who knows {known} of a person would pick the right one "
            "in {ends} cases: that much the tables tell."
        )
    return said(message, **values)


def _surprises(row: Row) -> list[str]:
    """Return sentences where guesses are worse than without tables, or expected to be too good."""
    texts = []
    actual, believed = row["actual"], row["believed"]  # shares of cases; None: not measured
    if actual is not None and row["prior"] is not None and actual < row["prior"] - ROUNDING:
        texts.append(
            said("Guesses from the tables are right less often than guesses without them.")
        )
    if believed is not None and row["records"] is not None and believed > row["records"] + ROUNDING:
        texts.append(
            said("The adversary expects more right guesses than the records themselves would give.")
        )
    return texts


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a report's chapter about a stored result."""
    title = said("Published tables: {name}", name=stored.name)
    content: list[Part] = []
    if charts.has_sets(stored.frame):  # else there is one bar to draw
        content += drawn("proofs", partial(charts.proofs, stored.frame))
    content += drawn("guess", partial(charts.guess, stored.frame))
    content += parts(stored.frame, stored.details, stored.spec)
    cells = stored.details.get("cells")
    if cells is not None and cells.height:
        content += drawn("cells", partial(charts.cells, cells))
    return title, content


def _failing_sums(sums: pl.DataFrame) -> list[str]:
    """Return a sentence on each table of sums with cells that fail a rule."""
    message = "Table of sums {table}: {n} of {cells} fail a rule against disclosure."
    return [
        said(
            message,
            table=escaping.cell(line["table"]),
            n=words.count(line["failing"]),
            cells=counted("{n} cell", "{n} cells", line["cells"]),
        )
        for line in sums.iter_rows(named=True)
        if line["failing"]
    ]


def headline(stored: Stored) -> list[str]:
    """Return what is proved and guessed in sentences, for the first pages of a report.

    Sentences about nobody come last.
    """
    rows = charts.of_all_tables(stored.frame).to_dicts()  # one per question
    proofs = _proof_sentences(rows, stored.spec)
    texts = [*(text for text, is_risk in proofs.items() if is_risk), *map(guess_sentence, rows)]
    checks = stored.details.get("checks", pl.DataFrame())
    texts += [suppression(checks, rows[0])] if checks.height else []
    texts += _failing_sums(stored.details.get("magnitudes", pl.DataFrame()))
    texts += choice(stored.details.get("remedies", pl.DataFrame()), stored.spec)
    texts += [text for text, is_risk in proofs.items() if not is_risk]
    return [text for text in texts if text]
