"""A first study, with comments, the columns of a dataset and guesses at their roles."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from qifsql.commands.describe.describe import describe
from qifsql.data.dataset import Dataset
from qifsql.data.files import path_text
from qifsql.data.types import family
from qifsql.engine.settings import Settings
from qifsql.errors import OutputError, quoted, several, unwritable
from qifsql.results.storage import Origin, whole
from qifsql.study.sources import SAMPLE, resolved

EXAMPLE = f"{SAMPLE}school_census_2019.parquet"
QIDS, SECRETS = 12, 3  # most quasi-identifiers and secrets in a first study
UNUSABLE = ("nested", "weight", "constant")
WIDTH = 28  # of a name, before the comment begins


def init(
    path: str | Path = "study.toml",
    *,
    data: str | Path | None = None,
    all_varchar: bool = False,
    delimiter: str | None = None,
    encoding: str | None = None,
    settings: Settings | None = None,
) -> Path:
    """Write a commented study that runs as it is.

    Args:
        path: File to write; it must not exist.
        data: Dataset to list, with the suggested roles of its columns; by default the bundled
            sample.
        all_varchar: CSV: read every column as text.
        delimiter: CSV: field separator.
        encoding: CSV: encoding, such as latin-1.
        settings: Memory, threads, temporary folder, seed and progress; by default those of the
            machine.

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
    path = Path(path)
    try:
        exists = path.exists() or path.is_symlink()
    except OSError as e:  # the name is too long
        raise OutputError(unwritable(path, e)) from e
    if exists:
        raise OutputError(f"{path} exists; name another file, or remove it")
    if not path.parent.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {path.parent}")
    csv = {"all_varchar": all_varchar, "delimiter": delimiter, "encoding": encoding}
    text = EXAMPLE if data is None else path_text(data)
    _encoded(text)
    dataset = Dataset.open(resolved(Path(), text), **csv)  # type: ignore[arg-type]
    columns = describe(dataset, settings=settings).frame.to_dicts()
    csv_options = {name: value for name, value in csv.items() if value}
    held = _encoded(_filled(path, text, dataset, columns, csv_options))
    with whole(path, Origin.now()) as temporary:
        temporary.write_bytes(held)
        if path.exists():  # written by another process since the first check
            raise OutputError(f"{path} exists; name another file, or remove it")
    return path


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as e:
        raise OutputError(f"{quoted(text[:80])} is not UTF-8; rename the file or column") from e


def _filled(
    path: Path,
    text: str,
    dataset: Dataset,
    columns: Sequence[Mapping[str, Any]],
    csv: Mapping[str, Any],
) -> str:
    """Return the template, filled with the columns of a dataset."""
    template = Path(__file__).with_name("template.toml").read_text("utf-8")
    usable = [c for c in columns if c["column"] and c["suggested_role"] not in UNUSABLE]
    qids = [c for c in usable if c["suggested_role"] == "quasi-identifier"]
    secrets = [c for c in usable if c["suggested_role"] == "secret"]
    keys = [c["column"] for c in usable if c["suggested_role"] == "key"]
    if not qids:  # a study needs at least one
        qids, secrets = usable[:1], [c for c in secrets if c not in usable[:1]]
    taken = qids[:QIDS]
    others = [c for c in columns if c not in taken and c not in secrets]
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", Path(dataset.name).stem).strip("_") or "data"
    key = f"key = {toml(keys[0])}" if keys else '#key = "id"'
    return Template(template).substitute(
        file=quoted(path.name)[1:-1],
        folder=toml(f"{path.stem}-results"),
        name=name,
        path=toml(_from_folder(text, dataset, path.parent)),
        csv="".join(f"{option} = {toml(value)}\n" for option, value in csv.items()),
        qids="\n".join([_line(c) for c in taken] + [_line(c, aside=True) for c in others]),
        secret="\n".join(_line(c, aside=i >= SECRETS) for i, c in enumerate(secrets)),
        key=f"{key:<30}# the column that identifies a person",
        models='["crs", "cas"]' if secrets else '"crs"',
    )


def _line(column: Mapping[str, Any], *, aside: bool = False) -> str:
    """Return the line of a column, with the guess at its role; if ``aside``, as a comment."""
    values = "" if column["distinct"] is None else f", {several(column['distinct'], 'value')}"
    guess = f"{family(column['type'])}{values}: {column['suggested_role']}, {column['why']}"
    name = f"{'# ' if aside else ''}{toml(column['column'])},"
    return f"    {name:<{WIDTH}} # {guess}"


def _from_folder(text: str, dataset: Dataset, folder: Path) -> str:
    """Return the path of a dataset as seen from the folder of the study."""
    if text.startswith(SAMPLE):
        return text
    table, file = "", text
    if dataset.format == "duckdb":
        table, file = f"{dataset.table}@", dataset.paths[0]
    return table + (file if Path(file).is_absolute() else os.path.relpath(file, folder))


def toml(value: str | float | Sequence[Any]) -> str:
    """Return a text, a number, a truth value or a list as JSON, which is valid TOML, too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
