"""How sharp and how honest metrics from reviewed rows are, beside a uniform sample of rows.

    python benchmarks/reviews.py accuracy --repeats 400     errors at 500 and 100 reviews
    python benchmarks/reviews.py coverage --repeats 400     three levels, three prevalences
    python benchmarks/reviews.py few --repeats 400          60 reviews planned for precision alone
    python benchmarks/reviews.py test --repeats 400         size and power of the test of labels
    python benchmarks/reviews.py rounds --repeats 400       two rounds, and looking after each batch
    python benchmarks/reviews.py real --data ../shared/data sets of real rows, labels hidden
    python benchmarks/reviews.py promises --repeats 30      half-widths of plans and those achieved
    python benchmarks/reviews.py speed                      planning and evaluating ten million rows

Rows are drawn from two normal distributions unless sets are real or `--shape mixed` is passed: half
of the positives are easy and half are hard to tell, and negatives have heavy tails, so that the
highest scores are not the surest. A share `frequency` of the positives carries a label, with log
odds that rise by `slope` per standard deviation of the score.
The guess of the hidden share with which a plan is made is off by a third either way.
"""

import argparse
import itertools
import time
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import undercount as uc
from undercount.assume.reviewed.answers import ReviewAnswers
from undercount.read.plan.expected_width import ExpectedWidths
from undercount.read.plan.hidden_positives import HiddenPositives
from undercount.read.plan.unlabeled_rows import UnlabeledRows

POINTS = ("precision", "recall", "f1")
METRICS = (*POINTS, "roc_auc", "average_precision")
LEVELS = (0.8, 0.9, 0.95)
PREVALENCES, SLOPES, BUDGETS = (0.01, 0.1, 0.4), (0.0, 1.0, -1.0), (50, 100, 500)
N_ROWS = 20_000


def expected_widths(counts, design):
    """Return what a plan says that reviews buy, if the share that it supposes is right."""
    return ExpectedWidths.of_first(counts, design, HiddenPositives(design.unlabeled_prevalence))


def draw_rows(rng, prevalence=0.1, shape="normal", frequency=0.3, slope=0.0, n_rows=N_ROWS):
    """Return truth, scores and labels."""
    truth = rng.random(n_rows) < prevalence
    score = draw_scores(rng, truth, shape)
    return truth, score, draw_labels(rng, truth, score, frequency, slope)


def draw_scores(rng, truth, shape):
    """Return scores: normal, or mixed (two kinds of positives, negatives of heavy tails)."""
    n_rows = len(truth)
    if shape == "normal":
        return rng.normal(2.2 * truth)
    easy = rng.random(n_rows) < 0.5
    positive = np.where(easy, rng.normal(3.5, 0.4, n_rows), rng.normal(1.8, 1.0, n_rows))
    return np.where(truth, positive, rng.standard_t(4, n_rows))


def draw_labels(rng, truth, score, frequency, slope):
    """Label positives with log odds that rise with the standardised score."""
    own = score[truth]
    z = slope * (score - own.mean()) / own.std()
    positive = z[truth]
    shift = brentq(lambda b: expit(b + positive).mean() - frequency, -20, 20)
    return np.where(truth & (rng.random(len(truth)) < expit(shift + z)), 1, -1)


def best_threshold(truth, score):
    """Return the threshold of the largest F1."""
    order = np.argsort(-score)
    hits = np.cumsum(truth[order])
    return float(score[order][np.argmax(2 * hits / (np.arange(1, len(hits) + 1) + hits[-1]))])


@cache
def threshold_of(prevalence=0.1, shape="normal"):
    """Return the threshold of the largest F1 of a million rows of a kind."""
    return best_threshold(*draw_rows(np.random.default_rng(0), prevalence, shape, n_rows=10**6)[:2])


