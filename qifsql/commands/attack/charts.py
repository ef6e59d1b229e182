"""Charts of one attack: success before the release, after it, and with each further dataset."""

from collections.abc import Sequence

import polars as pl

from qifsql.commands.attack.keyless.charts import calibration
from qifsql.commands.attack.noisy.view import numbered_adversaries
from qifsql.errors import InputError
from qifsql.presentation import people_charts
from qifsql.presentation.language import counted, said
from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.theme import (
    BLUE,
    ORANGE,
    PERCENT,
    Chart,
    distinct,
    dressed,
    grid,
    hints,
    labels,
    libraries,
    measures,
    word_questions,
)
from qifsql.presentation.words import percent

DETAILS = {
    "histogram": people_charts.histograms,
    "thresholds": people_charts.thresholds,
    "sure_curve": people_charts.sure,
    "groups": people_charts.groups,
}


def steps(frame: pl.DataFrame, releases: Sequence[str] = ()) -> Chart:
    """Draw success before and after, one bar per number of datasets (thesis, Figs. 5.6 and 5.9).

    ``frame`` has the columns of ``results.assessment.SCHEMA``, a row for each question and number
    of ``datasets``; ``releases`` are the names of the datasets, the focal one first. The success
    before is that of the smallest number of datasets. With noisy knowledge there is a bar for each
    adversary instead.
    """
    alt, _ = libraries()
    if "knows" in frame.columns:
        frame, names_of_bars = numbered_adversaries(frame)
        rows = _bars(word_questions(frame), names_of_bars)
    else:
        rows = word_questions(frame)  # InputError if there is none
        rows = _bars(rows, _bar_labels(frame, releases))
    rows = rows.with_columns(pl.Series("amount", [percent(x) for x in rows["success"]]))
    x = alt.X("success:Q", title=said("success")).scale(domain=[0, 1.25])
    x = x.stack(None).axis(labelExpr=PERCENT, values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    y = alt.Y("known:N", title=None, sort=None)
    tooltip = hints(alt, {"known:N": said("known"), "success:Q": said("success")})
    bars = alt.Chart(height=alt.Step(24)).encode(x=x, y=y, tooltip=tooltip)
    color = alt.when(alt.datum.place == 0).then(alt.value(ORANGE)).otherwise(alt.value(BLUE))
    texts = bars.mark_text(align="left", dx=4).encode(text="amount:N")
    chart = grid(alt, bars.mark_bar().encode(color=color) + texts, rows)
    words = []
    for (question, measure), lines in rows.group_by("question", "measure", maintain_order=True):
        first, last = lines["amount"][0], lines["amount"][-1]
        names = {"question": question, "measure": measures()[str(measure)]}
        message = "{question}, {measure}: {first} before, {last} after."
        words.append(said(message, first=first, last=last, **names))
    below = said("Orange: before the release. Blue: after it, with what the adversary then knows.")
    return dressed(chart, said("Success before and after"), below, words)


def _bar_labels(frame: pl.DataFrame, releases: Sequence[str]) -> dict[int, str]:
    """Return a label for each number of datasets: the name of the last one, if it is known."""
    numbers = sorted(set(frame["datasets"]))
    if len(numbers) == 1:
        return {numbers[0]: said("after")}
    if max(numbers) > len(releases):
        return {n: counted("{n} dataset", "{n} datasets", n) for n in numbers}
    names = [labels([name])[name] for name in releases]
    texts = [names[0] if n == 1 else said("and {release}", release=names[n - 1]) for n in numbers]
    return dict(zip(numbers, distinct(texts), strict=True))


def _bars(frame: pl.DataFrame, names: dict[int, str]) -> pl.DataFrame:
    """Return a row for each bar, in drawing order; ``names`` are by number of datasets.

    ``known`` names the bar, ``place`` is the number of datasets, 0 before the release.
    """
    rows = []
    for row in frame.sort("order", "datasets", maintain_order=True).iter_rows(named=True):
        for measure in measures():
            key = {"order": row["order"], "question": row["question"], "measure": measure}
            n = row["datasets"]
            if n == min(names):
                before = {"known": said("before"), "success": row[f"prior_{measure}"], "place": 0}
                rows.append(key | before)
            after = {"known": names[n], "success": row[f"posterior_{measure}"], "place": n}
            rows.append(key | after)
    return pl.DataFrame(rows).sort("order", "measure", "place", maintain_order=True)


def charts(frame: pl.DataFrame, details: Tables, spec: Spec) -> dict[str, Chart]:
    """Return the charts of an attack, by name.

    Raises:
        InputError: All gain functions are other than the chance to be right.
    """
    if "calibration" in details:  # of linked releases
        return {"calibration": calibration(details["calibration"])}
    frame = people_charts.chances(frame)
    if frame.is_empty():
        raise InputError("charts are of the chance to be right; leave the gain functions out")
    drawn = {"success": steps(frame, releases(spec))}
    for name, chart in DETAILS.items():
        rows = people_charts.with_questions(frame, details, name)
        if not rows.is_empty():
            drawn[chart.__name__] = chart(rows)
    return drawn


def releases(spec: Spec) -> list[str]:
    """Return the names of the datasets of a collection, the focal one first."""
    return list((spec.get("collection") or {}).get("datasets", ()))
