"""The work of a test: batch by batch, run by run, each kept when it is finished."""

from sqlglot import exp

from qifsql.differential import beliefs, coded, forest, tally, without
from qifsql.differential.coded import People
from qifsql.differential.kept import Kept
from qifsql.differential.question import BAYES, Question
from qifsql.engine.duckdb import DuckDB
from qifsql.engine.settings import Progress
from qifsql.engine.streams import Stream
from qifsql.relation import KEPT
from qifsql.sanitise.hierarchies import Hierarchy
from qifsql.sanitise.passes import Passes
from qifsql.sanitise.scales import own_table
from qifsql.sanitise.spreading import query

NAMES = (
    *("coded", "different", "targets", "aimed", "rescaled", "moved", "each_one", "points"),
    *forest.FOREST,
    *tally.TALLIED,
    *beliefs.BELIEVED,
)


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
    engine: DuckDB,
    passes: Passes,
    people: People,
    asked: Question,
    *,
    kept: Kept,
    hierarchy: Hierarchy | None,
    meter: Meter,
) -> None:
    """Find and keep the distances of every run and target that are not kept yet."""

    batches: list[int] = []

    def begin(_stream: Stream) -> None:
        batches.extend(coded.aim(passes, people, asked))
        beliefs.make_edges(passes, people.secret, hierarchy)

    engine.together([passes.stream], begin, meter.show)
    todo = [(run, batch) for run, _ in enumerate(asked.runs, 1) for batch in batches]
    finished = kept.finished()
    for i, (run, batch) in enumerate(todo):
        if (run, batch) in finished:
            continue
        meter.begin(i, len(todo), f"run {run} of {len(asked.runs)}")
        _batch(engine, passes, people, asked, run=run, batch=batch, meter=meter)
        kept.finish(passes.plan("differential/apart", {"wanted_run": run}), run, batch)
        passes.drop("distances")
    passes.keep("each_one", query("differential/each_one", tables={"apart": f"{KEPT}.main.apart"}))


def _batch(
    engine: DuckDB,
    passes: Passes,
    people: People,
    asked: Question,
    *,
    run: int,
    batch: int,
    meter: Meter,
) -> None:
    """Make ``distances`` of the targets of a batch."""
    wishes, bayes = asked.runs[run - 1], asked.classifier == BAYES
    assert wishes is not None  # noqa: S101 - of a built-in method

    def releases(_stream: Stream) -> None:
        without.make(passes, people, wishes, batch, joint=not bayes)

    def guesses(_stream: Stream) -> None:
        if bayes:
            beliefs.believe(passes)
        beliefs.measure(passes)

    engine.together([passes.stream], releases, meter.show)
    if not bayes:
        size = 2 * passes.row(exp.select("count(*)").from_(own_table("targets")))[0]

        def look(n: int) -> None:
            meter.inside(0.8 + 0.2 * n / size, f"{asked.classifier}: {n:,} of {size:,} releases")
            meter.show()

        beliefs.learn(engine, passes, asked.classifier, seed=asked.seed, look=look)
    engine.together([passes.stream], guesses, meter.show)
    passes.drop("targets", "tallies", "patterns", "totals")
