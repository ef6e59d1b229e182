"""Levels in words and tables: the levels of all blocks, violations, worst blocks and attacks."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qifsql.presentation import escaping, words
from qifsql.presentation.details import end, footnote_of_bounds
from qifsql.presentation.language import number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.presentation.small_groups import MINIMUM
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

MOST_LISTED = 100  # values of a worst block that are listed, at most
SENTENCES = {
    "k": "k, {people} in a block",
    "average_class_size": "average class size",
    "k_map": "k-map",
    "delta_presence_min": "presence, least share",
    "delta_presence_max": "presence, largest share",
    "l_distinct": "l, distinct values",
    "l_entropy": "l, entropy",
    "t_equal": "t, equal distance",
    "t_ordered": "t, ordered",
    "t_hierarchical": "t, hierarchical",
    "alpha": "alpha",
    "basic_beta": "beta, basic",
    "enhanced_beta": "beta, enhanced",
    "delta_disclosure": "delta-disclosure",
}
SAFER = ("k", "average_class_size", "k_map", "delta_presence_min", "l_distinct", "l_entropy")
"""Measures of which a higher level is safer; of the others a lower level is."""
BELOW = ("l_recursive_c", "delta_disclosure")

SUCCESSFUL = {
    "homogeneity": "Homogeneity attack: {people} in {blocks} where all report the same value.",
    "background": (
        "Background-knowledge attack: {people} in {blocks} with two values; someone who can "
        "rule out one value knows the other."
    ),
    "similarity": (
        "Similarity attack: {people} in {blocks} with several values, all in one category of "
        "level {level}."
    ),
    "skewness": (
        "Skewness attack: {people} in {blocks} where a value is at least {factor} times as "
        "likely as in the release."
    ),
}
"""The sentences about people in blocks with a successful attack, by attack."""
HARMLESS = {
    "homogeneity": "Homogeneity attack: succeeds on nobody.",
    "background": "Background-knowledge attack: succeeds on nobody.",
    "similarity": "Similarity attack at level {level}: succeeds on nobody.",
    "skewness": "Skewness attack: succeeds on nobody.",
}
FEW = {
    "homogeneity": "Homogeneity attack: succeeds on a few people.",
    "background": "Background-knowledge attack: succeeds on a few people.",
    "similarity": "Similarity attack at level {level}: succeeds on a few people.",
    "skewness": "Skewness attack: succeeds on a few people.",
}

KIND = Kind(columns=("measure", "value"), shared=("attacks",))


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec, *, minimum: int = MINIMUM) -> list[Part]:
    """Return the levels of blocks and of each secret, their worst blocks, and the attacks.

    Values of a secret that fewer than ``minimum`` people of a block have are hidden, unless the
    worst blocks are requested. If people have several records, both readings follow each other.
    """
    minimum = 1 if "worst" in tables else minimum
    if "known_records" not in frame.columns:
        return _reading_parts(frame, tables, spec, minimum)
    no_details = {name: table.clear() for name, table in tables.items()}
    return [
        *_reading_parts(frame.filter(known_records="all"), tables, spec, minimum),
        *_reading_parts(frame.filter(known_records="one"), no_details, spec, minimum),
    ]


def _reading_parts(frame: pl.DataFrame, tables: Tables, spec: Spec, minimum: int) -> list[Part]:
    """Return the levels in one reading; values of fewer than ``minimum`` people are hidden."""
    rows = frame.to_dicts()
    totals = {"people": words.persons(rows[0]["people"]), "blocks": words.blocks(rows[0]["blocks"])}
    qids = words.listed(spec["qids"])
    title = said("{people} in {blocks}, knowing {qids}", **totals, qids=qids)
    parts: list[Part] = [
        Heading(title + words.known_records(rows[0])),
        *_level_table([row for row in rows if row["secret"] is None]),
    ]
    for secret in dict.fromkeys(row["secret"] for row in rows if row["secret"] is not None):
        secret_rows = [row for row in rows if row["secret"] == secret]
        parts += [
            Heading(said("The secret {secret}", secret=secret)),
            *_level_table(secret_rows),
            *_worst_block_parts(secret_rows, minimum),
        ]
        attacks = [row for row in tables["attacks"].to_dicts() if row["secret"] == secret]
        parts += [Paragraph(_attack_sentence(row)) for row in attacks]
    if "worst" in tables:
        parts += [Heading(said("Where the worst blocks are")), _block_table(tables["worst"], rows)]
    return parts


def _level_table(rows: Sequence[Mapping[str, Any]]) -> list[Part]:
    """Return a table with one row per level of all blocks, required levels and violations."""
    heads = [said("level of all blocks"), said("level"), said("more is")]
    heads.append(said("{people} at it", people=words.people()))
    if any(row["wanted"] is not None for row in rows):
        heads += [said("required"), said("not met by")]
    bounded = [row for row in rows if row.get("low") is not None]  # levels over all completions
    if bounded:
        heads += [said("least"), said("most")]
    table = Table.of(heads, (1, 3, 4, 5) if bounded else (1, 3))
    for row in rows:
        table.add_row(*_level_cells(row))
    parts: list[Part] = [table]
    if any(False in (row["low_sharp"], row["high_sharp"]) for row in bounded):
        parts.append(footnote_of_bounds())
    without_c = [row for row in rows if row["measure"] == "l_recursive_c" and _has_no_level(row)]
    return [*parts, *(Paragraph(_missing_c_sentence(row)) for row in without_c)]


def _level_cells(row: Mapping[str, Any]) -> list[str]:
    """Return the cells of a level: name, level, direction, people; required; least and most."""
    is_safer = row["measure"] in SAFER
    at = "" if row["people_at_worst"] is None else words.count(row["people_at_worst"])
    more = said("safer") if is_safer else said("riskier")
    is_hidden = row["value"] is None and not _has_no_level(row)
    level = "-" if is_hidden else _level_text(row["value"], row["wanted"])
    cells = [_measure_name(row), level, more, at]
    if row["wanted"] is not None:
        sign = ">=" if is_safer else "<" if row["measure"] in BELOW else "<="
        cells += [f"{sign} {_level_text(row['wanted'], row['wanted'])}", _violations_text(row)]
    if row.get("low") is not None:
        for name in ("low", "high"):
            cells.append(end(_level_text(row[name], None), sharp=row[f"{name}_sharp"]))
    return cells


def _has_no_level(row: Mapping[str, Any]) -> bool:
    """Return whether no level exists, and not only one that others must not see.

    A hidden one has no worst block, too. Every block has one value, so c has no level for l = 1.
    """
    of_one_value = row["measure"] == "l_recursive_c" and row["l"] == 1
    return row["value"] is None and (of_one_value or row["worst_size"] is not None)


def _missing_c_sentence(row: Mapping[str, Any]) -> str:
    """Return the reason why recursive diversity has no level."""
    if row["l"] == 1:
        return said(
            "c, recursive, l = 1: none, as l = 1 asks for one value in a block, which every block "
            "has."
        )
    return said(
        "c, recursive, l = {l}: none, as no c is large enough where a block has fewer than {l} "
        "values.",
        l=row["l"],
    )


def _measure_name(row: Mapping[str, Any]) -> str:
    """Return the name of the measure of a row."""
    if row["measure"] == "l_recursive_c":
        return said("c, recursive, l = {l}", l=row["l"])
    return said(SENTENCES[row["measure"]], people=words.people())


def _level_text(value: float | None, threshold: float | None = None) -> str:
    """Return a level in four digits, or six if four round it to a whole or a required number."""
    if value is None:
        return said("none")
    if value == int(value):
        return words.count(int(value))
    if value >= 1000:
        return words.fixed(value, 0)
    short = f"{value:.4g}"
    return number(f"{value:.6g}" if float(short) in (round(value), threshold) else short)


def _violations_text(row: Mapping[str, Any]) -> str:
    """Return how many people do not have a required level, and in how many blocks."""
    n, blocks = row["people_in_violation"], row["blocks_in_violation"]
    if not blocks:
        return said("nobody")
    if n is None:  # people may be in several blocks
        return words.blocks(blocks)
    return said("{n} in {blocks}", n=words.count(n), blocks=words.blocks(blocks))


def _values_text(values: Sequence[Mapping[str, Any]], different: int) -> str:
    """Return the text of a block's ``values`` with their records, of ``different`` ones in all."""
    if not values:
        return said("(not shown)")
    if different > len(values):
        return said("{values}, and more", values=escaping.cell(values[: escaping.VALUES_SHOWN]))
    return escaping.cell(values)


