"""Sheets for a motivated intruder test: what may be known of people who are drawn from the data."""

import random
import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, get_args

import polars as pl

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, Attribute, BoundAttack, refuse
from qifsql.commands.inspect.blocks import notes_on_people
from qifsql.commands.inspect.spec import Way
from qifsql.counting.session import check_records, opened
from qifsql.data.collection import Source
from qifsql.engine.access import Access
from qifsql.engine.settings import SEEDS, Settings, with_seed
from qifsql.errors import InputError, OutputError, unwritable
from qifsql.presentation.language import said
from qifsql.query.columns import unique
from qifsql.query.microdata_steps import everybody
from qifsql.query.plan import Plan
from qifsql.query.shapes import Shape
from qifsql.query.splice import make_step, splice
from qifsql.query.steps import Steps
from qifsql.results.intruder_test import (
    CLAIM_COLUMNS,
    CLAIMS,
    INSTRUCTIONS,
    KEY,
    KEY_COLUMNS,
    KIND,
    SHEETS,
    TESTERS,
    WHOSE,
)
from qifsql.results.result import Result
from qifsql.results.storage import Origin, atomic_file, without_formulas, write

MOST_SHEETS = 10_000
GUESSABLE = (
    "a tester who guesses the seed can repeat the draw on the release, and find who is on which "
    "sheet; give no seed for a real test: a random one is taken then, which only the manifest has"
)
QUESTIONS: dict[str, pl.DataType] = {
    "secret": pl.String(),
    "sheets": pl.Int64(),
    **dict.fromkeys(("predicted", "least", "greatest"), pl.Float64()),
}
"""One row per question: whose record it is (``secret`` is NULL), or the value of a secret. The
sheets with an answer, and the success that the model predicts for them: mean, least, greatest."""


