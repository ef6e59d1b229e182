"""The records that a release can keep where combinations of quasi-identifiers have a k.

By each combination alone, the released records form classes of k records (people, with a person). A
suppressed record is missing from its classes by all combinations, which may then be too small. The
records that stay are the largest set whose classes are large enough. There is one, because the
union of two such sets is such a set. It is what remains after the records of classes that are too
small are removed again and again: none of the largest set is ever among them. Records with equal
cells stay or go together, so all is counted on classes by all quasi-identifiers.

A coarser node keeps at least the records that a finer one keeps, since no class loses records. So
the number of suppressed records never rises, as for k (``lattice``, argument 1).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat

import polars as pl

from qifsql.commands.anonymise.lattice import Measured, Node
from qifsql.commands.anonymise.node_counts import NodeCounts
from qifsql.commands.anonymise.recode import Recoding
from qifsql.commands.anonymise.release_request import Combination
from qifsql.counting.scales import own_name
from qifsql.data.readers import LOADED
from qifsql.query import render
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step

COMBINATIONS_AT_ONCE = 64  # that one statement looks at
TABLES = {
    name: own_name(name)
    for name in ("coded", "done", "refused", "shown", "open_classes", "still_open")
}
COMBINATIONS: dict[str, pl.DataType] = {
    "quasi_identifiers": pl.List(pl.String()),
    **dict.fromkeys(("k", "classes", "smallest_class"), pl.Int64()),
}
"""One row per combination of quasi-identifiers that has a k which no other one implies: how many
classes the released records form by these alone, and the records (with a person: different people)
of the smallest of them; NULL where all records are suppressed."""


def measure(counts: NodeCounts, node: Node, limit: int) -> Measured:
    """Count the classes of a node where combinations of quasi-identifiers have a k.

    Suppressed are the classes that break a limit on a secret, or are too small by a combination. If
    these are more than ``limit`` records, the node is not allowed, and their number may be a lower
    bound above ``limit``. Only if some, but no more, are suppressed, the classes that stay have to
    be found (the table ``shown``; ``counts.shown_node`` is then the node).
    """
    recoding, counts.shown_node = counts.recoding, None
    measured = counts.measure(node, limit) if recoding.limits.of_secret else None
    suppressed = 0 if measured is None else measured.suppressed
    for combination in recoding.combinations:
        if suppressed <= limit:
            suppressed = max(suppressed, _count_rare_records(counts, combination, node))
    if suppressed in range(1, limit + 1):  # without these records, more classes may be too small
        _make_shown(counts, node)
        counts.shown_node = node
        return counts.measure(node, limit)
    return replace(measured or counts.measure(node, limit), suppressed=suppressed)


def _count_rare_records(counts: NodeCounts, combination: Combination, node: Node) -> int:
    """Return how many records of a node are in classes by a combination that are too small.

    It depends on the steps of these quasi-identifiers alone: it is counted once for such nodes.
    """
    recoding, steps = counts.recoding, tuple(node[i - 1] for i in combination.qids)
    key = (combination, steps)
    if key not in counts.rare_records:
        # The smallest table of tuples from which the node can be counted.
        table = counts.source_of(node).table
        text = f"rare {combination} in {table}"
        if text not in counts.texts:
            query = recoding.view(
                "rare_records",
                tables={"tuples": own_name(table)},
                numbers={"wanted_k": combination.k},
                qids=[*combination.qids, *recoding.strata],
                people=recoding.counts_people,
            )
            counts.texts[text] = render.statement(Plan((), query))
        shifts = recoding.shifts(node)  # of all columns
        parameters = [shifts[i - 1] for i in (*combination.qids, *recoding.strata)]
        ((records,),) = recoding.passes.stream.rows(counts.texts[text], parameters)
        counts.rare_records[key] = int(records)
    return counts.rare_records[key]


def _make_shown(counts: NodeCounts, node: Node) -> None:
    """Make the table ``shown`` of the classes of a node that stay, with their records.

    It begins with all classes that break no limit on a secret. Then classes are removed as long as
    a combination of quasi-identifiers, of those that have a k of their own, has fewer than its k.
    """
    recoding = counts.recoding
    steps = counts.judged_steps(counts.source_of(node).table, node)
    if not recoding.limits.of_secret:  # no class breaks a limit: ``refused`` has no row
        people, *_ = steps
        steps = [people, make_step("anonymise/none_refused", "refused")]
    query = recoding.view("shown_of_node", people=recoding.counts_people)
    text = render.keeping(Plan(tuple(steps), query), "shown", LOADED, again=True)
    recoding.passes.stream.count(text)
    _remove_rare(recoding, _removing_statements(recoding))


def refuse_classes(recoding: Recoding) -> None:
    """Replace the table ``refused``, the classes to suppress: add those that are too small.

    Before, it has the classes of ``done`` that break a limit on a secret. Of the others, a table
    ``shown``, classes are removed until no combination of quasi-identifiers makes one too small;
    then all classes that are not in it are refused.
    """
    passes = recoding.passes
    query = recoding.view("shown_of_done", tables=TABLES, people=recoding.counts_people)
    passes.replace("shown", query)
    batches = _removing_statements(recoding)
    passes.statements |= dict.fromkeys(chain(*batches))
    _remove_rare(recoding, batches)
    passes.drop("refused")
    tables = {"sides": TABLES["done"], "shown": TABLES["shown"]}
    passes.keep("refused", recoding.view("hidden_classes", tables=tables))


def _remove_rare(recoding: Recoding, batches: Sequence[Sequence[str]]) -> None:
    """Remove classes from ``shown`` that combinations make too small, until there are none.

    ``batches`` are the statements of ``_removing_statements``, a batch per 64 combinations; all are
    sent again after any has removed a class, because that may make others too small. A class that
    alone has enough records is never removed, nor is another one by a combination of which both
    have the same cells. So only the others are copied, and counted again and again.
    """
    count = recoding.passes.stream.count  # runs a statement; returns the rows of its table
    idle_batches = 0  # how many batches in a row, up to the last one, would remove no class now
    while idle_batches < len(batches):
        for copy_removable, remove_first, remove_again, update_shown in batches:
            removable = remaining = count(copy_removable)
            for statement in chain([remove_first], repeat(remove_again)):
                before, remaining = remaining, count(statement)
                if remaining in (0, before):
                    break
            idle_batches += 1
            if remaining < removable:
                idle_batches = 1  # the others may now remove more
                count(update_shown)


def _removing_statements(recoding: Recoding) -> list[tuple[str, ...]]:
    """Return statements that remove from ``shown`` the classes that combinations make too small.

    A class is one by all quasi-identifiers. By a combination of some of these, it is in a class
    with others that have the same cells, and this one may be smaller than its k. A batch is about
    several combinations: a statement that copies the classes that may go (``open_classes``), two
    that remove those that are too small from the copy (the latter is sent until it removes none),
    and one that leaves these out of ``shown``. They are made once and kept in
    ``recoding.removals``.
    """
    if recoding.removals:
        return recoding.removals
    combinations, people = recoding.combinations, recoding.counts_people
    numbers = {"wanted_largest": max(c.k for c in combinations)}
    large = recoding.view("large_classes", tables=TABLES, numbers=numbers, people=people)
    steps = (Step("large_classes", "One row per class that is never too small.", large),)
    rounds = []
    for source in ("open_classes", "still_open"):
        view = recoding.view("still_open", tables={"alike": own_name(source)}, people=people)
        rounds.append(("still_open", Plan((), view)))
    closing = ("shown", Plan((), recoding.view("still_shown", tables=TABLES)))
    for first in range(0, len(combinations), COMBINATIONS_AT_ONCE):
        looked_at = combinations[first : first + COMBINATIONS_AT_ONCE]
        opened = recoding.view(
            "open_classes",
            tables=TABLES,
            numbers={f"wanted_k_{n}": c.k for n, c in enumerate(looked_at, 1)},
            combinations=[[*c.qids, *recoding.strata] for c in looked_at],
            people=people,
        )
        plans = [("open_classes", Plan(steps, opened)), *rounds, closing]
        texts = (render.keeping(plan, name, LOADED, again=True) for name, plan in plans)
        recoding.removals.append(tuple(texts))
    return recoding.removals


def rows_of_combinations(recoding: Recoding) -> pl.DataFrame:
    """Return the combinations in the release that was made, as ``COMBINATIONS``."""
    rows, people = [], recoding.counts_people
    for combination in recoding.combinations:
        columns = [*combination.qids, *recoding.strata]
        query = recoding.view("shown_classes", tables=TABLES, qids=columns, people=people)
        names = [recoding.scales[i - 1].attribute.name for i in combination.qids]
        rows.append((names, combination.k, *recoding.passes.row(query)))
    return pl.DataFrame(rows, schema=COMBINATIONS, orient="row")
