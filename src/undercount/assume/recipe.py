"""From rows and weights to a fitted selection model, and from it to what reads metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

from undercount.assume.empirical import EmpiricalReader
from undercount.assume.gaussian import GaussianReader
from undercount.assume.latent import HiddenModel, OutcomeModel, fit_hidden, fit_outcome
from undercount.assume.request import LATENT
from undercount.assume.sample import Columns, Sample, standardise
from undercount.assume.spread import Reader
from undercount.assume.verification import VerificationModel, fit_verification
from undercount.errors import InputError
from undercount.rates import FloatArray

Model = OutcomeModel | HiddenModel | VerificationModel


@dataclass(frozen=True, eq=False)
class Solution:
    """Hold a fitted model with the weights and standardised columns it was fitted to."""

    model: Model
    weight: FloatArray
    columns: Columns


@dataclass(frozen=True, eq=False)
class Recipe:
    """Know how a method is fitted, so that it can be fitted again to resampled rows."""

    method: str
    distribution: str
    sample: Sample

    def solve(self, weight: FloatArray, near: Model | None = None) -> Solution:
        """Standardise (step 1) and fit (step 2); a model fitted to similar weights helps."""
        columns = standardise(self.sample, weight, ranks=self.distribution == "copula")
        model: Model
        if self.method == "unobserved":
            known = near if isinstance(near, HiddenModel) else None
            model = fit_hidden(self.sample, weight, columns, known)
        elif self.method in LATENT:
            other = self.method == "observed-score"
            start = None if near is None else near.coefficients
            model = fit_outcome(self.sample, weight, columns, other=other, start=start)
        else:
            model = fit_verification(self.sample, weight, columns, self.method)
        return Solution(model, weight, columns)

    def reader(self, solution: Solution, metric: str = "roc_auc") -> Reader:
        """Return what draws the curve and reads a metric (step 3)."""
        latent = metric == "correlation"
        if not latent and (self.distribution == "empirical" or self.method not in LATENT):
            return EmpiricalReader(self.sample, solution.weight, solution.model)
        return self.latent_reader(solution)

    def latent_reader(self, solution: Solution) -> GaussianReader:
        """Return what knows ρ and p*."""
        model, ranks = solution.model, self.distribution == "copula"
        if isinstance(model, VerificationModel):
            raise InputError(f"{self.method!r} has no latent propensity")
        return GaussianReader(self.sample, solution.weight, model, solution.columns, ranks)

    def readers(
        self, solution: Solution, models: Sequence[HiddenModel], metric: str
    ) -> list[Reader]:
        """Return the same for each model of a profile."""
        return [
            self.reader(Solution(model, solution.weight, solution.columns), metric)
            for model in models
        ]
