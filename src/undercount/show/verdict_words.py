"""The verdict on a claim in words: the light, the claim, and what would change it."""

import math

from undercount.assume.base import OddsWords
from undercount.checks.percentages import ROUNDING, End, goal_percent, percent, percents_beside
from undercount.infer.metric_name import place_words, short_number
from undercount.infer.sensitivity import SWEPT_AREAS
from undercount.metric_facts import FACTS
from undercount.read.evaluation import Evaluation
from undercount.read.require.requirement import Outcome, Requirement, where_words
from undercount.read.require.verdict import Light
from undercount.shares import Given
from undercount.show.spoken import metric_title

LIGHT_WORDS = {
    "robust": "robust if labels are fair and right",
    "reviewed": "supported by reviews",
    "open": "reviews leave it open",
    "depends": "depends on the prevalence",
    "unsupported": "not supported",
    "none": "no target set",
}
# The same where nothing but the question whether the model knew these rows keeps it from "robust".
OUT_OF_FOLD_WORDS = "depends on out-of-fold scores"
# What was given, with a place for its value; and whether it grows with the hidden share.
CONDITION_BY_GIVEN = {
    "prevalence": ("{} are positive", True),
    "unlabeled_prevalence": ("{} are hidden", True),
    "positives": ("{} rows are positive", True),
    "label_frequency": ("{} of the positives are labelled", False),
}
# The same in a sentence that does not stand beside the table, so that it says of which rows.
CONDITION_OF_ROWS = {"prevalence": "{} of all rows are positive"}
OF_UNLABELED = "{} of the unlabeled rows are positive"
# The same where the claim is about another prevalence.
OF_THESE_ROWS = "{} of these rows are positive"
CARRIED = ", and rates are the same there"
TAKEN_ALONE = "; at the share taken, not all of its range"
NOWHERE = "holds at no share of hidden positives that the scores allow"
SUGGESTED = "a round number below the interval"
# What names a share that labels and scores leave open.
SETTLING = "a known prevalence, or reviews"


def light_words(evaluation: Evaluation) -> str:
    """Say the light: "robust if …", "if 7 % are positive", "depends on …", "not supported"."""
    holds = light_of(evaluation) in ("robust", "given")
    return f"{_light_alone(evaluation)}{CARRIED if holds and _elsewhere(evaluation) else ''}"


def light_of(evaluation: Evaluation) -> Light:
    """Return the light of the claim; none says that a claim holds while a requirement is not met.

    Judgements know what lights do not: warnings that came while one was judged.
    """
    light = evaluation.verdict.light
    grants = light in ("robust", "reviewed", "given")
    open_ones = any(judgement.outcome != "met" for judgement in evaluation.judgements)
    return "unsupported" if grants and open_ones else light


def _elsewhere(evaluation: Evaluation) -> bool:
    """Whether the claim is about another prevalence."""
    claim = evaluation.verdict.claim
    return claim is not None and claim.deploy_prevalence is not None


def _light_alone(evaluation: Evaluation) -> str:
    """Say the light of a claim about these rows."""
    light = light_of(evaluation)
    if light in evaluation.basis.lights:
        return evaluation.basis.lights[light]
    if evaluation.verdict.doubt is not None and light != "unsupported":
        return OUT_OF_FOLD_WORDS
    return LIGHT_WORDS[light] if light in LIGHT_WORDS else condition_words(evaluation)


def condition_words(evaluation: Evaluation) -> str:
    """Say what was given, as the user gave it."""
    said, _ = _share_texts(evaluation)
    return condition_form(evaluation).format(" – ".join(said).replace(" % –", " –"))


def condition_form(evaluation: Evaluation) -> str:
    """Say what was given, with a place for its value."""
    shares = evaluation.shares
    here = shares.given == "prevalence" and _elsewhere(evaluation)
    text = f"if {OF_THESE_ROWS if here else CONDITION_BY_GIVEN[shares.given][0]}"
    if shares.label_purity < 1:
        text += f" and {percent(shares.label_purity)} of the labels are right"
    return text


def _share_texts(evaluation: Evaluation) -> tuple[list[str], list[str]]:
    """Write the shares that are taken and those where a claim starts or ceases to hold.

    In terms of what was given, the smaller first, and so that no rounding contradicts the verdict.
    """
    shares = evaluation.shares
    grows = CONDITION_BY_GIVEN[_kind(evaluation)][1]
    ends: list[tuple[float, End]] = [
        (_as_given(evaluation, share), "least" if least == grows else "most")
        for least, share in _hold_ends(evaluation)
    ]
    span = shares.unlabeled_prevalence_interval if evaluation.unknowns.given else None
    taken = (span.low, span.high) if span else (shares.unlabeled_prevalence,)
    values = sorted({_as_given(evaluation, share) for share in taken})
    if _kind(evaluation) == "positives":
        whole = {"least": math.ceil, "most": math.floor}
        rows = [whole[kind](round(value, 6)) for value, kind in ends]
        return [f"{value:,.0f}" for value in values], [f"{row:,}" for row in rows]
    # Beside a share of the unlabeled rows stands what is ruled out of them.
    limits: list[tuple[float, End]] = []
    if _kind(evaluation) == "unlabeled_prevalence":
        limits = [(evaluation.unknowns.limit, "above")]
    said, ends_text = percents_beside(
        values, [*limits, *sorted(ends)], given=evaluation.unknowns.given
    )
    return said, ends_text[len(limits) :]


