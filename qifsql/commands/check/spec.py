"""Options of ``check`` besides its policy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict

from qifsql.adversary.options import UNNAMED, Belief, Households, Joining, Knowledge, Person, Sets
from qifsql.data.dataset import Tabular
from qifsql.data.option import (
    COUNTS,
    DATA,
    DATASET,
    NAME,
    NAMES,
    NUMBER,
    TEXT,
    WHOLE,
    Form,
    Option,
    one_of,
)

QUESTIONS = "Three questions (WP 216)"


def _rules(content: Any) -> tuple[Mapping[str, Any], ...] | None:
    """Return rules in the form of a policy, else None; the policy reader checks the content."""
    rules = isinstance(content, list) and all(isinstance(rule, dict) for rule in content)
    return tuple(content) if rules and content else None


class CheckOptions(Knowledge, Joining, Sets, Households, Person, Belief, total=False):
    """The adversary, which overrides that of the policy, and the last release."""

    by: Annotated[
        str | None,
        Option(form=NAME, help="Apply every rule within each group: a column or NAME=EXPRESSION."),
    ]
    population: Annotated[
        Tabular | None,
        Option(form=TEXT, help="Population file: everybody who may be in the release.", panel=DATA),
    ]
    original: Annotated[
        Tabular | None,
        Option(
            form=DATASET,
            help="For a synthetic release: the people from whom it was made.",
            panel=DATA,
        ),
    ]
    control: Annotated[
        Tabular | None,
        Option(
            form=DATASET,
            help="For a synthetic release: people from whom it was not made.",
            text="For a synthetic release: people of the same population from whom it was not "
            "made.",
            panel=DATA,
        ),
    ]
    split: Annotated[
        str | Sequence[str],
        Option(
            form=NAMES,
            help="For a synthetic release: the quasi-identifiers of one of two sources.",
            text="For linkability of a synthetic release: the quasi-identifiers of one of two "
            "sources.",
        ),
    ]
    baseline: Annotated[
        str | Path | None,
        Option(
            form=TEXT,
            help="Result of the last release, instead of that in the policy.",
            text="Result of the last release (.json, .parquet, .csv), instead of that in the "
            "policy.",
            panel=DATA,
        ),
    ]
    statement: Annotated[
        str | Path | None,
        Option(
            form=TEXT,
            help="Not met where this statement has expired, or it or its files have changed.",
            text="Document of report(..., statement=True), with its manifest beside it: the policy "
            "is not met where it has expired, its text was edited, or its files have other "
            "contents.",
            panel=DATA,
            studied=False,
        ),
    ]


class Preset(TypedDict, total=False):
    """Option for the levels of an authority."""

    preset: Annotated[
        str | None,
        Option(
            form=TEXT,
            help="Levels of an authority: k3, k5, k10, health, hipaa or wp216.",
            text="Levels of an authority instead of a policy file: k3, k5, k10, health, hipaa or "
            "wp216.",
        ),
    ]


class QuestionOptions(TypedDict, total=False):
    """Options of the three questions of the opinion WP 216 besides the adversary.

    A missing value is a value (``null``: ``drop`` leaves the record out), but links nobody.
    """

    threshold: Annotated[
        float | str | None,
        Option(
            form=NUMBER,
            help="Answer yes or no: yes if anybody's risk >= this, such as 0.2.",
            text="Answer yes if anybody's risk is at least this, in (0, 1]; without it the answer "
            "is about certain success.",
            panel=QUESTIONS,
        ),
    ]
    register: Annotated[
        Tabular | None,
        Option(
            form=DATASET,
            help="Linkability: a register of names or another release, as in link.",
            text="Linkability: a register of names or another release, as in link; qids may then "
            'have another name in it ("1:zip,2:plz").',
            panel=QUESTIONS,
        ),
    ]
    register_where: Annotated[
        str | None,
        Option(form=TEXT, help="Filter the register by a SQL condition.", panel=QUESTIONS),
    ]
    truth: Annotated[
        str | Sequence[str],
        Option(
            form=NAMES,
            help="The true key, to count correct links: one name, or one per file.",
            panel=QUESTIONS,
        ),
    ]
    points: Annotated[
        int | Sequence[int] | None,
        Option(
            form=COUNTS,
            help="With --key, the pseudonym of a log: numbers of known records (default: 1,2,3,4).",
            text="With key, the pseudonym of a log with several records per person: numbers of "
            "known records (default 1, 2, 3, 4).",
            panel=QUESTIONS,
        ),
    ]
    draws: Annotated[
        int | None, Option(form=WHOLE, text="With key: random draws, as in unicity.", typed=False)
    ]
    seed: Annotated[
        int,
        Option(
            form=WHOLE,
            text="Random seed of these draws, 0 to 2^63 - 1; recorded in the manifest.",
            typed=False,
        ),
    ]


class CheckArguments(CheckOptions, Preset, QuestionOptions, total=False):
    """All options of ``check`` in Python: of the policy, its adversary, and the questions."""


class CheckEntry(CheckOptions, Preset, total=False):
    """Options of a check in a study: also its policy, a preset, or the rules themselves."""

    policy: Annotated[str, Option(form=TEXT)]
    rule: Annotated[
        list[Mapping[str, Any]], Option(form=Form("a list of rules; write [[check.rule]]", _rules))
    ]
    unnamed: Annotated[str, Option(form=one_of(*UNNAMED))]
    unit: Annotated[str, Option(form=TEXT)]


OPTIONS = CheckEntry
