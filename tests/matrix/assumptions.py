"""The rows of the matrix: each assumption as the object by which a user states it.

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

POINT_METRICS = ("recall", "precision", "f1", "specificity", "accuracy", "mcc")
AREAS = ("roc_auc", "average_precision", "lift_auc")
METRICS = (*POINT_METRICS, *AREAS)


class AbsentError(Exception):
    """There is no such function or argument for an assumption."""


@dataclass(frozen=True, eq=False)
class Assumption:
    """Labels, and what is assumed of how they came about."""

    name: str
    labels: Any
    assume: Any = None
    results: dict[Any, Any] = field(default_factory=dict)  # equal calls are made once

    def evaluate(self, y=None, score=None, **more):
        if score is None:
            y, score = (self.labels, rows.SCORE) if y is None else (y, None)
        return self._call(uc.evaluate, y, score, **more)

    def compare(self, models=None, **more):
        models = models or {"one": rows.SCORE, "other": rows.OTHER}
        return self._call(uc.compare, self.labels, models, **more)

    def monitor(self, **more):
        """Follow the rows over time; dates of labels are told by the assumption alone."""
        assumed = self.assume or uc.RandomLabels()
        dates = {} if assumed.dates else {"observed": rows.OBSERVED, "label": self.labels}
        return uc.monitor(rows.SCORE, assume=assumed, **dates, **more)

    def measure(self, metric, **more):
        return getattr(uc.metrics, metric)(self.labels, rows.SCORE, assume=self.assume, **more)

    def plan(self, **more):
        return uc.plan_reviews(self.labels, rows.SCORE, assume=self.assume, **more)

    def display(self, display, **more):
        """Make a display of the evaluation at the threshold."""
        evaluation = self.evaluate(threshold=rows.THRESHOLD)
        key = display, *sorted(more.items())
        return self.once(key, lambda: display.from_evaluation(evaluation, **more))

    def score(self, metric, **more):
        """Score a model on scikit-learn's road, where -1 means unlabeled."""
        labels = np.nan_to_num(self.labels, nan=-1)
        scorer = uc.make_scorer(metric, assume=self.assume, **more)
        return scorer(ScoreColumn().fit(None, None), rows.SCORE[:, np.newaxis], labels)

    def once(self, name, ask):
        """Return what was asked under this name before, or ask now."""
        if name not in self.results:
            self.results[name] = ask()
        return self.results[name]

    def _call(self, function, *given, **more):
        assume, weight = self.assume, more.get("sample_weight")
        if isinstance(assume, uc.Reviewed) and weight is not None:  # reviews have their own
            reviews = assume.reviews
            own = replace(reviews, weight=np.asarray(weight)[reviews.rows])
            assume = replace(assume, reviews=own)
        key = (function, *map(_key, given), *sorted((name, _key(v)) for name, v in more.items()))
        if key not in self.results:
            try:
                self.results[key] = function(*given, assume=assume, **more)
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
        Assumption(f"reviews, labels {labels}", fair, uc.Reviewed(reviews, labels=labels))
        for labels in ("any", "random")
    ]
    known = rows.TRUTH.astype(float) if complete else rows.AUDITED
    answered.append(Assumption("audited", rows_of(known), uc.RandomAudit()))
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
        Assumption("prevalence given", fair, uc.RandomLabels(rows.PREVALENCE)),
        Assumption("range", fair, uc.RandomLabels((0.34, 0.41))),
        Assumption("Estimate", fair, uc.RandomLabels(unlabeled_prevalence=error)),
        Assumption("estimated", fair, uc.RandomLabels()),
        Assumption(
            "estimated by bootstrap", fair, uc.RandomLabels(interval="bootstrap", n_resamples=20)
        ),
        Assumption(
            "impure", rows_of(rows.IMPURE), uc.RandomLabels(rows.PREVALENCE, purity=rows.PURITY)
        ),
        Assumption("case-control", fair, uc.RandomLabels(rows.HIDDEN, sampling="case-control")),
        Assumption(
            "propensity known", rows_of(rows.BY_CHANCE), uc.LabelPropensity(rows_of(rows.CHANCE))
        ),
        Assumption("propensity by classifier", looked, uc.LabelPropensity(tree, covariates)),
        Assumption("late labels", late.labels_, uc.DelayedLabels.of(late)),
        *answered,
        Assumption("two sources", rows_of(sources.labels_), uc.RandomLabels(estimator=sources)),
        Assumption(
            "selection by score",
            rows_of(rows.LOOKED_BY_SCORE),
            uc.SelectedLabels("own-score"),
        ),
        Assumption(
            "selection by columns",
            looked,
            uc.SelectedLabels("doubly-robust", features=covariates),
        ),
    ]
    return {assumption.name: assumption for assumption in every}
