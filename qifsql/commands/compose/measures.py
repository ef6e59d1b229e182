"""Measures of an intersection attack, computed from counts; exact until the last division."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.data.types import Row

EXACT = 500  # most denominators to add as fractions; more are added as floats, rounded once
TOGETHER, MOST_REVEALING = 0, -1  # numbers of rows about all releases, and each person's worst

SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(("releases", "people", "located", "contradictions"), pl.Int64()),
    **dict.fromkeys(("effective_prior", "effective_posterior", "drop"), pl.Float64()),
    "vulnerable": pl.Int64(),
    "vulnerable_share": pl.Float64(),
    "perfect_breach": pl.Int64(),
    "perfect_breach_share": pl.Float64(),
    "perfect_breach_before": pl.Int64(),
    **dict.fromkeys(("prior_success", "posterior_success"), pl.Float64()),
}
"""One row for all releases together (progressive: one for the first, the first two, ...).

``people`` are the overlap; ``located`` are in a class of each release (or may be among suppressed
records); ``contradictions`` are located, but no value of the secret is left for them. Averages are
over located people without contradiction (NULL if there are none). ``effective_prior`` is the
average of the fewest distinct secrets in one release (Ganta et al., Definition 8),
``effective_posterior`` of the number of secrets in all releases, ``drop`` of the difference.
``vulnerable``: people with a positive drop. ``perfect_breach``: people with one value left;
``perfect_breach_before``: those of them for whom one release was enough. Shares are of ``people``.
``prior_success`` and ``posterior_success``: probability that the best guess is right, from the most
revealing release and from all together (products of class-conditional frequencies, normalised)."""

RELEASES: dict[str, pl.DataType] = {
    "release": pl.String(),
    **dict.fromkeys(("records", "classes", "smallest_class", "suppressed"), pl.Int64()),
    **dict.fromkeys(("in_one_class", "in_several", "in_no_class", "only_suppressed"), pl.Int64()),
    **dict.fromkeys(("partition_size", "effective_anonymity", "drop"), pl.Float64()),
    "vulnerable": pl.Int64(),
    "vulnerable_share": pl.Float64(),
    "perfect_breach": pl.Int64(),
    **dict.fromkeys(("success", "baseline"), pl.Float64()),
}
"""One row per release. ``smallest_class``: its k. ``suppressed``: records whose cells all stand for
everything. People of the overlap are ``in_one_class``, ``in_several``, ``in_no_class`` (not
located), or ``only_suppressed`` (in no class, but they may be among suppressed records). Averages
are over the same people as in ``SCHEMA``: ``partition_size`` of the records of a person's class,
``effective_anonymity`` of the distinct secrets in it, ``drop`` of this number minus the posterior.
``vulnerable``: people with a positive drop. ``perfect_breach``: people for whom this release is
enough. ``success``: probability that the best guess from this release alone is right.
``baseline``: share of its most frequent secret."""

COUNT, NUMBER = pl.Int64(), pl.Float64()
CURVE: dict[str, pl.DataType] = {
    **{"releases": COUNT, "confidence": NUMBER, "people_before": COUNT, "share_before": NUMBER},
    **{"people": COUNT, "share": NUMBER, "people_guessed": COUNT, "share_guessed": NUMBER},
}
"""One row per level of confidence. ``people``: those with so few values left that each has at least
this probability (Ganta et al., Definition 9). ``people_before``: the same with the most revealing
release alone. ``people_guessed``: those whose best guess is right with at least this probability
(NULL if not computed). Shares are of the overlap; people who are not located and contradictions
never count."""

TRUTH: dict[str, pl.DataType] = {
    **dict.fromkeys(("located", "true_value_left"), pl.Int64()),
    "true_value_left_share": pl.Float64(),
    **dict.fromkeys(("perfect_breach", "perfect_breach_right", "best_guess_right"), pl.Int64()),
    "best_guess_right_share": pl.Float64(),
}
"""One row if the true secrets are known, over people located without contradiction: the people
whose true value is left, the perfect breaches that are right, and the best guesses (of equally
likely values the smallest) that are right. Shares are of ``located``."""


def share(part: int, total: int) -> float | None:
    """Return the share of a part in a whole, rounded once; None if the whole is 0."""
    return part / total if total else None


def success(chances: Iterable[Row], release: int, people: int) -> float | None:
    """Return the mean over people of the probability that the best guess is right; None of nobody.

    A row of ``chances`` has the people's sum of numerators for one denominator and release: its
    number from 1, or ``TOGETHER`` or ``MOST_REVEALING``. With at most ``EXACT`` denominators, only
    the result is rounded. With more, each fraction is rounded once, and the sum of these is exact.
    """
    of_release = [row for row in chances if row["release"] == release]
    terms = [(int(row["numerator"]), int(row["denominator"])) for row in of_release]
    if not people or not terms:
        return None
    if len(terms) <= EXACT:
        return float(sum(Fraction(n, d) for n, d in terms) / people)
    return math.fsum(n / d for n, d in sorted(terms)) / people


def summary_row(releases: int, people: int, counted: Row, chances: Sequence[Row]) -> dict[str, Any]:
    """Return a row of ``SCHEMA`` from counts over the people who are located in all releases."""
    clear = counted["located"] - counted["contradictions"]  # people with a value left
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
        "prior_success": success(chances, MOST_REVEALING, clear),
        "posterior_success": success(chances, TOGETHER, clear),
    }


def release_row(
    title: str,
    people: int,
    finding: Row,
    step: tuple[Row, Sequence[Row], Sequence[Row]],
    number: int,
) -> dict[str, Any]:
    """Return the row of ``RELEASES`` of a release; ``finding`` has the counts of it alone.

    ``step`` is about all releases together: the summary, a row of sums per release, the chances.
    """
    counted, sums, chances = step
    clear = counted["located"] - counted["contradictions"]  # people with a value left
    totals: Row = next((row for row in sums if row["release"] == number), {})
    drop = totals.get("effective", 0) - counted["posterior"]
    return {
        "release": title,
        **{name: finding[name] for name in ("records", "classes", "smallest_class", "suppressed")},
        "in_one_class": finding["in_one"],
        "in_several": finding["in_several"],
        "in_no_class": finding["nowhere"],
        "only_suppressed": finding["only_suppressed"],
        "partition_size": share(totals.get("size", 0), clear),
        "effective_anonymity": share(totals.get("effective", 0), clear),
        "drop": share(drop, clear),
        "vulnerable": totals.get("vulnerable", 0),
        "vulnerable_share": share(totals.get("vulnerable", 0), people),
        "perfect_breach": totals.get("breached", 0),
        "success": success(chances, number, clear),
        "baseline": share(finding["most_frequent"], finding["records"]),
    }


def curve_rows(
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


def truth_row(counted: Row, truths: Row, *, bayes: bool) -> dict[str, Any]:
    """Return the row of ``TRUTH``, from counts of people located, and of those who are right."""
    clear = counted["located"] - counted["contradictions"]  # people with a value left
    return {
        "located": clear,
        "true_value_left": truths["kept"],
        "true_value_left_share": share(truths["kept"], clear),
        "perfect_breach": counted["breached"],
        "perfect_breach_right": truths["breached"],
        "best_guess_right": truths["guessed"] if bayes else None,
        "best_guess_right_share": share(truths["guessed"], clear) if bayes else None,
    }
