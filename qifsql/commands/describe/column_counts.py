"""The counts of a column: how often its values occur, and what follows from that."""

import math
from dataclasses import dataclass

from qifsql.commands.describe.evidence import NOTHING, Evidence
from qifsql.data.topics import CODE, spelled
from qifsql.data.types import NUMBERS, family

CATEGORIES = 50  # values of a floating number that may be categories
AMOUNTS = 100  # values of a number that is no code
POINTS = 20  # values of a number that begins above 1, from which on it is a score
YEARS = (1850, 2100)
ZEROS = 0.4  # share of zeros of a number of events that most people do not have
OLDEST = (70, 98)  # the greatest age in a file, which 99 and 100 percent are not
LONG, SECONDS = 1e9, 2e9  # the least number of a document; more than the seconds since 1970
DATES = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS", "TIMESTAMP_S")


@dataclass(frozen=True, kw_only=True)
class Counted:
    """A column: its name, type, and how often its values occur.

    ``distinct`` counts values that are not missing, ``alone`` the records that are alone in theirs;
    ``entropy`` is in bits. ``household``: it numbers households of people who differ. ``seen`` is
    what its values say, ``copied`` the column that tells the same in the first records, ``label``
    what the file says of it, such as the question of a survey.
    """

    name: str
    type: str
    records: int
    missing: int
    distinct: int
    alone: int
    entropy: float
    household: bool = False
    seen: Evidence = NOTHING
    copied: str | None = None
    label: str = ""

    @property
    def constant(self) -> bool:
        """Return whether there is one value only, a missing one included."""
        return self.distinct + bool(self.missing) <= 1

    @property
    def unique(self) -> bool:
        """Return whether nearly every record has a value of its own."""
        present = self.records - self.missing
        return self.records > 1 and 2 * present >= self.records and self.alone >= 0.95 * present

    def may_equal(self, base: "Counted") -> bool:
        """Return whether both may have the same values in all records, by their counts."""
        counts = [(c.records, c.missing, c.distinct, c.alone) for c in (self, base)]
        return counts[0] == counts[1] and math.isclose(self.entropy, base.entropy, abs_tol=1e-9)

    @property
    def derivation(self) -> tuple[bool, bool, int]:
        """Return how much it looks like made of another: codes of labels, longer names."""
        is_code = bool(CODE.confidence(spelled(self.name)))
        return self.seen.numbers is not None, is_code, len(self.name)

    @property
    def handful(self) -> bool:
        """Return whether the values are too few to be names or addresses."""
        return self.distinct <= 20 and 10 * self.distinct <= self.records

    @property
    def dated(self) -> bool:
        """Return whether the values are dates or times, by their type or their form."""
        return family(self.type) in DATES or self.seen.shape in ("date", "time of day")

    @property
    def binary(self) -> bool:
        """Return whether there are two values."""
        return self.distinct <= 2

    @property
    def one_letter(self) -> bool:
        """Return whether all values are single letters."""
        return bool(self.seen.domain) and all(len(value) == 1 for value in self.seen.domain)

    @property
    def floating(self) -> bool:
        """Return whether values are measured: numbers with a fraction, and many of them."""
        return family(self.type) in ("FLOAT", "DOUBLE", "DECIMAL") and self.distinct > CATEGORIES

    @property
    def aged(self) -> bool:
        """Return whether nearly all whole numbers up to an age of old people occur."""
        least, greatest = self.seen.numbers or (0, 0)
        is_range = self.seen.integers and least >= 0 and OLDEST[0] <= greatest <= OLDEST[1]
        return is_range and self.distinct >= 0.8 * (greatest - least + 1)

    @property
    def serial(self) -> bool:
        """Return whether values are long whole numbers of one length, and no seconds since 1970."""
        least, greatest = self.seen.numbers or (0, 0)
        is_long = least >= LONG and greatest < 10 * least and not greatest < SECONDS
        return is_long and self.seen.integers and self.distinct > CATEGORIES

    @property
    def has_no_categories(self) -> bool:
        """Return whether values are measured, or number the records: codes with gaps are not."""
        is_code = self.seen.integers and CODE.confidence(spelled(self.name)) is not None
        is_measured = self.floating and not is_code
        return is_measured or (self.unique and family(self.type) in NUMBERS)

    @property
    def measured(self) -> bool:
        """Return whether values are measured or counted: many numbers, or zero for many people."""
        least, greatest = self.seen.numbers or (0, 0)
        if self.seen.integers and YEARS[0] <= least and greatest <= YEARS[1]:
            return False
        # Points: whole numbers that begin above those of codes, but no ages.
        is_points = self.seen.integers and self.distinct > POINTS and least > 1 and not self.aged
        is_counted = self.distinct > AMOUNTS or self.seen.zeros >= ZEROS or is_points
        is_number = family(self.type) in NUMBERS and not self.binary
        return self.floating or (is_number and is_counted)
