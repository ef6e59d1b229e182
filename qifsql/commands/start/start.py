"""Go from a file to a report: describe it, choose roles, write a study and run it."""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from qifsql.adversary.notes import HOUSEHOLDS, NAMES_OF_PEOPLE, RECORDS_COUNTED
from qifsql.commands.attack import attack
from qifsql.commands.describe.describe import describe
from qifsql.commands.describe.view import field
from qifsql.commands.init.init import init
from qifsql.commands.run.result import StudyResult
from qifsql.commands.run.run import run
from qifsql.commands.start.chosen_roles import PEOPLE, Chosen, choose, lines, proposed_changes
from qifsql.commands.start.result import Beginning
from qifsql.commands.start.spec import Roles
from qifsql.commands.sweep import sweep
from qifsql.data.dataset import Dataset
from qifsql.data.files import path_text
from qifsql.data.option import check_names
from qifsql.data.reading import NAMES as READING
from qifsql.data.reading import Reading, typed
from qifsql.engine.progress import silent
from qifsql.engine.settings import Settings
from qifsql.errors import (
    ColumnError,
    DatasetError,
    InputError,
    Interrupted,
    OutputError,
    quoted,
    unwritable,
)
from qifsql.presentation import words
from qifsql.presentation.language import speaking
from qifsql.results import release_files
from qifsql.results.result import Result
from qifsql.results.storage import Origin
from qifsql.study.forms import Occasion

REPORT = 4.0  # seconds until the results are written, with a report
PER_QUESTION = 0.2  # seconds of an attack for re-identification, and for each secret
AT_HOME = 0.7  # seconds of each, where the people of a household are attacked, too
PER_RECORD = 5e-7  # seconds of one question, per record
WHY_SO = {  # why options of reading are taken that were not named
    "skip": "its first lines look like a title; --skip 0 reads them",
    "header_rows": "the line below the names looks like a part of the header; --header-rows 1 "
    "counts it as a record",
    "encoding": "it is not UTF-8; --encoding names another encoding",
    "decimal": "most values of a column are numbers with a decimal comma; --decimal . reads text",
    "date_order": "its dates fit with the day first and with the month first; --date-order mdy "
    "reads the month first",
}
Names = Sequence[str]
Tell = Callable[[str], None]


class StartOptions(Reading, Roles, total=False):
    """Options: how the file is read, and roles that win over the suggested ones."""


@dataclass(frozen=True)
class Questions:
    """The questions to a person.

    ``roles`` shows the described columns with the suggested quasi-identifiers and secrets, and
    returns those to take.
    """

    roles: Callable[[Result, Names, Names], tuple[Names, Names]]


SUGGESTED = Questions(roles=lambda _described, qids, secrets: (qids, secrets))
"""The answers of ``yes``: the suggested roles."""


