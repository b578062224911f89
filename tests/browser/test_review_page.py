"""The page to answer in: from the plan to verdicts that `evaluate` reads."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.count.review_file import as_review_csv, read_review_files
from undercount.infer.reviews.intervals import ReviewedMetrics
from undercount.infer.reviews.sheet import sheet_reviews
from undercount.infer.reviews.verdicts import ReviewedCells, working_posterior
from undercount.show.review_page import review_page
from undercount.show.review_page.review_page import page_counts, page_goals, write_review_page

pytestmark = pytest.mark.browser
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    '=HYPERLINK("http://x")',
    'a"b,c;d\ne',
    "\u202egnp.exe",
    "",
]
GOALS = ["precision", "f1", "mcc", "specificity", "npv", "kappa", "lift", "fnr", "accuracy"]


@pytest.fixture(scope="module")
def rows():
    """Rows of a simulated case, and which are positive in truth."""
    rng = np.random.default_rng(4)
    truth = rng.random(4000) < 0.1
    y = np.where(truth & (rng.random(4000) < 0.3), 1.0, np.nan)
    score = np.round(1 / (1 + np.exp(2 - 2 * rng.normal(2 * truth))), 4)
    notes = [HOSTILE[place % len(HOSTILE)] for place in range(4000)]
    return pd.DataFrame({"y": y, "s": score, "note": notes, "<b>id": np.arange(4000)}), truth


@pytest.fixture(scope="module")
def plan(rows):
    return uc.plan_reviews(
        rows[0], "s", label="y", budget=40, goal=GOALS, threshold=0.6, keep=["<b>id", "note"]
    )


@pytest.fixture
def opened(contexts, plan, tmp_path):
    """Open the page; everything that it says or asks for is written down."""
    pages, said = [], []
    path = tmp_path / "review.html"
    write_review_page(plan, path)

    def open_it(**options):
        page = contexts(**options).new_page()
        pages.append(page)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: request.url == path.as_uri() or said.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_function("window.undercount")
        return page

    yield open_it
    for page in pages:
        assert page.evaluate("violations") == []
        page.evaluate("localStorage.clear()")
        page.close()
    assert [text for text in said if not text.startswith("blob:")] == []


def answers(plan, truth, n):
    """The sheet with the first verdicts filled in."""
    verdict = np.full(len(plan.sheet.case), np.nan)
    verdict[:n] = truth[plan.sheet.row - 1][:n]
    return replace(plan.sheet, verdict=verdict)


def library(plan, sheet):
    """What the library makes of these verdicts."""
    counts, merged = page_counts(plan)
    assert not merged
    posterior = working_posterior(counts, plan.design.unlabeled_prevalence)
    cells = ReviewedCells(counts, sheet_reviews(sheet), posterior)
    metrics = ReviewedMetrics(cells, confidence_level=plan.widths.confidence_level)
    names = page_goals(plan)
    return [metrics.estimate(name, None if name == "prevalence" else 0.6) for name in names]


def same_numbers(page, wanted):
    """Whether the page shows what the library makes of the verdicts."""
    for each, estimate in zip(page.evaluate("undercount.estimate()"), wanted, strict=True):
        scale = max(1.0, abs(estimate.high)) if np.isfinite(estimate.high) else 1.0
        got = [each["value"], each["low"], each["high"]]
        expected = [estimate.value, estimate.low, estimate.high]
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9 * scale)


def test_from_the_plan_to_the_saved_file(opened, plan, rows, tmp_path):
    _, truth = rows
    page = opened()
    right = truth[plan.sheet.row - 1]
    for place in range(12):
        page.keyboard.press("y" if right[place] else "n")
    page.keyboard.press("y")  # a mistake, taken back
    page.keyboard.press("b")
    page.keyboard.press("s")
    assert page.locator("#progress-words").text_content() == "12 of 40 answered"
    with page.expect_download() as waiting:
        page.locator("#save").click()
    path = tmp_path / "saved.csv"
    waiting.value.save_as(path)
    assert path.read_bytes().decode() == as_review_csv(answers(plan, truth, 12))
    np.testing.assert_array_equal(read_review_files([path]).verdict[:12], right[:12])


def test_from_a_file_by_commands_to_the_answer(contexts, rows, tmp_path, capsys):
    frame, truth = rows
    data, html = tmp_path / "rows.csv", tmp_path / "review.html"
    frame.to_csv(data, index=False)
    arguments = [str(data), "--label", "y", "--score", "s", "--threshold", "0.6"]
    asked = ["--budget", "30", "--goal", "precision", "--keep", "<b>id,note", "--html", str(html)]
    assert main(["plan", *arguments, *asked, "--quiet"]) == 0
    page = contexts().new_page()
    page.goto(html.as_uri())
    page.wait_for_function("window.undercount")
    shown = []
    for _ in range(30):
        row = int(page.locator("dd").first.text_content())
        shown.append(row)
        page.keyboard.press("y" if truth[row] else "n")
    with page.expect_download() as waiting:
        page.locator("#save").click()
    saved = tmp_path / "saved.csv"
    waiting.value.save_as(saved)
    live = {e["title"]: e for e in page.evaluate(
        "undercount.facts.goals.map((g, k) => ({title: g.title, ...undercount.estimate()[k]}))"
    )}  # fmt: skip
    page.evaluate("localStorage.clear()")
    page.close()
    out = tmp_path / "out.json"
    given = ["--reviews", str(saved), "--labels", "any", "--json", str(out)]
    assert main(["evaluate", *arguments, *given]) == 0
    assert "30 of 30 cases reviewed" in capsys.readouterr().out
    metrics = {m["metric"]: m for m in json.loads(out.read_text())["models"][0]["metrics"]}
    for name, title in (("precision", "precision@0.6"), ("recall", "recall@0.6"), ("f1", "F1@0.6")):
        got = [live[title][end] for end in ("value", "low", "high")]
        expected = [metrics[name][end] for end in ("estimate", "low", "high")]
        if name == "precision":  # which cannot be lower than the labels say
            got[1] = max(got[1], metrics[name]["lower_bound"])
        assert got == pytest.approx(expected, abs=1e-9)


def test_the_page_of_a_further_round_knows_the_verdicts_of_its_file_alone(contexts, rows, tmp_path):
    """One case was skipped, so that later ones have other numbers in the next round's page."""
    data, html, saved = (tmp_path / name for name in ("rows.csv", "review.html", "saved.csv"))
    rows[0].to_csv(data, index=False)
    arguments = ["plan", str(data), "--label", "y", "--score", "s", "--threshold", "0.6", "--quiet"]
    asked = ["--budget", "12", "--goal", "precision", "--html", str(html)]
    assert main([*arguments, *asked]) == 0
    page = contexts().new_page()
    page.goto(html.as_uri())
    page.wait_for_function("window.undercount")
    for key in "ysnnynyynnyy":
        page.keyboard.press(key)
    with page.expect_download() as waiting:
        page.locator("#save").click()
    waiting.value.save_as(saved)
    assert main([*arguments, "--reviews", str(saved), *asked]) == 0
    page.goto(html.as_uri())
    page.wait_for_function("window.undercount")
    found = page.evaluate("undercount.answers")
    page.evaluate("localStorage.clear()")
    page.close()
    assert found == [1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, *[None] * 12]


