"""Extras, such as ``charts``: the command that installs one as qifsql itself was installed.

If a package does not come from an index, pip stores beside it where it came from (PEP 610).
"""

import json
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname


def command(extra: str) -> str:
    """Return the command that installs an extra of this installation, for the current folder."""
    try:
        text = distribution("qifsql").read_text("direct_url.json")
    except PackageNotFoundError:  # the sources on PYTHONPATH
        text = None
    origin: dict[str, Any] = json.loads(text) if text else {}  # empty for a package of an index
    url = str(origin.get("url", ""))
    options = []
    if urlsplit(url).scheme == "file":  # a clone, or a wheel
        requirement = f"{_near(Path(url2pathname(urlsplit(url).path)))}[{extra}]"
        options = ["--editable"] if origin.get("dir_info", {}).get("editable") else []
    elif url:
        version = origin.get("vcs_info", {})
        address = f"{version['vcs']}+{url}@{version['commit_id']}" if version else url
        requirement = f"qifsql[{extra}] @ {address}"
    else:
        requirement = f"qifsql[{extra}]"
    python, pip = Path(sys.executable or "python"), shutil.which("pip")
    # pip as a command may be that of another environment: it has to lie beside this Python.
    is_of_environment = pip and Path(pip).parent == python.parent
    call = ["pip"] if is_of_environment else [_near(python).removeprefix("./"), "-m", "pip"]
    return shlex.join([*call, "install", *options, requirement])


def _near(path: Path) -> str:
    """Return a path in the current folder relative to it, and any other path as it is."""
    try:
        relative = path.relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):  # elsewhere; the current folder was removed
        return str(path)
    return "." if relative == "." else f"./{relative}"
