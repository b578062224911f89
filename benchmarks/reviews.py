"""How sharp and how honest metrics from reviewed rows are, beside a uniform sample of rows.

    python benchmarks/reviews.py accuracy --repeats 400     errors at 500 and 100 reviews
    python benchmarks/reviews.py coverage --repeats 400     three levels, three prevalences
    python benchmarks/reviews.py few --repeats 400          60 reviews planned for precision alone
    python benchmarks/reviews.py test --repeats 400         size and power of the test of labels
    python benchmarks/reviews.py rounds --repeats 400       two rounds, and looking after each batch
    python benchmarks/reviews.py real --data ../shared/data sets of real rows, labels hidden
    python benchmarks/reviews.py speed                      planning and evaluating ten million rows

Rows are drawn from two normal distributions unless sets are real; a share `frequency` of the
positives carries a label, with log odds that rise by `slope` per standard deviation of the score.
The guess of the hidden share with which a plan is made is off by a third either way.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import undercount as uc
from undercount.read.plan import Prices, _draw, knots_of
from undercount.read.reviewed import Reviewed

POINTS = ("precision", "recall", "f1")
METRICS = (*POINTS, "roc_auc", "average_precision")
LEVELS = (0.8, 0.9, 0.95)
N_ROWS, REDRAWN = 20_000, 5


def draw_rows(rng, prevalence=0.1, separation=2.2, frequency=0.3, slope=0.0, n_rows=N_ROWS):
    """Return truth, scores and labels."""
    truth = rng.random(n_rows) < prevalence
    score = rng.normal(separation * truth)
    return truth, score, draw_labels(rng, truth, score, frequency, slope)


def draw_labels(rng, truth, score, frequency, slope):
    """Label positives with log odds that rise with the standardised score."""
    own = score[truth]
    z = slope * (score - own.mean()) / own.std()
    shift = brentq(lambda b: expit(b + z[truth]).mean() - frequency, -20, 20)
    return np.where(truth & (rng.random(len(truth)) < expit(shift + z)), 1, -1)


def best_threshold(prevalence, separation):
    """Return the threshold of the largest F1."""
    cut = np.linspace(-1, 6, 1401)
    hits = prevalence * norm.sf(cut - separation)
    return float(cut[np.argmax(2 * hits / (prevalence + hits + (1 - prevalence) * norm.sf(cut)))])


def truth_of(truth, score, threshold):
    """Return the metrics of these rows."""
    flagged = score >= threshold
    hits = np.sum(truth & flagged)
    return {
        "precision": hits / flagged.sum(),
        "recall": hits / truth.sum(),
        "f1": 2 * hits / (flagged.sum() + truth.sum()),
        "roc_auc": roc_auc_score(truth, score),
        "average_precision": average_precision_score(truth, score),
    }


def review(rng, rows, threshold, budget, goal="f1", *, uniform=False):
    """Plan, look, and return the counts, the design and the verdicts."""
    truth, score, y = rows
    pool = np.flatnonzero(y == -1)
    share = truth[pool].mean() * np.exp(rng.normal(0, 0.3))
    knots = [*knots_of(score[pool]), threshold]
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=-1, compact=True, knots=knots)
    seed = int(rng.integers(2**31))
    design = uc.design_reviews(
        counts, budget=budget, goal=goal, threshold=threshold,
        unlabeled_prevalence=min(share, 0.9), random_state=seed,
    )  # fmt: skip
    if uniform:
        order = np.zeros(budget, dtype=int)
        design = uc.ReviewDesign(
            [score[pool].min()], [len(pool)], order, share, seed, (goal,), threshold
        )
    chosen = _draw(design, pool, design.stratum_of(score[pool]))
    reviews = uc.Reviews(chosen, truth[chosen], score[chosen], design.order, design)
    return counts, design, reviews


class Tally:
    """Errors, coverages and widths of many repeats."""

    def __init__(self):
        self.errors, self.held, self.half = {}, {}, {}

    def add(self, estimates, expected, level=0.95):
        """Compare estimates with what is true."""
        for metric, estimate in estimates.items():
            self.errors.setdefault(metric, []).append(estimate.value - expected[metric])
            # Where all flagged rows were looked at there is rounding alone.
            inside = estimate.low - 1e-9 <= expected[metric] <= estimate.high + 1e-9
            self.held.setdefault((metric, level), []).append(inside)
            if level == LEVELS[-1]:
                self.half.setdefault(metric, []).append((estimate.high - estimate.low) / 2)

    def rmse(self, metric):
        """Return the root mean square error, where anything could be said."""
        return float(np.nanmean(np.square(self.errors[metric])) ** 0.5)

    def coverage(self, metric, level=0.95):
        """Return how often the interval held the truth."""
        return float(np.mean(self.held[metric, level]))


def estimates_of(reviewed, threshold, labels):
    """Return every metric under one supposition."""
    estimator = reviewed.metrics(labels)
    return {m: estimator.estimate(m, threshold if m in POINTS else None) for m in METRICS}


def simulate(
    *,
    labels="any",
    budget=500,
    repeats=200,
    seed=1,
    uniform=False,
    levels=(0.95,),
    goal="f1",
    **kind,
):
    """Repeat: rows, labels, plan, verdicts, metrics. Rows are redrawn every few repeats."""
    rng = np.random.default_rng(seed)
    threshold = best_threshold(kind.get("prevalence", 0.1), kind.get("separation", 2.2))
    tally, predicted, rejected = Tally(), [], []
    redrawn = 1 if labels == "random" else REDRAWN
    for repeat in range(repeats):
        if repeat % redrawn == 0:
            rows = draw_rows(rng, **kind)
            expected = truth_of(*rows[:2], threshold)
        counts, design, reviews = review(rng, rows, threshold, budget, goal, uniform=uniform)
        for level in levels:
            reviewed = Reviewed(counts, reviews, labels, confidence_level=level)
            tally.add(estimates_of(reviewed, threshold, labels), expected, level)
        predicted.append(Prices.of(counts, design).half_width(goal, budget))
        rejected.append(reviewed.rejected)
    return tally, float(np.mean(predicted)), float(np.mean(rejected))


def accuracy(repeats):
    """Print root mean square errors."""
    print("| labels | reviews | " + " | ".join(METRICS) + " | planned ± of F1 over achieved |")
    print("|---" * (len(METRICS) + 3) + "|")
    for name, kind in (
        ("random, nothing supposed", {}),
        ("slope +1, nothing supposed", {"slope": 1.0}),
        ("slope -1, nothing supposed", {"slope": -1.0}),
        ("random, supposed random", {"labels": "random"}),
        ("random, uniform sample", {"uniform": True}),
    ):
        for budget in (500, 100):
            tally, planned, _ = simulate(budget=budget, repeats=repeats, **kind)
            errors = " | ".join(f"{tally.rmse(m):.3f}" for m in METRICS)
            ratio = planned / np.mean(tally.half["f1"])
            print(f"| {name} | {budget} | {errors} | {ratio:.2f} |", flush=True)


def coverage(repeats, labels="any", levels=LEVELS):
    """Print coverages at three levels."""
    print("| prevalence | slope | reviews | level | " + " | ".join(METRICS) + " |")
    print("|---" * (len(METRICS) + 4) + "|")
    for prevalence in (0.01, 0.1, 0.4):
        for slope in (0.0, 1.0, -1.0) if labels == "any" else (0.0,):
            for budget in (50, 100, 500):
                kind = {"prevalence": prevalence, "slope": slope, "budget": budget}
                tally, *_ = simulate(labels=labels, repeats=repeats, levels=levels, **kind)
                for level in levels:
                    held = " | ".join(f"{tally.coverage(m, level):.3f}" for m in METRICS)
                    print(
                        f"| {prevalence} | {slope:+g} | {budget} | {level} | {held} |", flush=True
                    )


def few(repeats):
    """Print coverage where a plan for precision leaves a handful of reviews to the low scores."""
    print("| prevalence | slope | " + " | ".join(METRICS) + " | half-widths |")
    print("|---" * (len(METRICS) + 3) + "|")
    for prevalence in (0.01, 0.1, 0.4):
        for slope in (0.0, 1.0, -1.0):
            kind = {"prevalence": prevalence, "slope": slope, "budget": 60, "goal": "precision"}
            tally, *_ = simulate(repeats=repeats, **kind)
            held = " | ".join(f"{tally.coverage(m):.3f}" for m in METRICS)
            half = " ".join(f"{np.mean(tally.half[m]):.2f}" for m in METRICS)
            print(f"| {prevalence} | {slope:+g} | {held} | {half} |", flush=True)


def labels_test(repeats):
    """Print how often the test of random labels rejects at .05."""
    print("| prevalence | reviews | slope 0 | slope +.5 | slope -.5 |\n|---|---|---|---|---|")
    for prevalence in (0.01, 0.1, 0.4):
        for budget in (100, 500):
            found = [
                simulate(
                    labels="random",
                    prevalence=prevalence,
                    budget=budget,
                    slope=slope,
                    repeats=repeats,
                )[2]
                for slope in (0.0, 0.5, -0.5)
            ]
            print(
                f"| {prevalence} | {budget} | " + " | ".join(f"{f:.3f}" for f in found) + " |",
                flush=True,
            )


def rounds(repeats):
    """Print coverage after two rounds, and over all looks after each batch."""
    rng, threshold = np.random.default_rng(3), best_threshold(0.1, 2.2)
    looks = range(50, 501, 25)
    two, every = Tally(), {False: [], True: []}
    for _ in range(repeats):
        rows = draw_rows(rng)
        truth, score, y = rows
        expected = truth_of(truth, score, threshold)
        counts, _, reviews = review(rng, rows, threshold, 100)
        plan = uc.plan_reviews(
            y, score, unlabeled=-1, budget=200, threshold=threshold, reviews=reviews
        )
        joined = plan.answered(truth[plan.rows])
        two.add(estimates_of(Reviewed(counts, joined, "any"), threshold, "any"), expected)
        counts, _, reviews = review(rng, rows, threshold, 500)
        for sequential in (False, True):
            every[sequential].append(
                all(
                    look_holds(counts, reviews, n, sequential, threshold, expected["f1"])
                    for n in looks
                )
            )
    print(
        "two rounds (100 + 200):",
        {
            m: (round(two.rmse(m), 4), round(float(np.mean(two.errors[m])), 4), two.coverage(m))
            for m in METRICS
        },
    )
    fixed, anytime = (float(np.mean(every[kind])) for kind in (False, True))
    print(f"F1 held at all of {len(looks)} looks: fixed {fixed:.3f}, sequential {anytime:.3f}")


def look_holds(counts, reviews, n, sequential, threshold, expected):
    """Say whether the interval after n verdicts holds the truth."""
    verdict = np.where(np.arange(len(reviews.verdict)) < n, reviews.verdict, -1)
    seen = uc.Reviews(reviews.rows, verdict, reviews.score, reviews.stratum, reviews.design)
    found = Reviewed(counts, seen, "any", sequential=sequential).estimate("f1", threshold)
    return found.low <= expected <= found.high


REAL = ("bank", "spambase", "pendigit", "landsat_jain", "covtype_40k", "shuttle", "abalone")


def real(repeats, folder, sets=REAL):
    """Print errors and coverage on real rows scored out of fold, some of their labels hidden."""
    names = "rows | n | prevalence | AUC | labels | reviews | RMSE F1 | uniform"
    print(f"| {names} | coverage precision, recall, F1, AUC, AP |")
    print("|---" * 9 + "|")
    for name in sets:
        frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
        truth, X = frame["y"].to_numpy() == 1, frame.drop(columns="y").to_numpy(float)
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
        score = cross_val_predict(model, X, truth, cv=3, method="decision_function")
        score = score + 1e-9 * np.random.default_rng(0).random(len(score))
        order = np.argsort(-score)
        hits = np.cumsum(truth[order])
        threshold = float(
            score[order][np.argmax(2 * hits / (np.arange(1, len(hits) + 1) + hits[-1]))]
        )
        expected, budget = truth_of(truth, score, threshold), min(500, len(score) // 10)
        for slope in (0.0, 1.0, -1.0):
            rng, ours, plain = np.random.default_rng(7), Tally(), Tally()
            for _ in range(repeats):
                rows = truth, score, draw_labels(rng, truth, score, 0.3, slope)
                for tally, uniform in ((ours, False), (plain, True)):
                    counts, _, reviews = review(rng, rows, threshold, budget, uniform=uniform)
                    tally.add(
                        estimates_of(Reviewed(counts, reviews, "any"), threshold, "any"), expected
                    )
            held = ", ".join(f"{ours.coverage(m):.3f}" for m in METRICS)
            print(
                f"| {name} | {len(score):,} | {truth.mean():.3f} | {expected['roc_auc']:.3f} | "
                f"slope {slope:+g} | "
                f"{budget} | {ours.rmse('f1'):.4f} | {plain.rmse('f1'):.4f} | {held} |", flush=True,
            )  # fmt: skip


def speed(n_rows=10_000_000):
    """Print seconds of a plan and of an evaluation of the same rows."""
    rng = np.random.default_rng(0)
    _, score, y = draw_rows(rng, n_rows=n_rows)
    for name, call in (
        ("evaluate", lambda: uc.evaluate(y, score, unlabeled=-1, threshold=1.7)),
        ("plan", lambda: uc.plan_reviews(y, score, unlabeled=-1, threshold=1.7, budget=500)),
    ):
        start = time.perf_counter()
        call()
        print(f"{name}: {time.perf_counter() - start:.1f} s for {n_rows:,} rows", flush=True)


def main():
    """Run one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "part", choices=("accuracy", "coverage", "few", "random", "test", "rounds", "real", "speed")
    )
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--sets", nargs="*", default=REAL)
    asked = parser.parse_args()
    if asked.part == "speed":
        speed()
    elif asked.part == "real":
        real(asked.repeats, asked.data, asked.sets)
    elif asked.part == "random":
        coverage(asked.repeats, "random")
    else:
        parts = {"accuracy": accuracy, "coverage": coverage, "few": few, "test": labels_test}
        parts["rounds"] = rounds
        parts[asked.part](asked.repeats)


if __name__ == "__main__":
    main()
