"""The chart of privacy against utility: a line for each mechanism, a point for each epsilon."""

from collections import defaultdict
from typing import Any

import polars as pl

from qifsql.presentation.language import number, said
from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.theme import BLUE, ORANGE, PERCENT, Chart, data, dressed, hints, libraries
from qifsql.presentation.words import fixed, percent

NAMES = {
    "oblivious": "oblivious: noise on the count",
    "local": "local: noise on each record",
    "randomised_response": "randomised response on each record",
}
COLOURS = [BLUE, ORANGE, "#009E73"]  # from the palette of Okabe and Ito
DASHES = [[1, 0], [6, 3], [2, 2]]
PANELS_PER_ROW = 2  # a panel for each predicate
LABEL_DISTANCE = 0.05  # share of both axes: labels nearer than this would overlap


def tradeoff(frame: pl.DataFrame) -> Chart:
    """Draw privacy loss against utility: the best corner is at the bottom right.

    ``frame`` is a result of ``dp`` (``TRADEOFF``); rows without a utility are left out. The dashed
    lines are the loss without noise, and the utility without a report.
    """
    alt, _ = libraries()
    points = frame.filter(pl.col("utility").is_not_null())
    names = {mechanism: said(NAMES[mechanism]) for mechanism in NAMES}
    titles = _panel_titles(points)
    panels = pl.Series("panel", [titles[n] for n in points["predicate"]], dtype=pl.String)
    points = points.with_columns(panel=panels, label=_point_labels(points))
    rows = points.select(
        pl.col("mechanism").replace_strict(names).alias("noise"),
        pl.Series("given", map(number, points["epsilon_given"]), dtype=pl.String),
        "epsilon",
        "panel",
        pl.col("privacy_loss").alias("loss"),
        "utility",
        "label",
    )
    limits = points.select("panel", most="privacy_loss_max", least="utility_min")
    limits = limits.group_by("panel", maintain_order=True).first()
    # altair draws facets of one table: rows of points have no limits, and those of limits no point
    values = data(alt, pl.concat([rows, limits], how="diagonal"))
    drawn = set(rows["noise"])
    looks = {name: i for i, name in enumerate(names.values()) if name in drawn}
    chart = alt.layer(*_layers(alt, looks), width=380, height=280)
    facet = alt.Facet("panel:N", sort=list(titles.values()))
    chart = chart.facet(facet=facet, data=values, columns=PANELS_PER_ROW)
    message = "{mechanism}, epsilon {epsilon}: privacy loss {loss}, utility {utility}."
    words = [
        said(
            message,
            mechanism=names[row["mechanism"]],
            epsilon=number(row["epsilon_given"]),
            loss=fixed(row["privacy_loss"], 4),
            utility=percent(row["utility"]),
        )
        for row in points.iter_rows(named=True)
    ]
    below = said(
        "Lower is more private, further right is more useful; each point is one epsilon. Dashed "
        "lines: the loss without noise (horizontal) and the utility without a report (vertical)."
    )
    return dressed(chart, said("Privacy loss against utility"), below, words)


def _panel_titles(frame: pl.DataFrame) -> dict[int | None, str]:
    """Return the titles of panels by predicate, all together (None) last; of one panel a blank."""
    numbers = sorted(frame["predicate"].drop_nulls().unique())
    titles: dict[int | None, str] = {n: said("count {n}", n=n) for n in numbers}
    if frame["predicate"].null_count():
        titles[None] = said("all counts together")
    return titles if len(titles) > 1 else dict.fromkeys(titles, " ")


def _point_labels(frame: pl.DataFrame) -> pl.Series:
    """Return the label of each point, its epsilon; NULL if it would overlap another label.

    Large epsilons get labels first: points of small epsilons lie close together.
    """
    greatest = max(*frame["privacy_loss"], *frame["privacy_loss_max"])
    # the spans of both axes; never 0, as positions are divided by them
    height, width = max(greatest - 1.0, 1e-9), 1.0 - min(frame["utility_min"]) or 1.0
    labels: list[str | None] = [None] * frame.height
    labelled: dict[int | None, list[tuple[float, float]]] = defaultdict(list)  # by predicate
    for i in sorted(range(frame.height), key=lambda i: -frame["epsilon"][i]):
        row = frame.row(i, named=True)
        x, y = row["utility"] / width, row["privacy_loss"] / height
        beside = labelled[row["predicate"]]
        if all(
            abs(x - other_x) > 2 * LABEL_DISTANCE or abs(y - other_y) > LABEL_DISTANCE
            for other_x, other_y in beside
        ):
            labels[i] = row["epsilon_given"]
            beside.append((x, y))
    return pl.Series("label", labels, dtype=pl.String)


def _layers(alt: Any, drawn: dict[str, int]) -> list[Any]:
    """Return the layers of a panel, from the back to the front.

    These are two dashed limits, then a line, dots and labels of each noise. ``drawn`` has, by its
    name, the index of its colour and dashes. Some rows of the data are points (``given``: the
    epsilon), the others limits: ``most`` is the loss without noise, ``least`` the utility without a
    report.
    """
    x = alt.X("utility:Q", title=said("utility: real count guessed right"))
    x = x.scale(zero=False, nice=False, padding=24).axis(labelExpr=PERCENT, grid=False)
    y = alt.Y("loss:Q", title=said("privacy loss (factor)")).scale(
        zero=False, nice=False, padding=18
    )
    present = list(drawn)
    colour = alt.Color("noise:N", title=None, sort=present)
    colour = colour.scale(domain=present, range=[COLOURS[i] for i in drawn.values()])
    dash = alt.StrokeDash("noise:N", title=None, sort=present)
    dash = dash.scale(domain=present, range=[DASHES[i] for i in drawn.values()])
    legend = alt.Legend(
        orient="bottom", direction="vertical", labelLimit=380, symbolType="stroke", symbolSize=600
    )
    points = alt.Chart().transform_filter("isValid(datum.given)")
    limits = alt.Chart().transform_filter("isValid(datum.most)")
    grey = {"color": "#707070", "strokeDash": [4, 4]}
    line = points.mark_line(strokeWidth=1.5).encode(
        x=x, y=y, order="epsilon:Q", color=colour.legend(legend), strokeDash=dash.legend(legend)
    )
    tooltip = hints(alt, {"noise:N": said("noise"), "given:N": said("epsilon")})
    tooltip.append(alt.Tooltip("loss:Q", title=said("privacy loss (factor)"), format=".6f"))
    tooltip += hints(alt, {"utility:Q": said("utility")})
    dot = points.mark_circle(size=45, opacity=1).encode(x=x, y=y, color=colour, tooltip=tooltip)
    text = points.mark_text(align="right", dx=-7, dy=-6).encode(x=x, y=y, text="label:N")
    return [
        limits.mark_rule(**grey).encode(y=alt.Y("most:Q")),
        limits.mark_rule(**grey).encode(x=alt.X("least:Q")),
        line,
        dot,
        text.transform_filter("isValid(datum.label)").encode(color=colour),
    ]


def charts(frame: pl.DataFrame, _details: Tables, _spec: Spec) -> dict[str, Chart]:
    """Return the charts of a result, by name."""
    return {"tradeoff": tradeoff(frame)}
