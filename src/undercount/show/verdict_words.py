"""The verdict on a claim in words: the light, the claim, and what would change it."""

import math
from typing import Literal

from undercount.counts import ScoreCounts
from undercount.estimate import Interval
from undercount.read.evaluation import Evaluation
from undercount.read.metric_name import place_words, short_number
from undercount.read.requirement import Requirement
from undercount.read.sensitivity import AREAS
from undercount.shares import Shares
from undercount.show.spoken import ROUNDING, goal_percent, metric_title, percent

LIGHTS = {
    "robust": "robust if labels are fair and right",
    "reviewed": "supported by reviews",
    "open": "reviews leave it open",
    "depends": "depends on the prevalence",
    "unsupported": "not supported",
}
# The same where nothing but the question whether the model knew these rows keeps it from "robust".
DOUBT = "depends on out-of-fold scores"
# The same where chances of a label tell the share.
CHANCES_LIGHTS = {
    "given": "if the chances of a label are right",
    "open": "the chance of the labels leaves it open",
}
# What was given, with a place for its value; and whether it grows with the hidden share.
GIVEN = {
    "prevalence": ("{} are positive", True),
    "unlabeled_prevalence": ("{} are hidden", True),
    "positives": ("{} rows are positive", True),
    "label_frequency": ("{} of the positives are labelled", False),
}
# The same in a sentence that does not stand beside the table, so that it says of which rows.
OF_ROWS = {"prevalence": "{} of all rows are positive"}
OF_UNLABELED = "{} of the unlabeled rows are positive"
NOWHERE = "holds at no share of hidden positives that the scores allow"
SUGGESTED = "a round number below the interval"


def light_words(evaluation: Evaluation) -> str:
    """Say the light: "robust if …", "if 7 % are positive", "depends on …", "not supported"."""
    light = evaluation.verdict.light
    if evaluation.chances is not None:
        return CHANCES_LIGHTS.get(light, LIGHTS.get(light, ""))
    if evaluation.verdict.doubt is not None and light != "unsupported":
        return DOUBT
    return LIGHTS[light] if light in LIGHTS else condition_words(evaluation)


def condition_words(evaluation: Evaluation) -> str:
    """Say what was given, as the user gave it."""
    shares, counts = evaluation.shares, evaluation.counts
    span = shares.unlabeled_prevalence_interval
    ends = (span.low, span.high) if span else (shares.unlabeled_prevalence,)
    words, _ = GIVEN[shares.given]
    said = sorted({_value(shares, counts, end) for end in ends})
    text = "if " + words.format(" – ".join(text for _, text in said).replace(" % –", " –"))
    if shares.label_purity < 1:
        text += f" and {percent(shares.label_purity)} of the labels are right"
    return text


def _value(
    shares: Shares, counts: ScoreCounts, share: float, bound: Literal["", "least", "most"] = ""
) -> tuple[float, str]:
    """Return what was given, at another share, as a number and in words."""
    given, value = shares.stated(counts, share)
    return value, f"{value:,.0f}" if given == "positives" else percent(value, bound)


def claim_words(claim: Requirement | None, threshold: float | None = None) -> str:
    """Say a claim: "precision ≥ 60 %", with its threshold unless it is the evaluation's."""
    if claim is None:
        return ""
    name = claim.name
    own = name.top is None and name.threshold in (None, threshold)
    at = "" if own else place_words(name.threshold, name.top)
    sign = {">=": "≥", "<=": "≤"}.get(claim.sign, claim.sign)
    # Areas, correlations and ratios are said as numbers, rates as percentages.
    plain = name.metric in AREAS or name.metric in ("mcc", "kappa") or abs(claim.value) > 1
    goal = short_number(claim.value) if plain else goal_percent(claim.value)
    return f"{metric_title(name.metric)}{at} {sign} {goal}"


def judged_words(evaluation: Evaluation) -> str:
    """Say what is judged and how it was chosen; why nothing is, if so."""
    verdict = evaluation.verdict
    if verdict.claim is None:
        return "nothing can be claimed"
    how = "as required" if verdict.required else SUGGESTED
    return f"{claim_words(verdict.claim, evaluation.threshold)} ({how})"


