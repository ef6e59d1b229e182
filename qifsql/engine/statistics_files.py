"""Files of Stata, SPSS and SAS, read in chunks and written with pyreadstat.

Missing values of these programs are NULL: system-missing, extended (``.a`` to ``.z``) and, of SPSS,
those that the user declared. In Stata and SAS an empty text is the missing text. Values have their
codes, not their labels, unless all columns are read as text.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from qifsql.data import installation
from qifsql.data.dataset import Dataset
from qifsql.data.formats import check_names
from qifsql.errors import DatasetError

CELLS = 1_000_000  # cells that are in memory at once
SPSS = dict.fromkeys((".sav", ".zsav"), "read_sav")
SAS = {".sas7bdat": "read_sas7bdat", ".xpt": "read_xport"}
READERS = {".dta": "read_dta", **SPSS, **SAS}  # functions of pyreadstat
DECLARING = (".dta", ".sav", ".zsav")  # files whose author says which values are missing
EMPTY_IS_MISSING = (".dta", ".sas7bdat", ".xpt")
Type: TypeAlias = pl.DataType | type[pl.DataType]


def write(dataset: Dataset, folder: Path, progress: Callable[[float], None]) -> Sequence[str]:
    """Write the rows of a file to Parquet files of equal columns in ``folder``, one per chunk."""
    try:
        import pyreadstat  # noqa: F401
    except ImportError as e:
        raise DatasetError(
            f"{dataset.name}: files of Stata, SPSS and SAS need the extra: "
            f"{installation.command('stats')}"
        ) from e
    try:
        contents = _contents(dataset.files[0])
        check_names(contents.column_names, dataset.name)
        schemas = _write_chunks(dataset, contents, folder, progress)
    except (DatasetError, MemoryError):
        raise
    except Exception as e:
        raise DatasetError(
            f"{dataset.name} cannot be read: it is corrupt, truncated, of another format than its "
            "name says, or has dates after the year 9999",
            detail=str(e),
        ) from e
    stored = contents.readstat_variable_types
    types: dict[str, Type] = {}  # of columns without values
    for name in contents.column_names:
        is_text = dataset.all_varchar or stored.get(name) == "string"
        types[name] = pl.String if is_text else pl.Float64
    _unify(folder, schemas, types)
    return ()  # no columns have both numbers and texts


def _write_chunks(
    dataset: Dataset, contents: Any, folder: Path, progress: Callable[[float], None]
) -> list[pl.Schema]:
    """Write the rows of a dataset, a file for each chunk; return the schemas of the chunks.

    ``contents`` are what its file says of its columns.
    """
    path = dataset.files[0]
    schemas: list[pl.Schema] = []
    value_labels = _value_labels(contents)
    written = 0  # rows
    for rows in _read_chunks(path, len(contents.column_names), output_format="polars"):
        chunk = _as_texts(rows, value_labels) if dataset.all_varchar else rows
        if path.casefold().endswith(EMPTY_IS_MISSING):
            chunk = chunk.with_columns(pl.col(pl.String).replace("", None))
        chunk.write_parquet(folder / _chunk_name(len(schemas)))
        schemas.append(chunk.schema)
        written += chunk.height
        progress(min(1.0, written / max(contents.number_rows or 0, 1)))
    return schemas


def _read_chunks(path: str, n_columns: int, **options: Any) -> Iterator[Any]:
    """Yield the columns of a file in chunks of at most ``CELLS`` cells, or of 1,000 rows."""
    import pyreadstat

    size = max(1000, CELLS // n_columns)
    chunks = pyreadstat.read_file_in_chunks(_reader(path), path, chunksize=size, **options)
    return (columns for columns, _ in chunks)


def _as_texts(rows: pl.DataFrame, value_labels: Mapping[str, Mapping[str, str]]) -> pl.DataFrame:
    """Return rows with texts only: labels in place of values, and whole numbers without point."""
    texts = []
    for name, type_ in rows.schema.items():
        value = pl.col(name)
        text = value.cast(pl.String)
        if type_.is_float():
            integer = value.cast(pl.Int64, strict=False)
            text = pl.when(value == integer).then(integer.cast(pl.String)).otherwise(text)
        texts.append(text.replace(dict(value_labels.get(name, {}))).alias(name))
    return rows.select(texts)


def labels(dataset: Dataset) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the labels of variables, and the labels of values by variable and text of a value.

    Variables without are left out.
    """
    contents = _contents(dataset.files[0])
    labels = {n: text for n, text in contents.column_names_to_labels.items() if text}
    return labels, _value_labels(contents)


def _contents(path: str | Path, **options: Any) -> Any:
    """Return what a file says of its columns."""
    return _reader(path)(path, metadataonly=True, **options)[1]


def _reader(path: str | Path) -> Callable[..., Any]:
    """Return the function of pyreadstat that reads files with this ending."""
    import pyreadstat

    read: Callable[..., Any] = getattr(pyreadstat, READERS[Path(path).suffix.casefold()])
    return read


def _value_labels(contents: Any) -> dict[str, dict[str, str]]:
    """Return the labels of values by variable and text of a value."""
    return {
        name: {_text(value): str(text) for value, text in by_value.items()}
        for name, by_value in contents.variable_value_labels.items()
    }


