"""A first study, with comments, the columns of a dataset and guesses at their roles."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, Unpack

from qifsql.commands.attack import attack
from qifsql.commands.describe import view
from qifsql.commands.describe.describe import describe, household_of, person_of
from qifsql.commands.init.spec import InitOptions
from qifsql.commands.sweep import sweep
from qifsql.data.dataset import Dataset
from qifsql.data.files import path_text
from qifsql.data.option import as_names, complete
from qifsql.data.reading import NAMES as READING
from qifsql.data.types import family
from qifsql.engine.settings import Settings
from qifsql.errors import OutputError, plural, quoted, unwritable
from qifsql.results.result import Result
from qifsql.results.storage import Origin, atomic_file
from qifsql.study import policy as policies
from qifsql.study.sources import SAMPLE, resolved

EXAMPLE = f"{SAMPLE}school_census_2019.parquet"
UNUSABLE = ("nested", "weight", "constant", "household")  # as the only quasi-identifier
WIDTH = 28  # of a name, before the comment begins


def init(
    path: str | Path | None = None,
    *,
    data: str | Path | None = None,
    described: Result | None = None,
    settings: Settings | None = None,
    **options: Unpack[InitOptions],
) -> Path:
    """Write a commented study that runs as it is, or a commented policy.

    Args:
        path: File to write; it must not exist. By default study.toml, or policy.toml.
        data: Dataset to list, with the suggested roles of its columns; by default the bundled
            sample.
        described: The result of describe for this dataset; by default the dataset is described.

    Returns:
        The path of the file.

    Raises:
        OutputError: The file exists or cannot be written.
        DatasetError: The data cannot be read.

    Example:
        >>> qifsql.init("study.toml").name
        'study.toml'

    Source: the format of studies, docs/reference/studies.md.

    """
    path = Path(path or ("policy.toml" if options.get("policy") else "study.toml"))
    try:
        exists = path.exists() or path.is_symlink()
    except OSError as e:  # the name is too long
        raise OutputError(unwritable(path, e)) from e
    if exists:
        raise OutputError(f"{path} exists; name another file, or remove it")
    if not path.parent.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {path.parent}")
    roles: Mapping[str, Any] = {n: v for n, v in options.items() if n in ("qids", "secret")}
    chosen = {name: as_names(names) for name, names in roles.items()}
    reading = {name: value for name, value in options.items() if name in READING and value}
    named = {name for name, value in options.items() if value}
    options = complete(options, InitOptions)
    text = EXAMPLE if data is None else path_text(data)
    _encoded(text)
    dataset = Dataset.open(resolved(Path(), text), **reading)  # type: ignore[arg-type]
    columns = (described or describe(dataset, settings=settings)).rows()
    people = _people(columns, options)
    usable = [column for column in columns if column["column"] not in people.values()]
    qids, secrets = _roles(usable, chosen)
    if chosen or people.keys() & named:
        _rehearse(dataset, settings, qids, secrets, sizes=options["sizes"], people=people)
    places = _role_lines(columns, qids, secrets) | _people_lines(people)
    alone = "person" in people or "weight" in people
    places["swept"] = "" if options["sizes"] else _swept_lines(columns, qids, secrets, alone=alone)
    if options["policy"]:
        filled = _policy(path, places, options["preset"])
    else:
        filled = _study(path, text, dataset, reading=reading, places=places, options=options)
    held = _encoded(filled)
    with atomic_file(path, Origin.now()) as temporary:
        temporary.write_bytes(held)
        if path.exists():  # written by another process since the first check
            raise OutputError(f"{path} exists; name another file, or remove it")
    return path


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as e:
        raise OutputError(f"{quoted(text[:80])} is not UTF-8; rename the file or column") from e


def _roles(
    columns: Sequence[Mapping[str, Any]], chosen: Mapping[str, Sequence[str]]
) -> tuple[list[str], list[str]]:
    """Return quasi-identifiers and secrets: those of ``chosen``, else the suggested ones.

    ``columns`` are rows of ``describe``. What is chosen for one role is not suggested for another.
    """
    qids, secrets = view.proposal(columns)
    if not qids:  # a study needs at least one
        usable = [c for c in columns if c["column"] and c["suggested_role"] not in UNUSABLE]
        qids = [c["column"] for c in usable[:1]]
    chosen_secrets = chosen.get("secret", ())
    qids = list(chosen.get("qids", [name for name in qids if name not in chosen_secrets]))
    secrets = list(chosen.get("secret", [name for name in secrets if name not in qids]))
    return qids, secrets


def _role_lines(
    columns: Sequence[Mapping[str, Any]], qids: list[str], secrets: list[str]
) -> dict[str, str]:
    """Return the texts of a template by name: a line for each role, other columns as comments.

    ``columns`` are rows of ``describe``. A role without a column is a comment, too.
    """
    others = [c for c in columns if c["column"] not in (*qids, *secrets)]
    other_secrets = view.ranked(others, "secret")
    other_qids = view.ranked(others, "quasi-identifier")
    rest = [c for c in others if c not in other_secrets and c not in other_qids]
    keys = [c["column"] for c in rest if c["suggested_role"] == "key" and c["column"]]
    key = f"key = {toml(keys[0])}" if keys else '#key = "id"'
    return {
        "qids": _listing("qids", columns, qids, [*other_qids, *rest]),
        "secret": _listing("secret", columns, secrets, other_secrets),
        "key": f"{key:<30}# the column that identifies a person",
        "models": '["crs", "cas"]' if secrets else '"crs"',
    }


def _people(columns: Sequence[Mapping[str, Any]], options: InitOptions) -> dict[str, str]:
    """Return the columns of persons, households and weights by role, named or suggested.

    One that is named as an empty text is none.
    """
    suggested = {
        "person": person_of(columns),
        "household": None if options["person"] else household_of(columns),
        "weight": None,
    }
    named = {"person": options["person"], "household": options["household"]}
    named["weight"] = options["weight"]
    people = {role: suggested[role] if name is None else name for role, name in named.items()}
    return {role: name for role, name in people.items() if name}


def _rehearse(
    dataset: Dataset,
    settings: Settings | None,
    qids: list[str],
    secrets: list[str],
    *,
    sizes: str | int | None,
    people: Mapping[str, str],
) -> None:
    """Look up the names of the study in its data."""
    options: dict[str, Any] = {"qids": qids, **people}
    if sizes:
        without_homes = {name: value for name, value in options.items() if name != "household"}
        sweep.rehearse(dataset, settings, sizes=sizes, **without_homes)
    models = "crs,cas" if secrets else "crs"
    attack.rehearse(models, dataset, settings, secret=secrets, **options)


def _people_lines(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the lines of the template for persons, households and weights."""
    examples = {
        "person": ("patient_id", "whose record it is, if people have several"),
        "household": ("hhid", "who lives together, if people do"),
        "weight": (
            "person_weight",
            "the adversary's prior on records: a column or expression >= 0",
        ),
    }
    lines = {}
    for role, (example, what) in examples.items():
        name = columns.get(role)
        text = f"{role} = {toml(name)}" if name else f"#{role} = {toml(example)}"
        lines[role] = f"{text:<30}# {what}"
    return lines


