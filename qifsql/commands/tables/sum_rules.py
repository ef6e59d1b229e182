"""The rules of a cell of a table of sums: few contributors, (n, k)-dominance, and the p % rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from qifsql.commands.tables.spec import DOMINANCE, P_PERCENT, SMALL
from qifsql.data.exact import exact
from qifsql.errors import InputError
from qifsql.query.columns import number
from qifsql.query.splice import Parameters

MOST_LARGEST = 1000  # n of (n, k)-dominance
MOST_DIGITS = 12  # after the point of a percentage


@dataclass(frozen=True)
class Rules:
    """The rules of a cell: its fewest contributors, (n, k)-dominance, and the p % rule."""

    small: int  # a cell with fewer contributors fails
    n: int
    k: Fraction  # a share, as p is
    p: Fraction

    @classmethod
    def of(
        cls,
        *,
        small: int = SMALL,
        dominance: str | Sequence[float | str] = DOMINANCE,
        p_percent: float | str | Sequence[float | str] = P_PERCENT,
    ) -> "Rules":
        """Return the rules that users write, ``dominance="1,85"`` and ``p_percent=10``."""
        n_and_k = dominance.split(",") if isinstance(dominance, str) else list(dominance)
        n, k = map(_fraction, n_and_k) if len(n_and_k) == 2 else (None, None)
        if n is None or k is None or n not in range(1, MOST_LARGEST + 1) or not 1 <= k < 100:
            raise InputError(
                f"dominance is N,K: a whole number from 1 to {MOST_LARGEST:,}, and a percentage "
                f"from 1, below 100, with at most {MOST_DIGITS} digits after the point, as in "
                "1,85 (of 85 %, not 0.85)"
            )
        numbers = [p_percent] if isinstance(p_percent, int | float | str) else list(p_percent)
        p = _fraction(numbers[0]) if len(numbers) == 1 else None
        if p is None or not 1 <= p <= 100:
            raise InputError(
                f"p_percent is one percentage from 1 to 100, with at most {MOST_DIGITS} digits "
                "after the point, as in 10 (of 10 %, not 0.1)"
            )
        if isinstance(small, bool) or not isinstance(small, int) or small < 1:
            raise InputError("small is a whole number from 1 on: cells below it are small")
        return cls(small, int(n), k / 100, p / 100)

    @property
    def row(self) -> Parameters:
        """Return the rules as the row ``asked`` of the views: k is ``k`` / ``k_whole``."""
        numbers = {"small": self.small, "n": self.n, "listed": max(2, self.n)}  # contributions
        numbers |= {"k": self.k.numerator, "k_whole": self.k.denominator}
        numbers |= {"p": self.p.numerator, "p_whole": self.p.denominator}
        return {name: number(n) for name, n in numbers.items()}

    def expose(self, largest: Sequence[int], total: int) -> bool:
        """Return whether a cell fails dominance or the p % rule if its sum is ``total``."""
        first, second = (*largest, 0, 0)[:2]
        return sum(largest[: self.n]) > self.k * total or total - first - second < self.p * first


def _fraction(text: float | str) -> Fraction | None:
    """Return a percentage exactly as written; None: not a number, or too many decimals."""
    percentage = exact(text)
    if percentage is None or 10**MOST_DIGITS % percentage.denominator:
        return None
    return percentage
