"""A slow, exact oracle for attacks on microdata: one person at a time, in fractions.

Every attack of PoPETs Table 1 is one attack with a different secret: the record's owner
(re-identification) or an attribute (attribute inference; membership, with a flag). For each
individual the adversary looks at the block of records that share the individual's
quasi-identifiers (thesis Def. 11) and guesses the likeliest secret in it; collective success
averages over the individuals, individual success looks at the target's block alone.

A column holds values of one type, so Python's ``1 == True == 1.0`` never mixes values.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

Row = Mapping[str, object]
Weight = int | float | Decimal | Fraction


@dataclass(frozen=True)
class View:
    """The adversary's view of one block: its size, the success, and the best guess."""

    size: int
    success: Fraction
    certain: bool
    best_guess: object


def value(v: object) -> object:
    """Canonical form: NaN is missing (None), -0.0 is 0.0, anything else is itself."""
    if isinstance(v, float):
        return None if math.isnan(v) else v + 0.0
    return v


def order_key(v: object) -> tuple[bool, Any]:
    """Order of a column's values: natural, strings by UTF-8 bytes, missing last."""
    v = value(v)
    return v is None, v.encode() if isinstance(v, str) else 0 if v is None else v


def partition(rows: Sequence[Row], qids: Sequence[str]) -> dict[tuple[object, ...], list[int]]:
    """Blocks {i | x_i[Q] = q} by value q, missing equal to missing (thesis Def. 11)."""
    blocks: dict[tuple[object, ...], list[int]] = {}
    for position, row in enumerate(rows):
        blocks.setdefault(tuple(value(row[qid]) for qid in qids), []).append(position)
    return blocks


