"""The last chapter of a report: the origin of the numbers, their assumptions and their limits."""

import json
from collections.abc import Sequence

from qifsql import __version__
from qifsql.adversary.laws import EXACT, laws
from qifsql.commands.explain.explain import words_of
from qifsql.presentation.language import said
from qifsql.presentation.parts import Fold, Heading, Paragraph, Part, Section, Table
from qifsql.results.stored import Stored

SUCCESS_MEASURES = ("deterministic", "probabilistic", "additive", "multiplicative", "singled_out")
WITH_SUCCESS = (
    "attack",
    "sweep",
    "check",
    "run",
    "treat",
    "compare",
    "what-if",
)
"""Commands whose results have these measures."""
MEASURES_OF_KIND = {
    "attack": ("worst_case",),
    "sweep": ("subset", "shapley", "saved"),
    "anonymise": ("generalisation",),
    "compare": ("generalisation",),
    "what-if": ("generalisation",),
    "compose": ("composition",),
    "link": ("linked",),
    "unhash": ("recovered",),
    "unicity": ("unicity",),
    "estimate": ("population_uniques", "individual_risk"),
    "suda": ("msu", "suda_score", "dis_suda"),
    "wp29": ("wp29",),
    "dit": ("differentiability",),
    "dp": ("privacy_loss", "utility", "scenario", "semantic"),
    "synthetic": ("repu", "disco", "success_original", "individual_leak", "population_knowledge"),
    "tables": (
        *("reconstructed", "reconstructed_ones", "components_proved", "certain_inference"),
        *("believed", "actual", "bracket"),
        *("small_cells", "undone", "group_disclosure", "differencing"),
    ),
}
MEASURES_OF_DETAIL = {
    "histogram": ("histogram",),
    "groups": ("groups",),
    "borders": ("borders",),
    "magnitudes": ("dominance", "p_percent"),
}
REQUESTED_MEASURES = ("singling_out_all", "linkability_risk", "inference_risk", "nearer_original")
"""Measures that a result has only if they are asked for, by their names in the result."""
OTHER_GROUPS = ("tables", "synthetic", "suda")  # their tables of groups have measures of their own

NOISY = "knows"  # the column of the laws of noisy knowledge, or of None or EXACT

BASE_RATE = (
    "A high success may be the base rate alone: where most people have the same value, a guess is "
    "right without any release. Compare before and after."
)
OF_NOISE = (
    "Knowledge with errors and gaps: the adversary knows how errors and gaps come about, and that "
    "they are independent given the person. Whoever knows the quasi-identifiers better than that "
    "has more success."
)
OF_MATRIX = (
    "Columns drawn by a matrix: the adversary knows the matrix. Before the release each such "
    "column is taken to be independent of all others, and the shares of its values are those that "
    "the file of the matrix tells, or else the likeliest ones given the release; the remarks say "
    "which."
)
OF_SYNTHETIC = (
    "Synthetic releases: the adversary has the release, knows the quasi-identifiers of the people "
    "exactly, and guesses the most frequent value among the records that look the same; where "
    "there are none, that of the whole release.",
    "The people of the control are drawn from the same population as those of the original, and "
    "the release was not made from them. Intervals are at 95 % confidence.",
)
OF_TABLES = (
    "Published tables: the adversary has the tables, knows how each is protected, knows the known "
    "dimensions of the people exactly, and has nothing else.",
    "To a Bayesian adversary every assignment of the people to combinations that agrees with the "
    "tables is equally likely. What is proved needs no such assumption.",
)
"""Assumptions: of noisy knowledge, of a matrix, on synthetic releases, on published tables."""


