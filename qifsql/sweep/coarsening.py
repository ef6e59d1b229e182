"""Which quasi-identifier to coarsen first: what merging its values in pairs would save.

The values of one quasi-identifier are merged two by two in their order (days 1-2, 3-4, ...), and
the success of who knows all quasi-identifiers is measured again. Coarsening saves no more than
dropping, so once something is found that saves more than dropping the next would, no other can be
better, and the rest is not measured.
"""

from collections.abc import Sequence

import polars as pl

from qifsql.sweep.runner import Runner, Sums

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


def coarsen_first(
    runners: Sequence[Runner], frame: pl.DataFrame, drop_first: pl.DataFrame, qids: Sequence[str]
) -> pl.DataFrame:
    """Rank quasi-identifiers by what coarsening them saves, for each question."""
    rows = []
    everything = frame.filter(n_qids=len(qids))
    for question, row in enumerate(everything.iter_rows(named=True)):
        runner = next(r for r in runners if question in r.questions)
        secret = row["secret"]
        mine = drop_first.filter(pl.col("secret").eq_missing(pl.lit(secret, pl.String)))
        found = []
        best = -1.0
        for line in mine.sort("rank").iter_rows(named=True):
            if line["saved"] <= best:
                break
            position = runner.layout.order.index(list(qids).index(line["qid"]))
            people, mode, certain = _sums(runner, position)[question]
            saved = line["posterior_all"] - mode / people
            best = max(best, saved)
            known = row["posterior_deterministic"] - certain / people
            found.append((saved, known, mode / people, line, position))
        ordered = sorted(found, key=lambda f: (-f[0], -f[1], f[3]["rank"]))
        rows += [
            {
                "model": line["model"],
                "secret": secret,
                "rank": rank,
                "qid": line["qid"],
                "values": runner.layout.values[position],
                "values_coarser": (runner.layout.values[position] + 1) // 2,
                "posterior_all": line["posterior_all"],
                "posterior_coarser": after,
                "saved": saved,
                "saved_deterministic": certain_saved,
            }
            for rank, (saved, certain_saved, after, line, position) in enumerate(ordered, 1)
        ]
    return pl.DataFrame(rows, schema=COARSEN_FIRST)


def _sums(runner: Runner, position: int) -> dict[int, Sums]:
    """What holds when one attribute is coarser; remembered in the workspace."""
    name = f"coarser {runner.number} {position}"
    held = runner.workspace.fact(name)
    if held is None:
        held = runner.coarser(position)
        runner.workspace.tell(name, held)
    return {int(question): tuple(sums) for question, sums in held.items()}
