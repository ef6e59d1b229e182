"""Synthetic releases in words and tables: what they say about individuals."""

from functools import partial

import polars as pl

from qifsql.commands.synthetic import charts
from qifsql.commands.synthetic.sentences import (
    between,
    by_measure,
    known_records_sentence,
    limits,
    percent,
    points,
    release_name,
    releases,
    sentences,
    split_by_known_records,
)
from qifsql.data.types import Row
from qifsql.presentation import details, escaping, words
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

__all__ = ["ASIDE", "KIND", "chapter", "headline", "limits", "parts", "points", "release_name"]

KIND = Kind(
    columns=("release", "file", "measure", "low", "high"),
    shared=("worst", "sure", "subsets"),
    types={
        **dict.fromkeys(("value", "low", "high"), pl.Float64()),
        **dict.fromkeys(("count", "people"), pl.Int64()),
        "secret": pl.String(),
    },
)
ASIDE = ("worst",)
"""The details that CSV and Markdown leave out."""
MOST_SUBSETS = 10  # of a table


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return all tables and sentences; if people have several records, for all known, then one."""
    if "known_records" not in frame.columns:
        return _parts(frame, tables, spec)
    # spec counts records; people are counted by the first measure
    sizes = spec["sizes"] | {"original": frame.filter(measure="UiO")["people"][0]}
    page: list[Part] = []
    for part in split_by_known_records(frame):
        known_records = part["known_records"][0]
        details_of = {n: t.filter(known_records=known_records) for n, t in tables.items()}
        page.append(Heading(known_records_sentence(part)))
        page += _parts(part, details_of, {**spec, "sizes": sizes})
    return page


def _parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return the parts of a result in which each release, secret and measure has one row."""
    title = counted(
        "{n} synthetic release of {people}",
        "{n} synthetic releases of {people}",
        len(spec["releases"]),
        people=words.persons(spec["sizes"]["original"]),
    )
    page: list[Part] = [Heading(title)]
    page += [Paragraph(text, strong=i == 0) for i, text in enumerate(sentences(frame, spec))]
    page += [Heading(said("Overlap and uniques")), _overlap(frame)]
    for secret in spec["secrets"]:
        of_secret = frame.filter(secret=secret)
        page.append(Heading(said("What is said about {secret}", secret=secret)))
        page += [_disclosed(of_secret), _guessed(of_secret, spec)]
        page += _classified(of_secret, spec)
        page += _sure(tables.get("sure"), secret)
        page += _worst(tables.get("worst"), secret)
    page += _question_parts(frame, spec) + _distance_parts(frame, spec)
    page += _groups(tables.get("groups"), spec)
    page += _subsets(tables.get("subsets"), spec)
    return [*page, Paragraph(limits(spec))]


def _sure(table: pl.DataFrame | None, secret: str) -> list[Part]:
    """Return, per release, a table and a sentence on the people whose secret somebody claims.

    ``table`` has claims of an adversary who speaks only if she is sure enough (``SURE``).
    """
    page: list[Part] = []
    rows = pl.DataFrame() if table is None else table.filter(secret=secret)
    by_release = rows.group_by("file", "release", maintain_order=True) if rows.height else ()
    for (file, release), lines in by_release:
        page += [
            Heading(release_name(file, release)),
            *details.claims_parts({"secret": secret}, lines),
        ]
    return page


def _overlap(frame: pl.DataFrame) -> Table:
    """Return a table of unique and replicated people: a row per release."""
    heads = [said("release"), said("unique (UiO)"), said("unique in the release (UiS)")]
    heads += [said("unique, and in the release (UiOiS)"), said("replicated unique (repU)")]
    heads += [said("{people} in the release", people=words.people())]
    table = Table.of(heads, range(1, 6))
    for file, release in releases(frame):
        values = by_measure(frame.filter(pl.col("secret").is_null()), file)
        cells = [percent(values[name]["value"]) for name in charts.RELEASE_MEASURES]
        table.add_row(release, *cells)
    return table


