"""Local suppression with the fewest cells: a fast answer, and programs where it may not be best."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import polars as pl

from qifsql.commands.anonymise.fewest_cells import mask_programs
from qifsql.commands.anonymise.fewest_cells.cell_groups import Placing
from qifsql.commands.anonymise.fewest_cells.mask_programs import PARTS, UNIT, Block, Problem
from qifsql.commands.anonymise.one_per.draw import Records
from qifsql.commands.anonymise.recode import Recoding
from qifsql.counting import integer_programs
from qifsql.counting.integer_programs import OpenError
from qifsql.errors import plural

MOST_PAIRS = 200_000  # of a class and a group that it fits, which programs may look at
MOST_PAIRS_TOGETHER = 2_000  # of all classes, which one program places together

SUPPRESSION: dict[str, pl.DataType] = dict.fromkeys(
    ("suppressed_cells", "at_least", "blocks", "open_blocks"), pl.Int64()
)
"""One row: the suppressed cells of the release, those of records that show nothing included; the
number that no release with groups of k records has less than; the blocks into which classes of
fewer than k records were divided, and those where a better answer is not excluded. The last two are
NULL where nothing was divided: the fast answer is the best, or too large to look at, or the time
was over before."""


@dataclass
class _Answer:
    """The fewest cells of a release so far, and the bound; the blocks, and why no better is known.

    ``at_least``: no release suppresses fewer cells.
    """

    cells: int
    at_least: int
    blocks: int | None = None
    open_blocks: int | None = None
    reason: str = ""

    @property
    def optimal(self) -> bool:
        """Return whether no release suppresses fewer cells."""
        return self.cells <= self.at_least

    @property
    def row(self) -> pl.DataFrame:
        """Return the row of ``SUPPRESSION``."""
        counts = (self.cells, self.at_least, self.blocks, self.open_blocks)
        return pl.DataFrame([counts], schema=SUPPRESSION, orient="row")

    @property
    def notes(self) -> list[str]:
        """Return notes on what is not known about the answer."""
        if self.optimal:
            return []
        cells = plural(self.cells - self.at_least, "cell")
        answer = f"the best that was found: it is not excluded that {cells} fewer would do"
        return [answer, *filter(None, [self.reason])]

    def raise_bound(self, units: int) -> None:
        """Take a better bound, in ``UNIT``."""
        self.at_least = max(self.at_least, -(-units // UNIT))


def suppress(
    recoding: Recoding, columns: Collection[int], records: Records, seconds: float, seed: int
) -> tuple[pl.DataFrame, bool, list[str]]:
    """Suppress cells of quasi-identifiers, by number, in the release that ``recoding`` has made.

    ``records`` are those of the input; ``seed`` decides which of those with equal cells show them.
    Programs look for a better answer than the fast one for so many ``seconds``. Return the row of
    ``SUPPRESSION``, whether it is proved that nothing is better, and notes.
    """
    placing = Placing(recoding, columns)
    answer = _share_cells(placing, seconds)
    placing.release(records, seed)
    return answer.row, answer.optimal, answer.notes


def _share_cells(placing: Placing, seconds: float) -> _Answer:
    """Make the table ``shares``: which cells the records of each class show.

    A class are records with the same values; a group, records with the same cells after some are
    suppressed. The engine first places each class in a cheap group. Where a lower bound does not
    prove that answer to be the best, integer programs look for a better one until the deadline.
    """
    deadline = time.monotonic() + seconds
    pairs = placing.make_groups()  # of a class and a group that it fits
    unplaced = placing.place()  # classes that found no group, and show nothing
    answer = _Answer(placing.share(), 0)
    answer.raise_bound(placing.bound())
    if answer.optimal:
        return answer
    if not integer_programs.available():
        answer.reason = (
            "whether fewer cells would do was not looked at: integer programming needs the extra "
            "tables (see docs/start/install.md)"
        )
        return answer
    if pairs > MOST_PAIRS:
        answer.reason = (
            f"whether fewer cells would do was not looked at: {pairs:,} pairs of a combination "
            f"and cells to suppress are more than {MOST_PAIRS:,}; coarsen some first (--change)"
        )
        return answer
    _improve_blocks(placing, answer, deadline)
    if not answer.optimal and placing.count_pairs() <= MOST_PAIRS_TOGETHER:
        _solve_together(replace(placing, everybody=True), answer, deadline)
    if answer.optimal:
        return answer
    if time.monotonic() >= deadline:
        answer.reason = (
            "the time budget ended the search: with more time another release may be best"
        )
    elif unplaced:
        answer.reason = (
            f"the groups of {plural(unplaced, 'combination')} lack records that no other group can "
            "spare; which other records show nothing in their place was not searched for"
        )
    return answer


def _improve_blocks(placing: Placing, answer: _Answer, deadline: float) -> None:
    """Place the classes of blocks by programs, again and again as long as that helps.

    ``answer`` gets the fewer cells, the better bound and the number of blocks.
    """
    problem, blocks = placing.read_problem(), list[Block]()
    is_better = True
    while is_better and not answer.optimal and time.monotonic() < deadline:
        placements = placing.read_placements()
        blocks = mask_programs.improve(problem, placements, blocks, deadline)
        answer.raise_bound(sum(block.bound for block in blocks))
        is_better = _place_blocks(placing, problem, blocks, answer)
    if not blocks:
        return
    placing.share()  # of the best placements, not of the last that were tried
    placed = mask_programs.divide_by_class(placing.read_placements())
    n_open = sum(block.is_open(problem, placed) for block in blocks)
    # As long as it is not proved that the answer is the best, some block may have a better one.
    answer.blocks, answer.open_blocks = len(blocks), 0 if answer.optimal else max(1, n_open)


def _place_blocks(
    placing: Placing, problem: Problem, blocks: Sequence[Block], answer: _Answer
) -> bool:
    """Place the classes of blocks if that costs fewer cells than the best; return whether it does.

    Programs of blocks do not see that two groups may need records of the same lender. If a group
    then lacks records, the blocks with classes in it go back to where they were, and the rest is
    tried again. Only the last group, which shows nothing, may lack records, which ``share`` finds.
    """
    before = problem.count_cells(placing.read_placements())
    while problem.count_cells(placements := mask_programs.merge(blocks)) < before:
        lacking = placing.replace_placements(placements) - {max(problem.groups)}
        if not lacking and (cells := placing.share()) < answer.cells:
            answer.cells = cells
            return True
        placing.restore_placements()
        reverted = [block.reverted(lacking) for block in blocks]
        if reverted == blocks:  # nothing is left to take back
            return False
        blocks = reverted
    return False


def _solve_together(placing: Placing, answer: _Answer, deadline: float) -> None:
    """Find the fewest cells to suppress by one integer program over all classes.

    Update ``answer`` (its lower bound, and its cells if fewer are found) and the engine's table of
    placements, the groups of equal cells of each class, unless the ``deadline`` comes first.
    """
    placing.make_groups()
    problem = placing.read_problem()
    try:
        least, placements = mask_programs.solve_together(problem, answer.cells, deadline)
    except OpenError:
        return
    # the bound is in parts of a cell, of which only whole ones can be suppressed: rounded up
    answer.raise_bound(-(-least.bound // PARTS) * UNIT)
    if placements:
        placing.replace_placements(placements)  # each group has k records, so that nobody lends
        answer.cells = placing.share()
    answer.blocks, answer.open_blocks = 1, int(not answer.optimal)
