"""Reports in a real browser: drawn, read, printed and operated as people do, without a network."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from effort import PATIENCE
from terminal import run

import qifsql
from qifsql.commands.report.report import report
from qifsql.results.result import Display, save

WANTED = "install playwright and axe-playwright-python to test reports in a browser"
driver = pytest.importorskip("playwright.sync_api", reason=WANTED)
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=WANTED)
pytest.importorskip("altair", reason="reports have charts with the extra qifsql[charts]")
pytest.importorskip("vl_convert", reason="reports have charts with the extra qifsql[charts]")

NAMES = (
    os.environ.get("CHROMIUM", ""),
    "/usr/bin/chromium",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
CHROMIUM = next((found for name in NAMES if name and (found := shutil.which(name))), None)
if CHROMIUM is None:
    pytest.skip("no Chromium here; name one in $CHROMIUM", allow_module_level=True)
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PHONE, DESK, PAPER = (
    {"viewport": {"width": w, "height": h}} for w, h in ((375, 800), (1440, 900), (718, 1000))
)
HOSTILE = [
    "<script>fetch('http://127.0.0.1:9/a')</script>",
    "\"'><img src=http://127.0.0.1:9/b onerror=hacked=1>",
    "</style><link rel=stylesheet href=http://127.0.0.1:9/c>",
    "n" * 5_000,
    "=cmd()\n</script>${hacked=1}{{7*7}}\u202e",
]
POLICY = """
[adversary]
qids = ["birth", "town"]
secret = ["illness"]
[[rule]]
model = "crs"
measure = "singled_out"
at_most = 1
[[rule]]
model = "cas"
measure = "worst_case"
at_most = 1
by = "region"
"""
QIDS, SECRETS = ["birth", "town", "sex"], ["illness"]
PEOPLE = 300


def people(path: Path) -> Path:
    """A small release."""
    rows = range(PEOPLE)
    pl.DataFrame(
        {
            "birth": [i * i % 97 % 40 for i in rows],
            "town": [i * 7 % 11 for i in rows],
            "sex": [i % 2 for i in rows],
            "illness": [int(i % 10 == 0) for i in rows],
            "region": [("Tiny" if i < 4 else ("North", "South", "West")[i % 3]) for i in rows],
        }
    ).write_parquet(path)
    return path


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results of an attack, a sweep, a description and a check."""
    folder = tmp_path_factory.mktemp("results")
    data = people(tmp_path_factory.mktemp("data") / "people.parquet")
    (policy := data.with_name("levels.toml")).write_text(POLICY)
    asked = ("-q", ",".join(QIDS), "-s", ",".join(SECRETS), "--histogram", "--threshold", "0.1")
    more = ("--threshold", "0.5", "--threshold", "1", "--by", "region")
    for name, command in {
        "attack": ("attack", "crs,cas", data, *asked, *more),
        "sweep": ("sweep", data, *asked, "--workspace", data.with_name("work.sweep")),
        "columns": ("describe", data),
        "levels": ("check", data, "--policy", policy),
    }.items():
        done = run(*command, "--quiet", "-o", folder / f"{name}.parquet")
        assert done.code in (0, 4), done.err  # 4: a level is not met
    return folder


