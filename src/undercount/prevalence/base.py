"""What every prevalence estimator shares: parameters, resampling, result."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from scipy.special import ndtri

from undercount.count.arrays import check_row_order
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError, check_choice, named
from undercount.estimate import Estimate, Interval, check_confidence_level
from undercount.prevalence.inputs import (
    as_counts,
    as_matrix,
    check_counts,
    check_sizes,
    label_masks,
    warn_about_scores,
    warn_about_size,
)
from undercount.prevalence.low_end import SCORES_ALONE
from undercount.prevalence.ranks import merge_cells, split_merged_cells
from undercount.shares import SAMPLINGS

if TYPE_CHECKING:

    class BaseEstimator:
        """What is used of scikit-learn's class; with an untyped base any argument would pass."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - as there
            """Return the parameters by name."""

        def set_params(self, **params: Any) -> Self:
            """Set parameters by name."""

else:
    from sklearn.base import BaseEstimator

ESTIMATOR_ASSUMES = ("random labels", SCORES_ALONE)
# A resample only has to show sampling noise, so it may work on coarse cells.
RESAMPLE_CELLS = 2048


@dataclass(frozen=True)
class Fitted:
    """What one method found on one set of counts (or rows).

    Examples
    --------
    >>> from undercount.prevalence import Fitted
    >>> Fitted(0.3, upper_bound=0.4).value
    0.3
    """

    value: float
    interval: Interval | None = None
    upper_bound: float | None = None
    diagnostics: dict[str, Any] = field(default_factory=dict)
    label_purity: float | None = None
    standard_error: float | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class PrevalenceEstimator(BaseEstimator):
    """Parameters and results common to score and feature estimators.

    A subclass with parameters of its own is made by `estimator`; what `fit` finds ends with an
    underscore.

    Parameters
    ----------
    sampling : {"single-sample", "case-control"}
        Whether the labelled rows were drawn from the same sample as the unlabeled ones; decides
        how resamples are drawn and what ``prevalence_`` and ``label_frequency_`` mean.
    confidence_level : float
    n_resamples : int
        Bootstrap resamples for ``interval_`` where the method has no interval of its own;
        0 means none, and ``interval_`` is then None.
    random_state : int, numpy.random.Generator or None

    Attributes
    ----------
    unlabeled_prevalence_ : float
        Share of positives among the unlabeled rows.
    interval_ : Interval or None
        Of that share: sampling noise only, unless the method says otherwise.
    prevalence_, label_frequency_ : float
        Share of positives among all rows, and share of the positives that carry a label.

    Examples
    --------
    >>> from undercount.prevalence import VerifiedSample
    >>> found = VerifiedSample().fit_counts(12, 40).estimate()  # every method has an estimate()
    >>> round(found.value, 3), found.method, found.needs
    (0.31, 'VerifiedSample', ('verified rows drawn at random',))
    """

    _needs: ClassVar[tuple[str, ...]] = ESTIMATOR_ASSUMES
    _pure_labels: ClassVar[bool] = False  # whether every label is taken for right

    sampling: str = "single-sample"
    confidence_level: float = 0.95
    n_resamples: int = 200
    random_state: Any = None

    def estimate(self) -> Estimate:
        """Return the fitted share of positives among the unlabeled as an Estimate."""
        if not hasattr(self, "unlabeled_prevalence_"):
            raise InputError(f"call fit before estimate; this {type(self).__name__} is not fitted")
        interval = self.interval_ or Interval(float("nan"), float("nan"))
        value, error, name = self.unlabeled_prevalence_, self.standard_error_, type(self).__name__
        low, high, level = interval.low, interval.high, self.confidence_level
        return Estimate(value, low, high, error, level, self._needs, name)

    def _check_parameters(self) -> None:
        check_choice("sampling", self.sampling, SAMPLINGS)
        check_confidence_level(self.confidence_level)
        if not isinstance(self.n_resamples, Integral) or self.n_resamples < 0:
            raise InputError(
                f"{named('n_resamples')} must be a whole number, not below 0; got "
                f"{self.n_resamples!r}"
            )

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.random_state)

    def _store(self, fitted: Fitted, resampled: FloatArray, *sizes: float) -> Self:
        """Keep what was found; sizes are the labelled, unlabeled and (if any) negative rows."""
        interval, error = self._read_noise(fitted, resampled)
        self.unlabeled_prevalence_ = float(fitted.value)
        self.interval_, self.standard_error_ = interval, error
        self.upper_bound_ = None if fitted.upper_bound is None else float(fitted.upper_bound)
        self.diagnostics_ = dict(fitted.diagnostics)
        self.n_labelled_, self.n_unlabeled_ = float(sizes[0]), float(sizes[1])
        self.n_negative_ = float(sum(sizes[2:]))
        if fitted.label_purity is not None:
            self.label_purity_ = float(fitted.label_purity)
        self._store_prevalence(1.0 if fitted.label_purity is None else fitted.label_purity)
        return self

    def _store_prevalence(self, purity: float) -> None:
        """Translate the share among the unlabeled (maths of both samplings)."""
        positives = purity * self.n_labelled_
        hidden = self.unlabeled_prevalence_ * self.n_unlabeled_
        single = self.sampling == "single-sample"
        total = self.n_labelled_ + self.n_unlabeled_ + self.n_negative_
        self.prevalence_ = (positives + hidden) / total if single else self.unlabeled_prevalence_
        # In case-control data the number of labels is the designer's choice.
        self.label_frequency_ = positives / (positives + hidden) if single else float("nan")

    def _read_noise(self, fitted: Fitted, resampled: FloatArray) -> tuple[Interval | None, float]:
        """Return interval and standard error: the method's own, or those of its resamples."""
        tail = (1 - self.confidence_level) / 2
        interval, error = fitted.interval, fitted.standard_error
        if interval is None and resampled.size:
            low, high = np.quantile(resampled, [tail, 1 - tail])
            # Resamples have more noise than the sample, and what leans with noise leans further
            # on them: their quantiles may all lie on one side of the estimate.
            interval = Interval(float(min(low, fitted.value)), float(max(high, fitted.value)))
            error = float(np.std(resampled, ddof=1)) if error is None else error
        if error is None and interval is not None:
            error = float((interval.high - interval.low) / (2 * ndtri(1 - tail)))
        return interval, float("nan") if error is None else error


