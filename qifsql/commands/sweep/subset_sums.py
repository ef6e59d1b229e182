"""The sums of all passes, collected by subset.

A state represents every subset with all attributes that it took, no attribute that it dropped, and
any of the free ones. To get subsets, each attribute in turn is decided: a state in which it is free
counts twice, with the attribute taken and with it dropped. In the end every state is one subset.
Sums are added; minima and maxima are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from qifsql.commands.sweep.result import KEYS, SUMMED
from qifsql.commands.sweep.scheduler import Pass
from qifsql.commands.sweep.strategies import Answered
from qifsql.commands.sweep.worker import Worker, user_order_macro
from qifsql.engine.connections import Stream
from qifsql.query.plan import Plan
from qifsql.query.render import copying

PARTS: dict[str, pl.DataType] = {
    **dict.fromkeys(("part", "stratum"), pl.Int32()),
    **dict.fromkeys(("of_blocks", "of_people", "largest", "drawn"), pl.Int64()),
}
"""The random parts of samples: ``drawn`` blocks of the ``of_blocks`` of their stratum, which has
``of_people`` people, at most ``largest`` in one block."""
PART_KEYS = [*KEYS, "part"]


@dataclass(frozen=True)
class Collected:
    """Results of subsets: one row per subset, question and part of a sample (0: no sample).

    ``histograms``, if requested, also have one row for each percent: the people (``individuals``),
    those guessed right (``mode``), those who are certain. ``parts`` are the random parts
    of samples (``PARTS``).
    """

    subsets: pl.DataFrame
    histograms: pl.DataFrame | None
    parts: pl.DataFrame


def collect(
    stream: Stream, passes: Sequence[Pass], answered: Answered, *, histograms: bool
) -> Collected:
    """Return the results of all passes for the subsets that are ``answered``."""
    of_passes = [_collect_pass(stream, p, answered, histograms=histograms) for p in passes]
    bins = [c.histograms for c in of_passes if c.histograms is not None]
    return Collected(
        pl.concat(c.subsets for c in of_passes).sort(PART_KEYS),
        pl.concat(bins).sort(*PART_KEYS, "bin") if bins else None,
        pl.concat(c.parts for c in of_passes),
    )


def _collect_pass(
    stream: Stream, data_pass: Pass, answered: Answered, *, histograms: bool
) -> Collected:
    """Return the results of one pass for the ``answered`` subsets, from what its tasks found.

    A task stores the sums of blocks by state: each attribute is taken, dropped or free, and a state
    with free attributes stands for several subsets. Here the free ones are decided one after the
    other, until each state is one subset, and the sums are added up by subset. Raises an error if
    these cannot be right. ``histograms``: also a row for each percent of success.
    """
    layout, workspace = data_pass.layout, data_pass.workspace
    worker = Worker(stream, layout, data_pass.strategy.sizes)
    # Variables and a macro that the views read.
    worker.stream.rows(user_order_macro(layout))
    worker.set(
        with_bins=(int(histograms), "UTINYINT"),
        known_too=(1 + (1 << layout.n), "BIGINT"),  # times a bit: it is in both sets of a state
        complete=(answered.first & layout.all_attributes, "BIGINT"),
    )
    worker.set(**{"pass": (data_pass.number, "INTEGER")})
    worker.set_lists(bits=[1 << p for p in range(layout.n)])
    # The view ``pairs``: what was found. A pair of people becomes two people alone in the subsets
    # that take an attribute in which they differ.
    worker.make_view("pairs", "pairs", found="kept.main.found")
    for position in range(layout.n):  # blocks for which it is free count with it and without it
        worker.set(bit=(1 << position, "BIGINT"))
        worker.make_table("waiting", "decided", waiting="waiting" if position else "pairs")
    counts = _read_frame(worker, "subsets", workspace.engine.scratch)  # of ``waiting``
    rows = worker.rows("parts", tasks="kept.main.tasks", strata="kept.main.strata")
    parts = pl.DataFrame(rows, schema=PARTS, orient="row")
    subsets = counts.group_by(PART_KEYS, maintain_order=True).agg(*SUMMED)
    if not _adds_up(subsets, parts, layout.people):
        raise workspace.damage_error(
            "internal error: the blocks of a subset do not add up to the people; please report this"
        )
    expected = answered.subsets[data_pass.number] * len(data_pass.questions)
    if subsets.select(pl.struct("subset", "question").n_unique()).item() != expected:
        raise workspace.damage_error(
            "internal error: a subset has no answer, or more than one; please report this"
        )
    sums = ("mode", "certain")
    bins = counts.select(*PART_KEYS, "bin", *sums, individuals="people") if histograms else None
    return Collected(subsets, bins, parts)


def _adds_up(subsets: pl.DataFrame, parts: pl.DataFrame, people: int) -> bool:
    """Return whether the blocks of each subset and question have all ``people``.

    ``subsets`` has sums by part of a sample; part 0 counts people, each other part stands for those
    of its stratum. ``parts`` has the stratum of each part, and the people of it (``PARTS``).
    """
    counted = pl.col("people")
    strata = subsets.join(parts, on="part").unique([*KEYS, "stratum"])
    sampled = strata.group_by(KEYS).agg(pl.col("of_people").sum())
    exact = subsets.group_by(KEYS).agg(counted.filter(pl.col("part") == 0).sum())
    joined = exact.join(sampled, on=KEYS, how="left")
    return joined.filter(counted + pl.col("of_people").fill_null(0) != people).is_empty()


def _read_frame(worker: Worker, file: str, scratch: Path) -> pl.DataFrame:
    """Return the rows of the view ``file``, which may be millions, through Parquet in a folder."""
    path = scratch / f"{file}.parquet"
    worker.stream.rows(copying(Plan((), worker.statements.query(file)), str(path)))
    frame = pl.read_parquet(path)
    path.unlink()
    return frame
