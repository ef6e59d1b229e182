"""Show estimates from a sample: uniques of the population, and risks of records."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from qifsql.commands.estimate.spec import ASSUMES, CAUTIONS, DISAGREEMENT
from qifsql.measures.uniqueness import REMARKS
from qifsql.presentation import details, words
from qifsql.presentation.language import counted, number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

NAMES = {
    "zayatz": "Zayatz",
    "pitman": "Pitman",
    "snb": "SNB",
    "franconi_polettini": "Franconi-Polettini",
}
BANDS = ((0, 0), (1, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 100))  # percent


KIND = Kind(columns=("population_uniques",), shared=("individual", "histogram", "households"))
TITLE = "Unique in the population: {name}"


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return the estimate of each method, and the risks of the sample's records."""
    rows = frame.to_dicts()
    knowledge = words.listed(spec["qids"]) + words.known_records(rows[0])
    parts: list[Part] = [
        Heading(said("Unique in the population, knowing {qids}", qids=knowledge)),
        Paragraph(_sample_sentence(rows[0])),
        _method_table(rows),
        Paragraph(_estimate_sentences(rows), strong=True),
        _assumption_table(rows),
    ]
    if "individual" in tables:
        of_people = rows[0].get("people") is not None
        parts.append(Heading(said("Risk of the people" if of_people else "Risk of the records")))
        parts += [_band_table(tables["histogram"])] if "histogram" in tables else []
        parts.append(Paragraph(_risk_sentences(rows, tables["individual"].row(0, named=True))))
    if "households" in tables:
        parts.append(Heading(said("Risk of the households")))
        parts += _household_parts(tables["households"].row(0, named=True))
    return parts


def _sample_sentence(row: Mapping[str, Any]) -> str:
    """Return a sentence on the sample, its population and its uniques: of a row of the result."""
    records = words.records(row["records"])
    if row.get("people") is not None:  # people with several records
        sampled = words.persons(row["people"])
        records = said("{people} in {records}", people=sampled, records=records)
    texts = {"records": records, "people": words.persons(row["population"])}
    singular = "{records}, {share} of {people}; {n} of them is unique in the sample."
    plural = "{records}, {share} of {people}; {n} of them are unique in the sample."
    if row["fraction"] == 1:
        singular = "{records} of all {people}; {n} of them is unique in the sample."
        plural = "{records} of all {people}; {n} of them are unique in the sample."
    share = words.percent(row["fraction"])
    return counted(singular, plural, row["singled_out"], share=share, **texts)


def _method_name(name: str) -> str:
    if name == "dankar":
        return said("Dankar's rule")
    return said("exact") if name == "exact" else NAMES[name]


def _method_table(rows: list[dict[str, Any]]) -> Table:
    """Return a table of the estimates: a row per method."""
    heads = [said("method"), said("unique people"), said("of all"), said("of sample's uniques")]
    table = Table.of(heads, right=(1, 2, 3))
    for row in rows:
        name = _method_name(row["method"])
        if row["takes"] is not None:
            name += f": {_method_name(row['takes'])}"
        if row["population_uniques"] is None:
            table.add_row(name, said("no answer"))
            continue
        of_sample, uniques = row["of_sample_uniques"], _rounded(row["population_uniques"])
        table.add_row(
            name,
            said("{n} (out of range)", n=uniques) if row.get("caution") else uniques,
            words.percent(row["population_share"]),
            "" if of_sample is None else words.percent(of_sample),
        )
    return table


def _assumption_table(rows: list[dict[str, Any]]) -> Table:
    """Return a table of assumptions and cautions, a row per method, in the reader's language.

    Rows have the English texts of CAUTIONS and REMARKS; those that are not listed are not shown.
    """
    table = Table.of([said("method"), said("assumes"), said("out of range")])
    caution_keys = {text: key for key, text in CAUTIONS.items()}
    remark_keys = {text: key for key, text in REMARKS.items()}
    for row in rows:
        assumption = said(ASSUMES[row["method"]])
        if row["remark"] in remark_keys:
            assumption += f"; {said(REMARKS[remark_keys[row['remark']]])}"
        key = caution_keys.get(row.get("caution") or "")
        table.add_row(_method_name(row["method"]), assumption, said(CAUTIONS[key]) if key else "")
    return table


