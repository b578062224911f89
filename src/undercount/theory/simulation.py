"""Data with labels only where somebody looked, drawn from Cook's three designs.

Assumes: scores and the propensity to be positive are jointly normal.
Wrong when: used as evidence about other shapes; transform a score for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from undercount.counts import BoolArray
from undercount.curve import FloatArray
from undercount.errors import InputError

Seed: TypeAlias = int | np.random.Generator | None


@dataclass(frozen=True, eq=False)
class SelectedData:
    """Hold simulated rows and the truth about them.

    Attributes
    ----------
    score : array
        Output a of the classifier under test.
    y : array
        1 or 0 where somebody looked, NaN elsewhere.
    truth : array
        1 or 0 everywhere.
    selection_score : array
        What chose the rows.
    """

    score: FloatArray
    y: FloatArray
    truth: FloatArray
    selection_score: FloatArray

    @property
    def has_label(self) -> BoolArray:
        """Whether somebody looked."""
        return ~np.isnan(self.y)


def simulate_own_score(
    n_rows: int = 1000,
    correlation: float = 0.5,
    *,
    latent_threshold: float = 0.0,
    looked_share: float = 0.5,
    random_state: Seed = None,
) -> SelectedData:
    """Draw rows of which the highest scores are looked at (Cook 2016, section 4.1).

    Parameters
    ----------
    n_rows : int
    correlation : float
        ρ_ap, of score and propensity.
    latent_threshold : float
        p*; a row is positive if its propensity is at least that, so the prevalence is Φ(-p*).
    looked_share : float
        Share of rows looked at.
    random_state : int, generator or None
        Seed.

    Examples
    --------
    >>> from undercount.theory.simulation import simulate_own_score
    >>> data = simulate_own_score(1000, 0.7, random_state=0)
    >>> seen, unseen = data.score[data.has_label], data.score[~data.has_label]
    >>> seen.size, bool(seen.min() > unseen.max())
    (500, True)
    """
    covariance = [[1, correlation], [correlation, 1]]
    looks = latent_threshold, looked_share, random_state
    return _simulate(n_rows, covariance, (0, 1), *looks)


def simulate_observed_score(
    n_rows: int = 1000,
    correlation: float = 0.5,
    *,
    selector_correlation: float = 0.7,
    score_correlation: float = 0.5,
    latent_threshold: float = 0.0,
    looked_share: float = 0.5,
    random_state: Seed = None,
) -> SelectedData:
    """Draw rows of which another, known classifier chose the highest (Cook 2016, appendix B).

    The three correlations are ρ_ap, ρ_bp and ρ_ab; the rest is as in `simulate_own_score`.

    Examples
    --------
    >>> from undercount.theory.simulation import simulate_observed_score
    >>> data = simulate_observed_score(1000, 0.7, random_state=0)
    >>> chosen, left = data.selection_score[data.has_label], data.selection_score[~data.has_label]
    >>> bool(chosen.min() > left.max())
    True
    """
    covariance = [
        [1, correlation, selector_correlation],
        [correlation, 1, score_correlation],
        [selector_correlation, score_correlation, 1],
    ]
    looks = latent_threshold, looked_share, random_state
    return _simulate(n_rows, covariance, (0, 0, 1), *looks)


def simulate_unobserved(
    n_rows: int = 1000,
    correlation: float = 0.5,
    *,
    hidden_correlation: float = 0.7,
    score_weight: float = 1.0,
    latent_threshold: float = 0.0,
    looked_share: float = 0.5,
    random_state: Seed = None,
) -> SelectedData:
    """Draw rows chosen by γ·score plus something unseen (Cook 2016, section 4.2).

    Parameters
    ----------
    n_rows : int
    correlation : float
        ρ_ap, of score and propensity.
    hidden_correlation : float
        ρ_εp, of the unseen part and the propensity. The correlation of eq. 15 is
        ρ_εp / √(1-ρ_ap²).
    score_weight : float
        γ; the two classifiers then correlate by γ/√(1+γ²).
    latent_threshold, looked_share, random_state
        As in `simulate_own_score`.

    Examples
    --------
    >>> from undercount.theory.simulation import simulate_unobserved
    >>> data = simulate_unobserved(1000, 0.5, random_state=0)
    >>> bool(data.truth[data.has_label].mean() > data.truth.mean())
    True
    """
    covariance = [
        [1, correlation, hidden_correlation],
        [correlation, 1, 0],
        [hidden_correlation, 0, 1],
    ]
    looks = latent_threshold, looked_share, random_state
    return _simulate(n_rows, covariance, (0, score_weight, 1), *looks)


def _simulate(
    n_rows: int,
    covariance: Sequence[Sequence[float]],
    weights: Sequence[float],
    latent_threshold: float,
    looked_share: float,
    random_state: Seed,
) -> SelectedData:
    """Draw propensity, score and third variable, and look where their weighted sum is highest."""
    values, vectors = np.linalg.eigh(np.array(covariance, float))
    if values.min() < -1e-12:  # noqa: PLR2004 - rounding
        raise InputError(
            "the correlations contradict each other: no three variables can have them "
            f"(smallest eigenvalue {values.min():.3g})"
        )
    if not 0 < looked_share < 1:
        raise InputError(f"looked_share must be between 0 and 1; got {looked_share}")
    normal = np.random.default_rng(random_state).standard_normal((len(values), n_rows))
    drawn = (vectors * np.sqrt(np.maximum(values, 0.0))) @ normal
    chooser = np.sum(
        [weight * variable for weight, variable in zip(weights, drawn, strict=True)], axis=0
    )
    n_looked = max(round(looked_share * n_rows), 1)
    cutoff = np.partition(chooser, n_rows - n_looked)[n_rows - n_looked]
    truth = (drawn[0] >= latent_threshold).astype(float)
    return SelectedData(drawn[1], np.where(chooser >= cutoff, truth, np.nan), truth, chooser)
