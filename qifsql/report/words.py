"""Numbers as sentences in natural frequencies: 1 in 2.6, 60 of 100.

Rounding never turns a chance into certainty or into impossibility.
"""

from collections.abc import Mapping, Sequence
from typing import Any


def chance(p: float) -> str:
    """A probability as people say it: ``1 in 32,561``, ``97.6 of 100``, ``always``, ``never``."""
    if p <= 0:
        return "never"
    if p >= 1:
        return "always"
    if p >= 0.5:
        return "more than 99.99 of 100" if p > 0.9999 else f"{_digits(100 * p)} of 100"
    return f"1 in {_digits(1 / p)}"


def percent(p: float) -> str:
    """A probability in percent, for tables: ``26.27 %``."""
    if 0 < p < 0.00005:
        return "< 0.01 %"
    if 0.99995 <= p < 1:
        return "> 99.99 %"
    return f"{100 * p:.2f} %"


def factor(x: float) -> str:
    """A ratio: ``x 12,510``, ``x 1.02``."""
    return f"x {_digits(x)}" if x < 100 else f"x {x:,.0f}"


def count(n: int) -> str:
    """A whole number with separators."""
    return f"{n:,}"


def sentence(row: Mapping[str, Any]) -> str:
    """What a row of results says, in one sentence."""
    if not is_chance(row):
        return _gained(row)
    before, after = chance(row["prior_probabilistic"]), chance(row["posterior_probabilistic"])
    records = count(row["records"])
    if row.get("target") is not None:
        return f"{_about_one(row)} Before: {before}; after: {after}."
    if row["secret"] is None:
        n = row["singled_out"]
        end = f"{count(n)} of {records} people {'is' if n == 1 else 'are'} singled out."
    else:
        n = row["individuals_certain"]
        end = f"for {count(n)} of {records} people {row['secret']} is known with certainty."
    base = row["prior_probabilistic"]
    aside = ""
    if (
        row["secret"] is not None
        and 0.5 <= base < 1
        and row["posterior_probabilistic"] < 1.1 * base
    ):
        aside = f" {_digits(100 * base)} of 100 could be guessed without the release."
    return f"Before: {before}; after: {after}; {end}{aside}"


def heading(row: Mapping[str, Any]) -> str:
    """What the adversary wants and knows: ``Re-identification (CRS), knowing age and sex``."""
    goal = "Re-identification" if row["secret"] is None else f"Inference of {row['secret']}"
    goal = "Membership" if row["model"][1] == "M" else goal
    gain = "" if row.get("gain", "identity") == "identity" else f", gain {row['gain']}"
    return f"{goal} ({row['model']}), knowing {listed(row['qids'])}{gain}"


def is_chance(row: Mapping[str, Any]) -> bool:
    """Whether the gain of a row is the chance to be right, and not an amount."""
    kind = (row.get("gain") or "identity").partition(":")[0]
    return kind in ("identity", "tries", "tolerance")


def amount(x: float, unit: str | None) -> str:
    """A gain in its unit: ``2.5 BRL``."""
    return f"{_signed(x)} {unit}" if unit else _signed(x)


def success(row: Mapping[str, Any], x: float) -> str:
    """The success or gain of a row, for tables."""
    return percent(x) if is_chance(row) else amount(x, row.get("unit"))


def gap(row: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> str:
    """Who carries the risk: the group with the highest success beside that with the lowest."""
    worst = max(groups, key=lambda g: g["posterior_probabilistic"])
    best = min(groups, key=lambda g: g["posterior_probabilistic"])
    if worst["gap"] == 0:
        return f"No group of {worst['by']} carries more risk than another."
    high, low = ("(missing)" if g["group"] is None else g["group"] for g in (worst, best))
    most, least, between = (
        success(row, x)
        for x in (worst["posterior_probabilistic"], best["posterior_probabilistic"], worst["gap"])
    )
    return (
        f"Of the groups of {worst['by']}, {high} carries most risk ({most}) and {low} least "
        f"({least}): a gap of {between}."
    )


def _gained(row: Mapping[str, Any]) -> str:
    unit, more = row.get("unit"), row["leakage_additive"]
    before, after = row["prior_probabilistic"], row["posterior_probabilistic"]
    if row.get("target") is not None:
        return (
            f"{_about_one(row)} Before: {amount(before, unit)}; after: {amount(after, unit)} "
            "gained by the best guess."
        )
    everybody = amount(more * row["records"], unit)
    told = f"Before: {amount(before, unit)} gained per person; after: {amount(after, unit)}. "
    if more <= 0:
        return f"{told}The release is worth nothing to her."
    return (
        f"{told}"
        f"An attacker would pay up to {amount(more, unit)} per person for the release, "
        f"{everybody} for all {count(row['records'])}."
    )


def _signed(x: float) -> str:
    if x == 0:
        return "0"
    if abs(x) < 0.01:
        return f"{x:.3g}"
    return f"-{_digits(-x)}" if x < 0 else _digits(x)


def listed(names: list[str]) -> str:
    """Names in a sentence: ``age, sex and race``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _about_one(row: Mapping[str, Any]) -> str:
    matches = row["matches"]
    alike = (
        "The target is the only one with these values."
        if matches == 1
        else f"{count(matches)} of {count(row['records'])} people look like the target."
    )
    if row["secret"] is not None and row["posterior_deterministic"] == 1:
        alike += f" The value of {row['secret']} is known with certainty."
    return alike


def _digits(x: float) -> str:
    """Two significant digits behind small numbers, none behind large ones."""
    if x >= 1000:
        return f"{x:,.0f}"
    if x >= 10:
        return f"{x:.1f}".removesuffix(".0")
    return f"{x:.2f}".rstrip("0").rstrip(".")
