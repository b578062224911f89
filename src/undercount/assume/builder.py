"""Make the assumption that the arguments of a call, or the options of a command, say."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from undercount.assume.base import Assumption, Wanted
from undercount.assume.propensity.assumption import (
    DelayedLabels,
    LabelPropensity,
    refuse_beside_chances,
)
from undercount.assume.random_labels.assumption import RandomLabels, TwoSources
from undercount.assume.reviewed.assumption import RandomAudit, Reviewed
from undercount.errors import InputError, check_choice, check_flag, named
from undercount.infer.scored_rows import ScoredRows
from undercount.prevalence.late_labels import LateLabels
from undercount.shares import SAMPLINGS

SHARES = ("prevalence", "unlabeled_prevalence", "label_frequency", "prevalence_interval")
# What says how labels came about, with the value that says nothing.
SAYING: dict[str, Any] = {
    **dict.fromkeys(SHARES),
    "n_resamples": 200,
    "label_purity": 1.0,
    "sampling": "single-sample",
    "reviews": None,
    "labels": None,
    "sequential": False,
    "audited": False,
    "propensity": None,
    "covariates": None,
}


def assumption_of(given: Mapping[str, Any]) -> Assumption:
    """Return the assumption that arguments say; those that contradict each other are refused.

    Parameters
    ----------
    given : mapping
        Arguments of `evaluate` by name; `assume` is an assumption itself.
    """
    assume = given.get("assume")
    if assume is not None:
        return _check_alone(assume, given)
    sampling, audited = given.get("sampling", "single-sample"), given.get("audited", False)
    check_choice("sampling", sampling, SAMPLINGS)
    check_flag("audited", audited)
    check_flag("sequential", given.get("sequential", False))
    if given.get("propensity") is not None:
        _check_beside_chances(given)
        return _of_chances(given["propensity"], given.get("covariates"))
    if audited or given.get("reviews") is not None:
        return _of_verdicts(given)
    if given.get("labels") is not None or given.get("sequential", False):
        raise InputError(f"{named('labels')} and {named('sequential')} go with {named('reviews')}")
    return RandomLabels(
        given.get("prevalence"),
        unlabeled_prevalence=given.get("unlabeled_prevalence"),
        label_frequency=given.get("label_frequency"),
        purity=given.get("label_purity", 1.0),
        sampling=sampling,
        interval=given.get("prevalence_interval"),
        n_resamples=given.get("n_resamples", 200),
        covariates=given.get("covariates"),
    )


def _check_alone(assume: Any, given: Mapping[str, Any]) -> Assumption:
    """Raise unless an assumption is one, and stands alone."""
    if not isinstance(assume, Assumption):
        hint = f"; write {assume.__name__}(…)" if isinstance(assume, type) else ""
        raise InputError(
            f"{named('assume')} must be an assumption such as RandomLabels(prevalence=0.04); got "
            f"{assume!r}{hint}",
            argument="assume",
        )
    beside = [
        name for name, nothing in SAYING.items() if not _is(given.get(name, nothing), nothing)
    ]
    if beside:
        raise InputError(
            f"{named('assume')} says how labels came about; leave {named(beside[0])} out, or say "
            f"it in {type(assume).__name__}(…)",
            argument=beside[0],
        )
    return assume


def _is(value: Any, nothing: Any) -> bool:
    return value is nothing or (isinstance(value, int | float | str) and value == nothing)


def shares_of(assumption: Assumption) -> dict[str, Any] | None:
    """Return the shares that random labels have, by argument; None of any other assumption."""
    if isinstance(assumption, TwoSources):
        assumption = assumption.labels
    if not isinstance(assumption, RandomLabels):
        return None
    return {
        "prevalence": assumption.prevalence,
        "unlabeled_prevalence": assumption.hidden,
        "label_frequency": assumption.label_frequency,
        "label_purity": assumption.purity,
        "sampling": assumption.sampling,
        "prevalence_interval": assumption.interval,
        "n_resamples": assumption.n_resamples,
    }


def with_shares(assumption: Assumption, shares: Mapping[str, Any]) -> Assumption:
    """Return random labels with other shares."""
    assumption = assumption.labels if isinstance(assumption, TwoSources) else assumption
    names = ("prevalence", "unlabeled_prevalence", "label_frequency")
    labels = cast("RandomLabels", assumption)
    return replace(labels, estimator=None, **{name: shares[name] for name in names})


def check_by_segment(assumption: Assumption) -> None:
    """Raise unless segments can be evaluated under an assumption."""
    if assumption.by_segment:
        return
    raise InputError(
        f"{named('by')} cannot be combined with a test of {named('covariates')}",
        argument="by",
    )


def _of_chances(propensity: Any, covariates: Any) -> LabelPropensity | DelayedLabels:
    if isinstance(propensity, LateLabels):
        return DelayedLabels.of(propensity)
    return LabelPropensity(propensity, covariates)


def _of_verdicts(given: Mapping[str, Any]) -> Assumption:
    """Return an audit, or reviews; shares stand beside neither, which tell them."""
    reviews, sampling = given.get("reviews"), given.get("sampling", "single-sample")
    audited, sequential = given.get("audited", False), given.get("sequential", False)
    if audited and (reviews is not None or sampling == "case-control"):
        raise InputError(
            f"{named('audited')} rows are a random sample of all rows: pass neither "
            f"{named('reviews')} nor {named('sampling', repr('case-control'))}",
            argument="audited",
        )
    for name in SHARES:
        if given.get(name) is not None and (audited or name != "prevalence"):
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
    if audited:
        return RandomAudit(sequential)
    labels = given.get("labels")
    return Reviewed(
        reviews,
        labels=labels,
        sequential=sequential,
        sampling=sampling,
        prevalence=given.get("prevalence"),
    )


def _check_beside_chances(given: Mapping[str, Any]) -> None:
    """Raise where something cannot be combined with labelling chances."""
    others = [name for name in SHARES if given.get(name) is not None]
    others += [] if given.get("label_purity", 1.0) == 1 else ["label_purity"]
    others += ["sampling"] if given.get("sampling", "single-sample") != "single-sample" else []
    others += ["reviews"] if given.get("audited") or given.get("reviews") is not None else []
    if others:
        late = isinstance(given["propensity"], LateLabels)
        raise refuse_beside_chances(
            "dates tell" if late else f"{named('propensity')} tells", others[0]
        )


def supposed_by(assume: Assumption, model: ScoredRows, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a plan supposes: reviews so far, or the share that an assumption tells."""
    assumption = assumption_of({"assume": assume, **given})
    if isinstance(assumption, Reviewed):
        return {"reviews": assumption.reviews}
    shares = shares_of(assumption)
    plain = {"label_frequency": None, "label_purity": 1, "sampling": "single-sample"}
    if shares is not None and all(_is(shares[name], usual) for name, usual in plain.items()):
        return {name: shares[name] for name in ("prevalence", "unlabeled_prevalence")}
    assumption.check_rows(model)
    (recovery,) = assumption.recover({"": model}, Wanted()).values()
    return {"unlabeled_prevalence": recovery.shares.unlabeled_prevalence}
