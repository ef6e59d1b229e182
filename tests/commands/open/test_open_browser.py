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
from typing import Any

import polars as pl
import pytest
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
PATIENCE = 30_000  # milliseconds
LINE = "document.querySelector('#line-attack')?.textContent"
KEPT = ("NU_DIA", "NU_MES", "NU_ANO", "TP_SEXO", "IN_TRANSPORTE_PUBLICO")

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
        _, err = process.communicate(timeout=60)
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
    page.set_default_timeout(PATIENCE)
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
    deadline = time.monotonic() + PATIENCE / 1000
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


def test_an_officer_opens_chooses_tries_and_writes(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "census.parquet"
    pl.read_parquet(SAMPLES / "school_census_2018.parquet").select(KEPT).write_parquet(data)
    before = data.stat()
    size = {"width": 1440, "height": 900}
    with (
        serving(tmp_path, "census.parquet") as address,
        visiting(browser, address, viewport=size) as page,
    ):
        page.wait_for_selector("#numbers")
        assert numbers(page) == by_command(page.inner_text("#line-attack"), tmp_path, monkeypatch)
        assert violations(page) == []

        # A role by the keyboard; the focus stays where it was.
        page.focus("#role-3")
        page.keyboard.press("n")  # not considered
        until(page, "!document.querySelector('#range-3')")
        until(page, f"!/TP_SEXO/.test({LINE})")
        assert page.evaluate("document.activeElement.id") == "role-3"

        # A slider by the keyboard.
        page.focus("#range-0")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        until(page, f"/NU_DIA:5/.test({LINE})")
        assert page.evaluate("document.activeElement.id") == "range-0"
        assert page.inner_text("#name-0") == "in steps of 5"
        assert numbers(page) == by_command(page.inner_text("#line-attack"), tmp_path, monkeypatch)
        page.click("#cost button")
        page.wait_for_selector("#cost table")
        page.click("#charts button")
        page.wait_for_selector("#charts svg")
        assert violations(page) == []
        if os.environ.get("QIFSQL_PICTURES") == "write":
            page.set_viewport_size({"width": 1440, "height": 1500})
            page.evaluate("document.querySelector('#live').scrollTo(0, 0)")
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=PICTURES / "explorer.png")

        # Written by the commands that are shown.
        for what in ("release", "report"):
            page.click(f"form.write:has(input[value={what}]) button")
        until(page, "document.querySelectorAll('#jobs .job').length == 2")
        until(page, "!/Running/.test(document.querySelector('#jobs').textContent)")
        assert "It failed" not in page.inner_text("#jobs")

        # Back to the first state, in Portuguese.
        page.click("text=português")
        page.wait_for_selector("#explorer[lang=pt-BR] #numbers")
        assert "Risco" in page.inner_text("#risk-title")
        page.locator("text=Voltar a este").first.click()
        page.wait_for_selector("#range-3")
        until(page, f"/TP_SEXO/.test({LINE})")
    released = pl.read_parquet(tmp_path / "census-release.parquet")
    assert released["NU_DIA"].n_unique() == 7
    assert (tmp_path / "census-report.html").stat().st_size > 10_000
    after = data.stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)


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
