"""Labels of both classes that exist only where somebody looked, as the user says it."""

from collections.abc import Hashable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from undercount.assume.base import Assumption, RecountsEveryScore, Recovery, ReportOptions
from undercount.assume.segments import SegmentRecoveries, require_place
from undercount.assume.selection.binary_regression import LINKS
from undercount.assume.selection.fit import LATENT, fit_scales
from undercount.assume.selection.model import SelectedModel
from undercount.assume.selection.recovery import SelectedRecovery, selected_unknowns
from undercount.assume.selection.sample import (
    COLLINEAR,
    SelectionSample,
    check_collinear,
    sample_counts,
    sample_rows,
    standardise,
)
from undercount.assume.selection.score_scale import MAPS
from undercount.count.kernel.array_library import is_tensor
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import MISSING_DATA, InputError, check_choice, keep_scores, named
from undercount.estimate import check_confidence_level
from undercount.infer.mixture import Target
from undercount.infer.scored_rows import COLLECT, RecountableRows, ScoredRows, count_model
from undercount.infer.segmented_rows import Segmentation

Method: TypeAlias = Literal[
    "own-score", "observed-score", "unobserved", "begg-greenes", "ipw", "doubly-robust"
]
Distribution: TypeAlias = Literal["empirical", "normal", "copula"]
METHODS_OF_COLUMNS = ("begg-greenes", "ipw", "doubly-robust")
METHODS = (*LATENT, *METHODS_OF_COLUMNS)
DISTRIBUTIONS = ("empirical", "normal", "copula")
FEWEST_RESAMPLES = 20


