"""The page under odd conditions: no script, small screens, hostile names, odd scores."""

from typing import Any

import pytest

import undercount as uc

pytestmark = pytest.mark.browser
HOSTILE = (
    "</script><script>window.broken=1</script>",
    "<img src=x onerror=window.broken=1>",
    "\"'`${window.broken=1}`'\" onmouseover=window.broken=1 {{7*7}}",
    "名前 \u202e\u2028\u0000 🎈 <!-- ]]> &lt;b&gt; | \\ \n # x",
    "x" * 10_000,
)


def test_without_script_the_numbers_stand(open_page: Any, cases: Any) -> None:
    evaluation = cases.evaluations()["estimated"][0]
    opened = open_page([evaluation], java_script_enabled=False)
    page = opened.page
    assert page.text_content("#lead") == f"precision {evaluation.rows[1].estimate.value:.3f}"
    rows = page.locator("#numbers tr")
    assert rows.count() == 9
    assert f"{evaluation.rows[6].estimate.value:.3f}" in rows.nth(6).text_content()
    assert page.is_visible("noscript, main p >> text=Without JavaScript")
    assert not page.is_visible(".bar")
    assert not page.is_visible("#roc")
    assert opened.asked == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(open_page: Any, cases: Any, scheme: str) -> None:
    opened = open_page(cases.evaluations()["estimated"], width=375, color_scheme=scheme)
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    assert page.locator(".bar").bounding_box()["height"] < 140
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")
    # No label of a chart sticks out of it.
    outside = page.evaluate("""[...document.querySelectorAll("figure svg")].flatMap((svg) => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter((t) => {
        const box = t.getBoundingClientRect();
        const wide = box.left < frame.left - 1 || box.right > frame.right + 1;
        return wide || box.bottom > frame.bottom + 1;
      }).map((t) => svg.id + ": " + t.textContent);
    })""")
    assert outside == []
    opened.assert_quiet()


def test_print_has_charts_and_no_sliders(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.evaluations()["estimated"])
    opened.page.emulate_media(media="print")
    assert not opened.page.is_visible(".bar")
    assert opened.page.is_visible("#roc")
    assert opened.page.locator("#calibration .line").count() == 1


def test_every_control_has_a_name(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.evaluations()["estimated"])
    nameless = opened.page.evaluate("""
      [...document.querySelectorAll("input, select, button, textarea, svg[role=img]")].filter(
        (node) => !(node.getAttribute("aria-label") || (node.labels && node.labels.length)
          || node.textContent.trim())
      ).map((node) => node.id)""")
    assert nameless == []
    assert opened.page.evaluate("document.documentElement.lang") == "en"


def test_hostile_names_do_nothing(open_page: Any, cases: Any) -> None:
    _, label, score = cases.simulated(600)
    evaluations = [
        uc.evaluate(label, score, unlabeled=0, unlabeled_prevalence=0.05, threshold=0.6, name=name)
        for name in HOSTILE
    ]
    opened = open_page(evaluations, width=375)
    page = opened.page
    for k in range(len(HOSTILE)):
        page.check(f"#pick-{k}")
        page.hover("#roc")
        opened.settle()
        assert page.evaluate("undercount.markdown()").count("\n") == 15
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    names = [model["name"] for model in page.evaluate("undercount.data.document.models")]
    assert names == list(HOSTILE)
    opened.assert_quiet()


def test_odd_scores_and_designs_open_without_errors(open_page: Any, cases: Any) -> None:
    pages = {**cases.odd_scores(), **cases.evaluations()}
    for name in (*cases.odd_scores(), "known negatives", "case-control", "impure"):
        opened = open_page(pages[name])
        opened.page.evaluate(
            """(moves) => moves.forEach(([name, value]) => {
              undercount.state[name] = value;
              undercount.update(true);
            })""",
            [["share", 0.01], ["place", 0], ["place", 1], ["purity", 0.8], ["gamma", 3]],
        )
        cells = opened.page.text_content("#numbers") + opened.page.text_content(".verdict")
        assert not any(word in cells for word in ("NaN", "Infinity", "undefined")), name
        opened.assert_quiet()
        opened.page.close()
