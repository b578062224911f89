"""The rows of the matrix: each assumption as the arguments by which a user states it.

Nothing here knows of a feature.
"""

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from tests.matrix import rows

import undercount as uc
from undercount.assume.builder import assumption_of

POINT_METRICS = ("recall", "precision", "f1", "specificity", "accuracy", "mcc")
AREAS = ("roc_auc", "average_precision", "lift_auc")
METRICS = (*POINT_METRICS, *AREAS)


class AbsentError(Exception):
    """There is no such function or argument for an assumption."""


@dataclass(frozen=True, eq=False)
class Assumption:
    """Labels, and the arguments that say how they came about."""

    name: str
    labels: Any
    options: dict[str, Any] = field(default_factory=dict)
    plan_options: dict[str, Any] | None = None  # where a plan takes fewer
    results: dict[Any, Any] = field(default_factory=dict)  # equal calls are made once

    def evaluate(self, y=None, score=None, **more):
        if score is None:
            y, score = (self.labels, rows.SCORE) if y is None else (y, None)
        return self._call(uc.evaluate, y, score, **more)

    def compare(self, models=None, **more):
        models = models or {"one": rows.SCORE, "other": rows.OTHER}
        return self._call(uc.compare, self.labels, models, **more)

    def measure(self, metric, **more):
        assumed = assumption_of(self.options)
        return getattr(uc.metrics, metric)(self.labels, rows.SCORE, assume=assumed, **more)

    def plan(self, **more):
        assumed = assumption_of(self.options)
        return uc.plan_reviews(self.labels, rows.SCORE, assume=assumed, **more)

    def display(self, display, **more):
        """Make a display of the evaluation at the threshold."""
        evaluation = self.evaluate(threshold=rows.THRESHOLD)
        key = display, *sorted(more.items())
        return self.once(key, lambda: display.from_evaluation(evaluation, **more))

    def score(self, metric, **more):
        """Score a model on scikit-learn's road, where -1 means unlabeled."""
        labels = np.nan_to_num(self.labels, nan=-1)
        scorer = uc.make_scorer(metric, assume=assumption_of(self.options), **more)
        return scorer(ScoreColumn().fit(None, None), rows.SCORE[:, np.newaxis], labels)

    def once(self, name, ask):
        """Return what was asked under this name before, or ask now."""
        if name not in self.results:
            self.results[name] = ask()
        return self.results[name]

    def _call(self, function, *given, **more):
        options = self.options
        if "reviews" in options and more.get("sample_weight") is not None:  # they have their own
            seen = options["reviews"]
            weight = np.asarray(more["sample_weight"])[seen.rows]
            options = {**options, "reviews": replace(seen, weight=weight)}
        key = (function, *map(_key, given), *sorted((name, _key(v)) for name, v in more.items()))
        if key not in self.results:
            try:
                self.results[key] = function(*given, **{**options, **more})
            except (uc.InputError, TypeError) as error:
                self.results[key] = error
        result = self.results[key]
        if isinstance(result, Exception):
            raise result
        return result


def _key(value):
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, dict):
        return tuple((name, _key(each)) for name, each in value.items())
    return tuple(value) if isinstance(value, list) else value


class ScoreColumn(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose score is its only column."""

    def fit(self, X, y):  # noqa: ARG002 - there is nothing to learn
        self.classes_ = np.array([-1, 1])
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


@cache
def assumptions(times=1, *, complete=False):
    """Return every assumption by its name.

    With every row `times` as often; or `complete`: of those that reviews or audits tell, with all
    rows known.
    """

    def rows_of(column):
        return np.repeat(column, times, axis=0)

    fair = rows_of(rows.FAIR)
    reviews = rows.make_reviews(1.0 if complete else 0.25, times)
    answered = [
        Assumption(f"reviews, labels {labels}", fair, {"reviews": reviews, "labels": labels},
                   {"reviews": reviews})
        for labels in ("any", "random")
    ]  # fmt: skip
    known = rows.TRUTH.astype(float) if complete else rows.AUDITED
    answered.append(Assumption("audited", rows_of(known), {"audited": True}))
    if complete:
        return {assumption.name: assumption for assumption in answered}
    late = uc.prevalence.LateLabels().fit(
        rows_of(rows.OBSERVED), rows_of(rows.FOUND), until=rows.LAST_DAY
    )
    sources = uc.prevalence.TwoSources().fit(rows.FIRST, rows.SECOND)
    covariates = rows_of(rows.COVARIATE)[:, np.newaxis]
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    looked = rows_of(rows.LOOKED_BY_CHANCE)
    error = uc.Estimate(rows.HIDDEN, rows.HIDDEN - 0.06, rows.HIDDEN + 0.06, 0.03)
    every = [
        Assumption("prevalence given", fair, {"prevalence": rows.PREVALENCE}),
        Assumption("range", fair, {"prevalence": (0.34, 0.41)}),
        Assumption("Estimate", fair, {"unlabeled_prevalence": error}),
        Assumption("estimated", fair),
        Assumption(
            "estimated by bootstrap", fair, {"prevalence_interval": "bootstrap", "n_resamples": 20}
        ),
        Assumption(
            "impure",
            rows_of(rows.IMPURE),
            {"prevalence": rows.PREVALENCE, "label_purity": rows.PURITY},
        ),
        Assumption("case-control", fair, {"prevalence": rows.HIDDEN, "sampling": "case-control"}),
        Assumption(
            "propensity known", rows_of(rows.BY_CHANCE), {"propensity": rows_of(rows.CHANCE)}
        ),
        Assumption(
            "propensity by classifier", looked, {"propensity": tree, "covariates": covariates}
        ),
        Assumption("late labels", late.labels_, {"propensity": late}),
        *answered,
        Assumption("two sources", rows_of(sources.labels_), {"unlabeled_prevalence": sources}),
        Assumption(
            "selection by score",
            rows_of(rows.LOOKED_BY_SCORE),
            {"assume": uc.SelectedLabels("own-score")},
        ),
        Assumption(
            "selection by columns",
            looked,
            {"assume": uc.SelectedLabels("doubly-robust", features=covariates)},
        ),
    ]
    return {assumption.name: assumption for assumption in every}
