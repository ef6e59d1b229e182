"""The columns of the result of an attack, of further measures and of tables of details."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from qifsql.adversary.laws import EXACT, has_matrix
from qifsql.errors import InputError, quoted
from qifsql.measures import bayes
from qifsql.measures.anonymity_loss import CLAIMS
from qifsql.results.result import Result

SCHEMA: dict[str, pl.DataType] = {
    "model": pl.String(),
    **dict.fromkeys(("datasets", "n_qids"), pl.Int64()),
    "qids": pl.List(pl.String()),
    "secret": pl.String(),
    **dict.fromkeys(("records", "blocks", "singled_out"), pl.Int64()),
    **dict.fromkeys(("prior_deterministic", "posterior_deterministic"), pl.Float64()),
    **dict.fromkeys(("degradation_deterministic", "prior_probabilistic"), pl.Float64()),
    **dict.fromkeys(("posterior_probabilistic", "degradation_probabilistic"), pl.Float64()),
    **dict.fromkeys(("leakage_additive", "min_entropy_leakage", "worst_case"), pl.Float64()),
    "individuals_certain": pl.Int64(),
    "seconds": pl.Float64(),
}
"""The columns of a result, one row per model, set of quasi-identifiers and secret.

``datasets`` is the number of datasets that the adversary knows: 1, or those of a collection. Counts
are of records of the focal dataset. ``prior_*``, ``posterior_*`` and ``worst_case`` are
probabilities in [0, 1]. ``degradation_deterministic`` and ``leakage_additive`` are posterior minus
prior, ``degradation_probabilistic`` is posterior divided by prior, and ``min_entropy_leakage`` is
its binary logarithm (bits). ``secret`` is NULL for re-identification. ``seconds`` is the time of
the whole pass that computed the row.
"""

INDIVIDUAL: dict[str, pl.DataType] = {
    "target": pl.String(),
    "matches": pl.Int64(),
    "best_guess": pl.String(),
}
"""Further columns of individual models: the target, the number of look-alikes, the best guess.

``best_guess`` is NULL if the most likely value is a missing one, for re-identification without a
key, and for gain functions other than identity."""

PEOPLE: dict[str, pl.DataType] = {"people": pl.Int64(), "known_records": pl.String()}
"""Further columns if a column says whose record it is, with two rows for each question.

``people`` is their number, and ``records`` that of their records. ``known_records`` is ``all`` if
the adversary knows all records of a person, ``one`` if she knows one, each of the records as
likely: ``posterior_*`` are then shares of records, ``singled_out`` and ``individuals_certain``
people with such a record. Measures and details beyond ``k``, ``l`` and success are of ``all``."""

REPORTED_COUNTS = ("reported", "certain_reported", "certain_missing")
"""Those of the columns ``REPORTED`` that count people; the others are shares."""
REPORTED: dict[str, pl.DataType] = {
    name: pl.Int64() if name in REPORTED_COUNTS else pl.Float64() for name in bayes.REPORTED
}
"""Further columns if a secret is missing for some people; NULL for re-identification.

The columns of all results take a missing secret as a value. These are of the ``reported`` people,
who have a reported secret, alone: the adversary guesses the most frequent reported value of a
block. ``certain_reported`` of them are in blocks in which one value is reported.
``certain_missing`` people, who are among ``individuals_certain``, are in blocks in which nobody
reports the secret: it is known to be missing. Of a secret that is missing for nobody in the result,
both numbers are the same. If nobody reports the secret, the shares are NULL. ``certain_missing``
is NULL if one record of a person is known. For gains other than identity, shares are gains; they
are NULL if people have several records."""

GAIN: dict[str, pl.DataType] = {"gain": pl.String(), "gain_unit": pl.String()}
"""Further columns if gain functions are named, with one row for each.

``prior_probabilistic``, ``posterior_probabilistic``, ``leakage_additive`` and ``worst_case`` are
then expected gains in the unit of the gain function. The two ratios are NULL (undefined) if the
prior gain is 0."""

BOUNDS: dict[str, pl.DataType] = {
    **dict.fromkeys(("low", "high"), pl.Float64()),
    **dict.fromkeys(("low_sharp", "high_sharp"), pl.Boolean()),
}
"""Further columns if missing values may be anything (``--null match-any``).

``low`` and ``high`` bound ``posterior_probabilistic`` over all completions of the missing
quasi-identifiers; the other columns are those of the completion in which all missing values of a
column are one value of its own. A bound is sharp if a completion is known to attain it; otherwise
the least or greatest success may be inside."""

MEASURES: dict[str, dict[str, pl.DataType]] = {
    "shannon": {
        **dict.fromkeys(("prior_entropy", "posterior_entropy", "mutual_information"), pl.Float64())
    },
    "guessing": {"prior_guessing": pl.Float64(), "posterior_guessing": pl.Float64()},
    "capacity": {"capacity": pl.Float64(), "capacity_bits": pl.Float64()},
    "pointwise": {
        **dict.fromkeys(("pointwise_mean", "pointwise_median"), pl.Float64()),
        **dict.fromkeys(("pointwise_q95", "pointwise_worst"), pl.Float64()),
    },
    "security": {"bayes_security": pl.Float64()},
    "risks": {
        **dict.fromkeys(("prosecutor_risk", "journalist_risk", "marketer_risk"), pl.Float64())
    },
    "anonymity": {"k": pl.Int64(), "l": pl.Int64()},
}
"""Further columns of measures other than ``bayes``, by the name of the measure.

