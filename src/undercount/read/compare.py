"""Several models on the same rows: which is better, and does that depend on the prevalence."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

from undercount.assume.mixture import design_of
from undercount.errors import InputError, named
from undercount.read.differences import (
    AREAS,
    POINTS,
    TARGET_OF,
    Difference,
    Model,
    Paired,
    Question,
    holm_adjusted,
)
from undercount.read.evaluate import RecountableRows, count_model, evaluate, evaluate_models
from undercount.read.evaluation import Evaluation, render
from undercount.read.intervals.clusters import KIND_LABELS
from undercount.read.intervals.paired import ModelRows

if TYPE_CHECKING:
    from pathlib import Path

# Arguments that say something of each row, and are used up when rows are counted.
_OF_ROWS = ("sample_weight", "cluster")


@dataclass(frozen=True)
class Comparison:
    """Hold the evaluations of several models on the same rows and their paired differences.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.3
    >>> y = np.where(truth & (rng.random(2000) < 0.5), 1, 0)
    >>> good, poor = rng.normal(2 * truth), rng.normal(truth)
    >>> comparison = uc.compare(y, {"good": good, "poor": poor}, unlabeled=0, prevalence=0.3)
    >>> comparison.difference("roc_auc").better_probability > 0.99
    True
    """

    evaluations: Mapping[str, Evaluation]
    differences: tuple[Difference, ...]
    question: Question = "population"

    def difference(
        self, metric: str, one: str | None = None, other: str | None = None
    ) -> Difference:
        """Return the difference of two models (the first pair if none is named)."""
        for found in self.differences:
            if found.metric == metric and one in (None, found.one) and other in (None, found.other):
                return found
        known = sorted({found.metric for found in self.differences})
        pair = "" if one is other is None else f" of {one or 'any'} and {other or 'any'}"
        raise InputError(
            f"no difference{pair} in {metric!r}; metrics: {', '.join(known)} (others need a"
            " threshold)"
        )

    def table(self) -> dict[str, list[Any]]:
        """Return the differences as columns, ready for any data frame's constructor."""
        names = ("metric", "one", "other")
        columns: dict[str, list[Any]] = {
            n: [getattr(d, n) for d in self.differences] for n in names
        }
        columns["difference"] = [d.difference.value for d in self.differences]
        columns["low"] = [d.difference.low for d in self.differences]
        columns["high"] = [d.difference.high for d in self.differences]
        for name in ("better_probability", "p_value", "adjusted_p_value", "crossover"):
            columns[name] = [getattr(d, name) for d in self.differences]
        return columns

    def to_json(self) -> str:
        """Write the models and their differences as JSON of a versioned schema."""
        return str(render("comparison json", self))

    def to_html(self, path: "str | Path") -> None:
        """Write the live report of all models, whole or not at all."""
        render("html", list(self.evaluations.values()), path)

    def __str__(self) -> str:
        return str(render("comparison text", self))

    def __repr__(self) -> str:
        return str(self)


