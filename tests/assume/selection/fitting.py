"""Fit selection models to arrays, and read them, without an evaluation around."""

from undercount.assume.selection.assumption import SelectedLabels
from undercount.infer.metric_at import MetricAt


class Selected:
    """A method with its options, which fits rows."""

    def __init__(
        self, method="own-score", distribution="empirical",
        confidence_level=0.95, random_state=0, **options,
    ):  # fmt: skip
        self.about = {"confidence_level": confidence_level, "random_state": random_state}
        self.options = {"method": method, "distribution": distribution, **options}

    def fit(self, score, y, X=None, selection_score=None):
        labels = SelectedLabels(**self.options, features=X, selection_score=selection_score)
        return labels.fit(y, score, **self.about)


def interval_of(model, metric, threshold=None, kind="auto"):
    """Return a metric of a model with its interval."""
    return model.estimate(MetricAt(metric, threshold), kind)
