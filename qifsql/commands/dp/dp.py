"""Privacy against utility of noisy counts, on given data (thesis chapter 6, spec section 9)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

from qifsql.adversary.options import NullRule
from qifsql.commands.dp import bind, epsilons, scenario
from qifsql.commands.dp.bind import PREDICATES, Request
from qifsql.commands.dp.count import Counts, count
from qifsql.commands.dp.mechanisms import LOCAL, MECHANISMS
from qifsql.commands.dp.tradeoff import TRADEOFF, weighed
from qifsql.data.dataset import Dataset
from qifsql.engine.catalog import Catalog
from qifsql.engine.csv_types import remarks
from qifsql.engine.protocol import open_engine
from qifsql.engine.settings import Settings
from qifsql.errors import InputError, did_you_mean, quoted, several
from qifsql.results.result import Result
from qifsql.results.storage import Origin

BUDGETS = ("split", "sum")
ANSWERS = 1_000  # to one predicate


ONCE = "records are perturbed once, so with noise on them more counts tell nothing new"


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
) -> Result:
    """Weigh the privacy that noisy counts lose against the utility that they have.

    ``predicate`` is a SQL condition over the attribute ``useful``, whose records are counted; of
    several, each is. Everybody in the data is known, and one record more, drawn from them, is what
    the adversary wants to know ``secret`` of (thesis Defs. 26 to 29). ``epsilon``: numbers and
    logarithms, ``"ln 3, 1, 2.5"``. ``mechanism``: ``oblivious`` (truncated geometric noise on the
    count), ``local`` (the same on the useful attribute of every record), ``randomised_response``
    (k-ary, on every record). ``order`` lists the values of the useful attribute where their type
    has no order (a text is one CSV row), ``domain`` is ``observed`` (its values in the data) or
    ``whole`` (all whole numbers between). ``counts``: each predicate is asked so many times.
    ``budget``: of several answers each has its part of epsilon (``split``), or all of it
    (``sum``); records are perturbed once, with the whole epsilon, whatever is counted of them.
    ``delta``: read epsilon as (epsilon, delta) where semantic privacy is told. ``null``: a missing
    value is a value, last in the order, and satisfies a predicate only if that says so
    (``distinct``), or its records are left out (``drop``).

    The result has the columns of ``tradeoff.TRADEOFF``; the ``scenario`` among its details, those
    of ``scenario.SCENARIO``, says how the useful attribute and the secret hang together.

    Raises InputError where the predicate is constant, the secret has one value, or an order is
    missing; ColumnError and ExpressionError where names, types or conditions do not fit.
    """
    origin = Origin.now(settings, "dp")
    each, mechanisms = epsilons.read(epsilon), _mechanisms(mechanism)
    predicates = (predicate,) if isinstance(predicate, str) else tuple(predicate)
    _check(predicates, counts=counts, budget=budget, delta=delta)
    listed = bind.listed_in(order) if isinstance(order, str) else tuple(order)
    dataset = Dataset.open(source)
    with open_engine(settings, sources=[dataset]) as engine:
        request = bind.bind(
            Catalog(engine, dataset),
            useful=useful,
            predicates=predicates,
            secret=secret,
            order=listed,
            domain=domain,
            where=where,
            null=null,
        )
        local = bool({*mechanisms} & {*LOCAL})
        counted = count(engine, request, local=local, ordered="local" in mechanisms)
        weigh = partial(weighed, counted, answers=counts, budget=budget, delta=delta)
        rows: list[dict[str, object]] = []
        for i, one in enumerate(each, 1):
            engine.settings.progress("weighing", i / len(each))
            rows += [row for m in mechanisms for row in weigh(one, m)]
    spec = _describe(request, dataset, predicates, useful=useful, secret=secret)
    spec |= {"epsilon": [e.text for e in each], "mechanisms": list(mechanisms), "where": where}
    spec |= {"order": list(listed), "domain": domain, "null": null}
    spec |= {"counts": counts, "budget": budget, "delta": delta}
    origin = origin.about(spec, dataset.paths).sending(counted.statements)
    frame = pl.DataFrame(rows, schema=TRADEOFF)
    notes = (*_notes(request, counted, mechanisms, frame), *remarks(engine))
    notes += (ONCE,) if counts > 1 and local else ()
    details = {"scenario": scenario.scenario(counted)}
    return Result(frame=frame, origin=origin, details=details, notes=notes)


def _mechanisms(mechanism: str | Sequence[str]) -> tuple[str, ...]:
    """The mechanisms that are named, in their order."""
    texts = mechanism.split(",") if isinstance(mechanism, str) else list(mechanism)
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


def _describe(
    request: Request, dataset: Dataset, predicates: Sequence[str], *, useful: str, secret: str
) -> dict[str, object]:
    """What was asked for, as plain data for manifests and JSON."""
    spec: dict[str, object] = {
        "dataset": dataset.name,
        "useful": useful,
        "predicates": list(predicates),
        "secret": secret,
    }
    if dataset.format == "csv":
        source = request.attack.dataset
        delimiter = source.delimiter if isinstance(source, Dataset) else None
        spec["csv"] = {
            "all_varchar": dataset.all_varchar,
            "delimiter": delimiter,
            "encoding": dataset.encoding,
        }
    return spec


def _notes(
    request: Request, counts: Counts, mechanisms: Sequence[str], frame: pl.DataFrame
) -> tuple[str, ...]:
    """What the reader should know before reading the numbers."""
    notes = []
    name, places = quoted(request.useful.name), len(counts.people)
    if places and counts.extent.missing:
        missing = several(counts.extent.missing, "record")
        where = ", last in its order" if "local" in mechanisms else ""
        notes.append(f"{missing} without {name}: a missing value is one of its values{where}")
    if "local" in mechanisms and places > 2:
        notes.append(
            f"the local mechanism promises epsilon of neighbouring values of {name}; of those at "
            f"the two ends of its {places:,} values, {places - 1:,} times as much (epsilon_person)"
        )
    exact = pl.col("method") != "bound"
    most = pl.col("privacy_loss_max") + pl.col("error") / pl.col("prior") + 1e-12
    if not frame.filter(exact, pl.col("privacy_loss") > most).is_empty():
        notes.append(
            "noise on records loses more than the count without noise here: it tells values apart "
            "for which the predicate gives the same answer"
        )
    return tuple(notes)
