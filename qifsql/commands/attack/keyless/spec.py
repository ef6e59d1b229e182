"""Options for releases without a person key, checked before any release is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from qifsql.adversary.models import MODELS, Model
from qifsql.adversary.models import model as model_of
from qifsql.adversary.rule_text import probability
from qifsql.adversary.spec import refuse
from qifsql.adversary.transitions import Rule, rules
from qifsql.commands.attack.spec import IDENTITY, AttackOptions
from qifsql.data.collection import ABSENT_RULES, Absent, Collection, Source
from qifsql.data.dataset import Dataset, datasets
from qifsql.data.option import as_names, check_names
from qifsql.errors import InputError, plural

LINKED = [name for name, m in MODELS.items() if m.longitudinal and m.goal != "membership"]
REFUSED = ("prior", "by", "thresholds", "quantiles", "weight", "wave", "member")


@dataclass(frozen=True, kw_only=True)
class Request:
    """The questions about releases that are linked without a key."""

    models: tuple[Model, ...]
    datasets: tuple[Dataset, ...]
    rules: tuple[Rule, ...]
    presence: Fraction
    one_to_one: bool
    qids: tuple[str, ...]
    secrets: tuple[str, ...]
    keys: tuple[str, ...]
    truth: tuple[str, ...]
    where: str | None
    absent: Absent
    target: Mapping[str, object]

    def plain(self) -> dict[str, Any]:
        """Return the request as plain data."""
        return {
            "models": [m.acronym for m in self.models],
            "dataset": " + ".join(d.name for d in self.datasets),
            "qids": list(self.qids),
            "secrets": list(self.secrets),
            "presence": float(self.presence),
            "one_to_one": self.one_to_one or None,
            "key": list(self.keys) or None,
            "truth": list(self.truth) or None,
            "where": self.where,
            "absent": self.absent,
            "target": dict(self.target) or None,
        }


def specify(model: str | Sequence[str], source: Source, options: AttackOptions) -> Request:
    """Return the request; raise InputError if it cannot be answered without a key."""
    _check_options(options)
    models, datasets = _models(model), _datasets(source)
    keys, truths = as_names(options.get("key")), as_names(options.get("truth"))
    for what, names in (("key", keys), ("truth", truths)):
        if len(names) not in (0, 1, len(datasets)):
            raise InputError(
                f"{plural(len(names), what)} for {plural(len(datasets), 'dataset')}; name one "
                "for all of them, or one for each"
            )
    law = rules(options.get("link") or ())
    learns = any(rule.kind == "stay" and rule.stay is None for rule in law)  # stay=?
    if keys and not truths and not learns:
        raise InputError(
            "with link rules the key is what stay=? is learned from; leave it out, or name it as "
            "the truth (--truth) to compare with"
        )
    secrets = as_names(options.get("secret"))
    if any(m.goal != "re-identification" for m in models) and not secrets:
        raise InputError("the model infers a secret; name one with --secret")
    if all(m.goal == "re-identification" for m in models):
        secrets = ()
    target = options.get("target") or {}
    presence = options.get("presence")
    return Request(
        models=models,
        datasets=datasets,
        rules=law,
        presence=probability(1 if presence is None else presence, "presence"),
        one_to_one=options.get("one_to_one", False),
        qids=as_names(options.get("qids")) or tuple(target),
        secrets=secrets,
        keys=keys,
        truth=truths,
        where=options.get("where"),
        absent=options.get("absent", "null"),
        target=target,
    )


def _check_options(options: AttackOptions) -> None:
    """Refuse options that an attack without a key does not take."""
    check_names(options, AttackOptions)
    if options.get("progressive"):
        raise InputError("an attack without a key is not progressive; run it with fewer releases")
    for name in ("measures", "histogram", "unit", "population", "store", "person", "household"):
        if options.get(name):
            raise InputError(f"attacks without a key (link) do not take {name}; leave it out")
    refuse(options, "an attack without a key (link)", *REFUSED)
    if options.get("gain") not in IDENTITY:
        raise InputError("an attack without a key (link) does not take gain; leave it out")
    if options.get("null", "distinct") != "distinct":
        raise InputError("without a key a missing value is a value; leave null (--null) out")
    if options.get("absent", "null") not in ABSENT_RULES:
        raise InputError(f"absent is one of {', '.join(ABSENT_RULES)}")


def _models(model: str | Sequence[str]) -> tuple[Model, ...]:
    """Return the models, each once; refuse those that do not attack releases over time."""
    names = model.split(",") if isinstance(model, str) else list(model)
    models = tuple(dict.fromkeys(model_of(name.strip()) for name in names))
    if not models or any(m.acronym not in LINKED for m in models):
        raise InputError(f"link rules are for the models {', '.join(LINKED)}: releases over time")
    if len({m.individual for m in models}) > 1:
        raise InputError("individual and collective models cannot be combined; run them separately")
    return models


def _datasets(source: Source) -> tuple[Dataset, ...]:
    releases = source.datasets if isinstance(source, Collection) else tuple(datasets(source))
    if len(releases) < 2:
        raise InputError("linking needs two releases at least; name the auxiliary ones after FILE")
    return releases
