"""Charts of published tables: what each one proves, the best guess, the cells of a component."""

from textwrap import wrap
from typing import Any

import polars as pl

from qifsql.commands.tables.spec import CELLS_LISTED
from qifsql.data.types import Row
from qifsql.presentation import escaping, theme
from qifsql.presentation.language import said
from qifsql.presentation.parts import Spec, Tables
from qifsql.presentation.theme import Chart, data, dressed, hints, labels, libraries
from qifsql.presentation.words import count, listed, percent

GREY, PALE, GREEN = "#E0E0E0", "#CCE7F7", "#009E73"
TITLE_LINES = r"split(datum.value, '\n')"  # of a panel
LABEL_WIDTH = 240  # pixels of the name of a set of tables
MARKS = ("prior", "believed", "actual", "records")
SHAPES = ("triangle-down", "circle", "diamond", "square")
COLOURS = (theme.ORANGE, theme.BLUE, "#000000", GREEN)


def charts(frame: pl.DataFrame, details: Tables, _spec: Spec) -> dict[str, Chart]:
    """Return the charts of published tables, by name."""
    drawn = {"proofs": proofs(frame)} if has_sets(frame) else {}
    drawn["guess"] = guess(frame)
    if "cells" in details and details["cells"].height:
        drawn["cells"] = cells(details["cells"])
    return drawn


