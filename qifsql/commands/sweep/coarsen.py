"""Which quasi-identifier to coarsen first: what merging its values in pairs would save.

The values of one quasi-identifier are merged two by two in their order (days 1-2, 3-4, ...), and
the success of who knows all quasi-identifiers is measured again. Coarsening saves no more than
dropping, so once something is found that saves more than dropping the next would, no other can be
better, and the rest is not measured.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from qifsql.commands.sweep.layout import Layout
from qifsql.commands.sweep.scheduler import Runner, Sums

COARSEN_FIRST: dict[str, pl.DataType] = {
    "model": pl.String(),
    "secret": pl.String(),
    "rank": pl.Int64(),
    "qid": pl.String(),
    "values": pl.Int64(),
    "values_coarser": pl.Int64(),
    "posterior_all": pl.Float64(),
    "posterior_coarser": pl.Float64(),
    "saved": pl.Float64(),
    "saved_deterministic": pl.Float64(),
}
"""Success when the values of one quasi-identifier are merged in pairs, best first; those that
cannot be first are left out."""


Coarser = Callable[[int], dict[int, Sums]]


def coarsen_first(
    runners: Sequence[Runner], frame: pl.DataFrame, drop_first: pl.DataFrame, qids: Sequence[str]
) -> pl.DataFrame:
    """Rank quasi-identifiers by what coarsening them saves, for each question."""
    everything = frame.filter(n_qids=len(qids)).rows(named=True)
    rows_by_question: dict[int, list[dict[str, Any]]] = {}
    for runner in runners:
        with runner.coarsening() as coarser:
            for question in runner.questions:
                row = everything[question]
                secret = pl.lit(row["secret"], pl.String)
                ranking = drop_first.filter(pl.col("secret").eq_missing(secret)).sort("rank")
                measure = partial(_measure, runner, coarser, question)
                rows_by_question[question] = _ranked(runner.layout, measure, row, ranking, qids)
    rows = [row for question in sorted(rows_by_question) for row in rows_by_question[question]]
    return pl.DataFrame(rows, schema=COARSEN_FIRST)


def _ranked(
    layout: Layout,
    measure: Callable[[int], Sums],
    row: Mapping[str, Any],
    drop_first: pl.DataFrame,
    qids: Sequence[str],
) -> list[dict[str, Any]]:
    """The quasi-identifiers that may be first for one question, best first."""
    rows, best = [], -1.0
    for line in drop_first.iter_rows(named=True):
        if line["saved"] <= best:
            break
        position = layout.order.index(list(qids).index(line["qid"]))
        people, mode, certain = measure(position)
        values = layout.values[position]
        saved = line["posterior_all"] - mode / people
        best = max(best, saved)
        one = {
            "model": line["model"],
            "secret": row["secret"],
            "rank": line["rank"],
            "qid": line["qid"],
            "values": values,
            "values_coarser": (values + 1) // 2,
            "posterior_all": line["posterior_all"],
            "posterior_coarser": mode / people,
            "saved": saved,
            "saved_deterministic": row["posterior_deterministic"] - certain / people,
        }
        rows.append(one)
    rows.sort(key=lambda one: (-one["saved"], -one["saved_deterministic"], one["rank"]))
    return [one | {"rank": rank} for rank, one in enumerate(rows, 1)]


def _measure(runner: Runner, coarser: Coarser, question: int, position: int) -> Sums:
    """What holds when one attribute is coarser; remembered in the workspace."""
    name = f"coarser {runner.number} {position}"
    held = runner.workspace.fact(name)
    if held is None:
        held = coarser(position)
        runner.workspace.tell(name, held)
    return {int(number): tuple(sums) for number, sums in held.items()}[question]
