"""Privacy against utility of noisy counts, on given data (thesis chapter 6, spec section 9)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from qifsql.dataset import Dataset
from qifsql.engine.catalog import Catalog
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, did_you_mean, quoted, several
from qifsql.export import Origin
from qifsql.mechanisms import asking, epsilons, reports, scenario
from qifsql.mechanisms.asking import PREDICATES, Asked
from qifsql.mechanisms.counting import Counts, count
from qifsql.mechanisms.epsilons import Epsilon
from qifsql.mechanisms.reports import LOCAL, MECHANISMS, Report
from qifsql.mechanisms.semantic import semantic
from qifsql.spec import NullRule

BUDGETS = ("split", "sum")
ANSWERS = 1_000  # to one predicate

TRADEOFF: dict[str, pl.DataType] = {
    "epsilon": pl.Float64(),
    "epsilon_given": pl.String(),
    "mechanism": pl.String(),
    "predicate": pl.Int64(),
    "answers": pl.Int64(),
    "privacy_loss": pl.Float64(),
    "privacy_loss_min": pl.Float64(),
    "privacy_loss_max": pl.Float64(),
    "utility": pl.Float64(),
    "utility_min": pl.Float64(),
    "utility_max": pl.Float64(),
    "prior": pl.Float64(),
    "posterior": pl.Float64(),
    "epsilon_answer": pl.Float64(),
    "epsilon_person": pl.Float64(),
    "privacy_loss_promised": pl.Float64(),
    "semantic_distance": pl.Float64(),
    "semantic_failure": pl.Float64(),
    "method": pl.String(),
    "error": pl.Float64(),
}
"""One row per epsilon, mechanism and predicate.

