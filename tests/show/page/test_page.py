"""The page as text: its size, policy, embedded facts and escaping; `tests/browser` opens it."""

import base64
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import undercount as uc
from undercount.errors import InputError
from undercount.metric_facts import FACTS
from undercount.read.evaluation import Evaluation
from undercount.show.page.identity import Identity, report_date
from undercount.show.page.live import page_cells, page_rows
from undercount.show.page.packing import pack, tighten_script, unpack
from undercount.show.page.page import as_page
from undercount.show.page.report import as_frame, write_page

ONE, FIVE = 70_000, 160_000
# After reviews a page shows two answers, of every metric in the table.
REVIEWED = 72_000


@cache
def models(number: int) -> tuple[Evaluation, ...]:
    """Evaluate scores as long as scores get: every row has its own, with all digits."""
    rng = np.random.default_rng(0)
    truth = rng.random(20_000) < 0.05
    label = (truth & (rng.random(20_000) < 0.5)).astype(float)
    return tuple(
        uc.evaluate(
            label,
            1 / (1 + np.exp(-rng.normal((1 + k / 4) * truth))),
            unlabeled=0,
            unlabeled_prevalence=uc.Estimate(0.025, 0.02, 0.03, 0.002),
            threshold=0.7,
            name=f"model {k}",
        )
        for k in range(number)
    )


