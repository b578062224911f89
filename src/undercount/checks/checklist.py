"""The numbered checks of an evaluation, each in plain words with what to do about it."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from undercount.checks.outcomes import fails, informs, passes, warns
from undercount.count.arrays import amount
from undercount.counts import ScoreCounts
from undercount.curve import blocks
from undercount.errors import (
    CODES,
    CONTRADICTED,
    LOOKED_AT_HIGH,
    ROUNDED_SCORES,
    Check,
    LibraryWarning,
    UndefinedMetricWarning,
    named,
    wording,
)
from undercount.estimate import Estimate
from undercount.infer.clusters import Clusters
from undercount.infer.labelled import naive_area
from undercount.infer.metric_row import MetricRow, grows
from undercount.infer.mixture import LABELLED, MixtureDesign, recovered_rates
from undercount.infer.sensitivity import CHANCE_AUC, ROUNDING
from undercount.metric_facts import FACTS
from undercount.prevalence.consensus.doubts import Doubt
from undercount.shares import Shares

FEW_LABELS = 30
FEW_CLUSTERS = 20
# Share of rows at their most frequent score, or at the two ends, that makes a threshold coarse.
HEAVY_TIES = 0.2
SATURATED = 0.05
# Estimated share of the positives that carry a label from which a model trained on these rows is
# the likelier reason (docs/evidence/in-sample.md has the figures).
TRAINED_PART = 0.85
# Area of labelled against unlabeled rows at which the score gives the label away.
LEAKED = 0.999
# Area of known negatives against unlabeled rows from which a cutoff chose the rows looked at.
CHOSEN_BY_SCORE = 0.99
# Answers are near each other if they are this close, or differ by no more than this part of the
# middle one.
AGREEMENT, AGREEMENT_PART = 0.05, 0.5
# Recovered rates may leave [0, 1] by this many standard errors of chance.
EXPLAINED = 4.0
REVIEW = "review the unlabeled rows that say most, or verify a random sample and pass its share"
# Why scores do not tell the share (UC011).
DOUBTS = {
    "overlap": "the scores separate the classes too little to say how many positives are hidden",
    "ties": "more than half of the labelled rows share one score: whether negatives share it too, "
    "and so how many positives are hidden, cannot be told",
    "overtaken": "unlabeled rows stand above the labelled ones at the top, so that negatives score "
    "as high as positives: the scores say at most how many positives are hidden",
}


def checklist(
    counts: ScoreCounts,
    shares: Shares,
    *,
    estimates: Mapping[str, Estimate] | None = None,
    doubt: Doubt = "",
    estimated: bool = False,
) -> tuple[Check, ...]:
    """Run every check that counts and shares allow.

    `estimated` says whether the share was told by the scores, and `doubt` why it was told badly.
    """
    area, cells = counts.auc("positive", "unlabeled"), counts.canonical.thinned
    checks = [
        fit_check(cells, shares, estimated=estimated, leaked=area >= LEAKED),
        _agreement(estimates or {}, shares),
        _labels(counts),
        _ties(cells),
        _constant(cells),
        _direction(counts, naive_area(counts, "roc_auc")),
        _selection(),
        _saturation(counts),
        _leak(counts, area),
    ]
    if estimated and area < LEAKED and shares.sampling == "single-sample":
        checks += [_in_sample(counts, shares), _many_hidden(counts, shares, doubt)]
    if doubt in DOUBTS:
        checks.append(warns("identified", DOUBTS[doubt], REVIEW))
    return tuple(checks)


# Warnings that say what was made of an argument, and nothing against the result.
INFORMING = frozenset({"range-cut"})


def with_warnings(
    checks: Sequence[Check], warned: Sequence[LibraryWarning], *, given: bool
) -> tuple[Check, ...]:
    """Add what was warned of, and drop what another check has already said better.

    A share or chances that were `given`, and that chance hardly reconciles with the rows at a
    threshold or in an area, do not fit (UC001), though they may at most scores.

    Scores that give the label away make the estimated share misfit and every metric warn; no row
    flagged makes metrics 0/0; a misfit beyond chance at one score is none within it for a metric.
    One message each is enough.
    """
    if given:
        checks, warned = _without_fit(checks, warned)
    levels = {(check.code, check.level) for check in checks}
    echoes = {"outside", CONTRADICTED} if (CODES["fit"], "fail") in levels else set()
    if (CODES["leak"], "warn") in levels:
        echoes = {"outside", CONTRADICTED, "share-too-large", "separated"}
        checks = [check for check in checks if (check.code, check.level) != (CODES["fit"], "warn")]
    new = [warning for warning in warned if warning.code not in echoes]
    if (CODES["in-sample"], "warn") in levels:
        new = [warning for warning in new if warning.code != "separated"]
    if (CODES["flagged"], "warn") in levels:
        new = [warning for warning in new if not isinstance(warning, UndefinedMetricWarning)]
    return (*checks, *warning_checks(new))


def _without_fit(
    checks: Sequence[Check], warned: Sequence[LibraryWarning]
) -> tuple[list[Check], list[LibraryWarning]]:
    """Let UC001 warn of what metrics contradict, instead of UC012."""
    said = [warning for warning in warned if warning.code == CONTRADICTED]
    fits = any((check.code, check.level) == (CODES["fit"], "ok") for check in checks)
    if not (said and fits):
        return list(checks), list(warned)
    (first, *_) = warning_checks(said)
    misfit = warns(
        "fit",
        first.message,
        "lower the share (raise the chances), or ask how the labelled rows came to be labelled",
    )
    kept = [misfit if check.code == CODES["fit"] else check for check in checks]
    return kept, [warning for warning in warned if warning.code != CONTRADICTED]


def without_random_labels(checks: Sequence[Check]) -> list[Check]:
    """Return checks of an answer that rests on reviews alone: what labels must be only informs.

    Labels that are no random sample make the share misfit the scores, and naive values pass the
    estimates; both say how labels were chosen, and nothing against the reviews.
    """
    needed = {CODES[name] for name in ("fit", "few-labels", "naive-above")}
    return [
        Check(check.code, "info", f"if labels were random: {check.message}")
        if check.code in needed and check.level != "ok"
        else check
        for check in checks
    ]


def warning_checks(warned: Sequence[LibraryWarning]) -> tuple[Check, ...]:
    """UC012: what the estimators warned of; a warning that several metrics repeat becomes one.

    What shows that labels are no fair sample is UC022, and fails; rows just below a threshold are
    UC024.
    """
    same: dict[str, tuple[LibraryWarning, list[str]]] = {}
    for warning in warned:
        name = spoken(warning.metric)
        _, names = same.setdefault(warning.template.replace("{metric}", name), (warning, []))
        if name not in names:
            names.append(name)
    return tuple(
        fails("fair-sample", warning.about(names))
        if warning.code == LOOKED_AT_HIGH
        else warns("rounding", warning.about(names), warning.hint)
        if warning.code == ROUNDED_SCORES
        else Check(
            CODES["warned"], "info" if warning.code in INFORMING else "warn", warning.about(names)
        )
        for warning, names in same.values()
    )


def spoken(metric: str) -> str:
    """Name a metric as people say it in a sentence; most are said as they are written.

    Examples
    --------
    >>> from undercount.checks.checklist import spoken
    >>> spoken("roc_auc"), spoken("f1")
    ('ROC AUC', 'f1')
    """
    facts = FACTS.get(metric)
    return facts.title if facts is not None and facts.family == "area" else metric


def looks_leaked(counts: ScoreCounts) -> bool:
    """Whether the score separates labelled from unlabeled rows almost perfectly."""
    return counts.auc("positive", "unlabeled") >= LEAKED


def looks_chosen(counts: ScoreCounts) -> bool:
    """Whether known negatives, too, lie above nearly all unlabeled rows.

    Then rows were probably looked at because their scores were high.
    """
    return counts.n_negative > 0 and counts.auc("negative", "unlabeled") >= CHOSEN_BY_SCORE


def leak_words(counts: ScoreCounts) -> tuple[str, str]:
    """Say what may explain that scores separate labelled from unlabeled rows, and what to do."""
    trained = "the model was trained on these rows or saw their labels"
    others = "score rows that the model was not trained on, or use out-of-fold scores"
    if not looks_chosen(counts):
        return trained, others
    selected = wording("pass assume=SelectedLabels()", "use undercount select")
    reason = (
        "only rows with high scores were looked at (known negatives lie above the unlabeled rows "
        f"too), or {trained}"
    )
    return reason, f"if rows were looked at because of their scores, {selected}; if not, {others}"


def _percent(share: float) -> str:
    """Write a share with two significant digits, and never as a power of ten."""
    return f"{float(f'{100 * share:.2g}'):.6g} %"


def fit_check(
    counts: ScoreCounts, shares: Shares, *, estimated: bool = False, leaked: bool = False
) -> Check:
    """UC001: subtracting the hidden positives must not leave fewer than no negatives."""
    share, gap = shares.unlabeled_prevalence, shares.label_purity - shares.unlabeled_prevalence
    positive, _, unlabeled = counts.cumulative()
    worst, size = 0, -math.inf
    for part in blocks(len(positive)):
        rates = positive[part] / positive[-1], unlabeled[part] / unlabeled[-1]
        _, fpr = recovered_rates(*rates, shares)
        excess = np.maximum(-fpr, fpr - 1)
        if excess.max() > size:
            worst, size = part.start + int(np.argmax(excess)), float(excess.max())
    labelled_rate, unlabeled_rate = positive[worst] / positive[-1], unlabeled[worst] / unlabeled[-1]
    variance = share**2 * labelled_rate * (1 - labelled_rate) / counts.effective_size("positive")
    variance += unlabeled_rate * (1 - unlabeled_rate) / counts.effective_size("unlabeled")
    error = math.sqrt(variance) / gap
    if size <= ROUNDING:
        return passes("fit", "the prevalence fits the scores at every threshold")
    message = (
        f"at score {counts.score[worst - 1] if worst else np.inf:.4g} the prevalence would need "
        f"{_percent(size)} more positives than there are rows"
    )
    if size <= EXPLAINED * error + ROUNDING:
        return passes("fit", message + ", which chance explains")
    if estimated and leaked:
        return warns("fit", message)  # the score is at fault, not the share: UC010
    if estimated:
        return fails(
            "fit",
            message + ", more than chance explains: the share estimated from these scores does "
            "not fit them, or labels are not random",
            "pass a share from elsewhere, such as that of a random sample of unlabeled rows "
            "verified, and ask how the labelled rows came to be labelled",
        )
    return fails(
        "fit",
        message + ", more than chance explains: prevalence too high, or labels not random",
        "lower the prevalence, or ask how the labelled rows came to be labelled",
    )


def _named_share(shares: Shares) -> float:
    """Return the share that the estimators point to; NaN if only a range is left."""
    span = shares.unlabeled_prevalence_interval
    return math.nan if span is not None and span.low <= 0 else shares.unlabeled_prevalence


def _agreement(estimates: Mapping[str, Estimate], shares: Shares) -> Check:
    """UC002: the estimators should agree on the prevalence."""
    if len(estimates) < 2:  # noqa: PLR2004 - nothing to compare
        return passes(
            "agreement",
            "no prevalence was estimated from scores, so that there are no estimators to compare",
        )
    share, values = _named_share(shares), {name: one.value for name, one in estimates.items()}
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    message = f"{len(values)} methods answer from {_percent(values[low])} ({low}) to "
    message += f"{_percent(values[high])} ({high}) hidden positives"
    side = "below" if share < values[low] else "above" if share > values[high] else ""
    if side:
        message += (
            f"; the estimate, {_percent(share)}, lies {side} these, since it corrects their usual "
            "error on scores like these"
        )
    if are_near(list(values.values())):
        return passes("agreement", message)
    return warns(
        "agreement",
        f"{message}. They disagree, so {_trusted(shares)} if these scores are unlike the simulated "
        "ones",
        REVIEW,
    )


def are_near(shares: Sequence[float]) -> bool:
    """Whether answers lie near each other, which is what UC002 asks.

    Examples
    --------
    >>> from undercount.checks.checklist import are_near
    >>> are_near([0.14, 0.18, 0.21]), are_near([0.02, 0.04, 0.1])
    (True, False)
    """
    return bool(max(shares) - min(shares) <= max(AGREEMENT, AGREEMENT_PART * np.median(shares)))


def _trusted(shares: Shares) -> str:
    """Say what is left to trust where methods disagree: the range, or the interval."""
    span = shares.unlabeled_prevalence_interval
    if span is None or span.low > 0:
        return "trust the interval more than the estimate, and neither"
    return f"trust the range, 0 to {_percent(span.high)}, more than any of them, and not even that"


def _worth_words(number: float, what: str) -> str:
    """Say how many rows there are, or how many independent ones weights and clusters leave."""
    if float(number).is_integer():
        return f"{number:,.0f} {what}"
    return f"{what} worth {float(f'{number:.2g}'):,.6g} independent ones"


def _labels(counts: ScoreCounts) -> Check:
    """UC003: there should be enough labelled rows."""
    labelled = counts.effective_size("positive")
    message = _worth_words(labelled, f"labelled positive row{'' if labelled == 1 else 's'}")
    if labelled >= FEW_LABELS:
        return passes("few-labels", message)
    width = 1.96 * (0.25 / max(labelled, 1)) ** 0.5
    return warns(
        "few-labels",
        f"only {message}: a recall of one half is known to ±{100 * width:.0f} points",
        f"label more; {FEW_LABELS} is the least for intervals that keep their promise",
    )


def _ties(counts: ScoreCounts) -> Check:
    """UC004: few rows should share one score."""
    most, rows = 0, 0.0
    for part in blocks(len(counts.score)):
        here = counts.positive[part] + counts.negative[part] + counts.unlabeled[part]
        here[counts.merged[part]] = 0.0
        if here.max() > rows:
            most, rows = part.start + int(np.argmax(here)), float(here.max())
    share = rows / counts.n_rows
    if share <= HEAVY_TIES:
        return passes("ties", "few rows share a score")
    return warns(
        "ties",
        f"{100 * share:.0f} % of the rows share the score {counts.score[most]:.4g}; "
        "no threshold can split them",
        "use the model's raw score rather than a rounded or binned one",
    )


def _constant(counts: ScoreCounts) -> Check:
    """UC005: there must be more than one score."""
    # A threshold that was asked for may have an empty cell of its own.
    columns = counts.positive, counts.negative, counts.unlabeled
    n_scores = sum(
        int(np.count_nonzero(sum(column[part] for column in columns)))
        for part in blocks(len(counts.score))
    )
    if n_scores == 1 and not counts.merged.any():
        return fails("constant", "every row has the same score", "pass scores, not a constant")
    if n_scores == 2 and not counts.compact:  # noqa: PLR2004 - hard predictions
        return informs(
            "constant",
            "there are two scores only, so areas are those of a single threshold",
            "pass scores rather than predictions to judge the ranking",
        )
    return passes("constant", "scores vary")


def _direction(counts: ScoreCounts, area: float) -> Check:
    """UC006: labelled rows should score higher than the others."""
    spread = 1 / (12 * counts.effective_size("positive")) ** 0.5
    if area >= CHANCE_AUC - EXPLAINED / 2 * spread:
        return passes("direction", f"labelled rows score higher than the others (AUC {area:.3g})")
    return fails(
        "direction",
        f"labelled rows score lower than the others (AUC {area:.3g}): worse than chance",
        "if a low score means positive, pass its negative; nothing was turned round here",
    )


def _selection() -> Check:
    """UC008: the labelled positives should be a fair sample, which scores alone cannot show."""
    return informs(
        "selection",
        "whether the labelled positives are a fair sample of all positives cannot be tested from "
        "labels and scores alone; rows chosen for review, a second source of labels, dates, "
        "known chances or covariates may tell",
        "ask how rows came to be labelled; see how large a bias the conclusion survives (Γ)",
    )


def negatives_check(counts: ScoreCounts) -> Check:
    """UC008: known negatives tell the share only if they are a fair sample of the negatives."""
    return informs(
        "selection",
        f"the share of hidden positives was told by the {counts.n_negative:,.6g} known negatives "
        "(TwoLabels), which is right if they are a random sample of the negatives; that cannot be "
        "tested either",
        "if they were chosen, the easy ones say, pass "
        f"{wording('unlabeled_prevalence=uc.prevalence.Consensus()', '--unlabeled-prevalence')}",
    )


def clusters_check(design: MixtureDesign, clusters: Clusters) -> Check:
    """UC020: intervals rest on clusters, of which enough should carry a label."""
    labels, labelled = float(design.sizes[LABELLED]), clusters.n_labelled
    # Unlike rows in a cluster may tell more than others do, and still are no more labels.
    worth = min(float(design.effective[LABELLED]), labels)
    message = (
        f"{clusters.n_clusters:,} clusters, {labelled:,} of them with a label; for the ROC AUC "
        f"their {amount(labels)} labels are worth {worth:,.0f} independent ones"
    )
    if design.clusters >= FEW_CLUSTERS:
        return passes("clusters", message)
    return warns(
        "clusters",
        message + f". The variance rests on about {design.clusters:.0f} clusters of equal weight",
        f"label more clusters; below {FEW_CLUSTERS} intervals are rough",
    )


def _saturation(counts: ScoreCounts) -> Check:
    """UC009: few rows should stand at the highest score."""
    if counts.merged[0] or len(counts.score) == 1:
        return passes("saturation", "scores are not saturated")
    share = (counts.positive[0] + counts.negative[0] + counts.unlabeled[0]) / counts.n_rows
    if share <= SATURATED:
        return passes("saturation", "scores are not saturated")
    return warns(
        "saturation",
        f"{100 * share:.0f} % of the rows have the highest score {counts.score[0]:.4g}: the "
        "score is saturated where it matters most",
        "use the raw score before rounding or clipping",
    )


def _leak(counts: ScoreCounts, area: float) -> Check:
    """UC010: the score must not contain the label."""
    if area < LEAKED:
        return passes("leak", "the score does not give the label away")
    reason, advice = leak_words(counts)
    return warns(
        "leak",
        f"the scores separate labelled from unlabeled rows almost perfectly (AUC {area:.4f}). "
        f"Either {reason}, and then nothing here holds for other rows; or next to no positive is "
        f"hidden (at most {_percent(2 * (1 - area))} of the unlabeled)",
        advice,
    )


def _in_sample(counts: ScoreCounts, shares: Shares) -> Check:
    """UC016: scores that leave hardly a hidden positive may be those of rows trained on.

    A model that learnt the labels of these very rows puts labelled rows above equal unlabeled
    ones. An estimate of the share then finds next to nobody hidden, as it does where nearly all
    positives are labelled: scores and labels cannot tell the two apart.

    Wrong when: more than TRAINED_PART of the positives are labelled (it asks in vain), or the model
    learnt these labels by a few parameters only (it says nothing).
    """
    frequency = shares.label_frequency(counts)
    if not frequency >= TRAINED_PART:
        return passes("in-sample", f"{_percent(frequency)} of the positives carry a label")
    return warns(
        "in-sample",
        f"by these scores {_percent(frequency)} of all positives are labelled already. Either "
        "hardly any is hidden, or the model was trained on these rows, which looks the same and "
        "hides every other positive",
        "score rows that the model was not trained on, or use out-of-fold scores; if these are "
        f"such scores, pass what is known of the share, {named('label_frequency')} say",
    )


def _many_hidden(counts: ScoreCounts, shares: Shares, doubt: Doubt) -> Check:
    """UC017: an estimate may suppose more hidden positives than is likely for so few labels.

    Every method takes the unlabeled rows that score as the labelled do for hidden positives. Where
    positives are rare and the score ranks them no better than many negatives, those are negatives.

    Wrong when: so many positives are hidden (it asks in vain), or fewer negatives mislead the
    methods as much (it says nothing).
    """
    labelled = counts.effective_size("positive")
    hidden = shares.unlabeled_prevalence * counts.n_unlabeled
    supposed = f"{float(f'{hidden:.2g}'):,.0f} hidden"
    message = f"{_worth_words(labelled, 'labels')}, and the estimate supposes {supposed}"
    span = shares.unlabeled_prevalence_interval
    if span is not None and span.low <= 0:  # no estimate is named then
        return _many_possible(counts, span.high, doubt)
    if doubt != "many":
        return passes("many-hidden", f"{message} positives")
    return warns(
        "many-hidden",
        f"{message} positives: negatives that score like positives would look the same, and the "
        "share may be many times too high",
        f"give a {named('prevalence')}, or have unlabeled rows reviewed",
    )


def _many_possible(counts: ScoreCounts, high: float, doubt: Doubt) -> Check:
    """UC017 where the share is a range from 0 on."""
    most = high * counts.n_unlabeled
    labels = _worth_words(counts.effective_size("positive"), "labels")
    message = f"{labels}, and scores leave up to {float(f'{most:.2g}'):,.0f} hidden positives"
    if doubt != "many":
        return passes("many-hidden", f"{message} possible")
    return warns(
        "many-hidden",
        f"{message} possible: negatives that score like positives would look the same, and there "
        "may be far fewer, or none",
        f"give a {named('prevalence')}, or have unlabeled rows reviewed",
    )


def _largest(row: MetricRow) -> float:
    """Return the largest value that is no surprise: the estimate, or the high end of a range."""
    return row.estimate.high if row.estimate.range_only else row.estimate.value


def naive_check(rows: Sequence[MetricRow], shares: Shares) -> Check:
    """UC007: hidden positives make a useful classifier look worse, not better."""
    above = [
        spoken(row.metric) if row.threshold is None else row.label
        for row in rows
        if row.naive > _largest(row) + ROUNDING and grows(row.metric, row.naive, shares)
    ]
    if not above:
        return passes("naive-above", "no naive value is above its estimate")
    return warns(
        "naive-above",
        f"the naive value is above the estimate for {', '.join(above)}, which random labels "
        "of a useful classifier do not give",
        "check the direction of the score, the label purity, and how rows were labelled",
    )
