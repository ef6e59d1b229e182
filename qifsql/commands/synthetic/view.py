"""Synthetic releases in words and tables: what they say about individuals."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from qifsql.commands.synthetic import charts
from qifsql.presentation import escaping, words
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(
    columns=("release", "file", "measure", "low", "high"),
    shared=("worst", "subsets"),
    types={
        **dict.fromkeys(("value", "low", "high"), pl.Float64()),
        **dict.fromkeys(("count", "people"), pl.Int64()),
        "secret": pl.String(),
    },
)
ASIDE = ("worst",)
"""The details that CSV and Markdown leave out."""
SHOWN = 10  # subsets of a table

Row = Mapping[str, Any]


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return overlap and uniques, and for each secret what is disclosed and guessed."""
    shown: list[Part] = [Heading(_title(spec))]
    shown += [Paragraph(text, strong=i == 0) for i, text in enumerate(sentences(frame, spec))]
    shown += [Heading(said("Overlap and uniques")), _overlap(frame)]
    for secret in spec["secrets"]:
        of_secret = frame.filter(secret=secret)
        shown.append(Heading(said("What is said about {secret}", secret=secret)))
        shown += [_disclosed(of_secret), _guessed(of_secret, spec)]
        shown += _classified(of_secret, spec)
        shown += _worst(tables.get("worst"), secret)
    shown += _questions(frame, spec) + _distances(frame, spec)
    shown += _groups(tables.get("groups"), spec)
    shown += _subsets(tables.get("subsets"), spec)
    return [*shown, Paragraph(limits(spec))]


def _title(spec: Spec) -> str:
    return counted(
        "{n} synthetic release of {people}",
        "{n} synthetic releases of {people}",
        len(spec["releases"]),
        people=words.persons(spec["sizes"]["original"]),
    )


def sentences(frame: pl.DataFrame, spec: Spec) -> list[str]:
    """Return what the releases say about individuals, and what nobody can tell."""
    texts = []
    for secret in spec["secrets"]:
        of_secret = frame.filter(secret=secret)
        leaks = of_secret.filter(measure="individual_leak").to_dicts()
        if leaks:
            worst = max(leaks, key=lambda row: row["value"])
            texts.append(_leak(worst, of_secret, spec))
        else:
            rows = of_secret.filter(measure="success_original").to_dicts()
            texts.append(_success(max(rows, key=lambda row: row["value"]), of_secret, spec))
        leaks = of_secret.filter(measure="classifier_leak").to_dicts()
        if leaks and max(row["low"] for row in leaks) > 0:
            worst = max(leaks, key=lambda row: row["low"])
            texts.append(_classifier_leak(worst, of_secret, spec))
    rows = frame.filter(measure="repU").to_dicts()
    texts.append(_replicated(max(rows, key=lambda row: row["value"]), spec))
    return texts


def _leak(row: Row, frame: pl.DataFrame, spec: Spec) -> str:
    """Return a sentence on the individual leak of a release."""
    values = _by_measure(frame, row["file"])
    original, control = values["success_original"]["value"], values["success_control"]["value"]
    scale = words.scale(original, control)
    texts = {
        "qids": words.listed(spec["qids"]),
        "secret": row["secret"],
        "release": release_name(row["file"], row["release"]),
        "original": words.share(original, scale),
        "control": words.share(control, scale),
        "low": points(row["low"]),
        "high": points(row["high"]),
    }
    first = (
        "Someone who knows {qids} and learns from {release} guesses {secret} right in {original} "
        "people of the original, and in {control} of the control."
    )
    if row["low"] > 0:
        second = (
            "The difference ({low} to {high} percentage points) is about individuals: the release "
            "gives away people it was made from."
        )
    elif row["high"] < 0:
        second = (
            "The difference ({low} to {high} percentage points) is negative: the control may not "
            "be of the same population, and then it does not show what is about individuals."
        )
    else:
        second = (
            "The difference ({low} to {high} percentage points) may be chance: this attack shows "
            "nothing about individuals, and others may."
        )
    return " ".join(said(text, **texts) for text in (first, second))


