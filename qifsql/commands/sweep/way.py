"""Which way is cheaper for the chunks of one attribute: the walk or the roll-up.

Chunks are samples of their table, so what the first ones took tells what the others will take. The
walk is tried first. A chunk whose walk takes longer than a roll-up is expected to take is rolled up
instead: that is the end of it, whatever the roll-up takes. Where roll-ups were cheaper, they are
cheaper for the attributes after it, too.
"""

from dataclasses import dataclass

ROLLED = 30e-9  # seconds that a roll-up takes per row and subset
VALUED = 75e-9  # the same where the values of a secret are counted one by one
PROMISING = 0.6  # of the time that a roll-up takes: a walk within it needs no comparison
TRIALS = 2  # chunks that are walked before the walk is compared: one may be unlike the others
SLOWEST = 16  # attributes left, beyond which all subsets of them are too many to roll up
CALLS = 0.2  # seconds that calls take, however few the rows are


@dataclass
class Pace:
    """What chunks took so far."""

    chunks: int = 0
    rows: int = 0
    seconds: float = 0.0

    def add(self, rows: int, seconds: float) -> None:
        """One more chunk."""
        self.chunks += 1
        self.rows += rows
        self.seconds += seconds

    @property
    def of_a_row(self) -> float | None:
        """Seconds per row; nothing before the first chunk."""
        return self.seconds / max(self.rows, 1) if self.chunks else None


class Choice:
    """What is known about the chunks of one attribute, ``left`` attributes before the end.

    ``before`` is the choice of the attribute before it.
    """

    def __init__(
        self, left: int, *, may_roll: bool, valued: bool, before: "Choice | None" = None
    ) -> None:
        self._may_roll = may_roll and left <= SLOWEST
        self._expected = (VALUED if valued else ROLLED) * float(2**left)
        self._walked, self._rolled = Pace(), Pace()
        self._rolls_before = before is not None and not before.walks()

    def walks(self) -> bool:
        """Whether the next chunk is to be walked."""
        if not self._may_roll:
            return True
        walk, roll = self._walked.of_a_row, self._rolled.of_a_row
        if walk is None or self._walked.chunks < TRIALS:
            return not self._rolls_before
        if roll is None:
            return walk <= PROMISING * self._expected
        return walk <= roll

    def enough(self, rows: int) -> float:
        """The seconds after which the walk of a chunk is given up."""
        if not self._may_roll:
            return float("inf")
        return (self._rolled.of_a_row or self._expected) * rows + CALLS

    def learn(self, rows: int, seconds: float, *, walked: bool, done: bool = True) -> None:
        """Learn from a chunk; a walk that was given up would have taken longer."""
        (self._walked if walked else self._rolled).add(rows, seconds if done else 2 * seconds)
