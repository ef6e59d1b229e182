"""Training of a classifier on every release, and its posterior for each target.

A release becomes a table of bits with the secrets of its records. A record has one bit per
quasi-identifier: 1 if its cell contains the target's value. The target has only ones. Releases with
the same table share one training. Records are in the order of bits and secrets, so the order of the
input has no effect.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import groupby

from qifsql.counting.learners import check_installed, classifier
from qifsql.errors import InputError, did_you_mean, quoted

BAYES = "naive-bayes"
CLASSIFIERS = (
    *(BAYES, "decision-tree", "random-forest", "logistic-regression", "k-nearest", "bernoulli-nb"),
)
HELD = 100_000  # tables of bits whose posteriors are cached

Lesson = tuple[int, int, int, int, int]  # target, release, pattern, secret, people
Belief = tuple[int, int, int, float]  # target, release, secret, probability


def check_classifier(name: str) -> None:
    """Check the name of a classifier; InputError if it is unknown or scikit-learn is missing."""
    if name not in CLASSIFIERS:
        hint = did_you_mean(name, CLASSIFIERS)
        raise InputError(f"there is no classifier {quoted(name)}{hint}")
    if name != BAYES:
        check_installed(f"classifier {name}", "naive-bayes needs nothing")


def train_posteriors(
    name: str, lessons: Iterable[Lesson], *, width: int, seed: int, look: Callable[[int], None]
) -> Iterator[Belief]:
    """Yield the posterior of each target, with and without their record.

    ``lessons`` are in the order of target, release, pattern and secret.
    """
    beliefs_by_table: dict[tuple[tuple[int, ...], ...], list[tuple[int, float]]] = {}
    for n, ((target, release), rows) in enumerate(groupby(lessons, key=lambda r: (r[0], r[1])), 1):
        table = tuple((row[2], row[3], row[4]) for row in rows)
        if table not in beliefs_by_table:
            if len(beliefs_by_table) >= HELD:
                beliefs_by_table.clear()
            beliefs_by_table[table] = _train_posterior(name, table, width=width, seed=seed)
        look(n)
        for secret, probability in beliefs_by_table[table]:
            yield target, release, secret, probability


def _train_posterior(
    name: str, table: Sequence[tuple[int, ...]], *, width: int, seed: int
) -> list[tuple[int, float]]:
    """Return the posterior of a person whose bits are all 1."""
    secrets = sorted({secret for _, secret, _ in table})
    if len(secrets) == 1:
        return [(secrets[0], 1.0)]
    numpy = import_module("numpy")
    people = [n for _, _, n in table]
    bits = [[pattern >> j & 1 for j in range(width)] for pattern, _, _ in table]
    x = numpy.repeat(numpy.array(bits, dtype=numpy.int8), people, axis=0)
    y = numpy.repeat(numpy.array([secret for _, secret, _ in table]), people)
    neighbours = {"n_neighbors": min(5, len(y))} if name == "k-nearest" else {}
    model = classifier(name, seed, **neighbours)
    model.fit(x, y)
    (probabilities,) = model.predict_proba(numpy.ones((1, width), dtype=numpy.int8))
    return [(int(s), float(p)) for s, p in zip(model.classes_, probabilities, strict=True)]
