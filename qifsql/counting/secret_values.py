"""Check gain functions and beliefs against the values of a secret."""

from collections.abc import Mapping
from typing import Any

from qifsql.adversary.gains import STAKED
from qifsql.counting.counts import Counts
from qifsql.errors import InputError, plural, quoted

MOST_PAIRS = 1_000_000_000  # of a guess and a value to compute gains for
MOST_ADDITIONS = 20_000_000_000  # of terms, each of a block, a guess and a value
MOST_TRIES = 999_999  # values that the engine can list
LARGEST_DEVIATION = 1e-9  # of the sum of beliefs from 1


def check(counts: Counts) -> list[str]:
    """Refuse gains and beliefs that do not fit the secrets; return notes about the rest."""
    notes: list[str] = []
    if counts.bound.member:
        _check_flag(counts)
    for j in counts.bound.beliefs:
        notes += _check_beliefs(counts, j)
    for g, bound in enumerate(counts.bound.gains, 1):
        gain, tries = bound.gain, int(bound.gain.number or 0)
        for j, secret in enumerate(counts.bound.microdata.secrets, 1):
            what = f"gain {quoted(gain.text)} of secret {quoted(secret.name)}"
            if gain.kind == "tries":
                notes += _check_tries(tries, counts.domain(j).values, "value", what)
            elif gain.kind in STAKED:
                notes += _check_stakes(counts, j, g, what)
        if gain.kind == "tries" and not counts.bound.microdata.secrets:  # guesses of the record
            notes += _check_tries(tries, counts.records, "record", f"gain {quoted(gain.text)}")
    return notes


def _check_flag(counts: Counts) -> None:
    """Refuse a flag of membership with more than two values."""
    flag, domain = counts.bound.microdata.secrets[0], counts.domain(1)
    if domain.missing or domain.values > 2:
        what = "a missing value" if domain.missing else f"{domain.values:,} values"
        raise InputError(
            f"member {quoted(flag.name)} has {what}; a flag has two, such as true and false: make "
            'one of it, as in --member "member=coalesce(COLUMN = 1, false)"'
        )


def _check_tries(tries: int, answers: int, answer: str, what: str) -> list[str]:
    """Return a note if there are more tries than answers; refuse more than ``MOST_TRIES``."""
    if tries > answers:
        return [
            f"{what} allows more guesses than the {plural(answers, answer)} there are: one of them "
            "is always right, with the release and without it"
        ]
    if tries > MOST_TRIES:
        raise InputError(
            f"{what} allows more than {MOST_TRIES:,} guesses; use at most tries:{MOST_TRIES}"
        )
    return []


def _check_beliefs(counts: Counts, j: int) -> list[str]:
    """Refuse a prior of secret ``j`` that is no distribution; return a note on ruled-out values."""
    row = counts.frame("beliefs_check", [(j, 0)]).row(0, named=True)
    what = f"the prior of secret {quoted(counts.bound.microdata.secrets[j - 1].name)}"
    if row["unusable"]:
        raise InputError(
            f"{what} has {plural(row['unusable'], 'line')} whose probability is missing, "
            "negative or no number; correct the file"
        )
    if row["different"] < row["lines"]:
        raise InputError(f"{what} names a value more than once; name each once")
    if unknown := row["lines"] - row["known"]:
        raise InputError(
            f"{what} names {plural(unknown, 'value')} that nobody in the release has: the "
            "release contains nothing about them; remove them"
        )
    if row["missing"]:
        raise InputError(
            f"{what} has no probability for {plural(row['missing'], 'value')} of the release; "
            "add them, with 0 for those that the adversary rules out"
        )
    if abs(row["total"] - 1) > LARGEST_DEVIATION:
        raise InputError(f"{what} sums to {row['total']:.9g}, not to 1; scale the probabilities")
    if not row["ruled_out"]:
        return []
    people = plural(row["ruled_out"], "person").replace("persons", "people")
    return [f"{what} rules out the values of {people}, whose records are then left out of blocks"]


