"""An oracle of an adversary who learns from one file and guesses about the people of another.

Everything is counted person by person, in fractions. A file is a list of pairs of a tuple of
quasi-identifiers and a secret, with None as a value.
"""

from collections import Counter
from fractions import Fraction
from typing import Any

from qifsql.reference.synthetic_releases import File, chance, confidence, gain


def scores(people: File, train: File, level: Fraction) -> dict[str, Any]:
    """Return all numbers of the table of most frequent values."""
    n = len(people)
    values = Counter(t for _, t in people)
    present = [p for p in people if any(q == p[0] for q, _ in train)]
    blocks = Counter(q for q, _ in people)
    right = {q: sum(chance(train, p) for p in people if p[0] == q) for q in blocks}
    rapid = sum(gain(confidence(train, p), Fraction(values[p[1]], n)) > level for p in people)
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
