"""The pictures of the README: the report of the bundled sample, in Chromium.

Run as ``python docs/screenshot.py [CHROMIUM]`` in the environment of ``make test``.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
FLAGS = ["--no-sandbox", "--disable-gpu"]
PICTURES = {
    "report.png": {"viewport": {"width": 1200, "height": 860}},
    "report-dark-phone.png": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "dark",
        "device_scale_factor": 2,
    },
}


def main(chromium: str) -> None:
    """Make the report of ``qifsql demo`` and take its pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        subprocess.run([sys.executable, "-m", "qifsql", "demo", folder], check=True)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, options in PICTURES.items():
            page = browser.new_context(**options).new_page()
            page.goto((Path(folder) / "census.html").as_uri())
            page.screenshot(path=HERE / name)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else shutil.which("chromium") or "chromium")
