"""Fit a selection model to weighted rows (Cook's steps 1 and 2), and read its curve (step 3)."""

from dataclasses import dataclass
from typing import TypeAlias

from undercount.assume.selection.column_model import ColumnModel, fit_columns
from undercount.assume.selection.empirical_curve import EmpiricalReader, RowModel
from undercount.assume.selection.gaussian_curve import GaussianReader
from undercount.assume.selection.hidden_model import HiddenModel, fit_hidden
from undercount.assume.selection.sample import SelectionSample, StandardColumns, standardise
from undercount.curve import FloatArray

LATENT = ("own-score", "observed-score", "unobserved")
CurveReader: TypeAlias = EmpiricalReader | GaussianReader


@dataclass(frozen=True, eq=False)
class SelectionFit:
    """Hold a fitted model with all that it was fitted to, to read it or to fit it again."""

    method: str
    distribution: str
    sample: SelectionSample
    weight: FloatArray
    columns: StandardColumns
    model: RowModel

    def refit(self, weight: FloatArray) -> "SelectionFit":
        """Fit the same model to resampled rows; this fit helps."""
        return fit_selection(self.method, self.distribution, self.sample, weight, self.model)

    def reader(self, metric: str = "roc_auc", model: RowModel | None = None) -> CurveReader:
        """Return what draws the curve and reads a metric (step 3), of another model if given."""
        model = self.model if model is None else model
        empirical = self.distribution == "empirical" and metric != "correlation"
        if empirical or self.method not in LATENT:
            return EmpiricalReader(self.sample, self.weight, model)
        ranks = self.distribution == "copula"
        return GaussianReader(self.sample, self.weight, model, self.columns, ranks)


def fit_selection(
    method: str,
    distribution: str,
    sample: SelectionSample,
    weight: FloatArray,
    near: RowModel | None = None,
) -> SelectionFit:
    """Standardise (step 1) and fit (step 2); a model fitted to similar weights helps."""
    columns = standardise(sample, weight, ranks=distribution == "copula")
    model: RowModel
    if method == "unobserved":
        model = fit_hidden(sample, weight, columns, near if isinstance(near, HiddenModel) else None)
    else:
        guess = near if isinstance(near, ColumnModel) else None
        model = fit_columns(sample, weight, columns, method, guess)
    return SelectionFit(method, distribution, sample, weight, columns, model)
