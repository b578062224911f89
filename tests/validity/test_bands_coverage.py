"""How often bands hold the hidden positives' distribution, and bounds the true curve.

Run with ``-s`` to see the tables that stand in ``docs/papers/claesen2015.md``.
"""

import warnings

import numpy as np
import pytest
from scipy.special import expit

from undercount.assume.bounds.bound_curve import bound_curve
from undercount.counts import ScoreCounts
from undercount.errors import MisfitWarning
from undercount.estimate import Estimate
from undercount.infer.labelled import labelled_curve
from undercount.shares import Shares
from undercount.show.displays import (
    N_GROUPS,
    CalibrationDisplay,
    LiftDisplay,
    PrecisionRecallDisplay,
    RocDisplay,
)
from undercount.theory.bands import cdf_band

FREQUENCIES = (0.05, 0.2, 0.5, 0.8, 0.95)
PREVALENCES = (0.05, 0.3, 0.6)
SHAPES = ("normal", "skewed", "tied")
ROWS = 1000


def positive_scores(shape, rng, size):
    if shape == "normal":
        return rng.normal(1, 1, size)
    if shape == "skewed":
        return rng.lognormal(0.5, 1, size)
    return rng.integers(0, 15, size).astype(float)


def coverage(shape, frequency, prevalence, *, runs, **options):
    """Share of runs in which the band holds the hidden positives' distribution at all scores."""
    rng = np.random.default_rng(1)
    n_positive = round(prevalence * ROWS)
    n_labelled = max(1, round(frequency * n_positive))
    n_hidden = n_positive - n_labelled
    # A band depends on the labels above a score only, so one call gives it for 0, 1, ... labels.
    band = cdf_band(np.append(0, np.ones(n_labelled)), n_hidden=n_hidden, **options)
    held = 0
    for _ in range(0, runs, 500):
        scores = -np.sort(-positive_scores(shape, rng, (500, n_positive)), axis=1)
        chosen = rng.random((500, n_positive)).argsort(axis=1) < n_labelled
        labelled = np.cumsum(chosen, axis=1)
        share = (np.arange(1, n_positive + 1) - labelled) / n_hidden
        inside = (band.lower[labelled] <= share + 1e-9) & (share <= band.upper[labelled] + 1e-9)
        # Rows of one score stand together: only the last of them is a threshold.
        last = np.diff(scores, axis=1, append=-np.inf) < 0
        held += (inside | ~last).all(axis=1).sum()
    return held / runs


def show(title, header, rows):
    print(f"\n{title}\n| {' | '.join(header)} |\n|{'---|' * len(header)}")  # noqa: T201
    for row in rows:
        cells = " | ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row)
        print(f"| {cells} |")  # noqa: T201


@pytest.mark.slow
def test_simultaneous_bands_cover_the_hidden_positives():
    rows = []
    for frequency in FREQUENCIES:
        for prevalence in PREVALENCES:
            exact = [
                coverage(shape, frequency, prevalence, runs=4000, band="hypergeometric")
                for shape in SHAPES
            ]
            others = [
                coverage("normal", frequency, prevalence, runs=2000, band=band, **options)
                for band, options in (
                    ("dkw", {}),
                    ("binomial", {}),
                    ("binomial", {"simultaneous": False}),
                )
            ]
            rows.append((frequency, prevalence, *map(float, exact), *map(float, others)))
    header = ["labelled", "prevalence", *SHAPES, "DKW", "binomial", "binomial, pointwise"]
    show("Simultaneous coverage of the hidden positives, nominal .95", header, rows)
    for row in rows:
        assert min(row[2:5]) >= 0.94, row
        assert row[5] >= 0.94, row
        assert row[7] < 0.3, row  # what the paper publishes as a 95 % band


@pytest.mark.slow
@pytest.mark.parametrize("basis", ["positive", "negative", "tightest"])
def test_bounds_hold_the_true_curve(basis):
    rows = []
    for frequency, prevalence in ((0.2, 0.3), (0.5, 0.3), (0.8, 0.3), (0.5, 0.05), (0.5, 0.6)):
        for shape in SHAPES:
            held = [holds(shape, frequency, prevalence, basis, seed) for seed in range(300)]
            rows.append((frequency, prevalence, shape, *map(float, np.mean(held, axis=0))))
    show(f"Bounds, basis {basis}", ["labelled", "prevalence", "scores", "curve", "AUC"], rows)
    for row in rows:
        # 300 runs: two standard errors below .95
        assert row[3] >= 0.925, row
        assert row[4] >= row[3], row


