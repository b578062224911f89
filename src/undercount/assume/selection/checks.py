"""Checks of a selection model in plain language: what was looked at, and what may be wrong."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from undercount.assume.selection.binary_regression import fit_binary, reset_p_value
from undercount.assume.selection.column_model import ColumnModel, empty_stretch
from undercount.assume.selection.empirical_curve import RowModel
from undercount.assume.selection.fit import SelectionFit
from undercount.assume.selection.hidden_model import HiddenModel
from undercount.assume.selection.sample import SelectionSample
from undercount.curve import OperatingCurve
from undercount.errors import Check, Level, named, wording
from undercount.estimate import Interval

SHAPIRO_ROWS = 5000  # beyond that SciPy's p-value is not accurate
MIN_LABELS_FOR_INTERVALS = 30
SURPRISING, SHOCKING = 0.01, 1e-4
# Beyond the scores that were looked at may lie so large a part of the rows without a warning.
SMALL_PART = 0.1
# Where the model alone speaks of a larger part, no requirement is met or failed by it.
MOST_PART = 0.5
# Beyond that part, nothing at all should be reported.
GRAVE_PART = 0.75
# Columns whose statistic is smaller are too weak to tell what the shape alone tells without them.
STRONG_COLUMNS = 10.0
EXTRAPOLATION, NORMAL_SHAPE = "extrapolation", "normal-shape"
# What is said of the flagged rows alone.
OF_FLAGGED_ROWS = ("precision",)


def _check(code: str, level: Level, message: str, advice: str = "") -> Check:
    """Make a check; its parts are joined by a full stop, so they bring none at their end."""
    return Check(code, level, message.rstrip("."), advice.rstrip("."))


def check_sample(
    sample: SelectionSample, curve: OperatingCurve, model: RowModel
) -> Iterator[Check]:
    """Check what needs no fit: how much was looked at, and the score's direction."""
    yield _check_extrapolation(sample, model)
    counts = sample.counts
    fewest = min(counts.n_positive, counts.n_negative)
    if fewest < MIN_LABELS_FOR_INTERVALS:
        yield _check(
            "few-labels",
            "warn",
            f"Only {fewest:.0f} labels of the rarer class were found.",
            "Intervals may be too narrow; "
            + wording("use method='bootstrap' or look at more rows", "look at more rows"),
        )
    if curve.roc_auc < 0.5:  # noqa: PLR2004 - chance
        yield _check(
            "direction",
            "warn",
            f"Higher scores seem to mean fewer positives (AUC {curve.roc_auc:.3f}).",
            "If the score is reversed, pass its negative; nothing was flipped.",
        )


def share_beyond(sample: SelectionSample, threshold: float | None = None) -> float:
    """Return the share of the rows that lie beyond every score that was looked at.

    Of the rows flagged at a threshold, if one is given: what is said of these alone rests on no
    others.
    """
    score, seen = sample.score, sample.score[sample.looked == 1]
    return _share(sample, (score < seen.min()) | (score > seen.max()), threshold)


def share_by_model(
    sample: SelectionSample, model: RowModel, threshold: float | None = None
) -> float:
    """Return the share of the rows of which the model alone speaks.

    Those beyond every score that was looked at. Where something unseen chose, every row that
    nobody looked at: rows of its score that somebody did look at were chosen for another reason.
    """
    if isinstance(model, HiddenModel):
        return _share(sample, sample.looked == 0, threshold)
    return share_beyond(sample, threshold)


def _share(sample: SelectionSample, rows: NDArray[np.bool_], threshold: float | None) -> float:
    """Return the weight of some rows among all rows, or among those flagged; 1 if there is none."""
    weight = sample.weight * (1.0 if threshold is None else sample.score >= threshold)
    total = float(weight.sum())
    return float(weight[rows].sum()) / total if total > 0 else 1.0


def rests_on_shape(model: RowModel) -> bool:
    """Whether the normal shape alone tells how choice and class hang together beside the score."""
    return isinstance(model, HiddenModel) and model.column_strength < STRONG_COLUMNS


