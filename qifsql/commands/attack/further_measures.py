"""Results beyond success: measures of information, distributions over people, groups."""

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

import polars as pl

from qifsql.adversary.spec import BoundAttack
from qifsql.commands.attack import households
from qifsql.commands.attack.extras import Extras
from qifsql.counting.counts import Counts
from qifsql.errors import InputError, quoted
from qifsql.measures import anonymity_loss, channel_measures, register_links
from qifsql.measures.bayes import success
from qifsql.measures.profile import Profile
from qifsql.query.compiler import Question
from qifsql.results.assessment import DETAILS, MEASURES

Profiles = Mapping[Question, Profile]
MOST_GROUPS = 10_000  # in one table
MOST_PAIRS = 20_000_000  # of values in one block, over all blocks, for the Bayes security
PROBABILITY_GAINS = ("identity", "tries", "tolerance")  # gain functions whose gain is a probability
CHANNEL_MEASURES = frozenset({"shannon", "guessing", "capacity", "pointwise", "security"})
"""Measures of the channel from secrets to blocks."""


def measures_of_channel(
    counts: Counts, extras: Extras, secret: int, prior: Profile, after: Profile
) -> dict[str, Any]:
    """Return the requested measures of a secret's channel by column (0: the record itself)."""
    values: dict[str, Any] = {}
    if {"shannon", "guessing"} & set(extras.measures):
        entropies = _entropies(counts, secret, prior, after)
        requested = {column for name in extras.measures for column in MEASURES[name]}
        values |= {column: value for column, value in entropies.items() if column in requested}
    if "capacity" in extras.measures:
        values |= _capacity(counts, secret, after)
    if "pointwise" in extras.measures:
        values |= _pointwise(counts, secret, after)
    if "security" in extras.measures:
        values |= {"bayes_security": _security(counts, secret, after)}
    return values


def measures_of_blocks(
    counts: Counts, extras: Extras, secret: int, after: Profile
) -> dict[str, Any]:
    """Return the requested measures of blocks by column: risks, k and l (None for secret 0)."""
    values: dict[str, Any] = {}
    if "risks" in extras.measures:
        values |= _risks(counts, secret, after, population=extras.population is not None)
    if "anonymity" in extras.measures:
        values |= {"k": after.least("size"), "l": after.least("values") if secret else None}
    return values


