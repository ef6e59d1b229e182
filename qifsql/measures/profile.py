"""The profile: the one form of data between SQL and the measures.

A row is about blocks that are alike: their number, and their totals:

=============  ======================================================================
``size``       individuals in each such block (k_b; with weights, those of weight > 0)
``values``     distinct values of the secret in each (d_b)
``blocks``     number of such blocks
``weight``     their total weight (n_b summed; without weights, their individuals)
``mode``       total weight of the most likely value of the secret in each (m_b summed)
``heaviest``   total weight of the most likely person in each (max w summed)
``chance``     largest m_b / n_b among them, in (0, 1]
``owner``      largest max w / n_b among them, in (0, 1]
=============  ======================================================================

With a gain function other than identity ``mode`` and ``chance`` are gains times ``scale``, a power
of two or the denominator of a penalty.

Counts and weights are whole numbers (weights up to a common factor), so that every success
is an exact fraction. The profile of no quasi-identifiers is one block: the prior.
"""

from dataclasses import dataclass
from fractions import Fraction

import polars as pl


@dataclass(frozen=True)
class Profile:
    """The blocks of one partition by size, mode and number of values of one secret."""

    frame: pl.DataFrame
    scale: float = 1

    @classmethod
    def of_counts(cls, frame: pl.DataFrame) -> "Profile":
        """Build a profile from ``size, mode, values, blocks`` of the view ``profile``.

        Everybody weighs 1.
        """
        size, mode, blocks = pl.col("size"), pl.col("mode"), pl.col("blocks")
        totals = {"weight": size * blocks, "mode": mode.cast(pl.Int128) * blocks}
        best = {"heaviest": blocks, "chance": mode.cast(pl.Float64) / size, "owner": 1 / size}
        return cls(frame.select("size", "values", "blocks", **totals, **best), _scale(frame))

    @classmethod
    def of_weights(cls, frame: pl.DataFrame) -> "Profile":
        """Build a profile from the totals of the view ``weighted/profile``."""
        columns = ("size", "values", "blocks", "weight", "mode", "heaviest", "chance")
        return cls(frame.select(*columns, owner="owner_chance"), _scale(frame))

    @property
    def individuals(self) -> int:
        """Return how many people the blocks hold."""
        return int((self.frame["size"] * self.frame["blocks"]).sum())

    @property
    def blocks(self) -> int:
        """Return how many blocks there are."""
        return int(self.frame["blocks"].sum())

    @property
    def singled_out(self) -> int:
        """Return how many people are alone in their block."""
        return int(self.frame.filter(pl.col("size") == 1)["blocks"].sum())

    @property
    def certain(self) -> int:
        """Return how many people are in blocks in which the secret has one value."""
        one = self.frame.filter(pl.col("values") == 1)
        return int((one["size"] * one["blocks"]).sum())

    def least(self, column: str) -> int:
        """Return the least number in a column: k of ``size``, l of ``values``."""
        return int(self.frame[column].min())  # type: ignore[arg-type]

    def share(self, column: str, where: pl.Expr | None = None) -> Fraction:
        """Compute a total (``weight``, ``mode`` or ``heaviest``), over all weight: exact."""
        rows = self.frame if where is None else self.frame.filter(where)
        return _total(rows[column]) / _total(self.frame["weight"])


def _total(numbers: pl.Series) -> Fraction:
    """Compute the sum in Python: sums of weights may need more bits than Polars has."""
    whole = numbers.dtype.is_integer()
    return Fraction(sum(numbers) if whole else sum(map(Fraction, numbers)))


def _scale(frame: pl.DataFrame) -> float:
    """Return the factor of gains in ``mode``, one for the whole profile; by default 1."""
    return float(frame["scale"][0]) if "scale" in frame.columns and frame.height else 1