@dataclass(frozen=True, eq=False)
class SelectedLabels(Assumption):
    """Labels of both classes exist only where somebody looked, and a method says who chose.

    Parameters
    ----------
    method : str
        Who chose the rows: "own-score" the classifier under test (Cook 2016, eq. 14);
        "observed-score" another classifier whose score is known (appendix B); "unobserved"
        something unseen (eq. 15). Or, for rows chosen by known columns: "begg-greenes"
        (imputation), "ipw" (inverse weights), "doubly-robust" (both).
    selection_score : array-like or str, optional
        Score of the classifier that chose the rows, for "observed-score" and the last three.
    features : array-like, mapping, str or list of str, optional
        What else the choice rested on, a row of numbers for each row; of a frame the columns'
        names. For "unobserved" columns that moved the choice and, given the score, not the class.
    distribution : {"empirical", "normal", "copula"}
        How the first three methods average: over the "empirical" distribution of the score; the
        "normal" one of the paper; or a Gaussian "copula" (rank-normalised scores).
    scale : {"auto", "score", "logit", "probit"}
        On which the score enters: itself, its logit or its probit; "auto" takes the likeliest of
        those that the scores allow: for scores between 0 and 1 (at most 5 % at the ends) all three,
        else the score itself. Intervals hold those of every scale that the likelihood does not
        reject.
    link : {"probit", "logit"}
        Shape of the class in the columns; "logit" for all methods but "unobserved", with the
        "empirical" distribution. The choice is always a probit.
    n_resamples : int
        Resamples of rows where nothing else tells an interval: of a gain of `best_threshold`, and
        for "unobserved" of differences, weights and clusters.

    Notes
    -----
    Assumes: what `method` names was all that chose the rows, and the class follows a probit.
    Wrong when: whoever chose knew more; only "unobserved" allows that, at the price of wide
    intervals and of resting on normal shapes: alone, unless features moved the choice and not the
    class.

    In a comparison any or all of the models may have chosen: choice and class then rest on the
    scores of all of them, but for "unobserved", and so do the models' own numbers there. Segments
    are fitted by themselves, so that what a score means may differ between them.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.theory.simulation import simulate_own_score
    >>> data = simulate_own_score(5000, 0.7, random_state=1)
    >>> looked = uc.SelectedLabels("own-score")
    >>> evaluation = uc.evaluate(data.y, data.score, assume=looked)
    >>> round(evaluation.naive_curve.roc_auc, 2), round(evaluation.curve.roc_auc, 2)
    (0.72, 0.83)
    >>> 0.8296 in evaluation["roc_auc"].interval
    True
    """

    method: Method = "own-score"
    _: KW_ONLY
    selection_score: Any = None
    features: Any = None
    distribution: Distribution = "empirical"
    scale: Literal["auto", "score", "logit", "probit"] = "auto"
    link: Literal["probit", "logit"] = "probit"
    n_resamples: int = 200

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("distribution", self.distribution, DISTRIBUTIONS)
        check_choice("scale", self.scale, ("auto", *MAPS))
        check_choice("link", self.link, tuple(LINKS))
        if self.n_resamples < FEWEST_RESAMPLES:
            raise InputError(
                f"{named('n_resamples')} must be at least {FEWEST_RESAMPLES}; got "
                f"{self.n_resamples}",
                argument="n_resamples",
            )
        self._check_together()
        self._check_columns()

    def _check_together(self) -> None:
        """Raise if parameters do not belong together."""
        method, distribution, link = self.method, self.distribution, self.link
        if distribution != "empirical" and method not in LATENT:
            raise InputError(
                f"{method!r} averages over the rows; got "
                f"{named('distribution', repr(distribution))}. Leave it at 'empirical'"
            )
        if link != "probit" and method == "ipw":
            raise InputError(
                f"'ipw' does not model the class; got {named('link', repr(link))}. Leave it at "
                "'probit'"
            )
        if link != "probit" and (method == "unobserved" or distribution != "empirical"):
            raise InputError(
                f"{named('link', repr(link))} has no jointly normal parts, which 'unobserved' and "
                "the distributions 'normal' and 'copula' are made of. Leave it at 'probit'"
            )
        if distribution == "copula" and self.scale not in ("auto", "score"):
            raise InputError(
                f"{named('distribution', repr('copula'))} uses ranks, which are the same on every "
                f"scale; got {named('scale', repr(self.scale))}. Leave it at 'auto'"
            )

    def _check_columns(self) -> None:
        """Raise if a method lacks a column, or gets one that it would ignore."""
        method, chooser = self.method, self.selection_score is not None
        if method == "observed-score" and not chooser:
            raise InputError(
                f"'observed-score' needs {named('selection_score')}, the score that chose the rows",
                argument="selection_score",
            )
        if chooser and method in ("own-score", "unobserved"):
            raise InputError(
                f"{method!r} does not use {named('selection_score')}; "
                f"{named('method', repr('observed-score'))} does",
                argument="selection_score",
            )
        if self.features is not None and method in ("own-score", "observed-score"):
            raise InputError(
                f"{method!r} does not use {named('features')}; 'begg-greenes' "
                f"({named('features')} explain the choice) and 'unobserved' ({named('features')} "
                "move the choice, not the class) do",
                argument="features",
            )

    @property
    def columns(self) -> dict[str, Any]:
        """The score that chose, and what else the choice rested on."""
        columns = {"selection_score": self.selection_score, "features": self.features}
        return {name: values for name, values in columns.items() if values is not None}

    def with_columns(self, columns: Mapping[str, Any]) -> "SelectedLabels":
        """Return the same with columns that were taken out of a frame."""
        return replace(self, **columns)

    @property
    def every_score(self) -> bool:
        """Whether every score must be kept apart: each of them enters the regressions."""
        return True

    @property
    def of_any_rows(self) -> bool:
        """Whether nothing is said of single rows."""
        return not self.columns

    def part(self, place: NDArray[np.intp]) -> "SelectedLabels":
        """Return what is said of some of the rows."""
        columns: dict[str, Any] = {}
        if self.selection_score is not None:
            columns["selection_score"] = np.asarray(self.selection_score)[place]
        if isinstance(self.features, Mapping):
            columns["features"] = {n: np.asarray(v)[place] for n, v in self.features.items()}
        elif self.features is not None:
            columns["features"] = np.asarray(self.features)[place]
        return replace(self, **columns)

    def recover_segments(
        self, models: Mapping[str, ScoredRows], segmentation: Segmentation, wanted: ReportOptions
    ) -> SegmentRecoveries:
        """Fit each segment by itself, all models on the same rows."""
        found = super().recover_segments(models, segmentation, wanted)
        return SelectedSegments(found.whole, found.parts, self, wanted)

    def recover(
        self, models: Mapping[str, ScoredRows], wanted: ReportOptions
    ) -> dict[str, SelectedRecovery]:
        """Fit who was looked at, and the class, on the rows of each model."""
        fitted = {
            name: self.fit_rows(rows, wanted, row_by_row=len(models) > 1)
            for name, rows in models.items()
        }
        if self.method != "unobserved" and len(models) > 1:
            joint = replace(self, distribution="empirical")
            beside = {name: _other_scores(name, fitted) for name in models}
            fitted |= {
                name: joint.fit_rows(models[name], wanted, others, row_by_row=True)
                for name, others in beside.items()
                if others
            }
            choosers = self._compared_choosers(fitted)
            fitted = {name: replace(model, choosers=choosers) for name, model in fitted.items()}
        target = wanted.target or "population"
        return {
            name: SelectedRecovery(
                models[name],
                selected_unknowns(models[name].counts, model),
                target,
                wanted.confidence_level,
                model,
                self,
            )
            for name, model in fitted.items()
        }

    def _compared_choosers(self, fitted: Mapping[str, SelectedModel]) -> str:
        """Say what chose the rows where several models are judged on them."""
        if self.method in METHODS_OF_COLUMNS:
            return "the columns and the compared scores" if self.columns else "the compared scores"
        # A model of its own score is the one that chose, although another score was named.
        compared = any(model.method == "own-score" for model in fitted.values())
        return "the compared scores" if compared else "the compared and the selection scores"

    def fit(
        self,
        y: Any,
        score: Any,
        *,
        unlabeled: float | None = None,
        sample_weight: Any = None,
        confidence_level: float = 0.95,
        random_state: int | None = 0,
    ) -> SelectedModel:
        """Fit arrays and return the model alone, which `recovery.model` of an evaluation is too.

        Parameters
        ----------
        y, score, unlabeled, sample_weight, confidence_level, random_state
            As in `evaluate`.

        Examples
        --------
        >>> import undercount as uc
        >>> from undercount.theory.simulation import simulate_own_score
        >>> data = simulate_own_score(5000, 0.7, random_state=1)
        >>> model = uc.SelectedLabels("own-score").fit(data.y, data.score)
        >>> round(model.correlation, 1), list(model.coefficients)
        (0.7, ['outcome: intercept', 'outcome: score'])
        """
        level = check_confidence_level(confidence_level)
        rows = count_model(y, score, unlabeled, sample_weight, None, compact=False)
        return self.fit_rows(rows, ReportOptions(confidence_level=level, random_state=random_state))

    def fit_rows(
        self,
        rows: ScoredRows,
        wanted: ReportOptions,
        beside: Mapping[str, FloatArray] | None = None,
        *,
        row_by_row: bool = False,
    ) -> SelectedModel:
        """Fit the method to the rows of one model.

        Parameters
        ----------
        rows : ScoredRows
        wanted : ReportOptions
        beside : mapping, optional
            Scores of other models that may have chosen the rows too.
        row_by_row : bool
            Whether rows stay apart, as a comparison needs them.
        """
        method, chooser = self.method, self.selection_score
        if method == "observed-score" and _is_copy(_rows_of(rows).scores, chooser):
            method, chooser = "own-score", None  # this is the model that chose
        weighted = rows.counts.weighted or rows.clusters is not None
        if self.features is not None or chooser is not None or weighted or row_by_row:
            columns = self.features, beside or {}, chooser
            sample = sample_rows(_rows_of(rows), *columns, rows.cluster_codes)
        else:
            sample = sample_counts(_counts_of(rows))
        self._check_collinear(sample, method)
        fits = fit_scales(method, self.distribution, sample, scale=self.scale, link=self.link)
        about = wanted.confidence_level, wanted.random_state, self.n_resamples
        return SelectedModel(fits, *about)

    def _check_collinear(self, sample: SelectionSample, method: str) -> None:
        """Raise if columns follow from each other where a model is fitted on them."""
        columns = standardise(sample, sample.weight, ranks=False)
        check_collinear(sample, columns, among_looked=False)
        if method not in ("ipw", "unobserved"):
            check_collinear(sample, columns, among_looked=True)


