"""What reviews make of an evaluation: two answers, and which of them to believe."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from undercount.checks.given_prevalence import (
    CONTRADICTED_AT,
    DOUBTED_AT,
    given_prevalence_check,
)
from undercount.counts import ScoreCounts
from undercount.curve import OperatingCurve
from undercount.errors import CODES, Check, InputError, named, wording
from undercount.estimate import Estimate
from undercount.infer.mixture import Target
from undercount.infer.reviews.clusters import ReviewClusters
from undercount.infer.reviews.intervals import ReviewedMetrics
from undercount.infer.reviews.label_test import LabelTest
from undercount.infer.reviews.part_of_rows import PartCells, reviews_of_part
from undercount.infer.reviews.verdicts import (
    AuditedCells,
    CrossedCells,
    IntArray,
    ReviewedCells,
    Reviews,
    curve_of,
    design_posterior,
    keep_apart,
    places_in,
)
from undercount.infer.reviews.with_labels import CombinedMetrics, LabelledStrata
from undercount.infer.scored_rows import UNLABELED, ScoredRows
from undercount.metric_facts import FACTS, RANDOM_AUDIT
from undercount.shares import Sampling, Shares

Labels: TypeAlias = Literal["any", "random"]
LABEL_ROLES: tuple[Labels, ...] = ("any", "random")
PASS_ANY = wording('pass Reviewed(…, labels="any")', "pass --labels any")
AREA_METRICS = frozenset(name for name, facts in FACTS.items() if facts.family == "area")
# The test of random labels rejects below this.
LABEL_TEST_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class ReviewAnswers:
    """Hold the verdicts on reviewed rows, and the answers with and without random labels.

    Attributes
    ----------
    reviews : Reviews
        The verdicts and their design.
    asked : {"any", "random"} or None
        What the headline supposes of the labels; None: nothing ("any"). Both answers are there.
    sequential : bool
        Whether intervals hold at every look while verdicts come in.
    crossed : callable, optional
        If the reviews were planned by another model's scores: how to read them by this one's. The
        answer then rests on reviews alone.
    audited : bool
        Whether the reviews are the known rows themselves, a random sample of all rows.
    clusters : ReviewClusters, optional
        Whose each row is, if rows and labels come in clusters.
    whole : ReviewAnswers, optional
        The answers of all rows, if these are a part of them.
    compared : bool
        Whether the user vouched for the labels and these rows are read by several models, which
        are compared by the reviews alone.
    prevalence : pair of float, optional
        Share of positives among the rows, if it is known, or a range of it.

    Notes
    -----
    Assumes: verdicts are right, and rows were drawn by the plan; with random labels, that labelled
    positives are a random sample of the positives too.
    Wrong when: somebody skips rows that are hard to judge; when labels prefer some positives, the
    answer with random labels is too high or too low. The test overlooks much of that, so that it
    chooses nothing: reviews alone lead unless the user vouches for the labels. It also rejects
    random labels if the rows were scored by a model that was trained on these very rows.

    Areas of pairs count a pair of rows between two neighbouring labelled scores one half where
    counts are compact: far less than their error. Average precision and the highest rows, in which
    a handful of rows decides, keep verdicts apart.

    Examples
    --------
    >>> import numpy as np
    >>> import undercount as uc
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.1
    >>> y = np.where(truth & (rng.random(5000) < 0.3), 1, 0)
    >>> score = rng.normal(2 * truth)
    >>> plan = uc.plan_reviews(y, score, unlabeled=0, budget=200, threshold=1.5)
    >>> reviews = plan.answered(truth[plan.rows])
    >>> evaluation = uc.evaluate(y, score, unlabeled=0, threshold=1.5, reviews=reviews)
    >>> evaluation.recovery.reviewed.n_answered, evaluation.recovery.reviewed.labels
    (200, 'any')
    >>> alone, joined = (evaluation.recovery.reviewed.estimate("recall", 1.5, labels=kind)
    ...                  for kind in ("any", "random"))
    >>> joined.standard_error < alone.standard_error
    True
    """

    counts: ScoreCounts = field(repr=False)
    reviews: Reviews = field(repr=False)
    asked: Labels | None = None
    sampling: Sampling = "single-sample"
    target: Target = "dataset"
    confidence_level: float = 0.95
    sequential: bool = False
    crossed: Callable[[ScoreCounts], CrossedCells] | None = field(default=None, repr=False)
    audited: bool = False
    clusters: ReviewClusters | None = field(default=None, repr=False)
    whole: "ReviewAnswers | None" = field(default=None, repr=False)
    compared: bool = False
    prevalence: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        known = isinstance(self.asked, str) and self.asked in LABEL_ROLES
        if self.asked is not None and not known:
            raise InputError(
                f"{named('labels')} must be one of {', '.join(LABEL_ROLES)}; got {self.asked!r}",
                argument="labels",
            )
        self._supposed(self.asked)

    def _supposed(self, labels: Labels | None) -> Labels:
        """Return what an answer supposes of the labels; raise if it cannot be supposed."""
        supposed = labels or self.labels
        if supposed == "random" and not self.joinable:
            raise InputError(
                f"{named('labels', repr('random'))} needs labelled positives that were part of "
                f"the rows, scored as the plan scored them; {PASS_ANY}",
                argument="labels",
            )
        return supposed

    @property
    def joinable(self) -> bool:
        """Whether labels can be joined with what reviews found: by the plan's own scores."""
        if self.audited or self.crossed is not None:
            return False
        return self.sampling == "single-sample" and self.counts.n_positive > 0

    @property
    def labels_tell(self) -> bool:
        """Whether labels, if they are random, add to what reviews of these rows say."""
        return self.joinable and not (self.whole is not None and self._own_strata.few_in_part)

    @property
    def roles(self) -> tuple[Labels, ...]:
        """What can be supposed of the labels: random ones and a known share need no verdicts."""
        return LABEL_ROLES if self.labels_tell and self.prevalence is None else ("any",)

    def named_needs(self, needs: tuple[str, ...]) -> tuple[str, ...]:
        """Name what numbers rest on: a plan draws the rows of reviews itself, an audit does not."""
        drawn_by = {"reviews": RANDOM_AUDIT} if self.audited else {}
        return tuple(drawn_by.get(need, need) for need in needs)

    @property
    def needs(self) -> tuple[str, ...]:
        """What the headline rests on, but for right labels."""
        labels = ("random labels",) if self.labels == "random" else ()
        share = () if self.prevalence is None else ("prevalence",)
        return self.named_needs(("reviews", *labels, *share))

    @property
    def n_planned(self) -> int:
        """Rows that the plan asked for."""
        return len(self.reviews.verdict)

    @property
    def n_answered(self) -> int:
        """Rows with a verdict."""
        return self.reviews.n_answered

    @property
    def n_positive(self) -> int:
        """Rows found positive."""
        return int((self.reviews.verdict == 1).sum())

    @cached_property
    def label_test(self) -> LabelTest | None:
        """The comparison of labelled positives with those that reviews found, where it is one."""
        counted = not self.counts.weighted or self.counts.rows is not None
        if not (self.joinable and counted):
            return None
        return LabelTest(self._own_strata.cells, self.clusters)

    @property
    def p_value(self) -> float:
        """Chance of labels as unlike the positives found, in score, if they were random.

        NaN where reviews found no positive to compare them with.
        """
        return float("nan") if self.label_test is None else self.label_test.p_value

    @property
    def rejected(self) -> bool:
        """Whether the test says that the labels are no random sample."""
        return self.p_value < LABEL_TEST_LEVEL

    @property
    def undecided(self) -> bool:
        """Whether a test that does not reject says nothing: it would overlook a strong preference.

        Strong are log odds of a label that rise by 1 with each standard deviation of the score.
        """
        test = self.label_test
        return test is not None and not self.rejected and not test.informed

    @property
    def weak_test(self) -> bool:
        """Whether labels or verdicts are too few for the test to notice half of that."""
        return self.label_test is None or not self.label_test.well_informed

    @property
    def labels(self) -> Labels:
        """What the headline supposes of the labels: nothing, unless the user vouches for them.

        A test that does not reject is no licence: where labels prefer easy positives and reviews
        find a dozen, it overlooks a bias that leaves recall covered in .40 of the draws.
        """
        return self.asked or "any"

    def cells(self, counts: ScoreCounts) -> ReviewedCells:
        """Return what is known of each cell of the counts."""
        if self.crossed is not None:
            return self.crossed(counts)
        if self.audited:
            share = np.full(len(counts.score), self.reviews.design.unlabeled_prevalence)
            return AuditedCells(counts, self.reviews, share)
        apart = self.sampling == "case-control"
        if self.whole is not None:
            whole = self.whole.cells(self.whole.counts)
            posterior = whole.posterior[places_in(whole.counts, counts)]
            return PartCells(counts, self.reviews, posterior, apart, whole=whole)
        posterior = design_posterior(counts, self.reviews.design)
        return ReviewedCells(counts, self.reviews, posterior, apart)

    @cached_property
    def area_counts(self) -> ScoreCounts:
        """The rows in cells by which areas are read, the same however they were counted."""
        if self.audited:  # whose verdicts are labels
            return self.counts.canonical
        if self.crossed is not None:
            return self.counts
        return self.counts.canonical_between(self.reviews.knots)

    def take(self, used: ScoredRows, place: IntArray, target: Target) -> "ReviewAnswers":
        """Return the answers of some of the rows, at these places among all."""
        if self.audited:
            whole = self.clusters is not None and self.clusters.drawn_whole
            reviews, clusters = used.audit(by_cluster=whole)
            about: dict[str, Any] = {"counts": used.counts, "reviews": reviews, "target": target}
            return replace(self, **about, clusters=clusters)
        rows = used.rows("by")
        hidden = rows.scores[rows.labels == UNLABELED].astype(np.float64)
        reviews = reviews_of_part(self.reviews, place, hidden)
        clusters = used.review_clusters(reviews)
        about = {"counts": used.counts, "reviews": reviews, "target": target}
        # The prevalence is that of all rows, not of these.
        about |= {"clusters": clusters, "whole": self, "prevalence": None}
        part = replace(self, **about, asked="any")
        return replace(part, asked=self.asked) if part.labels_tell else part

    def finer_cells(self, counts: ScoreCounts, fine: ScoreCounts) -> ReviewedCells:
        """Return what is known of the parts of cells: how likely a row is positive stays."""
        cells = self.cells(counts)
        return replace(cells, counts=fine, posterior=cells.posterior[places_in(counts, fine)])

    def _strata(self, counts: ScoreCounts) -> LabelledStrata:
        if counts is self.counts:
            return self._own_strata
        if counts is self.area_counts:
            return self._area_strata
        return self.strata_of(self.cells(counts))

    @cached_property
    def _own_strata(self) -> LabelledStrata:
        return self.strata_of(self.cells(self.counts))

    @cached_property
    def _area_strata(self) -> LabelledStrata:
        return self.strata_of(self.cells(self.area_counts))

    def strata_of(self, cells: ReviewedCells) -> LabelledStrata:
        """Join the reviews of some cells with the labels."""
        return LabelledStrata(cells, self.clusters)

    def metrics(
        self,
        labels: Labels | None = None,
        counts: ScoreCounts | None = None,
        *,
        ranked: bool = False,
    ) -> ReviewedMetrics | CombinedMetrics:
        """Return the estimator of metrics under what is supposed of the labels.

        Metrics of which the order of a handful of rows decides (`ranked`) are read from cells in
        which no verdict is tied with other rows.
        """
        rows = self.counts if counts is None else counts
        if ranked and self.crossed is None and not self.audited:
            cells = self.finer_cells(rows, keep_apart(rows, self.reviews))
            strata = self.strata_of(cells)
        else:
            strata = self._strata(rows)
        options: dict[str, Any] = {
            "target": self.target,
            "confidence_level": self.confidence_level,
            "sequential": self.sequential,
        }
        if self._supposed(labels) == "any":
            about = {**options, "clusters": self.clusters, "prevalence": self.prevalence}
            return ReviewedMetrics(strata.cells, **about)
        return CombinedMetrics(strata, **options)

    def estimate(
        self,
        metric: str,
        threshold: float | None = None,
        *,
        top: float | None = None,
        labels: Labels | None = None,
        counts: ScoreCounts | None = None,
        beta: float = 1.0,
        max_fpr: float | None = None,
        prevalence: float | None = None,
    ) -> Estimate:
        """Estimate a metric; without `labels`, as the headline does.

        A `prevalence` is that of other rows, where each class scores as it does here. `top` flags
        so many rows of the highest scores (below 1: that share of them) of these very rows; tied
        rows by chance.
        """
        if top is not None and (self.target == "population" or self.sampling == "case-control"):
            raise InputError(
                f"with reviews {named('top')} speaks of the rows at hand, a single sample with "
                f"{named('target', repr('dataset'))}; pass a {named('threshold')}",
                argument="top",
            )
        if top is None and metric in AREA_METRICS:
            counts = self.area_counts
        ranked = metric == "average_precision" or top is not None
        metrics = self.metrics(labels, counts, ranked=ranked)
        part = {} if max_fpr is None else {"max_fpr": max_fpr}
        if prevalence is not None:
            part["prevalence"] = prevalence
        result = metrics.estimate(metric, threshold, top=top, beta=beta, **part)
        return replace(result, needs=self.named_needs(result.needs))

    def curve(
        self, labels: Labels | None = None, counts: ScoreCounts | None = None
    ) -> OperatingCurve:
        """Return the curve; without `labels`, that of the headline."""
        return self._curve_of(self._strata(self.counts if counts is None else counts), labels)

    def fine_curve(self, fine: ScoreCounts) -> OperatingCurve:
        """Return the headline's curve at every score of finer counts of the same rows."""
        own = self.crossed is None and not self.audited
        cells = self.finer_cells(self.counts, fine) if own else self.cells(fine)
        return self._curve_of(self.strata_of(cells))

    def _curve_of(self, strata: LabelledStrata, labels: Labels | None = None) -> OperatingCurve:
        if self._supposed(labels) == "any":
            cells = strata.cells
            # Where verdicts are too few for one, the curve that they make likely is drawn.
            if self.prevalence is not None:
                metrics = ReviewedMetrics(cells, prevalence=self.prevalence)
                return curve_of(cells, metrics.positives("recall"))
            return curve_of(cells, None if cells.possible else cells.likely)
        return curve_of(strata.cells, strata.positive)

    def share(self) -> Estimate:
        """Return the share of positives among the unlabeled rows, as the headline has it."""
        prevalence, counts = self.estimate("prevalence"), self.counts
        rows = counts.n_unlabeled if self.sampling == "case-control" else counts.n_rows
        labelled = 0.0 if self.sampling == "case-control" else counts.n_positive
        value, low, high = (
            min(max((share * rows - labelled) / counts.n_unlabeled, 0.0), 1 - 1e-9)
            for share in (prevalence.value, prevalence.low, prevalence.high)
        )
        error = prevalence.standard_error * rows / counts.n_unlabeled
        return Estimate(
            value, low, high, error, self.confidence_level, prevalence.needs, prevalence.method
        )

    def shares(self) -> Shares:
        """Return the shares that the headline makes."""
        return Shares(self.share(), 1.0, self.sampling)

    def checks(self) -> list[Check]:
        """Return what labels, reviews and a given prevalence say of each other."""
        checks = [self.check()]
        if self.prevalence is not None:
            checks.append(self._prevalence_check(self.prevalence))
        if self.compared:
            message = (
                "models are compared by the reviews alone: random labels say how positives are "
                "spread over the scores of each model, not which of them both models find"
            )
            checks.append(Check(CODES["labels-and-reviews"], "info", message))
        return checks

    def _prevalence_check(self, given: tuple[float, float]) -> Check:
        cells, more = self._own_strata.cells, (self.sequential, self.clusters)
        doubted, contradicted = (
            ReviewedMetrics(cells, "dataset", level, *more).estimate("prevalence").interval
            for level in (DOUBTED_AT, CONTRADICTED_AT)
        )
        return given_prevalence_check(given, doubted, contradicted)

    def check(self) -> Check:
        """UC015: labelled positives should score like the positives that reviews found."""
        code = CODES["labels-and-reviews"]
        if self.audited:
            message = (
                f"{self.n_answered:,} rows known in both classes are taken for a random sample of "
                "all rows, as was said"
            )
            return Check(code, "info", message, "make sure that nobody picked them by score")
        answered = f"{self.n_answered:,} of {self.n_planned:,} planned reviews answered"
        if self.label_test is None:
            return Check(code, "info", f"{answered}; labels are not used")
        used = "; they are used with the reviews, as was said" if self.labels == "random" else ""
        if self.undecided:
            message = (
                f"{answered}: whether labels are a random sample of the positives cannot be said "
                f"yet ({self.label_test.words}){used}"
            )
            return Check(code, "info", message, self.label_test.further_words)
        test = f"p = {self.p_value:.2g}"
        if not self.rejected:
            few = "; the test sees little with so few" if self.weak_test else ""
            message = f"{answered}: labels show no difference from a random sample of the "
            message += f"positives ({test})"
            return Check(code, "ok", f"{message}{used}{few}")
        message = (
            f"{answered}: the labelled positives do not score like the positives that reviews "
            f"found ({test}), as a random sample of all positives would"
        )
        if self.labels == "random":
            # A check is printed by Python and by the command alike.
            advice = 'rest on the reviews alone: Reviewed(…, labels="any"), or --labels any'
            return Check(code, "fail", message, advice)
        return Check(
            code,
            "warn",
            f"{message}; the answer rests on the reviews alone",
            "ask how rows came to be labelled, and whether the model was trained on these rows, "
            "which alone can do this; more reviews make the answer sharper",
        )
