"""Minimal sample uniques in words and tables: by size, quasi-identifier, set, value and group."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qifsql.presentation import details, escaping, words
from qifsql.presentation.language import counted, number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(
    columns=("measure", "value"), shared=("by_size", "by_set", "by_qid", "by_dis_suda", "bounds")
)
TITLE = "Special uniques: {name}"
ROWS_SHOWN = 10  # sets and values that are shown; all are in the files
BANDS = ((0, 0), (1, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 100))  # percent


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return who has minimal sample uniques, of which sizes, and which attributes cause them."""
    values = _values_by_measure(frame)
    qids = words.listed(spec["qids"])
    reading = words.known_records({"known_records": "one"}) if _of_people(values) else ""
    parts: list[Part] = [
        Heading(said("Singled out by parts of {qids}", qids=qids) + reading),
        Paragraph(_extent_sentence(values, spec)),
    ]
    if "bounds" in tables:
        parts += details.bounds({}, tables["bounds"])
    if not values["msus"]:  # nobody is singled out, so that the tables are empty
        return parts
    if "by_size" in tables:
        parts.append(_size_table(tables["by_size"]))
    parts.append(Paragraph(_special_uniques_sentence(values, spec), strong=True))
    if "by_qid" in tables:
        parts += [Heading(said("Which attributes cause it")), _attribute_table(tables["by_qid"])]
    if "by_set" in tables:
        parts += _set_parts(tables["by_set"])
    if "by_value" in tables:
        parts += _value_parts(tables["by_value"])
    if "groups" in tables:
        parts += [Heading(said("Groups of records")), _group_table(tables["groups"], spec)]
    parts.append(Heading(said("DIS-SUDA")))
    if "by_dis_suda" in tables and values["mean_dis_suda"] is not None:
        unit = said("people") if _of_people(values) else said("records")
        parts.append(_band_table(tables["by_dis_suda"], unit))
    parts.append(Paragraph(_intrusion_sentence(values, spec)))
    return parts


def _values_by_measure(frame: pl.DataFrame) -> dict[str, Any]:
    return dict(zip(frame["measure"], frame["value"], strict=True))


def _of_people(values: Mapping[str, Any]) -> bool:
    """Return whether people are counted, of whom one record is known, not records."""
    return "people" in values


def _count(values: Mapping[str, Any], name: str) -> int:
    """Return a value as a whole number, 0 if there is none."""
    return int(values[name] or 0)


def _extent_sentence(values: Mapping[str, Any], spec: Spec) -> str:
    """Return a sentence on how many have minimal sample uniques of the sizes looked for."""
    records = words.records(_count(values, "records"))
    if _of_people(values):
        people = words.persons(_count(values, "people"))
        records = said("{people} in {records}", people=people, records=records)
    alone = words.count(_count(values, "uniques"))
    text = said(
        "{records}; all attributes together single out {alone}.", records=records, alone=alone
    )
    n = _count(values, "people_with_msu" if _of_people(values) else "records_with_msu")
    size = spec["max_size"]
    if size < len(spec["qids"]):
        singular = "{n} record is singled out by a set of at most {size} ({msus})."
        plural = "{n} records are singled out by sets of at most {size} ({msus})."
        if _of_people(values):
            singular = "{n} person is singled out by a set of at most {size} ({msus})."
            plural = "{n} people are singled out by sets of at most {size} ({msus})."
        return f"{text} {counted(singular, plural, n, size=size, msus=_msus_in_words(values))}"
    return f"{text} {said('They have {msus}.', msus=_msus_in_words(values))}"


def _msus_in_words(values: Mapping[str, Any]) -> str:
    singular, plural = "{n} minimal sample unique", "{n} minimal sample uniques"
    return counted(singular, plural, _count(values, "msus"))


def _size_table(sizes: pl.DataFrame) -> Table:
    """Return a row per size of minimal sample uniques (MSUs): how many there are."""
    unit = "people" if "people" in sizes.columns else "records"
    heads = [said("attributes needed"), said(unit), said("MSUs"), said("sets")]
    table = Table.of([*heads, said("score of each")], right=range(5))
    for row in sizes.iter_rows(named=True):
        numbers = (row[name] for name in ("size", unit, "msus", "sets", "score"))
        table.add_row(*map(words.count, numbers))
    return table


def _special_uniques_sentence(values: Mapping[str, Any], spec: Spec) -> str:
    """Return a sentence on the special uniques: those with an MSU of a part of the attributes."""
    n, of_people = _count(values, "special_uniques"), _of_people(values)
    share = words.percent(n / _count(values, "people" if of_people else "records"))
    if not n and of_people:
        return said("Nobody is a special unique: all attributes of a record are needed.")
    if not n:
        return said("No record is a special unique: each needs all attributes to be singled out.")
    singular = (
        "{n} record ({share}) is a special unique: a part of the attributes already singles it "
        "out, so that it is less likely to be unique by chance."
    )
    plural = (
        "{n} records ({share}) are special uniques: a part of the attributes already singles them "
        "out, so that they are less likely to be unique by chance."
    )
    if of_people:
        singular = (
            "{n} person ({share}) is a special unique: a part of the attributes of one record "
            "already singles her out, so that it is less likely by chance."
        )
        plural = (
            "{n} people ({share}) are special uniques: a part of the attributes of one record "
            "already singles them out, so that it is less likely by chance."
        )
    return counted(singular, plural, n, share=share)


