"""What the page says of requirements is what the library says, also where none holds."""

import importlib.util
import re
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import undercount as uc
from undercount.checks.percentages import percents_beside
from undercount.read.require.requirement import parse_requirement
from undercount.show.text import case_words, value_words
from undercount.show.verdict_words import change_words, light_words

pytestmark = pytest.mark.browser
SHARE = 0.015


def _numbers() -> ModuleType:
    """Load the neighbour that rebuilds counts."""
    path = Path(__file__).parent / "test_numbers.py"
    spec = importlib.util.spec_from_file_location("browser_numbers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


numbers = _numbers()


def rare(cases: Any) -> uc.Evaluation:
    """Flag nearly all rows, so that precision is below 5 %."""
    _, label, score = cases.simulated(seed=4)
    label = label * (label.cumsum() <= 60)
    return uc.evaluate(label, score, unlabeled=0, unlabeled_prevalence=0.01, threshold=0.05)


@pytest.mark.parametrize(
    "name", [*numbers.EDGES, "estimated", "case-control", "impure", "no threshold", "rare"]
)
def test_page_and_library_say_the_same_of_a_moved_share(
    open_page: Any, cases: Any, name: str
) -> None:
    made = {**cases.evaluations(), **cases.edges()}
    evaluation = rare(cases) if name == "rare" else made[name][0]
    opened = open_page([evaluation])
    page = opened.page
    assert page.text_content("#change") == change_words(evaluation)
    assert page.text_content("#light") == light_words(evaluation)
    page.evaluate(f"undercount.state.share = {SHARE}; undercount.update()")
    opened.settle()
    if name.startswith("only labels flagged"):  # no share fits there
        assert page.text_content("#light").startswith("not supported")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moved = uc.evaluate(
            numbers.rebuilt(opened.facts()),
            assume=uc.RandomLabels(
                unlabeled_prevalence=SHARE,
                purity=evaluation.shares.label_purity,
                sampling=evaluation.shares.sampling,
            ),
            threshold=evaluation.threshold,
        )
    moved = replace(moved, claim=evaluation.verdict.claim)
    if moved.claim is None:
        assert page.text_content("#light").startswith("not supported")
        return
    assert page.text_content("#change") == change_words(moved)
    light = page.text_content("#light")
    if moved.verdict.light == "unsupported":
        assert light.startswith("not supported")
    else:  # a slider never makes a light green
        assert light.startswith("if 1.5 % are hidden")
    opened.assert_quiet()


def test_goals_that_no_share_reaches_or_only_few(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.edges()["few recalled"])
    page = opened.page
    page.select_option("#goal-metric", "roc_auc")
    for goal, words in (("0.9999", "holds at no share"), ("0.01", "holds whatever the prevalence")):
        page.fill("#goal-value", goal)
        opened.settle()
        assert words in page.text_content("#change")
    opened.assert_quiet()


def test_numbers_that_were_given_keep_their_digits_on_the_page(open_page: Any, cases: Any) -> None:
    _, label, score = cases.simulated(seed=4)
    nearly = 0.9999999999996
    score = np.where(score > np.quantile(score, 0.95), nearly, np.minimum(score, 0.9))
    score[score.argmax()] = 1.0
    evaluation = uc.evaluate(label, score, unlabeled=0, prevalence=0.2, threshold=nearly)
    claim = parse_requirement("accuracy <= 95.55%", nearly)
    opened = open_page([replace(evaluation, claim=claim)])
    page = opened.page
    assert page.text_content("#threshold-value") == str(nearly)
    assert (
        page.locator("#numbers tr").first.locator("td").first.text_content() == f"recall@{nearly}"
    )
    assert page.text_content("#claim") == "accuracy ≤ 95.55 % (as required)"
    assert page.input_value("#goal-value") == "0.9555"
    page.fill("#goal-value", "0.8125")
    opened.settle()
    assert page.text_content("#claim") == "accuracy ≤ 81.25 % (set here)"
    opened.assert_quiet()


def test_mcc_has_no_least_value_below_chance(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.edges()["below chance at the threshold"])
    for state in ("undercount.update()", "undercount.state.share = 0.015; undercount.update()"):
        opened.page.evaluate(state)
        opened.settle()
        cells = opened.page.locator("#numbers tr")
        said = {
            cells.nth(k).locator("td").first.text_content(): cells.nth(k)
            .locator("td")
            .nth(5)
            .text_content()
            for k in range(cells.count())
        }
        bounded = {name.split("@")[0] for name, least in said.items() if least}
        assert bounded == {"precision", "F1", "average precision", "ROC AUC"}


def left_open(cases: Any, strength: float = 1.8) -> uc.Evaluation:
    """Leave the share to the scores, which cannot tell it."""
    _, label, score = cases.simulated(strength=strength)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return uc.evaluate(label, score, unlabeled=0, threshold=0.6, name="open")


@pytest.mark.parametrize("script", [True, False])
def test_a_number_that_is_left_open_is_a_range_on_the_page(
    open_page: Any, cases: Any, script: bool
) -> None:
    evaluation = left_open(cases)
    precision = next(row for row in evaluation.rows if row.metric == "precision")
    assert precision.estimate.range_only
    words = value_words(precision.estimate)
    opened = open_page([evaluation], java_script_enabled=script)
    page = opened.page
    lead = f"{page.text_content('#lead')} {page.text_content('#lead-range')}"
    assert lead.strip() == f"precision {words}"
    cells = page.locator("#numbers tr").nth(1).locator("td")
    assert cells.nth(0).text_content() == "precision@0.6"
    assert (cells.nth(2).text_content(), cells.nth(3).text_content()) == ("", words)
    bar = page.locator("#bars > div").first.locator("> span").nth(1)
    assert bar.text_content().strip() == words
    if not script:
        return
    assert words in page.text_content("#headline")
    terminal = " ".join(str(evaluation).split())
    real = page.text_content("#flagged").split("), ", 1)[1].rstrip(".")
    assert real.startswith(tuple("0123456789"))
    assert real in terminal
    assert page.locator("#bars svg").first.locator("circle").nth(1).get_attribute("hidden") == ""
    opened.assert_quiet()


def test_a_share_that_is_left_open_is_no_place_of_the_slider_and_survives_no_bias(
    open_page: Any, cases: Any
) -> None:
    evaluation = left_open(cases)
    opened = open_page([evaluation])
    page = opened.page
    assert page.input_value("#share") == "0"
    assert page.text_content("#share-value").startswith("0 – ")
    inside = 0.8 * evaluation.shares.unlabeled_prevalence_interval.high
    goal = round(evaluation.at(0.6)[1].estimate.low + 0.02, 2)  # some shares reach it
    page.evaluate(f"undercount.state.goal = {goal}; undercount.update()")
    opened.settle()
    assert "Γ" not in page.text_content("#change")
    page.evaluate(f"undercount.state.share = {inside}; undercount.update()")
    opened.settle()
    assert float(page.input_value("#share")) == pytest.approx(inside, abs=0.01)
    assert "Γ" in page.text_content("#change")
    opened.assert_quiet()


def test_a_share_that_is_set_lets_the_value_lead(open_page: Any, cases: Any) -> None:
    opened = open_page([left_open(cases)])
    page = opened.page
    page.evaluate("undercount.state.place = 0.2; undercount.update()")  # still the estimated share
    opened.settle()
    assert page.text_content("#lead-range") == ""
    page.evaluate(f"undercount.state.share = {SHARE}; undercount.update()")
    opened.settle()
    assert re.fullmatch(r"precision [\d.]+", page.text_content("#lead"))
    assert page.text_content("#lead-range")
    assert "about" in page.text_content("#flagged")
    opened.assert_quiet()


def test_the_page_rounds_as_the_library_does(open_page: Any, cases: Any) -> None:
    page = open_page(cases.evaluations()["prevalence"][:1]).page
    rng = np.random.default_rng(0)
    triples = [sorted(rng.beta(*shape, 3)) for shape in [(1, 1), (0.1, 2), (2, 0.1)] * 40]
    triples += [
        [0.9, 1.0, 1.0],
        [0.0, 0.0, 0.3],
        [0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0],
        [0.05, 0.05, 0.5],
    ]
    rows = [dict(zip(("low", "value", "high"), map(float, each), strict=True)) for each in triples]
    for hangs in (False, True):
        script = f"(rows) => rows.map((row) => undercount.caseWords(row, {str(hangs).lower()}))"
        estimates = [uc.Estimate(row["value"], row["low"], row["high"]) for row in rows]
        said = [case_words(each, estimated=hangs) for each in estimates]
        assert page.evaluate(script, rows) == said
    asked = [
        ([share], [[end, kind]], given)
        for share in (0.0123, 0.242, 0.37258, 0.9962)
        for end in (share - 0.0013, share - 0.00002, share + 0.00021, share / 2)
        for kind in ("least", "most", "above", "")
        for given in (False, True)
    ]
    found = page.evaluate("(all) => all.map((each) => undercount.percentsBeside(...each))", asked)
    for (shares, ends, given), words in zip(asked, found, strict=True):
        wanted = percents_beside(shares, [(end, kind) for end, kind in ends], given=given)
        assert words == list(wanted), (shares, ends, given)
