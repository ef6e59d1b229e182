"""Documents as single HTML files that load nothing; names and values are text, never markup.

The page contains charts as pictures. If scripts run, charts show details under the pointer. The
security policy of the page lets the browser run only the page's scripts.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from qifsql import __version__
from qifsql.errors import printable
from qifsql.presentation.figures import digests, library, vector
from qifsql.presentation.language import said, spoken
from qifsql.presentation.parts import (
    Bad,
    Blank,
    Document,
    Figure,
    Fold,
    Heading,
    Paragraph,
    Part,
    Section,
    Table,
)
from qifsql.presentation.theme import Chart, distinct, libraries

PAGE = Path(__file__).resolve().parent / "page"


def result_page(
    title: str, parts: Sequence[Part], *, notes: Sequence[str], sql: str, started: str
) -> str:
    """Return the page of one result.

    It shows the same parts as the terminal, the remarks (``notes``), and the ``sql`` that ran.
    ``started`` is the time of the run.
    """
    method: list[Part] = [Heading(said("Remarks"))] if notes else []
    method += [Paragraph(note) for note in notes]
    method += [Fold(said("The SQL that ran"), sql)] if sql else []
    section = Section("result", said("Result"), [*parts, *method])
    return page(Document(title, (section,), imprint=imprint(started)))


def imprint(when: str) -> str:
    """Return the line with the version of qifsql and the date of the results."""
    message = "Made with qifsql {version} from results of {when}."
    return said(message, version=__version__, when=when)


def fragment(parts: Iterable[Part], chart: Chart | None = None) -> str:
    """Return the parts as HTML for another page, such as a notebook.

    They take the colours of that page and have no scripts. ``chart`` is drawn below them, as a
    picture (None: no chart); the charts among the parts are left out.
    """
    macros = _macros(_environment())
    still = [part for part in parts if not isinstance(part, Figure)]
    drawn = [_drawn(part, macros, _regions(still)) for part in still]
    picture = []
    if chart is not None:
        svg = b64encode(vector(chart.to_dict()).encode()).decode()
        words = escape(chart["description"])
        source = f"data:image/svg+xml;base64,{svg}"
        picture = [f'<p><img alt="{words}" src="{source}" style="background: #fff"></p>']
    style = (PAGE / "fragment.css").read_text("utf-8")
    return "\n".join([f'<style>{style}</style><div class="qifsql">', *drawn, *picture, "</div>"])


def drawn_still(parts: Iterable[Part], within: str = "") -> Markup:
    """Return parts as HTML for a page with the style of reports; charts are pictures.

    ``within`` is the name of their part of the page. It goes in front of the names of their
    regions, which screen readers say and which must be distinct in a page.
    """
    listed = list(parts)
    macros, names = _macros(_environment()), _regions(listed)
    regions = {key: f"{within}: {name}" if within else name for key, name in names.items()}

    def picture(figure: Figure, region: str) -> str:
        return str(macros.picture(_picture(_specification(figure)), region))

    return Markup("\n").join(_drawn(part, macros, regions, picture) for part in listed)


def _drawn(
    part: Part,
    macros: Any,
    regions: Mapping[int, str],
    draw: Callable[[Figure, str], str] = lambda *_: "",
) -> Markup:
    """Return a part as HTML, drawn by the template macro with the name of its class.

    ``regions`` are names of charts and tables by ``id(part)``, for screen readers. ``draw`` draws a
    chart in a region of that name; by default nothing.
    """
    if isinstance(part, Figure):
        return Markup(draw(part, regions[id(part)]))  # noqa: S704 - escaped by the template
    macro = getattr(macros, type(part).__name__.casefold())
    region = [regions[id(part)]] if isinstance(part, Table) else []
    return Markup(macro(part, *region))  # noqa: S704 - escaped by the template


def fill_template(folder: Path, name: str, **values: Any) -> str:
    """Return a template of a folder with its values, which are text, never markup."""
    template = _environment(folder).get_template(name)
    return template.render(said=said, language=spoken().code, drawn=drawn_still, **values)


def markup(drawn_text: str) -> Markup:
    """Return text made by ``fill_template``, to stand in another template as it is."""
    return Markup(drawn_text)  # noqa: S704 - drawn by a template, which escapes


def style() -> str:
    """Return the style of reports."""
    return (PAGE / "style.css").read_text("utf-8")


def _environment(folder: Path = PAGE) -> Environment:
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
    )


def _macros(environment: Environment) -> Any:
    """Return the macros of the page's parts, which can test what kind of cell they get."""
    template = environment.get_template("parts.html")
    kinds = {"bad": Bad, "blank": Blank}
    return template.make_module({n: partial(_is, kind) for n, kind in kinds.items()})