def embedded(page: str) -> dict[str, object]:
    found = re.search(r'id="facts">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    facts: dict[str, object] = json.loads(unpack(found[1]))
    return facts


def script(page: str) -> str:
    packed = re.search(r'id="packed">(.*?)</script>', page, re.DOTALL)
    assert packed is not None
    return unpack(packed[1])


@pytest.mark.parametrize(("number", "most"), [(1, ONE), (5, FIVE)])
def test_page_is_small(number: int, most: int) -> None:
    assert len(as_page(models(number)).encode()) <= most


def test_weighted_page_is_small() -> None:
    rng = np.random.default_rng(1)
    label = rng.random(20_000) < 0.05
    weight = rng.uniform(0.5, 2, len(label))
    score = rng.normal(2.0 * label)
    evaluation = uc.evaluate(
        label, score, unlabeled=0, sample_weight=weight, unlabeled_prevalence=0.01
    )
    assert len(as_page([evaluation]).encode()) <= ONE


def test_same_input_gives_same_bytes() -> None:
    assert as_page(models(2)) == as_page(models(2))


def test_policy_allows_the_three_hashes_and_nothing_else() -> None:
    page = as_page(models(1))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    loader = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert policy
    assert style
    assert loader
    unpacked = script(page)
    for text in (style[1], loader[1], unpacked):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[1].count(f"'sha256-{digest}'") == 1
    assert policy[1].count("sha256-") == 3
    assert "default-src 'none'" in policy[1]
    assert "img-src data:;" in policy[1]  # a figure on its way to a file
    assert "unsafe" not in policy[1]
    # The only address is the name of the SVG dialect, which nothing fetches.
    addresses = set(re.findall(r"https?://[^\s\"'<>`)]+", page + unpacked))
    assert addresses == {"http://www.w3.org/2000/svg"}


def test_names_are_escaped_everywhere() -> None:
    name = "</script><script>alert(1)</script><b>&\"'"
    evaluation = uc.evaluate(
        [1, 0, 1, 0, 0, 0, 0, 1], range(8, 0, -1), unlabeled=0, unlabeled_prevalence=0.1, name=name
    )
    page = as_page([evaluation, evaluation])
    assert "<script>alert" not in page
    assert "<b>&" not in page
    assert page.count("<script") == 3
    assert "&lt;script&gt;alert(1)" in page


def test_embedded_facts_are_the_counts() -> None:
    evaluation = models(1)[0]
    facts = embedded(as_page([evaluation]))
    model = facts["document"]["models"][0]  # type: ignore[index]
    curve, counts = model["curve"], evaluation.counts
    assert len(curve["threshold"]) <= 512
    assert sum(curve["positive"]) == counts.n_positive
    assert sum(curve["unlabeled"]) == counts.n_unlabeled
    assert curve["threshold"] == sorted(set(curve["threshold"]), reverse=True)
    start = facts["live"][0]["start"]  # type: ignore[index]
    assert curve["threshold"][start - 1] == 0.7
    head = counts.score >= 0.7
    assert sum(curve["positive"][:start]) == counts.positive[head].sum()
    assert sum(curve["unlabeled"][:start]) == counts.unlabeled[head].sum()


@pytest.mark.parametrize("threshold", [np.inf, 9.0, 0.5, -np.inf])
def test_cells_survive_odd_thresholds_and_infinite_scores(threshold: float) -> None:
    counts = uc.ScoreCounts.from_rows([1, None, 1, None], [np.inf, 0.5, 0.5, -np.inf])
    cells = page_cells(counts, threshold)
    assert sum(cells["positive"]) == 2  # type: ignore[arg-type]
    assert sum(cells["unlabeled"]) == 2  # type: ignore[arg-type]


def test_neighbouring_scores_stay_apart() -> None:
    score = np.array([1 - 2e-16, 1 - 4e-16, 0.3, 0.1 + 1e-15, 0.1])
    cells = page_cells(uc.ScoreCounts.from_rows([1, None, 1, None, None], score), 0.3)
    assert len(set(cells["threshold"])) == 5


@pytest.mark.parametrize("number", [0, 6])
def test_page_holds_one_to_five_models(number: int) -> None:
    with pytest.raises(InputError, match=f"1 to 5 models; got {number}"):
        as_page(models(1) * number)


def test_page_is_written_as_made(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_page(models(1), path)
    assert path.read_text(encoding="utf-8") == as_page(models(1), Identity(date=report_date()))


def test_a_page_says_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    path = tmp_path / "report.html"
    evaluation = models(1)[0]
    evaluation.to_html(path, title="Audit <b>", data="rows.parquet")
    page = path.read_text(encoding="utf-8")
    assert "<h1><bdi>Audit &lt;b&gt;</bdi></h1>" in page
    assert "rows.parquet</bdi>: 20,000 rows" in page
    assert f"2023-11-14, undercount {uc.__version__}, seed 0." in page
    evaluation.to_html(path, title="Audit <b>", data="rows.parquet", date="2023-11-14")
    assert path.read_text(encoding="utf-8") == page


def test_a_notebook_shows_the_page_in_a_frame_of_its_own() -> None:
    frame = as_frame(models(1))
    assert frame.count("<") == 2  # the frame alone; the page is its escaped attribute
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    inside = re.search(r'srcdoc="([^"]*)"', frame)
    assert inside is not None
    assert html.unescape(inside[1]) == as_page(models(1))


def test_packing_keeps_scripts_and_what_strings_hold() -> None:
    code = 'const a = "x = 1"; // gone\n  f(`${b ? `c : ${ d }` : "}"} = e`, /[`" ]+ ?/g);\n'
    small = 'const a="x = 1";f(`${b ? `c : ${ d }` : "}"} = e`,/[`" ]+ ?/g);'
    assert tighten_script(code) == small
    # Only where a statement has ended is a new line needed by nothing.
    code = "if (a) {\n  b;\n  c()\n}\nd = () => {\n}\n[e,\nf]\n`g;\n}`\n"
    assert tighten_script(code) == "if(a){b;c()}\nd=()=>{}\n[e,f]\n`g;\n}`\n"
    for text in (code, "é" * 999, ""):
        assert unpack(pack(text)) == text
    assert not set(pack(code * 99)) & set("<&\\\"'")


def test_script_has_the_facts_of_the_table() -> None:
    found = re.search(r"^const FACTS = (.*);$", script(as_page(models(1))), re.MULTILINE)
    assert found is not None
    facts = json.loads(found[1])
    assert list(facts) == [row.metric for row in page_rows(models(1)[0], 0.7)]
    for name, given in facts.items():
        known = FACTS[name]
        assert given["title"] == known.title
        assert given["least"] == known.range[0]
        assert given["area"] == (name in ("roc_auc", "average_precision", "lift_auc"))
        assert given["prevalence"] == known.needs_prevalence
        assert tuple(given["grows"]) == known.grows


def test_script_has_no_table_of_its_own() -> None:
    # Formulas alone are written out, each once; whatever else is known comes from the facts.
    text = script(as_page(models(1))).partition("const FACTS = ")[2].partition("\n")[2]
    for title in ("average precision", "lift AUC", "MCC"):
        assert title not in text


def test_sentence_on_the_order_of_models_is_the_table() -> None:
    page = as_page(models(2))
    found = re.search(r"order of models in ([^.;]*) does not .*?; in ([^.;]*) it can", page)
    assert found is not None
    fixed, free = (set(re.split(r", | and ", words)) for words in found.groups())
    facts = [FACTS[row.metric] for row in page_rows(models(1)[0], 0.7)]
    assert fixed == {known.title for known in facts if known.order_fixed != "no"}
    assert free == {known.title for known in facts if known.order_fixed == "no"}


def test_highest_rows_have_a_table_if_they_were_asked_for() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.1
    label = (truth & (rng.random(3000) < 0.5)).astype(float)
    score = rng.normal(2.0 * truth)
    asked = {"unlabeled": 0, "unlabeled_prevalence": 0.05, "threshold": 1.0}
    evaluation = uc.evaluate(label, score, top=100, **asked)
    page = as_page([evaluation])
    assert "The highest scores" in page
    for row in evaluation.top_rows:
        assert f">{row.estimate.value:.3f}<" in page
        assert f"{row.estimate.low:.3f} – {row.estimate.high:.3f}" in page
    assert len(page.encode()) <= ONE
    assert "The highest scores" not in as_page([uc.evaluate(label, score, **asked)])


def test_page_after_reviews_is_small() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(20_000) < 0.05
    label = (truth & (rng.random(20_000) < 0.5)).astype(float)
    score = 1 / (1 + np.exp(-rng.normal(2.0 * truth)))
    plan = uc.plan_reviews(label, score, unlabeled=0, budget=100, threshold=0.7)
    reviews = plan.answered(truth[plan.rows])
    evaluation = uc.evaluate(label, score, unlabeled=0, threshold=0.7, reviews=reviews)
    assert len(as_page([evaluation]).encode()) <= REVIEWED
