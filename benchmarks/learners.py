"""Compare the learners of `undercount.learn` with others by the true AUC (AUL paper, Figure 3).

    python benchmarks/learners.py --data DIRECTORY --draws 50 --record records.jsonl
    python benchmarks/learners.py --record records.jsonl --draws 0     # tables of a record
    python benchmarks/learners.py --scale 1000000                       # time and memory

DIRECTORY holds the nine data sets as NAME.parquet with the true class in column y. In each draw
at most 4,000 of the rows (all if not many more) and a tenth of their positives as labels are
drawn anew; each method learns from the labels and is judged by the truth of the same rows, as
published, and where rows are left over, by the truth of those too. Without --data: breast cancer
from scikit-learn. pulearn takes part if installed. Draws come first, data sets second, so an
interrupted record has complete draws.
"""

import argparse
import json
import pathlib
import resource
import time
import warnings

import numpy as np
from scipy.special import stdtrit
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from undercount.learn import PUAUCClassifier, PUAULClassifier
from undercount.prevalence import Consensus, Dedpul, out_of_fold_scores

try:
    from pulearn import BaggingPuClassifier, NNPUClassifier
except ImportError:
    BaggingPuClassifier = NNPUClassifier = None

NAMES = (
    "abalone", "airfoil", "anuran", "concrete_aul", "landsat_aul", "mushroom_aul",
    "pageblock_aul", "spambase", "waveform",
)  # fmt: skip
LABEL_FREQUENCY = 0.1
MOST_ROWS = 4000
SLACK = 1.16  # the published sets of 4,177, 4,435 and 4,601 rows were used whole
BAGS = 50


def load(name, directory):
    if directory is None:
        X, y = load_breast_cancer(return_X_y=True)
        return X, (y == 0).astype(int)
    import pandas as pd  # noqa: PLC0415 - only needed for files

    frame = pd.read_parquet(pathlib.Path(directory, f"{name}.parquet"))
    return frame.drop(columns="y").to_numpy(float), frame["y"].to_numpy(int)


def drawn(X, truth, rng):
    """Return (learnt rows, their truth, their labels, left-over rows, their truth)."""
    order = rng.permutation(truth.size)
    size = truth.size if truth.size <= SLACK * MOST_ROWS else MOST_ROWS
    use, rest = order[:size], order[size:]
    positive = np.flatnonzero(truth[use] == 1)
    labels = np.full(size, -1)
    labels[rng.choice(positive, round(LABEL_FREQUENCY * positive.size), replace=False)] = 1
    return X[use], truth[use], labels, X[rest], truth[rest]


def prevalences(X, labels, seed):
    """Return each estimate of the share among the unlabeled with its time."""
    start = time.perf_counter()
    score = out_of_fold_scores(labels, X, unlabeled=-1, random_state=seed)
    shared = time.perf_counter() - start
    found = {}
    for name, estimator in (("Consensus", Consensus()), ("Dedpul", Dedpul(n_resamples=0))):
        start = time.perf_counter()
        share = estimator.fit(labels, score, unlabeled=-1).unlabeled_prevalence_
        found[name] = min(share, 0.99), shared + time.perf_counter() - start
    return found


def methods(n_labelled, shares, true_share, seed):
    """Return name → (estimator, seconds spent before it on the prevalence)."""
    scaled = StandardScaler()
    consensus, spent = shares["Consensus"]
    found = {
        "PU-AUL": (PUAULClassifier(random_state=seed), 0.0),
        "PU-AUC, true prevalence": (
            PUAUCClassifier(unlabeled_prevalence=true_share, random_state=seed),
            0.0,
        ),
        "logistic": (make_pipeline(scaled, LogisticRegression(max_iter=2000)), 0.0),
        "boosting": (HistGradientBoostingClassifier(random_state=seed), 0.0),
    }
    for name, (share, seconds) in shares.items():
        learner = PUAUCClassifier(unlabeled_prevalence=share, random_state=seed)
        found[f"PU-AUC, {name}"] = learner, seconds
    if BaggingPuClassifier is not None:
        bags = BaggingPuClassifier(
            DecisionTreeClassifier(), n_estimators=BAGS, max_samples=n_labelled, random_state=seed
        )
        found["pulearn bagging"] = bags, 0.0
        nnpu = make_pipeline(scaled, NNPUClassifier(prior=consensus, random_state=seed))
        found["pulearn nnPU"] = nnpu, spent
    return found


def scored(fitted, X):
    if hasattr(fitted, "decision_function"):
        return fitted.decision_function(X)
    return fitted.predict_proba(X)[:, 1]