Entropies and mutual information are in bits. ``*_guessing`` is the expected number of guesses, at
least 1. ``capacity`` is the largest multiplicative leakage for any prior and any gain function
without losses, at least 1, NULL for one target. ``pointwise_*`` are the mean, median, 95th
percentile and maximum over people of the pointwise maximal leakage of their block, in bits.
``bayes_security`` is in [0, 1]; 0 means that two values of the secret are always told apart. Both
are NULL for one target, with weights, with a prior from a file, and ``bayes_security`` if the pairs
of values are too many to compare. The three risks are only of re-identification;
``journalist_risk`` is NULL without a population. ``k`` is the number of people in the smallest
block, ``l`` the least number of distinct values of the secret in a block (NULL for
re-identification): the smaller of two, with a missing value as a value, and of the reported
values of blocks in which somebody reports one."""

DETAILS: dict[str, dict[str, pl.DataType]] = {
    "histogram": {"attack_id": pl.String(), "bin": pl.Int64(), "individuals": pl.Int64()},
    "thresholds": {
        **{"attack_id": pl.String(), "threshold": pl.Float64()},
        **{"individuals": pl.Int64(), "share": pl.Float64()},
    },
    "sure": {
        "attack_id": pl.String(),
        "of_reported": pl.Boolean(),
        **CLAIMS,
        "greatest": pl.Boolean(),
    },
    "sure_curve": {"attack_id": pl.String(), "of_reported": pl.Boolean(), **CLAIMS},
    "value_chances": {
        **{"attack_id": pl.String(), "value": pl.String(), "individuals": pl.Int64()},
        **dict.fromkeys(("prior", "low", "high"), pl.Float64()),
        "suspected": pl.Int64(),
    },
    "quantiles": {"attack_id": pl.String(), "quantile": pl.Float64(), "success": pl.Float64()},
    "groups": {
        **dict.fromkeys(("attack_id", "by", "group"), pl.String()),
        **dict.fromkeys(("individuals", "singled_out", "individuals_certain"), pl.Int64()),
        **dict.fromkeys(("posterior_deterministic", "prior_probabilistic"), pl.Float64()),
        **dict.fromkeys(("posterior_probabilistic", "degradation_probabilistic"), pl.Float64()),
        **dict.fromkeys(("worst_case", "guessed_right", "gap"), pl.Float64()),
    },
    "group_capacity": {
        **dict.fromkeys(("attack_id", "by", "group"), pl.String()),
        "individuals": pl.Int64(),
        **dict.fromkeys(("capacity", "capacity_bits"), pl.Float64()),
    },
    "bounds": {
        **{"attack_id": pl.String(), "measure": pl.String(), "value": pl.Float64()},
        **BOUNDS,
    },
    "households": {
        **dict.fromkeys(("attack_id", "household"), pl.String()),
        **dict.fromkeys(("households", "people", "people_without", "singled_out"), pl.Int64()),
        **dict.fromkeys(("share_singled_out", "risk", "risk_low"), pl.Float64()),
        **dict.fromkeys(("risk_high", "worst_risk", "expected_people"), pl.Float64()),
        **dict.fromkeys(("record_blocks", "record_singled_out"), pl.Int64()),
        "record_prior_deterministic": pl.Float64(),
        "record_posterior_deterministic": pl.Float64(),
        "record_prior_probabilistic": pl.Float64(),
        "record_posterior_probabilistic": pl.Float64(),
    },
}
"""Tables of details, joined to the results by ``attack_id``.

