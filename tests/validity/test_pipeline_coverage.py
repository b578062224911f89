"""Intervals when the share of hidden positives is estimated on the same rows.

Normal scores two and four standard deviations apart, 5,000 unlabeled rows; the truth is that of
the rows themselves. `docs/evidence/estimated-share.md` has the table.
"""

import itertools
import warnings

import numpy as np
import pytest
from sklearn import metrics

import undercount as uc

N_UNLABELED = 5000
SETTINGS = list(itertools.product((2.0, 4.0), (0.1, 0.3, 0.5), (100, 1000)))


def problem(separation, share, n_labelled, seed):
    rng = np.random.default_rng([int(separation), int(100 * share), n_labelled, seed])
    hidden = round(share * N_UNLABELED)
    truth = np.arange(n_labelled + N_UNLABELED) < n_labelled + hidden
    y = np.where(np.arange(len(truth)) < n_labelled, 1, 0)
    return y, rng.normal(separation * truth), truth


def covered(setting, seed, **options):
    """Return, for the share and three metrics, whether the interval holds the truth; and widths."""
    separation, share, _ = setting
    y, score, truth = problem(*setting, seed)
    cut = separation / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = uc.evaluate(y, score, unlabeled=0, threshold=cut, random_state=seed, **options)
    expected = {
        "roc_auc": metrics.roc_auc_score(truth, score),
        "precision": truth[score >= cut].mean(),
        "average_precision": metrics.average_precision_score(truth, score),
    }
    spans = {row.metric: row.estimate.interval for row in found.rows}
    spans["share"] = found.shares.unlabeled_prevalence_interval
    expected["share"] = share
    return {
        name: (spans[name].low - 1e-9 <= value <= spans[name].high + 1e-9, spans[name].width)
        for name, value in expected.items()
    }


def shares_covered(settings, n_seeds, **options):
    runs = [covered(s, seed, **options) for s in settings for seed in range(n_seeds)]
    return {name: np.mean([run[name] for run in runs], axis=0) for name in runs[0]}


@pytest.mark.slow
def test_the_default_covers():
    found = shares_covered(SETTINGS, 40)
    for name, (coverage, _) in found.items():
        assert coverage >= 0.95, (name, coverage)
    # No more than a wide share makes necessary: a slope would give an AUC of ± .25.
    assert found["roc_auc"][1] < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("separation", [2.0, 4.0])
def test_resampling_alone_does_not_cover_and_combined_does(separation):
    """Resamples show chance and not the estimator's bias, which is why they are no default."""
    settings = [s for s in SETTINGS if s[0] == separation]
    alone, combined = (
        shares_covered(settings, 6, assume=uc.RandomLabels(interval=kind, n_resamples=60))
        for kind in ("bootstrap", "combined")
    )
    assert alone["roc_auc"][0] < 0.93
    assert combined["roc_auc"][0] >= 0.9
    assert combined["precision"][0] >= 0.85
    assert alone["roc_auc"][1] < combined["roc_auc"][1]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize(("n_rows", "frequency"), [(3000, 0.4), (2000, 0.1)])
def test_differences_of_average_precision_cover(target, n_rows, frequency):
    runs, inside = 300, 0
    truth, one, other = pair(np.random.default_rng(1), 400_000)
    whole = gap(truth, one, other)
    for seed in range(runs):
        rng = np.random.default_rng([7, seed])
        truth, one, other = pair(rng, n_rows)
        y = np.where(truth & (rng.random(n_rows) < frequency), 1, 0)
        found = uc.compare(
            y,
            {"a": one, "b": other},
            unlabeled=0,
            prevalence=truth.mean() if target == "dataset" else 0.3,
            question={"dataset": "rows"}.get(target, target),
        ).difference("average_precision")
        expected = gap(truth, one, other) if target == "dataset" else whole
        inside += found.difference.low <= expected <= found.difference.high
    assert 0.92 <= inside / runs <= 0.99


def pair(rng, n_rows):
    truth = rng.random(n_rows) < 0.3
    common = rng.normal(truth)
    return truth, common + rng.normal(0, 0.5, n_rows), common + rng.normal(0, 1.0, n_rows)


def gap(truth, one, other):
    first, second = (metrics.average_precision_score(truth, score) for score in (one, other))
    return first - second


def test_the_default_covers_in_one_setting():
    found = shares_covered([(4.0, 0.3, 1000)], 10)
    assert found["roc_auc"][0] >= 0.8
    assert found["share"][0] >= 0.8
