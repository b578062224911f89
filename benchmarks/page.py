"""How long a moved slider takes in Chromium: numbers, words and charts, of one and five models.

Prints the quickest, the median and the longest of 200 updates, and the size of the page; on a
busy machine the quickest tells most.
"""

import shutil
import statistics
import tempfile
from pathlib import Path

import numpy as np

import undercount as uc
from undercount.show.page.report import write_page

N_ROWS = 20_000
FRAME = 16.0  # milliseconds at 60 frames a second
UPDATES = """() => {
  const times = [], end = Number(document.getElementById("share").max);
  for (let k = 0; k < 200; k++) {
    undercount.state.share = end * (0.05 + 0.7 * (k % 100) / 100);
    if (k >= 100) undercount.state.place = 0.2 + (k % 100) / 200;
    const start = performance.now();
    undercount.update(true);
    document.body.offsetHeight;
    times.push(performance.now() - start);
  }
  return times;
}"""


def evaluations(number: int) -> list[uc.Evaluation]:
    """Evaluate models of rising strength on the same rows."""
    rng = np.random.default_rng(0)
    truth = rng.random(N_ROWS) < 0.12
    label = (truth & (rng.random(N_ROWS) < 0.5)).astype(float)
    share = uc.Estimate(0.06, 0.05, 0.07, 0.005)
    return [
        uc.evaluate(
            label,
            1 / (1 + np.exp(1 - rng.normal((1 + k / 4) * truth))),
            unlabeled=0,
            unlabeled_prevalence=share,
            threshold=0.6,
            name=f"model {k}",
        )
        for k in range(number)
    ]


def main() -> None:
    """Open pages of one and of five models and move their sliders."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - says itself what is missing

    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        raise SystemExit("install chromium (apt-get install chromium)")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for number in (1, 5):
            report = Path(folder) / f"{number}.html"
            write_page(evaluations(number), report)
            page = browser.new_page()
            page.goto(report.as_uri())
            while not page.evaluate("!!window.undercount"):
                page.wait_for_timeout(10)
            times = page.evaluate(UPDATES)
            size = report.stat().st_size / 1000
            print(
                f"{number} model{'s' if number > 1 else ''}: quickest {min(times):.1f} ms, "
                f"median {statistics.median(times):.1f} ms, longest {max(times):.1f} "
                f"ms (a frame is {FRAME:g} ms), page {size:.0f} KB"
            )
        browser.close()


if __name__ == "__main__":
    main()
