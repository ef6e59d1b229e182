"""Go from a file to a report: describe it, choose roles, write a study and run it."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from qifsql.adversary.notes import HOUSEHOLDS, RECORDS_COUNTED
from qifsql.commands.attack import attack
from qifsql.commands.describe import view as described_columns
from qifsql.commands.describe.describe import describe, household_of, person_of
from qifsql.commands.describe.view import field
from qifsql.commands.init.init import init
from qifsql.commands.run.result import StudyResult
from qifsql.commands.run.run import run
from qifsql.commands.start.result import Beginning
from qifsql.commands.sweep import sweep
from qifsql.data.dataset import Dataset
from qifsql.data.files import path_text
from qifsql.data.reading import Reading, typed
from qifsql.engine.progress import silent
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, InputError, Interrupted, OutputError, quoted, unwritable
from qifsql.presentation import words
from qifsql.presentation.language import speaking
from qifsql.results.result import Result
from qifsql.results.storage import Origin

REPORT = 3.0  # seconds until the results are written, with a report
PER_QUESTION = 0.3  # seconds of an attack for re-identification, and for each secret
AT_HOME = 1.2  # seconds of each, where the people of a household are attacked, too
PER_RECORD = 5e-7  # seconds of one question, per record
Names = Sequence[str]
Tell = Callable[[str], None]


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
    **reading: Unpack[Reading],
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
    dataset = Dataset.open(text, **reading)
    place = Path(folder) if folder is not None else Path(f"{Path(dataset.name).stem}-qifsql")
    study = place / "study.toml"
    if study.exists():
        raise OutputError(
            f"{study} exists; run it with qifsql run {study}, or name another folder with --folder"
        )
    described = describe(dataset, settings=settings)
    qids, secrets = _choose_roles(dataset, described, questions, settings, told or silent)
    person, household = (of(described.rows()) for of in (person_of, household_of))
    columns = {row["column"]: row for row in described.rows()}
    swept = sweep.affordable(columns, qids, secrets, alone=person is not None)
    seconds = _attack_seconds(columns, secrets, household) + REPORT
    seconds += sweep.expected_seconds(
        columns, *swept, threads=_threads(settings), alone=person is not None
    )
    (told or silent)(f"the run takes about {words.duration(seconds)}")
    _make_folder(place)
    roles = {"qids": list(qids), "secret": list(secrets), "lang": lang}
    init(study, data=text, described=described, settings=settings, **reading, **roles)  # type: ignore[arg-type]
    try:
        results = run(study, told=told, settings=settings)
    except Interrupted as e:
        raise Interrupted(f"interrupted; qifsql run {study} resumes", detail=e.detail) from e
    answered = ((RECORDS_COUNTED, person), (HOUSEHOLDS, household))  # notes that ask for a column
    outdated = [note for note, column in answered if column is not None]
    notes = dict.fromkeys((*described.notes, *results.notes))
    spec = {
        "dataset": dataset.name,
        **roles,
        "swept": dict(zip(("qids", "secret"), swept, strict=True)),
        "study": str(study),
        "report": None if results.report is None else str(results.report),
        "not_considered": _uncovered_columns(results),
        "commands": _commands([text, *typed(reading)], study, described, roles),
        "steps": _next_steps([text, *typed(reading)], study, (qids, secrets), person, household),
    }
    return Beginning(
        frame=results.frame,
        origin=origin.about(spec, (*dataset.paths, str(study))),
        details={**results.details, "roles": described.frame},
        notes=tuple(note for note in notes if not any(text in note for text in outdated)),
        met=results.met,
        results=results,
        study=study,
        report=results.report,
    )


def _choose_roles(
    dataset: Dataset, described: Result, questions: Questions, settings: Settings | None, tell: Tell
) -> tuple[Names, Names]:
    """Return the quasi-identifiers and secrets to take; ask again while they do not fit.

    InputError if the suggested ones do not fit.
    """
    suggested = described_columns.proposal(described.rows())
    while True:
        qids, secrets = questions.roles(described, *suggested)
        try:
            if not qids:
                raise ColumnError(
                    f"no column of {dataset.name} is a quasi-identifier; name some to "
                    "qifsql attack with --qids"
                )
            models = "crs,cas" if secrets else "crs"
            attack.rehearse(models, dataset, settings, **_adversary_options(qids, secrets))
        except InputError as e:
            if questions is SUGGESTED or (qids, secrets) == suggested:
                raise
            tell(str(e))
            continue
        return qids, secrets


def _adversary_options(qids: Names, secrets: Names) -> dict[str, Any]:
    return {"qids": list(qids)} | ({"secret": list(secrets)} if secrets else {})


def _attack_seconds(
    columns: Mapping[str, Mapping[str, Any]], secrets: Names, household: str | None
) -> float:
    """Return the expected seconds of the attack, for re-identification and each secret."""
    per_question = PER_QUESTION + (0 if household is None else AT_HOME)
    records = max((row["records"] or 0 for row in columns.values()), default=0)
    return (1 + len(secrets)) * (per_question + records * PER_RECORD)


def _threads(settings: Settings | None) -> int:
    return (settings.threads if settings else None) or os.cpu_count() or 1


def _make_folder(folder: Path) -> None:
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


def _commands(file: list[str], study: Path, described: Result, roles: dict[str, Any]) -> list[str]:
    """Return the command lines that do the same: describe, init, run."""
    init_line = ["qifsql", "init", str(study), "--data", *file]
    if (roles["qids"], roles["secret"]) != described_columns.proposal(described.rows()):
        init_line += _role_words(roles["qids"], roles["secret"] or [""])  # "": no secret
    init_line += ["--lang", roles["lang"]] if roles["lang"] != "en" else []
    lines = [["qifsql", "describe", *file], init_line, ["qifsql", "run", str(study)]]
    return [shlex.join(line) for line in lines]


def _next_steps(
    file: list[str],
    study: Path,
    roles: tuple[Names, Names],
    person: str | None,
    household: str | None,
) -> list[str]:
    """Return three command lines to go on with: run, check, compare."""
    options = _role_words(*roles)
    of_people = [] if person is None else ["--person", person]
    of_people += [] if household is None else ["--household", household]
    steps = [
        ["qifsql", "run", str(study)],
        ["qifsql", "check", *file, "--preset", "k5", *options, *of_people],
        ["qifsql", "compare", *file, *options, "--until", "k>=5"],
    ]
    return [shlex.join(words) for words in steps]


def _role_words(qids: Names, secrets: Names) -> list[str]:
    names = ",".join(map(field, qids))
    return ["--qids", names, *(w for name in secrets for w in ("--secret", field(name)))]
