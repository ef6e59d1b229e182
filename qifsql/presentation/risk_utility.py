"""The chart of risk against utility: a point for each release."""

from collections.abc import Sequence
from itertools import product

import polars as pl

from qifsql.presentation import theme
from qifsql.presentation.comparisons import named
from qifsql.presentation.language import said
from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.words import known_records, percent


def charts(frame: pl.DataFrame, _details: Tables, _spec: Spec) -> dict[str, theme.Chart]:
    """Return the charts of a result, by name."""
    return {"risk_utility": risk_utility(in_view(frame, "cells"))}


def in_view(frame: pl.DataFrame, view: str) -> pl.DataFrame:
    """Return the rows of one view of the releases; results without views have ``cells`` alone."""
    if "view" in frame.columns:
        return frame.filter(view=view)
    return frame if view == "cells" else frame.clear()


def risk_utility(frame: pl.DataFrame) -> theme.Chart:
    """Return the chart of success against loss, by question and measure of success.

    ``frame`` has the columns of ``qifsql.counting.risks.PARTITION``, ``secret`` and
    ``certainty_penalty``; its first row is the original.
    """
    alt, _ = theme.libraries()
    names = [named(row) + known_records(row) for row in frame.iter_rows(named=True)]
    rows = theme.word_questions(_points(frame, names))
    largest = float(rows["loss"].max() or 0.01)  # type: ignore[arg-type]
    loss = said("information lost (certainty penalty)")
    x = alt.X("loss:Q", title=loss).scale(domain=[0, largest * 1.3], nice=False)
    x = x.axis(labelExpr=theme.PERCENT)
    y = alt.Y("success:Q", title=said("success")).scale(zero=True).axis(labelExpr=theme.PERCENT)
    kinds = [said("original"), said("release")]
    colour = alt.Color("kind:N", title=None).scale(domain=kinds, range=[theme.ORANGE, theme.BLUE])
    colour = colour.legend(orient="bottom")
    titles = {"name:N": said("release"), "loss:Q": loss, "success:Q": said("success")}
    points = alt.Chart().mark_circle(size=70, opacity=1)
    points = points.encode(x=x, y=y, color=colour, tooltip=theme.hints(alt, titles))
    text = alt.Chart().mark_text(align="left", dx=7, dy=-6, limit=150)
    text = text.encode(x=x, y=y, text="name:N")
    line = alt.Chart().mark_rule(color="#707070", strokeDash=[4, 4]).encode(y=alt.Y("prior:Q"))
    chart = theme.grid(alt, alt.layer(line, points, text, width=300, height=200), rows)
    chart = chart.resolve_scale(y="independent")
    below = said(
        "Lower is more private, further left is more useful. The dashed line is success "
        "without a release."
    )
    return theme.dressed(chart, said("Risk against utility"), below, _sentences(rows))


def _points(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return one row per release, question (model, secret) and measure, without repetitions.

    ``names`` are those of the rows of ``frame``. Columns: model, secret (NULL: re-identification),
    measure, name, kind (original or release), loss, prior, success.
    """
    short, original, release = theme.labels(names), said("original"), said("release")
    rows = []
    for name, row in zip(names, frame.iter_rows(named=True), strict=True):
        kind = original if row["release"] == frame["release"][0] else release
        point = {"name": short[name], "kind": kind, "loss": row["certainty_penalty"]}
        for model, measure in product(("crs", "cas"), theme.MEASURES):
            if row[f"{model}_posterior_probabilistic"] is None:  # CAS without a secret
                continue
            secret = row["secret"] if model == "cas" else None
            about = {"model": model.upper(), "secret": secret, "measure": measure}
            prior, success = (row[f"{model}_{when}_{measure}"] for when in ("prior", "posterior"))
            rows.append({**about, **point, "prior": prior, "success": success})
    schema = {"secret": pl.String()}
    return pl.DataFrame(rows, schema_overrides=schema).unique(maintain_order=True)


def _sentences(rows: pl.DataFrame) -> list[str]:
    """Return a sentence for each point of the chart, for readers who do not see it."""
    kinds = {"deterministic": said("deterministic"), "probabilistic": said("probabilistic")}
    message = "{question}, {measure}, {name}: success {success} at a loss of {loss}."
    return [
        said(
            message,
            question=row["question"],
            measure=kinds[row["measure"]],
            name=row["name"],
            success=percent(row["success"]),
            loss=percent(row["loss"]),
        )
        for row in rows.iter_rows(named=True)
    ]
