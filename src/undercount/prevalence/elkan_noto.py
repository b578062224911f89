"""Elkan-Noto: the label frequency from calibrated chances of being labelled (2008)."""

from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, check_choice
from undercount.prevalence.base import Fitted, ScoreEstimator, estimator

ELKAN_NOTO_RULES = ("e1", "e2", "e3")


@estimator
class ElkanNoto(ScoreEstimator):
    """Estimate the label frequency c from g = P(labelled | score), and the share from c.

    e1 is the mean of g over the labelled rows, e2 the sum over the labelled over the sum over all
    rows, e3 the largest g. Scores must come from rows the classifier was not trained on.

    Parameters
    ----------
    rule : {"e1", "e2", "e3"}
    calibration : {"isotonic", "none"}
        "isotonic" makes g from the order of the scores alone (pool adjacent violators), so that
        any increasing transform gives the same answer; "none" takes the scores as g, as
        published, and they must lie in [0, 1].
    conversion : {"frequency", "posterior"}
        From c to the share: (n_L / c - n_L) / n_U, or the mean over the unlabeled rows of
        (1 - c) / c · g / (1 - g) (Elkan, Noto 2008, eq. 3).

    Attributes
    ----------
    diagnostics_ : dict
        ``label_frequency`` is the rule's c.

    Notes
    -----
    Assumes: labels are a random sample of the positives, some rows are surely positive, and g is
    calibrated.
    Wrong when: the classes overlap; e1 and e2 are then too high by much, e3 is noise (the
    largest of many noisy numbers) and too low.

    References
    ----------
    Elkan, Noto (2008), Learning classifiers from only positive and unlabeled data.
    """

    _by_order = True

    rule: str = "e2"
    calibration: str = "isotonic"
    conversion: str = "frequency"

    def reads_scores(self) -> bool:
        """Whether the scores themselves may be read, and not their order alone."""
        return self.calibration == "none"

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        chance = self._chance(counts)
        frequency = _frequency(self.rule, chance, counts)
        if not 0 < frequency <= 1:
            raise InputError(f"the label frequency must lie in (0, 1]; {self.rule} is {frequency}")
        value = self._share(frequency, chance, counts)
        return Fitted(min(1.0, value), diagnostics={"label_frequency": frequency, "raw": value})

    def _chance(self, counts: ScoreCounts) -> FloatArray:
        """Return g = P(labelled | score) at each distinct score."""
        if self.calibration == "isotonic":
            rows = counts.positive + counts.unlabeled
            share = np.divide(counts.positive, rows, out=np.zeros(rows.size), where=rows > 0)
            chance = np.zeros(rows.size)
            kept = rows > 0
            chance[kept] = isotonic_regression(share[kept], weights=rows[kept], increasing=False).x
            return chance
        if self.calibration != "none":
            raise InputError(f"calibration must be 'isotonic' or 'none'; got {self.calibration!r}")
        if counts.score[-1] < 0 or counts.score[0] > 1:
            raise InputError(
                "without calibration scores must be chances of being labelled, in [0, 1];"
                f" got {counts.score[-1]:g} to {counts.score[0]:g}: use calibration='isotonic'"
            )
        return np.asarray(counts.score)

    def _share(self, frequency: float, chance: FloatArray, counts: ScoreCounts) -> float:
        if self.conversion == "frequency":
            return counts.n_positive * (1 / frequency - 1) / counts.n_unlabeled
        if self.conversion != "posterior":
            raise InputError(
                f"conversion must be 'frequency' or 'posterior'; got {self.conversion!r}"
            )
        odds = chance / np.maximum(1 - chance, 1e-12)
        most = 1.0 if self.calibration == "isotonic" else np.inf
        weight = np.minimum((1 - frequency) / frequency * odds, most)
        return float(counts.unlabeled @ weight / counts.n_unlabeled)


def _frequency(rule: str, chance: FloatArray, counts: ScoreCounts) -> float:
    check_choice("rule", rule, ELKAN_NOTO_RULES)
    rows = counts.positive + counts.unlabeled
    labelled = float(counts.positive @ chance)
    if rule == "e1":
        return labelled / counts.n_positive
    if rule == "e2":
        return labelled / float(rows @ chance)
    return float(chance[rows > 0].max())


def leave_one_out_positives(chance_of_labelled: Any) -> float:
    """Estimate how many positives there are from leave-one-out chances of the labelled rows.

    With S labelled rows and ḡ the mean chance that each gets from a classifier trained on all
    other rows, there are about (S - 1) / ḡ + 1 positives (Tabatabaei et al. 2020): the row left
    out is one, and the classifier saw S - 1 labels.

    Parameters
    ----------
    chance_of_labelled : array-like
        For each labelled row the chance of being labelled, from a classifier trained without it.

    Returns
    -------
    float
        Number of positives in the data set; divide S by it for the label frequency.

    Notes
    -----
    Assumes: labels are a random sample of the positives, positives and negatives do not overlap,
    and the chances are calibrated.
    Wrong when: the classes overlap (too many positives).

    Examples
    --------
    >>> from undercount.prevalence import leave_one_out_positives
    >>> leave_one_out_positives([0.5, 0.5, 0.5, 0.5])
    7.0
    """
    chance = np.asarray(chance_of_labelled, float).ravel()
    if chance.size == 0 or not np.all((chance >= 0) & (chance <= 1)):
        raise InputError("chances of labelled rows must be numbers in [0, 1], at least one")
    if chance.mean() == 0:
        raise InputError("all chances are 0; the classifier finds no labelled row again")
    return float((chance.size - 1) / chance.mean() + 1)
