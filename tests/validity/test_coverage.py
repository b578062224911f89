"""How often intervals of 80, 90 and 95 % cover: every metric, both targets, three shapes of scores.

The bar at 95 % is .93 to .98 in every setting (average precision from 40 labels on: .92). A number
that chance put outside is measured again with fresh draws, and that second number is judged. At
80 and 90 % the mean over the settings is judged, which is known much better than each of them.
``python tests/validity/coverage_tables.py`` measures the same and writes the
tables of docs/evidence/validity.md.
"""

import itertools
import warnings
from functools import cache

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.special import expit

import undercount as uc
from undercount import metric_facts
from undercount.curve import PARAMETRIC
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.heads import FlaggedCounts, RatePoint
from undercount.infer.mixture import MixtureDesign
from undercount.infer.threshold_intervals import threshold_interval

SHAPES = ("normal", "skewed", "tied")
PREVALENCES = (0.05, 0.3, 0.6)
FREQUENCIES = (0.05, 0.2, 0.5, 0.8, 0.95)
GRID = list(itertools.product(SHAPES, PREVALENCES, FREQUENCIES))
N_ROWS = 4_000  # so that the smallest setting has 10 labels
N_THRESHOLD, N_AREA, N_AGAIN, N_KINDS = 4_000, 400, 2_000, 500  # repetitions
LEVELS = (0.8, 0.9, 0.95)
MAX_FPR = 0.2
AREAS = (*metric_facts.AREAS, *metric_facts.LOSSES)
# fnr, tpr and fpr are recall and specificity again; f1 is f_beta.
POINTS = tuple(
    m for m in metric_facts.THRESHOLD_METRICS if m not in ("tpr", "fnr", "fpr", *PARAMETRIC)
)
# Thresholds with a high, a middle and a low share of rows predicted positive.
CUTS = {"normal": (0.2, 1.0, 2.0), "skewed": (0.4, 1.5, 4.0), "tied": (0.0, 1.0, 3.0)}
# What may be given, how rows are drawn, and what the metric is a metric of.
DESIGNS = {
    "these rows, prevalence known": ("dataset", "prevalence", "single-sample"),
    "population, prevalence known": ("population", "prevalence", "single-sample"),
    "these rows, label frequency known": ("dataset", "label_frequency", "single-sample"),
    "population, label frequency known": ("population", "label_frequency", "single-sample"),
    "these unlabeled rows, case-control": ("dataset", "unlabeled_prevalence", "case-control"),
    "population, case-control": ("population", "unlabeled_prevalence", "case-control"),
}
MAIN = list(DESIGNS)[:2]
# Areas and losses in the other designs: fewer settings.
FEW = [setting for setting in GRID if setting[1] == 0.3 and setting[2] in (0.2, 0.8)]


def draw(rng, positive, shape):
    n = len(positive)
    if shape == "normal":
        return rng.normal(size=n) + 1.2 * positive
    if shape == "skewed":
        return rng.exponential(size=n) * np.where(positive, 3.0, 1.0)
    return np.floor(1.5 * rng.normal(size=n) + 1.8 * positive)


def as_probability(score):
    """Scores that losses can be taken of; no other metric notices the increasing map."""
    return np.clip(expit(score - 1), 1e-15, 1 - 1e-15)


def true_areas(positive, probability):
    """Metrics of fully labelled rows, in the order of AREAS, from the sorted rows themselves."""
    order = np.argsort(-probability)
    positive, probability = positive[order], probability[order]
    last = np.flatnonzero(np.diff(probability, append=-1.0))  # rows of one score stand together
    hits, flagged = np.cumsum(positive)[last], last + 1.0
    tpr = np.append(0, hits / hits[-1])
    fpr = np.append(0, (flagged - hits) / (flagged[-1] - hits[-1]))
    end = np.searchsorted(fpr, MAX_FPR)  # the curve is straight where it is cut
    cut = np.interp(MAX_FPR, fpr[end - 1 : end + 1], tpr[end - 1 : end + 1])
    partial = trapezoid(np.append(tpr[:end], cut), np.append(fpr[:end], MAX_FPR))
    chance = MAX_FPR**2 / 2
    log_losses = -np.log(np.where(positive, probability, 1 - probability))
    return np.array(
        [
            trapezoid(tpr, fpr),
            (1 + (partial - chance) / (MAX_FPR - chance)) / 2,
            np.diff(tpr) @ (hits / flagged),
            trapezoid(tpr, np.append(0, flagged / flagged[-1])),
            log_losses.mean(),
            ((positive - probability) ** 2).mean(),
        ]
    )


@cache
def population_areas(shape, prevalence):
    rng = np.random.default_rng(99)
    positive = rng.random(2_000_000) < prevalence
    return true_areas(positive, as_probability(draw(rng, positive, shape)))


