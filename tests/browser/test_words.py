"""What the page says of requirements is what the library says, also where none holds."""

import importlib.util
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import undercount as uc
from undercount.show.text import change_words

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
    assert opened.page.text_content("#change") == change_words(evaluation)
    opened.page.evaluate(f"undercount.state.share = {SHARE}; undercount.update()")
    opened.settle()
    if name.startswith("only labels flagged"):  # no share fits, so that a moved one is not taken
        assert opened.page.text_content("#change").startswith("fewer hidden positives")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moved = uc.evaluate(
            numbers.rebuilt(opened.facts()),
            unlabeled_prevalence=SHARE,
            label_purity=evaluation.shares.label_purity,
            sampling=evaluation.shares.sampling,
            threshold=evaluation.threshold,
        )
        words = change_words(moved)
    assert opened.page.text_content("#change") == words
    opened.assert_quiet()


def test_goals_that_no_share_reaches_or_only_few(open_page: Any, cases: Any) -> None:
    # Reversed scores: the area is below 0.5 without hidden positives, and falls from there.
    opened = open_page(cases.edges()["reversed"])
    opened.page.select_option("#goal-metric", "roc_auc")
    for goal, words in (
        ("0.45", "no share that the scores allow is enough; "),
        ("0.01", "it holds without hidden positives, but not with as many as the scores allow; "),
        ("0", "it holds whatever the prevalence; "),
    ):
        opened.page.fill("#goal-value", goal)
        opened.settle()
        assert opened.page.text_content("#goal-answer").startswith(words)
    opened.assert_quiet()


def test_mcc_has_no_least_value_below_chance(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.edges()["below chance at the threshold"])
    for state in ("undercount.update()", "undercount.state.share = 0.015; undercount.update()"):
        opened.page.evaluate(state)
        opened.settle()
        cells = opened.page.locator("#numbers tr")
        said = {
            cells.nth(k).locator("td, th").first.text_content(): cells.nth(k).text_content()
            for k in range(cells.count())
        }
        bounded = {name.split("@")[0] for name, row in said.items() if "at least" in row}
        assert bounded == {"precision", "F1", "average precision", "ROC AUC"}
