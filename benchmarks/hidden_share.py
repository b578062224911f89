"""How often the intervals of an estimated share hold the truth, score by score, the worst first.

`python benchmarks/hidden_share.py [--draws 200] [--levels .95 .8] [--out table.json]`

Every score is fixed: a model fitted to one half of a set's rows with random labels, scoring the
other half. A draw takes up to 4,000 of those rows and labels their positives anew. An average over
scores hides that a score is held nearly always or nearly never, so there is one line a score.
The real sets are those of the papers, read from UNDERCOUNT_DATA or ../shared/data.
"""

import argparse
import json
import os
import pathlib
import warnings
import zlib

import numpy as np
import pyarrow.parquet as pq
from scipy.stats import binom
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

import undercount as uc

DATA = pathlib.Path(
    os.environ.get("UNDERCOUNT_DATA", pathlib.Path(__file__).parents[2] / "shared" / "data")
)
LARGEST = 4_000
LABEL_FREQUENCY = {"naive Bayes, 3 columns": 0.5, "boosting": 0.3}
FEWEST_LABELS = 15
# A head of at least so many rows with at least so many positives is pure.
HEAD, PURE = 20, 0.95


def models(n_columns):
    """Return the models by name, with the columns that each reads."""
    some = np.random.default_rng(3).permutation(n_columns)[:3]
    return {
        "naive Bayes, 3 columns": (GaussianNB(), some),
        "boosting": (
            HistGradientBoostingClassifier(max_iter=60, random_state=0),
            np.arange(n_columns),
        ),
    }


def real_scores():
    """Yield (name, truth, score, label frequency) of the real sets, scored on held-out rows."""
    for path in sorted(DATA.glob("*.parquet")):
        if "scores" in path.stem:
            continue
        table = pq.read_table(path).to_pandas()
        truth = table.pop("y").to_numpy() == 1
        columns = table.to_numpy(float)
        columns = np.where(np.isnan(columns), np.nanmean(columns, axis=0), columns)
        rng = np.random.default_rng(zlib.crc32(path.stem.encode()))
        order = rng.permutation(len(truth))[: 4 * LARGEST]
        fit, test = order[::2], order[1::2]
        for name, (model, chosen) in models(columns.shape[1]).items():
            labels = truth[fit] & (rng.random(len(fit)) < LABEL_FREQUENCY[name])
            if labels.sum() < FEWEST_LABELS or truth[test].sum() * LABEL_FREQUENCY[name] < 25:
                continue
            noise = 1e-9 * rng.normal(size=columns[:, chosen].shape)
            rows = columns[:, chosen] + noise  # a column may be constant
            model.fit(rows[fit], labels)
            score = model.predict_proba(rows[test])[:, 1]
            yield f"{path.stem}, {name}", truth[test], score, LABEL_FREQUENCY[name]


def simulated_scores():
    """Yield the same of simulated scores, most with negatives at every score."""
    rng = np.random.default_rng(11)
    truth = rng.random(2 * LARGEST) < 0.2
    size = truth.size
    invariant = np.where(truth, rng.beta(3, 2, size), rng.beta(2, 3, size))
    draws = {
        "normal, 1 apart": rng.normal(truth * 1.0),
        "normal, 2 apart": rng.normal(truth * 2.0),
        "normal, 3 apart": rng.normal(truth * 3.0),
        "t(4), 2 apart": rng.standard_t(4, size) + 2 * truth,
        "bounded overlap": invariant,
        "impure top": np.where(
            rng.random(size) < np.where(truth, 0.5, 0.05), 4.0, 0.0
        ) + rng.normal(size=size),
    }  # fmt: skip
    for name, score in draws.items():
        yield f"simulated: {name}", truth, score, 0.3


def best_head(truth, score):
    """Return the largest share of positives in a head of enough rows."""
    order = np.argsort(-score, kind="stable")
    size = np.arange(1, len(truth) + 1)
    last = np.append(np.diff(score[order]) != 0, True)
    share = np.cumsum(truth[order]) / size
    return float(share[last & (size >= HEAD)].max(initial=0.0))


