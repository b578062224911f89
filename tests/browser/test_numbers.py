"""The script's numbers are the library's, to 1e-9, on the cells that the page carries."""

import itertools
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import undercount as uc
from undercount.errors import InputError
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.labelled import naive_curve
from undercount.infer.labelling_bias import bias_ends
from undercount.infer.metric_name import MetricName
from undercount.infer.sensitivity import SWEPT_AREAS, break_even, metric_value
from undercount.read.evaluation import POINT_METRICS, Evaluation
from undercount.read.require.requirement import Requirement
from undercount.show.page.packing import unpack
from undercount.show.page.page import as_page
from undercount.show.page.report import write_page

pytestmark = pytest.mark.browser
CLOSE = {"rel": 1e-9, "abs": 1e-9}
DESIGNS = (
    "estimated",
    "no threshold",
    "prevalence",
    "range",
    "label frequency",
    "label frequency, population",
    "case-control",
    "case-control, data set",
    "impure",
    "impure, case-control",
    "impure, uncertain",
    "known negatives",
    "known negatives, population",
    "weights",
    "weights, population",
)


@dataclass(frozen=True)
class Calculator:
    """The facts of a page, and a browser that holds the script."""

    facts: dict[str, Any]
    page: Any

    def model(self) -> dict[str, Any]:
        """Return the facts of the first model."""
        found: dict[str, Any] = self.facts["document"]["models"][0]
        return found

    def start(self) -> int:
        """Return the place of the threshold that the page opens with."""
        return int(self.facts["live"][0]["start"])

    def call(self, calls: list[tuple[Any, ...]]) -> list[Any]:
        """Call functions of the script on the first model, all in one go."""
        code = """([facts, calls]) => {
          const model = undercount.prepare(facts.document.models[0], facts.live[0]);
          const safe = (v) => typeof v === "number" && !Number.isFinite(v) ? String(v) : v;
          return calls.map(([name, ...list]) => {
            const out = undercount[name](model, ...list);
            return typeof out === "object" && !Array.isArray(out) && !("tpr" in out)
              ? Object.fromEntries(Object.entries(out).map(([k, v]) => [k, safe(v)]))
              : "tpr" in Object(out) ? { tpr: [...out.tpr], fpr: [...out.fpr] } : safe(out);
          });
        }"""
        found: list[Any] = self.page.evaluate(code, [self.facts, [list(call) for call in calls]])
        return found


@pytest.fixture(scope="module")
def calculator(contexts: Any, cases: Any, tmp_path_factory: Any, until: Any) -> Iterator[Any]:
    """One page whose script answers for every design."""
    path = tmp_path_factory.mktemp("calculator") / "report.html"
    write_page(cases.evaluations()["estimated"], path)
    page = contexts().new_page()
    page.goto(path.as_uri())
    until(page, "!!window.undercount")
    yield lambda evaluation: Calculator(embedded(as_page([evaluation])), page)
    page.close()


