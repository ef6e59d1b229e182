"""What can be asked of noisy counts."""

from collections.abc import Sequence
from typing import Annotated, Required, TypedDict

from qifsql.adversary.options import Knowledge, NullRule
from qifsql.data.option import SHARE, TEXT, TEXTS, WHOLE, Option, declared, one_of

INFERRED, LOW = 0.9, 0.1
"""Scores from which one attribute tells the other, and below which it tells nothing."""
CORRELATED = {
    "A": "highly correlated",
    "B": "lowly correlated",
    "C": "secret inferable from useful",
    "D": "useful inferable from secret",
}
"""How useful attribute and secret hang together, by scenario."""
DOMAINS = ("observed", "whole")
BUDGETS = ("split", "sum")


class DpOptions(TypedDict, total=False):
    """What is counted, of whom, and with how much noise.

    ``predicate`` is a SQL condition over the attribute ``useful``, whose records are counted; of
    several, each is. Everybody in the data is known, and one record more, drawn from them, is what
    the adversary wants to know ``secret`` of (thesis Defs. 26 to 29). ``epsilon``: numbers and
    logarithms, ``"ln 3, 1, 2.5"``. ``mechanism``: ``oblivious`` (truncated geometric noise on the
    count), ``local`` (the same on the useful attribute of every record), ``randomised_response``
    (k-ary, on every record). ``order`` lists the values of the useful attribute where their type
    has no order (a text is one CSV row), ``domain`` is ``observed`` (its values in the data) or
    ``whole`` (all whole numbers between). ``counts``: each predicate is asked that many times.
    ``budget``: of several answers each has its part of epsilon (``split``), or all of it
    (``sum``); records are perturbed once, with the whole epsilon, whatever is counted of them.
    ``delta``: read epsilon as (epsilon, delta) where semantic privacy is told. ``null``: a missing
    value is a value, last in the order, and satisfies a predicate only if that says so
    (``distinct``), or its records are left out (``drop``).
    """

    useful: Annotated[
        Required[str],
        Option(
            TEXT, "The useful attribute, whose records are counted: a column or NAME=EXPRESSION."
        ),
    ]
    predicate: Annotated[
        Required[str | Sequence[str]],
        Option(
            TEXTS,
            'What is counted: a SQL condition over the useful attribute, "a = 3". Repeatable.',
        ),
    ]
    secret: Annotated[
        Required[str],
        Option(
            TEXT,
            "The secret of the record that is added: a column or NAME=EXPRESSION.",
            flags=("--secret", "-s"),
        ),
    ]
    epsilon: Annotated[
        Required[str | float | Sequence[str | float]],
        Option(
            TEXTS, 'How much noise: numbers and logarithms, "ln 3, 1, 2.5, ln 10^5". Repeatable.'
        ),
    ]
    mechanism: Annotated[
        str | Sequence[str],
        Option(
            TEXT,
            "Where noise is: oblivious (on the count), local (geometric, on each record), "
            "randomised_response (on each record); all for these three.",
            usual="oblivious,local",
        ),
    ]
    order: Annotated[
        str | Sequence[str],
        Option(
            TEXTS,
            "The values of the useful attribute in their order: low,medium,high (one CSV "
            "row). Numbers and dates have their own.",
        ),
    ]
    domain: Annotated[
        str,
        Option(
            one_of(*DOMAINS),
            "Values that noise moves between: observed (those in the data), or whole (all "
            "whole numbers from the least to the greatest).",
        ),
    ]
    counts: Annotated[
        int, Option(WHOLE, "How often each predicate is asked, with new noise each time.", usual=1)
    ]
    budget: Annotated[
        str,
        Option(
            one_of(*BUDGETS),
            "Of several answers: split (epsilon is for all together) or sum (for each).",
        ),
    ]
    delta: Annotated[
        float,
        Option(
            SHARE,
            "Tell the semantic privacy of (epsilon, delta) instead of (epsilon, 0).",
            usual=0.0,
        ),
    ]
    null: Annotated[NullRule, declared(Knowledge)["null"]]
