"""Where the share of hidden positives comes from: coverage at three levels.

A population whose prevalence is known while the labelled rows of the sample exceed it by chance;
a range of prevalences; a share estimated here, or told by known negatives. `docs/evidence/
hidden-share.md` has the figures before and after.
"""

import itertools
import warnings
from collections import defaultdict

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef, roc_auc_score

import undercount as uc
from undercount.assume.random_labels.hidden_share import largest_fitting_share
from undercount.infer.estimated_share import estimate_end_by_end

pytestmark = pytest.mark.slow
LEVELS = (0.8, 0.9, 0.95)
# Four standard errors of a coverage, for the number of draws that each test makes.
LEEWAY = 4.0


def population_truth(separation, cut, prevalence):
    tpr, fpr = norm.sf(cut - separation), norm.sf(cut)
    flagged = prevalence * tpr + (1 - prevalence) * fpr
    return {
        "recall": tpr,
        "precision": prevalence * tpr / flagged,
        "f1": 2 * prevalence * tpr / (prevalence + flagged),
        "roc_auc": norm.cdf(separation / 2**0.5),
    }


def rows_truth(truth, score, cut):
    flagged = score >= cut
    hits, area, prevalence = np.sum(flagged & truth), roc_auc_score(truth, score), truth.mean()
    return {
        "recall": hits / truth.sum(),
        "precision": hits / flagged.sum(),
        "f1": 2 * hits / (flagged.sum() + truth.sum()),
        "roc_auc": area,
        "lift_auc": prevalence / 2 + (1 - prevalence) * area,
    }


def covers(y, score, expected, **options):
    """Say for each metric and level whether the interval holds what is expected."""
    found = {}
    for level in LEVELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluation = uc.evaluate(
                y, score, confidence_level=level, metrics=list(expected), **options
            )
        for row in evaluation.rows:
            if row.metric in expected:
                inside = row.estimate.low <= expected[row.metric] <= row.estimate.high
                found[row.metric, level] = inside
    return found


def coverages(draws):
    held = defaultdict(list)
    for found in draws:
        for key, inside in found.items():
            held[key].append(inside)
    return {key: (np.mean(values), len(values)) for key, values in held.items()}


def check_at_least(found, least=0.0):
    """The coverage may fall below its level by chance, and by `least` where that is known."""
    print(*(f"{key}: {covered:.3f} of {number}" for key, (covered, number) in found.items()))  # noqa: T201 - shown by pytest -s
    for (metric, level), (covered, number) in found.items():
        error = np.sqrt(level * (1 - level) / number)
        assert covered > level - least - LEEWAY * error, (metric, level, covered)


@pytest.mark.parametrize(
    ("size", "prevalence", "frequency", "separation"),
    [(2000, 0.025, 0.9, 2.0), (4000, 0.05, 0.95, 3.0), (1000, 0.1, 0.9, 1.5)],
)
def test_a_population_covers_although_labels_exceed_its_prevalence(
    size, prevalence, frequency, separation
):
    cut = separation / 2 + 0.5
    expected, above = population_truth(separation, cut, prevalence), 0

    def draw(seed):
        nonlocal above
        rng = np.random.default_rng([seed, size])
        truth = rng.random(size) < prevalence
        y = truth & (rng.random(size) < frequency)
        above += y.mean() > prevalence
        options = {"unlabeled": 0, "prevalence": prevalence, "target": "population"}
        return covers(y, rng.normal(separation * truth), expected, threshold=cut, **options)

    found = coverages(draw(seed) for seed in range(300))
    assert above > 30  # none of them was refused
    check_at_least(found)
    assert all(covered <= 0.985 for (_, level), (covered, _) in found.items() if level == 0.95)


