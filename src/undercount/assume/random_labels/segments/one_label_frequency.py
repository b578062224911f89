"""Are segments labelled alike? What scores tell of each segment's hidden positives says so."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import CODES, Check, wording
from undercount.estimate import Estimate
from undercount.infer.mixture import MISFIT_ERRORS
from undercount.prevalence.upper_bound import upper_bound
from undercount.shares import Shares

RISK = 0.05
FEWEST_ROWS = 5
WRONG = (
    "what is shared out is wrong in every segment, and the labels of all rows together are no "
    "fair sample"
)
OWN = (
    "give each segment its own prevalence ("
    + wording("a mapping", "--prevalence DE=3%,FR=5%, say")
    + ")"
)
ADVICE = f"{OWN}, or review some rows of each"


@dataclass(frozen=True)
class ScoredShare:
    """Hold a segment's share of hidden positives by its scores, and that of one label frequency."""

    segment: Hashable
    by_scores: Estimate
    shared: Estimate
    n_rows: float

    def of_size(self, effective: float) -> "ScoredShare":
        """Return the same of fewer independent rows, as clusters and weights make them."""
        error = self.by_scores.standard_error * math.sqrt(max(self.n_rows / effective, 1.0))
        return replace(self, by_scores=replace(self.by_scores, standard_error=error))

    @property
    def distance(self) -> float:
        """How many standard errors lie between both."""
        gap = self.by_scores.value - self.shared.value
        side = (
            self.shared.high - self.shared.value if gap > 0 else self.shared.value - self.shared.low
        )
        reach = float(ndtri((1 + self.shared.confidence_level) / 2))
        error = math.hypot(self.by_scores.standard_error, side / reach)
        return abs(gap) / error if error > 0 else 0.0  # of one segment nothing can differ


def shares_by_scores(
    tables: Mapping[Hashable, FloatArray], shared: Mapping[Hashable, Estimate], shares: Shares
) -> list[ScoredShare]:
    """Estimate each segment's hidden share by where its unlabeled rows score.

    If positives and negatives score alike in each segment, the mean over its unlabeled rows of any
    function w of the score lies between that of negatives and that of positives, as its share says:
    a + (1 - a)(w̄ of the segment - w̄ of all) / (w̄ of labels - w̄ of all), a being the share of all
    unlabeled rows. Labels take no part in it but as a sample of scores, so that it does not matter
    how often a segment is labelled. w is the part of labels among rows of like score. Tables are
    those of `tables_of`, labelled and unlabeled rows of each such part.

    Notes
    -----
    Assumes: positives and negatives score alike in each segment. If the unlabeled rows of one are
    explained by no mixture of both, or its labelled rows score unlike the others', none has an
    answer.
    Wrong when: the scores of one class differ between segments in a way that looks like a mixture.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> from undercount.assume.random_labels.segments.one_label_frequency import shares_by_scores
    >>> tables = {"a": np.array([[0, 20], [900, 100]]), "b": np.array([[0, 80], [900, 100]])}
    >>> known = uc.Shares(0.1)
    >>> each = {"a": uc.Estimate(0.04, 0.02, 0.06), "b": uc.Estimate(0.16, 0.12, 0.2)}
    >>> found = shares_by_scores(tables, each, known)
    >>> [round(float(each.by_scores.value), 6) for each in found]
    [0.1, 0.1]
    """
    labels, others = np.sum(list(tables.values()), axis=0)
    positive, all_rows, share = (
        labels / labels.sum(),
        others / others.sum(),
        shares.unlabeled_prevalence,
    )
    worth = positive / np.maximum(positive + all_rows, 1e-12)
    apart = float(worth @ (positive - all_rows))
    if apart <= 0 or not shared:
        return []
    negative = np.maximum(all_rows - share * positive, 0) / (1 - share)
    rows = np.stack([tables[key][1] for key in shared])
    number = rows.sum(axis=1)
    mean = rows @ worth / number
    value = share + (1 - share) * (mean - float(worth @ all_rows)) / apart
    spread = rows @ worth**2 / number - mean**2
    rest = 1 - number / others.sum()
    error = (1 - share) / apart * np.sqrt(np.maximum(spread * rest, 0.0) / number)
    fit = _misfit(rows, np.clip(value, 0.0, 1.0), positive, negative, labels.sum())
    found = np.stack([tables[key][0] for key in shared])
    fit = np.minimum(fit, _label_misfit(found, labels, worth))
    if (fit < RISK / (2 * len(shared))).any():
        return []
    return [
        ScoredShare(key, Estimate(own, own - 2 * reach, own + 2 * reach, reach), estimate, size)
        for (key, estimate), own, reach, size in zip(
            shared.items(), value.tolist(), error.tolist(), number.tolist(), strict=True
        )
    ]


