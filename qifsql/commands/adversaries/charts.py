"""Charts of adversaries: success against the number of attributes known, with its spread."""

import re
from typing import Any

import polars as pl

from qifsql.presentation import escaping
from qifsql.presentation.language import said
from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.theme import (
    BLUE,
    ORANGE,
    PERCENT,
    SKY,
    Chart,
    dressed,
    grid,
    hints,
    labels,
    libraries,
    measures,
    word_questions,
)
from qifsql.presentation.words import percent

ADVERSARY_COLOURS = [ORANGE, "#009E73", "#CC79A7", "#000000"]
ADVERSARY_SHAPES = ["diamond", "square", "triangle-up", "circle", "cross"]
ANY = re.compile(r"any (\d+) of (\d+)")


def adversary_name(name: str) -> str:
    """Return the name of an adversary, in the language of the reader if qifsql chose it."""
    match = ANY.fullmatch(name)
    if match:
        return said("any {r} of {n}", r=match[1], n=match[2])
    return escaping.cell(name)


def success_by_size(frame: pl.DataFrame, by_size: pl.DataFrame) -> Chart:
    """Draw success against the number of attributes known: least, quartiles, mean, greatest.

    ``frame`` and ``by_size`` are tables of a result of ``adversaries``. A dot stands for an
    adversary with a name, at the mean number of attributes that she knows.
    """
    alt, _ = libraries()
    sizes = word_questions(by_size)
    dots, names = _named_adversaries(frame)
    questions = sizes.select("model", "secret", "question", "order").unique(maintain_order=True)
    dots = dots.join(questions, on=["model", "secret"], nulls_equal=True, maintain_order="left")
    # A row is a size or a dot; the columns of the other are NULL.
    rows = pl.concat([sizes, dots], how="diagonal_relaxed").drop("model", "secret")
    known_sizes = sizes["n_qids"].to_list()
    ticks = list(range(min(known_sizes), max(known_sizes) + 1))
    chart = grid(alt, alt.layer(*_layers(alt, ticks, names)), rows)
    below = said(
        "Any so many attributes, each set equally likely. Thin bars: from the least to the "
        "greatest success; thick: the middle half; white: the median; black line: the mean."
    )
    if dots.height:
        below += " " + said("Coloured marks: adversaries by name, at the mean of what they know.")
    title = said("Success by number of attributes known")
    return dressed(chart, title, below, _describe_sizes(sizes))


def _named_adversaries(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return a row (dot) for each adversary with a name, question and measure; and the labels."""
    tried = frame.with_columns(pl.col("attempt").fill_null(1.0))
    named = tried.filter(~pl.col("adversary").str.contains(f"^{ANY.pattern}$"))
    named = named.filter(pl.col("attempt") > 0)  # without "any 3 of 9", and who never tries
    texts = {name: adversary_name(name) for name in named["adversary"].unique(maintain_order=True)}
    by_text = labels(texts.values())
    by_name = {name: by_text[text] for name, text in texts.items()}
    dots = named.select(
        *("model", "secret", "measure"),
        who=pl.col("adversary").replace_strict(by_name, return_dtype=pl.String),
        place="mean_known",
        success=pl.col("expected") / pl.col("attempt"),  # of who does try
        high=pl.col("q95") / pl.col("attempt"),
    )
    return dots, list(by_name.values())


def _layers(alt: Any, ticks: list[int], names: list[str]) -> list[Any]:
    """Return the marks of one question: ranges, means, and a dot for each adversary."""
    title = said("number of attributes known")
    scale = alt.Scale(domain=[ticks[0] - 0.5, ticks[-1] + 0.5])
    axis = alt.Axis(values=ticks, format="d", grid=False)
    x, place = (
        alt.X(f"{field}:Q", title=title, scale=scale, axis=axis) for field in ("n_qids", "place")
    )
    upright = {
        "title": said("success"),
        "scale": alt.Scale(domain=[0, 1]),
        "axis": alt.Axis(labelExpr=PERCENT, values=[0, 0.2, 0.4, 0.6, 0.8, 1]),
    }
    least, quarter, median, mean, success = (
        alt.Y(f"{field}:Q", **upright) for field in ("least", "q25", "median", "mean", "success")
    )
    titles = {"n_qids:Q": title, "mean:Q": said("mean"), "least:Q": said("least")}
    titles["greatest:Q"] = said("greatest")
    titles_of_dots = {
        "who:N": said("adversary"),
        "success:Q": said("mean"),
        "high:Q": said("95th percentile"),
    }
    base = alt.Chart(height=200).transform_filter("isValid(datum.n_qids)").encode(x=x)
    dot = alt.Chart().transform_filter("isValid(datum.place)").encode(x=place, y=success)
    return [
        base.mark_rule(color=SKY, size=2).encode(y=least, y2="greatest"),
        base.mark_bar(color=SKY, size=12).encode(y=quarter, y2="q75", tooltip=hints(alt, titles)),
        base.mark_tick(color="white", thickness=2, size=12, orient="horizontal").encode(y=median),
        base.mark_line(color="black", size=1.5, point={"color": BLUE, "size": 30}).encode(y=mean),
        dot.mark_point(filled=True, size=90).encode(
            color=_by_name(ADVERSARY_COLOURS, names),
            shape=_by_name(ADVERSARY_SHAPES, names),
            tooltip=hints(alt, titles_of_dots),
        ),
    ]


def _describe_sizes(sizes: pl.DataFrame) -> list[str]:
    """Return a sentence for each question and measure, about those who know most."""
    keys = ["order", "measure"]
    largest = sizes.sort(*keys, "n_qids").unique(keys, keep="last", maintain_order=True)
    message = "{question}, {measure}: {r} attributes known: {mean} on average, up to {most}."
    return [
        said(
            message,
            r=str(row["n_qids"]),
            mean=percent(row["mean"]),
            most=percent(row["greatest"]),
            question=row["question"],
            measure=measures()[row["measure"]],
        )
        for row in largest.iter_rows(named=True)
    ]


def _by_name(values: list[str], names: list[str]) -> dict[str, object]:
    """Return an encoding that gives each name of an adversary a value (a colour or a shape)."""
    scale = {"domain": names, "range": [values[i % len(values)] for i, _ in enumerate(names)]}
    legend = {"orient": "bottom", "columns": 3, "labelLimit": 240}
    kind = {"field": "who", "type": "nominal", "sort": names, "title": None}
    return {**kind, "scale": scale, "legend": legend}


def charts(frame: pl.DataFrame, details: Tables, _spec: Spec) -> dict[str, Chart]:
    """Return the charts of adversaries, by name."""
    return {"known": success_by_size(frame, details["by_size"])}
