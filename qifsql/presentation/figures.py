"""Charts in a page, and as files: HTML that needs no network, PNG, SVG, Vega-Lite."""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from qifsql.errors import InputError, OutputError
from qifsql.presentation.language import said, spoken
from qifsql.presentation.parts import Figure, Part
from qifsql.presentation.theme import Chart, libraries

ENDINGS = (".html", ".png", ".svg", ".json")
OPTIONS = {"ast": True, "actions": {"source": False, "compiled": False, "editor": False}}
NAMED = 'document.querySelector("summary").setAttribute("aria-label", {})'
PAGE = """<!DOCTYPE html>
<html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data: blob:;
 style-src 'unsafe-inline'; script-src {digests}">
</head><body style="margin: 1.5rem; background: #fff; color: #000; font: 14px/1.5 sans-serif">
<main><h1 style="position: absolute; left: -100rem">{title}</h1>
<div id="chart" role="region" aria-label="{title}" tabindex="0" style="overflow-x: auto"></div>
<p style="max-width: 45rem; overflow-wrap: anywhere">{words}</p></main>
<script>{library}</script><script>{call}</script>
</body></html>
"""


def prepare_folder(folder: Path, kind: str) -> None:
    """Make the folder for charts; refuse charts (``kind``: svg, ...) that cannot be written."""
    if f".{kind}" not in ENDINGS:
        endings = ", ".join(ending[1:] for ending in ENDINGS)
        raise OutputError(f"charts are written as {endings}, not as {kind}")
    libraries()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise OutputError(f"{folder} cannot be a folder for charts: {e.strerror}") from e


def content(chart: Chart, ending: str) -> bytes:
    """Return the content of a chart's file: HTML without network, PNG, SVG, Vega-Lite (.json)."""
    _, converter = libraries()
    spec = chart.to_dict(validate=False)  # tests do that: it takes as long as to draw
    if ending == ".png":
        picture: bytes = converter.vegalite_to_png(spec, scale=2, allowed_base_urls=[])
        return picture
    if ending == ".svg":
        return vector(spec).encode()
    if ending == ".html":
        return _page(spec, library()).encode()
    return json.dumps(spec).encode() + b"\n"


def vector(spec: dict[str, Any]) -> str:
    """Return a chart as SVG, with its title and its description in words."""
    _, converter = libraries()
    drawn: str = converter.vegalite_to_svg(spec, allowed_base_urls=[])
    title, words = escape(spec["title"]["text"]), escape(spec["description"])
    header = f"<title>{title}</title><desc>{words}</desc>"
    return re.sub(r"<svg[^>]*>", lambda tag: tag[0] + header, drawn, count=1)


def digests(scripts: Iterable[str]) -> str:
    """Return the digests of the scripts that a page may run, for its security policy."""
    hashes = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return " ".join(f"'sha256-{b64encode(digest).decode()}'" for digest in hashes)


@cache
def library() -> str:
    """Return the scripts that draw charts in a page, as vl-convert would bundle them in seconds."""
    return (Path(__file__).resolve().parent / "page" / "vega.js").read_text("utf-8")


def can_draw() -> bool:
    """Return whether the extra that draws charts is installed."""
    try:
        libraries()
    except InputError:
        return False
    return True


def drawn(name: str, draw: Callable[[], Chart]) -> list[Part]:
    """Return a chart as a part, or nothing without the extra for charts or without data."""
    try:
        return [Figure(name, draw())] if can_draw() else []
    except InputError:  # nothing to draw
        return []


def _page(spec: dict[str, Any], library: str) -> str:
    """Return an HTML page of a chart (``spec``, in Vega-Lite) that loads no other file.

    ``library`` is the JavaScript that draws it. The page's security policy lets the browser run
    only this script and the ``call`` of it.
    """
    text = json.dumps(spec).replace("<", "\\u003c")  # "</script>" in a name would end the script
    name = json.dumps(said("Save the chart")).replace("<", "\\u003c")
    call = f'vegaEmbed("#chart", {text}, {json.dumps(OPTIONS)}).then(() => {NAMED.format(name)});'
    return PAGE.format(
        lang=spoken().code,
        digests=digests((library, call)),
        title=escape(spec["title"]["text"]),
        words=escape(spec["description"]),
        library=library,
        call=call,
    )