def start(
    source: str | Path,
    *,
    yes: bool = False,
    folder: str | Path | None = None,
    lang: str = "en",
    questions: Questions | None = None,
    told: Tell | None = None,
    settings: Settings | None = None,
    **options: Unpack[StartOptions],
) -> Beginning:
    """Describe a file, choose roles, write a study, run it and write its report.

    A sweep of all subsets is part of the study: of as many quasi-identifiers and secrets as take
    seconds, the riskiest and most sensitive first. The study says how to sweep the others.

    Args:
        source: A path (Parquet, CSV, JSON, Excel, Stata, SPSS, SAS; a glob; a folder of Parquet;
            table@database of DuckDB or SQLite).
        yes: Take the suggested roles without a question.
        folder: Folder for the study and its results; by default FILE-qifsql here.
        lang: Language of the report: en or pt-BR.
        questions: The questions to a person, without yes.

    Returns:
        A Beginning. frame: the rows of the attacks. details: roles, sweeps and entries. study and
        report: the files that were written. not_considered: columns that no result covers.

    Raises:
        InputError: There is nobody to ask, or the roles do not fit the data.
        OutputError: The folder has a study already, or cannot be written.
        EngineError: Memory or disk ran out; qifsql run STUDY resumes.

    Example:
        >>> result = qifsql.start("data-samples/popets_table_3a.csv", yes=True)
        >>> result.report.name
        'report.html'

    Source: the format of studies, docs/reference/studies.md.

    """
    origin = Origin.now(settings, "start")
    questions = SUGGESTED if yes else questions
    if questions is None:
        raise InputError(
            "there is no terminal to ask for the roles of the columns; take the suggested ones "
            "with --yes"
        )
    with speaking(lang):  # raises for unknown languages before any work
        pass
    text = path_text(source)
    check_names(options, StartOptions)
    reading: Any = {name: value for name, value in options.items() if name in READING}
    preferences: Any = {name: value for name, value in options.items() if name not in READING}
    tell = told or silent
    reading, dataset, described = _read(text, reading, settings, tell)
    place = Path(folder) if folder is not None else Path(f"{Path(dataset.name).stem}-qifsql")
    study = place / "study.toml"
    if study.exists():
        raise OutputError(
            f"{study} exists; run it with qifsql run {study}, or name another folder with --folder"
        )
    suggested = choose(described.rows(), preferences, dataset.name)
    chosen = _confirm(suggested, dataset, described, questions, settings=settings, tell=tell)
    swept = _announce(chosen, described, settings, tell)
    _make_folder(place)
    roles = {"qids": list(chosen.qids), "secret": list(chosen.secrets), "lang": lang}
    people = {role: getattr(chosen, role) or "" for role in PEOPLE}
    of_init: Any = {n: value for n, value in options.items() if n in Occasion.__annotations__}
    of_init |= {**reading, **roles, **people}
    init(study, data=text, described=described, settings=settings, **of_init)
    try:
        results = run(study, told=told, settings=settings)
    except Interrupted as e:
        raise Interrupted(f"interrupted; qifsql run {study} resumes", detail=e.detail) from e
    spec = {
        "dataset": dataset.name,
        **roles,
        "swept": dict(zip(("qids", "secret"), swept, strict=True)),
        "study": str(study),
        "report": None if results.report is None else str(results.report),
        "not_considered": _uncovered_columns(results),
        "commands": _commands([text, *typed(reading)], study, described, chosen, lang),
        "steps": _next_steps([text, *typed(reading)], study, described, chosen),
    }
    return Beginning(
        frame=results.frame,
        origin=origin.about(spec, (*dataset.paths, str(study))),
        details={**results.details, "roles": described.frame},
        notes=_unanswered_notes((*described.notes, *results.notes), chosen),
        met=results.met,
        results=results,
        study=study,
        report=results.report,
    )


def _unanswered_notes(notes: Sequence[str], chosen: Chosen) -> tuple[str, ...]:
    """Return notes, each once, without those that ask for a column which is ``chosen``."""
    questions = [NAMES_OF_PEOPLE]
    questions += [RECORDS_COUNTED] if chosen.person else []
    questions += [HOUSEHOLDS] if chosen.household else []
    return tuple(n for n in dict.fromkeys(notes) if not any(text in n for text in questions))


def _read(
    text: str, reading: dict[str, Any], settings: Settings | None, tell: Tell
) -> tuple[dict[str, Any], Dataset, Result]:
    """Return how a file is read, the dataset, and its description.

    ``reading`` are the options that were named. Options that errors and the description propose are
    taken, too, unless they were named, and told.
    """
    reading = {name: value for name, value in reading.items() if value is not None}
    while True:
        try:
            dataset = Dataset.open(text, **reading)
            described = describe(dataset, settings=settings)
            proposed = described.spec.get("proposed_reading", {})
        except DatasetError as e:
            proposed = e.reading
            if proposed.keys() <= reading.keys():
                raise
        added = {name: value for name, value in proposed.items() if name not in reading}
        if not added:
            return reading, dataset, described
        reading |= added
        for name, value in added.items():
            option = shlex.join(typed({name: value}))
            tell(f"{text} is read with {option}: {WHY_SO[name]}")


def _confirm(
    suggested: Chosen,
    dataset: Dataset,
    described: Result,
    questions: Questions,
    *,
    settings: Settings | None,
    tell: Tell,
) -> Chosen:
    """Return the roles to take: ask for them, and again while the answer does not fit the data.

    InputError if the suggested roles, unchanged, do not fit: asking again would not help.
    """
    while True:
        qids, secrets = questions.roles(described, suggested.qids, suggested.secrets)
        chosen = replace(suggested, qids=qids, secrets=secrets)
        try:
            if not qids:
                raise ColumnError(
                    f"no column of {dataset.name} is a quasi-identifier; name some with --qid+"
                )
            models = "crs,cas" if secrets else "crs"
            attack.rehearse(models, dataset, settings, **chosen.options)
        except InputError as e:
            if questions is SUGGESTED or chosen == suggested:
                raise
            tell(str(e))
            continue
        return chosen


