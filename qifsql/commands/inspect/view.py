"""Blocks, objects of information flow and the facts of one person, as people read them."""

import polars as pl

from qifsql.commands.attack import view
from qifsql.commands.inspect import matrices
from qifsql.presentation import escaping, words
from qifsql.presentation.language import said
from qifsql.presentation.parts import Paragraph, Part, Spec, Table, Tables


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return the parts of what was shown: blocks have an order, objects a name."""
    if "order" in spec:
        return _block_parts(frame, spec)
    return matrices.parts(frame, spec) if "show" in spec else _receipt_parts(frame, tables, spec)


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
    return [*content, Paragraph(text), *view.parts(tables["learnt"], {}, spec)]