def truth_of(truth, score, threshold):
    """Return the metrics of these rows, no two of which have the same score."""
    flagged = score >= threshold
    hits, n_positive = np.sum(truth & flagged), truth.sum()
    rank = 1 + np.flatnonzero(truth[np.argsort(-score)])
    above = np.arange(1, n_positive + 1)
    return {
        "precision": hits / flagged.sum(),
        "recall": hits / n_positive,
        "f1": 2 * hits / (flagged.sum() + n_positive),
        "roc_auc": 1 - np.mean(rank - above) / (len(truth) - n_positive),
        "average_precision": np.mean(above / rank),
    }


def review(rng, rows, threshold, budget, goal="f1", *, uniform=False):
    """Plan, look, and return the counts, the design and the verdicts."""
    truth, score, y = rows
    pool = np.flatnonzero(y == -1)
    share = truth[pool].mean() * np.exp(rng.normal(0, 0.3))
    everyone = UnlabeledRows(y, score)
    knots = [*everyone.knots, threshold]
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
    chosen = everyone.draw(design)
    reviews = uc.Reviews(chosen, truth[chosen], score[chosen], design.order, design)
    return counts, design, reviews


class Tally:
    """Errors, coverages and widths of many repeats."""

    def __init__(self):
        self.errors, self.held, self.half = {}, {}, {}
        self.planned, self.rejected = [], []

    def add(self, estimates, expected, level=0.95):
        """Compare estimates with what is true."""
        for metric, estimate in estimates.items():
            # Where all flagged rows were looked at there is rounding alone.
            inside = estimate.low - 1e-9 <= expected[metric] <= estimate.high + 1e-9
            self.held.setdefault((metric, level), []).append(inside)
            if level == LEVELS[-1]:
                self.errors.setdefault(metric, []).append(estimate.value - expected[metric])
                self.half.setdefault(metric, []).append((estimate.high - estimate.low) / 2)

    def rmse(self, metric):
        """Return the root mean square error, where anything could be said."""
        return float(np.nanmean(np.square(self.errors[metric])) ** 0.5)

    def coverage(self, metric, level=0.95):
        """Return how often the interval held the truth."""
        return float(np.mean(self.held[metric, level]))

    def said(self, metric):
        """Return in which draws anything could be said."""
        return ~np.isnan(self.errors[metric])

    def promise(self, metric="f1"):
        """Return the mean half-width that plans promised over the mean one achieved."""
        said = self.said(metric)
        return float(np.mean(self.planned, where=said) / np.mean(self.half[metric], where=said))

    def row(self):
        """Return coverages, how often nothing was said, errors, widths, promise and test."""
        levels = sorted({level for _, level in self.held})
        parts = [" ".join(f"{self.coverage(m, level):.3f}" for m in METRICS) for level in levels]
        parts.append(" ".join(f"{1 - np.mean(self.said(m)):.2f}" for m in METRICS))
        parts.append(" ".join(f"{self.rmse(m):.3f}" for m in METRICS))
        means = (np.mean(self.half[m], where=self.said(m)) for m in METRICS)
        parts.append(" ".join(f"{half:.3f}" for half in means))
        parts.append(f"{self.promise():.2f}")
        parts.append(f"{np.mean(self.rejected):.3f}")
        return " | ".join(parts)


def estimates_of(reviewed, threshold, labels, level=None):
    """Return every metric under one supposition, at the evaluation's level or another."""
    estimator = reviewed.metrics(labels)
    if level is not None:  # what verdicts say of the cells is the same at all levels
        estimator = replace(estimator, confidence_level=level)
    return {m: estimator.estimate(m, threshold if m in POINTS else None) for m in METRICS}