def _announce(
    chosen: Chosen, described: Result, settings: Settings | None, tell: Tell
) -> tuple[list[str], list[str]]:
    """Tell which columns are persons, households and weights, and how long the run takes.

    Return the quasi-identifiers and the secrets that the sweep takes.
    """
    for line in lines(described.rows(), chosen):
        tell(line)
    columns = {row["column"]: row for row in described.rows()}
    swept = sweep.affordable(columns, chosen.qids, chosen.secrets, alone=chosen.alone)
    # The attack answers re-identification and each secret.
    per_question = PER_QUESTION + (AT_HOME if chosen.household else 0)
    records = max((row["records"] or 0 for row in columns.values()), default=0)
    seconds = (1 + len(chosen.secrets)) * (per_question + records * PER_RECORD) + REPORT
    threads = (settings.threads if settings else None) or os.cpu_count() or 1
    seconds += sweep.expected_seconds(columns, *swept, threads=threads, alone=chosen.alone)
    tell(f"the run takes about {words.duration(seconds)}")
    return swept


def _make_folder(folder: Path) -> None:
    """Create a folder; raise OutputError if it cannot be, or has no name in UTF-8."""
    try:
        str(folder).encode()
        folder.mkdir(parents=True, exist_ok=True)
    except UnicodeEncodeError as e:  # the study in it could not be read
        raise OutputError(
            f"{quoted(str(folder))} is a name that is not valid UTF-8; name another folder"
        ) from e
    except OSError as e:
        raise OutputError(unwritable(folder, e)) from e


def _uncovered_columns(results: StudyResult) -> list[str]:
    columns = [c for result in results.results.values() for c in result.origin.columns]
    covered = {c.name for c in columns if c.covered}
    return list(dict.fromkeys(c.name for c in columns if c.name not in covered))


def _commands(
    file: list[str], study: Path, described: Result, chosen: Chosen, lang: str
) -> list[str]:
    """Return the command lines that do the same: describe, init, run."""
    init_line = ["qifsql", "init", str(study), "--data", *file]
    usual = choose(described.rows(), {}, "")
    if (chosen.qids, chosen.secrets) != (usual.qids, usual.secrets):
        init_line += _role_words(chosen.qids, chosen.secrets)
        init_line += [] if chosen.secrets else ["--secret", ""]  # no secret
    for role in PEOPLE:
        if (name := getattr(chosen, role)) != getattr(usual, role):
            init_line += [f"--{role}", name or ""]
    init_line += ["--lang", lang] if lang != "en" else []
    lines = [["qifsql", "describe", *file], init_line, ["qifsql", "run", str(study)]]
    return [shlex.join(line) for line in lines]


def _next_steps(file: list[str], study: Path, described: Result, chosen: Chosen) -> list[str]:
    """Return command lines to go on with: run, check, compare, anonymise."""
    options = _role_words(chosen.qids, chosen.secrets)
    of_people = [word for role, name in chosen.people.items() for word in (f"--{role}", name)]
    of_person = ["--person", chosen.person] if chosen.person else []
    steps = [
        ["qifsql", "run", str(study)],
        ["qifsql", "check", *file, "--preset", "k5", *options, *of_people],
        ["qifsql", "compare", *file, *options, *of_person, "--until", "k>=5"],
        _release_words(file, described, chosen),
    ]
    return [shlex.join(words) for words in steps]


def _release_words(file: list[str], described: Result, chosen: Chosen) -> list[str]:
    """Return the words that write a release: with the proposed changes, or else by Mondrian."""
    names = ",".join(map(field, chosen.qids))
    words = ["qifsql", "anonymise", *file, "-o", f"release{release_files.ending_like(file[0])}"]
    words += ["--qids", names, "--k", "5"]
    words += ["--person", chosen.person] if chosen.person else []
    changes = proposed_changes(described.rows(), chosen.qids)
    if not changes:
        return words
    options = [word for change in changes for word in ("--change", change)]
    return [*words, *options, "--method", "recode", "--suppress"]


def _role_words(qids: Names, secrets: Names) -> list[str]:
    names = ",".join(map(field, qids))
    return ["--qids", names, *(w for name in secrets for w in ("--secret", field(name)))]
