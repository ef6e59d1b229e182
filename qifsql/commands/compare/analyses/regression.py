"""Linear and logistic regression by statsmodels, on groups of records with their frequencies."""

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

from qifsql.data import installation
from qifsql.errors import InputError

LINEAR, LOGISTIC = "linear", "logistic"
MOST_COEFFICIENTS = 100
"""Coefficients of a model at most."""
TOO_MANY = f"more than {MOST_COEFFICIENTS} coefficients"
ALIKE = 1e-8  # fitted chances that are as near to 0 or 1 come of a separation
EXACT = 1e-18  # share of the variance below which residuals are errors of rounding
DISTINCT = 1e-10  # share of their size by which numbers differ, or rounding decides about estimates
LARGEST = 1e100  # number whose square, and a sum of these, are finite
SINGULAR = "the columns of the design are linearly dependent (singular), or nearly"
_FACTOR = re.compile(r"x(?P<predictor>\d+)(?:\[(?P<T>T\.)?(?P<category>-?\d+)\])?")
"""A predictor in a name of statsmodels; T marks a category that is compared with a reference."""


class UnfittedError(Exception):
    """A model has no estimates; the message is the reason."""


class Group(NamedTuple):
    """Records with equal predictors: their values, the number of records, and the outcome's mean.

    ``spread`` is the sum of the squared distances of their outcomes from the mean.
    """

    values: tuple[float, ...]
    records: int
    mean: float
    spread: float


class Factor(NamedTuple):
    """A predictor in the name of a coefficient; ``category`` is None for a number."""

    predictor: int
    category: int | None


class Estimate(NamedTuple):
    """A coefficient with its standard error, and the ends of its interval at 95 % confidence."""

    value: float
    error: float
    low: float
    high: float


Coefficient = tuple[Factor, ...]
"""The predictors whose product a coefficient multiplies; none for the intercept."""


@dataclass(frozen=True)
class Fit:
    """The estimates of a model in a file, on so many ``records``, or the reason for none.

    ``references``: by the number of a predictor, the category that its others are compared with. A
    predictor without one has an estimate for each category. ``lost`` are predictors of one category
    with a term that has no estimate.
    """

    estimates: Mapping[Coefficient, Estimate] = field(default_factory=dict)
    references: Mapping[int, float] = field(default_factory=dict)
    lost: Sequence[int] = ()
    records: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Design:
    """The right-hand side of a model: terms of the numbers of predictors, and the intercept.

    ``categorical`` are the predictors whose values are codes of categories.
    """

    terms: tuple[tuple[int, ...], ...]
    has_intercept: bool
    categorical: frozenset[int]

    @property
    def predictors(self) -> list[int]:
        """Return the numbers of the predictors, in the order of the values of a group."""
        return sorted({j for term in self.terms for j in term})

    @property
    def text(self) -> str:
        """Return the formula for statsmodels, of names that qifsql chose."""
        terms = " + ".join(":".join(f"x{j}" for j in term) for term in self.terms)
        return f"y ~ {terms}" + ("" if self.has_intercept else " - 1")


def check_installed() -> None:
    """Refuse a formula if statsmodels is missing."""
    try:
        import_module("statsmodels")
    except ImportError as e:
        raise InputError(
            f"a formula needs statsmodels: {installation.command('models')}; leave --formula out"
        ) from e


def fit(kind: str, design: Design, groups: Sequence[Group]) -> Fit:
    """Return the estimates of a model; raise UnfittedError with the reason if it has none.

    Intervals are those of Student's t (linear) or the normal distribution (logistic), as
    statsmodels has them for the records one by one. The columns of the design are scaled to one
    size for the fit, and the estimates are scaled back.
    """
    import numpy as np

    records = sum(group.records for group in groups)
    if not records:
        raise UnfittedError("no record has a value in every column of the formula")
    _check_sizes(design, groups)
    model = _model(kind, design, groups)
    width = model.exog.shape[1]
    if width > MOST_COEFFICIENTS:
        raise UnfittedError(TOO_MANY)
    if records <= width:
        raise UnfittedError(f"{records:,} records for {width:,} coefficients")
    _check_outcome(kind, model)
    scales = _scales(model.exog)
    result = _fitted(kind, model, model.exog / scales)
    numbers = np.column_stack([result.params, result.bse, result.conf_int(alpha=0.05)])
    estimates = [Estimate(*map(float, row)) for row in numbers / scales[:, np.newaxis]]
    if not np.isfinite(list(chain(*estimates))).all():
        raise UnfittedError("an estimate is not finite")
    coefficients, references, lost = _read_names(model.exog_names, design, groups)
    return Fit(dict(zip(coefficients, estimates, strict=True)), references, lost, records)


