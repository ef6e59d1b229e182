"""Whether an entry fits its data: names, expressions and types, looked at before anything runs."""

from collections.abc import Iterator
from typing import Any, cast

from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.linkage import keyless
from qifsql.policy import Policy
from qifsql.session import opened
from qifsql.spec import Attack, BoundAttack, Options, refuse
from qifsql.study.entry import Entry
from qifsql.study.files import policy_of
from qifsql.sweep import releases
from qifsql.sweep.lattice import Scope
from qifsql.wanted import Wanted

GIVEN_SUBSETS = ("sizes", "subsets", "search", "sample")


def fit(entry: Entry, settings: Settings | None = None) -> None:
    """Look up every name of an entry in its data. InputError where something does not fit."""
    if entry.kind == "attack" and "link" in entry.options:
        keyless.fit(entry.models, entry.source, settings, **entry.options)
    elif entry.kind == "attack":
        wanted = _wanted(entry)
        with opened(_attack(entry), settings, joined=False) as (_, bound):
            if wanted.progressive:
                bound.first(1)
    elif entry.kind == "sweep":
        spec = Attack.of(
            "crs,cas" if "secret" in entry.options else "crs", entry.source, **_plain(entry.options)
        )
        if not spec.of_collection:
            refuse(entry.options, "a sweep of one dataset", "key")
        with opened(spec.fitting(), settings, joined=False) as (_, bound):
            _scope(entry, bound)
    else:
        for spec in _attacks(entry, policy_of(entry.options)):
            with opened(spec, settings, joined=False):
                pass


def _attack(entry: Entry) -> Attack:
    """What an attack is bound as."""
    spec = Attack.of(entry.models, entry.source, **_plain(entry.options))
    people = entry.options.get("population")
    return spec.among(people) if people is not None and spec.of_membership else spec


def _wanted(entry: Entry) -> Wanted:
    """What is wanted beside success: measures have names, and some things exclude each other."""
    further = {n: v for n, v in entry.options.items() if n not in Options.__annotations__}
    return Wanted.of(**further)


def _scope(entry: Entry, bound: BoundAttack) -> Scope:
    """The subsets that a sweep visits."""
    asked = entry.options
    listed = asked.get("subsets", ())
    if asked.get("releases"):
        if any(name in asked for name in GIVEN_SUBSETS):
            raise InputError(
                "releases are sets of datasets; leave sizes, subsets, search, sample out"
            )
        listed = releases.sets([q.number for q in bound.qids], bound.datasets)
    names = [q.name for q in bound.qids]
    searching, sample = asked.get("search", False), asked.get("sample")
    return Scope.of(names, asked.get("sizes"), listed, searching=searching, sample=sample)


def _attacks(entry: Entry, policy: Policy) -> Iterator[Attack]:
    """The attacks of a policy: one for each model and column of groups that its rules name."""
    for model, by in dict.fromkeys((m, rule.by) for rule in policy.rules for m in rule.models):
        asked = dict(policy.adversary) | {"by": by}
        if model.goal != "attribute inference":
            asked.pop("secret", None)
            asked.pop("prior", None)
        if model.goal != "membership":
            asked.pop("member", None)
        if not model.individual:
            asked.pop("target", None)
        people = asked.pop("population", None)
        spec = Attack.of(model.acronym, entry.source, **_plain(asked))
        yield spec.among(people) if people is not None and spec.of_membership else spec


def _plain(options: Any) -> Options:
    """The options that are about what the adversary knows and wants."""
    found = {n: v for n, v in options.items() if n in Options.__annotations__}
    return cast("Options", found)  # their types are those of forms.py
