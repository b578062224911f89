"""Errors and coverages of the score-based prevalence estimators against known truth.

The bench: normals 1, 2 and 4 standard deviations apart and overlapping uniforms; shares .1, .3,
.5, .8; 100 or 1,000 labels; 1,000 or 10,000 unlabeled rows. Real sets are used when their folder
is there.
"""

import itertools
import os
import pathlib
from functools import cache

import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import (
    AlphaMax,
    AlphaMaxN,
    BestBin,
    Consensus,
    Dedpul,
    ElkanNoto,
    NoisyComposition,
    NoisyConsensus,
    PatraSen,
    RocSlope,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::undercount.errors.MisfitWarning"),
    pytest.mark.filterwarnings("ignore::undercount.errors.SmallSampleWarning"),
]

FAMILIES = ("normal 1", "normal 2", "normal 4", "uniform")
DATA = pathlib.Path(
    os.environ.get("UNDERCOUNT_DATA", pathlib.Path(__file__).parents[3] / "shared" / "data")
)


def scores(rng, family, n_positive, n_negative):
    if family == "uniform":
        return rng.uniform(0, 1, n_positive), rng.uniform(-0.5, 0.5, n_negative)
    return rng.normal(float(family[-1]), 1, n_positive), rng.normal(0, 1, n_negative)


def counted(labelled, unlabeled):
    y = np.repeat([1, -1], [len(labelled), len(unlabeled)])
    return uc.ScoreCounts.from_rows(y, np.concatenate([labelled, unlabeled]), unlabeled=-1)


@cache
def bench(n_repeats=3):
    """Return (family, share, counts) of every setting."""
    rng = np.random.default_rng(20)
    problems = []
    for family in FAMILIES:
        for share in (0.1, 0.3, 0.5, 0.8):
            for m, n in ((100, 1000), (100, 10_000), (1000, 1000), (1000, 10_000)):
                for _ in range(n_repeats):
                    hidden = round(share * n)
                    positive, negative = scores(rng, family, m + hidden, n - hidden)
                    rest = np.concatenate([positive[m:], negative])
                    problems.append((family, share, counted(positive[:m], rest)))
    return problems


def mean_error(estimator):
    found = [estimator.fit(counts).unlabeled_prevalence_ for _, _, counts in bench()]
    return np.mean(np.abs(np.array(found) - [share for _, share, _ in bench()]))


@pytest.mark.parametrize(
    ("estimator", "largest"),
    [
        (Dedpul(n_resamples=0), 0.077),
        (Dedpul(monotone=True, n_resamples=0), 0.103),
        (BestBin(n_resamples=0), 0.095),
        (RocSlope(n_resamples=0), 0.099),
        (AlphaMax(n_resamples=0), 0.100),
        (PatraSen(n_resamples=0), 0.122),
        (ElkanNoto(n_resamples=0), 0.213),
        (Consensus(), 0.060),
    ],
    ids=lambda value: repr(value) if not isinstance(value, float) else "",
)
def test_mean_error_on_synthetic_scores(estimator, largest):
    assert mean_error(estimator) <= largest


@cache
def consensus_runs():
    return [(family, share, Consensus().fit(counts)) for family, share, counts in bench()]


def test_consensus_interval_covers_where_classes_are_apart():
    inside = [
        share in run.interval_ for family, share, run in consensus_runs() if family[-1] != "1"
    ]
    assert np.mean(inside) >= 0.85


def test_consensus_says_when_classes_overlap_too_much():
    runs = [run for family, _, run in consensus_runs() if family == "normal 1"]
    assert np.mean([not run.diagnostics_["identified"] for run in runs]) >= 0.9
    far = [run for family, _, run in consensus_runs() if family == "normal 4"]
    assert np.mean([run.diagnostics_["identified"] for run in far]) >= 0.8
    width = [np.mean([run.interval_.width for run in group]) for group in (runs, far)]
    assert width[0] > 2 * width[1]


@pytest.mark.parametrize("estimator", [RocSlope(n_resamples=0), BestBin(n_resamples=0)])
def test_upper_bounds_hold(estimator):
    held = [estimator.fit(counts).upper_bound_ >= share for _, share, counts in bench()]
    # 95 and 90 % are promised.
    assert np.mean(held) >= 0.95


def noisy_error(estimator):
    rng = np.random.default_rng(21)
    errors = []
    for family in FAMILIES[1:]:
        for purity in (1.0, 0.95, 0.75):
            for share in (0.1, 0.3, 0.5):
                m, n = 1000, 10_000
                good, hidden = round(purity * m), round(share * n)
                positive, negative = scores(rng, family, good + hidden, m + n - good - hidden)
                labelled = np.concatenate([positive[:good], negative[: m - good]])
                rest = np.concatenate([positive[good:], negative[m - good :]])
                run = estimator.fit(counted(labelled, rest))
                errors.append(run.label_purity_ - run.unlabeled_prevalence_ - purity + share)
    return np.mean(np.abs(errors))


def test_noisy_composition_finds_purity_minus_share():
    best = noisy_error(NoisyComposition(n_resamples=0))
    assert best <= 0.035
    assert noisy_error(AlphaMaxN(n_resamples=0)) > best


