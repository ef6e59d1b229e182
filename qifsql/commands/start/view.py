"""The end of a first look at a file: the main numbers, the report, and the steps that follow."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qifsql.commands.describe.view import LIKE_NAMES
from qifsql.commands.run import view as study
from qifsql.presentation import details, escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Command, Heading, Paragraph, Part, Spec, Tables
from qifsql.results import uncovered
from qifsql.results.kinds import Kind

KIND = Kind(columns=study.KIND.columns, shared=study.KIND.shared)
chapter = study.chapter
IDENTIFYING = ("key", "identifier")
"""Roles of columns that tell people apart by themselves."""


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return the main numbers, what they do not cover, the report, commands and next steps."""
    name = escaping.cell(spec["dataset"])
    content: list[Part] = [Heading(said("Privacy risk of {dataset}", dataset=name))]
    identifying = _identifying_columns(tables)
    content += [Paragraph(_identifying_sentence(row, frame), strong=True) for row in identifying]
    for row in frame.iter_rows(named=True):
        content += [Paragraph(f"{words.heading(row)}. {_risk_sentence(row, identifying)}")]
        content += map(Paragraph, details.households_of(row, tables))
    if spec["not_considered"] or not identifying:
        content.append(Paragraph(_coverage_sentence(spec)))
    if (swept := spec["swept"]) != {name: spec[name] for name in swept}:
        content.append(Paragraph(_swept_sentence(spec)))
    if spec["report"]:
        content.append(Heading(said("The report: {file}", file=escaping.cell(spec["report"]))))
    content += [Heading(said("Commands that made it")), *map(Command, spec["commands"])]
    return [*content, Heading(said("Next steps")), *_step_parts(spec)]


def _risk_sentence(row: Mapping[str, Any], identifying: Sequence[Mapping[str, Any]]) -> str:
    """Return the result of a row; nobody is singled out only if no column identifies people."""
    if row["secret"] is not None or row["singled_out"] or not identifying:
        return words.sentence(row)
    return said(
        "{chances}, without {columns}.",
        chances=words.chances(row),
        columns=escaping.cell(words.listed([column["column"] for column in identifying])),
    )


def _identifying_columns(tables: Tables) -> list[Mapping[str, Any]]:
    """Return the described columns of names and numbers that tell people apart by themselves."""
    columns = tables["roles"].to_dicts() if "roles" in tables else []
    identifying = [c for c in columns if c["suggested_role"] in IDENTIFYING]
    return [column for column in identifying if column["singled_out"]]


def _identifying_sentence(column: Mapping[str, Any], frame: pl.DataFrame) -> str:
    """Return how many people a name or number tells apart, before all numbers without it."""
    of_records = "known_records" in frame.columns and frame["known_records"].is_not_null().any()
    counted = words.records if of_records else words.persons
    if column["why"] == LIKE_NAMES:
        message = (
            "{column} tells {n} of {all} apart and looks like names: remove it before you publish. "
            "The other numbers leave it out."
        )
    else:
        message = (
            "{column} tells {n} of {all} apart: whoever knows it finds them. Remove it before you "
            "publish, or replace it by a random number. The other numbers leave it out."
        )
    values = {"n": words.count(column["singled_out"]), "all": counted(column["records"])}
    return said(message, column=escaping.cell(column["column"]), **values)


def _coverage_sentence(spec: Spec) -> str:
    if not (names := spec["not_considered"]):
        return said("Every column of the file has a role in these numbers.")
    named = said("Not considered: {names}.", names=escaping.cell(words.listed(names)))
    return f"{named} {uncovered.beyond()}"


def _swept_sentence(spec: Spec) -> str:
    """Return what the sweep of subsets left out, and how to sweep it."""
    return said(
        "To take seconds, the sweep of subsets takes {qids} of {all_qids} quasi-identifiers and "
        "{secrets} of {all_secrets} secrets. To sweep all, remove the lines qids and secret below "
        "[[sweep]] in {study}, and run it again.",
        qids=len(spec["swept"]["qids"]),
        all_qids=len(spec["qids"]),
        secrets=len(spec["swept"]["secret"]),
        all_secrets=len(spec["secret"]),
        study=escaping.cell(spec["study"]),
    )


def _step_parts(spec: Spec) -> list[Part]:
    """Return the next steps, each a sentence and a command."""
    sentences = (
        said("Correct the roles in {study}, and run it again:", study=escaping.cell(spec["study"])),
        said("Hold the file to a policy, here 5-anonymity:"),
        said("Find the smallest change that keeps it:"),
        said("Write a release that keeps it:"),
    )
    pairs = zip(sentences, spec["steps"], strict=True)
    return [part for text, step in pairs for part in (Paragraph(text), Command(step))]
