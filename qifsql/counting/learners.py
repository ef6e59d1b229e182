"""Learners: the table of most frequent values, and classifiers of scikit-learn, by name.

A classifier is trained on the distinct records of a file, weighted by how many are alike, and asked
about distinct tuples of quasi-identifiers: its memory grows with distinct records up to a limit,
and not with people. Columns are codes, which are ranks of the values in all files, the missing one
last. Trees split ranks. Logistic regression takes numbers in standard units, and one bit for each
value of other columns and for a missing number.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from qifsql.data import installation
from qifsql.errors import InputError, did_you_mean, quoted

TABLE = "table"
FOREST = "random-forest"
CLASSIFIERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "decision-tree": ("sklearn.tree", "DecisionTreeClassifier", {}),
    FOREST: ("sklearn.ensemble", "RandomForestClassifier", {"n_estimators": 100}),
    "gradient-boosting": (
        "sklearn.ensemble",
        "HistGradientBoostingClassifier",
        {"min_samples_leaf": 1, "early_stopping": False},
    ),
    "logistic-regression": ("sklearn.linear_model", "LogisticRegression", {"max_iter": 1000}),
    "k-nearest": ("sklearn.neighbors", "KNeighborsClassifier", {}),
    "bernoulli-nb": ("sklearn.naive_bayes", "BernoulliNB", {}),
}
"""Classifiers of scikit-learn: the module, the class, and what differs from its defaults.

