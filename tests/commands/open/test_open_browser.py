"""The story of a data-protection officer in a browser: open, choose, try, write."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from effort import PATIENCE
from places import ROOT, SAMPLES
from terminal import run

WANTED = "install playwright and axe-playwright-python to test the page in a browser"
driver = pytest.importorskip("playwright.sync_api", reason=WANTED)
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=WANTED)
pytest.importorskip("uvicorn", reason="needs qifsql[explorer]")
pytest.importorskip("altair", reason="charts need the extra qifsql[charts]")

NAMES = (os.environ.get("CHROMIUM", ""), "/usr/bin/chromium", "chromium", "google-chrome")
CHROMIUM = next((found for name in NAMES if name and (found := shutil.which(name))), None)
if CHROMIUM is None:
    pytest.skip("no Chromium here; name one in $CHROMIUM", allow_module_level=True)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PICTURES = ROOT / "docs" / "pictures"
LINE = "document.querySelector('#line-attack')?.textContent"

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@contextmanager
def serving(folder: Path, *words: object) -> Iterator[str]:
    """Serve a page from a folder; give its address, and end it with Ctrl-C."""
    line = [sys.executable, "-m", "qifsql", "open", *map(str, words), "--no-browser"]
    process = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env=os.environ | {"LC_ALL": "C"},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Traceback" not in err


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with driver.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


def is_problem(message: Any) -> bool:
    """Return whether a message of the browser is an error; a replaced request is none."""
    replaced = ("htmx:afterRequest", "htmx:sendAbort")
    return bool(message.type == "error" and not message.text.startswith(replaced))


@contextmanager
def visiting(browser: Any, address: str, **options: Any) -> Iterator[Any]:
    """Open a page; all that it asks for must be at its own address, and nothing may fail."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    problems: list[str] = []
    page.on("pageerror", lambda e: problems.append(str(e)))
    page.on("console", lambda m: problems.append(m.text) if is_problem(m) else None)
    mine = (address, "data:")
    page.on("request", lambda r: None if r.url.startswith(mine) else problems.append(r.url))
    page.goto(address)
    yield page
    context.close()
    assert not problems


def until(page: Any, condition: str) -> None:
    """Wait for a condition; the policy of the page forbids Playwright's own way to evaluate it."""
    deadline = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(50)


def violations(page: Any) -> list[str]:
    """The findings of axe."""
    found = axe.Axe().run(page).response["violations"]
    return [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]


def numbers(page: Any) -> dict[str, float]:
    """The exact success of each question on the page."""
    rows = page.query_selector_all("#numbers tbody tr")
    return {
        row.get_attribute("data-secret"): float(
            row.query_selector("[data-name=posterior_probabilistic]").get_attribute("value")
        )
        for row in rows
    }


