"""Attacks of somebody who knows raw values of people, and looks for their records in a release.

The file of the people is the original, or a register with the same quasi-identifiers. Beside this
stands the same attack on the cells of the release as values. Source: M196, M200.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary import roles
from qifsql.adversary.models import models_named
from qifsql.adversary.notes import of_categories, of_lost_words
from qifsql.commands.attack.spec import AttackOptions, one_file, refuse_others, require_duckdb
from qifsql.counting import compatibility, losses, risks, suppressed
from qifsql.counting.bind_compared import bind, check_records
from qifsql.counting.compatibility import Compatible, Guess
from qifsql.counting.composition import Compared, Composition
from qifsql.counting.risks import Risk
from qifsql.counting.spans import Raw
from qifsql.data.collection import Source
from qifsql.data.files import path_text
from qifsql.data.option import as_names
from qifsql.data.readers import openings
from qifsql.data.reading import of_files
from qifsql.engine.catalog import Catalog
from qifsql.engine.csv_types import remarks
from qifsql.engine.engines import open_engine
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, quoted
from qifsql.measures import bayes
from qifsql.query.render import expressions
from qifsql.results.assessment import PEOPLE, SCHEMA
from qifsql.results.result import Result
from qifsql.results.storage import Origin, repeated_people

CANDIDATES: dict[str, pl.DataType] = {
    "view": pl.String(),
    "k": pl.Int64(),
    "candidates": pl.Float64(),
    "misled": pl.Int64(),
}
"""Further columns of an attack of somebody who knows the raw values of people (``people``).