``epsilon`` is as asked for, in nats. ``predicate`` is its number, from 1; NULL for all together.
``answers`` are the noisy answers that are seen. ``privacy_loss`` is the multiplicative Bayes
leakage of the added record's secret (thesis Def. 28), ``prior`` and ``posterior`` its success before
and after, ``utility`` the posterior success in guessing the real count (Def. 29). ``_min`` and ``_max``
are what they come to as epsilon goes to 0, and without noise. ``epsilon_answer`` is what each noisy
answer has, ``epsilon_person`` what all of them promise of one record, ``privacy_loss_promised`` the
most that this allows whatever the data (e^epsilon_person, at most 1/prior). ``semantic_distance``
and ``semantic_failure``: see ``qifsql.mechanisms.semantic``. ``error`` bounds how far ``posterior``
and ``utility`` may be off, beyond the rounding to a floating number."""


@dataclass(frozen=True)
class Tradeoff:
    """What each epsilon costs and buys (``TRADEOFF``), the ``scenario`` of the data, remarks."""

    frame: pl.DataFrame
    scenario: pl.DataFrame
    origin: Origin
    predicates: tuple[str, ...]
    useful: str
    secret: str
    notes: tuple[str, ...] = ()


def dp(
    source: str | Path | Dataset,
    *,
    useful: str,
    predicate: str | Sequence[str],
    secret: str,
    epsilon: str | float | Sequence[str | float],
    mechanism: str | Sequence[str] = ("oblivious", "local"),
    order: str | Sequence[str] = (),
    domain: str = "observed",
    counts: int = 1,
    budget: str = "split",
    delta: float = 0.0,
    where: str | None = None,
    null: NullRule = "distinct",
    settings: Settings | None = None,
) -> Tradeoff:
    """Weigh the privacy that noisy counts lose against the utility that they have.

    ``predicate`` is a SQL condition over the attribute ``useful``, whose records are counted; of
    several, each is. Everybody in the data is known, and one record more, drawn from them, is what
    the adversary wants to know ``secret`` of (thesis Defs. 26 to 29). ``epsilon``: numbers and
    logarithms, ``"ln 3, 1, 2.5"``. ``mechanism``: ``oblivious`` (truncated geometric noise on the
    count), ``local`` (the same on the useful attribute of every record), ``randomised_response``
    (k-ary, on every record). ``order`` lists the values of the useful attribute where their type
    has no order, ``domain`` is ``observed`` (its values in the data) or ``whole`` (all whole
    numbers between). ``counts``: each predicate is asked so many times. ``budget``: of several
    answers each has its part of epsilon (``split``), or all of it (``sum``); records are
    perturbed once, with the whole epsilon, whatever is counted of them. ``delta``: read epsilon as
    (epsilon, delta) where semantic privacy is told. ``null``: a missing value is a value, last in
    the order (``distinct``), or its records are left out (``drop``).
    """
    origin = Origin.now(settings)
    each = epsilons.read(epsilon)
    mechanisms = _mechanisms(mechanism)
    predicates = (predicate,) if isinstance(predicate, str) else tuple(predicate)
    _check(predicates, counts=counts, budget=budget, delta=delta)
    listed = (order,) if isinstance(order, str) else tuple(order)
    dataset = Dataset.open(source)
    with DuckDB(settings) as engine:
        asked = asking.bind(
            Catalog(engine, dataset),
            useful=useful,
            predicates=predicates,
            secret=secret,
            order=listed,
            domain=domain,
            where=where,
            null=null,
        )
        local, ordered = bool({*mechanisms} & {*LOCAL}), "local" in mechanisms
        counted = count(engine, asked, local=local, ordered=ordered)
        rows: list[dict[str, object]] = []
        for i, one in enumerate(each):
            engine.settings.progress("weighing", i / len(each))
            for name in mechanisms:
                rows += _rows(counted, one, name, answers=counts, budget=budget, delta=delta)
    spec = _asked(asked, dataset, predicates, useful=useful, secret=secret)
    spec |= {
        "epsilon": [e.text for e in each],
        "mechanisms": list(mechanisms),
        "order": list(listed),
    }
    spec |= {"domain": domain, "counts": counts, "budget": budget, "delta": delta}
    origin = origin.about(spec | {"where": where, "null": null}, dataset.paths).sending(
        counted.sent
    )
    frame = pl.DataFrame(rows, schema=TRADEOFF)
    names = asked.useful.name, asked.attack.secrets[0].name
    notes = _notes(asked, counted, mechanisms)
    return Tradeoff(frame, scenario.scenario(counted), origin, predicates, *names, notes)


def _mechanisms(given: str | Sequence[str]) -> tuple[str, ...]:
    """The mechanisms that are named, in their order."""
    texts = given.split(",") if isinstance(given, str) else list(given)
    names = [text.strip().casefold().replace("-", "_") for text in texts]
    for name in names:
        if name not in MECHANISMS:
            raise InputError(
                f"there is no mechanism {quoted(name)}{did_you_mean(name, MECHANISMS)}"
            )
    if not names:
        raise InputError(f"no mechanism is named; name some of {', '.join(MECHANISMS)}")
    return tuple(name for name in MECHANISMS if name in names)


def _check(predicates: Sequence[str], *, counts: int, budget: str, delta: float) -> None:
    """Refuse what is not a question."""
    if not predicates:
        raise InputError('no predicate is given; write a condition, as in "a = 3"')
    if len(predicates) > PREDICATES:
        raise InputError(
            f"at most {PREDICATES} predicates are weighed together, not {len(predicates)}"
        )
    if isinstance(counts, bool) or not isinstance(counts, int) or not 1 <= counts <= ANSWERS:
        raise InputError(f"counts is a whole number from 1 to {ANSWERS:,}")
    if budget not in BUDGETS:
        raise InputError(f"a budget is {' or '.join(BUDGETS)}, not {quoted(budget)}")
    if not 0 <= delta < 1:
        raise InputError("delta is a probability, from 0 to below 1")


def _rows(
    counts: Counts, epsilon: Epsilon, mechanism: str, *, answers: int, budget: str, delta: float
) -> Iterator[dict[str, object]]:
    """A row for each predicate, and one for all of them where there are several."""
    bits = range(max(counts.totals).bit_length())
    several_bits = [(i,) for i in bits] + ([tuple(bits)] if len(bits) > 1 else [])
    for chosen in several_bits:
        if mechanism == "oblivious":
            parts = len(bits) * answers if budget == "split" else 1
            each = epsilon.part(parts)
            report = reports.oblivious(counts, each, chosen, answers)
            seen, person = len(chosen) * answers, float(each.value) * len(chosen) * answers
        else:
            each, seen = epsilon, len(chosen)
            steps = len(counts.people) - 1 if mechanism == "local" else 1
            person = float(epsilon.value) * steps
            report = (
                reports.local(counts, epsilon, chosen[0], mechanism)
                if len(chosen) == 1
                else reports.local_bound(counts, epsilon, mechanism)
            )
        yield {
            "epsilon": float(epsilon.value),
            "epsilon_given": epsilon.text,
            "mechanism": mechanism,
            "predicate": chosen[0] + 1 if len(chosen) == 1 else None,
            "answers": seen,
            "epsilon_answer": float(each.value),
            "epsilon_person": person,
            **_measured(counts, report, chosen),
            **_promised(counts, person, delta),
        }


def _measured(counts: Counts, report: Report, bits: Sequence[int]) -> dict[str, object]:
    """The numbers of a report, between those without a report and without noise."""
    records, likeliest = counts.extent.records, counts.likeliest
    sure, most = reports.without_noise(counts, bits)
    posterior, utility = report.posterior, report.utility
    errors = [posterior.error, utility.error if utility else 0.0]
    return {
        "privacy_loss": float(posterior.value * records / likeliest),
        "privacy_loss_min": 1.0,
        "privacy_loss_max": sure / likeliest,
        "utility": float(utility.value) if utility else None,
        "utility_min": most / records,
        "utility_max": 1.0,
        "prior": likeliest / records,
        "posterior": float(posterior.value),
        "method": report.method,
        "error": max(errors),
    }


def _promised(counts: Counts, epsilon: float, delta: float) -> dict[str, object]:
    """What epsilon promises whatever the data: the most that is lost, and how far beliefs move."""
    beliefs = semantic(epsilon, delta, counts.extent.records + 1)
    most = counts.extent.records / counts.likeliest
    return {
        "privacy_loss_promised": min(most, math.exp(min(epsilon, 700.0))),
        "semantic_distance": beliefs.distance,
        "semantic_failure": beliefs.failure,
    }


def _asked(
    asked: Asked, dataset: Dataset, predicates: Sequence[str], *, useful: str, secret: str
) -> dict[str, object]:
    """What was asked for, as plain data for manifests and JSON."""
    found: dict[str, object] = {
        "dataset": dataset.name,
        "useful": useful,
        "predicates": list(predicates),
        "secret": secret,
    }
    if dataset.format == "csv":
        own = asked.attack.dataset
        delimiter = own.delimiter if isinstance(own, Dataset) else None
        found["csv"] = {
            "all_varchar": dataset.all_varchar,
            "delimiter": delimiter,
            "encoding": dataset.encoding,
        }
    return found


def _notes(asked: Asked, counts: Counts, mechanisms: Sequence[str]) -> tuple[str, ...]:
    """What the reader should know before reading the numbers."""
    notes = []
    name, places = quoted(asked.useful.name), len(counts.people)
    if places and counts.extent.missing:
        missing = several(counts.extent.missing, "record")
        where = ", last in its order" if "local" in mechanisms else ""
        notes.append(f"{missing} without {name}: a missing value is one of its values{where}")
    if "local" in mechanisms and places > 2:
        notes.append(
            f"the local mechanism promises epsilon of neighbouring values of {name}; of those at "
            f"the two ends of its {places:,} values, {places - 1:,} times as much (epsilon_person)"
        )
    return tuple(notes)
