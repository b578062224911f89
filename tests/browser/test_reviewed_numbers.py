"""A page of what sliders cannot repeat (reviews, audits, clusters) shows the library's numbers."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import undercount as uc
from undercount.errors import collect_warnings
from undercount.read.evaluation import Evaluation
from undercount.show.verdict_words import light_words

pytestmark = pytest.mark.browser
NAMES = ["random labels", "reviews alone", "chosen labels"]
CURVE = """() => {
  const [model] = undercount.models, c = undercount.curveOf(model);
  return { at: model.found.at, tpr: [...c.tpr], fpr: [...c.fpr], flagged: [...c.flagged],
    prevalence: c.prevalence, start: model.start, bands: model.bands,
    threshold: model.curve.threshold };
}"""
BARS = """() => Object.fromEntries([...document.querySelectorAll("#bars svg")].map((svg) => [
  svg.dataset.metric, [...svg.querySelectorAll("rect, .audited")].map(
    (mark) => parseFloat(mark.getAttribute("x") || mark.getAttribute("x1")))]))"""


def flagging_threshold(evaluation: Evaluation, share: float) -> float:
    """Return the score down to which such a share of the rows is flagged."""
    counts = evaluation.counts
    rows = np.cumsum(counts.positive + counts.negative + counts.unlabeled)
    return float(counts.score[np.argmin(np.abs(rows / rows[-1] - share))])


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
        evaluation.recovery.reviewed.share().value, abs=1e-12
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
            threshold = flagging_threshold(evaluation, found["flagged"][i])
            wanted = evaluation.recovery.reviewed.estimate(metric, float(threshold))
            assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=1e-5)


@pytest.mark.parametrize(("name", "other"), [("random labels", "any"), ("reviews alone", "random")])
def test_the_other_answer_is_marked_in_the_bars(
    open_page: Any, cases: Any, name: str, other: Any
) -> None:
    (evaluation,) = cases.reviewed()[name]
    opened = open_page([evaluation])
    marks = opened.page.evaluate(BARS)
    for metric in ("precision", "recall", "f1"):
        beside = evaluation.recovery.reviewed.estimate(metric, 0.6, labels=other)
        assert marks[metric] == pytest.approx([100 * beside.low, 100 * beside.value], rel=1e-3)
    opened.page.evaluate("undercount.state.gamma = 1.5; undercount.update()")
    assert opened.page.evaluate(BARS) == marks


@cache
def fixed() -> dict[str, Evaluation]:
    """Return evaluations whose numbers no formula of the page gives."""
    rng = np.random.default_rng(5)
    truth = rng.random(4000) < 0.15
    score = 1 / (1 + np.exp(1.5 - rng.normal(1.8 * truth)))
    # Customers are alike in score, and labelled as a whole.
    customer = np.empty(4000, dtype=int)
    customer[np.argsort(score)] = np.arange(4000) // 8
    label = (truth & (rng.random(500) < 0.4)[customer]).astype(float)
    known = np.where(rng.random(4000) < 0.3, truth, np.nan)
    about = {"unlabeled": 0, "threshold": 0.5}
    chosen = (truth & (rng.random(4000) < np.where(score > 0.5, 0.8, 0.1))).astype(float)
    plan = uc.plan_reviews(chosen, score, budget=300, **about)
    return {
        "reviews": uc.evaluate(chosen, score, reviews=plan.answered(truth[plan.rows]), **about),
        "audited": uc.evaluate(known, score, assume=uc.RandomAudit(), threshold=0.5),
        "clusters": uc.evaluate(label, score, prevalence=0.15, cluster=customer, **about),
        "clusters, estimated": uc.evaluate(label, score, cluster=customer, **about),
    }


FIXED = ["reviews", "audited", "clusters", "clusters, estimated"]


@pytest.mark.parametrize("name", FIXED)
def test_no_slider_moves_what_the_page_cannot_repeat(open_page: Any, name: str) -> None:
    evaluation = fixed()[name]
    opened = open_page([evaluation], after="#share=0.02&place=0.2&gamma=2&purity=0.9")
    page = opened.page
    assert "The sliders are off" in page.text_content("#fixed")
    for slider in ("share", "threshold", "purity", "gamma"):
        assert page.is_disabled(f"#{slider}")
    page.evaluate("""() => { for (const id of ["share", "threshold", "purity", "gamma"]) {
      const box = document.getElementById(id); box.value = box.max;
      box.dispatchEvent(new Event("input"));
    } }""")
    opened.settle()
    rows = page.evaluate("undercount.rowsOf(undercount.models[0])")
    for row in rows:
        found = evaluation[row["name"]]
        assert [row["value"], row["low"], row["high"]] == pytest.approx(
            [found.value, found.low, found.high], abs=1e-9, nan_ok=True
        )
    assert page.text_content("#light") == light_words(evaluation)
    opened.assert_quiet()


@pytest.mark.parametrize("name", FIXED)
def test_bands_of_what_the_page_cannot_repeat_are_the_library_s(open_page: Any, name: str) -> None:
    evaluation = fixed()[name]
    page = open_page([evaluation]).page
    flagged = page.evaluate("[...undercount.curveOf(undercount.models[0]).flagged]")
    bands = page.evaluate("undercount.bandOf(undercount.models[0])")
    assert len(bands["precision"]["at"]) >= 10
    for metric in ("recall", "precision"):
        columns = [bands[metric][part] for part in ("at", "low", "high")]
        for i, low, high in zip(*columns, strict=True):
            place = flagging_threshold(evaluation, flagged[i])
            with collect_warnings():
                wanted = evaluation.estimate(metric, place)
            assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=1e-5)
    # No group of scores has an interval, and nothing moves a share that is determined.
    assert page.evaluate("undercount.calibrate(undercount.models[0]).every((g) => !g.low)")
    assert page.is_hidden("#sweep-part") == (evaluation.basis.review is not None)


@pytest.mark.parametrize(
    ("name", "light"),
    [("clusters", "if 15 % are positive"), ("clusters, estimated", "depends on the")],
)
def test_another_claim_is_judged_by_the_interval_of_clusters(
    open_page: Any, name: str, light: str
) -> None:
    evaluation = fixed()[name]
    low = evaluation["precision"].low
    if name == "clusters":  # so that independent rows would meet the second goal as well
        recovery = evaluation.recovery
        rows = replace(recovery, used=replace(recovery.used, clusters=None))
        rows = replace(evaluation, recovery=rows).estimate("precision", 0.5)
        assert rows.low > low + 0.004
    opened = open_page([evaluation])
    for goal, words in ((low - 0.004, light), (low + 0.004, "not supported")):
        opened.page.fill("#goal-value", f"{goal:.3f}")
        opened.settle()
        assert opened.page.text_content("#light").startswith(words)
        assert "is judged at the reported share only" in opened.page.text_content("#change")
    opened.assert_quiet()


def test_what_a_test_found_wrong_is_not_marked(open_page: Any, cases: Any) -> None:
    (evaluation,) = cases.reviewed()["chosen labels"]
    assert evaluation.recovery.reviewed.rejected
    opened = open_page([evaluation])
    assert opened.page.locator("line.audited").count() == 0
    assert "not to be used" in opened.page.text_content("#reviews")


def test_the_curve_that_is_drawn_never_falls_back(open_page: Any, cases: Any) -> None:
    (evaluation,) = cases.reviewed()["reviews alone"]
    page = open_page([evaluation]).page
    points = page.locator("#lift .line").first.get_attribute("d").replace("M", "L").split("L")[1:]
    height = [float(point.replace(",", " ").split()[1]) for point in points]
    assert all(later <= earlier + 1e-6 for earlier, later in pairwise(height))
