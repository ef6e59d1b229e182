"""Attacks as people read them: success before and after, with a sentence on its meaning."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby

import polars as pl

from qifsql.commands.attack import charts
from qifsql.commands.attack.candidates import view as candidates
from qifsql.commands.attack.keyless import view as keyless
from qifsql.commands.attack.keyless.charts import calibration
from qifsql.commands.attack.learning import view as learning
from qifsql.commands.attack.noisy import view as noisy
from qifsql.data.types import Row
from qifsql.measures import bayes
from qifsql.presentation import details, people_charts, words
from qifsql.presentation.figures import can_draw, drawn
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

MOST_NAMED = 6  # quasi-identifiers in a title
TITLES = {
    "knowledge": "Releases linked without a key: {name}",
    "learner": "Someone who learns from another file: {name}",
    "knows": "Knowledge with errors and gaps: {name}",
    "candidates": "Someone who knows raw values of people: {name}",
}
"""The titles of chapters about other kinds than the usual one, by a column of each kind."""
KIND = Kind(
    columns=("model", "secret", "datasets", "qids", "posterior_probabilistic"),
    shared=(
        *("histogram", "thresholds", "quantiles", "groups", "group_capacity", "bounds"),
        *("sure", "sure_curve", "value_chances", "households", "links", "calibration"),
    ),
    essential=True,
)


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return results and details; of a progressive attack, a line for each number of datasets."""
    if frame.is_empty():
        return []
    match _column_of_kind(frame):
        case "knowledge":
            return keyless.parts(frame, tables)
        case "learner":
            return learning.parts(frame, tables)
        case "knows":
            return noisy.parts(frame, tables)
        case "candidates":
            return candidates.parts(frame, spec)
    rows = frame.to_dicts()
    if len({row["datasets"] for row in rows}) > 1:
        return _progress(rows)
    parts: list[Part] = []
    for row in rows:
        parts.append(Heading(words.heading(row)))
        parts += question(row, tables)
    return parts


def _column_of_kind(frame: pl.DataFrame) -> str | None:
    """Return the column that only one kind of attack has; None for the usual kind."""
    return next((column for column in TITLES if column in frame.columns), None)


def question(row: Row, tables: Tables) -> list[Part]:
    """Return one row of results: its numbers, its sentence, its details."""
    sentence = Paragraph(words.sentence(row))
    return [_success_table(row), *details.measured(row), sentence, *details.of_row(row, tables)]


def _success_table(row: Row) -> Table:
    """Return certain and best guesses before and after; yes or no for one person's certainty."""
    heads = ["", said("before"), said("after"), said("degradation")]
    table = Table.of(heads, right=(1, 2, 3))
    table.add_row(said("certain (deterministic)"), *_certainty(row))
    best = said("best guess (probabilistic)")
    table.add_row(
        best if words.is_chance(row) else said("expected gain of the best guess"),
        words.success(row, row["prior_probabilistic"]),
        words.success(row, row["posterior_probabilistic"]),
        words.degradation(row),
    )
    if row.get("best_guess") is not None:
        table.add_row(said("the best guess is"), "", row["best_guess"])
    numbers = bayes.of_reported(row) if words.is_chance(row) else None
    if numbers is not None:
        table.add_row(said("certain, where it is reported"), *_certainty(numbers))
        ends = (words.percent(numbers[f"{n}_probabilistic"]) for n in ("prior", "posterior"))
        table.add_row(said("best guess, where it is reported"), *ends, words.degradation(numbers))
    return table


def _certainty(row: Row) -> list[str]:
    """Return the share of people whose secret is certain: before, after, and the degradation.

    Of one target it is certain or not: yes or no.
    """
    before, after, rise = (
        row[f"{name}_deterministic"] for name in ("prior", "posterior", "degradation")
    )
    if row.get("target") is None:
        return [words.percent(before), words.percent(after), words.rise(rise)]
    return [said("yes") if number else said("no") for number in (before, after, rise)]


