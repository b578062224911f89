"""Are audited rows a random sample of all rows? What their scores tell."""

import math

import numpy as np
from scipy.special import gammaln

from undercount.checks.checklist import FEW_CLUSTERS
from undercount.checks.outcomes import passes, warns
from undercount.counts import ScoreCounts
from undercount.errors import CODES, Check

# How sure a misfit must be, and the part of the unverified rows that a gap must hold to matter:
# verdicts of neighbouring scores stand for smaller ones.
AUDIT_RISK, LARGE_GAP = 0.001, 0.05


def audit_check(counts: ScoreCounts) -> Check:
    """UC022: verified rows should be found at all scores, as often as there are rows.

    Fails where many unverified rows lie together and no verified one among them (`gap_p_value`):
    nothing tells how many of them are positive. Fails where verified rows score above or below the
    others (`rank_p_value`), too: each verdict stands for rows of its own scores, so that the
    numbers hold if nothing but the score decided who was looked at, but no audit was random then.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.checks.audit import audit_check
    >>> count = uc.ScoreCounts.from_counts
    >>> audit_check(count([3, 2, 1], [9, 5, 1], [0, 40, 80], [90, 400, 700])).level
    'ok'
    >>> audit_check(count([3, 2, 1], [9, 5, 0], [9, 40, 0], [9, 99, 900])).level
    'fail'
    """
    gap, at = _largest_gap(counts)
    p_value = gap_p_value(gap, counts.n_rows - counts.n_unlabeled, counts.n_rows)
    code, share = CODES["fair-sample"], gap / counts.n_unlabeled
    advice = (
        "verify a random sample of all rows; uc.SelectedLabels (undercount select) is for rows "
        "that somebody chose to look at"
    )
    if share > LARGE_GAP and p_value < AUDIT_RISK:
        message = (
            f"the audited rows are no random sample of all rows: {gap:,.0f} unverified rows "
            f"({100 * share:.0f} %) lie together at scores {at}, and none of the rows there was "
            f"verified ({_p_words(p_value)})"
        )
        return Check(code, "fail", message, advice)
    p_value, higher = rank_p_value(counts)
    if p_value < AUDIT_RISK:
        message = (
            f"the audited rows are no random sample of all rows: they score "
            f"{'higher' if higher else 'lower'} than the others ({_p_words(p_value)}); the numbers "
            "hold only if nothing but the score decided who was looked at"
        )
        return Check(code, "fail", message, advice)
    return Check(
        code,
        "ok",
        f"the audited rows score like all rows ({_p_words(p_value)}), as a random sample would; "
        "that is no proof",
    )


def verified_clusters_check(n_clusters: int, n_verified: int) -> Check:
    """UC020: intervals rest on clusters, of which enough should have verified rows.

    Examples
    --------
    >>> from undercount.checks.audit import verified_clusters_check
    >>> print(verified_clusters_check(1000, 150))
    UC020 ok: 1,000 clusters, 150 of them with a verified row
    """
    message = f"{n_clusters:,} clusters, {n_verified:,} of them with a verified row"
    if n_verified >= FEW_CLUSTERS:
        return passes("clusters", message)
    advice = f"verify rows of more clusters; below {FEW_CLUSTERS} intervals are rough"
    return warns("clusters", message, advice)


def _p_words(p_value: float) -> str:
    return f"p = {p_value:.2g}" if p_value >= 1e-16 else "p < 1e-16"  # noqa: PLR2004


def _largest_gap(counts: ScoreCounts) -> tuple[float, str]:
    """Return the most rows between two verified ones, or beyond all of them, and where they lie.

    Rows that are tied with a verified one are not among them.
    """
    verified = counts.positive + counts.negative > 0
    stretch = np.cumsum(verified)
    rows = np.bincount(stretch, np.where(verified, 0.0, counts.unlabeled))
    widest = int(np.argmax(rows))
    verified_scores = counts.score[verified]
    if widest == 0:
        return float(rows[widest]), f"above {verified_scores[0]:.4g}"
    if widest == len(verified_scores):
        return float(rows[widest]), f"below {verified_scores[-1]:.4g}"
    return float(
        rows[widest]
    ), f"from {verified_scores[widest]:.4g} to {verified_scores[widest - 1]:.4g}"


def gap_p_value(gap: float, verified: float, rows: float) -> float:
    """Bound the chance that a random sample leaves so many rows in a row unverified somewhere.

    A random sample of n of N rows begins n + 1 gaps; each is at least K rows long with the chance
    C(N - K, n) / C(N, n).

    Examples
    --------
    >>> from undercount.checks.audit import gap_p_value
    >>> round(gap_p_value(3, 1, 4), 12)  # the first or the last of four rows: 2 of 4
    0.5
    """
    if gap > rows - verified:
        return 0.0
    parts = gammaln([rows - gap + 1, rows - verified + 1, rows - gap - verified + 1, rows + 1])
    log_chance = parts[0] + parts[1] - parts[2] - parts[3]
    return min(float((verified + 1) * math.exp(min(log_chance, 0.0))), 1.0)


def rank_p_value(counts: ScoreCounts) -> tuple[float, bool]:
    """Compare the ranks of verified and unverified rows, ties shared (Mann and Whitney 1947).

    Returns
    -------
    float, bool
        The two-sided p-value by the normal approximation, and whether verified rows score higher.
    """
    verified, unverified = counts.positive + counts.negative, counts.unlabeled
    rows = verified + unverified
    total, n_verified = float(rows.sum()), float(verified.sum())
    below = total - np.cumsum(rows) + rows / 2
    distance = float(verified @ below) - n_verified * total / 2
    # A sample of mid-ranks without replacement.
    spread = float(rows @ (below - total / 2) ** 2) / (total - 1)
    error = math.sqrt(n_verified * (1 - n_verified / total) * spread)
    return (math.erfc(abs(distance) / error / math.sqrt(2)) if error > 0 else 1.0), distance > 0