def test_numbers_are_the_librarys_as_verdicts_come(opened, plan, rows):
    _, truth = rows
    page = opened()
    right = truth[plan.sheet.row - 1]
    done = 0
    for n in (1, 3, 8, 20, 40):
        for place in range(done, n):
            page.keyboard.press("1" if right[place] else "0")
        done = n
        same_numbers(page, library(plan, answers(plan, truth, n)))
    table = page.locator("#goals tr").all_text_contents()
    assert len(table) == len(page_goals(plan))
    assert "±" in table[0]
    assert not page.locator("#done").is_hidden()


def test_numbers_are_the_librarys_at_another_level(contexts, rows, tmp_path):
    frame, truth = rows
    plan = uc.plan_reviews(
        frame, "s", label="y", budget=20, goal="f1", threshold=0.6, confidence_level=0.8
    )
    write_review_page(plan, tmp_path / "review.html")
    page = contexts().new_page()
    page.goto((tmp_path / "review.html").as_uri())
    page.wait_for_function("window.undercount")
    for right in truth[plan.sheet.row - 1]:
        page.keyboard.press("1" if right else "0")
    same_numbers(page, library(plan, answers(plan, truth, 20)))
    page.evaluate("localStorage.clear()")
    page.close()


def test_answers_stay_in_the_browser(opened, plan):
    page = opened()
    page.keyboard.press("y")
    page.keyboard.press("n")
    page.keyboard.press("s")
    page.reload()
    page.wait_for_function("window.undercount")
    assert page.evaluate("undercount.answers.slice(0, 4)") == [1, 0, None, None]
    assert page.locator("#case-title").text_content().startswith("Case 4 of 40")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#given").text_content() == "Skipped before."
    assert plan.sheet.plan in page.evaluate("Object.keys(localStorage)[0]")


def test_hostile_cells_stay_text(opened, plan):
    page = opened()
    for place in range(len(plan.sheet.case)):
        assert page.locator("dd").all_text_contents() == [
            plan.sheet.kept[name][place] for name in ("<b>id", "note")
        ]
        page.keyboard.press("n")
    assert page.locator("dt").first.text_content() == "<b>id"
    assert page.locator("img").count() == 0


def test_a_thumb_can_answer_on_a_phone(opened):
    page = opened(width=390, has_touch=True, color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    for name in ("yes", "no", "skip", "back", "save"):
        box = page.locator(f"#{name}").bounding_box()
        assert box["width"] >= 44
        assert box["height"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#yes").tap()
    assert page.locator("#progress-words").text_content() == "1 of 40 answered"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(20, 25, 31)"


def test_a_long_name_of_a_column_leaves_room_for_its_values(contexts, rows, tmp_path):
    name = "a_name_without_a_space_that_is_wider_than_any_telephone_that_was_ever_made"
    frame = rows[0].rename(columns={"<b>id": name})
    made = uc.plan_reviews(frame, "s", label="y", budget=4, threshold=0.6, keep=[name, "note"])
    path = tmp_path / "review.html"
    write_review_page(made, path)
    page = contexts(width=390, has_touch=True, color_scheme="dark").new_page()
    page.goto(path.as_uri())
    page.wait_for_function("window.undercount")
    wide = page.locator("dd").first.bounding_box()["width"]
    across = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert wide >= 150
    assert across <= 390


def test_many_cells_are_merged_and_the_page_says_so(rows, monkeypatch):
    monkeypatch.setattr(review_page, "MOST_PAGE_CELLS", 64)
    made = uc.plan_reviews(rows[0], "s", label="y", budget=10, threshold=0.6)
    counts, merged = page_counts(made)
    assert merged
    assert len(counts.score) < 128
    assert counts.n_unlabeled == made.counts.n_unlabeled
    assert "cells were merged" in review_page.as_review_page(made)
