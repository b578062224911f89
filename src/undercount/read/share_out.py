"""Share the hidden positives of all rows out among segments, by one label frequency."""

import math

from scipy.special import ndtri

from undercount.counts import ScoreCounts
from undercount.estimate import Estimate
from undercount.shares import Shares


def share_out(
    shares: Shares, whole: ScoreCounts, part: ScoreCounts, confidence_level: float = 0.95
) -> Estimate:
    """Return the share of hidden positives of one segment, if that of all rows is known.

    A segment with a tenth of the labels has a tenth of the hidden positives. Whose labels were
    found is chance, and an error of its own: of L labels among P positives, H of them hidden, a
    segment's part w of the labels tells its hidden positives with variance P·H·w·(1 - w) / L
    (hypergeometric), beside the error of H itself. A range stays one: its ends move apart. What
    comes out may be more than the segment's rows or scores allow.

    Parameters
    ----------
    shares : Shares
        Of all rows.
    whole, part : ScoreCounts
        Of all rows and of the segment.
    confidence_level : float
        Of the interval.

    Notes
    -----
    Assumes: a positive is as likely to be labelled in each segment.
    Wrong when: labels were sought in some segments more than in others; give each its own share.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.read.share_out import share_out
    >>> part = uc.ScoreCounts.from_counts([2, 1], [20, 10], [0, 0], [20, 80])
    >>> rest = uc.ScoreCounts.from_counts([2, 1], [8, 2], [0, 0], [50, 350])
    >>> whole = part + rest
    >>> found = share_out(uc.Shares.from_label_frequency(whole, 0.5), whole, part)
    >>> round(found.value, 3), round(found.standard_error, 3)
    (0.3, 0.039)
    """
    weight = min(part.n_positive / whole.n_positive, 1.0)  # rounding may go beyond
    turn = weight * whole.n_unlabeled / part.n_unlabeled
    value, span = shares.unlabeled_prevalence, shares.unlabeled_prevalence_interval
    known = shares.label_purity * whole.n_positive
    labels = part.effective_size("positive")

    def chance(share: float) -> float:
        """Return the error of the segment's share, were that of all rows known."""
        return turn * math.sqrt(share * (share + known / whole.n_unlabeled) * (1 - weight) / labels)

    z = float(ndtri((1 + confidence_level) / 2))
    error = shares.unlabeled_prevalence_error
    if span is None or error > 0:
        own = math.hypot(turn * error, chance(value))
        below = above = z * own
        if span is not None:  # an interval that is skew stays so
            below = math.hypot(turn * (value - span.low), z * chance(value))
            above = math.hypot(turn * (span.high - value), z * chance(value))
    else:
        own = math.nan
        below = turn * (value - span.low) + z * chance(span.low)
        above = turn * (span.high - value) + z * chance(span.high)
    centre = turn * value
    return Estimate(centre, max(centre - below, 0.0), centre + above, own, confidence_level)
