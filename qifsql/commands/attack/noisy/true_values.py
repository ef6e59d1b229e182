"""The true values behind the values that a matrix drew: their shares, told or estimated."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from qifsql.commands.attack.noisy.bind import NoisyQid
from qifsql.commands.attack.noisy.coding import Coded, with_table
from qifsql.commands.attack.noisy.law_files import plan_labelled
from qifsql.counting import transition_files
from qifsql.counting.transition_files import MOST_PAIRS
from qifsql.data.dataset import Dataset
from qifsql.errors import InputError, plural, quoted
from qifsql.measures.randomised import MOST_SEARCHED, estimate_true_shares
from qifsql.query.columns import double, number
from qifsql.query.plan import Plan, Step

ORIGINS = "One row per true value and released value that a matrix may make of it."
PAIRS = exp.select("origin", "code", "probability", "share").from_("origins").limit(MOST_PAIRS + 1)
RESTORED = "One row per released value and true value that it may stand for: the chance of that."


def plan_restored(coded: Coded, qid: NoisyQid, dataset: Dataset, step: Step) -> Plan:
    """Return the plan of a law from the lines of a matrix: what a released value stands for."""
    transition_files.check(coded.tables.engine, step, dataset, qid.attribute)
    origins = Step("origins", ORIGINS, coded.query_values(qid, "origins"))
    has_shares = _tells_shares(coded, dataset.name, step)
    pairs = Plan((step, origins), PAIRS)
    shares = _true_shares(coded, qid, dataset.name, pairs, has_shares=has_shares)
    _check_that_some_fit(coded, qid, dataset.name, step)
    query = with_table(coded.query_values(qid, "restored"), "shares", _shares_query(shares))
    return plan_labelled(coded, qid, step, origins, Step("listed", RESTORED, query))


def _check_that_some_fit(coded: Coded, qid: NoisyQid, file: str, step: Step) -> None:
    """Refuse a matrix that leads to no released value: all would stand for themselves."""
    plan = Plan((step,), coded.query_values(qid, "fitting_releases"))
    ((released, fitting),) = coded.tables.rows(plan)
    if released and not fitting:
        raise InputError(
            f"{file} leads to no value that {quoted(qid.attribute.name)} has; name the matrix "
            "by which the release was drawn"
        )


def _tells_shares(coded: Coded, file: str, step: Step) -> bool:
    """Return whether a matrix tells the shares of all true values; refuse wrong shares."""
    ((lines, wrong, adds_up),) = coded.tables.rows(Plan((step,), coded.query("told_shares")))
    if lines and wrong:
        raise InputError(
            f"{plural(wrong, 'value')} that {file} leads from have no share from 0 to 1, or "
            "several; each line has the share of its value before, or none has one"
        )
    if lines and not adds_up:
        raise InputError(f"the shares of the values that {file} leads from do not add up to 1")
    return bool(lines)


def _true_shares(
    coded: Coded, qid: NoisyQid, file: str, pairs: Plan, *, has_shares: bool
) -> list[float]:
    """Return the shares of the true values; refuse released values that the matrix excludes.

    ``pairs`` has a row per true and released value: their numbers, the probability, and the
    share if the file ``has_shares``; otherwise the shares are estimated.
    """
    rows = sorted(coded.tables.rows(pairs))
    name = quoted(qid.attribute.name)
    if len(rows) > MOST_PAIRS:
        raise InputError(
            f"{name} and {file} make more than {MOST_PAIRS:,} pairs of a true and a released "
            "value; attack coarser values"
        )
    dictionary = exp.table_(f"dictionary_{qid.number}")
    frequencies = exp.select("code", "frequency").from_(dictionary)
    counts = {code: int(n) for code, n in sorted(coded.tables.rows(frequencies)) if n}
    if impossible := counts.keys() - {code for _, code, _, share in rows if share != 0}:
        raise InputError(
            f"{plural(len(impossible), 'value')} of {name} cannot come of {file}; name the "
            "matrix by which the release was drawn"
        )
    if has_shares:
        coded.notes.append(f"the shares of the true values of {name} are those in {file}")
        return _told_shares(rows, counts, file)
    coded.notes.append(f"the shares of the true values of {name} are estimated from the release")
    shares = estimate_true_shares([row[:3] for row in rows], counts)
    if shares is None:
        raise InputError(
            f"the likeliest shares of the true values of {name} are not found by {file}, which "
            f"is searched for up to {MOST_SEARCHED:,} values; attack coarser values"
        )
    return shares


def _told_shares(
    rows: Sequence[tuple[Any, ...]], counts: Mapping[int, int], file: str
) -> list[float]:
    """Return the shares of true values by their numbers, from those that a matrix tells.

    ``rows`` have the number of a true value, that of a released one, a probability and the share:
    None if the matrix does not list the value, which is released as it is.
    """
    unlisted = {code: origin for origin, code, _, share in rows if share is None}
    if any(code in unlisted for _, code, _, share in rows if share is not None):
        raise InputError(
            f"{file} tells shares, and leads to a value that it does not lead from; give this "
            "value a line and its share, too"
        )
    total = sum(counts.values())
    as_released = {origin: counts[code] / total for code, origin in unlisted.items()}
    rest = 1 - sum(as_released.values())
    shares = {origin: share for origin, _, _, share in rows}
    return [as_released[o] if share is None else rest * share for o, share in shares.items()]


def _shares_query(shares: Sequence[float]) -> exp.Select:
    """Return the query of the shares of true values, by their numbers from 1."""
    values = exp.Array(expressions=[double(share) for share in shares])
    numbers = exp.Anonymous(this="range", expressions=[number(1), number(len(shares) + 1)])
    columns = {"origin": numbers, "share": values}
    return exp.select(
        *(exp.alias_(exp.Anonymous(this="unnest", expressions=[v]), n) for n, v in columns.items())
    )
