"""Success of adversaries who know only some of the quasi-identifiers, from a stored sweep.

A sweep holds the success V(S) of an adversary who knows the attributes S, for every S. What an
adversary knows is a distribution over S, so her success is a random number: its expected value,
its quantiles, and the chance that it reaches a threshold are exact (M160 to M166).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from qifsql.adversary.knowledge import Adversary, any_of, check_names
from qifsql.adversary.notes import of_records
from qifsql.commands.adversaries.notation import FILES, Notation, number
from qifsql.commands.adversaries.spec import AdversariesOptions
from qifsql.commands.adversaries.stored_sweep import (
    ADVICE,
    SetFunction,
    StoredSweep,
    people_by_bin,
    read_sweep,
)
from qifsql.data.column_questions import Repeated
from qifsql.data.option import complete
from qifsql.errors import InputError, large, plural, quoted
from qifsql.measures.distribution import Distribution
from qifsql.results.result import Result
from qifsql.results.storage import Origin

NAME, COUNT, NUMBER = pl.String(), pl.Int64(), pl.Float64()
QUESTION = {"model": NAME, "secret": NAME}

SCHEMA: dict[str, pl.DataType] = {
    **{"adversary": NAME, **QUESTION, "measure": NAME},
    **dict.fromkeys(("expected", "median", "q95", "least", "greatest"), NUMBER),
    **{"threshold": NUMBER, "chance": NUMBER, "prior": NUMBER, "attempt": NUMBER},
    **{"mean_known": NUMBER, "subsets": COUNT},
}
"""One row for each adversary, question and measure (``deterministic`` or ``probabilistic``).

``expected``, ``median``, ``q95``, ``least`` and ``greatest`` are of the success in [0, 1] over the
sets of attributes that the adversary may know; a quantile at u is the smallest v with P(V <= v) >=
u. ``chance`` is the probability that the success is at least ``threshold`` (both NULL without one).
``prior`` is the success before the release. With ``attempt``, the chance that anybody tries, all of
these are multiplied by it. ``mean_known`` is the expected number of attributes that are known,
``subsets`` the number of sets that the adversary may know. If people have several records, there is
a row each with ``known_records`` ``all`` and ``one``, as in the sweep."""

BY_SIZE: dict[str, pl.DataType] = {
    **QUESTION,
    **{"measure": NAME, "n_qids": COUNT, "subsets": COUNT, "mean": NUMBER},
    **dict.fromkeys(("least", "q25", "median", "q75", "greatest"), NUMBER),
}
"""Success of an adversary who knows any ``n_qids`` attributes, each set of them equally likely.

Sizes of which a subset is missing in the sweep are left out. ``attempt`` changes nothing here."""

HISTOGRAM: dict[str, pl.DataType] = {
    **{"adversary": NAME, **QUESTION, "bin": COUNT, "individuals": NUMBER}
}
"""Expected number of people by success in percent, rounded half to even, 0 to 100.

