"""Bounds that a changed release must keep: ``crs <= 0.1``, or the rules of a policy.

``crs<=0.1``, ``cas<=0.8``: success with the best guess (``posterior_probabilistic``).
``crs.deterministic<=0.05``, ``cas.worst_case<=0.9``: another measure of the result of an attack.
``cas(income)<=0.8``: only of that secret. ``k>=5``, ``l>=2``, ``l(income)>=2``: of the blocks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qifsql.counting.risks import Risk
from qifsql.errors import ColumnError, InputError, did_you_mean, quoted
from qifsql.study.policy import Policy
from qifsql.study.rules import BOUNDS, PROBABILITIES, Rule, named

SHORT = {"": "posterior_probabilistic", "deterministic": "posterior_deterministic"}
SHORT |= {"probabilistic": "posterior_probabilistic"}
FALLING = frozenset(
    {
        *("posterior_deterministic", "posterior_probabilistic", "worst_case"),
        *("degradation_deterministic", "degradation_probabilistic", "leakage_additive"),
        *("min_entropy_leakage", "singled_out", "individuals_certain", "blocks"),
    }
)
"""Measures that never rise when quasi-identifiers become coarser (thesis chapter 4: a coarser
partition never leaks more)."""
MEASURES = (*sorted({*FALLING, "prior_deterministic", "prior_probabilistic"}),)
_UNTIL = re.compile(
    r"\s*(crs|cas|k|l)\s*(?:\.\s*(\w+)\s*)?(?:\((.*)\)\s*)?(<=|>=)\s*(\S+)\s*", re.I | re.S
)


@dataclass(frozen=True)
class Bound:
    """One bound on a measure of a model (``k`` and ``l``: of the blocks), for some secrets.

    Without ``secrets`` it is for all of them. ``text`` is its form for the reader.
    """

    text: str
    model: str
    measure: str
    secrets: tuple[str, ...]
    rule: Rule

    @property
    def monotone(self) -> bool:
        """Return whether a release that breaks the bound still does with finer values."""
        if self.model in ("k", "l"):
            return set(self.rule.bounds) == {"at_least"}
        return self.measure in FALLING and set(self.rule.bounds) == {"at_most"}

    def met(self, risks: Sequence[Risk]) -> bool:
        """Return whether a release of these risks keeps the bound; an undefined value breaks it."""
        everybody = self.model in ("crs", "k") or not self.secrets
        values = [self._value(risk) for risk in risks if everybody or risk.secret in self.secrets]
        return all(v is not None and self.rule.met(v, None) for v in values)

    def _value(self, risk: Risk) -> Any:
        if self.model in ("k", "l"):
            return risk.partition[self.model]
        return risk.attacks[self.model][self.measure]


def until(texts: Sequence[str], secrets: Sequence[str]) -> list[Bound]:
    """Return the bounds that texts state; raise InputError if a text is not a bound."""
    return [_until(text, secrets) for text in texts]


def _until(text: str, secrets: Sequence[str]) -> Bound:
    match = _UNTIL.fullmatch(text)
    if match is None:
        raise InputError(
            f"{quoted(text)} is not a bound; expected, for example, crs<=0.1, cas(SECRET)<=0.8, "
            "crs.deterministic<=0.05, k>=5 or l>=2"
        )
    model, measure, secret, sign, number = match.groups()
    model, measure = model.lower(), (measure or "").lower()
    try:
        limit = float(number)
    except ValueError as e:
        raise InputError(
            f"the limit of {quoted(text)} is not a number; expected, for example, 0.1"
        ) from e
    if not limit >= 0 or limit == float("inf"):
        raise InputError(f"the limit of {quoted(text)} must be a number from 0")
    if model in ("k", "l") and measure:
        raise InputError(f"{quoted(text)}: {model} has no measures; write {model}>=5")
    measure = measure if model in ("k", "l") else SHORT.get(measure, measure)
    if measure and measure not in MEASURES:
        hint = did_you_mean(measure, (*MEASURES, "deterministic"))
        raise InputError(f"there is no measure {quoted(measure)} for {model}{hint}")
    bound = "at_most" if sign == "<=" else "at_least"
    if model in ("crs", "cas") and measure in PROBABILITIES and limit > 1:
        raise InputError(f"the limit of {quoted(text)} is above 1, but 5 % is 0.05")
    _check_model(text, model, secret, secrets)
    names = _secrets(secret, secrets) if secret is not None else ()
    return Bound(text.strip(), model, measure, names, Rule(0, (), measure, {bound: limit}))


def _check_model(text: str, model: str, secret: str | None, secrets: Sequence[str]) -> None:
    if model in ("cas", "l") and not secrets:
        raise ColumnError(f"{quoted(text)} is about a secret; name one with --secret")
    if model in ("crs", "k") and secret is not None:
        raise InputError(f"{quoted(text)}: {model} is about no secret; leave the brackets out")


def _secrets(text: str, secrets: Sequence[str]) -> tuple[str, ...]:
    names = named(text, secrets)
    if not names:
        hint = did_you_mean(text, secrets)
        raise ColumnError(f"{quoted(text)} is not a secret here{hint}")
    return tuple(names)


def of_policy(policy: Policy, secrets: Sequence[str]) -> list[Bound]:
    """Return the bounds of a policy's rules.

    Raises InputError, with the line, if a search cannot use a rule.
    """
    bounds = []
    for rule in policy.rules:
        if rule.by is not None or rule.drifts:
            raise policy.wrong(
                rule,
                "a search is for levels of everybody together; leave groups (by) and differences "
                "from the last release out",
            )
        for model in rule.models:
            if model.acronym not in ("crs", "cas"):
                raise policy.wrong(rule, "a search is for models crs and cas; name these", "model")
            if rule.measure not in MEASURES:
                raise policy.wrong(
                    rule, f"a search knows the measures {', '.join(MEASURES)}", "measure"
                )
            names = [s for text in rule.secrets for s in named(text, secrets)]
            if rule.secrets and not names:
                raise policy.wrong(rule, "none of its secrets is asked for", "secret")
            for name, limit in rule.bounds.items():
                text = f"{model.acronym}.{rule.measure} {BOUNDS[name].format(limit)}"
                own_rule = Rule(rule.number, rule.models, rule.measure, {name: limit})
                bounds.append(Bound(text, model.acronym, rule.measure, tuple(names), own_rule))
    return bounds
