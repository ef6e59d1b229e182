"""Tables of the three questions about synthetic releases, and of distances."""

import polars as pl

from qifsql.commands.synthetic.sentences import between, by_measure, points, releases
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table


def questions(frame: pl.DataFrame, spec: Spec) -> list[Part]:
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
    for file, release in releases(frame):
        for text, success, name, secret in names:
            rows = frame.filter(pl.col("secret").eq_missing(pl.lit(secret)))
            values = by_measure(rows, file)
            of_original = values[f"{success}_original" if secret else success]
            control, risk = values.get(f"{success}_control"), values.get(f"{name}_risk")
            has_risk = risk is not None and risk["value"] is not None
            table.add_row(
                release,
                text,
                said("nothing to try")
                if of_original["value"] is None
                else words.percent(of_original["value"]),
                ""
                if control is None or control["value"] is None
                else words.percent(control["value"]),
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
    for file, release in releases(frame):
        values = by_measure(frame.filter(pl.col("secret").is_null()), file)
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


def distances(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of the distances of drawn records, with a warning."""
    if not spec.get("distances"):
        return []
    heads = [said("release"), said("drawn records"), said("equal to a person")]
    heads += [said("median distance to the original"), said("to the control")]
    heads += [said("nearer to the original"), said("between"), said("by chance")]
    table = Table.of(heads, range(1, 8))
    for file, release in releases(frame):
        values = by_measure(frame.filter(pl.col("secret").is_null()), file)
        zero, nearer = values["distance_zero"], values.get("nearer_original")
        control = values.get("distance_control")
        ends = ["", "", ""]
        if nearer is not None:
            chance = words.percent(values["nearer_by_chance"]["value"])
            ends = [words.percent(nearer["value"]), between(nearer), chance]
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