def _kind(evaluation: Evaluation) -> Given:
    """Return what was given; an estimated share is one of the unlabeled rows."""
    return evaluation.shares.given if evaluation.unknowns.given else "unlabeled_prevalence"


def _as_given(evaluation: Evaluation, share: float) -> float:
    """Return a share of hidden positives in terms of what was given."""
    if _kind(evaluation) == "unlabeled_prevalence":
        return share
    return evaluation.shares.stated(evaluation.counts, share)[1]


def _hold_ends(evaluation: Evaluation) -> list[tuple[bool, float]]:
    """Return the shares at which the claim starts (true) and ceases to hold; none if all do."""
    holds = evaluation.verdict.holds
    ends = []
    if holds is not None and holds.low > ROUNDING:
        ends.append((True, holds.low))
    if holds is not None and holds.high < evaluation.unknowns.limit - ROUNDING:
        ends.append((False, holds.high))
    return ends


def hidden_texts(evaluation: Evaluation, *, claiming: bool) -> tuple[str, str]:
    """Write the share of hidden positives and its limit, as beside the verdict if there is one."""
    shares = evaluation.shares
    same = claiming and _kind(evaluation) == "unlabeled_prevalence"
    ends: list[tuple[float, End]] = [
        (share, "least" if least else "most")
        for least, share in (_hold_ends(evaluation) if same else [])
    ]
    (taken,), (limit, *_) = percents_beside(
        [shares.unlabeled_prevalence],
        [(evaluation.unknowns.limit, "above"), *ends],
        given=evaluation.unknowns.given and shares.given == "unlabeled_prevalence",
    )
    return taken, limit


def claim_words(claim: Requirement | None, threshold: float | None = None) -> str:
    """Say a claim: "precision ≥ 60 %", with its threshold unless it is the evaluation's."""
    if claim is None:
        return ""
    name = claim.name
    own = name.top is None and name.threshold in (None, threshold)
    at = "" if own else place_words(name.threshold, name.top)
    sign = {">=": "≥", "<=": "≤"}.get(claim.sign, claim.sign)
    # Areas, correlations and ratios are said as numbers, rates as percentages.
    plain = name.metric in SWEPT_AREAS or name.metric in ("mcc", "kappa") or abs(claim.value) > 1
    goal = short_number(claim.value) if plain else goal_percent(claim.value)
    where = where_words(claim.deploy_prevalence)
    return f"{metric_title(name.metric)}{at} {sign} {goal}{where}"


def judged_words(evaluation: Evaluation) -> str:
    """Say what is judged and how it was chosen; why nothing is, if so."""
    verdict = evaluation.verdict
    if verdict.light == "none":
        return "scores alone suggest no target: set your own"
    if verdict.claim is None:
        return "nothing can be claimed"
    how = "as required" if verdict.required else SUGGESTED
    return f"{claim_words(verdict.claim, evaluation.threshold)} ({how})"


def outcome_words(evaluation: Evaluation) -> list[tuple[Outcome, str]]:
    """Say of each requirement, the worst first, whether it is met, and what was found."""
    return [
        (judgement.outcome, judgement.words.removeprefix(f"{judgement.subject}: "))
        for judgement in evaluation.judgements
    ]


def change_words(evaluation: Evaluation) -> str:
    """Say what would change the conclusion: how far share and labelling may move."""
    verdict = evaluation.verdict
    if verdict.claim is None:
        return _nothing_words(evaluation)
    name = claim_words(verdict.claim, evaluation.threshold)
    if verdict.reason is not None:
        return f"{name} cannot be claimed while {verdict.reason.code} stands"
    if evaluation.basis.overturned_by:
        return evaluation.basis.overturned_by
    if evaluation.basis.odds_words is not None:
        return _odds_change(evaluation.basis.odds_words, name, verdict.odds_ratio)
    if verdict.doubt is not None:
        return f"{name} {_hold_words(evaluation)} · if the model was not trained on these rows"
    return f"{name} {_hold_words(evaluation)}"