def holds(shape, frequency, prevalence, basis, seed):
    """Whether the bounds hold the whole true curve, and its area."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(400) < prevalence * 400).astype(float)
    score = positive_scores(shape, rng, 400) - (truth == 0)
    chosen = rng.permutation(np.arange(400)[truth == 1])[: round(frequency * truth.sum())]
    y = np.full(400, np.nan)
    y[chosen] = 1
    negatives = rng.permutation(np.arange(400)[truth == 0])
    y[negatives[: round(0.2 * len(negatives))]] = 0
    counts = ScoreCounts.from_rows(y, score)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)  # a band that misses may also misfit
        bounds = bound_curve(counts, Shares.from_positives(counts, truth.sum()), basis=basis)
    above = score[:, np.newaxis] >= counts.score
    tpr, fpr = above[truth == 1].mean(axis=0), above[truth == 0].mean(axis=0)
    inside = (bounds.pessimistic.tpr[1:] <= tpr + 1e-9) & (tpr <= bounds.optimistic.tpr[1:] + 1e-9)
    steps = np.append(0, tpr)
    area = np.sum(np.diff(np.append(0, fpr)) * (steps[1:] + steps[:-1])) / 2
    return inside.all(), bounds.roc_auc.low - 1e-9 <= area <= bounds.roc_auc.high + 1e-9


# Widths of the published bounds: labelled share of positives and of negatives, factor on the
# prevalence, width (Claesen's thesis, 2015, Table 2: 2,000 positives N(1, 1), 10,000 negatives).
PUBLISHED = [
    (0.1, 0.0, 0.8, 0.0963),
    (0.1, 0.0, 1.0, 0.1017),
    (0.1, 0.4, 1.0, 0.0795),
    (0.1, 0.8, 1.2, 0.0136),
    (0.3, 0.2, 1.0, 0.0479),
    (0.3, 0.6, 0.8, 0.0383),
    (0.5, 0.0, 1.0, 0.0249),
    (0.5, 0.8, 1.0, 0.0187),
    (0.7, 0.2, 1.2, 0.0152),
]


@pytest.mark.slow
@pytest.mark.parametrize(("positives", "negatives", "factor", "width"), PUBLISHED)
def test_the_papers_own_band_has_its_published_width(positives, negatives, factor, width):
    n_labelled, n_negative = round(2000 * positives), round(10_000 * negatives)
    share = (2000 - n_labelled) / (12_000 - n_labelled - n_negative)
    widths = []
    for seed in range(8):
        truth = np.repeat([1.0, 0.0], [2000, 10_000])
        y = np.full(12_000, np.nan)
        y[:n_labelled], y[2000 : 2000 + n_negative] = 1, 0
        score = np.random.default_rng(seed).normal(truth, 1)
        counts = ScoreCounts.from_rows(y, score, compact=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MisfitWarning)
            bounds = bound_curve(
                counts,
                Shares(factor * share),
                band="binomial",
                simultaneous=False,
                rounding="paper",
                basis="tightest" if negatives else "positive",
            )
        widths.append(bounds.roc_auc.width)
    assert np.mean(widths) == pytest.approx(width, rel=0.15)


# Distance of normal scores, prevalence, label frequency, rows, standard error of the share.
UNCERTAIN = [(1.5, 0.3, 0.4, 2000, 0.04), (1.0, 0.15, 0.5, 2500, 0.02), (2.5, 0.3, 0.7, 1000, 0.03)]


@pytest.mark.slow
@pytest.mark.parametrize("setting", UNCERTAIN)
def test_drawn_bands_hold_the_whole_curve_at_an_estimated_share(setting):
    distance, prevalence, frequency, n, error = setting
    rng = np.random.default_rng(7)
    kinds = (RocDisplay, PrecisionRecallDisplay, LiftDisplay)
    held = {kind: [] for kind in kinds}
    for _ in range(150):
        truth = rng.random(n) < prevalence
        score = rng.normal(distance * truth)
        y = np.where(truth & (rng.random(n) < frequency), 1, 0)
        share = max(truth[y == 0].mean() + error * rng.normal(), 0.001)
        reach = 1.96 * error
        taken = Estimate(share, max(share - reach, 0.0), share + reach, error, 0.95, (), "drawn")
        counts = ScoreCounts.from_rows(y, score, unlabeled=0)
        true = labelled_curve(ScoreCounts.from_rows(truth, score))
        for kind in kinds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MisfitWarning)
                place, low, high = kind.from_counts(counts, Shares(taken)).band().values()
            x, height = getattr(true, kind.x), getattr(true, kind.y)
            known = ~np.isnan(height)
            height = np.interp(place, x[known], height[known])
            inner = (place > 0.02) & (place < 0.98)
            held[kind].append(((height >= low - 1e-9) & (height <= high + 1e-9))[inner].all())
    for kind in kinds:
        assert np.mean(held[kind]) >= 0.93 - 0.04, kind  # less two standard errors of 150 draws


# How scores are drawn, rows, label frequency (or labels drawn apart), relative error of the share.
CALIBRATED = [
    ("logit", 2000, 0.3, 0.0),
    ("beta", 1500, 0.5, 0.25),
    ("rare", 6000, 0.6, 0.0),
    ("steps", 2000, 0.2, 0.25),
    ("logit", 1500, 150, 0.0),
]


def chances(shape, rng, n):
    """Return scores, and the chance of being positive at each, which is another number."""
    if shape == "beta":
        chance = rng.beta(0.6, 4, n)
        return chance**0.7, chance
    middle, bend = {"logit": (-1.2, 1.5), "rare": (-4.5, 1.0), "steps": (-1.0, 1.0)}[shape]
    odds = rng.normal(middle, 1.5, n)
    if shape == "steps":
        odds = np.floor(2 * odds) / 2
    return expit(bend * odds), expit(odds)


@pytest.mark.slow
@pytest.mark.parametrize("setting", CALIBRATED)
def test_intervals_of_calibration_cover_in_every_group(setting):
    shape, n, labels, error = setting
    rng = np.random.default_rng([3, n])
    held = np.full((400, N_GROUPS), np.nan)
    for draw in held:
        score, chance = chances(shape, rng, n)
        truth = rng.random(n) < chance
        y = np.where(truth & (rng.random(n) < labels), 1, np.nan)
        rows, sampling = score, "single-sample"
        if labels >= 1:
            more, likely = chances(shape, rng, 60 * labels)
            apart = more[rng.random(60 * labels) < likely][:labels]
            y = np.append(np.ones(labels), np.full(n, np.nan))
            rows, sampling = np.append(apart, score), "case-control"
        counts = ScoreCounts.from_rows(y, rows)
        hidden = truth[np.isnan(y[-n:])].mean()
        spread = error * hidden
        found = max(rng.normal(hidden, spread), 0.05 * hidden)
        ends = max(found - 1.96 * spread, 0.0), found + 1.96 * spread
        share = Estimate(found, *ends, spread, 0.95) if error else hidden
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MisfitWarning)
            frame = CalibrationDisplay.from_counts(counts, Shares(share, sampling=sampling)).frame()
        above = np.cumsum(counts.positive + counts.unlabeled)
        middle = (np.append(0, above[:-1]) + above) / 2 / above[-1]
        group = np.minimum((middle * N_GROUPS).astype(int), N_GROUPS - 1)
        of_row = group[np.searchsorted(-counts.score, -score)]
        for place, at in enumerate(np.unique(group)):
            if (of_row == at).any():
                right = chance[of_row == at].mean()
                low, high = frame["low"][place], frame["high"][place]
                draw[at] = low - 1e-12 <= right <= high + 1e-12
    groups = np.nanmean(held, axis=0)
    print(setting, round(float(np.nanmean(held)), 3), groups.round(3))  # noqa: T201 - for docs
    assert 0.93 <= np.nanmean(held) <= 0.985
    assert (groups[~np.isnan(groups)] >= 0.93 - 0.025).all()  # two standard errors of 400 draws
