"""A page after reviews shows what the library found, until a slider leaves the reviews aside."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.browser
NAMES = ["random labels", "reviews alone", "chosen labels"]
CURVE = """() => {
  const [model] = undercount.models, c = undercount.curveOf(model);
  return { at: model.found.at, tpr: [...c.tpr], fpr: [...c.fpr], flagged: [...c.flagged],
    prevalence: c.prevalence, start: model.start, bands: model.found.bands,
    threshold: model.curve.threshold };
}"""
BARS = """() => Object.fromEntries([...document.querySelectorAll("#bars svg")].map((svg) => [
  svg.dataset.metric, [...svg.querySelectorAll("rect, .audited")].map(
    (mark) => parseFloat(mark.getAttribute("x") || mark.getAttribute("x1")))]))"""


@pytest.mark.parametrize("name", NAMES)
def test_unmoved_page_has_the_numbers_of_the_reviews(open_page: Any, cases: Any, name: str) -> None:
    (evaluation,) = cases.reviewed()[name]
    opened = open_page([evaluation])
    rows = opened.page.evaluate("undercount.rowsOf(undercount.models[0])")
    wanted = {row.metric: row for row in evaluation.rows}
    for row in rows:
        found = wanted[row["name"]]
        ends = (found.estimate.value, found.estimate.low, found.estimate.high, found.naive)
        assert [row[key] for key in ("value", "low", "high", "naive")] == pytest.approx(
            ends, abs=1e-9
        )
        assert row.get("least") == found.lower_bound
    assert opened.page.evaluate("undercount.shareOf(undercount.models[0])") == pytest.approx(
        evaluation.reviewed.share().value, abs=1e-12
    )
    opened.assert_quiet()


@pytest.mark.parametrize("name", NAMES)
def test_unmoved_curves_are_those_of_the_reviews(open_page: Any, cases: Any, name: str) -> None:
    (evaluation,) = cases.reviewed()[name]
    found = open_page([evaluation]).page.evaluate(CURVE)
    curve = evaluation.curve
    start = found["start"]
    assert start in found["at"]
    point = evaluation.point(0.6)
    assert found["tpr"][start] == pytest.approx(point.recall, abs=1e-9)
    assert found["fpr"][start] == pytest.approx(1 - point.specificity, abs=1e-9)
    # Of each point that the page holds the library's curve has one too.
    for i in found["at"]:
        here = np.flatnonzero(np.abs(curve.flagged - found["flagged"][i]) < 1e-9)
        assert len(here)
        gaps = np.abs(curve.tpr[here] - found["tpr"][i]) + np.abs(curve.fpr[here] - found["fpr"][i])
        assert gaps.min() < 1e-9
    # Bands are the library's intervals.
    for metric, band in found["bands"].items():
        for i, low, high in zip(band["at"], band["low"], band["high"], strict=True):
            score = evaluation.counts.score
            threshold = score[np.argmin(np.abs(score - found["threshold"][i - 1]))]
            wanted = evaluation.reviewed.estimate(metric, float(threshold))
            assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=1e-5)


@pytest.mark.parametrize(("name", "other"), [("random labels", "any"), ("reviews alone", "random")])
def test_the_other_answer_is_marked_in_the_bars(
    open_page: Any, cases: Any, name: str, other: Any
) -> None:
    (evaluation,) = cases.reviewed()[name]
    opened = open_page([evaluation])
    marks = opened.page.evaluate(BARS)
    for metric in ("precision", "recall", "f1"):
        beside = evaluation.reviewed.estimate(metric, 0.6, labels=other)
        assert marks[metric] == pytest.approx([100 * beside.low, 100 * beside.value], rel=1e-3)
    opened.page.evaluate("undercount.state.gamma = 1.5; undercount.update()")
    assert opened.page.evaluate(BARS) == marks  # what was found stays found


def test_without_reviews_the_sliders_recompute_from_labels(open_page: Any, cases: Any) -> None:
    (evaluation,) = cases.reviewed()["random labels"]
    opened = open_page([evaluation])
    opened.page.evaluate("undercount.state.share = undercount.shareOf(undercount.models[0])")
    opened.page.evaluate("undercount.update()")
    rows = {
        row["name"]: row for row in opened.page.evaluate("undercount.rowsOf(undercount.models[0])")
    }
    labelled = evaluation.counts.score >= 0.6
    recall = evaluation.counts.positive[labelled].sum() / evaluation.counts.n_positive
    assert rows["recall"]["value"] == pytest.approx(recall, abs=1e-9)
    assert "without the reviews" in opened.page.text_content("#light")
    assert "Moving a slider leaves the reviews aside" in opened.page.text_content("#reviews")


def test_what_a_test_found_wrong_is_not_marked(open_page: Any, cases: Any) -> None:
    (evaluation,) = cases.reviewed()["chosen labels"]
    assert evaluation.reviewed.rejected
    opened = open_page([evaluation])
    assert opened.page.locator("line.audited").count() == 0
    assert "not to be used" in opened.page.text_content("#reviews")


def test_the_curve_that_is_drawn_never_falls_back(open_page: Any, cases: Any) -> None:
    (evaluation,) = cases.reviewed()["reviews alone"]
    page = open_page([evaluation]).page
    points = page.locator("#lift .line").first.get_attribute("d").replace("M", "L").split("L")[1:]
    height = [float(point.replace(",", " ").split()[1]) for point in points]
    assert all(later <= earlier + 1e-6 for earlier, later in pairwise(height))
