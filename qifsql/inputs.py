"""Input files: how they are named, and what is refused before any of them is read."""

import os
from collections.abc import Iterator, Sequence
from typing import Any


def path_text(source: object) -> str:
    """Return the path of an input as text.

    Raises TypeError for anything else. It names only the type: the text of a data frame is its
    rows.
    """
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    if isinstance(source, str):
        return source
    raise TypeError(
        f"expected a path (str or Path), not {type(source).__name__}; write a data frame to a "
        "Parquet file and name that file"
    )


def several_paths(sources: object) -> list[Any]:
    """Return the paths of a list or iterator, or the single path that it is.

    A data frame counts as single: its elements are cells.
    """
    if isinstance(sources, Sequence | Iterator) and not isinstance(sources, str | bytes):
        return list(sources)
    return [sources]
