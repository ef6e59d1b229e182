"""A slow, exact oracle for collections: the join by hand, then the attacks from their definitions.

The people are those of the focal dataset; an auxiliary dataset tells of whoever it has, and of
nobody without a key (PoPETs A2-B, A3-A; thesis AL4, Example 20). The adversary looks at one person
after the other: she compares what she knows with every record of the aggregated table and guesses
among those that agree (thesis Eqs. 5.1-5.13 for everybody, C.14-C.28 for one person). Whose record
it is, a sensitive value and whether somebody is in a release are three secrets of one attack
(PoPETs 4.1 and appendix C).

Nothing is shared with the package, and nothing with the oracle of single datasets but the meaning
of a value.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from qifsql.reference.microdata import order_key, value

Row = Mapping[str, Any]
Tag = tuple[int, str]  # of a column: the number of its dataset, and its name there
Weight = int | float | Decimal


class _Absent:
    """The knowledge about somebody from a dataset that the person is not in."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


@dataclass(frozen=True)
class Release:
    """One dataset of a collection, and the column that identifies a person."""

    rows: Sequence[Row]
    key: str


@dataclass(frozen=True)
class Seen:
    """The adversary's view of one person: how many agree, the success, and the best guess."""

    alike: int
    success: Fraction
    certain: bool
    best_guess: object


def aggregated(releases: Sequence[Release], *, distinct: bool = False) -> list[dict[Tag, object]]:
    """The left outer join on the key, a row for each of the focal dataset (PoPETs Table 3c).

    Whoever is not in a dataset has ABSENT there if that is ``distinct``, otherwise missing values.
    """
    focal = releases[0]
    table = []
    for row in focal.rows:
        known: dict[Tag, object] = {(1, name): value(v) for name, v in row.items()}
        for number, release in enumerate(releases[1:], 2):
            person = _person(release, value(row[focal.key]))
            names = {name for other in release.rows for name in other}
            for name in names:
                if person is not None:
                    known[number, name] = value(person[name])
                else:
                    known[number, name] = ABSENT if distinct else None
        table.append(known)
    return table


def members(population: Release, release: Release) -> list[bool]:
    """For each of the population, whether the person is in the release (PoPETs appendix C)."""
    return [_person(release, value(row[population.key])) is not None for row in population.rows]


def collective(
    table: Sequence[Mapping[Tag, object]],
    qids: Sequence[Tag],
    secret: Sequence[object] | None,
    weights: Sequence[Weight] | None = None,
) -> dict[str, Any]:
    """CRL where ``secret`` is None, else CAL or CML of these values, one for each person."""
    masses = _masses(table, weights)
    secrets = _secrets(table, secret)
    everybody = _look(secrets, masses, range(len(table)))
    seen = [
        _look(secrets, masses, _agreeing(table, qids, [person[q] for q in qids]))
        for person in table
    ]
    counted = [(mass, one) for mass, one in zip(masses, seen, strict=True) if mass]
    total = sum(masses)
    return {
        "records": len(counted),
        "blocks": int(sum(Fraction(1, one.alike) for _, one in counted)),
        "singled_out": sum(one.alike == 1 for _, one in counted),
        "worst_case": max(one.success for _, one in counted),
        "individuals_certain": sum(one.certain for _, one in counted),
        **_compared(
            everybody,
            sum((mass for mass, one in counted if one.certain), Fraction()) / total,
            sum((mass * one.success for mass, one in counted), Fraction()) / total,
        ),
    }


def individual(
    table: Sequence[Mapping[Tag, object]],
    target: Mapping[Tag, object],
    secret: Sequence[object] | None,
    weights: Sequence[Weight] | None = None,
    keys: Sequence[object] | None = None,
) -> dict[str, Any]:
    """IRL, IAL or IML: the same about one person; LookupError where nobody agrees.

    ``keys`` tell whose record it is, for the best guess: of the likeliest, the first in order.
    """
    masses = _masses(table, weights)
    alike = [
        i for i in _agreeing(table, list(target), [_known(v) for v in target.values()]) if masses[i]
    ]
    if not alike:
        raise LookupError("the target is not in the focal dataset")
    everybody = _look(_secrets(table, secret), masses, range(len(table)))
    seen = _look(_secrets(table, secret), masses, alike)
    guess = seen.best_guess
    if secret is None:
        heaviest = max(masses[i] for i in alike)
        guess = None
        if keys is not None:
            guess = min((keys[i] for i in alike if masses[i] == heaviest), key=order_key)
    return {
        "records": sum(mass > 0 for mass in masses),
        "blocks": 1,
        "singled_out": int(seen.alike == 1),
        "worst_case": seen.success,
        "individuals_certain": seen.alike if seen.certain else 0,
        "matches": seen.alike,
        "best_guess": value(guess),
        **_compared(everybody, Fraction(seen.certain), seen.success),
    }


def _person(release: Release, key: object) -> Row | None:
    """The record of a person; nobody where there is no key (a missing key matches nothing)."""
    if key is None:
        return None
    found = [row for row in release.rows if value(row[release.key]) == key]
    if len(found) > 1:
        raise ValueError("a person has several records")
    return found[0] if found else None


def _known(v: object) -> object:
    return v if v is ABSENT else value(v)


def _agreeing(
    table: Sequence[Mapping[Tag, object]], qids: Sequence[Tag], known: Sequence[object]
) -> list[int]:
    """The records that have these values; absent, missing and anything else are three things."""
    return [
        i
        for i, person in enumerate(table)
        if all(_same(person[q], v) for q, v in zip(qids, known, strict=True))
    ]


def _same(a: object, b: object) -> bool:
    if a is None or b is None or a is ABSENT or b is ABSENT:
        return a is b
    return a == b


def _masses(
    table: Sequence[Mapping[Tag, object]], weights: Sequence[Weight] | None
) -> list[Fraction]:
    return [Fraction(w) for w in ([1] * len(table) if weights is None else weights)]


def _secrets(
    table: Sequence[Mapping[Tag, object]], secret: Sequence[object] | None
) -> list[object]:
    """The secret of each record; whose record it is, is its own position."""
    return list(range(len(table))) if secret is None else [value(s) for s in secret]


def _look(secrets: Sequence[object], masses: Sequence[Fraction], alike: Sequence[int]) -> Seen:
    """The best of all guesses about a record drawn from these (Bayes vulnerability, A4-C)."""
    present = [i for i in alike if masses[i]]
    if not present:
        return Seen(0, Fraction(), False, None)
    likely: dict[object, Fraction] = {}
    for i in present:
        likely[secrets[i]] = likely.get(secrets[i], Fraction()) + masses[i]
    best = max(likely.values())
    guess = min((s for s, mass in likely.items() if mass == best), key=order_key)
    return Seen(len(present), best / sum(likely.values()), len(likely) == 1, guess)


def _compared(prior: Seen, certain: Fraction, success: Fraction) -> dict[str, Any]:
    """Before, on the focal dataset alone, and after (PoPETs A2-A, A4-D; thesis AL6)."""
    return {
        "prior_deterministic": int(prior.certain),
        "posterior_deterministic": certain,
        "degradation_deterministic": certain - int(prior.certain),
        "prior_probabilistic": prior.success,
        "posterior_probabilistic": success,
        "degradation_probabilistic": success / prior.success,
        "leakage_additive": success - prior.success,
        "min_entropy_leakage": math.log2(success / prior.success),
    }
