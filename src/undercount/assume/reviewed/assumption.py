"""Verdicts on rows that were drawn to be looked at, as the user says it."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, cast

from undercount.assume.base import Assumption, Recovery, ReportOptions
from undercount.assume.reviewed.answers import Labels, ReviewAnswers
from undercount.assume.reviewed.differences import plan_model
from undercount.assume.reviewed.recovery import AuditedRecovery, ReviewedRecovery, known_by_verdicts
from undercount.assume.segments import SegmentRecoveries, require_place
from undercount.counts import ScoreCounts
from undercount.errors import InputError, check_choice, check_flag, named, real_number
from undercount.infer.mixture import Target
from undercount.infer.reviews.sheet import as_reviews
from undercount.infer.reviews.verdicts import CrossedCells, Reviews
from undercount.infer.scored_rows import ScoredRows, reviewed_knots
from undercount.infer.segmented_rows import Segmentation
from undercount.shares import SAMPLINGS, Sampling


@dataclass(frozen=True, eq=False)
class Reviewed(Assumption):
    """Some rows, chosen by a plan, were looked at; their verdicts are right.

    Parameters
    ----------
    reviews : Reviews or path
        Verdicts on rows that `plan_reviews` chose, or the answered file of a plan.
    labels : {"any", "random"}, optional
        What to suppose of the labels: nothing, or that they are a random sample of the positives,
        which is sharper, and wrong if they are not. "any" by default: a test that does not reject
        random labels is no licence; `recovery.answers` has both. Models are compared by the
        reviews alone.
    sequential : bool
        Whether intervals shall hold at every look at once while verdicts come in, so that one may
        stop when they are narrow enough; they are about 1.5 times as wide.
    sampling : {"single-sample", "case-control"}
        Whether labelled rows were part of the sample before they were labelled.
    prevalence : number or (low, high), optional
        Share of positives among these rows, if it is known from elsewhere: recall then rests on
        what verdicts find among the flagged rows, and is a fifth to a third narrower. It goes with
        labels of which nothing is supposed: random ones and a share need no verdicts.

    Notes
    -----
    Assumes: verdicts are right, and rows were drawn by the plan; the prevalence, if it is given.
    Wrong when: somebody skips rows that are hard to judge; the prevalence is that of other rows.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.1
    >>> y, score = truth & (rng.random(5000) < 0.3), rng.normal(2 * truth)
    >>> plan = uc.plan_reviews(y, score, unlabeled=0, budget=200, threshold=1.5)
    >>> looked = uc.Reviewed(plan.answered(truth[plan.rows]))
    >>> evaluation = uc.evaluate(y, score, assume=looked, unlabeled=0, threshold=1.5)
    >>> evaluation["precision"].needs
    ('reviews', 'right labels')
    """

    reviews: Any
    _: KW_ONLY
    labels: Labels | None = None
    sequential: bool = False
    sampling: Sampling = "single-sample"
    prevalence: float | tuple[float, float] | None = None

    def __post_init__(self) -> None:
        known_share = _read_range(self.prevalence)
        if known_share is not None and isinstance(self.labels, str) and self.labels == "random":
            raise InputError(
                f"labels that are random and a known {named('prevalence')} tell every metric "
                f"without verdicts: RandomLabels(prevalence=…); pass verdicts with a known "
                f"prevalence as {named('labels', repr('any'))}",
                argument="prevalence",
            )
        object.__setattr__(self, "reviews", as_reviews(self.reviews))

    @property
    def every_score(self) -> bool:
        """Whether most unlabeled rows were reviewed."""
        return bool(self.reviews.mostly)

    @property
    def apart(self) -> bool:
        """Whether labelled and unlabeled rows were sampled separately (case-control)."""
        return self.sampling == "case-control"

    @property
    def further_plan(self) -> Reviews:
        """The verdicts, to which a further round can be added."""
        return cast("Reviews", self.reviews)

    def knots(self, scores: Any = None) -> Sequence[float]:
        """Return the edges of the strata, and what keeps reviewed rows apart from others."""
        reviews = self.reviews
        if scores is None or reviews.rows is None:
            return list(reviews.knots)
        return list(reviewed_knots(scores, reviews))

    def recover(
        self, models: Mapping[str, ScoredRows], wanted: ReportOptions
    ) -> dict[str, ReviewedRecovery]:
        """Read the reviews by each model."""
        check_choice("sampling", self.sampling, SAMPLINGS)
        check_flag("sequential", self.sequential)
        for model in models.values():
            model.counts.require("positive", "unlabeled")
        about: dict[str, Any] = {
            "sampling": self.sampling,
            "target": wanted.target or _usual_target(self.sampling),
            "confidence_level": wanted.confidence_level,
            "sequential": self.sequential,
            "prevalence": _read_range(self.prevalence),
        }
        for model in models.values():
            _check_prevalence(about["prevalence"], model.counts, apart=self.apart)
        if len(models) == 1:
            ((name, model),) = models.items()
            checked = model.reviews_of(self.reviews)
            # Rows of segments come here as they were counted for any assumption.
            models = {name: (model := model.keeping_apart(self.knots()))}
            about["clusters"] = model.review_clusters(checked)
            answers = {name: ReviewAnswers(model.counts, checked, self.labels, **about)}
        else:
            answers = self._of_models(models, about)
        return _recoveries(ReviewedRecovery, models, answers)

    def _of_models(
        self, models: Mapping[str, ScoredRows], about: dict[str, Any]
    ) -> dict[str, ReviewAnswers]:
        reviews = next(iter(models.values())).weigh_reviews(self.reviews)
        rows = {name: m.rows("reviews") for name, m in models.items()}
        planned = plan_model(reviews, {name: model.scores for name, model in rows.items()})
        counts, clusters = models[planned].counts, models[planned].review_clusters(reviews)
        plan = ReviewAnswers(counts, reviews, self.labels, **about, clusters=clusters)
        plan = replace(plan, asked="any", compared=self.labels == "random")
        return cross_models(plan, planned, models)

    def recover_segments(
        self, models: Mapping[str, ScoredRows], segmentation: Segmentation, wanted: ReportOptions
    ) -> SegmentRecoveries:
        """Take the verdicts of each segment; models share them there as in all rows."""
        found = super().recover_segments(models, segmentation, wanted)
        return found if len(models) == 1 else ReviewedSegments(found.whole, found.parts)


@dataclass(frozen=True, eq=False)
class ReviewedSegments(SegmentRecoveries):
    """Segments of several models, of which one planned the reviews."""

    def recover(self, segment: Hashable, target: Target) -> dict[str, Recovery]:
        """Return the recovery of one segment under each model."""
        whole = {name: cast("ReviewedRecovery", each).reviewed for name, each in self.whole.items()}
        planned = next(name for name, reviewed in whole.items() if reviewed.crossed is None)
        rows, place = self.parts[planned][segment]
        models = {name: parts[segment].rows for name, parts in self.parts.items()}
        models[planned] = rows.keeping_apart(whole[planned].reviews.knots)
        plan = whole[planned].take(models[planned], require_place(place), target)
        return dict(_recoveries(ReviewedRecovery, models, cross_models(plan, planned, models)))


def cross_models(
    plan: ReviewAnswers, planned: str, models: Mapping[str, ScoredRows]
) -> dict[str, ReviewAnswers]:
    """Return what verdicts say under each model, if one model's scores planned them."""
    rows = {name: model.rows("reviews") for name, model in models.items()}

    def crossed(name: str) -> Callable[[ScoreCounts], CrossedCells]:
        cells, plan_rows = plan.cells(plan.counts), rows[planned]
        about = cells, plan_rows.scores, plan_rows.labels, plan_rows.weights
        return lambda counts: CrossedCells.of(counts, rows[name].scores, *about)

    return {
        name: plan
        if name == planned
        else replace(
            plan,
            counts=model.counts,
            crossed=crossed(name),
            clusters=model.review_clusters(plan.reviews),
        )
        for name, model in models.items()
    }


