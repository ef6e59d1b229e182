"""Options of the adversary's knowledge and aim, shared by most functions."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypedDict, get_args

from qifsql.data.collection import ABSENT_RULES, Absent
from qifsql.data.option import (
    CHANCE,
    DATA,
    DETAILS,
    GROUPS,
    HIERARCHIES,
    NAME,
    NAMES,
    NUMBERS,
    TARGET,
    TEXT,
    TEXTS,
    Option,
    one_of,
)

NullRule = Literal["distinct", "drop"]
NULL_RULES = get_args(NullRule)
AnyNullRule = Literal["distinct", "drop", "match-any"]
ANY_NULL_RULES = get_args(AnyNullRule)
MATCH_ANY = "match-any"  # a missing value may be anything: bounds over all completions
NULL_AS_VALUE = '"distinct" (a missing value is one more value)'
NULL_LEFT_OUT = '"drop" (leave out records that miss a quasi-identifier or secret)'
UNNAMED = ("warn", "refuse", "ignore")  # treatments of columns that no rule covers
_data, _details = (partial(Option, panel=panel) for panel in (DATA, DETAILS))

Where = Annotated[
    str | None,
    Option(
        TEXT,
        text="SQL condition; other records are left out. NULL counts as false.",
        typed=False,  # the options of the data have it
    ),
]
Null = Annotated[
    NullRule,
    _data(
        one_of(*NULL_RULES),
        "Missing: distinct (default: a value) or drop.",
        text=f"{NULL_AS_VALUE} or {NULL_LEFT_OUT}.",
    ),
]
AnyNull = Annotated[
    AnyNullRule,
    _data(
        one_of(*ANY_NULL_RULES),
        "Missing: distinct (default), drop, match-any.",
        text=f'{NULL_AS_VALUE}, {NULL_LEFT_OUT} or "match-any" (a missing quasi-identifier, in '
        "attack a secret too, may be anything: bounds over all completions).",
    ),
]
Truth = Annotated[
    str | Sequence[str],
    Option(NAMES, "The true key, to count correct links: one name, or one per file."),
]
RegisterWhere = Annotated[str | None, _data(TEXT, "Filter the register by a SQL condition.")]


def qids_option(summary: str, text: str = "") -> Option:
    """Return the option for quasi-identifiers, with the help text ``summary``."""
    return Option(NAMES, summary, text=text, flags=("--qids", "-q"))


def person_option(summary: str, text: str) -> Option:
    """Return the option for people with several records, with the help text ``summary``."""
    return _data(NAME, summary, text=text)


def secret_option(summary: str, text: str = "") -> Option:
    """Return the option for secrets, with the help text ``summary``."""
    return Option(NAMES, summary, text=text, flags=("--secret", "-s"))


QIDS = qids_option(
    "Quasi-identifiers: columns, CO_*, NAME=EXPRESSION.",
    text="Quasi-identifiers: columns, patterns such as CO_*, or named expressions such as "
    "decade=birth_year//10; in a collection 2:school is a column of the second dataset. One text "
    'may name several: "age,sex". A record with * in all of them may be anybody\'s: it is in no '
    "block of others, and nobody is counted as singled out by it.",
)
SECRET = secret_option(
    "Secrets (sensitive attributes): as --qids.",
    text="Secrets (sensitive attributes): columns or named expressions; in a collection those of "
    "the focal dataset.",
)
HIERARCHY = Option(
    HIERARCHIES,
    "COLUMN=FILE: generalisation hierarchy, lines value;node;...;*. Repeatable.",
    text="Quasi-identifier to the file of its generalisation hierarchy (lines value;node;...;*).",
    flags=("--hierarchy",),
)
PLAIN = _data(NAMES, "Quasi-identifiers with plain values, never read as generalised.")

RAPID = _details(
    CHANCE,
    "Threshold of RAPID (default 0.3).",
    text="With learn or learner: the threshold of RAPID in [0, 1], a share of the confidence that "
    "is possible beyond a value's frequency; default 0.3.",
)


class Facts(TypedDict, total=False):
    """Options of what the adversary knows of everybody, and of the secrets to infer."""

    qids: Annotated[str | Sequence[str], QIDS]
    secret: Annotated[str | Sequence[str], SECRET]
    weight: Annotated[
        str | None,
        Option(
            TEXT,
            "Weight of each record, >= 0: column or expression.",
            text="Column or expression >= 0 that weights records; NULL is an error. By "
            "default every record weighs 1.",
        ),
    ]
    where: Where


class Knowledge(Facts, total=False):
    """The adversary's knowledge, with the rule for missing values."""

    null: Null


