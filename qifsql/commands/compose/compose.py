"""Composition: the joint disclosure of independent sanitised releases about people in all of them.

The intersection attack of Ganta et al. (Algorithm 1): the adversary knows the raw quasi-identifiers
of people, finds their classes in each release, and keeps the values of the secret that occur in all
of them. The adversary's Bayesian posterior is computed, too: the product of the frequencies of each
value in the classes, normalised, and the probability that the best guess is right.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Unpack

import polars as pl

from qifsql.commands.compose import intersect
from qifsql.commands.compose.intersect import Step, plan_people, read_people, read_secrets
from qifsql.commands.compose.spec import ComposeOptions
from qifsql.counting.composition import Bound, Composition, Release
from qifsql.counting.release_columns import bind
from qifsql.data.dataset import Tabular
from qifsql.data.exact import exact
from qifsql.data.files import path_text
from qifsql.data.option import as_names, complete
from qifsql.data.readers import openings
from qifsql.data.types import Row
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, plural, quoted
from qifsql.results.result import Result
from qifsql.results.storage import Origin, stream, streamed_place

MOST_EXACT = 500  # denominators to add as fractions; more are added as floats, rounded once
TOGETHER, MOST_REVEALING = 0, -1  # numbers of rows about all releases, and each person's worst

SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(("releases", "people", "located", "contradictions"), pl.Int64()),
    **dict.fromkeys(("effective_prior", "effective_posterior", "drop"), pl.Float64()),
    "vulnerable": pl.Int64(),
    "vulnerable_share": pl.Float64(),
    "perfect_breach": pl.Int64(),
    "perfect_breach_share": pl.Float64(),
    "perfect_breach_before": pl.Int64(),
    **dict.fromkeys(("prior_success", "posterior_success"), pl.Float64()),
}
"""One row for all releases together (progressive: one for the first, the first two, ...).

