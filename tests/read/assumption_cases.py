"""One small evaluation of each assumption, whose numbers every door must give alike."""

from functools import cache

import numpy as np
from tests.prevalence.test_late_labels import UNTIL, draw

import undercount as uc
from undercount.errors import collect_warnings
from undercount.prevalence import LateLabels
from undercount.read.evaluation import Evaluation

CUT = 0.5
# Where reviews, audits, chances, dates or rows looked at determine the prevalence, and their names.
DETERMINED = {
    "reviews": "reviews",
    "reviews and random labels": "reviews",
    "audited": "audited rows",
    "propensity": "labelling chances",
    "late labels": "dates of labels",
    "selected": "rows looked at",
}
FREE = [
    "prevalence",
    "range",
    "Estimate",
    "impure",
    "case-control",
    "known negatives",
    "weights",
    "population",
    "clusters",
]
NAMES = [*FREE, *DETERMINED]


@cache
def rows(n_rows: int = 1600) -> dict[str, np.ndarray]:
    """Return truth, scores in (0, 1), and labels: a random sample, and one that prefers the top."""
    rng = np.random.default_rng(0)
    truth = rng.random(n_rows) < 0.2
    score = 1 / (1 + np.exp(1.3 - rng.normal(1.8 * truth)))
    chance = np.where(score > 0.5, 0.7, 0.2)
    return {
        "truth": truth,
        "score": score,
        "random": (truth & (rng.random(n_rows) < 0.4)).astype(float),
        "chosen": (truth & (rng.random(n_rows) < chance)).astype(float),
        "chance": chance,
        "seen": rng.random(n_rows) < 0.3,
        "weight": rng.uniform(0.5, 2.0, n_rows),
        "cluster": np.arange(n_rows) // 8,
    }


def evaluate(name: str, threshold: float = CUT, **more: object) -> Evaluation:
    """Evaluate the rows as an assumption says."""
    with collect_warnings():
        return _evaluate(name, threshold, **more)


def _evaluate(name: str, threshold: float, **more: object) -> Evaluation:
    drawn, about = rows(), {"threshold": threshold, **more}
    truth, score, label = drawn["truth"], drawn["score"], drawn["random"]
    if name == "late labels":
        seen, _, dated, found = draw(np.random.default_rng(3), drift=0.5, n=3000)
        late = LateLabels().fit(seen, found, until=UNTIL)
        return uc.evaluate(
            late.labels_, 1 / (1 + np.exp(1 - dated)), assume=uc.DelayedLabels.of(late), **about
        )
    if name == "audited":
        return uc.evaluate(
            np.where(drawn["seen"], truth, np.nan), score, assume=uc.RandomAudit(), **about
        )
    if name == "selected":
        looked = score > np.quantile(score, 0.3)
        y, assume = np.where(looked, truth, np.nan), uc.SelectedLabels("own-score")
        return uc.evaluate(y, score, assume=assume, **about)
    about["unlabeled"] = 0
    if name in ("reviews", "reviews and random labels"):
        label = drawn["chosen"] if name == "reviews" else label
        plan = uc.plan_reviews(label, score, unlabeled=0, threshold=CUT, budget=250)
        labels = "any" if name == "reviews" else "random"
        assume = uc.Reviewed(plan.answered(truth[plan.rows]), labels=labels)
        return uc.evaluate(label, score, assume=assume, **about)
    if name == "propensity":
        return uc.evaluate(
            drawn["chosen"], score, assume=uc.LabelPropensity(drawn["chance"]), **about
        )
    if name == "known negatives":
        about["unlabeled"] = None
        label = np.where(label == 1, 1.0, np.where(~truth & drawn["seen"], 0.0, np.nan))
    if name == "impure":
        label = label.copy()
        label[np.flatnonzero(~truth)[:20]] = 1.0
    told = {
        "range": {"prevalence": (0.17, 0.23)},
        "Estimate": {"unlabeled_prevalence": uc.Estimate(0.13, 0.09, 0.17, 0.02)},
        "estimated": {},
        "impure": {"assume": uc.RandomLabels(0.2, purity=0.86)},
        "case-control": {
            "assume": uc.RandomLabels(unlabeled_prevalence=0.13, sampling="case-control")
        },
        "weights": {"prevalence": 0.2, "sample_weight": drawn["weight"]},
        "population": {"prevalence": 0.2, "target": "population", "confidence_level": 0.9},
        "clusters": {"prevalence": 0.2, "cluster": drawn["cluster"]},
    }
    return uc.evaluate(label, score, **told.get(name, {"prevalence": 0.2}), **about)
