"""What may stand in a study: its tables, their keys, and what each key holds."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Final

from qifsql.adversary.spec import NULL_RULES
from qifsql.data.collection import ABSENT, ABSENT_RULES
from qifsql.errors import quoted
from qifsql.results.storage import ENDINGS
from qifsql.study.policy import UNNAMED


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
    return Form(says, lambda content: content if content in names else None)


def _text(content: Any) -> str | None:
    return content if isinstance(content, str) and "\0" not in content else None


def _texts(content: Any) -> tuple[str, ...] | None:
    several = content if isinstance(content, list) else [content] if content != "" else []
    return tuple(several) if all(_text(text) is not None for text in several) else None


def _number(content: Any) -> int | float | None:
    number = isinstance(content, int | float) and not isinstance(content, bool)
    return content if number and math.isfinite(content) else None


def _numbers(content: Any) -> tuple[int | float, ...] | None:
    several = content if isinstance(content, list) else [content]
    return tuple(several) if all(_number(number) is not None for number in several) else None


def _share(content: Any) -> float | None:
    number = _number(content)
    return number if number is not None and 0 <= number <= 1 else None


def _seconds(content: Any) -> float | None:
    number = _number(content)
    return number if number is not None and number > 0 else None


def _whole(content: Any) -> int | None:
    return content if isinstance(content, int) and not isinstance(content, bool) else None


def _sizes(content: Any) -> str | None:
    return str(content) if _whole(content) is not None else _text(content)


def _formats(content: Any) -> tuple[str, ...] | None:
    several = _texts(content)
    fits = several and all(name in FORMATS for name in several)
    return tuple(dict.fromkeys(several)) if several and fits else None


def _target(content: Any) -> dict[str, object] | None:
    """Column -> value; a missing value is ``{missing = true}``, for TOML has no word for it."""
    if not isinstance(content, dict) or not content:
        return None
    target: dict[str, object] = {}
    for name, value in content.items():
        if value == {"missing": True}:
            target[name] = None
        elif value == {"absent": True}:
            target[name] = ABSENT
        elif isinstance(value, str | int | float | date | datetime | time):
            target[name] = value
        else:
            return None
    return target


def _rules(content: Any) -> tuple[Mapping[str, Any], ...] | None:
    """Rules as a policy has them; what they say is read as a policy."""
    rules = isinstance(content, list) and all(isinstance(rule, dict) for rule in content)
    return tuple(content) if rules and content else None


TEXT: Final = Form("a text in quotes", _text)
NAMES: Final = Form("a text in quotes or a list of them", _texts)
FLAG: Final = Form("true or false", lambda content: content if isinstance(content, bool) else None)
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
