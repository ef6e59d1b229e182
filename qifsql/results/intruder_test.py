"""The files of a motivated intruder test: sheets of what is known, claims, and the key to them.

The office keeps the key; the rest goes to testers, who fill in claims. Source: Information
Commissioner's Office, Anonymisation guidance, 2025: the motivated intruder test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.adversary.value_files import lines
from qifsql.data.dataset import Dataset
from qifsql.data.expressions import column
from qifsql.data.files import MANIFEST, parsed_json
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.errors import DatasetError, InputError, quoted

KIND = "sheets"  # of the result that is the origin of a key
TESTERS = "testers"  # the folder of the files for those who test
SHEETS, CLAIMS, INSTRUCTIONS = "sheets.csv", "claims.csv", "instructions.txt"
KEY = "key.csv"
WHOSE = "whose record"  # the question of re-identification; the others are the names of secrets
MOST_ROWS = 1_000_000  # of a key or of claims
KEY_COLUMNS = ("sheet", "question", "answer", "chance")
CLAIM_COLUMNS = ("sheet", "question", "claim", "confidence")


def key_file(test: Path | None, claims: Path) -> Path:
    """Return the key of a test: a file or the one in a folder; DatasetError if there is none.

    Where no test is named, it is beside the ``claims``, or in the folder above.
    """
    folders = [claims.parent, claims.absolute().parent.parent] if test is None else [test]
    files = [folder / KEY if folder.is_dir() else folder for folder in folders]
    for file in files:
        if file.is_file():
            return file
    raise DatasetError(
        f"{folders[0]} has no {KEY}; name the folder that qifsql inspect --draw has written"
    )


def spec_of_key(file: Path) -> Mapping[str, Any]:
    """Return the request by which the sheets of a key were drawn, from its manifest."""
    beside = file.with_name(file.name + MANIFEST)
    try:
        note = parsed_json(beside.read_bytes())
    except (OSError, ValueError):
        note = None
    spec = note.get("spec") if isinstance(note, dict) and note.get("result") == KIND else None
    if not isinstance(spec, dict) or not isinstance(spec.get("questions"), dict):
        raise DatasetError(
            f"{beside.name} is missing or damaged; keep it beside {file.name}, as "
            "qifsql inspect --draw has written it"
        )
    return spec


def read_texts(file: Path, columns: Sequence[str], settings: Settings | None) -> pl.DataFrame:
    """Return columns of a table in any format as texts, in its order, without blanks around them.

    An empty text is NULL. Raises InputError if a column is missing.
    """
    dataset = Dataset.open(str(file))
    dataset = replace(dataset, all_varchar=dataset.format == "csv")  # others have types
    with open_engine(settings, sources=(dataset,)) as engine:
        catalog = Catalog(engine, dataset)
        sources = {name: catalog.schema.find(name) for name in columns}
        missing = [name for name, at in sources.items() if at is None]
        if missing:
            raise InputError(
                f"{dataset.name} has no column {quoted(missing[0])}; it needs {', '.join(columns)}"
            )
        texts = {name: exp.cast(column(at), "VARCHAR") for name, at in sources.items() if at}
        assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - it was one
        query = lines(catalog.dataset, texts).limit(MOST_ROWS + 1)
        rows = engine.query(query, dataset.name)
    if len(rows) > MOST_ROWS:
        raise InputError(f"{dataset.name} has more than {MOST_ROWS:,} rows; is it another file?")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    stripped = pl.all().str.strip_chars()
    return frame.select(pl.when(stripped != "").then(stripped))
