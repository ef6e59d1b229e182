"""k-anonymity, l-diversity, t-closeness and related levels of a partition.

Each measure is the level that all blocks meet: the smallest size, the fewest values, the largest
distance. Formulas and sources are in ``qifsql.measures.syntactic``, the counts in ``sql/levels``.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from qifsql.adversary.options import MATCH_ANY, Options
from qifsql.adversary.spec import Attack, Microdata, refuse
from qifsql.commands.levels import completed, grading, reported_secrets
from qifsql.commands.levels.grading import PEOPLE, SCHEMA, Run
from qifsql.commands.levels.spec import (
    SUPPRESSED,
    LevelOptions,
    exact,
    level_text,
    read_levels,
    required_k,
)
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.data.dataset import Dataset
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.option import complete
from qifsql.engine.settings import Settings
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, did_you_mean, quoted
from qifsql.presentation.small_groups import MINIMUM
from qifsql.results.result import Result
from qifsql.results.storage import Origin

REFUSED = tuple(n for n in Options.__annotations__ if n not in LevelOptions.__annotations__)


def levels(
    source: Source, *, settings: Settings | None = None, **options: Unpack[LevelOptions]
) -> Result:
    """Measure k-anonymity, l-diversity, t-closeness and related levels of the blocks.

    Required levels (k, l, t, ...) count the blocks and people that violate them, and make the
    result met or not.

    Returns:
        A Result. frame: one row per measure and secret (measure, secret, value, and with a
        required level blocks and people in violation; with match-any low and high). details:
        attacks (on whom homogeneity,
        background knowledge, skewness and similarity attacks succeed) and, with show_blocks,
        worst.

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.
        EngineError: Memory or disk ran out.

    Example:
        >>> result = qifsql.levels("data-samples/thesis_table_3_2.csv", qids="gender",
        ...     secret="illness", k=5)
        >>> dict(result.frame.select("measure", "value").rows())["k"]
        4.0
        >>> bool(result)
        False

    Source: M41 to M54; Sweeney 2002, Machanavajjhala et al. 2007, Li et al. 2007.

    """
    refuse(options, "levels", *REFUSED)
    thresholds, every_k = read_levels(options), required_k(options)
    options = complete(options, LevelOptions)
    any_value = options["null"] == MATCH_ANY
    if any_value:
        completed.check_options(options, thresholds, every_k)
    suppressed, show_blocks = options["suppressed"], options["show_blocks"]
    if suppressed not in SUPPRESSED:
        raise InputError(f"suppressed is one of {', '.join(SUPPRESSED)}")
    origin, skew = Origin.now(settings, "levels"), exact(options["skew"])
    if skew is None or skew <= 1:
        raise InputError("skew is how many times as likely a value is; give a number above 1")
    spec = _attack(source, options)
    population = None if options["population"] is None else Dataset.open(options["population"])
    hierarchies = _named_hierarchies(options)
    sources = () if population is None else (population,)
    command = "" if any_value else "levels"  # that Spark knows; bounds are found here alone
    with opened(spec, settings, sources=sources, command=command) as (engine, bound):
        run = Run(
            engine,
            spec,
            bound,
            thresholds=thresholds,
            every_k=every_k,
            population=population,
            suppressed="block" if any_value else suppressed,
        )
        answer = _count(run, hierarchies, skew, any_value=any_value, show_blocks=show_blocks)
        description = _description(run, options, hierarchies, skew)
        origin = origin.of(run.bound, spec, *answer.plans, **description)
        schema = SCHEMA | (PEOPLE if spec.person is not None else {})
        if any_value:
            tables = Tables(engine, "comparing missing values", bound.microdata.dataset.name)
            rows = completed.add_bounds(answer.rows, run.counts, tables)
            details = {name: table.clear() for name, table in answer.details.items()}
            answer = replace(answer, rows=rows, details=details)
            origin, schema = origin.sending(tables.statements), SCHEMA | completed.BOUNDS
        notes = run.remarks(answer.rows)
    trees = [str(h) for h in hierarchies.values() if not isinstance(h, Hierarchy)]
    frame = pl.DataFrame(answer.rows, schema=schema)
    if not show_blocks:  # leave out the values of a worst block that few people have
        is_large = pl.element().struct.field("records") >= MINIMUM
        frame = frame.with_columns(pl.col("worst_counts").list.eval(pl.element().filter(is_large)))
    judged = frame["met"].drop_nulls()
    return Result(
        frame=frame,
        origin=origin.reading((*trees, *(path for file in sources for path in file.paths))),
        details=answer.details,
        notes=notes,
        met=judged.all() if judged.len() else None,
    )


def _count(
    run: Run,
    hierarchies: Mapping[str, str | Path | Hierarchy],
    skew: Fraction,
    *,
    any_value: bool,
    show_blocks: bool,
) -> grading.Answer:
    """Count a run and return its levels, of the smaller protection where a secret is missing.

    ``any_value``: a missing value may be any. Levels then have missing values as values, to which
    bounds over all completions are added later.
    """
    run.count(_read_hierarchies(hierarchies, run.bound.microdata))
    if any_value:
        return run.answer(skew, show_blocks=show_blocks)
    if run.spec.person is not None:
        return reported_secrets.levels_in_both_readings(run, skew)
    return reported_secrets.smaller_levels(run, skew, show_blocks=show_blocks)


def _attack(source: Any, options: Mapping[str, Any]) -> Attack:
    """Return the attack whose blocks are measured; refuse a collection, and options of records."""
    spec = Attack.of(
        "cas" if options["secret"] else "crs",
        source,
        qids=options["qids"],
        secret=options["secret"],
        where=options["where"],
        null="drop" if options["null"] == "drop" else "distinct",
        person=options["person"],
        any_value=options["null"] == MATCH_ANY,
    )
    if spec.of_collection:
        raise InputError("levels are those of one release; name one file")
    refused = [n for n in ("show_blocks", "population", "hierarchy") if options[n]]
    if options["null"] == MATCH_ANY:
        refused.append("null match-any")
    if options["suppressed"] != SUPPRESSED[0]:
        refused.append("suppressed")
    if options["person"] is not None and refused:
        raise InputError(
            f"{refused[0]} is about single records, and with person each block is of people "
            "and their records; leave one of them out"
        )
    return spec


def _description(
    run: Run, options: LevelOptions, hierarchies: Mapping[str, Any], skew: Fraction
) -> dict[str, Any]:
    """Return what was asked besides the attack, for the manifest."""
    level_texts = {name: level_text(value) for name, value in run.thresholds.items()}
    if run.every_k:
        level_texts["k"] = ",".join(map(level_text, run.every_k))
    description: dict[str, Any] = {
        "wanted": level_texts,
        "suppressed": options["suppressed"],
        "skew": level_text(skew),
        "population": None if run.population is None else run.population.name,
        "hierarchy": {
            secret: source.name if isinstance(source, Hierarchy) else Path(source).name
            for secret, source in hierarchies.items()
        },
    }
    return description | ({"null": MATCH_ANY} if options["null"] == MATCH_ANY else {})


def _named_hierarchies(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the hierarchies by secret; InputError if a file does not say of which it is."""
    hierarchies = options["hierarchy"] or {}
    if not isinstance(hierarchies, Mapping):
        raise InputError(
            'hierarchy names the file of each secret, as in {"illness": "illness.csv"}'
        )
    return hierarchies


