"""Bias and coverage of the selection models on data whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, ndtr
from sklearn.metrics import roc_auc_score
from tests.assume.selection.fitting import Selected, interval_of

from undercount.assume.selection.gaussian_curve import gaussian_rates
from undercount.errors import InputError
from undercount.theory.simulation import (
    simulate_observed_score,
    simulate_own_score,
    simulate_unobserved,
)
from undercount_reproductions.cook2016 import draw_areas

pytestmark = pytest.mark.slow
SHARES = (0.2, 0.5, 0.7)
AREAS = (("roc_auc", None), ("prevalence", None))


def true_auc(correlation):
    return 0.5 + 2 / np.pi * np.arcsin(correlation / np.sqrt(2))


def true_values(correlation):
    """Values at p* = 0; at threshold 0 recall and precision are both ½ + asin(ρ)/π."""
    quadrant = 0.5 + np.arcsin(correlation) / np.pi
    return {
        ("roc_auc", None): true_auc(correlation),
        ("prevalence", None): 0.5,
        ("recall", 0.0): quadrant,
        ("precision", 0.0): quadrant,
    }


def coverage(draw, method, correlation, n_runs, distribution="empirical", kind="auto", only=None):
    truth = true_values(correlation)
    truth = truth if only is None else {key: truth[key] for key in only}
    hits = dict.fromkeys(truth, 0)
    for seed in range(n_runs):
        data = draw(seed)
        chooser = data.selection_score if method == "observed-score" else None
        model = Selected(method, distribution).fit(data.score, data.y, selection_score=chooser)
        for (metric, threshold), value in truth.items():
            hits[metric, threshold] += value in interval_of(model, metric, threshold, kind).interval
    found = {key: count / n_runs for key, count in hits.items()}
    print(method, distribution, correlation, found)  # noqa: T201 - the documentation shows them
    return found


@pytest.mark.parametrize("distribution", ["empirical", "normal", "copula"])
@pytest.mark.parametrize("correlation", SHARES)
def test_own_score_covers(correlation, distribution):
    found = coverage(
        lambda seed: simulate_own_score(1000, correlation, random_state=seed),
        "own-score",
        correlation,
        600,
        distribution,
    )
    # .93 to .97, and two standard errors of 600 runs.
    assert all(0.912 <= share <= 0.985 for share in found.values()), found


@pytest.mark.parametrize("correlation", SHARES)
def test_observed_score_covers(correlation):
    found = coverage(
        lambda seed: simulate_observed_score(1000, correlation, random_state=seed),
        "observed-score",
        correlation,
        600,
    )
    assert all(0.912 <= share <= 0.985 for share in found.values()), found


@pytest.mark.parametrize("method", ["begg-greenes", "ipw", "doubly-robust"])
def test_verification_methods_cover_when_missing_at_random(method):
    found = coverage(
        lambda seed: simulate_unobserved(
            1000, 0.5, hidden_correlation=0.0, score_weight=0.5, random_state=seed
        ),
        method,
        0.5,
        600,
    )
    assert all(0.912 <= share <= 0.985 for share in found.values()), found


@pytest.mark.parametrize(("score_weight", "hidden"), [(0.0, 0.7), (1.0, 0.7), (1.0, 0.0)])
@pytest.mark.parametrize("correlation", SHARES)
def test_profile_interval_of_eq_15_covers(correlation, score_weight, hidden):
    found = coverage(
        lambda seed: simulate_unobserved(
            1000,
            correlation,
            hidden_correlation=hidden,
            score_weight=score_weight,
            random_state=seed,
        ),
        "unobserved",
        correlation,
        400,
    )
    # .93 to .97, and two standard errors of 400 runs. No upper end in two designs: at γ = 0,
    # ρ = .2 the data cannot tell the error correlation, and the interval holds whatever it allows;
    # at γ = 1, ρ_εp = ρ_ap = .7 the simulated critical value is too large.
    wide = (score_weight, hidden, correlation) in {(0.0, 0.7, 0.2), (1.0, 0.7, 0.7)}
    assert all(0.908 <= share <= (1 if wide else 0.987) for share in found.values()), found


def test_bootstrap_covers():
    found = coverage(
        lambda seed: simulate_own_score(1000, 0.5, random_state=seed),
        "own-score",
        0.5,
        200,
        kind="bootstrap",
        only=AREAS,
    )
    assert all(0.9 <= share <= 0.99 for share in found.values()), found


@pytest.mark.parametrize(
    "method", ["own-score", "observed-score", "begg-greenes", "ipw", "doubly-robust", "unobserved"]
)
def test_simultaneous_band_covers_the_whole_curve(method):
    cutoffs = np.linspace(4, -4, 2001)
    tpr, fpr = gaussian_rates(cutoffs, 0.6, 0.0)
    hits = 0
    for seed in range(200):
        if method == "observed-score":
            data = simulate_observed_score(1000, 0.6, random_state=seed)
        elif method == "own-score":
            data = simulate_own_score(1000, 0.6, random_state=seed)
        else:
            data = simulate_unobserved(
                1000, 0.6, hidden_correlation=0.0, score_weight=0.5, random_state=seed
            )
        chooser = data.selection_score if method == "observed-score" else None
        model = Selected(method, random_state=0)
        band = model.fit(data.score, data.y, selection_score=chooser).band()
        grid = band.pessimistic.fpr[2:-2]
        truth = np.interp(grid, fpr, tpr)
        low, high = band.pessimistic.tpr[2:-2], band.optimistic.tpr[2:-2]
        hits += bool(np.all((low <= truth) & (truth <= high)))
    print(method, "band", hits / 200)  # noqa: T201 - the documentation shows it
    # .93, and two standard errors of 200 runs.
    assert hits / 200 >= 0.9, hits / 200


def test_skewed_scores_bias_the_normal_curve_and_not_the_default():
    generator = np.random.default_rng(0)

    def draw(n):
        score = generator.exponential(size=n)
        label = (score - 1 + generator.standard_normal(n) > 0).astype(float)
        return score, label

    score, label = draw(1_000_000)
    truth = roc_auc_score(label, score)
    found = {"empirical": [], "normal": []}
    for _ in range(400):
        score, label = draw(2000)
        y = np.where(score >= np.quantile(score, 0.2), label, np.nan)
        for distribution, areas in found.items():
            model = Selected("own-score", distribution).fit(score, y)
            areas.append(model.curve.roc_auc)
    bias = {name: float(np.mean(areas) - truth) for name, areas in found.items()}
    assert abs(bias["empirical"]) <= 0.01, bias
    assert bias["normal"] > 0.02, bias


TABLE_2 = {0.2: (0.590, 0.553, 0.591, 0.564), 0.5: (0.730, 0.643, 0.730, 0.666)}
TABLE_2[0.7] = (0.830, 0.719, 0.830, 0.746)


@pytest.mark.parametrize("correlation", SHARES)
def test_table_2_of_the_paper(correlation):
    generator = np.random.default_rng(1)
    design = {"method": "own-score", "correlation": correlation}
    # Standard deviations are at most .041, so .005 is nearly four standard errors of the mean.
    runs = [draw_areas(design, generator) for _ in range(1000)]
    found = [
        np.mean([run[name] for run in runs])
        for name in ("random", "standard", "inferred", "portion")
    ]
    assert found == pytest.approx(TABLE_2[correlation], abs=0.005)


# (ρ_ab, ρ_bp): standard and inferred areas at ρ_ap = .2, .5, .7; .533 is .467 flipped.
TABLE_4 = {
    (0.0, 0.7): ((0.619, 0.804, 0.936), (0.590, 0.730, 0.829)),
    (0.5, 0.7): ((0.467, 0.666, 0.800), (0.590, 0.730, 0.829)),
    (0.5, 0.2): ((0.568, 0.722, 0.832), (0.591, 0.730, 0.830)),
    (0.5, 0.0): ((0.599, 0.752, 0.863), (0.591, 0.730, 0.830)),
}


@pytest.mark.parametrize("panel", list(TABLE_4))
@pytest.mark.parametrize("column", range(3))
def test_table_4_of_the_paper(panel, column):
    generator = np.random.default_rng(2)
    design = {
        "method": "observed-score",
        "correlation": SHARES[column],
        "score_correlation": panel[0],
        "selector_correlation": panel[1],
    }
    # Standard deviations are at most .03: .005 is more than four standard errors of the mean.
    runs = [draw_areas(design, generator) for _ in range(700)]
    standard, inferred = (part[column] for part in TABLE_4[panel])
    assert np.mean([run["standard"] for run in runs]) == pytest.approx(standard, abs=0.005)
    assert np.mean([run["inferred"] for run in runs]) == pytest.approx(inferred, abs=0.005)


# (γ, ρ_εp): .578 is .422 flipped.
TABLE_3 = {
    (0.0, 0.7): ((0.619, 0.804, 0.936), (0.591, 0.734, 0.854)),
    (1.0, 0.7): ((0.422, 0.541, 0.683), (0.579, 0.708, 0.779)),
    (1.0, 0.0): ((0.575, 0.698, 0.796), (0.591, 0.730, 0.832)),
}


@pytest.mark.parametrize("panel", list(TABLE_3))
@pytest.mark.parametrize("column", range(3))
def test_table_3_of_the_paper(panel, column):
    generator = np.random.default_rng(3)
    design = {
        "method": "unobserved",
        "correlation": SHARES[column],
        "score_weight": panel[0],
        "hidden_correlation": panel[1],
    }
    runs = [draw_areas(design, generator) for _ in range(500)]
    standard, inferred = (part[column] for part in TABLE_3[panel])
    found = np.mean([run["inferred"] for run in runs])
    assert np.mean([run["standard"] for run in runs]) == pytest.approx(standard, abs=0.01)
    if panel == (0.0, 0.7) and SHARES[column] == 0.7:
        # At γ = 0 the likelihood is stationary at r = 0, where the area is the standard one; an
        # optimiser that stays there in some runs averages between the truth and that.
        assert found == pytest.approx(true_auc(0.7), abs=0.01)
        assert found < inferred < standard
    else:
        assert found == pytest.approx(inferred, abs=0.02)


LEVELS = (0.8, 0.9, 0.95)


def draw_rows(design, n, generator):
    """Draw score, class, predictor of the choice, and a column that moved it as well."""
    a, z, noise = generator.standard_normal((3, n))
    if design == "plain":
        return a, a + noise > 0.5, 0.5 * a, None
    if design == "rare":  # 5 % positive
        return a, a + noise > 1.6449 * 2**0.5, 0.6 * a, None
    if design == "skewed":
        a = generator.exponential(size=n)
        return a, a - 1.5 + noise > 0, 0.5 * (a - 1), None
    if design == "hard":  # the lowest scores have chances of one in thousands
        return a, 1.2 * a + noise > 0.7, a, None
    return a, a + 0.5 * z + noise > 1.2, 0.4 * a + 0.6 * z, z


def true_metrics(design):
    """Values of a million rows, and how far the choice must be moved to reach one row in ten."""
    score, truth, predictor, _ = draw_rows(design, 1_000_000, np.random.default_rng(987))
    threshold = float(np.quantile(score, 0.8))
    flagged = score >= threshold
    cut = brentq(lambda at: ndtr(predictor[:100_000] - at).mean() - 0.1, -5, 8)
    values = {
        ("roc_auc", None): roc_auc_score(truth, score),
        ("prevalence", None): truth.mean(),
        ("recall", threshold): flagged[truth].mean(),
        ("precision", threshold): truth[flagged].mean(),
    }
    return values, cut


@pytest.mark.parametrize("method", ["begg-greenes", "ipw", "doubly-robust"])
@pytest.mark.parametrize("design", ["plain", "rare", "skewed", "hard", "column"])
def test_few_labels_are_covered_at_every_level(design, method):
    values, cut = true_metrics(design)
    for n_labels in (50, 200):
        hits = np.zeros((len(LEVELS), len(values)))
        fitted = 0
        for seed in range(300):
            generator = np.random.default_rng([seed, n_labels])
            score, truth, predictor, column = draw_rows(design, 10 * n_labels, generator)
            looked = generator.random(len(score)) < ndtr(predictor - cut)
            looked_at = np.where(looked, truth, np.nan)
            try:
                model = Selected(method).fit(score, looked_at, X=column)
            except InputError:  # the labels found are separated by the score
                continue
            fitted += 1
            for i, level in enumerate(LEVELS):
                asked = replace(model, confidence_level=level)
                hits[i] += [
                    value in interval_of(asked, *of).interval for of, value in values.items()
                ]
        found = hits / fitted
        print(design, method, n_labels, found.round(3).tolist())  # noqa: T201 - for docs/evidence
        assert fitted >= 290
        # Two standard errors of 300 runs below .78, .88 and .93.
        floor = np.array([0.73, 0.84, 0.90])
        assert (found >= floor[:, None]).all(), (n_labels, found)


@pytest.mark.parametrize("design", ["calibrated", "overconfident", "probit"])
def test_probability_scores_are_covered_on_a_scale_that_the_labels_choose(design):
    def draw(n, generator):
        z = generator.normal(-1.5, 2.2, n)
        chance = ndtr(z / 2) if design == "probit" else expit(z)
        score = expit(2 * z) if design == "overconfident" else chance
        return score, generator.random(n) < chance

    score, truth = draw(1_000_000, np.random.default_rng(9))
    values = {"roc_auc": roc_auc_score(truth, score), "prevalence": truth.mean()}
    hits, plain = np.zeros((len(LEVELS), 2)), 0
    for seed in range(200):
        score, truth = draw(2000, np.random.default_rng([seed, 4]))
        y = np.where(score >= np.quantile(score, 0.6), truth, np.nan)
        model = Selected("own-score").fit(score, y)
        for i, level in enumerate(LEVELS):
            asked = replace(model, confidence_level=level)
            hits[i] += [value in interval_of(asked, of).interval for of, value in values.items()]
        as_it_is = Selected("own-score", scale="score").fit(score, y)
        plain += values["roc_auc"] in interval_of(as_it_is, "roc_auc").interval
    found = hits / 200
    print(design, found.round(3).tolist(), "score itself", plain / 200)  # noqa: T201
    # Two standard errors of 200 runs below .78, .88 and .93.
    assert (found >= np.array([0.72, 0.83, 0.89])[:, None]).all(), found
    assert plain / 200 < 0.7
