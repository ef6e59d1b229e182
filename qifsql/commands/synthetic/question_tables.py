"""Tables of the three questions about synthetic releases, and of distances."""

import polars as pl

from qifsql.commands.synthetic.sentences import between, by_measure, points, releases
from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table


def questions(frame: pl.DataFrame, spec: Spec) -> list[Part]:
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