def _swept_lines(
    columns: Sequence[Mapping[str, Any]], qids: list[str], secrets: list[str], *, alone: bool
) -> str:
    """Return the lines of a sweep that takes seconds; none if that of all columns does."""
    swept = sweep.affordable(
        {column["column"]: column for column in columns},
        qids,
        secrets,
        alone=alone,
    )
    lines = ""
    for key, names, every in zip(("qids", "secret"), swept, (qids, secrets), strict=True):
        if names != every:
            lines += f"{key} = {toml(names)}  # so that it takes seconds; left out: all\n"
    return lines


def _study(
    path: Path,
    text: str,
    dataset: Dataset,
    *,
    reading: Mapping[str, Any],
    places: Mapping[str, str],
    options: InitOptions,
) -> str:
    """Return the template of a study, filled with the columns of a dataset."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", Path(dataset.name).stem).strip("_") or "data"
    sizes = options["sizes"]
    return _template("template.toml").substitute(
        places,
        file=quoted(path.name)[1:-1],
        folder=toml(f"{path.stem}-results"),
        lang=toml(options["lang"]),
        recipient=_report_line("recipient", options["recipient"], "the research team"),
        purpose=_report_line("purpose", options["purpose"], "a study of income and health"),
        name=name,
        path=toml(_from_folder(text, dataset, path.parent)),
        csv="".join(f"{option} = {toml(value)}\n" for option, value in reading.items()),
        sizes='#sizes = "1-3"               ' if sizes is None else f"sizes = {toml(str(sizes))}",
    )


def _report_line(key: str, text: str | None, example: str) -> str:
    """Return the line of a key of the report; with an example, a comment, if it has no text."""
    return f"{key} = {toml(text)}" if text else f"#{key} = {toml(example)}"


def _policy(path: Path, places: Mapping[str, str], preset: str) -> str:
    """Return the template of a policy: the rules of a preset, those of others as comments."""
    policies.preset(preset)  # raises for an unknown name
    rules = []
    for name in policies.presets():
        lines = policies.preset(name).read_text("utf-8").splitlines()
        if name != preset:
            lines = [f"#{line}" if line and not line.startswith("#") else line for line in lines]
        rules.append("\n".join([f"# {f'Preset {name} ':-<86}", *lines, "\n"]))
    file = quoted(path.name)[1:-1]
    return _template("policy.toml").substitute(places, file=file, rules="\n".join(rules))


def _template(name: str) -> Template:
    return Template(Path(__file__).with_name(name).read_text("utf-8"))


def _listing(
    key: str,
    columns: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    others: Sequence[Mapping[str, Any]],
) -> str:
    """Return the lines of the list ``key``: the names, then other columns as comments."""
    by_name = {column["column"]: column for column in columns}
    lines = [_line(f"{toml(name)},", by_name.get(name)) for name in names]
    lines += [_line(f"# {toml(c['column'])},", c) for c in others]
    if not names:  # an empty list is an error in policies
        return "\n".join([f'#{key} = ["..."]', *lines])
    return "\n".join([f"{key} = [", *lines, "]"])


def _line(start: str, column: Mapping[str, Any] | None) -> str:
    """Return the line of a column with the guess at its role; an expression has none."""
    if column is None:
        return f"    {start}"
    values = "" if column["distinct"] is None else f", {plural(column['distinct'], 'value')}"
    role = f"{column['suggested_role']}, {column['why']} (confidence: {column['confidence']})"
    return f"    {start:<{WIDTH}} # {family(column['type'])}{values}: {role}"


def _from_folder(text: str, dataset: Dataset, folder: Path) -> str:
    """Return the path of a dataset as seen from the folder of the study."""
    if text.startswith(SAMPLE):
        return text
    table, file = "", text
    if dataset.table:
        table, file = f"{dataset.table}@", dataset.paths[0]
    return table + (file if Path(file).is_absolute() else os.path.relpath(file, folder))


def toml(value: str | float | Sequence[Any]) -> str:
    """Return a text, a number, a truth value or a list as JSON, which is valid TOML, too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