def unmet_levels(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the required levels that are not met: ``k`` (of several ``k = 5``), ``t of job``."""
    has_several_k = frame.filter(pl.col("measure") == "k").height > 1
    names = []
    for row in frame.filter(pl.col("met").not_()).iter_rows(named=True):
        name = row["measure"] if row["secret"] is None else f"{row['measure']} of {row['secret']}"
        is_k = row["measure"] == "k"
        names.append(f"k = {row['wanted']:.0f}" if has_several_k and is_k else name)
    return tuple(names)


def _read_hierarchies(
    sources: Mapping[str, str | Path | Hierarchy], microdata: Microdata
) -> dict[int, Hierarchy]:
    """Return the hierarchies of secrets by the number of the secret, from 1."""
    numbers = {secret.name: j for j, secret in enumerate(microdata.secrets, 1)}
    hierarchies = {}
    for name, source in sources.items():
        if name not in numbers:
            raise InputError(
                f"the hierarchy is of {quoted(name)}, which is not a secret here"
                f"{did_you_mean(name, numbers)}"
            )
        tree = source if isinstance(source, Hierarchy) else Hierarchy.read(source)
        tree.check_levels()
        mark = getattr(microdata.dataset, "decimal", None)
        type_ = microdata.secrets[numbers[name] - 1].type
        hierarchies[numbers[name]] = tree.of_type(type_, mark)
    return hierarchies
