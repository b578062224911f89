"""The page that compares models in Chromium: no script, no request, nothing sticks out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import undercount as uc

pytestmark = pytest.mark.browser
NAMES = ("gradient boosting with monotone constraints, March", "x" * 200, "c", "d", "e")


@pytest.fixture(scope="module")
def path(tmp_path_factory: Any) -> Path:
    """A page of five models."""
    rng = np.random.default_rng(1)
    truth = rng.random(2000) < 0.2
    y = np.where(truth & (rng.random(2000) < 0.5), 1, -1)
    signal = rng.normal(1.5 * truth)
    scores = {n: signal + rng.normal(0, 0.4 + 0.3 * i, 2000) for i, n in enumerate(NAMES)}
    comparison = uc.compare(y, scores, unlabeled=-1, prevalence=(0.15, 0.25), threshold=1.0)
    found = Path(tmp_path_factory.mktemp("page")) / "compared.html"
    comparison.to_html(found)
    return found


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_nothing_sticks_out(contexts: Any, path: Path, width: int, scheme: str) -> None:
    page = contexts(width=width, color_scheme=scheme).new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: said.append(request.url))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    outside = page.evaluate("""[...document.querySelectorAll("figure svg")].flatMap((svg) => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter((t) => {
        const box = t.getBoundingClientRect();
        return box.left < frame.left - 1 || box.right > frame.right + 1
          || box.bottom > frame.bottom + 1;
      }).map((t) => t.textContent);
    })""")
    assert outside == []
    assert said == [path.as_uri()]
    assert page.evaluate("violations") == []
    assert path.stat().st_size < 160_000
    # Every digit of every table is on the screen.
    cut = page.evaluate("""[...document.querySelectorAll("td")].filter((cell) =>
      cell.scrollWidth > cell.clientWidth + 1 && cell.clientWidth > 0).length""")
    assert cut == 0
    page.close()