def noisy_problems(n_draws=6):
    """Yield (share, purity, counts): few and many labels, classes apart by 2 sd or more."""
    rng = np.random.default_rng(22)
    for family in FAMILIES[1:]:
        for purity in (1.0, 0.95, 0.75):
            for share in (0.1, 0.3, 0.5):
                for m, n in ((100, 1000), (1000, 5000)):
                    for _ in range(n_draws):
                        good, hidden = round(purity * m), round(share * n)
                        sizes = good + hidden, m + n - good - hidden
                        positive, negative = scores(rng, family, *sizes)
                        labelled = np.concatenate([positive[:good], negative[: m - good]])
                        rest = np.concatenate([positive[good:], negative[m - good :]])
                        yield share, purity, counted(labelled, rest)


def test_noisy_consensus_finds_purity_minus_share():
    assert noisy_error(NoisyConsensus()) <= 0.035


def classifier_problems():
    """Yield (share, purity, counts) of classifiers' scores on features not used in training."""
    from sklearn.datasets import make_classification  # noqa: PLC0415 - slow to import

    from undercount.prevalence import out_of_fold_scores  # noqa: PLC0415

    for seed, (distance, purity, share) in enumerate(
        itertools.product((1.0, 1.5, 2.0), (1.0, 0.95, 0.75), (0.2, 0.4))
    ):
        rng = np.random.default_rng(seed)
        features, real = make_classification(
            12_000,
            10,
            n_informative=6,
            n_clusters_per_class=3,
            class_sep=distance,
            flip_y=0,
            random_state=seed,
        )
        positive, negative = (rng.permutation(np.flatnonzero(real == k)) for k in (1, 0))
        m, n = 300, 2000
        good, hidden = round(purity * m), round(share * n)
        labelled = np.concatenate([positive[:good], negative[: m - good]])
        rest = np.concatenate([positive[good:][:hidden], negative[m - good :][: n - hidden]])
        y = np.repeat([1.0, 0.0], [m, n])
        x = features[np.concatenate([labelled, rest])]
        score = out_of_fold_scores(y, x, unlabeled=0, random_state=0)
        yield share, purity, uc.ScoreCounts.from_rows(y, score, unlabeled=0)


def test_noisy_consensus_beats_the_composition_on_scores_of_classifiers():
    errors = {}
    for share, purity, counts in classifier_problems():
        for estimator in (NoisyConsensus(), NoisyComposition(n_resamples=0)):
            run = estimator.fit(counts)
            error = abs(run.label_purity_ - run.unlabeled_prevalence_ - purity + share)
            errors.setdefault(type(estimator).__name__, []).append(error)
    assert np.mean(errors["NoisyConsensus"]) < np.mean(errors["NoisyComposition"])


def test_noisy_consensus_intervals_cover():
    inside = []
    for share, purity, counts in noisy_problems():
        run = NoisyConsensus().fit(counts)
        purities = run.diagnostics_["label_purity_interval"]
        inside.append((share in run.interval_, purity in purities))
    assert np.mean(inside, axis=0).min() >= 0.85


REAL = (
    "bank",
    "landsat_jain",
    "mushroom_jain",
    "pageblock_jain",
    "shuttle",
    "spambase",
    "wine_jain",
)


def real_sets():
    import duckdb  # noqa: PLC0415 - only where the folder is there
    from sklearn.datasets import load_breast_cancer, load_digits  # noqa: PLC0415

    yield load_breast_cancer(return_X_y=True)
    features, digit = load_digits(return_X_y=True)
    yield features, digit % 2
    yield features, (digit < 5).astype(int)
    for name in REAL:
        frame = duckdb.sql(f"select * from '{DATA / name}.parquet'").df()  # noqa: S608 - our own path
        y = frame.pop("y").to_numpy().astype(int)
        yield frame.to_numpy(dtype=float), y


def real_problem(rng, features, y, positive_class, share):
    """Return features, labels and the true share of one draw of up to 500 and 2,500 rows."""
    positive, negative = np.flatnonzero(y == positive_class), np.flatnonzero(y != positive_class)
    shrink = min(
        1, 0.9 * len(positive) / (500 + share * 2500), 0.95 * len(negative) / ((1 - share) * 2500)
    )
    m, n = int(500 * shrink), int(2500 * shrink)
    hidden = round(share * n)
    chosen = np.concatenate(
        [rng.permutation(positive)[: m + hidden], rng.permutation(negative)[: n - hidden]]
    )
    order = rng.permutation(len(chosen))
    return features[chosen][order], np.repeat([1, 0], [m, n])[order], hidden / n


@pytest.mark.skipif(not (DATA / "bank.parquet").exists(), reason="the real data sets are not here")
@pytest.mark.parametrize(("name", "largest"), [("boosting", 0.045), ("logistic", 0.055)])
def test_consensus_error_on_real_sets(name, largest):
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.model_selection import StratifiedKFold, cross_val_predict  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    classifier = {
        "boosting": HistGradientBoostingClassifier(early_stopping=False, random_state=0),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    }[name]
    rng = np.random.default_rng(22)
    errors = []
    for features, y in real_sets():
        for positive_class in (0, 1):
            for share in (0.1, 0.3, 0.5, 0.8):
                x, labelled, truth = real_problem(rng, features, y, positive_class, share)
                folds = StratifiedKFold(5, shuffle=True, random_state=0)
                score = cross_val_predict(
                    classifier, x, labelled, cv=folds, method="predict_proba"
                )[:, 1]
                run = Consensus().fit(labelled, score, unlabeled=0)
                errors.append(run.unlabeled_prevalence_ - truth)
    assert np.mean(np.abs(errors)) <= largest