def _disclosed(frame: pl.DataFrame) -> Table:
    """Return a table of people in blocks with one value of the secret: a row per release."""
    heads = [said("release"), said("one value in the original (Dorig)")]
    heads += [said("in the release (DiS)"), said("and it is right (DiSCO)")]
    heads += [said("and one in the original (DiSDiO)"), "TCAP", said("right when certain")]
    table = Table.of(heads, range(1, 7))
    for file, release in releases(frame):
        values = by_measure(frame, file)
        table.add_row(release, *(percent(values[name]["value"]) for name in charts.SECRET_MEASURES))
    return table


def _guessed(frame: pl.DataFrame, spec: Spec) -> Table:
    """Return a table of right guesses: a row per release and file, and rows of differences."""
    heads = [said("release"), said("guesses about"), said("right"), said("between")]
    table = Table.of([*heads, said("without the release")], (2, 4))
    for file, release in releases(frame):
        values = by_measure(frame, file)
        for name, text in _guessed_files(spec).items():
            success = values[f"success_{name}"]
            table.add_row(
                release,
                text,
                words.percent(success["value"]),
                between(success),
                words.percent(values[f"prior_{name}"]["value"]),
            )
        if spec["control"]:
            leak, gain = values["individual_leak"], values["population_knowledge"]
            table.add_row(release, said("individual leak"), *_change(leak))
            table.add_row(release, said("population knowledge"), *_change(gain))
    return table


def _guessed_files(spec: Spec) -> dict[str, str]:
    """Return the titles of the original and of any control, by name."""
    names = {"original": said("the original")}
    return names | ({"control": said("the control")} if spec["control"] else {})


def _change(row: Row) -> tuple[str, str]:
    """Return a difference in percentage points, and its interval."""
    ends = {"low": points(row["low"]), "high": points(row["high"])}
    return said("{points} pp", points=points(row["value"])), said("{low} and {high}", **ends)