def _worst_block_parts(rows: Sequence[Mapping[str, Any]], minimum: int) -> list[Part]:
    """Return a table with one row per worst block of a secret: its measures, size and values."""
    is_any_hidden = False
    measures_by_block: dict[tuple[int, str], list[str]] = {}
    for row in rows:
        if row.get("worst_counts") is None:  # as in shared results
            continue
        values = [value for value in row["worst_counts"] if value["records"] >= minimum]
        listed = min(row["worst_values"], MOST_LISTED)  # a result lists no more
        is_any_hidden = is_any_hidden or len(values) < listed
        block = row["worst_size"], _values_text(values, row["worst_values"])
        measures_by_block.setdefault(block, []).append(_measure_name(row))
    if not measures_by_block:
        return []
    heads = [
        said("a worst block of"),
        said("size"),
        said("{people} with each value", people=words.people()),
    ]
    table = Table.of(heads, (1,))
    for (size, text), measures in measures_by_block.items():
        table.add_row("; ".join(measures), words.count(size), text)
    if not is_any_hidden:
        return [table]
    message = (
        "Values that fewer than {n} {people} of a block have are not shown here; --show-blocks "
        "shows them, and the blocks."
    )
    return [table, Paragraph(said(message, n=minimum, people=words.people()))]


def _block_table(worst: pl.DataFrame, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table with one row per worst block: its measures, quasi-identifiers and size."""
    names = {(row["measure"], row["secret"]): _measure_name(row) for row in rows}
    numeric = [i for i, kind in enumerate(worst.dtypes) if kind.is_numeric()]
    measures_by_block: dict[tuple[str, ...], list[str]] = {}
    for measure, secret, *values in worst.iter_rows():  # quasi-identifiers, size
        block = tuple(map(escaping.cell, (secret or "", *values)))
        measures_by_block.setdefault(block, []).append(names.get((measure, secret), measure))
    table = Table.of([said("measure"), said("secret"), *worst.columns[2:-1], said("size")], numeric)
    for block, measures in measures_by_block.items():
        table.add_row("; ".join(measures), *block)
    return table


def _attack_sentence(row: Mapping[str, Any]) -> str:
    """Return a sentence on the people for whom an attack succeeds."""
    if row["people"] is None:  # few, and this report is for others
        return said(FEW[row["attack"]], level=row["level"])
    if not row["people"]:
        return said(HARMLESS[row["attack"]], level=row["level"])
    counts = {"people": words.persons(row["people"]), "blocks": words.blocks(row["blocks"])}
    factor = _level_text(row["factor"])
    return said(SUCCESSFUL[row["attack"]], **counts, level=row["level"], factor=factor)


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    title = said("Privacy levels: {name}", name=stored.name)
    # shared results have no values
    return title, parts(stored.frame, stored.details, stored.spec, minimum=1)


def headline(stored: Stored) -> list[str]:
    """Return the smallest block, unmet levels and attacks, for the first pages of a report."""
    texts = []
    qids = words.listed(stored.spec["qids"])
    for row in stored.frame.iter_rows(named=True):
        if row["measure"] == "k" and row.get("known_records") != "one":
            texts += _smallest_block_sentences(row, qids)
        texts += _unmet_sentences(row)
    attacks = stored.details.get("attacks", pl.DataFrame()).iter_rows(named=True)
    return texts + [_attack_sentence(row) for row in attacks if row["people"] != 0]


def _smallest_block_sentences(row: Mapping[str, Any], qids: str) -> list[str]:
    """Return a sentence on the smallest block, from the row of k; none if k is hidden."""
    if row["value"] is None:
        return []
    if row["value"] == 1:
        alone = words.persons(row["people_at_worst"] or 1)
        return [said("{n} have values of {qids} that nobody else has.", n=alone, qids=qids)]
    message = "Everybody is in a group of at least {n} people with the same {qids}."
    return [said(message, n=words.count(int(row["value"])), qids=qids)]


def _unmet_sentences(row: Mapping[str, Any]) -> list[str]:
    """Return a sentence on a required level that is not met, from its row; none if it is met."""
    level = _measure_name(row)
    is_of_one_record = row.get("known_records") == "one"
    if row["people_in_violation"] and not is_of_one_record:
        message = "A required level ({level}) is not met for {people}."
        return [said(message, level=level, people=words.persons(row["people_in_violation"]))]
    if row["met"] is not False:
        return []
    message = "A required level ({level}) is not met in {blocks}."  # few people, hidden from others
    if is_of_one_record:
        message = (
            "A required level ({level}) is not met in {blocks} of somebody who knows one "
            "record of a person."
        )
    return [said(message, level=level, blocks=words.blocks(row["blocks_in_violation"]))]
