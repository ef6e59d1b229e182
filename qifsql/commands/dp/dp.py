"""Privacy against utility of noisy counts, on given data (thesis chapter 6, M76 to M83)."""

from collections.abc import Sequence
from functools import partial
from typing import Unpack

import polars as pl

from qifsql.commands.dp import bind, epsilons, random_samples, scenario
from qifsql.commands.dp.bind import MOST_PREDICATES, Request
from qifsql.commands.dp.count import Counts, count_all
from qifsql.commands.dp.mechanisms import LOCAL, MECHANISMS
from qifsql.commands.dp.spec import BUDGETS, DpOptions
from qifsql.commands.dp.tradeoff import TRADEOFF, tradeoff_rows
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.option import as_tuple, complete
from qifsql.engine.catalog import Catalog
from qifsql.engine.csv_types import remarks
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings, with_seed
from qifsql.errors import InputError, did_you_mean, plural, quoted
from qifsql.results.result import Result
from qifsql.results.storage import Origin

MOST_ANSWERS = 1_000  # to one predicate


def dp(
    source: Tabular, *, settings: Settings | None = None, **options: Unpack[DpOptions]
) -> Result:
    """Compare the privacy loss and the utility of differentially private counts.

    Returns:
        A Result. frame: one row per epsilon and mechanism with privacy_loss (factor >= 1),
        utility and prior (in [0, 1]). details: scenario, how the useful attribute and the secret
        correlate; with samples, samples: the mean and intervals of loss and utility on them.

    Raises:
        InputError: The predicate is constant, the secret has one value, or an order is missing.
        ExpressionError: A condition does not fit the data.

    Example:
        >>> result = qifsql.dp("data-samples/school_census_2018.parquet", useful="TP_SEXO",
        ...     predicate="TP_SEXO = 2", secret="TP_COR_RACA", epsilon="ln 3")
        >>> result.frame["mechanism"].unique(maintain_order=True).to_list()
        ['oblivious', 'local']

    Source: M76 to M83; Ghosh et al. 2009, Kairouz et al. 2016.

    """
    options = complete(options, DpOptions)
    if options["samples"] is not None:  # they are random: the seed belongs to the result
        settings = with_seed(settings, (settings.seed if settings else None) or 0, "dp")
    origin = Origin.now(settings, "dp")
    levels = epsilons.parse(options["epsilon"])
    mechanisms = _named_mechanisms(options["mechanism"])
    _check_options(options)
    order, answers = options["order"], options["counts"]
    listed = bind.parse_order(order) if isinstance(order, str) else tuple(order)
    dataset = Dataset.open(source)
    budget, delta = options["budget"], options["delta"]
    with open_engine(settings, sources=[dataset]) as engine:
        request = bind.bind(Catalog(engine, dataset), options, listed)
        local = bool({*mechanisms} & {*LOCAL})
        n_samples, size = options["samples"], options["sample_size"]
        counted = count_all(
            engine,
            request,
            local=local,
            ordered="local" in mechanisms,
            sampled=n_samples is not None,
        )

        weigh = partial(tradeoff_rows, answers=answers, budget=budget, delta=delta)

        def measure(counts: Counts, level: epsilons.Epsilon) -> list[dict[str, object]]:
            return [row for mechanism in mechanisms for row in weigh(counts, level, mechanism)]

        rows: list[dict[str, object]] = []
        for i, epsilon in enumerate(levels, 1):
            engine.settings.progress("weighing", i / len(levels))
            rows += measure(counted, epsilon)
        details = {"scenario": scenario.scenario(counted)}
        if n_samples is not None:
            size = random_samples.size_of_samples(counted, n_samples, size)
            details["samples"] = random_samples.sample_rows(
                counted,
                [f"{origin.seed}/{i}" for i in range(n_samples)],
                size,
                measure_counts=lambda counts: (row for e in levels for row in measure(counts, e)),
                all_data=rows,
                progress=partial(engine.settings.progress, "drawing samples"),
            )
    description = _description(
        options, request, epsilons_asked=levels, mechanisms=mechanisms, sample_size=size
    )
    origin = origin.about(description, dataset.paths).sending(counted.statements)
    frame = pl.DataFrame(rows, schema=TRADEOFF)
    notes = [*_notes(request, counted, mechanisms, frame), *remarks(engine)]
    if answers > 1 and local:
        notes.append(
            "records are perturbed once, so with noise on them more counts reveal nothing new"
        )
    return Result(frame=frame, origin=origin, details=details, notes=tuple(notes))


