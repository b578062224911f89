"""Everybody can use the page: axe-core finds nothing, fingers hit, no digit is cut."""

import sys
from pathlib import Path
from typing import Any

import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.read.estimator_table import EstimatorRow
from undercount.show.estimators import estimators_page
from undercount.show.page.identity import Identity

pytestmark = pytest.mark.browser
AXE = Path(sys.prefix) / "node_modules" / "axe-core" / "axe.min.js"
FINGER = 44  # pixels


def violations(page: Any) -> list[str]:
    """Ask axe-core."""
    if not AXE.exists():
        pytest.skip(
            "ACCESSIBILITY IS NOT TESTED: npm install --no-save --prefix .venv axe-core@4.10.3"
        )
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(
        """async () => (await axe.run()).violations.map((v) => v.id + ": "
          + v.nodes.map((n) => n.target.join(" ")).join(", "))"""
    )
    return found


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(open_page: Any, cases: Any, scheme: str, width: int) -> None:
    options = {"color_scheme": scheme, "width": width, "bypass_csp": True}
    opened = open_page(cases.evaluations()["estimated"], **options)
    assert violations(opened.page) == []
    opened.page.evaluate(
        "undercount.state.share = 0.9; undercount.state.gamma = 2; undercount.update(true)"
    )
    opened.settle()
    assert violations(opened.page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_in_the_page_of_estimators(
    contexts: Any, tmp_path: Path, scheme: str
) -> None:
    rows = [
        EstimatorRow("Consensus", 0.04, 0.02, 0.07, 0.09, 0.1),
        EstimatorRow("KM1", None, None, None, None, 0.1, "too few rows <b>"),
        EstimatorRow("DEDPUL", 0.05, None, None, None, 0.1),
    ]
    path = tmp_path / "page.html"
    about = {"confidence_level": 0.95, "seed": 0}
    page = estimators_page(
        {"a <score>": rows}, ["10 rows"], Identity("T", "d", "2026-01-01"), **about
    )
    path.write_text(page, encoding="utf-8")
    assert "too few rows &lt;b&gt;" in page
    opened = contexts(color_scheme=scheme, width=390, bypass_csp=True).new_page()
    opened.goto(path.as_uri())
    assert violations(opened) == []
    assert opened.evaluate("document.documentElement.scrollWidth") == 390
    opened.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_violation_in_the_other_pages(
    contexts: Any, cases: Any, tmp_path: Path, until: Any, scheme: str, width: int
) -> None:
    """After reviews, the comparison, and the page to answer in."""
    truth, label, score = cases.simulated(2000)
    paths = [tmp_path / name for name in ("reviewed.html", "comparison.html", "answers.html")]
    cases.reviewed()["random labels"][0].to_html(paths[0])
    scores = {"first": score, "second": score + 0.3 * truth}
    uc.compare(label, scores, unlabeled=0, threshold=0.6, unlabeled_prevalence=0.06).to_html(
        paths[1]
    )
    rows = tmp_path / "rows.csv"
    lines = [f"{int(y)},{s:.5f}" for y, s in zip(label, score, strict=True)]
    rows.write_text("\n".join(["label,score", *lines]))
    about = ["--label", "label", "--score", "score", "--threshold", "0.6", "--budget", "20"]
    assert main(["plan", str(rows), *about, "--html", str(paths[2]), "--quiet"]) == 0
    for path in paths:
        page = contexts(color_scheme=scheme, width=width, bypass_csp=True).new_page()
        page.goto(path.as_uri())
        if path != paths[1]:  # the comparison has no script
            until(page, "!!window.undercount")
        assert violations(page) == [], path.name
        assert page.evaluate("document.documentElement.scrollWidth") == width, path.name
        page.close()


def test_fingers_hit_and_digits_are_whole_on_a_phone(open_page: Any, cases: Any) -> None:
    _, label, score = cases.simulated(600)
    names = ("a model whose name is rather long and goes on and on", "x" * 90)
    evaluations = [
        uc.evaluate(label, score, unlabeled=0, unlabeled_prevalence=0.05, threshold=0.6, name=name)
        for name in names
    ]
    opened = open_page(evaluations, width=390)
    page = opened.page
    page.evaluate("undercount.state.gamma = 1.5; undercount.update(true)")
    opened.settle()
    small = page.evaluate(
        """(finger) => [...document.querySelectorAll("button, a, select, summary, .names label, "
          + "input:not([type=checkbox]):not([type=radio])")].filter((node) => {
            const box = node.getBoundingClientRect();
            return box.width && (box.height < finger - 0.5 || box.width < finger - 0.5);
          }).map((node) => node.id || node.textContent)""",
        FINGER,
    )
    assert small == []
    # No cell, bar or heading is wider than what is seen of it.
    cut = page.evaluate(
        """[...document.querySelectorAll("td, #bars span, h1, h3, bdi, .answer span, #flagged")]
          .filter((node) => {
            const box = node.getBoundingClientRect();
            return box.right > innerWidth + 0.5 || node.scrollWidth > node.clientWidth + 1
              && getComputedStyle(node).overflow !== "visible";
          }).map((node) => node.textContent.slice(0, 40))"""
    )
    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_headline_stays_in_view_while_a_slider_moves(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.evaluations()["estimated"], width=390)
    page = opened.page
    page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    opened.settle()
    page.focus("#share")
    page.keyboard.press("ArrowRight")
    opened.settle()
    box = page.locator("#headline").bounding_box()
    assert 0 <= box["y"] < 60
    assert page.text_content("#lead") in page.text_content("#headline")


def test_words_stand_beside_the_point_under_the_pointer(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.evaluations()["estimated"][:1])
    page = opened.page
    for chart in ("pr", "roc", "lift", "histogram", "sweep", "calibration"):
        page.locator("#" + chart).scroll_into_view_if_needed()
        page.hover("#" + chart)
        said = page.text_content(f"#{chart} + output")
        assert said
        tip = page.locator(f"#{chart} .tip")
        assert tip.count() == 1
        assert "".join(said.split()) == "".join(tip.text_content().split())
        assert page.locator(f"#{chart} .tip .cross").count() == 1
    page.mouse.move(2, 2)
    assert page.locator(".tip").count() == 0


def test_figures_and_tables_are_downloaded(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.evaluations()["estimated"])
    page = opened.page
    for label, kind, start in (
        ("Recall against false-positive rate: download as SVG", ".svg", b"<svg"),
        ("Metric against the share of hidden positives: download as PNG", ".png", b"\x89PNG"),
        ("Naive against true: download as CSV", ".csv", b"metric,unlabeled = negative,true value"),
        ("Models compared: download as CSV", ".csv", b"model,"),
    ):
        with page.expect_download() as waiting:
            page.click(f'[aria-label="{label}"]')
        assert waiting.value.suggested_filename.endswith(kind)
        content = Path(waiting.value.path()).read_bytes()
        assert content.startswith(start)
        assert len(content) > 300
    assert opened.said == []
    assert page.evaluate("violations") == []


def test_a_notebook_frame_has_working_sliders(contexts: Any, cases: Any, tmp_path: Path) -> None:
    frame = cases.evaluations()["estimated"][0]._repr_html_()
    path = tmp_path / "notebook.html"
    style = "<style>table, p, button { color: red !important; font-size: 40px !important; }</style>"
    path.write_text(f"<!doctype html>{style}<p>cell</p>{frame}", encoding="utf-8")
    page = contexts().new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("body.live").wait_for()
    before = inside.locator("#lead").text_content()
    inside.locator("#share").focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    for _ in range(1000):
        if inside.locator("#lead").text_content() != before:
            break
        page.wait_for_timeout(10)
    assert inside.locator("#lead").text_content() != before
    colour = inside.locator("#plain").evaluate("(node) => getComputedStyle(node).color")
    assert colour != "rgb(255, 0, 0)"
    assert said == []
    page.close()


def test_calibration_of_the_page_is_that_of_the_library(open_page: Any, cases: Any) -> None:
    evaluation = cases.evaluations()["strong"][0]
    opened = open_page([evaluation])
    groups = opened.page.evaluate("undercount.calibrate(undercount.models[0])")
    curve = opened.facts()["document"]["models"][0]["curve"]
    cells = uc.ScoreCounts.from_counts(
        curve["threshold"],
        curve["positive"],
        curve["negative"] or [0] * len(curve["positive"]),
        curve["unlabeled"],
    )
    display = uc.displays.CalibrationDisplay.from_counts(cells, evaluation.shares)
    columns = display.frame()
    assert [g["share"] for g in groups] == pytest.approx(list(columns["positive_share"]), abs=1e-9)
    for name in ("score", "low", "high"):
        assert [g[name] for g in groups] == pytest.approx(list(columns[name]), abs=1e-9)