Boosting counts records of a leaf without their weights and stops early by a draw of them, so both
are switched off: an alike record would count differently from a weight."""
SEEDLESS = ("k-nearest", "bernoulli-nb")
WEIGHTED = tuple(name for name in CLASSIFIERS if name not in SEEDLESS)
"""Classifiers that take weights of any columns."""
LEARNERS = (TABLE, *WEIGHTED)
LINEAR = "logistic-regression"
MOST_VALUES = 100
"""Values of the secret that a classifier guesses at most."""
MOST_LESSONS = 100_000
"""Distinct records that a classifier learns from at most; others are left out by a draw."""
MOST_COUNTERS = 2_000_000
"""Distinct records times values of the secret at most: a forest keeps 100 times as many counts."""
ALIKE = 1e-9  # probabilities that differ by less are one, as they differ by rounding


def check_learner(name: str, *, classifiers_only: bool = False) -> str:
    """Return the name of a learner or, ``classifiers_only``, of a classifier; else InputError."""
    names = WEIGHTED if classifiers_only else LEARNERS
    if name not in names:
        hint = did_you_mean(name, names)
        raise InputError(f"there is no learner {quoted(name)}{hint}")
    if name != TABLE:
        remedy = "leave --learner out" if classifiers_only else "--learner table needs nothing"
        check_installed(f"learner {name}", remedy)
    return name


def check_installed(what: str, otherwise: str) -> None:
    """Refuse what needs scikit-learn if it is missing; ``otherwise`` says what to do without."""
    try:
        import_module("sklearn")
    except ImportError as e:
        raise InputError(
            f"{what} needs scikit-learn: {installation.command('ml')}; {otherwise}"
        ) from e


def classifier(name: str, seed: int, **options: object) -> Any:
    """Return an untrained classifier."""
    module, kind, usual = CLASSIFIERS[name]
    drawn = {} if name in SEEDLESS else {"random_state": seed % 2**32}
    return getattr(import_module(module), kind)(**usual, **drawn, **options)


@dataclass
class Student:
    """A classifier that learns from codes, secrets and weights, and is then asked about codes.

    ``scales`` has for each column its numbers by code, not finite if missing; None for columns of
    other values. ``converged`` is false if the last training was given up.
    """

    name: str
    seed: int
    threads: int
    scales: Sequence[Any]
    converged: bool = True
    _model: Any = field(default=None, init=False)
    _features: Any = field(default=None, init=False)
    classes: Sequence[int] = field(default=(), init=False)

    def learn(self, codes: Any, secrets: Any, weights: Any) -> None:
        """Train on one row per distinct record, sorted, so that the result is always the same.

        ``codes`` is a matrix with a column per quasi-identifier; ``secrets`` has the code of the
        secret of each row, ``weights`` how many records are alike. If all have one secret (class),
        there is nothing to train.
        """
        numpy = import_module("numpy")
        order = numpy.lexsort((secrets, *reversed(codes.T)))  # by the codes, then by the secret
        codes, secrets = codes[order], secrets[order]
        weights = weights[order].astype(numpy.float64)
        self.classes = [int(c) for c in numpy.unique(secrets)]
        if len(self.classes) == 1:
            return
        threads = {"n_jobs": self.threads} if self.name == FOREST else {}
        self._model = classifier(self.name, self.seed, **threads)
        if self.name == LINEAR:
            self._features = _Linear(codes, weights, self.scales)
        with _single_threaded(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self._model.fit(self._features_of(codes), secrets, sample_weight=weights)
        self.converged = not any("converge" in w.category.__name__.casefold() for w in caught)

    def probabilities(self, codes: Any) -> Any:
        """Return probabilities: a row per row of codes, a column per class of ``classes``."""
        numpy = import_module("numpy")
        if self._model is None:  # one class, which is certain
            return numpy.ones((len(codes), 1))
        if self.name == FOREST:
            self._model.n_jobs = 1  # trees are then summed in one order, so results do not vary
        with _single_threaded():
            return self._model.predict_proba(self._features_of(codes))

    def _features_of(self, codes: Any) -> Any:
        return codes if self._features is None else self._features.of(codes)


class _Linear:
    """The features of logistic regression: numbers in standard units, and bits."""

    def __init__(self, codes: Any, weights: Any, scales: Sequence[Any]) -> None:
        """Learn the features of each column: mean and deviation of numbers, else its values.

        ``codes`` has a row per distinct record and ``weights`` how many are alike; ``scales`` has
        the numbers of each column by code (None: its values are no numbers).
        """
        numpy = import_module("numpy")
        self._scales = scales
        self._centres: dict[int, tuple[float, float]] = {}
        self._values: dict[int, Any] = {}
        for i, scale in enumerate(scales):
            if scale is None:
                self._values[i] = numpy.unique(codes[:, i])
                continue
            numbers = scale[codes[:, i]]
            finite = numpy.isfinite(numbers)
            total = weights[finite].sum()
            if not total:  # all numbers are missing: they become 0, whatever the centre is
                self._centres[i] = 0.0, 1.0
                continue
            centre = float((numbers[finite] * weights[finite]).sum() / total)
            variance = ((numbers[finite] - centre) ** 2 * weights[finite]).sum() / total
            self._centres[i] = centre, float(numpy.sqrt(variance)) or 1.0  # 1: all are equal

    def of(self, codes: Any) -> Any:
        """Return a sparse matrix of the features, a row for each row of codes.

        A column of numbers becomes two: the number in standard units (0 if missing) and a bit for a
        missing one. Another becomes a bit for each value that was learnt.
        """
        numpy, sparse = import_module("numpy"), import_module("scipy.sparse")
        rows = numpy.arange(len(codes))
        features = []
        for i, scale in enumerate(self._scales):
            if scale is None:
                values = self._values[i]
                place = numpy.searchsorted(values, codes[:, i]).clip(max=len(values) - 1)
                learnt = values[place] == codes[:, i]
                shape = (len(codes), len(values))
                bits = numpy.ones(int(learnt.sum())), (rows[learnt], place[learnt])
                features.append(sparse.csr_matrix(bits, shape=shape))
                continue
            centre, spread = self._centres[i]
            numbers = scale[codes[:, i]]
            finite = numpy.isfinite(numbers)
            standard = numpy.where(finite, (numbers - centre) / spread, 0.0)
            features.append(sparse.csr_matrix(numpy.stack([standard, ~finite], axis=1)))
        return sparse.hstack(features, format="csr")


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let libraries below scikit-learn use one thread, so that sums have one order."""
    with import_module("threadpoolctl").threadpool_limits(limits=1):
        yield
