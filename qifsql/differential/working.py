"""The work of a test: batch by batch, run by run, each kept when it is finished."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from qifsql.dialect import render
from qifsql.differential import beliefs, boxes, coded, forest, tally, without
from qifsql.differential.coded import People
from qifsql.differential.kept import Kept
from qifsql.differential.makers import Maker
from qifsql.differential.outside import Outside
from qifsql.differential.question import BAYES, FILES, MONDRIAN, Question
from qifsql.engine.settings import Progress
from qifsql.engine.streams import Stream
from qifsql.errors import several
from qifsql.relation import KEPT
from qifsql.sanitise.hierarchies import Hierarchy
from qifsql.sanitise.passes import Passes
from qifsql.sanitise.scales import own_table
from qifsql.sanitise.spreading import query

NAMES = (
    *("coded", "different", "targets", "aimed", "rescaled", "moved", "alone", "nominal"),
    *("each_one", "points", "whose"),
    *forest.FOREST,
    *tally.TALLIED,
    *beliefs.BELIEVED,
)
SLOW = 500  # trees of their own that are worth a remark


class Meter:
    """Progress of the whole work: which batch of how many, and what is done in it."""

    def __init__(self, show: Progress) -> None:
        self._draw = show
        self._done, self._batches, self._inside = 0, 1, 0.0
        self._detail = "reading"

    def __call__(self, _what: str, _share: float, _detail: str = "", /) -> None:
        """Show where the work is, whatever the engine says of one statement."""
        self._draw("testing", (self._done + self._inside) / self._batches, self._detail)

    def show(self) -> None:
        """Show where the work is."""
        self("", 0.0)

    def begin(self, done: int, batches: int, detail: str) -> None:
        """Say that so many of all batches are done, and what comes now."""
        self._done, self._batches, self._inside, self._detail = done, batches, 0.0, detail

    def inside(self, share: float, detail: str) -> None:
        """Say how much of a batch is done."""
        self._inside, self._detail = share, detail


def passes_of(stream: Stream, people: People, meter: Meter) -> Passes:
    """Statements about the people; progress says how many questions are open."""
    turn = 0

    def look(open_: int) -> None:
        nonlocal turn
        turn += 1
        meter.inside(0.8 * (1 - 0.9**turn), f"pass {turn}: {open_:,} questions")

    return Passes(stream, people.coded, look, names=NAMES)


def work(
    passes: Passes,
    people: People,
    maker: Maker,
    *,
    kept: Kept,
    hierarchy: Hierarchy | None,
    meter: Meter,
) -> tuple[str, ...]:
    """Find and keep the distances of every run and target that are not kept yet; remarks."""
    asked, engine = maker.asked, maker.engine
    batches: list[int] = []

    def begin(_stream: Stream) -> None:
        beliefs.make_edges(passes, people.secret, hierarchy)
        batches.extend(coded.aim(passes, people, asked))

    engine.together([passes.stream], begin, meter.show)
    if asked.method == FILES:
        _look(passes, asked, batches)
    todo = [(run, batch) for run, _ in enumerate(asked.runs, 1) for batch in batches]
    finished = kept.finished()
    outside: Outside | None = None
    for i, (run, batch) in enumerate(todo):
        if (run, batch) in finished:
            continue
        meter.begin(i, len(todo), f"run {run} of {len(asked.runs)}")
        own = replace(maker, wishes=asked.runs[run - 1])
        passes.make("targets", "differential/batch", {"wanted_batch": batch})
        if asked.method == MONDRIAN:
            _here(passes, people, own, meter)
        else:
            if outside is None or outside.run != run:
                outside = Outside(passes, own, run)
            _read(passes, own, outside, batch, meter)
        _guess(passes, own, meter)
        kept.finish(passes.plan("differential/apart", {"wanted_run": run}), run, batch)
        passes.drop("distances", "targets", "tallies", "patterns", "totals")
    passes.keep("each_one", query("differential/each_one", tables={"apart": f"{KEPT}.main.apart"}))
    return _remarks(passes) if asked.method == MONDRIAN else ()


def _remarks(passes: Passes) -> tuple[str, ...]:
    """What took longer than it need."""
    alone = int(passes.row(exp.select("count(*)").from_(own_table("rescaled")))[0])
    if alone <= SLOW:
        return ()
    return (
        f"{several(alone, 'person')} alone have a value without which the scale of a "
        "quasi-identifier is another one, so all cuts are looked for anew without them; coarser "
        "values, as in NAME=EXPRESSION, take less time",
    )


def _here(passes: Passes, people: People, maker: Maker, meter: Meter) -> None:
    """Make the counts of the targets of a batch from releases that are made here."""
    wishes = maker.wishes
    assert wishes is not None  # noqa: S101 - of a built-in method

    def releases(_stream: Stream) -> None:
        without.make(passes, people, wishes, joint=maker.asked.classifier != BAYES)

    maker.engine.together([passes.stream], releases, meter.show)


def _read(passes: Passes, maker: Maker, outside: Outside, batch: int, meter: Meter) -> None:
    """Make the counts of the targets of a batch from releases in files."""
    files: dict[int, Path] = {}
    try:
        rows = _aimed(passes, batch)
        for n, (target, record) in enumerate(rows, 1):
            meter.inside(0.7 * n / len(rows), f"release {n:,} of {len(rows):,}")
            meter.show()
            files[target] = maker.without(record)
        outside.read(files)
    finally:
        for path in files.values():
            maker.done(path)


def _guess(passes: Passes, maker: Maker, meter: Meter) -> None:
    """Make ``distances`` of the targets of a batch from their counts."""
    asked, bayes = maker.asked, maker.asked.classifier == BAYES
    if not bayes:
        size = 2 * passes.row(exp.select("count(*)").from_(own_table("targets")))[0]

        def look(n: int) -> None:
            meter.inside(0.8 + 0.2 * n / size, f"{asked.classifier}: {n:,} of {size:,} releases")
            meter.show()

        beliefs.learn(maker.engine, passes, asked.classifier, seed=asked.seed, look=look)

    def measure(_stream: Stream) -> None:
        if bayes:
            beliefs.believe(passes)
        beliefs.measure(passes)

    maker.engine.together([passes.stream], measure, meter.show)


def _aimed(passes: Passes, batch: int) -> list[tuple[int, int]]:
    """The targets of a batch, and the positions of their records."""
    own = exp.EQ(this=exp.column("batch"), expression=exp.convert(batch))
    rows = exp.select("target", "record").from_(own_table("aimed")).where(own).order_by("target")
    return [(target, record) for target, record in passes.stream.rows(render(rows))]


def _look(passes: Passes, asked: Question, batches: Sequence[int]) -> None:
    """Refuse files that are not there, before any is read."""
    records = (record for batch in batches for _, record in _aimed(passes, batch))
    boxes.missing(asked.without or "", records)
