"""Differential inference testing: does what is guessed about a person depend on that person?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from sqlglot import exp

from qifsql.binding import bind
from qifsql.dataset import Dataset
from qifsql.datatypes import family, nested
from qifsql.dialect import render
from qifsql.differential import beliefs, coded, forest, question, summary, tally, without
from qifsql.differential.question import Question
from qifsql.engine.catalog import Catalog
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Settings
from qifsql.engine.streams import Stream
from qifsql.errors import ColumnError, InputError, quoted
from qifsql.export import Origin
from qifsql.sanitise.hierarchies import Hierarchy
from qifsql.sanitise.passes import Passes
from qifsql.sanitise.scales import own_table
from qifsql.sanitise.wishes import Number
from qifsql.spec import Attack, BoundAttack

NAMES = (
    *("coded", "different", "targets", "aimed", "rescaled", "moved", "apart", "each_one", "points"),
    *forest.FOREST,
    *tally.TALLIED,
    *beliefs.BELIEVED,
)


@dataclass(frozen=True)
class Inference:
    """What every run comes to (``summary.SUMMARY``), and how distances are spread (``SHARES``).

    ``details`` has the tables ``distribution`` and ``thresholds``.
    """

    frame: pl.DataFrame
    details: Mapping[str, pl.DataFrame]
    origin: Origin
    secret: str
    notes: tuple[str, ...] = ()


def dit(
    source: str | Path | Dataset,
    *,
    qids: str | Sequence[str],
    secret: str,
    method: str = "mondrian",
    k: int | str | Sequence[int | str] | None = None,
    l: int | str | Sequence[int | str] | None = None,  # noqa: E741 - it is called l
    l_entropy: Number | None = None,
    l_recursive: str | Sequence[Number] | None = None,
    t: Number | None = None,
    t_ordered: Number | None = None,
    classifier: str = "naive-bayes",
    hierarchy: str | Path | None = None,
    threshold: float | str | Sequence[float | str] | None = None,
    sample: int = 0,
    where: str | None = None,
    settings: Settings | None = None,
) -> Inference:
    """Compare what is guessed about every person with and without their record in the data."""
    origin = Origin.now(settings, "dit")
    asked = Question(
        question.method(method),
        question.runs(
            question.numbers(k, "k"),
            question.numbers(l, "l"),
            l_entropy=l_entropy,
            l_recursive=l_recursive,
            t=t,
            t_ordered=t_ordered,
        ),
        classifier,
        question.points(threshold),
        sample,
        (settings.seed if settings else None) or 0,
    )
    dataset = Dataset.open(source)
    tree = None if hierarchy is None else Hierarchy.read(hierarchy)
    spec = Attack.of("cas", dataset, qids=qids, secret=secret, where=where)
    with DuckDB(settings, ordered=True) as engine:
        catalog = Catalog(engine, dataset)
        assert isinstance(catalog.dataset, Dataset)  # noqa: S101 - it was one
        dataset = catalog.dataset
        if dataset.format == "csv":
            dataset = engine.load(dataset)
        attack = _plain_values(bind(replace(spec, dataset=dataset), catalog))
        people = coded.code(engine, attack)
        coded.check(people, asked)
        stream = engine.stream(people.name)
        passes = Passes(stream, people.coded, lambda _: None, names=NAMES)

        def work(_stream: Stream) -> None:
            batches = coded.aim(passes, people, asked, scaled=True)
            beliefs.make_edges(passes, people.secret, tree)
            first = True
            for run, wishes in enumerate(asked.runs, 1):
                for batch in batches:
                    without.work(passes, people, wishes, batch)
                    make = passes.make if first else passes.add
                    make("apart", "differential/apart", {"wanted_run": run})
                    passes.drop("distances")
                    first = False

        try:
            engine.together([stream], work, lambda: None)
            passes.make("each_one", "differential/each_one")
            frame = summary.summary(passes, asked)
            details = {
                "thresholds": summary.shares(passes, asked, asked.thresholds, above=True),
                "distribution": summary.shares(passes, asked, summary.GRID, above=False),
            }
        finally:
            stream.close()
        origin = origin.about({"dataset": people.name}, catalog.dataset.paths).sending(passes.sent)
    return Inference(frame, details, origin, people.secret.name, tuple(attack.notes))


def _plain_values(attack: BoundAttack) -> BoundAttack:
    """The same attack; ColumnError where values are nested, or there are several secrets."""
    if len(attack.secrets) != 1:
        raise InputError("one secret is tested at a time; name one with --secret")
    for attribute in (*attack.qids, *attack.secrets):
        if nested(attribute.type):
            raise ColumnError(
                f"column {quoted(attribute.name)} is nested ({family(attribute.type)}), as in a "
                "release that was anonymised before; test the original"
            )
    return attack