@dataclass(frozen=True)
class RuledOut:
    """Hold a segment whose scores allow no share as large as one label frequency gives it.

    Attributes
    ----------
    shared : Estimate
        The share that one label frequency gives it.
    most : float
        The largest that its scores allow.
    """

    segment: Hashable
    shared: Estimate
    most: float

    @property
    def message(self) -> str:
        """What is wrong with it."""
        return (
            f"one label frequency gives it {percent(self.shared.value)} hidden positives (at least "
            f"{percent(self.shared.low)}), its own scores allow {percent(self.most)} at most: it "
            "is labelled more often than other segments, or its labels prefer high scores"
        )


def percent(share: float) -> str:
    """Write a share with two digits."""
    return f"{float(f'{100 * min(share, 1.0):.2g}'):g} %"


def rule_out(
    parts: Mapping[Hashable, ScoreCounts],
    shared: Mapping[Hashable, Estimate],
    purity: float,
    n: int,
) -> dict[Hashable, RuledOut]:
    """Find the segments whose scores allow no share like the one of one label frequency.

    The exact limit of the scores and the lower end of the share, which has the chance of the
    segment's labels, both at a level that lets any of `n` segments be found by chance in one of
    twenty tables.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.assume.random_labels.segments.one_label_frequency import rule_out
    >>> parts = {"a": uc.ScoreCounts.from_counts([2, 1], [50, 0], [0, 0], [50, 450])}
    >>> sure, unsure = uc.Estimate(0.4, 0.35, 0.45, 0.025), uc.Estimate(0.4, 0.02, 0.8, 0.2)
    >>> list(rule_out(parts, {"a": sure}, 1.0, 2)), list(rule_out(parts, {"a": unsure}, 1.0, 2))
    (['a'], [])
    """
    level = 1 - RISK / (2 * max(n, 1))
    wider = float(ndtri((1 + level) / 2))
    found = {}
    for segment, share in shared.items():
        reach = float(ndtri((1 + share.confidence_level) / 2))
        # A range has no level, but the chance of labels at its ends does.
        low = share.value - (share.value - share.low) * wider / reach
        if low <= 0:
            continue
        most = purity * upper_bound(parts[segment], level)
        if low > most:
            found[segment] = RuledOut(segment, replace(share, low=low), most)
    return found


def find_doubtful(
    tables: Mapping[Hashable, FloatArray],
    shared: Mapping[Hashable, Estimate],
    purity: float,
    sizes: Mapping[Hashable, float],
) -> list[Hashable]:
    """Find the segments with more positives above some score than rows; chance may explain it.

    What `fits_easily` asks of one segment at each of its labels, here of all at a few scores and
    not twice over. The sizes are effective numbers of labels: rows may have weights.
    """
    if not shared:
        return []
    share = np.array([each.value for each in shared.values()])[:, None] / purity
    cells = np.stack([tables[segment] for segment in shared])
    heads = np.cumsum(cells[:, :, ::-1], axis=2)[:, :, :-1]
    labels, others = (cells[:, kind].sum(axis=1)[:, None] for kind in (0, 1))
    size = np.array([sizes[segment] for segment in shared])[:, None]
    near = (heads[:, 0] / labels * size + 0.5) / (size + 1)
    hidden = share * others / (labels + share * others)
    most = 0.8 * MISFIT_ERRORS * share * np.sqrt(near * (1 - near) * hidden / size)
    out = share * heads[:, 0] / labels - heads[:, 1] / others > most
    doubtful = (out.any(axis=1) | (share >= 1).any(axis=1)).tolist()
    return [segment for segment, doubt in zip(shared, doubtful, strict=True) if doubt]


