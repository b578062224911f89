"""Pictures of the demo for the documentation: its three states, comparison and review page.

Run ``python docs/screenshots.py`` from the root after a page has changed, and look at them.
"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import undercount as uc
from undercount.cli.demo import N_REVIEWS, DEMO_THRESHOLDS, review_fraud
from undercount.cli.inputs import count_rows
from undercount.cli.main import main as run_command
from undercount.count.files import read_numbers
from undercount.data.fraud import fraud_path
from undercount.infer.scored_rows import ScoredRows
from undercount.read.evaluate_models import evaluate_models
from undercount.read.evaluation import Evaluation
from undercount.show.page.report import write_page

FOLDER = Path(__file__).parent / "images"
SCREENS = {"desktop": (1280, 900), "phone": (390, 844)}
ABOUT = {"title": "Simulated card payments", "data": "fraud.parquet", "date": "2026-01-31"}
NAME, THRESHOLD = next(iter(DEMO_THRESHOLDS.items()))


def states() -> dict[str, Evaluation]:
    """Evaluate before anything is known but the labels, with a prevalence, and after reviews."""
    counts = count_rows(
        [str(fraud_path())], "is_fraud", [NAME], how={"knots": [THRESHOLD]}
    ).counts[NAME]
    model = {NAME: ScoredRows(counts, THRESHOLD)}
    return {
        "before": evaluate_models(model)[NAME],
        "given": evaluate_models(model, assume=uc.RandomLabels(0.039))[NAME],
        "after": review_fraud(),
    }


def write_pages(folder: Path) -> dict[str, Path]:
    """Write every page of which there is a picture."""
    pages = {}
    for state, evaluation in states().items():
        pages[f"report-{state}"] = folder / f"{state}.html"
        write_page([evaluation], pages[f"report-{state}"], **ABOUT)
    rows = read_numbers([str(fraud_path())], ["is_fraud", *DEMO_THRESHOLDS])
    label, scores = rows["is_fraud"], {name: rows[name] for name in DEMO_THRESHOLDS}
    pages["comparison"] = folder / "comparison.html"
    comparison = uc.compare(label, scores, unlabeled=0, threshold=DEMO_THRESHOLDS)
    comparison.to_html(pages["comparison"])
    pages["reviews"] = folder / "reviews.html"
    columns = ["--label", "is_fraud", "--score", NAME, "--threshold", str(THRESHOLD)]
    wanted = [
        "--keep",
        "payment,amount",
        "--goal",
        "precision",
        "--budget",
        str(N_REVIEWS),
        "--html",
        str(pages["reviews"]),
    ]
    run_command(["plan", str(fraud_path()), *columns, *wanted, "--quiet"])
    return pages


def await_script(page: Page) -> None:
    """Wait for the page's script, if it has one, and its drawings."""
    for _ in range(100):
        if page.evaluate("!document.getElementById('packed') || !!window.undercount"):
            break
        page.wait_for_timeout(20)
    page.wait_for_timeout(300)


def save_small(picture: bytes, path: Path) -> None:
    """Save a picture with few colours, which is all that a page has."""
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(
        256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    ).save(path, optimize=True)


def main() -> None:
    """Write one picture a page and screen."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, address in write_pages(Path(folder)).items():
            for screen, (width, height) in SCREENS.items():
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(address.as_uri())
                await_script(page)
                save_small(page.screenshot(), FOLDER / f"{name}-{screen}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