def _classifier_leak(row: Row, frame: pl.DataFrame, spec: Spec) -> str:
    """Return a sentence on what a classifier learns about individuals."""
    values = _by_measure(frame, row["file"])
    original, control = (
        values["classifier_original"]["value"],
        values["classifier_control"]["value"],
    )
    scale = words.scale(original, control)
    message = (
        "A classifier ({learner}) that learns from {release} guesses {secret} right in {original} "
        "people of the original, and in {control} of the control. The difference ({low} to {high} "
        "percentage points) is about individuals."
    )
    return said(
        message,
        learner=spec["learner"],
        secret=row["secret"],
        release=release_name(row["file"], row["release"]),
        original=words.share(original, scale),
        control=words.share(control, scale),
        low=points(row["low"]),
        high=points(row["high"]),
    )


def _success(row: Row, frame: pl.DataFrame, spec: Spec) -> str:
    """Return a sentence on success without a control."""
    prior = _by_measure(frame, row["file"])["prior_original"]["value"]
    scale = words.scale(row["value"], prior)
    message = (
        "Someone who knows {qids} and learns from {release} guesses {secret} right in {success} "
        "people; without the release in {prior}. Without a control nobody can tell how much of "
        "this is about individuals."
    )
    return said(
        message,
        qids=words.listed(spec["qids"]),
        release=release_name(row["file"], row["release"]),
        secret=row["secret"],
        success=words.share(row["value"], scale),
        prior=words.share(prior, scale),
    )


def _replicated(row: Row, spec: Spec) -> str:
    """Return a sentence on the people who are alone in the original and in a release."""
    if not row["count"]:
        message = "Nobody is alone with the same {qids} in the original and in a release."
        return said(message, qids=words.listed(spec["qids"]))
    message = (
        "{n} of {people} are alone with their {qids} in the original, and in {release} exactly one "
        "record has the same (replicated uniques)."
    )
    return said(
        message,
        n=words.count(row["count"]),
        people=words.persons(row["people"]),
        qids=words.listed(spec["qids"]),
        release=release_name(row["file"], row["release"]),
    )


def _overlap(frame: pl.DataFrame) -> Table:
    heads = [said("release"), said("unique (UiO)"), said("unique in the release (UiS)")]
    heads += [said("unique, and in the release (UiOiS)"), said("replicated unique (repU)")]
    heads += [said("people in the release")]
    table = Table.of(heads, range(1, 6))
    for file, release in _releases(frame):
        values = _by_measure(frame.filter(pl.col("secret").is_null()), file)
        cells = [_percent(values[name]["value"]) for name in charts.OF_RELEASE]
        table.add_row(release, *cells)
    return table


def _disclosed(frame: pl.DataFrame) -> Table:
    heads = [said("release"), said("one value in the original (Dorig)")]
    heads += [said("in the release (DiS)"), said("and it is right (DiSCO)")]
    heads += [said("and one in the original (DiSDiO)"), "TCAP", said("right when certain")]
    table = Table.of(heads, range(1, 7))
    for file, release in _releases(frame):
        values = _by_measure(frame, file)
        table.add_row(release, *(_percent(values[name]["value"]) for name in charts.OF_SECRET))
    return table


def _guessed(frame: pl.DataFrame, spec: Spec) -> Table:
    heads = [said("release"), said("guesses about"), said("right"), said("between")]
    table = Table.of([*heads, said("without the release")], (2, 4))
    for file, release in _releases(frame):
        values = _by_measure(frame, file)
        names = {"original": said("the original")}
        names |= {"control": said("the control")} if spec["control"] else {}
        for name, text in names.items():
            success = values[f"success_{name}"]
            table.add_row(
                release,
                text,
                words.percent(success["value"]),
                _between(success),
                words.percent(values[f"prior_{name}"]["value"]),
            )
        if spec["control"]:
            leak, gain = values["individual_leak"], values["population_knowledge"]
            for text, row in (
                (said("individual leak"), leak),
                (said("population knowledge"), gain),
            ):
                change = said("{points} pp", points=points(row["value"]))
                ends = said("{low} and {high}", low=points(row["low"]), high=points(row["high"]))
                table.add_row(release, text, change, ends)
    return table