def _rows_of(rows: ScoredRows) -> RecountableRows:
    """Return the rows in memory, which columns, weights and clusters speak of."""
    if isinstance(rows.recount, RecountableRows) and not is_tensor(rows.recount.scores):
        return rows.recount
    raise InputError(
        "columns beside the score, weights and clusters belong to rows, and these are counted. "
        f"Pass arrays, or {COLLECT}",
        code=MISSING_DATA,
    )


def _counts_of(rows: ScoredRows) -> ScoreCounts:
    """Return counts in which every score stands apart."""
    counts, recount = rows.counts, rows.recount
    if _merges(counts) and isinstance(recount, RecountsEveryScore):
        counts = recount.count_every_score()
    if _merges(counts):
        raise InputError(
            "who was looked at is fitted on every score, and these counts merge some: "
            f"{keep_scores('count with compact=False')}",
            code=MISSING_DATA,
        )
    return counts


def _merges(counts: ScoreCounts) -> bool:
    return counts.compact and bool(counts.merged.any())


def _is_copy(one: FloatArray, other: FloatArray) -> bool:
    """Whether two scores put the rows in the same order."""
    if len(one) != len(other):
        return False
    ranks, others = (np.unique(np.asarray(s), return_inverse=True)[1] for s in (one, other))
    return bool(np.array_equal(ranks, others))