def _read_names(
    names: Sequence[str], design: Design, groups: Sequence[Group]
) -> tuple[list[Coefficient], dict[int, float], list[int]]:
    """Return the coefficients, reference categories and lost predictors of a fitted model.

    ``names`` are those of its coefficients in statsmodels, such as ``x1:x2[T.3]``: predictor 1
    times category 3 of predictor 2, compared with the first category. See ``Fit``.
    """
    matches = [list(_FACTOR.finditer(name)) for name in names]  # [] for the intercept
    coefficients = [
        tuple(
            Factor(int(m["predictor"]), None if m["category"] is None else int(m["category"]))
            for m in of_name
        )
        for of_name in matches
    ]
    compared = {int(m["predictor"]) for of_name in matches for m in of_name if m["T"]}
    categories = {
        j: sorted({group.values[i] for group in groups}, key=_place)
        for i, j in enumerate(design.predictors)
        if j in design.categorical
    }
    references = {j: codes[0] for j, codes in categories.items() if j in compared}
    estimated_terms = {frozenset(f.predictor for f in factors) for factors in coefficients}
    without = {j for term in design.terms if frozenset(term) not in estimated_terms for j in term}
    lost = [j for j, codes in categories.items() if j in without and len(codes) == 1]
    return coefficients, references, lost


def _place(code: float) -> tuple[bool, float]:
    """Return a key that orders categories: values of the original, then (codes below 0) cells."""
    return code < 0, abs(code)


def _check_sizes(design: Design, groups: Sequence[Group]) -> None:
    """Refuse a design of more coefficients than ``MOST_COEFFICIENTS``, before it is made."""
    sizes = {
        j: len({group.values[i] for group in groups}) if j in design.categorical else 1
        for i, j in enumerate(design.predictors)
    }
    widths = [math.prod(max(1, sizes[j] - 1) for j in term) for term in design.terms]
    if sum(widths) > MOST_COEFFICIENTS:
        raise UnfittedError(TOO_MANY)


def _model(kind: str, design: Design, groups: Sequence[Group]) -> Any:
    """Return the model of statsmodels: groups as rows with frequencies that sum to the records.

    The outcomes of a linear model in a group are two points with its mean and spread.
    """
    import pandas as pd
    from statsmodels.formula import api
    from statsmodels.genmod import families

    rows = [
        (*group.values, outcome, weight)
        for group in groups
        for outcome, weight in _outcomes(kind, group)
    ]
    names = [*(f"x{j}" for j in design.predictors), "y", "weight"]
    frame = pd.DataFrame(rows, columns=names, dtype=float)
    for j in design.categorical:
        codes = frame[f"x{j}"].astype(int)
        order = sorted(codes.unique(), key=_place)
        levels = pd.CategoricalDtype([str(code) for code in order])
        frame[f"x{j}"] = codes.astype(str).astype(levels)
    family = families.Gaussian() if kind == LINEAR else families.Binomial()
    return api.glm(design.text, frame, family=family, freq_weights=frame["weight"].to_numpy())


def _outcomes(kind: str, group: Group) -> list[tuple[float, float]]:
    """Return pairs of an outcome and a frequency that have the mean and spread of a group."""
    if kind == LOGISTIC:
        ones = round(group.mean * group.records)
        return [(y, n) for y, n in ((0.0, group.records - ones), (1.0, ones)) if n]
    if not group.spread:
        return [(group.mean, group.records)]
    distance = (group.spread / group.records) ** 0.5
    return [(group.mean + sign * distance, group.records / 2) for sign in (-1, 1)]


def _scales(design: Any) -> Any:
    """Return powers of 2 that bring the columns of a design to one size, without rounding.

    Raise UnfittedError for columns that are dependent, or too large. Of columns of very different
    sizes statsmodels would leave some out.
    """
    import numpy as np

    sizes = np.abs(design).max(axis=0)
    if sizes.max() > LARGEST:
        raise UnfittedError("the numbers of a predictor, or their products, are too large")
    if not sizes.all():
        raise UnfittedError(SINGULAR)
    scales = np.exp2(np.ceil(np.log2(sizes)))
    strengths = np.linalg.svd(design / scales, compute_uv=False)
    if strengths.min() < DISTINCT * strengths.max():
        raise UnfittedError(SINGULAR)
    return scales


def _check_outcome(kind: str, model: Any) -> None:
    """Refuse an outcome whose numbers are too large, or differ too little, for floating point."""
    if kind == LOGISTIC:  # it is 0 or 1
        return
    size, spread = abs(model.endog).max(), model.endog.max() - model.endog.min()
    if size > LARGEST:
        raise UnfittedError("the numbers of the outcome are too large")
    if 0 < spread < DISTINCT * size or (not spread and size > 1 / DISTINCT):
        raise UnfittedError("the numbers of the outcome differ too little for their size")


def _fitted(kind: str, model: Any, scaled: Any) -> Any:
    """Return the model fitted to a ``scaled`` design; UnfittedError if it has no single optimum."""
    from statsmodels.api import GLM
    from statsmodels.tools.sm_exceptions import PerfectSeparationError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = GLM(model.endog, scaled, family=model.family, freq_weights=model.freq_weights)
            result = model.fit(use_t=kind == LINEAR)
        except (PerfectSeparationError, ValueError, ArithmeticError) as e:
            raise UnfittedError("the model has no estimates (separation)") from e
    if kind == LOGISTIC:
        fitted = result.fittedvalues
        if not result.converged or fitted.min() < ALIKE or fitted.max() > 1 - ALIKE:
            raise UnfittedError("predictors separate the outcomes: a coefficient is infinite")
    elif result.deviance <= EXACT * result.null_deviance:
        raise UnfittedError("the predictors give the outcome exactly: intervals have no width")
    return result
