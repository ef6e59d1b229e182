"""Show how guesses depend on the person's own record."""

from collections.abc import Sequence
from functools import partial
from math import isinf

import polars as pl

from qifsql.commands.dit import charts
from qifsql.commands.dit.spec import BAYES
from qifsql.data.types import Row
from qifsql.presentation import escaping, words
from qifsql.presentation.figures import drawn
from qifsql.presentation.language import number, said
from qifsql.presentation.parts import Heading, Paragraph, Part, Spec, Table, Tables
from qifsql.results.kinds import Kind
from qifsql.results.stored import Stored

KIND = Kind(columns=("distance", "different"), shared=("thresholds", "distribution", "delta"))


def parts(frame: pl.DataFrame, tables: Tables, spec: Spec) -> list[Part]:
    """Return sentences about the runs, a table by run and distance, and its explanation."""
    rows = frame.to_dicts()
    runs = [row for row in rows if row["distance"] == "emd"]  # every run has this distance
    parts: list[Part] = [Paragraph(_describe(runs[0], spec))]
    is_sampled = bool(spec.get("sample")) and runs[0]["records"] == spec["sample"]
    if is_sampled:
        parts.append(
            Paragraph(said("All results below are about these people, who were drawn at random."))
        )
    parts += [Paragraph(_explain(row, named=len(runs) > 1), strong=True) for row in _extremes(runs)]
    parts += [Heading(said("Change in the guess without the person's record"))]
    parts.append(_distances(rows, tables["thresholds"]))
    if "delta" in tables:
        parts += [Heading(said("Chance of a distance (delta)")), _deltas(tables["delta"])]
    parts += [Paragraph(_meaning(name)) for name in dict.fromkeys(row["distance"] for row in rows)]
    most_infinite = max(rows, key=lambda row: row["infinite"])
    if most_infinite["infinite"]:
        infinite = said(
            "Where it is infinite, a value is possible with the person and impossible without them "
            "({run}: {n}); mean and std are over the others.",
            run=charts.run_title(most_infinite),
            n=words.persons(most_infinite["infinite"]),
        )
        parts.append(Paragraph(infinite))
    is_repeated = "delta" in tables and tables["delta"]["draws"].max() != 1
    people = words.persons(max(row["records"] for row in runs))
    reach = _reach_sentence(people, is_repeated=is_repeated, is_sampled=is_sampled)
    return [*parts, Paragraph(reach)]


def _reach_sentence(people: str, *, is_repeated: bool, is_sampled: bool) -> str:
    """Return what the largest distance over ``people`` says of them, and what it does not.

    ``is_repeated``: the runs were repeated with other seeds. ``is_sampled``: the people were drawn.
    """
    message = (
        "The largest distance over {n} is the epsilon of the paper: the release is (epsilon, "
        "0)-differentiable for every epsilon above it. It is a property of these data and this "
        "classifier, and no guarantee for others."
    )
    if is_repeated:
        message = (
            "The largest distance over {n} is that of the first draw; delta is the chance of large "
            "ones in any draw. Both are properties of these data and this classifier, and no "
            "guarantee for others."
        )
    if is_sampled:
        message = (
            "Only {n} were drawn and measured. The distances of the others may be larger, and "
            "their best guess may change: the largest distance is at most that of everybody, the "
            "epsilon of the paper. No interval is stated."
        )
    return said(message, n=people)


def _meaning(distance: str) -> str:
    """Explain a distance between beliefs in a sentence."""
    meanings = {
        "emd_printed": (
            "EMD as printed: a quarter of the sum of all changes of probability, the formula "
            "in the paper, for comparison with its figures."
        ),
        "emd": (
            "EMD: half of that sum (earth mover's distance where any two values are 1 apart): "
            "the largest change in the probability of any set of values."
        ),
        "max_divergence": "Max divergence: the largest difference of the logarithm of a "
        "probability, as in differential privacy.",
        "emd_hierarchy": "EMD in the hierarchy: the probability that moves along its edges.",
    }
    return said(meanings[distance])


