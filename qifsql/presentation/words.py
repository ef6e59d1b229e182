"""Numbers as sentences: natural frequencies (38 of 100), chances (1 in 2.6), percent, points.

Rounding never turns a chance into certainty or into impossibility. The words are those of the
current language (``language``).
"""

from collections.abc import Sequence
from pathlib import Path

from qifsql.adversary.laws import Law, as_decimal
from qifsql.data.types import Row
from qifsql.presentation.language import counted, number, said, spoken

SCALES = (100, 1_000, 10_000)  # of natural frequencies


def chance(p: float) -> str:
    """Return a probability in words: ``1 in 32,561``, ``97.6 of 100``, ``always``, ``never``."""
    if p <= 0:
        return said("never")
    if p >= 1:
        return said("always")
    if p > 0.9999:
        return said("more than {n} of 100", n=number("99.99"))
    if p >= 0.5:
        return said("{n} of 100", n=_of_hundred(p))
    return said("1 in {n}", n=digits(1 / p))


def compared(p: float, q: float) -> tuple[str, str]:
    """Return two chances in the same form, so that they can be compared."""
    if min(p, q) < 0.01:
        return chance(p), chance(q)
    return said("{n} of 100", n=_of_hundred(p)), said("{n} of 100", n=_of_hundred(q))


def scale(*shares: float) -> int:
    """Return the smallest of 100, 1,000 and 10,000 on which the largest share is 5 or more."""
    largest = max(shares)
    if largest <= 0:
        return SCALES[0]
    return next((of for of in SCALES if largest * of >= 5), SCALES[-1])


def frequency(p: float, of: int = 0) -> str:
    """Return a share of people as a natural frequency: ``82 of every 100``.

    ``of`` is the scale, such as 100; 0: the smallest of SCALES on which the share is 5 or more.
    Halves are rounded to even.
    """
    of, n, sign = _natural_frequency(p, of)
    if n == of:
        return said("all {n} of every {of}", n=count(n), of=count(of))
    messages = {
        -1: "fewer than {n} of every {of}",
        0: "{n} of every {of}",
        1: "more than {n} of every {of}",
    }
    return said(messages[sign], n=count(n), of=count(of))


def share(p: float, of: int = 0) -> str:
    """Return a share as a natural frequency in few words: ``38 of 100``."""
    of, n, sign = _natural_frequency(p, of)
    messages = {-1: "fewer than {n} in {of}", 0: "{n} of {of}", 1: "more than {n} of {of}"}
    return said(messages[sign], n=count(n), of=count(of))


def _natural_frequency(p: float, of: int) -> tuple[int, int, int]:
    """Return (``of``, ``n``, sign) of a share ``p``, which is about ``n`` of every ``of``.

    The sign is -1 if the share is less than ``n``, because it would be rounded to nobody, 1 if it
    is more, because it would be rounded to everybody, else 0. ``of`` 0: the scale that fits.
    """
    of = of or scale(p)
    n = round(p * of)
    if 0 < p < 1 / SCALES[-1]:
        return SCALES[-1], 1, -1
    if n == 0 and p > 0:
        return of, 1, -1
    if n == of and p < 1:
        return of, of - 1, 1
    return of, n, 0


def percent(p: float | None) -> str:
    """Return a probability in percent, for tables: ``26.27 %``; a dash for one not shown."""
    if p is None:
        return "-"
    if 0 < p < 0.00005:
        return number("< 0.01 %")
    if 0.99995 <= p < 1:
        return number("> 99.99 %")
    return number(f"{100 * p:.2f} %")


def rise(p: float) -> str:
    """Return a difference of probabilities, for tables: ``+ 26.27 pp``, percentage points."""
    return said("+ {points} pp", points=percent(p).removesuffix(" %"))


def difference(p: float) -> str:
    """Return a difference of natural frequencies: ``37.8 percentage points``."""
    if 0 < abs(p) < 0.0005:
        return said("less than {points} percentage points", points=number("0.1"))
    return said("{points} percentage points", points=number(f"{100 * p:.1f}"))


