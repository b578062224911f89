"""Are the labelled positives a fair sample of all positives? What rows beside the scores tell."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, chdtrc, ndtr

from undercount.checks.outcomes import fails, informs, passes, warns
from undercount.checks.percentages import percent
from undercount.counts import ScoreCounts
from undercount.errors import CODES, Check, InputError, Level, named, wording
from undercount.prevalence.fair_scores import ScoreTest
from undercount.prevalence.upper_bound import upper_bound
from undercount.shares import Shares

# Groups that a column of numbers is cut into, if it has more values than `MANY_GROUPS`.
GROUPS_OF_NUMBERS, MANY_GROUPS = 4, 10
USUAL_LEVEL = 0.95
# Strata of scores within which the labels of a group are compared with those of others.
STRATA = 20
# Part of other rows' positives that a group may hold at the same score, no label being amiss.
LESS_OFTEN = 0.5
# Parts of the scores in which rows looked at are weighed against all rows: at least so many of the
# former in each on average; and how sure a misfit must be.
MOST_PARTS, LOOKED_A_PART, BALANCED = 10, 30, 0.99
# Labels of each class that it takes to compare known negatives with those that a share leaves.
FEWEST_OF_BOTH = 30
# Fair labels look so unfair once in so many times: nothing is built on labels beyond it.
SURELY_UNFAIR = 0.001
USE_CHANCES = wording("assume LabelPropensity(chance)", "pass --chance")


def groups_check(
    labels: NDArray[Any], score: NDArray[Any], covariates: Any, shares: Shares
) -> Check:
    """UC022: no group may have more labels, or fewer, than fair labels would give it.

    If every positive is as likely to be labelled, a group with many labels holds many hidden
    positives: (1/c - 1) for each label, c being the label frequency of all rows. A group whose
    scores rule so many out (`upper_bound`, exact at any sample size) is labelled more often than
    others. And a group with none or few has a row of each score labelled as often as rows
    elsewhere, unless at the same score it holds fewer positives (`few_labels`). Groups are values
    of a covariate, quarters of one with many values; the chance of a false alarm is at most 5 %
    over all of them.

    Notes
    -----
    Assumes: the share of hidden positives, at the lower end of its interval, and pure labels; for
    few labels that at the same score a group holds at least half as many positives as others.
    Wrong when: that share is too high; a group then fails for the share, not for its labels. Or a
    group has hardly any positives, and the model does not know.
    """
    whole = ScoreCounts.from_rows(labels, score, unlabeled=-1, compact=True)
    span = shares.unlabeled_prevalence_interval
    least = shares.unlabeled_prevalence if span is None else span.low
    # Hidden positives for each label, as few as the share's interval allows.
    hidden_per_label = least * whole.n_unlabeled / whole.n_positive
    groups = list(_groups(covariates, len(labels)))
    # Each group is asked for too many labels and for too few.
    risk = (1 - USUAL_LEVEL) / (2 * max(len(groups), 1))
    stratum = _score_strata(score)
    worst, sparse, untold, tested = (0.0, "", 0.0, 0.0), [], 0, 0
    for group, inside in groups:
        n_labelled, n_unlabeled = (np.count_nonzero(labels[inside] == kind) for kind in (1, -1))
        few = few_labels(labels, stratum, inside, group)
        sparse += [few] if few.p_value < risk else []
        if n_labelled == 0 or n_unlabeled == 0:
            untold += n_labelled == 0
            continue
        tested += 1
        counts = ScoreCounts.from_rows(labels[inside], score[inside], unlabeled=-1, compact=True)
        needed = float(hidden_per_label * n_labelled / n_unlabeled)
        allowed = upper_bound(counts, 1 - risk)
        worst = max(worst, (needed - allowed, group, needed, allowed))
    fewest = min(sparse, key=lambda found: (found.labels > 0, found.p_value), default=None)
    if worst[0] > 0 and (fewest is None or fewest.labels > 0):  # assumes less than few labels do
        return _crowded_check(*worst[1:])
    if fewest is not None:
        return fewest.check()
    alone = "1 more has" if untold == 1 else f"{untold} more have"
    none = f"; {alone} no label, and too few rows of high score to tell why" if untold else ""
    return Check(
        CODES["fair-sample"],
        "info" if untold else "ok",
        f"labels may be a fair sample in each of {tested} group{'' if tested == 1 else 's'} by the "
        f"covariates: their scores allow the hidden positives that would need{none}. That is no "
        "proof",
    )


def _crowded_check(name: str, needed: float, allowed: float) -> Check:
    return warns(
        "fair-sample",
        f"labels are no fair sample: with as many labels as it has, {percent(needed)} of the "
        f"unlabeled rows with {name} would be positive, and their scores allow at most "
        f"{percent(allowed)}; such rows are labelled more often than others",
        f"find out the chances of a label and {USE_CHANCES}",
    )


@dataclass(frozen=True)
class FewLabels:
    """Hold how many labels a group has, and how many its scores let expect."""

    name: str
    labels: int
    expected: float
    p_value: float

    def check(self) -> Check:
        """Fail where nobody labels a group at all: its positives are missed by every label."""
        number = f"only {self.labels:,}" if self.labels else "no"
        return Check(
            CODES["fair-sample"],
            "warn" if self.labels else "fail",
            f"labels are no fair sample: rows with {self.name} have {number} labels, where as many "
            f"rows of the same scores have {self.expected:,.0f} elsewhere (p = {self.p_value:.2g}, "
            "were their positives half as frequent): they are labelled less often, or hold far "
            "fewer positives than their scores say",
            f"review some of these rows, leave them out, or {USE_CHANCES}",
        )


def few_labels(
    labels: NDArray[Any], stratum: NDArray[Any], inside: NDArray[np.bool_], name: str
) -> FewLabels:
    """Compare the labels of a group with those of other rows of the same scores.

    In a stratum of scores with T labels, m rows of the group and M others, the group's labels are
    Binomial(T, θm/(θm + M)) if its rows are labelled θ times as often; their sum lies as low as
    seen with at most the chance of one binomial of the same mean (Hoeffding 1956). θ is one half,
    so that a group may hold half as many positives at the same score, and no label be amiss.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.checks.fair_sample import few_labels
    >>> labels, group = np.repeat([1, -1, -1], [12, 88, 100]), np.arange(200) >= 100
    >>> found = few_labels(labels, np.zeros(200, int), group, "b")
    >>> round(found.expected), round(found.p_value / (2 / 3) ** 12, 6)  # each elsewhere: 2 to 1
    (12, 1.0)
    """
    kinds = int(stratum.max()) + 1
    labelled = np.bincount(stratum[labels == 1], minlength=kinds)
    here = np.bincount(stratum[inside], minlength=kinds)
    others = np.bincount(stratum[~inside], minlength=kinds)
    own = int(np.count_nonzero(labels[inside] == 1))
    elsewhere = labelled - np.bincount(stratum[inside & (labels == 1)], minlength=kinds)
    expected = float(np.sum(here * elsewhere / np.maximum(others, 1)))
    few = LESS_OFTEN * here
    mean = float(np.sum(labelled * few / np.maximum(few + others, 1) * (others > 0)))
    total = int(labelled.sum())
    # One binomial's tail bounds that of a sum only below the mean.
    p_value = float(bdtr(own, total, mean / total)) if own <= mean - 1 else 1.0
    return FewLabels(name, own, expected, p_value)


def _score_strata(score: NDArray[Any]) -> NDArray[np.intp]:
    """Return the stratum of each row: equal parts of the rows by score, ties together."""
    ends = np.unique(np.quantile(score, np.linspace(0, 1, STRATA + 1)[1:-1]))
    return np.searchsorted(ends, score, side="right")


def found_check(found: ScoreTest) -> Check:
    """UC022: labels should score alike, however and whenever they were found.

    It fails, and so forbids to build on the labels, where chance hardly explains the difference.
    """
    sure, test = found.p_value < SURELY_UNFAIR, _test_words(found)
    return _fair_check(
        found,
        f"positives score alike whenever and by whom they were found ({test}); what nobody has "
        "found may differ",
        f"labels {'are' if sure else 'may be'} no fair sample: {found.words} ({test})",
        "review some rows without a label; they tell what nobody has found",
    )


def steady_check(found: ScoreTest) -> Check:
    """UC022: labels of recent rows should come as soon as those of older ones.

    It fails, and so forbids to report, where chance hardly explains the difference.
    """
    sure, test = found.p_value < SURELY_UNFAIR, _test_words(found)
    return _fair_check(
        found,
        f"no sign that labels come later or sooner than they did ({test}), but the test overlooks "
        "most changes of recent months",
        f"delays {'are not' if sure else 'may not be'} alike: {found.words} ({test})",
        "labels that became slower look like a fall, faster ones like a rise; leave out the months "
        "before labelling changed, or review some recent rows",
    )


def _test_words(test: ScoreTest) -> str:
    return f"p = {test.p_value:.2g}, {test.n_rows:,} labels"


def _fair_check(test: ScoreTest, alike: str, unlike: str, advice: str) -> Check:
    """Say what a test of fair labels shows: nothing, a doubt, or that they are surely unfair."""
    if test.p_value > 1 - USUAL_LEVEL:
        return passes("fair-sample", alike)
    level: Level = "fail" if test.p_value < SURELY_UNFAIR else "warn"
    return Check(CODES["fair-sample"], level, unlike, advice)


def _groups(covariates: Any, n_rows: int) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield each group of rows with its name, for every column."""
    columns = np.asarray(covariates)
    columns = columns[:, np.newaxis] if columns.ndim == 1 else columns
    if not columns.ndim or len(columns) != n_rows:
        raise InputError(
            f"{named('covariates')} must have a row for each of {n_rows:,} rows; "
            f"got shape {columns.shape}",
            argument="covariates",
        )
    for place, column in enumerate(columns.T):
        name = "the covariate" if columns.shape[1] == 1 else f"covariate {place}"
        values = np.unique(column)
        if len(values) <= MANY_GROUPS:
            for value in values:
                yield f"{name} = {value}", column == value
            continue
        numbers = column.astype(float)
        ends = np.quantile(numbers, np.linspace(0, 1, GROUPS_OF_NUMBERS + 1))
        part = np.clip(np.searchsorted(ends, numbers, side="right") - 1, 0, GROUPS_OF_NUMBERS - 1)
        for index in range(GROUPS_OF_NUMBERS):
            words = f"{name} from {ends[index]:.3g} to {ends[index + 1]:.3g}"
            yield words, part == index


