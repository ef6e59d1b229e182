"""Estimate the number of population uniques from a sample.

A person who is unique in the sample may match people who were not drawn. Sources: see
``qifsql.measures.uniqueness``; Franconi and Polettini 2004 (individual risk, mu-Argus).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Unpack

import polars as pl

from qifsql.adversary.spec import Attack
from qifsql.commands.estimate.cautions import caution_of, cautions
from qifsql.commands.estimate.sample import Counted, Sampled
from qifsql.commands.estimate.spec import ASSUMES, CAUTIONS, EstimateOptions
from qifsql.counting.session import note_left_out, opened
from qifsql.data.dataset import Tabular
from qifsql.data.exact import share
from qifsql.data.option import complete
from qifsql.engine.settings import Settings
from qifsql.errors import InputError
from qifsql.measures.uniqueness import (
    REMARKS,
    Sizes,
    Uniques,
    dankar,
    pitman,
    snb,
    unique_match,
    zayatz,
)
from qifsql.query import microdata_steps
from qifsql.query.columns import native_types
from qifsql.results.result import Result
from qifsql.results.storage import Origin, stream, streamed_place

ESTIMATES: dict[str, pl.DataType] = {
    "qids": pl.List(pl.String()),
    "n_qids": pl.Int64(),
    **dict.fromkeys(("method", "takes"), pl.String()),
    **dict.fromkeys(("records", "blocks", "singled_out", "population"), pl.Int64()),
    "fraction": pl.Float64(),
    "converged": pl.Boolean(),
    **dict.fromkeys(("population_uniques", "population_share", "of_sample_uniques"), pl.Float64()),
    **dict.fromkeys(("fitted_alpha", "fitted_theta", "fitted_beta"), pl.Float64()),
    "fitted_classes": pl.Float64(),
    **dict.fromkeys(("assumes", "remark", "caution"), pl.String()),
    "seconds": pl.Float64(),
}
"""One row per method; ``takes`` is the method that the rule of Dankar et al. uses.
``population_uniques`` is the expected number of unique people in the ``population``,
``population_share`` their share of it. ``of_sample_uniques`` is the share of the people
``singled_out`` in the sample who are unique in the population, too. Both shares are in [0, 1]. They
are NULL if a method has no answer (``converged`` is false, ``remark`` states the reason) or the
sample has no uniques. ``caution`` states why the estimate is out of the range in which the method
was near the truth; NULL if it is in range. No estimate has an interval. ``fitted_*`` are the
parameters of a fitted model, ``fitted_classes`` is its number of blocks in the population."""

PEOPLE: dict[str, pl.DataType] = {"people": pl.Int64(), "known_records": pl.String()}
"""Further columns with a person: ``people`` of the sample, each with all her ``records``, which are
known (``known_records`` is ``all``). ``individual`` has ``people`` in place of ``records``."""

MOST_PEOPLE = 10**15  # of a population

INDIVIDUAL: dict[str, pl.DataType] = {
    "records": pl.Int64(),
    **dict.fromkeys(("expected_reidentified", "mean_risk", "highest_risk"), pl.Float64()),
    "unique_match": pl.Float64(),
}
"""One row. The risk of a record is the chance that a link with the right block of the population
hits the right person, E(1/F | f); ``expected_reidentified`` is the sum over the records.
``unique_match`` is the chance that somebody of the population who matches exactly one record
matches the right one (Skinner and Elliot's DIS), NULL if the sample does not allow an estimate."""

HOUSEHOLDS: dict[str, pl.DataType] = {
    "household": pl.String(),
    **dict.fromkeys(("households", "people", "people_without"), pl.Int64()),
    **dict.fromkeys(("risk", "risk_low", "risk_high", "worst_risk"), pl.Float64()),
    **dict.fromkeys(("expected_people", "mean_risk"), pl.Float64()),
}
"""One row, with ``household``: the risk that a household is found through a member. ``risk`` is the
mean over the households of 1 - prod (1 - risk of a member), ``risk_low`` and ``risk_high`` its
bounds for any dependence, ``worst_risk`` the largest of a household. ``expected_people`` is the sum
over the records, each with the risk of its household, ``mean_risk`` its share of the records. A
record without a household (``people_without``) counts as a household of one."""

HISTOGRAM: dict[str, pl.DataType] = {"bin": pl.Int64(), "individuals": pl.Int64()}
"""People by their risk in percent, rounded half to even."""


NOTE_ON_PEOPLE = (  # with several records each
    "people are taken to have been drawn, each with all her records, and an adversary to know all "
    "of them; who knows one record of a person finds no more uniques. If records were drawn and "
    "not people, those with many records are drawn too often, and no method here holds"
)


def estimate(
    source: Tabular, *, settings: Settings | None = None, **options: Unpack[EstimateOptions]
) -> Result:
    """Estimate population uniqueness and the risk of records from a sample.

    Give one of fraction, population_size or sampling_weight.

    Returns:
        A Result. frame: one row per method with population_uniques (people), population_share in
        [0, 1], and caution where a method is out of its range; the range over methods is no
        confidence interval; with a person also people and known_records (all). details:
        individual (risk in [0, 1]) and histogram (people by risk).

    Raises:
        InputError: No fraction, or one outside (0, 1]; records of each with a person.
        WeightError: The weights are not those of a sample.
        EngineError: Memory or disk ran out.

    Example:
        >>> result = qifsql.estimate("data-samples/school_census_2018.parquet",
        ...     qids="NU_ANO,TP_SEXO,CO_ENTIDADE", fraction=0.1)
        >>> result.frame["method"].to_list()[0]
        'dankar'

    Source: M69 to M74, M195 (households); Zayatz 1991, Hoshino 2001, Chen and Keller-McNulty 1998,
    Dankar et al. 2012, Franconi and Polettini 2004, Skinner and Elliot 2002.

    """
    options = complete(options, EstimateOptions)
    fraction = _fraction(options)
    _check_people(options)
    origin = Origin.now(settings, "estimate")
    spec = _reidentification(source, options)
    out = streamed_place(options["records"], spec.dataset.paths)
    outputs = [] if out is None else [out]
    with opened(spec, settings, outputs=outputs, ordered=out is not None) as (engine, bound):
        microdata = bound.microdata
        sample = Sampled(engine, bound, fraction)
        counted = sample.count()
        sizes = Sizes(counted.blocks, sample.fraction)
        details = _risk_tables(sizes, counted)
        if microdata.household is not None:
            row = {"household": microdata.household.name} | sample.households()
            details["households"] = pl.DataFrame([row], schema=HOUSEHOLDS)
        extent = {"fraction": float(sample.fraction), "population": sizes.population}
        if out is not None:
            records_plan = sample.every_record(native_types(out))
            file_origin = origin.of(bound, spec, *sample.plans, records_plan, **extent)
            stream(engine, records_plan, out, file_origin, what="writing records")
        origin = origin.of(bound, spec, *sample.plans, **extent)
        left_out = note_left_out(engine, microdata)
        counting = microdata_steps.records_plan(microdata, people=True)
        ((records,),) = engine.rows(counting, "counting records", microdata.dataset.name)
    estimates = estimate_by_method(sizes, counted.unique_shares)
    weight = microdata.weight
    weights = (weight.name, sample.weights) if weight and sample.weights else None
    households = "households" in details
    notes = [*microdata.notes, *left_out]
    notes += cautions(sizes, counted, estimates, weights, sample.unit, households=households)
    further: dict[str, Any] = {"seconds": origin.seconds}  # the same in all rows
    further["qids"] = [q.name for q in microdata.qids]
    further["n_qids"] = len(microdata.qids)
    schema = ESTIMATES
    if microdata.person is not None:
        further |= {"records": records, "people": sizes.records, "known_records": "all"}
        details["individual"] = details["individual"].rename({"records": "people"})
        notes.append(NOTE_ON_PEOPLE)
        schema = ESTIMATES | PEOPLE
    rows = [row | further for row in _rows(sizes, estimates)]
    frame = pl.DataFrame(rows, schema=schema)
    return Result(frame=frame, origin=origin, details=details, notes=tuple(notes))


def _reidentification(source: Tabular, options: EstimateOptions) -> Attack:
    """Return the attack whose blocks are those of the sample."""
    return Attack.of(
        "crs",
        source,
        qids=options["qids"],
        weight=options["sampling_weight"],
        key=options["key"],
        where=options["where"],
        null=options["null"],
        person=options["person"],
        household=options["household"],
    )


def estimate_by_method(sizes: Sizes, shares: Fraction) -> list[Uniques]:
    """Return the estimated population uniques by every method, the recommended one first.

    It is one exact number if the sample is the population. ``shares`` is the sum, over the uniques
    of the sample, of the chance that nobody else in the population matches them. ``dankar`` is a
    rule that chooses one of the models by the sampling fraction.
    """
    if sizes.fraction == 1:
        return [Uniques("exact", float(sizes.alone))]
    by_model = {u.method: u for u in (zayatz(sizes), pitman(sizes), snb(sizes))}
    number = min(shares / sizes.fraction, Fraction(sizes.population))
    by_risk = Uniques("franconi_polettini", float(number))
    return [dankar(by_model, sizes.fraction), *by_model.values(), by_risk]


def _check_people(options: EstimateOptions) -> None:
    """Refuse a key without a file of records, and a household or such a file with a person."""
    if options["key"] is not None and options["records"] is None:
        raise InputError("a key names the people in a file of records; name one with --records")
    if options["person"] is not None and options["household"] is not None:
        raise InputError(
            "estimated risks of households are those of people with one record each; leave "
            "household or person out (attack and check take both)"
        )
    if options["person"] is not None and options["records"] is not None:
        raise InputError(
            "with a person the risk is one of people and their sets of records, and no "
            "record has a risk of its own; leave records or person out"
        )


def _fraction(options: EstimateOptions) -> Fraction | int | None:
    """Return the one that is given: sampling fraction, population size (int) or weights (None)."""
    fraction, population = options["fraction"], options["population_size"]
    ways = (fraction, population, options["sampling_weight"])
    if sum(way is not None for way in ways) != 1:
        raise InputError(
            "say in one way how the sample was drawn: its share of the population (--fraction "
            "0.01), the people of the population (--population-size 1000000), or sampling weights "
            "(--sampling-weight COLUMN)"
        )
    if fraction is not None:
        return share(fraction)
    is_number = not isinstance(population, bool)
    if population is not None and not (is_number and 1 <= population <= MOST_PEOPLE):
        raise InputError(
            f"a population is a whole number of people, at least 1 and at most {MOST_PEOPLE:,}"
        )
    return population


def _rows(sizes: Sizes, estimates: Sequence[Uniques]) -> list[dict[str, Any]]:
    """Return the columns of each method (``ESTIMATES``) that differ from method to method."""
    # Whether the fit of Pitman's model shows that blocks are more even than in it.
    even = any(e.method == "pitman" and e.remark == REMARKS["even"] for e in estimates)
    return [_row(sizes, uniques, even=even) for uniques in estimates]


def _row(sizes: Sizes, uniques: Uniques, *, even: bool) -> dict[str, Any]:
    """Return the columns of one method (``ESTIMATES``) that it has.

    ``even``: the blocks of the sample are more even than in Pitman's model.
    """
    reason = caution_of(sizes, uniques, even=even)
    row: dict[str, Any] = {
        "method": uniques.method,
        "takes": uniques.takes,
        "records": sizes.records,
        "blocks": sizes.distinct,
        "singled_out": sizes.alone,
        "population": sizes.population,
        "fraction": float(sizes.fraction),
        "converged": uniques.number is not None,
        "assumes": ASSUMES[uniques.method],
        "remark": uniques.problem or uniques.remark or None,
        "caution": None if reason is None else CAUTIONS[reason],
    }
    if uniques.number is not None:
        row |= {
            "population_uniques": uniques.number,
            "population_share": uniques.number / sizes.population,
        }
        if sizes.alone:  # the share of the sample's uniques that are unique in the population
            expected_share = uniques.number * float(sizes.fraction) / sizes.alone
            row["of_sample_uniques"] = min(expected_share, 1.0)
    return row | {f"fitted_{name}": value for name, value in uniques.parameters.items()}


def _risk_tables(sizes: Sizes, counted: Counted) -> dict[str, pl.DataFrame]:
    """Return the details ``individual`` (one row) and ``histogram``."""
    row = {
        "records": sizes.records,
        "expected_reidentified": float(counted.risks),
        "mean_risk": float(counted.risks / sizes.records),
        "highest_risk": counted.highest,
        "unique_match": unique_match(sizes),
    }
    bins = pl.DataFrame(list(counted.bins.items()), schema=HISTOGRAM, orient="row")
    return {"individual": pl.DataFrame([row], schema=INDIVIDUAL), "histogram": bins}