def simulate(
    *, labels="any", budget=500, repeats=200, seed=1, uniform=False, levels=LEVELS[-1:], goal="f1",
    prevalence=0.1, shape="normal", slope=0.0,
):  # fmt: skip
    """Repeat: rows, labels, plan, verdicts, metrics."""
    rng = np.random.default_rng([seed, budget, int(1000 * prevalence), int(10 * slope) + 20])
    threshold, tally = threshold_of(prevalence, shape), Tally()
    kind = {"prevalence": prevalence, "shape": shape, "slope": slope}
    for _ in range(repeats):
        rows = draw_rows(rng, **kind)
        expected = truth_of(*rows[:2], threshold)
        counts, design, reviews = review(rng, rows, threshold, budget, goal, uniform=uniform)
        reviewed = ReviewAnswers(counts, reviews, labels)
        for level in levels:
            tally.add(estimates_of(reviewed, threshold, labels, level), expected, level)
        tally.planned.append(expected_widths(counts, design).half_width(goal, budget))
        tally.rejected.append(reviewed.rejected)
    return tally


COLUMNS = "nothing said | errors | half-widths | promised | test rejects"


def head(first, levels=LEVELS):
    """Print the first lines of a table; cells hold precision, recall, F1, AUC and AP."""
    names = [*first, *(f"{level:g}" for level in levels), *COLUMNS.split(" | ")]
    print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|", flush=True)


def accuracy(asked):
    """Print errors at prevalence .1, with rows drawn evenly beside ours."""
    head(("labels", "reviews"), (0.95,))
    for name, kind in (
        ("random, nothing supposed", {}),
        ("slope +1, nothing supposed", {"slope": 1.0}),
        ("slope -1, nothing supposed", {"slope": -1.0}),
        ("random, supposed random", {"labels": "random"}),
        ("random, uniform sample", {"uniform": True}),
    ):
        for budget in (500, 100):
            tally = simulate(budget=budget, repeats=asked.repeats, seed=asked.seed, **kind)
            print(f"| {name} | {budget} | {tally.row()} |", flush=True)


def coverage(asked, labels="any"):
    """Print coverages at three levels, and all else."""
    head(("prevalence", "slope", "reviews"))
    for prevalence in asked.prevalence:
        for slope in SLOPES if labels == "any" else (0.0,):
            for budget in BUDGETS:
                tally = simulate(
                    labels=labels, repeats=asked.repeats, seed=asked.seed, levels=LEVELS,
                    prevalence=prevalence, slope=slope, budget=budget, shape=asked.shape,
                )  # fmt: skip
                print(f"| {prevalence} | {slope:+g} | {budget} | {tally.row()} |", flush=True)


def few(asked):
    """Print coverage where a plan for precision leaves a handful of reviews to the low scores."""
    head(("prevalence", "slope"))
    for prevalence in asked.prevalence:
        for slope in SLOPES:
            tally = simulate(
                repeats=asked.repeats, seed=asked.seed, levels=LEVELS, prevalence=prevalence,
                slope=slope, budget=60, goal="precision", shape=asked.shape,
            )  # fmt: skip
            print(f"| {prevalence} | {slope:+g} | {tally.row()} |", flush=True)


def labels_test(asked):
    """Print how often the test of random labels rejects at .05."""
    slopes = (0.0, 0.5, -0.5)
    print("| prevalence | reviews | slope 0 | slope +.5 | slope -.5 |\n|---|---|---|---|---|")
    for prevalence in asked.prevalence:
        threshold = threshold_of(prevalence, asked.shape)
        for budget in BUDGETS:
            found = []
            for slope in slopes:
                rng, rejected = np.random.default_rng([asked.seed, budget]), []
                for _ in range(asked.repeats):
                    rows = draw_rows(rng, prevalence, asked.shape, slope=slope)
                    counts, _, reviews = review(rng, rows, threshold, budget)
                    rejected.append(ReviewAnswers(counts, reviews).rejected)
                found.append(f"{np.mean(rejected):.3f}")
            print(f"| {prevalence} | {budget} | " + " | ".join(found) + " |", flush=True)


