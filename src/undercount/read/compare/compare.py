"""Several models on the same rows: which is better, and does that depend on the prevalence."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from undercount.assume.base import Assumption, Pairing, Recovery, ReportOptions
from undercount.assume.builder import assumption_of
from undercount.checks.percentages import percents_beside
from undercount.count.arrays import check_row_order
from undercount.count.columns import backend_of, is_frame, make_frame, take_columns
from undercount.count.tensors import rows_to_host
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import (
    CODES,
    MISSING_DATA,
    NOT_IDENTIFIED,
    InputError,
    check_choice,
    check_flag,
    check_name,
    named,
    read_threshold,
)
from undercount.estimate import Estimate, check_confidence_level
from undercount.infer.difference import PAIRED_AREAS, PAIRED_POINTS, TARGET_OF, Difference, Question
from undercount.infer.heads import threshold_of_top
from undercount.infer.metric_name import short_number
from undercount.infer.mixture import Target
from undercount.infer.resampled import Progress
from undercount.infer.reviews.verdicts import Reviews
from undercount.infer.scored_rows import count_model, name_columns, take_column
from undercount.infer.segmented_rows import RowSegmentation
from undercount.infer.workload import Workload
from undercount.metric_facts import FACTS, OUT_OF_FOLD, RIGHT_LABELS
from undercount.read.compare.comparisons import Comparisons, compare_segments
from undercount.read.compare.leaderboard import Standing, standings, turn
from undercount.read.evaluate_models import evaluate_models, make_whole
from undercount.read.evaluation import NO_ESTIMATE, Evaluation, render
from undercount.read.require.model_requirement import ModelRequirement, parse_conditions
from undercount.read.require.requirement import Requirement, Verdict, check_words
from undercount.read.segments.rows import segment_columns

# What is compared if each model flags as many rows: of so many, how many are real.
WORKLOAD_METRICS = ("precision", "recall")
# Shares of hidden positives along which metrics are followed.
FOLLOWED_SHARES = 101


@dataclass(frozen=True)
class Comparison:
    """Hold the evaluations of several models on the same rows and their paired differences.

    Attributes
    ----------
    evaluations : mapping
        Name of each model → its evaluation.
    differences : tuple of Difference
        Of every pair, metric by metric, at the models' thresholds.
    question : {"population", "rows"}
        What the differences speak of.
    rank_by : str
        The metric that decides which model is better.
    workload : Workload, optional
        The same if each model flags as many rows; None with labelling chances, which speak of
        thresholds, and with reviews if no `top` was asked for.
    pairing : Pairing
        The models side by side, from which the differences were made.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2000) < 0.3
    >>> y = np.where(truth & (rng.random(2000) < 0.5), 1, 0)
    >>> good, poor = rng.normal(2 * truth), rng.normal(truth)
    >>> comparison = uc.compare(y, {"good": good, "poor": poor}, unlabeled=0, prevalence=0.3)
    >>> comparison["good", "poor"]["roc_auc"].better_probability > 0.99
    True
    >>> [standing.name for standing in comparison.leaderboard()]
    ['good', 'poor']
    """

    evaluations: Mapping[str, Evaluation]
    differences: tuple[Difference, ...]
    question: Question
    rank_by: str
    workload: Workload | None
    pairing: Pairing = field(repr=False)

    @property
    def confidence_level(self) -> float:
        """Of all intervals and ranks."""
        return next(iter(self.evaluations.values())).confidence_level

    @property
    def first(self) -> Evaluation:
        """The evaluation of the first model: all rest on the same assumption."""
        return next(iter(self.evaluations.values()))

    @property
    def needs(self) -> tuple[str, ...]:
        """What the differences rest on, as each metric's `needs` says it of one model."""
        every_need = [need for gap in self.differences for need in gap.difference.needs]
        first = next(iter(self.evaluations.values()))
        share = first.unknowns.needs if "prevalence" in every_need else ()
        right = (RIGHT_LABELS,) if first.recovery.supposes_right_labels else ()
        return tuple(dict.fromkeys((*every_need, *share, *right, OUT_OF_FOLD)))

    def difference(
        self, metric: str, one: str | None = None, other: str | None = None
    ) -> Difference:
        """Return the difference of two models, one less the other (the first pair if not named)."""
        for argument, value in (("metric", metric), ("one", one), ("other", other)):
            if value is not None or argument == "metric":
                check_name(argument, value)
        for gap in self.differences:
            for way in (gap, turn(gap)):
                named_so = one in (None, way.one) and other in (None, way.other)
                if way.metric == metric and named_so:
                    return way
        metrics = sorted({gap.metric for gap in self.differences})
        pair = "" if one is other is None else f" of {one or 'any'} and {other or 'any'}"
        raise InputError(
            f"no difference{pair} in {metric!r}; metrics: {', '.join(metrics)} (others need a"
            " threshold)"
        )

    @overload
    def __getitem__(self, names: str) -> Evaluation: ...
    @overload
    def __getitem__(self, names: tuple[str, str]) -> dict[str, Difference]: ...
    def __getitem__(self, names: str | tuple[str, str]) -> Evaluation | dict[str, Difference]:
        """Return the evaluation of a model, or how much one model is better than another."""
        pair = (names,) if isinstance(names, str) else names
        missing = [name for name in pair if name not in self.evaluations]
        if missing:
            models = ", ".join(self.evaluations)
            raise InputError(f"models are {models}; got {', '.join(map(repr, missing))}")
        if isinstance(names, str):
            return self.evaluations[names]
        metrics = dict.fromkeys(gap.metric for gap in self.differences)
        return {metric: self.difference(metric, *names) for metric in metrics}

    @property
    def deploy_prevalence(self) -> float | None:
        """Share of positives where the models will work, if it was given."""
        return next(iter(self.evaluations.values())).deploy_prevalence

    def deployed(self, prevalence: float | None = None) -> tuple[Difference, ...]:
        """Return the differences where another share of rows is positive, with intervals.

        They speak of the population behind these rows, if positives and negatives score there as
        they do here (`Evaluation.deployed` has the models' own metrics).

        Parameters
        ----------
        prevalence : float, optional
            Share of positives there; by default the `deploy_prevalence` that `compare` was given.
        """
        asked = self.deploy_prevalence if prevalence is None else prevalence
        if asked is None:
            raise InputError(
                f"deployed() needs a prevalence; pass it, or {named('deploy_prevalence')} to "
                "compare",
                argument="deploy_prevalence",
            )
        share = self.first.recovery.read_prevalence(asked)
        metrics = (
            (*PAIRED_AREAS, *PAIRED_POINTS) if self.first.threshold is not None else PAIRED_AREAS
        )
        return self.pairing.carried(metrics, share)

    def leaderboard(
        self, metric: str | None = None, *, same_workload: bool = False
    ) -> tuple[Standing, ...]:
        """Put the models in order, with the ranks that chance leaves open.

        Parameters
        ----------
        metric : str, optional
            What decides; by default `rank_by`, or the precision of as many flagged rows.
        same_workload : bool
            Whether each model flags as many rows, or those at its own threshold.
        """
        check_flag("same_workload", same_workload)
        if same_workload and self.workload is None:
            raise InputError(
                "models are compared at their thresholds alone: with labelling chances always, "
                f"with reviews unless {named('top')} is given"
            )
        work = self.workload if same_workload else None
        every = self.differences if work is None else work.differences
        metric = ("precision" if same_workload else self.rank_by) if metric is None else metric
        check_name("metric", metric)
        gaps = [d for d in every if d.metric == metric]
        if not gaps and not (work is not None and work.by_verdicts and metric in WORKLOAD_METRICS):
            self.difference(metric)  # says which there are
            raise InputError(f"as many flagged rows are compared by {', '.join(WORKLOAD_METRICS)}")
        if work is not None:
            values = {name: estimates[metric] for name, estimates in work.values.items()}
        else:
            values = {name: self._reference(name, metric) for name in self.evaluations}
        standing = standings(values, gaps, self.confidence_level)
        if not self.leaves_open(metric):
            return standing
        return tuple(replace(place, value=math.nan) for place in standing)

    def _reference(self, name: str, metric: str) -> float:
        """Return what orders the models: a metric's value, or that at the share in use."""
        estimate = self.estimates_of(name)[metric]
        if not estimate.range_only:
            return estimate.value
        return self.pairing.reference(name, metric)

    def leaves_open(self, metric: str) -> bool:
        """Whether a metric depends on a share of which labels and scores leave a range only."""
        first = next(iter(self.evaluations.values()))
        return first.unknowns.range_only and FACTS[metric].needs_prevalence

    def estimates_of(self, name: str) -> dict[str, Estimate]:
        """Return what is known of a model at its threshold, by metric."""
        check_choice("name", name, tuple(self.evaluations))
        return {row.metric: row.estimate for row in self.evaluations[name].standard().rows}

    def across_shares(self, metric: str | None = None) -> dict[str, FloatArray]:
        """Follow a metric of every model along the share of hidden positives that scores allow.

        Returns
        -------
        dict
            "unlabeled_prevalence" → the shares, then the name of each model → its values.
        """
        metric = self.rank_by if metric is None else metric
        self.difference(metric)  # says which there are
        source = next(iter(self.evaluations.values())).basis.determined_by
        if source:
            raise InputError(
                f"the prevalence is determined by the {source}, and is not free to move; compare "
                "at other thresholds instead",
                code=NOT_IDENTIFIED,
            )
        return self.pairing.across(metric)

    def require(self, *conditions: str) -> Verdict:
        """Judge conditions such as "new.recall > old.recall" or "new.precision >= 0.7".

        Those that name no model are asked of each; those that name no threshold are read at the
        model's own. With a `deploy_prevalence` each is judged where that share of rows is positive,
        and says so.

        Returns
        -------
        Verdict
            True only if each condition holds on its whole interval; `outcome` is "met", "failed"
            or "inconclusive", and printed it says why.
        """
        thresholds = {name: evaluation.threshold for name, evaluation in self.evaluations.items()}
        return self.judge(parse_conditions(conditions, thresholds))

    def judge(self, conditions: Sequence[ModelRequirement | Requirement]) -> Verdict:
        """Judge conditions that were read before."""
        judgements = []
        for condition in conditions:
            if isinstance(condition, Requirement):
                judgements.append(self.evaluations[str(condition.name.model)].judge(condition))
                continue
            placed = replace(condition, deploy_prevalence=self.deploy_prevalence)
            required = self._difference_required(placed)
            checks = [
                c
                for name in (condition.one, condition.other)
                for c in self.evaluations[name].checks
            ]
            doubt = self._share_doubt(placed, required) or self._rounding_doubt(placed)
            judgements.append(placed.judge(self._name_needs(placed, required), checks, doubt))
        return Verdict(tuple(judgements))

    def _difference_required(self, contest: ModelRequirement) -> Difference:
        """Return the difference that a requirement is about, here or at another prevalence."""
        here = self.difference(contest.metric, contest.one, contest.other)
        if contest.deploy_prevalence is None:
            return here
        gaps = self.deployed(contest.deploy_prevalence)
        question = contest.metric, contest.one, contest.other
        ways = (way for gap in gaps for way in (gap, turn(gap)))
        answer = next((way for way in ways if (way.metric, way.one, way.other) == question), None)
        # These rows allow a share that the population does not, so that nothing is carried over.
        return answer or replace(here, difference=NO_ESTIMATE)

    def _name_needs(self, contest: ModelRequirement, found: Difference) -> Estimate:
        """Name what a requirement rests on: an order that no share turns needs none."""
        fixed = not found.depends_on_prevalence and contest.margin == 0
        here = fixed and contest.deploy_prevalence is None
        needs = (need for need in found.difference.needs if not (here and need == "prevalence"))
        return replace(found.difference, needs=tuple(dict.fromkeys(needs)))

    def _share_doubt(self, contest: ModelRequirement, found: Difference) -> str:
        """Say where a difference passes what is asked of it, if the share is only estimated.

        As for one model: what hangs on an estimated share is met, or failed, only if it is so at
        every share that the scores allow.
        """
        evaluation, prevalence = self.evaluations[contest.one], contest.deploy_prevalence
        fixed = not found.depends_on_prevalence and contest.margin == 0
        if fixed or not evaluation.recovery.share_estimated:
            return ""
        pair = contest.metric, contest.one, contest.other
        at = self.pairing.crossover(*pair, contest.margin, prevalence)
        if math.isnan(at):
            return ""
        taken = evaluation.shares.unlabeled_prevalence
        (here,), (turns,) = percents_beside([taken], [(at, "")])
        return (
            "it depends on the share of hidden positives, which is only estimated: the difference "
            f"passes {short_number(contest.margin)} at {turns} of the unlabeled rows, {here} are "
            "taken to be positive"
        )

    def _rounding_doubt(self, contest: ModelRequirement) -> str:
        """Say which rows score what a threshold is in single precision, if one is asked for."""
        if contest.metric not in PAIRED_POINTS:
            return ""
        checks = (c for name in (contest.one, contest.other) for c in self.evaluations[name].checks)
        words = (check_words(check) for check in checks if check.code == CODES["rounding"])
        return next(words, "")

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the differences as a frame: pandas, polars or pyarrow.

        By default of the library whose frame was compared; for arrays, the first installed.
        """
        columns = self.table()
        for name in ("flagged", "crossover"):
            columns[name] = [math.nan if value is None else value for value in columns[name]]
        first = next(iter(self.evaluations.values()))
        return make_frame(columns, backend or first.backend)

    def table(self) -> dict[str, list[Any]]:
        """Return the differences as columns, ready for any data frame's constructor.

        `flagged` is empty at the models' own thresholds, else the rows that each model flags.
        """
        work = self.workload
        every = (*self.differences, *(() if work is None else work.differences))
        columns: dict[str, list[Any]] = {
            name: [getattr(d, name) for d in every] for name in ("metric", "one", "other")
        }
        apart = len(self.differences)
        columns["flagged"] = [None] * apart + [work and work.size] * (len(every) - apart)
        columns["difference"] = [d.difference.value for d in every]
        columns["low"] = [d.difference.low for d in every]
        columns["high"] = [d.difference.high for d in every]
        for name in ("better_probability", "p_value", "adjusted_p_value", "crossover"):
            columns[name] = [getattr(d, name) for d in every]
        columns["needs"] = [", ".join(d.difference.needs) for d in every]
        return columns

    def to_json(self) -> str:
        """Write the models and their differences as JSON of a versioned schema."""
        return str(render("comparison json", self))

    def to_markdown(self) -> str:
        """Write what is better, and the tables, as Markdown."""
        return str(render("comparison markdown", self))

    def to_latex(self) -> str:
        """Write the leaderboard as LaTeX."""
        return str(render("comparison latex", self))

    def to_csv(self) -> str:
        """Write the differences as CSV."""
        return str(render("comparison csv", self))

    def to_html(self, path: "str | Path") -> None:
        """Write a page that compares the models, whole or not at all."""
        render("comparison page", self, path)

    def _repr_html_(self) -> str:
        return str(render("comparison snippet", self))

    def __str__(self) -> str:
        return str(render("comparison text", self))

    def __repr__(self) -> str:
        return str(self)


class CompareOptions(TypedDict, total=False):
    """What `compare` takes, whether of all rows or of segments."""

    assume: Assumption | None
    label: str | None
    prevalence: Any
    unlabeled_prevalence: Any
    label_frequency: Any
    reviews: Reviews | str | Path | None
    unlabeled: float | None
    sample_weight: Any
    cluster: Any
    deploy_prevalence: float | None
    threshold: float | Mapping[str, float] | None
    top: float | None
    rank_by: str | None
    question: Question
    metrics: Sequence[str] | None
    target: Target | None
    confidence_level: float
    random_state: int | None
    progress: Progress | None


@overload
def compare(
    y: Any,
    scores: Mapping[str, Any] | Sequence[str],
    *,
    by: None = None,
    **options: Unpack[CompareOptions],
) -> Comparison: ...


@overload
def compare(
    y: Any, scores: Mapping[str, Any] | Sequence[str], *, by: Any, **options: Unpack[CompareOptions]
) -> Comparisons: ...


def compare(
    y: Any,
    scores: Mapping[str, Any] | Sequence[str],
    *,
    assume: Assumption | None = None,
    label: str | None = None,
    prevalence: Any = None,
    unlabeled_prevalence: Any = None,
    label_frequency: Any = None,
    reviews: Reviews | str | Path | None = None,
    unlabeled: float | None = None,
    sample_weight: Any = None,
    cluster: Any = None,
    deploy_prevalence: float | None = None,
    threshold: float | Mapping[str, float] | None = None,
    top: float | None = None,
    by: Any = None,
    rank_by: str | None = None,
    question: Question = "population",
    metrics: Sequence[str] | None = None,
    target: Target | None = None,
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    progress: Progress | None = None,
) -> Comparison | Comparisons:
    """Compare models on the same rows.

    A difference is that of the two evaluations; its standard error follows from what each row
    adds to the one minus what it adds to the other (for areas under ROC curves DeLong et al.
    1988), that of average precision in a single sample of pure labels from the paired jackknife.
    Where the size of a difference moves with the share of hidden positives, the share's own
    interval widens that of the difference. If no prevalence is given, one share is estimated for
    all models, from the scores that tell labelled from unlabeled rows best.

    Parameters
    ----------
    y : array-like or frame
        Labels as in `evaluate`, or a frame of any engine.
    scores : mapping or list of str
        Name of each model → its scores; of a frame the columns of scores, in a list or by the
        names of their models.
    assume : Assumption, optional
        How the labels came about, as in `evaluate`.
    label : str, optional
        Of a frame the column of labels.
    prevalence, unlabeled_prevalence, label_frequency, reviews, unlabeled, sample_weight, cluster
        As in `evaluate`.
    deploy_prevalence : float, optional
        As in `evaluate`, of every model.
    threshold : float or mapping, optional
        One for all models or one a model; adds metrics at a threshold.
    top : number, optional
        Rows that each model may flag, those with its highest scores, so that models are compared
        at the same work; by default as many as are labelled positive.
    by : array-like, str or list of str, optional
        The segment of each row, as in `evaluate`. The result then is one comparison for each
        segment, `Comparisons`.
    rank_by : str, optional
        The metric that decides; by default F1 at the thresholds, without them the ROC AUC.
        One that needs a threshold is read at each model's last of the `top` rows if none is given.
    question : {"population", "rows"}
        What differences, their intervals, p-values and chances of being better speak of. By
        default which model is better where these rows come from, as if other rows were drawn;
        "rows" asks which is better on these very rows, where only the choice of the labelled
        ones is random. Read as the first, the second calls equal models different too often, the
        more so the more positives are labelled. The models' own numbers keep their `target`.
    metrics, target, confidence_level, random_state, progress
        As in `evaluate`, of every model.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives, for every model alike.
    Wrong when: one of the models was used to decide which rows to label; or the models learnt
    from the labels they are judged by, out of fold too: intervals take the scores as fixed, and
    with few labels hold the difference too rarely, for ``question="rows"`` most.

    Examples
    --------
    >>> import undercount as uc
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.random(2000) < 0.3
    >>> y = truth & (rng.random(2000) < 0.5)
    >>> models = {"a": rng.normal(1.5 * truth), "b": rng.normal(truth)}
    >>> comparison = uc.compare(y, models, unlabeled=0, prevalence=0.3)
    >>> comparison.difference("roc_auc").depends_on_prevalence
    False
    """
    backend, frame = "", None
    if label is not None or is_frame(y):
        backend = backend_of(y) if is_frame(y) else ""
        frame = y
        cluster = take_column(y, "cluster", cluster)
        sample_weight = take_column(y, "sample_weight", sample_weight)
        y, scores = _take_models(y, label, scores)
    if isinstance(y, Mapping | ScoreCounts):
        raise InputError(
            "models are compared on the same rows, and counts of their scores do not say which "
            "rows those are: pass labels and the scores of each model, as arrays or a frame",
            code=MISSING_DATA,
            argument="y",
        )
    if not isinstance(scores, Mapping):
        raise InputError(
            f"scores must map names to scores, {{'new': a, 'old': b}}; got {type(scores).__name__}"
        )
    y, scores = rows_to_host(y, scores, sample_weight)
    if len(scores) < 2:  # noqa: PLR2004 - a comparison needs two
        raise InputError(f"compare needs at least two models; got {list(scores)}")
    check_choice("question", question, tuple(TARGET_OF))
    if rank_by is not None:
        check_name("rank_by", rank_by)
    level = check_confidence_level(confidence_level)
    wanted = ReportOptions(target, level, None, metrics, random_state, progress)
    assumption = assumption_of(
        assume,
        prevalence=prevalence,
        unlabeled_prevalence=unlabeled_prevalence,
        label_frequency=label_frequency,
        reviews=reviews,
    )
    columns = assumption.columns
    if frame is not None:
        columns = {name: take_column(frame, name, each) for name, each in columns.items()}
        assumption = assumption.with_columns(columns)
    _check_comparable(assumption)
    thresholds, first_score = _thresholds(threshold, scores), next(iter(scores.values()))
    check_row_order(y=y, score=first_score, cluster=cluster, **columns)
    at_top = rank_by in PAIRED_POINTS and not assumption.apart
    thresholds = thresholds or _top_thresholds(
        top if at_top else None, y, scores, unlabeled, sample_weight
    )
    counted = {}
    for name, score in scores.items():
        rows = unlabeled, sample_weight, thresholds.get(name), assumption.knots
        model = count_model(y, score, *rows, compact=not assumption.every_score)
        counted[name] = replace(model.with_clusters(cluster), backend=backend)
    asked = ModelQuestion(thresholds, question, top, rank_by, deploy_prevalence, wanted)
    if by is None:
        return asked.compare(evaluate_models(counted, wanted, assumption))
    segmentation = _segmentation(frame, by)
    assumption.check_rows(next(iter(counted.values())))
    segments = assumption.recover_segments(counted, segmentation, wanted)
    return compare_segments(segments, segmentation.column, wanted.target, asked.compare_recoveries)


@dataclass(frozen=True)
class ModelQuestion:
    """Hold what is asked of models side by side, whether on all rows or in a segment."""

    thresholds: Mapping[str, float]
    question: Question
    top: Any
    rank_by: str | None
    deploy_prevalence: Any
    wanted: ReportOptions

    def compare_recoveries(self, recoveries: Mapping[str, Recovery]) -> Comparison:
        """Evaluate each model, and put them side by side."""
        return self.compare(
            {name: make_whole(name, each, self.wanted) for name, each in recoveries.items()}
        )

    def compare(self, evaluations: Mapping[str, Evaluation]) -> Comparison:
        """Put evaluations of models side by side."""
        first, there = next(iter(evaluations.values())), self.deploy_prevalence
        if there is not None:
            there = first.recovery.read_prevalence(there)
        evaluations = {n: replace(each, deploy_prevalence=there) for n, each in evaluations.items()}
        metrics = (*PAIRED_AREAS, *PAIRED_POINTS) if self.thresholds else PAIRED_AREAS
        rank_by = self.rank_by or ("f1" if self.thresholds else "roc_auc")
        if rank_by not in metrics:
            hint = "; give a threshold" if rank_by in PAIRED_POINTS else ""
            raise InputError(
                f"{named('rank_by')} must be one of {', '.join(metrics)}; got {rank_by!r}{hint}"
            )
        recoveries = {name: each.recovery for name, each in evaluations.items()}
        tables = {
            name: {row.metric: row.estimate for row in each.standard().rows}
            for name, each in evaluations.items()
        }
        pairing = first.recovery.pair(recoveries, tables, self.thresholds, self.question, self.top)
        differences, workload = pairing.differences(metrics), pairing.workload()
        return Comparison(evaluations, differences, self.question, rank_by, workload, pairing)


def _segmentation(frame: Any, by: Any) -> RowSegmentation:
    """Return how rows fall into segments, by values or by columns of a frame."""
    if frame is None:
        return RowSegmentation(by)
    return segment_columns(frame, [by] if isinstance(by, str) else by)


def _check_comparable(assumption: Assumption) -> None:
    """Raise where a comparison has no answer, before any row is counted."""
    tests_only = "covariates" in assumption.columns and not assumption.fits_columns
    if tests_only:
        raise InputError(
            f"compare takes {named('covariates')} for LabelPropensity with a classifier; evaluate "
            "one model with them to test for fair labels",
            argument="covariates",
        )


def _take_models(frame: Any, label: Any, scores: Any) -> tuple[Any, dict[str, Any]]:
    """Take labels and the scores of each model out of a frame."""
    names = [scores] if isinstance(scores, str) else scores
    columns = dict(names) if isinstance(names, Mapping) else {name: name for name in names}
    columns_taken = take_columns(frame, name_columns(frame, label, list(columns.values())))
    return columns_taken[label], {name: columns_taken[column] for name, column in columns.items()}


def _top_thresholds(
    top: Any, y: Any, scores: Mapping[str, Any], unlabeled: float | None, weight: Any
) -> dict[str, float]:
    """Return the score of the last of so many highest rows of each model; nothing without `top`."""
    if top is None:
        return {}
    return {
        name: threshold_of_top(
            count_model(y, score, unlabeled, weight, None, compact=False).counts, top
        )[0]
        for name, score in scores.items()
    }


def _thresholds(
    threshold: float | Mapping[str, float] | None, scores: Mapping[str, Any]
) -> dict[str, float]:
    if threshold is None:
        return {}
    if isinstance(threshold, Mapping):
        missing = [name for name in scores if name not in threshold]
        if missing:
            raise InputError(f"threshold must name every model; {', '.join(missing)} is missing")
        return {name: read_threshold(threshold[name]) for name in scores}
    return dict.fromkeys(scores, read_threshold(threshold))
