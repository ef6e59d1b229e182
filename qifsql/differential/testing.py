"""Differential inference testing: whether guesses about a person depend on that person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from qifsql.binding import bind
from qifsql.dataset import Dataset
from qifsql.datatypes import family, nested
from qifsql.dialect import render
from qifsql.differential import boxes, classifiers, coded, everyone, kept, question, summary
from qifsql.differential.makers import Maker
from qifsql.differential.question import Question
from qifsql.differential.working import Meter, passes_of, work
from qifsql.engine.catalog import Catalog
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import PRIVATE, Settings, masked
from qifsql.errors import ColumnError, InputError, quoted, several
from qifsql.export import Origin
from qifsql.inputs import path_text
from qifsql.relation import openings
from qifsql.sanitise.hierarchies import Hierarchy
from qifsql.sanitise.wishes import Number
from qifsql.spec import Attack, BoundAttack


@dataclass(frozen=True)
class Inference:
    """What every run comes to (``summary.SUMMARY``), and how distances are spread (``SHARES``).

    ``details`` has the tables ``thresholds`` and ``distribution``. ``written`` is how many rows the
    file of records has.
    """

    frame: pl.DataFrame
    details: Mapping[str, pl.DataFrame]
    origin: Origin
    secret: str
    qids: tuple[str, ...]
    written: int = 0
    notes: tuple[str, ...] = ()


def dit(
    source: str | Path | Dataset,
    *,
    qids: str | Sequence[str],
    secret: str | Sequence[str],
    method: str | None = None,
    k: int | str | Sequence[int | str] | None = None,
    l: int | str | Sequence[int | str] | None = None,  # noqa: E741 - it is called l
    l_entropy: Number | None = None,
    l_recursive: str | Sequence[Number] | None = None,
    t: Number | None = None,
    t_ordered: Number | None = None,
    release: str | Path | None = None,
    without: str | Path | None = None,
    command: str | None = None,
    timeout: float = question.TIMEOUT,
    plain: str | Sequence[str] = (),
    classifier: str = "naive-bayes",
    hierarchy: str | Path | None = None,
    threshold: float | str | Sequence[float | str] | None = None,
    sample: int = 0,
    records: str | Path | None = None,
    key: str | None = None,
    store: str | Path | None = None,
    restart: bool = False,
    where: str | None = None,
    settings: Settings | None = None,
) -> Inference:
    """Compare what is guessed about every person with and without their record in the data.

    A classifier learns the ``secret`` from either release, for each person (D, section 2.2).
    ``method``: ``mondrian`` or ``mdav``, whose limits are those of ``anonymise`` (``mdav`` with a
    limit on the secret suppresses classes that break it); ``k`` and ``l`` may list several
    (``"2,5,10"``): each k with each l is a run. ``files``: ``release`` is the file with everybody,
    ``without`` those without each person, with ``{i}`` for the position of their record, from 1.
    ``command``: makes a release of the file that stands for ``{input}`` and writes it to
    ``{output}``, within ``timeout`` seconds; it gets Parquet, of CSV CSV, and is asked once for
    equal records. Without a method the other options say it. Cells of releases from elsewhere are
    those of ``qifsql.sanitise.cells``, of the quasi-identifiers ``plain`` values as they stand.
    ``classifier``: ``naive-bayes`` (``qifsql.differential.beliefs``), or one of scikit-learn
    (``qifsql.differential.classifiers``), which learns from every release anew. Records are encoded
    for the person who is asked about: a bit for each quasi-identifier, true where the cell holds
    their value (TF-TF). ``hierarchy``: a file of the secret's values and what they stand below
    (``value;node;...``) for ``emd_hierarchy``. ``threshold``: distances, for how many people are
    above. ``sample``: look at so many people only, drawn by the seed of the settings. ``records``:
    a file for a row per record (``qifsql.differential.everyone``), with their ``key``. ``store``: a
    DuckDB file of finished batches; ``restart`` removes it. A missing value is a value. No lots are
    drawn, so delta of Definition 1 is 0.

    Raises InputError where a release, with or without somebody, cannot keep the limits.
    """
    origin = Origin.now(settings, "dit")
    boxed = {name: _text(x) for name, x in (("release", release), ("without", without))}
    how = question.method(method, files=any(boxed.values()), command=command is not None)
    stand = (plain,) if isinstance(plain, str) else tuple(plain)
    question.elsewhere(how, **boxed, command=command, timeout=timeout, plain=stand)
    each_k, each_l = question.numbers(k, "k"), question.numbers(l, "l")
    runs = question.runs(
        how, each_k, each_l, l_entropy=l_entropy, l_recursive=l_recursive, t=t, t_ordered=t_ordered
    )
    seed, tree = (settings.seed if settings else None) or 0, _text(hierarchy)
    learner, points = classifiers.check(classifier), question.points(threshold)
    people, elsewhere = question.sampled(sample), (boxed["release"], boxed["without"], command)
    asked = Question(how, runs, learner, points, people, seed, tree, *elsewhere, timeout, stand)
    dataset = Dataset.open(source)
    spec = Attack.of("cas", dataset, qids=qids, secret=secret, where=where, key=key)
    read = (*dataset.paths, *filter(None, (asked.hierarchy, asked.release)))
    out = None if records is None else everyone.place(records, read)
    held = None if store is None else kept.prepare(Path(store), read, restart=restart)
    return _run(spec, asked, origin, settings or Settings(), out=out, store=held)


def _text(path: str | Path | None) -> str | None:
    return None if path is None else path_text(path)


def _run(
    spec: Attack,
    asked: Question,
    origin: Origin,
    settings: Settings,
    *,
    out: Path | None,
    store: Path | None,
) -> Inference:
    """Work through everything, and read what was found."""
    tree = None if asked.hierarchy is None else Hierarchy.read(asked.hierarchy)
    meter = Meter(settings.progress)
    with (
        masked(None if store is None else PRIVATE) as mask,
        DuckDB(
            replace(settings, progress=meter),
            sources=[spec.dataset, *_releases(asked), *([] if store is None else [store])],
            outputs=[] if out is None else [out],
            ordered=True,
        ) as engine,
    ):
        attack, catalog = _bound(engine, spec)
        question.check_plain(asked.as_values, [q.name for q in attack.qids])
        dataset = spec.dataset
        assert isinstance(dataset, Dataset)  # noqa: S101 - it was one
        people = coded.code(engine, attack)
        coded.check(people, asked)
        told = _plain(attack, dataset, spec.where) | asked.plain()
        stream = engine.stream(people.name)
        files = (*dataset.paths, *(x for x in (asked.hierarchy, asked.release) if x))
        try:
            signature = kept.signed(told, files) if store is not None else {}
            found = kept.Kept(engine, stream, store, signature)
            passes = passes_of(stream, people, meter)
            maker = Maker(engine, attack, spec, catalog.schema, asked, settings)
            notes = work(passes, people, maker, kept=found, hierarchy=tree, meter=meter)
            frame = summary.summary(passes, asked)
            details = {
                "thresholds": summary.shares(passes, asked, asked.thresholds, above=True),
                "distribution": summary.shares(passes, asked, summary.GRID, above=False),
            }
        finally:
            stream.close()
        origin = origin.about(told, files).sending((*openings(attack.dataset), *passes.sent))
        with masked(mask):  # the file of records is as readable as any other
            rows = 0 if out is None else everyone.write(engine, attack, asked, out, origin)
    origin = replace(origin.about(told, files), statements=origin.statements)
    origin = origin.listing(attack.columns)
    names = tuple(q.name for q in attack.qids)
    drawn = _of_sample(asked, people.coded.records)
    notes = (*attack.notes, *drawn, *notes)
    return Inference(frame, details, origin, attack.secrets[0].name, names, rows, notes)


def _of_sample(asked: Question, records: int) -> tuple[str, ...]:
    """Return a remark where not everybody is looked at."""
    if not asked.sample or asked.sample >= records:
        return ()
    return (
        f"{asked.sample:,} of {several(records, 'record')} were drawn and looked at: the distances "
        "of the others may be larger and their best guess may change; no interval is stated",
    )


def _releases(asked: Question) -> list[Dataset]:
    """Return the releases that the user made."""
    whole = [] if asked.release is None else [Dataset.open(asked.release)]
    single = () if asked.without is None else boxes.paths(asked.without)
    return [*whole, *([Dataset("releases", "csv", single)] if single else [])]


def _bound(engine: DuckDB, spec: Attack) -> tuple[BoundAttack, Catalog]:
    """The question about the data as they are read, and what is known of these."""
    catalog = Catalog(engine, spec.dataset)
    dataset = catalog.dataset
    assert isinstance(dataset, Dataset)  # noqa: S101 - it was one
    read = engine.load(dataset) if dataset.format == "csv" else dataset
    return _plain_values(bind(replace(spec, dataset=read), catalog)), catalog


def _plain(attack: BoundAttack, dataset: Dataset, where: str | None) -> dict[str, object]:
    """What the question is about, as plain data for manifests and stores."""
    named = (*attack.qids, *attack.secrets)
    found: dict[str, object] = {
        "dataset": dataset.name,
        "qids": [q.name for q in attack.qids],
        "secret": attack.secrets[0].name,
        "expressions": {a.name: render(a.expression) for a in named if a.name != a.expression.name},
        "where": where,
    }
    if dataset.format == "csv":
        found["csv"] = {
            "all_varchar": dataset.all_varchar,
            "delimiter": dataset.delimiter,
            "encoding": dataset.encoding,
        }
    return found


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
