"""An oracle of an adversary who learns from one file and guesses about the people of another.

Everything is counted person by person, in fractions. A file is a list of pairs of a tuple of
quasi-identifiers and a secret, with None as a value.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Person = tuple[tuple[object, ...], object]
File = Sequence[Person]


def confidence(train: File, person: Person) -> Fraction:
    """Return the share of the person's secret among the records alike, or among all records."""
    alike = [t for q, t in train if q == person[0]] or [t for _, t in train]
    return Fraction(alike.count(person[1]), len(alike))


def chance(train: File, person: Person) -> Fraction:
    """Return the chance that one of the most frequent values, drawn evenly, is the person's."""
    alike = [t for q, t in train if q == person[0]] or [t for _, t in train]
    counts = Counter(alike)
    best = [t for t, n in counts.items() if n == max(counts.values())]
    return Fraction(best.count(person[1]), len(best))


def is_confident(share: Fraction, base: Fraction, level: Fraction) -> bool:
    """Return whether a confidence is beyond a base rate by more than this part of the rest."""
    return base < 1 and (share - base) / (1 - base) > level


def scores(people: File, train: File, level: Fraction) -> dict[str, Any]:
    """Return all numbers of the table of most frequent values."""
    n = len(people)
    values = Counter(t for _, t in people)
    present = [p for p in people if any(q == p[0] for q, _ in train)]
    blocks = Counter(q for q, _ in people)
    right = {q: sum(chance(train, p) for p in people if p[0] == q) for q in blocks}
    rapid = sum(
        is_confident(confidence(train, p), Fraction(values[p[1]], n), level) for p in people
    )
    return {
        "records": n,
        "blocks": len(blocks),
        "singled_out": sum(size == 1 for size in blocks.values()),
        "prior_deterministic": float(len(values) == 1),
        "posterior_deterministic": sum(confidence(train, p) == 1 for p in people) / n,
        "individuals_certain": sum(confidence(train, p) == 1 for p in people),
        "prior_probabilistic": float(Fraction(max(values.values()), n)),
        "posterior_probabilistic": float(sum(right.values(), Fraction()) / n),
        "worst_case": float(max(right[q] / blocks[q] for q in blocks)),
        "train_records": len(train),
        "present": len(present) / n,
        "success_present": float(
            sum((chance(train, p) for p in present), Fraction()) / len(present)
        )
        if present
        else None,
        "rapid": rapid / n,
    }
