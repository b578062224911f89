"""AUL is a better optimization metric in PU learning (2021): Figure 3, learners compared."""

import warnings
from functools import partial
from typing import Any

import numpy as np

import undercount as uc
from undercount_reproductions.aul_tables import FILES, PAPER, drawn_rows, not_run, result
from undercount_reproductions.data import have
from undercount_reproductions.drawing import Line, Panel
from undercount_reproductions.published import published
from undercount_reproductions.result import Result
from undercount_reproductions.running import Draw, Request, Setting, column

LABEL_FREQUENCY = 0.1
LEARNERS = ("PU-AUL", "PU-AUC", "PU-AUC, true prevalence")
NOTES = (
    (
        "AUC by the true classes of the rows learnt from, as published. The figure prints no "
        "numbers; the text says that PU-AUL is better on 8 of 9 sets, by 2.5 % on average and by "
        "10 % on Concrete."
    ),
    (
        "PU-AUC takes the share of positives among the unlabeled rows as Consensus estimates it "
        "from out-of-fold scores of the same rows; the paper takes, for each data set, the "
        "estimator that does best there. 'gain' is that of PU-AUL over PU-AUC in percent of "
        "PU-AUC's AUC, with twice its standard error over the draws."
    ),
)


def figure3(request: Request) -> Result:
    """Reproduce Figure 3: PU-AUL against PU-AUC on nine data sets."""
    names = list(dict.fromkeys(line[0] for line in published(PAPER)["table1"]))
    there = [data for data in names if have(FILES.get(data, data), request.data_dir)]
    settings = [{"data": data, "label_frequency": LABEL_FREQUENCY} for data in there]
    given = partial(_given, request)
    found = request.draws(_learn, settings, block=1, given=given) if settings else []
    rows: list[Any] = []
    for data, draws in zip(there, found, strict=True):
        means = [float(column(draws, name).mean()) for name in LEARNERS]
        shares = [float(column(draws, name).mean()) for name in ("share", "true share")]
        rows.append((data, *means, *_gain(draws), *shares))
    absent = [data for data in names if data not in there]
    notes = (*NOTES, *([_summary(rows)] if rows else []), *not_run(absent))
    if rows:
        numbers = np.array([row[1:] for row in rows], dtype=float)
        rows.append(("mean", *numbers.mean(axis=0)[:-3].tolist(), None, None, None))
    else:
        rows = [(data, *[None] * 7) for data in names]
    columns = ("data", *LEARNERS, "gain, %", "± %", "estimated share", "true share")
    title = "true AUC of classifiers trained for AUL and for AUC"
    return result(request, title, columns, rows, notes, _panels(rows[: len(there)]))


def _gain(draws: list[Draw]) -> tuple[float, float]:
    gain = 100 * (column(draws, "PU-AUL") / column(draws, "PU-AUC") - 1)
    spread = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
    return float(gain.mean()), 2 * float(spread)


def _summary(rows: list[Any]) -> str:
    gains = np.array([row[4] for row in rows])
    best = rows[int(gains.argmax())]
    return (
        f"Here PU-AUL is better on {int((gains > 0).sum())} of {len(rows)} sets, by "
        f"{gains.mean():.1f} % on average, and most on {best[0].capitalize()}: {best[4]:.1f} %."
    )


def _panels(rows: list[Any]) -> tuple[Panel, ...]:
    if not rows:
        return ()
    places = np.arange(len(rows))
    lines = tuple(
        Line.of(name, places + 0.15 * (i - 1), [row[1 + i] for row in rows], "osD"[i])
        for i, name in enumerate(LEARNERS)
    )
    return (Panel("", "", "true AUC", lines, ticks=tuple(row[0] for row in rows)),)


def _given(request: Request, setting: Setting) -> tuple[Any, Any]:
    # Always the same rows of a set; only labels, centres and folds differ between draws.
    data = setting["data"]
    return drawn_rows(request, data, request.generator({"data": data}))


def _learn(setting: Setting, rng: np.random.Generator, features: Any, truth: Any) -> Draw:
    from undercount.learn import PUAUCClassifier, PUAULClassifier  # noqa: PLC0415 - slow to import

    positives = np.flatnonzero(truth == 1)
    number = round(setting["label_frequency"] * len(positives))
    y = np.full(len(truth), -1)
    y[rng.choice(positives, number, replace=False)] = 1
    share, seed = float(truth[y == -1].mean()), int(rng.integers(2**31))
    learners = (
        PUAULClassifier(random_state=seed),
        PUAUCClassifier(random_state=seed),
        PUAUCClassifier(unlabeled_prevalence=share, random_state=seed),
    )
    draw: Draw = {"true share": share}
    for name, learner in zip(LEARNERS, learners, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", uc.MisfitWarning)  # a poor estimate is part of it
            warnings.simplefilter("ignore", uc.SmallSampleWarning)
            score = learner.fit(features, y).decision_function(features)
        counts = uc.ScoreCounts.from_rows(truth, score)
        draw[name] = float(uc.labelled_curve(counts).roc_auc)
    draw["share"] = float(learners[1].unlabeled_prevalence_)
    return draw
