"""The columns of a dataset as people read them."""

import polars as pl

from qifsql.presentation import escaping, words
from qifsql.presentation.language import number, said
from qifsql.presentation.listings import frame
from qifsql.presentation.parts import Part, Spec, Table, Tables
from qifsql.results.kinds import Kind

KIND = Kind(columns=("column", "missing", "distinct"))
ROLES = ("constant", "weight", "key", "secret", "quasi-identifier", "nested")
REASONS = (  # of roles that ``describe`` suggests
    "one value only",
    "its name says so",
    "nearly every record has a different value",
    "a measurement that few people know",
    "yes or no, and its name is not known",
    "other people may know it",
    "use a part of it as an expression",
)


def parts(data: pl.DataFrame, tables: Tables, _spec: Spec) -> list[Part]:
    """Return the columns of a dataset, as people read them, and their frequent values."""
    heads = [said("column"), said("type"), said("missing"), said("distinct")]
    heads += [said("entropy (bits)"), said("singled out"), said("role?"), said("why")]
    table = Table.of(heads, right=(2, 3, 4, 5))
    roles = {role: said(role) for role in ROLES}
    reasons = {reason: said(reason) for reason in REASONS}
    for row in data.iter_rows(named=True):
        numbers = ["", "", "", ""]
        if row["records"] is not None:
            numbers = [
                words.count(row["missing"]),
                words.count(row["distinct"]),
                number(f"{row['entropy']:.2f}"),
                words.percent(row["singled_out_share"]),
            ]
        name = escaping.cell(row["column"])
        role = roles.get(row["suggested_role"], row["suggested_role"])
        table.add_row(name, row["type"], *numbers, role, reasons.get(row["why"], row["why"]))
    return [table, frame(tables["values"])] if "values" in tables else [table]
