"""How many positives are hidden: as told, or as estimated from the scores."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from undercount.counts import ScoreCounts
from undercount.curve import Estimate
from undercount.sensitivity import largest_share
from undercount.shares import Sampling, Shares, read_shares


@dataclass(frozen=True)
class HiddenShare:
    """Hold the shares used, where they come from, and what else is known of them.

    Attributes
    ----------
    estimates : mapping
        What each estimator says, if the share was estimated.
    identified : bool
        Whether the scores say much about the share.
    largest : float
        Largest share of hidden positives that the data allow.
    """

    shares: Shares
    source: str
    largest: float
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    identified: bool = True


def hidden_share(
    counts: ScoreCounts,
    *,
    label_purity: Any = 1.0,
    sampling: Sampling = "single-sample",
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    **given: Any,
) -> HiddenShare:
    """Take the one prevalence argument that was given, or estimate the share."""
    shares = read_shares(counts, label_purity=label_purity, sampling=sampling, **given)
    if shares is not None:
        top = largest_share(counts, shares.label_purity)
        return HiddenShare(shares, f"{shares.given} given", top)
    from undercount.prevalence import Consensus  # noqa: PLC0415 - scikit-learn, only when needed

    consensus = Consensus(confidence_level=confidence_level, random_state=random_state).fit(counts)
    shares = Shares(consensus.estimate(), label_purity, sampling)
    diagnostics = consensus.diagnostics_
    answers = {
        name: Estimate(value, value, value, method=name)
        for name, value in diagnostics.get("estimates", {}).items()
    }
    top = largest_share(counts, shares.label_purity)
    return HiddenShare(shares, "estimated", top, answers, diagnostics.get("identified", True))
