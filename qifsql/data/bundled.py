"""Files that come with qifsql: ``sql/`` and ``data-samples/``."""

from functools import cache
from pathlib import Path

from qifsql.errors import InternalError


@cache
def bundled(name: str) -> Path:
    """Return the folder of a name: inside an installed package, or next to it in the source tree.

    Raises:
        InternalError: The installation lacks it.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise InternalError(f"the folder {name}/ is missing from this installation; reinstall qifsql")