def _classified(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of what a classifier guesses that learned from each release."""
    if not spec.get("learner"):
        return []
    heads = [said("release"), said("guesses about"), said("right"), said("between")]
    level = said("RAPID, above {level}", level=words.percent(spec["rapid"]))
    table = Table.of([*heads, level, said("between")], (2, 4))
    for file, release in _releases(frame):
        values = _by_measure(frame, file)
        names = {"original": said("the original")}
        names |= {"control": said("the control")} if spec["control"] else {}
        for name, text in names.items():
            right, rapid = values[f"classifier_{name}"], values[f"rapid_{name}"]
            table.add_row(
                release,
                text,
                words.percent(right["value"]),
                _between(right),
                words.percent(rapid["value"]),
                _between(rapid),
            )
        if spec["control"]:
            leak = values["classifier_leak"]
            change = said("{points} pp", points=points(leak["value"]))
            ends = said("{low} and {high}", low=points(leak["low"]), high=points(leak["high"]))
            table.add_row(release, said("individual leak"), change, ends)
    title = said("What a classifier learns ({learner})", learner=spec["learner"])
    return [Heading(title, 2), table]


def _worst(worst: pl.DataFrame | None, secret: str) -> list[Part]:
    """Return a table of the blocks that give away most, as counts only."""
    if worst is None or worst.filter(secret=secret).is_empty():
        return []
    heads = [said("release"), said("people"), said("given away"), said("records in the release")]
    heads += [said("people of the control"), said("right about them")]
    table = Table.of(heads, range(1, 6))
    for row in worst.filter(secret=secret).iter_rows(named=True):
        names = ("people", "correct", "records", "control", "control_correct")
        table.add_row(
            release_name(row["file"], row["release"]), *(words.count(row[n]) for n in names)
        )
    text = said("Blocks with one value of {secret} in a release, which is right", secret=secret)
    return [Heading(text, 2), table]


def _questions(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of singling out, linkability and inference, on the original and beyond."""
    if not spec.get("questions"):
        return []
    names: list[tuple[str, str, str, str | None]] = [
        (said("singling out, one column"), "singling_out_one", "singling_out_one", None),
        (said("singling out, all columns"), "singling_out_all", "singling_out_all", None),
    ]
    if spec.get("attempts"):
        text = said("singling out, some columns")
        names.insert(1, (text, "singling_out_some", "singling_out_some", None))
    if spec["split"]:
        names.append((said("linkability"), "linkability", "linkability", None))
    if spec.get("links"):
        text = said("linkability, nearest records")
        names.append((text, "linkability_nearest", "linkability_nearest", None))
    for secret in spec["secrets"]:
        text = said("inference of {secret}", secret=escaping.cell(secret))
        names.append((text, "success", "inference", secret))
    heads = [said("release"), said("question"), said("the original"), said("the control")]
    table = Table.of([*heads, said("beyond the control"), said("between")], (2, 3, 4))
    for file, release in _releases(frame):
        for text, success, name, secret in names:
            rows = frame.filter(pl.col("secret").eq_missing(pl.lit(secret)))
            values = _by_measure(rows, file)
            of_original = values[f"{success}_original" if secret else success]
            control, risk = values.get(f"{success}_control"), values.get(f"{name}_risk")
            has_risk = risk is not None and risk["value"] is not None
            table.add_row(
                release,
                text,
                said("nothing to try")
                if of_original["value"] is None
                else words.percent(of_original["value"]),
                "" if control is None else _percent_or_nothing(control["value"]),
                f"{points(risk['value'])} %" if risk is not None and has_risk else "",
                said("{low} and {high} %", low=points(risk["low"]), high=points(risk["high"]))
                if risk is not None and has_risk
                else "",
            )
    note = said(
        "The questions are those of WP 216. Singling out: of the conditions that are true for one "
        "record of the release, those that are true for one person. Beyond the control: the part "
        "of what the control leaves to find out; only that is about individuals."
    )
    heading = Heading(said("Singling out, linkability, inference"))
    return [heading, table, Paragraph(note), *_draws(frame, spec)]


def _draws(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of how many predicates and people were drawn, and what chance gives."""
    attempts, links = spec.get("attempts"), spec.get("links")
    if not attempts and not links:
        return []
    heads = [said("release")]
    if attempts:
        heads += [said("drawn conditions"), said("true for one record")]
    if links:
        heads += [said("drawn people"), said("nearest records"), said("linked by chance")]
    table = Table.of(heads, range(1, len(heads)))
    for file, release in _releases(frame):
        values = _by_measure(frame.filter(pl.col("secret").is_null()), file)
        cells = [release]
        if attempts:
            conditions = values["singling_out_some"]["people"]
            cells += [words.count(attempts), words.count(conditions)]
        if links:
            cells.append(words.count(values["linkability_nearest"]["people"]))
            cells.append(words.count(spec["neighbours"] or 1))
            cells.append(words.percent(values["linkability_nearest_chance"]["value"]))
        table.add_row(*cells)
    return [table]


def _distances(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of the distances of drawn records, with a warning."""
    if not spec.get("distances"):
        return []
    heads = [said("release"), said("drawn records"), said("equal to a person")]
    heads += [said("median distance to the original"), said("to the control")]
    heads += [said("nearer to the original"), said("between"), said("by chance")]
    table = Table.of(heads, range(1, 8))
    for file, release in _releases(frame):
        values = _by_measure(frame.filter(pl.col("secret").is_null()), file)
        zero, nearer = values["distance_zero"], values.get("nearer_original")
        control = values.get("distance_control")
        ends = ["", "", ""]
        if nearer is not None:
            chance = words.percent(values["nearer_by_chance"]["value"])
            ends = [words.percent(nearer["value"]), _between(nearer), chance]
        table.add_row(
            release,
            words.count(zero["people"]),
            words.percent(zero["value"]),
            words.percent(values["distance_original"]["value"]),
            "" if control is None else words.percent(control["value"]),
            *ends,
        )
    warning = said(
        "Gower distances of records that were drawn at random, of all quasi-identifiers and "
        "secrets: 0 % is equal in all columns, 100 % as far as possible in all. Distances do not "
        "show that a release is safe: one that keeps its distance can give away who was in the "
        "original, and one that is near may say nothing about individuals."
    )
    return [Heading(said("Distances")), table, Paragraph(warning)]


def _percent_or_nothing(share: float | None) -> str:
    return "" if share is None else words.percent(share)


def _groups(groups: pl.DataFrame | None, spec: Spec) -> list[Part]:
    """Return a table of success on each group."""
    if groups is None or groups.is_empty() or not spec["secrets"]:
        return []
    heads = [said("release"), escaping.cell(spec["by"]), said("of"), said("people")]
    heads += [said("replicated unique (repU)"), said("and it is right (DiSCO)")]
    heads += [said("right"), said("individual leak"), said("between")]
    table = Table.of(heads, (3, 4, 5, 6, 7))
    for row in groups.iter_rows(named=True):
        leak = row["individual_leak"]
        ends = ["", ""]
        if leak is not None:
            low, high = row["individual_leak_low"], row["individual_leak_high"]
            ends = [said("{points} pp", points=points(leak))]
            ends += [said("{low} and {high}", low=points(low), high=points(high))]
        table.add_row(
            release_name(row["file"], row["release"]),
            words.missing() if row["group"] is None else escaping.cell(row["group"]),
            row["secret"],
            words.count(row["people"]),
            _percent(row["repU"]),
            _percent(row["DiSCO"]),
            _percent(row["success_original"]),
            *ends,
        )
    return [Heading(said("By {column}", column=spec["by"])), table]


def _subsets(subsets: pl.DataFrame | None, spec: Spec) -> list[Part]:
    """Return a table of the subsets that give away most of individuals."""
    if subsets is None or subsets.is_empty():
        return []
    order = "repU"
    if spec["secrets"]:
        order = "individual_leak" if spec["control"] else "success_original"
    first = subsets.sort(order, "n_qids", "subset", descending=[True, False, False])
    heads = [said("release"), said("of"), said("subset"), said("replicated unique (repU)")]
    heads += [said("right, of the original"), said("right, of the control")]
    table = Table.of([*heads, said("individual leak")], range(3, 7))
    for row in first.head(SHOWN).iter_rows(named=True):
        leak = row["individual_leak"]
        table.add_row(
            release_name(row["file"], row["release"]),
            row["secret"] or said("whose record it is"),
            escaping.cell(", ".join(row["qids"])),
            _percent(row["repU"]),
            _percent(row["success_original"]),
            _percent(row["success_control"]),
            "" if leak is None else said("{points} pp", points=points(leak)),
        )
    title = counted(
        "The worst of {n} subset of the quasi-identifiers",
        "The worst of {n} subsets of the quasi-identifiers",
        subsets["subset"].n_unique(),
    )
    shown: list[Part] = [Heading(title), table]
    if spec["secrets"] and spec["control"]:
        message = (
            "Many subsets are looked at: about 1 of 40 has an interval above 0 by chance alone, "
            "and the worst one looks worse than it is."
        )
        shown.append(Paragraph(said(message)))
    return shown


def limits(spec: Spec) -> str:
    """Return a sentence on what these measures do not show."""
    texts = [
        said(
            "These are lower bounds on the risk: they are about people found by {qids}, and a "
            "generator that keeps individuals in another way is not noticed. Low numbers do not "
            "prove that a release is safe.",
            qids=words.listed(spec["qids"]),
        )
    ]
    if spec["control"]:
        texts.append(
            said(
                "The control must be people of the same population who were held out before the "
                "release was made."
            )
        )
    return " ".join(texts)


def points(share: float) -> str:
    """Return a signed share in percentage points: ``+0.31``, ``-2.40``."""
    number = words.percent(abs(share)).removesuffix(" %")
    return number if share == 0 else f"{'-' if share < 0 else '+'}{number}"


def _between(row: Row) -> str:
    return said("{low} and {high}", low=words.percent(row["low"]), high=words.percent(row["high"]))


def _percent(share: float | None) -> str:
    return said("nobody") if share is None else words.percent(share)


def _releases(frame: pl.DataFrame) -> list[tuple[int, str]]:
    """Return the number and the name of each release, in their order."""
    pairs = frame.select("file", "release").unique(maintain_order=True)
    return [(file, release_name(file, name)) for file, name in pairs.iter_rows()]


def release_name(file: int, name: str) -> str:
    """Return the name of a release for people."""
    return said("all releases together") if file == 0 else escaping.cell(name)


def _by_measure(frame: pl.DataFrame, file: int) -> dict[str, Row]:
    rows: Sequence[Row] = frame.filter(file=file).to_dicts()
    return {row["measure"]: row for row in rows}


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    shown: list[Part] = []
    for name, chart in charts.pictures(stored.frame, stored.details, stored.spec).items():
        shown += drawn(name, partial(chart))
    title = said("Synthetic releases: {name}", name=stored.name)
    return title, [*shown, *parts(stored.frame, stored.details, stored.spec)]


def headline(stored: Stored) -> list[str]:
    """Return what the releases say about individuals, for the first pages of a report."""
    return sentences(stored.frame, stored.spec)