It is there if the sweep stored histograms. ``attempt`` changes nothing here."""

QUARTILES = {"q25": Fraction(1, 4), "median": Fraction(1, 2), "q75": Fraction(3, 4)}
MOST_LISTED = 1 << 16  # subsets that are listed although the sweep has fewer
MOST_BINS = 4_000_000  # most rows of histograms that are added up


def adversaries(sweep: str | Path | Result, **options: Unpack[AdversariesOptions]) -> Result:
    """Compute the success of adversaries who know only some of the quasi-identifiers.

    The data are not needed: a stored sweep has the success for every set of quasi-identifiers.

    Args:
        sweep: A sweep: a Result of qifsql.sweep, or a file in which one was stored (Parquet or
            JSON). It must have every subset that an adversary may know.

    Returns:
        A Result. frame: one row per adversary, model, secret and measure, with expected, median,
        q95, least, greatest, threshold, chance, prior, attempt, mean_known, subsets. details:
        by_size (success by number of attributes known) and, if the sweep stored histograms,
        histogram (expected number of people by success).

    Raises:
        InputError: The file has no sweep, a name or a number is wrong, or an adversary may know a
            set that the sweep does not have.

    Example:
        >>> swept = qifsql.sweep("data-samples/school_census_2018.parquet",
        ...     qids="NU_DIA,NU_MES,NU_ANO")
        >>> result = qifsql.adversaries(swept, knows="NU_DIA=0.5,NU_MES=0.5,NU_ANO=1")
        >>> result.frame["subsets"][0]
        4

    Source: M160 to M166.

    """
    request = complete(options, AdversariesOptions)
    origin = Origin.now(kind="adversaries")
    attempt = _exact_share(request["attempt"], "attempt")
    threshold = _exact_share(request["threshold"], "threshold")
    swept = read_sweep(sweep)
    notation = Notation(swept.qids)
    everyone = _requested_adversaries(request, notation, swept)
    weights = {adversary.name: _checked_weights(adversary, swept) for adversary in everyone}
    rows, sizes = [], []
    for part in swept.by_reading():
        sizes += _success_by_size(part)
        rows += [
            _success_row(name, by_subset, function, attempt, threshold)
            for name, by_subset in weights.items()
            for function in part.functions
        ]
    of_people: dict[str, pl.DataType] = {}
    if "known_records" in rows[0]:
        of_people = {"known_records": NAME}
    details = {"by_size": pl.DataFrame(sizes, schema=BY_SIZE | of_people)}
    repeated: Mapping[str, Any] = swept.stored.spec.get("repeated") or {}  # columns of people
    columns = [Repeated(n, c["values"] or 0, c["records"] or 0) for n, c in repeated.items()]
    notes = [*map(of_records, columns), *notation.notes]
    notes += _remarks(swept, attempt, notation.unnamed)
    if swept.histogram is not None:
        tables, remarks = _expected_histogram(swept, swept.histogram, weights)
        details |= tables
        notes += remarks
    stored, spec = swept.stored, _plain_request(swept, request, attempt, threshold)
    origin = origin.about(spec, (*stored.files, *notation.files)).listing(stored.columns or ())
    frame = pl.DataFrame(rows, schema=SCHEMA | of_people)
    return Result(frame=frame, origin=origin, details=details, notes=tuple(notes))


def _exact_share(value: object, name: str) -> Fraction | None:
    """Return a share exactly (None: not asked for); InputError outside [0, 1]."""
    if value is None:
        return None
    share = number(value)
    if share is None or not 0 <= share <= 1:
        raise InputError(f"--{name} is a number from 0 to 1, such as 0.05")
    return share


def _requested_adversaries(
    request: AdversariesOptions, notation: Notation, swept: StoredSweep
) -> list[Adversary]:
    """Return the adversaries who are asked for; without a request, any number of attributes."""
    knows, n = request["knows"], len(swept.qids)
    nothing = knows is None or (isinstance(knows, list | tuple) and not knows)
    everyone = [] if nothing else notation.adversaries(knows)
    if request["any"] is not None:
        everyone += any_of(n, *_parse_sizes(str(request["any"]), n))
    if not everyone:
        sizes = [r for r in range(n + 1) if _has_size(swept, r)]
        everyone = [adversary for r in sizes for adversary in any_of(n, r, r)]
    return check_names(everyone)


def _parse_sizes(text: str, n: int) -> tuple[int, int]:
    """Return the least and the greatest number of attributes in a text such as 3 or 1-4."""
    first, dash, last = text.partition("-")
    if not (first.strip().isdecimal() and (not dash or last.strip().isdecimal())):
        raise InputError(f"--any is written 3 or 1-4, not {quoted(text)}")
    low, high = int(first), int(last if dash else first)
    if low > high:
        raise InputError(f"--any is written 3 or 1-4, the smaller number first, not {quoted(text)}")
    if high > n:
        raise InputError(f"the sweep has {plural(n, 'quasi-identifier')}, so nobody knows {high}")
    return low, high


def _has_size(swept: StoredSweep, size: int) -> bool:
    stored = sum(subset.bit_count() == size for subset in swept.subsets)
    return stored == math.comb(len(swept.qids), size)


def _checked_weights(adversary: Adversary, swept: StoredSweep) -> Mapping[int, int]:
    """Return the weight of each subset that an adversary may know, if the sweep has all of them."""
    who, stored = quoted(adversary.name), swept.subsets
    having = f"the sweep has {len(stored) - 1:,} of {large(2 ** len(swept.qids) - 1)} sets"
    if adversary.support > max(MOST_LISTED, len(stored)):  # so many that they are not even listed
        raise InputError(
            f"{who} may know {large(adversary.support)} sets of attributes; {having}; {ADVICE}"
        )
    weights = adversary.weights()
    lacking = [weight for subset, weight in weights.items() if subset not in stored]
    if lacking:
        share = float(Fraction(sum(lacking), sum(weights.values())))
        raise InputError(
            f"{having}, and lacks {len(lacking):,} that {who} may know (with a chance of "
            f"{share:.3g}); {ADVICE}"
        )
    return weights


def _success_row(
    name: str,
    weights: Mapping[int, int],
    function: SetFunction,
    attempt: Fraction | None,
    threshold: Fraction | None,
) -> dict[str, Any]:
    """Return the row of an adversary and a question (``SCHEMA``); ``weights`` are by subset.

    Bit i of a subset stands for attribute i. The adversary knows it in proportion to its weight.
    ``attempt`` is the chance that anybody tries (None: 1).
    """
    factor = Fraction(1) if attempt is None else attempt
    # The success of a subset is its amount in whole units of the function.
    pairs = ((function.amounts[subset], weight) for subset, weight in weights.items())
    success = Distribution.of(pairs, function.unit).times(factor)
    sizes = Distribution.of(((s.bit_count(), w) for s, w in weights.items()), Fraction(1))
    numbers = {
        "expected": success.expected,
        "median": success.quantile(Fraction(1, 2)),
        "q95": success.quantile(Fraction(19, 20)),
        "least": success.least,
        "greatest": success.greatest,
        "threshold": threshold,
        "chance": None if threshold is None else success.chance(threshold),
        "prior": function.prior * factor,
        "attempt": attempt,
        "mean_known": sizes.expected,
    }
    shares = {column: None if n is None else float(n) for column, n in numbers.items()}
    return {"adversary": name, **function.question, **shares, "subsets": len(weights)}


def _success_by_size(swept: StoredSweep) -> list[dict[str, Any]]:
    """Return ``BY_SIZE``: success by number of attributes known, if all such subsets are stored."""
    rows = []
    by_size: dict[int, list[int]] = defaultdict(list)
    for subset in swept.subsets:
        by_size[subset.bit_count()].append(subset)
    sizes = [size for size in sorted(by_size) if _has_size(swept, size)]
    for function in swept.functions:
        for size in sizes:
            subsets = by_size[size]
            success = Distribution.of(((function.amounts[s], 1) for s in subsets), function.unit)
            numbers = {"mean": success.expected, "least": success.least}
            numbers |= {name: success.quantile(share) for name, share in QUARTILES.items()}
            numbers["greatest"] = success.greatest
            row = {**function.question, "n_qids": size, "subsets": len(subsets)}
            rows.append(row | {name: float(share) for name, share in numbers.items()})
    return rows


def _expected_histogram(
    swept: StoredSweep, histogram: pl.DataFrame, weights: Mapping[str, Mapping[int, int]]
) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """Return the table ``histogram`` by its name, or a remark why there is none (M166).

    It has a row per adversary, question and bin, a success in percent: how many people of the
    sweep's ``histogram`` are expected in it, as the adversary knows each subset of attributes in
    proportion to its weight. ``weights`` are by adversary and subset.
    """
    if histogram.height > MOST_BINS:
        return {}, ["the histograms of the sweep are too large to add up; they are left out"]
    rows: list[tuple[Any, ...]] = []
    for function in (f for f in swept.functions if f.measure == "probabilistic"):
        bins = people_by_bin(histogram, function)
        totals = {sum(n for _, n in bins.get(subset, ())) for subset in swept.subsets}
        if len(totals) > 1:  # bins are missing: those of every subset have the same people in all
            return {}, ["the histograms of the sweep are not whole; they are left out"]
        for name, by_subset in weights.items():
            key = (name, function.model, function.secret)
            rows += [(*key, *mean) for mean in _mean_bins(bins, by_subset)]
    return {"histogram": pl.DataFrame(rows, schema=HISTOGRAM, orient="row")}, []


def _mean_bins(
    bins: Mapping[int, Sequence[tuple[int, int]]], weights: Mapping[int, int]
) -> list[tuple[int, float]]:
    """Return each bin, and the mean number of people in it over the subsets, by their weights."""
    sums: Counter[int] = Counter()
    for subset, weight in weights.items():
        for bin_, people in bins[subset]:
            sums[bin_] += weight * people
    total = sum(weights.values())
    return [(bin_, float(Fraction(sums[bin_], total))) for bin_ in sorted(sums)]


def _remarks(
    swept: StoredSweep, attempt: Fraction | None, unnamed: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return remarks on the sweep, on attempts, and on attributes that adversaries do not name."""
    notes = [
        f"{quoted(name)[1:-1]} does not know {', '.join(map(quoted, qids))}: they are not named "
        "(*=0.1 gives all others a chance)"
        for name, qids in unnamed.items()
    ]
    if not swept.is_complete:
        n = large(2 ** len(swept.qids) - 1)
        notes.append(
            f"the sweep has {len(swept.subsets) - 1:,} of {n} sets of quasi-identifiers; the "
            "adversaries here know only sets that it has"
        )
    if attempt is not None:
        notes.append(
            f"the numbers of adversaries are multiplied by {float(attempt):g}, the chance that "
            "anybody tries; the threshold is compared with the product. Those by number of "
            "attributes (by_size) and of people (histogram) are not: who does try succeeds more "
            "often"
        )
    return notes