@pytest.mark.parametrize("place", [0.0, 1.0])
@pytest.mark.parametrize(
    ("size", "prevalence", "frequency", "separation", "half"),
    [(2000, 0.2, 0.4, 2.0, 0.02), (2000, 0.3, 0.3, 1.5, 0.05), (5000, 0.1, 0.5, 2.5, 0.01)],
)
def test_a_range_covers_with_the_truth_at_one_of_its_ends(
    size, prevalence, frequency, separation, half, place
):
    cut, positives = separation / 2 + 0.5, round(size * prevalence)
    truth = np.arange(size) < positives
    given = prevalence - 2 * half * place, prevalence + 2 * half * (1 - place)

    def draw(seed):
        rng = np.random.default_rng([seed, size, 9])
        y = np.zeros(size, dtype=int)
        y[rng.choice(positives, round(frequency * positives), replace=False)] = 1
        score = rng.normal(separation * truth)
        expected = rows_truth(truth, score, cut)
        return covers(y, score, expected, unlabeled=0, prevalence=given, threshold=cut)

    found = coverages(draw(seed) for seed in range(160))
    check_at_least(found)
    # The union of two intervals of 95 % covered .98 to .993.
    assert np.mean([found[metric, 0.95][0] for metric in ("precision", "f1", "roc_auc")]) < 0.975


@pytest.mark.parametrize(
    ("size", "prevalence", "frequency", "separation"),
    [(2000, 0.2, 0.6, 2.5), (2000, 0.3, 0.6, 2.0), (4000, 0.1, 0.6, 3.0)],
)
def test_recall_and_lift_cover_with_an_estimated_share(size, prevalence, frequency, separation):
    cut = separation / 2 + 0.5

    def draw(seed):
        rng = np.random.default_rng([seed, size, 7])
        truth = rng.random(size) < prevalence
        y, score = truth & (rng.random(size) < frequency), rng.normal(separation * truth)
        expected = rows_truth(truth, score, cut)
        wanted = {name: expected[name] for name in ("recall", "lift_auc")}
        return covers(y, score, wanted, unlabeled=0, threshold=cut)

    check_at_least(coverages(draw(seed) for seed in range(150)))


@pytest.mark.parametrize(
    ("size", "prevalence", "frequency", "separation", "error"),
    [(4000, 0.4, 0.6, 2.5, 0.03), (2000, 0.2, 0.4, 3.0, 0.03), (3000, 0.1, 0.5, 2.5, 0.015)],
)
def test_labels_keep_their_chance_where_an_estimated_share_leaves_no_room(
    size, prevalence, frequency, separation, error
):
    """Half as many rows are flagged as are positive, nearly all of them right."""

    def draw(seed):
        rng = np.random.default_rng([seed, size, 21])
        truth = rng.random(size) < prevalence
        y, score = truth & (rng.random(size) < frequency), rng.normal(separation * truth)
        cut = float(np.quantile(score, 1 - prevalence / 2))
        flagged, near = score >= cut, rng.normal(truth[~y].mean(), error)
        expected = {
            "accuracy": accuracy_score(truth, flagged),
            "f1": f1_score(truth, flagged),
            "mcc": matthews_corrcoef(truth, flagged),
        }
        labels = np.where(y, 1.0, np.nan)
        counts = uc.ScoreCounts.from_rows(labels, score, compact=True, knots=[cut])
        # As `evaluate` does with an estimate that the scores rule out.
        near = largest_fitting_share({"score": counts}, uc.Shares(near), "dataset")
        found = {}
        for level, (name, value) in itertools.product(LEVELS, expected.items()):
            reach = norm.ppf((1 + level) / 2) * error
            share = uc.Shares(uc.Estimate(near, max(near - reach, 0.0), near + reach, error))
            options = {"threshold": cut, "target": "dataset", "confidence_level": level}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                span = estimate_end_by_end(counts, share, name, **options)
            found[name, level] = span.low - 1e-9 <= value <= span.high + 1e-9
        return found

    check_at_least(coverages(draw(seed) for seed in range(250)))


