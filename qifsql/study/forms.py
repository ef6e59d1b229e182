"""The format of a study: its tables, their keys, and the form of each key.

The keys of an entry are the options that its command declares (``OPTIONS`` in its ``spec.py``).
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Final, TypedDict

from qifsql.adversary.options import Households, Joining, Knowledge, Sets
from qifsql.data.option import DETAILS, NAMES, TEXT, WHOLE, Form, Option, declared
from qifsql.data.reading import Reading
from qifsql.errors import quoted
from qifsql.results.storage import ENDINGS


class Occasion(TypedDict, total=False):
    """Options: who gets the release, and for what, which stand on the first page of a report."""

    recipient: Annotated[
        str | None,
        Option(
            TEXT,
            "Who gets the release; of a statement: this recipient of the policy alone.",
            panel=DETAILS,
        ),
    ]
    purpose: Annotated[
        str | None,
        Option(TEXT, "For what it is released; on the first page of the report.", panel=DETAILS),
    ]


Forms = Mapping[str, Form]
FORMATS = tuple(ending[1:] for ending in ENDINGS)
ENTRIES: Final = ("attack", "sweep", "tables", "synthetic", "suda", "check")
"""The commands that a study can contain."""


def forms(options: type) -> dict[str, Form]:
    """Return the keys of studies for declared options, and the form of each key."""
    return {name: option.form for name, option in declared(options).items() if option.studied}


@cache
def of_entry(kind: str) -> Forms:
    """Return the keys of an entry of a kind."""
    model = {"model": NAMES} if kind == "attack" else {}
    return {"name": TEXT, "dataset": NAMES, **model, **forms(options_of(kind))}


def options_of(kind: str) -> type:
    """Return the options that the command of an entry declares."""
    options: type = import_module(f"qifsql.commands.{kind}.spec").OPTIONS
    return options


def _formats(content: Any) -> tuple[str, ...] | None:
    names = NAMES.read(content)
    fits = names and all(name in FORMATS for name in names)
    return tuple(dict.fromkeys(names)) if names and fits else None


ROLES: Final[Forms] = {**forms(Knowledge), "key": NAMES, **forms(Sets), **forms(Households)}
JOINED: Final[Forms] = {n: form for n, form in forms(Joining).items() if n != "key"}

READING: Final[Forms] = forms(Reading)
DATASET: Final[Forms] = {"path": TEXT, **READING, **ROLES}
COLLECTION: Final[Forms] = {"datasets": NAMES, **ROLES, **JOINED}
OUTPUT: Final[Forms] = {
    "folder": TEXT,
    "formats": Form(f"a list of {', '.join(map(quoted, FORMATS))}", _formats),
}
REPORT: Final[Forms] = {
    **{"out": TEXT, "lang": TEXT, "title": TEXT, "people": TEXT, "minimum": WHOLE},
    **forms(Occasion),
}
"""The options of ``qifsql report`` that a study may set."""
SEED: Final = WHOLE
TOP: Final = ("seed", "output", "report", "datasets", "collections", "gains", *ENTRIES)
