"""Results as charts: success by set of quasi-identifiers, histograms, shares of the risk.

A chart shows names of columns and counts, never a value of a cell. Names go in as data, and every
field is named here, so that no name of a column can be read as part of a specification.
"""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from pathlib import Path
from textwrap import wrap
from types import ModuleType
from typing import Any

import polars as pl

from qifsql.errors import InputError, quoted
from qifsql.export import Origin, check_ending, whole
from qifsql.report.words import count, listed, percent

Chart = Any  # of altair, which is imported only where a chart is drawn

ENDINGS = (".html", ".png", ".svg", ".json")
DOTS = 5_000  # more subsets than this are drawn as ranges
NAME = 48  # characters of a name that are shown
BLUE, SKY, ORANGE = "#0072B2", "#56B4E9", "#D55E00"  # of Okabe and Ito: told apart by everybody
MEASURES = {
    "deterministic": "Deterministic: known with certainty",
    "probabilistic": "Probabilistic: right at the best guess",
}
PANEL = ["panel", "order", "question", "measure", "prior"]  # what is the same within a panel
RANGES = "Thin bars: all sets of a size; thick: the middle half; white: the median; dots: the worst"
PERCENT = "format(100 * datum.value, '~g') + ' %'"
OPTIONS = {"ast": True, "actions": {"source": False, "compiled": False, "editor": False}}
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data: blob:;
 style-src 'unsafe-inline'; script-src {digests}">
