"""Make the assumption that the arguments of a call, or the options of a command, say."""

from collections.abc import Mapping
from typing import Any

from undercount.assume.base import Assumption, Wanted
from undercount.assume.propensity.assumption import DelayedLabels, LabelPropensity
from undercount.assume.propensity.recovery import ChancesRecovery
from undercount.assume.random_labels.assumption import RandomLabels
from undercount.assume.reviewed.assumption import RandomAudit, ReviewedRows
from undercount.errors import InputError, check_choice, check_flag, named
from undercount.infer.scored_rows import ScoredRows
from undercount.prevalence.late_labels import LateLabels
from undercount.shares import SAMPLINGS

# Intervals of an estimated share that resample rows, as if they were independent.
RESAMPLED = ("bootstrap", "combined")
SHARES = ("prevalence", "unlabeled_prevalence", "label_frequency", "prevalence_interval")


def assumption_of(given: Mapping[str, Any], first: ScoredRows) -> Assumption:
    """Return the assumption that arguments say; those that contradict each other are refused.

    Parameters
    ----------
    given : mapping
        Arguments of `evaluate` by name.
    first : ScoredRows
        The rows of one of the models, of which all have the same weights and clusters.
    """
    sampling = given.get("sampling", "single-sample")
    reviews, audited = given.get("reviews"), given.get("audited", False)
    check_choice("sampling", sampling, SAMPLINGS)
    check_flag("audited", audited)
    check_flag("sequential", given.get("sequential", False))
    if first.clusters is not None:
        _check_beside_clusters(given)
    if given.get("propensity") is not None:
        _check_beside_chances(given, first)
        return _of_chances(given["propensity"], given.get("covariates"))
    if audited:
        if reviews is not None or sampling == "case-control":
            raise InputError(
                f"{named('audited')} rows are a random sample of all rows: pass neither "
                f"{named('reviews')} nor {named('sampling', repr('case-control'))}",
                argument="audited",
            )
        _check_no_shares(given)
        return RandomAudit(given.get("sequential", False))
    if reviews is not None:
        _check_no_shares(given)
        about = given.get("labels"), given.get("sequential", False), sampling
        return ReviewedRows(reviews, *about)
    if given.get("labels") is not None or given.get("sequential", False):
        raise InputError(f"{named('labels')} and {named('sequential')} go with {named('reviews')}")
    return RandomLabels(
        given.get("prevalence"),
        given.get("unlabeled_prevalence"),
        given.get("label_frequency"),
        given.get("label_purity", 1.0),
        sampling,
        given.get("prevalence_interval"),
        given.get("n_resamples", 200),
    )


def recover_with_chances(
    model: ScoredRows, propensity: Any, covariates: Any, wanted: Wanted
) -> ChancesRecovery:
    """Return the recovery of rows whose labels have chances of their own."""
    (recovery,) = _of_chances(propensity, covariates).recover({"": model}, wanted).values()
    return recovery


def _of_chances(propensity: Any, covariates: Any) -> LabelPropensity | DelayedLabels:
    if isinstance(propensity, LateLabels):
        return DelayedLabels(propensity)
    return LabelPropensity(propensity, covariates)


def _check_beside_clusters(given: Mapping[str, Any]) -> None:
    """Raise where something supposes that rows are independent."""
    kind = given.get("prevalence_interval")
    if kind in RESAMPLED:
        raise InputError(
            f"{named('cluster')} does not go with {named('prevalence_interval')} {kind!r}, which "
            "resamples rows; leave it out",
            argument="prevalence_interval",
        )
    if given.get("audited", False):
        raise InputError(
            f"{named('cluster')} does not go with {named('audited')} rows: whether rows or whole "
            "clusters were drawn is not known",
            argument="cluster",
        )


def _check_beside_chances(given: Mapping[str, Any], first: ScoredRows) -> None:
    """Raise where something does not go with labelling chances."""
    others = [name for name in SHARES if given.get(name) is not None]
    others += [] if given.get("label_purity", 1.0) == 1 else ["label_purity"]
    others += ["sampling"] if given.get("sampling", "single-sample") != "single-sample" else []
    others += ["cluster"] if first.clusters is not None else []
    others += ["sample_weight"] if first.counts.weighted else []
    others += ["reviews"] if given.get("audited") or given.get("reviews") is not None else []
    if others:
        late = isinstance(given["propensity"], LateLabels)
        tells = "dates tell" if late else f"{named('propensity')} tells"
        raise InputError(
            f"{tells} how many positives there are, from rows that are one sample and labels that "
            f"are right; leave out {named(others[0])}",
            argument=others[0],
        )


def _check_no_shares(given: Mapping[str, Any]) -> None:
    """Raise where shares stand beside reviews, which tell them, or labels are impure."""
    for name in SHARES:
        if given.get(name) is not None:
            raise InputError(
                f"{named('reviews')} tell how many positives are hidden; leave {named(name)} out",
                argument=name,
            )
    if given.get("label_purity", 1.0) != 1:
        raise InputError(
            f"{named('reviews')} of unlabeled rows cannot tell which labels are wrong; leave "
            f"{named('label_purity')} out",
            argument="label_purity",
        )
