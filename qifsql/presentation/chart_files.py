"""Charts as files: HTML that works without a network, PNG, SVG, Vega-Lite."""

import hashlib
import json
import re
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any

from qifsql.presentation.language import spoken
from qifsql.presentation.theme import Chart, extra
from qifsql.results.storage import Origin, check_ending, whole

ENDINGS = (".html", ".png", ".svg", ".json")
OPTIONS = {"ast": True, "actions": {"source": False, "compiled": False, "editor": False}}
PAGE = """<!DOCTYPE html>
<html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data: blob:;
 style-src 'unsafe-inline'; script-src {digests}">
</head><body style="margin: 1.5rem; background: #fff; color: #000; font: 14px/1.5 sans-serif">
<div id="chart"></div><p style="max-width: 45rem; overflow-wrap: anywhere">{words}</p>
<script>{library}</script><script>{call}</script>
</body></html>
"""


def save(chart: Chart, path: Path, origin: Origin) -> None:
    """Write a chart: HTML that works without a network, PNG, SVG, or its Vega-Lite as JSON."""
    check_ending(path, ENDINGS)
    _, converter = extra()
    spec, ending = chart.to_dict(), path.suffix.casefold()
    title, words = escape(spec["title"]["text"]), escape(spec["description"])
    if ending == ".png":
        content = converter.vegalite_to_png(spec, scale=2, allowed_base_urls=[])
    elif ending == ".svg":
        content = vector(spec).encode()
    elif ending == ".html":
        content = _page(spec, title, words, converter.javascript_bundle()).encode()
    else:
        content = json.dumps(spec).encode() + b"\n"
    with whole(path, origin) as temporary:
        temporary.write_bytes(content)


def vector(spec: dict[str, Any]) -> str:
    """A chart as SVG, with its title and its description in words."""
    _, converter = extra()
    drawn: str = converter.vegalite_to_svg(spec, allowed_base_urls=[])
    title, words = escape(spec["title"]["text"]), escape(spec["description"])
    header = f"<title>{title}</title><desc>{words}</desc>"
    return re.sub(r"<svg[^>]*>", lambda tag: tag[0] + header, drawn, count=1)


def _page(spec: dict[str, Any], title: str, words: str, library: str) -> str:
    """A page that loads nothing: the browser is told to refuse all but the two scripts in it."""
    text = json.dumps(spec).replace("<", "\\u003c")  # "</script>" in a name would end the script
    call = f'vegaEmbed("#chart", {text}, {json.dumps(OPTIONS)});'
    digests = (b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in (library, call))
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return PAGE.format(
        lang=spoken().code, digests=allowed, title=title, words=words, library=library, call=call
    )