def _classified(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of the right guesses of a classifier: rows as in ``_guessed``."""
    if not spec.get("learner"):
        return []
    heads = [said("release"), said("guesses about"), said("right"), said("between")]
    level = said("RAPID, above {level}", level=words.percent(spec["rapid"]))
    table = Table.of([*heads, level, said("between")], (2, 4))
    for file, release in releases(frame):
        values = by_measure(frame, file)
        for name, text in _guessed_files(spec).items():
            right, rapid = values[f"classifier_{name}"], values[f"rapid_{name}"]
            table.add_row(
                release,
                text,
                words.percent(right["value"]),
                between(right),
                words.percent(rapid["value"]),
                between(rapid),
            )
        if spec["control"]:
            change = _change(values["classifier_leak"])
            table.add_row(release, said("individual leak"), *change)
    title = said("What a classifier learns ({learner})", learner=spec["learner"])
    return [Heading(title, 2), table]


def _worst(worst: pl.DataFrame | None, secret: str) -> list[Part]:
    """Return a table of the blocks that give away most people: a row per block, counts only."""
    if worst is None or worst.filter(secret=secret).is_empty():
        return []
    heads = [said("release"), words.people(), said("given away"), said("records in the release")]
    heads += [said("{people} of the control", people=words.people()), said("right about them")]
    table = Table.of(heads, range(1, 6))
    for row in worst.filter(secret=secret).iter_rows(named=True):
        names = ("people", "correct", "records", "control", "control_correct")
        table.add_row(
            release_name(row["file"], row["release"]), *(words.count(row[n]) for n in names)
        )
    text = said("Blocks with one value of {secret} in a release, which is right", secret=secret)
    return [Heading(text, 2), table]


def _question_parts(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of singling out, linkability and inference: a row per release and question."""
    if not spec.get("questions"):
        return []
    titles = {"singling_out_one": said("singling out, one column")}
    if spec.get("attempts"):
        titles["singling_out_some"] = said("singling out, some columns")
    titles["singling_out_all"] = said("singling out, all columns")
    if spec["split"]:
        titles["linkability"] = said("linkability")
    if spec.get("links"):
        titles["linkability_nearest"] = said("linkability, nearest records")
    heads = [said("release"), said("question"), said("the original"), said("the control")]
    table = Table.of([*heads, said("beyond the control"), said("between")], (2, 3, 4))
    for file, release in releases(frame):
        values = by_measure(frame.filter(pl.col("secret").is_null()), file)
        for name, title in titles.items():
            control, risk = values.get(f"{name}_control"), values.get(f"{name}_risk")
            table.add_row(release, title, *_risk_cells(values[name], control, risk))
        for secret in spec["secrets"]:
            values = by_measure(frame.filter(secret=secret), file)
            title = said("inference of {secret}", secret=escaping.cell(secret))
            control, risk = values.get("success_control"), values.get("inference_risk")
            table.add_row(release, title, *_risk_cells(values["success_original"], control, risk))
    note = said(
        "The questions are those of WP 216. Singling out: of the conditions that are true for one "
        "record of the release, those that are true for one person. Beyond the control: the part "
        "of what the control leaves to find out; only that is about individuals."
    )
    heading = Heading(said("Singling out, linkability, inference"))
    return [heading, table, Paragraph(note), *_draws(frame, spec)]


def _risk_cells(success: Row, control: Row | None, risk: Row | None) -> list[str]:
    """Return the cells of a question: original, control, risk beyond it, and its interval.

    Each argument is a row of the result (None: it has no such row); no value is an empty cell.
    """
    cells = [said("nothing to try"), ""]
    if success["value"] is not None:
        cells[0] = words.percent(success["value"])
    if control is not None and control["value"] is not None:
        cells[1] = words.percent(control["value"])
    if risk is None or risk["value"] is None:
        return [*cells, "", ""]
    ends = {"low": points(risk["low"]), "high": points(risk["high"])}
    return [*cells, f"{points(risk['value'])} %", said("{low} and {high} %", **ends)]


def _draws(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of the drawn conditions and people, a row per release; none without draws."""
    if not spec.get("attempts") and not spec.get("links"):
        return []
    heads = [said("release")]
    if spec.get("attempts"):  # conditions were drawn to single out
        heads += [said("drawn conditions"), said("true for one record")]
    if spec.get("links"):  # people were drawn to be linked
        heads += [said("drawn people"), said("nearest records"), said("linked by chance")]
    table = Table.of(heads, range(1, len(heads)))
    for file, release in releases(frame):
        values = by_measure(frame.filter(pl.col("secret").is_null()), file)
        cells = [release]
        if spec.get("attempts"):
            rare = values["singling_out_some"]["people"]
            cells += [words.count(spec["attempts"]), words.count(rare)]
        if spec.get("links"):
            drawn, by_chance = values["linkability_nearest"], values["linkability_nearest_chance"]
            cells += [words.count(drawn["people"]), words.count(spec["neighbours"] or 1)]
            cells.append(words.percent(by_chance["value"]))
        table.add_row(*cells)
    return [table]


def _distance_parts(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of the distances of drawn records, with a warning."""
    if not spec.get("distances"):
        return []
    heads = [said("release"), said("drawn records"), said("equal to a person")]
    heads += [said("median distance to the original"), said("to the control")]
    heads += [said("nearer to the original"), said("between"), said("by chance")]
    table = Table.of(heads, range(1, 8))
    for file, release in releases(frame):
        values = by_measure(frame.filter(pl.col("secret").is_null()), file)
        equal, nearer = values["distance_zero"], values.get("nearer_original")
        control = values.get("distance_control")
        comparison = ["", "", ""]  # there is none without a control
        if nearer is not None:
            chance = words.percent(values["nearer_by_chance"]["value"])
            comparison = [words.percent(nearer["value"]), between(nearer), chance]
        table.add_row(
            release,
            words.count(equal["people"]),
            words.percent(equal["value"]),
            words.percent(values["distance_original"]["value"]),
            "" if control is None else words.percent(control["value"]),
            *comparison,
        )
    warning = said(
        "Gower distances of records that were drawn at random, of all quasi-identifiers and "
        "secrets: 0 % is equal in all columns, 100 % as far as possible in all. Distances do not "
        "show that a release is safe: one that keeps its distance can give away who was in the "
        "original, and one that is near may say nothing about individuals."
    )
    return [Heading(said("Distances")), table, Paragraph(warning)]


def _groups(groups: pl.DataFrame | None, spec: Spec) -> list[Part]:
    """Return a table of uniques and right guesses: a row per row of ``groups``, if any."""
    if groups is None or groups.is_empty() or not spec["secrets"]:
        return []
    heads = [said("release"), escaping.cell(spec["by"]), said("of"), words.people()]
    heads += [said("replicated unique (repU)"), said("and it is right (DiSCO)")]
    heads += [said("right"), said("individual leak"), said("between")]
    table = Table.of(heads, (3, 4, 5, 6, 7))
    for row in groups.iter_rows(named=True):
        change = ("", "")
        if row["individual_leak"] is not None:
            ends = {"low": row["individual_leak_low"], "high": row["individual_leak_high"]}
            change = _change({"value": row["individual_leak"], **ends})
        table.add_row(
            release_name(row["file"], row["release"]),
            words.missing() if row["group"] is None else escaping.cell(row["group"]),
            row["secret"],
            words.count(row["people"]),
            percent(row["repU"]),
            percent(row["DiSCO"]),
            percent(row["success_original"]),
            *change,
        )
    return [Heading(said("By {column}", column=spec["by"])), table]


def _subsets(subsets: pl.DataFrame | None, spec: Spec) -> list[Part]:
    """Return a table of the subsets that give away most: a row per release, secret and subset."""
    if subsets is None or subsets.is_empty():
        return []
    measure = "repU"
    if spec["secrets"]:
        measure = "individual_leak" if spec["control"] else "success_original"
    worst = subsets.sort(measure, "n_qids", "subset", descending=[True, False, False])
    heads = [said("release"), said("of"), said("subset"), said("replicated unique (repU)")]
    heads += [said("right, of the original"), said("right, of the control")]
    table = Table.of([*heads, said("individual leak")], range(3, 7))
    for row in worst.head(MOST_SUBSETS).iter_rows(named=True):
        leak = row["individual_leak"]
        table.add_row(
            release_name(row["file"], row["release"]),
            row["secret"] or said("whose record it is"),
            escaping.cell(", ".join(row["qids"])),
            percent(row["repU"]),
            percent(row["success_original"]),
            percent(row["success_control"]),
            "" if leak is None else said("{points} pp", points=points(leak)),
        )
    title = counted(
        "The worst of {n} subset of the quasi-identifiers",
        "The worst of {n} subsets of the quasi-identifiers",
        subsets["subset"].n_unique(),
    )
    page: list[Part] = [Heading(title), table]
    if spec["secrets"] and spec["control"]:
        text = said(
            "Many subsets are looked at: about 1 of 40 has an interval above 0 by chance alone, "
            "and the worst one looks worse than it is."
        )
        page.append(Paragraph(text))
    return page


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    page: list[Part] = []
    for name, chart in charts.pictures(stored.frame, stored.details, stored.spec).items():
        page += drawn(name, partial(chart))
    title = said("Synthetic releases: {name}", name=stored.name)
    return title, [*page, *parts(stored.frame, stored.details, stored.spec)]


def headline(stored: Stored) -> list[str]:
    """Return what the releases say about individuals, for the first pages of a report."""
    return sentences(stored.frame, stored.spec)
