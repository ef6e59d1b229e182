"""Charts of a sweep: success by set of quasi-identifiers, and the contribution of each one."""

from types import ModuleType
from typing import Any

import polars as pl

from qifsql.presentation import people_charts
from qifsql.presentation.language import said
from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.theme import (
    BLUE,
    MEASURES,
    ORANGE,
    PERCENT,
    SKY,
    Chart,
    data,
    dressed,
    grid,
    hints,
    labels,
    libraries,
    measures,
    word_questions,
)
from qifsql.presentation.words import count, percent

MOST_DOTS = 5_000  # more subsets than this are drawn as ranges
PANEL_KEYS = ["panel", "order", "question", "measure", "prior"]  # constant within a panel
MOST_PANELS = 4  # number of subset sizes with a histogram


def success(frame: pl.DataFrame) -> Chart:
    """Draw success against the number of quasi-identifiers, a dot per subset (PoPETs 2022, Fig. 2).

    ``frame`` is the result of a sweep: the columns of ``results.assessment.SCHEMA``, one row for
    each ``subset`` and question. The black line is the mean, the dashed one the prior. More than
    5,000 subsets are drawn as range, quartiles and median of each size, with a dot for the best
    subset.
    """
    alt, _ = libraries()
    points, reached = _success_by_panel(word_questions(frame)), pl.col("success")
    subsets = points["subset"].n_unique()
    dots = subsets <= MOST_DOTS and frame.height <= 2 * MOST_DOTS
    best = points.sort("success", "subset").unique(["panel", "size"], keep="last")
    drawn = (points if dots else best).sort("panel", "size", "subset")
    names = drawn.select("subset", "names").unique().sort("subset")
    quartiles = (reached.quantile(i / 4, "linear").alias(f"quartile_{i}") for i in range(5))
    sizes = points.group_by("panel", "size").agg(reached.mean(), *quartiles).sort("panel", "size")
    panels = points.group_by(PANEL_KEYS[:-1]).agg(pl.col("prior").max(), highest=reached.max())
    panels = panels.sort("panel")
    label = pl.Series([said("before") + f"\n{percent(prior)}" for prior in panels["prior"]])
    priors = panels.select("panel", success="prior", label=label)
    # Rows of subsets, of sizes and of panels in one table: other columns of each kind are NULL.
    rows = pl.concat([drawn.drop("names", *PANEL_KEYS[1:]), sizes, priors], how="diagonal_relaxed")
    chart = grid(alt, alt.layer(*_layers(alt, points["size"], dots=dots)), rows)
    for key, table in (("panel", panels.select(PANEL_KEYS)), ("subset", names)):
        rest = alt.LookupData(data(alt, table), key, table.columns[1:])
        chart = chart.transform_lookup(key, rest)
    below = said("Each dot is one set of quasi-identifiers.")
    if not dots:
        below = said(
            "Thin bars: all sets of a size; thick: the middle half; white: the median; dots: the "
            "worst."
        )
    below += " " + said("The black line joins the means; dashed: success before the release.")
    words = [said("{n} sets of quasi-identifiers.", n=count(subsets)), *_panels_in_words(panels)]
    return dressed(chart, said("Success by number of quasi-identifiers known"), below, words)


def _panels_in_words(panels: pl.DataFrame) -> list[str]:
    """Return a sentence per panel of ``success``: success before, and the highest after."""
    message = "{question}, {measure}: {prior} before, up to {most} after."
    return [
        said(
            message,
            question=row["question"],
            measure=measures()[row["measure"]],
            prior=percent(row["prior"]),
            most=percent(row["highest"]),
        )
        for row in panels.iter_rows(named=True)
    ]


