"""Posteriors of a classifier for each target, with and without their record, and their distance.

Bernoulli naive Bayes with alpha 1 and a fitted prior has a closed form. The target's bits are all 1
(the TF-TF encoding of themselves). Let n of N records have the secret s, and n_j of these a cell of
quasi-identifier j that contains the target's value. Then

    p(s) is proportional to n product_j (n_j + 1) / (n + 2).

Source: Differential inference testing, sections 3.1 to 3.3. ``emd_printed`` is the formula printed
there, a quarter of L1. ``emd`` is the distance that the formula is meant to be: the earth mover's
distance with equal ground distance, half of L1 (the largest change of the probability of any set of
values). ``max_divergence`` is the largest difference of the logarithms (nats) of one value's
probability, as in differential privacy. ``emd_hierarchy`` is the earth mover's distance along the
edges of a hierarchy of the secret.
"""

from collections.abc import Callable
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.commands.dit import classifiers
from qifsql.counting.passes import Passes
from qifsql.counting.scales import own_table
from qifsql.data.dataset import Dataset
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.readers import relation
from qifsql.engine.protocol import Engine
from qifsql.errors import ColumnError, plural, quoted
from qifsql.query.plan import Plan
from qifsql.query.render import render

DISTANCES = ("emd_printed", "emd", "max_divergence", "emd_hierarchy")
BELIEVED = (
    *("targets", "tallies", "patterns", "totals", "whole", "beliefs", "believed", "guesses"),
    *("gaps", "edges", "flows", "distances"),
)
LESSONS = 100_000  # rows that are read at a time
CODES = [(name, pa.int64()) for name in ("target", "release", "secret")]
SCHEMA = pa.schema([*CODES, ("probability", pa.float64())])


def apply_naive_bayes(passes: Passes) -> None:
    """Create ``beliefs`` by naive Bayes from ``tallies`` and ``totals``."""
    passes.make("beliefs", "dit/beliefs", {"wanted_width": passes.coded.width})


def apply_classifier(
    engine: Engine, passes: Passes, name: str, *, seed: int, look: Callable[[int], None]
) -> None:
    """Create ``beliefs`` by a classifier of scikit-learn from ``patterns`` and ``totals``."""
    plan = passes.plan("dit/lessons")
    frames = engine.batches(plan, "reading lessons", passes.coded.name, LESSONS)
    rows = (row for frame in frames for row in frame.iter_rows())
    width = passes.coded.width
    beliefs = classifiers.train_posteriors(name, rows, width=width, seed=seed, look=look)
    path = engine.scratch / "beliefs.parquet"
    with pq.ParquetWriter(path, SCHEMA) as file:
        while some := list(islice(beliefs, LESSONS)):
            columns = zip(*some, strict=True)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
            file.write_batch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))
    passes.keep("believed", exp.select("*").from_(relation(Dataset.open(path))))
    passes.make("beliefs", "dit/believed")
    passes.drop("believed")
    path.unlink()


def measure_distances(passes: Passes) -> None:
    """Create ``distances`` from ``beliefs``, then drop ``beliefs``."""
    for name in ("guesses", "gaps", "flows", "distances"):
        passes.make(name, f"dit/{name}")
    passes.drop("beliefs", "guesses", "gaps", "flows")


def make_edges(passes: Passes, secret: Attribute, hierarchy: Hierarchy | None) -> None:
    """Create ``edges``: the values of the secret at or below each node except the root.

    The missing value is below the root. Raises ColumnError if the hierarchy lacks a value.
    """
    nothing = exp.select("0::BIGINT AS node", "0::BIGINT AS secret").where("FALSE")
    passes.keep("edges", nothing)
    if hierarchy is None:
        return
    text = exp.alias_(exp.cast(exp.column("value"), "VARCHAR"), "told")
    query = exp.select("code", text, "people").from_(own_table("dictionary_secret_1"))
    ways = {fields[0]: list(dict.fromkeys(fields)) for fields in hierarchy.lines}
    roots = {way[-1] for way in ways.values()}
    nodes: dict[str | None, int] = {}
    rows, lacking, people = [], 0, 0
    for code, value, n in passes.stream.rows(render(query)):
        if value is not None and value not in ways:
            lacking, people = lacking + 1, people + n
            continue
        way: list[str | None] = [None] if value is None else [*ways[value]]
        if value is not None and len(roots) == 1:
            way.pop()
        rows += [(nodes.setdefault(node, len(nodes)), code) for node in way]
    if lacking:
        raise ColumnError(
            f"the hierarchy of {quoted(secret.name)} lacks {plural(lacking, 'value')} of the "
            f"secret, which {plural(people, 'person')} have; add a line for each to "
            f"{hierarchy.path}"
        )
    if rows:
        listed = exp.values(rows, alias="edges", columns=["node", "secret"])
        passes.append("edges", Plan((), exp.select("node", "secret").from_(listed)))