def model_alone_words(
    sample: SelectionSample, model: RowModel, threshold: float | None = None
) -> str:
    """Say what makes numbers those of the model rather than of the labels; empty if nothing."""
    share, rows = share_by_model(sample, model, threshold), "rows"
    if threshold is not None:
        rows = "flagged rows"
    if share > MOST_PART:
        where = "were never looked at, and the model alone speaks of them"
        if not isinstance(model, HiddenModel):
            where = "lie beyond every score that was looked at"
        return f"{share:.0%} of the {rows} {where} ({EXTRAPOLATION})"
    if rests_on_shape(model):
        return (
            "jointly normal unseen parts alone tell how choice and class hang together "
            f"({NORMAL_SHAPE})"
        )
    return ""


def _check_extrapolation(sample: SelectionSample, model: RowModel) -> Check:
    never, share = _share(sample, sample.looked == 0, None), share_by_model(sample, model)
    message = f"{never:.0%} of the rows were never looked at"
    if isinstance(model, HiddenModel):
        message += ", for reasons unseen: what is said of them comes from the model alone."
    else:
        message += (
            f"; {share:.0%} lie beyond every score that was, so what is said of them comes from "
            "the model alone."
        )
    if share < SMALL_PART:
        return _check(EXTRAPOLATION, "ok", message)
    advice = "Look at a small random sample of them: even 50 rows tell whether the model holds."
    # Columns that moved the choice alone are evidence of their own.
    identified = isinstance(model, HiddenModel) and not rests_on_shape(model)
    grave = share > GRAVE_PART and not identified
    return _check(EXTRAPOLATION, "fail" if grave else "warn", message, advice)


def check_normal_shape(model: HiddenModel) -> Check:
    """Whether anything but a shape tells how the choice and the class hang together."""
    if not rests_on_shape(model):
        return _check(
            NORMAL_SHAPE,
            "ok",
            f"{named('features')} moved the choice (Wald's statistic {model.column_strength:.0f} "
            "for each column); that they moved the class by the score alone, no check can see.",
        )
    lacking = f"no {named('features')} were given that moved the choice but not the class"
    if model.column_strength > 0:
        lacking = f"the {named('features')} given hardly moved the choice"
    return _check(
        NORMAL_SHAPE,
        "warn",
        "The numbers suppose that the unseen parts of choice and class are jointly normal, and "
        f"rest on that shape alone: {lacking}. If the shape is another, they may be far off, and "
        "no check can see it.",
        "Give columns that moved the choice but not the class, or look at a small random sample of "
        "the other rows.",
    )


def check_normality(fit: SelectionFit) -> Check:
    """Shapiro and Wilk's test on all scores; only ``distribution="normal"`` depends on it."""
    from scipy.stats import shapiro  # noqa: PLC0415 - heavy, and only here

    sample, distribution = fit.sample, fit.distribution
    scale = fit.columns.scales[0]
    score = np.repeat(scale.map(sample.score), sample.weight.astype(int))
    if len(score) > SHAPIRO_ROWS:
        score = np.random.default_rng(0).choice(score, SHAPIRO_ROWS, replace=False)
    statistic, p_value = (float(part) for part in shapiro(score))
    words = (
        f"Shapiro and Wilk's W is {statistic:.3f} (p = {p_value:.2g}) for the "
        f"{'scores' if scale.name == 'score' else f'{scale.name}s of the scores'} of all rows."
    )
    if distribution != "normal":
        return _check(
            "normality",
            "ok",
            f"{words} {named('distribution', repr(distribution))} does not need it.",
        )
    if p_value > SURPRISING:
        return _check("normality", "ok", f"{words} Not rejecting says little.")
    level: Level = "fail" if statistic < 0.97 else "warn"  # noqa: PLR2004 - visibly not normal
    return _check(
        "normality",
        level,
        f"{words} The curve drawn from a normal distribution is then off.",
        f"Use {named('distribution', repr('empirical'))} (the default) or 'copula'.",
    )


def _reset_check(
    code: str, p_value: float, what: str, *, ranks: bool, beyond: float = 0.0
) -> Check:
    """Judge a shape; where many rows rest on it alone, being surprised is enough to fail."""
    if np.isnan(p_value):
        return _check(code, "ok", f"Too few distinct values to test the shape of {what}.")
    words = f"RESET on {what}: p = {p_value:.2g}."
    if p_value > SURPRISING:
        return _check(code, "ok", f"{words} No curvature seen; not rejecting says little.")
    alone = beyond >= SMALL_PART
    rests = f", and {beyond:.0%} of the rows rest on it alone" if alone else ""
    # Ranks are the same of every transformed score.
    ranked = f"Transform the score (its logit, or ranks by {named('distribution', repr('copula'))})"
    return _check(
        code,
        "warn" if p_value > SHOCKING and not alone else "fail",
        f"{words} A straight line in the score does not describe {what}{rests}.",
        f"{'Add' if ranks else f'{ranked}, or add'} {named('features')}.",
    )