def _check_stakes(counts: Counts, j: int, g: int, what: str) -> list[str]:
    """Refuse gain function ``g`` if its gains of secret ``j`` (from 1) cannot be computed.

    Return notes on them. A stake is what a guess gains if a value is the secret.
    """
    gain = counts.bound.gains[g - 1].gain
    if gain.kind == "sql":
        row = _check_computed(counts, j, g, what)
    else:
        row = _check_listed(counts, j, g, what)
    if row["unusable"]:
        pairs = plural(row["unusable"], "pair")
        raise InputError(f"{what} is missing or no finite number in {pairs}")
    if gain.kind == "matrix" and row["safest"] < 0:
        raise InputError(
            f"{what} has losses, but no guess that never loses; add a guess that gains 0 "
            "from every value (to abstain)"
        )
    for step in ("scale", "stakes", "unusual"):  # tables that the attack reads again
        counts.keep(step, j, g, lasting=False)
    additions = counts.frame("effort", [(j, g)])["additions"][0]
    if additions > MOST_ADDITIONS:
        raise InputError(
            f"{what} differs for so many pairs that {additions:,} sums would be added up; group "
            "the values of the secret by an expression, or use tolerance:T or worth:FILE"
        )
    return _notes_on_stakes(
        row, what, meets_missing=gain.kind == "sql" and counts.domain(j).missing
    )


def _notes_on_stakes(row: Mapping[str, Any], what: str, *, meets_missing: bool) -> list[str]:
    """Return notes on gains that are computed (``row`` of their checks): losses, unused lines."""
    if row["highest"] <= 0:
        return [f"{what} is never above 0, so the best is to abstain and nothing is ever gained"]
    notes = []
    if row["lowest"] < 0:
        notes.append(f"{what} has losses; the adversary may abstain and gain 0")
    if row.get("unknown"):
        lines = plural(row["unknown"], "line")
        notes.append(f"{what} has {lines} with values that nobody in the release has; left out")
    if meets_missing:
        notes.append(
            f"{what} meets a missing value, of which guess = secret is not true; "
            "write guess IS NOT DISTINCT FROM secret if it can be guessed"
        )
    return notes


def _check_computed(counts: Counts, j: int, g: int, what: str) -> dict[str, Any]:
    """Return the row of ``gains_check``: lowest, highest, unusable; refuse too many pairs."""
    pairs = counts.domain(j).values ** 2
    if pairs > MOST_PAIRS:
        raise InputError(
            f"{what} would be computed for {pairs:,} pairs of a guess and a value; group the "
            "values by an expression, or use worth:FILE or tolerance:T"
        )
    return counts.frame("gains_check", [(j, g)]).row(0, named=True)


def _check_listed(counts: Counts, j: int, g: int, what: str) -> dict[str, Any]:
    """Return the row of ``pairs_check`` and ``unknown``: lines with values that nobody has.

    Refuses a file of gains unless it has each pair once. ``worth`` has a line per value (*: all
    others), a ``matrix`` one per pair of a guess and a value.
    """
    gain, values = counts.bound.gains[g - 1].gain, counts.domain(j).values
    unknown = stars = 0
    if gain.source is not None:
        row = counts.frame("unknown_values", [(j, g)]).row(0, named=True)
        unknown, stars = row["lines"], row["rest"]
    if stars > 1 and gain.kind == "worth":
        raise InputError(f"{what} has {stars:,} lines *; one says what all other values are worth")
    if (unknown or stars) and gain.kind == "matrix":
        raise InputError(
            f"{what} has {plural(unknown + stars, 'line')} with values that do not occur in "
            "the secret of the release; remove or correct them"
        )
    row = counts.frame("pairs_check", [(j, g)]).row(0, named=True)
    expected = values if gain.kind == "worth" else max(1, row["guesses"]) * values
    missing = expected - row["different"]
    if missing and gain.kind == "worth":
        raise InputError(
            f"{what} is missing for {missing:,} of {plural(expected, 'value')}; name them all, or "
            "add a line with the value * for all others (a secret that has a value * needs every "
            "value named)"
        )
    if missing:
        raise InputError(
            f"{what} is missing for {missing:,} of {plural(expected, 'pair')} of a guess and a "
            "value; name them all"
        )
    if row["pairs"] > row["different"]:
        raise InputError(f"{what} names a pair more than once; name each once")
    return row | {"unknown": unknown}