def frequency_check(
    found: list[ScoredShare], ruled_out: Sequence[RuledOut] = (), *, merged: bool = False
) -> Check:
    """UC022: fail where the share of one label frequency is none that a segment's scores allow.

    `merged` says that counts hold too few scores to ask them.
    """
    if ruled_out:
        farthest = max(ruled_out, key=lambda each: each.shared.value - each.most)
        return Check(
            CODES["fair-sample"],
            "fail",
            f"segments are not labelled alike: {farthest.segment!r}: {farthest.message}; {WRONG}",
            ADVICE,
        )
    if not found:
        return Check(
            CODES["fair-sample"],
            "info",
            "whether segments are labelled alike cannot be tested: "
            + ("their counts merge too many scores" if merged else "their scores are too unlike"),
            OWN,
        )
    limit = float(ndtri((1 + (1 - RISK) ** (1 / len(found))) / 2))  # Šidák
    odd = [each for each in found if each.distance > limit]
    if not odd:
        return Check(
            CODES["fair-sample"],
            "ok",
            "the scores do not contradict that segments are labelled alike. That is no proof",
        )
    worst = max(odd, key=lambda each: each.distance)
    words = "more" if worst.shared.value > worst.by_scores.value else "less"
    return Check(
        CODES["fair-sample"],
        "fail",
        f"segments are not labelled alike: one label frequency gives {worst.segment!r} "
        f"{percent(worst.shared.value)} hidden positives, its scores beside those of the others "
        f"{percent(max(worst.by_scores.value, 0))}; it is labelled {words} often, and {WRONG}",
        ADVICE,
    )


def known_frequency_check(
    labels: Mapping[Hashable, float], positives: Mapping[Hashable, float], n_segments: int
) -> Check | None:
    """UC022: fail for all rows together where known shares say that segments are labelled unlike.

    Labels of one frequency are binomial; None where they may be.

    Examples
    --------
    >>> from undercount.assume.random_labels.segments import one_label_frequency
    >>> known_frequency_check = one_label_frequency.known_frequency_check
    >>> known_frequency_check({"a": 50, "b": 52}, {"a": 100, "b": 100}, 2) is None
    True
    >>> known_frequency_check({"a": 50, "b": 20}, {"a": 100, "b": 100}, 2).level
    'fail'
    """
    if len(labels) < n_segments:
        return Check(
            CODES["fair-sample"],
            "fail",
            "all rows have the prevalence of the segments that were given one, which others lack",
            "give each segment one, or leave out the rows of the others",
        )
    held, held_of = (np.array([each[key] for key in labels]) for each in (labels, positives))
    frequency = held.sum() / held_of.sum()
    if len(held) < 2 or held_of.min() <= 0 or not 0 < frequency < 1:  # noqa: PLR2004 - none, one
        return None
    far = (held - frequency * held_of) ** 2 / (frequency * (1 - frequency) * held_of)
    if float(chdtrc(len(held) - 1, far.sum())) >= RISK:
        return None
    rate = {key: labels[key] / positives[key] for key in labels}
    most, least = max(rate, key=rate.__getitem__), min(rate, key=rate.__getitem__)
    return Check(
        CODES["fair-sample"],
        "fail",
        f"labels of all rows together are no fair sample: {percent(rate[most])} of the positives "
        f"are labelled in {most!r}, {percent(rate[least])} in {least!r}",
        "read each segment by itself, or give all rows their labelling chances",
    )


def _misfit(
    rows: FloatArray, share: FloatArray, positive: FloatArray, negative: FloatArray, n_labels: float
) -> FloatArray:
    """Return the p-value of a mixture of positives and negatives as the source of each's rows."""
    number, share = rows.sum(axis=1, keepdims=True), share[:, None]
    expected = number * (share * positive + (1 - share) * negative)
    kept = expected >= FEWEST_ROWS
    # Beside the rows' own chance, that of the labels which tell how positives score.
    spread = expected + (number * share) ** 2 * positive / n_labels
    far = np.divide((rows - expected) ** 2, spread, out=np.zeros_like(spread), where=kept)
    return np.asarray(chdtrc(np.maximum(kept.sum(axis=1) - 2, 1), far.sum(axis=1)))


def _label_misfit(rows: FloatArray, labels: FloatArray, worth: FloatArray) -> FloatArray:
    """Return the p-value of labelled rows that score like those of all segments, by their worth.

    Where a score is of no use its positives look like negatives, and no label frequency tells.
    """
    number, total = rows.sum(axis=1), labels.sum()
    centre = float(labels @ worth) / total
    spread = float(labels @ (worth - centre) ** 2) / total
    apart = rows @ worth / number - centre
    error = np.sqrt(spread * np.maximum(1 - number / total, 0.0) / number)
    far = np.divide(np.abs(apart), error, out=np.zeros_like(error), where=error > 0)
    return np.asarray(2 * ndtr(-far))
