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

import polars as pl

from qifsql.commands.anonymise.lattice import Measured, Node
from qifsql.commands.anonymise.recode import Recoding
from qifsql.commands.anonymise.release_request import Combination
from qifsql.counting.scales import own_name
from qifsql.data.readers import LOADED
from qifsql.query import render
from qifsql.query.plan import Plan
from qifsql.query.splice import make_step

COMBINATIONS_AT_ONCE = 16  # that one statement looks at
TABLES = {name: own_name(name) for name in ("coded", "done", "refused", "shown")}
COMBINATIONS: dict[str, pl.DataType] = {
    "quasi_identifiers": pl.List(pl.String()),
    **dict.fromkeys(("k", "classes", "smallest_class"), pl.Int64()),
}
"""One row per combination of quasi-identifiers that has a k which no other one implies: how many
classes the released records form by these alone, and the records (with a person: different people)
of the smallest of them; NULL where all records are suppressed."""


def measure(recoding: Recoding, node: Node, limit: int) -> Measured:
    """Count the classes of a node; those that cannot stay are suppressed.

    If more than ``limit`` records are, ``suppressed`` may be less than their number, but not less
    than ``limit + 1``.
    """
    recoding.shown_node = None
    measured = recoding.measure(node, limit)
    suppressed = measured.suppressed
    for combination in recoding.combinations:
        if suppressed > limit:
            return replace(measured, suppressed=suppressed)
        suppressed = max(suppressed, _count_rare_records(recoding, combination, node))
    if suppressed in range(1, limit + 1):
        _make_shown(recoding, node)
        recoding.shown_node = node
        return recoding.measure(node, limit)
    return replace(measured, suppressed=suppressed)


def _count_rare_records(recoding: Recoding, combination: Combination, node: Node) -> int:
    """Return how many records of a node are in classes by a combination that are too small.

    The number depends on the steps of these quasi-identifiers alone, so it is counted once for all
    nodes that share them.
    """
    steps = tuple(node[i - 1] for i in combination.qids)
    key = (combination, steps)
    if key not in recoding.rare_records:
        table = recoding.smallest_source(node).table
        text = f"rare {combination} in {table}"
        if text not in recoding.texts:
            query = recoding.view(
                "rare_records",
                tables={"tuples": own_name(table)},
                numbers={"wanted_k": combination.k},
                qids=[*combination.qids, *recoding.strata],
                people=recoding.counts_people,
            )
            recoding.texts[text] = render.statement(Plan((), query))
        parameters = recoding.positions(steps)
        ((records,),) = recoding.passes.stream.rows(recoding.texts[text], parameters)
        recoding.rare_records[key] = int(records)
    return recoding.rare_records[key]


def _make_shown(recoding: Recoding, node: Node) -> None:
    """Make the table ``shown`` of the classes of a node that stay, with their steps and records."""
    steps = recoding.judged_steps(recoding.smallest_source(node).table, node)
    if not recoding.limits.of_secret:
        people, *_ = steps
        steps = [people, make_step("anonymise/none_refused", "refused")]
    query = recoding.view("shown_of_node", people=recoding.counts_people)
    text = render.keeping(Plan(tuple(steps), query), "shown", LOADED, again=True)
    rows = recoding.passes.stream.count(text)
    _remove_rare(recoding, rows, _removing_statements(recoding))


def refuse_classes(recoding: Recoding) -> None:
    """Add to the table ``refused`` the classes of ``done`` that cannot stay; make ``shown``."""
    passes = recoding.passes
    query = recoding.view("shown_of_done", tables=TABLES, people=recoding.counts_people)
    rows = passes.replace("shown", query)
    texts = _removing_statements(recoding)
    passes.statements |= dict.fromkeys(texts)
    _remove_rare(recoding, rows, texts)
    passes.drop("refused")
    tables = {"sides": TABLES["done"], "shown": TABLES["shown"]}
    passes.keep("refused", recoding.view("hidden_classes", tables=tables))


def _remove_rare(recoding: Recoding, rows: int, texts: Sequence[str]) -> None:
    """Send statements that remove classes from ``shown`` until none of them removes any.

    ``shown`` has so many ``rows``. All statements are sent again after any has removed a class.
    """
    unchanged = 0  # statements since the last one that removed a class
    while unchanged < len(texts):
        for text in texts:
            remaining = recoding.passes.stream.count(text)
            unchanged = unchanged + 1 if remaining == rows else 0
            rows = remaining


def _removing_statements(recoding: Recoding) -> list[str]:
    """Return statements that remove classes from ``shown`` that some combinations make too small.

    Each looks at several combinations at once.
    """
    texts, combinations = [], recoding.combinations
    for first in range(0, len(combinations), COMBINATIONS_AT_ONCE):
        key = f"remove by combinations from {first}"
        if key not in recoding.texts:
            looked_at = combinations[first : first + COMBINATIONS_AT_ONCE]
            query = recoding.view(
                "still_shown",
                tables=TABLES,
                numbers={f"wanted_k_{n}": c.k for n, c in enumerate(looked_at, 1)},
                combinations=[[*c.qids, *recoding.strata] for c in looked_at],
                people=recoding.counts_people,
            )
            recoding.texts[key] = render.keeping(Plan((), query), "shown", LOADED, again=True)
        texts.append(recoding.texts[key])
    return texts


def rows_of_combinations(recoding: Recoding) -> pl.DataFrame:
    """Return the combinations in the release that was made, as ``COMBINATIONS``."""
    rows, people = [], recoding.counts_people
    for combination in recoding.combinations:
        columns = [*combination.qids, *recoding.strata]
        query = recoding.view("shown_classes", tables=TABLES, qids=columns, people=people)
        names = [recoding.scales[i - 1].attribute.name for i in combination.qids]
        rows.append((names, combination.k, *recoding.passes.row(query)))
    return pl.DataFrame(rows, schema=COMBINATIONS, orient="row")
