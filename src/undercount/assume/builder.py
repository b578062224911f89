"""Make the assumption that a call states, by an object or by one of its shorthands."""

from collections.abc import Mapping
from typing import Any

from undercount.assume.base import Assumption
from undercount.assume.random_labels.assumption import RandomLabels, TwoSources
from undercount.assume.reviewed.assumption import Reviewed
from undercount.errors import InputError, named

SHARE_ARGUMENTS = ("prevalence", "unlabeled_prevalence", "label_frequency")


def assumption_of(
    assume: Assumption | None = None,
    *,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    label_frequency: Any = None,
    reviews: Any = None,
) -> Assumption:
    """Return an assumption as it was given, or the one that a shorthand stands for.

    Without either, labels are a random sample of the positives, and the share is estimated.
    """
    shares = dict(
        zip(SHARE_ARGUMENTS, (prevalence, unlabeled_prevalence, label_frequency), strict=True)
    )
    shorthands = {**shares, "reviews": reviews}
    given = [name for name, value in shorthands.items() if value is not None]
    if assume is not None:
        return _check_alone(assume, given)
    if reviews is None:
        return RandomLabels(**shares)
    check_no_shares([name for name in given if name != "prevalence"])
    return Reviewed(reviews, prevalence=prevalence)


def planned_assumption(
    assume: Assumption | None, reviews: Any, shares: Mapping[str, Any]
) -> Assumption:
    """Return the assumption of a plan of reviews; beside verdicts a share says nothing."""
    if assume is None and reviews is not None:
        return assumption_of(reviews=reviews)
    return assumption_of(assume, reviews=reviews, **shares)


def _check_alone(assume: Any, given: list[str]) -> Assumption:
    """Raise unless an assumption is one, and no shorthand stands beside it."""
    if not isinstance(assume, Assumption):
        hint = f"; write {assume.__name__}(…)" if isinstance(assume, type) else ""
        raise InputError(
            f"{named('assume')} must be an assumption such as RandomLabels(prevalence=0.04); got "
            f"{assume!r}{hint}",
            argument="assume",
        )
    if given:
        raise InputError(
            f"{named('assume')} says how labels came about; leave {named(given[0])} out, or say "
            f"it in {type(assume).__name__}(…)",
            argument=given[0],
        )
    return assume


def check_no_shares(given: list[str]) -> None:
    """Raise where a share stands beside verdicts, which tell it."""
    for name in given:
        if name in SHARE_ARGUMENTS:
            raise InputError(
                f"{named('reviews')} tell how many positives are hidden; leave {named(name)} out",
                argument=name,
            )


def random_labels_of(assumption: Assumption) -> RandomLabels | None:
    """Return what an assumption says of random labels; None if labels are not random."""
    if isinstance(assumption, TwoSources):
        return assumption.labels
    return assumption if isinstance(assumption, RandomLabels) else None