``histogram``: individuals by success on their block in percent, rounded half to even, 0 to 100. The
percentage is a double-precision number: with fractional weights, a chance within 1e-13 of an exact
half may be rounded up or down. ``thresholds``: individuals whose success is at least the threshold.
``sure``: the same adversary names these individuals (``claims``) and nobody else. She is ``right``
about so many of them, the share ``precision``; ``coverage`` is the share of all individuals whom
she names. ``precision_before`` is the share of the named about whom the best guess without the
release is right: the prior's best value, of equally frequent ones the first in the secret's order,
or for re-identification any record. ``alc`` is the anonymity loss coefficient. With weights,
shares are of weights, and ``right`` is NULL. A row with ``greatest`` is that of the greatest
coefficient; its threshold is the success in some block. Of an adversary who errs (``knows``) they
are expected numbers, ``claims`` rounded down, without ``greatest`` and ``sure_curve``, and there
are none where people were drawn. If a secret is missing for some, rows with
``of_reported`` are about those who report it. ``sure_curve``: the same at each whole percent at
which others are named.
``quantiles``: the smallest success that this share of the individuals do not exceed. ``groups``:
the same numbers for the individuals of each value of another column (NULL: missing).
``guessed_right`` is the share of them whose value is the best guess (NULL for re-identification
and gains other than identity), ``gap`` is the group's posterior minus the lowest of all groups.
``value_chances``: ``individuals`` with each value of the secret, rarest first. ``prior`` is its
chance without the release, ``low`` and ``high`` its chance after it for the people least and most
suspected of it: at most ``low``, and at least ``high``, for 5 of 100 people (M216). ``suspected``
individuals have at least twice the prior chance of it, but no certainty.
``group_capacity``: the capacity for the people of each group, of an adversary who knows that a
person is in the group (with the measure ``capacity``).
``households``: one row per question with the gain identity. ``singled_out`` are households with a
member who is singled out, or whose secret is certain. ``risk`` is the mean over households of the
chance that a best guess is right about some member, if guesses about members are independent;
``risk_low`` and ``risk_high`` are its bounds for any dependence, ``worst_risk`` the largest of a
household. ``expected_people`` is the sum over people of the risk of their household: those who are
expected to be found, themselves or through another member. ``people_without`` have no household;
each counts as a household of one. ``record_*`` are the numbers of the attack with each household as
one record. ``bounds``: the least and the greatest value of each measure over all completions of
missing quasi-identifiers; ``value`` is that of the completion in which all missing values of a
column are one value of its own."""


def beside_reported(row: dict[str, Any], columns: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a row with the columns ``REPORTED``, and with the smaller l of both kinds of people.

    ``columns`` are those of people with a reported secret; None: nobody misses it, so that the
    numbers of all people are theirs.
    """
    if row["secret"] is None:  # re-identification
        return row | dict.fromkeys(REPORTED)
    if columns is None:
        same = {name: row.get(name.removesuffix("_reported")) for name in REPORTED}
        # everybody who is counted: the records that match a target, or people, or records
        same["reported"] = row.get("matches", row.get("people", row["records"]))
        return row | same | {"certain_reported": row["individuals_certain"], "certain_missing": 0}
    beside = row | {name: columns[name] for name in REPORTED}
    if "l" in row:
        beside["l"] = min(n for n in (row["l"], columns.get("l")) if n is not None)
    return beside


def readings(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row, and if a secret is missing for some, one about the people who report it.

    The first has ``of_reported`` false, the second true.
    """
    numbers, of_all = bayes.of_reported(row), {**row, "of_reported": False}
    return [of_all] if numbers is None else [of_all, {**row, **numbers, "of_reported": True}]


def without_beliefs(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows of attacks, less those of adversaries who believe in randomised cells.

    Where cells were drawn by a matrix, the row of an adversary who knows it is the true success;
    the row ``exact`` only says what an adversary believes who takes the cells to be true. In a
    study each entry (``name``) is looked at by itself.
    """
    if "knows" not in frame.columns:
        return frame
    entries = frame["name"] if "name" in frame.columns else [""] * frame.height
    rows = list(zip(entries, frame["knows"], strict=True))
    with_matrix = {entry for entry, knows in rows if has_matrix(knows)}
    results = [knows != EXACT or entry not in with_matrix for entry, knows in rows]
    return frame.filter(pl.Series(results, dtype=pl.Boolean))


ALL_MEASURES = ("bayes", *MEASURES)
MEASURES_OF_RECORDS = ("shannon", "guessing")


def combined(parts: Sequence[Result]) -> Result:
    """Return one result with the rows and details of several attacks, in their order.

    They are those of a progressive attack, with ever more datasets. The origin is that of the last,
    on all datasets, with the plans of all; only its kinds of details are kept.
    """
    last = parts[-1]
    plans = tuple(plan for part in parts for plan in part.origin.plans)
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    details = {
        name: pl.concat(part.details[name] for part in parts if name in part.details)
        for name in last.details
    }
    frame = pl.concat(part.frame for part in parts)
    origin = replace(last.origin, plans=plans)
    return Result(frame=frame, origin=origin, details=details, notes=notes)


def record_measures(measures: str | Sequence[str]) -> tuple[str, ...]:
    """Return the measures that one record can have; refuse others unless all were requested."""
    names = named_measures(measures)
    wants_all = "all" in str(measures).casefold()
    unsuitable = [name for name in names if name not in MEASURES_OF_RECORDS]
    if unsuitable and not wants_all:
        raise InputError(
            f"{unsuitable[0]} is not a measure of one record; records take "
            f"{', '.join(MEASURES_OF_RECORDS)}"
        )
    return tuple(name for name in names if name in MEASURES_OF_RECORDS)


def named_measures(measures: str | Sequence[str]) -> tuple[str, ...]:
    """Return the named measures (``all``: each but ``bayes``), in order; InputError if unknown."""
    words = measures.split(",") if isinstance(measures, str) else list(measures)
    names = [name.strip().casefold() for name in words if name.strip()]
    for name in names:
        if name not in (*ALL_MEASURES, "all"):
            raise InputError(
                f"there is no measure {quoted(name)}; use {', '.join(ALL_MEASURES)} or all"
            )
    return tuple(m for m in MEASURES if m in names or "all" in names)
