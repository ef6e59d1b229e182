"""Blocks, objects of information flow and the facts of one person, as people read them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.commands.attack import view
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Paragraph, Part, Spec, Table, Tables

MOST_COLUMNS = 12  # blocks of a matrix
MOST_ROWS = 30  # values of the secret in a matrix
LISTED_ROWS = 20  # of an object that is too large for a matrix
TITLES = {
    "prior": "What the adversary believes before: the prior.",
    "cooccurrence": "How many people have each value of the secret, in each block.",
    "joint": "How likely a value of the secret and a block are together: the joint.",
    "channel": "How likely each block is, given the value of the secret: the channel.",
    "hyper": "What the adversary believes after, for each different observation: the hyper. Its "
    "first line says how likely each is (outers); a column is the belief after it (an inner).",
}


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return the parts of what was shown: blocks have an order, objects a name, tests a draw."""
    if "draw" in spec:
        return _test_parts(frame)
    if "order" in spec:
        return _block_parts(frame, spec)
    return _object_parts(frame, spec) if "show" in spec else _receipt_parts(frame, tables, spec)


def _test_parts(frame: pl.DataFrame) -> list[Part]:
    """Return a table of the questions of a motivated intruder test, with what is predicted."""
    heads = [said("question"), said("sheets"), said("predicted right"), said("least")]
    table = Table.of([*heads, said("greatest")], right=(1, 2, 3, 4))
    for secret, sheets, *chances in frame.iter_rows():
        question = said("whose record") if secret is None else escaping.cell(secret)
        table.add_row(question, words.count(sheets), *map(words.percent, chances))
    return [table]