def _plain_request(
    swept: StoredSweep,
    request: AdversariesOptions,
    attempt: Fraction | None,
    threshold: Fraction | None,
) -> dict[str, Any]:
    """Return the sweep and what adversaries know as plain data, for the manifest."""
    of_sweep = swept.stored.spec
    secrets = dict.fromkeys(f.secret for f in swept.functions if f.secret is not None)
    return {
        "dataset": of_sweep.get("dataset"),
        "qids": list(swept.qids),
        "secrets": list(secrets),
        **{name: of_sweep[name] for name in ("person", "repeated") if of_sweep.get(name)},
        "sweep": swept.stored.name,
        "knows": _plain_knowledge(request["knows"]),
        "any": None if request["any"] is None else str(request["any"]),
        "attempt": None if attempt is None else str(attempt),
        "threshold": None if threshold is None else float(threshold),
        "complete": swept.is_complete,
    }


def _plain_knowledge(knows: Any) -> Any:
    """Return what adversaries know as plain data for manifests; files without their folders."""
    if isinstance(knows, Mapping):
        return {str(name): _plain_knowledge(value) for name, value in knows.items()}
    if isinstance(knows, list | tuple):
        return [_plain_knowledge(text) for text in knows] or None
    if knows is None:
        return None
    text = str(knows)  # the name of a file, or such as age=0.5
    return Path(text).name if "=" not in text and text.casefold().endswith(FILES) else text
