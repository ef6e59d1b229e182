"""Tables that contradict each other: the smallest set of them that does, and where."""

from collections.abc import Sequence
from itertools import combinations

from qifsql.commands.tables import table_sets
from qifsql.commands.tables.margins import ContradictionError, Published
from qifsql.commands.tables.proofs import Question
from qifsql.commands.tables.table_release import Release
from qifsql.commands.tables.table_sets import Budget
from qifsql.errors import InputError, plural
from qifsql.query.splice import splice

SECONDS = 10  # for the exact solution of each set that is tried


def contradiction_error(release: Release, published: Sequence[Published]) -> InputError:
    """Return the error about tables for which no counts exist: which, and in which lines."""
    tables = _smallest_set(release, published)
    names = [t.title for t in tables]
    listed = " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    if len(tables) == 1:
        rest = "".join(f", with {t.title}" for t in release.structural)
        return InputError(
            f"{listed} contradicts the number of people, {release.domain.people:,}{rest}: no "
            "counts within its protection add up to it; check what is counted, and the protection"
        )
    where = _disagreeing_cells(release, tables[0], tables[1]) if len(tables) == 2 else ""
    pairs = "" if len(tables) == 2 else ", though fewer of them do not"
    return InputError(
        f"the tables {listed} contradict each other{pairs}: no counts agree with all of them"
        f"{where}; correct a count, or say how the tables are protected"
    )


def _smallest_set(release: Release, published: Sequence[Published]) -> Sequence[Published]:
    """Return the first of the smallest sets of tables for which no counts exist."""
    for n in range(1, len(published)):
        for some in combinations(published, n):
            if not _fit_together(release, some):
                return some
    return published


def _fit_together(release: Release, published: Sequence[Published]) -> bool:
    """Return whether some records have all published tables.

    A question about one attribute of nobody is asked, since whoever measures meets contradictions.
    """
    question = Question(release.domain.every, None)
    try:
        measured = table_sets.measure_tables(release, published, [question], Budget(SECONDS))
    except ContradictionError:
        return False
    measured.margins.close()
    return True


def _disagreeing_cells(release: Release, first: Published, second: Published) -> str:
    """Return in which cells two tables have no common count, by lines of their files."""
    query = splice(
        "tables/disagreements",
        tables={"cells_one": first.cells, "cells_other": second.cells},
        numbers={
            "unlisted_one": first.protection.unlisted,
            "unlisted_other": second.protection.unlisted,
        },
        shape={"shared": first.edge & second.edge},
    )
    ((n, line, second_line),) = release.tables.rows(query)
    if not n:
        return ""
    text = f", in {plural(n, 'cell')} of what both have"
    if line is not None and second_line is not None:
        text += (
            f" (the first in line {line} of {first.title}, line {second_line} of {second.title})"
        )
    elif line is not None or second_line is not None:
        title = first.title if line is not None else second.title
        text += f" (the first in line {line or second_line} of {title})"
    return text