def _description(
    options: DpOptions,
    request: Request,
    *,
    epsilons_asked: Sequence[epsilons.Epsilon],
    mechanisms: Sequence[str],
    sample_size: int | None,
) -> dict[str, object]:
    """Return what was asked, for the manifest."""
    dataset, n_samples = request.microdata.dataset, options["samples"]
    taken = ("useful", "secret", "where", "domain", "null", "counts", "budget", "delta")
    return {
        "dataset": dataset.name,
        **{name: options[name] for name in taken},  # type: ignore[literal-required]
        "predicates": list(as_tuple(options["predicate"])),
        **{name: value for name, value in dataset.read_with.items() if value},
        "epsilon": [epsilon.text for epsilon in epsilons_asked],
        "mechanisms": list(mechanisms),
        "order": list(request.order),
        **({"samples": n_samples, "sample_size": sample_size} if n_samples is not None else {}),
    }


def _named_mechanisms(mechanism: str | Sequence[str]) -> tuple[str, ...]:
    """Return the named mechanisms, in the order of ``MECHANISMS``."""
    texts = mechanism.split(",") if isinstance(mechanism, str) else list(mechanism)
    names = [text.strip().casefold().replace("-", "_") for text in texts]
    for name in names:
        if name not in MECHANISMS:
            raise InputError(
                f"there is no mechanism {quoted(name)}{did_you_mean(name, MECHANISMS)}"
            )
    if not names:
        raise InputError(f"no mechanism is named; name at least one of {', '.join(MECHANISMS)}")
    return tuple(name for name in MECHANISMS if name in names)


def _check_options(options: DpOptions) -> None:
    """Refuse missing predicates and impossible options."""
    predicates = as_tuple(options["predicate"])
    if not predicates:
        raise InputError('no predicate is given; write a condition, as in "a = 3"')
    if len(predicates) > MOST_PREDICATES:
        raise InputError(
            f"at most {MOST_PREDICATES} predicates are compared together, not {len(predicates)}"
        )
    counts, budget = options["counts"], options["budget"]
    if isinstance(counts, bool) or not isinstance(counts, int) or not 1 <= counts <= MOST_ANSWERS:
        raise InputError(f"counts is a whole number from 1 to {MOST_ANSWERS:,}")
    if budget not in BUDGETS:
        raise InputError(f"a budget is {' or '.join(BUDGETS)}, not {quoted(budget)}")
    if not 0 <= options["delta"] < 1:
        raise InputError("delta is a probability, from 0 to below 1")
    random_samples.check(options["samples"], options["sample_size"])


def _notes(
    request: Request, counts: Counts, mechanisms: Sequence[str], frame: pl.DataFrame
) -> list[str]:
    """Return remarks on missing values, on what epsilon promises, and on losses above the limit."""
    notes = []
    # Noise on records moves them between places, the values of the useful attribute; else 0.
    name, places = quoted(request.useful.name), len(counts.people)
    if places and counts.extent.missing:
        missing = plural(counts.extent.missing, "record")
        where = ", last in its order" if "local" in mechanisms else ""
        notes.append(f"{missing} without {name}: a missing value is one of its values{where}")
    if "local" in mechanisms and places > 2:
        notes.append(
            f"the local mechanism promises epsilon of neighbouring values of {name}; of those at "
            f"the two ends of its {places:,} values, {places - 1:,} times as much (epsilon_person)"
        )
    is_computed = pl.col("method") != "bound"
    # The loss without noise. A computed one may be wrong by its error, relative to the prior.
    limit = pl.col("privacy_loss_max") + pl.col("error") / pl.col("prior") + 1e-12  # of rounding
    if not frame.filter(is_computed, pl.col("privacy_loss") > limit).is_empty():
        notes.append(
            "noise on records loses more than the count without noise here: it distinguishes "
            "values for which the predicate gives the same answer"
        )
    return notes