</head><body style="margin: 1.5rem; background: #fff; color: #000; font: 14px/1.5 sans-serif">
<div id="chart"></div><p style="max-width: 45rem; overflow-wrap: anywhere">{words}</p>
<script>{library}</script><script>{call}</script>
</body></html>
"""


def success(frame: pl.DataFrame) -> Chart:
    """Success against the number of quasi-identifiers, a dot for each subset (PoPETs 2022, Fig. 2).

    ``frame`` is the result of a sweep: the columns of ``assessment.SCHEMA``, one row for each
    ``subset`` and question. The black line is the mean, the dashed one the prior. More than 5,000
    subsets are drawn as range, quartiles and median of each size, with a dot for the best subset.
    """
    alt, _ = extra()
    points, gained = _points(_asked(frame)), pl.col("success")
    subsets = points["subset"].n_unique()
    dots = subsets <= DOTS and frame.height <= 2 * DOTS
    best = points.sort("success", "subset").unique(["panel", "size"], keep="last")
    shown = (points if dots else best).sort("panel", "size", "subset")
    names = shown.select("subset", "names").unique().sort("subset")
    quartiles = (gained.quantile(i / 4, "linear").alias(f"quartile_{i}") for i in range(5))
    sizes = points.group_by("panel", "size").agg(gained.mean(), *quartiles).sort("panel", "size")
    panels = points.group_by(PANEL[:-1]).agg(pl.col("prior").max(), most=gained.max())
    panels = panels.sort("panel")
    label = pl.Series([f"prior\n{percent(prior)}" for prior in panels["prior"]])
    priors = panels.select("panel", success="prior", label=label)
    rows = pl.concat([shown.drop("names", *PANEL[1:]), sizes, priors], how="diagonal_relaxed")
    chart = _grid(alt, alt.layer(*_layers(alt, points["size"], dots=dots)), rows)
    for key, table in (("panel", panels.select(PANEL)), ("subset", names)):
        rest = alt.LookupData(plain_data(alt, table), key, table.columns[1:])
        chart = chart.transform_lookup(key, rest)
    below = "Each dot is one set of quasi-identifiers" if dots else RANGES
    below += "; the black line joins the means. The dashed line is the success before the release."
    words = [f"{count(subsets)} sets of quasi-identifiers."]
    for _, _, question, measure, prior, most in panels.rows():
        words += [f"{question}, {measure}: {percent(prior)} before, up to {percent(most)} after."]
    return dressed(chart, "Success by number of quasi-identifiers known", below, words)


def histograms(frame: pl.DataFrame) -> Chart:
    """The share of the people by the success on them in percent (thesis, Fig. 4.6).

    ``frame`` has ``model``, ``secret``, ``qids``, ``bin`` and ``individuals``, and makes a panel
    for each question and subset. Bins are percentages rounded half to even, 0 to 100.
    """
    alt, _ = extra()
    people, keys = pl.col("individuals"), ["order", "question", "qids"]
    rows = _asked(frame).with_columns(share=people / people.sum().over(keys), people=people)
    sure = pl.col("share").filter(pl.col("bin") == 100).sum()
    panels = rows.group_by(keys, maintain_order=True).agg(sure)
    names, heads, words = _labels(frame["qids"].explode()), [], []
    for _, question, qids, share in panels.rows():
        known = f"knowing {listed([names[qid] for qid in qids])}"
        heads.append("\n".join([question, *wrap(known, 44, max_lines=3, placeholder=" …")]))
        words.append(f"{question}, {known}: {percent(share)} of the people at 100 percent.")
    panels = panels.select(*keys, panel=pl.Series(_distinct(heads)), place=pl.int_range(pl.len()))
    rows = rows.join(panels, on=keys).filter(people > 0).sort("place", "bin")
    data = plain_data(alt, rows.select("place", "panel", "bin", "people", "share"))
    x = alt.X("bin:Q", title="success, percent").axis(values=[0, 20, 40, 60, 80, 100], grid=False)
    y = alt.Y("share:Q", title="share of people").axis(labelExpr=PERCENT, tickCount=5)
    bars = alt.Chart(height=150).mark_bar(color=BLUE, orient="vertical", width=300 / 102)
    bars = bars.encode(x=x.scale(domain=[-1, 101]), y=y, tooltip=["bin:N", "people:N", "share:Q"])
    facet = alt.Facet("panel:N").header(labelExpr="split(datum.value, '\\n')")
    columns = 2 if panels.filter(order=0).height % 3 else 3
    chart = bars.facet(facet.sort(field="place", op="min"), data=data, columns=columns)
    below = "Success is the probability that the best guess about a person is right. 0 stands for "
    below += "up to 0.5 percent, not for never; 100 for at least 99.5 percent."
    return dressed(chart, "People by success on them", below, words)


def shapley(frame: pl.DataFrame) -> Chart:
    """What each quasi-identifier contributes to success: bars for each question and measure.

    ``frame`` has ``model``, ``secret``, ``measure``, ``qid``, ``shapley``, ``share``, ``alone``
    and ``last``. All bars are on one scale.
    """
    alt, _ = extra()
    amounts = [percent(points).removesuffix(" %") for points in frame["shapley"]]
    shares = ["" if s is None else f" ({percent(s)})" for s in frame["share"].fill_nan(None)]
    text = pl.Series("contribution", [a + s for a, s in zip(amounts, shares, strict=True)])
    qids = pl.col("qid").replace_strict(_labels(frame["qid"]), return_dtype=pl.String)
    rows = _asked(frame).with_columns(qids, text)
    keys = ["order", "question", "measure"]
    rows = rows.select(*keys, "qid", "contribution", "shapley", "alone", "last")
    rows = rows.sort(*keys, "shapley", descending=[False, False, False, True], maintain_order=True)
    x = alt.X("shapley:Q", title="contribution, percentage points")
    x = x.axis(labelExpr="format(100 * datum.value, '~g')", tickCount=5)
    ends = [1.5 * min(0.0, *frame["shapley"]), 1.5 * max(1e-9, *frame["shapley"])]
    y = alt.Y("qid:N", title=None, sort=None)  # as in the data
    tooltip = ["qid:N", "contribution:N", "alone:Q", "last:Q"]
    bars = alt.Chart(height=alt.Step(22)).encode(x=x.scale(domain=ends), y=y, tooltip=tooltip)
    texts = bars.mark_text(align="left", dx=4).encode(text="contribution:N")
    chart = _grid(alt, bars.mark_bar(color=BLUE) + texts, rows).resolve_scale(y="independent")
    words, most = [], rows.unique(keys, keep="first", maintain_order=True)
    for _, question, measure, qid, contribution, *_ in most.rows():
        words += [f"{question}, {measure}: most by {qid}, {contribution}."]
    below = "Shapley values: what a quasi-identifier adds to success, as a mean over all orders of "
    below += "learning them, in percentage points. In brackets: its share of the whole."
    return dressed(chart, "Contribution of each quasi-identifier to success", below, words)


def save(chart: Chart, path: Path, origin: Origin) -> None:
    """Write a chart: HTML that works without a network, PNG, SVG, or its Vega-Lite as JSON."""
    check_ending(path, ENDINGS)
    _, converter = extra()
    spec, ending = chart.to_dict(), path.suffix.casefold()
    title, words = escape(spec["title"]["text"]), escape(spec["description"])
    if ending == ".png":
        content = converter.vegalite_to_png(spec, scale=2, allowed_base_urls=[])
    elif ending == ".svg":
        drawn = converter.vegalite_to_svg(spec, allowed_base_urls=[])
        said = f"<title>{title}</title><desc>{words}</desc>"
        content = re.sub(r"<svg[^>]*>", lambda tag: tag[0] + said, drawn, count=1).encode()
    elif ending == ".html":
        content = _page(spec, title, words, converter.javascript_bundle()).encode()
    else:
        content = json.dumps(spec).encode() + b"\n"
    with whole(path, origin) as temporary:
        temporary.write_bytes(content)


def _page(spec: dict[str, Any], title: str, words: str, library: str) -> str:
    """A page that loads nothing: the browser is told to refuse all but the two scripts in it."""
    text = json.dumps(spec).replace("<", "\\u003c")  # "</script>" in a name would end the script
    call = f'vegaEmbed("#chart", {text}, {json.dumps(OPTIONS)});'
    digests = (b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in (library, call))
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return PAGE.format(digests=allowed, title=title, words=words, library=library, call=call)


def extra() -> tuple[ModuleType, ModuleType]:
    """Altair, and what turns its charts into pictures."""
    try:
        import altair
        import vl_convert
    except ImportError as e:
        raise InputError("charts need the extra: pip install 'qifsql[charts]'") from e
    return altair, vl_convert


def _asked(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with its questions in words, and their ``order``."""
    if frame.is_empty():
        raise InputError("there is nothing to draw: the result has no rows")
    asked = frame.select("model", "secret").unique(maintain_order=True)
    names = _labels(asked["secret"].drop_nulls())
    secrets = asked["secret"].to_list()
    texts = [f"Inference of {names[s]}" if s in names else "Re-identification" for s in secrets]
    asked = asked.with_columns(question=pl.Series(_distinct(texts)), order=pl.int_range(pl.len()))
    return frame.join(asked, on=["model", "secret"], nulls_equal=True, maintain_order="left")


