"""What may be said of a claim such as "precision ≥ 60 %": it is judged once, for every output.

The light speaks of the claim, not of the chance of the labels alone. A claim holds at a share of
hidden positives if its interval at that share, taken as known, lies on the right side of the goal.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np
from scipy.optimize import brentq

from undercount.checks.flagged import rounded_threshold, rounding_check
from undercount.checks.percentages import percent
from undercount.counts import ScoreCounts
from undercount.errors import (
    CODES,
    Check,
    InputError,
    MisfitWarning,
    SmallSampleWarning,
    UndefinedMetricWarning,
    collect_warnings,
)
from undercount.estimate import Estimate, Interval
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_name import MetricName
from undercount.infer.mixture import design_of
from undercount.infer.threshold_intervals import intervals_at_shares
from undercount.metric_facts import FACTS, OUT_OF_FOLD
from undercount.read.require.requirement import Requirement, check_words

if TYPE_CHECKING:
    from undercount.read.evaluation import Evaluation

OTHERS = (UndefinedMetricWarning, SmallSampleWarning)
Light: TypeAlias = Literal["robust", "reviewed", "given", "depends", "open", "unsupported", "none"]
# Shares at which a claim is tried, from none to the largest that the scores allow.
SHARES_TRIED = 17
# Halvings of the step between two of them, to find where the claim starts to hold.
SHARE_HALVINGS = 20
# So many of them in one go, where many shares are tried at once.
HALVINGS_AT_ONCE = 10
# Goals are set in steps of 5 %; below that with one digit.
TARGET_STEP = 0.05
# Nobody claims that each and every case is real.
MOST = 0.95
_NEARLY = 1e-9


@dataclass(frozen=True)
class ClaimVerdict:
    """Hold what may be said of a claim.

    Attributes
    ----------
    light : {"robust", "reviewed", "given", "depends", "open", "unsupported", "none"}
        "robust": the claim holds for every share of hidden positives that the scores allow, given
        random and pure labels. "given": it holds at the share, or by the chances of a label,
        that the user gave. "depends": it
        holds in part of the interval of the share. "reviewed": reviewed rows say so, whatever
        the share. "open": they leave it open. "unsupported": it holds nowhere, or a check forbids
        any claim. "none": no target was set, and scores alone suggest none.
    claim : Requirement or None
        What is judged; None if the metric does not exist or is nothing but 0, or if nobody set a
        target and the share is estimated from scores, whose low end is an assumption.
    required : bool
        Whether the user set the claim; otherwise it is a round number just below the interval
        that is reported, with what is unknown of the share in it.
    holds : Interval or None
        Shares of hidden positives at which it holds: those around the share taken, or the nearest.
    everywhere : bool
        Whether it holds in the whole interval of the share.
    odds_ratio : float
        Largest labelling bias (Γ) that it survives at the share taken; NaN if it does not hold
        there, no share is taken or a bias is not followed, infinity above a thousandfold one.
    reason : Check or None
        The check that forbids a claim.
    doubt : Check or None
        The check that keeps a claim which holds at every share from being robust.
    rests_on : tuple of str
        What must be so for the light to be right, "random labels" and "right labels" say; nothing
        where nothing is claimed. No light, "robust" neither, is without conditions.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_counts([1, 0], [600, 200], [0, 0], [200, 9000])
    >>> evaluation = uc.evaluate(counts, prevalence=0.1, threshold=1)
    >>> evaluation.verdict.light, evaluation.verdict.claim.words
    ('given', 'precision@1 >= 0.9')
    >>> verdict = evaluation.claiming("precision >= 0.7").verdict
    >>> verdict.light, verdict.rests_on
    ('robust', ('random labels', 'right labels', 'out-of-fold scores'))
    """

    light: Light
    claim: Requirement | None
    required: bool = False
    holds: Interval | None = None
    everywhere: bool = False
    odds_ratio: float = math.nan
    reason: Check | None = None
    doubt: Check | None = None
    rests_on: tuple[str, ...] = ()


def judge_claim(evaluation: "Evaluation") -> ClaimVerdict:
    """Judge the claim of an evaluation, or the one that its leading number suggests."""
    found, check = _judge(evaluation), _rounding(evaluation)
    if check is not None and found.light not in ("open", "unsupported", "none"):
        found = replace(found, light="unsupported", reason=check)
    return replace(found, rests_on=_rests_on(evaluation, found))


def _rounding(evaluation: "Evaluation") -> Check | None:
    """Return UC024 if a required claim hangs on rows that score what the threshold is rounded."""
    claim = evaluation.claim
    if claim is None or claim.threshold is None:
        return None
    counts = evaluation.counts_at(claim.threshold)
    near = rounded_threshold(counts, claim.threshold)
    if near is None:
        return None
    there = replace(claim, name=replace(claim.name, threshold=near))
    with collect_warnings():
        found = {each.verdict(evaluation.estimate_required(each)) for each in (claim, there)}
    return rounding_check(counts, claim.threshold)[0] if len(found) > 1 else None


def _rests_on(evaluation: "Evaluation", verdict: ClaimVerdict) -> tuple[str, ...]:
    """Name what a light supposes: what the metric needs, but no share if the claim needs none."""
    claim = verdict.claim
    if claim is None or verdict.light in ("open", "unsupported", "none"):
        return ()
    needs: tuple[str, ...] = ()
    # Where these rows allow a share, the population that is carried over may not.
    with collect_warnings(), suppress(InputError):
        needs = evaluation.estimate_required(claim).needs
    every = verdict.light == "robust" or verdict.doubt is not None
    return (*(need for need in needs if not (every and need == "prevalence")), OUT_OF_FOLD)


def _judge(evaluation: "Evaluation") -> ClaimVerdict:
    required = evaluation.claim is not None
    about = evaluation.claim or _lead(evaluation)
    if evaluation.basis.determined_by:
        return _judge_alone(evaluation, about, required=required)
    trial = _Trial(evaluation, about, evaluation.counts_at(about.threshold))
    claim = evaluation.claim
    if claim is None and evaluation.unknowns.from_scores:
        reason = _grave(evaluation)
        return ClaimVerdict("none" if reason is None else "unsupported", None, reason=reason)
    claim = claim or trial.suggest()
    if claim is None:
        return ClaimVerdict("unsupported", None, reason=_grave(evaluation))
    trial = replace(trial, claim=claim)
    shares = trial.tried()
    found = trial.holds_at(shares)
    taken = shares.index(trial.taken)
    if found[taken] is None and trial.possible:
        found[taken] = trial.holds_by_chance()
    span = trial.span
    inside = [
        held for share, held in zip(shares, found, strict=True) if span.low <= share <= span.high
    ]
    light, doubt = _light(evaluation, found, inside, possible=trial.possible), None
    if light == "robust" and (doubt := _doubt(evaluation)):
        light = "depends"
    verdict = ClaimVerdict(
        light,
        claim,
        required,
        trial.around(shares, found),
        all(inside),
        trial.odds_ratio() if found[taken] else math.nan,
        _grave(evaluation),
        doubt,
    )
    if _says_nothing(evaluation, verdict):
        return ClaimVerdict("unsupported", None)
    return replace(verdict, light="unsupported") if verdict.reason else verdict


def _says_nothing(evaluation: "Evaluation", verdict: ClaimVerdict) -> bool:
    """Whether a claim that nobody asked for is met by rows that are flagged at random."""
    claim = verdict.claim
    if verdict.required or verdict.light != "robust" or claim is None:
        return False
    return claim.metric == "precision" and claim.value <= evaluation.prevalence


def doubt_words(evaluation: "Evaluation", does: str = "holds") -> str:
    """Say why a claim about a metric that rests on the share is not safe; nothing if it is.

    What the whole interval of an estimated share supports is no more than that: the share itself
    may be wrong. Only what holds at every share, at one that was given, or by reviews is safe.
    """
    verdict = evaluation.verdict
    if verdict.light not in ("depends", "unsupported"):
        return ""
    checks = [verdict.reason, verdict.doubt, _find(evaluation, "many-hidden")]
    check = next((each for each in checks if each is not None), None)
    if check is not None:
        return f"{check.message.split('. ')[0]} ({check.code})"
    if verdict.light == "unsupported" or verdict.holds is None:
        return "no share of hidden positives that the scores allow fits"
    ends, known = verdict.holds, "a range" if evaluation.unknowns.given else "only estimated"
    return (
        f"it depends on the share of hidden positives, which is {known}: it {does} from "
        f"{percent(ends.low, 'least')} to {percent(ends.high, 'most')} of the unlabeled rows, not "
        "at every share that the scores allow"
    )


def failure_doubt_words(evaluation: "Evaluation") -> str:
    """Say why a requirement may not have failed, of an evaluation that claims its opposite.

    What is so at every share that the scores allow is so, whatever share was estimated and whatever
    a check says of it; but for scores that know the labels, which rule out what they should not,
    and for labels that are no fair sample, which mislead at every share.
    """
    unfair = next((each for each in evaluation.checks if _unfair(each)), None)
    if unfair is not None:
        return check_words(unfair)
    verdict, known = evaluation.verdict, {CODES["leak"], CODES["in-sample"]}
    doubted = {check.code for check in (verdict.reason, verdict.doubt) if check is not None}
    claim, holds = verdict.claim, verdict.holds
    moves = claim is not None and FACTS[claim.metric].needs_prevalence
    if holds is not None and not (moves and doubted & known):
        whole = holds.low <= _NEARLY and holds.high >= evaluation.unknowns.limit - _NEARLY
        possible = evaluation.shares.unlabeled_prevalence <= evaluation.unknowns.limit + _NEARLY
        if whole and possible:
            return ""
    return doubt_words(evaluation, "fails")


def _judge_alone(evaluation: "Evaluation", about: Requirement, *, required: bool) -> ClaimVerdict:
    """Judge a claim by reviewed rows or chances of a label, which tell the share themselves."""
    found = evaluation.estimate_required(about)
    at = MetricAt(about.metric, about.threshold, top=about.name.top)
    evaluation = replace(
        evaluation, checks=tuple(evaluation.recovery.checks_of(at, evaluation.checks))
    )
    claim = about if required else _with_goal(about, found)
    if found.open and not _grave(evaluation):  # verdicts are too few to say anything of it
        return ClaimVerdict("open", about if required else None, required)
    if math.isnan(found.value) or claim is None:
        return ClaimVerdict("unsupported", None, reason=_grave(evaluation))
    outcome = claim.verdict(found)
    lights: dict[str, Light] = {"met": evaluation.basis.met_by, "failed": "unsupported"}
    light = "unsupported" if _grave(evaluation) else lights.get(outcome, "open")
    if not _grave(evaluation) and evaluation.recovery.open_words(at):
        light = "open"
    odds_ratio = math.nan
    here = claim.deploy_prevalence is None
    odds = evaluation.basis.odds_words is not None  # of a label, which may be wrong
    if odds and outcome == "met" and claim.at_least and here:
        odds_ratio = evaluation.recovery.break_even(at, claim.value).odds_ratio
    return ClaimVerdict(light, claim, required, odds_ratio=odds_ratio, reason=_grave(evaluation))


def _light(
    evaluation: "Evaluation", found: list[bool | None], inside: list[bool | None], *, possible: bool
) -> Light:
    if False not in found and found[0] and evaluation.recovery.supposes_right_labels and possible:
        return "robust"
    if not any(inside) or (evaluation.unknowns.given and not possible):
        return "unsupported"
    return "given" if evaluation.unknowns.given and all(inside) else "depends"


def _grave(evaluation: "Evaluation") -> Check | None:
    """Return the check that forbids a claim: one that failed, or scores that know the label.

    So does a share, or chances, that the rows at a threshold contradict.
    """
    grave = {(CODES[name], "warn") for name in ("leak", "fit")}
    return next(
        (
            check
            for check in evaluation.checks
            if check.level == "fail" or (check.code, check.level) in grave
        ),
        None,
    )


def _unfair(check: Check) -> bool:
    return (check.code, check.level) == (CODES["fair-sample"], "fail")


def _doubt(evaluation: "Evaluation") -> Check | None:
    """Return the check that asks whether the scores rule shares out at all: UC016."""
    return _find(evaluation, "in-sample")


def _find(evaluation: "Evaluation", name: str) -> Check | None:
    """Return a check by its name, if it warns."""
    asked = (CODES[name], "warn")
    return next((c for c in evaluation.checks if (c.code, c.level) == asked), None)


def _lead(evaluation: "Evaluation") -> Requirement:
    """Return the leading metric: precision where rows are flagged, or the ROC AUC; no goal yet.

    Of metrics that were chosen without it, the first for which a round goal can be said.
    """
    usual = MetricName("roc_auc")
    if evaluation.threshold is not None:
        usual = MetricName("precision", evaluation.threshold)
    elif evaluation.top is not None:
        usual = MetricName("precision", top=evaluation.top)
    rows = (*evaluation.rows, *evaluation.top_rows)
    names = [MetricName(row.metric, row.threshold, row.top) for row in rows]
    facts = {name: FACTS[name.metric] for name in names}
    fit = [name for name in names if facts[name].higher_is_better or facts[name].bounded]
    name = usual if usual in names or not fit else fit[0]
    return Requirement(name, ">=" if FACTS[name.metric].higher_is_better else "<=", math.nan)


def _with_goal(about: Requirement, found: Estimate) -> Requirement | None:
    """Set a round goal just inside the interval; None if nothing but the trivial can be said."""
    if about.at_least:
        goal = round_goal(found.low)
        return replace(about, value=goal) if goal > 0 else None
    goal = round_goal(1 - found.high)
    return replace(about, value=float(f"{1 - goal:.6g}")) if goal > 0 else None


@dataclass(frozen=True)
class _Trial:
    """Try a claim at one share after the other."""

    evaluation: "Evaluation"
    claim: Requirement
    counts: ScoreCounts

    @property
    def taken(self) -> float:
        return self.evaluation.shares.unlabeled_prevalence

    @property
    def possible(self) -> bool:
        """Whether the scores do not rule the share out."""
        return self.taken <= self.evaluation.unknowns.limit + _NEARLY

    @property
    def span(self) -> Interval:
        span = self.evaluation.shares.unlabeled_prevalence_interval
        if span is None:
            return Interval(self.taken, self.taken)
        return Interval(min(span.low, self.taken), max(span.high, self.taken))

    def estimate(self, share: float) -> tuple[Estimate | None, bool]:
        """Estimate the metric at a share taken as known, and say whether that share fits.

        At a threshold the scores may not reach a share that they allow elsewhere: more rows than
        are flagged would have to be positive there.
        """
        alone = replace(self.evaluation, recovery=self.evaluation.recovery.moved(share))
        claim = self.claim
        try:
            with collect_warnings(MisfitWarning) as misfits, collect_warnings(*OTHERS):
                if claim.name.top is not None:
                    found = alone.estimate(claim.metric, top=claim.name.top)
                else:
                    place = claim.metric, claim.threshold
                    found = alone.metric_rows([place[0]], place[1], self.counts)[0].estimate
                if claim.deploy_prevalence is not None:  # carried over, if it fits these rows
                    found = alone.estimate_required(claim)
        except InputError:
            return None, False
        # Where next to no negative would be flagged, nothing is left to carry over.
        nothing = (found.low, found.high) == FACTS[claim.metric].range
        return found, not misfits and not (nothing and claim.deploy_prevalence is not None)

    def holds_at(self, shares: Sequence[float]) -> list[bool | None]:
        """Whether the interval at each share lies on the right side; None if it does not exist."""
        if not self._at_once:
            found = [self.estimate(share) for share in shares]
            return [self._met(each) if fitting else None for each, fitting in found]
        evaluation, name, known = self.evaluation, self.claim.name, self.evaluation.shares
        value, low, high, fits = intervals_at_shares(
            self.counts,
            design_of(self.counts, known, known.sampling, evaluation.target),
            name.metric,
            cast("float", name.threshold),
            known.clip(np.asarray(shares)),
            confidence_level=evaluation.confidence_level,
        )
        if self._least is not None:
            value, low, high = (np.maximum(each, self._least) for each in (value, low, high))
        exists = fits & ~np.isnan(value)
        met = self.claim.met(value, low, high)
        return [bool(each) if there else None for each, there in zip(met, exists, strict=True)]

    def _met(self, found: Estimate | None) -> bool | None:
        """Whether an interval lies on the right side; None if there is none."""
        if found is None or math.isnan(found.value):
            return None
        return self.claim.verdict(found) == "met"

    def holds_by_chance(self) -> bool | None:
        """Whether the interval at the share taken, which misfits by chance alone, is right.

        A number that passes its range there is reported for the nearest possible value.
        """
        return self._met(self.estimate(self.taken)[0])

    @cached_property
    def _least(self) -> float | None:
        """What the metric is at least, whatever is hidden."""
        at = MetricAt(self.claim.metric, self.claim.threshold)
        return self.evaluation.recovery.certain_value(at, self.counts)

    @property
    def _at_once(self) -> bool:
        """Whether a metric at a threshold is tried, at shares that are all that is unknown."""
        shares, name = self.evaluation.shares, self.claim.name
        alone = shares.label_purity_interval is None and shares.population_prevalence is None
        threshold = FACTS[name.metric].family == "threshold" and name.top is None
        here = self.claim.deploy_prevalence is None
        return threshold and alone and here and self.evaluation.recovery.clusters is None

    def suggest(self) -> Requirement | None:
        """Return the claim with a round goal below the interval that is reported.

        At the share taken, the chance of the labels alone would leave more, which is false where
        the share is.
        """
        try:
            with collect_warnings():  # the table has warned
                found = self.evaluation.estimate_named(self.claim.name)
        except InputError:
            return None
        return _with_goal(self.claim, found) if found.exists else None

    def tried(self) -> list[float]:
        """Return the shares to try, in order."""
        most = self.evaluation.unknowns.limit
        shares, span = {*np.linspace(0.0, most, SHARES_TRIED).tolist(), self.taken}, self.span
        return sorted(shares | {min(end, most) for end in (span.low, span.high)})

    def around(self, shares: list[float], found: list[bool | None]) -> Interval | None:
        """Return the shares around the one taken at which it holds; the nearest if it does not."""
        if not any(found):
            return None
        taken = shares.index(self.taken)
        held = [place for place, each in enumerate(found) if each]
        low = high = min(held, key=lambda place: abs(place - taken))
        # A share at which the numbers do not exist (None) says nothing against the claim.
        while low > 0 and found[low - 1] is not False:
            low -= 1
        while high < len(found) - 1 and found[high + 1] is not False:
            high += 1
        start = shares[low] if low == 0 else self._edge(shares[low - 1], shares[low])
        last = high == len(found) - 1
        end = shares[high] if last else self._edge(shares[high + 1], shares[high])
        return Interval(start, end)

    def _edge(self, fails: float, holds: float) -> float:
        """Return where the claim starts to hold, between a share where it fails and one not."""
        if not self._at_once:
            return self._searched_edge(fails, holds)
        for _ in range(SHARE_HALVINGS // HALVINGS_AT_ONCE):
            steps = np.linspace(holds, fails, 2**HALVINGS_AT_ONCE + 1).tolist()
            found = [True, *self.holds_at(steps[1:-1]), False]
            last = next(place for place, held in enumerate(found) if not held) - 1
            holds, fails = steps[last], steps[last + 1]
        return holds

    def _searched_edge(self, fails: float, holds: float) -> float:
        """Return the same where each share costs an estimate: by how far its end is off the goal.

        Between shares the end moves smoothly, so that a few guesses tell.
        """
        margin = cache(self._margin)  # the search asks for the ends again
        if not margin(holds) >= 0:  # its numbers do not exist
            return holds
        step = (holds - fails) / 2**SHARE_HALVINGS
        found = float(brentq(margin, fails, holds, xtol=abs(step), rtol=_NEARLY))
        low, high = sorted((fails, holds))
        return float(min(max(found + step, low), high))  # on the side where it holds

    def _margin(self, share: float) -> float:
        """Return how far the interval at a share lies on the right side; -1 if it does not fit."""
        found, fitting = self.estimate(share)
        if found is None or not fitting or math.isnan(found.value):
            return -1.0
        if self.claim.at_least:
            return found.low - self.claim.value
        return self.claim.value - found.high

    def odds_ratio(self) -> float:
        name, evaluation = self.claim.name, self.evaluation
        elsewhere = name.top is not None or self.claim.deploy_prevalence is not None
        if not self.claim.at_least or elsewhere or evaluation.unknowns.range_only:
            return math.nan
        at = MetricAt(name.metric, name.threshold)
        return evaluation.recovery.surviving_bias(at, self.claim.value)


def round_goal(value: float) -> float:
    """Return the round number below a value, as people set requirements.

    Examples
    --------
    >>> from undercount.read.require.verdict import round_goal
    >>> round_goal(0.678), round_goal(0.0347)
    (0.65, 0.03)
    """
    if not value > 0:
        return 0.0
    # A value that is round but for its last digits is its own goal.
    nearly = value * (1 + _NEARLY)
    step = TARGET_STEP if nearly >= TARGET_STEP else 10.0 ** math.floor(math.log10(nearly))
    return min(float(f"{math.floor(nearly / step) * step:.6g}"), MOST)