class Joining(TypedDict, total=False):
    """Options that join the datasets of a collection by person."""

    key: Annotated[
        str | Sequence[str] | None,
        _data(
            NAMES,
            "Person key: one column, or one per dataset.",
            text="Person key of a collection: one column name for all datasets, or one for "
            "each. A missing key matches nobody.",
        ),
    ]
    wave: Annotated[
        str | None,
        _data(
            TEXT,
            "Column that splits a long table: year=2018,2019.",
            text='Column that splits a long table into datasets: "year", or '
            '"year=2018,2019" with the focal one first.',
        ),
    ]
    absent: Annotated[
        Absent,
        _data(
            one_of(*ABSENT_RULES),
            "Absent: null (default: as missing) or distinct.",
            text='People who are not in a dataset: "null" (like missing values) or "distinct".',
        ),
    ]


class Belief(TypedDict, total=False):
    """Option of the adversary's beliefs about the secret before the release."""

    prior: Annotated[
        str | Path | None,
        Option(
            TEXT,
            "File of prior beliefs: SECRET, probability.",
            text="File of the adversary's beliefs before the release: a column named like "
            "the secret (or value), and probability.",
        ),
    ]


class Sets(TypedDict, total=False):
    """Option for people with several records, which are one set: the attack is on people."""

    person: Annotated[
        str | None,
        person_option(
            "Whose record it is; several are one set.",
            "Column or named expression that says whose record it is. The records of a person are "
            "then one set, and the attack is on people; a missing person is one of its own.",
        ),
    ]


class Households(TypedDict, total=False):
    """Option for people who live together: who finds one of them has found the others."""

    household: Annotated[
        str | None,
        _details(
            GROUPS,
            "Also by household: a column or NAME=EXPRESSION.",
            text="Column or named expression of households, whose risks are measured "
            'besides (details["households"]).',
        ),
    ]


class Worth(Belief, total=False):
    """Options of the worth of a guess: gain functions (``qifsql.adversary.gains``)."""

    gain: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "identity, tries:3, penalty:0.5, worth:FILE, ...",
            text="Gain functions: identity, tries:3, penalty:0.5, tolerance:5, worth:FILE, "
            "matrix:FILE, sql:EXPRESSION over guess and secret. Each adds rows.",
        ),
    ]


class Target(TypedDict, total=False):
    """Option of one attacked person."""

    target: Annotated[
        Mapping[str, object] | None,
        Option(
            TARGET,
            'One person: COLUMN=VALUE or "COLUMN is null".',
            text="Known values of one person: quasi-identifier to value; None is a missing value.",
        ),
    ]


class Person(Target, total=False):
    """Options for one target and for membership."""

    member: Annotated[
        str | None,
        Option(
            NAME,
            "Membership flag: a column or NAME=EXPRESSION.",
            text="Membership flag with two values: a column or named expression.",
        ),
    ]


class Distribution(TypedDict, total=False):
    """Options for the distribution of success over people."""

    by: Annotated[
        str | None,
        _details(
            GROUPS,
            "Also by group: a column or NAME=EXPRESSION.",
            text="Column or named expression whose values are groups of people, measured apart.",
        ),
    ]
    thresholds: Annotated[
        float | Sequence[float | str],
        _details(
            NUMBERS,
            "Count people with success >= 0.5. Repeatable.",
            text="Count people whose success is at least this, in [0, 1].",
            flags=("--threshold",),
        ),
    ]
    quantiles: Annotated[
        float | Sequence[float | str],
        _details(
            NUMBERS,
            "Quantile of success: 0.9. Repeatable.",
            text="Quantiles of the success over people, in [0, 1].",
            flags=("--quantile",),
        ),
    ]


class Adversary(Facts, Joining, Worth, Person, Distribution, total=False):
    """Options of an attack but for the rule for missing values."""


class Options(Adversary, total=False):
    """Options of an attack: all of the above."""

    null: Null