Method = TypeVar("Method", bound=PrevalenceEstimator)
_EXAMPLE = """Examples
--------
>>> import numpy as np
>>> from undercount.prevalence import {name}
>>> rng = np.random.default_rng(0)
>>> score = np.concatenate([rng.normal(4, 1, 700), rng.normal(0, 1, 700)])
>>> y = np.where(np.arange(1400) < 400, 1, -1)  # 300 of the 1,000 unlabeled are positive
>>> found = {name}(n_resamples=0, random_state=0).fit(y, score, unlabeled=-1)
>>> round(found.unlabeled_prevalence_, 1)
0.3
"""


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[Method]) -> type[Method]:
    """Make a dataclass of a method; comparing and printing are left to scikit-learn.

    What the docstring does not say of parameters and attributes it takes from that of
    `PrevalenceEstimator`; a method without an example gets that of all.

    Examples
    --------
    >>> from undercount.prevalence import Dedpul
    >>> "Bootstrap resamples" in Dedpul.__doc__, "import Dedpul" in Dedpul.__doc__
    (True, True)
    """
    own = cls.__doc__
    decorated = dataclass(eq=False, repr=False, kw_only=True)(cls)
    if own and PrevalenceEstimator.__doc__ and not cls.__name__.startswith("_"):
        sections = _split_sections(own)
        for title, shared in _split_sections(PrevalenceEstimator.__doc__).items():
            if title in ("Parameters", "Attributes"):
                sections[title] = _join_entries(sections.pop(title, ""), shared)
        order = ("", "Parameters", "Attributes", "Notes", "References", "Examples")
        parts = [_write_section(title, sections[title]) for title in order if title in sections]
        if "Examples" not in sections:
            parts.append(_EXAMPLE.format(name=cls.__name__))
        decorated.__doc__ = "\n\n".join(parts)
    return decorated


def _split_sections(doc: str) -> dict[str, str]:
    """Return the text of each section by its title; what comes first has none."""
    first, *rest = re.split(r"(?m)^(\w+)\n-+\n", inspect.cleandoc(doc))
    return {"": first.strip()} | {
        title: text.strip() for title, text in zip(rest[::2], rest[1::2], strict=True)
    }


