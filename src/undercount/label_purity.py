"""Whether what an estimator supposes of the labels is what it is used with."""

from typing import Any

from undercount.errors import InputError

# Shares are kept this far below the purity, where every metric ends.
MARGIN = 1e-6


def refuse_other_purity(estimator: Any, purity: float) -> None:
    """Raise if a fitted estimator supposes another purity of the labels than the one given.

    With labels of purity κ the methods for pure labels find a/κ, not a (Jain, White, Radivojac
    2016), and `Consensus`, whose networks never saw a wrong label, something between the two.
    """
    name, found = type(estimator).__name__, getattr(estimator, "label_purity_", None)
    if found is not None and purity == 1:
        raise InputError(
            f"{name} finds share and purity together, here a purity of {found:.3g}; fit it and "
            "pass both: unlabeled_prevalence=fitted.unlabeled_prevalence_, "
            "label_purity=fitted.label_purity_"
        )
    if found is None and purity < 1 and getattr(estimator, "_pure_labels", False):
        raise InputError(
            f"{name} takes every label for right, so at label_purity {purity:.3g} it answers with "
            "another share; pass NoisyConsensus(), which allows for wrong labels, or a number"
        )
