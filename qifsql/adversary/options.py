"""Options of the adversary's knowledge and aim, shared by most functions."""

from collections.abc import Mapping, Sequence
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
UNNAMED = ("warn", "refuse", "ignore")  # treatments of columns that no rule covers

Where = Annotated[str | None, Option(form=TEXT, typed=False)]
Null = Annotated[
    NullRule,
    Option(
        form=one_of(*NULL_RULES),
        help="Missing: distinct (default: a value) or drop.",
        panel=DATA,
    ),
]
AnyNull = Annotated[
    AnyNullRule,
    Option(
        form=one_of(*ANY_NULL_RULES),
        help="Missing: distinct (default), drop, match-any.",
        panel=DATA,
    ),
]
Truth = Annotated[
    str | Sequence[str],
    Option(
        form=NAMES,
        help="The true key, to count correct links: one name, or one per file.",
    ),
]
RegisterWhere = Annotated[
    str | None, Option(form=TEXT, help="Filter the register by a SQL condition.", panel=DATA)
]


def qids_option(text: str) -> Option:
    """Return the option for quasi-identifiers, with the help text ``text``."""
    return Option(form=NAMES, help=text, flags=("--qids", "-q"))


def secret_option(text: str) -> Option:
    """Return the option for secrets, with the help text ``text``."""
    return Option(form=NAMES, help=text, flags=("--secret", "-s"))


SECRET = secret_option("Secrets (sensitive attributes): as --qids.")
HIERARCHY = Option(
    HIERARCHIES,
    "COLUMN=FILE: generalisation hierarchy, lines value;node;...;*. Repeatable.",
    flags=("--hierarchy",),
)
"""``hierarchies``: quasi-identifier -> file."""
PLAIN = Option(NAMES, "Quasi-identifiers with plain values, never read as generalised.", panel=DATA)
"""``plain``: quasi-identifiers whose cells are plain values (others: ``qifsql.data.cells``)."""

RAPID = Option(form=CHANCE, help="Threshold of RAPID (default 0.3).", panel=DETAILS)
"""With a learner: a share of the confidence that is possible beyond a value's frequency."""


class Facts(TypedDict, total=False):
    """The adversary's knowledge about everybody, and the secrets to infer, of records as they are.

    ``qids``: quasi-identifiers: columns, patterns such as ``CO_*`` or named expressions such as
    ``decade=birth_year//10``; in a collection ``2:school`` is the column of the second dataset, and
    ``school`` that of every dataset that has it. ``secret``: one or several secrets (sensitive
    attributes), as columns or named expressions; in a collection they belong to the focal dataset.
    ``weight``: a column or expression >= 0, the adversary's prior on records. ``where``: a SQL
    condition; other records are left out.
    """

    qids: Annotated[
        str | Sequence[str],
        qids_option("Quasi-identifiers: columns, CO_*, NAME=EXPRESSION."),
    ]
    secret: Annotated[str | Sequence[str], SECRET]
    weight: Annotated[
        str | None,
        Option(form=TEXT, help="Weight of each record, >= 0: column or expression."),
    ]
    where: Where


class Knowledge(Facts, total=False):
    """The adversary's knowledge, with the rule for missing values.

    ``null``: ``distinct`` (a missing value is a value) or ``drop`` (records with missing values are
    left out).
    """

    null: Null


class Joining(TypedDict, total=False):
    """Options that join the datasets of a collection by person.

    ``key``: the column that identifies a person, one for all datasets or one for each. ``wave``:
    the column that splits one long table into a collection, ``year`` or ``year=2018,2019``.
    ``absent``: ``null`` (absence from a dataset counts as a missing value) or ``distinct``.
    """

    key: Annotated[
        str | Sequence[str] | None,
        Option(
            form=NAMES,
            help="Person key: one column, or one per dataset.",
            panel=DATA,
        ),
    ]
    wave: Annotated[
        str | None,
        Option(
            form=TEXT,
            help="Column that splits a long table: year=2018,2019.",
            panel=DATA,
        ),
    ]
    absent: Annotated[
        Absent,
        Option(
            form=one_of(*ABSENT_RULES),
            help="Absent: null (default: as missing) or distinct.",
            panel=DATA,
        ),
    ]


class Belief(TypedDict, total=False):
    """``prior``: a file of the adversary's beliefs about the secret before the release.

    It has a column named like the secret (or ``value``) and ``probability``.
    """

    prior: Annotated[
        str | Path | None,
        Option(
            form=TEXT,
            help="File of prior beliefs: SECRET, probability.",
        ),
    ]


class Sets(TypedDict, total=False):
    """``person``: the column that says whose record it is, where people have several records.

    The records of a person are then one set: what the adversary knows of her is the sorted list of
    their quasi-identifiers, and her secret is the set of their values. The attack is on people.
    """

    person: Annotated[
        str | None,
        Option(
            form=NAME,
            help="Whose record it is; several are one set.",
            panel=DATA,
        ),
    ]


class Worth(Belief, total=False):
    """``gain``: gain functions (``qifsql.adversary.gains``), each with a row of results."""

    gain: Annotated[
        str | Sequence[str],
        Option(
            form=TEXTS,
            help="identity, tries:3, penalty:0.5, tolerance:5, worth:FILE, "
            "matrix:FILE, sql:SQL. Repeatable.",
        ),
    ]


class Target(TypedDict, total=False):
    """``target``: the attacked person: quasi-identifier -> value (None: missing)."""

    target: Annotated[
        Mapping[str, object] | None,
        Option(
            form=TARGET,
            help='One person: COLUMN=VALUE, "COLUMN is null", '
            '"COLUMN is absent" (in that dataset). Repeatable.',
        ),
    ]


class Person(Target, total=False):
    """Options for one target and for membership.

    ``member``: the flag for membership models, a column or named expression that states whether a
    person is in the release.
    """

    member: Annotated[
        str | None,
        Option(
            form=NAME,
            help="Membership flag: a column or NAME=EXPRESSION.",
        ),
    ]


class Distribution(TypedDict, total=False):
    """Options for the distribution of success over people.

    ``by``: a column or named expression whose values are groups of people. ``thresholds``: levels
    of success; people with at least that success are counted. ``quantiles``: shares of the people;
    the result is the success that such a share does not exceed.
    """

    by: Annotated[
        str | None,
        Option(
            form=GROUPS,
            help="Also by group: a column or NAME=EXPRESSION.",
            panel=DETAILS,
        ),
    ]
    thresholds: Annotated[
        float | Sequence[float | str],
        Option(
            form=NUMBERS,
            help="Count people with success >= 0.5. Repeatable.",
            panel=DETAILS,
            flags=("--threshold",),
        ),
    ]
    quantiles: Annotated[
        float | Sequence[float | str],
        Option(
            form=NUMBERS,
            help="Quantile of success over people: 0.9. Repeatable.",
            panel=DETAILS,
            flags=("--quantile",),
        ),
    ]


class Adversary(Facts, Joining, Worth, Person, Distribution, total=False):
    """Options of an attack but for the rule for missing values."""


class Options(Adversary, total=False):
    """Options of an attack: all of the above."""

    null: Null