@pytest.fixture(scope="module")
def shown(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    report(results, path, people="pupils", name_groups="region")
    return path


@pytest.fixture(scope="module")
def private(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report for those who may see people."""
    path = tmp_path_factory.mktemp("private") / "report.html"
    report(results, path, private=True)
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of columns and groups whose names would like to be markup."""
    folder = tmp_path_factory.mktemp("hostile")
    *known, secret = HOSTILE
    rows = {name: [i * (j + 3) % 7 for i in range(100)] for j, name in enumerate(HOSTILE)}
    groups = {"group": [HOSTILE[i % len(HOSTILE)] for i in range(100)]}
    pl.DataFrame(rows | groups).write_parquet(folder / "people.parquet")
    asked: dict[str, Any] = {"qids": known, "secret": [secret]}
    source = folder / "people.parquet"
    attacked = qifsql.attack(
        "crs,cas", source, histogram=True, thresholds=[0.5], by="group", **asked
    )
    swept = qifsql.sweep(source, threshold=0.5, **asked)
    for name, result in {"attack": attacked, "sweep": swept}.items():
        told = Display(result=result, title=name)
        save(told, folder / f"{name}.parquet")
    made = [folder / f"{name}.parquet" for name in ("attack", "sweep")]
    more = {"title": HOSTILE[0], "people": HOSTILE[1], "name_groups": "group"}
    report(made, folder / "hostile.html", **more)
    return folder / "hostile.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with driver.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@contextmanager
def opened(browser: Any, path: Path, **options: Any) -> Iterator[Any]:
    """A page; ``page.told`` is what the browser says of it, ``page.asked`` which files it wants."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    page.told, page.asked = [], []
    page.on("console", lambda message: page.told.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.told.append(f"error: {error}"))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(path.as_uri())
    try:
        yield page
    finally:
        context.close()


def awake(page: Any) -> int:
    """Scroll to every chart until it can be hovered over; how many there are."""
    figures = page.locator("figure")
    for i in range(figures.count()):
        figures.nth(i).scroll_into_view_if_needed()
        page.wait_for_function("i => document.querySelectorAll('figure')[i].dataset.chart", arg=i)
    return int(figures.count())


MARKS = """() => [...document.querySelectorAll('figure')].map(figure =>
    [...figure.querySelectorAll('.drawing svg .role-mark :is(path, line, text)')].filter(mark => {
        const box = mark.getBoundingClientRect(); return box.width > 0 || box.height > 0;
    }).length)"""
WORDS = """() => {
    const whole = document.querySelector('main').cloneNode(true);
    whole.querySelectorAll('figure').forEach(figure => figure.remove());
    return whole.textContent;
}"""
TABLES = """() => [...document.querySelectorAll('section')].flatMap(section =>
    [...section.querySelectorAll('table')].map(table => ({
        section: section.id,
        heads: [...table.querySelectorAll('thead :is(th, td)')].map(cell => cell.textContent),
        rows: [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent)),
    })))"""
COLOURS = """selector => [...document.querySelectorAll(selector)].map(element => {
    const seen = colour => !/, 0\\)$|transparent/.test(colour);
    let below = element;
    while (below && !seen(getComputedStyle(below).backgroundColor)) below = below.parentElement;
    const own = getComputedStyle(element);
    const paper = below ? getComputedStyle(below).backgroundColor : 'rgb(255, 255, 255)';
    return [element.closest('svg') ? own.fill : own.color, paper, element.textContent.slice(0, 30)];
}).filter(([ink, , text]) => text.trim() && ink !== 'none')"""


def tables(page: Any, section: str, head: str) -> list[list[list[str]]]:
    """The rows of the tables of a section that have this among their heads."""
    found = [t for t in page.evaluate(TABLES) if t["section"].startswith(section)]
    return [t["rows"] for t in found if head in t["heads"]]


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (WCAG 2.2, relative luminance), 1 to 21."""
    lights = []
    for colour in (one, other):
        channels = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        lights.append(0.2126 * r + 0.7152 * g + 0.0722 * b)
    return (max(lights) + 0.05) / (min(lights) + 0.05)