@dataclass(frozen=True, eq=False)
class RandomAudit(Assumption):
    """The known rows, of both classes, are a random sample of all rows that somebody verified.

    Parameters
    ----------
    sequential : bool
        Whether intervals shall hold at every look at once while rows are verified.
    drawn : {"rows", "clusters"}
        Whether rows were drawn one by one, or whole clusters, all of whose rows are then known.

    Notes
    -----
    Assumes: nobody chose which rows to look at, by their score say; verdicts are right.
    Wrong when: rows that looked positive were looked at first.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth, score = rng.random(4000) < 0.2, rng.normal(size=4000)
    >>> y = np.where(rng.random(4000) < 0.1, truth, np.nan)
    >>> evaluation = uc.evaluate(y, score + 2 * truth, assume=uc.RandomAudit(), threshold=1)
    >>> evaluation["recall"].needs
    ('random audit', 'right labels')
    """

    sequential: bool = False
    _: KW_ONLY
    drawn: Literal["rows", "clusters"] = "rows"

    def __post_init__(self) -> None:
        check_choice("drawn", self.drawn, ("rows", "clusters"))

    @property
    def of_any_rows(self) -> bool:
        """Whether nothing is said of single rows."""
        return True

    def recover(
        self, models: Mapping[str, ScoredRows], wanted: ReportOptions
    ) -> dict[str, ReviewedRecovery]:
        """Read the known rows of each model as an audit of all."""
        for model in models.values():
            model.counts.require("positive", "unlabeled")
        about: dict[str, Any] = {
            "target": wanted.target or "dataset",
            "confidence_level": wanted.confidence_level,
            "sequential": self.sequential,
        }
        answers = {}
        for name, model in models.items():
            reviews, clusters = model.audit(by_cluster=self.drawn == "clusters")
            about["clusters"] = clusters
            answers[name] = ReviewAnswers(model.counts, reviews, "any", **about, audited=True)
        return _recoveries(AuditedRecovery, models, answers)