def details(
    counts: Counts, questions: Sequence[Question], extras: Extras, prior: Profiles
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the requested details by name; each names its question (secret, gain)."""
    names = ["histogram"] if extras.histogram else []
    names += [name for name in ("thresholds", "quantiles") if getattr(counts.bound, name)]
    tables = _distributions(counts, questions, names, prior)
    if extras.value_chances:
        tables["value_chances"] = _value_chances(counts, questions)
    if counts.bound.microdata.household is not None:
        tables["households"] = households.risks(counts, questions)
    if counts.bound.microdata.by:
        tables["groups"] = _groups(counts, questions, prior)
        if "capacity" in extras.measures:
            tables["group_capacity"] = _group_capacity(counts, questions, tables["groups"])
    return tables


def check_value_chances(bound: BoundAttack) -> None:
    """Refuse an attack in which the chances of values are not shares of counted people."""
    microdata = bound.microdata
    if not microdata.secrets:
        raise InputError("value chances are about a secret; name one (--secret)")
    for name, is_given in (
        ("weights", microdata.weight is not None),
        ("beliefs", bound.beliefs),
        ("suppressed records", microdata.suppressed),
        ("people with several records", microdata.person),
    ):
        if is_given:
            raise InputError(f"value chances take no {name}; leave one of the two out")


def _value_chances(counts: Counts, questions: Sequence[Question]) -> list[dict[str, Any]]:
    """Return the rows of the chances of values of each secret, the rarest values first (M216)."""
    rows = []
    for question in ((j, gain) for j, gain in questions if j and not gain):  # gain 0 is identity
        of_secret = counts.frame("value_chances", [question]).to_dicts()
        of_secret.sort(key=lambda row: (row["people"], row["value"] is None, str(row["value"])))
        everybody = sum(row["people"] for row in of_secret)
        for row in of_secret:
            row |= {"value": None if row["value"] is None else str(row["value"])}
            row |= {"prior": row["people"] / everybody, "individuals": row["people"]}
        rows += of_secret
    return rows


def _entropies(counts: Counts, secret: int, prior: Profile, after: Profile) -> dict[str, Any]:
    """Return Shannon entropy in bits and guessing entropy, before and after (thesis appendix B).

    Guessing entropy is the expected number of guesses until the right one, if the most
    likely value is guessed first. Secret 0 is whose record it is: it follows from the sizes of the
    blocks in the profiles. Entropies of other secrets, and those with weights, are summed in SQL.
    """
    values: dict[str, Any] = {}
    weighted = counts.bound.microdata.weight is not None or secret in counts.bound.beliefs
    for when, profile in (("prior", prior), ("posterior", after)):
        if not secret and not counts.bound.microdata.weight:
            bits = channel_measures.owner_entropy(profile)
            guesses = float(channel_measures.owner_guessing(profile))
        else:
            questions = [(secret, 0)]
            row = counts.frame("uncertainty", questions, prior=when == "prior").row(0, named=True)
            bits, guesses = row["entropy"], float(row["guessing"])
            if not weighted:  # the view has the sum over people, not the mean
                guesses = int(row["guessing"]) / profile.individuals
        values |= {f"{when}_entropy": bits, f"{when}_guessing": guesses}
    return values | {"mutual_information": values["prior_entropy"] - values["posterior_entropy"]}


def _capacity(counts: Counts, secret: int, after: Profile) -> dict[str, Any]:
    """Return the multiplicative Bayes capacity, a factor, and its bits; None for one target."""
    if counts.bound.target:
        return {"capacity": None, "capacity_bits": None}
    factor = float(after.blocks)  # of re-identification, secret 0
    if secret:
        pairs = counts.frame("capacity", [(secret, 0)]).select("people", "everybody").rows()
        factor = channel_measures.capacity((int(n), int(everybody)) for n, everybody in pairs)
    return {"capacity": factor, "capacity_bits": math.log2(factor)}


def _pointwise(counts: Counts, secret: int, after: Profile) -> dict[str, Any]:
    """Return the spread over people of the pointwise maximal leakage; None if undefined here.

    It is the logarithm of a ratio: the largest share of a value in the block over that in all.
    """
    names = MEASURES["pointwise"]
    if _is_undefined(counts, secret):
        return dict.fromkeys(names)
    everybody = after.individuals
    if secret:  # a row per kind of block, about the value whose share rises most in it
        rows = counts.frame("pointwise", [(secret, 0)])
        rows = rows.select("size", "people", "everybody", "blocks")  # with it: here, in all blocks
        ratios = [
            (Fraction(people * everybody, size * with_value), size * blocks)
            for size, people, with_value, blocks in rows.rows()
        ]
    else:
        rows = after.frame.select("size", "blocks")
        ratios = [(Fraction(everybody, size), size * blocks) for size, blocks in rows.rows()]
    return dict(zip(names, channel_measures.leakage(ratios), strict=True))


def _security(counts: Counts, secret: int, after: Profile) -> float | None:
    """Return the Bayes security; None if undefined here, or if too many pairs are to be compared.

    Of re-identification it is 0 as soon as there are two blocks: two people in different blocks
    are told apart.
    """
    if _is_undefined(counts, secret):
        return None
    if not secret:
        return 1.0 if after.blocks == 1 else 0.0
    n_values = counts.domain(secret).values
    rows = after.frame.select("values", "blocks").rows()
    n_pairs = sum(blocks * n * (n - 1) // 2 for n, blocks in rows)  # of values in one block
    if n_pairs < n_values * (n_values - 1) // 2:
        return 0.0  # some two values are in no block together
    if n_pairs > MOST_PAIRS:
        return None
    row = counts.frame("security", [(secret, 0)]).row(0, named=True)
    if not row["pairs"]:  # no two values are in a block, so there is no least overlap
        return channel_measures.security(n_values, 0, Fraction())
    overlap = Fraction(int(row["overlap"]), int(row["product"]))
    return channel_measures.security(n_values, row["pairs"], overlap)


def remarks(counts: Counts, extras: Extras, profiles: Profiles) -> list[str]:
    """Return remarks on measures that have no value here."""
    names = [name for name in ("pointwise", "security") if name in extras.measures]
    if not names or counts.bound.target:
        return []
    if any(_is_undefined(counts, j) for j, _ in profiles):
        return [f"{' and '.join(names)}: not computed with weights or a prior from a file"]
    by_secret = {j: after for (j, _), after in profiles.items() if j and "security" in names}
    return [
        f"bayes_security of {quoted(counts.bound.microdata.secrets[j - 1].name)} is not computed: "
        f"more than {MOST_PAIRS:,} pairs of values are in one block; use a coarser secret"
        for j, after in by_secret.items()
        if _security(counts, j, after) is None
    ]


def _is_undefined(counts: Counts, secret: int) -> bool:
    """Return whether measures of counts of people are undefined: of one target, with weights."""
    bound = counts.bound
    return bool(bound.target) or bound.microdata.weight is not None or secret in bound.beliefs


def _risks(counts: Counts, secret: int, after: Profile, *, population: bool) -> dict[str, Any]:
    """Return the re-identification risks of disclosure control, by name; None for a secret."""
    names = ("prosecutor_risk", "journalist_risk", "marketer_risk")
    if secret:
        return dict.fromkeys(names)
    highest = register_links.highest(int(after.frame["size"].min()))  # type: ignore[arg-type]
    if not population:
        share = register_links.marketer(after.blocks, after.individuals)
        return dict(zip(names, (highest, None, share), strict=True))
    row = counts.frame("journalist", [(0, 0)]).row(0, named=True)
    if row["too_small"]:
        raise InputError(
            f"the population has fewer people than the release in {row['too_small']:,} of "
            f"{after.blocks:,} blocks; it must contain everybody who may be in the release"
        )
    return dict(zip(names, (highest, row["highest"], row["mean"]), strict=True))


def _distributions(
    counts: Counts, questions: Sequence[Question], names: Collection[str], prior: Profiles
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of histogram, thresholds and quantiles, by name; each names its question."""
    chances = [(j, g) for j, g in questions if counts.bound.gain(g).kind in PROBABILITY_GAINS]
    questions_of = {
        "histogram": chances,  # its bins are percentages
        # The claims of somebody who is sure tell those of identity (0).
        "thresholds": [(j, g) for j, g in questions if g],
        "quantiles": questions,
    }
    tables: dict[str, list[dict[str, Any]]] = {}
    for name in names:
        of_name = questions_of[name]
        tables[name] = counts.frame(name, of_name).to_dicts() if of_name else []
    for row in tables.get("thresholds", ()):
        row["share"] = row["individuals"] / prior[row["secret"], row["gain"]].individuals
    if "histogram" in tables:
        tables["histogram"] = _with_empty_bins(tables["histogram"])
    return {name: _in_order(rows, questions) for name, rows in tables.items()}


def _with_empty_bins(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a histogram with a row for each percent from 0 to 100 of each question."""
    individuals = {(r["secret"], r["gain"], r["bin"]): r["individuals"] for r in rows}
    return [
        {"secret": j, "gain": g, "bin": b, "individuals": individuals.get((j, g, b), 0)}
        for j, g in dict.fromkeys((r["secret"], r["gain"]) for r in rows)
        for b in range(101)
    ]


def sure(
    bound: BoundAttack,
    steps: Sequence[pl.DataFrame],
    prior: Profiles,
    thresholds: Sequence[dict[str, Any]],
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the details ``thresholds``, ``sure`` and ``sure_curve``.

    They are about an adversary who speaks only about people whose secret she is sure of to some
    degree. ``steps`` has tables of the people by her success (``claims.steps``): of everybody, then
    of those who report a secret. ``thresholds`` has rows for gain functions other than identity,
    which are made elsewhere.
    """
    parts = [t.with_columns(gain=0, of_reported=pl.lit(i > 0)) for i, t in enumerate(steps)]
    keys = ["secret", "gain", "of_reported"]
    # Whether claims are whole people: not with weights, nor with a prior from a file.
    without_weights = pl.lit(bound.microdata.weight is None)
    in_people = without_weights & ~pl.col("secret").is_in([*bound.beliefs])
    curve = anonymity_loss.curve(pl.concat(parts), keys, in_people=in_people)
    claims = anonymity_loss.at_thresholds(curve, [float(t) for t in bound.thresholds], keys)
    rows = [*thresholds]
    for line in claims.filter(~pl.col("greatest"), ~pl.col("of_reported")).to_dicts():
        people = prior[line["secret"], 0].individuals
        rows.append(line | {"individuals": line["claims"], "share": line["claims"] / people})
    return {
        "thresholds": _in_order(rows, list(prior)),
        "sure": claims.to_dicts(),
        "sure_curve": anonymity_loss.by_percent(curve, keys).to_dicts(),
    }


def _groups(counts: Counts, questions: Sequence[Question], prior: Profiles) -> list[dict[str, Any]]:
    """Return a row for each question and group: its success, and the gap to the least success."""
    by = counts.bound.microdata.by
    rows = counts.frame("groups", questions).to_dicts()
    if len(rows) > MOST_GROUPS * len(questions):
        raise InputError(
            f"{by.name if by else ''} makes more than {MOST_GROUPS:,} groups; group its values by "
            "an expression, as in --by NAME=value//10"
        )
    of_secrets = [(j, g) for j, g in questions if j and not g]  # gain 0 is identity
    right = counts.frame("guessed_right", of_secrets).to_dicts() if of_secrets else []
    guessed_right = {(r["secret"], 0, r["member_of"]): r["guessed_right"] for r in right}
    lowest: dict[Question, float] = {}  # the least success of a question in any group
    for row in rows:
        q = row["secret"], row["gain"]
        lowest[q] = min(lowest.get(q, math.inf), row["probabilistic"])
    for row in rows:
        q = row["secret"], row["gain"]
        before, after = float(success(prior[q], *q).probabilistic), row["probabilistic"]
        row |= {
            "by": by.name if by else None,
            "group": row["member_of"],
            "individuals_certain": row["certain"],
            "posterior_deterministic": row["deterministic"],
            "prior_probabilistic": before,
            "posterior_probabilistic": after,
            "degradation_probabilistic": after / before if before else None,
            "gap": after - lowest[q],
            "guessed_right": guessed_right.get((*q, row["member_of"])),
        }

    def order(row: Mapping[str, Any]) -> tuple[object, ...]:  # of equal success, missing is last
        place, group = questions.index((row["secret"], row["gain"])), row["group"]
        return place, -row["probabilistic"], group is None, str(group)

    return sorted(rows, key=order)


def _group_capacity(
    counts: Counts, questions: Sequence[Question], groups: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows of ``groups`` with the capacity of each group (M171)."""
    identity = sorted({(j, 0) for j, _ in questions})  # no gain function changes a capacity
    people_by_group: dict[tuple[int, Any], list[tuple[int, int]]] = {}
    for row in counts.frame("group_capacity", identity).iter_rows(named=True):
        pair = int(row["people"]), int(row["everybody"])  # with a value: in the group, in all
        people_by_group.setdefault((row["secret"], row["member_of"]), []).append(pair)
    capacities = {key: channel_measures.capacity(n) for key, n in people_by_group.items()}
    rows = []
    for group in groups:
        factor = capacities.get((group["secret"], group["member_of"]))
        bits = None if factor is None else math.log2(factor)
        rows.append(dict(group) | {"capacity": factor, "capacity_bits": bits})
    return rows


def detail_table(
    name: str, rows: Sequence[Mapping[str, Any]], ids: Mapping[Question, str]
) -> pl.DataFrame:
    """Return a table of details with the columns of its schema; ``ids`` join it to results."""
    lines = [dict(row) | {"attack_id": ids[row["secret"], row["gain"]]} for row in rows]
    return pl.DataFrame(lines, schema=DETAILS[name])


def _in_order(rows: list[dict[str, Any]], questions: Sequence[Question]) -> list[dict[str, Any]]:
    """Return rows of details by question, then by bin, threshold or quantile."""

    def order(row: Mapping[str, Any]) -> tuple[int, float]:
        within = row.get("bin", row.get("threshold", row.get("quantile")))
        return questions.index((row["secret"], row["gain"])), float(within or 0)

    return sorted(rows, key=order)