@pytest.mark.parametrize(
    ("size", "prevalence", "of_positives", "of_negatives", "separation", "invisible"),
    [
        (3000, 0.2, 0.3, 0.2, 2.0, 0.0),
        (4000, 0.3, 0.3, 0.1, 1.5, 0.0),
        (3000, 0.1, 0.5, 0.1, 3.0, 0.0),
        (3000, 0.2, 0.3, 0.2, 3, 0.3),
    ],
)
def test_known_negatives_tell_the_share_better_than_scores_alone(
    size, prevalence, of_positives, of_negatives, separation, invisible
):
    errors, widths, held = defaultdict(list), defaultdict(list), []
    for seed in range(100):
        rng = np.random.default_rng([seed, size, 3])
        truth = rng.random(size) < prevalence
        score = rng.normal(separation * (truth & (rng.random(size) >= invisible)))
        y = np.where(truth & (rng.random(size) < of_positives), 1, -1)
        y[~truth & (rng.random(size) < of_negatives)] = 0
        share = truth[y == -1].mean()
        for name, given in (("default", None), ("scores", uc.prevalence.Consensus())):
            found = uc.evaluate(y, score, unlabeled=-1, unlabeled_prevalence=given).shares
            span = found.unlabeled_prevalence_interval
            errors[name].append(abs(found.unlabeled_prevalence - share))
            widths[name].append(span.width)
            if name == "default":
                held.append(share in span)
    assert np.mean(errors["default"]) < np.mean(errors["scores"])
    assert np.mean(widths["default"]) < np.mean(widths["scores"])
    assert np.mean(held) > 0.95 - LEEWAY * np.sqrt(0.95 * 0.05 / 100)


def test_no_estimate_of_a_good_model_is_refused():
    number = 0
    for size in (500, 2000, 5000):
        for frequency in (0.1, 0.3, 0.5, 0.9):
            for prevalence in (0.02, 0.1, 0.3, 0.6):
                for seed in range(13):
                    rng = np.random.default_rng(
                        [size, int(10 * frequency), int(100 * prevalence), seed]
                    )
                    truth = rng.random(size) < prevalence
                    y = truth & (rng.random(size) < frequency)
                    if y.sum() < 10:  # fewer labels are refused, and say so
                        continue
                    uc.evaluate(y, rng.normal(6.0 * truth), unlabeled=0, threshold=3.0)
                    number += 1
    assert number >= 500


def poor_scores(rng, kind, distance, truth):
    if kind == "skewed":
        return rng.exponential(size=len(truth)) * np.where(truth, 1 + distance, 1.0)
    if kind == "uniform":
        return rng.random(len(truth)) + distance * truth
    return rng.normal(truth * distance * rng.choice([0.5, 1.5], len(truth)))  # of two kinds


def test_scores_that_tell_little_leave_the_low_end_open():
    """No interval promises hidden positives that poor scores cannot show.

    Some scores are reached by positives alone; without that no AUC protects the low end.
    """
    rng, below, above = np.random.default_rng(12), [], []
    for kind in ("skewed", "uniform", "two kinds"):
        for distance in (0.0, 0.1, 0.25, 0.5, 1.0):
            for share in (0.05, 0.3, 0.7):
                for _ in range(8):
                    truth = np.arange(2200) < 200 + round(2000 * share)
                    y = np.repeat([1, 0], [200, 2000])
                    score = poor_scores(rng, kind, distance, truth)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        found = uc.evaluate(y, score, unlabeled=0, metrics=["recall@0"]).shares
                    span = found.unlabeled_prevalence_interval
                    area = roc_auc_score(y, score)
                    (below if area < 0.65 else above).append((span.low <= share, share in span))
    print(np.mean(below, axis=0), np.mean(above, axis=0))  # noqa: T201 - shown by pytest -s
    assert len(above) > 50
    assert np.all(np.mean(below, axis=0) >= [1.0, 0.95 - LEEWAY * np.sqrt(0.05 / len(below))])
    # An end promises 97.5 %; three standard errors.
    assert np.mean(above, axis=0)[0] >= 0.975 - 3 * np.sqrt(0.025 / len(above))
