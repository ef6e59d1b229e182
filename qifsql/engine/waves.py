"""The waves of a long table: one row per person and wave, one dataset per wave."""

from dataclasses import replace

from sqlglot import exp

from qifsql.data.dataset import Dataset
from qifsql.data.expressions import FLOATING, identifier, with_one_missing
from qifsql.data.readers import relation
from qifsql.data.types import nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.protocol import Engine
from qifsql.errors import ColumnError, InputError, quoted

WAVES = 100  # releases in one long table, at most


def waves(engine: Engine, dataset: Dataset, column: str) -> tuple[list[Dataset], int]:
    """Return one dataset per value of a column of a long table, in the order of the values.

    Also return the number of records without a value.
    """
    catalog = Catalog(engine, dataset)
    assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - it was one
    original = catalog.schema[column]
    if nested(original.type):
        raise ColumnError(f"wave {quoted(column)} of {dataset.name} is nested; use another column")
    this: exp.Expr = exp.column(identifier(original.source_name))
    text = exp.cast(this.copy(), "VARCHAR")  # distinguishes 0.0 and -0.0, as the waves do
    this = with_one_missing(this) if original.type in FLOATING else this
    missing = exp.paren(this).is_(exp.null())
    rows = exp.select(exp.Count(this=exp.Star())).from_(relation(catalog.dataset)).where(missing)
    ((without,),) = engine.query(rows, dataset.name)
    query = (
        exp.select(text)
        .from_(relation(catalog.dataset))
        .where(exp.not_(missing.copy()))
        .group_by(text.copy())
        .order_by(exp.Min(this=this.copy()), text.copy())
        .limit(WAVES + 1)
    )
    values = [value for (value,) in engine.query(query, dataset.name)]
    if len(values) > WAVES or not values:
        many = f"more than {WAVES}" if values else "no"
        raise InputError(
            f"column {quoted(column)} of {dataset.name} has {many} values; a wave is a release, "
            "such as a year: name another column"
        )
    parts = [
        replace(catalog.dataset, name=f"{dataset.name} ({i})", wave=(original.source_name, value))
        for i, value in enumerate(values, 1)
    ]
    return parts, without
