"""An anonymised release as people read it: its classes and its information loss."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from qifsql.commands.anonymise.charts import frontier
from qifsql.presentation import escaping, words
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(columns=("classes", "certainty_penalty"), shared=("quasi_identifiers", "frontier"))
RECODED = ("recode", "lattice", "suppress")
NODES_SHOWN = 10  # rows of the frontier, at most


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return sentences on the classes, a table of losses by quasi-identifier, and any frontier.

    ``frame`` has one row, the release; ``tables`` are the details of the result.
    """
    row = frame.row(0, named=True)
    recoded = row["method"] in RECODED  # only these have changes
    qids = tables["quasi_identifiers"].rows(named=True)
    content: list[Part] = [
        *map(Paragraph, _sentences(row, qids, tables, spec)),
        _loss_table(row, qids, recoded=recoded),
        Paragraph(_meaning(recoded=recoded)),
    ]
    return [*content, *_frontier(tables["frontier"])] if "frontier" in tables else content


def _loss_table(
    row: Mapping[str, Any], qids: Sequence[Mapping[str, Any]], *, recoded: bool
) -> Table:
    """Return the table of losses: a line per quasi-identifier, and one for all (``row``).

    ``recoded``: the quasi-identifiers have changes, which are shown, too.
    """
    heads = [said("quasi-identifier"), said("values"), said("cells")]
    last = [said("changes")] * recoded
    table = Table.of([*heads, said("generalised"), said("penalty"), *last], right=(1, 3, 4))
    for qid in qids:
        changes = [" + ".join(map(escaping.cell, qid["changes"]))] if recoded else []
        table.add_row(
            escaping.cell(qid["quasi_identifier"]),
            words.count(qid["values"]),
            _cell_kinds().get(qid["cells"], qid["cells"]),
            *_share_texts(qid),
            *changes,
        )
    table.add_row(said("all"), "", "", *_share_texts(row), *[""] * recoded)
    return table


def _sentences(
    row: Mapping[str, Any], qids: Sequence[Mapping[str, Any]], tables: Tables, spec: Spec
) -> list[str]:
    """Return sentences on the classes of a release (``row``), and on each option that was used."""
    sentences = [describe(row)]
    if limits := spec.get("until"):
        message = (
            "The release keeps {bounds}, as an attack on it measures them: all suppressed records "
            "are one class."
        )
        sentences.append(said(message, bounds=escaping.cell(words.listed(limits))))
    if "combinations" in tables:
        message = (
            "k is kept for {combinations} of quasi-identifiers: the smallest class by one of them "
            "has {records}."
        )
        smallest = tables["combinations"]["smallest_class"]
        least = int(smallest.min() or 0)  # type: ignore[arg-type]
        unit = words.records if row.get("people") is None else words.persons
        combinations = counted("{n} combination", "{n} combinations", len(smallest))
        sentences.append(said(message, combinations=combinations, records=unit(least)))
    if "suppression" in tables:
        sentences.append(_of_suppression(tables["suppression"].row(0, named=True)))
    if column := spec.get("strata"):
        message = (
            "No class mixes the groups of {column}, which stays as it is; a suppressed record may "
            "be anybody's in its group."
        )
        sentences.append(said(message, column=escaping.cell(column)))
    counts = {qid["quasi_identifier"]: qid.get("suppressed_cells") for qid in qids}
    if hidden := [f"{name} ({words.count(n)})" for name, n in counts.items() if n]:
        message = "Cells suppressed (*) in records that otherwise show their values: {columns}."
        sentences.append(said(message, columns=escaping.cell(words.listed(hidden))))
    return sentences


def _of_suppression(row: Mapping[str, Any]) -> str:
    """Return the sentence on the number of suppressed cells, and whether fewer would do."""
    cells = counted("{n} cell suppressed", "{n} cells suppressed", row["suppressed_cells"])
    if row["at_least"] == row["suppressed_cells"]:
        return said(
            "{cells}. No release in which every combination of cells has k records suppresses "
            "fewer.",
            cells=cells,
        )
    return said(
        "{cells}, the fewest that were found. Every release in which every combination of cells "
        "has k records suppresses at least {least}.",
        cells=cells,
        least=words.count(row["at_least"]),
    )