def check_shape(model: RowModel, distribution: str) -> Iterator[Check]:
    """Test each probit's shape (RESET): squares and cubes of the predictor should add nothing."""
    labels, choice = "the class among rows looked at", "which rows were looked at"
    ranks = distribution == "copula"
    if isinstance(model, HiddenModel):
        rows = model.rows
        fit = fit_binary(rows.selection, rows.looked, rows.weight)
        value = reset_p_value(fit, rows.selection, rows.looked, rows.weight)
        yield _reset_check("selection-shape", value, choice, ranks=ranks)
        return
    sample, design, weight = model.sample, model.design, model.weight
    if model.outcome is not None:
        seen = sample.looked == 1
        value = reset_p_value(model.outcome, design[seen], sample.label[seen], weight[seen])
        beyond = share_beyond(sample)
        yield _reset_check("outcome-shape", value, labels, ranks=ranks, beyond=beyond)
    if model.selection is not None:
        value = reset_p_value(model.selection, design, sample.looked, weight)
        yield _reset_check("selection-shape", value, choice, ranks=ranks)


def check_identification(model: HiddenModel, interval: Interval, level: float) -> Check:
    """How well the data tell the error correlation of eq. 15."""
    span = f"between {interval.low:.2f} and {interval.high:.2f} at {level:.0%} confidence"
    humps = len(model.fit.modes)
    words = f"The link between choice and class that the score does not explain lies {span}."
    if humps > 1:
        words += f" The likelihood has {humps} maxima."
    if model.fit.at_boundary:
        words += f" Its best value, {model.fit.error_correlation:.3f}, is at the end of the range."
    if not model.fit.at_boundary and interval.width < 0.75 and humps == 1:  # noqa: PLR2004
        return _check("weak-identification", "ok", words)
    level_name: Level = "fail" if interval.width > 1.5 else "warn"  # noqa: PLR2004
    return _check(
        "weak-identification",
        level_name,
        f"{words} The labels say little about it, so the curve is known loosely.",
        f"Give {named('features')} that moved the choice but not the class, or more rows; read "
        "the interval, not the value.",
    )


def check_positivity(model: ColumnModel) -> Check:
    """Inverse weights: how small the chances of being looked at become."""
    seen = model.sample.looked == 1
    chance = model.propensity
    weights = 1 / chance[seen]
    rows = model.weight[seen]
    effective = float((rows @ weights) ** 2 / (rows @ weights**2))
    share = effective / float(rows.sum())
    words = (
        f"The smallest chance of being looked at is {chance.min():.2g}; weighting leaves "
        f"{effective:.0f} effective labels of {rows.sum():.0f}."
    )
    if chance.min() > 0.02 and share > 0.3:  # noqa: PLR2004 - weights below 50, most labels count
        return _check("positivity", "ok", words)
    return _check(
        "positivity",
        "warn",
        f"{words} A few labels carry most of the weight.",
        "Compare with 'begg-greenes', or look at some rows with small chances.",
    )


def check_rule(sample: SelectionSample, method: str) -> Check:
    """Whether the rows looked at are simply those with the highest (selecting) score."""
    own = method == "own-score"
    ruler = sample.score if own or sample.selection_score is None else sample.selection_score
    name = "score" if own else "selection score"
    looked = sample.looked == 1
    if ruler[looked].min() >= ruler[~looked].max():
        return _check(
            "selection-rule", "ok", f"Exactly the rows with the highest {name} were chosen."
        )
    empty = empty_stretch(ruler, sample.looked, sample.weight)
    share = float(sample.weight[empty].sum() / sample.weight.sum())
    words = f"Rows were not chosen by a cutoff on the {name} alone"
    words += f" ({share:.0%} lie beyond every row looked at)."
    others = "" if method == "observed-score" else "'observed-score', "
    return _check(
        "selection-rule",
        "warn",
        f"{words} The method still holds if only that score and chance decided.",
        f"If a person or another model chose, use {others}'begg-greenes' with "
        f"{named('features')}, or 'unobserved'.",
    )
