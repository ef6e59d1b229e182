"""Notes of a sweep: what is left out of its numbers, and what is not told."""

import polars as pl

from qifsql.errors import plural

MOST_WITH_CLAIMS = 1 << 16  # subsets of which claims at a threshold are told
NO_CLAIMS = (
    "whom an adversary names who is sure (sure) is not counted with suppressed cells, "
    f"a sample, more than {MOST_WITH_CLAIMS:,} subsets, or where subsets are attacked "
    "one by one, as with weights and persons; attack a subset alone"
)


def on_suppressed(frame: pl.DataFrame, *, is_left_out: bool) -> str:
    """Return the note on records with ``*`` in a whole subset, which may be anybody's.

    ``is_left_out``: they are in no block of others. They are where subsets are measured together.
    """
    if not is_left_out:
        return (
            "* is a value in samples and in large sweeps of many quasi-identifiers, also in a "
            "record that is * in the whole subset and so one of anything, which tells no less; "
            "attack that subset alone"
        )
    records = max(frame["suppressed"].to_list(), default=0)
    return (
        f"up to {plural(records, 'record')} of a subset may be anybody's, because all its "
        "quasi-identifiers are * there (the column suppressed has the number): counted in no "
        "block of others, and nobody there as singled out or with a certain secret, which "
        "somebody whom no other record fits may be; shares are of all records"
    )


def on_missing(records: int | None, people: int) -> str:
    """Return the note on records with a missing value, which are dropped from all rows.

    The others are ``people``; None: how many records there are was not counted.
    """
    share = f"{records - people:,} of {records:,} records" if records else "records"
    return (
        f"{share} with a missing quasi-identifier or secret are left out of every row: "
        "all rows are about the same people, so a row may differ from an attack on its "
        "own quasi-identifiers alone"
    )


def on_time(complete: int, subsets: int) -> str:
    """Return the note that the time was over when so many of the subsets were complete."""
    return (
        f"the time is over: {complete:,} of {plural(subsets, 'subset')} are "
        "complete; run the same command again to resume from here"
    )
