"""Differential inference testing: the dependence of guesses about people on their own record."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from qifsql.adversary.bind import bind
from qifsql.adversary.spec import Attack, BoundAttack, Microdata
from qifsql.commands.dit import black_box, distances, stored_batches, targets
from qifsql.commands.dit.batches import compute_batches, open_passes
from qifsql.commands.dit.release_sources import ReleaseSource
from qifsql.commands.dit.spec import BAYES, DitOptions, Question
from qifsql.counting.changed_attributes import Changeable
from qifsql.counting.learners import check_installed
from qifsql.data.dataset import Dataset, Tabular
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.option import complete
from qifsql.data.readers import openings
from qifsql.data.types import family, nested
from qifsql.engine.catalog import Catalog
from qifsql.engine.engines import open_engine
from qifsql.engine.masks import private
from qifsql.engine.progress import Meter
from qifsql.engine.protocol import Engine
from qifsql.engine.settings import Settings
from qifsql.errors import ColumnError, InputError, did_you_mean, plural, quoted
from qifsql.query.render import render
from qifsql.results.result import Result
from qifsql.results.storage import Origin, streamed_place


def dit(
    source: Tabular, *, settings: Settings | None = None, **options: Unpack[DitOptions]
) -> Result:
    """Measure how much a prediction about a person changes when their record is removed.

    Differential inference testing: a classifier learns the secret from the sanitised release with
    and without each person. Missing values are values. Nothing is random without a sample.

    Returns:
        A Result. frame: one row per run and distance with records, mean, std, max and different
        (the share of people whose prediction changes, in [0, 1]). details: distribution of the
        distances; with draws, delta.

    Raises:
        InputError: A release, with or without somebody, cannot keep the limits, or scikit-learn
            is missing.
        EngineError: Memory or disk ran out.

    Example:
        >>> result = qifsql.dit("data-samples/thesis_table_3_2.csv", qids="age,gender",
        ...     secret="illness", k=2)
        >>> result.frame["records"][0]
        10

    Source: M84 to M88; Kassem et al. 2019.

    """
    origin = Origin.now(settings, "dit")
    options = complete(options, DitOptions)
    question = Question.of(options, (settings.seed if settings else None) or 0)
    if question.classifier != BAYES:
        check_installed(f"classifier {question.classifier}", "naive-bayes needs nothing")
    dataset = Dataset.open(source)
    qids, secret, where = options["qids"], options["secret"], options["where"]
    spec = Attack.of("cas", dataset, qids=qids, secret=secret, where=where, key=options["key"])
    read = (*dataset.paths, *question.files)
    out, store = streamed_place(options["records"], read), None
    if options["store"] is not None:
        store = stored_batches.prepare(Path(options["store"]), read, restart=options["restart"])
    return _run(spec, question, origin, settings or Settings(), out=out, store=store)


def _run(
    spec: Attack,
    question: Question,
    origin: Origin,
    settings: Settings,
    *,
    out: Path | None,
    store: Path | None,
) -> Result:
    """Test the release of each run (limits on k and l); return the distances of predictions.

    A row per person is written to ``out``; finished batches of people are kept in ``store``.
    """
    hierarchy = None if question.hierarchy is None else Hierarchy.read(question.hierarchy)
    meter = Meter("testing", settings.progress)
    (dataset,) = spec.dataset.datasets
    sources, outputs = _sources(dataset, question, store), [] if out is None else [out]
    metered = replace(settings, progress=meter)
    with (
        private(when=store is not None),
        open_engine(metered, sources=sources, outputs=outputs, ordered=True) as engine,
    ):
        attack, catalog = _bind_attack(engine, spec, question.as_values)
        microdata = attack.microdata
        if hierarchy is not None:  # of the secret
            hierarchy = hierarchy.of_type(microdata.secrets[0].type, dataset.decimal)
        changeable = Changeable.of(catalog, microdata.qids, question.hierarchies)
        people = targets.code_people(engine, microdata, changeable.hierarchies)
        targets.check_limits(people, question)
        description = _describe(microdata, dataset, spec.where) | question.plain()
        files = (*dataset.paths, *question.files)
        # A store is resumed only by the same question about the same files.
        signature = stored_batches.identity(description, files) if store is not None else {}
        source = ReleaseSource(engine, attack, spec, catalog.schema, question, settings)
        stream = engine.stream(people.name)
        try:
            batch_store = stored_batches.Store(engine, stream, store, signature)
            passes = open_passes(stream, people, meter)
            notes = compute_batches(
                passes, people, source, store=batch_store, hierarchy=hierarchy, meter=meter
            )
            frame = distances.summary_rows(passes, question)
            thresholds, grid = question.thresholds, distances.GRID
            details = {  # people with a distance above a threshold; with at most that of a point
                "thresholds": distances.share_rows(passes, question, thresholds, above=True),
                "distribution": distances.share_rows(passes, question, grid, above=False),
            }
            if question.draws:
                details["delta"] = distances.delta_rows(passes, question)
                notes = (*notes, _describe_draws(question))
        finally:
            stream.close()
        statements = (*openings(microdata.dataset), *passes.statements)
        origin = origin.about(description, files).sending(statements)
        written = 0  # rows
        if out is not None:
            written = distances.write_people(engine, microdata, question, out, origin)
    origin = origin.about(description, files)  # with the time of writing, too
    origin = origin.listing(microdata.columns)
    notes = (*microdata.notes, *_notes_on_sample(question, people.coded.records), *notes)
    return Result(frame=frame, origin=origin, details=details, notes=notes, written=written)


def _notes_on_sample(question: Question, records: int) -> list[str]:
    """Return a note if only some of the people were tested."""
    if not 0 < question.sample < records:
        return []
    return [
        f"{question.sample:,} of {plural(records, 'record')} were drawn and "
        "looked at: the distances of the others may be larger and their best guess may change; "
        "no interval is stated"
    ]


def _describe_draws(question: Question) -> str:
    """Return the note on what delta is, and what its interval covers."""
    if not question.random:
        return (
            f"{question.method} and {question.classifier} draw nothing at random: delta is 1 if "
            "somebody has a distance of epsilon or more, and else 0"
        )
    return (
        f"delta is the largest share over the people tested of {plural(question.draws, 'draw')} "
        "with a distance of epsilon or more; its interval covers the largest chance over these "
        "people with probability 95 % or more; all other numbers are those of the first draw"
    )


def _sources(dataset: Dataset, question: Question, store: Path | None) -> list[Dataset | Path]:
    """Return what is opened: the data, the release files that the user names, and the store."""
    release = [] if question.release is None else [Dataset.open(question.release)]
    files = () if question.without is None else black_box.existing_files(question.without)
    without = [Dataset("releases", "csv", files)] if files else []
    return [dataset, *release, *without, *([] if store is None else [store])]


def _bind_attack(
    engine: Engine, spec: Attack, as_values: Sequence[str]
) -> tuple[BoundAttack, Catalog]:
    """Bind the attack to the data; return it with the catalog of the data.

    ColumnError if values are nested, or one of ``as_values`` is no qid; InputError for two secrets.
    """
    catalog = Catalog(engine, spec.dataset)
    dataset = catalog.dataset
    assert isinstance(dataset, Dataset)  # noqa: S101 - it is no collection
    read = engine.load(dataset) if dataset.format == "csv" else dataset
    attack = bind(replace(spec, dataset=read), catalog)
    if len(attack.microdata.secrets) != 1:
        raise InputError("one secret is tested at a time; name one with --secret")
    for attribute in (*attack.microdata.qids, *attack.microdata.secrets):
        if nested(attribute.type):
            raise ColumnError(
                f"column {quoted(attribute.name)} is nested ({family(attribute.type)}), as in a "
                "release that was anonymised before; test the original"
            )
    names = [q.name for q in attack.microdata.qids]
    for name in as_values:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ColumnError(f"{quoted(name)} is not a quasi-identifier{hint}")
    return attack, catalog


def _describe(microdata: Microdata, dataset: Dataset, where: str | None) -> dict[str, object]:
    """Return dataset, roles and filter as plain data, for manifests and stores."""
    named = (*microdata.qids, *microdata.secrets)
    description: dict[str, object] = {
        "dataset": dataset.name,
        "qids": [q.name for q in microdata.qids],
        "secret": microdata.secrets[0].name,
        "expressions": {a.name: render(a.expression) for a in named if a.name != a.expression.name},
        "where": where,
    }
    return description | {name: value for name, value in dataset.read_with.items() if value}