@cache
def population_rates(shape, cut):
    rng = np.random.default_rng(98)
    ones = np.ones(2_000_000, dtype=bool)
    return [float((draw(rng, ones == value, shape) >= cut).mean()) for value in (True, False)]


def one_sample(rng, shape, prevalence, frequency, design):
    """Return counts, shares and the true areas of one drawn data set."""
    target, given, sampling = design
    if sampling == "case-control":
        n_labelled = int(frequency * prevalence * N_ROWS)
        positive = rng.random(N_ROWS - n_labelled) < prevalence
        score = as_probability(draw(rng, positive, shape))
        y = np.append(np.ones(n_labelled), np.full(len(positive), np.nan))
        apart = as_probability(draw(rng, np.ones(n_labelled, dtype=bool), shape))
        counts = uc.ScoreCounts.from_rows(y, np.append(apart, score))
        share = positive.mean() if target == "dataset" else prevalence
        shares = uc.Shares(share, sampling="case-control")
    else:
        positive = np.arange(N_ROWS) < prevalence * N_ROWS
        if target == "population":
            positive = rng.random(N_ROWS) < prevalence
        score = as_probability(draw(rng, positive, shape))
        labelled = positive & (rng.random(N_ROWS) < frequency)
        if design == ("dataset", "prevalence", "single-sample"):
            labelled = np.arange(N_ROWS) < round(frequency * positive.sum())
        if not labelled.any():
            return None  # one draw in 20,000 of those with ten labels on average
        counts = uc.ScoreCounts.from_rows(np.where(labelled, 1.0, np.nan), score)
        if given == "label_frequency":
            shares = uc.Shares.from_label_frequency(counts, frequency)
        elif target == "dataset":
            shares = uc.Shares.from_positives(counts, positive.sum())
        elif counts.n_positive > prevalence * N_ROWS:
            return None  # the given prevalence is impossible for these labels
        else:
            shares = uc.Shares.from_prevalence(counts, prevalence)
    if target == "population":
        return counts, shares, population_areas(shape, prevalence)
    return counts, shares, true_areas(positive, score)


def n_labels(setting):
    return setting[1] * setting[2] * N_ROWS


def bar(metric, setting):
    """What a coverage must lie between."""
    if metric != "average_precision":
        return 0.93, 0.98
    return (0.92, 0.98) if n_labels(setting) >= 40 else (0.0, 1.0)


def share_covered(setting, name, repetitions, seed, metrics=AREAS, levels=LEVELS):
    """Return the shares of intervals that cover, shape (metrics, levels)."""
    rng = np.random.default_rng([seed, GRID.index(setting), list(DESIGNS).index(name)])
    design, covered = DESIGNS[name], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uc.SmallSampleWarning)
        warnings.simplefilter("ignore", uc.MisfitWarning)
        warnings.simplefilter("ignore", uc.UndefinedMetricWarning)  # of a single label
        for _ in range(repetitions):
            sample = one_sample(rng, *setting, design)
            if sample is None:
                continue
            counts, shares, truth = sample
            options = {"target": design[0], "max_fpr": MAX_FPR}
            right = dict(zip(AREAS, truth, strict=True))
            row = []
            for metric, level in itertools.product(metrics, levels):
                found = estimate_metric(counts, shares, metric, confidence_level=level, **options)
                row.append(found.low <= right[metric] <= found.high)
            covered.append(row)
    return np.mean(covered, axis=0).reshape(len(metrics), len(levels))


@cache
def area_coverage(setting, name):
    """Return coverages, shape (AREAS, LEVELS), and the repetitions that those at .95 rest on."""
    coverage = share_covered(setting, name, N_AREA, seed=7)
    limits = np.array([bar(metric, setting) for metric in AREAS])
    outside = (coverage[:, -1] < limits[:, 0]) | (coverage[:, -1] > limits[:, 1])
    if outside.any():
        metrics = tuple(np.array(AREAS)[outside].tolist())
        again = share_covered(setting, name, N_AGAIN, 8, metrics, LEVELS[-1:])
        coverage[outside, -1] = again[:, 0]
    return coverage, np.where(outside, N_AGAIN, N_AREA)


