"""Which way is cheaper for the chunks of one attribute: the walk or the roll-up.

A chunk is a faithful sample of its table, so the first chunks decide. The walk is tried first, and
given up when it has taken as long as a roll-up is expected to take; where a roll-up was cheaper it
stays so for the attributes after it.
"""

ROLLED = 30e-9  # seconds that a roll-up takes per row and subset
VALUED = 75e-9  # the same where the values of a secret are counted one by one
PROMISING = 0.4  # of the time that a roll-up takes: a walk within it needs no comparison
SLOWEST = 16  # attributes left, beyond which all subsets of them are too many to roll up


class Choice:
    """What is known about the chunks of one attribute, ``left`` attributes before the end.

    ``before`` is the choice of the attribute before it.
    """

    def __init__(
        self, left: int, *, may_roll: bool, valued: bool, before: "Choice | None" = None
    ) -> None:
        pace = VALUED if valued else ROLLED
        may_roll = may_roll and left <= SLOWEST
        self._bound: float | None = pace * float(2**left) if may_roll else None
        self._walk: float | None = None  # seconds per row
        self._roll: float | None = None
        if before is not None and not before.walks() and before._roll is not None:
            self._walk, self._roll = before._walk, before._roll / 2

    def walks(self) -> bool:
        """Whether the next chunk is to be walked."""
        if self._bound is None or self._walk is None:
            return True
        if self._roll is None:
            return self._walk <= PROMISING * self._bound
        return self._walk <= self._roll

    def going_well(self, rows: int, seconds: float, *, walking: bool) -> bool:
        """Whether a way that took so long over so many rows so far may go on."""
        if self._bound is None:
            return True
        other = self._roll if walking else self._walk
        enough = 0.7 * self._bound if other is None else other
        return seconds <= enough * rows + 0.2

    def learn(self, rows: int, seconds: float, *, walking: bool, done: bool) -> None:
        """Learn from a chunk; a way that was given up would have taken longer."""
        rate = seconds / max(rows, 1) * (1 if done else 2)
        if walking:
            self._walk = rate
        else:
            self._roll = rate
