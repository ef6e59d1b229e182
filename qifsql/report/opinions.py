"""The three questions of the Article 29 Working Party as people read the answers."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.errors import several
from qifsql.linkage import opinion
from qifsql.linkage.opinion import CAUTION, INFERENCE, LINKABILITY, SINGLING_OUT
from qifsql.report import cells, words
from qifsql.report.parts import Bad, Heading, Paragraph, Part, Spec, Table, Tables

Row = Mapping[str, Any]

ANSWERED = {
    opinion.POSSIBLE: "possible",
    opinion.UNSURE: "not for certain",
    opinion.NOT_FOUND: "not found",
    opinion.YES: "yes",
    opinion.NO: "no",
}
NAMED = {SINGLING_OUT: "Singling out", LINKABILITY: "Linkability", INFERENCE: "Inference"}


def answers(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """All answers at a glance, then each question in the words of the opinion and what it finds."""
    rows = frame.to_dicts()
    known = words.listed([cells.cell(name) for name in spec["qids"]])
    parts: list[Part] = [
        Heading(f"Knowing {known}: the three questions of EU Opinion 05/2014"),
        _glance(rows),
        Paragraph(
            "Before and after: the chance that the best guess is right, on average, without the "
            "release and with it."
        ),
    ]
    for question, name in NAMED.items():
        own = [row for row in rows if row["question"] == question]
        if own:
            told = f"\N{LEFT DOUBLE QUOTATION MARK}{own[0]['definition']}"
            parts += [Heading(name), Paragraph(f"{told}\N{RIGHT DOUBLE QUOTATION MARK}")]
            parts += [Paragraph(_told(row, tables)) for row in own]
    return [*parts, Paragraph(CAUTION, strong=True)]


def _glance(rows: list[dict[str, Any]]) -> Table:
    """One line for each answer."""
    least = rows[0]["threshold"]
    heads = ["question", "answer", "for certain", "before", "after", "at worst"]
    heads += [] if least is None else [f">= {least:g}"]
    table = Table.of(heads, right=range(2, len(heads)))
    for row in rows:
        answer = ANSWERED[row["answer"]]
        if row["answer"] in (opinion.POSSIBLE, opinion.YES):
            answer = Bad(answer)
        numbers = [row["expected_prior"], _mean(row), row["worst_case"]]
        line = [_asked(row), answer, _certain(row), *map(_percent, numbers)]
        if least is not None:
            reached = row["at_threshold"]
            line.append("" if reached is None else words.count(reached))
        table.add_row(*line)
    return table


def _certain(row: Row) -> str:
    """For how many of how many, where that is counted."""
    if row["people"] is None:
        return ""
    told = f"{words.count(row['people'])} of {words.count(row['of'])}"
    return f"at most {told}" if row["bound"] else told


def _asked(row: Row) -> str:
    """The question, and what answers it where that is not clear."""
    if row["question"] == INFERENCE:
        return f"inference of {cells.cell(row['secret'])}"
    how = {
        "unique_in_both": ", register",
        "unique_in_release": ", any register",
        "linked_by_key": ", same key",
        "unicity": ", a few records",
    }
    return f"{NAMED[row['question']].lower()}{how.get(row['measure'], '')}"


def _mean(row: Row) -> float | None:
    """The mean chance; unicity is one itself."""
    mean: float | None = row["value" if row["measure"] == "unicity" else "expected"]
    return mean


def _percent(p: float | None) -> str:
    return "" if p is None else words.percent(p)


def _told(row: Row, tables: Tables) -> str:
    """One answer in sentences."""
    return {
        "singled_out": _singled_out,
        "unique_in_both": _linked,
        "unique_in_release": _bound,
        "linked_by_key": _keyed,
        "unicity": _known,
        "certain": _inferred,
    }[row["measure"]](row, tables)


def _singled_out(row: Row, _tables: Tables) -> str:
    alone = _of(row, "is the only one with its values", "are the only ones with their values")
    return (
        f"{_lead(row)}{alone}. Telling whose record is whose succeeds with a chance of "
        f"{words.percent(row['expected'])} on average, of {words.percent(row['worst_case'])} in "
        f"the smallest block.{_reached(row)}"
    )


def _linked(row: Row, tables: Tables) -> str:
    found = tables["register"].row(0, named=True)
    alone = _of(row, "is unique in both files", "are unique in both files")
    told = (
        f"{_lead(row)}{alone}. {words.count(found['matched'])} look like somebody in the register: "
        "these are linked to a group, which the opinion counts, too. At most "
        f"{words.percent(row['expected'])} of all records are linked right on average."
    )
    if found["correct_unique"] is not None:
        told += f" By the truth {words.count(found['correct_unique'])} of the unique ones are."
    return told + _reached(row, "link")


def _bound(row: Row, _tables: Tables) -> str:
    n = row["people"]
    for_certain = "link nobody for certain, as nobody is unique in the release"
    if n:
        unique = "it is" if n == 1 else "they are"
        for_certain = f"link {several(n, 'record')} for certain, as {unique} unique in the release"
    return (
        f"{_lead(row)}no register was named (--register). The worst there is has exactly these "
        f"people: it would {for_certain}, and at most {words.percent(row['expected'])} of all "
        f"links would be right.{_reached(row)}"
    )


def _keyed(row: Row, _tables: Tables) -> str:
    have = _of(row, "has several records", "have several records")
    return f"{_lead(row)}{have}; the key links all of these with each other."


def _known(row: Row, tables: Tables) -> str:
    answered = tables["unicity"].filter(pl.col("unicity").is_not_null())
    points = int(answered["points"][-1])
    what = "1 record of a person" if points == 1 else f"{points} records of a person"
    return (
        f"{_lead(row)}whoever knows {what} has a chance of {words.percent(row['value'])} that they "
        f"are nobody else's; {words.count(row['of'])} people have so many."
    )


def _inferred(row: Row, _tables: Tables) -> str:
    name = cells.cell(row["secret"])
    known = _of(row, "is in a block of one value", "are in blocks of one value")
    before, after = words.compared(row["expected_prior"], row["expected"])
    told = (
        f"{_lead(row)}{known} of {name}: whoever finds the block knows it. The best guess is right "
        f"for {after} records, without the release for {before}: the release adds "
        f"{100 * row['gain']:.2f} percentage points."
    )
    if not row["people"]:
        told += f" At worst its chance is {words.percent(row['worst_case'])}."
    told += _reached(row)
    least = row["threshold"]
    if least is not None and row["expected_prior"] >= least:
        told += " Without the release everybody's value can be guessed so well, too."
    return told


def _lead(row: Row) -> str:
    """The answer in a word or two: ``Possible: ``."""
    return f"{ANSWERED[row['answer']].capitalize()}: "


def _of(row: Row, one: str, many: str) -> str:
    """How many of how many, and what they are."""
    verb = one if row["people"] == 1 else many
    share = f"{words.count(row['of'])} {row['counted']} ({words.percent(row['value'])})"
    return f"{words.count(row['people'])} of {share} {verb}"


def _reached(row: Row, thing: str = "record") -> str:
    """Who reaches the threshold, where one was given."""
    if row["at_threshold"] is None:
        return ""
    there = several(row["at_threshold"], thing)
    return f" With a chance of {row['threshold']:g} or more: {there}."
