"""Pictures of the demo's report for the documentation: each state, desktop and phone.

Run ``python docs/screenshots.py`` from the root after the page has changed, and look at them.
"""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from undercount.cli.inputs import count_rows
from undercount.data.fraud import fraud_path
from undercount.read.evaluate import CountedModel, evaluate_models
from undercount.show.page.page import write_page

FOLDER = Path(__file__).parent / "images"
SCREENS = {"desktop": (1280, 900), "phone": (390, 844)}
# Before: nothing is known but the labels. Given: the prevalence is.
STATES = {"before": {}, "given": {"prevalence": 0.039}}
NAME, THRESHOLD = "p_fraud", 0.5


def main() -> None:
    """Write one picture a state and screen."""
    counts = count_rows([str(fraud_path())], "is_fraud", [NAME], knots=[THRESHOLD]).counts[NAME]
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for state, given in STATES.items():
            made = evaluate_models({NAME: CountedModel(counts, THRESHOLD)}, **given)
            report = Path(folder) / f"{state}.html"
            about = {"title": "Simulated card payments", "data": "fraud.parquet"}
            write_page(list(made.values()), report, date="2026-01-31", **about)
            for screen, (width, height) in SCREENS.items():
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(report.as_uri())
                page.wait_for_function("window.undercount")
                page.wait_for_timeout(300)
                page.screenshot(path=FOLDER / f"report-{state}-{screen}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
