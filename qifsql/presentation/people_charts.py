"""Charts of people: the number of people at each risk, and the risk of groups."""

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import polars as pl

from qifsql.presentation import theme
from qifsql.presentation.language import said
from qifsql.presentation.words import digits, listed, percent
from qifsql.presentation.words import people as people_word

TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]
MOST_GROUPS = 30  # groups with bars, those with the highest risk
QUESTION_COLUMNS = ["model", "secret", "datasets", "qids"]
PANEL_COLUMNS = ["order", "question", "datasets", "qids"]  # they tell panels apart


def histograms(frame: pl.DataFrame) -> theme.Chart:
    """Return the share of the people by the success on them in percent (thesis, Fig. 4.6).

    ``frame`` has ``model``, ``secret``, ``datasets``, ``qids``, ``bin`` and ``individuals``. The
    chart has a panel for each question, number of datasets and subset. Bins are percentages
    rounded half to even, 0 to 100.
    """
    alt, _ = theme.libraries()
    people = pl.col("individuals")
    shares = people / people.sum().over(PANEL_COLUMNS)
    rows = theme.word_questions(frame).with_columns(share=shares, people=people)
    panels, words = _number_panels(rows)
    rows = rows.join(panels, on=PANEL_COLUMNS).filter(people > 0).sort("place", "bin")
    values = theme.data(alt, rows.select("place", "panel", "bin", "people", "share"))
    facet = alt.Facet("panel:N").header(labelExpr="split(datum.value, '\\n')")
    panel_count = panels.filter(order=0).height  # of the first question; each begins a line
    is_single = panel_count == 1 and panels.height > 2
    columns = 3 if panel_count % 3 == 0 or is_single else 2
    success, share_of_people = said("success, percent"), _share_of_people()
    ticks = [0, 20, 40, 60, 80, 100]
    x = alt.X("bin:Q", title=success).axis(values=ticks, grid=False).scale(domain=[-1, 101])
    y = alt.Y("share:Q", title=share_of_people).axis(labelExpr=theme.PERCENT, tickCount=5)
    titles = {"bin:N": success, "people:N": people_word(), "share:Q": share_of_people}
    bars = alt.Chart(height=150).mark_bar(color=theme.BLUE, orient="vertical", width=300 / 102)
    bars = bars.encode(x=x, y=y, tooltip=theme.hints(alt, titles))
    chart = bars.facet(facet.sort(field="place", op="min"), data=values, columns=columns)
    below = said(
        "Success is the probability that the best guess about a person is right. 0 means up "
        "to 0.5 percent, not never; 100 means at least 99.5 percent."
    )
    return theme.dressed(chart, said("People by the adversary's success"), below, words)


