"""The facts of one person in words and tables."""

import polars as pl

from qifsql.commands.attack import view
from qifsql.presentation import words
from qifsql.presentation.parts import Paragraph, Part, Spec, Table, Tables


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return a table of the minimal sets of facts, and what the adversary learns from all facts."""
    table = Table.of(["which facts", "how many", "reveal", "look-alikes"], right=(1, 3))
    for row in frame.iter_rows(named=True):
        facts = words.listed(row["qids"]) if row["qids"] else "none: it holds of everybody"
        what = "whose record it is" if row["reveals"] is None else f"the value of {row['reveals']}"
        table.add_row(facts, str(row["n_qids"]), what, words.count(row["matches"]))
    everything = tables["learnt"].row(0, named=True)
    n, alone = everything["matches"], frame["reveals"].null_count()
    alike = (
        "Knowing all facts, the person is the only one."
        if n == 1
        else f"Knowing all facts, {words.count(n)} of {words.count(everything['records'])} people "
        "look like the person."
    )
    many = f" {alone} minimal sets of facts single the person out."
    sets = {0: "", 1: " One minimal set of facts singles the person out."}.get(alone, many)
    shown: list[Part] = [table] if table.rows else []
    return [*shown, Paragraph(alike + sets), *view.parts(tables["learnt"], {}, spec)]
