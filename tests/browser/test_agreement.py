"""Wherever the sliders stand, no two statements of the page contradict each other."""

import re
from dataclasses import replace
from typing import Any

import pytest

import undercount as uc
from undercount.show.verdict_words import light_words

pytestmark = pytest.mark.browser
# Moves sliders, and reads everything that the page says of the claim, the share and its limit, as a
# person would; in one go, since each question to a browser waits for it.
READ = """(moves) => {
  for (const [name, value] of moves) {
    undercount.state[name] = value; undercount.update(); undercount.settle();
  }
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
    reviews: !!undercount.models[0].reviews, moved: undercount.state.share >= 0,
    any_moved: ["share", "place", "purity"].some((k) => undercount.state[k] >= 0) };
}"""

# What the light says and its colour, once the last change is drawn.
LIGHT = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  undercount.settle();
  const light = document.getElementById("light");
  done([light.textContent, light.className]);
})))"""


def percentages(words: str) -> list[float]:
    return [float(number) for number in re.findall(r"([\d.]+) %", words)]


def value_of(claim: str) -> float:
    """Return the goal of a claim."""
    goal = re.search(r"≥ ([\d.]+)( %)?", claim)
    assert goal is not None, claim
    return float(goal[1]) / (100 if goal[2] else 1)


def assert_agrees_with_reviews(said: dict[str, Any], row: list[str], goal: float) -> None:
    """The light of reviews is that of the interval shown, whatever the share."""
    low, high = map(float, row[3].split(" – "))
    wanted = "not supported" if high < goal else "reviews leave it open"
    assert said["light"] == ("supported by reviews" if low >= goal - 6e-4 else wanted)
    assert "hidden" not in said["change"]
    assert "Γ" not in said["change"]


def assert_tells_reviews_apart(said: dict[str, Any], row: list[str]) -> bool:
    """No slider moves what reviews determine; say whether the page speaks of them."""
    if not said["reviews"]:
        return False
    assert not said["any_moved"]
    assert said["gamma"] == 1
    assert "reviews" in row[6]
    assert_agrees_with_reviews(said, row, value_of(said["claim"]))
    return True


def assert_number_is_not_praised(said: dict[str, Any], at: Any) -> None:
    """Plain words on a number whose claim is not supported say so."""
    if said["light"].startswith("not supported") and said["plain"].startswith(("About", "Between")):
        assert re.search("support|claimed while", said["plain"]), at


def assert_consistent(page: Any, at: Any, moves: Any = ()) -> dict[str, Any]:
    """Move sliders, and compare each statement with the others."""
    said: dict[str, Any] = page.evaluate(READ, list(moves))
    if said["light"] != "no target set":
        return assert_statements_agree(said, at)
    assert "≥" not in said["claim"], at  # scores alone suggest none
    assert "support" not in said["plain"], at
    return said


def assert_statements_agree(said: dict[str, Any], at: Any) -> dict[str, Any]:
    """Compare each statement on a target with the others."""
    moved = said["moved"]
    metric = said["claim"].split(" ≥ ")[0].split("@")[0]
    row = said["rows"][metric]
    light, change, share = said["light"], said["change"], percentages(said["share"])[0]
    # The light, its copy in the bar that stays in view, and its colour are one.
    assert said["headline"].endswith("· " + light), at
    # A light beside a number is that of its claim, which stands between them.
    goal = re.search(r"[≥≤] [\d.]+( %)?", said["claim"])
    assert goal is None or goal[0] in said["headline"], at
    assert said["kind"] == "light " + light.split(" ")[0], at
    # The number on top, in the table and beside its bar is one.
    answers = {name: f"{cells[2]} {cells[3]}".strip() for name, cells in said["rows"].items()}
    lead = next(name for name in answers if said["lead"].startswith(f"{name} "))
    assert f"{said['lead']} {said['range']}".startswith(f"{lead} {answers[lead]}"), at
    for name, words in said["bars"]:
        assert words == answers[name], at
    # One limit: whoever speaks of it says the same number.
    limits = {float(v) for v in re.findall(r"[Aa]bove ([\d.]+) % ", said["note"] + said["warning"])}
    assert len(limits) <= 1, at
    # The light and the words on how far the share may move.
    held = light.startswith(("if", "robust", "depends"))
    value = value_of(said["claim"])
    if assert_tells_reviews_apart(said, row):
        return said
    if light.startswith("if"):
        assert f"{said['share']} are hidden" in light or not moved, at
        assert "holds" in change, at
        assert float(row[3].split(" – ")[0]) >= value - 0.0006, at  # its interval is shown
    if light.startswith("not supported") and said["gamma"] == 1:
        assert "Γ" not in change, at
        assert "would hold only" in change or "no share" in change or "cannot" in change, at
    hidden = re.search(r" holds if (.*) of the unlabeled rows are positive", change)
    if held and hidden is not None and not light.startswith("depends"):
        for sign, end in re.findall(r"(at least|at most|between|and) ([\d.]+ %)", hidden[1]):
            edge, least = percentages(end)[0], sign in ("at least", "between")
            assert share >= edge if least else share <= edge, at  # no rounding contradicts it
    if (found := re.search(r"Γ = ([\d.]+)", change)) is not None and said["gamma"] > 1:
        survives = said["gamma"] <= float(found[1]) * 1.01
        supported = not light.startswith("not supported")
        near = abs(said["gamma"] - float(found[1])) < 0.02
        # A light of a whole range of shares fails before the bias that one of them survives.
        ranged = "at the share taken" in change
        assert survives == supported or near or (ranged and survives), at
    assert_number_is_not_praised(said, at)
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
    walk(open_page(cases.evaluations()[name][:1]))


@pytest.mark.parametrize(
    "name", ["random labels", "reviews alone", "chosen labels", "a claim left open"]
)
def test_no_two_statements_contradict_after_reviews(open_page: Any, cases: Any, name: str) -> None:
    evaluation = cases.reviewed()[name]
    opened = open_page(evaluation)
    assert opened.page.text_content("#light") == light_words(evaluation[0])
    for goal in ("0.2", "0.58", "0.95"):
        opened.page.fill("#goal-value", goal)
        opened.settle()
        assert_consistent(opened.page, goal)
    if name in ("random labels", "chosen labels"):
        walk(opened)


def walk(opened: Any) -> None:
    """Move each slider along its way, then several at once."""
    page = opened.page
    page.click("#reset")
    opened.settle()
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
            said = assert_consistent(page, (slider, value), [[slider, value]])
            assert not said["light"].startswith("robust") or (slider, value) == ("gamma", 1.0)
    # All at once, with another claim.
    page.fill("#goal-value", "0.4")
    for share in walks["share"][::3]:
        for gamma in (1.0, 1.4):
            assert_consistent(page, (share, gamma), [["share", share], ["gamma", gamma]])
    opened.assert_quiet()


def test_arrow_presses_never_turn_the_light_green(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.evaluations()["strong, share estimated here"])
    page = opened.page
    before = page.text_content("#light")
    assert not before.startswith("robust")
    for slider in ("share", "threshold", "purity", "gamma"):
        page.focus("#" + slider)
        for key in ["ArrowRight"] * 10 + ["ArrowLeft"] * 20:
            page.keyboard.press(key)
            light, kind = page.evaluate(LIGHT)
            assert not light.startswith("robust")
            assert "robust" not in kind
        page.click("#reset")
        opened.settle()
        assert page.text_content("#light") == before


@pytest.mark.parametrize(
    "claim", ["precision@0.75 >= 0.55", "f1@0.4 >= 0.45", "precision <= 0.5", "mcc@0.7 >= 0.4"]
)
def test_a_claim_keeps_its_own_threshold_and_sign(open_page: Any, cases: Any, claim: str) -> None:
    """At every share the page judges it as the library does, wherever the threshold stands."""
    _, label, score = cases.simulated()

    def evaluated(share: Any) -> Any:
        return uc.evaluate(
            label, score, unlabeled=0, threshold=0.6, unlabeled_prevalence=share
        ).claiming(claim)

    opened = open_page([evaluated(uc.Estimate(0.06, 0.05, 0.075, 0.006))])
    page = opened.page
    name = claim.partition(" ")[0].lower()
    assert name in page.text_content("#claim").lower()
    lights = set()
    for share in (0.005, 0.02, 0.04, 0.06, 0.08, 0.1):
        wanted = evaluated(share).verdict.light
        page.evaluate(READ, [["share", share]])
        light = page.text_content("#light")
        assert light.startswith("not supported" if wanted == "unsupported" else "if"), share
        assert name in page.text_content("#change").lower()
        lights.add(wanted)
        if "@" in claim:  # the threshold's slider is not the claim's
            page.evaluate(READ, [["place", 0.3]])
            assert page.text_content("#light") == light
            page.evaluate(READ, [["place", -1]])
    assert len(lights) > 1
    opened.assert_quiet()


def test_a_claim_at_another_prevalence_is_judged_where_nothing_is_moved(
    open_page: Any, cases: Any
) -> None:
    evaluation = replace(cases.evaluations()["prevalence"][0], deploy_prevalence=0.001)
    for claim in ("precision >= 0.9", "precision >= 0.001"):
        claiming = evaluation.claiming(claim)
        opened = open_page([claiming])
        page = opened.page
        assert page.text_content("#light") == light_words(claiming)
        assert page.text_content("#claim").endswith("where 0.1 % are positive (as required)")
        assert "does not support" not in page.text_content("#plain")
        page.evaluate(READ, [["share", 0.05]])
        assert page.text_content("#light") == "if 5.0 % are hidden: not judged here"
        opened.assert_quiet()


def test_a_claim_of_the_highest_rows_is_not_judged_by_the_sliders(
    open_page: Any, cases: Any
) -> None:
    evaluation = cases.evaluations()["prevalence"][0].claiming("precision@top 1% >= 0.6")
    page = open_page([evaluation]).page
    assert page.text_content("#light") == light_words(evaluation)
    page.evaluate(READ, [["share", 0.05]])
    assert page.text_content("#light") == "if 5.0 % are hidden: not judged here"


def test_field_takes_goals_at_most(open_page: Any, cases: Any) -> None:
    opened = open_page(cases.evaluations()["prevalence"])
    page = opened.page
    page.select_option("#goal-sign", "1")
    page.fill("#goal-value", "0.95")
    opened.settle()
    assert page.text_content("#claim") == "precision ≤ 95 % (set here)"
    assert not page.text_content("#light").startswith("not supported")
    page.fill("#goal-value", "0.1")
    opened.settle()
    assert page.text_content("#light").startswith("not supported")
    assert "most=1" in page.evaluate("location.hash")
