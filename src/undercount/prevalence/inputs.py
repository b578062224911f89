"""Rows and settings that can carry an estimate: read, refused, or warned of."""

from typing import Any

import numpy as np

from undercount.counts import ALL_LABELLED, BoolArray, ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, MisfitWarning, SmallSampleWarning, warn, wording
from undercount.prevalence.ranks import auc_standard_error

MIN_LABELS = 10
FEW_LABELS = 30
IN_SAMPLE_AUC = 0.99


def as_counts(y: Any, score: Any, *, unlabeled: Any, sample_weight: Any) -> ScoreCounts:
    """Return counts, made from rows where rows are given."""
    if not isinstance(y, ScoreCounts):
        if score is None:
            raise InputError("fit needs labels and scores, or one ScoreCounts; got no scores")
        return ScoreCounts.from_rows(y, score, unlabeled=unlabeled, sample_weight=sample_weight)
    if score is not None or unlabeled is not None or sample_weight is not None:
        raise InputError("fit(counts) takes no scores, unlabeled or weights: counts hold them")
    return y


def check_sizes(n_labelled: float, n_unlabeled: float) -> None:
    """Raise unless there are enough labels, as independent ones count, and any unlabeled row."""
    if n_labelled < MIN_LABELS:
        got = f"{n_labelled:g}"
        if n_labelled != round(n_labelled):
            got = (
                f"labels worth about {n_labelled:.2g} independent ones, since labels of one "
                "cluster, or of unequal weights, tell less"
            )
        raise InputError(
            f"estimating a prevalence needs at least {MIN_LABELS} labelled positives; got {got}. "
            + wording(
                "Review some unlabeled rows (plan_reviews), or give the prevalence, from a "
                "VerifiedSample say",
                "Let people look at some unlabeled rows, which undercount plan … --budget 100 "
                "--out review.csv chooses and undercount evaluate … --reviews review.csv takes; "
                "or give evaluate the share of positives: --prevalence",
            )
        )
    if n_unlabeled < 1:
        raise InputError(
            "there must be unlabeled rows; got none (is "
            f"{wording('`unlabeled=`', '--unlabeled')} missing?). {ALL_LABELLED}"
        )


def check_counts(counts: ScoreCounts) -> None:
    """Raise unless the counts can carry an estimate."""
    # Ten rows of weight .1 are still ten labels, also where rounding makes them 9.9999999999999.
    sizes = [round(counts.effective_size(label), 9) for label in ("positive", "unlabeled")]
    check_sizes(*sizes)
    if np.count_nonzero(counts.positive + counts.unlabeled) < 2:  # noqa: PLR2004 - not constant
        raise InputError("scores must vary; got one constant score, which identifies nothing")


def warn_about_scores(counts: ScoreCounts, auc: float) -> None:
    """Warn of scores that look in-sample or useless."""
    if auc > IN_SAMPLE_AUC:
        words = (
            f"the scores separate labelled from unlabeled rows almost perfectly (AUC {auc:.3f}):"
            f" either under {2 * (1 - auc):.1%} of the unlabeled are positive, or the scorer was"
            " trained on these rows; use out-of-fold scores"
        )
        warn(MisfitWarning(words, code="separated"), stacklevel=3)
    elif auc - 2 * auc_standard_error(counts, auc) < 0.5:  # noqa: PLR2004 - a coin's AUC
        words = (
            f"the scores do not tell labelled from unlabeled rows (AUC {auc:.3f}): either nearly"
            " all unlabeled rows are positive, or the scores are useless"
        )
        warn(MisfitWarning(words), stacklevel=3)


def warn_about_size(counts: ScoreCounts) -> None:
    """Warn of an interval that rests on few labels."""
    n_labelled = round(float(counts.effective_size("positive")), 9)
    if n_labelled < FEW_LABELS:
        shown = f"{n_labelled:g}" if n_labelled.is_integer() else f"about {n_labelled:.0f}"
        warn(
            SmallSampleWarning(f"only {shown} labelled positives: intervals may be too narrow"),
            stacklevel=3,
        )


def as_matrix(X: Any) -> FloatArray:
    """Return features as a finite matrix of floats."""
    features = np.asarray(X, float)
    if features.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise InputError(f"X must have two dimensions; got {features.ndim}: use X.reshape(-1, 1)")
    if not np.all(np.isfinite(features)):
        raise InputError("X must be finite; got missing or infinite values: impute them first")
    return features


def label_masks(y: Any, n_rows: int, *, unlabeled: Any = None) -> tuple[BoolArray, BoolArray]:
    """Return masks of the labelled positive and of the unlabeled rows, in the rows' order."""
    # Descending positions as scores: the table's cells are then the rows in their order.
    counts = ScoreCounts.from_rows(y, -np.arange(float(n_rows)), unlabeled=unlabeled)
    return counts.positive > 0, counts.unlabeled > 0
