"""The chart of links: their probability by the model, and the share that is right."""

from typing import Any

import polars as pl

from qifsql.presentation.language import said
from qifsql.presentation.theme import BLUE, PERCENT, Chart, data, dressed, libraries
from qifsql.presentation.words import count, percent

TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]


def calibration(frame: pl.DataFrame) -> Chart:
    """Draw the share of best links that are right against their probability by the model.

    ``frame`` has the columns of ``keyless.calibrate.CALIBRATION``. Each step from one release to
    the next has a panel. Each probability in percent has a circle, sized by its number of links.
    """
    alt, _ = libraries()
    names = [_step(step) for step in frame["step"]]
    rows = frame.select("step", "links", "predicted", "right").with_columns(
        panel=pl.Series(names, dtype=pl.String)
    )
    x = _axis(alt.X("predicted:Q", title=said("chance by the model")))
    y = _axis(alt.Y("right:Q", title=said("share of links that are right")))
    size = alt.Size("links:Q", title=said("links")).scale(rangeMin=12, rangeMax=500)
    size = size.legend(orient="bottom", format=",d", tickCount=4)
    tooltip = ["panel:N", "predicted:Q", "right:Q", alt.Tooltip("links:Q", format=",d")]
    circles = alt.Chart().mark_circle(color=BLUE, opacity=0.6)
    circles = circles.encode(x=x, y=y, size=size, tooltip=tooltip)
    ends = alt.Data(values=[{"predicted": 0, "right": 0}, {"predicted": 1, "right": 1}])
    grey = {"color": "#707070", "strokeDash": [4, 4]}
    line = alt.Chart(ends).mark_line(**grey).encode(x="predicted:Q", y="right:Q")
    layers = alt.layer(line, circles, width=300, height=300)
    facet = alt.Facet("panel:N", title=None).sort(field="step", op="min")
    columns = min(3, rows["step"].n_unique())
    chart = layers.facet(facet, data=data(alt, rows), columns=columns)
    below = said(
        "Each circle shows all best links with one predicted probability, in whole percent; "
        "its size is their number. On the dashed line the prediction is right; below it, the "
        "model promises too much."
    )
    return dressed(chart, said("Links: by the model and by the truth"), below, _words(rows))


def _axis(channel: Any) -> Any:
    axis = {"labelExpr": PERCENT, "values": TICKS}
    return channel.scale(domain=[0, 1], nice=False).axis(**axis)


def _step(step: int) -> str:
    return said("release {n} to {later}", n=step, later=step + 1)


def _words(rows: pl.DataFrame) -> list[str]:
    """Return the chart as text for readers who cannot see it: one sentence per step."""
    return [
        said(
            "{step}: of {n} links {predicted} are right according to the model, {right} in truth.",
            step=_step(step),
            n=count(links),
            predicted=percent(predicted),
            right=percent(right),
        )
        for step, links, predicted, right in pooled(rows, "step").iter_rows()
    ]


def pooled(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the number of links, their mean probability and the share that is right."""
    n = pl.col("links")
    means = {name: (n * pl.col(name)).sum() / n.sum() for name in ("predicted", "right")}
    return rows.group_by(by, maintain_order=True).agg(n.sum(), **means)
