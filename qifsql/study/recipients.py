"""Recipients of a release in a policy: what each may know and hold, and the risk that is accepted.

The tables ``[[recipient]]`` are shown in ``qifsql.study.policy``. ``knows`` has, for each
quasi-identifier, the chance that the recipient knows it of a person (1: surely), or a law of
``attack --knows``. ``holds`` are files of people: registers, and earlier releases. The risk is the
chance of an attempt times that of success: ``maximum`` of the person at most risk, ``average`` of
all people. After ``until`` the assessment holds no longer, and the policy is not met. Source: M218;
ISO/IEC 27559:2022, 7.3.
"""

import datetime
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from qifsql.adversary.laws import Law, as_decimal, laws
from qifsql.adversary.rule_text import MARKS, in_quotes
from qifsql.data.toml_lines import Lines
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.study.recipient_presets import Preset, preset

RISKS = ("maximum", "average")  # of people
MARK = "-- Of recipients"  # above the SQL that is about recipients, with their numbers
KEYS = ("name", "preset", "knows", "holds", "attempt", "at_most", "until")


@dataclass(frozen=True, kw_only=True)
class Recipient:
    """The knowledge of a recipient, how likely an attempt is, and the risk that is accepted.

    ``chances`` are those of knowing a quasi-identifier, above 0, by its name; ``laws`` are those of
    quasi-identifiers that are known with errors. ``holds`` are files of people. ``limits`` bound
    the risks of ``RISKS``. ``until`` is the last day for which the assessment holds, None for no
    end. ``preset`` says which values are from a published text.
    """

    number: int
    name: str
    chances: Mapping[str, Fraction]
    laws: tuple[Law, ...]
    holds: tuple[Path, ...]
    attempt: float
    limits: Mapping[str, float]
    until: datetime.date | None
    preset: Preset | None = None

    @property
    def qids(self) -> tuple[str, ...]:
        """Return the quasi-identifiers that may be known."""
        return (*self.chances, *(law.column for law in self.laws))

    @property
    def files(self) -> tuple[str, ...]:
        """Return the registers that are held, and the tables of laws."""
        return (*map(str, self.holds), *(law.table for law in self.laws if law.table))

    @property
    def is_sure(self) -> bool:
        """Return whether every quasi-identifier is known surely, and as it is."""
        return not self.laws and all(chance == 1 for chance in self.chances.values())

    @property
    def knowledge(self) -> str:
        """Return all that is known as laws: a chance p of knowing is ``missing=1-p``."""
        missing = {name: 1 - p for name, p in self.chances.items() if p < 1}
        texts = [
            f"{in_quotes(name, MARKS + '=')}:missing={as_decimal(p)}" for name, p in missing.items()
        ]
        return "; ".join([*texts, *(law.plain() for law in self.laws)])

    def without(self, names: Collection[str]) -> "Recipient":
        """Return the recipient without the quasi-identifiers of these names, and without files."""
        chances = {name: chance for name, chance in self.chances.items() if name not in names}
        laws = tuple(law for law in self.laws if law.column not in names)
        return replace(self, chances=chances, laws=laws, holds=())

    def plain(self) -> dict[str, Any]:
        """Return all of this as plain data, for the manifest."""
        return {
            "name": self.name,
            "chances": {name: str(chance) for name, chance in self.chances.items()},
            "laws": [law.plain() for law in self.laws],
            "holds": [str(file) for file in self.holds],
            "attempt": self.attempt,
            "at_most": dict(self.limits),
            "until": None if self.until is None else self.until.isoformat(),
            **({} if self.preset is None else {"preset": self.preset.plain()}),
        }

    def has_expired(self, today: datetime.date) -> bool:
        """Return whether the day until which the assessment holds is before ``today``."""
        return self.until is not None and self.until < today


