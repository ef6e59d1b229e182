"""The answers to the three questions of the Article 29 Working Party in words and tables."""

from typing import Any

import polars as pl

from qifsql.commands.check.questions import opinion
from qifsql.commands.check.questions.opinion import (
    CAUTION,
    DEFINITIONS,
    INFERENCE,
    LINKABILITY,
    SINGLING_OUT,
)
from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import counted, number, said
from qifsql.presentation.parts import Bad, Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

ANSWER_TEXTS = {
    opinion.POSSIBLE: "possible",
    opinion.UNSURE: "not for certain",
    opinion.NOT_FOUND: "not found",
    opinion.YES: "yes",
    opinion.NO: "no",
}
QUESTION_TITLES = {SINGLING_OUT: "Singling out", LINKABILITY: "Linkability", INFERENCE: "Inference"}
QUESTIONS_OF_MEASURES = {
    "singled_out": "singling out",
    "unique_in_both": "linkability, register",
    "unique_in_release": "linkability, any register",
    "linked_by_key": "linkability, same key",
    "unicity": "linkability, a few records",
}
"""The name of the question that a measure answers, with the kind of link."""

KIND = Kind(columns=("question", "answer"), shared=("attacks", "register", "unicity"))
TITLE = "Singling out, linkability, inference: {name}"


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return all answers at a glance, then each question of the opinion and its findings."""
    rows = frame.to_dicts()
    qids = words.listed([escaping.cell(name) for name in spec["qids"]])
    parts: list[Part] = [
        Heading(said("Knowing {qids}: the three questions of EU Opinion 05/2014", qids=qids)),
        _summary_table(rows),
    ]
    meaning = (
        "Before and after: the chance that the best guess is right, on average, without the "
        "release and with it."
    )
    parts.append(Paragraph(said(meaning)))
    for question in (SINGLING_OUT, LINKABILITY, INFERENCE):
        lines = [row for row in rows if row["question"] == question]
        if lines:
            text = f"\N{LEFT DOUBLE QUOTATION MARK}{said(DEFINITIONS[question])}"
            text += "\N{RIGHT DOUBLE QUOTATION MARK}"
            parts += [Heading(said(QUESTION_TITLES[question])), Paragraph(text)]
            parts += [Paragraph(_answer_sentences(row, tables)) for row in lines]
    return [*parts, Paragraph(said(CAUTION), strong=True)]


def _summary_table(rows: list[dict[str, Any]]) -> Table:
    """Return a table with one row per answer: cases for certain, chances, those at a threshold."""
    threshold = rows[0]["threshold"]
    heads = [said("question"), said("answer"), said("for certain")]
    heads += [said("before"), said("after"), said("at worst")]
    heads += [] if threshold is None else [f">= {_threshold_text(threshold)}"]
    table = Table.of(heads, right=range(2, len(heads)))
    for row in rows:
        answer = said(ANSWER_TEXTS[row["answer"]])
        if row["answer"] in (opinion.POSSIBLE, opinion.YES):
            answer = Bad(answer)
        mean = row["value" if row["measure"] == "unicity" else "expected"]  # unicity is a mean
        numbers = [row["expected_prior"], mean, row["worst_case"]]
        chances = ["" if p is None else words.percent(p) for p in numbers]
        if row["question"] == INFERENCE:
            name = said("inference of {secret}", secret=escaping.cell(row["secret"]))
        else:
            name = said(QUESTIONS_OF_MEASURES[row["measure"]])
        certain = ""
        if row["people"] is not None:  # certain cases are counted
            message = "at most {n} of {all}" if row["bound"] else "{n} of {all}"
            counts = {"n": words.count(row["people"]), "all": words.count(row["of"])}
            certain = said(message, **counts)
        cells = [name, answer, certain, *chances]
        if threshold is not None:
            reached = row["at_threshold"]
            cells.append("" if reached is None else words.count(reached))
        table.add_row(*cells)
    return table


def _threshold_text(threshold: float) -> str:
    return number(f"{threshold:g}")


def _answer_sentences(row: Row, tables: Tables) -> str:
    """Return the answer (yes, no) and its reasons, by the measure that a row is about."""
    text = {
        "singled_out": _singling_out_sentences,
        "unique_in_both": _register_sentences,
        "unique_in_release": _worst_register_sentences,
        "linked_by_key": _key_sentence,
        "unicity": _unicity_sentence,
        "certain": _inference_sentences,
    }[row["measure"]](row, tables)
    return f"{said(ANSWER_TEXTS[row['answer']]).capitalize()}: {text}"


def _singling_out_sentences(row: Row, _tables: Tables) -> str:
    """Say how many are singled out."""
    singular = "{n} of {all} ({share}) is the only one with its values."
    plural = "{n} of {all} ({share}) are the only ones with their values."
    succeeds = said(
        "Naming the person of a record succeeds with a chance of {expected} on average, and "
        "of {worst} in the smallest block.",
        expected=words.percent(row["expected"]),
        worst=words.percent(row["worst_case"]),
    )
    alone = counted(singular, plural, row["people"], **_total_and_share(row))
    return f"{alone} {succeeds}{_threshold_sentence(row)}"


def _register_sentences(row: Row, tables: Tables) -> str:
    """Say how many are unique in the release and the register, and how many links are right."""
    register = tables["register"].row(0, named=True)
    singular = "{n} of {all} ({share}) is unique in both files."
    plural = "{n} of {all} ({share}) are unique in both files."
    sentences = [counted(singular, plural, row["people"], **_total_and_share(row))]
    singular = (
        "{n} matches somebody in the register: it is linked to a group, which the opinion "
        "counts, too."
    )
    plural = (
        "{n} match somebody in the register: they are linked to a group, which the opinion "
        "counts, too."
    )
    sentences.append(counted(singular, plural, register["matched"]))
    best = "On average at most {share} of all records are linked correctly."
    sentences.append(said(best, share=words.percent(row["expected"])))
    if register["correct_unique"] is not None:
        singular, plural = (
            "In truth, {n} of the unique ones is.",
            "In truth, {n} of the unique ones are.",
        )
        sentences.append(counted(singular, plural, register["correct_unique"]))
    return " ".join(sentences) + _threshold_sentence(row, links=True)


def _worst_register_sentences(row: Row, _tables: Tables) -> str:
    """Say what a register of exactly these people would link; none was named."""
    n, share = row["people"], words.percent(row["expected"])
    singular = (
        "The worst register contains exactly these people: it would link {n} record with "
        "certainty, as it is unique in the release, and at most {share} of all links would be "
        "right."
    )
    plural = (
        "The worst register contains exactly these people: it would link {n} records with "
        "certainty, as they are unique in the release, and at most {share} of all links would "
        "be right."
    )
    worst = counted(singular, plural, n, share=share)
    if not n:
        nobody = (
            "The worst register contains exactly these people: it would link nobody with "
            "certainty, as nobody is unique in the release, and at most {share} of all links "
            "would be right."
        )
        worst = said(nobody, share=share)
    return f"{said('no register was named (--register).')} {worst}{_threshold_sentence(row)}"


def _key_sentence(row: Row, _tables: Tables) -> str:
    """Say how many have several records, which the key links."""
    singular = (
        "{n} of {all} ({share}) has several records; the key links all of these with each other."
    )
    plural = (
        "{n} of {all} ({share}) have several records; the key links all of these with each other."
    )
    return counted(singular, plural, row["people"], **_total_and_share(row))


def _unicity_sentence(row: Row, tables: Tables) -> str:
    """Say how likely nobody else has the most records of a person that were asked about."""
    answered = tables["unicity"].filter(pl.col("unicity").is_not_null())
    points = int(answered["points"][-1])
    what = counted("{n} record of a person", "{n} records of a person", points)
    singular = (
        "someone who knows {what} has a chance of {chance} that they match nobody else; "
        "{people} has enough records."
    )
    plural = (
        "someone who knows {what} has a chance of {chance} that they match nobody else; "
        "{people} have enough records."
    )
    values = {"what": what, "chance": words.percent(row["value"])}
    return counted(singular, plural, row["of"], **values, people=words.persons(row["of"]))


def _inference_sentences(row: Row, _tables: Tables) -> str:
    """Say of how many the secret is certain, and what the release adds to the best guess."""
    singular = (
        "{n} of {all} ({share}) is in a block with one value of {secret}: someone who finds "
        "the block knows it."
    )
    plural = (
        "{n} of {all} ({share}) are in blocks with one value of {secret}: someone who finds "
        "the block knows it."
    )
    before, after = words.compared(row["expected_prior"], row["expected"])
    best = said(
        "The best guess is right for {after} records, without the release for {before}: the "
        "release adds {points} percentage points.",
        **{"after": after, "before": before, "points": words.fixed(100 * row["gain"], 2)},
    )
    secret = escaping.cell(row["secret"])
    text = (
        f"{counted(singular, plural, row['people'], **_total_and_share(row), secret=secret)} {best}"
    )
    if not row["people"]:
        worst = said("Its worst-case chance is {chance}.", chance=words.percent(row["worst_case"]))
        text += f" {worst}"
    text += _threshold_sentence(row)
    threshold = row["threshold"]
    if threshold is not None and row["expected_prior"] >= threshold:
        without_release = "Everybody's value can be guessed equally well without the release."
        text += f" {said(without_release)}"
    return text


def _total_and_share(row: Row) -> dict[str, str]:
    named = words.persons if row["counted"] == "people" else words.records
    return {"all": named(row["of"]), "share": words.percent(row["value"])}


def _threshold_sentence(row: Row, *, links: bool = False) -> str:
    """Return a sentence on the number of records or links at the threshold, if one was given."""
    n = row["at_threshold"]
    if n is None:
        return ""
    there = counted("{n} link", "{n} links", n) if links else words.records(n)
    message = "With a chance of {least} or more: {there}."
    return f" {said(message, least=_threshold_text(row['threshold']), there=there)}"


def headline(stored: Stored) -> list[str]:
    """Return the answers on linkability in sentences, for the first pages of a report."""
    rows = [r for r in stored.frame.iter_rows(named=True) if r["question"] == LINKABILITY]
    title = said(QUESTION_TITLES[LINKABILITY])
    return [f"{title}: {_answer_sentences(row, stored.details)}" for row in rows]