def factor(x: float) -> str:
    """Return a ratio: ``x 12,510``, ``x 1.02``."""
    return f"x {digits(x)}" if x < 100 else number(f"x {x:,.0f}")


def degradation(row: Row) -> str:
    """Return the ratio of success after and before, for tables; it may be undefined."""
    ratio = row["degradation_probabilistic"]
    return said("undefined") if ratio is None else factor(ratio)


def count(n: int | None) -> str:
    """Return a whole number with separators; a dash for one that is not shown."""
    return "-" if n is None else number(f"{n:,}")


def fixed(x: float, places: int) -> str:
    """Return a number with this number of decimals: ``0.5000``."""
    return number(f"{x:,.{places}f}")


def significant(x: float) -> str:
    """Return a number with four significant digits: ``0.5312``, ``1,024``."""
    return number(f"{x:,.4g}")


def persons(n: int) -> str:
    """Return a number of people in words: ``1 person``, ``2,000 people``, ``30 pupils``."""
    if n != 1 and spoken().people:
        return f"{count(n)} {spoken().people}"
    return counted("{n} person", "{n} people", n)


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours: ``2 seconds``, ``1.5 hours``."""
    if seconds < 90:
        return counted("{n} second", "{n} seconds", max(1, round(seconds)))
    if seconds < 5400:
        return counted("{n} minute", "{n} minutes", round(seconds / 60))
    return said("{n} hours", n=number(f"{seconds / 3600:.1f}"))


def records(n: int) -> str:
    """Return a number of records in words: ``1 record``, ``2,000 records``."""
    return counted("{n} record", "{n} records", n)


def suppressed(n: int) -> str:
    """Return a number of records that are suppressed in every quasi-identifier, and its meaning."""
    singular = "{n} record suppressed (*): it may be anybody's."
    return counted(singular, "{n} records suppressed (*): they may be anybody.", n)


def blocks(n: int) -> str:
    """Return a number of blocks in words: ``1 block``, ``2,000 blocks``."""
    return counted("{n} block", "{n} blocks", n)


def releases(n: int) -> str:
    """Return a number of releases in words: ``1 release``, ``2 releases``."""
    return counted("{n} release", "{n} releases", n)


def sentence(row: Row) -> str:
    """Return the result of a row in words; if it has a ``target``, that of one person."""
    if not is_chance(row):
        return _gain_sentence(row)
    if row.get("target") is not None:
        return f"{_target_sentence(row)} {chances(row)}."
    return f"{chances(row)}; {certain_people(row)}{base_rate(row)}"


def chances(row: Row) -> str:
    """Return the chances of a right guess before and after a release, without a full stop."""
    before, after = chance(row["prior_probabilistic"]), chance(row["posterior_probabilistic"])
    return said("Before: {before}; after: {after}", before=before, after=after)


def individuals(row: Row) -> int:
    """Return the number of people in a row; each record is one unless a column says otherwise."""
    n: int = row["records"] if row.get("people") is None else row["people"]
    return n


def certain_people(row: Row) -> str:
    """Return a sentence on the people who are singled out, or whose secret is known for certain.

    ``reported`` is in a row if some secrets are missing. ``certain_missing`` is the number of
    people whose secret is certainly missing; it is None if they were not counted apart.
    """
    values = {"records": count(individuals(row)), "people": people()}
    if row["secret"] is None:
        singular = "{n} of {records} {people} is singled out."
        plural = "{n} of {records} {people} are singled out."
        return counted(singular, plural, row["singled_out"], **values)
    values |= {"secret": row["secret"]}
    if row.get("reported") is None:
        message = "for {n} of {records} {people} {secret} is known with certainty."
        return said(message, n=count(row["individuals_certain"]), **values)
    missing = row["certain_missing"]
    if missing is None:
        message = (
            "for {n} of {records} {people} {secret} is known with certainty, or known to be "
            "missing."
        )
        text = said(message, n=count(row["individuals_certain"]), **values)
        return f"{text} {among_reported(row)}"
    message = (
        "for {n} of {records} {people} {secret} is known with certainty, and for {missing} it is "
        "known to be missing."
    )
    numbers = {"n": row["individuals_certain"] - missing, "missing": missing}
    text = said(message, **{name: count(n) for name, n in numbers.items()}, **values)
    return f"{text} {among_reported(row)}"


def among_reported(row: Row) -> str:
    """Return a sentence on the people with a reported secret."""
    values = {"secret": row["secret"], "people": people(), "reported": count(row["reported"])}
    before, after = (row[f"{n}_probabilistic_reported"] for n in ("prior", "posterior"))
    if after is None or not is_chance(row):
        return said("{secret} is reported for {reported} {people}.", **values)
    message = (
        "Of the {reported} {people} with a reported {secret}, it is certain for {n}; before: "
        "{before}; after: {after}."
    )
    before, after = chance(before), chance(after)
    return said(message, n=count(row["certain_reported"]), before=before, after=after, **values)


def base_rate(row: Row) -> str:
    """Return a sentence if most of a high success needs no release, else an empty text."""
    base = row["prior_probabilistic"]
    if row["secret"] is None or not 0.5 <= base < 1 or row["posterior_probabilistic"] >= 1.1 * base:
        return ""
    return " " + said("{n} of 100 could be guessed without the release.", n=_of_hundred(base))


def goal(row: Row) -> str:
    """Return the adversary's goal: ``Re-identification``, ``Inference of income``."""
    if row["model"][1] == "M":
        return said("Membership")
    if row["secret"] is None:
        return said("Re-identification")
    return said("Inference of {secret}", secret=row["secret"])


