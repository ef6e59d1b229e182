"""Which way is cheaper for the chunks of one attribute: the walk or the roll-up.

A chunk is a faithful sample of its table, so the first chunks decide. The walk is tried first, and
given up when it has taken longer than a roll-up could.
"""

ROLLED = 40e-9  # seconds that a roll-up takes per row and subset, at most
PROMISING = 0.35  # of the time that a roll-up could take: a walk within it needs no comparison
ENOUGH = 16  # attributes left, beyond which all subsets of them are too many to roll up


class Choice:
    """What is known about the chunks of one attribute, ``left`` attributes before the end."""

    def __init__(self, left: int, *, may_roll: bool) -> None:
        self._bound = ROLLED * 2**left if may_roll and left <= ENOUGH else None
        self._walk: float | None = None  # seconds per row
        self._roll: float | None = None

    def walks(self) -> bool:
        """Whether the next chunk is to be walked."""
        if self._bound is None or self._walk is None:
            return True
        if self._walk <= PROMISING * self._bound:
            return True
        return self._roll is not None and self._walk <= self._roll

    def going_well(self, rows: int, seconds: float) -> bool:
        """Whether a walk over so many rows that took so long so far may go on."""
        if self._bound is None:
            return True
        least = self._roll if self._roll is not None else self._bound
        return seconds <= 1.1 * least * rows + 0.2

    def walked(self, rows: int, seconds: float, *, done: bool) -> None:
        """Learn from a walk, which may have been given up."""
        rate = seconds / max(rows, 1)
        self._walk = rate if done else max(rate, 2 * (self._bound or rate))

    def rolled(self, rows: int, seconds: float) -> None:
        """Learn from a roll-up."""
        self._roll = seconds / max(rows, 1)
