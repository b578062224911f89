"""The weights of the three kinds of rows, and what they and the design say of an error."""

import numpy as np
import pytest

import undercount as uc
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.mixture import MixtureDesign, design_of, mix

POSITIVES, NEGATIVES = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.3, 0.6])


def test_weights_by_hand():
    # 10 labelled, 80 unlabeled of which 20 are positive, 10 known negatives: 30 positives and 70
    # negatives, of which 1/7 are known and 6/7 recovered as (unlabeled - labelled/4)/(3/4).
    found = mix(np.array([10.0, 80.0, 10.0]), "prevalence", 0.3, 1.0, "single-sample")
    assert found.positive == pytest.approx([1, 0, 0])
    assert found.negative == pytest.approx([-2 / 7, 8 / 7, 1 / 7])
    assert found.everyone == pytest.approx([0.1, 0.8, 0.1])
    assert found.unlabeled_prevalence == pytest.approx(0.25)
    assert found.positives == pytest.approx(30)


@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
@pytest.mark.parametrize("given", ["unlabeled_prevalence", "prevalence"])
def test_weights_give_back_the_two_classes(given, purity, sampling):
    share, sizes = 0.3, np.array([50.0, 400.0, 50.0])
    value = share
    if given == "prevalence" and sampling == "single-sample":
        value = (purity * 50 + share * 400) / 500
    kinds = np.stack(
        [
            purity * POSITIVES + (1 - purity) * NEGATIVES,
            share * POSITIVES + (1 - share) * NEGATIVES,
            NEGATIVES,
        ]
    )
    found = mix(sizes, given, value, purity, sampling)
    assert found.positive @ kinds == pytest.approx(POSITIVES, rel=1e-12)
    assert found.negative @ kinds == pytest.approx(NEGATIVES, rel=1e-12)
    everyone = kinds[1] if sampling == "case-control" else sizes @ kinds / 500
    assert found.everyone @ kinds == pytest.approx(everyone, rel=1e-12)
    heads = np.cumsum(kinds, axis=1)
    for rates in (found.rates(*heads), found.exact_rates(*heads)[:2]):
        assert rates[0] == pytest.approx(np.cumsum(POSITIVES), rel=1e-12)
        assert rates[1] == pytest.approx(np.cumsum(NEGATIVES), rel=1e-12)


def rows(seed, *, weighted=False):
    rng = np.random.default_rng(seed)
    positive = rng.random(300) < 0.4
    y = np.where(positive & (rng.random(300) < 0.5), 1.0, np.nan)
    y[~positive & (rng.random(300) < 0.2)] = 0
    weight = rng.random(300) + 0.5 if weighted else None
    score = np.round(rng.normal(positive), 1)
    return uc.ScoreCounts.from_rows(y, score, sample_weight=weight)


@pytest.mark.parametrize("sampling", ["single-sample", "case-control"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_estimates_are_read_from_the_curve(purity, sampling, weighted):
    counts, shares = rows(1, weighted=weighted), uc.Shares(0.2, purity, sampling)
    curve = uc.mixture_curve(counts, shares, clean=False)
    for name in ("roc_auc", "lift_auc"):
        found = estimate_metric(counts, shares, name)
        assert found.value == pytest.approx(getattr(curve, name), rel=1e-12)
    point = curve.at(0.5)
    assert 0 < point.fpr < point.tpr < 1
    for name in ("recall", "precision", "f1", "mcc", "kappa", "geometric_mean", "npv", "lift"):
        found = estimate_metric(counts, shares, name, threshold=0.5)
        assert found.value == pytest.approx(getattr(point, name), rel=1e-12)


@pytest.mark.parametrize("given", ["unlabeled_prevalence", "prevalence", "label_frequency"])
def test_slopes_are_those_of_small_steps(given):
    sizes, value = np.array([60.0, 300.0, 40.0]), {"prevalence": 0.4, "label_frequency": 0.5}
    told = given, value.get(given, 0.2), 0.9, "single-sample", "population"
    design = MixtureDesign(sizes, np.ones(3), *told)
    for kind, slope in enumerate(design.size_slopes):
        step = 1e-3 * np.eye(3)[kind]
        ends = [mix(sizes + sign * step, *told[:4]) for sign in (1, -1)]
        for part in ("positive", "negative", "everyone", "prevalence"):
            rise = getattr(ends[0], part) - getattr(ends[1], part)
            assert getattr(slope, part) == pytest.approx(rise / 2e-3, rel=1e-5, abs=1e-9)


def test_the_sources_of_error_of_each_design():
    counts = rows(0)
    some = {
        "prevalence": uc.Shares.from_prevalence(counts, 0.4),
        "positives": uc.Shares.from_positives(counts, 120),
        "label_frequency": uc.Shares.from_label_frequency(counts, 0.5),
        "apart": uc.Shares(0.2, sampling="case-control"),
    }
    sources = {
        (name, target): design_of(counts, shares, shares.sampling, target).sources
        for name, shares in some.items()
        for target in ("dataset", "population")
    }
    assert sources == {
        ("prevalence", "dataset"): ("labels",),
        ("prevalence", "population"): ("rows and numbers",),
        ("positives", "dataset"): ("labels",),
        ("positives", "population"): ("rows", "composition"),
        ("label_frequency", "dataset"): ("labels and number",),
        ("label_frequency", "population"): ("rows and numbers",),
        ("apart", "dataset"): ("hidden positives",),
        ("apart", "population"): ("rows",),
    }


def test_a_design_is_kept_until_another_is_asked_for():
    one, other = rows(0), rows(1)
    shares = uc.Shares(0.2)
    design = design_of(one, shares, "single-sample", "dataset")
    assert design_of(one, uc.Shares(0.2), "single-sample", "dataset") is design
    assert design_of(other, shares, "single-sample", "dataset") is not design
    assert design_of(one, shares, "single-sample", "population").target == "population"
    assert design_of(one, uc.Shares(0.3), "single-sample", "dataset").value == 0.3
    with pytest.raises(uc.InputError, match="target must be one of"):
        design_of(one, shares, "single-sample", "people")
