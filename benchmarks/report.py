"""The report of a full sweep of 2,047 subsets with two secrets: its size, and what it takes.

    python benchmarks/report.py [--rows 20000] [--generator make_inep_like.py] [--folder DIR]

Makes census-shaped data of 11 quasi-identifiers (the generator is not in the repository: it is
looked for in $QIFSQL_SHARED/bench or beside the repository), sweeps them, makes the report as HTML,
and opens it in Chromium ($CHROMIUM, or the one that is installed) where playwright is there. Prints
megabytes with and without the library of charts, seconds to build, and seconds until the page has
loaded and until its first screen is painted.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

QIDS = [
    *("NU_DIA", "NU_MES", "NU_ANO", "TP_SEXO", "TP_COR_RACA", "TP_NACIONALIDADE"),
    *("CO_PAIS_ORIGEM", "CO_MUNICIPIO_NASC", "CO_MUNICIPIO_END", "CO_ENTIDADE", "TP_DEPENDENCIA"),
]
SECRETS = ["IN_NECESSIDADE_ESPECIAL", "IN_TRANSPORTE_PUBLICO"]
SHARED = Path(os.environ.get("QIFSQL_SHARED", Path(__file__).resolve().parents[2] / "shared"))
TIMES = 3
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def swept(generator: Path, rows: int, folder: Path) -> Path:
    """Return the stored result of the sweep."""
    data, result = folder / "census.parquet", folder / "sweep.parquet"
    subprocess.run([sys.executable, generator, str(rows), data], check=True, capture_output=True)
    command = [sys.executable, "-m", "qifsql", "sweep", data, "-q", ",".join(QIDS)]
    command += ["-s", ",".join(SECRETS), "--histogram", "--threshold", "0.5", "-o", result]
    subprocess.run([*command, "--workspace", folder / "w.sweep", "--quiet"], check=True)
    return result


def built(result: Path, page: Path) -> float:
    """Return the least seconds of several processes that make the report."""
    command = [sys.executable, "-m", "qifsql", "report", result, "-o", page, "--quiet"]
    seconds = []
    for _ in range(TIMES):
        began = time.perf_counter()
        subprocess.run(command, check=True)
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def opened(page: Path) -> tuple[float, float] | None:
    """Return seconds to load and to paint, medians of several times; nothing without a browser."""
    names = [os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if found is None:
        return None
    loaded, painted = [], []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=ARGUMENTS)
        for _ in range(TIMES):
            tab = browser.new_page(viewport={"width": 1440, "height": 900})
            tab.goto(page.as_uri())
            tab.wait_for_timeout(500)
            loaded.append(tab.evaluate(LOADED) / 1000)
            painted.append(tab.evaluate(PAINTED) / 1000)
            tab.close()
        browser.close()
    return statistics.median(loaded), statistics.median(painted)


def main() -> None:
    """Make the data, the sweep and its report, and say what it took."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--generator", type=Path, default=SHARED / "bench" / "make_inep_like.py")
    parser.add_argument("--folder", type=Path)
    o = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=o.folder))
    try:
        began = time.perf_counter()
        result = swept(o.generator, o.rows, folder)
        print(f"data and sweep: {time.perf_counter() - began:.1f} s")
        page = folder / "report.html"
        seconds = built(result, page)
        text = page.read_text("utf-8")
        library = max(map(len, re.findall("<script>(.*?)</script>", text, re.DOTALL)), default=0)
        whole = page.stat().st_size
        print(f"built in {seconds:.1f} s (with the start of the process)")
        print(
            f"{whole / 1e6:.2f} MB, without the library of charts {(whole - library) / 1e6:.2f} MB"
        )
        took = opened(page)
        print(
            f"opened in {took[0]:.2f} s, painted after {took[1]:.2f} s"
            if took
            else "not opened: no playwright or no Chromium here"
        )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
