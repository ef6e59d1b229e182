"""Charts of inference testing: the distribution of distances, and their change with k."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qifsql.presentation.language import number, said
from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.theme import BLUE, ORANGE, PERCENT, Chart, data, dressed, hints, libraries
from qifsql.presentation.words import fixed, percent

NAMES = {
    "emd_printed": "EMD as printed (a quarter of L1)",
    "emd": "EMD (half of L1)",
    "max_divergence": "max divergence (nats)",
    "emd_hierarchy": "EMD in the hierarchy (steps)",
}
COLOURS = ["#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]
MOST_STYLES = len(COLOURS) * len(DASHES)  # runs that colours and dashes can distinguish
FIRST_SHARE = 0.002  # of people, at which the axis of distances begins
PANELS_PER_ROW = 2  # a panel for each distance


def distribution(frame: pl.DataFrame) -> Chart:
    """Draw the share of people with at most each distance, by run (paper, Figs. 5 and 6).

    ``frame`` is the table ``distribution`` of a result of ``dit``. The axis of distances is
    logarithmic; the share at its left end includes the people with distance 0.
    """
    alt, _ = libraries()
    rows = _between_ends(frame.filter(pl.col("run") <= MOST_STYLES))
    rows = rows.select(
        "run",
        "point",
        "share",
        panel=pl.col("distance").replace_strict(_distance_titles()),
        name=pl.Series([run_title(row) for row in rows.iter_rows(named=True)], dtype=pl.String),
    )
    names = list(dict.fromkeys(rows.sort("run")["name"]))
    x = alt.X("point:Q", title=said("distance, at most"))
    x = x.scale(type="log", nice=False).axis(format="~g", grid=False, tickCount=4)
    y = alt.Y("share:Q", title=said("share of people")).axis(labelExpr=PERCENT)
    y = y.scale(domain=[0, 1])
    colour, dash = _styles_of_runs(alt, names)
    tooltip = hints(alt, {"name:N": said("release")})
    tooltip.append(alt.Tooltip("point:Q", title=said("distance, at most"), format=".3g"))
    tooltip += hints(alt, {"share:Q": said("share of people")})
    lines = alt.Chart(width=340, height=220).mark_line(strokeWidth=1.6, interpolate="linear")
    lines = lines.encode(x=x, y=y, color=colour, strokeDash=dash, tooltip=tooltip)
    chart = _panels(alt, lines, rows).resolve_scale(x="independent")
    below = said(
        "Share of people whose guess changes by at most this much without their own record. "
        "The further up and left the line, the less guesses depend on the person's own record."
    )
    reached = rows.filter(pl.col("share") >= 0.5)
    half = reached.group_by("panel", "name", maintain_order=True).first()
    words = [  # where half of the people are, for readers who cannot see the chart
        said(
            "{distance}, {run}: {share} of the people at most {point}.",
            distance=row["panel"],
            run=row["name"],
            share=percent(row["share"]),
            point=number(f"{row['point']:.3g}"),
        )
        for row in half.iter_rows(named=True)
    ]
    return dressed(chart, said("How guesses depend on the person's own record"), below, words)


def _styles_of_runs(alt: Any, names: Sequence[str]) -> tuple[Any, Any]:
    """Return the colours and dashes of runs: the first have 7 colours, the next these in dashes."""
    legend = alt.Legend(orient="bottom", columns=4, labelLimit=240, symbolType="stroke")
    colour = alt.Color("name:N", title=None, sort=names).legend(legend)
    styles = [divmod(i, len(COLOURS)) for i, _ in enumerate(names)]  # numbers of dash and colour
    colour = colour.scale(domain=names, range=[COLOURS[i] for _, i in styles])
    dash = alt.StrokeDash("name:N", title=None, sort=names).legend(legend)
    return colour, dash.scale(domain=names, range=[DASHES[i] for i, _ in styles])


def _between_ends(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the points of each distance from ``FIRST_SHARE`` of the people of a run to all.

    ``rows`` have the columns run, distance, point and share (of the people with at most this
    distance). Where no share is below ``FIRST_SHARE``, or is 1, that end is not cut. No point is 0.
    """
    point, share = pl.col("point"), pl.col("share")
    ends = rows.group_by("run", "distance").agg(
        begin=point.filter(share < FIRST_SHARE).max(), end=point.filter(share >= 1).min()
    )
    ends = ends.group_by("distance").agg(pl.col("begin").min(), pl.col("end").max())
    from_begin = pl.col("begin").is_null() | (point >= pl.col("begin"))
    # a point is 1.26 times the one before: the one after the end is drawn, too
    to_end = pl.col("end").is_null() | (point <= pl.col("end") * 1.3)
    return rows.join(ends, on="distance", how="left").filter(from_begin & to_end & (point > 0))


