"""Charts of synthetic releases: members against control, and the blocks that give away most."""

import math
from collections.abc import Callable
from typing import Any

import polars as pl

from qifsql.presentation import escaping, theme
from qifsql.presentation.language import said
from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.theme import BLUE, ORANGE, PERCENT, SKY, Chart
from qifsql.presentation.words import count, percent

RELEASE_MEASURES = ("UiO", "UiS", "UiOiS", "repU", "iS")
SECRET_MEASURES = ("Dorig", "DiS", "DiSCO", "DiSDiO", "TCAP", "right_when_certain")
MOST_DESCRIBED = 40  # subsets that are described in words
AXIS_STEPS = 20  # an axis of shares begins and ends at a twentieth
MOST_TICKS = 5  # numbers of people on an axis, besides 0


def charts(frame: pl.DataFrame, details: Tables, spec: Spec) -> dict[str, Chart]:
    """Return the charts of synthetic releases, by name."""
    return {name: draw() for name, draw in pictures(frame, details, spec).items()}


def pictures(frame: pl.DataFrame, details: Tables, spec: Spec) -> dict[str, Callable[[], Chart]]:
    """Return the functions that draw the charts by name; all records of a person are known."""
    if "known_records" in frame.columns:
        frame = frame.filter(known_records="all")
        details = {name: table.filter(known_records="all") for name, table in details.items()}
    drawings: dict[str, Callable[[], Chart]] = {}
    if spec["secrets"]:
        drawings["success"] = lambda: success(frame)
    subsets, worst = details.get("subsets"), details.get("worst")
    if spec["secrets"] and spec["control"] and subsets is not None and subsets.height:
        drawings["members"] = lambda: members(subsets)
    if worst is not None and worst.height:
        drawings["worst"] = lambda: blocks(worst)
    return drawings


def success(frame: pl.DataFrame) -> Chart:
    """Draw the success on the original and on the control with intervals, a line per release."""
    alt, _ = theme.libraries()
    names = {"original": said("the original"), "control": said("the control")}
    rows: list[dict[str, Any]] = []
    words: list[str] = []
    releases = _release_labels(frame)
    # a row per mark: its panel (question), line (known) and colour (kind)
    for row in frame.filter(pl.col("measure").str.starts_with("success_")).iter_rows(named=True):
        who = names[row["measure"].removeprefix("success_")]
        mark = {"question": _title(row["secret"]), "known": releases[row["file"]], "kind": who}
        shares = {"low": row["low"], "high": row["high"], "success": row["value"]}
        rows.append(mark | shares | {"amount": percent(row["value"])})
        words.append(f"{mark['question']}, {mark['known']}, {who}: {percent(row['value'])}.")
    for row in frame.filter(pl.col("measure") == "prior_original").iter_rows(named=True):
        who = said("without the release")
        mark = {"question": _title(row["secret"]), "known": releases[row["file"]], "kind": who}
        rows.append(mark | {"success": row["value"], "amount": percent(row["value"])})
    kinds = [*names.values(), said("without the release")]
    colours = _present_colours(dict(zip(kinds, (ORANGE, BLUE, "#7F7F7F"), strict=True)), rows)
    axis = alt.Axis(labelExpr=PERCENT, values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    scale = alt.Scale(domain=[0, 1])
    share = {"title": said("best guess is right"), "scale": scale, "axis": axis}
    y = alt.Y("known:N", title=None, sort=None).axis(labelLimit=240)
    tooltip = theme.hints(alt, {"known:N": said("release"), "kind:N": said("guesses about"),
                          "amount:N": said("best guess is right")})  # fmt: skip
    base = alt.Chart(height=alt.Step(16)).encode(
        y=y,
        yOffset=alt.YOffset("kind:N", sort=list(colours)),
        color=theme.coloured(alt, colours),
        tooltip=tooltip,
    )
    spans = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=3)
    spans = spans.encode(x=alt.X("low:Q", **share), x2="high:Q")
    dots = base.mark_point(filled=True, size=70, opacity=1)
    dots = dots.encode(x=alt.X("success:Q", **share))
    chart = _stack_panels(alt, spans + dots, rows)
    below = said(
        "Lines are intervals at 95 % confidence. What a release says about the control is about "
        "the population; what it says beyond that about the original is about individuals."
    )
    return theme.dressed(
        chart.resolve_scale(y="independent"), said("Guesses learnt from the release"), below, words
    )


