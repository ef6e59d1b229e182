"""The numbers of an intersection attack, from counts: pure, exact until the last division."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import polars as pl

EXACT = 500  # denominators that are added as fractions; more are added as floats, rounded once

SCHEMA: dict[str, pl.DataType] = {
    "releases": pl.Int64(),
    "people": pl.Int64(),
    "located": pl.Int64(),
    "contradictions": pl.Int64(),
    "effective_prior": pl.Float64(),
    "effective_posterior": pl.Float64(),
    "drop": pl.Float64(),
    "vulnerable": pl.Int64(),
    "vulnerable_share": pl.Float64(),
    "perfect_breach": pl.Int64(),
    "perfect_breach_share": pl.Float64(),
    "perfect_breach_before": pl.Int64(),
    "prior_success": pl.Float64(),
    "posterior_success": pl.Float64(),
}
"""One row for all releases together (progressive: one for the first, the first two, ...).

``people`` are the overlap; ``located`` are in a class of each release (or may be among suppressed
records); ``contradictions`` are located, but no value of the secret is left for them. Averages are
over the located without contradiction, NULL where there are none: ``effective_prior`` of the fewest
different secrets in one release (Ganta et al., Definition 8), ``effective_posterior`` of how many
are in all, ``drop`` of their difference. ``vulnerable``: people with a positive drop;
``perfect_breach``: people for whom one value is left, ``perfect_breach_before`` those of them for
whom one release was enough. Shares are of ``people``. ``prior_success`` and ``posterior_success``:
chance that the best guess is right, from the release that tells most and from all together
(products of class-conditional frequencies, normalised), in [0, 1]."""

RELEASES: dict[str, pl.DataType] = {
    "release": pl.String(),
    "records": pl.Int64(),
    "classes": pl.Int64(),
    "smallest_class": pl.Int64(),
    "suppressed": pl.Int64(),
    "in_one_class": pl.Int64(),
    "in_several": pl.Int64(),
    "in_no_class": pl.Int64(),
    "only_suppressed": pl.Int64(),
    "partition_size": pl.Float64(),
    "effective_anonymity": pl.Float64(),
    "drop": pl.Float64(),
    "vulnerable": pl.Int64(),
    "vulnerable_share": pl.Float64(),
    "perfect_breach": pl.Int64(),
    "success": pl.Float64(),
    "baseline": pl.Float64(),
}
"""One row per release. ``smallest_class``: its k. ``suppressed``: records of which every cell
stands for everything. People of the overlap are ``in_one_class``, ``in_several``, ``in_no_class``
(not located), or ``only_suppressed`` (in no class, but they may be among suppressed records).
Averages as in ``SCHEMA``: ``partition_size`` of the records of a person's class, of the distinct
secrets in it (``effective_anonymity``), ``drop`` of that minus the posterior; ``vulnerable``:
people with a positive one; ``perfect_breach``: people for whom this release is enough.
``success``: chance of the best guess from this release alone; ``baseline``: share of its most
frequent secret."""

CURVE: dict[str, pl.DataType] = {
    "releases": pl.Int64(),
    "confidence": pl.Float64(),
    "people_before": pl.Int64(),
    "share_before": pl.Float64(),
    "people": pl.Int64(),
    "share": pl.Float64(),
    "people_guessed": pl.Int64(),
    "share_guessed": pl.Float64(),
}
"""One row per level of confidence: ``people`` whose values left are so few that each has that
chance (Ganta et al., Definition 9), ``people_before`` the same with the release that tells most,
``people_guessed`` those whose best guess is right with that chance (NULL where that is not
computed). Shares are of the overlap; people not located and contradictions never count."""

TRUTH: dict[str, pl.DataType] = {
    "located": pl.Int64(),
    "true_value_left": pl.Int64(),
    "true_value_left_share": pl.Float64(),
    "perfect_breach": pl.Int64(),
    "perfect_breach_right": pl.Int64(),
    "best_guess_right": pl.Int64(),
    "best_guess_right_share": pl.Float64(),
}
"""One row, where the true secrets are known, over people located without contradiction: for how
many the true value is among those left, how many perfect breaches are right, how often the best
guess (of equals the smallest value) is. Shares are of ``located``."""

Row = Mapping[str, Any]


def share(part: int, whole: int) -> float | None:
    """Return part of a whole, rounded once; None of nothing."""
    return part / whole if whole else None


def success(chances: Iterable[Row], release: int, people: int) -> float | None:
    """Return the average over people of the chance of the best guess.

    ``chances`` are sums of numerators by denominator. Exact up to the last rounding where there are
    at most ``EXACT`` denominators; otherwise each is rounded once and they are added exactly.
    """
    terms = [
        (int(c["numerator"]), int(c["denominator"])) for c in chances if c["release"] == release
    ]
    if not people or not terms:
        return None
    if len(terms) <= EXACT:
        return float(sum(Fraction(n, d) for n, d in terms) / people)
    return math.fsum(n / d for n, d in sorted(terms)) / people


def summary(releases: int, people: int, counted: Row, chances: Sequence[Row]) -> dict[str, Any]:
    """Return a row of ``SCHEMA``."""
    clear = counted["located"] - counted["contradictions"]
    return {
        "releases": releases,
        "people": people,
        "located": counted["located"],
        "contradictions": counted["contradictions"],
        "effective_prior": share(counted["prior"], clear),
        "effective_posterior": share(counted["posterior"], clear),
        "drop": share(counted["prior"] - counted["posterior"], clear),
        "vulnerable": counted["vulnerable"],
        "vulnerable_share": share(counted["vulnerable"], people),
        "perfect_breach": counted["breached"],
        "perfect_breach_share": share(counted["breached"], people),
        "perfect_breach_before": counted["breached"] - counted["breached_anew"],
        "prior_success": success(chances, -1, clear),
        "posterior_success": success(chances, 0, clear),
    }


def release(
    title: str,
    people: int,
    finding: Row,
    step: tuple[Row, Sequence[Row], Sequence[Row]],
    number: int,
) -> dict[str, Any]:
    """Return a row of ``RELEASES``; ``step``: the summary, the sums by release, and the chances."""
    counted, sums, chances = step
    clear = counted["located"] - counted["contradictions"]
    totals: Row = next((s for s in sums if s["release"] == number), {})
    left = totals.get("effective", 0) - counted["posterior"]
    return {
        "release": title,
        **{name: finding[name] for name in ("records", "classes", "smallest_class", "suppressed")},
        "in_one_class": finding["in_one"],
        "in_several": finding["in_several"],
        "in_no_class": finding["nowhere"],
        "only_suppressed": finding["only_suppressed"],
        "partition_size": share(totals.get("size", 0), clear),
        "effective_anonymity": share(totals.get("effective", 0), clear),
        "drop": share(left, clear),
        "vulnerable": totals.get("vulnerable", 0),
        "vulnerable_share": share(totals.get("vulnerable", 0), people),
        "perfect_breach": totals.get("breached", 0),
        "success": success(chances, number, clear),
        "baseline": share(finding["most_frequent"], finding["records"]),
    }


def curve(
    releases: int, people: int, levels: Sequence[Fraction], counted: Sequence[Row], *, bayes: bool
) -> list[dict[str, Any]]:
    """Return rows of ``CURVE``; ``counted`` has a row for each level by its number from 1."""
    return [
        {
            "releases": releases,
            "confidence": float(levels[row["level"] - 1]),
            "people_before": row["before"],
            "share_before": share(row["before"], people),
            "people": row["after"],
            "share": share(row["after"], people),
            "people_guessed": row["guessed"] if bayes else None,
            "share_guessed": share(row["guessed"], people) if bayes else None,
        }
        for row in counted
    ]


def truth(counted: Row, truths: Row, *, bayes: bool) -> dict[str, Any]:
    """Return the row of ``TRUTH``."""
    clear = counted["located"] - counted["contradictions"]
    return {
        "located": clear,
        "true_value_left": truths["kept"],
        "true_value_left_share": share(truths["kept"], clear),
        "perfect_breach": counted["breached"],
        "perfect_breach_right": truths["breached"],
        "best_guess_right": truths["guessed"] if bayes else None,
        "best_guess_right_share": share(truths["guessed"], clear) if bayes else None,
    }
