"""Sweep over every subset of the quasi-identifiers: re-identification and every secret."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast

import polars as pl

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, refuse
from qifsql.commands.sweep import kernel_choice, plan
from qifsql.commands.sweep.affordable import affordable, expected_seconds
from qifsql.commands.sweep.result import UNREPORTED, Sweep
from qifsql.commands.sweep.spec import SweepOptions, SweepSpec, Tell
from qifsql.commands.sweep.strategies import strategy_for
from qifsql.commands.sweep.sweep_run import SweepRun
from qifsql.commands.sweep.workspace import follow_link, lock_workspace, prepare_file
from qifsql.counting import missing_secrets
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.data.option import check_names
from qifsql.engine.masks import private
from qifsql.engine.progress import silent
from qifsql.engine.settings import Settings
from qifsql.engine.temporary import remove
from qifsql.errors import EngineError, Interrupted, quoted
from qifsql.query.microdata_steps import twice_where_reported
from qifsql.results.assessment import REPORTED
from qifsql.results.storage import Origin

__all__ = ("affordable", "expected_seconds", "rehearse", "run", "sweep")

OF_RECORDS = ("search", "sample", "releases", "weight")
REFUSED = ("target", "member", "gain", "prior", "by", "thresholds", "quantiles")


def sweep(
    source: Source,
    *,
    workspace: str | Path | None = None,
    keep: bool = True,
    told: Tell | None = None,
    settings: Settings | None = None,
    **options: Unpack[SweepOptions],
) -> Sweep:
    """Attack with every subset of the quasi-identifiers.

    All subsets are counted in one pass over coded tables. A workspace resumes after an
    interruption.

    Args:
        workspace: File that stores finished work to resume from; by default memory.
        keep: Keep the workspace after success.

    Returns:
        A Sweep. frame: one row per subset and question, with the columns of an attack, k, l and
        subset (bit i stands for the i-th quasi-identifier). details: best, shapley, interactions,
        drop_first, coarsen_first and, with a threshold, borders (minimal risky and maximal safe
        subsets) and sure (whom an adversary names who is so sure).

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.
        EngineError: Memory or disk ran out.
        Interrupted: Ctrl-C, or the time budget is used up; the same call resumes from the
            workspace.

    Example:
        >>> result = qifsql.sweep("data-samples/school_census_2018.parquet",
        ...     qids="NU_DIA,NU_MES,NU_ANO")
        >>> result.frame.height
        7
        >>> result.details["drop_first"]["qid"][0]
        'NU_ANO'

    Source: M34 to M40 (subsets, Shapley values, borders, samples), M217 (sure).

    """
    refuse(options, "a sweep", *REFUSED)
    check_names({n: v for n, v in options.items() if n not in REFUSED}, SweepOptions)
    spec = SweepSpec.of(
        options,
        workspace=None if workspace is None else follow_link(Path(workspace)),
        keep=keep,
        tell=told or silent,
    )
    kernel_choice.check_walk(spec.walk)
    return run(_attack(source, options).fitting(), spec, settings)


def _attack(source: Source, options: Mapping[str, Any]) -> Attack:
    """Return the attack by all quasi-identifiers: CRS, and CAS if the ``options`` have a secret."""
    adversary = {n: v for n, v in options.items() if n in Options.__annotations__}
    model = "crs,cas" if options.get("secret") else "crs"
    person = options.get("person")
    attack = Attack.of(model, source, person=person, **cast("Options", adversary))
    if person is not None:
        refuse(options, "a sweep of people with several records (person)", *OF_RECORDS)
    if not attack.of_collection:
        refuse(options, "a sweep of one dataset", "key")
    return attack


def rehearse(source: Source, settings: Settings | None = None, **options: Any) -> None:
    """Look up every name of a sweep in its data, without a sweep; InputError if one is wrong."""
    attack = _attack(source, options)
    with opened(attack.fitting(), settings, joined=False, noted=False, command="sweep") as (
        _,
        bound,
    ):
        strategy_for(bound.microdata, SweepSpec.of(options))


def run(attack: Attack, spec: SweepSpec, settings: Settings | None = None) -> Sweep:
    """Run a sweep as it is specified (see ``sweep``).

    For each secret that some people miss, two more sweeps give the columns of ``REPORTED``: one of
    the people who report it; and one of everybody, with two rows for those who report it, which
    counts who is known to miss it. Searches, samples and unfinished sweeps have a note instead.
    """
    everybody, incomplete = _run_everybody(attack, spec, settings)
    frame = everybody.frame  # where people have several records, it has the column ``UNREPORTED``
    result = replace(everybody, frame=frame.drop(UNREPORTED, strict=False))
    if not incomplete:
        return result
    if not result.complete or spec.search or spec.sample is not None:
        note = (
            f"{', '.join(map(quoted, incomplete.values()))} may be missing, which is taken for a "
            "value here; an attack, and a sweep of all subsets without --search and --sample, also "
            "tell the success where it is reported"
        )
        return replace(result, notes=(*result.notes, note))
    again = replace(spec, workspace=None, histogram=False, time_budget=None, explain=False)
    reports, missing, claims = [], [], []  # for each of these secrets
    for j, secret in incomplete.items():
        reporting = _sweep_secret(attack, again, settings, j, twice=False)
        reports.append(_about_secrets(reporting.frame))
        if "sure" in result.details:
            claims.append(_about_secrets(reporting.details["sure"]).with_columns(of_reported=True))
        if attack.person is not None:
            missing.append(frame.filter(known_records="all", secret=secret))
        else:
            # The numbers that it tells, and claims, are not those of the people.
            untold = replace(again, tell=silent, threshold=None)
            rows = _about_secrets(_sweep_secret(attack, untold, settings, j, twice=True).frame)
            missing.append(rows.with_columns(certain_missing="individuals_certain"))
    details = dict(result.details)
    if claims:
        size = pl.col("qids").list.len()
        table = pl.concat([details["sure"], *claims])
        details["sure"] = table.sort(size, "subset", maintain_order=True)
    frame = _with_reported(result.frame, pl.concat(reports), pl.concat(missing))
    return replace(result, frame=frame, details=details)


def _about_secrets(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("secret").is_not_null())


def _sweep_secret(
    attack: Attack, spec: SweepSpec, settings: Settings | None, j: int, *, twice: bool
) -> Sweep:
    """Return a sweep for the ``j``-th secret alone, of the people who report it.

    ``twice``: of everybody instead, with two rows for those who report it. Then those are certain
    who are in blocks that report nothing.
    """
    limits = plan.with_memory_limit(settings)
    with opened(attack, limits, noted=False, command="sweep") as (engine, bound):
        secret = bound.microdata.secrets[j - 1]
        if twice:
            people = replace(bound.microdata, secrets=(twice_where_reported(secret),))
        else:
            people = replace(bound.microdata, secrets=(secret,), reported=True)
        sweep_run = SweepRun(engine, attack, bound.on(people), spec)
        return sweep_run.sweep(Origin.now(settings, "sweep"))


def _with_reported(
    frame: pl.DataFrame, reports: pl.DataFrame, missing: pl.DataFrame
) -> pl.DataFrame:
    """Return the rows of a sweep with the columns of ``REPORTED``, NULL without a secret.

    ``reports`` are the rows of the people who report a secret; ``missing`` has the column
    ``certain_missing``. Of other secrets, which nobody misses, the numbers are those of everybody.
    ``l`` is the smaller of both.
    """
    keys = [n for n in ("subset", "secret", "known_records") if n in frame.columns]
    # The column of a sweep that each column of ``REPORTED`` takes its numbers from.
    sources = {name: name.removesuffix("_reported") for name in REPORTED}
    sources["certain_reported"] = "individuals_certain"
    sources["reported"] = "people" if "people" in frame.columns else "records"
    del sources["certain_missing"]
    of_reports = reports.select(*keys, l_reported="l", **sources)
    joined = frame
    for table in (of_reports, missing.select(*keys, "certain_missing")):
        joined = joined.join(table, on=keys, how="left", maintain_order="left")
    has_secret = pl.col("secret").is_not_null()
    is_missed = pl.col("secret").is_in(reports["secret"].unique().to_list())
    # Of a secret that some miss, the numbers of those who report it; of others, of everybody.
    filled: dict[str, pl.Expr] = {
        name: pl.when(is_missed).then(name).when(has_secret).then(source)
        for name, source in sources.items()
    }
    reported_by_all = has_secret & ~is_missed
    filled["certain_missing"] = pl.when(reported_by_all).then(0).otherwise("certain_missing")
    filled["l"] = pl.min_horizontal("l", "l_reported")
    return joined.with_columns(**filled).select(*frame.columns, *REPORTED)


def _run_everybody(
    attack: Attack, spec: SweepSpec, settings: Settings | None
) -> tuple[Sweep, dict[int, str]]:
    """Run the sweep, in which a missing secret is a value; return its result, and missed secrets.

    These are secrets that some miss and others report: names by number, from 1. A workspace made
    here is removed if no run can resume from it; that of a complete sweep, unless it is to be
    kept. Interruptions and errors of the engine say whether the workspace holds finished work.
    """
    origin = Origin.now(settings, "sweep")
    fresh = spec.workspace is None or spec.restart or not spec.workspace.exists()
    useful = not fresh  # whether another run can resume from the workspace
    files = [] if spec.workspace is None else [spec.workspace]
    made_here = False  # a file that was refused is not removed
    try:
        with (
            lock_workspace(spec.workspace),
            private(),
            opened(attack, plan.with_memory_limit(settings), sources=files, command="sweep") as (
                engine,
                bound,
            ),
        ):
            if spec.workspace is not None:
                dataset = bound.microdata.dataset
                prepare_file(engine.here, spec.workspace, dataset, restart=spec.restart)
            made_here = fresh
            sweep_run = SweepRun(engine, attack, bound, spec)
            try:
                result = sweep_run.sweep(origin)
                secrets = bound.microdata.secrets
                missed = missing_secrets.incomplete(engine, bound.microdata)
                incomplete = {j: secrets[j - 1].name for j in missed}
            finally:
                useful = sweep_run.workspace.is_useful
    except (Interrupted, KeyboardInterrupt) as e:
        raise Interrupted(f"interrupted; {_describe_workspace(spec, useful=useful)}") from e
    except EngineError as e:
        message = f"{e}; {_describe_workspace(spec, useful=useful)}"
        raise EngineError(message, detail=e.detail) from e
    finally:
        if made_here and spec.workspace is not None and not useful:
            remove(spec.workspace)
    if spec.workspace is not None and not spec.keep and result.complete:
        remove(spec.workspace)
    return result, incomplete


def _describe_workspace(spec: SweepSpec, *, useful: bool) -> str:
    """Return the end of a message: whether finished work is kept, and in which file."""
    if spec.workspace is None or not useful:
        return "nothing was left behind"
    return f"what is done is kept in {spec.workspace}: run the same command again to resume"
