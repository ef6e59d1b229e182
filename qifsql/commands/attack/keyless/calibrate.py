"""Stay probabilities estimated from the data, and the accuracy of the best links.

A value stays with probability p. Otherwise a new value is drawn from the frequencies m(b) of the
later release, which may give the same value b again. For people known in both releases, let s be
the share whose value is the same, and c the mean of m over their earlier values. The expected s is
p + (1 - p) c, so the estimate of p is (s - c) / (1 - c), limited to [0, 1]. This is the method of
moments, over all consecutive releases.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

import polars as pl

from qifsql.adversary.transitions import Rule
from qifsql.commands.attack.keyless.chain import UNIT, Chain
from qifsql.errors import DatasetError, InputError, plural, quoted
from qifsql.query.plan import Plan, Step
from qifsql.query.splice import make_step, splice

FEWEST_PAIRS = 100  # to learn from without a key, as some are two people

LINKS: dict[str, pl.DataType] = {
    **dict.fromkeys(("step", "records", "with_candidates"), pl.Int64()),
    **dict.fromkeys(("link_vulnerability", "link_accuracy"), pl.Float64()),
}
"""One row per step from one release to the next: the records of the earlier release, those with a
candidate, the probability by the model that the best link of a record is right, and the share of
records whose best link is right (NULL without the truth)."""

CALIBRATION: dict[str, pl.DataType] = {
    **dict.fromkeys(("step", "bin", "links"), pl.Int64()),
    **dict.fromkeys(("predicted", "right"), pl.Float64()),
}
"""One row per step and probability of the best link in whole percent (rounded half to even): the
number of records with this probability, its mean, and the share of best links that are right
(equally good links count in equal shares). If the model fits, ``right`` is near ``predicted``."""


def learn(chain: Chain, rules: Sequence[Rule], *, keyed: bool) -> tuple[list[Rule], list[str]]:
    """Return the rules with learned stay probabilities, and notes on these.

    With a key, they are learned from people in both releases. Without a key, they are learned from
    pairs of records that the exactly matching columns single out in both releases. Some of these
    pairs are two people, so the estimate may be too low. Raise InputError if there are no pairs or,
    without a key, fewer than ``FEWEST_PAIRS``.
    """
    notes: list[str] = []
    learned = list(rules)
    drifting = [i for i, rule in enumerate(rules) if rule.drifts]
    for k, i in enumerate(drifting, 1):  # k: the number of the column among those that may change
        rule = rules[i]
        if rule.kind != "stay" or rule.stay is not None:
            continue
        stay, pairs = _learn_stay(chain, k, rule.column, keyed=keyed)
        learned[i] = replace(rule, stay=stay)
        whom = "of one key" if keyed else "alike in the exact columns and alone with that in both"
        notes.append(
            f"{rule.column} stays with probability {float(stay):.6g}, learned from "
            f"{plural(pairs, 'pair')} of records {whom}"
            + ("" if keyed else ": a pair may be two people, so it may be too low")
        )
    return learned, notes


def _learn_stay(chain: Chain, k: int, name: str, *, keyed: bool) -> tuple[Fraction, int]:
    """Return the probability that drifting column ``k`` (``name``) stays, and the pairs it is from.

    A value that does not stay is drawn by its frequency, and may be the same by chance. So the
    probability is (same - by chance) / (pairs - by chance).
    """
    pairs, stayed, not_by_chance = 0, Fraction(0), Fraction(0)
    for later in range(2, chain.last + 1):
        n, same, by_chance = _count_stays(chain, later, k, keyed=keyed)
        pairs += n
        stayed += same - by_chance
        not_by_chance += n - by_chance
    if not pairs:
        source = "the key finds nobody" if keyed else "no exact columns tell anybody apart"
        raise InputError(
            f"nothing says how often {quoted(name)} stays: {source} in two releases; "
            "write a number, as in stay=0.93" + ("" if keyed else ", or name a --key")
        )
    if not keyed and pairs < FEWEST_PAIRS:
        raise InputError(
            f"only {plural(pairs, 'pair')} of records are alone with their exact columns in "
            f"two releases: too few to learn how often {quoted(name)} stays; write a "
            "number, as in stay=0.93, or name a --key"
        )
    share = stayed / not_by_chance if not_by_chance else Fraction(1)
    stay = min(max(share, Fraction(0)), Fraction(1))
    return Fraction(round(float(stay), 6)).limit_denominator(10**6), pairs


def check_keys(chain: Chain, key: str) -> None:
    """Refuse a key that is not unique in every release."""
    for release in chain.releases:
        query = splice("collection/repeated", tables={"keyed": f"people_{release.number}"})
        ((repeated_keys, records, _),) = chain.tables.answer(query, "checking keys")
        if repeated_keys:
            raise DatasetError(
                f"{release.dataset.name} has {plural(records, 'record')} of "
                f"{plural(repeated_keys, 'person')} with several: key {quoted(key)} must be unique "
                "in each release; first choose one record each with qifsql anonymise --one-per"
            )


def _count_stays(chain: Chain, later: int, k: int, *, keyed: bool) -> tuple[int, int, Fraction]:
    """Count how often the value of drifting column ``k`` stays the same until release ``later``.

    Return the pairs of records of one person, how many of them have equal values, and how many are
    expected to be equal by chance. Two records of consecutive releases are of one person if they
    have one key or, without a key (``keyed``), if their exactly matching columns are equal, and no
    other record of either release has these.
    """
    column, shape = {"own": f"qid_{k}"}, {"keyed": keyed}
    identified = tuple(
        make_step(
            "keyless/identified", name, columns=column, tables={"people": people}, shape=shape
        )
        for name, people in (("mine", f"people_{later - 1}"), ("theirs", f"people_{later}"))
    )
    stays = splice("keyless/stays", columns=column, tables={"everybody": f"people_{later}"})
    plan = Plan(identified, stays)
    # ``alike`` are the later records with the earlier value, over all pairs.
    ((pairs, same, alike, total),) = chain.tables.answer(plan, "learning how often values stay")
    return int(pairs), int(same), Fraction(int(alike), int(total))


def vulnerability(chain: Chain) -> float:
    """Return the probability that the best chain of records belongs to one person.

    A chain has one record in every release. For two releases the result is the mean over records x
    of the largest link(y|x) (M62). From the last release but one to the first, ``prospects_i`` has
    for each kind of record of release i the chance that the best chain from it on is right.
    """
    last = chain.last
    query = chain.query("last_prospects", totals=f"totals_{last - 1}_{last}")
    chain.tables.make(f"prospects_{last - 1}", query)
    for i in range(last - 2, 0, -1):
        steps = chain.weighed([(i, i + 1)])
        names = {"totals": f"totals_{i}_{i + 1}", "later": f"prospects_{i + 1}"}
        chain.tables.make(f"prospects_{i}", Plan(steps, chain.query("prospects", **names)))
    right_units, _ = _sum_best_links(chain, 1, "prospects_1")
    return float(Fraction(right_units, UNIT * chain.records[0]))


def links(chain: Chain, *, truth: bool) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Return the tables ``LINKS``, a row per step, and ``CALIBRATION`` (None without ``truth``)."""
    rows, points = [], []
    for i in range(1, chain.last):
        step = chain.step("last_prospects", "prospects", totals=f"totals_{i}_{i + 1}")
        right_units, linkable = _sum_best_links(chain, i, "prospects", (step,))
        records = chain.records[i - 1]
        row: dict[str, float] = {"step": i, "records": records, "with_candidates": linkable}
        row["link_vulnerability"] = float(Fraction(right_units, UNIT * records))
        if truth:
            best_links = _best_links(chain, i)
            right = sum((link.right for link in best_links), Fraction(0))
            row["link_accuracy"] = float(right / records)
            points += _calibration_rows(i, best_links)
        rows.append(row)
    calibration = pl.DataFrame(points, schema=CALIBRATION) if truth else None
    return pl.DataFrame(rows, schema=LINKS), calibration


