"""The result of an attack: one tidy table, and everything needed to check it."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from qifsql.export import Origin

SCHEMA: dict[str, pl.DataType] = {
    "model": pl.String(),
    "datasets": pl.Int64(),
    "n_qids": pl.Int64(),
    "qids": pl.List(pl.String()),
    "secret": pl.String(),
    "records": pl.Int64(),
    "blocks": pl.Int64(),
    "singled_out": pl.Int64(),
    "prior_deterministic": pl.Float64(),
    "posterior_deterministic": pl.Float64(),
    "degradation_deterministic": pl.Float64(),
    "prior_probabilistic": pl.Float64(),
    "posterior_probabilistic": pl.Float64(),
    "degradation_probabilistic": pl.Float64(),
    "leakage_additive": pl.Float64(),
    "min_entropy_leakage": pl.Float64(),
    "worst_case": pl.Float64(),
    "individuals_certain": pl.Int64(),
    "seconds": pl.Float64(),
}
"""The columns of a result, one row per model, set of quasi-identifiers and secret.

Counts are of records; ``prior_*``, ``posterior_*`` and ``worst_case`` are probabilities in
[0, 1]; ``degradation_deterministic`` and ``leakage_additive`` are posterior minus prior,
``degradation_probabilistic`` is posterior over prior, ``min_entropy_leakage`` its binary
logarithm (bits). ``secret`` is NULL for re-identification. ``seconds`` is the time of the
whole pass that the row comes from.
"""

INDIVIDUAL: dict[str, pl.DataType] = {
    "target": pl.String(),
    "matches": pl.Int64(),
    "best_guess": pl.String(),
}
"""Further columns of individual models: who was attacked, how many look alike, the best guess.

``best_guess`` is NULL when the most likely value is a missing one, and for re-identification
where no key was named."""


@dataclass(frozen=True)
class Assessment:
    """The table of results, where it comes from, and remarks for the reader.

    ``frame`` has the columns of ``SCHEMA``, and of ``INDIVIDUAL`` for individual models.
    """

    frame: pl.DataFrame
    origin: Origin
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """The results as plain dictionaries."""
        return self.frame.to_dicts()
