"""Search models and thresholds by found labels, judged by the truth, against naive criteria.

    python benchmarks/search.py --data DIRECTORY --repeats 3 --record records.jsonl
    python benchmarks/search.py --record records.jsonl --repeats 0          # tables of a record

DIRECTORY holds data sets as NAME.parquet with the true class in column y. In each repeat rows are
drawn anew, some positives labelled at random, and every candidate model is scored out of fold on
the labels. Each criterion then chooses a model and a threshold. Judged by the truth of rows that
took no part: the F1 of the choice against that of the best pair of model and threshold (regret),
and whether the model is the one with the best attainable F1.

Criteria: naive AUC (its threshold by naive F1, since an area has none), naive F1, Elkan and Noto's
weights (an unlabeled row is positive with weight (1 - c)/c · p/(1 - p), p the chance of being
labelled, c its mean among labelled rows), and F1 of this library with the prevalence known or
estimated by `Consensus`, and Lee and Liu's score, which needs none.
"""

import argparse
import json
import pathlib
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import undercount as uc

NAMES = (
    "abalone", "anuran", "bank", "landsat_aul", "mushroom_aul", "pageblock_aul", "pendigit",
    "shuttle", "spambase", "waveform",
)  # fmt: skip
FREQUENCIES = (0.1, 0.4)
LEARNT, JUDGED = 1500, 4000
SURE = 2  # standard errors
NAIVE = ("naive AUC", "naive F1", "Elkan-Noto")
OURS = ("F1, prevalence known", "F1, prevalence estimated", "Lee-Liu")


def candidates(seed):
    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        "logistic, strong penalty": make_pipeline(StandardScaler(), LogisticRegression(C=1e-3)),
        "neighbours 5": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
        "neighbours 40": make_pipeline(StandardScaler(), KNeighborsClassifier(40)),
        "naive Bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(min_samples_leaf=20, random_state=seed),
        "extra trees": ExtraTreesClassifier(60, min_samples_leaf=3, random_state=seed),
        "boosting": HistGradientBoostingClassifier(max_iter=40, random_state=seed),
    }


