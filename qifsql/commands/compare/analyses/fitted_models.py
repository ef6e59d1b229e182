"""Models before and after: counted in SQL by groups of equal predictors, fitted by statsmodels."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import polars as pl
from sqlglot import exp

from qifsql.commands.compare.analyses import regression
from qifsql.commands.compare.analyses.analysed_columns import Analysed, ReadFile
from qifsql.commands.compare.analyses.model_formulas import Formula
from qifsql.commands.compare.analyses.regression import (
    LINEAR,
    LOGISTIC,
    Coefficient,
    Design,
    Estimate,
    Factor,
    Fit,
    Group,
    UnfittedError,
)
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, quoted
from qifsql.measures import intervals
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step, splice

MOST_GROUPS = 100_000
"""Different combinations of predictors that a model is fitted to at most."""
MOST_CATEGORIES = 100
"""Categories of a predictor at most."""

WHEN = ("before", "after")
COLUMNS: dict[str, pl.DataType] = {
    "release": pl.String(),
    "file": pl.Int64(),
    **dict.fromkeys(("formula", "model", "coefficient"), pl.String()),
    **{
        f"{name}_{when}": pl.Float64()
        for when in WHEN
        for name in ("estimate", "standard_error", "low", "high")
    },
    **dict.fromkeys(("overlap", "standardised_difference"), pl.Float64()),
    **{f"records_{when}": pl.Int64() for when in WHEN},
    "reason": pl.String(),
}
"""One row per release, formula and coefficient (M213).

