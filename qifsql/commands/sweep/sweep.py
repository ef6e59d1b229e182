"""Sweeping: every subset of the quasi-identifiers, re-identification and every secret."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack, cast

from qifsql.adversary.options import Options
from qifsql.adversary.spec import Attack, refuse
from qifsql.commands.sweep import cost
from qifsql.commands.sweep.lattice import Scope
from qifsql.commands.sweep.releases import sets
from qifsql.commands.sweep.result import Sweep
from qifsql.commands.sweep.run import Work
from qifsql.commands.sweep.spec import Tell, Wish
from qifsql.commands.sweep.workspace import alone, prepare
from qifsql.counting.session import opened
from qifsql.data.collection import Source
from qifsql.engine.settings import Settings, masked
from qifsql.engine.temporary import remove
from qifsql.errors import EngineError, InputError, Interrupted
from qifsql.results.storage import Origin

GIVEN_SUBSETS = ("sizes", "subsets", "search", "sample")
RELEASES = "releases are sets of datasets; leave sizes, subsets, search, sample out"
REFUSED = ("target", "member", "gain", "prior", "by", "thresholds", "quantiles")


def sweep(
    source: Source,
    *,
    sizes: str | int | None = None,
    subsets: str | Sequence[str] = (),
    releases: bool = False,
    threshold: float | None = None,
    search: bool = False,
    sample: float | None = None,
    histogram: bool = False,
    workspace: str | Path | None = None,
    keep: bool = True,
    restart: bool = False,
    time_budget: float | None = None,
    explain: bool = False,
    told: Tell | None = None,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Sweep:
    """Attack with every subset of the quasi-identifiers at once.

    Args:
        source: a Parquet or CSV file, a glob, a folder of Parquet, ``table@file.duckdb``; of a
            collection several of these, the focal one first.
        sizes: how many quasi-identifiers, as ``3`` or ``1-4``; every number by default.
        subsets: only these, such as ``day+month+school``.
        releases: of a collection, everything known from the focal dataset and from each set of
            auxiliary ones; ``details["releases"]`` says what each of them adds.
        threshold: look for the smallest subsets whose success reaches that, the largest below it.
        search: find only these, without visiting every subset.
        sample: estimate from about this share of the blocks of the first attribute, such as 0.01,
            where it has many values: large blocks are drawn more often, the largest always
            (``qifsql.commands.sweep.estimates``); the rest stays exact. The seed is that of the
            settings.
        histogram: count people by their success in percent, too.
        workspace: the file that keeps what is done, so that the sweep can go on after any end;
            without one it is kept in memory.
        keep: leave the workspace when all is done.
        restart: forget what the workspace holds.
        time_budget: seconds after which nothing more is begun; what is complete is returned.
        explain: tell the plan with its estimated cost, too; what it did cost is in ``details``.
        told: is called with a line about what is going to happen.
        settings: memory, threads, temporary folder, progress.
        **options: ``qids``, ``secret``, ``weight``, ``where`` and ``null`` of
            ``qifsql.adversary.spec.Options``.

    Returns:
        A Sweep; its ``frame`` has one row per subset and question.

    Raises:
        InputError: what was asked for does not fit the data or the workspace.
        EngineError: memory or disk ran out; what is done is in the workspace.
        Interrupted: the same; the same call goes on.

    """
    refuse(options, "a sweep", *REFUSED)
    if threshold is not None and not 0 <= threshold <= 1:
        raise InputError("a threshold is a success, from 0 to 1")
    if search and threshold is None:
        raise InputError("a search looks for subsets that reach a success; say which: --threshold")
    spec = Attack.of("crs,cas" if options.get("secret") else "crs", source, **options).fitting()
    if spec.key and not spec.of_collection:
        refuse(options, "a sweep of one dataset", "key")
    if releases and (sizes is not None or subsets or search or sample):
        raise InputError(RELEASES)
    listed = (subsets,) if isinstance(subsets, str) else tuple(subsets)
    file = None if workspace is None else Path(workspace)
    wish = Wish(
        None if sizes is None else str(sizes), listed, releases, threshold, search, sample,
        histogram, file, keep, restart, time_budget, explain, told or _silent,
    )  # fmt: skip
    return run(spec, wish, settings)


def fit(source: Source, settings: Settings | None = None, **options: Any) -> None:
    """Look up every name of a sweep in its data, without sweeping; InputError where wrong."""
    adversary = {n: v for n, v in options.items() if n in Options.__annotations__}
    model = "crs,cas" if "secret" in options else "crs"
    spec = Attack.of(model, source, **cast("Options", adversary))
    if not spec.of_collection:
        refuse(options, "a sweep of one dataset", "key")
    with opened(spec.fitting(), settings, joined=False) as (_, bound):
        listed = options.get("subsets", ())
        if options.get("releases"):
            if any(name in options for name in GIVEN_SUBSETS):
                raise InputError(RELEASES)
            listed = sets([q.number for q in bound.qids], bound.datasets)
        names = [q.name for q in bound.qids]
        searching, sample = options.get("search", False), options.get("sample")
        Scope.of(names, options.get("sizes"), listed, searching=searching, sample=sample)


def _silent(_line: str) -> None:
    """Nobody wants to know."""


def run(spec: Attack, wish: Wish, settings: Settings | None = None) -> Sweep:
    """Run a sweep as it is specified (see ``sweep``)."""
    origin = Origin.now(settings, "sweep")
    fresh = wish.workspace is None or wish.restart or not wish.workspace.exists()
    useful = not fresh
    files = [] if wish.workspace is None else [wish.workspace]
    opening = False
    try:
        with (
            alone(wish.workspace),
            masked(),
            opened(spec, cost.limited(settings), sources=files) as (engine, bound),
        ):
            if wish.workspace is not None:
                prepare(engine, wish.workspace, bound.dataset, restart=wish.restart)
            opening = True
            working = Work(engine, spec, bound, wish)
            try:
                result = working.sweep(origin)
            finally:
                useful = working.useful
    except (Interrupted, KeyboardInterrupt) as e:
        raise Interrupted(f"interrupted; {_describe_workspace(wish, useful=useful)}") from e
    except EngineError as e:
        raise EngineError(
            f"{e}; {_describe_workspace(wish, useful=useful)}", detail=e.detail
        ) from e
    finally:
        if opening and fresh and wish.workspace is not None and not useful:
            remove(wish.workspace)  # nothing is in it that another run could use
    if wish.workspace is not None and not wish.keep and result.complete:
        remove(wish.workspace)
    return result


def _describe_workspace(wish: Wish, *, useful: bool) -> str:
    """What became of the work, for the person who stopped it."""
    if wish.workspace is None or not useful:
        return "nothing was left behind"
    return f"what is done is kept in {wish.workspace}: the same command goes on"
