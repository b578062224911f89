"""The bootstrap of the whole calculation, with estimators whose answers are known."""

import itertools
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import undercount as uc
from undercount.errors import MISSING_DATA
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.metric_at import MetricAt
from undercount.infer.resampled import Resamples, _spread_out, share_interval
from undercount.infer.scored_rows import count_model
from undercount.prevalence import Fitted, ScoreEstimator


class HeadRatio(ScoreEstimator):
    """The share that makes the precision at score 1 one half: P_U(s >= 1) / P_L(s >= 1) / 2."""

    def _estimate(self, counts):
        head = counts.score >= 1
        labelled = counts.positive[head].sum() / counts.n_positive
        return Fitted(float(counts.unlabeled[head].sum() / counts.n_unlabeled / labelled / 2))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    truth = rng.random(4000) < 0.3
    y = np.where(truth & (rng.random(4000) < 0.4), 1, 0)
    return y, rng.normal(2.5 * truth)


def test_share_and_counts_move_together(rows):
    """Precision a·g/q is the same in every resample, though a and q vary by themselves."""
    y, score = rows
    found = uc.evaluate(
        y,
        score,
        unlabeled=0,
        assume=uc.RandomLabels(
            unlabeled_prevalence=HeadRatio(n_resamples=0),
            sampling="case-control",
            interval="bootstrap",
            n_resamples=40,
        ),
        threshold=1.0,
    )
    precision = next(row.estimate for row in found.rows if row.metric == "precision")
    assert precision.value == pytest.approx(0.5, abs=1e-9)
    # But for the curvature of a ratio there is no spread; in another order there is a lot.
    assert precision.interval.width < 0.005
    assert precision.standard_error < 1e-9
    apart = replace(found.unknowns.resamples, used=np.roll(found.unknowns.resamples.used, 1))
    assert apart.estimate(found.counts, precision, MetricAt("precision", 1.0)).standard_error > 0.01
    span = found.shares.unlabeled_prevalence_interval
    assert span.width > 0.005
    assert found.unknowns.interval == "bootstrap"
    assert "resampling the whole calculation" in str(found)


def test_bootstrap_of_the_default_estimator(rows):
    y, score = rows
    told = []
    options = {"unlabeled": 0, "threshold": 1.0}
    alone, both = (uc.RandomLabels(interval=k, n_resamples=30) for k in ("bootstrap", "combined"))
    plain = uc.evaluate(y, score, unlabeled=0, threshold=1.0)
    found = uc.evaluate(y, score, assume=alone, progress=told.append, **options)
    wide = uc.evaluate(y, score, assume=both, **options)
    again = uc.evaluate(y, score, assume=alone, **options)
    assert again.to_json() == found.to_json()
    assert told == pytest.approx(np.arange(1, 31) / 30)
    values = [e.shares.unlabeled_prevalence for e in (plain, found, wide)]
    assert values[0] == values[1] == values[2]
    spans = [e.shares.unlabeled_prevalence_interval for e in (plain, found, wide)]
    assert spans[1].width < spans[0].width <= spans[2].width
    assert [e.unknowns.interval for e in (plain, found, wide)] == [
        "calibrated",
        "bootstrap",
        "combined",
    ]
    for one, two, three in zip(plain.rows, found.rows, wide.rows, strict=True):
        if "prevalence" in one.estimate.needs:
            assert two.estimate.interval.width < three.estimate.interval.width
            assert two.estimate.low <= two.estimate.value <= two.estimate.high
        else:
            # Only how many positives carry no label matters: the higher end of the share's interval
            # makes the wider interval.
            widths = [each.estimate.interval.width for each in (one, two, three)]
            for (span, width), (other, wider) in itertools.permutations(
                zip(spans, widths, strict=True), 2
            ):
                assert span.high >= other.high or width <= wider
    # Another threshold, asked later, goes the same way.
    assert "bootstrap" in found.at(0.5)[1].estimate.method
    assert json.loads(wide.to_json())["models"][0]["hidden_share"]["interval"] == "combined"


TENTHS = np.linspace(0.95, 0.05, 10)


@pytest.fixture(scope="module")
def tenths():
    """Return an evaluation of rows with ten different scores, whose resamples are exact."""
    rng = np.random.default_rng(11)
    truth = rng.random(3000) < 0.3
    place = np.clip(rng.normal(5.5 - 3 * truth, 3), 0, 9).astype(int)
    y = np.where(truth & (rng.random(3000) < 0.4), 1, 0)
    assume = uc.RandomLabels(interval="bootstrap", n_resamples=25)
    return uc.evaluate(y, TENTHS[place], unlabeled=0, assume=assume, threshold=0.65)


