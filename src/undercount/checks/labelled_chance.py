"""What a model trained on found labels predicts: the chance of being labelled.

That of being positive is larger, by 1/c for label frequency c if labels are random and pure (Elkan
and Noto 2008), so that a threshold of one half flags next to nothing.
"""

import math

import numpy as np

from undercount.checks.outcomes import warns
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, blocks
from undercount.errors import Check, InputError, real_number
from undercount.shares import Shares

EVEN_CHANCE = 0.5
# Mean scores up to this many labelled shares look like chances of being labelled.
LIKE_LABELS = 1.5


def chance_threshold(counts: ScoreCounts, shares: Shares, chance: float = EVEN_CHANCE) -> float:
    """Return the chance of being labelled of a row whose chance of being positive is given.

    Single sample: e₀ + (e₁ - e₀) p, e₁ and e₀ the shares of the positives and of the negatives
    that are labelled positive; c p for pure labels. Case-control: with the density ratio
    r = κ p/a + (1 - κ)(1 - p)/(1 - a) of labelled to unlabeled rows, n_L r/(n_L r + n_U).

    Notes
    -----
    Assumes: the scores are well-calibrated chances of being labelled, from a model trained on rows
    like these, labelled against all others; labels are random among the positives.
    Wrong when: the model was trained on other labels, on balanced or weighted rows, or its scores
    are not probabilities.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.checks.labelled_chance import chance_threshold
    >>> counts = uc.ScoreCounts.from_rows([1, 1, None, None, None, None, None, None], range(8))
    >>> chance_threshold(counts, uc.Shares.from_label_frequency(counts, 0.5))
    0.25
    """
    if not 0 < real_number(chance) < 1:
        raise InputError(f"chance must be in (0, 1); got {chance}")
    purity, chance = shares.label_purity, float(chance)
    if shares.sampling == "case-control":
        share = shares.unlabeled_prevalence
        if share == 0:
            return 1.0  # no unlabeled row is positive
        ratio = purity * chance / share + (1 - purity) * (1 - chance) / (1 - share)
        labelled = counts.n_positive * ratio
        return labelled / (labelled + counts.n_unlabeled)
    positives = shares.positives(counts)
    of_positives = purity * counts.n_positive / positives
    of_negatives = (1 - purity) * counts.n_positive / (counts.n_rows - positives)
    return of_negatives + (of_positives - of_negatives) * chance


def predicts_labels(means: tuple[float, float], counts: ScoreCounts, shares: Shares) -> bool:
    """Whether scores average the labelled share rather than the prevalence, wherever between."""
    labelled = counts.n_positive / counts.n_rows
    prevalence = shares.prevalence(counts)
    if not labelled < prevalence or means[0] <= 0:
        return False
    middle = math.sqrt(labelled * prevalence)
    return max(means) < middle


def scale_check(counts: ScoreCounts, shares: Shares) -> list[Check]:
    """UC014: one half of a chance of being labelled is not one half of being positive."""
    if shares.sampling != "single-sample":
        return []
    if counts.score[0] > 1 or counts.score[-1] < 0:
        return []  # no probabilities
    low = high = 0.0
    highest = float(counts.score[0])
    for part in blocks(len(counts.score)):
        rows = counts.positive[part] + counts.negative[part] + counts.unlabeled[part]
        score = counts.score[part]
        # A merged cell holds scores from its own, the lowest, up to that of the cell above.
        above = np.where(counts.merged[part], np.append(highest, score[:-1]), score)
        highest = float(score[-1])
        low += float(rows @ score) / counts.n_rows
        high += float(rows @ above) / counts.n_rows
    if not predicts_labels((low, high), counts, shares):
        return []
    return [
        warns(
            "scale",
            f"the scores average about {100 * high:.2g} %, nearer to the labelled share than to "
            "the share of positives: a model trained on found labels predicts the chance of being "
            "labelled, and one half of that is not one half of being positive",
            "where a row is as likely positive as not, such a score is "
            f"{chance_threshold(counts, shares):.4g}; pass that threshold, or leave it if 0.5 is "
            "what you use",
        )
    ]


def warn_words(score: FloatArray, counts: ScoreCounts, shares: Shares | None) -> str:
    """Say it of the scores of one fold; nothing where they are no chances of being labelled."""
    hard = len(np.unique(score)) <= 2  # noqa: PLR2004 - predicted classes
    if hard or score.min() < 0 or score.max() > 1:
        return ""
    mean = float(score.mean())
    if shares is None:
        labelled = counts.n_positive / counts.n_rows
        like_labels, at = mean < LIKE_LABELS * labelled, "the label frequency times 0.5"
    else:
        like_labels = predicts_labels((mean, mean), counts, shares)
        at = f"threshold={chance_threshold(counts, shares):.3g}"
    if not like_labels:
        return ""
    return (
        "the model predicts the chance of being labelled, as it was trained on found labels; a "
        f"threshold of 0.5 on that is not one half of being positive, which is {at} here"
    )
