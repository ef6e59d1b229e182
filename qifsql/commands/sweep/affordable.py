"""The part of a sweep that takes a stated time, expected from the counts of columns alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from qifsql.commands.sweep.layout import codes_fit, plan_passes
from qifsql.commands.sweep.plan import Progress
from qifsql.counting.scales import Spread

ALLOWED_SECONDS = 3.0  # of a sweep that nobody has asked for by name, of few records
ALLOWED_PER_RECORD = 4e-6  # seconds more for each record
AFFORDABLE_QIDS = 10  # its quasi-identifiers
REPORT_PER_ROW = 6e-4  # seconds of a subset and question in the tables and charts of a report
OPENING = 0.3  # seconds until an engine has opened a file again
CODING = 2e-6  # seconds per record and question until its values are numbered
ATTACK_PER_RECORD = 8e-6  # seconds of an attack on one subset alone, per record
ATTACK_PER_QUESTION = 0.15  # seconds of such an attack for re-identification, and for each secret
UNKNOWN_VALUES = 100  # values of an attribute that is no column
Columns = Mapping[str, Mapping[str, Any]]
"""The rows of ``describe`` by name of the column."""


def affordable(
    columns: Columns, qids: Sequence[str], secrets: Sequence[str], *, alone: bool = False
) -> tuple[list[str], list[str]]:
    """Return the first quasi-identifiers and secrets whose sweep takes seconds with one thread.

    The quasi-identifiers are as many as leave time for the first secret; the secrets that cost no
    more than is left follow. ``alone``: each subset is attacked by itself, as for people with
    several records.
    """

    def fits(count: int, secrets: Sequence[str]) -> bool:
        swept = qids[:count], secrets
        return expected_seconds(columns, *swept, threads=1, alone=alone) <= allowed_seconds(columns)

    counts = [n for n in range(2, min(AFFORDABLE_QIDS, len(qids)) + 1) if fits(n, secrets[:1])]
    count = max(counts, default=1)
    swept: list[str] = []
    for secret in secrets:
        if not swept or fits(count, [*swept, secret]):
            swept.append(secret)
    return list(qids[:count]), swept


def allowed_seconds(columns: Columns) -> float:
    """Return the seconds that a sweep may take that nobody has asked for by name."""
    return ALLOWED_SECONDS + _records(columns) * ALLOWED_PER_RECORD


def _records(columns: Columns) -> int:
    """Return the number of records; columns that were not counted do not know it (None)."""
    return max((row["records"] or 0 for row in columns.values()), default=0)


def expected_seconds(
    columns: Columns,
    qids: Sequence[str],
    secrets: Sequence[str],
    *,
    threads: int,
    alone: bool = False,
) -> float:
    """Return the seconds that a sweep of all subsets is expected to take, with its report.

    They include two sweeps for a secret that some miss: of those who report it alone, and of
    everybody with two rows for those who report it.
    """
    people = _records(columns)
    seconds = _seconds(columns, qids, secrets, people, threads, alone=alone)
    seconds += (1 << len(qids)) * (1 + len(secrets)) * REPORT_PER_ROW
    for secret in secrets:
        missing: int = columns[secret]["missing"] if secret in columns else 0
        if missing and not alone:  # the rows of both further sweeps
            for individuals in (people - missing, 2 * people - missing):
                seconds += OPENING + _seconds(columns, qids, [secret], individuals, threads)
    return seconds


def seconds_alone(records: int, subsets: int, secrets: int) -> float:
    """Return the expected seconds of a sweep whose subsets are attacked one by one."""
    return subsets * (records * ATTACK_PER_RECORD + (1 + secrets) * ATTACK_PER_QUESTION)


def _seconds(
    columns: Columns,
    qids: Sequence[str],
    secrets: Sequence[str],
    people: int,
    threads: int,
    *,
    alone: bool = False,
) -> float:
    """Estimate the seconds of a sweep; ``alone``: each subset is a query of its own."""
    # By number: quasi-identifiers from 0, secrets from 1.
    qid_spreads = {i: _spread(columns.get(name), people) for i, name in enumerate(qids)}
    secret_spreads = {j: _spread(columns.get(name), people) for j, name in enumerate(secrets, 1)}
    layouts = plan_passes(qid_spreads, secret_spreads, people)
    if alone or not codes_fit(layouts):
        return seconds_alone(people, 2 ** len(qids) - 1, len(secrets))
    coding = people * (1 + len(secrets)) * CODING
    return Progress(layouts, threads).remaining_seconds() + coding / threads


def _spread(column: Mapping[str, Any] | None, people: int) -> Spread:
    """Return the spread of people over the values of a described column.

    None: an expression, of which nothing is known: all may have one value. ``together`` are the
    ordered pairs of people with the same value. The number of people with the most frequent value
    plays no part in the plan of a sweep.
    """
    if column is None or column["records"] is None:
        values = min(UNKNOWN_VALUES, people)
        return Spread(values, people, most_frequent=people, together=people, missing=False)
    is_missing = column["missing"] > 0
    values = column["distinct"] + is_missing
    together = round(people**2 / 2 ** column["entropy"])  # if all values are equally frequent
    return Spread(values, people, most_frequent=people, together=together, missing=is_missing)
