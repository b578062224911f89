"""Make the assumption that the options of a command state, which may contradict each other."""

from collections.abc import Mapping
from typing import Any

from undercount.assume.base import Assumption
from undercount.assume.builder import SHARE_ARGUMENTS, check_no_shares
from undercount.assume.propensity.assumption import DelayedLabels, LabelPropensity
from undercount.assume.random_labels.assumption import RandomLabels
from undercount.assume.reviewed.assumption import RandomAudit, Reviewed
from undercount.errors import InputError, named
from undercount.prevalence.late_labels import LateLabels
from undercount.shares import Sampling


def assumption_by_options(
    options: Mapping[str, Any], sampling: Sampling, chances: Any
) -> Assumption:
    """Return the assumption that options state.

    Parameters
    ----------
    options : Options
        Of the command; verdicts that were read stand in "verdicts".
    sampling : str
        How the rows were read to be sampled, if no option says it.
    chances : array-like or LateLabels, optional
        The chance of a label of each row, or what dates say of it.
    """
    sampling, reviews = options["sampling"] or sampling, options.get("verdicts")
    stated = _stated(options)
    if chances is not None:
        dated = isinstance(chances, LateLabels)
        _check_beside_chances(options, stated, sampling, dated=dated)
        return DelayedLabels.of(chances) if dated else LabelPropensity(chances)
    if options["audited"]:
        _check_beside_audit(reviews, sampling)
    if options["audited"] or reviews is not None:
        _check_beside_verdicts(stated, audited=options["audited"])
    elif options["labels"] is not None or options["sequential"]:
        raise InputError(f"{named('labels')} and {named('sequential')} go with {named('reviews')}")
    if options["audited"]:
        return RandomAudit(sequential=options["sequential"])
    if reviews is not None:
        return Reviewed(
            reviews,
            labels=options["labels"],
            sequential=options["sequential"],
            sampling=sampling,
            prevalence=options["prevalence"],
        )
    return RandomLabels(
        options["prevalence"],
        unlabeled_prevalence=options["unlabeled_prevalence"],
        label_frequency=options["label_frequency"],
        purity=options["label_purity"],
        sampling=sampling,
        interval=options.get("prevalence_interval"),
        n_resamples=options.get("n_resamples", 200),
    )


def _stated(options: Mapping[str, Any]) -> list[str]:
    """Return the options that state a share, or that some labels are wrong."""
    shares = [name for name in SHARE_ARGUMENTS if options[name] is not None]
    return shares if options["label_purity"] == 1 else [*shares, "label_purity"]


def _check_beside_chances(
    options: Mapping[str, Any], stated: list[str], sampling: str, *, dated: bool
) -> None:
    """Raise where something cannot be combined with chances of a label."""
    verdicts = options["audited"] or options.get("verdicts") is not None
    others = [*stated, *["sampling"] * (sampling != "single-sample"), *["reviews"] * verdicts]
    if others:
        tells = "dates tell" if dated else f"{named('chance')} tells"
        raise InputError(
            f"{tells} how many positives there are, from rows that are one sample and labels that "
            f"are right; leave out {named(others[0])}",
            argument=others[0],
        )


def _check_beside_audit(reviews: Any, sampling: str) -> None:
    """Raise where something cannot be combined with an audit."""
    if reviews is not None or sampling == "case-control":
        raise InputError(
            f"{named('audited')} rows are a random sample of all rows: pass neither "
            f"{named('reviews')} nor {named('sampling', repr('case-control'))}",
            argument="audited",
        )


def _check_beside_verdicts(stated: list[str], *, audited: bool) -> None:
    """Raise where a share that verdicts tell, or a purity, stands beside them."""
    beside = [name for name in stated if audited or name != "prevalence"]
    check_no_shares(beside)
    if beside:
        raise InputError(
            f"{named('reviews')} of unlabeled rows cannot tell which labels are wrong; leave "
            f"{named(beside[0])} out",
            argument=beside[0],
        )