def _other_scores(name: str, fitted: Mapping[str, SelectedModel]) -> dict[str, FloatArray]:
    """Return the other models' scores, each on its likeliest scale.

    Those that put rows in the same order as another, or follow from others (a mean of two models),
    say nothing new and are left out.
    """
    model = fitted[name]
    own, plain = model.fit.columns, standardise(model.sample, model.sample.weight, ranks=False)
    known = np.column_stack([own.design, plain.design[:, 1:]])
    others: dict[str, FloatArray] = {}
    for other, second in fitted.items():
        score = second.fit.columns.score
        copied = any(_is_copy(score, column) for column in (own.score, *others.values()))
        if other == name or copied or _follows_from(known, score):
            continue
        others[other] = score
        known = np.column_stack([known, score])
    return others


def _follows_from(known: FloatArray, column: FloatArray) -> bool:
    """Whether a column is a sum of known ones."""
    rest = column - known @ np.linalg.lstsq(known, column, rcond=None)[0]
    return bool(rest.var() <= COLLINEAR * column.var())


@dataclass(frozen=True, eq=False)
class SelectedSegments(SegmentRecoveries):
    """Segments that are fitted by themselves: what a score means may differ between them."""

    assumption: SelectedLabels
    wanted: ReportOptions

    def recover(self, segment: Hashable, target: Target) -> dict[str, Recovery]:
        """Fit the rows of one segment under each model."""
        models = {name: parts[segment].rows for name, parts in self.parts.items()}
        part = self.assumption.part(require_place(self.segments[segment].place))
        return dict(part.recover(models, self.wanted._replace(target=target)))
