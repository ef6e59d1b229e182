"""Attacks of somebody who learns from one file and guesses secrets of the people of another.

Source: M117 (a strategy made on one file and paid on another), M130 to M133.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.adversary import roles
from qifsql.adversary.bind_gains import certainties
from qifsql.adversary.models import MODELS, models_named
from qifsql.adversary.options import NULL_RULES
from qifsql.commands.attack.keyed import attack_id
from qifsql.commands.attack.spec import AttackOptions, one_file, refuse_others, require_duckdb
from qifsql.counting import coded as codes
from qifsql.counting import compared_files as reading
from qifsql.counting.coded import Coded
from qifsql.counting.compared_files import Files, Names, Sources
from qifsql.counting.counted import Cells
from qifsql.counting.guessing import Guessing, Learner, Scores
from qifsql.counting.learners import TABLE
from qifsql.data.collection import Source
from qifsql.data.dataset import Dataset
from qifsql.data.option import as_names
from qifsql.data.readers import openings
from qifsql.data.reading import of_files
from qifsql.data.types import Row
from qifsql.engine.csv_types import remarks
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, plural, quoted
from qifsql.measures import bayes
from qifsql.measures.bayes import Success
from qifsql.measures.intervals import wilson
from qifsql.query.render import expressions
from qifsql.results.assessment import DETAILS, SCHEMA
from qifsql.results.result import Result
from qifsql.results.storage import Origin

LEARNED: dict[str, pl.DataType] = {
    **{"learner": pl.String(), "learned_from": pl.String(), "train_records": pl.Int64()},
    **dict.fromkeys(("low", "high", "present", "success_present"), pl.Float64()),
    **dict.fromkeys(("rapid", "rapid_low", "rapid_high", "rapid_threshold"), pl.Float64()),
}
"""Further columns of an attack that learns from another file (``learned_from``).

``train_records`` are the records of that file. ``posterior_probabilistic`` is the share of the
people about whom the guess is right, from ``low`` to ``high`` at 95 % confidence if they are drawn
from a population. It may be below ``prior_probabilistic``, the best constant guess about them.
``posterior_deterministic`` is the share of people whose value gets all confidence: with the table,
all records that look like them have it. ``present`` is the share of the people whose
quasi-identifiers occur in that file, and ``success_present`` the success on these (NULL if there
are none). ``rapid`` is the share of people whose value has a confidence above its frequency among
the people by more than ``rapid_threshold`` of what is possible. Shares are in [0, 1]."""

WHO = "an attack that learns (learn)"
TAKEN_OPTIONS = ("qids", "secret", "where", "null", "learn", "learner", "rapid", "thresholds")
INSTEAD = {
    "weight": "people and records count once",
    "by": "attack a file of each group of people",
    "gain": "right guesses are counted",
    "prior": "the prior is the best constant guess",
    "target": "everybody is attacked",
    "measures": "they are about the blocks of one file; attack it without --learn",
    "histogram": "it is about the blocks of one file; attack it without --learn",
    "value_chances": "they are about the blocks of one file; attack it without --learn",
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
    thresholds: tuple[float, ...] = ()


def specify(
    model: str | Sequence[str], source: Source, options: AttackOptions, settings: Settings | None
) -> Request:
    """Return the request; raise InputError if somebody who learns cannot answer it."""
    settings = settings or Settings()
    require_duckdb(WHO, settings)
    refuse_others(WHO, options, TAKEN_OPTIONS, INSTEAD)
    null = options.get("null", "distinct")
    if null == "match-any" or null not in NULL_RULES:
        rules = " or ".join(NULL_RULES)
        raise InputError(f"missing values cannot be treated as {quoted(null)} here; use {rules}")
    if [m.acronym for m in models_named(model)] != ["cas"]:
        raise InputError(f"{WHO} is about secrets of all people of one file: model cas")
    people, train = one_file(WHO, source, "file of people"), options.get("learn")
    if train is None:
        raise InputError("learner and rapid are about a file to learn from; name it with --learn")
    if not as_names(options.get("secret")):
        raise InputError("model cas infers a secret; name one with --secret")
    learner = Learner.of(options.get("learner") or TABLE, options.get("rapid"), settings.seed)
    thresholds = tuple(certainties(options.get("thresholds")))
    if thresholds and learner.name != TABLE:
        raise InputError(
            "thresholds are about the table of most frequent values; leave --learner out, or them"
        )
    return Request(
        thresholds=thresholds,
        sources=Sources.of(people, Dataset.open(train), None, different=False),
        names=Names(
            qids=options.get("qids") or (),
            secret=options.get("secret") or (),
            where=options.get("where"),
            null=null,
        ),
        learner=learner,
    )


def run(request: Request, settings: Settings | None) -> Result:
    """Learn from one file and guess the secrets of the people of another.

    The result has the columns of ``results.assessment.SCHEMA`` and ``LEARNED``, a row per secret.
    """
    origin = Origin.now(settings, "attack")
    with open_engine(settings, sources=request.sources.all) as engine:
        files = reading.read(engine, request.sources, request.names)
        tables = Tables(engine, "comparing files", files.original.title)
        coded = codes.make(tables, files)
        guessing = Guessing(tables, coded, files, request.learner)
        scored = [  # by secret: scores, and claims
            _score_guesses(tables, coded, guessing, number, request.thresholds)
            for number, _ in enumerate(files.secrets, 1)
        ]
        statements = dict.fromkeys([*openings(*request.sources.all), *tables.statements])
        notes_on_reading = remarks(engine)
    origin = origin.about(_plain_request(files, request), request.sources.paths)
    origin = origin.sending(statements)
    origin = origin.listing(roles.of_files(file.microdata.columns for file in files.files))
    rows, lines = [], []
    for j, (scores, claims) in enumerate(scored, 1):
        identifier = attack_id(origin, MODELS["cas"], j, 0)
        row = _row(request, files, scores, files.secrets[j - 1])
        rows.append(row | {"seconds": origin.seconds, "attack_id": identifier})
        lines += [{"attack_id": identifier, "of_reported": False, **claim} for claim in claims]
    schema, details = SCHEMA | LEARNED, {}
    if request.thresholds:
        schema |= {"attack_id": pl.String()}
        details = {"sure": pl.DataFrame(lines, schema=DETAILS["sure"])}
    frame = pl.DataFrame(rows, schema=schema)
    notes = [*files.notes, *guessing.notes, *notes_on_reading, *_notes_on_missing(files, rows[0])]
    notes = list(dict.fromkeys(notes))
    return Result(frame=frame, origin=origin, details=details, notes=tuple(notes))


def _notes_on_missing(files: Files, row: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes on records that are left out: ``row`` has how many of both files are not."""
    for file, column in zip(files.files, ("records", "train_records"), strict=True):
        if dropped := file.records - row[column]:
            yield (
                f"{dropped:,} of {plural(file.records, 'record')} of {file.title} with missing "
                "values are left out"
            )


