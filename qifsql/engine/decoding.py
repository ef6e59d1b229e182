"""Private copies of text in UTF-8, and of a table in a .zip, which DuckDB then reads.

The copies are in the engine's temporary folder, and are removed with it. The path of a copy has the
path of its file in it, so that SQL is shown with the files of the user (``public_sql``).
"""

import codecs
import errno
import gzip
import hashlib
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import quote, unquote

from qifsql.data.dataset import Dataset
from qifsql.data.formats import ENDINGS, ZIPPED
from qifsql.data.readers import escaped
from qifsql.engine.temporary import PREFIX
from qifsql.errors import DatasetError, EngineError

BLOCK = 1 << 20  # bytes or characters that are copied at once
DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
COPIES = "copies"  # the folder of copies in the temporary one
NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_WRONLY
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
LENGTH = 200  # characters of a path that are in one name
ROWS = "rows"  # the name of a copy, before its ending
COPY = re.compile(
    rf"'(?:[^']|'')*[/\\\\]{PREFIX}[^'/\\\\]*[/\\\\]{COPIES}[/\\\\][0-9a-f]+[/\\\\]([^']*)[/\\\\]{ROWS}[.a-z0-9]*'"
)
"""The path of a copy in SQL; the group is the path of its file."""


class Readable(Protocol):
    """A file that is read in blocks of bytes."""

    def read(self, size: int = ..., /) -> bytes:
        """Return the next bytes, empty at the end."""


def decoded(folder: Path, dataset: Dataset) -> tuple[str, ...]:
    """Return the private copies that DuckDB reads in place of the files; empty if it reads these.

    ``folder`` is the temporary one. Raises DatasetError if a file is not in its encoding, or is
    damaged; EngineError if there is no room for the copies.
    """
    if not dataset.is_decoded:
        return ()
    return tuple(str(_copy(folder, dataset, path)) for path in dataset.paths)


def public_sql(text: str) -> str:
    """Return SQL with the files of the user in place of their private copies."""
    return COPY.sub(lambda copy: _literal(unquote(re.sub(r"[/\\]", "", copy[1]))), text)


def private_sql(text: str, datasets: Iterable[Dataset]) -> str:
    """Return SQL with the private copies of datasets in place of their files."""
    for dataset in datasets:
        for path, copy in zip(dataset.paths, dataset.copies, strict=False):
            text = text.replace(_literal(path), _literal(copy))
    return text


def _literal(path: str) -> str:
    """Return the path of a file as it is written in SQL."""
    return "'" + escaped(path).replace("'", "''") + "'"


def _place(folder: Path, dataset: Dataset, path: str) -> Path:
    """Return the path of the private copy of a file.

    It ends as the file does, or as the member of an archive, by which other formats than CSV are
    told; folders have parts of the quoted path, as names have a greatest length.
    """
    name = dataset.table if path.casefold().endswith(ZIPPED) else path
    all_endings = (ending for endings in ENDINGS.values() for ending in endings)
    of_name = (ending for ending in all_endings if name.casefold().endswith(ending))
    ending = ".csv" if dataset.format == "csv" else next(of_name, "")
    options = "\0".join((dataset.table, dataset.encoding or "")).encode(errors="surrogateescape")
    path_in_names = quote(path, safe="")
    parts = [path_in_names[i : i + LENGTH] for i in range(0, len(path_in_names), LENGTH)]
    digest = hashlib.sha256(options).hexdigest()[:16]
    return folder.joinpath(COPIES, digest, *parts, f"{ROWS}{ending}")


def _copy(folder: Path, dataset: Dataset, path: str) -> Path:
    """Return the private copy of a file, made on the first call.

    It gets its name when it is complete, so a copy that failed is never read.
    """
    encoding = dataset.encoding or "utf-8"
    is_text = dataset.format == "csv"
    copy = _place(folder, dataset, path)
    if copy.exists():
        return copy
    copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = copy.with_suffix(".part")
    try:
        if path.casefold().endswith(ZIPPED):
            with zipfile.ZipFile(path) as box:
                size = box.getinfo(dataset.table).file_size
            if size > shutil.disk_usage(folder).free:
                raise OSError(errno.ENOSPC, f"it unpacks to {size:,} bytes")
        with (
            unpacked(path, dataset.table) as source,
            os.fdopen(os.open(part, NEW_FILE, 0o600), "wb") as target,
        ):
            if is_text:
                _transcode(source, target, encoding)
            else:
                shutil.copyfileobj(source, target, BLOCK)
    except UnicodeError as e:
        raise DatasetError(
            f"{dataset.name} is not {encoding.replace('utf-', 'UTF-')}; name its encoding with "
            "--encoding, such as UTF-8, cp1252 (Excel on Windows) or latin-1",
        ) from e
    except DAMAGES as e:
        if isinstance(e, OSError) and e.errno in FULL_DISK:
            raise EngineError(
                f"the disk for temporary files is full, while reading {dataset.name}; name a "
                "folder with more room with --temp",
                detail=str(e),
            ) from e
        raise DatasetError(
            f"{dataset.name} cannot be unpacked: it is damaged, or has a password", detail=str(e)
        ) from e
    part.replace(copy)
    return copy


@contextmanager
def unpacked(path: str, table: str) -> Iterator[Readable]:
    """Open the bytes of a file, unpacked; in a .zip those of a ``table``."""
    if path.casefold().endswith(ZIPPED):
        with zipfile.ZipFile(path) as box, box.open(table) as member:
            yield member
    elif path.casefold().endswith(".gz"):
        with gzip.open(path) as source:
            yield source
    elif path.casefold().endswith(".zst"):
        import pyarrow as pa

        with pa.CompressedInputStream(pa.OSFile(path), "zstd") as stream:
            yield stream
    else:
        with Path(path).open("rb") as file:
            yield file


def _transcode(source: Readable, target: IO[bytes], encoding: str) -> None:
    """Write text that is in ``encoding`` to ``target``: in UTF-8, without a byte order mark."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    is_first = True
    while block := source.read(BLOCK):
        text = decoder.decode(block)
        if is_first and text:
            text, is_first = text.removeprefix("\ufeff"), False
        target.write(text.encode())
    target.write(decoder.decode(b"", final=True).encode())