def recovered(counts, share):
    """Return the rows, and the positives, at each score of a resample."""
    labels, others = counts.positive, counts.unlabeled
    positives = labels.sum() + share * others.sum()
    return labels + others, labels / labels.sum() * positives


def read_top(counts, share):
    """Return the precision of the 1500 highest of 3000 rows, tied ones by their chance."""
    rows, positives = recovered(counts, share)
    taken = np.clip(1500 - (np.cumsum(rows) - rows), 0, rows)
    return taken @ (positives / rows) / 1500


def read_cost(counts, share):
    """Return the mean cost where an alarm costs 0.2 and a missed positive 0.8."""
    rows, positives = recovered(counts, share)
    flagged = counts.score >= 0.65
    return (0.2 * (rows - positives)[flagged].sum() + 0.8 * positives[~flagged].sum()) / rows.sum()


def read_benefit(counts, share):
    rows, positives = recovered(counts, share)
    flagged = counts.score >= 0.65
    return (positives - 0.25 * (rows - positives))[flagged].sum() / rows.sum()


def read_log_loss(counts, share):
    rows, positives = recovered(counts, share)
    loss = positives * -np.log(counts.score) + (rows - positives) * -np.log(1 - counts.score)
    return loss.sum() / rows.sum()


READ = {
    "precision": (read_top, {"top": 1500}),
    "expected_cost": (read_cost, {"threshold": 0.65, "beta": 0.2}),
    "net_benefit": (read_benefit, {"threshold": 0.65, "beta": 0.25}),
    "log_loss": (read_log_loss, {}),
}


@pytest.mark.parametrize("metric", READ)
def test_highest_rows_costs_and_losses_are_read_of_each_resample(tenths, metric):
    read, place = READ[metric]
    resamples, share = tenths.unknowns.resamples, tenths.shares.unlabeled_prevalence
    recovery, at = tenths.recovery, MetricAt(metric, **place)
    estimate = recovery.measure(at, recovery.used.recount.count_every_score())
    values = [read(c, s) for c, s in zip(resamples.drawn, resamples.used, strict=True)]
    value = read(tenths.counts.canonical, share)
    middle = np.mean([read(drawn, share) for drawn in resamples.drawn])
    low, high = value + np.quantile(values, [0.025, 0.975]) - middle
    assert estimate.value == pytest.approx(value, abs=1e-9)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=1e-9)
    assert estimate.standard_error == pytest.approx(np.std(values, ddof=1))


@pytest.mark.parametrize("metric", ["log_loss", "brier_score"])
def test_cells_of_many_scores_keep_the_mean_loss(metric):
    """Rows as they were counted have the loss of the rows, however few cells hold them."""
    rng = np.random.default_rng(12)
    truth = rng.random(5000) < 0.4
    score = 1 / (1 + np.exp(-rng.normal(3 * truth - 1.5)))
    y = np.where(truth & (rng.random(5000) < 0.5), 1, 0)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    shares, cells = uc.Shares(0.2), counts.canonical.coarsened(64)
    fixed = np.full(25, 0.2)
    resamples = Resamples(cells, (cells,) * 25, fixed, shares, fixed)
    read = resamples._reader(counts, MetricAt(metric))
    value = estimate_metric(counts, shares, metric).value
    assert read(cells, shares) == pytest.approx(value, abs=1e-12)


def by_bootstrap(y, score, **options):
    assume = uc.RandomLabels(
        unlabeled_prevalence=HeadRatio(n_resamples=0), interval="bootstrap", n_resamples=400
    )
    return uc.evaluate(y, score, unlabeled=0, threshold=1.5, assume=assume, **options)


PLACES = ("precision", "average_precision", "precision@top 1200")


@pytest.mark.parametrize("weighted", [False, True])
def test_copies_of_a_row_in_one_cluster_say_no_more_than_the_row(rows, weighted):
    """Clusters of three copies have the error of the rows; copies for themselves a smaller one."""
    y, score = rows
    weight = np.random.default_rng(8).choice([0.5, 1.0, 2.0], len(y))
    options = {"sample_weight": weight} if weighted else {}
    once = by_bootstrap(y, score, **options)
    copies = {name: np.repeat(values, 3) for name, values in options.items()}
    three = np.repeat(y, 3), np.repeat(score, 3)
    cluster = np.repeat(np.arange(len(y)), 3)
    alike, apart = by_bootstrap(*three, cluster=cluster, **copies), by_bootstrap(*three, **copies)
    for metric in PLACES:
        other = metric.replace("1200", "3600")
        error = once[metric].standard_error
        # Errors of 400 resamples are off by 3.5 % each.
        assert alike[other].standard_error == pytest.approx(error, rel=0.16), metric
        assert apart[other].standard_error == pytest.approx(error / 3**0.5, rel=0.16), metric


