"""Sweeps as set functions: V(S) is the success of an adversary who knows the attributes S.

A sweep has one row for each subset of the quasi-identifiers and each question, which is a model and
a secret (NULL for re-identification). Bit i of ``subset`` is set if the subset contains the i-th
quasi-identifier. V(S) is the posterior of S, V(empty) is the prior (M34). Values are exact: whole
multiples of one unit, which is a record if there are no weights.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

QUESTION = ("model", "secret")
MEASURES = ("deterministic", "probabilistic")


@dataclass(frozen=True, eq=False)
class Game:
    """The set function of a model, secret and measure: V(S) = amounts[S] / unit, amounts whole."""

    key: tuple[str | None, ...]
    amounts: pl.Series
    unit: Fraction

    def value(self, subset: int) -> Fraction:
        """Return V(S); -1 is the subset of all."""
        return Fraction(self.amounts[subset]) / self.unit

    def last(self, position: int) -> Fraction:
        """Return V(all) - V(all but a)."""
        return self.value(-1) - self.value(-1 - (1 << position))


def games(frame: pl.DataFrame) -> Iterator[Game]:
    """Yield the deterministic, then the probabilistic set function of each question of a sweep.

    If subsets are missing, the amounts are those of the subsets that are there, in their order.
    """
    for part in questions(frame):
        for measure in MEASURES:
            amounts, unit = multiples(values(part, measure), part["records"][0])
            yield Game((*part.row(0)[:2], measure), amounts, unit)


def questions(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the rows of each question, sorted by subset; model and secret come first."""
    numbers = pl.col(r"^(prior|posterior|degradation)_(deterministic|probabilistic)$")
    rows = frame.select(*QUESTION, "n_qids", "subset", "records", numbers)
    return [part.sort("subset") for part in rows.partition_by(*QUESTION, maintain_order=True)]


def values(part: pl.DataFrame, measure: str) -> pl.Series:
    """Return V by subset: the prior, then every posterior."""
    return pl.concat([part[f"prior_{measure}"].head(1), part[f"posterior_{measure}"]])


def multiples(values: pl.Series, records: int) -> tuple[pl.Series, Fraction]:
    """Return whole amounts and a unit so that each value is amount / unit, in 64 or 128 bits.

    Amounts are counts of records if each value is a count over all records, except in its last two
    binary digits (Polars divides by a scalar with an error in the last). Otherwise (weights, gains)
    the unit makes the last digit of the smallest value whole; only digits 100 places below the
    largest are rounded.
    """
    products = values * records
    amounts, unit = products.round(), Fraction(records)
    if not ((products - amounts).abs() <= amounts.abs() * 2.0**-50).all():
        sizes = values.abs().replace(0.0, None)
        ends = pl.select(sizes.min(), b=sizes.max()).row(0)
        low, high = (math.frexp(size)[1] for size in ends)  # binary exponents
        # All digits of the smallest value, but no sum of values beyond 125 bits, no infinite power.
        digits = min(53 - low, 125 - len(values).bit_length() - high, 1023)
        amounts, unit = (values * 2.0**digits).round(), Fraction(2) ** digits
    sum_fits = (amounts.abs() < 2.0**62 / len(amounts)).all()
    return amounts.cast(pl.Int64 if sum_fits else pl.Int128), unit
