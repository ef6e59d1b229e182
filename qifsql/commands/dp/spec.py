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

    Several predicates are counted one by one. The adversary knows everybody in the data, and infers
    the secret of one more record, drawn from them (thesis Defs. 26 to 29). Records are perturbed
    once, with the whole epsilon, for any number of counts. A missing value is a value, last in the
    order, and satisfies a predicate only if the predicate says so.
    """

    useful: Annotated[
        Required[str], Option(TEXT, "Useful attribute to count: a column or NAME=EXPRESSION.")
    ]
    predicate: Annotated[
        Required[str | Sequence[str]],
        Option(
            TEXTS, 'Counted records: a SQL condition on the useful attribute, "a = 3". Repeatable.'
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
        Option(
            TEXTS,
            'Privacy parameter epsilon: "ln 3, 1, 2.5, ln 10^5". Repeatable.',
            text='Privacy parameters >= 0: numbers or texts such as "ln 3".',
        ),
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
            text="Semantic privacy of (epsilon, delta), delta in [0, 1).",
            usual=0.0,
        ),
    ]
    samples: Annotated[
        int | None,
        Option(
            WHOLE,
            "Also measure so many random samples of the data: mean and intervals (--seed).",
            text="Number of random samples of the data (2 to 10,000), on which loss and utility "
            "are measured, too; settings.seed draws them (default 0).",
        ),
    ]
    sample_size: Annotated[
        int | None,
        Option(
            WHOLE,
            "Records of a sample (default: 1,000, or half of fewer than 2,000).",
            text="Records of a sample, drawn without replacement; the domain of the noise is that "
            "of all data.",
        ),
    ]
    null: Annotated[NullRule, declared(Knowledge)["null"]]
    where: Where
