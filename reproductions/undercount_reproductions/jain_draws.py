"""Draws behind the tables of Jain et al. (2017): labels, bagged networks, recovered areas."""

import json
import math
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import undercount as uc
from undercount_reproductions.data import Data, have
from undercount_reproductions.published import published
from undercount_reproductions.running import Draw, Request, Setting

PAPER = "jain2017"
FILES = {name: f"{name}_jain" for name in ("concrete", "landsat", "mushroom", "pageblock", "wine")}
FILES["gas"] = "gas_partial"
FEW = ("concrete", "housing", "pageblock", "pima")  # 100 labelled rows; the others have 1,000
MOST_UNLABELED = 10_000
BAGS, QUICK_BAGS, QUICK_RUNS = 100, 5, 5
HIDDEN = 5  # units of a network
PENALTY = 0.01  # on its weights
ITERATIONS = 20  # of training; more fit the wrong labels and give worse scores
SCORES = "scores"  # folder of finished ensembles' scores, inside the results'
FRESH = 3  # networks of each draw that are judged alone, on rows they have not seen
ABSOLUTE = math.sqrt(2 / math.pi)  # mean absolute value of a normal error, in standard errors


def bags_of(request: Request) -> int:
    """Return the number of networks in an ensemble."""
    return request.bags or (QUICK_BAGS if request.runs < QUICK_RUNS else BAGS)


def missing(request: Request) -> list[str]:
    """Return the data sets that are not there."""
    names = dict.fromkeys(line[0] for line in published(PAPER)["table1"])
    return [name for name in names if not have(FILES.get(name, name), request.data_dir)]


def all_draws(request: Request) -> list[list[Draw] | None]:
    """Return the draws of each row of Table 1, or None where there is no data."""
    asked = replace(request, item="table1")  # everything comes from the same draws
    absent = missing(request)
    lines = published(PAPER)["table1"]
    settings = [
        {"data": line[0], "purity": line[2], "bags": bags_of(request)}
        for line in lines
        if line[0] not in absent
    ]
    given = partial(_given, request, {})
    found = iter(asked.draws(recover, settings, block=5, given=given) if settings else [])
    return [None if line[0] in absent else next(found) for line in lines]


def _given(request: Request, loaded: dict[str, Data], setting: Setting) -> tuple[Any, ...]:
    data = setting["data"]
    if data not in loaded:
        loaded[data] = request.data(str(FILES.get(data, data)))
    folder = None if request.out is None else Path(request.out) / SCORES
    return loaded[data].features, loaded[data].y, folder


def recover(
    setting: Setting,
    rng: np.random.Generator,
    features: Any,
    truth: Any,
    folder: Path | None = None,
) -> Draw:
    """Draw labels, train an ensemble and compare recovered areas with those of the same scores."""
    kept, labelled = _split(setting, rng, truth)
    real = truth[kept]
    train = partial(_out_of_bag, features[kept], labelled, real, setting["bags"], rng)
    if folder is None:
        score, draw = train()
    else:
        score, draw = _kept(folder / _kept_name(setting, rng, features, len(kept)), train)
    y = np.where(labelled, 1.0, np.nan)
    counts = uc.ScoreCounts.from_rows(y, score)
    rest = ~labelled
    complete = uc.labelled_curve(uc.ScoreCounts.from_rows(real, score))
    hidden = uc.labelled_curve(uc.ScoreCounts.from_rows(real[rest], score[rest]))
    naive = uc.naive_curve(counts)
    draw |= {"auc truth": complete.roc_auc, "pr truth": _pr_area(hidden)}
    draw["auc PU"] = naive.roc_auc - complete.roc_auc
    draw["pr PU"] = _pr_area(naive) - draw["pr truth"]
    shares = {"R": (float(real[rest].mean()), float(real[labelled].mean()))}
    shares |= _estimated(counts)
    for kind, (share, purity) in shares.items():
        direct = 0.5 + (naive.roc_auc - 0.5) / (purity - share)  # eq. 4
        curve = _algorithm1(counts, share, purity)
        # Where the shares are infeasible the paper sets the area to 1 or 0.
        clipped = min(max(direct, 0.0), 1.0)
        indirect = curve.roc_auc if clipped == direct else clipped
        draw[f"auc D{kind}"] = clipped - complete.roc_auc
        draw[f"auc I{kind}"] = indirect - complete.roc_auc
        draw[f"pr I{kind}"] = _pr_area(curve) - draw["pr truth"]
        draw[f"gap {kind}"] = (purity - share) - (shares["R"][1] - shares["R"][0])
    draw["known"], draw["standard error"] = _known(score, labelled, real)
    return draw