def _block_parts(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return a table of blocks: quasi-identifiers, size, and the values of each secret.

    Blocks of people with several records have their records, too. The frame is that of ``blocks``:
    after the sizes, it has the success, and four columns per secret, the last with the counts.
    """
    secrets = spec["secrets"]
    sizes = [said("people"), said("records")] if spec.get("person") else [said("size")]
    n_qids = frame.width - len(sizes) - 1 - 4 * len(secrets)  # names may be any: taken by position
    success = n_qids + len(sizes)
    heads = [*frame.columns[:n_qids], *sizes, *secrets]
    table = Table.of(heads, right=range(n_qids, success))
    for row in frame.iter_rows():
        counts = map(escaping.cell, row[success + 4 :: 4])
        numbers = map(words.count, row[n_qids:success])
        table.add_row(*map(escaping.cell, row[:n_qids]), *numbers, *counts)
    if not secrets:
        return [table]
    note = said(
        "In brackets: {people} with each value; the first is the best guess.", people=words.people()
    )
    return [table, Paragraph(note)]


def _object_parts(frame: pl.DataFrame, spec: Spec) -> list[Part]:
    """Return one object: values of the secret down, blocks (or inners) across; a list if large.

    A row of the frame is a value and a block, or an inner, that occur together.
    """
    show, secret = spec["show"], spec["secrets"][0]
    across = "inner" if show == "hyper" else "block"
    width = 1 if show == "prior" else frame[across].n_unique()
    if width > MOST_COLUMNS or frame["value"].n_unique() > MOST_ROWS:
        return _list_parts(frame, show)
    rows = frame.to_dicts()
    if show == "prior":
        table = Table.of([secret, "people", "prior"], right=(1, 2))
        for row in rows:
            value, people = escaping.cell(row["value"]), words.count(row["count"])
            table.add_row(value, people, _fraction_text(row, ""))
    else:
        table = _matrix(rows, spec, across)
    return [Paragraph(TITLES[show]), table]


def _matrix(rows: Sequence[Mapping[str, Any]], spec: Spec, across: str) -> Table:
    """Return an object as a matrix: a line per value, a column per block or inner (``across``)."""
    show = spec["show"]
    first_rows = {row[across]: row for row in reversed(rows)}  # of each block or inner
    columns = sorted(first_rows)
    heads = [_block_label(first_rows[c], len(spec["qids"])) for c in columns]
    table = Table.of([spec["secrets"][0], *heads], right=range(1, len(heads) + 1))
    if show == "hyper":
        table.add_row("outer", *(_fraction_text(first_rows[c], "outer_") for c in columns))
    entries = {(row["value"], row[across]): row for row in rows}

    def cell(value: Any, column: int) -> str:
        entry = entries.get((value, column))
        if entry is None:
            return "0"
        return str(entry["count"]) if show == "cooccurrence" else _fraction_text(entry, "")

    different_values = {row["value"] for row in rows}
    values = sorted(different_values - {None})  # all are of one type
    for value in [*values, None] if None in different_values else values:
        table.add_row(escaping.cell(value), *(cell(value, column) for column in columns))
    return table


def _list_parts(frame: pl.DataFrame, show: str) -> list[Part]:
    """Return an object that is too large for a matrix as a list of its first LISTED_ROWS rows."""
    table = Table.of(frame.columns)
    for row in frame.head(LISTED_ROWS).iter_rows():
        table.add_row(*(escaping.cell(v) for v in row))
    more = ""
    if (n := frame.height - LISTED_ROWS) > 0:
        more = f"... and {words.count(n)} more rows; -o FILE.parquet writes all."
    return [Paragraph(TITLES[show]), table, Paragraph(more)]


def _block_label(row: Mapping[str, Any], width: int) -> str:
    """Return the values of a block: those of the ``width`` columns after ``block``.

    ``(+1)`` after them: one more block has the same distribution of the secret.
    """
    names = list(row)
    start = names.index("block") + 1
    label = ", ".join(escaping.cell(row[name]) for name in names[start : start + width])
    return f"{label} (+{row['blocks'] - 1})" if row.get("blocks", 1) > 1 else label


def _fraction_text(row: Mapping[str, Any], prefix: str) -> str:
    """Return a probability as a short fraction, as in papers, or else in digits."""
    part, total = int(row[f"{prefix}numerator"]), int(row[f"{prefix}denominator"])
    if total < 10**6:
        return str(Fraction(part, total))
    text = f"{part / total:.6g}"
    return text if text not in ("0", "1") else repr(part / total)  # neither impossible nor certain


def _receipt_parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of the minimal sets of facts, and what the adversary learns from all facts."""
    table = Table.of(["which facts", "how many", "reveal", "look-alikes"], right=(1, 3))
    for row in frame.iter_rows(named=True):
        facts = words.listed(row["qids"]) if row["qids"] else "none: it holds of everybody"
        what = "whose record it is" if row["reveals"] is None else f"the value of {row['reveals']}"
        table.add_row(facts, str(row["n_qids"]), what, words.count(row["matches"]))
    learnt = tables["learnt"].row(0, named=True)
    n, total = words.count(learnt["matches"]), words.count(learnt["records"])
    text = f"Knowing all facts, {n} of {total} people look like the person."
    if learnt["matches"] == 1:
        text = "Knowing all facts, the person is the only one."
    n_sets = frame["reveals"].null_count()  # NULL: the set singles the person out
    if n_sets == 1:
        text += " One minimal set of facts singles the person out."
    elif n_sets:
        text += f" {n_sets} minimal sets of facts single the person out."
    content: list[Part] = [table] if table.rows else []
    content += [Paragraph(text), *view.parts(tables["learnt"], {}, spec)]
    if "chances" in tables:
        for _, rows in tables["chances"].group_by("secret", maintain_order=True):
            content += _chance_parts(rows)
    return content


def _chance_parts(rows: pl.DataFrame) -> list[Part]:
    """Return a paragraph on the value whose chance for the person rises most, but not to 1."""
    raised = rows.filter((pl.col("posterior") > pl.col("prior")) & (pl.col("posterior") < 1))
    if raised.is_empty():
        return []
    by_factor = raised.sort(pl.col("posterior") / pl.col("prior"), maintain_order=True)
    line = by_factor.row(-1, named=True)
    return [
        Paragraph(
            f"Harm needs no certainty: {escaping.cell(line['secret'])} is "
            f"{escaping.cell(line['value'])} with a chance of {words.percent(line['posterior'])} "
            f"for this person, and of {words.percent(line['prior'])} for anybody. Whoever chooses "
            "between this person and another may decide by that."
        )
    ]
