"""Make the assumption that the options of a command state, which may contradict each other."""

from typing import TYPE_CHECKING, Any, cast

from undercount.cli.arguments import Options
from undercount.errors import InputError, named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undercount.assume.base import Assumption, Wanted
    from undercount.cli.inputs import Reading
    from undercount.shares import Sampling

SHARES = ("prevalence", "unlabeled_prevalence", "label_frequency")


def wanted_and_assumed(
    options: Options, reading: "Reading", progress: Any = None
) -> "tuple[Wanted, Assumption]":
    """Return what options ask of every model, and what they and the rows say of the labels."""
    from undercount.assume.base import Wanted  # noqa: PLC0415 - only when needed

    wanted = Wanted(
        options["target"],
        options["confidence_level"],
        options.get("top"),
        list(options.get("metrics") or ()) or None,
        options["seed"],
        progress,
        options.get("further", ()),
    )
    return wanted, assumption_by_options(options, reading.sampling, reading.propensity)


def assumption_by_options(options: Options, sampling: "Sampling", chances: Any) -> "Assumption":
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
    from undercount.assume.propensity.assumption import (  # noqa: PLC0415 - only when needed
        DelayedLabels,
        LabelPropensity,
    )
    from undercount.assume.random_labels.assumption import RandomLabels  # noqa: PLC0415
    from undercount.assume.reviewed.assumption import RandomAudit, Reviewed  # noqa: PLC0415

    sampling, reviews = options["sampling"] or sampling, options.get("verdicts")
    stated = _stated(options)
    if chances is not None:
        dated = hasattr(chances, "fit")
        _check_beside_chances(options, stated, sampling, dated=dated)
        return DelayedLabels.of(chances) if dated else LabelPropensity(chances)
    if options["audited"]:
        _check_beside_audit(reviews, sampling)
    if options["audited"] or reviews is not None:
        _check_beside_verdicts(stated)
    elif options["labels"] is not None or options["sequential"]:
        raise InputError(f"{named('labels')} and {named('sequential')} go with {named('reviews')}")
    if options["audited"]:
        return RandomAudit(sequential=options["sequential"])
    if reviews is not None:
        labels, sequential = options["labels"], options["sequential"]
        return Reviewed(reviews, labels=labels, sequential=sequential, sampling=sampling)
    return RandomLabels(
        options["prevalence"],
        unlabeled_prevalence=options["unlabeled_prevalence"],
        label_frequency=options["label_frequency"],
        purity=options["label_purity"],
        sampling=sampling,
        interval=options.get("prevalence_interval"),
        n_resamples=options.get("n_resamples", 200),
    )


def _stated(options: Options) -> list[str]:
    """Return the options that state a share, or that some labels are wrong."""
    given: Mapping[str, Any] = cast("Mapping[str, Any]", options)
    shares = [name for name in SHARES if given[name] is not None]
    return shares if options["label_purity"] == 1 else [*shares, "label_purity"]


def _check_beside_chances(
    options: Options, stated: list[str], sampling: str, *, dated: bool
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


def _check_beside_verdicts(stated: list[str]) -> None:
    """Raise where a share or a purity stands beside verdicts."""
    if not stated:
        return
    words = f"{named('reviews')} tell how many positives are hidden"
    if stated[0] == "label_purity":
        words = f"{named('reviews')} of unlabeled rows cannot tell which labels are wrong"
    raise InputError(f"{words}; leave {named(stated[0])} out", argument=stated[0])