def by_command(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The same numbers from the command that the page shows."""
    monkeypatch.chdir(folder)
    done = run(*shlex.split(line)[1:], "--format", "json", "--quiet")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["results"]
    return {row["secret"] or "": row["posterior_probabilistic"] for row in rows}


class Story(NamedTuple):
    """A file, a column that is no quasi-identifier in the end, and one that becomes coarser."""

    columns: tuple[str, ...]
    dropped: str
    coarser: str
    left: int  # values of the coarser column in the release


STORIES = {
    "school_census_2018": Story(
        ("NU_DIA", "NU_MES", "NU_ANO", "TP_SEXO", "IN_TRANSPORTE_PUBLICO"), "TP_SEXO", "NU_DIA", 7
    ),
    "adult": Story(
        ("age", "education", "occupation", "race", "sex", "native-country", "classification"),
        "race", "age", 16,
    ),
}  # fmt: skip


def size_and_time(path: Path) -> tuple[int, int]:
    return path.stat().st_size, path.stat().st_mtime_ns


def try_roles(page: Any, name: str, i: int) -> None:
    """Take a column away by the keyboard, where the focus stays; back by one click; away again."""
    for back in (True, False):
        page.focus(f"#role-{i}-0")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")  # not considered
        until(page, f"!document.querySelector('#range-{i}')")
        until(page, f"!/{name}/.test({LINE})")
        assert page.evaluate("document.activeElement.id") == f"role-{i}-2"
        if back:
            page.click(f"#role-{i} label:first-of-type")
            until(page, f"/{name}/.test({LINE})")


def write_everything(page: Any) -> None:
    """Run the commands that the page shows, and walk in the sweep, which comes by itself."""
    for what in ("release", "report", "study", "sweep"):
        page.click(f"form.write:has(input[value={what}]) button")
    until(page, "document.querySelectorAll('#jobs .job').length == 4")
    until(page, "!/Running/.test(document.querySelector('#jobs').textContent)")
    assert "It failed" not in page.inner_text("#jobs")
    page.wait_for_selector("#jobs svg.all")
    until(page, "!/so far/.test(document.querySelector('#jobs').textContent)")
    page.locator("#jobs .near button").first.click()
    until(page, "document.querySelectorAll('#jobs circle.here').length == 1")
    assert "Shapley" in page.inner_text("#jobs")


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", STORIES)
def test_an_officer_opens_chooses_tries_and_writes(
    browser: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    request: pytest.FixtureRequest,
) -> None:
    story = STORIES[name]
    folder = request.getfixturevalue("shared") / "data" if name == "adult" else SAMPLES
    data = tmp_path / "people.parquet"
    pl.read_parquet(folder / f"{name}.parquet").select(story.columns).write_parquet(data)
    role = story.columns.index(story.dropped)
    slider = story.columns.index(story.coarser)
    before = size_and_time(data)
    size = {"width": 1440, "height": 900}
    with (
        serving(tmp_path, "people.parquet") as address,
        visiting(browser, address, viewport=size) as page,
    ):

        def agree() -> None:
            """The numbers on the page are those of the command that it shows."""
            line = page.inner_text("#line-attack")
            assert numbers(page) == by_command(line, tmp_path, monkeypatch)

        page.wait_for_selector("#numbers")
        agree()
        assert violations(page) == []

        try_roles(page, story.dropped, role)

        # A slider by the keyboard.
        page.focus(f"#range-{slider}")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        until(page, f"/{story.coarser}:5/.test({LINE})")
        assert page.evaluate("document.activeElement.id") == f"range-{slider}"
        assert page.inner_text(f"#name-{slider}") == "in steps of 5"
        agree()
        page.click("#cost button")
        page.wait_for_selector("#cost table")
        page.wait_for_selector("#cost svg")  # risk against loss
        page.click("#drawn summary")
        page.wait_for_selector("#charts svg")
        assert violations(page) == []
        if os.environ.get("QIFSQL_PICTURES") == "write" and name != "adult":
            page.set_viewport_size({"width": 1280, "height": 1500})
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=PICTURES / "explorer.png")

        write_everything(page)
        assert violations(page) == []

        # Back to the first state, in Portuguese.
        page.click("text=português")
        page.wait_for_selector("#explorer[lang=pt-BR] #numbers")
        assert "O que encontrariam" in page.inner_text("#risk-title")
        page.locator("text=Voltar a este").first.click()
        page.wait_for_selector(f"#range-{role}")
        until(page, f"/{story.dropped}/.test({LINE})")
        agree()
    released = pl.read_parquet(tmp_path / "people-release.parquet")
    assert released[story.coarser].n_unique() == story.left
    assert (tmp_path / "people-report.html").stat().st_size > 10_000
    monkeypatch.chdir(tmp_path)
    assert run("run", "people-study.toml", "--dry-run").code == 0
    assert size_and_time(data) == before
    assert [*tmp_path.glob(".*"), *tmp_path.glob("*workspace*")] == []


@pytest.mark.slow(because="12 s; test_page.py has two tabs")
def test_two_tabs_do_not_know_of_each_other(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = SAMPLES / "school_census_2018.parquet"
    columns = list(pl.read_parquet_schema(data))
    with (
        serving(tmp_path, data) as address,
        visiting(browser, address) as one,
        visiting(browser, address) as other,
    ):
        for page in (one, other):
            page.wait_for_selector("#numbers")
        for _ in range(3):  # in turn, while the other one calculates
            for page, name in ((one, "NU_DIA"), (other, "NU_MES")):
                page.focus(f"#range-{columns.index(name)}")
                page.keyboard.press("ArrowRight")
        for page, mine, others in ((one, "NU_DIA:10", "NU_MES:"), (other, "NU_MES:", "NU_DIA:")):
            until(page, f"/{mine}/.test({LINE})")
            line = page.inner_text("#line-attack")
            assert others not in line
            until(page, "!document.querySelector('#work.htmx-request')")
            assert numbers(page) == by_command(line, tmp_path, monkeypatch)


@pytest.mark.slow(because="29 s; test_page.py has a sweep beside the page")
def test_a_sweep_goes_on_when_its_page_is_closed(browser: Any, tmp_path: Path) -> None:
    data = SAMPLES / "school_census_2018.parquet"
    with serving(tmp_path, data) as address:
        with visiting(browser, address) as page:
            page.wait_for_selector("#numbers")
            page.click("form.write:has(input[value=sweep]) button")
            page.wait_for_selector("#jobs .job")
        with visiting(browser, address) as page:
            page.wait_for_selector("#numbers")
            until(page, "!/Running/.test(document.querySelector('#jobs').textContent)")
            page.wait_for_selector("#jobs svg.all")
    assert (tmp_path / "school_census_2018-sweep.parquet").is_file()


@pytest.mark.cases(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_stored_sweep_on_a_phone(browser: Any, tmp_path: Path, scheme: str) -> None:
    out = tmp_path / "sweep.parquet"
    words = ("-q", "NU_DIA,NU_MES,NU_ANO", "-s", "IN_TRANSPORTE_PUBLICO", "--threshold", "0.1")
    done = run("sweep", SAMPLES / "school_census_2018.parquet", *words, "-o", out, "--quiet")
    assert done.code == 0, done.err
    phone = {"viewport": {"width": 375, "height": 800}, "color_scheme": scheme}
    with serving(tmp_path, out) as address, visiting(browser, address, **phone) as page:
        page.wait_for_selector("svg.all")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert violations(page) == []
        first = page.inner_text(".subset h3")
        page.locator(".near button").first.focus()
        page.keyboard.press("Enter")
        until(page, f"document.querySelector('.subset h3').textContent != {first!r}")
        assert len(page.inner_text(".subset h3").split(", ")) == 2
        page.locator("circle.beside").last.click()  # the dots below it are covered
        until(page, "document.querySelectorAll('circle.here').length == 1")
        assert re.search(r"\d %", page.inner_text(".subset"))


def test_the_page_of_a_file_on_a_phone_in_the_dark(browser: Any, tmp_path: Path) -> None:
    phone = {"viewport": {"width": 375, "height": 800}, "color_scheme": "dark"}
    data = SAMPLES / "popets_table_3a.csv"
    with serving(tmp_path, data) as address, visiting(browser, address, **phone) as page:
        page.wait_for_selector("#numbers")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert violations(page) == []
