"""Suppression of small groups in a report for others, and of groups that would reveal them.

A group with fewer people than the minimum is hidden. Then further groups are hidden, the smallest
first, until each table has at least two hidden groups, which together have the minimum of people
and several possible sizes. A single hidden group would be the difference between a total and the
groups that are shown (complementary suppression). Groups of the same size are hidden together. A
group that is hidden in one table is hidden in all tables of the same columns.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from typing import TypeAlias

import polars as pl

from qifsql.presentation.language import counted, said

Columns: TypeAlias = frozenset[str]
Sizes: TypeAlias = Mapping[str | None, int]
"""The number of people in each group of one table, by the name of the group."""
ID_COLUMNS = ("name", "attack_id", "rule", "model", "secret", "measure")  # of a table
MINIMUM = 10  # people in a group that is shown, by default
SIZE_COLUMNS = ("individuals", "people")  # the number of people in a group
SUMMED_COLUMNS = (
    *("individuals", "singled_out", "individuals_certain"),
    *("people", "reconstructed", "certain_inference"),
)


def is_grouped(table: pl.DataFrame) -> bool:
    """Return whether a table has numbers within groups of people."""
    return {"by", "group"} <= set(table.columns)


def size_column(table: pl.DataFrame) -> str | None:
    """Return the column of the number of people in each group; None if there is none."""
    return next((name for name in SIZE_COLUMNS if name in table.columns), None)


def sizes(table: pl.DataFrame) -> list[tuple[str, Sizes]]:
    """Return (column ``by`` which people are grouped, sizes of its groups) of each question.

    ``table`` has a row per question and group. Sizes are numbers of people by the name of the group
    (None: missing value), 0 if not known.
    """
    size = size_column(table)
    if size is None:  # written by an earlier version
        return []
    rows = table.filter(pl.col("by").is_not_null())
    ids = [name for name in ID_COLUMNS if name in rows.columns]
    rows = rows.with_columns(pl.col(size).fill_null(0))
    parts = rows.group_by("by", *ids, maintain_order=True)
    return [(str(by), dict(part.select("group", size).iter_rows())) for (by, *_), part in parts]


def hidden(tables: Iterable[Sizes], minimum: int) -> Set[str | None]:
    """Return the groups to hide in all tables of the same columns."""
    sizes_of_tables = list(tables)
    groups = {group for table in sizes_of_tables for group, n in table.items() if n < minimum}
    while added := set().union(*(_next_hidden(t, groups, minimum) for t in sizes_of_tables)):
        groups |= added
    return groups


def _next_hidden(table: Sizes, hidden: Set[str | None], minimum: int) -> Set[str | None]:
    """Return the groups of a table to hide next, all of one size; an empty set if none is needed.

    ``table`` has the number of people in each group, ``hidden`` are the groups hidden so far, and
    ``minimum`` is the number of people that hidden groups must have together.
    """
    hidden_sizes = [n for group, n in table.items() if group in hidden]
    visible = {group: n for group, n in table.items() if group not in hidden}
    # Readers can compute the sum of the hidden sizes. Only all of 1, or all of one less than the
    # minimum, have no other sizes with that sum.
    is_ambiguous = set(hidden_sizes) not in ({1}, {minimum - 1})
    are_enough = len(hidden_sizes) > 1 and sum(hidden_sizes) >= minimum and is_ambiguous
    if not hidden_sizes or not visible or are_enough:
        return set()
    least = min(visible.values())
    return {group for group, n in visible.items() if n == least}


def masked(
    table: pl.DataFrame,
    hidden_groups: Callable[[str], Set[str | None]],
    minimum: int,
    unnamed: Set[str],
) -> pl.DataFrame:
    """Return the table with one line for the hidden groups of each question, with only their sums.

    ``hidden_groups`` returns those of a column, ``minimum`` is the number of people that they must
    have for sums to be shown. Groups by ``unnamed`` columns get a number as their name. Levels
    of a policy (column ``met``) keep a line for each hidden group, which only states whether the
    level is met.
    """
    rows = table.with_row_index("place")
    has_sizes = size_column(table) is not None
    flags = []
    for by, group in table.select("by", "group").iter_rows():
        is_group = by is not None  # NULL: everybody together
        flags.append(is_group and (not has_sizes or group in hidden_groups(by)))
    is_hidden = pl.Series(flags, dtype=pl.Boolean)
    visible, rest = _numbered(rows.filter(~is_hidden), unnamed), rows.filter(is_hidden)
    if "met" in table.columns:
        rest = _without_numbers(rest, ("rule",), said("(another group)"))
    elif rest.height:
        rest = _summed(rest, minimum)
    together = pl.concat([visible, rest]).sort("place").drop("place")
    if rest.height and {"gap", "attack_id", "posterior_probabilistic"} <= set(table.columns):
        success = pl.col("posterior_probabilistic")  # the gap to a hidden group would reveal it
        together = together.with_columns(gap=success - success.min().over("attack_id"))
    return together


def _numbered(table: pl.DataFrame, by: Set[str]) -> pl.DataFrame:
    """Return the table with numbers as the names of groups by these columns."""
    number = pl.col("group").rank("dense").over("by").cast(pl.String)
    before, _, after = said("group {n}", n="\0").partition("\0")
    name = pl.concat_str(pl.lit(before), number, pl.lit(after), ignore_nulls=False)
    names = pl.when(pl.col("by").is_in(list(by))).then(name).otherwise(pl.col("group"))
    return table.with_columns(names.alias("group"))


def _without_numbers(rows: pl.DataFrame, exceptions: tuple[str, ...], name: str) -> pl.DataFrame:
    """Return the rows with one name and without numbers, except in the columns ``exceptions``."""
    numbers = {c: t for c, t in rows.schema.items() if t.is_numeric()}
    cleared = [c for c in numbers if c not in ("place", *exceptions)]
    nothing = (pl.lit(None, numbers[c]).alias(c) for c in cleared)
    return rows.with_columns(*nothing, group=pl.lit(name))


def _summed(rows: pl.DataFrame, minimum: int) -> pl.DataFrame:
    """Return one line per question for all its groups in ``rows``: their number, and their sums.

    Sums are shown only of two groups or more that have the ``minimum`` of people together.
    """
    ids = [name for name in (*ID_COLUMNS, "by") if name in rows.columns]
    lines = []
    for _, part in rows.group_by(ids, maintain_order=True):
        name = counted("other groups ({n} group)", "other groups ({n} groups)", part.height)
        line = _without_numbers(part.tail(1), (), name)  # the last group's, as the line is theirs
        if part[size_column(part) or "individuals"].sum() >= minimum and part.height > 1:
            summed = [c for c in SUMMED_COLUMNS if c in part.columns and not part[c].null_count()]
            line = line.with_columns(pl.lit(part[c].sum(), part.schema[c]).alias(c) for c in summed)
        lines.append(line)
    return pl.concat(lines)
