"""The numbered checks of an evaluation, each in plain words with what to do about it."""

from collections.abc import Mapping, Sequence

import numpy as np

from undercount.assume.labelled import naive_curve
from undercount.assume.mixture import recovered_rates
from undercount.counts import ScoreCounts
from undercount.errors import Check
from undercount.estimate import Estimate
from undercount.shares import Shares

FEW_LABELS = 30
# Share of rows at their most frequent score, or at the two ends, that makes a threshold coarse.
HEAVY_TIES = 0.2
SATURATED = 0.05
# AUC of labelled against unlabeled rows above which the score may contain the label itself.
LEAKED = 0.999
# Recovered rates may leave [0, 1] by this many standard errors of chance.
CHANCE = 4.0


def checklist(
    counts: ScoreCounts,
    shares: Shares,
    *,
    estimates: Mapping[str, Estimate] | None = None,
    identified: bool = True,
    estimated: bool = False,
) -> tuple[Check, ...]:
    """Run every check that counts and shares allow; `estimated` says where the share is from."""
    checks = [
        _misfit(counts, shares, estimated=estimated),
        _agreement(estimates or {}, shares.unlabeled_prevalence),
        _labels(counts),
        _ties(counts),
        _constant(counts),
        _direction(counts),
        _selected(),
        _saturation(counts),
        _leak(counts),
    ]
    if not identified:
        checks.append(
            Check(
                "UC011",
                "warn",
                "the scores separate the classes too little to say how many positives are hidden",
                "verify a random sample of unlabeled rows and pass the share found",
            )
        )
    return tuple(checks)


