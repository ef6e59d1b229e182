"""Checksums inside input files: a file that does not match its checksum is refused.

Parquet may have a CRC for each page and gzip has one for each member; DuckDB 2.0.0 checks
neither. (It checks those of zstd and of its own files.)
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sqlglot import exp

from qifsql.data.readers import calling, escaped
from qifsql.errors import DatasetError

BLOCK = 2**20  # bytes that are read at a time
HEADER = 2**13  # bytes in which the header of a page is looked for first
LONGEST_HEADER = 2**26  # bytes in which it is looked for last

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET = range(1, 11)  # types of Thrift
STRUCT = 12
PAGE_SIZE, PAGE_CRC = 3, 4  # fields of the header of a page: bytes after it, and their CRC-32


def check_gzip(path: str) -> None:
    """Read all members of a gzip file; DatasetError if one is damaged."""
    try:
        with Path(path).open("rb") as file:
            _read_members(file)
    except (zlib.error, EOFError) as e:
        raise DatasetError(
            f"{path} is damaged: its contents do not match its gzip checksum; copy it again"
        ) from e
    except OSError as e:
        raise DatasetError(f"{path} cannot be read: {e.strerror}; check the file") from e


def _read_members(file: BinaryIO) -> None:
    """Unpack all members without keeping their contents; zeros may follow the last one.

    A member ends inside of a block, so ``data`` is what was read and not yet unpacked. EOFError if
    the file ends before a member does.
    """
    data = file.read(BLOCK)
    while data:
        member = zlib.decompressobj(wbits=31)  # checks length and CRC
        while not member.eof:
            if not data:
                raise EOFError
            member.decompress(data, BLOCK)
            data = member.unconsumed_tail or (b"" if member.eof else file.read(BLOCK))
            while not data and not member.eof and member.decompress(b"", BLOCK):
                pass  # what zlib still holds of the blocks before
        data = member.unused_data.lstrip(b"\0")
        while not data and (more := file.read(BLOCK)):
            data = more.lstrip(b"\0")


def chunks_query(path: str, *, first: bool) -> exp.Select:
    """Return the query for the column chunks of a Parquet file, or only for the ``first``."""
    source = calling("parquet_metadata", escaped(path))
    columns = ("dictionary_page_offset", "data_page_offset", "total_compressed_size")
    query = exp.select(*columns).from_(source)
    return query.limit(1) if first else query


def check_pages(path: str, rows: list[tuple[int | None, int | None, int | None]]) -> bool:
    """Check the pages of column chunks of Parquet; return whether any page has a checksum.

    A row is a chunk: where its dictionary and its data begin, and its size (see ``chunks_query``).
    DatasetError if a page does not match its checksum.
    """
    has_checksum = False
    try:
        with Path(path).open("rb") as file:
            for dictionary_offset, data_offset, size in rows:
                begin = min(offset for offset in (dictionary_offset, data_offset) if offset)
                for start, length, crc in _pages(file, begin, size or 0):
                    if crc is None:
                        continue
                    has_checksum = True
                    if _crc(file, start, length) != crc & 0xFFFFFFFF:  # stored with a sign
                        raise _damaged(path)
    except (IndexError, ValueError) as e:  # the bytes are no pages
        if has_checksum:
            raise _damaged(path) from e
    except OSError as e:
        raise DatasetError(f"{path} cannot be read: {e.strerror}; check the file") from e
    return has_checksum


def _damaged(path: str) -> DatasetError:
    """Return the error of a file with a page that was changed."""
    return DatasetError(
        f"{path} is damaged: a page does not fit its checksum; copy or export the file again"
    )


def _crc(file: BinaryIO, start: int, length: int) -> int:
    """Return the CRC-32 of a part of a file."""
    file.seek(start)
    crc = 0
    while length > 0 and (data := file.read(min(length, BLOCK))):
        crc = zlib.crc32(data, crc)
        length -= len(data)
    return crc


def _pages(file: BinaryIO, start: int, size: int) -> Iterator[tuple[int, int, int | None]]:
    """Yield start, length and checksum (None: it has none) of each page in ``size`` bytes."""
    end = start + size
    while start < end:
        header, header_length = _header(file, start)
        length, crc = header.get(PAGE_SIZE, -1), header.get(PAGE_CRC)
        if length < 0:
            raise ValueError("no page")
        yield start + header_length, length, crc
        start += header_length + length


def _header(file: BinaryIO, start: int) -> tuple[dict[int, int], int]:
    """Return the integers of the page header at ``start`` by field number, and its length."""
    size = HEADER
    while True:
        file.seek(start)
        data = file.read(size)
        try:
            reader = _Compact(data)
            return reader.struct(), reader.place
        except IndexError:  # the header is longer than what was read, unless the file ends
            if len(data) < size or size > LONGEST_HEADER:
                raise
            size *= 8


class _Compact:
    """A reader of Thrift's compact protocol; IndexError if the data end too early."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def struct(self) -> dict[int, int]:
        """Read a struct; return its integer fields by their numbers, and skip all others."""
        numbers: dict[int, int] = {}
        field = 0
        while head := self._byte():  # a byte 0 ends the struct
            step, type_ = divmod(head, 16)
            field = field + step if step else self._zigzag()
            value = self._value(type_)
            if value is not None:
                numbers[field] = value
        return numbers

    def _value(self, kind: int) -> int | None:
        """Read a value of a type of Thrift; return it if it is an integer, else None."""
        if kind in (I16, I32, I64):
            return self._zigzag()
        if kind == BYTE:
            self._skip(1)
        elif kind == DOUBLE:
            self._skip(8)
        elif kind == BINARY:
            self._skip(self._varint())
        elif kind in (LIST, SET):
            length, item = divmod(self._byte(), 16)
            for _ in range(self._varint() if length == 15 else length):  # 15: the length follows
                self._value(BYTE if item in (TRUE, FALSE) else item)
        elif kind == STRUCT:
            self.struct()
        elif kind not in (TRUE, FALSE):
            raise ValueError("no field")
        return None

    def _skip(self, length: int) -> None:
        """Pass over so many bytes."""
        self.place += length
        if self.place > len(self.data):
            raise IndexError

    def _byte(self) -> int:
        """Read a byte."""
        self.place += 1
        return self.data[self.place - 1]

    def _varint(self) -> int:
        """Read a whole number of any length, seven bits in each byte."""
        shift = number = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def _zigzag(self) -> int:
        """Read a whole number with a sign, which is in its last bit."""
        number = self._varint()
        return (number >> 1) ^ -(number & 1)