def summary(frame: pl.DataFrame) -> Chart:
    """Draw mean, standard deviation and maximum of distances against k (Fig. 7, Tables 1 to 4).

    ``frame`` is a result of ``dit`` with several k.
    """
    alt, _ = libraries()
    rows = frame.filter(pl.col("mean").is_not_null() & (pl.col("infinite") == 0)).select(
        "k",
        "mean",
        "max",
        limits=pl.col("limits").fill_null(said("k alone")),
        low=pl.max_horizontal(pl.col("mean") - pl.col("std"), pl.lit(0.0)),
        high=pl.col("mean") + pl.col("std"),
        panel=pl.col("distance").replace_strict(_distance_titles()),
    )
    limits = list(dict.fromkeys(rows["limits"]))
    middle, largest = said("mean"), said("largest")
    # a row per run, distance and line, of the mean or of the largest; bars belong to the means
    long = pl.concat(
        [
            rows.select("k", "limits", "panel", "low", "high", value="mean", what=pl.lit(middle)),
            rows.select("k", "limits", "panel", value="max", what=pl.lit(largest)),
        ],
        how="diagonal",
    )
    chart = alt.layer(*_summary_layers(alt, limits), width=340, height=220)
    chart = _panels(alt, chart, long).resolve_scale(y="independent")
    below = said(
        "The mean over all people with its standard deviation, and the largest distance of anyone, "
        "which is the epsilon of the release for this classifier."
    )
    words = [
        said(
            "{distance}, k={k}, {limits}: mean {mean}, largest {most}.",
            distance=row["panel"],
            k=row["k"],
            limits=row["limits"],
            mean=fixed(row["mean"], 4),
            most=fixed(row["max"], 4),
        )
        for row in rows.iter_rows(named=True)
    ]
    return dressed(chart, said("Worst case and average"), below, words)


def changed_guesses(frame: pl.DataFrame) -> Chart:
    """Draw the share of people whose best guess changes, against several k (Figs. 3 and 4)."""
    alt, _ = libraries()
    rows = frame.filter(pl.col("distance") == "emd")
    rows = rows.select("k", "different", limits=pl.col("limits").fill_null(said("k alone")))
    limits = list(dict.fromkeys(rows["limits"]))
    x, dash = _axis_of_k(alt, limits)
    y = alt.Y("different:Q", title=said("share of people")).axis(labelExpr=PERCENT)
    titles = {"k:O": "k", "limits:N": said("limits"), "different:Q": said("share of people")}
    lines = alt.Chart(data(alt, rows), width=340, height=220).encode(x=x, y=y)
    dots = lines.mark_circle(size=45, opacity=1, color=BLUE).encode(tooltip=hints(alt, titles))
    chart = alt.layer(lines.mark_line(strokeWidth=1.6, color=BLUE).encode(strokeDash=dash), dots)
    below = said("Share of people whose best guess changes when their own record is removed.")
    words = [
        said(
            "k={k}, {limits}: {share} of the people.",
            k=row["k"],
            limits=row["limits"],
            share=percent(row["different"]),
        )
        for row in rows.iter_rows(named=True)
    ]
    return dressed(chart, said("Other guesses"), below, words)


def _summary_layers(alt: Any, limits: list[str]) -> list[Any]:
    """Return the layers of a panel: bars of the standard deviation, both lines, and points."""
    x, dash = _axis_of_k(alt, limits)
    y = alt.Y("value:Q", title=said("distance")).axis(format="~g")
    colour = alt.Color("what:N", title=None).legend(alt.Legend(orient="bottom"))
    colour = colour.scale(domain=[said("mean"), said("largest")], range=[BLUE, ORANGE])
    base = alt.Chart()
    bars = base.mark_rule(strokeWidth=5, opacity=0.3, color=BLUE)
    bars = bars.transform_filter("isValid(datum.low)").encode(x=x, y="low:Q", y2="high:Q")
    titles = {"k:O": "k", "limits:N": said("limits"), "what:N": said("of the people")}
    tooltip = hints(alt, titles)
    tooltip.append(alt.Tooltip("value:Q", title=said("distance"), format=".6f"))
    line = base.mark_line(strokeWidth=1.6).encode(x=x, y=y, color=colour, strokeDash=dash)
    dots = base.mark_circle(size=45, opacity=1).encode(x=x, y=y, color=colour, tooltip=tooltip)
    return [bars, line.encode(detail="limits:N"), dots]


def _axis_of_k(alt: Any, limits: list[str]) -> tuple[Any, Any]:
    """Return the axis of k, and the dashes that distinguish the limits."""
    dash = alt.StrokeDash("limits:N", title=None, sort=limits)
    dash = dash.legend(alt.Legend(orient="bottom", symbolType="stroke") if limits[1:] else None)
    return alt.X("k:O", title="k").axis(labelAngle=0, grid=False), dash


def _panels(alt: Any, chart: Any, rows: pl.DataFrame) -> Any:
    """Return a chart with a panel for each distance in the rows."""
    present = set(rows["panel"])
    heads = [title for title in _distance_titles().values() if title in present]
    facet = alt.Facet("panel:N", sort=heads)
    return chart.facet(facet=facet, columns=PANELS_PER_ROW, data=data(alt, rows))


def _distance_titles() -> dict[str, str]:
    """Return the titles of panels by distance, in their order."""
    return {name: said(NAMES[name]) for name in NAMES}


def run_title(row: Mapping[str, Any]) -> str:
    """Return the title of a run: its k and limits, or that it is about a release from outside."""
    k = said("release") if row["k"] is None else f"k={row['k']}"
    return f"{k} {row['limits']}" if row["limits"] else k


def charts(frame: pl.DataFrame, details: Tables, _spec: Spec) -> dict[str, Chart]:
    """Return the charts of a result by name; those against k need several k."""
    drawn = {"distribution": distribution(details["distribution"])}
    if frame["k"].n_unique() > 1:
        drawn["summary"] = summary(frame)
        drawn["different"] = changed_guesses(frame)
    return drawn