def change_words(evaluation: Evaluation) -> str:
    """Say what would change the conclusion: how far share and labelling may move."""
    verdict = evaluation.verdict
    if verdict.claim is None:
        return _nothing_words(evaluation)
    name = claim_words(verdict.claim, evaluation.threshold)
    if verdict.reason is not None:
        return f"{name} cannot be claimed while {verdict.reason.code} stands"
    if evaluation.reviewed is not None:
        return _reviewed_change(evaluation)
    if evaluation.chances is not None:
        return _chances_change(name, verdict.odds_ratio)
    if verdict.doubt is not None:
        return f"{name} {_hold_words(evaluation)} · if the model was not trained on these rows"
    return f"{name} {_hold_words(evaluation)}"


def _hold_words(evaluation: Evaluation) -> str:
    """Say at which shares, and up to which labelling bias, a claim holds."""
    verdict = evaluation.verdict
    if verdict.holds is None:
        return NOWHERE
    limits = share_words(evaluation, verdict.holds)
    if verdict.light == "unsupported" or not _held(evaluation):
        return f"would hold only {limits or 'at shares that the scores rule out'}"
    if not math.isfinite(verdict.odds_ratio):
        return f"holds {limits or 'whatever the prevalence'}"
    gamma = f"{float(f'{verdict.odds_ratio:.3g}'):g}"
    bias = f"if labelling favours no positive by more than Γ = {gamma} (odds of a label)"
    return f"holds {f'{limits}, and' if limits else 'whatever the prevalence,'} {bias}"


def _chances_change(name: str, odds_ratio: float) -> str:
    """Say how wrong the odds of a label may be while a claim holds."""
    if math.isnan(odds_ratio):
        return "more labels, or other chances of a label"
    if math.isinf(odds_ratio):
        return f"{name} holds however wrong the odds of a label are"
    return f"{name} holds while the odds of a label are wrong by less than Γ = {odds_ratio:.3g}"


def _reviewed_change(evaluation: Evaluation) -> str:
    """Say what would change what reviewed rows say."""
    reviewed = evaluation.reviewed
    if reviewed is not None and reviewed.audited:
        return "verified rows that are no random sample"
    wrong = "verdicts that are wrong"
    random = reviewed is not None and reviewed.labels == "random"
    return f"labels that are no random sample, or {wrong}" if random else wrong


def _held(evaluation: Evaluation) -> bool:
    holds = evaluation.verdict.holds
    return holds is not None and evaluation.shares.unlabeled_prevalence in holds


def share_words(evaluation: Evaluation, holds: Interval) -> str:
    """Say the shares at which a claim holds, in terms of what was given; nothing if all do."""
    shares, counts = evaluation.shares, evaluation.counts
    ends = []
    if holds.low > ROUNDING:
        ends.append((True, holds.low))
    if holds.high < evaluation.share_limit - ROUNDING:
        ends.append((False, holds.high))
    if not ends:
        return ""
    given = shares.given if evaluation.share_given else "unlabeled_prevalence"
    if given == "unlabeled_prevalence":
        said = [percent(share, "least" if least else "most") for least, share in ends]
        return f"if {OF_UNLABELED.format(_range_words(said, least=ends[0][0]))}"
    words, grows = GIVEN[given]
    said = [
        _value(shares, counts, share, "least" if least == grows else "most")[1]
        for least, share in (ends if grows else reversed(ends))
    ]
    return f"if {OF_ROWS.get(given, words).format(_range_words(said, least=ends[0][0] == grows))}"


def _range_words(said: list[str], *, least: bool) -> str:
    """Say one end, or two: those that are one number when rounded as such."""
    if len(said) == 1:
        return f"at {'least' if least else 'most'} {said[0]}"
    return f"about {said[0]}" if said[0] == said[1] else f"between {said[0]} and {said[1]}"


def _nothing_words(evaluation: Evaluation) -> str:
    if evaluation.verdict.light == "open":
        return "more verdicts"
    if evaluation.top is not None:
        return "more labels: chance alone may leave no real case among the highest rows"
    if evaluation.threshold is None:
        return "other scores: these do not rank positives above negatives"
    row = next((row for row in evaluation.rows if row.metric == "precision"), None)
    if row is None or math.isnan(row.estimate.value):
        return "another threshold: no row is flagged at this one"
    if row.estimate.value <= 0:
        return "another threshold: no row flagged at this one is estimated to be real"
    random = "rows flagged at random may be real as often"
    chance = "at this threshold chance alone may leave no real case"
    known = evaluation.source != "estimated" or row.estimate.low <= 0
    wanted = "more labels" if known else "a known prevalence, or reviews"
    return f"{wanted}: {random if row.estimate.low > 0 else chance}"
