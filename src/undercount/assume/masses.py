"""What every model says of a row: how much positive and how much negative mass it carries."""

from typing import NamedTuple, Protocol

from undercount.rates import FloatArray


class Masses(NamedTuple):
    """Hold positive and negative mass a row, or their derivatives (one column a coefficient)."""

    positive: FloatArray
    negative: FloatArray


class MassModel(Protocol):
    """A fitted model whose masses, weighted, are the population."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients."""

    @property
    def coefficients(self) -> FloatArray:
        """Fitted coefficients."""

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the coefficients."""

    @property
    def propensity(self) -> FloatArray:
        """Probability of being looked at; NaN where the model does not speak of it."""

    def masses(self) -> Masses:
        """Positive and negative mass a row."""

    def slopes(self) -> Masses:
        """Differentiate the masses with respect to the coefficients."""

    def influence(self) -> FloatArray:
        """First-order share of each row in the coefficients."""