def sheets(
    source: Source,
    folder: str | Path,
    *,
    draw: int,
    way: Way,
    person: str | None,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Result:
    """Draw people and write the files of a motivated intruder test to a new folder.

    In its folder ``testers`` are the sheets with what is known of each person, claims to fill in,
    and instructions; beside that is the key, with the answers and what the model predicts.
    """
    refuse(options, "draw", "weight", "gain", "prior", "target", "by", "thresholds", "quantiles")
    if way not in get_args(Way):
        raise InputError(f"by is one of {', '.join(get_args(Way))}")
    if not 1 <= draw <= MOST_SHEETS:
        raise InputError(f"draw 1 to {MOST_SHEETS:,} people: each sheet is worked on by hand")
    secret = options.get("secret")
    if person is not None and secret:
        raise InputError(
            "with a person, sheets ask whose record it is, and nothing else; leave the secret out, "
            "or write one record per person first with qifsql anonymise --one-per"
        )
    seed = None if settings is None else settings.seed
    warnings = [] if seed is None else [GUESSABLE]
    settings = with_seed(settings, secrets.randbelow(SEEDS) if seed is None else seed, "inspect")
    folder = Path(folder)
    if (folder / KEY).exists() or (folder / TESTERS).exists():
        raise OutputError(f"{folder} has the files of a test already; name a new folder")
    origin = Origin.now(settings, KIND)
    spec = Attack.of("cas" if secret else "crs", source, person=person, **options).fitting()
    access: Access = {"ordered": True}
    with opened(spec, settings, apart=True, command="inspect", **access) as (engine, attack):
        bound = attack.on(attack.microdata.known_by("all" if person is None else "one"))
        records = check_records(engine, bound.microdata)
        seed = settings.seed or 0
        sheets_plan = _sheets_plan(bound, draw, seed, way)
        people = engine.frame(sheets_plan, "drawing people", bound.microdata.dataset.name)
        random.Random(seed).shuffle(order := list(range(people.height)))  # noqa: S311 - no secret
        people = people[order]  # the order in which they were drawn tells who is at greatest risk
        names = [s.name for s in bound.microdata.secrets]
        questions = dict(zip(_questions(names), [None, *names], strict=True))
        of_people = notes_on_people(engine, bound.microdata)
        notes = (*of_people, *_notes(people.height, draw, way), *warnings)
        details = {"draw": people.height, "by": way, "records": records, "questions": questions}
        origin = replace(origin.of(bound, spec, sheets_plan, **details), notes=notes, seed=seed)
    names = unique(["sheet", *(q.name for q in bound.microdata.qids)])
    values = {name: people[f"qid_{i}"] for i, name in enumerate(names[1:], 1)}
    numbered = pl.DataFrame({names[0]: range(1, people.height + 1), **values})
    key = _key(people, list(questions))
    _write(folder, numbered, key, origin)
    return Result(frame=_summary(key, questions), origin=origin, notes=notes)


def _questions(names: Sequence[str]) -> list[str]:
    """Return whose record it is, and the names of secrets, as they are read again from a file."""
    stripped = [name.strip() or f"secret {j}" for j, name in enumerate(names, 1)]
    written = without_formulas(pl.LazyFrame({"name": stripped}, schema={"name": pl.String}))
    return unique([WHOSE, *written.collect()["name"]])


def _sheets_plan(attack: BoundAttack, draw: int, seed: int, way: Way) -> Plan:
    """Return the plan of the people who are drawn, one row of texts each.

    ``answer_0`` is whose record it is, ``answer_1`` ... are the values of the secrets, all NULL if
    missing, ``success_0``, ``success_1`` ... are those of the best guess on the person's block, and
    ``qid_1`` ... are the values that are known. Only claims about those who report a secret are
    scored, so the guess is about them; in a block where nobody does, there is none.
    """
    microdata = attack.microdata
    has_person = microdata.person is not None
    qids, secrets = (range(1, len(names) + 1) for names in (microdata.qids, microdata.secrets))
    steps = Steps(attack)
    # Of people with suppressed records everyone is one more block.
    view = "blocks_of_all" if microdata.suppressed else "blocks"
    tables = {"crowds": steps.need("crowds", 0)}
    tables |= {f"blocks_{j}": steps.need(view, j, reported=True) for j in secrets}
    columns: dict[str, Attribute] = {f"secret_{j}": s for j, s in enumerate(microdata.secrets, 1)}
    if microdata.person is not None:
        columns["person"] = microdata.person
    steps.push(everybody(microdata, columns))
    shape: dict[str, Shape] = {"qids": qids, "secrets": secrets, "person": has_person}
    shape["key"] = microdata.key is not None
    name = "known_records" if has_person else "risks"
    filling: dict[str, Any] = {"width": microdata.width, "tables": tables, "shape": shape}
    steps.push(make_step("verify/known_records", name, **filling))
    if has_person:  # the chance depends on how many records of each person are alike
        steps.push(make_step("verify/risks_of_people", "risks", shape={"qids": qids}))
    query = splice("verify/drawn", numbers={"seed": seed, "by_risk": int(way == "risk")})
    return steps.plan(query.limit(draw))


def _key(people: pl.DataFrame, questions: Sequence[str]) -> pl.DataFrame:
    """Return the key (``KEY_COLUMNS``): a row per sheet and question; some have no answer."""
    tables = [
        people.select(
            sheet=pl.int_range(1, pl.len() + 1),
            question=pl.lit(question),
            answer=f"answer_{j}",
            chance=f"success_{j}",
        )
        for j, question in enumerate(questions)
    ]
    return pl.concat(tables).sort("sheet", maintain_order=True).select(KEY_COLUMNS)


def _summary(key: pl.DataFrame, questions: Mapping[str, str | None]) -> pl.DataFrame:
    """Return the sheets of each question, and their predicted success (``QUESTIONS``)."""
    rows = []
    for question, secret in questions.items():
        answered = pl.col("answer").is_not_null()
        chances = key.filter(answered, question=question)["chance"]
        rows.append((secret, len(chances), chances.mean(), chances.min(), chances.max()))
    return pl.DataFrame(rows, schema=QUESTIONS, orient="row")


def _notes(drawn: int, number: int, way: Way) -> list[str]:
    """Return notes on what a test with these sheets is about."""
    notes = [f"there are only {drawn:,} people to draw"] if drawn < number else []
    if way == "risk":
        notes.append("the sheets are about those at greatest risk: they tell nothing about others")
    return notes


def _write(folder: Path, numbered: pl.DataFrame, key: pl.DataFrame, origin: Origin) -> None:
    """Write the files of a test to a folder, all or none; the key with its manifest."""
    claims = key.select("sheet", "question", claim=pl.lit(""), confidence=pl.lit(""))
    texts = {SHEETS: _as_csv(numbered), CLAIMS: _as_csv(claims), INSTRUCTIONS: _instructions()}
    testers = folder / TESTERS
    new_folders = [
        path for path in (*reversed(folder.parents), folder, testers) if not path.exists()
    ]
    try:
        testers.mkdir(parents=True)
        with ExitStack() as stack:
            for name, text in texts.items():
                file = stack.enter_context(atomic_file(testers / name, origin))
                file.write_text(text, "utf-8")
            write({folder / KEY: _as_csv(key)}, origin)
    except BaseException as e:
        for path in reversed(new_folders):
            with suppress(OSError):  # it is not there, or not empty
                path.rmdir()
        if isinstance(e, OSError):
            raise OutputError(unwritable(folder, e)) from e
        raise


def _as_csv(table: pl.DataFrame) -> str:
    return without_formulas(table.lazy()).collect().write_csv()


def _instructions() -> str:
    """Return what a tester is told, in the language of the reader."""
    paragraphs = [
        said(
            "Each line of {sheets} tells what somebody may know of one person. The person is in "
            "the data that you were given. Use these data, and all that a determined person could "
            "find: search engines, newspapers, social media, public registers. Break no law, and "
            "ask nobody who is in the data.",
            sheets=SHEETS,
        ),
        said(
            'Write into {claims}, beside "{whose}", which record is that of the person (the number '
            "of its line in the data, from 1 after the names, or what the office has agreed with "
            "you), and beside each other question the value that you believe. Leave a claim empty "
            "if you would not make it.",
            claims=CLAIMS,
            whose=WHOSE,
        ),
        said(
            "Write as {confidence} how sure you are, from 0 to 100 %. Wrong claims count as much "
            "as right ones. Return {claims} as CSV in UTF-8, or as Parquet.",
            confidence=CLAIM_COLUMNS[-1],
            claims=CLAIMS,
        ),
    ]
    return "\n\n".join(paragraphs) + "\n"
