"""Bounds that a changed release must keep: ``crs <= 0.1``, or the rules of a policy.

A bound names a model, a measure and a limit, as a rule of a policy does (``qifsql.study.policy``):
``crs.prosecutor_risk<=0.1``, ``cas(income).worst_case<=0.9`` (only of that secret). Short forms are
``crs<=0.1`` and ``cas<=0.8`` (success with the best guess, ``posterior_probabilistic``),
``crs.deterministic<=0.05``, ``k>=5`` (``crs.k``), ``l>=2`` and ``l(income)>=2`` (``cas.l``).

A search takes the rules that ``check`` takes, with their chance of an attempt, except these, which
it cannot measure again for each change: other models than crs and cas; groups (``by``);
differences from the last release; the measures that are not in ``MEASURES`` (of uncertainty,
capacity, and of a population).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from qifsql.adversary.models import model as named_model
from qifsql.counting.risks import Risk
from qifsql.errors import ColumnError, InputError, did_you_mean, quoted
from qifsql.study.policy import Policy
from qifsql.study.rules import (
    BOUNDS,
    PROBABILITIES,
    WORSE_ABOVE,
    WORSE_BELOW,
    Rule,
    backwards,
    named,
    unsuitable,
)

SHORT = {"": "posterior_probabilistic", "deterministic": "posterior_deterministic"}
SHORT |= {"probabilistic": "posterior_probabilistic"}
FALLING = WORSE_ABOVE - {"journalist_risk"} | {"blocks"}
"""Measures that never rise when quasi-identifiers become coarser (thesis chapter 4: a coarser
partition never leaks more)."""
RISING = WORSE_BELOW  # measures that never fall when they become coarser
MEASURES = (*sorted({*FALLING, *RISING, "prior_deterministic", "prior_probabilistic", "records"}),)
MODELS = ("crs", "cas")
MODEL_OF_LEVEL = {"k": "crs", "l": "cas"}
_BOUND = re.compile(
    r"\s*(?P<model>crs|cas|k|l)\s*(?:\((?P<secret>.*)\)\s*)?(?:\.\s*(?P<measure>\w+)\s*)?"
    r"(?:\((?P<secret_behind>.*)\)\s*)?(?P<sign><=|>=)\s*(?P<limit>\S+)\s*",
    re.I | re.S,
)


@dataclass(frozen=True)
class Bound:
    """One bound on a measure of a model, for some secrets.

    Without ``secrets`` it is for all of them. ``text`` is its form for the reader.
    """

    text: str
    model: str
    measure: str
    secrets: tuple[str, ...]
    rule: Rule

    @property
    def monotone(self) -> bool:
        """Return whether no release with finer values can keep the bound if this one breaks it."""
        kinds = {"at_most"} if self.measure in FALLING else {"at_least"}
        return self.measure in FALLING | RISING and set(self.rule.bounds) == kinds

    def met(self, risks: Sequence[Risk]) -> bool:
        """Return whether a release of these risks keeps the bound; an undefined value breaks it."""
        everybody = self.model == "crs" or not self.secrets
        values = [
            risk.attacks[self.model][self.measure]
            for risk in risks
            if everybody or risk.secret in self.secrets
        ]
        return all(v is not None and self.rule.met(self.rule.attempted(v), None) for v in values)


def remarks(rules: Sequence[Bound]) -> list[str]:
    """Return notes on bounds that protect nobody."""
    reasons = ((rule.text, backwards(rule.measure, rule.rule.bounds)) for rule in rules)
    return [f"{text}: {reason}" for text, reason in reasons if reason]


def read_bound(text: str, secrets: Sequence[str]) -> Bound:
    """Return the bound that a text states, such as ``cas(income)<=0.8``, on one of ``secrets``.

    Raises InputError if it states none, or ColumnError if its secret is not among them.
    """
    match = _BOUND.fullmatch(text)
    if match is None:
        raise InputError(
            f"{quoted(text)} is not a bound; expected, for example, crs<=0.1, cas(SECRET)<=0.8, "
            "crs.deterministic<=0.05, k>=5 or l>=2"
        )
    model, measure = match["model"].lower(), (match["measure"] or "").lower()
    secret = match["secret_behind"] if match["secret"] is None else match["secret"]
    limit = _limit(match["limit"], text)
    if model in MODEL_OF_LEVEL and measure:
        raise InputError(f"{quoted(text)}: {model} has no measures; write {model}>=5")
    measure = model if model in MODEL_OF_LEVEL else SHORT.get(measure, measure)
    model = MODEL_OF_LEVEL.get(model, model)
    if measure not in MEASURES:
        hint = did_you_mean(measure, (*MEASURES, "deterministic"))
        raise InputError(f"there is no measure {quoted(measure)} for {model}{hint}")
    if reason := unsuitable(measure, named_model(model), population=False):
        raise InputError(f"{quoted(text)}: {measure} {reason}")
    if measure in PROBABILITIES and limit > 1:
        raise InputError(f"the limit of {quoted(text)} is above 1, but 5 % is 0.05")
    if model == "cas" and not secrets:
        raise ColumnError(f"{quoted(text)} is about a secret; name one with --secret")
    if model == "crs" and secret is not None:
        raise InputError(f"{quoted(text)} is about no secret; leave the brackets out")
    names = () if secret is None else tuple(named(secret, secrets))
    if secret is not None and not names:
        hint = did_you_mean(secret, secrets)
        raise ColumnError(f"{quoted(secret)} is not a secret here{hint}")
    bounds = {"at_most" if match["sign"] == "<=" else "at_least": limit}
    rule = Rule(0, (), measure, bounds)  # of no policy and no model: only its bounds are used
    return Bound(text.strip(), model, measure, names, rule)


def _limit(number: str, text: str) -> float:
    """Return the limit of the bound ``text``; refuse what is not a number from 0."""
    try:
        limit = float(number)
    except ValueError as e:
        raise InputError(
            f"the limit of {quoted(text)} is not a number; expected, for example, 0.1"
        ) from e
    if not limit >= 0 or limit == float("inf"):
        raise InputError(f"the limit of {quoted(text)} must be a number from 0")
    return limit


def of_policy(policy: Policy, secrets: Sequence[str]) -> list[Bound]:
    """Return the bounds of a policy's rules: for each its models and limits, one by one.

    Raises InputError, with the line of the first and all reasons, if a search cannot use a rule.
    """
    if policy.recipients:
        what = (
            "a search bounds no risk of a recipient; leave it out, and check the release after it"
        )
        raise policy.lines.wrong(what, "recipient", 0)
    reasons = [(rule, reason) for rule in policy.rules for reason in _unsearchable(rule)]
    if reasons:
        rule, _ = reasons[0]
        listed = "; ".join(f"rule {rule.number}: {reason}" for rule, reason in reasons)
        raise policy.wrong(rule, f"a search cannot use every rule: {listed}")
    bounds: list[Bound] = []
    for rule in policy.rules:
        names = [s for text in rule.secrets for s in named(text, secrets)]
        if rule.secrets and not names:
            raise policy.wrong(rule, "none of its secrets is asked for", "secret")
        attempt = f"{rule.attempt:g} * " if rule.chance not in (None, 1) else ""
        for model, (name, limit) in product(rule.models, rule.bounds.items()):
            text = f"{attempt}{model.acronym}.{rule.measure} {BOUNDS[name].format(limit)}"
            own_rule = replace(rule, bounds={name: limit})
            bounds.append(Bound(text, model.acronym, rule.measure, tuple(names), own_rule))
    return bounds


def _unsearchable(rule: Rule) -> Iterator[str]:
    """Yield the reasons why a search cannot use a rule."""
    if rule.kind:
        what = {"synthetic": "synthetic releases"}.get(rule.kind, rule.kind)
        yield f"leave {what} out; a search changes records and makes no release"
        return
    if rule.by is not None:
        yield "leave groups (by) out; a search is about everybody together"
    if rule.drifts:
        yield "leave the difference from the last release out"
    if others := [m.acronym for m in rule.models if m.acronym not in MODELS]:
        yield f"name models crs or cas, not {', '.join(others)}"
    if rule.measure not in MEASURES:
        yield f"{rule.measure} is not measured by a search, which knows {', '.join(MEASURES)}"
