"""The chart of the frontier of a lattice: risk against loss, a point for each node."""

import polars as pl

from qifsql.presentation.language import said
from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.theme import BLUE, ORANGE, PERCENT, Chart, data, dressed, hints, libraries
from qifsql.presentation.words import fixed, percent, records


def charts(_frame: pl.DataFrame, details: Tables, _spec: Spec) -> dict[str, Chart]:
    """Return the chart of the frontier; none where no lattice was searched."""
    nodes = details.get("frontier")
    return {} if nodes is None else {"frontier": frontier(nodes)}


def frontier(nodes: pl.DataFrame) -> Chart:
    """Return a chart of risk against penalty: a point per node (a row of ``node_search.NODES``)."""
    alt, _ = libraries()
    release, others = said("the release"), said("other node")
    names = pl.when(pl.col("released")).then(pl.lit(release)).otherwise(pl.lit(others))
    rows = nodes.select(
        "penalty", "risk", "suppressed", kind=names, name=pl.col("changes").list.join(" + ")
    )
    loss = said("information lost (certainty penalty)")
    risk = said("chance of the best guess at whose a record is")
    x = alt.X("penalty:Q", title=loss).axis(labelExpr=PERCENT)
    y = alt.Y("risk:Q", title=risk).scale(type="log").axis(format=".2%")
    colour = alt.Color("kind:N", title=None).scale(domain=[release, others], range=[ORANGE, BLUE])
    titles = {"name:N": said("changes"), "penalty:Q": loss, "risk:Q": risk}
    titles["suppressed:Q"] = said("suppressed records")
    chart = alt.Chart(data(alt, rows), width=420, height=280)
    points = chart.mark_circle(size=70, opacity=1)
    points = points.encode(
        x=x, y=y, color=colour.legend(orient="bottom"), tooltip=hints(alt, titles)
    )
    below = said(
        "Lower is more private, further left is more useful. Each point is a node of the lattice "
        "that keeps the limits; no other one that was measured is better in both."
    )
    return dressed(points, said("Frontier of risk against loss"), below, _nodes_in_words(nodes))


def _nodes_in_words(nodes: pl.DataFrame) -> list[str]:
    """Return a sentence per node: the chart in words."""
    return [
        said(
            "Penalty {penalty}: risk 1 in {people}, suppressed: {suppressed}.",
            penalty=percent(row["penalty"]),
            people=fixed(1 / row["risk"], 1),
            suppressed=records(row["suppressed"]),
        )
        for row in nodes.iter_rows(named=True)
    ]