def test_clusters_are_drawn_as_a_whole():
    """Rows of a cluster are drawn equally often, so that sizes of three stay multiples of it."""
    rng = np.random.default_rng(9)
    place, size = np.repeat(np.arange(60), 3), 180
    score, y = np.repeat(np.arange(60) % 12, 3), np.repeat(np.arange(60) % 3 == 0, 3)
    order = rng.permutation(size)
    rows = count_model(y[order], score[order] * 1.0, 0, None, None, compact=False)
    clusters = rows.with_clusters(place[order]).row_clusters
    draws = list(clusters.resampled(rows.counts, n_resamples=200, random_state=1))
    cells = np.array([[*draw.positive, *draw.unlabeled] for draw in draws])
    assert (cells % 3 == 0).all()
    assert (cells.sum(axis=1) == size).all()
    own = np.array([*rows.counts.positive, *rows.counts.unlabeled])
    # A cell of c clusters is binomial: 3 Binomial(60, c / 60).
    error = 3 * np.sqrt(own / 3 * (1 - own / 180) / 200)
    assert (np.abs(cells.mean(axis=0) - own) <= 4 * error).all()
    assert cells[:, own > 0].std(axis=0) == pytest.approx(error[own > 0] * 200**0.5, rel=0.25)


def test_metrics_without_a_prevalence_keep_the_interval_of_clusters(rows):
    y, score = rows
    found = by_bootstrap(y, score, cluster=np.arange(len(y)) // 4)
    own = estimate_metric(
        found.counts, found.shares, "recall", threshold=1.5, clusters=found.recovery.clusters
    )
    assert (found["recall"].low, found["recall"].high) == (own.low, own.high)


def test_counts_with_pairs_of_clusters_cannot_be_drawn_by_cluster():
    frame = {"y": [1, 0] * 60, "p": np.arange(120) % 7, "who": np.arange(120) // 3}
    counts = uc.count_scores(
        pl.DataFrame(frame).lazy(), label="y", score="p", unlabeled=0, cluster="who"
    )
    with pytest.raises(uc.InputError, match="interval needs rows in memory") as refusal:
        uc.evaluate(counts, assume=uc.RandomLabels(interval="bootstrap"))
    assert refusal.value.code == MISSING_DATA


def test_spread_out_shares_have_the_estimators_interval_and_keep_the_order():
    rng = np.random.default_rng(0)
    found = rng.normal(0.3, 0.02, 2000)
    shares = uc.Shares(uc.Estimate(0.3, 0.1, 0.36, 0.066))
    spread = _spread_out(found, shares, 0.95)
    low, high = np.quantile(spread, [0.025, 0.975])
    assert (low, high) == pytest.approx((0.1, 0.36), abs=0.005)
    # Noise of .02 in a spread of .075 (root mean square of both sides): a correlation of .27.
    assert np.corrcoef(found, spread)[0, 1] == pytest.approx(0.27, abs=0.05)
    # Noise beyond the interval widens it.
    noisy = rng.normal(0.3, 0.1, 2000)
    assert np.std(_spread_out(noisy, shares, 0.95)) > 0.09


def test_combined_interval_of_the_share_holds_both():
    found = np.linspace(0.2, 0.4, 101)
    span = share_interval(found, uc.Interval(0.25, 0.5), "combined", 0.9)
    assert (span.low, span.high) == pytest.approx((0.21, 0.5))


BAD = {
    "kind": (
        {"assume": uc.RandomLabels(interval="jackknife")},
        "must be one of calibrated, bootstrap",
    ),
    "given": ({"assume": uc.RandomLabels(0.3, interval="bootstrap")}, "prevalence was given"),
    "few": ({"assume": uc.RandomLabels(interval="bootstrap", n_resamples=5)}, "at least 20; got 5"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(rows, case):
    y, score = rows
    options, message = BAD[case]
    with pytest.raises(uc.InputError, match=message):
        uc.evaluate(y, score, unlabeled=0, **options)
