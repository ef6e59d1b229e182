"""The work of a test, by run and batch; each batch is stored when it is finished."""

from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from qifsql.commands.dit import black_box, mondrian_runs, posteriors, targets
from qifsql.commands.dit.external_releases import ExternalReleases
from qifsql.commands.dit.release_sources import ReleaseSource
from qifsql.commands.dit.spec import BAYES, COMMAND, FILES, MONDRIAN
from qifsql.commands.dit.stored_batches import Store
from qifsql.commands.dit.targets import People
from qifsql.counting.passes import Passes
from qifsql.counting.scales import own_table
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.readers import STORE
from qifsql.engine.connections import Stream
from qifsql.engine.progress import Meter
from qifsql.errors import plural
from qifsql.query.render import render
from qifsql.query.splice import splice

TABLES = (
    *("coded", "branches", "different", "targets", "aimed", "rescaled", "moved", "alone"),
    *("nominal", "each_one", "drawn", "points", "whose"),
    *(*mondrian_runs.TABLES, *posteriors.TABLES),
)
TABULATED = ("tallies", "patterns", "totals")  # counts of the releases of a batch
MANY_RESCALED = 500  # targets with a separate tree above which a remark is given


def open_passes(stream: Stream, people: People, meter: Meter) -> Passes:
    """Return the statements about the people; progress shows the number of open questions."""
    turn = 0

    def look(open_questions: int) -> None:
        nonlocal turn
        turn += 1
        # how many passes there are is not known before: each takes a tenth of what is left
        meter.inside(0.8 * (1 - 0.9**turn), f"pass {turn}: {open_questions:,} questions")

    return Passes(stream, people.coded, look, names=TABLES)


def compute_batches(
    passes: Passes,
    people: People,
    source: ReleaseSource,
    *,
    store: Store,
    hierarchy: Hierarchy | None,
    meter: Meter,
) -> tuple[str, ...]:
    """Measure the distances of all targets that the ``store`` lacks; return remarks.

    A target is a person whose prediction is tested with and without their record; a batch has some
    of them, a run the limits of one k and l. Each batch is stored when it is done. To find delta,
    random parts are drawn several times: the first is stored, ``drawn`` has all. ``each_one``, a
    row per run, target and distance, is created from the store.
    """
    question, engine = source.question, source.engine
    batches: list[int] = []

    def begin(_stream: Stream) -> None:
        posteriors.make_edges(passes, people.secret, hierarchy)
        batches.extend(targets.choose_targets(passes, people, question))

    engine.together([passes.stream], begin, meter.show)
    if question.method == FILES:
        records = (record for batch in batches for _, record in _targets_of_batch(passes, batch))
        black_box.refuse_missing(question.without or "", records)
    pairs = [(run, batch) for run, _ in enumerate(question.runs, 1) for batch in batches]
    finished = store.finished()
    external: dict[int, ExternalReleases] = {}  # by run
    for i, (run, batch) in enumerate(pairs):
        if (run, batch) in finished:
            continue
        meter.begin(i, len(pairs), f"run {run} of {len(question.runs)}")
        run_source = replace(source, limits=question.runs[run - 1])
        passes.make("targets", "dit/batch", {"wanted_batch": batch})
        for draw in range(question.draws if question.draws and question.random else 1):
            # Releases are made once for a batch; only a command makes new ones for each draw.
            makes_releases = draw == 0 or question.method == COMMAND
            if makes_releases and question.method == MONDRIAN:
                _tabulate_mondrian(passes, people, run_source, meter)
            elif makes_releases:
                if run not in external or draw:
                    external[run] = ExternalReleases(passes, run_source)
                _tabulate_files(passes, run_source, external[run], batch, meter)
            _compute_distances(passes, run_source, draw, meter)  # creates ``distances``
            distances = passes.plan("dit/apart", {"wanted_run": run})
            if question.draws:  # nothing was finished before: a store keeps no draws
                add_rows = passes.append if i or draw else passes.keep
                add_rows("drawn", distances)
            if draw == 0:
                store.finish(distances, run, batch)
            passes.drop("distances", *(TABULATED if question.method == COMMAND else ()))
        passes.drop("targets", *TABULATED)
    # By run, target and distance, from the store, which also has the batches of earlier runs.
    passes.keep("each_one", splice("dit/each_one", tables={"apart": f"{STORE}.main.apart"}))
    return _notes_on_scales(passes) if question.method == MONDRIAN else ()


