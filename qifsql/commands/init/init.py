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
UNUSABLE_ROLES = ("nested", "weight", "constant", "household")  # as the only quasi-identifier
NAME_WIDTH = 28  # before the comment begins


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
    _check_new(path)
    roles: Mapping[str, Any] = {n: v for n, v in options.items() if n in ("qids", "secret")}
    names_of_roles = {role: as_names(names) for role, names in roles.items()}
    reading: dict[str, Any] = {n: v for n, v in options.items() if n in READING and v}
    named_options = {name for name, value in options.items() if value}
    options = complete(options, InitOptions)
    source_text = EXAMPLE if data is None else path_text(data)
    _encode(source_text)  # refuses a path that a study cannot hold
    dataset = Dataset.open(resolved(Path(), source_text), **reading)
    columns = (described or describe(dataset, settings=settings)).rows()
    people = _columns_of_people(columns, options)
    usable = [column for column in columns if column["column"] not in people.values()]
    qids, secrets = _choose_roles(usable, names_of_roles)
    if names_of_roles or people.keys() & named_options:  # look up the names in the data
        adversary: dict[str, Any] = {"qids": qids, **people}
        if options["sizes"]:
            of_sweep = {name: value for name, value in adversary.items() if name != "household"}
            sweep.rehearse(dataset, settings, sizes=options["sizes"], **of_sweep)
        models = "crs,cas" if secrets else "crs"
        attack.rehearse(models, dataset, settings, secret=secrets, **adversary)
    lines = _role_lines(columns, qids, secrets) | _people_lines(people)
    alone = "person" in people or "weight" in people  # a sweep attacks each subset by itself
    lines["swept"] = "" if options["sizes"] else _swept_lines(columns, qids, secrets, alone=alone)
    if options["policy"]:
        text = _fill_policy(path, lines, options["preset"])
    else:
        dataset_path = _path_from_folder(source_text, dataset, path.parent)
        lines |= {"path": toml(dataset_path), "lang": toml(options["lang"])}
        lines["csv"] = "".join(f"{option} = {toml(value)}\n" for option, value in reading.items())
        text = _fill_study(path, dataset, lines, options)
    content = _encode(text)
    with atomic_file(path, Origin.now()) as temporary:
        temporary.write_bytes(content)
        if path.exists():  # written by another process since the first check
            raise OutputError(f"{path} exists; name another file, or remove it")
    return path


def _check_new(path: Path) -> None:
    """Refuse to write a file that exists, or in a folder that does not."""
    try:
        exists = path.exists() or path.is_symlink()
    except OSError as e:  # the name is too long
        raise OutputError(unwritable(path, e)) from e
    if exists:
        raise OutputError(f"{path} exists; name another file, or remove it")
    if not path.parent.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {path.parent}")


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as e:
        raise OutputError(f"{quoted(text[:80])} is not UTF-8; rename the file or column") from e


def _choose_roles(
    columns: Sequence[Mapping[str, Any]], names_of_roles: Mapping[str, Sequence[str]]
) -> tuple[list[str], list[str]]:
    """Return quasi-identifiers and secrets: those of ``names_of_roles``, else the suggested ones.

    ``columns`` are rows of ``describe``. A column that is named for one role is not suggested for
    the other.
    """
    qids, secrets = view.proposal(columns)
    if not qids:  # a study needs at least one
        usable = [c for c in columns if c["column"] and c["suggested_role"] not in UNUSABLE_ROLES]
        qids = [c["column"] for c in usable[:1]]
    named_secrets = names_of_roles.get("secret", ())
    qids = list(names_of_roles.get("qids", [name for name in qids if name not in named_secrets]))
    secrets = list(names_of_roles.get("secret", [name for name in secrets if name not in qids]))
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
        "qids": _list_columns("qids", columns, qids, [*other_qids, *rest]),
        "secret": _list_columns("secret", columns, secrets, other_secrets),
        "key": f"{key:<30}# the column that identifies a person",
        "models": '["crs", "cas"]' if secrets else '"crs"',
    }


