"""A rule of a policy: one measure, its models, secrets and groups, and its bounds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qifsql.adversary.models import Model
from qifsql.data.files import matches
from qifsql.data.option import bare_name
from qifsql.results.assessment import DETAILS, INDIVIDUAL, MEASURES, SCHEMA
from qifsql.study.recipients import RISKS

BOUNDS = {
    "at_most": "<= {}",
    "at_least": ">= {}",
    "rise_at_most": "rise <= {}",
    "fall_at_most": "fall <= {}",
}
DRIFT = ("rise_at_most", "fall_at_most")
RELATIVE_ERROR = 1e-12  # of rounding, in sums
ABSOLUTE_ERROR = 1e-14  # of rounding, in numbers that should be 0
PROBABILITIES = {
    *("prior_deterministic", "posterior_deterministic", "degradation_deterministic"),
    *("prior_probabilistic", "posterior_probabilistic", "leakage_additive", "worst_case"),
    *("guessed_right", "gap", *MEASURES["risks"], *RISKS),
}
WORSE_ABOVE = {
    *("posterior_deterministic", "posterior_probabilistic", "worst_case"),
    *("degradation_deterministic", "degradation_probabilistic", "leakage_additive"),
    *("min_entropy_leakage", "singled_out", "individuals_certain", *MEASURES["risks"]),
}
"""Measures of which a larger value is worse for the people."""
WORSE_BELOW = {"k", "l"}  # measures of which a smaller value is worse for the people


@dataclass(frozen=True)
class Rule:
    """One level: its models, measure, secrets, groups and bounds.

    ``number`` counts from 1. Without ``secrets`` the rule is about all secrets, without ``by``
    about everybody together. ``bounds`` are the given ones of ``BOUNDS``. ``attempt`` is the chance
    that anybody attacks at all, by which probabilities are multiplied. A rule without ``models`` is
    of another ``kind``: about a synthetic release beside its original, or about published tables
    (``qifsql.study.release_rules``, ``qifsql.study.table_rules``).
    """

    number: int
    models: tuple[Model, ...]
    measure: str
    bounds: Mapping[str, float]
    secrets: tuple[str, ...] = ()
    by: str | None = None
    attempt: float = 1.0
    kind: str = ""  # ``synthetic`` or ``tables``; empty: it is about attacks on records

    @property
    def chance(self) -> float | None:
        """Return the chance of an attempt, None if the measure is not a probability."""
        return self.attempt if self.measure in PROBABILITIES else None

    def attempted(self, value: float) -> float:
        """Return a value of the measure times the chance of an attempt."""
        return value if self.chance in (None, 1) else value * self.attempt

    @property
    def limits(self) -> str:
        """Return the bounds in words: ``<= 0.2 and >= 0.1``."""
        return " and ".join(BOUNDS[name].format(bound) for name, bound in self.bounds.items())

    @property
    def drifts(self) -> bool:
        """Return whether the rule bounds the difference from the last release."""
        return any(name in DRIFT for name in self.bounds)

    def met(
        self, value: float, last: float | None, interval: tuple[float, float] | None = None
    ) -> bool:
        """Return whether a value is within all bounds; ``last`` is that of the last release.

        If the value is an estimate with an interval, all of the interval must be within ``at_most``
        and ``at_least``: its worse end decides. Differences from the last release are those of the
        values. A value that differs from its bound only by rounding is within it: shares of a
        billion people are 10^-9 apart, and sums of floating-point numbers are wrong by less than
        one part in 10^12.
        """
        low, high = interval or (value, value)
        judged = dict.fromkeys(self.bounds, value) | {"at_most": high, "at_least": low}
        earlier = last or 0.0
        for name, bound in self.bounds.items():
            limits = {"rise_at_most": earlier + bound, "fall_at_most": earlier - bound}
            limit, reached = limits.get(name, bound), judged[name]
            is_least = name in ("at_least", "fall_at_most")
            is_equal = math.isclose(reached, limit, rel_tol=RELATIVE_ERROR, abs_tol=ABSOLUTE_ERROR)
            if not (is_equal or (reached >= limit if is_least else reached <= limit)):
                return False
        return True

    def worse(self, first: float, second: float) -> bool:
        """Return whether the first of two values of the measure is worse by the bounds."""
        above = any(name in self.bounds for name in ("at_most", "rise_at_most"))
        return first > second if above else first < second


def backwards(measure: str, bounds: Mapping[str, float]) -> str:
    """Return why bounds on a measure protect nobody; empty if they may protect somebody."""
    for worse, size, wrong, right in (
        (WORSE_ABOVE, "larger", "at_least", "at_most"),
        (WORSE_BELOW, "smaller", "at_most", "at_least"),
    ):
        if measure in worse and list(bounds) == [wrong] and bounds[wrong] > 0:
            return (
                f"a {size} {measure} is worse for the people, and {wrong} alone protects nobody; "
                f"write {right}"
            )
    return ""


def measures(*, grouped: bool = False) -> list[str]:
    """Return the measures of rules: numeric columns of an attack's result, or of its groups."""
    schemas = [DETAILS["groups"]] if grouped else [SCHEMA, INDIVIDUAL, *MEASURES.values()]
    return [name for schema in schemas for name, kind in schema.items() if kind.is_numeric()]


def unsuitable(measure: str, model: Model, *, population: bool) -> str:
    """Return the reason why a model cannot have a measure; empty if it can."""
    if measure in MEASURES["risks"] and model.goal != "re-identification":
        return f"is of re-identification alone, and {model.acronym} is of {model.goal}"
    if measure == "journalist_risk" and not population:
        return "needs the population; name its file in [adversary]"
    if measure == "guessed_right" and model.goal == "re-identification":
        return "is of a secret; name a model of attribute inference"
    if measure in MEASURES["anonymity"] and model.goal == "membership":
        return f"is of crs and cas, and {model.acronym} is of {model.goal}"
    if measure == "l" and model.goal == "re-identification":
        return "is of a secret; name a model of attribute inference"
    if measure in INDIVIDUAL and not model.individual:
        return f"is of one person, and {model.acronym} is of everybody"
    return ""


def named(text: str, secrets: Sequence[str]) -> list[str]:
    """Return the secrets of a result that a text names exactly, or else ignoring case.

    The text may be a named expression, or have the tag of the focal dataset.
    """
    names = (text, _name(text))
    folded = [name.casefold() for name in names]
    exact = [secret for secret in secrets if secret in names]
    return exact or [secret for secret in secrets if secret.casefold() in folded]


def asked_for(text: str, names: Sequence[str]) -> bool:
    """Return whether a secret may be one of the requested ones, by its name or by a pattern."""
    name = _name(text).casefold()
    is_named = bool(named(text, [*names, *map(_name, names)]))
    return is_named or any(matches(name, pattern.casefold()) for pattern in names)


def _name(text: str) -> str:
    """Return the name before an expression, without the tag of the focal dataset."""
    return bare_name(text).removeprefix("1:")