def _score_guesses(
    tables: Tables, coded: Coded, guessing: Guessing, secret: int, thresholds: Sequence[float]
) -> tuple[Scores, list[Row]]:
    """Return the scores of the guesses of a secret, by its number from 1, and claims about it.

    The table ``cells_j`` has the people of both files by quasi-identifiers and secret, ``modes_j``
    the most frequent value for each combination of quasi-identifiers; both are dropped.
    """
    table = f"cells_{secret}"
    tables.make(table, coded.cells(secret))
    cells = Cells(tables, table, f"modes_{secret}", coded.words, 1)
    cells.make_modes()
    scores = guessing.scores(cells, secret)
    claims = cells.claims(thresholds) if thresholds else []
    tables.drop(table, f"modes_{secret}")
    return scores, claims


def look_up(request: Request, settings: Settings | None) -> None:
    """Look up every name in both files, without attacking; InputError if one is wrong."""
    with open_engine(settings, sources=request.sources.all) as engine:
        reading.read(engine, request.sources, request.names)


def _row(request: Request, files: Files, scores: Scores, secret: str) -> dict[str, Any]:
    """Return the row of a secret from the learner's scores (numbers of people), without time."""
    people, is_constant = scores.people, scores.values == 1
    share = Fraction(scores.prior, people)
    before = Success(Fraction(is_constant), share, float(share), people if is_constant else 0)
    sure = Fraction(scores.certain, people)
    after = Success(sure, scores.right / people, scores.worst_case, scores.certain)
    low, high = wilson(float(scores.right), people)
    rapid_low, rapid_high = wilson(scores.confident, people)
    present = scores.present
    return {
        "model": "CAS",
        "datasets": 1,
        "n_qids": len(files.qids),
        "qids": list(files.qids),
        "secret": secret,
        "records": people,
        "blocks": scores.blocks,
        "singled_out": scores.singled_out,
        **bayes.row(before, after),
        "learner": request.learner.name,
        "learned_from": request.sources.releases[0].name,
        "train_records": scores.records,
        "low": low,
        "high": high,
        "present": present / people,
        "success_present": float(scores.present_right / present) if present else None,
        "rapid": scores.confident / people,
        "rapid_low": rapid_low,
        "rapid_high": rapid_high,
        "rapid_threshold": float(request.learner.level),
    }


def _plain_request(files: Files, request: Request) -> dict[str, Any]:
    """Return the request as plain data."""
    attributes = [a for file in files.files for a in file.attributes]
    return {
        "models": ["cas"],
        "dataset": request.sources.original.name,
        "learn": request.sources.releases[0].name,
        "learner": request.learner.name,
        "learner_seed": None if request.learner.name == TABLE else request.learner.seed,
        "rapid": float(request.learner.level),
        **({"thresholds": list(request.thresholds)} if request.thresholds else {}),
        "qids": list(files.qids),
        "secrets": list(files.secrets),
        "expressions": expressions(attributes),
        "where": request.names.where,
        "null": request.names.null,
        "sizes": {"people": files.original.records, "learn": files.releases[0].records},
        **of_files(file.microdata.dataset for file in files.files),
    }
