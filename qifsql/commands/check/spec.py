"""Options of ``check`` besides its policy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from qifsql.adversary.options import UNNAMED, Belief, Joining, Knowledge, Person
from qifsql.data.dataset import Tabular
from qifsql.data.option import DATA, FILE, NAME, NAMES, TEXT, Form, Option, one_of


def _rules(content: Any) -> tuple[Mapping[str, Any], ...] | None:
    """Return rules in the form of a policy, else None; the policy reader checks the content."""
    rules = isinstance(content, list) and all(isinstance(rule, dict) for rule in content)
    return tuple(content) if rules and content else None


class CheckOptions(Knowledge, Joining, Person, Belief, total=False):
    """The adversary, which overrides that of the policy, and the last release."""

    by: Annotated[
        str | None,
        Option(
            form=NAME,
            help="Apply every rule within each group: a column or NAME=EXPRESSION.",
        ),
    ]
    population: Annotated[
        Tabular | None,
        Option(form=TEXT, help="Population file: everybody who may be in the release.", panel=DATA),
    ]
    original: Annotated[
        Tabular | None,
        Option(
            form=FILE,
            help="For a synthetic release: the people from whom it was made.",
            panel=DATA,
        ),
    ]
    control: Annotated[
        Tabular | None,
        Option(
            form=FILE,
            help="For a synthetic release: people from whom it was not made.",
            panel=DATA,
        ),
    ]
    split: Annotated[
        str | Sequence[str],
        Option(
            form=NAMES,
            help="For a synthetic release: the quasi-identifiers of one of two sources.",
        ),
    ]
    baseline: Annotated[
        str | Path | None,
        Option(
            form=TEXT,
            help="Result of the last release, instead of that in the policy.",
            panel=DATA,
        ),
    ]


class CheckEntry(CheckOptions, total=False):
    """Options of a check in a study: also its policy, a preset, or the rules themselves."""

    policy: Annotated[str, Option(form=TEXT)]
    preset: Annotated[str, Option(form=TEXT)]
    rule: Annotated[
        list[Mapping[str, Any]],
        Option(form=Form("a list of rules; write [[check.rule]]", _rules)),
    ]
    unnamed: Annotated[str, Option(form=one_of(*UNNAMED))]


OPTIONS = CheckEntry
