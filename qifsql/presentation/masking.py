"""Hide small groups in a report for others, and those from which their numbers would follow.

A group of fewer people than the minimum is hidden. So are further groups, the smallest first,
until at least two are hidden in each table, with the minimum of people together and several
possible sizes: a single hidden group would be the difference between a total and the groups that
are shown (complementary suppression).
Groups of one size are hidden together, and a group that is hidden in one table is hidden in all
tables of the same columns.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TypeAlias

import polars as pl

from qifsql.presentation.language import counted, said

Columns: TypeAlias = frozenset[str]
Sizes: TypeAlias = Mapping[str | None, int]
"""Groups of one table by name, and how many people are in each."""
IDS = ("name", "attack_id", "rule", "model", "secret", "measure")  # of what one table is about
MINIMUM = 10  # people in a group that is shown, unless something else is asked for
SUMMED = ("individuals", "singled_out", "individuals_certain")


def is_grouped(table: pl.DataFrame) -> bool:
    """Return whether a table has numbers within groups of people."""
    return {"by", "group"} <= set(table.columns)


def sizes(table: pl.DataFrame) -> list[tuple[str, Sizes]]:
    """Return the column of the groups of each question, and their sizes."""
    if "individuals" not in table.columns:  # made by an earlier version
        return []
    rows = table.filter(pl.col("by").is_not_null())
    ids = [name for name in IDS if name in rows.columns]
    questions = rows.group_by("by", *ids, maintain_order=True)
    return [
        (str(by), dict(part.select("group", "individuals").iter_rows()))
        for (by, *_), part in questions
    ]


def hidden(tables: Iterable[Sizes], minimum: int) -> Set[str | None]:
    """Return the groups to be hidden in all tables of the same columns."""
    each = list(tables)
    groups = {group for table in each for group, n in table.items() if n < minimum}
    while more := {group for table in each for group in _complement(table, groups, minimum)}:
        groups |= more
    return groups


def _complement(table: Sizes, hidden: Set[str | None], minimum: int) -> Set[str | None]:
    """Return the groups to be hidden next, all of one size; none if enough are hidden."""
    inside = [n for group, n in table.items() if group in hidden]
    outside = {group: n for group, n in table.items() if group not in hidden}
    if not inside or not outside or _is_ambiguous(inside, minimum):
        return set()
    least = min(outside.values())
    return {group for group, n in outside.items() if n == least}


def _is_ambiguous(sizes: Sequence[int], minimum: int) -> bool:
    """Return whether several sizes of these groups have the same sum, which can be computed.

    Groups that are all as small as can be, or all just below the minimum, have one.
    """
    if len(sizes) < 2 or sum(sizes) < minimum:
        return False
    return set(sizes) not in ({1}, {minimum - 1})


def masked(
    table: pl.DataFrame,
    hides: Callable[[str], Set[str | None]],
    minimum: int,
    unnamed: Set[str] = frozenset(),
) -> pl.DataFrame:
    """Return the table where hidden groups are one line for each question, with sums alone.

    Groups by ``unnamed`` columns have a number for a name. Levels of a policy keep a line each,
    which says whether the level is met and nothing else.
    """
    rows = table.with_row_index("place")
    has_sizes = "individuals" in table.columns
    named = table.select("by", "group").iter_rows()
    flags = [by is not None and (not has_sizes or group in hides(by)) for by, group in named]
    is_hidden = pl.Series(flags, dtype=pl.Boolean)
    shown, rest = _numbered(rows.filter(~is_hidden), unnamed), rows.filter(is_hidden)
    if "met" in table.columns:
        rest = _without_numbers(rest, ("rule",), said("(another group)"))
    elif rest.height:
        rest = _summed(rest, minimum)
    whole = pl.concat([shown, rest]).sort("place").drop("place")
    return _with_gaps(whole) if rest.height else whole


def _numbered(table: pl.DataFrame, by: Set[str]) -> pl.DataFrame:
    """Return the table where groups ``by`` such columns have a number for a name."""
    number = pl.col("group").rank("dense").over("by").cast(pl.String)
    before, _, after = said("group {n}", n="\0").partition("\0")
    name = pl.concat_str(pl.lit(before), number, pl.lit(after), ignore_nulls=False)
    shown = pl.when(pl.col("by").is_in(list(by))).then(name).otherwise(pl.col("group"))
    return table.with_columns(shown.alias("group"))


def _without_numbers(rows: pl.DataFrame, but: tuple[str, ...], name: str) -> pl.DataFrame:
    """Return the rows under one name, without their numbers."""
    numbers = [c for c, t in rows.schema.items() if t.is_numeric() and c not in ("place", *but)]
    nothing = (pl.lit(None, rows.schema[c]).alias(c) for c in numbers)
    return rows.with_columns(*nothing, group=pl.lit(name))


def _summed(rows: pl.DataFrame, minimum: int) -> pl.DataFrame:
    """Return one line for the groups of each question: how many they are, and their sums."""
    ids = [name for name in (*IDS, "by") if name in rows.columns]
    lines = []
    for _, part in rows.group_by(ids, maintain_order=True):
        name = counted("other groups ({n} group)", "other groups ({n} groups)", part.height)
        line = _without_numbers(part.tail(1), (), name)
        if part["individuals"].sum() >= minimum and part.height > 1:
            line = line.with_columns(
                pl.lit(part[c].sum(), part.schema[c]).alias(c) for c in SUMMED if c in part.columns
            )
        lines.append(line)
    return pl.concat(lines)


def _with_gaps(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with gaps between the groups that are shown; others tell of the hidden."""
    if not {"gap", "attack_id", "posterior_probabilistic"} <= set(table.columns):
        return table
    success = pl.col("posterior_probabilistic")
    return table.with_columns(gap=success - success.min().over("attack_id"))
