"""Composition: the joint disclosure of independent sanitised releases about people in all of them.

The intersection attack of Ganta et al. (Algorithm 1): the adversary knows the raw quasi-identifiers
of people, finds their classes in each release, and keeps the values of the secret that occur in all
of them. The adversary's Bayesian posterior is computed, too: the product of the frequencies of each
value in the classes, normalised, and the probability that the best guess is right.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Unpack

import polars as pl
from sqlglot import exp

from qifsql.commands.compose import intersect, measures
from qifsql.commands.compose.release_steps import plan_people, read_people, read_secrets
from qifsql.commands.compose.spec import ComposeOptions
from qifsql.counting.composition import Bound, Composition
from qifsql.counting.release_columns import bind
from qifsql.data.dataset import Tabular
from qifsql.data.exact import exact
from qifsql.data.files import path_text
from qifsql.data.option import as_names, complete
from qifsql.data.readers import openings
from qifsql.engine.engines import open_engine
from qifsql.engine.settings import Settings
from qifsql.engine.tables import Tables
from qifsql.errors import InputError, plural, quoted
from qifsql.results.result import Result
from qifsql.results.storage import Origin, stream, streamed_place

LEVELS = tuple(Fraction(n, 20) for n in range(1, 21))
_GONE = {"everyone": "may be anybody's, so their secrets are in every class", "out": "left out"}
_FORMERLY = {"candidates": "everyone", "ignored": "out"}
FINEST = 10**6  # largest denominator of a level, so that counts stay exact


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
    spec = _composition(releases, options)
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
        people = read_people(tables, bound, keyed=out is not None)
        findings = [intersect.find_people(tables, bound, release) for release in bound.releases]
        if spec.strict:
            intersect.refuse_unlocated(bound, findings)
        crossed = intersect.intersect_releases(
            tables, bound, findings, _levels_table(levels), every=options["progressive"]
        )
        description = _describe(bound, levels)
        inputs = (bound.people, *(release.dataset for release in bound.releases))
        opened = dict.fromkeys(s for dataset in inputs for s in openings(dataset))
        statements = [*opened, "SET TimeZone = 'UTC'", *tables.statements]
        origin = origin.about(description, paths).sending(statements)
        rows = 0
        if out is not None:
            plan = plan_people(bound, bayes=crossed.bayes)
            rows = stream(tables.engine, plan, out, origin, what="writing people")
    origin = origin.about(description, paths)  # with the time of writing, too
    return _make_result(bound, crossed, origin, people=people, levels=levels, written=rows)


def _composition(releases: Sequence[Tabular], options: ComposeOptions) -> Composition:
    """Return the releases, the people and the columns that the options name."""
    return Composition.of(
        releases,
        options["people"],
        qids=as_names(options["qids"]),
        secrets=as_names(options["secret"]),
        keys=as_names(options["key"] or ()),
        truth=options["truth"],
        where=options["where"],
        hierarchies={n: path_text(path) for n, path in (options["hierarchies"] or {}).items()},
        plain=as_names(options["plain"]),
        suppressed=_FORMERLY.get(options["suppressed"], options["suppressed"]),
        strict=options["strict"],
    )


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
        summaries.append(measures.summary_row(i, people, step.summary, step.chances))
        curves += measures.curve_rows(i, people, levels, step.curve, bayes=crossed.bayes)
    last = crossed.steps[-1]
    counts = (last.summary, last.by_release, last.chances)
    releases = [
        measures.release_row(release.title, people, row, counts, release.number)
        for release, row in zip(bound.releases, crossed.findings, strict=True)
    ]
    details = {
        "releases": pl.DataFrame(releases, schema=measures.RELEASES, orient="row"),
        "curve": pl.DataFrame(curves, schema=measures.CURVE, orient="row"),
    }
    if last.truths is not None:
        row = measures.truth_row(last.summary, last.truths, bayes=crossed.bayes)
        details["truth"] = pl.DataFrame([row], schema=measures.TRUTH)
    return Result(
        frame=pl.DataFrame(summaries, schema=measures.SCHEMA, orient="row"),
        origin=origin,
        details=details,
        notes=(*bound.notes, *_notes(bound, crossed)),
        written=written,
    )


def _parse_confidence(confidence: float | str | Sequence[float | str]) -> tuple[Fraction, ...]:
    """Return levels of confidence, ascending; by default ``LEVELS``. Refuse what is not a level."""
    texts = [confidence] if isinstance(confidence, int | float | str) else list(confidence)
    levels = set()
    for text in texts:
        try:
            level = exact(text)
        except ValueError as e:
            raise InputError(
                f"confidence {quoted(str(text))} is not a number; give one such as 0.25"
            ) from e
        if not 0 < level <= 1 or level.denominator > FINEST:
            raise InputError(
                f"confidence {quoted(str(text))} is not above 0 and at most 1, with six digits at "
                "most; give one such as 0.25 or 1/3"
            )
        levels.add(level)
    return tuple(sorted(levels)) or LEVELS


def _levels_table(levels: Sequence[Fraction]) -> exp.Select:
    names = ["level", "numerator", "denominator"]
    rows = [(i, level.numerator, level.denominator) for i, level in enumerate(levels, 1)]
    return exp.select("*").from_(exp.values(rows, alias="levels", columns=names))


def _describe(bound: Bound, levels: Sequence[Fraction]) -> dict[str, Any]:
    """Return the request as plain data, for the manifest; ``levels`` are those of confidence."""
    spec = bound.spec
    return {
        "dataset": bound.people.name,
        "people": bound.people.name,
        "releases": [release.title for release in bound.releases],
        "qids": list(spec.qids),
        "known": [raw.name for raw in bound.raws],
        "secrets": list(spec.secrets),
        "keys": list(spec.keys),
        "truth": spec.truth,
        "where": spec.where,
        "hierarchies": dict(spec.hierarchies),
        "plain": list(spec.plain),
        "suppressed": spec.suppressed,
        "strict": spec.strict,
        "confidence": [str(level) for level in levels],
    }


def _notes(bound: Bound, crossed: intersect.Crossed) -> list[str]:
    """Return notes on the location of people in the releases."""
    notes = []
    for release, row in zip(bound.releases, crossed.findings, strict=True):
        lost, overlapping, gone = row["nowhere"], row["in_several"], row["suppressed"]
        remarks = []
        if lost:
            remarks.append(
                f"{plural(lost, 'person')} in no class: cells have gaps, or they are not in it"
            )
        if overlapping:
            remarks.append(
                f"{plural(overlapping, 'person')} in several classes, whose cells overlap: "
                "the union is taken"
            )
        if gone:
            remarks.append(f"{plural(gone, 'suppressed record')}: {_GONE[bound.spec.suppressed]}")
        if remarks:
            notes.append(f"{release.title}: {'; '.join(remarks)}")
    if not crossed.bayes:
        notes.append(
            "products of frequencies are too large to be exact, so there is no chance of the best "
            "guess; compose fewer releases for it"
        )
    return notes
