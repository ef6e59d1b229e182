"""Sweeping with weights: one attack after the other.

Weights are not small counts that can be packed, and people of one kind may weigh differently, so
every subset is attacked by itself, by the plans of an attack. The same is done where the codes of
the quasi-identifiers need more bits than a sweep has.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.sweep.result import HISTOGRAMS, SWEPT
from qifsql.commands.sweep.strategies import Strategy
from qifsql.commands.sweep.workspace import Workspace
from qifsql.engine.protocol import Engine
from qifsql.errors import InputError
from qifsql.measures import bayes
from qifsql.measures.gain import success
from qifsql.measures.profile import Profile
from qifsql.query import compiler
from qifsql.query.microdata import complete
from qifsql.results.assessment import DETAILS

MOST = 2**16  # subsets that are attacked one by one


def attacks(
    engine: Engine,
    bound: BoundAttack,
    strategy: Strategy,
    workspace: Workspace,
    *,
    histogram: bool,
    out_of_time: Callable[[], bool],
) -> tuple[pl.DataFrame, pl.DataFrame | None, bool]:
    """The rows of all subsets, their histograms, and whether all are there.

    What is done is kept in the workspace as it comes.
    """
    subsets = strategy.numbers()
    if strategy.subsets > MOST:
        raise InputError(
            f"weighted subsets are attacked one by one, and {strategy.subsets:,} are too many; "
            "limit them with --sizes 1-3, or name fewer quasi-identifiers"
        )
    bound = complete(bound)  # who misses any attribute is in no row
    questions = compiler.questions(bound)
    before = _profiles(engine, bound, prior=True)
    rows: list[dict[str, Any]] = []
    bins: list[dict[str, Any]] = []
    for number, mask in enumerate(subsets):
        name = f"subset {mask}"
        held = workspace.fact(name)
        if held is None or (histogram and held["histogram"] is None):
            if out_of_time():
                return _frames(rows, bins, histogram=histogram, whole=False)
            part = replace(bound, qids=tuple(q for i, q in enumerate(bound.qids) if mask >> i & 1))
            held = {"rows": _rows(engine, part, before, mask), "histogram": None}
            if histogram:
                plan = compiler.step_plan(part, "histogram", questions)
                counted = engine.frame(plan, "sweeping", bound.dataset.name)
                held["histogram"] = _bins(part, counted, mask)
            workspace.tell(name, held)
        rows += held["rows"]
        bins += held["histogram"] or []
        engine.settings.progress("sweeping", (number + 1) / strategy.subsets)
    return _frames(rows, bins, histogram=histogram, whole=True)


def _frames(
    rows: list[dict[str, Any]], bins: list[dict[str, Any]], *, histogram: bool, whole: bool
) -> tuple[pl.DataFrame, pl.DataFrame | None, bool]:
    frame = pl.DataFrame(rows, schema=SWEPT)
    return frame, pl.DataFrame(bins, schema=HISTOGRAMS) if histogram else None, whole


def _profiles(engine: Engine, bound: BoundAttack, *, prior: bool = False) -> dict[int, Profile]:
    """The profile of each question."""
    questions = compiler.questions(bound)
    plan = compiler.profile_plan(bound, questions, prior=prior)
    frame = engine.frame(plan, "sweeping", bound.dataset.name)
    make = Profile.of_weights if bound.weight is not None else Profile.of_counts
    parts = frame.group_by("secret", maintain_order=True)
    return {int(j): make(part.drop_nulls("size")) for (j,), part in parts}


def _rows(
    engine: Engine, bound: BoundAttack, before: dict[int, Profile], mask: int
) -> list[dict[str, Any]]:
    """The rows of one subset."""
    rows = []
    for j, profile in sorted(_profiles(engine, bound).items()):
        rows.append(
            {
                "model": "CAS" if j else "CRS",
                "datasets": 1,
                "n_qids": len(bound.qids),
                "qids": [q.name for q in bound.qids],
                "secret": bound.secrets[j - 1].name if j else None,
                "records": profile.individuals,
                "blocks": profile.blocks,
                "singled_out": profile.singled_out,
                **bayes.row(success(before[j], j, 0), success(profile, j, 0)),
                "seconds": 0.0,
                "k": profile.frame["size"].min(),
                "l": profile.frame["values"].min() if j else None,
                "subset": mask,
            }
        )
    return rows


def _bins(bound: BoundAttack, counted: pl.DataFrame, mask: int) -> list[dict[str, Any]]:
    """The histograms of one subset."""
    columns = [c for c in DETAILS["histogram"] if c != "attack_id"]
    return [
        {
            "model": "CAS" if row["secret"] else "CRS",
            "qids": [q.name for q in bound.qids],
            "secret": bound.secrets[row["secret"] - 1].name if row["secret"] else None,
            **{c: row[c] for c in columns},
            "subset": mask,
        }
        for row in counted.sort("secret", "bin").to_dicts()
    ]
