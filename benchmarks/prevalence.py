"""Error, coverage and time of every prevalence estimator, and its speed against published code.

    python benchmarks/prevalence.py [--quick] [--repeats R] [--resamples B] [--data-dir DIR]
                                    [--only PART] [--cache FILE]

Parts: `synthetic` (known truth: normals 1, 2, 4 sd apart and overlapping uniforms), `real` (ten
data sets, see `prevalence_real.py`; out-of-fold scores of boosting and of logistic regression),
`speed` (ratios to the plain transcriptions of `published_prevalence.py` in the same run, and a
million scores), `memory` (kernel means on 10,000 rows). Errors stand beside those of an earlier
bench of the same families, drawn by others with the published code. Times are CPU seconds; run
with OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import argparse
import itertools
import pathlib
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
import published_prevalence as published
from prevalence_real import CHOSEN_ON, NEVER_LOOKED_AT, SIZES, problems
from prevalence_table import BOOSTING, LOGISTIC, SYNTHETIC, Results, merge
from sklearn.preprocessing import StandardScaler

import undercount as uc
from undercount import prevalence as up
from undercount.prevalence.alpha_max import SHARE_GRID, histograms, likelihood_curve
from undercount.prevalence.distance_curve import matching_curve
from undercount.prevalence.kernel_mean.kernel_mean import feature_kernel_means
from undercount.prevalence.ranks import on_scale

SCORE_METHODS = {
    "Consensus": up.Consensus,
    "Dedpul": up.Dedpul,
    "Dedpul, monotone": lambda **keys: up.Dedpul(monotone=True, **keys),
    "BestBin": up.BestBin,
    "PatraSen": up.PatraSen,
    "RocSlope": up.RocSlope,
    "KernelMean KM1": up.KernelMean,
    "KernelMean KM2": lambda **keys: up.KernelMean("KM2", **keys),
    "AlphaMax": up.AlphaMax,
    "DistCurve": up.DistCurve,
    "ElkanNoto": up.ElkanNoto,
}
FEATURE_METHODS = {
    "KM1, features": lambda **keys: up.KernelMean(max_rows=2000, **keys),
    "KM2, features": lambda **keys: up.KernelMean("KM2", max_rows=2000, **keys),
    "TIcE, features": up.TIcE,
    "PenL1, features": up.PenL1,
}
# Whose intervals would take minutes to resample: KM and matching.
NO_RESAMPLES = ("KernelMean KM1", "KernelMean KM2", "DistCurve")
SHARES = (0.1, 0.3, 0.5, 0.8)
SMALL = 1100
FEW_LABELS = 120


def synthetic_problem(rng, family, share, n_labelled, n_unlabeled):
    """Return labels, scores, and five (two) features with the same overlap."""
    n_hidden = round(share * n_unlabeled)
    positive = np.arange(n_labelled + n_unlabeled) < n_labelled + n_hidden
    if family == "uniform":
        X = rng.random((positive.size, 2)) - np.where(positive, 0, 0.6)[:, None]
        score = X[:, 0]
    else:
        distance = float(family.split()[1])
        X = rng.normal(positive[:, None] * distance / np.sqrt(5), 1, (positive.size, 5))
        score = X.sum(axis=1)
    y = np.where(np.arange(positive.size) < n_labelled, 1.0, np.nan)
    return y, score, X


def synthetic(*, repeats, quick, n_resamples):
    families = ("normal 1", "normal 2", "normal 4", "uniform")
    sizes = [(100, 1000)] if quick else list(itertools.product((100, 1000), (1000, 10_000)))
    scores, features, by_family = Results(), Results(), {name: Results() for name in families}
    rng = np.random.default_rng(2024)
    for repeat, family, share, (m, n) in itertools.product(range(repeats), families, SHARES, sizes):
        y, score, X = synthetic_problem(rng, family, share, m, n)
        counts = uc.ScoreCounts.from_rows(y, score)
        for name, method in SCORE_METHODS.items():
            number = 0 if repeat or name in NO_RESAMPLES else n_resamples
            scores.run(name, method, share, counts, n_resamples=number)
        by_family[family].rows.setdefault("Consensus", []).append(scores.rows["Consensus"][-1])
        if n == 1000 and repeat == 0:  # features cost more
            for name, method in FEATURE_METHODS.items():
                features.run(name, method, share, y, X, n_resamples=0)
    scores.show("Synthetic, scores", SYNTHETIC)
    features.show("Synthetic, features", SYNTHETIC)
    for family, results in by_family.items():
        results.show(f"Consensus, {family}")


def real(*, data_dir, cache, quick):
    """Show errors on the real draws: all, each half of the data sets, few and many labels."""
    names = (CHOSEN_ON + NEVER_LOOKED_AT)[:: 7 if quick else 1]
    wanted = SIZES[: 1 if quick else None]
    tables = {}
    for name, X, labelled, share, scores in problems(data_dir, names, cache, wanted):
        half = "first half" if name in CHOSEN_ON else "second half"
        labels = f"{'up to' if labelled.sum() <= FEW_LABELS else 'over'} {FEW_LABELS} labels"
        y = np.where(labelled == 1, 1.0, np.nan)
        found = {scorer: on_scores(y, score, share) for scorer, score in scores.items()}
        found["features"] = on_features(y, X, share)
        for scorer, one in found.items():
            parts = ("all", half, labels) if scorer != "features" else ("all", half)
            merge(one, *(tables.setdefault((part, scorer), Results()) for part in parts))
        print(".", end="", flush=True)
    for (part, scorer), results in sorted(tables.items()):
        results.show(f"Real, {scorer}, {part}", LOGISTIC if scorer == "logistic" else BOOSTING)


def on_scores(y, score, share):
    """Run every score method once."""
    one = Results()
    counts = uc.ScoreCounts.from_rows(y, score)
    for name, method in SCORE_METHODS.items():
        one.run(name, method, share, counts, n_resamples=0)
    return one


def on_features(y, X, share):
    """Run the feature methods once; those that take long only on few rows."""
    one = Results()
    one.run("SharpestScorer", up.SharpestScorer, share, y, X, n_resamples=0)
    if len(y) <= SMALL:
        scaled = StandardScaler().fit_transform(X)
        for name, method in FEATURE_METHODS.items():
            one.run(name, method, share, y, scaled, n_resamples=0)
    return one


def clocked(function, *arguments, times=1):
    spent = []
    for _ in range(times):
        start = time.process_time()
        found = function(*arguments)
        spent.append(time.process_time() - start)
    return found, min(spent)


def compare(name, ours, theirs, difference):
    (_, fast), (_, slow) = ours, theirs
    print(f"{name:26} {fast:9.4f} {slow:9.3f} {slow / fast:8.0f} x   difference {difference:.1e}")


def speed(*, quick):
    n = 2000 if quick else 10_000
    rng = np.random.default_rng(1)
    logit = np.concatenate(
        [rng.normal(1, 1, n // 10 + 3 * n // 10), rng.normal(-1, 1, 7 * n // 10)]
    )
    score = 1 / (1 + np.exp(-2 * logit))
    labelled, unlabeled = score[: n // 10], score[n // 10 :]
    counts = uc.ScoreCounts.from_rows(np.repeat([1, -1], [n // 10, n]), score, unlabeled=-1)
    print(f"\nSpeed at {n} unlabeled and {n // 10} labelled scores, CPU seconds")
    print(f"{'method':26} {'ours':>9} {'published':>9} {'ratio':>10}")
    for name, method, peer in (
        ("RocSlope", up.RocSlope(n_resamples=0), published.roc_slope),
        ("BestBin", up.BestBin(n_resamples=0), published.best_bin),
        ("Dedpul", up.Dedpul(scale="score", n_resamples=0), published.dedpul),
        (
            "Dedpul, monotone",
            up.Dedpul(monotone=True, scale="score", n_resamples=0),
            lambda a, b: published.dedpul(a, b, monotone=True),
        ),
    ):
        ours = clocked(method._estimate, counts, times=5)  # noqa: SLF001 - counting is apart
        theirs = clocked(peer, labelled, unlabeled)
        compare(name, ours, theirs, abs(ours[0].value - theirs[0]))
    # Both ways: the optimiser's time grows with the bins, two or three dozen on the logit scale
    # and ten on squashed scores.
    y = np.repeat([1, -1], [n // 10, n])
    for name, values in (("AlphaMax, logit scores", logit), ("AlphaMax, squashed", score)):
        counts = uc.ScoreCounts.from_rows(y, values, unlabeled=-1)
        bins = histograms(*on_scale(counts, "score"), counts.n_positive)
        ours = clocked(likelihood_curve, *bins, times=20)
        theirs = clocked(published.alpha_max_curve, *bins, SHARE_GRID)
        # Where the optimiser stops early it lies below our maximum; so the median.
        compare(name, ours, theirs, np.median(np.abs(ours[0] - theirs[0])))
    draws = rng.integers(len(labelled), size=(10, n))
    ours = clocked(matching_curve, labelled, unlabeled, draws, times=3)
    theirs = clocked(published.matching_curve, labelled, unlabeled, draws)
    compare("DistCurve", ours, theirs, np.abs(ours[0] - theirs[0]).max())
    kernel_speed(rng, quick=quick)
    million(rng, quick=quick)


def features_of(rng, n_rows):
    """Return features: a quarter labelled, three tenths of the rest positive."""
    labelled = np.arange(n_rows) < n_rows // 4
    positive = labelled | (rng.random(n_rows) < 0.3)
    X = rng.normal(0, 1, (n_rows, 115))
    X[:, :5] += positive[:, None] * 3 / np.sqrt(5)
    return X[labelled], X[~labelled]


def kernel_speed(rng, *, quick):
    sizes, full = ((200, 400), 1000) if quick else ((500, 1000), 4000)
    spent = []
    for size in sizes:
        theirs = clocked(published.kernel_means, *features_of(rng, size))
        spent.append(theirs[1])
    growth = np.log(spent[1] / spent[0]) / np.log(sizes[1] / sizes[0])
    expected = spent[1] * (full / sizes[1]) ** growth
    ours = clocked(feature_kernel_means, *features_of(rng, full))
    print(
        f"KM1 and KM2, {full} x 115     {ours[1]:9.3f} {expected:9.1f} {expected / ours[1]:8.0f} x"
        f"   (published: {spent[0]:.2f} s at {sizes[0]}, {spent[1]:.2f} s at {sizes[1]} rows,"
        f" growth {growth:.2f}, extrapolated)"
    )


def million(rng, *, quick):
    n = 100_000 if quick else 1_000_000
    score = np.concatenate([rng.normal(2, 1, 2 * n // 5), rng.normal(0, 1, 7 * n // 10)])
    y = np.repeat([1, -1], [n // 10, n])
    counts, spent = clocked(lambda: uc.ScoreCounts.from_rows(y, score, unlabeled=-1))
    print(f"\n{n} unlabeled scores (3 in 10 positive): counting {spent:.2f} s, then")
    for name, method in SCORE_METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, spent = clocked(method(n_resamples=0, random_state=0).fit, counts)
        print(f"{name:20} {found.unlabeled_prevalence_:.3f} {spent:8.3f} s")


def memory(*, quick):
    n = 2000 if quick else 10_000
    code = (
        "import numpy as np, prevalence as p;"
        f"p.feature_kernel_means(*p.features_of(np.random.default_rng(0), {n}))"
    )
    here = pathlib.Path(__file__).parent
    subprocess.run([sys.executable, "-c", code], check=True, cwd=here)  # noqa: S603 - our own code
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nKM1 and KM2 on {n} x 115 features: peak memory {peak:.0f} MB, Python included")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, a few CPU minutes")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--resamples", type=int, default=20, help="for the intervals on synthetic data"
    )
    parser.add_argument("--cache", help="file that keeps the real sets' out-of-fold scores")
    parser.add_argument("--data-dir", type=pathlib.Path, default=pathlib.Path("data"))
    parser.add_argument("--only", choices=["synthetic", "real", "speed", "memory"])
    args = parser.parse_args()
    if args.only in (None, "synthetic"):
        n_resamples = 0 if args.quick else args.resamples
        synthetic(repeats=args.repeats, quick=args.quick, n_resamples=n_resamples)
    if args.only in (None, "real"):
        real(data_dir=args.data_dir, cache=args.cache, quick=args.quick)
    if args.only in (None, "speed"):
        speed(quick=args.quick)
    if args.only in (None, "memory"):
        memory(quick=args.quick)


if __name__ == "__main__":
    main()