def _write_section(title: str, text: str) -> str:
    return f"{title}\n{'-' * len(title)}\n{text}" if title else text


def _join_entries(own: str, shared: str) -> str:
    """Add the shared entries that the own ones do not name."""
    names = " ".join(re.findall(r"(?m)^\w.*", own)).replace(",", " ").split()
    entries = re.split(r"\n(?=\w)", shared)
    missing = [entry for entry in entries if re.split(r"\W", entry)[0] not in names]
    return "\n".join(filter(None, [own, *missing]))


class ScoreEstimator(PrevalenceEstimator):
    """Estimators that need only the scores of labelled and unlabeled rows.

    A subclass writes ``_estimate(counts) -> Fitted`` on counts at distinct scores (descending);
    validation, resampling and the fitted attributes happen here. The order of arguments is
    ``fit(y, score)``, as in ``sklearn.metrics``, so scikit-learn's checks of ``fit(X, y)`` do not
    apply; parameters, cloning and ``repr`` follow scikit-learn.

    Examples
    --------
    >>> from undercount.prevalence import Fitted, ScoreEstimator
    >>> class Lowest(ScoreEstimator):
    ...     def _estimate(self, counts):
    ...         return Fitted(0.0)
    >>> found = Lowest(n_resamples=0).fit([1] * 20 + [None] * 60, [4, 3] * 10 + [3, 2, 1] * 20)
    >>> found.unlabeled_prevalence_, found.prevalence_
    (0.0, 0.25)
    """

    _pure_labels = True
    _resample_cells = RESAMPLE_CELLS
    _by_order = False  # whether nothing but the order of the scores is read
    _judges_scores = True  # whether labelled against unlabeled rows must tell something

    def fit(
        self, y: Any, score: Any = None, *, unlabeled: Any = None, sample_weight: Any = None
    ) -> Self:
        """Estimate the share of positives among the unlabeled rows.

        Parameters
        ----------
        y : array-like or ScoreCounts
            1 positive, 0 negative, missing unlabeled; or counts (also compact ones), and then
            ``score`` is omitted.
        score : array-like
            Scores of rows the scorer was not trained on.
        unlabeled : optional
            The value of ``y`` that means unlabeled (0 or -1, say).
        sample_weight : array-like, optional

        Returns
        -------
        self
        """
        self._check_parameters()
        counts = as_counts(y, score, unlabeled=unlabeled, sample_weight=sample_weight)
        # Ties of unlabeled rows that compact counts do not know must not decide.
        counts = split_merged_cells(counts if self.reads_scores() else counts.canonical)
        check_counts(counts)
        auc = counts.auc("positive", "unlabeled")
        if self._judges_scores:
            warn_about_scores(counts, auc)
        fitted = self._estimate(counts)
        fitted = replace(fitted, diagnostics={"auc_pu": auc, **fitted.diagnostics})
        resampled = np.empty(0)
        if fitted.interval is None and self.n_resamples:
            resampled = self._resample(counts)
        if fitted.interval is not None or resampled.size:
            warn_about_size(counts)
        sizes = counts.n_positive, counts.n_unlabeled, counts.n_negative
        return self._store(fitted, resampled, *sizes)

    def reads_scores(self) -> bool:
        """Whether the scores themselves may be read, and not their order alone."""
        return not self._by_order or getattr(self, "scale", "rank") == "score"

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        raise NotImplementedError

    def _resample(self, counts: ScoreCounts) -> FloatArray:
        """Return the estimates on resampled counts (documented as sampling noise only)."""
        rng = self._rng()
        method = self._resampling_method(counts, rng)
        draws = self._draw_counts(counts, rng)
        values = (method._estimate(draw).value for draw in draws)  # noqa: SLF001 - of this family
        estimates = np.fromiter(values, float)
        return np.asarray(estimates[np.isfinite(estimates)])

    def _resampling_method(
        self, _counts: ScoreCounts, _rng: np.random.Generator
    ) -> "ScoreEstimator":
        """Return the method to run on resamples: this one, unless another setting is quicker."""
        return self

    def _draw_counts(self, counts: ScoreCounts, rng: np.random.Generator) -> Iterator[ScoreCounts]:
        cells = merge_cells(counts, self._resample_cells)
        for _ in range(self.n_resamples):
            yield resample_counts(cells, rng, self.sampling)