def _columns_of_people(
    columns: Sequence[Mapping[str, Any]], options: InitOptions
) -> dict[str, str]:
    """Return the columns of persons, households and weights by role, named or suggested.

    An option that is an empty text means that there is no such column.
    """
    person, household = options["person"], options["household"]
    if household is None and not person:  # the records of a named person are no households
        household = household_of(columns)
    if person is None:
        person = person_of(columns)
    people = {"person": person, "household": household, "weight": options["weight"]}
    return {role: name for role, name in people.items() if name}


def _people_lines(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the lines of the template for persons, households and weights."""
    weighing = "the adversary's prior on records: a column or expression >= 0"
    lines = {}
    for role, example, meaning in (
        ("person", "patient_id", "whose record it is, if people have several"),
        ("household", "hhid", "who lives together, if people do"),
        ("weight", "person_weight", weighing),
    ):
        entry = _entry(role, columns.get(role), example)
        lines[role] = f"{entry:<30}# {meaning}"
    return lines


def _entry(key: str, text: str | None, example: str) -> str:
    """Return the line of a key; without a text, a comment with an example."""
    return f"{key} = {toml(text)}" if text else f"#{key} = {toml(example)}"


def _swept_lines(
    columns: Sequence[Mapping[str, Any]], qids: list[str], secrets: list[str], *, alone: bool
) -> str:
    """Return the lines of a sweep that takes seconds; none if that of all columns does."""
    by_name = {column["column"]: column for column in columns}
    swept_qids, swept_secrets = sweep.affordable(by_name, qids, secrets, alone=alone)
    lines = ""
    for key, swept, names in (("qids", swept_qids, qids), ("secret", swept_secrets, secrets)):
        if swept != names:
            lines += f"{key} = {toml(swept)}  # so that it takes seconds; left out: all\n"
    return lines


def _fill_study(
    path: Path, dataset: Dataset, lines: Mapping[str, str], options: InitOptions
) -> str:
    """Return the template of a study, filled with the ``lines`` about a dataset and its columns."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", Path(dataset.name).stem).strip("_") or "data"
    sizes = options["sizes"]
    template = Template(Path(__file__).with_name("template.toml").read_text("utf-8"))
    return template.substitute(
        lines,
        file=quoted(path.name)[1:-1],
        folder=toml(f"{path.stem}-results"),
        recipient=_entry("recipient", options["recipient"], "the research team"),
        purpose=_entry("purpose", options["purpose"], "a study of income and health"),
        name=name,
        sizes='#sizes = "1-3"               ' if sizes is None else f"sizes = {toml(str(sizes))}",
    )


def _fill_policy(path: Path, lines_of_roles: Mapping[str, str], preset: str) -> str:
    """Return the template of a policy: the rules of a preset, those of others as comments."""
    policies.preset(preset)  # raises for an unknown name
    rules = []
    for name in policies.presets():
        lines = policies.preset(name).read_text("utf-8").splitlines()
        if name != preset:
            lines = [f"#{line}" if line and not line.startswith("#") else line for line in lines]
        rules.append("\n".join([f"# {f'Preset {name} ':-<86}", *lines, "\n"]))
    file = quoted(path.name)[1:-1]
    template = Template(Path(__file__).with_name("policy.toml").read_text("utf-8"))
    return template.substitute(lines_of_roles, file=file, rules="\n".join(rules))


def _list_columns(
    key: str,
    columns: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    others: Sequence[Mapping[str, Any]],
) -> str:
    """Return the lines of the list ``key``: the names, then other columns as comments."""
    by_name = {column["column"]: column for column in columns}
    lines = [_column_line(f"{toml(name)},", by_name.get(name)) for name in names]
    lines += [_column_line(f"# {toml(c['column'])},", c) for c in others]
    if not names:  # an empty list is an error in policies
        return "\n".join([f'#{key} = ["..."]', *lines])
    return "\n".join([f"{key} = [", *lines, "]"])


def _column_line(start: str, column: Mapping[str, Any] | None) -> str:
    """Return the line of a column with the guess at its role; an expression has none."""
    if column is None:
        return f"    {start}"
    values = "" if column["distinct"] is None else f", {plural(column['distinct'], 'value')}"
    role = f"{column['suggested_role']}, {column['why']} (confidence: {column['confidence']})"
    return f"    {start:<{NAME_WIDTH}} # {family(column['type'])}{values}: {role}"


def _path_from_folder(text: str, dataset: Dataset, folder: Path) -> str:
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
