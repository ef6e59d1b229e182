"""The files that a dataset is made of: those of a folder or a glob, and their one format."""

import glob
from collections.abc import Sequence
from pathlib import Path

from qifsql.data.formats import PARQUET_ENDINGS, SEVERAL, Format, format_of, partition_columns
from qifsql.errors import DatasetError, did_you_mean, quoted

TABLES = {  # marks of lake tables in their folders: kind and reader
    "_delta_log": ("Delta", "delta_scan in DuckDB"),
    "metadata/*.metadata.json*": ("Iceberg", "iceberg_scan in DuckDB"),
    ".hoodie": ("Hudi", "spark.read.format('hudi') in Spark"),
}


def files_of(text: str) -> tuple[tuple[str, ...], bool]:
    """Return the files of a path, and whether folder names may be columns (``year=2018/``).

    ``text`` is the path of a file or of a folder of Parquet, or a glob.
    """
    path = Path(text)
    try:
        is_folder = path.is_dir()
    except OSError as e:  # the name is too long
        raise DatasetError(f"{text} cannot be read: {e.strerror}; check the name") from e
    if is_folder:
        try:
            files = sorted(str(p) for p in path.rglob("*") if _is_part(p, path))
        except OSError as e:
            raise DatasetError(f"folder {text} cannot be listed: {e.strerror}") from e
        if not files:
            raise DatasetError(f"folder {text} has no Parquet files; name a file or a glob")
        return tuple(files), _partitioned(files, text)
    if path.exists():
        return (text,), False
    if glob.has_magic(text):
        files = sorted(p for p in glob.iglob(text, recursive=True) if Path(p).is_file())
        if not files:
            raise DatasetError(f"{text} matches no file; check the pattern and the folder")
        return tuple(files), _partitioned(files, text)
    folder = path.parent
    if not folder.is_dir():
        raise DatasetError(f"{text} does not exist: there is no folder {folder}")
    hint = did_you_mean(path.name, (p.name for p in folder.iterdir()) if path.name else ())
    if not hint.startswith("; did"):  # a list of the files in the folder
        hint = "; check the path"
    raise DatasetError(f"{text} does not exist{hint}")


def _partitioned(files: Sequence[str], text: str) -> bool:
    """Return whether the folders of the files are named by columns and values (``year=2018``)."""
    columns_of_files = {partition_columns(file) for file in files}
    if len(columns_of_files) > 1:
        listed = " or ".join(
            quoted("/".join(columns)) if columns else "none" for columns in sorted(columns_of_files)
        )
        raise DatasetError(
            f"the files of {text} have different partition columns in the names of their folders: "
            f"{listed}; name files with the same ones"
        )
    return columns_of_files != {()}


def one_format(files: tuple[str, ...], text: str) -> tuple[Format, str]:
    """Return the format of all files, and the ending of the first; refuse what is no dataset."""
    format_, ending = format_of(files[0], text)
    if format_ == "duckdb":
        raise DatasetError(f"{text} is a database; name a table in it: TABLE@{text}")
    if any(format_of(f, text)[0] != format_ for f in files):
        raise DatasetError(f"{text} has files of several kinds; name one kind")
    if len(files) > 1 and format_ not in SEVERAL:
        raise DatasetError(f"{text} names several {ending} files; name one of them")
    if format_ == "parquet":
        _check_plain(files, text)
    return format_, ending


def _is_part(file: Path, folder: Path) -> bool:
    """Return whether a file belongs to a folder of Parquet; ``_log`` and ``.tmp`` do not."""
    inside = file.relative_to(folder).parts
    hidden = any(part.startswith(("_", ".")) for part in inside)
    return not hidden and file.suffix.casefold() in PARQUET_ENDINGS and file.is_file()


def _check_plain(files: tuple[str, ...], text: str) -> None:
    """Refuse Parquet files of a Delta, Iceberg or Hudi table, however they are named.

    Such a table keeps deleted and replaced records in its folder; only its log states which files
    and records are current. One of its files alone has the same problem.
    """
    folders = {Path(file).absolute().parent for file in files}
    folders |= {Path(file).resolve().parent for file in files}  # of the file behind a link
    folders = folders.union(*(folder.parents for folder in folders))
    for folder in sorted(folders, reverse=True):  # inner folders first
        for pattern, (kind, reader) in TABLES.items():
            if next(folder.glob(pattern), None) is not None:
                raise DatasetError(
                    f"{text} has Parquet files of a {kind} table, in the folder {folder}: they may "
                    "hold records that were deleted or replaced; export the current records first "
                    f"({reader} reads them) to a Parquet file outside that folder, and name it"
                )
