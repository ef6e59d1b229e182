"""What may stand in a study: its tables, their keys, and what each key holds."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Final

from qifsql.collection import ABSENT, ABSENT_RULES
from qifsql.errors import quoted
from qifsql.export import ENDINGS
from qifsql.policy import UNNAMED
from qifsql.spec import NULL_RULES


@dataclass(frozen=True)
class Form:
    """What a key holds, in words, and how it is read: None where the value is something else."""

    says: str
    read: Callable[[Any], Any]


Forms = Mapping[str, Form]
FORMATS = tuple(ending[1:] for ending in ENDINGS)


def one_of(*names: str) -> Form:
    """One text of a few."""
    says = f"{', '.join(map(quoted, names[:-1]))} or {quoted(names[-1])}"
    return Form(says, lambda given: given if given in names else None)


def _text(given: Any) -> str | None:
    return given if isinstance(given, str) and "\0" not in given else None


def _texts(given: Any) -> tuple[str, ...] | None:
    several = given if isinstance(given, list) else [given] if given != "" else []
    return tuple(several) if all(_text(text) is not None for text in several) else None


def _number(given: Any) -> int | float | None:
    number = isinstance(given, int | float) and not isinstance(given, bool)
    return given if number and math.isfinite(given) else None


def _numbers(given: Any) -> tuple[int | float, ...] | None:
    several = given if isinstance(given, list) else [given]
    return tuple(several) if all(_number(number) is not None for number in several) else None


def _share(given: Any) -> float | None:
    number = _number(given)
    return number if number is not None and 0 <= number <= 1 else None


def _seconds(given: Any) -> float | None:
    number = _number(given)
    return number if number is not None and number > 0 else None


def _whole(given: Any) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _sizes(given: Any) -> str | None:
    return str(given) if _whole(given) is not None else _text(given)


def _formats(given: Any) -> tuple[str, ...] | None:
    several = _texts(given)
    fits = several and all(name in FORMATS for name in several)
    return tuple(dict.fromkeys(several)) if several and fits else None


def _target(given: Any) -> dict[str, object] | None:
    """Column -> value; a missing value is ``{missing = true}``, for TOML has no word for it."""
    if not isinstance(given, dict) or not given:
        return None
    found: dict[str, object] = {}
    for name, value in given.items():
        if value == {"missing": True}:
            found[name] = None
        elif value == {"absent": True}:
            found[name] = ABSENT
        elif isinstance(value, str | int | float | date | datetime | time):
            found[name] = value
        else:
            return None
    return found


def _rules(given: Any) -> tuple[Mapping[str, Any], ...] | None:
    """Rules as a policy has them; what they say is read as a policy."""
    rules = isinstance(given, list) and all(isinstance(rule, dict) for rule in given)
    return tuple(given) if rules and given else None


TEXT: Final = Form("a text in quotes", _text)
NAMES: Final = Form("a text in quotes or a list of them", _texts)
FLAG: Final = Form("true or false", lambda given: given if isinstance(given, bool) else None)
NUMBERS: Final = Form("a number or a list of numbers", _numbers)
SHARE: Final = Form("a number from 0 to 1", _share)
TARGET: Final = Form("a table such as { age = 49, city = { missing = true } }", _target)

CSV: Final[Forms] = {"all_varchar": FLAG, "delimiter": TEXT, "encoding": TEXT}
ROLES: Final[Forms] = {
    "qids": NAMES,
    "secret": NAMES,
    "key": NAMES,
    "weight": TEXT,
    "where": TEXT,
    "null": one_of(*NULL_RULES),
}
JOINED: Final[Forms] = {"absent": one_of(*ABSENT_RULES), "wave": TEXT}

DATASET: Final[Forms] = {"path": TEXT, **CSV, **ROLES}
COLLECTION: Final[Forms] = {"datasets": NAMES, **ROLES, **JOINED}
ENTRY: Final[Forms] = {"name": TEXT, "dataset": NAMES, **ROLES, **JOINED}
ATTACK: Final[Forms] = {
    **ENTRY,
    "model": NAMES,
    "target": TARGET,
    "member": TEXT,
    "population": TEXT,
    "gain": NAMES,
    "prior": TEXT,
    "by": TEXT,
    "measures": NAMES,
    "histogram": FLAG,
    "thresholds": NUMBERS,
    "quantiles": NUMBERS,
    "progressive": FLAG,
    "link": NAMES,
    "presence": SHARE,
    "truth": NAMES,
    "one_to_one": FLAG,
    "unit": TEXT,
    "store": TEXT,
}
SWEEP: Final[Forms] = {
    **ENTRY,
    "sizes": Form('a number or a text such as "1-4"', _sizes),
    "subsets": NAMES,
    "releases": FLAG,
    "threshold": SHARE,
    "search": FLAG,
    "sample": SHARE,
    "histogram": FLAG,
    "time_budget": Form("a number of seconds above 0", _seconds),
}
CHECK: Final[Forms] = {
    **ENTRY,
    "policy": TEXT,
    "rule": Form("a list of rules; write [[check.rule]]", _rules),
    "unnamed": one_of(*UNNAMED),
    "baseline": TEXT,
    "target": TARGET,
    "member": TEXT,
    "population": TEXT,
    "prior": TEXT,
    "by": TEXT,
}
ENTRIES: Final[Mapping[str, Forms]] = {"attack": ATTACK, "sweep": SWEEP, "check": CHECK}
OUTPUT: Final[Forms] = {
    "folder": TEXT,
    "formats": Form(f"a list of {', '.join(map(quoted, FORMATS))}", _formats),
}
SEED: Final = Form("a whole number", _whole)
TOP: Final = ("seed", "output", "datasets", "collections", "gains", *ENTRIES)
