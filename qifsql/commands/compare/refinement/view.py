"""Show whether one set of quasi-identifiers refines another."""

import polars as pl

from qifsql.presentation import table_columns, words
from qifsql.presentation.parts import Paragraph, Part, Spec, Tables


def parts(frame: pl.DataFrame, tables: Tables, _spec: Spec) -> list[Part]:
    """Return a sentence that states whether A refines B; if not, also a counterexample."""
    row = frame.row(0, named=True)
    a, b = words.listed(row["a"]), words.listed(row["b"])
    if row["refines"]:
        text = (
            f"Yes: who knows {a} knows {b}, too, so knowing the first never leaks less than "
            "knowing the second, whatever the secret, the prior and the gain."
        )
        return [Paragraph(text)]
    unit, records = words.people(), words.count(row["records"])
    text = (
        f"No: in {words.count(row['violating_blocks'])} of {words.count(row['blocks'])} blocks "
        f"of {a} {unit} differ in {b}; {words.count(row['violating_people'])} of "
        f"{records} {unit} stand there. For some secret the first leaks less than the second."
    )
    if "counterexample" not in tables:
        return [Paragraph(text)]
    example = table_columns.table_of_frame(tables["counterexample"])
    return [Paragraph(text), Paragraph("The smallest such block:"), example]
