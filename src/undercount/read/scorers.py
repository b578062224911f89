"""Scorers for scikit-learn's model selection on positive and unlabeled rows."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from undercount.assume.base import Assumption, ReportOptions
from undercount.assume.builder import assumption_of, random_labels_of
from undercount.assume.random_labels.assumption import RandomLabels
from undercount.checks.labelled_chance import EVEN_CHANCE, warn_words
from undercount.count.kernel.array_library import is_tensor
from undercount.counts import ScoreCounts
from undercount.errors import (
    MISSING_DATA,
    InputError,
    MisfitWarning,
    SmallSampleWarning,
    collect_warnings,
    warn,
)
from undercount.infer.decisions import Costs, cost_weight
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_name import name_metric
from undercount.infer.scored_rows import ScoredRows, count_model
from undercount.metric_facts import FACTS
from undercount.shares import Shares, read_shares

Response: TypeAlias = Literal["decision_function", "predict_proba", "predict"]
ResponseMethod: TypeAlias = Response | tuple[Response, ...] | list[Response]
USUAL_RESPONSE = ("decision_function", "predict_proba")
# How to fit a model that has more than two columns.
OF_ALL_ROWS = "Fit the model on two classes, 1 for labelled rows and 0 or -1 for all others"
OF_ROWS_LOOKED_AT = (
    "Fit the model on the rows that were looked at alone, whose classes are 0 and 1: let its fit "
    "leave out the rows of -1"
)
# Fewer rows of a kind say nothing of their order; runs this many standard errors too few do.
FEWEST_RUNS, RARE_ORDER = 10, -5.0
# A larger share of neighbours among the unlabeled rows of a fold is no random choice.
MOST_ADJACENT_ROWS = 0.6

# Metrics whose order of models is the same without knowing the prevalence: areas in a fixed order,
# and what needs none. With impure labels recall moves with the prevalence too, and areas are left.
IMPURE_RANKING = [f.name for f in FACTS.values() if f.family == "area" and f.order_fixed != "no"]
RANKING = IMPURE_RANKING + [
    facts.name
    for facts in FACTS.values()
    if facts.family == "threshold" and facts.order_fixed != "no" and not facts.needs_prevalence
]


def make_scorer(
    name: str,
    *,
    assume: Assumption | None = None,
    threshold: float | None = None,
    beta: float = 1.0,
    cost: Costs | None = None,
    max_fpr: float | None = None,
    unlabeled: float | None = None,
    response_method: ResponseMethod | None = None,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    label_frequency: Any = None,
) -> Any:
    """Make a scorer for `cross_val_score`, `GridSearchCV` and the like.

    In `y` 1 is positive and -1 unlabeled (missing values do not survive scikit-learn's splitters),
    and 0 then is a verified negative; where no row is -1, 0 means unlabeled. Stratified splitters
    keep the labelled share in every fold; let them shuffle, ``StratifiedKFold(5, shuffle=True)``.

    Larger is better, as scikit-learn wants it: losses, "fpr", "fnr" and
    "negative_likelihood_ratio" come with the sign turned, like its "neg_log_loss".

    Parameters
    ----------
    name : str
        A metric; "roc_auc", "lift_auc", "recall", "lift" and "lee_liu" rank models without a
        prevalence ("roc_auc" is then that of labelled against unlabeled rows).
    assume : Assumption, optional
        What is supposed of the labels of every fold, instead of a shorthand. What is known row
        by row (chances of a label, verdicts) does not reach the rows of a fold.
    threshold : float, optional
        For metrics at a threshold, on the scale of the scores. A model trained on found labels
        predicts the chance of being labelled: one half of being positive is the label frequency
        times one half (`Evaluation.calibrated_threshold`); a warning says so.
    beta : float
        Weight of recall in "f_beta"; in "net_benefit" what a false positive costs of a true one.
    cost : mapping, optional
        What errors cost in "expected_cost": {"false_positive": 5, "false_negative": 100}.
    max_fpr : float, optional
        End of the range of "partial_roc_auc", which needs it.
    unlabeled : number, optional
        Value in `y` that means unlabeled, if not as said above.
    response_method : str or tuple of str, optional
        What of the model is scored: "decision_function", "predict_proba" or "predict", or the
        first of several that it has. By default decision_function, or else predict_proba; the
        other way round for a threshold between 0 and 1; for losses predict_proba. "predict"
        needs no threshold, and is what `TunedThresholdClassifierCV` wants.
    prevalence, unlabeled_prevalence, label_frequency
        As in `evaluate`. A share among all rows holds in every stratified fold alike.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives.
    Wrong when: some positives are more likely to be labelled than others.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(600) < 0.3
    >>> X = rng.normal(truth[:, None], 1.0, (600, 3))
    >>> y = np.where(truth & (rng.random(600) < 0.5), 1, -1)
    >>> values = cross_val_score(LogisticRegression(), X, y, scoring=uc.make_scorer("lift_auc"))
    >>> bool((values > 0.6).all())
    True
    """
    assumption = assumption_of(
        assume,
        prevalence=prevalence,
        unlabeled_prevalence=unlabeled_prevalence,
        label_frequency=label_frequency,
    )
    labels = random_labels_of(assumption)
    if labels is None and not assumption.of_any_rows:
        raise InputError(
            f"a scorer sees labels and scores of each fold alone, and {type(assume).__name__} "
            "knows of rows; evaluate out-of-fold scores instead",
            code=MISSING_DATA,
            argument="assume",
        )
    name, scale = name_metric(name, list(FACTS)), 1.0
    if name == "expected_cost" or cost is not None:
        beta, scale = cost_weight(cost or {})
    if response_method == "predict" and threshold is None:
        threshold = 0.5  # between the classes 1 and 0 or -1
    _check(name, threshold, max_fpr, labels)
    usual: Any = "predict_proba" if FACTS[name].family == "loss" else USUAL_RESPONSE
    if threshold is not None and 0 < threshold < 1 and usual is USUAL_RESPONSE:
        usual = USUAL_RESPONSE[::-1]  # such a threshold is meant for probabilities
    return metrics.make_scorer(
        MetricScore(name),
        response_method=response_method or usual,
        greater_is_better=FACTS[name].higher_is_better,
        threshold=threshold,
        beta=beta,
        scale=scale,
        max_fpr=max_fpr,
        unlabeled=unlabeled,
        labels=labels,
        assume=assumption if labels is None else None,
    )


def _check(
    name: str, threshold: float | None, max_fpr: float | None, labels: RandomLabels | None
) -> None:
    """Refuse at once what would fail on every fold."""
    if FACTS[name].family == "threshold" and threshold is None:
        raise InputError(f"{name} is a metric at a threshold; pass threshold=")
    if name == "partial_roc_auc" and (max_fpr is None or not 0 < max_fpr <= 1):
        raise InputError(f"{name} needs max_fpr in (0, 1]; got {max_fpr}")
    if labels is None:
        return
    ranking = RANKING if labels.purity == 1 else IMPURE_RANKING
    shares = labels.prevalence, labels.hidden, labels.label_frequency
    if name not in ranking and all(share is None for share in shares):
        raise InputError(
            f"{name} needs prevalence, unlabeled_prevalence or label_frequency; without one, "
            f"models can be ranked by {', '.join(ranking)}",
            argument="prevalence",
        )


@dataclass(frozen=True)
class MetricScore:
    """Hold the metric of a scorer, which calls it on the labels and scores of each fold.

    A class, not a closure, so that scorers can be pickled and copied.
    """

    metric: str

    @property
    def __name__(self) -> str:
        """What scorers print, and tables of other libraries call the metric."""
        return self.metric

    def __call__(
        self,
        y_true: Any,
        y_score: Any,
        *,
        threshold: float | None = None,
        beta: float = 1.0,
        scale: float = 1.0,
        max_fpr: float | None = None,
        unlabeled: float | None = None,
        sample_weight: Any = None,
        labels: RandomLabels | None = None,
        assume: Assumption | None = None,
    ) -> float:
        """Return the value of the metric."""
        if assume is not None:
            known = _fold_labels(y_true)
            looked = (known == 0).any() and (known == -1).any()
            scores = positive_column(y_score, OF_ROWS_LOOKED_AT if looked else OF_ALL_ROWS)
            unlabeled = _unlabeled_value(known) if unlabeled is None else unlabeled
            rows = unlabeled, sample_weight, threshold, assume.knots
            at = MetricAt.of(self.metric, threshold, beta=beta, max_fpr=max_fpr)
            compact = not assume.every_score and FACTS[self.metric].family != "loss"
            fold = count_model(known, scores, *rows, compact=compact)
            return scale * _value_of_fold(fold, at, assume)
        return _score_rows(
            y_true,
            positive_column(y_score),
            metric=self.metric,
            threshold=threshold,
            beta=beta,
            scale=scale,
            max_fpr=max_fpr,
            unlabeled=unlabeled,
            sample_weight=sample_weight,
            assumed=labels or RandomLabels(),
        )


def positive_column(y_score: Any, fit_words: str = OF_ALL_ROWS) -> Any:
    """Return the scores of the positive class from what a model returns for a batch of rows.

    `predict_proba` has a column for each class, in ascending order: of two classes, unlabeled as 0
    or -1 and positive as 1, the second is the positive one. `fit_words` say how to fit the model
    where it has more.

    Examples
    --------
    >>> from undercount.read.scorers import positive_column
    >>> positive_column([[0.9, 0.1], [0.3, 0.7]])
    array([0.1, 0.7])
    """
    scores = y_score if is_tensor(y_score) else np.asarray(y_score)
    if scores.ndim == 1:
        return y_score
    if scores.ndim != 2 or scores.shape[1] != 2:  # noqa: PLR2004 - two classes
        raise InputError(
            "a scorer takes one score per row, or a column for each of two classes, the positive "
            f"one last; got scores of shape {tuple(scores.shape)}. {fit_words}"
        )
    return scores[:, 1]


def _score_rows(
    y_true: Any,
    y_score: Any,
    *,
    metric: str,
    threshold: float | None,
    beta: float,
    scale: float,
    max_fpr: float | None,
    unlabeled: float | None,
    sample_weight: Any,
    assumed: RandomLabels,
) -> float:
    """Return the value of a metric on the rows of a fold."""
    # Losses need every score; impure labels too, whose unlabeled rows all take part in
    # average precision and in where a partial area ends.
    labels = np.asarray(y_true)
    if labels.dtype.kind in "OUS":
        labels = y_true = _read_numbers(labels)
    unlabeled = _unlabeled_value(labels) if unlabeled is None else unlabeled
    _check_lone_fold(labels)
    warn_of_order(y_true, labels == 1)
    counts = ScoreCounts.from_rows(
        y_true,
        y_score,
        unlabeled=unlabeled,
        sample_weight=sample_weight,
        compact=FACTS[metric].family != "loss" and assumed.purity == 1,
        knots=[] if threshold is None else [threshold],
    )
    shares = read_shares(
        counts,
        prevalence=assumed.prevalence,
        unlabeled_prevalence=assumed.hidden,
        label_frequency=assumed.label_frequency,
        label_purity=assumed.purity,
        sampling=assumed.sampling,
    )
    if threshold == EVEN_CHANCE:
        words = warn_words(np.asarray(y_score, dtype=float), counts, shares)
        if words:
            warn(MisfitWarning(words, code="labelled-chance", metric=metric), stacklevel=3)
    if shares is None:
        shares = Shares(0.0, assumed.purity, assumed.sampling)
    # A fold is small; the whole evaluation will say what matters.
    with collect_warnings(MisfitWarning, SmallSampleWarning):
        estimate = estimate_metric(
            counts, shares, metric, threshold=threshold, beta=beta, max_fpr=max_fpr
        )
    return scale * estimate.value


def _value_of_fold(rows: ScoredRows, at: MetricAt, assume: Assumption) -> float:
    """Return the value of a metric of a fold under an assumption that says nothing of rows."""
    with collect_warnings(MisfitWarning, SmallSampleWarning):  # a fold is small
        assume.check_rows(rows)
        (recovery,) = assume.recover({"": rows}, ReportOptions()).values()
        return recovery.estimate(at).value


def _fold_labels(y: Any) -> NDArray[Any]:
    """Return labels as numbers."""
    labels = np.asarray(y)
    return _read_numbers(labels) if labels.dtype.kind in "OUS" else labels


def _read_numbers(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels of any type as numbers; words cannot be told apart here."""
    try:
        return np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"labels must be 1, 0 or -1 where models are scored; got {labels.flat[0]!r}. Pass "
            "(y == 'yes').astype(int), whichever word means positive"
        ) from None