There are two views. In ``cells``, a generalised value is a value: the numbers are those of the
attack without ``people``. In ``compatible``, ``records`` are those of the people, and the adversary
looks for the records of the release whose cells contain their values (M196; of people with several
records, M200). ``candidates`` is the mean number of these, 0 or more; ``k`` is the smallest but 0
of people in the release; ``singled_out`` people have one; ``misled`` people have a record in the
release, but not among these (NULL: nothing tells whose record is whose, and the success is what the
adversary believes). ``posterior_deterministic`` is the share of records of people whose only
candidate is their own, or whose candidates have one secret, and ``candidates`` the mean over these.
``individuals_certain`` people have one candidate, or candidates with one secret. With a person,
``singled_out``, ``individuals_certain`` and ``misled`` count the people who have such a record.
``blocks`` is NULL."""

WHO = "an attack with raw knowledge of people (people)"
TAKEN_OPTIONS = ("qids", "secret", "where", "people", "person", "key", "hierarchies")
INSTEAD = {
    "null": "an empty cell is a missing value, or any value if the release has more of them",
    "weight": "people and records count once",
    "by": "attack a file of each group of people",
    "gain": "right guesses are counted",
    "prior": "the prior is the best guess without any value",
    "target": "write her record to a file, and name it",
    "population": "name the file of the people with --people",
    "wave": "one release is attacked; filter a wave with --where",
    "link": "one release is attacked",
    "household": "people are looked for one by one",
}


@dataclass(frozen=True)
class Request:
    """The models of an attack on a release (file 2) with the raw values of people (file 1)."""

    models: tuple[str, ...]
    files: Composition
    person: str | None
    key: str | None


def specify(
    model: str | Sequence[str], source: Source, options: AttackOptions, settings: Settings | None
) -> Request:
    """Return the request; raise InputError if raw knowledge of people cannot answer it."""
    require_duckdb(WHO, settings)
    refuse_others(WHO, options, TAKEN_OPTIONS, INSTEAD)
    models = tuple(m.acronym for m in models_named(model))
    secrets = as_names(options.get("secret"))
    if not {*models} <= {"crs", "cas"}:
        raise InputError(f"{WHO} is about everybody in one release: models crs and cas")
    if "cas" in models and not secrets:
        raise InputError("model cas infers a secret; name one with --secret")
    keys = as_names(options.get("key"))
    if len(keys) > 1:
        raise InputError("with people, the key is one column of both files; name one")
    people, release = options["people"], one_file(WHO, source, "release")
    assert people is not None  # noqa: S101 - the caller has looked
    files = Composition.of(
        [people, release],
        people,
        "name the raw records of its people (--people)",
        qids=as_names(options.get("qids")),
        secrets=secrets if "cas" in models else (),
        where=options.get("where"),
        hierarchies={n: path_text(p) for n, p in (options.get("hierarchies") or {}).items()},
    )
    return Request(models, files, options.get("person"), keys[0] if keys else None)


def run(request: Request, settings: Settings | None) -> Result:
    """Attack a release with the raw values of people.

    The result has the columns of ``results.assessment.SCHEMA`` and ``CANDIDATES``: for each model
    and secret, rows of both views. Raises InputError if the release has false cells.
    """
    origin = Origin.now(settings, "attack")
    files = request.files
    with open_engine(settings, sources=files.releases, command="attack", ordered=True) as engine:
        raws, (people, release) = _bind(engine, request)
        tables = Tables(engine, "reading the people", people.title)
        check_records(tables, (people, release))
        losses.read_original(tables, raws, people.attack.microdata)
        as_values = suppressed.marked(engine, release.attack)
        of_cells, plans = risks.measure(engine, as_values)
        success = compatibility.find(tables, people, release)
        statements = dict.fromkeys([*openings(*files.releases), *tables.statements])
        notes = [*people.attack.microdata.notes, *as_values.microdata.notes]
        notes += [*_note_on_lacking(raws, release), *compatibility.notes(release, success)]
        notes += [*remarks(engine), *_notes_on_texts(engine, release)]
    paths = (*(path for d in files.releases for path in d.paths), *files.hierarchies.values())
    qids = [raw.name for raw in raws]
    hidden = as_values.microdata.suppressed
    plain = _plain_request(request, qids, people, release, suppressed_records=hidden)
    origin = origin.about(plain, tuple(dict.fromkeys(paths)), *plans)
    origin = origin.sending(statements)
    attacked = [file.attack.microdata for file in (people, release)]
    origin = origin.listing(roles.of_files(microdata.columns for microdata in attacked))
    schema = SCHEMA | (PEOPLE if request.person is not None else {}) | CANDIDATES
    common: dict[str, Any] = {"datasets": 1, "n_qids": len(raws), "seconds": origin.seconds}
    common |= {"qids": qids}
    rows = [common | row for row in _rows(request.models, of_cells, success)]
    frame = pl.DataFrame(rows, schema=schema)
    return Result(frame=frame, origin=origin, notes=tuple(dict.fromkeys(notes)))


def look_up(request: Request, settings: Settings | None) -> None:
    """Look up every name in both files, without attacking; InputError if one is wrong."""
    with open_engine(settings, sources=request.files.releases) as engine:
        _bind(engine, request)


def _bind(engine: Engine, request: Request) -> tuple[Sequence[Raw], list[Compared]]:
    """Return the quasi-identifiers, and the files: of the people, and the release."""
    return bind(engine, request.files, request.person, request.key, secrets_of_all=False)


def _note_on_lacking(raws: Sequence[Raw], release: Compared) -> list[str]:
    """Return a note on the quasi-identifiers of people that the release does not have."""
    present = {column.raw.number for column in release.columns}
    lacking = [quoted(raw.name) for raw in raws if raw.number not in present]
    if not lacking:
        return []
    return [f"{release.title} has no {', '.join(lacking)}: nothing is told of it there"]


def _notes_on_texts(engine: Engine, release: Compared) -> list[str]:
    """Return notes on texts of the release: words for missing, and spellings of its secrets."""
    microdata = release.attack.microdata
    catalog = Catalog(engine, microdata.dataset)
    cells, secrets = (
        [a.expression.name for a in attributes if isinstance(a.expression, exp.Column)]
        for attributes in ([attribute for _, attribute in release.cells], release.secrets)
    )
    words = of_lost_words(catalog, cells, microdata.where)
    return [*words, *of_categories(catalog.spellings(secrets, microdata.where))]


def _rows(
    models: Sequence[str], of_cells: Sequence[Risk], success: Compatible
) -> Iterator[dict[str, Any]]:
    """Yield the rows of each model and secret.

    The first (with a person two) take cells as values (``of_cells``); the last is about an
    adversary who knows raw values, and looks for the records whose cells contain them.
    """
    guesses = {guess.secret: guess for guess in success.guesses}
    for model in models:
        for secret in guesses if model == "cas" else (None,):
            about = {"model": model.upper(), "secret": secret}
            # Re-identification is measured with any secret: with the first.
            measured_with = next(iter(guesses), None) if secret is None else secret
            for risk in of_cells:
                if risk.secret == measured_with:
                    reading = {"known_records": risk.known_records, "view": "cells"}
                    yield risk.attacks[model] | reading | about
            question = success if secret is None else guesses[secret]
            yield _row_of_candidates(success, question) | about


def _row_of_candidates(success: Compatible, question: Compatible | Guess) -> dict[str, Any]:
    """Return the numbers of the view ``compatible``, with the success at one question."""
    return {
        **bayes.row(question.before, question.after),
        "view": "compatible",
        "known_records": "one",
        "records": success.records,
        "people": success.people,
        "singled_out": success.singled_out,
        "k": success.least,
        "candidates": float(success.candidates),
        "misled": success.misled,
    }


def _plain_request(
    request: Request,
    qids: list[str],
    people: Compared,
    release: Compared,
    *,
    suppressed_records: int,
) -> dict[str, Any]:
    """Return the request as plain data, for the manifest.

    ``people`` is the file with raw values, ``release`` that whose cells may be generalised. A
    missing value is always a value here. How the files were read, and columns that number people
    with several records, are entries of their own.
    """
    files = request.files
    attacked = [file.attack.microdata for file in (release, people)]
    named = [attribute for m in attacked for attribute in (*m.qids, *m.secrets)]
    optional = {"person": request.person, "key": request.key}
    return {
        "models": list(request.models),
        "dataset": release.title,
        "people": people.title,
        "qids": qids,
        "secrets": [secret.name for secret in release.secrets],
        "expressions": expressions(named),
        "where": files.where,
        "null": "distinct",
        "hierarchies": dict(files.hierarchies) or None,
        "suppressed_records": suppressed_records,
        **{name: text for name, text in optional.items() if text is not None},
        **repeated_people(column for m in attacked for column in m.repeated),
        **of_files(m.dataset for m in attacked),
    }
