"""Posteriors of a classifier for each target, with and without their record, and their distance.

Bernoulli naive Bayes with alpha 1 and a fitted prior, in closed form: the target's own values are
in all cells (the TF-TF encoding of themselves), so for a secret s with n of N records, of which n_j
have a cell of quasi-identifier j that holds the target's value,

    p(s) is proportional to n product_j (n_j + 1) / (n + 2).

Source: Differential inference testing, sections 3.1 to 3.3. ``emd_printed`` is the formula that is
printed there, a quarter of L1; ``emd`` the earth mover's distance with equal ground distance that
it stands for, half of L1 (the largest change of the probability of any set of values);
``max_divergence`` the largest difference of logarithms (nats) of the probability of one value, as
in differential privacy; ``emd_hierarchy`` the earth mover's distance along the edges of a hierarchy
of the secret.
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
from qifsql.data.relation import relation
from qifsql.engine.protocol import Engine
from qifsql.errors import ColumnError, quoted, several
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


def believe(passes: Passes) -> None:
    """Make ``beliefs`` of naive Bayes from ``tallies`` and ``totals``."""
    passes.make("beliefs", "dit/beliefs", {"wanted_width": passes.coded.width})


def learn(
    engine: Engine, passes: Passes, name: str, *, seed: int, look: Callable[[int], None]
) -> None:
    """Make ``beliefs`` of a classifier of scikit-learn from ``patterns`` and ``totals``."""
    plan = passes.plan("dit/lessons")
    frames = engine.batches(plan, "reading lessons", passes.coded.name, LESSONS)
    rows = (row for frame in frames for row in frame.iter_rows())
    width = passes.coded.width
    beliefs = classifiers.beliefs(name, rows, width=width, seed=seed, look=look)
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


def measure(passes: Passes) -> None:
    """Make ``distances`` of ``beliefs``, which then goes."""
    for name in ("guesses", "gaps", "flows", "distances"):
        passes.make(name, f"dit/{name}")
    passes.drop("beliefs", "guesses", "gaps", "flows")


def make_edges(passes: Passes, secret: Attribute, hierarchy: Hierarchy | None) -> None:
    """Make ``edges``: which values of the secret lie at or below each node but the root.

    The missing value lies below the root. Raises ColumnError where the hierarchy lacks a value.
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
            f"the hierarchy of {quoted(secret.name)} lacks {several(lacking, 'value')} of the "
            f"secret, which {several(people, 'person')} have; add a line for each to "
            f"{hierarchy.path}"
        )
    if rows:
        listed = exp.values(rows, alias="edges", columns=["node", "secret"])
        passes.append("edges", Plan((), exp.select("node", "secret").from_(listed)))
