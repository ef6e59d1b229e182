"""The profile: the one form of data between SQL and the measures.

A row is about blocks that are alike: their number, and their totals:

=============  ======================================================================
``size``       individuals in each such block (k_b; with weights, those of weight > 0)
``people``     individuals of whom the row tells: those in all such blocks
``values``     distinct values of the secret in each (d_b)
``blocks``     number of such blocks
``weight``     their total weight (n_b summed; without weights, their individuals)
``mode``       total weight of the most likely value of the secret in each (m_b summed)
``heaviest``   total weight of the most likely person in each (max w summed)
``chance``     largest m_b / n_b among them, in (0, 1]
``owner``      largest max w / n_b among them, in (0, 1]
``usual``      if counted: people who have the value that is guessed without the release
=============  ======================================================================

The block of people with suppressed records is everyone: ``size`` and ``values`` are those of all,
``people`` is how many stand in it, and the totals are theirs.

With a gain function other than identity ``mode`` and ``chance`` are gains times ``scale``, a power
of two or the denominator of a penalty.

Counts and weights are whole numbers (weights up to a common factor), so that every success
is an exact fraction. The profile of no quasi-identifiers is one block: the prior.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import polars as pl

USUAL = "usual"


@dataclass(frozen=True)
class Profile:
    """The blocks of one partition by size, mode and number of values of one secret."""

    frame: pl.DataFrame
    scale: float = 1

    @classmethod
    def of_counts(cls, frame: pl.DataFrame) -> "Profile":
        """Build a profile from the view ``profile``, where everybody weighs 1.

        A row of it is the ``blocks`` of one ``size``, of which the most frequent value (``mode``)
        and the number of ``values`` are the same. The column ``usual`` may be there, too.
        """
        size, mode, blocks = (frame[name] for name in ("size", "mode", "blocks"))
        columns = {
            "size": size,
            "people": size * blocks,
            "values": frame["values"],
            "blocks": blocks,
            "weight": size * blocks,
            "mode": mode.cast(pl.Int128) * blocks,
            "heaviest": blocks,
            "chance": mode.cast(pl.Float64) / size,
            "owner": 1 / size,
        }
        columns |= {name: frame[name] for name in (USUAL,) if name in frame.columns}
        return cls(pl.DataFrame(columns), _scale(frame))

    @classmethod
    def of_weights(cls, frame: pl.DataFrame) -> "Profile":
        """Build a profile from the totals of the view ``weighted/profile``."""
        columns = ("values", "blocks", "weight", "mode", "heaviest", "chance")
        people = pl.col("size") * pl.col("blocks")
        table = frame.select("size", *columns, people=people, owner="owner_chance")
        return cls(table, _scale(frame))

    def empty(self) -> "Profile":
        """Return a profile of no blocks in the same unit."""
        return Profile(self.frame.clear(), self.scale)

    def with_everyone(self, hidden: "Profile", everybody: "Profile") -> "Profile":
        """Return the profile with one more block, everyone, for people with suppressed records.

        ``everybody`` is the profile without quasi-identifiers: it has the size of the block, and
        the chances in it. ``hidden`` is that of the people with suppressed records, in groups by
        their number of records: it has their number, and the totals of the best guesses about each
        group, of which no more can be right.
        """
        row = {n: everybody.frame[n][0] for n in ("size", "values", "chance", "owner")}
        row |= {
            n: sum(hidden._column(n))
            for n in ("weight", "mode", "heaviest", USUAL)
            if n in self.frame.columns
        }
        row |= {"blocks": 1, "people": hidden.individuals}
        block = pl.DataFrame([row], schema=self.frame.schema)
        return Profile(pl.concat([self.frame, block]), self.scale)

    @property
    def individuals(self) -> int:
        """Return how many people the blocks hold."""
        return sum(self._people)

    @property
    def blocks(self) -> int:
        """Return how many blocks there are."""
        return sum(self._column("blocks"))

    @property
    def singled_out(self) -> int:
        """Return how many people are alone in their block."""
        return sum(_where(self._people, self._column("size")))

    @property
    def certain(self) -> int:
        """Return how many people are in blocks in which the secret has one value."""
        return sum(_where(self._people, self._column("values")))

    def least(self, column: str) -> int:
        """Return the least number in a column: k of ``size``, l of ``values``."""
        return min(self._column(column))

    def share(self, column: str, *, alone: str | None = None) -> Fraction:
        """Compute the sum of ``weight``, ``mode`` or ``heaviest`` over all weight: exact.

        ``alone``: the sum is over blocks in which the column of this name is 1.
        """
        numbers = self._column(column)
        part = numbers if alone is None else _where(numbers, self._column(alone))
        return _total(part) / self._weight

    @cached_property
    def _columns(self) -> dict[str, list[int]]:
        """Return the columns read so far, by name; ``_column`` fills it."""
        return {}

    @property
    def _people(self) -> list[int]:
        return self._column("people")

    @cached_property
    def _weight(self) -> Fraction:
        return _total(self._column("weight"))

    def _column(self, name: str) -> list[int]:
        """Return the numbers of a column: Python adds them up exactly, however large they are."""
        if name not in self._columns:
            self._columns[name] = self.frame[name].to_list()
        return self._columns[name]


def _where(numbers: Sequence[int], column: Sequence[int]) -> list[int]:
    """Return the numbers of the rows in which a column is 1."""
    return [number for number, value in zip(numbers, column, strict=True) if value == 1]


def _total(numbers: Sequence[float]) -> Fraction:
    """Compute the exact sum of numbers, which floats may be among."""
    are_integers = all(isinstance(number, int) for number in numbers)
    return Fraction(sum(numbers) if are_integers else sum(map(Fraction, numbers)))


def _scale(frame: pl.DataFrame) -> float:
    """Return the factor of gains in ``mode``, one for the whole profile; by default 1."""
    return float(frame["scale"][0]) if "scale" in frame.columns and frame.height else 1
