"""Bounds of an attack over all completions of missing quasi-identifiers, as rows of results."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from qifsql.adversary.options import MATCH_ANY
from qifsql.measures import bayes
from qifsql.measures.bayes import Success
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
    before, then = bayes.success(prior, secret, 0), bayes.success(after, secret, 0)
    values: dict[str, Number] = {  # if missing is a value
        "blocks": after.blocks,
        "singled_out": after.singled_out,
        "individuals_certain": Fraction(then.deterministic) * counts.people,
        "posterior_deterministic": then.deterministic,
        SUCCESS: then.probabilistic,
        "degradation_deterministic": then.deterministic - before.deterministic,
        "degradation_probabilistic": then.probabilistic / before.probabilistic,
        "k": after.least("size"),
        "l": after.least("values"),
        "prior_deterministic": before.deterministic,
        "prior_probabilistic": before.probabilistic,
    }
    lines = []
    for name, bound in _bounds(counts, before, of_secret=bool(secret)).items():
        sharp = bound.attained(values[name])
        line = {"secret": secret, "gain": 0, "measure": name, "value": float(values[name])}
        line |= {"low": float(sharp.low), "high": float(sharp.high)}
        lines.append(line | {"low_sharp": sharp.low_sharp, "high_sharp": sharp.high_sharp})
    return lines


def _bounds(counts: Counts, before: Success, *, of_secret: bool) -> dict[str, Bound]:
    """Return the bounds of each measure that has some; ``before`` is the success at the prior.

    The prior has bounds, too, if some people miss the secret.
    """
    n = counts.people
    right = counts.right_guesses() if of_secret else counts.block_count()  # a record of each block
    certain = counts.certain_people() if of_secret else counts.singled_out()
    bounds = {"blocks": counts.block_count(), "singled_out": counts.singled_out()}
    bounds |= {"individuals_certain": certain} if of_secret else {}
    bounds |= {"posterior_deterministic": certain.over(n), SUCCESS: right.over(n)}
    guesses = counts.guesses_before() if of_secret else None
    if guesses is None:
        change = certain.over(n).minus(before.deterministic)
        ratio = right.over(n).over(before.probabilistic)
    else:
        change = certain.over(n).less(counts.certain_before().over(n), least=Fraction(0))
        ratio = right.over(n).per(guesses.over(n), least=Fraction(1))
    bounds |= {"degradation_deterministic": change, "degradation_probabilistic": ratio}
    bounds |= {"k": counts.smallest_block()}
    bounds |= {"l": counts.fewest_secrets()} if of_secret else {}
    if guesses is not None:
        bounds["prior_deterministic"] = counts.certain_before().over(n)
        bounds["prior_probabilistic"] = guesses.over(n)
    return bounds


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