def _number_panels(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return the panels, and a sentence on each for readers who do not see the chart.

    A panel has ``PANEL_COLUMNS``, its heading (``panel``) and its number from 0 (``place``).
    """
    sure = pl.col("share").filter(pl.col("bin") == 100).sum()
    panels = rows.group_by(PANEL_COLUMNS, maintain_order=True).agg(sure)
    names, heads, words = theme.labels(rows["qids"].explode()), [], []
    for row in panels.iter_rows(named=True):
        question, share = row["question"], percent(row["share"])
        knowledge = said("knowing {qids}", qids=listed([names[qid] for qid in row["qids"]]))
        heads.append("\n".join([question, *wrap(knowledge, 44, max_lines=3, placeholder=" …")]))
        message = "{question}, {known}: {share} of the {people} at 100 percent."
        in_words = {"question": question, "known": knowledge, "share": share}
        words.append(said(message, people=people_word(), **in_words))
    headed = panels.select(
        *PANEL_COLUMNS, panel=pl.Series(theme.distinct(heads)), place=pl.int_range(pl.len())
    )
    return headed, words


def _share_of_people() -> str:
    return said("share of {people}", people=people_word())


def thresholds(frame: pl.DataFrame) -> theme.Chart:
    """Return the share of people whose risk is at least a threshold: bars for each question.

    ``frame`` has ``model``, ``secret``, ``threshold`` and ``share``.
    """
    alt, _ = theme.libraries()
    rows = theme.word_questions(frame).select("order", "question", "threshold", "share")
    rows = rows.sort("order", "threshold")
    least = [said("at least {p}", p=f"{digits(100 * t)} %") for t in rows["threshold"]]
    amounts = [percent(share) for share in rows["share"]]
    rows = rows.with_columns(risk=pl.Series(least), amount=pl.Series(amounts))
    x = alt.X("share:Q", title=_share_of_people()).scale(domain=[0, 1.25])
    x = x.stack(None).axis(labelExpr=theme.PERCENT, values=TICKS)
    y = alt.Y("risk:N", title=said("success on them"), sort=None)
    titles = {"risk:N": said("success on them"), "share:Q": _share_of_people()}
    bars = alt.Chart(height=alt.Step(24)).encode(x=x, y=y, tooltip=theme.hints(alt, titles))
    texts = bars.mark_text(align="left", dx=4).encode(text="amount:N")
    words = []
    for row in rows.select("question", "risk", "amount").iter_rows(named=True):
        message = "{question}, {risk}: {amount} of the {people}."
        words.append(said(message, people=people_word(), **row))
    below = said("Share of {people} at or above each success.", people=people_word())
    chart = _panels(bars.mark_bar(color=theme.BLUE) + texts, rows)
    return theme.dressed(chart, said("People above a risk"), below, words)


def sure(frame: pl.DataFrame) -> theme.Chart:
    """Return how often a sure adversary is right by how many she names: a curve per question.

    ``frame`` has ``model``, ``secret``, ``of_reported`` and claims: ``threshold``, ``claims``,
    ``coverage``, ``precision`` and ``precision_before``. The surest claims are on the left.
    """
    alt, _ = theme.libraries()
    rows = theme.word_questions(frame.filter(~pl.col("of_reported")))
    rows = rows.sort("order", "coverage", maintain_order=True)
    columns = ("order", "question", "threshold", "claims", "coverage")
    rows = pl.concat(
        rows.select(*columns, precision=name, kind=pl.lit(kind))
        for name, kind in (("precision", said("after")), ("precision_before", said("before")))
    )
    x = alt.X("coverage:Q", title=said("share of {people} named", people=people_word()))
    x = x.scale(domain=[0, 1]).axis(labelExpr=theme.PERCENT, values=TICKS)
    y = alt.Y("precision:Q", title=said("guessed right, of those named"))
    y = y.scale(domain=[0, 1]).axis(labelExpr=theme.PERCENT, values=TICKS)
    colours = {said("after"): theme.BLUE, said("before"): theme.ORANGE}
    titles = {"threshold:Q": said("sure at least"), "claims:Q": said("named")}
    titles |= {"precision:Q": said("guessed right")}
    lines = alt.Chart(height=200).mark_line(point=True, interpolate="step-before")
    lines = lines.encode(
        x=x, y=y, color=theme.coloured(alt, colours), tooltip=theme.hints(alt, titles)
    )
    words = []
    for question, claims in rows.filter(kind=said("after")).group_by(
        "question", maintain_order=True
    ):
        first = claims.row(0, named=True)
        message = "{question}: the surest claims name {share} of the {people}; {right} are right."
        values = {"share": percent(first["coverage"]), "right": percent(first["precision"])}
        words.append(said(message, question=question[0], people=people_word(), **values))
    below = said(
        "Blue: of those whom the adversary names, how many she guesses right, from the surest "
        "claims on the left to everybody on the right. Orange: the same people without the release."
    )
    return theme.dressed(_panels(lines, rows), said("Who speaks only when sure"), below, words)


def groups(frame: pl.DataFrame) -> theme.Chart:
    """Return the chart of success on the people of each group: bars, in a panel per question.

    ``frame`` has ``model``, ``secret``, ``group`` (NULL: missing), ``individuals``,
    ``prior_probabilistic`` and ``posterior_probabilistic``.
    """
    alt, _ = theme.libraries()
    names = theme.labels([g for g in frame["group"] if g is not None])
    group_names = [said("(missing)") if g is None else names[g] for g in frame["group"]]
    rows = theme.word_questions(frame.with_columns(name=pl.Series(group_names))).select(
        *("order", "question", "individuals"),
        group="name",
        success="posterior_probabilistic",
        prior="prior_probabilistic",
    )
    amounts = pl.Series("amount", [percent(x) for x in rows["success"]])
    rows = rows.with_columns(amounts).sort(
        "order", "success", descending=[False, True], maintain_order=True
    )
    x = alt.X("success:Q", title=said("right at the best guess")).scale(domain=[0, 1.15])
    x = x.stack(None).axis(labelExpr=theme.PERCENT, values=TICKS)
    y = alt.Y("group:N", title=None, sort=None)
    titles = {"group:N": said("group"), "individuals:Q": people_word()}
    titles |= {"success:Q": said("success"), "prior:Q": said("before")}
    bars = alt.Chart(height=alt.Step(22)).encode(x=x, y=y, tooltip=theme.hints(alt, titles))
    before = bars.mark_tick(color=theme.ORANGE, opacity=1, thickness=3).encode(x=alt.X("prior:Q"))
    texts = bars.mark_text(align="left", dx=4).encode(text="amount:N")
    chart = _panels(alt.layer(bars.mark_bar(color=theme.BLUE), before, texts), rows)
    words = []
    for _, question_rows in rows.group_by("question", maintain_order=True):
        first = question_rows.row(0, named=True)
        message = "{question}: most on the people of {group}, {amount}."
        values = {k: first[k] for k in ("question", "group", "amount")}
        words.append(said(message, **values))
    below = said("Bars: the success on the people of a group; orange: before the release.")
    return theme.dressed(chart, said("Success by group"), below, words)


def _panels(chart: Any, rows: pl.DataFrame) -> Any:
    alt, _ = theme.libraries()
    row = (
        alt.Row("question:N").sort(field="order", op="min").header(labelExpr=theme.WRAPPED_QUESTION)
    )
    return chart.facet(row=row, data=theme.data(alt, rows)).resolve_scale(y="independent")


def with_questions(
    frame: pl.DataFrame, tables: Mapping[str, pl.DataFrame], name: str
) -> pl.DataFrame:
    """Return the rows of the details ``name``, each with ``QUESTION_COLUMNS`` of its attack.

    ``frame`` has a row per attack, ``tables`` are the details by name. Except for histograms, only
    the questions with the largest number of datasets are drawn; of groups only the first
    MOST_GROUPS of each question. The result is empty without such details.
    """
    if name not in tables or frame.is_empty():
        return pl.DataFrame()
    if name != "histogram":
        frame = frame.filter(pl.col("datasets") == pl.col("datasets").max())
    questions = frame.select("attack_id", *QUESTION_COLUMNS)
    rows = questions.join(tables[name], on="attack_id", how="inner", maintain_order="left")
    if name == "groups":
        rows = rows.group_by("model", "secret", maintain_order=True).head(MOST_GROUPS)
    order = [pl.col("secret").is_not_null(), pl.col("secret"), pl.col("datasets")]
    return rows.sort(order, maintain_order=True)


def chances(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose gain is the chance to be right at the best guess."""
    if "gain" not in frame.columns:
        return frame
    return frame.filter(pl.col("gain").fill_null("identity") == "identity")