def method(results: Sequence[Stored]) -> Section:
    """Return formulas with their sources, assumptions, limits, versions, and the SQL that ran."""
    table = Table.of([said("measure"), said("what it is"), said("formula"), said("source")])
    for measure in {m["title"]: m for m in map(words_of, measures_used(results))}.values():
        title, meaning = said(measure["title"]), said(measure["meaning"])
        table.add_row(title, meaning, measure["formula"], measure["source"])
    parts: list[Part] = [Heading(said("What is measured")), table]
    attacks = [s for s in results if s.kind in WITH_SUCCESS]
    assumptions = [*_assumptions(attacks), said(BASE_RATE)] if attacks else []
    knowledge = {law for s in attacks if NOISY in s.frame.columns for law in s.frame[NOISY]}
    laws_used = {law.kind for noisy in knowledge - {None, EXACT} for law in laws(noisy)}
    assumptions += [said(OF_NOISE)] if laws_used - {"matrix"} else []
    assumptions += [said(OF_MATRIX)] if "matrix" in laws_used else []
    if any(s.kind == "synthetic" for s in results):
        assumptions += [said(text) for text in OF_SYNTHETIC]
    if any(s.kind == "tables" for s in results):
        assumptions += [said(text) for text in OF_TABLES]
    if assumptions:
        parts += [Heading(said("What is assumed")), *map(Paragraph, assumptions)]
    remarks = dict.fromkeys(str(n) for s in results for n in s.manifest.get("notes", ()))
    if remarks:
        parts += [Heading(said("Remarks")), *map(Paragraph, remarks)]
    parts += [Heading(said("Where the numbers come from")), _versions(results)]
    for stored in results:
        spec = json.dumps(stored.spec, indent=2, ensure_ascii=False, default=str)
        parts.append(Fold(said("Settings: {name}", name=stored.name), spec))
        if stored.manifest.get("sql"):
            title = said("The SQL behind {name}", name=stored.name)
            parts.append(Fold(title, str(stored.manifest["sql"])))
    return Section("method", said("How it was measured"), parts)


def measures_used(results: Sequence[Stored]) -> list[str]:
    """Return the names of the measures whose numbers are in a report, as ``explain`` knows them."""
    measures: dict[str, None] = {}
    for stored in results:
        measures |= dict.fromkeys(SUCCESS_MEASURES if stored.kind in WITH_SUCCESS else ())
        measures |= dict.fromkeys(MEASURES_OF_KIND.get(stored.kind, ()))
        if NOISY in stored.frame.columns:
            measures |= {"noisy_knowledge": None}
        if stored.kind == "levels" and stored.is_known:
            measures |= dict.fromkeys(stored.frame["measure"])
        if stored.kind == "synthetic":
            present = set(stored.frame["measure"])
            measures |= dict.fromkeys(name for name in REQUESTED_MEASURES if name in present)
        for name, added in MEASURES_OF_DETAIL.items():
            if name in stored.details and (name != "groups" or stored.kind not in OTHER_GROUPS):
                measures |= dict.fromkeys(added)
    return list(measures)


def _assumptions(results: Sequence[Stored]) -> list[str]:
    """Return what attacks on records assume, in sentences."""
    weights = said("All records are equally likely to be the target's.")
    if any(s.spec.get("weight") for s in results):
        weights = said("Weights give the probability that each record is the target's.")
    missing = said("Missing values count as one value, equal to each other.")
    if any(s.spec.get("null") == "drop" for s in results):
        missing = said("People with a missing value are left out.")
    return [
        said(
            "The adversary has the release, knows the quasi-identifiers of the people "
            "exactly, and has nothing else. Before the release, the adversary knows how "
            "frequent each value of the secret is."
        ),
        weights,
        *_individuals(results),
        missing,
        said(
            "The adversary guesses once about each person and takes the most likely value; "
            "success is the chance to be right, averaged over all people."
        ),
    ]


def _individuals(results: Sequence[Stored]) -> list[str]:
    """Return sentences on what is taken to be one person; results may differ in it."""
    texts = []
    if any(s.spec.get("person") for s in results):
        message = "All records of a person are one individual, of whom all are known, or one."
        texts.append(said(message))
    if any(s.spec.get("repeated") for s in results):
        message = (
            "Each record is taken to be another person, though some people of the file have "
            "several: the risk of a person is greater."
        )
        texts.append(said(message))
    if not texts:
        texts.append(said("One record is one person; identical records are different people."))
    return texts


def _versions(results: Sequence[Stored]) -> Table:
    """Return when and with which versions each result was computed."""
    heads = [said("result"), said("made"), said("qifsql"), "DuckDB", "Polars", said("seconds")]
    table = Table.of(heads, right=(5,))
    for stored in results:
        note = stored.manifest
        versions, seconds = note.get("versions", {}), note.get("seconds")
        table.add_row(
            stored.name,
            str(note.get("started", "")),
            str(note.get("qifsql", __version__)),
            str(versions.get("duckdb", "")),
            str(versions.get("polars", "")),
            "" if seconds is None else f"{seconds:g}",
        )
    return table