def shapley(frame: pl.DataFrame) -> Chart:
    """Draw the contribution of each quasi-identifier: bars for each question and measure.

    ``frame`` has ``model``, ``secret``, ``measure``, ``qid``, ``shapley``, ``share``, ``alone`` and
    ``last``. All bars have the same scale.
    """
    below = said(
        "Shapley values: what a quasi-identifier adds to success, as a mean over all orders of "
        "learning them, in percentage points. In brackets: its share of the whole."
    )
    title = said("Contribution of each quasi-identifier to success")
    return _contribution_bars(frame, said("quasi-identifier"), title, below)


def releases(frame: pl.DataFrame) -> Chart:
    """Draw the contribution of each auxiliary dataset, a row of ``answers.RELEASES``."""
    below = said(
        "Shapley values: what a release adds to the success with the focal one alone, as a mean "
        "over all orders of publishing them, in percentage points. In brackets: its share."
    )
    frame = frame.rename({"dataset": "qid"})
    title = said("Contribution of each release to success")
    return _contribution_bars(frame, said("release"), title, below)


def _contribution_bars(frame: pl.DataFrame, what: str, title: str, below: str) -> Chart:
    """Draw a bar for each Shapley value: a row of ``frame``, with the columns of ``SHAPLEY``.

    ``what`` is the word for a ``qid``, which may also be a release; ``below`` is the text below.
    """
    alt, _ = libraries()
    amounts = [percent(value).removesuffix(" %") for value in frame["shapley"]]
    shares = ["" if s is None else f" ({percent(s)})" for s in frame["share"].fill_nan(None)]
    text = pl.Series("contribution", [a + s for a, s in zip(amounts, shares, strict=True)])
    qids = pl.col("qid").replace_strict(labels(frame["qid"]), return_dtype=pl.String)
    rows = word_questions(frame).with_columns(qids, text)
    keys = ["order", "question", "measure"]
    rows = rows.select(*keys, "qid", "contribution", "shapley", "alone", "last")
    rows = rows.sort(*keys, "shapley", descending=[False, False, False, True], maintain_order=True)
    x = alt.X("shapley:Q", title=said("contribution, percentage points"))
    x = x.stack(None).axis(labelExpr="format(100 * datum.value, '~g')", tickCount=5)
    ends = [1.5 * min(0.0, *frame["shapley"]), 1.5 * max(1e-9, *frame["shapley"])]
    y = alt.Y("qid:N", title=None, sort=None)  # as in the data
    added = {"alone:Q": said("adds alone"), "last:Q": said("adds as the last")}
    points = said("contribution, percentage points")
    tooltip = hints(alt, {"qid:N": what, "contribution:N": points, **added})
    bars = alt.Chart(height=alt.Step(22)).encode(x=x.scale(domain=ends), y=y, tooltip=tooltip)
    texts = bars.mark_text(align="left", dx=4).encode(text="contribution:N")
    chart = grid(alt, bars.mark_bar(color=BLUE) + texts, rows).resolve_scale(y="independent")
    greatest = rows.unique(keys, keep="first", maintain_order=True)  # rows descend
    message = "{question}, {measure}: most by {qid}, {contribution}."
    words = [
        said(
            message,
            question=row["question"],
            measure=measures()[row["measure"]],
            qid=row["qid"],
            contribution=row["contribution"],
        )
        for row in greatest.iter_rows(named=True)
    ]
    return dressed(chart, title, below, words)


