"""Wherever the sliders stand, no two statements of the page contradict each other."""

import re
from typing import Any

import pytest

pytestmark = pytest.mark.browser
# Everything that the page says of the claim, the share and its limit, read as a person would.
READ = """() => {
  const text = (id) => document.getElementById(id).textContent, rows = {};
  for (const row of document.querySelectorAll("#numbers tr")) {
    rows[row.cells[0].textContent.split("@")[0]] = [...row.cells].map((c) => c.textContent);
  }
  const bars = [...document.querySelectorAll("#bars svg")].map((svg) => [
    svg.previousElementSibling.textContent, svg.nextElementSibling.textContent.trim()]);
  return { rows, bars, light: text("light"), kind: document.getElementById("light").className,
    lead: text("lead"), range: text("lead-range"), headline: text("headline"), claim: text("claim"),
    change: text("change"), plain: text("plain"), share: text("share-value"),
    gamma: Number(text("gamma-value")), note: text("sweep-note"),
    warning: document.getElementById("infeasible").hidden ? "" : text("infeasible"),
    shade: document.querySelector("#share-rail .ruled-out").getAttribute("x"),
    whole: document.body.textContent };
}"""
MOVE = """([name, value]) => {
  undercount.state[name] = value; undercount.update(); undercount.settle();
}"""
TOLERANCE = 0.51  # of a percentage that was rounded, in its last digit


def percentages(words: str) -> list[float]:
    return [float(number) for number in re.findall(r"([\d.]+) %", words)]


def digit(said: str) -> float:
    """Return one unit of the last digit of a percentage."""
    return 10.0 ** -len(said.partition(".")[2].split(" ")[0]) if "." in said else 1.0


def assert_consistent(page: Any, at: Any) -> dict[str, Any]:
    """Compare each statement with the others."""
    said: dict[str, Any] = page.evaluate(READ)
    moved = page.evaluate("undercount.state.share >= 0")
    metric = said["claim"].split(" ≥ ")[0].split("@")[0]
    row = said["rows"][metric]
    light, change, share = said["light"], said["change"], percentages(said["share"])[0]
    # The light, its copy in the bar that stays in view, and its colour are one.
    assert said["headline"].endswith("· " + light), at
    assert said["kind"] == "light " + light.split(" ")[0], at
    # The number on top, in the table and beside its bar is one.
    lead = said["lead"].rsplit(" ", 1)[0]
    assert said["lead"].endswith(" " + said["rows"][lead][2]), at
    assert said["range"].startswith(said["rows"][lead][3]), at
    for name, words in said["bars"]:
        assert words == f"{said['rows'][name][2]} {said['rows'][name][3]}", at
    # One limit: whoever speaks of it says the same number.
    limits = {float(v) for v in re.findall(r"[Aa]bove ([\d.]+) % ", said["note"] + said["warning"])}
    assert len(limits) <= 1, at
    # The light and the words on how far the share may move.
    held = light.startswith(("if", "robust", "depends"))
    goal = re.search(r"≥ ([\d.]+)( %)?", said["claim"])
    assert goal is not None, at
    value = float(goal[1]) / (100 if goal[2] else 1)
    if light.startswith("if"):
        assert f"{said['share']} are hidden" in light or not moved, at
        assert "holds" in change, at
        assert float(row[3].split(" – ")[0]) >= value - 0.0006, at  # its interval is shown
    if light.startswith("not supported") and said["gamma"] == 1:
        assert "Γ" not in change, at
        assert "would hold only" in change or "no share" in change or "cannot" in change, at
    if held and " holds while hidden" in change and not light.startswith("depends"):
        for sign, end in re.findall(r"([≥≤]) ([\d.]+ %)", change.split(" while ")[1]):
            slack = TOLERANCE * max(digit(end), digit(said["share"])) * 2
            edge = percentages(end)[0]
            assert share >= edge - slack if sign == "≥" else share <= edge + slack, at
    if (found := re.search(r"Γ = ([\d.]+)", change)) is not None and said["gamma"] > 1:
        survives = said["gamma"] <= float(found[1]) * 1.01
        supported = not light.startswith("not supported")
        assert survives == supported or abs(said["gamma"] - float(found[1])) < 0.02, at
    if said["warning"]:
        assert light.startswith("not supported") or "–" not in row[2], at
    if "too low" in said["plain"]:
        assert float(said["rows"][lead][1]) < float(said["rows"][lead][3].split(" – ")[0]) + 6e-4
    return said


@pytest.mark.parametrize(
    "name", ["estimated", "strong, share estimated here", "prevalence", "range", "no threshold"]
)
def test_no_two_statements_contradict_wherever_the_sliders_stand(
    open_page: Any, cases: Any, name: str
) -> None:
    opened = open_page(cases.evaluations()[name][:1])
    page = opened.page
    assert_consistent(page, "start")
    end = page.evaluate("Number(document.getElementById('share').max)")
    walks: dict[str, list[float]] = {
        "share": [end * k / 24 for k in range(25)],
        "place": [k / 12 for k in range(13)],
        "purity": [0.8, 0.9, 0.95, 0.99, 1.0],
        "gamma": [1.0, 1.05, 1.2, 1.5, 2.0, 3.0, 5.0],
    }
    for slider, values in walks.items():
        page.click("#reset")
        opened.settle()
        for value in values:
            page.evaluate(MOVE, [slider, value])
            said = assert_consistent(page, (slider, value))
            assert not said["light"].startswith("robust") or (slider, value) == ("gamma", 1.0)
    # All at once, with another claim.
    page.fill("#goal-value", "0.4")
    for share in walks["share"][::3]:
        for gamma in (1.0, 1.4):
            page.evaluate(MOVE, ["share", share])
            page.evaluate(MOVE, ["gamma", gamma])
            assert_consistent(page, (share, gamma))
    opened.assert_quiet()


def test_arrow_presses_never_turn_the_light_green(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.evaluations()["strong, share estimated here"])
    page = opened.page
    before = page.text_content("#light")
    assert before != "robust"
    for slider in ("share", "threshold", "purity", "gamma"):
        page.focus("#" + slider)
        for key in ["ArrowRight"] * 10 + ["ArrowLeft"] * 20:
            page.keyboard.press(key)
            opened.settle()
            assert page.text_content("#light") != "robust"
            assert "robust" not in page.get_attribute("#light", "class")
        page.click("#reset")
        opened.settle()
        assert page.text_content("#light") == before
