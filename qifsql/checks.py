"""Gain functions and beliefs against the values that a secret has: complete, known, numbers."""

from qifsql.counts import Counts
from qifsql.errors import InputError, quoted
from qifsql.gains import STAKED

PAIRS = 1_000_000_000  # gains of a guess and a value that are looked at
CLOSE = 1e-9  # how far from 1 the sum of beliefs may be


def check(counts: Counts) -> list[str]:
    """Refuse gains and beliefs that do not fit the secrets; remarks about the others."""
    for j in counts.bound.beliefs:
        _check_beliefs(counts, j)
    notes: list[str] = []
    for g, bound in enumerate(counts.bound.gains, 1):
        for j, secret in enumerate(counts.bound.secrets, 1):
            what = f"gain {quoted(bound.gain.text)} of secret {quoted(secret.name)}"
            if bound.gain.kind == "tries":
                _check_tries(int(bound.gain.number or 0), counts.number_of_values(j), what)
            elif bound.gain.kind in STAKED:
                notes += _check_stakes(counts, j, g, what)
        if bound.gain.kind == "tries" and not counts.bound.secrets:
            _check_tries(
                int(bound.gain.number or 0), counts.records, f"gain {quoted(bound.gain.text)}"
            )
    return notes


def _check_tries(tries: int, values: int, what: str) -> None:
    if tries > values:
        raise InputError(
            f"{what} allows more guesses than there are values ({values:,}): "
            f"one of them is always right; use at most tries:{values}"
        )


def _check_beliefs(counts: Counts, j: int) -> None:
    found = counts.frame("beliefs_check", [(j, 0)]).row(0, named=True)
    what = f"the prior of secret {quoted(counts.bound.secrets[j - 1].name)}"
    if found["unusable"]:
        raise InputError(
            f"{what} has {found['unusable']:,} lines whose probability is missing, negative or no "
            "number; mend the file"
        )
    if found["different"] < found["lines"]:
        raise InputError(f"{what} names a value more than once; name each once")
    if found["known"] < found["lines"]:
        raise InputError(
            f"{what} names {found['lines'] - found['known']:,} values that nobody in the release "
            "has: nothing is known of what the release says about them; take them out"
        )
    if found["missing"]:
        raise InputError(
            f"{what} has no probability for {found['missing']:,} values of the release; add them, "
            "with 0 for those that the adversary rules out"
        )
    if abs(found["total"] - 1) > CLOSE:
        raise InputError(f"{what} sums to {found['total']:.9g}, not to 1; scale the probabilities")


def _check_stakes(counts: Counts, j: int, g: int, what: str) -> list[str]:
    gain = counts.bound.gains[g - 1].gain
    values = counts.number_of_values(j)
    if gain.kind == "sql" and values**2 > PAIRS:
        raise InputError(
            f"{what} would be computed for {values**2:,} pairs of a guess and a value; group the "
            "values by an expression, or use worth:FILE or tolerance:T"
        )
    if gain.source is not None and gain.kind != "sql":
        unknown = counts.frame("unknown_values", [(j, g)])["lines"][0]
        if unknown:
            raise InputError(
                f"{what} has {unknown:,} lines with values that the secret does not have in the "
                "release; take them out, or correct them"
            )
    found = counts.frame("pairs_check", [(j, g)]).row(0, named=True)
    expected = values if gain.kind == "worth" else found["guesses"] * values
    if found["different"] < expected:
        raise InputError(
            f"{what} is missing for {expected - found['different']:,} of {expected:,} "
            f"{'values' if gain.kind == 'worth' else 'pairs of a guess and a value'}; name them all"
        )
    if found["pairs"] > found["different"]:
        raise InputError(f"{what} names a pair more than once; name each once")
    if found["unusable"]:
        raise InputError(f"{what} is missing or no finite number in {found['unusable']:,} pairs")
    if gain.kind == "matrix" and found["safest"] < 0:
        raise InputError(
            f"{what} has losses, but no guess that never loses; add a guess that gains 0 "
            "from every value (to abstain)"
        )
    if found["highest"] <= 0:
        return [f"{what} is never above 0, so the best is to abstain and nothing is ever gained"]
    if found["lowest"] < 0:
        return [f"{what} has losses; the adversary may abstain and gain 0"]
    return []
