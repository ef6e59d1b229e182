"""The laws of noisy knowledge, bound to the quasi-identifiers of an attack."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist

from qifsql.adversary.laws import Law
from qifsql.adversary.spec import Attribute
from qifsql.data.types import NUMBERS, family
from qifsql.errors import ColumnError, InputError, did_you_mean, quoted

BITS = 124  # most bits of a weight: those of all people and of all laws together
MOST_BITS_OF_LAW = 60  # of the weights of one law
FEWEST_BITS_OF_LAW = 30  # of the weights of a law that is rounded
LARGEST_ERROR = Fraction(1, 100)  # by which rounding may change a probability, as a share
WIDEST_ERROR = 6  # standard deviations of a law of numbers; larger errors are left out


@dataclass(frozen=True, kw_only=True)
class NoisyQid:
    """A quasi-identifier that is not known exactly: its number, from 1, and its law.

    Secrets that were randomised have the numbers behind those of the quasi-identifiers.

    ``scale`` is the weight of all that may be known of one person; 0 while it is not chosen.
    ``rounded``: its weights are not whole numbers, and are rounded.
    """

    number: int
    attribute: Attribute
    law: Law
    scale: int = 0
    rounded: bool = False

    @property
    def mistaken(self) -> bool:
        """Return whether any value may be mistaken for any other."""
        return self.law.kind == "right"


def bind(
    laws: Sequence[Law], qids: Sequence[Attribute], secrets: Sequence[Attribute] = ()
) -> tuple[NoisyQid, ...]:
    """Return the quasi-identifiers that are not known exactly, with their laws.

    A matrix may be that of one of the ``secrets``. Raises ColumnError if a law names another
    column, or does not fit its type.
    """
    attributes = (*qids, *secrets)
    by_number: dict[int, Law] = {}
    for law in laws:
        for number in _numbers(law.column, attributes if law.kind == "matrix" else qids):
            if number in by_number:
                name = quoted(attributes[number - 1].name)
                raise InputError(f"knows names {name} twice; each column has one law")
            by_number[number] = law
    noisy = [
        NoisyQid(number=number, attribute=attributes[number - 1], law=law)
        for number, law in sorted(by_number.items())
    ]
    for qid in noisy:
        _check_type(qid)
    return tuple(qid for qid in noisy if not qid.law.certain)


def _numbers(name: str, qids: Sequence[Attribute]) -> list[int]:
    """Return the numbers of the quasi-identifiers of a name; without a tag, of every dataset."""
    for with_case in (str, str.casefold):  # as written, or else in any case
        numbers = [i for i, q in enumerate(qids, 1) if with_case(q.name) == with_case(name)]
        if len(numbers) == 1:
            return numbers
    tagged = [i for i, q in enumerate(qids, 1) if q.name.partition(":")[2] == name]  # 2:age
    if tagged:
        return tagged
    hint = did_you_mean(name, (q.name for q in qids))
    raise ColumnError(f"knows names {quoted(name)}, which is not a quasi-identifier{hint}")


def _check_type(qid: NoisyQid) -> None:
    """Refuse laws that do not fit the type, or a column that tells who is absent (``there``)."""
    kind = family(qid.attribute.type)
    if qid.law.kind in ("within", "sd") and (kind not in NUMBERS or qid.attribute.there):
        raise ColumnError(
            f"{quoted(qid.attribute.name)} is {kind}, not a whole number, so {qid.law.law} does "
            "not fit it; use right=0.9, missing=0.3 or table=FILE, or make it a number, as in "
            "--qids NAME=EXPRESSION"
        )
    if qid.law.table and qid.attribute.there:
        raise InputError(
            f"{quoted(qid.attribute.name)} tells absent people from missing values (absent "
            "distinct), which a table of what is known cannot; leave absent out"
        )


def with_scales(
    noisy: Sequence[NoisyQid], people: int, whole_scales: dict[int, int | None]
) -> tuple[NoisyQid, ...]:
    """Return the laws with scales that make all weights whole numbers of at most 124 bits.

    ``people`` is the weight of all records. ``whole_scales`` has, by number, the scale that makes
    the weights of a law of the kind ``right`` whole; None if there is none. Laws without such a
    scale share the bits that are left, and are rounded.
    """
    exact = {q.number: _exact_scale(q, whole_scales) for q in noisy}
    spare_bits = BITS - people.bit_length()
    spare_bits -= sum(scale.bit_length() for scale in exact.values() if scale is not None)
    rounded = [number for number, scale in exact.items() if scale is None]
    bits = min(MOST_BITS_OF_LAW, spare_bits // len(rounded)) if rounded else 0
    scales = tuple(
        replace(q, scale=exact[q.number] or 2 ** max(0, bits), rounded=exact[q.number] is None)
        for q in noisy
    )
    if (
        spare_bits < 0
        or (rounded and bits < FEWEST_BITS_OF_LAW)
        or relative_error(scales, people) > LARGEST_ERROR
    ):
        raise InputError(
            "the laws of knows need more digits together than are added exactly; write "
            "probabilities with fewer digits, weigh records with smaller numbers, or let fewer "
            "quasi-identifiers have a law"
        )
    return scales


def relative_error(noisy: Sequence[NoisyQid], people: int) -> Fraction:
    """Return by how much rounding changes the chance of a mistaken value, at most, as a share."""
    return max(
        (people / (2 * (1 - q.law.number) * q.scale) for q in noisy if q.mistaken and q.rounded),
        default=Fraction(0),
    )


def _exact_scale(qid: NoisyQid, whole_scales: dict[int, int | None]) -> int | None:
    """Return the scale that makes the weights of a law whole (see ``with_scales``), if any."""
    law = qid.law
    scale = whole_scales.get(qid.number)
    if law.kind == "within":
        scale = int(2 * law.number + 1)
    elif law.kind == "missing":
        scale = law.number.denominator
    if scale is not None and scale.bit_length() > MOST_BITS_OF_LAW:
        if law.kind == "right":  # its weights are rounded
            return None
        raise InputError(
            f"the law of {quoted(qid.attribute.name)} has too many digits; write at most 18"
        )
    return scale


def shifts(law: Law, scale: int) -> list[tuple[int, int]]:
    """Return the differences between what is known and the true number, with whole weights."""
    widest = widest_shift(law)
    if law.kind == "within":
        return [(j, 1) for j in range(-widest, widest + 1)]
    # The lower tail is computed, where differences keep their digits.
    normal = NormalDist(0, float(law.number))
    tail = [normal.cdf(-(j - 0.5)) - normal.cdf(-(j + 0.5)) for j in range(1, widest + 1)]
    middle = normal.cdf(0.5) - normal.cdf(-0.5)
    total = middle + 2 * math.fsum(tail)
    weights = [max(1, round(Fraction(p) / Fraction(total) * scale)) for p in tail]
    sides = [(sign * j, weight) for j, weight in enumerate(weights, 1) for sign in (-1, 1)]
    return sorted([*sides, (0, scale - 2 * sum(weights))])  # the weights add up to ``scale``


def widest_shift(law: Law) -> int:
    """Return the largest error of a law of numbers: w of ``+-w``, six standard deviations."""
    return int(law.number) if law.kind == "within" else math.ceil(WIDEST_ERROR * law.number)