def rounds(asked):
    """Print coverage after two rounds, and over all looks after each batch."""
    rng, threshold = np.random.default_rng(asked.seed), threshold_of()
    looks = range(50, 501, 25)
    two, every = Tally(), {False: [], True: []}
    for _ in range(asked.repeats):
        rows = draw_rows(rng)
        truth, score, y = rows
        expected = truth_of(truth, score, threshold)
        counts, _, reviews = review(rng, rows, threshold, 100)
        plan = uc.plan_reviews(
            y, score, unlabeled=-1, budget=200, threshold=threshold, reviews=reviews
        )
        joined = plan.answered(truth[plan.rows])
        two.add(estimates_of(ReviewAnswers(counts, joined, "any"), threshold, "any"), expected)
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
    found = ReviewAnswers(counts, seen, "any", sequential=sequential).estimate("f1", threshold)
    return found.low <= expected <= found.high


REAL = (
    "spambase", "pageblock_jain", "landsat_jain", "pendigit", "waveform", "bank", "covtype_40k",
    "shuttle", "anuran", "abalone",
)  # fmt: skip
# Repeats whose plans are priced, and for which rows are drawn evenly beside.
PRICED = 50


def scored_rows(name, data, cache):
    """Return truth and scores out of fold of real rows, which are kept for the next time."""
    kept = Path(cache) / f"{name}.npz"
    if kept.exists():
        found = np.load(kept)
        return found["truth"], found["score"]
    frame = pd.read_parquet(Path(data) / f"{name}.parquet")
    truth, X = frame["y"].to_numpy() == 1, frame.drop(columns="y").to_numpy(float)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    score = cross_val_predict(model, X, truth, cv=folds, method="decision_function")
    score = score + 1e-9 * np.random.default_rng(0).random(len(score))
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.savez(kept, truth=truth, score=score)
    return truth, score


def real(asked):
    """Print errors and coverage on real rows scored out of fold, some of their labels hidden."""
    names = "rows | n | prevalence | AUC | slope | reviews | RMSE F1 | evenly | promised"
    print(f"| {names} | test rejects | coverage precision, recall, F1, AUC, AP |")
    print("|---" * 11 + "|")
    for name in asked.sets:
        truth, score = scored_rows(name, asked.data, asked.cache)
        threshold = best_threshold(truth, score)
        expected = truth_of(truth, score, threshold)
        about = f"{name} | {len(score):,} | {truth.mean():.3f} | {expected['roc_auc']:.3f}"
        for slope, budget in itertools.product(SLOPES, asked.reviews):
            if budget > len(score) / 8:
                continue
            rng = np.random.default_rng([asked.seed, budget, int(10 * slope) + 20])
            ours, plain = Tally(), Tally()
            for k in range(asked.repeats):
                rows = truth, score, draw_labels(rng, truth, score, 0.3, slope)
                counts, design, reviews = review(rng, rows, threshold, budget)
                reviewed = ReviewAnswers(counts, reviews, "any")
                ours.add(estimates_of(reviewed, threshold, "any"), expected)
                ours.rejected.append(reviewed.rejected)
                if k < PRICED:
                    ours.planned.append(expected_widths(counts, design).half_width("f1", budget))
                    counts, _, reviews = review(rng, rows, threshold, budget, uniform=True)
                    evenly = ReviewAnswers(counts, reviews, "any").estimate("f1", threshold)
                    plain.add({"f1": evenly}, expected)
            print(f"| {about} | {slope:+g} | {budget} | {_real_words(ours, plain)} |", flush=True)


def _real_words(ours, plain):
    """Write errors, promise, test and coverages of one design."""
    promised = np.mean(ours.planned) / np.nanmean(ours.half["f1"][: len(ours.planned)])
    errors = f"{ours.rmse('f1'):.4f} | {plain.rmse('f1'):.4f}"
    held = " ".join(f"{ours.coverage(m):.3f}" for m in METRICS)
    return f"{errors} | {promised:.2f} | {np.mean(ours.rejected):.3f} | {held}"


