"""Options of an adversary who learns from another file, checked before any file is read."""

from collections.abc import Sequence
from dataclasses import dataclass

from qifsql.adversary.models import model as model_of
from qifsql.adversary.options import NULL_RULES
from qifsql.commands.attack.spec import IDENTITY, AttackOptions, one_file, refuse_others
from qifsql.counting.compared_files import Names, Sources
from qifsql.counting.guessing import Learner
from qifsql.counting.learners import TABLE
from qifsql.data.collection import Source
from qifsql.data.dataset import Dataset
from qifsql.data.option import as_names, check_names
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, quoted

WHO = "an attack that learns (learn)"
FREE: dict[str, tuple[object, ...]] = {"null": NULL_RULES, "absent": ("null",), "gain": IDENTITY}
"""Values of options that ask for nothing special."""
ANSWERED = ("qids", "secret", "where", "null", "learn", "learner", "rapid")
INSTEAD = {
    "weight": "people and records count once",
    "by": "attack a file of each group of people",
    "gain": "right guesses are counted",
    "prior": "the prior is the best constant guess",
    "target": "everybody is attacked",
    "measures": "they are about the blocks of one file; attack it without --learn",
    "histogram": "it is about the blocks of one file; attack it without --learn",
    "thresholds": "they are about the blocks of one file; attack it without --learn",
    "quantiles": "they are about the blocks of one file; attack it without --learn",
    "population": "name the people who are attacked as FILE",
    "key": "one file of people is attacked; join releases before",
    "wave": "one file of people is attacked; filter a wave with --where",
    "link": "one file of people is attacked",
}


@dataclass(frozen=True, kw_only=True)
class Request:
    """The people who are attacked, the file that is learned from, and the learner."""

    sources: Sources
    names: Names
    learner: Learner


def specify(
    model: str | Sequence[str], source: Source, options: AttackOptions, settings: Settings | None
) -> Request:
    """Return the request; raise InputError if somebody who learns cannot answer it."""
    check_names(options, AttackOptions)
    settings = settings or Settings()
    if settings.engine_name == "spark":
        raise InputError(
            "an attack that learns (learn) runs on DuckDB alone; use --engine duckdb, or attack on "
            "Spark without --learn"
        )
    refuse_others(WHO, options, ANSWERED, FREE, INSTEAD)
    null = options.get("null", "distinct")
    if null == "match-any" or null not in NULL_RULES:
        rules = " or ".join(NULL_RULES)
        raise InputError(f"missing values cannot be treated as {quoted(null)} here; use {rules}")
    _check_model(model)
    people, train = one_file(WHO, source, "file of people"), options.get("learn")
    if train is None:
        raise InputError("learner and rapid are about a file to learn from; name it with --learn")
    if not as_names(options.get("secret")):
        raise InputError("model cas infers a secret; name one with --secret")
    learner = Learner.of(options.get("learner") or TABLE, options.get("rapid"), settings.seed)
    return Request(
        sources=Sources.of(people, Dataset.open(train), None, different=False),
        names=Names(
            qids=options.get("qids") or (),
            secret=options.get("secret") or (),
            where=options.get("where"),
            null=null,
        ),
        learner=learner,
    )


def _check_model(model: str | Sequence[str]) -> None:
    names = model.split(",") if isinstance(model, str) else list(model)
    if {model_of(name.strip()).acronym for name in names} != {"cas"}:
        raise InputError(
            "an attack that learns (learn) is about secrets of all people of one file: model cas"
        )