def _cell_kinds() -> Mapping[str, str]:
    """Return the words for the column ``cells``: the form of the cells of a quasi-identifier."""
    return {
        "intervals": said("intervals"),
        "sets": said("sets"),
        "centroids": said("centroids"),
        "bounds": said("bounds"),
        "midpoints": said("midpoints"),
        "labels": said("labels"),
        "values": said("as they are"),
        "suppressed": said("suppressed (*)"),
        "left out": said("left out"),
    }


def _meaning(*, recoded: bool) -> str:
    """Return the sentences that explain the columns generalised and penalty."""
    if recoded:
        return said(
            "Generalised: the share of records whose cell stands for several values. Penalty: the "
            "mean share of all values that a cell covers (normalised certainty penalty), 100 % "
            "for a quasi-identifier that is dropped and for a suppressed record. A class of k "
            "records hides who is who, but not what all its members have in common."
        )
    return said(
        "Generalised: the share of cells that stand for several values. Penalty: the mean "
        "share of all values that a cell covers (normalised certainty penalty), 100 % for a "
        "cell that covers all. A class of k records hides who is who, but not what all its "
        "members have in common."
    )


def _frontier(nodes: pl.DataFrame) -> list[Part]:
    """Return the nodes with the least loss of the frontier of risk against loss."""
    heads = [said("penalty"), said("best guess"), said("suppressed"), said("classes")]
    table = Table.of([*heads, said("smallest"), said("changes")], right=range(5))
    for node in nodes.head(NODES_SHOWN).iter_rows(named=True):
        table.add_row(
            words.percent(node["penalty"]),
            words.percent(node["risk"]),
            words.count(node["suppressed"]),
            words.count(node["classes"]),
            words.count(node["smallest_class"]),
            " + ".join(map(escaping.cell, node["changes"])) or said("(as it is)"),
        )
    meaning = said(
        "Other nodes of the lattice that keep the limits: each next one loses more and leaves less "
        "risk. Best guess: the chance to name the person of a record in one try."
    )
    return [Heading(said("Frontier of risk against loss")), table, Paragraph(meaning)]


def _share_texts(row: Mapping[str, Any]) -> tuple[str, str]:
    return words.percent(row["generalised"]), words.percent(row["certainty_penalty"])


def describe(row: Mapping[str, Any]) -> str:
    """Return sentences on the classes, their sizes, optimality and suppression: of ``SUMMARY``."""
    method = {"mondrian": "Mondrian", "mdav": "MDAV"}.get(row["method"]) or {
        "recode": said("Global recoding"),
        "lattice": said("Full-domain generalisation"),
        "suppress": said("Local suppression"),
    }[row["method"]]
    in_classes = row["records"] - row["suppressed"]
    if not in_classes:
        return said(
            "{method}: every class breaks a limit, so all records are suppressed.", method=method
        )
    message = "{method}: {records} in {classes} of {least} to {most}, {mean} on average."
    if row.get("people") is not None:
        message = (
            "{method}: {records} in {classes} of {least} to {most} different people, {mean} on "
            "average."
        )
    text = said(
        message,
        method=method,
        records=words.records(in_classes),
        classes=counted("{n} class", "{n} classes", row["classes"]),
        least=words.count(row["smallest_class"]),
        most=words.count(row["largest_class"]),
        mean=words.fixed(row["average_class"], 1),
    )
    if row["optimal"] is not None and row["method"] == "lattice":
        penalty = words.percent(row["penalty"])
        message = "The best node that was found in time: penalty {penalty}."
        if row["optimal"]:
            message = "No node that keeps the limits loses less: penalty {penalty}."
        text += " " + said(message, penalty=penalty)
    if not row["suppressed"]:
        return text
    return f"{text} {words.suppressed(row['suppressed'])}"


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    title = said("Anonymised: {name}", name=stored.name)
    sections = parts(stored.frame, stored.details, stored.spec)
    if "frontier" in stored.details:
        sections += drawn("anonymise", partial(frontier, stored.details["frontier"]))
    return title, sections


def headline(stored: Stored) -> list[str]:
    """Return the release in sentences, for the first pages of a report."""
    return [describe(stored.frame.row(0, named=True))]