def attack(
    rows: Sequence[Row],
    qids: Sequence[str],
    secret: str | None = None,
    weights: Sequence[Weight] | None = None,
    target: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """All numbers of one attack (thesis Defs. 16, 17, 39, 40; PoPETs A4-B to A4-D).

    ``secret`` None is re-identification, ``target`` None is the collective model.
    """
    _check(qids, secret)
    masses = _masses(rows, weights)
    prior = _view(rows, range(len(rows)), secret, masses)
    views = _views(rows, qids, secret, masses)
    assert prior is not None  # some weight is positive
    if target is None:
        return {"records": sum(m > 0 for m in masses), **_collective(masses, views, prior)}
    if set(target) != set(qids):
        raise ValueError("the target must have a value for each quasi-identifier")
    for row, view in zip(rows, views, strict=True):
        if view and all(value(row[qid]) == value(target[qid]) for qid in qids):
            return {"records": sum(m > 0 for m in masses), **_individual(view, prior)}
    raise LookupError("the target is not in the release")


def records(
    rows: Sequence[Row],
    qids: Sequence[str],
    secret: str | None = None,
    weights: Sequence[Weight] | None = None,
) -> list[dict[str, Any]]:
    """Per row, in input order: success of the best guess on the row's block.

    That is 1/|block| for re-identification (thesis Eq. C.5) and max_s |block, s| / |block| for
    attribute inference (Eq. C.11), in weights. Where nobody has weight there is no number.
    """
    _check(qids, secret)
    masses = _masses(rows, weights)
    return [
        {
            "block_size": view.size if view else 0,
            "success": view.success if view else None,
            "best_guess": view.best_guess if view else None,
            "singled_out": bool(view and mass and view.size == 1),
        }
        for mass, view in zip(masses, _views(rows, qids, secret, masses), strict=True)
    ]


def profile(rows: Sequence[Row], qids: Sequence[str], secret: str) -> Counter[tuple[int, int, int]]:
    """Return how many blocks have (|block|, max_s |block, s|, number of distinct s); no weights.

    The counts from which thesis Eqs. 4.8 and 4.12 are made.
    """
    _check(qids, secret)
    seen: Counter[tuple[int, int, int]] = Counter()
    for positions in partition(rows, qids).values():
        counts = Counter(value(rows[i][secret]) for i in positions)
        seen[len(positions), max(counts.values()), len(counts)] += 1
    return seen


def histogram(rows: Sequence[Row], qids: Sequence[str], secret: str | None = None) -> list[int]:
    """Individuals by success p on their block, bin 100 p rounded half to even, 0..100.

    As in thesis Figs. 4.6, 4.10 and 4.11 (per-record success: Eqs. C.5 and C.11).
    """
    bins = [0] * 101
    for record in records(rows, qids, secret):
        bins[round(100 * record["success"])] += 1
    return bins


def _check(qids: Sequence[str], secret: str | None) -> None:
    """The secret is never a quasi-identifier (PoPETs A3-B)."""
    if secret is not None and secret in qids:
        raise ValueError("the secret is among the quasi-identifiers")


def _masses(rows: Sequence[Row], weights: Sequence[Weight] | None) -> list[Fraction]:
    """The exact weight of each record, by default 1; pi_i = w_i / W (thesis Def. 13)."""
    given: Sequence[Weight] = [1] * len(rows) if weights is None else weights
    if len(given) != len(rows):
        raise ValueError("there must be one weight per record")
    try:
        masses = [Fraction(weight) for weight in given]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError("a weight is missing or not finite") from error
    if any(mass < 0 for mass in masses) or not any(masses):
        raise ValueError("a weight is negative, or no record has weight")
    return masses


def _view(
    rows: Sequence[Row], positions: Iterable[int], secret: str | None, masses: Sequence[Fraction]
) -> View | None:
    """Bayes vulnerability max_s p(s | block) (PoPETs A4-C), certain if one s is possible (A4-B).

    The secret of re-identification is the record's own position. None if nobody has weight.
    """
    present = [i for i in positions if masses[i]]
    likely: dict[object, Fraction] = {}
    for i in present:
        s = i if secret is None else value(rows[i][secret])
        likely[s] = likely.get(s, Fraction()) + masses[i]
    if not present:
        return None
    best = max(likely.values())
    ties = [s for s, mass in likely.items() if mass == best]
    guess = None if secret is None else min(ties, key=order_key)
    return View(len(present), best / sum(likely.values()), len(likely) == 1, guess)


def _views(
    rows: Sequence[Row], qids: Sequence[str], secret: str | None, masses: Sequence[Fraction]
) -> list[View | None]:
    """For each record, in input order, the view of its block."""
    views: list[View | None] = [None] * len(rows)
    for positions in partition(rows, qids).values():
        view = _view(rows, positions, secret, masses)
        for i in positions:
            views[i] = view
    return views


def _collective(
    masses: Sequence[Fraction], views: Sequence[View | None], prior: View
) -> dict[str, Any]:
    """Success averaged over the individuals: thesis Eqs. 4.1-4.6 (CRS) and 4.7-4.13 (CAS).

    Each individual is 1/|block| of a block, so the sum of these is the number of blocks.
    """
    people = [(m, view) for m, view in zip(masses, views, strict=True) if m and view]
    total = sum(masses, Fraction())
    return {
        "blocks": int(sum(Fraction(1, view.size) for _, view in people)),
        "singled_out": sum(view.size == 1 for _, view in people),
        "worst_case": max(view.success for _, view in people),
        "individuals_certain": sum(view.certain for _, view in people),
        **_deterministic(prior, sum((m for m, v in people if v.certain), Fraction()) / total),
        **_probabilistic(prior, sum((m * v.success for m, v in people), Fraction()) / total),
    }


def _individual(view: View, prior: View) -> dict[str, Any]:
    """Success on the target's block: thesis Eqs. C.1-C.6 (IRS) and C.7-C.13 (IAS)."""
    return {
        "blocks": 1,
        "singled_out": int(view.size == 1),
        "worst_case": view.success,
        "individuals_certain": view.size if view.certain else 0,
        "matches": view.size,
        "best_guess": view.best_guess,
        **_deterministic(prior, int(view.certain)),
        **_probabilistic(prior, view.success),
    }


def _deterministic(prior: View, posterior: int | Fraction) -> dict[str, Any]:
    """Additive degradation: thesis Eqs. 4.3 and 4.10.

    For one target it is "posterior and not prior" (Eqs. C.3 and C.9): whoever is certain of
    the whole table is certain of each block, so the difference is never negative.
    """
    return {
        "prior_deterministic": int(prior.certain),
        "posterior_deterministic": posterior,
        "degradation_deterministic": posterior - int(prior.certain),
    }


def _probabilistic(prior: View, posterior: Fraction) -> dict[str, Any]:
    """Multiplicative degradation (thesis Eqs. 4.6, 4.13, C.6, C.13) and leakages (Def. 7)."""
    return {
        "prior_probabilistic": prior.success,
        "posterior_probabilistic": posterior,
        "degradation_probabilistic": posterior / prior.success,
        "leakage_additive": posterior - prior.success,
        "min_entropy_leakage": math.log2(posterior / prior.success),
    }