def promises(asked):
    """Print half-widths achieved over those promised, and how often the range held them.

    Plans are those of `plan_reviews`, which estimates the share from the labels.
    """
    names = "rows | slope | reviews | achieved / promised | in the range | above it | below it"
    print(f"| {names} | estimated / true share |\n" + "|---" * 8 + "|")
    kinds = [(f"normal, {prevalence}", prevalence) for prevalence in asked.prevalence]
    kinds += [(name, None) for name in asked.sets]
    for (name, prevalence), slope, budget in itertools.product(kinds, SLOPES, asked.reviews):
        rng, found = np.random.default_rng([asked.seed, budget, int(10 * slope) + 20]), []
        if prevalence is None:
            truth, score = scored_rows(name, asked.data, asked.cache)
            threshold = best_threshold(truth, score)
        else:
            threshold = threshold_of(prevalence)
        for k in range(asked.repeats):
            if prevalence is None:
                rows = truth, score, draw_labels(rng, truth, score, 0.3, slope)
            else:
                rows = draw_rows(rng, prevalence, slope=slope)
            found.append(promise_of(rows, threshold, budget, k))
        achieved, promised, low, high, share = np.transpose(found)
        above, below = np.mean(achieved > high), np.mean(achieved < low)
        words = f"{achieved.mean() / promised.mean():.2f} | {1 - above - below:.2f} | {above:.2f}"
        words += f" | {below:.2f} | {share.mean():.2f}"
        print(f"| {name} | {slope:+g} | {budget} | {words} |", flush=True)


def promise_of(rows, threshold, budget, seed):
    """Return the half-width of F1 that was achieved, promised and its range; the share's error."""
    truth, score, y = rows
    plan = uc.plan_reviews(
        y, score, unlabeled=-1, budget=budget, threshold=threshold, random_state=seed
    )
    counts = uc.ScoreCounts.from_rows(
        y, score, unlabeled=-1, compact=True, knots=[*plan.design.edges, threshold]
    )
    reached = ReviewAnswers(counts, plan.answered(truth[plan.rows])).estimate("f1", threshold)
    span = plan.expected_range[budget]["f1"]
    share = plan.design.unlabeled_prevalence / truth[y == -1].mean()
    width = (reached.high - reached.low) / 2
    return width, plan.expected[budget]["f1"], span.low, span.high, share


def speed(_, n_rows=10_000_000):
    """Print seconds of a plan and of an evaluation of the same rows, made and printed."""
    _, score, y = draw_rows(np.random.default_rng(0), frequency=0.04, n_rows=n_rows)
    options = {"unlabeled": -1, "threshold": 1.7}
    print("share | evaluate | plan | evaluate, printed | plan, printed | ratios")
    for name, share in (("given", {"prevalence": 0.1}), ("estimated", {})):
        evaluate = partial(uc.evaluate, y, score, **options, **share)
        plan = partial(uc.plan_reviews, y, score, budget=500, **options, **share)
        calls = (evaluate, plan, lambda f=evaluate: str(f()), lambda f=plan: str(f()))
        taken = np.min([[seconds(call) for call in calls] for _ in range(3)], axis=0)
        ratios = f"{taken[1] / taken[0]:.2f} {taken[3] / taken[2]:.2f}"
        print(name, *(f"{each:.2f} s" for each in taken), ratios, sep=" | ", flush=True)


def seconds(call):
    """Return the time of the processor that a call takes: other work does not count."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main():
    """Run one part."""
    parts = {
        "accuracy": accuracy,
        "coverage": coverage,
        "few": few,
        "random": lambda asked: coverage(asked, "random"),
        "test": labels_test,
        "rounds": rounds,
        "real": real,
        "promises": promises,
        "speed": speed,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=parts)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shape", choices=("normal", "mixed"), default="normal")
    parser.add_argument("--prevalence", type=float, nargs="*", default=PREVALENCES)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--sets", nargs="*", default=REAL)
    parser.add_argument("--reviews", type=int, nargs="*", default=(100, 500))
    parser.add_argument("--cache", default="build/scores", help="where scores of sets are kept")
    asked = parser.parse_args()
    parts[asked.part](asked)


if __name__ == "__main__":
    main()