class FeatureEstimator(PrevalenceEstimator):
    """Estimators that need the rows' features: ``fit(y, X)``.

    A subclass writes ``_estimate(labelled, unlabeled, rng) -> Fitted`` on two matrices of floats.
    The order of arguments follows ``fit(y, score)`` of the score methods; y has missing values.

    Examples
    --------
    >>> from undercount.prevalence import FeatureEstimator, Fitted
    >>> class Within(FeatureEstimator):  # rows within the range of the labelled ones
    ...     def _estimate(self, labelled, unlabeled, rng):
    ...         inside = (unlabeled >= labelled.min(axis=0)) & (unlabeled <= labelled.max(axis=0))
    ...         return Fitted(inside.all(axis=1).mean())
    >>> y, X = [1] * 10 + [None] * 4, [[3]] * 10 + [[3], [2], [1], [1]]
    >>> Within(n_resamples=0).fit(y, X).estimate().value
    0.25
    """

    _pure_labels = True

    def fit(self, y: Any, X: Any, *, unlabeled: Any = None) -> Self:
        """Estimate the share of positives among the unlabeled rows of X.

        Parameters
        ----------
        y : array-like
            1 positive, 0 negative, missing unlabeled.
        X : array-like of shape (n_rows, n_features)
        unlabeled : optional
            The value of ``y`` that means unlabeled (0 or -1, say).

        Returns
        -------
        self
        """
        self._check_parameters()
        check_row_order(y=y, X=X)
        features = as_matrix(X)
        is_positive, is_unlabeled = label_masks(y, len(features), unlabeled=unlabeled)
        labelled, rest = features[is_positive], features[is_unlabeled]
        check_sizes(len(labelled), len(rest))
        if not np.any(np.ptp(features, axis=0) > 0):
            raise InputError("X must vary; got the same row everywhere")
        rng = self._rng()
        fitted = self._estimate(labelled, rest, rng)
        n_resamples = self.n_resamples if fitted.interval is None else 0
        draws = ((_draw_rows(labelled, rng), _draw_rows(rest, rng)) for _ in range(n_resamples))
        resampled = np.array([self._estimate(*pair, rng).value for pair in draws], np.float64)
        self.n_features_in_ = features.shape[1]
        sizes = len(labelled), len(rest), len(features) - len(labelled) - len(rest)
        return self._store(fitted, resampled, *sizes)

    def _estimate(
        self, labelled: FloatArray, unlabeled: FloatArray, rng: np.random.Generator
    ) -> Fitted:
        raise NotImplementedError


def resample_counts(counts: ScoreCounts, rng: np.random.Generator, sampling: str) -> ScoreCounts:
    """Draw a bootstrap sample of the cells.

    In single-sample data the class sizes are random too; in case-control data they are fixed.
    Weighted counts are drawn at Kish's effective sizes and scaled back.
    """
    cells = np.stack([counts.positive, counts.negative, counts.unlabeled])
    totals = cells.sum(axis=1)
    sizes = np.array([counts.effective_size(c) for c in ("positive", "negative", "unlabeled")])
    drawn_sizes = sizes
    if sampling == "single-sample":
        drawn_sizes = rng.multinomial(round(sizes.sum()), sizes / sizes.sum()).astype(float)
    drawn = [
        _draw_cells(row, size, n_rows, rng)
        for row, size, n_rows in zip(cells, sizes, drawn_sizes, strict=True)
    ]
    weight = np.divide(totals, sizes, out=np.zeros(3), where=sizes > 0)  # of one row
    squared = np.array([row.sum() for row in drawn]) * weight
    return ScoreCounts.from_counts(
        counts.score, *drawn, squared_weight=(squared[0], squared[1], squared[2])
    )


def _draw_cells(
    cells: FloatArray, size: float, n_rows: float, rng: np.random.Generator
) -> FloatArray:
    total = cells.sum()
    if total == 0:
        return cells
    drawn = rng.multinomial(max(1, round(n_rows)), cells / total)
    return np.asarray(drawn * (total / size))


def _draw_rows(rows: FloatArray, rng: np.random.Generator) -> FloatArray:
    return rows[rng.integers(len(rows), size=len(rows))]