def of_all_tables(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of all tables together."""
    return frame.filter(pl.col("tables").list.len() == pl.col("tables").list.len().max())


def has_sets(frame: pl.DataFrame) -> bool:
    """Return whether a result has rows of several sets of tables."""
    return frame.height > of_all_tables(frame).height


def proofs(frame: pl.DataFrame) -> Chart:
    """Draw the people of whom something is proved, a bar per set of tables.

    ``frame`` has the columns of ``tables.SCHEMA``; the panels are the people reconstructed, and of
    each question those who are singled out and those whose secret is certain.
    """
    alt, _ = libraries()
    rows = _bar_rows(frame)  # people, the tables known, the question
    amounts = pl.Series("amount", [count(n) for n in rows["people"]])
    rows = rows.with_columns(amounts)
    largest = max(1, *rows["people"])
    x = alt.X("people:Q", title=said("people")).scale(domain=[0, 1.25 * largest])
    x = x.stack(None).axis(format=",d", tickCount=4, tickMinStep=1)
    y = alt.Y("known:N", title=None, sort=None).axis(labelLimit=LABEL_WIDTH)
    tooltip = hints(alt, {"known:N": said("tables"), "amount:N": said("people")})
    bars = alt.Chart(height=alt.Step(24)).encode(x=x, y=y, tooltip=tooltip)
    texts = bars.mark_text(align="left", dx=4).encode(text="amount:N")
    chart = _stack_panels(alt, bars.mark_bar(color=theme.BLUE) + texts, rows)
    sentences = []
    for (panel,), lines in rows.group_by("question", maintain_order=True):
        message = "{question}: {first} with the first table, {last} with all."
        values = {"first": lines["amount"][0], "last": lines["amount"][-1]}
        sentences.append(said(message, question=" ".join(str(panel).split()), **values))
    below = said("Each bar is about the tables up to this one. More may follow than is proved.")
    return dressed(chart, said("People of whom the tables prove something"), below, sentences)


def _bar_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a row per bar: ``question`` (its panel), ``order``, ``known`` (tables), ``people``."""
    set_labels = _set_labels(frame)
    panels: dict[str, list[dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        knowledge = listed(list(labels(row["known"]).values())) if row["known"] else said("nothing")
        people_by_panel = {said("reconstructed"): row["reconstructed"]}
        if row["secret"] is not None:
            secret = labels([row["secret"]])[row["secret"]]
            certain = said("{secret} certain, knowing {known}", secret=secret, known=knowledge)
            people_by_panel[certain] = row["certain_inference"]
        alone = said("singled out, knowing {known}", known=knowledge)
        people_by_panel[alone] = row["singled_out"]
        for panel, people in people_by_panel.items():
            title = "\n".join(wrap(panel, 64, max_lines=3, placeholder=" …"))
            bar = {"question": title, "known": set_labels[len(row["tables"])], "people": people}
            if bar not in panels.setdefault(panel, []):  # questions may share a panel
                panels[panel].append(bar)
    return pl.DataFrame(
        [bar | {"order": k} for k, bars in enumerate(panels.values()) for bar in bars]
    )


def guess(frame: pl.DataFrame) -> Chart:
    """Draw the least and greatest success of the best guess: a bar per set of tables, with marks.

    The marks are the success without tables, as a Bayesian adversary expects it, in fact, and with
    the records themselves. ``frame`` has the columns of ``tables.SCHEMA``.
    """
    alt, _ = libraries()
    kinds = (
        said("without the tables"),
        said("with the tables, as a Bayesian adversary expects"),
        said("with the tables, in fact"),
        said("with the records themselves"),
    )
    places = {kind: i for i, kind in enumerate(kinds)}
    table, words = _guess_rows(frame, places)
    axis = alt.Axis(labelExpr=theme.PERCENT, values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    x = {"title": said("best guess is right"), "scale": alt.Scale(domain=[0, 1]), "axis": axis}
    y = alt.Y("known:N", title=None, sort=None).axis(labelLimit=LABEL_WIDTH)
    present = [kind for kind in kinds if kind in set(table["kind"])]
    colour = theme.coloured(alt, {kind: COLOURS[places[kind]] for kind in present}, symbolSize=90)
    shape = alt.Shape("kind:N", title=None, sort=present).legend(colour["legend"])
    shape = shape.scale(domain=present, range=[SHAPES[places[kind]] for kind in present])
    ends = {"known:N": said("tables"), "amount:N": said("best guess is right")}
    tooltip = hints(alt, {"known:N": said("tables"), "kind:N": said("best guess"), **ends})
    line = alt.Chart(height=alt.Step(44))
    span = line.transform_filter("isValid(datum.low)").mark_bar(
        color=PALE, stroke=theme.SKY, size=32, orient="horizontal"
    )
    span = span.encode(x=alt.X("low:Q", **x), x2="high:Q", y=y, tooltip=hints(alt, ends))
    dots = [
        line.transform_filter(alt.datum.place == places[kind])
        .mark_point(filled=True, size=70, opacity=1, yOffset=8 * places[kind] - 12)
        .encode(x=alt.X("success:Q", **x), y=y, color=colour, shape=shape, tooltip=tooltip)
        for kind in present
    ]
    chart = _stack_panels(alt, alt.layer(span, *dots), table)
    below = said(
        "Bars: the success with the records themselves, from the least to the greatest over all "
        "records that agree with the tables, or beyond where these bounds are not sharp."
    )
    return dressed(chart, said("The best guess with published tables"), below, words)


def _guess_rows(frame: pl.DataFrame, places: dict[str, int]) -> tuple[pl.DataFrame, list[str]]:
    """Return a row per bar and per mark of ``guess``, and a sentence for each bar.

    A row of ``frame`` is a set of published tables and a secret (NULL: re-identification). Its bar
    has ``low`` and ``high``; a mark has ``kind`` and ``success``. ``places``: by kind, the place in
    ``MARKS`` of the column of ``frame`` that has its success.
    """
    models = pl.when(pl.col("secret").is_null()).then(pl.lit("CRS")).otherwise(pl.lit("CAS"))
    questions = theme.word_questions(frame.with_columns(model=models))
    set_labels = _set_labels(frame)
    rows, words = [], []
    for row in questions.sort("order", maintain_order=True).iter_rows(named=True):
        key = {"question": row["question"], "order": row["order"]}
        key |= {"known": set_labels[len(row["tables"])]}
        ends = {"low": row["lowest"], "high": row["highest"]}
        span = said("{low} to {high}", low=percent(row["lowest"]), high=percent(row["highest"]))
        rows.append(key | ends | {"amount": span})
        marks = {kind: row[MARKS[k]] for kind, k in places.items() if row[MARKS[k]] is not None}
        for kind, success in marks.items():
            mark = {"kind": kind, "success": success, "amount": percent(success)}
            rows.append(key | mark | {"place": places[kind]})
        successes = ", ".join(f"{kind} {percent(success)}" for kind, success in marks.items())
        words.append(f"{row['question']}, {key['known']}: {span}; {successes}.")
    return pl.DataFrame(rows, infer_schema_length=None), words


def cells(detail: pl.DataFrame) -> Chart:
    """Draw a map of the combinations of a component, a square with bounds per row of ``CELLS``."""
    alt, _ = libraries()
    first = detail.row(0, named=True)
    squares, words = _squares(detail)
    column_name = escaping.cell(first["column_dimension"])
    x = alt.X("group:N", title=column_name, sort=None).axis(labelAngle=0, orient="top")
    row_names = [escaping.cell(name) for name in first["row_dimensions"]]
    y = alt.Y("known:N", title=None, sort=None).axis(labelLimit=LABEL_WIDTH)
    titles = {"known:N": ", ".join(row_names) or said("all"), "group:N": column_name}
    titles |= {"amount:N": said("people"), "kind:N": said("state")}
    titles |= {"people:N": said("in fact")} if "people" in squares[0] else {}
    base = alt.Chart(data(alt, pl.DataFrame(squares)), width=alt.Step(72), height=alt.Step(24))
    base = base.encode(x=x, y=y, tooltip=hints(alt, titles))
    present = {square["kind"] for square in squares}
    colours = {
        said("proved: one person"): theme.ORANGE,
        said("proved"): theme.SKY,
        said("not settled"): GREY,
    }
    shades = {state: colour for state, colour in colours.items() if state in present}
    rectangles = base.mark_rect(stroke="white")
    chart = rectangles.encode(color=theme.coloured(alt, shades).sort([*colours]))
    chart += base.mark_text().encode(text="amount:N")
    below = said(
        "Each cell has the least and the greatest count that agrees with the tables. Cells that "
        "are left white are empty for sure."
    )
    if row_names:
        below += " " + said("Rows: {names}.", names=", ".join(row_names))
    if detail.height == CELLS_LISTED:
        below += " " + said("Only the first {n} combinations are shown.", n=count(CELLS_LISTED))
    return dressed(chart, title_of_cells(first), below, words)


def _squares(detail: pl.DataFrame) -> tuple[list[dict[str, str]], list[str]]:
    """Return the squares of a map of cells, each with its texts by field, and a line on each."""
    texts = detail.select("row", "column").to_dict(as_series=False)
    rows = [", ".join(map(escaping.cell, values)) or said("all") for values in texts["row"]]
    columns = [escaping.cell(value) for value in texts["column"]]
    across, down = labels(columns), labels(rows)
    squares, lines = [], []
    for cell, row, column in zip(detail.iter_rows(named=True), rows, columns, strict=True):
        amount = count(cell["lower"])
        state = said("proved: one person") if cell["lower"] == 1 else said("proved")
        if cell["lower"] != cell["upper"]:
            amount = said("{low} to {high}", low=amount, high=count(cell["upper"]))
            state = said("not settled")
        square = {"known": down[row], "group": across[column], "amount": amount, "kind": state}
        if cell["people"] is not None:
            square["people"] = count(cell["people"])
        squares.append(square)
        lines.append(f"{row}, {column}: {amount}.")
    return squares, lines


def title_of_cells(row: Row) -> str:
    """Return the title of the combinations of a component."""
    if row["component"] is None:
        return said("Combinations of all people")
    message = "Combinations of {component}, where most people are proved"
    return said(message, component=", ".join(map(escaping.cell, row["component"])))


def _set_labels(frame: pl.DataFrame) -> dict[int, str]:
    """Return a label for each set of tables, the first n: the title of table n, by n."""
    sizes = frame["tables"].list.len()
    last_titles = dict(zip(sizes, frame["tables"].list.last(), strict=True))
    if len(last_titles) == 1:
        return {n: said("all tables") for n in last_titles}
    short = labels(last_titles.values())
    numbered = {n: f"{n}. {short[title]}" for n, title in last_titles.items()}
    texts = [
        text if n == min(numbered) else said("and {release}", release=text)
        for n, text in numbered.items()
    ]
    return dict(zip(numbered, theme.distinct(texts), strict=True))


def _stack_panels(alt: Any, chart: Any, rows: pl.DataFrame) -> Any:
    """Return a panel per ``question`` of ``rows``, one below the other: phones are narrow."""
    facet = alt.Facet("question:N").sort(field="order", op="min")
    facet = facet.header(labelExpr=TITLE_LINES, labelAnchor="start", labelLimit=LABEL_WIDTH + 300)
    panels = chart.facet(facet=facet, data=data(alt, rows), columns=1)
    return panels.resolve_scale(y="independent")
