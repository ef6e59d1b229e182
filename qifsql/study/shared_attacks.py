"""Attacks that answer the rules of a policy, as few as possible."""

from collections.abc import Iterator, Sequence
from typing import Any

from qifsql.adversary import sets
from qifsql.adversary.models import Model
from qifsql.study import release_rules
from qifsql.study.policy import Policy
from qifsql.study.rules import Rule


def attack_options(policy: Policy, models: Sequence[Model], by: str | None) -> dict[str, Any]:
    """Return the options of the policy that the models take; ``by`` is the column of groups."""
    goals = {model.goal for model in models}
    unused = {"by", "known_records", *release_rules.OPTIONS}
    if "attribute inference" not in goals:
        unused |= {"secret", "prior"}
    if "membership" not in goals:
        unused.add("member")
    if not models[0].individual:
        unused.add("target")
    if not all(map(sets.takes_sets, models)):
        unused.add("household")
    options = {name: value for name, value in policy.adversary.items() if name not in unused}
    return options | {"by": by}


def shared_attacks(policy: Policy) -> Iterator[tuple[str | None, list[tuple[Rule, Model]]]]:
    """Yield as few attacks as possible: a column of groups (or None), its rules and their models.

    An attack has one column of groups. Models share it if they are of one person or of everybody,
    and of one release or several. Membership is attacked apart: its secret is another one. With a
    prior, or without people who miss a secret, so is each goal: both change inference alone.
    """
    goals_apart = policy.adversary.get("null") == "drop" or "prior" in policy.adversary
    rules_by_kind: dict[object, list[tuple[Rule, Model]]] = {}
    for rule in policy.rules:
        for model in rule.models:
            goal = model.goal if goals_apart or model.goal == "membership" else ""
            kind = model.individual, model.longitudinal, goal
            rules_by_kind.setdefault(kind, []).append((rule, model))
    for rules in rules_by_kind.values():
        columns = dict.fromkeys(rule.by for rule, _ in rules if rule.by is not None)
        first, *next_columns = columns or (None,)  # the first also answers rules without groups
        for by in (first, *next_columns):
            yield by, [(rule, model) for rule, model in rules if by == (rule.by or first)]
