"""Limits on a sanitised release: k-anonymity, l-diversity, t-closeness."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from qifsql.data.exact import exact
from qifsql.errors import InputError

Number = int | float | str | Fraction
LARGEST_DENOMINATOR = 10**9  # of limits, so that SQL compares whole numbers


@dataclass(frozen=True)
class ClassLimits:
    """The limits for every class of a release; None for a limit that is not set.

    ``k``: the class has at least that many records. Of each secret, ``l``: the class has at least
    that many different values; ``l_entropy``: exp of the Shannon entropy (nats) of the values is at
    least that; ``l_recursive``: (c, l), the most frequent value occurs less than c times as often
    as all values from the l-th most frequent on together; ``t``: the distance (half of L1, equal
    ground distance) between the distributions in the class and in the whole release is at most
    that, in (0, 1]; ``t_ordered``: the same with the ordered distance. Where some records miss the
    secret, all hold with the missing value as a value, and again among reported ones.

    If people have several records, all numbers are of different people: a person counts once for
    every value that she has in the class. Limits on a secret then hold again of the multiset of all
    her values (``qifsql.reference.class_limits``).

    Sources: Machanavajjhala et al. 2007, definitions 4.1 to 4.3; Li et al. 2007, section 4.
    """

    k: int
    l: int | None = None  # noqa: E741 - it is called l
    l_entropy: Fraction | None = None
    l_recursive: tuple[Fraction, int] | None = None
    t: Fraction | None = None
    t_ordered: Fraction | None = None

    @classmethod
    def of(
        cls,
        k: int,
        *,
        l: int | None = None,  # noqa: E741
        l_entropy: Number | None = None,
        l_recursive: Sequence[Number] | None = None,
        t: Number | None = None,
        t_ordered: Number | None = None,
    ) -> "ClassLimits":
        """Return checked limits from user input; raise InputError if a limit is invalid."""
        return cls(
            _positive_integer(k, "k"),
            None if l is None else _positive_integer(l, "l"),
            None if l_entropy is None else _number_from_one(l_entropy, "entropy l"),
            None if l_recursive is None else _recursive_limits(l_recursive),
            None if t is None else _closeness(t, "t"),
            None if t_ordered is None else _closeness(t_ordered, "ordered t"),
        )

    @property
    def of_secret(self) -> bool:
        """Return whether a limit is about a secret."""
        return self.plain().keys() > {"k"}

    def monotone(self, *, adding: bool) -> bool:
        """Return whether merging classes never puts more records in classes that break a limit.

        This holds if the only limits are k and l: a class that keeps them keeps them when it is
        merged. It holds for all limits if no class may break one and nobody has records in two
        classes (``adding``; ``qifsql.commands.anonymise.lattice`` gives the argument).
        """
        return adding or self.plain().keys() <= {"k", "l"}

    @property
    def words(self) -> str:
        """Return all limits in words."""
        return " and ".join(part for part in (f"k={self.k}", self.diversity) if part)

    def plain(self) -> dict[str, object]:
        """Return the limits that are set, by field, as plain data: (c, l) is a list."""
        c, l_of_c = self.l_recursive or (None, None)
        limits: dict[str, object] = {
            "k": self.k,
            "l": self.l,
            "l_entropy": _to_number(self.l_entropy),
            "l_recursive": None if c is None else [_to_number(c), l_of_c],
            "t": _to_number(self.t),
            "t_ordered": _to_number(self.t_ordered),
        }
        return {name: value for name, value in limits.items() if value is not None}

    @property
    def diversity(self) -> str:
        """Return the limits on the secret in words; empty if there are none."""
        limits = self.plain()
        if self.l_recursive is not None:
            c, l = self.l_recursive  # noqa: E741
            limits["l_recursive"] = f"({_to_number(c)}, {l})"
        names = {"l": "l=", "l_entropy": "entropy l=", "l_recursive": "recursive "}
        names |= {"t": "t=", "t_ordered": "ordered t="}
        return " and ".join(f"{names[name]}{limits[name]}" for name in names if name in limits)


def fraction(value: Number, what: str) -> Fraction:
    """Return a number exactly; InputError, which names it ``what``, if it is none or too long."""
    number = None if isinstance(value, bool) else exact(value)
    if number is None:
        raise InputError(f"{what} is not a number; give one such as 0.2")
    if number.denominator > LARGEST_DENOMINATOR or abs(number.numerator) > LARGEST_DENOMINATOR**2:
        raise InputError(f"{what} has too many digits; nine behind the point are enough")
    return number


def _positive_integer(value: int, what: str) -> int:
    """Return a limit that is a whole number from 1; refuse others."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{what} must be a whole number from 1")
    return value


def _number_from_one(value: Number, what: str) -> Fraction:
    """Return a limit as an exact number from 1; refuse others."""
    limit = fraction(value, what)
    if limit < 1:
        raise InputError(f"{what} must be at least 1, which every class reaches")
    return limit


def _recursive_limits(value: Sequence[Number]) -> tuple[Fraction, int]:
    """Return c and l of recursive (c, l)-diversity from a pair, or from a text such as ``3,2``."""
    pair = value.split(",") if isinstance(value, str) else list(value)
    if len(pair) != 2:
        raise InputError("recursive l needs two numbers, c and l, as in 3,2")
    c, l = fraction(pair[0], "c of recursive l"), fraction(pair[1], "l of recursive l")  # noqa: E741
    if c <= 0:
        raise InputError("c of recursive l must be above 0")
    if l.denominator != 1 or l < 1:
        raise InputError("l of recursive l must be a whole number from 1")
    return c, int(l)


def _closeness(value: Number, what: str) -> Fraction:
    """Return the limit of t-closeness, a distance in (0, 1]; ``what`` names it in errors."""
    distance = fraction(value, what)
    if distance == 0:
        raise InputError(
            f"{what} of 0 allows only classes in which the secret is spread exactly as in the "
            "whole release; give a distance above 0, such as 0.2"
        )
    if not 0 < distance <= 1:
        raise InputError(f"{what} is a distance from 0 to 1; give one such as 0.2")
    return distance


def _to_number(value: Fraction | None) -> int | float | None:
    """Return an exact limit as a number of Python, whole if it is."""
    if value is None:
        return None
    return int(value) if value.denominator == 1 else float(value)