def draw(rng, truth, score, frequency):
    """Return the rows of one draw, labelled anew."""
    size = min(LARGEST, len(truth) * 4 // 5)
    rows = rng.choice(len(truth), size, replace=False)
    truth, score = truth[rows], score[rows]
    return truth, score, (truth & (rng.random(size) < frequency)).astype(int)


def measure(truth, score, labels, level):
    """Return what was held, and the widths."""
    cut = float(np.sort(score)[::-1][max(int(truth.sum()) - 1, 0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = uc.evaluate(
            labels, score, unlabeled=0, threshold=cut, metrics=["precision", "roc_auc"],
            confidence_level=level,
        )  # fmt: skip
    flagged, unlabeled = score >= cut, labels == 0
    share = made.shares.unlabeled_prevalence_interval
    ends = {
        "share": (share.low, share.high, truth[unlabeled].mean()),
        "precision": (made["precision"].low, made["precision"].high, truth[flagged].mean()),
        "roc_auc": (made["roc_auc"].low, made["roc_auc"].high, roc_auc_score(truth, score)),
    }
    found = {}
    for name, (low, high, value) in ends.items():
        found[name] = low - 1e-9 <= value <= high + 1e-9
        found[f"{name} above"] = value > high + 1e-9
        found[f"{name} width"] = high - low
    return {**found, "open": share.low == 0}


def run(arguments):
    """Measure every score at every level."""
    lines = []
    for name, truth, score, frequency in (*simulated_scores(), *real_scores()):
        if arguments.only and not any(word in name for word in arguments.only):
            continue
        seen = {level: [] for level in arguments.levels}
        for number in range(arguments.draws):
            rows = draw(np.random.default_rng([7, number]), truth, score, frequency)
            if rows[2].sum() < 10:
                continue
            for level in arguments.levels:
                seen[level].append(measure(*rows, level))
        for level, runs in seen.items():
            if runs:
                means = {key: float(np.mean([each[key] for each in runs])) for key in runs[0]}
                pure = best_head(truth, score) >= PURE
                lines.append({"score": name, "level": level, "draws": len(runs), "pure": pure}
                             | {"auc": roc_auc_score(truth, score)} | means)  # fmt: skip
                print(json.dumps(lines[-1]), flush=True)
    return lines


def report(lines):
    """Print the scores, worst first, and those below the bar."""
    for level in sorted({line["level"] for line in lines}, reverse=True):
        some = [line for line in lines if line["level"] == level]
        risk, bar = 0.01 / len(some), level - 0.03
        some.sort(key=lambda line: min(line["share"], line["precision"], line["roc_auc"]))
        print(f"\nlevel {level:g}: {len(some)} scores, {sum(not s['pure'] for s in some)} impure")
        print(f"{'score':<44}{'pure':>5}{'AUC':>7}{'share':>7}{'prec.':>7}{'AUC':>7}{'width':>7}")
        for line in some:
            below = [
                name
                for name in ("share", "precision", "roc_auc")
                if binom.cdf(round(line[name] * line["draws"]), line["draws"], bar) < risk
            ]
            print(
                f"{line['score']:<44}{'yes' if line['pure'] else 'no':>5}{line['auc']:>7.3f}"
                f"{line['share']:>7.3f}{line['precision']:>7.3f}{line['roc_auc']:>7.3f}"
                f"{line['precision width']:>7.3f}  {'below: ' + ', '.join(below) if below else ''}"
            )
        for name in ("share", "precision", "roc_auc", "precision width", "share width", "open"):
            print(f"mean {name}: {np.mean([line[name] for line in some]):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--levels", type=float, nargs="+", default=[0.95, 0.8])
    parser.add_argument("--only", nargs="+", default=[])
    arguments = parser.parse_args()
    report(run(arguments))
