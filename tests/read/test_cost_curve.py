"""Costs along the thresholds: values by hand, bands, what is shown, and what is refused."""

import numpy as np
import pytest
from scipy.stats import hypergeom

import undercount as uc
from undercount.infer.estimate_metric import estimate_metric
from undercount.read.cost_curve import cost_curve
from undercount.show.costs import cost_table, spread_words

COSTS = {"false_positive": 2.0, "false_negative": 8.0}


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.2
    y = np.where(truth & (rng.random(3000) < 0.5), 1.0, np.nan)
    score = rng.normal(1.5 * truth)
    return uc.evaluate(y, score, prevalence=0.2, threshold=1.0)


def test_costs_are_those_of_the_counts():
    # Four positives of ten rows; of the two labelled ones one is among the three highest: recall
    # is one half, two positives are missed, and of three flagged rows one is wrong.
    y = [None, None, 1, None, None, 1, None, None, None, None]
    evaluation = uc.evaluate(y, np.arange(10.0)[::-1], prevalence=0.4, threshold=7.0)
    curve = cost_curve(evaluation, COSTS, 10)
    assert curve.none == pytest.approx(0.4 * 8)
    assert curve.everything == pytest.approx(0.6 * 2)
    assert curve.points[-1].value == pytest.approx(curve.everything)
    assert curve.here.value == pytest.approx((2 * 1 + 8 * 2) / 10)


def test_net_benefit_is_the_same_curve_in_other_units(found):
    curve = cost_curve(found, COSTS)
    for cost, benefit in zip(curve.points, curve.benefits, strict=True):
        assert benefit.value == pytest.approx(0.2 - cost.value / 8)
        assert (benefit.low, benefit.high) == pytest.approx(
            (0.2 - cost.high / 8, 0.2 - cost.low / 8), abs=1e-9
        )
        assert cost.low <= cost.value <= cost.high
    assert not cost_curve(found, {"false_positive": 1.0}, 3).benefits


def test_the_table_has_the_best_threshold_and_the_own_one(found):
    curve = cost_curve(found, COSTS, 6)
    _, rows = cost_table(curve)
    cells = {row[0].partition(" ")[2]: row for row in rows}
    assert cells["(yours)"][0] == "1 (yours)"
    assert cells["(yours)"][1] == f"{sum(found.counts.heads_at(1.0)):,.0f}"
    assert cells["(yours)"][2] == spread_words(curve.here)
    best = found.cost(curve.best.threshold, **COSTS)
    assert cells["(least)"][2] == spread_words(best)
    assert best.value <= min(point.value for point in curve.points)
    assert list(curve.flagged) == sorted(curve.flagged)


def test_costs_are_printed_and_drawn(found, tmp_path):
    costed = found.costing(**COSTS)
    printed = str(costed)
    assert "a false positive 2, a false negative 8" in printed
    assert "net benefit" in printed
    path = tmp_path / "page.html"
    costed.to_html(path)
    page = path.read_text(encoding="utf-8")
    assert "What errors cost" in page
    assert "<polygon" in page
    found.to_html(path)
    assert "What errors cost" not in path.read_text(encoding="utf-8")


def test_what_is_no_cost_is_refused(found):
    with pytest.raises(uc.InputError, match="not negative"):
        found.costing(false_positive=-1, false_negative=2)
    with pytest.raises(uc.InputError, match="'false_positive': 5"):
        found.best_threshold(cost=9)
    with pytest.raises(uc.InputError, match=r"chance must be in \(0, 1\)"):
        uc.metrics.net_benefit([1, 0], [2, 1], threshold=1, chance=1, unlabeled=0, prevalence=0.6)


def test_costs_of_a_resampled_share_are_read_of_each_resample():
    labels, score = np.where(np.arange(400) % 4 == 0, 1.0, np.nan), -np.arange(400.0) % 37
    given = uc.evaluate(labels, score, unlabeled_prevalence=0.2)
    resampled = uc.RandomLabels(interval="bootstrap", n_resamples=20)
    cost = uc.evaluate(labels, score, assume=resampled).cost(10.0, **COSTS)
    assert cost.low < cost.value < cost.high
    assert cost.standard_error > given.cost(10.0, **COSTS).standard_error


@pytest.mark.parametrize(
    ("rows", "positives", "labelled", "flagged", "hits"),
    [(2000, 400, 240, 450, 220), (1200, 120, 36, 90, 50), (800, 160, 64, 150, 90)],
)
@pytest.mark.filterwarnings("ignore::undercount.MisfitWarning")  # some labelings look impossible
def test_over_all_labelings_intervals_of_costs_cover(rows, positives, labelled, flagged, hits):
    # Labels are drawn without replacement: how many are flagged is hypergeometric, and the chances
    # of the labelings whose interval holds the truth add up to the coverage, without simulation.
    seen = np.arange(max(0, labelled - (positives - hits)), min(labelled, hits) + 1)
    chances = hypergeom.pmf(seen, positives, hits, labelled)
    truth = (0.1 * (flagged - hits) + 0.9 * (positives - hits)) / rows
    benefit = (hits - 0.25 * (flagged - hits)) / rows
    covered = np.zeros(2)
    for number, chance in zip(seen[chances > 1e-6].tolist(), chances[chances > 1e-6], strict=True):
        known = np.array([number, labelled - number])
        rest = np.array([flagged, rows - flagged]) - known
        counts = uc.ScoreCounts.from_counts([1.0, 0.0], known, [0, 0], rest)
        shares = uc.Shares.from_prevalence(counts, positives / rows, target="dataset")
        for place, (metric, beta, true) in enumerate(
            [("expected_cost", 0.1, truth), ("net_benefit", 0.25, benefit)]
        ):
            found = estimate_metric(
                counts, shares, metric, threshold=1.0, target="dataset", beta=beta
            )
            covered[place] += chance * (found.low - 1e-9 <= true <= found.high + 1e-9)
    assert ((covered >= 0.93) & (covered <= 0.975)).all()
