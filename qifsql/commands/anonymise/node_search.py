"""The search of the lattice for the best node to release."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from qifsql.commands.anonymise import kept_records
from qifsql.commands.anonymise.lattice import Lattice, Loss, Measured, Node
from qifsql.commands.anonymise.node_counts import NodeCounts
from qifsql.commands.anonymise.recode import Recoding
from qifsql.commands.anonymise.release_request import Request
from qifsql.commands.anonymise.value_steps import StepLoss
from qifsql.engine.progress import Meter
from qifsql.errors import InputError, plural
from qifsql.study.bounds import Bound

NODES: dict[str, pl.DataType] = {
    "steps": pl.List(pl.Int64()),
    "changes": pl.List(pl.String()),
    **dict.fromkeys(("loss", "penalty", "risk"), pl.Float64()),
    **dict.fromkeys(("suppressed", "blocks", "classes", "smallest_class"), pl.Int64()),
    "released": pl.Boolean(),
}
"""The frontier of risk against loss: one row per node of the lattice that keeps the limits, so that
no other one that was measured has neither more risk nor more loss; by rising loss. ``risk``: the
chance of the best guess at whose a record is (classes per record that is not suppressed), in
[0, 1]. ``loss`` is the one that is minimised: ``penalty`` and ``generalisation`` in [0, 1];
``entropy`` in bits per cell; ``classes``: records per class; ``discernibility``: per record, the
size of its class, or the number of all records where it is suppressed. In ``penalty`` and
``entropy``, too, a suppressed record loses all; in ``generalisation`` no more than the others.
``released``: this node was written."""


@dataclass(frozen=True)
class FoundNode:
    """The node to release, whether no other loses less, the frontier (``NODES``), and notes."""

    node: Node
    optimal: bool
    frontier: pl.DataFrame
    notes: tuple[str, ...]


def search(
    counts: NodeCounts,
    losses: Sequence[Sequence[StepLoss]],
    request: Request,
    rules: Sequence[Bound],
    meter: Meter,
) -> FoundNode:
    """Return the best node of the lattice, as far as the time budget allows to search.

    ``losses`` are those of each step of each quasi-identifier; ``rules`` bound risks of a release.
    Nodes are counted by ``counts``. InputError if no node keeps the limits.
    """
    recoding, passes = counts.recoding, counts.passes
    records, of_people = passes.coded.records, passes.coded.owners is not None
    penalties = Loss("penalty", [[s.penalty for s in steps] for steps in losses], records)
    loss = replace(penalties, name=request.minimise)
    if request.minimise == "entropy":
        loss = replace(loss, steps=[[s.entropy for s in steps] for steps in losses])
    limit = int(request.suppress * records)
    if limit:
        recoding.make_suppression_losses()
    total = math.prod(height + 1 for height in recoding.heights)
    began = time.monotonic()

    def measure(node: Node) -> Measured:
        spent = (time.monotonic() - began) / request.time_budget
        done = max(len(lattice.nodes) / total, min(1.0, spent))
        meter.inside(0.1 + 0.7 * done, f"{len(lattice.nodes):,} of {total:,} nodes")
        if recoding.combinations:
            return kept_records.measure(counts, node, limit)
        return counts.measure(node, limit, refuse_early=loss.additive)

    def keeps_bounds(node: Node) -> bool:
        risks = counts.risks(node) if rules else []
        return all(rule.met(risks) for rule in rules)

    lattice = Lattice(
        recoding.heights,
        loss,
        measure,
        limit=min(limit, records - 1),  # some record stays
        # If a node suppresses too many records, whether all finer ones do, too.
        monotone=request.limits.monotone(adding=limit == 0 and not of_people),
        late=lambda: time.monotonic() - began > request.time_budget,
        keeps=keeps_bounds,
        # If a node breaks a rule, whether all finer ones do: suppression may lower a risk.
        falling=limit == 0 and all(rule.monotone for rule in rules),
    )
    node = lattice.search()
    if node is None:
        raise _no_node_error(lattice, request, limit, total)
    frontier = _frontier_rows(lattice, recoding, penalties, node)
    return FoundNode(node, lattice.optimal, frontier, tuple(_notes_on_search(lattice, total)))


def _no_node_error(lattice: Lattice, request: Request, limit: int, total: int) -> InputError:
    """Return the error of a search of ``total`` nodes that found none to release."""
    words_of_limits = [request.words_of_k, request.limits.diversity]
    required = " and ".join([*filter(None, words_of_limits), *request.until])
    if not lattice.optimal:
        return InputError(
            f"the time ended after {len(lattice.nodes):,} of {total:,} nodes, and none of them "
            f"keeps {required}; allow more time (--time-budget)"
        )
    return InputError(
        f"no node of the lattice keeps {required} with at most {plural(limit, 'record')} "
        "suppressed; allow more (--suppress), or add coarser steps to the hierarchies"
    )


def _notes_on_search(lattice: Lattice, total: int) -> list[str]:
    """Return a note on a search that ended before all of its ``total`` nodes were settled."""
    n = len(lattice.nodes)
    if not lattice.optimal:
        return [
            f"the time ended after {n:,} of {total:,} nodes: this is the best of them, and another "
            "may lose less; allow more time (--time-budget)"
        ]
    if not lattice.complete:
        return [
            f"the frontier is that of the {n:,} nodes that were measured; below a loss of "
            f"{float(lattice.covered):.4g} all were"
        ]
    return []


def _frontier_rows(
    lattice: Lattice, recoding: Recoding, penalties: Loss, released: Node
) -> pl.DataFrame:
    """Return the frontier of risk against loss: one row per node, as ``NODES``."""
    unit = math.log(2) if lattice.loss.name == "entropy" else 1.0  # nats per bit
    rows = []
    for node in dict.fromkeys((*lattice.frontier(), released)):
        measured = lattice.nodes[node]
        rows.append(
            {
                "steps": list(node),
                "changes": recoding.changes(node),
                "loss": float(lattice.loss.of(node, measured)) / unit,
                "penalty": float(penalties.of(node, measured)),
                "risk": float(measured.risk(lattice.loss.records)),
                "suppressed": measured.suppressed,
                "blocks": measured.blocks,
                "classes": measured.classes,
                "smallest_class": measured.smallest,
                "released": node == released,
            }
        )
    return pl.DataFrame(rows, schema=NODES).sort("loss", "steps", maintain_order=True)