``model`` is ``linear``, or ``logistic`` for an outcome of two values (true, 1 or the last in their
order is the event). ``coefficient`` is the product of columns that it multiplies, with the category
in brackets, such as ``sex[m]:age``; the first value of the original is the category that others are
compared with. A name that would be read otherwise is in backticks: ```a:b```, ```Intercept```.
``estimate``, ``standard_error`` and the interval at 95 % confidence from ``low`` to ``high`` are of
the original (before) and the release (after), on ``records`` without a missing value. ``overlap``
is that of the two intervals, in [0, 1], and ``standardised_difference`` that of the estimates, in
standard errors of the original. ``reason`` says why a number is NULL."""


class Model(NamedTuple):
    """A formula whose columns are found: the outcome, the predictors by number, and the design."""

    formula: Formula
    kind: str
    outcome: Analysed
    predictors: Mapping[int, Analysed]
    design: Design


class Models:
    """The models of the original, which each release is compared with."""

    def __init__(
        self,
        tables: Tables,
        formulas: Sequence[Formula],
        columns: Mapping[str, Analysed],
        original: ReadFile,
    ) -> None:
        """Fit the models to the original, whose tables exist; ``columns`` are by their names."""
        self.tables = tables
        self.original = original
        self.models = [self._bind(formula, columns) for formula in formulas]
        self.before = [self._fit(model, original) for model in self.models]

    def rows(self, release: ReadFile) -> list[dict[str, Any]]:
        """Return a row of ``COLUMNS`` for each coefficient of each model."""
        rows: list[dict[str, Any]] = []
        for model, before in zip(self.models, self.before, strict=True):
            after = self._fit(model, release) if before.estimates else Fit()
            rows += self._compare(release, model, before, _comparable(model, before, after))
        return rows

    def _bind(self, formula: Formula, columns: Mapping[str, Analysed]) -> Model:
        """Return the model of a formula; raise InputError if its outcome has no model."""
        outcome = columns[formula.outcome]
        numbers = {name: columns[name].number for name in formula.predictors}
        predictors = {columns[name].number: columns[name] for name in formula.predictors}
        terms = tuple(tuple(numbers[name] for name in term) for term in formula.terms)
        categorical = frozenset(j for j, column in predictors.items() if not column.is_number)
        design = Design(terms, formula.has_intercept, categorical)
        return Model(formula, self._choose_kind(outcome), outcome, predictors, design)

    def _choose_kind(self, outcome: Analysed) -> str:
        """Return whether a model is linear or, for an outcome of two values, logistic."""
        # How many values the original has, and whether all are 0 or 1; place 0 is the missing one.
        values = exp.select("count(*)", "bool_and(position IN (0, 1))")
        query = values.from_(exp.table_(f"numbers_{outcome.number}")).where("place > 0")
        ((different, are_bits),) = self.tables.rows(query)
        if different == 2 and (are_bits or not outcome.is_number):
            return LOGISTIC
        if not outcome.is_number:
            raise InputError(
                f"the outcome {quoted(outcome.raw.name)} has {different:,} different values that "
                "are no numbers; a model needs numbers, or two values such as yes and no"
            )
        return LINEAR

    def _fit(self, model: Model, file: ReadFile) -> Fit:
        """Return the fit of a model to a file; one with only the reason if it cannot be fitted."""
        columns = {model.outcome.number: model.outcome, **model.predictors}
        absent = [c.raw.name for j, c in columns.items() if j not in file.columns]
        if absent:
            return Fit(reason=f"the release has no {', '.join(map(quoted, absent))}")
        if file.too_wide & columns.keys():
            return Fit(reason="the cells of a column contain too many values to be read")
        try:
            fit = regression.fit(model.kind, model.design, self._read_groups(model, file))
            if fit.lost:  # predictors without an estimate, of one category
                name = model.predictors[fit.lost[0]].raw.name
                raise UnfittedError(f"{quoted(name)} has one value")
        except UnfittedError as e:
            return Fit(reason=f"{e}, in the {'original' if file is self.original else 'release'}")
        return fit

    def _read_groups(self, model: Model, file: ReadFile) -> list[Group]:
        """Return the records of a file in groups of equal predictors.

        The view ``modelled`` has a row per group: its predictors, records, and the sum and the sum
        of squares of their outcomes. Of a linear model, these are whole numbers of a unit.
        """
        for column in model.predictors.values():
            if not column.is_number:
                step = _predictor(file, column)
                different = exp.select("count(DISTINCT x)").from_(exp.table_(step.name))
                ((categories,),) = self.tables.rows(Plan((step,), different))
                if categories > MOST_CATEGORIES:
                    raise UnfittedError(
                        f"{quoted(column.raw.name)} has more than {MOST_CATEGORIES} values"
                    )
        predictors = sorted(model.predictors)
        query = splice(
            "compare/modelled",
            tables={"combined_cells": file.combined},
            columns={"outcome_code": f"code_{model.outcome.number}"},
            shape={"predictors": predictors},
        )
        steps = [_predictor(file, model.predictors[j]) for j in predictors]
        plan = Plan((*steps, *_outcome(model, file)), query.limit(MOST_GROUPS + 1))
        rows = self.tables.rows(plan)
        if len(rows) > MOST_GROUPS:
            raise UnfittedError(
                f"more than {MOST_GROUPS:,} different combinations of predictors: make them coarser"
            )
        zero, unit = 0, 1  # the number 0 in units of the outcome, and how many units make 1
        if model.kind == LINEAR:
            grid = exp.select("zero", "unit").from_(exp.table_(f"grid_{model.outcome.number}"))
            ((zero, unit),) = self.tables.rows(grid)
        return [_group(row, Fraction(zero), Fraction(unit)) for row in rows]

    def _compare(
        self, release: ReadFile, model: Model, before: Fit, after: Fit
    ) -> list[dict[str, Any]]:
        """Return the rows of one model in a release; one with the reason if there are none."""
        about = {
            "release": release.title,
            "file": release.number,
            "formula": model.formula.text,
            "model": model.kind,
            "records_before": before.records,
            "records_after": after.records,
        }
        reason = before.reason or after.reason
        coefficients = list(dict.fromkeys([*before.estimates, *after.estimates]))
        if not coefficients:
            return [{**dict.fromkeys(COLUMNS), **about, "reason": reason}]
        labels = self._labels(model, release, coefficients)
        return [
            {**dict.fromkeys(COLUMNS), **about, "coefficient": label}
            | _compare_estimates(before.estimates.get(c), after.estimates.get(c), reason)
            for c, label in zip(coefficients, labels, strict=True)
        ]

    def _labels(
        self, model: Model, release: ReadFile, coefficients: Sequence[Coefficient]
    ) -> list[str]:
        """Return the names of coefficients: columns, with their categories in brackets."""
        texts: dict[Factor, str] = {}
        for j, column in model.predictors.items():
            codes = {f.category for c in coefficients for f in c if f.predictor == j} - {None}
            name = column.raw.name
            if name == "Intercept" or set(":[]`") & set(name):  # as a formula may write it
                name = f'Q("{name}")' if "`" in name else f"`{name}`"
            texts[Factor(j, None)] = name
            for code, text in self._texts(release, j, codes):
                texts[Factor(j, code)] = f"{name}[{text}]"
        return [":".join(texts[factor] for factor in c) or "Intercept" for c in coefficients]

    def _texts(
        self, release: ReadFile, j: int, codes: Iterable[int | None]
    ) -> list[tuple[int, str]]:
        """Return categories of predictor j with their texts."""
        texts: list[tuple[int, str]] = []
        # A code above 0 is a value of the original, one below 0 a cell of the release.
        for file, sign in ((self.original, 1), (release, -1)):
            ids = [code * sign for code in codes if code is not None and code * sign > 0]
            if ids:
                query = exp.select("id", "cell::VARCHAR").from_(exp.table_(file.table("cells", j)))
                rows = self.tables.rows(query.where(exp.column("id").isin(*ids)))
                texts += [(sign * int(n), str(text)) for n, text in rows]
        return texts


def _predictor(file: ReadFile, column: Analysed) -> Step:
    """Return the step that reads the cells of a predictor: as numbers, or codes of categories."""
    view = "read_numbers" if column.is_number else "read_categories"
    readings = {"readings": file.table("readings", column.number)}
    return make_step(f"compare/{view}", f"predictor_{column.number}", tables=readings)


def _outcome(model: Model, file: ReadFile) -> list[Step]:
    """Return the steps that read the outcome: as numbers in units, or as 0 and 1."""
    if model.kind == LINEAR:
        numbers = exp.select("code", "number").from_(
            exp.table_(file.table("whole_numbers", model.outcome.number))
        )
        return [Step("outcome", "One row per cell that is read as a number, in units.", numbers)]
    readings = {"readings": file.table("readings", model.outcome.number)}
    return [  # each cell as a category, and then as 1 for the second value of the outcome, else 0
        make_step("compare/read_categories", "categories", tables=readings),
        make_step("compare/read_answers", "outcome"),
    ]


def _group(row: Sequence[Any], zero: Fraction, unit: Fraction) -> Group:
    """Return a group from a row of ``modelled``, whose outcomes are in units."""
    *values, records, total, squares = row
    n, units = int(records), int(total)
    mean = zero + Fraction(units, n) / unit
    spread = (int(squares) - Fraction(units * units, n)) / unit**2
    try:
        return Group(tuple(map(float, values)), n, float(mean), float(spread))
    except OverflowError as e:
        raise UnfittedError("the numbers of the outcome are too large") from e


def _compare_estimates(
    before: Estimate | None, after: Estimate | None, reason: str | None
) -> dict[str, Any]:
    """Return the columns of one coefficient that compare its estimates."""
    columns: dict[str, Any] = {}
    for when, estimate in zip(WHEN, (before, after), strict=True):
        if estimate is not None:
            value, error, low, high = estimate
            columns |= {f"estimate_{when}": value, f"standard_error_{when}": error}
            columns |= {f"low_{when}": low, f"high_{when}": high}
    if before is None or after is None:
        where = "original" if before is None else "release"
        return columns | {"reason": reason or f"the {where} has no such category"}
    common = intervals.overlap((before.low, before.high), (after.low, after.high))
    columns["overlap"] = common
    if common is None:
        return columns | {"reason": "an interval has no width: the model fits exactly"}
    difference = (after.value - before.value) / before.error
    return columns | {"standardised_difference": difference if math.isfinite(difference) else None}


def _comparable(model: Model, before: Fit, after: Fit) -> Fit:
    """Return the fit of a release; one without estimates if it compares with other categories."""
    changed = [j for j, first in after.references.items() if before.references.get(j) != first]
    if not changed:
        return after
    names = ", ".join(quoted(model.predictors[j].raw.name) for j in changed)
    return Fit(
        reason=f"the first category of {names}, which others are compared with, is not alone in "
        "any cell of the release"
    )