def _notes_on_scales(passes: Passes) -> tuple[str, ...]:
    """Return a remark if many targets take long, because a scale changes without them."""
    (rescaled,) = passes.row(exp.select("count(*)").from_(own_table("rescaled")))
    if rescaled <= MANY_RESCALED:
        return ()
    return (
        f"{plural(int(rescaled), 'person')} alone have a value without which the scale of a "
        "quasi-identifier is another one, so all cuts are searched again without them; coarser "
        "values, as in NAME=EXPRESSION, take less time",
    )


def _tabulate_mondrian(passes: Passes, people: People, source: ReleaseSource, meter: Meter) -> None:
    """Create ``totals``, and ``patterns`` or ``tallies``, of the releases of Mondrian.

    Classifiers but naive Bayes need all cells that contain a target's values together (a pattern).
    """
    limits = source.limits
    assert limits is not None  # noqa: S101 - Mondrian has limits

    def count(_stream: Stream) -> None:
        mondrian_runs.count_run(passes, people, limits, joint=source.question.classifier != BAYES)

    source.engine.together([passes.stream], count, meter.show)


def _tabulate_files(
    passes: Passes, source: ReleaseSource, external: ExternalReleases, batch: int, meter: Meter
) -> None:
    """Create ``patterns``, ``totals`` and ``tallies`` of a batch from releases made elsewhere.

    There is a release, a file, without each target. They are all read, then removed.
    """
    files: dict[int, Path] = {}
    try:
        rows = _targets_of_batch(passes, batch)
        for n, (target, record) in enumerate(rows, 1):
            meter.inside(0.7 * n / len(rows), f"release {n:,} of {len(rows):,}")
            meter.show()
            files[target] = source.release_without(record)
        external.read(files)
    finally:
        for path in files.values():
            source.remove(path)


def _compute_distances(passes: Passes, source: ReleaseSource, draw: int, meter: Meter) -> None:
    """Create ``distances``: how much the prediction for each target depends on their record.

    ``beliefs`` has the predictions from the releases with and without each target of a batch: for
    naive Bayes by a formula, from ``totals`` and ``tallies``. Other classifiers are trained on both
    releases: with different seeds to measure delta, else with the same.
    """
    question, bayes = source.question, source.question.classifier == BAYES
    if not bayes:
        (targets_of_batch,) = passes.row(exp.select("count(*)").from_(own_table("targets")))
        total = 2 * targets_of_batch

        def show_progress(n: int) -> None:
            text = f"{question.classifier}: {n:,} of {total:,} releases"
            meter.inside(0.8 + 0.2 * n / total, text)
            meter.show()

        seed_with = question.seed + 2 * draw
        seed_without = seed_with + 1 if question.draws else seed_with
        posteriors.apply_classifier(
            source.engine,
            passes,
            question.classifier,
            seeds=(seed_with, seed_without),
            look=show_progress,
        )

    def measure(_stream: Stream) -> None:
        if bayes:
            passes.make("beliefs", "dit/beliefs", {"wanted_width": passes.coded.width})
        # By target and release the best guess; by secret both probabilities; what is carried along
        # the hierarchy from one distribution to the other; and the distances from all of these.
        for name in ("guesses", "gaps", "flows", "distances"):
            passes.make(name, f"dit/{name}")
        passes.drop("beliefs", "guesses", "gaps", "flows")

    source.engine.together([passes.stream], measure, meter.show)


def _targets_of_batch(passes: Passes, batch: int) -> list[tuple[int, int]]:
    """Return the number of each target of a batch, and the position of their record."""
    rows = exp.select("target", "record").from_(own_table("aimed"))
    rows = rows.where(exp.column("batch").eq(batch)).order_by("target")
    return [(target, record) for target, record in passes.stream.rows(render(rows))]
