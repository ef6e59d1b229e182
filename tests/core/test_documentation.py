"""The documentation: its code runs, its site is whole."""

import difflib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from places import ROOT

DOCS = ROOT / "docs"


def module(name: str) -> ModuleType:
    """A program of ``docs/``."""
    spec = spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


PAGES = module("pages")


LONG = {
    *("check_the_numbers.md", "from_arx.md", "gate_in_a_pipeline.md", "in_a_notebook.md"),
    *("k_anonymity.md", "publish_tables.md", "safe_to_publish.md", "synthetic.md"),
    *("which_columns.md", "higher_education_census.md"),
}
"""Guides that take 8 to 39 seconds each, and most of the time of all pages."""


def page_of(path: Path) -> Any:
    """A page as a parameter of a test."""
    marks = [pytest.mark.slow(because="shorter pages stay")] if path.name in LONG else []
    return pytest.param(path, id=str(path.relative_to(ROOT)), marks=marks)


@pytest.mark.slow(because="0.7 s each; every recorded mutant dies without it")
@pytest.mark.parametrize("page", [page_of(path) for path in PAGES.pages()])
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page: Path) -> None:
    text = page.read_text("utf-8")
    with PAGES.workplace() as folder:
        made = PAGES.written(page, folder)
    lines = difflib.unified_diff(text.splitlines(), made.splitlines(), "page", "now", lineterm="")
    assert PAGES.same(text, made), "\n".join(["run python docs/pages.py", *lines])


def test_long_pages_are_there() -> None:
    assert {path.name for path in PAGES.pages()} >= LONG


class _Links(HTMLParser):
    """The loads, links and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.led: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.led.append(values["href"])
        for name in ("src", "srcset", "poster"):
            if name in values:
                self.loaded.append(values[name])
        if tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(values["href"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a network."""
    wanted = "install playwright and axe-playwright-python to open the documentation in a browser"
    driver = pytest.importorskip("playwright.sync_api", reason=wanted)
    pytest.importorskip("axe_playwright_python.sync_playwright", reason=wanted)
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no chromium here to open the documentation in")
    with driver.sync_playwright() as started:
        chromium = started.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield chromium.new_context(offline=True)
        chromium.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as ``make docs`` builds it."""
    if find_spec("zensical") is None:
        pytest.skip("install the extra docs to build the documentation")
    folder = tmp_path_factory.mktemp("documentation")
    shutil.copytree(DOCS, folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    words = [sys.executable, "-m", "zensical", "build", "--strict"]
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder / "site"


@pytest.mark.slow(because="7.5 s; every recorded mutant dies without it")
def test_the_site_loads_nothing_from_elsewhere_and_leads_where_it_says(site: Path) -> None:
    read: dict[Path, _Links] = {}
    for page in site.rglob("*.html"):
        read[page] = _Links()
        read[page].feed(page.read_text("utf-8"))
    wrong = []
    for page, links in read.items():
        if page.name == "404.html":  # its links begin at the root of a server
            continue
        wrong += [(page.name, url) for url in links.loaded if re.match(r"(https?:)?//", url)]
        for url in links.led:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (
                parts.fragment
                and target in read
                and unquote(parts.fragment) not in read[target].places
            ):
                wrong.append((page.name, url))
    assert len(read) > 30
    assert not wrong


@pytest.mark.cases(1)
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_readable_on_phones_and_desks_by_everybody(
    site: Path, browser: Any, width: int, scheme: str
) -> None:
    """Nothing is asked of a network, no page scrolls sideways, axe finds nothing."""
    from axe_playwright_python.sync_playwright import Axe

    names = ("index", "guides/which_columns", "mathematics/attacks", "reference/commands/attack")
    for name in names:
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.goto((site / f"{name}.html").as_uri())
        assert not [url for url in asked if not url.startswith(("file:", "data:"))]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        violations = [v["id"] for v in Axe().run(page).response["violations"]]
        assert not violations, (name, violations)
        page.close()
