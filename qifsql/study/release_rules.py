"""Rules of a policy about a synthetic release beside the people from whom it was made."""

from collections.abc import Mapping
from typing import Any

from qifsql.errors import InputError
from qifsql.measures import release_measures as kinds
from qifsql.study.rules import DRIFT, Rule

MODEL = "synthetic"  # the ``model`` of these rules in a policy, and in a verdict
OPTIONS = ("original", "control", "split")  # options of the adversary that these rules alone use
SIGNED = (*kinds.DIFFERENCES, *(name for name in kinds.OF_QUESTIONS if name.endswith("_risk")))
"""Measures that may be negative: where the control is guessed better than the original."""


def measures(*, grouped: bool = False) -> list[str]:
    """Return the measures of these rules; distances are none, because they show no safety."""
    if grouped:
        return list(kinds.OF_GROUPS)
    names = (
        *kinds.OF_RELEASE,
        *kinds.OF_SECRET,
        *kinds.OF_GUESSES,
        *kinds.DIFFERENCES,
        *kinds.OF_QUESTIONS,
    )
    return [name for name in names if not unsuitable(name)]


def least(measure: str, bound: str) -> float:
    """Return the least sensible limit of a bound on a measure."""
    return -1.0 if measure in SIGNED or bound in DRIFT else 0.0


def unsuitable(measure: str) -> str:
    """Return the reason why a measure of a comparison has no rule; empty if it has."""
    if measure in kinds.OF_DISTANCES:
        return "is a distance, and distances do not show safety; use repU or individual_leak"
    if measure in (*kinds.OF_ATTEMPTS, *kinds.OF_NEAREST):
        return "is drawn at random; qifsql synthetic --require has it"
    if measure in kinds.OF_CLASSIFIERS:
        return "needs a classifier; qifsql synthetic --learner --require has it"
    return ""


def missing(rule: Rule, adversary: Mapping[str, Any]) -> str:
    """Return what a rule needs and the adversary does not name; empty if nothing is missing."""
    if adversary.get("original") is None:
        return "compares with the original; name its file in [adversary] original, or --original"
    if rule.measure in kinds.ABOUT_SECRETS and not adversary.get("secret"):
        return "is about a secret; name one in [adversary] secret, or --secret"
    if rule.measure not in kinds.ABOUT_SECRETS and rule.secrets:
        return f"is about no secret ({rule.measure}); leave secret out"
    if rule.measure in kinds.OF_CONTROL and adversary.get("control") is None:
        return (
            f"needs a control ({rule.measure}): people from whom the release was not made; name "
            "their file in [adversary] control, or --control"
        )
    if rule.measure in kinds.OF_LINKS and not adversary.get("split"):
        return f"is about two sources ({rule.measure}); name the columns of one in split"
    return ""


def check_counting(adversary: Mapping[str, Any]) -> None:
    """Refuse options that a comparison would not keep: it counts every record once."""
    for name in ("weight", "wave"):
        if adversary.get(name):
            raise InputError(f"a synthetic release is compared record by record; leave {name} out")
    if adversary.get("null") == "drop":
        what = 'a missing value is a value of a synthetic release; leave null = "drop" out'
        raise InputError(what)