def _hold_words(evaluation: Evaluation) -> str:
    """Say at which shares, and up to which labelling bias, a claim holds."""
    verdict = evaluation.verdict
    if verdict.holds is None:
        return NOWHERE
    limits = share_words(evaluation)
    if verdict.light == "unsupported" or not _held(evaluation):
        return f"would hold only {limits or 'at shares that the scores rule out'}"
    if not math.isfinite(verdict.odds_ratio):
        return f"holds {limits or _whatever_words(verdict.claim)}"
    gamma = _odds_words(verdict.odds_ratio)
    span = evaluation.shares.unlabeled_prevalence_interval
    where = TAKEN_ALONE if span is not None and span.low < span.high else ""
    bias = f"if labelling favours no positive by more than Γ = {gamma} (odds of a label{where})"
    return f"holds {f'{limits}, and' if limits else f'{_whatever_words(verdict.claim)},'} {bias}"


def _whatever_words(claim: Requirement | None) -> str:
    """Say that no share matters to a claim, though one does to the value of its metric, if so."""
    moves = claim is not None and FACTS[claim.metric].needs_prevalence
    here = " of these rows" if claim is not None and claim.deploy_prevalence is not None else ""
    return f"whatever the prevalence{here}{' (the value needs it)' if moves else ''}"


def _odds_words(odds_ratio: float) -> str:
    """Write a bias that a claim survives with three digits, rounded down, so that it does."""
    place = 10.0 ** (2 - math.floor(math.log10(odds_ratio)))
    return f"{math.floor(odds_ratio * place * (1 + ROUNDING)) / place:g}"


def _odds_change(words: OddsWords, name: str, odds_ratio: float) -> str:
    """Say how wrong the odds of a label may be while a claim holds."""
    if math.isnan(odds_ratio):
        return words.none
    if math.isinf(odds_ratio):
        return words.whatever.format(name=name)
    return words.below.format(name=name, gamma=_odds_words(odds_ratio))


def _held(evaluation: Evaluation) -> bool:
    holds = evaluation.verdict.holds
    return holds is not None and evaluation.shares.unlabeled_prevalence in holds


def share_words(evaluation: Evaluation) -> str:
    """Say the shares at which a claim holds, in terms of what was given; nothing if all do."""
    ends = _hold_ends(evaluation)
    if not ends:
        return ""
    given = _kind(evaluation)
    words, grows = CONDITION_BY_GIVEN[given]
    of_rows = {"prevalence": OF_THESE_ROWS} if _elsewhere(evaluation) else CONDITION_OF_ROWS
    form = {"unlabeled_prevalence": OF_UNLABELED, **of_rows}.get(given, words)
    said = _range_words(_share_texts(evaluation)[1], least=ends[0][0] == grows)
    return f"if {form.format(said)}"


def _range_words(said: list[str], *, least: bool) -> str:
    """Say one end, or two: those that are one number when rounded as such."""
    if len(said) == 1:
        return f"at {'least' if least else 'most'} {said[0]}"
    return f"about {said[0]}" if said[0] == said[1] else f"between {said[0]} and {said[1]}"


def _nothing_words(evaluation: Evaluation) -> str:
    verdict = evaluation.verdict
    if verdict.light == "none":
        return SETTLING
    if verdict.light == "open":
        return "more verdicts"
    if verdict.reason is not None and verdict.reason.advice:
        return verdict.reason.advice
    if evaluation.top is not None:
        return "more labels: chance alone may leave no real case among the highest rows"
    if evaluation.threshold is None:
        return "other scores: these do not rank positives above negatives"
    return _no_precision_words(evaluation, evaluation.threshold)


def _no_precision_words(evaluation: Evaluation, threshold: float) -> str:
    """Say what would allow a claim of the precision at a threshold."""
    rows = {row.metric: row for row in reversed(evaluation.rows)}
    row = rows.get("precision")
    if row is None or not row.estimate.exists:
        return "another threshold: no row is flagged at this one"
    if row.estimate.range_only:
        return SETTLING
    if row.estimate.value <= 0:
        return "another threshold: no row flagged at this one is estimated to be real"
    if "recall" in rows and rows["recall"].estimate.high < _flagged_share(evaluation, threshold):
        return "another threshold, or other scores: rows flagged at random are real more often"
    random = "rows flagged at random may be real as often"
    chance = "at this threshold chance alone may leave no real case"
    is_given = evaluation.source != "estimated" or row.estimate.low <= 0
    remedy = "more labels" if is_given else SETTLING
    return f"{remedy}: {random if row.estimate.low > 0 else chance}"


def _flagged_share(evaluation: Evaluation, threshold: float) -> float:
    """Return the share of rows at or above a threshold: the recall of rows flagged at random.

    In case-control data the labelled rows are none of the target's.
    """
    counts = evaluation.counts
    rows = counts.unlabeled
    if evaluation.shares.sampling == "single-sample":
        rows = rows + counts.positive + counts.negative
    return float(rows[counts.score >= threshold].sum() / rows.sum())
