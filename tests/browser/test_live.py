"""What a hand does to the page: sliders, buttons, links, toggles."""

import importlib.util
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import undercount as uc
from undercount.assume.random_labels.bias_bounds import bound_metric
from undercount.infer.sensitivity import SWEPT_AREAS
from undercount.read.evaluation import POINT_METRICS, Evaluation

pytestmark = pytest.mark.browser
SLIDERS = ("share", "threshold", "purity", "gamma")


def _numbers() -> ModuleType:
    """Load the neighbour whose helpers rebuild counts and ask the library."""
    path = Path(__file__).parent / "test_numbers.py"
    spec = importlib.util.spec_from_file_location("browser_numbers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


numbers = _numbers()


def table(opened: Any) -> list[list[str]]:
    """Return the cells of the table as a reader sees them."""
    code = """[...document.querySelectorAll("#numbers tr")].map(
      (row) => [...row.cells].map((cell) => cell.textContent))"""
    found: list[list[str]] = opened.page.evaluate(code)
    return found


def said(low: float, high: float) -> str:
    return f"{low:.3f} – {high:.3f}"


@dataclass(frozen=True)
class Position:
    """Where the sliders are, in the library's terms."""

    cells: uc.ScoreCounts  # what the page computes with
    counts: uc.ScoreCounts  # what the table is of: the cells, or the whole data at the start
    exact: uc.Shares
    given: uc.Shares  # a share that was not moved keeps its uncertainty
    cut: float
    gamma: float
    target: Any

    def bias(self, estimate: uc.Estimate, metric: str) -> str:
        """Return what the column of the labelling bias shall say."""
        if self.gamma == 1:
            return ""
        if metric == "average_precision" or (metric in SWEPT_AREAS and self.exact.label_purity < 1):
            return "–"
        ends = bound_metric(
            estimate,
            metric,
            self.gamma,
            self.cells,
            self.given,
            threshold=self.cut,
            target=self.target,
        )
        return said(ends.low, ends.high)


def position(opened: Any, evaluation: Evaluation) -> Position:
    """Read the sliders."""
    state, cells = opened.page.evaluate("({...undercount.state})"), numbers.rebuilt(opened.facts())
    known, n_cells = evaluation.shares, len(cells.score)
    purity = known.label_purity if state["purity"] < 0 else state["purity"]
    place = opened.page.evaluate("undercount.models[0].start")
    if state["place"] >= 0:
        place = max(1, min(n_cells, int(state["place"] * n_cells + 0.5)))
    cut = float(cells.score[place - 1])
    if state["share"] >= 0:
        exact = uc.Shares(state["share"], purity, known.sampling)
        return Position(cells, cells, exact, exact, cut, state["gamma"], evaluation.target)
    share, span = known.unlabeled_prevalence, known.unlabeled_prevalence_interval
    exact = uc.Shares(share, purity, known.sampling)
    estimate = uc.Estimate(share, span.low, span.high, known.unlabeled_prevalence_error)
    given = uc.Shares(estimate, purity, known.sampling)
    still = max(state["purity"], state["place"]) < 0
    counts = evaluation.counts if still else cells
    return Position(cells, counts, exact, given, cut, state["gamma"], evaluation.target)


def assert_table(opened: Any, evaluation: Evaluation) -> None:
    """Compare the table with the library at the state of the sliders."""
    at = position(opened, evaluation)
    ruled = "is ruled out" in (opened.page.text_content("#infeasible") or "")
    for row, metric in zip(table(opened), (*POINT_METRICS, *SWEPT_AREAS), strict=True):
        expected = numbers.library(evaluation, at.counts, at.given, metric, at.cut)
        if expected is None or ruled:
            assert row[2:4] == ["–", "–"], metric
            continue
        assert row[2:4] == [f"{expected.value:.3f}", said(expected.low, expected.high)], metric
        assert row[4] == at.bias(expected, metric), metric


@pytest.mark.parametrize("slider", SLIDERS)
def test_slider_moves_numbers_by_mouse_and_keyboard(
    open_page: Any, cases: Any, slider: str
) -> None:
    evaluation = cases.evaluations()["estimated"][0]
    opened = open_page([evaluation])
    page, node = opened.page, opened.page.locator(f"#{slider}")
    before, label = table(opened), page.text_content(f"#{slider}-value")
    box = node.bounding_box()
    start = {"share": 0.2, "threshold": 0.5, "purity": 0.98, "gamma": 0.02}[slider] * box["width"]
    page.mouse.move(box["x"] + start, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(
        box["x"] + box["width"] * (0.8 if slider == "purity" else 0.35),
        box["y"] + box["height"] / 2,
        steps=6,
    )
    page.mouse.up()
    opened.settle()
    dragged = table(opened)
    assert page.text_content(f"#{slider}-value") != label
    assert node.get_attribute("aria-valuetext") == page.text_content(f"#{slider}-value")
    assert dragged != before
    assert_table(opened, evaluation)
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    opened.settle()
    assert table(opened) != dragged
    assert_table(opened, evaluation)
    assert re.match(r"(not supported )?if \d|depends on", page.text_content("#light"))
    assert page.text_content("#spoken").startswith("precision")
    page.click("#reset")
    opened.settle()
    assert table(opened) == before
    opened.assert_quiet()


def test_an_estimated_share_keeps_its_interval_when_the_threshold_moves(
    open_page: Any, cases: Any
) -> None:
    _, label, score = cases.simulated()
    evaluation = uc.evaluate(label, score, unlabeled=0, threshold=0.6)
    assert evaluation.unknowns.interval == "calibrated"
    opened = open_page([evaluation])
    opened.page.evaluate("undercount.state.place = 0.3; undercount.update()")
    opened.settle()
    at = position(opened, evaluation)
    assert evaluation.unknowns.interval == "calibrated"
    expected = evaluation.metric_rows(POINT_METRICS, at.cut, at.cells)
    expected += evaluation.metric_rows(SWEPT_AREAS, None, at.cells)
    for row, wanted in zip(table(opened), expected, strict=True):
        found = wanted.estimate
        value = "" if found.range_only else f"{found.value:.3f}"
        assert row[2:4] == [value, said(found.low, found.high)], wanted.metric


def test_first_numbers_are_the_exact_ones_of_the_whole_data(open_page: Any, cases: Any) -> None:
    evaluation = cases.evaluations()["estimated"][0]
    opened = open_page([evaluation])
    for row, fact in zip(table(opened), evaluation.rows, strict=True):
        estimate = fact.estimate
        assert row[1:4] == [
            f"{fact.naive:.3f}",
            "" if estimate.range_only else f"{estimate.value:.3f}",
            said(estimate.low, estimate.high),
        ]
    assert [row[0] for row in table(opened)][:2] == ["recall@0.6", "precision@0.6"]


def test_sums_of_weights_are_not_called_rows(open_page: Any, cases: Any) -> None:
    evaluation = cases.evaluations()["weights"][0]
    counts = evaluation.counts
    flagged = counts.n_rows - sum(
        part[counts.score < 0.6].sum() for part in (counts.positive, counts.unlabeled)
    )
    words = open_page([evaluation]).page.inner_text("#flagged")
    assert words.startswith(f"Flagged: rows of total weight {flagged:.4g} (")
    plain = open_page(cases.evaluations()["estimated"]).page.inner_text("#flagged")
    assert re.match(r"Flagged: \d+ rows \(", plain)


def test_address_restores_the_state(open_page: Any, cases: Any) -> None:
    evaluations = cases.evaluations()["estimated"]
    after = "#share=0.03&purity=0.97&gamma=1.5&place=0.4&model=1&hide=1&metric=2&goal=0.25&most=1"
    opened = open_page(evaluations, after)
    state = opened.page.evaluate("({...undercount.state})")
    assert state == {
        "share": 0.03, "purity": 0.97, "gamma": 1.5, "place": 0.4, "model": 1, "hide": 1,
        "metric": 2, "goal": 0.25, "most": 1,
    }  # fmt: skip
    assert opened.page.is_checked("#pick-1")
    assert not opened.page.is_checked("#show-0")
    assert opened.page.text_content("#share-value") == "3.0 %"
    assert opened.page.evaluate("location.hash") == after
    # Nonsense is ignored or pulled into range.
    opened.page.evaluate("location.hash = '#share=9&gamma=-3&model=7&__proto__=1&place=x'")
    opened.page.wait_for_function("undercount.state.model === 0")
    opened.settle()
    assert opened.page.evaluate("undercount.state.share") < 1
    assert opened.page.evaluate("undercount.state.gamma") == 1
    opened.assert_quiet()


def test_models_are_toggled_picked_and_compared(open_page: Any, cases: Any) -> None:
    evaluations = cases.evaluations()["estimated"]
    opened = open_page(evaluations)
    page = opened.page
    assert page.locator("#roc .line").count() == 2
    page.hover("#roc")
    note = page.text_content("#roc + output")
    assert re.fullmatch(r"first: recall [\d.]+ at false-positive rate 0\.[45]\d+", note)
    page.uncheck("#show-1")
    opened.settle()
    assert page.locator("#roc .line").count() == 1
    page.check("#show-1")
    page.check("#pick-1")
    opened.settle()
    second = evaluations[1]
    assert page.text_content("#lead") == f"precision {second.rows[1].estimate.value:.3f}"
    assert table(opened)[0][0] == "recall@0.5"
    code = (
        "[...document.querySelectorAll('#compared tr')].map(r => r.cells[2].firstChild.textContent)"
    )
    assert page.evaluate(code) == [f"{e.rows[1].estimate.value:.3f}" for e in evaluations]
    opened.assert_quiet()


def test_copy_and_download(open_page: Any, cases: Any) -> None:
    evaluation = cases.evaluations()["estimated"][0]
    opened = open_page([evaluation])
    page = opened.page
    page.evaluate(
        """() => {
          if (navigator.clipboard) navigator.clipboard.writeText = () => Promise.reject(1);
        }"""
    )
    page.click("#copy")
    page.wait_for_function("!document.getElementById('copy-area').hidden")
    copied = page.input_value("#copy-area")
    lines = copied.splitlines()
    assert lines[0].startswith("if 5.0 – 7.5 % are hidden: precision ≥ ")
    assert lines[4].startswith("| metric | unlabeled = negative | true value | 95 % | at least")
    assert set(lines[5]) <= set("|-")
    assert len(lines) == 6 + 9
    assert {line.count("|") for line in lines[4:]} == {7}
    assert f"| {evaluation.rows[1].estimate.value:.3f} |" in lines[7]
    with page.expect_download() as waiting:
        page.click("#download")
    facts = json.loads(Path(waiting.value.path()).read_text())
    validator = pytest.importorskip("jsonschema")
    schema = json.loads((Path(uc.__file__).parent / "show" / "schema.json").read_text())
    validator.validate(facts, schema)
    assert facts["models"][0]["curve"]["positive"][-1] == evaluation.counts.n_positive
    assert opened.said == []


def test_goal_and_verdict_follow_the_sliders(open_page: Any, cases: Any) -> None:
    evaluation = cases.evaluations()["estimated"][0]
    opened = open_page([evaluation])
    page = opened.page
    first = page.text_content("#plain")
    assert first == page.evaluate("undercount.models[0].words.plain")
    page.evaluate("undercount.state.share = 0.02; undercount.update()")
    assert page.text_content("#plain") != first
    value = table(opened)[1][2]
    assert f"About {10 * float(value):.0f} of every 10" in page.text_content("#plain")
    assert page.text_content("#change").startswith("precision ≥ ")
    page.fill("#goal-value", "0.3")
    opened.settle()
    assert page.text_content("#claim") == "precision ≥ 30 % (set here)"
    assert page.text_content("#change").startswith("precision ≥ 30 % holds if at least")
    page.select_option("#goal-metric", "roc_auc")
    opened.settle()
    assert page.text_content("#claim") == "ROC AUC ≥ 0.3 (set here)"
    assert page.text_content("#light") == "if 2.0 % are hidden"
    page.click("#reset")
    opened.settle()
    # Nothing is moved: the claim alone decides, and only the certain part of it is robust.
    page.fill("#goal-value", f"{evaluation.rows[1].naive - 0.01:.4f}")
    opened.settle()
    assert page.text_content("#light") == "robust if labels are fair and right"
    assert "whatever the prevalence" in page.text_content("#change")
    page.fill("#goal-value", "0.99")
    opened.settle()
    assert page.text_content("#light") == "not supported"


def test_impossible_shares_are_shaded_and_said_not_drawn(open_page: Any, cases: Any) -> None:
    evaluation = cases.evaluations()["estimated"][0]
    opened = open_page([evaluation])
    page = opened.page
    start = page.evaluate("undercount.models[0].start")
    counts = numbers.rebuilt(opened.facts())
    head = counts.score >= 0.6
    labelled = counts.positive[head].sum() / counts.n_positive
    limit = counts.unlabeled[head].sum() / counts.n_unlabeled / labelled
    assert page.evaluate(f"undercount.largestAt(undercount.models[0], {start}, 1)") == (
        pytest.approx(limit, rel=1e-12)
    )
    opened.settle()
    assert page.locator("#sweep .dot").count() == 1
    # The line ends at precision 1, which is where the shading begins.
    path = page.get_attribute("#sweep .line", "d")
    points = [tuple(map(float, pair)) for pair in re.findall(r"([\d.]+) ([\d.]+)", path)]
    heights = [y for _, y in points]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == len(heights)
    shade = float(page.get_attribute("#sweep .ruled-out", "x"))
    assert points[-1][0] <= shade + 0.1
    # At some threshold precision passes 1 before the share is ruled out.
    place, here = page.evaluate("""(() => {
      const model = undercount.models[0], limit = undercount.limitOf(model, 1);
      for (let i = 1; i < model.m; i++) {
        const here = undercount.largestAt(model, i, 1);
        if (here > 0.02 && here < 0.9 * limit) return [i / model.m, here];
      }
    })()""")
    move = f"undercount.state.share = {here * 1.05}; undercount.state.place = {place};"
    page.evaluate(move + "undercount.update()")
    assert "precision would pass 100 %" in page.text_content("#infeasible")
    assert page.text_content("#light").startswith("not supported")
    assert table(opened)[1][2:4] == ["–", "–"]
    largest = evaluation.unknowns.limit
    page.evaluate(f"undercount.state.share = {largest + 0.01}; undercount.update()")
    assert "is ruled out" in page.text_content("#infeasible")
    opened.settle()
    assert {row[2] for row in table(opened)} == {"–"}
    assert page.locator("#sweep .dot").count() == 0


def test_no_slider_moves_a_naive_value_of_all_rows(open_page: Any, cases: Any) -> None:
    # More scores than the page has cells: these alone would give another average precision.
    _, label, score = cases.simulated(3000)
    evaluation = uc.evaluate(label, score, unlabeled=0, unlabeled_prevalence=0.06, threshold=0.6)
    opened = open_page([evaluation])
    coarse = numbers.rebuilt(opened.facts())
    known = average_precision_score(label, score)
    naive = uc.naive_curve(coarse).average_precision
    assert abs(naive - known) > 1e-5  # else nothing is tried
    code = (
        "undercount.rowsOf(undercount.models[0]).map((row) => [row.name, [row.naive, row.least]])"
    )
    assert opened.page.evaluate("undercount.models[0].m") < len(np.unique(score))
    for move in ("share = 0.03", "place = 0.4", "gamma = 1.5", "purity = 0.97"):
        opened.page.evaluate(f"undercount.state.{move}; undercount.update()")
        opened.settle()
        rows = dict(opened.page.evaluate(code))
        assert rows["average_precision"][0] == pytest.approx(known, abs=1e-12), move
        assert rows["roc_auc"][0] == pytest.approx(roc_auc_score(label, score), abs=1e-12), move
        # The bound is the naive value, and impure labels have none.
        least = rows["average_precision"][1]
        assert least == (None if "purity" in move else pytest.approx(known, abs=1e-12)), move
    assert table(opened)[POINT_METRICS.index("precision")][1] != f"{evaluation.rows[1].naive:.3f}"
