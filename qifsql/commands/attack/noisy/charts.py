"""The chart of an attack with noisy knowledge: before, known exactly, known with errors."""

import polars as pl

from qifsql.commands.attack.noisy.view import EXACT
from qifsql.presentation.language import said


def adversaries(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[int, str]]:
    """Return the rows numbered by adversary in the column ``datasets``, and the names of these."""
    number = pl.when(pl.col("knows") == EXACT).then(1).otherwise(2)
    names = {1: said("after, known exactly"), 2: said("after, with errors and gaps")}
    return frame.with_columns(number.alias("datasets")), names