``people`` are the overlap; ``located`` are in a class of each release (or may be among suppressed
records); ``contradictions`` are located, but no value of the secret is left for them. Averages are
over located people without contradiction (NULL if there are none). ``effective_prior`` is the
average of the fewest distinct secrets in one release (Ganta et al., Definition 8),
``effective_posterior`` of the number of secrets in all releases, ``drop`` of the difference.
``vulnerable``: people with a positive drop. ``perfect_breach``: people with one value left;
``perfect_breach_before``: those of them for whom one release was enough. Shares are of ``people``.
``prior_success`` and ``posterior_success``: probability that the best guess is right, from the most
revealing release and from all together (products of class-conditional frequencies, normalised)."""

RELEASES: dict[str, pl.DataType] = {
    "release": pl.String(),
    **dict.fromkeys(("records", "classes", "smallest_class", "suppressed"), pl.Int64()),
    **dict.fromkeys(("in_one_class", "in_several", "in_no_class", "only_suppressed"), pl.Int64()),
    **dict.fromkeys(("by_nearest", "rightly_located", "rightly_nearest"), pl.Int64()),
    **dict.fromkeys(("partition_size", "effective_anonymity", "drop"), pl.Float64()),
    "vulnerable": pl.Int64(),
    "vulnerable_share": pl.Float64(),
    "perfect_breach": pl.Int64(),
    **dict.fromkeys(("success", "baseline"), pl.Float64()),
}
"""One row per release. ``smallest_class``: its k. ``suppressed``: records whose cells all stand for
everything. People of the overlap are ``in_one_class``, ``in_several``, ``in_no_class`` (not
located), or ``only_suppressed`` (in no class, but they may be among suppressed records). With
``nearest``, ``by_nearest`` of those in a class are located by the nearest one; with a key, too,
``rightly_located`` are in the class of their own record (or in several with it), and
``rightly_nearest`` of these by the nearest one; else these are NULL. Averages
are over the same people as in ``SCHEMA``: ``partition_size`` of the records of a person's class,
``effective_anonymity`` of the distinct secrets in it, ``drop`` of this number minus the posterior.
``vulnerable``: people with a positive drop. ``perfect_breach``: people for whom this release is
enough. ``success``: probability that the best guess from this release alone is right.
``baseline``: share of its most frequent secret."""

COUNT, NUMBER = pl.Int64(), pl.Float64()
CURVE: dict[str, pl.DataType] = {
    **{"releases": COUNT, "confidence": NUMBER, "people_before": COUNT, "share_before": NUMBER},
    **{"people": COUNT, "share": NUMBER, "people_guessed": COUNT, "share_guessed": NUMBER},
}
"""One row per level of confidence. ``people``: those with so few values left that each has at least
this probability (Ganta et al., Definition 9). ``people_before``: the same with the most revealing
release alone. ``people_guessed``: those whose best guess is right with at least this probability
(NULL if not computed). Shares are of the overlap; people who are not located and contradictions
never count."""

TRUTH: dict[str, pl.DataType] = {
    **dict.fromkeys(("located", "true_value_left"), pl.Int64()),
    "true_value_left_share": pl.Float64(),
    **dict.fromkeys(("perfect_breach", "perfect_breach_right", "best_guess_right"), pl.Int64()),
    "best_guess_right_share": pl.Float64(),
}
"""One row if the true secrets are known, over people located without contradiction: the people
whose true value is left, the perfect breaches that are right, and the best guesses (of equally
likely values the smallest) that are right. Shares are of ``located``."""
LOCATED_NEAREST = ("by_nearest", "rightly_located", "rightly_nearest")
USUAL_LEVELS = tuple(Fraction(n, 20) for n in range(1, 21))  # of confidence
SUPPRESSED_TEXTS = {
    "everyone": "may be anybody's, so their secrets are in every class",
    "out": "left out",
}
FORMER_NAMES = {"candidates": "everyone", "ignored": "out"}  # of the values of ``suppressed``


def compose(
    releases: Sequence[Tabular],
    *,
    settings: Settings | None = None,
    **options: Unpack[ComposeOptions],
) -> Result:
    """Run the composition (intersection) attack on several sanitised releases.

    Cells of releases may be values or generalised: * [20,30] 20-29 <30 130** {a,b} or a node of a
    hierarchy.

    Args:
        releases: The sanitised releases, each as the source of an attack.

    Returns:
        A Result. frame: one row per secret with the people for whom one value remains, mean
        number of candidates and expected success. details: releases (each alone), curve (people
        by confidence) and, with the truth, truth (how often the best guess is right).

    Raises:
        InputError: A name, type or option does not fit the data; the message says what to try.
        OutputError: records cannot be written.

    Example:
        >>> people = pl.DataFrame({"age": [20, 24, 31], "ill": ["a", "b", "b"]})
        >>> one = pl.DataFrame({"age": ["[20,24]", "[20,24]", "31"], "ill": ["a", "b", "b"]})
        >>> two = pl.DataFrame({"age": ["20", "[24,31]", "[24,31]"], "ill": ["a", "b", "b"]})
        >>> result = qifsql.compose([one, two], people=people, qids="age", secret="ill")
        >>> result.frame["people"].item()
        3

    Source: M66 and M67; Ganta et al. 2008.

    """
    origin = Origin.now(settings, "compose")
    options = complete(options, ComposeOptions)
    levels = _parse_confidence(options["confidence"])
    spec = Composition.of(
        releases,
        options["people"],
        qids=as_names(options["qids"]),
        secrets=as_names(options["secret"]),
        keys=as_names(options["key"] or ()),
        truth=options["truth"],
        where=options["where"],
        hierarchies={n: path_text(path) for n, path in (options["hierarchies"] or {}).items()},
        plain=as_names(options["plain"]),
        suppressed=FORMER_NAMES.get(options["suppressed"], options["suppressed"]),
        nearest=options["nearest"],
        strict=options["strict"],
    )
    files = (spec.people, *spec.releases)
    paths = tuple(dict.fromkeys((*(p for d in files for p in d.paths), *spec.hierarchies.values())))
    out = streamed_place(options["records"], paths)
    outputs = [] if out is None else [out]
    with open_engine(
        settings, sources=files, outputs=outputs, ordered=out is not None, command="compose"
    ) as engine:
        bound = bind(engine, spec)
        tables = Tables(engine, "reading people", bound.people.name)
        read_secrets(tables, bound)
        knows_own_records = spec.nearest and bound.key is not None
        people = read_people(tables, bound, keyed=knows_own_records or out is not None)
        findings = [intersect.find_people(tables, bound, release) for release in bound.releases]
        if spec.strict:
            intersect.refuse_unlocated(bound, findings)
        crossed = intersect.intersect_releases(
            tables, bound, findings, levels, every=options["progressive"]
        )
        description = _describe(bound, levels)
        inputs = (bound.people, *(release.dataset for release in bound.releases))
        opened = openings(*inputs)
        statements = [*opened, "SET TimeZone = 'UTC'", *tables.statements]
        origin = origin.about(description, paths).sending(statements)
        rows = 0
        if out is not None:
            plan = plan_people(bound, bayes=crossed.bayes)
            rows = stream(tables.engine, plan, out, origin, what="writing people")
    origin = origin.about(description, paths)  # with the time of writing, too
    return _make_result(bound, crossed, origin, people=people, levels=levels, written=rows)


def _make_result(
    bound: Bound,
    crossed: intersect.Crossed,
    origin: Origin,
    *,
    people: int,
    levels: Sequence[Fraction],
    written: int,
) -> Result:
    """Return the result: a row for all releases together, or for the first one, two, and so on."""
    first = len(bound.releases) - len(crossed.steps) + 1  # the last step is about all releases
    summaries, curves = [], []
    for i, step in enumerate(crossed.steps, first):
        summaries.append(summary_row(i, people, step))
        curves += curve_rows(i, people, levels, step.curve, bayes=crossed.bayes)
    last = crossed.steps[-1]
    releases = [
        release_row(release, people, finding, last)
        for release, finding in zip(bound.releases, crossed.findings, strict=True)
    ]
    details = {
        "releases": pl.DataFrame(releases, schema=RELEASES, orient="row"),
        "curve": pl.DataFrame(curves, schema=CURVE, orient="row"),
    }
    if last.truths is not None:
        row = truth_row(last, last.truths, bayes=crossed.bayes)
        details["truth"] = pl.DataFrame([row], schema=TRUTH)
    return Result(
        frame=pl.DataFrame(summaries, schema=SCHEMA, orient="row"),
        origin=origin,
        details=details,
        notes=(*bound.notes, *_notes(bound, crossed)),
        written=written,
    )


def _parse_confidence(confidence: float | str | Sequence[float | str]) -> tuple[Fraction, ...]:
    """Return levels of confidence, ascending, by default USUAL_LEVELS; refuse what is no level."""
    texts = [confidence] if isinstance(confidence, int | float | str) else list(confidence)
    levels = set()
    for text in texts:
        level = exact(text)
        if level is None:
            raise InputError(
                f"confidence {quoted(str(text))} is not a number; give one such as 0.25"
            )
        if not 0 < level <= 1 or level.denominator > intersect.MOST_PARTS:
            raise InputError(
                f"confidence {quoted(str(text))} is not above 0 and at most 1, with six digits at "
                "most; give one such as 0.25 or 1/3"
            )
        levels.add(level)
    return tuple(sorted(levels)) or USUAL_LEVELS


def _describe(bound: Bound, levels: Sequence[Fraction]) -> dict[str, Any]:
    """Return the request as plain data, for the manifest; ``levels`` are those of confidence."""
    spec = bound.spec
    lists = {name: list(getattr(spec, name)) for name in ("qids", "secrets", "keys", "plain")}
    options = ("truth", "where", "suppressed", "nearest", "strict")
    return {
        "dataset": bound.people.name,
        "people": bound.people.name,
        "releases": [release.title for release in bound.releases],
        "known": [raw.name for raw in bound.raws],
        "hierarchies": dict(spec.hierarchies),
        "confidence": [str(level) for level in levels],
        **lists,
        **{name: getattr(spec, name) for name in options},
    }


def _notes(bound: Bound, crossed: intersect.Crossed) -> list[str]:
    """Return notes on the location of people in the releases."""
    notes = []
    for release, finding in zip(bound.releases, crossed.findings, strict=True):
        remarks = []
        if n := finding["nowhere"]:
            reason = "it has none"
            if not bound.spec.nearest:
                reason = (
                    "cells have gaps or are centroids (--nearest finds the nearest ones), or they "
                    "are not in it"
                )
            remarks.append(f"{plural(n, 'person')} in no class: {reason}")
        if n := finding.get("by_nearest"):
            verb = "is" if n == 1 else "are"
            remarks.append(f"{plural(n, 'person')} in no class {verb} located in the nearest one")
        if n := finding["in_several"]:
            reason = "overlap or are equally near" if bound.spec.nearest else "overlap"
            remarks.append(
                f"{plural(n, 'person')} in several classes, which {reason}: the union is taken"
            )
        if n := finding["suppressed"]:
            meaning = SUPPRESSED_TEXTS[bound.spec.suppressed]
            remarks.append(f"{plural(n, 'suppressed record')}: {meaning}")
        if remarks:
            notes.append(f"{release.title}: {'; '.join(remarks)}")
    if not crossed.bayes:
        notes.append(
            "products of frequencies are too large to be exact, so there is no chance of the best "
            "guess; compose fewer releases for it"
        )
    return notes


def share(part: int, total: int) -> float | None:
    """Return the share of a part in a whole, rounded once; None if the whole is 0."""
    return part / total if total else None


def success(chances: Iterable[Row], release: int, people: int) -> float | None:
    """Return the mean over people of the probability that the best guess is right; None of nobody.

    A row of ``chances`` has the people's sum of numerators for one denominator and release: its
    number from 1, or ``TOGETHER`` or ``MOST_REVEALING``. With at most ``MOST_EXACT`` denominators,
    only the result is rounded. With more, each fraction is rounded once, and their sum is exact.
    """
    of_release = [row for row in chances if row["release"] == release]
    terms = [(int(row["numerator"]), int(row["denominator"])) for row in of_release]
    if not people or not terms:
        return None
    if len(terms) <= MOST_EXACT:
        return float(sum(Fraction(n, d) for n, d in terms) / people)
    return math.fsum(n / d for n, d in sorted(terms)) / people


def summary_row(releases: int, people: int, step: Step) -> dict[str, Any]:
    """Return a row of ``SCHEMA`` from counts over the people who are located in all releases."""
    counted, chances, clear = step.summary, step.chances, step.people_with_values
    return {
        "releases": releases,
        "people": people,
        "located": counted["located"],
        "contradictions": counted["contradictions"],
        "effective_prior": share(counted["prior"], clear),
        "effective_posterior": share(counted["posterior"], clear),
        "drop": share(counted["prior"] - counted["posterior"], clear),
        "vulnerable": counted["vulnerable"],
        "vulnerable_share": share(counted["vulnerable"], people),
        "perfect_breach": counted["breached"],
        "perfect_breach_share": share(counted["breached"], people),
        "perfect_breach_before": counted["breached"] - counted["breached_anew"],
        "prior_success": success(chances, MOST_REVEALING, clear),
        "posterior_success": success(chances, TOGETHER, clear),
    }


def release_row(release: Release, people: int, finding: Row, step: Step) -> dict[str, Any]:
    """Return the row of ``RELEASES`` of a release: what it alone tells about the people.

    ``finding`` has the counts of people located in it. ``step`` is about all releases together:
    only people with a value left there count, and ``drop`` is what all releases take from the
    anonymity that this one leaves.
    """
    number, clear = release.number, step.people_with_values
    totals: Row = next((row for row in step.by_release if row["release"] == number), {})
    drop = totals.get("effective", 0) - step.summary["posterior"]
    return {
        "release": release.title,
        **{name: finding[name] for name in ("records", "classes", "smallest_class", "suppressed")},
        "in_one_class": finding["in_one"],
        "in_several": finding["in_several"],
        "in_no_class": finding["nowhere"],
        "only_suppressed": finding["only_suppressed"],
        **{name: finding.get(name) for name in LOCATED_NEAREST},
        "partition_size": share(totals.get("size", 0), clear),
        "effective_anonymity": share(totals.get("effective", 0), clear),
        "drop": share(drop, clear),
        "vulnerable": totals.get("vulnerable", 0),
        "vulnerable_share": share(totals.get("vulnerable", 0), people),
        "perfect_breach": totals.get("breached", 0),
        "success": success(step.chances, number, clear),
        "baseline": share(finding["most_frequent"], finding["records"]),
    }


def curve_rows(
    releases: int, people: int, levels: Sequence[Fraction], counted: Sequence[Row], *, bayes: bool
) -> list[dict[str, Any]]:
    """Return rows of ``CURVE``; ``counted`` has a row for each level by its number from 1."""
    return [
        {
            "releases": releases,
            "confidence": float(levels[row["level"] - 1]),
            "people_before": row["before"],
            "share_before": share(row["before"], people),
            "people": row["after"],
            "share": share(row["after"], people),
            "people_guessed": row["guessed"] if bayes else None,
            "share_guessed": share(row["guessed"], people) if bayes else None,
        }
        for row in counted
    ]


def truth_row(step: Step, truths: Row, *, bayes: bool) -> dict[str, Any]:
    """Return the row of ``TRUTH``, from counts of people located, and of those who are right."""
    clear = step.people_with_values
    return {
        "located": clear,
        "true_value_left": truths["kept"],
        "true_value_left_share": share(truths["kept"], clear),
        "perfect_breach": step.summary["breached"],
        "perfect_breach_right": truths["breached"],
        "best_guess_right": truths["guessed"] if bayes else None,
        "best_guess_right_share": share(truths["guessed"], clear) if bayes else None,
    }