def _extremes(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the first and the last of rows."""
    return rows if len(rows) <= 2 else [rows[0], rows[-1]]


def _describe(row: Row, spec: Spec) -> str:
    """Say what was measured of whom."""
    text = (
        "{n} were measured, one at a time: what {classifier} predicts for their {secret} from "
        "their quasi-identifiers, once from the release with their record and once from the "
        "release without it."
    )
    who = said("naive Bayes") if row["classifier"] == BAYES else row["classifier"]
    values = {"n": words.persons(row["records"]), "secret": escaping.cell(spec["secret"])}
    return said(text, classifier=who, **values)


def _explain(row: Row, *, named: bool) -> str:
    """Explain the distances EMD of a run in sentences; ``named`` ones begin with its limits."""
    text = (
        "A person's own record changes the guess about them by at most {most} percentage "
        "points, {mean} on average."
    )
    if named:
        text = (
            "{run}: a person's own record changes the guess about them by at most {most} "
            "percentage points, {mean} on average."
        )
    mean, largest = (number(f"{float(f'{100 * row[name]:.2g}'):g}") for name in ("mean", "max"))
    values = {"run": charts.run_title(row)} if named else {}
    best_guess = said("The best guess stays the same for everybody.")
    if row["different"]:
        share = words.frequency(row["different"])
        best_guess = said("For {share} the best guess becomes another value.", share=share)
    return f"{said(text, mean=mean, most=largest, **values)} {best_guess}"


def _distances(rows: Sequence[Row], thresholds: pl.DataFrame) -> Table:
    """Return a table with a row per run and distance; its last columns are shares of people."""
    limits = any(row["limits"] for row in rows)
    titles = _titles()
    points = sorted(set(thresholds["point"]))
    heads = ["\nk", *([f"\n{said('limits')}"] if limits else []), f"\n{said('distance')}"]
    heads += [f"\n{said('mean')}", f"\n{said('std')}", f"\n{said('largest')}"]
    heads += [said("above\n{point}", point=number(f"{point:.3g}")) for point in points]
    heads.append(said("other\nguess"))
    table = Table.of(heads, right=[0, *range(len(heads) - len(points) - 4, len(heads))])
    shares = thresholds.select("run", "distance", "point", "share").iter_rows()
    share_above = {(run, distance, point): share for run, distance, point, share in shares}
    last_run = None
    for row in rows:
        first = row["run"] != last_run
        last_run = row["run"]
        cells = [str(row["k"]) if first and row["k"] is not None else ""]
        if limits:
            cells.append(row["limits"] or "" if first else "")
        cells += [
            titles[row["distance"]],
            *(_distance_text(row[name]) for name in ("mean", "std", "max")),
        ]
        cells += [words.percent(share_above[row["run"], row["distance"], p]) for p in points]
        table.add_row(*cells, words.percent(row["different"]) if first else "")
    return table


def _titles() -> dict[str, str]:
    """Return the names of distances between beliefs, as heads of rows."""
    return {
        "emd_printed": said("EMD as printed"),
        "emd": "EMD",
        "max_divergence": said("max divergence"),
        "emd_hierarchy": said("EMD in the hierarchy"),
    }


def _deltas(deltas: pl.DataFrame) -> Table:
    """Return a table with a row per run, distance and epsilon: delta and its interval."""
    heads = ["k", said("limits"), said("distance"), "epsilon", said("draws"), "delta"]
    table = Table.of([*heads, said("low"), said("high")], right=[0, 3, 4, 5, 6, 7])
    for row in deltas.iter_rows(named=True):
        labels = ("" if row["k"] is None else str(row["k"]), row["limits"] or "")
        numbers = (words.fixed(row[name], 3) for name in ("delta", "low", "high"))
        epsilon = number(f"{row['epsilon']:.3g}")
        table.add_row(*labels, _titles()[row["distance"]], epsilon, str(row["draws"]), *numbers)
    return table


def _distance_text(x: float | None) -> str:
    """Return a distance as text, empty without one."""
    if x is None:
        return ""
    return said("infinite") if isinf(x) else words.fixed(x, 5)


def chapter(stored: Stored) -> tuple[str, list[Part]]:
    """Return the title and the parts of a chapter about a stored result."""
    return said("How guesses depend on the person's own record: {name}", name=stored.name), [
        *drawn("dit", partial(charts.distribution, stored.details["distribution"])),
        *parts(stored.frame, stored.details, stored.spec),
    ]


def headline(stored: Stored) -> list[str]:
    """Return the first and the last run in sentences, for the first pages of a report."""
    rows = [row for row in stored.frame.iter_rows(named=True) if row["distance"] == "emd"]
    return [_explain(row, named=len(rows) > 1) for row in _extremes(rows)]