def _is(kind: type, cell: object) -> bool:
    return isinstance(cell, kind)


def _regions(parts: Iterable[Part]) -> dict[int, str]:
    """Return distinct names of charts and tables by ``id(part)``, the names of their regions.

    A region scrolls by itself, and a screen reader says its name.
    """
    names: dict[int, str] = {}
    for part in parts:
        if isinstance(part, Figure):
            names[id(part)] = part.chart["title"]["text"]  # without a copy of its data
        elif isinstance(part, Table):
            names[id(part)] = part.title or said("Table")
    return dict(zip(names, distinct(names.values()), strict=True))


def page(document: Document, *, still: bool = False) -> str:
    """Return the document as HTML; in a ``still`` page charts are pictures, and there is no script.

    The security policy of the page has the digests of its own ``scripts`` and allows no others.
    """
    parts = [part for section in document.sections for part in section.parts]
    figures = [part for part in parts if isinstance(part, Figure)]
    regions = _regions(parts)
    scripts = []
    if figures and not still:
        scripts = [library(), (PAGE / "script.js").read_text("utf-8")]
    environment = _environment()
    numbers = {id(figure): i for i, figure in enumerate(figures, 1)}
    macros = _macros(environment)

    def draw(figure: Figure, region: str) -> str:
        return str(macros.figure(figure, _drawing(figure, numbers[id(figure)]), region))

    return environment.get_template("page.html").render(
        document=document,
        language=spoken().code,
        said=said,
        drawn=lambda part: _drawn(part, macros, regions, draw),
        style=Markup(style()),  # noqa: S704 - a file of qifsql
        scripts=scripts,
        digests=Markup(digests(scripts) or "'none'"),  # noqa: S704 - computed here
    )


def _printable(value: Any) -> Any:
    """Return a value for a page, without control characters and marks of text direction.

    Such a mark in a name would change the direction of the text after it.
    """
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value, "\n\t")
    return value


def _specification(figure: Figure) -> dict[str, Any]:
    specification: dict[str, Any] = figure.chart.to_dict(validate=False)
    specification["config"] |= {"background": None}
    return specification


def _drawing(figure: Figure, number: int) -> dict[str, Any]:
    """Return the values of the template of a chart, which is number ``number`` of the page.

    ``hint`` says what a click does; it is empty if the chart does not react to clicks.
    """
    specification = _specification(figure)
    _, converter = libraries()
    compiled = converter.vegalite_to_vega(specification)  # less work and fewer warnings in browsers
    reacts = any("pick" in str(signal["name"]) for signal in compiled.get("signals", ()))
    text = json.dumps(compiled, ensure_ascii=False).replace("<", "\\u003c")
    return _picture(specification) | {
        "number": number,
        "title": specification["title"]["text"],
        "hint": said("A click on a dot shows the same set everywhere.") if reacts else "",
        "specification": text,
    }


def _picture(specification: dict[str, Any]) -> dict[str, Any]:
    """Return a chart as a picture and words, without a script."""
    return {
        "description": specification["description"],
        "words": said("The chart in words"),
        "svg": vector(specification),
    }