def heading(row: Row) -> str:
    """Return the adversary's goal and knowledge: ``Membership (CMS), knowing age and sex``."""
    message = "{goal} ({model}), knowing {qids}"
    text = said(message, goal=goal(row), model=row["model"], qids=listed(row["qids"]))
    text += known_records(row)
    if row.get("gain", "identity") == "identity":
        return text
    return text + said(", gain {gain}", gain=row["gain"])


def law_words(law: Law) -> str:
    """Return a law in words."""
    name, of = law.column, as_decimal(law.number)
    match law.kind:
        case "within":
            return said("{name} at most {n} off", name=name, n=number(of))
        case "sd":
            message = "{name} with an error of standard deviation {n}"
            return said(message, name=name, n=number(of))
        case "right":
            message = "{name} right with probability {p}, else another value"
            return said(message, name=name, p=number(of))
        case "missing":
            return said("{name} not known with probability {p}", name=name, p=number(of))
        case "table":
            return said("{name} by the table {file}", name=name, file=Path(law.table).name)
        case "matrix":
            message = "{name}, drawn by the matrix {file}"
            return said(message, name=name, file=Path(law.table).name)
    return said("{name} exactly", name=name)


def known_records(row: Row) -> str:
    """Return which records are known of a person who has several, to stand after a name."""
    texts = {"all": said(" of all records of a person"), "one": said(" of one record of a person")}
    return texts.get(row.get("known_records") or "", "")


def known_records_clause(row: Row) -> str:
    """Return which records of a person are known, as a clause at the end of a sentence."""
    texts = {
        "all": said("; all records of a person are known"),
        "one": said("; one record of a person is known"),
    }
    return texts.get(row.get("known_records") or "", "")


def is_chance(row: Row) -> bool:
    """Return whether the gain of a row is the chance of a right guess, not an amount."""
    kind = (row.get("gain") or "identity").partition(":")[0]
    return kind in ("identity", "tries", "tolerance")


def amount(x: float, unit: str | None) -> str:
    """Return a gain in its unit: ``2.5 BRL``."""
    return f"{_signed(x)} {unit}" if unit else _signed(x)


def success(row: Row, x: float) -> str:
    """Return the success or gain of a row, for tables."""
    return percent(x) if is_chance(row) else amount(x, row.get("gain_unit"))