def write_release(
    frame: pl.DataFrame,
    path: Path,
    kind: str,
    source: Dataset | None,
    unlabelled: Collection[str] = (),
) -> None:
    """Write rows as a file of a kind, with the labels that its columns have in the source.

    Values of the columns ``unlabelled`` get no labels; neither do texts in Stata.
    """
    import pyreadstat

    column_labels: dict[str, str | None] = {}
    value_labels: dict[str, dict[Any, str]] = {}
    if source is not None and source.format == "statistics":
        contents = _contents(source.files[0])
        texts = contents.column_names_to_labels
        column_labels = {name: texts[name] for name in frame.columns if texts.get(name)}
        names = {*frame.columns}.difference(unlabelled) if not source.all_varchar else set()
        for name, by_value in contents.variable_value_labels.items():
            if name in names:
                present = _labels_of_cells(by_value, frame[name], of_texts=kind in SPSS)
                value_labels |= {name: present} if present else {}
    if kind == ".xpt":
        pyreadstat.write_xport(frame, path, column_labels=column_labels)
        return
    labels: dict[str, Any] = {"column_labels": column_labels, "variable_value_labels": value_labels}
    if kind == ".dta":
        pyreadstat.write_dta(frame, path, **labels)
    else:
        pyreadstat.write_sav(frame, path, compress=kind == ".zsav", **labels)


def _labels_of_cells(
    by_value: Mapping[Any, object], cells: pl.Series, *, of_texts: bool
) -> dict[Any, str]:
    """Return the labels of the cells of a column of a release, out of those ``by_value``.

    ``of_texts``: the format labels texts. A text gets the label of the value that it is, and
    generalised cells get none: a set ``{...}``, a prefix ``12*`` or ``*``.
    """
    if cells.dtype.is_numeric():
        return {n: str(label) for n, label in by_value.items() if isinstance(n, int | float)}
    if not of_texts or cells.dtype != pl.String:
        return {}
    by_text = {form(n): str(label) for n, label in by_value.items() for form in (str, _text)}
    present = {*cells.filter(cells.is_in([*by_text]))}
    return {text: by_text[text] for text in present if text[:1] not in "{*" and text[-1:] != "*"}


def unlabelled_columns(source: Dataset, path: Path) -> list[str]:
    """Return the columns of the release at ``path`` whose values have labels in the source alone.

    There are none if the source is read as labels.
    """
    if source.format != "statistics" or source.all_varchar:
        return []
    released, labels_before = _contents(path), _contents(source.files[0]).variable_value_labels
    labels_after = released.variable_value_labels
    names: list[str] = released.column_names
    return [name for name in names if labels_before.get(name) and not labels_after.get(name)]


def _text(value: object) -> str:
    """Return a value as text, whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def declared_missing(dataset: Dataset) -> dict[str, int]:
    """Return how many values of each column are missing because the file declares them so.

    They are user-missing values and ranges of SPSS, and the extended missing values of Stata; a
    column without any is left out.
    """
    path = dataset.files[0]
    ending = Path(path).suffix.casefold()
    if ending not in DECLARING:
        return {}
    contents = _contents(path, user_missing=True)
    texts = contents.readstat_variable_types
    names = [n for n in contents.column_names if texts[n] != "string"]
    if ending != ".dta":  # SPSS: what is declared stands in the description of the file
        names = [n for n in contents.column_names if n in contents.missing_ranges]
    if not names:
        return {}
    missing = _count_missing(path, names, user_missing=False)
    undeclared = _count_missing(path, names, user_missing=True)
    counts = {name: missing[name] - undeclared[name] for name in names}
    return {name: n for name, n in counts.items() if n}


def _count_missing(path: str, names: Sequence[str], *, user_missing: bool) -> Counter[str]:
    """Return how many values of each column are missing.

    ``user_missing``: those that the file declares to be missing are values, and do not count.
    """
    counts: Counter[str] = Counter()
    options = {"usecols": names, "user_missing": user_missing, "output_format": "dict"}
    for columns in _read_chunks(path, len(names), **options):
        for name, values in columns.items():
            counts[name] += sum(v is None or v != v for v in values)  # noqa: PLR0124
    return counts


def _unify(folder: Path, schemas: Sequence[pl.Schema], unknown: Mapping[str, Type]) -> None:
    """Give all chunks, whose schemas these are, the same types; write those again that differ.

    A column without values in a chunk has no type there (Null), and its type in ``unknown`` if it
    has none in any chunk. A column of several types becomes one of floats.
    """
    types = dict(unknown)
    for name in unknown:
        present = {s[name] for s in schemas} - {pl.Null()}
        if present:
            types[name] = present.pop() if len(present) == 1 else pl.Float64
    schema = pl.Schema(types)
    if not schemas:
        pl.DataFrame(schema=schema).write_parquet(folder / _chunk_name(0))
    for i, chunk_schema in enumerate(schemas):
        if chunk_schema != schema:
            file = folder / _chunk_name(i)
            pl.read_parquet(file).cast(schema).write_parquet(file)


def _chunk_name(chunk: int) -> str:
    """Return the name of the file of a chunk; names are in the order of the chunks."""
    return f"rows_{chunk:06}.parquet"
