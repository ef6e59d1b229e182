"""The theme of all charts, and the conversion of tables and names to their data.

Names are passed as data, and qifsql names every field, so that no name of a column can be read as
part of a specification.
"""

import json
from collections.abc import Iterable, Mapping
from textwrap import wrap
from types import ModuleType
from typing import Any

import polars as pl

from qifsql.data import installation
from qifsql.errors import InputError, quoted
from qifsql.presentation.language import said, spoken
from qifsql.presentation.words import goal

Chart = Any  # of Altair, which is imported only if a chart is drawn

LONGEST_NAME = 48  # characters of a name that are shown
BLUE, SKY, ORANGE = "#0072B2", "#56B4E9", "#D55E00"  # of Okabe and Ito, for colour-blind readers
MEASURES = ("deterministic", "probabilistic")
WRAPPED_QUESTION = r"split(replace(datum.value, /^(\S+ (?:of|de)) /, '$1\n'), '\n')"
PERCENT = "format(100 * datum.value, '~g') + ' %'"


def libraries() -> tuple[ModuleType, ModuleType]:
    """Return Altair and the converter of its charts to pictures; InputError if they are missing."""
    try:
        import altair
        import vl_convert
    except ImportError as e:
        raise InputError(f"charts need the extra: {installation.command('charts')}") from e
    return altair, vl_convert


def word_questions(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with two more columns: ``question`` in words, and its ``order``, from 0.

    A question is a pair of ``model`` and ``secret`` (NULL: re-identification); the order is that of
    the first rows. Raises InputError if the frame is empty.
    """
    if frame.is_empty():
        raise InputError("there is nothing to draw: the result has no rows")
    questions = frame.select("model", "secret").unique(maintain_order=True)
    names = labels(questions["secret"].drop_nulls())
    texts = [goal({"model": model, "secret": names.get(s)}) for model, s in questions.rows()]
    wording, order = pl.Series(distinct(texts)), pl.int_range(pl.len())
    questions = questions.with_columns(question=wording, order=order)
    return frame.join(questions, on=["model", "secret"], nulls_equal=True, maintain_order="left")


def measures() -> dict[str, str]:
    """Return the names of the two measures of success in charts."""
    certain = said("Deterministic: known with certainty")
    guessed = said("Probabilistic: right at the best guess")
    return dict(zip(MEASURES, (certain, guessed), strict=True))


def labels(names: Iterable[str]) -> dict[str, str]:
    """Return names for display: on one line, not too long, and still distinct."""
    unique_names = list(dict.fromkeys(names))
    escaped = (quoted(name)[1:-1] for name in unique_names)
    longest = LONGEST_NAME - 1  # with the dots
    cut = (name if len(name) <= LONGEST_NAME else f"{name[:longest]}…" for name in escaped)
    return dict(zip(unique_names, distinct(cut), strict=True))


def distinct(texts: Iterable[str]) -> list[str]:
    """Return the texts, with numbers added to repeated ones."""
    taken: dict[str, None] = {}  # in order
    for text in texts:
        numbered = (f"{text} ({i})" for i in range(2, len(taken) + 3))
        taken[next(t for t in (text, *numbered) if t not in taken)] = None
    return list(taken)


def data(alt: ModuleType, frame: pl.DataFrame) -> Any:
    """Return rows as plain data, without missing values."""
    rows = frame.with_columns(pl.selectors.float().fill_nan(None)).to_dicts()
    with alt.utils.schemapi.debug_mode(False):  # of plain values: to check each takes seconds
        return alt.Data(values=[{k: v for k, v in row.items() if v is not None} for row in rows])


def hints(alt: ModuleType, titles: Mapping[str, str]) -> list[Any]:
    """Return the fields, with their titles, that are shown for the dot or bar under the pointer.

    ``titles`` are by the field with its type in Altair, such as ``share:Q``. Numbers are shares in
    percent, except ``individuals``, a number of people.
    """
    return [
        alt.Tooltip(name, title=title, format=",d" if name == "individuals:Q" else alt.Undefined)
        for name, title in titles.items()
    ]


def coloured(alt: ModuleType, colours: Mapping[str, str], **legend: object) -> Any:
    """Return the colour of marks by their ``kind``: the kinds in order, in a legend below."""
    kinds, place = list(colours), {"orient": "bottom", "direction": "vertical", "labelLimit": 380}
    colour = alt.Color("kind:N", title=None, sort=kinds).legend(alt.Legend(**(place | legend)))
    return colour.scale(domain=kinds, range=list(colours.values()))


def grid(alt: ModuleType, chart: Any, rows: pl.DataFrame) -> Any:
    """Return panels with a row for each question and a column for each measure."""
    column = alt.Column("measure:N").header(labelExpr=f"{json.dumps(measures())}[datum.value]")
    row = alt.Row("question:N").sort(field="order", op="min").header(labelExpr=WRAPPED_QUESTION)
    return chart.facet(row=row, column=column, data=data(alt, rows))


def dressed(chart: Any, title: str, below: str, words: list[str]) -> Chart:
    """Return the chart with its title, its description in words, and the common theme.

    ``below`` is the subtitle. ``words`` are sentences that say what the chart shows, for readers
    who do not see it.
    """
    language = spoken()
    signs = {"decimal": language.decimal, "thousands": language.group}
    black = {"labelColor": "black", "titleColor": "black", "gridColor": "#E5E5E5"}
    large = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal"}
    chart = chart.properties(title={"text": title, "subtitle": wrap(below, 95)})
    return chart.properties(description=" ".join([f"{title}.", *words])).configure(
        background="white",
        locale={"number": {**signs, "grouping": [3], "currency": ["", ""]}},
        font="Arial, Helvetica, sans-serif",
        axis={**black, **large, "domain": False},
        axisY={"labelLimit": 180, "ticks": False, "labelPadding": 6},
        facet={"spacing": 24},
        header={"labelFontSize": 13, "labelFontWeight": "bold", "labelLimit": 300, "title": None},
        headerRow={"labelLimit": 240, "labelAngle": 0, "labelAlign": "left"},
        text={"fontSize": 12},
        title={"anchor": "start", "fontSize": 16, "subtitleFontSize": 13, "offset": 14},
        tooltipFormat={"numberFormat": ".6~%"},
        view={"stroke": "#B0B0B0", "continuousWidth": 300, "continuousHeight": 220},
    )
