"""Fit a selection model to weighted rows (Cook's steps 1 and 2), and read its curve (step 3)."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeAlias

from undercount.assume.selection.column_model import ColumnModel, fit_columns
from undercount.assume.selection.empirical_curve import EmpiricalReader, RowModel
from undercount.assume.selection.gaussian_curve import GaussianReader
from undercount.assume.selection.hidden_model import HiddenModel, fit_hidden
from undercount.assume.selection.sample import SelectionSample, StandardColumns, standardise
from undercount.assume.selection.score_scale import ScoreScale, possible_scales
from undercount.curve import FloatArray
from undercount.errors import InputError, named

LATENT = ("own-score", "observed-score", "unobserved")
CurveReader: TypeAlias = EmpiricalReader | GaussianReader


@dataclass(frozen=True, eq=False)
class SelectionFit:
    """Hold a fitted model with all that it was fitted to, to read it or to fit it again."""

    method: str
    distribution: str
    sample: SelectionSample
    weight: FloatArray
    link: str
    columns: StandardColumns
    model: RowModel

    def refit(self, weight: FloatArray) -> "SelectionFit":
        """Fit the same model, on the same scale of the score, to resampled rows; this fit helps."""
        question = (self.method, self.distribution, self.sample, weight)
        return fit_selection(*question, scales=self.columns.scales, link=self.link, near=self.model)

    @cached_property
    def _reader(self) -> EmpiricalReader:
        """Kept, because what a reader finds out about the rows serves every metric."""
        return EmpiricalReader(self.sample, self.weight, self.model)

    def reader(self, metric: str = "roc_auc", model: RowModel | None = None) -> CurveReader:
        """Return what draws the curve and reads a metric (step 3), of another model if given."""
        model = self.model if model is None else model
        empirical = self.distribution == "empirical" and metric != "correlation"
        if empirical or self.method not in LATENT or self.link != "probit":
            if model is self.model:
                return self._reader
            return EmpiricalReader(self.sample, self.weight, model)
        ranks = self.distribution == "copula"
        return GaussianReader(self.sample, self.weight, model, self.columns, ranks)


def fit_selection(
    method: str,
    distribution: str,
    sample: SelectionSample,
    weight: FloatArray,
    *,
    scales: tuple[ScoreScale, ScoreScale] = (ScoreScale(), ScoreScale()),
    link: str = "probit",
    near: RowModel | None = None,
) -> SelectionFit:
    """Standardise (step 1) and fit (step 2); a model fitted to similar weights helps."""
    columns = standardise(sample, weight, ranks=distribution == "copula", scales=scales)
    model: RowModel
    if method == "unobserved":
        model = fit_hidden(sample, weight, columns, near if isinstance(near, HiddenModel) else None)
    else:
        guess = near if isinstance(near, ColumnModel) else None
        model = fit_columns(sample, weight, columns, method, link, guess)
    return SelectionFit(method, distribution, sample, weight, link, columns, model)


def fit_scales(
    method: str, distribution: str, sample: SelectionSample, *, scale: str, link: str
) -> list[SelectionFit]:
    """Fit on each scale that the scores allow; the likeliest comes first.

    The scale changes a regressor and neither the labels nor the choice, so that the likelihoods
    of the rows looked at may be compared.
    """
    weight, other = sample.weight, sample.selection_score
    # Ranks are the same on every scale.
    wish = "score" if distribution == "copula" and scale == "auto" else scale
    first = possible_scales(sample.score, weight, wish)
    if not first:
        raise InputError(
            f"{named('scale', repr(scale))} needs scores between 0 and 1, at most 5 % of them at "
            f"the ends; got {sample.score.min():.6g} to {sample.score.max():.6g}"
        )
    second = [ScoreScale()] if other is None else possible_scales(other, weight, wish)
    fits, refusal = [], None
    for scales in product(first, second or [ScoreScale()]):
        try:
            fit = fit_selection(method, distribution, sample, weight, scales=scales, link=link)
        except InputError as error:  # separated on this scale; another may do
            refusal = refusal or error
            continue
        fits.append(fit)
    if refusal is not None and not fits:
        raise refusal
    return sorted(fits, key=lambda fit: -fit.model.log_likelihood)