def without_echoes(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Drop what another check has already said better.

    Scores that give the label away make the estimated share misfit and every metric warn; no row
    flagged makes metrics 0/0; a misfit beyond chance at one score is none within it for a metric.
    One message each is enough.
    """
    levels = {check.code: check.level for check in checks}
    kept = list(checks)
    if levels["UC001"] == "fail":  # one verdict on the misfit: it is more than chance
        kept = [c for c in kept if c.code != "UC012" or "within the chance" not in c.message]
    if levels["UC010"] == "warn":
        echoes = ("would be", "separate labelled")
        kept = [c for c in kept if c.code != "UC012" or not any(e in c.message for e in echoes)]
        kept = [check for check in kept if (check.code, check.level) != ("UC001", "warn")]
    if levels.get("UC013") == "warn":
        kept = [c for c in kept if c.code != "UC012" or "0/0" not in c.message]
    return tuple(kept)


def looks_leaked(counts: ScoreCounts) -> bool:
    """Whether the score separates labelled from unlabeled rows almost perfectly."""
    return _area(counts) >= LEAKED


def _area(counts: ScoreCounts) -> float:
    positive, _, unlabeled = counts.cumulative()
    tpr, share = positive / positive[-1], unlabeled / unlabeled[-1]
    return float(np.sum(np.diff(share) * (tpr[1:] + tpr[:-1])) / 2)


def _percent(share: float) -> str:
    """Write a share with two significant digits, and never as a power of ten."""
    return f"{float(f'{100 * share:.2g}'):.6g} %"


def _misfit(counts: ScoreCounts, shares: Shares, *, estimated: bool) -> Check:
    """UC001: subtracting the hidden positives must not leave fewer than no negatives."""
    positive, _, unlabeled = counts.cumulative()
    labelled_rate, unlabeled_rate = positive / positive[-1], unlabeled / unlabeled[-1]
    _, fpr = recovered_rates(labelled_rate, unlabeled_rate, shares)
    share, gap = shares.unlabeled_prevalence, shares.label_purity - shares.unlabeled_prevalence
    variance = share**2 * labelled_rate * (1 - labelled_rate) / counts.effective_size("positive")
    variance += unlabeled_rate * (1 - unlabeled_rate) / counts.effective_size("unlabeled")
    error = np.sqrt(variance) / gap
    excess = np.maximum(-fpr, fpr - 1)
    worst = int(np.argmax(excess))
    size = float(excess[worst])
    if size <= 1e-9:  # noqa: PLR2004 - rounding
        return Check("UC001", "ok", "the prevalence fits the scores at every threshold")
    message = (
        f"at score {np.append(np.inf, counts.score)[worst]:.4g} the prevalence would need "
        f"{_percent(size)} more positives than there are rows"
    )
    if size <= CHANCE * error[worst] + 1e-9:
        return Check("UC001", "ok", message + ", which chance explains")
    if estimated and looks_leaked(counts):
        return Check("UC001", "warn", message)  # the score is at fault, not the share: UC010
    if estimated:
        return Check(
            "UC001",
            "fail",
            message + ", more than chance explains: the share estimated from these scores does "
            "not fit them, or labels are not random",
            "pass a share from elsewhere, such as that of a random sample of unlabeled rows "
            "verified, and ask how the labelled rows came to be labelled",
        )
    return Check(
        "UC001",
        "fail",
        message + ", more than chance explains: prevalence too high, or labels not random",
        "lower the prevalence, or ask how the labelled rows came to be labelled",
    )


def _agreement(estimates: Mapping[str, Estimate], share: float) -> Check:
    """UC002: the estimators should agree on the prevalence."""
    if len(estimates) < 2:  # noqa: PLR2004 - nothing to compare
        return Check("UC002", "ok", "the prevalence was given, so no estimators were compared")
    values = {name: estimate.value for name, estimate in estimates.items()}
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    spread = values[high] - values[low]
    message = f"{len(values)} methods answer from {_percent(values[low])} ({low}) to "
    message += f"{_percent(values[high])} ({high}) hidden positives"
    side = "below" if share < values[low] else "above" if share > values[high] else ""
    if side:
        wrong = "high" if side == "below" else "low"
        message += (
            f"; the estimate, {_percent(share)}, lies {side} them all because on simulated "
            f"problems of this shape all of them came out too {wrong}"
        )
    if spread <= max(0.05, 0.5 * np.median(list(values.values()))):
        return Check("UC002", "ok", message)
    return Check(
        "UC002",
        "warn",
        message + ". They disagree, so trust the interval more than the estimate, and neither if "
        "these scores are unlike the simulated ones",
        "verify a random sample of unlabeled rows and pass the share found",
    )


def _labels(counts: ScoreCounts) -> Check:
    """UC003: there should be enough labelled rows."""
    labelled = counts.effective_size("positive")
    message = f"{labelled:,.6g} labelled positive row{'' if labelled == 1 else 's'}"
    if labelled >= FEW_LABELS:
        return Check("UC003", "ok", message)
    width = 1.96 * (0.25 / max(labelled, 1)) ** 0.5
    return Check(
        "UC003",
        "warn",
        f"only {message}: a recall of one half is known to ±{100 * width:.0f} points",
        f"label more; {FEW_LABELS} is the least for intervals that keep their promise",
    )


def _ties(counts: ScoreCounts) -> Check:
    """UC004: few rows should share one score."""
    rows = np.where(counts.merged, 0.0, counts.positive + counts.negative + counts.unlabeled)
    most = int(np.argmax(rows))
    share = rows[most] / counts.n_rows
    if share <= HEAVY_TIES:
        return Check("UC004", "ok", "few rows share a score")
    return Check(
        "UC004",
        "warn",
        f"{100 * share:.0f} % of the rows share the score {counts.score[most]:.4g}; "
        "no threshold can split them",
        "use the model's raw score rather than a rounded or binned one",
    )


def _constant(counts: ScoreCounts) -> Check:
    """UC005: there must be more than one score."""
    # A threshold that was asked for may have an empty cell of its own.
    n_scores = int(np.count_nonzero(counts.positive + counts.negative + counts.unlabeled))
    if n_scores == 1 and not counts.merged.any():
        return Check("UC005", "fail", "every row has the same score", "pass scores, not a constant")
    if n_scores == 2 and not counts.compact:  # noqa: PLR2004 - hard predictions
        return Check(
            "UC005",
            "info",
            "there are two scores only, so areas are those of a single threshold",
            "pass scores rather than predictions to judge the ranking",
        )
    return Check("UC005", "ok", "scores vary")


def _direction(counts: ScoreCounts) -> Check:
    """UC006: labelled rows should score higher than the others."""
    area = naive_curve(counts).roc_auc
    spread = 1 / (12 * counts.effective_size("positive")) ** 0.5
    if area >= 0.5 - CHANCE / 2 * spread:
        return Check("UC006", "ok", f"labelled rows score higher than the others (AUC {area:.3g})")
    return Check(
        "UC006",
        "fail",
        f"labelled rows score lower than the others (AUC {area:.3g}): worse than chance",
        "if a low score means positive, pass its negative; nothing was turned round here",
    )


def _selected() -> Check:
    """UC008: the labelled positives should be a fair sample, which scores alone cannot show."""
    return Check(
        "UC008",
        "info",
        "whether the labelled positives are a fair sample of all positives cannot be tested from "
        "labels and scores alone",
        "ask how rows came to be labelled; see how large a bias the conclusion survives (Γ)",
    )


def _saturation(counts: ScoreCounts) -> Check:
    """UC009: few rows should stand at the highest score."""
    if counts.merged[0] or len(counts.score) == 1:
        return Check("UC009", "ok", "scores are not saturated")
    share = (counts.positive[0] + counts.negative[0] + counts.unlabeled[0]) / counts.n_rows
    if share <= SATURATED:
        return Check("UC009", "ok", "scores are not saturated")
    return Check(
        "UC009",
        "warn",
        f"{100 * share:.0f} % of the rows have the highest score {counts.score[0]:.4g}: the "
        "score is saturated where it matters most",
        "use the raw score before rounding or clipping",
    )


def _leak(counts: ScoreCounts) -> Check:
    """UC010: the score must not contain the label."""
    area = _area(counts)
    if not looks_leaked(counts):
        return Check("UC010", "ok", "the score does not give the label away")
    return Check(
        "UC010",
        "warn",
        f"the scores separate labelled from unlabeled rows almost perfectly (AUC {area:.4f}). "
        "Either the model was trained on these rows or saw their labels, and then nothing here "
        f"holds for other rows; or next to no positive is hidden (at most "
        f"{_percent(2 * (1 - area))} of the unlabeled)",
        "score rows that the model was not trained on, or use out-of-fold scores",
    )