def _kept(path: Path, train: Callable[[], tuple[Any, Draw]]) -> tuple[Any, Draw]:
    """Return scores and what is known of their networks: from the file, or trained and kept there.

    Networks cost far more than what is then done with their scores: another estimator is tried on
    kept scores without new networks.
    """
    if path.exists():
        with np.load(path) as found:
            return found["score"], json.loads(str(found["draw"]))
    score, draw = train()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.stem}-{os.getpid()}-unfinished.npz")
    np.savez_compressed(unfinished, score=score, draw=json.dumps(draw))
    unfinished.replace(path)  # a file of this name is always whole
    return score, draw


def _kept_name(setting: Setting, rng: np.random.Generator, features: Any, n_used: int) -> str:
    """Name all that decides an ensemble's scores, so that a change of it finds no old ones."""
    # The numbers that seeded the generator name setting and draw.
    seed = "-".join(map(str, rng.bit_generator.seed_seq.entropy))  # type: ignore[attr-defined]
    rows, columns = features.shape
    data = f"{setting['data']}-{seed}-{n_used}of{rows}x{columns}"
    return f"{data}-{HIDDEN}units-{PENALTY:g}-{ITERATIONS}steps-{FRESH}.npz"


def _known(score: Any, labelled: Any, real: Any) -> tuple[float, float]:
    """Return error and standard error of eq. 4, not clipped, at the true shares.

    The AUC meant is that of all these rows; only which of them carry a label is random.
    """
    from undercount.infer.estimate_metric import estimate_metric  # noqa: PLC0415 - slow to import

    counts = uc.ScoreCounts.from_rows(np.where(labelled, 1.0, np.nan), score)
    shares = uc.Shares(float(real[~labelled].mean()), float(real[labelled].mean()))
    gap = shares.label_purity - shares.unlabeled_prevalence
    found = 0.5 + (uc.naive_curve(counts).roc_auc - 0.5) / gap
    truth = uc.labelled_curve(uc.ScoreCounts.from_rows(real, score)).roc_auc
    error = np.nan
    # An area a little above 1 is what chance does; far above it the library gives no error.
    with warnings.catch_warnings(), suppress(uc.InputError):
        warnings.simplefilter("ignore")
        error = estimate_metric(counts, shares, "roc_auc", target="dataset").standard_error
    return found - truth, float(error)


def _pr_area(curve: uc.OperatingCurve) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uc.UndefinedMetricWarning)  # nothing flagged at first
        area: float = uc.theory.precision_recall_auc(curve)
    return area


