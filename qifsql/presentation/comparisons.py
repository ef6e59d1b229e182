"""Tables of risk and information loss of several releases."""

from collections.abc import Sequence
from math import isinf

from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Bad, Heading, Paragraph, Part, Table


def named(row: Row) -> str:
    """Return the name of a row's release: its file or, for forms of one file, its changes."""
    if "changes" not in row:
        return escaping.cell(row["release"])
    if row["release"] == "before":
        return said("(as it is)")
    if row["release"] == "together":
        return said("(all together)")
    return " + ".join(escaping.cell(text) for text in row["changes"])


def risks(
    rows: Sequence[Row], first: Sequence[Row], head: str, *, penalty: bool = False
) -> list[Part]:
    """Return the tables of risk: one for re-identification, and one for each secret.

    ``rows`` have a row per release and secret, ``first`` a row per release. ``head`` is the name of
    the column of releases; ``penalty`` adds the information lost. If people have several records,
    there are these tables for an adversary who knows all records of a person, and for one record.
    """
    parts: list[Part] = []
    for knowledge in dict.fromkeys(row.get("known_records") for row in first):
        same_first = [row for row in first if row.get("known_records") == knowledge]
        same_rows = [row for row in rows if row.get("known_records") == knowledge]
        parts += _identification(same_first, head, penalty=penalty) + _inference(same_rows, head)
    return parts


def _identification(first: Sequence[Row], head: str, *, penalty: bool) -> list[Part]:
    """Return the table of re-identification: a line per row of ``first`` (see ``risks``)."""
    priors = [row["crs_prior_probabilistic"] for row in first]
    priors_differ = len(set(priors)) > 1  # those of releases of different sizes do
    is_of_people = first[0].get("people") is not None
    unit, unit_head = ("people", said("people")) if is_of_people else ("records", said("records"))
    heads = [head, unit_head, said("blocks"), "k", said("certain"), said("best guess")]
    heads += [said("without it")] * priors_differ + [said("penalty")] * penalty
    table = Table.of(heads, range(1, 8))
    for row, prior in zip(first, priors, strict=True):
        cells = [words.count(row[name]) for name in (unit, "blocks", "k")]
        cells += [*_success(row, "crs"), *[words.percent(prior)] * priors_differ]
        cells += [words.percent(row["certainty_penalty"])] if penalty else []
        table.add_row(named(row), *cells)
    heading = Heading(said("Re-identification (CRS)") + words.known_records_clause(first[0]))
    message = (
        "Certain: {people} alone in their block. Best guess: the chance to name the person of a "
        "record in one try; without the release {before}."
    )
    if first[0].get("known_records") == "one":  # of the records of a person
        message = (
            "Shares are of records. Certain: records that are like those of no other person. Best "
            "guess: the chance to name the person of a record in one try."
        )
    elif priors_differ:
        message = (
            "Certain: {people} alone in their block. Best guess: the chance to name the person of "
            "a record in one try. Without it: the chance without the release, from a list of its "
            "people alone."
        )
    meaning = said(message, before=words.chance(priors[0]), people=words.people())
    return [heading, table, Paragraph(meaning)]


def _inference(rows: Sequence[Row], head: str) -> list[Part]:
    """Return a table of inference for each secret, with a line per release; [] without secrets."""
    parts: list[Part] = []
    heads = [head, "l", said("certain"), said("best guess"), said("without it")]
    for secret in dict.fromkeys(row["secret"] for row in rows if row["secret"] is not None):
        table = Table.of(heads, range(1, 5))
        for row in rows:
            if row["secret"] == secret:
                prior = words.percent(row["cas_prior_probabilistic"])
                table.add_row(named(row), words.count(row["l"]), *_success(row, "cas"), prior)
        heading = said("Inference of {secret} (CAS)", secret=escaping.cell(secret))
        parts += [Heading(heading + words.known_records_clause(rows[0])), table]
    if not parts:
        return []
    meaning = said(
        "l: the smallest number of distinct values in a block. Certain: {people} in blocks "
        "with one value. Without it: the best guess without the release, from the "
        "distribution of values alone.",
        people=words.people(),
    )
    if rows[0].get("people") is not None:
        meaning = said(
            "l: the smallest number of different secrets in a block; a secret is the values of "
            "all records of a person. Certain: in blocks with one secret. Without it: the best "
            "guess without the release."
        )
    return [*parts, Paragraph(meaning)]


def _success(row: Row, model: str) -> tuple[str, ...]:
    measures = ("deterministic", "probabilistic")
    return tuple(words.percent(row[f"{model}_posterior_{measure}"]) for measure in measures)


def loss_cells(row: Row) -> tuple[str, ...]:
    """Return the information loss of a release or of one of its columns, as cells of a row."""
    losses = ("generalised", "certainty_penalty", "total_variation")
    is_infinite = isinf(row["divergence"])
    divergence = Bad(said("infinite")) if is_infinite else words.fixed(row["divergence"], 4)
    return (*(words.percent(row[name]) for name in losses), divergence)