def drawn_heads(rng, rates, prevalence, frequency, design, size):
    """Draw the counts that threshold metrics rest on: head counts, design, true table."""
    (target, given, sampling), (tpr, fpr) = design, rates
    if sampling == "case-control":
        labelled = np.full(size, int(frequency * prevalence * N_ROWS))
        rows = N_ROWS - labelled
        positives = rng.binomial(rows, prevalence)
        hits, false = rng.binomial(positives, tpr), rng.binomial(rows - positives, fpr)
        seen = rng.binomial(labelled, tpr)
        heads, sizes = (seen, hits + false), (labelled, rows)
        value = prevalence if target == "population" else positives / rows
    else:
        rows = np.full(size, N_ROWS)
        positives = np.full(size, int(prevalence * N_ROWS))
        if target == "population":
            positives = rng.binomial(N_ROWS, prevalence, size)
        hits, false = rng.binomial(positives, tpr), rng.binomial(rows - positives, fpr)
        if given == "prevalence" and target == "dataset":
            labelled = np.rint(frequency * positives).astype(int)
            seen = rng.hypergeometric(hits, positives - hits, labelled)
        else:
            seen = rng.binomial(hits, frequency)
            labelled = seen + rng.binomial(positives - hits, frequency)
        heads, sizes = (seen, hits + false - seen), (labelled, rows - labelled)
        value = frequency
        if given == "prevalence":
            value = prevalence if target == "population" else positives / rows
    zero = np.zeros(size)
    plan = MixtureDesign(
        np.stack([*sizes, zero]).astype(float), np.ones((3, size)), given, value, 1.0,
        sampling, target,
    )  # fmt: skip
    return FlaggedCounts(np.stack([*heads, zero]).astype(float), plan), (
        hits,
        false,
        positives,
        rows,
    )


@cache
def point_coverage(setting, name, repetitions=N_THRESHOLD, kind="wilson", names=POINTS):
    """Return the smallest and largest coverage over the cuts, shape (names, LEVELS)."""
    shape, prevalence, frequency = setting
    design = DESIGNS[name]
    rng = np.random.default_rng(8)
    results = []
    for cut in CUTS[shape]:
        rates = population_rates(shape, cut)
        heads, table = drawn_heads(rng, rates, prevalence, frequency, design, repetitions)
        hits, false, positives, rows = table
        possible = np.ones(repetitions, dtype=bool)
        truth = RatePoint(np.array(rates[0]), np.array(rates[1]), prevalence)
        if design[0] == "dataset":
            truth = RatePoint(hits / positives, false / (rows - positives), positives / rows)
        if design == ("population", "prevalence", "single-sample"):
            possible = heads.design.sizes[0] <= prevalence * N_ROWS
        results.append([_held(heads, truth, metric, possible, kind) for metric in names])
    return np.min(results, axis=0), np.max(results, axis=0)


def _held(heads, truth, name, possible, kind):
    true, found = truth.metric(name), []
    for level in LEVELS:
        _, low, high = threshold_interval(heads, name, confidence_level=level, kind=kind)
        found.append(np.mean(((low <= true + 1e-12) & (true <= high + 1e-12))[possible]))
    return found


def slack(repetitions):
    """Three standard errors of a simulated coverage of 95 %."""
    return 3 * (0.05 * 0.95 / repetitions) ** 0.5


def judged(metric, name):
    """The share predicted positive of these very rows is known: its interval is a point."""
    return metric != "predicted_positive_rate" or DESIGNS[name][0] != "dataset"


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("shape", SHAPES)
def test_threshold_metrics_cover(name, shape):
    chosen = np.array([judged(metric, name) for metric in POINTS])
    for setting in (setting for setting in GRID if setting[0] == shape):
        low, high = point_coverage(setting, name)
        assert (low[chosen, -1] >= 0.93 - slack(N_THRESHOLD)).all(), (setting, low)
        assert (high[chosen, -1] <= 0.98 + slack(N_THRESHOLD)).all(), (setting, high)


def check_areas(setting, name):
    coverage, repetitions = area_coverage(setting, name)
    for metric, share, runs in zip(AREAS, coverage[:, -1], repetitions, strict=True):
        low, high = bar(metric, setting)
        assert low - slack(runs) <= share <= high + slack(runs), metric


@pytest.mark.slow
@pytest.mark.parametrize("setting", GRID, ids=str)
@pytest.mark.parametrize("name", MAIN)
def test_areas_and_losses_cover(name, setting):
    check_areas(setting, name)


@pytest.mark.slow
@pytest.mark.parametrize("setting", FEW, ids=str)
@pytest.mark.parametrize("name", list(DESIGNS)[2:])
def test_areas_and_losses_cover_in_other_designs(name, setting):
    check_areas(setting, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAIN)
def test_areas_and_losses_cover_on_average(name):
    """Many settings together know the mean coverage at .95 to ±.005, much better than each."""
    settings = [setting for setting in GRID if n_labels(setting) >= 40]
    found = [share_covered(setting, name, 40, seed=9) for setting in settings]
    mean = np.mean(found, axis=0)
    assert (mean >= [0.77, 0.88, 0.935]).all(), mean
    assert (mean <= [0.86, 0.94, 0.97]).all(), mean


def test_intervals_cover_in_one_setting():
    """The fast version of the tests above."""
    setting, name = ("normal", 0.3, 0.5), "population, prevalence known"
    low, high = point_coverage(setting, name, 1_000)
    assert (low[:, -1] >= 0.95 - slack(1_000)).all()
    assert (high[:, -1] <= 0.95 + slack(1_000)).all()
    assert (share_covered(setting, name, 60, seed=9)[:, -1] >= 0.8).all()