def compare(
    y: Any,
    scores: Mapping[str, Any],
    *,
    threshold: float | Mapping[str, float] | None = None,
    unlabeled: float | None = None,
    question: Question = "population",
    **options: Any,
) -> Comparison:
    """Compare models on the same rows.

    A difference is that of the two evaluations; its standard error follows from what each row
    adds to the one minus what it adds to the other (for areas under ROC curves DeLong et al.
    1988), that of average precision in a single sample of pure labels from the paired jackknife.
    Where the size of a difference moves with the share of hidden positives, the share's own
    interval widens that of the difference. If no prevalence is given, one share is estimated for
    all models, from the scores that tell labelled from unlabeled rows best.

    Parameters
    ----------
    y : array-like
        Labels as in `evaluate`.
    scores : mapping
        Name of each model → its scores.
    threshold : float or mapping, optional
        One for all models or one a model; adds metrics at a threshold.
    unlabeled : number, optional
        As in `evaluate`.
    question : {"population", "rows"}
        What differences, their intervals, p-values and chances of being better speak of. By
        default which model is better where these rows come from, as if other rows were drawn;
        "rows" asks which is better on these very rows, where only the choice of the labelled
        ones is random. Read as the first, the second calls equal models different too often, the
        more so the more positives are labelled. The models' own numbers keep their `target`.
    **options
        The other arguments of `evaluate`.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives, for every model alike.
    Wrong when: one of the models was used to decide which rows to label.

    Examples
    --------
    >>> import undercount as uc
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.random(2000) < 0.3
    >>> y = truth & (rng.random(2000) < 0.5)
    >>> models = {"a": rng.normal(1.5 * truth), "b": rng.normal(truth)}
    >>> comparison = uc.compare(y, models, unlabeled=0, prevalence=0.3)
    >>> comparison.difference("roc_auc").depends_on_prevalence
    False
    """
    if not isinstance(scores, Mapping):
        raise InputError(
            f"scores must map names to scores, {{'new': a, 'old': b}}; got {type(scores).__name__}"
        )
    if len(scores) < 2:  # noqa: PLR2004 - a comparison needs two
        raise InputError(f"compare needs at least two models; got {list(scores)}")
    if options.get("sample_weight") is not None:
        raise InputError(
            f"compare takes no {named('sample_weight')}; repeat rows, or evaluate each model"
        )
    if options.get("propensity") is not None:
        raise InputError(
            f"compare takes no {named('propensity')}; evaluate each model with it",
            argument="propensity",
        )
    if question not in TARGET_OF:
        raise InputError(
            f"{named('question')} must be one of {', '.join(TARGET_OF)}; got {question!r}"
        )
    unknown = sorted(set(options) - set(signature(evaluate).parameters))
    if unknown:
        raise TypeError(f"compare() got an unexpected keyword argument {unknown[0]!r}")
    thresholds, cluster = _thresholds(threshold, scores), options.get("cluster")
    # With impure labels average precision and the areas' intervals need every score.
    purity = options.get("label_purity", 1.0)
    pure = isinstance(purity, int | float) and purity == 1
    evaluations = evaluate_models(
        {
            name: count_model(
                y, score, unlabeled, None, thresholds.get(name), cluster=cluster, compact=pure
            )
            for name, score in scores.items()
        },
        **{name: value for name, value in options.items() if name not in _OF_ROWS},
    )
    paired = Paired(_models(evaluations, thresholds, question), question)
    metrics = (*AREAS, *POINTS) if thresholds else AREAS
    found = [d for metric in metrics for d in holm_adjusted(paired.differences(metric))]
    return Comparison(evaluations, tuple(found), question)


def _models(
    evaluations: Mapping[str, Evaluation], thresholds: Mapping[str, float], question: Question
) -> dict[str, Model]:
    """Put the rows of every model, in one order and by kind, beside its table."""
    first = next(iter(evaluations.values()))
    shares, target = first.shares, TARGET_OF[question]
    design = design_of(first.counts, shares, shares.sampling, target)
    rows = {name: cast("RecountableRows", e.recount) for name, e in evaluations.items()}
    labels = next(iter(rows.values())).labels
    kinds = [labels == label for label in KIND_LABELS]
    return {
        name: Model(
            evaluation,
            ModelRows(
                evaluation.counts,
                [rows[name].scores[kind] for kind in kinds],
                design,
                thresholds.get(name, math.inf),
                evaluation.clusters,
            ),
        )
        for name, evaluation in evaluations.items()
    }


def _thresholds(
    threshold: float | Mapping[str, float] | None, scores: Mapping[str, Any]
) -> dict[str, float]:
    if threshold is None:
        return {}
    if isinstance(threshold, Mapping):
        missing = [name for name in scores if name not in threshold]
        if missing:
            raise InputError(f"threshold must name every model; {', '.join(missing)} is missing")
        return {name: float(threshold[name]) for name in scores}
    return dict.fromkeys(scores, float(threshold))
