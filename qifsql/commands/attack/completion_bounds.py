"""Bounds of an attack over all completions of missing quasi-identifiers, as rows of results."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from qifsql.adversary.options import MATCH_ANY
from qifsql.measures import bayes
from qifsql.measures.completions import Bound, Counts, Number
from qifsql.measures.profile import Profile

SUCCESS = "posterior_probabilistic"  # the measure of the columns low and high
WHO = f"null {MATCH_ANY} bounds the success against everybody in one release, and"
TAKEN_OPTIONS = ("null", "qids", "secret", "where", "absent", "unit")
"""Options whose results are bounds."""
Rows = list[dict[str, Any]]


def rows(counts: Counts, secret: int, prior: Profile, after: Profile) -> Rows:
    """Return the bounds of one question, a row for each measure; secret 0 is re-identification.

    ``counts`` give bounds over all ways to fill in missing values (completions). ``prior`` and
    ``after`` are profiles in which missing is a value. This is one completion, so that a bound
    which equals its number is sharp.
    """
    n = counts.people
    before, then = bayes.success(prior, secret, 0), bayes.success(after, secret, 0)
    right = counts.right_guesses() if secret else counts.block_count()  # one record of each block
    certain = counts.certain_people() if secret else counts.singled_out()
    guesses = counts.guesses_before() if secret else None
    if guesses is None:
        change = certain.over(n).minus(before.deterministic)
        ratio = right.over(n).over(before.probabilistic)
    else:  # some people miss the secret, so the prior varies, too
        change = certain.over(n).less(counts.certain_before().over(n), least=Fraction(0))
        ratio = right.over(n).per(guesses.over(n), least=Fraction(1))
    bounds: dict[str, tuple[Bound, Number]] = {  # with the number if missing is a value
        "blocks": (counts.block_count(), after.blocks),
        "singled_out": (counts.singled_out(), after.singled_out),
        **({"individuals_certain": (certain, Fraction(then.deterministic) * n)} if secret else {}),
        "posterior_deterministic": (certain.over(n), then.deterministic),
        SUCCESS: (right.over(n), then.probabilistic),
        "degradation_deterministic": (change, then.deterministic - before.deterministic),
        "degradation_probabilistic": (ratio, then.probabilistic / before.probabilistic),
        "k": (counts.smallest_block(), after.least("size")),
    }
    if secret:
        bounds["l"] = counts.fewest_secrets(), after.least("values")
    if guesses is not None:
        bounds["prior_deterministic"] = counts.certain_before().over(n), before.deterministic
        bounds["prior_probabilistic"] = guesses.over(n), before.probabilistic
    lines = []
    for name, (bound, value) in bounds.items():
        sharp = bound.attained(value)
        line = {"secret": secret, "gain": 0, "measure": name, "value": float(value)}
        line |= {"low": float(sharp.low), "high": float(sharp.high)}
        lines.append(line | {"low_sharp": sharp.low_sharp, "high_sharp": sharp.high_sharp})
    return lines


def bound_columns(details: Mapping[str, Rows], secret: int) -> dict[str, Any]:
    """Return the columns of a row of results that bound its success, if it is bounded."""
    names = ("low", "high", "low_sharp", "high_sharp")
    bounded = [r for r in details.get("bounds", ()) if r["secret"] == secret]
    return {name: row[name] for row in bounded if row["measure"] == SUCCESS for name in names}


def notes(bounds: Rows) -> list[str]:
    """Return notes on the completion of the other numbers, and on bounds that may be too wide."""
    successes = [r for r in bounds if r["measure"] in ("posterior_deterministic", SUCCESS)]
    ends = ("low", "high")
    unsharp = [f"{r['measure']} ({e})" for r in successes for e in ends if not r[f"{e}_sharp"]]
    first = (
        "the numbers besides the bounds take a missing value as one value more, which is one of "
        "its completions"
    )
    listed = ", ".join(dict.fromkeys(unsharp))
    second = f"bounds that hold but that perhaps no completion attains: {listed}"
    return [first, second] if unsharp else [first]