def _sum_best_links(
    chain: Chain, i: int, prospects: str, steps: tuple[Step, ...] = ()
) -> tuple[int, int]:
    """Return (sum over records of the chance that the best link is right, records with a link).

    The sum is in parts of a record (``UNIT``); ``i`` is the number of the earlier release.
    """
    names = {"prospects": prospects, "kinds": f"kinds_{i}"}
    plan = Plan(steps, chain.query("vulnerability", **names))
    ((mass, records),) = chain.tables.answer(plan, "measuring")
    return int(mass), int(records)


class _BestLinks(NamedTuple):
    """Records whose best link has this probability and so many ``ties``, links as good.

    ``hits`` are the records of which one of these links is right, ``right`` counts their shares.
    """

    probability: float
    ties: int
    records: int
    hits: int

    @property
    def right(self) -> Fraction:
        return Fraction(self.hits, self.ties)


def _best_links(chain: Chain, i: int) -> list[_BestLinks]:
    """Return the best links from release ``i`` to the next, compared with the keys, sorted."""
    for name, j in (("mine", i), ("theirs", i + 1)):
        names = {"people": f"people_{j}", "kinds": f"kinds_{j}"}
        chain.tables.make(name, chain.query("kinds_by_key", **names))
    weighed, totals = chain.weighed([(i, i + 1)]), f"totals_{i}_{i + 1}"
    chain.tables.make("tied", Plan(weighed, chain.query("tied", totals=totals)))
    chain.tables.make("paired", Plan(weighed, chain.query("paired")))
    query = chain.query("best_links", totals=totals)
    rows = chain.tables.rows(query, "comparing links with the truth")
    chain.tables.drop("mine", "theirs", "tied", "paired")
    return [_BestLinks(float(p), int(ties), int(n), int(hits)) for p, ties, n, hits in sorted(rows)]


def _calibration_rows(step: int, best_links: Sequence[_BestLinks]) -> list[dict[str, object]]:
    """Return the rows of ``CALIBRATION`` of a step: the sorted best links, by percent."""
    rows: list[dict[str, object]] = []
    for percent, links_of_bin in groupby(best_links, key=lambda b: round(100 * b.probability)):
        group = list(links_of_bin)
        n = sum(b.records for b in group)
        predicted = sum((Fraction(b.probability) * b.records for b in group), Fraction(0)) / n
        right = sum((b.right for b in group), Fraction(0)) / n
        row = {"step": step, "bin": percent, "links": n}
        rows.append(row | {"predicted": float(predicted), "right": float(right)})
    return rows