# Quiet, and alone.


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["shown", "private", "hostile"])
def test_nothing_is_loaded_and_nothing_is_wrong(
    browser: Any, name: str, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(name)
    with opened(browser, path, **DESK) as page:
        assert awake(page) > 3
        page.mouse.move(600, 400)
        page.wait_for_timeout(200)
        assert page.told == []
        assert page.asked == [path.as_uri()]
        assert page.evaluate("typeof hacked") == "undefined"


def test_a_small_report_opens_in_two_seconds(browser: Any, shown: Path) -> None:
    loaded = "performance.getEntriesByType('navigation')[0].loadEventEnd"
    seconds = []
    for _ in range(3):  # others may use the machine
        with opened(browser, shown, **DESK) as page:
            seconds.append(page.evaluate(loaded) / 1000)
        if 0 < seconds[-1] < 2:
            return
    pytest.fail(f"it took {seconds} seconds")


# Charts and tables.


def test_every_chart_is_drawn_with_scripts_and_without(browser: Any, shown: Path) -> None:
    with opened(browser, shown, **DESK) as page:
        still = page.evaluate(MARKS)
        assert awake(page) == len(still) > 3
        states = page.evaluate("[...document.querySelectorAll('figure')].map(f => f.dataset.chart)")
        assert set(states) == {"awake"}
        drawn = page.evaluate(MARKS)
        assert min(drawn) > 0
        assert drawn == still
    with opened(browser, shown, java_script_enabled=False, **DESK) as page:
        assert page.evaluate(MARKS) == still


def test_a_chart_keeps_its_name_and_its_height_when_it_wakes(browser: Any, shown: Path) -> None:
    look = """() => [...document.querySelectorAll('.drawing')].map(drawing => [
        drawing.getAttribute('aria-label'),
        drawing.querySelector('svg').getBoundingClientRect().height])"""
    with opened(browser, shown, **DESK) as page:
        still = page.evaluate(look)
        awake(page)
        lively = page.evaluate(look)
    assert [name for name, _ in lively] == [name for name, _ in still]
    assert [round(height) for _, height in lively] == [round(height) for _, height in still]


def test_without_scripts_all_words_are_there(browser: Any, shown: Path) -> None:
    with opened(browser, shown, **DESK) as page:
        awake(page)
        lively = page.evaluate(WORDS)
    with opened(browser, shown, java_script_enabled=False, **DESK) as page:
        assert page.evaluate(WORDS) == lively
        assert page.locator("figure .drawing svg").count() == page.locator("figure").count()


def test_every_chart_has_a_name_and_is_told_in_words(browser: Any, shown: Path) -> None:
    with opened(browser, shown, **DESK) as page:
        awake(page)
        for figure in page.locator("figure").all():
            assert figure.locator(".drawing").get_attribute("aria-label")
            figure.locator("summary").click()
            assert len(figure.locator("figcaption details p").inner_text()) > 20


def test_a_chart_tells_its_numbers_to_the_mouse(browser: Any, shown: Path) -> None:
    with opened(browser, shown, **DESK) as page:
        awake(page)
        bar = page.locator("figure .mark-rect.role-mark path:not([aria-label*='success: 0%'])").last
        bar.scroll_into_view_if_needed()
        bar.hover()
        page.wait_for_selector("#vg-tooltip-element.visible")
        assert re.search(r"\d", page.locator("#vg-tooltip-element").inner_text())
        assert page.told == []


def test_tables_have_as_many_rows_as_the_results(browser: Any, shown: Path, results: Path) -> None:
    stored = {p.stem: pl.read_parquet(p) for p in results.glob("*.parquet")}
    questions = [None, *SECRETS]
    with opened(browser, shown, **DESK) as page:
        for section, head, name in (
            ("result", "best for", "sweep.best"),
            ("first", "drop first", "sweep.drop_first"),
            ("first", "coarsen first", "sweep.coarsen_first"),
        ):
            own = [stored[name].filter(pl.col("secret").eq_missing(s)).height for s in questions]
            assert [len(rows) for rows in tables(page, section, head)] == own, head
        borders = stored["sweep.borders"]
        assert borders.height > 0
        for border in ("minimal risky", "maximal safe"):
            for measure in ("deterministic", "probabilistic"):
                rows = sum(map(len, tables(page, "first", f"{border}, {measure}")))
                assert rows == borders.filter(border=border, measure=measure).height
        groups = stored["attack.groups"].filter(pl.col("individuals") >= 10)
        rows = tables(page, "groups", "region")
        [hidden] = {row[0] for row in rows[0]} - {"North", "South", "West"}
        assert hidden == "other groups (2 groups)"  # the small one, and one that hides its size
        assert [len(r) for r in rows] == [groups["group"].n_unique()] * len(questions)
        [levels] = tables(page, "result", "required")
        assert len(levels) == stored["levels"].height
        [columns] = tables(page, "released", "singled out")
        assert [row[0] for row in columns] == stored["columns"]["column"].to_list()


def test_bars_are_as_many_as_the_thresholds(browser: Any, shown: Path, results: Path) -> None:
    rows = pl.read_parquet(results / "attack.thresholds.parquet").height
    with opened(browser, shown, **DESK) as page:
        figure = page.locator("figure", has=page.get_by_label("People above a risk")).first
        assert figure.locator(".mark-rect.role-mark path").count() == rows


# Light, dark, wide, narrow, on paper.

TEXTS = ["body", "h1", "p", ".compared", "caption", "th", "td", "a", "summary", "footer p", ".bad"]


@pytest.mark.cases(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(browser: Any, shown: Path, scheme: str) -> None:
    with opened(browser, shown, color_scheme=scheme, **DESK) as page:
        for state in ("still", "awake"):
            for selector in (*TEXTS, ".drawing svg text"):
                found = page.evaluate(COLOURS, selector)
                assert found or selector in (".bad", "caption"), selector
                dim = [row for row in found if contrast(row[0], row[1]) < 4.5]
                assert dim[:3] == [], (state, selector)
            awake(page)


def test_dark_is_dark(browser: Any, shown: Path) -> None:
    found = {}
    for scheme in ("light", "dark"):
        with opened(browser, shown, color_scheme=scheme, **DESK) as page:
            ink, paper, _ = page.evaluate(COLOURS, "main p")[0]
            found[scheme] = [contrast(c, "rgb(255, 255, 255)") for c in (ink, paper)]
    assert found["light"][0] > 7
    assert found["light"][1] < 1.2
    assert found["dark"][0] < 1.5
    assert found["dark"][1] > 10


WIDE = """() => [innerWidth, document.scrollingElement.scrollWidth,
    [...document.querySelectorAll('body *')].filter(e => {
        const box = e.getBoundingClientRect();
        return box.right > innerWidth + 1 && box.width && !e.closest('.table, .drawing, pre');
    }).slice(0, 3).map(e => e.outerHTML.slice(0, 120))]"""


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", ["shown", "private", "hostile"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_the_page_never_scrolls_sideways(
    browser: Any, name: str, size: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    with opened(browser, request.getfixturevalue(name), **size) as page:
        awake(page)
        room, needed, beyond = page.evaluate(WIDE)
        assert needed <= room, beyond


def test_the_letters_of_charts_can_be_read_on_a_phone(browser: Any, shown: Path) -> None:
    letters = """() => [...document.querySelectorAll('.drawing svg')].map(svg => {
        const shrunk = svg.getBoundingClientRect().width / svg.getAttribute('width');
        const sizes = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim())
            .map(text => parseFloat(getComputedStyle(text).fontSize));
        return Math.round(10 * shrunk * Math.min(...sizes)) / 10;
    })"""
    for scripts in (False, True):
        with opened(browser, shown, java_script_enabled=scripts, **PHONE) as page:
            if scripts:
                awake(page)
            found = page.evaluate(letters)
            assert [pixels for pixels in found if pixels < 9] == [], found


def test_on_paper_only_what_can_be_read_is_left(browser: Any, shown: Path) -> None:
    with opened(browser, shown, **PAPER) as page:
        awake(page)
        page.emulate_media(media="print")
        assert not any(nav.is_visible() for nav in page.locator("nav").all())
        folds = page.locator("details:not([open])")
        assert folds.count() > 3
        assert not any(fold.is_visible() for fold in folds.all())
        assert page.locator("#method h2").is_visible()
        room, needed, beyond = page.evaluate(WIDE)
        assert needed <= room, beyond
        assert [row for row in page.evaluate(COLOURS, "main p") if contrast(*row[:2]) < 7] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_can_be_printed(browser: Any, shown: Path, scheme: str) -> None:
    with opened(browser, shown, color_scheme=scheme, **DESK) as page:
        content = page.pdf(format="A4")
        assert content.startswith(b"%PDF")
        assert len(re.findall(rb"/Type\s*/Page\b(?!s)", content)) >= 3
        page.emulate_media(media="print", color_scheme=scheme)
        ink, *_ = page.evaluate(COLOURS, "main p")[0]
        assert contrast(ink, "rgb(255, 255, 255)") > 10
        for row in page.evaluate(COLOURS, ".drawing svg text"):
            assert contrast(row[0], "rgb(255, 255, 255)") > 4.5, row


def test_the_first_page_is_one_sheet_and_a_pdf_names_no_file(
    browser: Any, results: Path, shown: Path, tmp_path: Path
) -> None:
    report(results, tmp_path / "report.pdf", people="pupils", name_groups="region")
    content = (tmp_path / "report.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert b"file://" not in content
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", content)) > 3
    assert (tmp_path / "report.pdf.manifest.json").exists()
    sheet = {"viewport": {"width": 680, "height": 1002}}  # A4 without its margins
    with opened(browser, shown, java_script_enabled=False, **sheet) as page:
        page.emulate_media(media="print")
        for section in page.locator("section.page").all():
            assert section.bounding_box()["height"] < 1002
        breaks = "e => getComputedStyle(e).breakBefore"
        assert page.locator("#carriers").evaluate(breaks) == "page"
        assert page.locator("section.annex").first.evaluate(breaks) == "page"


def test_what_is_confidential_is_marked_on_every_page(browser: Any, private: Path) -> None:
    with opened(browser, private, **DESK) as page:
        mark = page.locator(".mark")
        assert "Confidential" in mark.inner_text()
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        assert mark.bounding_box()["y"] >= -1  # still in view at the end
        page.emulate_media(media="print")
        assert mark.evaluate("e => getComputedStyle(e).position") == "fixed"  # drawn on every sheet


# For everybody.


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "options",
    [{**DESK}, {**DESK, "color_scheme": "dark"}, {**PHONE}],
    ids=["light", "dark", "phone"],
)
def test_axe_finds_nothing(browser: Any, shown: Path, options: dict[str, Any]) -> None:
    with opened(browser, shown, **options) as page:
        awake(page)
        flawless(page)


def test_axe_finds_nothing_in_private_reports(browser: Any, private: Path) -> None:
    with opened(browser, private, **DESK) as page:
        flawless(page)


def flawless(page: Any) -> None:
    found = axe.Axe().run(page).response
    assert len(found["passes"]) > 10
    bad = found["violations"]
    assert [(v["id"], v["help"], [n["html"][:120] for n in v["nodes"]][:3]) for v in bad] == []


def test_axe_finds_nothing_in_charts(browser: Any, results: Path, tmp_path: Path) -> None:
    report(results / "sweep.parquet", tmp_path / "r.md", charts=tmp_path, chart_format="html")
    for path in sorted(tmp_path.glob("*.html"))[:2]:
        with opened(browser, path, **DESK) as page:
            flawless(page)


def test_the_keyboard_reaches_everything_in_order(browser: Any, shown: Path) -> None:
    focused = """() => { const e = document.activeElement, box = e.getBoundingClientRect();
        const style = getComputedStyle(e);
        return {all: [...document.querySelectorAll('*')].indexOf(e),
            of: e.classList[0] || e.tagName, nav: !!e.closest('nav'),
            outline: style.outlineStyle, x: box.left, tag: e.tagName}; }"""
    with opened(browser, shown, **PHONE) as page:
        wanted = page.locator("a[href], summary, .table, .drawing").count()
        reached = []
        for _ in range(wanted + 5):
            page.keyboard.press("Tab")
            now = page.evaluate(focused)
            if now["tag"] == "BODY" or now["all"] in [r["all"] for r in reached]:
                break
            reached.append(now)
        assert reached[0]["of"] == "skip"
        assert reached[0]["x"] >= 0  # in view once it is reached
        assert [r["all"] for r in reached] == sorted(r["all"] for r in reached)
        assert [r for r in reached if r["outline"] == "none"] == []
        assert sum(r["nav"] for r in reached) == page.locator("nav a").count() > 3
        for kind in ("table", "drawing"):
            assert [r["of"] for r in reached].count(kind) == page.locator(f".{kind}").count() > 3


def test_the_first_link_skips_to_the_content_and_the_others_to_their_sections(
    browser: Any, shown: Path
) -> None:
    with opened(browser, shown, **DESK) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash") == "#content"
        for link in page.locator("nav a").all():
            target = link.get_attribute("href")
            assert page.locator(target).count() == 1
            assert page.locator(f"{target} h2").inner_text() == link.inner_text()


def test_headings_go_down_step_by_step(browser: Any, shown: Path) -> None:
    with opened(browser, shown, **DESK) as page:
        levels = page.evaluate(
            "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])"
        )
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


# The browser runs no script but those of the page.


MARKUP = """
<script>hacked = 1</script><script src='data:text/javascript,hacked=1'></script>
<img src='data:,' onerror='hacked = 1'><svg onload='hacked = 1'></svg>
<iframe srcdoc='<script>parent.hacked = 1</script>'></iframe>
<a id=now href='javascript:hacked=1'>now</a>
"""


def test_scripts_that_came_in_are_not_run(browser: Any, shown: Path, tmp_path: Path) -> None:
    text = shown.read_text("utf-8")
    assert text.count("<main") == 1
    (tmp_path / "changed.html").write_text(text.replace("<main", f"{MARKUP}<main"), "utf-8")
    with opened(browser, tmp_path / "changed.html", **DESK) as page:
        page.locator("#now").click()
        page.wait_for_timeout(100)
        assert page.evaluate("typeof hacked") == "undefined"
        refused = [told for told in page.told if "Content Security Policy" in told]
        assert len(refused) >= 5


def test_a_set_that_is_picked_stands_out_in_all_panels(browser: Any, shown: Path) -> None:
    with opened(browser, shown) as page:
        figure = page.locator("figure:has(.hint)").first
        figure.scroll_into_view_if_needed()
        page.wait_for_function("e => e.dataset.chart === 'awake'", arg=figure.element_handle())
        assert figure.locator(".hint").is_visible()
        picked = figure.locator("path[fill='#D55E00']")
        assert picked.count() == 0
        figure.locator("path[fill='#0072B2']").first.click(force=True)
        page.wait_for_timeout(300)
        assert picked.count() == 2 * figure.locator(".mark-rule.role-mark").count() / 2 > 1
