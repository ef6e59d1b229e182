"""Sweeping: every subset of the quasi-identifiers, re-identification and every secret."""

from pathlib import Path
from typing import Any, Unpack, cast

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, refuse
from qifsql.commands.sweep import cost
from qifsql.commands.sweep.result import Sweep
from qifsql.commands.sweep.run import SweepRun, choose
from qifsql.commands.sweep.spec import SweepOptions, SweepSpec, Tell
from qifsql.commands.sweep.workspace import alone, prepare
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.data.option import check_names
from qifsql.engine.settings import Settings, masked, silent
from qifsql.engine.temporary import remove
from qifsql.errors import EngineError, InputError, Interrupted
from qifsql.results.storage import Origin

GIVEN_SUBSETS = ("sizes", "subsets", "search", "sample")
RELEASES = "releases are sets of datasets; leave sizes, subsets, search, sample out"
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
    """Attack with every subset of the quasi-identifiers at once.

    Args:
        source: a Parquet or CSV file, a glob, a folder of Parquet, ``table@file.duckdb``; of a
            collection several of these, the focal one first.
        workspace: the file that keeps what is done, so that the sweep can go on after any end;
            without one it is kept in memory.
        keep: leave the workspace when all is done.
        told: is called with a line about what is going to happen.
        settings: memory, threads, temporary folder, progress.
        **options: what the adversary knows and wants, and how people are found in a collection
            (``qifsql.adversary.options``), and: ``sizes``: how many quasi-identifiers, as ``3`` or
            ``1-4``; every number by default. ``subsets``: only these, such as ``day+month+school``.
            ``releases``: of a collection, everything known from the focal dataset and from each
            set of auxiliary ones; ``details["releases"]`` says what each of them adds.
            ``threshold``: look for the smallest subsets whose success reaches that, the largest
            below it. ``search``: find only these, without visiting every subset. ``sample``:
            estimate from about this share of the blocks of the first attribute, such as 0.01,
            where it has many values: large blocks are drawn more often, the largest always
            (``qifsql.commands.sweep.samples``); the rest stays exact. The seed is that of the
            settings. ``histogram``: count people by their success in percent, too. ``restart``:
            forget what the workspace holds. ``time_budget``: seconds after which nothing more is
            begun; what is complete is returned. ``explain``: tell the plan with its estimated cost,
            too; what it did cost is in ``details``.

    Returns:
        A Sweep; its ``frame`` has one row per subset and question.

    Raises:
        InputError: what was asked for does not fit the data or the workspace.
        EngineError: memory or disk ran out; what is done is in the workspace.
        Interrupted: the same; the same call goes on.

    """
    refuse(options, "a sweep", *REFUSED)
    check_names({n: v for n, v in options.items() if n not in REFUSED}, SweepOptions)
    sizes, subsets = options.get("sizes"), options.get("subsets") or ()
    threshold, search = options.get("threshold"), options.get("search", False)
    if threshold is not None and not 0 <= threshold <= 1:
        raise InputError("a threshold (--threshold) is a success, from 0 to 1")
    if search and threshold is None:
        raise InputError("a search looks for subsets that reach a success; say which: --threshold")
    adversary = {n: v for n, v in options.items() if n in Options.__annotations__}
    model = "crs,cas" if options.get("secret") else "crs"
    attack = Attack.of(model, source, **cast("Options", adversary)).fitting()
    if attack.key and not attack.of_collection:
        refuse(options, "a sweep of one dataset", "key")
    sample, releases = options.get("sample"), options.get("releases", False)
    if releases and (sizes is not None or subsets or search or sample):
        raise InputError(RELEASES)
    spec = SweepSpec(
        sizes=None if sizes is None else str(sizes),
        subsets=(subsets,) if isinstance(subsets, str) else tuple(subsets),
        releases=releases,
        threshold=threshold,
        search=search,
        sample=sample,
        histogram=options.get("histogram", False),
        workspace=None if workspace is None else Path(workspace),
        keep=keep,
        restart=options.get("restart", False),
        time_budget=options.get("time_budget"),
        explain=options.get("explain", False),
        tell=told or silent,
    )
    return run(attack, spec, settings)


def fit(source: Source, settings: Settings | None = None, **options: Any) -> None:
    """Look up every name of a sweep in its data, without sweeping; InputError where wrong."""
    adversary = {n: v for n, v in options.items() if n in Options.__annotations__}
    model = "crs,cas" if "secret" in options else "crs"
    attack = Attack.of(model, source, **cast("Options", adversary))
    if not attack.of_collection:
        refuse(options, "a sweep of one dataset", "key")
    with opened(attack.fitting(), settings, joined=False) as (_, bound):
        if options.get("releases") and any(name in options for name in GIVEN_SUBSETS):
            raise InputError(RELEASES)
        names = ("releases", *GIVEN_SUBSETS)
        choose(bound, SweepSpec(**{n: options[n] for n in names if n in options}))


def run(attack: Attack, spec: SweepSpec, settings: Settings | None = None) -> Sweep:
    """Run a sweep as it is specified (see ``sweep``)."""
    origin = Origin.now(settings, "sweep")
    fresh = spec.workspace is None or spec.restart or not spec.workspace.exists()
    useful = not fresh
    files = [] if spec.workspace is None else [spec.workspace]
    opening = False
    try:
        with (
            alone(spec.workspace),
            masked(),
            opened(attack, cost.limited(settings), sources=files) as (engine, bound),
        ):
            if spec.workspace is not None:
                prepare(engine, spec.workspace, bound.dataset, restart=spec.restart)
            opening = True
            working = SweepRun(engine, attack, bound, spec)
            try:
                result = working.sweep(origin)
            finally:
                useful = working.useful
    except (Interrupted, KeyboardInterrupt) as e:
        raise Interrupted(f"interrupted; {_describe_workspace(spec, useful=useful)}") from e
    except EngineError as e:
        raise EngineError(
            f"{e}; {_describe_workspace(spec, useful=useful)}", detail=e.detail
        ) from e
    finally:
        if opening and fresh and spec.workspace is not None and not useful:
            remove(spec.workspace)  # nothing is in it that another run could use
    if spec.workspace is not None and not spec.keep and result.complete:
        remove(spec.workspace)
    return result


def _describe_workspace(spec: SweepSpec, *, useful: bool) -> str:
    """What became of the work, for the person who stopped it."""
    if spec.workspace is None or not useful:
        return "nothing was left behind"
    return f"what is done is kept in {spec.workspace}: the same command goes on"
