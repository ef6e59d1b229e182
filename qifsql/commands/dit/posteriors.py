"""Posteriors of a classifier for each target, with and without their record, and their distance.

Bernoulli naive Bayes with alpha 1 and a fitted prior has a closed form. The target's bits are all 1
(the TF-TF encoding of themselves). Let n of N records have the secret s, and n_j of these a cell of
quasi-identifier j that contains the target's value. Then

    p(s) is proportional to n product_j (n_j + 1) / (n + 2).

Source: Differential inference testing, sections 3.1 to 3.3. ``emd_printed`` is the formula printed
there, a quarter of L1. ``emd`` is the distance that the formula is meant to be: the earth mover's
distance with equal ground distance, half of L1 (the largest change of the probability of any set of
values). ``max_divergence`` is the largest difference of the logarithms (nats) of one value's
probability, as in differential privacy. ``emd_hierarchy`` is the EMD in a hierarchy.

A classifier of scikit-learn is trained on every release: a table of bits with the secrets of its
records. A record has one bit per quasi-identifier: 1 if its cell contains the target's value.
Releases with the same table share one training. The order of the input has no effect.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import groupby, islice
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from qifsql.adversary.spec import Attribute
from qifsql.counting.learners import classifier
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
TABLES = (
    *("targets", "tallies", "patterns", "totals", "whole", "beliefs", "believed", "guesses"),
    *("gaps", "edges", "flows", "distances"),
)
ROWS_PER_BATCH = 100_000  # that are read, and written, at a time
MOST_CACHED = 100_000  # tables of bits whose posteriors are cached


class Lesson(NamedTuple):
    """The people of a release of a target with a pattern of bits and a secret."""

    target: int
    release: int
    pattern: int
    secret: int
    people: int


Seeds = tuple[int, int]  # of the models with and without a target
Belief = tuple[int, int, int, float]  # target, release, secret, probability
SCHEMA = pa.schema(
    [
        *((name, pa.int64()) for name in ("target", "release", "secret")),
        ("probability", pa.float64()),
    ]
)


def apply_classifier(
    engine: Engine, passes: Passes, name: str, *, seeds: Seeds, look: Callable[[int], None]
) -> None:
    """Create ``beliefs`` (target, release, secret, probability) by a classifier of scikit-learn.

    The view ``lessons`` has what a model learns: how many records of a release have which cells
    that contain the target's values, and which secret. ``seeds`` are those of the models with and
    without each target; ``look`` is told how many are trained.
    """
    plan = passes.plan("dit/lessons")
    frames = engine.batches(plan, "reading lessons", passes.coded.name, ROWS_PER_BATCH)
    rows = (Lesson(*row) for frame in frames for row in frame.iter_rows())
    width = passes.coded.width
    beliefs = train_posteriors(name, rows, width=width, seeds=seeds, look=look)
    path = engine.scratch / "beliefs.parquet"
    with pq.ParquetWriter(path, SCHEMA) as file:
        while batch := list(islice(beliefs, ROWS_PER_BATCH)):
            columns = zip(*batch, strict=True)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
            file.write_batch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))
    passes.keep("believed", exp.select("*").from_(relation(Dataset.open(path))))
    passes.make("beliefs", "dit/believed")
    passes.drop("believed")
    path.unlink()


def make_edges(passes: Passes, secret: Attribute, hierarchy: Hierarchy | None) -> None:
    """Create ``edges``: one row per node of the hierarchy, but the root, and secret below it.

    A value of the secret is a node, too; a missing one is a node of its own below the root. Without
    a hierarchy there are no rows. Raises ColumnError if the hierarchy lacks a value.
    """
    passes.keep_empty("edges", ("node", "secret"))
    if hierarchy is None:
        return
    text = exp.alias_(exp.cast(exp.column("value"), "VARCHAR"), "told")
    query = exp.select("code", text, "people").from_(own_table("dictionary_secret_1"))
    nodes_of_value = _nodes_below_root(hierarchy)
    number_of_node: dict[str | None, int] = {}
    edges, people_lacking = [], []  # the people of each value that the hierarchy lacks
    for code, value, people in passes.stream.rows(render(query)):
        nodes = nodes_of_value.get(value)
        if nodes is None:
            people_lacking.append(people)
        else:
            edges += [(number_of_node.setdefault(n, len(number_of_node)), code) for n in nodes]
    if people_lacking:
        raise ColumnError(
            f"the hierarchy of {quoted(secret.name)} lacks {plural(len(people_lacking), 'value')} "
            f"of the secret, which {plural(sum(people_lacking), 'person')} have; add a line for "
            f"each to {hierarchy.path}"
        )
    if edges:
        listed = exp.values(edges, alias="edges", columns=["node", "secret"])
        passes.append("edges", Plan((), exp.select("node", "secret").from_(listed)))


def _nodes_below_root(hierarchy: Hierarchy) -> dict[str | None, list[str | None]]:
    """Return the nodes above each value of a hierarchy, and the value itself; None: missing.

    A line has a value and its ancestors up to the top; levels may repeat a node. If all lines end
    in the same node, it is the root and left out.
    """
    paths = {fields[0]: list(dict.fromkeys(fields)) for fields in hierarchy.lines}
    if len({path[-1] for path in paths.values()}) == 1:
        paths = {value: path[:-1] for value, path in paths.items()}
    nodes: dict[str | None, list[str | None]] = {None: [None]}
    return nodes | {value: [*path] for value, path in paths.items()}


def train_posteriors(
    name: str, lessons: Iterable[Lesson], *, width: int, seeds: Seeds, look: Callable[[int], None]
) -> Iterator[Belief]:
    """Yield the probability of each secret for each target, with and without their record.

    ``lessons`` are in the order of target, release, pattern and secret; a pattern has ``width``
    bits. Releases with the same table of these, and the same seed, are trained on once.
    """
    beliefs_by_table: dict[tuple[int, tuple[tuple[int, ...], ...]], list[tuple[int, float]]] = {}
    releases = groupby(lessons, key=lambda lesson: (lesson.target, lesson.release))
    for n, ((target, release), rows) in enumerate(releases, 1):
        table = tuple((row.pattern, row.secret, row.people) for row in rows)
        seed = seeds[release]
        if (seed, table) not in beliefs_by_table:
            if len(beliefs_by_table) >= MOST_CACHED:
                beliefs_by_table.clear()
            beliefs_by_table[seed, table] = _train_posterior(name, table, width=width, seed=seed)
        look(n)
        for secret, probability in beliefs_by_table[seed, table]:
            yield target, release, secret, probability


def _train_posterior(
    name: str, table: Sequence[tuple[int, ...]], *, width: int, seed: int
) -> list[tuple[int, float]]:
    """Return the probability of each secret, for a person whose bits are all 1.

    ``table`` has rows of a pattern, a secret, and how many people have both. Bit j of a pattern
    says whether the cell of quasi-identifier j contains the person's value.
    """
    secrets = sorted({secret for _, secret, _ in table})
    if len(secrets) == 1:
        return [(secrets[0], 1.0)]
    numpy = import_module("numpy")
    people = [n for _, _, n in table]
    bits = [[pattern >> j & 1 for j in range(width)] for pattern, _, _ in table]
    features = numpy.repeat(numpy.array(bits, dtype=numpy.int8), people, axis=0)
    labels = numpy.repeat(numpy.array([secret for _, secret, _ in table]), people)
    neighbours = {"n_neighbors": min(5, len(labels))} if name == "k-nearest" else {}
    model = classifier(name, seed, **neighbours)
    model.fit(features, labels)
    (probabilities,) = model.predict_proba(numpy.ones((1, width), dtype=numpy.int8))
    return [(int(s), float(p)) for s, p in zip(model.classes_, probabilities, strict=True)]
