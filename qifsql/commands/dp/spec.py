"""Options of ``dp``."""

from collections.abc import Sequence
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import Knowledge, NullRule, Where
from qifsql.data.option import SHARE, TEXT, TEXTS, WHOLE, Option, declared, one_of

INFERRED, LOW = 0.9, 0.1
"""Shares of uncertainty removed: inferable from the first on, lowly correlated below the second."""
CORRELATED = {
    "A": "highly correlated",
    "B": "lowly correlated",
    "C": "secret inferable from useful",
    "D": "useful inferable from secret",
}
"""The dependence of useful attribute and secret, by scenario."""
DOMAINS = ("observed", "whole")
BUDGETS = ("split", "sum")


class DpOptions(TypedDict, total=False):
    """Options of ``dp``: the counts, the people, and the noise.

    ``predicate`` is a SQL condition over the attribute ``useful``; its records are counted. Several
    predicates are counted one by one. The adversary knows everybody in the data, and infers the
    ``secret`` of one more record, drawn from them (thesis Defs. 26 to 29). ``epsilon``: numbers and
    logarithms, ``"ln 3, 1, 2.5"``. ``mechanism``: ``oblivious`` (truncated geometric noise on the
    count), ``local`` (the same on the useful attribute of every record), ``randomised_response``
    (k-ary, on every record). ``order`` lists the values of the useful attribute if their type has
    no order (a text is one CSV row). ``domain`` is ``observed`` (its values in the data) or
    ``whole`` (all whole numbers between). ``counts``: the number of answers to each predicate.
    ``budget``: several answers share epsilon (``split``), or each has all of it (``sum``). Records
    are perturbed once, with the whole epsilon, for any number of counts. ``delta``: semantic
    privacy is that of (epsilon, delta). ``null``: a missing value is a value, last in the order,
    and satisfies a predicate only if the predicate says so (``distinct``), or its records are left
    out (``drop``).
    """

    useful: Annotated[
        Required[str],
        Option(TEXT, "Useful attribute to count: a column or NAME=EXPRESSION."),
    ]
    predicate: Annotated[
        Required[str | Sequence[str]],
        Option(
            TEXTS,
            'Counted records: a SQL condition on the useful attribute, "a = 3". Repeatable.',
        ),
    ]
    secret: Annotated[
        Required[str],
        Option(
            TEXT,
            "Secret of the added record: a column or NAME=EXPRESSION.",
            flags=("--secret", "-s"),
        ),
    ]
    epsilon: Annotated[
        Required[str | float | Sequence[str | float]],
        Option(TEXTS, 'Privacy parameter epsilon: "ln 3, 1, 2.5, ln 10^5". Repeatable.'),
    ]
    mechanism: Annotated[
        str | Sequence[str],
        Option(
            TEXT,
            "Mechanisms: oblivious (on the count), local (geometric, per record), "
            "randomised_response (per record), or all.",
            usual="oblivious,local",
        ),
    ]
    order: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "Ordered values of the useful attribute: low,medium,high. Numbers and "
            "dates are ordered.",
        ),
    ]
    domain: Annotated[
        str,
        Option(
            one_of(*DOMAINS),
            "Domain of noise: observed (values in the data) or whole (all whole numbers between).",
        ),
    ]
    counts: Annotated[int, Option(WHOLE, "Number of noisy answers per predicate.", usual=1)]
    budget: Annotated[
        str,
        Option(
            one_of(*BUDGETS),
            "Several answers: split (epsilon for all together) or sum (epsilon for each).",
        ),
    ]
    delta: Annotated[
        float,
        Option(
            SHARE,
            "Semantic privacy of (epsilon, delta) instead of (epsilon, 0).",
            usual=0.0,
        ),
    ]
    null: Annotated[NullRule, declared(Knowledge)["null"]]
    where: Where
