"""Documents as single HTML files that load nothing; names and values are text, never markup.

The page contains charts as pictures. If scripts run, charts show details under the pointer. The
security policy of the page lets the browser run only the page's scripts.
"""

import json
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from qifsql import __version__
from qifsql.errors import printable
from qifsql.presentation.figures import digests, vector
from qifsql.presentation.language import said, spoken
from qifsql.presentation.parts import (
    Bad,
    Document,
    Figure,
    Fold,
    Heading,
    Paragraph,
    Part,
    Section,
    Table,
)
from qifsql.presentation.theme import Chart, extra
from qifsql.results.storage import Origin

PAGE = Path(__file__).resolve().parent / "page"


def of_result(title: str, parts: list[Part], origin: Origin) -> str:
    """Return the page of one result.

    It shows the same parts as the terminal, the remarks, and the SQL that ran.
    """
    method: list[Part] = [Heading(said("Remarks"))] if origin.notes else []
    method += [Paragraph(note) for note in origin.notes]
    method += [Fold(said("The SQL that ran"), origin.sql)] if origin.sql else []
    section = Section("result", said("Result"), [*parts, *method])
    return page(Document(title, (section,), imprint=imprint(origin.started)))


def imprint(when: str) -> str:
    """Return the line with the version of qifsql and the date of the results."""
    message = "Made with qifsql {version} from results of {when}."
    return said(message, version=__version__, when=when)


def fragment(parts: Iterable[Part], chart: Chart | None = None) -> str:
    """Return the parts as HTML for another page, such as a notebook.

    They take the colours of that page and have no scripts.
    """
    macros: Any = _macros(_environment())
    drawn = [
        macros.table(part, said("Table"))
        if isinstance(part, Table)
        else getattr(macros, type(part).__name__.casefold())(part)
        for part in parts
        if not isinstance(part, Figure)
    ]
    picture = []
    if chart is not None:
        svg = b64encode(vector(chart.to_dict()).encode()).decode()
        words = escape(chart.to_dict()["description"])
        source = f"data:image/svg+xml;base64,{svg}"
        picture = [f'<p><img alt="{words}" src="{source}" style="background: #fff"></p>']
    style = (PAGE / "fragment.css").read_text("utf-8")
    return "\n".join([f'<style>{style}</style><div class="qifsql">', *drawn, *picture, "</div>"])


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
    )


def _macros(environment: Environment) -> Any:
    """Return the macros that draw the parts."""
    template = environment.get_template("parts.html")
    return template.make_module({"bad": lambda cell: isinstance(cell, Bad)})


def page(document: Document) -> str:
    """Return the document as HTML."""
    figures = [p for s in document.sections for p in s.parts if isinstance(p, Figure)]
    scripts = _scripts() if figures else []
    environment = _environment()
    numbers = {id(figure): i for i, figure in enumerate(figures, 1)}
    macros = _macros(environment)

    def drawn(part: Part) -> Markup:
        macro = getattr(macros, type(part).__name__.casefold())
        if isinstance(part, Figure):
            return Markup(macro(part, _drawing(part, numbers[id(part)])))  # noqa: S704 - escaped by the template
        if hasattr(part, "rows"):
            return Markup(macro(part, said("Table")))  # noqa: S704 - escaped by the template
        return Markup(macro(part))  # noqa: S704 - escaped by the template

    return environment.get_template("page.html").render(
        document=document,
        language=spoken().code,
        said=said,
        drawn=drawn,
        style=Markup((PAGE / "style.css").read_text("utf-8")),  # noqa: S704 - a file of qifsql
        scripts=scripts,
        digests=Markup(digests(scripts) or "'none'"),  # noqa: S704 - computed here
    )


def _shown(value: Any) -> Any:
    """Return a value for a page, without control characters and marks of text direction.

    Such a mark in a name would change the direction of the text after it.
    """
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value, "\n\t")
    return value


def _drawing(figure: Figure, number: int) -> dict[str, Any]:
    """Return a chart as a picture, a specification, and words."""
    specification = figure.chart.to_dict()
    specification["config"] |= {"background": None}
    _, converter = extra()
    compiled = converter.vegalite_to_vega(specification)  # less work and fewer warnings in browsers
    picks = any("pick" in str(signal["name"]) for signal in compiled.get("signals", ()))
    text = json.dumps(compiled, ensure_ascii=False).replace("<", "\\u003c")
    return {
        "number": number,
        "title": specification["title"]["text"],
        "description": specification["description"],
        "words": said("The chart in words"),
        "hint": said("A click on a dot shows the same set everywhere.") if picks else "",
        "svg": vector(specification),
        "specification": text,
    }


@cache
def _scripts() -> list[str]:
    """Return the chart library and the script that starts it."""
    _, converter = extra()
    return [converter.javascript_bundle(), (PAGE / "script.js").read_text("utf-8")]
