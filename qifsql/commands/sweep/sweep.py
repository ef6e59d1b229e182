"""Sweep over every subset of the quasi-identifiers: re-identification and every secret."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast

import polars as pl

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, Microdata, refuse
from qifsql.commands.sweep import kernel_choice, plan, reported
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
from qifsql.errors import EngineError, Interrupted
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
        subsets).

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

    Source: M34 to M40 (subsets, Shapley values, borders, samples).

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
    """Return the attack by all quasi-identifiers: CRS, and CAS if the ``options`` have a secret.

    Raises InputError for options that do not fit: people with several records, or one dataset.
    """
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

    If some people miss a secret, those who report it are swept again, for the columns of
    ``REPORTED``; then everybody, with two rows for those who report it, to count who is known to
    miss it. Searches, samples and unfinished sweeps have a note instead.
    """
    result, incomplete = _run_everybody(attack, spec, settings)  # secrets that some miss
    of_people = result.frame  # here the rows of people have the column ``UNREPORTED``
    result = replace(result, frame=of_people.drop(UNREPORTED, strict=False))
    if not incomplete:
        return result
    if not result.complete or spec.search or spec.sample is not None:
        note = reported.left_out(list(incomplete.values()))
        return replace(result, notes=(*result.notes, note))
    rows_alone = replace(
        spec, workspace=None, histogram=False, threshold=None, time_budget=None, explain=False
    )
    rows_twice = replace(rows_alone, tell=silent)  # its numbers are not those of the people
    frames, unreported = {}, {}
    for j, secret in incomplete.items():
        frames[secret] = _sweep_part(attack, rows_alone, settings, reported.people, j)
        if attack.person is not None:
            certain = pl.col("certain_missing").alias("individuals_certain")
            all_known = (pl.col("known_records") == "all") & (pl.col("secret") == secret)
            unreported[secret] = of_people.filter(all_known).with_columns(certain)
        else:
            unreported[secret] = _sweep_part(attack, rows_twice, settings, reported.missing, j)
    return replace(result, frame=reported.beside(result.frame, frames, unreported))


def _sweep_part(
    attack: Attack,
    spec: SweepSpec,
    settings: Settings | None,
    part: Callable[[Microdata, int], Microdata],
    secret: int,
) -> pl.DataFrame:
    """Return the rows of a sweep of other individuals, made of everybody for one secret."""
    limits = plan.with_memory_limit(settings)
    with opened(attack, limits, noted=False, command="sweep") as (engine, bound):
        people = bound.on(part(bound.microdata, secret))
        return SweepRun(engine, attack, people, spec).sweep(Origin.now(settings, "sweep")).frame


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
