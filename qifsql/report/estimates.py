"""Estimates from a sample as people read them: who is unique in the population, and the risks."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.errors import several
from qifsql.report import words
from qifsql.report.parts import Heading, Paragraph, Part, Spec, Table, Tables

SAID = {
    "dankar": "Dankar's rule",
    "zayatz": "Zayatz",
    "pitman": "Pitman",
    "snb": "SNB",
    "franconi_polettini": "Franconi-Polettini",
    "exact": "exact",
}
BANDS = ((0, 0), (1, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 100))  # percent


def estimates(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """What each method says of the population, and the risk of the sample's records."""
    rows = frame.to_dicts()
    parts: list[Part] = [
        Heading(f"Unique in the population, knowing {words.listed(spec['qids'])}"),
        Paragraph(_sample(rows[0])),
        _methods(rows),
        Paragraph(_meaning(rows[0]), strong=True),
        _assumptions(rows),
    ]
    if "individual" in tables:
        parts.append(Heading("Risk of the records"))
        parts += [_bands(tables["histogram"])] if "histogram" in tables else []
        parts.append(Paragraph(_risks(tables["individual"].row(0, named=True))))
    return parts


def _sample(row: Mapping[str, Any]) -> str:
    people, records = words.count(row["population"]), several(row["records"], "record")
    alone = f"{words.count(row['singled_out'])} of them are unique in the sample"
    if row["fraction"] == 1:
        return f"{records} of all {people} people; {alone}."
    return f"{records}, {words.percent(row['fraction'])} of {people} people; {alone}."


def _methods(rows: list[dict[str, Any]]) -> Table:
    heads = ["method", "unique people", "of all", "of sample's uniques"]
    table = Table.of(heads, right=(1, 2, 3))
    for row in rows:
        name = SAID[row["method"]]
        if row["takes"] is not None:
            name += f": {SAID[row['takes']]}"
        if row["population_uniques"] is None:
            table.add_row(name, "no answer")
            continue
        seen = row["of_sample_uniques"]
        table.add_row(
            name,
            _about(row["population_uniques"]),
            words.percent(row["population_share"]),
            "" if seen is None else words.percent(seen),
        )
    return table


def _assumptions(rows: list[dict[str, Any]]) -> Table:
    """What each method takes for granted, and what it says of itself."""
    table = Table.of(["method", "assumes"])
    for row in rows:
        told = row["assumes"] if row["remark"] is None else f"{row['assumes']}; {row['remark']}"
        table.add_row(SAID[row["method"]], told)
    return table


def _meaning(row: Mapping[str, Any]) -> str:
    """What the first method says, in words."""
    number = row["population_uniques"]
    if not row["singled_out"]:
        return "Nobody is unique in the sample; the methods can say nothing of the population."
    if row["method"] == "exact":
        return f"The sample is everybody: {_about(number)} of these people are unique, for sure."
    return (
        f"About {_about(number)} people of the population are expected to be unique "
        f"({words.frequency(row['population_share'])}). Of those who are unique in the sample, "
        f"{words.frequency(row['of_sample_uniques'])} are: the others have look-alikes who were "
        "not drawn."
    )


def _bands(histogram: pl.DataFrame) -> Table:
    """How many people have which risk, in whole percent."""
    table = Table.of(["chance of a right link", "people"], right=(1,))
    for low, high in BANDS:
        people = histogram.filter(pl.col("bin").is_between(low, high))["individuals"].to_list()
        if people:
            name = f"up to {high}.5 %" if high < 100 else "more"  # bins are rounded percent
            table.add_row(name, words.count(sum(people)))
    return table


def _risks(row: Mapping[str, Any]) -> str:
    told = (
        f"If every record is linked with the people who look like it, about "
        f"{_about(row['expected_reidentified'])} of {words.count(row['records'])} are expected to "
        f"hit the right person; of a single record at most {words.percent(row['highest_risk'])}."
    )
    if row["unique_match"] is None:
        return told
    return (
        f"{told} Somebody who matches exactly one record is right with "
        f"{words.percent(row['unique_match'])}."
    )


def _about(number: float) -> str:
    """An estimate: a whole number, or with digits where it is small."""
    return words.count(round(number)) if number >= 10 or number == 0 else f"{number:.2g}"