def _estimate_sentences(rows: list[dict[str, Any]]) -> str:
    """Explain the estimates: the first method's, or their range if methods disagree."""
    row = rows[0]
    if not row["singled_out"]:
        return said(
            "Nobody is unique in the sample; the methods cannot say anything about the population."
        )
    about = _rounded(row["population_uniques"])
    if row["method"] == "exact":
        return said(
            "The sample is the whole population: {n} of these people are certainly unique.", n=about
        )
    answers = [row for row in rows if row["population_uniques"] is not None]
    smallest, largest = (
        end(answers, key=lambda row: row["population_uniques"]) for end in (min, max)
    )
    if largest["population_uniques"] > DISAGREEMENT * smallest["population_uniques"]:
        return _disagreement_sentences(smallest, largest)
    text = said(
        "About {n} people of the population are expected to be unique ({share}). Of those who "
        "are unique in the sample, {really} are unique in the population; the others match "
        "people who were not drawn.",
        n=about,
        share=words.frequency(row["population_share"]),
        really=words.frequency(row["of_sample_uniques"]),
    )
    if not row.get("caution"):
        return text
    rough = "The method is out of its range here: the number may be far off, most likely too high."
    return f"{text} {said(rough)}"


def _disagreement_sentences(smallest: Mapping[str, Any], largest: Mapping[str, Any]) -> str:
    """Return sentences on the range of the estimates, from the rows of two methods."""
    text = said(
        "The methods disagree: from {least} to {most} people of the population are "
        "expected to be unique. Of those who are unique in the sample, {low} to {high} "
        "are unique in the population; the others match people who were not drawn. If a "
        "wrong decision would do harm, use the highest.",
        least=_rounded(smallest["population_uniques"]),
        most=_rounded(largest["population_uniques"]),
        low=words.percent(smallest["of_sample_uniques"]),
        high=words.percent(largest["of_sample_uniques"]),
    )
    outside = "This range is not a confidence interval: the true number may be outside it."
    return f"{text} {said(outside)}"


def _band_table(histogram: pl.DataFrame) -> Table:
    """Return a table of the people in each band of risk, from a histogram by percent."""
    table = Table.of([said("chance of a right link"), words.people()], right=(1,))
    for low, high in BANDS:
        people = histogram.filter(pl.col("bin").is_between(low, high))["individuals"].to_list()
        if people:  # bins are rounded percent
            up_to = said("up to {share}", share=number(f"{high}.5 %"))
            table.add_row(up_to if high < 100 else said("more"), words.count(sum(people)))
    return table


def _risk_sentences(rows: list[dict[str, Any]], row: Mapping[str, Any]) -> str:
    """Return sentences on the risk of records: ``row`` is ``individual``, ``rows`` the methods."""
    message = (
        "If every record is linked to the people who match it, about {n} of {all} links are "
        "expected to be right; the highest estimate for a single record is {highest}, and the "
        "truth may be higher: a record that is unique in the population is always linked rightly."
    )
    if "people" in row:
        message = (
            "If everybody in the sample is linked to the people with the same records, about {n} "
            "of {all} links are expected to be right; the highest estimate for a single person is "
            "{highest}, and the truth may be higher: who is unique in the population is always "
            "linked rightly."
        )
    links = row["people" if "people" in row else "records"]
    text = said(
        message,
        **{"n": _rounded(row["expected_reidentified"]), "all": words.count(links)},
        highest=words.percent(row["highest_risk"]),
    )
    shares = [row["of_sample_uniques"] or 0.0 for row in rows if row["method"] != "exact"]
    certain = max(shares, default=0.0) * rows[0]["singled_out"]
    if certain > row["expected_reidentified"]:
        contradiction = (
            "This contradicts the uniques above, by which {n} of these links are certainly right: "
            "take the higher number."
        )
        text = f"{text} {said(contradiction, n=_rounded(certain))}"
    if row["unique_match"] is None:
        return text
    match = "Somebody who matches exactly one record is right with {chance}."
    return f"{text} {said(match, chance=words.percent(row['unique_match']))}"


def _household_parts(row: Mapping[str, Any]) -> list[Part]:
    """Return a table and a sentence on households found through a member: of ``HOUSEHOLDS``."""
    table = Table.of([row["household"], said("share")], right=(1,))
    for title, name in (
        (said("a member linked rightly (independent)"), "risk"),
        (said("at least, for any dependence"), "risk_low"),
        (said("at most, for any dependence"), "risk_high"),
        (said("the highest of a household"), "worst_risk"),
    ):
        table.add_row(title, words.percent(row[name]))
    text = said(
        "Of {people} in {n} households about {found} ({share}) are expected to be found, "
        "themselves or through another member.",
        people=words.persons(row["people"]),
        n=words.count(row["households"]),
        found=_rounded(row["expected_people"]),
        share=words.percent(row["mean_risk"]),
    )
    return [table, Paragraph(text), *details.people_without(row)]


def _rounded(estimate: float) -> str:
    """Return an estimate as text: a whole number, or two digits if it is small."""
    if estimate >= 10 or estimate == 0:
        return words.count(round(estimate))
    return number(f"{estimate:.2g}")


def headline(stored: Stored) -> list[str]:
    """Return the estimates in sentences, for the first pages of a report."""
    return [_estimate_sentences(stored.frame.to_dicts())]