def gap(row: Row, groups: Sequence[Row], *, hidden: bool = False) -> str:
    """Return a sentence on the groups with the highest and the lowest success, and their gap.

    ``row`` is the result; ``groups`` have a row per group of the column ``by`` (``group`` None: a
    missing value), whose ``gap`` is its success less the lowest one. ``hidden``: there are groups
    that are not shown. The sentence then is only about shown groups.
    """
    riskiest = max(groups, key=lambda g: g["posterior_probabilistic"])
    safest = min(groups, key=lambda g: g["posterior_probabilistic"])
    if riskiest["gap"] == 0:
        text = "No group of {by} has a higher risk than another."
        if hidden:
            text = "No group of {by} that is shown has a higher risk than another."
        return said(text, by=riskiest["by"])
    high, low = (missing() if g["group"] is None else g["group"] for g in (riskiest, safest))
    highest, lowest = (success(row, g["posterior_probabilistic"]) for g in (riskiest, safest))
    between = difference(riskiest["gap"]) if is_chance(row) else success(row, riskiest["gap"])
    text = (
        "Of the groups of {by}, {high} has the highest risk ({most}) and {low} the lowest "
        "({least}): a gap of {between}."
    )
    if hidden:
        text = (
            "Of the groups of {by} that are shown, {high} has the highest risk ({most}) and "
            "{low} the lowest ({least}): a gap of {between}."
        )
    values = {"by": riskiest["by"], "high": high, "low": low, "between": between}
    return said(text, most=highest, least=lowest, **values)


def people() -> str:
    """Return the word for the people: ``people``, ``pupils``."""
    return spoken().people or said("people")


def missing() -> str:
    """Return the text shown for a missing value."""
    return said("(missing)")


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence: ``age, sex and race``; an empty one is written ``""``."""
    names = [name or '""' for name in names]
    if len(names) == 1:
        return names[0]
    return said("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])


def digits(x: float) -> str:
    """Return a number with two decimals below 10, one below 1,000, and none from there on."""
    if x >= 999.95:
        return number(f"{x:,.0f}")
    if x >= 9.995:
        return number(f"{x:.1f}".removesuffix(".0"))
    return number(f"{x:.2f}".rstrip("0").rstrip("."))


def _of_hundred(p: float) -> str:
    """Return a chance as a number out of a hundred, which is a hundred only if it is certain."""
    if 0.9995 <= p < 1:
        return number("99.99" if p >= 0.9999 else f"{100 * p:.2f}")
    return digits(100 * p)


def _gain_sentence(row: Row) -> str:
    """Return the result of a row whose gain is an amount, in its unit, in words."""
    unit, gained_by_release = row.get("gain_unit"), row["leakage_additive"]  # per person
    before = amount(row["prior_probabilistic"], unit)
    after = amount(row["posterior_probabilistic"], unit)
    if row.get("target") is not None:
        message = "Before: {before}; after: {after} gained by the best guess."
        return f"{_target_sentence(row)} {said(message, before=before, after=after)}"
    text = said("Before: {before} gained per person; after: {after}.", before=before, after=after)
    if gained_by_release <= 0:
        return f"{text} {said('The release is worth nothing to the adversary.')}"
    paid = said(
        "An attacker would pay up to {each} per person for the release, {all} for all {records}.",
        each=amount(gained_by_release, unit),
        all=amount(gained_by_release * individuals(row), unit),
        records=count(individuals(row)),
    )
    return f"{text} {paid}"


def _target_sentence(row: Row) -> str:
    """Return a sentence on people who look like the target, and one if the secret is certain."""
    alike = said("The target is the only one with these values.")
    if row["matches"] != 1:
        many = "{n} of {records} {people} look like the target."
        values = {"n": count(row["matches"]), "records": count(row["records"])}
        alike = said(many, people=people(), **values)
    if row["secret"] is not None and row["posterior_deterministic"] == 1:
        message = "The value of {secret} is known with certainty."
        if row.get("certain_missing"):
            message = "It is known with certainty that the value of {secret} is missing."
        alike += " " + said(message, secret=row["secret"])
    return alike


def _signed(x: float) -> str:
    if x == 0:
        return "0"
    if abs(x) < 0.01:
        return number(f"{x:.3g}")
    return f"-{digits(-x)}" if x < 0 else digits(x)


def proved(people: int, *, sharp: bool) -> str:
    """Return a number of people of whom something is proved; more may follow if not ``sharp``."""
    if sharp:
        return count(people)
    return said("at least {n}", n=count(people)) if people else said("none proved")
