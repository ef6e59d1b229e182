"""Choices of a person on the page, and the commands that do the same."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from qifsql.commands.attack.attack import attack
from qifsql.commands.describe.view import field as listed
from qifsql.commands.open import fields
from qifsql.data.types import INTEGERS, family

ATTACK = fields.options_of(attack)  # the declared options of an attack
DROP = "drop"  # the last step of a quasi-identifier: it is left out of the release
WIDTHS = ("2", "5", "10", "20", "50", "100", "1000", "10000", "100000")
BROKEN_WIDTHS = ("0.5", "1", "5", "10", "50", "100", "1000")
CHARACTERS = ("8", "6", "5", "4", "3", "2", "1")
MONTHS = ("month", "quarter", "year")
STEPS: Mapping[str, tuple[str, ...]] = {
    "VARCHAR": CHARACTERS,
    "ENUM": CHARACTERS,
    "DATE": MONTHS,
    "TIME": ("minute", "hour"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), BROKEN_WIDTHS),
}
"""The steps of a column by its type, finest first: HOW in NAME:HOW."""
CODES_FROM = 100  # values from which a column of numbers may be a code with a long number of digits


def steps_of_column(type_: str, distinct: int) -> tuple[str, ...]:
    """Return the steps of a column: "" (as it is), coarser and coarser, ``DROP`` (left out).

    They depend on the type and the number of distinct values alone, so that they reveal no value.

    >>> steps_of_column("TINYINT", 31)
    ('', '2', '5', '10', '20', 'drop')
    >>> steps_of_column("BOOLEAN", 2)
    ('', 'drop')
    """
    kind = family(type_)
    coarser = STEPS.get(kind, ())
    if kind in INTEGERS and kind != "UHUGEINT" and distinct > 2:  # nothing lies between two values
        coarser = tuple(w for w in WIDTHS if int(w) <= distinct or distinct >= CODES_FROM)
    if kind.startswith("TIMESTAMP"):
        coarser = ("hour", "day", "week", *MONTHS)
    return ("", *coarser, DROP)


@dataclass(frozen=True)
class Choices:
    """Roles of columns, steps of quasi-identifiers, and further options of an attack.

    ``steps`` has HOW of NAME:HOW, or ``DROP``, by the name of a quasi-identifier; without one
    it is released as it is. ``options`` has the texts that were typed, by the name of the option.
    """

    qids: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    steps: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_changed(self) -> bool:
        """Return whether the release has a coarser quasi-identifier, or lacks one."""
        return bool(self.changes)

    @property
    def changes(self) -> tuple[str, ...]:
        """Return the changes of the release, as ``compare`` and ``anonymise`` read them."""
        return tuple(
            f"{DROP}={name}" if how == DROP else f"{name}:{how}"
            for name in self.qids
            if (how := self.steps.get(name, ""))
        )

    @property
    def knowledge(self) -> tuple[str, ...]:
        """Return the quasi-identifiers of the changed release: ``NAME``, or coarser ``NAME:HOW``.

        They are what the adversary knows. It is empty if all of them are left out.
        """
        names = []
        for name in self.qids:
            how = self.steps.get(name, "")
            if how != DROP:
                names.append(f"{name}:{how}" if how else name)
        return tuple(names)

    @property
    def models(self) -> str:
        """Return re-identification (crs), and inference (cas) if there is a secret."""
        return "crs,cas" if self.secrets else "crs"

    @property
    def before(self) -> "Choices":
        """Return the same choices without changes of the release."""
        return Choices(self.qids, self.secrets, {}, self.options)

    def attack_words(self, file: Sequence[str]) -> list[str]:
        """Return the words of the attack on the changed release; empty if nothing is known."""
        if not self.knowledge:
            return []
        more = fields.typed_words(ATTACK, self.options)
        return ["attack", self.models, *file, *self._roles(self.knowledge), *more]

    def attack_arguments(self) -> dict[str, Any]:
        """Return the arguments of the same attack in Python."""
        more = fields.arguments(ATTACK, self.options, self.knowledge)
        return {"qids": list(self.knowledge), "secret": list(self.secrets), **more}

    def compare_words(self, file: Sequence[str]) -> list[str]:
        """Return the words that measure what the changes save and cost."""
        return ["compare", *file, *self._roles(self.qids), *self._people, *self._changes("-c")]

    def sweep_words(self, file: Sequence[str], threshold: str) -> list[str]:
        """Return the words of a sweep of the changed release."""
        bound = ["--threshold", threshold] if threshold else []
        return ["sweep", *file, *self._roles(self.knowledge), *self._people, *bound]

    def recode_words(self, file: Sequence[str], out: str) -> list[str]:
        """Return the command, word by word, that writes the changed release to ``out``."""
        words = ["anonymise", *file, "-o", out, "--method", "recode", *self._people]
        return [*words, "-q", csv_of_names(self.qids), *self._changes("--change")]

    def k_anonymise_words(self, file: Sequence[str], out: str, k: str) -> list[str]:
        """Return the command, word by word, that writes a k-anonymous release to ``out``.

        The release has no column that says whose record a record is.
        """
        words = ["anonymise", *file, "-o", out, "-q", csv_of_names(self.qids), "--k", k]
        dropped = [] if self.person is None else ["--drop", self.person]
        return [*words, *self._people, *dropped]

    def study_words(self, source: str, out: str, reading: Sequence[str]) -> list[str]:
        """Return the words that write a study of these roles."""
        household = self.options.get("household", "").strip()
        people = ["--person", self.person or "", "--household", household]  # empty: none
        return ["init", out, "--data", source, *reading, *self._roles(self.knowledge), *people]

    @property
    def person(self) -> str | None:
        """Return the column that says whose record it is; None if records are counted."""
        return self.options.get("person", "").strip() or None

    @property
    def _people(self) -> list[str]:
        return [] if self.person is None else ["--person", self.person]

    def _roles(self, qids: Sequence[str]) -> list[str]:
        secrets = [word for name in self.secrets for word in ("-s", listed(name))]
        return ["-q", csv_of_names(qids), *secrets]

    def _changes(self, flag: str) -> list[str]:
        return [word for change in self.changes for word in (flag, change)]


def csv_of_names(columns: Sequence[str]) -> str:
    """Return names as one row of CSV."""
    return ",".join(map(listed, columns))


def command_line(words: Sequence[str]) -> str:
    """Return words as a command line to copy."""
    return shlex.join(["qifsql", *words]) if words else ""


def read_choices(form: Mapping[str, str], columns: Sequence[str]) -> Choices:
    """Return the choices in a form: ``role-0``, ``step-0`` of the first column, ``option-NAME``.

    Steps of columns that are no quasi-identifiers, and texts that can be no step, are ignored.
    """
    qids, secrets, steps = [], [], {}
    for i, name in enumerate(columns):
        role, step = form.get(f"role-{i}", ""), form.get(f"step-{i}", "")
        if role == "secret":
            secrets.append(name)
        elif role == "quasi-identifier":
            qids.append(name)
            if re.fullmatch(r"[a-z0-9.]+", step):
                steps[name] = step
    options = {
        name.removeprefix("option-"): text
        for name, text in form.items()
        if name.startswith("option-") and text.strip()
    }
    return Choices(tuple(qids), tuple(secrets), steps, options)