def _unlabeled_value(labels: NDArray[Any]) -> float:
    """Return what means unlabeled: -1 if it occurs, else 0, which could mean nothing else here."""
    return -1.0 if (labels == -1).any() else 0.0


def _check_lone_fold(labels: NDArray[Any]) -> None:
    """Say what to do about folds without a labelled or without another row."""
    if (labels == 1).any() and not (labels == 1).all():
        return
    kind = "no row but labelled positives" if (labels == 1).any() else "no labelled positive row"
    raise InputError(
        f"a fold holds {kind}; let the splitter keep their share in every fold, "
        "cv=StratifiedKFold(5, shuffle=True)"
    )


def warn_of_order(y: Any, labelled: NDArray[np.bool_]) -> None:
    """Warn if rows stand in an order that goes with their labels, and folds may be its blocks.

    Labelled and other rows alternate in far fewer runs than chance explains (Wald and Wolfowitz
    1940): rows are sorted by label, by time, by a score. Folds without shuffle are then blocks of
    it, with different shares of hidden positives. Where an index shows that unlabeled rows of one
    fold are no neighbours, the splitter has shuffled.
    """
    n, some = len(labelled), int(labelled.sum())
    index = getattr(y, "index", None)
    if min(some, n - some) < FEWEST_RUNS:
        return
    if index is not None and getattr(index, "dtype", None) is not None and index.dtype.kind in "iu":
        places = np.sort(np.asarray(index)[~labelled])
        if np.mean(np.diff(places) == 1) < MOST_ADJACENT_ROWS:
            return
    runs = 1 + int(np.count_nonzero(labelled[1:] != labelled[:-1]))
    product = 2.0 * some * (n - some)
    spread = math.sqrt(product * (product - n) / (n * n * (n - 1)))
    if (runs - 1 - product / n) / spread < RARE_ORDER:
        warn(
            MisfitWarning(
                "the rows stand in an order that goes with their labels; folds of a splitter that "
                "does not shuffle, as StratifiedKFold by default, are blocks of that order with "
                "different shares of hidden positives. Use StratifiedKFold(5, shuffle=True), or "
                "shuffle the rows once",
                code="sorted-rows",
            ),
            stacklevel=4,
        )


roc_auc = make_scorer("roc_auc")
lift_auc = make_scorer("lift_auc")
