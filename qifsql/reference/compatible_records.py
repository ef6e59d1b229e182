"""Compatibility: the records of a release that may be a person's, one by one (M196)."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

Cell = Callable[[Any], bool]  # whether a cell contains a raw value


def find(
    people: Sequence[Sequence[Any]],
    records: Sequence[Sequence[Cell]],
    secrets: Sequence[Hashable],
    *,
    in_order: bool,
) -> dict[str, Any]:
    """Return what people find in a release: the records whose cells contain their values (M196).

    ``people`` have raw values, ``records`` a cell for each and ``secrets`` one each. ``in_order``:
    record i is that of person i. The keys are those of a row of ``qifsql compare`` in the view
    ``compatible``; ``believed`` is the success if every record found may be one's own.
    """
    candidates = [
        [i for i, cells in enumerate(records) if all(c(v) for c, v in zip(cells, raw, strict=True))]
        for raw in people
    ]
    somewhere = [records_of_one for records_of_one in candidates if records_of_one]
    right = [c for person, c in enumerate(candidates) if in_order and person in c]
    values = [Counter(secrets[i] for i in c) for c in somewhere]
    best = [Fraction(max(v.values()), v.total()) for v in values]
    believed = sum((Fraction(1, len(c)) for c in somewhere), Fraction()) / len(people)
    success = sum((Fraction(1, len(c)) for c in right), Fraction()) / len(people)
    return {
        "records": len(people),
        "k": min(map(len, somewhere), default=0),
        "singled_out": sum(len(c) == 1 for c in candidates),
        "candidates": Fraction(sum(map(len, candidates)), len(people)),
        "posterior_probabilistic": success if in_order else believed,
        "cas_posterior_probabilistic": sum(best, Fraction()) / len(people),
        "individuals_certain": sum(len(v) == 1 for v in values),
        "misled": len(people) - len(right) if in_order else None,
        "believed": believed,
    }