def _split(setting: Setting, rng: np.random.Generator, truth: Any) -> tuple[Any, Any]:
    """Return the rows used and which of them carry a label, some of them wrongly."""
    number = 100 if setting["data"] in FEW else 1000
    number = min(number, int(truth.sum()) // 2)
    right = round(setting["purity"] * number)
    rows = [
        rng.choice(np.flatnonzero(truth == value), size, replace=False)
        for value, size in ((1, right), (0, number - right))
    ]
    chosen = np.concatenate(rows)
    rest = rng.permutation(np.setdiff1d(np.arange(len(truth)), chosen))[:MOST_UNLABELED]
    return np.append(chosen, rest), np.arange(number + len(rest)) < number


def _out_of_bag(
    features: Any, labelled: Any, real: Any, bags: int, rng: np.random.Generator
) -> tuple[Any, Draw]:
    """Return mean ranks out of bag, and how well single networks are judged on fresh rows.

    A bag without a certain labelled row would on average hold fewer labelled rows, so that its
    network gave lower scores; that would pull the labelled rows, and with them the recovered area,
    down. So bags draw labelled and unlabeled rows apart, as many of each as there are, and ranks
    among the rows out of the same bag are averaged, not scores.
    """
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 - slow to import

    scaled = StandardScaler().fit_transform(features).astype(np.float32)
    total, times = np.zeros(len(scaled)), np.zeros(len(scaled))
    fresh: list[tuple[float, float]] = []
    groups = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    sizes = [len(group) for group in groups]
    if min(sizes) < 2:  # noqa: PLR2004 - a row alone in its group is in every bag
        raise uc.InputError(
            "scores out of bag need at least 2 labelled and 2 unlabeled rows; got"
            f" {sizes[0]} and {sizes[1]}: use more rows"
        )
    while bags > 0 or not times.all():  # a row that is in every bag has no score yet
        bags -= 1
        drawn = np.concatenate([rng.choice(group, len(group)) for group in groups])
        out = np.ones(len(scaled), dtype=bool)
        out[drawn] = False
        score = _trained(scaled[drawn], labelled[drawn], rng).predict_proba(scaled[out])[:, 1]
        if len(fresh) < FRESH:
            fresh.append(_known(score, labelled[out], real[out]))
        total[out] += _ranks(score)
        times[out] += 1
    errors, predicted = np.array(fresh).T
    judged: Draw = {"fresh error": float(errors.mean()), "fresh miss": float(abs(errors).mean())}
    known = predicted[np.isfinite(predicted)]
    judged["fresh predicted"] = ABSOLUTE * float(known.mean()) if len(known) else np.nan
    return total / times, judged


def _trained(features: Any, labelled: Any, rng: np.random.Generator) -> Any:
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415 - slow to import

    seed = int(rng.integers(2**31))
    network = MLPClassifier(
        (HIDDEN,), solver="lbfgs", max_iter=ITERATIONS, alpha=PENALTY, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged: few iterations are the design
        return network.fit(features, labelled)


def _ranks(score: Any) -> Any:
    """Return the share of rows below each, ties halved."""
    _, place, sizes = np.unique(score, return_inverse=True, return_counts=True)
    return ((np.cumsum(sizes) - sizes / 2) / len(score))[place]


def _estimated(counts: uc.ScoreCounts) -> dict[str, tuple[float, float]]:
    """Estimate share and purity; without a gap between them nothing is recovered."""
    from undercount import prevalence  # noqa: PLC0415 - slow to import

    options: dict[str, Any] = {"n_resamples": 0, "random_state": 0}
    methods = {
        "E": prevalence.AlphaMaxN,
        "K": prevalence.NoisyComposition,
        "C": prevalence.NoisyConsensus,
    }
    shares = {}
    for kind, method in methods.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # small samples and weak scores are the experiment
            found = method(**options).fit(counts)
        purity = float(found.label_purity_)
        shares[kind] = min(float(found.unlabeled_prevalence_), purity - 0.01), purity
    return shares


def _algorithm1(counts: uc.ScoreCounts, share: float, purity: float) -> uc.OperatingCurve:
    """Clean the recovered curve as Algorithm 1 does, even where the shares do not fit.

    `mixture_curve` refuses such shares, but the paper's tables count what they give.
    """
    shares = uc.Shares(share, purity, sampling="case-control")
    raw = uc.mixture_curve(counts, shares, clean=False)
    inside = (raw.tpr >= 0) & (raw.tpr <= 1) & (raw.fpr >= 0) & (raw.fpr <= 1)
    tpr, fpr = np.append(raw.tpr[inside], [0, 1]), np.append(raw.fpr[inside], [0, 1])
    order = np.lexsort((tpr, fpr))
    tpr, fpr = np.maximum.accumulate(tpr[order]), fpr[order]
    threshold = np.linspace(1, 0, len(tpr))
    threshold[0] = np.inf
    return uc.OperatingCurve(threshold, tpr, fpr, share)
