"""Private copies of text in UTF-8, and of a table in a .zip, which DuckDB then reads.

The copies are in the engine's temporary folder, and are removed with it.
"""

import codecs
import gzip
import hashlib
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from qifsql.data.dataset import Dataset
from qifsql.data.formats import ENDINGS, ZIPPED
from qifsql.engine.protocol import Engine
from qifsql.errors import DatasetError

BLOCK = 1 << 20  # bytes or characters that are copied at once
DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


class Readable(Protocol):
    """A file that is read in blocks of bytes."""

    def read(self, size: int = ..., /) -> bytes:
        """Return the next bytes, empty at the end."""


def decoded(engine: Engine, dataset: Dataset) -> tuple[str, ...]:
    """Return the private copies that DuckDB reads in place of the files; empty if it reads these.

    Raises DatasetError if a file is not in its encoding, or is damaged.
    """
    if not dataset.is_decoded:
        return ()
    return tuple(str(_copy(engine, dataset, path)) for path in dataset.paths)


def _copy(engine: Engine, dataset: Dataset, path: str) -> Path:
    """Return the private copy of a file, made on the first call."""
    encoding = dataset.encoding or "utf-8"
    place = "\0".join((path, dataset.table, encoding)).encode(errors="surrogateescape")
    name = dataset.table if path.casefold().endswith(ZIPPED) else path
    ending = next(e for es in ENDINGS.values() for e in es if name.casefold().endswith(e))
    is_text = dataset.format == "csv"
    ending = ".csv" if is_text else ending
    copy = engine.scratch / f"text_{hashlib.sha256(place).hexdigest()[:16]}{ending}"
    if copy.exists():
        return copy
    part = copy.with_suffix(".part")
    try:
        with _opened(path, dataset) as source, part.open("wb") as target:
            if is_text:
                _transcode(source, target, encoding)
            else:
                shutil.copyfileobj(source, target, BLOCK)
    except UnicodeError as e:
        raise DatasetError(
            f"{dataset.name} is not {encoding}; name its encoding with --encoding, such as utf-8, "
            "cp1252 (Excel on Windows) or latin-1",
        ) from e
    except DAMAGES as e:
        raise DatasetError(
            f"{dataset.name} cannot be unpacked or copied: it is damaged, has a password, or there "
            "is no space for temporary files",
            detail=str(e),
        ) from e
    part.replace(copy)
    return copy


@contextmanager
def _opened(path: str, dataset: Dataset) -> Iterator[Readable]:
    """Open the bytes of a file, unpacked."""
    if path.casefold().endswith(ZIPPED):
        with zipfile.ZipFile(path) as box, box.open(dataset.table) as member:
            yield member
    elif path.casefold().endswith(".gz"):
        with gzip.open(path) as unpacked:
            yield unpacked
    elif path.casefold().endswith(".zst"):
        import pyarrow as pa

        with pa.CompressedInputStream(pa.OSFile(path), "zstd") as stream:
            yield stream
    else:
        with Path(path).open("rb") as file:
            yield file


def _transcode(source: Readable, target: IO[bytes], encoding: str) -> None:
    """Write text in UTF-8 without a mark at its beginning."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    is_first = True
    while block := source.read(BLOCK):
        text = decoder.decode(block)
        if is_first and text:
            text, is_first = text.removeprefix("\ufeff"), False
        target.write(text.encode())
    target.write(decoder.decode(b"", final=True).encode())