def one_draw(name, X, truth, seed):
    rng = np.random.default_rng([seed, 2021])
    rows, true_rows, labels, rest, true_rest = drawn(X, truth, rng)
    true_share = float(true_rows[labels == -1].mean())
    shares = prevalences(rows, labels, seed)
    record = {"set": name, "draw": seed, "true": true_share, "auc": {}, "new": {}, "seconds": {}}
    record |= {"shares": {key: share for key, (share, _) in shares.items()}}
    for method, (model, before) in methods((labels == 1).sum(), shares, true_share, seed).items():
        start = time.perf_counter()
        fitted = model.fit(rows, labels)
        record["seconds"][method] = before + time.perf_counter() - start
        record["auc"][method] = float(roc_auc_score(true_rows, scored(fitted, rows)))
        if true_rest.size:
            record["new"][method] = float(roc_auc_score(true_rest, scored(fitted, rest)))
    return record


def interval(values):
    """Return (mean, half width of its 95 % interval)."""
    values = np.asarray(values)
    if values.size < 2:
        return float(values.mean()), float("nan")
    factor = stdtrit(values.size - 1, 0.975)
    return float(values.mean()), float(factor * values.std(ddof=1) / np.sqrt(values.size))


def table(title, names, columns, cell):
    print(f"\n{title}\n\n| data set | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for name in names:
        print(f"| {name.removesuffix('_aul')} | {' | '.join(cell(name, c) for c in columns)} |")


def difference(rows, key, column):
    """Return PU-AUL less the other method, paired by draw, in hundredths of AUC."""
    mean, half = interval([100 * (row[key]["PU-AUL"] - row[key][column]) for row in rows])
    return f"{mean:+.1f} ± {half:.1f}"


def tables(records):
    names = sorted({record["set"] for record in records})
    per = {name: [r for r in records if r["set"] == name] for name in names}
    columns = sorted(records[0]["auc"], key=lambda name: not name.startswith("PU-"))
    others = [column for column in columns if column != "PU-AUL"]
    counts = sorted({len(rows) for rows in per.values()})
    print(f"draws a data set: {counts}")

    def mean(name, key, column):
        if name == "mean":
            return np.mean([mean(each, key, column) for each in names])
        return np.mean([row[key][column] for row in per[name]])

    everything = [*names, "mean"]
    table("AUC, rows learnt from", everything, columns, lambda n, c: f"{mean(n, 'auc', c):.3f}")
    table(
        "PU-AUL less the other, hundredths of AUC, 95 % paired interval", names, others,
        lambda n, c: difference(per[n], "auc", c),
    )  # fmt: skip
    fresh = [name for name in names if per[name][0]["new"]]
    if fresh:
        table("AUC, new rows", fresh, columns, lambda n, c: f"{mean(n, 'new', c):.3f}")
        table(
            "PU-AUL less the other on new rows", fresh, others,
            lambda n, c: difference(per[n], "new", c),
        )  # fmt: skip

    def middle(name, column):  # a machine that pauses must not decide who is slow
        if name == "mean":
            return np.mean([middle(each, column) for each in names])
        return np.median([row["seconds"][column] for row in per[name]])

    title = "seconds, median of the draws"
    table(title, everything, columns, lambda n, c: f"{middle(n, c):.1f}")

    def share(name, column):
        rows = [{**row["shares"], "true": row["true"]} for row in per[name]]
        return f"{np.mean([row[column] for row in rows]):.3f}"

    title = "share of positives among the unlabeled"
    table(title, names, ["true", "Consensus", "Dedpul"], share)


def scale(n_rows):
    """Print time and peak memory of a fit with 50 features and 200 centres."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 50))
    hidden = rng.random(n_rows) < 0.3
    X[hidden, :5] += 0.7
    y = np.where(hidden & (rng.random(n_rows) < 0.1), 1, -1)
    start = time.perf_counter(), time.process_time()
    learner = PUAULClassifier(random_state=0).fit(X, y)
    wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    auc = roc_auc_score(hidden, learner.decision_function(X))
    print(f"{n_rows} rows: {wall:.1f} s ({cpu:.1f} s CPU), peak {peak:.2f} GB, true AUC {auc:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="directory of the nine data sets")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--record", help="file of results, appended to")
    parser.add_argument("--scale", type=int, help="only time this many rows")
    options = parser.parse_args()
    if options.scale:
        scale(options.scale)
        return
    warnings.simplefilter("ignore")
    names = NAMES if options.data else ("breast cancer",)
    path = pathlib.Path(options.record) if options.record else None
    records = []
    if path and path.exists():
        records = [json.loads(line) for line in path.read_text().splitlines()]
    for seed in range(options.first, options.first + options.draws):
        for name in names:
            records.append(one_draw(name, *load(name, options.data), seed))
            if path:
                with path.open("a") as file:
                    file.write(json.dumps(records[-1]) + "\n")
    tables(records)


if __name__ == "__main__":
    main()