def _progress(rows: Sequence[Row]) -> list[Part]:
    """Return a table per question, one line per number of datasets (PoPETs Table 8)."""

    def question_of(row: Row) -> tuple[bool, str, str]:
        return row["secret"] is not None, row["secret"] or "", row.get("gain") or ""

    heads = [said("datasets"), said("blocks"), said("certain"), said("degradation")]
    heads += [said("best guess"), said("degradation")]
    parts: list[Part] = []
    for _, group in groupby(sorted(rows, key=question_of), key=question_of):
        lines = sorted(group, key=lambda row: row["datasets"])
        parts.append(Heading(words.heading(lines[-1])))
        table = Table.of(heads, right=range(6))
        for row in lines:
            table.add_row(
                str(row["datasets"]),
                words.count(row["blocks"]),
                words.percent(row["posterior_deterministic"]),
                words.rise(row["degradation_deterministic"]),
                words.success(row, row["posterior_probabilistic"]),
                words.degradation(row),
            )
        parts += [table, Paragraph(words.sentence(lines[-1]))]
    return parts


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    frame, tables = stored.frame, stored.details
    column = _column_of_kind(frame)
    if column is not None:
        figures: list[Part] = []
        if "calibration" in tables:  # of linked releases
            figures = drawn("calibration", partial(calibration, tables["calibration"]))
        elif column == "knows" and frame.height:
            figures = drawn("success", partial(charts.steps, frame))
        title = said(TITLES[column], name=stored.name)
        return title, figures + parts(frame, tables, stored.spec)
    in_charts = {"histogram", "thresholds"} if can_draw() else set()
    in_chapters = {"groups", "value_chances"}
    remaining = {n: t for n, t in tables.items() if n not in in_charts | in_chapters}
    frame = people_charts.chances(frame)
    sections = drawn("success", partial(charts.steps, frame, charts.releases(stored.spec)))
    sections += parts(stored.frame, remaining, stored.spec)
    for name in ("histogram", "thresholds", "sure_curve"):
        table = people_charts.with_questions(frame, tables, name)
        if not table.is_empty():
            sections += drawn(name, partial(charts.DETAILS[name], table))
    qids: list[str] = max(stored.frame["qids"].to_list(), key=len, default=[])
    title = said("Someone who knows {qids}", qids=words.listed(qids)) if qids else stored.name
    if len(qids) > MOST_NAMED:
        title = counted("Someone who knows {n} fact", "Someone who knows {n} facts", len(qids))
    return title, sections


def groups_of_people(stored: Stored) -> list[Part]:
    """Return a chart and tables of groups of people, for the questions about a right guess."""
    parts: list[Part] = []
    if "groups" not in stored.details or stored.frame.is_empty():
        return parts
    frame = people_charts.chances(stored.frame)
    table = people_charts.with_questions(frame, stored.details, "groups")
    if not table.is_empty():
        charted = table.filter(pl.col("posterior_probabilistic").is_not_null())
        parts += drawn("groups", partial(people_charts.groups, charted))
    tables = {"groups": stored.details["groups"]}
    for row in frame.iter_rows(named=True):
        parts += [Heading(words.heading(row)), *details.of_row(row, tables)]
    return parts


def value_chances(stored: Stored) -> list[Part]:
    """Return the chances of values of each secret, for the chapter on harm without certainty."""
    parts: list[Part] = []
    if "value_chances" in stored.details:
        tables = {"value_chances": stored.details["value_chances"]}
        for row in people_charts.chances(stored.frame).iter_rows(named=True):
            if drawn_parts := details.of_row(row, tables):
                parts += [Heading(words.heading(row)), *drawn_parts]
    return parts


def headline(stored: Stored) -> list[str]:
    """Return attacks on one person and gains other than a right guess, for the first pages."""
    match _column_of_kind(stored.frame):
        case "learner":
            return learning.headline(stored.frame)
        case "candidates":
            return candidates.headline(stored.frame)
    rows = stored.frame.iter_rows(named=True)
    return [
        _headline_sentence(row) for row in rows if row.get("target") is not None or _is_gain(row)
    ]


def _is_gain(row: Row) -> bool:
    return row.get("gain") not in (None, "identity")


def _headline_sentence(row: Row) -> str:
    """Return a sentence on the success before and after; chances to be right are on one scale."""
    if not words.is_chance(row):
        return f"{words.goal(row)}: {words.sentence(row)}"
    before, after = row["prior_probabilistic"], row["posterior_probabilistic"]
    scale = words.scale(before, after)
    message = "{goal}: guesses are right for {before} before the release and for {after} after it."
    if row.get("target") is not None:
        message = (
            "{goal} of one person: a guess is right in {before} cases before the release and in "
            "{after} after it."
        )
    goal = words.goal(row)
    if _is_gain(row):
        goal += said(", gain {gain}", gain=row["gain"])
    shares = {"before": words.share(before, scale), "after": words.share(after, scale)}
    return said(message, goal=goal, **shares)
