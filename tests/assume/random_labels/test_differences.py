"""Differences of models against those of their evaluations, and their errors against the truth."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn import metrics

import undercount as uc

METRICS = (
    "roc_auc",
    "lift_auc",
    "average_precision",
    "recall",
    "precision",
    "f1",
    "mcc",
    "accuracy",
)
CUT = 0.8
QUESTION = {"dataset": "rows", "population": "population"}


def models(truth, rng):
    """Two scores of the same rows that share most of their noise."""
    common = rng.normal(truth)
    return common + rng.normal(0, 0.5, len(truth)), common + rng.normal(0, 1.0, len(truth))


def labels_of(truth, rng, n_labelled, purity=1.0, known=None):
    """Label some positives and, at 1 - purity, negatives; `known` negatives carry a 0."""
    y = np.full(len(truth), -1)
    if known is not None:
        y[known] = 0
    hits = round(purity * n_labelled)
    y[rng.choice(np.flatnonzero(truth), hits, replace=False)] = 1
    free = np.flatnonzero(~truth & (y == -1))
    y[rng.choice(free, n_labelled - hits, replace=False)] = 1
    return y


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    sampling=st.sampled_from(["single-sample", "case-control"]),
    target=st.sampled_from(["dataset", "population"]),
    n_known=st.sampled_from([0, 80]),
    purity=st.sampled_from([1.0, 0.85]),
    share=st.sampled_from(["prevalence", "unlabeled_prevalence", "label_frequency"]),
)
def test_differences_are_those_of_the_evaluations(seed, sampling, target, n_known, purity, share):
    rng = np.random.default_rng(seed)
    truth = rng.random(400) < 0.3
    # Rounded, so that rows tie.
    one, other = (np.round(score, 1) for score in models(truth, rng))
    y = labels_of(truth, rng, 60, purity, rng.permutation(np.flatnonzero(~truth))[:n_known])
    if sampling == "case-control" and share == "label_frequency":
        share = "prevalence"  # there is no label frequency
    value = {"prevalence": 0.3, "unlabeled_prevalence": 0.15, "label_frequency": 0.5}[share]
    options = {
        "unlabeled": -1,
        "assume": uc.RandomLabels(sampling=sampling, purity=purity, **{share: value}),
        "target": target,
        "threshold": CUT,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uc.MisfitWarning)
        try:
            own = [uc.evaluate(y, score, **options) for score in (one, other)]
        except uc.InputError:
            return  # shares that these few rows rule out
        found = uc.compare(y, {"a": one, "b": other}, question=QUESTION[target], **options)
    for metric in METRICS:
        gap = found.difference(metric).difference
        values = [next(r for r in e.rows if r.metric == metric).estimate.value for e in own]
        assert gap.value == pytest.approx(values[0] - values[1], abs=1e-12, nan_ok=True), metric
        assert gap.standard_error > 0, metric


def exact_errors(truth, scores, y, purity):
    """Standard errors over all choices of the labelled rows, by the truth.

    For given rows all but average precision are linear in what is counted among labelled rows:
    the flagged share of all rows, Q, stays. With R the recall, precision is πR/Q, F1 2πR/(π + Q),
    accuracy 2πR + const, informedness (R - Q)/(1 - π); the areas are means of ranks.
    """
    n, share = len(truth), truth.mean()
    labelled, unlabeled = (y == 1).sum(), (y == -1).sum()
    hits = round(purity * labelled)
    hidden = (truth.sum() - hits) / unlabeled
    weight = ((1 - hidden) / labelled + (1 - purity) / unlabeled) / (purity - hidden)
    added = {metric: [] for metric in METRICS if metric != "average_precision"}
    for score in scores:
        flags, rank = score >= CUT, (rankdata(score) - 0.5) / n
        rate = flags.mean()
        slopes = {
            "recall": 1.0,
            "precision": share / rate,
            "f1": 2 * share / (share + rate),
            "accuracy": 2 * share,
            "mcc": np.sqrt(share / (1 - share) / (rate * (1 - rate))),
        }
        for metric, slope in slopes.items():
            added[metric].append(slope * flags)
        added["lift_auc"].append(rank)
        added["roc_auc"].append(rank / (1 - share))
    free = ~truth & (y != 0)
    drawn = ((hits, truth), (labelled - hits, free))
    return {
        metric: weight
        * np.sqrt(
            sum(k * (1 - k / kind.sum()) * np.var((a - b)[kind], ddof=1) for k, kind in drawn)
        )
        for metric, (a, b) in added.items()
    }


@pytest.mark.parametrize("n_known", [0, 1200])
@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_errors_of_these_rows_are_exact(n_known, purity):
    rng = np.random.default_rng(8)
    truth = rng.random(3000) < 0.3
    scores = models(truth, rng)
    known = rng.permutation(np.flatnonzero(~truth))[:n_known]
    draws = []
    for _ in range(4):
        y = labels_of(truth, rng, 500, purity, known)
        pair = dict(zip("ab", scores, strict=True))
        share = {"assume": uc.RandomLabels(truth.mean(), purity=purity)}
        draws.append(uc.compare(y, pair, unlabeled=-1, threshold=CUT, question="rows", **share))
    for metric, expected in exact_errors(truth, scores, y, purity).items():
        found = np.mean([d.difference(metric).difference.standard_error for d in draws])
        assert found == pytest.approx(expected, rel=0.05), metric


def drawn(rng, case):
    """Return rows of one draw, the share to be told, and the differences the truth of it has."""
    truth = rng.random(700) < 0.3
    scores = models(truth, rng)
    if case["sampling"] == "single-sample":
        y = np.where(truth & (rng.random(700) < 0.4), 1, -1)
        y[~truth & (rng.random(700) < 0.4)] = 0
        return y, scores, 0.3, {}
    known = np.arange(150) < round(150 * case["purity"])
    apart = models(known, rng)
    y = np.repeat([1, -1], [150, 700])
    both = [np.append(new, old) for new, old in zip(apart, scores, strict=True)]
    if case["target"] == "population":
        return y, both, 0.3, {}
    true = {
        "roc_auc": [metrics.roc_auc_score(truth, s) for s in scores],
        "average_precision": [metrics.average_precision_score(truth, s) for s in scores],
        "precision": [metrics.precision_score(truth, s >= CUT) for s in scores],
        "mcc": [metrics.matthews_corrcoef(truth, s >= CUT) for s in scores],
    }
    return y, both, truth.mean(), {metric: a - b for metric, (a, b) in true.items()}


@pytest.mark.parametrize(
    "case",
    [
        {"sampling": "single-sample", "target": "population", "purity": 1.0},
        {"sampling": "case-control", "target": "population", "purity": 0.85},
        {"sampling": "case-control", "target": "dataset", "purity": 1.0},
    ],
    ids=["known negatives", "case-control, impure", "case-control, these rows"],
)
def test_errors_of_other_designs_in_simulation(case):
    rng, runs = np.random.default_rng(5), 50
    compared = ("roc_auc", "average_precision", "precision", "mcc")
    values, errors = [], []
    for _ in range(runs):
        y, (one, other), share, true = drawn(rng, case)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = uc.compare(
                y,
                {"a": one, "b": other},
                unlabeled=-1,
                threshold=CUT,
                assume=uc.RandomLabels(share, sampling=case["sampling"], purity=case["purity"]),
                question=QUESTION[case["target"]],
                target=case["target"],
            )
        gaps = [found.difference(metric).difference for metric in compared]
        values.append([g.value - true.get(m, 0.0) for g, m in zip(gaps, compared, strict=True)])
        errors.append([g.standard_error for g in gaps])
    spread, said = np.std(values, axis=0, ddof=1), np.mean(errors, axis=0)
    # Fifty draws know their own spread to 10 %.
    assert np.all(np.abs(said / spread - 1) < 0.3), dict(zip(compared, said / spread, strict=True))


def test_impure_labels_let_the_order_in_recall_depend_on_the_share():
    # Of 1000 labelled rows one model flags 450, the other 400; of 4000 unlabeled ones 1400 and
    # 1000. Recall is [(1 - a) g - (1 - κ) q]/(κ - a) (Jain et al. 2017, eq. 1), so it is the
    # same at (1 - a)(.45 - .40) = (1 - κ)(.35 - .25): a = 1/3 at a purity of 2/3.
    y = np.repeat([1, -1], [1000, 4000])
    one, other = (np.zeros(5000) for _ in range(2))
    one[:450], one[1000:2400] = 1.0, 1.0
    other[:400], other[1000:2000] = 1.0, 1.0
    options = {"unlabeled": -1, "threshold": 0.5}
    assume = uc.RandomLabels(unlabeled_prevalence=0.2, purity=2 / 3)
    impure = uc.compare(y, {"a": one, "b": other}, assume=assume, **options)
    found = impure.difference("recall")
    assert found.depends_on_prevalence
    assert found.crossover == pytest.approx(1 / 3, abs=1e-3)
    for metric in ("roc_auc", "lift_auc", "precision", "mcc"):
        assert not impure.difference(metric).depends_on_prevalence
    pure = uc.compare(y, {"a": one, "b": other}, unlabeled_prevalence=0.2, **options)
    assert not pure.difference("recall").depends_on_prevalence


def test_what_does_not_exist_is_not_certain():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 40))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        two_labels = uc.compare(
            np.repeat([1, -1], [2, 38]), {"a": one, "b": other}, unlabeled=-1, prevalence=0.2
        ).difference("average_precision")
        nothing_flagged = uc.compare(
            np.repeat([1, -1], [15, 25]),
            {"a": one, "b": other, "c": -one},
            unlabeled=-1,
            prevalence=0.5,
            threshold=99.0,
        )
    assert np.isnan([two_labels.p_value, two_labels.better_probability]).all()
    for found in (d for d in nothing_flagged.differences if d.metric == "precision"):
        assert np.isnan([found.p_value, found.adjusted_p_value, found.better_probability]).all()
    assert nothing_flagged.difference("recall").p_value == 1


@pytest.mark.parametrize("options", [{}, {"threshold": CUT}])
def test_memory_grows_with_the_rows_and_no_faster(options):
    rng = np.random.default_rng(1)
    truth = rng.random(20_000) < 0.2
    one, other = models(truth, rng)
    y = np.where(truth & (rng.random(20_000) < 0.1), 1, -1)
    tracemalloc.start()
    uc.compare(y, {"a": one, "b": other}, unlabeled=-1, prevalence=0.2, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1000 * len(y)  # a matrix of 500 resamples takes 2,000 to 4,000 bytes a row


def test_over_a_range_of_prevalences_the_error_is_that_of_its_worst_end():
    """Two models that find as many labels differ by 0 at every share, within a chance."""
    y = np.repeat([1, 1, 1, 1, 0], [4, 4, 11, 11, 4000])
    one = np.concatenate([np.ones(4), np.zeros(26), (np.arange(4000) % 40 == 0)])
    other = np.concatenate([np.zeros(4), np.ones(4), np.zeros(22), (np.arange(4000) % 40 == 1)])
    models = {"one": one, "other": other}
    ask = {"unlabeled": 0, "threshold": 0.5}

    def reach(prevalence):
        found = uc.compare(y, models, prevalence=prevalence, **ask).difference("precision")
        assert found.difference.value == pytest.approx(0, abs=1e-12)
        return found.difference.high

    assert reach((0.01, 0.03)) == pytest.approx(reach(0.03), rel=1e-6)
    assert reach((0.01, 0.03)) > 1.2 * reach(0.02)