def embedded(text: str) -> dict[str, Any]:
    """Read the facts out of a page."""
    found = re.search(r'id="facts">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    facts: dict[str, Any] = json.loads(unpack(found[1]))
    return facts


def rebuilt(facts: dict[str, Any], k: int = 0) -> uc.ScoreCounts:
    """Make counts of the cells embedded in the page."""
    curve, units = facts["document"]["models"][k]["curve"], facts["live"][k]["units"]
    none = [0.0] * len(curve["threshold"])  # a column without any row is left out
    names = ("positive", "negative", "unlabeled")
    columns = [np.array(curve[name] or none, float) for name in names]
    squares = [columns[place].sum() * units[kind] for place, kind in ((0, 0), (1, 2), (2, 1))]
    return uc.ScoreCounts.from_counts(
        curve["threshold"], *columns, squared_weight=(squares[0], squares[1], squares[2])
    )


def as_number(value: Any) -> float:
    """Read what the script says, NaN and infinity included."""
    return float(str(value).replace("Infinity", "inf").replace("NaN", "nan"))


def library(
    evaluation: Evaluation, counts: uc.ScoreCounts, shares: uc.Shares, metric: str, cut: float
) -> uc.Estimate | None:
    """Return the library's estimate; None if it says that the shares do not fit."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", uc.errors.MisfitWarning)
            return estimate_metric(
                counts,
                shares,
                metric,
                threshold=None if metric in SWEPT_AREAS else cut,
                target=evaluation.target,
                confidence_level=evaluation.confidence_level,
            )
    except (uc.errors.MisfitWarning, InputError):
        return None


def moved_shares(evaluation: Evaluation) -> list[uc.Shares]:
    """Return the shares as given, and some to which a user moves the sliders."""
    given = evaluation.shares
    interval, error = given.label_purity_interval, given.label_purity_error
    purity: Any = given.label_purity
    if interval is not None:  # a purity that is not moved keeps its uncertainty
        purity = uc.Estimate(purity, interval.low, interval.high, error)
        purity = purity if error else (interval.low, interval.high)
    return [
        given,
        uc.Shares(0.03, purity, given.sampling),
        uc.Shares(0.0, 1.0, given.sampling),
        uc.Shares(0.02, 0.93, given.sampling),
        uc.Shares(0.2, 1.0, given.sampling),  # too many for the higher of the thresholds
    ]


@pytest.mark.parametrize("design", DESIGNS)
def test_script_and_library_agree_on_every_estimate(
    calculator: Any, cases: Any, design: str
) -> None:
    evaluation = cases.evaluations()[design][0]
    page = calculator(evaluation)
    counts = rebuilt(page.facts)
    start, cells = page.start(), len(counts.score)
    tried = list(
        itertools.product(
            moved_shares(evaluation), (start, 2 * cells // 3), (*POINT_METRICS, *SWEPT_AREAS)
        )
    )
    answers = page.call(
        [
            ("estimate", metric, place, shares.unlabeled_prevalence, shares.label_purity)
            for shares, place, metric in tried
        ],
    )
    fitting = unfit = 0
    for (shares, place, metric), answer in zip(tried, answers, strict=True):
        expected = library(evaluation, counts, shares, metric, float(counts.score[place - 1]))
        assert answer["fits"] is (expected is not None), (shares, place, metric)
        if expected is None:
            unfit += 1
            continue
        fitting += 1
        got = [as_number(answer[end]) for end in ("value", "low", "high")]
        wanted = [expected.value, expected.low, expected.high]
        assert got == pytest.approx(wanted, **CLOSE), (shares, place, metric)
    assert fitting > len(tried) / 2
    assert unfit > 0


BREAK_EVEN = (
    ("precision", 0.5),
    ("f1", 0.45),
    ("roc_auc", 0.87),
    ("recall", 0.5),
    ("mcc", 0.4),
    ("precision", 0.02),
    ("precision", 0.999),
)


def script_bias(
    page: Calculator, asked: list[tuple[str, int, uc.Shares]], ratios: tuple[float, ...]
) -> list[list[list[float]]]:
    """Return the script's ends of metrics at each labelling bias."""
    code = """([facts, asked, ratios]) => {
      const model = undercount.prepare(facts.document.models[0], facts.live[0]);
      return asked.map((list) => {
        const ends = undercount.biasEnds(model, ...list);
        return ratios.map((ratio) => ends(ratio).map(String));
      });
    }"""
    calls = [[*at[:2], at[2].unlabeled_prevalence, at[2].label_purity] for at in asked]
    found = page.page.evaluate(code, [page.facts, calls, list(ratios)])
    return [[[as_number(end) for end in ends] for ends in metric] for metric in found]


def assert_same_bias(page: Calculator, evaluation: Evaluation, every: list[uc.Shares]) -> None:
    """Compare what labelling biases do to each metric."""
    counts, ratios = rebuilt(page.facts), (1.0, 1.01, 1.7, 4.0, 30.0)
    names = [name for name in (*POINT_METRICS, *SWEPT_AREAS) if name != "average_precision"]
    places = {page.start(), 2 * len(counts.score) // 3}
    asked = list(itertools.product(names, places, every))
    for at, found in zip(asked, script_bias(page, asked, ratios), strict=True):
        metric, place, shares = at
        if metric in SWEPT_AREAS and shares.label_purity < 1:
            assert np.isnan(found).all()
            continue
        ends = bias_ends(
            counts,
            shares,
            metric,
            threshold=float(counts.score[place - 1]),
            target=evaluation.target,
            confidence_level=evaluation.confidence_level,
        )
        for ratio, got in zip(ratios, found, strict=True):
            assert got == pytest.approx(list(ends(ratio)), nan_ok=True, **CLOSE), (at, ratio)


@pytest.mark.parametrize("design", DESIGNS)
def test_script_and_library_agree_on_a_labelling_bias(
    calculator: Any, cases: Any, design: str
) -> None:
    evaluation = cases.evaluations()[design][0]
    given = evaluation.shares
    moved = [uc.Shares(0.03, 1.0, given.sampling), uc.Shares(0.02, 0.93, given.sampling)]
    assert_same_bias(calculator(evaluation), evaluation, [given, *moved])


@pytest.mark.parametrize("design", ["estimated", "case-control", "impure", "known negatives"])
def test_script_and_library_agree_on_curves_and_bounds(
    calculator: Any, cases: Any, design: str
) -> None:
    evaluation = cases.evaluations()[design][0]
    page = calculator(evaluation)
    counts, purity = rebuilt(page.facts), evaluation.shares.label_purity
    shares = uc.Shares(0.04, purity, evaluation.shares.sampling)
    pairs = (
        ("recover", uc.mixture_curve(counts, shares, clean=False)),
        ("naiveCurve", naive_curve(counts)),
    )
    for name, curve in pairs:
        got = page.call([(name, 0.04, purity)])[0]
        np.testing.assert_allclose(got["tpr"], curve.tpr, rtol=0, atol=1e-12)
        np.testing.assert_allclose(got["fpr"], curve.fpr, rtol=0, atol=1e-12)
        areas = page.page.evaluate(
            """([facts, name, list, areas]) => {
              const model = undercount.prepare(facts.document.models[0], facts.live[0]);
              const curve = undercount[name](model, ...list);
              return areas.map((area) => undercount.area(curve, area));
            }""",
            [page.facts, name, [0.04, purity], list(SWEPT_AREAS)],
        )
        assert areas == pytest.approx([getattr(curve, area) for area in SWEPT_AREAS], **CLOSE)
    assert page.call([("limitOf", purity)])[0] == pytest.approx(evaluation.unknowns.limit, **CLOSE)
    assert_same_break_even(page, evaluation, counts)


EDGES = (
    "reversed",
    "few recalled",
    "no label flagged",
    "no label flagged, case-control",
    "only labels flagged",
    "only labels flagged, impure",
    "below chance at the threshold",
    "nearly sure",
)


@pytest.mark.filterwarnings("ignore::undercount.errors.UndefinedMetricWarning")
@pytest.mark.parametrize("name", EDGES)
def test_script_and_library_agree_where_a_requirement_never_holds(
    calculator: Any, cases: Any, name: str
) -> None:
    evaluation = cases.edges()[name][0]
    page = calculator(evaluation)
    counts, shares = rebuilt(page.facts), evaluation.shares
    goals = [*BREAK_EVEN, ("f1", 0.9), ("roc_auc", 0.45), ("roc_auc", 0.05), ("precision", 0.0)]
    assert_same_break_even(page, evaluation, counts, goals)
    assert_same_bias(page, evaluation, [shares])


def assert_same_break_even(
    page: Calculator,
    evaluation: Evaluation,
    counts: uc.ScoreCounts,
    goals: Iterable[tuple[str, float]] = BREAK_EVEN,
) -> None:
    """Compare where conclusions start and stop to hold."""
    share, purity = evaluation.shares.unlabeled_prevalence, evaluation.shares.label_purity
    exact = uc.Shares(share, purity, evaluation.shares.sampling)
    options: Any = {"target": evaluation.target, "confidence_level": evaluation.confidence_level}
    place = page.start()
    for metric, value in goals:
        cut = None if metric in SWEPT_AREAS else float(counts.score[place - 1])
        expected = break_even(counts, evaluation.shares, metric, value, cut, **options)
        claim = Requirement(MetricName(metric, cut), ">=", value)
        recovery = evaluation.recovery
        used = replace(recovery.used, counts=counts, recount=None)
        known = replace(recovery.unknowns, source="given", interval="", estimates={})
        recovery = replace(recovery, used=used, unknowns=known)
        judged = replace(evaluation, claim=claim, recovery=recovery).verdict
        found, bias, at = page.call(
            [
                ("judge", {"metric": metric, "at_least": True, "value": value}, place),
                ("largestBias", metric, value, place, share, purity),
                ("valueAt", metric, place, share, purity),
            ],
        )
        holds = judged.holds
        assert found["region"] == (holds and pytest.approx([holds.low, holds.high], abs=1e-6)), (
            metric,
            value,
        )
        assert as_number(bias) == pytest.approx(expected.odds_ratio, nan_ok=True, rel=1e-9)
        here = metric_value(counts, exact, metric, cut)
        if not abs(here) > 1e9:  # else a division by a rounding error
            assert as_number(at) == pytest.approx(here, nan_ok=True, **CLOSE)


@pytest.mark.parametrize("design", ["estimated", "range", "strong, share estimated here", "impure"])
@pytest.mark.parametrize("metric", ["precision", "recall"])
def test_the_bands_are_the_intervals_of_the_library(
    open_page: Any, cases: Any, design: str, metric: str
) -> None:
    # A given range by Imbens and Manski, a share estimated here end by end: as in the table.
    evaluation = cases.evaluations()[design][0]
    opened = open_page([evaluation])
    found = opened.page.evaluate(f"undercount.bandOf(undercount.models[0]).{metric}")
    counts = rebuilt(opened.facts())
    for k in (1, len(found["at"]) // 3, 2 * len(found["at"]) // 3):
        cut = float(counts.score[found["at"][k] - 1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", uc.errors.MisfitWarning)
            recovery = evaluation.recovery
            used = replace(recovery.used, counts=counts, recount=None)
            expected = replace(evaluation, recovery=replace(recovery, used=used))
            expected = expected.estimate(metric, cut)
        got = found["low"][k], found["high"][k]
        assert got == pytest.approx((expected.low, expected.high), **CLOSE)


@pytest.mark.parametrize("design", ["estimated", "case-control", "impure", "weights"])
def test_calibration_has_the_intervals_of_the_display(
    open_page: Any, cases: Any, design: str
) -> None:
    # The page groups by score, the display by number of rows: one group of all rows is the same.
    evaluation = cases.evaluations()[design][0]
    opened = open_page([evaluation])
    got = opened.page.evaluate(
        """() => {
      const model = undercount.models[0], share = model.hidden_share.value;
      const x = undercount.mix(model.sizes, "", share, model.label_purity.value, model.single);
      return undercount.calibrationEnds(model, x, [1, 1, 1]);
    }"""
    )
    counts = rebuilt(opened.facts())
    sums = [[column.sum()] for column in (counts.positive, counts.negative, counts.unlabeled)]
    whole = uc.ScoreCounts.from_counts([0.5], *sums, squared_weight=counts.squared_weight)
    columns = uc.displays.CalibrationDisplay.from_counts(whole, evaluation.shares).frame()
    assert got == pytest.approx([columns["low"][0], columns["high"][0]], **CLOSE)
    assert opened.page.locator("#calibration .whisker").count() > 0
