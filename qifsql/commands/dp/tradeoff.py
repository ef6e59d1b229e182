"""The numbers of a result: loss and utility for each epsilon and mechanism, with their limits."""

import math
from collections.abc import Iterator, Sequence

import polars as pl

from qifsql.commands.dp import mechanisms
from qifsql.commands.dp.count import Counts
from qifsql.commands.dp.epsilons import Epsilon
from qifsql.commands.dp.mechanisms import Report
from qifsql.commands.dp.semantic import semantic

TRADEOFF: dict[str, pl.DataType] = {
    "epsilon": pl.Float64(),
    **dict.fromkeys(("epsilon_given", "mechanism"), pl.String()),
    **dict.fromkeys(("predicate", "answers"), pl.Int64()),
    **dict.fromkeys(("privacy_loss", "privacy_loss_min", "privacy_loss_max"), pl.Float64()),
    **dict.fromkeys(("utility", "utility_min", "utility_max", "prior", "posterior"), pl.Float64()),
    **dict.fromkeys(("epsilon_answer", "epsilon_person", "privacy_loss_promised"), pl.Float64()),
    **dict.fromkeys(("semantic_distance", "semantic_failure"), pl.Float64()),
    "method": pl.String(),
    "error": pl.Float64(),
}
"""One row per epsilon, mechanism and predicate.

``epsilon`` is the requested one, in nats. ``predicate`` is its number, from 1; NULL for all
together. ``answers`` is the number of noisy answers. ``privacy_loss`` is the multiplicative Bayes
leakage of the added record's secret (thesis Def. 28); ``prior`` and ``posterior`` are the success
in guessing it before and after. ``utility`` is the posterior success in guessing the real count
(Def. 29). ``_min`` and ``_max`` are the limits as epsilon goes to 0, and without noise.
``epsilon_answer`` is the epsilon of each noisy answer, ``epsilon_person`` that of all answers for
one record. ``privacy_loss_promised`` is the largest loss that this allows for any data
(e^epsilon_person, at most 1/prior). ``semantic_distance`` and ``semantic_failure``: see
``qifsql.commands.dp.semantic``. ``error`` bounds the errors of ``posterior`` and ``utility``,
beyond the rounding to a floating-point number."""


def tradeoff_rows(
    counts: Counts, epsilon: Epsilon, mechanism: str, *, answers: int, budget: str, delta: float
) -> Iterator[dict[str, object]]:
    """Yield a row of ``TRADEOFF`` for each predicate, and one for all of them if several.

    ``answers`` is the number of noisy answers to each predicate, ``delta`` that of the guarantee.
    With a ``budget`` of "split", epsilon is that of all answers together, else of each.
    """
    bits = range(max(counts.totals).bit_length())  # the numbers of the predicates, from 0
    choices = [(i,) for i in bits] + ([tuple(bits)] if len(bits) > 1 else [])
    for chosen in choices:
        if mechanism == "oblivious":  # noise on each count: each answer uses epsilon
            parts = len(bits) * answers if budget == "split" else 1
            level, seen = epsilon.part(parts), len(chosen) * answers  # of an answer; how many
            report = mechanisms.oblivious(counts, level, chosen, answers)
            person = float(level.value) * len(chosen) * answers
        else:  # noise on each record, once: further answers are about the same noisy records
            level, seen = epsilon, len(chosen)
            # local promises epsilon for neighbouring places: a person may be at both ends
            steps = len(counts.people) - 1 if mechanism == "local" else 1
            person = float(epsilon.value) * steps
            if len(chosen) == 1:
                (bit,) = chosen
                report = mechanisms.local(counts, epsilon, bit, mechanism)
            else:
                report = mechanisms.local_bound(counts, epsilon, mechanism)
        yield {
            "epsilon": float(epsilon.value),
            "epsilon_given": epsilon.text,
            "mechanism": mechanism,
            "predicate": chosen[0] + 1 if len(chosen) == 1 else None,
            "answers": seen,
            "epsilon_answer": float(level.value),
            "epsilon_person": person,
            **_measured_columns(counts, report, chosen),
            **_guaranteed_columns(counts, person, delta),
        }


def _measured_columns(counts: Counts, report: Report, bits: Sequence[int]) -> dict[str, object]:
    """Return the loss and utility of a report about the predicates ``bits``, with their limits.

    The prior is the share of records with the most frequent secret; a loss is posterior / prior.
    """
    records, with_likeliest = counts.extent.records, counts.likeliest
    guessed_without_noise, most_frequent_answer = mechanisms.without_noise(counts, bits)
    posterior, utility = report.posterior, report.utility
    return {
        "privacy_loss": float(posterior.value * records / with_likeliest),
        "privacy_loss_min": 1.0,
        "privacy_loss_max": guessed_without_noise / with_likeliest,
        "utility": float(utility.value) if utility else None,
        "utility_min": most_frequent_answer / records,
        "utility_max": 1.0,
        "prior": with_likeliest / records,
        "posterior": float(posterior.value),
        "method": report.method,
        "error": max(posterior.error, utility.error if utility else 0.0),
    }


def _guaranteed_columns(counts: Counts, epsilon: float, delta: float) -> dict[str, object]:
    """Return the guarantees of epsilon for any data: largest loss, and change of beliefs."""
    beliefs = semantic(epsilon, delta, counts.extent.records + 1)  # with the added record
    greatest = counts.extent.records / counts.likeliest  # 1 / prior
    return {
        "privacy_loss_promised": min(greatest, math.exp(min(epsilon, 700.0))),  # more overflows
        "semantic_distance": beliefs.distance,
        "semantic_failure": beliefs.failure,
    }