def _success_by_panel(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row per subset and panel: its ``size``, ``names``, ``success`` and ``prior``.

    A panel is a question and a measure. ``frame`` has a row per subset and question (``order``).
    """
    names = pl.element().replace_strict(labels(frame["qids"].explode()), return_dtype=pl.String)
    frame = frame.with_columns(names=pl.col("qids").list.eval(names).list.join(", "))
    return pl.concat(
        frame.select(
            *("order", "question", "subset", "names"),
            size="n_qids",
            panel=len(MEASURES) * pl.col("order") + i,
            measure=pl.lit(measure),
            success=f"posterior_{measure}",
            prior=f"prior_{measure}",
        )
        for i, measure in enumerate(MEASURES)
    )


def _layers(alt: ModuleType, sizes: pl.Series, *, dots: bool) -> list[Any]:
    """Return the layers of a panel of ``success``, from the back to the front.

    A layer takes the rows with its field: ``label`` (priors), ``quartile_0`` (sizes), ``subset``.
    ``sizes`` are those of the subsets; ``dots``: each subset is a dot, so no ranges are drawn.
    """
    ticks = list(range(min(sizes), max(sizes) + 1))
    x = alt.X("size:Q", title=said("number of quasi-identifiers known"))
    x = x.scale(domain=[ticks[0] - 0.5, ticks[-1] + 0.5])
    x = x.axis(values=ticks, format="d", grid=False)
    axis = alt.Axis(labelExpr=PERCENT, values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    y = {"title": said("success"), "scale": alt.Scale(domain=[0, 1]), "axis": axis}
    low, middle, median = (alt.Y(f"quartile_{i}:Q", **y) for i in range(3))
    prior, size, subset = (
        alt.Chart().transform_filter(f"isValid(datum.{field})").encode(y=alt.Y("success:Q", **y))
        for field in ("label", "quartile_0", "subset")
    )
    size, label = size.encode(x=x), prior.encode(x=alt.value("width"), text="label:N")
    ranges = [
        size.mark_rule(color=SKY, size=2).encode(y=low, y2="quartile_4"),
        size.mark_bar(color=SKY, size=12).encode(y=middle, y2="quartile_3"),
        size.mark_tick(color="white", thickness=2, size=12, orient="horizontal").encode(y=median),
    ]
    pick = alt.selection_point(name="pick", fields=["subset"], empty=False)
    dot = subset.mark_circle(aria=False, opacity=0.4 if dots else 1).add_params(pick)
    dot = dot.encode(
        color=alt.when(pick).then(alt.value(ORANGE)).otherwise(alt.value(BLUE)),
        size=alt.when(pick).then(alt.value(140)).otherwise(alt.value(30)),
    )
    titles = {"names:N": said("known"), "success:Q": said("success"), "prior:Q": said("before")}
    return [
        *([] if dots else ranges),
        prior.mark_rule(color=ORANGE, strokeDash=[6, 4], size=2),
        label.mark_text(align="left", dx=6, dy=-10, baseline="bottom", lineBreak="\n"),
        dot.encode(x=x, tooltip=hints(alt, titles)),
        size.mark_line(color="black", size=1.5, point=len(ticks) == 1 and {"color": "black"}),
    ]


def charts(frame: pl.DataFrame, details: Tables, _spec: Spec) -> dict[str, Chart]:
    """Return the charts of a sweep, by name."""
    drawn = {"success": success(frame)}
    if "shapley" in details:
        drawn["shapley"] = shapley(details["shapley"])
    if "releases" in details:
        drawn["releases"] = releases(details["releases"])
    if "histogram" in details:
        drawn["histograms"] = histograms(details)
    return drawn


def histograms(details: Tables) -> Chart:
    """Return the histograms of the riskiest subset of some sizes, and of all quasi-identifiers."""
    best = details["best"].filter(pl.col("best_for") != "deterministic")
    sizes = sorted(set(best["n_qids"]))
    # Not more than MOST_PANELS of them, evenly spaced, with the least and the greatest.
    spaced = {sizes[round(i * (len(sizes) - 1) / (MOST_PANELS - 1))] for i in range(MOST_PANELS)}
    keys = ["model", "secret", "subset"]
    subsets = best.filter(pl.col("n_qids").is_in(sorted(spaced))).select(keys)
    histogram = details["histogram"].with_columns(datasets=pl.lit(1))
    rows = histogram.join(subsets, on=keys, nulls_equal=True, how="semi")
    order = (pl.col("qids").list.len(), "secret")
    return people_charts.histograms(rows.sort(*order, maintain_order=True))