def members(subsets: pl.DataFrame) -> Chart:
    """Draw how often guesses about the original and about the control are right, on equal axes.

    ``subsets`` has a row, here a dot, per release, secret and subset of the quasi-identifiers.
    """
    alt, _ = theme.libraries()
    releases = _release_labels(subsets)
    above, chance = kinds = said("interval above 0"), said("may be chance")
    rows = [
        {
            "question": _title(row["secret"]),
            "known": ", ".join(theme.labels(row["qids"]).values()),
            "kind": above if row["individual_leak_low"] > 0 else chance,
            "release": releases[row["file"]],
            "control": row["success_control"],
            "original": row["success_original"],
            "control_text": percent(row["success_control"]),
            "original_text": percent(row["success_original"]),
        }
        for row in subsets.iter_rows(named=True)
    ]
    words = [
        f"{row['release']}, {row['known']}: {row['original_text']}, {row['control_text']}."
        for row in rows[:MOST_DESCRIBED]
    ]
    axis = alt.Axis(labelExpr=PERCENT, tickCount=5)
    shares = [row[end] for row in rows for end in ("control", "original")]
    first_step = math.floor(min(shares, default=0) * AXIS_STEPS)
    last_step = max(math.ceil(max(shares, default=1) * AXIS_STEPS), first_step + 1)
    least, greatest = first_step / AXIS_STEPS, last_step / AXIS_STEPS
    scale = alt.Scale(domain=[least, greatest])
    x = alt.X("control:Q", title=said("right, of the control"), scale=scale, axis=axis)
    y = alt.Y("original:Q", title=said("right, of the original"), scale=scale, axis=axis)
    colours = _present_colours(dict(zip(kinds, (ORANGE, SKY), strict=True)), rows)
    titles = {"release:N": said("release"), "known:N": said("subset")}
    titles["original_text:N"] = said("right, of the original")
    titles["control_text:N"] = said("right, of the control")
    base = alt.Chart(width=300, height=260)
    ends = {"x": alt.datum(least), "y": alt.datum(least)}
    ends |= {"x2": alt.datum(greatest), "y2": alt.datum(greatest)}
    diagonal = base.mark_rule(color="#7F7F7F", strokeDash=[4, 4]).encode(**ends)
    dots = base.mark_point(filled=True, size=40, opacity=0.8)
    dots = dots.encode(
        x=x, y=y, color=theme.coloured(alt, colours), tooltip=theme.hints(alt, titles)
    )
    chart = _stack_panels(alt, diagonal + dots, rows)
    below = said(
        "Each dot is a subset of the quasi-identifiers. Dots on the dashed line say nothing about "
        "individuals; those above it may, where the interval of the difference is above 0. About "
        "1 of 40 subsets is there by chance."
    )
    return theme.dressed(chart, said("Members against control, by subset"), below, words)


def blocks(worst: pl.DataFrame) -> Chart:
    """Draw the number of people that each of the worst blocks gives away: a bar per row."""
    alt, _ = theme.libraries()
    releases = _release_labels(worst)
    rows: list[dict[str, Any]] = []
    words: list[str] = []
    for row in worst.iter_rows(named=True):
        bar = {
            "question": f"{_title(row['secret'])} · {releases[row['file']]}",
            "known": said("block {n}", n=count(row["rank"])),
            "correct": row["correct"],
            "amount": count(row["correct"]),
            "people": count(row["people"]),
            "kind": count(row["records"]),
        }
        rows.append(bar)
        words.append(f"{bar['question']}, {bar['known']}: {bar['amount']}.")
    greatest = max(row["correct"] for row in rows)
    ticks = list(range(0, greatest + 1, math.ceil(greatest / MOST_TICKS) or 1))
    x = alt.X("correct:Q", title=said("people given away")).axis(format=",d", values=ticks)
    y = alt.Y("known:N", title=None, sort=None)
    titles = {"amount:N": said("people given away"), "people:N": said("people")}
    titles |= {"kind:N": said("records in the release")}
    bars = alt.Chart(height=alt.Step(18)).encode(x=x, y=y, tooltip=theme.hints(alt, titles))
    texts = bars.mark_text(align="left", dx=4).encode(text="amount:N")
    chart = _stack_panels(alt, bars.mark_bar(color=BLUE) + texts, rows, labelLimit=380)
    below = said(
        "Each bar is a block in which all records of the release have one value, the right one for "
        "so many people of the original."
    )
    title = said("The blocks that give away most people")
    return theme.dressed(chart.resolve_scale(y="independent"), title, below, words)


def _present_colours(colours: dict[str, str], rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the colours of the kinds that rows have: the legend names no others."""
    present = {row["kind"] for row in rows}
    return {kind: colour for kind, colour in colours.items() if kind in present}


def _stack_panels(alt: Any, chart: Any, rows: list[dict[str, Any]], **header: int) -> Any:
    """Return a panel for each ``question`` of the rows, one below the other."""
    questions = list(dict.fromkeys(row["question"] for row in rows))
    facet = alt.Facet("question:N", sort=questions, title=None)
    facet = facet.header(**header) if header else facet
    values = theme.data(alt, pl.DataFrame(rows, infer_schema_length=None))
    return chart.facet(facet=facet, data=values, columns=1)


def _title(secret: str) -> str:
    return said("Inference of {secret}", secret=theme.labels([secret])[secret])


def _release_labels(frame: pl.DataFrame) -> dict[int, str]:
    """Return a label for each release, by its number."""
    pairs = frame.select("file", "release").unique(maintain_order=True).rows()
    texts = [said("all releases together") if not file else escaping.cell(n) for file, n in pairs]
    short = theme.labels(texts)
    names = theme.distinct(short[text] for text in texts)
    return dict(zip((file for file, _ in pairs), names, strict=True))