def _read_range(prevalence: Any) -> tuple[float, float] | None:
    """Return a prevalence, or a range of it, as two shares."""
    if prevalence is None:
        return None
    pair = prevalence if isinstance(prevalence, tuple | list) else (prevalence, prevalence)
    ends = [real_number(end) for end in pair]
    if len(ends) != 2 or not 0 < ends[0] <= ends[1] < 1:  # noqa: PLR2004 - low and high
        raise InputError(
            f"beside {named('reviews')} {named('prevalence')} must be a share in (0, 1), or a "
            f"range (low, high) of it; got {prevalence!r}",
            argument="prevalence",
        )
    return ends[0], ends[1]


def _check_prevalence(
    prevalence: tuple[float, float] | None, counts: ScoreCounts, *, apart: bool
) -> None:
    """Raise if fewer rows than are labelled would be positive, or more than can be."""
    if prevalence is None or apart:
        return
    least = counts.n_positive / counts.n_rows
    most = 1 - counts.n_negative / counts.n_rows
    if not least <= prevalence[0] <= prevalence[1] <= most:
        raise InputError(
            f"{named('prevalence')} must be at least {least:.4g} and at most {most:.4g}, since so "
            f"many rows are labelled positive, or not negative; got {prevalence}",
            argument="prevalence",
        )


def _usual_target(sampling: Sampling) -> str:
    return "dataset" if sampling == "single-sample" else "population"


def _recoveries(
    kind: type[ReviewedRecovery],
    models: Mapping[str, ScoredRows],
    reviewed: Mapping[str, ReviewAnswers],
) -> dict[str, ReviewedRecovery]:
    counts = {name: model.counts for name, model in models.items()}
    return {
        name: kind(
            models[name],
            known_by_verdicts(counts, answers),
            answers.target,
            answers.confidence_level,
            answers,
        )
        for name, answers in reviewed.items()
    }