def draw(name, directory, frequency, rng):
    frame = pd.read_parquet(pathlib.Path(directory, f"{name}.parquet"))
    X, truth = frame.drop(columns="y").to_numpy(float), frame["y"].to_numpy(int)
    order = rng.permutation(len(truth))
    # Small sets give half of their rows to either side.
    size = min(LEARNT, len(truth) // 2)
    use, rest = order[:size], order[size : size + JUDGED]
    positive = np.flatnonzero(truth[use] == 1)
    labels = np.zeros(size, int)
    labels[rng.choice(positive, max(round(frequency * len(positive)), 8), replace=False)] = 1
    return (X[use], truth[use], labels), (X[rest], truth[rest])


def f1_at_every_score(weight, score):
    """Return thresholds and F1, each row positive by a weight."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)
    hits, flagged = np.cumsum(weight[order])[last], np.arange(1, len(score) + 1)[last]
    return score[order][last], 2 * hits / (flagged + weight.sum())


def best(weight, score):
    threshold, value = f1_at_every_score(weight, score)
    place = int(np.argmax(value))
    return float(value[place]), float(threshold[place])


def elkan_noto(labels, chance):
    frequency = float(np.clip(chance[labels == 1].mean(), 1e-3, 1.0))
    odds = np.clip(chance, 0, 1 - 1e-6) / (1 - np.clip(chance, 0, 1 - 1e-6))
    weight = np.clip((1 - frequency) / frequency * odds, 0.0, 1.0)
    return np.where(labels == 1, 1.0, weight)


def by_library(labels, score, metrics, **share):
    """Return the best value of each metric and where it is; nothing if the share is ruled out."""
    try:
        found = uc.evaluate(labels, score, unlabeled=0, metrics=["lift_auc"], **share)
        points = [found.best_threshold(metric) for metric in metrics]
    except uc.InputError:  # a model whose scores rule the share out is no candidate
        return {}
    return {m: (float(getattr(p, m)), p.threshold) for m, p in zip(metrics, points, strict=True)}


def choices(labels, scores, prevalence):
    """Return what each criterion chooses: a model and a threshold."""
    areas = {name: roc_auc_score(labels, score) for name, score in scores.items()}
    sharpest = max(areas, key=areas.get)
    estimate = uc.prevalence.Consensus(random_state=0).fit(labels, scores[sharpest], unlabeled=0)
    share = float(estimate.unlabeled_prevalence_)
    values = {name: {} for name in (*NAIVE, *OURS)}
    for name, score in scores.items():
        naive = best(labels.astype(float), score)
        values["naive AUC"][name] = areas[name], naive[1]
        values["naive F1"][name] = naive
        values["Elkan-Noto"][name] = best(elkan_noto(labels, score), score)
        known = by_library(labels, score, ["f1"], prevalence=prevalence)
        guessed = by_library(labels, score, ["f1"], unlabeled_prevalence=share)
        # Lee and Liu's score is the same at any prevalence; at 0 none rules a threshold out.
        free = by_library(labels, score, ["lee_liu"], unlabeled_prevalence=0.0)
        for criterion, found_there, metric in zip(
            OURS, (known, guessed, free), ("f1", "f1", "lee_liu"), strict=True
        ):
            if metric in found_there:
                values[criterion][name] = found_there[metric]
    found = {}
    for criterion, each in values.items():
        name = max(each, key=lambda name: each[name][0])
        found[criterion] = name, each[name][1]
    return found


def score_models(name, directory, frequency, seed):
    """Return scores of every model: out of fold on the labelled draw, and on the other rows."""
    rng = np.random.default_rng(seed)
    (X, truth, labels), (other, other_truth) = draw(name, directory, frequency, rng)
    folds = StratifiedKFold(4, shuffle=True, random_state=seed)
    scores, judged = [], []
    for model in candidates(seed).values():
        scores.append(cross_val_predict(model, X, labels, cv=folds, method="predict_proba")[:, 1])
        judged.append(model.fit(X, labels).predict_proba(other)[:, 1])
    return {"s": scores, "j": judged, "truth": truth, "labels": labels, "ot": other_truth}


def kept_scores(name, directory, frequency, seed, folder):
    """Return the scores of a draw, from a folder if they are there, so that none is made twice."""
    if folder is None:
        return score_models(name, directory, frequency, seed)
    path = pathlib.Path(folder, f"{name}_{frequency}_{seed}.npz")
    if not path.exists():
        np.savez_compressed(path, **score_models(name, directory, frequency, seed))
    return dict(np.load(path))


def repeat(name, directory, frequency, seed, folder=None):
    drawn = kept_scores(name, directory, frequency, seed, folder)
    truth, labels, other_truth = drawn["truth"], drawn["labels"], drawn["ot"]
    names = list(candidates(seed))
    scores, judged = (dict(zip(names, drawn[part], strict=True)) for part in ("s", "j"))
    attainable = {each: best(other_truth.astype(float), score) for each, score in judged.items()}
    top = max(value for value, _ in attainable.values())
    record = {"set": name, "frequency": frequency, "seed": seed, "regret": {}, "found": {}}
    for criterion, (model, threshold) in choices(labels, scores, truth.mean()).items():
        flagged = judged[model] >= threshold
        f1 = 2 * np.sum(flagged & (other_truth == 1)) / (flagged.sum() + other_truth.sum())
        record["regret"][criterion] = float(top - f1)
        record["found"][criterion] = bool(attainable[model][0] >= top - 1e-12)
    return record


def tables(records):
    for frequency in FREQUENCIES:
        part = [record for record in records if record["frequency"] == frequency]
        if not part:
            continue
        sets = sorted({record["set"] for record in part})
        print(
            f"\nLabel frequency {frequency}: mean regret in F1 (share that find the best model)\n"
        )
        print("| set |", " | ".join((*NAIVE, *OURS)), "|")
        print("|---|" + "---|" * len((*NAIVE, *OURS)))
        wins, sure, worse = (dict.fromkeys(OURS, 0) for _ in range(3))
        for name in sets:
            mine = [record for record in part if record["set"] == name]
            regret = {c: np.mean([r["regret"][c] for r in mine]) for c in (*NAIVE, *OURS)}
            found = {c: np.mean([r["found"][c] for r in mine]) for c in (*NAIVE, *OURS)}
            cells = [f"{regret[c]:.3f} ({found[c]:.2f})" for c in regret]
            print(f"| {name} |", " | ".join(cells), "|")
            rival = min(NAIVE, key=regret.get)
            for criterion in OURS:
                gap = np.array([r["regret"][rival] - r["regret"][criterion] for r in mine])
                error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.inf
                wins[criterion] += int(gap.mean() > 0)
                sure[criterion] += int(gap.mean() > SURE * error)
                worse[criterion] += int(gap.mean() < -SURE * error)
        mean = [np.mean([r["regret"][c] for r in part]) for c in (*NAIVE, *OURS)]
        print("| mean |", " | ".join(f"{value:.3f}" for value in mean), "|")
        print(f"\n{len(part)} draws of {len(sets)} sets")
        print("lower regret than every naive criterion:", wins)
        print(f"by more than {SURE} standard errors of the difference:", sure)
        print(f"higher than the best naive one by more than {SURE} standard errors:", worse)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--scores", help="folder to keep the models' scores in")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--record", default="search.jsonl")
    parser.add_argument("--sets", nargs="*", default=NAMES)
    options = parser.parse_args()
    path = pathlib.Path(options.record)
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(r["set"], r["frequency"], r["seed"]) for r in records}
    warnings.simplefilter("ignore")
    end = time.monotonic() + options.seconds
    for seed in range(options.first, options.first + options.repeats):
        for name in options.sets:
            for frequency in FREQUENCIES:
                if (name, frequency, seed) not in known and time.monotonic() < end:
                    records.append(repeat(name, options.data, frequency, seed, options.scores))
                    with path.open("a") as file:
                        file.write(json.dumps(records[-1]) + "\n")
    tables(records)


if __name__ == "__main__":
    main()
