"""Options of ``levels``, and required levels as exact numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, get_args

from qifsql.adversary.options import QIDS, AnyNull, Sets, Where, secret_option
from qifsql.data.dataset import Tabular
from qifsql.data.hierarchy import Hierarchy
from qifsql.data.option import (
    DATA,
    DATASET,
    DETAILS,
    FLAG,
    NUMBER,
    NUMBERS,
    OF_SECRETS,
    Option,
    one_of,
)
from qifsql.errors import InputError, plural, quoted

Number = int | float | str | Fraction | Decimal
Suppressed = Literal["everyone", "block", "out"]
SUPPRESSED = get_args(Suppressed)
PANEL = "Required levels"
DIGITS = 30  # the largest exponent of ten of a required level


def _level(summary: str, text: str = "") -> Option:
    """Return an option that requires one level."""
    return Option(NUMBER, summary, text=text, panel=PANEL)


def _levels(summary: str, text: str = "") -> Option:
    """Return an option that requires a level, and takes several numbers."""
    return Option(NUMBERS, summary, text=text, panel=PANEL)


class LevelOptions(Sets, total=False):
    """Options of ``levels``: the partition, and the levels that each block must meet.

    There are no weights, so each person counts once. Records with the text ``*`` in all
    quasi-identifiers are suppressed.
    """

    qids: Annotated[str | Sequence[str], QIDS]
    secret: Annotated[
        str | Sequence[str],
        secret_option("Secrets (sensitive attributes); without one only k is measured."),
    ]
    where: Where
    null: AnyNull
    hierarchy: Annotated[
        Mapping[str, str | Path | Hierarchy],
        Option(
            OF_SECRETS,
            "SECRET=FILE: hierarchy of the secret, lines value;level;level. With one secret: FILE.",
            text="Secret to the file of its hierarchy, lines value;level;level, for "
            "hierarchical t-closeness and similarity.",
        ),
    ]
    population: Annotated[
        Tabular | None,
        Option(DATASET, "Population file, for k-map and delta-presence.", panel=DATA),
    ]
    suppressed: Annotated[
        Suppressed,
        Option(
            one_of(*SUPPRESSED),
            "Fully suppressed records: everyone (may be anybody's), block (like others) or out.",
            panel=DATA,
        ),
    ]
    skew: Annotated[
        Number,
        Option(
            NUMBER,
            "Skewness attack: succeeds where a value is this many times as likely as overall.",
            text="Factor above which a value's share in a block counts as skewed; at least 1.",
            usual="2",
        ),
    ]
    show_blocks: Annotated[
        bool,
        Option(
            form=FLAG,
            help="Show the worst blocks with their quasi-identifiers and rare values "
            "(contains cells).",
            panel=DETAILS,
            typed=False,  # the command itself adds it, at the end of its help
        ),
    ]
    k: Annotated[
        Number | Sequence[Number] | None,
        _levels("Require k-anonymity: people per block >= K; several as in 2,3,5."),
    ]
    l: Annotated[  # noqa: E741 - the field's own letter
        Number | None, _level("Require distinct l-diversity: distinct secrets per block >= L.")
    ]
    l_entropy: Annotated[
        Number | None,
        _level("Require entropy l-diversity: exp(entropy) of the secret per block >= L."),
    ]
    c: Annotated[
        Number | None, _level("The C of recursive (c, l)-diversity, r_1 < C (r_l + ... + r_m).")
    ]
    l_recursive: Annotated[
        Number | Sequence[Number] | None,
        _levels(
            "C,L: require recursive (c, l)-diversity; or L, the l of --c (default: --l).",
            text='"C,L": recursive (c, l)-diversity; or only the l of c, which is by '
            "default l, else the fewest values of any block.",
        ),
    ]
    t: Annotated[
        Number | None,
        _level(
            "Require t-closeness: distance of any block from the release <= T.",
            text="Require t-closeness: distance of any block from the release <= t, in [0, 1].",
        ),
    ]
    alpha: Annotated[
        Number | None,
        _level("Require (alpha, k)-anonymity: share of any value in a block <= ALPHA."),
    ]
    beta: Annotated[
        Number | None,
        _level("Require basic beta-likeness: largest relative gain of any value in a block."),
    ]
    enhanced_beta: Annotated[
        Number | None,
        _level("Require enhanced beta-likeness: that gain, at most -ln of the value's share."),
    ]
    delta: Annotated[
        Number | None, _level("Require delta-disclosure privacy: |ln(q / p)| of any value < DELTA.")
    ]
    k_map: Annotated[
        Number | None, _level("Require k-map: people of the population per block >= K.")
    ]
    presence_min: Annotated[
        Number | None,
        _level("Require delta-presence: share of a population block in the release >= this."),
    ]
    presence_max: Annotated[Number | None, _level("Require delta-presence: that share <= this.")]


@dataclass(frozen=True)
class Measure:
    """A measure: the option that requires a level of it, its safe direction, and its limit.

    ``strict``: the required level itself is a violation. ``of_population``: it needs a population.
    """

    name: str
    aim: str | None
    higher_is_safer: bool = False
    strict: bool = False
    of_population: bool = False


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("k", "k", higher_is_safer=True),
        Measure("average_class_size", None, higher_is_safer=True),
        Measure("k_map", "k_map", higher_is_safer=True, of_population=True),
        Measure("delta_presence_min", "presence_min", higher_is_safer=True, of_population=True),
        Measure("delta_presence_max", "presence_max", of_population=True),
        Measure("l_distinct", "l", higher_is_safer=True),
        Measure("l_entropy", "l_entropy", higher_is_safer=True),
        Measure("l_recursive_c", "c", strict=True),
        Measure("t_equal", "t"),
        Measure("t_ordered", "t"),
        Measure("t_hierarchical", "t"),
        Measure("alpha", "alpha"),
        Measure("basic_beta", "beta"),
        Measure("enhanced_beta", "enhanced_beta"),
        Measure("delta_disclosure", "delta", strict=True),
    )
}
"""The measures in the order of their rows; those before ``l_distinct`` are about no secret."""

_WHOLE = ("k", "l", "l_recursive", "k_map")
_ABOVE = ("c", "alpha", "delta")  # no release can meet 0 itself
BOUNDS: Mapping[str, tuple[int, int | None]] = {
    **dict.fromkeys(("k", "l", "l_entropy", "l_recursive"), (1, None)),
    "c": (0, None),
    **dict.fromkeys(("t", "alpha"), (0, 1)),
    **dict.fromkeys(("beta", "enhanced_beta", "delta"), (0, None)),
    "k_map": (1, None),
    **dict.fromkeys(("presence_min", "presence_max"), (0, 1)),
}
"""The least and the largest number of each required level; None: no limit."""


def read_levels(options: Mapping[str, object]) -> dict[str, Fraction]:
    """Return the required levels as fractions, of several k the largest; InputError if wrong."""
    single = dict(options) | _split_recursive(options)
    if numbers := required_k(options):
        single["k"] = numbers[-1]
    thresholds = {
        name: _level_number(name, value)
        for name, value in single.items()
        if name in BOUNDS and value not in (None, ())
    }
    if "l_recursive" in thresholds and "c" not in thresholds:
        raise InputError("l_recursive is the l of (c, l)-diversity; name c, too, as in 3,2")
    low, high = thresholds.get("presence_min"), thresholds.get("presence_max")
    if low is not None and high is not None and low > high:
        raise InputError("presence_min is above presence_max; swap them")
    return thresholds


def required_k(options: Mapping[str, object]) -> tuple[Fraction, ...]:
    """Return all required k in ascending order, each once."""
    return tuple(sorted({_level_number("k", value) for value in _numbers(options.get("k"))}))


def _split_recursive(options: Mapping[str, object]) -> dict[str, object]:
    """Return c and l of recursive diversity, which are written in one option or in two."""
    parts = _numbers(options.get("l_recursive"))
    if len(parts) > 2 or (len(parts) == 2 and options.get("c") is not None):
        raise InputError("recursive (c, l)-diversity has one c and one l; write them as 3,2")
    if len(parts) == 2:
        return {"c": parts[0], "l_recursive": parts[1]}
    return {"l_recursive": parts[0]} if parts else {}


def _numbers(value: object) -> Sequence[object]:
    """Return the numbers, as they were written, of an option that takes several: ``2,3,5``."""
    if value is None:
        return []
    if isinstance(value, str):
        return value.split(",")
    if not isinstance(value, Sequence):
        return [value]
    numbers: list[object] = []
    for part in value:
        numbers += part.split(",") if isinstance(part, str) else [part]
    return numbers


def check_possible(
    thresholds: Mapping[str, Fraction], records: int, values: Mapping[str, int]
) -> None:
    """Refuse levels above the number of ``records``, or of the ``values`` of a secret."""
    if thresholds.get("k", 0) > records:
        raise InputError(
            f"k = {thresholds['k']} is above the number of records, {records:,}: no block can have "
            "so many people; require a smaller k"
        )
    for name in ("l", "l_entropy", "l_recursive"):
        for secret, number in values.items():
            if thresholds.get(name, 0) > number:
                raise InputError(
                    f"{name} = {level_text(thresholds[name])} is above the "
                    f"{plural(number, 'value')} that secret {quoted(secret)} has in the release: "
                    f"no block can have so many; require at most {number}"
                )


def level_text(number: Fraction) -> str:
    """Return a required level as text: ``5``, ``0.2``."""
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.12g}"


def _level_number(name: str, value: object) -> Fraction:
    """Return a required level as an exact number; InputError if it is not one in its range."""
    number = exact(value)
    low, high = BOUNDS[name]
    kind = "a whole number" if name in _WHOLE else "a number"
    above_zero = name in _ABOVE
    span = "above 0" if above_zero else f"from {low}"
    if high is not None:
        span += f", up to {high}" if above_zero else f" to {high}"
    fits = number is not None and number >= low and (high is None or number <= high)
    fits = fits and not (above_zero and number == 0)
    if number is None or not fits or (name in _WHOLE and number.denominator != 1):
        raise InputError(f"{name} is {kind} {span}; {quoted(str(value))} is none")
    return number


def exact(value: object) -> Fraction | None:
    """Return the exact number that was written (0.2 is 1/5); None if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction | Decimal):
        return None
    try:
        if isinstance(value, Fraction):
            return value
        written = Decimal(str(value).strip())
        if not written.is_finite() or abs(written.adjusted()) > DIGITS:
            return Fraction() if written == 0 else None
        return Fraction(written)
    except (InvalidOperation, ValueError):
        return None