def _attribute_table(by_qid: pl.DataFrame) -> Table:
    """Return a row per attribute: its minimal sample uniques (MSUs), and its share of scores."""
    heads = [said("attribute"), said("MSUs with it"), said("share of scores")]
    table = Table.of(heads, right=(1, 2))
    for row in by_qid.sort("contribution", descending=True, maintain_order=True).to_dicts():
        share = "" if row["contribution"] is None else words.percent(row["contribution"])
        table.add_row(row["qid"], words.count(row["msus"]), share)
    return table


def _set_parts(by_set: pl.DataFrame) -> list[Part]:
    """Return a table of the sets with the largest shares of all scores, which come first."""
    heads = [said("set of attributes"), said("MSUs"), said("share of scores")]
    table = Table.of(heads, right=(1, 2))
    for row in by_set.head(ROWS_SHOWN).iter_rows(named=True):
        share = words.percent(row["contribution"])
        table.add_row(words.listed(row["qids"]), words.count(row["msus"]), share)
    parts: list[Part] = [Heading(said("Which sets of attributes cause it")), table]
    return [*parts, *_note_of_length(by_set.height)]


def _value_parts(by_value: pl.DataFrame) -> list[Part]:
    """Return a table of the values with the largest shares of all scores."""
    heads = [said("attribute"), said("value"), said("records"), said("special")]
    table = Table.of([*heads, said("share of scores")], right=(2, 3, 4))
    ranked = by_value.sort("contribution", descending=True, maintain_order=True)
    for row in ranked.head(ROWS_SHOWN).iter_rows(named=True):
        value = words.missing() if row["value"] is None else escaping.cell(row["value"])
        numbers = [words.count(row[name]) for name in ("records", "records_with_msu")]
        table.add_row(row["qid"], value, *numbers, words.percent(row["contribution"]))
    parts: list[Part] = [Heading(said("Which values cause it")), table]
    return [*parts, *_note_of_length(by_value.height)]


def _note_of_length(height: int) -> Sequence[Part]:
    """Return a note that only the first of so many rows are shown, if so."""
    if height <= ROWS_SHOWN:
        return ()
    text = said("The first {n} of {all}.", **{"n": ROWS_SHOWN, "all": words.count(height)})
    return (Paragraph(text),)


def _group_table(groups: pl.DataFrame, spec: Spec) -> Table:
    """Return a row per group: its records, those singled out, and its share of all scores."""
    heads = [str(spec["by"]), said("records"), said("singled out"), said("share of them")]
    table = Table.of([*heads, said("share of scores")], right=(1, 2, 3, 4))
    for row in groups.iter_rows(named=True):
        name = words.missing() if row["group"] is None else escaping.cell(row["group"])
        share = words.percent(row["records_with_msu"] / row["records"])
        scores = "" if row["contribution"] is None else words.percent(row["contribution"])
        numbers = [words.count(row[column]) for column in ("records", "records_with_msu")]
        table.add_row(name, *numbers, share, scores)
    return table


def _band_table(histogram: pl.DataFrame, unit: str) -> Table:
    """Return the number of records or people in each band of DIS-SUDA, in whole percent."""
    table = Table.of([said("DIS-SUDA"), unit], right=(1,))
    for low, high in BANDS:
        rows = histogram.filter(pl.col("bin").is_between(low, high))["individuals"]
        if rows.len():
            name = f"{low} %" if low == high else f"{low} - {high} %"
            table.add_row(name, words.count(int(rows.sum())))
    return table


def _intrusion_sentence(values: Mapping[str, Any], spec: Spec) -> str:
    """Return a sentence on DIS, and on the mean and the highest DIS-SUDA."""
    fraction = number(f"{100 * spec['fraction']:.4g} %")
    if values["dis"] is None:
        return said("Without records alone or in pairs, DIS says nothing.")
    if values["mean_dis_suda"] is None:
        return said("DIS-SUDA has no meaning for so many quasi-identifiers.")
    text = (
        "If the file is a random sample of {fraction} of a population, a match with a record that "
        "is unique in it is right with a chance of {dis} (DIS). DIS-SUDA spreads it over the "
        "records by their scores: {mean} on average, {highest} at most. It ranks records; it is "
        "no measured chance."
    )
    if _of_people(values):
        text = (
            "If the people of the file are a random sample of {fraction} of a population, each "
            "with all her records, a match with a record that nobody else has is right with a "
            "chance of {dis} (DIS). DIS-SUDA spreads it over the people by their scores: {mean} on "
            "average, {highest} at most. It ranks people; it is no measured chance."
        )
    return said(
        text,
        fraction=fraction,
        dis=words.percent(values["dis"]),
        mean=words.percent(values["mean_dis_suda"]),
        highest=words.percent(values["highest_dis_suda"]),
    )


def headline(stored: Stored) -> list[str]:
    """Return the special uniques in sentences, for the first pages of a report."""
    values = _values_by_measure(stored.frame)
    return [_special_uniques_sentence(values, stored.spec)] if _count(values, "msus") else []