def mature_checks(estimator: Any) -> tuple[Check, ...]:
    """UC023: a share told by the dates of labels is none while the oldest ones are arriving."""
    if getattr(estimator, "mature_", True):
        return ()
    return (
        fails(
            "mature",
            f"do not report these numbers: {estimator.unripe_words()}",
            "wait, or add rows that are older",
        ),
    )


def negatives_fair_check(counts: ScoreCounts, shares: Shares) -> Check | None:
    """UC022: known negatives should score like the negatives that a given share leaves.

    Random labels of both classes tell the share (`TwoLabels`). Where they tell far less than was
    given, known negatives score higher than the others: high scores were looked at more often, and
    so probably were the positives. None if nothing contradicts, or if labels are too few.

    Notes
    -----
    Assumes: pure labels, independent rows.
    Wrong when: the given share is too high; then it is that which the labels contradict.
    """
    fewest = min(counts.effective_size("positive"), counts.effective_size("negative"))
    if counts.n_negative == 0 or fewest < FEWEST_OF_BOTH or shares.label_purity < 1:
        return None
    from undercount.prevalence.two_labels import Areas  # noqa: PLC0415 - scikit-learn

    areas = Areas.of(counts)
    if areas.positive_negative <= 0:
        return None
    _, estimated, error = areas.average(counts)
    span = shares.unlabeled_prevalence_interval
    least = shares.unlabeled_prevalence if span is None else span.low
    p_value = 2 * float(ndtr((estimated - least) / error)) if error > 0 else 1.0
    if p_value >= SURELY_UNFAIR:
        return None
    return fails(
        "fair-sample",
        f"labels are no fair sample, or the share is too high: the {counts.n_negative:,.6g} known "
        "negatives score higher than the other negatives would (as random labels of both classes "
        f"they leave {max(estimated, 0.0):.2g} of the unlabeled rows positive, and {least:.2g} was "
        f"given; p = {p_value:.1g}): rows of high scores were looked at more often",
        "undercount select (uc.SelectedLabels) models who was looked at, and known chances of a "
        "label serve too; audited rows must be a random sample of all rows",
    )