def _points(frame: pl.DataFrame) -> pl.DataFrame:
    """The success of each subset, a row for each measure; a panel is a question and a measure."""
    names = pl.element().replace_strict(_labels(frame["qids"].explode()), return_dtype=pl.String)
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
    """The layers of a panel of ``success``, from the back to the front."""
    ticks = list(range(min(sizes), max(sizes) + 1))
    x = alt.X("size:Q", title="number of quasi-identifiers known")
    x = x.scale(domain=[ticks[0] - 0.5, ticks[-1] + 0.5])
    x = x.axis(values=ticks, format="d", grid=False)
    axis = alt.Axis(labelExpr=PERCENT, values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    y = {"title": "success", "scale": alt.Scale(domain=[0, 1]), "axis": axis}
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
    dot = subset.mark_circle(color=BLUE, aria=False, size=30, opacity=0.4 if dots else 1)
    return [
        *([] if dots else ranges),
        prior.mark_rule(color=ORANGE, strokeDash=[6, 4], size=2),
        label.mark_text(align="left", dx=6, dy=-10, baseline="bottom", lineBreak="\n"),
        dot.encode(x=x, tooltip=["names:N", "success:Q", "prior:Q"]),
        size.mark_line(color="black", size=1.5, point=len(ticks) == 1 and {"color": "black"}),
    ]


def _labels(names: Iterable[str]) -> dict[str, str]:
    """Names as they are shown: on one line, not too long, and still distinct."""
    known = list(dict.fromkeys(names))
    shown = (quoted(name)[1:-1] for name in known)
    cut = (name if len(name) <= NAME else f"{name[: NAME - 1]}…" for name in shown)
    return dict(zip(known, _distinct(cut), strict=True))


def _distinct(texts: Iterable[str]) -> list[str]:
    """The texts, numbered where they were met before."""
    seen: dict[str, None] = {}
    for text in texts:
        again = (f"{text} ({i})" for i in range(2, len(seen) + 3))
        seen[next(t for t in (text, *again) if t not in seen)] = None
    return list(seen)


def plain_data(alt: ModuleType, frame: pl.DataFrame) -> Any:
    """Rows as plain data, without what is missing."""
    rows = frame.with_columns(pl.selectors.float().fill_nan(None)).to_dicts()
    return alt.Data(values=[{k: v for k, v in row.items() if v is not None} for row in rows])


def _grid(alt: ModuleType, chart: Any, rows: pl.DataFrame) -> Any:
    """Panels with a row for each question and a column for each measure."""
    column = alt.Column("measure:N").header(labelExpr=f"{json.dumps(MEASURES)}[datum.value]")
    lines = "split(replace(datum.value, ' of ', ' of\\n'), '\\n')"
    row = alt.Row("question:N").sort(field="order", op="min").header(labelExpr=lines)
    return chart.facet(row=row, column=column, data=plain_data(alt, rows))


def dressed(chart: Any, title: str, below: str, words: list[str]) -> Chart:
    """The chart with its title, its description in words and one look."""
    black = {"labelColor": "black", "titleColor": "black", "gridColor": "#E5E5E5"}
    large = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal"}
    chart = chart.properties(title={"text": title, "subtitle": wrap(below, 95)})
    return chart.properties(description=" ".join([f"{title}.", *words])).configure(
        background="white",
        font="Arial, Helvetica, sans-serif",
        axis={**black, **large, "domain": False},
        axisY={"labelLimit": 180, "ticks": False, "labelPadding": 6},
        facet={"spacing": 24},
        header={"labelFontSize": 13, "labelFontWeight": "bold", "labelLimit": 300, "title": None},
        headerRow={"labelLimit": 180, "labelAngle": 0, "labelAlign": "left"},
        text={"fontSize": 12},
        title={"anchor": "start", "fontSize": 16, "subtitleFontSize": 13, "offset": 14},
        tooltipFormat={"numberFormat": ".6~%"},
        view={"stroke": "#B0B0B0", "continuousWidth": 300, "continuousHeight": 220},
    )