def parse(data: Mapping[str, Any], folder: Path, lines: Lines) -> tuple[Recipient, ...]:
    """Return the recipients of a policy's data; files are in ``folder``.

    Raises LineError with the line of a wrong value, or of a name that there is twice.
    """
    tables = data.get("recipient", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise lines.wrong("recipients are tables of a list: write [[recipient]]", "recipient")
    by_name: dict[str, Recipient] = {}
    for n, table in enumerate(tables):
        recipient = _recipient(n, table, folder, lines)
        if recipient.name in by_name:
            message = f"there are two recipients {quoted(recipient.name)}; name each once"
            raise lines.wrong(message, "recipient", n, "name")
        by_name[recipient.name] = recipient
    return tuple(by_name.values())


def _recipient(n: int, table: Mapping[str, Any], folder: Path, lines: Lines) -> Recipient:
    """Return the recipient in the ``n``-th table (from 0), checked."""
    here = ("recipient", n)
    for key in table:
        if key not in KEYS:
            message = f"a recipient has no {quoted(key)}{did_you_mean(key, KEYS)}"
            raise lines.wrong(message, *here, key)
    name = table.get("name")
    if not isinstance(name, str) or not name.strip():
        raise lines.wrong(f'recipient {n + 1} has no name; write name = "university"', *here)
    chances, written = _knowledge(table.get("knows", {}), lines, *here, "knows")
    known_laws = tuple(  # the table of a law is in the folder of the policy
        replace(law, table=str(folder / law.table)) if law.table else law for law in written
    )
    files = table.get("holds", [])
    if not isinstance(files, list) or not all(isinstance(f, str) and f.strip() for f in files):
        raise lines.wrong("holds is a list of files in quotes", *here, "holds")
    if not (chances or known_laws or files):
        message = f"{quoted(name)} knows and holds nothing; write knows = {{ sex = 1 }}, or holds"
        raise lines.wrong(message, *here)
    attempt = _share(table["attempt"], lines, *here, "attempt") if "attempt" in table else None
    if attempt == 0:
        raise lines.wrong("attempt is above 0: who never tries is no recipient", *here, "attempt")
    limits, taken = _limits(table, name, lines, *here), None
    if "preset" in table:
        try:
            taken = preset(table["preset"], attempt, limits)
        except InputError as e:
            raise lines.wrong(str(e), *here, "preset") from e
        attempt, limits = taken.attempt, dict(taken.limits)
    until = table.get("until")
    if until is not None and type(until) is not datetime.date:
        raise lines.wrong("until is a day without quotes, as 2028-12-31", *here, "until")
    return Recipient(
        number=n + 1,
        name=name,
        chances=chances,
        laws=known_laws,
        holds=tuple(folder / file for file in files),
        attempt=1.0 if attempt is None else attempt,
        limits=limits,
        until=until,
        preset=taken,
    )


def _knowledge(
    value: object, lines: Lines, *here: str | int
) -> tuple[dict[str, Fraction], tuple[Law, ...]]:
    """Return the chances of knowing quasi-identifiers, and the laws of those known with errors.

    What is known with chance 0 is left out.
    """
    if not isinstance(value, dict):
        message = 'knows is a table of quasi-identifiers: { birth_date = 0.9, ward = "right=0.8" }'
        raise lines.wrong(message, *here)
    chances: dict[str, Fraction] = {}
    known_laws: list[Law] = []
    for name, text in value.items():
        if not isinstance(text, str):
            chances[name] = Fraction(str(_share(text, lines, *here, name)))
            continue
        try:
            known_laws += laws(f"{in_quotes(name, MARKS + '=')}:{text}")
        except InputError as e:
            raise lines.wrong(str(e), *here, name) from e
    return {name: chance for name, chance in chances.items() if chance}, tuple(known_laws)


def _limits(
    recipient: Mapping[str, Any], name: str, lines: Lines, *here: str | int
) -> dict[str, float]:
    """Return the bounds of the risks of a recipient of this name; a preset may have others."""
    if "preset" in recipient and "at_most" not in recipient:
        return {}
    value = recipient.get("at_most")
    if not isinstance(value, dict) or not value or not set(value) <= set(RISKS):
        message = (
            f"the accepted risk of {quoted(name)} is a table: write "
            "at_most = { maximum = 0.05, average = 0.01 }, or one of them, or a preset"
        )
        raise lines.wrong(message, *here, *(["at_most"] if value is not None else []))
    return {risk: _share(value[risk], lines, *here, "at_most", risk) for risk in value}


def _share(value: object, lines: Lines, *here: str | int) -> float:
    """Return a probability from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        message = f"{here[-1]} is a probability from 0 to 1 without quotes, such as 0.05"
        raise lines.wrong(message, *here)
    return float(value)


def marked(sql: str, numbers: Sequence[int]) -> str:
    """Return statements below a comment that says of which recipients they are, by numbers."""
    return f"{MARK} {', '.join(map(str, numbers))}:\n{sql}"


def sql_of(number: int, sql: str) -> str:
    """Return statements without those that are only of other recipients than that number."""
    first, *parts = re.split(rf"^{MARK} ([0-9, ]+):\n", sql, flags=re.MULTILINE)
    theirs = [
        part
        for numbers, part in zip(parts[::2], parts[1::2], strict=True)
        if number in map(int, numbers.split(", "))
    ]
    return "".join([first, *theirs])


def names(recipients: Sequence[Recipient]) -> tuple[str, ...]:
    """Return the quasi-identifiers of all recipients, each once."""
    return tuple(dict.fromkeys(name for recipient in recipients for name in recipient.qids))