def balance_check(score: NDArray[Any], looked: NDArray[Any], chance: NDArray[Any]) -> Check | None:
    """UC022: rows that were looked at should stand for all rows, at every score, by their chances.

    Each row that was looked at stands for 1/e rows, of its own class and of any. In each part of
    the scores the sum of Σ 1/e has the mean of the rows there and the variance Σ (1 - e)/e²; parts
    are independent, so that the squares add up to a chi-square. None if too few were looked at.

    Notes
    -----
    Assumes: rows found negative were looked at with the chances that they have.
    Wrong when: they were found in another way; leave their chances empty then.
    """
    number = int(np.count_nonzero(looked))
    parts = min(number // LOOKED_A_PART, MOST_PARTS)
    if parts < 1:
        return None
    ends = np.quantile(score, np.linspace(0, 1, parts + 1)[1:-1])
    part = np.searchsorted(ends, score, side="right")
    weight = 1 / chance[looked]
    rows = np.bincount(part, minlength=parts)
    stands_for = np.bincount(part[looked], weight, minlength=parts)
    spread = np.bincount(part[looked], weight * (weight - 1), minlength=parts)
    tested = spread > 0
    distance = (stands_for - rows)[tested] / np.sqrt(spread[tested])
    p_value = float(chdtrc(tested.sum(), distance @ distance)) if tested.any() else 1.0
    if p_value >= 1 - BALANCED:
        return None
    at = np.flatnonzero(tested)[np.argmax(np.abs(distance))]
    inside = score[part == at]
    return fails(
        "fair-sample",
        f"the chances miss what decided who was looked at: by them the {number:,} rows looked at "
        f"stand for {stands_for.sum():,.0f} rows of {len(score):,}, and for {stands_for[at]:,.0f} "
        f"of the {rows[at]:,} with a score from {inside.min():.4g} to {inside.max():.4g} "
        f"(p = {p_value:.1g})",
        "add what decided to the covariates, or find out the chances; if rows found negative were "
        "not looked at by these chances, leave theirs empty",
    )


def chances_check(score: NDArray[Any], stands_for: NDArray[Any]) -> Check:
    """UC022: labels of known chances should prefer neither high nor low scores.

    The mean rank of the labelled rows, weighted by what they stand for, against the plain one.
    """
    rank = np.searchsorted(np.sort(score), score, side="right") / len(score)
    share = stands_for / stands_for.sum()
    weighted, plain = float(share @ rank), float(rank.mean())
    parts = share * (rank - weighted) - (rank - plain) / len(rank)
    error = math.sqrt(float(parts @ parts))
    distance = (weighted - plain) / error if error > 0 else 0.0
    p_value = math.erfc(abs(distance) / math.sqrt(2))
    if p_value > 1 - USUAL_LEVEL:
        return passes(
            "fair-sample",
            "by their chances the labels prefer neither high nor low scores "
            f"(p = {p_value:.2g}); other labels may",
        )
    prefer = "low" if weighted > plain else "high"
    return informs(
        "fair-sample",
        f"labels are no fair sample of the positives: they prefer {prefer} scores "
        f"(p = {p_value:.2g}), which the chances allow for",
        "do not read labels alone",
    )
